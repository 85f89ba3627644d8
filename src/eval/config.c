/*
 * What a custom call says in backend_config, read as a dictionary: `{uplo = 76 : ui8}` as MLIR writes it,
 * `{"uplo": 76}` as JSON does, and what lies between. A comma at the end and a name without a value (which is
 * then true) do no harm.
 */
#include "eval/config.h"

enum { DEEPEST = 64 };

struct reader {
    struct arena *arena;
    const char *at, *end;
    int depth;
    struct config_error *error;
};

static bool fail(struct reader *r, const char *wanted)
{
    r->error->wanted = wanted;
    r->error->rest = (struct str){r->at, (size_t)(r->end - r->at)};
    return false;
}

static char peek(struct reader *r) /* the next character that is not blank; 0 at the end */
{
    while (r->at < r->end && char_is_blank(*r->at))
        r->at++;
    return r->at < r->end ? *r->at : '\0';
}

static bool take(struct reader *r, char c)
{
    if (c == '\0' || peek(r) != c)
        return false;
    r->at++;
    return true;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '$' || c == '-' || c == '+' || c == '/' || c == '!' || c == '#' || c == '@';
}

static struct str word(struct reader *r)
{
    peek(r);
    const char *start = r->at;
    while (r->at < r->end && is_word(*r->at))
        r->at++;
    return (struct str){start, (size_t)(r->at - start)};
}

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* What stands behind a backslash: a letter as in JSON, or two hexadecimal digits as in MLIR. */
static char escaped(struct reader *r)
{
    static const char from[] = "nrtbf", to[] = "\n\r\t\b\f";
    char c = *r->at++;
    int high = hex(c), low = high >= 0 && r->at < r->end ? hex(*r->at) : -1;
    if (low >= 0) {
        r->at++;
        return (char)(high * 16 + low);
    }
    const char *known = strchr(from, c);
    return known && c ? to[known - from] : c;
}

/* After the opening quote. */
static bool quoted(struct reader *r, struct str *out)
{
    char *text = arena_alloc(r->arena, (size_t)(r->end - r->at) + 1);
    size_t n = 0;
    while (r->at < r->end && *r->at != '"') {
        char c = *r->at++;
        if (c == '\\' && r->at < r->end)
            c = escaped(r);
        text[n++] = c;
    }
    *out = (struct str){text, n};
    return take(r, '"') || fail(r, "a closing quote");
}

/* `tensor<2xi32>`: a word, and what stands behind it in angle brackets. */
static bool bracketed(struct reader *r, struct str *w)
{
    int depth = 0;
    if (r->at == r->end || *r->at != '<')
        return true;
    do
        depth += *r->at == '<' ? 1 : *r->at == '>' ? -1 : 0;
    while (++r->at < r->end && depth > 0);
    w->len = (size_t)(r->at - w->ptr);
    return depth == 0 || fail(r, "`>`");
}

/* `: ui8`, or nothing */
static bool type_name(struct reader *r, struct str *out)
{
    *out = (struct str){"", 0};
    if (!take(r, ':'))
        return true;
    *out = word(r);
    return bracketed(r, out);
}

static bool value(struct reader *r, struct config *out);

/* Values up to `close`, with names in a dictionary. */
static bool items(struct reader *r, struct config *out, char close)
{
    size_t capacity = 0;
    if (++r->depth > DEEPEST)
        return fail(r, "fewer brackets inside brackets");
    while (!take(r, close)) {
        struct config_item *item = &VEC_PUSH(r->arena, out->items, out->count, capacity);
        *item = (struct config_item){.value.kind = CONFIG_BOOL, .value.i = 1};
        if (out->kind == CONFIG_DICT) {
            if (!(take(r, '"') ? quoted(r, &item->name) : (item->name = word(r)).len > 0))
                return fail(r, "a name");
            if ((take(r, '=') || take(r, ':')) && !value(r, &item->value))
                return false;
        } else if (!value(r, &item->value)) {
            return false;
        }
        if (!take(r, ',') && peek(r) != close)
            return fail(r, close == '}' ? "a comma or `}`" : close == ']' ? "a comma or `]`" : "a comma or `>`");
    }
    r->depth--;
    return true;
}

/* `array<i64: 1, 2>` and `dense<[1, 2]> : tensor<2xi64>`, both a list. */
static bool typed_list(struct reader *r, struct config *out, struct str kind)
{
    out->kind = CONFIG_LIST;
    if (!take(r, '<'))
        return fail(r, "`<`");
    if (str_is(kind, "dense"))
        return value(r, out) && (take(r, '>') || fail(r, "`>`")) && type_name(r, &out->type);
    out->type = word(r);
    if (take(r, '>'))
        return true;
    return (take(r, ':') || fail(r, "`:`")) && items(r, out, '>');
}

static bool number_or_word(struct reader *r, struct config *out)
{
    struct str w = word(r);
    if (w.len == 0)
        return fail(r, "a value");
    if (str_is(w, "array") || str_is(w, "dense"))
        return typed_list(r, out, w);
    if (num_parse_i64(w, &out->i)) {
        out->kind = CONFIG_INT;
        out->f = (double)out->i;
    } else if (num_parse_double(w, &out->f)) {
        out->kind = CONFIG_FLOAT;
    } else if (str_is(w, "true") || str_is(w, "false")) {
        out->kind = CONFIG_BOOL;
        out->i = str_is(w, "true");
    } else {
        out->kind = CONFIG_WORD;
        out->s = w;
        if (!bracketed(r, &out->s))
            return false;
    }
    return type_name(r, &out->type);
}

static bool value(struct reader *r, struct config *out)
{
    *out = (struct config){0};
    switch (peek(r)) {
    case '{':
    case '[': {
        bool dict = *r->at++ == '{';
        out->kind = dict ? CONFIG_DICT : CONFIG_LIST;
        return items(r, out, dict ? '}' : ']');
    }
    case '"':
        r->at++;
        out->kind = CONFIG_STRING;
        return quoted(r, &out->s) && type_name(r, &out->type);
    default: return number_or_word(r, out);
    }
}

bool config_read(struct arena *a, struct str text, struct config *out, struct config_error *error)
{
    struct reader r = {a, text.ptr, text.ptr + text.len, 0, error};
    *out = (struct config){.kind = CONFIG_DICT};
    if (peek(&r) == '\0')
        return true;
    if (peek(&r) != '{')
        return fail(&r, "`{`");
    return value(&r, out) && (peek(&r) == '\0' || fail(&r, "nothing more"));
}

const struct config *config_find(const struct config *c, const char *name)
{
    for (int k = 0; k < c->count; k++)
        if (c->kind == CONFIG_DICT && str_is(c->items[k].name, name))
            return &c->items[k].value;
    return NULL;
}
