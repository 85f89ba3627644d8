/*
 * targets.h: user code behind custom calls: shared libraries, functions, rules. Everything is added
 * before the first run; runs only read, so several threads may call at once.
 */
#ifndef HLO_WORLD_TARGETS_H
#define HLO_WORLD_TARGETS_H

#include "plan/foreign.h"

struct targets;
/* The implementation of a target: fills in the results. False: the reason is in `why`, unless a
 * limit was hit. */
typedef bool target_fn(void *user, const struct foreign_call *c, struct buf *why);

struct targets *targets_new(void);
void targets_free(struct targets *t); /* closes the libraries */

/* Later entries take precedence over earlier ones. The name is copied; a trailing `*` matches every
 * name with the prefix before it; `*` alone matches the targets that are not otherwise known, those
 * of HLO included. `done`, which may be NULL, frees `user`. */
void targets_add(struct targets *t, struct str name, target_fn *fn, void *user,
                 void (*done)(void *user));
/* Every function that the library at PATH defines becomes a target of its name. False with the
 * reason in `why`. */
bool targets_add_library(struct targets *t, const char *path, struct buf *why);
/* For `struct plan_options`; `t` must outlive the program. */
struct foreign targets_foreign(struct targets *t);

/* Built-in rules. Identity: leaf k of the result is leaf k of the operands. */
target_fn target_identity, target_zeros;

/* ---- native.c: machine code, called by the convention of its api_version= ---- */

typedef void native_fn(void);
bool native_call(native_fn *code, const struct foreign_call *c, struct buf *why);

/* Resolved by libraries, to report whether a call has failed. */
struct XlaCustomCallStatus_;
void XlaCustomCallStatusSetSuccess(struct XlaCustomCallStatus_ *status);
void XlaCustomCallStatusSetFailure(struct XlaCustomCallStatus_ *status, const char *message,
                                   size_t length);

/* ---- ffi.c: API_VERSION_TYPED_FFI ---- */

/* `in` and `out`: the leaves in XLA's form; the address of a token is valid but arbitrary. */
bool ffi_call(native_fn *code, const struct foreign_call *c, const struct foreign_array *in,
              const struct foreign_array *out, struct buf *why);

#endif
