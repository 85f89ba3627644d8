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
 * Passes
 *   inline.c        calls and maps as steps of their callers
 *   simple.c        instructions that are less than they seem
 *   same.c          steps that make the same
 *   dead.c          steps that nobody reads
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
    PLAN_MAX_DEPTH = 500,     /* calls inside calls: each costs C stack */
    PLAN_MAX_LEAVES = 1 << 20 /* of one value: tuples of tuples grow without bound in a few lines */
};

struct planner {
    struct diags *ds;
    struct program *p;
    const struct kern_tiles *tiles;
    struct arena scratch;
    struct function **by_computation; /* by index in the module */
    struct traffic_list **traffic;    /* by index: channels that it sends to or waits for */
    bool has[OP_COUNT];               /* opcodes that stand anywhere in the module */
    uint8_t *effects;                 /* enum known, by index: it does more than compute */
    uint8_t *computes;                /* enum known, by index: all that it does is to compute */
    uint8_t *not_scalar;              /* true: no scalar program can be made of it */
    struct map constants;             /* small ones, from type, shape and bytes to their number */
    struct map elided;                /* from the literal's address to a struct elided */
    int constant_capacity, filled_capacity;
    int depth;
    struct known_call *calls; /* by index */
    int *call_sites;     /* by index: instructions that call or fuse it */
    int *inline_sizes;   /* by index: steps that it would be in its caller, 0: not known yet */
    int64_t inlined;     /* instructions that were planned once more in this way */
    int64_t kept_bytes; /* of results that are kept */
    struct leaves *loose; /* by index in its computation, of whoever is asked about one instruction: scalar_of_inst() */
    int loose_room;
};
struct known_call {
    bool known;
    const struct scalar_code *code; /* of all calls and fusions of it, or NULL */
};
enum known { KNOWN_NOTHING, KNOWN_NO, KNOWN_YES };

/* The values that an instruction stands for: numbers as the caller counts them, ~n for constant n,
 * NO_VALUE for tokens. */
struct leaves {
    int count;
    int *at;
};

/* A message about an instruction, with the line of the user's program when that is known; false. */
#define PLAN_FAIL(pl, inst, id, ...) plan_where((pl), (inst), DIAG((pl)->ds, (inst)->span, id, ##__VA_ARGS__))
bool plan_where(struct planner *pl, const struct inst *i, struct diag *d);

/* ---- plan.c ---- */

/* The leaves of a literal as constants. False: elided, too big. */
bool plan_constant(struct planner *pl, const struct inst *i, const struct literal *l, struct leaves *out);
int plan_zero(struct planner *pl, const struct shape *s); /* a constant of zeros; NO_VALUE without memory */
int plan_add_constant(struct planner *pl, const struct literal *l);
void plan_keep_filled(struct planner *pl, struct literal *l); /* storage that goes with the program */
/* The leaf shapes of a shape, in order; false past the limits (rank, number). */
bool plan_leaf_shapes(struct planner *pl, const struct inst *i, const struct shape *s, int *count,
                      const struct shape *const **out);

/* ---- names.c ---- */

/* Values of these shapes are of one kind: layouts are none of their business. */
static inline bool same_elements(const struct shape *a, const struct shape *b)
{
    return shape_equal(a, b, IGNORE_LAYOUT | IGNORE_DYNAMIC);
}
int64_t leaf_count(const struct shape *s); /* at most PLAN_MAX_LEAVES + 1 */
/* Whether the instruction is another name for values that are there already, and for which: tuple,
 * get-tuple-element, copy, after-all, ... */
bool plan_rename(struct planner *pl, const struct inst *i, const struct leaves *env, struct leaves *out);
/* The code behind a custom-call that is none of ours and comes before ours; or, left over, after it. */
struct foreign_target plan_foreign(const struct program *p, const struct inst *i, bool left_over);
/* The leaves of component `index` of a value of shape `s`. */
struct leaves leaves_component(const struct shape *s, struct leaves l, int64_t index);
bool inst_has_effect(struct planner *pl, const struct inst *i); /* it, or what it calls, does more than compute */
/* Instructions that the root or an effect needs, in the order in which they run. */
struct inst **plan_live(struct planner *pl, const struct computation *c, int *count);

