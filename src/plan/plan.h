/*
 * plan: compiles a verified module to a program: the steps of each computation, their order, and
 * the value slots of their results.
 *
 * Values are flattened: a tuple is its array leaves. So tuple, get-tuple-element, copy, opt-barrier
 * and the like are aliases of existing values and become no steps, and the state of a loop is a
 * list of arrays. Each leaf that a step makes has a slot in the frame of its function; values whose
 * live ranges do not overlap share slots. Constants have no slot.
 */
#ifndef HLO_PLAN_H
#define HLO_PLAN_H

#include "ir/ir.h"
#include "jit/jit.h"
#include "kern/kern.h"
#include "plan/foreign.h"

#include <stdatomic.h>

enum elided_mode {
    ELIDED_REFUSE,
    ELIDED_ZERO,
    ELIDED_IOTA,
    ELIDED_RANDOM
}; /* as enum hlo_elided */

struct plan_options {
    bool plain;              /* plain kernels */
    bool portable;           /* no machine code */
    enum elided_mode elided; /* how constants written `{...}` are filled */
    uint64_t seed;           /* for ELIDED_RANDOM and rng */
    bool traced;             /* every instruction becomes a step, visible to a callback */
    /* set by another thread or a signal handler to end a run; or NULL */
    const _Atomic bool *interrupt;
    struct limits limits; /* of one run */
    struct thread_pool
        *workers; /* worker threads, besides the caller; must outlive the program. NULL: none */
    struct foreign foreign; /* custom-call targets of the user; all NULL: built-in targets only */
};

/* How a step refers to a value: a slot number, or ~n for constant n of the program. */
enum { NO_VALUE = INT_MIN }; /* a token, which has no data */

enum use {
    USE_KEEP, /* read again later, or owned elsewhere (constant, argument) */
    /* not read after this step; another operand of the step may be the same value */
    USE_LAST,
    /* as USE_LAST, and no other operand of the step is the same value: its storage may be reused */
    USE_ONLY
};

enum hoist {
    HOIST_NOT,
    HOIST_LOOP, /* in the first iteration of each run of the loop */
    /* the first time in a run of the program; for the entry computation: in its first run */
    HOIST_RUN
};

/* Why a step with HOIST_NOT is not hoisted. */
enum missed_kind {
    MISSED_NONE,      /* it is hoisted, or has no result */
    MISSED_EFFECT,    /* has side effects: random numbers, tokens, communication */
    MISSED_STATE,     /* depends on a leaf of the loop's state that the body changes */
    MISSED_PARAMETER, /* depends on a parameter of a function that is not the body of a loop */
    MISSED_OPERAND,   /* depends on a step that is not hoisted for a reason of its own */
    MISSED_CALLEE,    /* runs a loop, branch or call */
    MISSED_ELEMENTS,  /* calls a function for each element */
    MISSED_CHEAP,     /* recomputing is faster than reading a kept result */
    MISSED_FULL       /* values of the greatest size that may be kept are kept already */
};
struct missed_hoist {
    uint8_t kind;            /* enum missed_kind */
    int state;               /* of MISSED_STATE: number of the leaf */
    const struct inst *inst; /* of MISSED_OPERAND: the other step's */
};

struct termination;
enum scalar_id { SCALAR_REPLICA, SCALAR_PARTITION, SCALAR_IDS };

enum step_kind {
    STEP_PLAIN,  /* run by the function of its family; no payload */
    STEP_TILE,   /* elementwise, compare, convert */
    STEP_FUSED,  /* a fused loop of several elementwise steps, of which `inst` was the last */
    STEP_SCALAR, /* call, fusion, while, conditional as scalar code */
    STEP_WHILE,
    STEP_CUSTOM_CALL,
    STEP_PIECES, /* concatenate */
    STEP_WINDOW, /* gather as a view */
    STEP_RNG     /* rng, rng-get-and-update-state */
};

