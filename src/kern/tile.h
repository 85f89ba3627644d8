/*
 * tile.h: what the tile kernels of this room share: how their loops are marked, the tables they are
 * found in, and the two steps by which narrow floats reach f32 and come back.
 */
#ifndef HLO_KERN_TILE_H
#define HLO_KERN_TILE_H

#include "kern/nest.h"

/* Stands before a loop whose only dependences are out[i] on x[i], even when out is x: without it gcc
 * tests for overlap at run time and takes the scalar loop for work in place. */
#if defined __GNUC__ && !defined __clang__
#define TILE_LOOP _Pragma("GCC ivdep")
#else
#define TILE_LOOP
#endif

#define TILE_PASTE_(a, b) a##_##b
#define TILE_PASTE(a, b) TILE_PASTE_(a, b)
#define TILE_STRING_(a) #a
#define TILE_STRING(a) TILE_STRING_(a)

/* The kernels of one element type, sorted by opcode. */
struct tile_row {
    const char *opcode;
    kern_tile_fn *fn;
};
struct tile_table {
    const struct tile_row *rows;
    size_t count;
};
extern const struct tile_table tile_integers[DT_COUNT], tile_floats[DT_COUNT], tile_complexes[DT_COUNT];
kern_tile_fn *tile_find(struct tile_table table, const char *opcode); /* NULL when absent */

/* Narrow floats: all but f32 and f64. Exact one way, rounded to nearest even the other. */
static inline bool tile_is_narrow(enum dtype t)
{
    return dtype_is_float(t) && t != DT_F32 && t != DT_F64;
}
void tile_widen(enum dtype t, float *out, const void *x, int64_t n);
void tile_narrow(enum dtype t, void *out, const float *x, int64_t n);

/* kern_map_tiles with a context handed to the kernel. */
typedef void tile_context_fn(const void *context, void *out, const void *const *args, int64_t n);
void tile_map(tile_context_fn *fn, const void *context, const struct view *out, int count,
              const struct view *args);

#endif
