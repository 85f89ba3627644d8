/*
 * Public interface: recorded runs, whose values can be queried afterwards.
 *
 * The first run fills a store. A query for a dropped value first returns "unknown" and marks the
 * value; then the module runs again for all marked values. If an instruction runs several times
 * under the same key (in the condition of a loop), the last execution counts.
 */
#include "api/store.h"

#include "look/look.h"
#include "why/why.h"

#include <math.h>

enum { DEFAULT_BUDGET = 1 << 30 };

struct execution { /* an execution of an instruction */
    bool ran;
    size_t depth, capacity;
    struct hlo_within *within;
};
struct odd { /* an element that is NaN or infinite */
    size_t inst;
    struct hlo_origin origin;
    struct execution at;
};
struct hlo_recorded {
    const hlo_listing *l;
    struct hlo_run_options options;
    const hlo_literal *const *args;
    size_t count;
    struct hlo_recording how;
    struct store store;
    struct arena arena;
    uint64_t events;
    struct execution *last; /* by instruction: its last execution */
    struct {                /* an execution to find in a later run, by iterations; inst -1: none */
        long inst;
        const int64_t *iterations;
        size_t count;
        struct execution found;
    } sought;
    bool seeks_odd;                  /* a later run finds these: */
    struct odd first_nan, first_inf; /* what first produced one, if anything did */
};

/* ---- selection of values ---- */

/* Tuples that only pass values on are not kept: queries are redirected to the instruction that
 * computes the element. */
static bool passes_on(const struct inst *i)
{
    return op_is(i->opcode, OP_NAMES | OP_RUNS) && shape_is_tuple(i->shape);
}

static bool is_argument(const struct hlo_recorded *r, const struct inst *i)
{
    return i->opcode == OP_PARAMETER && i->parent == hlo_listing_module(r->l)->m->entry;
}

static uint64_t bytes_of(const struct hlo_event *e)
{
    const hlo_literal *v = hlo_event_value(e);
    return v ? (uint64_t)shape_bytes_or(v->l->shape, 0) : 0;
}

/* Records the first execution of each instruction, including tuples and arguments. */
static void keep_first(struct hlo_recorded *r, const struct hlo_event *e)
{
    const struct store_key k = {.inst = e->inst};
    if (r->last[e->inst].ran || (r->how.most_each > 0 && bytes_of(e) > r->how.most_each))
        return;
    store_put(&r->store, &k, e);
}

static void keep(struct hlo_recorded *r, const struct hlo_event *e)
{
    const struct inst *i = hlo_listing_inst(r->l, e->inst);
    const struct store_key k = store_key_of(e);
    if (!passes_on(i) && !is_argument(r, i))
        store_put(&r->store, &k, e);
}

/* ---- the run ---- */

static void note_execution(struct hlo_recorded *r, struct execution *x, const struct hlo_event *e)
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

/* Counts an iteration when the root of the loop body has run. */
static void count_iteration(struct hlo_recorded *r, const struct hlo_event *e)
{
    const struct inst *i = hlo_listing_inst(r->l, e->inst);
    const struct hlo_within *loop = e->depth > 0 ? &e->within[e->depth - 1] : NULL;
    if (!loop || i->parent->root != i || loop->iteration < 0 ||
        hlo_listing_inst(r->l, loop->inst)->opcode != OP_WHILE)
        return;
    const struct store_key k = {loop->inst, 0, e->within, e->depth - 1};
    store_put_iterations(&r->store, &k, loop->iteration + 1);
}

/* Whether this execution is the requested one. Iterations of enclosing loops are listed outermost
 * first. */
static bool is_sought(const struct hlo_recorded *r, const struct hlo_event *e)
{
    size_t k = r->sought.count;
    if (r->sought.inst != (long)e->inst)
        return false;
    for (size_t d = e->depth; d-- > 0 && k > 0;)
        if (hlo_listing_inst(r->l, e->within[d].inst)->opcode == OP_WHILE &&
            e->within[d].iteration != r->sought.iterations[--k])
            return false;
    return k == 0;
}

