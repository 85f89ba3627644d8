/*
 * why/move: operations that move elements: reshaping, slicing, dynamic sizes, gather, scatter and
 * sorting. If positions depend on indices, known indices are used.
 */
#include "why/why_priv.h"

#include "plan/plan.h"

#include <string.h>

/* ---- shapes ---- */

static void broadcast(struct why *w, const struct inst *i, const int64_t *index)
{
    const struct ints dims = inst_ints(i, A_DIMENSIONS);
    struct why_source *s = why_whole(w, i, 0, 0, "operand");
    for (int d = 0; d < s->rank; d++)
        why_fix(s, d, s->count[d] == 1 ? 0 : index[dims.at[d]]);
}

static void transpose(struct why *w, const struct inst *i, const int64_t *index)
{
    const struct ints dims = inst_ints(i, A_DIMENSIONS);
    struct why_source *s = why_whole(w, i, 0, 0, "operand");
    for (int d = 0; d < s->rank; d++)
        why_fix(s, dims.at[d], index[d]);
}

static void reshape(struct why *w, const struct inst *i, const int64_t *index)
{
    int64_t from[VIEW_MAX_RANK], to[VIEW_MAX_RANK], at[VIEW_MAX_RANK];
    why_dims(w, i, 0, 0, from);
    why_dims(w, i, WHY_SELF, 0, to);
    why_unravel(i->operands[0]->shape->rank, from, why_linear(i->shape->rank, to, index), at);
    why_point(w, i, 0, 0, at, "operand");
}

static void reverse(struct why *w, const struct inst *i, const int64_t *index)
{
    const struct ints dims = inst_ints(i, A_DIMENSIONS);
    struct why_source *s = why_point(w, i, 0, 0, index, "operand");
    int64_t sizes[VIEW_MAX_RANK];
    why_dims(w, i, 0, 0, sizes);
    for (int64_t k = 0; k < dims.count; k++)
        s->start[dims.at[k]] = sizes[dims.at[k]] - 1 - index[dims.at[k]];
}

static void slice(struct why *w, const struct inst *i, const int64_t *index)
{
    const struct attr *a = inst_attr(i, A_SLICE);
    struct why_source *s = why_point(w, i, 0, 0, index, "operand");
    for (int d = 0; a && d < a->v.slices.rank; d++)
        s->start[d] = a->v.slices.dims[d].start + index[d] * a->v.slices.dims[d].stride;
}

static void concatenate(struct why *w, const struct inst *i, const int64_t *index)
{
    const int64_t along = inst_ints(i, A_DIMENSIONS).at[0];
    int64_t at = index[along], dims[VIEW_MAX_RANK];
    for (int k = 0; k < i->operand_count; k++) {
        why_dims(w, i, k, 0, dims);
        if (at < dims[along]) {
            why_point(w, i, k, 0, index, "operand")->start[along] = at;
            return;
        }
        at -= dims[along];
    }
}

static void pad(struct why *w, const struct inst *i, const int64_t *index)
{
    const struct padding p = inst_attr(i, A_PADDING)->v.padding;
    int64_t at[VIEW_MAX_RANK], dims[VIEW_MAX_RANK];
    bool inside = true;
    why_dims(w, i, 0, 0, dims);
    for (int d = 0; d < p.rank && inside; d++) {
        const int64_t from = index[d] - p.dims[d].low, step = p.dims[d].interior + 1;
        at[d] = from / step;
        inside = from >= 0 && from % step == 0 && at[d] < dims[d];
    }
    if (inside)
        why_point(w, i, 0, 0, at, "operand");
    else
        why_whole(w, i, 1, 0, "padding value");
}

/* (result, operand, context), where the operand occurs twice. */
static void copy_start(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    const int64_t leaves = shape_leaf_count(i->operands[0]->shape);
    if (leaf < 2 * leaves)
        why_point(w, i, 0, leaf % leaves, index, "operand");
}

void why_shape(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    switch (i->opcode) {
    case OP_IOTA: break;
    case OP_BROADCAST: broadcast(w, i, index); break;
    case OP_TRANSPOSE: transpose(w, i, index); break;
    case OP_RESHAPE: reshape(w, i, index); break;
    case OP_REVERSE: reverse(w, i, index); break;
    case OP_SLICE: slice(w, i, index); break;
    case OP_CONCATENATE: concatenate(w, i, index); break;
    case OP_PAD: pad(w, i, index); break;
    case OP_COPY_START: copy_start(w, i, leaf, index); break;
    default: why_point(w, i, 0, leaf, index, "operand"); /* copy and copy-done */
    }
}

