/*
 * depthwise.c: convolutions whose groups have one input feature each (spec:
 * ConvWithGeneralPadding). Every result position is a sum, over kernel positions, of products of
 * whole rows of features. Kernel positions in padding are skipped. The thread pool splits the lines
 * of the result.
 *
 * Order and accumulation: kernel positions row-major, in f32 or f64, rounded once; integers modulo
 * 2^32 or 2^64.
 */
#include "kern/conv_patches.h"

/* 64 bytes of elements, independent of the vector size of the machine. */
typedef float lanes_float __attribute__((vector_size(64), aligned(4), may_alias));
typedef double lanes_double __attribute__((vector_size(64), aligned(8), may_alias));
typedef uint32_t lanes_uint32_t __attribute__((vector_size(64), aligned(4), may_alias));
typedef uint64_t lanes_uint64_t __attribute__((vector_size(64), aligned(8), may_alias));

enum { ABREAST = 4, SHARE = 1 << 16 /* minimum number of products in a task */ };

/* Rows of n features at `count` adjacent positions, whose inputs and sums are `x_step` and
 * `acc_step` bytes apart: the sum over kernel positions t of the row at x + looks[t] times the row
 * at kernel + weights[t]. */
struct rows {
    char *acc;
    const char *x, *kernel;
    int64_t acc_step, x_step, n, taps;
    const int64_t *looks, *weights;
};

