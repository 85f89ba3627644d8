/*
 * spec: Fft
 *
 * Transforms of rows by our own loops, in double, where FFTW is not used: factor by factor
 * (Stockham's order, which needs no reordering); or, if the length has a prime factor above 31, as
 * a convolution (Bluestein's) whose length is a power of two. FFTW's estimated plans for large
 * prime factors are several times slower than such a convolution by FFTW, which is used instead.
 */
#include "kern/fft_plan.h"

#include <math.h>

#include "base/oom.h"
#include "kern/nest.h"

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

static struct c128 conjugate(struct c128 a) { return (struct c128){a.re, 0 - a.im}; }

/* Sine and cosine of 0 <= x <= pi/4, within 0.6 ulp: unlike those of a C library, with the same
 * bits on every machine. */
static double small_sine(double x)
{
    const double z = x * x;
    double p = 0x1.5e0b05bff20f2p-33; /* (sin(x) - x) / x^3: 2^-55 */
    p = p * z - 0x1.ae600aca92c64p-26;
    p = p * z + 0x1.71de379654304p-19;
    p = p * z - 0x1.a01a019e83816p-13;
    p = p * z + 0x1.1111111110bb2p-7;
    p = p * z - 0x1.5555555555555p-3;
    return x + x * (z * p);
}

static double small_cosine(double x)
{
    const double z = x * x, half = z / 2, first = 1 - half;
    double p = 0x1.ab78473be59d7p-45; /* (cos(x) - 1 + x^2 / 2) / x^4: 2^-70 */
    p = p * z - 0x1.9394b9eb4d56dp-37;
    p = p * z + 0x1.1eed8deb82809p-29;
    p = p * z - 0x1.27e4fb7712ca2p-22;
    p = p * z + 0x1.a01a01a019d0ap-16;
    p = p * z - 0x1.6c16c16c16c16p-10;
    p = p * z + 0x1.5555555555555p-5;
    return first + (((1 - first) - half) + z * z * p);
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
    double near = at == n - at ? M_SQRT1_2 : small_cosine(angle),
           far = at == n - at ? M_SQRT1_2 : small_sine(angle);
    double x = steep ? far : near, y = steep ? near : far;
    return (struct c128){left ? 0 - x : x, below ? y : 0 - y};
}

struct c128 fft_root(bool back, int64_t k, int64_t n)
{
    const struct c128 w = kern_root_of_unity(k, n);
    return back ? conjugate(w) : w;
}

/* ---- factor by factor ----
 *
 * A pass turns x, seen as [r][m][s], into y, seen as [m][r][s]: transforms of length r across x,
 * times roots. After all passes s is the whole length. */

struct pass {
    int64_t m, s;
    const struct c128 *x, *roots;
    struct c128 *y;
    double sign; /* 1; -1 for the inverse, whose roots are conjugates */
};

KERN_CLONES static void pass_4(const struct pass *p)
{
    const int64_t s = p->s, step = p->m * s;
    for (int64_t i = 0; i < p->m; i++) {
        const struct c128 *x = p->x + i * s, *w = p->roots;
        struct c128 *y = p->y + 4 * i * s, w1 = w[i * s], w2 = w[2 * i * s], w3 = w[3 * i * s];
        for (int64_t k = 0; k < s; k++) {
            struct c128 even = plus(x[k], x[k + 2 * step]),
                        odd = plus(x[k + step], x[k + 3 * step]);
            struct c128 a = minus(x[k], x[k + 2 * step]), b = minus(x[k + step], x[k + 3 * step]);
            struct c128 turned = {p->sign * b.im, -p->sign * b.re}; /* -i b */
            y[k] = plus(even, odd);
            y[k + s] = times(plus(a, turned), w1);
            y[k + 2 * s] = times(minus(even, odd), w2);
            y[k + 3 * s] = times(minus(a, turned), w3);
        }
    }
}

KERN_CLONES static void pass_2(const struct pass *p)
{
    const int64_t s = p->s, step = p->m * s;
    for (int64_t i = 0; i < p->m; i++) {
        const struct c128 *x = p->x + i * s, w = p->roots[i * s];
        struct c128 *y = p->y + 2 * i * s;
        for (int64_t k = 0; k < s; k++) {
            y[k] = plus(x[k], x[k + step]);
            y[k + s] = times(minus(x[k], x[k + step]), w);
        }
    }
}

