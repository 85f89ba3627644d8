/*
 * Private to plan/.
 *
 *   A module as a program
 *     plan.c          programs and constants
 *     function.c      a computation as steps; calls the passes in order
 *     slots.c         last uses, value slots of the frame
 *     order.c         order of instructions
 *     alias.c         aliases, live instructions
 *     elided.c        constants written `{...}`
 *     tile.c          elementwise kernels and dimension lists of instructions
 *     body.c          computations applied to elements
 *     key.c           sort keys of comparators
 *     pick.c          argmax and argmin reducers
 *     traced.c        functions with a step for every instruction
 *     termination.c   loops that cannot end
 *     cycle.c         loops whose state repeats
 *   Passes
 *     inline.c        inlining of calls and maps
 *     simple.c        algebraic simplification, constant folding
 *     same.c          common-subexpression elimination
 *     used.c          dead instructions of the module, dead steps of a function
 *     hoist.c         hoisting of constant and loop-invariant steps
 *     gather.c, gather_window.c   indices of gathers
 *     batchnorm.c     batch normalizations as simpler steps
 *     product.c       products of a single term as elementwise steps
 *     derive.h        steps of instructions that are not in the module
 *     fuse.c, fuse_ops.c, fuse_parts.c, fuse_native.c   fused loops
 *   Scalar code: scalar.h lists its files.
 *   Reports
 *     describe.c      description of steps
 *     cost.c          cost estimates
 */
#ifndef HLO_PLAN_PRIV_H
#define HLO_PLAN_PRIV_H

#include "plan/plan.h"

enum {
    PLAN_MAX_DEPTH = 500, /* nesting of calls: each level uses C stack */
    /* leaves of one value: nested tuples of a few lines can have very many */
    PLAN_MAX_LEAVES = 1 << 20,
    PLAN_HOISTING_BUDGET = 1 << 17
};

struct planner {
    struct diags *ds;
    struct program *p;
    const struct kern_tiles *tiles;
    struct arena scratch;
    struct function **by_computation; /* by index in the module */
    struct traffic_list **traffic;    /* by index: channels that it sends on or receives from */
    bool has[OP_COUNT];               /* opcodes that occur anywhere in the module */
    bool any_effect;                  /* an instruction of the module has a side effect */
    uint8_t *effects;                 /* enum known, by index: it has side effects */
    bool **used;                      /* by index, by instruction: see used.c */
    int64_t **first_leaf;             /* by index, by instruction: number of its first leaf */
    bool *needed;                     /* by number of the leaf; NULL: unknown */
    const struct site **sites;        /* by index: what runs it */
    uint8_t *computes;                /* enum known, by index: it has no side effects */
    uint8_t *differs;    /* enum known, by index: its values may differ between participants */
    uint8_t *not_scalar; /* by index: it cannot be scalar code; bits of scalar.c */
    /* instructions that may still be visited in vain to compile loops with what they hoist */
    int hoisting_budget;
    struct map constants;             /* small ones: type, shape and hash of the bytes -> number */
    const struct computation **equal; /* by index: the first equal one, or NULL; same.c */
    struct map contents;              /* numbers of instructions -> computation */
    struct map inst_numbers;          /* instruction -> number */
    int inst_number;                  /* the next one */
    struct map elided;                /* address of the literal -> struct elided */
    struct map terminations;          /* address of a while -> struct termination */
    int constant_capacity, filled_capacity;
    size_t rng_capacity;
    int depth;
    struct known_call *calls; /* by index */
    int *call_sites;          /* by index: number of calls and fusions of it */
    int *inline_sizes;        /* by index: number of steps it would add to its caller; 0: unknown */
    int64_t inlined;          /* instructions duplicated by inlining */
    int64_t cached_bytes;     /* bytes of kept results */
    /* by index in its computation, while scalar_of_inst() compiles one instruction */
    struct leaves *loose;
    int loose_capacity;
    bool no_code; /* the system has no executable memory, or it is not wanted */
};
/* native.c: the operation of a tile kernel as lane instructions. Returns the value, or JIT_NONE. */
int plan_expand(struct jit_builder *b, const struct tile_meaning *m, const int *args, int count);
/* For a function on tiles that uses what this processor has; without elements at offsets.
 * `lanes16`: where possible in lanes of 16 bits, which have no other values (jit_set_target). */
