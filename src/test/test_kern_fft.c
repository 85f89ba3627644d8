/*
 * Tests of fast and reference Fourier transforms: against the defining sum, batches against single
 * rows, transforms with known results, round trips; and that results are bitwise independent of the
 * number of threads and of alignment.
 */
#include "check_quiet.h"

#include <complex.h>
#include <math.h>

#include "kern/plain/plain.h"
#include "random_view.h"
#include "thread_pools.h"

static kern_fft_fn *const both[] = {kern_fft, plain_fft};

enum { ROWS = 50 };

static double *numbers(int64_t n)
{
    double *x = mem_alloc((size_t)n * sizeof *x);
    uint64_t state = 1;
    for (int64_t k = 0; k < n; k++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        x[k] = (double)(int64_t)(state >> 32) / 0x1p32 - 0.5;
    }
    return x;
}

static int64_t elements(int rank, const int64_t *dims)
{
    int64_t n = 1;
    for (int d = 0; d < rank; d++)
        n *= dims[d];
    return n;
}

/* ---- the defining sum ---- */

typedef long double complex number;

/* exp(-2 pi i k / n), or with +i */
static number *roots(int64_t n, bool back)
{
    const long double pi = 3.14159265358979323846264338327950288L;
    number *w = malloc((size_t)n * sizeof *w);
    for (int64_t k = 0; k < n; k++)
        w[k] = cexpl((back ? 2 : -2) * pi * I * (long double)k / (long double)n);
    return w;
}

static number load(const struct view *v, const int64_t *index)
{
    const char *p = view_at(v, index);
    const enum dtype part = dtype_component(v->dtype);
    return float_load(part, p) +
           (part == v->dtype ? 0 : I * float_load(part, p + dtype_bytes(part)));
}

/* The element of the result at `o` by definition: the sum over the last dimensions of the operand
 * of each element times a root of unity per dimension. For a real result, the missing half of the
 * spectrum is the conjugate of the given one. */
static number sum(const struct view *x, bool to_real, int count, const int64_t *lengths,
                  number *const *w, const int64_t *o)
{
    const int outer = x->rank - count, last = x->rank - 1;
    int64_t k[VIEW_MAX_RANK] = {0};
    struct view part = *x;
    number total = 0;
    for (int d = 0; d < outer; d++) {
        part.dims[d] = 1;
        part.data += o[d] * x->strides[d];
    }
    do {
        number v = load(&part, k);
        for (int d = outer; d < x->rank; d++)
            v *= w[d - outer][o[d] * k[d] % lengths[d - outer]];
        const bool twice = to_real && k[last] > 0 && 2 * k[last] != lengths[count - 1];
        total += twice ? 2 * v : v;
    } while (index_next(part.rank, part.dims, k));
    return to_real ? creall(total) : total;
}

/* The Euclidean norm, to which errors are proportional. */
static long double norm(const struct view *x)
{
    int64_t i[VIEW_MAX_RANK] = {0};
    long double squares = 0;
    do {
        const long double size = cabsl(load(x, i));
        squares += size * size;
    } while (index_next(x->rank, x->dims, i));
    return sqrtl(squares);
}

/* Compares both results with the defining sum; of many elements, only some. */
static void check_sum(const struct view *out, const struct view *x, enum kern_fft type, int count,
                      const int64_t *lengths, const char *what)
{
    const bool back = type == KERN_IFFT || type == KERN_IRFFT;
    const long double unit = dtype_component(x->dtype) == DT_F32 ? 0x1p-23L : 0x1p-52L;
    const int64_t some = view_elements(out) / 12 | 1;
    number *w[3];
    long double total = 1;
    for (int d = 0; d < count; d++) {
        w[d] = roots(lengths[d], back);
        total *= (long double)lengths[d];
    }
    const long double scale = back ? total : 1;
    const long double near = 2 * unit * (2 + log2l(total)) * norm(x) / scale;
    for (size_t k = 0; k < COUNT_OF(both); k++) {
        int64_t i[VIEW_MAX_RANK] = {0}, at = 0;
        ck_assert(both[k](NULL, NULL, out, x, type, count));
        do {
            if (at++ % some)
                continue;
            const number expected = sum(x, type == KERN_IRFFT, count, lengths, w, i) / scale;
            const long double off = cabsl(load(out, i) - expected);
            ck_assert_msg(off <= near, "%s, %s, type %d: off by %Lg, not %Lg", what,
                          k ? "plain" : "fast", (int)type, off, near);
        } while (index_next(out->rank, out->dims, i));
    }
    for (int d = 0; d < count; d++)
        free(w[d]);
}

