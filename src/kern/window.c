/*
 * window.c: reductions over sliding windows. For a recognized combiner the operand is padded with
 * the combiner's identity; its windows are then a view, which kern_reduce reduces. Long windows at
 * every position take time independent of their length (van Herk's two scans; cumulative.c if all
 * share an end), and short ones reduce whole lines (window_planes.c), which need no padding if they
 * are rows of features (window_lanes.c). For other bodies, adjacent windows are reduced at the same
 * time (window_rows.c). If none of these is possible, the plain kernel is used.
 *
 * Order and accumulation: as reduce, but sums of floats up to f32 run in f32 (in double when a
 * window is long); padding and the holes of dilation contribute nothing.
 */
#include <stdatomic.h>

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

/* ---- reduce-window, recognized bodies ---- */

/* The extent along dimension d of what the windows extend over, and the bytes of it that are not
 * too many for a copy. */
static int64_t padded_dim(const struct view *out, const struct kern_window_dim *window, int d)
{
    const struct kern_window_dim *w = &window[d];
    return (out->dims[d] - 1) * w->stride + (w->size - 1) * w->window_dilation + 1;
}

static int64_t most_padded(const struct view *out, const struct view *x)
{
    int64_t limit;
    return mul_i64(view_elements(x) + view_elements(out) + (1 << 20), 64, &limit) ? limit : 0;
}

/* Copies the operand with its dilation and padding, only as far as the windows extend. *storage is
 * NULL when the operand can be used in place. False when the copy would be too large. */
static bool make_padded(struct thread_pool *workers, struct view *padded, void **storage,
                        const struct view *out, const struct view *x,
                        const struct kern_window_dim *window, const void *filler)
{
    struct kern_pad_dim pads[VIEW_MAX_RANK];
    int64_t dims[VIEW_MAX_RANK], bytes = (int64_t)dtype_bytes(x->dtype);
    bool inside = true;
    *padded = *x;
    *storage = NULL;
    for (int d = 0; d < x->rank; d++) {
        const struct kern_window_dim *w = &window[d];
        dims[d] = padded_dim(out, window, d);
        pads[d] = (struct kern_pad_dim){.low = w->pad_low, .interior = w->base_dilation - 1};
        inside &= w->pad_low <= 0 && w->base_dilation == 1 && dims[d] - w->pad_low <= x->dims[d];
        padded->data -= w->pad_low * x->strides[d];
        padded->dims[d] = dims[d];
        if (!mul_i64(bytes, dims[d], &bytes))
            return false;
    }
    if (inside)
        return true;
    if (bytes > most_padded(out, x))
        return false;
    *storage = mem_alloc((size_t)bytes);
    if (!*storage)
        return false;
    view_dense(padded, x->dtype, x->rank, dims, *storage);
    kern_pad(workers, padded, x, filler, pads);
    return true;
}

/* A view whose leading dimensions are the result's and whose trailing ones are the window's. */
static bool windows_view(struct view *all, const struct view *out, const struct view *padded,
                         const struct kern_window_dim *window, bool *reduced)
{
    *all = *padded;
    for (int d = 0; d < out->rank; d++) {
        all->dims[d] = out->dims[d];
        all->strides[d] = padded->strides[d] * window[d].stride;
        reduced[d] = false;
    }
    for (int d = 0; d < out->rank; d++) {
        if (window[d].size == 1)
            continue;
        if (all->rank == VIEW_MAX_RANK)
            return false;
        all->dims[all->rank] = window[d].size;
        all->strides[all->rank] = padded->strides[d] * window[d].window_dilation;
        reduced[all->rank++] = true;
    }
    return true;
}

static bool reduce_window_as_view(struct thread_pool *workers, const struct view *out,
                                  const struct view *padded, const void *init, enum dtype acc,
                                  enum dtype work, const struct kern_window_dim *window,
                                  enum kern_combine combine)
{
    bool reduced[VIEW_MAX_RANK];
    struct view all;
    if (!windows_view(&all, out, padded, window, reduced))
        return false;
    return reduce_dimensions(workers, out, &all, init, acc, work, reduced, combine);
}

/* ---- long windows at every position ---- */

enum { LONG_WINDOW = 32 };

/* A line of `places` rows of `row` elements, and windows of `size` rows. Blocks of `size` rows are
 * scanned from both ends; every window is the end of one block and the start of the next. */
struct scan {
    kern_tile_fn *fn;
    bool add_f64;
    size_t width;
    int64_t size, places, row;
    char *up, *down;
};

static void scan_block_f64(double *up, double *down, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        up[i] += up[i - 1];
    for (int64_t i = n - 2; i >= 0; i--)
        down[i] += down[i + 1];
}