/* Callback: a loop has 0 iterations until one is counted. */
static bool before(void *context, const struct hlo_event *e)
{
    struct hlo_recorded *r = context;
    const struct store_key k = store_key_of(e);
    if (e->participant == 0 && hlo_listing_inst(r->l, e->inst)->opcode == OP_WHILE)
        store_put_iterations(&r->store, &k, 0);
    return true;
}

static void note_odd(struct hlo_recorded *r, struct odd *first, unsigned what,
                     const struct hlo_event *e)
{
    const bool before = oom_begin_callback();
    const bool found = !first->at.ran && hlo_event_origin(e, what, &first->origin);
    oom_end_callback(before);
    if (!found)
        return;
    first->inst = e->inst;
    note_execution(r, &first->at, e);
}

static bool after(void *context, const struct hlo_event *e)
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
    if (r->seeks_odd) {
        note_odd(r, &r->first_nan, HLO_ODD_NAN, e);
        note_odd(r, &r->first_inf, HLO_ODD_INF, e);
    }
    note_execution(r, &r->last[e->inst], e);
    if (!r->how.first)
        count_iteration(r, e);
    return true;
}

static void begin(const struct hlo_recorded *r, hlo_program *p)
{
    bool whole = oom_begin_callback();
    if (r->how.begin)
        r->how.begin(r->how.context, p);
    oom_end_callback(whole);
}

static void end(void *recorded)
{
    const struct hlo_recorded *r = recorded;
    bool whole = oom_begin_callback();
    if (r->how.end)
        r->how.end(r->how.context);
    oom_end_callback(whole);
}

static bool run(struct hlo_recorded *r, hlo_messages *m)
{
    const struct hlo_trace_callbacks callbacks = {sizeof callbacks, r, r->how.first ? NULL : before,
                                                  after};
    SCOPED_PROGRAM *p = hlo_plan(hlo_listing_module(r->l), &r->options, m);
    if (!p)
        return false;
    const size_t participants = hlo_participants(p);
    hlo_literal **results = heap_zalloc(1, participants * sizeof(hlo_literal *));
    hlo_trace_within(p, &callbacks);
    struct cleanup ending;
    begin(r, p);
    oom_push_cleanup(&ending, end, r);
    hlo_run_all(p, r->args, r->count, NULL, results, m);
    oom_pop_cleanup(&ending);
    end(r);
    hlo_literals_free(results, participants);
    return true;
}

/* Messages are discarded: they equal those of the first run. */
static void run_again(struct hlo_recorded *r)
{
    SCOPED_MESSAGES *m = hlo_messages_new();
    struct cleanup freeing;
    oom_push_cleanup(&freeing, hlo_messages_cleanup, m);
    store_refill(&r->store);
    run(r, m);
    oom_pop_cleanup(&freeing);
}