/* `dims`: of the side that is not a half spectrum. */
static void check_layouts(struct random *r, enum kern_fft type, bool wide, int rank, int count,
                          const int64_t *dims)
{
    const enum dtype real = wide ? DT_F64 : DT_F32, complexes = wide ? DT_C128 : DT_C64;
    const bool from_real = type == KERN_RFFT, to_real = type == KERN_IRFFT;
    int64_t half[VIEW_MAX_RANK];
    char what[80];
    snprintf(what, sizeof what, "rank %d of %d, last length %d, %s", count, rank,
             (int)dims[rank - 1], dtype_spelling(real));
    memcpy(half, dims, (size_t)rank * sizeof *half);
    half[rank - 1] = dims[rank - 1] / 2 + 1;
    struct random_view x =
        random_operand(r, from_real ? real : complexes, rank, to_real ? half : dims);
    struct random_view out =
        random_layout(r, to_real ? real : complexes, rank, from_real ? half : dims);
    check_sum(&out.view, &x.view, type, count, dims + rank - count, what);
    FREE_VIEWS(&x, &out);
}

START_TEST(small_transforms_agree_with_definition)
{
    for (int seed = 0; seed < 400; seed++) {
        struct random r = {(uint64_t)seed};
        const int count = (int)random_in(&r, 1, 3), rank = count + (int)random_in(&r, 0, 3);
        const enum kern_fft type = (enum kern_fft)random_in(&r, KERN_FFT, KERN_IRFFT);
        int64_t dims[VIEW_MAX_RANK];
        for (int d = 0; d < rank; d++)
            dims[d] = random_in(&r, 1,
                                d < rank - count ? 3
                                : count == 1     ? 70
                                : count == 2     ? 12
                                                 : 6);
        check_layouts(&r, type, random_in(&r, 0, 1), rank, count, dims);
    }
}
END_TEST

/* Large enough that FFTW is used if available. */
START_TEST(large_transforms_agree_with_definition)
{
    static const struct {
        int rank, count;
        int64_t dims[3];
    } all[] = {
        {1, 1, {4096}},       {2, 1, {3, 2003}},    {2, 1, {40, 128}},   {2, 1, {1366, 3}},
        {2, 1, {21, 200}},    {2, 1, {43, 97}},     {2, 1, {4099, 1}},   {2, 2, {64, 65}},
        {2, 2, {31, 134}},    {2, 2, {2, 2050}},    {3, 1, {64, 16, 4}}, {3, 2, {30, 12, 13}},
        {3, 3, {16, 18, 15}}, {3, 3, {4100, 1, 1}},
    };
    for (size_t k = 0; k < COUNT_OF(all); k++)
        for (int type = KERN_FFT; type <= KERN_IRFFT; type++)
            for (int wide = 0; wide < 2; wide++) {
                struct random r = {k};
                check_layouts(&r, (enum kern_fft)type, wide, all[k].rank, all[k].count,
                              all[k].dims);
            }
}
END_TEST

/* ---- consistency ---- */

/* Compares a batch of rows with single ones: transforms of rank `count` of these lengths. */
static void check_rows(enum kern_fft type, int count, const int64_t *lengths)
{
    enum dtype in_type = type == KERN_RFFT ? DT_F64 : DT_C128,
               out_type = type == KERN_IRFFT ? DT_F64 : DT_C128;
    int64_t in[4] = {ROWS}, out[4] = {ROWS};
    for (int d = 0; d < count; d++)
        in[d + 1] = out[d + 1] = lengths[d];
    if (type == KERN_RFFT)
        out[count] = lengths[count - 1] / 2 + 1;
    if (type == KERN_IRFFT)
        in[count] = lengths[count - 1] / 2 + 1;
    int64_t in_count = elements(count + 1, in), out_count = elements(count + 1, out);
    int64_t in_doubles = in_count * (in_type == DT_F64 ? 1 : 2),
            out_doubles = out_count * (out_type == DT_F64 ? 1 : 2);
    double *x = numbers(in_doubles), *y = mem_zalloc((size_t)out_doubles * sizeof *y),
           *each = mem_zalloc((size_t)out_doubles * sizeof *y);
    struct view from, to;
    view_dense(&from, in_type, count + 1, in, x);
    view_dense(&to, out_type, count + 1, out, y);
    ck_assert(kern_fft(NULL, NULL, &to, &from, type, count));
    for (int64_t r = 0; r < ROWS; r++) {
        view_dense(&from, in_type, count, in + 1, x + r * in_doubles / ROWS);
        view_dense(&to, out_type, count, out + 1, each + r * out_doubles / ROWS);
        ck_assert(kern_fft(NULL, NULL, &to, &from, type, count));
    }
    double largest = 0;
    for (int64_t k = 0; k < out_doubles; k++)
        largest = fmax(largest, fabs(each[k]));
    for (int64_t k = 0; k < out_doubles; k++)
        ck_assert_msg(fabs(y[k] - each[k]) <= 1e-14 * largest && largest > 0,
                      "type %d, rank %d, lengths %lld ...: %g, %g at %lld", (int)type, count,
                      (long long)lengths[0], y[k], each[k], (long long)k);
    mem_free(x);
    mem_free(y);
    mem_free(each);
}

