/*
 * elementwise_float.c: tile kernels of elementwise operations on floats.
 *
 * The formulas are in elementwise_float.def, with C's functions; those of --plain are in
 * plain/elementwise.c. spec: the heading is beside each formula.
 */
#include "kern/tile.h"

#include <math.h>

enum { CHUNK = 512 }; /* floats in a buffer: three of them stay in the first-level cache */

void tile_through_f32(enum dtype t, kern_tile_fn *fn, int count, void *out, const void *const *args,
                      int64_t n)
{
    float x[3][CHUNK];
    const void *const wide[] = {x[0], x[1], x[2]};
    const size_t size = dtype_bytes(t);
    for (int64_t at = 0; at < n; at += CHUNK) {
        const int64_t some = n - at < CHUNK ? n - at : CHUNK;
        for (int k = 0; k < count; k++)
            tile_widen(t, x[k], (const char *)args[k] + (size_t)at * size, some);
        fn(x[0], wide, some);
        tile_narrow_results(t, (char *)out + (size_t)at * size, x[0], some);
    }
}

#define F32_FUNCTION(name) name##f
#define F64_FUNCTION(name) name
#define MADE(r, x, y, z) (r)
#define TABLE tile_floats
#include "kern/elementwise_floats.inc"
