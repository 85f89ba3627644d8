/*
 * literal.c: values of constants. Elements are in the order of the layout, the first dimension of
 * minor_to_major fastest; storage is row-major.
 */
#include "proto/proto_priv.h"

#include "text/text.h"

#include <sys/mman.h>
#include <unistd.h>

/* ---- fields ---- */

enum coding { VARINTS, FIXED, RAW };
static const struct data_field {
    uint8_t dtype, number, coding;
    const char *name;
} data_fields[] = {
    {DT_PRED, 2, VARINTS, "preds"},
    {DT_U8, 3, RAW, "u8s"},
    {DT_S32, 4, VARINTS, "s32s"},
    {DT_S64, 5, VARINTS, "s64s"},
    {DT_U32, 6, VARINTS, "u32s"},
    {DT_U64, 7, VARINTS, "u64s"},
    {DT_F32, 8, FIXED, "f32s"},
    {DT_F64, 9, FIXED, "f64s"},
    {DT_F16, 11, RAW, "f16s"},
    {DT_C64, 12, FIXED, "c64s"},
    {DT_BF16, 13, RAW, "bf16s"},
    {DT_S8, 15, RAW, "s8s"},
    {DT_U16, 16, RAW, "u16s"},
    {DT_S16, 17, RAW, "s16s"},
    {DT_C128, 18, FIXED, "c128s"},
    {DT_F8E5M2, 19, RAW, "f8e5m2s"},
    {DT_F8E4M3FN, 20, RAW, "f8e4m3fns"},
    {DT_S4, 21, RAW, "s4s"},
    {DT_U4, 22, RAW, "u4s"},
    {DT_F8E4M3B11FNUZ, 23, RAW, "f8e4m3b11fnuzs"},
    {DT_F8E5M2FNUZ, 24, RAW, "f8e5m2fnuzs"},
    {DT_F8E4M3FNUZ, 25, RAW, "f8e4m3fnuzs"},
    {DT_S2, 26, RAW, "s2s"},
    {DT_U2, 27, RAW, "u2s"},
    {DT_F8E4M3, 28, RAW, "f8e4m3s"},
    {DT_F8E3M4, 29, RAW, "f8e3m4s"},
    {DT_S1, 30, RAW, "s1s"},
    {DT_U1, 31, RAW, "u1s"},
    {DT_F4E2M1FN, 32, RAW, "f4e2m1fns"},
    {DT_F8E8M0FNU, 33, RAW, "f8e8m0fnus"},
    {DT_F6E3M2FN, 35, RAW, "f6e3m2fns"},
    {DT_F6E2M3FN, 36, RAW, "f6e2m3fns"},
};

static const struct data_field *field_of(enum dtype t)
{
    for (size_t k = 0; k < COUNT_OF(data_fields); k++)
        if (data_fields[k].dtype == t)
            return &data_fields[k];
    return NULL;
}

/* ---- storing elements in order ---- */

/* Elements in the order of the layout are stored at increasing positions of it. */
struct filler {
    char *data;
    size_t width;
    int64_t done, count;
    bool dense; /* the layout is row-major: the order is that of storage */
    int rank;
    const int64_t *order; /* dimensions, minor to major */
    int64_t dims[VIEW_MAX_RANK], strides[VIEW_MAX_RANK], index[VIEW_MAX_RANK];
    int64_t offset; /* of the next element, in bytes */
};

static void filler_init(struct filler *f, const struct literal *l, int64_t count)
{
    const struct shape *s = l->shape;
    *f = (struct filler){.data = l->data,
                         .width = dtype_bytes(s->dtype),
                         .count = count,
                         .dense = s->rank < 2 || layout_is_descending(s->layout),
                         .rank = s->rank,
                         .order = s->layout->minor_to_major};
    int64_t stride = (int64_t)f->width;
    for (int d = s->rank - 1; d >= 0 && !f->dense; d--) {
        f->dims[d] = s->dims[d];
        f->strides[d] = stride;
        stride *= s->dims[d];
    }
}

static void fill_next_position(struct filler *f)
{
    for (int k = 0; k < f->rank; k++) {
        const int64_t d = f->order[k];
        f->offset += f->strides[d];
        if (++f->index[d] < f->dims[d])
            return;
        f->offset -= f->dims[d] * f->strides[d];
        f->index[d] = 0;
    }
}

