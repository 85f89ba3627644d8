/*
 * copy.c: copies elements between views with any strides (spec: Copy, Transpose, Broadcast and
 * everything else that only moves elements).
 *
 * The dimensions are sorted into the memory order of the result, reversed where needed so that it
 * is written upward, and merged where the strides of both sides allow it. The innermost two are
 * copied by one of three loops: contiguous runs, strided elements, or a blocked transposition.
 * Results too large for the caches are written with non-temporal stores, whole lines at a time,
 * which avoids reading the old contents. The thread pool splits a large copy along one dimension.
 */
#include <stdlib.h>

#include "kern/nest.h"

/* Sanitizers do not instrument these stores. */
#if defined __SSE2__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define STREAMS 1
#include <emmintrin.h>
#endif

/* Copies dims[0] rows whose dims[1] bytes are contiguous on both sides. */
static void copy_rows(char *out, const char *x, const int64_t *dims, const int64_t *out_strides,
                      const int64_t *x_strides)
{
    copy_runs(out, out_strides[0], x, x_strides[0], dims[0], dims[1]);
}

/* Transpositions are tiled by one cache line on each side, and by squares whose rows span few
 * pages. */
enum { LINE = 64, SQUARE = 512, RUN = 8, PAGE = 4096 };

/* From this size on a result is written with non-temporal stores, if its rows are not too short.
 * The last-level cache size that the processor reports is not used: in a virtual machine it is
 * shared with other machines. */
enum { STREAM_FROM = COPY_STREAM_FROM, STREAM_ROW = 8 * LINE };

static void stream_line(char *out, const char *x)
{
#if defined STREAMS
    for (int k = 0; k < LINE; k += 16)
        _mm_stream_si128((__m128i *)(void *)(out + k),
                         _mm_loadu_si128((const __m128i *)(const void *)(x + k)));
#else
    memcpy(out, x, LINE);
#endif
}

void copy_stream_end(void)
{
#if defined STREAMS
    _mm_sfence(); /* non-temporal stores are not ordered with others */
#endif
}

/* Writes n bytes; x advances by `step` bytes per line: 0 repeats one line. */
static void stream_row(char *out, const char *x, int64_t n, int64_t step)
{
    int64_t i = (int64_t)(-(uintptr_t)out & (LINE - 1));
    if (i > n)
        i = n;
    memcpy(out, x, (size_t)i);
    const char *from = step ? x + i : x;
    for (; i + LINE <= n; i += LINE, from += step)
        stream_line(out + i, from);
    memcpy(out + i, from, (size_t)(n - i));
}

void copy_stream(char *out, const char *x, int64_t n) { stream_row(out, x, n, LINE); }

static void streamed_rows(char *out, const char *x, const int64_t *dims, const int64_t *out_strides,
                          const int64_t *x_strides)
{
    for (int64_t i = 0; i < dims[0]; i++)
        stream_row(out + i * out_strides[0], x + i * x_strides[0], dims[1], LINE);
}

/* ---- blocks of 16 bytes on each side ---- */

typedef uint64_t __attribute__((aligned(1), may_alias)) word8;
typedef uint32_t __attribute__((aligned(1), may_alias)) word4;
typedef uint16_t __attribute__((aligned(1), may_alias)) word2;
typedef uint64_t words __attribute__((vector_size(16)));

/* n bytes at p, 1 to 16, by accesses within them that overlap; processors are little-endian. */
static inline words load_some(const char *p, int n)
{
    const char *end = p + n;
    if (n == 16)
        return (words){*(const word8 *)p, *(const word8 *)(p + 8)};
    if (n > 8)
        return (words){*(const word8 *)p, *(const word8 *)(end - 8) >> (128 - 8 * n)};
    if (n == 8)
        return (words){*(const word8 *)p};
    if (n >= 4)
        return (words){*(const word4 *)p | (uint64_t) * (const word4 *)(end - 4) << (8 * n - 32)};
    if (n >= 2)
        return (words){*(const word2 *)p | (uint64_t) * (const word2 *)(end - 2) << (8 * n - 16)};
    return (words){*(const unsigned char *)p};
}

