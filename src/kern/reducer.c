/*
 * reducer: loops that reduce elements by a recognized combiner (spec: Reduce), in the order defined
 * in reducer.h.
 *
 * Accumulation: sums of floats, and products of f32 and f64, run in f64, and are rounded to the
 * result's type once. Along a row there are REDUCER_LANES lanes, with element i in lane i %
 * REDUCER_LANES, which are then combined pairwise (a few f64 sequentially); but products that start
 * from 0, infinity or NaN run sequentially. Other products, and sums of complex numbers, are
 * rounded at every step. For all other combiners the order is irrelevant.
 */
#include <math.h>
#include <stdlib.h>

#include "kern/reducer.h"
#include "kern/tile.h"

/* ---- sums and products in f64 ---- */

static bool multiplies(const struct reducer *f) { return f->combine == KERN_MULTIPLY; }

/* The type whose loops reduce elements of type x; narrow floats are converted to f32, except bf16
 * for sums. */
static enum dtype lane_type(enum kern_combine combine, enum dtype x)
{
    return x == DT_F64 || (x == DT_BF16 && combine == KERN_ADD) ? x : DT_F32;
}

/* A loop over elements of one type: a call for each would take longer than the operation. */
#define IN_ORDER(NAME, T, OP)                                                                      \
    static void NAME##_in_order(T *acc, const T *x, int64_t n)                                     \
    {                                                                                              \
        T made = *acc;                                                                             \
        for (int64_t i = 0; i < n; i++)                                                            \
            made OP x[i];                                                                          \
        *acc = made;                                                                               \
    }
IN_ORDER(sum_f32, float, +=)
IN_ORDER(sum_f64, double, +=)
IN_ORDER(product_f32, float, *=)
IN_ORDER(product_f64, double, *=)

/* Packed rows of n elements of f32 or f64. */
static void reduce_packed(const struct reducer *f, double *acc, const void *x, int64_t rows,
                          int64_t n)
{
    const struct tile_set *set = f->set;
    if (f->x != DT_F64)
        (multiplies(f) ? set->multiply_rows_f32 : set->sum_rows_f32)(acc, x, rows, n);
    else if (n >= REDUCER_LANES)
        (multiplies(f) ? set->multiply_rows_f64 : set->sum_rows_f64)(acc, x, rows, n);
    else
        for (int64_t r = 0; r < rows; r++)
            (multiplies(f) ? product_f64_in_order : sum_f64_in_order)(acc + r,
                                                                      (const double *)x + r * n, n);
}

static void reduce_in_lanes(const struct reducer *f, double *acc, const void *x, int64_t n)
{
    char scratch[LOADER_BYTES] __attribute__((aligned(64)));
    if (lane_type(f->combine, f->x) == DT_BF16)
        *acc += f->set->sum_bf16(x, n);
    else
        reduce_packed(f, acc, loader_read(&f->in, scratch, x, (int64_t)f->in.from, n), 1, n);
}

/* ---- other reductions ---- */

enum { ROW = 64 };

/* Reduces n lanes to one by halving; writes to `lanes`, which may be x. */
static void reduce_halves(const struct reducer *f, char *lanes, const char *x, int64_t n)
{
    while (n > 1) {
        int64_t half = n / 2;
        f->fn(lanes, (const void *const[]){x, x + (size_t)half * f->width}, half);
        if (n % 2)
            memcpy(lanes + (size_t)half * f->width, x + (size_t)(n - 1) * f->width, f->width);
        x = lanes;
        n = half + n % 2;
    }
    if (x != lanes)
        memcpy(lanes, x, f->width);
}

static bool is_extreme_f32(const struct reducer *f)
{
    return f->work == DT_F32 && (f->combine == KERN_MAXIMUM || f->combine == KERN_MINIMUM);
}

static bool has_codes(const struct reducer *f)
{
    return is_extreme_f32(f) && (f->x == DT_BF16 || f->x == DT_F16);
}

/* The maxima of rows of f32, bf16 or f16, or the minima; false when NaNs need more than
 * comparisons. */
static bool find_extremes(const struct reducer *f, float *best, const void *x, int64_t rows,
                          int64_t n)
{
    const bool greatest = f->combine == KERN_MAXIMUM;
    return has_codes(f) ? f->set->extreme_codes(f->x, best, x, rows, n, greatest)
                        : f->set->extreme_rows(best, x, rows, n, greatest);
}

/* Reduces n elements to lanes, as rows of lanes that are reduced to one row. */
static void reduce_as_rows(const struct reducer *f, char *lanes, const char *x, int64_t n)
{
    const void *rows[KERN_TILE / ROW];
    size_t bytes = ROW * f->width;
    int count = (int)(n / ROW) - 1;
    memcpy(lanes, x, bytes);
    for (int r = 0; r < count; r++)
        rows[r] = x + (size_t)(r + 1) * bytes;
    f->rows(lanes, NULL, rows, count, ROW);
    if (n % ROW > 0)
        f->fn(lanes, (const void *const[]){lanes, x + (size_t)(count + 1) * bytes}, n % ROW);
    reduce_halves(f, lanes, lanes, ROW);
}

