/*
 * Comparison of two values within a tolerance: the first and the largest difference, and error
 * statistics.
 */
#include "look/look.h"

#include "base/table.h"
#include "text/text.h"

#include <math.h>
#include <stdlib.h>

struct comparison {
    const struct hlo_tolerance *t;
    struct hlo_tolerance of_leaf; /* with the usual error of its type, if that is allowed */
    enum dtype dtype;
    struct hlo_difference *d;
    size_t leaf;
    /* The first element outside the tolerance, and that with the largest absolute error; -1:
     * none. */
    int64_t first, worst_at;
};
struct difference {  /* the difference of two elements */
    double abs, rel; /* NaN if either element is not finite */
    uint64_t ulp;
};

/* ---- one element ---- */

static uint64_t load_bits(const char *p, size_t width)
{
    uint64_t v = 0;
    memcpy(&v, p, width);
    return v;
}

/* The rank of the float at `p` in the order of values of its type: 0 for both zeros, positive
 * above, negative below. */
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

/* The distance in ulps of the larger part: cancellation makes the smaller part of complex products
 * and sums inaccurate. UINT64_MAX if a part is not finite. */
static uint64_t complex_ulps_apart(enum dtype part, const char *a, const char *b)
{
    size_t width = dtype_bytes(part);
    double re = fabs(float_load(part, b)), im = fabs(float_load(part, b + width)),
           large = re > im ? re : im;
    double unit = float_decode(part, float_encode(part, large) + 1) - large;
    double x = fabs(float_load(part, a) - float_load(part, b));
    double y = fabs(float_load(part, a + width) - float_load(part, b + width)),
           worst = x > y ? x : y;
    double units = ceil(worst / unit);
    return units < 0x1p62 ? (uint64_t)units : UINT64_MAX; /* also for NaN */
}

static uint64_t ulps_between(enum dtype t, const char *a, const char *b)
{
    return dtype_is_complex(t) ? complex_ulps_apart(dtype_component(t), a, b) : ulps_apart(t, a, b);
}

static bool has_bounds(const struct hlo_tolerance *t)
{
    return t->abs > 0 || t->rel > 0 || t->ulp > 0;
}

/* Numeric equality; NaN equals NaN. */
static bool floats_equal(const struct hlo_tolerance *t, enum dtype type, const char *a,
                         const char *b)
{
    double x = float_load(type, a), y = float_load(type, b);
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y);
    return x == y && (!t->zeros || has_bounds(t) || signbit(x) == signbit(y));
}

/* The error of an element, of both parts of a complex one combined; NaN if it is not finite. */
static double error_of(enum dtype part, size_t parts, const char *a, const char *b, double *size)
{
    size_t width = dtype_bytes(part);
    double error = 0, s = 0;
    for (size_t i = 0; i < parts; i++) {
        double x = float_load(part, a + i * width), y = float_load(part, b + i * width);
        error = parts > 1 ? hypot(error, x - y) : fabs(x - y);
        s = parts > 1 ? hypot(s, y) : fabs(y);
        if (!isfinite(x) || !isfinite(y))
            error = NAN;
    }
    *size = s;
    return error;
}

/* Compares a number of real type, or both parts of a finite complex one combined. */
static bool number_agrees(struct comparison *c, enum dtype t, const char *a, const char *b,
                          struct difference *out)
{
    const struct hlo_tolerance *bound = &c->of_leaf;
    enum dtype part = dtype_component(t);
    size_t width = dtype_bytes(part), parts = dtype_bytes(t) / width;
    bool equal = true;
    for (size_t i = 0; i < parts; i++)
        equal = equal && floats_equal(bound, part, a + i * width, b + i * width);
    double size, error = error_of(part, parts, a, b, &size);
    *out = (struct difference){NAN, NAN, UINT64_MAX};
    if (isnan(error) && parts == 2) { /* not finite: compare the parts separately */
        struct difference re, im;
        return number_agrees(c, part, a, b, &re) &&
               number_agrees(c, part, a + width, b + width, &im);
    }
    if (isnan(error))
        return equal;
    *out = (struct difference){error, error > 0 ? error / size : 0,
                               ulps_between(t, a, b)}; /* infinite relative to zero */
    if (equal || !has_bounds(bound))
        return equal;
    return error <= bound->abs + bound->rel * size ||
           (bound->ulp > 0 && out->ulp <= (uint64_t)bound->ulp);
}

