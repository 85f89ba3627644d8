/*
 * tile.h: shared by the tile kernels: macros that define them, their look-up tables, and the
 * conversion of narrow floats to f32 and back.
 */
#ifndef HLO_KERN_TILE_H
#define HLO_KERN_TILE_H

#include "kern/indexed.h"

/* Placed before a loop in which out[i] depends only on x[i], even when out is x: without it gcc
 * tests for overlap at run time and uses a scalar loop for in-place operations. */
#if defined __GNUC__ && !defined __clang__
#define TILE_LOOP _Pragma("GCC ivdep")
#else
#define TILE_LOOP
#endif

/* A tile kernel of one, two or three operands of type T: a formula of an element x (and y, and z)
 * of each. */
#define TILE_UNARY(NAME, RESULT, T, ...)                                                           \
    static void NAME(void *result, const void *const *args, int64_t n)                             \
    {                                                                                              \
        RESULT *out = result;                                                                      \
        const T *a = args[0];                                                                      \
        TILE_LOOP                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T x = a[i];                                                                      \
            out[i] = __VA_ARGS__;                                                                  \
        }                                                                                          \
    }
#define TILE_BINARY(NAME, RESULT, T, ...)                                                          \
    static void NAME(void *result, const void *const *args, int64_t n)                             \
    {                                                                                              \
        RESULT *out = result;                                                                      \
        const T *a = args[0], *b = args[1];                                                        \
        TILE_LOOP                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T x = a[i], y = b[i];                                                            \
            out[i] = __VA_ARGS__;                                                                  \
        }                                                                                          \
    }
#define TILE_TERNARY(NAME, RESULT, T, ...)                                                         \
    static void NAME(void *result, const void *const *args, int64_t n)                             \
    {                                                                                              \
        RESULT *out = result;                                                                      \
        const T *a = args[0], *b = args[1], *c = args[2];                                          \
        TILE_LOOP                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T x = a[i], y = b[i], z = c[i];                                                  \
            out[i] = __VA_ARGS__;                                                                  \
        }                                                                                          \
    }

#define TILE_PASTE_(a, b) a##_##b
#define TILE_PASTE(a, b) TILE_PASTE_(a, b)

/* A name for the element type SELF, in files that are included for several types; its tile kernel
 * that computes in f32. */
