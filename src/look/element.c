/*
 * Conversion of an element to a number, and printing of numbers, bits and indices.
 */
#include "look/look.h"

#include <math.h>

/* In double, squares of floats neither overflow nor lose significant bits, and hypot is slow. */
static void from_c64(const char *p, size_t count, double *to)
{
    for (size_t i = 0; i < count; i++) {
        struct c64 v;
        memcpy(&v, p + i * sizeof v, sizeof v);
        double re = (double)v.re, im = (double)v.im;
        to[i] = isnan(v.re) || isnan(v.im) ? NAN : sqrt(re * re + im * im);
    }
}

static void from_c128(const char *p, size_t count, double *to)
{
    for (size_t i = 0; i < count; i++) {
        struct c128 v;
        memcpy(&v, p + i * sizeof v, sizeof v);
        to[i] = isnan(v.re) || isnan(v.im) ? NAN : hypot(v.re, v.im);
    }
}

double look_number(enum dtype t, const void *p)
{
    double v;
    look_numbers(t, p, 1, &v);
    return v;
}

#define NUMBERS(T)                                                                                 \
    static void from_##T(const char *p, size_t count, double *to)                                  \
    {                                                                                              \
        for (size_t i = 0; i < count; i++) {                                                       \
            T v;                                                                                   \
            memcpy(&v, p + i * sizeof v, sizeof v);                                                \
            to[i] = (double)v;                                                                     \
        }                                                                                          \
    }
NUMBERS(int8_t)
NUMBERS(int16_t)
NUMBERS(int32_t)
NUMBERS(int64_t)
NUMBERS(uint8_t)
NUMBERS(uint16_t)
NUMBERS(uint32_t)
NUMBERS(uint64_t)
NUMBERS(float)

static void from_half(enum dtype t, const char *p, size_t count, double *to)
{
    for (size_t i = 0; i < count; i++) {
        uint16_t code;
        memcpy(&code, p + i * sizeof code, sizeof code);
        to[i] = (double)(t == DT_BF16 ? bf16_to_f32(code) : f16_to_f32(code));
    }
}

/* One-byte types have few values: long rows use a lookup table. */
static void narrow_floats(enum dtype t, const unsigned char *from, size_t count, double *to)
{
    double values[256];
    for (unsigned code = 0; code < COUNT_OF(values); code++)
        values[code] = float_decode(t, code);
    for (size_t i = 0; i < count; i++)
        to[i] = values[from[i]];
}

static void floats(enum dtype t, const char *from, size_t count, double *to)
{
    size_t width = dtype_bytes(t);
    if (t == DT_F64)
        memcpy(to, from, count * sizeof *to);
    else if (t == DT_F32)
        from_float(from, count, to);
    else if (width == 2)
        from_half(t, from, count, to);
    else if (width == 1 && count > 256)
        narrow_floats(t, (const unsigned char *)from, count, to);
    else
        for (size_t i = 0; i < count; i++)
            to[i] = float_load(t, from + i * width);
}

static void integers(enum dtype t, const char *p, size_t count, double *to)
{
    bool negative = dtype_is_signed(t);
    switch (dtype_bytes(t)) {
    case 1: (negative ? from_int8_t : from_uint8_t)(p, count, to); break;
    case 2: (negative ? from_int16_t : from_uint16_t)(p, count, to); break;
    case 4: (negative ? from_int32_t : from_uint32_t)(p, count, to); break;
    default: (negative ? from_int64_t : from_uint64_t)(p, count, to); break;
    }
}

void look_numbers(enum dtype t, const void *from, size_t count, double *to)
{
    const char *p = from;
    if (t == DT_C64)
        from_c64(p, count, to);
    else if (t == DT_C128)
        from_c128(p, count, to);
    else if (dtype_is_float(t))
        floats(t, p, count, to);
    else
        integers(t, p, count, to);
}

void look_put_index(struct buf *out, const struct shape *s, int64_t at)
{
    int64_t rest = 1;
    for (int d = 0; d < s->rank; d++)
        rest *= s->dims[d];
    for (int d = 0; BUF_LIST(out, d, s->rank, "{}", ","); d++) {
        rest /= s->dims[d];
        buf_int(out, at / rest);
        at %= rest;
    }
}

void look_put_bits(struct buf *out, enum dtype t, const void *p)
{
    const unsigned char *bytes = p;
    buf_puts(out, " (0x");
    for (size_t i = dtype_bytes(t); i-- > 0;)
        buf_printf(out, "%02x", bytes[i]);
    buf_putc(out, ')');
}
