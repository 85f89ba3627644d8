/*
 * convert.c: tile kernels that convert one element type to another.
 *
 * Each pair of native types (pred, integers, f32, f64) has a loop of its own. A narrow float is
 * converted through f32 and a complex number by its parts, a buffer at a time, so that code is
 * needed per type and not per pair. spec: ConvertElementType
 */
#include "kern/tile.h"

#include <math.h>

/* ---- native to native ---- */

/* Types narrower than a byte are loaded as a byte, pred as u8. */
enum native {
    FROM_S8,
    FROM_S16,
    FROM_S32,
    FROM_S64,
    FROM_U8,
    FROM_U16,
    FROM_U32,
    FROM_U64,
    FROM_F32,
    FROM_F64,
    NATIVE_COUNT
};

/* The low W bits, and for a signed S their sign extended. */
#define WRAP(x, S, U, W) ((S)((S)((U)(x) << (8 * sizeof(S) - W)) >> (8 * sizeof(S) - W)))
/* Numbers clamped to low..high, which are exact; NaN gives 0. */
#define CLAMP(id, F)                                                                               \
    static inline F clamp_##id(F x, F low, F high)                                                 \
    {                                                                                              \
        F y = x < low ? low : x;                                                                   \
        y = y > high ? high : y;                                                                   \
        return x == x ? y : 0;                                                                     \
    }
CLAMP(float, float)
CLAMP(double, double)
/* Rounds towards zero and clamps to low..high, where edge = high + 1 is exact in F; NaN gives 0. If
 * high is exact too, x is clamped before it is converted: masks need not be narrowed. */
#define HOLD(x, F, S, low, high, edge)                                                             \
    ((F)high < (F)edge ? (S)clamp_##F(x, (F)low, (F)high)                                          \
     : (x) < (F)edge   ? (x) > (F)low ? (S)(x) : low                                               \
     : (x) >= (F)edge  ? high                                                                      \
                       : 0)

/* The conversions of every native type to one: the values of an integer, a float and a double x in
 * it. */
#define LOOP(to, from, TO, FROM, formula) TILE_UNARY(to##_from_##from, TO, FROM, formula)
#define NATIVE(to, TO, integer, single, wide)                                                      \
    LOOP(to, s8, TO, int8_t, integer)                                                              \
    LOOP(to, s16, TO, int16_t, integer)                                                            \
    LOOP(to, s32, TO, int32_t, integer)                                                            \
    LOOP(to, s64, TO, int64_t, integer)                                                            \
    LOOP(to, u8, TO, uint8_t, integer)                                                             \
    LOOP(to, u16, TO, uint16_t, integer)                                                           \
    LOOP(to, u32, TO, uint32_t, integer)                                                           \
    LOOP(to, u64, TO, uint64_t, integer)                                                           \
    LOOP(to, f32, TO, float, single)                                                               \
    LOOP(to, f64, TO, double, wide)                                                                \
    static kern_tile_fn *const to##_from[NATIVE_COUNT] = {                                         \
        [FROM_S8] = to##_from_s8,   [FROM_S16] = to##_from_s16, [FROM_S32] = to##_from_s32,        \
        [FROM_S64] = to##_from_s64, [FROM_U8] = to##_from_u8,   [FROM_U16] = to##_from_u16,        \
        [FROM_U32] = to##_from_u32, [FROM_U64] = to##_from_u64, [FROM_F32] = to##_from_f32,        \
        [FROM_F64] = to##_from_f64,                                                                \
    };
#define INTEGER(to, TO, U, bits, low, high, edge)                                                  \
    NATIVE(to, TO, WRAP(x, TO, U, bits), HOLD(x, float, TO, low, high, edge),                      \
           HOLD(x, double, TO, low, high, edge))
