/*
 * Sketches of values: sums of the elements with pseudo-random signs and weights. An error in one
 * element changes a sum by about that error, and rounding errors of n elements by about sqrt(n) of
 * them.
 *
 * Errors are relative to the largest element; for sums of elements that are clipped they are
 * relative to the typical one, so that a few huge elements (masks) do not hide all others.
 */
#include "look/look.h"

#include <math.h>
#include <stdlib.h>

/* What NaN and infinities count as, in units of the largest finite element. */
static const double NAN_WEIGHT = 3.7, INFINITY_WEIGHT = 9.1;

enum { EXPONENTS = 2047, EXPONENT_BIAS = 1022, BLOCK = 256, SAMPLES = 4096 };

struct sketching {
    struct look_sketch *s;
    size_t sizes[EXPONENTS + 1]; /* number of elements by biased exponent */
    double limit;                /* of clipped elements; the second one is twice this */
    double last, step;           /* the previous element, and its distance from the one before */
    double specials[4];          /* sums of elements that are not finite */
};

/* 0: zero or subnormal; EXPONENTS: not finite. */
static unsigned biased_exponent(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 52 & 0x7ff;
}

/* Significant bits of a finite number: of 0, 2 and 1024 one, of 3 two. */
static unsigned significant_bits(double x)
{
    int exponent;
    const double m = fabs(frexp(x, &exponent));
    return m == 0 ? 1 : 53 - (unsigned)__builtin_ctzll((uint64_t)ldexp(m, 53));
}

/* Elements that repeat the previous one, or continue a progression, have no information. */
static void count_information(struct sketching *w, double x)
{
    const double step = x - w->last;
    if (step != 0 && step != w->step)
        w->s->information += isfinite(x) ? significant_bits(x) : 1;
    w->step = step;
    w->last = x;
}

static double clip(double x, double limit) { return x > limit ? limit : x < -limit ? -limit : x; }

/* Sets the limit of clipped elements to some times the median magnitude. */
static void set_limit(struct sketching *w)
{
    enum { HEADROOM = 4 };
    size_t all = 0, below = 0;
    int k = 0;
    w->sizes[0] = 0;
    for (int i = 0; i < EXPONENTS; i++)
        all += w->sizes[i];
    while (k < EXPONENTS - 1 && below * 2 < all)
        below += w->sizes[k++];
    w->s->scale = k - EXPONENT_BIAS + HEADROOM;
    w->limit = ldexp(1, w->s->scale);
}

/* Pseudo-random signs of 64 elements. */
static uint64_t signs_of(uint64_t n)
{
    const uint64_t x = (n + 1) * UINT64_C(0x9e3779b97f4a7c15),
                   y = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return y ^ y >> 32;
}

/* The weight of element n, 0.5 to 1.5. Equal errors have different weights: they do not cancel, as
 * they would at both ends of a symmetric array if only their signs differed. */
static double weight_of(uint64_t n)
{
    return 0.5 + (double)(uint8_t)(n * UINT64_C(0x9e3779b97f4a7c15) >> 56) / 256;
}

static void add_block(struct sketching *w, const double *x, size_t count)
{
    struct look_sketch *s = w->s;
    double largest = s->largest, clipped[2] = {s->clipped[0], s->clipped[1]},
           powers[] = {s->powers[0], s->powers[1], s->powers[2]};
    uint64_t signs = signs_of(s->numbers / 64);
    for (size_t i = 0; i < count && s->information < LOOK_INFORMATION; i++)
        count_information(w, x[i]);
    for (size_t i = 0; i < count; i++) {
        const uint64_t n = s->numbers + i;
        double v = x[i], *sums = s->sums;
        if (n % 64 == 0)
            signs = signs_of(n / 64);
        if (biased_exponent(v) == EXPONENTS) {
            sums = w->specials;
            v = isnan(v) ? NAN_WEIGHT : v > 0 ? INFINITY_WEIGHT : -INFINITY_WEIGHT;
        } else {
            largest = fabs(v) > largest ? fabs(v) : largest;
            for (double power = v, *sum = powers; sum < powers + COUNT_OF(s->powers); power *= v)
                *sum++ += power;
        }
        v = signs >> n % 64 & 1 ? -v : v;
        sums[n % COUNT_OF(s->sums)] += v * weight_of(n);
        clipped[0] += clip(v, w->limit);
        clipped[1] += clip(v, w->limit * 2);
    }
    s->numbers += count;
    s->largest = largest;
    s->clipped[0] = clipped[0];
    s->clipped[1] = clipped[1];
    memcpy(s->powers, powers, sizeof powers);
}

