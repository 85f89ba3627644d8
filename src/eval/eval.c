/*
 * eval.c: a run of a program, from the arguments to the results: eval_program(), at the end.
 * function.c runs the steps.
 */
#include "eval/eval_priv.h"

#include <stdlib.h>

/* ---- messages ---- */

bool eval_where(const struct step *s, struct diag *d, struct eval *ev)
{
    d->where = inst_where(&ev->ds->arena, s->inst);
    return false;
}

bool eval_unsupported(struct eval *ev, const struct step *s)
{
    const struct inst *i = s->inst;
    const struct shape *shape = i->operand_count > 0 ? i->operands[0]->shape : i->shape;
    return EVAL_FAIL(ev, s, UNSUPPORTED, op_spelling(i->opcode), dtype_spelling(shape->dtype));
}

bool eval_limit(struct eval *ev, const struct step *s)
{
    const struct limits *l = &ev->p->options.limits;
    char seconds[32];
    switch (ev->state->budget.hit) {
    case LIMIT_MEMORY: return EVAL_FAIL(ev, s, LIMIT_MEMORY, l->memory);
    case LIMIT_TIME:
        num_format_g(seconds, sizeof seconds, l->seconds, 6);
        return EVAL_FAIL(ev, s, LIMIT_TIME, seconds);
    case LIMIT_TRIP: return EVAL_FAIL(ev, s, LIMIT_TRIP, l->trip);
    case LIMIT_INTERRUPTED: return EVAL_FAIL(ev, s, RUN_INTERRUPTED);
    /* reported by the exchange or callback that stopped the run */
    case LIMIT_STOPPED: return false;
    default: return EVAL_FAIL(ev, s, LIMIT_STEPS, l->steps);
    }
}

bool eval_no_memory(struct eval *ev, const struct step *s, const struct shape *shape)
{
    int64_t bytes = 0;
    if (ev->pool.over)
        ev->state->budget.hit = LIMIT_MEMORY;
    if (ev->state->budget.hit != LIMIT_NONE)
        return eval_limit(ev, s);
    shape_bytes(shape, &bytes);
    struct str size = arena_printf(&ev->ds->arena, "%" PRId64, bytes);
    return EVAL_FAIL(ev, s, OUT_OF_MEMORY, STR_ARG(shape_text(&ev->ds->arena, shape)), size.ptr);
}

bool eval_kernel_failed(struct eval *ev, const struct step *s, unsigned errors_before)
{
    return ev->ds->errors == errors_before ? eval_no_memory(ev, s, s->inst->shape) : false;
}

/* ---- arguments and results of the run ---- */

/* Large storage that is kept between runs. */
static const size_t IDLE_BETWEEN_RUNS = (size_t)1 << 30;

/* The type of the first leaf that cannot hold values (a token, say); DT_INVALID if there is
 * none. */
static enum dtype find_valueless(const struct shape *s)
{
    if (!shape_is_tuple(s))
        return shape_is_array(s) ? DT_INVALID : s->dtype;
    enum dtype odd = DT_INVALID;
    for (int k = 0; k < s->count && odd == DT_INVALID; k++)
        odd = find_valueless(s->elements[k]);
    return odd;
}

bool eval_fits(const struct shape *expected, const struct shape *given)
{
    if (expected->dtype != given->dtype || expected->rank != given->rank ||
        expected->count != given->count)
        return false;
    for (int d = 0; d < expected->rank; d++)
        if (given->dims[d] > expected->dims[d] ||
            (given->dims[d] < expected->dims[d] && !shape_dim_dynamic(expected, d)))
            return false;
    for (int k = 0; k < expected->count; k++)
        if (!eval_fits(expected->elements[k], given->elements[k]))
            return false;
    return true;
}

static bool check_shape(struct eval *ev, int number, const struct shape *expected,
                        const struct shape *given)
{
    const struct inst *i = ev->p->entry->computation->params[number];
    struct arena *a = &ev->ds->arena;
    enum dtype odd = find_valueless(expected);
    if (odd != DT_INVALID)
        return DIAG_ERROR(ev->ds, i->span, PARAMETER_NOT_ARRAY, number, dtype_spelling(odd));
    if (eval_fits(expected, given))
        return true;
    return DIAG_ERROR(ev->ds, i->span, ARGUMENT_SHAPE, number, STR_ARG(shape_text(a, expected)),
                      STR_ARG(shape_text(a, given)));
}

