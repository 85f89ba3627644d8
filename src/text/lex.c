/*
 * lex.c: the lexer.
 *
 * Tokens are recognized in XLA's order (grammar/text.md 1), by lex() alone; the differences between
 * strict and default mode are there as well. A token is a kind and a span; nothing is copied. An
 * error token has at least one byte, so that error recovery always advances.
 */
#include "text/text_priv.h"

#include <math.h>

/* ---- characters ---- */

enum { C_BLANK = 1, C_START = 2, C_NAME = 4, C_DIGIT = 8, C_LABEL = 16, C_HEX = 32 };

static const uint8_t char_class[256] = {
    [' '] = C_BLANK,
    ['\t'] = C_BLANK,
    ['\n'] = C_BLANK,
    ['\r'] = C_BLANK,
    ['0' ... '9'] = C_NAME | C_DIGIT | C_LABEL | C_HEX,
    ['A' ... 'F'] = C_NAME | C_START | C_HEX,
    ['G' ... 'Z'] = C_NAME | C_START,
    ['a'] = C_NAME | C_START | C_HEX,
    ['b'] = C_NAME | C_START | C_HEX | C_LABEL,
    ['c' ... 'e'] = C_NAME | C_START | C_HEX,
    ['f'] = C_NAME | C_START | C_HEX | C_LABEL,
    ['g' ... 'z'] = C_NAME | C_START,
    ['_'] = C_NAME | C_START,
    ['.'] = C_NAME,
    ['-'] = C_NAME,
    ['?'] = C_LABEL,
};

static bool is_class(char c, int class) { return char_class[(unsigned char)c] & class; }

static const char *skip_class(const char *s, const char *end, int class)
{
    while (s < end && is_class(*s, class))
        s++;
    return s;
}

static const char *skip_digits(const char *s, const char *end)
{
    while (s < end && (unsigned char)(*s - '0') < 10)
        s++;
    return s;
}

static bool at_char(const char *s, const char *end, char c) { return s < end && *s == c; }

/* ---- separators ---- */

const char *lex_log_prefix_end(const char *s, const char *end)
{
    const char *p = s;
    bool glog = end - s > 5 && strchr("IWEF", *s) && *s;
    if (glog) {
        p = skip_digits(s + 1, end);
        if (p != s + 5 || !at_char(p, end, ' '))
            return NULL;
        p++;
    } else {
        p = skip_digits(s, end);
        if (p != s + 4 || end - p < 7 || p[0] != '-' || p[3] != '-' || p[6] != ' ')
            return NULL;
        p += 7;
    }
    if (end - p < 9 || p[2] != ':' || p[5] != ':')
        return NULL;
    const char *line_end = memchr(p, '\n', (size_t)(end - p));
    const char *limit = line_end ? line_end : end;
    const char *close = memchr(p, ']', (size_t)(limit - p));
    if (!close || is_class(close[-1], C_DIGIT) == 0 || close + 1 == limit || close[1] != ' ')
        return NULL;
    const char *number = close;
    while (number > p && is_class(number[-1], C_DIGIT))
        number--;
    return number > p && number[-1] == ':' ? close + 2 : NULL;
}

const char *lex_comment_end(const char *s, const char *end)
{
    if (end - s < 2 || *s != '/' || (s[1] != '/' && s[1] != '*'))
        return NULL;
    if (s[1] == '/') {
        while (s < end && *s != '\n' && *s != '\r')
            s++;
        return s;
    }
    const char *close = s + 2;
    do {
        close = memchr(close, '*', (size_t)(end - close));
    } while (close && close + 1 < end && close[1] != '/' && close++);
    return close && close + 1 < end ? close + 2 : NULL;
}

/* Skips white space and comments; an unterminated comment is not skipped. */
static const char *skip_separators(const char *s, const char *begin, const char *end, bool strict)
{
    for (;;) {
        while (s < end && is_class(*s, C_BLANK))
            s++;
        if (s == end)
            return s;
        if (!strict && (s == begin || s[-1] == '\n') && is_class(*s, C_NAME)) {
            const char *after = lex_log_prefix_end(s, end);
            if (after) {
                s = after;
                continue;
            }
        }
        const char *after = lex_comment_end(s, end);
        if (!after)
            return s;
        s = after;
    }
}

