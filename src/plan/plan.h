/*
 * plan: from a verified module to a program: what is done, in which order, and where values live.
 *
 * Values are flattened: a tuple is nothing but its array leaves. So tuple, get-tuple-element, copy,
 * opt-barrier and the like are names for existing values and become no steps, and the state of a
 * loop is a row of arrays. Each leaf that a step makes has a slot in the frame of its function;
 * values that don't live at the same time share slots. Constants have no slot.
 */
#ifndef HLO_PLAN_H
#define HLO_PLAN_H

#include "ir/ir.h"
#include "kern/kern.h"
#include "kern/quick.h"
#include "plan/foreign.h"
#include "verify/verify.h"

#include <stdatomic.h>

enum elided_mode {
    ELIDED_REFUSE,
    ELIDED_ZERO,
    ELIDED_IOTA,
    ELIDED_RANDOM
}; /* as enum hlo_elided */

struct plan_options {
    bool plain;                 /* plain kernels */
    enum elided_mode elided;    /* how constants written `{...}` are filled */
    uint64_t seed;              /* of ELIDED_RANDOM and rng */
    int64_t replica, partition; /* which participant this is */
    bool observed;              /* every instruction becomes a step, for an observer to look at */
    const _Atomic bool *interrupt; /* set by whoever wants a run to end; or NULL */
    struct limits limits;          /* of one run */
    struct team *
        team; /* threads for its kernels, beside the caller; must outlive the program. NULL: none */
    struct foreign foreign; /* the user's custom-call targets; all NULL: only ours */
};

/* Where a step finds a value: slot number, or ~n for constant n of the program. */
enum { NO_VALUE = INT_MIN }; /* a token: nothing is there */

enum use {
    USE_KEEP, /* read again later, or not ours */
    USE_LAST, /* nothing reads the value after this step; another operand of the step may be the
                 same value */
    USE_ONLY  /* the same, and no other operand of the step is that value: its storage may be taken
                 over */
};

enum once {
    ONCE_NOT,
    ONCE_LOOP, /* in the first iteration of each run of the loop */
    ONCE_RUN /* the first time in a run of the program; for the entry computation: in its first run
              */
};

struct termination;

struct step {
    const struct inst *inst;
    uint8_t once; /* enum once; unless ONCE_NOT, results that others read stay in their slots */
    bool goes_on; /* of an observed function: the next step belongs to the same instruction */
    bool unused;  /* nothing depends on its results: its failure does not end a run */
    int operand_count; /* leaves of all operands, one operand after the other */
    const int *operands;
    const uint8_t *uses; /* enum use, for each of them */
    const int *starts;   /* first leaf of each operand of the instruction, and one past the last */
    int result_count;    /* leaves */
    const int *results;  /* slots; NO_VALUE for tokens */
    const int *names;    /* of an observed function, where the instruction just renames: the operand
                          * leaf that    each result is, or ~n for constant n; else NULL */
    const struct shape *const *shapes; /* of the leaves */
    int release_count;
    const int *release; /* slots whose contents are not needed any more once the step is done */
    int callee_count;
    struct function *
        *callees; /* computations that run on whole values; of while: body, condition */
    const struct body *bodies; /* computations applied to elements: to_apply; or select, scatter */
    const struct scalar_code
        *scalar; /* the whole step as a scalar program, or NULL; arrays in and out are dense */
    const struct termination *termination; /* of a while; NULL: nothing is known about its end */
    const struct onnx_loop *loop; /* of a custom call to onnx.Loop, whose only callee is the body */
    struct foreign_target foreign,
        left_over; /* of a custom call: code that comes before our own targets, and after them */
    uint64_t *rng_state; /* persists from run to run; rng: draws so far, key; else XLA's 128 bits */
    kern_tile_fn *tile;  /* elementwise, compare, convert */
    enum dtype tile_type;   /* its operands are to be of this type (select's first: pred) ... */
    enum dtype tile_result; /* ... and its result is of this one */
    const struct kern_fused
        *fused; /* several elementwise steps in one, of which `inst` was the last; or NULL */
    const enum dtype *fused_types; /* of its operands */
    int fused_steps;               /* how many steps it was, and their instructions, in order */
    const struct inst *const *members;
    const struct inst *const *makers; /* and which of these instructions makes which result */
};

/* Of an observed function: whether the step takes an element of a tuple. All such steps of one
 * tuple share one array of operands, the tuple's leaves: there may be N such steps for N elements.
 */
static inline bool step_takes_element(const struct step *s)
{
    return s->names && s->inst->opcode == OP_GET_TUPLE_ELEMENT;
}

