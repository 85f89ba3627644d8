/*
 * plain sort and topk: the order of the elements of a line, found by comparing them pairwise.
 */
#include "kern/nest.h"
#include "kern/plain/plain.h"

/* A line of n operands along one dimension; `args` are the comparator's arguments. */
struct line {
    int n;
    const struct view *x;
    int dimension;
    const struct kern_comparator *less;
    int64_t *at; /* position of the line */
    const void **args;
    bool failed;
};

/* Whether the comparator orders element i of all operands before element j. */
static bool goes_before(struct line *l, int64_t i, int64_t j)
{
    uint8_t answer = 0;
    const struct kern_comparator *c = l->less;
    for (int k = 0; k < 2 * l->n; k++) {
        l->at[l->dimension] = k % 2 ? j : i;
        l->args[k] = view_at(&l->x[k / 2], l->at);
    }
    if (c->call)
        l->failed |= !c->call(c->context, l->args, (void *[]){&answer});
    else
        kern_find_compare(c->order == KERN_ORDER_LESS ? KERN_LT : KERN_GT, c->total_order,
                          l->x[c->key].dtype)(&answer, l->args + 2 * c->key, 1);
    return answer != 0;
}

/* Sorts order[0..count) by insertion: each element is inserted after the previous ones that it does
 * not precede. */
static void insert_all(struct line *l, int64_t *order, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t first = 0;
        BISECT(first, i, middle, !goes_before(l, i, order[middle]));
        memmove(order + first + 1, order + first, (size_t)(i - first) * sizeof *order);
        order[first] = i;
    }
}

/* spec: Sort. Elements that compare equal keep their order. */
bool plain_sort(struct thread_pool *workers, int n, const struct view *out, const struct view *x,
                int dimension, const struct kern_comparator *less)
{
    int64_t o[VIEW_MAX_RANK] = {0}, at[VIEW_MAX_RANK], lines[VIEW_MAX_RANK],
            count = out->dims[dimension];
    struct line l = {n, x, dimension, less, at, NULL, false};
    if (view_elements(out) == 0)
        return true;
    int64_t *order = mem_alloc((size_t)count * sizeof *order + 2 * (size_t)n * sizeof *l.args);
    if (!order)
        return false;
    l.args = (const void **)(order + count);
    memcpy(lines, out->dims, sizeof lines);
    lines[dimension] = 1;
    do {
        memcpy(at, o, sizeof at);
        insert_all(&l, order, count);
        for (int64_t i = 0; i < count; i++)
            for (int k = 0; k < n; k++) {
                at[dimension] = order[i];
                const char *from = view_at(&x[k], at);
                at[dimension] = i;
                memcpy(view_at(&out[k], at), from, dtype_bytes(out[k].dtype));
            }
    } while (!l.failed && index_next(out->rank, lines, o));
    mem_free(order);
    return !l.failed;
}

/* A line of topk's operand, ordered by value, then by index. */
struct best {
    kern_tile_fn *better;
    const char *data;
    int64_t stride;
};

static bool is_ahead(const struct best *b, int64_t i, int64_t j)
{
    uint8_t better, worse;
    const void *pair[3] = {b->data + i * b->stride, b->data + j * b->stride,
                           b->data + i * b->stride};
    b->better(&better, pair, 1);
    b->better(&worse, pair + 1, 1);
    return better || (!worse && i < j);
}

/* spec: TopK. The next one is the best of those that follow the last one found. */
bool plain_topk(struct thread_pool *workers, const struct view *values, const struct view *indices,
                const struct view *x, int64_t k, bool largest)
{
    int64_t o[VIEW_MAX_RANK] = {0};
    int d = x->rank - 1;
    struct best b = {.better = kern_find_compare(largest ? KERN_GT : KERN_LT, true, x->dtype),
                     .stride = x->strides[d]};
    if (view_elements(values) == 0)
        return true;
    do {
        int64_t last = -1;
        o[d] = 0;
        b.data = view_at(x, o);
        for (; o[d] < k; o[d]++) {
            int64_t next = -1;
            for (int64_t i = 0; i < x->dims[d]; i++)
                if ((last < 0 || is_ahead(&b, last, i)) && (next < 0 || is_ahead(&b, i, next)))
                    next = i;
            memcpy(view_at(values, o), b.data + next * b.stride, dtype_bytes(x->dtype));
            memcpy(view_at(indices, o), &(int32_t){(int32_t)next}, sizeof(int32_t));
            last = next;
        }
    } while (index_next(d, x->dims, o));
    return true;
}
