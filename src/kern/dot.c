/*
 * dot.c: classifies the dimensions of both operands as batch, free and contracting and calls
 * product.c; ragged and scaled dots are composed of plain ones.
 *
 * Order and accumulation: the sum runs in f32 for floats up to f32, in f64 and complex in their own
 * type, in the order of product.c, product_small.c or matvec.c, and is rounded once; integers wrap
 * in the result's type.
 */
#include "kern/plain/plain.h"
#include "kern/product.h"

/* Adds the free dimensions of an operand with the result dimensions that they become, from
 * `at` on. */
static int add_free(struct nest *n, const struct view *out, const struct view *x,
                    const int64_t *batch, const int64_t *contracting,
                    const struct kern_dot_dims *dims, int at)
{
    for (int d = 0; d < x->rank; d++)
        if (!i64_in(batch, dims->batch_count, d) &&
            !i64_in(contracting, dims->contracting_count, d))
            nest_add(n, x->dims[d], (int64_t[]){out->strides[at++], x->strides[d]});
    return at;
}

static void sort_dims(struct product *p, const struct view *out, const struct view *lhs,
                      const struct view *rhs, const struct kern_dot_dims *dims)
{
    nest_init(&p->batch, 3);
    nest_init(&p->m, 2);
    nest_init(&p->n, 2);
    nest_init(&p->k, 2);
    for (int i = 0; i < dims->batch_count; i++) {
        int64_t l = dims->lhs_batch[i], r = dims->rhs_batch[i];
        nest_add(&p->batch, lhs->dims[l],
                 (int64_t[]){out->strides[i], lhs->strides[l], rhs->strides[r]});
    }
    for (int i = 0; i < dims->contracting_count; i++) {
        int64_t l = dims->lhs_contracting[i], r = dims->rhs_contracting[i];
        nest_add(&p->k, lhs->dims[l], (int64_t[]){lhs->strides[l], rhs->strides[r]});
    }
    int at =
        add_free(&p->m, out, lhs, dims->lhs_batch, dims->lhs_contracting, dims, dims->batch_count);
    add_free(&p->n, out, rhs, dims->rhs_batch, dims->rhs_contracting, dims, at);
}

static void make_product(struct product *p, const struct view *out, const struct view *lhs,
                         const struct view *rhs, const struct kern_dot_dims *dims, enum dtype work)
{
    p->out_type =
        out->dtype; /* the nests are not cleared: that would take longer than a small product */
    p->lhs_type = lhs->dtype;
    p->rhs_type = rhs->dtype;
    p->work = work;
    p->out = out->data;
    p->lhs = lhs->data;
    p->rhs = rhs->data;
    sort_dims(p, out, lhs, rhs, dims);
}

static bool fast_dot(struct thread_pool *workers, const struct view *out, struct view *lhs,
                     struct view *rhs, const struct kern_dot_dims *dims, enum dtype work)
{
    struct product p;
    make_product(&p, out, lhs, rhs, dims, work);
    if (nest_points(&p.k) >= INT_MAX) /* sums of pred would overflow */
        return plain_dot(NULL, out, lhs, rhs, dims);
    return product_run(workers, &p);
}

/* Prepares a small matrix product; false if it is not one. */
static bool small_dot(struct small *s, const struct view *out, const struct view *lhs,
                      const struct view *rhs, const struct kern_dot_dims *dims)
{
    if (dims->batch_count > 0 || dims->contracting_count != 1 || lhs->rank > 2 || rhs->rank > 2 ||
        lhs->dtype != out->dtype || rhs->dtype != out->dtype)
        return false;
    const int64_t l = dims->lhs_contracting[0], r = dims->rhs_contracting[0];
    const bool rows = lhs->rank == 2, columns = rhs->rank == 2;
    *s = (struct small){out->dtype, 1, 1, lhs->dims[l], 0, lhs->strides[l], rhs->strides[r],
                        0,          0, 0, NULL};
    if (rows) {
        s->m = lhs->dims[!l];
        s->a_row = lhs->strides[!l];
        s->c_row = out->strides[0];
    }
    if (columns) {
        s->n = rhs->dims[!r];
        s->b_n = rhs->strides[!r];
        s->c_n = out->strides[rows];
    }
    return s->m > 0 && s->n > 0 && s->k > 0 && small_applies(s);
}

bool kern_dot_is_sequential(const struct view *out, const struct view *lhs, const struct view *rhs,
                            const struct kern_dot_dims *dims)
{
    struct small small;
    return small_dot(&small, out, lhs, rhs, dims);
}

/* The number of products of elements; INT64_MAX if it does not fit. */
static int64_t count_products(const struct view *out, const struct view *lhs,
                              const struct kern_dot_dims *dims)
{
    int64_t products = view_elements(out);
    for (int i = 0; i < dims->contracting_count; i++)
        if (!mul_i64(products, lhs->dims[dims->lhs_contracting[i]], &products))
            return INT64_MAX;
    return products;
}

