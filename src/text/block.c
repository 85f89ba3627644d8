/*
 * block.c: parses blocks of `key=value` items (metadata, domain, sparsity) according to a table of
 * keys, their kinds and the members that they set.
 */
#include "text/attr_priv.h"

bool unknown_key(struct parser *p, struct span span, struct str word, const char *block,
                 const char *const *keywords, size_t count)
{
    struct diag *d = DIAG(p->ds, span, UNKNOWN_ATTRIBUTE, STR_ARG(str_of(block)), STR_ARG(word));
    struct str near = diag_nearest(word, keywords, count);
    if (near.len)
        diag_suggest(p->ds, d, near);
    return false;
}

static bool unknown_field(struct parser *p, const struct block *b)
{
    const char *keywords[32];
    for (size_t i = 0; i < b->count; i++)
        keywords[i] = b->fields[i].key;
    struct span key = {p->tok.span.begin, p->tok.span.begin + (uint32_t)p->tok.s.len};
    return unknown_key(p, key, p->tok.s, b->name, keywords, b->count);
}

/* int_words = INT | DXD ; */
static bool parse_int_words(struct parser *p, struct int_words *out)
{
    out->span = p->tok.span;
    struct int_vec v;
    int_vec_init(&v);
    if (p->tok.kind == TOK_INT) {
        int_vec_push(p, &v, p->tok.i);
    } else if (p->tok.kind == TOK_DXD) {
        struct str s = p->tok.s;
        for (size_t begin = 0, i = 0; i <= s.len; i++) {
            if (i < s.len && s.ptr[i] != 'x')
                continue;
            int64_t n;
            if (!num_parse_i64((struct str){s.ptr + begin, i - begin}, &n))
                return DIAG_ERROR(p->ds, p->tok.span, VALUE_RANGE, STR_ARG(p->tok.s),
                                  "a 64-bit integer");
            int_vec_push(p, &v, n);
            begin = i + 1;
        }
    } else {
        return expected(p, "an integer, or several as in 2x3");
    }
    out->ints = int_vec_ints(p, &v);
    next(p);
    return true;
}

static bool parse_field(struct parser *p, const struct field *f, void *at)
{
    switch ((enum field_kind)f->kind) {
    case FIELD_STRING: return parse_string(p, at);
    case FIELD_INT: return parse_int(p, at);
    case FIELD_INT32: return parse_int32(p, at);
    case FIELD_INTS: return parse_int_list(p, at);
    case FIELD_SHARDING: return parse_sharding(p, at);
    case FIELD_INT_WORDS: return parse_int_words(p, at);
    case FIELD_PADS: return parse_window_pads(p, at);
    }
    return false;
}

/* Parses an item. Fields mostly come in the order of the table, so the search for the key starts at
 * `*guess`. */
static bool parse_item(struct parser *p, const struct block *b, char *out, uint32_t *seen,
                       size_t *guess)
{
    if (p->tok.kind != TOK_ATTR_NAME)
        return expected(p, b->commas ? "'name=' or '}'"
                                     : "'name=' or '}' (entries are not separated by commas)");
    size_t i = *guess, tried = 0;
    for (; tried < b->count && !str_is(p->tok.s, b->fields[i].key); tried++)
        i = i + 1 < b->count ? i + 1 : 0;
    if (tried == b->count)
        return unknown_field(p, b);
    *guess = i + 1 < b->count ? i + 1 : 0;
    if (*seen >> i & 1 && !b->repeats)
        return DIAG_ERROR(p->ds, p->tok.span, DUPLICATE, "key", STR_ARG(str_of(b->fields[i].key)));
    *seen |= 1u << i;
    next(p);
    return parse_field(p, &b->fields[i], out + b->fields[i].offset);
}

/* sub_attributes = "{" {[","] IDENT "=" value} "}" ; */
bool parse_block(struct parser *p, const struct block *b, void *out, uint32_t *seen)
{
    size_t guess = 0;
    *seen = 0;
    uint32_t begin = p->tok.span.begin;
    if (!expect(p, TOK_LBRACE, NULL))
        return false;
    while (p->tok.kind != TOK_RBRACE) {
        if ((b->commas || !p->strict) && accept(p, TOK_COMMA) && !p->strict &&
            p->tok.kind == TOK_RBRACE)
            break;
        if (!parse_item(p, b, out, seen, &guess))
            return false;
    }
    next(p);
    for (size_t i = 0; i < b->count; i++)
        if (b->fields[i].required && !(*seen >> i & 1))
            return DIAG_ERROR(p->ds, span_since(p, begin), FIELD_MISSING, b->fields[i].key);
    return true;
}