/* Two integers: the error in ulps is their distance. */
static void integers_apart(enum dtype t, const char *a, const char *b, struct difference *out)
{
    unsigned unused = 64 - 8 * (unsigned)dtype_bytes(t);
    uint64_t x = load_bits(a, dtype_bytes(t)), y = load_bits(b, dtype_bytes(t));
    if (dtype_is_signed(t)) { /* mapped to unsigned, order-preserving */
        x = (uint64_t)((int64_t)(x << unused) >> unused) ^ UINT64_C(1) << 63;
        y = (uint64_t)((int64_t)(y << unused) >> unused) ^ UINT64_C(1) << 63;
    }
    out->ulp = x > y ? x - y : y - x;
    out->abs = (double)out->ulp;
    out->rel = out->abs / fabs(look_number(t, b));
}

/* ---- statistics over all elements ---- */

/* The histogram of relative errors; ZERO_DECADE counts errors up to 10^0. */
enum { DECADES = COUNT_OF(((struct hlo_difference *)0)->decades), ZERO_DECADE = DECADES - 2 };

static void count_decade(struct hlo_difference *d, double rel)
{
    int k = 0;
    if (!(rel <= 1)) { /* also for NaN */
        k = DECADES - 1;
    } else if (rel > 0) {
        k = ZERO_DECADE + (int)ceil(log10(rel));
        k = k < 1 ? 1 : k;
    }
    d->decades[k]++;
}

/* NaN (an operand is not finite) exceeds any error. */
static double badness(double abs) { return isnan(abs) ? INFINITY : abs; }

static void note_worst(struct comparison *c, const char *a, const char *b,
                       const struct difference *e, int64_t at)
{
    struct hlo_difference *d = c->d;
    size_t max = COUNT_OF(d->worst), i = d->worst_count;
    if (i == max && badness(e->abs) <= badness(d->worst[max - 1].abs))
        return;
    i -= i == max;
    for (; i > 0 && badness(e->abs) > badness(d->worst[i - 1].abs); i--)
        d->worst[i] = d->worst[i - 1];
    d->worst[i] = (struct hlo_differing){.leaf = c->leaf,
                                         .index = at,
                                         .actual = look_number(c->dtype, a),
                                         .expected = look_number(c->dtype, b),
                                         .abs = e->abs,
                                         .rel = e->rel,
                                         .ulp = e->ulp};
    d->worst_count += d->worst_count < max;
}

static void compare_element(struct comparison *c, const char *a, const char *b, int64_t at)
{
    struct hlo_difference *d = c->d;
    bool floats = dtype_is_float(c->dtype) || dtype_is_complex(c->dtype), agrees;
    struct difference e;
    if (floats) {
        agrees = number_agrees(c, c->dtype, a, b, &e) && !c->t->bits;
    } else {
        agrees = false;
        integers_apart(c->dtype, a, b, &e);
    }
    if (agrees && isnan(e.abs)) /* equal infinities, or both NaN */
        e = (struct difference){0};
    count_decade(d, e.rel);
    if (e.abs > d->worst_abs) {
        d->worst_abs = e.abs;
        c->worst_at = at;
    }
    if (e.rel > d->worst_rel)
        d->worst_rel = e.rel;
    if (!isnan(e.abs) && e.ulp > d->worst_ulp)
        d->worst_ulp = e.ulp;
    if (agrees)
        return;
    d->not_finite += isnan(e.abs) ? 1 : 0;
    if (c->first < 0)
        c->first = at;
    d->outside++;
    note_worst(c, a, b, &e, at);
}