/* Whether other runs compute the product as a multiplication (plan/product.c): a fused
 * multiply-add would keep the sign of a product that underflows to -0. */
static bool is_single_term(const struct view *out, const struct view *lhs, const struct view *rhs,
                           const struct kern_dot_dims *dims)
{
    const enum dtype t = out->dtype;
    const int64_t n = view_elements(out);
    return (t == DT_F32 || t == DT_F64) && lhs->dtype == t && rhs->dtype == t &&
           n >= KERN_SINGLE_TERM && count_products(out, lhs, dims) == n;
}

/* Whether to compute a product by the plain formula: one of a single term, or a small one of
 * complex numbers. Vectorized code uses fused multiply-adds for the products of their parts, which
 * is visible where they cancel: that is more accurate, but for little work the bits of other
 * implementations matter more. */
static bool is_by_formula(const struct view *out, const struct view *lhs, const struct view *rhs,
                          const struct kern_dot_dims *dims)
{
    enum { MAX_PRODUCTS = 4096 };
    if (!dtype_is_complex(out->dtype) && !dtype_is_complex(lhs->dtype) &&
        !dtype_is_complex(rhs->dtype))
        return is_single_term(out, lhs, rhs, dims);
    return count_products(out, lhs, dims) <= MAX_PRODUCTS;
}

static bool formula_dot(const struct view *out, const struct view *lhs, const struct view *rhs,
                        const struct kern_dot_dims *dims)
{
    struct product p;
    if (dtype_is_complex(out->dtype) && lhs->dtype == out->dtype && rhs->dtype == out->dtype &&
        count_products(out, lhs, dims) > 0) {
        make_product(&p, out, lhs, rhs, dims, out->dtype);
        if (product_run_complex(&p))
            return true;
    }
    return plain_dot(NULL, out, lhs, rhs, dims);
}

/* spec: DotGeneral */
bool kern_dot(struct thread_pool *workers, const struct view *out, const struct view *lhs,
              const struct view *rhs, const struct kern_dot_dims *dims)
{
    struct product_types types;
    struct small small;
    if (is_by_formula(out, lhs, rhs, dims))
        return formula_dot(out, lhs, rhs, dims);
    if (small_dot(&small, out, lhs, rhs, dims)) {
        small_run(&small, lhs->data, rhs->data, out->data);
        return true;
    }
    struct view l = *lhs, r = *rhs;
    void *storage[2] = {NULL, NULL};
    product_find_types(&types, out->dtype, lhs->dtype, rhs->dtype);
    bool ok = product_convert_operand(workers, &l, types.via[0], &storage[0]) &&
              product_convert_operand(workers, &r, types.via[1], &storage[1]) &&
              fast_dot(workers, out, &l, &r, dims, types.work);
    mem_free(storage[0]);
    mem_free(storage[1]);
    return ok;
}

struct kern_ready_dot {
    struct ready_product product;
};

const struct kern_ready_dot *kern_make_ready_dot(struct arena *a, const struct view *out,
                                                 const struct view *lhs, const struct view *rhs,
                                                 const struct kern_dot_dims *dims)
{
    struct product_types types;
    struct product p;
    struct kern_ready_dot ready;
    product_find_types(&types, out->dtype, lhs->dtype, rhs->dtype);
    if (is_by_formula(out, lhs, rhs, dims) || types.via[0] != lhs->dtype ||
        types.via[1] != rhs->dtype)
        return NULL;
    make_product(&p, out, lhs, rhs, dims, types.work);
    ready.product.is_small = small_dot(&ready.product.small, out, lhs, rhs, dims);
    if (!ready.product.is_small && !product_make_ready(&p, &ready.product))
        return NULL;
    return ARENA_DUP(a, &ready, 1);
}

void kern_run_ready_dot(const struct kern_ready_dot *d, char *out, const char *lhs, const char *rhs)
{
    const struct ready_matvec *m = &d->product.matvec;
    if (d->product.is_small)
        small_run(&d->product.small, lhs, rhs, out);
    else
        m->rows(m->by_lhs ? lhs : rhs, m->row_step, m->row_count, m->by_lhs ? rhs : lhs, 0,
                m->terms, out, 0);
}

const char *kern_dot_choice(const struct view *out, const struct view *lhs, const struct view *rhs,
                            const struct kern_dot_dims *dims)
{
    struct product_types types;
    struct product p;
    if (is_by_formula(out, lhs, rhs, dims))
        return dtype_is_complex(out->dtype) ? "reference formula (few complex elements)"
                                            : "reference formula (one term)";
    struct view l = *lhs, r = *rhs;
    product_find_types(&types, out->dtype, lhs->dtype, rhs->dtype);
    l.dtype = types.via[0];
    r.dtype = types.via[1];
    make_product(&p, out, &l, &r, dims, types.work);
    return product_choice(&p);
}