enum { MOST_FACTOR = 31 };

/* Elements t and r - t have conjugate roots, so their sum is multiplied by the cosine and their
 * difference by the sine, for results u and r - u. */
__attribute__((always_inline)) static inline void pass_odd(const struct pass *p, const int r)
{
    enum { MOST = MOST_FACTOR / 2 };
    const int64_t s = p->s, step = p->m * s;
    const int half = r / 2;
    struct c128 root[MOST][MOST], w[MOST_FACTOR], even[MOST], odd[MOST];
    for (int u = 1; u <= half; u++)
        for (int t = 1; t <= half; t++)
            root[u - 1][t - 1] = p->roots[u * t % r * step];
    for (int64_t i = 0; i < p->m; i++) {
        const struct c128 *x = p->x + i * s;
        struct c128 *y = p->y + r * i * s;
        for (int u = 1; u < r; u++)
            w[u] = p->roots[i * u * s];
        for (int64_t k = 0; k < s; k++) {
            struct c128 sum = x[k];
            for (int t = 0; t < half; t++) {
                const struct c128 a = x[k + (t + 1) * step], b = x[k + (r - 1 - t) * step];
                even[t] = plus(a, b);
                odd[t] = minus(a, b);
                sum = plus(sum, even[t]);
            }
            y[k] = sum;
            for (int u = 1; u <= half; u++) {
                struct c128 a = x[k], b = {0, 0}; /* the results are a + i b and a - i b */
                for (int t = 0; t < half; t++) {
                    const struct c128 z = root[u - 1][t];
                    a.re += even[t].re * z.re;
                    a.im += even[t].im * z.re;
                    b.re += odd[t].re * z.im;
                    b.im += odd[t].im * z.im;
                }
                y[k + u * s] = times((struct c128){a.re - b.im, a.im + b.re}, w[u]);
                y[k + (r - u) * s] = times((struct c128){a.re + b.im, a.im - b.re}, w[r - u]);
            }
        }
    }
}

KERN_CLONES static void pass_3(const struct pass *p) { pass_odd(p, 3); }
KERN_CLONES static void pass_5(const struct pass *p) { pass_odd(p, 5); }
KERN_CLONES static void pass_7(const struct pass *p) { pass_odd(p, 7); }
KERN_CLONES static void pass_any(const struct pass *p, int r) { pass_odd(p, r); }

static void run_pass(const struct pass *p, int r)
{
    switch (r) {
    case 2: pass_2(p); break;
    case 3: pass_3(p); break;
    case 4: pass_4(p); break;
    case 5: pass_5(p); break;
    case 7: pass_7(p); break;
    default: pass_any(p, r);
    }
}

/* Transforms x, using y, of the same size, as scratch; returns which of the two has the result. */
static struct c128 *by_factors(const struct fft_plan *f, struct c128 *x, struct c128 *y)
{
    struct pass p = {.m = f->m, .s = 1, .roots = f->roots, .sign = f->back ? -1 : 1};
    for (int k = 0; k < f->factor_count; k++) {
        const int r = f->factors[k];
        struct c128 *done = y;
        p.m /= r;
        p.x = x;
        p.y = y;
        run_pass(&p, r);
        p.s *= r;
        y = x;
        x = done;
    }
    return x;
}

/* The same as a convolution with the chirp exp(-pi i k^2 / n); x and y: m elements. */
static struct c128 *by_chirp(const struct fft_plan *f, struct c128 *x, struct c128 *y)
{
    for (int64_t k = 0; k < f->m; k++)
        x[k] = k < f->n ? times(x[k], f->chirp[k]) : (struct c128){0, 0};
    struct c128 *z = by_factors(f, x, y);
    for (int64_t k = 0; k < f->m; k++) /* conjugated before and after, it serves as the inverse */
        z[k] = conjugate(times(z[k], f->filter[k]));
    z = by_factors(f, z, z == x ? y : x);
    for (int64_t k = 0; k < f->n; k++)
        z[k] = times(conjugate(z[k]), f->chirp[k]);
    return z;
}

/* by_chirp() with transforms by FFTW. Numbers of either precision are pairs of floats: tables are
 * the filter, m of them, and the chirp, n. */
