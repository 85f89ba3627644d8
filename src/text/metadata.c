/*
 * metadata.c: parses and prints attributes that only carry annotations: strings, dictionaries,
 * metadata, frontend attributes, statistics, result accuracy, sparsity, aliasing.
 */
#include "text/attr_priv.h"

#include <stdlib.h>

/* ---- strings and dictionaries ---- */

/* string = STRING ; */
bool parse_string(struct parser *p, struct str *out)
{
    if (p->tok.kind != TOK_STRING)
        return expected(p, "a string");
    if (!lex_string(p, out))
        return false;
    next(p);
    return true;
}

/* string_or_dict = STRING | DICT ; */
static bool parse_string_or_dict(struct parser *p, struct str *out)
{
    return p->tok.kind == TOK_LBRACE   ? lex_dict(p, out)
           : p->tok.kind == TOK_STRING ? parse_string(p, out)
                                       : expected(p, "a string or '{...}'");
}

void text_print_escaped(struct buf *out, struct str s)
{
    static const char special[] = "\n\r\t\"'\\", letters[] = "nrt\"'\\";
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        const char *hit = c ? strchr(special, c) : NULL;
        if (hit) {
            buf_putc(out, '\\');
            buf_putc(out, letters[hit - special]);
        } else if (c >= ' ' && c <= '~') {
            buf_putc(out, c);
        } else {
            buf_printf(out, "\\%03o", (unsigned)(unsigned char)c);
        }
    }
}

void text_print_quoted(struct buf *out, struct str s)
{
    buf_putc(out, '"');
    text_print_escaped(out, s);
    buf_putc(out, '"');
}

void print_unescaped(struct buf *out, struct str s)
{
    buf_putc(out, '"');
    buf_str(out, s);
    buf_putc(out, '"');
}

static void print_string_or_dict(struct buf *out, struct str s)
{
    if (lex_is_dict(s))
        buf_str(out, s);
    else
        text_print_quoted(out, s);
}

PARSE_BY(string, parse_string, s)
PARSE_BY(string_or_dict, parse_string_or_dict, s)
PRINT_BY(string_or_dict, print_string_or_dict, v.s)

void print_string_value(struct buf *out, const struct attr_site *site, union attr_value v)
{
    if (site->id == A_ASYNC_EXECUTION_THREAD)
        print_unescaped(out, v.s);
    else
        text_print_quoted(out, v.s);
}

/* ---- frontend_attributes ---- */

static int pair_cmp(const void *a, const void *b)
{
    const struct string_pair *x = a, *y = b;
    int order = str_cmp(x->key, y->key);
    /* of equal keys, the one read first comes first: it is dropped later */
    return order ? order : x->value.ptr < y->value.ptr ? -1 : 1;
}

/* Sorts by key; of equal keys only the last one is kept. Returns the number of remaining pairs. */
static int sort_pairs(struct arena *scratch, struct string_pair *at, size_t count)
{
    bool sorted = true;
    for (size_t i = 1; i < count && sorted; i++)
        sorted = str_cmp(at[i - 1].key, at[i].key) < 0;
    if (sorted)
        return (int)count;
    /* while sorting, the values hold the original positions */
    struct arena_mark mark = arena_mark(scratch);
    struct str *values = ARENA_ARRAY(scratch, struct str, count);
    char *order = arena_alloc(scratch, count);
    for (size_t i = 0; i < count; i++) {
        values[i] = at[i].value;
        at[i].value = (struct str){order + i, 0};
    }
    qsort(at, count, sizeof *at, pair_cmp);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct string_pair pair = {at[i].key, values[at[i].value.ptr - order]};
        if (i + 1 < count && str_eq(pair.key, at[i + 1].key))
            continue;
        at[kept++] = pair;
    }
    arena_release(scratch, mark);
    return (int)kept;
}

/* frontend_attributes = "{" [IDENT "=" string_or_dict {"," IDENT "=" string_or_dict}] "}" ; */
bool parse_frontend_attributes(struct parser *p, struct frontend_attributes *out)
{
    struct string_pair *at = NULL;
    struct list l = {TOK_LBRACE, TOK_RBRACE};
    while (list_more(p, &l)) {
        struct string_pair pair = {.key = p->tok.s};
        if (!expect(p, TOK_ATTR_NAME, "'name='") || !parse_string_or_dict(p, &pair.value))
            return false;
        VEC_PUSH(p->arena, at, l.count, l.capacity) = pair;
    }
    *out = (struct frontend_attributes){sort_pairs(p->arena, at, l.count), at};
    return l.ok;
}