struct scalar_rest;

/* A planned computation. Nothing is recursive, so one frame per function is enough. */
struct function {
    const struct computation *computation;
    int index; /* in the program */
    int slot_count;
    int param_count;   /* leaves of all parameters */
    const int *params; /* slot of each; NO_VALUE when nothing reads it */
    const struct shape *const *param_shapes;
    bool is_body; /* of a loop */
    int step_count;
    struct step *steps;
    int once_steps, loop_steps; /* number of first steps that are done once in a run; and once in a
                                   run of the loop, those included */
    const struct scalar_rest *rest; /* of a body, or NULL */
    int loop_kept_count;
    const int *loop_kept; /* slots of values kept during a run of the loop */
    int run_kept_count;
    const int
        *run_kept; /* of the entry computation: slots of values kept from one run to the next */
    const bool *passes; /* of a body, by leaf of the state: it is passed on unchanged, and stays in
                           its slot */
    int result_count;   /* leaves of the root */
    const int *results;
    const bool
        *result_moves; /* by result: the slot may be emptied; this is its last occurrence here */
    const struct shape *const *result_shapes;
    const struct scalar_code *code; /* of a loop's condition, or onnx.Loop's body: the whole of it
                                       as a scalar program, or NULL */
};

/* What the passes did, for `hlo plan`. Steps are counted before they are fused. */
struct plan_stats {
    int inlined;    /* calls and fusions whose instructions became steps of their callers */
    int mapped;     /* maps that became elementwise steps on whole arrays */
    int merged;     /* steps that would have repeated what another one makes */
    int simplified; /* instructions that turned out to be another name for a value, or a simpler
                       step */
    int folded;     /* steps on small constants that were done while planning */
    int split; /* reductions in two parts, of which the first is done less often than the second */
    int dropped; /* steps whose results nobody reads */
    int once;    /* steps of functions that depend on constants alone: done once per run */
    int kept;    /* steps of the entry computation that depend on constants alone: done in the first
                    run only */
    int invariant; /* steps of loop bodies that depend on nothing the loop changes: done once per
                      loop */
    int rests;     /* loops that become scalar programs after their first iteration */
};

/* Told of every step of a run as it begins and ends, steps within steps included. (An observer,
 * eval.h, is told of instructions and their values.) */
struct watch {
    void *context;
    void (*begin)(void *context, const struct function *f, const struct step *s);
    void (*end)(void *context, const struct function *f, const struct step *s);
};

struct foresight; /* eval.h */
struct observer;
struct pool;

/* What the steps that are done once for all runs have left behind, besides their results. */
struct kept {
    bool there;     /* they are done */
    uint64_t steps; /* steps they took from the budget; every run pays for as many */
    size_t peak;    /* bytes that were alive at once while they ran */
};

struct scalar_step;
/* Where the current run is, for others to ask: other threads, signal handlers. */
struct run_mark {
    _Atomic(const struct step *) at; /* step of the entry computation; NULL: before the first */
    _Atomic int64_t iteration;       /* iteration of that step, if it is a loop; -1: not counted */
};

struct program {
    struct arena arena;
    struct module *module;
    struct plan_options options;
    const struct kernels *kern; /* fast or plain, as the options say */
    bool dynamic;               /* an array may be smaller at run time than its shape says */
    struct function *entry;
    int function_count, function_capacity;
    struct function **functions;
    int constant_count;
    struct view *constants; /* dense, over storage of the module or of `filled` */
    int filled_count;
    struct plan_stats stats;
    struct literal **filled; /* storage made for elided constants, freed with the program */
    struct budget budget;    /* of the run that is going on */
    void *run;               /* the current run, and how it runs a step within a scalar program */
    bool (*run_step)(void *run, const struct scalar_step *s);
    void (*report_infinite)(void *run, const struct termination *t); /* of a loop within one */
    struct arena scratch;    /* for its runs, empty between them: getting it anew would take longer
                                than a short run */
    struct reserve *reserve; /* large storage of its runs, kept from one to the next; NULL: none */
    struct kern_fft_plans transforms; /* that its runs have made, likewise */
    struct pool *pool; /* small storage, likewise; belongs to eval, which frees it; NULL before the
                          first run */
    void (*pool_free)(struct pool *pool);
    const struct watch *watch;       /* of its runs; NULL: nobody */
    const struct observer *observer; /* likewise, for programs planned to be observed */
    struct foresight
        *foresight;   /* what eval foresees of the memory of a run; NULL: nobody has asked */
    struct kept kept; /* from its first run, for later ones */
    struct run_mark mark;
    size_t peak; /* bytes of values that were alive at once in the last run */
};

