/*
 * gemm: matrix products of one element type, the inner part of dot and convolution (spec: DotGeneral).
 * Floats and complex go to OpenBLAS unless they are small; integers wrap and pred is and/or, in loops over
 * rows of B. Order: OpenBLAS's own for floats; integers give the same in any order.
 */
#include <cblas.h>

#include "kern/blas.h"
#include "kern/product.h"

static CBLAS_TRANSPOSE flag(bool transposed)
{
    return transposed ? CblasTrans : CblasNoTrans;
}

/* sgemv for products with one column: y[i * ldc] = sum A[i, k] * b[k]. */
static void vector_f32(int m, int k, struct matrix a, const float *x, int step, float *y, int ldc)
{
    int rows = a.transposed ? k : m, columns = a.transposed ? m : k;
    BLAS(cblas_sgemv)(CblasRowMajor, flag(a.transposed), rows, columns, 1, a.at, (int)a.ld, x, step, 0, y, ldc);
}

static void vector_f64(int m, int k, struct matrix a, const double *x, int step, double *y, int ldc)
{
    int rows = a.transposed ? k : m, columns = a.transposed ? m : k;
    BLAS(cblas_dgemv)(CblasRowMajor, flag(a.transposed), rows, columns, 1, a.at, (int)a.ld, x, step, 0, y, ldc);
}

static struct matrix flipped(struct matrix a)
{
    a.transposed = !a.transposed;
    return a;
}

static void real_product(enum dtype t, int m, int n, int k, struct matrix a, struct matrix b, void *c,
                         int ldc)
{
    int b_step = b.transposed ? 1 : (int)b.ld, a_step = a.transposed ? (int)a.ld : 1;
    if (n == 1 && t == DT_F32)
        vector_f32(m, k, a, b.at, b_step, c, ldc);
    else if (m == 1 && t == DT_F32)
        vector_f32(n, k, flipped(b), a.at, a_step, c, 1);
    else if (n == 1)
        vector_f64(m, k, a, b.at, b_step, c, ldc);
    else if (m == 1)
        vector_f64(n, k, flipped(b), a.at, a_step, c, 1);
    else if (t == DT_F32)
        BLAS(cblas_sgemm)(CblasRowMajor, flag(a.transposed), flag(b.transposed), m, n, k, 1, a.at, (int)a.ld, b.at,
                    (int)b.ld, 0, c, ldc);
    else
        BLAS(cblas_dgemm)(CblasRowMajor, flag(a.transposed), flag(b.transposed), m, n, k, 1, a.at, (int)a.ld, b.at,
                    (int)b.ld, 0, c, ldc);
}

static void complex_product(enum dtype t, int m, int n, int k, struct matrix a, struct matrix b, void *c,
                            int ldc)
{
    static const struct c64 one = {1, 0}, zero = {0, 0};
    static const struct c128 wide_one = {1, 0}, wide_zero = {0, 0};
    if (t == DT_C64)
        BLAS(cblas_cgemm)(CblasRowMajor, flag(a.transposed), flag(b.transposed), m, n, k, &one, a.at, (int)a.ld,
                    b.at, (int)b.ld, &zero, c, ldc);
    else
        BLAS(cblas_zgemm)(CblasRowMajor, flag(a.transposed), flag(b.transposed), m, n, k, &wide_one, a.at,
                    (int)a.ld, b.at, (int)b.ld, &wide_zero, c, ldc);
}

/* Rows of B are gapless: four of them at a time are added into a stretch of a row of C. Rows of A may
 * have any steps. */
enum { STRETCH = 1024 };
#define INTEGER_PRODUCT(T, ADD, MUL, NAME)                                                                   \
    KERN_CLONES static void NAME(int64_t n, int64_t k, const T *a, int64_t a_step, const T *b, int64_t ldb,  \
                                 T *restrict c)                                                              \
    {                                                                                                        \
        memset(c, 0, (size_t)n * sizeof(T));                                                                 \
        int64_t i = 0;                                                                                       \
        for (; i + 4 <= k; i += 4) {                                                                         \
            const T *b0 = b + i * ldb, *b1 = b0 + ldb, *b2 = b1 + ldb, *b3 = b2 + ldb;                       \
            T a0 = a[i * a_step], a1 = a[(i + 1) * a_step], a2 = a[(i + 2) * a_step],                        \
              a3 = a[(i + 3) * a_step];                                                                      \
            for (int64_t j = 0; j < n; j++)                                                                  \
                c[j] = (T)(c[j] ADD((T)(a0 MUL b0[j])ADD(T)(a1 MUL b1[j]) ADD(T)(a2 MUL b2[j])               \
                                        ADD(T)(a3 MUL b3[j])));                                              \
        }                                                                                                    \
        for (; i < k; i++)                                                                                   \
            for (int64_t j = 0; j < n; j++)                                                                  \
                c[j] = (T)(c[j] ADD(T)(a[i * a_step] MUL b[i * ldb + j]));                                   \
    }
INTEGER_PRODUCT(uint8_t, |, &, product_pred)
INTEGER_PRODUCT(uint8_t, +, *, product_u8)
INTEGER_PRODUCT(uint32_t, +, *, product_u32)
INTEGER_PRODUCT(uint64_t, +, *, product_u64)
/* u16 is promoted to int, whose product may overflow: multiply as unsigned. */
#define TIMES *1u *
INTEGER_PRODUCT(uint16_t, +, TIMES, product_u16)
#undef TIMES

