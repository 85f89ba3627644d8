/*
 * matvec: products of a matrix of narrow floats with one vector (spec: DotGeneral), where the matrix is
 * read once and widened on the way instead of being packed first.
 *
 * Order and accumulation: in f32. Along rows of the matrix in interleaved sums that are folded at the
 * end; down its columns one row after the other, four at a time.
 */
#include "kern/product.h"

typedef float wide __attribute__((vector_size(64), aligned(4), may_alias));
typedef uint16_t half_lanes __attribute__((vector_size(32), aligned(2), may_alias));
typedef uint32_t word_lanes __attribute__((vector_size(64), aligned(4), may_alias));

enum { LANES = 16 };

/* sum[j] += x[i * 16 + j] * y[i * 16 + j] */
KERN_CLONES static void multiply_f32(float *restrict sum, const float *x, const float *y, int64_t n)
{
    wide lanes = *(const wide *)sum;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        lanes += *(const wide *)(x + i) * *(const wide *)(y + i);
    *(wide *)sum = lanes;
    for (; i < n; i++)
        sum[i % LANES] += x[i] * y[i];
}

KERN_CLONES static void multiply_bf16(float *restrict sum, const uint16_t *x, const float *y, int64_t n)
{
    wide lanes = *(const wide *)sum;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        word_lanes bits = __builtin_convertvector(*(const half_lanes *)(x + i), word_lanes) << 16;
        lanes += (wide)bits * *(const wide *)(y + i);
    }
    *(wide *)sum = lanes;
    for (; i < n; i++)
        sum[i % LANES] += bf16_to_f32(x[i]) * y[i];
}

static float fold(float *sum)
{
    for (int step = LANES / 2; step > 0; step /= 2)
        for (int j = 0; j < step; j++)
            sum[j] += sum[j + step];
    return sum[0];
}

/* acc[j] += a[0] * x0[j] + a[1] * x1[j] + ...: the sums of four rows. */
KERN_CLONES static void add_rows_f32(float *restrict acc, const float *a, const float *const *x, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        acc[j] += (a[0] * x[0][j] + a[1] * x[1][j]) + (a[2] * x[2][j] + a[3] * x[3][j]);
}

KERN_CLONES static void add_rows_bf16(float *restrict acc, const float *a, const uint16_t *x0,
                                      const uint16_t *x1, const uint16_t *x2, const uint16_t *x3, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        acc[j] += (a[0] * bf16_to_f32(x0[j]) + a[1] * bf16_to_f32(x1[j])) +
                  (a[2] * bf16_to_f32(x2[j]) + a[3] * bf16_to_f32(x3[j]));
}

/* y[i] = sum over k of matrix[i, k] * x[k] */
struct matvec {
    enum dtype type; /* of the matrix */
    const char *matrix;
    int64_t rows, columns, row_step, column_step;
    const float *x;
    struct loader widen, out;
    char *y;
    int64_t y_step;
};

static void along_rows(const struct matvec *v)
{
    float room[KERN_TILE], y;
    for (int64_t i = 0; i < v->rows; i++) {
        const char *row = v->matrix + i * v->row_step;
        float sum[LANES] = {0};
        if (v->type == DT_BF16)
            multiply_bf16(sum, (const uint16_t *)(const void *)row, v->x, v->columns);
        for (int64_t k = 0; k < v->columns && v->type != DT_BF16; k += KERN_TILE) {
            int64_t n = v->columns - k < KERN_TILE ? v->columns - k : KERN_TILE;
            multiply_f32(sum, loader_read(&v->widen, room, row + k * v->column_step, v->column_step, n),
                         v->x + k, n);
        }
        y = fold(sum);
        loader_write(&v->out, v->y + i * v->y_step, 0, &y, 1);
    }
}

