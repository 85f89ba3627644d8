/*
 * dot: sorts the dimensions of both operands into batch, free and contracting ones and leaves the rest
 * to the product.
 *
 * Order and accumulation: the sum runs in f32 for floats up to f32, in f64 and complex as they are, in
 * OpenBLAS's order, and is rounded once; integers wrap in the result's type.
 */
#include "kern/plain/plain.h"
#include "kern/product.h"

/* The free dimensions of an operand with the result dimensions they become, from `at` on. */
static int add_free(struct nest *n, const struct view *out, const struct view *x, const int64_t *batch,
                    const int64_t *contracting, const struct kern_dot_dims *dims, int at)
{
    for (int d = 0; d < x->rank; d++) {
        bool taken = false;
        for (int i = 0; i < dims->batch_count; i++)
            taken |= batch[i] == d;
        for (int i = 0; i < dims->contracting_count; i++)
            taken |= contracting[i] == d;
        if (!taken)
            nest_add(n, x->dims[d], (int64_t[]){out->strides[at++], x->strides[d]});
    }
    return at;
}

static void sort_dims(struct product *p, const struct view *out, const struct view *lhs,
                      const struct view *rhs, const struct kern_dot_dims *dims)
{
    nest_init(&p->batch, 3);
    nest_init(&p->m, 2);
    nest_init(&p->n, 2);
    nest_init(&p->k, 2);
    for (int i = 0; i < dims->batch_count; i++) {
        int64_t l = dims->lhs_batch[i], r = dims->rhs_batch[i];
        nest_add(&p->batch, lhs->dims[l], (int64_t[]){out->strides[i], lhs->strides[l], rhs->strides[r]});
    }
    for (int i = 0; i < dims->contracting_count; i++) {
        int64_t l = dims->lhs_contracting[i], r = dims->rhs_contracting[i];
        nest_add(&p->k, lhs->dims[l], (int64_t[]){lhs->strides[l], rhs->strides[r]});
    }
    int at = add_free(&p->m, out, lhs, dims->lhs_batch, dims->lhs_contracting, dims, dims->batch_count);
    add_free(&p->n, out, rhs, dims->rhs_batch, dims->rhs_contracting, dims, at);
}

static bool fast_dot(const struct view *out, struct view *lhs, struct view *rhs,
                     const struct kern_dot_dims *dims, enum dtype work)
{
    struct product p = {.out_type = out->dtype,
                        .lhs_type = lhs->dtype,
                        .rhs_type = rhs->dtype,
                        .work = work,
                        .out = out->data,
                        .lhs = lhs->data,
                        .rhs = rhs->data};
    sort_dims(&p, out, lhs, rhs, dims);
    if (nest_points(&p.k) >= INT_MAX) /* more than OpenBLAS can count */
        return plain_dot(out, lhs, rhs, dims);
    return product_run(&p);
}

/* spec: DotGeneral */
bool kern_dot(const struct view *out, const struct view *lhs, const struct view *rhs,
              const struct kern_dot_dims *dims)
{
    struct product_types types;
    struct view l = *lhs, r = *rhs;
    void *storage[2] = {NULL, NULL};
    product_find_types(&types, out->dtype, lhs->dtype, rhs->dtype);
    bool ok = product_convert_operand(&l, types.via[0], &storage[0]) &&
              product_convert_operand(&r, types.via[1], &storage[1]) &&
              fast_dot(out, &l, &r, dims, types.work);
    mem_free(storage[0]);
    mem_free(storage[1]);
    return ok;
}
