/*
 * dims.c: array shapes under construction.
 */
#include "infer/infer_priv.h"

struct dims dims_new(struct arena *a, int64_t capacity)
{
    return (struct dims){0, ARENA_ARRAY(a, int64_t, capacity), ARENA_ARRAY(a, bool, capacity)};
}

struct dims dims_of(struct arena *a, const struct shape *s, int64_t more)
{
    struct dims d = dims_new(a, s->rank + more);
    for (int k = 0; k < s->rank; k++)
        dims_take(&d, s, k);
    return d;
}

const struct shape *dims_shape(struct arena *a, enum dtype t, const struct dims *d)
{
    bool any = false;
    for (int k = 0; k < d->rank; k++)
        any |= d->dynamic[k];
    return shape_array(a, t, d->rank, d->size, any ? d->dynamic : NULL, NULL);
}