/* Appends elements; false if there are too many. */
static bool fill(struct filler *f, const void *elements, size_t count)
{
    if ((uint64_t)(f->count - f->done) < count) {
        f->done = f->count + 1;
        return false;
    }
    const char *from = elements;
    if (f->dense && count > 0)
        memcpy(f->data + (size_t)f->done * f->width, from, count * f->width);
    for (size_t k = 0; !f->dense && k < count; k++) {
        memcpy(f->data + f->offset, from + k * f->width, f->width);
        fill_next_position(f);
    }
    f->done += (int64_t)count;
    return true;
}

/* ---- decoding ---- */

/* Sign- or zero-extends elements narrower than a byte. */
static void extend(enum dtype t, char *data, int64_t count)
{
    const unsigned bits = dtype_bits(t), mask = (1u << bits) - 1, sign = 1u << (bits - 1);
    for (int64_t k = 0; k < count; k++) {
        unsigned v = (unsigned char)data[k] & mask;
        if (dtype_is_signed(t) && v & sign)
            v |= ~mask & 0xff;
        data[k] = (char)v;
    }
}

static bool fill_varint(struct filler *f, enum dtype t, uint64_t v)
{
    const uint8_t flag = v != 0;
    const uint32_t low = (uint32_t)v;
    return fill(f, t == DT_PRED ? (const void *)&flag : f->width == 4 ? (const void *)&low : &v, 1);
}

/* Numbers as varints, with or without tags. */
static bool fill_varints(struct filler *f, enum dtype t, const struct wire_chunk *c)
{
    struct wire_cursor at = {c->bytes.ptr, c->bytes.ptr + c->bytes.len};
    uint64_t v;
    while (at.at < at.end) {
        if (c->tagged && !wire_varint(&at, &v))
            return false;
        if (!wire_varint(&at, &v) || !fill_varint(f, t, v))
            return false;
    }
    return true;
}

/* Numbers of fixed width: whole elements, or the parts of complex ones. */
struct fixed {
    size_t part;    /* bytes */
    size_t pending; /* bytes of an element that is not complete */
    char element[16];
};

static bool fill_part(struct filler *f, struct fixed *x, const char *part)
{
    memcpy(x->element + x->pending, part, x->part);
    x->pending += x->part;
    if (x->pending < f->width)
        return true;
    x->pending = 0;
    return fill(f, x->element, 1);
}

static bool fill_fixed(struct filler *f, struct fixed *x, const struct wire_chunk *c)
{
    struct wire_cursor at = {c->bytes.ptr, c->bytes.ptr + c->bytes.len};
    struct wire_field field;
    if (!c->tagged && x->pending == 0) {
        const size_t n = c->bytes.len / f->width;
        if (!fill(f, c->bytes.ptr, n))
            return false;
        at.at += n * f->width;
    }
    while (at.at < at.end) {
        if (c->tagged ? !wire_next(&at, &field) : (size_t)(at.end - at.at) < x->part)
            return false;
        if (!fill_part(f, x, c->tagged ? field.value.ptr : at.at))
            return false;
        at.at += c->tagged ? 0 : x->part;
    }
    return true;
}

/* Releases the whole pages of bytes of a mapped file, which are not read again. */
static void release_pages(struct str bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = ((uintptr_t)bytes.ptr + page - 1) & ~(page - 1);
    const uintptr_t end = ((uintptr_t)bytes.ptr + bytes.len) & ~(page - 1);
    if (end > begin)
        madvise((void *)begin, end - begin, MADV_DONTNEED);
}

/* A large value is decoded in pieces, so that its pages can be released. */
static bool fill_chunk(struct filler *f, const struct data_field *field, struct fixed *x,
                       const struct wire_chunk *c, bool mapped)
{
    enum { PIECE = 1 << 22 };
    const bool pieces = !c->tagged && field->coding != VARINTS;
    struct str rest = c->bytes;
    while (rest.len > 0) {
        struct wire_chunk piece = *c;
        piece.bytes = (struct str){rest.ptr, pieces && rest.len > PIECE ? PIECE : rest.len};
        if (!(field->coding == VARINTS ? fill_varints(f, (enum dtype)field->dtype, &piece)
                                       : fill_fixed(f, x, &piece)))
            return false;
        if (mapped)
            release_pages(piece.bytes);
        rest = (struct str){rest.ptr + piece.bytes.len, rest.len - piece.bytes.len};
    }
    return true;
}

/* ---- literals ---- */

/* The chunks of a literal. */
struct chunk_list {
    const struct wire_chunk *at;
    size_t count;
};

static struct chunk_list chunks_of(const struct reader *r, const Xla__LiteralProto *l)
{
    return (struct chunk_list){r->p->scan.chunks + l->first_chunk, (size_t)l->chunk_count};
}

