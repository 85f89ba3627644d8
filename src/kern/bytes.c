/*
 * bytes: matrix products of bytes, signed or not, summed in 32 bits (spec: DotGeneral), four products to the lane and
 * instruction where the processor has that (AVX-512 VNNI). Exact modulo 2^32, hence in any order.
 *
 * The instruction multiplies bytes without sign by bytes with one. Where both operands are of one kind, the right one is
 * moved by 128 while it is packed, and 128 times the sum of the left one's row taken off or added again.
 */
#include "kern/cpu.h"
#include "kern/product.h"

#if defined __x86_64__
#include <immintrin.h>

#define VNNI __attribute__((target("avx512f,avx512bw,avx512vnni")))
#define VNNI_INLINE VNNI __attribute__((always_inline)) static inline

bool bytes_applies(const struct product *p)
{
    const bool byte[2] = {p->lhs_type == DT_S8 || p->lhs_type == DT_U8, p->rhs_type == DT_S8 || p->rhs_type == DT_U8};
    return byte[0] && byte[1] && dtype_is_integer(p->out_type) && !dtype_is_subbyte(p->out_type) &&
           dtype_bytes(p->out_type) <= 4 && cpu_extras().vnni;
}

/* COLUMNS columns of the right matrix are packed at a time, DEPTH rows deep: the four bytes of a lane are those of four
 * rows. ROWS rows of the left one go along with them; their sums stay in registers. */
enum { LANES = 16, VECTORS = 4, COLUMNS = LANES * VECTORS, ROWS = 6, DEPTH = 4096 };

/* Four rows, 64 columns: byte i of lane j is row i's of column j. */
VNNI_INLINE void interleave(const __m512i row[4], __m512i *to)
{
    const __m512i low01 = _mm512_unpacklo_epi8(row[0], row[1]), high01 = _mm512_unpackhi_epi8(row[0], row[1]);
    const __m512i low23 = _mm512_unpacklo_epi8(row[2], row[3]), high23 = _mm512_unpackhi_epi8(row[2], row[3]);
    /* Each quarter of these holds four columns of the quarter of the row that it stands in. */
    const __m512i a = _mm512_unpacklo_epi16(low01, low23), b = _mm512_unpackhi_epi16(low01, low23);
    const __m512i c = _mm512_unpacklo_epi16(high01, high23), d = _mm512_unpackhi_epi16(high01, high23);
    const __m512i ab = _mm512_shuffle_i32x4(a, b, 0x44), cd = _mm512_shuffle_i32x4(c, d, 0x44);
    const __m512i ab_high = _mm512_shuffle_i32x4(a, b, 0xee), cd_high = _mm512_shuffle_i32x4(c, d, 0xee);
    _mm512_store_si512(to, _mm512_shuffle_i32x4(ab, cd, 0x88));
    _mm512_store_si512(to + 1, _mm512_shuffle_i32x4(ab, cd, 0xdd));
    _mm512_store_si512(to + 2, _mm512_shuffle_i32x4(ab_high, cd_high, 0x88));
    _mm512_store_si512(to + 3, _mm512_shuffle_i32x4(ab_high, cd_high, 0xdd));
}

/* k rows of n <= COLUMNS bytes; what is missing is zero. */
VNNI static void pack(const uint8_t *b, int64_t ldb, int64_t k, int64_t n, bool move, __m512i *to)
{
    const __mmask64 there = n == COLUMNS ? ~(__mmask64)0 : ((__mmask64)1 << n) - 1;
    const __m512i moved = _mm512_set1_epi8(move ? -128 : 0);
    for (int64_t i = 0; i < k; i += 4, to += VECTORS) {
        __m512i row[4];
        for (int64_t r = 0; r < 4; r++)
            row[r] = i + r < k ? _mm512_xor_si512(_mm512_maskz_loadu_epi8(there, b + (i + r) * ldb), moved)
                               : _mm512_setzero_si512();
        interleave(row, to);
    }
}

static inline int32_t next_four(const uint8_t *a)
{
    int32_t four;
    memcpy(&four, a, 4);
    return four;
}

/* sum += products of four bytes each. In its own words, since gcc 12 moves every sum of _mm512_dpbusd_epi32 to another
 * register and half of them to memory. */
VNNI_INLINE __m512i add_products(__m512i sum, __m512i without_sign, __m512i with_sign)
{
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(without_sign), "v"(with_sign));
    return sum;
}

struct block {
    const uint8_t *a;
    int64_t lda;
    const __m512i *b;
    int64_t n, k; /* k: a multiple of 4 */
    int32_t *c;
    int64_t ldc;
};

