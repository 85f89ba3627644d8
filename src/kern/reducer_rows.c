/*
 * reducer_rows.c: reduces rows of elements to one, four at a time, by the frequent combiners (spec:
 * Reduce, ReduceWindow). The bits are those of the tile kernels, applied row by row.
 */
#include "kern/extremes.h"
#include "kern/reducer.h"
#include "kern/tile.h"

/* A pass over rows a to d: each element of the result is `formula`. */
#define PASS(formula)                                                                              \
    for (int64_t i = 0; i < n; i++)                                                                \
        out[i] = formula;
/* The first four rows are combined in the pass that starts from init. */
#define ROWS(NAME, T, STEP)                                                                        \
    KERN_CLONES static void NAME(void *result, const void *init, const void *const *rows,          \
                                 int count, int64_t n)                                             \
    {                                                                                              \
        T *restrict out = result;                                                                  \
        const T x = init ? *(const T *)init : 0;                                                   \
        int r = 0;                                                                                 \
        if (init && count >= 4) {                                                                  \
            const T *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];                        \
            PASS(STEP(STEP(STEP(STEP(x, a[i]), b[i]), c[i]), d[i]))                                \
            r = 4;                                                                                 \
        } else if (init) {                                                                         \
            PASS(x)                                                                                \
        }                                                                                          \
        for (; r + 4 <= count; r += 4) {                                                           \
            const T *a = rows[r], *b = rows[r + 1], *c = rows[r + 2], *d = rows[r + 3];            \
            PASS(STEP(STEP(STEP(STEP(out[i], a[i]), b[i]), c[i]), d[i]))                           \
        }                                                                                          \
        for (; r < count; r++) {                                                                   \
            const T *a = rows[r];                                                                  \
            PASS(STEP(out[i], a[i]))                                                               \
        }                                                                                          \
    }
#define COMBINE(op, type, T, formula)                                                              \
    static inline T step_##op##_##type(T x, T y) { return (T)(formula); }                          \
    ROWS(op##_##type, T, step_##op##_##type)
#include "kern/combine.def"

/* Signed integers have loops of their own for order only; sums of BF16 are computed in F32.
 * Products of integers of 8 and 16 bits are too rare. */
#define IS_USED(op, type, T)                                                                       \
    (DT_##type != DT_BF16 && (KERN_##op != KERN_MULTIPLY || sizeof(T) > 2) &&                      \
     (KERN_##op == KERN_MAXIMUM || KERN_##op == KERN_MINIMUM || (T)-1 > 0 || (T)0.5 > 0))

reducer_rows_fn *reducer_find_rows(enum kern_combine combine, enum dtype t)
{
    static reducer_rows_fn *const known[DT_COUNT][KERN_XOR + 1] = {
#define COMBINE(op, type, T, formula)                                                              \
    [DT_##type][KERN_##op] = IS_USED(op, type, T) ? op##_##type : NULL,
#include "kern/combine.def"
    };
    if (combine > KERN_XOR)
        return NULL;
    if (!known[t][combine] && dtype_is_signed(t))
        t = dtype_unsigned(t);
    return known[t][combine];
}
