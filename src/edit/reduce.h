/*
 * reduce: test-case reduction: searches for a small module that still fails. The caller provides
 * the failure test; this component chooses the candidates and their order, large steps first.
 */
#ifndef HLO_EDIT_REDUCE_H
#define HLO_EDIT_REDUCE_H

#include "ir/ir.h"

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
