/*
 * What the search (reduce.c) and its steps (reduce_pass.c) share.
 */
#ifndef HLO_EDIT_REDUCE_PRIV_H
#define HLO_EDIT_REDUCE_PRIV_H

#include "edit/edit_priv.h"
#include "edit/reduce.h"

/* How small a module is; the first that differs decides. */
struct score {
    int64_t weight; /* of instructions: what only names a value weighs less */
    int64_t calls;
    int64_t bytes;  /* of the text, and of constants that it leaves out */
};

struct reducer {
    struct arena arena; /* of names of instructions in lists */
    const struct reduction *how;
    struct module *now; /* the smallest so far */
    struct module *first; /* the one that is asked about */
    struct score score;
    struct map names;   /* to instructions of `now` */
    struct arena index; /* where that lies */
    uint64_t *tried;    /* hashes of what was asked about */
    size_t tried_count, tried_capacity;
    size_t asked;
    int64_t deadline;
    bool over;          /* the time */
};

/* Finishes the edit of `now` and asks. If it is smaller and still fails, it is `now`. */
bool reducer_try(struct reducer *r, struct edit *e);

/* Names of instructions. `now` may lack some of them; an empty name is done with. */
struct names {
    struct str *at;
    size_t count;
};
struct inst *reducer_find(const struct reducer *r, struct str name); /* NULL: it is gone */

/* reduce_pass.c. Each says whether `now` got smaller. */
typedef bool pass_fn(struct reducer *r);
pass_fn pass_strip, pass_outputs, pass_from_below, pass_from_above, pass_values, pass_operands, pass_inline, pass_computations;

#endif
