/*
 * What the search (reduce.c) and its steps (reduce_pass.c) share.
 */
#ifndef HLO_EDIT_REDUCE_PRIV_H
#define HLO_EDIT_REDUCE_PRIV_H

#include "edit/edit_priv.h"
#include "edit/reduce.h"

/* The size of a module; of two scores the first member that differs decides. */
struct score {
    int64_t weight; /* of all instructions: those that only name a value weigh less */
    int64_t calls;
    int64_t bytes; /* of the text, and of the constants that it leaves out */
};

struct reducer {
    struct arena arena; /* of names of instructions in lists */
    const struct reduction *how;
    struct module *now;   /* the smallest failing module so far */
    struct module *first; /* the module that was given */
    struct score score;   /* of `now` */
    struct map names;     /* from name to instruction of `now` */
    struct arena index;   /* of `names` */
    uint64_t *tried;      /* hashes of the candidates so far */
    size_t tried_count, tried_capacity;
    size_t asked;
    int64_t deadline;
    bool over; /* the deadline has passed, or the search was ended */
};

/* Finishes an edit of `now` and asks about the result. If that is smaller and still fails, it
 * becomes `now`: true. */
bool reducer_try(struct reducer *r, struct edit *e);

/* Names of instructions, of which `now` may have lost some. An empty name is one that has been
 * dealt with. */
struct names {
    struct str *at;
    size_t count;
};
struct inst *reducer_find(const struct reducer *r,
                          struct str name); /* NULL: `now` has none of that name */

/* reduce_pass.c. Each returns whether `now` got smaller. */
typedef bool pass_fn(struct reducer *r);
pass_fn pass_strip, pass_outputs, pass_from_below, pass_from_above, pass_values, pass_operands,
    pass_inline, pass_computations;

#endif
