/*
 * attribute.c: attributes of instructions, by their ids: those that op.def lists for the opcode,
 * then those of all opcodes.
 */
#include "proto/proto_priv.h"

#include "text/text.h"

typedef struct reader reader;

/* ---- attributes that are a field ---- */

/* Begins `, name=`, which belongs to a field. */
static size_t begin(reader *r, enum attr_id id, const char *field)
{
    const size_t node = proto_enter(r, field, -1);
    buf_printf(r->out, ", %s=", attr_spelling(id));
    return node;
}

static bool field_is_set(const struct proto_field *f, const void *owner)
{
    switch ((enum field_kind)f->kind) {
    case FIELD_INT: return MEMBER(int64_t, owner, f->offset) != 0;
    case FIELD_COUNT: return MEMBER(int64_t, owner, f->offset) > 1;
    case FIELD_INT32: return MEMBER(int32_t, owner, f->offset) != 0;
    case FIELD_BOOL: return MEMBER(protobuf_c_boolean, owner, f->offset);
    case FIELD_INTS: return MEMBER(size_t, owner, f->count_offset) > 0;
    case FIELD_ENUM: return MEMBER(int, owner, f->offset) != 0;
    case FIELD_TEXT:
    case FIELD_WORD: return *MEMBER(char *, owner, f->offset) != '\0';
    case FIELD_BYTES: return MEMBER(ProtobufCBinaryData, owner, f->offset).len > 0;
    }
    return false;
}

static bool put_enum(reader *r, const struct proto_field *f, int value)
{
    const bool lower = proto_words_are_lower(f);
    return proto_put_enum(r->out, f->values, value, strlen(f->prefix), lower) ||
           proto_error(r, NULL, -1, "unknown value %d", value);
}

/* A keyword that the message has as a string. */
static bool put_word(reader *r, enum attr_id id, const char *word)
{
    if (enum_find(id, str_of(word)) < 0)
        return proto_error(r, NULL, -1, "unknown value '%s'", word);
    buf_puts(r->out, word);
    return true;
}

static bool put_field_value(reader *r, const struct proto_field *f, const void *owner)
{
    struct buf *out = r->out;
    switch ((enum field_kind)f->kind) {
    case FIELD_INT:
    case FIELD_COUNT: buf_int(out, MEMBER(int64_t, owner, f->offset)); break;
    case FIELD_INT32: buf_int(out, MEMBER(int32_t, owner, f->offset)); break;
    case FIELD_BOOL:
        buf_puts(out, MEMBER(protobuf_c_boolean, owner, f->offset) ? "true" : "false");
        break;
    case FIELD_INTS:
        proto_put_ints(out, MEMBER(size_t, owner, f->count_offset),
                       MEMBER(int64_t *, owner, f->offset), "{}");
        break;
    case FIELD_TEXT: text_print_quoted(out, str_of(MEMBER(char *, owner, f->offset))); break;
    case FIELD_BYTES:
        text_print_quoted(out, str_of_bytes(MEMBER(ProtobufCBinaryData, owner, f->offset)));
        break;
    case FIELD_ENUM: return put_enum(r, f, MEMBER(int, owner, f->offset));
    case FIELD_WORD: return put_word(r, (enum attr_id)f->id, MEMBER(char *, owner, f->offset));
    }
    return true;
}

static bool put_field(reader *r, const struct proto_field *f, const inst_proto *i)
{
    const char *name = f->part == PART_INSTRUCTION ? f->name : proto_parts[f->part].name;
    const void *owner = proto_field_owner(i, f);
    if (!owner)
        return !proto_parts[f->part].required ||
               proto_error(r, name, -1, "dimension numbers are missing");
    if (!f->always && !field_is_set(f, owner))
        return true;
    const size_t node = begin(r, (enum attr_id)f->id, name);
    if (!put_field_value(r, f, owner))
        return false;
    proto_leave(r, node);
    return true;
}

/* ---- other attributes ---- */

/* Writes the value of an attribute; nothing if it is absent. */
typedef bool put_fn(reader *r, enum attr_id id, const inst_proto *i);

/* Writes `, name=` and the value that belong to a field, unless the value is absent. */
static bool put_named(reader *r, enum attr_id id, const char *field, put_fn *put,
                      const inst_proto *i)
{
    const size_t before = r->out->size;
    const size_t node = begin(r, id, field), value = r->out->size;
    if (!put(r, id, i))
        return false;
    if (r->out->size == value)
        r->out->size = before;
    proto_leave(r, node);
    return true;
}

