/*
 * trace.c: traced runs: a callback before and after each instruction, with its operands and its
 * value, which the callback may replace.
 */
#include "eval/eval_priv.h"

/* ---- names ---- */

static struct value *value_of(struct eval *ev, int at)
{
    return at >= 0 ? &ev->frame[at] : &ev->constants[~at];
}

bool eval_rename(struct eval *ev, const struct step *s)
{
    for (int r = 0; r < s->result_count; r++)
        if (s->results[r] != NO_VALUE)
            value_share(
                &ev->frame[s->results[r]],
                value_of(ev, s->aliases[r] < 0 ? s->aliases[r] : s->operands[s->aliases[r]]));
    return true;
}

/* ---- values of trace events ---- */

/* Copies a value for the callback to `copy`: dense, with the dimensions of its shape. */
static const struct shape *show_array(struct eval *ev, const struct value *v, struct value *copy,
                                      const struct shape *s)
{
    value_share(copy, v);
    s = eval_fit_outside(ev, copy, s, &ev->trace->arena);
    return s && value_make_dense(ev, copy, false) ? s : NULL;
}

static const struct shape *no_shape(struct eval *ev)
{
    return shape_tuple(&ev->trace->arena, 0, NULL);
}

/* The leaves from `at` on, and the locations of their copies, in the same order. */
struct showing {
    struct trace_event *trace_event;
    const int *at;
    struct value *copies;
    bool ok;
};

static struct literal *show(struct showing *w, const struct shape *s)
{
    struct eval *ev = w->trace_event->eval;
    struct arena *a = &ev->trace->arena;
    if (shape_is_tuple(s)) {
        struct literal **elements = ARENA_ARRAY(a, struct literal *, s->count);
        for (int k = 0; k < s->count; k++)
            elements[k] = show(w, s->elements[k]);
        return literal_tuple(a, elements, s->count);
    }
    struct literal *l = ARENA_NEW(a, struct literal);
    const int at = *w->at++;
    struct value *copy = w->copies++;
    if (at == NO_VALUE || !w->ok || value_of(ev, at)->absent) {
        l->shape = no_shape(ev);
        return l;
    }
    const struct shape *shape = show_array(ev, value_of(ev, at), copy, s);
    w->ok = shape != NULL;
    l->shape = w->ok ? shape : no_shape(ev);
    l->data = w->ok ? copy->view.data : NULL;
    return l;
}

static int leaf_count_of(const struct step *s, int operand)
{
    return operand == TRACE_VALUE ? s->result_count : s->starts[operand + 1] - s->starts[operand];
}

static void drop_copies(struct trace_event *s, int operand)
{
    struct value *copies = s->copies[operand - TRACE_VALUE];
    for (int k = 0; copies && k < leaf_count_of(s->step, operand); k++)
        value_drop(s->eval, &copies[k]);
}

struct literal *eval_event_value(struct trace_event *s, int operand)
{
    const struct step *step = s->step;
    const bool value = operand == TRACE_VALUE;
    struct value **copies = &s->copies[operand - TRACE_VALUE];
    drop_copies(s, operand);
    if (!*copies)
        *copies = ARENA_ARRAY(&s->eval->scratch, struct value, leaf_count_of(step, operand));
    struct showing w = {s, value ? step->results : step->operands + step->starts[operand], *copies,
                        true};
    struct literal *l = show(&w, value ? step->inst->shape : step->inst->operands[operand]->shape);
    s->failed |= !w.ok;
    return w.ok ? l : NULL;
}

static bool set_array(struct eval *ev, const struct literal *l, const struct shape *s,
                      struct value *to)
{
    int64_t bytes;
    if (!value_new(ev, to, l->shape->dtype, l->shape->rank, l->shape->dims))
        return false;
    if (shape_bytes(l->shape, &bytes) && bytes > 0)
        memcpy(to->view.data, l->data, (size_t)bytes);
    value_fit(to, s, false);
    return true;
}

/* Sets the leaves of a shape to the values of a literal. */
static bool set_leaves(struct trace_event *s, const struct literal *l, const struct shape *shape,
                       struct value **next)
{
    if (!shape_is_tuple(shape)) {
        struct value *to = (*next)++;
        return !shape_is_array(shape) || shape_is_tuple(l->shape) ||
               set_array(s->eval, l, shape, to);
    }
    for (int k = 0; k < shape->count; k++)
        if (!set_leaves(s, l->elements[k], shape->elements[k], next))
            return false;
    return true;
}

static void take_given(struct eval *ev, const struct step *step, struct value *given)
{
    for (int r = 0; r < step->result_count; r++)
        if (step->results[r] == NO_VALUE) {
            value_drop(ev, &given[r]);
        } else {
            value_drop(ev, &ev->frame[step->results[r]]);
            value_move(&ev->frame[step->results[r]], &given[r]);
        }
}

