/*
 * dict.c: parses dictionaries: MLIR's `{uplo = 76 : ui8}`, JSON's `{"uplo": 76}`, and mixed forms;
 * dict.h has the grammar.
 */
#include "base/dict.h"

enum {
    DEEPEST = 64,
    QUOTE_LENGTH = 20,
    FEW = 8, /* up to this many names, a linear search is faster than a map */
};

struct reader {
    struct arena *arena;
    const char *at, *end;
    enum dict_form form;
    bool loose;
    int depth;
    struct dict_error *error;
};

static bool fail(struct reader *r, const char *expected)
{
    r->error->expected = expected;
    r->error->rest = (struct str){r->at, (size_t)(r->end - r->at)};
    return false;
}

static char peek(struct reader *r) /* next character that is not a blank; 0 at the end */
{
    while (r->at < r->end && char_is_blank(*r->at))
        r->at++;
    return r->at < r->end ? *r->at : '\0';
}

static bool at_end(struct reader *r)
{
    peek(r);
    return r->at == r->end;
}

static bool take(struct reader *r, char c)
{
    if (peek(r) != c || r->at == r->end)
        return false;
    r->at++;
    return true;
}

/* ---- words and strings ---- */

static bool is_word(char c)
{
    return char_is_letter(c) || char_is_digit(c) || (c && strchr(".$-+/!#@", c));
}

static struct str word(struct reader *r)
{
    peek(r);
    const char *start = r->at;
    while (r->at < r->end && is_word(*r->at))
        r->at++;
    return (struct str){start, (size_t)(r->at - start)};
}

static int hex(char c, bool lower) { return lower || c < 'a' ? char_hex(c) : -1; }

/* Parses an escape after its backslash: a letter as in JSON, or two hexadecimal digits as in MLIR,
 * which prints upper case and reads both; \b and \f are JSON's own escapes. */
static char escaped(struct reader *r)
{
    static const char from[] = "nrtbf", to[] = "\n\r\t\b\f";
    char c = *r->at++;
    const bool mlir = r->form == DICT_MLIR;
    int high = r->form == DICT_JSON ? -1 : hex(c, mlir),
        low = high >= 0 && r->at < r->end ? hex(*r->at, mlir) : -1;
    if (low >= 0) {
        r->at++;
        return (char)(high * 16 + low);
    }
    const char *known = c ? strchr(from, c) : NULL;
    return known ? to[known - from] : c;
}

static bool four_digits(struct reader *r, uint32_t *out)
{
    uint32_t code = 0;
    int k = 0;
    for (; k < 4 && r->at + k < r->end; k++) {
        int digit = char_hex(r->at[k]);
        if (digit < 0)
            return false;
        code = code * 16 + (uint32_t)digit;
    }
    *out = code;
    return k == 4;
}

/* Parses the digits of JSON's \uXXXX, or of a surrogate pair, and writes UTF-8. Returns the number
 * of bytes; 0 if malformed. */
static size_t code_point(struct reader *r, char *out)
{
    uint32_t code, low;
    if (r->form == DICT_MLIR || *r->at != 'u')
        return 0;
    const char *before = r->at++;
    if (!four_digits(r, &code)) {
        r->at = before;
        return 0;
    }
    r->at += 4;
    if (code >= 0xd800 && code < 0xdc00 && r->end - r->at >= 6 && r->at[0] == '\\' &&
        r->at[1] == 'u') {
        r->at += 2;
        if (four_digits(r, &low) && low >= 0xdc00 && low < 0xe000) {
            r->at += 4;
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        } else {
            r->at -= 2;
        }
    }
    return utf8_encode(code, out);
}

/* Parses a string after its opening quote. */
static bool quoted(struct reader *r, char quote, struct str *out)
{
    size_t max = 0, left = (size_t)(r->end - r->at), n = 0;
    while (max < left && r->at[max] != quote)
        max += r->at[max] == '\\' ? 2 : 1;
    char *text = arena_alloc(r->arena, max + 1); /* the unescaped string is never longer */
    while (r->at < r->end && *r->at != quote) {
        char c = *r->at++;
        size_t point = c == '\\' && r->at < r->end ? code_point(r, text + n) : 0;
        n += point;
        if (point > 0)
            continue;
        if (c == '\\' && r->at < r->end)
            c = escaped(r);
        text[n++] = c;
    }
    text[n] = '\0';
    *out = (struct str){text, n};
    return take(r, quote) || fail(r, "a closing quote");
}