/* ---- dimension numbers ---- */

/* Writes a letter at the position of a dimension; false if it is out of range or taken. */
static bool set_label(struct str labels, int64_t at, char letter)
{
    char *p = (char *)(uintptr_t)labels.ptr;
    if (at < 0 || (uint64_t)at >= labels.len || p[at] != '?')
        return false;
    p[at] = letter;
    return true;
}

/* The labels of one array: two letters, and a digit for each spatial dimension. */
static bool put_side(reader *r, const char *letters, int64_t first, int64_t second, size_t count,
                     const int64_t *spatial)
{
    static const char digits[] = "0123456789";
    if (count > 10)
        return proto_error(r, NULL, -1, "%zu spatial dimensions", count);
    char text[13];
    struct str labels = {text, count + 2};
    memset(text, '?', sizeof text);
    bool ok = set_label(labels, first, letters[0]) && set_label(labels, second, letters[1]);
    for (size_t k = 0; ok && k < count; k++)
        ok = set_label(labels, spatial[k], digits[k]);
    if (!ok)
        return proto_error(r, NULL, -1, "dimension numbers are not a permutation");
    buf_str(r->out, labels);
    return true;
}

static bool put_dim_labels(reader *r, enum attr_id id, const inst_proto *i)
{
    const Xla__ConvolutionDimensionNumbers *d = i->convolution_dimension_numbers;
    if (!d)
        return true;
    if (!put_side(r, "bf", d->input_batch_dimension, d->input_feature_dimension,
                  d->n_input_spatial_dimensions, d->input_spatial_dimensions))
        return false;
    buf_putc(r->out, '_');
    if (!put_side(r, "io", d->kernel_input_feature_dimension, d->kernel_output_feature_dimension,
                  d->n_kernel_spatial_dimensions, d->kernel_spatial_dimensions))
        return false;
    buf_puts(r->out, "->");
    if (!put_side(r, "bf", d->output_batch_dimension, d->output_feature_dimension,
                  d->n_output_spatial_dimensions, d->output_spatial_dimensions))
        return false;
    return true;
}

/* ---- windows, slices, padding ---- */

enum window_item { SIZE, STRIDE, PAD, LHS_DILATE, RHS_DILATE, REVERSAL, ITEMS };

static void put_window_item(struct buf *out, const Xla__Window *w, enum window_item item)
{
    static const char *const keys[] = {
        "size=", " stride=", " pad=", " lhs_dilate=", " rhs_dilate=", " rhs_reversal="};
    buf_puts(out, keys[item]);
    for (size_t k = 0; BUF_LIST(out, k, w->n_dimensions, "", "x"); k++) {
        const Xla__WindowDimension *d = w->dimensions[k];
        const int64_t values[ITEMS] = {d->size,          d->stride,          d->padding_low,
                                       d->base_dilation, d->window_dilation, d->window_reversal};
        buf_int(out, values[item]);
        if (item == PAD)
            buf_printf(out, "_%" PRId64, d->padding_high);
    }
}

static bool put_window(reader *r, enum attr_id id, const inst_proto *i)
{
    const Xla__Window *w = i->window;
    if (!w || w->n_dimensions == 0)
        return true;
    buf_putc(r->out, '{');
    for (int item = 0; item < ITEMS; item++)
        put_window_item(r->out, w, (enum window_item)item);
    buf_putc(r->out, '}');
    return true;
}

static bool put_padding(reader *r, enum attr_id id, const inst_proto *i)
{
    const Xla__PaddingConfig *p = i->padding_config;
    if (!p)
        return proto_error(r, NULL, -1, "padding is missing");
    for (size_t k = 0; BUF_LIST(r->out, k, p->n_dimensions, "", "x"); k++) {
        const Xla__PaddingConfig__PaddingConfigDimension *d = p->dimensions[k];
        buf_printf(r->out, "%" PRId64 "_%" PRId64 "_%" PRId64, d->edge_padding_low,
                   d->edge_padding_high, d->interior_padding);
    }
    return true;
}

static bool put_slices(reader *r, enum attr_id id, const inst_proto *i)
{
    for (size_t k = 0; BUF_LIST(r->out, k, i->n_slice_dimensions, "{}", ", "); k++) {
        const Xla__HloInstructionProto__SliceDimensions *d = i->slice_dimensions[k];
        buf_printf(r->out, "[%" PRId64 ":%" PRId64 ":%" PRId64 "]", d->start, d->limit, d->stride);
    }
    return true;
}

