/*
 * reducer_rows.c: reduces rows of elements to one, four at a time, for the most frequent types and
 * combiners (spec: Reduce, ReduceWindow). The bits are those of the tile kernels, applied row by
 * row.
 */
#include "kern/extremes.h"
#include "kern/reducer.h"

#define ADD(a, b) ((a) + (b))
#define MULTIPLY(a, b) ((a) * (b))
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define GREATER(a, b) ((a) < (b) ? (b) : (a))
#define LESSER(a, b) ((b) < (a) ? (b) : (a))

/* Four rows at a time; a pass starts with FIRST. */
#define PASS(T, STEP, FIRST)                                                                       \
    switch (now) {                                                                                 \
    case 1:                                                                                        \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i] = STEP(FIRST, a[i]);                                                            \
        break;                                                                                     \
    case 2:                                                                                        \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i] = STEP(STEP(FIRST, a[i]), b[i]);                                                \
        break;                                                                                     \
    case 3:                                                                                        \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i] = STEP(STEP(STEP(FIRST, a[i]), b[i]), c[i]);                                    \
        break;                                                                                     \
    default:                                                                                       \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i] = STEP(STEP(STEP(STEP(FIRST, a[i]), b[i]), c[i]), d[i]);                        \
        break;                                                                                     \
    }
#define ROWS_OF(NAME, T, STEP)                                                                     \
    KERN_CLONES static void rows_##NAME(void *result, const void *init, const void *const *rows,   \
                                        int count, int64_t n)                                      \
    {                                                                                              \
        T *restrict out = result;                                                                  \
        const T start = init ? *(const T *)init : 0;                                               \
        for (int r = 0; r < count;) {                                                              \
            const int now = count - r < 4 ? count - r : 4;                                         \
            const T *a = rows[r], *b = rows[r + (now > 1)], *c = rows[r + 2 * (now > 2)],          \
                    *d = rows[r + 3 * (now > 3)];                                                  \
            if (r == 0 && init)                                                                    \
                PASS(T, STEP, start)                                                               \
            else                                                                                   \
                PASS(T, STEP, out[i])                                                              \
            r += now;                                                                              \
        }                                                                                          \
        for (int64_t i = 0; count == 0 && init && i < n; i++)                                      \
            out[i] = start;                                                                        \
    }
ROWS_OF(add_f32, float, ADD)
ROWS_OF(max_f32, float, greater_f32)
ROWS_OF(min_f32, float, lesser_f32)
ROWS_OF(add_f64, double, ADD)
ROWS_OF(multiply_f64, double, MULTIPLY)
ROWS_OF(max_f64, double, greater_f64)
ROWS_OF(min_f64, double, lesser_f64)
ROWS_OF(add_s32, uint32_t, ADD)
ROWS_OF(max_s32, int32_t, GREATER)
ROWS_OF(min_s32, int32_t, LESSER)
ROWS_OF(and_pred, uint8_t, AND)
ROWS_OF(or_pred, uint8_t, OR)

reducer_rows_fn *reducer_find_rows(enum kern_combine combine, enum dtype t)
{
    static reducer_rows_fn *const known[4][KERN_XOR] = {
        {[KERN_ADD] = rows_add_f32, [KERN_MAXIMUM] = rows_max_f32, [KERN_MINIMUM] = rows_min_f32},
        {[KERN_ADD] = rows_add_f64,
         [KERN_MULTIPLY] = rows_multiply_f64,
         [KERN_MAXIMUM] = rows_max_f64,
         [KERN_MINIMUM] = rows_min_f64},
        {[KERN_ADD] = rows_add_s32, [KERN_MAXIMUM] = rows_max_s32, [KERN_MINIMUM] = rows_min_s32},
        {[KERN_AND] = rows_and_pred,
         [KERN_MULTIPLY] = rows_and_pred,
         [KERN_MINIMUM] = rows_and_pred,
         [KERN_OR] = rows_or_pred,
         [KERN_ADD] = rows_or_pred,
         [KERN_MAXIMUM] = rows_or_pred}};
    const int type = t == DT_F32 ? 0 : t == DT_F64 ? 1 : t == DT_S32 ? 2 : t == DT_PRED ? 3 : -1;
    return type < 0 || combine >= KERN_XOR ? NULL : known[type][combine];
}
