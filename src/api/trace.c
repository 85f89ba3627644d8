/*
 * Public interface: traced runs. Events of instructions and their callbacks.
 */
#include "api/api.h"

#include "eval/eval.h"

#include <pthread.h>

/* The callbacks of a program, for all its participants. */
struct tracer {
    const hlo_module *module;
    hlo_listing *listing;
    struct hlo_trace_callbacks user;
    bool ours; /* callbacks of the library itself: they run in the out-of-memory scope of the run,
                  which owns their memory */
    struct trace_callbacks trace_callbacks; /* in the form of eval */
    pthread_mutex_t lock;                   /* held while callbacks of the caller run */
    struct arena arena;
    struct hlo_within *within;
    size_t count, capacity;
};

struct tracer *hlo_tracer_new(const hlo_module *module)
{
    struct tracer *o = heap_zalloc(1, sizeof *o);
    o->module = module;
    o->listing = hlo_list(module);
    pthread_mutex_init(&o->lock, NULL);
    arena_init(&o->arena);
    return o;
}

void hlo_tracer_free(struct tracer *o)
{
    if (!o)
        return;
    hlo_listing_free(o->listing);
    pthread_mutex_destroy(&o->lock);
    arena_free(&o->arena);
    heap_free(o);
}

/* ---- events ---- */

struct event_value {
    hlo_literal *value;
    struct event_value *next;
    int operand;
};

/* Frees the handle only; the value belongs to the run. */
static void free_handle(hlo_literal *h)
{
    arena_free(&h->arena);
    heap_free(h);
}

static const hlo_literal *look(struct event_state *w, int operand)
{
    for (struct event_value *g = w->given; g; g = g->next)
        if (g->operand == operand)
            return g->value;
    struct literal *l = eval_event_value(w->trace_event, operand);
    if (!l)
        return NULL;
    struct event_value *g = heap_zalloc(1, sizeof *g);
    *g = (struct event_value){hlo_literal_end(hlo_literal_begin(), l), w->given, operand};
    w->given = g;
    return g->value;
}

const hlo_literal *hlo_event_operand(const struct hlo_event *s, size_t k)
{
    OOM_SCOPE(NULL);
    struct event_state *w = s->run;
    return k < (size_t)w->trace_event->step->inst->operand_count ? look(w, (int)k) : NULL;
}

const hlo_literal *hlo_event_value(const struct hlo_event *s)
{
    OOM_SCOPE(NULL);
    struct event_state *w = s->run;
    return w->trace_event->done ? look(w, TRACE_VALUE) : NULL;
}

/* Whether a value fits a shape; tokens are represented by empty tuples. */
static bool fits(const struct shape *requested, const struct shape *given)
{
    if (!shape_is_tuple(requested))
        return shape_is_array(requested) ? eval_fits(requested, given)
                                         : shape_is_tuple(given) && given->count == 0;
    bool ok = shape_is_tuple(given) && given->count == requested->count;
    for (int k = 0; k < requested->count && ok; k++)
        ok = fits(requested->elements[k], given->elements[k]);
    return ok;
}

bool hlo_event_set(const struct hlo_event *s, const hlo_literal *l, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), false));
    struct event_state *w = s->run;
    const struct inst *i = w->trace_event->step->inst;
    struct diags *ds = hlo_sink_of_name(m, "<value>", STR(""));
    if (!fits(i->shape, l->l->shape)) {
        struct str why =
            arena_printf(&ds->arena, "'" STR_FMT "' is " STR_FMT "; " STR_FMT " does not match",
                         STR_ARG(i->name), STR_ARG(shape_text(&ds->arena, i->shape)),
                         STR_ARG(shape_text(&ds->arena, l->l->shape)));
        return DIAG_ERROR(ds, NO_SPAN, FAILURE, why.ptr);
    }
    for (struct event_value *g = w->given; g; g = g->next)
        if (g->operand == TRACE_VALUE)
            g->operand = INT_MIN; /* outdated: the value is read again when requested */
    return eval_event_replace(w->trace_event, l->l) ||
           DIAG_ERROR(ds, NO_SPAN, FAILURE, "out of memory for the value");
}

/* ---- callbacks ---- */

static const struct hlo_within *within_of(struct tracer *o, const struct trace_event *s)
{
    o->count = 0;
    for (int k = 0; k < s->depth; k++)
        VEC_PUSH(&o->arena, o->within, o->count, o->capacity) = (struct hlo_within){
            hlo_listing_number(o->listing, s->within[k].inst), s->within[k].iteration};
    return o->within;
}

static void unlock(void *lock) { pthread_mutex_unlock(lock); }

static bool call_back(struct tracer *o, struct trace_event *s,
                      bool (*user)(void *context, const struct hlo_event *s))
{
    struct event_state w = {s, o->module, o->listing, NULL};
    if (!user)
        return true;
    struct cleanup unlocking;
    pthread_mutex_lock(&o->lock);
    oom_push_cleanup(&unlocking, unlock, &o->lock);
    struct hlo_event event = {
        .inst = hlo_listing_number(o->listing, s->step->inst),
        .participant = (size_t)s->participant,
        .number = s->number,
        .seconds = (double)s->ns * 1e-9,
        .depth = (size_t)s->depth,
        .within = within_of(o, s),
        .run = &w,
    };
    bool before = !o->ours && oom_begin_callback(), go = user(o->user.context, &event);
    if (!o->ours)
        oom_end_callback(before);
    oom_pop_cleanup(&unlocking);
    pthread_mutex_unlock(&o->lock);
    for (struct event_value *g = w.given, *next; g; g = next) {
        next = g->next;
        free_handle(g->value);
        heap_free(g);
    }
    return go;
}

static bool before(void *context, struct trace_event *s)
{
    struct tracer *o = context;
    return call_back(o, s, o->user.before);
}

static bool after(void *context, struct trace_event *s)
{
    struct tracer *o = context;
    return call_back(o, s, o->user.after);
}

static bool skipped(void *context, struct trace_event *s)
{
    struct tracer *o = context;
    return call_back(o, s, o->user.skipped);
}

bool hlo_trace(hlo_program *p, const struct hlo_trace_callbacks *user)
{
    struct tracer *o = p->tracer;
    struct hlo_trace_callbacks given;
    if (!o || !hlo_options_copy(&given, sizeof given, user, NULL))
        return false;
    o->ours = false;
    o->user = given;
    o->trace_callbacks = (struct trace_callbacks){o, user && user->before ? before : NULL,
                                                  user && user->after ? after : NULL,
                                                  given.skipped ? skipped : NULL};
    for (size_t k = 0; k < p->count; k++)
        if (p->states[k])
            p->states[k]->trace_callbacks = user ? &o->trace_callbacks : NULL;
    return true;
}

void hlo_trace_within(hlo_program *p, const struct hlo_trace_callbacks *ours)
{
    hlo_trace(p, ours);
    p->tracer->ours = true;
}