/* Consumes an opening quote and returns it; 0 if none. */
static char opening_quote(struct reader *r)
{
    return take(r, '"') ? '"' : r->loose && take(r, '\'') ? '\'' : '\0';
}

/* Parses `tensor<2xi32>`: a word and its argument in angle brackets. */
static bool bracketed(struct reader *r, struct str *w)
{
    int depth = 0;
    if (r->at == r->end || *r->at != '<')
        return true;
    do
        depth += *r->at == '<' ? 1 : *r->at == '>' ? -1 : 0;
    while (++r->at < r->end && depth > 0);
    w->len = (size_t)(r->at - w->ptr);
    return depth == 0 || fail(r, "'>'");
}

static bool type_name(struct reader *r, struct str *out)
{
    *out = word(r);
    return out->len > 0 ? bracketed(r, out) : fail(r, "a type");
}

/* Parses an optional type, `: ui8`. */
static bool parse_type_suffix(struct reader *r, struct str *out)
{
    return !take(r, ':') || type_name(r, out);
}

/* ---- values ---- */

static bool value(struct reader *r, struct dict_value *out);

static bool json_entry(struct reader *r, struct dict_entry *out)
{
    if (!opening_quote(r))
        return fail(r, "a string");
    if (!quoted(r, '"', &out->name))
        return false;
    return take(r, ':') ? value(r, &out->value) : fail(r, "':'");
}

static bool entry(struct reader *r, struct dict_entry *out)
{
    if (r->form == DICT_JSON)
        return json_entry(r, out);
    char quote = opening_quote(r);
    if (quote ? !quoted(r, quote, &out->name) : (out->name = word(r)).len == 0)
        return quote ? false : fail(r, "a name");
    if (take(r, '=') || (r->loose && take(r, ':')))
        return value(r, &out->value);
    out->value = (struct dict_value){.kind = DICT_UNIT, .i = 1, .at = r->at};
    return true;
}

/* `close` 0 means the end of the text. */
static bool take_close(struct reader *r, char close) { return close ? take(r, close) : at_end(r); }

static const char *comma_or(char close)
{
    return close == '}'   ? "',' or '}'"
           : close == ']' ? "',' or ']'"
           : close == '>' ? "',' or '>'"
                          : "','";
}

/* Parses items up to `close`; in a dictionary, items have names. */
static bool some_items(struct reader *r, struct dict_value *out, char close)
{
    size_t capacity = 0;
    if (take_close(r, close))
        return true;
    do {
        struct dict_entry *item = &VEC_PUSH(r->arena, out->items, out->count, capacity);
        *item = (struct dict_entry){{"", 0}, {0}};
        if (!(out->kind == DICT_DICT ? entry(r, item) : value(r, &item->value)))
            return false;
        if (take_close(r, close))
            return true;
        if (!take(r, ','))
            return fail(r, out->kind == DICT_DICT && item->value.kind == DICT_UNIT
                               ? "'='"
                               : comma_or(close));
    } while (!r->loose || !take_close(r, close));
    return true;
}

static void sort_by_name(struct reader *r, struct dict_value *d)
{
    d->by_name = ARENA_NEW(r->arena, struct map);
    map_init(d->by_name, r->arena);
    for (size_t k = d->count; k-- > 0;) /* the first entry of a name takes precedence */
        map_put(d->by_name, d->items[k].name, &d->items[k].value);
}

static bool items(struct reader *r, struct dict_value *out, char close)
{
    if (!some_items(r, out, close))
        return false;
    if (out->kind == DICT_DICT && out->count > FEW)
        sort_by_name(r, out);
    return true;
}

/* Parses `array<i64: 1, 2>`. */
static bool array(struct reader *r, struct dict_value *out)
{
    out->kind = DICT_ARRAY;
    if (!take(r, '<'))
        return fail(r, "'<'");
    if (!type_name(r, &out->type))
        return false;
    if (take(r, '>'))
        return true;
    if (!take(r, ':'))
        return fail(r, "':'");
    return peek(r) == '>' ? fail(r, "a value") : items(r, out, '>');
}

/* Parses `dense<[1, 2]> : tensor<2xi64>` to the list in it; a single number becomes a list of one
 * element, as in MLIR. */
static bool dense(struct reader *r, struct dict_value *out)
{
    struct dict_value inner;
    if (!take(r, '<'))
        return fail(r, "'<'");
    if (!value(r, &inner))
        return false;
    if (!take(r, '>'))
        return fail(r, "'>'");
    out->kind = DICT_LIST;
    out->count = inner.count;
    out->items = inner.items;
    if (inner.kind != DICT_LIST) {
        out->count = 1;
        out->items = ARENA_NEW(r->arena, struct dict_entry);
        *out->items = (struct dict_entry){{"", 0}, inner};
    }
    return parse_type_suffix(r, &out->type);
}

