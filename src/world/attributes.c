/*
 * The attributes of a typed FFI call: the text of backend_config=, read as handlers want to find it.
 *
 *     dictionary = "{" [ name "=" value { "," name "=" value } ] "}"
 *     value      = "true" | "false" | number [ ":" type ] | string | dictionary
 *                | "array" "<" type [ ":" element { "," element } ] ">"
 *
 * This is the part of MLIR's syntax that XLA turns into attributes of a call.
 */
#include "type/type.h"
#include "world/ffi_abi.h"

#include <stdlib.h>

enum { MAX_DEPTH = 32 };

struct reader {
    struct arena *arena;
    struct buf *why;
    struct str rest;
    int depth;
};

struct attribute {
    struct ffi_bytes name;
    enum ffi_attr_type type;
    void *value;
};

static bool fail(struct reader *r, const char *what)
{
    if (r->why->size == 0)
        buf_printf(r->why, "backend_config: %s expected at `%.20s`", what, arena_str(r->arena, r->rest).ptr);
    return false;
}

static void skip(struct reader *r, size_t n)
{
    r->rest.ptr += n;
    r->rest.len -= n;
}

static bool peek(struct reader *r, char c)
{
    while (r->rest.len > 0 && char_is_blank(*r->rest.ptr))
        skip(r, 1);
    return r->rest.len > 0 && *r->rest.ptr == c;
}

static bool accept(struct reader *r, char c)
{
    bool here = peek(r, c);
    skip(r, here);
    return here;
}

static bool want(struct reader *r, char c, const char *name)
{
    return accept(r, c) || fail(r, name);
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c && strchr("0123456789_.$+-", c));
}

/* A name or number; empty when there is none. */
static struct str take_word(struct reader *r)
{
    size_t n = 0;
    peek(r, 0);
    while (n < r->rest.len && is_word(r->rest.ptr[n]))
        n++;
    struct str word = {r->rest.ptr, n};
    skip(r, n);
    return word;
}

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* `"..."`: \n, \t, \", \\ and two hexadecimal digits. */
static bool take_string(struct reader *r, struct ffi_bytes *out)
{
    if (!want(r, '"', "a string"))
        return false;
    size_t n = 0;
    while (n < r->rest.len && r->rest.ptr[n] != '"')
        n += r->rest.ptr[n] == '\\' ? 2 : 1;
    char *to = arena_alloc(r->arena, n + 2), *end = to; /* never longer than its escapes */
    out->ptr = to;
    while (r->rest.len > 0 && *r->rest.ptr != '"') {
        char c = *r->rest.ptr;
        n = 1;
        if (c == '\\' && r->rest.len > 2) {
            int high = hex_digit(r->rest.ptr[1]), low = hex_digit(r->rest.ptr[2]);
            bool hex = high >= 0 && low >= 0;
            c = r->rest.ptr[1];
            c = hex ? (char)(high << 4 | low) : c == 'n' ? '\n' : c == 't' ? '\t' : c;
            n = hex ? 3 : 2;
        }
        *end++ = c;
        skip(r, n);
    }
    *end = '\0';
    out->len = (size_t)(end - to);
    return want(r, '"', "the end of a string");
}

/* ---- numbers ---- */

static const struct number_type {
    const char *name;
    uint8_t dtype, bytes;
} number_types[] = {
    {"bf16", FFI_BF16, 2}, {"f16", FFI_F16, 2}, {"f32", FFI_F32, 4},  {"f64", FFI_F64, 8},  {"i1", FFI_PRED, 1},
    {"i16", FFI_S16, 2},   {"i32", FFI_S32, 4}, {"i64", FFI_S64, 8},  {"i8", FFI_S8, 1},    {"si16", FFI_S16, 2},
    {"si32", FFI_S32, 4},  {"si64", FFI_S64, 8}, {"si8", FFI_S8, 1},  {"ui16", FFI_U16, 2}, {"ui32", FFI_U32, 4},
    {"ui64", FFI_U64, 8},  {"ui8", FFI_U8, 1},
};