#define NAME(name) TILE_PASTE(SELF, name)
#define TILE_THROUGH_F32(id, count)                                                                \
    static void NAME(id)(void *out, const void *const *args, int64_t n)                            \
    {                                                                                              \
        tile_through_f32(TILE_PASTE(DT, SELF), F32_##id, count, out, args, n);                     \
    }

typedef void tile_columns_fn(double *acc, const void *const *rows, int count, int64_t n);

/*
 * The files of tile kernels are compiled once per instruction set, whose name is TILE_ISA; all
 * external names that they define contain it. tile_set(), which is compiled once, selects the set.
 */
struct tile_set {
    struct kern_tiles find, find_plain;
    /* Narrow floats to f32, which is exact, and back, rounded to nearest even. */
    void (*widen)(enum dtype t, float *out, const void *x, int64_t n);
    void (*narrow)(enum dtype t, void *out, const float *x, int64_t n);
    double (*sum_bf16)(const uint16_t *x, int64_t n); /* in the order defined in reducer.h */
    /* Of rows of n packed elements: adds their sums, and multiplies by their products, in that
     * order; finds their extremes, with any sign if they are zero, or returns false if an element
     * is NaN. */
    void (*sum_rows_f32)(double *acc, const float *x, int64_t rows, int64_t n);
    void (*sum_rows_f64)(double *acc, const double *x, int64_t rows, int64_t n);
    void (*multiply_rows_f32)(double *acc, const float *x, int64_t rows, int64_t n);
    void (*multiply_rows_f64)(double *acc, const double *x, int64_t rows, int64_t n);
    bool (*extreme_rows)(float *out, const float *x, int64_t rows, int64_t n, bool greatest);
    /* Adds `count` rows of n elements to acc, one after the other, or multiplies it by them. */
    tile_columns_fn *sum_columns_bf16, *sum_columns_f32, *multiply_columns_f32;
    /* As extreme_rows, of bf16 or f16; zeros have the right sign. */
    bool (*extreme_codes)(enum dtype t, float *out, const uint16_t *x, int64_t rows, int64_t n,
                          bool greatest);
    /* Loops over short runs of f16; NULL without instructions that convert these. */
    indexed_fn *(*short_runs_f16)(enum kern_combine combine);
    /* Rounds each number to an integer, away from zero where the random word of `width` bits is
     * less than the integer part of the fraction times 2^width; infinities and NaNs are kept. The
     * words are u64 if they have 64 bits, otherwise f64. */
    void (*round_randomly)(double *x, const void *random, int width, int64_t n);
    /* n blocks of random bits. Order of their words: both of each block in turn; all first and all
     * second ones apart; all four of each in turn. */
    void (*threefry_pairs)(uint64_t key, uint64_t counter, int64_t n, uint32_t *out);
    void (*threefry_rows)(uint64_t key, uint64_t counter, int64_t n, uint32_t *first,
                          uint32_t *second);
    void (*philox)(uint64_t key, uint64_t lo, uint64_t hi, uint64_t from, int64_t n, uint32_t *out);
};
extern const struct tile_set tile_set_baseline, tile_set_avx2, tile_set_avx512;
const struct tile_set *tile_set(void); /* the set for this processor */

#ifdef TILE_ISA
#define TILE_OWN(name) TILE_PASTE(name, TILE_ISA)
#define tile_integers TILE_OWN(tile_integers)
#define tile_floats TILE_OWN(tile_floats)
#define tile_complexes TILE_OWN(tile_complexes)
#define tile_vectors TILE_OWN(tile_vectors)
#define tile_sleef TILE_OWN(tile_sleef)
#define tile_complex_vectors TILE_OWN(tile_complex_vectors)
#define tile_find TILE_OWN(tile_find)
#define tile_find_compare TILE_OWN(tile_find_compare)
#define tile_find_convert TILE_OWN(tile_find_convert)
#define tile_widen TILE_OWN(tile_widen)
#define tile_narrow TILE_OWN(tile_narrow)
#define tile_narrow_results TILE_OWN(tile_narrow_results)
#define tile_find_narrow_results TILE_OWN(tile_find_narrow_results)
#define tile_find_rounded TILE_OWN(tile_find_rounded)
#define tile_round_randomly TILE_OWN(tile_round_randomly)
#define tile_sum_bf16 TILE_OWN(tile_sum_bf16)
#define tile_sum_rows_f32 TILE_OWN(tile_sum_rows_f32)
#define tile_sum_rows_f64 TILE_OWN(tile_sum_rows_f64)
#define tile_multiply_rows_f32 TILE_OWN(tile_multiply_rows_f32)
#define tile_multiply_rows_f64 TILE_OWN(tile_multiply_rows_f64)
#define tile_sum_columns_bf16 TILE_OWN(tile_sum_columns_bf16)
#define tile_sum_columns_f32 TILE_OWN(tile_sum_columns_f32)
#define tile_multiply_columns_f32 TILE_OWN(tile_multiply_columns_f32)
#define tile_extreme_rows TILE_OWN(tile_extreme_rows)
#define tile_extreme_codes TILE_OWN(tile_extreme_codes)
#define tile_short_runs_f16 TILE_OWN(tile_short_runs_f16)
#define tile_threefry_pairs TILE_OWN(tile_threefry_pairs)
#define tile_threefry_rows TILE_OWN(tile_threefry_rows)
#define tile_philox TILE_OWN(tile_philox)
#define tile_through_f32 TILE_OWN(tile_through_f32)

/* Bytes of a vector of this instruction set. */
#if defined __AVX512F__
enum { TILE_BYTES = 64 };
#elif defined __AVX2__
enum { TILE_BYTES = 32 };
#else
enum { TILE_BYTES = 16 };
#endif

/* The kernels of one element type, sorted by opcode. */
struct tile_row {
    const char *opcode;
    kern_tile_fn *fn;
};
struct tile_table {
    const struct tile_row *rows;
    size_t count;
};
extern const struct tile_table tile_integers[DT_COUNT], tile_floats[DT_COUNT],
    tile_complexes[DT_COUNT], tile_vectors[DT_COUNT];
extern const struct tile_table tile_plain_floats[DT_COUNT], tile_plain_complexes[DT_COUNT];
extern const struct tile_table tile_sleef;                            /* of f64; may be empty */
extern const struct tile_table tile_complex_vectors;                  /* of c64 */
kern_tile_fn *tile_find(struct tile_table table, const char *opcode); /* NULL when absent */

kern_tile_fn *tile_find_compare(enum kern_direction d, bool total_order, enum dtype t);
kern_tile_fn *tile_find_convert(enum dtype to, enum dtype from);
void tile_widen(enum dtype t, float *out, const void *x, int64_t n);
void tile_narrow(enum dtype t, void *out, const float *x, int64_t n);
/* Of operations on values of that type: a NaN keeps its payload in bf16 and f16. */
void tile_narrow_results(enum dtype t, void *out, const float *x, int64_t n);
kern_tile_fn *tile_find_narrow_results(enum dtype t);
kern_tile_fn *tile_find_rounded(const char *opcode, enum dtype t);
void tile_round_randomly(double *x, const void *random, int width, int64_t n);
double tile_sum_bf16(const uint16_t *x, int64_t n);
void tile_sum_rows_f32(double *acc, const float *x, int64_t rows, int64_t n);
void tile_sum_rows_f64(double *acc, const double *x, int64_t rows, int64_t n);
void tile_multiply_rows_f32(double *acc, const float *x, int64_t rows, int64_t n);
void tile_multiply_rows_f64(double *acc, const double *x, int64_t rows, int64_t n);
tile_columns_fn tile_sum_columns_bf16, tile_sum_columns_f32, tile_multiply_columns_f32;
bool tile_extreme_rows(float *out, const float *x, int64_t rows, int64_t n, bool greatest);
bool tile_extreme_codes(enum dtype t, float *out, const uint16_t *x, int64_t rows, int64_t n,
                        bool greatest);
indexed_fn *tile_short_runs_f16(enum kern_combine combine);
void tile_threefry_pairs(uint64_t key, uint64_t counter, int64_t n, uint32_t *out);
void tile_threefry_rows(uint64_t key, uint64_t counter, int64_t n, uint32_t *first,
                        uint32_t *second);
void tile_philox(uint64_t key, uint64_t lo, uint64_t hi, uint64_t from, int64_t n, uint32_t *out);
/* Applies an f32 kernel of `count` operands to a narrow type. */
void tile_through_f32(enum dtype t, kern_tile_fn *fn, int count, void *out, const void *const *args,
                      int64_t n);
#endif

/* Narrow floats: all but f32 and f64. */
/* clang-format off */
#define TILE_NARROW_TYPES(X)                                                                                 \
    X(F4E2M1FN) X(F6E2M3FN) X(F6E3M2FN) X(F8E3M4) X(F8E4M3) X(F8E4M3B11FNUZ) X(F8E4M3FN) X(F8E4M3FNUZ)       \
    X(F8E5M2) X(F8E5M2FNUZ) X(F8E8M0FNU) X(F16) X(BF16)
/* clang-format on */
static inline bool tile_is_narrow(enum dtype t)
{
    return dtype_is_float(t) && t != DT_F32 && t != DT_F64;
}

/* The result of an operation on values of bf16: a NaN, whose lower bits are 0, keeps the others. */
static inline uint16_t tile_bf16_result(float x)
{
    const union {
        float f;
        uint32_t u;
    } v = {x};
    return (uint16_t)((v.u + 0x7fff + (v.u >> 16 & 1)) >> 16);
}

/* kern_map_tiles for a kernel that takes a context and the number of the worker that calls it. */
typedef void tile_context_fn(const void *context, int worker, void *out, const void *const *args,
                             int64_t n);
void tile_map(struct thread_pool *workers, tile_context_fn *fn, const void *context,
              const struct view *out, int count, const struct view *args);

#endif