/* B with gapless rows. */
static void integer_product(enum dtype t, int64_t m, int64_t n, int64_t k, struct matrix a, struct matrix b,
                            char *c, int64_t ldc)
{
    int64_t step = a.transposed ? a.ld : 1, row = a.transposed ? 1 : a.ld, w = (int64_t)dtype_bytes(t);
    for (int64_t j = 0; j < n; j += STRETCH) {
        int64_t count = n - j < STRETCH ? n - j : STRETCH;
        const char *from = (const char *)b.at + j * w;
        for (int64_t i = 0; i < m; i++) {
            const void *ai = (const char *)a.at + i * row * w, *bj = from;
            void *to = c + (i * ldc + j) * w;
            if (t == DT_PRED)
                product_pred(count, k, ai, step, bj, b.ld, to);
            else if (w == 1)
                product_u8(count, k, ai, step, bj, b.ld, to);
            else if (w == 2)
                product_u16(count, k, ai, step, bj, b.ld, to);
            else if (w == 4)
                product_u32(count, k, ai, step, bj, b.ld, to);
            else
                product_u64(count, k, ai, step, bj, b.ld, to);
        }
    }
}

/* Products too small to be worth OpenBLAS's preparations. The sum takes its terms one by one in order. */
enum { SMALL_PRODUCT = 4096 };

/* Steps, in elements, to the next row and the next column. */
struct steps {
    int64_t row, column;
};

static struct steps steps_of(struct matrix a)
{
    return a.transposed ? (struct steps){1, a.ld} : (struct steps){a.ld, 1};
}

/* Both add up each sum's terms in the same order: where rows of B are gapless, many sums at a time. */
#define SMALL_REAL(T)                                                                                        \
    KERN_CLONES static void small_rows_##T(int64_t m, int64_t n, int64_t k, const T *a, struct steps as,     \
                                           const T *b, int64_t ldb, T *restrict c, int64_t ldc)              \
    {                                                                                                        \
        for (int64_t i = 0; i < m; i++) {                                                                    \
            T *restrict row = c + i * ldc;                                                                   \
            for (int64_t j = 0; j < n; j++)                                                                  \
                row[j] = 0;                                                                                  \
            for (int64_t l = 0; l < k; l++) {                                                                \
                const T x = a[i * as.row + l * as.column];                                                   \
                for (int64_t j = 0; j < n; j++)                                                              \
                    row[j] += x * b[l * ldb + j];                                                            \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    static void small_##T(int64_t m, int64_t n, int64_t k, const T *a, struct steps as, const T *b,          \
                          struct steps bs, T *c, int64_t ldc)                                                \
    {                                                                                                        \
        if (n > 1 && bs.column == 1) {                                                                       \
            small_rows_##T(m, n, k, a, as, b, bs.row, c, ldc);                                               \
            return;                                                                                          \
        }                                                                                                    \
        for (int64_t i = 0; i < m; i++)                                                                      \
            for (int64_t j = 0; j < n; j++) {                                                                \
                T sum = 0;                                                                                   \
                for (int64_t l = 0; l < k; l++)                                                              \
                    sum += a[i * as.row + l * as.column] * b[l * bs.row + j * bs.column];                    \
                c[i * ldc + j] = sum;                                                                        \
            }                                                                                                \
    }
SMALL_REAL(float)
SMALL_REAL(double)

#define SMALL_COMPLEX(T)                                                                                     \
    static void small_##T(int64_t m, int64_t n, int64_t k, const struct T *a, struct steps as,               \
                          const struct T *b, struct steps bs, struct T *c, int64_t ldc)                      \
    {                                                                                                        \
        for (int64_t i = 0; i < m; i++)                                                                      \
            for (int64_t j = 0; j < n; j++) {                                                                \
                struct T sum = {0, 0};                                                                       \
                for (int64_t l = 0; l < k; l++) {                                                            \
                    struct T x = a[i * as.row + l * as.column], y = b[l * bs.row + j * bs.column];           \
                    sum.re += x.re * y.re - x.im * y.im;                                                     \
                    sum.im += x.re * y.im + x.im * y.re;                                                     \
                }                                                                                            \
                c[i * ldc + j] = sum;                                                                        \
            }                                                                                                \
    }
SMALL_COMPLEX(c64)
SMALL_COMPLEX(c128)

static void small_product(enum dtype t, int64_t m, int64_t n, int64_t k, struct matrix a, struct matrix b,
                          void *c, int64_t ldc)
{
    struct steps as = steps_of(a), bs = steps_of(b);
    if (t == DT_F32)
        small_float(m, n, k, a.at, as, b.at, bs, c, ldc);
    else if (t == DT_F64)
        small_double(m, n, k, a.at, as, b.at, bs, c, ldc);
    else if (t == DT_C64)
        small_c64(m, n, k, a.at, as, b.at, bs, c, ldc);
    else
        small_c128(m, n, k, a.at, as, b.at, bs, c, ldc);
}

void gemm_run(enum dtype t, int64_t m, int64_t n, int64_t k, struct matrix a, struct matrix b, void *c,
              int64_t ldc)
{
    bool is_float = dtype_is_float(t) || dtype_is_complex(t);
    bool is_small = k <= SMALL_PRODUCT && m * k <= SMALL_PRODUCT && m * k * n <= SMALL_PRODUCT;
    if (is_float && (is_small || !blas_is_there()))
        small_product(t, m, n, k, a, b, c, ldc);
    else if (t == DT_F32 || t == DT_F64)
        real_product(t, (int)m, (int)n, (int)k, a, b, c, (int)ldc);
    else if (dtype_is_complex(t))
        complex_product(t, (int)m, (int)n, (int)k, a, b, c, (int)ldc);
    else
        integer_product(t, m, n, k, a, b, c, ldc);
}
