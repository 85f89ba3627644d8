/*
 * num.c: text -> numbers, correctly rounded, with a decimal point in any locale.
 */
#include "base/base.h"
#include "base/wide.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- text -> double ---- */

/* A decomposed decimal number: +-mantissa * 10^exponent, if `exact`. */
struct decimal {
    uint64_t mantissa;
    int64_t exponent;
    bool negative;
    bool exact; /* all significant digits fit the mantissa */
};

/* Accumulates up to 19 significant digits. */
struct digit_run {
    const char *at, *end;
    uint64_t mantissa;
    int significant;
    int64_t dropped; /* digits beyond those */
    bool dropped_nonzero;
};

static size_t take_digits(struct digit_run *r)
{
    const char *begin = r->at, *p = begin;
    uint64_t m = r->mantissa;
    for (; p < r->end && char_is_digit(*p); p++) {
        unsigned d = (unsigned)(*p - '0');
        if (r->significant < 19) {
            m = m * 10 + d;
            r->significant += m != 0;
        } else {
            r->dropped++;
            r->dropped_nonzero |= d != 0;
        }
    }
    r->mantissa = m;
    r->at = p;
    return (size_t)(p - begin);
}

/* Parses [eE][+-]digits; extreme exponents are clamped, since the result is 0 or infinite
 * anyway. */
static bool take_exponent(const char **at, const char *end, int64_t *out)
{
    const char *p = *at + 1;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (p == end || !char_is_digit(*p))
        return false;
    int64_t e = 0;
    for (; p < end && char_is_digit(*p); p++)
        if (e < INT64_C(1000000000000000))
            e = e * 10 + (*p - '0');
    *out = negative ? -e : e;
    *at = p;
    return true;
}

static bool take_decimal(struct str s, struct decimal *out)
{
    struct digit_run r = {.at = s.ptr, .end = s.ptr + s.len};
    out->negative = r.at < r.end && *r.at == '-';
    r.at += out->negative;
    size_t digits = take_digits(&r);
    int64_t scale = r.dropped, exponent = 0;
    if (r.at < r.end && *r.at == '.') {
        r.at++;
        int64_t dropped = r.dropped;
        size_t fraction = take_digits(&r);
        digits += fraction;
        scale -= (int64_t)fraction - (r.dropped - dropped);
    }
    if (digits == 0)
        return false;
    if (r.at < r.end && (*r.at == 'e' || *r.at == 'E') && !take_exponent(&r.at, r.end, &exponent))
        return false;
    out->mantissa = r.mantissa;
    out->exponent = exponent + scale;
    out->exact = !r.dropped_nonzero;
    return r.at == r.end;
}

static double slow_double(struct str s)
{
    char small[128], *z = s.len < sizeof small ? small : heap_alloc(s.len + 1);
    memcpy(z, s.ptr, s.len);
    z[s.len] = '\0';
    /* cheap: a constant object in glibc and musl */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = uselocale(plain);
    double v = strtod(z, NULL);
    uselocale(before);
    freelocale(plain);
    if (z != small)
        heap_free(z);
    return v;
}

#if HAS_U128
/* The double nearest to (n + a fraction below 1 if `more`) * 2^exponent, in the range of normal
 * numbers. */
static double round_wide(u128 n, bool more, int exponent)
{
    uint64_t high = (uint64_t)(n >> 64);
    int bits = high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)n);
    int shift = bits > 53 ? bits - 53 : 0;
    uint64_t kept = (uint64_t)(n >> shift);
    if (shift) {
        u128 rest = n & (((u128)1 << shift) - 1), half = (u128)1 << (shift - 1);
        kept += rest > half || (rest == half && (more || (kept & 1)));
    }
    uint64_t scale = (uint64_t)(shift + exponent + 1023) << 52;
    double power;
    memcpy(&power, &scale, sizeof power);
    return (double)kept * power;
}

/* mantissa * 10^exponent in 128-bit arithmetic; mantissa != 0, |exponent| <= 27. */
static double wide_double(uint64_t mantissa, int exponent)
{
    uint64_t power = 1;
    for (int i = exponent < 0 ? -exponent : exponent; i > 0; i--)
        power *= 5;
    if (exponent >= 0)
        return round_wide((u128)mantissa * power, false, exponent);
    int zeros = __builtin_clzll(mantissa);
    u128 n = (u128)(mantissa << zeros) << 63; /* the quotient has at least 64 bits */
    return round_wide(n / power, n % power != 0, exponent - 63 - zeros);
}
#endif

bool num_parse_double(struct str s, double *out)
{
    /* Powers of ten that are exact in double. One multiplication or division of exact operands
     * rounds once and correctly (Clinger's fast path). */
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    struct decimal d;
    if (!take_decimal(s, &d))
        return false;
    if (d.mantissa == 0 && d.exact) {
        *out = d.negative ? -0.0 : 0.0;
    } else if (d.exact && d.mantissa <= UINT64_C(1) << 53 && d.exponent >= -22 &&
               d.exponent <= 22) {
        double v = (double)d.mantissa;
        v = d.exponent < 0 ? v / powers[-d.exponent] : v * powers[d.exponent];
        *out = d.negative ? -v : v;
#if HAS_U128
    } else if (d.exact && d.exponent >= -27 && d.exponent <= 27) {
        double v = wide_double(d.mantissa, (int)d.exponent);
        *out = d.negative ? -v : v;
#endif
    } else {
        *out = slow_double(s);
    }
    return true;
}

/* ---- text -> integer ---- */

static bool parse_magnitude(struct str s, bool *negative, uint64_t *out)
{
    size_t i = s.len && s.ptr[0] == '-';
    *negative = i;
    if (i == s.len)
        return false;
    uint64_t v = 0;
    for (; i < s.len; i++) {
        if (!char_is_digit(s.ptr[i]) || __builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(s.ptr[i] - '0'), &v))
            return false;
    }
    *out = v;
    return true;
}

static const uint64_t sign_bit = UINT64_C(1) << 63;

bool num_parse_int(struct str s, int64_t *out)
{
    bool negative;
    uint64_t v;
    if (!parse_magnitude(s, &negative, &v) || (negative && v > sign_bit))
        return false;
    *out = (int64_t)(negative ? 0 - v : v);
    return true;
}

bool num_parse_i64(struct str s, int64_t *out)
{
    bool negative;
    uint64_t v;
    if (!parse_magnitude(s, &negative, &v) || v > sign_bit - !negative)
        return false;
    *out = (int64_t)(negative ? 0 - v : v);
    return true;
}

/* ---- sizes of arrays ---- */

bool dims_product(int64_t unit, int rank, const int64_t *dims, int64_t *out)
{
    int64_t n = unit;
    bool fits = true, empty = false;
    for (int d = 0; d < rank; d++) {
        if (dims[d] < 0)
            return false;
        empty |= dims[d] == 0;
        fits = fits && mul_i64(n, dims[d], &n);
    }
    *out = empty ? 0 : n;
    return fits || empty;
}

int64_t dims_elements(int rank, const int64_t *dims)
{
    int64_t n;
    return dims_product(1, rank, dims, &n) ? n : INT64_MAX;
}
