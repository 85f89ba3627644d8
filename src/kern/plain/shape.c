/*
 * plain copies, pad and iota: element by element.
 */
#include "kern/nest.h"
#include "kern/plain/plain.h"

/* Used by all that moves elements: operands as views of the result's dims. */
void plain_copy(struct thread_pool *workers, const struct view *out, const struct view *x)
{
    int64_t o[VIEW_MAX_RANK] = {0};
    if (view_elements(out) == 0)
        return;
    do
        memcpy(view_at(out, o), view_at(x, o), dtype_bytes(out->dtype));
    while (index_next(out->rank, out->dims, o));
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
