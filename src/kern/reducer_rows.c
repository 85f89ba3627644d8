/*
 * reducer_rows.c: reduces rows of elements to one, four at a time, by the frequent combiners (spec:
 * Reduce, ReduceWindow). The bits are those of the tile kernels, applied row by row.
 */
#include "kern/extremes.h"
#include "kern/reducer.h"
#include "kern/tile.h"

#define ROWS(NAME, T, S)                                                                           \
    KERN_CLONES static void NAME(void *result, const void *init, const void *const *rows,          \
                                 int count, int64_t n)                                             \
    {                                                                                              \
        T *restrict out = result;                                                                  \
        int r = 0;                                                                                 \
        if (init && count >= 4) {                                                                  \
            const T start = *(const T *)init, *a = rows[0], *b = rows[1], *c = rows[2],            \
                    *d = rows[3];                                                                  \
            for (int64_t i = 0; i < n; i++)                                                        \
                out[i] = S(S(S(S(start, a[i]), b[i]), c[i]), d[i]);                                \
            r = 4;                                                                                 \
        } else if (init) {                                                                         \
            for (int64_t i = 0; i < n; i++)                                                        \
                out[i] = *(const T *)init;                                                         \
        }                                                                                          \
        for (; r + 4 <= count; r += 4) {                                                           \
            const T *a = rows[r], *b = rows[r + 1], *c = rows[r + 2], *d = rows[r + 3];            \
            for (int64_t i = 0; i < n; i++)                                                        \
                out[i] = S(S(S(S(out[i], a[i]), b[i]), c[i]), d[i]);                               \
        }                                                                                          \
        for (; r < count; r++) {                                                                   \
            const T *a = rows[r];                                                                  \
            for (int64_t i = 0; i < n; i++)                                                        \
                out[i] = S(out[i], a[i]);                                                          \
        }                                                                                          \
    }

#define COMBINE(op, type, T, formula)                                                              \
    static inline T step_##op##_##type(T x, T y) { return (T)(formula); }                          \
    ROWS(op##_##type, T, step_##op##_##type)
#include "kern/combine.def"

reducer_rows_fn *reducer_find_rows(enum kern_combine combine, enum dtype t)
{
    static reducer_rows_fn *const known[DT_COUNT][KERN_XOR + 1] = {
#define COMBINE(op, type, T, formula) [DT_##type][KERN_##op] = op##_##type,
#include "kern/combine.def"
    };
    return combine <= KERN_XOR ? known[t][combine] : NULL;
}
