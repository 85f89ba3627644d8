/*
 * function.c: runs planned functions: step after step, with values in the slots of a frame, and
 * hoisted steps as plan/hoist.c has marked them.
 */
#include "eval/eval_priv.h"

static eval_family_fn *const families[FAMILY_COUNT] = {
#define X(name, flags) eval_##name,
    FAMILIES(X)
#undef X
};

/* Tuples, parameters, constants and barriers are aliases of values; they become steps only where
 * they cannot be run. */
bool eval_tuple(struct eval *ev, const struct step *s) { return eval_unsupported(ev, s); }

/* Batch normalizations of floats are planned as several steps. */
bool eval_batchnorm(struct eval *ev, const struct step *s) { return eval_unsupported(ev, s); }

/* ---- values ---- */

void value_drop(struct eval *ev, struct value *v)
{
    if (v->buffer)
        pool_drop(&ev->pool, v->buffer);
    v->buffer = NULL;
}

static void copy_value(struct value *to, const struct value *from)
{
    to->buffer = from->buffer;
    if (!to->buffer)
        return;
    to->bounds = from->bounds;
    to->padded = from->padded;
    to->absent = from->absent;
    view_copy(&to->view, &from->view);
}

void value_move(struct value *to, struct value *from)
{
    copy_value(to, from);
    from->buffer = NULL;
}

void value_share(struct value *to, const struct value *from)
{
    copy_value(to, from);
    if (to->buffer)
        to->buffer->refs++;
}

bool value_new(struct eval *ev, struct value *v, enum dtype t, int rank, const int64_t *dims)
{
    int64_t size;
    const bool fits = dims_product((int64_t)dtype_bytes(t), rank, dims, &size);
    v->buffer = fits ? pool_take(&ev->pool, (size_t)size) : NULL;
    if (!v->buffer)
        return false;
    v->bounds = NULL;
    v->padded = false;
    v->absent = false;
    view_dense(&v->view, t, rank, dims, v->buffer->data);
    return true;
}

/* ---- dead steps (plan/used.c) ----
 *
 * XLA removes them, so a run must not depend on whether they can be executed: one that fails leaves
 * its results absent. User code is not called for them. */

static bool is_left_out(struct eval *ev, const struct step *s)
{
    const struct call_step *call = step_call(s);
    if (call && (call->foreign.entry || call->fallback.entry))
        return true;
    for (int k = 0; k < s->operand_count; k++)
        if (s->operands[k] != NO_VALUE && eval_operand(ev, s, k)->absent)
            return true;
    return false;
}

static bool leave_absent(struct eval *ev, const struct step *s)
{
    for (int r = 0; r < s->result_count; r++) {
        if (s->results[r] == NO_VALUE)
            continue;
        struct value *v = &ev->frame[s->results[r]];
        value_drop(ev, v);
        if (!eval_clear(ev, s, r))
            return false;
        v->absent = true;
    }
    return true;
}

/* Whether the diagnostics of a failure mean that the step itself could not be executed. */
static bool is_own_failure(const struct eval *ev, const struct diags *messages)
{
    for (const struct diag *d = messages->first; d; d = d->next)
        if (d->msg == MSG_OUT_OF_MEMORY)
            return false;
    return messages->errors > 0 && ev->state->budget.hit == LIMIT_NONE;
}

/* Runs a dead step. If it fails, its results are absent and the run continues, except at a limit of
 * the run, out of memory, or when another participant has ended it. They are absent, too, where an
 * operand is, and instead of a call of user code. */
static bool run_unused(struct eval *ev, const struct step *s, eval_family_fn *run)
{
    struct diags messages, *ds = ev->ds;
    if (is_left_out(ev, s))
        return leave_absent(ev, s);
    diags_init(&messages, ds->source);
    ev->ds = &messages;
    bool ok = run(ev, s), absent = !ok && is_own_failure(ev, &messages);
    ev->ds = ds;
    if (!absent)
        diags_copy(ds, &messages);
    diags_free(&messages);
    return ok || (absent && leave_absent(ev, s));
}

