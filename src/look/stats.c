/*
 * Statistics of a value: numbers of finite elements, NaN, zeros ..., minimum, maximum, mean and
 * standard deviation.
 *
 * Elements are processed in blocks that fit into the cache, in two passes: first the counts and the
 * sum, then the squared differences from the mean of the block. Blocks are combined by the formula
 * of Chan, Golub and LeVeque, in the order of the elements, so that results are reproducible.
 */
#include "look/look.h"

#include <math.h>

enum { BLOCK = 1024, LANES = 8 };

struct tally { /* of one block */
    size_t finite, nan, positive, zero, denormal;
    double min, max;
};
struct rendezvous_state {
    struct hlo_stats s;
    /* Over finite elements, times `scale`; squares: sum of squared differences from the mean. */
    double mean, squares;
    double scale;     /* below 1 after squares overflowed */
    uint64_t counted; /* number of elements in mean and squares */
};

static double sum_lanes(const double *lane)
{
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* Adds a block. False on overflow, with nothing added. */
static bool take_moments(struct rendezvous_state *g, size_t n, double mean, double squares)
{
    double before = (double)g->counted, more = (double)n, all = before + more,
           apart = mean - g->mean;
    double both = g->squares + squares + apart * apart * (before * more / all),
           middle = g->mean + apart * (more / all);
    if (!isfinite(both) || !isfinite(middle))
        return false;
    g->squares = both;
    g->mean = middle;
    g->counted += n;
    return true;
}

/* Scales down so far that no square can overflow; small numbers that underflow are
 * insignificant. */
static void scale_down(struct rendezvous_state *g)
{
    g->scale = 0x1p-600;
    g->mean *= g->scale;
    g->squares = g->squares * g->scale * g->scale;
}

static void take_tally(struct rendezvous_state *g, size_t n, const struct tally *t)
{
    struct hlo_stats *s = &g->s;
    /* Normalizes -0. */
    if (t->finite > 0 && (s->finite == 0 || t->min < s->min))
        s->min = t->min + 0.0;
    if (t->finite > 0 && (s->finite == 0 || t->max > s->max))
        s->max = t->max + 0.0;
    s->elements += n;
    s->finite += t->finite;
    s->nan += t->nan;
    s->positive_inf += t->positive;
    s->negative_inf += n - t->finite - t->nan - t->positive;
    s->zero += t->zero;
    s->denormal += t->denormal;
}

#define FLOAT float
#define SIGNED int32_t
#define UNSIGNED uint32_t
#define EXPONENT INT32_C(0x7f800000)
#define NAME(x) single_##x
#include "look/stats_block.inc"
#undef FLOAT
#undef SIGNED
#undef UNSIGNED
#undef EXPONENT
#undef NAME

#define FLOAT double
#define SIGNED int64_t
#define UNSIGNED uint64_t
#define EXPONENT INT64_C(0x7ff0000000000000)
#define NAME(x) double_##x
#include "look/stats_block.inc"

/* ---- blocks of each type ---- */

static void load_single(enum dtype t, const char *p, size_t n, struct single_block *b)
{
    uint16_t half[BLOCK];
    if (t == DT_F32) {
        memcpy(b->at.f, p, n * sizeof(float));
        return;
    }
    memcpy(half, p, n * sizeof *half);
    if (t == DT_BF16)
        for (size_t i = 0; i < n; i++)
            b->at.f[i] = bf16_to_f32(half[i]);
    else
        for (size_t i = 0; i < n; i++)
            b->at.f[i] = f16_to_f32(half[i]);
}

static void singles(struct rendezvous_state *g, enum dtype t, const char *p, size_t elements)
{
    struct single_block b;
    int32_t normal = t == DT_F16 ? INT32_C(0x38800000) : INT32_C(0x00800000);
    for (size_t i = 0; i < elements; i += BLOCK) {
        size_t n = elements - i < BLOCK ? elements - i : BLOCK;
        load_single(t, p + i * dtype_bytes(t), n, &b);
        single_take(g, &b, n, normal);
    }
}

/* The code, as a double, of the smallest normal number of a type; 0 if it has no denormals. */
static int64_t smallest_normal(enum dtype t)
{
    union {
        double f;
        int64_t code;
    } v = {0};
    const struct float_format *f = dtype_is_float(t) ? float_format(t) : NULL;
    if (f && f->mantissa_bits > 0)
        v.f = ldexp(1, 1 - f->bias);
    return v.code;
}

static void doubles(struct rendezvous_state *g, enum dtype t, const char *p, size_t elements)
{
    struct double_block b;
    int64_t normal = smallest_normal(t);
    for (size_t i = 0; i < elements; i += BLOCK) {
        size_t n = elements - i < BLOCK ? elements - i : BLOCK;
        look_numbers(t, p + i * dtype_bytes(t), n, b.at.f);
        double_take(g, &b, n, normal);
    }
}

static void gather(struct rendezvous_state *g, const struct literal *l)
{
    enum dtype t = l->shape->dtype;
    int64_t elements = 0;
    for (int i = 0; shape_is_tuple(l->shape) && i < l->shape->count; i++)
        gather(g, l->elements[i]);
    if (!shape_is_array(l->shape) || !shape_elements(l->shape, &elements))
        return;
    if (t == DT_F32 || t == DT_BF16 || t == DT_F16)
        singles(g, t, l->data, (size_t)elements);
    else
        doubles(g, t, l->data, (size_t)elements);
}

struct hlo_stats look_stats(const struct literal *l)
{
    struct rendezvous_state g = {.s = {.first_nan = -1, .first_inf = -1}, .scale = 1};
    gather(&g, l);
    if (g.counted > 0) {
        g.s.mean = g.mean / g.scale;
        g.s.deviation = sqrt(g.squares / (double)g.counted) / g.scale;
    } else {
        g.s.min = g.s.max = g.s.mean = g.s.deviation = NAN;
    }
    return g.s;
}

/* ---- as text ---- */

enum { FEW_DIGITS = 4, INTEGER_DIGITS = 17 };

/* Whether values of the type may be NaN or infinite. */
static bool may_be_special(enum dtype t) { return !(dtype_is_integer(t) || t == DT_PRED); }

void look_put_stats(struct buf *out, enum dtype t, const struct hlo_stats *s)
{
    int digits = may_be_special(t) ? FEW_DIGITS : INTEGER_DIGITS;
    if (s->elements == 0) {
        buf_puts(out, "empty");
        return;
    }
    if (s->elements > 1 && !dtype_is_complex(t) &&
        (s->nan == s->elements || (s->finite == s->elements && s->min == s->max))) {
        buf_puts(out, "all elements ");
        buf_g(out, s->min, digits);
        return;
    }
    buf_puts(out, "min ");
    buf_g(out, s->min, digits);
    buf_puts(out, " max ");
    buf_g(out, s->max, digits);
    buf_puts(out, " mean ");
    buf_g(out, s->mean, FEW_DIGITS);
    if (may_be_special(t))
        buf_printf(out, " nan %" PRIu64 " inf %" PRIu64, s->nan, s->positive_inf + s->negative_inf);
}

void look_put_summary(struct buf *out, const struct literal *l)
{
    const struct shape *s = l->shape;
    int64_t elements = 0;
    shape_print(out, s, false);
    if (!shape_is_array(s) && shape_leaf_count(s) == 0)
        return; /* an empty tuple has no statistics */
    if (shape_is_token(s))
        return;
    buf_putc(out, ' ');
    if (shape_is_array(s) && shape_elements(s, &elements) && elements == 1) {
        look_put_element(out, s->dtype, l->data, &(struct hlo_view){0});
    } else {
        struct hlo_stats stats = look_stats(l);
        look_put_stats(out, s->dtype, &stats);
    }
}

void look_put_stats_json(struct buf *out, const struct hlo_stats *s)
{
    buf_putc(out, '{');
    buf_json_count(out, "elements", s->elements);
    buf_json_count(out, "finite", s->finite);
    buf_json_count(out, "nan", s->nan);
    buf_json_count(out, "positive_inf", s->positive_inf);
    buf_json_count(out, "negative_inf", s->negative_inf);
    buf_json_count(out, "zero", s->zero);
    buf_json_count(out, "denormal", s->denormal);
    buf_json_real(out, "min", s->min, INTEGER_DIGITS);
    buf_json_real(out, "max", s->max, INTEGER_DIGITS);
    buf_json_real(out, "mean", s->mean, INTEGER_DIGITS);
    buf_json_real(out, "deviation", s->deviation, INTEGER_DIGITS);
    buf_json_int(out, "first_nan", s->first_nan);
    buf_json_int(out, "first_inf", s->first_inf);
    buf_putc(out, '}');
}
