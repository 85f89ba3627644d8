/*
 * scalar_native_array.c: reductions and products of small arrays as machine code without loops, in
 * the order of the kernels (kern.h: kern_reduce_fold, kern_dot_is_sequential).
 */
#include "plan/scalar_native.h"

enum {
    MOST_ELEMENTS = 64, /* of one result */
    MOST_STEPS = 192    /* in all */
};

/* ---- operands ---- */

/* Elements from an address on, or one element in all lanes. */
static int read_lanes(struct translation *t, const void *at, enum dtype type, int lanes,
                      bool single)
{
    const struct cell *c = scalar_cell_at(t, at);
    int v;
    if (lanes > 1 && !single)
        return jit_element(t->b, (char *)(uintptr_t)at, type);
    if (lanes > 1 && (!c || c->value == JIT_NONE))
        return jit_single(t->b, (char *)(uintptr_t)at, type);
    jit_set_lanes(t->b, 1);
    v = scalar_read_element(t, at, type);
    jit_set_lanes(t->b, lanes);
    return v == JIT_NONE || lanes == 1 ? v : jit_splat(t->b, v);
}

static bool write_lanes(struct translation *t, void *at, enum dtype type, int lanes, int value)
{
    if (lanes == 1)
        return scalar_write_element(t, at, type, value);
    jit_put_element(t->b, at, value);
    return true;
}

/* Whether elements can be read and written in lanes, alone and converted between these types; the
 * greatest number of lanes, or 0. */
static int lanes_for(struct arena *scratch, const enum dtype *types, int count, const char *opcode,
                     enum dtype work)
{
    struct arena_mark mark = arena_mark(scratch);
    struct jit_builder *b = jit_builder_new(scratch);
    bool ok = true;
    for (int k = 0; k < count && ok; k++) {
        const int x = jit_load(b, k, types[k], false), y = jit_load(b, k, work, false);
        ok = x != JIT_NONE && y != JIT_NONE && jit_convert(b, work, x) != JIT_NONE &&
             jit_convert(b, types[k], y) != JIT_NONE &&
             jit_elementwise(b, opcode, work, (const int[]){y, y}, 2) != JIT_NONE;
    }
    const int lanes = ok ? jit_most_lanes(b) : 0;
    arena_release(scratch, mark);
    return lanes;
}

/* ---- reductions ---- */

struct fold {
    struct translation *t;
    const struct scalar_reduce *r;
    enum kern_fold order;
    enum dtype work;
    const char *opcode;
    struct view kept;        /* the operand's, without the reduced dimensions */
    int64_t under, *offsets; /* elements of one result, and their distances from the first, bytes */
};

static int step(const struct fold *f, int x, int y)
{
    return jit_elementwise(f->t->b, f->opcode, f->work, (const int[]){x, y}, 2);
}

/* Halves of the first n values until one is left. */
static int fold_halves(const struct fold *f, int *values, int64_t n, int64_t half)
{
    for (; half > 0; half /= 2) {
        for (int64_t k = 0; k + half < n && k < half; k++)
            values[k] = step(f, values[k], values[k + half]);
        n = n < half ? n : half;
    }
    return values[0];
}

static int fold_values(const struct fold *f, int init, int *values)
{
    int64_t n = f->under;
    if (f->order == KERN_FOLD_IN_ORDER) {
        for (int64_t k = 0; k < n; k++)
            init = step(f, init, values[k]);
        return init;
    }
    for (int64_t k = KERN_SUMS; k < n; k++)
        values[k % KERN_SUMS] = step(f, values[k % KERN_SUMS], values[k]);
    return step(f, init, fold_halves(f, values, n < KERN_SUMS ? n : KERN_SUMS, KERN_SUMS / 2));
}

/* One result, or adjacent ones. */
static bool fold_results(const struct fold *f, char *out, const char *x, int lanes)
{
    struct jit_builder *b = f->t->b;
    const enum dtype acc = f->r->acc[0];
    int values[MOST_ELEMENTS];
    jit_set_lanes(b, lanes);
    for (int64_t k = 0; k < f->under; k++)
        values[k] = jit_convert(
            b, f->work, read_lanes(f->t, x + f->offsets[k], f->r->x[0].dtype, lanes, false));
    const int init = jit_convert(b, f->work, read_lanes(f->t, f->r->init[0], acc, lanes, true));
    const int v = jit_convert(b, acc, fold_values(f, init, values));
    return write_lanes(f->t, out, acc, lanes, v);
}

/* The lanes of an operand's view that is reduced: adjacent results whose operands are adjacent. */
static int lanes_of_results(const struct fold *f, int lanes)
{
    const int last = f->kept.rank - 1;
    const struct view *out = &f->r->out[0];
    if (last < 0 || f->kept.dims[last] < 4 || !view_is_dense(out) ||
        f->kept.strides[last] != (int64_t)dtype_bytes(f->kept.dtype))
        return 1;
    return f->kept.dims[last] < lanes ? 4 : lanes;
}

static bool fold_all(const struct fold *f, int most)
{
    const struct view *out = &f->r->out[0];
    const int64_t row = f->kept.rank ? f->kept.dims[f->kept.rank - 1] : 1,
                  results = view_elements(out);
    int64_t index[VIEW_MAX_RANK] = {0}, at = 0;
    bool ok = true;
    while (at < results && ok) {
        const int64_t left = row - at % row;
        const int lanes = left >= most ? most : most > 1 && left >= 4 ? 4 : 1;
        ok = fold_results(f, view_at(out, index), view_at(&f->kept, index), lanes);
        at += lanes;
        for (int k = 0; k < lanes; k++)
            index_next(out->rank, out->dims, index);
    }
    jit_set_lanes(f->t->b, 1);
    return ok;
}

