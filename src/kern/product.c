/*
 * product: strided operands on their way to gemm (spec: DotGeneral, ConvWithGeneralPadding). An operand
 * that lies as gemm wants it is used where it is; any other is packed, and widened, panel by panel, so
 * that the room this takes stays bounded. What words.c multiplies is not widened. The result is written in
 * place when it can be, else a panel at a time from the type of the sum, rounded once.
 */
#include "kern/product.h"

/* The widest float type among result and operands, which integers beside floats are converted to. */
static enum dtype widest_float(enum dtype out, enum dtype lhs, enum dtype rhs)
{
    const enum dtype all[3] = {out, lhs, rhs};
    enum dtype widest = DT_INVALID;
    for (int i = 0; i < 3; i++)
        if (dtype_is_float(all[i]) && (widest == DT_INVALID || dtype_bits(all[i]) > dtype_bits(widest)))
            widest = all[i];
    return widest;
}

void product_find_types(struct product_types *t, enum dtype out, enum dtype lhs, enum dtype rhs)
{
    const enum dtype in[2] = {lhs, rhs};
    const bool complex = dtype_is_complex(out) || dtype_is_complex(lhs) || dtype_is_complex(rhs);
    const bool wide =
        out == DT_F64 || lhs == DT_F64 || rhs == DT_F64 || out == DT_C128 || lhs == DT_C128 || rhs == DT_C128;
    const enum dtype real = widest_float(out, lhs, rhs);
    if (complex)
        t->work = wide ? DT_C128 : DT_C64;
    else if (real != DT_INVALID)
        t->work = wide ? DT_F64 : DT_F32;
    else
        t->work = out;
    for (int i = 0; i < 2; i++)
        t->via[i] = !complex && real != DT_INVALID && !dtype_is_float(in[i]) ? real : in[i];
}

bool product_convert_operand(struct view *x, enum dtype via, void **storage)
{
    struct view dense;
    *storage = NULL;
    if (x->dtype == via)
        return true;
    *storage = mem_alloc((size_t)view_elements(x) * dtype_bytes(via));
    if (!*storage)
        return false;
    view_dense(&dense, via, x->rank, x->dims, *storage);
    kern_convert_view(NULL, &dense, x);
    *x = dense;
    return true;
}

/* ---- panels: boxes of a nest with a bounded number of points ---- */

struct panels {
    const struct nest *whole;
    int split; /* dimensions before it are taken one by one, it in chunks, those after it whole */
    int64_t chunk;
    int64_t index[VIEW_MAX_RANK];
    bool done;
    struct nest box; /* the panel, joined where it can be */
    int64_t points, offset[2];
};

static void panels_start(struct panels *p, const struct nest *whole, int64_t limit)
{
    int64_t inner = 1;
    int d = whole->rank;
    while (d > 0 && whole->dims[d - 1] <= limit / inner)
        inner *= whole->dims[--d];
    p->whole = whole;
    p->split = d - 1;
    p->chunk = limit / inner > 1 ? limit / inner : 1;
    p->done = false;
    memset(p->index, 0, sizeof p->index);
}

static void panels_step(struct panels *p)
{
    const struct nest *w = p->whole;
    for (int d = p->split; d >= 0; d--) {
        p->index[d] += d == p->split ? p->chunk : 1;
        if (p->index[d] < w->dims[d])
            return;
        p->index[d] = 0;
    }
    p->done = true;
}

/* The next panel; false after the last. */
static bool panels_next(struct panels *p)
{
    const struct nest *w = p->whole;
    if (p->done)
        return false;
    nest_init(&p->box, 2);
    p->offset[0] = p->offset[1] = 0;
    for (int d = 0; d < w->rank; d++) {
        int64_t left = w->dims[d] - p->index[d];
        for (int v = 0; v < 2 && d <= p->split; v++)
            p->offset[v] += p->index[d] * w->strides[v][d];
        nest_add(&p->box,
                 d > p->split      ? w->dims[d]
                 : d < p->split    ? 1
                 : left < p->chunk ? left
                                   : p->chunk,
                 (int64_t[]){w->strides[0][d], w->strides[1][d]});
    }
    nest_merge(&p->box);
    p->points = nest_points(&p->box);
    panels_step(p);
    return true;
}

