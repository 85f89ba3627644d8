/*
 * elementwise_complex.c: tile kernels of elementwise operations on complex numbers.
 *
 * The formulas are in elementwise_complex.def; those of more than a line are in
 * elementwise_complex.inc, with the loops; elementary functions, with the branch cuts and signs of
 * zero of C99 (grammar/values.md 9), in complex.inc. spec: the heading is beside each formula.
 */
#include "kern/plain/function.h"
#include "kern/tile.h"

#include <math.h>

/* ---- elementary functions of c128, by those of libm ---- */

static double libm_exp_scaled(double x, int *n)
{
    const double times = 1799, log_2 = 0x1.37be319ba0da4p+10; /* of 2^1799, with a small error */
    *n = fabs(x) < 700 ? 0 : (int)copysign(times, x);
    return exp(*n == 0 ? x : x - copysign(log_2, x)); /* the difference is exact near 700 */
}
static struct dd libm_asinh_dd(struct dd x) { return dd_of(asinh(x.hi)); }
static struct dd libm_log_dd(struct dd x) { return dd_of(log(x.hi)); }
static struct dd libm_log1p_dd(struct dd x) { return dd_of(log1p(x.hi)); }
static struct dd libm_atan2_dd(struct dd y, struct dd x) { return dd_of(atan2(y.hi, x.hi)); }

static complex_fn libm_acos, libm_acosh, libm_asin, libm_asinh, libm_atanh, libm_cos, libm_cosh,
    libm_exp, libm_log, libm_sin, libm_sinh, libm_sqrt, libm_tan, libm_tanh;
#define COMPLEX(name) libm_##name
#define R(name) name
#define DD(name) libm_##name##_dd
#define EXP_SCALED libm_exp_scaled
#include "kern/complex.inc"

/* ---- tile kernels ---- */

#define D(name) name
#define MADE(r, x, y, z) (r)

#define SELF C64
#define T struct c64
#define REAL float
#define F(name) name##f
#include "kern/elementwise_complex.inc"

#define SELF C128
#define T struct c128
#define REAL double
#define F(name) name
#include "kern/elementwise_complex.inc"

const struct tile_table tile_complexes[DT_COUNT] = {
    [DT_C64] = {C64_rows, COUNT_OF(C64_rows)},
    [DT_C128] = {C128_rows, COUNT_OF(C128_rows)},
};