static void reduce_in_any_order(const struct reducer *f, union kern_element *acc, const void *x,
                                int64_t n)
{
    char lanes[LOADER_BYTES] __attribute__((aligned(64)));
    if (f->rows && n >= 2 * ROW)
        reduce_as_rows(f, lanes, x, n);
    else
        reduce_halves(f, lanes, x, n);
    f->fn(acc, (const void *const[]){acc, lanes}, 1);
}

static void reduce_in_order(const struct reducer *f, union kern_element *acc, const char *x,
                            int64_t n)
{
    if (f->work == DT_F32 && f->combine == KERN_ADD)
        sum_f32_in_order(&acc->f32, (const void *)x, n);
    else if (f->work == DT_F32 && multiplies(f))
        product_f32_in_order(&acc->f32, (const void *)x, n);
    else
        for (int64_t i = 0; i < n; i++)
            f->fn(acc, (const void *const[]){acc, x + (size_t)i * f->width}, 1);
}

/* ---- any combiner ---- */

void reducer_start(const struct reducer *f, void *acc, int64_t n, bool first)
{
    kern_pack(acc, first ? f->init.bytes : f->identity.bytes, 0, f->width, n);
}

static void reduce_tile(const struct reducer *f, void *acc, const void *x, int64_t n)
{
    char scratch[LOADER_BYTES] __attribute__((aligned(64)));
    x = loader_read(&f->in, scratch, x, (int64_t)f->in.from, n);
    if (f->order == REDUCE_IN_ANY_ORDER)
        reduce_in_any_order(f, acc, x, n);
    else
        reduce_in_order(f, acc, x, n);
}

/* The extremes of all rows that need no more than comparisons are combined at once: not NaNs, nor
 * zeros of f32, whose signs are not compared. */
static void extreme_tiles(const struct reducer *f, float *acc, const char *x, int64_t rows,
                          int64_t n)
{
    const int64_t row = n * (int64_t)dtype_bytes(f->x);
    float best[KERN_TILE];
    for (int64_t from = 0; from < rows; from += KERN_TILE) {
        const int64_t some = min_i64(rows - from, KERN_TILE);
        const bool ok = find_extremes(f, best, x + from * row, some, n);
        for (int64_t r = 0; r < some; r++)
            if (!ok || (best[r] == 0 && !has_codes(f))) {
                reduce_tile(f, acc + from + r, x + (from + r) * row, n);
                best[r] = acc[from + r];
            }
        f->fn(acc + from, (const void *const[]){acc + from, best}, some);
    }
}

static bool has_extreme_tiles(const struct reducer *f)
{
    return is_extreme_f32(f) && (has_codes(f) || !f->in.convert);
}

bool reducer_has_tiles(const struct reducer *f)
{
    return (f->order == REDUCE_IN_LANES && (f->x == DT_F32 || f->x == DT_F64)) ||
           has_extreme_tiles(f);
}

void reducer_tiles(const struct reducer *f, void *acc, const void *x, int64_t rows, int64_t n)
{
    const size_t row = (size_t)n * dtype_bytes(f->x);
    if (f->order == REDUCE_IN_LANES && (f->x == DT_F32 || f->x == DT_F64)) {
        reduce_packed(f, acc, x, rows, n);
    } else if (has_extreme_tiles(f)) {
        extreme_tiles(f, acc, x, rows, n);
    } else {
        for (int64_t r = 0; r < rows; r++)
            reducer_tile(f, (char *)acc + (size_t)r * f->width, (const char *)x + (size_t)r * row,
                         n);
    }
}

void reducer_tile(const struct reducer *f, void *acc, const void *x, int64_t n)
{
    if (f->order == REDUCE_IN_LANES)
        reduce_in_lanes(f, acc, x, n);
    else if (has_extreme_tiles(f))
        extreme_tiles(f, acc, x, 1, n);
    else
        reduce_tile(f, acc, x, n);
}

static void reduce_rows(const struct reducer *f, void *acc, const void *const *rows, int count,
                        int64_t n)
{
    if (f->columns)
        f->columns(acc, rows, count, n);
    else
        f->rows(acc, NULL, rows, count, n);
}

/* At most REDUCER_ROWS rows that are converted, some columns at a time. */
static void reduce_converted_rows(const struct reducer *f, char *acc, const void *const *rows,
                                  int count, int64_t n)
{
    enum { COLUMNS = KERN_TILE / REDUCER_ROWS };
    char scratch[LOADER_BYTES] __attribute__((aligned(64)));
    const void *converted[REDUCER_ROWS];
    for (int64_t i = 0, some; i < n; i += some, acc += (size_t)some * f->width) {
        some = min_i64(n - i, COLUMNS);
        for (int r = 0; r < count; r++)
            converted[r] = loader_read(&f->in, scratch + (size_t)r * COLUMNS * f->in.to,
                                       (const char *)rows[r] + (size_t)i * f->in.from,
                                       (int64_t)f->in.from, some);
        reduce_rows(f, acc, converted, count, some);
    }
}