/* NULL with diagnostics: an elided constant that may not be filled, ranks or nesting beyond the
 * limits, no memory. The module must outlive the program. */
struct program *plan_module(struct diags *ds, struct module *m, const struct plan_options *options);
void program_free(struct program *p);

/* ---- tile.c ---- */

int plan_bits(const struct inst *i,
              enum attr_id a); /* of reduce-precision: more than any type has is all it has */
/* The type in which a dot or convolution sums its products: the result's, or one to be converted to
 * it afterwards. */
enum dtype plan_sum_type(const struct inst *i);

/* ---- dims.c: lists of attributes, as kernels take them ---- */

void plan_dot_dims(const struct inst *i, struct kern_dot_dims *out);
void plan_gather_dims(const struct inst *i, struct kern_gather_dims *out); /* or of a scatter */

/* ---- describe.c ---- */

/* What a step does and by what means, in words: "reduce: add". */
void plan_describe(struct buf *out, const struct step *s);

/* ---- cost.c ---- */

struct cost {
    double operations, bytes; /* done; read and written */
};
struct cost plan_cost_of_inst(const struct inst *i);
struct cost plan_cost(const struct step *s); /* of one time; zeros where others are called */

/* ---- body.c: computations that are applied to elements ---- */

struct body {
    const struct scalar_code *code;  /* NULL: run `function` for each element */
    const struct scalar_code *lanes; /* the same on KERN_LANES elements at once, or NULL */
    struct function *function;
    enum kern_combine combine; /* of accumulator and value; KERN_CALL when it is nothing special */
    enum kern_order order;     /* of a comparator, likewise */
    int key;
    bool total_order;
    const struct kern_pick *pick;   /* of a reducer, or NULL */
    const struct scalar_code *keys; /* of a comparator: KERN_LANES keys of this type, or NULL */
    enum dtype key_type;
    int arg_count, result_count;
    const enum dtype
        *args; /* element types it takes; of reducers the first half are accumulators */
    const enum dtype *results; /* and gives */
};

/* ---- termination.c: loops that cannot end ---- */

/* What is known about the end of a while that does nothing but compute. Those leaves of its state
 * that decide whether it ends are all that its condition depends on. */
struct termination {
    const struct inst *loop;
    enum {
        ENDS_UNKNOWN,
        ENDS_NEVER,       /* once it is entered: the body passes on unchanged all that decides */
        ENDS_UNLESS_CYCLE /* it does not end if all that decides takes values that it had before */
    } known;
    int count; /* leaves that decide, apart from those that the body passes on */
    int *leaves;
};

/* ---- cycle.c: loops whose state repeats ---- */

/* A part of the state of a loop, where it is as an iteration ends. */
struct cycle_part {
    struct view view;
    char *const *cell; /* the address of its data is found here; NULL: in the view */
};
struct cycle_digest {
    uint64_t sum, product;
};
/* Looks for a repetition in one run of a loop. */
struct cycle {
    const struct termination *termination; /* NULL, in a scalar program: nothing to look for */
    int part_count;
    struct cycle_part *parts; /* all leaves that decide whether it ends */
    int first_inner;          /* number of the first loop within it, in a scalar program */
    enum { CYCLE_FORGOTTEN, CYCLE_NOTED, CYCLE_SUSPECTED } mode;
    int64_t passed; /* visits since the state was noted */
    int64_t left;   /* of a suspected cycle: visits until the state is probably the same again */
    struct cycle_digest noted;
};
/* Called before the loop is run anew, and after an iteration without a visit. */
void cycle_forget(struct cycle *c);
/* Called after an iteration, with the state as the next one will find it. True: it has been the
 * same before, so the loop cannot end. */
bool cycle_visit(struct cycle *c);

/* Decides which iterations of a loop are visited; zeros before the first. */
struct cycle_clock {
    int64_t iterations; /* so far */
    int64_t next;       /* the one after which visits begin again; 0: not set yet */
    int64_t visits;     /* still to come before that */
};
bool cycle_is_due(struct cycle_clock *k, struct cycle *c); /* called after each iteration */

/* Visits the loops of a scalar program. Their iterations are not counted; jumps only call
 * cycle_poll when a slice of the budget is used up. Visits begin at such a time; until they end,
 * every step of the budget is a slice of its own, so that no iteration is missed. */
