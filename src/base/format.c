/*
 * format.c: double -> text as C's %g writes it, with a decimal point in any locale.
 *
 * As in Grisu for a given number of digits: v * 10^p, where p moves the wanted digits before the
 * point, is computed to 128 bits with an approximate power of ten, and its whole part rounded. In
 * the rare case that the error could change the result, the C library formats the number.
 */
#include "base/base.h"
#include "base/wide.h"

#include <locale.h>
#include <stdio.h>

enum {
    DIGITS_MAX = 17,
    EXPONENT_OF_LAST = 1023 + 52, /* a double is an integer mantissa times 2^(exponent - this) */
    EXACT_POWERS = 27,            /* a double times 10^0 to 10^27 has at most 128 bits */
    STEP = 20,                    /* exponents of the table of powers: -320, -300 ... 340 */
    FIRST = -320,
};

struct wide {
    uint64_t high, low;
};

static const uint64_t tens[STEP] = {1,
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
                                    1000000000000000000,
                                    10000000000000000000u};

/* The first 128 bits of powers of ten, rounded down. */
static const struct wide powers[] = {
    {0xfd00b897478238d0, 0x8920b098955522b4}, /* 10^-320 */
    {0xab70fe17c79ac6ca, 0x6dbd630a48aaf406}, /* 10^-300 */
    {0xe858ad248f5c22c9, 0xd1b3400f8f9cff68}, /* 10^-280 */
    {0x9d71ac8fada6c9b5, 0x6f773fc3603db4a9}, /* 10^-260 */
    {0xd5605fcdcf32e1d6, 0xfb1e4a9a90880a64}, /* 10^-240 */
    {0x9096ea6f3848984f, 0x3ff0d2c85def7621}, /* 10^-220 */
    {0xc3f490aa77bd60fc, 0xbedbfc4411068a9c}, /* 10^-200 */
    {0x84c8d4dfd2c63f3b, 0x29ecd9f40041e073}, /* 10^-180 */
    {0xb3f4e093db73a093, 0x59ed216765690f56}, /* 10^-160 */
    {0xf3e2f893dec3f126, 0x5a89dba3c3efccfa}, /* 10^-140 */
    {0xa54394fe1eedb8fe, 0xc2974eb4ee658828}, /* 10^-120 */
    {0xdff9772470297ebd, 0x59787e2b93bc56f7}, /* 10^-100 */
    {0x97c560ba6b0919a5, 0xdccd879fc967d41a}, /* 10^-80 */
    {0xcdb02555653131b6, 0x3792f412cb06794d}, /* 10^-60 */
    {0x8b61313bbabce2c6, 0x2323ac4b3b3da015}, /* 10^-40 */
    {0xbce5086492111aea, 0x88f4bb1ca6bcf584}, /* 10^-20 */
    {0x8000000000000000, 0x0000000000000000}, /* 10^0 */
    {0xad78ebc5ac620000, 0x0000000000000000}, /* 10^20 */
    {0xeb194f8e1ae525fd, 0x5dcfab0800000000}, /* 10^40 */
    {0x9f4f2726179a2245, 0x01d762422c946590}, /* 10^60 */
    {0xd7e77a8f87daf7fb, 0xdc33745ec97be906}, /* 10^80 */
    {0x924d692ca61be758, 0x593c2626705f9c56}, /* 10^100 */
    {0xc646d63501a1511d, 0xb281e1fd541501b8}, /* 10^120 */
    {0x865b86925b9bc5c2, 0x0b8a2392ba45a9b2}, /* 10^140 */
    {0xb616a12b7fe617aa, 0x577b986b314d6009}, /* 10^160 */
    {0xf6c69a72a3989f5b, 0x8aad549e57273d45}, /* 10^180 */
    {0xa738c6bebb12d16c, 0xb428f8ac016561db}, /* 10^200 */
    {0xe2a0b5dc971f303a, 0x2e44ae64840fd61d}, /* 10^220 */
    {0x9991a6f3d6bf1765, 0xacca6da1e0a8ef29}, /* 10^240 */
    {0xd01fef10a657842c, 0x2d2b7569b0432d85}, /* 10^260 */
    {0x8d07e33455637eb2, 0xdb0b487b6423e1e8}, /* 10^280 */
    {0xbf21e44003acdd2c, 0xe0470a63e6bd56c3}, /* 10^300 */
    {0x81842f29f2cce375, 0xe6a1158300d46640}, /* 10^320 */
    {0xaf87023b9bf0ee6a, 0xeb8fad7c7f8680b4}, /* 10^340 */
};

/* a * b / 2^64, rounded down. */
static struct wide multiply(struct wide a, uint64_t b)
{
    uint64_t low = a.high * b, sum = low + mul_high(a.low, b);
    return (struct wide){mul_high(a.high, b) + (sum < low), sum};
}

