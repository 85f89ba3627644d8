/*
 * gemm_pack.c: packs panels of the right operand of a product (no kernel of its own), compiled for
 * each instruction set. Elements are read by rows or by columns, whichever are closer together in
 * memory, converted if needed, and interleaved.
 */
#include "kern/gemm_set.h"

#if defined __AVX2__
#include <immintrin.h>
#endif

#define INLINE __attribute__((always_inline)) static inline

enum {
    PIECE = 256 /* elements of a column at a time */,
    GROUP = 16 /* columns at a time */,
    MAX_COLUMNS = 64,
    MAX_LANE = 4
};

struct packing {
    const struct gemm *g;
    struct loader load;
    const char *from;
    int64_t k_step, column_step, k, n;
    char *panel;
    int64_t panel_bytes; /* bytes between panels */
};

/* `count` consecutive elements, packed and in the type of lanes: in place, or in `scratch`. */
INLINE const char *take(const struct packing *p, char *scratch, const char *from, int64_t step,
                        int64_t count)
{
    if (!p->load.convert && (step == (int64_t)p->load.from || count == 1))
        return from;
    return loader_read(&p->load, scratch, from, step, count);
}

/* ---- rows ---- */

#if defined __AVX512F__
INLINE __mmask16 first_lanes(int64_t n)
{
    return (__mmask16)(n >= 16 ? 0xffff : n > 0 ? (1 << n) - 1 : 0);
}

/* Makes the lanes of n columns, each of up to four rows of bytes. */
static void join_bytes(const struct gemm *g, const char *const rows[MAX_LANE], int there, int64_t n,
                       char *to)
{
    const __mmask64 columns = n == MAX_COLUMNS ? ~(__mmask64)0 : ((__mmask64)1 << n) - 1;
    const __m512i moved = _mm512_set1_epi8(g->moved ? -128 : 0);
    __m512i row[4];
    for (int r = 0; r < 4; r++)
        row[r] = r < there ? _mm512_xor_si512(_mm512_maskz_loadu_epi8(columns, rows[r]), moved)
                           : _mm512_setzero_si512();
    const __m512i low01 = _mm512_unpacklo_epi8(row[0], row[1]),
                  high01 = _mm512_unpackhi_epi8(row[0], row[1]);
    const __m512i low23 = _mm512_unpacklo_epi8(row[2], row[3]),
                  high23 = _mm512_unpackhi_epi8(row[2], row[3]);
    /* Each quarter of these vectors has four columns of the same quarter of the row. */
    const __m512i p = _mm512_unpacklo_epi16(low01, low23), q = _mm512_unpackhi_epi16(low01, low23);
    const __m512i s = _mm512_unpacklo_epi16(high01, high23),
                  t = _mm512_unpackhi_epi16(high01, high23);
    const __m512i pq = _mm512_shuffle_i32x4(p, q, 0x44), st = _mm512_shuffle_i32x4(s, t, 0x44);
    const __m512i pq_high = _mm512_shuffle_i32x4(p, q, 0xee),
                  st_high = _mm512_shuffle_i32x4(s, t, 0xee);
    _mm512_mask_storeu_epi32(to, first_lanes(n), _mm512_shuffle_i32x4(pq, st, 0x88));
    _mm512_mask_storeu_epi32(to + 64, first_lanes(n - 16), _mm512_shuffle_i32x4(pq, st, 0xdd));
    _mm512_mask_storeu_epi32(to + 128, first_lanes(n - 32),
                             _mm512_shuffle_i32x4(pq_high, st_high, 0x88));
    _mm512_mask_storeu_epi32(to + 192, first_lanes(n - 48),
                             _mm512_shuffle_i32x4(pq_high, st_high, 0xdd));
}

/* join_bytes() for two rows of bf16. */
static void join_pairs(const char *const rows[MAX_LANE], int there, int64_t n, char *to)
{
    for (int64_t j = 0; j < n; j += GROUP) {
        const __mmask16 columns = first_lanes(n - j), second = there > 1 ? columns : 0;
        const __m512i low =
            _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(columns, rows[0] + 2 * j));
        const __m512i high =
            _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(second, rows[there - 1] + 2 * j));
        _mm512_mask_storeu_epi32(to + 4 * j, columns,
                                 _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
    }
}
#else
static void join_bytes(const struct gemm *g, const char *const rows[MAX_LANE], int there, int64_t n,
                       char *to)
{
    for (int64_t j = 0; j < n; j++)
        for (int r = 0; r < there; r++)
            to[j * MAX_LANE + r] = rows[r][j];
}

