/*
 * plain pad and sort: elements in their places, one by one.
 */
#include "kern/nest.h"
#include "kern/plain/plain.h"

/* spec: Pad */
void plain_pad(const struct view *out, const struct view *x, const void *value,
               const struct kern_pad_dim *dims)
{
    int64_t o[VIEW_MAX_RANK] = {0}, at[VIEW_MAX_RANK];
    if (view_elements(out) == 0)
        return;
    do {
        bool inside = true;
        for (int d = 0; d < out->rank; d++) {
            int64_t p = o[d] - dims[d].low, step = dims[d].interior + 1;
            inside &= p >= 0 && p % step == 0 && p / step < x->dims[d];
            at[d] = inside ? p / step : 0;
        }
        memcpy(view_at(out, o), inside ? view_at(x, at) : (const char *)value, dtype_bytes(out->dtype));
    } while (index_next(out->rank, out->dims, o));
}

/* comparator(a, b): whether element i of the line at `o` goes before element j. */
static bool goes_before(int n, const struct view *x, int dimension, const struct kern_comparator *less,
                        int64_t *o, int64_t i, int64_t j, bool *before)
{
    enum { FEW = 64 };
    const void *args[2 * FEW];
    uint8_t answer = 0;
    void *results[1] = {&answer};
    bool ok = n <= FEW;
    for (int k = 0; ok && k < n; k++) {
        o[dimension] = i;
        args[2 * k] = view_at(&x[k], o);
        o[dimension] = j;
        args[2 * k + 1] = view_at(&x[k], o);
    }
    enum kern_direction direction = less->order == KERN_ORDER_LESS ? KERN_LT : KERN_GT;
    if (less->call)
        ok = ok && less->call(less->context, args, results);
    else if (ok)
        kern_find_compare(direction, less->total_order, x[less->key].dtype)(&answer, args + 2 * less->key, 1);
    *before = answer != 0;
    return ok;
}

/* spec: Sort. The place of an element is the number of those that go before it, equal ones to its left
 * included. */
bool plain_sort(int n, const struct view *out, const struct view *x, int dimension,
                const struct kern_comparator *less)
{
    int64_t o[VIEW_MAX_RANK] = {0}, p[VIEW_MAX_RANK], count = out->dims[dimension];
    if (view_elements(out) == 0)
        return true;
    do {
        int64_t i = o[dimension], place = 0;
        memcpy(p, o, sizeof p);
        for (int64_t j = 0; j < count; j++) {
            bool before, after;
            if (!goes_before(n, x, dimension, less, p, j, i, &before) ||
                !goes_before(n, x, dimension, less, p, i, j, &after))
                return false;
            place += before || (!after && j < i);
        }
        memcpy(p, o, sizeof p);
        p[dimension] = place;
        for (int k = 0; k < n; k++)
            memcpy(view_at(&out[k], p), view_at(&x[k], o), dtype_bytes(out[k].dtype));
    } while (index_next(out->rank, out->dims, o));
    return true;
}
