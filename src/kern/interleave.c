/*
 * interleave.c: concatenations of arrays with one element each along the innermost dimension (spec:
 * Concatenate), as they are stacked: result i * n + k is element i of operand k. Each cache line of
 * the result is written once, where a copy of one operand after the other would write it n times.
 */
#include "kern/interleave.h"

#include "kern/nest.h"

enum {
    PART = 1 << 17,   /* elements of the result in a task */
    FEW = 3,          /* operands that loops of their own take, up to 8 bytes an element */
    PACKED = 16 << 10 /* bytes of packed operands */
};

struct interleaving {
    char *out;
    const char *x[KERN_INTERLEAVED];
    int64_t strides[KERN_INTERLEAVED]; /* bytes between elements */
    int n;
    size_t width;
    bool is_dense; /* all operands */
};

#define INTERLEAVE(W)                                                                              \
    KERN_CLONES static void pairs_##W(W *restrict out, const W *restrict a, const W *restrict b,   \
                                      int64_t count)                                               \
    {                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                      \
            out[2 * i] = a[i];                                                                     \
            out[2 * i + 1] = b[i];                                                                 \
        }                                                                                          \
    }                                                                                              \
    KERN_CLONES static void triples_##W(W *restrict out, const W *restrict a, const W *restrict b, \
                                        const W *restrict c, int64_t count)                        \
    {                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                      \
            out[3 * i] = a[i];                                                                     \
            out[3 * i + 1] = b[i];                                                                 \
            out[3 * i + 2] = c[i];                                                                 \
        }                                                                                          \
    }                                                                                              \
    static void few_##W(const struct interleaving *s, int64_t from, int64_t count)                 \
    {                                                                                              \
        W *out = (W *)(void *)s->out + from * s->n;                                                \
        const W *x[FEW];                                                                           \
        for (int k = 0; k < s->n; k++)                                                             \
            x[k] = (const W *)(const void *)s->x[k] + from;                                        \
        if (s->n == 2)                                                                             \
            pairs_##W(out, x[0], x[1], count);                                                     \
        else                                                                                       \
            triples_##W(out, x[0], x[1], x[2], count);                                             \
    }
INTERLEAVE(kern_w1)
INTERLEAVE(kern_w2)
INTERLEAVE(kern_w4)
INTERLEAVE(kern_w8)

/* Rows of the result, in blocks for which operands that are not contiguous are packed. */
static void interleave_columns(const struct interleaving *s, int64_t from, int64_t to)
{
    const int64_t width = (int64_t)s->width, row = s->n * width, rows = PACKED / row;
    const char *columns[KERN_INTERLEAVED];
    char packed[PACKED] __attribute__((aligned(64)));
    for (int64_t i = from; i < to; i += rows) {
        const int64_t count = min_i64(rows, to - i);
        for (int k = 0; k < s->n; k++) {
            char *column = packed + k * rows * width;
            columns[k] = s->x[k] + i * s->strides[k];
            if (s->strides[k] == width)
                continue;
            kern_pack(column, columns[k], s->strides[k], s->width, count);
            columns[k] = column;
        }
        copy_from_columns(s->out + i * row, row, columns, count, s->n, s->width);
    }
}

static void run_range(void *context, int64_t from, int64_t to, int worker)
{
    const struct interleaving *s = context;
    const int64_t count = to - from;
    switch (s->n <= FEW && s->is_dense ? s->width : 0) {
    case 1: few_kern_w1(s, from, count); break;
    case 2: few_kern_w2(s, from, count); break;
    case 4: few_kern_w4(s, from, count); break;
    case 8: few_kern_w8(s, from, count); break;
    default: interleave_columns(s, from, to);
    }
}

/* Whether all elements are at one distance, in row-major order. */
static bool has_one_stride(const struct view *v, int64_t *stride)
{
    struct nest n;
    nest_init(&n, 1);
    for (int d = 0; d < v->rank; d++)
        nest_add(&n, v->dims[d], &v->strides[d]);
    nest_merge(&n);
    *stride = n.rank > 0 ? n.strides[0][0] : (int64_t)dtype_bytes(v->dtype);
    return n.rank <= 1;
}

bool kern_interleaves(const struct view *out, int n, const struct view *const *x, int64_t d)
{
    int64_t stride;
    bool ok = n >= 2 && n <= KERN_INTERLEAVED && view_is_dense(out) && out->dims[d] == n;
    for (int k = (int)d + 1; k < out->rank; k++)
        ok &= out->dims[k] == 1;
    for (int k = 0; k < n && ok; k++)
        ok = x[k]->dtype == out->dtype && x[k]->dims[d] == 1 && has_one_stride(x[k], &stride);
    return ok;
}

void kern_interleave(struct thread_pool *workers, const struct view *out, int n,
                     const struct view *const *x)
{
    struct interleaving s = {
        .out = out->data, .n = n, .width = dtype_bytes(out->dtype), .is_dense = true};
    for (int k = 0; k < n; k++) {
        s.x[k] = x[k]->data;
        has_one_stride(x[k], &s.strides[k]);
        s.is_dense &= s.strides[k] == (int64_t)s.width;
    }
    thread_pool_share(workers, view_elements(out) / n, PART / n, run_range, &s);
}
