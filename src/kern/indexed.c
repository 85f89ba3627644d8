/*
 * indexed.c: the inner loops of gather and scatter (no kernel of its own): runs at lists of
 * offsets.
 *
 * Short runs are moved in pieces of one size, of which the last overlaps the one before (runs.c).
 * The lists are known in advance, so runs that the processor would wait for are prefetched; loops
 * over single elements need that not, since they are short enough to overlap in its window.
 */
#include "kern/indexed.h"

#include "kern/extremes.h"
#include "kern/tile.h"

typedef uint8_t piece1;
typedef uint16_t __attribute__((aligned(1), may_alias)) piece2;
typedef uint32_t __attribute__((aligned(1), may_alias)) piece4;
typedef uint64_t __attribute__((aligned(1), may_alias)) piece8;
typedef uint64_t __attribute__((vector_size(16), aligned(1), may_alias)) piece16;

enum { RUNS_AHEAD = 8, BYTES_AHEAD = 512, LINE = 64, LONG_RUN = 256 };

/* ---- copies ---- */

/* Runs of sizeof(P) to twice that. */
#define COPY_RUNS(P)                                                                               \
    static void copy_##P(char *out, const int64_t *out_at, const char *x, const int64_t *x_at,     \
                         int64_t n, int64_t bytes)                                                 \
    {                                                                                              \
        const int64_t end = bytes - (int64_t)sizeof(P);                                            \
        for (int64_t i = 0; end == 0 && i < n; i++)                                                \
            *(P *)(void *)(out + out_at[i]) = *(const P *)(const void *)(x + x_at[i]);             \
        for (int64_t i = 0; end > 0 && i < n; i++) {                                               \
            const char *from = x + x_at[i];                                                        \
            char *to = out + out_at[i];                                                            \
            P first = *(const P *)(const void *)from,                                              \
              last = *(const P *)(const void *)(from + end);                                       \
            *(P *)(void *)to = first;                                                              \
            *(P *)(void *)(to + end) = last;                                                       \
        }                                                                                          \
    }
COPY_RUNS(piece1)
COPY_RUNS(piece2)
COPY_RUNS(piece4)
COPY_RUNS(piece8)
COPY_RUNS(piece16)

static void fetch(const char *at, int64_t bytes)
{
    for (int64_t k = 0; k < bytes && k < BYTES_AHEAD; k += LINE)
        __builtin_prefetch(at + k);
}

static void copy_pieces(char *to, const char *from, int64_t end)
{
    piece16 last = *(const piece16 *)(const void *)(from + end);
    for (int64_t j = 0; j < end; j += (int64_t)sizeof(piece16))
        *(piece16 *)(void *)(to + j) = *(const piece16 *)(const void *)(from + j);
    *(piece16 *)(void *)(to + end) = last;
}

/* Runs of more than two pieces. */
static void copy_long(char *out, const int64_t *out_at, const char *x, const int64_t *x_at,
                      int64_t n, int64_t bytes)
{
    for (int64_t i = 0; i < n; i++) {
        if (i + RUNS_AHEAD < n)
            fetch(x + x_at[i + RUNS_AHEAD], bytes);
        if (bytes >= LONG_RUN)
            memcpy(out + out_at[i], x + x_at[i], (size_t)bytes);
        else
            copy_pieces(out + out_at[i], x + x_at[i], bytes - (int64_t)sizeof(piece16));
    }
}

void indexed_copy(char *out, const int64_t *out_at, const char *x, const int64_t *x_at, int64_t n,
                  int64_t bytes)
{
    if (bytes > 32)
        copy_long(out, out_at, x, x_at, n, bytes);
    else if (bytes >= 16)
        copy_piece16(out, out_at, x, x_at, n, bytes);
    else if (bytes >= 8)
        copy_piece8(out, out_at, x, x_at, n, bytes);
    else if (bytes >= 4)
        copy_piece4(out, out_at, x, x_at, n, bytes);
    else if (bytes >= 2)
        copy_piece2(out, out_at, x, x_at, n, bytes);
    else if (bytes == 1)
        copy_piece1(out, out_at, x, x_at, n, bytes);
}

/* ---- combiners ---- */

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
            fetch(out + out_at[i + RUNS_AHEAD], bytes);
            fetch(x + x_at[i + RUNS_AHEAD], bytes);
        }
        c->fn(to, (const void *const[]){to, x + x_at[i]}, elements);
    }
}
