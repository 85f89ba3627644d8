/*
 * words: matrix products by 32-bit lanes (spec: DotGeneral). A lane of a register holds one f32, two bf16 or four bytes that
 * follow each other along the contracted dimension, and one instruction adds all their products to a 32-bit sum: AVX-512
 * with BF16 and VNNI, where the processor has them. Nothing is widened before it is there.
 *
 * Order and accumulation: f32 by fused multiply-adds in the order of the contracted dimension; bf16 by pairs, whose
 * numbers below the least normal one count as zero; bytes modulo 2^32, hence in any order. One thread.
 */
#include "kern/cpu.h"
#include "kern/product.h"

#if defined __x86_64__
#include <immintrin.h>

#define WIDE __attribute__((target("avx512f,avx512bw,avx512vl")))
#define WIDE_INLINE WIDE __attribute__((always_inline)) static inline

/* COLUMNS columns of the right matrix are packed at a time, DEPTH lanes deep. ROWS rows of the left one go along with
 * them; their sums stay in registers. */
enum { LANES = 16, VECTORS = 4, COLUMNS = LANES * VECTORS, ROWS = 6, DEPTH = 1024 };

/* What the lanes hold. The instruction for bytes multiplies those without sign by those with one. */
enum kind { SIGNED_BYTES, UNSIGNED_BYTES /* on the left */, PAIRS, FLOATS };
enum { KINDS = 4 };

/* ---- which products these are ---- */

/* Larger f32 products are left to OpenBLAS and its threads, the least to loops without preparations. */
enum { LEAST_FLOATS = 4096, MOST_FLOATS = 1 << 22 };

static bool is_byte(enum dtype t)
{
    return t == DT_S8 || t == DT_U8;
}

static bool between(int64_t m, int64_t n, int64_t k)
{
    int64_t all;
    return mul_i64(m, n, &all) && mul_i64(all, k, &all) && all > LEAST_FLOATS && all <= MOST_FLOATS;
}

bool words_apply(const struct product *p)
{
    const int64_t m = nest_points(&p->m), n = nest_points(&p->n), k = nest_points(&p->k);
    if (is_byte(p->lhs_type) && is_byte(p->rhs_type))
        return dtype_is_integer(p->out_type) && !dtype_is_subbyte(p->out_type) && dtype_bytes(p->out_type) <= 4 &&
               cpu_extras().vnni;
    if (p->work != DT_F32 || p->lhs_type != p->rhs_type)
        return false;
    if (p->lhs_type == DT_BF16)
        return cpu_extras().bf16;
    return p->lhs_type == DT_F32 && m >= LANES && n >= LANES && between(m, n, k) && cpu_isa() == CPU_AVX512;
}

/* ---- packing ---- */

/* The lanes of columns j .. j + 63 that hold `there` rows of b; what is missing is zero. */
WIDE_INLINE void pack_bytes(const char *b, int64_t ldb, int64_t there, int64_t n, bool move, __m512i *to)
{
    const __mmask64 columns = n == COLUMNS ? ~(__mmask64)0 : ((__mmask64)1 << n) - 1;
    const __m512i moved = _mm512_set1_epi8(move ? -128 : 0);
    __m512i row[4];
    for (int64_t r = 0; r < 4; r++)
        row[r] = r < there ? _mm512_xor_si512(_mm512_maskz_loadu_epi8(columns, b + r * ldb), moved)
                           : _mm512_setzero_si512();
    const __m512i low01 = _mm512_unpacklo_epi8(row[0], row[1]), high01 = _mm512_unpackhi_epi8(row[0], row[1]);
    const __m512i low23 = _mm512_unpacklo_epi8(row[2], row[3]), high23 = _mm512_unpackhi_epi8(row[2], row[3]);
    /* Each quarter of these holds four columns of the quarter of the row that it stands in. */
    const __m512i p = _mm512_unpacklo_epi16(low01, low23), q = _mm512_unpackhi_epi16(low01, low23);
    const __m512i s = _mm512_unpacklo_epi16(high01, high23), t = _mm512_unpackhi_epi16(high01, high23);
    const __m512i pq = _mm512_shuffle_i32x4(p, q, 0x44), st = _mm512_shuffle_i32x4(s, t, 0x44);
    const __m512i pq_high = _mm512_shuffle_i32x4(p, q, 0xee), st_high = _mm512_shuffle_i32x4(s, t, 0xee);
    _mm512_store_si512(to, _mm512_shuffle_i32x4(pq, st, 0x88));
    _mm512_store_si512(to + 1, _mm512_shuffle_i32x4(pq, st, 0xdd));
    _mm512_store_si512(to + 2, _mm512_shuffle_i32x4(pq_high, st_high, 0x88));
    _mm512_store_si512(to + 3, _mm512_shuffle_i32x4(pq_high, st_high, 0xdd));
}

