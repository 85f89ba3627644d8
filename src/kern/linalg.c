/*
 * spec: Cholesky, TriangularSolve
 *
 * Cholesky factors and triangular systems by LAPACK and BLAS (grammar/values.md 13.5, 13.6): floats
 * up to f32 in f32, the others in their own type, rounded once at the end. The plain kernels
 * compute small ones, all of them without OpenBLAS, and each matrix for which the library's
 * behaviour is implementation-specific: pivots that are not positive, diagonals that are not
 * finite, not real or close to zero. In Fortran's column-major order, row-major memory is the
 * transposed matrix: so lower triangles are its upper ones, and a system with the matrix on the
 * left is one with it on the right.
 */
#include <math.h>
#include <stdatomic.h>

#include "kern/blas.h"
#include "kern/lapack.h"
#include "kern/nest.h"
#include "kern/plain/plain.h"

/* number of multiplications from which on loading the library pays off */
enum { MIN_FOR_LAPACK = 8192 };

static enum dtype work_type(enum dtype t)
{
    return t == DT_F64 || dtype_is_complex(t) ? t : DT_F32;
}

/* The matrix of the batch with this number. */
static struct view matrix_at(const struct view *v, int64_t number)
{
    const int64_t *dims = v->dims + v->rank - 2, *strides = v->strides + v->rank - 2;
    return (struct view){.dtype = v->dtype,
                         .rank = 2,
                         .data = v->data + lapack_offset(v, v->rank - 2, number),
                         .dims = {dims[0], dims[1]},
                         .strides = {strides[0], strides[1]}};
}

/* Whether the library can use a matrix in place: it has the work type, and its rows are packed and
 * in order. */
static bool usable(const struct view *m, enum dtype work)
{
    const int64_t width = (int64_t)dtype_bytes(work);
    return m->dtype == work && m->strides[1] == width && m->strides[0] == width * m->dims[1];
}

/* Bytes for a copy of one matrix of v in the work type; 0 if its matrices can be used in place, -1
 * on overflow. */
static int64_t bytes_for(const struct view *v, enum dtype work)
{
    const struct view m = matrix_at(v, 0);
    int64_t bytes;
    if (usable(&m, work))
        return 0;
    if (!mul_i64(m.dims[0], m.dims[1], &bytes) ||
        !mul_i64(bytes, (int64_t)dtype_bytes(work), &bytes) || bytes > INT64_MAX / 4096)
        return -1;
    return (bytes + 63) / 64 * 64;
}

/* The matrices of a batch, which are distributed among threads. Each thread has its own
 * workspace. */
struct batch {
    const struct view *out, *a, *b;
    enum dtype work;
    const struct kern_triangular *how; /* of systems */
    bool lower;                        /* of factors */
    char *workspaces;
    int64_t a_bytes,
        out_bytes; /* bytes of copies of the matrices, one after the other in the buffer */
    int64_t blocks,
        block; /* number of blocks of each system's right-hand sides; right-hand sides in a block */
    atomic_bool failed; /* out of memory */
};

static int64_t batch_count(const struct view *v) { return dims_elements(v->rank - 2, v->dims); }

/* The least work for which starting threads pays off. */
enum { MIN_PARALLEL_WORK = 1 << 20 };

/* False: out of memory. */
static bool run_batch(struct thread_pool *workers, struct batch *t, int64_t parts, int64_t work,
                      thread_pool_fn *fn)
{
    struct thread_pool *those =
        work >= MIN_PARALLEL_WORK || parts > MIN_PARALLEL_WORK / (work + 1) ? workers : NULL;
    const int64_t scratch = t->a_bytes + t->out_bytes;
    t->workspaces = scratch > 0 ? mem_alloc((size_t)(scratch * thread_pool_size(those))) : NULL;
    if (scratch > 0 && !t->workspaces)
        return false;
    thread_pool_run(those, parts, fn, t);
    mem_free(t->workspaces);
    return !t->failed;
}

/* A matrix as the library takes it: m itself, or one of the same dimensions in `scratch`,
 * uninitialized. */
