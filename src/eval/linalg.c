/*
 * Linear algebra: cholesky, triangular-solve.
 */
#include "eval/eval_priv.h"

static bool cholesky(struct eval *ev, const struct step *s)
{
    struct view *out = eval_result(ev, s, 0);
    return out && (EVAL_TRY(ev, cholesky, ev->workers, out, eval_view(ev, s, 0),
                            inst_bool(s->inst, A_LOWER)) ||
                   eval_no_memory(ev, s, s->shapes[0]));
}

static bool triangular_solve(struct eval *ev, const struct step *s)
{
    const struct inst *i = s->inst;
    int op = inst_enum(i, A_TRANSPOSE_A, E_TRANSPOSE_A_NO_TRANSPOSE);
    struct kern_triangular how = {
        .left_side = inst_bool(i, A_LEFT_SIDE),
        .lower = inst_bool(i, A_LOWER),
        .unit_diagonal = inst_bool(i, A_UNIT_DIAGONAL),
        .transpose = op == E_TRANSPOSE_A_TRANSPOSE || op == E_TRANSPOSE_A_ADJOINT,
        .conjugate = op == E_TRANSPOSE_A_ADJOINT,
    };
    const struct view *a = eval_view(ev, s, 0), *b = eval_view(ev, s, 1);
    if (!dtype_is_float(a->dtype) && !dtype_is_complex(a->dtype))
        return eval_unsupported(ev, s);
    struct view *out = eval_result(ev, s, 0);
    return out && (EVAL_TRY(ev, triangular_solve, ev->workers, out, a, b, &how) ||
                   eval_no_memory(ev, s, s->shapes[0]));
}

bool eval_linalg(struct eval *ev, const struct step *s)
{
    return s->inst->opcode == OP_CHOLESKY ? cholesky(ev, s) : triangular_solve(ev, s);
}
