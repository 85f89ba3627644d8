/*
 * format.c: double -> text as C's %g writes it, with a decimal point in any locale.
 *
 * Digits are computed in exact integer arithmetic if 128-bit integers exist and suffice, which is
 * nearly always the case, and by the C library otherwise.
 */
#include "base/base.h"
#include "base/wide.h"

#include <locale.h>
#include <stdio.h>

enum {
    DIGITS_MAX = 17,
    EXPONENT_OF_LAST = 1023 + 52 /* a double is an integer mantissa times 2^(exponent - this) */
};

#if HAS_U128
static const uint64_t tens[DIGITS_MAX + 2] = {1,
                                              10,
                                              100,
                                              1000,
                                              10000,
                                              100000,
                                              1000000,
                                              10000000,
                                              100000000,
                                              1000000000,
                                              10000000000,
                                              100000000000,
                                              1000000000000,
                                              10000000000000,
                                              100000000000000,
                                              1000000000000000,
                                              10000000000000000,
                                              100000000000000000,
                                              1000000000000000000};

/* Decomposes v = mantissa * 2^exponent; the mantissa is odd or 0. */
static uint64_t take_apart(double v, int *exponent)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    uint64_t mantissa = bits << 12 >> 12;
    int e = (int)(bits >> 52 & 0x7ff);
    mantissa |= e ? UINT64_C(1) << 52 : 0;
    int zeros = mantissa ? __builtin_ctzll(mantissa) : 0;
    *exponent = (e ? e : 1) - EXPONENT_OF_LAST + zeros;
    return mantissa >> zeros;
}

static int bit_length(uint64_t v) { return 64 - __builtin_clzll(v); }

/* 5^n for n <= 54. */
static u128 power_of_five(int n)
{
    u128 p = 1;
    uint64_t square = 5;
    if (n > 27) {
        p = 7450580596923828125u; /* 5^27 */
        n -= 27;
    }
    uint64_t low = 1;
    for (; n; n >>= 1, square *= square)
        low *= n & 1 ? square : 1;
    return p * low;
}

/* a / 2^shift, to nearest, ties to even. */
static uint64_t shift_rounded(u128 a, int shift)
{
    if (shift <= 0)
        return (uint64_t)(a << -shift);
    u128 rest = a & (((u128)1 << shift) - 1), half = (u128)1 << (shift - 1);
    uint64_t kept = (uint64_t)(a >> shift);
    return kept + (rest > half || (rest == half && (kept & 1)));
}

static uint64_t divide_rounded(u128 a, u128 b)
{
    u128 kept = a / b, rest = a % b, other = b - rest;
    return (uint64_t)kept + (rest > other || (rest == other && (kept & 1)));
}

/* Computes mantissa * 2^e * 10^p rounded to the nearest integer, which must fit 64 bits; false if
 * an intermediate result exceeds 128 bits. */
static bool scale(uint64_t mantissa, int e, int p, uint64_t *out)
{
    int bits = bit_length(mantissa);
    if (p >= 0) {
        if (p > 54 || bits + (p * 7 + 2) / 3 > 127 || e + p < -127)
            return false;
        *out = shift_rounded(mantissa * power_of_five(p), -(e + p));
        return true;
    }
    int q = -p, up = e - q;
    if (q > 27 || (up >= 0 ? bits + up > 127 : (q * 7 + 2) / 3 - up > 126))
        return false;
    u128 top = up >= 0 ? (u128)mantissa << up : mantissa, five = power_of_five(q);
    *out = divide_rounded(top, up >= 0 ? five : five << -up);
    return true;
}

/* The first `n` digits of v > 0 as an integer, and the power of ten of the first digit. */
static bool first_digits(double v, int n, uint64_t *digits, int *exponent)
{
    int e;
    uint64_t mantissa = take_apart(v, &e);
    int log2 = e + bit_length(mantissa) - 1;
    int x = (log2 * 1233) >> 12; /* floor(log2 * log10(2)), or one less: corrected below */
    for (int attempt = 0; attempt < 3; attempt++, x++) {
        if (!scale(mantissa, e, n - 1 - x, digits))
            return false;
        if (*digits < tens[n]) {
            *exponent = x;
            return *digits >= tens[n - 1];
        }
    }
    return false;
}

#else
static bool first_digits(double v, int n, uint64_t *digits, int *exponent) { return false; }
#endif

static char *put_exponent(char *p, int x)
{
    *p++ = 'e';
    *p++ = x < 0 ? '-' : '+';
    unsigned magnitude = (unsigned)(x < 0 ? -x : x);
    if (magnitude >= 100)
        *p++ = (char)('0' + magnitude / 100);
    *p++ = (char)('0' + magnitude / 10 % 10);
    *p++ = (char)('0' + magnitude % 10);
    return p;
}

/* Formats digits as %g does: fixed for exponents -4 ... precision-1, no trailing zeros. */
static char *lay_out(char *p, uint64_t digits, int n, int x)
{
    char text[DIGITS_MAX + 1];
    bool fixed = x >= -4 && x < n;
    for (int i = n - 1; i >= 0; i--, digits /= 10)
        text[i] = (char)('0' + digits % 10);
    while (n > 1 && text[n - 1] == '0')
        n--;
    if (fixed && x < 0) {
        memcpy(p, "0.0000", 6);
        p += 1 - x;
    }
    int whole = fixed ? (x < 0 ? n : x + 1) : 1; /* digits before the point */
    for (int i = 0; i < n || i < whole; i++) {
        if (i == whole)
            *p++ = '.';
        *p++ = i < n ? text[i] : '0';
    }
    return fixed ? p : put_exponent(p, x);
}

static size_t slow_format(char *out, size_t size, double v, int digits)
{
    /* cheap: a constant object in glibc and musl */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = uselocale(plain);
    int n = snprintf(out, size, "%.*g", digits, v);
    uselocale(before);
    freelocale(plain);
    return n < 0 ? 0 : (size_t)n;
}

size_t num_format_g(char *out, size_t size, double v, int digits)
{
    char text[DIGITS_MAX + 16], *p = text;
    uint64_t all = 0;
    int x = 0, n = digits == 0 ? 1 : digits;
    double magnitude = v < 0 ? -v : v;
    if (n < 0 || n > DIGITS_MAX || !(magnitude <= 0x1.fffffffffffffp1023) ||
        (magnitude > 0 && !first_digits(magnitude, n, &all, &x)))
        return slow_format(out, size, v, digits);
    if (__builtin_signbit(v))
        *p++ = '-';
    if (magnitude > 0)
        p = lay_out(p, all, n, x);
    else
        *p++ = '0';
    size_t length = (size_t)(p - text), copied = length < size ? length : size ? size - 1 : 0;
    if (size) {
        memcpy(out, text, copied);
        out[copied] = '\0';
    }
    return length;
}

void buf_g(struct buf *b, double v, int digits)
{
    buf_reserve(b, 40);
    size_t available = b->capacity - b->size,
           n = num_format_g(b->data + b->size, available, v, digits);
    if (n >= available) {
        buf_reserve(b, n);
        num_format_g(b->data + b->size, n + 1, v, digits);
    }
    b->size += n;
}
