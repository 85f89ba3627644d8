/*
 * spec: Fft
 *
 * Transforms of one row: by FFTW if there are many elements; else factor by factor (Stockham's
 * order, which needs no sorting), or, if the length has a prime factor above 31, as a convolution
 * (Bluestein) whose length is a power of two.
 */
#include "kern/fft_row.h"

#include <math.h>

static struct c128 times(struct c128 a, struct c128 b)
{
    return (struct c128){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static struct c128 plus(struct c128 a, struct c128 b)
{
    return (struct c128){a.re + b.re, a.im + b.im};
}

static struct c128 minus(struct c128 a, struct c128 b)
{
    return (struct c128){a.re - b.re, a.im - b.im};
}

/* Computed from the angle in the first eighth of the circle, so that roots that mirror each other
 * consist of the same numbers and those on the axes are exact. */
struct c128 kern_root_of_unity(int64_t k, int64_t n)
{
    int64_t at = k % n; /* in steps of 1/n of the circle */
    bool below = at > n - at;
    at = 2 * (below ? n - at : at); /* in steps of 1/(2 n): at most n of them, the upper half */
    bool left = at > n - at;
    at = 2 * (left ? n - at : at); /* in steps of 1/(4 n): at most n, the first quarter */
    bool steep = at > n - at;
    at = steep ? n - at : at;
    double angle = M_PI / 2 * (double)at / (double)n;
    double near = at == n - at ? M_SQRT1_2 : cos(angle),
           far = at == n - at ? M_SQRT1_2 : sin(angle);
    double x = steep ? far : near, y = steep ? near : far;
    return (struct c128){left ? 0 - x : x, below ? y : 0 - y};
}

/* ---- factor by factor ----
 *
 * A pass turns x, seen as [r][m][s], into y, seen as [m][r][s]: transforms of length r across x,
 * times roots. After all passes s is the whole length. */

struct pass {
    int64_t m, s;
    const struct c128 *x;
    struct c128 *y;
    const struct c128 *roots;
};

static void pass_2(const struct pass *p)
{
    for (int64_t i = 0; i < p->m; i++) {
        const struct c128 *x = p->x + i * p->s, w = p->roots[i * p->s];
        struct c128 *y = p->y + 2 * i * p->s;
        for (int64_t k = 0; k < p->s; k++) {
            struct c128 a = x[k], b = x[k + p->m * p->s];
            y[k] = plus(a, b);
            y[k + p->s] = times(minus(a, b), w);
        }
    }
}

static void pass_4(const struct pass *p)
{
    int64_t step = p->m * p->s;
    for (int64_t i = 0; i < p->m; i++) {
        const struct c128 *x = p->x + i * p->s;
        struct c128 *y = p->y + 4 * i * p->s;
        struct c128 w1 = p->roots[i * p->s], w2 = p->roots[2 * i * p->s],
                    w3 = p->roots[3 * i * p->s];
        for (int64_t k = 0; k < p->s; k++) {
            struct c128 even = plus(x[k], x[k + 2 * step]),
                        odd = plus(x[k + step], x[k + 3 * step]);
            struct c128 a = minus(x[k], x[k + 2 * step]), b = minus(x[k + step], x[k + 3 * step]);
            struct c128 turned = {b.im, -b.re}; /* -i b */
            y[k] = plus(even, odd);
            y[k + p->s] = times(plus(a, turned), w1);
            y[k + 2 * p->s] = times(minus(even, odd), w2);
            y[k + 3 * p->s] = times(minus(a, turned), w3);
        }
    }
}

static void pass_any(const struct pass *p, int r)
{
    int64_t step = p->m * p->s;
    struct c128 small[FFT_RADIX]; /* exp(-2 pi i k / r) */
    for (int k = 0; k < r; k++)
        small[k] = p->roots[k * step];
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t k = 0; k < p->s; k++) {
            const struct c128 *x = p->x + i * p->s + k;
            for (int u = 0; u < r; u++) {
                struct c128 sum = x[0];
                for (int t = 1; t < r; t++)
                    sum = plus(sum, times(x[t * step], small[u * t % r]));
                p->y[(i * r + u) * p->s + k] = u == 0 ? sum : times(sum, p->roots[i * u * p->s]);
            }
        }
}

/* Splits m into factors up to FFT_RADIX; false when it has a larger prime factor. */
static bool find_factors(struct fft_rows *f, int64_t m)
{
    static const uint8_t factors[] = {4, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, FFT_RADIX};
    f->m = m;
    f->factor_count = 0;
    for (size_t k = 0; k < COUNT_OF(factors); k++)
        for (; m % factors[k] == 0; m /= factors[k])
            f->factors[f->factor_count++] = factors[k];
    return m == 1;
}

/* Transforms x in place; `room`: m elements. */
static void by_factors(const struct fft_rows *f, struct c128 *x, struct c128 *room)
{
    struct pass p = {.m = f->m, .s = 1, .x = x, .y = room, .roots = f->roots};
    for (int k = 0; k < f->factor_count; k++) {
        int r = f->factors[k];
        p.m /= r;
        if (r == 4)
            pass_4(&p);
        else if (r == 2)
            pass_2(&p);
        else
            pass_any(&p, r);
        p.s *= r;
        struct c128 *done = p.y;
        p.y = p.y == x ? room : x;
        p.x = done;
    }
    if (p.x != x)
        memcpy(x, p.x, (size_t)f->m * sizeof *x);
}

/* ---- as a convolution ---- */

static void make_chirp(struct fft_rows *f, struct c128 *room)
{
    for (int64_t k = 0, square = 0; k < f->n;
         square = (square + 2 * k + 1) % (2 * f->n), k++) /* k^2 modulo 2 n */
        f->chirp[k] = kern_root_of_unity(square, 2 * f->n);
    for (int64_t k = 0; k < f->m; k++)
        f->filter[k] = (struct c128){0, 0};
    for (int64_t k = 0; k < f->n; k++) {
        struct c128 v = {f->chirp[k].re, -f->chirp[k].im};
        f->filter[k] = v;
        f->filter[(f->m - k) % f->m] = v;
    }
    by_factors(f, f->filter, room);
}

static void by_chirp(const struct fft_rows *f, struct c128 *x, struct c128 *room)
{
    struct c128 *wide = room + f->m;
    for (int64_t k = 0; k < f->m; k++)
        wide[k] = k < f->n ? times(x[k], f->chirp[k]) : (struct c128){0, 0};
    by_factors(f, wide, room);
    for (int64_t k = 0; k < f->m;
         k++) { /* conjugated, so that the forward transform serves as the inverse */
        struct c128 v = times(wide[k], f->filter[k]);
        wide[k] = (struct c128){v.re, -v.im};
    }
    by_factors(f, wide, room);
    for (int64_t k = 0; k < f->n; k++) {
        struct c128 v = {wide[k].re / (double)f->m, -wide[k].im / (double)f->m};
        x[k] = times(v, f->chirp[k]);
    }
}

/* ---- plans ---- */

static bool make_roots(struct fft_rows *f, int64_t more)
{
    int64_t count, bytes;
    if (!add_i64(f->m, more, &count) || !mul_i64(count, (int64_t)sizeof(struct c128), &bytes))
        return false;
    f->roots = mem_alloc((size_t)bytes);
    for (int64_t k = 0; f->roots && k < f->m; k++)
        f->roots[k] = kern_root_of_unity(k, f->m);
    return f->roots != NULL;
}

bool fft_has_factors(int64_t n)
{
    struct fft_rows f;
    return find_factors(&f, n);
}

bool fft_factors_make(struct fft_rows *f, int64_t n)
{
    *f = (struct fft_rows){.type = KERN_FFT, .n = n};
    return find_factors(f, n) && make_roots(f, 0);
}

static bool make_convolution(struct fft_rows *f)
{
    int64_t m = 1, more;
    while (m < 2 * f->n - 1)
        m *= 2;
    find_factors(f, m);
    if (!add_i64(f->m, f->n, &more) || !make_roots(f, more))
        return false;
    struct c128 *room = mem_alloc((size_t)f->m * sizeof *room);
    f->filter = f->roots + f->m;
    f->chirp = f->filter + f->m;
    if (room)
        make_chirp(f, room);
    mem_free(room);
    return room != NULL;
}

bool fft_rows_make(struct fft_rows *f, int64_t n, enum kern_fft type, int64_t all)
{
    *f = (struct fft_rows){.type = type, .n = n, .m = n};
    if (all >= FFT_FEW)
        f->fftw = fftw_make(n, type);
    if (f->fftw.plan)
        return true;
    return find_factors(f, n) ? make_roots(f, 0) : make_convolution(f);
}

int64_t fft_row_room(const struct fft_rows *f) { return f->chirp ? 2 * f->m : f->m; }

void fft_rows_free(struct fft_rows *f)
{
    fftw_done(&f->fftw);
    mem_free(f->roots);
}

/* ---- rows ---- */

static void transform(const struct fft_rows *f, struct c128 *x, struct c128 *room)
{
    if (f->chirp)
        by_chirp(f, x, room);
    else
        by_factors(f, x, room);
}

static void transform_back(const struct fft_rows *f, struct c128 *x, struct c128 *room)
{
    for (int64_t k = 0; k < f->n; k++)
        x[k].im = 0 - x[k].im; /* a zero stays +0 */
    transform(f, x, room);
    for (int64_t k = 0; k < f->n; k++)
        x[k] = (struct c128){x[k].re / (double)f->n, (0 - x[k].im) / (double)f->n};
}

void fft_clear_real_places(struct c128 *x, int64_t n)
{
    x[0].im = 0;
    if (n % 2 == 0)
        x[n / 2].im = 0;
}

void fft_extend(struct c128 *x, int64_t n)
{
    fft_clear_real_places(x, n);
    for (int64_t k = 1; k < n - n / 2; k++)
        x[n - k] = (struct c128){x[k].re, -x[k].im};
}

static void by_fftw(const struct fft_rows *f, struct c128 *x, struct c128 *room)
{
    double *real = (double *)room, scale = (double)f->n;
    bool back = f->type == KERN_IFFT || f->type == KERN_IRFFT;
    for (int64_t k = 0; k < f->n && f->type == KERN_RFFT; k++)
        real[k] = x[k].re;
    fftw_row(&f->fftw, f->type == KERN_RFFT ? (void *)real : x,
             f->type == KERN_IRFFT ? (void *)real : x);
    if (f->type == KERN_RFFT)
        fft_clear_real_places(x, f->n);
    for (int64_t k = 0; k < f->n && back; k++) {
        struct c128 v = f->type == KERN_IRFFT ? (struct c128){real[k], 0} : x[k];
        x[k] = (struct c128){v.re / scale, v.im / scale};
    }
}

void fft_row(const struct fft_rows *f, struct c128 *x, struct c128 *room)
{
    if (f->fftw.plan) {
        by_fftw(f, x, room);
        return;
    }
    if (f->type == KERN_IRFFT)
        fft_extend(x, f->n);
    if (f->type == KERN_FFT || f->type == KERN_RFFT)
        transform(f, x, room);
    else
        transform_back(f, x, room);
    if (f->type == KERN_RFFT)
        fft_clear_real_places(x, f->n);
}
