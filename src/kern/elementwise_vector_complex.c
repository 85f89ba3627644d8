/*
 * elementwise_vector_complex.c: vectorized elementwise operations on c64, for fast runs, by the
 * formulas of elementwise_vector_complex.def. spec: the heading is beside each formula.
 */
#include "kern/tile.h"
#include "kern/vector.h"
#include "kern/vector_single.h"

enum { CHUNK = 256 };

/* Conditions are integers, combined without branches. */
#define IS(condition) ((int)(condition))
#define FINITE(x, y) (IS(vector_abs(x) < (double)INFINITY) & IS(vector_abs(y) < (double)INFINITY))
#define NONZERO(x, y) (IS((x) != 0) | IS((y) != 0))
/* Exponents whose powers do not leave the range of f32 by far, and angles of vector_circle. */
#define IN_RANGE(exponent, angle)                                                                  \
    (IS(vector_abs(exponent) <= 80) & IS(vector_abs(angle) <= (double)VECTOR_CIRCLE_LIMIT))
#define MODERATE(x) IS(vector_abs(x) <= 64)

struct hyperbolic {
    double sinh, cosh;
};
static inline struct hyperbolic hyperbolic_of(double x)
{
    const double up = vector_expm1(x), down = vector_expm1(-x);
    return (struct hyperbolic){(up - down) * 0.5, 1 + (up + down) * 0.5};
}

/* log(x^2 + y^2). Near 1 it is that of 1 + (x - 1)(x + 1) + y^2, where both products of f32 numbers
 * are exact. */
static inline double log_of_square(double x, double y)
{
    const double ax = vector_abs(x), ay = vector_abs(y);
    const double more = ax > ay ? ax : ay, less = ax > ay ? ay : ax;
    const double square = more * more + less * less;
    struct vector_reduced a = vector_log_reduce(square);
    a.f = a.k == 0 ? (more - 1) * (more + 1) + less * less : a.f;
    return vector_log_parts(a, 1);
}

struct complex_root {
    double re, im;
};
/* The parts have a product of y/2, so the lesser one follows from the greater. */
static inline struct complex_root root_of(double x, double y)
{
    const double size = sqrt(x * x + y * y), more = sqrt((vector_abs(x) + size) * 0.5);
    const double less = vector_abs(y) / (2 * more);
    return (struct complex_root){x < 0 ? less : more, vector_with_sign(x < 0 ? more : less, y)};
}

struct parts {
    float re[CHUNK], im[CHUNK];
};

static void split(struct parts *p, const struct c64 *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        p->re[i] = x[i].re;
        p->im[i] = x[i].im;
    }
}

static void join(struct c64 *out, const struct parts *p, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = (struct c64){p->re[i], p->im[i]};
}

/* The elements that are not ordinary, by the kernel of elementwise_complex.def. */
static void mend(const char *opcode, char *out, size_t width, const struct parts *x,
                 const struct parts *z, const int32_t *ordinary, int64_t n)
{
    kern_tile_fn *fn = tile_find(tile_complexes[DT_C64], opcode);
    for (int64_t i = 0; i < n; i++)
        if (!ordinary[i]) {
            const struct c64 a = {x->re[i], x->im[i]}, b = {z->re[i], z->im[i]};
            fn(out + (size_t)i * width, (const void *const[]){&a, &b}, 1);
        }
}

static bool all_set(const int32_t *ordinary, int64_t n)
{
    int32_t all = 1;
    for (int64_t i = 0; i < n; i++)
        all &= ordinary[i];
    return all;
}

/* A loop of chunks: PUT stores the results of one. */
#define LOOP(id, spelling, T, count, ordinary, PUT, ...)                                           \
    static void C64_##id(void *result, const void *const *args, int64_t n)                         \
    {                                                                                              \
        T *out = result;                                                                           \
        const struct c64 *first = args[0], *second = args[(count)-1];                              \
        struct parts xy, zw, uv;                                                                   \
        const struct parts *const other = (count) == 2 ? &zw : &xy;                                \
        int32_t is_ordinary[CHUNK];                                                                \
        for (int64_t at = 0; at < n; at += CHUNK) {                                                \
            const int64_t some = n - at < CHUNK ? n - at : CHUNK;                                  \
            split(&xy, first + at, some);                                                          \
            if ((count) == 2)                                                                      \
                split(&zw, second + at, some);                                                     \
            for (int64_t i = 0; i < some; i++) {                                                   \
                const double x = (double)xy.re[i], y = (double)xy.im[i], z = (double)other->re[i], \
                             w = (double)other->im[i];                                             \
                double u, v = 0;                                                                   \
                (void)y, (void)z, (void)w;                                                         \
                __VA_ARGS__;                                                                       \
                uv.re[i] = (float)u;                                                               \
                uv.im[i] = (float)v;                                                               \
                is_ordinary[i] = (ordinary) != 0;                                                  \
            }                                                                                      \
            PUT(out + at, &uv, some);                                                              \
            if (!all_set(is_ordinary, some))                                                       \
                mend(spelling, (char *)(out + at), sizeof *out, &xy, other, is_ordinary, some);    \
        }                                                                                          \
    }
static void put_real(float *out, const struct parts *p, int64_t n)
{
    memcpy(out, p->re, (size_t)n * sizeof *out);
}
#define UNARY(id, spelling, ordinary, ...)                                                         \
    LOOP(id, spelling, struct c64, 1, ordinary, join, __VA_ARGS__)
#define BINARY(id, spelling, ordinary, ...)                                                        \
    LOOP(id, spelling, struct c64, 2, ordinary, join, __VA_ARGS__)
#define PART(id, spelling, ordinary, ...)                                                          \
    LOOP(id, spelling, float, 1, ordinary, put_real, __VA_ARGS__)
#include "kern/elementwise_vector_complex.def"

#define UNARY(id, spelling, ...) {spelling, C64_##id},
#define BINARY UNARY
#define PART UNARY
static const struct tile_row rows[] = {
#include "kern/elementwise_vector_complex.def"
};
const struct tile_table tile_complex_vectors = {rows, COUNT_OF(rows)};