static struct view packed(const struct view *m, enum dtype work, char *scratch)
{
    struct view made = *m;
    if (scratch)
        view_dense(&made, work, 2, m->dims, scratch);
    return made;
}

static double component(enum dtype t, const char *at) { return float_load(dtype_component(t), at); }

/* Whether all elements of the diagonal are finite, and far enough from zero that their reciprocals
 * are too; and real, if required. */
static bool tame_diagonal(const struct view *m, bool real)
{
    const double max = dtype_component(m->dtype) == DT_F64 ? 0x1p500 : 0x1p60, min = 1 / max;
    const int64_t n = m->dims[0], step = m->strides[0] + m->strides[1];
    const size_t half = dtype_bytes(m->dtype) / 2;
    for (int64_t i = 0; i < n; i++) {
        const char *at = m->data + i * step;
        const double re = fabs(component(m->dtype, at));
        const double im = dtype_is_complex(m->dtype) ? fabs(component(m->dtype, at + half)) : 0;
        if (!(re <= max && im <= max && (re >= min || im >= min)) || (real && im != 0))
            return false;
    }
    return true;
}

/* ---- cholesky ---- */

static void clear_other_triangle(const struct view *m, bool lower)
{
    const int64_t n = m->dims[0], width = m->strides[1];
    for (int64_t i = 0; i < n; i++) {
        char *row = m->data + i * m->strides[0];
        if (lower)
            memset(row + (i + 1) * width, 0, (size_t)((n - 1 - i) * width));
        else
            memset(row, 0, (size_t)(i * width));
    }
}

/* Factors in place; false when the plain kernel must determine the result. */
static bool factor(const struct view *m, bool lower)
{
    struct lapack_item it = {.type = m->dtype,
                             .x = {m->data},
                             .rows = {(fint)m->dims[0]},
                             .options = (const int64_t[]){lower ? 'U' : 'L'}};
    if (!tame_diagonal(m, true))
        return false;
    lapack_potrf(&it);
    if (it.info != 0 || !tame_diagonal(m, true))
        return false;
    clear_other_triangle(m, lower);
    return true;
}

static void factor_part(void *context, int64_t part, int worker)
{
    struct batch *t = context;
    char *scratch = t->out_bytes ? t->workspaces + worker * t->out_bytes : NULL;
    const struct view from = matrix_at(t->a, part), to = matrix_at(t->out, part);
    const struct view m = packed(&to, t->work, scratch);
    kern_convert_view(NULL, &m, &from);
    if (!factor(&m, t->lower)) {
        if (!plain_cholesky(NULL, &to, &from, t->lower))
            t->failed = true;
    } else if (scratch) {
        kern_convert_view(NULL, &to, &m);
    }
}

/* spec: Cholesky */
bool kern_cholesky(struct thread_pool *workers, const struct view *out, const struct view *a,
                   bool lower)
{
    const int64_t n = a->dims[a->rank - 1];
    struct batch t = {.out = out, .a = a, .work = work_type(a->dtype), .lower = lower};
    if (view_elements(a) == 0 || n * n / 3 < MIN_FOR_LAPACK / n || n > INT32_MAX ||
        !blas_is_there())
        return plain_cholesky(NULL, out, a, lower);
    t.out_bytes = bytes_for(out, t.work);
    return t.out_bytes >= 0 &&
           run_batch(workers, &t, batch_count(a),
                     n * n / 3 < MIN_PARALLEL_WORK / n ? n * n * n / 3 : MIN_PARALLEL_WORK,
                     factor_part);
}

/* ---- triangular systems ---- */

