/*
 * Elementary functions of c128 (function.h), from those of f64 in function_real.c. spec: C99, Annex
 * G.6.
 */
#include "kern/plain/function.h"

#define COMPLEX(name) complex_##name
#define R(name) real_##name
#define DD(name) real_##name##_dd
#define EXP_SCALED real_exp_scaled
#include "kern/complex.inc"