hlo_recorded *hlo_record(const hlo_listing *l, const struct hlo_run_options *options,
                         const hlo_literal *const *args, size_t count,
                         const struct hlo_recording *how, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    hlo_recorded *r = heap_zalloc(1, sizeof *r);
    *r = (hlo_recorded){.l = l, .args = args, .count = count, .sought = {.inst = -1}};
    if (!hlo_options_copy(&r->options, sizeof r->options, options, m) ||
        !hlo_options_copy(&r->how, sizeof r->how, how, m)) {
        heap_free(r);
        return NULL;
    }
    r->options.traced = true;
    arena_init(&r->arena);
    store_init(&r->store, l, r->how.max ? r->how.max : DEFAULT_BUDGET);
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

/* ---- queries ---- */

/* Out-of-memory cleanup: later runs can recompute the values. */
static void forget(void *recorded)
{
    struct hlo_recorded *r = recorded;
    store_drop_all(&r->store);
    r->sought.inst = -1;
    r->seeks_odd = false;
}

static const hlo_literal *value(void *context, size_t inst, const struct hlo_within *within,
                                size_t depth)
{
    struct hlo_recorded *r = context;
    const struct inst *i = hlo_listing_inst(r->l, inst);
    const struct store_key k = {inst, 0, within, depth};
    if (is_argument(r, i))
        return (size_t)i->number < r->count ? r->args[i->number] : NULL;
    const hlo_literal *v = store_get(&r->store, &k);
    if (!v && !passes_on(i))
        store_request(&r->store, &k);
    return v;
}

static int64_t iterations(void *context, size_t inst, const struct hlo_within *within, size_t depth)
{
    struct hlo_recorded *r = context;
    const struct store_key k = {inst, 0, within, depth};
    const int64_t n = store_iterations(&r->store, &k);
    if (n < 0)
        store_request(&r->store, &k);
    return n;
}

/* The whole value of the instruction of an element; runs the module again for a dropped one. */
static const hlo_literal *value_of(struct hlo_recorded *r, const struct hlo_element *e)
{
    if (r->how.first)
        return store_get(&r->store, &(struct store_key){.inst = e->inst});
    const hlo_literal *v = value(r, e->inst, e->within, e->depth);
    if (!v && r->store.missed) {
        run_again(r);
        v = value(r, e->inst, e->within, e->depth);
    }
    return v;
}

const hlo_literal *hlo_recorded_value(hlo_recorded *r, const struct hlo_element *e)
{
    OOM_SCOPE(NULL);
    struct cleanup forgetting;
    oom_push_cleanup(&forgetting, forget, r);
    const hlo_literal *v = value_of(r, e);
    oom_pop_cleanup(&forgetting);
    return v;
}

uint64_t hlo_recorded_events(const hlo_recorded *r) { return r->events; }

hlo_text hlo_recorded_why(hlo_recorded *r, const struct hlo_element *e,
                          const struct hlo_why_view *v)
{
    OOM_SCOPE((hlo_text){0});
    const struct hlo_known known = {sizeof known, r, value, iterations};
    struct cleanup forgetting;
    hlo_text text;
    oom_push_cleanup(&forgetting, forget, r);
    for (;;) { /* each run answers all queries made before it, so there are at most as many runs as
                  levels */
        r->store.missed = false;
        text = hlo_why_print(r->l, e, &known, v);
        if (!r->store.missed)
            break;
        hlo_text_free(&text);
        run_again(r);
    }
    oom_pop_cleanup(&forgetting);
    return text;
}

/* ---- parsing of NAME@ITERATION[I,J] ---- */

struct finding {
    struct hlo_recorded *r;
    const char *text; /* for messages */
    hlo_messages *m;
    struct str rest;
    const struct inst *inst;
    const struct shape *shape;        /* of the component selected so far */
    int64_t iterations[HLO_MAX_RANK]; /* after @: `count` of them, outermost first */
    size_t count;
};

static bool fail(struct finding *f, const char *format, ...) PRINTF_LIKE(2, 3);
static bool fail(struct finding *f, const char *format, ...)
{
    SCOPED_BUF b = {0};
    va_list args;
    if (f->text[0] != '\0')
        buf_printf(&b, "'%s': ", f->text);
    va_start(args, format);
    SCOPED_ARENA a = arena_make();
    buf_str(&b, arena_vprintf(&a, format, args));
    va_end(args);
    buf_putc(&b, '\0');
    hlo_messages_add(f->m, "<element>", b.data);
    return false;
}

static struct str take_until(struct str *s, const char *ends)
{
    size_t n = 0;
    while (n < s->len && !strchr(ends, s->ptr[n]))
        n++;
    return str_take(s, n);
}

static bool find_inst(struct finding *f, struct str name)
{
    SCOPED_ARENA a = arena_make();
    const long found = hlo_list_find(f->r->l, arena_str(&a, name).ptr);
    if (found < 0) {
        if (f->rest.len == 0)
            f->text = ""; /* the message names all of it */
        const size_t count = hlo_list_count(f->r->l);
        const char **names = ARENA_ARRAY(&a, const char *, count + 1);
        for (size_t k = 0; k < count; k++)
            names[k] = hlo_list_inst(f->r->l, k).name;
        const struct str near = diag_nearest(name, names, count);
        if (near.len > 0)
            fail(f, "unknown instruction '" STR_FMT "'; did you mean '" STR_FMT "'?", STR_ARG(name),
                 STR_ARG(near));
        else
            fail(f, "unknown instruction '" STR_FMT "'", STR_ARG(name));
    } else {
        f->inst = hlo_listing_inst(f->r->l, (size_t)found);
        f->shape = f->inst->shape;
    }
    return found >= 0;
}

/* Parses "3" or "1.3". */
static bool read_iterations(struct finding *f, struct str word)
{
    for (bool more = true; more; f->count++) {
        const struct str number = take_until(&word, ".");
        if (f->count == HLO_MAX_RANK || !num_parse_i64(number, &f->iterations[f->count]) ||
            f->iterations[f->count] < 0)
            return fail(
                f, "expected an iteration (from 0) after '@', or @OUTER.INNER for nested loops");
        more = word.len > 0;
        word = str_skip(word, more);
    }
    return true;
}

/* Finds the execution of the given iterations, or the last one. */
static bool find_execution(struct finding *f, struct hlo_element *e)
{
    struct hlo_recorded *r = f->r;
    const struct execution *x = &r->last[e->inst];
    if (f->count > 0) {
        r->sought.inst = (long)e->inst;
        r->sought.iterations = f->iterations;
        r->sought.count = f->count;
        r->sought.found = (struct execution){0};
        run_again(r);
        r->sought.inst = -1;
        x = &r->sought.found;
    }
    e->within = x->within;
    e->depth = x->depth;
    if (x->ran)
        return true;
    return f->count > 0 ? fail(f, "not executed in that iteration")
                        : fail(f, "not executed on whole values in this run");
}

/* The value of the leaf; NULL: unknown. */
static const struct literal *leaf_of(struct hlo_recorded *r, const struct hlo_element *e)
{
    const hlo_literal *v = value_of(r, e);
    return v ? why_leaf(hlo_listing_inst(r->l, e->inst)->shape, v->l, (int64_t)e->leaf) : NULL;
}

/* Parses "1,2"; negative indices count from the end. */
static bool read_index(struct finding *f, struct str inside, const int64_t *dims,
                       struct hlo_element *e)
{
    int rank = 0;
    for (bool more = str_trim(inside).len > 0; more; rank++) {
        int64_t at;
        const struct str number = str_trim(take_until(&inside, ","));
        if (!num_parse_i64(number, &at))
            return fail(f, "'" STR_FMT "' is not an index", STR_ARG(number));
        if (rank < f->shape->rank) {
            if (at < -dims[rank] || at >= dims[rank])
                return fail(
                    f, "index %" PRId64 " is out of bounds: dimension %d has %" PRId64 " elements",
                    at, rank, dims[rank]);
            e->index[rank] = at < 0 ? at + dims[rank] : at;
        }
        more = inside.len > 0;
        inside = str_skip(inside, more);
    }
    if (rank != f->shape->rank)
        return fail(f, "%d ind%s, " STR_FMT " has %d dimension%s", rank, rank == 1 ? "ex" : "ices",
                    STR_ARG(shape_text(&f->r->arena, f->shape)), f->shape->rank,
                    f->shape->rank == 1 ? "" : "s");
    return true;
}

/* Selects the tuple element given by "[1]". */
static bool enter(struct finding *f, struct str inside, struct hlo_element *e)
{
    int64_t k;
    if (!num_parse_i64(str_trim(inside), &k) || k < -f->shape->count || k >= f->shape->count)
        return fail(f, "result is a tuple of %d elements; select one with [0]", f->shape->count);
    k += k < 0 ? f->shape->count : 0;
    for (int64_t j = 0; j < k; j++)
        e->leaf += (size_t)shape_leaf_count(f->shape->elements[j]);
    f->shape = f->shape->elements[k];
    return true;
}

/* The first NaN or, without any, the first infinity; N: none. */
static int64_t first_odd(const struct literal *l, int64_t n)
{
    int64_t found = n;
    for (int64_t k = 0; k < n; k++) {
        const double v = look_number(l->shape->dtype, (const char *)l->data +
                                                          (size_t)k * dtype_bytes(l->shape->dtype));
        if (isnan(v))
            return k;
        if (isinf(v) && found == n)
            found = k;
    }
    return found;
}

static bool find_odd(struct finding *f, struct hlo_element *e)
{
    const struct literal *l = leaf_of(f->r, e);
    int64_t n;
    if (!l || !shape_elements(l->shape, &n))
        return fail(f, "missing index [I,J,...] into " STR_FMT,
                    STR_ARG(shape_text(&f->r->arena, f->shape)));
    int64_t k = first_odd(l, n);
    if (k < n) {
        index_at(l->shape->rank, l->shape->dims, k, e->index);
        return true;
    }
    return fail(f, "no NaN or infinity found; missing index [I,J,...] into " STR_FMT,
                STR_ARG(shape_text(&f->r->arena, f->shape)));
}

static bool find_index(struct finding *f, struct hlo_element *e)
{
    while (f->rest.len > 0 && f->rest.ptr[0] == '[' && shape_is_tuple(f->shape)) {
        f->rest = str_skip(f->rest, 1);
        if (!enter(f, take_until(&f->rest, "]"), e))
            return false;
        f->rest = str_skip(f->rest, f->rest.len > 0);
    }
    if (shape_is_tuple(f->shape))
        return fail(f, "result is a tuple of %d elements; expected NAME[ELEMENT][I,J]",
                    f->shape->count);
    if (!shape_is_array(f->shape) || f->shape->rank > VIEW_MAX_RANK)
        return fail(f, "array is empty");
    if (f->rest.len == 0)
        return f->shape->rank == 0 || find_odd(f, e);
    const struct str text = f->rest;
    f->rest = str_skip(text, 1);
    const struct str inside = take_until(&f->rest, "]");
    if (text.ptr[0] != '[' || f->rest.len != 1)
        return fail(f, "expected NAME[I,J], NAME@ITERATION[I,J] or NAME[ELEMENT][I,J]");
    const struct literal *l = leaf_of(f->r, e);
    return read_index(f, inside,
                      l && l->shape->rank == f->shape->rank ? l->shape->dims : f->shape->dims, e);
}

/* The first NaN of a run or, without any, the first infinity, where it is produced. */
static bool find_first_odd(struct finding *f, struct hlo_element *e)
{
    struct hlo_recorded *r = f->r;
    r->first_nan = r->first_inf = (struct odd){0};
    r->seeks_odd = true;
    run_again(r);
    r->seeks_odd = false;
    const struct odd *first = r->first_nan.at.ran ? &r->first_nan : &r->first_inf;
    if (!first->at.ran)
        return fail(f, "no instruction produces NaN or infinity; expected NAME[I,J]");
    *e = (struct hlo_element){.inst = first->inst,
                              .leaf = first->origin.leaf,
                              .within = first->at.within,
                              .depth = first->at.depth};
    const struct inst *i = hlo_listing_inst(r->l, e->inst);
    const struct shape *s = why_leaf_shape(i->shape, (int64_t)e->leaf);
    if (s->rank > VIEW_MAX_RANK)
        return fail(f, "'%s' produces it, but its rank exceeds the limit", i->name.ptr);
    index_at(s->rank, s->dims, first->origin.index, e->index);
    return true;
}

static bool find(hlo_recorded *r, const char *text, struct hlo_element *e, hlo_messages *m)
{
    struct finding f = {.r = r, .text = text, .m = m, .rest = str_of(text)};
    *e = (struct hlo_element){0};
    if (text[0] == '\0')
        return find_first_odd(&f, e);
    if (!find_inst(&f, take_until(&f.rest, "@[")))
        return false;
    e->inst = hlo_listing_number(r->l, f.inst);
    if (f.rest.len > 0 && f.rest.ptr[0] == '@') {
        f.rest = str_skip(f.rest, 1);
        if (!read_iterations(&f, take_until(&f.rest, "[")))
            return false;
    }
    return find_execution(&f, e) && find_index(&f, e);
}

bool hlo_recorded_find(hlo_recorded *r, const char *text, struct hlo_element *e, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), false));
    struct cleanup forgetting;
    oom_push_cleanup(&forgetting, forget, r);
    bool found = find(r, text, e, m);
    oom_pop_cleanup(&forgetting);
    return found;
}
