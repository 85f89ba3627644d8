/*
 * gemm_block.c: the micro-kernels of products (spec: DotGeneral, ConvWithGeneralPadding), compiled
 * for each instruction set. Sums of up to six rows and four vectors of columns stay in registers,
 * while lanes of A are broadcast and multiplied with vectors of a panel.
 */
#include "kern/gemm_set.h"

#if defined __SSE2__
#include <immintrin.h>
#endif

enum { VECTORS = TILE_BYTES == 64 ? 4 : 2 }; /* the width of a panel */

/* A register of any element type. */
typedef int32_t words __attribute__((vector_size(TILE_BYTES), aligned(4), may_alias));
typedef uint32_t counts __attribute__((vector_size(TILE_BYTES), aligned(4), may_alias));
typedef float floats __attribute__((vector_size(TILE_BYTES), aligned(4), may_alias));
typedef int64_t dwords __attribute__((vector_size(TILE_BYTES), aligned(8), may_alias));
typedef uint64_t dcounts __attribute__((vector_size(TILE_BYTES), aligned(8), may_alias));
typedef double doubles __attribute__((vector_size(TILE_BYTES), aligned(8), may_alias));

#define INLINE __attribute__((always_inline)) static inline

/* Inline assembly, since gcc 12 moves every sum of _mm512_dpbusd_epi32 to another register and half
 * of them to memory. */
#if defined __AVX512F__
#define ADD(instruction, x, y) __asm__(instruction " %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y))
#elif defined __AVX2__
#define ADD(instruction, x, y) __asm__(instruction " %2, %1, %0" : "+x"(sum) : "x"(x), "x"(y))
#endif

/* The sum of the products of both halves of each lane; modulo 2^32. */
INLINE words multiply_shorts(words a, words b)
{
#if defined __AVX512F__
    return (words)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined __AVX2__
    return (words)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#elif defined __SSE2__
    return (words)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
    const counts low =
        (counts)((words)((counts)a << 16) >> 16) * (counts)((words)((counts)b << 16) >> 16);
    return (words)(low + (counts)(a >> 16) * (counts)(b >> 16));
#endif
}

INLINE words add_products(enum gemm_kind kind, words sum, words a, words b)
{
    switch (kind) {
#if defined __AVX512F__
    case GEMM_PAIRS: ADD("vdpbf16ps", b, a); return sum;
    case GEMM_SIGNED_BYTES: ADD("vpdpbusd", b, a); return sum;
    case GEMM_UNSIGNED_BYTES: ADD("vpdpbusd", a, b); return sum;
#endif
#if defined __AVX2__
    case GEMM_F32: ADD("vfmadd231ps", b, a); return sum;
    case GEMM_F64: ADD("vfmadd231pd", b, a); return sum;
#else
    case GEMM_F32: return (words)((floats)sum + (floats)a * (floats)b);
    case GEMM_F64: return (words)((doubles)sum + (doubles)a * (doubles)b);
#endif
    case GEMM_SHORTS: return (words)((counts)sum + (counts)multiply_shorts(a, b));
    case GEMM_WORDS: return (words)((counts)sum + (counts)a * (counts)b);
    case GEMM_DWORDS: return (words)((dcounts)sum + (dcounts)a * (dcounts)b);
    default: return sum;
    }
}

INLINE bool is_wide(enum gemm_kind kind) { return kind == GEMM_F64 || kind == GEMM_DWORDS; }

/* A vector with one lane broadcast to all. */
INLINE words spread(enum gemm_kind kind, const char *at)
{
    int32_t narrow;
    int64_t wide;
    if (is_wide(kind)) {
        memcpy(&wide, at, sizeof wide);
        return (words)(wide - (dwords){0});
    }
    memcpy(&narrow, at, sizeof narrow);
    return narrow - (words){0};
}

INLINE words add_sums(enum gemm_kind kind, words x, words y)
{
    if (kind == GEMM_F64)
        return (words)((doubles)x + (doubles)y);
    if (kind == GEMM_DWORDS)
        return (words)((dcounts)x + (dcounts)y);
    if (kind == GEMM_F32 || kind == GEMM_PAIRS)
        return (words)((floats)x + (floats)y);
    return (words)((counts)x + (counts)y);
}

/* Vectors of which only the first `there` bytes, a whole number of lanes, are read or written. */
#if defined __AVX512F__
INLINE __mmask16 lanes_there(int64_t there)
{
    return (__mmask16)(there >= TILE_BYTES ? 0xffff : there > 0 ? (1 << there / 4) - 1 : 0);
}

INLINE words load_part(const char *at, int64_t there)
{
    return (words)_mm512_maskz_loadu_epi32(lanes_there(there), at);
}

INLINE void store_part(char *at, words x, int64_t there)
{
    _mm512_mask_storeu_epi32(at, lanes_there(there), (__m512i)x);
}
#else
__attribute__((noinline)) static words load_some(const char *at, int64_t there)
{
    words x = {0};
    if (there > 0)
        memcpy(&x, at, (size_t)there);
    return x;
}

__attribute__((noinline)) static void store_some(char *at, words x, int64_t there)
{
    if (there > 0)
        memcpy(at, &x, (size_t)there);
}