static bool take_argument(struct eval *ev, int number, const struct shape *shape,
                          const struct literal *l, struct value **next)
{
    const struct inst *i = ev->p->entry->computation->params[number];
    int64_t bytes = 0;
    if (shape_is_tuple(shape)) {
        for (int k = 0; k < shape->count; k++)
            if (!take_argument(ev, number, shape->elements[k], l->elements[k], next))
                return false;
        return true;
    }
    if (l->elided)
        return DIAG_ERROR(ev->ds, i->span, ELIDED_CONSTANT, STR_ARG(i->name));
    shape_bytes(l->shape, &bytes);
    struct value *v = (*next)++;
    v->buffer = pool_borrow(&ev->pool, l->data, (size_t)bytes);
    view_dense(&v->view, l->shape->dtype, l->shape->rank, l->shape->dims, l->data);
    value_fit(v, shape, false);
    return true;
}

static bool check_params(struct eval *ev, const struct literal *const *args, size_t count)
{
    const struct computation *c = ev->p->entry->computation;
    struct arena *a = &ev->ds->arena;
    if (count > (size_t)c->param_count)
        return DIAG_ERROR(ev->ds, c->name_span, ARGUMENT_SHAPE, c->param_count,
                          STR_ARG(STR("unknown")),
                          STR_ARG(shape_text(a, args[c->param_count]->shape)));
    for (int k = 0; k < c->param_count; k++)
        if (k >= (int)count)
            return DIAG_ERROR(ev->ds, c->params[k]->span, ARGUMENT_SHAPE, k,
                              STR_ARG(shape_text(a, c->params[k]->shape)), STR_ARG(STR("missing")));
        else if (!check_shape(ev, k, c->params[k]->shape, args[k]->shape))
            return false;
    return true;
}

const struct shape *eval_fit_outside(struct eval *ev, struct value *v, const struct shape *s,
                                     struct arena *a)
{
    int64_t dims[VIEW_MAX_RANK];
    bool missing = false;
    for (int d = 0; d < s->rank; d++) {
        dims[d] = shape_dim_dynamic(s, d) ? v->view.dims[d] : s->dims[d];
        missing |= dims[d] > v->view.dims[d];
    }
    if (missing && !value_whole(ev, v))
        return NULL;
    for (int d = 0; d < s->rank; d++)
        v->view.dims[d] = dims[d];
    return s->dynamic ? shape_array(a, s->dtype, s->rank, dims, NULL, s->layout) : s;
}

/* The storage of a result: the value's own if it has no other reference, else a copy. */
static bool take_result(struct eval *ev, struct value *v, struct literal *l, struct arena *a)
{
    l->shape = eval_fit_outside(ev, v, l->shape, a);
    if (!l->shape)
        return false;
    void *own = v->buffer && v->buffer->data == v->view.data && view_is_dense(&v->view)
                    ? pool_steal(&ev->pool, v->buffer)
                    : NULL;
    if (own) {
        l->data = own;
        v->buffer = NULL;
        return true;
    }
    struct value copy;
    if (!value_new(ev, &copy, l->shape->dtype, l->shape->rank, l->shape->dims))
        return false;
    EVAL_RUN(ev, copy, ev->workers, &copy.view, &v->view);
    l->data = pool_steal(&ev->pool, copy.buffer);
    return true;
}

static struct literal *make_literal(struct eval *ev, const struct shape *s, struct value **next,
                                    struct arena *a, bool *ok)
{
    struct literal *l = ARENA_NEW(a, struct literal);
    l->shape = s;
    if (shape_is_tuple(s)) {
        const struct shape **shapes = ARENA_ARRAY(a, const struct shape *, s->count);
        l->elements = ARENA_ARRAY(a, struct literal *, s->count);
        for (int k = 0; k < s->count; k++) {
            l->elements[k] = make_literal(ev, s->elements[k], next, a, ok);
            shapes[k] = l->elements[k]->shape;
        }
        if (*ok && shape_has_dynamic(s))
            l->shape = shape_tuple(a, s->count, shapes);
        return l;
    }
    struct value *v = (*next)++;
    if (*ok && shape_is_array(s) && !take_result(ev, v, l, a)) {
        struct step step = {.inst = ev->p->entry->computation->root};
        *ok = eval_no_memory(ev, &step, s);
        l->shape = s;
    }
    return l;
}

struct literal *eval_entry(struct eval *ev, struct value *values, struct arena *a)
{
    const struct function *f = ev->p->entry;
    struct value *next = values;
    if (!eval_function(ev, f, values, values))
        return NULL;
    bool ok = true;
    struct literal *l = make_literal(ev, shape_copy(a, f->computation->root->shape), &next, a, &ok);
    for (int k = 0; k < f->result_count; k++)
        value_drop(ev, &values[k]);
    if (!ok && !eval_is_dry_run(ev))
        literal_free_data(l);
    return ok ? l : NULL;
}

