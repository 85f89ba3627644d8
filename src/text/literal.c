/*
 * literal.c: parses literals.
 *
 * XLA parses an array literal in a loop over tokens with a depth and a counter per dimension
 * (grammar/text.md 2.6); parse_array_literal is that loop. Tokens are too slow for millions of
 * numbers: scan_values handles runs of plain numbers bytewise, and leaves everything else, errors
 * included, to the loop.
 */
#include "text/text_priv.h"

#include <math.h>

/* State of an array literal. Storage is allocated at the first value, since `{...}` may have any
 * size. */
struct literal_reader {
    struct parser *p;
    const struct shape *shape;
    enum dtype dtype;
    int rank, depth;
    int64_t *seen;     /* number of values or rows so far, by dimension */
    int64_t at, total; /* index of the next element, number of elements */
    struct literal *literal;
    char *data;
    bool elided;
    bool ignored; /* a count was wrong where XLA accepts that */
    struct span ignored_span;
};

/* ---- values ---- */

static bool value_error(struct literal_reader *r, struct span span)
{
    struct str seen = {r->p->text.ptr + span.begin, span.end - span.begin};
    return DIAG_ERROR(r->p->ds, span, VALUE_RANGE, STR_ARG(seen), dtype_spelling(r->dtype));
}

static void store_bits(void *at, size_t bytes, uint64_t code)
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

/* False if the value is out of range. */
static bool encode_int(enum dtype t, int64_t v, uint64_t *code)
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

/* Encodes a NaN with a sign and a payload (-1: the default one); false if the type does not support
 * the payload. */
static bool encode_nan(enum dtype t, bool negative, int64_t payload, uint64_t *code)
{
    const struct float_format *f = float_format(t);
    if (payload < 0 && f->specials == FS_SAT) { /* as XLA's conversion does: the opposite zero */
        *code = (uint64_t)!negative << (f->exponent_bits + f->mantissa_bits);
        return true;
    }
    if (payload < 0) {
        *code = float_encode(t, negative ? -NAN : NAN);
        return true;
    }
    if (f->specials != FS_IEEE || payload >> f->mantissa_bits)
        return false;
    uint64_t exponent = (UINT64_C(1) << f->exponent_bits) - 1;
    *code = (uint64_t)negative << (f->exponent_bits + f->mantissa_bits) |
            exponent << f->mantissa_bits | (uint64_t)payload;
    return true;
}

/* False if the value is out of range, which is checked after rounding if the rounded value is
 * finite. */
static bool encode_float(enum dtype t, double v, uint64_t *code)
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

static bool store_double(struct literal_reader *r, enum dtype t, void *at, double v,
                         int64_t payload)
{
    uint64_t code;
    bool ok = isnan(v) ? encode_nan(t, signbit(v), payload, &code) : encode_float(t, v, &code);
    if (ok)
        store_bits(at, dtype_bytes(t), code);
    return ok || value_error(r, r->p->tok.span);
}

/* The address of the next element; NULL (reported) if the array is full. */
static void *next_element(struct literal_reader *r)
{
    if (r->at >= r->total) {
        DIAG(r->p->ds, r->p->tok.span, TOO_MANY_VALUES, STR_ARG(shape_text(r->p->arena, r->shape)),
             (long long)r->total);
        return NULL;
    }
    if (!r->literal) {
        r->literal = literal_new(r->p->arena, r->shape);
        if (!r->literal) {
            DIAG(r->p->ds, r->p->tok.span, NO_MEMORY, STR_ARG(shape_text(r->p->arena, r->shape)));
            return NULL;
        }
        if (r->p->m)
            module_own_literal(r->p->m, r->literal);
        else
            VEC_PUSH(r->p->arena, r->p->loose, r->p->loose_count, r->p->loose_capacity) =
                r->literal;
        r->data = r->literal->data;
    }
    return r->data + (size_t)r->at++ * dtype_bytes(r->dtype);
}

