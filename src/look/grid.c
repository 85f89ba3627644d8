/*
 * The part of an array that a picture shows: its last two dimensions, averaged in blocks if they
 * are larger than the picture.
 */
#include "look/look.h"

#include <float.h>
#include <math.h>

static const struct literal *first_array(const struct literal *l)
{
    const struct literal *found = NULL;
    int64_t elements = 0;
    for (int i = 0; shape_is_tuple(l->shape) && i < l->shape->count && !found; i++)
        found = first_array(l->elements[i]);
    if (shape_is_array(l->shape) && shape_elements(l->shape, &elements) && elements > 0)
        found = l;
    return found;
}

struct look_plane look_plane_of(const struct literal *l)
{
    struct look_plane p = {.of = first_array(l), .rows = 1, .columns = 1};
    int rank = p.of ? p.of->shape->rank : 0;
    if (rank > 0)
        p.columns = p.of->shape->dims[rank - 1];
    if (rank > 1)
        p.rows = p.of->shape->dims[rank - 2];
    return p;
}

/* The beginning of block k of `blocks` in a dimension. */
static int64_t block_start(size_t k, int64_t size, size_t blocks)
{
    return (int64_t)((double)size / (double)blocks * (double)k + 1e-9);
}

struct sums { /* for a row of blocks, by column */
    double *sum;
    int64_t *count;
};

/* Accumulates elements of one block. */
static void add_values(const double *v, size_t n, unsigned char *mark, double *sum, int64_t *count)
{
    double all = 0;
    for (size_t i = 0; i < n; i++)
        all += v[i];
    if (isfinite(all)) {
        *sum += all;
        *count += (int64_t)n;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        unsigned char m = isnan(v[i]) ? LOOK_NAN : isinf(v[i]) ? LOOK_INF : LOOK_FINITE;
        *mark = m > *mark ? m : *mark;
        *sum += m == LOOK_FINITE ? v[i] : 0;
        *count += m == LOOK_FINITE;
    }
}

static void add_row(struct look_grid *g, const struct look_plane *p, int64_t row,
                    unsigned char *mark, const struct sums *s)
{
    enum { CHUNK = 1024 };
    double v[CHUNK];
    enum dtype t = p->of->shape->dtype;
    const char *from = (const char *)p->of->data + (size_t)(row * p->columns) * dtype_bytes(t);
    int64_t at = 0, base = 0, loaded = 0;
    for (size_t c = 0; c < g->columns; c++) {
        int64_t end = c + 1 == g->columns ? p->columns : block_start(c + 1, p->columns, g->columns);
        while (at < end) {
            if (at == loaded) {
                base = at;
                loaded = p->columns - at < CHUNK ? p->columns : at + CHUNK;
                look_numbers(t, from + (size_t)at * dtype_bytes(t), (size_t)(loaded - at), v);
            }
            int64_t until = end < loaded ? end : loaded;
            add_values(v + (at - base), (size_t)(until - at), &mark[c], &s->sum[c], &s->count[c]);
            at = until;
        }
    }
}

static void close_row(struct look_grid *g, size_t row, const struct sums *s)
{
    for (size_t c = 0; c < g->columns; c++) {
        double mean = s->count[c] > 0 ? s->sum[c] / (double)s->count[c] : NAN;
        if (isinf(mean)) /* the sum overflowed */
            mean = copysign(DBL_MAX, mean);
        g->mean[row * g->columns + c] = mean;
        if (s->count[c] > 0 && !(g->low <= mean))
            g->low = mean;
        if (s->count[c] > 0 && !(g->high >= mean))
            g->high = mean;
    }
}

void look_grid_fill(struct look_grid *g, const struct look_plane *p, size_t rows, size_t columns)
{
    rows = (int64_t)rows < p->rows ? rows : (size_t)p->rows;
    columns = (int64_t)columns < p->columns ? columns : (size_t)p->columns;
    *g = (struct look_grid){
        rows, columns, heap_zalloc(rows * columns, sizeof(double)), heap_zalloc(rows, columns),
        NAN,  NAN};
    struct sums s = {heap_zalloc(columns, sizeof(double)), heap_zalloc(columns, sizeof(int64_t))};
    for (size_t r = 0; r < rows; r++) {
        int64_t end = r + 1 == rows ? p->rows : block_start(r + 1, p->rows, rows);
        memset(s.sum, 0, columns * sizeof *s.sum);
        memset(s.count, 0, columns * sizeof *s.count);
        for (int64_t row = block_start(r, p->rows, rows); row < end; row++)
            add_row(g, p, row, g->mark + r * columns, &s);
        close_row(g, r, &s);
    }
    heap_free(s.sum);
    heap_free(s.count);
}

double look_part(double v, double low, double high)
{
    double span = high - low;
    if (!(span > 0))
        return 0.5;
    double part = isfinite(span) ? (v - low) / span : (v / 2 - low / 2) / (high / 2 - low / 2);
    return part > 0 ? fmin(part, 1) : 0;
}

void look_grid_free(struct look_grid *g)
{
    heap_free(g->mean);
    heap_free(g->mark);
    *g = (struct look_grid){0};
}
