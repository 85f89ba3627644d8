/*
 * product_box.c: splits intervals of a nest's positions, counted row-major, into boxes and runs.
 * (It has no kernel of its own.) A block of a product is an interval of rows, columns and terms, of
 * any number of dimensions.
 */
#include "kern/product.h"

int64_t nest_offset(const struct nest *n, int view, int64_t position, int64_t *run)
{
    int64_t offset = 0;
    if (n->rank == 0) {
        *run = 1;
        return 0;
    }
    *run = n->dims[n->rank - 1] - position % n->dims[n->rank - 1];
    for (int d = n->rank - 1; d >= 0; d--) {
        offset += position % n->dims[d] * n->strides[view][d];
        position /= n->dims[d];
    }
    return offset;
}

struct box {
    int rank;
    int64_t dims[VIEW_MAX_RANK], strides[VIEW_MAX_RANK], offset, position, points;
};

/* The largest box of whole inner dimensions that starts at `position` and has at most `max`
 * positions. */
static void next_box(struct box *b, const struct nest *n, int view, int64_t position, int64_t max)
{
    int64_t inner = 1, ignored;
    int d = n->rank;
    while (d > 0 && position % (inner * n->dims[d - 1]) == 0 && max >= inner * n->dims[d - 1])
        inner *= n->dims[--d];
    b->rank = n->rank - d;
    b->offset = nest_offset(n, view, position, &ignored);
    b->position = position;
    b->points = inner;
    for (int e = 0; e < b->rank; e++) {
        b->dims[e] = n->dims[d + e];
        b->strides[e] = n->strides[view][d + e];
    }
    if (d == 0)
        return;
    /* and a part of the next dimension */
    const int64_t left = n->dims[d - 1] - position / inner % n->dims[d - 1], fit = max / inner;
    const int64_t count = left < fit ? left : fit;
    memmove(b->dims + 1, b->dims, (size_t)b->rank * sizeof b->dims[0]);
    memmove(b->strides + 1, b->strides, (size_t)b->rank * sizeof b->strides[0]);
    b->dims[0] = count;
    b->strides[0] = n->strides[view][d - 1];
    b->rank++;
    b->points *= count;
}

static void add_dims(struct view *far, struct view *near, const struct box *b, int64_t step)
{
    for (int d = b->rank - 1; d >= 0; d--, step *= b->dims[d + 1]) {
        far->dims[far->rank + d] = near->dims[near->rank + d] = b->dims[d];
        far->strides[far->rank + d] = b->strides[d];
        near->strides[near->rank + d] = step;
    }
    far->rank += b->rank;
    near->rank += b->rank;
}

static void move_box(bool fetch, enum dtype type, char *at, const struct box *r,
                     const struct box *c, const struct position_range *rows,
                     const struct position_range *columns, const struct dense *s)
{
    struct view far = {.dtype = type, .rank = 0, .data = at + r->offset + c->offset};
    struct view near = {.dtype = s->type, .rank = 0};
    near.data =
        s->at + (r->position - rows->from) * s->row + (c->position - columns->from) * s->width;
    add_dims(&far, &near, r, s->row);
    add_dims(&far, &near, c, s->width);
    if (fetch)
        kern_convert_view(NULL, &near, &far);
    else
        kern_convert_view(NULL, &far, &near);
}

static void move(bool fetch, enum dtype type, char *at, const struct position_range *rows,
                 const struct position_range *columns, const struct dense *s)
{
    struct box r, c;
    for (int64_t i = 0; i < rows->count; i += r.points) {
        next_box(&r, rows->nest, rows->view, rows->from + i, rows->count - i);
        for (int64_t j = 0; j < columns->count; j += c.points) {
            next_box(&c, columns->nest, columns->view, columns->from + j, columns->count - j);
            move_box(fetch, type, at, &r, &c, rows, columns, s);
        }
    }
}

void position_range_fetch(const struct dense *to, enum dtype type, char *at,
                          const struct position_range *rows, const struct position_range *columns)
{
    move(true, type, at, rows, columns, to);
}

void position_range_store(const struct dense *from, enum dtype type, char *at,
                          const struct position_range *rows, const struct position_range *columns)
{
    move(false, type, at, rows, columns, from);
}

void position_range_move_items(bool fetch, const struct dense *s, int64_t item, enum dtype type,
                               char *at, const struct position_range *items,
                               const struct position_range *rows,
                               const struct position_range *columns)
{
    struct box b, r, c;
    next_box(&r, rows->nest, rows->view, rows->from, rows->count);
    next_box(&c, columns->nest, columns->view, columns->from, columns->count);
    for (int64_t i = 0; i < items->count; i += b.points) {
        next_box(&b, items->nest, items->view, items->from + i, items->count - i);
        struct view far = {.dtype = type, .data = at + b.offset},
                    near = {.dtype = s->type, .data = s->at + i * item};
        add_dims(&far, &near, &b, item);
        add_dims(&far, &near, &r, s->row);
        add_dims(&far, &near, &c, s->width);
        kern_convert_view(NULL, fetch ? &near : &far, fetch ? &far : &near);
    }
}

void position_range_pack(const struct gemm *g, enum dtype type, const char *at,
                         const struct position_range *terms, const struct position_range *columns,
                         char *panel)
{
    const struct nest *k = terms->nest, *n = columns->nest;
    const int64_t k_step = k->rank ? k->strides[terms->view][k->rank - 1] : 0;
    const int64_t n_step = n->rank ? n->strides[columns->view][n->rank - 1] : 0;
    int64_t k_run, n_run;
    if (columns->count < g->columns || terms->count % g->per_lane != 0)
        memset(panel, 0, (size_t)(gemm_lanes(g, terms->count) * g->panel));
    for (int64_t j = 0; j < columns->count; j += n_run) {
        const int64_t across = nest_offset(n, columns->view, columns->from + j, &n_run);
        n_run = n_run < columns->count - j ? n_run : columns->count - j;
        for (int64_t i = 0; i < terms->count; i += k_run) {
            const int64_t down = nest_offset(k, terms->view, terms->from + i, &k_run);
            k_run = k_run < terms->count - i ? k_run : terms->count - i;
            gemm_pack_part(g, type, at + across + down, k_step, n_step, k_run, n_run,
                           panel + gemm_lanes(g, i) * g->panel + (j * g->lane << g->twofold));
        }
    }
}