/* The same, with a fast path for one blank or none. */
static inline const char *skip_blank(const char *s, const char *begin, const char *end, bool strict)
{
    if (s < end && *s == ' ')
        s++;
    bool plain = s < end && s > begin && s[-1] != '\n' && *s != '/' && !is_class(*s, C_BLANK);
    return plain ? s : skip_separators(s, begin, end, strict);
}

/* ---- identifiers ---- */

/* The keyword, or TOK_IDENT. */
static enum token_kind keyword(struct str w)
{
#define IS(z, kind)                                                                                \
    if (w.len == sizeof(z) - 1 && memcmp(w.ptr, z, sizeof(z) - 1) == 0)                            \
    return kind
    switch (*w.ptr) {
    case 'E': IS("ENTRY", TOK_ENTRY); break;
    case 'F':
        IS("FileNames", TOK_FILE_NAMES);
        IS("FunctionNames", TOK_FUNCTION_NAMES);
        IS("FileLocations", TOK_FILE_LOCATIONS);
        break;
    case 'H': IS("HloModule", TOK_HLO_MODULE); break;
    case 'R': IS("ROOT", TOK_ROOT); break;
    case 'S': IS("StackFrames", TOK_STACK_FRAMES); break;
    case 'f': IS("false", TOK_FALSE); break;
    case 'i': IS("inf", TOK_INF); break;
    case 'l': IS("last_tile_dim_replicate", TOK_LAST_TILE_DIM_REPLICATE); break;
    case 'm':
        IS("maximal", TOK_MAXIMAL);
        IS("manual", TOK_MANUAL);
        break;
    case 'r': IS("replicated", TOK_REPLICATED); break;
    case 's':
        IS("shard_as", TOK_SHARD_AS);
        IS("shard_like", TOK_SHARD_LIKE);
        break;
    case 't': IS("true", TOK_TRUE); break;
    case 'u':
        IS("unknown", TOK_UNKNOWN);
        IS("unreduced", TOK_UNREDUCED);
        break;
    default: break;
    }
#undef IS
    return TOK_IDENT;
}

/* The element type of this name. Names are a few letters and a digit, or one of three words: most
 * identifiers are ruled out cheaply. */
static enum dtype word_dtype(struct str w)
{
    if (w.len < 2 || w.len > 13)
        return DT_INVALID;
    switch (*w.ptr) {
    case 's':
    case 'u':
    case 'f':
    case 'c': return is_class(w.ptr[1], C_DIGIT) ? dtype_find(w) : DT_INVALID;
    case 'p':
    case 't':
    case 'o':
    case 'b': return w.len >= 4 && w.len <= 6 ? dtype_find(w) : DT_INVALID;
    default: return DT_INVALID;
    }
}

/* Matches [0-9bf?]{2,}_[0-9io?]{2,}->[0-9bf?]{2,}; returns its end, or NULL. */
static const char *dim_labels_end(const char *s, const char *end)
{
    const char *p = skip_class(s, end, C_LABEL);
    if (p - s < 2 || !at_char(p, end, '_'))
        return NULL;
    const char *kernel = ++p;
    while (p < end && (is_class(*p, C_DIGIT) || *p == 'i' || *p == 'o' || *p == '?'))
        p++;
    if (p - kernel < 2 || end - p < 2 || p[0] != '-' || p[1] != '>')
        return NULL;
    const char *output = p += 2;
    p = skip_class(p, end, C_LABEL);
    return p - output < 2 ? NULL : p;
}

/* ---- numbers ---- */

/* [eE][+-]?[0-9]+ */
static const char *exponent_end(const char *s, const char *end)
{
    if (s == end || (*s != 'e' && *s != 'E'))
        return NULL;
    s++;
    if (s < end && (*s == '+' || *s == '-'))
        s++;
    const char *p = skip_digits(s, end);
    return p == s ? NULL : p;
}

