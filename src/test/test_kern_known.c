/*
 * Tests of kernels against known answers, published or computed by others: random streams,
 * roundings to narrow floats, transforms and factors with exact results.
 */
#include "check_quiet.h"
#include <math.h>
#include <stdlib.h>

#include "kern/plain/plain.h"

static const struct kernels *const both[2] = {&kern_fast, &kern_plain};

static uint64_t next_word(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* ---- rng-bit-generator ---- */

/* Random123's published test vectors (kat_vectors: threefry2x32 of 20 rounds, philox4x32 of 10), as
 * counter, key and result; then those of grammar/values.md 14.1. The state of three_fry is {key,
 * counter}, that of philox {key, counter's low half, its high half}. */
static const struct {
    enum kern_rng algorithm;
    int words;
    uint64_t state[3];
    uint32_t block[4];
} blocks[] = {
    {KERN_THREE_FRY, 2, {0, 0}, {0x6b200159, 0x99ba4efe}},
    {KERN_THREE_FRY, 2, {0xffffffffffffffff, 0xffffffffffffffff}, {0x1cb996fc, 0xbb002be7}},
    {KERN_THREE_FRY, 2, {0x0370734413198a2e, 0x85a308d3243f6a88}, {0xc4923a9c, 0x483df7a0}},
    {KERN_PHILOX, 3, {0, 0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {KERN_PHILOX,
     3,
     {0xffffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {KERN_PHILOX,
     3,
     {0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

START_TEST(random_block_test_vectors)
{
    for (size_t k = 0; k < COUNT_OF(blocks); k++)
        for (int set = 0; set < 2; set++) {
            const int words = blocks[k].algorithm == KERN_PHILOX ? 4 : 2;
            uint64_t next[3], made[2] = {0};
            struct view out; /* 64-bit elements keep a block together: low word first */
            view_dense(&out, DT_U64, 1, (const int64_t[]){words / 2}, made);
            both[set]->rng_bits(NULL, &out, blocks[k].algorithm, blocks[k].state, blocks[k].words,
                                next);
            for (int w = 0; w < words; w++)
                ck_assert_msg((uint32_t)(made[w / 2] >> (w % 2 * 32)) == blocks[k].block[w],
                              "vector %zu, word %d, set %d", k, w, set);
        }
}
END_TEST

static const struct {
    enum kern_rng algorithm;
    enum dtype type;
    int words;
    uint64_t state[3], next[3];
    int rank;
    int64_t dims[2];
    int known; /* elements of `bits` */
    uint64_t bits[12];
} streams[] = {
#define KEY 0x0123456789abcdef
    {KERN_THREE_FRY,
     DT_U32,
     2,
     {KEY, 5},
     {KEY, 8},
     1,
     {5},
     5,
     {0xb09d029e, 0x7d84f441, 0x6ca3e732, 0xa43b6b39, 0xc8124617}},
    {KERN_THREE_FRY,
     DT_U64,
     2,
     {KEY, 5},
     {KEY, 10},
     1,
     {5},
     3,
     {0x7d84f441b09d029e, 0xa43b6b396ca3e732, 0x2077496ec8124617}},
    {KERN_THREE_FRY,
     DT_U16,
     2,
     {KEY, 5},
     {KEY, 8},
     1,
     {5},
     5,
     {0x029e, 0xf441, 0xe732, 0x6b39, 0x4617}},
    {KERN_THREE_FRY, DT_U8, 2, {KEY, 5}, {KEY, 8}, 1, {5}, 5, {0x9e, 0x41, 0x32, 0x39, 0x17}},
    {KERN_THREE_FRY,
     DT_U32,
     2,
     {KEY, 5},
     {KEY, 11},
     2,
     {3, 4},
     12,
     {0xb09d029e, 0x7d84f441, 0x6ca3e732, 0xa43b6b39, 0xc8124617, 0x2077496e, 0xb530f815,
      0xedce8403, 0x95fbb24b, 0xa2c8a180, 0xea74752e, 0x2b05d54b}},
    {KERN_PHILOX,
     DT_U32,
     2,
     {KEY, 5},
     {KEY, 7},
     1,
     {5},
     5,
     {0xdb2c142d, 0x327740ee, 0x7f0fe360, 0xa0c46ff0, 0xc56b7b3e}},
    {KERN_PHILOX,
     DT_U64,
     2,
     {KEY, 5},
     {KEY, 8},
     1,
     {5},
     3,
     {0x327740eedb2c142d, 0xa0c46ff07f0fe360, 0x8bc48ab8c56b7b3e}},
    {KERN_PHILOX,
     DT_U32,
     3,
     {KEY, 5, 7},
     {KEY, 7, 7},
     1,
     {5},
     5,
     {0x414da380, 0xb7702af1, 0xcd642c43, 0x43dc5e58, 0x0dbe9975}},
#undef KEY
};

START_TEST(random_streams)
{
    for (size_t k = 0; k < COUNT_OF(streams); k++)
        for (int set = 0; set < 2; set++) {
            const size_t size = dtype_bytes(streams[k].type);
            uint64_t made[12] = {0}, next[3];
            struct view out;
            view_dense(&out, streams[k].type, streams[k].rank, streams[k].dims, made);
            both[set]->rng_bits(NULL, &out, streams[k].algorithm, streams[k].state,
                                streams[k].words, next);
            for (int i = 0; i < streams[k].known; i++)
                ck_assert_msg(memcmp((char *)made + (size_t)i * size, &streams[k].bits[i], size) ==
                                  0,
                              "stream %zu, element %d", k, i); /* little-endian */
            for (int i = 0; i < streams[k].words; i++)
                ck_assert_msg(next[i] == streams[k].next[i], "stream %zu, state %d", k, i);
        }
}
END_TEST

/* ---- narrow floats ---- */

struct threshold {
    uint32_t min;
    uint8_t code;
};
#include "narrow_table.inc"

static const struct narrow {
    enum dtype type;
    const struct threshold *rows;
    size_t count;
    uint8_t nan[2];
    uint64_t decoded;
} narrow[] = {
#define TABLE(id, rows, plus, minus, hash) {DT_##id, rows, COUNT_OF(rows), {plus, minus}, hash},
    TABLES(TABLE)
#undef TABLE
};

/* A type without NaN encodes it as minus zero (grammar/values.md 2); ml_dtypes uses its sign. */
static uint8_t nan_code(const struct narrow *t, bool negative)
{
    return t->nan[float_format(t->type)->specials == FS_SAT ? 0 : negative];
}

static uint8_t expected_code(const struct narrow *t, uint32_t bits)
{
    size_t low = 0, high = t->count; /* rows[low] is not above, rows[high] is */
    if ((bits & 0x7fffffff) > 0x7f800000)
        return nan_code(t, bits >> 31);
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        *(t->rows[middle].min <= bits ? &low : &high) = middle;
    }
    return t->rows[low].code;
}

/* n <= 65536 patterns of f32, from f32 and from f64. */
static void check_codes(const struct narrow *t, const uint32_t *bits, size_t n)
{
    static const enum dtype from[] = {DT_F32, DT_F64};
    uint8_t *made = malloc(n);
    double *wide = malloc(n * sizeof *wide);
    for (size_t i = 0; i < n; i++) {
        float f;
        memcpy(&f, &bits[i], sizeof f);
        wide[i] = (double)f;
    }
    for (size_t k = 0; k < COUNT_OF(from); k++) {
        const void *x = from[k] == DT_F32 ? (const void *)bits : wide;
        kern_find_convert(t->type, from[k])(made, &x, (int64_t)n);
        for (size_t i = 0; i < n; i++)
            ck_assert_msg(made[i] == expected_code(t, bits[i]),
                          "%s of %s 0x%08x is 0x%02x, not 0x%02x", dtype_spelling(t->type),
                          dtype_spelling(from[k]), (unsigned)bits[i], made[i],
                          expected_code(t, bits[i]));
    }
    free(made);
    free(wide);
}

enum { CHUNK = 65536 };

START_TEST(narrow_codes_of_every_bf16)
{
    const struct narrow *t = &narrow[_i];
    uint16_t *bf16 = malloc(CHUNK * sizeof *bf16);
    uint32_t *bits = malloc(CHUNK * sizeof *bits);
    uint8_t *made = malloc(CHUNK);
    for (uint32_t i = 0; i < CHUNK; i++) {
        bf16[i] = (uint16_t)i;
        bits[i] = i << 16;
    }
    check_codes(t, bits, CHUNK);
    kern_find_convert(t->type, DT_BF16)(made, (const void *const[]){bf16}, CHUNK);
    for (uint32_t i = 0; i < CHUNK; i++)
        ck_assert_msg(made[i] == expected_code(t, bits[i]), "%s of bf16 0x%04x",
                      dtype_spelling(t->type), (unsigned)i);
    free(bf16);
    free(bits);
    free(made);
}
END_TEST

START_TEST(narrow_codes_of_random_f32)
{
    const struct narrow *t = &narrow[_i];
    uint32_t *bits = malloc(CHUNK * sizeof *bits);
    uint64_t state = 2026;
    for (int chunk = 0; chunk < 16; chunk++) {
        for (int i = 0; i < CHUNK; i++)
            bits[i] = (uint32_t)(next_word(&state) >> 32);
        check_codes(t, bits, CHUNK);
    }
    size_t n = 0;
    for (size_t k = 0; k < t->count; k++) /* both sides of every threshold */
        for (int d = -2; d <= 2; d++)
            bits[n++] = t->rows[k].min + (uint32_t)d;
    check_codes(t, bits, n);
    free(bits);
}
END_TEST

START_TEST(narrow_values)
{
    const struct narrow *t = &narrow[_i];
    const int codes = t->type == DT_F4E2M1FN                      ? 16
                      : float_format(t->type)->specials == FS_SAT ? 64
                                                                  : 256;
    uint64_t hash = 0xcbf29ce484222325;
    for (int i = 0; i < codes; i++) {
        const uint8_t code = (uint8_t)i;
        float value;
        uint32_t bits;
        kern_find_convert(DT_F32, t->type)(&value, (const void *const[]){&code}, 1);
        memcpy(&bits, &value, sizeof bits);
        if (isnan(value))
            bits = 0x7fc00000;
        for (int b = 0; b < 4; b++)
            hash = (hash ^ (bits >> (8 * b) & 0xff)) * 0x100000001b3;
    }
    ck_assert_msg(hash == t->decoded, "%s", dtype_spelling(t->type));
}
END_TEST

/* ---- fft ---- */

/* `near`: tolerance of the fast kernel. */
static void check_fft(enum kern_fft type, int rank, const int64_t *dims, const struct c128 *x,
                      const struct c128 *expected, double near)
{
    for (int set = 0; set < 2; set++) {
        struct c128 made[16];
        struct view in, out;
        view_dense(&in, DT_C128, rank, dims, (void *)(uintptr_t)x);
        view_dense(&out, DT_C128, rank, dims, made);
        ck_assert(both[set]->fft(NULL, NULL, &out, &in, type, rank));
        for (int64_t i = 0; i < view_elements(&out); i++)
            ck_assert_msg(fabs(made[i].re - expected[i].re) <= (set ? 0 : near) &&
                              fabs(made[i].im - expected[i].im) <= (set ? 0 : near),
                          "element %d is (%g, %g), not (%g, %g)", (int)i, made[i].re, made[i].im,
                          expected[i].re, expected[i].im);
    }
}

/* Powers of i of frequency m over four points have a single coefficient, at m. */
START_TEST(fft_of_roots_of_unity)
{
    static const struct c128 root[4] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    const int64_t four = 4;
    for (int m = 0; m < 4; m++) {
        struct c128 x[4], peak[4] = {{0, 0}}, bare[4] = {{0, 0}};
        for (int n = 0; n < 4; n++)
            x[n] = root[n * m % 4];
        peak[m].re = 4;
        bare[m].re = 1;
        check_fft(KERN_FFT, 1, &four, x, peak, 0);
        check_fft(KERN_IFFT, 1, &four, peak, x, 0);
        for (int k = 0; k < 4; k++)
            x[k] = root[(16 - k * m) % 4];
        check_fft(KERN_FFT, 1, &four, bare, x, 0);
    }
}
END_TEST

/* The transform of an impulse is 1 everywhere, for any lengths; the fast kernel uses a convolution
 * for lengths that are not powers of two. */
START_TEST(fft_of_an_impulse)
{
    static const int64_t shapes[][3] = {{1}, {2}, {3}, {5}, {7}, {13}, {16}, {3, 5}, {2, 3, 2}};
    for (size_t k = 0; k < COUNT_OF(shapes); k++) {
        struct c128 impulse[16] = {{1, 0}}, ones[16];
        int rank = 0;
        while (rank < 3 && shapes[k][rank] > 0)
            rank++;
        for (int i = 0; i < 16; i++)
            ones[i] = (struct c128){1, 0};
        check_fft(KERN_FFT, rank, shapes[k], impulse, ones, 1e-15);
    }
}
END_TEST

/* ---- cholesky, triangular-solve ---- */

enum { N = 4 };

/* An integer factor with powers of two on the diagonal: its square, and all intermediate results,
 * are exact. */
static struct c128 factor(int i, int j, bool complex)
{
    if (i < j)
        return (struct c128){0, 0};
    if (i == j)
        return (struct c128){(double)(1 << i), 0};
    return (struct c128){i + 2.0 * j - 2, complex ? j - i : 0};
}

static struct c128 times_conjugate(struct c128 a, struct c128 b)
{
    return (struct c128){a.re * b.re + a.im * b.im, a.im * b.re - a.re * b.im};
}

static void store(enum dtype t, void *row, int at, struct c128 v)
{
    kern_find_convert(t, DT_C128)((char *)row + (size_t)at * dtype_bytes(t),
                                  (const void *const[]){&v}, 1);
}

static struct c128 load(enum dtype t, const void *row, int at)
{
    struct c128 v;
    const void *x = (const char *)row + (size_t)at * dtype_bytes(t);
    kern_find_convert(DT_C128, t)(&v, &x, 1);
    return v;
}

static const enum dtype matrix_types[] = {DT_F32, DT_F64, DT_C64, DT_C128};

START_TEST(cholesky_of_squares)
{
    const enum dtype t = matrix_types[_i / 2];
    const bool lower = _i % 2;
    struct c128 a[N * N], made[N * N];
    struct view in, out;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            struct c128 sum = {0, 0};
            for (int k = 0; k < N; k++) {
                struct c128 p = times_conjugate(factor(i, k, dtype_is_complex(t)),
                                                factor(j, k, dtype_is_complex(t)));
                sum = (struct c128){sum.re + p.re, sum.im + p.im};
            }
            const bool read = lower ? j <= i : j >= i; /* the other triangle is not read */
            store(t, a, i * N + j, read ? sum : (struct c128){NAN, 0});
        }
    for (int set = 0; set < 2; set++) {
        view_dense(&in, t, 2, (const int64_t[]){N, N}, a);
        view_dense(&out, t, 2, (const int64_t[]){N, N}, made);
        ck_assert(both[set]->cholesky(NULL, &out, &in, lower));
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                struct c128 w = factor(lower ? i : j, lower ? j : i, dtype_is_complex(t));
                const struct c128 v = load(t, made, i * N + j);
                if (!lower)
                    w.im = -w.im;
                ck_assert_msg(v.re == w.re && v.im == w.im,
                              "%s, lower=%d: [%d,%d] is (%g, %g), not (%g, %g)", dtype_spelling(t),
                              lower, i, j, v.re, v.im, w.re, w.im);
            }
    }
}
END_TEST

/* Element (i, j) of op(a): a lower triangle, or its transpose, perhaps conjugated, perhaps ones on
 * the diagonal. */
static struct c128 applied(const struct kern_triangular *how, bool complex, int i, int j)
{
    const int r = how->transpose ? j : i, c = how->transpose ? i : j;
    struct c128 v = how->lower ? factor(r, c, complex) : factor(c, r, complex);
    if (r == c && how->unit_diagonal)
        v.re = 1;
    if (how->conjugate)
        v.im = -v.im;
    return v;
}

START_TEST(triangular_solve_is_exact)
{
    enum { M = 3 };
    const enum dtype t = matrix_types[_i / 24];
    const int op = _i % 24 / 8;
    const struct kern_triangular how = {.left_side = _i & 1,
                                        .lower = _i & 2,
                                        .unit_diagonal = _i & 4,
                                        .transpose = op > 0,
                                        .conjugate = op > 1};
    const bool complex = dtype_is_complex(t);
    struct c128 a[N * N], b[N * M], made[N * M], x[N * M];
    struct view va, vb, out;
    for (int i = 0; i < N * M; i++)
        x[i] = (struct c128){i - 5, complex ? 2 - i : 0};
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            const bool read = i == j ? !how.unit_diagonal : how.lower ? j < i : j > i;
            store(t, a, i * N + j,
                  !read       ? (struct c128){NAN, 0}
                  : how.lower ? factor(i, j, complex)
                              : factor(j, i, complex));
        }
    const int rows = how.left_side ? N : M, columns = how.left_side ? M : N;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            struct c128 sum = {0, 0};
            for (int k = 0; k < N; k++) {
                const struct c128 l = how.left_side ? applied(&how, complex, i, k) : x[i * N + k];
                const struct c128 r = how.left_side ? x[k * M + j] : applied(&how, complex, k, j);
                sum.re += l.re * r.re - l.im * r.im;
                sum.im += l.re * r.im + l.im * r.re;
            }
            store(t, b, i * columns + j, sum);
        }
    view_dense(&va, t, 2, (const int64_t[]){N, N}, a);
    view_dense(&vb, t, 2, (const int64_t[]){rows, columns}, b);
    view_dense(&out, t, 2, (const int64_t[]){rows, columns}, made);
    for (int set = 0; set < 2; set++) {
        ck_assert(both[set]->triangular_solve(NULL, &out, &va, &vb, &how));
        for (int i = 0; i < N * M; i++) {
            const struct c128 v = load(t, made, i);
            ck_assert_msg(v.re == x[i].re && v.im == x[i].im,
                          "%s, case %d: element %d is (%g, %g), not (%g, %g)", dtype_spelling(t),
                          _i, i, v.re, v.im, x[i].re, x[i].im);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kern_known");
    TCase *tcase = tcase_create("kern_known");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, random_block_test_vectors);
    tcase_add_test(tcase, random_streams);
    tcase_add_loop_test(tcase, narrow_codes_of_every_bf16, 0, COUNT_OF(narrow));
    tcase_add_loop_test(tcase, narrow_codes_of_random_f32, 0, COUNT_OF(narrow));
    tcase_add_loop_test(tcase, narrow_values, 0, COUNT_OF(narrow));
    tcase_add_test(tcase, fft_of_roots_of_unity);
    tcase_add_test(tcase, fft_of_an_impulse);
    tcase_add_loop_test(tcase, cholesky_of_squares, 0, 2 * COUNT_OF(matrix_types));
    tcase_add_loop_test(tcase, triangular_solve_is_exact, 0, 24 * COUNT_OF(matrix_types));
    suite_add_tcase(suite, tcase);
    return check_run(suite);
}