INLINE words load_part(const char *at, int64_t there)
{
    return there >= TILE_BYTES ? *(const words *)(const void *)at : load_some(at, there);
}

INLINE void store_part(char *at, words x, int64_t there)
{
    if (there >= TILE_BYTES)
        *(words *)(void *)at = x;
    else
        store_some(at, x, there);
}
#endif

/* Stores the sums to the rows of C. */
INLINE void store_sums(enum gemm_kind kind, const struct gemm_block *p, int rows, int vectors,
                       bool add, words sum[GEMM_ROWS][VECTORS])
{
    const int64_t bytes = p->n * (is_wide(kind) ? 8 : 4);
    KERN_UNROLL for (int r = 0; r < rows; r++) KERN_UNROLL for (int v = 0; v < vectors; v++)
    {
        char *c = p->c + r * p->c_row + v * TILE_BYTES;
        const int64_t there = bytes - v * TILE_BYTES;
        store_part(c, add ? add_sums(kind, load_part(c, there), sum[r][v]) : sum[r][v], there);
    }
}

INLINE void add_block(enum gemm_kind kind, const struct gemm_block *p, int64_t panel, int rows,
                      int vectors)
{
    const int64_t lane = p->a_lane, runs = p->runs ? p->run_count : 1;
    const char *row[GEMM_ROWS];
    words sum[GEMM_ROWS][VECTORS];
    KERN_UNROLL for (int r = 0; r < rows; r++) row[r] =
        p->a + (p->row_offsets ? p->row_offsets[r] : r * p->a_row);
    KERN_UNROLL for (int r = 0; r < rows; r++) KERN_UNROLL for (int v = 0; v < vectors; v++)
        sum[r][v] = (words){0};
    for (int64_t run = 0; run < runs; run++) {
        int64_t at = p->runs ? p->runs[run].a : 0;
        const char *b = (const char *)p->panel + (p->runs ? p->runs[run].b : 0);
        for (int64_t i = 0; i < p->lanes; i++, at += lane, b += panel)
            KERN_UNROLL for (int r = 0; r < rows; r++)
            {
                const words x = spread(kind, row[r] + at);
                KERN_UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = add_products(
                    kind, sum[r][v], x, *(const words *)(const void *)(b + v * TILE_BYTES));
            }
    }
    if ((kind == GEMM_SIGNED_BYTES || kind == GEMM_UNSIGNED_BYTES) && p->start)
        KERN_UNROLL for (int r = 0; r < rows; r++) KERN_UNROLL for (int v = 0; v < vectors; v++)
            sum[r][v] = (words)((counts)sum[r][v] + (counts)(p->start[r] - (words){0}));
    if (p->add)
        store_sums(kind, p, rows, vectors, true, sum);
    else
        store_sums(kind, p, rows, vectors, false, sum);
}

/* A function for each kind, number of rows and number of vectors, since gcc keeps the sums of only
 * one block in registers. */
#define BLOCK(kind, rows, vectors)                                                                 \
    __attribute__((noinline)) static void kind##_##rows##_##vectors(const struct gemm_block *p,    \
                                                                    int64_t panel)                 \
    {                                                                                              \
        add_block(kind, p, panel, rows, vectors);                                                  \
    }
#define BLOCKS_OF_ROWS(kind, vectors)                                                              \
    BLOCK(kind, 1, vectors) BLOCK(kind, 2, vectors) BLOCK(kind, 4, vectors) BLOCK(kind, 6, vectors)
#define NAMES(kind, vectors)                                                                       \
    {                                                                                              \
        kind##_1_##vectors, kind##_2_##vectors, kind##_4_##vectors, kind##_6_##vectors             \
    }
#if defined __AVX512F__
#define BLOCKS(kind) BLOCKS_OF_ROWS(kind, 1) BLOCKS_OF_ROWS(kind, 2) BLOCKS_OF_ROWS(kind, 4)
#define ROW(kind) [kind] = {NAMES(kind, 1), NAMES(kind, 2), NAMES(kind, 4)}
BLOCKS(GEMM_PAIRS)
BLOCKS(GEMM_SIGNED_BYTES)
BLOCKS(GEMM_UNSIGNED_BYTES)
#else
#define BLOCKS(kind) BLOCKS_OF_ROWS(kind, 1) BLOCKS_OF_ROWS(kind, 2)
#define ROW(kind) [kind] = {NAMES(kind, 1), NAMES(kind, 2)}
#endif
BLOCKS(GEMM_F32)
BLOCKS(GEMM_F64)
BLOCKS(GEMM_SHORTS)
BLOCKS(GEMM_WORDS)
BLOCKS(GEMM_DWORDS)

const struct gemm_set TILE_OWN(gemm_set) = {
    .vector = TILE_BYTES,
    .vectors = VECTORS,
    .pack = gemm_pack_panels,
    .add_bytes = gemm_add_bytes,
    .block =
        {
            ROW(GEMM_F32),
            ROW(GEMM_F64),
            ROW(GEMM_SHORTS),
            ROW(GEMM_WORDS),
            ROW(GEMM_DWORDS),
#if defined __AVX512F__
            ROW(GEMM_PAIRS),
            ROW(GEMM_SIGNED_BYTES),
            ROW(GEMM_UNSIGNED_BYTES),
#endif
        },
};