/* Sets the kind of a word by its spelling. */
static void read_word(struct dict_value *out, struct str w)
{
    out->kind = DICT_WORD;
    out->s = w;
    if (num_parse_i64(w, &out->i)) {
        out->kind = DICT_INT;
        out->f = (double)out->i;
    } else if (num_parse_double(w, &out->f)) {
        out->kind = DICT_FLOAT;
    } else if (str_is(w, "true") || str_is(w, "false")) {
        out->kind = DICT_BOOL;
        out->i = str_is(w, "true");
    }
}

static bool json_word(struct reader *r, struct dict_value *out)
{
    const char *start = r->at;
    read_word(out, word(r));
    if (out->kind != DICT_WORD || str_is(out->s, "null"))
        return true;
    r->at = start;
    return fail(r, "a value");
}

static bool number_or_word(struct reader *r, struct dict_value *out)
{
    if (r->form == DICT_JSON)
        return json_word(r, out);
    struct str w = word(r);
    if (w.len == 0)
        return fail(r, "a value");
    if (str_is(w, "array"))
        return array(r, out);
    if (str_is(w, "dense"))
        return dense(r, out);
    read_word(out, w);
    if (out->kind == DICT_WORD && !bracketed(r, &out->s))
        return false;
    return parse_type_suffix(r, &out->type);
}

static bool any_value(struct reader *r, struct dict_value *out)
{
    char quote = opening_quote(r);
    if (quote) {
        out->kind = DICT_STRING;
        return quoted(r, quote, &out->s) &&
               (r->form == DICT_JSON || parse_type_suffix(r, &out->type));
    }
    if (take(r, '{')) {
        out->kind = DICT_DICT;
        return items(r, out, '}');
    }
    if (take(r, '[')) {
        out->kind = DICT_LIST;
        return items(r, out, ']');
    }
    return number_or_word(r, out);
}

static bool value(struct reader *r, struct dict_value *out)
{
    if (++r->depth > DEEPEST)
        return fail(r, "less nesting");
    peek(r);
    *out = (struct dict_value){.at = r->at};
    if (!any_value(r, out))
        return false;
    if (!out->s.ptr)
        out->s = (struct str){out->at, (size_t)(r->at - out->at)};
    r->depth--;
    return true;
}

/* ---- whole text ---- */

bool dict_read(struct arena *a, struct str text, enum dict_form form, struct dict_value *out,
               struct dict_error *error)
{
    struct reader r = {a, text.ptr, text.ptr + text.len, form, form == DICT_LOOSE, 0, error};
    *out = (struct dict_value){.kind = DICT_DICT, .s = text, .at = text.ptr};
    if (at_end(&r) && form != DICT_JSON)
        return true;
    if (peek(&r) == '{')
        return value(&r, out) && (at_end(&r) || fail(&r, "end of input"));
    return r.loose ? items(&r, out, '\0') : fail(&r, "'{'");
}

const struct dict_value *dict_find(const struct dict_value *d, struct str name)
{
    if (d->by_name)
        return map_get(d->by_name, name);
    for (size_t k = 0; k < d->count; k++)
        if (d->kind == DICT_DICT && str_eq(d->items[k].name, name))
            return &d->items[k].value;
    return NULL;
}

const struct dict_value *dict_member(const struct dict_value *d, const char *name,
                                     enum dict_kind kind)
{
    const struct dict_value *v = d && d->kind == DICT_DICT ? dict_find(d, str_of(name)) : NULL;
    return v && v->kind == kind ? v : NULL;
}

void dict_put_id(struct buf *out, const struct dict_value *id)
{
    if (id && id->kind == DICT_INT)
        buf_int(out, id->i);
    else if (id && id->kind == DICT_STRING)
        buf_json_str(out, id->s);
    else
        buf_puts(out, "null");
}

const char *dict_problem(struct arena *a, const struct dict_error *error)
{
    size_t n = error->rest.len < QUOTE_LENGTH ? error->rest.len : QUOTE_LENGTH;
    if (n == 0)
        return arena_printf(a, "expected %s, got end of input", error->expected).ptr;
    return arena_printf(a, "expected %s at '%.*s'", error->expected, (int)n, error->rest.ptr).ptr;
}
