/*
 * linalg.c: result shapes of cholesky and triangular-solve.
 */
#include "infer/infer_priv.h"

static bool square_matrices(struct infer *ctx, const struct inst *i)
{
    const struct shape *a = operand_shape(i, 0);
    if (!dtype_is_float(a->dtype) && !dtype_is_complex(a->dtype))
        return report_operand(ctx, i, 0, "float or complex elements");
    if (a->rank < 2 || !dim_compatible(a->dims[a->rank - 1], a->dims[a->rank - 2]))
        return report_operand(ctx, i, 0, "square matrices");
    return true;
}

/* spec: Cholesky */
static const struct shape *cholesky_shape(struct infer *ctx, const struct inst *i)
{
    return check_operand_array(ctx, i, 0) && square_matrices(ctx, i) ? operand_shape(i, 0) : NULL;
}

static bool transposition_given(struct infer *ctx, const struct inst *i)
{
    int t = inst_enum(i, A_TRANSPOSE_A, E_TRANSPOSE_A_INVALID);
    if (t != E_TRANSPOSE_A_INVALID)
        return true;
    return report_attr(ctx, i, A_TRANSPOSE_A, "expected NO_TRANSPOSE, TRANSPOSE or ADJOINT");
}

/* spec: TriangularSolve */
static const struct shape *solve_shape(struct infer *ctx, const struct inst *i)
{
    const struct shape *a = operand_shape(i, 0), *b = operand_shape(i, 1);
    if (!check_operand_arrays(ctx, i, 0, 2) || !square_matrices(ctx, i) ||
        !transposition_given(ctx, i))
        return NULL;
    if (a->dtype != b->dtype)
        return report_operand_types(ctx, i, 0, 1), NULL;
    if (a->rank != b->rank)
        return report_operands(ctx, i, 0, 1, "rank"), NULL;
    int shared = b->rank - (inst_bool(i, A_LEFT_SIDE) ? 2 : 1);
    if (!dim_compatible(a->dims[a->rank - 1], b->dims[shared]))
        return report_operand(ctx, i, 1, "a dimension %d of %" PRId64, shared,
                              a->dims[a->rank - 1]),
               NULL;
    for (int k = 0; k < a->rank - 2; k++)
        if (!dim_compatible(a->dims[k], b->dims[k]))
            return report_operands(ctx, i, 0, 1, "batch dimensions"), NULL;
    return b;
}

const struct shape *infer_linalg(struct infer *ctx, const struct inst *i)
{
    return i->opcode == OP_CHOLESKY ? cholesky_shape(ctx, i) : solve_shape(ctx, i);
}
