/*
 * attributes.c: the attributes of a typed FFI call: backend_config=, a dictionary in MLIR's syntax,
 * in the memory layout that handlers expect. Of the attributes of MLIR, XLA supports numbers,
 * strings, arrays of numbers and dictionaries.
 */
#include "base/dict.h"
#include "type/type.h"
#include "world/ffi_abi.h"

#include <stdlib.h>

struct maker {
    struct arena *arena;
    struct buf *why;
    const char *end; /* of the text */
};

struct attribute {
    struct ffi_bytes name;
    enum ffi_attr_type type;
    void *value;
};

static bool fail(struct maker *m, const char *expected, const char *at)
{
    struct dict_error error = {expected, {at, (size_t)(m->end - at)}};
    buf_printf(m->why, "backend_config: %s", dict_problem(m->arena, &error));
    return false;
}

/* ---- numbers ---- */

static const struct number_type {
    const char *name;
    enum dtype dtype;
} number_types[] = {
    {"bf16", DT_BF16}, {"f16", DT_F16},  {"f32", DT_F32}, {"f64", DT_F64},  {"i1", DT_PRED},
    {"i16", DT_S16},   {"i32", DT_S32},  {"i64", DT_S64}, {"i8", DT_S8},    {"si16", DT_S16},
    {"si32", DT_S32},  {"si64", DT_S64}, {"si8", DT_S8},  {"ui16", DT_U16}, {"ui32", DT_U32},
    {"ui64", DT_U64},  {"ui8", DT_U8},
};

static const struct number_type *find_type(struct str name)
{
    for (size_t k = 0; k < COUNT_OF(number_types); k++)
        if (str_is(name, number_types[k].name))
            return &number_types[k];
    return NULL;
}

static bool is_float(const struct number_type *t) { return dtype_is_float(t->dtype); }

/* 0x and hexadecimal digits: the bits of a number of any type. */
static bool parse_bits(struct str word, uint64_t *out)
{
    *out = 0;
    if (word.len < 3 || word.len > 18 || word.ptr[0] != '0' || word.ptr[1] != 'x')
        return false;
    for (size_t k = 2; k < word.len; k++) {
        const int digit = char_hex(word.ptr[k]);
        if (digit < 0)
            return false;
        *out = *out << 4 | (uint64_t)digit;
    }
    return true;
}

/* Whether the integer is in the range of the type: ui8 ... are unsigned, all others signed; i1 is
 * -1, 0 or 1. */
static bool in_range(const struct number_type *t, struct str word, int64_t v)
{
    bool negative = word.len > 0 && *word.ptr == '-',
         is_unsigned = t->dtype >= DT_U8 && t->dtype <= DT_U64;
    int bits = t->dtype == DT_PRED ? 1 : (int)(8 * dtype_bytes(t->dtype));
    if (bits == 64)
        return is_unsigned ? !negative : negative || v >= 0;
    int64_t low = is_unsigned ? 0 : -((int64_t)1 << (bits - 1));
    return v >= low && v < (int64_t)1 << (is_unsigned || t->dtype == DT_PRED ? bits : bits - 1);
}

/* Converts from the spelling, since integers may have more digits than a double holds. */
static bool store_number(struct maker *m, const struct number_type *t,
                         const struct dict_value *from, void *to)
{
    uint64_t bits = 0;
    int64_t integer;
    double v;
    struct str word = from->s;
    if (from->kind == DICT_BOOL) {
        bits = from->i != 0;
        if (t->dtype != DT_PRED)
            return fail(m, "a number", from->at);
    } else if (parse_bits(word, &bits)) {
        ;
    } else if (is_float(t)) {
        if (!num_parse_double(word, &v))
            return fail(m, "a number", from->at);
        bits = float_encode(t->dtype, v);
    } else if (num_parse_int(word, &integer) && in_range(t, word, integer)) {
        bits = t->dtype == DT_PRED ? integer != 0 : (uint64_t)integer;
    } else {
        return fail(m, "a number in the range of its type", from->at);
    }
    memcpy(to, &bits, dtype_bytes(t->dtype)); /* little-endian */
    return true;
}

static bool is_number(const struct dict_value *v) /* or a word, which may be the bits of one */
{
    return v->kind == DICT_INT || v->kind == DICT_FLOAT || v->kind == DICT_BOOL ||
           v->kind == DICT_WORD;
}

static bool has_point(struct str word)
{
    return memchr(word.ptr, '.', word.len) || memchr(word.ptr, 'e', word.len) ||
           memchr(word.ptr, 'E', word.len);
}

