/*
 * Private to scalar programs.
 *
 *   scalar.c          computations as lists of operations on fixed addresses
 *   scalar_control.c  loops and branches
 *   scalar_array.c    operations on small arrays
 *   scalar_large.c    large arrays in the state of a loop
 *   scalar_rest.c     loops after their first iteration
 *   scalar_range.c    what is known of numbers while a program is made
 *   scalar_moves.c    afterwards: values made where they are needed
 *   scalar_quick.c    the form in which programs run
 *   scalar_run.c      running them
 *
 * A register is a fixed address that holds a dense array, mostly of one element. What is computed
 * from constants alone is computed while the program is made.
 */
#ifndef HLO_PLAN_SCALAR_H
#define HLO_PLAN_SCALAR_H

#include "plan/plan_priv.h"

enum {
    SCALAR_BUDGET = 1 << 15, /* instructions looked at, and calls inlined, for one program */
    SCALAR_INLINE = 100,     /* calls inside calls */
    SCALAR_MAX_ELEMENTS =
        1024, /* elements of one value: larger ones gain more from storage that is taken over */
    SCALAR_MAX_BYTES = 1 << 20, /* of all registers */
    SCALAR_FEW = 3 /* up to so many elements are faster one by one than by a kernel call */
};

struct reg {
    char *at;
    int64_t n; /* elements */
    enum dtype type;
    bool constant;
    bool own;                         /* not a part of another, or another name for it */
    struct cell *cell;                /* of an array that is not in a register; else NULL */
    int version;                      /* which version of the array in its cell this is */
    const struct scalar_range *range; /* NULL: it can be any number */
};
struct scalar_range {
    int64_t least, most;
};

/* Where a large array is. An operation that changes it leaves a new version in the same place;
 * after that nobody may ask for the old one: the attempt to make a scalar program then fails. */
struct cell {
    char *at;    /* when the program runs */
    int arg;     /* whose argument it was; -1: a constant */
    int version; /* version of the array that is there now, counting in the order in which
                    operations are made */
    bool written;
    const struct shape *shape;
};

struct maker {
    struct planner *pl;
    int64_t lanes; /* every value is this many of its kind, side by side; 1 except for bodies of
                      reductions */
    int budget, depth;
    int64_t bytes;
    struct reg *regs;
    int reg_count;
    size_t reg_capacity;
    struct scalar_op *ops;
    int op_count;
    size_t op_capacity;
    bool takes_large;
    struct cell **cells;
    int cell_count, version; /* version: the newest of any */
    size_t cell_capacity;
    struct cycle **cycles; /* of the loops made so far */
    int cycle_count;
    size_t cycle_capacity;
};

/* ---- scalar.c ---- */

int scalar_new_reg(struct maker *m, enum dtype t, int64_t n);
int scalar_alias_reg(struct maker *m, int reg, char *at, enum dtype t,
                     int64_t n); /* part of another */
struct scalar_op *scalar_push(struct maker *m, enum scalar_kind kind, int out);
struct scalar_op *
scalar_push_jump(struct maker *m, enum scalar_kind kind); /* one without a result: jumps, the end */
void scalar_push_move(struct maker *m, int to, int from);
int64_t scalar_reg_bytes(const struct maker *m, int reg);
/* Called after the operands of the last operation are set: if `constant`, it is run at once and
 * dropped. */
void scalar_done(struct maker *m, int out, bool constant);
/* The register, or a new one with its value in another type; -1 when the types don't convert. */
int scalar_convert(struct maker *m, int reg, enum dtype t);
bool scalar_one_leaf(struct maker *m, int reg,
                     struct leaves *out); /* false for a negative register */
/* The leaves of operands `first` and up, one after the other. */
struct leaves scalar_operands(struct maker *m, const struct inst *i, const struct leaves *env,
                              int first);

bool scalar_takes(const struct maker *m,
                  const struct inst *i); /* a first look, before anything is made */
/* Makes the operations of an instruction, or of a computation; false when something in it is not
 * supported. */
bool scalar_inst(struct maker *m, const struct inst *i, const struct leaves *env,
                 struct leaves *out);