static inline void store_some(char *p, words v, int n)
{
    char *end = p + n;
    if (n == 16) {
        memcpy(p, &v, sizeof v);
    } else if (n >= 8) {
        *(word8 *)p = v[0];
        if (n > 8)
            *(word8 *)(end - 8) = v[1] << (128 - 8 * n) | v[0] >> (8 * n - 64);
    } else if (n >= 4) {
        *(word4 *)p = (uint32_t)v[0];
        *(word4 *)(end - 4) = (uint32_t)(v[0] >> (8 * n - 32));
    } else if (n >= 2) {
        *(word2 *)p = (uint16_t)v[0];
        *(word2 *)(end - 2) = (uint16_t)(v[0] >> (8 * n - 16));
    } else {
        *p = (char)v[0];
    }
}

/* Transposes a block: every step interleaves column i with the one half the block after it, which
 * after log2(SIDE) steps has turned columns into rows. LOW and HIGH list the elements of two
 * columns, one after the other, that the first and the second half of the interleaving take. The
 * columns of x begin at `at`. */
#define TRANSPOSE_BLOCK(W, SIDE, LOW, HIGH)                                                        \
    typedef W vector_##W __attribute__((vector_size(16), aligned(sizeof(W)), may_alias));          \
    static inline __attribute__((always_inline)) void turn_##W(vector_##W *r)                      \
    {                                                                                              \
        vector_##W s[SIDE];                                                                        \
        _Pragma("GCC unroll 4") for (int step = 1; step < SIDE; step *= 2)                         \
        {                                                                                          \
            _Pragma("GCC unroll 8") for (int i = 0; i < SIDE / 2; i++)                             \
            {                                                                                      \
                s[2 * i] = __builtin_shufflevector(r[i], r[i + SIDE / 2], LOW);                    \
                s[2 * i + 1] = __builtin_shufflevector(r[i], r[i + SIDE / 2], HIGH);               \
            }                                                                                      \
            _Pragma("GCC unroll 16") for (int i = 0; i < SIDE; i++) r[i] = s[i];                   \
        }                                                                                          \
    }                                                                                              \
    static inline void block_##W(char *out, int64_t os, const char *const *x, int64_t at)          \
    {                                                                                              \
        vector_##W r[SIDE];                                                                        \
        _Pragma("GCC unroll 16") for (int i = 0; i < SIDE; i++) r[i] =                             \
            *(const vector_##W *)(x[i] + at);                                                      \
        turn_##W(r);                                                                               \
        _Pragma("GCC unroll 16") for (int i = 0; i < SIDE; i++)                                    \
            memcpy(out + i * os, &r[i], sizeof r[i]);                                              \
    }                                                                                              \
    /* The first columns, and the first elements of each. */                                       \
    static void some_block_##W(char *out, int64_t os, const char *const *x, int64_t at, int rows,  \
                               int columns)                                                        \
    {                                                                                              \
        vector_##W r[SIDE];                                                                        \
        _Pragma("GCC unroll 16") for (int i = 0; i < SIDE; i++) r[i] =                             \
            i < columns ? (vector_##W)load_some(x[i] + at, rows * (int)sizeof(W))                  \
                        : (vector_##W){0};                                                         \
        turn_##W(r);                                                                               \
        _Pragma("GCC unroll 16") for (int i = 0; i < SIDE; i++) if (i < rows)                      \
            store_some(out + i * os, (words)r[i], columns * (int)sizeof(W));                       \
    }
#define ITEMS(...) __VA_ARGS__
TRANSPOSE_BLOCK(kern_w1, 16, ITEMS(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
                ITEMS(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31))
TRANSPOSE_BLOCK(kern_w2, 8, ITEMS(0, 8, 1, 9, 2, 10, 3, 11), ITEMS(4, 12, 5, 13, 6, 14, 7, 15))
TRANSPOSE_BLOCK(kern_w4, 4, ITEMS(0, 4, 1, 5), ITEMS(2, 6, 3, 7))
TRANSPOSE_BLOCK(kern_w8, 2, ITEMS(0, 2), ITEMS(1, 3))
typedef struct kern_w16 kern_w16;
static void block_kern_w16(char *out, int64_t os, const char *const *x, int64_t at)
{
    (void)os;
    *(kern_w16 *)(void *)out = *(const kern_w16 *)(const void *)(x[0] + at);
}
static void some_block_kern_w16(char *out, int64_t os, const char *const *x, int64_t at, int rows,
                                int columns)
{
    (void)rows;
    (void)columns;
    block_kern_w16(out, os, x, at);
}

/* The addresses of columns, numbered by two dimensions. */
static void find_columns(const char **columns, const char *x, const int64_t *dims,
                         const int64_t *strides, int64_t first, int64_t count)
{
    for (int64_t k = 0; k < count && dims[0] == 1; k++)
        columns[k] = x + (first + k) * strides[1];
    int64_t i = first / dims[1], j = first % dims[1];
    for (int64_t k = 0; k < count && dims[0] > 1; k++) {
        columns[k] = x + i * strides[0] + j * strides[1];
        if (++j == dims[1]) {
            j = 0;
            i++;
        }
    }
}

/* A run of elements that are `step` apart. */
#define STRIDED_RUN(W)                                                                             \
    KERN_CLONES static void run_##W(W *restrict out, const W *restrict x, int64_t step, int64_t n) \
    {                                                                                              \
        if (step == 2)                                                                             \
            for (int64_t j = 0; j < n; j++)                                                        \
                out[j] = x[2 * j];                                                                 \
        else if (step == -2)                                                                       \
            for (int64_t j = 0; j < n; j++)                                                        \
                out[j] = x[-2 * j];                                                                \
        else if (step == 4)                                                                        \
            for (int64_t j = 0; j < n; j++)                                                        \
                out[j] = x[4 * j];                                                                 \
        else                                                                                       \
            for (int64_t j = pack_elements((char *)out, (const char *)x, step, sizeof(W), n);      \
                 j < n; j++)                                                                       \
                out[j] = x[step * j];                                                              \
    }
STRIDED_RUN(kern_w1)
STRIDED_RUN(kern_w2)
STRIDED_RUN(kern_w4)
STRIDED_RUN(kern_w8)
STRIDED_RUN(kern_w16)

/* The loops for one width. A `strided` one reads its inner run with any stride (0 repeats one
 * element). A `transposed` one has three dimensions: it reads columns of dims[0], and writes runs
 * of dims[1] * dims[2], one element of each column. It accesses a cache line once on either side.
 */
#define COPY_LOOPS(W)                                                                              \
    static void strided_##W(char *out, const char *x, const int64_t *dims,                         \
                            const int64_t *out_strides, const int64_t *x_strides)                  \
    {                                                                                              \
        int64_t n = dims[1], os = out_strides[1], xs = x_strides[1], w = (int64_t)sizeof(W);       \
        if (os == w && xs == w) {                                                                  \
            copy_runs(out, out_strides[0], x, x_strides[0], dims[0], n *w);                        \
            return;                                                                                \
        }                                                                                          \
        if (os == w && xs == 0) {                                                                  \
            repeat_runs(out, out_strides[0], x, x_strides[0], dims[0], sizeof(W), n);              \
            return;                                                                                \
        }                                                                                          \
        if (os == w && xs == -w) {                                                                 \
            reverse_runs(out, out_strides[0], x, x_strides[0], dims[0], sizeof(W), n);             \
            return;                                                                                \
        }                                                                                          \
        for (int64_t i = 0; i < dims[0]; i++, out += out_strides[0], x += x_strides[0]) {          \
            if (os == w && xs % w == 0 && n >= RUN) {                                              \
                run_##W((W *)out, (const W *)x, xs / w, n);                                        \
            } else if (os == w) {                                                                  \
                for (int64_t j = 0; j < n; j++)                                                    \
                    ((W *)out)[j] = *(const W *)(x + j * xs);                                      \
            } else {                                                                               \
                for (int64_t j = 0; j < n; j++)                                                    \
                    *(W *)(out + j * os) = *(const W *)(x + j * xs);                               \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    /* Rows of one repeated element each. Elements lie at multiples of their width, so a line of   \
     * them may be at any offset within a cache line. */                                           \
    static void streamed_fill_##W(char *out, const char *x, const int64_t *dims,                   \
                                  const int64_t *out_strides, const int64_t *x_strides)            \
    {                                                                                              \
        W line[LINE / sizeof(W)];                                                                  \
        for (int64_t i = 0; i < dims[0]; i++) {                                                    \
            for (size_t j = 0; j < COUNT_OF(line); j++)                                            \
                line[j] = *(const W *)(x + i * x_strides[0]);                                      \
            stream_row(out + i * out_strides[0], (const char *)line, dims[1] * (int64_t)sizeof(W), \
                       0);                                                                         \
        }                                                                                          \
    }                                                                                              \
    /* Blocks at the ends overlap the ones before. */                                              \
    static void edge_##W(char *out, int64_t os, const char *const *x, int64_t at, int64_t ni,      \
                         int64_t nj)                                                               \
    {                                                                                              \
        const int64_t w = (int64_t)sizeof(W), side = 16 / w, rows = min_i64(ni, side),             \
                      columns = min_i64(nj, side);                                                 \
        const bool some = 2 * rows >= side && 2 * columns >= side;                                 \
        for (int64_t i = 0; some && i < ni; i += side) {                                           \
            const int64_t ai = min_i64(i, ni - rows);                                              \
            for (int64_t j = 0; j < nj; j += side) {                                               \
                const int64_t aj = min_i64(j, nj - columns);                                       \
                char *to = out + ai * os + aj * w;                                                 \
                if (rows == side && columns == side)                                               \
                    block_##W(to, os, x + aj, at + ai * w);                                        \
                else                                                                               \
                    some_block_##W(to, os, x + aj, at + ai * w, (int)rows, (int)columns);          \
            }                                                                                      \
        }                                                                                          \
        for (int64_t i = 0; !some && i < ni; i++)                                                  \
            for (int64_t j = 0; j < nj; j++)                                                       \
                ((W *)(out + i * os))[j] = ((const W *)(x[j] + at))[i];                            \
    }                                                                                              \
    static void patch_##W(char *out, int64_t os, const char *const *x, int64_t at)                 \
    {                                                                                              \
        for (int i = 0; i < LINE; i += 16)                                                         \
            for (int j = 0; j < LINE; j += 16)                                                     \
                block_##W(out + i / (int)sizeof(W) * os + j, os, x + j / (int)sizeof(W), at + i);  \
    }                                                                                              \
    static void square_##W(char *out, int64_t os, const char *const *x, int64_t at, int64_t ni,    \
                           int64_t nj)                                                             \
    {                                                                                              \
        const int64_t w = (int64_t)sizeof(W), side = LINE / w;                                     \
        /* beyond a page, processors do not look ahead */                                          \
        const bool is_far = nj > 1 && llabs((intptr_t)x[1] - (intptr_t)x[0]) >= PAGE;              \
        int64_t i = 0;                                                                             \
        for (; i + side <= ni; i += side) {                                                        \
            for (int64_t j = 0; j < nj; j += side) {                                               \
                char *to = out + i * os + j * w;                                                   \
                for (int64_t k = j + 2 * side; is_far && k < min_i64(nj, j + 3 * side); k++)       \
                    __builtin_prefetch(x[k] + at + i * w);                                         \
                if (nj - j >= side)                                                                \
                    patch_##W(to, os, x + j, at + i * w);                                          \
                else                                                                               \
                    edge_##W(to, os, x + j, at + i * w, side, nj - j);                             \
            }                                                                                      \
        }                                                                                          \
        if (i < ni)                                                                                \
            edge_##W(out + i * os, os, x, at + i * w, ni - i, nj);                                 \
    }                                                                                              \
    static void transposed_##W(char *out, const char *x, const int64_t *dims,                      \
                               const int64_t *out_strides, const int64_t *x_strides)               \
    {                                                                                              \
        const int64_t os = out_strides[0], w = (int64_t)sizeof(W), side = SQUARE / w,              \
                      nj = dims[1] * dims[2];                                                      \
        const char *columns[SQUARE / sizeof(W)];                                                   \
        for (int64_t j = 0; j < nj; j += side) {                                                   \
            const int64_t some = min_i64(nj - j, side);                                            \
            find_columns(columns, x, dims + 1, x_strides + 1, j, some);                            \
            for (int64_t i = 0; i < dims[0]; i += side)                                            \
                square_##W(out + i * os + j * w, os, columns, i * w, min_i64(dims[0] - i, side),   \
                           some);                                                                  \
        }                                                                                          \
    }                                                                                              \
    /* Reads a few rows from start to end; tiles are assembled in the first-level cache. */        \
    static void streamed_transposed_##W(char *out, const char *x, const int64_t *dims,             \
                                        const int64_t *out_strides, const int64_t *x_strides)      \
    {                                                                                              \
        const int64_t os = out_strides[0], w = (int64_t)sizeof(W), side = LINE / w,                \
                      nj = dims[1] * dims[2];                                                      \
        const char *columns[LINE / sizeof(W)];                                                     \
        char patch[LINE / sizeof(W) * LINE] __attribute__((aligned(LINE)));                        \
        if ((((uintptr_t)out | (uintptr_t)os) & (LINE - 1)) != 0) {                                \
            transposed_##W(out, x, dims, out_strides, x_strides);                                  \
            return;                                                                                \
        }                                                                                          \
        for (int64_t j = 0; j < nj; j += side) {                                                   \
            const int64_t some = min_i64(nj - j, side);                                            \
            find_columns(columns, x, dims + 1, x_strides + 1, j, some);                            \
            for (int64_t i = 0; i < dims[0]; i += side) {                                          \
                const int64_t rows = min_i64(dims[0] - i, side);                                   \
                char *to = out + i * os + j * w;                                                   \
                if (rows < side || some < side) {                                                  \
                    edge_##W(to, os, columns, i *w, rows, some);                                   \
                    continue;                                                                      \
                }                                                                                  \
                patch_##W(patch, LINE, columns, i *w);                                             \
                for (int64_t k = 0; k < side; k++)                                                 \
                    stream_line(to + k * os, patch + k * LINE);                                    \
            }                                                                                      \
        }                                                                                          \
    }