/* Splits the operand into kept dimensions and offsets of the reduced ones, in logical order. */
static bool find_offsets(struct fold *f)
{
    const struct view *x = &f->r->x[0];
    struct view reduced = {.dtype = x->dtype};
    int64_t index[VIEW_MAX_RANK] = {0};
    f->kept = (struct view){.dtype = x->dtype, .data = x->data};
    for (int d = 0; d < x->rank; d++) {
        struct view *v = f->r->reduced[d] ? &reduced : &f->kept;
        v->dims[v->rank] = x->dims[d];
        v->strides[v->rank++] = x->strides[d];
    }
    f->under = view_elements(&reduced);
    if (f->under == 0 || f->under > MOST_ELEMENTS)
        return false;
    f->offsets = ARENA_ARRAY(&f->t->pl->scratch, int64_t, f->under);
    for (int64_t k = 0; k < f->under; k++, index_next(reduced.rank, reduced.dims, index))
        for (int d = 0; d < reduced.rank; d++)
            f->offsets[k] += index[d] * reduced.strides[d];
    return true;
}

bool scalar_translate_reduce(struct translation *t, const struct scalar_reduce *r)
{
    struct fold f = {.t = t, .r = r, .opcode = kern_combine_opcode(r->body.combine)};
    f.order = kern_reduce_fold(r->n, r->out, r->x, r->acc, r->reduced, &r->body, &f.work);
    const int64_t results =
        f.order == KERN_FOLD_OTHER || !r->x[0].data ? 0 : view_elements(&r->out[0]);
    if (results == 0 || r->acc[0] != r->out[0].dtype || !find_offsets(&f))
        return false;
    int lanes = lanes_for(&t->pl->scratch, (const enum dtype[]){r->x[0].dtype, r->acc[0]}, 2,
                          f.opcode, f.work);
    if (lanes == 0)
        return false;
    lanes = lanes_of_results(&f, lanes);
    return results <= MOST_STEPS / f.under * lanes && fold_all(&f, lanes);
}

/* ---- products ---- */

/* A result of rank at most 2, as rows and columns; bytes between them. */
struct product_shape {
    int64_t m, n, k;
    int64_t a_row, a_term, b_term, b_column, c_row, c_column;
};

static struct product_shape product_of(const struct scalar_dot *d)
{
    const int64_t l = d->dims.lhs_contracting[0], r = d->dims.rhs_contracting[0];
    struct product_shape p = {.m = 1, .n = 1, .k = d->lhs.dims[l]};
    const bool rows = d->lhs.rank == 2;
    p.a_term = d->lhs.strides[l];
    p.b_term = d->rhs.strides[r];
    if (rows) {
        p.m = d->lhs.dims[!l];
        p.a_row = d->lhs.strides[!l];
        p.c_row = d->out.strides[0];
    }
    if (d->rhs.rank == 2) {
        p.n = d->rhs.dims[!r];
        p.b_column = d->rhs.strides[!r];
        p.c_column = d->out.strides[rows];
    }
    return p;
}

/* `lanes` columns of one row. */
static bool multiply(struct translation *t, const struct scalar_dot *d,
                     const struct product_shape *p, int64_t i, int64_t j, int lanes)
{
    static const uint64_t zero = 0;
    const enum dtype type = d->out.dtype;
    const char *a = d->lhs.data + i * p->a_row, *b = d->rhs.data + j * p->b_column;
    jit_set_lanes(t->b, lanes);
    int sum = jit_constant(t->b, type, &zero);
    for (int64_t k = 0; k < p->k; k++) {
        const int x = read_lanes(t, a + k * p->a_term, type, lanes, true),
                  y = read_lanes(t, b + k * p->b_term, type, lanes, false),
                  product = jit_elementwise(t->b, "multiply", type, (const int[]){x, y}, 2);
        sum = jit_elementwise(t->b, "add", type, (const int[]){sum, product}, 2);
    }
    return write_lanes(t, d->out.data + i * p->c_row + j * p->c_column, type, lanes, sum);
}

bool scalar_translate_dot(struct translation *t, const struct scalar_dot *d)
{
    if (!d->lhs.data || !d->rhs.data ||
        !kern_dot_is_sequential(&d->out, &d->lhs, &d->rhs, &d->dims))
        return false;
    const struct product_shape p = product_of(d);
    const enum dtype type = d->out.dtype;
    const int64_t width = (int64_t)dtype_bytes(type);
    const bool adjacent = p.n >= 4 && p.b_column == width && p.c_column == width;
    const int most = adjacent ? lanes_for(&t->pl->scratch, &type, 1, "add", type) : 1;
    if (p.m * p.k * ratio_up(p.n, most) > MOST_STEPS)
        return false;
    bool ok = true;
    for (int64_t i = 0; i < p.m && ok; i++)
        for (int64_t j = 0, lanes; j < p.n && ok; j += lanes) {
            lanes = p.n - j >= most ? most : most > 1 && p.n - j >= 4 ? 4 : 1;
            ok = multiply(t, d, &p, i, j, (int)lanes);
        }
    jit_set_lanes(t->b, 1);
    return ok;
}