static struct literal *run_entry(struct eval *ev, const struct literal *const *args,
                                 struct arena *a)
{
    const struct function *f = ev->p->entry;
    int n = f->param_count > f->result_count ? f->param_count : f->result_count;
    struct value *values = ARENA_ARRAY(&ev->scratch, struct value, n), *next = values;
    for (int k = 0; k < f->computation->param_count; k++)
        if (!take_argument(ev, k, f->computation->params[k]->shape, args[k], &next))
            return NULL;
    return eval_entry(ev, values, a);
}

/* ---- scratch arena: kept between runs, as one block that is large enough for most runs ---- */

enum { MIN_SCRATCH = 96 << 10, MAX_SCRATCH = 4 << 20 };

static void take_scratch(struct eval *ev)
{
    ev->scratch = ev->state->scratch;
    ev->scratch.generation = ev->state->arena.generation;
    arena_init(&ev->state->scratch);
    arena_reserve(&ev->scratch, MIN_SCRATCH);
    ev->start = arena_mark(&ev->scratch);
}

static void leave_scratch(struct eval *ev)
{
    size_t used = ev->scratch.total;
    arena_release(&ev->scratch, ev->start);
    if (used > ev->scratch.total && used <= MAX_SCRATCH) {
        arena_free(&ev->scratch);
        arena_reserve(&ev->scratch, used);
    }
    ev->state->scratch = ev->scratch;
}

/* ---- runs ---- */

struct run_state *run_state_new(const struct program *p, int64_t participant)
{
    struct arena arena;
    arena_init(&arena);
    struct run_state *s = ARENA_NEW(&arena, struct run_state);
    s->arena = arena;
    s->program = p;
    s->reserve = reserve_new();
    s->transforms.generation = arena.generation;
    s->rng = ARENA_DUP(&s->arena, p->rng, p->rng_count);
    s->scalar_run.budget = &s->budget;
    s->scalar_run.ids[SCALAR_REPLICA] = (uint32_t)(participant / p->module->num_partitions);
    s->scalar_run.ids[SCALAR_PARTITION] = (uint32_t)(participant % p->module->num_partitions);
    s->scalar_run.run_step = eval_small_step;
    s->scalar_run.report_infinite = eval_report_infinite;
    arena_init(&s->scratch);
    return s;
}

void run_state_free(struct run_state *s)
{
    if (!s)
        return;
    if (s->pool)
        pool_free(s->pool);
    kern_fft_plans_free(&s->transforms);
    reserve_release(s->reserve);
    arena_free(&s->scratch);
    struct arena arena = s->arena; /* the state itself lives in this arena */
    arena_free(&arena);
}

/* A dry run has a pool of its own. */
static void take_pool(struct eval *ev)
{
    const struct program *p = ev->p;
    struct run_state *s = ev->state;
    if (s->pool && !eval_is_dry_run(ev)) {
        ev->pool = *s->pool;
        return;
    }
    ev->pool.headers.generation = s->arena.generation; /* they are freed with the state */
    ev->pool.frames = ARENA_ARRAY(&ev->pool.headers, struct value *, p->function_count);
    ev->pool.scalar_frames = ARENA_ARRAY(&ev->pool.headers, struct scalar_frame *, p->scalar_count);
    ev->pool.calls = ARENA_ARRAY(&ev->pool.headers, struct lapack_call *, p->call_count + 1);
}

static void leave_pool(struct eval *ev)
{
    const struct program *p = ev->p;
    struct run_state *s = ev->state;
    if (eval_is_dry_run(ev)) {
        pool_free(&ev->pool);
        return;
    }
    if (!s->pool)
        s->pool = ARENA_NEW(&s->arena, struct pool);
    const struct function *entry = p->entry;
    const int kept = s->kept.there ? entry->run_cached_count : 0;
    struct buffer **held = ARENA_ARRAY(&ev->scratch, struct buffer *, kept);
    for (int k = 0; k < kept; k++) {
        held[k] = ev->pool.frames[entry->index][entry->run_cached[k]].buffer;
        held[k]->kept++;
    }
    for (int k = 0; k < p->function_count; k++) {
        struct value *frame = ev->pool.frames[k];
        for (int j = 0; frame && j < p->functions[k]->slot_count; j++)
            frame[j].buffer = NULL;
    }
    for (int k = 0; k < kept; k++)
        ev->pool.frames[entry->index][entry->run_cached[k]].buffer = held[k];
    pool_settle(&ev->pool);
    *s->pool = ev->pool;
}

