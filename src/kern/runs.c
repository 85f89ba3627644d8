/*
 * runs.c: copies and repeats short runs of elements at regular distances (no kernel of its own). A
 * run is moved in pieces of one size, a power of two; the last one overlaps the one before where
 * the run is no multiple of it. So nothing beyond the run is read or written.
 */
#include "kern/nest.h"

typedef uint8_t piece1;
typedef uint16_t __attribute__((aligned(1), may_alias)) piece2;
typedef uint32_t __attribute__((aligned(1), may_alias)) piece4;
typedef uint64_t __attribute__((aligned(1), may_alias)) piece8;
typedef uint64_t __attribute__((vector_size(16), aligned(1), may_alias)) piece16;

enum { LONG_RUN = 256 }; /* bytes from which on a run is worth a call */

struct runs {
    char *out;
    const char *x;
    int64_t out_stride, x_stride, count, bytes;
};

/* Runs of sizeof(P) to twice that. */
#define COPY_RUNS(P)                                                                               \
    static void copy_##P(const struct runs *r)                                                     \
    {                                                                                              \
        const int64_t end = r->bytes - (int64_t)sizeof(P), os = r->out_stride, xs = r->x_stride;   \
        char *out = r->out;                                                                        \
        const char *x = r->x;                                                                      \
        for (int64_t i = 0; i < r->count; i++, out += os, x += xs) {                               \
            P first = *(const P *)(const void *)x, last = *(const P *)(const void *)(x + end);     \
            *(P *)(void *)out = first;                                                             \
            *(P *)(void *)(out + end) = last;                                                      \
        }                                                                                          \
    }
COPY_RUNS(piece1)
COPY_RUNS(piece2)
COPY_RUNS(piece4)
COPY_RUNS(piece8)
COPY_RUNS(piece16)

/* Runs of more than two pieces. */
static void copy_pieces(const struct runs *r)
{
    const int64_t end = r->bytes - (int64_t)sizeof(piece16);
    for (int64_t i = 0; i < r->count; i++) {
        char *out = r->out + i * r->out_stride;
        const char *x = r->x + i * r->x_stride;
        piece16 last = *(const piece16 *)(const void *)(x + end);
        for (int64_t j = 0; j < end; j += (int64_t)sizeof(piece16))
            *(piece16 *)(void *)(out + j) = *(const piece16 *)(const void *)(x + j);
        *(piece16 *)(void *)(out + end) = last;
    }
}

/* The element x of type W, as often as it fits into 8 bytes. */
#define PATTERN(W, x) ((uint64_t)(*(const W *)(const void *)(x)) * (UINT64_MAX / ((W)-1)))
#define SPREAD_WORD(P, pattern) ((P)(pattern))
#define SPREAD_VECTOR(P, pattern) ((P){0} + (pattern))

#define REPEAT_EACH(W, P, SPREAD)                                                                  \
    for (int64_t i = 0; i < r->count; i++, out += os, x += xs) {                                   \
        P v = SPREAD(P, PATTERN(W, x));                                                            \
        for (int64_t j = 0; j < end; j += (int64_t)sizeof(P))                                      \
            *(P *)(void *)(out + j) = v;                                                           \
        *(P *)(void *)(out + end) = v;                                                             \
    }
#define REPEAT_RUNS(P, SPREAD)                                                                     \
    static void repeat_##P(const struct runs *r, size_t width)                                     \
    {                                                                                              \
        const int64_t end = r->bytes - (int64_t)sizeof(P), os = r->out_stride, xs = r->x_stride;   \
        char *out = r->out;                                                                        \
        const char *x = r->x;                                                                      \
        if (width == 1)                                                                            \
            REPEAT_EACH(kern_w1, P, SPREAD)                                                        \
        else if (width == 2)                                                                       \
            REPEAT_EACH(kern_w2, P, SPREAD)                                                        \
        else if (width == 4)                                                                       \
            REPEAT_EACH(kern_w4, P, SPREAD)                                                        \
        else                                                                                       \
            REPEAT_EACH(kern_w8, P, SPREAD)                                                        \
    }
REPEAT_RUNS(piece1, SPREAD_WORD)
REPEAT_RUNS(piece2, SPREAD_WORD)
REPEAT_RUNS(piece4, SPREAD_WORD)
REPEAT_RUNS(piece8, SPREAD_WORD)
REPEAT_RUNS(piece16, SPREAD_VECTOR)

KERN_CLONES static void fill_words(piece8 *out, uint64_t x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = x;
}

static uint64_t pattern_of(const char *x, size_t width)
{
    switch (width) {
    case 1: return PATTERN(kern_w1, x);
    case 2: return PATTERN(kern_w2, x);
    case 4: return PATTERN(kern_w4, x);
    default: return PATTERN(kern_w8, x);
    }
}

/* Long runs. */
static void fill_runs(const struct runs *r, size_t width)
{
    for (int64_t i = 0; i < r->count; i++) {
        char *out = r->out + i * r->out_stride;
        const uint64_t pattern = pattern_of(r->x + i * r->x_stride, width);
        fill_words((piece8 *)(void *)out, pattern, r->bytes / 8);
        *(piece8 *)(void *)(out + r->bytes - 8) = pattern;
    }
}

static void repeat_complex(const struct runs *r)
{
    for (int64_t i = 0; i < r->count; i++)
        for (int64_t j = 0; j < r->bytes; j += 16)
            memcpy(r->out + i * r->out_stride + j, r->x + i * r->x_stride, 16);
}

void copy_runs(char *out, int64_t out_stride, const char *x, int64_t x_stride, int64_t count,
               int64_t bytes)
{
    const struct runs r = {out, x, out_stride, x_stride, count, bytes};
    if (bytes >= LONG_RUN)
        for (int64_t i = 0; i < count; i++)
            memcpy(out + i * out_stride, x + i * x_stride, (size_t)bytes);
    else if (bytes > 32)
        copy_pieces(&r);
    else if (bytes >= 16)
        copy_piece16(&r);
    else if (bytes >= 8)
        copy_piece8(&r);
    else if (bytes >= 4)
        copy_piece4(&r);
    else if (bytes >= 2)
        copy_piece2(&r);
    else if (bytes == 1)
        copy_piece1(&r);
}

void repeat_runs(char *out, int64_t out_stride, const char *x, int64_t x_stride, int64_t count,
                 size_t width, int64_t n)
{
    const int64_t bytes = n * (int64_t)width;
    const struct runs r = {out, x, out_stride, x_stride, count, bytes};
    if (width > 8)
        repeat_complex(&r);
    else if (bytes >= LONG_RUN)
        fill_runs(&r, width);
    else if (bytes >= 16)
        repeat_piece16(&r, width);
    else if (bytes >= 8)
        repeat_piece8(&r, width);
    else if (bytes >= 4)
        repeat_piece4(&r, width);
    else if (bytes >= 2)
        repeat_piece2(&r, width);
    else if (bytes == 1)
        repeat_piece1(&r, width);
}