/* ---- order.c ---- */

/* All instructions in the order in which they run. */
struct inst **plan_order(struct planner *pl, const struct computation *c);

/* ---- function.c ---- */

/* A function while its steps are made. Steps name values by numbers of their own until slots are given out. */
struct build {
    struct planner *pl;
    struct function *f;
    struct leaves *env; /* by instruction of the computation that is being taken apart */
    struct map same;    /* from what a step is to its results */
    int value_count;
    int *maker;         /* by value: the step; -1: a parameter, or it is not known */
    size_t maker_capacity;
    int64_t total_leaves;
    size_t step_capacity;
    struct scalar_rest *rest; /* that the function gets */
};

/* For what stays with the program. */
static inline struct arena *build_arena(struct build *b)
{
    return &b->pl->p->arena;
}

/* The passes below change what is done, never a bit of what comes of it. Plain programs are run as they
 * are written, and arrays that change their sizes ask for care that no pass takes; who observes a run sees what is
 * written, too. */
static inline bool plan_optimises(const struct planner *pl)
{
    return !pl->p->options.plain && !pl->p->dynamic && !pl->p->options.observed;
}

bool plan_inst(struct build *b, const struct inst *i, struct leaves *out);
bool plan_steps(struct build *b, const struct computation *c); /* its parameters have their leaves already */
struct function *plan_function(struct planner *pl, const struct inst *caller, const struct computation *c);

bool plan_prepare(struct build *b, struct step *s); /* what the step's family wants to know before it runs */
/* A step that makes the leaves of `result` from `operands`; NULL past the limits. `starts` as in struct step; `out`:
 * what it makes. */
struct step *plan_emit(struct build *b, const struct inst *i, struct leaves operands, const int *starts,
                       const struct shape *result, struct leaves *out);
/* The leaves of all operands of an instruction, one after the other, and where each begins. */
struct leaves plan_operands(struct build *b, const struct inst *i, int **starts);

/* ---- slots.c ---- */

/* Gives each value of the finished steps a slot, and the steps their last uses; `results` are what the function returns. */
void plan_assign_slots(struct build *b, struct leaves results);

/* ---- observed.c ---- */

static inline bool plan_observes(const struct planner *pl) { return pl->p->options.observed; }
/* The instruction as one step, or two of which the second gives what the first has made in the form it should have. */
bool plan_shown(struct build *b, const struct inst *i, struct leaves *out);

/* ---- inline.c ---- */

void inline_prepare(struct planner *pl); /* counts who calls whom */
/* Parameters and result of the computation are what the instruction gives and gets. */
bool inline_fits(const struct inst *i, const struct computation *c);
/* Whether the instructions of a call or fusion become steps of the caller. */
bool inline_wanted(struct planner *pl, const struct inst *i, const struct computation *c);
/* Whether it, or what it calls, has a state that goes on from one time to the next. */
bool inline_has_state(struct planner *pl, const struct inst *i);
bool inline_call(struct build *b, const struct inst *i, const struct computation *c, struct leaves *out);
/* A map of elementwise operations as these on whole arrays; `done` is set when it is one. False: a message. */
bool inline_map(struct build *b, const struct inst *i, struct leaves *out, bool *done);

/* ---- dead.c ---- */

void plan_drop_dead(struct planner *pl, struct function *f, int value_count, struct leaves results);

/* ---- same.c ---- */

/* The results of an equal step, if there is one. */
bool same_find(struct build *b, const struct inst *i, struct leaves operands, struct leaves *out);
void same_note(struct build *b, const struct inst *i, struct leaves operands, struct leaves made);
int same_constant(struct planner *pl, const struct literal *l); /* the number of an equal one, or of a new one */

/* ---- simple.c ---- */