void print_frontend_attributes(struct buf *out, const struct frontend_attributes *f)
{
    for (int i = 0; BUF_LIST(out, i, f->count, "{}", ","); i++) {
        buf_str(out, f->at[i].key);
        buf_putc(out, '=');
        print_string_or_dict(out, f->at[i].value);
    }
}

PARSE_BY(frontend_attributes, parse_frontend_attributes, frontend)
PRINT_BY(frontend_attributes, print_frontend_attributes, &v.frontend)

/* ---- metadata ---- */

/* All fields of metadata in one struct, for the table of fields. */
struct metadata_whole {
    struct metadata m;
    struct metadata_rest rest;
};

#define FIELD(name, kind)                                                                          \
    {                                                                                              \
#name, FIELD_##kind, false, offsetof(struct metadata_whole, m.name)                        \
    }
#define REST(name, kind)                                                                           \
    {                                                                                              \
#name, FIELD_##kind, false, offsetof(struct metadata_whole, rest.name)                     \
    }
/* In print order. */
static const struct field metadata_fields[] = {
    FIELD(op_type, STRING),
    FIELD(op_name, STRING),
    FIELD(source_file, STRING),
    FIELD(source_line, INT32),
    FIELD(source_end_line, INT32),
    FIELD(source_column, INT32),
    FIELD(source_end_column, INT32),
    REST(profile_type, INTS),
    REST(deduplicated_name, STRING),
    REST(scheduling_name, STRING),
    FIELD(stack_frame_id, INT32),
    {"metadata_payload", FIELD_STRING, false, offsetof(struct metadata_whole, rest.payload)},
};
#undef FIELD
#undef REST
static const struct block metadata_block = {"metadata", metadata_fields, COUNT_OF(metadata_fields),
                                            true, false};
enum { PAYLOAD_FIELD = COUNT_OF(metadata_fields) - 1 };

/* Scans the value of a field that ends before a blank or the brace. Returns its end; NULL for
 * values that need the lexer. */
static const char *scan_value(const struct field *f, const char *s, const char *end, void *out)
{
    enum { MAX_DIGITS = 9 }; /* a number of that many digits cannot overflow */
    if (f->kind == FIELD_STRING) {
        const char *close = s < end && *s == '"' ? memchr(s + 1, '"', (size_t)(end - s - 1)) : NULL;
        if (!close || memchr(s, '\\', (size_t)(close - s)))
            return NULL;
        *(struct str *)out = (struct str){s + 1, (size_t)(close - s) - 1};
        return close + 1;
    }
    const char *begin = s;
    int32_t v = 0;
    while (s < end && s - begin < MAX_DIGITS && char_is_digit(*s))
        v = v * 10 + (*s++ - '0');
    *(int32_t *)out = v;
    return f->kind == FIELD_INT32 && s > begin ? s : NULL;
}

/* Fast path without tokens: most of the text of a dump is metadata, nearly all of it strings and
 * numbers in print order. Consumes nothing if the text has any other form. */
static bool scan_metadata(struct parser *p, struct metadata_whole *whole)
{
    const char *s = p->text.ptr + p->at, *end = p->text.ptr + p->text.len;
    for (size_t k = 0; k < COUNT_OF(metadata_fields); k++) {
        const struct field *f = &metadata_fields[k];
        size_t n = strlen(f->key);
        if ((size_t)(end - s) <= n || memcmp(s, f->key, n) != 0 || s[n] != '=')
            continue;
        s = scan_value(f, s + n + 1, end, (char *)whole + f->offset);
        if (!s || s == end || (*s != ' ' && *s != '}') || k == PAYLOAD_FIELD)
            return false;
        if (*s++ == '}') {
            lex_jump(p, (size_t)(s - p->text.ptr));
            return true;
        }
    }
    return false;
}

/* metadata = sub_attributes ; */
bool parse_metadata(struct parser *p, struct metadata *out)
{
    struct metadata_whole whole = {0};
    struct metadata_rest *rest = &whole.rest;
    uint32_t begin = p->tok.span.begin, seen = 0;
    if (p->tok.kind != TOK_LBRACE || !scan_metadata(p, &whole)) {
        whole = (struct metadata_whole){0};
        if (!parse_block(p, &metadata_block, &whole, &seen))
            return false;
    }
    rest->has_payload = seen >> PAYLOAD_FIELD & 1;
    for (int64_t i = 0; i < rest->profile_type.count; i++)
        if (rest->profile_type.at[i] < 0 || rest->profile_type.at[i] > 3)
            return DIAG_ERROR(p->ds, span_since(p, begin), VALUE_RANGE, 12, "profile_type",
                              "0 to 3");
    *out = whole.m;
    if (rest->has_payload || rest->profile_type.count || rest->deduplicated_name.len ||
        rest->scheduling_name.len)
        out->rest = ARENA_DUP(p->arena, rest, 1);
    p->has_frame_ids |= out->stack_frame_id != 0;
    return true;
}

