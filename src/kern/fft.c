/*
 * spec: Fft
 *
 * Fourier transforms of arrays, dimension by dimension. Rows of a dimension are copied to a buffer,
 * a few at a time, transformed there (fft_plan.h) and copied to the result; columns likewise,
 * several adjacent ones at a time, so that each cache line is read once. The threads of a thread
 * pool share these tiles, which do not depend on their number.
 *
 * A row that is too long for the caches is taken as a matrix of n1 rows and n2 columns (the
 * four-step algorithm): all columns are transformed, the results multiplied by twiddle factors,
 * then all rows transformed; the result is that matrix column by column.
 */
#include "base/oom.h"
#include "kern/fft_plan.h"
#include "kern/nest.h"
#include "kern/plain/plain.h"

#include <math.h>

enum {
    FEW = 4096,     /* elements in all; fewer are not worth starting a thread pool or FFTW */
    COLUMNS = 8,    /* adjacent ones in a tile: a cache line of c64 */
    SHORT = 2048,   /* elements of several dense rows in a tile */
    LONG = 1 << 17, /* longer rows are split */
    MAX_PLANS = 32  /* in a list */
};

struct pass {
    const struct fft_plan *plan;
    int64_t tile; /* rows of a tile */
};

struct transform {
    struct thread_pool *workers; /* NULL when there are few elements */
    enum kern_fft type;
    bool back, fftw, wide; /* inverse; by FFTW; in double */
    int count, pass_count;
    struct pass passes[4]; /* of each dimension; then of the columns of a split row */
    int64_t n1;            /* rows of the matrix of a split row; 1: not split */
    double scale;          /* by which results are divided */
    int64_t workspace;     /* bytes of each thread */
    int64_t between;       /* bytes of the array between two dimensions; 0: it is the result */
    int64_t matrix;        /* bytes of that matrix */
    char *memory;          /* the workspaces, then the array and the matrix */
};

/* ---- plans and memory ---- */

static enum dtype complex_type(const struct transform *t) { return t->wide ? DT_C128 : DT_C64; }

static int64_t memory_of(const struct transform *t)
{
    return t->workspace * thread_pool_size(t->workers) + t->between + t->matrix;
}

/* The largest divisor of n up to its square root; 1 if it is less than COLUMNS. */
static int64_t middle_divisor(int64_t n)
{
    int64_t best = 1;
    for (int64_t k = COLUMNS; k * k <= n; k++)
        best = n % k == 0 ? k : best;
    return best;
}

/* Adds a pass over rows of length n, `rows` of which are adjacent. Its plan is found in the list or
 * added to it; `plans` NULL: only the sizes are set. False: out of memory. */
static bool add_pass(struct transform *t, struct kern_fft_plans *plans, enum kern_fft type,
                     int64_t n, int64_t rows)
{
    const struct fft_plan like = fft_plan_of(type, n, t->wide, t->fftw);
    struct pass *pass = &t->passes[t->pass_count++];
    *pass = (struct pass){.tile = round_up(rows < COLUMNS ? rows : COLUMNS, like.count)};
    const int64_t bytes = pass->tile * (like.in + like.out) + like.workspace;
    t->workspace = bytes > t->workspace ? bytes : t->workspace;
    if (!plans)
        return true;
    for (const struct fft_plan *p = plans->first; p && !pass->plan; p = p->next)
        if (p->type == type && p->n == n && p->wide == t->wide && p->fftw == t->fftw)
            pass->plan = p;
    return pass->plan || (pass->plan = fft_plan_add(plans, &like));
}