/* The instruction, or one that does at once what it and the maker of its operand do; `operands` are its own then. */
const struct inst *simple_inst(struct build *b, const struct inst *i, struct leaves *operands);
/* The value that the instruction gives, where that is there already or can be computed now. */
bool simple_find(struct build *b, const struct inst *i, struct leaves operands, struct leaves *out);
void simple_note(struct build *b, struct leaves made); /* by the last step */

/* ---- once.c ---- */

bool plan_is_pure(struct planner *pl, const struct inst *i); /* the same operands give the same results, and nothing else happens */
/* When values are there, by number: an enum once. */
const uint8_t *plan_when(struct planner *pl, struct function *f, int value_count, struct leaves results);
/* Marks the steps of a function that need not be done each time, and puts them first; `results` are what it
 * returns. */
void plan_once(struct planner *pl, struct function *f, int value_count, struct leaves results);
/* The same for the entry computation, whose results stay with the program. */
bool plan_keeps(const struct planner *pl);
void plan_once_for_all(struct planner *pl, struct function *f, int value_count, struct leaves results);

/* ---- split.c ---- */

bool plan_split(struct build *b, struct leaves results); /* false with a message */

/* ---- tile.c ---- */

/* The tile kernel of an elementwise, compare or convert instruction, what its operands must be and
 * what comes out. NULL: there is none. */
kern_tile_fn *plan_tile(const struct planner *pl, const struct inst *i, enum dtype *type, enum dtype *result);
/* The same for operands of a given type (select's last two); NULL when it can't have them. */
kern_tile_fn *plan_tile_of(const struct planner *pl, const struct inst *i, enum dtype type);

/* ---- fuse.c ---- */

/* Makes one step of elementwise ones that only feed each other; `results` are what the function returns. */
void plan_fuse(struct planner *pl, struct function *f, int value_count, struct leaves results);

/* ---- key.c ---- */

/* Sets order, keys and key type of a comparator when it compares one function of both sides. `lanes`:
 * its program on KERN_LANES elements. */
void plan_find_keys(struct planner *pl, const struct scalar_code *lanes, struct body *b);

/* ---- pick.c ---- */

/* What a reducer of values and indices does, when it keeps the best value with its index; else NULL. */
const struct kern_pick *plan_find_pick(struct planner *pl, const struct body *b);

/* ---- body.c ---- */

/* Bodies of a step whose instruction applies computations to elements; false with a message. */
bool plan_bodies(struct planner *pl, struct step *s);
/* What a reducer does with each of its values, where they have nothing to do with each other; false: it is not such. */
bool plan_find_combines(struct planner *pl, const struct body *b, enum kern_combine *combines);

/* ---- elided.c ---- */

struct elided {
    const struct literal *literal;
    uint64_t number; /* among the elided constants of the module */
    uint64_t words;  /* 32-bit words of those before it */
    uint64_t bytes;  /* and their odd bytes */
    const struct literal *filled; /* what stands for it; NULL: not made yet */
};
void elided_collect(struct planner *pl);
const struct literal *elided_fill(struct planner *pl, const struct inst *i, const struct literal *l);

/* ---- scalar_rest.c ---- */

/* What is left of a body after the steps that are done once, as a scalar program with the loop around it; NULL
 * when it can't be one. `caller` is the loop, `results` are what the body returns. */
struct scalar_rest *scalar_rest_of_loop(struct planner *pl, const struct inst *caller, const struct function *f,
                                        int value_count, struct leaves results);

/* ---- scalar.c ---- */

/* A computation whose parameters are given in, and whose results are wanted in, other element types
 * than it declares is held between conversions. */
struct scalar_types {
    const enum dtype *args; /* for each leaf; NULL: as declared */
    const enum dtype *results;
    int64_t lanes; /* so many values of each kind side by side; 0: one */
};
/* NULL when it can't be one. */
struct scalar_code *scalar_of_computation(struct planner *pl, const struct computation *c,
                                          const struct scalar_types *t);
/* A single call, fusion, while, conditional whose operands are its arguments. */
struct scalar_code *scalar_of_inst(struct planner *pl, const struct inst *i);

#endif
