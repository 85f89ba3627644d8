/*
 * why/why: boxes of elements, known values, and the dispatch by family of operations.
 */
#include "why/why_priv.h"

#include "plan/plan.h"

static why_family_fn *const families[FAMILY_COUNT] = {
#define X(name, flags) [FAMILY_##name] = why_##name,
    FAMILIES(X)
#undef X
};

/* ---- leaves ---- */

const struct shape *why_leaf_shape(const struct shape *s, int64_t leaf)
{
    while (shape_is_tuple(s)) {
        const int k = shape_component_of(s, &leaf);
        if (k >= s->count)
            return s; /* an empty tuple has no leaves */
        s = s->elements[k];
    }
    return s;
}

/* A token is a leaf of the shape, but an empty tuple as a value. */
const struct literal *why_leaf(const struct shape *s, const struct literal *l, int64_t leaf)
{
    while (l && shape_is_tuple(s)) {
        const int k = shape_component_of(s, &leaf);
        if (k >= s->count || !shape_is_tuple(l->shape) || l->shape->count != s->count)
            return NULL;
        s = s->elements[k];
        l = l->elements[k];
    }
    return l && shape_is_array(l->shape) && l->data ? l : NULL;
}

static bool fits(const struct shape *s)
{
    bool ok = s->rank <= VIEW_MAX_RANK;
    for (int k = 0; shape_is_tuple(s) && k < s->count && ok; k++)
        ok = fits(s->elements[k]);
    return ok;
}

bool why_fits(const struct inst *i)
{
    bool ok = fits(i->shape);
    for (int k = 0; k < i->operand_count && ok; k++)
        ok = fits(i->operands[k]->shape);
    return ok;
}

/* ---- values ---- */

const struct literal *why_value(const struct why *w, const struct inst *i, int k, int64_t leaf)
{
    const struct inst *of = k == WHY_SELF ? i : i->operands[k];
    const struct literal *l = of->opcode == OP_CONSTANT ? of->literal : NULL;
    if (!l || l->elided)
        l = w->known->value ? w->known->value(w->known->context, of) : NULL;
    return why_leaf(of->shape, l, leaf);
}

static void dims_of(const struct why *w, const struct inst *of, int64_t leaf, int64_t *dims)
{
    const struct shape *s = why_leaf_shape(of->shape, leaf);
    if (s->dynamic && w->known->value) {
        const struct literal *l = why_leaf(of->shape, w->known->value(w->known->context, of), leaf);
        if (l && l->shape->rank == s->rank)
            s = l->shape;
    }
    for (int d = 0; d < s->rank; d++)
        dims[d] = s->dims[d];
}

void why_dims(const struct why *w, const struct inst *i, int k, int64_t leaf, int64_t *dims)
{
    dims_of(w, k == WHY_SELF ? i : i->operands[k], leaf, dims);
}

int64_t why_linear(int rank, const int64_t *dims, const int64_t *index)
{
    int64_t at = 0;
    for (int d = 0; d < rank; d++)
        at = at * dims[d] + index[d];
    return at;
}

void why_unravel(int rank, const int64_t *dims, int64_t at, int64_t *index)
{
    for (int d = rank - 1; d >= 0; d--) {
        const int64_t n = dims[d] > 0 ? dims[d] : 1;
        index[d] = at % n;
        at /= n;
    }
}

const void *why_at(const struct literal *l, const int64_t *index)
{
    for (int d = 0; d < l->shape->rank; d++)
        if (index[d] < 0 || index[d] >= l->shape->dims[d])
            return NULL;
    return (const char *)l->data +
           (size_t)why_linear(l->shape->rank, l->shape->dims, index) * dtype_bytes(l->shape->dtype);
}

bool why_integer(const struct why *w, const struct inst *i, int k, const int64_t *index,
                 int64_t *out)
{
    const struct literal *l = why_value(w, i, k, 0);
    const void *p = l ? why_at(l, index) : NULL;
    if (p)
        *out = kern_load_index(l->shape->dtype, p);
    return p != NULL;
}

/* ---- boxes ---- */

struct why_source *why_of(struct why *w, const struct inst *from, int64_t leaf, const char *role)
{
    struct why_source *s = &(VEC_PUSH(w->arena, w->at, w->count, w->capacity));
    *s = (struct why_source){.inst = from,
                             .operand = -1,
                             .leaf = leaf,
                             .rank = why_leaf_shape(from->shape, leaf)->rank,
                             .role = role};
    dims_of(w, from, leaf, s->count);
    for (int d = 0; d < s->rank; d++) {
        s->step[d] = 1;
        s->walk[d] = d;
    }
    return s;
}

struct why_source *why_whole(struct why *w, const struct inst *i, int k, int64_t leaf,
                             const char *role)
{
    struct why_source *s = why_of(w, i->operands[k], leaf, role);
    s->operand = k;
    return s;
}

void why_every_leaf(struct why *w, const struct inst *i, int k, const char *role)
{
    for (int64_t leaf = 0; leaf < shape_leaf_count(i->operands[k]->shape); leaf++)
        if (shape_is_array(why_leaf_shape(i->operands[k]->shape, leaf)))
            why_whole(w, i, k, leaf, role);
}

void why_fix(struct why_source *s, int64_t dimension, int64_t at)
{
    why_span(s, dimension, at, 1, 1);
}

void why_span(struct why_source *s, int64_t dimension, int64_t start, int64_t count, int64_t step)
{
    s->start[dimension] = start;
    s->count[dimension] = count;
    s->step[dimension] = step;
}

struct why_source *why_point(struct why *w, const struct inst *i, int k, int64_t leaf,
                             const int64_t *index, const char *role)
{
    struct why_source *s = why_whole(w, i, k, leaf, role);
    for (int d = 0; d < s->rank; d++)
        why_fix(s, d, index[d]);
    return s;
}

/* ---- windows ---- */

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t remainder = a % b;
        a = b;
        b = remainder;
    }
    return a;
}

/* Window position p is at low + p * window_dilation of the dilated array. Positions that coincide
 * with an element recur with the period lcm(base_dilation, window_dilation). */
struct why_window why_window_at(const struct window_dim *d, int64_t size, int64_t at)
{
    const int64_t low = at * d->stride - d->pad_low, base = d->base_dilation,
                  dilation = d->window_dilation;
    const int64_t common = common_divisor(base, dilation), step = base / common;
    struct why_window w = {.step = step, .stride = dilation / common};
    for (int64_t p = 0; p < step && p < d->size; p++)
        if ((low + p * dilation) % base == 0) {
            const int64_t first = (low + p * dilation) / base, max = (d->size - 1 - p) / step + 1;
            const int64_t skipped = first < 0 ? (-first + w.stride - 1) / w.stride : 0;
            const int64_t inside = size > first ? (size - 1 - first) / w.stride + 1 : 0;
            const int64_t end = max < inside ? max : inside;
            w.first = p + skipped * step;
            w.start = first + skipped * w.stride;
            w.count = end > skipped ? end - skipped : 0;
            return w;
        }
    return w;
}

void why_element(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    families[op_table[i->opcode].family](w, i, leaf, index);
}