INTEGER(S1, int8_t, uint8_t, 1, -1, 0, 0x1p0)
INTEGER(S2, int8_t, uint8_t, 2, -2, 1, 0x1p1)
INTEGER(S4, int8_t, uint8_t, 4, -8, 7, 0x1p3)
INTEGER(S8, int8_t, uint8_t, 8, INT8_MIN, INT8_MAX, 0x1p7)
INTEGER(S16, int16_t, uint16_t, 16, INT16_MIN, INT16_MAX, 0x1p15)
INTEGER(S32, int32_t, uint32_t, 32, INT32_MIN, INT32_MAX, 0x1p31)
INTEGER(S64, int64_t, uint64_t, 64, INT64_MIN, INT64_MAX, 0x1p63)
INTEGER(U1, uint8_t, uint8_t, 1, 0, 1, 0x1p1)
INTEGER(U2, uint8_t, uint8_t, 2, 0, 3, 0x1p2)
INTEGER(U4, uint8_t, uint8_t, 4, 0, 15, 0x1p4)
INTEGER(U8, uint8_t, uint8_t, 8, 0, UINT8_MAX, 0x1p8)
INTEGER(U16, uint16_t, uint16_t, 16, 0, UINT16_MAX, 0x1p16)
INTEGER(U32, uint32_t, uint32_t, 32, 0, UINT32_MAX, 0x1p32)
INTEGER(U64, uint64_t, uint64_t, 64, 0, UINT64_MAX, 0x1p64)
NATIVE(PRED, uint8_t, x != 0, x != 0, x != 0)
NATIVE(F32, float, (float)x, (float)x, (float)x)
NATIVE(F64, double, (double)x, (double)x, (double)x)

/* clang-format off */
#define NATIVE_TYPES(X)                                                                                      \
    X(PRED, U8) X(S1, S8) X(S2, S8) X(S4, S8) X(S8, S8) X(S16, S16) X(S32, S32) X(S64, S64)                  \
    X(U1, U8) X(U2, U8) X(U4, U8) X(U8, U8) X(U16, U16) X(U32, U32) X(U64, U64) X(F32, F32) X(F64, F64)
/* clang-format on */

static kern_tile_fn *find_native(enum dtype to,
                                 enum dtype from) /* NULL when either is not native */
{
    static const struct {
        kern_tile_fn *const *row;
        bool native;
        enum native loads_as;
    } types[DT_COUNT] = {
#define X(id, as) [DT_##id] = {id##_from, true, FROM_##as},
        NATIVE_TYPES(X)
#undef X
    };
    return types[to].native && types[from].native ? types[to].row[types[from].loads_as] : NULL;
}

/* ---- through a native type ---- */

enum { CHUNK = 512 };

static inline bool is_native(enum dtype t) { return find_native(t, t) != NULL; }
static inline enum dtype native_of(enum dtype t) /* intermediate native type of its conversions */
{
    return is_native(t) ? t : tile_is_narrow(t) ? DT_F32 : dtype_component(t);
}

/* Rounds towards zero and sets the last bit when the result is inexact (round to odd): rounding the
 * result again, to a type of at most 22 bits, equals rounding the double directly. */
static void round_to_odd(float *out, const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        union {
            float f;
            uint32_t u;
        } v = {(float)x[i]};
        if ((double)v.f != x[i]) {
            v.u -= fabs((double)v.f) > fabs(x[i]);
            v.u |= 1;
        }
        out[i] = v.f;
    }
}

static void load_real(enum dtype t, void *out, const void *in, int64_t n)
{
    if (t == DT_C64) {
        const struct c64 *x = in;
        for (int64_t i = 0; i < n; i++)
            ((float *)out)[i] = x[i].re;
    } else {
        const struct c128 *x = in;
        for (int64_t i = 0; i < n; i++)
            ((double *)out)[i] = x[i].re;
    }
}

static void store_real(enum dtype t, void *out, const void *in, int64_t n)
{
    if (t == DT_C64) {
        struct c64 *z = out;
        for (int64_t i = 0; i < n; i++)
            z[i] = (struct c64){((const float *)in)[i], 0};
    } else {
        struct c128 *z = out;
        for (int64_t i = 0; i < n; i++)
            z[i] = (struct c128){((const double *)in)[i], 0};
    }
}

