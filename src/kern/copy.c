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

/* Transpositions go by patches of one cache line on each side, these by squares whose rows do not take
 * too many pages. */
enum { LINE = 64, SQUARE = 512 };

/* Transposes a block of 16 bytes on each side: every step interleaves row i with the row half the block
 * below it, which after log2(SIDE) steps has turned rows into columns. LOW and HIGH list the elements of
 * two rows, one after the other, that the first and the second half of the interleaving take. */
#define TRANSPOSE_BLOCK(W, SIDE, LOW, HIGH)                                                                  \
    typedef W vector_##W __attribute__((vector_size(16), aligned(sizeof(W)), may_alias));                    \
    static void block_##W(char *out, int64_t os, const char *x, int64_t xs)                                  \
    {                                                                                                        \
        vector_##W r[SIDE], s[SIDE];                                                                         \
        _Pragma("GCC unroll 16") for (int i = 0; i < SIDE; i++) r[i] = *(const vector_##W *)(x + i * xs);    \
        _Pragma("GCC unroll 4") for (int step = 1; step < SIDE; step *= 2)                                   \
        {                                                                                                    \
            _Pragma("GCC unroll 8") for (int i = 0; i < SIDE / 2; i++)                                       \
            {                                                                                                \
                s[2 * i] = __builtin_shufflevector(r[i], r[i + SIDE / 2], LOW);                              \
                s[2 * i + 1] = __builtin_shufflevector(r[i], r[i + SIDE / 2], HIGH);                         \
            }                                                                                                \
            _Pragma("GCC unroll 16") for (int i = 0; i < SIDE; i++) r[i] = s[i];                             \
        }                                                                                                    \
        _Pragma("GCC unroll 16") for (int i = 0; i < SIDE; i++) * (vector_##W *)(out + i * os) = r[i];       \
    }
#define ITEMS(...) __VA_ARGS__
TRANSPOSE_BLOCK(kern_w1, 16, ITEMS(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
                ITEMS(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31))
TRANSPOSE_BLOCK(kern_w2, 8, ITEMS(0, 8, 1, 9, 2, 10, 3, 11), ITEMS(4, 12, 5, 13, 6, 14, 7, 15))
TRANSPOSE_BLOCK(kern_w4, 4, ITEMS(0, 4, 1, 5), ITEMS(2, 6, 3, 7))
TRANSPOSE_BLOCK(kern_w8, 2, ITEMS(0, 2), ITEMS(1, 3))
typedef struct kern_w16 kern_w16;
static void block_kern_w16(char *out, int64_t os, const char *x, int64_t xs)
{
    (void)os;
    (void)xs;
    *(kern_w16 *)(void *)out = *(const kern_w16 *)(const void *)x;
}

/* The loops for one width. A `strided` one reads its inner run with any stride (0 repeats one element).
 * A `transposed` one writes runs of dims[1] while it reads runs of dims[0]. */
#define COPY_LOOPS(W)                                                                                        \
    static void strided_##W(char *out, const char *x, const int64_t *dims, const int64_t *out_strides,       \
                            const int64_t *x_strides)                                                        \
    {                                                                                                        \
        int64_t n = dims[1], os = out_strides[1], xs = x_strides[1];                                         \
        for (int64_t i = 0; i < dims[0]; i++, out += out_strides[0], x += x_strides[0]) {                    \
            W *o = (W *)out;                                                                                 \
            if (xs == 0 && os == (int64_t)sizeof(W)) {                                                       \
                W v = *(const W *)x;                                                                         \
                for (int64_t j = 0; j < n; j++)                                                              \
                    o[j] = v;                                                                                \
            } else if (os == (int64_t)sizeof(W) && xs == -os) {                                              \
                const W *last = (const W *)x;                                                                \
                for (int64_t j = 0; j < n; j++)                                                              \
                    o[j] = last[-j];                                                                         \
            } else if (os == (int64_t)sizeof(W)) {                                                           \
                for (int64_t j = 0; j < n; j++)                                                              \
                    o[j] = *(const W *)(x + j * xs);                                                         \
            } else {                                                                                         \
                for (int64_t j = 0; j < n; j++)                                                              \
                    *(W *)(out + j * os) = *(const W *)(x + j * xs);                                         \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    static void edge_##W(char *out, int64_t os, const char *x, int64_t xs, int64_t ni, int64_t nj)           \
    {                                                                                                        \
        for (int64_t i = 0; i < ni; i++)                                                                     \
            for (int64_t j = 0; j < nj; j++)                                                                 \
                ((W *)(out + i * os))[j] = ((const W *)(x + j * xs))[i];                                     \
    }                                                                                                        \
    static void patch_##W(char *out, int64_t os, const char *x, int64_t xs)                                  \
    {                                                                                                        \
        for (int i = 0; i < LINE; i += 16)                                                                   \
            for (int j = 0; j < LINE; j += 16)                                                               \
                block_##W(out + i / (int)sizeof(W) * os + j, os, x + j / (int)sizeof(W) * xs + i, xs);       \
    }                                                                                                        \
    static void square_##W(char *out, int64_t os, const char *x, int64_t xs, int64_t ni, int64_t nj)         \
    {                                                                                                        \
        const int64_t side = LINE / (int64_t)sizeof(W);                                                      \
        for (int64_t i = 0; i < ni; i += side) {                                                             \
            for (int64_t j = 0; j < nj; j += side) {                                                         \
                char *to = out + i * os + j * (int64_t)sizeof(W);                                            \
                const char *from = x + j * xs + i * (int64_t)sizeof(W);                                      \
                if (ni - i >= side && nj - j >= side)                                                        \
                    patch_##W(to, os, from, xs);                                                             \
                else                                                                                         \
                    edge_##W(to, os, from, xs, ni - i < side ? ni - i : side,                                \
                             nj - j < side ? nj - j : side);                                                 \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    static void transposed_##W(char *out, const char *x, const int64_t *dims, const int64_t *out_strides,    \
                               const int64_t *x_strides)                                                     \
    {                                                                                                        \
        int64_t os = out_strides[0], xs = x_strides[1], w = (int64_t)sizeof(W), side = SQUARE / w;           \
        for (int64_t i = 0; i < dims[0]; i += side)                                                          \
            for (int64_t j = 0; j < dims[1]; j += side)                                                      \
                square_##W(out + i * os + j * w, os, x + j * xs + i * w, xs,                                 \
                           dims[0] - i < side ? dims[0] - i : side,                                          \
                           dims[1] - j < side ? dims[1] - j : side);                                         \
    }
COPY_LOOPS(kern_w1)
COPY_LOOPS(kern_w2)
COPY_LOOPS(kern_w4)
COPY_LOOPS(kern_w8)
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
    while (at > 0 &&
           (n->strides[0][at - 1] < out_stride || (n->strides[0][at - 1] == out_stride &&
                                                   magnitude(n->strides[1][at - 1]) < magnitude(x_stride)))) {
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
