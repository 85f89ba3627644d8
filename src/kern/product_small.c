/*
 * product_small.c: products of f32 and f64 that are so small that planning a larger one would take
 * longer (spec: DotGeneral). Nothing is packed and nothing allocated.
 *
 * Order and accumulation: terms sequentially in order, multiplied and added in the operands' type,
 * on every processor.
 */
#include "kern/product.h"

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

bool small_applies(const struct small *s)
{
    const int64_t max = is_dense(s) && s->n > 1 ? MAX_WORK : MAX_SCATTERED;
    return (s->type == DT_F32 || s->type == DT_F64) && s->m <= max && s->n <= max / s->m &&
           s->k <= max / (s->m * s->n);
}

#define INLINE __attribute__((always_inline)) static inline

/* `rows` rows by `vectors` registers of V. */
#define BLOCK(T, V, NAME)                                                                          \
    INLINE void NAME(const struct small *s, int rows, int vectors, const char *a, const char *b,   \
                     char *c)                                                                      \
    {                                                                                              \
        V sum[4][4];                                                                               \
        KERN_UNROLL for (int r = 0; r < rows; r++) KERN_UNROLL for (int v = 0; v < vectors; v++)   \
            sum[r][v] = (V){0};                                                                    \
        for (int64_t i = 0; i < s->k; i++, a += s->a_k, b += s->b_k)                               \
            KERN_UNROLL for (int r = 0; r < rows; r++)                                             \
            {                                                                                      \
                const T x = *(const T *)(const void *)(a + r * s->a_row);                          \
                KERN_UNROLL for (int v = 0; v < vectors; v++) sum[r][v] +=                         \
                    x * ((const V *)(const void *)b)[v];                                           \
            }                                                                                      \
        KERN_UNROLL for (int r = 0; r < rows; r++)                                                 \
            KERN_UNROLL for (int v = 0; v < vectors; v++)((V *)(void *)(c + r * s->c_row))[v] =    \
                sum[r][v];                                                                         \
    }

/* Computes all columns of some rows: as many as fit into registers at a time, then fewer. The last
 * vector ends with the row, and the last rows are also processed as four, so that some results may
 * be computed twice. */
#define ROWS(T, NAME, WIDE, NARROW)                                                                \
    INLINE void NAME##_rows(const struct small *s, int rows, const char *a, const char *b,         \
                            char *c)                                                               \
    {                                                                                              \
        const int64_t width = (int64_t)sizeof(T), wide = (int64_t)sizeof(WIDE) / width,            \
                      narrow = (int64_t)sizeof(NARROW) / width;                                    \
        int64_t j = 0;                                                                             \
        for (; j + 4 * wide <= s->n; j += 4 * wide)                                                \
            NAME##_wide(s, rows, 4, a, b + j * width, c + j * width);                              \
        for (; j + wide <= s->n; j += wide)                                                        \
            NAME##_wide(s, rows, 1, a, b + j * width, c + j * width);                              \
        for (; j + narrow <= s->n; j += narrow)                                                    \
            NAME##_narrow(s, rows, 1, a, b + j * width, c + j * width);                            \
        if (j < s->n && s->n >= narrow) {                                                          \
            j = s->n - narrow;                                                                     \
            NAME##_narrow(s, rows, 1, a, b + j * width, c + j * width);                            \
            return;                                                                                \
        }                                                                                          \
        for (; j < s->n; j++)                                                                      \
            NAME##_single(s, rows, 1, a, b + j * width, c + j * width);                            \
    }                                                                                              \
    KERN_CLONES static void NAME##_dense(const struct small *s, const char *a, const char *b,      \
                                         char *c)                                                  \
    {                                                                                              \
        int64_t i = 0;                                                                             \
        for (; i + 4 <= s->m; i += 4)                                                              \
            NAME##_rows(s, 4, a + i * s->a_row, b, c + i * s->c_row);                              \
        if (i > 0 && s->m - i > 1) {                                                               \
            i = s->m - 4;                                                                          \
            NAME##_rows(s, 4, a + i * s->a_row, b, c + i * s->c_row);                              \
            return;                                                                                \
        }                                                                                          \
        for (; i < s->m; i++)                                                                      \
            NAME##_rows(s, 1, a + i * s->a_row, b, c + i * s->c_row);                              \
    }                                                                                              \
    static void NAME##_turned(const struct small *s, const char *a, const char *b, char *c)        \
    {                                                                                              \
        T scratch[MAX_SCATTERED / FEW_ROWS];                                                       \
        struct small t = *s;                                                                       \
        for (int64_t l = 0; l < s->k; l++)                                                         \
            for (int64_t j = 0; j < s->n; j++)                                                     \
                scratch[l * s->n + j] = *(const T *)(const void *)(b + l * s->b_k + j * s->b_n);   \
        t.b_n = (int64_t)sizeof(T);                                                                \
        t.b_k = s->n * t.b_n;                                                                      \
        NAME##_dense(&t, a, (const char *)scratch, c);                                             \
    }                                                                                              \
    static void NAME##_scattered(const struct small *s, const char *a, const char *b, char *c)     \
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

typedef float f32x16 __attribute__((vector_size(64), aligned(4), may_alias));
typedef float f32x4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef float f32x1 __attribute__((may_alias));
typedef double f64x8 __attribute__((vector_size(64), aligned(8), may_alias));
typedef double f64x2 __attribute__((vector_size(16), aligned(8), may_alias));
typedef double f64x1 __attribute__((may_alias));
BLOCK(float, f32x16, f32_wide)
BLOCK(float, f32x4, f32_narrow)
BLOCK(float, f32x1, f32_single)
ROWS(float, f32, f32x16, f32x4)
BLOCK(double, f64x8, f64_wide)
BLOCK(double, f64x2, f64_narrow)
BLOCK(double, f64x1, f64_single)
ROWS(double, f64, f64x8, f64x2)

typedef void run_fn(const struct small *s, const char *a, const char *b, char *c);

void small_run(const struct small *s, const char *a, const char *b, char *c)
{
    static run_fn *const all[2][3] = {{f32_dense, f32_turned, f32_scattered},
                                      {f64_dense, f64_turned, f64_scattered}};
    const bool turned = s->m >= FEW_ROWS && s->c_n == (int64_t)dtype_bytes(s->type);
    all[s->type == DT_F64][is_dense(s) ? 0 : turned ? 1 : 2](s, a, b, c);
}