/* ---- one operand ---- */

/* Bytes between neighbours of a box along its only dimension; false when it has more than one. */
static bool single_stride(const struct nest *box, int view, int64_t *stride)
{
    *stride = box->rank == 1 ? box->strides[view][0] : 0;
    return box->rank <= 1;
}

/* A matrix of `rows` by `columns` (steps in bytes) as gemm takes it; false when it does not. */
static bool as_matrix(struct matrix *a, const char *at, int64_t width, int64_t rows, int64_t row_step,
                      int64_t columns, int64_t column_step)
{
    bool by_rows = columns == 1 || column_step == width, by_columns = rows == 1 || row_step == width;
    int64_t row_ld = rows == 1 ? columns : row_step / width,
            column_ld = columns == 1 ? rows : column_step / width;
    a->at = at;
    a->transposed =
        !(by_rows && row_ld >= columns && row_ld <= INT_MAX && (rows == 1 || row_step % width == 0));
    a->ld = a->transposed ? column_ld : row_ld;
    return !a->transposed || (by_columns && column_ld >= rows && column_ld <= INT_MAX &&
                              (columns == 1 || column_step % width == 0));
}

/* A view whose dimensions are those of box r (its view rv), then those of box c. */
static void box_view(struct view *v, enum dtype t, const struct nest *r, int rv, const struct nest *c, int cv,
                     char *at)
{
    v->dtype = t;
    v->rank = r->rank + c->rank;
    v->data = at;
    for (int d = 0; d < r->rank; d++) {
        v->dims[d] = r->dims[d];
        v->strides[d] = r->strides[rv][d];
    }
    for (int d = 0; d < c->rank; d++) {
        v->dims[r->rank + d] = c->dims[d];
        v->strides[r->rank + d] = c->strides[cv][d];
    }
}

/* Strides of packed storage for the same dimensions, rows (the first `split`) inside or outside. */
static void packed_view(struct view *v, enum dtype t, const struct view *like, int split, bool transposed,
                        void *at)
{
    int64_t step = (int64_t)dtype_bytes(t);
    *v = *like;
    v->dtype = t;
    v->data = at;
    for (int i = like->rank - 1; i >= 0; i--) {
        int d = !transposed ? i : i >= like->rank - split ? i - (like->rank - split) : i + split;
        v->strides[d] = step;
        step *= v->dims[d];
    }
}

static int64_t least_stride(const struct nest *box, int view)
{
    int64_t least = INT64_MAX;
    for (int d = 0; d < box->rank; d++) {
        int64_t s = box->strides[view][d] < 0 ? -box->strides[view][d] : box->strides[view][d];
        if (s != 0 && s < least)
            least = s;
    }
    return least;
}

struct operand {
    enum dtype type, work;
    bool rows_only; /* gemm wants its rows gapless */
    char *room;     /* NULL while every panel could be used in place */
};

/* The panel with rows r and columns c, in place or packed into o->room. */
static struct matrix panel_matrix(const struct operand *o, const struct nest *r, int rv, const struct nest *c,
                                  int cv, char *at)
{
    struct matrix a;
    struct view from, to;
    int64_t row_step, column_step, rows = nest_points(r), columns = nest_points(c);
    if (o->type == o->work && single_stride(r, rv, &row_step) && single_stride(c, cv, &column_step) &&
        as_matrix(&a, at, (int64_t)dtype_bytes(o->work), rows, row_step, columns, column_step) &&
        !(o->rows_only && a.transposed))
        return a;
    a.transposed = !o->rows_only && least_stride(r, rv) < least_stride(c, cv);
    a.ld = a.transposed ? rows : columns;
    a.at = o->room;
    box_view(&from, o->type, r, rv, c, cv, at);
    packed_view(&to, o->work, &from, r->rank, a.transposed, o->room);
    kern_convert_view(NULL, &to, &from);
    return a;
}

/* ---- the product of one batch element ---- */

enum { LHS_PANEL_BYTES = 2 << 20, RHS_PANEL_BYTES = 16 << 20, SUM_PANEL = 1 << 20 /* elements */ };

struct product_room {
    struct operand lhs, rhs;
    bool words;     /* operands stay as they are (words.c) */
    bool rows_only; /* the result's rows have to be gapless */
    char *sum;
    int64_t m_limit, n_limit;
    enum dtype sum_type; /* of the sum as it is stored before it becomes the result */
};

