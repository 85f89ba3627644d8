/*
 * text_format.c: the text format of protocol buffers, converted to the wire format.
 *
 *   message = {field [";" | ","]} ;
 *   field   = NAME [":"] (value | "[" [value {"," value}] "]") ;
 *   value   = scalar | "{" message "}" | "<" message ">" ;
 *
 * Unknown fields are skipped, as in the wire format.
 */
#include "proto/proto_priv.h"

#include <math.h>

enum { DEEPEST = 100 };

struct lexer {
    struct diags *ds;
    const char *begin, *at, *end;
    struct buf *out;
    int depth;
};

/* ---- tokens ---- */

static bool fail(struct lexer *x, const char *from, const char *format, ...) PRINTF_LIKE(3, 4);
static bool fail(struct lexer *x, const char *from, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    const struct str text = arena_vprintf(&x->ds->arena, format, ap);
    va_end(ap);
    const uint32_t begin = (uint32_t)(from - x->begin);
    const uint32_t end = (uint32_t)(x->at > from ? x->at - x->begin : from + 1 - x->begin);
    return DIAG_ERROR(x->ds, ((struct span){begin, end}), PROTO_MALFORMED, STR_ARG(text));
}

static void skip_blanks(struct lexer *x)
{
    while (x->at < x->end) {
        if (*x->at == '#')
            while (x->at < x->end && *x->at != '\n')
                x->at++;
        else if (char_is_blank(*x->at) || *x->at == '\v' || *x->at == '\f')
            x->at++;
        else
            return;
    }
}

static char peek(struct lexer *x)
{
    skip_blanks(x);
    return x->at < x->end ? *x->at : '\0';
}

static bool accept(struct lexer *x, char c)
{
    if (peek(x) != c || x->at == x->end)
        return false;
    x->at++;
    return true;
}

static bool is_word_char(char c)
{
    return char_is_letter(c) || char_is_digit(c) || c == '.' || c == '+';
}

/* A name or number, without its sign. */
static struct str take_word(struct lexer *x)
{
    skip_blanks(x);
    const char *from = x->at;
    while (x->at < x->end &&
           (is_word_char(*x->at) || (*x->at == '-' && x->at > from && char_is_digit(*from) &&
                                     (x->at[-1] == 'e' || x->at[-1] == 'E'))))
        x->at++;
    return (struct str){from, (size_t)(x->at - from)};
}

/* ---- strings ---- */

static int digit_of(char c, int base) { return char_hex(c) < base ? char_hex(c) : -1; }

/* A number of at most `most` digits of an escape. */
static bool take_code(struct lexer *x, int base, int most, unsigned *out)
{
    int n = 0;
    *out = 0;
    for (; n < most && x->at < x->end && digit_of(*x->at, base) >= 0; n++)
        *out = *out * (unsigned)base + (unsigned)digit_of(*x->at++, base);
    return n > 0;
}

/* An escape after its backslash. */
static bool take_escape(struct lexer *x, struct buf *out)
{
    static const char letters[] = "abfnrtv\\'\"?", bytes[] = "\a\b\f\n\r\t\v\\'\"?";
    const char *from = x->at - 1;
    unsigned code;
    if (x->at == x->end)
        return fail(x, from, "unterminated string");
    const char c = *x->at++;
    const char *hit = c ? strchr(letters, c) : NULL;
    if (hit) {
        buf_putc(out, bytes[hit - letters]);
        return true;
    }
    if (digit_of(c, 8) >= 0) {
        x->at--;
        take_code(x, 8, 3, &code);
        buf_putc(out, (char)code);
        return true;
    }
    const bool wide = c == 'u' || c == 'U';
    if ((c != 'x' && c != 'X' && !wide) || !take_code(x, 16,
                                                      c == 'u'   ? 4
                                                      : c == 'U' ? 8
                                                                 : 2,
                                                      &code))
        return fail(x, from, "invalid escape in a string");
    char bytes_of_code[4] = {(char)code};
    buf_bytes(out, bytes_of_code, wide ? utf8_encode(code, bytes_of_code) : 1);
    return true;
}

/* One string or several adjacent ones. */
static bool take_string(struct lexer *x, struct buf *out)
{
    while (peek(x) == '"' || peek(x) == '\'') {
        const char *from = x->at;
        const char quote = *x->at++;
        while (x->at < x->end && *x->at != quote) {
            if (*x->at == '\n')
                return fail(x, from, "unterminated string");
            const char c = *x->at++;
            if (c != '\\')
                buf_putc(out, c);
            else if (!take_escape(x, out))
                return false;
        }
        if (x->at == x->end)
            return fail(x, from, "unterminated string");
        x->at++;
    }
    return true;
}

/* ---- numbers ---- */

/* The magnitude of a decimal, octal or hexadecimal number; false if it is malformed or exceeds 64
 * bits. */
