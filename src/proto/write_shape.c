/*
 * write_shape.c: parts of messages that several attributes have: shapes, metadata, frontend
 * attributes, original values.
 */
#include "proto/write_priv.h"

/* ---- shapes ---- */

static Xla__PrimitiveType type_of(enum dtype t)
{
    char name[32];
    size_t n = 0;
    switch (t) {
    case DT_TUPLE: return XLA__PRIMITIVE_TYPE__TUPLE;
    case DT_OPAQUE: return XLA__PRIMITIVE_TYPE__OPAQUE_TYPE;
    case DT_BUFFER: return XLA__PRIMITIVE_TYPE__BUFFER;
    default: break;
    }
    for (const char *p = dtype_spelling(t); *p && n + 1 < sizeof name; p++)
        name[n++] = (char)(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
    name[n] = '\0';
    const ProtobufCEnumValue *v =
        protobuf_c_enum_descriptor_get_value_by_name(&xla__primitive_type__descriptor, name);
    return v ? (Xla__PrimitiveType)v->value : XLA__PRIMITIVE_TYPE__PRIMITIVE_TYPE_INVALID;
}

static Xla__PrimitiveType layout_type(enum dtype t)
{
    return t < DT_COUNT && dtype_is_array(t) ? type_of(t)
                                             : XLA__PRIMITIVE_TYPE__PRIMITIVE_TYPE_INVALID;
}

static Xla__LayoutProto *of_layout(struct writer *w, const struct layout *l)
{
    Xla__LayoutProto *out = NEW(w, layout_proto);
    SET_INTS(out, minor_to_major, ((struct ints){l->rank, l->minor_to_major}));
    NEW_LIST(w, out, tiles, l->tile_count);
    for (int k = 0; k < l->tile_count; k++) {
        out->tiles[k] = NEW(w, tile_proto);
        SET_INTS(out->tiles[k], dimensions, ((struct ints){l->tiles[k].rank, l->tiles[k].dims}));
    }
    NEW_LIST(w, out, split_configs, l->split_count);
    for (int k = 0; k < l->split_count; k++) {
        out->split_configs[k] = NEW(w, split_config_proto);
        out->split_configs[k]->dimension = l->splits[k].dimension;
        SET_INTS(out->split_configs[k], split_indices,
                 ((struct ints){l->splits[k].count, l->splits[k].indices}));
    }
    out->tail_padding_alignment_in_elements = l->tail_padding;
    out->index_primitive_type = layout_type(l->index_type);
    out->pointer_primitive_type = layout_type(l->pointer_type);
    out->element_size_in_bits = l->element_bits;
    out->memory_space = l->memory_space;
    out->dynamic_shape_metadata_prefix_bytes = l->metadata_prefix;
    return out;
}

Xla__ShapeProto *proto_of_shape(struct writer *w, const struct shape *s)
{
    Xla__ShapeProto *out = NEW(w, shape_proto);
    out->element_type = type_of(s->dtype);
    NEW_LIST(w, out, tuple_shapes, shape_is_array(s) ? 0 : s->count);
    for (size_t k = 0; k < out->n_tuple_shapes; k++)
        out->tuple_shapes[k] = proto_of_shape(w, s->elements[k]);
    if (!shape_is_array(s))
        return out;
    SET_INTS(out, dimensions, ((struct ints){s->rank, s->dims}));
    NEW_LIST(w, out, is_dynamic_dimension, s->rank);
    for (int d = 0; d < s->rank; d++)
        out->is_dynamic_dimension[d] = shape_dim_dynamic(s, d);
    out->layout = of_layout(w, s->layout);
    if (!ints_are_permutation(s->layout->rank, s->layout->minor_to_major))
        proto_write_error(w, "a layout that is not a permutation of the dimensions");
    return out;
}

/* ---- metadata ---- */

static void set_rest(struct writer *w, const struct metadata_rest *m, Xla__OpMetadata *out)
{
    out->deduplicated_name = proto_new_string(w, m->deduplicated_name);
    out->scheduling_name = proto_new_string(w, m->scheduling_name);
    NEW_LIST(w, out, profile_type, m->profile_type.count);
    for (size_t k = 0; k < out->n_profile_type; k++)
        out->profile_type[k] = (Xla__ProfileType)m->profile_type.at[k];
    if (!m->has_payload)
        return;
    out->metadata_payload = NEW(w, payload);
    out->metadata_payload->payload_source_case = XLA__PAYLOAD__PAYLOAD_SOURCE_VALUE;
    out->metadata_payload->value = proto_bytes(m->payload);
}

Xla__OpMetadata *proto_of_metadata(struct writer *w, const struct metadata *m)
{
    Xla__OpMetadata *out = NEW(w, op_metadata);
    if (!m)
        return out;
    out->op_type = proto_new_string(w, m->op_type);
    out->op_name = proto_new_string(w, m->op_name);
    out->source_file = proto_new_string(w, m->source_file);
    out->source_line = m->source_line;
    out->source_end_line = m->source_end_line;
    out->source_column = m->source_column;
    out->source_end_column = m->source_end_column;
    out->stack_frame_id = m->stack_frame_id;
    if (m->rest)
        set_rest(w, m->rest, out);
    return out;
}

Xla__FrontendAttributes *proto_of_frontend(struct writer *w, const struct frontend_attributes *f)
{
    Xla__FrontendAttributes *out = NEW(w, frontend_attributes);
    NEW_LIST(w, out, map, f ? f->count : 0);
    for (size_t k = 0; k < out->n_map; k++) {
        out->map[k] = NEW(w, frontend_attributes__map_entry);
        out->map[k]->key = proto_new_string(w, f->at[k].key);
        out->map[k]->value = proto_new_string(w, f->at[k].value);
    }
    return out;
}

/* ---- original values ---- */

Xla__OriginalArrayProto *proto_of_origin_leaf(struct writer *w, const struct origin *o)
{
    Xla__OriginalArrayProto *out = NEW(w, original_array_proto);
    if (o->named) {
        out->instruction_name = proto_new_string(w, o->name);
        SET_INTS(out, shape_index, o->index);
    }
    return out;
}

static size_t count_leaves(const struct origin *o)
{
    size_t n = o->leaf;
    for (int k = 0; k < o->count; k++)
        n += count_leaves(&o->elements[k]);
    return n;
}

/* Appends the leaves of a tree, which is at `index` of the whole one. */
static void put_leaves(struct writer *w, const struct origin *o, struct ints index,
                       Xla__OriginalValueProto *out)
{
    if (o->leaf) {
        Xla__OriginalValueElementProto *e = NEW(w, original_value_element_proto);
        SET_INTS(e, shape_index, index);
        e->original_array = proto_of_origin_leaf(w, o);
        out->elements[out->n_elements++] = e;
    }
    for (int k = 0; k < o->count; k++) {
        int64_t *path = ARENA_ARRAY(w->a, int64_t, index.count + 1);
        if (index.count)
            memcpy(path, index.at, (size_t)index.count * sizeof *path);
        path[index.count] = k;
        put_leaves(w, &o->elements[k], (struct ints){index.count + 1, path}, out);
    }
}

Xla__OriginalValueProto *proto_of_origin(struct writer *w, const struct origin *o)
{
    Xla__OriginalValueProto *out = NEW(w, original_value_proto);
    out->is_synthetic_call = o->synthetic_call;
    if (o->synthetic_call)
        return out;
    NEW_LIST(w, out, elements, count_leaves(o));
    out->n_elements = 0;
    put_leaves(w, o, (struct ints){0, NULL}, out);
    return out;
}