/* Parses the current token as a real number; false (reported) if it is not one. */
static bool parse_real(struct parser *p, double *out, int64_t *payload)
{
    *payload = -1;
    switch (p->tok.kind) {
    case TOK_INT:
        *out = (double)p->tok.i;
        /* XLA reads its own `-0` as 0; a literal outside a module must round-trip */
        if (p->bare_literals && p->tok.i == 0 && p->text.ptr[p->tok.span.begin] == '-')
            *out = -0.0;
        return true;
    case TOK_INF: *out = INFINITY; return true;
    case TOK_NEG_INF: *out = -INFINITY; return true;
    case TOK_DECIMAL:
        *out = p->tok.d;
        *payload = p->tok.i;
        if (isinf(*out))
            return DIAG_ERROR(p->ds, p->tok.span, VALUE_RANGE, STR_ARG(p->tok.s), "double");
        return true;
    default: return expected(p, "a number");
    }
}

/* ---- the loop over tokens ---- */

static bool count_error(struct literal_reader *r, int d, const char *how)
{
    return DIAG_ERROR(r->p->ds, r->p->tok.span, LITERAL_COUNT, d,
                      STR_ARG(shape_text(r->p->arena, r->shape)), (long long)r->shape->dims[d],
                      how);
}

static bool open_brace(struct literal_reader *r)
{
    if (r->depth == r->rank)
        return DIAG_ERROR(r->p->ds, r->p->tok.span, LITERAL_DEPTH,
                          STR_ARG(shape_text(r->p->arena, r->shape)), r->rank);
    r->depth++;
    int d = r->depth - 2;
    if (d >= 0 && ++r->seen[d] > r->shape->dims[d])
        return count_error(r, d, "more");
    next(r->p);
    return true;
}

static bool close_brace(struct literal_reader *r)
{
    if (r->depth == 0)
        return expected(r->p, "a value");
    int d = --r->depth;
    const bool brief = d == 0 && r->seen[0] == 0 && r->total == 0 && !r->p->strict;
    if (r->seen[d] != r->shape->dims[d] && !brief)
        return count_error(r, d, r->seen[d] > r->shape->dims[d] ? "more" : "fewer");
    r->seen[d] = 0;
    next(r->p);
    return true;
}

/* Counts one element; false where XLA records an error (which it ignores for plain numbers). */
static bool count_element(struct literal_reader *r)
{
    if (r->rank == 0)
        return true;
    return r->depth == r->rank && ++r->seen[r->rank - 1] <= r->shape->dims[r->rank - 1];
}

/* Only a constant of a module may be elided: it can be printed, and a run may substitute a
 * value. */
static bool parse_elided(struct literal_reader *r)
{
    if (r->p->bare_literals && r->total > 0)
        return DIAG_ERROR(r->p->ds, r->p->tok.span, LITERAL_LEFT_OUT);
    if (r->depth != 1)
        return DIAG_ERROR(r->p->ds, r->p->tok.span, LITERAL_DOTS);
    r->seen[0] = r->shape->dims[0];
    r->elided = !r->p->bare_literals;
    next(r->p);
    return true;
}

/* complex = "(" real "," real ")" ; real = INT | DECIMAL | "inf" | "-inf" ; */
static bool parse_complex(struct literal_reader *r)
{
    struct parser *p = r->p;
    enum dtype part = dtype_component(r->dtype);
    double re, im;
    int64_t payload[2];
    if (!count_element(r))
        return count_error(r, r->rank - 1, "more");
    next(p);
    struct token first = p->tok;
    if (!parse_real(p, &re, &payload[0]))
        return false;
    next(p);
    if (!expect(p, TOK_COMMA, "',' between real and imaginary part"))
        return false;
    struct token second = p->tok;
    if (!parse_real(p, &im, &payload[1]))
        return false;
    next(p);
    if (p->tok.kind != TOK_RPAREN)
        return expected(p, "')'");
    char *at = next_element(r);
    if (!at)
        return false;
    struct token close = p->tok;
    p->tok = first;
    bool ok = store_double(r, part, at, re, payload[0]);
    p->tok = second;
    ok = ok && store_double(r, part, at + dtype_bytes(part), im, payload[1]);
    p->tok = close;
    if (ok && isnan(re))
        ok = store_double(r, part, at + dtype_bytes(part), re, payload[0]);
    next(p);
    return ok;
}