VNNI_INLINE void add_block(const struct block *p, int rows, bool a_signed)
{
    __m512i sum[ROWS][VECTORS];
    __mmask16 there[VECTORS];
    for (int v = 0; v < VECTORS; v++) {
        const int64_t left = p->n - v * LANES;
        there[v] = (__mmask16)(left >= LANES ? 0xffff : left > 0 ? (1 << left) - 1 : 0);
        for (int r = 0; r < rows; r++)
            sum[r][v] = _mm512_maskz_loadu_epi32(there[v], p->c + r * p->ldc + v * LANES);
    }
    const uint8_t *a = p->a;
    const __m512i *b = p->b;
    for (int64_t i = 0; i < p->k; i += 4, a += 4, b += VECTORS)
        for (int r = 0; r < rows; r++) {
            const __m512i four = _mm512_set1_epi32(next_four(a + r * p->lda));
            for (int v = 0; v < VECTORS; v++)
                sum[r][v] = a_signed ? add_products(sum[r][v], b[v], four) : add_products(sum[r][v], four, b[v]);
        }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < VECTORS; v++)
            _mm512_mask_storeu_epi32(p->c + r * p->ldc + v * LANES, there[v], sum[r][v]);
}

/* One function for each number of rows: gcc keeps the sums of only one block in registers. */
typedef void block_fn(const struct block *p);
#define BLOCKS(rows)                                                                                         \
    VNNI __attribute__((noinline)) static void unsigned_##rows(const struct block *p)                        \
    {                                                                                                        \
        add_block(p, rows, false);                                                                           \
    }                                                                                                        \
    VNNI __attribute__((noinline)) static void signed_##rows(const struct block *p)                          \
    {                                                                                                        \
        add_block(p, rows, true);                                                                            \
    }
BLOCKS(1)
BLOCKS(2)
BLOCKS(3)
BLOCKS(4)
BLOCKS(5)
BLOCKS(6)
static block_fn *const blocks[ROWS][2] = {{unsigned_1, signed_1}, {unsigned_2, signed_2}, {unsigned_3, signed_3},
                                          {unsigned_4, signed_4}, {unsigned_5, signed_5}, {unsigned_6, signed_6}};

/* The first ROWS of `rows`, or as many as there are. */
static void add_rows(const struct block *p, int64_t rows, bool a_signed)
{
    blocks[rows < ROWS ? rows - 1 : ROWS - 1][a_signed](p);
}

/* The last columns of the left matrix, `rest` < 4 of them, behind those of p. */
static void add_rest(const struct block *p, int64_t rows, int64_t rest, bool a_signed)
{
    uint8_t ends[ROWS][4] = {{0}};
    struct block last = *p;
    for (int64_t r = 0; r < rows && r < ROWS; r++)
        memcpy(ends[r], p->a + r * p->lda + p->k, (size_t)rest);
    last.a = ends[0];
    last.lda = 4;
    last.b = p->b + p->k / 4 * VECTORS;
    last.k = 4;
    add_rows(&last, rows, a_signed);
}

/* What the right matrix has been moved by, times the sum of a row of the left one. */
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

static void start_sums(int64_t m, int64_t n, int64_t k, const struct byte_matrix *a, bool moved, int32_t *c, int64_t ldc)
{
    for (int64_t i = 0; i < m; i++) {
        const int32_t start = moved ? (int32_t)excess(a->at + i * a->ld, k, a->is_signed) : 0;
        for (int64_t j = 0; j < n; j++)
            c[i * ldc + j] = start;
    }
}

bool bytes_multiply(int64_t m, int64_t n, int64_t k, struct byte_matrix a, struct byte_matrix b, int32_t *c, int64_t ldc)
{
    const bool moved = a.is_signed == b.is_signed;
    const int64_t most = k < DEPTH ? k : DEPTH;
    char *room = mem_alloc((size_t)((most + 3) / 4 * COLUMNS * 4) + 64);
    if (!room)
        return false;
    __m512i *packed = (__m512i *)(void *)(room + (64 - (uintptr_t)room % 64) % 64);
    start_sums(m, n, k, &a, moved, c, ldc);
    for (int64_t l = 0; l < k; l += DEPTH)
        for (int64_t j = 0; j < n; j += COLUMNS) {
            const int64_t depth = k - l < DEPTH ? k - l : DEPTH, rest = depth % 4;
            struct block p = {.lda = a.ld, .b = packed, .k = depth - rest, .ldc = ldc};
            p.n = n - j < COLUMNS ? n - j : COLUMNS;
            pack(b.at + l * b.ld + j, b.ld, depth, p.n, moved, packed);
            for (int64_t i = 0; i < m; i += ROWS) {
                p.a = a.at + i * a.ld + l;
                p.c = c + i * ldc + j;
                add_rows(&p, m - i, a.is_signed);
                if (rest)
                    add_rest(&p, m - i, rest, a.is_signed);
            }
        }
    mem_free(room);
    return true;
}
#else
bool bytes_applies(const struct product *p)
{
    (void)p;
    return false;
}

bool bytes_multiply(int64_t m, int64_t n, int64_t k, struct byte_matrix a, struct byte_matrix b, int32_t *c, int64_t ldc)
{
    (void)m, (void)n, (void)k, (void)a, (void)b, (void)c, (void)ldc;
    return false;
}
#endif