/* Most elements are bitwise equal, so blocks are compared bytewise first. */
static void compare_elements(struct comparison *c, const char *a, const char *b, int64_t elements)
{
    enum { INTERVAL = 64 };
    size_t width = dtype_bytes(c->dtype);
    c->d->elements += (uint64_t)elements;
    for (int64_t i = 0; i < elements; i += INTERVAL) {
        int64_t end = elements - i < INTERVAL ? elements : i + INTERVAL;
        if (memcmp(a + (size_t)i * width, b + (size_t)i * width, (size_t)(end - i) * width) == 0) {
            c->d->decades[0] += (uint64_t)(end - i);
            continue;
        }
        for (int64_t k = i; k < end; k++)
            if (memcmp(a + (size_t)k * width, b + (size_t)k * width, width) == 0)
                c->d->decades[0]++;
            else
                compare_element(c, a + (size_t)k * width, b + (size_t)k * width, k);
    }
}

double look_usual_error(enum dtype t)
{
    switch (dtype_component(t)) {
    case DT_F64: return 1e-6;
    case DT_F32: return 1e-4;
    case DT_F16: return 1e-2;
    case DT_BF16: return 3e-2;
    default: return 0.3;
    }
}

static void allow_usual_error(struct hlo_tolerance *t, const struct literal *expected)
{
    const struct hlo_stats s = look_stats(expected);
    const double error = look_usual_error(expected->shape->dtype), low = fabs(s.min),
                 high = fabs(s.max);
    t->rel += error;
    if (s.finite > 0)
        t->abs += error * (low > high ? low : high);
}

static void compare_leaf(struct comparison *c, const struct literal *a, const struct literal *b)
{
    c->of_leaf = *c->t;
    if (c->t->usual && (dtype_is_float(a->shape->dtype) || dtype_is_complex(a->shape->dtype)))
        allow_usual_error(&c->of_leaf, b);
    int64_t elements = 0;
    shape_elements(a->shape, &elements);
    c->dtype = a->shape->dtype;
    c->first = c->worst_at = -1;
    compare_elements(c, a->data, b->data, elements);
}

static void compare_leaves(struct comparison *c, const struct literal *a, const struct literal *b)
{
    for (int i = 0; shape_is_tuple(a->shape) && i < a->shape->count; i++)
        compare_leaves(c, a->elements[i], b->elements[i]);
    if (shape_is_array(a->shape))
        compare_leaf(c, a, b);
    c->leaf += !shape_is_tuple(a->shape);
}

static bool same_shape(const struct literal *a, const struct literal *b)
{
    return shape_equal(a->shape, b->shape, IGNORE_LAYOUT | IGNORE_DYNAMIC);
}

void look_difference(const struct literal *actual, const struct literal *expected,
                     const struct hlo_tolerance *t, struct hlo_difference *out)
{
    struct comparison c = {.t = t, .d = out};
    *out = (struct hlo_difference){.comparable = same_shape(actual, expected)};
    if (out->comparable)
        compare_leaves(&c, actual, expected);
}

/* A distance in ulps: in scientific form if it has more than ten digits. */
static void put_ulps(struct buf *out, uint64_t ulp)
{
    if (ulp < UINT64_C(10000000000))
        buf_printf(out, "%" PRIu64, ulp);
    else
        buf_g(out, (double)ulp, 3);
}

/* Appends the greatest errors, with the index of the greatest absolute one if SHAPE is given. */
static void put_worst_errors(struct buf *out, const struct hlo_difference *d,
                             const struct shape *shape, int64_t at)
{
    buf_puts(out, "; worst errors: abs ");
    buf_g(out, d->worst_abs, 3);
    if (shape) {
        buf_puts(out, " at ");
        look_put_index(out, shape, at);
    }
    buf_puts(out, ", rel ");
    buf_g(out, d->worst_rel, 3);
    buf_puts(out, ", ");
    put_ulps(out, d->worst_ulp);
    buf_puts(out, " ulp");
}