bool value_make_dense(struct eval *ev, struct value *v, bool change)
{
    struct value copy;
    bool own = !change || (v->buffer->refs == 1 && v->buffer->class != POOL_BORROWED);
    if (own && view_is_dense(&v->view))
        return true;
    if (!value_new(ev, &copy, v->view.dtype, v->view.rank, v->view.dims))
        return false;
    EVAL_RUN(ev, copy, ev->workers, &copy.view, &v->view);
    value_drop(ev, v);
    value_move(v, &copy);
    return true;
}

/* ---- functions ---- */

static struct value *frame_of(struct eval *ev, const struct function *f)
{
    struct value **frame = &ev->pool.frames[f->index];
    if (!*frame)
        *frame = ARENA_ARRAY(&ev->pool.headers, struct value, f->slot_count);
    return *frame;
}

static bool run_step(struct eval *ev, const struct step *s)
{
    eval_family_fn *run = step_fused(s) ? eval_fused : families[op_table[s->inst->opcode].family];
    return ev->p->dynamic && !eval_is_dry_run(ev) ? eval_sized(ev, s, run) : run(ev, s);
}

bool eval_step(struct eval *ev, const struct step *s)
{
    if (s->aliases)
        return eval_rename(ev, s);
    return s->unused && !eval_is_dry_run(ev) ? run_unused(ev, s, run_step) : run_step(ev, s);
}

static bool reported_step(struct eval *ev, const struct function *f, const struct step *s)
{
    const struct step_callbacks *w = ev->state->step_callbacks;
    if (eval_is_dry_run(ev))
        return dry_run_step(ev, f, s);
    w->begin(w->context, f, s);
    bool ok = eval_step(ev, s);
    w->end(w->context, f, s);
    return ok;
}

/* The first step that is not done yet; results of earlier steps are in their slots. */
static int first_step(const struct eval *ev, const struct function *f)
{
    uint8_t done = ev->done[f->index];
    return done == HOIST_LOOP ? f->loop_steps : done == HOIST_RUN ? f->hoisted_steps : 0;
}

bool eval_next_step(struct eval *ev, const struct function *f, const struct step *s)
{
    if (!budget_inst(&ev->state->budget))
        return eval_limit(ev, s);
    return ev->reports_steps ? reported_step(ev, f, s) : eval_step(ev, s);
}

static bool run_range(struct eval *ev, const struct function *f, int from, int to)
{
    for (int k = from; k < to; k++) {
        const struct step *s = &f->steps[k];
        eval_at_step(ev, f, s);
        if (!eval_next_step(ev, f, s))
            return false;
        for (int j = 0; j < s->release_count; j++)
            value_drop(ev, &ev->frame[s->release[j]]);
    }
    return true;
}

/* Drops the values that functions have kept in this run: the next run recomputes them when it calls
 * them. */
static void forget_functions(struct eval *ev)
{
    const struct program *p = ev->p;
    for (int k = 0; k < p->function_count; k++) {
        struct value *frame = p->functions[k] == p->entry ? NULL : ev->pool.frames[k];
        for (int j = 0; frame && j < p->functions[k]->slot_count; j++)
            value_drop(ev, &frame[j]);
        if (frame)
            ev->done[k] = HOIST_NOT;
    }
}

static bool run_kept_steps(struct eval *ev)
{
    const struct function *f = ev->p->entry;
    struct kept *kept = &ev->state->kept;
    struct budget *b = &ev->state->budget;
    if (first_step(ev, f) > 0) {
        budget_charge(b, kept->steps);
        if (ev->pool.peak < kept->peak)
            ev->pool.peak = kept->peak;
        return true;
    }
    uint64_t left = budget_left(b);
    if (!run_range(ev, f, 0, f->hoisted_steps))
        return false;
    ev->done[f->index] = HOIST_RUN;
    forget_functions(ev);
    if (!eval_is_dry_run(ev))
        *kept = (struct kept){.there = true, .steps = left - budget_left(b), .peak = ev->pool.peak};
    return true;
}