static bool make_type(struct maker *m, struct str name, const struct number_type **out)
{
    *out = find_type(name);
    return *out || fail(m, "a numeric type", name.ptr);
}

/* A number of its explicit type, or of MLIR's default type. */
static bool make_scalar(struct maker *m, const struct dict_value *v, struct ffi_scalar *out)
{
    bool real = v->kind == DICT_FLOAT && has_point(v->s);
    const struct number_type *t;
    if (!make_type(m,
                   v->type.len            ? v->type
                   : v->kind == DICT_BOOL ? STR("i1")
                   : real                 ? STR("f64")
                                          : STR("i64"),
                   &t))
        return false;
    out->dtype = (enum ffi_dtype)dtype_table[t->dtype].number;
    out->value = arena_zalloc(m->arena, sizeof(uint64_t));
    return store_number(m, t, v, out->value);
}

static bool make_array(struct maker *m, const struct dict_value *v, struct ffi_array *out)
{
    const struct number_type *t;
    if (!make_type(m, v->type, &t))
        return false;
    char *data = arena_zalloc(m->arena, v->count * dtype_bytes(t->dtype));
    *out = (struct ffi_array){(enum ffi_dtype)dtype_table[t->dtype].number, v->count, data};
    for (size_t k = 0; k < v->count; k++) {
        const struct dict_value *element = &v->items[k].value;
        if (!is_number(element) || element->type.len > 0)
            return fail(m, "a number without a type", element->at);
        if (!store_number(m, t, element, data + k * dtype_bytes(t->dtype)))
            return false;
    }
    return true;
}

/* ---- dictionaries ---- */

static bool make_dictionary(struct maker *m, const struct dict_value *d, struct ffi_attrs *out);

static struct ffi_bytes bytes_of(struct str s) { return (struct ffi_bytes){s.ptr, s.len}; }

static bool make_value(struct maker *m, const struct dict_value *v, struct attribute *out)
{
    struct arena *a = m->arena;
    switch (v->kind) {
    case DICT_INT:
    case DICT_FLOAT:
    case DICT_BOOL:
    case DICT_WORD:
        out->type = FFI_SCALAR;
        return make_scalar(m, v, out->value = ARENA_NEW(a, struct ffi_scalar));
    case DICT_ARRAY:
        out->type = FFI_ARRAY;
        return make_array(m, v, out->value = ARENA_NEW(a, struct ffi_array));
    case DICT_STRING: {
        struct ffi_bytes s = bytes_of(v->s);
        out->type = FFI_STRING;
        out->value = ARENA_DUP(a, &s, 1);
        return true;
    }
    case DICT_DICT:
        out->type = FFI_DICTIONARY;
        return make_dictionary(m, v, out->value = ARENA_NEW(a, struct ffi_attrs));
    default:
        return fail(m,
                    v->kind == DICT_UNIT ? "'='" : "a number, a string, an array or a dictionary",
                    v->at);
    }
}

static int by_name(const void *a, const void *b)
{
    const struct attribute *x = a, *y = b;
    return str_cmp((struct str){x->name.ptr, x->name.len}, (struct str){y->name.ptr, y->name.len});
}

static bool make_dictionary(struct maker *m, const struct dict_value *d, struct ffi_attrs *out)
{
    size_t count = d->count;
    struct attribute *list = ARENA_ARRAY(m->arena, struct attribute, count);
    for (size_t k = 0; k < count; k++) {
        list[k].name = bytes_of(d->items[k].name);
        if (!make_value(m, &d->items[k].value, &list[k]))
            return false;
    }
    if (count > 1)
        qsort(list, count, sizeof *list, by_name);
    *out = (struct ffi_attrs){.size = sizeof *out, .count = (int64_t)count};
    out->types = ARENA_ARRAY(m->arena, enum ffi_attr_type, count);
    out->names = ARENA_ARRAY(m->arena, struct ffi_bytes *, count);
    out->at = ARENA_ARRAY(m->arena, void *, count);
    for (size_t k = 0; k < count; k++) {
        out->types[k] = list[k].type;
        out->names[k] = &list[k].name;
        out->at[k] = list[k].value;
    }
    return true;
}

bool ffi_read_attrs(struct arena *a, struct str text, struct ffi_attrs *out, struct buf *why)
{
    struct dict_value tree;
    struct dict_error error;
    struct maker m = {a, why, text.ptr + text.len};
    if (!dict_read(a, text, DICT_MLIR, &tree, &error))
        return fail(&m, error.expected, error.rest.ptr);
    return make_dictionary(&m, &tree, out);
}