/* ---- dynamic sizes ---- */

static void dynamic_reshape(struct why *w, const struct inst *i, const int64_t *index)
{
    int64_t from[VIEW_MAX_RANK], to[VIEW_MAX_RANK], at[VIEW_MAX_RANK];
    why_dims(w, i, 0, 0, from);
    why_dims(w, i, WHY_SELF, 0, to);
    if (why_value(w, i, WHY_SELF, 0)) {
        why_unravel(i->operands[0]->shape->rank, from, why_linear(i->shape->rank, to, index), at);
        why_point(w, i, 0, 0, at, "operand");
    } else {
        why_whole(w, i, 0, 0, "operand");
    }
    for (int k = 1; k < i->operand_count; k++)
        why_whole(w, i, k, 0, "size");
}

/* Sizes depend on no element: get-dimension-size has no sources. */
void why_dynamic(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    switch (i->opcode) {
    case OP_DYNAMIC_RESHAPE: dynamic_reshape(w, i, index); break;
    case OP_SET_DIMENSION_SIZE:
        why_point(w, i, 0, leaf, index, "operand");
        why_whole(w, i, 1, 0, "size");
        break;
    default: break;
    }
}

/* ---- dynamic slices ---- */

/* Reads clamped start indices from operand `first` on, scalars or one vector. False: they are
 * unknown, or the clamping depends on dynamic sizes. */
static bool read_start(struct why *w, const struct inst *i, int first, int rank,
                       const int64_t *dims, const int64_t *sizes, int64_t *start)
{
    const bool one_vector = first < i->operand_count && i->operands[first]->shape->rank == 1;
    bool known = !shape_has_dynamic(i->shape) && !shape_has_dynamic(i->operands[0]->shape) &&
                 !shape_has_dynamic(i->operands[first - 1]->shape);
    for (int d = 0; d < rank && known; d++) {
        const int64_t at[1] = {d};
        known = why_integer(w, i, one_vector ? first : first + d, at, &start[d]);
        start[d] = known ? why_clamp(start[d], 0, dims[d] - sizes[d]) : 0;
    }
    return known;
}

static void indices(struct why *w, const struct inst *i, int first)
{
    for (int k = first; k < i->operand_count; k++)
        why_whole(w, i, k, 0, "index");
}

static void dynamic_slice(struct why *w, const struct inst *i, const int64_t *index)
{
    int64_t dims[VIEW_MAX_RANK], start[VIEW_MAX_RANK];
    const int rank = i->shape->rank;
    why_dims(w, i, 0, 0, dims);
    if (read_start(w, i, 1, rank, dims, i->shape->dims, start)) {
        for (int d = 0; d < rank; d++)
            start[d] += index[d];
        why_point(w, i, 0, 0, start, "operand");
    } else {
        why_whole(w, i, 0, 0, "operand");
    }
    indices(w, i, 1);
}

static void dynamic_update_slice(struct why *w, const struct inst *i, const int64_t *index)
{
    int64_t dims[VIEW_MAX_RANK], sizes[VIEW_MAX_RANK], start[VIEW_MAX_RANK], at[VIEW_MAX_RANK];
    const int rank = i->shape->rank;
    why_dims(w, i, 0, 0, dims);
    why_dims(w, i, 1, 0, sizes);
    if (read_start(w, i, 2, rank, dims, i->operands[1]->shape->dims, start)) {
        bool inside = true;
        for (int d = 0; d < rank; d++) {
            at[d] = index[d] - start[d];
            inside &= at[d] >= 0 && at[d] < sizes[d];
        }
        if (inside)
            why_point(w, i, 1, 0, at, "update");
        else
            why_point(w, i, 0, 0, index, "operand");
    } else {
        why_point(w, i, 0, 0, index, "operand");
        why_whole(w, i, 1, 0, "update");
    }
    indices(w, i, 2);
}

void why_dynslice(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    if (i->opcode == OP_DYNAMIC_SLICE)
        dynamic_slice(w, i, index);
    else
        dynamic_update_slice(w, i, index);
}

/* ---- gather ---- */

static bool is_kept(const struct kern_gather_dims *dims, int64_t d)
{
    return !i64_in(dims->operand_batching, dims->batching_count, d) &&
           !i64_in(dims->collapsed, dims->collapsed_count, d);
}

/* The position, in the indices, of the index vector of element `o` (of the result of a gather, of
 * the updates of a scatter); 0 in index_vector_dim. */
