/*
 * Custom calls to code that is none of ours, in what a program is planned with.
 *
 * plan asks which targets there are, because they come before the meanings that markers have;
 * eval makes the calls; who finds and runs the code is above both.
 */
#ifndef HLO_PLAN_FOREIGN_H
#define HLO_PLAN_FOREIGN_H

#include "ir/ir.h"

/* A leaf of the operands or of the result: dense, row-major, in our storage (types below a byte
 * take one byte an element), whatever layout the shape has. A token: no data. */
struct foreign_array {
    const struct shape *shape;
    void *data;
};

struct foreign_call {
    const struct inst *inst;
    int64_t participant;
    struct budget *budget; /* of the run: who waits for others looks at it */
    int operand_count, result_count; /* leaves, tuples flattened in order */
    const struct foreign_array *operands; /* to be read only */
    const struct foreign_array *results;  /* the bytes of the operand they alias, else zeros */
};

/* Who knows a target: looked up once, when the program is planned. */
struct foreign_target {
    const void *entry; /* NULL: nobody */
    void (*code)(void); /* where it is machine code */
};

struct foreign {
    void *context;
    /* `left_over`: who knows whatever nobody else has a meaning for, HLO itself included. */
    struct foreign_target (*find)(void *context, struct str target, bool left_over);
    /* Several participants call at once. False: the reason has been put into `why`, unless a limit was
     * hit. */
    bool (*call)(void *context, struct foreign_target target, const struct foreign_call *c, struct buf *why);
};

#endif