START_TEST(batches_agree_with_single_rows)
{
    static const struct {
        int rank;
        int64_t lengths[3];
    } all[] = {{1, {128}},    {1, {97}},    {1, {360}},      {1, {1001}},
               {2, {16, 20}}, {2, {9, 33}}, {3, {4, 6, 10}}, {3, {3, 5, 17}}};
    for (size_t k = 0; k < COUNT_OF(all); k++)
        for (int type = KERN_FFT; type <= KERN_IRFFT; type++)
            check_rows((enum kern_fft)type, all[k].rank, all[k].lengths);
}
END_TEST

/* A complex exponential has a single peak: lengths of the matrix algorithm, and with large prime
 * factors. */
START_TEST(complex_exponentials)
{
    static const int64_t lengths[] = {4096, 6007, 65536, 100000, 262144, 300000, 131101, 2 * 65537};
    for (size_t l = 0; l < COUNT_OF(lengths); l++) {
        int64_t n = lengths[l], peak = n / 3;
        struct c128 *x = mem_alloc((size_t)n * sizeof *x);
        for (int64_t k = 0; k < n; k++) {
            x[k] = kern_root_of_unity((int64_t)((__int128)k * peak % n), n);
            x[k].im = -x[k].im;
        }
        struct view v;
        view_dense(&v, DT_C128, 1, &n, x);
        struct c128 *y = mem_alloc((size_t)n * sizeof *y);
        struct view out;
        view_dense(&out, DT_C128, 1, &n, y);
        ck_assert(kern_fft(NULL, NULL, &out, &v, KERN_FFT, 1));
        for (int64_t k = 0; k < n; k++)
            ck_assert_msg(fabs(y[k].re - (k == peak ? (double)n : 0)) < 1e-9 &&
                              fabs(y[k].im) < 1e-9,
                          "%lld of %lld", (long long)k, (long long)n);
        mem_free(x);
        mem_free(y);
    }
}
END_TEST

/* The transform of an impulse is a complex exponential, whose elements are single products of roots
 * of unity: with the matrix algorithm, the twiddle factors. */
START_TEST(impulses)
{
    static const int64_t lengths[] = {4096, 100000, 262144, 300000, 135000, 1 << 20};
    for (size_t l = 0; l < 2 * COUNT_OF(lengths); l++) {
        const int64_t n = lengths[l / 2], at = n - 5;
        struct c128 *x = mem_zalloc((size_t)n * sizeof *x);
        x[at].re = 1;
        struct view v;
        view_dense(&v, DT_C128, 1, &n, x);
        ck_assert(both[l % 2](NULL, NULL, &v, &v, KERN_FFT, 1));
        for (int64_t k = 0; k < n; k++) {
            const struct c128 expected = kern_root_of_unity(k * at % n, n);
            ck_assert_msg(hypot(x[k].re - expected.re, x[k].im - expected.im) < 1e-15,
                          "%lld of %lld: %g%+gi, not %g%+gi", (long long)k, (long long)n, x[k].re,
                          x[k].im, expected.re, expected.im);
        }
        mem_free(x);
    }
}
END_TEST

/* Round trips of one or a few long real rows; the half spectrum equals that of the complex
 * transform. */
