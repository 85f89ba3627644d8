/*
 * Tile kernels of elementwise operations on floats and complex numbers for --plain: the formulas of
 * elementwise_float.def and elementwise_complex.def with the functions of function.h, whose bits do
 * not depend on the machine, and with defined NaNs. They are compiled once for each instruction set
 * like other tile kernels, and have the same bits in all of them. spec: the heading is beside each
 * formula.
 */
#include "kern/plain/function.h"
#include "kern/tile.h"

#include <math.h>

/* ---- functions of f64 and f32 ---- */

#define EXACT(name)                                                                                \
    static inline double F64_c_##name(double x) { return name(x); }                                \
    static inline float F32_c_##name(float x) { return name##f(x); }
#define EXACT_2(name)                                                                              \
    static inline double F64_c_##name(double x, double y) { return name(x, y); }                   \
    static inline float F32_c_##name(float x, float y) { return name##f(x, y); }
#define OWN(name)                                                                                  \
    static inline double F64_c_##name(double x) { return real_##name(x); }                         \
    static inline float F32_c_##name(float x) { return (float)real_##name((double)x); }
#define OWN_2(name)                                                                                \
    static inline double F64_c_##name(double x, double y) { return real_##name(x, y); }            \
    static inline float F32_c_##name(float x, float y)                                             \
    {                                                                                              \
        return (float)real_##name((double)x, (double)y);                                           \
    }
EXACT(ceil)
EXACT(fabs)
EXACT(floor)
EXACT(rint)
EXACT(round)
EXACT(sqrt)
EXACT_2(copysign)
EXACT_2(fmod)
static inline double F64_c_fma(double x, double y, double z) { return fma(x, y, z); }
static inline float F32_c_fma(float x, float y, float z) { return fmaf(x, y, z); }
OWN(acos)
OWN(acosh)
OWN(asin)
OWN(asinh)
OWN(atanh)
OWN(cbrt)
OWN(cos)
OWN(cosh)
OWN(erf)
OWN(exp)
OWN(expm1)
OWN(log)
OWN(log1p)
OWN(sin)
OWN(sinh)
OWN(tan)
OWN(tanh)
OWN_2(atan2)
OWN_2(hypot)
OWN_2(pow)

/* ---- tile kernels ---- */

static inline float F32_settled(float r, float x, float y, float z)
{
    return real_settled_f32(r, x, y == y ? z : y);
}
static inline double F64_settled(double r, double x, double y, double z)
{
    return real_settled(r, x, y == y ? z : y);
}
#define MADE(r, x, y, z) NAME(settled)(r, x, y, z)

#define F32_FUNCTION(name) F32_c_##name
#define F64_FUNCTION(name) F64_c_##name
#define TABLE tile_plain_floats
#include "kern/elementwise_floats.inc"

/* A part that is a NaN is that part of the first operand that has a NaN there, or the other part of
 * one. */
#define COMPLEX_SETTLED(NAME, T, PART, REAL)                                                       \
    static inline T NAME(T r, T x, T y, T z)                                                       \
    {                                                                                              \
        const REAL re = PART((REAL)NAN, x.re, y.re, z.re), im = PART((REAL)NAN, x.im, y.im, z.im); \
        const bool has_re = x.re != x.re || y.re != y.re || z.re != z.re;                          \
        const bool has_im = x.im != x.im || y.im != y.im || z.im != z.im;                          \
        r.re = r.re == r.re ? r.re : has_re ? re : im;                                             \
        r.im = r.im == r.im ? r.im : has_im ? im : re;                                             \
        return r;                                                                                  \
    }
COMPLEX_SETTLED(C64_settled, struct c64, F32_settled, float)
COMPLEX_SETTLED(C128_settled, struct c128, F64_settled, double)

#define D(name) F64_c_##name
#define COMPLEX(name) complex_##name

#define SELF C64
#define T struct c64
#define REAL float
#define F(name) F32_c_##name
#include "kern/elementwise_complex.inc"

#define SELF C128
#define T struct c128
#define REAL double
#define F(name) F64_c_##name
#include "kern/elementwise_complex.inc"

const struct tile_table tile_plain_complexes[DT_COUNT] = {
    [DT_C64] = {C64_rows, COUNT_OF(C64_rows)},
    [DT_C128] = {C128_rows, COUNT_OF(C128_rows)},
};