/* ---- ragged-dot: a dot for each group ---- */

struct ragged {
    struct thread_pool *workers;
    const struct kern_ragged_dims *dims;
    struct view out, lhs,
        rhs;       /* restricted to one position of the dimensions of `sizes` before the groups */
    int out_shift; /* number of result dimensions before those of a plain dot */
};

static void narrow(struct view *v, int64_t d, int64_t start, int64_t size)
{
    v->data += start * v->strides[d];
    v->dims[d] = size;
}

/* The dimension of a plain dot's result that dimension d of lhs, batch or free, becomes. */
static int64_t result_dim(const struct kern_dot_dims *dims, int64_t d)
{
    int64_t at = i64_find(dims->lhs_batch, dims->batch_count, d);
    if (at >= 0)
        return at;
    at = dims->batch_count;
    for (int64_t e = 0; e < d; e++)
        at += !i64_in(dims->lhs_batch, dims->batch_count, e) &&
              !i64_in(dims->lhs_contracting, dims->contracting_count, e);
    return at;
}

/* Restricts lhs in dimension d, and the corresponding dimension of rhs, of the result or of
 * both. */
static void narrow_all(struct ragged *r, int64_t d, int64_t start, int64_t size)
{
    const struct kern_dot_dims *dims = &r->dims->dot;
    narrow(&r->lhs, d, start, size);
    for (int i = 0; i < dims->batch_count; i++)
        if (dims->lhs_batch[i] == d)
            narrow(&r->rhs, dims->rhs_batch[i], start, size);
    const int64_t i = i64_find(dims->lhs_contracting, dims->contracting_count, d);
    if (i >= 0)
        narrow(&r->rhs, dims->rhs_contracting[i], start, size);
    else
        narrow(&r->out, r->out_shift + result_dim(dims, d), start, size);
}

static void drop_dim(struct view *v, int64_t d)
{
    v->rank--;
    for (int64_t e = d; e < v->rank; e++) {
        v->dims[e] = v->dims[e + 1];
        v->strides[e] = v->strides[e + 1];
    }
}

static void close_gap(int64_t *list, int count, int64_t gone)
{
    for (int i = 0; i < count; i++)
        list[i] -= list[i] > gone;
}

/* One group of the free mode: its rows times its matrix of rhs. */
static bool free_group(const struct ragged *all, int64_t group, int64_t start, int64_t size)
{
    struct ragged r = *all;
    struct kern_dot_dims dot = r.dims->dot;
    const int64_t d = r.dims->rhs_group;
    narrow_all(&r, r.dims->lhs_ragged, start, size);
    narrow(&r.rhs, d, group, 1);
    drop_dim(&r.rhs, d);
    close_gap(dot.rhs_batch, dot.batch_count, d);
    close_gap(dot.rhs_contracting, dot.contracting_count, d);
    return kern_dot(r.workers, &r.out, &r.lhs, &r.rhs, &dot);
}

/* One group of the contracting mode: its part of the sums is a result of its own. */
static bool contracting_group(const struct ragged *all, int64_t group, int64_t start, int64_t size)
{
    struct ragged r = *all;
    narrow(&r.out, 0, group, 1);
    drop_dim(&r.out, 0);
    narrow_all(&r, r.dims->lhs_ragged, start, size);
    return kern_dot(r.workers, &r.out, &r.lhs, &r.rhs, &r.dims->dot);
}

/* Writes zeros to results of no group; in the batch mode the rest is one dot. */
static bool finish_groups(const struct ragged *all, int64_t end)
{
    struct ragged inside = *all, behind = *all;
    const int64_t d = all->dims->lhs_ragged, extent = all->lhs.dims[d];
    if (all->dims->mode == KERN_RAGGED_CONTRACTING)
        return true;
    narrow_all(&inside, d, 0, end);
    narrow_all(&behind, d, end, extent - end);
    product_fill_zero(NULL, &behind.out);
    return all->dims->mode == KERN_RAGGED_FREE ||
           kern_dot(all->workers, &inside.out, &inside.lhs, &inside.rhs, &all->dims->dot);
}

