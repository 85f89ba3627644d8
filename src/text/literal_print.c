/*
 * literal_print.c: prints literals in XLA's format (grammar/text.md 5.10).
 */
#include "text/text_priv.h"

#include "base/base.h"

#include <math.h>

/* ---- one element ---- */

/* Prints `nan` or `-nan`, with the payload if it is not the default of the type. */
static void print_nan(struct buf *out, enum dtype t, uint64_t code)
{
    const struct float_format *f = float_format(t);
    unsigned width = f->exponent_bits + f->mantissa_bits;
    bool negative = f->specials == FS_FNUZ || (f->specials != FS_FNU && code >> width & 1);
    buf_puts(out, negative ? "-nan" : "nan");
    uint64_t payload = code & ((UINT64_C(1) << f->mantissa_bits) - 1);
    if (f->specials == FS_IEEE && payload != UINT64_C(1) << (f->mantissa_bits - 1))
        buf_printf(out, "(0x%" PRIx64 ")", payload);
}

static uint64_t load_code(const void *p, size_t bytes)
{
    uint8_t b;
    uint16_t h;
    uint32_t w;
    uint64_t d;
    switch (bytes) {
    case 1: memcpy(&b, p, 1); return b;
    case 2: memcpy(&h, p, 2); return h;
    case 4: memcpy(&w, p, 4); return w;
    default: memcpy(&d, p, 8); return d;
    }
}

/* Prints few digits if they read back as the same value, otherwise all. */
static void print_digits(struct buf *out, enum dtype t, double v)
{
    if (t != DT_F32 && t != DT_F64) {
        buf_g(out, v, float_format(t)->digits);
        return;
    }
    buf_reserve(out, NUM_EXACT_SIZE);
    out->size += num_format_exact(out->data + out->size, v, t == DT_F32);
    out->data[out->size] = '\0';
}

/* XLA reads its own `-0` as 0, but `-0.0`, which `exact` selects, as -0. */
static void print_float(struct buf *out, enum dtype t, const void *p, bool exact)
{
    double v = float_load(t, p);
    if (exact && v == 0 && signbit(v))
        buf_puts(out, "-0.0");
    else if (isfinite(v))
        print_digits(out, t, v);
    else if (isnan(v))
        print_nan(out, t, load_code(p, dtype_bytes(t)));
    else
        buf_puts(out, v < 0 ? "-inf" : "inf");
}

static void print_int(struct buf *out, enum dtype t, const void *p)
{
    uint64_t code = load_code(p, dtype_bytes(t));
    unsigned unused = 64 - 8 * (unsigned)dtype_bytes(t);
    if (dtype_is_signed(t))
        buf_int(out, (int64_t)(code << unused) >> unused);
    else
        buf_uint(out, code);
}

static void print_element(struct buf *out, enum dtype t, const void *p, bool exact)
{
    if (dtype_is_complex(t)) {
        enum dtype part = dtype_component(t);
        buf_putc(out, '(');
        print_float(out, part, p, exact);
        buf_puts(out, ", ");
        print_float(out, part, (const char *)p + dtype_bytes(part), exact);
        buf_putc(out, ')');
    } else if (dtype_is_float(t)) {
        print_float(out, t, p, exact);
    } else {
        print_int(out, t, p);
    }
}

void text_print_element(struct buf *out, enum dtype t, const void *p)
{
    print_element(out, t, p, false);
}

/* ---- arrays ---- */

struct array_print {
    struct buf *out;
    const struct shape *shape;
    const char *at; /* next element */
    bool exact;
};

static void print_row(struct array_print *w)
{
    int64_t n = w->shape->dims[w->shape->rank - 1];
    bool spaced = w->shape->rank > 1 && n > 1;
    buf_puts(w->out, spaced ? "{ " : "{");
    for (int64_t i = 0; i < n; i++) {
        if (i)
            buf_puts(w->out, ", ");
        print_element(w->out, w->shape->dtype, w->at, w->exact);
        w->at += dtype_bytes(w->shape->dtype);
    }
    buf_puts(w->out, spaced ? " }" : "}");
}

/* Prints dimension `d`, at `index` of the one outside. For ranks above 3, all levels but the
 * outermost and innermost have index comments: `{ / * i0=1 * / ...`, without the blanks. */
static void print_level(struct array_print *w, int d, int64_t index)
{
    const struct shape *s = w->shape;
    if (d == s->rank - 1) {
        print_row(w);
        return;
    }
    buf_puts(w->out, "{ ");
    if (d > 0 && s->rank > 3)
        buf_printf(w->out, s->dims[d] > 0 ? "/*i%d=%" PRId64 "*/ " : "/*i%d=%" PRId64 "*/", d - 1,
                   index);
    for (int64_t i = 0; i < s->dims[d]; i++) {
        if (i)
            buf_puts(w->out, ", ");
        print_level(w, d + 1, i);
    }
    buf_puts(w->out, " }");
}

static void print_array(struct buf *out, const struct literal *l, bool exact)
{
    struct array_print w = {out, l->shape, l->data, exact};
    if (l->shape->rank == 0 && l->shape->dtype == DT_PRED)
        buf_puts(out, *(const uint8_t *)l->data ? "true" : "false");
    else if (l->shape->rank == 0)
        print_element(out, l->shape->dtype, l->data, exact);
    else
        print_level(&w, 0, 0);
}

/* ---- literals ---- */

bool text_is_brief(const struct shape *s)
{
    enum { MOST_ROWS = 1000 };
    int d = 0;
    if (!shape_is_array(s) || dims_elements(s->rank, s->dims) > 0)
        return false;
    while (s->dims[d] != 0)
        d++;
    return dims_elements(d, s->dims) > MOST_ROWS;
}

static void print_literal(struct buf *out, const struct literal *l, bool with_shape, bool exact)
{
    if (shape_is_tuple(l->shape)) {
        buf_puts(out, "( ");
        for (int i = 0; i < l->shape->count; i++) {
            if (i)
                buf_puts(out, ", ");
            print_literal(out, l->elements[i], with_shape, exact);
        }
        buf_puts(out, " )");
        return;
    }
    if (with_shape) {
        shape_print(out, l->shape, true);
        buf_putc(out, ' ');
    }
    if (l->elided || text_is_brief(l->shape))
        buf_puts(out, "{...}");
    else if (shape_is_array(l->shape))
        print_array(out, l, exact);
    else
        buf_puts(out, "token");
}

void text_print_literal(struct buf *out, const struct literal *l)
{
    print_literal(out, l, false, false);
}

void text_print_literal_with_shape(struct buf *out, const struct literal *l)
{
    print_literal(out, l, true, false);
}

void text_print_literal_exact(struct buf *out, const struct literal *l)
{
    print_literal(out, l, false, true);
}