void reducer_rows(const struct reducer *f, void *acc, const void *const *rows, int count, int64_t n)
{
    char scratch[LOADER_BYTES] __attribute__((aligned(64)));
    if (!f->columns && !f->rows) {
        for (int r = 0; r < count; r++) {
            const void *row = loader_read(&f->in, scratch, rows[r], (int64_t)f->in.from, n);
            f->fn(acc, (const void *const[]){acc, row}, n);
        }
    } else if (!f->in.convert) {
        reduce_rows(f, acc, rows, count, n);
    } else {
        for (int r = 0; r < count; r += REDUCER_ROWS)
            reduce_converted_rows(f, acc, rows + r,
                                  count - r < REDUCER_ROWS ? count - r : REDUCER_ROWS, n);
    }
}

void reducer_join(const struct reducer *f, void *acc, const void *next, int64_t n)
{
    f->fn(acc, (const void *const[]){acc, next}, n);
}

void reducer_store(const struct reducer *f, char *out, int64_t stride, const void *acc, int64_t n)
{
    char scratch[LOADER_BYTES] __attribute__((aligned(64)));
    const void *narrow = loader_read(&f->narrow, scratch, acc, (int64_t)f->width, n);
    loader_write(&f->out, out, stride, narrow, n);
}

bool reducer_widens(enum dtype acc, enum dtype x)
{
    return acc == x ||
           (dtype_is_float(acc) && dtype_is_float(x) && dtype_bits(acc) > dtype_bits(x));
}

/* ---- choice of the loops ---- */

/* Whether a product that starts from this f64 is the same with lanes, except for rounding: the
 * product of a lane may be infinite or 0, whose product with 0 or infinity is NaN. */
static bool starts_in_lanes(const union kern_element *init)
{
    double x;
    memcpy(&x, init, sizeof x);
    return x != 0 && isfinite(x);
}

void reducer_init(struct reducer *f, enum kern_combine combine, enum dtype out, enum dtype x,
                  enum dtype acc, enum dtype work, const void *init)
{
    struct loader start;
    union kern_element element;
    const struct tile_set *set = tile_set();
    *f = (struct reducer){.combine = combine, .x = x, .work = work, .width = dtype_bytes(work)};
    loader_init_by(&set->find, &start, work, acc);
    memcpy(&f->init, loader_read(&start, &element, init, 0, 1), f->width);
    const bool wide = (combine == KERN_ADD || combine == KERN_MULTIPLY) && work == DT_F64 &&
                      dtype_is_float(x),
               in_lanes = wide && (combine == KERN_ADD || starts_in_lanes(&f->init));
    f->order = in_lanes                                          ? REDUCE_IN_LANES
               : !wide && combine_order_free(combine, acc, work) ? REDUCE_IN_ANY_ORDER
                                                                 : REDUCE_IN_ORDER;
    f->fn = set->find.elementwise(kern_combine_opcode(combine), work);
    f->rows = reducer_find_rows(combine, work);
    if (in_lanes && x != DT_F64)
        f->columns = combine == KERN_MULTIPLY           ? set->multiply_columns_f32
                     : lane_type(combine, x) == DT_BF16 ? set->sum_columns_bf16
                                                        : set->sum_columns_f32;
    f->set = set;
    f->has_identity = combine_identity(combine, work, &f->identity);
    loader_init_by(&set->find, &f->in, in_lanes ? lane_type(combine, x) : work, x);
    loader_init_by(&set->find, &f->narrow, acc, work);
    loader_init_by(&set->find, &f->out, out, acc);
}

int64_t reducer_block(const struct reducer *f, int64_t under, int64_t results)
{
    enum { SHARED_FROM = 256, BLOCK = 64 * KERN_TILE };
    if (results >= SHARED_FROM || f->order == REDUCE_IN_ORDER || !f->has_identity)
        return under;
    int64_t tiles = ratio_up(BLOCK / results, KERN_TILE);
    return tiles * KERN_TILE < under ? tiles * KERN_TILE : under;
}

bool reducer_goes_down_columns(const struct reducer *f, int64_t columns, int64_t column_stride,
                               int64_t under, int64_t row_stride)
{
    enum { FEW = 8 }; /* columns that are faster than one row whose steps depend on each other */
    if (columns == 0)
        return false;
    if (f->order == REDUCE_IN_ORDER && columns >= FEW) /* the order of both */
        return true;
    if (column_stride == (int64_t)f->in.from && columns >= REDUCER_COLUMNS)
        return true;
    if (f->order != REDUCE_IN_ORDER && under >= 64 && llabs(row_stride) < llabs(column_stride))
        return false;
    return columns >= 64 || columns >= under;
}
