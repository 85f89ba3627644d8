/*
 * tile.c: chooses the tile kernel that computes an instruction, and the conversions before and
 * after it.
 *
 * Modules may mix float types (`add(f32, bf16)`) and declare results of another precision than the
 * operands. Kernels compute in one type, so operands are converted to it and results from it.
 */
#include "plan/plan_priv.h"

int plan_bits(const struct inst *i, enum attr_id a)
{
    int64_t bits = inst_int(i, a, 0);
    return bits > 64 ? 64 : (int)bits;
}

/* The common type of all operands, or the type that they are all converted to. */
static enum dtype common_type(const struct inst *i, int first)
{
    enum dtype t = i->operands[first]->shape->dtype;
    for (int k = first + 1; k < i->operand_count; k++) {
        enum dtype other = i->operands[k]->shape->dtype;
        if (other == t)
            continue;
        enum dtype higher = dtype_higher(t, other);
        t = higher == DT_INVALID ? (dtype_is_float(t) ? DT_F32 : t) : higher;
    }
    return t;
}

static int kind_of(enum dtype t)
{
    return dtype_is_complex(t) ? 3 : dtype_is_float(t) ? 2 : t == DT_PRED ? 0 : 1;
}

/* A result of a lower kind than the operands, as s32 of bf16 by bf16, is not a sum of converted
 * operands: the sum is first rounded to the operands' type and then converted, as XLA does (both
 * compiled and constant-folded). */
enum dtype plan_sum_type(const struct inst *i)
{
    enum dtype lhs = i->operands[0]->shape->dtype, rhs = i->operands[1]->shape->dtype;
    enum dtype higher = kind_of(lhs) < kind_of(rhs)   ? rhs
                        : kind_of(lhs) > kind_of(rhs) ? lhs
                                                      : dtype_higher(lhs, rhs);
    enum dtype out = i->shape->dtype;
    if (higher == DT_INVALID)
        higher = dtype_is_float(lhs) ? DT_F32 : lhs;
    return kind_of(out) < kind_of(higher) ? higher : out;
}

static kern_tile_fn *tile_compare(const struct planner *pl, const struct inst *i, enum dtype t)
{
    enum kern_direction d = (enum kern_direction)inst_enum(i, A_DIRECTION, E_DIRECTION_EQ);
    return pl->tiles->compare(d, inst_compare_type(i) == E_TYPE_TOTALORDER, t);
}

/* The result type of an elementwise kernel with operands of type `t`. */
static enum dtype elementwise_result(enum opcode op, enum dtype t)
{
    switch (op) {
    case OP_IS_FINITE: return DT_PRED;
    case OP_ABS:
    case OP_REAL:
    case OP_IMAG: return dtype_component(t);
    case OP_COMPLEX: return t == DT_F64 ? DT_C128 : DT_C64;
    default: return t;
    }
}

kern_tile_fn *plan_tile_of(const struct planner *pl, const struct inst *i, enum dtype type)
{
    switch (i->opcode) {
    case OP_COMPARE: return tile_compare(pl, i, type);
    case OP_CONVERT:
    case OP_COPY: return pl->tiles->convert(i->shape->dtype, type);
    case OP_BITCAST_CONVERT: return pl->tiles->convert(type, type);
    default: return pl->tiles->vector(op_spelling(i->opcode), type);
    }
}

/* Whether a bitcast is a copy of words. */
static bool keeps_words(const struct inst *i)
{
    const enum dtype from = i->operands[0]->shape->dtype, to = i->shape->dtype;
    return dtype_bits(from) == dtype_bits(to) && dtype_bits(to) >= 32 && !dtype_is_complex(from) &&
           !dtype_is_complex(to);
}

kern_tile_fn *plan_tile(const struct planner *pl, const struct inst *i, enum dtype *type,
                        enum dtype *result)
{
    if (!shape_is_array(i->shape) || i->operand_count == 0)
        return NULL;
    for (int k = 0; k < i->operand_count; k++)
        if (!shape_is_array(i->operands[k]->shape))
            return NULL;
    switch (i->opcode) {
    case OP_COMPARE:
        *type = common_type(i, 0);
        *result = DT_PRED;
        break;
    case OP_BITCAST_CONVERT:
        if (!keeps_words(i))
            return NULL; /* fallthrough */
    case OP_CONVERT:
    case OP_COPY:
        *type = i->operands[0]->shape->dtype;
        *result = i->shape->dtype;
        break;
    default:
        *type = common_type(i, i->opcode == OP_SELECT ? 1 : 0);
        *result = elementwise_result(i->opcode, *type);
        break;
    }
    return plan_tile_of(pl, i, *type);
}

/* ---- dimension-list attributes, as kernels take them ---- */

/* Returns the number of dimensions: 0 when the attribute is absent. */
static int copy_dims(int64_t *out, const struct inst *i, enum attr_id a)
{
    struct ints from = inst_ints(i, a);
    for (int64_t k = 0; k < from.count; k++)
        out[k] = from.at[k];
    return (int)from.count;
}

void plan_dot_dims(const struct inst *i, struct kern_dot_dims *d)
{
    *d = (struct kern_dot_dims){0};
    d->batch_count = copy_dims(d->lhs_batch, i, A_LHS_BATCH_DIMS);
    copy_dims(d->rhs_batch, i, A_RHS_BATCH_DIMS);
    d->contracting_count = copy_dims(d->lhs_contracting, i, A_LHS_CONTRACTING_DIMS);
    copy_dims(d->rhs_contracting, i, A_RHS_CONTRACTING_DIMS);
}

void plan_gather_dims(const struct inst *i, struct kern_gather_dims *d)
{
    const bool reads = i->opcode == OP_GATHER;
    *d = (struct kern_gather_dims){0};
    d->offset_count = copy_dims(d->offset_dims, i, reads ? A_OFFSET_DIMS : A_UPDATE_WINDOW_DIMS);
    d->collapsed_count =
        copy_dims(d->collapsed, i, reads ? A_COLLAPSED_SLICE_DIMS : A_INSERTED_WINDOW_DIMS);
    d->map_count = copy_dims(d->start_index_map, i,
                             reads ? A_START_INDEX_MAP : A_SCATTER_DIMS_TO_OPERAND_DIMS);
    d->batching_count =
        copy_dims(d->operand_batching, i, reads ? A_OPERAND_BATCHING_DIMS : A_INPUT_BATCHING_DIMS);
    copy_dims(d->indices_batching, i,
              reads ? A_START_INDICES_BATCHING_DIMS : A_SCATTER_INDICES_BATCHING_DIMS);
    copy_dims(d->slice_sizes, i, A_SLICE_SIZES); /* gather only */
    d->index_vector_dim = inst_int(i, A_INDEX_VECTOR_DIM, 0);
}

const char *plan_batching_problem(const struct kern_gather_dims *d, int k,
                                  const struct shape *array, const struct shape *indices)
{
    int64_t dim = d->operand_batching[k], of_indices = d->indices_batching[k];
    for (int c = 0; c < d->collapsed_count; c++)
        if (d->collapsed[c] == dim)
            return "is both a batching and a collapsed dimension";
    for (int m = 0; m < d->map_count; m++)
        if (d->start_index_map[m] == dim)
            return "is also in start_index_map";
    if (of_indices == d->index_vector_dim)
        return "is the index vector dimension";
    return array->dims[dim] == indices->dims[of_indices]
               ? NULL
               : "differs in size from that of the indices";
}
