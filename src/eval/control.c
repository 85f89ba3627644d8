/*
 * control.c: control flow: calls, branches and loops, as functions or as scalar code.
 */
#include "eval/eval_priv.h"

/* ---- scalar code steps and calls ---- */

struct scalar_frame *eval_scalar_frame(struct eval *ev, const struct scalar_code *code)
{
    struct scalar_frame **f = &ev->pool.scalar_frames[code->number];
    if (!*f)
        *f = scalar_frame_new(&ev->pool.headers, code, &ev->state->scalar_run);
    return *f;
}

static void keep_results(struct eval *ev, const struct step *s, struct value *values)
{
    for (int r = 0; r < s->result_count; r++)
        if (s->results[r] != NO_VALUE)
            value_move(&ev->frame[s->results[r]], &values[r]);
}

bool eval_call(struct eval *ev, const struct step *s, const struct function *f, int first)
{
    int n = f->param_count > f->result_count ? f->param_count : f->result_count;
    struct arena_mark mark = arena_mark(&ev->scratch);
    struct value *values = ARENA_ARRAY(&ev->scratch, struct value, n);
    for (int k = 0; k < f->param_count; k++)
        eval_hand_over(ev, s, first + k, &values[k]);
    bool ok = eval_function(ev, f, values, values);
    if (ok)
        keep_results(ev, s, values);
    arena_release(&ev->scratch, mark);
    return ok;
}

/* The result that is the large array `arg`, updated in place by the scalar code; or -1. */
static int changed_result(const struct scalar_code *c, int arg)
{
    for (int r = 0; r < c->result_count; r++)
        if (c->results[r].large && c->results[r].arg == arg)
            return r;
    return -1;
}

/* An operand in a form that scalar code can read, and write if it updates it. NULL with a message.
 */
static const struct view *scalar_operand(struct eval *ev, const struct step *s, int k,
                                         struct value *made)
{
    const struct scalar_code *c = s->as.scalar;
    enum dtype t = eval_view(ev, s, k)->dtype;
    made->buffer = NULL;
    if (!c->args[k].large || !c->args[k].written)
        return eval_dense(ev, s, k, t, made);
    int r = changed_result(c, k);
    return r >= 0 ? eval_update(ev, s, r, k) : eval_own(ev, s, k, made);
}

/* Sets the address of a result; large arrays are already in place. */
static bool scalar_result(struct eval *ev, const struct step *s, int r, void **at)
{
    const struct scalar_slot *slot = &s->as.scalar->results[r];
    struct value *out = &ev->frame[s->results[r]];
    int first = slot->large && slot->written ? changed_result(s->as.scalar, slot->arg) : r;
    if (!slot->large) {
        const struct view *v = eval_result(ev, s, r);
        *at = v ? v->data : NULL;
        return v != NULL;
    }
    if (!slot->written)
        value_share(out, eval_operand(ev, s, slot->arg));
    else if (first != r)
        value_share(out, &ev->frame[s->results[first]]);
    return true;
}

/* Runs the whole step as scalar code. */
static bool run_scalar(struct eval *ev, const struct step *s)
{
    struct arena_mark mark = arena_mark(&ev->scratch);
    const void **args = ARENA_ARRAY(&ev->scratch, const void *, s->operand_count);
    void **results = ARENA_ARRAY(&ev->scratch, void *, s->result_count);
    struct value *made = ARENA_ARRAY(&ev->scratch, struct value, s->operand_count);
    bool ok = true;
    for (int k = 0; k < s->operand_count && ok; k++) {
        if (s->operands[k] == NO_VALUE)
            continue;
        const struct view *x = scalar_operand(ev, s, k, &made[k]);
        ok = x != NULL;
        args[k] = ok ? x->data : NULL;
    }
    for (int r = 0; r < s->result_count && ok; r++)
        ok = s->results[r] == NO_VALUE || scalar_result(ev, s, r, &results[r]);
    unsigned errors = ev->ds->errors;
    if (ok && !eval_is_dry_run(ev) &&
        !scalar_call(eval_scalar_frame(ev, s->as.scalar), args, results))
        ok = eval_kernel_failed(ev, s, errors);
    for (int k = 0; k < s->operand_count; k++)
        value_drop(ev, &made[k]);
    arena_release(&ev->scratch, mark);
    return ok;
}

