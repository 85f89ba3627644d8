/*
 * Factors and solutions: the matrix, and of what is solved for one column or row.
 */
#include "why/why_priv.h"

static struct why_source *matrix(struct why *w, const struct inst *i, int k, const int64_t *index, const char *role)
{
    struct why_source *s = why_whole(w, i, k, 0, role);
    for (int d = 0; d < s->rank - 2; d++)
        why_fix(s, d, index[d]);
    return s;
}

void why_linalg(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    (void)leaf;
    matrix(w, i, 0, index, "matrix");
    if (i->opcode != OP_TRIANGULAR_SOLVE)
        return;
    struct why_source *s = matrix(w, i, 1, index, inst_bool(i, A_LEFT_SIDE) ? "column" : "row");
    const int d = inst_bool(i, A_LEFT_SIDE) ? s->rank - 1 : s->rank - 2;
    why_fix(s, d, index[d]);
}