static bool store_token(struct literal_reader *r)
{
    struct parser *p = r->p;
    uint64_t code = p->tok.kind == TOK_TRUE;
    double v;
    int64_t payload;
    bool word = p->tok.kind == TOK_TRUE || p->tok.kind == TOK_FALSE;
    bool whole = r->dtype == DT_PRED || dtype_is_integer(r->dtype);
    if (word && r->dtype != DT_PRED)
        return expected(p, whole ? "an integer" : "a number");
    if (!word && whole) {
        if (p->tok.kind != TOK_INT)
            return expected(p, "an integer");
        if (!encode_int(r->dtype, p->tok.i, &code))
            return value_error(r, p->tok.span);
    } else if (!word && dtype_is_complex(r->dtype)) {
        return expected(p, "a complex number such as (1, 2)");
    } else if (!word && !parse_real(p, &v, &payload)) {
        return false;
    }
    void *at = next_element(r);
    if (!at)
        return false;
    if (!whole)
        return store_double(r, r->dtype, at, v, payload);
    store_bits(at, dtype_bytes(r->dtype), code);
    return true;
}

/* A number or a boolean. XLA records a wrong count here and continues. */
static bool parse_element(struct literal_reader *r)
{
    if (!count_element(r) && !r->ignored) {
        r->ignored = true;
        r->ignored_span = r->p->tok.span;
    }
    if (!store_token(r))
        return false;
    next(r->p);
    return true;
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
    bool delimited = s && s < end && (*s == ',' || *s == ' ' || *s == '}' || *s == '\n');
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
        if (!isfinite(v) || !encode_float(r->dtype, v, &code))
            return false;
    } else {
        int64_t v = (int64_t)(n->negative ? 0 - n->mantissa : n->mantissa);
        if (n->decimal || !encode_int(r->dtype, v, &code))
            return false;
    }
    store_bits(at, dtype_bytes(r->dtype), code);
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
        } else if (*s == '{') {
            int d = r->depth - 1;
            if (r->depth == r->rank || r->seen[d] == dims[d])
                return s;
            r->seen[d]++;
            r->depth++;
            s++;
        } else if (*s == '}') {
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

/* Scans plain numbers; afterwards the current token is the one after them. */
static void scan_plain(struct literal_reader *r)
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

/* ---- arrays and tuples ---- */

/* The shape of the constant: static sizes, no buffer, no E(n). */
static const struct shape *literal_shape(struct parser *p, const struct shape *s)
{
    if (s->dtype == DT_BUFFER)
        s = s->elements[0];
    if (s->dynamic)
        s = shape_array(p->arena, s->dtype, s->rank, s->dims, NULL, s->layout);
    if (s->layout->element_bits) {
        struct layout *l = ARENA_DUP(p->arena, s->layout, 1);
        l->element_bits = 0;
        s = shape_with_layout(p->arena, s, l);
    }
    return s;
}

/* Skips an element; a complex one has several tokens. */
static void skip_element(struct parser *p)
{
    if (p->tok.kind == TOK_LPAREN)
        while (p->tok.kind != TOK_RPAREN && p->tok.kind != TOK_EOF)
            next(p);
    next(p);
}

/* Counts the contents of nested braces: counts[d] is the number of values or rows in the first
 * braces of depth d, -1 if none. False if this is not an array literal; the current token
 * is then the first unexpected one. */
static bool count_braces(struct parser *p, int rank, int64_t *counts)
{
    int64_t *seen = ARENA_ARRAY(p->arena, int64_t, rank);
    int depth = 0;
    for (int d = 0; d < rank; d++)
        counts[d] = -1;
    do {
        if (p->tok.kind == TOK_EOF || p->tok.kind == TOK_DOTS ||
            (depth == 0 && p->tok.kind != TOK_LBRACE))
            return false;
        if (p->tok.kind == TOK_RBRACE) {
            depth--;
            if (counts[depth] < 0)
                counts[depth] = seen[depth];
            seen[depth] = 0;
            next(p);
            continue;
        }
        if (p->tok.kind == TOK_COMMA) {
            next(p);
            continue;
        }
        if (depth > 0)
            seen[depth - 1]++;
        if (p->tok.kind != TOK_LBRACE) {
            skip_element(p);
        } else if (++depth > rank) {
            return false;
        } else {
            next(p);
        }
    } while (depth > 0);
    return true;
}

/* The shape of a literal outside a module: dynamic sizes are those of the braces, up to the
 * bounds. */
static const struct shape *measured_shape(struct parser *p, const struct shape *s)
{
    struct token tok = p->tok;
    size_t at = p->at;
    uint32_t prev_end = p->prev_end;
    int64_t *counts = ARENA_ARRAY(p->arena, int64_t, s->rank),
            *dims = ARENA_DUP(p->arena, s->dims, s->rank);
    bool counted = count_braces(p, s->rank, counts);
    p->tok = tok;
    p->at = at;
    p->prev_end = prev_end;
    for (int d = 0; d < s->rank && counted; d++)
        if (shape_dim_dynamic(s, d) && counts[d] >= 0 &&
            (counts[d] < dims[d] || dims[d] == DIM_UNBOUNDED))
            dims[d] = counts[d];
    return shape_array(p->arena, s->dtype, s->rank, dims, s->dynamic, s->layout);
}

static bool finish_array(struct literal_reader *r, struct literal **out)
{
    if (r->ignored && !r->p->strict)
        DIAG(r->p->ds, r->ignored_span, LITERAL_FILLED, STR_ARG(shape_text(r->p->arena, r->shape)));
    if (r->elided) {
        if (r->literal)
            literal_free_data(r->literal);
        r->literal = ARENA_NEW(r->p->arena, struct literal);
        r->literal->shape = r->shape;
        r->literal->elided = true;
    } else if (!r->literal) {
        r->at = 0;
        r->total = 1;
        if (!next_element(r))
            return false;
    }
    *out = r->literal;
    return true;
}

/* array_literal = element | "{" {element | complex | "," | "..." | array_literal} "}" ;
 * element = "true" | "false" | INT | DECIMAL | "inf" | "-inf" ; counts must match the shape
 */
static bool parse_array_literal(struct parser *p, const struct shape *shape, struct literal **out)
{
    if (p->bare_literals && shape->dynamic)
        shape = measured_shape(p, shape);
    struct literal_reader r = {.p = p, .shape = literal_shape(p, shape)};
    r.dtype = r.shape->dtype;
    r.rank = r.shape->rank;
    r.seen = ARENA_ARRAY(p->arena, int64_t, r.rank + 1);
    if (!shape_elements(r.shape, &r.total))
        return DIAG_ERROR(p->ds, p->tok.span, NO_MEMORY, STR_ARG(shape_text(p->arena, r.shape)));
    bool plain = r.rank > 0 && !dtype_is_complex(r.dtype), ok;
    do {
        if (plain && r.data && r.depth > 0)
            scan_plain(&r);
        switch (p->tok.kind) {
        case TOK_LBRACE: ok = open_brace(&r); break;
        case TOK_RBRACE: ok = close_brace(&r); break;
        case TOK_LPAREN:
            ok = dtype_is_complex(r.dtype) ? parse_complex(&r) : expected(p, "a value");
            break;
        case TOK_DOTS: ok = parse_elided(&r); break;
        case TOK_COMMA:
            next(p);
            ok = true;
            break;
        case TOK_TRUE:
        case TOK_FALSE:
        case TOK_INT:
        case TOK_DECIMAL:
        case TOK_INF:
        case TOK_NEG_INF: ok = parse_element(&r); break;
        default: ok = expected(p, r.depth ? "a value, ',' or '}'" : "a value"); break;
        }
    } while (ok && r.depth > 0);
    return ok && finish_array(&r, out);
}

/* tuple_literal = "(" ")" | "(" literal {[","] literal} ")" ; */
static bool parse_tuple_literal(struct parser *p, const struct shape *shape, struct literal **out)
{
    struct literal **elements = ARENA_ARRAY(p->arena, struct literal *, shape->count);
    if (!expect(p, TOK_LPAREN, "'(' before the tuple"))
        return false;
    bool empty = p->tok.kind == TOK_RPAREN; /* XLA then makes every component an empty tuple */
    for (int i = 0; i < shape->count; i++) {
        if (empty) {
            elements[i] = literal_tuple(p->arena, NULL, 0);
            continue;
        }
        if (i > 0 && !accept(p, TOK_COMMA) && !p->strict && p->tok.kind != TOK_RPAREN)
            DIAG(p->ds, p->tok.span, COMMA_MISSING);
        if (!parse_literal(p, shape->elements[i], &elements[i]))
            return false;
    }
    *out = literal_tuple(p->arena, elements, shape->count);
    return expect(p, TOK_RPAREN, "')' after the last tuple element");
}

/* Rejects layouts that XLA does not support for constants. */
static bool check_constant_layout(struct parser *p, const struct shape *s)
{
    bool seen[64] = {false};
    for (int i = 0; i < s->rank && s->rank <= 64; i++) {
        int64_t d = s->layout->minor_to_major[i];
        if (d < 0 || d >= s->rank || seen[d])
            return DIAG_ERROR(
                p->ds, p->tok.span, BAD_LAYOUT,
                "minor-to-major order of a constant must be a permutation of its dimensions");
        seen[d] = true;
    }
    return true;
}

/* literal = tuple_literal | array_literal ; */
bool parse_literal(struct parser *p, const struct shape *shape, struct literal **out)
{
    bool ok = enter(p);
    const struct shape *array = shape->dtype == DT_BUFFER ? shape->elements[0] : shape;
    if (ok && shape_is_tuple(shape))
        ok = parse_tuple_literal(p, shape, out);
    else if (ok && !shape_is_array(array))
        ok = DIAG_ERROR(p->ds, p->tok.span, NO_LITERAL, dtype_spelling(shape->dtype));
    else if (ok)
        ok = check_constant_layout(p, array) && parse_array_literal(p, shape, out);
    leave(p);
    return ok;
}

/* literal_with_shape = "(" {literal_with_shape [","]} ")" | shape literal ; */
bool parse_literal_with_shape(struct parser *p, struct literal **out)
{
    const struct shape *shape;
    if (p->tok.kind != TOK_LPAREN)
        return parse_shape(p, &shape) && parse_literal(p, shape, out);
    struct literal **elements = NULL;
    size_t count = 0, capacity = 0;
    enum { WEIGHT = 2 }; /* stack usage of one level, relative to one level of a shape */
    p->depth += WEIGHT;
    bool ok = enter(p);
    if (ok)
        next(p);
    while (ok && p->tok.kind != TOK_RPAREN) {
        struct literal *element = NULL;
        ok = parse_literal_with_shape(p, &element);
        if (ok) {
            VEC_PUSH(p->arena, elements, count, capacity) = element;
            accept(p, TOK_COMMA);
        }
    }
    leave(p);
    p->depth -= WEIGHT;
    if (!ok || !expect(p, TOK_RPAREN, NULL))
        return false;
    *out = literal_tuple(p->arena, elements, (int)count);
    return true;
}

struct literal *text_parse_literal(struct diags *ds, struct source *source, struct arena *a)
{
    struct parser p;
    struct literal *l = NULL;
    lex_start(&p, ds, source->text, a, false);
    p.bare_literals = true;
    bool ok = parse_literal_with_shape(&p, &l) &&
              (p.tok.kind == TOK_EOF || expected(&p, "the end of the literal"));
    for (size_t k = 0; !ok && k < p.loose_count; k++)
        literal_free_data(p.loose[k]);
    return ok ? l : NULL;
}