struct cycle_monitor {
    int count;
    struct cycle **cycles; /* of all loops; inner ones before those around them */
    uint64_t slices;       /* used up since the program was called */
    uint64_t next;         /* the slice after which visits begin again */
    uint64_t visits;       /* still to come before that */
    uint64_t left;         /* of the budget, at the last visit */
};
void cycle_monitor_begin(struct cycle_monitor *m); /* called when the program is */
/* Called after the budget was refilled at a jump; `loop` is the loop that it closes, or NULL.
 * True: that loop cannot end. */
bool cycle_poll(struct cycle_monitor *m, struct budget *b, struct cycle *loop);

/* ---- scalar.c: computations whose values are scalars and small arrays, as a flat list with
 * addresses ----
 */

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
    SCALAR_STEP,    /* anything else that is computed from small arrays: run as a step of its own */
    SCALAR_JUMP,    /* to operation `count`; `cycle`: of the loop that it closes, or NULL */
    SCALAR_JUMP_UNLESS, /* the same when the pred args[0] is false */
    SCALAR_SWITCH, /* to targets[s32 at args[0]], the last when out of range; `count` of them */
    SCALAR_TRIP,   /* counts iterations, where they are limited: begins at `count`; -1: one more */
    SCALAR_INFINITE, /* reports a loop that cannot end */
    SCALAR_STOP
};
struct scalar_copy {
    struct view out, x;
};
struct scalar_precision {
    struct view out, x;
    int exponent, mantissa;
};
/* Arrays too large for registers are where the caller has them: at an address that is found at
 * `cell`. They are read and written a piece at a time. */
struct scalar_slice { /* a window of `whole` at clamped indices, and what it is copied to or from */
    struct view whole, piece;
    char *const *cell; /* where `whole` is; NULL: in a register */
    bool update;
    struct {
        const void *at;
        enum dtype type;
    } index[VIEW_MAX_RANK];
};
/* The same worked out: pieces of `size` bytes, each so far from where its array, or window, begins.
 */
struct scalar_pieces {
    int count;
    size_t size;
    int64_t *to, *from;
};
struct scalar_index {
    const void *at;
    enum dtype type;
    int64_t last, stride; /* the greatest start; bytes from one to the next */
};
struct scalar_window {
    bool update;
    char *const *cell;
    int rank; /* of the starts that may differ */
    struct scalar_index index[VIEW_MAX_RANK];
    const struct scalar_pieces *pieces;
};
struct scalar_reduce {
    int n;
    struct view *out, *x;
    const void **init;
    const enum dtype *acc;
    bool reduced[VIEW_MAX_RANK];
    struct kern_body body;
};
struct scalar_dot {
    struct view out, lhs, rhs;
    struct kern_dot_dims dims;
};
struct scalar_gather { /* `small`: what is gathered, or the updates */
    struct view whole, small, indices;
    char *const *cell;
    struct kern_gather_dims dims;
    struct kern_body body; /* of a scatter */
};
struct scalar_step {
    const struct step *step; /* its operands have the slots from 0 on, then come its results */
    struct view *args, *results;
};
struct scalar_op {
    uint8_t kind;
    uint16_t quick; /* number of what it does when that is done to one element (kern/quick.h) */
    int32_t count;
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
        uint64_t *trips;
        struct cycle *cycle;
        const struct termination *termination;
    };
    void *out;
    const void *args[KERN_MAX_ARGS];
};
struct scalar_slot {
    void *at;      /* NULL: a parameter that is not read, or a token */
    uint32_t size; /* bytes */
    bool large;    /* an array that stays where it is: `at` is its cell, a char * */
    bool written;  /* and is changed there, so it is to be nobody else's */
    int arg;       /* of a result: the argument that it was */
};
struct scalar_code {
    const struct program *program;
    const struct kernels *kern;
    int arg_count, result_count, op_count;
    struct scalar_slot *args, *results;
    struct scalar_op *ops;
    const struct quick_op *quick;  /* the same in the form in which it runs; NULL: as it stands */
    struct budget *budget;         /* the program's; loops pay for every iteration */
    struct cycle_monitor *monitor; /* NULL: no loop in it has to be looked at */
};
/* What is left of a loop after its first iteration, as a scalar program: its arguments are the
 * state and what that iteration has kept, its results the state, but for what is handed on as it
 * is. */
struct scalar_rest {
    const struct scalar_code *code;
    const struct computation *condition;   /* of the loop that it is the rest of */
    const struct termination *termination; /* of that loop, or NULL */
    int kept_count;
    int *kept; /* values, in the end slots of the body's frame */
};
/* A kern_call_fn; the context is a struct scalar_code. Arrays are dense. False: out of memory,
 * or a limit was hit. */
bool scalar_call(void *code, const void *const *args, void *const *results);

#endif
