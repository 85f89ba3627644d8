/*
 * literal_scan.c: encoding of elements, and bytewise scanning of runs of plain numbers.
 */
#include "text/literal_priv.h"

#include <math.h>

/* ---- elements ---- */

void literal_store_bits(void *at, size_t bytes, uint64_t code)
{
    uint8_t b = (uint8_t)code;
    uint16_t h = (uint16_t)code;
    uint32_t w = (uint32_t)code;
    switch (bytes) {
    case 1: memcpy(at, &b, 1); break;
    case 2: memcpy(at, &h, 2); break;
    case 4: memcpy(at, &w, 4); break;
    default: memcpy(at, &code, 8); break;
    }
}

bool literal_encode_int(enum dtype t, int64_t v, uint64_t *code)
{
    unsigned bits = dtype_bits(t);
    if (t == DT_PRED) {
        *code = v != 0;
        return true;
    }
    *code = (uint64_t)v;
    if (bits == 64)
        return true;
    if (dtype_is_unsigned(t))
        return (uint64_t)v >> bits == 0;
    return v >= -(INT64_C(1) << (bits - 1)) && v < INT64_C(1) << (bits - 1);
}

bool literal_encode_float(enum dtype t, double v, uint64_t *code)
{
    *code = float_encode(t, v);
    if (isinf(v) || t == DT_F4E2M1FN)
        return true;
    double rounded = float_decode(t, *code);
    double compared = isfinite(rounded) ? rounded : v;
    if (t == DT_F8E8M0FNU && !(v > 0 && compared >= 0x1p-127))
        return false;
    return fabs(compared) <= float_max(t);
}

/* ---- bytewise scanning ---- */

struct number_scan {
    uint64_t mantissa;
    int digits;   /* significant digits, at most 18 */
    int exponent; /* decimal */
    bool negative, decimal;
};

static const char *scan_exponent(const char *s, const char *end, struct number_scan *n)
{
    bool negative = s < end && *s == '-';
    int e = 0;
    if (s < end && (*s == '-' || *s == '+'))
        s++;
    const char *digits = s;
    for (; s < end && (unsigned char)(*s - '0') < 10 && e < 10000; s++)
        e = e * 10 + (*s - '0');
    n->exponent += negative ? -e : e;
    return s == digits ? NULL : s;
}

/* Scans a plain number that is followed by a delimiter, so that the lexer would produce the same
 * token. Returns its end, or NULL for anything else. */
static const char *scan_number(const char *s, const char *end, struct number_scan *n)
{
    *n = (struct number_scan){.negative = *s == '-'};
    s += n->negative;
    const char *digits = s;
    uint64_t m = 0;
    for (; s < end && (unsigned char)(*s - '0') < 10; s++)
        m = m * 10 + (uint64_t)(*s - '0');
    ptrdiff_t count = s - digits;
    if (s < end && *s == '.') {
        const char *fraction = ++s;
        for (; s < end && (unsigned char)(*s - '0') < 10; s++)
            m = m * 10 + (uint64_t)(*s - '0');
        n->exponent = -(int)(s - fraction > 1000 ? 1000 : s - fraction);
        count += s - fraction;
        n->decimal = true;
    }
    if (count == 0 || count > 18)
        return NULL;
    n->mantissa = m;
    if (s < end && (*s | 32) == 'e') {
        n->decimal = true;
        s = scan_exponent(s + 1, end, n);
    }
    bool delimited =
        s && s < end && (*s == ',' || *s == ' ' || *s == '}' || *s == ']' || *s == '\n');
    return delimited ? s : NULL;
}

/* The value of a scanned number: a single operation if both operands are exact, so that it rounds
 * once; otherwise the general conversion. */
static double scan_value(const struct number_scan *n, const char *s, const char *e)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (n->mantissa <= UINT64_C(1) << 53 && n->exponent >= -22 && n->exponent <= 22) {
        double v = (double)n->mantissa;
        v = n->exponent < 0 ? v / powers[-n->exponent] : v * powers[n->exponent];
        return n->negative && n->decimal ? -v : n->negative ? 0 - v : v;
    }
    double v = 0;
    num_parse_double((struct str){s, (size_t)(e - s)}, &v);
    return !n->decimal && v == 0 ? 0 : v;
}

/* Stores a scanned number; false: the token loop must handle it. */
static bool scan_store(struct literal_reader *r, const struct number_scan *n, const char *s,
                       const char *e)
{
    uint64_t code;
    char *at = r->data + (size_t)r->at * dtype_bytes(r->dtype);
    if (r->p->bare_literals && n->negative && n->mantissa == 0) /* -0: see parse_real */
        return false;
    if (r->dtype == DT_F32) {
        float f = (float)scan_value(n, s, e);
        if (!isfinite(f))
            return false;
        memcpy(at, &f, sizeof f);
        return true;
    }
    if (dtype_is_float(r->dtype)) {
        double v = scan_value(n, s, e);
        if (!isfinite(v) || !literal_encode_float(r->dtype, v, &code))
            return false;
    } else {
        int64_t v = (int64_t)(n->negative ? 0 - n->mantissa : n->mantissa);
        if (n->decimal || !literal_encode_int(r->dtype, v, &code))
            return false;
    }
    literal_store_bits(at, dtype_bytes(r->dtype), code);
    return true;
}

/* Scans from byte `s` at the current depth; returns the first byte that was not consumed. */
static const char *scan_values(struct literal_reader *r, const char *s, const char *end)
{
    const int64_t *dims = r->shape->dims;
    int minor = r->rank - 1;
    for (;;) {
        while (s < end && (*s == ' ' || *s == ',' || *s == '\n'))
            s++;
        if (s == end)
            return s;
        if ((unsigned char)(*s - '0') < 10 || *s == '-') {
            struct number_scan n;
            const char *e = r->depth == r->rank && r->seen[minor] < dims[minor] && r->at < r->total
                                ? scan_number(s, end, &n)
                                : NULL;
            if (!e || !scan_store(r, &n, s, e))
                return s;
            r->seen[minor]++;
            r->at++;
            s = e;
        } else if (*s == (r->json ? '[' : '{')) {
            int d = r->depth - 1;
            if (r->depth == r->rank || r->seen[d] == dims[d])
                return s;
            r->seen[d]++;
            r->depth++;
            s++;
        } else if (*s == (r->json ? ']' : '}')) {
            int d = r->depth - 1;
            /* The token loop handles the last brace. */
            if (d == 0 || r->seen[d] != dims[d])
                return s;
            r->seen[d] = 0;
            r->depth--;
            s++;
        } else {
            return s;
        }
    }
}

void literal_scan(struct literal_reader *r)
{
    struct parser *p = r->p;
    const char *begin = p->text.ptr + p->tok.span.begin;
    const char *s = scan_values(r, begin, p->text.ptr + p->text.len);
    if (s == begin)
        return;
    /* The lexer skips blanks before a token. */
    while (s > begin && (s[-1] == ' ' || s[-1] == ',' || s[-1] == '\n'))
        s--;
    lex_jump(p, (size_t)(s - p->text.ptr));
}