COPY_LOOPS(kern_w1)
COPY_LOOPS(kern_w2)
COPY_LOOPS(kern_w4)
COPY_LOOPS(kern_w8)
COPY_LOOPS(kern_w16)

void copy_from_columns(char *out, int64_t out_stride, const char *const *x, int64_t count,
                       int64_t n, size_t width)
{
    switch (width) {
    case 1: square_kern_w1(out, out_stride, x, 0, count, n); break;
    case 2: square_kern_w2(out, out_stride, x, 0, count, n); break;
    case 4: square_kern_w4(out, out_stride, x, 0, count, n); break;
    case 8: square_kern_w8(out, out_stride, x, 0, count, n); break;
    default: square_kern_w16(out, out_stride, x, 0, count, n); break;
    }
}

/* The loops for one width, each with its variant of non-temporal stores. */
struct loops {
    copy_block_fn *strided, *streamed_fill, *transposed, *streamed_transposed;
};
static struct loops loops_of(size_t width)
{
#define LOOPS(W)                                                                                   \
    ((struct loops){strided_##W, streamed_fill_##W, transposed_##W, streamed_transposed_##W})
    switch (width) {
    case 1: return LOOPS(kern_w1);
    case 2: return LOOPS(kern_w2);
    case 4: return LOOPS(kern_w4);
    case 8: return LOOPS(kern_w8);
    default: return LOOPS(kern_w16);
    }
#undef LOOPS
}

/* Adds dimensions up to two, so that every plan ends in a block. */
static void fill_up(struct nest *n, int64_t width)
{
    while (n->rank < 2) {
        const int64_t stride = n->rank == 0 ? width : 0;
        nest_add(n, 1, (int64_t[]){stride, stride});
        nest_move(n, n->rank - 1, 0);
    }
}

/* Makes dimension d the first of the block, before those that number its columns: the last one, and
 * the one before it if the result has no gaps between them. False: it has too few columns. */
static bool take_columns(struct copy_plan *p, int d, int64_t width)
{
    const int few = width >= 4 ? 2 : 4;
    struct nest *n = &p->nest;
    const int inner = n->rank - 1, next = d == inner - 1 ? d - 1 : inner - 1;
    const bool both = d < inner - 1 && n->strides[0][next] == n->dims[inner] * width;
    if (n->dims[inner] * (both ? n->dims[next] : 1) < few || (!both && n->rank == VIEW_MAX_RANK))
        return false;
    nest_move(n, d, both ? inner - 2 : inner - 1);
    if (!both) {
        nest_add(n, 1, (int64_t[]){0, 0});
        nest_move(n, inner, inner + 1); /* the one index of the new dimension comes before */
    }
    p->block_rank = 3;
    return true;
}

/* Reverses dimension d on both sides. */
static void flip(struct copy_plan *p, int d)
{
    struct nest *n = &p->nest;
    p->out_shift += n->strides[0][d] * (n->dims[d] - 1);
    p->x_shift += n->strides[1][d] * (n->dims[d] - 1);
    n->strides[0][d] = -n->strides[0][d];
    n->strides[1][d] = -n->strides[1][d];
}

/* Short runs, few of which follow one another: the block gets those along a longer dimension, since
 * each block costs as much as several runs. */
static void take_runs(struct nest *n, int64_t bytes)
{
    enum { SHORT = 64, FEW = 8 };
    const int at = n->rank - 2;
    if (bytes >= SHORT || n->dims[at] >= FEW)
        return;
    int best = at;
    for (int d = at - 1; d >= 0 && n->dims[best] < FEW; d--)
        if (n->dims[d] > n->dims[best])
            best = d;
    nest_move(n, best, at);
}

static void choose_block(struct copy_plan *p, int64_t width)
{
    enum { FEW = 4 };
    struct nest *n = &p->nest;
    int inner = n->rank - 1;
    p->block = loops_of((size_t)width).strided;
    for (int d = inner - 1; d >= 0 && n->strides[0][inner] == width &&
                            n->strides[1][inner] != width && n->strides[1][inner] != 0;
         d--)
        if (llabs(n->strides[1][d]) == width && n->dims[d] >= FEW) {
            if (n->strides[1][d] < 0)
                flip(p, d);
            if (take_columns(p, d, width)) {
                p->block = loops_of((size_t)width).transposed;
                return;
            }
        }
    take_runs(n, n->dims[inner] * width);
    if (n->strides[0][inner] == width && n->strides[1][inner] == width) {
        p->block = copy_rows;
        n->dims[inner] *= width;
    }
}

void copy_plan_init(struct copy_plan *p, const struct view *out, const struct view *x)
{
    int64_t width = (int64_t)dtype_bytes(out->dtype);
    nest_init(&p->nest, 2);
    p->streams = false;
    p->block_rank = 2;
    p->out_shift = p->x_shift = 0;
    p->empty = view_elements(out) == 0;
    if (p->empty)
        return;
    for (int d = 0; d < out->rank; d++) {
        int64_t dim = out->dims[d], os = out->strides[d], xs = x->strides[d];
        if (dim <= 1)
            continue;
        if (os < 0) {
            p->out_shift += os * (dim - 1);
            p->x_shift += xs * (dim - 1);
            os = -os;
            xs = -xs;
        }
        nest_add_sorted(&p->nest, dim, (int64_t[]){os, xs}, 0);
    }
    nest_merge(&p->nest);
    fill_up(&p->nest, width);
    choose_block(p, width);
    copy_plan_stream(p, out);
}

void copy_plan_stream(struct copy_plan *p, const struct view *whole)
{
    const struct nest *n = &p->nest;
    int inner = n->rank - 1;
    size_t width = dtype_bytes(whole->dtype);
    if (p->empty)
        return;
    bool rows = p->block == copy_rows;
    const int64_t run = n->dims[inner] * (p->block_rank == 3 ? n->dims[inner - 1] : 1);
    if (run * (rows ? 1 : (int64_t)width) < STREAM_ROW ||
        view_elements(whole) < STREAM_FROM / (int64_t)width)
        return;
    struct loops loops = loops_of(width);
    copy_block_fn *plain = p->block;
    if (rows)
        p->block = streamed_rows;
    else if (p->block == loops.transposed)
        p->block = loops.streamed_transposed;
    else if (n->strides[0][inner] == (int64_t)width && n->strides[1][inner] == 0)
        p->block = loops.streamed_fill;
    p->streams |= p->block != plain;
}

void copy_plan_run(const struct copy_plan *p, char *out, const char *x)
{
    if (p->empty)
        return;
    const struct nest *n = &p->nest;
    int outer = n->rank - p->block_rank;
    struct nest_walk w;
    char *at[2] = {out + p->out_shift, (char *)(uintptr_t)x + p->x_shift};
    if (outer == 0) {
        p->block(at[0], at[1], n->dims, n->strides[0], n->strides[1]);
        return;
    }
    nest_start(&w, n, outer, at);
    do
        p->block(w.at[0], w.at[1], n->dims + outer, n->strides[0] + outer, n->strides[1] + outer);
    while (nest_step(&w));
}

void copy_plan_end(const struct copy_plan *p)
{
    if (p->streams)
        copy_stream_end();
}

/* ---- shared by threads ---- */

/* From this size on a copy is split into parts of the result. */
enum { SHARED_FROM = 512 << 10, PART = 128 << 10, SMALL_BLOCK = 4 << 10 };

struct shared_copy {
    const struct copy_plan *plan;
    char *out;
    const char *x;
    int d;                    /* the dimension that is split */
    int64_t out_step, x_step; /* along it, in bytes */
};

static void copy_part(void *context, int64_t from, int64_t to, int worker)
{
    const struct shared_copy *c = context;
    struct copy_plan p = *c->plan;
    p.nest.dims[c->d] = to - from;
    copy_plan_run(&p, c->out + from * c->out_step, c->x + from * c->x_step);
    copy_plan_end(&p);
}

/* Pieces of a dimension are multiples of this, so that blocks and cache lines are not split. */
static int64_t grain(const struct copy_plan *p, int d, int64_t width)
{
    const int inner = p->nest.rank - 1;
    if (p->block_rank == 3 && d >= inner - 2)
        return d == inner - 2 ? SQUARE / width : PART;
    return d == inner ? PART : 1;
}

void copy_plan_share(struct thread_pool *workers, const struct copy_plan *p, const struct view *out,
                     const char *x)
{
    enum { MANY = 16 };
    const struct nest *n = &p->nest;
    int64_t width = (int64_t)dtype_bytes(out->dtype), bytes = view_elements(out) * width;
    struct shared_copy c = {.plan = p, .out = out->data, .x = x};
    if (bytes < SHARED_FROM || thread_pool_size(workers) == 1) {
        copy_plan_run(p, out->data, x);
        copy_plan_end(p);
        return;
    }
    for (int d = 1; d < n->rank && n->dims[c.d] / grain(p, c.d, width) < MANY; d++)
        if (n->dims[d] / grain(p, d, width) > n->dims[c.d] / grain(p, c.d, width))
            c.d = d;
    bool in_bytes = c.d == n->rank - 1 && (p->block == copy_rows || p->block == streamed_rows);
    c.out_step = in_bytes ? 1 : n->strides[0][c.d];
    c.x_step = in_bytes ? 1 : n->strides[1][c.d];
    int64_t unit = grain(p, c.d, width), units = ratio_up(n->dims[c.d], unit), parts = bytes / PART;
    thread_pool_share(workers, n->dims[c.d], ratio_up(units, parts) * unit, copy_part, &c);
}

/* spec: Copy */
void kern_copy(struct thread_pool *workers, const struct view *out, const struct view *x)
{
    struct copy_plan p;
    int64_t bytes = view_elements(out) * (int64_t)dtype_bytes(out->dtype);
    bool shared = bytes >= SHARED_FROM && thread_pool_size(workers) > 1;
    if (bytes > 0 && bytes < STREAM_FROM && !shared && view_is_dense(out) && view_is_dense(x)) {
        memmove(out->data, x->data, (size_t)bytes); /* most copies are small and need no plan */
        return;
    }
    if (bytes > 0 && bytes <= SMALL_BLOCK && out->rank == 2) {
        kern_copy_block(out->data, x->data, out->dims, out->strides, x->strides,
                        dtype_bytes(out->dtype));
        return;
    }
    copy_plan_init(&p, out, x);
    copy_plan_share(workers, &p, out, x->data);
}

void kern_copy_block(char *out, const char *x, const int64_t *dims, const int64_t *out_strides,
                     const int64_t *x_strides, size_t width)
{
    enum { FEW = 8 };
    const struct loops l = loops_of(width);
    const int64_t w = (int64_t)width;
    const bool packed = out_strides[1] == w && (x_strides[1] == w || x_strides[1] == 0);
    if (out_strides[1] == w && x_strides[0] == w && !packed && dims[0] >= 4 && dims[1] >= 4)
        l.transposed(out, x, (const int64_t[]){dims[0], 1, dims[1]}, out_strides,
                     (const int64_t[]){w, 0, x_strides[1]});
    else if (!packed && dims[1] < FEW && dims[0] > dims[1]) /* the longer loop is the inner one */
        l.strided(out, x, (const int64_t[]){dims[1], dims[0]},
                  (const int64_t[]){out_strides[1], out_strides[0]},
                  (const int64_t[]){x_strides[1], x_strides[0]});
    else
        l.strided(out, x, dims, out_strides, x_strides);
}

void kern_pack(void *dst, const char *src, int64_t stride, size_t width, int64_t n)
{
    kern_pack_rows(dst, src, 1, 0, stride, width, n);
}

void kern_unpack(char *dst, int64_t stride, const void *src, size_t width, int64_t n)
{
    kern_unpack_rows(dst, 1, 0, stride, src, width, n);
}

void kern_pack_rows(void *dst, const char *src, int64_t rows, int64_t row_stride, int64_t stride,
                    size_t width, int64_t n)
{
    const int64_t size = (int64_t)width;
    kern_copy_block(dst, src, (const int64_t[]){rows, n}, (const int64_t[]){n * size, size},
                    (const int64_t[]){row_stride, stride}, width);
}

void kern_unpack_rows(char *dst, int64_t rows, int64_t row_stride, int64_t stride, const void *src,
                      size_t width, int64_t n)
{
    const int64_t size = (int64_t)width;
    kern_copy_block(dst, src, (const int64_t[]){rows, n}, (const int64_t[]){row_stride, stride},
                    (const int64_t[]){n * size, size}, width);
}
