/*
 * spec: Fft
 *
 * Fourier transforms of arrays (grammar/values.md 13.7), in double, rounded at the end, dimension
 * by dimension: eight rows or columns at a time (fft_lanes.c), or row by row (fft_row.c) if there
 * are few elements or a length has a large prime factor. A team shares the rows; the bits don't
 * depend on its size.
 */
#include "kern/fft_lanes.h"
#include "kern/nest.h"

enum {
    COLUMNS = 16,   /* columns gathered at a time, so that each cache line is read once */
    SHARE = 1 << 14 /* elements copied in one part of a task */
};

/* Converts packed numbers to double and back. */
KERN_CLONES static void widen(const float *x, int64_t n, double *to)
{
    for (int64_t k = 0; k < n; k++)
        to[k] = (double)x[k];
}

KERN_CLONES static void narrow(const double *x, int64_t n, float *to)
{
    for (int64_t k = 0; k < n; k++)
        to[k] = (float)(x[k] + 0);
}

static void load_row(const struct view *v, const char *at, int64_t n, struct c128 *x)
{
    int64_t step = v->strides[v->rank - 1];
    if (v->dtype == DT_C64 && step == (int64_t)sizeof(struct c64)) {
        widen((const float *)(const void *)at, 2 * n, &x->re);
    } else if (v->dtype == DT_C64) {
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

/* Stores a row. Adding 0 makes +0 of -0, since the sign of a zero depends on the way it was
 * computed. */
static void store_row(const struct view *v, char *at, int64_t n, const struct c128 *x)
{
    int64_t step = v->strides[v->rank - 1];
    if (v->dtype == DT_C64 && step == (int64_t)sizeof(struct c64)) {
        narrow(&x->re, 2 * n, (float *)(void *)at);
    } else if (v->dtype == DT_C64) {
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
    int64_t used; /* elements of the last dimension that other dimensions' transforms need */
    int64_t count;
    struct c128 *x;
    struct team *team; /* NULL when there are few elements */
};

/* ---- row by row ---- */

struct row_task {
    struct work *w;
    struct fft_rows rows;
    int64_t inner, blocks; /* distance of a row's elements, in elements; blocks of columns in a line
                              of the last dimension */
    int64_t room;
    struct c128 *rooms;
};

static void row_part(void *context, int64_t row, int member)
{
    const struct row_task *t = context;
    fft_row(&t->rows, t->w->x + row * t->rows.n, t->rooms + member * t->room);
}

/* Transforms up to COLUMNS columns in a copy. */
static void column_part(void *context, int64_t part, int member)
{
    const struct row_task *t = context;
    const int64_t n = t->rows.n, line = t->w->dims[t->w->rank - 1], lines = t->inner / line,
                  inner = t->inner;
    const int64_t block = part % t->blocks, start = part / t->blocks % lines,
                  first = part / t->blocks / lines;
    const int64_t left = t->w->used - block * COLUMNS, count = left < COLUMNS ? left : COLUMNS;
    struct c128 *x = t->w->x + first * n * inner + start * line + block * COLUMNS,
                *room = t->rooms + member * t->room;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < count; k++)
            room[k * n + i] = x[i * inner + k];
    for (int64_t k = 0; k < count; k++)
        fft_row(&t->rows, room + k * n, room + COLUMNS * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < count; k++)
            x[i * inner + k] = room[k * n + i];
}

static bool by_rows(struct work *w, int64_t inner, int64_t n, enum kern_fft type)
{
    struct row_task t = {.w = w, .inner = inner, .blocks = ratio_up(w->used, COLUMNS)};
    bool ok = fft_rows_make(&t.rows, n, type, w->count);
    if (ok) {
        t.room = fft_row_room(&t.rows) + (inner > 1 ? COLUMNS * n : 0);
        t.rooms = mem_alloc((size_t)(t.room * team_size(w->team)) * sizeof *t.rooms);
        ok = t.rooms != NULL;
    }
    if (ok && inner == 1)
        team_run(w->team, w->count / n, row_part, &t);
    else if (ok)
        team_run(w->team, w->count / n / w->dims[w->rank - 1] * t.blocks, column_part, &t);
    fft_rows_free(&t.rows);
    mem_free(t.rooms);
    return ok;
}

/* ---- by lanes ---- */

struct mend_task {
    struct c128 *x;
    int64_t n;
    enum kern_fft type;
};

static void mend_row(void *context, int64_t row, int member)
{
    const struct mend_task *t = context;
    if (t->type == KERN_RFFT)
        fft_clear_real_places(t->x + row * t->n, t->n);
    else
        fft_extend(t->x + row * t->n, t->n);
}

/* For irfft, completes half spectra before they are transformed; for rfft, makes the elements real
 * that are so by symmetry. */
static void mend_rows(struct work *w, int64_t n, enum kern_fft type)
{
    struct mend_task t = {w->x, n, type};
    team_run(w->team, w->count / n, mend_row, &t);
}

static bool by_lanes(struct work *w, int64_t inner, int64_t n, enum kern_fft type)
{
    const int64_t line = w->dims[w->rank - 1];
    struct fft_sequences s = {
        .x = w->x, .n = n, .step = inner, .places = w->count / n, .next = n, .sets = 1};
    struct c128 *spare = NULL;
    bool moved;
    if (inner > 1) { /* by columns: a set for each line of the last dimension */
        s.places = w->used;
        s.next = 1;
        s.sets = inner / line;
        s.set_step = line;
    }
    if (fft_lanes_need_spare(&s)) {
        spare = mem_alloc((size_t)w->count * sizeof *spare);
        if (!spare)
            return false;
    }
    if (type == KERN_IRFFT)
        mend_rows(w, n, type);
    bool ok = true, back = type == KERN_IFFT || type == KERN_IRFFT;
    for (int64_t first = 0; ok && first<w->count; first += inner> 1 ? n * inner : w->count) {
        s.x = w->x + first;
        ok = fft_lanes(w->team, &s, back, spare, &moved);
    }
    if (ok && moved) {
        struct c128 *done = spare;
        spare = w->x;
        w->x = done;
    }
    mem_free(spare);
    if (ok && type == KERN_RFFT)
        mend_rows(w, n, type);
    return ok;
}

/* Transforms along one dimension. */
static bool along(struct work *w, int d, int64_t n, enum kern_fft type)
{
    int64_t inner = 1;
    for (int k = d + 1; k < w->rank; k++)
        inner *= w->dims[k];
    return w->count >= FFT_FEW && fft_has_factors(n) ? by_lanes(w, inner, n, type)
                                                     : by_rows(w, inner, n, type);
}

static bool run(struct work *w, enum kern_fft type, int count, const int64_t *lengths)
{
    int first = w->rank - count, last = w->rank - 1;
    bool back = type == KERN_IFFT || type == KERN_IRFFT;
    if (!back && !along(w, last, lengths[count - 1], type))
        return false;
    for (int k = count - 2; k >= 0; k--) {
        int turn = back ? count - 2 - k : k; /* backwards, the first dimension comes first */
        if (!along(w, first + turn, lengths[turn], back ? KERN_IFFT : KERN_FFT))
            return false;
    }
    return !back || along(w, last, lengths[count - 1], type);
}

/* ---- operand and result ---- */

struct copy_task {
    const struct view *v;
    struct work *w;
    bool in;
    int64_t dims[VIEW_MAX_RANK]; /* of what is copied */
    int64_t chunks;              /* of a row */
};

static void copy_part(void *context, int64_t part, int member)
{
    const struct copy_task *t = context;
    const int last = t->v->rank - 1;
    const int64_t from = part % t->chunks * SHARE, left = t->dims[last] - from,
                  n = left < SHARE ? left : SHARE;
    int64_t index[VIEW_MAX_RANK], at = 0, row = part / t->chunks;
    for (int d = last - 1; d >= 0; d--) {
        index[d] = row % t->dims[d];
        row /= t->dims[d];
    }
    index[last] = from;
    for (int d = 0; d <= last; d++)
        at = at * t->w->dims[d] + index[d];
    if (t->in)
        load_row(t->v, view_at(t->v, index), n, t->w->x + at);
    else
        store_row(t->v, view_at(t->v, index), n, t->w->x + at);
}

static void copy(const struct view *v, struct work *w, bool in)
{
    struct copy_task t = {.v = v, .w = w, .in = in};
    int64_t rows = 1;
    for (int d = 0; d < v->rank; d++) {
        t.dims[d] = v->dims[d] < w->dims[d] ? v->dims[d] : w->dims[d];
        rows *= d < v->rank - 1 ? t.dims[d] : 1;
    }
    t.chunks = ratio_up(t.dims[v->rank - 1], SHARE);
    team_run(w->team, rows * t.chunks, copy_part, &t);
}

bool kern_fft(struct team *team, const struct view *out, const struct view *x, enum kern_fft type,
              int count, const int64_t *lengths)
{
    struct work w = {.rank = x->rank, .count = 1};
    bool filled = true; /* x fills the whole storage */
    int64_t bytes;
    if (view_elements(out) == 0 || view_elements(x) == 0)
        return true;
    for (int d = 0; d < x->rank; d++) {
        w.dims[d] = d >= x->rank - count ? lengths[d - (x->rank - count)] : x->dims[d];
        filled = filled && x->dims[d] >= w.dims[d];
        if (!mul_i64(w.count, w.dims[d], &w.count))
            return false;
    }
    w.team = w.count >= FFT_FEW ? team : NULL;
    w.used = w.dims[w.rank - 1];
    if (type == KERN_RFFT || type == KERN_IRFFT)
        w.used = w.used / 2 + 1;
    if (!mul_i64(w.count, (int64_t)sizeof *w.x, &bytes))
        return false;
    w.x = filled ? mem_alloc((size_t)bytes) : mem_zalloc((size_t)bytes);
    if (!w.x)
        return false;
    copy(x, &w, true);
    bool ok = run(&w, type, count, lengths);
    if (ok)
        copy(out, &w, false);
    mem_free(w.x);
    return ok;
}
