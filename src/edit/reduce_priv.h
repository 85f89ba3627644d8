/*
 * Shared by the search (reduce.c) and its steps (reduce_pass.c).
 */
#ifndef HLO_EDIT_REDUCE_PRIV_H
#define HLO_EDIT_REDUCE_PRIV_H

#include "edit/edit_priv.h"
#include "edit/edit.h"

/* The size of a module; scores are compared lexicographically. */
struct score {
    int64_t weight; /* sum over all instructions; those that only alias a value weigh less */
    int64_t calls;
    int64_t bytes; /* size of the text and of the constants that it elides */
};

struct reducer {
    struct arena arena; /* storage of instruction names in lists */
    const struct reduction *how;
    struct module *now;   /* the smallest failing module so far */
    struct module *first; /* the input module */
    struct score score;   /* of `now` */
    struct map names;     /* instructions of `now` by name */
    struct arena index;   /* storage of `names` */
    uint64_t *tried;      /* hashes of the candidates tried so far */
    size_t tried_count, tried_capacity;
    size_t asked;
    int64_t deadline;
    bool over; /* the time limit is exceeded, or the search was cancelled */
};

/* Finishes an edit of `now` and tests the result. If it is smaller and still fails, it becomes
 * `now`; returns true then. */
bool reducer_try(struct reducer *r, struct edit *e);

/* Names of instructions, which may no longer exist in `now`. A processed entry is empty. */
struct names {
    struct str *at;
    size_t count;
};
/* NULL: `now` has no instruction of that name. */
struct inst *reducer_find(const struct reducer *r, struct str name);

/* The steps of reduce_pass.c; each returns whether `now` became smaller. */
typedef bool pass_fn(struct reducer *r);
pass_fn pass_strip, pass_outputs, pass_from_below, pass_from_above, pass_values, pass_operands,
    pass_inline, pass_computations;

#endif