START_TEST(real_round_trip)
{
    static const int64_t dims[][2] = {{1, 4096}, {1, 10000}, {3, 6001}, {2, 65536}, {9, 4410}};
    for (size_t l = 0; l < COUNT_OF(dims); l++) {
        const int64_t n = dims[l][1], rows = dims[l][0], half = n / 2 + 1;
        double *x = numbers(rows * n), *again = mem_zalloc((size_t)(rows * n) * sizeof *again);
        struct c128 *wide = mem_zalloc((size_t)(rows * n) * sizeof *wide),
                    *y = mem_zalloc((size_t)(rows * half) * sizeof *y);
        struct view real, spectrum, whole, back;
        view_dense(&real, DT_F64, 2, dims[l], x);
        view_dense(&back, DT_F64, 2, dims[l], again);
        view_dense(&whole, DT_C128, 2, dims[l], wide);
        view_dense(&spectrum, DT_C128, 2, (int64_t[]){rows, half}, y);
        for (int64_t k = 0; k < rows * n; k++)
            wide[k].re = x[k];
        ck_assert(kern_fft(NULL, NULL, &whole, &whole, KERN_FFT, 1));
        ck_assert(kern_fft(NULL, NULL, &spectrum, &real, KERN_RFFT, 1));
        ck_assert(kern_fft(NULL, NULL, &back, &spectrum, KERN_IRFFT, 1));
        for (int64_t r = 0; r < rows; r++)
            for (int64_t k = 0; k < half; k++) {
                const struct c128 a = y[r * half + k], b = wide[r * n + k];
                ck_assert_msg(fabs(a.re - b.re) < 1e-10 && fabs(a.im - b.im) < 1e-10,
                              "row of %lld, %lld", (long long)n, (long long)k);
            }
        for (int64_t k = 0; k < rows * n; k++)
            ck_assert_msg(fabs(again[k] - x[k]) < 1e-13, "row of %lld, %lld again", (long long)n,
                          (long long)k);
        mem_free(x);
        mem_free(again);
        mem_free(wide);
        mem_free(y);
    }
}
END_TEST

/* Lengths of the matrix algorithm. */
START_TEST(long_round_trip)
{
    static const int64_t dims[][2] = {{1, 262144}, {2, 135000}, {3, 131072 + 64}};
    for (size_t l = 0; l < COUNT_OF(dims); l++)
        for (int k = 0; k < 2; k++) {
            const int64_t n = dims[l][0] * dims[l][1];
            double *x = numbers(2 * n);
            struct c128 *y = mem_zalloc((size_t)n * sizeof *y),
                        *again = mem_zalloc((size_t)n * sizeof *again);
            struct view from, to, back;
            view_dense(&from, DT_C128, 2, dims[l], x);
            view_dense(&to, DT_C128, 2, dims[l], y);
            view_dense(&back, DT_C128, 2, dims[l], again);
            ck_assert(both[k](NULL, NULL, &to, &from, KERN_FFT, 1));
            ck_assert(both[k](NULL, NULL, &back, &to, KERN_IFFT, 1));
            for (int64_t i = 0; i < n; i++)
                ck_assert(fabs(again[i].re - x[2 * i]) < 1e-14 &&
                          fabs(again[i].im - x[2 * i + 1]) < 1e-14);
            mem_free(x);
            mem_free(y);
            mem_free(again);
        }
}
END_TEST

/* ---- reproducibility ---- */

static const struct {
    enum kern_fft type;
    int rank, count;
    int64_t dims[3]; /* of the side that is not a half spectrum */
} bit_cases[] = {
    {KERN_FFT, 1, 1, {65536}},      {KERN_IFFT, 1, 1, {30000}},       {KERN_FFT, 2, 2, {96, 100}},
    {KERN_IFFT, 3, 2, {5, 70, 33}}, {KERN_FFT, 2, 1, {40, 6007}},     {KERN_IFFT, 2, 2, {74, 202}},
    {KERN_FFT, 2, 1, {11, 2500}},   {KERN_RFFT, 2, 1, {11, 1001}},    {KERN_IRFFT, 2, 1, {31, 999}},
    {KERN_RFFT, 3, 3, {9, 33, 25}}, {KERN_IRFFT, 3, 3, {16, 17, 18}}, {KERN_FFT, 2, 1, {2, 150000}},
    {KERN_RFFT, 3, 2, {101, 9, 7}}, {KERN_FFT, 3, 3, {15, 15, 33}},
};

struct bit_case {
    double *x;
    struct view from, to;
    size_t from_size, to_size; /* bytes */
};

