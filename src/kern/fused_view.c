/*
 * fused_view.c: reads and writes consecutive elements of the arrays of fused loops (no kernel of
 * its own). A position advances along with the loop; the innermost two dimensions are copied at
 * once.
 */
#include "kern/fused_view.h"

enum {
    FAR_APART = 64,       /* bytes: a cache line */
    PANEL_LINES = 16,     /* cache lines on each column of a panel; fewer if they are long */
    PANEL_GOAL = 1 << 19, /* preferred and maximum size of a panel in bytes */
    PANEL_BYTES = 1 << 20,
    FEW = 4
};

void fused_view_init(struct fused_view *v, const struct view *x, int rank, const int64_t *dims,
                     const int64_t *strides)
{
    v->data = x->data;
    v->dtype = x->dtype;
    v->width = (int64_t)dtype_bytes(x->dtype);
    v->rank = 0;
    v->panel_dim = -1;
    for (int d = 0; d < rank; d++) {
        const int last = v->rank - 1;
        if (dims[d] == 1)
            continue;
        if (last >= 0 && v->strides[last] == strides[d] * dims[d]) {
            v->dims[last] *= dims[d];
            v->strides[last] = strides[d];
        } else {
            v->dims[v->rank] = dims[d];
            v->strides[v->rank++] = strides[d];
        }
    }
    if (v->rank == 0) {
        v->dims[0] = 1;
        v->strides[v->rank++] = v->width;
    }
}

int64_t fused_view_period(const struct fused_view *v, int64_t most, int64_t *span)
{
    int64_t period = 1, inside = 1, best = v->rank == 1 && v->dims[0] == 1;
    *span = best;
    for (int d = v->rank - 1; d >= 0; d--) {
        inside *= v->dims[d];
        if (v->strides[d] != 0)
            period = inside;
        if (v->strides[d] == 0 && period <= most) {
            best = period;
            *span = inside;
        }
    }
    return best;
}

int64_t fused_view_run(const struct fused_view *v)
{
    const int last = v->rank - 1;
    return v->strides[last] == v->width ? v->dims[last] : 1;
}

/* ---- positions ---- */

static void seek(const struct fused_view *v, struct fused_place *p, int64_t position)
{
    if (p->position == position)
        return;
    p->position = position;
    p->at = v->data;
    for (int d = v->rank - 1; d > 0; d--) {
        const int64_t outer = position / v->dims[d];
        p->index[d] = position - outer * v->dims[d];
        p->at += p->index[d] * v->strides[d];
        position = outer;
    }
    p->index[0] = position;
    p->at += position * v->strides[0];
}

/* Moves by `count` indices of dimension d, not beyond its end; inner indices are 0. */
static void advance(const struct fused_view *v, struct fused_place *p, int d, int64_t count)
{
    p->index[d] += count;
    p->at += count * v->strides[d];
    for (; d > 0 && p->index[d] == v->dims[d]; d--) {
        p->at += v->strides[d - 1] - v->dims[d] * v->strides[d];
        p->index[d] = 0;
        p->index[d - 1]++;
    }
}

char *fused_view_at(const struct fused_view *v, struct fused_place *p, int64_t position)
{
    if (v->rank == 1)
        return v->data + position * v->strides[0];
    const int last = v->rank - 1;
    const int64_t step = position - p->position;
    if (p->position >= 0 && step > 0 && step <= v->dims[last] - p->index[last]) {
        advance(v, p, last, step);
        p->position = position;
    }
    seek(v, p, position);
    return p->at;
}

int64_t fused_view_runs(const struct fused_view *v, const struct fused_place *p, int64_t n,
                        int64_t distance, int64_t *stride)
{
    const int last = v->rank - 1;
    *stride = distance * v->strides[last];
    if (last == 0)
        return INT64_MAX;
    if (distance != v->dims[last])
        return (v->dims[last] - p->index[last] - n) / distance + 1;
    *stride = v->strides[last - 1];
    return v->dims[last - 1] - p->index[last - 1];
}

char *fused_view_in_place(const struct fused_view *v, struct fused_place *p, int64_t position,
                          int64_t n)
{
    const int last = v->rank - 1;
    if (v->strides[last] != v->width || v->dims[last] < n)
        return NULL;
    seek(v, p, position);
    return p->index[last] + n <= v->dims[last] ? p->at : NULL;
}

/* ---- copies ---- */

