/*
 * emit.c: parts of the text that several attributes have: numbers, strings, shapes, metadata,
 * original values.
 */
#include "proto/proto_priv.h"

#include <math.h>
#include <stdlib.h>

/* ---- numbers and strings ---- */

void proto_put_ints(struct buf *out, size_t count, const int64_t *at, const char *brackets)
{
    for (size_t k = 0; BUF_LIST(out, k, count, brackets, ","); k++)
        buf_int(out, at[k]);
}

void proto_put_name(struct buf *out, struct str name)
{
    buf_putc(out, '%');
    buf_str(out, name);
}

bool proto_put_enum(struct buf *out, const ProtobufCEnumDescriptor *d, int value, size_t skip,
                    bool lower)
{
    const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value(d, value);
    if (!v)
        return false;
    for (const char *p = v->name + skip; *p; p++)
        buf_putc(out, (char)(lower && *p >= 'A' && *p <= 'Z' ? *p + 'a' - 'A' : *p));
    return true;
}

/* ---- shapes ---- */

static enum dtype dtype_of(Xla__PrimitiveType t)
{
    switch (t) {
    case XLA__PRIMITIVE_TYPE__TUPLE: return DT_TUPLE;
    case XLA__PRIMITIVE_TYPE__OPAQUE_TYPE: return DT_OPAQUE;
    case XLA__PRIMITIVE_TYPE__BUFFER: return DT_BUFFER;
    default: break;
    }
    const ProtobufCEnumValue *v =
        protobuf_c_enum_descriptor_get_value(&xla__primitive_type__descriptor, (int)t);
    char word[32];
    size_t n = 0;
    for (const char *p = v ? v->name : ""; *p && n < sizeof word; p++)
        word[n++] = (char)(*p >= 'A' && *p <= 'Z' ? *p + 'a' - 'A' : *p);
    return dtype_find((struct str){word, n});
}

static const struct tile *tiles_of(struct arena *a, const Xla__LayoutProto *l)
{
    struct tile *tiles = ARENA_ARRAY(a, struct tile, l->n_tiles);
    for (size_t k = 0; k < l->n_tiles; k++)
        tiles[k] = (struct tile){(int)l->tiles[k]->n_dimensions, l->tiles[k]->dimensions};
    return tiles;
}

static const struct split_config *splits_of(struct arena *a, const Xla__LayoutProto *l)
{
    struct split_config *splits = ARENA_ARRAY(a, struct split_config, l->n_split_configs);
    for (size_t k = 0; k < l->n_split_configs; k++) {
        const Xla__SplitConfigProto *s = l->split_configs[k];
        splits[k] = (struct split_config){s->dimension, (int)s->n_split_indices, s->split_indices};
    }
    return splits;
}

/* An index or pointer type of a layout; DT_COUNT: absent. */
static enum dtype layout_type(Xla__PrimitiveType t)
{
    const enum dtype found = dtype_of(t);
    return t == 0 ? DT_COUNT : found == DT_INVALID ? DT_TUPLE : found;
}

static const struct layout *layout_of(struct reader *r, const Xla__LayoutProto *l, int rank)
{
    struct arena *a = &r->scratch;
    struct layout *out = ARENA_NEW(a, struct layout);
    *out = (struct layout){
        .rank = rank,
        .minor_to_major = l->minor_to_major,
        .tile_count = (int)l->n_tiles,
        .tiles = tiles_of(a, l),
        .tail_padding = max_i64(l->tail_padding_alignment_in_elements, 1),
        .index_type = layout_type(l->index_primitive_type),
        .pointer_type = layout_type(l->pointer_primitive_type),
        .element_bits = l->element_size_in_bits,
        .memory_space = l->memory_space,
        .split_count = (int)l->n_split_configs,
        .splits = splits_of(a, l),
        .metadata_prefix = l->dynamic_shape_metadata_prefix_bytes,
    };
    return out;
}