/* The first chunk of a field that counts: of a field of bytes, the last occurrence. */
static size_t first_chunk_of(struct chunk_list list, const struct data_field *field)
{
    size_t first = 0;
    for (size_t k = 0; field->coding == RAW && k < list.count; k++)
        if (list.at[k].field == field->number)
            first = k;
    return first;
}

bool proto_literal_is_absent(const Xla__LiteralProto *l)
{
    if (!l || l->chunk_count > 0 || !l->shape)
        return !l;
    bool array = l->shape->element_type != XLA__PRIMITIVE_TYPE__TUPLE &&
                 l->shape->element_type != XLA__PRIMITIVE_TYPE__TOKEN;
    for (size_t d = 0; d < l->shape->n_dimensions; d++)
        array &= l->shape->dimensions[d] != 0;
    return array;
}

/* Whether the chunks may have as many elements; each has a byte at least. */
static bool may_hold(struct chunk_list list, int64_t elements)
{
    uint64_t bytes = 0;
    for (size_t k = 0; k < list.count; k++)
        bytes += list.at[k].bytes.len;
    return (uint64_t)elements <= bytes;
}

static bool fill_array(struct reader *r, const Xla__LiteralProto *p, struct literal *l,
                       int64_t elements)
{
    const enum dtype t = l->shape->dtype;
    const struct data_field *field = field_of(t);
    const struct chunk_list list = chunks_of(r, p);
    struct fixed x = {.part = dtype_bytes(dtype_component(t))};
    struct filler f;
    filler_init(&f, l, elements);
    bool ok = true;
    for (size_t k = first_chunk_of(list, field); ok && k < list.count; k++)
        if (list.at[k].field == field->number)
            ok = fill_chunk(&f, field, &x, &list.at[k], r->p->mapped);
    if (ok && f.done == elements && x.pending == 0) {
        if (dtype_is_subbyte(t))
            extend(t, l->data, elements);
        return true;
    }
    return proto_error(r, field->name, -1, "expected %" PRId64 " elements, got %s", elements,
                       f.done > elements ? "more" : "fewer");
}

static bool check_sizes(struct reader *r, const Xla__LiteralProto *l, const struct shape *s)
{
    for (size_t k = 0; k < l->n_dynamic_sizes; k++)
        if (k >= (size_t)s->rank || l->dynamic_sizes[k] != s->dims[k])
            return proto_error(r, "dynamic_sizes", (int64_t)k,
                               "literals smaller than their bounds are not supported");
    return true;
}

static struct literal *read_array(struct reader *r, const Xla__LiteralProto *p,
                                  const struct shape *s)
{
    int64_t elements;
    if (p->n_tuple_literals)
        return proto_error(r, "tuple_literals", -1, "components of an array"), NULL;
    if (s->rank > VIEW_MAX_RANK || !shape_elements(s, &elements))
        return proto_error(r, "shape", -1, "literal is too large"), NULL;
    if (!field_of(s->dtype))
        return proto_error(r, "shape", -1, "literal of type %s", dtype_spelling(s->dtype)), NULL;
    if (!check_sizes(r, p, s))
        return NULL;
    if (!may_hold(chunks_of(r, p), elements))
        return proto_error(r, field_of(s->dtype)->name, -1,
                           "expected %" PRId64 " elements, got fewer", elements),
               NULL;
    struct literal *l = literal_new(r->a, s);
    if (!l)
        return proto_error(r, NULL, -1, "out of memory for a literal of %" PRId64 " elements",
                           elements),
               NULL;
    if (fill_array(r, p, l, elements))
        return l;
    literal_free_data(l);
    return NULL;
}

static struct literal *read_as(struct reader *r, const Xla__LiteralProto *p, const struct shape *s)
{
    if (shape_is_array(s))
        return read_array(r, p, s);
    if (!shape_is_tuple(s))
        return literal_new(r->a, s);
    if (p->n_tuple_literals != (size_t)s->count)
        return proto_error(r, "tuple_literals", -1, "%zu components, expected %d",
                           p->n_tuple_literals, s->count),
               NULL;
    struct literal **elements = ARENA_ARRAY(r->a, struct literal *, s->count + 1);
    for (int k = 0; k < s->count; k++) {
        const size_t node = proto_enter(r, "tuple_literals", k);
        elements[k] = read_as(r, p->tuple_literals[k], s->elements[k]);
        proto_leave(r, node);
        if (elements[k])
            continue;
        literal_tuple(r->a, elements, s->count); /* frees the others */
        return NULL;
    }
    return literal_tuple(r->a, elements, s->count);
}