static void vector_of(const struct kern_gather_dims *dims, const int64_t *o, int rank, int64_t *at)
{
    for (int d = 0, id = 0; d < rank; d++)
        if (!i64_in(dims->offset_dims, dims->offset_count, d)) {
            if (id == dims->index_vector_dim)
                at[id++] = 0;
            at[id++] = o[d];
        }
}

/* The start of the window in dimension d of the array; false: unknown. */
static bool start_of(struct why *w, const struct inst *i, int indices,
                     const struct kern_gather_dims *dims, const int64_t *vector, int64_t d,
                     int64_t *start)
{
    const int64_t component = i64_find(dims->start_index_map, dims->map_count, d);
    const int64_t batching = i64_find(dims->operand_batching, dims->batching_count, d);
    int64_t at[VIEW_MAX_RANK] = {0};
    const int rank = i->operands[indices]->shape->rank;
    *start = batching >= 0 ? vector[dims->indices_batching[batching]] : 0;
    if (component < 0)
        return true;
    for (int k = 0; k < rank; k++)
        at[k] = k == dims->index_vector_dim ? component : vector[k];
    return why_integer(w, i, indices, at, start);
}

/* The index vector of an element. */
static void put_vector(struct why *w, const struct inst *i, int indices,
                       const struct kern_gather_dims *dims, const int64_t *vector)
{
    struct why_source *s = why_whole(w, i, indices, 0, "index");
    for (int d = 0; d < s->rank; d++)
        if (d != dims->index_vector_dim)
            why_fix(s, d, vector[d]);
}

static void gather(struct why *w, const struct inst *i, const int64_t *index)
{
    struct kern_gather_dims dims;
    int64_t vector[VIEW_MAX_RANK + 1] = {0}, sizes[VIEW_MAX_RANK];
    plan_gather_dims(i, &dims);
    vector_of(&dims, index, i->shape->rank, vector);
    why_dims(w, i, 0, 0, sizes);
    struct why_source *s = why_whole(w, i, 0, 0, "operand");
    for (int d = 0, next = 0; d < s->rank; d++) {
        const int64_t offset = is_kept(&dims, d) ? index[dims.offset_dims[next++]] : 0;
        int64_t start;
        if (start_of(w, i, 1, &dims, vector, d, &start))
            why_fix(s, d, why_clamp(start, 0, sizes[d] - dims.slice_sizes[d]) + offset);
    }
    put_vector(w, i, 1, &dims, vector);
}

struct hits {
    struct why *w;
    const struct inst *i;
    const struct kern_gather_dims *dims;
    const int64_t *index;                                 /* of the traced element */
    int n;                                                /* number of operands */
    int64_t array[VIEW_MAX_RANK], updates[VIEW_MAX_RANK]; /* their sizes */
};

/* Whether the window of the updates at `o` contains the element; `o` is then its index in the
 * updates. -1: unknown. */
static int hit(const struct hits *h, int64_t *o, const int64_t *vector)
{
    const int rank = h->i->operands[0]->shape->rank;
    for (int d = 0, next = 0; d < rank; d++) {
        const bool kept = is_kept(h->dims, d);
        const int64_t along = kept ? h->dims->offset_dims[next++] : 0,
                      size = kept ? h->updates[along] : 1;
        int64_t start;
        if (!start_of(h->w, h->i, h->n, h->dims, vector, d, &start))
            return -1;
        if (start < 0 || start > h->array[d] - size || h->index[d] < start ||
            h->index[d] >= start + size)
            return 0;
        if (kept)
            o[along] = h->index[d] - start;
    }
    return 1;
}

/* Adds the updates of all windows that contain the element; false: unknown indices. */
static bool find_hits(struct hits *h)
{
    const int rank = h->i->operands[h->n + 1]->shape->rank;
    int64_t o[VIEW_MAX_RANK] = {0}, sizes[VIEW_MAX_RANK], at[VIEW_MAX_RANK] = {0},
            vector[VIEW_MAX_RANK + 1] = {0};
    for (int d = 0; d < rank; d++) {
        sizes[d] = i64_in(h->dims->offset_dims, h->dims->offset_count, d) ? 1 : h->updates[d];
        if (h->updates[d] == 0)
            return true;
    }
    do {
        for (int d = 0; d < rank; d++)
            o[d] = at[d];
        vector_of(h->dims, o, rank, vector);
        const int answer = hit(h, o, vector);
        if (answer < 0)
            return false;
        for (int k = 0; answer && k < h->n; k++)
            why_point(h->w, h->i, h->n + 1 + k, 0, o, "update");
    } while (index_next(rank, sizes, at));
    return true;
}

