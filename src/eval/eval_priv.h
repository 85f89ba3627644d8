/*
 * Private to eval/.
 *
 *   eval.c        a run: arguments in, results out
 *   function.c    functions, step by step, and the values in their frames; dead steps
 *   pool.c        storage pool
 *   operand.c     operands and result storage of steps
 *   body.c        computations as callbacks of kernels
 *   sizes.c       dimensions smaller than their bounds
 *   size_rules.c  result sizes of each operation family
 *   dry_run.c     dry run: memory estimate
 *   trace.c       runs with a callback for every instruction
 *
 * and one file for each family of operations. To collective belong permute.c (between pairs),
 * group.c (replica groups), member_dims.c (dimensions of the members' arrays), message.c (messages
 * between two participants) and reduce_blocks.c (reduction of blocks); to control, for its custom
 * calls, custom.c, lapack.c, fft_call.c and onnx_loop.c.
 */
#ifndef HLO_EVAL_PRIV_H
#define HLO_EVAL_PRIV_H

#include "base/oom.h"
#include "eval/eval.h"

/* ---- pool.c ---- */

struct buffer {
    int refs;
    unsigned class; /* size class, or POOL_BORROWED or POOL_LARGE */
    int number;     /* in a dry run: its number; 0: not numbered */
    /* number of values that keep it between runs: set at the end of a run, for pool_settle */
    int kept;
    size_t size;
    size_t used; /* requested bytes; `size` may be larger */
    char *data;
    struct buffer *next;
    /* list of all buffers, so that a failing run can free them */
    struct buffer *older;
};

enum {
    POOL_CLASSES = 4 * 58,
    POOL_BORROWED = POOL_CLASSES, /* storage owned elsewhere */
    POOL_LARGE                    /* from the reserve, and returned to it */
};
struct pool {
    struct arena headers;
    struct buffer *newest;             /* list of all buffers */
    struct buffer *spare;              /* headers without storage */
    struct buffer *free[POOL_CLASSES]; /* idle storage, by size class */
    size_t cached, live, peak;         /* idle bytes; bytes in use; peak of bytes in use */
    struct reserve *reserve;           /* of large storage, in use; or NULL */
    size_t limit;                      /* on bytes in use and idle; 0: none */
    bool over;                         /* an allocation failed because of the limit */
    struct unbacked *unbacked;         /* in a dry run: unbacked storage; else NULL */
    /* by function, made when it first runs; between runs they hold only run_cached values */
    struct value **frames;
    struct scalar_frame **scalar_frames; /* likewise, by number of the scalar code */
    struct lapack_call **calls;          /* by number of a custom call: parsed; NULL: not yet */
};

/* An array value. The dims of the view are the actual sizes, not the bounds. */
struct value {
    struct buffer *buffer; /* NULL: no value */
    /* of an array with a dimension smaller than its shape: the dimensions of the shape; else
     * NULL */
    const int64_t *bounds;
    bool padded; /* with bounds: the storage extends to them, with the strides of the view */
    bool absent; /* zeros in place of a value that was not computed: no result depends on it */
    struct view view;
};

/* Unbacked storage: pages that read as zeros, given out repeatedly. Storage may exceed them, so
 * that estimates do not depend on how many addresses the system grants: a dry run reads no element
 * of a large array. */
struct unbacked {
    char *pages;
    size_t size, at;
};
void *pool_take_unbacked(struct unbacked *p, size_t size);

void pool_init(struct pool *p);
void pool_free(struct pool *p);
/* Called after a run: storage becomes idle, except what is kept, and excess idle storage
 * is freed. */
void pool_settle(struct pool *p);
/* A buffer with one reference; NULL when out of memory. */
struct buffer *pool_take(struct pool *p, size_t size);
struct buffer *pool_borrow(struct pool *p, void *data, size_t size);
void pool_drop(struct pool *p, struct buffer *b);
/* Transfers the storage to the caller, who frees it with mem_free(); NULL when it has other
 * references. */
void *pool_steal(struct pool *p, struct buffer *b);

/* Copies a view: only the entries up to its rank. */
void view_copy(struct view *to, const struct view *from);

