/*
 * elementwise_complex.c: tile kernels of elementwise operations on complex numbers.
 *
 * The formulas are in elementwise_complex.def; those of more than a line are in
 * elementwise_complex.inc, with the loops. Where C99 has the function, it is used, with its branch
 * cuts and its signs of zero (grammar/values.md 9). spec: the heading is beside each formula.
 */
#include "kern/tile.h"

#include <complex.h>
#include <math.h>

#define OF(name, v) TO_OURS(F(c##name)(TO_C99(v)))
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