/* Sets all members except `memory`; false: out of memory. */
static bool prepare(struct transform *t, struct kern_fft_plans *plans, const struct view *out,
                    const struct view *x, bool fast)
{
    const bool from_real = t->type == KERN_RFFT, to_real = t->type == KERN_IRFFT;
    const struct view *whole = from_real ? x : out;
    const int64_t *lengths = whole->dims + whole->rank - t->count, last = lengths[t->count - 1];
    const int64_t elements = view_elements(whole), rows = elements / last;
    const bool many = elements >= FEW, single = dtype_component(out->dtype) == DT_F32;
    t->workers = many ? t->workers : NULL;
    t->back = to_real || t->type == KERN_IFFT;
    for (int k = 0; k < t->count; k++)
        fast = fast && lengths[k] <= FFTW_LONGEST;
    const char *fftw = fast && many ? fftw_name(!single) : "";
    t->fftw = fftw && *fftw;
    t->wide = !single || !t->fftw;
    t->n1 = last > LONG && !from_real && !to_real ? middle_divisor(last) : 1;
    t->scale = 1;
    t->workspace = t->pass_count = 0;
    const int64_t bytes = (int64_t)dtype_bytes(complex_type(t));
    const bool separate = t->count > 1 && out->dtype != complex_type(t);
    t->between = separate ? view_elements(to_real ? x : out) * bytes : 0;
    t->matrix = t->n1 > 1 ? last * bytes : 0;
    bool ok = fftw != NULL;
    for (int k = 0; k < t->count && t->back; k++)
        t->scale *= (double)lengths[k];
    for (int k = 0; k < t->count - 1; k++)
        ok = ok && add_pass(t, plans, t->back ? KERN_IFFT : KERN_FFT, lengths[k], last);
    const int64_t n1 = t->n1, n2 = last / n1;
    if (n1 > 1)
        return ok && add_pass(t, plans, t->type, n2, n1) && add_pass(t, plans, t->type, n1, n2);
    const bool few = view_is_dense(out) && view_is_dense(x) && SHORT / last < rows;
    return ok && add_pass(t, plans, t->type, last, few ? SHORT / last + 1 : rows);
}

/* ---- rows ---- */

struct side { /* of the result or of the operand */
    enum dtype type;
    int64_t n, step; /* of a row */
    char *at;        /* the first one */
};

struct rows {
    const struct transform *t;
    const struct pass *pass;
    struct side to, from;
    struct nest nest; /* where rows begin in the two */
    int64_t blocks;   /* tiles in the last dimension of the nest */
    bool last;        /* the result is scaled */
    bool twiddled;    /* element i of row j is multiplied by root i * j of unity */
};

/* Divides by the scale. Adding 0 makes +0 of -0; the signs of zeros and NaNs depend on how they
 * were computed. */
#define FINISH(REAL, NAME)                                                                         \
    KERN_CLONES static void NAME(void *row, int64_t n, REAL scale)                                 \
    {                                                                                              \
        REAL *x = row;                                                                             \
        for (int64_t k = 0; k < n && scale == 1; k++)                                              \
            x[k] += 0;                                                                             \
        for (int64_t k = 0; k < n && scale != 1; k++)                                              \
            x[k] = x[k] / scale + 0;                                                               \
        for (int64_t k = 0; k < n; k++)                                                            \
            x[k] = x[k] == x[k] ? x[k] : -(REAL)NAN;                                               \
    }
FINISH(float, finish_float)
FINISH(double, finish_double)

/* Multiplies n complex numbers by w * v[k]. */
#define TWIDDLE(REAL, NAME)                                                                        \
    KERN_CLONES static void NAME(REAL *x, int64_t n, struct c128 w, const struct c128 *v)          \
    {                                                                                              \
        for (int64_t k = 0; k < n; k++) {                                                          \
            const double re = w.re * v[k].re - w.im * v[k].im;                                     \
            const double im = w.re * v[k].im + w.im * v[k].re;                                     \
            const double x_re = (double)x[2 * k], x_im = (double)x[2 * k + 1];                     \
            x[2 * k] = (REAL)(x_re * re - x_im * im);                                              \
            x[2 * k + 1] = (REAL)(x_re * im + x_im * re);                                          \
        }                                                                                          \
    }
TWIDDLE(float, twiddle_float)
TWIDDLE(double, twiddle_double)

/* Blocks of elements are multiplied by the same powers of root j, times one root for each block.
 * Most powers are products of two others: more factors would add up their errors. */
