/*
 * Private to eval/.
 *
 * eval.c        a run: arguments in, results out
 * function.c    functions, step by step, and the values in their frames
 * pool.c        storage, counted and used again
 * operand.c     what a step reads and where its results go
 * body.c        computations handed to kernels
 * sizes.c       dimensions smaller than their bounds
 * size_rules.c  what each family makes of them
 * rehearse.c, rehearse_kernels.c   a run without its kernels: what memory it takes
 * observe.c     a run whose every instruction is shown
 * unused.c      steps that nothing depends on
 *
 * and one file for each family of operations. To collective belong permute.c (between pairs),
 * sized.c (of arrays smaller than their bounds), group.c (who takes part) and fold.c (blocks,
 * folded); to control, for its custom calls, custom.c, lapack.c, fft_call.c and onnx_loop.c.
 */
#ifndef HLO_EVAL_PRIV_H
#define HLO_EVAL_PRIV_H

#include "base/guard.h"
#include "eval/eval.h"

/* ---- pool.c ---- */

struct buffer {
    int refs;
    unsigned class; /* size class, or one of those below */
    int number;     /* of a rehearsal; 0: none yet */
    int kept; /* number of values that hold it from this run to the next: set as the run ends, for
                 pool_settle */
    size_t size;
    size_t used; /* what its owner asked for; idle storage of its size class may be larger */
    char *data;
    struct buffer *next;
    struct buffer *older; /* list of all buffers, so that a run that fails loses none */
};

enum {
    POOL_CLASSES = 4 * 58,
    POOL_BORROWED = POOL_CLASSES, /* the storage is not ours */
    POOL_LARGE                    /* it is from the reserve, and is freed into it */
};
struct pool {
    struct arena headers;
    struct buffer *newest;             /* of all */
    struct buffer *spare;              /* headers without storage */
    struct buffer *free[POOL_CLASSES]; /* idle storage, by size class */
    size_t cached, live, peak; /* bytes in `free`; in use; the most that were ever in use at once */
    struct reserve *reserve;   /* for large storage; NULL: there is none */
    size_t limit;              /* on all that is in use or idle; 0: none */
    bool over;                 /* an allocation failed because of the limit */
    struct pretence *pretence; /* of a rehearsal, where storage is only addresses; else NULL */
    struct value **frames;     /* by function, made when it first runs; between runs only run_kept
                                  values are in them */
};

/* The dims of the view are always the sizes as they are at the moment, never mere bounds. */
struct value {
    struct buffer *buffer; /* NULL: nothing here */
    const int64_t *bounds; /* of an array with a dimension smaller than its shape says: those of the
                            * shape; NULL when all are as large as they can be */
    bool roomy;  /* with bounds: the storage extends to them, in the strides of the view */
    bool absent; /* zeros in place of what was not computed: nothing depends on them */
    struct view view;
};

/* Addresses without memory of their own: pages that read as zeros, handed out again and again. */
struct pretence {
    char *pages;
    size_t size, at;
};
void *pool_pretend(struct pretence *p, size_t size); /* NULL when `size` exceeds all of it */

void pool_init(struct pool *p);
void pool_free(struct pool *p);
/* Called after a run: except for what the program keeps, whatever is still held becomes idle, and
 * only a little of the idle storage is kept. */
void pool_settle(struct pool *p);
struct buffer *pool_take(struct pool *p, size_t size); /* one reference; NULL without memory */
struct buffer *pool_borrow(struct pool *p, void *data, size_t size);
void pool_drop(struct pool *p, struct buffer *b);
/* Hands the storage over to the caller, who frees it with mem_free; NULL when others use it. */
void *pool_steal(struct pool *p, struct buffer *b);

void view_copy(struct view *to,
               const struct view *from); /* copies only the entries up to its rank */

/* ---- eval.c ---- */

struct eval {
    struct diags *ds;
    struct program *p;
    const struct kernels *kern; /* the program's */
    struct team *team;          /* the same; may be NULL */
    struct pool pool;
    const struct exchange *exchange; /* the other participants and the host; NULL: nobody */
    struct arena scratch;            /* arrays of values, by mark and release */
    struct arena_mark start;         /* where it is empty */
    struct value *constants;
    uint8_t *done; /* by function: enum once; steps of that kind, and those done less often, have
                      been done */
    struct value *frame; /* of the function that runs */
    const struct sizes
        *sizes; /* of the step that runs; NULL when its operands are as large as their bounds */
    struct posted *posted;       /* recvs still without their recv-done, oldest first */
    struct arena posts;          /* where those lie */
    struct rehearsal *rehearsal; /* NULL: a true run */
    bool watched;                /* somebody wants to be told of each step */
    struct undo abandoning;      /* from beginning to end */
    struct sights *sights;       /* and of each instruction and its value; NULL: nobody */
    const struct step *rest;     /* the loop whose struct scalar_rest runs; NULL: none does */
};