struct jit_builder *plan_tile_builder(struct arena *a, bool lanes16);
/* How many elements lane instructions can compute at once; 0: not available for the operation.
 * `constants`: by operand, its single element if that is known, else NULL; NULL: none is. */
int plan_lanes(struct arena *scratch, const struct tile_meaning *m, const char *const *constants,
               struct jit_target target);
enum dtype plan_operand_type(const struct tile_meaning *m, int operand);
/* plan.c: memory for machine code, or NULL. */
struct jit_memory *plan_code(struct planner *pl);
struct known_call {
    bool known;
    const struct scalar_code *code; /* scalar code shared by all calls and fusions of it, or NULL */
};
enum known { KNOWN_NOTHING, KNOWN_NO, KNOWN_YES };

/* The leaves of an instruction's value: value numbers of the function, ~n for constant n, NO_VALUE
 * for tokens. */
struct leaves {
    int count;
    int *at;
};

/* Reports a diagnostic about an instruction, with the user's source line if known. Evaluates to
 * false. */
#define PLAN_FAIL(pl, inst, id, ...)                                                               \
    plan_where((pl), (inst), DIAG((pl)->ds, (inst)->span, id, ##__VA_ARGS__))
bool plan_where(struct planner *pl, const struct inst *i, struct diag *d);

/* The computation that a call or fusion runs. */
static inline struct computation *plan_called(const struct inst *i)
{
    return inst_computation(i, i->opcode == OP_CALL ? A_TO_APPLY : A_CALLS);
}

/* ---- plan.c ---- */

/* The leaves of a literal as constants. False with a message: elided, or too big. */
bool plan_constant(struct planner *pl, const struct inst *i, const struct literal *l,
                   struct leaves *out);
/* A constant of zeros; NO_VALUE when out of memory. */
int plan_zero(struct planner *pl, const struct shape *s);
int plan_add_constant(struct planner *pl, const struct literal *l);
/* Makes the program own the literal. */
void plan_keep_filled(struct planner *pl, struct literal *l);
/* The leaf shapes of a shape, in order; false past the limits (rank, number). */
bool plan_leaf_shapes(struct planner *pl, const struct inst *i, const struct shape *s, int *count,
                      const struct shape *const **out);

/* ---- alias.c ---- */

/* Whether values of these shapes are interchangeable: layouts don't matter. */
static inline bool same_elements(const struct shape *a, const struct shape *b)
{
    return shape_equal(a, b, IGNORE_LAYOUT | IGNORE_DYNAMIC);
}
/* At most PLAN_MAX_LEAVES + 1. */
int64_t leaf_count(const struct shape *s);
/* Whether the instruction is an alias of existing values (tuple, get-tuple-element, copy,
 * after-all, ...); `out`: these values. */
bool plan_alias(struct planner *pl, const struct inst *i, const struct leaves *env,
                struct leaves *out);
/* The user's code for a custom call: code that precedes the built-in targets; with `fallback`,
 * code that follows them. */
struct foreign_target plan_foreign(const struct program *p, const struct inst *i, bool fallback);
/* Whether it is a custom call of LAPACK, not of user code: it only computes. */
bool plan_is_lapack(const struct program *p, const struct inst *i);
/* The leaves of component `index` of a value of shape `s`. */
struct leaves leaves_component(const struct shape *s, struct leaves l, int64_t index);
/* Whether the instruction, or a computation that it calls, has side effects. */
bool plan_has_effect(struct planner *pl, const struct inst *i);
/* Instructions that the root or a side effect depends on, in execution order. */
struct inst **plan_live(struct planner *pl, const struct computation *c, int *count);

/* ---- order.c ---- */

/* All instructions in execution order. */
struct inst **plan_order(struct planner *pl, const struct computation *c);

/* ---- function.c ---- */

/* A function under construction. Until slots are assigned, steps refer to values by number. */
struct build {
    struct planner *pl;
    struct function *f;
    struct leaves *env; /* by instruction of the computation that is being planned or inlined */
    /* traced function, by instruction: dead code without steps; NULL: none */
    bool *left_out;
    struct map same; /* key of a step -> its results */
    int value_count;
    int *maker; /* by value: the step that makes it; -1: a parameter, or unknown */
    size_t maker_capacity;
    int64_t total_leaves;
    size_t step_capacity;
};

/* The arena of the program. */
static inline struct arena *build_arena(struct build *b) { return &b->pl->p->arena; }

/* Optimizing passes never change a bit of a result. They are disabled for --plain, where a program
 * runs as written; for dynamic sizes, which no pass supports; and for traced runs, which must
 * execute every instruction as written. */
static inline bool plan_optimises(const struct planner *pl)
{
    return !pl->p->options.plain && !pl->p->dynamic && !pl->p->options.traced;
}

bool plan_inst(struct build *b, const struct inst *i, struct leaves *out);
/* Plans the instructions of `c`; the leaves of its parameters must be in
 * `b->env`. */
bool plan_steps(struct build *b, const struct computation *c);
struct function *plan_function(struct planner *pl, const struct inst *caller,
                               const struct computation *c);

/* Fills the fields of the step that its operation family needs (kernels, bodies,
 * callees). */
bool plan_prepare(struct build *b, struct step *s);
/* Adds a step that makes the leaves of `result` from `operands`; NULL past the limits. `starts` as
 * in struct step; `out`: the results. */
struct step *plan_emit(struct build *b, const struct inst *i, struct leaves operands,
                       const int *starts, const struct shape *result, struct leaves *out);
/* The leaves of all operands of an instruction, in order, and the index of the first leaf of
 * each. */
struct leaves plan_operands(struct build *b, const struct inst *i, int **starts);

/* ---- slots.c ---- */

/* Assigns a slot to each value of the finished steps, and last uses to the operands; `results`:
 * what the function returns. */
void plan_assign_slots(struct build *b, struct leaves results);

/* ---- traced.c ---- */

static inline bool plan_is_traced(const struct planner *pl) { return pl->p->options.traced; }
/* Plans the instruction as one step, or as two, of which the second converts the result of the
 * first to the form that callbacks receive. */
bool plan_traced_inst(struct build *b, const struct inst *i, struct leaves *out);

/* ---- gather.c ---- */

/* Replaces the indices of a new step by their components, if these are separate values. */
void plan_split_indices(struct build *b, struct step *s);

/* ---- gather_window.c ---- */

/* Makes a new step a view of its operand if it is a gather whose windows are at equal distances,
 * inside the operand. */
void plan_gather_window(struct build *b, struct step *s);
/* Makes steps that update one window instead of a scatter whose window is known and inside the
 * array, and whose body is an elementwise operation or its second parameter. Returns false for any
 * other instruction. */
bool plan_scatter_window(struct build *b, const struct inst *i, struct leaves operands,
                         struct leaves *out);

/* ---- pieces.c ---- */

/* Makes concatenations read the operands of the slices and concatenations before them. */
void plan_read_through(struct build *b, struct leaves results);

/* ---- inline.c ---- */

/* Whether the instruction's operands and result match the computation's parameters and result. */
bool inline_fits(const struct inst *i, const struct computation *c);
/* Whether to inline the instructions of a call or fusion. */
bool inline_is_profitable(struct planner *pl, const struct inst *i, const struct computation *c);
/* Whether it, or what it calls, has a state that persists between runs. */
bool inline_has_state(struct planner *pl, const struct inst *i);
bool inline_call(struct build *b, const struct inst *i, const struct computation *c,
                 struct leaves *out);
/* Replaces a map of elementwise operations by these operations on whole arrays; sets `done` on
 * success. False with a message. */
bool inline_map(struct build *b, const struct inst *i, struct leaves *out, bool *done);

/* ---- used.c ---- */

/* Finds the instructions that the module's result, or a side effect, depends on. */
void plan_find_used(struct planner *pl);
static inline bool plan_is_used(const struct planner *pl, const struct inst *i)
{
    return pl->used[i->parent->index][i->index];
}

/* Marks the values, by value number, that a step or a function has in this list. */
void plan_mark_read(bool *read, const int *values, int count);
void plan_drop_dead(struct planner *pl, struct function *f, int value_count, struct leaves results);
/* In the body of a loop: results that nothing depends on become the parameters they replace. */
void plan_drop_dead_state(struct planner *pl, const struct function *f, struct leaves results);

/* ---- same.c ---- */

/* Finds the results of an equal instruction in `same`, whose keys are those of same_note(). */
bool same_find(struct planner *pl, const struct map *same, const struct inst *i,
               struct leaves operands, struct leaves *out);
void same_note(struct planner *pl, struct map *same, const struct inst *i, struct leaves operands,
               struct leaves made);
/* The first computation that is equal to this one, perhaps itself. */
const struct computation *plan_equal_computation(struct planner *pl, const struct computation *c);
/* The number of an equal constant, or of a new one. */
int same_constant(struct planner *pl, const struct literal *l);

/* ---- simple.c ---- */

/* The instruction itself, or one that combines it with the maker of its operand; updates `operands`
 * to match. */
const struct inst *simple_inst(struct build *b, const struct inst *i, struct leaves *operands);
/* Finds the instruction's value, if it exists already or can be constant-folded. */
bool simple_find(struct build *b, const struct inst *i, struct leaves operands, struct leaves *out);
/* Makes a step on the operands of broadcasts instead of the broadcasts themselves, and one that
 * repeats its result; false if the instruction has none. */
bool simple_smaller(struct build *b, const struct inst *i, struct leaves operands,
                    struct leaves *out);
/* Records the results of the last step. */
void simple_note(struct build *b, struct leaves made);
/* The step that makes a value, or NULL: none, or it is not recorded. */
const struct step *simple_maker(const struct build *b, int value);

/* ---- hoist.c ---- */

/* Whether equal operands always give equal results, without side effects. */
bool plan_is_pure(struct planner *pl, const struct inst *i);
/* plan_is_pure() for a loop, branch or call and everything that it calls. */
bool plan_runs_pure(struct planner *pl, const struct inst *i);
/* Hoists steps of a function that need not run every time: sets step.hoist and moves them to the
 * front; `results`: what the function returns. */
void plan_hoist(struct planner *pl, struct function *f, int value_count, struct leaves results);
/* Whether values of the entry computation are kept between runs. */
bool plan_keeps(const struct planner *pl);
/* plan_hoist() for the entry computation, whose values stay with the program. */
void plan_hoist_entry(struct planner *pl, struct function *f, int value_count,
                      struct leaves results);

/* ---- tile.c ---- */

/* The tile kernel of an elementwise, compare or convert instruction, the type its operands must
 * have and the type of its result. NULL: none. */
kern_tile_fn *plan_tile(const struct planner *pl, const struct inst *i, enum dtype *type,
                        enum dtype *result);
/* plan_tile() for operands of a given type (select's last two); NULL when there is no kernel for
 * it. */
kern_tile_fn *plan_tile_of(const struct planner *pl, const struct inst *i, enum dtype type);

/* ---- batchnorm.c ---- */

/* Plans a batch normalization of floats as several steps. False with a message. */
bool plan_batch_norm(struct build *b, const struct inst *i, struct leaves *out);

/* ---- product.c ---- */

/* Makes elementwise steps of a product of a single term, or of the transpose of one; false if the
 * instruction is neither. */
bool plan_product(struct build *b, const struct inst *i, struct leaves *out);

/* ---- fuse.c ---- */

/* Merges elementwise steps into fused loops; `results`: what the function returns. */
void plan_fuse(struct planner *pl, struct function *f, int value_count, struct leaves results);

/* ---- key.c ---- */

/* Sets order and keys of a comparator that compares keys lexicographically. `lanes`: its scalar
 * code for KERN_LANES values at a time. */
void plan_find_keys(struct planner *pl, const struct scalar_code *lanes, struct body *b);

/* ---- lanes.c ---- */

/* Scalar code for KERN_LANES values in each register as code on tiles; NULL if it cannot be.
 * `args`, `results`: the types of its arguments and results. */
const struct kern_lane_code *plan_lane_code(struct planner *pl, const struct scalar_code *code,
                                            const enum dtype *args, const enum dtype *results);
/* Expands scalar code for `elements` values in each register, of which one is computed: `values`
 * are the arguments, then the results. False: it cannot be. */
bool plan_expand_code(struct jit_builder *b, const struct scalar_code *code, int elements,
                      const enum dtype *args, const enum dtype *results, int *values);
/* Such code as machine code for elements at offsets, as in kern_body; NULL if it cannot be. */
kern_native_fn *plan_indexed_code(struct planner *pl, const struct scalar_code *code,
                                  const enum dtype *args, const enum dtype *results);

/* ---- pick.c ---- */

/* The table of a reducer of values and indices that keeps the best value with its index; else
 * NULL. */
const struct kern_pick *plan_find_pick(struct planner *pl, const struct body *b);

/* ---- body.c ---- */

/* Makes the bodies of a step whose instruction applies computations to elements; false with a
 * message. */
bool plan_bodies(struct planner *pl, struct step *s);
/* The elementwise operation on the two parameters, each once, that the body consists of, or NULL.
 */
const struct inst *plan_binary_body(const struct computation *body);

/* ---- termination.c ---- */

/* What is known about the end of a while; NULL: nothing. */
const struct termination *plan_termination(struct planner *pl, const struct inst *loop);

/* ---- elided.c ---- */

struct elided {
    const struct literal *literal;
    uint64_t number;              /* index among the elided constants of the module */
    uint64_t words;               /* 32-bit words of the elided constants before it */
    uint64_t bytes;               /* remaining odd bytes of those */
    const struct literal *filled; /* the literal that replaces it; NULL: not made yet */
};
/* Numbers the elided arrays of a constant; `next`: the numbers of the next one. */
void elided_collect(struct planner *pl, const struct literal *l, struct elided *next);
const struct literal *elided_fill(struct planner *pl, const struct inst *i,
                                  const struct literal *l);

/* ---- scalar.c ---- */

/* Types of arguments and results where they differ from the declared ones: the scalar code
 * converts. */
struct scalar_types {
    const enum dtype *args; /* by leaf; NULL: as declared */
    const enum dtype *results;
    int64_t lanes; /* values per register, for vectorized code; 0: one */
};
/* Compiles a computation to scalar code; NULL when that is not possible. */
struct scalar_code *scalar_of_computation(struct planner *pl, const struct computation *c,
                                          const struct scalar_types *t);
/* Compiles a call, fusion, while or conditional, with its operands as arguments; `code`: NULL when
 * that is not possible. Steps that compute what a while does not change are added to the function,
 * and their results to `operands`. False with a message. */
bool scalar_of_inst(struct build *b, const struct inst *i, struct leaves *operands,
                    const struct scalar_code **code);

#endif
