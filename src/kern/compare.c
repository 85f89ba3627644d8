/*
 * compare.c: tile kernels that compare elements.
 *
 * Types are grouped by the order of their elements: integers in their own order, floats by IEEE
 * 754's partial order (narrow ones in f32), or, in total order, by an integer key made of their
 * bits. spec: Compare
 */
#include "kern/tile.h"

/* grammar/values.md 5.2: bits with the sign set count down from -1 */
static inline int8_t key_8(uint8_t u) { return (int8_t)(u & 0x80 ? u ^ 0x7f : u); }
static inline int8_t key_6(uint8_t u) { return key_8((uint8_t)(u << 2)); }
static inline int8_t key_4(uint8_t u) { return key_8((uint8_t)(u << 4)); }
static inline int16_t key_16(uint16_t u) { return (int16_t)(u & 0x8000 ? u ^ 0x7fff : u); }
static inline int32_t key_32(uint32_t u) { return (int32_t)(u >> 31 ? u ^ 0x7fffffff : u); }
static inline int64_t key_64(uint64_t u) { return (int64_t)(u >> 63 ? u ^ 0x7fffffffffffffff : u); }
/* There is no minus zero: its code is NaN, the smallest key; 0x81 follows zero. */
static inline int key_fnuz(uint8_t u) { return u <= 0x80 ? (u == 0x80 ? -128 : u) : 0x80 - u; }

#define ALL(id)                                                                                    \
    static kern_tile_fn *const id##_all[6] = {                                                     \
        [KERN_EQ] = id##_EQ, [KERN_NE] = id##_NE, [KERN_GE] = id##_GE,                             \
        [KERN_GT] = id##_GT, [KERN_LE] = id##_LE, [KERN_LT] = id##_LT,                             \
    };

/* ---- elements of one type, by a key that C's operators compare ---- */

#define SAME(x) (x)
#define DIRECTION(id, T, key, d, operator) TILE_BINARY(id##_##d, uint8_t, T, key(x) operator key(y))
#define ORDERED(id, T, key)                                                                        \
    DIRECTION(id, T, key, EQ, ==)                                                                  \
    DIRECTION(id, T, key, NE, !=)                                                                  \
    DIRECTION(id, T, key, GE, >=)                                                                  \
    DIRECTION(id, T, key, GT, >)                                                                   \
    DIRECTION(id, T, key, LE, <=)                                                                  \
    DIRECTION(id, T, key, LT, <)                                                                   \
    ALL(id)
ORDERED(u8, uint8_t, SAME)
ORDERED(u16, uint16_t, SAME)
ORDERED(u32, uint32_t, SAME)
ORDERED(u64, uint64_t, SAME)
ORDERED(s8, int8_t, SAME)
ORDERED(s16, int16_t, SAME)
ORDERED(s32, int32_t, SAME)
ORDERED(s64, int64_t, SAME)
ORDERED(f32, float, SAME)
ORDERED(f64, double, SAME)
ORDERED(total_4, uint8_t, key_4)
ORDERED(total_6, uint8_t, key_6)
ORDERED(total_8, uint8_t, key_8)
ORDERED(total_fnuz, uint8_t, key_fnuz)
ORDERED(total_16, uint16_t, key_16)
ORDERED(total_32, uint32_t, key_32)
ORDERED(total_64, uint64_t, key_64)
#undef ORDERED
#undef DIRECTION

/* ---- narrow floats in partial order ---- */

enum { CHUNK = 512 };

static void in_f32(enum dtype t, enum kern_direction d, uint8_t *out, const void *const *args,
                   int64_t n)
{
    float x[CHUNK], y[CHUNK];
    const size_t size = dtype_bytes(t);
    for (int64_t at = 0; at < n; at += CHUNK) {
        const int64_t some = n - at < CHUNK ? n - at : CHUNK;
        tile_widen(t, x, (const char *)args[0] + (size_t)at * size, some);
        tile_widen(t, y, (const char *)args[1] + (size_t)at * size, some);
        f32_all[d](out + at, (const void *const[]){x, y}, some);
    }
}