/* Whether the field is printed; an empty payload is. */
static bool field_is_set(const struct metadata_whole *m, size_t field, const void *at)
{
    switch (metadata_fields[field].kind) {
    case FIELD_STRING:
        return ((const struct str *)at)->len > 0 || (field == PAYLOAD_FIELD && m->rest.has_payload);
    case FIELD_INT32: return *(const int32_t *)at != 0;
    default: return ((const struct ints *)at)->count > 0;
    }
}

void print_metadata_parts(struct buf *out, const struct metadata *m)
{
    struct metadata_whole whole = {.m = *m};
    bool first = true;
    if (m->rest)
        whole.rest = *m->rest;
    buf_putc(out, '{');
    for (size_t i = 0; i < COUNT_OF(metadata_fields); i++) {
        const struct field *f = &metadata_fields[i];
        const void *at = (const char *)&whole + f->offset;
        if (!field_is_set(&whole, i, at))
            continue;
        if (!first)
            buf_putc(out, ' ');
        first = false;
        buf_puts(out, f->key);
        buf_putc(out, '=');
        if (f->kind == FIELD_INT32)
            buf_int(out, *(const int32_t *)at);
        else if (f->kind == FIELD_INTS)
            print_ints_braced(out, *(const struct ints *)at);
        else if (f->offset != offsetof(struct metadata_whole, rest.scheduling_name))
            text_print_quoted(out, *(const struct str *)at);
        else
            print_unescaped(out, *(const struct str *)at);
    }
    buf_putc(out, '}');
}

bool parse_metadata_value(struct parser *p, const struct attr_site *site, union attr_value *out)
{
    struct metadata *m = ARENA_NEW(p->arena, struct metadata);
    out->metadata = m;
    return parse_metadata(p, m);
}

PRINT_BY(metadata, print_metadata_parts, v.metadata)

/* ---- statistics ---- */

/* statistics = "{" [IDENT "=" INT {"," IDENT "=" (INT | DECIMAL)}] "}" ; */
bool parse_statistics_value(struct parser *p, const struct attr_site *site, union attr_value *out)
{
    struct statistics *s = ARENA_NEW(p->arena, struct statistics);
    struct statistic *at = NULL;
    bool index = true;
    struct list l = {TOK_LBRACE, TOK_RBRACE};
    while (list_more(p, &l)) {
        struct statistic one = {.name = p->tok.s};
        if (!expect(p, TOK_ATTR_NAME, "'name='"))
            return false;
        if (index) {
            index = false;
            if (!parse_int(p, &s->visualizing_index))
                return false;
            continue;
        }
        if (p->tok.kind != TOK_INT && p->tok.kind != TOK_DECIMAL)
            return expected(p, "a number");
        /* A number that is too large becomes infinite. */
        one.value = p->tok.kind == TOK_INT ? (double)p->tok.i : p->tok.d;
        next(p);
        VEC_PUSH(p->arena, at, l.count, l.capacity) = one;
    }
    s->count = (int)l.count;
    s->at = at;
    out->statistics = s;
    return l.ok;
}

void print_statistics_value(struct buf *out, const struct attr_site *site, union attr_value v)
{
    buf_puts(out, "{visualizing_index=");
    buf_int(out, v.statistics->visualizing_index);
    for (int i = 0; i < v.statistics->count; i++) {
        buf_putc(out, ',');
        buf_str(out, v.statistics->at[i].name);
        buf_putc(out, '=');
        buf_g(out, v.statistics->at[i].value, 6);
    }
    buf_putc(out, '}');
}

/* ---- result_accuracy ---- */

static bool bad_accuracy_key(struct parser *p, const char *const *keywords, size_t count)
{
    if (p->tok.kind != TOK_ATTR_NAME)
        return expected(p, "'name='");
    return unknown_key(p, p->tok.span, p->tok.s, "result_accuracy", keywords, count);
}

