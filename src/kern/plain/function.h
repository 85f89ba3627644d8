/*
 * function.h: elementary functions whose bits are the same on every machine, for --plain: of a C
 * library only operations that IEEE 754 defines are used (sqrt, fma, fmod, rint, ldexp ...).
 * Special cases are those of C99 and its Annex G. Private to kern.
 *
 *   function_real.c     of f64: within 0.51 ulp, subnormal results within 1
 *   function_complex.c  of c128
 *
 * A NaN result is the first NaN operand, made quiet; without a NaN operand it is NAN_MADE, the
 * default NaN of x86-64.
 */
#ifndef HLO_KERN_PLAIN_FUNCTION_H
#define HLO_KERN_PLAIN_FUNCTION_H

#include "kern/plain/double_double.h"
#include "type/type.h"

#define NAN_MADE (-(double)NAN)

/* r, unless it is a NaN: see above. */
double real_settled(double r, double x, double y);
float real_settled_f32(float r, float x, float y);

typedef double real_fn(double x);
real_fn real_acos, real_acosh, real_asin, real_asinh, real_atanh, real_cbrt, real_cos, real_cosh,
    real_erf, real_exp, real_expm1, real_log, real_log1p, real_sin, real_sinh, real_tan, real_tanh;
double real_atan2(double y, double x);
double real_hypot(double x, double y);
double real_pow(double x, double y);

/* For function_complex.c. The operands are finite. */
struct dd real_asinh_dd(struct dd x);              /* |x| < 2^500 */
struct dd real_log_dd(struct dd x);                /* x > 0 and not subnormal */
struct dd real_log1p_dd(struct dd x);              /* x > -1 */
struct dd real_atan2_dd(struct dd y, struct dd x); /* not both 0 */
/* e^x = 2^n * result, which is in 0.7..1.5; |x| < 10000 */
double real_exp_scaled(double x, int *n);

typedef struct c128 complex_fn(struct c128 x);
complex_fn complex_acos, complex_acosh, complex_asin, complex_asinh, complex_atanh, complex_cos,
    complex_cosh, complex_exp, complex_log, complex_sin, complex_sinh, complex_sqrt, complex_tan,
    complex_tanh;

#endif