#define FFTW_CHIRP(REAL, NAME)                                                                     \
    /* out = x * w, of which x may be conjugated before, and the product after. */                 \
    KERN_CLONES static void multiply_##NAME(REAL *out, const REAL *x, const REAL *w, int64_t n,    \
                                            bool before, bool after)                               \
    {                                                                                              \
        const REAL s = before ? -1 : 1, t = after ? -1 : 1;                                        \
        for (int64_t k = 0; k < n; k++) {                                                          \
            const REAL re = x[2 * k], im = s * x[2 * k + 1];                                       \
            out[2 * k] = re * w[2 * k] - im * w[2 * k + 1];                                        \
            out[2 * k + 1] = t * (re * w[2 * k + 1] + im * w[2 * k]);                              \
        }                                                                                          \
    }                                                                                              \
    /* All n complex numbers of a row, of which in may be half or the real parts. */               \
    static void widen_##NAME(const struct fft_plan *f, const REAL *in, REAL *x)                    \
    {                                                                                              \
        const int64_t n = f->n, have = f->type == KERN_IRFFT ? n / 2 + 1 : n;                      \
        for (int64_t k = 0; k < n && f->type == KERN_RFFT; k++) {                                  \
            x[2 * k] = in[k];                                                                      \
            x[2 * k + 1] = 0;                                                                      \
        }                                                                                          \
        if (f->type != KERN_RFFT)                                                                  \
            memcpy(x, in, (size_t)(2 * have) * sizeof(REAL));                                      \
        if (f->type == KERN_IRFFT) {                                                               \
            x[1] = 0;                                                                              \
            x[n % 2 == 0 ? n + 1 : 1] = 0;                                                         \
        }                                                                                          \
        for (int64_t k = have; k < n; k++) {                                                       \
            x[2 * k] = x[2 * (n - k)];                                                             \
            x[2 * k + 1] = -x[2 * (n - k) + 1];                                                    \
        }                                                                                          \
    }                                                                                              \
    static void by_chirp_##NAME(const struct fft_plan *f, const REAL *in, REAL *out, REAL *x)      \
    {                                                                                              \
        const int64_t n = f->n, m = f->m;                                                          \
        const REAL *filter = f->tables, *chirp = filter + 2 * m;                                   \
        REAL *y = x + round_up(2 * m, CHIRP_UNIT);                                                 \
        widen_##NAME(f, in, x);                                                                    \
        multiply_##NAME(x, x, chirp, n, false, false);                                             \
        memset(x + 2 * n, 0, (size_t)(2 * (m - n)) * sizeof *x);                                   \
        f->execute(f->made, x, y);                                                                 \
        multiply_##NAME(y, y, filter, m, false, true);                                             \
        f->execute(f->made, y, x);                                                                 \
        multiply_##NAME(x, x, chirp, n, true, false);                                              \
        if (f->type == KERN_RFFT) {                                                                \
            x[1] = 0;                                                                              \
            x[n % 2 == 0 ? n + 1 : 1] = 0;                                                         \
        }                                                                                          \
        for (int64_t k = 0; k < n && f->type == KERN_IRFFT; k++)                                   \
            out[k] = x[2 * k];                                                                     \
        if (f->type != KERN_IRFFT)                                                                 \
            memcpy(out, x, (size_t)(f->type == KERN_RFFT ? n / 2 + 1 : n) * 2 * sizeof(REAL));     \
    }                                                                                              \
    static void chirp_tables_##NAME(const struct fft_plan *f, REAL *x)                             \
    {                                                                                              \
        const int64_t n = f->n, m = f->m;                                                          \
        REAL *filter = f->tables, *chirp = filter + 2 * m, *y = x + round_up(2 * m, CHIRP_UNIT);   \
        memset(x, 0, (size_t)(2 * m) * sizeof *x);                                                 \
        for (int64_t k = 0, square = 0; k < n; square = (square + 2 * k + 1) % (2 * n), k++) {     \
            const struct c128 w = fft_root(f->back, square, 2 * n); /* square: k^2 mod 2 n */      \
            const int64_t mirror = (m - k) % m;                                                    \
            chirp[2 * k] = x[2 * k] = x[2 * mirror] = (REAL)w.re;                                  \
            chirp[2 * k + 1] = (REAL)w.im;                                                         \
            x[2 * k + 1] = x[2 * mirror + 1] = -(REAL)w.im;                                        \
        }                                                                                          \
        f->execute(f->made, x, y);                                                                 \
        for (int64_t k = 0; k < 2 * m; k++)                                                        \
            filter[k] = y[k] / (REAL)m;                                                            \
    }
