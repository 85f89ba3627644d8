/*
 * reduce: the search for a small module that still fails. The caller says whether a candidate
 * fails; what is decided here is which candidates to try, and in what order: large steps first.
 */
#ifndef HLO_EDIT_REDUCE_H
#define HLO_EDIT_REDUCE_H

#include "ir/ir.h"

struct reduction {
    void *context;
    bool (*bad)(void *context, struct module *candidate); /* whether it still fails */
    const struct literal *(*value)(
        void *context, struct str name); /* the value of this instruction in a run; NULL: unknown */
    bool (*verifies)(
        void *context,
        struct module *candidate); /* `bad` is asked only about candidates that verify */
    bool (*progress)(void *context, size_t instructions,
                     size_t asked); /* or NULL; called before `bad`; false ends the search */
    bool faithful;  /* every instruction must keep the value that it had in that run */
    double seconds; /* time limit; 0: none */
};

/* The smallest failing module found, to be freed; NULL when `m` itself doesn't fail. */
struct module *reduce_module(struct module *m, const struct reduction *how);

#endif
