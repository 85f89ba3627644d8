/*
 * literal.c: parses literals.
 *
 * XLA parses an array literal in a loop over tokens with a depth and a counter per dimension
 * (grammar/text.md 2.6); parse_array_literal is that loop. Tokens are too slow for millions of
 * numbers: literal_scan handles runs of plain numbers bytewise, and leaves everything else, errors
 * included, to the loop.
 */
#include "text/literal_priv.h"

#include <math.h>

/* ---- values ---- */

static bool value_error(struct literal_reader *r, struct span span)
{
    struct str seen = {r->p->text.ptr + span.begin, span.end - span.begin};
    return DIAG_ERROR(r->p->ds, span, VALUE_RANGE, STR_ARG(seen), dtype_spelling(r->dtype));
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

static bool store_double(struct literal_reader *r, enum dtype t, void *at, double v,
                         int64_t payload)
{
    uint64_t code;
    bool ok =
        isnan(v) ? encode_nan(t, signbit(v), payload, &code) : literal_encode_float(t, v, &code);
    if (ok)
        literal_store_bits(at, dtype_bytes(t), code);
    return ok || value_error(r, r->p->tok.span);
}

/* ---- wrong numbers of values ---- */

static bool is_open(enum token_kind k) { return k == TOK_LBRACE || k == TOK_LSQUARE; }
static bool is_close(enum token_kind k) { return k == TOK_RBRACE || k == TOK_RSQUARE; }

static bool is_value(enum token_kind k)
{
    return k == TOK_INT || k == TOK_DECIMAL || k == TOK_INF || k == TOK_NEG_INF || k == TOK_TRUE ||
           k == TOK_FALSE || k == TOK_IDENT || k == TOK_STRING;
}

/* Counts the values from the current token to the end of the literal, or with `rows` the values or
 * rows up to the end of the current braces. Ends at a token that cannot be part of a literal. */
static int64_t count_rest(const struct literal_reader *r, bool rows)
{
    struct parser *p = r->p;
    const struct lex_state start = lex_save(p);
    int depth = r->depth;
    bool pair = false; /* within (re, im) */
    int64_t n = 0;
    for (; depth >= (rows ? r->depth : 1); next(p)) {
        const enum token_kind k = p->tok.kind;
        const bool begins = is_value(k) || k == TOK_LPAREN, open = is_open(k);
        if (!begins && !open && !is_close(k) && k != TOK_COMMA && !(k == TOK_RPAREN && pair))
            break;
        if (!pair && (begins || (rows && open)) && (!rows || depth == r->depth))
            n++;
        pair = k == TOK_LPAREN || (pair && k != TOK_RPAREN);
        depth += open - is_close(k);
    }
    lex_restore(p, start);
    return r->json && !rows && dtype_is_complex(r->dtype) ? n / 2 : n;
}

static bool size_error(const struct literal_reader *r, struct span span, int64_t got)
{
    return DIAG_ERROR(r->p->ds, span, LITERAL_SIZE, STR_ARG(shape_text(r->p->arena, r->shape)),
                      (long long)r->total, (long long)got);
}

static bool count_error(const struct literal_reader *r, int d, int64_t got)
{
    return DIAG_ERROR(r->p->ds, r->p->tok.span, LITERAL_COUNT, d,
                      STR_ARG(shape_text(r->p->arena, r->shape)), (long long)r->shape->dims[d],
                      (long long)got);
}

/* The address of the next element; NULL (reported) if the array is full. */
static void *next_element(struct literal_reader *r)
{
    if (r->at >= r->total) {
        size_error(r, r->p->tok.span, r->at + count_rest(r, false));
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

static bool expected_value(const struct literal_reader *r)
{
    return expected(r->p, r->depth == 0 ? "a value"
                          : r->json     ? "a value, ',' or ']'"
                                        : "a value, ',' or '}'");
}

/* Whether the current bracket is of the kind of the outermost one; otherwise reported. */
static bool is_of_kind(struct literal_reader *r)
{
    const bool square = r->p->tok.kind == TOK_LSQUARE || r->p->tok.kind == TOK_RSQUARE;
    if (r->depth == 0)
        r->json = square;
    return (square == r->json && (!square || r->p->bare_literals)) || expected_value(r);
}

static bool open_brace(struct literal_reader *r)
{
    const int d = r->depth - 1;
    if (r->depth == r->rank)
        return DIAG_ERROR(r->p->ds, r->p->tok.span, LITERAL_DEPTH,
                          STR_ARG(shape_text(r->p->arena, r->shape)), r->rank);
    if (d >= 0 && r->seen[d] >= r->shape->dims[d])
        return count_error(r, d, r->seen[d] + count_rest(r, true));
    if (d >= 0)
        r->seen[d]++;
    r->depth++;
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
        return r->p->bare_literals && r->ignored && r->seen[d] == 0 && d + 1 < r->rank
                   ? DIAG_ERROR(r->p->ds, r->ignored_span, LITERAL_NESTING,
                                STR_ARG(shape_text(r->p->arena, r->shape)), r->rank, d + 1)
                   : count_error(r, d, r->seen[d]);
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

/* The numbers that JSON lacks, as Python writes them and as hlo does. */
static void read_json_word(struct parser *p)
{
    static const struct {
        const char *word;
        enum token_kind kind;
    } words[] = {{"NaN", TOK_DECIMAL}, {"nan", TOK_DECIMAL},       {"Infinity", TOK_INF},
                 {"inf", TOK_INF},     {"-Infinity", TOK_NEG_INF}, {"-inf", TOK_NEG_INF}};
    const struct str rest = {p->text.ptr + p->tok.span.begin, p->text.len - p->tok.span.begin};
    if (p->tok.kind == TOK_ERROR && str_starts(rest, STR("-Infinity"))) {
        p->tok.s = STR("-Infinity");
        p->at = p->tok.span.begin + p->tok.s.len;
    } else if (p->tok.kind != TOK_IDENT && p->tok.kind != TOK_STRING) {
        return;
    }
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (str_is(p->tok.s, words[i].word)) {
            p->tok.kind = words[i].kind;
            p->tok.d = NAN;
            p->tok.i = -1;
            return;
        }
}

static void next_value(struct literal_reader *r)
{
    next(r->p);
    if (r->json)
        read_json_word(r->p);
}

/* complex = "(" real "," real ")" ; real = INT | DECIMAL | "inf" | "-inf" ; in JSON, "[" real ","
 * real "]". */
static bool parse_complex(struct literal_reader *r)
{
    struct parser *p = r->p;
    enum dtype part = dtype_component(r->dtype);
    double re, im;
    int64_t payload[2];
    if (!count_element(r))
        return count_error(r, r->rank - 1, r->seen[r->rank - 1] - 1 + count_rest(r, true));
    next_value(r);
    struct token first = p->tok;
    if (!parse_real(p, &re, &payload[0]))
        return false;
    next(p);
    if (p->tok.kind != TOK_COMMA)
        return expected(p, "',' between real and imaginary part");
    next_value(r);
    struct token second = p->tok;
    if (!parse_real(p, &im, &payload[1]))
        return false;
    next(p);
    if (p->tok.kind != (r->json ? TOK_RSQUARE : TOK_RPAREN))
        return expected(p, r->json ? "']'" : "')'");
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
        if (p->tok.kind == TOK_DECIMAL)
            return DIAG_ERROR(p->ds, p->tok.span, EXPECTED_INTEGER,
                              (int)(p->tok.span.end - p->tok.span.begin),
                              p->text.ptr + p->tok.span.begin);
        if (p->tok.kind != TOK_INT)
            return expected(p, "an integer");
        if (!literal_encode_int(r->dtype, p->tok.i, &code))
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
    literal_store_bits(at, dtype_bytes(r->dtype), code);
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
            (depth == 0 && !is_open(p->tok.kind)))
            return false;
        if (is_close(p->tok.kind)) {
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
        if (!is_open(p->tok.kind)) {
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
    if (r->ignored && r->p->bare_literals && r->at < r->total)
        return size_error(r, r->ignored_span, r->at);
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
    const bool complex = dtype_is_complex(r.dtype), plain = r.rank > 0 && !complex;
    bool ok;
    do {
        if (plain && r.data && r.depth > 0)
            literal_scan(&r);
        if (r.json)
            read_json_word(p);
        switch (p->tok.kind) {
        case TOK_LBRACE:
        case TOK_LSQUARE:
            if (p->tok.kind == TOK_LSQUARE && p->bare_literals && r.depth == r.rank && complex) {
                r.json = true;
                ok = parse_complex(&r);
            } else {
                ok = is_of_kind(&r) && open_brace(&r);
            }
            break;
        case TOK_RBRACE:
        case TOK_RSQUARE: ok = is_of_kind(&r) && close_brace(&r); break;
        case TOK_LPAREN: ok = complex ? parse_complex(&r) : expected(p, "a value"); break;
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
        default: ok = expected_value(&r); break;
        }
    } while (ok && r.depth > 0);
    return ok && finish_array(&r, out);
}

/* tuple_literal = "(" ")" | "(" literal {[","] literal} ")" ; */
static bool parse_tuple_literal(struct parser *p, const struct shape *shape, struct literal **out)
{
    struct literal **elements = ARENA_ARRAY(p->arena, struct literal *, shape->count);
    const bool json = p->bare_literals && p->tok.kind == TOK_LSQUARE;
    const enum token_kind close = json ? TOK_RSQUARE : TOK_RPAREN;
    if (!expect(p, json ? TOK_LSQUARE : TOK_LPAREN, "'(' before the tuple"))
        return false;
    bool empty = p->tok.kind == close && !json; /* XLA then makes every component an empty tuple */
    for (int i = 0; i < shape->count; i++) {
        if (empty) {
            elements[i] = literal_tuple(p->arena, NULL, 0);
            continue;
        }
        if (i > 0 && !accept(p, TOK_COMMA) && !p->strict && p->tok.kind != close)
            DIAG(p->ds, p->tok.span, COMMA_MISSING);
        if (!parse_literal(p, shape->elements[i], &elements[i]))
            return false;
    }
    *out = literal_tuple(p->arena, elements, shape->count);
    return expect(p, close,
                  json ? "']' after the last tuple element" : "')' after the last tuple element");
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

struct literal *text_parse_literal(struct diags *ds, struct source *source, struct arena *a,
                                   const struct shape *shape)
{
    struct parser p;
    struct literal *l = NULL;
    lex_start(&p, ds, source->text, a, false);
    p.bare_literals = true;
    bool ok = (shape ? parse_literal(&p, shape, &l) : parse_literal_with_shape(&p, &l)) &&
              (p.tok.kind == TOK_EOF || expected(&p, "the end of the literal"));
    for (size_t k = 0; !ok && k < p.loose_count; k++)
        literal_free_data(p.loose[k]);
    return ok ? l : NULL;
}