static const struct shape *array_of(struct reader *r, const Xla__ShapeProto *s, enum dtype t,
                                    const char *field, int64_t index)
{
    struct arena *a = &r->scratch;
    const size_t rank = s->n_dimensions;
    const Xla__LayoutProto *l = s->layout;
    if (rank > INT16_MAX)
        return proto_error(r, field, index, "%zu dimensions", rank), NULL;
    if (s->n_is_dynamic_dimension != 0 && s->n_is_dynamic_dimension != rank)
        return proto_error(r, field, index, "is_dynamic_dimension has %zu entries, expected %zu",
                           s->n_is_dynamic_dimension, rank),
               NULL;
    if (l && l->n_minor_to_major != rank)
        return proto_error(r, field, index, "minor_to_major has %zu entries, expected %zu",
                           l->n_minor_to_major, rank),
               NULL;
    if (l && !ints_are_permutation((int)rank, l->minor_to_major))
        return proto_error(r, field, index, "minor_to_major is not a permutation"), NULL;
    bool *dynamic = ARENA_ARRAY(a, bool, rank);
    for (size_t d = 0; d < rank; d++) {
        const int64_t size = s->dimensions[d];
        dynamic[d] = s->n_is_dynamic_dimension ? s->is_dynamic_dimension[d] : false;
        if (size < 0 && !(size == DIM_UNBOUNDED && dynamic[d]))
            return proto_error(r, field, index, "dimension %zu has size %" PRId64, d, size), NULL;
    }
    return shape_array(a, t, (int)rank, s->dimensions, dynamic,
                       l ? layout_of(r, l, (int)rank) : NULL);
}

const struct shape *proto_shape(struct reader *r, const Xla__ShapeProto *s, const char *field,
                                int64_t index)
{
    if (!s)
        return proto_error(r, field, index, "shape is missing"), NULL;
    const enum dtype t = dtype_of(s->element_type);
    if (t == DT_INVALID)
        return proto_error(r, field, index, "unknown element type %d", (int)s->element_type), NULL;
    if (dtype_is_array(t))
        return array_of(r, s, t, field, index);
    if (s->layout && t != DT_BUFFER)
        return proto_error(r, field, index, "shape of type %s with a layout", dtype_spelling(t)),
               NULL;
    if (t == DT_TOKEN)
        return shape_token();
    if (t == DT_OPAQUE)
        return shape_opaque();
    if (t == DT_BUFFER && s->n_tuple_shapes != 1)
        return proto_error(r, field, index, "buffer of %zu shapes, expected 1", s->n_tuple_shapes),
               NULL;
    const struct shape **elements =
        ARENA_ARRAY(&r->scratch, const struct shape *, s->n_tuple_shapes + 1);
    for (size_t k = 0; k < s->n_tuple_shapes; k++)
        if (!(elements[k] = proto_shape(r, s->tuple_shapes[k], field, index)))
            return NULL;
    if (t == DT_TUPLE)
        return shape_tuple(&r->scratch, (int)s->n_tuple_shapes, elements);
    if (!shape_is_array(elements[0]))
        return proto_error(r, field, index, "buffer of a shape that is not an array"), NULL;
    return shape_buffer(&r->scratch, elements[0]);
}

bool proto_put_shape(struct reader *r, const Xla__ShapeProto *s, const char *field, int64_t index)
{
    const struct shape *shape = proto_shape(r, s, field, index);
    if (shape)
        shape_print(r->out, shape, true);
    return shape != NULL;
}

/* ---- metadata ---- */

struct str proto_payload(const struct reader *r, const Xla__Payload *p)
{
    if (p->payload_source_case == XLA__PAYLOAD__PAYLOAD_SOURCE_VALUE)
        return str_of_bytes(p->value);
    const bool given = p->payload_source_case == XLA__PAYLOAD__PAYLOAD_SOURCE_ID;
    const bool found = given && p->id >= 0 && (uint64_t)p->id < r->m->n_payloads;
    return found ? str_of_bytes(r->m->payloads[p->id]) : STR("");
}

bool proto_metadata_is_empty(const Xla__OpMetadata *m)
{
    return !*m->op_type && !*m->op_name && !*m->source_file && !m->source_line &&
           !m->n_profile_type && !*m->deduplicated_name && !m->stack_frame_id &&
           !*m->scheduling_name && !m->source_end_line && !m->source_column &&
           !m->source_end_column && !m->metadata_payload;
}

static void put_field(struct buf *out, const char *name, const char *value)
{
    if (!*value)
        return;
    buf_printf(out, "%s=", name);
    text_print_quoted(out, str_of(value));
    buf_putc(out, ' ');
}

static void put_number(struct buf *out, const char *name, int32_t value)
{
    if (value)
        buf_printf(out, "%s=%" PRId32 " ", name, value);
}

