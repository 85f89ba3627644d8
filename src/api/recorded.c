/*
 * The public interface to runs whose values can be asked for afterwards.
 *
 * The first run fills a store. A question for a value that was dropped is first answered "unknown"
 * and noted; then the module runs again for all that was asked for. When an instruction runs several
 * times under the same key (in the condition of a loop), the last time counts.
 */
#include "api/recorded.h"

#include "why/why.h"

enum { USUAL_BUDGET = 1 << 30 };

/* ---- which values are kept ---- */

/* Tuples that only pass values on are not kept: a question for one is led on to what made the component. */
static bool passes_on(const struct inst *i)
{
    switch (i->opcode) {
    case OP_TUPLE:
    case OP_GET_TUPLE_ELEMENT:
    case OP_PARAMETER:
    case OP_WHILE:
    case OP_CALL:
    case OP_FUSION:
    case OP_CONDITIONAL:
    case OP_OPT_BARRIER: return shape_is_tuple(i->shape);
    default: return false;
    }
}

static bool is_argument(const struct hlo_recorded *r, const struct inst *i)
{
    return i->opcode == OP_PARAMETER && i->parent == hlo_listing_module(r->l)->m->entry;
}

static uint64_t bytes_of(const struct hlo_sight *e)
{
    int64_t bytes = 0;
    const hlo_literal *v = hlo_sight_value(e);
    return v && shape_bytes(v->l->shape, &bytes) ? (uint64_t)bytes : 0;
}

/* The first execution of each instruction, tuples and arguments included. */
static void keep_first(struct hlo_recorded *r, const struct hlo_sight *e)
{
    const struct store_key k = {.inst = e->inst};
    if (r->last[e->inst].ran || (r->how.most_each > 0 && bytes_of(e) > r->how.most_each))
        return;
    store_put(&r->store, &k, e);
}

static void keep(struct hlo_recorded *r, const struct hlo_sight *e)
{
    const struct inst *i = hlo_listing_inst(r->l, e->inst);
    const struct store_key k = store_key_of(e);
    if (!passes_on(i) && !is_argument(r, i))
        store_put(&r->store, &k, e);
}

/* ---- the run ---- */

static void note_execution(struct hlo_recorded *r, struct execution *x, const struct hlo_sight *e)
{
    if (e->depth > x->capacity) {
        x->within = ARENA_ARRAY(&r->arena, struct hlo_within, e->depth);
        x->capacity = e->depth;
    }
    x->ran = true;
    x->depth = e->depth;
    if (e->depth > 0)
        memcpy(x->within, e->within, e->depth * sizeof *x->within);
}

/* An iteration is complete when the root of the loop's body has run. */
static void count_iteration(struct hlo_recorded *r, const struct hlo_sight *e)
{
    const struct inst *i = hlo_listing_inst(r->l, e->inst);
    const struct hlo_within *loop = e->depth > 0 ? &e->within[e->depth - 1] : NULL;
    if (!loop || i->parent->root != i || loop->iteration < 0 || hlo_listing_inst(r->l, loop->inst)->opcode != OP_WHILE)
        return;
    const struct store_key k = {loop->inst, 0, e->within, e->depth - 1};
    store_put_iterations(&r->store, &k, loop->iteration + 1);
}

/* Whether this execution is the one looked for. The iterations of the loops around it are listed innermost last. */
static bool is_sought(const struct hlo_recorded *r, const struct hlo_sight *e)
{
    size_t k = r->sought.count;
    if (r->sought.inst != (long)e->inst)
        return false;
    for (size_t d = e->depth; d-- > 0 && k > 0;)
        if (hlo_listing_inst(r->l, e->within[d].inst)->opcode == OP_WHILE && e->within[d].iteration != r->sought.iterations[--k])
            return false;
    return k == 0;
}

/* A loop has 0 iterations until one is counted. */
static bool before(void *context, const struct hlo_sight *e)
{
    struct hlo_recorded *r = context;
    const struct store_key k = store_key_of(e);
    if (e->participant == 0 && hlo_listing_inst(r->l, e->inst)->opcode == OP_WHILE)
        store_put_iterations(&r->store, &k, 0);
    return true;
}

static bool after(void *context, const struct hlo_sight *e)
{
    struct hlo_recorded *r = context;
    r->events = e->number + 1 > r->events ? e->number + 1 : r->events;
    if (e->participant != 0)
        return true;
    if (r->how.first)
        keep_first(r, e);
    else
        keep(r, e);
    if (is_sought(r, e))
        note_execution(r, &r->sought.found, e);
    note_execution(r, &r->last[e->inst], e);
    if (!r->how.first)
        count_iteration(r, e);
    return true;
}

static void begin(const struct hlo_recorded *r, hlo_program *p)
{
    bool whole = guard_call_out();
    if (r->how.begin)
        r->how.begin(r->how.context, p);
    guard_call_in(whole);
}