static int64_t panel_limit(int64_t bytes, int64_t k, enum dtype t, int64_t points)
{
    int64_t limit = bytes / ((k > 0 ? k : 1) * (int64_t)dtype_bytes(t));
    limit = limit < 16 ? 16 : limit;
    return limit < points ? limit : points;
}

/* Whether every panel of this operand can be used in place, whatever its size. */
static bool usable(const struct operand *o, const struct nest *r, int rv, const struct nest *c, int cv)
{
    struct matrix a;
    int64_t row_step, column_step;
    return o->type == o->work && single_stride(r, rv, &row_step) && single_stride(c, cv, &column_step) &&
           as_matrix(&a, NULL, (int64_t)dtype_bytes(o->work), nest_points(r), row_step, nest_points(c),
                     column_step) &&
           !(o->rows_only && a.transposed) && nest_points(r) < INT_MAX && nest_points(c) < INT_MAX;
}

static bool take_room(char **room, int64_t rows, int64_t columns, enum dtype t)
{
    int64_t bytes;
    if (!mul_i64(rows, columns, &bytes) || !mul_i64(bytes, (int64_t)dtype_bytes(t), &bytes))
        return false;
    *room = mem_alloc((size_t)bytes);
    return *room != NULL;
}

/* Whether gemm can write the whole result where it belongs. */
static bool result_in_place(const struct product *p, enum dtype sum_type, bool rows_only)
{
    struct operand out = {.type = p->out_type, .work = sum_type, .rows_only = rows_only};
    return usable(&out, &p->m, 0, &p->n, 0);
}

static enum dtype sum_type(const struct product *p, bool words)
{
    if (words && dtype_is_integer(p->work))
        return dtype_bytes(p->out_type) == 4 ? p->out_type : DT_S32;
    return !dtype_is_subbyte(p->work) ? p->work : dtype_is_signed(p->work) ? DT_S8 : DT_U8;
}

static bool prepare_room(struct product_room *r, const struct product *p)
{
    int64_t m = nest_points(&p->m), n = nest_points(&p->n), k = nest_points(&p->k);
    bool integers = !dtype_is_float(p->work) && !dtype_is_complex(p->work), ok = true;
    r->words = words_apply(p);
    r->rows_only = integers || r->words;
    r->lhs = (struct operand){.type = p->lhs_type, .work = r->words ? p->lhs_type : p->work, .rows_only = r->words};
    r->rhs = (struct operand){.type = p->rhs_type, .work = r->words ? p->rhs_type : p->work};
    r->rhs.rows_only = integers && !r->words;
    r->sum = NULL;
    r->sum_type = sum_type(p, r->words);
    bool lhs_usable = usable(&r->lhs, &p->m, 1, &p->k, 0), rhs_usable = usable(&r->rhs, &p->k, 1, &p->n, 1);
    r->m_limit = lhs_usable ? m : panel_limit(LHS_PANEL_BYTES, k, r->lhs.work, m);
    r->n_limit = rhs_usable ? n : panel_limit(RHS_PANEL_BYTES, k, r->rhs.work, n);
    if (!result_in_place(p, r->sum_type, r->rows_only) && r->m_limit > SUM_PANEL / r->n_limit)
        r->m_limit = SUM_PANEL / r->n_limit > 16 ? SUM_PANEL / r->n_limit : m < 16 ? m : 16;
    if (!lhs_usable)
        ok = take_room(&r->lhs.room, r->m_limit, k, r->lhs.work);
    if (!rhs_usable)
        ok = ok && take_room(&r->rhs.room, k, r->n_limit, r->rhs.work);
    return ok;
}

static void free_room(struct product_room *r)
{
    mem_free(r->lhs.room);
    mem_free(r->rhs.room);
    mem_free(r->sum);
}

/* The place of the result as gemm writes it: rows or columns gapless, of the summed type. */
static bool direct_result(struct matrix *c, const struct product *p, const struct product_room *r,
                          const struct panels *m, const struct panels *n, char *out)
{
    int64_t row_step, column_step;
    return p->out_type == r->sum_type && single_stride(&m->box, 0, &row_step) &&
           single_stride(&n->box, 0, &column_step) &&
           as_matrix(c, out, (int64_t)dtype_bytes(p->out_type), m->points, row_step, n->points, column_step);
}