static void join_pairs(const char *const rows[MAX_LANE], int there, int64_t n, char *to)
{
    const kern_w2 *low = (const void *)rows[0], *high = (const void *)rows[there - 1];
    const uint32_t second = there > 1 ? 0xffff : 0;
    uint32_t *at = (void *)to;
    for (int64_t j = 0; j < n; j++)
        at[j] = low[j] | (high[j] & second) << 16;
}
#endif

/* A complex number becomes two lanes, one below the other: itself, and itself times i. */
#define JOIN_COMPLEX(T, NAME)                                                                      \
    static void NAME(const T *x, int64_t n, T *to, T *below)                                       \
    {                                                                                              \
        for (int64_t j = 0; j < n; j++) {                                                          \
            to[2 * j] = x[2 * j];                                                                  \
            to[2 * j + 1] = x[2 * j + 1];                                                          \
            below[2 * j] = -x[2 * j + 1];                                                          \
            below[2 * j + 1] = x[2 * j];                                                           \
        }                                                                                          \
    }
JOIN_COMPLEX(float, join_c64)
JOIN_COMPLEX(double, join_c128)

static void join_row(const struct gemm *g, const char *const rows[MAX_LANE], int there, int64_t n,
                     char *to)
{
    if (g->twofold && g->kind == GEMM_F32)
        join_c64((const void *)rows[0], n, (void *)to, (void *)(to + g->panel));
    else if (g->twofold)
        join_c128((const void *)rows[0], n, (void *)to, (void *)(to + g->panel));
    else if (g->per_lane == 4)
        join_bytes(g, rows, there, n, to);
    else if (g->per_lane == 2)
        join_pairs(rows, there, n, to);
    else if (n == g->columns)
        memcpy(to, rows[0], MAX_COLUMNS * 4 == g->panel ? MAX_COLUMNS * 4 : (size_t)g->panel);
    else
        memcpy(to, rows[0], (size_t)(n * g->lane));
}

/* Prefetches the next packed rows, which are far apart in memory. Prefetching beyond the last one
 * is harmless. */
INLINE void look_ahead(const struct packing *p, const char *from, int64_t count)
{
    enum { AHEAD = 4, LINE = 64 };
    const uintptr_t at = (uintptr_t)from + (uintptr_t)(AHEAD * p->k_step);
    const int64_t bytes = p->column_step == (int64_t)p->load.from ? count * p->column_step : 0;
    for (int64_t i = 0; i < bytes; i += LINE)
        __builtin_prefetch((const void *)(at + (uintptr_t)i));
}

/* Packs by rows: all columns of one lane before those of the next. */
static void pack_rows(const struct packing *p)
{
    char scratch[MAX_LANE][MAX_COLUMNS * 16] __attribute__((aligned(64)));
    const int64_t per_lane = p->g->per_lane, step = p->g->panel << p->g->twofold;
    char *line = p->panel;
    for (int64_t i = 0; i < p->k; i += per_lane, line += step) {
        const int there = (int)(p->k - i < per_lane ? p->k - i : per_lane);
        char *to = line;
        for (int64_t j = 0; j < p->n; j += p->g->columns, to += p->panel_bytes) {
            const int64_t count = p->n - j < p->g->columns ? p->n - j : p->g->columns;
            const char *rows[MAX_LANE], *from = p->from + i * p->k_step + j * p->column_step;
            for (int r = 0; r < there; r++, from += p->k_step) {
                look_ahead(p, from, count);
                rows[r] = take(p, scratch[r], from, p->column_step, count);
            }
            join_row(p->g, rows, there, count, to);
        }
    }
}

/* ---- columns ---- */

