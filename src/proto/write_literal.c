/*
 * write_literal.c: values as messages. Elements are read from the storage of the literal when the
 * message is encoded, in the order of the layout.
 */
#include "proto/write_priv.h"

const struct proto_elements *proto_elements_of(const Xla__LiteralProto *l)
{
    return (const struct proto_elements *)(uintptr_t)l->first_chunk;
}

/* ---- the order of the layout ---- */

/* The layout that an array has outside of an instruction: an order only. */
static const struct shape *plain_shape(struct writer *w, const struct shape *s)
{
    struct layout *l = ARENA_NEW(w->a, struct layout);
    *l = (struct layout){.rank = s->rank,
                         .minor_to_major = s->layout->minor_to_major,
                         .tail_padding = 1,
                         .index_type = DT_COUNT,
                         .pointer_type = DT_COUNT};
    return shape_with_layout(w->a, s, l);
}

static void next_position(const struct proto_elements *e, struct proto_position *at)
{
    for (int k = 0; k < e->rank; k++) {
        const int64_t d = e->order[k];
        at->offset += e->strides[d];
        if (++at->index[d] < e->dims[d])
            return;
        at->offset -= e->dims[d] * e->strides[d];
        at->index[d] = 0;
    }
}

/* The bits of elements narrower than a byte, whose storage is extended. */
static void mask(enum dtype t, char *bytes, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        bytes[k] = (char)(bytes[k] & ((1 << dtype_bits(t)) - 1));
}

const char *proto_next_elements(const struct proto_elements *e, struct proto_position *at,
                                char *buffer, size_t size, int64_t *count)
{
    const size_t width = dtype_bytes(e->dtype);
    const char *from = e->data + (size_t)at->done * width;
    *count = (int64_t)(size / width) < e->count - at->done ? (int64_t)(size / width)
                                                           : e->count - at->done;
    const bool direct = e->dense && !dtype_is_subbyte(e->dtype);
    if (!direct && e->dense)
        memcpy(buffer, from, (size_t)*count * width);
    for (int64_t k = 0; !e->dense && k < *count; k++) {
        memcpy(buffer + (size_t)k * width, e->data + at->offset, width);
        next_position(e, at);
    }
    if (dtype_is_subbyte(e->dtype))
        mask(e->dtype, buffer, *count);
    at->done += *count;
    return direct ? from : buffer;
}

/* ---- sizes ---- */

uint64_t proto_element_varint(enum dtype t, const char *element)
{
    uint64_t wide;
    uint32_t narrow;
    if (t == DT_PRED)
        return *element != 0;
    if (dtype_bytes(t) == sizeof wide) {
        memcpy(&wide, element, sizeof wide);
        return wide;
    }
    memcpy(&narrow, element, sizeof narrow);
    return t == DT_S32 ? (uint64_t)(int64_t)(int32_t)narrow : narrow;
}

static uint64_t size_of(const struct proto_elements *e)
{
    const size_t width = dtype_bytes(e->dtype);
    uint64_t size = 0;
    if (e->field->coding != VARINTS || e->dtype == DT_PRED)
        return (uint64_t)e->count * width;
    for (int64_t k = 0; k < e->count; k++)
        size += wire_varint_size(proto_element_varint(e->dtype, e->data + (size_t)k * width));
    return size;
}

/* ---- literals ---- */

static const struct proto_elements *new_elements(struct writer *w, const struct literal *l)
{
    const struct shape *s = l->shape;
    struct proto_elements *e = ARENA_NEW(w->a, struct proto_elements);
    *e = (struct proto_elements){.field = proto_data_field_of(s->dtype),
                                 .dtype = s->dtype,
                                 .data = l->data,
                                 .dense = s->rank < 2 || layout_is_descending(s->layout),
                                 .rank = s->rank,
                                 .order = s->layout->minor_to_major};
    if (!e->field || s->rank > VIEW_MAX_RANK || !shape_elements(s, &e->count)) {
        proto_write_error(w, "literal of shape " STR_FMT, STR_ARG(shape_text(w->a, s)));
        return NULL;
    }
    struct view v;
    view_dense(&v, s->dtype, s->rank, s->dims, l->data);
    memcpy(e->dims, v.dims, sizeof e->dims);
    memcpy(e->strides, v.strides, sizeof e->strides);
    e->size = size_of(e);
    return e;
}

static void set_dynamic_sizes(struct writer *w, const struct shape *s, Xla__LiteralProto *out)
{
    if (!shape_has_dynamic(s))
        return;
    NEW_LIST(w, out, dynamic_sizes, s->rank);
    for (int d = 0; d < s->rank; d++)
        out->dynamic_sizes[d] = (int32_t)s->dims[d];
}

static bool is_elided(const struct literal *l)
{
    if (!shape_is_tuple(l->shape))
        return l->elided;
    for (int k = 0; k < l->shape->count; k++)
        if (is_elided(l->elements[k]))
            return true;
    return false;
}

static Xla__LiteralProto *of_literal(struct writer *w, const struct literal *l)
{
    Xla__LiteralProto *out = NEW(w, literal_proto);
    const struct shape *s = l->shape;
    if (shape_is_array(s)) {
        out->shape = proto_of_shape(w, plain_shape(w, s));
        out->first_chunk = (uintptr_t)new_elements(w, l);
        set_dynamic_sizes(w, s, out);
        return out;
    }
    out->shape = proto_of_shape(w, s);
    NEW_LIST(w, out, tuple_literals, shape_is_tuple(s) ? s->count : 0);
    for (size_t k = 0; k < out->n_tuple_literals; k++) {
        out->tuple_literals[k] = of_literal(w, l->elements[k]);
        out->shape->tuple_shapes[k] = out->tuple_literals[k]->shape;
    }
    return out;
}

Xla__LiteralProto *proto_of_literal(struct writer *w, const struct literal *l)
{
    if (!l || !is_elided(l))
        return l ? of_literal(w, l) : NULL;
    if (shape_is_tuple(l->shape))
        proto_write_error(w, "a tuple with elided values");
    return NULL;
}
