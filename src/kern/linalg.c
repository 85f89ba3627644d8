/*
 * spec: Cholesky, TriangularSolve
 *
 * Cholesky factors and triangular systems by LAPACK and BLAS (hlo-values 13.5, 13.6): floats up to f32 in f32, the
 * others as they are, rounded once at the end. What is small, and where there is no OpenBLAS, is done by the plain
 * kernels; so is each matrix on which the library has habits of its own: pivots that are not positive, diagonals that
 * are not finite, not real or next to zero.
 *
 * Fortran takes row-major memory for the transposed matrix: lower triangles are its upper ones, and a system with
 * the matrix on the left one with it on the right.
 */
#include <math.h>

#include "kern/blas.h"
#include "kern/lapack.h"
#include "kern/nest.h"
#include "kern/plain/plain.h"

/* Multiplications below which the library is not worth loading. */
enum { WORTH_LAPACK = 8192 };

static enum dtype work_type(enum dtype t)
{
    return t == DT_F64 || dtype_is_complex(t) ? t : DT_F32;
}

/* The matrix at `data` in a view's last two dimensions. */
static struct view matrix_at(const struct view *v, char *data)
{
    const int64_t *dims = v->dims + v->rank - 2, *strides = v->strides + v->rank - 2;
    return (struct view){.dtype = v->dtype,
                         .rank = 2,
                         .data = data,
                         .dims = {dims[0], dims[1]},
                         .strides = {strides[0], strides[1]}};
}

/* Whether the library can work on a matrix where it lies: of its type, rows gapless, one behind the other. */
static bool usable(const struct view *m, enum dtype work)
{
    const int64_t width = (int64_t)dtype_bytes(work);
    return m->dtype == work && m->strides[1] == width && m->strides[0] == width * m->dims[1];
}

/* Room for one matrix of v, in the work type, unless its matrices can be used as they are. */
static bool take_room(const struct view *v, enum dtype work, char **room)
{
    const struct view m = matrix_at(v, v->data);
    int64_t bytes;
    *room = NULL;
    if (usable(&m, work))
        return true;
    if (!mul_i64(m.dims[0], m.dims[1], &bytes) || !mul_i64(bytes, (int64_t)dtype_bytes(work), &bytes))
        return false;
    *room = mem_alloc((size_t)bytes);
    return *room != NULL;
}

/* A matrix as the library takes it: m itself, or with its dimensions in `room`, not yet filled. */
static struct view packed(const struct view *m, enum dtype work, char *room)
{
    struct view made = *m;
    if (room)
        view_dense(&made, work, 2, m->dims, room);
    return made;
}

static double component(enum dtype t, const char *at)
{
    return float_load(dtype_component(t), at);
}

