/*
 * Reading and writing at places that an array of indices names.
 */
#include "why/why_priv.h"

#include "plan/plan.h"

static int place_in(const int64_t *list, int count, int64_t d)
{
    for (int k = 0; k < count; k++)
        if (list[k] == d)
            return k;
    return -1;
}

static bool is_kept(const struct kern_gather_dims *dims, int64_t d)
{
    return !i64_in(dims->operand_batching, dims->batching_count, d) && !i64_in(dims->collapsed, dims->collapsed_count, d);
}

/* Where in the indices the vector of element `o` lies (of the result of a gather, of the updates of a scatter); its own
 * dimension is left at 0. */
static void vector_of(const struct kern_gather_dims *dims, const int64_t *o, int rank, int64_t *at)
{
    for (int d = 0, id = 0; d < rank; d++)
        if (!i64_in(dims->offset_dims, dims->offset_count, d)) {
            if (id == dims->index_vector_dim)
                at[id++] = 0;
            at[id++] = o[d];
        }
}

/* The start of the window in dimension d of the array; false: it isn't known. */
static bool start_of(struct why *w, const struct inst *i, int indices, const struct kern_gather_dims *dims, const int64_t *vector,
                     int64_t d, int64_t *start)
{
    const int component = place_in(dims->start_index_map, dims->map_count, d);
    const int batching = place_in(dims->operand_batching, dims->batching_count, d);
    int64_t at[VIEW_MAX_RANK] = {0};
    const int rank = i->operands[indices]->shape->rank;
    *start = batching >= 0 ? vector[dims->indices_batching[batching]] : 0;
    if (component < 0)
        return true;
    for (int k = 0; k < rank; k++)
        at[k] = k == dims->index_vector_dim ? component : vector[k];
    return why_integer(w, i, indices, at, start);
}

/* The vector of indices that an element goes by. */
static void put_vector(struct why *w, const struct inst *i, int indices, const struct kern_gather_dims *dims,
                       const int64_t *vector)
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

/* ---- scatter ---- */

struct hits {
    struct why *w;
    const struct inst *i;
    const struct kern_gather_dims *dims;
    const int64_t *index;                                 /* that is asked about */
    int n;                                                /* operands */
    int64_t array[VIEW_MAX_RANK], updates[VIEW_MAX_RANK]; /* their sizes */
};

/* Whether the window of the updates at `o` holds the element, which sets `o` to its place there. -1: it isn't known. */
static int hit(const struct hits *h, int64_t *o, const int64_t *vector)
{
    const int rank = h->i->operands[0]->shape->rank;
    for (int d = 0, next = 0; d < rank; d++) {
        const bool kept = is_kept(h->dims, d);
        const int64_t along = kept ? h->dims->offset_dims[next++] : 0, size = kept ? h->updates[along] : 1;
        int64_t start;
        if (!start_of(h->w, h->i, h->n, h->dims, vector, d, &start))
            return -1;
        if (start < 0 || start > h->array[d] - size || h->index[d] < start || h->index[d] >= start + size)
            return 0;
        if (kept)
            o[along] = h->index[d] - start;
    }
    return 1;
}

/* Goes through the windows; false: places are not known. */
static bool find_hits(struct hits *h)
{
    const int rank = h->i->operands[h->n + 1]->shape->rank;
    int64_t o[VIEW_MAX_RANK] = {0}, sizes[VIEW_MAX_RANK], at[VIEW_MAX_RANK] = {0}, vector[VIEW_MAX_RANK + 1] = {0};
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

/* Which updates come to a place is told by all indices. */
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
    (void)leaf;
    if (i->opcode == OP_GATHER)
        gather(w, i, index);
    else
        scatter(w, i, index);
}
