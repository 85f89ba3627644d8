/*
 * Private to plan/.
 *
 * A module as a program
 *   plan.c          programs and constants
 *   function.c      a computation as steps, and the passes in their order
 *   slots.c         where values live: last uses, slots of the frame
 *   order.c         in which order instructions run
 *   names.c         instructions that only rename
 *   elided.c        constants written `{...}`
 *   dims.c          lists of attributes, as kernels take them
 *   tile.c          elementwise kernels, chosen
 *   body.c          computations applied to elements
 *   key.c           keys of comparators
 *   pick.c          argmax and its like
 *   observed.c      functions whose every instruction is a step
 *   termination.c   loops that cannot end
 *   cycle.c         loops whose state repeats
 * Passes
 *   inline.c        calls and maps as steps of their callers
 *   simple.c        instructions that are less than they seem
 *   same.c          steps that make the same
 *   dead.c          steps that nobody reads
 *   used.c          instructions that nothing depends on
 *   once.c          what constants alone decide
 *   split.c         reductions in two parts, one of them made once
 *   fuse.c, fuse_ops.c   elementwise steps made one
 * Scalar programs: scalar.h has their files.
 * What is told of a plan
 *   describe.c      steps in words
 *   cost.c          what instructions cost
 */
#ifndef HLO_PLAN_PRIV_H
#define HLO_PLAN_PRIV_H

#include "plan/plan.h"

enum {
    PLAN_MAX_DEPTH = 500, /* calls inside calls: each costs C stack */
    PLAN_MAX_LEAVES =
        1 << 20 /* leaves of one value: a few lines of tuples of tuples can make very many */
};

struct planner {
    struct diags *ds;
    struct program *p;
    const struct kern_tiles *tiles;
    struct arena scratch;
    struct function **by_computation; /* by index in the module */
    struct traffic_list **traffic;    /* by index: channels that it sends on or waits for */
    bool has[OP_COUNT];               /* opcodes that occur anywhere in the module */
    bool any_effect;                  /* an instruction of the module has a side effect */
    uint8_t *effects;                 /* enum known, by index: it has effects beside its value */
    bool **used;                      /* by index, by instruction: see used.c */
    uint8_t *computes;                /* enum known, by index: it has none */
    uint8_t *not_scalar;              /* true: it can't be made a scalar program */
    struct map constants;             /* small ones: type, shape and bytes -> number */
    struct map elided;                /* address of the literal -> struct elided */
    struct map terminations;          /* address of a while -> struct termination */
    int constant_capacity, filled_capacity;
    int depth;
    struct known_call *calls; /* by index */
    int *call_sites;          /* by index: instructions that call or fuse it */
    int *inline_sizes;        /* by index: steps it would add to its caller; 0: not known yet */
    int64_t inlined;          /* instructions that were planned once more because of inlining */
    int64_t kept_bytes;       /* of results that are kept */
    struct leaves
        *loose; /* by index in its computation, while scalar_of_inst() looks at one instruction */
    int loose_room;
};
struct known_call {
    bool known;
    const struct scalar_code *code; /* for all calls and fusions of it, or NULL */
};
enum known { KNOWN_NOTHING, KNOWN_NO, KNOWN_YES };

/* The values that make up an instruction's value, leaf by leaf: numbers as the caller counts them,
 * ~n for constant n, NO_VALUE for tokens. */
struct leaves {
    int count;
    int *at;
};

/* A message about an instruction, with the line of the user's program when that is known. Is false.
 */
