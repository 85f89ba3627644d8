/*
 * Do two values agree, within what tolerance, and where do they first differ?
 */
#include "look/look.h"

#include "text/text.h"

#include <math.h>

struct comparison {
    const struct hlo_tolerance *t;
    enum dtype dtype;
    int64_t differing, first; /* index of the first element outside the tolerance, -1: none */
    double worst_abs, worst_rel;
    uint64_t worst_ulp;
    int64_t worst_at;
};

/* ---- one element ---- */

static uint64_t load_bits(const char *p, size_t width)
{
    uint64_t v = 0;
    memcpy(&v, p, width);
    return v;
}

/* Where the float at `p` stands among the values of its type, zeros of both signs at 0. */
static int64_t rank_of(enum dtype t, const char *p)
{
    uint64_t code = load_bits(p, dtype_bytes(t)), sign = UINT64_C(1) << (dtype_bits(t) - 1);
    if (t == DT_F8E8M0FNU)
        return (int64_t)code;
    int64_t magnitude = (int64_t)(code & (sign - 1));
    return code & sign ? -magnitude : magnitude;
}

static uint64_t ulps_apart(enum dtype t, const char *a, const char *b)
{
    int64_t x = rank_of(t, a), y = rank_of(t, b);
    return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

/* Of complex numbers the unit is that of the larger part: products and sums cancel in the smaller one,
 * and are no worse for it. UINT64_MAX when something is not finite. */
static uint64_t complex_ulps_apart(enum dtype part, const char *a, const char *b)
{
    size_t width = dtype_bytes(part);
    double re = fabs(float_load(part, b)), im = fabs(float_load(part, b + width)), large = re > im ? re : im;
    double unit = float_decode(part, float_encode(part, large) + 1) - large;
    double x = fabs(float_load(part, a) - float_load(part, b));
    double y = fabs(float_load(part, a + width) - float_load(part, b + width)), worst = x > y ? x : y;
    double units = ceil(worst / unit);
    return units < 0x1p62 ? (uint64_t)units : UINT64_MAX; /* NaN too */
}

static uint64_t ulps_between(enum dtype t, const char *a, const char *b)
{
    return dtype_is_complex(t) ? complex_ulps_apart(dtype_component(t), a, b) : ulps_apart(t, a, b);
}

static bool has_bounds(const struct hlo_tolerance *t)
{
    return t->abs > 0 || t->rel > 0 || t->ulp > 0;
}

/* Equal as numbers, NaN with NaN. */
static bool floats_equal(const struct hlo_tolerance *t, enum dtype type, const char *a, const char *b)
{
    double x = float_load(type, a), y = float_load(type, b);
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y);
    return x == y && (!t->zeros || has_bounds(t) || signbit(x) == signbit(y));
}

/* The error of an element, its real and imaginary part taken together; NaN when it is not finite. */
static double error_of(enum dtype part, size_t parts, const char *a, const char *b, double *size)
{
    size_t width = dtype_bytes(part);
    double error = 0, s = 0;
    for (size_t i = 0; i < parts; i++) {
        double x = float_load(part, a + i * width), y = float_load(part, b + i * width);
        error = hypot(error, x - y);
        s = hypot(s, y);
        if (!isfinite(x) || !isfinite(y))
            error = NAN;
    }
    *size = s;
    return error;
}

/* The worst of each measure; the place is that of the worst absolute error. */
static void note_worst(struct comparison *c, double error, double size, uint64_t ulps, int64_t at)
{
    if (error > c->worst_abs) {
        c->worst_abs = error;
        c->worst_at = at;
    }
    if (error > 0)
        c->worst_rel = fmax(c->worst_rel, error / size); /* inf beside zero */
    c->worst_ulp = ulps > c->worst_ulp ? ulps : c->worst_ulp;
}