/* ---- dimensions ---- */

/* A single dimension, which an iota requires. */
static bool put_dimension(reader *r, enum attr_id id, const inst_proto *i)
{
    if (i->n_dimensions == 0 && id != A_IOTA_DIMENSION)
        return true;
    if (i->n_dimensions != 1)
        return proto_error(r, NULL, -1, "%zu dimensions, expected 1", i->n_dimensions);
    buf_int(r->out, i->dimensions[0]);
    return true;
}

static bool put_precision(reader *r, enum attr_id id, const inst_proto *i)
{
    const Xla__PrecisionConfig *p = i->precision_config;
    bool all_default = true;
    for (size_t k = 0; p && k < p->n_operand_precision; k++)
        all_default &= p->operand_precision[k] == XLA__PRECISION_CONFIG__PRECISION__DEFAULT;
    if (all_default)
        return true;
    for (size_t k = 0; BUF_LIST(r->out, k, i->n_operand_ids, "{}", ","); k++) {
        const int v = k < p->n_operand_precision ? (int)p->operand_precision[k] : 0;
        if (!proto_put_enum(r->out, &xla__precision_config__precision__descriptor, v, 0, true))
            return proto_error(r, NULL, -1, "unknown precision %d", v);
    }
    return true;
}

/* ---- called computations ---- */

static void put_callee(reader *r, const inst_proto *i, size_t k)
{
    proto_put_name(r->out, proto_find_computation(r, i->called_computation_ids[k])->name);
}

/* One of exactly `count` computations. */
static bool put_computation(reader *r, const inst_proto *i, size_t at, size_t count)
{
    if (i->n_called_computation_ids != count)
        return proto_error(r, NULL, -1, "%zu computations, expected %zu",
                           i->n_called_computation_ids, count);
    put_callee(r, i, at);
    return true;
}

static bool put_computations(reader *r, const inst_proto *i)
{
    for (size_t k = 0; BUF_LIST(r->out, k, i->n_called_computation_ids, "{}", ", "); k++)
        put_callee(r, i, k);
    return true;
}

/* Whether the index of a conditional is a truth value. */
static bool is_two_way(const reader *r, const inst_proto *i)
{
    const size_t index = i->n_operand_ids ? proto_find_inst(r->c, i->operand_ids[0]) : SIZE_MAX;
    const Xla__ShapeProto *s = index == SIZE_MAX ? NULL : r->c->proto->instructions[index]->shape;
    return s && s->element_type == XLA__PRIMITIVE_TYPE__PRED;
}

static bool put_called(reader *r, enum attr_id id, const inst_proto *i)
{
    switch (id) {
    case A_BODY: return put_computation(r, i, 0, 2);
    case A_CONDITION: return put_computation(r, i, 1, 2);
    case A_SELECT: return put_computation(r, i, 0, 2);
    case A_SCATTER: /* of a select-and-scatter */ return put_computation(r, i, 1, 2);
    case A_TRUE_COMPUTATION: return !is_two_way(r, i) || put_computation(r, i, 0, 2);
    case A_FALSE_COMPUTATION: return !is_two_way(r, i) || put_computation(r, i, 1, 2);
    case A_BRANCH_COMPUTATIONS: return is_two_way(r, i) || put_computations(r, i);
    case A_CALLED_COMPUTATIONS: return i->n_called_computation_ids == 0 || put_computations(r, i);
    default: return put_computation(r, i, 0, 1);
    }
}

/* ---- other attributes of opcodes ---- */

static bool put_pairs(reader *r, enum attr_id id, const inst_proto *i)
{
    for (size_t k = 0; BUF_LIST(r->out, k, i->n_source_target_pairs, "{}", ","); k++)
        buf_printf(r->out, "{%" PRId64 ",%" PRId64 "}", i->source_target_pairs[k]->source,
                   i->source_target_pairs[k]->target);
    return true;
}

/* The message has the sizes of all slices in one list. */
static bool put_slice_sizes(reader *r, enum attr_id id, const inst_proto *i)
{
    const size_t count = i->n_dynamic_slice_sizes;
    if (count == 0)
        return true;
    const size_t index = i->n_operand_ids ? proto_find_inst(r->c, i->operand_ids[0]) : SIZE_MAX;
    const Xla__ShapeProto *s = index == SIZE_MAX ? NULL : r->c->proto->instructions[index]->shape;
    if (s && s->n_tuple_shapes)
        s = s->tuple_shapes[0];
    const size_t rank = s ? s->n_dimensions : 0;
    if (rank == 0 || count % rank != 0)
        return proto_error(r, NULL, -1, "%zu sizes for slices of rank %zu", count, rank);
    for (size_t k = 0; BUF_LIST(r->out, k, count, "{}", ","); k += rank)
        proto_put_ints(r->out, rank, i->dynamic_slice_sizes + k, "{}");
    return true;
}

