/*
 * plain gather and scatter: a start for every index tuple, an element for every position of the
 * window.
 */
#include "kern/plain/reducer.h"
#include "kern/plain/plain.h"

/* The position of d in a list, or -1. */
/* For index o of the gather's result (or of the scatter's updates): start[d], from the indices, and
 * offset[d] inside the window, for every dimension of the array. */
static void find_start(const struct view *array, const struct view *indices,
                       const struct kern_gather_dims *dims, const int64_t *o, int rank,
                       int64_t *start, int64_t *offset)
{
    int64_t at[VIEW_MAX_RANK]; /* index into `indices` */
    for (int d = 0, id = 0; d < rank; d++)
        if (!i64_in(dims->offset_dims, dims->offset_count, d)) {
            id += id == dims->index_vector_dim;
            at[id++] = o[d];
        }
    for (int d = 0, next = 0; d < array->rank; d++) {
        const int64_t component = i64_find(dims->start_index_map, dims->map_count, d);
        const int64_t batching = i64_find(dims->operand_batching, dims->batching_count, d);
        bool kept = batching < 0 && !i64_in(dims->collapsed, dims->collapsed_count, d);
        offset[d] = kept ? o[dims->offset_dims[next++]] : 0;
        start[d] = batching >= 0 ? at[dims->indices_batching[batching]] : 0;
        if (component < 0)
            continue;
        if (dims->index_vector_dim < indices->rank)
            at[dims->index_vector_dim] = component;
        start[d] = kern_load_index(indices->dtype, view_at(indices, at));
    }
}

/* spec: Gather */
void plain_gather(struct thread_pool *workers, const struct view *out, const struct view *operand,
                  const struct view *indices, const struct kern_gather_dims *dims)
{
    int64_t o[VIEW_MAX_RANK] = {0}, start[VIEW_MAX_RANK], offset[VIEW_MAX_RANK], at[VIEW_MAX_RANK];
    if (view_elements(out) == 0)
        return;
    do {
        bool inside = true;
        find_start(operand, indices, dims, o, out->rank, start, offset);
        for (int d = 0; d < operand->rank; d++) {
            int64_t last = operand->dims[d] - dims->slice_sizes[d];
            inside &= last >= 0 && dims->slice_sizes[d] > 0;
            at[d] = (start[d] < 0 ? 0 : start[d] > last ? last : start[d]) + offset[d];
        }
        if (inside)
            memcpy(view_at(out, o), view_at(operand, at), dtype_bytes(out->dtype));
        else
            memset(view_at(out, o), 0, dtype_bytes(out->dtype));
    } while (index_next(out->rank, out->dims, o));
}

/* Whether the whole window is inside; `at` becomes the index of this element of it. */
static bool window_is_inside(const struct view *array, const struct view *updates,
                             const struct kern_gather_dims *dims, const int64_t *start,
                             const int64_t *offset, int64_t *at)
{
    bool inside = true;
    for (int d = 0, next = 0; d < array->rank; d++) {
        bool kept = !i64_in(dims->operand_batching, dims->batching_count, d) &&
                    !i64_in(dims->collapsed, dims->collapsed_count, d);
        int64_t size = kept ? updates->dims[dims->offset_dims[next++]] : 1;
        inside &= start[d] >= 0 && start[d] <= array->dims[d] - size;
        at[d] = inside ? start[d] + offset[d] : 0;
    }
    return inside;
}

/* spec: Scatter. Index tuples row-major, inside of them windows row-major. */
bool plain_scatter(struct thread_pool *workers, int n, const struct view *out,
                   const struct view *indices, const struct view *updates,
                   const struct kern_gather_dims *dims, const struct kern_body *body)
{
    int64_t order[VIEW_MAX_RANK], sizes[VIEW_MAX_RANK], i[VIEW_MAX_RANK] = {0};
    int64_t o[VIEW_MAX_RANK], start[VIEW_MAX_RANK], offset[VIEW_MAX_RANK], at[VIEW_MAX_RANK];
    struct plain_reducer f;
    int rank = updates->rank, count = 0;
    bool ok = true;
    for (int d = 0; d < rank; d++)
        if (!i64_in(dims->offset_dims, dims->offset_count, d))
            order[count++] = d;
    for (int k = 0; k < dims->offset_count; k++)
        order[count++] = dims->offset_dims[k];
    if (view_elements(updates) == 0)
        return true;
    for (int d = 0; d < rank; d++)
        sizes[d] = updates->dims[order[d]];
    if (!plain_reducer_init(&f, out->dtype, n, out, updates, NULL, body))
        return false;
    do {
        for (int d = 0; d < rank; d++)
            o[order[d]] = i[d];
        find_start(out, indices, dims, o, rank, start, offset);
        if (!window_is_inside(out, updates, dims, start, offset, at))
            continue;
        plain_reducer_start_at(&f, out, at);
        ok = plain_reducer_value(&f, updates, o);
        plain_reducer_store(&f, out, at);
    } while (ok && index_next(rank, sizes, i));
    plain_reducer_free(&f);
    return ok;
}
