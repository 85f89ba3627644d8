/*
 * spec: Fft
 *
 * Fourier transforms (hlo-values 13.7), in double, rounded at the end: by halves where the length is
 * a power of two, term by term where it is short, else as a convolution (Bluestein), which has such a
 * length. FFTW does it faster, where it is there and the array is large enough.
 */
#include "kern/fftw.h"

#include <math.h>

/* ---- one row ---- */

enum { SHORT = 32 }; /* lengths up to here cost no more than their convolution would */

struct plan {
    enum kern_fft type;
    struct fftw_rows fftw; /* where it has a plan, that does it all, with `work` */
    int64_t n, m;        /* length; power of two that the work is done in, n of a short one */
    struct c128 *roots;  /* exp(-2 pi i k / m), k < m/2; all of them for a short one */
    struct c128 *chirp;  /* exp(-pi i k^2 / n), k < n; NULL if not needed */
    struct c128 *filter; /* transform of the conjugate chirp, wrapped around */
    struct c128 *work;   /* m elements */
};

static struct c128 times(struct c128 a, struct c128 b)
{
    return (struct c128){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* From the angle in the first eighth of the circle, so that roots that mirror each other are the same
 * numbers and those on the axes are exact. */
struct c128 kern_root_of_unity(int64_t k, int64_t n)
{
    __int128 quarter = n, at = (__int128)4 * (k % n); /* quarter: of the circle, which has 4 n steps */
    bool below = at > 2 * quarter;
    at = below ? 4 * quarter - at : at;
    bool left = at > quarter;
    at = left ? 2 * quarter - at : at;
    bool steep = 2 * at > quarter;
    at = steep ? quarter - at : at;
    double angle = M_PI / 2 * (double)at / (double)n;
    double near = 2 * at == quarter ? M_SQRT1_2 : cos(angle), far = 2 * at == quarter ? M_SQRT1_2 : sin(angle);
    double x = steep ? far : near, y = steep ? near : far;
    return (struct c128){left ? 0 - x : x, below ? y : 0 - y};
}

static void reverse_bits(struct c128 *x, int64_t m)
{
    for (int64_t i = 1, j = 0; i < m; i++) {
        int64_t bit = m >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j |= bit;
        if (i < j) {
            struct c128 t = x[i];
            x[i] = x[j];
            x[j] = t;
        }
    }
}

static void transform_power_of_two(struct c128 *x, int64_t m, const struct c128 *roots)
{
    reverse_bits(x, m);
    for (int64_t half = 1; half < m; half *= 2)
        for (int64_t first = 0; first < m; first += 2 * half)
            for (int64_t k = 0; k < half; k++) {
                struct c128 a = x[first + k], b = times(x[first + half + k], roots[k * (m / 2 / half)]);
                x[first + k] = (struct c128){a.re + b.re, a.im + b.im};
                x[first + half + k] = (struct c128){a.re - b.re, a.im - b.im};
            }
}

static void plan_free(struct plan *p)
{
    fftw_done(&p->fftw);
    mem_free(p->roots);
}

static void plan_chirp(struct plan *p)
{
    for (int64_t k = 0; k < p->n; k++)
        p->chirp[k] = kern_root_of_unity((int64_t)((__int128)k * k % (2 * p->n)), 2 * p->n);
    for (int64_t k = 0; k < p->m; k++)
        p->filter[k] = (struct c128){0, 0};
    for (int64_t k = 0; k < p->n; k++) {
        struct c128 v = {p->chirp[k].re, -p->chirp[k].im};
        p->filter[k] = v;
        p->filter[(p->m - k) % p->m] = v;
    }
    transform_power_of_two(p->filter, p->m, p->roots);
}

/* Fewer elements than this in all are done before FFTW has made its plan. */
enum { FEW = 4096 };

static bool plan_by_fftw(struct plan *p, int64_t all)
{
    if (all >= FEW)
        p->fftw = fftw_make(p->n, p->type);
    p->work = p->roots = p->fftw.plan ? mem_alloc((size_t)p->n * sizeof *p->roots) : NULL;
    if (!p->roots)
        fftw_done(&p->fftw);
    return p->fftw.plan != NULL;
}

/* For rows of an array of so many elements. */
static bool plan_make(struct plan *p, int64_t n, enum kern_fft type, int64_t all)
{
    *p = (struct plan){.type = type, .n = n, .m = 1};
    if (plan_by_fftw(p, all))
        return true;
    bool power = (n & (n - 1)) == 0, chirp = !power && n > SHORT;
    while (p->m < (power ? n : 2 * n - 1))
        p->m *= 2;
    if (!power && !chirp)
        p->m = n;
    int64_t roots = power || chirp ? p->m / 2 + 1 : n, count = roots + p->m + (chirp ? n + p->m : 0), bytes;
    if (!mul_i64(count, (int64_t)sizeof(struct c128), &bytes))
        return false;
    p->roots = mem_alloc((size_t)bytes);
    if (!p->roots)
        return false;
    p->work = p->roots + roots;
    for (int64_t k = 0; k < roots; k++)
        p->roots[k] = kern_root_of_unity(k, p->m);
    if (chirp) {
        p->chirp = p->work + p->m;
        p->filter = p->chirp + n;
        plan_chirp(p);
    }
    return true;
}

static void transform_short(struct plan *p, struct c128 *x)
{
    for (int64_t k = 0; k < p->n; k++) {
        struct c128 sum = {0, 0};
        for (int64_t i = 0; i < p->n; i++) {
            struct c128 v = times(x[i], p->roots[i * k % p->n]);
            sum = (struct c128){sum.re + v.re, sum.im + v.im};
        }
        p->work[k] = sum;
    }
    memcpy(x, p->work, (size_t)p->n * sizeof *x);
}

static void transform_by_chirp(struct plan *p, struct c128 *x)
{
    for (int64_t k = 0; k < p->m; k++)
        p->work[k] = k < p->n ? times(x[k], p->chirp[k]) : (struct c128){0, 0};
    transform_power_of_two(p->work, p->m, p->roots);
    for (int64_t k = 0; k < p->m; k++) { /* conjugated, so that the same transform goes back */
        struct c128 v = times(p->work[k], p->filter[k]);
        p->work[k] = (struct c128){v.re, -v.im};
    }
    transform_power_of_two(p->work, p->m, p->roots);
    for (int64_t k = 0; k < p->n; k++) {
        struct c128 v = {p->work[k].re / (double)p->m, -p->work[k].im / (double)p->m};
        x[k] = times(v, p->chirp[k]);
    }
}

static void transform(struct plan *p, struct c128 *x)
{
    if (p->chirp)
        transform_by_chirp(p, x);
    else if (p->m == p->n && (p->n & (p->n - 1)) != 0)
        transform_short(p, x);
    else
        transform_power_of_two(x, p->n, p->roots);
}

static void transform_back(struct plan *p, struct c128 *x)
{
    for (int64_t k = 0; k < p->n; k++)
        x[k].im = 0 - x[k].im; /* a zero stays +0 */
    transform(p, x);
    for (int64_t k = 0; k < p->n; k++)
        x[k] = (struct c128){x[k].re / (double)p->n, (0 - x[k].im) / (double)p->n};
}

/* Of a real row the transform's first element and, where there is one, the middle one are real. */
static void clear_real_places(struct c128 *x, int64_t n)
{
    x[0].im = 0;
    if (n % 2 == 0)
        x[n / 2].im = 0;
}

/* The other half of a row: conjugates in reverse. */
static void extend(struct c128 *x, int64_t n)
{
    clear_real_places(x, n);
    for (int64_t k = 1; k < n - n / 2; k++)
        x[n - k] = (struct c128){x[k].re, -x[k].im};
}

static void by_fftw(const struct plan *p, struct c128 *x)
{
    double *real = (double *)p->work, scale = (double)p->n;
    bool back = p->type == KERN_IFFT || p->type == KERN_IRFFT;
    for (int64_t k = 0; k < p->n && p->type == KERN_RFFT; k++)
        real[k] = x[k].re;
    fftw_row(&p->fftw, p->type == KERN_RFFT ? (void *)real : x, p->type == KERN_IRFFT ? (void *)real : x);
    if (p->type == KERN_RFFT)
        clear_real_places(x, p->n);
    for (int64_t k = 0; k < p->n && back; k++)
        x[k] = p->type == KERN_IRFFT ? (struct c128){real[k] / scale, 0} : (struct c128){x[k].re / scale, x[k].im / scale};
}

/* A row in place, in room for n elements, of which a half spectrum takes the first n / 2 + 1. */
static void row(struct plan *p, struct c128 *x)
{
    if (p->fftw.plan) {
        by_fftw(p, x);
        return;
    }
    if (p->type == KERN_IRFFT)
        extend(x, p->n);
    if (p->type == KERN_FFT || p->type == KERN_RFFT)
        transform(p, x);
    else
        transform_back(p, x);
    if (p->type == KERN_RFFT)
        clear_real_places(x, p->n);
}

/* ---- arrays: dense, in c128 ---- */

static void load_row(const struct view *v, const char *at, int64_t n, struct c128 *x)
{
    int64_t step = v->strides[v->rank - 1];
    if (v->dtype == DT_C64) {
        for (int64_t k = 0; k < n; k++) {
            struct c64 s;
            memcpy(&s, at + k * step, sizeof s);
            x[k] = (struct c128){(double)s.re, (double)s.im};
        }
    } else if (v->dtype == DT_C128) {
        for (int64_t k = 0; k < n; k++)
            memcpy(&x[k], at + k * step, sizeof *x);
    } else if (v->dtype == DT_F32) {
        for (int64_t k = 0; k < n; k++) {
            float s;
            memcpy(&s, at + k * step, sizeof s);
            x[k] = (struct c128){(double)s, 0};
        }
    } else {
        for (int64_t k = 0; k < n; k++)
            x[k] = (struct c128){float_load(v->dtype, at + k * step), 0};
    }
}

/* Adding 0 makes +0 of a zero with a sign, which would depend on who computed it. */
static void store_row(const struct view *v, char *at, int64_t n, const struct c128 *x)
{
    int64_t step = v->strides[v->rank - 1];
    if (v->dtype == DT_C64) {
        for (int64_t k = 0; k < n; k++) {
            struct c64 s = {(float)(x[k].re + 0), (float)(x[k].im + 0)};
            memcpy(at + k * step, &s, sizeof s);
        }
    } else if (v->dtype == DT_C128) {
        for (int64_t k = 0; k < n; k++) {
            struct c128 s = {x[k].re + 0, x[k].im + 0};
            memcpy(at + k * step, &s, sizeof s);
        }
    } else if (v->dtype == DT_F32) {
        for (int64_t k = 0; k < n; k++) {
            float s = (float)(x[k].re + 0);
            memcpy(at + k * step, &s, sizeof s);
        }
    } else {
        for (int64_t k = 0; k < n; k++)
            float_store(v->dtype, at + k * step, x[k].re + 0);
    }
}

struct work {
    int rank;
    int64_t dims[VIEW_MAX_RANK]; /* the last dimension at its full length */
    int64_t used;                /* elements of the last dimension that matter outside of its own transform */
    int64_t count;
    struct c128 *x;
};

enum { COLUMNS = 16 }; /* that are gathered at a time: each cache line is then read once */

/* Transforms columns that are `inner` elements apart from one element to the next. */
static void columns(struct plan *p, struct c128 *x, int64_t inner, int64_t count, struct c128 *room)
{
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t k = 0; k < count; k++)
            room[k * p->n + i] = x[i * inner + k];
    for (int64_t k = 0; k < count; k++)
        row(p, room + k * p->n);
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t k = 0; k < count; k++)
            x[i * inner + k] = room[k * p->n + i];
}

