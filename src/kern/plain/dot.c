/*
 * plain dot: out[batch, i, j] = sum over k of lhs[batch, i, k] * rhs[batch, k, j].
 */
#include "kern/plain/plain.h"
#include "kern/plain/sum.h"

static bool in_list(const int64_t *list, int count, int64_t d)
{
    for (int k = 0; k < count; k++)
        if (list[k] == d)
            return true;
    return false;
}

/* Puts the result's index o into the batch and free dimensions of one operand's index; `at` is the
 * first result dimension that is this operand's free one. Returns the one after its last. */
static int place_index(int64_t *index, int rank, const int64_t *batch, const int64_t *contracting,
                       const struct kern_dot_dims *dims, const int64_t *o, int at)
{
    for (int k = 0; k < dims->batch_count; k++)
        index[batch[k]] = o[k];
    for (int d = 0; d < rank; d++)
        if (!in_list(batch, dims->batch_count, d) && !in_list(contracting, dims->contracting_count, d))
            index[d] = o[at++];
    return at;
}

/* spec: DotGeneral */
bool plain_dot(const struct view *out, const struct view *lhs, const struct view *rhs,
               const struct kern_dot_dims *dims)
{
    int64_t o[VIEW_MAX_RANK] = {0}, k[VIEW_MAX_RANK] = {0}, sizes[VIEW_MAX_RANK];
    int64_t l[VIEW_MAX_RANK], r[VIEW_MAX_RANK];
    struct plain_sum sum;
    bool nothing = false;
    if (view_elements(out) == 0)
        return true;
    plain_sum_init(&sum, out->dtype, lhs->dtype, rhs->dtype);
    for (int i = 0; i < dims->contracting_count; i++) {
        sizes[i] = lhs->dims[dims->lhs_contracting[i]];
        nothing |= sizes[i] == 0;
    }
    do {
        int at =
            place_index(l, lhs->rank, dims->lhs_batch, dims->lhs_contracting, dims, o, dims->batch_count);
        place_index(r, rhs->rank, dims->rhs_batch, dims->rhs_contracting, dims, o, at);
        plain_sum_clear(&sum);
        do {
            for (int i = 0; i < dims->contracting_count; i++) {
                l[dims->lhs_contracting[i]] = k[i];
                r[dims->rhs_contracting[i]] = k[i];
            }
            if (!nothing)
                plain_sum_add(&sum, view_at(lhs, l), view_at(rhs, r));
        } while (!nothing && index_next(dims->contracting_count, sizes, k));
        plain_sum_store(&sum, view_at(out, o));
    } while (index_next(out->rank, out->dims, o));
    return true;
}
