/*
 * Comparisons: the same place of both operands.
 */
#include "why/why_priv.h"

void why_compare(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    (void)leaf;
    why_same(w, i, 0, 0, index, "lhs");
    why_same(w, i, 1, 0, index, "rhs");
}