static const struct number_type *find_type(struct str name)
{
    for (size_t k = 0; k < COUNT_OF(number_types); k++)
        if (str_is(name, number_types[k].name))
            return &number_types[k];
    return NULL;
}

static bool is_float(const struct number_type *t)
{
    return t->dtype == FFI_F16 || t->dtype == FFI_BF16 || t->dtype == FFI_F32 || t->dtype == FFI_F64;
}

/* 0x and digits: the bits of a number of any type. */
static bool parse_bits(struct str word, uint64_t *out)
{
    *out = 0;
    if (word.len < 3 || word.len > 18 || word.ptr[0] != '0' || word.ptr[1] != 'x')
        return false;
    for (size_t k = 2; k < word.len; k++) {
        if (hex_digit(word.ptr[k]) < 0)
            return false;
        *out = *out << 4 | (uint64_t)hex_digit(word.ptr[k]);
    }
    return true;
}

static enum dtype float_type(const struct number_type *t)
{
    return t->dtype == FFI_F16 ? DT_F16 : t->dtype == FFI_BF16 ? DT_BF16 : t->dtype == FFI_F32 ? DT_F32 : DT_F64;
}

/* Whether an integer has a value of the type; those without a sign in their name may have either. */
static bool in_range(const struct number_type *t, struct str word, int64_t v)
{
    bool negative = word.len > 0 && *word.ptr == '-', is_unsigned = t->dtype >= FFI_U8 && t->dtype <= FFI_U64;
    int bits = t->dtype == FFI_PRED ? 1 : 8 * t->bytes;
    if (bits == 64)
        return is_unsigned ? !negative : negative || v >= 0;
    int64_t low = is_unsigned ? 0 : -((int64_t)1 << (bits - 1));
    return v >= low && v < (int64_t)1 << (is_unsigned || t->dtype == FFI_PRED ? bits : bits - 1);
}

static bool store_number(struct reader *r, const struct number_type *t, struct str word, void *at)
{
    uint64_t bits = 0;
    int64_t integer;
    double v;
    if (str_is(word, "true") || str_is(word, "false")) {
        bits = str_is(word, "true");
        if (t->dtype != FFI_PRED)
            return fail(r, "a number");
    } else if (parse_bits(word, &bits)) {
        ;
    } else if (is_float(t)) {
        if (!num_parse_double(word, &v))
            return fail(r, "a number");
        bits = float_encode(float_type(t), v);
    } else if (num_parse_int(word, &integer) && in_range(t, word, integer)) {
        bits = t->dtype == FFI_PRED ? integer != 0 : (uint64_t)integer;
    } else {
        return fail(r, "a number of the type");
    }
    memcpy(at, &bits, t->bytes); /* this machine has the low end first */
    return true;
}

static bool take_type(struct reader *r, const struct number_type **out)
{
    *out = find_type(take_word(r));
    return *out || fail(r, "a type of numbers");
}

/* A number, with its type or in that which MLIR takes when there is none. */
static bool take_scalar(struct reader *r, struct str word, struct attribute *out)
{
    bool truth = str_is(word, "true") || str_is(word, "false");
    bool real = !truth && !str_starts(word, STR("0x")) && (memchr(word.ptr, '.', word.len) || memchr(word.ptr, 'e', word.len));
    const struct number_type *t = find_type(truth ? STR("i1") : real ? STR("f64") : STR("i64"));
    struct ffi_scalar *scalar = ARENA_NEW(r->arena, struct ffi_scalar);
    if (accept(r, ':') && !take_type(r, &t))
        return false;
    scalar->dtype = (enum ffi_dtype)t->dtype;
    scalar->value = arena_zalloc(r->arena, sizeof(uint64_t));
    out->type = FFI_SCALAR;
    out->value = scalar;
    return store_number(r, t, word, scalar->value);
}

