/*
 * The public interface to recorded runs: the element that a text names, NAME@ITERATION[I,J].
 */
#include "api/recorded.h"

#include "look/look.h"
#include "why/why.h"

#include <math.h>

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

static bool fail(struct finding *f, const char *format, ...) PRINTF_LIKE(2, 3);
static bool fail(struct finding *f, const char *format, ...)
{
    struct buf b = {0};
    va_list args;
    buf_printf(&b, "`%s`: ", f->text);
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
            fail(f, "there is no instruction `" STR_FMT "`; is it `" STR_FMT "`?", STR_ARG(name), STR_ARG(near));
        else
            fail(f, "there is no instruction `" STR_FMT "`", STR_ARG(name));
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
            return fail(f, "behind @ stands an iteration from 0, or @OUTER.INNER of loops within loops");
        more = word.len > 0;
        if (more)
            word = (struct str){word.ptr + 1, word.len - 1};
    }
    return true;
}

/* Finds the execution of the wanted iterations, or the last one. */
static bool find_execution(struct finding *f, struct hlo_element *e)
{
    struct hlo_recorded *r = f->r;
    const struct execution *x = &r->last[e->inst];
    if (f->count > 0) {
        r->sought.inst = (long)e->inst;
        r->sought.iterations = f->iterations;
        r->sought.count = f->count;
        r->sought.found = (struct execution){0};
        recorded_run_again(r);
        r->sought.inst = -1;
        x = &r->sought.found;
    }
    e->within = x->within;
    e->depth = x->depth;
    if (x->ran)
        return true;
    return f->count > 0 ? fail(f, "it was not done in that iteration of a loop")
                        : fail(f, "it was not done on whole values in this run, so there is nothing to see");
}

/* The value of the leaf; NULL: unknown. */
static const struct literal *leaf_of(struct hlo_recorded *r, const struct hlo_element *e)
{
    const hlo_literal *v = recorded_value(r, e);
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
            return fail(f, "`" STR_FMT "` is no index", STR_ARG(number));
        if (rank < f->shape->rank) {
            if (at < -dims[rank] || at >= dims[rank])
                return fail(f, "index %" PRId64 " is out of bounds: dimension %d has %" PRId64 " elements", at, rank, dims[rank]);
            e->index[rank] = at < 0 ? at + dims[rank] : at;
        }
        more = inside.len > 0;
        if (more)
            inside = (struct str){inside.ptr + 1, inside.len - 1};
    }
    if (rank != f->shape->rank)
        return fail(f, "%d ind%s, " STR_FMT " has %d dimension%s", rank, rank == 1 ? "ex" : "ices",
                    STR_ARG(shape_text(&f->r->arena, f->shape)), f->shape->rank, f->shape->rank == 1 ? "" : "s");
    return true;
}

/* Goes on to the component of a tuple that "[1]" names. */
static bool enter(struct finding *f, struct str inside, struct hlo_element *e)
{
    int64_t k;
    if (!num_parse_i64(str_trim(inside), &k) || k < -f->shape->count || k >= f->shape->count)
        return fail(f, "it gives a tuple of %d, of which [0] is the first", f->shape->count);
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
        return fail(f, "which element? [I,J,...] of " STR_FMT " is wanted", STR_ARG(shape_text(&f->r->arena, f->shape)));
    for (int64_t k = 0; k < n; k++)
        if (!isfinite(look_number(l->shape->dtype, (const char *)l->data + (size_t)k * dtype_bytes(l->shape->dtype)))) {
            for (int d = l->shape->rank - 1; d >= 0; k /= l->shape->dims[d--])
                e->index[d] = k % l->shape->dims[d];
            return true;
        }
    return fail(f, "which element? There is no NaN and no infinity in it; [I,J,...] of " STR_FMT " is wanted",
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
        return fail(f, "it gives a tuple of %d: NAME[COMPONENT][I,J]", f->shape->count);
    if (!shape_is_array(f->shape) || f->shape->rank > VIEW_MAX_RANK)
        return fail(f, "it has no elements");
    if (f->rest.len == 0)
        return f->shape->rank == 0 || find_odd(f, e);
    const struct str text = f->rest;
    f->rest = (struct str){text.ptr + 1, text.len - 1};
    const struct str inside = take_until(&f->rest, "]");
    if (text.ptr[0] != '[' || f->rest.len != 1)
        return fail(f, "NAME[I,J], NAME@ITERATION[I,J] and, of a tuple, NAME[COMPONENT][I,J] are read");
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
    return find_execution(&f, e) && find_index(&f, e);
}

bool hlo_recorded_find(hlo_recorded *r, const char *text, struct hlo_element *e, hlo_messages *m)
{
    GUARDED((hlo_messages_no_memory(m), false));
    struct undo forgetting;
    guard_undo(&forgetting, recorded_forget, r);
    bool found = find(r, text, e, m);
    guard_done(&forgetting);
    return found;
}