#if defined __AVX512F__
/* Transposes 16 rows of 16 lanes. */
INLINE void transpose(__m512i x[GROUP])
{
    __m512i pair[GROUP], four[GROUP];
    for (int i = 0; i < GROUP; i += 2) {
        pair[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
        pair[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
    }
    for (int i = 0; i < GROUP;
         i += 4) { /* quarter q of four[i + c]: lane 4 q + c of the rows from i on */
        four[i] = _mm512_unpacklo_epi64(pair[i], pair[i + 2]);
        four[i + 1] = _mm512_unpackhi_epi64(pair[i], pair[i + 2]);
        four[i + 2] = _mm512_unpacklo_epi64(pair[i + 1], pair[i + 3]);
        four[i + 3] = _mm512_unpackhi_epi64(pair[i + 1], pair[i + 3]);
    }
    for (int c = 0; c < 4; c++) {
        const __m512i even = _mm512_shuffle_i32x4(four[c], four[4 + c], 0x88);
        const __m512i odd = _mm512_shuffle_i32x4(four[c], four[4 + c], 0xdd);
        const __m512i more_even = _mm512_shuffle_i32x4(four[8 + c], four[12 + c], 0x88);
        const __m512i more_odd = _mm512_shuffle_i32x4(four[8 + c], four[12 + c], 0xdd);
        x[c] = _mm512_shuffle_i32x4(even, more_even, 0x88);
        x[4 + c] = _mm512_shuffle_i32x4(odd, more_odd, 0x88);
        x[8 + c] = _mm512_shuffle_i32x4(even, more_even, 0xdd);
        x[12 + c] = _mm512_shuffle_i32x4(odd, more_odd, 0xdd);
    }
}

/* Packed columns of `bytes` bytes: they consist of whole lanes, so only a transposition is
 * needed. */
static void turn_narrow(const struct gemm *g, const char *const column[GROUP], int64_t bytes,
                        int64_t count, char *to)
{
    const __m512i moved = _mm512_set1_epi8(g->moved ? -128 : 0);
    for (int64_t i = 0; i < bytes; i += 64) {
        const int64_t left = bytes - i, lanes = (left + 3) / 4;
        const __mmask64 there = left >= 64 ? ~(__mmask64)0 : ((__mmask64)1 << left) - 1;
        __m512i x[GROUP];
        for (int64_t j = 0; j < GROUP; j++)
            x[j] = j < count
                       ? _mm512_xor_si512(_mm512_maskz_loadu_epi8(there, column[j] + i), moved)
                       : _mm512_setzero_si512();
        transpose(x);
        for (int64_t j = 0; j < GROUP && j < lanes; j++)
            _mm512_mask_storeu_epi32(to + (i / 4 + j) * g->panel, first_lanes(count), x[j]);
    }
}
#else
#if defined __AVX2__
/* Transposes the first eight lanes of eight columns. */
INLINE void transpose_lanes(const char *const column[], int64_t at, char *to, int64_t step)
{
    __m256 pair[8], four[8];
    for (int i = 0; i < 8; i += 2) {
        const __m256 x = _mm256_loadu_ps((const void *)(column[i] + at)),
                     y = _mm256_loadu_ps((const void *)(column[i + 1] + at));
        pair[i] = _mm256_unpacklo_ps(x, y);
        pair[i + 1] = _mm256_unpackhi_ps(x, y);
    }
    for (int i = 0; i < 8; i += 4) { /* half h of four[i + c]: lane 4 h + c of four columns */
        four[i] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0x44);
        four[i + 1] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0xee);
        four[i + 2] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0x44);
        four[i + 3] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0xee);
    }
    for (int c = 0; c < 4; c++) {
        _mm256_storeu_ps((void *)(to + c * step),
                         _mm256_permute2f128_ps(four[c], four[4 + c], 0x20));
        _mm256_storeu_ps((void *)(to + (4 + c) * step),
                         _mm256_permute2f128_ps(four[c], four[4 + c], 0x31));
    }
}
#endif

static void turn_narrow(const struct gemm *g, const char *const column[GROUP], int64_t bytes,
                        int64_t count, char *to)
{
    int64_t done = 0; /* bytes of the columns from 0 on */
#if defined __AVX2__
    const int64_t whole = count / 8 * 8;
    for (; done + 32 <= bytes; done += 32)
        for (int64_t j = 0; j < whole; j += 8)
            transpose_lanes(column + j, done, to + done / 4 * g->panel + j * 4, g->panel);
#else
    const int64_t whole = 0;
#endif
    for (int64_t i = 0; i < bytes; i += 4)
        for (int64_t j = i < done ? whole : 0; j < count; j++)
            memcpy(to + i / 4 * g->panel + j * 4, column[j] + i, bytes - i < 4 ? 2 : 4);
}
#endif