static bool put_groups(reader *r, enum attr_id id, const inst_proto *i)
{
    return !proto_has_device_list(i) || proto_put_device_list(r, i);
}

static bool put_channel(reader *r, enum attr_id id, const inst_proto *i)
{
    if (i->channel_id > 0 && i->all_reduce_id > 0)
        return proto_error(r, NULL, -1, "both channel_id and all_reduce_id are present");
    if (i->channel_id > 0 || i->all_reduce_id > 0)
        buf_int(r->out, i->channel_id > 0 ? i->channel_id : i->all_reduce_id);
    return true;
}

static bool put_prefetch(reader *r, enum attr_id id, const inst_proto *i)
{
    const bool given =
        i->optional_cross_program_prefetch_index_case ==
        XLA__HLO_INSTRUCTION_PROTO__OPTIONAL_CROSS_PROGRAM_PREFETCH_INDEX_CROSS_PROGRAM_PREFETCH_INDEX;
    if (!given && !i->is_cross_program_prefetch)
        return true;
    buf_int(r->out, given ? i->cross_program_prefetch_index : 0);
    return true;
}

static bool put_epsilon(reader *r, enum attr_id id, const inst_proto *i)
{
    buf_g(r->out, (double)i->epsilon, 17);
    return true;
}

/* In the text, `entry` is the sharding of the users: the exit of the message. */
static bool put_domain(reader *r, enum attr_id id, const inst_proto *i)
{
    if (!i->domain_entry_sharding || !i->domain_exit_sharding)
        return proto_error(r, NULL, -1, "sharding is missing");
    buf_puts(r->out, "{kind=\"sharding\", entry=");
    if (!proto_put_sharding(r, i->domain_exit_sharding))
        return false;
    proto_leave(r, r->p->paths.nodes[r->node].parent);
    proto_enter(r, "domain_entry_sharding", -1);
    buf_puts(r->out, ", exit=");
    if (!proto_put_sharding(r, i->domain_entry_sharding))
        return false;
    buf_putc(r->out, '}');
    return true;
}

static bool put_constraints(reader *r, enum attr_id id, const inst_proto *i)
{
    if (!i->constrain_layout)
        return true;
    for (size_t k = 0; BUF_LIST(r->out, k, i->n_operand_shapes_with_layout, "{}", ", "); k++)
        if (!proto_put_shape(r, i->operand_shapes_with_layout[k], NULL, -1))
            return false;
    return true;
}

static bool put_outfeed_shape(reader *r, enum attr_id id, const inst_proto *i)
{
    return !i->outfeed_shape || proto_put_shape(r, i->outfeed_shape, NULL, -1);
}

static bool put_aliasing(reader *r, enum attr_id id, const inst_proto *i)
{
    if (i->n_output_operand_aliasing == 0)
        return true;
    for (size_t k = 0; BUF_LIST(r->out, k, i->n_output_operand_aliasing, "{}", ", "); k++) {
        const Xla__OutputOperandAliasing *a = i->output_operand_aliasing[k];
        proto_put_ints(r->out, a->n_output_shape_index, a->output_shape_index, "{}");
        buf_printf(r->out, ": (%" PRId64 ", ", a->operand_index);
        proto_put_ints(r->out, a->n_operand_shape_index, a->operand_shape_index, "{}");
        buf_putc(r->out, ')');
    }
    return true;
}

static bool put_associative(reader *r, enum attr_id id, const inst_proto *i)
{
    if (i->is_associative == XLA__TRI_STATE__TRI_STATE_UNSPECIFIED)
        return true;
    buf_puts(r->out, i->is_associative == XLA__TRI_STATE__TRI_STATE_TRUE ? "true" : "false");
    return true;
}

static void put_sparsity_side(struct buf *out, const char *key,
                              const Xla__SparsityConfig__TensorSparsityConfig *s)
{
    if (s)
        buf_printf(out,
                   "%s{sparsity=%" PRId64 "x%" PRId64 " dimension=%" PRId64 " stride=%" PRId64 "} ",
                   key, s->num_non_zero, s->block_size, s->dimension, s->stride);
}