static void store_sum(const struct product *p, const struct product_room *r, const struct panels *m,
                      const struct panels *n, char *out)
{
    struct view to, from;
    box_view(&to, p->out_type, &m->box, 0, &n->box, 0, out);
    packed_view(&from, r->sum_type, &to, m->box.rank, false, r->sum);
    kern_convert_view(NULL, &to, &from);
}

static bool multiply(const struct product_room *r, int64_t m, int64_t n, int64_t k, struct matrix a, struct matrix b,
                     void *c, int64_t ldc)
{
    if (r->words)
        return words_multiply(r->lhs.work, r->rhs.work, m, n, k, a, b, c, ldc);
    gemm_run(r->sum_type, m, n, k, a, b, c, ldc);
    return true;
}

static bool run_panel(const struct product *p, struct product_room *r, const struct panels *m,
                      const struct panels *n, struct matrix a, struct matrix b, char *out)
{
    struct matrix c;
    int64_t k = nest_points(&p->k);
    if (direct_result(&c, p, r, m, n, out) && !(r->rows_only && c.transposed)) {
        if (!c.transposed)
            return multiply(r, m->points, n->points, k, a, b, out, c.ld);
        a.transposed = !a.transposed;
        b.transposed = !b.transposed;
        return multiply(r, n->points, m->points, k, b, a, out, c.ld);
    }
    if (!r->sum && !take_room(&r->sum, r->m_limit, r->n_limit, r->sum_type))
        return false;
    if (!multiply(r, m->points, n->points, k, a, b, r->sum, n->points))
        return false;
    store_sum(p, r, m, n, out);
    return true;
}

static bool run_batch(const struct product *p, struct product_room *r, char *out, char *lhs, char *rhs)
{
    struct panels m, n;
    for (panels_start(&n, &p->n, r->n_limit); panels_next(&n);) {
        struct matrix b = panel_matrix(&r->rhs, &p->k, 1, &n.box, 1, rhs + n.offset[1]);
        for (panels_start(&m, &p->m, r->m_limit); panels_next(&m);) {
            struct matrix a = panel_matrix(&r->lhs, &m.box, 1, &p->k, 0, lhs + m.offset[1]);
            if (!run_panel(p, r, &m, &n, a, b, out + m.offset[0] + n.offset[0]))
                return false;
        }
    }
    return true;
}

/* A sum of nothing. */
static void fill_zero(const struct product *p)
{
    union kern_cell zero = {{0}};
    if (dtype_is_float(p->out_type))
        float_store(p->out_type, &zero, 0);
    struct nest both = p->m;
    struct nest_walk w;
    for (int d = 0; d < p->n.rank; d++)
        nest_add(&both, p->n.dims[d], (int64_t[]){p->n.strides[0][d], 0});
    nest_start(&w, &p->batch, p->batch.rank, (char *[]){p->out, p->lhs, p->rhs});
    do {
        struct nest none = {.rank = 0};
        struct view out;
        box_view(&out, p->out_type, &both, 0, &none, 0, w.at[0]);
        kern_fill(&out, &zero);
    } while (nest_step(&w));
}

bool product_run(struct product *p)
{
    struct product_room r;
    struct nest_walk w;
    if (nest_points(&p->batch) == 0 || nest_points(&p->m) == 0 || nest_points(&p->n) == 0)
        return true;
    if (nest_points(&p->k) == 0) {
        fill_zero(p);
        return true;
    }
    nest_merge(&p->batch);
    nest_merge(&p->m);
    nest_merge(&p->n);
    nest_merge(&p->k);
    bool vector = matvec_applies(p), ok = vector || prepare_room(&r, p);
    if (ok) {
        nest_start(&w, &p->batch, p->batch.rank, (char *[]){p->out, p->lhs, p->rhs});
        do
            ok = vector ? matvec_run(p, w.at[0], w.at[1], w.at[2])
                        : run_batch(p, &r, w.at[0], w.at[1], w.at[2]);
        while (ok && nest_step(&w));
    }
    if (!vector)
        free_room(&r);
    return ok;
}
