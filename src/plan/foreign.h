/*
 * foreign.h: custom calls to code that is not ours, as far as planning needs to know of them.
 *
 * plan asks which targets exist, because they take precedence over the meaning that marker targets
 * have; eval makes the calls; finding and running the code is up to a room above both.
 */
#ifndef HLO_PLAN_FOREIGN_H
#define HLO_PLAN_FOREIGN_H

#include "ir/ir.h"

/* A leaf of the operands or of the result: dense, row-major, in our storage (types below a byte
 * take one byte per element), whatever layout the shape has. A token has no data. */
struct foreign_array {
    const struct shape *shape;
    void *data;
};

struct foreign_call {
    const struct inst *inst;
    int64_t participant;
    struct budget *budget;                /* of the run: code that waits for others checks it */
    int operand_count, result_count;      /* leaves, tuples flattened in order */
    const struct foreign_array *operands; /* to be read only */
    const struct foreign_array *results;  /* the bytes of the operand they alias, else zeros */
};

/* The code behind a target: looked up once, when the program is planned. */
struct foreign_target {
    const void *entry;  /* NULL: nobody */
    void (*code)(void); /* where it is machine code */
};

struct foreign {
    void *context;
    /* `left_over`: asks for code that takes every target that nobody else, HLO included, has a
     * meaning for. */
    struct foreign_target (*find)(void *context, struct str target, bool left_over);
    /* Several participants call at once. False: the reason has been put into `why`, unless a limit
     * was hit. */
    bool (*call)(void *context, struct foreign_target target, const struct foreign_call *c,
                 struct buf *why);
};

#endif