struct tile_step {
    kern_tile_fn *run;
    enum dtype type;   /* element type of its operands (of select: except the predicate) */
    enum dtype result; /* element type of its result */
};
/* The place of a fused loop's result: a result of the step, or a part of one. */
struct fused_part {
    int result;
    int dimension;    /* that `at` and `size` refer to; -1: the whole, or a window */
    int64_t at, size; /* first index, and number of indices */
    /* sizes of a window, which the loop stores in operand `array` of the step; or NULL */
    const int64_t *window;
    int array, start; /* `start`: the first operand with a start index */
};
struct fused_step {
    const struct kern_fused *loop;
    const enum dtype *types; /* element types of its operands */
    int count;               /* steps that it replaces; their instructions, in order */
    const struct inst *const *members;
    const struct inst *const *makers; /* by result: the instruction that makes it */
    /* by result of the loop; NULL: each is a result of the step */
    const struct fused_part *parts;
};
struct call_step {
    int number;                   /* in the program, from 1 on; 0: it has none */
    const struct onnx_loop *loop; /* of onnx.Loop, whose only callee is the body; else NULL */
    /* user code that precedes the built-in targets (`foreign`), and that follows them
     * (`fallback`) */
    struct foreign_target foreign, fallback;
};

/* A piece of a concatenation: a slice of an operand, and its place in the result; by dimension. */
struct piece {
    int operand;
    const int64_t *start, *limit, *stride, *place;
};
struct pieces_step {
    int count;
    const struct piece *at;
};

/* A view of the operand: its first element, and by dimension of the result the distance of its
 * elements along each dimension of the operand. */
struct window_step {
    int64_t *start, *steps;
};

struct step {
    const struct inst *inst;
    uint8_t hoist;     /* enum hoist; unless HOIST_NOT, results that are read stay in their slots */
    bool continues;    /* traced function: the next step belongs to the same instruction */
    bool unused;       /* nothing depends on its results: its failure does not end a run */
    int operand_count; /* leaves of all operands, in order */
    const int *operands;
    const uint8_t *uses; /* enum use, by operand leaf */
    /* by operand of the instruction: its first leaf; one more entry for the end */
    const int *starts;
    int result_count;   /* leaves */
    const int *results; /* slots; NO_VALUE for tokens */
    /* traced function, where the instruction is an alias: by result, the operand leaf that it is,
     * or ~n for constant n; else NULL */
    const int *aliases;
    const struct shape *const *shapes; /* of the result leaves */
    int release_count;
    const int *release; /* slots whose values are dead after the step */
    int callee_count;
    struct function **callees; /* computations on whole values; of while: body, condition */
    const struct body *bodies; /* computations applied to elements: to_apply; or select, scatter */
    enum step_kind kind;
    union {
        struct tile_step tile;
        struct fused_step fused;
        const struct scalar_code *scalar;      /* of the whole step; its arrays are dense */
        const struct termination *termination; /* of a while; NULL: termination unknown */
        struct call_step call;
        struct pieces_step pieces;
        struct window_step window;
        int rng; /* number of its state in program.rng */
    } as;
    /* by member, or of the only instruction; NULL in the entry computation and where no pass
     * optimizes */
    const struct missed_hoist *missed;
};

/* The payload of a step of this kind; NULL for other kinds. */
static inline const struct tile_step *step_tile(const struct step *s)
{
    return s->kind == STEP_TILE ? &s->as.tile : NULL;
}
static inline const struct fused_step *step_fused(const struct step *s)
{
    return s->kind == STEP_FUSED ? &s->as.fused : NULL;
}
static inline const struct scalar_code *step_scalar(const struct step *s)
{
    return s->kind == STEP_SCALAR ? s->as.scalar : NULL;
}
static inline const struct call_step *step_call(const struct step *s)
{
    return s->kind == STEP_CUSTOM_CALL ? &s->as.call : NULL;
}
static inline const struct pieces_step *step_pieces(const struct step *s)
{
    return s->kind == STEP_PIECES ? &s->as.pieces : NULL;
}
static inline const struct window_step *step_window(const struct step *s)
{
    return s->kind == STEP_WINDOW ? &s->as.window : NULL;
}

