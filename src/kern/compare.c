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
static inline int16_t key_16(uint16_t u) { return (int16_t)(u & 0x8000 ? u ^ 0x7fff : u); }
static inline int32_t key_32(uint32_t u) { return (int32_t)(u >> 31 ? u ^ 0x7fffffff : u); }
static inline int64_t key_64(uint64_t u) { return (int64_t)(u >> 63 ? u ^ 0x7fffffffffffffff : u); }
/* There is no minus zero: its code is NaN, the smallest key; 0x81 follows zero. */
static inline int key_fnuz(uint8_t u) { return u <= 0x80 ? (u == 0x80 ? -128 : u) : 0x80 - u; }

#define SELF u8
#define T uint8_t
#define KEY(x) (x)
#include "kern/compare.inc"

#define SELF u16
#define T uint16_t
#define KEY(x) (x)
#include "kern/compare.inc"

#define SELF u32
#define T uint32_t
#define KEY(x) (x)
#include "kern/compare.inc"

#define SELF u64
#define T uint64_t
#define KEY(x) (x)
#include "kern/compare.inc"

#define SELF s8
#define T int8_t
#define KEY(x) (x)
#include "kern/compare.inc"

#define SELF s16
#define T int16_t
#define KEY(x) (x)
#include "kern/compare.inc"

#define SELF s32
#define T int32_t
#define KEY(x) (x)
#include "kern/compare.inc"

#define SELF s64
#define T int64_t
#define KEY(x) (x)
#include "kern/compare.inc"

#define SELF f32
#define T float
#define KEY(x) (x)
#include "kern/compare.inc"

#define SELF f64
#define T double
#define KEY(x) (x)
#include "kern/compare.inc"

#define SELF total_4
#define T uint8_t
#define KEY(x) key_8((uint8_t)((x) << 4))
#include "kern/compare.inc"

#define SELF total_6
#define T uint8_t
#define KEY(x) key_8((uint8_t)((x) << 2))
#include "kern/compare.inc"

#define SELF total_8
#define T uint8_t
#define KEY(x) key_8(x)
#include "kern/compare.inc"

#define SELF total_fnuz
#define T uint8_t
#define KEY(x) key_fnuz(x)
#include "kern/compare.inc"

#define SELF total_16
#define T uint16_t
#define KEY(x) key_16(x)
#include "kern/compare.inc"

#define SELF total_32
#define T uint32_t
#define KEY(x) key_32(x)
#include "kern/compare.inc"

#define SELF total_64
#define T uint64_t
#define KEY(x) key_64(x)
#include "kern/compare.inc"

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
/* clang-format off */
#define NARROW(id)                                                                                           \
    DIRECTION(id, EQ) DIRECTION(id, NE) DIRECTION(id, GE) DIRECTION(id, GT) DIRECTION(id, LE) DIRECTION(id, LT)\
    static kern_tile_fn *const id##_all[6] = {id##_EQ, id##_NE, id##_GE, id##_GT, id##_LE, id##_LT};
/* clang-format on */
NARROW(F4E2M1FN)
NARROW(F6E2M3FN)
NARROW(F6E3M2FN)
NARROW(F8E3M4)
NARROW(F8E4M3)
NARROW(F8E4M3B11FNUZ)
NARROW(F8E4M3FN)
NARROW(F8E4M3FNUZ)
NARROW(F8E5M2)
NARROW(F8E5M2FNUZ)
NARROW(F8E8M0FNU)
NARROW(F16)
NARROW(BF16)
#undef NARROW
#undef DIRECTION

/* ---- complex numbers: equal by parts; ordered by the real, then by the imaginary part ---- */

#define DIRECTION(id, T, d, formula) TILE_BINARY(id##_##d, uint8_t, T, formula)
#define ORDER(id, T, d, operator)                                                                  \
    DIRECTION(id, T, d, x.re == y.re ? x.im operator y.im : x.re operator y.re)
#define COMPLEX(id, T)                                                                             \
    DIRECTION(id, T, eq, x.re == y.re && x.im == y.im)                                             \
    DIRECTION(id, T, ne, x.re != y.re || x.im != y.im)                                             \
    ORDER(id, T, ge, >=)                                                                           \
    ORDER(id, T, gt, >)                                                                            \
    ORDER(id, T, le, <=)                                                                           \
    ORDER(id, T, lt, <)                                                                            \
    static kern_tile_fn *const id##_all[6] = {                                                     \
        [KERN_EQ] = id##_eq, [KERN_NE] = id##_ne, [KERN_GE] = id##_ge,                             \
        [KERN_GT] = id##_gt, [KERN_LE] = id##_le, [KERN_LT] = id##_lt,                             \
    };
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
    [DT_F4E2M1FN] = F4E2M1FN_all,
    [DT_F6E2M3FN] = F6E2M3FN_all,
    [DT_F6E3M2FN] = F6E3M2FN_all,
    [DT_F8E3M4] = F8E3M4_all,
    [DT_F8E4M3] = F8E4M3_all,
    [DT_F8E4M3B11FNUZ] = F8E4M3B11FNUZ_all,
    [DT_F8E4M3FN] = F8E4M3FN_all,
    [DT_F8E4M3FNUZ] = F8E4M3FNUZ_all,
    [DT_F8E5M2] = F8E5M2_all,
    [DT_F8E5M2FNUZ] = F8E5M2FNUZ_all,
    [DT_F8E8M0FNU] = F8E8M0FNU_all,
    [DT_F16] = F16_all,
    [DT_BF16] = BF16_all,
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
