/*
 * copy: moves elements between views of any strides (spec: Copy, Transpose, Broadcast and whatever else
 * only moves). The dimensions are put in the order in which the result lies in memory, turned so that it
 * is written upward, and joined where both sides step alike; then the innermost two go to one of three
 * loops: runs of bytes, elements a stride apart, or a transposition in square blocks.
 */
#include "kern/nest.h"

/* dims[0] rows of dims[1] elements, whose bytes lie side by side on both sides (dims[1]: bytes). */
static void copy_rows(char *out, const char *x, const int64_t *dims, const int64_t *out_strides,
                      const int64_t *x_strides)
{
    for (int64_t i = 0; i < dims[0]; i++)
        memcpy(out + i * out_strides[0], x + i * x_strides[0], (size_t)dims[1]);
}

enum { BLOCK_BYTES = 64, PATCH = 8 };

/* The loops for one width. A `strided` one reads its inner run with any stride (0 repeats one element).
 * A `transposed` one writes runs of dims[1] while it reads runs of dims[0]. */
#define COPY_LOOPS(W)                                                                              \
    static void strided_##W(char *out, const char *x, const int64_t *dims, const int64_t *out_strides, \
                            const int64_t *x_strides)                                              \
    {                                                                                              \
        int64_t n = dims[1], os = out_strides[1], xs = x_strides[1];                               \
        for (int64_t i = 0; i < dims[0]; i++, out += out_strides[0], x += x_strides[0]) {          \
            W *o = (W *)out;                                                                       \
            if (xs == 0 && os == (int64_t)sizeof(W)) {                                             \
                W v = *(const W *)x;                                                               \
                for (int64_t j = 0; j < n; j++)                                                    \
                    o[j] = v;                                                                      \
            } else if (os == (int64_t)sizeof(W)) {                                                 \
                for (int64_t j = 0; j < n; j++)                                                    \
                    o[j] = *(const W *)(x + j * xs);                                               \
            } else {                                                                               \
                for (int64_t j = 0; j < n; j++)                                                    \
                    *(W *)(out + j * os) = *(const W *)(x + j * xs);                               \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void patch_##W(char *restrict out, int64_t os, const char *restrict x, int64_t xs)      \
    {                                                                                              \
        W t[PATCH][PATCH];                                                                         \
        for (int j = 0; j < PATCH; j++)                                                            \
            memcpy(t[j], x + j * xs, sizeof t[j]);                                                 \
        for (int i = 0; i < PATCH; i++)                                                            \
            for (int j = 0; j < PATCH; j++)                                                        \
                ((W *)(out + i * os))[j] = t[j][i];                                                \
    }                                                                                              \
    static void transposed_##W(char *out, const char *x, const int64_t *dims, const int64_t *out_strides, \
                               const int64_t *x_strides)                                           \
    {                                                                                              \
        const int64_t block = BLOCK_BYTES / (int64_t)sizeof(W) > PATCH ? BLOCK_BYTES / (int64_t)sizeof(W) : PATCH; \
        int64_t os = out_strides[0], xs = x_strides[1], w = (int64_t)sizeof(W);                    \
        for (int64_t i0 = 0; i0 < dims[0]; i0 += block) {                                          \
            int64_t i1 = i0 + block < dims[0] ? i0 + block : dims[0];                              \
            for (int64_t j = 0; j < dims[1]; j += PATCH) {                                         \
                int64_t i = i0;                                                                    \
                for (; j + PATCH <= dims[1] && i + PATCH <= i1; i += PATCH)                        \
                    patch_##W(out + i * os + j * w, os, x + j * xs + i * w, xs);                   \
                int64_t j1 = j + PATCH < dims[1] ? j + PATCH : dims[1];                            \
                for (; i < i1; i++)                                                                \
                    for (int64_t jj = j; jj < j1; jj++)                                            \
                        ((W *)(out + i * os))[jj] = *(const W *)(x + jj * xs + i * w);             \
            }                                                                                      \
        }                                                                                          \
    }
COPY_LOOPS(kern_w1)
COPY_LOOPS(kern_w2)
COPY_LOOPS(kern_w4)
COPY_LOOPS(kern_w8)
typedef struct kern_w16 kern_w16;
COPY_LOOPS(kern_w16)

static copy_block_fn *strided_block(size_t width)
{
    switch (width) {
    case 1: return strided_kern_w1;
    case 2: return strided_kern_w2;
    case 4: return strided_kern_w4;
    case 8: return strided_kern_w8;
    default: return strided_kern_w16;
    }
}

static copy_block_fn *transposed_block(size_t width)
{
    switch (width) {
    case 1: return transposed_kern_w1;
    case 2: return transposed_kern_w2;
    case 4: return transposed_kern_w4;
    case 8: return transposed_kern_w8;
    default: return transposed_kern_w16;
    }
}

static int64_t magnitude(int64_t v)
{
    return v < 0 ? -v : v;
}

/* Adds a dimension so that the strides of the result fall from the outside in. */
static void add_sorted(struct nest *n, int64_t dim, int64_t out_stride, int64_t x_stride)
{
    int at = n->rank++;
    while (at > 0 && (n->strides[0][at - 1] < out_stride ||
                      (n->strides[0][at - 1] == out_stride && magnitude(n->strides[1][at - 1]) < magnitude(x_stride)))) {
        n->dims[at] = n->dims[at - 1];
        n->strides[0][at] = n->strides[0][at - 1];
        n->strides[1][at] = n->strides[1][at - 1];
        at--;
    }
    n->dims[at] = dim;
    n->strides[0][at] = out_stride;
    n->strides[1][at] = x_stride;
}

/* Moves dimension `from` to place `to`, further inside. */
static void move_inward(struct nest *n, int from, int to)
{
    int64_t dim = n->dims[from], out_stride = n->strides[0][from], x_stride = n->strides[1][from];
    for (int d = from; d < to; d++) {
        n->dims[d] = n->dims[d + 1];
        n->strides[0][d] = n->strides[0][d + 1];
        n->strides[1][d] = n->strides[1][d + 1];
    }
    n->dims[to] = dim;
    n->strides[0][to] = out_stride;
    n->strides[1][to] = x_stride;
}

/* At least two dimensions, so that every plan ends in a block. */
static void fill_up(struct nest *n, int64_t width)
{
    while (n->rank < 2) {
        for (int d = n->rank; d > 0; d--) {
            n->dims[d] = n->dims[d - 1];
            n->strides[0][d] = n->strides[0][d - 1];
            n->strides[1][d] = n->strides[1][d - 1];
        }
        n->dims[0] = 1;
        n->strides[0][0] = n->strides[1][0] = n->rank == 0 ? width : 0;
        n->rank++;
    }
}

static void choose_block(struct copy_plan *p, int64_t width)
{
    struct nest *n = &p->nest;
    int inner = n->rank - 1;
    p->block = strided_block((size_t)width);
    if (n->strides[0][inner] != width)
        return;
    if (n->strides[1][inner] == width) {
        p->block = copy_rows;
        n->dims[inner] *= width;
        return;
    }
    for (int d = inner - 1; d >= 0 && n->strides[1][inner] != 0; d--) {
        if (n->strides[1][d] != width || n->dims[d] < 4 || n->dims[inner] < 4)
            continue;
        move_inward(n, d, inner - 1);
        p->block = transposed_block((size_t)width);
        return;
    }
}

void copy_plan_init(struct copy_plan *p, const struct view *out, const struct view *x)
{
    int64_t width = (int64_t)dtype_bytes(out->dtype);
    nest_init(&p->nest, 2);
    p->empty = false;
    p->out_shift = p->x_shift = 0;
    for (int d = 0; d < out->rank; d++) {
        int64_t dim = out->dims[d], os = out->strides[d], xs = x->strides[d];
        if (dim == 0)
            p->empty = true;
        if (dim <= 1)
            continue;
        if (os < 0) {
            p->out_shift += os * (dim - 1);
            p->x_shift += xs * (dim - 1);
            os = -os;
            xs = -xs;
        }
        add_sorted(&p->nest, dim, os, xs);
    }
    nest_merge(&p->nest);
    fill_up(&p->nest, width);
    choose_block(p, width);
}

void copy_plan_run(const struct copy_plan *p, char *out, const char *x)
{
    if (p->empty)
        return;
    const struct nest *n = &p->nest;
    int outer = n->rank - 2;
    struct nest_walk w;
    char *at[2] = {out + p->out_shift, (char *)(uintptr_t)x + p->x_shift};
    nest_start(&w, n, outer, at);
    do
        p->block(w.at[0], w.at[1], n->dims + outer, n->strides[0] + outer, n->strides[1] + outer);
    while (nest_step(&w));
}

/* spec: Copy */
void kern_copy(const struct view *out, const struct view *x)
{
    struct copy_plan p;
    copy_plan_init(&p, out, x);
    copy_plan_run(&p, out->data, x->data);
}

void kern_pack(void *dst, const char *src, int64_t stride, size_t width, int64_t n)
{
    int64_t dims[2] = {1, n}, out_strides[2] = {0, (int64_t)width}, x_strides[2] = {0, stride};
    strided_block(width)(dst, src, dims, out_strides, x_strides);
}

void kern_unpack(char *dst, int64_t stride, const void *src, size_t width, int64_t n)
{
    int64_t dims[2] = {1, n}, out_strides[2] = {0, stride}, x_strides[2] = {0, (int64_t)width};
    strided_block(width)(dst, src, dims, out_strides, x_strides);
}