/* Solves for `count` right-hand sides of b from `first` on, in place. */
static void solve(const struct view *a, const struct view *b, const struct kern_triangular *how,
                  int64_t first, int64_t count)
{
    const bool left = how->left_side;
    const fint row = (fint)b->dims[1];
    const int64_t options[] = {left ? 'R' : 'L', how->lower ? 'U' : 'L',
                               how->conjugate   ? 'C'
                               : how->transpose ? 'T'
                                                : 'N',
                               how->unit_diagonal ? 'U' : 'N'};
    struct lapack_item it = {.type = a->dtype,
                             .x = {a->data, b->data + first * b->strides[left]},
                             .rows = {(fint)a->dims[0], left ? (fint)count : row, 0, row},
                             .columns = {0, left ? (fint)b->dims[0] : (fint)count},
                             .options = options};
    lapack_trsm(&it);
}

/* Some right-hand sides of one system: columns of b if a is on the left, else rows. */
static struct view sides_at(const struct view *m, const struct kern_triangular *how, int64_t first,
                            int64_t count)
{
    struct view some = *m;
    some.data += first * m->strides[how->left_side];
    some.dims[how->left_side] = count;
    return some;
}

static void solve_part(void *context, int64_t part, int worker)
{
    struct batch *t = context;
    char *scratch = t->workspaces ? t->workspaces + worker * (t->a_bytes + t->out_bytes) : NULL;
    const int64_t number = part / t->blocks, first = part % t->blocks * t->block;
    const struct view a = matrix_at(t->a, number), all_from = matrix_at(t->b, number);
    const struct view all_to = matrix_at(t->out, number);
    const int64_t left = all_to.dims[t->how->left_side] - first,
                  count = left < t->block ? left : t->block;
    const struct view from = sides_at(&all_from, t->how, first, count),
                      to = sides_at(&all_to, t->how, first, count);
    const struct view m = packed(&a, t->work, t->a_bytes ? scratch : NULL);
    if (t->a_bytes)
        kern_convert_view(NULL, &m, &a);
    if (!t->how->unit_diagonal && !tame_diagonal(&m, false)) {
        if (!plain_triangular_solve(NULL, &to, &a, &from, t->how))
            t->failed = true;
    } else if (t->out_bytes) {
        const struct view x = packed(&to, t->work, scratch + t->a_bytes);
        kern_convert_view(NULL, &x, &from);
        solve(&m, &x, t->how, 0, count);
        kern_convert_view(NULL, &to, &x);
    } else {
        kern_convert_view(NULL, &to, &from);
        solve(&m, &all_to, t->how, first, count);
    }
}

/* Minimum and maximum number of right-hand sides in a block: enough blocks for all threads, each
 * large enough to amortize reading the triangle. */
enum { FEW_SIDES = 64, MANY_SIDES = 256 };

static int64_t sides_in_block(int64_t sides)
{
    return sides <= FEW_SIDES        ? sides
           : sides <= 4 * MANY_SIDES ? (sides + 3) / 4 < FEW_SIDES ? FEW_SIDES : (sides + 3) / 4
                                     : MANY_SIDES;
}

/* spec: TriangularSolve */
bool kern_triangular_solve(struct thread_pool *workers, const struct view *out,
                           const struct view *a, const struct view *b,
                           const struct kern_triangular *how)
{
    const int64_t n = a->dims[a->rank - 1], *dims = b->dims + b->rank - 2,
                  sides = dims[how->left_side];
    struct batch t = {.out = out, .a = a, .b = b, .work = work_type(a->dtype), .how = how};
    if (view_elements(b) == 0 || dims[0] * dims[1] < MIN_FOR_LAPACK / n || dims[0] > INT32_MAX ||
        dims[1] > INT32_MAX || how->conjugate > how->transpose || !blas_is_there())
        return plain_triangular_solve(NULL, out, a, b, how);
    t.block = sides_in_block(sides);
    t.blocks = ratio_up(sides, t.block);
    t.a_bytes = bytes_for(a, t.work);
    t.out_bytes = bytes_for(out, t.work);
    const int64_t work = n * n < MIN_PARALLEL_WORK / t.block ? n * n * t.block : MIN_PARALLEL_WORK;
    return t.a_bytes >= 0 && t.out_bytes >= 0 &&
           run_batch(workers, &t, batch_count(b) * t.blocks, work, solve_part);
}