enum { CHIRP_UNIT = 16 }; /* both rows begin at multiples of 64 bytes */
FFTW_CHIRP(float, f32)
FFTW_CHIRP(double, f64)

/* Half the spectrum of a real row is stored; the other half is its conjugate in reverse. The first
 * element is real, and so is the middle one of an even number. */
static void clear_real_places(struct c128 *x, int64_t n)
{
    x[0].im = 0;
    if (n % 2 == 0)
        x[n / 2].im = 0;
}

void fft_plan_run(const struct fft_plan *p, void *in, void *out, void *workspace)
{
    if (p->fftw) {
        if (!p->tables)
            p->execute(p->made, in, out);
        else if (p->wide)
            by_chirp_f64(p, in, out, workspace);
        else
            by_chirp_f32(p, in, out, workspace);
        return;
    }
    const int64_t n = p->n, have = p->type == KERN_IRFFT ? n / 2 + 1 : n;
    const double *reals = in;
    double *made = out;
    struct c128 *x = workspace;
    for (int64_t k = 0; k < have; k++)
        x[k] = p->type == KERN_RFFT ? (struct c128){reals[k], 0} : ((const struct c128 *)in)[k];
    if (p->type == KERN_IRFFT)
        clear_real_places(x, n);
    for (int64_t k = have; k < n; k++)
        x[k] = conjugate(x[n - k]);
    x = (p->chirp ? by_chirp : by_factors)(p, x, x + p->m);
    if (p->type == KERN_RFFT)
        clear_real_places(x, n);
    for (int64_t k = 0; k < n && p->type == KERN_IRFFT; k++)
        made[k] = x[k].re;
    if (p->type != KERN_IRFFT)
        memcpy(out, x, (size_t)(p->type == KERN_RFFT ? n / 2 + 1 : n) * sizeof *x);
}

/* ---- plans ---- */

/* Splits m into factors; false when it has a prime factor above MOST_FACTOR. */
static bool find_factors(struct fft_plan *f, int64_t m)
{
    static const uint8_t factors[] = {4, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31};
    f->m = m;
    f->factor_count = 0;
    for (size_t k = 0; k < COUNT_OF(factors); k++)
        for (; m % factors[k] == 0; m /= factors[k])
            f->factors[f->factor_count++] = factors[k];
    return m == 1;
}

static bool make_tables(struct fft_plan *f)
{
    const int64_t n = f->n, m = f->m;
    const bool chirp = m > n;
    f->roots = mem_alloc((size_t)(chirp ? 2 * m + n : m) * sizeof *f->roots);
    struct c128 *x = chirp && f->roots ? mem_zalloc((size_t)(2 * m) * sizeof *x) : NULL;
    for (int64_t k = 0; k < m && f->roots; k++)
        f->roots[k] = fft_root(f->back, k, m);
    if (!x)
        return f->roots && !chirp;
    f->filter = f->roots + m;
    f->chirp = f->filter + m;
    for (int64_t k = 0, square = 0; k < n; square = (square + 2 * k + 1) % (2 * n), k++) {
        f->chirp[k] = fft_root(f->back, square, 2 * n); /* square: k^2 modulo 2 n */
        x[k] = x[(m - k) % m] = conjugate(f->chirp[k]);
    }
    const struct c128 *y = by_factors(f, x, x + m);
    for (int64_t k = 0; k < m; k++)
        f->filter[k] = (struct c128){y[k].re / (double)m, y[k].im / (double)m};
    mem_free(x);
    return true;
}

/* A length from `least` on for which FFTW's estimated plans are fast. Those for 3 * 2^k and 2^k
 * take up to three times as long from 2^14 on. */
static int64_t fast_length(int64_t least)
{
    static const int16_t small[] = {256, 320, 384, 512}, large[] = {320, 350, 375, 640};
    const int16_t *units = least <= 12288 ? small : large;
    for (int64_t power = 1;; power *= 2)
        for (size_t k = 0; k < COUNT_OF(small); k++)
            if (units[k] * power >= least)
                return units[k] * power;
}

/* Whether FFTW should transform rows of this length by a convolution, and of which length. By
 * factors it takes time in proportion to their sum, half as much for real numbers. */