/* Whether a step of a traced function takes an element of a tuple. All such steps of one tuple
 * share one operand array, the tuple's leaves: N elements may have N such steps. */
static inline bool step_takes_element(const struct step *s)
{
    return s->aliases && s->inst->opcode == OP_GET_TUPLE_ELEMENT;
}

/* A planned computation. HLO has no recursion, so one frame per function is enough. */
struct function {
    const struct computation *computation;
    int index; /* in program.functions */
    int slot_count;
    int param_count;   /* leaves of all parameters */
    const int *params; /* by leaf: its slot; NO_VALUE when it is not read */
    const struct shape *const *param_shapes;
    bool is_body;    /* body of a loop */
    bool has_effect; /* calling it has side effects */
    int step_count;
    struct step *steps;
    /* the first hoisted_steps steps run once per run of the program; the first loop_steps steps,
     * those included, once per run of the loop */
    int hoisted_steps, loop_steps;
    int loop_cached_count;
    const int *loop_cached; /* slots of values kept for one run of the loop */
    int run_cached_count;
    /* entry computation: slots of values kept between runs */
    const int *run_cached;
    /* of a loop body, by leaf of the state: passed on unchanged, in the same slot */
    const bool *passes;
    int result_count; /* leaves of the root */
    const int *results;
    /* by result: its last occurrence among the results, and the slot may be emptied */
    const bool *result_moves;
    const struct shape *const *result_shapes;
    /* of a loop's condition, or onnx.Loop's body: its scalar code, or NULL */
    const struct scalar_code *code;
};

/* What the passes did, for `hlo plan`. Hoisted steps are counted after fusion, others before. */
struct plan_stats {
    int inlined; /* calls and fusions whose instructions became steps of their callers */
    int mapped;  /* maps that became elementwise steps on whole arrays */
    int merged;  /* steps merged by common-subexpression elimination */
    /* instructions replaced by an alias or by a simpler step */
    int simplified;
    int folded;  /* steps that were constant-folded */
    int dropped; /* dead steps */
    /* steps of other functions that depend on constants alone: run once per run */
    int hoist;
    /* steps of the entry computation that depend on constants alone: run in the first run only */
    int kept;
    /* loop-invariant steps of loop bodies: run once per run of the loop */
    int invariant;
};

struct scalar_step;
/* The run in which scalar code is called. */
struct scalar_run {
    struct budget *budget;    /* charged for every iteration */
    uint32_t ids[SCALAR_IDS]; /* of the participant, by enum scalar_id */
    void *run;                /* of the functions below; NULL, as they are: no run */
    bool (*run_step)(void *run, const struct scalar_step *s); /* runs a step within scalar code */
    /* reports an infinite loop within scalar code */
    void (*report_infinite)(void *run, const struct termination *t);
};

/* The initial state of the steps that keep one between runs: of rng, draws so far and key; of
 * rng-get-and-update-state, 128 bits, as in XLA. */
struct rng_state {
    uint64_t words[2];
};

/* A plan, which all participants share. Runs do not change it: what they write is in struct
 * run_state (eval.h). */
struct program {
    struct arena arena;
    struct module *module;
    struct plan_options options;
    const struct kernels *kern; /* fast or plain, per options */
    bool dynamic;               /* an array may be smaller at run time than its shape */
    struct function *entry;
    int function_count, function_capacity;
    struct function **functions;
    int constant_count;
    struct view *constants; /* dense; storage of the module or of `filled` */
    int call_count;         /* custom calls */
    int filled_count;
    struct plan_stats stats;
    struct literal **filled; /* literals made for elided constants; owned */
    int rng_count;           /* steps with a state that persists between runs */
    struct rng_state *rng;   /* their initial states */
    int scalar_count;        /* scalar codes; each has a number below it */
    struct jit_memory *code; /* machine code of its loops; NULL: none */
    bool code_ready;         /* it may be called */
};

/* Plans the module `m`, which must outlive the program. Returns NULL with diagnostics: an elided
 * constant that may not be filled, ranks or nesting beyond the limits, out of memory. The caller
 * frees the program with program_free(). */