/* A decimal with a point or an exponent. */
static const char *decimal_end(const char *s, const char *end)
{
    s += at_char(s, end, '-');
    const char *p = skip_digits(s, end);
    ptrdiff_t digits = p - s;
    bool point = at_char(p, end, '.');
    if (point) {
        const char *fraction = p + 1;
        p = skip_digits(fraction, end);
        digits += p - fraction;
    }
    if (!digits)
        return NULL;
    const char *e = exponent_end(p, end);
    return e ? e : point ? p : NULL;
}

/* [0-9]+(x[0-9]+)+ */
static const char *dxd_end(const char *s, const char *end)
{
    const char *p = skip_digits(s, end), *last = NULL;
    while (p > s && at_char(p, end, 'x')) {
        const char *d = skip_digits(p + 1, end);
        if (d == p + 1)
            break;
        last = p = d;
    }
    return last;
}

static const char *int_end(const char *s, const char *end)
{
    s += at_char(s, end, '-');
    const char *p = skip_digits(s, end);
    return p == s ? NULL : p;
}

/* -?[0-9]+_-?[0-9]+(_[0-9]+)? */
static const char *pad_part_end(const char *s, const char *end)
{
    const char *p = int_end(s, end);
    if (!p || !at_char(p, end, '_'))
        return NULL;
    p = int_end(p + 1, end);
    if (p && at_char(p, end, '_')) {
        const char *interior = skip_digits(p + 1, end);
        if (interior > p + 1)
            p = interior;
    }
    return p;
}

static const char *pad_end(const char *s, const char *end)
{
    const char *p = pad_part_end(s, end), *more;
    while (p && at_char(p, end, 'x') && (more = pad_part_end(p + 1, end)))
        p = more;
    return p;
}

/* 0x1.8p3, an extension: hexadecimal with a non-empty exponent. */
static const char *hex_float_end(const char *s, const char *end)
{
    s += at_char(s, end, '-');
    if (end - s < 4 || s[0] != '0' || s[1] != 'x')
        return NULL;
    const char *p = skip_class(s + 2, end, C_HEX);
    ptrdiff_t digits = p - s - 2;
    if (at_char(p, end, '.')) {
        const char *fraction = p + 1;
        p = skip_class(fraction, end, C_HEX);
        digits += p - fraction;
    }
    if (!digits || !at_char(p, end, 'p'))
        return NULL;
    p++;
    p += p < end && (*p == '+' || *p == '-');
    const char *e = skip_digits(p, end);
    return e == p ? NULL : e;
}

/* The value of a hexadecimal float that hex_float_end has matched. Digits beyond 60 bits only
 * affect rounding by being zero or not. */
static double hex_float(const char *s, const char *end)
{
    bool negative = *s == '-';
    uint64_t mantissa = 0;
    int exponent = 0, digit_scale = 0, written = 0, sign = 1;
    const char *p = s + negative + 2;
    for (; *p != 'p'; p++) {
        if (*p == '.') {
            digit_scale = -4;
        } else if (mantissa >> 60) {
            mantissa |= char_hex(*p) != 0;
            exponent += 4 + digit_scale;
        } else {
            mantissa = mantissa << 4 | (uint64_t)char_hex(*p);
            exponent += digit_scale;
        }
    }
    p++;
    if (*p == '-' || *p == '+')
        sign = *p++ == '-' ? -1 : 1;
    for (; p < end; p++)
        written = written < 100000 ? written * 10 + (*p - '0') : written;
    double v = ldexp((double)mantissa, exponent + sign * written);
    return negative ? -v : v;
}

/* ---- strings ---- */

/* Decodes one escape at `*at`, after the backslash, to at most 4 bytes; returns their number, or
 * -1. */