/* f64 is rounded once to types of 8 bits and fewer, but to f16 and bf16 through f32
 * (grammar/values.md 6). */
static void convert_middle(enum dtype to, enum dtype native_to, enum dtype from, void *out,
                           const void *in, int64_t n)
{
    if (from == DT_F64 && tile_is_narrow(to) && dtype_bits(to) <= 8)
        round_to_odd(out, in, n);
    else
        find_native(native_to, from)(out, &in, n);
}

/* Conversions of complex numbers: both parts to complex types, the real part to real ones. */
static void convert_parts(enum dtype to, enum dtype from, void *out, const void *in, int64_t n)
{
    if (to != DT_PRED) {
        find_native(dtype_component(to), dtype_component(from))(out, &in, 2 * n);
    } else if (from == DT_C64) {
        const struct c64 *x = in;
        for (int64_t i = 0; i < n; i++)
            ((uint8_t *)out)[i] = x[i].re != 0 || x[i].im != 0;
    } else {
        const struct c128 *x = in;
        for (int64_t i = 0; i < n; i++)
            ((uint8_t *)out)[i] = x[i].re != 0 || x[i].im != 0;
    }
}

static void through_native(enum dtype to, enum dtype from, void *out, const void *in, int64_t n)
{
    union {
        float f[CHUNK];
        double d[CHUNK];
    } loaded, converted;
    if (to == from) {
        memmove(out, in, (size_t)n * dtype_bytes(to));
        return;
    }
    if (dtype_is_complex(from) && (dtype_is_complex(to) || to == DT_PRED)) {
        convert_parts(to, from, out, in, n);
        return;
    }
    if (tile_is_narrow(from) && to == DT_F32) {
        tile_widen(from, out, in, n);
        return;
    }
    const enum dtype native_from = native_of(from), native_to = native_of(to);
    for (int64_t at = 0; at < n; at += CHUNK) {
        const int64_t some = n - at < CHUNK ? n - at : CHUNK;
        const void *x = (const char *)in + (size_t)at * dtype_bytes(from);
        void *z = (char *)out + (size_t)at * dtype_bytes(to);
        if (tile_is_narrow(from)) {
            tile_widen(from, loaded.f, x, some);
            x = &loaded;
        } else if (dtype_is_complex(from)) {
            load_real(from, &loaded, x, some);
            x = &loaded;
        }
        if (to == native_to) {
            convert_middle(to, native_to, native_from, z, x, some);
            continue;
        }
        if (native_to != native_from) {
            convert_middle(to, native_to, native_from, &converted, x, some);
            x = &converted;
        }
        if (dtype_is_complex(to))
            store_real(to, z, x, some);
        else
            tile_narrow(to, z, x, some);
    }
}

/* A tile kernel has no type arguments, so each pair of types needs a function. */
/* clang-format off */
#define SPECIAL_TYPES(X)                                                                                     \
    X(F4E2M1FN, ) X(F6E2M3FN, ) X(F6E3M2FN, ) X(F8E3M4, ) X(F8E4M3, ) X(F8E4M3B11FNUZ, ) X(F8E4M3FN, )       \
    X(F8E4M3FNUZ, ) X(F8E5M2, ) X(F8E5M2FNUZ, ) X(F8E8M0FNU, ) X(F16, ) X(BF16, ) X(C64, ) X(C128, )
/* clang-format on */

#define BODY "kern/convert_special.inc"
#include "kern/each_narrow.inc"
#define SELF C64
#include "kern/convert_special.inc"
#define SELF C128
#include "kern/convert_special.inc"

kern_tile_fn *tile_find_convert(enum dtype to, enum dtype from)
{
    static const struct {
        kern_tile_fn *const *to, *const *from;
    } special[DT_COUNT] = {
#define X(id, as) [DT_##id] = {id##_to, id##_from},
        SPECIAL_TYPES(X)
#undef X
    };
    if (special[to].from)
        return special[to].from[from];
    if (special[from].to)
        return special[from].to[to];
    return find_native(to, from);
}