/* One number of real type, or both parts of a finite complex one taken together. */
static bool number_agrees(struct comparison *c, enum dtype t, const char *a, const char *b, int64_t at)
{
    const struct hlo_tolerance *bound = c->t;
    enum dtype part = dtype_component(t);
    size_t width = dtype_bytes(part), parts = dtype_bytes(t) / width;
    bool equal = true;
    for (size_t i = 0; i < parts; i++)
        equal = equal && floats_equal(bound, part, a + i * width, b + i * width);
    double size, error = error_of(part, parts, a, b, &size);
    if (isnan(error) && parts == 2) /* not finite: each part for itself */
        return number_agrees(c, part, a, b, at) && number_agrees(c, part, a + width, b + width, at);
    if (isnan(error))
        return equal;
    uint64_t ulps = ulps_between(t, a, b);
    note_worst(c, error, size, ulps, at);
    if (equal || !has_bounds(bound))
        return equal;
    return error <= bound->abs + bound->rel * size || (bound->ulp > 0 && ulps <= (uint64_t)bound->ulp);
}

static void compare_elements(struct comparison *c, const char *a, const char *b, int64_t elements)
{
    size_t width = dtype_bytes(c->dtype);
    bool floats = dtype_is_float(c->dtype) || dtype_is_complex(c->dtype);
    for (int64_t i = 0; i < elements; i++, a += width, b += width) {
        if (memcmp(a, b, width) == 0)
            continue;
        if (floats && !c->t->bits && number_agrees(c, c->dtype, a, b, i))
            continue;
        if (c->differing++ == 0)
            c->first = i;
    }
}

/* ---- saying it ---- */

static void describe(struct buf *out, const struct comparison *c, const struct literal *a,
                     const struct literal *b, int64_t elements)
{
    size_t width = dtype_bytes(c->dtype), at = (size_t)c->first * width;
    buf_puts(out, "element ");
    look_put_index(out, a->shape, c->first);
    buf_puts(out, " is ");
    text_print_element(out, c->dtype, (char *)a->data + at);
    if (c->t->bits)
        look_put_bits(out, c->dtype, (char *)a->data + at);
    buf_puts(out, ", expected ");
    text_print_element(out, c->dtype, (char *)b->data + at);
    if (c->t->bits)
        look_put_bits(out, c->dtype, (char *)b->data + at);
    buf_printf(out, "; %" PRId64 " of %" PRId64 " differ", c->differing, elements);
    if (c->worst_abs > 0) {
        buf_puts(out, "; worst errors: abs ");
        buf_g(out, c->worst_abs, 3);
        buf_puts(out, " at ");
        look_put_index(out, a->shape, c->worst_at);
        buf_puts(out, ", rel ");
        if (isinf(c->worst_rel))
            buf_puts(out, "inf");
        else
            buf_g(out, c->worst_rel, 3);
        buf_printf(out, ", %" PRIu64 " ulp", c->worst_ulp);
    }
}

static bool compare_array(const struct literal *a, const struct literal *b, const struct hlo_tolerance *t,
                          struct buf *why)
{
    int64_t elements = 0;
    shape_elements(a->shape, &elements);
    struct comparison c = {.t = t, .dtype = a->shape->dtype, .first = -1};
    compare_elements(&c, a->data, b->data, elements);
    if (c.differing > 0)
        describe(why, &c, a, b, elements);
    return c.differing == 0;
}

static bool compare_tuple(const struct literal *a, const struct literal *b, const struct hlo_tolerance *t,
                          struct buf *why)
{
    for (int i = 0; i < a->shape->count; i++) {
        struct buf inner = {0};
        bool same = look_compare(a->elements[i], b->elements[i], t, &inner);
        if (!same)
            buf_printf(why, "component %d: " STR_FMT, i, STR_ARG(buf_view(&inner)));
        buf_free(&inner);
        if (!same)
            return false;
    }
    return true;
}

bool look_compare(const struct literal *actual, const struct literal *expected, const struct hlo_tolerance *t,
                struct buf *why)
{
    const struct shape *a = actual->shape, *b = expected->shape;
    if (!shape_equal(a, b, IGNORE_LAYOUT | IGNORE_DYNAMIC)) {
        buf_puts(why, "shape is ");
        shape_print(why, a, false);
        buf_puts(why, ", expected ");
        shape_print(why, b, false);
        return false;
    }
    if (shape_is_tuple(a))
        return compare_tuple(actual, expected, t, why);
    return !shape_is_array(a) || compare_array(actual, expected, t, why);
}