/* In a rehearsal there are no elements in storage, so code that reads or writes them other than by
 * a kernel of the table must skip that. */
static inline bool eval_rehearsed(const struct eval *ev) { return ev->rehearsal != NULL; }

typedef bool eval_family_fn(struct eval *ev, const struct step *s);
#define X(name, flags) eval_family_fn eval_##name;
FAMILIES(X)
#undef X

void eval_begin(struct eval *ev);
void eval_end(struct eval *ev);
/* Runs the entry computation on its arguments and makes a literal of its results. `values` has room
 * for either. */
struct literal *eval_entry(struct eval *ev, struct value *values, struct arena *a);
/* Makes a value fit for leaving the program, and returns its shape: dimensions that may change have
 * their size of the moment, the others what the shape says. NULL without memory. */
const struct shape *eval_fit_outside(struct eval *ev, struct value *v, const struct shape *s,
                                     struct arena *a);

/* A message about a step. Is false. */
#define EVAL_FAIL(ev, s, id, ...)                                                                  \
    eval_where((s), DIAG((ev)->ds, (s)->inst->span, id, ##__VA_ARGS__), (ev))
bool eval_where(const struct step *s, struct diag *d, struct eval *ev);
bool eval_unsupported(struct eval *ev, const struct step *s); /* names opcode and element type */
/* Reports which limit was hit, if one was, else that there is no memory. */
bool eval_no_memory(struct eval *ev, const struct step *s, const struct shape *shape);
bool eval_limit(struct eval *ev, const struct step *s); /* after budget_step has refused */
/* Pays for an iteration of a loop (they count from 0); false once a limit is reached. */
static inline bool eval_trip(struct eval *ev, int64_t number)
{
    uint64_t most = ev->p->options.limits.trip;
    if (most && !eval_rehearsed(ev) && (uint64_t)number >= most)
        ev->p->budget.hit = LIMIT_TRIP;
    return ev->p->budget.hit == LIMIT_NONE && budget_step(&ev->p->budget);
}
/* Called after a kernel failed: a body that it called has reported the reason already; otherwise
 * there was no memory. */
bool eval_kernel_failed(struct eval *ev, const struct step *s, unsigned errors_before);

/* ---- function.c: functions and values ---- */

/* Runs a function. Arguments are moved out of `args`; results are moved into `results`, which may
 * be the same array. */
bool eval_function(struct eval *ev, const struct function *f, struct value *args,
                   struct value *results);
/* One step, as its family does it. */
bool eval_step(struct eval *ev, const struct step *s);
/* The same within a run of its function: paid for and watched. */
bool eval_next_step(struct eval *ev, const struct function *f, const struct step *s);
/* The body of a loop, run many times between entering and leaving. Meanwhile the parts of the state
 * that it passes on unchanged stay in its frame; `at` says where each part is. */
void eval_enter_loop(struct eval *ev, const struct function *body, struct value *state,
                     struct value **at);
bool eval_iterate(struct eval *ev, const struct function *body, struct value *state);
void eval_leave_loop(struct eval *ev, const struct function *body, struct value *state);

void value_drop(struct eval *ev, struct value *v);
void value_move(struct value *to, struct value *from);
void value_share(struct value *to, const struct value *from);
/* A dense value; false (without a message) when there is no memory. */
bool value_new(struct eval *ev, struct value *v, enum dtype t, int rank, const int64_t *dims);
/* Makes the value dense; if it is to be changed, in storage that nobody else holds. False (without
 * a message) when there is no memory. */
bool value_make_dense(struct eval *ev, struct value *v, bool change);

/* ---- unused.c ---- */

/* Runs a step that nothing depends on. If it fails, its results are absent and the run goes on,
 * except at a limit of the run, without memory, or when another participant has ended it. They are
 * absent, too, where an operand is, and instead of a call of the user's code. */
bool eval_unused(struct eval *ev, const struct step *s, eval_family_fn *run);

/* ---- control.c ---- */

/* A call of f within a step: operand leaves from `first` on are the arguments. */
bool eval_call(struct eval *ev, const struct step *s, const struct function *f, int first);
bool eval_small_step(void *run, const struct scalar_step *t); /* a step within a scalar program */
/* Reports that a loop within a scalar program has no end. */
void eval_report_infinite(void *run, const struct termination *t);

/* ---- rehearse.c ---- */

/* Whether somebody wants to know which way the step's fast kernel goes; if so, it is passed to
 * rehearse_choice. */
static inline bool eval_choices_wanted(const struct eval *ev)
{
    return eval_rehearsed(ev) && !ev->p->options.plain;
}
void rehearse_choice(struct eval *ev, const char *choice,
                     size_t room); /* `room`: bytes of scratch memory it takes; 0: little */
bool rehearse_step(struct eval *ev, const struct function *f, const struct step *s);
/* Rehearses every branch of a conditional; the results are those of the branch that leaves most
 * memory behind. */
bool rehearse_branches(struct eval *ev, const struct step *s);
/* Calls the function that is applied to elements, if there is one, once. */
bool rehearse_body(const struct kern_body *b);
bool rehearse_order(const struct kern_comparator *c);
/* Whether the next iteration of a loop, which begins with this state, may differ from those before.
 */
struct rehearsed_loop {
    int iterations;
    uint64_t before; /* how the state was laid out */
};
bool rehearse_again(const struct eval *ev, struct rehearsed_loop *l, const struct value *state,
                    int count);

/* ---- observe.c ---- */

struct sights {
    const struct observer *observer;
    struct arena arena;   /* what is shown, by mark and release */
    struct arena nesting; /* where `within` lies */
    struct within *within;
    size_t depth, capacity;
    uint64_t shown;
    int64_t spent; /* nanoseconds of the observer */
    bool replaced; /* the observer has replaced a value in this run */
};
void eval_observe_begin(struct eval *ev, struct sights *s);
void eval_observe_end(struct eval *ev);
bool eval_observed(struct eval *ev, const struct function *f); /* all its steps, shown one by one */
/* Notes that the run has come to a step of F. */
static inline void eval_at_step(struct eval *ev, const struct function *f, const struct step *s)
{
    if (f != ev->p->entry)
        return;
    atomic_store_explicit(&ev->p->mark.iteration, -1, memory_order_relaxed);
    atomic_store_explicit(&ev->p->mark.at, s, memory_order_relaxed);
}
/* Notes that the running loop S is in this iteration; -1: between two. */
static inline void eval_in_iteration(struct eval *ev, const struct step *s, int64_t iteration)
{
    if (iteration >= 0 && atomic_load_explicit(&ev->p->mark.at, memory_order_relaxed) == s)
        atomic_store_explicit(&ev->p->mark.iteration, iteration, memory_order_relaxed);
    if (ev->sights)
        ev->sights->within[ev->sights->depth - 1].iteration = iteration;
}
/* Notes that iterations of the loop S are not counted from here on. */
static inline void eval_not_counted(struct eval *ev, const struct step *s)
{
    if (atomic_load_explicit(&ev->p->mark.at, memory_order_relaxed) == s)
        atomic_store_explicit(&ev->p->mark.iteration, -1, memory_order_relaxed);
}
bool eval_names(struct eval *ev, const struct step *s); /* a step that only renames */

/* ---- sizes.c ---- */

/* A step that reads an array smaller than its bounds: what it may see of its operands, the
 * dimensions with which its results are made, and those with which they are shown when it is done.
 * Filled in by the rule of its family, so that the family's own code need not know about bounds. */
struct sizes {
    struct value *operands;
    struct result_sizes {
        int64_t made[VIEW_MAX_RANK], shown[VIEW_MAX_RANK];
    } * results;
};

/* Runs a step of a program in which sizes may change. */
bool eval_sized(struct eval *ev, const struct step *s, eval_family_fn *run);
/* The dimensions with which result r is to be made. */
static inline const int64_t *eval_dims(const struct eval *ev, const struct step *s, int r)
{
    return ev->sizes ? ev->sizes->results[r].made : s->shapes[r]->dims;
}
/* Records how the sizes of a value relate to the bounds of its shape; `roomy` as in struct value.
 */
void value_fit(struct value *v, const struct shape *s, bool roomy);
/* Makes a value as large as its bounds, with what its storage holds there, or with zeros, in a
 * copy. False: out of memory. */
bool value_whole(struct eval *ev, struct value *v);

/* ---- size_rules.c ---- */

typedef bool size_rule(struct eval *ev, const struct step *s,
                       struct sizes *z); /* false with a message */
/* NULL where the step takes care of sizes itself. */
size_rule *find_size_rule(const struct step *s);

/* ---- elementwise.c ---- */

bool eval_fused(struct eval *ev, const struct step *s);

/* ---- custom.c ---- */

bool eval_custom(struct eval *ev, const struct step *s);
bool eval_custom_rehearses(
    const struct step *s); /* its target looks at values only by kernels of the table */

/* ---- onnx_loop.c ---- */

bool eval_onnx_loop(struct eval *ev, const struct step *s);

/* ---- lapack.c, fft.c: custom calls that JAX makes ---- */

bool eval_lapack(struct eval *ev, const struct step *s);
bool eval_fft_call(struct eval *ev, const struct step *s);

/* ---- dynamic.c: custom calls ---- */

bool eval_pad_to_static(struct eval *ev, const struct step *s);
bool eval_slice_to_dynamic(struct eval *ev, const struct step *s);

/* ---- operand.c ---- */

/* Leaf k of the operands. */
struct value *eval_operand(struct eval *ev, const struct step *s, int k);
static inline const struct view *eval_view(struct eval *ev, const struct step *s, int k)
{
    return &eval_operand(ev, s, k)->view;
}
/* Passes the operand's value on: moved when nobody reads it afterwards, else shared. */
void eval_hand_over(struct eval *ev, const struct step *s, int k, struct value *to);
/* The operand, converted to element type t if it has another one (`made` then holds the copy and
 * must be dropped). NULL with a message. */
const struct view *eval_as_type(struct eval *ev, const struct step *s, int k, enum dtype t,
                                struct value *made);
/* The same, row-major and without gaps. */
const struct view *eval_dense(struct eval *ev, const struct step *s, int k, enum dtype t,
                              struct value *made);
/* The same as a copy that may be written to. */
const struct view *eval_own(struct eval *ev, const struct step *s, int k, struct value *made);

/* Result r as new dense storage of its dimensions, not cleared; NULL with a message. */
struct view *eval_result(struct eval *ev, const struct step *s, int r);
/* Result r in the storage of operand k, if nobody else holds that and it has the right form; else
 * NULL. */
struct view *eval_reuse(struct eval *ev, const struct step *s, int r, int k, bool alone);
/* Result r in the storage of operand k, or a copy of it; NULL with a message. */
struct view *eval_update(struct eval *ev, const struct step *s, int r, int k);
/* Result r is a view over the bytes of operand k. */
bool eval_alias(struct eval *ev, const struct step *s, int r, int k, const struct view *v);
/* Result r as a copy of x, converted when the type differs. */
bool eval_copy(struct eval *ev, const struct step *s, int r, const struct view *x);
bool eval_convert_to(struct eval *ev, const struct step *s, const struct view *out,
                     const struct view *x);

/* ---- body.c ---- */

/* A body in the form that kernels want; valid for one step. */
struct bound_body {
    struct eval *ev;
    const struct body *body;
    struct value *values; /* arguments of the function, then its results */
};
struct kern_body eval_bind(struct eval *ev, const struct body *b, struct bound_body *context);
struct kern_comparator eval_bind_order(struct eval *ev, const struct body *b,
                                       struct bound_body *context);
kern_call_fn eval_call_body;

/* ---- group.c ---- */

struct peers {
    int64_t count,
        me; /* number of members; which of them this participant is; -1: it is in no group */
    int64_t *members; /* participants, in order; in the scratch arena */
};
struct partners { /* of this participant, in the order of the pairs; in the scratch arena */
    int64_t target_count, source_count, *targets, *sources;
};

int64_t eval_self(const struct eval *ev); /* the number of this participant */
/* False with a message when an id names nobody. */
bool eval_peers(struct eval *ev, const struct step *s, struct peers *out);
bool eval_partners(struct eval *ev, const struct step *s, struct ints_list pairs, int mode,
                   struct partners *out);
struct tag eval_tag(const struct inst *i,
                    bool channel); /* of its channel, if it has one, else of the instruction */

/* fold.c: folds elements of blocks, in the order of the group */
struct fold {
    const struct body *body;
    struct kern_body call;
    kern_tile_fn *fn; /* of a body that is one kernel */
    enum dtype type, acc;
    kern_tile_fn *widen, *narrow; /* between the two types; NULL where they are the same */
};
bool eval_prepare_fold(struct eval *ev, const struct step *s, enum dtype type,
                       struct bound_body *context, struct fold *f);
bool eval_fold(const struct fold *f, const char *const *blocks, int64_t count, char *out,
               int64_t n);

/* sized.c: collectives in a program whose arrays may be smaller than their bounds */
bool eval_sized_collective(struct eval *ev, const struct step *s, const struct peers *g);
bool eval_sized_broadcast(struct eval *ev, const struct step *s, const struct peers *g);
/* Result r as new dense storage of these dimensions, which must be within its bounds; NULL with a
 * message. */
struct view *eval_sized_result(struct eval *ev, const struct step *s, int r, const int64_t *dims);
/* Dimensions, as a message sent before an array; NULL: to be received. */
struct extent_message {
    int64_t at[VIEW_MAX_RANK];
    struct view view;
};
const struct view *extent_message(struct extent_message *m, int rank, const int64_t *dims);
bool eval_sized_zeros(struct eval *ev, const struct step *s, int r, const int64_t *dims);

/* collective.c, permute.c */
static inline size_t size_of(const struct view *v)
{
    return (size_t)view_elements(v) * dtype_bytes(v->dtype);
}
struct meeting eval_new_meeting(struct eval *ev, const struct step *s, const struct peers *g,
                                struct block *out);
struct block *eval_same_for_all(struct eval *ev, const struct peers *g, struct block b);
struct block *eval_parts_for_all(struct eval *ev, const struct peers *g, const char *at,
                                 size_t size);
/* The operand as dense storage in which its n parts along d follow one another: as it lies, or as a
 * copy, which `made` then holds. */
const char *eval_in_parts(struct eval *ev, const struct step *s, int k, int64_t d, int64_t n,
                          struct value *made);
bool eval_wrong_group(struct eval *ev, const struct step *s,
                      const struct peers *g);                  /* false with a message */
bool eval_clear(struct eval *ev, const struct step *s, int r); /* result r is all zeros */
bool eval_has_shape(const struct view *v, const struct shape *s);
typedef bool operand_fn(struct eval *ev, const struct step *s, const struct peers *g,
                        int r); /* operand and result r */
typedef bool leaf_fn(struct eval *ev, const struct step *s, const struct peers *g, int leaf,
                     int leaves);
/* Calls `fn` for each leaf of the operands, of which there is one for each member, all of the same
 * shape. */
bool eval_all_to_all_tuple(struct eval *ev, const struct step *s, const struct peers *g,
                           leaf_fn *fn);
bool eval_permute(struct eval *ev, const struct step *s);
bool eval_ragged(struct eval *ev, const struct step *s, const struct peers *g);
bool eval_meet(struct eval *ev, const struct step *s, struct meeting *m, const size_t *sizes);
void eval_part(struct eval *ev, struct meeting *m);
bool eval_not_alone(
    struct eval *ev,
    const struct step *s); /* the instruction needs other participants, and this run has none */

/* reduce.c: operands and results as rows, in the scratch arena; NULL with a message */
const void *const *eval_inits(struct eval *ev, const struct step *s, int first, int n,
                              const enum dtype *types);
struct view *eval_views(struct eval *ev, const struct step *s, int first, int n);
struct view *eval_results(struct eval *ev, const struct step *s);

/* dot.c: where a sum of products goes: into the result, or into `made` if it is to be converted;
 * NULL with a message. The second function takes what the kernel returned: it converts and drops
 * `made`, or reports that there was no memory. */
struct view *eval_sum_begin(struct eval *ev, const struct step *s, struct value *made);
bool eval_sum_end(struct eval *ev, const struct step *s, struct value *made, bool ok);

/* shape.c: result r is a part of operand k: a view, or a copy */
bool eval_piece(struct eval *ev, const struct step *s, int r, int k, const struct view *piece);
bool eval_reshape(struct eval *ev, const struct step *s); /* also of a bitcast that only reshapes */

/* convert.c: whether the elements keep their type and their row-major order */
bool bitcast_is_reshape(const struct inst *i);

/* gather.c: the dimensions of its array that windows keep */
int eval_gather_kept(const struct kern_gather_dims *d, int rank, int64_t *kept);

/* conv.c */
void eval_conv_dims(const struct inst *i, struct kern_conv_dims *d);

/* sort.c: also custom calls */
bool eval_partial_reduce(struct eval *ev, const struct step *s);
bool eval_topk(struct eval *ev, const struct step *s, bool largest);

/* window.c: the window attribute; without one, every dimension has size 1 */
void eval_window_dims(const struct inst *i, int rank, struct kern_window_dim *out);

#endif
