/*
 * write_attribute.c: attributes of instructions as fields of their messages, by the ids of the
 * attributes.
 */
#include "proto/write_priv.h"

/* ---- attributes that are a field ---- */

/* The message that has the field, which is created if it is missing. */
static void *owner_of(struct writer *w, inst_proto *out, const struct inst *i,
                      const struct proto_field *f)
{
    void *owner = proto_field_owner(out, f);
    if (owner)
        return owner;
    owner = proto_new(w, proto_parts[f->part].descriptor);
    if (f->part == PART_DOT && i->opcode == OP_RAGGED_DOT) {
        if (!out->ragged_dot_dimension_numbers)
            out->ragged_dot_dimension_numbers = NEW(w, ragged_dot_dimension_numbers);
        out->ragged_dot_dimension_numbers->dot_dimension_numbers = owner;
    } else {
        MEMBER(void *, out, proto_parts[f->part].offset) = owner;
    }
    return owner;
}

/* The number of a value in the enumeration of the message. */
static int enum_value(struct writer *w, const struct proto_field *f, int value)
{
    SCOPED_BUF name = {0};
    buf_puts(&name, f->prefix);
    for (const char *p = enum_word((enum attr_id)f->id, value); *p; p++)
        buf_putc(&name,
                 (char)(proto_words_are_lower(f) && *p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p));
    buf_putc(&name, '\0');
    const ProtobufCEnumValue *v =
        protobuf_c_enum_descriptor_get_value_by_name(f->values, name.data);
    if (!v)
        proto_write_error(w, "no value %s for attribute '%s'", name.data,
                          attr_spelling((enum attr_id)f->id));
    return v ? v->value : 0;
}

static void set_field(struct writer *w, const struct proto_field *f, const struct inst *i,
                      union attr_value v, inst_proto *out)
{
    void *owner = owner_of(w, out, i, f);
    switch ((enum field_kind)f->kind) {
    case FIELD_INT:
    case FIELD_COUNT: MEMBER(int64_t, owner, f->offset) = v.i; break;
    case FIELD_INT32: MEMBER(int32_t, owner, f->offset) = (int32_t)v.i; break;
    case FIELD_BOOL: MEMBER(protobuf_c_boolean, owner, f->offset) = v.b; break;
    case FIELD_INTS:
        MEMBER(size_t, owner, f->count_offset) = (size_t)v.ints.count;
        MEMBER(const int64_t *, owner, f->offset) = v.ints.at;
        break;
    case FIELD_TEXT: MEMBER(char *, owner, f->offset) = proto_new_string(w, v.s); break;
    case FIELD_BYTES: MEMBER(ProtobufCBinaryData, owner, f->offset) = proto_bytes(v.s); break;
    case FIELD_ENUM: MEMBER(int, owner, f->offset) = enum_value(w, f, v.e); break;
    case FIELD_WORD:
        MEMBER(const char *, owner, f->offset) = enum_word((enum attr_id)f->id, v.e);
        break;
    }
}

/* ---- attributes of opcodes ---- */

static void set_window(struct writer *w, struct window v, inst_proto *out)
{
    out->window = NEW(w, window);
    NEW_LIST(w, out->window, dimensions, v.rank);
    for (int k = 0; k < v.rank; k++) {
        Xla__WindowDimension *d = out->window->dimensions[k] = NEW(w, window_dimension);
        d->size = v.dims[k].size;
        d->stride = v.dims[k].stride;
        d->padding_low = v.dims[k].pad_low;
        d->padding_high = v.dims[k].pad_high;
        d->window_dilation = v.dims[k].window_dilation;
        d->base_dilation = v.dims[k].base_dilation;
        d->window_reversal = v.dims[k].reversal;
    }
}

static void set_padding(struct writer *w, struct padding v, inst_proto *out)
{
    out->padding_config = NEW(w, padding_config);
    NEW_LIST(w, out->padding_config, dimensions, v.rank);
    for (int k = 0; k < v.rank; k++) {
        Xla__PaddingConfig__PaddingConfigDimension *d = out->padding_config->dimensions[k] =
            NEW(w, padding_config__padding_config_dimension);
        d->edge_padding_low = v.dims[k].low;
        d->edge_padding_high = v.dims[k].high;
        d->interior_padding = v.dims[k].interior;
    }
}

static void set_slices(struct writer *w, struct slices v, inst_proto *out)
{
    NEW_LIST(w, out, slice_dimensions, v.rank);
    for (int k = 0; k < v.rank; k++) {
        Xla__HloInstructionProto__SliceDimensions *d = out->slice_dimensions[k] =
            NEW(w, hlo_instruction_proto__slice_dimensions);
        d->start = v.dims[k].start;
        d->limit = v.dims[k].limit;
        d->stride = v.dims[k].stride;
    }
}