static void all_columns(struct work *w, struct plan *p, int64_t inner, struct c128 *room)
{
    int64_t line = w->dims[w->rank - 1];
    for (int64_t first = 0; first < w->count; first += p->n * inner)
        for (int64_t start = 0; start < inner; start += line)
            for (int64_t k = 0; k < w->used; k += COLUMNS)
                columns(p, w->x + first + start + k, inner, w->used - k < COLUMNS ? w->used - k : COLUMNS, room);
}

/* Transforms along one dimension. */
static bool along(struct work *w, int d, int64_t n, enum kern_fft type)
{
    struct plan p;
    int64_t inner = 1;
    for (int k = d + 1; k < w->rank; k++)
        inner *= w->dims[k];
    struct c128 *room = inner > 1 ? mem_alloc((size_t)n * COLUMNS * sizeof *room) : NULL;
    if ((inner > 1 && !room) || !plan_make(&p, n, type, w->count)) {
        mem_free(room);
        return false;
    }
    for (int64_t first = 0; first < w->count && inner == 1; first += n)
        row(&p, w->x + first);
    if (inner > 1)
        all_columns(w, &p, inner, room);
    plan_free(&p);
    mem_free(room);
    return true;
}

static bool run(struct work *w, enum kern_fft type, int count, const int64_t *lengths)
{
    int first = w->rank - count, last = w->rank - 1;
    bool back = type == KERN_IFFT || type == KERN_IRFFT;
    if (!back && !along(w, last, lengths[count - 1], type))
        return false;
    for (int k = count - 2; k >= 0; k--) {
        int turn = back ? count - 2 - k : k; /* back: the first dimension first */
        if (!along(w, first + turn, lengths[turn], back ? KERN_IFFT : KERN_FFT))
            return false;
    }
    return !back || along(w, last, lengths[count - 1], type);
}