/* The first 128 bits of 10^p, rounded down: less than 4 units too small, and exact if p is in 0
 * ... EXACT_POWERS. 10^p = result * 2^exponent, rounded. */
static struct wide power_of_ten(int p, int *exponent)
{
    const int k = (p - FIRST) / STEP, rest = (p - FIRST) % STEP;
    *exponent = ((p * 1741647) >> 19) - 127; /* floor(log2(10^p)) */
    struct wide w = powers[k];
    if (rest > 0)
        w = multiply(w, tens[rest] << __builtin_clzll(tens[rest]));
    if (!(w.high >> 63))
        w = (struct wide){w.high << 1 | w.low >> 63, w.low << 1};
    return w;
}

/* v = mantissa * 2^exponent, and v * 10^p = whole + fraction / 2^64. */
struct scaled {
    uint64_t mantissa, whole, fraction;
    int exponent, first; /* first: the power of ten of the first digit */
    uint64_t power;      /* 10^p = power * 2^power_exponent, rounded down */
    int power_exponent;
    /* The last bit of `fraction` is set if there are more. Otherwise the value may be up to 2 /
     * 2^64 larger. */
    bool exact;
};

static void scale_by(struct scaled *s, int p)
{
    int e;
    const int zeros = __builtin_clzll(s->mantissa);
    const struct wide power = power_of_ten(p, &e), product = multiply(power, s->mantissa << zeros);
    const int drop = -(64 + s->exponent - zeros + e); /* 68 to 127 bits after the point */
    s->whole = product.high >> (drop - 64);
    s->fraction = product.high << (128 - drop) | product.low >> (drop - 64);
    s->exact = p >= 0 && p <= EXACT_POWERS;
    s->fraction |= s->exact && product.low << (128 - drop);
    s->power = power.high;
    s->power_exponent = e + 64;
}

/* Scales v > 0 so that the whole part has n digits; rounded, it may be 10^n. */
static void scale(double v, int n, struct scaled *s)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    const int e = (int)(bits >> 52 & 0x7ff);
    s->mantissa = (bits << 12 >> 12) | (e ? UINT64_C(1) << 52 : 0);
    s->exponent = (e ? e : 1) - EXPONENT_OF_LAST;
    const int log2 = s->exponent + 63 - __builtin_clzll(s->mantissa);
    s->first = (log2 * 1262611) >> 22; /* floor(log10(2^log2)): that of v, or one less */
    scale_by(s, n - 1 - s->first);
    if (s->whole >= tens[n])
        scale_by(s, n - 1 - ++s->first);
}

/* Rounds whole + fraction to a multiple of `unit`, to nearest, ties to even, and divides by it.
 * False if the error could affect the result. */
static inline bool round_to(const struct scaled *s, uint64_t unit, uint64_t *out)
{
    const uint64_t half = UINT64_C(1) << 63, rest = s->whole % unit;
    /* Twice the remainder, compared with the unit. */
    const uint64_t twice = 2 * rest + (s->fraction >> 63), more = s->fraction << 1;
    *out = s->whole / unit +
           (twice > unit || (twice == unit && more) || (twice == unit && (s->whole / unit & 1)));
    const bool near = (twice == unit && more < 4) || (twice + 1 == unit && more >= 2 * half - 4);
    return s->exact || !near;
}

static char *put_exponent(char *p, int x)
{
    *p++ = 'e';
    *p++ = x < 0 ? '-' : '+';
    unsigned magnitude = (unsigned)(x < 0 ? -x : x);
    if (magnitude >= 100)
        *p++ = (char)('0' + magnitude / 100);
    memcpy(p, num_digit_pairs + magnitude % 100 * 2, 2);
    return p + 2;
}

/* Formats n digits, or 10^n, as %g does: fixed for exponents -4 ... n-1, no trailing zeros. x: the
 * exponent of the first digit. */
