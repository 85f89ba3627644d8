/*
 * plain fft: every result element is the sum of all elements of its transform, each multiplied by a
 * root of unity.
 */
#include "kern/nest.h"
#include "kern/plain/plain.h"

/* The last `count` dimensions, which are transformed together. */
struct transform {
    bool back, to_real;
    int count;
    const int64_t *lengths;
    struct c128 *roots[VIEW_MAX_RANK]; /* of each dimension: exp(-2 pi i k / length) */
};

static struct c128 times(struct c128 a, struct c128 b)
{
    return (struct c128){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static struct c128 *make_roots(struct transform *t)
{
    int64_t total = 1, bytes, at = 0;
    for (int d = 0; d < t->count; d++)
        if (t->lengths[d] > INT64_MAX - total)
            return NULL;
        else
            total += t->lengths[d];
    struct c128 *roots =
        mul_i64(total, (int64_t)sizeof *roots, &bytes) ? mem_alloc((size_t)bytes) : NULL;
    for (int d = 0; roots && d < t->count; d++) {
        t->roots[d] = roots + at;
        for (int64_t k = 0; k < t->lengths[d]; k++, at++) {
            roots[at] = kern_root_of_unity(k, t->lengths[d]);
            roots[at].im = t->back ? 0 - roots[at].im : roots[at].im;
        }
    }
    return roots;
}

/* a * b modulo n; 0 <= a, b < n. */
static int64_t mul_modulo(int64_t a, int64_t b, int64_t n)
{
    int64_t product;
    if (mul_i64(a, b, &product))
        return product % n;
    uint64_t sum = 0, unit = (uint64_t)a;
    for (; b; b >>= 1, unit = unit * 2 % (uint64_t)n)
        sum = b & 1 ? (sum + unit) % (uint64_t)n : sum;
    return (int64_t)sum;
}

/* exp(-2 pi i sum of o_d k_d / length_d), or with +i for the inverse */
static struct c128 turn(const struct transform *t, const int64_t *o, const int64_t *k)
{
    struct c128 w = {1, 0};
    for (int d = 0; d < t->count; d++)
        w = times(w, t->roots[d][mul_modulo(o[d], k[d], t->lengths[d])]);
    return w;
}

/* One result element: `o` is its index in the transform, `x` the operand there. */
static struct c128 sum_turned(const struct transform *t, const struct view *x, const int64_t *o)
{
    int64_t k[VIEW_MAX_RANK] = {0}, last = t->count - 1, n = t->lengths[last];
    struct loader to_c128;
    struct c128 sum = {0, 0};
    union kern_cell room;
    loader_init(&to_c128, DT_C128, x->dtype);
    do {
        struct c128 v;
        memcpy(&v, loader_read(&to_c128, &room, view_at(x, k), 0, 1), sizeof v);
        v = times(v, turn(t, o, k));
        /* For a real result, half of the spectrum is not stored: the conjugates of all but the
         * first column and, if the length is even, the middle one. */
        double twice = t->to_real && k[last] > 0 && 2 * k[last] != n ? 2 : 1;
        sum.re += twice * v.re;
        sum.im += twice * v.im;
    } while (index_next(x->rank, x->dims, k));
    return sum;
}

/* spec: Fft */
bool plain_fft(struct team *team, const struct view *out, const struct view *x, enum kern_fft type,
               int count, const int64_t *lengths)
{
    struct transform t = {.back = type == KERN_IFFT || type == KERN_IRFFT,
                          .to_real = type == KERN_IRFFT,
                          .count = count,
                          .lengths = lengths};
    int64_t o[VIEW_MAX_RANK] = {0};
    int outer = x->rank - count;
    double scale = 1;
    struct loader store;
    if (view_elements(out) == 0 || view_elements(x) == 0)
        return true;
    struct c128 *roots = make_roots(&t);
    if (!roots)
        return false;
    for (int d = 0; t.back && d < count; d++)
        scale *= (double)lengths[d];
    loader_init(&store, out->dtype, t.to_real ? DT_F64 : DT_C128);
    do {
        struct view in = {.dtype = x->dtype, .rank = count, .data = x->data};
        for (int d = 0; d < outer; d++)
            in.data += o[d] * x->strides[d];
        for (int d = 0; d < count; d++) {
            in.dims[d] = x->dims[outer + d];
            in.strides[d] = x->strides[outer + d];
        }
        struct c128 sum = sum_turned(&t, &in, o + outer);
        sum = (struct c128){sum.re / scale, sum.im / scale};
        loader_write(&store, view_at(out, o), 0, &sum, 1);
    } while (index_next(out->rank, out->dims, o));
    mem_free(roots);
    return true;
}