struct program *plan_module(struct diags *ds, struct module *m, const struct plan_options *options);
void program_free(struct program *p);

/* ---- tile.c ---- */

/* Exponent or mantissa bits of a reduce-precision; at most those of the type. */
int plan_bits(const struct inst *i, enum attr_id a);
/* The type in which a dot or convolution sums its products: the result's, or one that is converted
 * to it afterwards. */
enum dtype plan_sum_type(const struct inst *i);

void plan_dot_dims(const struct inst *i, struct kern_dot_dims *out);
/* Dimensions of a gather or scatter. */
void plan_gather_dims(const struct inst *i, struct kern_gather_dims *out);
/* The error in batching dimension k of the array, or NULL. XLA's verifier accepts these, although
 * they refer to no element, or to one outside the array. */
const char *plan_batching_problem(const struct kern_gather_dims *d, int k,
                                  const struct shape *array, const struct shape *indices);

/* ---- describe.c ---- */

/* Appends what a step does and how: "reduce: add". */
void plan_describe(struct buf *out, const struct step *s);
/* By index of the function: whether its steps run in every iteration of a loop unless they are
 * hoisted: bodies, conditions, and what they call. */
const bool *plan_find_in_loops(struct arena *a, const struct program *p);
/* Appends the schedule of a fused loop; nothing for other steps. */
void plan_describe_loop(struct buf *out, const struct step *s);
/* Appends why a step, or members of a fused step, are not hoisted; nothing if there is nothing to
 * say. */
void plan_describe_missed(struct buf *out, const struct step *s);

/* ---- cost.c ---- */

struct cost {
    double operations, bytes; /* arithmetic operations; bytes read and written */
};
struct cost plan_cost_of_inst(const struct inst *i);
/* Cost of one execution of the step; zeros where it calls functions. */
struct cost plan_cost(const struct step *s);

/* ---- body.c: computations that are applied to elements ---- */

struct body {
    const struct scalar_code *code;     /* NULL: call `function` for each element */
    const struct kern_lane_code *lanes; /* `code` for many elements at a time; or NULL */
    kern_native_fn *indexed;            /* of a scatter, as in kern_body; or NULL */
    struct function *function;
    /* of accumulator and value; KERN_CALL when no kernel implements it */
    enum kern_combine combine;
    enum kern_order order; /* of a comparator; KERN_ORDER_CALL likewise */
    int key;
    bool total_order;
    const struct kern_pick *pick; /* of a reducer, or NULL */
    /* of a comparator: computes the keys that it compares, and what they are; or NULL */
    const struct kern_lane_code *make_keys;
    struct kern_sort_key keys[KERN_SORT_KEYS];
    int arg_count, result_count;
    /* element types of the arguments; the first half of a reducer's are accumulators */
    const enum dtype *args;
    const enum dtype *results; /* element types of the results */
};

/* ---- termination.c: loops that cannot end ---- */

/* What is known about the termination of a while without side effects. Its condition depends only
 * on those leaves of the state that decide whether it ends. */
struct termination {
    const struct inst *loop;
    enum {
        ENDS_UNKNOWN,
        /* if entered: the body passes on unchanged all leaves that decide */
        ENDS_NEVER,
        /* unless the leaves that decide take values that they had before */
        ENDS_UNLESS_CYCLE
    } known;
    int count; /* leaves that decide, without those that the body passes on unchanged */
    int *leaves;
};

/* ---- cycle.c: loops whose state repeats ---- */

/* An array of scalar code: in registers, or in the caller's storage if it is too large for them.
 * Then it is read and written piece by piece. */
struct scalar_origin {
    char *const *large_array; /* holds the address of such an array; NULL: in registers */
    int64_t offset;           /* bytes from there to the view */
};
struct scalar_view {
    struct view view; /* its address is NULL unless it is in registers */
    struct scalar_origin origin;
};
/* The view with its address: itself, or `made`. */
static inline const struct view *scalar_locate(const struct scalar_view *v, struct view *made)
{
    if (!v->origin.large_array)
        return &v->view;
    *made = v->view;
    made->data = *v->origin.large_array + v->origin.offset;
    return made;
}