static void put_not_finite(struct buf *out, const struct hlo_difference *d)
{
    if (d->not_finite > 0)
        buf_printf(out, ", %" PRIu64 " of them not finite on one side", d->not_finite);
}

static void put_shapes(struct buf *out, const struct literal *actual,
                       const struct literal *expected)
{
    buf_puts(out, "shape is ");
    shape_print(out, actual->shape, false);
    buf_puts(out, ", expected ");
    shape_print(out, expected->shape, false);
}

/* ---- as one line ---- */

static void describe(struct buf *out, const struct comparison *c, const struct literal *a,
                     const struct literal *b)
{
    size_t at = (size_t)c->first * dtype_bytes(c->dtype);
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
    buf_printf(out, "; %" PRIu64 " of %" PRIu64 " differ", c->d->outside, c->d->elements);
    put_not_finite(out, c->d);
    if (c->d->worst_abs > 0 && (dtype_is_float(c->dtype) || dtype_is_complex(c->dtype)))
        put_worst_errors(out, c->d, a->shape, c->worst_at);
}

bool look_compare(const struct literal *actual, const struct literal *expected,
                  const struct hlo_tolerance *t, struct buf *why)
{
    struct hlo_difference d = {0};
    struct comparison c = {.t = t, .d = &d};
    if (!same_shape(actual, expected)) {
        put_shapes(why, actual, expected);
        return false;
    }
    for (int i = 0; shape_is_tuple(actual->shape) && i < actual->shape->count; i++) {
        size_t before = why->size;
        buf_printf(why, "tuple element %d: ", i);
        if (!look_compare(actual->elements[i], expected->elements[i], t, why))
            return false;
        why->size = before;
    }
    if (shape_is_array(actual->shape))
        compare_leaf(&c, actual, expected);
    if (d.outside > 0)
        describe(why, &c, actual, expected);
    return d.outside == 0;
}

/* ---- as several lines ---- */

static const struct literal *leaf_at(const struct literal *l, size_t *i)
{
    const struct literal *found = NULL;
    if (!shape_is_tuple(l->shape))
        return (*i)-- == 0 ? l : NULL;
    for (int k = 0; k < l->shape->count && !found; k++)
        found = leaf_at(l->elements[k], i);
    return found;
}

static void add_differing(struct table *t, const struct hlo_differing *w, const struct literal *a,
                          const struct literal *b)
{
    size_t i = w->leaf, k = w->leaf;
    bool tuple = shape_is_tuple(a->shape);
    const struct literal *x = leaf_at(a, &i), *y = leaf_at(b, &k);
    size_t at = (size_t)w->index * dtype_bytes(x->shape->dtype);
    if (tuple)
        buf_printf(&t->text, "leaf %zu ", w->leaf);
    look_put_index(&t->text, x->shape, w->index);
    table_next(t);
    text_print_element(&t->text, y->shape->dtype, (const char *)y->data + at);
    table_next(t);
    text_print_element(&t->text, x->shape->dtype, (const char *)x->data + at);
    table_next(t);
    buf_g(&t->text, w->abs, 3);
    table_next(t);
    buf_g(&t->text, w->rel, 3);
    table_next(t);
    if (w->ulp == UINT64_MAX)
        buf_putc(&t->text, '-');
    else
        put_ulps(&t->text, w->ulp);
    table_next(t);
}

static void put_worst(struct buf *out, const struct hlo_difference *d, const struct literal *a,
                      const struct literal *b, const char *const names[2])
{
    const struct table_column columns[] = {
        {"element", true},
        {names ? names[1] : "expected", true},
        {names ? names[0] : "actual", true},
        {"abs", true},
        {"rel", true},
        {"ulp", true},
    };
    struct table t = TABLE(columns);
    for (size_t i = 0; i < d->worst_count; i++)
        add_differing(&t, &d->worst[i], a, b);
    table_put(out, &t);
}