/* All groups, whose sizes are `stride` bytes apart. */
static bool run_groups(const struct ragged *all, const char *sizes, int64_t count, int64_t stride)
{
    const enum kern_ragged mode = all->dims->mode;
    const int64_t extent = all->lhs.dims[all->dims->lhs_ragged];
    int64_t start = 0, end = 0, size;
    bool ok = true;
    for (int64_t group = 0; ok && group < count; group++) {
        memcpy(&size, sizes + group * stride, sizeof size);
        end = (int64_t)((uint64_t)end + (uint64_t)size);
        const int64_t stop = end < start ? start : end > extent ? extent : end;
        if (mode == KERN_RAGGED_CONTRACTING)
            ok = contracting_group(all, group, start, stop - start);
        else if (mode == KERN_RAGGED_FREE)
            ok = free_group(all, group, start, stop - start);
        start = stop;
    }
    return ok && finish_groups(all, start);
}

/* Whether a dimension of `sizes` before the groups is contracting: then sums over its positions
 * would have to be accumulated. */
static bool prefix_is_contracting(const struct kern_ragged_dims *dims, int count)
{
    for (int k = 0; k < count; k++)
        for (int i = 0; i < dims->dot.contracting_count; i++)
            if (dims->dot.lhs_contracting[i] == dims->prefix[k])
                return true;
    return false;
}

/* spec: RaggedDot */
bool kern_ragged_dot(struct thread_pool *workers, const struct view *out, const struct view *lhs,
                     const struct view *rhs, const struct view *sizes,
                     const struct kern_ragged_dims *dims)
{
    const struct ragged all = {workers, dims, *out,
                               *lhs,    *rhs, dims->mode == KERN_RAGGED_CONTRACTING};
    const int last = sizes->rank - 1;
    int64_t index[VIEW_MAX_RANK] = {0};
    if (view_elements(out) == 0)
        return true;
    if (prefix_is_contracting(dims, last))
        return plain_ragged_dot(NULL, out, lhs, rhs, sizes, dims);
    do {
        struct ragged r = all;
        for (int k = 0; k < last; k++)
            narrow_all(&r, dims->prefix[k], index[k], 1);
        if (!run_groups(&r, view_at(sizes, index), sizes->dims[last], sizes->strides[last]))
            return false;
    } while (index_next(last, sizes->dims, index));
    return true;
}

/* ---- scaled-dot: a dot of the scaled operands ---- */

/* Splits each dimension into two: blocks, and elements of a block, which share one element of the
 * scale. */
static void split_blocks(struct view *x, struct view *scale)
{
    for (int d = x->rank - 1; d >= 0; d--) {
        const int64_t blocks = scale->dims[d], size = blocks > 0 ? x->dims[d] / blocks : 0;
        x->dims[2 * d] = scale->dims[2 * d] = blocks;
        x->dims[2 * d + 1] = scale->dims[2 * d + 1] = size;
        x->strides[2 * d + 1] = x->strides[d];
        x->strides[2 * d] = x->strides[2 * d + 1] * size;
        scale->strides[2 * d] = scale->strides[d];
        scale->strides[2 * d + 1] = 0;
    }
    x->rank = scale->rank = 2 * x->rank;
}

/* Makes a dense copy of the operand times its scale; the caller frees *storage. */
static bool scale_operand(struct thread_pool *workers, struct view *made, const struct view *x,
                          const struct view *scale, void **storage)
{
    struct product_types types;
    product_find_types(&types, x->dtype, x->dtype, x->dtype);
    const size_t width = dtype_bytes(types.work);
    const int64_t n = view_elements(x);
    *storage = mem_alloc((size_t)(n + view_elements(scale)) * width + 1);
    if (!*storage)
        return false;
    view_dense(made, types.work, x->rank, x->dims, *storage);
    if (n == 0)
        return true;
    struct view whole = *made, factors[2];
    view_dense(&factors[1], types.work, scale->rank, scale->dims,
               (char *)*storage + (size_t)n * width);
    kern_convert_view(workers, made, x);
    kern_convert_view(workers, &factors[1], scale);
    split_blocks(&whole, &factors[1]);
    factors[0] = whole;
    kern_map_tiles(workers, kern_find_elementwise("multiply", types.work), &whole, 2, factors);
    return true;
}

/* spec: ScaledDot */
bool kern_scaled_dot(struct thread_pool *workers, const struct view *out, const struct view *lhs,
                     const struct view *rhs, const struct view *const scale[2],
                     const struct kern_dot_dims *dims)
{
    if (2 * max_i64(lhs->rank, rhs->rank) > VIEW_MAX_RANK) /* too many dimensions to split */
        return plain_scaled_dot(NULL, out, lhs, rhs, scale, dims);
    struct view l = *lhs, r = *rhs;
    void *storage[2] = {NULL, NULL};
    bool ok = (!scale[0] || scale_operand(workers, &l, lhs, scale[0], &storage[0])) &&
              (!scale[1] || scale_operand(workers, &r, rhs, scale[1], &storage[1])) &&
              kern_dot(workers, out, &l, &r, dims);
    mem_free(storage[0]);
    mem_free(storage[1]);
    return ok;
}
