/*
 * body.c: properties of combiners (spec: Reduce, ReduceWindow, Scatter): the opcode of a recognized
 * combiner, its work type, its identity.
 */
#include <math.h>

#include "kern/nest.h"

const char *kern_combine_opcode(enum kern_combine c)
{
    switch (c) {
    case KERN_ADD: return "add";
    case KERN_MULTIPLY: return "multiply";
    case KERN_MAXIMUM: return "maximum";
    case KERN_MINIMUM: return "minimum";
    case KERN_AND: return "and";
    case KERN_OR: return "or";
    case KERN_XOR: return "xor";
    default: return NULL;
    }
}

enum dtype combine_work_type(enum kern_combine c, enum dtype t)
{
    if (!dtype_is_float(t) || t == DT_F64)
        return t;
    if (c == KERN_MULTIPLY)
        return t == DT_F32 ? DT_F64 : t;
    return c == KERN_ADD ? DT_F64 : DT_F32; /* maximum and minimum are the same in any type */
}

enum dtype combine_window_type(enum kern_combine c, enum dtype t)
{
    enum dtype work = combine_work_type(c, t);
    return work == DT_F64 && t != DT_F64 ? DT_F32 : work;
}

bool combine_order_free(enum kern_combine c, enum dtype t, enum dtype work)
{
    if (dtype_is_complex(t))
        return false;
    if (!dtype_is_float(t))
        return true;
    return c == KERN_MAXIMUM || c == KERN_MINIMUM ||
           ((c == KERN_ADD || c == KERN_MULTIPLY) && work == DT_F64 && t != DT_F64);
}

/* Stores the least (or greatest) value of a type. */
static void extreme(enum dtype t, bool greatest, void *element)
{
    if (dtype_is_float(t)) {
        bool unsigned_format = t == DT_F8E8M0FNU;
        uint8_t specials = float_format(t)->specials;
        double max = specials == FS_IEEE ? (double)INFINITY : float_max(t);
        float_store(t, element, greatest ? max : unsigned_format ? 0x1p-127 : -max);
        return;
    }
    unsigned bits = t == DT_PRED ? 1 : dtype_bits(t);
    uint64_t all = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1, value = greatest ? all : 0;
    if (dtype_is_signed(t))
        value = greatest ? all >> 1 : ~(all >> 1); /* storage is sign-extended */
    memcpy(element, &value, dtype_bytes(t));
}

static bool store_zero(enum dtype t, void *element)
{
    enum dtype part = dtype_component(t);
    memset(element, 0, dtype_bytes(t));
    if (!dtype_is_float(part))
        return true;
    if (t == DT_F8E8M0FNU)
        return false;
    float_store(part, element, -0.0); /* x + -0 is x for every x; formats without -0 get 0 */
    if (part != t)
        float_store(part, (char *)element + dtype_bytes(part), -0.0);
    return true;
}

static bool store_one(enum dtype t, void *element)
{
    memset(element, 0, dtype_bytes(t));
    if (dtype_is_float(t))
        float_store(t, element, 1);
    else
        *(uint8_t *)element = 1; /* little-endian */
    return t != DT_S1;
}

bool combine_identity(enum kern_combine c, enum dtype t, void *element)
{
    switch (c) {
    case KERN_ADD: return store_zero(t, element);
    case KERN_MULTIPLY:
        return !dtype_is_complex(t) && store_one(t, element); /* inf * (1 + 0i) is NaN */
    case KERN_MAXIMUM: return extreme(t, false, element), true;
    case KERN_MINIMUM: return extreme(t, true, element), true;
    case KERN_OR:
    case KERN_XOR: return memset(element, 0, dtype_bytes(t)), true;
    case KERN_AND:
        memset(element, 0xff, dtype_bytes(t));
        if (!dtype_is_signed(t))
            extreme(t, true, element);
        return true;
    default: return false;
    }
}
