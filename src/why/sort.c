/*
 * sort.c: sorts: which element has come to this place, and the row that was sorted, which decided it.
 */
#include "why/why_priv.h"

#include <string.h>

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

/* Whether place a of some lines has the bits of place b of others. */
static bool same(const struct line *x, int64_t a, const struct line *y, int64_t b, int n)
{
    bool same = true;
    for (int k = 0; k < n && same; k++)
        same = memcmp(x[k].first + a * x[k].stride, y[k].first + b * y[k].stride, x[k].width) == 0;
    return same;
}

/* Sorts are stable: of elements with equal bits, the first of the result is the first of the operand. -1: it isn't known. */
static int64_t came_from(struct why *w, const struct inst *i, int64_t along, const int64_t *index)
{
    const int n = i->operand_count;
    struct line *in = ARENA_ARRAY(w->arena, struct line, n), *out = ARENA_ARRAY(w->arena, struct line, n);
    int64_t before = 0;
    for (int k = 0; k < n; k++)
        if (!line_of(why_value(w, i, k, 0), along, index, &in[k]) ||
            !line_of(why_value(w, i, WHY_SELF, k), along, index, &out[k]) || index[along] >= out[k].length)
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
    if (!inst_sort_dimension(i, &along)) /* its run ends in an error */
        return;
    const int64_t from = came_from(w, i, along, index);
    if (from >= 0)
        why_fix(why_point(w, i, (int)leaf, 0, index, "chosen"), along, from);
    for (int k = 0; k < i->operand_count; k++) {
        struct why_source *s = why_point(w, i, k, 0, index, "line");
        why_span(s, along, 0, i->operands[k]->shape->dims[along], 1);
    }
}

/* The second result says where each came from. */
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
