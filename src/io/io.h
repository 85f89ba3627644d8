/*
 * io: arrays in files (.npy, .npz), reproducible random inputs, and commands that values go through.
 *
 * Everything read here is hostile until proven sound: each offset, size and count of a file is
 * checked before it is used. Failures go to the sink without a span; its source is named after the
 * file. Storage of literals is the caller's to free (literal_free_data).
 */
#ifndef HLO_IO_H
#define HLO_IO_H

#include "base/base.h"
#include "diag/diag.h"
#include "ir/ir.h"
#include "plan/foreign.h"
#include "type/type.h"

/* ---- npy.c ---- */

/* literal_new with a diagnostic when there is no memory for it. */
struct literal *io_literal_new(struct diags *ds, struct arena *a, const struct shape *shape);

/* The array in `bytes`. `want`: the array shape it is for, which says what raw bits mean; an array
 * of another type or size is refused, naming `who` wants it; rank -1 leaves its sizes open.
 * NULL: whatever numpy says it is. */
struct literal *io_npy_decode(struct diags *ds, struct arena *a, struct str bytes, const struct shape *want,
                              struct str who);
/* The header that goes before the row-major storage of an array of this shape. */
void io_npy_header(struct buf *out, const struct shape *s);

/* ---- npz.c ---- */

struct npz_entry {
    struct str name; /* without .npy */
    uint64_t offset, packed_size, size;
    uint32_t crc;
    uint16_t method;
};
struct npz {
    struct str bytes;
    struct npz_entry *entries;
    size_t count;
};

/* Reads the directory; entries live in the arena, `bytes` must outlive them. */
bool io_npz_open(struct diags *ds, struct arena *a, struct str bytes, struct npz *out);
bool io_npz_has(const struct npz *z, struct str name);
/* The array of that name, as io_npy_decode. */
struct literal *io_npz_get(struct diags *ds, struct arena *a, const struct npz *z, struct str name,
                           const struct shape *want, struct str who);
/* A whole value, tuples included: its leaves are called `prefix`N, counted on from *leaf; or, where the
 * file has such a name, `prefix`N@PARTICIPANT. */
struct literal *io_npz_value(struct diags *ds, struct arena *a, const struct npz *z, const char *prefix,
                             int64_t *leaf, int64_t participant, const struct shape *want, struct str who);

/* ---- write.c: to a new file that takes the old one's place once it is whole ---- */

bool io_write_npy(struct diags *ds, const char *path, const struct literal *l);
/* Values of `count` participants; the names of several say which. */
bool io_write_npz(struct diags *ds, const char *path, const char *prefix, const struct literal *const *l,
                  int64_t count);
/* Arrays, each by a name of its own. */
bool io_write_npz_named(struct diags *ds, const char *path, const char *const *names, const struct literal *const *l,
                        size_t count);
/* Any bytes at all, in the same way. */
bool io_write_bytes(struct diags *ds, const char *path, struct str bytes);

/* ---- compare.c ---- */

struct io_tolerance {
    double abs, rel;  /* |actual - expected| <= abs + rel * |expected| */
    int64_t ulp;      /* distance in representable values; 0: not used */
    bool zeros, bits; /* -0 is not 0 where no bound is given; all bits count */
};
/* Whether two values agree; else `why` says where first, both elements and the worst errors. */
bool io_compare(const struct literal *actual, const struct literal *expected, const struct io_tolerance *t,
                struct buf *why);

/* ---- command.c ---- */

/* Runs a shell command on the operands of a custom call, for its results: a target_fn of world. */
bool io_command(void *command, const struct foreign_call *c, struct buf *why);

/* ---- random.c ---- */

/* A value of this shape whose leaves are numbered on from `leaf`; `text` may hold hints. */
struct literal *io_random(struct diags *ds, struct arena *a, struct str text, const struct shape *shape,
                          int64_t leaf, uint64_t seed);

#endif