static bool read_magnitude(struct str s, uint64_t *out)
{
    int base = 10;
    if (s.len > 2 && s.ptr[0] == '0' && (s.ptr[1] == 'x' || s.ptr[1] == 'X')) {
        base = 16;
        s = str_skip(s, 2);
    } else if (s.len > 1 && s.ptr[0] == '0') {
        base = 8;
    }
    *out = 0;
    for (size_t k = 0; k < s.len; k++) {
        const int digit = digit_of(s.ptr[k], base);
        if (digit < 0 || __builtin_mul_overflow(*out, (uint64_t)base, out) ||
            __builtin_add_overflow(*out, (uint64_t)digit, out))
            return false;
    }
    return s.len > 0;
}

static bool in_range(ProtobufCType t, bool negative, uint64_t v)
{
    switch (t) {
    case PROTOBUF_C_TYPE_UINT32: return v <= UINT32_MAX && (!negative || v == 0);
    case PROTOBUF_C_TYPE_UINT64: return !negative || v == 0;
    case PROTOBUF_C_TYPE_INT64: return v <= (uint64_t)INT64_MAX + negative;
    default: return v <= (uint64_t)INT32_MAX + negative;
    }
}

static bool fail_number(struct lexer *x, const char *from, const ProtobufCFieldDescriptor *f,
                        struct str word)
{
    return fail(x, from, "expected a number for '%s', got '" STR_FMT "'", f->name, STR_ARG(word));
}

static bool take_integer(struct lexer *x, const ProtobufCFieldDescriptor *f, uint64_t *out)
{
    const char *from = x->at;
    const bool negative = accept(x, '-');
    const struct str word = take_word(x);
    if (!read_magnitude(word, out) || !in_range(f->type, negative, *out))
        return fail_number(x, from, f, word);
    if (negative)
        *out = -*out;
    return true;
}

static bool take_bool(struct lexer *x, const ProtobufCFieldDescriptor *f, uint64_t *out)
{
    const char *from = x->at;
    const struct str word = take_word(x);
    *out = str_is(word, "true") || str_is(word, "True") || str_is(word, "t") || str_is(word, "1");
    if (!*out && !str_is(word, "false") && !str_is(word, "False") && !str_is(word, "f") &&
        !str_is(word, "0"))
        return fail(x, from, "expected true or false for '%s', got '" STR_FMT "'", f->name,
                    STR_ARG(word));
    return true;
}

static bool take_enum(struct lexer *x, const ProtobufCFieldDescriptor *f, uint64_t *out)
{
    if (peek(x) == '-' || char_is_digit(peek(x)))
        return take_integer(x, f, out);
    const char *from = x->at;
    const struct str word = take_word(x);
    char name[80];
    snprintf(name, sizeof name, STR_FMT, STR_ARG(word));
    const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value_by_name(f->descriptor, name);
    if (!v)
        return fail(x, from, "unknown value '" STR_FMT "' of '%s'", STR_ARG(word), f->name);
    *out = (uint64_t)(int64_t)v->value;
    return true;
}

static bool read_double(struct str s, double *out)
{
    if (str_eq_nocase(s, STR("inf")) || str_eq_nocase(s, STR("infinity")))
        return *out = (double)INFINITY, true;
    if (str_eq_nocase(s, STR("nan")))
        return *out = (double)NAN, true;
    if (s.len > 1 && (s.ptr[s.len - 1] == 'f' || s.ptr[s.len - 1] == 'F'))
        s.len--;
    if (s.len > 1 && s.ptr[s.len - 1] == '.') /* `1.` */
        s.len--;
    return num_parse_double(s, out);
}

static bool take_real(struct lexer *x, const ProtobufCFieldDescriptor *f, double *out)
{
    const char *from = x->at;
    const bool negative = accept(x, '-');
    const struct str word = take_word(x);
    if (!read_double(word, out))
        return fail_number(x, from, f, word);
    if (negative)
        *out = -*out;
    return true;
}

/* ---- values ---- */

static bool take_message(struct lexer *x, const ProtobufCMessageDescriptor *d, char close);

/* Enters `{` or `<`; returns the closing bracket, or NUL with an error. */
static char open_message(struct lexer *x, const char *name)
{
    const char close = accept(x, '{') ? '}' : accept(x, '<') ? '>' : '\0';
    if (!close)
        fail(x, x->at, "expected '{' after '%s'", name);
    else if (++x->depth > DEEPEST)
        return fail(x, x->at - 1, "messages nested too deep"), '\0';
    return close;
}

static bool take_submessage(struct lexer *x, const ProtobufCFieldDescriptor *f)
{
    const char *from = x->at;
    const char close = open_message(x, f->name);
    if (!close)
        return false;
    const size_t begin = wire_begin(x->out, f->id);
    if (!take_message(x, f->descriptor, close))
        return false;
    x->depth--;
    return wire_end(x->out, begin) || fail(x, from, "message is too long");
}