/* tolerance = "{" [("atol=" | "rtol=" | "ulps=") number {"," ("atol=" | "rtol=" | "ulps=") number}]
 * "}" ; */
static bool parse_tolerance(struct parser *p, struct result_accuracy *out)
{
    static const char *const keywords[] = {"atol", "rtol", "ulps"};
    double values[3] = {0};
    struct list l = {TOK_LBRACE, TOK_RBRACE};
    while (list_more(p, &l)) {
        size_t k = 0;
        while (k < 3 && !(p->tok.kind == TOK_ATTR_NAME && str_is(p->tok.s, keywords[k])))
            k++;
        if (k == 3)
            return bad_accuracy_key(p, keywords, 3);
        next(p);
        struct token number = p->tok;
        if (!parse_number(p, &values[k]))
            return false;
        bool whole = k == 2; /* ulps: truncated to an integer before the range check */
        if (!(whole ? values[k] > -1 && values[k] < 0x1p63 : values[k] >= 0))
            return DIAG_ERROR(p->ds, number.span, VALUE_RANGE, STR_ARG(number.s), keywords[k]);
    }
    *out = (struct result_accuracy){
        .tolerance = true, .atol = values[0], .rtol = values[1], .ulps = (int64_t)values[2]};
    return l.ok;
}

static bool parse_accuracy_mode(struct parser *p, struct result_accuracy *out)
{
    if (p->tok.kind != TOK_IDENT)
        return expected(p, "'default' or 'highest'");
    out->highest = str_eq_nocase(p->tok.s, STR("highest"));
    if (!out->highest && !str_eq_nocase(p->tok.s, STR("default")))
        return DIAG_ERROR(p->ds, p->tok.span, UNKNOWN_VALUE, STR_ARG(p->tok.s), "mode");
    next(p);
    return true;
}

/* result_accuracy = "{" ("mode=" IDENT | "tolerance=" tolerance) "}" ; */
bool parse_result_accuracy_value(struct parser *p, const struct attr_site *site,
                                 union attr_value *out)
{
    static const char *const keywords[] = {"mode", "tolerance"};
    struct result_accuracy *r = ARENA_NEW(p->arena, struct result_accuracy);
    out->accuracy = r;
    if (!expect(p, TOK_LBRACE, NULL))
        return false;
    struct token key = p->tok;
    bool mode = str_is(key.s, keywords[0]);
    if (key.kind != TOK_ATTR_NAME || (!mode && !str_is(key.s, keywords[1])))
        return bad_accuracy_key(p, keywords, 2);
    next(p);
    return (mode ? parse_accuracy_mode(p, r) : parse_tolerance(p, r)) &&
           expect(p, TOK_RBRACE, NULL);
}

void print_result_accuracy_value(struct buf *out, const struct attr_site *site, union attr_value v)
{
    const struct result_accuracy *r = v.accuracy;
    if (!r->tolerance) {
        buf_puts(out, r->highest ? "{mode=highest}" : "{mode=default}");
        return;
    }
    buf_puts(out, "{tolerance={atol=");
    buf_g(out, r->atol, 6);
    buf_puts(out, ",rtol=");
    buf_g(out, r->rtol, 6);
    buf_puts(out, ",ulps=");
    buf_int(out, r->ulps);
    buf_puts(out, "}}");
}

/* ---- sparsity_config ---- */

struct sparsity_text {
    struct int_words sparsity;
    int64_t dimension, stride;
};
static const struct field sparsity_fields[] = {
    {"sparsity", FIELD_INT_WORDS, false, offsetof(struct sparsity_text, sparsity)},
    {"dimension", FIELD_INT, false, offsetof(struct sparsity_text, dimension)},
    {"stride", FIELD_INT, false, offsetof(struct sparsity_text, stride)},
};
static const struct block sparsity_block = {"sparsity_config", sparsity_fields,
                                            COUNT_OF(sparsity_fields), false, true};

/* sparsity_side = "{" {"sparsity=" DXD | "dimension=" INT | "stride=" INT} "}" ; */
static bool parse_sparsity_side(struct parser *p, struct sparsity_side *out)
{
    struct sparsity_text t = {.dimension = out->dimension, .stride = out->stride};
    uint32_t seen;
    if (!parse_block(p, &sparsity_block, &t, &seen))
        return false;
    if (seen & 1 && t.sparsity.ints.count != 2)
        return wrong_count(p, t.sparsity.span, "sparsity", t.sparsity.ints.count, (int64_t)2,
                           "as in 2x4");
    const int64_t before[] = {out->n, out->m}, *now = seen & 1 ? t.sparsity.ints.at : before;
    *out = (struct sparsity_side){true, now[0], now[1], t.dimension, t.stride};
    return true;
}