static void set_dim_labels(struct writer *w, const struct dim_labels *v, inst_proto *out)
{
    Xla__ConvolutionDimensionNumbers *d = out->convolution_dimension_numbers =
        NEW(w, convolution_dimension_numbers);
    d->input_batch_dimension = v->input_batch;
    d->input_feature_dimension = v->input_feature;
    d->kernel_input_feature_dimension = v->kernel_input_feature;
    d->kernel_output_feature_dimension = v->kernel_output_feature;
    d->output_batch_dimension = v->output_batch;
    d->output_feature_dimension = v->output_feature;
    SET_INTS(d, input_spatial_dimensions, ((struct ints){v->spatial_count, v->input_spatial}));
    SET_INTS(d, kernel_spatial_dimensions, ((struct ints){v->spatial_count, v->kernel_spatial}));
    SET_INTS(d, output_spatial_dimensions, ((struct ints){v->spatial_count, v->output_spatial}));
}

/* The message has the sizes of all slices in one list. */
static void set_slice_sizes(struct writer *w, struct ints_list v, inst_proto *out)
{
    int64_t count = 0;
    for (int64_t k = 0; k < v.count; k++)
        count += v.at[k].count;
    NEW_LIST(w, out, dynamic_slice_sizes, count);
    for (int64_t k = 0, n = 0; k < v.count; k++)
        for (int64_t d = 0; d < v.at[k].count; d++)
            out->dynamic_slice_sizes[n++] = v.at[k].at[d];
}

static void set_pairs(struct writer *w, struct ints_list v, inst_proto *out)
{
    NEW_LIST(w, out, source_target_pairs, v.count);
    for (int64_t k = 0; k < v.count; k++) {
        out->source_target_pairs[k] = NEW(w, source_target);
        out->source_target_pairs[k]->source = v.at[k].at[0];
        out->source_target_pairs[k]->target = v.at[k].at[1];
    }
}

/* By default, one value for each operand of a call, two for other operations. */
static void set_precision(struct writer *w, const struct inst *i, struct enum_list v,
                          inst_proto *out)
{
    const int count = v.count ? v.count : i->opcode == OP_CUSTOM_CALL ? i->operand_count : 2;
    if (!out->precision_config)
        out->precision_config = NEW(w, precision_config);
    NEW_LIST(w, out->precision_config, operand_precision, count);
    for (int k = 0; k < v.count; k++)
        out->precision_config->operand_precision[k] =
            (Xla__PrecisionConfig__Precision)(v.at[k] - E_OPERAND_PRECISION_DEFAULT);
}

static void set_constraints(struct writer *w, struct shape_list v, inst_proto *out)
{
    out->constrain_layout = true;
    NEW_LIST(w, out, operand_shapes_with_layout, v.count);
    for (int k = 0; k < v.count; k++)
        out->operand_shapes_with_layout[k] = proto_of_shape(w, v.at[k]);
}

static void set_aliasing(struct writer *w, struct aliasing v, inst_proto *out)
{
    NEW_LIST(w, out, output_operand_aliasing, v.count);
    for (int k = 0; k < v.count; k++) {
        Xla__OutputOperandAliasing *a = out->output_operand_aliasing[k] =
            NEW(w, output_operand_aliasing);
        SET_INTS(a, output_shape_index, v.at[k].output);
        a->operand_index = v.at[k].operand;
        SET_INTS(a, operand_shape_index, v.at[k].index);
    }
}

static Xla__SparsityConfig__TensorSparsityConfig *of_sparsity(struct writer *w,
                                                              const struct sparsity_side *s)
{
    if (!s->given)
        return NULL;
    Xla__SparsityConfig__TensorSparsityConfig *out =
        NEW(w, sparsity_config__tensor_sparsity_config);
    out->num_non_zero = s->n;
    out->block_size = s->m;
    out->dimension = s->dimension;
    out->stride = s->stride;
    return out;
}

static void set_sparsity(struct writer *w, const struct sparsity_config *v, inst_proto *out)
{
    out->sparsity_config = NEW(w, sparsity_config);
    out->sparsity_config->lhs = of_sparsity(w, &v->lhs);
    out->sparsity_config->rhs = of_sparsity(w, &v->rhs);
}

static void set_dimension(struct writer *w, int64_t dimension, inst_proto *out)
{
    NEW_LIST(w, out, dimensions, dimension >= 0);
    if (dimension >= 0)
        out->dimensions[0] = dimension;
}