static bool take_bytes(struct lexer *x, const ProtobufCFieldDescriptor *f)
{
    const char *from = x->at;
    if (peek(x) != '"' && peek(x) != '\'')
        return fail(x, x->at, "expected a string for '%s'", f->name);
    const size_t begin = wire_begin(x->out, f->id);
    return take_string(x, x->out) &&
           (wire_end(x->out, begin) || fail(x, from, "string is too long"));
}

static bool take_number(struct lexer *x, const ProtobufCFieldDescriptor *f)
{
    uint64_t v = 0;
    double d = 0;
    const enum wire_type type = wire_type_of(f);
    if (type != WIRE_VARINT) {
        if (!take_real(x, f, &d))
            return false;
        const float single = (float)d;
        wire_put_tag(x->out, f->id, type);
        buf_bytes(x->out, type == WIRE_BITS32 ? (const void *)&single : &d,
                  type == WIRE_BITS32 ? sizeof single : sizeof d);
        return true;
    }
    if (!(f->type == PROTOBUF_C_TYPE_BOOL   ? take_bool(x, f, &v)
          : f->type == PROTOBUF_C_TYPE_ENUM ? take_enum(x, f, &v)
                                            : take_integer(x, f, &v)))
        return false;
    wire_put_tag(x->out, f->id, WIRE_VARINT);
    wire_put_varint(x->out, v);
    return true;
}

/* Skips a value of an unknown field. */
static bool skip_value(struct lexer *x)
{
    const char *from = x->at;
    const char c = peek(x);
    if (c == '{' || c == '<') {
        const char close = open_message(x, "an unknown field");
        const bool ok = close && take_message(x, NULL, close);
        x->depth--;
        return ok;
    }
    if (c == '"' || c == '\'') {
        SCOPED_BUF ignored = {0};
        return take_string(x, &ignored);
    }
    accept(x, '-');
    return take_word(x).len > 0 || fail(x, from, "expected a value");
}

static bool take_value(struct lexer *x, const ProtobufCFieldDescriptor *f)
{
    if (!f)
        return skip_value(x);
    peek(x);
    if (f->type == PROTOBUF_C_TYPE_MESSAGE)
        return take_submessage(x, f);
    return wire_type_of(f) == WIRE_BYTES ? take_bytes(x, f) : take_number(x, f);
}

static bool take_list(struct lexer *x, const ProtobufCFieldDescriptor *f)
{
    if (f && f->label != PROTOBUF_C_LABEL_REPEATED)
        return fail(x, x->at - 1, "list for '%s', which is not repeated", f->name);
    if (accept(x, ']'))
        return true;
    do {
        if (!take_value(x, f))
            return false;
    } while (accept(x, ','));
    return accept(x, ']') || fail(x, x->at, "expected ',' or ']'");
}

static bool take_name(struct lexer *x, const ProtobufCMessageDescriptor *d,
                      const ProtobufCFieldDescriptor **out)
{
    char name[80];
    const char *from = x->at;
    if (accept(x, '[')) { /* an extension */
        while (x->at < x->end && *x->at != ']')
            x->at++;
        *out = NULL;
        return accept(x, ']') || fail(x, from, "expected ']'");
    }
    const struct str word = take_word(x);
    if (word.len == 0 || !char_is_letter(*word.ptr))
        return fail(x, from, "expected the name of a field");
    snprintf(name, sizeof name, STR_FMT, STR_ARG(word));
    *out = d ? protobuf_c_message_descriptor_get_field_by_name(d, name) : NULL;
    return true;
}

/* The fields of a message; D NULL: they are skipped. */
static bool take_message(struct lexer *x, const ProtobufCMessageDescriptor *d, char close)
{
    const ProtobufCFieldDescriptor *f = NULL;
    while (peek(x) != close || x->at == x->end) {
        if (x->at == x->end)
            return close ? fail(x, x->at, "expected '%c'", close) : true;
        if (!take_name(x, d, &f))
            return false;
        const bool colon = accept(x, ':');
        const char c = peek(x);
        if (!colon && c != '{' && c != '<')
            return fail(x, x->at, "expected ':'");
        if (!(accept(x, '[') ? take_list(x, f) : take_value(x, f)))
            return false;
        if (!accept(x, ';'))
            accept(x, ',');
    }
    x->at++;
    return true;
}

bool proto_from_text(struct diags *ds, struct str text, const ProtobufCMessageDescriptor *d,
                     struct buf *out)
{
    struct lexer x = {
        .ds = ds, .begin = text.ptr, .at = text.ptr, .end = text.ptr + text.len, .out = out};
    return take_message(&x, d, '\0');
}