static size_t lay_out(char *to, bool negative, uint64_t digits, int n, int x)
{
    char text[DIGITS_MAX + 1], *p = to;
    if (digits == tens[n]) {
        digits /= 10;
        x++;
    }
    const bool fixed = x >= -4 && x < n;
    int i = n;
    for (; i >= 2; i -= 2, digits /= 100)
        memcpy(text + i - 2, num_digit_pairs + digits % 100 * 2, 2);
    if (i)
        text[0] = (char)('0' + digits);
    while (n > 1 && text[n - 1] == '0')
        n--;
    if (negative)
        *p++ = '-';
    if (fixed && x < 0) {
        memcpy(p, "0.000", 5);
        p += 1 - x;
        memcpy(p, text, (size_t)n);
        return (size_t)(p + n - to);
    }
    const int whole = fixed ? x + 1 : 1; /* digits before the point */
    for (i = 0; i < whole; i++)
        *p++ = i < n ? text[i] : '0';
    if (n > whole) {
        *p++ = '.';
        memcpy(p, text + whole, (size_t)(n - whole));
        p += n - whole;
    }
    return (size_t)((fixed ? p : put_exponent(p, x)) - to);
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

static double magnitude_of(double v) { return v < 0 ? -v : v; }

size_t num_format_g(char *out, size_t size, double v, int digits)
{
    char text[NUM_EXACT_SIZE];
    struct scaled s = {0};
    uint64_t all = 0;
    const int n = digits == 0 ? 1 : digits;
    if (n < 0 || n > DIGITS_MAX || !(magnitude_of(v) <= 0x1.fffffffffffffp1023))
        return slow_format(out, size, v, digits);
    if (v != 0) /* otherwise one digit, 0 */
        scale(magnitude_of(v), n, &s);
    if (v != 0 && !round_to(&s, 1, &all))
        return slow_format(out, size, v, digits);
    size_t length = lay_out(text, __builtin_signbit(v), all, n, s.first), copied = length < size
                                                                                       ? length
                                                                                   : size ? size - 1
                                                                                          : 0;
    if (size) {
        memcpy(out, text, copied);
        out[copied] = '\0';
    }
    return length;
}

/* ---- as many digits as read back ---- */

enum { POINT = 48 }; /* bits after the point of the numbers below, which are below 2^16 */

/* Half the distance of v to the next number, scaled; UINT64_MAX: more than can matter. */
static inline uint64_t half_gap(const struct scaled *s, bool single)
{
    int ulp = s->exponent; /* of a double */
    if (single) {
        ulp += 64 - __builtin_clzll(s->mantissa) - 24;
        ulp = ulp < -149 ? -149 : ulp;
    }
    const int shift = -(s->power_exponent + ulp - 1 + POINT);
    return shift <= 0 ? UINT64_MAX : shift < 64 ? s->power >> shift : 0;
}

enum answer { NO, YES, UNCERTAIN };

/* Whether v, rounded to the multiple `rounded` of `unit`, reads back as v. */
static inline enum answer reads_back(const struct scaled *s, uint64_t unit, uint64_t rounded,
                                     bool single)
{
    enum { MARGIN = 4 };
    const uint64_t rest = (s->whole % unit << POINT) + (s->fraction >> (64 - POINT)),
                   up = (unit << POINT) - rest, gap = half_gap(s, single),
                   apart = rounded > s->whole / unit ? up : rest;
    /* Below a power of two, numbers are twice as dense. */
    const uint64_t certain = s->mantissa & (s->mantissa - 1) ? gap : gap / 2;
    if (apart + MARGIN < certain)
        return YES;
    return gap + MARGIN < apart ? NO : UNCERTAIN;
}

static size_t slow_exact(char *out, double v, bool single)
{
    double back;
    const size_t n = slow_format(out, NUM_EXACT_SIZE, v, single ? 6 : 15);
    if (num_parse_double((struct str){out, n}, &back) &&
        (single ? (float)back == (float)v : back == v))
        return n;
    return slow_format(out, NUM_EXACT_SIZE, v, single ? 9 : 17);
}

/* Inlined for both types, so that divisions are by constants. */
static inline size_t format_exact(char *out, double v, bool single, int few, int many,
                                  uint64_t unit)
{
    struct scaled s;
    uint64_t digits;
    if (v == 0)
        return lay_out(out, __builtin_signbit(v), 0, few, 0);
    scale(magnitude_of(v), many, &s);
    enum answer few_enough =
        round_to(&s, unit, &digits) ? reads_back(&s, unit, digits, single) : UNCERTAIN;
    if (few_enough == YES)
        return lay_out(out, v < 0, digits, few, s.first);
    if (few_enough == NO && round_to(&s, 1, &digits))
        return lay_out(out, v < 0, digits, many, s.first);
    return slow_exact(out, v, single);
}

size_t num_format_exact(char *out, double v, bool single)
{
    return single ? format_exact(out, v, true, 6, 9, 1000)
                  : format_exact(out, v, false, 15, 17, 100);
}

void buf_g(struct buf *b, double v, int digits)
{
    v = v != v ? __builtin_fabs(v) : v;
    buf_reserve(b, 40);
    size_t available = b->capacity - b->size,
           n = num_format_g(b->data + b->size, available, v, digits);
    if (n >= available) {
        buf_reserve(b, n);
        num_format_g(b->data + b->size, n + 1, v, digits);
    }
    b->size += n;
}