/* Out-of-memory cleanup: restores the state before the first run. */
static void abandon(void *context)
{
    struct eval *ev = context;
    eval_trace_end(ev);
    pool_free(&ev->pool);
    arena_free(&ev->scratch);
    arena_free(&ev->posts);
    if (!eval_is_dry_run(ev)) {
        ev->state->pool = NULL;
        ev->state->kept.there = false;
    }
    ev->state->scalar_run.run = NULL;
}

/* A run with callbacks reports the steps, so it runs them. */
static bool may_borrow(const struct eval *ev)
{
    const struct run_state *s = ev->state;
    return s->shared && s->shared->kept.there && !s->kept.there && !s->step_callbacks &&
           !eval_is_dry_run(ev);
}

void eval_begin(struct eval *ev)
{
    const struct program *p = ev->p;
    pool_init(&ev->pool);
    arena_init(&ev->scratch);
    arena_init(&ev->posts);
    oom_push_cleanup(&ev->abandoning, abandon, ev);
    ev->state->scalar_run.run = ev;
    take_pool(ev);
    ev->pool.reserve = ev->state->reserve;
    ev->outer_reserve = reserve_use(ev->state->reserve);
    take_scratch(ev);
    ev->constants = ARENA_ARRAY(&ev->scratch, struct value, p->constant_count);
    ev->done = ARENA_ARRAY(&ev->scratch, uint8_t, p->function_count);
    if (may_borrow(ev))
        eval_borrow_kept(ev, ev->state->shared);
    ev->done[p->entry->index] =
        ev->state->kept.there && !eval_is_dry_run(ev) ? HOIST_RUN : HOIST_NOT;
    for (int k = 0; k < p->constant_count; k++) {
        view_copy(&ev->constants[k].view, &p->constants[k]);
        ev->constants[k].buffer = pool_borrow(&ev->pool, p->constants[k].data, 0);
    }
}

void eval_end(struct eval *ev)
{
    reserve_use(ev->outer_reserve);
    leave_pool(ev);
    leave_scratch(ev);
    oom_pop_cleanup(&ev->abandoning);
    ev->state->scalar_run.run = NULL;
    arena_free(&ev->posts);
}

/* Checks the memory estimate against the limit. With dynamic sizes the estimate is only an upper
 * bound, so the limit is checked during the run instead. */
static bool check_needs(struct eval *ev)
{
    const uint64_t limit = ev->p->options.limits.memory;
    if (!limit || ev->p->dynamic)
        return true;
    const struct memory_estimate *f = eval_estimate_memory(ev->state);
    if (!f->known || f->peak <= limit)
        return true;
    struct span span = f->at ? f->at->inst->span : ev->p->entry->computation->name_span;
    struct diag *d = DIAG(ev->ds, span, PLAN_MEMORY, f->peak, limit);
    ev->state->budget.hit = LIMIT_MEMORY;
    return f->at ? eval_where(f->at, d, ev) : false;
}

/* Sets the fields that need no cleanup. */
static struct eval new_run(struct diags *ds, struct run_state *s, const struct exchange *exchange)
{
    const struct program *p = s->program;
    budget_start(&s->budget, &p->options.limits, exchange ? exchange->stop : NULL);
    s->budget.interrupt = p->options.interrupt;
    s->mark.at = NULL;
    return (struct eval){.ds = ds,
                         .p = p,
                         .state = s,
                         .workers = p->options.workers,
                         .exchange = exchange,
                         .reports_steps = s->step_callbacks != NULL};
}

void eval_prepare(struct run_state *shared)
{
    const struct program *p = shared->program;
    struct diags messages;
    if (p->options.limits.memory)
        eval_estimate_memory(shared);
    if (shared->kept.there || p->entry->run_cached_count == 0)
        return;
    diags_init(&messages, NULL);
    struct eval ev = new_run(&messages, shared, NULL);
    eval_begin(&ev);
    ev.pool.limit = SIZE_MAX;
    eval_keep(&ev);
    eval_end(&ev);
    diags_free(&messages);
}

struct literal *eval_program(struct diags *ds, struct run_state *s,
                             const struct literal *const *args, size_t count,
                             const struct exchange *exchange, struct arena *a)
{
    const struct program *p = s->program;
    struct eval ev = new_run(ds, s, exchange);
    struct trace trace;
    if (!check_params(&ev, args, count) || !check_needs(&ev))
        return NULL;
    eval_begin(&ev);
    ev.pool.limit =
        p->options.limits.memory < SIZE_MAX ? (size_t)p->options.limits.memory : SIZE_MAX;
    eval_trace_begin(&ev, &trace);
    struct literal *result = run_entry(&ev, args, a);
    eval_trace_end(&ev);
    s->peak = ev.pool.peak;
    eval_end(&ev);
    if (s->reserve)
        reserve_trim(s->reserve, IDLE_BETWEEN_RUNS);
    return result;
}
