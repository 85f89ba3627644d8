/*
 * product_small.c: products of f32 and f64 that are so small that planning a larger one would take
 * longer (spec: DotGeneral). Nothing is packed and nothing allocated.
 *
 * Order and accumulation: terms sequentially in order, multiplied and added in the operands' type,
 * on every processor.
 */
#include "kern/cpu.h"
#include "kern/product_lanes.h"

enum {
    MAX_WORK = 1 << 15,  /* maximum number of multiplications */
    MAX_SCATTERED = 512, /* maximum if columns are not contiguous, or there is only one */
    /* from this many rows on, columns of the right operand are copied to be contiguous */
    FEW_ROWS = 4
};

static bool is_dense(const struct small *s)
{
    const int64_t width = (int64_t)dtype_bytes(s->type);
    return s->n == 1 || (s->b_n == width && s->c_n == width);
}

bool small_applies(struct small *s)
{
    const int64_t max = is_dense(s) && s->n > 1 ? MAX_WORK : MAX_SCATTERED;
    const bool small = (s->type == DT_F32 || s->type == DT_F64) && s->m <= max &&
                       s->n <= max / s->m && s->k <= max / (s->m * s->n);
    s->lanes = small ? CPU_FORM(product_lanes) : NULL;
    return small;
}

static void run_columns(const struct small *s, const char *a, const char *b, char *c)
{
    static const int64_t none[3] = {0};
    s->lanes->columns[s->type == DT_F64](s, a, b, c, none, 1);
}

#define SCATTERED(T)                                                                               \
    static void turned_##T(const struct small *s, const char *a, const char *b, char *c)           \
    {                                                                                              \
        T scratch[MAX_SCATTERED / FEW_ROWS];                                                       \
        struct small t = *s;                                                                       \
        for (int64_t l = 0; l < s->k; l++)                                                         \
            for (int64_t j = 0; j < s->n; j++)                                                     \
                scratch[l * s->n + j] = *(const T *)(const void *)(b + l * s->b_k + j * s->b_n);   \
        t.b_n = (int64_t)sizeof(T);                                                                \
        t.b_k = s->n * t.b_n;                                                                      \
        run_columns(&t, a, (const char *)scratch, c);                                              \
    }                                                                                              \
    static void scattered_##T(const struct small *s, const char *a, const char *b, char *c)        \
    {                                                                                              \
        for (int64_t i = 0; i < s->m; i++)                                                         \
            for (int64_t j = 0; j < s->n; j++) {                                                   \
                T sum = 0;                                                                         \
                for (int64_t l = 0; l < s->k; l++)                                                 \
                    sum += *(const T *)(const void *)(a + i * s->a_row + l * s->a_k) *             \
                           *(const T *)(const void *)(b + l * s->b_k + j * s->b_n);                \
                *(T *)(void *)(c + i * s->c_row + j * s->c_n) = sum;                               \
            }                                                                                      \
    }
SCATTERED(float)
SCATTERED(double)

void small_run(const struct small *s, const char *a, const char *b, char *c)
{
    const bool wide = s->type == DT_F64,
               turned = s->m >= FEW_ROWS && s->c_n == (int64_t)dtype_bytes(s->type);
    if (is_dense(s))
        run_columns(s, a, b, c);
    else if (turned)
        (wide ? turned_double : turned_float)(s, a, b, c);
    else
        (wide ? scattered_double : scattered_float)(s, a, b, c);
}