/* ---- eval.c ---- */

struct eval {
    struct diags *ds;
    const struct program *p;
    struct run_state *state;
    struct thread_pool *workers; /* of the program; may be NULL */
    struct pool pool;
    struct reserve *outer_reserve;   /* in use before the run */
    const struct exchange *exchange; /* other participants and the host; or NULL */
    struct arena scratch;            /* arrays of values, freed by mark and release */
    struct arena_mark start;         /* the empty arena */
    struct value *constants;
    /* by function: enum hoist; steps of that kind, and those hoisted further, are done */
    uint8_t *done;
    struct value *frame; /* of the running function */
    /* of the running step; NULL when its operands are as large as their bounds */
    const struct sizes *sizes;
    struct posted *posted;     /* recvs without their recv-done yet, oldest first */
    struct arena posts;        /* allocates them */
    struct dry_run *dry_run;   /* NULL: not a dry run */
    bool reports_steps;        /* steps are reported, to state->step_callbacks or to the dry run */
    struct cleanup abandoning; /* out-of-memory cleanup of the run */
    struct trace *trace;       /* callback for each instruction and its value; or NULL */
};

/* In a dry run, storage has no elements: code that reads or writes them must be skipped. */
static inline bool eval_is_dry_run(const struct eval *ev) { return ev->dry_run != NULL; }
/* Call a kernel of the program's table, except in a dry run; the result of EVAL_TRY is false if it
 * fails. Kernels with a body are called without them: the dry run calls the body (dry_run_body). */
#define EVAL_RUN(ev, name, ...) (eval_is_dry_run(ev) ? (void)0 : (ev)->p->kern->name(__VA_ARGS__))
#define EVAL_TRY(ev, name, ...) (eval_is_dry_run(ev) || (ev)->p->kern->name(__VA_ARGS__))

typedef bool eval_family_fn(struct eval *ev, const struct step *s);
#define X(name, flags) eval_family_fn eval_##name;
FAMILIES(X)
#undef X

void eval_begin(struct eval *ev);
void eval_end(struct eval *ev);
/* Runs the entry computation on its arguments and makes a literal of its results. `values`: the
 * arguments; has space for the results too. */
struct literal *eval_entry(struct eval *ev, struct value *values, struct arena *a);
/* Prepares a value for leaving the program, and returns its shape: dynamic dimensions have their
 * actual size. NULL: out of memory. */
const struct shape *eval_fit_outside(struct eval *ev, struct value *v, const struct shape *s,
                                     struct arena *a);

