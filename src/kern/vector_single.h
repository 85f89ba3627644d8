/*
 * vector_single.h: the transcendental functions on f32 of type/single.inc, computed in f32, twice
 * as many at a time as in f64 (vector.h).
 */
#ifndef HLO_KERN_VECTOR_SINGLE_H
#define HLO_KERN_VECTOR_SINGLE_H

#include <math.h>
#include <stdint.h>

union single_bits {
    float f;
    uint32_t u;
};
#define SINGLE_BITS(x) ((union single_bits){.f = (x)}.u)
#define SINGLE_FLOAT(x) ((union single_bits){.u = (x)}.f)

/* x * y + z, rounded once, for finite numbers far from the ends of f32's range. */
static inline float single_fma(float x, float y, float z)
{
#if defined __FMA__ || defined __ARM_FEATURE_FMA
    return __builtin_fmaf(x, y, z);
#else
    /* In f64 the product is exact, and a sum that is rounded to odd gives the same f32 as the exact
     * sum. */
    const double p = (double)x * (double)y, c = (double)z, s = p + c, t = s - p;
    const double error = (p - (s - t)) + (c - t);
    union {
        double f;
        uint64_t u;
    } odd = {s}, sign = {error};
    const uint64_t up = (sign.u ^ odd.u) >> 63 ? (uint64_t)-1 : 1;
    odd.u += error != 0 && !(odd.u & 1) ? up : 0;
    return (float)odd.f;
#endif
}

#define F float
#define I uint32_t
#define CONTEXT
#define WITH
#define K(c) (c)
#define N(c) ((uint32_t)(c))
#define ADD(x, y) ((x) + (y))
#define SUB(x, y) ((x) - (y))
#define MUL(x, y) ((x) * (y))
#define DIV(x, y) ((x) / (y))
#define NEG(x) (-(x))
#define SQRT(x) sqrtf(x)
#define MIN(x, y) ((x) < (y) ? (x) : (y))
#define MAX(x, y) ((x) > (y) ? (x) : (y))
#define FMA(x, y, z) single_fma(x, y, z)
#define LESS(x, y) ((x) < (y))
#define EQUAL(x, y) ((x) == (y))
#define PICK(m, x, y) ((m) ? (x) : (y))
#define BITS(x) SINGLE_BITS(x)
#define NUMBER(u) SINGLE_FLOAT(u)
#define INT_ADD ADD
#define INT_SUB SUB
#define AND(u, v) ((u) & (v))
#define OR(u, v) ((u) | (v))
#define SHIFT_LEFT(u, n) ((u) << (n))
#define SHIFT_RIGHT(u, n) ((uint32_t)((int32_t)(u) >> (n)))
#define CONVERTED(u) ((float)(int32_t)(u))
#include "type/single.inc"

#endif
