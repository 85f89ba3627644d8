/*
 * kind.c: recognizes protocol buffers by their structure: which fields they have, of which types.
 *
 * Any bytes may parse as some message, so that XLA's tools, which try one type after the other,
 * take one for another.
 */
#include "proto/proto.h"
#include "wire/field.h"

/* What the fields of one level show. */
struct survey {
    bool well_formed, computations, shape;
    bool module_types;    /* the types are those of an HloModuleProto */
    struct str first;     /* field 1, if length-delimited */
    bool has_first, more; /* more: field 2 is length-delimited, or 3 a varint */
};

static void note_field(struct survey *y, const struct wire_field *f)
{
    const bool bytes = f->type == WIRE_BYTES;
    if (y->module_types && f->number <= 4 && (!bytes || (f->number <= 2 && !str_is_utf8(f->value))))
        y->module_types = false;
    if ((f->number == 5 || f->number == 6) && f->type != WIRE_VARINT)
        y->module_types = false;
    y->computations |= f->number == 3 && bytes;
    y->shape |= f->number == 4 && bytes;
    y->more |= (f->number == 2 && bytes) || (f->number == 3 && f->type == WIRE_VARINT);
    if (f->number == 1 && bytes && !y->has_first) {
        y->has_first = true;
        y->first = f->value;
    }
}

static struct survey look_at(struct str s)
{
    struct survey y = {.module_types = true};
    struct wire_cursor c = {s.ptr, s.ptr + s.len};
    struct wire_field f;
    while (c.at < c.end) {
        if (!wire_next(&c, &f))
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
    struct wire_cursor c = {s.ptr, s.ptr + s.len};
    uint64_t n;
    const bool whole = wire_varint(&c, &n) && n <= (size_t)(c.end - c.at);
    return (struct str){c.at, whole ? n : 0};
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
