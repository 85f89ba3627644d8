/*
 * fields.c: attributes that are a field of the instruction, or of a message in it. The table serves
 * both directions.
 */
#include "proto/proto_priv.h"

#define COMMON OP_COUNT /* of any opcode */
#define FIELD(id, kind, always, field)                                                             \
    {                                                                                              \
        A_##id, kind, PART_INSTRUCTION, always, COMMON, #field, offsetof(inst_proto, field), 0,    \
            NULL, ""                                                                               \
    }
#define LIST(id, field)                                                                            \
    {                                                                                              \
        A_##id, FIELD_INTS, PART_INSTRUCTION, true, COMMON, #field, offsetof(inst_proto, field),   \
            offsetof(inst_proto, n_##field), NULL, ""                                              \
    }
#define VALUE(id, always, field, type, prefix)                                                     \
    {                                                                                              \
        A_##id, FIELD_ENUM, PART_INSTRUCTION, always, COMMON, #field, offsetof(inst_proto, field), \
            0, &xla__##type##__descriptor, prefix                                                  \
    }
#define IN_PART(id, kind, op, part, always, type, field)                                           \
    {                                                                                              \
        A_##id, kind, PART_##part, always, op, NULL, offsetof(type, field), 0, NULL, ""            \
    }
#define LIST_IN(id, part, always, type, field)                                                     \
    {                                                                                              \
        A_##id, FIELD_INTS, PART_##part, always, COMMON, NULL, offsetof(type, field),              \
            offsetof(type, n_##field), NULL, ""                                                    \
    }
#define VALUE_IN(id, part, always, type, field, values, prefix)                                    \
    {                                                                                              \
        A_##id, FIELD_ENUM, PART_##part, always, COMMON, NULL, offsetof(type, field), 0,           \
            &xla__##values##__descriptor, prefix                                                   \
    }

typedef Xla__DotDimensionNumbers dot_t;
typedef Xla__RaggedDotDimensionNumbers ragged_t;
typedef Xla__GatherDimensionNumbers gather_t;
typedef Xla__ScatterDimensionNumbers scatter_t;
typedef Xla__TriangularSolveOptions solve_t;
typedef Xla__CholeskyOptions cholesky_t;
typedef Xla__PrecisionConfig precision_t;

static const struct proto_field fields[] = {
    VALUE_IN(ALGORITHM, PRECISION, false, precision_t, algorithm, precision_config__algorithm,
             "ALG_"),
    VALUE(ALGORITHM_RNG, true, rng_algorithm, random_algorithm, ""),
    VALUE(API_VERSION, false, custom_call_api_version, custom_call_api_version, ""),
    FIELD(ASYNC_EXECUTION_THREAD, FIELD_TEXT, false, async_execution_thread),
    FIELD(BATCH_GROUP_COUNT, FIELD_COUNT, false, batch_group_count),
    LIST_IN(COLLAPSED_SLICE_DIMS, GATHER, true, gather_t, collapsed_slice_dims),
    FIELD(CONSTRAIN_LAYOUT, FIELD_BOOL, false, constrain_layout),
    VALUE(CONVOLUTION_KIND, false, conv_kind, convolution_kind, "CONVOLUTION_KIND_"),
    FIELD(CUSTOM_CALL_HAS_SIDE_EFFECT, FIELD_BOOL, false, custom_call_has_side_effect),
    FIELD(CUSTOM_CALL_TARGET, FIELD_TEXT, true, custom_call_target),
    FIELD(DELTA, FIELD_INT, true, delta),
    LIST(DIMENSIONS, dimensions),
    FIELD(DIRECTION, FIELD_WORD, false, comparison_direction),
    VALUE(DISTRIBUTION, true, distribution, random_distribution, ""),
    LIST(DYNAMIC_SLICE_SIZES, dynamic_slice_sizes),
    FIELD(EXPONENT_BITS, FIELD_INT32, true, exponent_bits),
    FIELD(FEATURE_GROUP_COUNT, FIELD_COUNT, false, feature_group_count),
    FIELD(FEATURE_INDEX, FIELD_INT, true, feature_index),
    LIST(FFT_LENGTH, fft_length),
    VALUE(FFT_TYPE, true, fft_type, fft_type, ""),
    FIELD(HAS_DYNAMIC_ROOT, FIELD_BOOL, false, has_dynamic_root),
    FIELD(INDEX, FIELD_INT, true, tuple_index),
    IN_PART(INDEX_VECTOR_DIM, FIELD_INT, OP_GATHER, GATHER, true, gather_t, index_vector_dim),
    IN_PART(INDEX_VECTOR_DIM, FIELD_INT, OP_SCATTER, SCATTER, true, scatter_t, index_vector_dim),
    FIELD(INDICES_ARE_SORTED, FIELD_BOOL, false, indices_are_sorted),
    FIELD(INFEED_CONFIG, FIELD_BYTES, false, infeed_config),
    LIST_IN(INPUT_BATCHING_DIMS, SCATTER, false, scatter_t, input_batching_dims),
    LIST_IN(INSERTED_WINDOW_DIMS, SCATTER, true, scatter_t, inserted_window_dims),
    FIELD(IS_COMPOSITE, FIELD_BOOL, false, is_composite),
    FIELD(IS_HOST_TRANSFER, FIELD_BOOL, false, is_host_transfer),
    FIELD(IS_REVERSE, FIELD_BOOL, false, is_reverse),
    FIELD(IS_STABLE, FIELD_BOOL, false, is_stable),
    FIELD(K, FIELD_INT, true, k),
    FIELD(KIND, FIELD_WORD, false, fusion_kind),
    FIELD(LARGEST, FIELD_BOOL, true, largest),
    IN_PART(LEFT_SIDE, FIELD_BOOL, COMMON, SOLVE, false, solve_t, left_side),
    LIST_IN(LHS_BATCH_DIMS, DOT, false, dot_t, lhs_batch_dimensions),
    LIST_IN(LHS_CONTRACTING_DIMS, DOT, true, dot_t, lhs_contracting_dimensions),
    LIST_IN(LHS_RAGGED_DIMS, RAGGED, false, ragged_t, lhs_ragged_dimensions),
    IN_PART(LOWER, FIELD_BOOL, OP_CHOLESKY, CHOLESKY, false, cholesky_t, lower),
    IN_PART(LOWER, FIELD_BOOL, OP_TRIANGULAR_SOLVE, SOLVE, false, solve_t, lower),
    FIELD(MANTISSA_BITS, FIELD_INT32, true, mantissa_bits),
    FIELD(NUM_CARRIES, FIELD_INT, true, num_carries),
    LIST_IN(OFFSET_DIMS, GATHER, true, gather_t, offset_dims),
    LIST_IN(OPERAND_BATCHING_DIMS, GATHER, false, gather_t, operand_batching_dims),
    FIELD(OUTFEED_CONFIG, FIELD_BYTES, false, outfeed_config),
    VALUE(PADDING_TYPE, false, padding_type, padding_type, ""),
    LIST_IN(RHS_BATCH_DIMS, DOT, false, dot_t, rhs_batch_dimensions),
    LIST_IN(RHS_CONTRACTING_DIMS, DOT, true, dot_t, rhs_contracting_dimensions),
    LIST_IN(RHS_GROUP_DIMS, RAGGED, false, ragged_t, rhs_group_dimensions),
    LIST_IN(SCATTER_DIMS_TO_OPERAND_DIMS, SCATTER, true, scatter_t, scatter_dims_to_operand_dims),
    LIST_IN(SCATTER_INDICES_BATCHING_DIMS, SCATTER, false, scatter_t,
            scatter_indices_batching_dims),
    VALUE(SCHEDULE, false, custom_call_schedule, custom_call_schedule, ""),
    LIST(SLICE_SIZES, gather_slice_sizes),
    LIST_IN(START_INDEX_MAP, GATHER, true, gather_t, start_index_map),
    LIST_IN(START_INDICES_BATCHING_DIMS, GATHER, false, gather_t, start_indices_batching_dims),
    VALUE_IN(TRANSPOSE_A, SOLVE, true, solve_t, transpose_a, triangular_solve_options__transpose,
             ""),
    FIELD(TYPE, FIELD_WORD, false, comparison_type),
    FIELD(UNIQUE_INDICES, FIELD_BOOL, false, unique_indices),
    IN_PART(UNIT_DIAGONAL, FIELD_BOOL, COMMON, SOLVE, false, solve_t, unit_diagonal),
    LIST_IN(UPDATE_WINDOW_DIMS, SCATTER, true, scatter_t, update_window_dims),
    FIELD(USE_GLOBAL_DEVICE_IDS, FIELD_BOOL, false, use_global_device_ids),
};

const struct proto_part proto_parts[] = {
#define PART(id, field, required)                                                                  \
    [PART_##id] = {#field, offsetof(inst_proto, field), &xla__##field##__descriptor, required}
    PART(DOT, dot_dimension_numbers, true),       PART(RAGGED, ragged_dot_dimension_numbers, false),
    PART(GATHER, gather_dimension_numbers, true), PART(SCATTER, scatter_dimension_numbers, true),
    PART(SOLVE, triangular_solve_options, false), PART(CHOLESKY, cholesky_options, false),
    PART(PRECISION, precision_config, false),
#undef PART
};

const struct proto_field *proto_find_field(enum opcode op, enum attr_id id)
{
    for (size_t k = 0; k < COUNT_OF(fields); k++)
        if (fields[k].id == id && (fields[k].op == COMMON || fields[k].op == op))
            return &fields[k];
    return NULL;
}

/* The dimension numbers of a ragged-dot include those of a dot. */
void *proto_field_owner(const inst_proto *i, const struct proto_field *f)
{
    const Xla__RaggedDotDimensionNumbers *ragged = i->ragged_dot_dimension_numbers;
    if (f->part == PART_INSTRUCTION)
        return (void *)(uintptr_t)i;
    if (f->part == PART_DOT && ragged)
        return ragged->dot_dimension_numbers;
    return MEMBER(void *, i, proto_parts[f->part].offset);
}

bool proto_words_are_lower(const struct proto_field *f)
{
    const char first = *enum_word((enum attr_id)f->id, 0);
    return first >= 'a' && first <= 'z';
}