/* In the text, `entry` is the sharding of the users: the exit of the message. */
static void set_domain(struct writer *w, const struct domain *v, inst_proto *out)
{
    out->domain_exit_sharding = proto_of_sharding(w, v->entry);
    out->domain_entry_sharding = proto_of_sharding(w, v->exit);
}

/* In a message, 0 is no channel, and XLA reads no negative one. */
static void set_channel(struct writer *w, int64_t id, inst_proto *out)
{
    if (id > 0)
        out->channel_id = id;
    else
        DIAG(w->ds, w->inst->span, PROTO_DROPPED, "a channel_id that is not positive");
}

static void set_prefetch(int64_t index, inst_proto *out)
{
    out->optional_cross_program_prefetch_index_case =
        XLA__HLO_INSTRUCTION_PROTO__OPTIONAL_CROSS_PROGRAM_PREFETCH_INDEX_CROSS_PROGRAM_PREFETCH_INDEX;
    out->cross_program_prefetch_index = (int32_t)index;
}

/* ---- attributes of all opcodes ---- */

static void set_accuracy(struct writer *w, const struct result_accuracy *v, inst_proto *out)
{
    Xla__ResultAccuracy *a = out->result_accuracy = NEW(w, result_accuracy);
    if (!v->tolerance) {
        a->specs_case = XLA__RESULT_ACCURACY__SPECS_MODE;
        a->mode =
            v->highest ? XLA__RESULT_ACCURACY__MODE__HIGHEST : XLA__RESULT_ACCURACY__MODE__DEFAULT;
        return;
    }
    a->specs_case = XLA__RESULT_ACCURACY__SPECS_TOLERANCE;
    a->tolerance = NEW(w, result_accuracy__tolerance);
    a->tolerance->atol = v->atol;
    a->tolerance->rtol = v->rtol;
    a->tolerance->ulps = v->ulps;
}

static void set_replication(struct writer *w, struct bool_list v, inst_proto *out)
{
    out->parameter_replication = NEW(w, parameter_replication);
    NEW_LIST(w, out->parameter_replication, replicated_at_leaf_buffers, v.count);
    for (int k = 0; k < v.count; k++)
        out->parameter_replication->replicated_at_leaf_buffers[k] = v.at[k];
}

static void set_predecessors(struct writer *w, struct inst_list v, inst_proto *out)
{
    NEW_LIST(w, out, control_predecessor_ids, v.count);
    for (int k = 0; k < v.count; k++)
        out->control_predecessor_ids[k] = proto_inst_id(v.at[k]);
}

static void set_statistics(struct writer *w, const struct statistics *v, inst_proto *out)
{
    out->statistics_viz->stat_index_to_visualize = v->visualizing_index;
    NEW_LIST(w, out->statistics_viz, statistics, v->count);
    for (int k = 0; k < v->count; k++) {
        out->statistics_viz->statistics[k] = NEW(w, statistic);
        out->statistics_viz->statistics[k]->stat_name = proto_new_string(w, v->at[k].name);
        out->statistics_viz->statistics[k]->stat_val = v->at[k].value;
    }
}

/* ---- dispatch ---- */

