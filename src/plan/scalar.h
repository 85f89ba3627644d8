/*
 * Private to the scalar code compiler.
 *
 *   scalar.c          computations as lists of operations on fixed addresses
 *   scalar_control.c  loops and branches
 *   scalar_array.c    operations on small arrays
 *   scalar_large.c    large arrays in the state of a loop
 *   scalar_hoist.c    invariant computations that run before a loop
 *   scalar_range.c    value ranges
 *   scalar_affine.c   shorter chains of integer operations with constants
 *   scalar_moves.c    removal of moves and dead operations
 *   scalar_product.c  matrices of products in the order that suits machine code
 *   scalar_join.c     one call for the same function of several values
 *   scalar_data.c     registers and operations in one block, and its copies for runs
 *   scalar_native*.c  operations as machine code
 *   scalar_run.c      execution
 *
 * A register is a fixed address that holds a dense array, mostly of one element. Operations on
 * constants are folded at compile time.
 */
#ifndef HLO_PLAN_SCALAR_H
#define HLO_PLAN_SCALAR_H

#include "plan/plan_priv.h"

enum {
    SCALAR_BUDGET = 1 << 15, /* instructions visited, and calls inlined, per compilation */
    SCALAR_INLINE = 100,     /* nesting of calls */
    /* elements of one value: larger values gain more from reused storage. In loops, which run many
     * times, more than elsewhere, where calls are inlined and fused instead. */
    SCALAR_MAX_ELEMENTS = 1024,
    SCALAR_MAX_IN_LOOP = 4096,
    SCALAR_ROW = 16, /* elements of a row of such a value; fused loops do not copy shorter ones */
    SCALAR_MAX_BYTES = 1 << 20, /* total size of the registers */
    SCALAR_FEW = 3 /* up to this many elements, scalar operations are faster than a kernel call */
};

/* A value that can be computed before the loop. */
struct preheader_value {
    bool known;                  /* else it depends on what the loop computes */
    struct preheader_inst *inst; /* makes it; NULL: argument `leaf` of the code */
    int leaf;                    /* of the instruction's results */
};
/* An instruction that can run before the loop, as its operands are such values. */
struct preheader_inst {
    const struct inst *inst;
    const struct preheader_value *operands; /* one leaf each */
    /* if it is hoisted, by leaf of its results: 1 + the register of the argument, or 0 */
    int *regs;
    const struct shape *const *shapes;
    bool needed;
    struct leaves results; /* in the function that contains the loop */
};
struct preheader_arg {
    struct preheader_value value;
    int reg;
};
struct preheader {
    bool enabled;
    int count; /* in execution order */
    size_t capacity;
    struct preheader_inst **insts;
    int arg_count; /* hoisted values that the code reads: its last arguments */
    size_t arg_capacity;
    struct preheader_arg *args;
    int branches;           /* conditionals around what is compiled now */
    int uncertain;          /* those, and loops that may have no iteration */
    struct cost speculated; /* of hoisted instructions that the loop may not execute */
    bool failed;            /* with other arguments, a computation might be compiled */
};

struct reg {
    char *at;  /* NULL: a large array or a hoisted value */
    int64_t n; /* elements */
    enum dtype type;
    bool constant;
    /* a large copy of a view that is not dense, which a function would read in place: the order of
     * the terms of a product depends on strides */
    bool rearranged;
    bool invariant;                /* in the innermost loop */
    struct preheader_value before; /* the same value before the loop */
    bool own;                      /* neither a part nor an alias of another register */
    const struct view *source;     /* the part of another register that it is a copy of, or NULL */
    struct large_array *large_array;  /* of a large array that is not in a register; else NULL */
    int version;                      /* version of its large array that this register refers to */
    const struct scalar_range *range; /* NULL: unknown */
    const struct scalar_affine *affine; /* NULL: unknown */
};
struct scalar_range {
    int64_t min, max;
};

/* The location of a large array. An operation that updates it leaves a new version in the same
 * place; a later read of an old version makes the compilation fail. */
struct large_array {
    char *at;     /* its address at run time */
    int arg;      /* the argument that it is; -1: a constant */
    size_t place; /* of `at` in the data of the code; 0: not read */
    /* current version of the array, in the order in which operations are made */
    int version;
    bool written;
    const struct shape *shape;
};

