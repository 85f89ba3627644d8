/*
 * Tests of transforms: large arrays, which use FFTW if available, against the same rows one at a
 * time, which use our own loops.
 */
#include "check_quiet.h"

#include <math.h>

#include "kern/kern.h"
#include "teams.h"

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

/* All rows at once and each alone: rank `count` transforms of these lengths. */
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
    ck_assert(kern_fft(NULL, &to, &from, type, count, lengths));
    for (int64_t r = 0; r < ROWS; r++) {
        view_dense(&from, in_type, count, in + 1, x + r * in_doubles / ROWS);
        view_dense(&to, out_type, count, out + 1, each + r * out_doubles / ROWS);
        ck_assert(kern_fft(NULL, &to, &from, type, count, lengths));
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

START_TEST(many_rows_as_one)
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

/* A full wave of each frequency has one peak; also for a row long enough for FFTW, and longer than
 * any table. */
START_TEST(waves)
{
    static const int64_t lengths[] = {4096, 6007, 65536, 100000};
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
        ck_assert(kern_fft(NULL, &out, &v, KERN_FFT, 1, &n));
        for (int64_t k = 0; k < n; k++)
            ck_assert_msg(fabs(y[k].re - (k == peak ? (double)n : 0)) < 1e-9 &&
                              fabs(y[k].im) < 1e-9,
                          "%lld of %lld", (long long)k, (long long)n);
        mem_free(x);
        mem_free(y);
    }
}
END_TEST

/* Long real rows, alone or a few, forward and back; half of the spectrum equals that of the complex
 * transform. */
START_TEST(real_waves_there_and_back)
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
        ck_assert(kern_fft(NULL, &whole, &whole, KERN_FFT, 1, &n));
        ck_assert(kern_fft(NULL, &spectrum, &real, KERN_RFFT, 1, &n));
        ck_assert(kern_fft(NULL, &back, &spectrum, KERN_IRFFT, 1, &n));
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

/* Results do not depend on the number of threads. */
START_TEST(teams_make_no_difference)
{
    static const struct {
        enum kern_fft type;
        int rank, count;
        int64_t dims[3];
    } all[] = {{KERN_FFT, 1, 1, {65536}},    {KERN_IFFT, 1, 1, {30000}},
               {KERN_FFT, 2, 2, {96, 100}},  {KERN_IFFT, 3, 2, {5, 70, 33}},
               {KERN_FFT, 2, 1, {40, 6007}}, {KERN_IFFT, 2, 2, {74, 202}},
               {KERN_FFT, 2, 1, {11, 2500}}};
    start_teams();
    for (size_t k = 0; k < COUNT_OF(all); k++) {
        const int64_t n = elements(all[k].rank, all[k].dims);
        double *x = numbers(2 * n), *first = mem_alloc((size_t)n * 16),
               *y = mem_alloc((size_t)n * 16);
        struct view from, to;
        view_dense(&from, DT_C128, all[k].rank, all[k].dims, x);
        for (int t = 0; t < TEAMS; t++) {
            view_dense(&to, DT_C128, all[k].rank, all[k].dims, t == 0 ? first : y);
            ck_assert(kern_fft(teams[t], &to, &from, all[k].type, all[k].count,
                               all[k].dims + all[k].rank - all[k].count));
            ck_assert_msg(t == 0 || memcmp(first, y, (size_t)n * 16) == 0, "case %zu, team of %d",
                          k, team_sizes[t]);
        }
        mem_free(x);
        mem_free(first);
        mem_free(y);
    }
    end_teams();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fft");
    TCase *tests = tcase_create("fft");
    tcase_add_test(tests, many_rows_as_one);
    tcase_add_test(tests, waves);
    tcase_add_test(tests, real_waves_there_and_back);
    tcase_add_test(tests, teams_make_no_difference);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