/* Reports a diagnostic about a step. Evaluates to false. */
#define EVAL_FAIL(ev, s, id, ...)                                                                  \
    eval_where((s), DIAG((ev)->ds, (s)->inst->span, id, ##__VA_ARGS__), (ev))
bool eval_where(const struct step *s, struct diag *d, struct eval *ev);
bool eval_unsupported(struct eval *ev, const struct step *s); /* reports opcode and element type */
/* Reports which limit was reached, or that memory is exhausted. Returns false. */
bool eval_no_memory(struct eval *ev, const struct step *s, const struct shape *shape);
/* Reports the limit at which budget_step() failed. */
bool eval_limit(struct eval *ev, const struct step *s);
/* Charges an iteration of a loop (numbered from 0); false when a limit is reached. */
static inline bool eval_trip(struct eval *ev, int64_t number)
{
    uint64_t max = ev->p->options.limits.trip;
    if (max && !eval_is_dry_run(ev) && (uint64_t)number >= max)
        ev->state->budget.hit = LIMIT_TRIP;
    return ev->state->budget.hit == LIMIT_NONE && budget_step(&ev->state->budget);
}
/* Called after a kernel failed: reports out of memory unless a body that the kernel called has
 * reported an error. */
bool eval_kernel_failed(struct eval *ev, const struct step *s, unsigned errors_before);

/* ---- function.c: functions and values ---- */

/* Runs a function. Arguments are moved out of `args`; results are moved into `results`, which may
 * be the same array. */
bool eval_function(struct eval *ev, const struct function *f, struct value *args,
                   struct value *results);
/* Runs the hoisted steps of the entry computation, unless their results are there. Later runs
 * charge the same number of steps to the budget. */
bool eval_keep(struct eval *ev);
/* Lets the frame of the entry computation refer to the results that another state keeps. */
void eval_borrow_kept(struct eval *ev, const struct run_state *from);
/* Runs one step by the function of its family. */
bool eval_step(struct eval *ev, const struct step *s);
/* Runs one step of a function: charges the budget and reports the step if `ev->reports_steps`. */
bool eval_next_step(struct eval *ev, const struct function *f, const struct step *s);
/* Prepares the body of a loop for many runs, until eval_leave_loop(). Meanwhile the parts of the
 * state that it passes on unchanged stay in its frame; `at`: where each part is. */
void eval_enter_loop(struct eval *ev, const struct function *body, struct value *state,
                     struct value **at);
bool eval_iterate(struct eval *ev, const struct function *body, struct value *state);
void eval_leave_loop(struct eval *ev, const struct function *body, struct value *state);

void value_drop(struct eval *ev, struct value *v);
void value_move(struct value *to, struct value *from);
void value_share(struct value *to, const struct value *from);
/* Makes a dense value; false (without a message) when out of memory. */
bool value_new(struct eval *ev, struct value *v, enum dtype t, int rank, const int64_t *dims);
/* Makes the value dense; if `change`, in storage that no other value shares. False (without a
 * message) when out of memory. */
bool value_make_dense(struct eval *ev, struct value *v, bool change);

/* ---- control.c ---- */

/* The frame of scalar code in this run. */
struct scalar_frame *eval_scalar_frame(struct eval *ev, const struct scalar_code *code);

/* Calls f within a step: operand leaves from `first` on are the arguments. */
bool eval_call(struct eval *ev, const struct step *s, const struct function *f, int first);
bool eval_small_step(void *run, const struct scalar_step *t); /* a step within scalar code */
/* Reports an infinite loop within scalar code. */
void eval_report_infinite(void *run, const struct termination *t);

/* ---- dry_run.c ---- */

/* Whether to report the chosen kernel variant to dry_run_report_choice(): in dry runs only. */
static inline bool eval_reports_choices(const struct eval *ev)
{
    return eval_is_dry_run(ev) && !ev->p->options.plain;
}
void dry_run_report_choice(struct eval *ev, const char *choice,
                           size_t workspace); /* `workspace`: bytes of workspace; 0: negligible */
bool dry_run_step(struct eval *ev, const struct function *f, const struct step *s);
/* Dry run of every branch of a conditional; the results are those of the branch that leaves most
 * memory in use. */
bool dry_run_branches(struct eval *ev, const struct step *s);
/* Calls the function that is applied to elements, if any, once. */
bool dry_run_body(const struct kern_body *b);
bool dry_run_order(const struct kern_comparator *c);
/* Whether the next iteration of a loop, which starts with this state, may differ from the previous
 * ones. */
struct dry_run_loop {
    int iterations;
    uint64_t before; /* layout of the state before it */
};
bool dry_run_repeats(const struct eval *ev, struct dry_run_loop *l, const struct value *state,
                     int count);

/* ---- trace.c ---- */

struct trace {
    const struct trace_callbacks *trace_callbacks;
    struct arena arena;   /* of the event's copies, freed by mark and release */
    struct arena nesting; /* allocates `within` */
    struct within *within;
    size_t depth, capacity;
    uint64_t shown;
    int64_t spent; /* nanoseconds spent in callbacks */
    bool replaced; /* a callback has replaced a value in this run */
};
void eval_trace_begin(struct eval *ev, struct trace *s);
void eval_trace_end(struct eval *ev);
/* runs all steps of f with callbacks */
bool eval_traced(struct eval *ev, const struct function *f);
/* Records that the run is at step S of F. */
static inline void eval_at_step(struct eval *ev, const struct function *f, const struct step *s)
{
    if (f != ev->p->entry)
        return;
    atomic_store_explicit(&ev->state->mark.iteration, -1, memory_order_relaxed);
    atomic_store_explicit(&ev->state->mark.at, s, memory_order_relaxed);
}
/* Records that the running loop S is in this iteration; -1: between iterations. */
static inline void eval_in_iteration(struct eval *ev, const struct step *s, int64_t iteration)
{
    if (iteration >= 0 && atomic_load_explicit(&ev->state->mark.at, memory_order_relaxed) == s)
        atomic_store_explicit(&ev->state->mark.iteration, iteration, memory_order_relaxed);
    if (ev->trace)
        ev->trace->within[ev->trace->depth - 1].iteration = iteration;
}
bool eval_rename(struct eval *ev, const struct step *s); /* runs a step that is an alias */

/* ---- sizes.c ---- */

/* For a step that reads an array smaller than its bounds: its operands with the sizes that it
 * reads, the dimensions with which its results are allocated, and their final dimensions. Filled in
 * by the rule of its family, so that the family's own code does not depend on bounds. */
struct sizes {
    struct value *operands;
    struct result_sizes {
        int64_t made[VIEW_MAX_RANK], shown[VIEW_MAX_RANK];
    } * results;
};

/* Runs a step of a program with dynamic sizes. */
bool eval_sized(struct eval *ev, const struct step *s, eval_family_fn *run);
/* The dimensions with which result r is made. */
static inline const int64_t *eval_dims(const struct eval *ev, const struct step *s, int r)
{
    return ev->sizes ? ev->sizes->results[r].made : s->shapes[r]->dims;
}
/* Sets `bounds` of a value from the dimensions of its shape; `padded` as in struct value. */
void value_fit(struct value *v, const struct shape *s, bool padded);
/* Extends a value to its bounds: with the contents of its storage if it is padded, else with
 * zeros, in a copy. False: out of memory. */
bool value_whole(struct eval *ev, struct value *v);

/* ---- size_rules.c ---- */

typedef bool size_rule(struct eval *ev, const struct step *s,
                       struct sizes *z); /* false with a message */
/* NULL for steps that handle dynamic sizes themselves. */
size_rule *find_size_rule(const struct step *s);

/* ---- elementwise.c ---- */

bool eval_fused(struct eval *ev, const struct step *s);

/* ---- custom.c ---- */

bool eval_custom(struct eval *ev, const struct step *s);
bool eval_custom_in_dry_run(
    const struct step *s); /* its target reads elements only by kernels of the table */

/* ---- onnx_loop.c ---- */

bool eval_onnx_loop(struct eval *ev, const struct step *s);

/* ---- lapack.c, fft.c: custom calls that JAX makes ---- */

bool eval_lapack(struct eval *ev, const struct step *s);
/* Runs a call that has been parsed on arrays of scalar code; *done: it has been, and writes all its
 * results. */
bool eval_small_lapack(struct eval *ev, const struct scalar_step *t, bool *done);
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
/* Passes the operand's value to result r: moved at its last use, else shared. */
void eval_hand_over(struct eval *ev, const struct step *s, int k, struct value *to);
/* The operand, converted to element type t if it has another (`made` then holds the copy and must
 * be dropped). NULL with a message. */
const struct view *eval_as_type(struct eval *ev, const struct step *s, int k, enum dtype t,
                                struct value *made);
/* eval_as_type(), row-major and dense. */
const struct view *eval_dense(struct eval *ev, const struct step *s, int k, enum dtype t,
                              struct value *made);
/* eval_dense() as a copy that may be written to. */
const struct view *eval_own(struct eval *ev, const struct step *s, int k, struct value *made);

/* Result r as new dense storage of its dimensions, uninitialized; NULL with a message. */
struct view *eval_result(struct eval *ev, const struct step *s, int r);
/* The same with other dimensions, which must be within the bounds of its shape. */
struct view *eval_sized_result(struct eval *ev, const struct step *s, int r, const int64_t *dims);
/* Result r as zeros, of its dimensions or of others; false with a message. */
bool eval_clear(struct eval *ev, const struct step *s, int r);
bool eval_sized_zeros(struct eval *ev, const struct step *s, int r, const int64_t *dims);
/* Result r in the storage of operand k, if no other value shares it and it has the right form;
 * else NULL. */
struct view *eval_reuse(struct eval *ev, const struct step *s, int r, int k, bool alone);
/* Result r in the storage of operand k, or in a copy of it; NULL with a message. */
struct view *eval_update(struct eval *ev, const struct step *s, int r, int k);
/* The same; `window` becomes the window of these sizes whose start indices are the operands from
 * `first` on. False with a message. */
bool eval_update_window(struct eval *ev, const struct step *s, int r, int k, int first,
                        const int64_t *sizes, struct view *window);
/* Makes result r a view over the bytes of operand k. */
bool eval_alias(struct eval *ev, const struct step *s, int r, int k, const struct view *v);
/* Makes result r a copy of x, converted when the type differs. */
bool eval_copy(struct eval *ev, const struct step *s, int r, const struct view *x);
bool eval_convert_to(struct eval *ev, const struct step *s, const struct view *out,
                     const struct view *x);

/* ---- body.c ---- */

/* A body as kernels take it; valid for one step. */
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
    /* number of members; index of this participant, or -1: in no group */
    int64_t count, me;
    int64_t *members; /* participants, in order; in the scratch arena */
};
/* participants paired with this one, in the order of the pairs; in the scratch arena */
struct partners {
    int64_t target_count, source_count, *targets, *sources;
};

int64_t eval_self(const struct eval *ev); /* The id of this participant. */
/* Finds the group of this participant. False with a message when an id is not that of a
 * participant. */
bool eval_peers(struct eval *ev, const struct step *s, struct peers *out);
bool eval_partners(struct eval *ev, const struct step *s, struct ints_list pairs, int mode,
                   struct partners *out);
/* The tag of the instruction's channel if `channel`, and it has one; else of the instruction. */
struct tag eval_tag(const struct inst *i, bool channel);

/* ---- member_dims.c ---- */

/* The dimensions of the arrays that the members of a group contribute to a collective: `rank`
 * numbers for each of `count` members, in the scratch arena. Stride 0: they are the same for all
 * members, and stored once. */
struct member_dims {
    int rank;
    int64_t count, stride;
    int64_t *dims;
};
static inline const int64_t *member_dims_at(const struct member_dims *e, int64_t j)
{
    return e->dims + j * e->stride;
}
/* x[j * stride] is the array for member j; all have the same rank. The dimensions are exchanged
 * only in a program with dynamic sizes. False with a message. */
bool member_dims_init(struct eval *ev, const struct step *s, const struct peers *g,
                      const struct view *const *x, int64_t stride, struct member_dims *e);
bool member_dims_equal(const struct member_dims *e, int d); /* along dimension d */
int64_t member_dims_sum(const struct member_dims *e, int d);
int64_t member_elements(const struct member_dims *e, int64_t j); /* of the array of member j */
/* Divides dimension d of every member by n. */
void member_dims_divide(struct member_dims *e, int d, int64_t n);
/* Check that all members have the same dimension d, or that it is a multiple of their number. False
 * with a message, the same on each member. */
bool member_dims_check_equal(struct eval *ev, const struct step *s, const struct peers *g,
                             const struct member_dims *e, int d);
bool member_dims_check_divides(struct eval *ev, const struct step *s, const struct peers *g,
                               const struct member_dims *e, int d);

/* ---- reduce_blocks.c: reduction of blocks, element by element, in the order of the group ---- */

struct block_reducer {
    const struct body *body;
    struct kern_body call;
    kern_tile_fn *fn; /* if the body is one kernel */
    char *workspace;  /* of code on tiles, in the scratch arena */
    enum dtype type, acc;
    /* conversions between the two types; NULL where they are equal */
    kern_tile_fn *widen, *narrow;
};
bool eval_prepare_reducer(struct eval *ev, const struct step *s, enum dtype type,
                          struct bound_body *context, struct block_reducer *f);
/* The members' dense arrays as rows that are contiguous in each of them: the dimensions before `d`
 * number the rows, whose length may differ; behind `d` all arrays have the same dimensions. */
struct member_rows {
    const struct member_dims *e;
    int d;
    int64_t inner;       /* elements for each index along d */
    const char **blocks; /* scratch: where each member's row begins ... */
    int64_t *lengths;    /* ... and how many of its elements take part ... */
    const char **left;   /* ... and the members that have elements from some position on */
};
/* Allocates; to be called before eval_rendezvous, since memory must not run out between that and
 * eval_leave_rendezvous: the other members would block. */
void eval_prepare_rows(struct eval *ev, const struct member_dims *e, struct member_rows *rows);
/* Reduces the blocks received in `m` into dense storage with the dimensions of member m->me. An
 * element that a member does not have is ignored. False: the reducer failed. */
bool eval_reduce_rows(const struct block_reducer *f, const struct rendezvous *m,
                      const struct member_rows *rows, char *out);

/* ---- message.c: between two participants; false with a message ---- */

bool eval_send_data(struct eval *ev, const struct step *s, struct tag tag, const struct view *dense,
                    int64_t to);
/* Fails if the message is not of the size of `dense`. */
bool eval_receive_data(struct eval *ev, const struct step *s, struct tag tag,
                       const struct view *dense, int64_t from);
/* The same with the dimensions, where sizes are dynamic; what is received becomes result r. */
bool eval_send_array(struct eval *ev, const struct step *s, struct tag tag,
                     const struct view *dense, int64_t to);
bool eval_receive_array(struct eval *ev, const struct step *s, struct tag tag, int r, int64_t from);

/* ---- collective.c, permute.c ---- */

static inline size_t size_of(const struct view *v)
{
    return (size_t)view_elements(v) * dtype_bytes(v->dtype);
}
struct rendezvous eval_new_rendezvous(struct eval *ev, const struct step *s, const struct peers *g,
                                      struct block *out);
/* Whether an operand has the rank, the type and, unless sizes are dynamic, the dimensions of a
 * shape. */
bool eval_conforms(const struct eval *ev, const struct view *v, const struct shape *s);
bool eval_permute(struct eval *ev, const struct step *s);
bool eval_ragged(struct eval *ev, const struct step *s, const struct peers *g);
bool eval_rendezvous(struct eval *ev, const struct step *s, struct rendezvous *m,
                     const size_t *sizes);
void eval_leave_rendezvous(struct eval *ev, struct rendezvous *m);
/* Reports that the instruction needs other participants, and this run has none. */
bool eval_needs_exchange(struct eval *ev, const struct step *s);

/* reduce.c: operands and results as rows, in the scratch arena; NULL with a message */
const void *const *eval_inits(struct eval *ev, const struct step *s, int first, int n,
                              const enum dtype *types);
struct view *eval_views(struct eval *ev, const struct step *s, int first, int n);
struct view *eval_results(struct eval *ev, const struct step *s);

/* dot.c: the destination of a sum of products: the result, or `made` if it is converted afterwards;
 * NULL with a message. The second function takes what the kernel returned: it converts and drops
 * `made`, or reports out of memory. */
struct view *eval_sum_begin(struct eval *ev, const struct step *s, struct value *made);
bool eval_sum_end(struct eval *ev, const struct step *s, struct value *made, bool ok);

/* shape.c: makes result r a part of operand k: a view, or a copy */
bool eval_piece(struct eval *ev, const struct step *s, int r, int k, const struct view *piece);
/* also of a bitcast that only reshapes */
bool eval_reshape(struct eval *ev, const struct step *s);

/* convert.c: whether the elements keep their type and their row-major order */
bool bitcast_is_reshape(const struct inst *i);

/* gather.c: lists the array dimensions that windows keep; returns their number */
int eval_gather_kept(const struct kern_gather_dims *d, int rank, int64_t *kept);

/* conv.c */
void eval_conv_dims(const struct inst *i, struct kern_conv_dims *d);

/* sort.c: also custom calls */
bool eval_partial_reduce(struct eval *ev, const struct step *s);
bool eval_topk(struct eval *ev, const struct step *s, bool largest);

/* window.c: the window attribute; without one, every dimension has size 1 */
void eval_window_dims(const struct inst *i, int rank, struct kern_window_dim *out);

#endif