void proto_put_metadata(struct reader *r, const Xla__OpMetadata *m)
{
    struct buf *out = r->out;
    buf_putc(out, '{');
    put_field(out, "op_type", m->op_type);
    put_field(out, "op_name", m->op_name);
    put_field(out, "source_file", m->source_file);
    put_number(out, "source_line", m->source_line);
    put_number(out, "source_end_line", m->source_end_line);
    put_number(out, "source_column", m->source_column);
    put_number(out, "source_end_column", m->source_end_column);
    if (m->n_profile_type) {
        buf_puts(out, "profile_type=");
        for (size_t k = 0; BUF_LIST(out, k, m->n_profile_type, "{}", ","); k++)
            buf_int(out, (int64_t)m->profile_type[k]);
        buf_putc(out, ' ');
    }
    put_field(out, "deduplicated_name", m->deduplicated_name);
    put_field(out, "scheduling_name", m->scheduling_name);
    put_number(out, "stack_frame_id", m->stack_frame_id);
    if (m->metadata_payload) {
        buf_puts(out, "metadata_payload=");
        text_print_quoted(out, proto_payload(r, m->metadata_payload));
    }
    if (out->data[out->size - 1] == ' ')
        out->size--;
    buf_putc(out, '}');
}

void proto_put_frontend(struct buf *out, const Xla__FrontendAttributes *f)
{
    for (size_t k = 0; BUF_LIST(out, k, f->n_map, "{}", ","); k++) {
        buf_puts(out, f->map[k]->key);
        buf_putc(out, '=');
        text_print_quoted(out, str_of(f->map[k]->value));
    }
}

/* ---- original values ---- */

void proto_put_origin_leaf(struct buf *out, const Xla__OriginalArrayProto *o)
{
    buf_putc(out, '{');
    if (o && *o->instruction_name) {
        text_print_quoted(out, str_of(o->instruction_name));
        if (o->n_shape_index) {
            buf_putc(out, ' ');
            proto_put_ints(out, o->n_shape_index, o->shape_index, "{}");
        }
    }
    buf_putc(out, '}');
}

enum { ORIGIN_DEPTH = 64 };

typedef const Xla__OriginalValueElementProto origin_element;

/* The elements of an original value in order; they alone determine the tree. */
struct origin_tree {
    origin_element **at;
    size_t left; /* positions that may still be written, since an index may be any number */
};

static int element_cmp(const void *pa, const void *pb)
{
    origin_element *a = *(origin_element *const *)pa, *b = *(origin_element *const *)pb;
    for (size_t k = 0; k < a->n_shape_index && k < b->n_shape_index; k++)
        if (a->shape_index[k] != b->shape_index[k])
            return a->shape_index[k] < b->shape_index[k] ? -1 : 1;
    return (a->n_shape_index > b->n_shape_index) - (a->n_shape_index < b->n_shape_index);
}

/* Writes the tree of the elements from `begin` to `end`, which share an index of length `depth`.
 * Positions without an element are `()`. */
static bool put_origin_tree(struct reader *r, struct origin_tree *t, size_t begin, size_t end,
                            size_t depth)
{
    if (begin == end) {
        buf_puts(r->out, "()");
        return true;
    }
    if (t->at[begin]->n_shape_index == depth) {
        proto_put_origin_leaf(r->out, t->at[begin]->original_array);
        return true;
    }
    if (depth == ORIGIN_DEPTH)
        return proto_error(r, NULL, -1, "nested more than %d deep", ORIGIN_DEPTH);
    buf_putc(r->out, '(');
    for (int64_t position = 0; begin < end; position++) {
        size_t next = begin;
        while (next < end && t->at[next]->shape_index[depth] == position)
            next++;
        if (t->at[begin]->shape_index[depth] < 0 || t->left-- == 0)
            return proto_error(r, NULL, -1, "invalid index %" PRId64,
                               t->at[begin]->shape_index[depth]);
        buf_puts(r->out, position ? ", " : "");
        if (!put_origin_tree(r, t, begin, next, depth + 1))
            return false;
        begin = next;
    }
    buf_putc(r->out, ')');
    return true;
}

bool proto_put_origin(struct reader *r, const Xla__OriginalValueProto *o)
{
    enum { GAPS = 1024, GAPS_FOR_EACH = 64 };
    const size_t count = o->n_elements;
    struct origin_tree t = {ARENA_ARRAY(&r->scratch, origin_element *, count),
                            GAPS + GAPS_FOR_EACH * count};
    for (size_t k = 0; k < count; k++)
        t.at[k] = o->elements[k];
    if (count > 1)
        qsort(t.at, count, sizeof *t.at, element_cmp);
    buf_putc(r->out, '{');
    if (o->is_synthetic_call)
        buf_puts(r->out, "[synthetic_call]");
    else if (!put_origin_tree(r, &t, 0, count, 0))
        return false;
    buf_putc(r->out, '}');
    return true;
}