#define PLAN_FAIL(pl, inst, id, ...)                                                               \
    plan_where((pl), (inst), DIAG((pl)->ds, (inst)->span, id, ##__VA_ARGS__))
bool plan_where(struct planner *pl, const struct inst *i, struct diag *d);

/* ---- plan.c ---- */

/* The leaves of a literal as constants. False with a message: elided, or too big. */
bool plan_constant(struct planner *pl, const struct inst *i, const struct literal *l,
                   struct leaves *out);
int plan_zero(struct planner *pl,
              const struct shape *s); /* a constant of zeros; NO_VALUE when there is no memory */
int plan_add_constant(struct planner *pl, const struct literal *l);
void plan_keep_filled(struct planner *pl,
                      struct literal *l); /* storage that is freed with the program */
/* The leaf shapes of a shape, in order; false past the limits (rank, number). */
bool plan_leaf_shapes(struct planner *pl, const struct inst *i, const struct shape *s, int *count,
                      const struct shape *const **out);

/* ---- names.c ---- */

/* Whether values of these shapes are interchangeable: layouts don't matter. */
static inline bool same_elements(const struct shape *a, const struct shape *b)
{
    return shape_equal(a, b, IGNORE_LAYOUT | IGNORE_DYNAMIC);
}
int64_t leaf_count(const struct shape *s); /* at most PLAN_MAX_LEAVES + 1 */
/* Whether the instruction is just another name for existing values (tuple, get-tuple-element, copy,
 * after-all, ...), and for which. */
bool plan_rename(struct planner *pl, const struct inst *i, const struct leaves *env,
                 struct leaves *out);
/* The user's code behind a custom call: code that comes before our own targets; with `left_over`,
 * code that comes after them. */
struct foreign_target plan_foreign(const struct program *p, const struct inst *i, bool left_over);
/* The leaves of component `index` of a value of shape `s`. */
struct leaves leaves_component(const struct shape *s, struct leaves l, int64_t index);
bool plan_has_effect(
    struct planner *pl,
    const struct inst *i); /* it, or what it calls, does more than compute a value */
/* Instructions that the root or an effect needs, in the order in which they run. */
struct inst **plan_live(struct planner *pl, const struct computation *c, int *count);

/* ---- order.c ---- */

/* All instructions in the order in which they run. */
struct inst **plan_order(struct planner *pl, const struct computation *c);

/* ---- function.c ---- */

/* A function while its steps are being made. Until slots are assigned, steps refer to values by
 * number. */
struct build {
    struct planner *pl;
    struct function *f;
    struct leaves *env; /* by instruction of the computation that is being planned or inlined */
    bool *left_out;  /* of an observed function, by instruction: dead code that has no steps; NULL:
                        there is none */
    struct map same; /* from what a step is to its results */
    int value_count;
    int *maker; /* by value: the step that makes it; -1: a parameter, or not known */
    size_t maker_capacity;
    int64_t total_leaves;
    size_t step_capacity;
    struct scalar_rest *rest; /* that the function gets */
};

/* The arena of what stays with the program. */
static inline struct arena *build_arena(struct build *b) { return &b->pl->p->arena; }

/* Passes change what is done, never a bit of the results. They are left out for --plain, where a
 * program runs as it is written; where sizes change at run time, which no pass takes care of; and
 * where a run is observed, since observers want to see what is written. */
static inline bool plan_optimises(const struct planner *pl)
{
    return !pl->p->options.plain && !pl->p->dynamic && !pl->p->options.observed;
}

bool plan_inst(struct build *b, const struct inst *i, struct leaves *out);
bool plan_steps(struct build *b,
                const struct computation *c); /* `c`'s parameters must have their leaves already */
struct function *plan_function(struct planner *pl, const struct inst *caller,
                               const struct computation *c);

bool plan_prepare(struct build *b,
                  struct step *s); /* what the step's family wants to know before it runs */
/* Adds a step that makes the leaves of `result` from `operands`; NULL past the limits. `starts` as
 * in struct step; `out`: the values it makes. */
struct step *plan_emit(struct build *b, const struct inst *i, struct leaves operands,
                       const int *starts, const struct shape *result, struct leaves *out);
/* The leaves of all operands of an instruction, one after the other, and where each begins. */
struct leaves plan_operands(struct build *b, const struct inst *i, int **starts);

/* ---- slots.c ---- */

/* Gives each value of the finished steps a slot, and the steps their last uses; `results` are what
 * the function returns. */
void plan_assign_slots(struct build *b, struct leaves results);

/* ---- observed.c ---- */

static inline bool plan_observes(const struct planner *pl) { return pl->p->options.observed; }
/* The instruction as one step, or as two, of which the second brings the result of the first into
 * the form that observers see. */
bool plan_observed_inst(struct build *b, const struct inst *i, struct leaves *out);

/* ---- inline.c ---- */

void inline_prepare(struct planner *pl); /* counts who calls whom */
/* Whether operands and result of the instruction are just the parameters and the result of the
 * computation. */
bool inline_fits(const struct inst *i, const struct computation *c);
/* Whether the instructions of a call or fusion become steps of the caller. */
bool inline_wanted(struct planner *pl, const struct inst *i, const struct computation *c);
/* Whether it, or what it calls, has a state that persists between runs. */
bool inline_has_state(struct planner *pl, const struct inst *i);
bool inline_call(struct build *b, const struct inst *i, const struct computation *c,
                 struct leaves *out);
/* Turns a map of elementwise operations into these operations on whole arrays; `done` is set when
 * it could. False with a message. */
bool inline_map(struct build *b, const struct inst *i, struct leaves *out, bool *done);

/* ---- used.c ---- */

/* Finds the instructions that the module's result, or an effect, depends on. */
void plan_find_used(struct planner *pl);
static inline bool plan_is_used(const struct planner *pl, const struct inst *i)
{
    return pl->used[i->parent->index][i->index];
}

/* ---- dead.c ---- */

void plan_drop_dead(struct planner *pl, struct function *f, int value_count, struct leaves results);

/* ---- same.c ---- */

/* The results of an equal step, if there is one. */
bool same_find(struct build *b, const struct inst *i, struct leaves operands, struct leaves *out);
void same_note(struct build *b, const struct inst *i, struct leaves operands, struct leaves made);
int same_constant(struct planner *pl,
                  const struct literal *l); /* the number of an equal one, or of a new one */

/* ---- simple.c ---- */

/* The instruction itself, or one that does in one step what it and the maker of its operand do;
 * `operands` are then changed to match. */
const struct inst *simple_inst(struct build *b, const struct inst *i, struct leaves *operands);
/* The instruction's value, if it exists already or can be computed now. */
bool simple_find(struct build *b, const struct inst *i, struct leaves operands, struct leaves *out);
void simple_note(struct build *b, struct leaves made); /* notes what the last step made */

/* ---- once.c ---- */

bool plan_is_pure(struct planner *pl,
                  const struct inst *i); /* the same operands always give the same result, and
                                            nothing else happens */
/* The same for a loop, branch or call, and all that it calls. */
bool plan_runs_pure(struct planner *pl, const struct inst *i);
/* How often each value is made, by number: enum once. */
const uint8_t *plan_when(struct planner *pl, struct function *f, int value_count,
                         struct leaves results);
/* Marks the steps of a function that need not be done every time, and puts them first; `results`
 * are what it returns. */
void plan_once(struct planner *pl, struct function *f, int value_count, struct leaves results);
/* The same for the entry computation, whose values stay with the program. */
bool plan_keeps(const struct planner *pl);
void plan_once_for_all(struct planner *pl, struct function *f, int value_count,
                       struct leaves results);

/* ---- split.c ---- */

bool plan_split(struct build *b, struct leaves results); /* false with a message */

/* ---- tile.c ---- */

/* The tile kernel of an elementwise, compare or convert instruction, the type its operands must
 * have and the type of its result. NULL: there is none. */
kern_tile_fn *plan_tile(const struct planner *pl, const struct inst *i, enum dtype *type,
                        enum dtype *result);
/* The same for operands of a given type (select's last two); NULL when there is no kernel for it.
 */
kern_tile_fn *plan_tile_of(const struct planner *pl, const struct inst *i, enum dtype type);

/* ---- fuse.c ---- */

/* Merges elementwise steps that only feed each other; `results` are what the function returns. */
void plan_fuse(struct planner *pl, struct function *f, int value_count, struct leaves results);

/* ---- key.c ---- */

/* Sets order, keys and key type of a comparator that compares one function of both sides. `lanes`:
 * its program on KERN_LANES elements. */
void plan_find_keys(struct planner *pl, const struct scalar_code *lanes, struct body *b);

/* ---- pick.c ---- */

/* What a reducer of values and indices does if it keeps the best value with its index; else NULL.
 */
const struct kern_pick *plan_find_pick(struct planner *pl, const struct body *b);

/* ---- body.c ---- */

/* Makes the bodies of a step whose instruction applies computations to elements; false with a
 * message. */
bool plan_bodies(struct planner *pl, struct step *s);
/* The combiner of each value of a reducer that treats its values independently of each other; false
 * when it doesn't. */
bool plan_find_combines(struct planner *pl, const struct body *b, enum kern_combine *combines);

/* ---- termination.c ---- */

/* What is known about the end of a while; NULL: nothing. */
const struct termination *plan_termination(struct planner *pl, const struct inst *loop);

/* ---- elided.c ---- */

struct elided {
    const struct literal *literal;
    uint64_t number;              /* among the elided constants of the module */
    uint64_t words;               /* 32-bit words of those before it */
    uint64_t bytes;               /* and their odd bytes */
    const struct literal *filled; /* stands for it; NULL: not made yet */
};
void elided_collect(struct planner *pl);
const struct literal *elided_fill(struct planner *pl, const struct inst *i,
                                  const struct literal *l);

/* ---- scalar_rest.c ---- */

/* The remaining steps of a body, those not done once, together with the loop around them, as a
 * scalar program; NULL when that is not possible. `caller` is the loop, `results` are what the body
 * returns. */
struct scalar_rest *scalar_rest_of_loop(struct planner *pl, const struct inst *caller,
                                        const struct function *f, int value_count,
                                        struct leaves results);

/* ---- scalar.c ---- */

/* Types of arguments and results where they differ from those that the computation declares: the
 * program converts. */
struct scalar_types {
    const enum dtype *args; /* for each leaf; NULL: as declared */
    const enum dtype *results;
    int64_t lanes; /* number of values of each kind, side by side; 0: one */
};
/* NULL when the computation can't be a scalar program. */
struct scalar_code *scalar_of_computation(struct planner *pl, const struct computation *c,
                                          const struct scalar_types *t);
/* A single call, fusion, while or conditional, with its operands as arguments. */
struct scalar_code *scalar_of_inst(struct planner *pl, const struct inst *i);

#endif