/* `count` times n elements between packed storage and two dimensions of an array. */
static void copy_block(char *packed, char *x, bool writes, int64_t count, int64_t x_stride,
                       int64_t n, int64_t stride, int64_t width)
{
    const int64_t row = n * width;
    if (stride == width && writes) {
        copy_runs(x, x_stride, packed, row, count, row);
    } else if (stride == width) {
        copy_runs(packed, row, x, x_stride, count, row);
    } else if (!writes) {
        kern_copy_block(packed, x, (const int64_t[]){count, n}, (const int64_t[]){row, width},
                        (const int64_t[]){x_stride, stride}, (size_t)width);
    } else {
        kern_copy_block(x, packed, (const int64_t[]){n, count}, (const int64_t[]){stride, x_stride},
                        (const int64_t[]){width, row}, (size_t)width);
    }
}

static void copy_range(const struct fused_view *v, struct fused_place *p, char *packed, bool writes,
                       int64_t position, int64_t n)
{
    const int last = v->rank - 1;
    const int64_t length = v->dims[last], stride = v->strides[last];
    seek(v, p, position);
    p->position += n;
    while (n > 0) {
        int64_t some = min_i64(length - p->index[last], n);
        if (some < length || last == 0 || n < 2 * length) {
            copy_block(packed, p->at, writes, 1, 0, some, stride, v->width);
            advance(v, p, last, some);
        } else {
            int64_t count = min_i64(n / length, v->dims[last - 1] - p->index[last - 1]);
            copy_block(packed, p->at, writes, count, v->strides[last - 1], length, stride,
                       v->width);
            advance(v, p, last - 1, count);
            some = count * length;
        }
        packed += some * v->width;
        n -= some;
    }
}

void fused_view_read(const struct fused_view *v, struct fused_place *p, char *to, int64_t position,
                     int64_t n)
{
    copy_range(v, p, to, false, position, n);
}

void fused_view_write(const struct fused_view *v, struct fused_place *p, const char *from,
                      int64_t position, int64_t n)
{
    copy_range(v, p, (char *)(uintptr_t)from, true, position, n);
}

/* ---- panels ---- */

static int64_t magnitude(int64_t v) { return v < 0 ? -v : v; }

/* The dimension along which elements share cache lines; -1: the innermost one, or none. */
static int nearest_dim(const struct fused_view *v)
{
    const int last = v->rank - 1;
    int best = -1;
    for (int d = 0; d <= last; d++)
        if (v->strides[d] != 0 && magnitude(v->strides[d]) < FAR_APART &&
            (best < 0 || magnitude(v->strides[d]) < magnitude(v->strides[best])))
            best = d;
    return best == last || v->strides[last] == 0 ? -1 : best;
}

void fused_view_use_panels(struct fused_view *v, int64_t block)
{
    const int d = nearest_dim(v);
    if (d < 0 || v->dims[d] < FEW)
        return;
    v->inside = dims_elements(v->rank - d - 1, v->dims + d + 1);
    int64_t lines = PANEL_LINES;
    while (lines > 1 && lines * FAR_APART * v->inside > PANEL_GOAL)
        lines /= 2;
    const int64_t steps = min_i64(v->dims[d], lines * FAR_APART / v->width);
    v->panel = steps * v->inside;
    const bool in_block = d == v->rank - 2 && v->panel <= block;
    if (!in_block && v->panel * v->width <= PANEL_BYTES)
        v->panel_dim = d;
}

static void fill_panel(const struct fused_view *v, struct fused_place *p, int64_t position)
{
    const int d = v->panel_dim, rank = v->rank - d;
    const int64_t steps = v->panel / v->inside;
    struct view x = {.dtype = v->dtype, .rank = rank}, out;
    const int64_t index = position / v->inside % v->dims[d], first = index - index % steps;
    p->panel_from = position - position % v->inside - (index - first) * v->inside;
    x.data = fused_view_at(v, p, p->panel_from);
    for (int k = 0; k < rank; k++) {
        x.dims[k] = v->dims[d + k];
        x.strides[k] = v->strides[d + k];
    }
    x.dims[0] = min_i64(steps, v->dims[d] - first);
    p->panel_count = x.dims[0] * v->inside;
    view_dense(&out, x.dtype, rank, x.dims, p->panel);
    kern_copy(NULL, &out, &x);
}

char *fused_view_read_panel(const struct fused_view *v, struct fused_place *p, char *to,
                            int64_t position, int64_t n)
{
    for (int64_t done = 0; done < n;) {
        const int64_t at = position + done;
        if (at < p->panel_from || at >= p->panel_from + p->panel_count)
            fill_panel(v, p, at);
        const int64_t from = at - p->panel_from, some = min_i64(n - done, p->panel_count - from);
        char *x = p->panel + from * v->width;
        if (some == n)
            return x;
        memcpy(to + done * v->width, x, (size_t)(some * v->width));
        done += some;
    }
    return to;
}