static struct bit_case bit_case(size_t k, bool wide)
{
    const enum dtype real = wide ? DT_F64 : DT_F32, complexes = wide ? DT_C128 : DT_C64;
    const bool from_real = bit_cases[k].type == KERN_RFFT,
               to_real = bit_cases[k].type == KERN_IRFFT;
    const int rank = bit_cases[k].rank;
    const int64_t *dims = bit_cases[k].dims, n = 4 * elements(rank, dims);
    int64_t half[3];
    struct bit_case c;
    memcpy(half, dims, sizeof half);
    half[rank - 1] = half[rank - 1] / 2 + 1;
    c.x = numbers(n);
    for (int64_t i = 0; i < n && !wide; i++)
        ((float *)c.x)[i] = (float)c.x[i];
    view_dense(&c.from, from_real ? real : complexes, rank, to_real ? half : dims, c.x);
    view_dense(&c.to, to_real ? real : complexes, rank, from_real ? half : dims, NULL);
    c.from_size = (size_t)view_elements(&c.from) * dtype_bytes(c.from.dtype);
    c.to_size = (size_t)view_elements(&c.to) * dtype_bytes(c.to.dtype);
    return c;
}

/* Nor on whether plans are cached. */
START_TEST(results_do_not_depend_on_threads)
{
    start_thread_pools();
    for (size_t k = 0; k < 2 * 2 * COUNT_OF(bit_cases); k++) {
        struct bit_case c = bit_case(k / 4, k % 2);
        struct kern_fft_plans plans = {NULL, 0};
        char *first = mem_alloc(c.to_size), *y = mem_alloc(c.to_size);
        for (int t = 0; t < THREAD_POOLS; t++) {
            c.to.data = t == 0 ? first : y;
            ck_assert(both[k / 2 % 2](thread_pools[t], t % 2 ? &plans : NULL, &c.to, &c.from,
                                      bit_cases[k / 4].type, bit_cases[k / 4].count));
            ck_assert_msg(t == 0 || memcmp(first, y, c.to_size) == 0, "case %zu, %d threads", k,
                          thread_counts[t]);
        }
        kern_fft_plans_free(&plans);
        mem_free(c.x);
        mem_free(first);
        mem_free(y);
    }
    end_thread_pools();
}
END_TEST

/* FFTW has different code for different alignments. */
START_TEST(results_do_not_depend_on_alignment)
{
    for (size_t k = 0; k < 2 * COUNT_OF(bit_cases); k++) {
        struct bit_case c = bit_case(k / 2, k % 2);
        char *first = mem_alloc(c.to_size), *y = mem_alloc(c.to_size + 64),
             *x = mem_alloc(c.from_size + 64);
        c.to.data = first;
        ck_assert(
            kern_fft(NULL, NULL, &c.to, &c.from, bit_cases[k / 2].type, bit_cases[k / 2].count));
        for (int shift = 8; shift < 64; shift += 24) {
            memcpy(x + shift, c.x, c.from_size);
            c.from.data = x + shift;
            c.to.data = y + 64 - shift;
            ck_assert(kern_fft(NULL, NULL, &c.to, &c.from, bit_cases[k / 2].type,
                               bit_cases[k / 2].count));
            ck_assert_msg(memcmp(first, c.to.data, c.to_size) == 0, "case %zu, offset %d", k,
                          shift);
        }
        mem_free(c.x);
        mem_free(x);
        mem_free(first);
        mem_free(y);
    }
}
END_TEST

/* More plans than the cache holds: the oldest are created again. */
START_TEST(plan_cache_eviction)
{
    struct kern_fft_plans plans = {NULL, 0};
    for (int turn = 0; turn < 2; turn++)
        for (int64_t n = 1; n < 100; n++) {
            double x[200] = {1};
            struct view v;
            view_dense(&v, DT_C128, 1, &n, x);
            ck_assert(kern_fft(NULL, &plans, &v, &v, KERN_FFT, 1));
            for (int64_t k = 0; k < n; k++)
                ck_assert(fabs(x[2 * k] - 1) < 1e-14 && fabs(x[2 * k + 1]) < 1e-14);
        }
    kern_fft_plans_free(&plans);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fft");
    TCase *tests = tcase_create("fft");
    tcase_add_test(tests, small_transforms_agree_with_definition);
    tcase_add_test(tests, large_transforms_agree_with_definition);
    tcase_add_test(tests, batches_agree_with_single_rows);
    tcase_add_test(tests, complex_exponentials);
    tcase_add_test(tests, impulses);
    tcase_add_test(tests, real_round_trip);
    tcase_add_test(tests, long_round_trip);
    tcase_add_test(tests, results_do_not_depend_on_threads);
    tcase_add_test(tests, results_do_not_depend_on_alignment);
    tcase_add_test(tests, plan_cache_eviction);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
