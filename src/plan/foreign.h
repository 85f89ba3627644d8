/*
 * foreign.h: the interface between planning and custom calls to code outside HLO.
 *
 * plan asks which targets exist, because they take precedence over the meaning of marker targets;
 * eval makes the calls; a component above both finds and runs the code.
 */
#ifndef HLO_PLAN_FOREIGN_H
#define HLO_PLAN_FOREIGN_H

#include "ir/ir.h"

/* A leaf of the operands or of the result: dense, row-major, in this project's storage format
 * (types below a byte take one byte per element), whatever the layout of the shape. `data` is NULL
 * for a token. */
struct foreign_array {
    const struct shape *shape;
    void *data;
};

struct foreign_call {
    const struct inst *inst;
    int64_t participant;
    struct budget *budget;                /* of the run; code that blocks must poll it */
    int operand_count, result_count;      /* leaves, tuples flattened in order */
    const struct foreign_array *operands; /* read-only */
    /* initialized with the bytes of the operand they alias, else zeros */
    const struct foreign_array *results;
};

/* The code of a target, looked up once, when the program is planned. */
struct foreign_target {
    const void *entry;  /* NULL: no such target */
    void (*code)(void); /* if it is machine code */
};

struct foreign {
    void *context;
    /* Finds the code of a target. `fallback`: the fallback code for targets that neither the user
     * nor HLO defines. */
    struct foreign_target (*find)(void *context, struct str target, bool fallback);
    /* Makes a call; several participants may call concurrently. False: the reason is appended to
     * `why`, unless a limit was reached. */
    bool (*call)(void *context, struct foreign_target target, const struct foreign_call *c,
                 struct buf *why);
};

#endif