static void drop_given(struct trace_event *s)
{
    for (int r = 0; r < s->step->result_count && s->given; r++)
        value_drop(s->eval, &s->given[r]);
    s->given = NULL;
}

bool eval_event_replace(struct trace_event *s, const struct literal *l)
{
    struct value *given = ARENA_ARRAY(&s->eval->trace->arena, struct value, s->step->result_count),
                 *next = given;
    drop_given(s);
    s->eval->trace->replaced = true;
    s->given = given;
    s->failed |= !set_leaves(s, l, s->step->inst->shape, &next);
    if (s->failed)
        drop_given(s);
    if (s->done && s->given) {
        take_given(s->eval, s->step, s->given);
        s->given = NULL;
    }
    return !s->failed;
}

/* ---- the run ---- */

static bool tell(struct trace_event *s,
                 bool (*trace_callbacks)(void *context, struct trace_event *s))
{
    struct eval *ev = s->eval;
    if (!trace_callbacks)
        return true;
    const int64_t start = now_ns();
    struct arena_mark mark = arena_mark(&ev->scratch);
    s->copies =
        ARENA_ARRAY(&ev->scratch, struct value *, s->step->inst->operand_count - TRACE_VALUE);
    bool go = trace_callbacks(ev->trace->trace_callbacks->context, s);
    for (int k = TRACE_VALUE; k < s->step->inst->operand_count; k++)
        drop_copies(s, k);
    arena_release(&ev->scratch, mark);
    ev->trace->spent += now_ns() - start;
    if (s->failed)
        return eval_no_memory(ev, s->step, s->step->inst->shape);
    if (!go && ev->state->budget.hit == LIMIT_NONE)
        ev->state->budget.hit = LIMIT_STOPPED;
    return go;
}

static void release(struct eval *ev, const struct step *s)
{
    for (int j = 0; j < s->release_count; j++)
        value_drop(ev, &ev->frame[s->release[j]]);
}

/* Runs the steps of one instruction; `s->step` is the last of them, and reads all operands of the
 * instruction. */
static bool run(struct trace_event *s, const struct function *f, const struct step *first)
{
    struct eval *ev = s->eval;
    struct trace *all = ev->trace;
    const int64_t spent = all->spent, start = now_ns();
    for (const struct step *at = first; at <= s->step; at++) {
        VEC_PUSH(&all->nesting, all->within, all->depth, all->capacity) =
            (struct within){.inst = at->inst};
        bool ok = eval_next_step(ev, f, at);
        all->depth--;
        if (!ok)
            return false;
        if (at < s->step)
            release(ev, at);
    }
    s->ns = s->step->aliases && first == s->step ? 0 : now_ns() - start - (all->spent - spent);
    return true;
}

/* Whether the instruction has results, and all of them are absent. */
static bool is_absent(struct eval *ev, const struct step *s)
{
    bool any = false;
    for (int r = 0; r < s->result_count; r++) {
        if (s->results[r] != NO_VALUE && !value_of(ev, s->results[r])->absent)
            return false;
        any |= s->results[r] != NO_VALUE;
    }
    return any;
}

static bool show_inst(struct eval *ev, const struct function *f, const struct step *first,
                      const struct step *last)
{
    struct trace *all = ev->trace;
    const struct trace_callbacks *o = all->trace_callbacks;
    struct arena_mark mark = arena_mark(&all->arena);
    struct trace_event s = {.step = last,
                            .participant = eval_self(ev),
                            .number = all->shown++,
                            .depth = (int)all->depth,
                            .within = all->within,
                            .eval = ev};
    bool ok = tell(&s, o->before);
    if (!ok)
        drop_given(&s);
    else if (s.given)
        take_given(ev, last, s.given);
    else
        ok = run(&s, f, first);
    s.given = NULL;
    s.done = true;
    s.within = all->within;
    ok = ok && tell(&s, is_absent(ev, last) ? o->skipped : o->after);
    if (ok)
        release(ev, last);
    arena_release(&all->arena, mark);
    return ok;
}

bool eval_traced(struct eval *ev, const struct function *f)
{
    for (int k = 0; k < f->step_count; k++) {
        const struct step *first = &f->steps[k];
        eval_at_step(ev, f, first);
        while (f->steps[k].continues)
            k++;
        if (!show_inst(ev, f, first, &f->steps[k]))
            return false;
    }
    return true;
}

void eval_trace_begin(struct eval *ev, struct trace *s)
{
    if (!ev->state->trace_callbacks)
        return;
    *s = (struct trace){.trace_callbacks = ev->state->trace_callbacks};
    arena_init(&s->arena);
    arena_init(&s->nesting);
    ev->trace = s;
}

void eval_trace_end(struct eval *ev)
{
    if (!ev->trace)
        return;
    arena_free(&ev->trace->arena);
    arena_free(&ev->trace->nesting);
    ev->trace = NULL;
}