static int take_escape(const char **at, const char *end, char *out)
{
    static const char letters[] = "abfnrtv\\?'\"", values[] = "\a\b\f\n\r\t\v\\?'\"";
    const char *p = *at;
    char c = *p++;
    const char *letter = c ? strchr(letters, c) : NULL;
    unsigned v = 0;
    if (letter) {
        *out = values[letter - letters];
        *at = p;
        return 1;
    }
    if (c >= '0' && c <= '7') {
        v = (unsigned)(c - '0');
        for (int n = 1; n < 3 && p < end && *p >= '0' && *p <= '7'; n++)
            v = v * 8 + (unsigned)(*p++ - '0');
        *at = p;
        *out = (char)v;
        return v > 0xff ? -1 : 1;
    }
    bool byte = c == 'x' || c == 'X';
    int digit_count = c == 'u' ? 4 : c == 'U' ? 8 : 0, n = 0;
    if (!byte && !digit_count)
        return -1;
    for (; p < end && is_class(*p, C_HEX) && (byte || n < digit_count); n++) {
        v = v * 16 + (unsigned)char_hex(*p++);
        if (byte && v > 0xff)
            return -1;
    }
    *at = p;
    if (byte) {
        *out = (char)v;
        return n ? 1 : -1;
    }
    if (n < digit_count || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
        return -1;
    return (int)utf8_encode(v, out);
}

/* The byte after the closing quote, or NULL; `escapes` is set if there are any. */
static const char *string_end(const char *s, const char *end, bool *escapes)
{
    char quote = *s++;
    const char *close = memchr(s, quote, (size_t)(end - s));
    if (close && !memchr(s, '\\', (size_t)(close - s)))
        return close + 1;
    for (; s < end; s++) {
        if (*s == quote)
            return s + 1;
        if (*s == '\\') {
            *escapes = true;
            if (++s == end || *s == '\n')
                return NULL;
        }
    }
    return NULL;
}

/* Unescapes into `out`, which may be NULL to check only; false for an invalid escape. */
static bool unescape(struct str raw, char *out, size_t *len)
{
    const char *p = raw.ptr, *end = p + raw.len;
    size_t n = 0;
    while (p < end) {
        char bytes[4] = {*p};
        int count = 1;
        if (*p++ == '\\' && (count = take_escape(&p, end, bytes)) < 0)
            return false;
        if (out)
            memcpy(out + n, bytes, (size_t)count);
        n += (size_t)count;
    }
    *len = n;
    return true;
}

bool lex_string(struct parser *p, struct str *out)
{
    struct str raw = p->tok.s;
    if (!p->tok.i) {
        *out = raw;
        return true;
    }
    char *bytes = arena_alloc(p->arena, raw.len + 1); /* never longer than the escaped text */
    size_t len = 0;
    if (!unescape(raw, bytes, &len))
        return false;
    bytes[len] = '\0';
    *out = (struct str){bytes, len};
    return true;
}

/* ---- one token ---- */

static void set_token(struct parser *p, enum token_kind kind, const char *begin, const char *end)
{
    struct token *t = &p->tok;
    t->kind = kind;
    t->span = (struct span){(uint32_t)(begin - p->text.ptr), (uint32_t)(end - p->text.ptr)};
    t->s = (struct str){begin, (size_t)(end - begin)};
    p->at = (size_t)(end - p->text.ptr);
}

static void set_error(struct parser *p, enum lex_error why, const char *begin, const char *end)
{
    set_token(p, TOK_ERROR, begin, end);
    p->tok.i = why;
}

/* A NaN: `nan` or `-nan` ends at `s`; an adjacent `(0x...)` is the payload. */
static void lex_nan(struct parser *p, const char *begin, const char *s, const char *end,
                    double value)
{
    int64_t payload = -1;
    if (at_char(s, end, '(')) {
        const char *digits = s + 3, *q = digits;
        bool form = end - s > 3 && s[1] == '0' && (s[2] == 'x' || s[2] == 'X');
        payload = 0;
        for (; form && q < end && is_class(*q, C_HEX) && payload < INT64_C(1) << 52; q++)
            payload = payload << 4 | char_hex(*q);
        if (!form || q == digits || !at_char(q, end, ')') || payload < 1 ||
            payload >= INT64_C(1) << 52) {
            set_error(p, LEX_NAN, begin, s);
            return;
        }
        s = q + 1;
    }
    set_token(p, TOK_DECIMAL, begin, s);
    p->tok.d = value;
    p->tok.i = payload;
}

static void lex_word(struct parser *p, const char *s, const char *end)
{
    const char *e = skip_class(s + 1, end, C_NAME), *labels;
    struct str w = {s, (size_t)(e - s)};
    if (e < end && (*e == ':' || *e == '=')) {
        set_token(p, *e == ':' ? TOK_NAME : TOK_ATTR_NAME, s, e + 1);
        p->tok.s = w;
        return;
    }
    enum dtype t = word_dtype(w);
    if (t != DT_INVALID) {
        set_token(p, TOK_DTYPE, s, e);
        p->tok.dtype = t;
    } else if (w.len == 3 && memcmp(s, "nan", 3) == 0) {
        lex_nan(p, s, e, end, NAN);
    } else {
        enum token_kind kind = keyword(w);
        if (kind == TOK_IDENT && is_class(*s, C_LABEL) && (labels = dim_labels_end(s, end)))
            set_token(p, TOK_DIM_LABELS, s, labels);
        else
            set_token(p, kind, s, e);
    }
}

static void lex_int(struct parser *p, const char *s, const char *e)
{
    int64_t v = 0;
    if (e - s <= 18) {
        const char *q = s + (*s == '-');
        for (; q < e; q++)
            v = v * 10 + (*q - '0');
        v = *s == '-' ? -v : v;
    } else if (!num_parse_int((struct str){s, (size_t)(e - s)}, &v)) {
        set_error(p, LEX_NUMBER, s, e);
        return;
    }
    set_token(p, TOK_INT, s, e);
    p->tok.i = v;
}

/* A token that begins with [0-9?-] or, in default mode, a point. The byte after the digits selects
 * the patterns of grammar/text.md 1.4 that can match; `masked` excludes patterns 2 to 5. */
static void lex_number(struct parser *p, const char *s, const char *end, bool masked)
{
    const char *e = int_end(s, end), *q;
    char after = e ? (e < end ? *e : '\0') : '\0';
    if (*s == '-' && s + 1 < end && s[1] == '>') {
        set_token(p, TOK_ARROW, s, s + 2);
        return;
    }
    if (!masked && (after || !e)) {
        if (!p->strict && after == 'x' && (q = hex_float_end(s, end))) {
            set_token(p, TOK_DECIMAL, s, q);
            p->tok.d = hex_float(s, q);
            p->tok.i = -1;
            return;
        }
        if ((!e || after == '.' || after == 'e' || after == 'E') && (q = decimal_end(s, end))) {
            set_token(p, TOK_DECIMAL, s, q);
            num_parse_double(p->tok.s, &p->tok.d);
            p->tok.i = -1;
            return;
        }
        if ((is_class(after, C_LABEL) || after == '_' || *s == '?') &&
            (q = dim_labels_end(s, end))) {
            set_token(p, TOK_DIM_LABELS, s, q);
            return;
        }
        if (after == 'x' && (q = dxd_end(s, end))) {
            set_token(p, TOK_DXD, s, q);
            return;
        }
        if (after == '_' && (q = pad_end(s, end))) {
            set_token(p, TOK_PAD, s, q);
            return;
        }
    }
    if (e)
        lex_int(p, s, e);
    else if (end - s >= 4 && memcmp(s, "-inf", 4) == 0)
        set_token(p, TOK_NEG_INF, s, s + 4);
    else if (end - s >= 4 && memcmp(s, "-nan", 4) == 0)
        lex_nan(p, s, s + 4, end, -NAN);
    else if (*s == '?')
        set_token(p, TOK_QUESTION, s, s + 1);
    else
        set_error(p, LEX_STRAY, s, s + 1);
}

static void lex_quoted(struct parser *p, const char *s, const char *end)
{
    bool escapes = false;
    const char *e = string_end(s, end, &escapes);
    if (!e) {
        const char *line = memchr(s, '\n', (size_t)(end - s));
        set_error(p, LEX_STRING, s, line ? line : end);
        return;
    }
    set_token(p, TOK_STRING, s, e);
    p->tok.s = (struct str){s + 1, (size_t)(e - s) - 2};
    p->tok.i = escapes;
    size_t len;
    if (escapes && !unescape(p->tok.s, NULL, &len))
        set_error(p, LEX_ESCAPE, s, e);
}

static void lex_percent(struct parser *p, const char *s, const char *end)
{
    if (s + 1 == end || !is_class(s[1], C_START)) {
        set_error(p, LEX_STRAY, s, s + 1);
        return;
    }
    const char *e = skip_class(s + 2, end, C_NAME);
    set_token(p, TOK_NAME, s, e);
    p->tok.s = (struct str){s + 1, (size_t)(e - s) - 1};
}

static void lex(struct parser *p, bool masked)
{
    static const uint8_t punctuation[128] = {
        ['='] = TOK_EQUAL,   [','] = TOK_COMMA,  [':'] = TOK_COLON,  ['*'] = TOK_STAR,
        ['#'] = TOK_HASH,    ['+'] = TOK_PLUS,   ['~'] = TOK_TILDE,  ['['] = TOK_LSQUARE,
        [']'] = TOK_RSQUARE, ['{'] = TOK_LBRACE, ['}'] = TOK_RBRACE, ['('] = TOK_LPAREN,
        [')'] = TOK_RPAREN,
    };
    const char *begin = p->text.ptr, *end = begin + p->text.len;
    const char *s = skip_blank(begin + p->at, begin, end, p->strict);
    if (s == end) {
        set_token(p, TOK_EOF, end, end);
        return;
    }
    unsigned char c = (unsigned char)*s;
    if (char_class[c] & C_START) {
        lex_word(p, s, end);
    } else if (char_class[c] & C_DIGIT || c == '-' || c == '?') {
        lex_number(p, s, end, masked);
    } else if (c < 128 && punctuation[c]) {
        set_token(p, punctuation[c], s, s + 1);
    } else if (c == '<' && s + 1 < end && s[1] == '=') {
        set_token(p, TOK_LESS_EQUAL, s, s + 2);
    } else if (c == '<' && !p->strict) {
        set_token(p, TOK_LESS, s, s + 1);
    } else if (c == '>' && !p->strict) {
        set_token(p, TOK_GREATER, s, s + 1);
    } else if (c == '%') {
        lex_percent(p, s, end);
    } else if (end - s >= 3 && memcmp(s, "...", 3) == 0) {
        set_token(p, TOK_DOTS, s, s + 3);
    } else if (c == '.' && !p->strict && s + 1 < end && is_class(s[1], C_DIGIT)) {
        lex_number(p, s, end, false);
    } else if (c == '"' || c == '\'') {
        lex_quoted(p, s, end);
    } else if (c == '/' && s + 1 < end && s[1] == '*') {
        set_error(p, LEX_COMMENT, s, end);
    } else {
        set_error(p, LEX_STRAY, s, s + 1);
    }
}

/* ---- interface for the parser ---- */

void lex_start(struct parser *p, struct diags *ds, struct str text, struct arena *arena,
               bool strict)
{
    *p = (struct parser){.ds = ds, .text = text, .arena = arena, .strict = strict};
    if (!p->text.ptr)
        p->text.ptr = "";
    next(p);
}

void next(struct parser *p)
{
    p->prev_end = p->tok.span.end;
    lex(p, false);
}

void next_in_int_list(struct parser *p)
{
    p->prev_end = p->tok.span.end;
    lex(p, true);
}

enum token_kind peek(const struct parser *p)
{
    struct parser ahead = {.text = p->text, .strict = p->strict, .at = p->at};
    lex(&ahead, false);
    return ahead.tok.kind;
}

struct lex_state lex_save(const struct parser *p)
{
    return (struct lex_state){p->at, p->tok, p->prev_end};
}

void lex_restore(struct parser *p, struct lex_state s)
{
    p->at = s.at;
    p->tok = s.tok;
    p->prev_end = s.prev_end;
}

void lex_jump(struct parser *p, size_t at)
{
    p->at = at;
    p->tok.span.end = (uint32_t)at;
    next(p);
}

bool accept(struct parser *p, enum token_kind kind)
{
    if (p->tok.kind != kind)
        return false;
    next(p);
    return true;
}

/* The name of a token kind in messages. */
static const char *token_name(enum token_kind kind)
{
    static const char *const names[TOK_KIND_COUNT] = {
#define TOKEN(id, name) name,
#include "text/token.def"
    };
    return names[kind];
}

bool expect(struct parser *p, enum token_kind kind, const char *what)
{
    return accept(p, kind) || expected(p, what ? what : token_name(kind));
}

static bool bad_token(struct parser *p)
{
    struct span span = p->tok.span;
    unsigned char c = (unsigned char)*p->tok.s.ptr;
    switch ((enum lex_error)p->tok.i) {
    case LEX_STRING:
    case LEX_COMMENT:
        span.end = span.begin + 1;
        return DIAG_ERROR(p->ds, span, UNTERMINATED, p->tok.i == LEX_STRING ? "string" : "comment");
    case LEX_ESCAPE: return DIAG_ERROR(p->ds, span, BAD_TOKEN, "string: invalid escape sequence");
    case LEX_NAN:
        return DIAG_ERROR(p->ds, span, BAD_TOKEN,
                          "NaN: payload must be nan(0x1) to nan(0xfffffffffffff)");
    case LEX_NUMBER: return DIAG_ERROR(p->ds, span, BAD_TOKEN, "integer: does not fit in 64 bits");
    case LEX_STRAY: break;
    }
    if (c >= 0x20 && c < 0x7f)
        return DIAG_ERROR(p->ds, span, STRAY_BYTE, c, c);
    return DIAG_ERROR(p->ds, span, STRAY_BYTE, '?', c);
}

bool expected(struct parser *p, const char *what)
{
    enum { SHOWN = 40 };
    struct token t = p->tok;
    if (t.kind == TOK_ERROR)
        return bad_token(p);
    if (t.kind == TOK_EOF)
        return DIAG_ERROR(p->ds, t.span, UNEXPECTED_END, what);
    struct str seen = {p->text.ptr + t.span.begin, t.span.end - t.span.begin};
    bool cut = seen.len > SHOWN;
    seen.len = cut ? SHOWN : seen.len;
    return DIAG_ERROR(p->ds, t.span, EXPECTED, what, STR_ARG(seen), cut ? "..." : "");
}

/* The byte after the dictionary that starts with the `{` at `s`, or NULL. */
static const char *dict_end(const char *s, const char *end)
{
    size_t depth = 0;
    while (s < end) {
        bool escapes;
        if (*s == '"') {
            s = string_end(s, end, &escapes);
            if (!s)
                return NULL;
            continue;
        }
        depth += *s == '{';
        if (*s++ == '}' && --depth == 0)
            return s;
    }
    return NULL;
}

bool lex_dict(struct parser *p, struct str *out)
{
    const char *s = p->text.ptr + p->tok.span.begin;
    const char *e = dict_end(s, p->text.ptr + p->text.len);
    if (!e)
        return DIAG_ERROR(p->ds, p->tok.span, UNTERMINATED, "dictionary");
    *out = (struct str){s, (size_t)(e - s)};
    lex_jump(p, (size_t)(e - p->text.ptr));
    return true;
}

bool lex_is_dict(struct str s)
{
    const char *end = s.ptr + s.len;
    const char *open = s.len ? skip_separators(s.ptr, s.ptr, end, true) : end;
    if (open == end || *open != '{')
        return false;
    const char *close = dict_end(open, end);
    return close && skip_separators(close, s.ptr, end, true) == end;
}

bool enter(struct parser *p)
{
    if (++p->depth <= NESTING_LIMIT)
        return true;
    DIAG(p->ds, p->tok.span, TOO_DEEP);
    p->too_deep = true; /* nested text cannot be told from what follows: parsing stops here */
    lex_jump(p, p->text.len);
    return false;
}
