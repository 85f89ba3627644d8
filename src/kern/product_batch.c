/*
 * product_batch.c: batches of small products of floats (spec: DotGeneral). Operands are read in
 * place where the inner loops can do that; others are copied a group of products at a time, by
 * which narrow floats are widened and rows made contiguous.
 *
 * Order and accumulation: that of product_lanes.c, in the type of the product; the choice depends
 * on shapes, strides and types alone.
 */
#include "kern/cpu.h"
#include "kern/product_lanes.h"

enum {
    MAX_WORK = 1 << 15,     /* maximum number of multiplications of a product */
    MAX_ELEMENTS = 1 << 15, /* and of elements of its matrices */
    GROUP_WORK = 1 << 18,   /* multiplications in a group */
    GROUP_BYTES = 1 << 17,  /* maximum size of its copies */
    MIN_TERMS = 16          /* for interleaved sums */
};

/* A form of the inner loops for a product. */
struct form {
    const struct product *p; /* as given, or the transposed product */
    struct small s;
    product_fn *run;
    bool dots;         /* interleaved sums */
    bool copied[3];    /* out, lhs, rhs */
    int64_t copies[3]; /* bytes of each copy */
    int64_t cost;      /* vector instructions, about */
};

struct batch {
    struct form f;
    int64_t group; /* products in a group */
    char *workspaces;
    int64_t workspace;
};

static int64_t step_of(const struct nest *n, int view) { return n->rank ? n->strides[view][0] : 0; }

/* Whether the matrix with these dimensions can be used in place; `dense`: columns, in `view`, are
 * contiguous. */
static bool in_place(const struct product *p, enum dtype type, const struct nest *rows,
                     const struct nest *columns, int view, bool dense)
{
    return type == p->work && rows->rank <= 1 && columns->rank <= 1 &&
           (!dense || nest_points(columns) == 1 ||
            step_of(columns, view) == (int64_t)dtype_bytes(type));
}

static void place(struct form *f, int which, bool usable, int64_t rows, int64_t columns)
{
    enum { COPY = 8 };
    f->copied[which] = !usable;
    f->copies[which] = usable ? 0 : round_up(rows * columns * (int64_t)dtype_bytes(f->p->work), 8);
    f->cost += usable ? 0 : rows * columns + COPY;
}

static void set_result(struct form *f, bool dense)
{
    const int64_t width = (int64_t)dtype_bytes(f->p->work);
    place(f, 0, in_place(f->p, f->p->out_type, &f->p->m, &f->p->n, 0, dense), f->s.m, f->s.n);
    f->s.c_row = f->copied[0] ? f->s.n * width : step_of(&f->p->m, 0);
    f->s.c_n = f->copied[0] ? width : step_of(&f->p->n, 0);
}

static void set_left(struct form *f, bool dense)
{
    const int64_t width = (int64_t)dtype_bytes(f->p->work);
    const struct nest *m = &f->p->m, *k = &f->p->k;
    const bool usable = in_place(f->p, f->p->lhs_type, m, k, 0, dense);
    place(f, 1, usable, f->s.m, f->s.k);
    f->s.a_row = usable ? step_of(m, 1) : f->s.k * width;
    f->s.a_k = usable ? step_of(k, 0) : width;
}

/* `by_terms`: terms are contiguous, otherwise columns. */
static void set_right(struct form *f, bool by_terms)
{
    const int64_t width = (int64_t)dtype_bytes(f->p->work);
    const struct nest *n = &f->p->n, *k = &f->p->k;
    const bool usable = in_place(f->p, f->p->rhs_type, by_terms ? n : k, by_terms ? k : n, 1, true);
    place(f, 2, usable, f->s.k, f->s.n);
    f->s.b_n = usable ? step_of(n, 1) : by_terms ? f->s.k * width : width;
    f->s.b_k = usable ? step_of(k, 1) : by_terms ? width : f->s.n * width;
}

static void start_form(struct form *f, const struct product *p)
{
    *f = (struct form){.p = p};
    f->s = (struct small){
        .type = p->work, .m = nest_points(&p->m), .n = nest_points(&p->n), .k = nest_points(&p->k)};
}

