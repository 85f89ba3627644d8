/*
 * scalar_native_array.c: reductions and products of small arrays as machine code without loops, in
 * the order of the kernels (kern.h: kern_reduce_fold, kern_dot_is_sequential).
 */
#include "plan/scalar_native.h"

enum {
    MOST_ELEMENTS = 64, /* of one result */
    MOST_STEPS = 512,   /* in all */
    MOST_OPERANDS = 4   /* of a reduction */
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

/* ---- bodies of reductions ---- */

/* The results of the body for accumulators and elements `values`, which they replace. */
static bool apply_body(struct jit_builder *b, const struct scalar_reduce *r, int *values)
{
    const struct scalar_code *code = r->body.context;
    enum dtype types[2 * MOST_OPERANDS];
    for (int k = 0; k < 2 * r->n; k++)
        types[k] = r->acc[k % r->n];
    return code->arg_count == 2 * r->n && code->result_count == r->n &&
           plan_expand_code(b, code, 1, types, r->acc, values);
}

/* As lanes_for, of a body. */
static int lanes_of_body(struct translation *t, const struct scalar_reduce *r)
{
    struct arena_mark mark = arena_mark(&t->pl->scratch);
    struct jit_builder *b = jit_builder_new(&t->pl->scratch);
    int values[2 * MOST_OPERANDS];
    bool ok = true;
    for (int k = 0; k < 2 * r->n && ok; k++) {
        const enum dtype type = k < r->n ? r->acc[k] : r->x[k - r->n].dtype;
        const int x = jit_load(b, k, type, false);
        values[k] = x == JIT_NONE ? JIT_NONE : jit_convert(b, r->acc[k % r->n], x);
        ok = values[k] != JIT_NONE && r->acc[k % r->n] == r->out[k % r->n].dtype;
    }
    ok = ok && apply_body(b, r, values);
    const int lanes = ok ? jit_most_lanes(b) : 0;
    arena_release(&t->pl->scratch, mark);
    return lanes;
}

/* ---- reductions ---- */

struct fold {
    struct translation *t;
    const struct scalar_reduce *r;
    enum kern_fold order;
    enum dtype work;
    const char *opcode;
    int64_t under; /* elements of one result */
    /* by operand: its view without the reduced dimensions; distances of the elements of a result
     * from the first, bytes */
    struct view kept[MOST_OPERANDS];
    int64_t *offsets[MOST_OPERANDS];
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
    for (int64_t k = KERN_FOLD_LANES; k < n; k++)
        values[k % KERN_FOLD_LANES] = step(f, values[k % KERN_FOLD_LANES], values[k]);
    return step(
        f, init,
        fold_halves(f, values, n < KERN_FOLD_LANES ? n : KERN_FOLD_LANES, KERN_FOLD_LANES / 2));
}

/* Element e of operand k, or, if e is -1, the initial value, of type `to`. */
static int read_operand(const struct fold *f, int k, const int64_t *index, int64_t e, int lanes,
                        enum dtype to)
{
    const int v = e < 0 ? read_lanes(f->t, f->r->init[k], f->r->acc[k], lanes, true)
                        : read_lanes(f->t, view_at(&f->kept[k], index) + f->offsets[k][e],
                                     f->r->x[k].dtype, lanes, false);
    return jit_convert(f->t->b, to, v);
}

/* One result, or adjacent ones. */
static bool fold_results(const struct fold *f, const int64_t *index, int lanes)
{
    int values[MOST_ELEMENTS];
    for (int64_t e = 0; e < f->under; e++)
        values[e] = read_operand(f, 0, index, e, lanes, f->work);
    const int init = read_operand(f, 0, index, -1, lanes, f->work),
              v = jit_convert(f->t->b, f->r->acc[0], fold_values(f, init, values));
    return write_lanes(f->t, view_at(&f->r->out[0], index), f->r->acc[0], lanes, v);
}

static bool fold_by_body(const struct fold *f, const int64_t *index, int lanes)
{
    const struct scalar_reduce *r = f->r;
    int values[2 * MOST_OPERANDS];
    bool ok = true;
    for (int k = 0; k < r->n; k++)
        values[k] = read_operand(f, k, index, -1, lanes, r->acc[k]);
    for (int64_t e = 0; e < f->under && ok; e++) {
        for (int k = 0; k < r->n; k++)
            values[r->n + k] = read_operand(f, k, index, e, lanes, r->acc[k]);
        ok = apply_body(f->t->b, r, values);
    }
    for (int k = 0; k < r->n && ok; k++)
        ok = write_lanes(f->t, view_at(&r->out[k], index), r->acc[k], lanes, values[k]);
    return ok;
}

/* Lanes are adjacent results whose operands are adjacent; 1: not adjacent. */
static int lanes_of_results(const struct fold *f, int lanes)
{
    const int last = f->kept[0].rank - 1;
    const int64_t row = last < 0 ? 1 : f->kept[0].dims[last];
    for (int k = 0; k < f->r->n && row >= 4; k++)
        if (!view_is_dense(&f->r->out[k]) ||
            f->kept[k].strides[last] != (int64_t)dtype_bytes(f->kept[k].dtype))
            return 1;
    return row < 4 ? 1 : row < lanes ? 4 : lanes;
}

static bool fold_all(const struct fold *f, int most)
{
    const struct view *out = &f->r->out[0];
    const int64_t row = f->kept[0].rank ? f->kept[0].dims[f->kept[0].rank - 1] : 1,
                  results = view_elements(out);
    int64_t index[VIEW_MAX_RANK] = {0}, at = 0;
    bool ok = true;
    while (at < results && ok) {
        const int64_t left = row - at % row;
        const int lanes = left >= most ? most : most > 1 && left >= 4 ? 4 : 1;
        jit_set_lanes(f->t->b, lanes);
        ok = f->order == KERN_FOLD_BODY ? fold_by_body(f, index, lanes)
                                        : fold_results(f, index, lanes);
        at += lanes;
        for (int k = 0; k < lanes; k++)
            index_next(out->rank, out->dims, index);
    }
    jit_set_lanes(f->t->b, 1);
    return ok;
}

/* Splits an operand into kept dimensions and offsets of the reduced ones, in logical order. */
static bool find_offsets(struct fold *f, int operand)
{
    const struct view *x = &f->r->x[operand];
    struct view reduced = {.dtype = x->dtype}, *kept = &f->kept[operand];
    int64_t index[VIEW_MAX_RANK] = {0};
    *kept = (struct view){.dtype = x->dtype, .data = x->data};
    for (int d = 0; d < x->rank; d++) {
        struct view *v = f->r->reduced[d] ? &reduced : kept;
        v->dims[v->rank] = x->dims[d];
        v->strides[v->rank++] = x->strides[d];
    }
    f->under = view_elements(&reduced);
    if (!x->data || f->under == 0 || f->under > MOST_ELEMENTS)
        return false;
    int64_t *offsets = f->offsets[operand] = ARENA_ARRAY(&f->t->pl->scratch, int64_t, f->under);
    for (int64_t k = 0; k < f->under; k++, index_next(reduced.rank, reduced.dims, index))
        for (int d = 0; d < reduced.rank; d++)
            offsets[k] += index[d] * reduced.strides[d];
    return true;
}

/* The greatest number of lanes; 0: it is not translated. *steps: operations for each element. */
static int prepare_fold(struct fold *f, int *steps)
{
    const struct scalar_reduce *r = f->r;
    f->order = r->n > MOST_OPERANDS
                   ? KERN_FOLD_OTHER
                   : kern_reduce_fold(r->n, r->out, r->x, r->acc, r->reduced, &r->body, &f->work);
    for (int k = 0; k < r->n && f->order != KERN_FOLD_OTHER; k++)
        if (view_elements(&r->out[k]) == 0 || !find_offsets(f, k))
            return 0;
    if (f->order == KERN_FOLD_BODY) {
        *steps = ((const struct scalar_code *)r->body.context)->op_count;
        return lanes_of_body(f->t, r);
    }
    *steps = 1;
    f->opcode = kern_combine_opcode(r->body.combine);
    return f->order == KERN_FOLD_OTHER || r->acc[0] != r->out[0].dtype
               ? 0
               : lanes_for(&f->t->pl->scratch, (const enum dtype[]){r->x[0].dtype, r->acc[0]}, 2,
                           f->opcode, f->work);
}

/* The number of lanes; 0: it is not translated. */
static int lanes_of_fold(struct fold *f)
{
    int steps, lanes = prepare_fold(f, &steps);
    if (lanes == 0)
        return 0;
    lanes = lanes_of_results(f, lanes);
    return view_elements(&f->r->out[0]) <= MOST_STEPS / (f->under * steps) * lanes ? lanes : 0;
}

bool scalar_may_translate_reduce(struct translation *t, const struct scalar_reduce *r)
{
    return lanes_of_fold(&(struct fold){.t = t, .r = r}) > 0;
}

bool scalar_translate_reduce(struct translation *t, const struct scalar_reduce *r)
{
    struct fold f = {.t = t, .r = r};
    const int lanes = lanes_of_fold(&f);
    return lanes > 0 && fold_all(&f, lanes);
}

/* ---- products ---- */

/* A result of rank at most 2, as rows and columns; bytes between them. */
struct product_shape {
    const char *a, *b;
    int64_t m, n, k;
    int64_t a_row, a_term, b_term, b_column, c_row, c_column;
    bool exchanged; /* a is the right operand */
};

static struct product_shape product_of(const struct scalar_dot *d)
{
    const struct view *lhs = &d->lhs.view, *rhs = &d->rhs.view;
    const int64_t l = d->dims.lhs_contracting[0], r = d->dims.rhs_contracting[0];
    struct product_shape p = {.a = lhs->data, .b = rhs->data, .m = 1, .n = 1, .k = lhs->dims[l]};
    const bool rows = lhs->rank == 2;
    p.a_term = lhs->strides[l];
    p.b_term = rhs->strides[r];
    if (rows) {
        p.m = lhs->dims[!l];
        p.a_row = lhs->strides[!l];
        p.c_row = d->out.strides[0];
    }
    if (rhs->rank == 2) {
        p.n = rhs->dims[!r];
        p.b_column = rhs->strides[!r];
        p.c_column = d->out.strides[rows];
    }
    return p;
}

static struct product_shape exchange(struct product_shape p)
{
    return (struct product_shape){.a = p.b,
                                  .b = p.a,
                                  .m = p.n,
                                  .n = p.m,
                                  .k = p.k,
                                  .a_row = p.b_column,
                                  .a_term = p.b_term,
                                  .b_term = p.a_term,
                                  .b_column = p.a_row,
                                  .c_row = p.c_column,
                                  .c_column = p.c_row,
                                  .exchanged = !p.exchanged};
}

/* `lanes` columns of one row. */
static bool multiply(struct translation *t, const struct scalar_dot *d,
                     const struct product_shape *p, int64_t i, int64_t j, int lanes)
{
    static const uint64_t zero = 0;
    const enum dtype type = d->out.dtype;
    const char *a = p->a + i * p->a_row, *b = p->b + j * p->b_column;
    jit_set_lanes(t->b, lanes);
    int sum = jit_constant(t->b, type, &zero);
    for (int64_t k = 0; k < p->k; k++) {
        const int x = read_lanes(t, a + k * p->a_term, type, lanes, true),
                  y = read_lanes(t, b + k * p->b_term, type, lanes, false),
                  both[] = {p->exchanged ? y : x, p->exchanged ? x : y},
                  product = jit_elementwise(t->b, "multiply", type, both, 2);
        sum = jit_elementwise(t->b, "add", type, (const int[]){sum, product}, 2);
    }
    return write_lanes(t, d->out.data + i * p->c_row + j * p->c_column, type, lanes, sum);
}

bool scalar_may_translate_dot(const struct scalar_dot *d)
{
    return !d->lhs.origin.large_array && !d->rhs.origin.large_array &&
           kern_dot_is_sequential(&d->out, &d->lhs.view, &d->rhs.view, &d->dims);
}

bool scalar_translate_dot(struct translation *t, const struct scalar_dot *d)
{
    if (!scalar_may_translate_dot(d))
        return false;
    struct product_shape p = product_of(d);
    const enum dtype type = d->out.dtype;
    const int64_t width = (int64_t)dtype_bytes(type);
    if (p.m >= 4 && p.a_row == width && p.c_row == width)
        p = exchange(p);
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