/* Four columns of the matrix (n elements side by side each) into the sums; missing ones count as 0. */
static void add_columns(const struct matvec *v, float *acc, const char *at, int64_t k, int64_t n)
{
    float room[4][KERN_TILE], a[4] = {0};
    const float *x[4];
    const char *from[4];
    for (int j = 0; j < 4; j++) {
        bool present = k + j < v->columns;
        a[j] = present ? v->x[k + j] : 0;
        from[j] = at + (present ? j : 0) * v->column_step;
    }
    if (k + 4 <= v->columns && v->type == DT_BF16) {
        add_rows_bf16(acc, a, (const void *)from[0], (const void *)from[1], (const void *)from[2],
                      (const void *)from[3], n);
        return;
    }
    for (int j = 0; j < 4; j++) {
        x[j] = loader_read(&v->widen, room[j], from[j], v->row_step, n);
        if (k + j >= v->columns)
            x[j] = memset(room[j], 0, sizeof room[j]);
    }
    add_rows_f32(acc, a, x, n);
}

/* Sums of so many rows at a time, so that long stretches of each column are read; they stay in the first cache. */
enum { SUMS = 4 * KERN_TILE };

static void down_columns(const struct matvec *v)
{
    for (int64_t i = 0; i < v->rows; i += SUMS) {
        float acc[SUMS] = {0};
        const int64_t n = v->rows - i < SUMS ? v->rows - i : SUMS;
        for (int64_t k = 0; k < v->columns; k += 4)
            for (int64_t j = 0; j < n; j += KERN_TILE)
                add_columns(v, acc + j, v->matrix + (i + j) * v->row_step + k * v->column_step, k,
                            n - j < KERN_TILE ? n - j : KERN_TILE);
        for (int64_t j = 0; j < n; j += KERN_TILE)
            loader_write(&v->out, v->y + (i + j) * v->y_step, v->y_step, acc + j, n - j < KERN_TILE ? n - j : KERN_TILE);
    }
}

/* ---- which products these are ---- */

static bool single(const struct nest *n, int view, int64_t *points, int64_t *step)
{
    *points = n->rank ? n->dims[0] : 1;
    *step = n->rank ? n->strides[view][0] : 0;
    return n->rank <= 1;
}

bool matvec_applies(const struct product *p)
{
    int64_t rows, columns, row_step, column_step;
    bool by_lhs = nest_points(&p->n) == 1 && nest_points(&p->m) > 1;
    enum dtype type = by_lhs ? p->lhs_type : p->rhs_type;
    if (p->work != DT_F32 || type == DT_F32 || !dtype_is_float(type) || (!by_lhs && nest_points(&p->m) != 1))
        return false;
    int64_t width = (int64_t)dtype_bytes(type);
    return single(by_lhs ? &p->m : &p->n, 1, &rows, &row_step) &&
           single(&p->k, by_lhs ? 0 : 1, &columns, &column_step) &&
           (row_step == width || column_step == width) && rows * columns >= 256;
}

bool matvec_run(const struct product *p, char *out, const char *lhs, const char *rhs)
{
    bool by_lhs = nest_points(&p->n) == 1 && nest_points(&p->m) > 1;
    struct matvec v = {.type = by_lhs ? p->lhs_type : p->rhs_type, .matrix = by_lhs ? lhs : rhs, .y = out};
    const struct nest *free_dims = by_lhs ? &p->m : &p->n;
    struct view from = {.dtype = by_lhs ? p->rhs_type : p->lhs_type, .rank = 1}, x;
    int64_t ignored;
    single(free_dims, 1, &v.rows, &v.row_step);
    single(free_dims, 0, &ignored, &v.y_step);
    single(&p->k, by_lhs ? 0 : 1, &v.columns, &v.column_step);
    single(&p->k, by_lhs ? 1 : 0, &from.dims[0], &from.strides[0]);
    from.data = (char *)(uintptr_t)(by_lhs ? rhs : lhs);
    loader_init(&v.widen, DT_F32, v.type);
    loader_init(&v.out, p->out_type, DT_F32);
    float *room = mem_alloc((size_t)v.columns * sizeof *room);
    if (!room)
        return false;
    view_dense(&x, DT_F32, 1, from.dims, room);
    kern_convert_view(NULL, &x, &from);
    v.x = room;
    if (v.column_step == (int64_t)dtype_bytes(v.type) || v.columns == 1)
        along_rows(&v);
    else
        down_columns(&v);
    mem_free(room);
    return true;
}