struct cycle_digest {
    uint64_t sum, product;
};
/* Cycle detection in one run of a loop. */
struct cycle {
    const struct termination *termination; /* NULL in scalar code for a loop without detection */
    int part_count;
    /* all leaves that decide whether the loop ends, where they are after an iteration */
    struct scalar_view *parts;
    /* in scalar code: its number, and that of the first loop nested in it */
    int number, first_inner;
    enum { CYCLE_FORGOTTEN, CYCLE_NOTED, CYCLE_SUSPECTED } mode;
    int64_t passed; /* visits since the state was recorded */
    /* of a suspected cycle: visits until the state probably recurs */
    int64_t left;
    struct cycle_digest noted;
};
/* Visits the state after an iteration, as the next one reads it. True: it has recurred, so the loop
 * cannot end. */
bool cycle_visit(struct cycle *c);

/* Decides which iterations of a loop are visited; zeros before the first. */
struct cycle_clock {
    int64_t iterations; /* iterations so far */
    int64_t next;       /* the iteration after which visits resume; 0: not set */
    int64_t visits;     /* visits still to come before that */
};
/* Called after each iteration: whether it is visited. */
bool cycle_is_due(struct cycle_clock *k, struct cycle *c);

/* Visits the loops of scalar code. Their iterations are not counted; jumps only call cycle_poll
 * when a slice of the budget is consumed. Visits begin at such a time; until they end, every step
 * of the budget is a slice of its own, so that no iteration is missed. */
struct cycle_monitor {
    int count;
    struct cycle *cycles; /* of all loops; inner before outer */
    uint64_t slices;      /* budget slices consumed since the call of the program */
    uint64_t next;        /* the slice after which visits resume */
    uint64_t visits;      /* visits still to come before that */
    uint64_t left;        /* remaining budget at the last visit */
};
/* Called at the start of the program. */
void cycle_monitor_begin(struct cycle_monitor *m);
/* Called after the budget was refilled at a jump; `loop` is the loop that the jump closes, or NULL.
 * True: that loop cannot end. */
bool cycle_poll(struct cycle_monitor *m, struct budget *b, struct cycle *loop);

/* ---- scalar.c: scalar code: computations on scalars and small arrays ---- */