struct maker {
    struct planner *pl;
    /* elements per value; 1 except in vectorized reducer bodies */
    int64_t lanes;
    int budget, depth;
    bool in_loop;  /* it is a loop that is compiled */
    int arg_count; /* without hoisted values */
    struct preheader preheader;
    /* results of the instructions that the one compiled now is executed after, in any run; same.c
     */
    struct map same;
    int64_t bytes;
    struct reg *regs;
    int reg_count;
    size_t reg_capacity;
    int ids[SCALAR_IDS]; /* 1 + the register of the id; 0: not read */
    struct scalar_op *ops;
    int op_count;
    size_t op_capacity;
    bool takes_large;
    struct large_array **large_arrays;
    int large_array_count, version; /* version: the newest of all arrays */
    size_t large_array_capacity;
    struct cycle **cycles; /* of the loops compiled so far */
    int cycle_count;
    size_t cycle_capacity;
};

/* The opcode of an elementwise operation; OP_COUNT: it is another. */
static inline enum opcode scalar_opcode(const struct scalar_op *op)
{
    return op->kind == SCALAR_APPLY && op->meaning.kind == TILE_INST
               ? (enum opcode)op->meaning.inst->opcode
               : OP_COUNT;
}

/* The operations to which one may jump, besides the next. */
static inline int scalar_target_count(const struct scalar_op *op)
{
    return op->kind == SCALAR_JUMP || op->kind == SCALAR_JUMP_UNLESS ? 1
           : op->kind == SCALAR_SWITCH                               ? op->count
                                                                     : 0;
}
static inline int scalar_target(const struct scalar_op *op, int number)
{
    return op->kind == SCALAR_SWITCH ? op->targets[number] : op->count;
}

/* ---- scalar.c ---- */

int scalar_new_reg(struct maker *m, enum dtype t, int64_t n);
/* A register for a part of another. */
int scalar_alias_reg(struct maker *m, int reg, char *at, enum dtype t, int64_t n);
struct scalar_op *scalar_push(struct maker *m, enum scalar_kind kind, int out);
/* Adds an operation without a result: a jump or the stop. */
struct scalar_op *scalar_push_jump(struct maker *m, enum scalar_kind kind);
void scalar_push_move(struct maker *m, int to, int from);
int64_t scalar_reg_bytes(const struct maker *m, int reg);
/* Whether an array is small enough for a register. */
bool scalar_fits(const struct maker *m, const struct shape *s);
/* Completes the last operation, whose operands are set: if `constant`, it is executed immediately
 * and removed. */
void scalar_done(struct maker *m, int out, bool constant);
/* The register, or a new one with its value converted to `t`; -1 when the types do not convert. */
int scalar_convert(struct maker *m, int reg, enum dtype t);
/* Adds the elementwise operation `meaning`, which is `fn`, on registers of its operand type, of n
 * elements, and returns the register of its result; -1 on failure. */
int scalar_apply(struct maker *m, kern_tile_fn *fn, struct tile_meaning meaning, const int *args,
                 int64_t n);
/* The register as a leaf; false for a negative register. */
bool scalar_one_leaf(struct maker *m, int reg, struct leaves *out);
/* The leaves of operands `first` and up, in order. */
struct leaves scalar_operands(struct maker *m, const struct inst *i, const struct leaves *env,
                              int first);

/* Makes the operations of a computation; false when something in it is not supported. */
bool scalar_computation(struct maker *m, const struct computation *c, struct leaves args,
                        struct leaves *out);
/* Whether the result of an instruction may be a register, or a large array in place. */
bool scalar_is_taken(const struct maker *m, const struct inst *i);
/* Leaves by the index of an instruction. One array is shared by all calls: a new one, as large as
 * the computation, for each of its instructions would take quadratic memory. */
struct leaves *scalar_loose_leaves(struct planner *pl, int count);

/* ---- scalar_control.c: loops and branches ---- */

bool scalar_while(struct maker *m, const struct inst *i, const struct leaves *env,
                  struct leaves *out);
bool scalar_conditional(struct maker *m, const struct inst *i, const struct leaves *env,
                        struct leaves *out);
