/*
 * plain dot: out[batch, i, j] = sum over k of lhs[batch, i, k] * rhs[batch, k, j]; and ragged-dot
 * and scaled-dot, which select and scale the factors.
 */
#include "kern/plain/plain.h"
#include "kern/plain/sum.h"

/* Copies the result's index o to the batch and free dimensions of both operands' indices. `other`:
 * a dimension of rhs that is neither, or -1. */
static void place_indices(int64_t *l, int lhs_rank, int64_t *r, int rhs_rank, int64_t other,
                          const struct kern_dot_dims *dims, const int64_t *o)
{
    const int n = dims->batch_count, c = dims->contracting_count;
    int at = n;
    for (int k = 0; k < n; k++)
        l[dims->lhs_batch[k]] = r[dims->rhs_batch[k]] = o[k];
    for (int d = 0; d < lhs_rank; d++)
        if (!i64_in(dims->lhs_batch, n, d) && !i64_in(dims->lhs_contracting, c, d))
            l[d] = o[at++];
    for (int d = 0; d < rhs_rank; d++)
        if (!i64_in(dims->rhs_batch, n, d) && !i64_in(dims->rhs_contracting, c, d) && d != other)
            r[d] = o[at++];
}

static void place_contracting(int64_t *l, int64_t *r, const struct kern_dot_dims *dims,
                              const int64_t *k)
{
    for (int i = 0; i < dims->contracting_count; i++)
        l[dims->lhs_contracting[i]] = r[dims->rhs_contracting[i]] = k[i];
}

/* The extents of the contracting dimensions; false when one is 0. */
static bool contracting_sizes(const struct view *lhs, const struct kern_dot_dims *dims,
                              int64_t *sizes)
{
    bool any = true;
    for (int i = 0; i < dims->contracting_count; i++) {
        sizes[i] = lhs->dims[dims->lhs_contracting[i]];
        any &= sizes[i] > 0;
    }
    return any;
}

/* spec: DotGeneral */
bool plain_dot(struct thread_pool *workers, const struct view *out, const struct view *lhs,
               const struct view *rhs, const struct kern_dot_dims *dims)
{
    int64_t o[VIEW_MAX_RANK] = {0}, k[VIEW_MAX_RANK] = {0}, sizes[VIEW_MAX_RANK];
    int64_t l[VIEW_MAX_RANK], r[VIEW_MAX_RANK];
    struct plain_sum sum;
    if (view_elements(out) == 0)
        return true;
    const bool any = contracting_sizes(lhs, dims, sizes);
    plain_sum_init(&sum, out->dtype, lhs->dtype, rhs->dtype);
    do {
        place_indices(l, lhs->rank, r, rhs->rank, -1, dims, o);
        plain_sum_clear(&sum);
        do {
            place_contracting(l, r, dims, k);
            if (any)
                plain_sum_add(&sum, view_at(lhs, l), view_at(rhs, r));
        } while (any && index_next(dims->contracting_count, sizes, k));
        plain_sum_store(&sum, view_at(out, o));
    } while (index_next(out->rank, out->dims, o));
    return true;
}

/* The group of the lhs element at l: the first whose end, the sum of the sizes up to it, is after
 * the element; -1 if none. */
static int64_t find_group(const struct view *sizes, const struct kern_ragged_dims *dims,
                          const int64_t *l)
{
    int64_t at[VIEW_MAX_RANK], end = 0, size;
    const int last = sizes->rank - 1;
    for (int k = 0; k < last; k++)
        at[k] = l[dims->prefix[k]];
    for (at[last] = 0; at[last] < sizes->dims[last]; at[last]++) {
        memcpy(&size, view_at(sizes, at), sizeof size);
        end = (int64_t)((uint64_t)end + (uint64_t)size);
        if (l[dims->lhs_ragged] < end)
            return at[last];
    }
    return -1;
}

/* spec: RaggedDot. A product counts if its lhs element is in a group; if results are by group, it
 * must be that of the result element. */
bool plain_ragged_dot(struct thread_pool *workers, const struct view *out, const struct view *lhs,
                      const struct view *rhs, const struct view *sizes,
                      const struct kern_ragged_dims *dims)
{
    int64_t o[VIEW_MAX_RANK] = {0}, k[VIEW_MAX_RANK] = {0}, extents[VIEW_MAX_RANK];
    int64_t l[VIEW_MAX_RANK], r[VIEW_MAX_RANK];
    const bool by_group = dims->mode == KERN_RAGGED_CONTRACTING,
               chosen = dims->mode == KERN_RAGGED_FREE;
    struct plain_sum sum;
    if (view_elements(out) == 0)
        return true;
    const bool any = contracting_sizes(lhs, &dims->dot, extents);
    plain_sum_init(&sum, out->dtype, lhs->dtype, rhs->dtype);
    do {
        place_indices(l, lhs->rank, r, rhs->rank, chosen ? dims->rhs_group : -1, &dims->dot,
                      o + by_group);
        plain_sum_clear(&sum);
        do {
            place_contracting(l, r, &dims->dot, k);
            const int64_t group = any ? find_group(sizes, dims, l) : -1;
            if (chosen)
                r[dims->rhs_group] = group;
            if (by_group ? any && group == o[0] : group >= 0)
                plain_sum_add(&sum, view_at(lhs, l), view_at(rhs, r));
        } while (any && index_next(dims->dot.contracting_count, extents, k));
        plain_sum_store(&sum, view_at(out, o));
    } while (index_next(out->rank, out->dims, o));
    return true;
}

/* spec: ScaledDot */
bool plain_scaled_dot(struct thread_pool *workers, const struct view *out, const struct view *lhs,
                      const struct view *rhs, const struct view *const scale[2],
                      const struct kern_dot_dims *dims)
{
    int64_t o[VIEW_MAX_RANK] = {0}, k[VIEW_MAX_RANK] = {0}, sizes[VIEW_MAX_RANK];
    int64_t l[VIEW_MAX_RANK], r[VIEW_MAX_RANK];
    struct plain_sum sum;
    struct plain_scaled left, right;
    if (view_elements(out) == 0)
        return true;
    const bool any = contracting_sizes(lhs, dims, sizes);
    plain_scaled_init(&left, lhs, scale[0]);
    plain_scaled_init(&right, rhs, scale[1]);
    plain_sum_init(&sum, out->dtype, left.work, right.work);
    do {
        place_indices(l, lhs->rank, r, rhs->rank, -1, dims, o);
        plain_sum_clear(&sum);
        do {
            union kern_element a, b;
            place_contracting(l, r, dims, k);
            if (!any)
                break;
            plain_scaled_element(&left, l, &a);
            plain_scaled_element(&right, r, &b);
            plain_sum_add(&sum, a.bytes, b.bytes);
        } while (index_next(dims->contracting_count, sizes, k));
        plain_sum_store(&sum, view_at(out, o));
    } while (index_next(out->rank, out->dims, o));
    return true;
}