static void copy(const struct view *v, struct work *w, bool in)
{
    int64_t index[VIEW_MAX_RANK] = {0}, dims[VIEW_MAX_RANK], at = 0;
    int last = v->rank - 1;
    for (int d = 0; d < v->rank; d++)
        dims[d] = v->dims[d] < w->dims[d] ? v->dims[d] : w->dims[d];
    do {
        at = 0;
        for (int d = 0; d < w->rank; d++)
            at = at * w->dims[d] + index[d];
        if (in)
            load_row(v, view_at(v, index), dims[last], w->x + at);
        else
            store_row(v, view_at(v, index), dims[last], w->x + at);
    } while (index_next(last, dims, index));
}

bool kern_fft(const struct view *out, const struct view *x, enum kern_fft type, int count,
              const int64_t *lengths)
{
    struct work w = {.rank = x->rank, .count = 1};
    int64_t bytes;
    if (view_elements(out) == 0 || view_elements(x) == 0)
        return true;
    for (int d = 0; d < x->rank; d++) {
        w.dims[d] = d >= x->rank - count ? lengths[d - (x->rank - count)] : x->dims[d];
        if (!mul_i64(w.count, w.dims[d], &w.count))
            return false;
    }
    w.used = w.dims[w.rank - 1];
    if (type == KERN_RFFT || type == KERN_IRFFT)
        w.used = w.used / 2 + 1;
    if (!mul_i64(w.count, (int64_t)sizeof *w.x, &bytes))
        return false;
    w.x = mem_zalloc((size_t)bytes);
    if (!w.x)
        return false;
    copy(x, &w, true);
    bool ok = run(&w, type, count, lengths);
    if (ok)
        copy(out, &w, false);
    mem_free(w.x);
    return ok;
}