/* Which of the lanes of vector v stand for one of n columns. */
WIDE_INLINE __mmask16 lanes_there(int64_t n, int v)
{
    const int64_t left = n - v * LANES;
    return (__mmask16)(left >= LANES ? 0xffff : left > 0 ? (1 << left) - 1 : 0);
}

WIDE_INLINE void pack_pairs(const uint16_t *b, int64_t ldb, int64_t there, int64_t n, __m512i *to)
{
    for (int v = 0; v < VECTORS; v++) {
        const __mmask16 columns = lanes_there(n, v), second = there > 1 ? columns : 0;
        const uint16_t *at = b + v * LANES;
        const __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(columns, at));
        const __m512i high = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(second, at + (there > 1 ? ldb : 0)));
        _mm512_store_si512(to + v, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
    }
}

WIDE_INLINE void pack_floats(const float *b, int64_t n, __m512i *to)
{
    for (int v = 0; v < VECTORS; v++)
        _mm512_store_si512(to + v, _mm512_maskz_loadu_epi32(lanes_there(n, v), b + v * LANES));
}

/* 16 rows of 16 lanes become 16 columns. */
WIDE_INLINE void transpose(__m512i x[LANES])
{
    __m512i pair[LANES], four[LANES];
    for (int i = 0; i < LANES; i += 2) {
        pair[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
        pair[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
    }
    for (int i = 0; i < LANES; i += 4) { /* quarter q of four[i + c]: lane 4 q + c of the rows from i on */
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

/* Columns that are gapless, of so many bytes: their lanes are there already, and only have to be turned round. */
WIDE static void pack_columns(const char *b, int64_t column_step, int64_t bytes, int64_t n, bool move, __m512i *to)
{
    const __m512i moved = _mm512_set1_epi8(move ? -128 : 0);
    for (int64_t i = 0; i < bytes; i += 4 * LANES) {
        const int64_t left = bytes - i, lanes = (left + 3) / 4;
        const __mmask64 there = left >= 4 * LANES ? ~(__mmask64)0 : ((__mmask64)1 << left) - 1;
        for (int64_t v = 0; v < VECTORS; v++) {
            __m512i x[LANES];
            for (int64_t j = 0; j < LANES; j++) {
                const char *column = b + (v * LANES + j) * column_step + i;
                x[j] = v * LANES + j < n ? _mm512_xor_si512(_mm512_maskz_loadu_epi8(there, column), moved)
                                         : _mm512_setzero_si512();
            }
            transpose(x);
            for (int64_t j = 0; j < LANES && j < lanes; j++)
                _mm512_store_si512(to + (i / 4 + j) * VECTORS + v, x[j]);
        }
    }
}

/* Elements of the contracted dimension in one lane. */
static int64_t lane_elements(enum kind kind)
{
    return kind == FLOATS ? 1 : kind == PAIRS ? 2 : 4;
}

/* k rows of the n <= COLUMNS columns of b that start at column j. */
WIDE static void pack(enum kind kind, const struct matrix *b, int64_t row, int64_t j, int64_t k, int64_t n, bool move,
                      void *room)
{
    const int64_t per_lane = lane_elements(kind), size = 4 / per_lane;
    const char *at = (const char *)b->at + (b->transposed ? j * b->ld + row : row * b->ld + j) * size;
    __m512i *to = room;
    if (b->transposed) {
        pack_columns(at, b->ld * size, k * size, n, move, to);
        return;
    }
    for (int64_t i = 0; i < k; i += per_lane, at += per_lane * b->ld * size, to += VECTORS)
        if (kind == FLOATS)
            pack_floats((const float *)(const void *)at, n, to);
        else if (kind == PAIRS)
            pack_pairs((const uint16_t *)(const void *)at, b->ld, k - i, n, to);
        else
            pack_bytes(at, b->ld, k - i, n, move, to);
}

/* ---- sums of products ---- */

struct block {
    const char *a; /* row-major */
    int64_t a_row; /* bytes */
    const __m512i *b;
    int64_t n, k;         /* k: in lanes */
    const int32_t *start; /* what each row's sums start at; NULL: what c holds */
    int32_t *c;   /* or float */
    int64_t ldc;
};

/* In the instructions' own words, since gcc 12 moves every sum of _mm512_dpbusd_epi32 to another register and half of them
 * to memory. */
WIDE_INLINE __m512i add_products(enum kind kind, __m512i sum, __m512i a, __m512i b)
{
    if (kind == SIGNED_BYTES)
        __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(b), "v"(a));
    else if (kind == UNSIGNED_BYTES)
        __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    else if (kind == PAIRS)
        __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    else
        __asm__("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
}

static inline int32_t load_lane(const char *a)
{
    int32_t lane;
    memcpy(&lane, a, sizeof lane);
    return lane;
}

WIDE_INLINE void add_block(const struct block *p, int rows, enum kind kind)
{
    __m512i sum[ROWS][VECTORS];
    __mmask16 there[VECTORS];
    for (int v = 0; v < VECTORS; v++) {
        there[v] = lanes_there(p->n, v);
        for (int r = 0; r < rows; r++)
            sum[r][v] = p->start ? _mm512_set1_epi32(p->start[r])
                                 : _mm512_maskz_loadu_epi32(there[v], p->c + r * p->ldc + v * LANES);
    }
    const char *a = p->a;
    const __m512i *b = p->b;
    for (int64_t i = 0; i < p->k; i++, a += 4, b += VECTORS)
        for (int r = 0; r < rows; r++) {
            const __m512i lane = _mm512_set1_epi32(load_lane(a + r * p->a_row));
            for (int v = 0; v < VECTORS; v++)
                sum[r][v] = add_products(kind, sum[r][v], lane, b[v]);
        }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < VECTORS; v++)
            _mm512_mask_storeu_epi32(p->c + r * p->ldc + v * LANES, there[v], sum[r][v]);
}

/* One function for each kind and number of rows: gcc keeps the sums of only one block in registers. */
typedef void block_fn(const struct block *p);
#define BLOCK(name, kind, rows)                                                                              \
    WIDE __attribute__((noinline)) static void name##rows(const struct block *p)                             \
    {                                                                                                        \
        add_block(p, rows, kind);                                                                            \
    }
#define BLOCKS(name, kind)                                                                                   \
    BLOCK(name, kind, 1)                                                                                     \
    BLOCK(name, kind, 2)                                                                                     \
    BLOCK(name, kind, 3)                                                                                     \
    BLOCK(name, kind, 4)                                                                                     \
    BLOCK(name, kind, 5)                                                                                     \
    BLOCK(name, kind, 6)                                                                                     \
    static block_fn *const name[ROWS] = {name##1, name##2, name##3, name##4, name##5, name##6};
BLOCKS(signed_bytes, SIGNED_BYTES)
BLOCKS(unsigned_bytes, UNSIGNED_BYTES)
BLOCKS(pairs, PAIRS)
BLOCKS(floats, FLOATS)

/* The first ROWS of `rows`, or as many as there are. */
static void add_rows(enum kind kind, const struct block *p, int64_t rows)
{
    static block_fn *const *const blocks[KINDS] = {
        [SIGNED_BYTES] = signed_bytes, [UNSIGNED_BYTES] = unsigned_bytes, [PAIRS] = pairs, [FLOATS] = floats};
    blocks[kind][rows < ROWS ? rows - 1 : ROWS - 1](p);
}

/* The last columns of the left matrix, `rest` < 4 bytes of each row, which do not fill a lane, behind those of p. */
static void add_rest(enum kind kind, const struct block *p, int64_t rows, int64_t rest)
{
    char ends[ROWS][4] = {{0}};
    struct block last = *p;
    for (int64_t r = 0; r < rows && r < ROWS; r++)
        memcpy(ends[r], p->a + r * p->a_row + p->k * 4, (size_t)rest);
    last.a = ends[0];
    last.a_row = 4;
    last.b = p->b + p->k * VECTORS;
    last.k = 1;
    last.start = NULL;
    add_rows(kind, &last, rows);
}

/* ---- whole products ---- */

/* 128 times the sum of a row of bytes, taken off when they have a sign. */
KERN_CLONES static uint32_t excess(const uint8_t *a, int64_t k, bool is_signed)
{
    uint32_t sum = 0;
    for (int64_t i = 0; i < k; i++)
        sum += a[i];
    if (!is_signed)
        return sum * 128;
    for (int64_t i = 0; i < k; i++)
        sum -= (uint32_t)(a[i] >> 7) << 8;
    return 0 - sum * 128;
}

/* Where bytes of both sides are of one kind, those on the right are moved by 128 while they are packed, and the
 * sums start at what that makes too much or too little. */
static void find_starts(int64_t m, int64_t k, enum kind kind, const struct matrix *a, bool move, int32_t *start)
{
    for (int64_t i = 0; i < m; i++)
        start[i] = move ? (int32_t)excess((const uint8_t *)a->at + i * a->ld, k, kind == SIGNED_BYTES) : 0;
}

bool words_multiply(enum dtype a_type, enum dtype b_type, int64_t m, int64_t n, int64_t k, struct matrix a,
                    struct matrix b, void *c, int64_t ldc)
{
    const enum kind kind = a_type == DT_F32    ? FLOATS
                           : a_type == DT_BF16 ? PAIRS
                           : a_type == DT_S8   ? SIGNED_BYTES
                                               : UNSIGNED_BYTES;
    const bool move = kind < PAIRS && a_type == b_type;
    const int64_t per_lane = lane_elements(kind), size = 4 / per_lane, most = DEPTH * per_lane;
    const int64_t lanes = ((k < most ? k : most) + per_lane - 1) / per_lane;
    char *room = mem_alloc((size_t)(lanes * COLUMNS + m) * 4 + 64);
    if (!room)
        return false;
    __m512i *packed = (__m512i *)(void *)(room + (64 - (uintptr_t)room % 64) % 64);
    int32_t *start = (int32_t *)(packed + lanes * VECTORS);
    find_starts(m, k, kind, &a, move, start);
    for (int64_t l = 0; l < k; l += most)
        for (int64_t j = 0; j < n; j += COLUMNS) {
            const int64_t depth = k - l < most ? k - l : most, rest = depth % per_lane;
            struct block p = {.a_row = a.ld * size, .b = packed, .k = depth / per_lane, .ldc = ldc};
            p.n = n - j < COLUMNS ? n - j : COLUMNS;
            pack(kind, &b, l, j, depth, p.n, move, packed);
            for (int64_t i = 0; i < m; i += ROWS) {
                p.a = (const char *)a.at + (i * a.ld + l) * size;
                p.c = (int32_t *)c + i * ldc + j;
                p.start = l == 0 ? start + i : NULL;
                add_rows(kind, &p, m - i);
                if (rest)
                    add_rest(kind, &p, m - i, rest * size);
            }
        }
    mem_free(room);
    return true;
}
#else
bool words_apply(const struct product *p)
{
    (void)p;
    return false;
}

bool words_multiply(enum dtype a_type, enum dtype b_type, int64_t m, int64_t n, int64_t k, struct matrix a,
                    struct matrix b, void *c, int64_t ldc)
{
    (void)a_type, (void)b_type, (void)m, (void)n, (void)k, (void)a, (void)b, (void)c, (void)ldc;
    return false;
}
#endif