static void put_decades(struct buf *out, const struct hlo_difference *d)
{
    enum { BAR = 40 };
    int first = DECADES, last = 0;
    for (int k = 1; k < DECADES; k++)
        if (d->decades[k] > 0) {
            first = k < first ? k : first;
            last = k;
        }
    uint64_t max = d->decades[0];
    for (int k = first; k <= last; k++)
        max = d->decades[k] > max ? d->decades[k] : max;
    buf_puts(out, "relative error      elements\n");
    for (int k = d->decades[0] > 0 ? 0 : first; k <= last; k = k == 0 ? first : k + 1) {
        if (k == 0)
            buf_puts(out, "  none        ");
        else if (k == DECADES - 1)
            buf_puts(out, "  more        ");
        else
            buf_printf(out, "  up to 1e%-4d", k - ZERO_DECADE);
        buf_printf(out, "%14" PRIu64 "  ", d->decades[k]);
        size_t length = (size_t)((double)d->decades[k] / (double)max * BAR + 0.5);
        for (size_t i = d->decades[k] > 0 && length == 0 ? 0 : 1; i <= length; i++)
            buf_putc(out, '#');
        while (out->data[out->size - 1] == ' ')
            out->size--;
        buf_putc(out, '\n');
    }
}

void look_put_difference_table(struct buf *out, const struct hlo_difference *d,
                               const struct literal *a, const struct literal *b,
                               const char *const names[2])
{
    if (d->worst_count > 0)
        put_worst(out, d, a, b, names);
    if (d->outside > 0)
        put_decades(out, d);
}

void look_put_difference(struct buf *out, const struct hlo_difference *d, const struct literal *a,
                         const struct literal *b, const char *const names[2])
{
    if (!d->comparable) {
        put_shapes(out, a, b);
        buf_putc(out, '\n');
        return;
    }
    buf_printf(out, "%" PRIu64 " of %" PRIu64 " elements differ", d->outside, d->elements);
    put_not_finite(out, d);
    if (d->worst_abs > 0)
        put_worst_errors(out, d, NULL, 0);
    buf_putc(out, '\n');
    look_put_difference_table(out, d, a, b, names);
}

/* ---- as JSON ---- */

enum { DIGITS = 17 };

static void put_differing_json(struct buf *out, const struct hlo_differing *w)
{
    buf_json_open(out, NULL, '{');
    buf_json_count(out, "leaf", w->leaf);
    buf_json_int(out, "index", w->index);
    buf_json_real(out, "actual", w->actual, DIGITS);
    buf_json_real(out, "expected", w->expected, DIGITS);
    buf_json_real(out, "abs", w->abs, DIGITS);
    buf_json_real(out, "rel", w->rel, DIGITS);
    if (w->ulp != UINT64_MAX)
        buf_json_count(out, "ulp", w->ulp);
    buf_putc(out, '}');
}

void look_put_difference_json(struct buf *out, const struct hlo_difference *d)
{
    buf_putc(out, '{');
    buf_json_bool(out, "comparable", d->comparable);
    buf_json_count(out, "elements", d->elements);
    buf_json_count(out, "outside", d->outside);
    buf_json_count(out, "not_finite", d->not_finite);
    buf_json_real(out, "worst_abs", d->worst_abs, DIGITS);
    buf_json_real(out, "worst_rel", d->worst_rel, DIGITS);
    buf_json_count(out, "worst_ulp", d->worst_ulp);
    buf_json_open(out, "worst", '[');
    for (size_t i = 0; i < d->worst_count; i++)
        put_differing_json(out, &d->worst[i]);
    buf_putc(out, ']');
    buf_json_open(out, "decades", '[');
    for (int k = 0; k < DECADES; k++)
        buf_json_count(out, NULL, d->decades[k]);
    buf_puts(out, "]}");
}