bool scalar_computation(struct maker *m, const struct computation *c, struct leaves args,
                        struct leaves *out);
void scalar_set_args(struct maker *m, struct scalar_code *code, struct leaves args);
struct scalar_code *scalar_finish(struct maker *m, struct scalar_code *code, struct leaves results,
                                  const enum dtype *types);

/* ---- scalar_control.c: loops and branches ---- */

bool scalar_while(struct maker *m, const struct inst *i, const struct leaves *env,
                  struct leaves *out);
bool scalar_conditional(struct maker *m, const struct inst *i, const struct leaves *env,
                        struct leaves *out);
/* Makes the loop of a while over a state in these registers. `init` may have their initial values;
 * `done` iterations were done before. `body` makes the next state. */
typedef bool scalar_body_fn(struct maker *m, const void *context, struct leaves state,
                            struct leaves *next);
bool scalar_loop(struct maker *m, const struct inst *loop, int done, struct leaves init,
                 struct leaves state, scalar_body_fn *body, const void *context);

/* What finds out that a loop of the program cannot end; NULL where there is nothing to find out. */
struct cycle_monitor *scalar_monitor(struct maker *m);

/* ---- scalar_array.c: operations on small arrays ---- */

bool scalar_array_inst(struct maker *m, const struct inst *i, const struct leaves *env,
                       struct leaves *out);
/* A register of n elements that repeats the one element of another. */
int scalar_spread(struct maker *m, int reg, int64_t n);

/* An instruction whose values are small, run as a step. */
bool scalar_step_inst(struct maker *m, const struct inst *i, const struct leaves *env,
                      struct leaves *out);

/* ---- scalar_large.c: arrays that are not in registers ---- */

/* Whether an array may be one of them. */
bool scalar_is_large(const struct maker *m, const struct shape *s);
bool scalar_may_be_large(const struct inst *i); /* an instruction that can work on one */
int scalar_new_large(struct maker *m, const struct shape *s, int arg, char *at);
int scalar_same_large(struct maker *m, int reg); /* another register for what is now in its cell */
static inline bool scalar_is_fresh(const struct reg *r)
{
    return !r->cell || r->version == r->cell->version;
}
int scalar_write_large(struct maker *m, int reg); /* the next version of the array */
/* Results of a branch or an iteration: whether each large one is what its counterpart's cell holds
 * now. */
bool scalar_same_cells(const struct maker *m, struct leaves l, struct leaves model);
bool scalar_cells_differ(const struct maker *m,
                         struct leaves l); /* no two large ones share a cell */
/* For branches: each begins with the versions that held before the first branch; after the last
 * one, arrays that any branch wrote have a new version. */
struct versions {
    int count, *at;
    bool *changed;
};
struct versions scalar_versions(struct maker *m);
void scalar_back_to(struct maker *m, struct versions v);
void scalar_meet(struct maker *m, struct versions v);
void scalar_refresh(struct maker *m,
                    struct leaves l); /* the large ones become what their cells hold now */

/* ---- scalar_range.c ---- */

/* Within the body of this loop, until forgotten: the bounds of its counters. `init` may be empty.
 */
void scalar_know_counter(struct maker *m, const struct inst *loop, struct leaves init,
                         struct leaves state);
void scalar_forget_counters(struct maker *m, struct leaves state);
/* The result of an operation on these registers, if it is known to be one of them, or a constant.
 */
bool scalar_known(struct maker *m, const struct inst *i, const int *args, struct leaves *out);

/* ---- scalar_moves.c ---- */

/* Removes moves from the operations of a program, where the value can be made in its final place,
 * and operations whose results nobody reads. */
void scalar_tidy(struct maker *m, struct scalar_code *code);

/* ---- scalar_quick.c ---- */

/* Sets the form in which the program runs. */
void scalar_set_quick(struct planner *pl, struct scalar_code *code);

/* ---- scalar_run.c ---- */

bool scalar_run_one(const struct kernels *kern,
                    const struct scalar_op *op); /* one that does not jump */

#endif
