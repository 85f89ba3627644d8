/*
 * dtype.c: the table of element types, their spellings, and their order by precision.
 */
#include "type/type.h"

const struct dtype_info dtype_table[DT_COUNT + 1] = {
#define DTYPE(id, spelling, bits, bytes, class, storage, compute, number)                          \
    {spelling, sizeof(spelling) - 1, bits, bytes, number, DC_##class},
#include "type/dtype.def"
    {"invalid", 7, 0, 0, 0, DC_OTHER},
};

/* A quick filter on the first two bytes: most identifiers are not element types. */
static bool may_be_type(struct str word)
{
    if (word.len < 2 || word.len > 13)
        return false;
    char second = word.ptr[1];
    switch (word.ptr[0]) {
    case 's':
    case 'u':
    case 'f':
    case 'c': return second >= '1' && second <= '9';
    case 'b': return second == 'f';
    case 'p': return second == 'r';
    case 't': return second == 'o';
    case 'o': return second == 'p';
    default: return false;
    }
}

static bool is_type(struct str word, int t)
{
    return *word.ptr == *dtype_table[t].spelling && word.len == dtype_table[t].length &&
           memcmp(word.ptr, dtype_table[t].spelling, word.len) == 0;
}

enum dtype dtype_find(struct str word)
{
    static const uint8_t usual[] = {DT_F32, DT_S32, DT_PRED, DT_BF16,
                                    DT_U32}; /* the most frequent types, searched first */
    if (!may_be_type(word))
        return DT_INVALID;
    for (size_t i = 0; i < COUNT_OF(usual); i++)
        if (is_type(word, usual[i]))
            return (enum dtype)usual[i];
    for (int t = 0; t < DT_TUPLE; t++)
        if (is_type(word, t))
            return (enum dtype)t;
    return DT_INVALID;
}

enum dtype dtype_component(enum dtype t)
{
    return t == DT_C64 ? DT_F32 : t == DT_C128 ? DT_F64 : t;
}

enum dtype dtype_unsigned(enum dtype t)
{
    for (int u = DT_U1; u <= DT_U64; u++)
        if (dtype_bits((enum dtype)u) == dtype_bits(t))
            return (enum dtype)u;
    return DT_U64;
}

/* The criteria by which one type is more precise than another, most significant first. */
struct precision {
    int by[5];
};

static int overflow_exponent(enum dtype t)
{
    int exponent = 0;
    double max = float_max(t);
    while (max >= 0x1p64) {
        max *= 0x1p-64;
        exponent += 64;
    }
    for (; max >= 1; max *= 0.5)
        exponent++;
    return exponent;
}

static struct precision precision_of(enum dtype t)
{
    enum dtype part = dtype_component(t);
    struct precision p = {
        {dtype_is_complex(t), INT_MIN, INT_MIN, (int)dtype_bits(t), dtype_is_signed(t)}};
    if (dtype_is_float(part)) {
        p.by[1] = overflow_exponent(part);
        p.by[2] = float_format(part)->mantissa_bits;
    }
    return p;
}

enum dtype dtype_higher(enum dtype a, enum dtype b)
{
    if (a == b)
        return a;
    struct precision pa = precision_of(a), pb = precision_of(b);
    for (size_t i = 0; i < COUNT_OF(pa.by); i++)
        if (pa.by[i] != pb.by[i])
            return pa.by[i] > pb.by[i] ? a : b;
    return DT_INVALID;
}
