/*
 * Private to the making of scalar programs: scalar.c, scalar_array.c, scalar_moves.c, scalar_quick.c.
 *
 * A register is a fixed address that holds a dense array, mostly of one element. What is computed
 * from constants alone is computed while the program is made.
 */
#ifndef HLO_PLAN_SCALAR_H
#define HLO_PLAN_SCALAR_H

#include "plan/plan_priv.h"

enum {
    SCALAR_BUDGET = 1 << 15,    /* instructions looked at, calls taken apart */
    SCALAR_INLINE = 100,        /* calls inside calls */
    SCALAR_MAX_ELEMENTS = 1024, /* of one value: larger ones profit from storage that is taken over */
    SCALAR_MAX_BYTES = 1 << 18  /* of all registers */
};

struct reg {
    char *at;
    int64_t n; /* elements */
    enum dtype type;
    bool constant;
    bool own; /* not a part of another, or another name for it */
};

struct maker {
    struct planner *pl;
    int64_t lanes; /* every value is so many of its kind, side by side; 1 but for bodies of reductions */
    int budget, depth;
    int64_t bytes;
    struct reg *regs;
    int reg_count;
    size_t reg_capacity;
    struct scalar_op *ops;
    int op_count;
    size_t op_capacity;
};

/* ---- scalar.c ---- */

int scalar_new_reg(struct maker *m, enum dtype t, int64_t n);
int scalar_alias_reg(struct maker *m, int reg, char *at, enum dtype t, int64_t n); /* part of another */
struct scalar_op *scalar_push(struct maker *m, enum scalar_kind kind, int out);
/* After the operands of the last operation are set: when `constant`, it is run and forgotten. */
void scalar_done(struct maker *m, int out, bool constant);
/* The register, or a new one with its value in another type; -1 when types don't convert. */
int scalar_convert(struct maker *m, int reg, enum dtype t);
bool scalar_one_leaf(struct maker *m, int reg, struct leaves *out); /* false for a negative register */

/* ---- scalar_array.c: what needs more than one element to be worth anything ---- */

bool scalar_array_inst(struct maker *m, const struct inst *i, const struct leaves *env, struct leaves *out);
/* A register of n elements that repeats the one element of another. */
int scalar_spread(struct maker *m, int reg, int64_t n);

/* ---- scalar_moves.c ---- */

/* Takes out of the operations of a program what only moves values to where they might have been made, and what
 * nobody reads. */
void scalar_tidy(struct maker *m, struct scalar_code *code);

/* ---- scalar_quick.c ---- */

/* Sets the form in which a program runs. */
void scalar_set_quick(struct planner *pl, struct scalar_code *code);

/* ---- scalar_run.c ---- */

bool scalar_run_one(const struct kernels *kern, const struct scalar_op *op); /* one that does not jump */

#endif
