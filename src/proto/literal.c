/*
 * literal.c: values of constants, arguments and results. Elements are in the order of the layout,
 * the first dimension of minor_to_major fastest; storage is row-major.
 */
#include "proto/proto_priv.h"

#include "base/system.h"
#include "text/text.h"

#include <unistd.h>

/* ---- fields ---- */

static const struct proto_data_field data_fields[] = {
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

const struct proto_data_field *proto_data_field_of(enum dtype t)
{
    for (size_t k = 0; k < COUNT_OF(data_fields); k++)
        if (data_fields[k].dtype == t)
            return &data_fields[k];
    return NULL;
}

/* ---- storing elements in order ---- */

void proto_filler_init(struct filler *f, const struct literal *l, const struct shape *s,
                       int64_t count)
{
    *f = (struct filler){.data = l->data,
                         .width = dtype_bytes(s->dtype),
                         .count = count,
                         .dense = shape_equal(l->shape, s, IGNORE_LAYOUT | IGNORE_DYNAMIC) &&
                                  (s->rank < 2 || layout_is_descending(s->layout)),
                         .rank = s->rank,
                         .order = s->layout ? s->layout->minor_to_major : NULL};
    int64_t stride = (int64_t)f->width;
    for (int d = s->rank - 1; d >= 0 && !f->dense; d--) {
        f->dims[d] = s->dims[d];
        f->sizes[d] = l->shape->dims[d];
        f->outside += f->sizes[d] == 0;
        f->strides[d] = stride;
        stride *= f->sizes[d];
    }
}

static void fill_next_position(struct filler *f)
{
    for (int k = 0; k < f->rank; k++) {
        const int64_t d = f->order[k], next = ++f->index[d];
        f->offset += f->strides[d];
        f->outside += next == f->sizes[d];
        if (next < f->dims[d])
            return;
        f->outside -= f->sizes[d] > 0;
        f->offset -= next * f->strides[d];
        f->index[d] = 0;
    }
}

bool proto_fill(struct filler *f, const void *elements, size_t count)
{
    if ((uint64_t)(f->count - f->done) < count) {
        f->done = f->count + 1;
        return false;
    }
    const char *from = elements;
    if (f->dense && count > 0)
        memcpy(f->data + (size_t)f->done * f->width, from, count * f->width);
    for (size_t k = 0; !f->dense && k < count; k++) {
        if (f->outside == 0)
            memcpy(f->data + f->offset, from + k * f->width, f->width);
        fill_next_position(f);
    }
    f->done += (int64_t)count;
    return true;
}

/* ---- decoding ---- */

void proto_extend(const struct literal *l)
{
    const enum dtype t = l->shape->dtype;
    char *data = l->data;
    int64_t count = 0;
    shape_elements(l->shape, &count);
    const unsigned bits = dtype_bits(t), mask = (1u << bits) - 1, sign = 1u << (bits - 1);
    for (int64_t k = 0; k < count; k++) {
        unsigned v = (unsigned char)data[k] & mask;
        if (dtype_is_signed(t) && v & sign)
            v |= ~mask & 0xff;
        data[k] = (char)v;
    }
}

static void store_varint(char *to, enum dtype t, size_t width, uint64_t v)
{
    const uint32_t low = (uint32_t)v;
    if (t == DT_PRED)
        *to = v != 0;
    else if (width == 4)
        memcpy(to, &low, sizeof low);
    else
        memcpy(to, &v, sizeof v);
}

/* Numbers in row-major order, without tags. */
static bool fill_row_major(struct filler *f, enum dtype t, struct wire_cursor at)
{
    char *to = f->data + (size_t)f->done * f->width;
    for (; at.at < at.end && f->done < f->count; f->done++, to += f->width) {
        uint64_t v = (unsigned char)*at.at;
        if (v < 128)
            at.at++;
        else if (!wire_varint(&at, &v))
            return false;
        store_varint(to, t, f->width, v);
    }
    return at.at == at.end || proto_fill(f, NULL, 1); /* too many */
}

/* Numbers as varints, with or without tags. */
static bool fill_varints(struct filler *f, enum dtype t, const struct wire_chunk *c)
{
    struct wire_cursor at = {c->bytes.ptr, c->bytes.ptr + c->bytes.len};
    uint64_t v;
    char element[8];
    if (f->dense && f->count > 0 && !c->tagged)
        return fill_row_major(f, t, at);
    while (at.at < at.end) {
        if ((c->tagged && !wire_varint(&at, &v)) || !wire_varint(&at, &v))
            return false;
        store_varint(element, t, f->width, v);
        if (!proto_fill(f, element, 1))
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
    return proto_fill(f, x->element, 1);
}

static bool fill_fixed(struct filler *f, struct fixed *x, const struct wire_chunk *c)
{
    struct wire_cursor at = {c->bytes.ptr, c->bytes.ptr + c->bytes.len};
    struct wire_field field;
    if (!c->tagged && x->pending == 0) {
        const size_t n = c->bytes.len / f->width;
        if (!proto_fill(f, c->bytes.ptr, n))
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

void proto_release_pages(struct str mapped, struct str bytes)
{
    if (mapped.len == 0 || bytes.ptr < mapped.ptr || bytes.ptr >= mapped.ptr + mapped.len)
        return;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = ((uintptr_t)bytes.ptr + page - 1) & ~(page - 1);
    const uintptr_t end = ((uintptr_t)bytes.ptr + bytes.len) & ~(page - 1);
    if (end > begin)
        system_release_pages((void *)begin, end - begin);
}

/* The length of the next piece of a chunk. */
static size_t piece_of(const struct proto_data_field *field, bool tagged, struct str rest)
{
    enum { PIECE = 1 << 22 };
    size_t n = tagged || rest.len < PIECE ? rest.len : PIECE;
    while (field->coding == VARINTS && n < rest.len && (unsigned char)rest.ptr[n - 1] > 127)
        n++;
    return n;
}

/* A large value is decoded in pieces, so that its pages can be released. */
static bool fill_chunk(struct filler *f, const struct proto_data_field *field, struct fixed *x,
                       const struct wire_chunk *c, struct str mapped)
{
    struct str rest = c->bytes;
    while (rest.len > 0) {
        struct wire_chunk piece = *c;
        piece.bytes = (struct str){rest.ptr, piece_of(field, c->tagged, rest)};
        if (!(field->coding == VARINTS ? fill_varints(f, (enum dtype)field->dtype, &piece)
                                       : fill_fixed(f, x, &piece)))
            return false;
        proto_release_pages(mapped, piece.bytes);
        rest = str_skip(rest, piece.bytes.len);
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
    if (l->chunk_count == 0)
        return (struct chunk_list){NULL, 0};
    return (struct chunk_list){r->p->scan.chunks + l->first_chunk, (size_t)l->chunk_count};
}

/* The first chunk of a field that counts: of a field of bytes, the last occurrence. */
static size_t first_chunk_of(struct chunk_list list, const struct proto_data_field *field)
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
                       const struct shape *s, int64_t elements)
{
    const struct proto_data_field *field = proto_data_field_of(s->dtype);
    const struct chunk_list list = chunks_of(r, p);
    struct fixed x = {.part = dtype_bytes(dtype_component(s->dtype))};
    struct filler f;
    proto_filler_init(&f, l, s, elements);
    bool ok = true;
    for (size_t k = first_chunk_of(list, field); ok && k < list.count; k++)
        if (list.at[k].field == field->number)
            ok = fill_chunk(&f, field, &x, &list.at[k], r->p->mapped);
    if (!ok && f.done <= elements)
        return proto_error(r, field->name, -1, "malformed list of numbers");
    if (!ok || f.done != elements || x.pending != 0)
        return proto_error(r, field->name, -1, "expected %" PRId64 " elements, got %s", elements,
                           f.done > elements ? "more" : "fewer");
    if (dtype_is_subbyte(s->dtype))
        proto_extend(l);
    return true;
}

bool proto_check_size(struct reader *r, const struct shape *s, int d, int64_t size)
{
    if (size < 0 || size > s->dims[d] || (size < s->dims[d] && !shape_dim_dynamic(s, d)))
        return proto_error(r, "dynamic_sizes", d, "size %" PRId64 " of a dimension of %s%" PRId64,
                           size, shape_dim_dynamic(s, d) ? "at most " : "", s->dims[d]);
    if (size < s->dims[d] && !r->actual_sizes)
        return proto_error(r, "dynamic_sizes", d,
                           "constants smaller than their bounds are not supported");
    return true;
}

/* The sizes of the dimensions; NULL with an error. */
static const int64_t *sizes_of(struct reader *r, const Xla__LiteralProto *l, const struct shape *s)
{
    int64_t *sizes = ARENA_DUP(&r->scratch, s->dims, (size_t)s->rank);
    if (l->n_dynamic_sizes != 0 && l->n_dynamic_sizes != (size_t)s->rank)
        return proto_error(r, "dynamic_sizes", -1, "%zu sizes of %d dimensions", l->n_dynamic_sizes,
                           s->rank),
               NULL;
    for (size_t d = 0; d < l->n_dynamic_sizes; d++) {
        sizes[d] = l->dynamic_sizes[d];
        if (!proto_check_size(r, s, (int)d, sizes[d]))
            return NULL;
    }
    return sizes;
}

struct literal *proto_new_array(struct reader *r, const struct shape *s, const int64_t *sizes,
                                int64_t elements)
{
    struct literal *l = literal_new(
        r->a, r->actual_sizes ? shape_array(r->a, s->dtype, s->rank, sizes, NULL, NULL) : s);
    if (!l)
        proto_error(r, NULL, -1, "out of memory for a literal of %" PRId64 " elements", elements);
    return l;
}

static struct literal *read_array(struct reader *r, const Xla__LiteralProto *p,
                                  const struct shape *s)
{
    int64_t elements;
    if (p->n_tuple_literals)
        return proto_error(r, "tuple_literals", -1, "components of an array"), NULL;
    if (s->rank > VIEW_MAX_RANK || !shape_elements(s, &elements))
        return proto_error(r, "shape", -1, "literal is too large"), NULL;
    if (!proto_data_field_of(s->dtype))
        return proto_error(r, "shape", -1, "literal of type %s", dtype_spelling(s->dtype)), NULL;
    const int64_t *sizes = sizes_of(r, p, s);
    if (!sizes)
        return NULL;
    if (!may_hold(chunks_of(r, p), elements))
        return proto_error(r, proto_data_field_of(s->dtype)->name, -1,
                           "expected %" PRId64 " elements, got fewer", elements),
               NULL;
    struct literal *l = proto_new_array(r, s, sizes, elements);
    if (!l || fill_array(r, p, l, s, elements))
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

struct literal *proto_read_literal(struct reader *r, const Xla__LiteralProto *l)
{
    const struct shape *s = proto_shape(r, l->shape, "shape", -1);
    return s ? read_as(r, l, shape_copy(r->a, s)) : NULL;
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
    size_t low = 0;
    BISECT(low, p->value_count, middle, p->values[middle].at < at);
    return low < p->value_count && p->values[low].at == at ? &p->values[low] : NULL;
}

static void set_order(const struct proto_module *p, struct module *m, struct computation *c)
{
    size_t low = 0;
    BISECT(low, p->order_count, middle, p->orders[middle].at < c->name_span.begin);
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
    SCOPED_READER r = {.p = own, .ds = ds, .a = &m->arena, .scratch = arena_make()};
    bool ok = true;
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
    return ok;
}
