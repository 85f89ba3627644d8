/*
 * spec: Fft
 *
 * Fourier transforms of arrays (hlo-values 13.7), in double, rounded at the end: dimension by dimension, rows as
 * they lie, columns in blocks that are copied aside.
 */
#include "kern/fft_row.h"

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
static void columns(struct fft_rows *p, struct c128 *x, int64_t inner, int64_t count, struct c128 *room)
{
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t k = 0; k < count; k++)
            room[k * p->n + i] = x[i * inner + k];
    for (int64_t k = 0; k < count; k++)
        fft_row(p, room + k * p->n);
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t k = 0; k < count; k++)
            x[i * inner + k] = room[k * p->n + i];
}

static void all_columns(struct work *w, struct fft_rows *p, int64_t inner, struct c128 *room)
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
    struct fft_rows p;
    int64_t inner = 1;
    for (int k = d + 1; k < w->rank; k++)
        inner *= w->dims[k];
    struct c128 *room = inner > 1 ? mem_alloc((size_t)n * COLUMNS * sizeof *room) : NULL;
    if ((inner > 1 && !room) || !fft_rows_make(&p, n, type, w->count)) {
        mem_free(room);
        return false;
    }
    for (int64_t first = 0; first < w->count && inner == 1; first += n)
        fft_row(&p, w->x + first);
    if (inner > 1)
        all_columns(w, &p, inner, room);
    fft_rows_free(&p);
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

bool kern_fft(struct team *team, const struct view *out, const struct view *x, enum kern_fft type, int count,
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
