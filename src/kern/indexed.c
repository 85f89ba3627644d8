/*
 * indexed.c: combines runs of elements at lists of offsets, the inner loop of scatter (no kernel of
 * its own).
 */
#include "kern/indexed.h"

#include "kern/extremes.h"
#include "kern/tile.h"

#define COMBINE(id, T, formula)                                                                    \
    static void id(char *out, const int64_t *out_at, const char *x_data, const int64_t *x_at,      \
                   int64_t n, int64_t elements)                                                    \
    {                                                                                              \
        for (int64_t i = 0; elements == 1 && i < n; i++) {                                         \
            T *to = (T *)(void *)(out + out_at[i]);                                                \
            const T x = *to, y = *(const T *)(const void *)(x_data + x_at[i]);                     \
            *to = (T)(formula);                                                                    \
        }                                                                                          \
        for (int64_t i = 0; elements > 1 && i < n; i++) {                                          \
            T *to = (T *)(void *)(out + out_at[i]);                                                \
            const T *from = (const T *)(const void *)(x_data + x_at[i]);                           \
            TILE_LOOP                                                                              \
            for (int64_t j = 0; j < elements; j++) {                                               \
                const T x = to[j], y = from[j];                                                    \
                to[j] = (T)(formula);                                                              \
            }                                                                                      \
        }                                                                                          \
    }

/* The formulas are those of elementwise_integer.def and elementwise_float.def. */
#define COMBINE_INTEGERS(t, T, U)                                                                  \
    COMBINE(add_##t, T, (U)x + (U)y)                                                               \
    COMBINE(multiply_##t, T, (U)x *(U)y)                                                           \
    COMBINE(maximum_##t, T, x < y ? y : x)                                                         \
    COMBINE(minimum_##t, T, y < x ? y : x)
#define COMBINE_FLOATS(t, T, WORD)                                                                 \
    EXTREMES(T, WORD, greater_##t, lesser_##t)                                                     \
    COMBINE(add_##t, T, x + y)                                                                     \
    COMBINE(multiply_##t, T, x *y)                                                                 \
    COMBINE(maximum_##t, T, greater_##t(x, y))                                                     \
    COMBINE(minimum_##t, T, lesser_##t(x, y))
COMBINE_INTEGERS(s32, int32_t, uint32_t)
COMBINE_INTEGERS(s64, int64_t, uint64_t)
COMBINE_INTEGERS(u32, uint32_t, uint32_t)
COMBINE_INTEGERS(u64, uint64_t, uint64_t)
COMBINE_FLOATS(f32, float, int32_t)
COMBINE_FLOATS(f64, double, int64_t)

static indexed_fn *find_points(enum kern_combine combine, enum dtype t)
{
    static const enum kern_combine columns[] = {KERN_ADD, KERN_MULTIPLY, KERN_MAXIMUM,
                                                KERN_MINIMUM};
#define ROW(T, t) [DT_##T] = { add_##t, multiply_##t, maximum_##t, minimum_##t }
    static indexed_fn *const rows[DT_COUNT][COUNT_OF(columns)] = {
        ROW(S32, s32), ROW(S64, s64), ROW(U32, u32), ROW(U64, u64), ROW(F32, f32), ROW(F64, f64)};
#undef ROW
    for (size_t k = 0; k < COUNT_OF(columns); k++)
        if (columns[k] == combine)
            return rows[t][k];
    return NULL;
}

bool indexed_combiner_init(struct indexed_combiner *c, enum kern_combine combine, enum dtype t)
{
    const char *opcode = kern_combine_opcode(combine);
    c->type = t;
    c->fn = opcode ? kern_find_elementwise(opcode, t) : NULL;
    c->points = c->fn ? find_points(combine, t) : NULL;
    return c->fn != NULL;
}

void indexed_combine(const struct indexed_combiner *c, char *out, const int64_t *out_at,
                     const char *x, const int64_t *x_at, int64_t n, int64_t elements)
{
    enum { SHORT = 32 };
    const int64_t bytes = elements * (int64_t)dtype_bytes(c->type);
    if (c->points && elements <= SHORT) {
        c->points(out, out_at, x, x_at, n, elements);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        char *to = out + out_at[i];
        if (i + RUNS_AHEAD < n) {
            indexed_fetch(out + out_at[i + RUNS_AHEAD], bytes);
            indexed_fetch(x + x_at[i + RUNS_AHEAD], bytes);
        }
        c->fn(to, (const void *const[]){to, x + x_at[i]}, elements);
    }
}