/* Which updates apply to an element depends on all indices. */
static void scatter(struct why *w, const struct inst *i, const int64_t *index)
{
    struct kern_gather_dims dims;
    struct hits h = {.w = w, .i = i, .dims = &dims, .index = index, .n = i->operand_count / 2};
    plan_gather_dims(i, &dims);
    why_dims(w, i, 0, 0, h.array);
    why_dims(w, i, h.n + 1, 0, h.updates);
    for (int k = 0; k < h.n; k++)
        why_point(w, i, k, 0, index, "operand");
    const size_t before = w->count;
    if (!find_hits(&h)) {
        w->count = before;
        for (int k = 0; k < h.n; k++)
            why_whole(w, i, h.n + 1 + k, 0, "update");
    }
    why_whole(w, i, h.n, 0, "index");
}

void why_gather(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    if (i->opcode == OP_GATHER)
        gather(w, i, index);
    else
        scatter(w, i, index);
}

/* ---- sort ---- */

/* A line of values along a dimension. */
struct line {
    const char *first;
    int64_t stride, length; /* bytes, elements */
    size_t width;
};

static bool line_of(const struct literal *l, int64_t along, const int64_t *index, struct line *out)
{
    int64_t at[VIEW_MAX_RANK], stride = 1;
    if (!l)
        return false;
    for (int d = 0; d < l->shape->rank; d++) {
        at[d] = d == along ? 0 : index[d];
        stride *= d > along ? l->shape->dims[d] : 1;
    }
    out->width = dtype_bytes(l->shape->dtype);
    out->first = why_at(l, at);
    out->stride = stride * (int64_t)out->width;
    out->length = l->shape->dims[along];
    return out->first != NULL;
}

/* Whether element a of lines `x` is bitwise equal to element b of lines `y`. */
static bool same(const struct line *x, int64_t a, const struct line *y, int64_t b, int n)
{
    bool same = true;
    for (int k = 0; k < n && same; k++)
        same = memcmp(x[k].first + a * x[k].stride, y[k].first + b * y[k].stride, x[k].width) == 0;
    return same;
}

/* The position in the operand that an element came from, assuming that elements with equal bits
 * keep their order. -1: unknown. */
static int64_t came_from(struct why *w, const struct inst *i, int64_t along, const int64_t *index)
{
    const int n = i->operand_count;
    struct line *in = ARENA_ARRAY(w->arena, struct line, n),
                *out = ARENA_ARRAY(w->arena, struct line, n);
    int64_t before = 0;
    for (int k = 0; k < n; k++)
        if (!line_of(why_value(w, i, k, 0), along, index, &in[k]) ||
            !line_of(why_value(w, i, WHY_SELF, k), along, index, &out[k]) ||
            index[along] >= out[k].length)
            return -1;
    for (int64_t p = 0; p < index[along]; p++)
        before += same(out, p, out, index[along], n);
    for (int64_t p = 0; p < in[0].length; p++)
        if (same(in, p, out, index[along], n) && before-- == 0)
            return p;
    return -1;
}

static void sort(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    int along;
    if (!inst_sort_dimension(i, &along)) /* an error at run time */
        return;
    const int64_t from = came_from(w, i, along, index);
    if (from >= 0)
        why_fix(why_point(w, i, (int)leaf, 0, index, "chosen"), along, from);
    for (int k = 0; k < i->operand_count; k++) {
        struct why_source *s = why_point(w, i, k, 0, index, "line");
        why_span(s, along, 0, i->operands[k]->shape->dims[along], 1);
    }
}

/* The second result holds the indices of the elements of the first. */
static void topk(struct why *w, const struct inst *i, const int64_t *index)
{
    const int last = i->operands[0]->shape->rank - 1;
    const struct literal *places = why_value(w, i, WHY_SELF, 1);
    const void *p = places && places->shape->dtype == DT_S32 ? why_at(places, index) : NULL;
    int32_t place;
    if (p) {
        memcpy(&place, p, sizeof place);
        why_fix(why_point(w, i, 0, 0, index, "chosen"), last, place);
    }
    struct why_source *s = why_point(w, i, 0, 0, index, "line");
    why_span(s, last, 0, i->operands[0]->shape->dims[last], 1);
}

void why_sort(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    if (i->opcode == OP_TOPK)
        topk(w, i, index);
    else
        sort(w, i, leaf, index);
}
