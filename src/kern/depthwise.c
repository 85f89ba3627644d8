/*
 * depthwise: convolutions with one input feature to a group (spec: ConvWithGeneralPadding). Every result
 * position is a sum, over kernel positions, of products of whole rows of channels.
 *
 * Order and accumulation: kernel positions row-major, in f32 or f64, rounded once.
 */
#include "kern/conv.h"

/* 64 bytes of elements, whatever the machine's vectors hold. */
typedef float lanes_float __attribute__((vector_size(64), aligned(4), may_alias));
typedef double lanes_double __attribute__((vector_size(64), aligned(8), may_alias));

/* acc[i] = sum over taps t of x[t][i] * kernel[t][i]; rows of x begin at byte offsets from `x`. */
#define DEPTHWISE_ROW(T)                                                                                     \
    KERN_CLONES static void row_##T(T *restrict acc, const char *x, const int64_t *offset, const T *kernel,  \
                                    int64_t taps, int64_t n)                                                 \
    {                                                                                                        \
        enum { LANES = 64 / sizeof(T) };                                                                     \
        int64_t i = 0;                                                                                       \
        for (; i + LANES <= n; i += LANES) {                                                                 \
            lanes_##T sum = {0};                                                                             \
            for (int64_t t = 0; t < taps; t++) {                                                             \
                const T *xt = (const T *)(const void *)(x + offset[t]) + i;                                  \
                sum += *(const lanes_##T *)xt * *(const lanes_##T *)(kernel + t * n + i);                    \
            }                                                                                                \
            *(lanes_##T *)(acc + i) = sum;                                                                   \
        }                                                                                                    \
        for (; i < n; i++) {                                                                                 \
            T sum = 0;                                                                                       \
            for (int64_t t = 0; t < taps; t++)                                                               \
                sum += ((const T *)(const void *)(x + offset[t]))[i] * kernel[t * n + i];                    \
            acc[i] = sum;                                                                                    \
        }                                                                                                    \
    }
DEPTHWISE_ROW(float)
DEPTHWISE_ROW(double)

bool depthwise_applies(const struct conv *c)
{
    return c->feature_groups > 1 && c->kernel.dims[1] == 1 && (c->work == DT_F32 || c->work == DT_F64);
}

struct depthwise {
    const struct conv *c;
    int64_t channels, taps, multiplier;
    int64_t *offset; /* of each tap's row of channels */
    char *kernel;    /* [multiplier][taps][channels] in the work type */
    char *acc;       /* one row of channels */
    struct loader out;
};

static void find_offsets(struct depthwise *w)
{
    const struct conv *c = w->c;
    int64_t k[VIEW_MAX_RANK] = {0}, t = 0;
    do {
        w->offset[t] = 0;
        for (int d = 0; d < c->spatial; d++)
            w->offset[t] += k[d] * c->window[d].window_dilation * c->in.strides[d + 2];
        t++;
    } while (index_next(c->spatial, c->kernel.dims + 2, k));
}

static void pack_kernel(struct depthwise *w)
{
    const struct view *k = &w->c->kernel; /* [channel * multiplier + j, 1, k...] */
    struct view from = *k, to;
    from.rank = w->c->spatial + 2;
    from.dims[0] = w->multiplier;
    for (int d = 0; d < w->c->spatial; d++) {
        from.dims[d + 1] = k->dims[d + 2];
        from.strides[d + 1] = k->strides[d + 2];
    }
    from.dims[from.rank - 1] = w->channels;
    from.strides[from.rank - 1] = k->strides[0] * w->multiplier;
    view_dense(&to, w->c->work, from.rank, from.dims, w->kernel);
    kern_convert_view(NULL, &to, &from);
}

static void run_positions(const struct depthwise *w)
{
    const struct conv *c = w->c;
    struct nest n;
    struct nest_walk at;
    size_t kernel_bytes = (size_t)(w->taps * w->channels) * dtype_bytes(c->work);
    int64_t step = c->out.strides[1] * w->multiplier;
    bool direct = !w->out.convert && step == (int64_t)w->out.to; /* a row of channels goes where it belongs */
    nest_init(&n, 2);
    nest_add(&n, c->out.dims[0], (int64_t[]){c->out.strides[0], c->in.strides[0]});
    for (int d = 2; d < c->out.rank; d++)
        nest_add(&n, c->out.dims[d],
                 (int64_t[]){c->out.strides[d], c->in.strides[d] * c->window[d - 2].stride});
    nest_start(&at, &n, n.rank, (char *[]){c->out.data, c->in.data});
    do {
        for (int64_t j = 0; j < w->multiplier; j++) {
            const void *kernel = w->kernel + (size_t)j * kernel_bytes;
            char *to = at.at[0] + j * c->out.strides[1], *acc = direct ? to : w->acc;
            if (c->work == DT_F32)
                row_float((float *)(void *)acc, at.at[1], w->offset, kernel, w->taps, w->channels);
            else
                row_double((double *)(void *)acc, at.at[1], w->offset, kernel, w->taps, w->channels);
            for (int64_t i = 0; !direct && i < w->channels; i += KERN_TILE) {
                int64_t count = w->channels - i < KERN_TILE ? w->channels - i : KERN_TILE;
                loader_write(&w->out, to + i * step, step, w->acc + (size_t)i * dtype_bytes(c->work), count);
            }
        }
    } while (nest_step(&at));
}

bool depthwise_run(const struct conv *c)
{
    struct depthwise w = {.c = c, .channels = c->feature_groups, .taps = 1};
    size_t width = dtype_bytes(c->work);
    w.multiplier = c->kernel.dims[0] / w.channels;
    for (int d = 0; d < c->spatial; d++)
        w.taps *= c->kernel.dims[d + 2];
    char *room = mem_alloc((size_t)w.taps * sizeof *w.offset +
                           (size_t)(w.taps * c->kernel.dims[0] + w.channels) * width);
    if (!room)
        return false;
    w.offset = (int64_t *)(void *)room;
    w.kernel = room + (size_t)w.taps * sizeof *w.offset;
    w.acc = w.kernel + (size_t)(w.taps * c->kernel.dims[0]) * width;
    loader_init(&w.out, c->out.dtype, c->work);
    find_offsets(&w);
    pack_kernel(&w);
    run_positions(&w);
    mem_free(room);
    return true;
}