/* `array<i64: 1, 2>`; the word is taken already. */
static bool take_array(struct reader *r, struct attribute *out)
{
    const struct number_type *t;
    struct ffi_array *array = ARENA_NEW(r->arena, struct ffi_array);
    if (!want(r, '<', "`<`") || !take_type(r, &t))
        return false;
    const char *end = memchr(r->rest.ptr, '>', r->rest.len);
    size_t most = end ? (size_t)(end - r->rest.ptr) : r->rest.len; /* an element is a letter at least */
    char *data = arena_zalloc(r->arena, (most + 1) * t->bytes);
    array->dtype = (enum ffi_dtype)t->dtype;
    array->data = data;
    out->type = FFI_ARRAY;
    out->value = array;
    if (accept(r, '>'))
        return true;
    if (!want(r, ':', "`:`"))
        return false;
    do {
        if (!store_number(r, t, take_word(r), data + array->count * t->bytes))
            return false;
        array->count++;
    } while (accept(r, ','));
    return want(r, '>', "`>`");
}

/* ---- dictionaries ---- */

static bool take_dictionary(struct reader *r, struct ffi_attrs *out);

static bool take_value(struct reader *r, struct attribute *out)
{
    if (peek(r, '{')) {
        out->type = FFI_DICTIONARY;
        out->value = ARENA_NEW(r->arena, struct ffi_attrs);
        return take_dictionary(r, out->value);
    }
    if (peek(r, '"')) {
        out->type = FFI_STRING;
        out->value = ARENA_NEW(r->arena, struct ffi_bytes);
        return take_string(r, out->value);
    }
    struct str word = take_word(r);
    if (str_is(word, "array"))
        return take_array(r, out);
    return word.len > 0 ? take_scalar(r, word, out) : fail(r, "a number, a string, an array or a dictionary");
}

static bool take_attribute(struct reader *r, struct attribute *out)
{
    if (peek(r, '"')) {
        if (!take_string(r, &out->name))
            return false;
    } else {
        struct str name = take_word(r);
        out->name = (struct ffi_bytes){name.ptr, name.len};
        if (name.len == 0)
            return fail(r, "a name");
    }
    return want(r, '=', "`=`") && take_value(r, out);
}

static int by_name(const void *a, const void *b)
{
    const struct attribute *x = a, *y = b;
    return str_cmp((struct str){x->name.ptr, x->name.len}, (struct str){y->name.ptr, y->name.len});
}

static void put_attributes(struct reader *r, struct ffi_attrs *out, struct attribute *list, size_t count)
{
    if (count > 1)
        qsort(list, count, sizeof *list, by_name);
    *out = (struct ffi_attrs){.size = sizeof *out, .count = (int64_t)count};
    out->types = ARENA_ARRAY(r->arena, enum ffi_attr_type, count);
    out->names = ARENA_ARRAY(r->arena, struct ffi_bytes *, count);
    out->at = ARENA_ARRAY(r->arena, void *, count);
    for (size_t k = 0; k < count; k++) {
        out->types[k] = list[k].type;
        out->names[k] = &list[k].name;
        out->at[k] = list[k].value;
    }
}

static bool take_dictionary(struct reader *r, struct ffi_attrs *out)
{
    size_t count = 0, capacity = 0;
    struct attribute *list = NULL;
    if (!want(r, '{', "`{`") || ++r->depth > MAX_DEPTH)
        return fail(r, "less depth");
    if (!peek(r, '}'))
        do {
            struct attribute *next = &VEC_PUSH(r->arena, list, count, capacity);
            *next = (struct attribute){0};
            if (!take_attribute(r, next))
                return false;
        } while (accept(r, ','));
    r->depth--;
    put_attributes(r, out, list, count);
    return want(r, '}', "`}`");
}

bool ffi_read_attrs(struct arena *a, struct str text, struct ffi_attrs *out, struct buf *why)
{
    struct reader r = {.arena = a, .why = why, .rest = str_trim(text)};
    *out = (struct ffi_attrs){.size = sizeof *out};
    if (r.rest.len == 0)
        return true;
    return take_dictionary(&r, out) && (str_trim(r.rest).len == 0 || fail(&r, "nothing more"));
}