static bool put_sparsity(reader *r, enum attr_id id, const inst_proto *i)
{
    if (!i->sparsity_config || (!i->sparsity_config->lhs && !i->sparsity_config->rhs))
        return true;
    buf_putc(r->out, '{');
    put_sparsity_side(r->out, "lhs=", i->sparsity_config->lhs);
    put_sparsity_side(r->out, "rhs=", i->sparsity_config->rhs);
    buf_putc(r->out, '}');
    return true;
}

/* ---- attributes of all opcodes ---- */

static bool put_accuracy(reader *r, enum attr_id id, const inst_proto *i)
{
    const Xla__ResultAccuracy *a = i->result_accuracy;
    if (!a || a->specs_case == XLA__RESULT_ACCURACY__SPECS__NOT_SET)
        return true;
    if (a->specs_case == XLA__RESULT_ACCURACY__SPECS_MODE && a->mode == 0)
        return true;
    if (a->specs_case == XLA__RESULT_ACCURACY__SPECS_MODE) {
        buf_puts(r->out, "{mode=highest}");
    } else {
        buf_puts(r->out, "{tolerance={atol=");
        buf_g(r->out, a->tolerance->atol, 17);
        buf_puts(r->out, ",rtol=");
        buf_g(r->out, a->tolerance->rtol, 17);
        buf_printf(r->out, ",ulps=%" PRId64 "}}", a->tolerance->ulps);
    }
    return true;
}

static bool put_instruction_sharding(reader *r, enum attr_id id, const inst_proto *i)
{
    return !i->sharding || proto_put_sharding(r, i->sharding);
}

static bool put_replication(reader *r, enum attr_id id, const inst_proto *i)
{
    const Xla__ParameterReplication *p = i->parameter_replication;
    if (!p || p->n_replicated_at_leaf_buffers == 0)
        return true;
    for (size_t k = 0; BUF_LIST(r->out, k, p->n_replicated_at_leaf_buffers, "{}", ","); k++)
        buf_puts(r->out, p->replicated_at_leaf_buffers[k] ? "true" : "false");
    return true;
}

static bool put_predecessors(reader *r, enum attr_id id, const inst_proto *i)
{
    if (i->n_control_predecessor_ids == 0)
        return true;
    for (size_t k = 0; BUF_LIST(r->out, k, i->n_control_predecessor_ids, "{}", ", "); k++)
        proto_put_name(r->out, r->c->names[proto_find_inst(r->c, i->control_predecessor_ids[k])]);
    return true;
}

static bool put_statistics(reader *r, enum attr_id id, const inst_proto *i)
{
    const Xla__StatisticsViz *s = i->statistics_viz;
    if (!s || s->n_statistics == 0)
        return true;
    buf_printf(r->out, "{visualizing_index=%" PRId64, s->stat_index_to_visualize);
    for (size_t k = 0; k < s->n_statistics; k++) {
        buf_printf(r->out, ",%s=", s->statistics[k]->stat_name);
        buf_g(r->out, s->statistics[k]->stat_val, 17);
    }
    buf_putc(r->out, '}');
    return true;
}

static bool put_original_value(reader *r, enum attr_id id, const inst_proto *i)
{
    return !i->original_value || proto_put_origin(r, i->original_value);
}

static bool put_frontend(reader *r, enum attr_id id, const inst_proto *i)
{
    if (i->frontend_attributes && i->frontend_attributes->n_map)
        proto_put_frontend(r->out, i->frontend_attributes);
    return true;
}

static bool put_metadata(reader *r, enum attr_id id, const inst_proto *i)
{
    if (i->metadata && !proto_metadata_is_empty(i->metadata))
        proto_put_metadata(r, i->metadata);
    return true;
}

static bool put_config(reader *r, enum attr_id id, const inst_proto *i)
{
    const struct str config = i->backend_config_payload
                                  ? proto_payload(r, i->backend_config_payload)
                                  : str_of_bytes(i->backend_config);
    if (config.len)
        text_print_quoted(r->out, config);
    return true;
}

/* ---- dispatch ---- */

