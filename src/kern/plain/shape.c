/*
 * plain rearrangements: every result element is copied from its operand element.
 */
#include "kern/nest.h"
#include "kern/plain/plain.h"

static void move(const struct view *out, const int64_t *o, const struct view *x, const int64_t *at)
{
    memcpy(view_at(out, o), view_at(x, at), dtype_bytes(out->dtype));
}

/* Used by DynamicSlice, DynamicUpdateSlice and ConcatInDim for windows of their arrays. */
void plain_copy(struct thread_pool *workers, const struct view *out, const struct view *x)
{
    int64_t o[VIEW_MAX_RANK] = {0};
    if (view_elements(out) == 0)
        return;
    do
        move(out, o, x, o);
    while (index_next(out->rank, out->dims, o));
}

/* spec: BroadcastInDim. out[o] = x[o[dimensions[0]], o[dimensions[1]], ...] */
void plain_broadcast(const struct view *out, const struct view *x, const int64_t *dimensions)
{
    int64_t o[VIEW_MAX_RANK] = {0}, at[VIEW_MAX_RANK];
    if (view_elements(out) == 0)
        return;
    do {
        for (int d = 0; d < x->rank; d++)
            at[d] = o[dimensions[d]];
        move(out, o, x, at);
    } while (index_next(out->rank, out->dims, o));
}

/* spec: Transpose. Dimension k of the result is dimension permutation[k] of the operand. */
void plain_transpose(const struct view *out, const struct view *x, const int64_t *permutation)
{
    int64_t o[VIEW_MAX_RANK] = {0}, at[VIEW_MAX_RANK];
    if (view_elements(out) == 0)
        return;
    do {
        for (int d = 0; d < out->rank; d++)
            at[permutation[d]] = o[d];
        move(out, o, x, at);
    } while (index_next(out->rank, out->dims, o));
}

/* spec: Reshape. Both arrays are the same row-major sequence. */
void plain_reshape(const struct view *out, const struct view *x)
{
    int64_t o[VIEW_MAX_RANK] = {0}, at[VIEW_MAX_RANK] = {0};
    if (view_elements(out) == 0)
        return;
    do {
        move(out, o, x, at);
        index_next(x->rank, x->dims, at);
    } while (index_next(out->rank, out->dims, o));
}

/* spec: Rev (reverse) */
void plain_reverse(const struct view *out, const struct view *x, const int64_t *dimensions,
                   int count)
{
    int64_t o[VIEW_MAX_RANK] = {0}, at[VIEW_MAX_RANK];
    if (view_elements(out) == 0)
        return;
    do {
        memcpy(at, o, sizeof at);
        for (int k = 0; k < count; k++)
            at[dimensions[k]] = out->dims[dimensions[k]] - 1 - o[dimensions[k]];
        move(out, o, x, at);
    } while (index_next(out->rank, out->dims, o));
}

/* spec: Slice */
void plain_slice(const struct view *out, const struct view *x, const int64_t *start,
                 const int64_t *stride)
{
    int64_t o[VIEW_MAX_RANK] = {0}, at[VIEW_MAX_RANK];
    if (view_elements(out) == 0)
        return;
    do {
        for (int d = 0; d < out->rank; d++)
            at[d] = start[d] + o[d] * stride[d];
        move(out, o, x, at);
    } while (index_next(out->rank, out->dims, o));
}

/* spec: Pad */
void plain_pad(struct thread_pool *workers, const struct view *out, const struct view *x,
               const void *value, const struct kern_pad_dim *dims)
{
    int64_t o[VIEW_MAX_RANK] = {0}, at[VIEW_MAX_RANK];
    if (view_elements(out) == 0)
        return;
    do {
        bool inside = true;
        for (int d = 0; d < out->rank; d++) {
            int64_t p = o[d] - dims[d].low, step = dims[d].interior + 1;
            inside &= p >= 0 && p % step == 0 && p / step < x->dims[d];
            at[d] = inside ? p / step : 0;
        }
        memcpy(view_at(out, o), inside ? view_at(x, at) : (const char *)value,
               dtype_bytes(out->dtype));
    } while (index_next(out->rank, out->dims, o));
}

/* spec: Iota. An element is its index along `dimension`, converted from s64. */
void plain_iota(struct thread_pool *workers, const struct view *out, int dimension)
{
    int64_t o[VIEW_MAX_RANK] = {0};
    struct loader from_index;
    loader_init(&from_index, out->dtype, DT_S64);
    if (view_elements(out) == 0)
        return;
    do
        loader_write(&from_index, view_at(out, o), 0, &o[dimension], 1);
    while (index_next(out->rank, out->dims, o));
}