/* sparsity_config = "{" {("lhs=" | "rhs=") sparsity_side} "}" ; */
bool parse_sparsity_config_value(struct parser *p, const struct attr_site *site,
                                 union attr_value *out)
{
    static const char *const keywords[] = {"lhs", "rhs"};
    struct sparsity_config *c = ARENA_NEW(p->arena, struct sparsity_config);
    out->sparsity = c;
    if (!expect(p, TOK_LBRACE, NULL))
        return false;
    while (!accept(p, TOK_RBRACE)) {
        if (p->tok.kind != TOK_ATTR_NAME)
            return expected(p, "'lhs=', 'rhs=' or '}'");
        bool lhs = str_is(p->tok.s, "lhs");
        if (!lhs && !str_is(p->tok.s, "rhs"))
            return unknown_key(p, p->tok.span, p->tok.s, "sparsity_config", keywords, 2);
        next(p);
        /* A repeated side is merged with the first. */
        if (!parse_sparsity_side(p, lhs ? &c->lhs : &c->rhs))
            return false;
    }
    return true;
}

static void print_sparsity_side(struct buf *out, const char *name, const struct sparsity_side *s)
{
    buf_printf(out,
               "%s={sparsity=%" PRId64 "x%" PRId64 " dimension=%" PRId64 " stride=%" PRId64 "}",
               name, s->n, s->m, s->dimension, s->stride);
}

void print_sparsity_config_value(struct buf *out, const struct attr_site *site, union attr_value v)
{
    buf_putc(out, '{');
    if (v.sparsity->lhs.given)
        print_sparsity_side(out, "lhs", &v.sparsity->lhs);
    if (v.sparsity->lhs.given && v.sparsity->rhs.given)
        buf_putc(out, ' ');
    if (v.sparsity->rhs.given)
        print_sparsity_side(out, "rhs", &v.sparsity->rhs);
    buf_putc(out, '}');
}

/* ---- aliasing ---- */

static bool parse_alias_kind(struct parser *p, bool *must)
{
    *must = str_is(p->tok.s, "must-alias");
    if (p->tok.kind != TOK_IDENT || (!*must && !str_is(p->tok.s, "may-alias")))
        return expected(p, "'may-alias' or 'must-alias'");
    next(p);
    return true;
}

/* alias = index ":" "(" INT "," index ["," ("may-alias" | "must-alias")] ")" ; */
static bool parse_alias(struct parser *p, bool module_level, struct alias *out)
{
    *out = (struct alias){0};
    if (!parse_index(p, &out->output) || !expect(p, TOK_COLON, NULL) ||
        !expect(p, TOK_LPAREN, NULL) || !parse_int(p, &out->operand) ||
        !expect(p, TOK_COMMA, NULL) || !parse_index(p, &out->index))
        return false;
    if (module_level && accept(p, TOK_COMMA) && !parse_alias_kind(p, &out->must))
        return false;
    return expect(p, TOK_RPAREN, NULL);
}

/* aliasing = "{" [alias {"," alias} [","]] "}" ; */
bool parse_aliasing(struct parser *p, struct aliasing *out, bool module_level)
{
    struct alias *at = NULL, one;
    struct list l = {TOK_LBRACE, TOK_RBRACE, .trailing = true};
    while (list_more(p, &l) && parse_alias(p, module_level, &one))
        VEC_PUSH(p->arena, at, l.count, l.capacity) = one;
    *out = (struct aliasing){(int)l.count, at};
    return l.ok;
}

bool parse_aliasing_value(struct parser *p, const struct attr_site *site, union attr_value *out)
{
    return parse_aliasing(p, &out->aliasing, false);
}

void print_alias(struct buf *out, const struct alias *a, bool output, const char *kind)
{
    if (output) {
        print_ints_braced(out, a->output);
        buf_puts(out, ": ");
    }
    buf_putc(out, '(');
    buf_int(out, a->operand);
    buf_puts(out, ", ");
    print_ints_braced(out, a->index);
    buf_puts(out, kind);
    buf_putc(out, ')');
}

void print_aliasing_value(struct buf *out, const struct attr_site *site, union attr_value v)
{
    for (int i = 0; BUF_LIST(out, i, v.aliasing.count, "{}", ", "); i++)
        print_alias(out, &v.aliasing.at[i], true, "");
}