/* Attributes with a value other than that of a field; all others are called computations. */
static const struct {
    const char *field;
    put_fn *put;
} values[A_COUNT] = {
    [A_BACKEND_CONFIG] = {"backend_config", put_config},
    [A_CHANNEL_ID] = {"channel_id", put_channel},
    [A_CONTROL_PREDECESSORS] = {"control_predecessor_ids", put_predecessors},
    [A_CROSS_PROGRAM_PREFETCH_INDEX] = {"cross_program_prefetch_index", put_prefetch},
    [A_DIM_LABELS] = {"convolution_dimension_numbers", put_dim_labels},
    [A_DOMAIN] = {"domain_exit_sharding", put_domain},
    [A_EPSILON] = {"epsilon", put_epsilon},
    [A_FRONTEND_ATTRIBUTES] = {"frontend_attributes", put_frontend},
    [A_INFERRED_DIMENSION] = {"dimensions", put_dimension},
    [A_IOTA_DIMENSION] = {"dimensions", put_dimension},
    [A_IS_ASSOCIATIVE] = {"is_associative", put_associative},
    [A_METADATA] = {"metadata", put_metadata},
    [A_OPERAND_LAYOUT_CONSTRAINTS] = {"operand_shapes_with_layout", put_constraints},
    [A_OPERAND_PRECISION] = {"precision_config", put_precision},
    [A_ORIGIN] = {"original_value", put_original_value},
    [A_OUTFEED_SHAPE] = {"outfeed_shape", put_outfeed_shape},
    [A_OUTPUT_TO_OPERAND_ALIASING] = {"output_operand_aliasing", put_aliasing},
    [A_PADDING] = {"padding_config", put_padding},
    [A_PARAMETER_REPLICATION] = {"parameter_replication", put_replication},
    [A_REPLICA_GROUPS] = {"replica_groups", put_groups},
    [A_RESULT_ACCURACY] = {"result_accuracy", put_accuracy},
    [A_SHARDING] = {"sharding", put_instruction_sharding},
    [A_SLICE] = {"slice_dimensions", put_slices},
    [A_SLICE_SIZES_LIST] = {"dynamic_slice_sizes", put_slice_sizes},
    [A_SOURCE_TARGET_PAIRS] = {"source_target_pairs", put_pairs},
    [A_SPARSITY_CONFIG] = {"sparsity_config", put_sparsity},
    [A_STATISTICS] = {"statistics_viz", put_statistics},
    [A_WINDOW] = {"window", put_window},
};

/* The field of the message that has the value. */
static const char *field_of(enum attr_id id, const inst_proto *i)
{
    return id == A_CHANNEL_ID && i->all_reduce_id > 0            ? "all_reduce_id"
           : id == A_REPLICA_GROUPS && i->n_replica_groups == 0  ? "collective_device_list"
           : id == A_BACKEND_CONFIG && i->backend_config_payload ? "backend_config_payload"
           : id == A_DOMAIN && !i->domain_entry_sharding         ? "domain_entry_sharding"
           : values[id].field                                    ? values[id].field
                                                                 : "called_computation_ids";
}

static bool put_value(reader *r, enum attr_id id, const inst_proto *i)
{
    return put_named(r, id, field_of(id, i), values[id].put ? values[id].put : put_called, i);
}

/* `at`: place of the instruction in the text. */
static bool put_attribute(reader *r, enum opcode op, const inst_proto *i, const struct op_attr *a,
                          uint32_t at)
{
    const enum attr_id id = (enum attr_id)a->id;
    const struct proto_field *field = proto_find_field(op, id);
    if (id == A_DIMENSIONS && i->n_dimensions == 0 && !(a->use & (USE_REQUIRED | USE_ALWAYS)))
        return true;
    if (field)
        return put_field(r, field, i);
    if (id != A_LITERAL)
        return put_value(r, id, i);
    if (!i->literal)
        return true;
    proto_leave(r, begin(r, id, "literal"));
    return proto_put_literal(r, i->literal, at, true);
}

bool proto_put_attributes(reader *r, enum opcode op, const inst_proto *i, uint32_t at)
{
    static const enum attr_id all[] = {A_SHARDING,      A_CONTROL_PREDECESSORS, A_STATISTICS,
                                       A_ORIGIN,        A_FRONTEND_ATTRIBUTES,  A_METADATA,
                                       A_BACKEND_CONFIG};
    for (const struct op_attr *a = op_table[op].attrs; a->id != A_NONE; a++) {
        const bool written = !(a->use & (USE_DROPPED | USE_BUILDER));
        if (written && !put_attribute(r, op, i, a, at))
            return false;
    }
    if (op == OP_PARAMETER && !put_value(r, A_PARAMETER_REPLICATION, i))
        return false;
    for (size_t k = 0; k < COUNT_OF(all); k++)
        if (!put_value(r, all[k], i))
            return false;
    return true;
}