static void by_columns(struct form *f, const struct product *p)
{
    const int64_t lanes = 64 / (int64_t)dtype_bytes(p->work);
    start_form(f, p);
    /* sums of few columns are added one after the other */
    f->cost = ratio_up(f->s.n, lanes) * f->s.m * f->s.k * (f->s.n <= 4 ? 2 : 1);
    set_result(f, true);
    set_left(f, false);
    set_right(f, false);
    f->run = CPU_FORM(product_lanes)->columns[p->work == DT_F64];
}

static void by_dots(struct form *f, const struct product *p)
{
    enum { REDUCE = 6 /* instructions that add the lanes of a sum */ };
    const int64_t lanes = 64 / (int64_t)dtype_bytes(p->work);
    start_form(f, p);
    f->dots = true;
    f->cost = f->s.m * f->s.n * (ratio_up(f->s.k, lanes) + REDUCE);
    set_result(f, false);
    set_left(f, true);
    set_right(f, true);
    f->run = CPU_FORM(product_lanes)->dots[p->work == DT_F64];
}

/* Chooses the form of the least cost; `turned`: the transposed product, which it may refer to. */
static void choose(struct form *best, const struct product *p, struct product *turned)
{
    struct form other;
    by_columns(best, p);
    product_transpose(turned, p);
    by_columns(&other, turned);
    if (other.cost < best->cost)
        *best = other;
    if (best->s.k < MIN_TERMS)
        return;
    by_dots(&other, p);
    if (other.cost < best->cost)
        *best = other;
}

static bool is_small(const struct product *p)
{
    const int64_t m = nest_points(&p->m), n = nest_points(&p->n), k = nest_points(&p->k);
    return m <= MAX_ELEMENTS && n <= MAX_WORK / m && k <= MAX_WORK / (m * n) &&
           p->batch.rank + p->m.rank + p->n.rank + p->k.rank < VIEW_MAX_RANK;
}

/* Makes the outer free dimensions of the larger matrix batch dimensions when the other has so few
 * rows or columns that packing takes longer than the product. */
static void peel(struct product *p)
{
    enum { FEW = 16 };
    const bool left = nest_points(&p->n) < nest_points(&p->m);
    struct nest *free_dims = left ? &p->m : &p->n;
    if (nest_points(left ? &p->n : &p->m) > FEW || free_dims->rank < 2)
        return;
    struct product peeled = *p;
    const struct nest all = *free_dims;
    struct nest *rest = left ? &peeled.m : &peeled.n;
    nest_init(rest, 2);
    for (int d = 0; d < all.rank; d++) {
        const int64_t out = all.strides[0][d], x = all.strides[1][d];
        if (d < all.rank - 1)
            nest_add(&peeled.batch, all.dims[d], (int64_t[]){out, left ? x : 0, left ? 0 : x});
        else
            nest_add(rest, all.dims[d], (int64_t[]){out, x});
    }
    if (is_small(&peeled))
        *p = peeled;
}

/* Splits the long side of a product into blocks when each of its rows or columns takes so few
 * multiplications that packing or adding up lanes would take longer. */
static void split(struct product *p)
{
    enum { FEW_TERMS = 64, SHORT = 8, LONG = 64, MIN_WORK = 1024 };
    const bool left = nest_points(&p->n) < nest_points(&p->m);
    struct nest *side = left ? &p->m : &p->n;
    const int64_t size = nest_points(side), few = nest_points(left ? &p->n : &p->m),
                  k = nest_points(&p->k);
    int64_t block = LONG;
    if (p->batch.rank > 0 || side->rank != 1 || k > FEW_TERMS / few || size < MIN_WORK / (few * k))
        return;
    while (block >= SHORT && size % block != 0)
        block--;
    if (block < SHORT)
        return;
    const int64_t out = side->strides[0][0] * block, x = side->strides[1][0] * block;
    side->dims[0] = block;
    nest_add(&p->batch, size / block, (int64_t[]){out, left ? x : 0, left ? 0 : x});
}

