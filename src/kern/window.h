/*
 * window: the positions under sliding windows. Private to kern.
 */
#ifndef HLO_KERN_WINDOW_H
#define HLO_KERN_WINDOW_H

#include "kern/reducer.h"

/* The operand index under element `k` of the window at `o`; false in padding and holes. */
static inline bool window_position(const struct kern_window_dim *w, int64_t dim, int64_t o,
                                   int64_t k, int64_t *p)
{
    int64_t at = o * w->stride + k * w->window_dilation - w->pad_low;
    if (at < 0)
        return false;
    if (w->base_dilation > 1) {
        if (at % w->base_dilation != 0)
            return false;
        at /= w->base_dilation;
    }
    *p = at;
    return at < dim;
}

/* Whether windows have one element along a dimension, and are at every one. */
static inline bool window_is_trivial(const struct kern_window_dim *w, int64_t out, int64_t x)
{
    return w->size == 1 && w->stride == 1 && w->pad_low == 0 && w->base_dilation == 1 && out == x;
}

/* The windows along a dimension of `dim` elements without holes that are inside it, of `outs` ones:
 * from number *from up to *limit. */
static inline void window_inside(const struct kern_window_dim *w, int64_t dim, int64_t outs,
                                 int64_t *from, int64_t *limit)
{
    const int64_t last = dim - 1 - (w->size - 1) * w->window_dilation + w->pad_low;
    *from = w->pad_low > 0 ? ratio_up(w->pad_low, w->stride) : 0;
    *limit = last < 0 ? 0 : min_i64(last / w->stride + 1, outs);
}

/* ---- window.c ---- */

enum { WINDOW_PLACES = 128 };
/* Whether a window has at most WINDOW_PLACES positions, and the operand no holes between
 * elements. */
bool window_places_few(int rank, const struct kern_window_dim *window);
/* If so: the addresses of the elements of x in the window at o, row-major, without those outside;
 * returns their number. */
int window_places(const struct view *x, const struct kern_window_dim *window, const int64_t *o,
                  const char **rows);

/* ---- cumulative.c ---- */

/* The only dimension with windows of more than one element, if they all start at the first element
 * or, with *from_end, end at the last one; else -1. */
int window_shared_end(const struct view *out, const struct view *x,
                      const struct kern_window_dim *window, bool *from_end);
/* From this length on, windows that end at the last element are reduced from there. */
enum { WINDOW_END_FROM = 128 };
/* One long line is divided into this number of blocks of equal size; the elements behind the last
 * block belong to it as well. */
enum { CUMULATIVE_BLOCKS = 128, CUMULATIVE_LONG = 1 << 14 };
int64_t cumulative_block(int64_t n);
static inline bool cumulative_is_long(const struct view *x, int dimension)
{
    return x->dims[dimension] >= CUMULATIVE_LONG && view_elements(x) == x->dims[dimension];
}
/* Reduce-window where all windows of a line share an end, by a body for which there is a lane
 * reducer; false when they do not, or out of memory. No dimension or window may be empty. */
bool reduce_cumulative(struct thread_pool *workers, int n, const struct view *out,
                       const struct view *x, const void *const *init, const enum dtype *acc,
                       const struct kern_window_dim *window, const struct kern_body *body);

/* ---- window_lanes.c ---- */

/* Reduces the positions of windows, for elements, results and init of one type. */
struct window_reducer {
    struct reducer reducer;
    const void *init;
};
bool window_reducer_init(struct window_reducer *r, enum kern_combine combine, enum dtype t,
                         const void *init);
/* Whether rows are reduced without conversion, in place. */
static inline bool window_reducer_is_direct(const struct window_reducer *r)
{
    return r->reducer.rows && !r->reducer.in.convert;
}
/* out[i] = init, reduced with rows[0][i], rows[1][i], ... for i < n. */
void window_reducer_run(const struct window_reducer *r, char *out, const char *const *rows,
                        int count, int64_t n);

/* Reduce-window by a recognized combiner where windows have size 1 along the dimension of
 * contiguous elements; false when they do not. All arrays must have the same type, and no dimension
 * or window may be empty. */
bool reduce_window_lanes(struct thread_pool *workers, const struct view *out, const struct view *x,
                         const void *init, const struct kern_window_dim *window,
                         enum kern_combine combine);

/* ---- window_planes.c ---- */

/* Whether windows are long along a dimension, so that they are reduced in another order, and sums
 * of floats in double. */
bool window_any_long(int rank, const struct kern_window_dim *window, enum kern_combine combine,
                     enum dtype t);
/* reduce_window_lanes() for windows of few positions, or long ones; not if they are far apart or
 * rows of features long. False also if there is not enough memory. */
bool reduce_window_planes(struct thread_pool *workers, const struct view *out, const struct view *x,
                          const void *init, const struct kern_window_dim *window,
                          enum kern_combine combine);

/* ---- window_rows.c ---- */

/* Reduce-window by a body for which there is a lane reducer. A recognized combiner runs in `work`,
 * and all arrays have the same type. False: out of memory. */
bool reduce_window_rows(struct thread_pool *workers, int n, const struct view *out,
                        const struct view *x, const void *const *init, const enum dtype *acc,
                        enum dtype work, const struct kern_window_dim *window,
                        const struct kern_body *body);

#endif