enum pass { SIZES, SUMS };

static void pass_leaf(struct sketching *w, const struct literal *l, enum pass pass)
{
    const enum dtype part = dtype_component(l->shape->dtype);
    const size_t width = dtype_bytes(part);
    double numbers[BLOCK];
    int64_t elements = 0;
    shape_elements(l->shape, &elements);
    const size_t count = (size_t)elements * (dtype_bytes(l->shape->dtype) / width);
    const size_t step = pass == SUMS ? BLOCK : count / SAMPLES + 1;
    for (size_t k = 0; k < count; k += step) {
        const size_t some = pass == SIZES ? 1 : count - k < BLOCK ? count - k : BLOCK;
        look_numbers(part, (const char *)l->data + k * width, some, numbers);
        if (pass == SIZES)
            w->sizes[biased_exponent(numbers[0])]++;
        else
            add_block(w, numbers, some);
    }
    w->s->dtype = l->shape->dtype;
}

static void pass(struct sketching *w, const struct literal *l, enum pass which)
{
    for (int k = 0; shape_is_tuple(l->shape) && k < l->shape->count; k++)
        pass(w, l->elements[k], which);
    if (shape_is_array(l->shape))
        pass_leaf(w, l, which);
}

struct look_sketch look_sketch(const struct literal *l)
{
    struct look_sketch s = {0};
    struct sketching w = {.s = &s};
    look_digest(l, s.digest);
    pass(&w, l, SIZES);
    set_limit(&w);
    pass(&w, l, SUMS);
    for (unsigned k = 0; k < COUNT_OF(s.sums); k++)
        s.sums[k] += w.specials[k] * (s.largest > 0 ? s.largest : 1);
    return s;
}

static bool has_floats(enum dtype t) { return dtype_is_float(t) || dtype_is_complex(t); }

/* Whether sums of clipped elements, with the same limit, agree. */
static bool clipped_agree(const struct look_sketch *a, const struct look_sketch *b, double relative)
{
    const int apart = a->scale - b->scale;
    const struct look_sketch *low = apart < 0 ? a : b, *high = apart < 0 ? b : a;
    if (abs(apart) >= (int)COUNT_OF(a->clipped))
        return false;
    return fabs(low->clipped[abs(apart)] - high->clipped[0]) <= relative * ldexp(1, high->scale);
}

/* The relative error within which values agree. */
static double relative_error(const struct look_sketch *a, const struct look_sketch *b,
                             const struct hlo_tolerance *t)
{
    const double ea = look_usual_error(a->dtype), eb = look_usual_error(b->dtype);
    return t->rel + (t->usual ? ea > eb ? ea : eb : 0);
}

bool look_sketches_agree(const struct look_sketch *a, const struct look_sketch *b,
                         const struct hlo_tolerance *t)
{
    if (memcmp(a->digest, b->digest, sizeof a->digest) == 0)
        return true;
    if (!t || a->numbers != b->numbers || !has_floats(a->dtype) || !has_floats(b->dtype))
        return false;
    const double large = a->largest > b->largest ? a->largest : b->largest;
    const double relative = relative_error(a, b, t);
    const double each = ceil((double)a->numbers / (double)COUNT_OF(a->sums));
    const double errors = fmax(sqrt(each) / 16, fmin(each, 4));
    for (unsigned k = 0; k < COUNT_OF(a->sums); k++)
        if (!(fabs(a->sums[k] - b->sums[k]) <= (t->abs + relative * large) * errors))
            return false;
    return t->abs > 0 || a->combined || clipped_agree(a, b, relative * errors);
}

bool look_sketches_permuted(const struct look_sketch *a, const struct look_sketch *b,
                            const struct hlo_tolerance *t)
{
    const double large = a->largest > b->largest ? a->largest : b->largest;
    const double error = relative_error(a, b, t) * fmax(sqrt((double)a->numbers), 1);
    double scale = 1;
    if (a->numbers != b->numbers || has_floats(a->dtype) != has_floats(b->dtype))
        return false;
    for (unsigned k = 0; k < COUNT_OF(a->powers); k++) {
        scale *= large;
        if (!(fabs(a->powers[k] - b->powers[k]) <= error * scale))
            return false;
    }
    return true;
}