static void set_attribute(struct writer *w, const struct inst *i, enum attr_id id,
                          union attr_value v, inst_proto *out)
{
    const struct proto_field *f = proto_find_field((enum opcode)i->opcode, id);
    if (f) {
        set_field(w, f, i, v, out);
        return;
    }
    switch (id) {
    case A_BACKEND_CONFIG: out->backend_config = proto_bytes(v.s); break;
    case A_CHANNEL_ID: set_channel(w, v.i, out); break;
    case A_CONTROL_PREDECESSORS: set_predecessors(w, v.insts, out); break;
    case A_CROSS_PROGRAM_PREFETCH_INDEX: set_prefetch(v.i, out); break;
    case A_DIM_LABELS: set_dim_labels(w, v.dim_labels, out); break;
    case A_DOMAIN: set_domain(w, v.domain, out); break;
    case A_EPSILON: out->epsilon = (float)v.f; break;
    case A_FRONTEND_ATTRIBUTES: out->frontend_attributes = proto_of_frontend(w, &v.frontend); break;
    case A_INFERRED_DIMENSION:
    case A_IOTA_DIMENSION: set_dimension(w, v.i, out); break;
    case A_IS_ASSOCIATIVE:
        out->is_associative =
            v.b ? XLA__TRI_STATE__TRI_STATE_TRUE : XLA__TRI_STATE__TRI_STATE_FALSE;
        break;
    case A_LITERAL: out->literal = proto_of_literal(w, v.literal); break;
    case A_METADATA: out->metadata = proto_of_metadata(w, v.metadata); break;
    case A_OPERAND_LAYOUT_CONSTRAINTS: set_constraints(w, v.shapes, out); break;
    case A_OPERAND_PRECISION: set_precision(w, i, v.enums, out); break;
    case A_ORIGIN: out->original_value = proto_of_origin(w, v.origin); break;
    case A_OUTFEED_SHAPE: out->outfeed_shape = proto_of_shape(w, v.shape); break;
    case A_OUTPUT_TO_OPERAND_ALIASING: set_aliasing(w, v.aliasing, out); break;
    case A_PADDING: set_padding(w, v.padding, out); break;
    case A_PARAMETER_REPLICATION: set_replication(w, v.bools, out); break;
    case A_REPLICA_GROUPS: proto_write_device_list(w, v.groups, out); break;
    case A_RESULT_ACCURACY: set_accuracy(w, v.accuracy, out); break;
    case A_SHARDING: out->sharding = proto_of_sharding(w, v.sharding); break;
    case A_SLICE: set_slices(w, v.slices, out); break;
    case A_SLICE_SIZES_LIST: set_slice_sizes(w, v.ints_list, out); break;
    case A_SOURCE_TARGET_PAIRS: set_pairs(w, v.ints_list, out); break;
    case A_SPARSITY_CONFIG: set_sparsity(w, v.sparsity, out); break;
    case A_STATISTICS: set_statistics(w, v.statistics, out); break;
    case A_WINDOW: set_window(w, v.window, out); break;
    default: break; /* called computations are a list of the message */
    }
}

/* What XLA writes for attributes that are absent. */
static void set_defaults(struct writer *w, const struct inst *i, inst_proto *out)
{
    static const struct device_list no_groups;
    const enum opcode op = (enum opcode)i->opcode;
    const bool convolves = op == OP_CONVOLUTION || op == OP_CUSTOM_CALL;
    out->metadata = NEW(w, op_metadata);
    out->frontend_attributes = NEW(w, frontend_attributes);
    out->statistics_viz = NEW(w, statistics_viz);
    if (convolves)
        out->feature_group_count = out->batch_group_count = 1;
    if (op == OP_CUSTOM_CALL)
        out->custom_call_api_version = XLA__CUSTOM_CALL_API_VERSION__API_VERSION_ORIGINAL;
    if (op == OP_CONVOLUTION || op == OP_REDUCE_WINDOW || op == OP_SELECT_AND_SCATTER)
        out->window = NEW(w, window);
    if (op == OP_CONVOLUTION)
        out->sparsity_config = NEW(w, sparsity_config);
    for (const struct op_attr *a = op_table[op].attrs; a->id != A_NONE; a++) {
        if (a->use & USE_BUILDER)
            continue;
        if (a->id == A_REPLICA_GROUPS)
            proto_write_device_list(w, &no_groups, out);
        else if (a->id == A_OPERAND_PRECISION)
            set_precision(w, i, (struct enum_list){0}, out);
        else if (a->id == A_OUTFEED_SHAPE && i->operand_count > 0)
            out->outfeed_shape = proto_of_shape(w, i->operands[0]->shape);
    }
    if (op == OP_DOT || op == OP_SCALED_DOT)
        out->dot_dimension_numbers = NEW(w, dot_dimension_numbers);
    if (op == OP_CHOLESKY)
        out->cholesky_options = NEW(w, cholesky_options);
    if (op == OP_TRIANGULAR_SOLVE)
        out->triangular_solve_options = NEW(w, triangular_solve_options);
    if (op == OP_COMPARE)
        out->comparison_type = (char *)(uintptr_t)enum_word(A_TYPE, inst_compare_type(i));
}

/* The dimensions of a map are all, whatever the attribute. */
static void set_map_dimensions(struct writer *w, const struct inst *i, inst_proto *out)
{
    NEW_LIST(w, out, dimensions, i->shape->rank);
    for (int d = 0; d < i->shape->rank; d++)
        out->dimensions[d] = d;
}

void proto_write_attributes(struct writer *w, const struct inst *i, inst_proto *out)
{
    set_defaults(w, i, out);
    for (int k = 0; k < i->attr_count; k++) {
        const enum attr_id id = (enum attr_id)i->attrs[k].id;
        const struct op_attr *own = op_attr_of((enum opcode)i->opcode, id);
        if (!own || !(own->use & (USE_DROPPED | USE_BUILDER)))
            set_attribute(w, i, id, i->attrs[k].v, out);
    }
    if (i->opcode == OP_MAP)
        set_map_dimensions(w, i, out);
}
