/*
 * pack.c: serialization of diagnostics and literals, for ranks that all run the same program on
 * machines of the same byte order: numbers have their representation in memory.
 */
#include "world/ranks_priv.h"

void pack_int(struct buf *b, int64_t v) { buf_bytes(b, &v, sizeof v); }

static const char *take(struct reader *r, size_t size)
{
    if (r->left < size)
        return NULL;
    const char *p = r->at;
    r->at += size;
    r->left -= size;
    return p;
}

int64_t unpack_int(struct reader *r)
{
    int64_t v = 0;
    const char *p = take(r, sizeof v);
    if (p)
        memcpy(&v, p, sizeof v);
    return v;
}

static void pack_str(struct buf *b, struct str s)
{
    pack_int(b, (int64_t)s.len);
    buf_str(b, s);
}

static struct str unpack_str(struct reader *r)
{
    size_t size = (size_t)unpack_int(r);
    const char *p = take(r, size);
    return p ? (struct str){p, size} : STR("");
}

static void pack_span(struct buf *b, struct span s)
{
    pack_int(b, s.begin);
    pack_int(b, s.end);
}

static struct span unpack_span(struct reader *r)
{
    uint32_t begin = (uint32_t)unpack_int(r);
    return (struct span){begin, (uint32_t)unpack_int(r)};
}

/* ---- diagnostics ---- */

void pack_diags(struct buf *b, const struct diags *ds)
{
    for (const struct diag *d = ds->first; d; d = d->next) {
        pack_int(b, 1);
        pack_int(b, d->msg);
        pack_span(b, d->span);
        pack_str(b, d->text);
        pack_str(b, d->suggestion);
        pack_str(b, d->where);
        for (const struct diag_note *n = d->notes; n; n = n->next) {
            pack_int(b, 1);
            pack_span(b, n->span);
            pack_str(b, n->text);
        }
        pack_int(b, 0);
    }
    pack_int(b, 0);
}

void unpack_diags(struct diags *ds, struct reader *r)
{
    while (unpack_int(r)) {
        struct diag d = {.msg = (enum msg)unpack_int(r)};
        d.span = unpack_span(r);
        d.text = unpack_str(r);
        d.suggestion = unpack_str(r);
        d.where = unpack_str(r);
        struct diag *copy = diag_copy(ds, &d);
        while (unpack_int(r)) {
            struct span span = unpack_span(r);
            struct str text = unpack_str(r);
            diag_note(ds, copy, span, STR_FMT, STR_ARG(text));
        }
    }
}

/* ---- values ---- */

static void pack_shape(struct buf *b, const struct shape *s)
{
    pack_int(b, s->dtype);
    if (shape_is_tuple(s)) {
        pack_int(b, s->count);
        for (int k = 0; k < s->count; k++)
            pack_shape(b, s->elements[k]);
    } else if (shape_is_array(s)) {
        pack_int(b, s->rank);
        for (int d = 0; d < s->rank; d++) {
            pack_int(b, s->dims[d]);
            pack_int(b, shape_dim_dynamic(s, d));
        }
    }
}

static const struct shape *unpack_shape(struct arena *a, struct reader *r)
{
    enum dtype t = (enum dtype)unpack_int(r);
    if (t == DT_TUPLE) {
        int count = (int)unpack_int(r);
        const struct shape **elements = ARENA_ARRAY(a, const struct shape *, count);
        for (int k = 0; k < count; k++)
            elements[k] = unpack_shape(a, r);
        return shape_tuple(a, count, elements);
    }
    if (!dtype_is_array(t))
        return t == DT_OPAQUE ? shape_opaque() : shape_token();
    int rank = (int)unpack_int(r);
    int64_t *dims = ARENA_ARRAY(a, int64_t, rank);
    bool *dynamic = ARENA_ARRAY(a, bool, rank);
    for (int d = 0; d < rank; d++) {
        dims[d] = unpack_int(r);
        dynamic[d] = unpack_int(r) != 0;
    }
    return shape_array(a, t, rank, dims, dynamic, NULL);
}

/* The bytes of array data that a literal holds. */
static size_t stored(const struct literal *l)
{
    return l->data && shape_is_array(l->shape) ? (size_t)shape_bytes_or(l->shape, 0) : 0;
}

static size_t values_size(const struct literal *l)
{
    size_t size = sizeof(int64_t) + stored(l);
    for (int k = 0; l->elements && k < l->shape->count; k++)
        size += values_size(l->elements[k]);
    return size;
}

/* For each part, whether it is elided, and then its values. */
static char *put_values(char *to, const struct literal *l)
{
    int64_t elided = l->elided;
    size_t size = stored(l);
    memcpy(to, &elided, sizeof elided);
    to += sizeof elided;
    if (size > 0)
        memcpy(to, l->data, size);
    to += size;
    for (int k = 0; l->elements && k < l->shape->count; k++)
        to = put_values(to, l->elements[k]);
    return to;
}

void *pack_literal(const struct literal *l, size_t *size)
{
    SCOPED_BUF shape = {0};
    pack_shape(&shape, l->shape);
    *size = shape.size + values_size(l);
    char *all = mem_alloc(*size);
    if (all) {
        memcpy(all, shape.data, shape.size);
        put_values(all + shape.size, l);
    }
    return all;
}

/* Fills in a literal of which only the shape is set. */
static bool take_values(struct arena *a, struct literal *l, struct reader *r)
{
    const struct shape *s = l->shape;
    int64_t size = 0;
    l->elided = unpack_int(r) != 0;
    if (shape_is_array(s) && !l->elided && shape_bytes(s, &size)) {
        const char *p = take(r, (size_t)size);
        l->data = size <= PTRDIFF_MAX ? mem_alloc((size_t)size) : NULL;
        if (!l->data || !p)
            return false;
        memcpy(l->data, p, (size_t)size);
    }
    if (shape_is_tuple(s))
        l->elements = ARENA_ARRAY(a, struct literal *, s->count);
    for (int k = 0; shape_is_tuple(s) && k < s->count; k++) {
        l->elements[k] = ARENA_NEW(a, struct literal);
        l->elements[k]->shape = s->elements[k];
    }
    bool ok = true;
    for (int k = 0; shape_is_tuple(s) && k < s->count && ok; k++)
        ok = take_values(a, l->elements[k], r);
    return ok;
}

struct literal *unpack_literal(struct arena *a, struct reader *r)
{
    struct literal *l = ARENA_NEW(a, struct literal);
    l->shape = unpack_shape(a, r);
    if (take_values(a, l, r))
        return l;
    literal_free_data(l);
    return NULL;
}