static void scan_block(const struct scan *s, char *up, char *down, int64_t n)
{
    size_t step = s->width * (size_t)s->row;
    for (int64_t i = 1; i < n; i++) {
        up += step;
        s->fn(up, (const void *const[]){up - step, up}, s->row);
    }
    down += step * (size_t)(n - 1);
    for (int64_t i = n - 2; i >= 0; i--) {
        down -= step;
        s->fn(down, (const void *const[]){down, down + step}, s->row);
    }
}

/* `up` and `down` hold the line; the result of the window at row i is stored in row i of `down`. */
static void scan_line(const struct scan *s)
{
    size_t step = s->width * (size_t)s->row;
    int64_t count = s->places - s->size + 1;
    for (int64_t from = 0; from < s->places; from += s->size) {
        int64_t n = s->places - from < s->size ? s->places - from : s->size;
        char *up = s->up + step * (size_t)from, *down = s->down + step * (size_t)from;
        if (s->add_f64 && s->row == 1)
            scan_block_f64((double *)(void *)up, (double *)(void *)down, n);
        else
            scan_block(s, up, down, n);
    }
    for (int64_t from = 1; from < count;
         from += s->size) { /* a window at a block's start is the block */
        int64_t n = count - from < s->size - 1 ? count - from : s->size - 1;
        char *down = s->down + step * (size_t)from,
             *up = s->up + step * (size_t)(from + s->size - 1);
        s->fn(down, (const void *const[]){down, up}, n * s->row);
    }
}

/* Reduces the windows along dimension d of dense x, into the front of the same storage; x->dims[d]
 * shrinks. */
static bool scan_dimension(struct view *x, int d, int64_t size, struct scan *s)
{
    int64_t outer = 1;
    s->row = 1;
    for (int k = 0; k < x->rank; k++)
        *(k < d ? &outer : &s->row) *= k == d ? 1 : x->dims[k];
    s->places = x->dims[d];
    s->size = size;
    size_t line = (size_t)(s->places * s->row) * s->width;
    size_t kept = (size_t)((s->places - size + 1) * s->row) * s->width;
    s->up = mem_alloc(2 * line);
    if (!s->up)
        return false;
    s->down = s->up + line;
    for (int64_t i = 0; i < outer; i++) {
        memcpy(s->up, x->data + (size_t)i * line, line);
        memcpy(s->down, s->up, line);
        scan_line(s);
        memcpy(x->data + (size_t)i * kept, s->down, kept);
    }
    mem_free(s->up);
    x->dims[d] = s->places - size + 1;
    view_dense(x, x->dtype, x->rank, x->dims, x->data);
    return true;
}

static bool is_long(const struct kern_window_dim *w)
{
    return w->size >= LONG_WINDOW && w->stride == 1 && w->window_dilation == 1;
}

/* Scans the dimensions with long windows in the work type, and leaves the others and init to
 * kern_reduce. */
static bool reduce_long_windows(struct thread_pool *workers, const struct view *out,
                                const struct view *padded, const void *init, enum dtype acc,
                                const struct kern_window_dim *window, const struct kern_body *body)
{
    struct kern_window_dim rest[VIEW_MAX_RANK];
    struct view x;
    struct loader to_work;
    union kern_element start;
    enum dtype work = combine_work_type(body->combine, acc);
    struct scan s = {.fn = kern_find_elementwise(kern_combine_opcode(body->combine), work),
                     .width = dtype_bytes(work),
                     .add_f64 = work == DT_F64 && body->combine == KERN_ADD};
    void *storage = mem_alloc((size_t)view_elements(padded) * s.width);
    if (!storage)
        return false;
    view_dense(&x, work, padded->rank, padded->dims, storage);
    kern_convert_view(workers, &x, padded);
    bool ok = true;
    for (int d = 0; d < x.rank && ok; d++) {
        rest[d] = window[d];
        if (is_long(&window[d])) {
            ok = scan_dimension(&x, d, window[d].size, &s);
            rest[d].size = 1;
        }
    }
    loader_init(&to_work, work, acc);
    ok = ok && reduce_window_as_view(workers, out, &x, loader_read(&to_work, &start, init, 0, 1),
                                     work, work, rest, body->combine);
    mem_free(storage);
    return ok;
}

static bool has_long(const struct view *x, const struct kern_window_dim *window,
                     const struct kern_body *body, enum dtype acc)
{
    bool any = false;
    bool rounds = dtype_is_float(acc) || dtype_is_complex(acc);
    if (rounds &&
        body->combine ==
            KERN_MULTIPLY) /* another order may overflow where this one does not, or the reverse */
        return false;
    for (int d = 0; d < x->rank; d++)
        any |= is_long(&window[d]);
    return any && kern_find_elementwise(kern_combine_opcode(body->combine),
                                        combine_work_type(body->combine, acc));
}