static bool fftw_prefers_chirp(enum kern_fft type, int64_t n, int64_t *m)
{
    enum { MOST = 64, MOST_OF_REAL = 100 };
    const bool real = type == KERN_RFFT || type == KERN_IRFFT;
    int64_t left = n, sum = 0;
    for (int64_t k = 2; k * k <= left; k++)
        for (; left % k == 0; left /= k)
            sum += k;
    sum += left > 1 ? left : 0;
    if (sum <= (real ? MOST_OF_REAL : MOST) || 4 * n > FFTW_LONGEST)
        return false;
    *m = fast_length(2 * n - 1);
    return true;
}

/* A plan of FFTW, and the tables of a convolution. */
static bool make_fftw(struct fft_plan *p)
{
    if (p->m == 0)
        return fftw_plan_make(p);
    struct fft_plan whole = {.type = KERN_FFT, .wide = p->wide, .n = p->m, .count = 1};
    const int64_t width = p->wide ? sizeof(double) : sizeof(float);
    whole.in = whole.out = p->workspace / 2;
    p->tables = mem_alloc((size_t)(2 * (p->m + p->n) * width));
    void *scratch = p->tables ? mem_alloc((size_t)p->workspace) : NULL;
    const bool ok = scratch && fftw_plan_make(&whole);
    p->made = whole.made;
    p->execute = whole.execute;
    p->destroy = whole.destroy;
    if (ok && p->wide)
        chirp_tables_f64(p, scratch);
    else if (ok)
        chirp_tables_f32(p, scratch);
    mem_free(scratch);
    return ok;
}

struct fft_plan fft_plan_of(enum kern_fft type, int64_t n, bool wide, bool fftw)
{
    enum { ALIGNMENT = 64, SHORT = 1024 };
    const int64_t real = wide ? sizeof(double) : sizeof(float), half = 2 * (n / 2 + 1);
    struct fft_plan p = {.type = type, .fftw = fftw, .wide = wide, .n = n, .count = 1};
    p.back = type == KERN_IFFT || type == KERN_IRFFT;
    p.in = round_up(real * (type == KERN_RFFT ? n : type == KERN_IRFFT ? half : 2 * n), ALIGNMENT);
    p.out = round_up(real * (type == KERN_IRFFT ? n : type == KERN_RFFT ? half : 2 * n), ALIGNMENT);
    if (fftw && fftw_prefers_chirp(type, n, &p.m)) {
        p.workspace = 2 * real * round_up(2 * p.m, CHIRP_UNIT);
        return p;
    }
    if (fftw) {
        p.count = 8 * n < SHORT ? SHORT / n : 1;
        return p;
    }
    if (!find_factors(&p, n))
        find_factors(&p, (int64_t)1 << (64 - __builtin_clzll((uint64_t)(2 * n - 2))));
    p.workspace = 2 * p.m * (int64_t)sizeof(struct c128);
    return p;
}

static void drop_plan(struct fft_plan *p)
{
    if (p->made)
        p->destroy(p->made);
    heap_free(p);
}

static void release_tracked_plan(struct tracked *t) { drop_plan(heap_block(t)); }

struct fft_plan *fft_plan_add(struct kern_fft_plans *plans, const struct fft_plan *like)
{
    struct oom_scope *owner = oom_scope_of(plans->generation);
    struct fft_plan *p = heap_alloc_for(sizeof *p, owner);
    *p = *like;
    heap_on_oom(p, release_tracked_plan);
    const bool ok = p->fftw ? make_fftw(p) : make_tables(p);
    if (!ok) {
        mem_free(p->roots);
        mem_free(p->tables);
        drop_plan(p);
        return NULL;
    }
    mem_pass(p->roots, owner);
    mem_pass(p->tables, owner);
    p->next = plans->first;
    plans->first = p;
    return p;
}

void fft_plans_trim(struct kern_fft_plans *plans, int count)
{
    struct fft_plan **list = &plans->first;
    for (; count > 0 && *list; count--)
        list = &(*list)->next;
    for (struct fft_plan *p = *list, *next; p; p = next) {
        next = p->next;
        mem_free(p->roots);
        mem_free(p->tables);
        drop_plan(p);
    }
    *list = NULL;
}

void kern_fft_plans_free(struct kern_fft_plans *plans) { fft_plans_trim(plans, 0); }