bool product_is_batch(struct product *p)
{
    if (p->work != DT_F32 && p->work != DT_F64)
        return false;
    peel(p);
    split(p);
    return nest_points(&p->batch) > 1 && is_small(p);
}

/* Copies one operand of `count` products from number `from` on, or stores their results. */
static void move(const struct form *f, int which, int64_t from, int64_t count, char *copies)
{
    const struct product *p = f->p;
    const struct position_range items = {&p->batch, which, from, count};
    struct position_range rows = {&p->m, which, 0, f->s.m}, columns = {&p->n, 0, 0, f->s.n};
    struct dense to = {p->work, copies, f->s.c_row, f->s.c_n};
    if (which == 1) {
        columns = (struct position_range){&p->k, 0, 0, f->s.k};
        to = (struct dense){p->work, copies, f->s.a_row, f->s.a_k};
    } else if (which == 2) {
        rows = (struct position_range){&p->k, 1, 0, f->s.k};
        columns.view = 1;
        to = (struct dense){p->work, copies, f->s.b_k, f->s.b_n};
    }
    const enum dtype types[] = {p->out_type, p->lhs_type, p->rhs_type};
    char *const at[] = {p->out, p->lhs, p->rhs};
    position_range_move_items(which > 0, &to, f->copies[which], types[which], at[which], &items,
                              &rows, &columns);
}

/* Runs products in sequences of evenly spaced matrices; `copies`: of the operands and results that
 * are copied. */
static void run_items(const struct form *f, int64_t from, int64_t count, char *const copies[3])
{
    const struct nest *batch = &f->p->batch;
    char *const whole[] = {f->p->out, f->p->lhs, f->p->rhs};
    int64_t run;
    for (int64_t i = 0; i < count; i += run) {
        char *at[3];
        int64_t step[3];
        for (int k = 0; k < 3; k++) {
            const int64_t offset = nest_offset(batch, k, from + i, &run);
            at[k] = f->copied[k] ? copies[k] + i * f->copies[k] : whole[k] + offset;
            step[k] = f->copied[k]  ? f->copies[k]
                      : batch->rank ? batch->strides[k][batch->rank - 1]
                                    : 0;
        }
        run = min_i64(run, count - i);
        f->run(&f->s, at[1], at[2], at[0], step, run);
    }
}

static void run_group(void *context, int64_t from, int64_t to, int worker)
{
    const struct batch *b = context;
    const struct form *f = &b->f;
    const int64_t count = to - from;
    char *at[3], *copies = b->workspaces + worker * b->workspace;
    for (int i = 0; i < 3; copies += b->group * f->copies[i++])
        at[i] = copies;
    for (int i = 1; i < 3; i++)
        if (f->copied[i])
            move(f, i, from, count, at[i]);
    run_items(f, from, count, at);
    if (f->copied[0])
        move(f, 0, from, count, at[0]);
}

bool product_run_batch(struct thread_pool *workers, const struct product *p)
{
    const int64_t all = nest_points(&p->batch);
    struct batch b;
    struct product turned;
    choose(&b.f, p, &turned);
    const struct small *s = &b.f.s;
    const int64_t bytes = b.f.copies[0] + b.f.copies[1] + b.f.copies[2],
                  work = s->m * s->n * s->k + 8 * (s->m + s->n) * s->k;
    b.group = min_i64(GROUP_WORK / work, GROUP_BYTES / (bytes + 1)) + 1;
    b.group = min_i64(b.group, all);
    b.workspace = b.group * bytes;
    b.workspaces = mem_alloc((size_t)(b.workspace * thread_pool_size(workers)) + 1);
    if (!b.workspaces)
        return false;
    thread_pool_share(workers, all, b.group, run_group, &b);
    mem_free(b.workspaces);
    return true;
}

const char *product_batch_choice(const struct product *p)
{
    struct form f;
    struct product turned;
    choose(&f, p, &turned);
    const bool in_place = !f.copied[0] && !f.copied[1] && !f.copied[2];
    if (f.dots)
        return in_place ? "batch of small products: dot products in place"
                        : "batch of small products: dot products of copies";
    return in_place ? "batch of small products: rows in place"
                    : "batch of small products: rows of copies";
}