/* A part of long windows along a dimension in which all windows have one element: what is scanned
 * stays in the caches. */
struct slices {
    const struct view *out, *x;
    const void *init;
    enum dtype acc;
    const struct kern_window_dim *window;
    const struct kern_body *body;
    union kern_element filler;
    int dimension;
    atomic_bool failed;
};

static bool reduce_padded_windows(struct thread_pool *workers, const struct view *out,
                                  const struct view *x, const void *init, enum dtype acc,
                                  const struct kern_window_dim *window,
                                  const struct kern_body *body, const void *filler)
{
    struct view padded;
    void *storage;
    if (!make_padded(workers, &padded, &storage, out, x, window, filler))
        return false;
    const bool ok =
        has_long(x, window, body, acc)
            ? reduce_long_windows(workers, out, &padded, init, acc, window, body)
            : reduce_window_as_view(workers, out, &padded, init, acc,
                                    combine_window_type(body->combine, acc), window, body->combine);
    mem_free(storage);
    return ok;
}

static void reduce_slice(void *context, int64_t from, int64_t to, int worker)
{
    struct slices *s = context;
    struct view out = *s->out, x = *s->x;
    const int d = s->dimension;
    out.dims[d] = x.dims[d] = to - from;
    out.data += from * out.strides[d];
    x.data += from * x.strides[d];
    if (!reduce_padded_windows(NULL, &out, &x, s->init, s->acc, s->window, s->body, &s->filler))
        s->failed = true;
}

/* The longest dimension that can be sliced without a change of the order; -1: none. */
static int sliced_dimension(const struct view *out, const struct view *x,
                            const struct kern_window_dim *window)
{
    int best = -1;
    for (int d = 0; d < x->rank; d++) {
        const struct kern_window_dim *w = &window[d];
        if (w->size > 1 && !is_long(w))
            return -1;
        if (window_is_trivial(w, out->dims[d], x->dims[d]) &&
            (best < 0 || x->dims[d] >= x->dims[best]))
            best = d;
    }
    return best;
}

/* The extent of slices of about SLICE bytes, whose lines are not too short to be read. All of it if
 * the whole would be too large to be padded: what is done then must not depend on slices. */
static int64_t choose_extent(const struct view *out, const struct view *x,
                             const struct kern_window_dim *window, int d)
{
    enum { SLICE = 1 << 19, SHORT = 32 };
    double bytes = (double)dtype_bytes(out->dtype);
    for (int k = 0; k < out->rank; k++)
        bytes *= (double)padded_dim(out, window, k);
    if (bytes <= SLICE || bytes > (double)most_padded(out, x))
        return out->dims[d];
    const int64_t extent = (int64_t)((double)out->dims[d] / (bytes / SLICE));
    return min_i64(out->dims[d], max_i64(extent, d == out->rank - 1 ? SHORT : 1));
}

static bool reduce_windows(struct thread_pool *workers, struct slices *s)
{
    const int d = s->dimension =
        has_long(s->x, s->window, s->body, s->acc) ? sliced_dimension(s->out, s->x, s->window) : -1;
    const int64_t extent = d < 0 ? 0 : choose_extent(s->out, s->x, s->window, d);
    if (d < 0 || extent == s->out->dims[d])
        return reduce_padded_windows(workers, s->out, s->x, s->init, s->acc, s->window, s->body,
                                     &s->filler);
    thread_pool_share(workers, s->out->dims[d], extent, reduce_slice, s);
    return !s->failed;
}

/* ---- entry point ---- */

/* Recognized bodies over a padded operand; false when that is not possible. */
static bool reduce_window_recognised(struct thread_pool *workers, const struct view *out,
                                     const struct view *x, const void *init, enum dtype acc,
                                     const struct kern_window_dim *window,
                                     const struct kern_body *body)
{
    struct slices s = {out, x, init, acc, window, body};
    if (x->dtype != acc || out->dtype != acc)
        return false;
    for (int d = 0; d < x->rank; d++)
        if (window[d].size == 0)
            return false;
    if (reduce_cumulative(workers, 1, out, x, &init, &acc, window, body))
        return true;
    if (!has_long(x, window, body, acc) &&
        (reduce_window_planes(workers, out, x, init, window, body->combine) ||
         reduce_window_lanes(workers, out, x, init, window, body->combine)))
        return true;
    return combine_identity(body->combine, acc, &s.filler) && reduce_windows(workers, &s);
}

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