/* The cycle detection of the scalar code; NULL where no loop needs it. */
struct cycle_monitor *scalar_monitor(struct maker *m);

/* ---- scalar_array.c: operations on small arrays ---- */

bool scalar_array_inst(struct maker *m, const struct inst *i, const struct leaves *env,
                       struct leaves *out);
/* A register of n elements, each the one element of `reg`. */
int scalar_spread(struct maker *m, int reg, int64_t n);

/* Makes an instruction on small values an operation that runs it as a step. */
bool scalar_step_inst(struct maker *m, const struct inst *i, const struct leaves *env,
                      struct leaves *out);

/* ---- scalar_large.c: arrays that are not in registers ---- */

/* Whether an array is too large for a register but may stay in place. */
bool scalar_is_large(const struct maker *m, const struct shape *s);
/* Whether the instruction may read or update such an array. */
bool scalar_may_be_large(const struct inst *i);
int scalar_new_large(struct maker *m, const struct shape *s, int arg, char *at);
/* Another register for its large array, if it has the current version; else -1. */
int scalar_same_large(struct maker *m, int reg);
static inline bool scalar_is_fresh(const struct reg *r)
{
    return !r->large_array || r->version == r->large_array->version;
}
/* Whether the instruction may read such an array as a whole: it is little work. */
bool scalar_may_read_large(const struct inst *i);
/* Whether it takes one thread no noticeable time. */
bool scalar_is_little(struct cost c);
/* Sets the address of a view: at an offset in the register; false if that is a large array that has
 * changed since. */
bool scalar_set_address(struct maker *m, int reg, struct view *v, struct scalar_origin *origin,
                        int64_t offset);
/* Whether the array is an argument that the code may update: no constant or hoisted value. */
static inline bool scalar_may_write(const struct maker *m, const struct large_array *a)
{
    return a->arg >= 0 && a->arg < m->arg_count;
}
/* Makes the next version of the array. */
int scalar_write_large(struct maker *m, int reg);
/* Whether each large array of `l`, the results of a branch or an iteration, is the current version
 * of its counterpart in `model`. */
bool scalar_same_arrays(const struct maker *m, struct leaves l, struct leaves model);
/* Whether no two registers of `l` refer to the same large array. */
bool scalar_arrays_differ(const struct maker *m, struct leaves l);
/* Array versions for branches: each branch begins with the versions before the conditional; after
 * the last one, arrays that any branch wrote have a new version. */
struct versions {
    int count, *at;
    bool *changed;
};
struct versions scalar_versions(struct maker *m);
void scalar_back_to(struct maker *m, struct versions v);
void scalar_meet(struct maker *m, struct versions v);
/* Makes the large arrays of `l` refer to the current versions. */
void scalar_refresh(struct maker *m, struct leaves l);

/* ---- scalar_hoist.c ---- */

/* Whether the register stands for a value that is computed before the loop and not loaded yet. */
bool scalar_is_hoisted(const struct maker *m, int reg);
bool scalar_reads_hoisted(const struct maker *m, const struct inst *i, const struct leaves *env);
/* Whether the instruction could run before the loop. */
bool scalar_precedes(const struct maker *m, const struct inst *i, const struct leaves *env);
/* Records that `results`, of such an instruction, could be computed there. */
void scalar_note_preceding(struct maker *m, const struct inst *i, const struct leaves *env,
                           struct leaves results);
/* Whether such an instruction should run there even if it can be scalar code. */
bool scalar_is_worth_hoisting(const struct maker *m, const struct inst *i,
                              const struct leaves *env);
/* Makes it run there; `out`: registers that stand for the results. False: it might be executed in
 * vain, which would take too long. */
bool scalar_hoist(struct maker *m, const struct inst *i, const struct leaves *env,
                  struct leaves *out);
/* Replaces registers that stand for hoisted values by registers that hold them; false if they do
 * not fit. */
bool scalar_load_hoisted(struct maker *m, struct leaves *l);
/* The arguments of the code and the hoisted values that it reads. */
struct leaves scalar_all_args(struct maker *m, struct leaves args);
/* Whether each instruction of a computation may be hoisted, or be scalar code for all that is known
 * before it is compiled. */
bool scalar_may_hoist(struct maker *m, const struct computation *c, struct inst *const *order,
                      int count, struct leaves args);