static void turn_wide(const struct gemm *g, const char *const column[GROUP], int64_t k,
                      int64_t count, char *to)
{
    int64_t done = 0; /* lanes of the columns from 0 on, a multiple of four */
#if defined __AVX2__
    const int64_t whole = count / 4 * 4;
    for (; done + 4 <= k; done += 4)
        for (int64_t j = 0; j < whole; j += 4) {
            const char *const *c = column + j;
            char *at = to + done * g->panel + j * 8;
            const __m256d x = _mm256_loadu_pd((const void *)(c[0] + done * 8)),
                          y = _mm256_loadu_pd((const void *)(c[1] + done * 8)),
                          z = _mm256_loadu_pd((const void *)(c[2] + done * 8)),
                          w = _mm256_loadu_pd((const void *)(c[3] + done * 8));
            const __m256d xy = _mm256_unpacklo_pd(x, y), xy_high = _mm256_unpackhi_pd(x, y),
                          zw = _mm256_unpacklo_pd(z, w), zw_high = _mm256_unpackhi_pd(z, w);
            _mm256_storeu_pd((void *)at, _mm256_permute2f128_pd(xy, zw, 0x20));
            _mm256_storeu_pd((void *)(at + g->panel),
                             _mm256_permute2f128_pd(xy_high, zw_high, 0x20));
            _mm256_storeu_pd((void *)(at + 2 * g->panel), _mm256_permute2f128_pd(xy, zw, 0x31));
            _mm256_storeu_pd((void *)(at + 3 * g->panel),
                             _mm256_permute2f128_pd(xy_high, zw_high, 0x31));
        }
#else
    const int64_t whole = 0;
#endif
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = i < done ? whole : 0; j < count; j++)
            memcpy(to + i * g->panel + j * 8, column[j] + i * 8, 8);
}

static void pack_columns(const struct packing *p)
{
    char scratch[GROUP][PIECE * 8] __attribute__((aligned(64)));
    const int64_t lane = p->g->lane, size = lane / p->g->per_lane;
    const int64_t group = p->g->columns < GROUP ? p->g->columns : GROUP;
    for (int64_t j = 0; j < p->n; j += group)
        for (int64_t i = 0; i < p->k; i += PIECE) {
            const int64_t depth = p->k - i < PIECE ? p->k - i : PIECE,
                          count = p->n - j < group ? p->n - j : group;
            const char *column[GROUP] = {NULL};
            char *to = p->panel + j / p->g->columns * p->panel_bytes +
                       i / p->g->per_lane * p->g->panel + j % p->g->columns * lane;
            for (int64_t c = 0; c < count; c++)
                column[c] = take(p, scratch[c], p->from + i * p->k_step + (j + c) * p->column_step,
                                 p->k_step, depth);
            if (lane == 8)
                turn_wide(p->g, column, depth, count, to);
            else
                turn_narrow(p->g, column, depth * size, count, to);
        }
}

uint32_t gemm_add_bytes(const uint8_t *x, int64_t n, uint8_t flip)
{
    int64_t i = 0;
    uint32_t sum = 0;
#if defined __AVX512F__
    const __m512i turn = _mm512_set1_epi8((char)flip), zero = _mm512_setzero_si512();
    __m512i sums = zero;
    for (; i + 64 <= n; i += 64)
        sums = _mm512_add_epi64(
            sums, _mm512_sad_epu8(_mm512_xor_si512(_mm512_loadu_si512(x + i), turn), zero));
    sum = (uint32_t)_mm512_reduce_add_epi64(sums);
#endif
    for (; i < n; i++)
        sum += x[i] ^ flip;
    return sum;
}

void gemm_pack_panels(const struct gemm *g, enum dtype type, const char *from, int64_t k_step,
                      int64_t column_step, int64_t k, int64_t n, char *panel, int64_t panel_bytes)
{
    struct packing p = {.g = g,
                        .from = from,
                        .k_step = k_step,
                        .column_step = column_step,
                        .k = k,
                        .n = n,
                        .panel = panel,
                        .panel_bytes = panel_bytes};
    const int64_t across = column_step < 0 ? -column_step : column_step,
                  down = k_step < 0 ? -k_step : k_step;
    loader_init(&p.load, g->rhs, type);
    if (n == 1 && g->per_lane == 1 && !g->twofold && !p.load.convert)
        kern_copy_block(panel, from, (const int64_t[]){1, k}, (const int64_t[]){0, g->panel},
                        (const int64_t[]){0, k_step}, p.load.to);
    else if (n == 1 || g->twofold || across <= down)
        pack_rows(&p);
    else
        pack_columns(&p);
}