static void twiddle(const struct rows *r, int64_t j, char *row)
{
    enum { BLOCK = 64, STEP = 8 };
    const int64_t n1 = r->t->n1, n = n1 * r->nest.dims[0];
    struct c128 powers[BLOCK];
    for (int k = 0; k < BLOCK; k++) {
        const struct c128 a = powers[k % STEP], b = powers[k - k % STEP];
        powers[k] = k < STEP || k % STEP == 0
                        ? fft_root(r->t->back, k * j, n)
                        : (struct c128){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    }
    for (int64_t i = 0; i < n1; i += BLOCK) {
        const int64_t count = n1 - i < BLOCK ? n1 - i : BLOCK;
        const struct c128 w = fft_root(r->t->back, i * j, n);
        if (r->t->wide)
            twiddle_double((double *)(void *)row + 2 * i, count, w, powers);
        else
            twiddle_float((float *)(void *)row + 2 * i, count, w, powers);
    }
}

static void view_rows(struct view *v, enum dtype type, int64_t rows, int64_t n, int64_t row_step,
                      int64_t step, char *data)
{
    v->dtype = type;
    v->rank = 2;
    v->dims[0] = rows;
    v->dims[1] = n;
    v->strides[0] = row_step;
    v->strides[1] = step;
    v->data = data;
}

/* Copies rows from the operand to a buffer (`in`), or from a buffer to the result; `pitch`: bytes
 * between rows in the buffer. */
static void copy_rows(const struct rows *r, bool in, int64_t rows, int64_t row_step, char *at,
                      int64_t pitch, char *buffer)
{
    const struct side *side = in ? &r->from : &r->to;
    enum dtype work = complex_type(r->t);
    struct view v, b;
    work = dtype_is_complex(side->type) ? work : dtype_component(work);
    view_rows(&v, side->type, rows, side->n, row_step, side->step, at);
    view_rows(&b, work, rows, side->n, pitch, (int64_t)dtype_bytes(work), buffer);
    kern_convert_view(NULL, in ? &b : &v, in ? &v : &b);
}

static void do_tile(void *context, int64_t part, int worker)
{
    const struct rows *r = context;
    const struct transform *t = r->t;
    const struct fft_plan *p = r->pass->plan;
    const int inner = r->nest.rank - 1;
    const int64_t tile = r->pass->tile, first = part % r->blocks * tile;
    const int64_t left = r->nest.dims[inner] - first, count = left < tile ? left : tile;
    const int64_t to_step = r->nest.strides[0][inner], from_step = r->nest.strides[1][inner];
    const int64_t numbers = r->to.n * (dtype_is_complex(r->to.type) ? 2 : 1);
    char *in = t->memory + worker * t->workspace, *out = in + tile * p->in;
    struct nest_walk w;
    nest_start_from(&w, &r->nest, inner, (char *const[]){r->to.at, r->from.at}, part / r->blocks);
    copy_rows(r, true, count, from_step, w.at[1] + first * from_step, p->in, in);
    memset(in + count * p->in, 0, (size_t)((round_up(count, p->count) - count) * p->in));
    for (int64_t k = 0; k < count; k += p->count)
        fft_plan_run(p, in + k * p->in, out + k * p->out, out + tile * p->out);
    for (int64_t k = 0; k < count && r->twiddled; k++)
        twiddle(r, first + k, out + k * p->out);
    for (int64_t k = 0; k < count && r->last && t->wide; k++)
        finish_double(out + k * p->out, numbers, t->scale);
    for (int64_t k = 0; k < count && r->last && !t->wide; k++)
        finish_float(out + k * p->out, numbers, (float)t->scale);
    copy_rows(r, false, count, to_step, w.at[0] + first * to_step, p->out, out);
}

/* ---- dimensions ---- */

/* The nest over the starts of the rows of dimension e. */
static void find_rows(struct nest *nest, int e, const struct view *out, const struct view *x)
{
    nest_init(nest, 2);
    for (int k = 0; k < out->rank; k++)
        if (k != e)
            nest_add(nest, out->dims[k], (int64_t[]){out->strides[k], x->strides[k]});
    nest_merge(nest);
    if (nest->rank == 0)
        nest_add(nest, 1, (int64_t[]){0, 0});
}

/* Transforms dimension e of x to out. */
static void do_rows(const struct transform *t, int pass, int e, const struct view *out,
                    const struct view *x, bool last)
{
    struct rows r;
    r.t = t;
    r.pass = &t->passes[pass];
    r.to = (struct side){out->dtype, out->dims[e], out->strides[e], out->data};
    r.from = (struct side){x->dtype, x->dims[e], x->strides[e], x->data};
    r.last = last;
    r.twiddled = pass == t->count;
    find_rows(&r.nest, e, out, x);
    const int64_t rows = r.nest.dims[r.nest.rank - 1];
    r.blocks = ratio_up(rows, r.pass->tile);
    thread_pool_run(t->workers, nest_points(&r.nest) / rows * r.blocks, do_tile, &r);
}

/* The same for the last dimension, if its rows are split. A row of the operand is the matrix row by
 * row, a row of the result column by column. */
static void do_split(const struct transform *t, const struct view *out, const struct view *x,
                     bool last)
{
    const int e = x->rank - 1;
    const int64_t n1 = t->n1, n2 = x->dims[e] / n1;
    const int64_t from_step = x->strides[e], to_step = out->strides[e];
    struct view matrix, from, to;
    struct nest nest;
    struct nest_walk w;
    view_dense(&matrix, complex_type(t), 2, (int64_t[]){n1, n2},
               t->memory + memory_of(t) - t->matrix);
    find_rows(&nest, e, out, x);
    nest_start(&w, &nest, nest.rank, (char *const[]){out->data, x->data});
    do {
        view_rows(&from, x->dtype, n1, n2, n2 * from_step, from_step, w.at[1]);
        view_rows(&to, out->dtype, n1, n2, to_step, n1 * to_step, w.at[0]);
        do_rows(t, t->count, 0, &matrix, &from, false);
        do_rows(t, t->count - 1, 1, &to, &matrix, last);
    } while (nest_step(&w));
}

/* The last dimension comes first; of KERN_IRFFT, last. */
static void do_all(const struct transform *t, const struct view *out, const struct view *x)
{
    const bool half = t->type == KERN_IRFFT;
    const struct view *from = x, *to = out;
    struct view between;
    if (t->between > 0) {
        view_dense(&between, complex_type(t), x->rank, half ? x->dims : out->dims,
                   t->memory + t->workspace * thread_pool_size(t->workers));
        to = &between;
    }
    for (int k = 0; k < t->count; k++) {
        const int d = half ? k : (k + t->count - 1) % t->count;
        const bool last = k == t->count - 1;
        if (t->n1 > 1 && d == t->count - 1)
            do_split(t, last ? out : to, from, last);
        else
            do_rows(t, d, x->rank - t->count + d, last ? out : to, from, last);
        from = to;
    }
}

static bool run(struct thread_pool *workers, struct kern_fft_plans *plans, const struct view *out,
                const struct view *x, enum kern_fft type, int count, bool fast)
{
    static const struct c128 zero;
    struct kern_fft_plans unkept = {.generation = oom_generation()},
                          *list = plans ? plans : &unkept;
    struct transform t = {.workers = workers, .type = type, .count = count};
    if (view_elements(out) == 0 || view_elements(x) == 0) { /* sums of nothing */
        kern_fill(workers, out, &zero);
        return true;
    }
    if (prepare(&t, list, out, x, fast))
        t.memory = mem_alloc((size_t)memory_of(&t));
    const bool ok = t.memory != NULL;
    if (ok)
        do_all(&t, out, x);
    mem_free(t.memory);
    fft_plans_trim(list, plans ? MAX_PLANS : 0);
    return ok;
}

bool kern_fft(struct thread_pool *workers, struct kern_fft_plans *plans, const struct view *out,
              const struct view *x, enum kern_fft type, int count)
{
    return run(workers, plans, out, x, type, count, true);
}

bool plain_fft(struct thread_pool *workers, struct kern_fft_plans *plans, const struct view *out,
               const struct view *x, enum kern_fft type, int count)
{
    return run(workers, plans, out, x, type, count, false);
}

const char *kern_fft_choice(struct thread_pool *workers, const struct view *out,
                            const struct view *x, enum kern_fft type, int count, size_t *workspace)
{
    struct transform t = {.workers = workers, .type = type, .count = count};
    if (view_elements(out) > 0 && view_elements(x) > 0)
        prepare(&t, NULL, out, x, true);
    *workspace = (size_t)memory_of(&t);
    return !t.fftw ? "mixed radix" : t.wide ? "FFTW" : "FFTW, single precision";
}
