/*
 * linalg.c: result shapes of cholesky and triangular-solve.
 */
#include "verify/verify_priv.h"

static bool square_matrices(struct verify *v, const struct inst *i)
{
    const struct shape *a = operand_shape(i, 0);
    if (!dtype_is_float(a->dtype) && !dtype_is_complex(a->dtype))
        return verify_bad_operand(v, i, 0, "float or complex elements");
    if (a->rank < 2 || !dim_compatible(a->dims[a->rank - 1], a->dims[a->rank - 2]))
        return verify_bad_operand(v, i, 0, "square matrices");
    return true;
}

/* spec: Cholesky */
static const struct shape *cholesky_shape(struct verify *v, const struct inst *i)
{
    return verify_operand_array(v, i, 0) && square_matrices(v, i) ? operand_shape(i, 0) : NULL;
}

static bool transposition_given(struct verify *v, const struct inst *i)
{
    int t = inst_enum(i, A_TRANSPOSE_A, E_TRANSPOSE_A_INVALID);
    if (t != E_TRANSPOSE_A_INVALID)
        return true;
    return verify_bad_attr(v, i, A_TRANSPOSE_A, "expected NO_TRANSPOSE, TRANSPOSE or ADJOINT");
}

/* spec: TriangularSolve */
static const struct shape *solve_shape(struct verify *v, const struct inst *i)
{
    const struct shape *a = operand_shape(i, 0), *b = operand_shape(i, 1);
    if (!verify_operand_arrays(v, i, 0, 2) || !square_matrices(v, i) || !transposition_given(v, i))
        return NULL;
    if (a->dtype != b->dtype)
        return verify_bad_operands(v, i, 0, 1, "element type"), NULL;
    if (a->rank != b->rank)
        return verify_bad_operands(v, i, 0, 1, "rank"), NULL;
    int shared = b->rank - (inst_bool(i, A_LEFT_SIDE) ? 2 : 1);
    if (!dim_compatible(a->dims[a->rank - 1], b->dims[shared]))
        return verify_bad_operand(v, i, 1, "a dimension %d of %" PRId64, shared,
                                  a->dims[a->rank - 1]),
               NULL;
    for (int k = 0; k < a->rank - 2; k++)
        if (!dim_compatible(a->dims[k], b->dims[k]))
            return verify_bad_operands(v, i, 0, 1, "batch dimensions"), NULL;
    return b;
}

const struct shape *verify_linalg(struct verify *v, const struct inst *i)
{
    return i->opcode == OP_CHOLESKY ? cholesky_shape(v, i) : solve_shape(v, i);
}
