/*
 * interleave.c: concatenations of arrays with one element each along the innermost dimension (spec:
 * Concatenate), as they are stacked: result i * n + k is element i of operand k. Each cache line of
 * the result is written once, where a copy of one operand after the other would write it n times.
 */
#include "kern/interleave.h"

#include "kern/nest.h"

enum { PART = 1 << 16 }; /* elements of each operand in a task */

struct interleaving {
    char *out;
    const char *x[KERN_INTERLEAVED];
    int n;
    size_t width;
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
    static void interleave_##W(const struct interleaving *s, int64_t from, int64_t count)          \
    {                                                                                              \
        W *out = (W *)(void *)s->out + from * s->n;                                                \
        const W *x[KERN_INTERLEAVED];                                                              \
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

static void run_range(void *context, int64_t from, int64_t to, int worker)
{
    const struct interleaving *s = context;
    const int64_t count = to - from;
    switch (s->width) {
    case 1: interleave_kern_w1(s, from, count); break;
    case 2: interleave_kern_w2(s, from, count); break;
    case 4: interleave_kern_w4(s, from, count); break;
    default: interleave_kern_w8(s, from, count); break;
    }
}

bool kern_interleaves(const struct view *out, int n, const struct view *const *x, int64_t d)
{
    bool ok = n >= 2 && n <= KERN_INTERLEAVED && dtype_bytes(out->dtype) <= 8 &&
              view_is_dense(out) && out->dims[d] == n;
    for (int k = (int)d + 1; k < out->rank; k++)
        ok &= out->dims[k] == 1;
    for (int k = 0; k < n && ok; k++)
        ok = x[k]->dtype == out->dtype && x[k]->dims[d] == 1 && view_is_dense(x[k]);
    return ok;
}

void kern_interleave(struct thread_pool *workers, const struct view *out, int n,
                     const struct view *const *x)
{
    struct interleaving s = {.out = out->data, .n = n, .width = dtype_bytes(out->dtype)};
    for (int k = 0; k < n; k++)
        s.x[k] = x[k]->data;
    thread_pool_share(workers, view_elements(out) / n, PART, run_range, &s);
}
