/*
 * The public interface to runs whose values can be asked for afterwards: which are kept, and when the module runs again.
 *
 * The key of a value is its instruction, with the calls and iterations in which it was made. The first run keeps what fits. A
 * question for another value is first answered "unknown" and noted; then the module runs again for all that was asked for. When
 * an instruction runs several times under the same key (in the condition of a loop), the last time counts.
 */
#include "api/api.h"

#include "look/look.h"
#include "why/why.h"

#include <math.h>

struct entry {
    struct literal *value; /* NULL: it is not kept */
    hlo_literal *handle;   /* of the value, once it was asked for */
    int64_t iterations;    /* of a while; -1: unknown */
    bool wanted;           /* it was asked for */
};
struct last { /* the last time that an instruction ran */
    bool done;
    size_t depth, capacity;
    struct hlo_within *within;
};
struct hlo_recorded {
    const hlo_listing *l;
    const struct hlo_run_options *options;
    const hlo_literal *const *args;
    size_t count;
    struct hlo_recording how;
    struct arena arena;
    struct map entries;
    struct buf key;
    uint64_t bytes;              /* kept so far */
    bool dropped;                /* not all values were kept */
    bool again;                  /* this is a later run, which keeps only what is wanted */
    bool missed;                 /* a value was asked for that another run may give */
    struct last *last;           /* by instruction */
    const struct shape **shapes; /* by instruction: of the value that was kept last */
    struct when {                /* the time of an instruction that is looked for: in these iterations; inst -1: none */
        long inst;
        const int64_t *iterations;
        size_t count;
        struct last last;
    } when;
};

enum { KEPT_BY_DEFAULT = 1 << 30, OVERHEAD = 200 /* bytes of an entry, about */, SMALL = 512 /* bytes that lie in the arena */ };

/* ---- keys ---- */

/* Calls and iterations make no difference to a constant. */
static struct str key_of(struct hlo_recorded *r, size_t inst, const struct hlo_within *within, size_t depth)
{
    r->key.size = 0;
    if (hlo_listing_inst(r->l, inst)->opcode == OP_CONSTANT)
        depth = 0;
    buf_bytes(&r->key, &inst, sizeof inst);
    for (size_t k = 0; k < depth; k++) {
        buf_bytes(&r->key, &within[k].inst, sizeof within[k].inst);
        buf_bytes(&r->key, &within[k].iteration, sizeof within[k].iteration);
    }
    return buf_view(&r->key);
}

static struct entry *entry_at(struct hlo_recorded *r, size_t inst, const struct hlo_within *within, size_t depth, bool make)
{
    const struct str key = key_of(r, inst, within, depth);
    struct entry *e = map_get(&r->entries, key);
    if (e || !make)
        return e;
    e = ARENA_NEW(&r->arena, struct entry);
    e->iterations = -1;
    map_put(&r->entries, arena_str(&r->arena, key), e);
    r->bytes += OVERHEAD + key.len;
    return e;
}

static void note(struct arena *a, struct last *t, const struct hlo_sight *s)
{
    if (s->depth > t->capacity) {
        t->within = ARENA_ARRAY(a, struct hlo_within, s->depth);
        t->capacity = s->depth;
    }
    t->done = true;
    t->depth = s->depth;
    if (s->depth > 0)
        memcpy(t->within, s->within, s->depth * sizeof *t->within);
}

/* ---- the run ---- */

static size_t bytes_of(const struct shape *s)
{
    int64_t bytes = 0;
    return shape_bytes(s, &bytes) ? (size_t)bytes : 0;
}

/* A copy of `from`, small ones in the arena, for there may be millions. OLD, unless it is NULL, is a value of the same shape that
 * is overwritten. NULL: no memory. */
static struct literal *copy(struct hlo_recorded *r, const struct literal *from, const struct shape *shape, struct literal *old)
{
    struct literal *l = old ? old : ARENA_NEW(&r->arena, struct literal);
    const size_t bytes = bytes_of(shape);
    l->shape = shape;
    if (shape_is_tuple(shape)) {
        if (!old)
            l->elements = ARENA_ARRAY(&r->arena, struct literal *, shape->count + 1);
        for (int k = 0; k < shape->count; k++)
            if (!(l->elements[k] = copy(r, from->elements[k], shape->elements[k], old ? l->elements[k] : NULL)))
                return NULL;
        return l;
    }
    if (!l->data)
        l->data = bytes > SMALL ? mem_alloc(bytes) : arena_alloc(&r->arena, bytes + 1);
    if (l->data && bytes > 0)
        memcpy(l->data, from->data, bytes);
    return l->data ? l : NULL;
}