bool eval_small_step(void *run, const struct scalar_step *t)
{
    struct eval *ev = run;
    const struct step *s = t->step;
    struct arena_mark mark = arena_mark(&ev->scratch);
    struct value *caller = ev->frame;
    int n = s->operand_count, all = n + s->result_count;
    bool done, called = eval_small_lapack(ev, t, &done);
    if (done)
        return called;
    ev->frame = ARENA_ARRAY(&ev->scratch, struct value, all);
    for (int k = 0; k < n; k++) {
        ev->frame[k].buffer = pool_borrow(&ev->pool, t->args[k].data, 0);
        view_copy(&ev->frame[k].view, &t->args[k]);
    }
    bool ok = eval_step(ev, s);
    for (int r = 0; r < s->result_count && ok; r++)
        EVAL_RUN(ev, copy, NULL, &t->results[r], &ev->frame[n + r].view);
    for (int k = 0; k < all; k++)
        value_drop(ev, &ev->frame[k]);
    ev->frame = caller;
    arena_release(&ev->scratch, mark);
    return ok;
}

static bool conditional(struct eval *ev, const struct step *s)
{
    if (eval_is_dry_run(ev))
        return dry_run_branches(ev, s);
    const struct view *chooser = eval_view(ev, s, 0);
    int branch = chooser->dtype == DT_PRED ? *chooser->data == 0 : -1;
    if (branch < 0) {
        int64_t i = kern_load_index(chooser->dtype, chooser->data);
        branch = i < 0 || i >= s->callee_count ? s->callee_count - 1 : (int)i;
    }
    return eval_call(ev, s, s->callees[branch], s->starts[branch + 1]);
}

/* ---- loops ---- */

struct loop {
    const struct function *condition, *body;
    struct value *state, *shared; /* `shared`: the values passed to the condition */
    struct value **at;            /* by part of the state: where its value is */
    const void **addresses;       /* their addresses, for a condition in scalar code */
    struct cycle cycle;           /* its termination is NULL where no detection is needed */
    struct cycle_clock clock;
};

/* ---- loops that cannot end ---- */

static bool infinite(struct eval *ev, const struct inst *i, const struct termination *t)
{
    const struct step at = {.inst = i};
    return t->known == ENDS_NEVER ? EVAL_FAIL(ev, &at, INFINITE_CONDITION, STR_ARG(i->name))
                                  : EVAL_FAIL(ev, &at, INFINITE_CYCLE, STR_ARG(i->name));
}

/* Loops with the same body and condition share one scalar code, which names one of them. */
void eval_report_infinite(void *run, const struct termination *t) { infinite(run, t->loop, t); }

/* A callback that replaces values may end any loop. */
static const struct termination *termination_of(const struct eval *ev, const struct step *s)
{
    return eval_is_dry_run(ev) || (ev->trace && ev->trace->replaced) ? NULL : s->as.termination;
}

/* Called at the start of an iteration; false with a message when the loop cannot end. */
static bool may_end(struct eval *ev, const struct step *s)
{
    const struct termination *t = termination_of(ev, s);
    return !t || t->known != ENDS_NEVER || infinite(ev, s->inst, t);
}

static void begin_cycle(struct eval *ev, const struct step *s, struct loop *l)
{
    const struct termination *t = termination_of(ev, s);
    if (!t || t->known != ENDS_UNLESS_CYCLE)
        return;
    l->cycle.termination = t;
    l->cycle.parts = ARENA_ARRAY(&ev->scratch, struct scalar_view, t->count);
}

/* Called after an iteration; false with a message when the state has recurred. */
static bool look_for_cycle(struct eval *ev, const struct step *s, struct loop *l)
{
    struct cycle *c = &l->cycle;
    const struct termination *t = c->termination;
    if (!t || !cycle_is_due(&l->clock, c) || !termination_of(ev, s))
        return true;
    c->part_count = 0;
    for (int k = 0; k < t->count; k++) {
        const struct value *v = l->at[t->leaves[k]];
        if (!v->buffer)
            continue;
        if (v->padded) { /* a larger size may expose elements that are hidden now */
            c->termination = NULL;
            return true;
        }
        view_copy(&c->parts[c->part_count++].view, &v->view);
    }
    return !cycle_visit(c) || infinite(ev, s->inst, t);
}

/* ---- running them ---- */

/* Evaluates the condition as scalar code, which needs contiguous arguments. */
static bool test_scalar(struct eval *ev, const struct loop *l, bool *go)
{
    const struct scalar_code *code = l->condition->code;
    uint8_t answer = 0;
    void *result = &answer;
    for (int k = 0; k < code->arg_count; k++) {
        struct value *v = l->at[k];
        if (code->args[k].at && !value_make_dense(ev, v, false))
            return false;
        l->addresses[k] = v->view.data;
    }
    bool ok =
        eval_is_dry_run(ev) || scalar_call(eval_scalar_frame(ev, code), l->addresses, &result);
    *go = answer != 0;
    return ok;
}