bool eval_keep(struct eval *ev)
{
    struct value *caller = ev->frame;
    ev->frame = frame_of(ev, ev->p->entry);
    bool ok = run_kept_steps(ev);
    ev->frame = caller;
    return ok;
}

void eval_borrow_kept(struct eval *ev, const struct run_state *from)
{
    const struct function *f = ev->p->entry;
    struct value *frame = frame_of(ev, f);
    for (int k = 0; k < f->run_cached_count; k++) {
        const int slot = f->run_cached[k];
        copy_value(&frame[slot], &from->pool->frames[f->index][slot]);
        frame[slot].buffer = pool_borrow(&ev->pool, frame[slot].buffer->data, 0);
    }
    ev->state->kept = from->kept;
}

static bool run_steps(struct eval *ev, const struct function *f)
{
    if (ev->trace)
        return eval_traced(ev, f);
    if (f == ev->p->entry && f->hoisted_steps > 0 && !run_kept_steps(ev))
        return false;
    if (!run_range(ev, f, first_step(ev, f), f->step_count))
        return false;
    ev->done[f->index] = HOIST_LOOP;
    return true;
}

/* Called at the end of a run of the loop. */
static void forget_loop(struct eval *ev, const struct function *f)
{
    if (ev->done[f->index] == HOIST_LOOP)
        ev->done[f->index] = HOIST_RUN;
    for (int k = 0; k < f->loop_cached_count; k++)
        value_drop(ev, &ev->pool.frames[f->index][f->loop_cached[k]]);
}

static bool passes(const struct function *f, int leaf) { return f->passes && f->passes[leaf]; }

static void take_results(struct eval *ev, const struct function *f, bool loop,
                         struct value *results)
{
    for (int k = 0; k < f->result_count; k++) {
        int at = f->results[k];
        if (loop && passes(f, k))
            continue;
        if (at == NO_VALUE)
            results[k].buffer = NULL;
        else if (at < 0)
            value_share(&results[k], &ev->constants[~at]);
        else if (f->result_moves[k])
            value_move(&results[k], &ev->frame[at]);
        else
            value_share(&results[k], &ev->frame[at]);
    }
}

static bool run_function(struct eval *ev, const struct function *f, bool loop, struct value *args,
                         struct value *results)
{
    struct value *caller = ev->frame, *frame = frame_of(ev, f);
    for (int k = 0; k < f->param_count; k++)
        if (loop && passes(f, k))
            continue;
        else if (f->params[k] == NO_VALUE)
            value_drop(ev, &args[k]);
        else
            value_move(&frame[f->params[k]], &args[k]);
    ev->frame = frame;
    bool ok = run_steps(ev, f);
    if (ok)
        take_results(ev, f, loop, results);
    ev->frame = caller;
    return ok;
}

bool eval_function(struct eval *ev, const struct function *f, struct value *args,
                   struct value *results)
{
    bool ok = run_function(ev, f, false, args, results);
    if (ok)
        forget_loop(ev, f);
    return ok;
}

void eval_enter_loop(struct eval *ev, const struct function *body, struct value *state,
                     struct value **at)
{
    struct value *frame = frame_of(ev, body);
    for (int k = 0; k < body->param_count; k++) {
        at[k] = passes(body, k) ? &frame[body->params[k]] : &state[k];
        if (passes(body, k))
            value_move(at[k], &state[k]);
    }
}

bool eval_iterate(struct eval *ev, const struct function *body, struct value *state)
{
    return run_function(ev, body, true, state, state);
}

void eval_leave_loop(struct eval *ev, const struct function *body, struct value *state)
{
    for (int k = 0; k < body->param_count; k++)
        if (passes(body, k))
            value_move(&state[k], &ev->pool.frames[body->index][body->params[k]]);
    forget_loop(ev, body);
}