/* Adds the steps that compute the hoisted values to a function, and these to the operands of the
 * loop's step. False with a message. */
bool scalar_emit_preheader(struct build *b, const struct preheader *p, struct leaves *operands);

/* ---- scalar_range.c ---- */

/* For each of the `count` leaves of a loop's state, whether the body passes it on unchanged. */
bool *scalar_invariants(struct arena *a, const struct inst *loop, int count);
/* Sets the ranges of the counters of `loop`, valid within its body until scalar_forget_counters().
 * `init` may be empty. Returns whether the loop is known to have an iteration. */
bool scalar_know_counter(struct maker *m, const struct inst *loop, struct leaves init,
                         struct leaves state);
void scalar_forget_counters(struct maker *m, struct leaves state);
/* Finds the result of an operation on these registers, if ranges show that it is one of them, or a
 * constant. */
bool scalar_known(struct maker *m, const struct inst *i, const int *args, struct leaves *out);
/* Sets the range of a register, the result of an operation on these. */
void scalar_set_range(struct maker *m, const struct inst *i, const int *args, int reg);
/* Whether the value is an integer from 0 to `last`. */
bool scalar_is_inside(const struct maker *m, int reg, int64_t last);

/* ---- scalar_affine.c ---- */

/* Makes operations for an integer sum or product with a constant that depend on fewer operations
 * before; returns the register of the result, or -1 if there are none. */
int scalar_apply_affine(struct maker *m, const struct inst *i, const int *args);
/* Records what the operation has computed. */
void scalar_set_affine(struct maker *m, const struct inst *i, const int *args, int reg);

/* ---- scalar_moves.c ---- */

/* Removes moves where the value can be computed in its final register, and operations whose results
 * are not read. */
void scalar_tidy(struct maker *m, struct scalar_code *code);
bool scalar_has_loop(const struct maker *m);
/* Sets the targets of jumps to the new places of operations. */
void scalar_set_targets(struct scalar_op *ops, int count, const int *place);
/* Puts operations before all others. */
void scalar_put_first(struct maker *m, const struct scalar_op *ops, int count);

/* Registers that are storage of their own, sorted by address. */
struct own_registers {
    int count;
    const struct reg **at;
};
struct own_registers scalar_own_registers(const struct maker *m);
/* The number of the register that contains this address; -1: in none. */
int scalar_register_at(const struct own_registers *r, const void *at);

/* Calls `fn` for each operand and result of an operation, with its address and the pointer that
 * holds it, whatever its type; scalar_set_pointer() replaces the address. */
typedef void scalar_place_fn(void *context, const void *at, void *pointer, bool write);
void scalar_visit(struct scalar_op *op, scalar_place_fn *fn, void *context);
static inline void scalar_set_pointer(void *pointer, const void *at)
{
    memcpy(pointer, &at, sizeof at);
}

/* ---- scalar_product.c ---- */

/* Turns matrices that products by vectors read and nothing changes, if there is a loop. */
void scalar_turn_matrices(struct maker *m);

/* ---- scalar_join.c ---- */

/* Joins calls of the same function on few elements each, if there is a loop. */
void scalar_join_calls(struct maker *m);

/* ---- scalar_data.c ---- */

/* Moves the operations and the registers that they use to one block, the data of the code. */
void scalar_pack(struct maker *m, struct scalar_code *code);

/* ---- scalar_native.c ---- */

/* Whether machine code computes an elementwise operation on few elements without a call. */
bool scalar_has_lanes(struct planner *pl, const struct scalar_op *op);
/* Compiles the operations to machine code, if there is a loop or they are the body of another
 * operation. */
void scalar_set_native(struct maker *m, struct scalar_code *code, bool is_body);

/* ---- scalar_run.c ---- */

/* The window of a slice at the current indices; false: it is outside, and nothing is updated. */
bool scalar_window(const struct scalar_slice *s, struct view *window);
/* Runs one operation that is not a jump. */
bool scalar_run_one(const struct kernels *kern, const struct scalar_op *op);
/* Functions that machine code calls, with the frame and the operation: runs an operation that
 * is not a jump; refills the budget at a jump. */
jit_call_fn scalar_run_other, scalar_look;

#endif