/* Whether everything on the diagonal is finite, and so far from zero that its reciprocal is too; and real, if it must be. */
static bool tame_diagonal(const struct view *m, bool real)
{
    const double most = dtype_component(m->dtype) == DT_F64 ? 0x1p500 : 0x1p60, least = 1 / most;
    const int64_t n = m->dims[0], step = m->strides[0] + m->strides[1];
    const size_t half = dtype_bytes(m->dtype) / 2;
    for (int64_t i = 0; i < n; i++) {
        const char *at = m->data + i * step;
        const double re = fabs(component(m->dtype, at));
        const double im = dtype_is_complex(m->dtype) ? fabs(component(m->dtype, at + half)) : 0;
        if (!(re <= most && im <= most && (re >= least || im >= least)) || (real && im != 0))
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

/* False where the plain kernel has to say what comes out. */
static bool factor(const struct view *m, bool lower)
{
    fint n = (fint)m->dims[0], info = 0;
    char uplo = lower ? 'U' : 'L';
    if (!tame_diagonal(m, true))
        return false;
    ((void (*)(P, P, P, P, P, L))lapack_function(m->dtype, "potrf"))(&uplo, &n, m->data, &n, &info, 1);
    if (info != 0 || !tame_diagonal(m, true))
        return false;
    clear_other_triangle(m, lower);
    return true;
}

/* spec: Cholesky */
bool kern_cholesky(struct team *team, const struct view *out, const struct view *a, bool lower)
{
    const enum dtype work = work_type(a->dtype);
    const int64_t n = a->dims[a->rank - 1];
    int64_t index[VIEW_MAX_RANK] = {0};
    char *room;
    if (view_elements(a) == 0 || n * n / 3 < WORTH_LAPACK / n || n > INT32_MAX || !blas_is_there())
        return plain_cholesky(NULL, out, a, lower);
    if (!take_room(out, work, &room))
        return false;
    bool ok = true;
    do {
        const struct view from = matrix_at(a, view_at(a, index)), to = matrix_at(out, view_at(out, index));
        const struct view m = packed(&to, work, room);
        kern_convert_view(NULL, &m, &from);
        if (!factor(&m, lower))
            ok = plain_cholesky(NULL, &to, &from, lower);
        else if (room)
            kern_convert_view(NULL, &to, &m);
    } while (ok && index_next(a->rank - 2, a->dims, index));
    mem_free(room);
    return ok;
}

/* ---- triangular systems ---- */

/* Solves for b in place. */
static void solve(const struct view *a, const struct view *b, const struct kern_triangular *how)
{
    fint m = (fint)b->dims[1], n = (fint)b->dims[0], lda = (fint)a->dims[0];
    char side = how->left_side ? 'R' : 'L', uplo = how->lower ? 'U' : 'L';
    char trans = how->conjugate ? 'C' : how->transpose ? 'T' : 'N', diag = how->unit_diagonal ? 'U' : 'N';
    float one[2] = {1, 0};
    double wide_one[2] = {1, 0};
    void *alpha = dtype_component(a->dtype) == DT_F64 ? (void *)wide_one : one;
    ((void (*)(P, P, P, P, P, P, P, P, P, P, P, L, L, L, L))lapack_function(a->dtype, "trsm"))(
        &side, &uplo, &trans, &diag, &m, &n, alpha, a->data, &lda, b->data, &m, 1, 1, 1, 1);
}

/* Every system of the batch, with room for one matrix of a and one of b where they need it. */
static bool solve_all(const struct view *out, const struct view *a, const struct view *b,
                      const struct kern_triangular *how, char *a_room, char *b_room)
{
    const enum dtype work = work_type(a->dtype);
    int64_t index[VIEW_MAX_RANK] = {0};
    bool ok = true;
    do {
        const struct view a_from = matrix_at(a, view_at(a, index)), b_from = matrix_at(b, view_at(b, index));
        const struct view to = matrix_at(out, view_at(out, index)), x = packed(&to, work, b_room);
        const struct view m = packed(&a_from, work, a_room);
        if (a_room)
            kern_convert_view(NULL, &m, &a_from);
        if (!how->unit_diagonal && !tame_diagonal(&m, false)) {
            ok = plain_triangular_solve(NULL, &to, &a_from, &b_from, how);
            continue;
        }
        kern_convert_view(NULL, &x, &b_from);
        solve(&m, &x, how);
        if (b_room)
            kern_convert_view(NULL, &to, &x);
    } while (ok && index_next(b->rank - 2, b->dims, index));
    return ok;
}

/* spec: TriangularSolve */
bool kern_triangular_solve(struct team *team, const struct view *out, const struct view *a, const struct view *b,
                           const struct kern_triangular *how)
{
    const enum dtype work = work_type(a->dtype);
    const int64_t n = a->dims[a->rank - 1], *dims = b->dims + b->rank - 2;
    char *a_room = NULL, *b_room = NULL;
    if (view_elements(b) == 0 || dims[0] * dims[1] < WORTH_LAPACK / n || dims[0] > INT32_MAX || dims[1] > INT32_MAX ||
        how->conjugate > how->transpose || !blas_is_there())
        return plain_triangular_solve(NULL, out, a, b, how);
    const bool ok = take_room(a, work, &a_room) && take_room(out, work, &b_room) &&
                    solve_all(out, a, b, how, a_room, b_room);
    mem_free(a_room);
    mem_free(b_room);
    return ok;
}