static void free_large(struct literal *l)
{
    for (int k = 0; shape_is_tuple(l->shape) && k < l->shape->count; k++)
        free_large(l->elements[k]);
    if (!shape_is_tuple(l->shape) && bytes_of(l->shape) > SMALL)
        mem_free(l->data);
}

static void drop(struct entry *e)
{
    if (e->value)
        free_large(e->value);
    if (e->handle) {
        arena_free(&e->handle->arena);
        heap_free(e->handle);
    }
    e->value = NULL;
    e->handle = NULL;
}

/* Keeps a value in an entry. The shape is shared with the last value of the instruction where it is the same, as it mostly is. */
static bool put(struct hlo_recorded *r, struct entry *e, size_t inst, const struct literal *from)
{
    const struct shape **shape = &r->shapes[inst];
    struct literal *old = e->value && shape_equal(e->value->shape, from->shape, 0) ? e->value : NULL;
    if (!*shape || !shape_equal(*shape, from->shape, 0))
        *shape = shape_copy(&r->arena, from->shape);
    if (!old)
        drop(e);
    e->value = copy(r, from, *shape, old);
    return e->value != NULL;
}

/* Instructions whose tuples only hand values on. These are not kept: whoever asks is led on to what made their components. */
static bool is_passed_on(const struct inst *i)
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

static bool keep(struct hlo_recorded *r, const struct hlo_sight *s)
{
    const struct inst *i = hlo_listing_inst(r->l, s->inst);
    struct entry *e = entry_at(r, s->inst, s->within, s->depth, false);
    if (is_passed_on(i) || is_argument(r, i) || (e && e->value && i->opcode == OP_CONSTANT) || (r->again && !(e && e->wanted)))
        return true;
    const hlo_literal *v = r->again || r->bytes < r->how.most ? hlo_sight_value(s) : NULL;
    const uint64_t bytes = v ? bytes_of(v->l->shape) : 0;
    if (!r->again && r->bytes + bytes >= r->how.most) {
        r->dropped = true;
        return true;
    }
    if (!e)
        e = entry_at(r, s->inst, s->within, s->depth, true);
    r->bytes += e->value ? 0 : bytes;
    return v && put(r, e, s->inst, v->l);
}

/* An iteration is complete when the root of the loop's body has run. */
static void count_iteration(struct hlo_recorded *r, const struct hlo_sight *s)
{
    const struct inst *i = hlo_listing_inst(r->l, s->inst);
    if (s->depth == 0 || i->parent->root != i || s->within[s->depth - 1].iteration < 0)
        return;
    const struct hlo_within *loop = &s->within[s->depth - 1];
    if (hlo_listing_inst(r->l, loop->inst)->opcode != OP_WHILE)
        return;
    struct entry *e = entry_at(r, loop->inst, s->within, s->depth - 1, r->bytes < r->how.most);
    if (e)
        e->iterations = loop->iteration + 1;
    else
        r->dropped = true;
}

/* Whether this is the time that is looked for. The wanted iterations of the loops around it are listed innermost last. */
static bool is_time(const struct hlo_recorded *r, const struct hlo_sight *s)
{
    size_t k = r->when.count;
    if (r->when.inst != (long)s->inst)
        return false;
    for (size_t d = s->depth; d-- > 0 && k > 0;)
        if (hlo_listing_inst(r->l, s->within[d].inst)->opcode == OP_WHILE && s->within[d].iteration != r->when.iterations[--k])
            return false;
    return k == 0;
}

/* A loop has 0 iterations until one is counted. */
static bool before(void *context, const struct hlo_sight *s)
{
    struct hlo_recorded *r = context;
    if (s->participant != 0 || hlo_listing_inst(r->l, s->inst)->opcode != OP_WHILE)
        return true;
    struct entry *e = entry_at(r, s->inst, s->within, s->depth, r->bytes < r->how.most);
    if (e)
        e->iterations = 0;
    return true;
}