enum scalar_kind {
    SCALAR_APPLY,     /* fn on `count` elements */
    SCALAR_MOVE,      /* out = args[0], `count` bytes */
    SCALAR_COPY,      /* between two views */
    SCALAR_PRECISION, /* reduce-precision */
    SCALAR_SLICE,     /* dynamic-slice, dynamic-update-slice */
    SCALAR_REDUCE,
    SCALAR_DOT,
    SCALAR_GATHER,
    SCALAR_SCATTER, /* of one array */
    /* any other operation on small arrays: run as a step */
    SCALAR_STEP,
    /* to operation `count`; `cycle`: of the loop that it closes, or NULL */
    SCALAR_JUMP,
    SCALAR_JUMP_UNLESS, /* as SCALAR_JUMP, when the pred args[0] is false */
    /* to targets[s32 at args[0]], the last when out of range; `count` targets */
    SCALAR_SWITCH,
    /* counts iterations in out, a u64, where they are limited: `count` >= 0 sets the count; -1 adds
     * one */
    SCALAR_TRIP,
    SCALAR_INFINITE, /* reports an infinite loop */
    SCALAR_STOP
};
struct scalar_copy {
    struct view out;
    struct scalar_view x;
};
struct scalar_precision {
    struct view out, x;
    int exponent, mantissa;
};
struct scalar_slice { /* a window of `whole` at clamped indices, and its source or destination */
    struct scalar_view whole;
    struct view piece;
    bool update;
    bool drops[VIEW_MAX_RANK]; /* nothing is updated if the index is outside, instead of clamped */
    struct {
        const void *at;
        enum dtype type;
        bool inside; /* known to need no clamping */
    } index[VIEW_MAX_RANK];
};
struct scalar_reduce {
    int n;
    struct view *out, *x;
    struct scalar_origin *origins; /* of x, whose addresses are set when it runs */
    const void **init;
    const enum dtype *acc;
    bool reduced[VIEW_MAX_RANK];
    struct kern_body body;
    const struct kern_ready_reduce *ready; /* or NULL */
};
struct scalar_dot {
    struct view out;
    struct scalar_view lhs, rhs;
    struct kern_dot_dims dims;
    const struct kern_ready_dot *ready; /* or NULL */
};
struct scalar_gather { /* `small`: the result of the gather, or the updates */
    struct scalar_view whole;
    struct view small, indices;
    struct kern_gather_dims dims;
    struct kern_body body; /* of a scatter */
};
struct scalar_step {
    const struct step *step; /* its operands use slots 0..n-1, results follow */
    struct view *args, *results;
};
/* What a tile kernel computes, for machine code. */
struct tile_meaning {
    enum { TILE_KERNEL_ONLY, TILE_INST, TILE_CONVERT, TILE_NARROW, TILE_ROUND } kind;
    const struct inst *inst; /* TILE_INST */
    enum dtype from, to;     /* types of the operands and of the result */
    enum dtype round;        /* bf16 or f16 to which an f32 result is rounded; else DT_INVALID */
};
struct scalar_op {
    uint8_t kind;
    int32_t count;
    struct tile_meaning meaning; /* of `fn` */
    union {
        kern_tile_fn *fn;
        const int32_t *targets;
        const struct scalar_copy *copy;
        const struct scalar_precision *precision;
        const struct scalar_slice *slice;
        const struct scalar_reduce *reduce;
        const struct scalar_dot *dot;
        const struct scalar_gather *gather;
        const struct scalar_step *step;
        struct cycle *cycle;
        const struct termination *termination;
    };
    void *out;
    const void *args[KERN_MAX_ARGS];
};
struct scalar_slot {
    void *at;      /* NULL: a parameter that is not read, or a token */
    uint32_t size; /* bytes */
    bool large;    /* a large array in place: `at` points to its storage, a char * */
    bool written;  /* updated in place, so it must have no other reader */
    int arg;       /* of a result: the argument that it aliases */
};
/* What refers in the data of scalar code to the frame of other scalar code, a body. */
struct scalar_body {
    uint32_t at; /* offset of the address in the data */
    const struct scalar_code *code;
};
/* The registers of scalar code, its operations and what belongs to them are in one block, `data`.
 * They refer to each other by addresses, as in a linked program. Runs use copies of the block, in
 * which these addresses are relocated; the block itself has the initial values. Machine code is the
 * same for all copies: it addresses what is in the block relative to its start. */
struct scalar_code {
    const struct program *program;
    const struct kernels *kern;
    int number; /* in the program */
    int arg_count, result_count, op_count;
    /* addresses in `data`; after the arguments, by enum scalar_id, the ids of the participant */
    struct scalar_slot *args, *results;
    struct scalar_op *ops;
    struct cycle_monitor *monitor; /* NULL: no loop needs cycle detection */
    jit_program_fn *native;        /* machine code; NULL: `ops` are interpreted */
    char *data;
    size_t size;
    int relocation_count, body_count;
    const uint32_t *relocations; /* offsets of the addresses in `data` */
    const struct scalar_body *bodies;
};

/* Scalar code in a run, for one call at a time. */
struct scalar_frame {
    const struct scalar_code *code;
    const struct scalar_run *run;
    const struct scalar_op *ops;
    struct cycle_monitor *monitor;
    char *data; /* a copy of code->data */
};
struct scalar_frame *scalar_frame_new(struct arena *a, const struct scalar_code *code,
                                      const struct scalar_run *run);
/* A kern_call_fn; the context is a struct scalar_frame. Arrays are dense. False: out of memory, or
 * a limit was reached. */
bool scalar_call(void *frame, const void *const *args, void *const *results);

#endif