#define AT(T, at, i) (*(const lanes_##T *)(const void *)((at) + (i) * (int64_t)sizeof(T)))
#define DEPTHWISE_ROWS(T)                                                                          \
    __attribute__((always_inline)) static inline void lanes_of_##T(const struct rows *r,           \
                                                                   int64_t i, int count)           \
    {                                                                                              \
        lanes_##T sum[ABREAST];                                                                    \
        for (int p = 0; p < count; p++)                                                            \
            sum[p] = (lanes_##T){0};                                                               \
        for (int64_t t = 0; t < r->taps; t++) {                                                    \
            const lanes_##T weight = AT(T, r->kernel + r->weights[t], i);                          \
            const char *x = r->x + r->looks[t];                                                    \
            for (int p = 0; p < count; p++)                                                        \
                sum[p] += AT(T, x + p * r->x_step, i) * weight;                                    \
        }                                                                                          \
        for (int p = 0; p < count; p++)                                                            \
            *(lanes_##T *)(void *)(r->acc + p * r->acc_step + i * (int64_t)sizeof(T)) = sum[p];    \
    }                                                                                              \
    __attribute__((always_inline)) static inline void rows_of_##T(const struct rows *r, int count) \
    {                                                                                              \
        enum { LANES = 64 / sizeof(T) };                                                           \
        int64_t i = 0;                                                                             \
        for (; i + LANES <= r->n; i += LANES)                                                      \
            lanes_of_##T(r, i, count);                                                             \
        if (i < r->n && i > 0) /* the last vector overlaps the previous one */                     \
            lanes_of_##T(r, r->n - LANES, count);                                                  \
        for (; r->n < LANES && i < r->n; i++)                                                      \
            for (int p = 0; p < count; p++) {                                                      \
                T sum = 0;                                                                         \
                for (int64_t t = 0; t < r->taps; t++)                                              \
                    sum += ((const T *)(const void *)(r->x + p * r->x_step + r->looks[t]))[i] *    \
                           ((const T *)(const void *)(r->kernel + r->weights[t]))[i];              \
                ((T *)(void *)(r->acc + p * r->acc_step))[i] = sum;                                \
            }                                                                                      \
    }                                                                                              \
    KERN_CLONES static void four_##T(const struct rows *r) { rows_of_##T(r, ABREAST); }            \
    KERN_CLONES static void one_##T(const struct rows *r) { rows_of_##T(r, 1); }
DEPTHWISE_ROWS(float)
DEPTHWISE_ROWS(double)
DEPTHWISE_ROWS(uint32_t)
DEPTHWISE_ROWS(uint64_t)

bool depthwise_applies(const struct conv *c)
{
    return c->feature_groups > 1 && c->kernel.dims[1] == 1 && !dtype_is_complex(c->work) &&
           c->work != DT_PRED;
}

/* Integers wrap at the end, so bits above the result's width are irrelevant. */
static enum dtype sum_type(const struct conv *c)
{
    return dtype_is_float(c->work) ? c->work : dtype_bytes(c->work) == 8 ? DT_S64 : DT_S32;
}

struct depthwise {
    struct conv c; /* its input in the work type, features innermost */
    struct patches p;
    int64_t channels, multiplier;
    int64_t width, length; /* bytes of an element; positions of a line of the result */
    bool direct;           /* sums are written directly to the result */
    char *kernel;          /* [multiplier][kernel position][channel] in the work type */
    int64_t line;          /* bytes of a line of sums */
    /* bytes of each worker's buffer: four tables by kernel position, a line of sums and one of
     * results */
    int64_t workspace;
    char *workspaces;
    void *storage[2];
};

/* ---- preparations ---- */

/* Converts the input to the work type, features innermost. Transposing first and then converting is
 * faster than both at once. */
static bool prepare_input(struct thread_pool *workers, struct depthwise *w)
{
    struct view *in = &w->c.in;
    if (in->strides[1] != (int64_t)dtype_bytes(in->dtype) &&
        !patches_turn(workers, in, in->dtype, &w->storage[0]))
        return false;
    return in->dtype == w->c.work || patches_turn(workers, in, w->c.work, &w->storage[1]);
}

static bool prepare_kernel(struct depthwise *w)
{
    const struct view *k = &w->c.kernel; /* [channel * multiplier + j, 1, k...] */
    struct view from = *k, to;
    from.rank = w->c.spatial + 2;
    from.dims[0] = w->multiplier;
    for (int d = 0; d < w->c.spatial; d++) {
        from.dims[d + 1] = k->dims[d + 2];
        from.strides[d + 1] = k->strides[d + 2];
    }
    from.dims[from.rank - 1] = w->channels;
    from.strides[from.rank - 1] = k->strides[0] * w->multiplier;
    w->kernel = mem_alloc((size_t)(view_elements(k) * w->width));
    if (!w->kernel)
        return false;
    view_dense(&to, w->c.work, from.rank, from.dims, w->kernel);
    kern_convert_view(NULL, &to, &from);
    return true;
}

/* ---- lines ---- */

struct line {
    struct patch_line at;
    struct rows rows;
    int64_t *looks, *weights;
    /* kernel positions of all dimensions but the last that are inside the input: the first ones of
     * both tables */
    int64_t outer;
};

/* Fills both tables for position o of the line, from the entries for the outer dimensions. */
static void look_at(const struct depthwise *w, struct line *l, int64_t o, const int64_t *outer,
                    const int64_t *number)
{
    const struct conv_axis *last = &w->p.dim[w->p.spatial - 1];
    const int64_t size = w->p.sizes[w->p.spatial - 1], row = w->channels * w->width;
    l->rows.taps = 0;
    for (int64_t t = 0; t < l->outer; t++)
        for (int64_t k = 0; k < size; k++) {
            int64_t at = outer[t];
            if (!patch_place(last, o, k, &at))
                continue;
            l->looks[l->rows.taps] = at;
            l->weights[l->rows.taps++] = (number[t] * size + k) * row;
        }
}

/* The positions of a line whose windows lie within the input along it. */
static void find_inside(const struct depthwise *w, int64_t *from, int64_t *to)
{
    const struct conv_axis *d = &w->p.dim[w->p.spatial - 1];
    const int64_t reach = (w->p.sizes[w->p.spatial - 1] - 1) * d->dilation,
                  end = d->in - reach + d->pad;
    *from = d->pad > 0 ? ratio_up(d->pad, d->stride) : 0;
    *to = d->base > 1 || end <= 0 ? 0 : ratio_up(end, d->stride);
    *to = *to < w->length ? *to : w->length;
}

static void run_rows(const struct depthwise *w, struct line *l, int64_t o, bool four)
{
    const int64_t kernel = w->p.taps * w->channels * w->width;
    for (int64_t j = 0; j < w->multiplier; j++) {
        struct rows r = l->rows;
        r.acc += o * r.acc_step + j * w->channels * w->width;
        r.kernel = w->kernel + j * kernel;
        if (w->c.work == DT_F32)
            (four ? four_float : one_float)(&r);
        else if (w->c.work == DT_F64)
            (four ? four_double : one_double)(&r);
        else if (w->c.work == DT_S32)
            (four ? four_uint32_t : one_uint32_t)(&r);
        else
            (four ? four_uint64_t : one_uint64_t)(&r);
    }
}

/* Stores the sums of a line as results: converted in order, then scattered. */
static void store_line(const struct depthwise *w, const struct line *l, char *to)
{
    const struct view *out = &w->c.out;
    struct view sums, rounded, results = {.dtype = out->dtype, .rank = 3, .data = to};
    const int64_t dims[3] = {w->length, w->multiplier, w->channels};
    view_dense(&sums, w->c.work, 3, dims, l->rows.acc);
    view_dense(&rounded, out->dtype, 3, dims, l->rows.acc + w->line);
    if (out->dtype == w->c.work)
        rounded = sums;
    else
        kern_convert_view(NULL, &rounded, &sums);
    memcpy(results.dims, dims, sizeof dims);
    results.strides[0] = w->c.spatial ? out->strides[out->rank - 1] : 0;
    results.strides[1] = out->strides[1];
    results.strides[2] = out->strides[1] * w->multiplier;
    kern_copy(NULL, &results, &rounded);
}

static void run_line(const struct depthwise *w, int64_t number, char *workspace)
{
    const struct view *out = &w->c.out;
    const int64_t taps = w->p.taps,
                  x_step = w->p.dim[w->p.spatial - 1].in_step * w->p.dim[w->p.spatial - 1].stride;
    int64_t *looks = (int64_t *)(void *)workspace, *weights = looks + taps, *outer = weights + taps,
            *numbers = outer + taps, from, to;
    struct line l = {.looks = looks, .weights = weights};
    patches_line(&w->p, number * w->length, (number + 1) * w->length, &l.at);
    char *result = out->data + l.at.image * out->strides[0];
    for (int d = 0; d + 1 < w->c.spatial; d++)
        result += l.at.o[d] * out->strides[d + 2];
    l.outer = patches_outer(&w->p, &l.at, outer, numbers);
    l.rows = (struct rows){
        .acc = w->direct ? result : (char *)(numbers + taps), .x = w->p.at, .n = w->channels};
    l.rows.acc_step =
        w->direct ? out->strides[out->rank - 1] : w->multiplier * w->channels * w->width;
    l.rows.x_step = x_step;
    l.rows.looks = looks;
    l.rows.weights = weights;
    find_inside(w, &from, &to);
    for (int64_t o = 0; o < w->length;) {
        look_at(w, &l, o, outer, numbers);
        bool four = o >= from && o + ABREAST <= to;
        do {
            run_rows(w, &l, o, four);
            o += four ? ABREAST : 1;
            l.rows.x += four ? ABREAST * x_step : 0;
        } while (four && o + ABREAST <= to);
        l.rows.x = w->p.at;
    }
    if (!w->direct)
        store_line(w, &l, result);
}

static void run_lines(void *context, int64_t from, int64_t to, int worker)
{
    const struct depthwise *w = context;
    for (; from < to; from++)
        run_line(w, from, w->workspaces + worker * w->workspace);
}

/* ---- the convolution ---- */

static bool make_workspaces(struct thread_pool *workers, struct depthwise *w)
{
    const int64_t sums = w->direct ? 0 : w->length * w->multiplier * w->channels;
    w->line = (sums * w->width + 63) & ~(int64_t)63;
    w->workspace = 4 * w->p.taps * (int64_t)sizeof(int64_t) + w->line +
                   sums * (int64_t)dtype_bytes(w->c.out.dtype);
    w->workspace = (w->workspace + 63) & ~(int64_t)63;
    w->workspaces = mem_alloc((size_t)(w->workspace * thread_pool_size(workers)));
    return w->workspaces != NULL;
}

bool depthwise_run(struct thread_pool *workers, const struct conv *c)
{
    struct depthwise w = {.c = *c, .channels = c->feature_groups};
    w.c.work = sum_type(c);
    w.width = (int64_t)dtype_bytes(w.c.work);
    w.multiplier = c->kernel.dims[0] / w.channels;
    int64_t products = 0; /* of a line */
    bool ok = prepare_input(workers, &w);
    if (ok) {
        patches_init(&w.p, &w.c, &w.c.in);
        w.length = w.p.outs[w.p.spatial - 1];
        products = w.length * w.p.taps * c->kernel.dims[0];
        w.direct = c->out.dtype == w.c.work && w.multiplier == 1 && c->out.strides[1] == w.width;
        ok = prepare_kernel(&w) && make_workspaces(workers, &w);
    }
    if (ok)
        thread_pool_share(workers, c->out.dims[0] * w.p.image_points / w.length,
                          products < SHARE ? SHARE / products : 1, run_lines, &w);
    mem_free(w.kernel);
    mem_free(w.workspaces);
    mem_free(w.storage[0]);
    mem_free(w.storage[1]);
    return ok;
}