static void end(void *recorded)
{
    const struct hlo_recorded *r = recorded;
    bool whole = guard_call_out();
    if (r->how.end)
        r->how.end(r->how.context);
    guard_call_in(whole);
}

static bool run(struct hlo_recorded *r, hlo_messages *m)
{
    struct hlo_run_options options = *r->options;
    const struct hlo_observer observer = {r, r->how.first ? NULL : before, after};
    options.observed = true;
    hlo_program *p = hlo_plan(hlo_listing_module(r->l), &options, m);
    if (!p)
        return false;
    const size_t participants = hlo_participants(p);
    hlo_literal **results = heap_zalloc(1, participants * sizeof(hlo_literal *));
    hlo_observe_within(p, &observer);
    struct undo ending;
    begin(r, p);
    guard_undo(&ending, end, r);
    hlo_run_all(p, r->args, r->count, NULL, results, m);
    guard_done(&ending);
    end(r);
    hlo_literals_free(results, participants);
    hlo_program_free(p);
    return true;
}

/* The messages are dropped: they are those of the first run. */
void recorded_run_again(struct hlo_recorded *r)
{
    hlo_messages *m = hlo_messages_new();
    struct undo freeing;
    guard_undo(&freeing, hlo_messages_lost, m);
    store_refill(&r->store);
    run(r, m);
    guard_done(&freeing);
    hlo_messages_free(m);
}

hlo_recorded *hlo_record(const hlo_listing *l, const struct hlo_run_options *options, const hlo_literal *const *args,
                         size_t count, const struct hlo_recording *how, hlo_messages *m)
{
    GUARDED((hlo_messages_no_memory(m), NULL));
    hlo_recorded *r = heap_zalloc(1, sizeof *r);
    *r = (hlo_recorded){.l = l, .options = options, .args = args, .count = count, .sought = {.inst = -1}};
    if (how)
        r->how = *how;
    arena_init(&r->arena);
    store_init(&r->store, l, r->how.most ? r->how.most : USUAL_BUDGET);
    r->last = ARENA_ARRAY(&r->arena, struct execution, hlo_list_count(l) + 1);
    if (run(r, m))
        return r;
    hlo_recorded_free(r);
    return NULL;
}

void hlo_recorded_free(hlo_recorded *r)
{
    if (!r)
        return;
    store_free(&r->store);
    arena_free(&r->arena);
    heap_free(r);
}

/* ---- questions ---- */

void recorded_forget(void *recorded)
{
    struct hlo_recorded *r = recorded;
    store_drop_all(&r->store);
    r->sought.inst = -1;
}

/* What the tree asks. */
static const hlo_literal *value(void *context, size_t inst, const struct hlo_within *within, size_t depth)
{
    struct hlo_recorded *r = context;
    const struct inst *i = hlo_listing_inst(r->l, inst);
    const struct store_key k = {inst, 0, within, depth};
    if (is_argument(r, i))
        return (size_t)i->number < r->count ? r->args[i->number] : NULL;
    const hlo_literal *v = store_get(&r->store, &k);
    if (!v && !passes_on(i))
        store_want(&r->store, &k);
    return v;
}

static int64_t iterations(void *context, size_t inst, const struct hlo_within *within, size_t depth)
{
    struct hlo_recorded *r = context;
    const struct store_key k = {inst, 0, within, depth};
    const int64_t n = store_iterations(&r->store, &k);
    if (n < 0)
        store_want(&r->store, &k);
    return n;
}

const hlo_literal *recorded_value(struct hlo_recorded *r, const struct hlo_element *e)
{
    if (r->how.first)
        return store_get(&r->store, &(struct store_key){.inst = e->inst});
    const hlo_literal *v = value(r, e->inst, e->within, e->depth);
    if (!v && r->store.missed) {
        recorded_run_again(r);
        v = value(r, e->inst, e->within, e->depth);
    }
    return v;
}

const hlo_literal *hlo_recorded_value(hlo_recorded *r, const struct hlo_element *e)
{
    GUARDED(NULL);
    struct undo forgetting;
    guard_undo(&forgetting, recorded_forget, r);
    const hlo_literal *v = recorded_value(r, e);
    guard_done(&forgetting);
    return v;
}

uint64_t hlo_recorded_events(const hlo_recorded *r) { return r->events; }

hlo_text hlo_recorded_why(hlo_recorded *r, const struct hlo_element *e, const struct hlo_why_view *v)
{
    GUARDED((hlo_text){0});
    const struct hlo_known known = {r, value, iterations};
    struct undo forgetting;
    hlo_text text;
    guard_undo(&forgetting, recorded_forget, r);
    for (;;) { /* each run answers all questions asked before it, so there are at most as many runs as steps back */
        r->store.missed = false;
        text = hlo_why_print(r->l, e, &known, v);
        if (!r->store.missed)
            break;
        hlo_text_free(&text);
        recorded_run_again(r);
    }
    guard_done(&forgetting);
    return text;
}
