/*
 * plain sum: multiplies and adds elements of any types one by one (spec: DotGeneral,
 * ConvWithGeneralPadding), with the kernels of the elementwise ops. For pred, multiply is and, add
 * is or.
 */
#include "kern/plain/sum.h"

void plain_sum_init(struct plain_sum *s, enum dtype out, enum dtype lhs, enum dtype rhs)
{
    struct product_types types;
    product_find_types(&types, out, lhs, rhs);
    s->work = types.work;
    s->multiply = kern_plain_tiles()->elementwise("multiply", s->work);
    s->add = kern_plain_tiles()->elementwise("add", s->work);
    loader_init(&s->first[0], types.via[0], lhs);
    loader_init(&s->first[1], types.via[1], rhs);
    loader_init(&s->second[0], s->work, types.via[0]);
    loader_init(&s->second[1], s->work, types.via[1]);
    loader_init(&s->out, out, s->work);
}

void plain_sum_clear(struct plain_sum *s) { memset(&s->total, 0, sizeof s->total); }

static const void *operand(const struct plain_sum *s, int i, union kern_element scratch[2],
                           const char *x)
{
    const void *via = loader_read(&s->first[i], &scratch[0], x, 0, 1);
    return loader_read(&s->second[i], &scratch[1], via, 0, 1);
}

void plain_sum_add(struct plain_sum *s, const char *l, const char *r)
{
    union kern_element left[2], right[2], product;
    s->multiply(&product, (const void *const[]){operand(s, 0, left, l), operand(s, 1, right, r)},
                1);
    s->add(&s->total, (const void *const[]){&s->total, &product}, 1);
}

void plain_sum_store(const struct plain_sum *s, char *out)
{
    loader_write(&s->out, out, 0, &s->total, 1);
}

void plain_scaled_init(struct plain_scaled *s, const struct view *x, const struct view *scale)
{
    struct product_types types;
    product_find_types(&types, x->dtype, x->dtype, x->dtype);
    *s = (struct plain_scaled){
        x, scale, types.work, kern_plain_tiles()->elementwise("multiply", types.work), {0}};
    loader_init(&s->load, s->work, x->dtype);
}

void plain_scaled_element(const struct plain_scaled *s, const int64_t *at, void *out)
{
    int64_t block[VIEW_MAX_RANK];
    union kern_element scratch[2];
    const void *x = loader_read(&s->load, &scratch[0], view_at(s->x, at), 0, 1);
    if (!s->scale) {
        memcpy(out, x, dtype_bytes(s->work));
        return;
    }
    for (int d = 0; d < s->x->rank; d++)
        block[d] = at[d] / (s->x->dims[d] / s->scale->dims[d]);
    const void *scale = loader_read(&s->load, &scratch[1], view_at(s->scale, block), 0, 1);
    s->multiply(out, (const void *const[]){x, scale}, 1);
}