static bool after(void *context, const struct hlo_sight *s)
{
    struct hlo_recorded *r = context;
    if (s->participant != 0)
        return true;
    const bool time = is_time(r, s);
    if (time)
        note(&r->arena, &r->when.last, s);
    note(&r->arena, &r->last[s->inst], s);
    count_iteration(r, s);
    return keep(r, s);
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
    const struct hlo_observer observer = {r, before, after};
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
static void run_again(struct hlo_recorded *r)
{
    hlo_messages *m = hlo_messages_new();
    struct undo freeing;
    guard_undo(&freeing, hlo_messages_lost, m);
    r->again = true;
    r->missed = false;
    run(r, m);
    guard_done(&freeing);
    hlo_messages_free(m);
}

hlo_recorded *hlo_record(const hlo_listing *l, const struct hlo_run_options *options, const hlo_literal *const *args,
                         size_t count, const struct hlo_recording *how, hlo_messages *m)
{
    GUARDED((hlo_messages_no_memory(m), NULL));
    hlo_recorded *r = heap_zalloc(1, sizeof *r);
    *r = (hlo_recorded){.l = l, .options = options, .args = args, .count = count, .when = {.inst = -1}};
    buf_reserve(&r->key, 64); /* now, so that it belongs to the handle and not to the call that first uses it */
    if (how)
        r->how = *how;
    if (r->how.most == 0)
        r->how.most = KEPT_BY_DEFAULT;
    arena_init(&r->arena);
    map_init(&r->entries, &r->arena);
    r->last = ARENA_ARRAY(&r->arena, struct last, hlo_list_count(l) + 1);
    r->shapes = ARENA_ARRAY(&r->arena, const struct shape *, hlo_list_count(l) + 1);
    if (run(r, m))
        return r;
    hlo_recorded_free(r);
    return NULL;
}

void hlo_recorded_free(hlo_recorded *r)
{
    if (!r)
        return;
    for (size_t k = 0; k < r->entries.capacity; k++)
        if (r->entries.slots[k].value)
            drop(r->entries.slots[k].value);
    buf_free(&r->key);
    arena_free(&r->arena);
    heap_free(r);
}

/* ---- asking ---- */

/* When memory runs out, values that were kept during the call are freed, and it isn't known which. So all are forgotten; a
 * later run gives them again. */
static void forget_values(void *recorded)
{
    struct hlo_recorded *r = recorded;
    for (size_t k = 0; k < r->entries.capacity; k++)
        if (r->entries.slots[k].value) {
            struct entry *e = r->entries.slots[k].value;
            drop(e);
            e->wanted = false;
        }
    r->dropped = true;
    r->when.inst = -1;
}

static const hlo_literal *value(void *context, size_t inst, const struct hlo_within *within, size_t depth)
{
    struct hlo_recorded *r = context;
    const struct inst *i = hlo_listing_inst(r->l, inst);
    if (is_argument(r, i))
        return (size_t)i->number < r->count ? r->args[i->number] : NULL;
    struct entry *e = entry_at(r, inst, within, depth, r->dropped);
    if (e && !e->value && r->dropped && !e->wanted && !is_passed_on(i))
        e->wanted = r->missed = true;
    if (e && e->value && !e->handle)
        e->handle = hlo_literal_end(hlo_literal_begin(), e->value);
    return e && e->value ? e->handle : NULL;
}

static int64_t iterations(void *context, size_t inst, const struct hlo_within *within, size_t depth)
{
    struct hlo_recorded *r = context;
    struct entry *e = entry_at(r, inst, within, depth, r->dropped);
    if (e && e->iterations < 0 && r->dropped && !e->wanted)
        e->wanted = r->missed = true;
    return e ? e->iterations : -1;
}

hlo_text hlo_recorded_why(hlo_recorded *r, const struct hlo_element *e, const struct hlo_why_view *v)
{
    GUARDED((hlo_text){0});
    const struct hlo_known known = {r, value, iterations};
    struct undo forgetting;
    hlo_text text;
    guard_undo(&forgetting, forget_values, r);
    for (;;) { /* each run answers all questions asked before it, so there are at most as many runs as steps back */
        r->missed = false;
        text = hlo_why_print(r->l, e, &known, v);
        if (!r->missed)
            break;
        hlo_text_free(&text);
        run_again(r);
    }
    guard_done(&forgetting);
    return text;
}

/* ---- finding ---- */

struct finding {
    struct hlo_recorded *r;
    const char *text; /* for messages */
    hlo_messages *m;
    struct str rest;
    const struct inst *inst;
    const struct shape *shape;        /* of the component that was read so far */
    int64_t iterations[HLO_MAX_RANK]; /* behind @: `count` of them, outermost first */
    size_t count;
};

static bool wrong(struct finding *f, const char *format, ...) PRINTF_LIKE(2, 3);
static bool wrong(struct finding *f, const char *format, ...)
{
    struct buf b = {0};
    va_list args;
    buf_printf(&b, "'%s': ", f->text);
    va_start(args, format);
    struct arena a;
    arena_init(&a);
    buf_str(&b, arena_vprintf(&a, format, args));
    va_end(args);
    buf_putc(&b, '\0');
    hlo_messages_add(f->m, "<element>", b.data);
    arena_free(&a);
    buf_free(&b);
    return false;
}

static struct str take_until(struct str *s, const char *ends)
{
    size_t n = 0;
    while (n < s->len && !strchr(ends, s->ptr[n]))
        n++;
    const struct str word = {s->ptr, n};
    *s = (struct str){s->ptr + n, s->len - n};
    return word;
}

static bool find_inst(struct finding *f, struct str name)
{
    struct arena a;
    arena_init(&a);
    const long found = hlo_list_find(f->r->l, arena_str(&a, name).ptr);
    if (found < 0) {
        const size_t count = hlo_list_count(f->r->l);
        const char **names = ARENA_ARRAY(&a, const char *, count + 1);
        for (size_t k = 0; k < count; k++)
            names[k] = hlo_list_inst(f->r->l, k).name;
        const struct str near = diag_nearest(name, names, count);
        if (near.len > 0)
            wrong(f, "there is no instruction '" STR_FMT "'; is it '" STR_FMT "'?", STR_ARG(name), STR_ARG(near));
        else
            wrong(f, "there is no instruction '" STR_FMT "'", STR_ARG(name));
    } else {
        f->inst = hlo_listing_inst(f->r->l, (size_t)found);
        f->shape = f->inst->shape;
    }
    arena_free(&a);
    return found >= 0;
}

/* "3", "1.3" */
static bool read_iterations(struct finding *f, struct str word)
{
    for (bool more = true; more; f->count++) {
        const struct str number = take_until(&word, ".");
        if (f->count == HLO_MAX_RANK || !num_parse_i64(number, &f->iterations[f->count]) || f->iterations[f->count] < 0)
            return wrong(f, "behind @ stands an iteration from 0, or @OUTER.INNER of loops within loops");
        more = word.len > 0;
        if (more)
            word = (struct str){word.ptr + 1, word.len - 1};
    }
    return true;
}

/* Finds the calls and iterations in which the instruction ran: those of the wanted iterations, or of the last time. */
static bool find_time(struct finding *f, struct hlo_element *e)
{
    struct hlo_recorded *r = f->r;
    const struct last *last = &r->last[e->inst];
    if (f->count > 0) {
        r->when.inst = (long)e->inst;
        r->when.iterations = f->iterations;
        r->when.count = f->count;
        r->when.last = (struct last){0};
        run_again(r);
        r->when.inst = -1;
        last = &r->when.last;
    }
    e->within = last->within;
    e->depth = last->depth;
    if (last->done)
        return true;
    return f->count > 0 ? wrong(f, "it was not done in that iteration of a loop")
                        : wrong(f, "it was not done on whole values in this run, so there is nothing to see");
}

/* The value of the leaf; where it wasn't kept, the module runs again. NULL: there is none. */
static const struct literal *leaf_of(struct hlo_recorded *r, const struct hlo_element *e)
{
    const hlo_literal *v = value(r, e->inst, e->within, e->depth);
    if (!v && r->missed) {
        run_again(r);
        v = value(r, e->inst, e->within, e->depth);
    }
    return v ? why_leaf(hlo_listing_inst(r->l, e->inst)->shape, v->l, (int64_t)e->leaf) : NULL;
}

/* Reads "1,2"; -1 is the last. */
static bool read_index(struct finding *f, struct str inside, const int64_t *dims, struct hlo_element *e)
{
    int rank = 0;
    for (bool more = str_trim(inside).len > 0; more; rank++) {
        int64_t at;
        const struct str number = str_trim(take_until(&inside, ","));
        if (!num_parse_i64(number, &at))
            return wrong(f, "'" STR_FMT "' is no index", STR_ARG(number));
        if (rank < f->shape->rank) {
            if (at < -dims[rank] || at >= dims[rank])
                return wrong(f, "index %" PRId64 " is out of bounds: dimension %d has %" PRId64 " elements", at, rank,
                             dims[rank]);
            e->index[rank] = at < 0 ? at + dims[rank] : at;
        }
        more = inside.len > 0;
        if (more)
            inside = (struct str){inside.ptr + 1, inside.len - 1};
    }
    if (rank != f->shape->rank)
        return wrong(f, "%d ind%s, " STR_FMT " has %d dimension%s", rank, rank == 1 ? "ex" : "ices",
                     STR_ARG(shape_text(&f->r->arena, f->shape)), f->shape->rank, f->shape->rank == 1 ? "" : "s");
    return true;
}

/* Goes on to the component of a tuple that "[1]" names. */
static bool enter(struct finding *f, struct str inside, struct hlo_element *e)
{
    int64_t k;
    if (!num_parse_i64(str_trim(inside), &k) || k < -f->shape->count || k >= f->shape->count)
        return wrong(f, "it gives a tuple of %d, of which [0] is the first", f->shape->count);
    k += k < 0 ? f->shape->count : 0;
    for (int64_t j = 0; j < k; j++)
        e->leaf += (size_t)shape_leaf_count(f->shape->elements[j]);
    f->shape = f->shape->elements[k];
    return true;
}

/* The first element that is not finite. */
static bool find_odd(struct finding *f, struct hlo_element *e)
{
    const struct literal *l = leaf_of(f->r, e);
    int64_t n;
    if (!l || !shape_elements(l->shape, &n))
        return wrong(f, "which element? [I,J,...] of " STR_FMT " is wanted", STR_ARG(shape_text(&f->r->arena, f->shape)));
    for (int64_t k = 0; k < n; k++)
        if (!isfinite(look_number(l->shape->dtype, (const char *)l->data + (size_t)k * dtype_bytes(l->shape->dtype)))) {
            for (int d = l->shape->rank - 1; d >= 0; k /= l->shape->dims[d--])
                e->index[d] = k % l->shape->dims[d];
            return true;
        }
    return wrong(f, "which element? There is no NaN and no infinity in it; [I,J,...] of " STR_FMT " is wanted",
                 STR_ARG(shape_text(&f->r->arena, f->shape)));
}

static bool find_index(struct finding *f, struct hlo_element *e)
{
    while (f->rest.len > 0 && f->rest.ptr[0] == '[' && shape_is_tuple(f->shape)) {
        f->rest = (struct str){f->rest.ptr + 1, f->rest.len - 1};
        if (!enter(f, take_until(&f->rest, "]"), e))
            return false;
        f->rest = (struct str){f->rest.ptr + (f->rest.len > 0), f->rest.len - (f->rest.len > 0)};
    }
    if (shape_is_tuple(f->shape))
        return wrong(f, "it gives a tuple of %d: NAME[COMPONENT][I,J]", f->shape->count);
    if (!shape_is_array(f->shape) || f->shape->rank > VIEW_MAX_RANK)
        return wrong(f, "it has no elements");
    if (f->rest.len == 0)
        return f->shape->rank == 0 || find_odd(f, e);
    const struct str text = f->rest;
    f->rest = (struct str){text.ptr + 1, text.len - 1};
    const struct str inside = take_until(&f->rest, "]");
    if (text.ptr[0] != '[' || f->rest.len != 1)
        return wrong(f, "NAME[I,J], NAME@ITERATION[I,J] and, of a tuple, NAME[COMPONENT][I,J] are read");
    const struct literal *l = leaf_of(f->r, e);
    return read_index(f, inside, l && l->shape->rank == f->shape->rank ? l->shape->dims : f->shape->dims, e);
}

static bool find(hlo_recorded *r, const char *text, struct hlo_element *e, hlo_messages *m)
{
    struct finding f = {.r = r, .text = text, .m = m, .rest = str_of(text)};
    *e = (struct hlo_element){0};
    if (!find_inst(&f, take_until(&f.rest, "@[")))
        return false;
    e->inst = hlo_listing_number(r->l, f.inst);
    if (f.rest.len > 0 && f.rest.ptr[0] == '@') {
        f.rest = (struct str){f.rest.ptr + 1, f.rest.len - 1};
        if (!read_iterations(&f, take_until(&f.rest, "[")))
            return false;
    }
    return find_time(&f, e) && find_index(&f, e);
}

bool hlo_recorded_find(hlo_recorded *r, const char *text, struct hlo_element *e, hlo_messages *m)
{
    GUARDED((hlo_messages_no_memory(m), false));
    struct undo forgetting;
    guard_undo(&forgetting, forget_values, r);
    bool found = find(r, text, e, m);
    guard_done(&forgetting);
    return found;
}
