/*
 * conv_region.c: copies the part of the input under some windows of a convolution, with zeros for
 * padding and for the holes of a dilated input (no kernel of its own).
 */
#include "kern/conv.h"
#include "kern/nest.h"

/* The positions along a dimension that are in the input: every `period`-th from the one numbered
 * `first` on, at position `in` of the input; `in_stride`: positions of the input between them. */
struct inside {
    int64_t first, count, period, in, in_stride;
};

static int64_t greatest_common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static struct inside find_inside(const struct region_dim *d)
{
    const int64_t base = d->axis->base, common = greatest_common_divisor(d->stride, base);
    struct inside s = {.period = base / common, .in_stride = d->stride / common};
    const int64_t left = d->axis->in * base - d->first; /* from the first position to the end */
    const int64_t end = min_i64(left > 0 ? ratio_up(left, d->stride) : 0, d->count);
    s.first = d->first < 0 ? ratio_up(-d->first, d->stride) : 0;
    for (int64_t k = 0; k < s.period && (d->first + s.first * d->stride) % base != 0; k++)
        s.first++;
    const int64_t at = d->first + s.first * d->stride;
    if (s.first >= end || at % base != 0)
        return s;
    s.in = at / base;
    s.count = ratio_up(end - s.first, s.period);
    return s;
}

bool conv_fetch(const struct view *in, int rank, const struct region_dim *dims, enum dtype type,
                char *region, int64_t bytes)
{
    struct view from = {.dtype = in->dtype, .rank = rank, .data = in->data}, to = from;
    bool outside = false, empty = false;
    to.dtype = type;
    to.data = region;
    for (int d = 0; d < rank; d++) {
        const struct region_dim *x = &dims[d];
        const struct inside s = find_inside(x);
        outside |= s.count < x->count;
        empty |= s.count == 0;
        from.dims[d] = to.dims[d] = s.count;
        from.strides[d] = s.in_stride * x->axis->in_step;
        to.strides[d] = s.period * x->step;
        from.data += s.in * x->axis->in_step;
        to.data += s.first * x->step;
    }
    if (outside)
        memset(region, 0, (size_t)bytes);
    if (!empty)
        kern_convert_view(NULL, &to, &from);
    return outside;
}
