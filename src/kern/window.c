/*
 * window.c: reductions over sliding windows. For a recognized combiner, windows that share an end
 * are reduced in one step for each element (cumulative.c), those of few positions, or long ones at
 * every position, as whole lines (window_planes.c), which need no copies if they are rows of
 * features (window_lanes.c). Other windows and bodies: adjacent windows are reduced at the same
 * time (window_rows.c). If none of these is possible, the plain kernel is used.
 *
 * Order and accumulation: as reduce, but sums of floats up to f32 run in f32 (in double when a
 * window is long); padding and the holes of dilation contribute nothing.
 */
#include "kern/plain/plain.h"
#include "kern/window.h"

/* ---- positions of a window ---- */

bool window_places_few(int rank, const struct kern_window_dim *window)
{
    int64_t places = 1;
    for (int d = 0; d < rank; d++)
        if (window[d].base_dilation != 1 || !mul_i64(places, window[d].size, &places) ||
            places > WINDOW_PLACES)
            return false;
    return true;
}

int window_places(const struct view *x, const struct kern_window_dim *window, const int64_t *o,
                  const char **rows)
{
    int count = 1;
    rows[0] = x->data;
    for (int d = 0; d < x->rank && count > 0; d++) {
        const struct kern_window_dim *w = &window[d];
        int64_t stride = x->strides[d], step = w->window_dilation,
                at = o[d] * w->stride - w->pad_low;
        int64_t first = at >= 0 ? 0 : ratio_up(-at, step), limit = w->size;
        if (at + (limit - 1) * step >= x->dims[d])
            limit = at >= x->dims[d] ? 0 : ratio_up(x->dims[d] - at, step);
        if (first >= limit)
            return 0;
        int places = (int)(limit - first);
        for (int k = count - 1; k >= 0; k--) {
            const char *row = rows[k] + (at + first * step) * stride;
            for (int j = places - 1; j >= 0; j--)
                rows[k * places + j] = row + j * step * stride;
        }
        count *= places;
    }
    return count;
}

/* ---- recognized bodies ---- */

/* Windows that are inside the operand are a view, whose leading dimensions are the result's, and
 * trailing ones the window's. False: some are not. */
static bool reduce_inside(struct thread_pool *workers, const struct view *out, const struct view *x,
                          const void *init, enum dtype work, const struct kern_window_dim *window,
                          enum kern_combine combine)
{
    bool reduced[VIEW_MAX_RANK] = {false};
    struct view all = *x;
    for (int d = 0; d < out->rank; d++) {
        const struct kern_window_dim *w = &window[d];
        const int64_t last = (out->dims[d] - 1) * w->stride + (w->size - 1) * w->window_dilation;
        if (w->pad_low > 0 || w->base_dilation > 1 || last - w->pad_low >= x->dims[d])
            return false;
        all.data -= w->pad_low * x->strides[d];
        all.dims[d] = out->dims[d];
        all.strides[d] = x->strides[d] * w->stride;
        if (w->size == 1)
            continue;
        if (all.rank == VIEW_MAX_RANK)
            return false;
        all.dims[all.rank] = w->size;
        all.strides[all.rank] = x->strides[d] * w->window_dilation;
        reduced[all.rank++] = true;
    }
    return reduce_dimensions(workers, out, &all, init, x->dtype, work, reduced, combine);
}

/* False when the body, its types or an empty window need the plain kernel. */
static bool reduce_window_recognised(struct thread_pool *workers, const struct view *out,
                                     const struct view *x, const void *init, enum dtype acc,
                                     const struct kern_window_dim *window,
                                     const struct kern_body *body)
{
    const bool is_long = window_any_long(x->rank, window, body->combine, acc);
    const enum dtype work = (is_long ? combine_work_type : combine_window_type)(body->combine, acc);
    if (x->dtype != acc || out->dtype != acc ||
        !kern_find_elementwise(kern_combine_opcode(body->combine), work))
        return false;
    for (int d = 0; d < x->rank; d++)
        if (window[d].size == 0)
            return false;
    return reduce_cumulative(workers, 1, out, x, &init, &acc, window, body) ||
           reduce_window_planes(workers, out, x, init, window, body->combine) ||
           (!is_long && reduce_window_lanes(workers, out, x, init, window, body->combine)) ||
           reduce_inside(workers, out, x, init, work, window, body->combine) ||
           reduce_window_rows(workers, 1, out, x, &init, &acc, work, window, body);
}

/* ---- entry point ---- */

/* spec: ReduceWindow. acc = f(acc, x[p]) from init over the positions p of the window,
 * row-major. */
bool kern_reduce_window(struct thread_pool *workers, int n, const struct view *out,
                        const struct view *x, const void *const *init, const enum dtype *acc,
                        const struct kern_window_dim *window, const struct kern_body *body)
{
    if (view_elements(out) == 0)
        return true;
    if (view_elements(x) == 0) {
        fill_with_init(workers, n, out, init, acc);
        return true;
    }
    const bool recognised = n == 1 && kern_combine_opcode(body->combine);
    if (recognised && reduce_window_recognised(workers, out, x, *init, *acc, window, body))
        return true;
    if (body->lanes && !recognised) /* false: out of memory */
        return reduce_cumulative(workers, n, out, x, init, acc, window, body) ||
               reduce_window_rows(workers, n, out, x, init, acc, DT_INVALID, window, body);
    return plain_reduce_window(NULL, n, out, x, init, acc, window, body);
}