/* ---- text ---- */

/* `{...}` for arrays, `({...}, 1)` for tuples. A scalar has no braces. */
static bool put_elided(struct reader *r, const Xla__LiteralProto *p, const struct shape *s,
                       bool shapes)
{
    if (shape_is_tuple(s)) {
        if (p->n_tuple_literals != (size_t)s->count)
            return proto_error(r, "tuple_literals", -1, "%zu components, expected %d",
                               p->n_tuple_literals, s->count);
        buf_puts(r->out, "(");
        for (int k = 0; k < s->count; k++) {
            buf_puts(r->out, k ? ", " : " ");
            if (!put_elided(r, p->tuple_literals[k], s->elements[k], shapes))
                return false;
        }
        buf_puts(r->out, " )");
        return true;
    }
    if (shapes) {
        shape_print(r->out, s, true);
        buf_putc(r->out, ' ');
    }
    if (shape_is_array(s) && s->rank > 0 && !r->inline_values) {
        buf_puts(r->out, "{...}");
        return true;
    }
    struct literal *l = read_as(r, p, s);
    if (!l)
        return false;
    text_print_literal_exact(r->out, l);
    literal_free_data(l);
    return true;
}

bool proto_put_literal(struct reader *r, const Xla__LiteralProto *l, uint32_t at, bool shapes)
{
    struct proto_module *p = r->p;
    const size_t node = proto_enter(r, "literal", -1);
    const struct shape *s = proto_shape(r, l->shape, "shape", -1);
    if (!s || !put_elided(r, l, s, shapes))
        return false;
    if (!r->inline_values)
        VEC_PUSH(&p->arena, p->values, p->value_count, p->value_capacity) =
            (struct proto_value){at, l, r->node};
    proto_leave(r, node);
    return true;
}

static bool set_value(struct reader *r, const struct proto_value *v, struct module *m,
                      struct inst *i)
{
    struct attr *attr = (struct attr *)(uintptr_t)inst_attr(i, A_LITERAL);
    struct literal **slot = i->opcode == OP_CONSTANT ? &i->literal : attr ? &attr->v.literal : NULL;
    r->node = v->node;
    if (!slot)
        return true;
    const struct shape *expected = *slot ? (*slot)->shape : i->shape;
    const struct shape *s = proto_shape(r, v->literal->shape, "shape", -1);
    if (!s)
        return false;
    if (!shape_equal(s, expected, IGNORE_LAYOUT | IGNORE_DYNAMIC))
        return proto_error(r, "shape", -1, "literal is " STR_FMT ", but the constant is " STR_FMT,
                           STR_ARG(shape_text(&r->scratch, s)),
                           STR_ARG(shape_text(&r->scratch, expected)));
    struct literal *l = read_as(r, v->literal, shape_copy(&m->arena, s));
    if (!l)
        return false;
    l->shape = expected;
    module_own_literal(m, l);
    *slot = l;
    return true;
}

/* The value of the instruction whose name begins at an offset; NULL: none. */
static const struct proto_value *value_at(const struct proto_module *p, uint32_t at)
{
    size_t low = 0, high = p->value_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (p->values[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->value_count && p->values[low].at == at ? &p->values[low] : NULL;
}

static void set_order(const struct proto_module *p, struct module *m, struct computation *c)
{
    size_t low = 0, high = p->order_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (p->orders[middle].at < c->name_span.begin)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == p->order_count || p->orders[low].at != c->name_span.begin)
        return;
    const struct proto_order *o = &p->orders[low];
    if (o->count != c->inst_count)
        return;
    c->visit_order = ARENA_DUP(&m->arena, o->visit, o->count);
    c->visit_count = o->count;
}

bool proto_complete(struct diags *ds, const struct proto_module *p, struct module *m)
{
    struct proto_module *own = (struct proto_module *)(uintptr_t)p; /* paths are appended */
    struct reader r = {.p = own, .ds = ds, .a = &m->arena};
    bool ok = true;
    arena_init(&r.scratch);
    const struct arena_mark mark = arena_mark(&r.scratch);
    for (int c = 0; ok && c < m->computation_count; c++) {
        struct computation *comp = m->computations[c];
        set_order(p, m, comp);
        for (int k = 0; ok && k < comp->inst_count; k++) {
            const struct proto_value *v = value_at(p, comp->insts[k]->name_span.begin);
            ok = !v || set_value(&r, v, m, comp->insts[k]);
            arena_release(&r.scratch, mark);
        }
    }
    arena_free(&r.scratch);
    return ok;
}
