/*
 * Products: a row and a column, element by element in the order of the contracting dimensions.
 */
#include "why/why_priv.h"

#include "plan/plan.h"

/* Elements are counted over the contracting dimensions in their order, which both sides share. */
static void walk_along(struct why_source *s, const int64_t *contracting, int count)
{
    int n = 0;
    for (int d = 0; d < s->rank; d++)
        if (!i64_in(contracting, count, d))
            s->walk[n++] = d;
    for (int k = 0; k < count; k++)
        s->walk[n++] = (int)contracting[k];
}

/* Operand k: batch dimensions and those of its own are one place; `skipped` stays whole. The next dimension of the result. */
static int64_t *row_of(struct why *w, const struct inst *i, int k, const struct kern_dot_dims *dims, int64_t skipped,
                       const int64_t *index, int64_t *next)
{
    const int64_t *batch = k == 0 ? dims->lhs_batch : dims->rhs_batch;
    const int64_t *contracting = k == 0 ? dims->lhs_contracting : dims->rhs_contracting;
    struct why_source *s = why_whole(w, i, k, 0, k == 0 ? "lhs" : "rhs");
    for (int b = 0; b < dims->batch_count; b++)
        if (batch[b] != skipped)
            why_fix(s, batch[b], index[b]);
    for (int d = 0; d < s->rank; d++)
        if (d != skipped && !i64_in(batch, dims->batch_count, d) && !i64_in(contracting, dims->contracting_count, d))
            why_fix(s, d, *next++);
    walk_along(s, contracting, dims->contracting_count);
    return next;
}

/* A scale goes with a block of elements. */
static void scales(struct why *w, const struct inst *i, size_t rows)
{
    for (int k = 0; k < 2; k++) {
        struct why_source *s = why_whole(w, i, 2 + k, 0, "scale");
        const struct why_source *row = &w->at[rows + (size_t)k];
        for (int d = 0; d < s->rank && s->rank == row->rank; d++) {
            const int64_t size = i->operands[k]->shape->dims[d];
            const int64_t each = s->count[d] > 0 ? size / s->count[d] : 0;
            if (row->count[d] == 1 && size > 1 && each > 0)
                why_fix(s, d, row->start[d] / each);
        }
    }
}

/* Which group a row belongs to is told by the sizes; all groups are given. */
static void ragged(struct why *w, const struct inst *i, const struct kern_dot_dims *dims, int64_t *index)
{
    const struct ints ragged = inst_ints(i, A_LHS_RAGGED_DIMS), groups = inst_ints(i, A_RHS_GROUP_DIMS);
    const bool sums = i64_in(dims->lhs_contracting, dims->contracting_count, ragged.at[0]);
    if (sums)
        index++; /* of the group */
    int64_t *next = row_of(w, i, 0, dims, -1, index, index + dims->batch_count);
    row_of(w, i, 1, dims, groups.count ? groups.at[0] : -1, index, next);
    why_whole(w, i, 2, 0, "group sizes");
}

void why_dot(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    struct kern_dot_dims dims;
    int64_t at[VIEW_MAX_RANK];
    const size_t rows = w->count;
    (void)leaf;
    plan_dot_dims(i, &dims);
    for (int d = 0; d < i->shape->rank; d++)
        at[d] = index[d];
    if (i->opcode == OP_RAGGED_DOT) {
        ragged(w, i, &dims, at);
        return;
    }
    int64_t *next = row_of(w, i, 0, &dims, -1, at, at + dims.batch_count);
    row_of(w, i, 1, &dims, -1, at, next);
    w->at[rows].product = true;
    if (i->opcode == OP_SCALED_DOT)
        scales(w, i, rows);
    for (int k = 2; k < i->operand_count && i->opcode == OP_DOT; k++)
        why_every_leaf(w, i, k, "metadata");
}