#define DIRECTION(id, d)                                                                           \
    static void id##_##d(void *out, const void *const *args, int64_t n)                            \
    {                                                                                              \
        in_f32(DT_##id, KERN_##d, out, args, n);                                                   \
    }
#define NARROW(id)                                                                                 \
    DIRECTION(id, EQ)                                                                              \
    DIRECTION(id, NE)                                                                              \
    DIRECTION(id, GE)                                                                              \
    DIRECTION(id, GT)                                                                              \
    DIRECTION(id, LE)                                                                              \
    DIRECTION(id, LT)                                                                              \
    ALL(id)
TILE_NARROW_TYPES(NARROW)
#undef NARROW
#undef DIRECTION

/* ---- complex numbers: equal by parts; ordered by the real, then by the imaginary part ---- */

#define DIRECTION(id, T, d, formula) TILE_BINARY(id##_##d, uint8_t, T, formula)
#define ORDER(id, T, d, operator)                                                                  \
    DIRECTION(id, T, d, x.re == y.re ? x.im operator y.im : x.re operator y.re)
#define COMPLEX(id, T)                                                                             \
    DIRECTION(id, T, EQ, x.re == y.re && x.im == y.im)                                             \
    DIRECTION(id, T, NE, x.re != y.re || x.im != y.im)                                             \
    ORDER(id, T, GE, >=)                                                                           \
    ORDER(id, T, GT, >)                                                                            \
    ORDER(id, T, LE, <=)                                                                           \
    ORDER(id, T, LT, <)                                                                            \
    ALL(id)
COMPLEX(c64, struct c64)
COMPLEX(c128, struct c128)
#undef COMPLEX
#undef ORDER
#undef DIRECTION

/* ---- finding ---- */

static kern_tile_fn *const *const natural[DT_COUNT] = {
    [DT_PRED] = u8_all,
    [DT_S1] = s8_all,
    [DT_S2] = s8_all,
    [DT_S4] = s8_all,
    [DT_S8] = s8_all,
    [DT_S16] = s16_all,
    [DT_S32] = s32_all,
    [DT_S64] = s64_all,
    [DT_U1] = u8_all,
    [DT_U2] = u8_all,
    [DT_U4] = u8_all,
    [DT_U8] = u8_all,
    [DT_U16] = u16_all,
    [DT_U32] = u32_all,
    [DT_U64] = u64_all,
#define X(id) [DT_##id] = id##_all,
    TILE_NARROW_TYPES(X)
#undef X
        [DT_F32] = f32_all,
    [DT_F64] = f64_all,
    [DT_C64] = c64_all,
    [DT_C128] = c128_all,
};

/* The types whose total order differs: floats. The unsigned f8e8m0fnu is ordered by its code. */
static kern_tile_fn *const *const total[DT_COUNT] = {
    [DT_F4E2M1FN] = total_4_all, [DT_F6E2M3FN] = total_6_all,
    [DT_F6E3M2FN] = total_6_all, [DT_F8E3M4] = total_8_all,
    [DT_F8E4M3] = total_8_all,   [DT_F8E4M3B11FNUZ] = total_fnuz_all,
    [DT_F8E4M3FN] = total_8_all, [DT_F8E4M3FNUZ] = total_fnuz_all,
    [DT_F8E5M2] = total_8_all,   [DT_F8E5M2FNUZ] = total_fnuz_all,
    [DT_F8E8M0FNU] = u8_all,     [DT_F16] = total_16_all,
    [DT_BF16] = total_16_all,    [DT_F32] = total_32_all,
    [DT_F64] = total_64_all,
};

kern_tile_fn *tile_find_compare(enum kern_direction d, bool total_order, enum dtype t)
{
    kern_tile_fn *const *group = total_order && total[t] ? total[t] : natural[t];
    return group ? group[d] : NULL;
}
