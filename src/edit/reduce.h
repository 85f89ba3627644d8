/*
 * The search for a small module that still fails. Not whether it fails, which somebody else says, but which modules are
 * worth asking about, and in what order: large steps first.
 */
#ifndef HLO_EDIT_REDUCE_H
#define HLO_EDIT_REDUCE_H

#include "ir/ir.h"

struct reduction {
    void *context;
    bool (*bad)(void *context, struct module *candidate);              /* whether it still fails */
    const struct literal *(*value)(void *context, struct str name);    /* what this instruction gave in a run; NULL: nobody knows */
    bool (*verifies)(void *context, struct module *candidate);         /* candidates that don't are not asked about */
    bool (*progress)(void *context, size_t instructions, size_t asked); /* before it is asked once more; false ends the search. Or NULL */
    bool faithful;  /* every instruction keeps the value that it had in that run */
    double seconds; /* 0: as long as it takes */
};

/* The smallest that was found, to be freed; NULL when the module itself does not fail. */
struct module *reduce_module(struct module *m, const struct reduction *how);

#endif
