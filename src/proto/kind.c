/*
 * kind.c: recognizes protocol buffers by their structure: which fields they have, of which types.
 *
 * Any bytes may parse as some message, so that XLA's tools, which try one type after the other,
 * take one for another.
 */
#include "proto/proto.h"

enum { VARINT = 0, BITS64 = 1, BYTES = 2, BITS32 = 5 };

/* A field of a message in wire format. */
struct field {
    unsigned number, type;
    struct str value;
};

static bool take_varint(struct str *s, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; shift < 70 && s->len > 0; shift += 7) {
        const unsigned char b = (unsigned char)*str_take(s, 1).ptr;
        if (shift < 64)
            *out |= (uint64_t)(b & 127) << shift;
        if (b < 128)
            return true;
    }
    return false;
}

static bool take_field(struct str *s, struct field *out)
{
    uint64_t tag, n;
    if (!take_varint(s, &tag) || tag >> 3 == 0 || tag > UINT32_MAX)
        return false;
    *out = (struct field){(unsigned)(tag >> 3), (unsigned)(tag & 7), {s->ptr, 0}};
    if (out->type == VARINT)
        return take_varint(s, &n);
    if (out->type != BYTES && out->type != BITS64 && out->type != BITS32)
        return false;
    n = out->type == BITS64 ? 8 : 4;
    if ((out->type == BYTES && !take_varint(s, &n)) || n > s->len)
        return false;
    out->value = str_take(s, n);
    return true;
}

/* What the fields of one level show. */
struct survey {
    bool well_formed, computations, shape;
    bool module_types;    /* the types are those of an HloModuleProto */
    struct str first;     /* field 1, if length-delimited */
    bool has_first, more; /* more: field 2 is length-delimited, or 3 a varint */
    uint64_t second;
};

static void note_field(struct survey *y, const struct field *f)
{
    const bool bytes = f->type == BYTES;
    if (y->module_types && f->number <= 4 && (!bytes || (f->number <= 2 && !str_is_utf8(f->value))))
        y->module_types = false;
    if ((f->number == 5 || f->number == 6) && f->type != VARINT)
        y->module_types = false;
    y->computations |= f->number == 3 && bytes;
    y->shape |= f->number == 4 && bytes;
    y->more |= (f->number == 2 && bytes) || (f->number == 3 && f->type == VARINT);
    if (f->number == 1 && bytes && !y->has_first) {
        y->has_first = true;
        y->first = f->value;
    }
}

static struct survey look_at(struct str s)
{
    struct survey y = {.module_types = true};
    struct field f;
    while (s.len > 0) {
        if (!take_field(&s, &f))
            return y;
        note_field(&y, &f);
    }
    y.well_formed = true;
    return y;
}

static bool is_module(const struct survey *y)
{
    return y->well_formed && y->module_types && y->computations && y->shape;
}

static bool holds_module(const struct survey *y)
{
    if (!y->well_formed || !y->has_first)
        return false;
    const struct survey first = look_at(y->first);
    return is_module(&first);
}

static bool is_literal(const struct survey *y)
{
    enum { ELEMENT_TYPE = 2 << 3 };
    return y->well_formed && y->has_first && y->first.len > 1 && *y->first.ptr == ELEMENT_TYPE &&
           look_at(y->first).well_formed;
}

struct str proto_container_message(struct str s)
{
    uint64_t n;
    return take_varint(&s, &n) && n <= s.len ? (struct str){s.ptr, n} : (struct str){s.ptr, 0};
}

static bool is_container(struct str s)
{
    const struct survey y = look_at(proto_container_message(s));
    return holds_module(&y);
}

enum proto_kind proto_kind_of(struct str bytes)
{
    const struct survey y = look_at(bytes);
    if (is_module(&y))
        return PROTO_MODULE;
    if (holds_module(&y))
        return y.more ? PROTO_UNOPTIMIZED : PROTO_HLO;
    if (y.well_formed && y.has_first) {
        const struct survey first = look_at(y.first);
        if (holds_module(&first))
            return PROTO_SNAPSHOT;
    }
    if (is_container(bytes))
        return PROTO_CONTAINER;
    return is_literal(&y) ? PROTO_LITERAL : PROTO_NONE;
}

/* ---- text format ---- */

/* Removes blanks and comments. */
static void skip_blanks(struct str *s)
{
    for (;;) {
        *s = str_trim(*s);
        if (s->len == 0 || *s->ptr != '#')
            return;
        str_cut(s, '\n');
    }
}

static struct str take_word(struct str *s)
{
    size_t n = 0;
    while (n < s->len && (char_is_letter(s->ptr[n]) || char_is_digit(s->ptr[n])))
        n++;
    return str_take(s, n);
}

/* Whether a line of the text begins with a field of the outermost message. */
static bool has_line(struct str text, const char *field)
{
    while (text.len > 0)
        if (str_starts(str_cut(&text, '\n'), str_of(field)))
            return true;
    return false;
}

enum proto_kind proto_kind_of_text(struct str text)
{
    struct str rest = text;
    skip_blanks(&rest);
    const struct str word = take_word(&rest);
    skip_blanks(&rest);
    const char next = rest.len ? *rest.ptr : '\0';
    const bool message = next == '{' || next == ':' || next == '<';
    if (!message || word.len == 0)
        return PROTO_NONE;
    if (str_is(word, "hlo_module"))
        return has_line(text, "partitions") ? PROTO_UNOPTIMIZED : PROTO_HLO;
    if (str_is(word, "hlo"))
        return PROTO_SNAPSHOT;
    if (str_is(word, "shape"))
        return PROTO_LITERAL;
    if (str_is(word, "computations") ||
        ((str_is(word, "name") || str_is(word, "entry_computation_name")) && next == ':'))
        return PROTO_MODULE;
    return PROTO_NONE;
}
