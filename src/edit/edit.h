/*
 * edit: creates a modified copy of a module. Instructions can be replaced, the root can be changed,
 * and dead code is eliminated.
 *
 * The original is not modified. The new module references it (module_hold): names, shapes,
 * attributes and literals are shared. An edit without changes gives a copy that prints identically.
 */
#ifndef HLO_EDIT_H
#define HLO_EDIT_H

#include "ir/ir.h"

struct edit;

/* Starts an edit of a module. */
struct edit *edit_new(struct module *from);
void edit_free(struct edit *e); /* only before edit_finish */

/* These functions set the replacement of an instruction; the last call takes effect. Each returns
 * NULL, or the reason why the replacement is not possible, and then has no effect. Values and zeros
 * consist of constants, tuples of constants and, for dynamic sizes, set-dimension-size; a token is
 * created by after-all. */
/* `value` is copied. */
const char *edit_constant(struct edit *e, struct inst *i, const struct literal *value);
const char *edit_zeros(struct edit *e, struct inst *i);
/* Replaces by a new parameter; for instructions of the entry computation only. */
const char *edit_parameter(struct edit *e, struct inst *i);
/* Replaces by another instruction of the computation, whose shape must be the same except for
 * layout. */
const char *edit_replace(struct edit *e, struct inst *i, struct inst *by);
/* Replaces by the instructions of the called computation: of a call or fusion; of a while's body,
 * executed once regardless of its condition; of a conditional's branch number `which`. */
const char *edit_inline(struct edit *e, struct inst *i, int which);

/* Whether an instruction can be replaced at all; NULL, or the reason why not. */
const char *edit_may_change(const struct inst *i);

/* Makes these instructions the root, as a tuple unless `count` is 1. All must be in one
 * computation, which becomes the entry. Only their transitive operands are kept, whereas without a
 * new root instructions with side effects are kept as well. */
const char *edit_root(struct edit *e, struct inst *const *insts, int count);
/* Removes unused parameters of the entry computation, and renumbers the others. */
void edit_drop_parameters(struct edit *e);
/* Keeps dead instructions. */
void edit_keep_dead(struct edit *e);

/* What to remove from all instructions. */
enum edit_strip {
    EDIT_STRIP_METADATA = 1, /* provenance: metadata, stack frames, original values, statistics */
    EDIT_STRIP_SHARDING = 2,
    /* frontend_attributes, backend_config except of custom calls, aliases, donors, control
     * dependencies. */
    EDIT_STRIP_HINTS = 4,
};
/* Requests the removal of a set of enum edit_strip. */
void edit_strip(struct edit *e, unsigned what);

/* Returns the new module, which is not verified, or NULL with *problem. The edit is freed in either
 * case. */
struct module *edit_finish(struct edit *e, const char **problem);

/* ---- reduce.c: searches for a small module that still fails ---- */

/* The caller tests for the failure; candidates and their order are chosen here, large steps first.
 */
struct reduction {
    void *context;
    bool (*bad)(void *context, struct module *candidate); /* whether the candidate still fails */
    /* The value of this instruction in the traced run; NULL: unknown. */
    const struct literal *(*value)(void *context, struct str name);
    /* Verifies a candidate; only those that pass are given to `bad`. */
    bool (*verifies)(void *context, struct module *candidate);
    /* NULL, or called before `bad`; false ends the search. */
    bool (*progress)(void *context, size_t instructions, size_t asked);
    bool faithful;  /* every instruction must keep the value that it had in the traced run */
    double seconds; /* time limit; 0: none */
};

/* Returns the smallest failing module found, owned by the caller; NULL if `m` itself does not
 * fail. */
struct module *reduce_module(struct module *m, const struct reduction *how);

#endif