static bool test(struct eval *ev, const struct loop *l, bool *go)
{
    const struct function *f = l->condition;
    if (f->code)
        return test_scalar(ev, l, go);
    for (int k = 0; k < f->param_count; k++)
        if (f->params[k] == NO_VALUE)
            l->shared[k].buffer = NULL;
        else
            value_share(&l->shared[k], l->at[k]);
    if (!eval_function(ev, f, l->shared, l->shared))
        return false;
    *go = *l->shared[0].view.data != 0;
    value_drop(ev, &l->shared[0]);
    return true;
}

static bool run_loop(struct eval *ev, const struct step *s)
{
    int n = s->operand_count;
    struct loop l = {.condition = s->callees[1], .body = s->callees[0]};
    struct dry_run_loop dry_loop = {0};
    begin_cycle(ev, s, &l);
    l.state = ARENA_ARRAY(&ev->scratch, struct value, n);
    l.shared = ARENA_ARRAY(&ev->scratch, struct value, n + 1);
    l.at = ARENA_ARRAY(&ev->scratch, struct value *, n);
    l.addresses = ARENA_ARRAY(&ev->scratch, const void *, n);
    for (int k = 0; k < n; k++)
        eval_hand_over(ev, s, k, &l.state[k]);
    eval_enter_loop(ev, l.body, l.state, l.at);
    bool go;
    for (int64_t trip = 0;; trip++) {
        unsigned errors = ev->ds->errors;
        eval_in_iteration(ev, s, -1);
        if (!test(ev, &l, &go))
            return eval_kernel_failed(ev, s, errors);
        if (eval_is_dry_run(ev))
            go = dry_run_repeats(ev, &dry_loop, l.state, n);
        if (!go)
            break;
        if (!may_end(ev, s))
            return false;
        eval_in_iteration(ev, s, trip);
        if (!eval_trip(ev, trip))
            return eval_limit(ev, s);
        if (!eval_iterate(ev, l.body, l.state))
            return false;
        if (!look_for_cycle(ev, s, &l))
            return false;
    }
    eval_leave_loop(ev, l.body, l.state);
    keep_results(ev, s, l.state);
    return true;
}

static bool loop(struct eval *ev, const struct step *s)
{
    struct arena_mark mark = arena_mark(&ev->scratch);
    bool ok = run_loop(ev, s);
    arena_release(&ev->scratch, mark);
    return ok;
}

/* ---- map ---- */

static bool run_map(struct eval *ev, const struct step *s)
{
    struct bound_body context;
    struct kern_body body = eval_bind(ev, s->bodies, &context);
    struct view *x = eval_views(ev, s, 0, s->operand_count), *out = eval_result(ev, s, 0);
    const void **args = ARENA_ARRAY(&ev->scratch, const void *, s->operand_count);
    int64_t index[VIEW_MAX_RANK] = {0};
    unsigned errors = ev->ds->errors;
    if (!out)
        return false;
    if (eval_is_dry_run(ev) || view_elements(out) == 0)
        return !eval_is_dry_run(ev) || dry_run_body(&body);
    do {
        for (int k = 0; k < s->operand_count; k++)
            args[k] = view_at(&x[k], index);
        void *result = view_at(out, index);
        if (!body.call(body.context, args, &result))
            return eval_kernel_failed(ev, s, errors);
    } while (index_next(out->rank, out->dims, index));
    return true;
}

static bool map(struct eval *ev, const struct step *s)
{
    struct arena_mark mark = arena_mark(&ev->scratch);
    bool ok = run_map(ev, s);
    arena_release(&ev->scratch, mark);
    return ok;
}

bool eval_control(struct eval *ev, const struct step *s)
{
    if (step_scalar(s))
        return run_scalar(ev, s);
    switch (s->inst->opcode) {
    case OP_WHILE: return loop(ev, s);
    case OP_CONDITIONAL: return conditional(ev, s);
    case OP_MAP: return map(ev, s);
    case OP_CUSTOM_CALL: return eval_custom(ev, s);
    default: /* call, fusion, and the asynchronous operations, which run at their start */
        return s->callee_count == 1 ? eval_call(ev, s, s->callees[0], 0) : eval_unsupported(ev, s);
    }
}
