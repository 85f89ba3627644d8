/*
 * product.c: products of strided operands by gemm (spec: DotGeneral, ConvWithGeneralPadding). The
 * result is split into blocks, which are distributed among threads; for each block the right
 * operand is packed in panels, some hundred terms at a time, and the left one used in place or
 * copied, widened if needed. So the workspace is bounded. Sums of another type than the result are
 * rounded once, at the end of a block.
 *
 * Order and accumulation: that of gemm.h for DEPTH lanes at a time, whose sums are added in order.
 * These intervals of terms depend on shapes and types alone, so any number of threads gives the
 * same bits; the number of rows and columns of a block depends on the number of threads.
 */
#include "kern/product.h"

/* The widest float type among result and operands; with floats, integers are converted to it. */
static enum dtype widest_float(enum dtype out, enum dtype lhs, enum dtype rhs)
{
    const enum dtype all[3] = {out, lhs, rhs};
    enum dtype widest = DT_INVALID;
    for (int i = 0; i < 3; i++)
        if (dtype_is_float(all[i]) &&
            (widest == DT_INVALID || dtype_bits(all[i]) > dtype_bits(widest)))
            widest = all[i];
    return widest;
}

void product_find_types(struct product_types *t, enum dtype out, enum dtype lhs, enum dtype rhs)
{
    const enum dtype in[2] = {lhs, rhs};
    const bool complex = dtype_is_complex(out) || dtype_is_complex(lhs) || dtype_is_complex(rhs);
    const bool wide = out == DT_F64 || lhs == DT_F64 || rhs == DT_F64 || out == DT_C128 ||
                      lhs == DT_C128 || rhs == DT_C128;
    const enum dtype real = widest_float(out, lhs, rhs);
    if (complex)
        t->work = wide ? DT_C128 : DT_C64;
    else if (real != DT_INVALID)
        t->work = wide ? DT_F64 : DT_F32;
    else
        t->work = out;
    for (int i = 0; i < 2; i++)
        t->via[i] = complex                                        ? in[i]
                    : real != DT_INVALID && !dtype_is_float(in[i]) ? real
                    : real == DT_INVALID && out == DT_PRED         ? DT_PRED
                                                                   : in[i];
}

bool product_convert_operand(struct thread_pool *workers, struct view *x, enum dtype via,
                             void **storage)
{
    struct view dense;
    *storage = NULL;
    if (x->dtype == via)
        return true;
    *storage = mem_alloc((size_t)view_elements(x) * dtype_bytes(via));
    if (!*storage)
        return false;
    view_dense(&dense, via, x->rank, x->dims, *storage);
    kern_convert_view(workers, &dense, x);
    *x = dense;
    return true;
}

/* ---- blocking ---- */

enum {
    DEPTH = 384,            /* lanes packed at a time */
    STRIP = 96,             /* rows copied at a time */
    FEW_ROWS = 6,           /* rows multiplied with all panels, if these are large */
    SMALL_PANEL = 24 << 10, /* bytes: what stays in the first-level cache */
    WIDE_BLOCK = 1024,      /* bytes of lanes in a row of a block's columns */
    WIDER_BLOCK = 4096,     /* if panels are small: then others are not read again soon */
    CRITICAL = 4096,        /* bytes between rows in place */
    WORTH_COPY = 8,         /* panels, for which such rows are copied */
    HIGH_SUMS = 1024,       /* rows of a block, if their sums are stored separately */
    /* minimum number of rows of a block that is split for the thread pool: each block packs its
     * columns again */
    MIN_ROWS = 96,
    ENOUGH_BLOCKS = 4,  /* for each worker */
    FEW_BLOCKS = 2,     /* the same, where narrow blocks cost more */
    MIN_WORK = 1 << 20, /* minimum number of multiplications in a block that is split */
    MIN_TASK = 1 << 19, /* minimum number of multiplications in a task: some microseconds */
    LONG = 8192,        /* lanes of a sum that may be split */
    LONG_PART = 4096,
    MAX_PARTS = 16, /* maximum number of parts of such a sum */
    MAX_SUMS = 1 << 14
};

struct workspace {
    char *panels, *rows, *sums;
    int32_t *start;
};

struct task {
    const struct product *p;
    struct gemm g;
    int64_t m, n, k, batch;
    bool rows_in_place, columns_in_place, sums_in_place;
    bool by_terms;     /* copies of rows keep the order of memory: term by term */
    bool small_panels; /* they stay in the first-level cache over a strip of rows */
    int64_t workers;
    int64_t row_step, term_step;   /* of the left operand in place, bytes */
    int64_t depth;                 /* terms packed at a time */
    int64_t high, wide, long_part; /* rows, columns and terms of a block */
    int64_t down, across, along;   /* blocks of each product */
    int64_t group;                 /* blocks in one task */
    char *workspaces;              /* a buffer for each worker */
    int64_t workspace, panels_bytes, rows_bytes, sums_bytes;
    char *partial; /* sums of parts of the terms */
};

/* Bytes between adjacent positions along a nest's only dimension. */
static int64_t only_step(const struct nest *n, int view)
{
    return n->rank ? n->strides[view][n->rank - 1] : 0;
}

/* Whether gemm can read the left operand in place: rows are packed and of a single dimension. */
static bool usable_rows(const struct task *t)
{
    const struct product *p = t->p;
    return p->lhs_type == t->g.lhs && p->m.rank <= 1 && p->k.rank <= 1 &&
           (t->k == 1 || only_step(&p->k, 0) == (int64_t)dtype_bytes(p->lhs_type));
}

/* Whether gemm can read whole panels of the right operand in place, and too few rows use them for
 * packing to pay off. */
static bool usable_columns(const struct gemm *g, const struct product *p)
{
    enum { MOST = 1 << 17 }; /* rows, times bytes between the rows of a panel */
    const int64_t step = only_step(&p->k, 1);
    return step != 0 && nest_points(&p->m) <= MOST / (step < 0 ? -step : step) &&
           p->rhs_type == g->rhs && g->per_lane == 1 && !g->twofold && p->n.rank <= 1 &&
           p->k.rank <= 1 && only_step(&p->n, 1) == g->lane;
}

/* Whether the left operand is closer together in memory along its rows than along terms. */
static bool is_by_terms(const struct task *t)
{
    const struct product *p = t->p;
    const int64_t row = only_step(&p->m, 1), term = only_step(&p->k, 0);
    return !t->rows_in_place && !t->g.twofold && t->g.per_lane == 1 && p->m.rank > 0 &&
           (row < 0 ? -row : row) < (term < 0 ? -term : term);
}

/* Whether the sum has the result's type; integers of equal width are equivalent here. */
static bool is_sum(const struct task *t, enum dtype out)
{
    if (t->g.twofold)
        return out == t->p->work;
    return out == t->g.sum || (dtype_is_integer(out) && dtype_is_integer(t->g.sum) &&
                               dtype_bytes(out) == dtype_bytes(t->g.sum));
}

static bool usable_result(const struct task *t)
{
    const struct product *p = t->p;
    return is_sum(t, p->out_type) && p->m.rank <= 1 && p->n.rank <= 1 &&
           (t->n == 1 || only_step(&p->n, 0) == (int64_t)dtype_bytes(p->out_type));
}

/* Splits long sums of few results into parts, for the threads of the pool. */
static void cut_sums(struct task *t)
{
    const int64_t lanes = gemm_lanes(&t->g, t->k);
    t->long_part = t->k;
    t->along = 1;
    if (t->batch == 1 && t->m <= MAX_SUMS / t->n && lanes >= LONG) {
        t->along = min_i64(lanes / LONG_PART, MAX_PARTS);
        t->long_part = round_up(ratio_up(t->k, t->along), t->g.per_lane);
        t->along = ratio_up(t->k, t->long_part);
        t->sums_in_place = false;
    }
}

/* Cuts long sums, and chooses the terms packed at a time. */
static void cut_terms(struct task *t)
{
    const struct gemm *g = &t->g;
    cut_sums(t);
    const int64_t chunks = ratio_up(gemm_lanes(g, t->long_part), DEPTH);
    t->depth = round_up(ratio_up(t->long_part, chunks), g->per_lane);
    t->small_panels = gemm_lanes(g, t->depth) * g->panel <= SMALL_PANEL;
}

/* Whether rows that could be read in place are copied if enough columns use the copies: at
 * multiples of CRITICAL bytes all of them share a few sets of the nearest cache, and evict the
 * panel there. */
static bool are_critical(const struct task *t)
{
    return t->small_panels && t->row_step % CRITICAL == 0 && t->m > FEW_ROWS;
}

/* Halves blocks until there are enough of them. */
static void cut_blocks(struct task *t)
{
    const struct gemm *g = &t->g;
    /* copied rows are worth wide blocks */
    const int64_t enough =
        t->workers *
        (t->batch == 1 && (!t->rows_in_place || are_critical(t)) ? FEW_BLOCKS : ENOUGH_BLOCKS);
    const int64_t widest = (t->small_panels ? WIDER_BLOCK : WIDE_BLOCK) / (g->lane << g->twofold);
    t->high = t->sums_in_place ? t->m : min_i64(t->m, HIGH_SUMS);
    t->wide = round_up(ratio_up(t->n, ratio_up(t->n, widest)), g->columns);
    for (;;) {
        t->down = ratio_up(t->m, t->high);
        t->across = ratio_up(t->n, t->wide);
        if (t->down * t->across >= enough || t->batch >= enough || t->along > 1 ||
            t->high * t->wide < 2 * MIN_WORK / t->k)
            break;
        if (t->wide > g->columns)
            t->wide = round_up(t->wide / 2, g->columns);
        else if (t->high >= 2 * MIN_ROWS)
            t->high = round_up(t->high / 2, 6);
        else
            break;
    }
    const int64_t work = min_i64(t->high, t->m) * min_i64(t->wide, t->n);
    t->group = work > MIN_TASK / t->long_part ? 1
                                              : min_i64(MIN_TASK / (work * t->long_part) + 1,
                                                        t->down * t->across * t->along * t->batch);
}

/* Bytes between the rows of copies, or between terms of copies that are made term by term: an odd
 * number of cache lines, which are distributed over all sets of a cache. */
static int64_t copy_pitch(int64_t bytes) { return (bytes / 128 * 2 + 3) * 64; }

static void plan_workspace(struct task *t)
{
    const struct gemm *g = &t->g;
    const int64_t lhs_width = (int64_t)dtype_bytes(g->lhs), sum = g->lane << g->twofold,
                  strip = min_i64(t->high, STRIP);
    t->panels_bytes = gemm_lanes(g, t->depth) * g->panel * ratio_up(t->wide, g->columns);
    t->rows_in_place &= !are_critical(t) || t->wide < WORTH_COPY * g->columns;
    t->rows_bytes = t->rows_in_place ? 0
                    : t->by_terms    ? copy_pitch(strip * lhs_width) * t->depth
                                     : copy_pitch(t->depth * lhs_width) * strip;
    t->sums_bytes = t->sums_in_place || t->along > 1 ? 0 : round_up(t->high * t->wide * sum, 64);
    t->workspace =
        t->panels_bytes + t->rows_bytes + t->sums_bytes + (g->moved ? round_up(strip * 4, 64) : 0);
}

/* ---- one block ---- */

struct block {
    int64_t i, rows, j, columns, l,
        terms;             /* the part of the product: first row and number of rows, and so on */
    char *out, *lhs, *rhs; /* the matrices at its batch position */
    char *sums;
    int64_t sums_row;
};

static struct workspace workspace_of(const struct task *t, int worker)
{
    struct workspace r;
    r.panels = t->workspaces + worker * t->workspace;
    r.rows = r.panels + t->panels_bytes;
    r.sums = r.rows + t->rows_bytes;
    r.start = (int32_t *)(void *)(r.sums + t->sums_bytes);
    return r;
}

/* The block's first columns, of whole panels, that are not packed. */
static int64_t columns_in_place(const struct task *t, const struct block *b)
{
    return t->columns_in_place ? b->columns / t->g.columns * t->g.columns : 0;
}

/* Packs several panels at a time if their columns, and the terms, are evenly spaced; else one by
 * one. */
static void pack_panels(const struct task *t, const struct block *b, int64_t l, int64_t terms,
                        char *panels)
{
    const struct gemm *g = &t->g;
    const struct nest *k = &t->p->k, *n = &t->p->n;
    const int64_t bytes = gemm_lanes(g, terms) * g->panel;
    const struct position_range along = {k, 1, b->l + l, terms};
    int64_t k_run, run;
    char *from = b->rhs + nest_offset(k, 1, along.from, &k_run);
    const int64_t in_place = columns_in_place(t, b);
    panels += in_place / g->columns * bytes;
    for (int64_t j = in_place; j < b->columns; j += run) {
        const int64_t across = nest_offset(n, 1, b->j + j, &run), left = b->columns - j;
        run = run < left ? run / g->columns * g->columns : left;
        if (run > 0 && k_run >= terms) {
            gemm_pack(g, t->p->rhs_type, from + across, only_step(k, 1), only_step(n, 1), terms,
                      run, panels);
        } else {
            run = min_i64(g->columns, left);
            const struct position_range columns = {n, 1, b->j + j, run};
            position_range_pack(g, t->p->rhs_type, b->rhs, &along, &columns, panels);
        }
        panels += ratio_up(run, g->columns) * bytes;
    }
}

/* Finds or copies `terms` terms of a strip of the left operand's rows as gemm takes them; `i`: its
 * first row. */
static void find_rows(const struct task *t, const struct block *b, int64_t i, int64_t l,
                      int64_t terms, const struct workspace *r, struct gemm_block *to)
{
    const int64_t width = (int64_t)dtype_bytes(t->g.lhs);
    to->a_lane = t->g.lane;
    if (t->rows_in_place) {
        to->a = b->lhs + i * t->row_step + l * t->term_step;
        to->a_row = t->row_step;
        return;
    }
    const struct position_range rows = {&t->p->m, 1, i, to->rows}, along = {&t->p->k, 0, l, terms};
    struct dense workspace = {t->g.lhs, r->rows, copy_pitch(terms * width), width};
    if (t->by_terms) {
        workspace.row = width;
        workspace.width = to->a_lane = copy_pitch(to->rows * width);
    }
    position_range_fetch(&workspace, t->p->lhs_type, b->lhs, &rows, &along);
    to->a = r->rows;
    to->a_row = workspace.row;
}

/* Multiplies a strip of rows with all panels. A small panel stays in the first-level cache over the
 * whole strip; else a few rows stay there over all panels. */
static void add_panels(const struct task *t, const struct block *b, const struct gemm_block *strip,
                       const char *columns, const char *panels)
{
    const struct gemm *g = &t->g;
    const int64_t in_place = columns_in_place(t, b), step = only_step(&t->p->k, 1),
                  bytes = (strip->lanes + (strip->rest > 0)) * g->panel,
                  height = t->small_panels ? STRIP : FEW_ROWS;
    for (int64_t i = 0; i < strip->rows; i += height) {
        struct gemm_block at = *strip;
        at.rows = min_i64(height, strip->rows - i);
        at.a += i * strip->a_row;
        at.start = strip->start ? strip->start + i : NULL;
        for (int64_t j = 0; j < b->columns; j += g->columns) {
            at.panel = j < in_place ? columns + j * g->lane : panels + j / g->columns * bytes;
            at.panel_row = j < in_place ? step : 0;
            at.n = min_i64(g->columns, b->columns - j);
            at.c = strip->c + i * b->sums_row + (j * g->lane << g->twofold);
            gemm_block(g, &at);
        }
    }
}

static void run_block(const struct task *t, const struct block *b, const struct workspace *r)
{
    const struct gemm *g = &t->g;
    for (int64_t l = 0; l < b->terms; l += t->depth) {
        const int64_t terms = min_i64(t->depth, b->terms - l);
        const char *columns = b->rhs + (b->l + l) * only_step(&t->p->k, 1) + b->j * g->lane;
        pack_panels(t, b, l, terms, r->panels);
        for (int64_t i = 0; i < b->rows; i += STRIP) {
            struct gemm_block at = {.rows = min_i64(STRIP, b->rows - i),
                                    .lanes = g->twofold ? 2 * terms : terms / g->per_lane,
                                    .rest = terms % g->per_lane,
                                    .add = l > 0,
                                    .start = g->moved ? r->start : NULL,
                                    .c = b->sums + i * b->sums_row,
                                    .c_row = b->sums_row};
            find_rows(t, b, b->i + i, b->l + l, terms, r, &at);
            if (g->moved)
                gemm_excess(g, at.a, at.a_row, at.rows, terms, r->start);
            add_panels(t, b, &at, columns, r->panels);
        }
    }
}

/* ---- entry point ---- */

static enum dtype sum_type(const struct task *t) { return t->g.twofold ? t->p->work : t->g.sum; }

static void store_sums(const struct task *t, const struct block *b, char *sums, int64_t sums_row)
{
    const struct position_range rows = {&t->p->m, 0, b->i, b->rows},
                                columns = {&t->p->n, 0, b->j, b->columns};
    const struct dense from = {sum_type(t), sums, sums_row, t->g.lane << t->g.twofold};
    position_range_store(&from, t->p->out_type, b->out, &rows, &columns);
}

static void place_block(const struct task *t, int64_t number, struct block *b, int64_t *along)
{
    const struct product *p = t->p;
    int64_t ignored;
    const int64_t across = number % t->across, down = number / t->across % t->down;
    *along = number / t->across / t->down % t->along;
    const int64_t batch = number / t->across / t->down / t->along;
    b->i = down * t->high;
    b->rows = min_i64(t->high, t->m - b->i);
    b->j = across * t->wide;
    b->columns = min_i64(t->wide, t->n - b->j);
    b->l = *along * t->long_part;
    b->terms = min_i64(t->long_part, t->k - b->l);
    b->out = p->out + nest_offset(&p->batch, 0, batch, &ignored);
    b->lhs = p->lhs + nest_offset(&p->batch, 1, batch, &ignored);
    b->rhs = p->rhs + nest_offset(&p->batch, 2, batch, &ignored);
}

static void run_one(const struct task *t, int64_t number, const struct workspace *r)
{
    struct block b;
    int64_t along;
    const int64_t width = t->g.lane << t->g.twofold;
    place_block(t, number, &b, &along);
    if (t->along > 1) {
        b.sums_row = t->n * width;
        b.sums = t->partial + (along * t->m + b.i) * b.sums_row + b.j * width;
        run_block(t, &b, r);
    } else if (t->sums_in_place) {
        b.sums_row = only_step(&t->p->m, 0);
        b.sums = b.out + b.i * b.sums_row + b.j * width;
        run_block(t, &b, r);
    } else {
        b.sums_row = t->wide * width;
        b.sums = r->sums;
        run_block(t, &b, r);
        store_sums(t, &b, b.sums, b.sums_row);
    }
}

static void run_part(void *context, int64_t part, int worker)
{
    const struct task *t = context;
    const struct workspace r = workspace_of(t, worker);
    const int64_t blocks = t->batch * t->along * t->down * t->across,
                  end = min_i64(blocks, (part + 1) * t->group);
    for (int64_t number = part * t->group; number < end; number++)
        run_one(t, number, &r);
}

/* Adds the sums of the parts of the terms, in order. */
static void add_parts(const struct task *t)
{
    const int64_t count = t->m * t->n << t->g.twofold;
    const struct block all = {.rows = t->m, .columns = t->n, .out = t->p->out};
    kern_tile_fn *add = kern_find_elementwise("add", t->g.sum);
    for (int64_t part = 1; part < t->along; part++) {
        const void *args[2] = {t->partial, t->partial + part * count * t->g.lane};
        add(t->partial, args, count);
    }
    store_sums(t, &all, t->partial, t->n * t->g.lane << t->g.twofold);
}

/* Chooses the kind of lanes: lanes of several elements must not cross the end of a dimension. */
static void choose(struct gemm *g, const struct product *p)
{
    const bool broken = p->k.rank > 1 && p->k.dims[p->k.rank - 1] % 4 != 0;
    gemm_choose(g, p->out_type, p->lhs_type, p->rhs_type, p->work, broken);
}

static bool by_blocks(struct thread_pool *workers, const struct product *p)
{
    struct task t = {.p = p,
                     .m = nest_points(&p->m),
                     .n = nest_points(&p->n),
                     .k = nest_points(&p->k),
                     .batch = nest_points(&p->batch),
                     .workers = thread_pool_size(workers)};
    choose(&t.g, p);
    t.rows_in_place = usable_rows(&t);
    t.columns_in_place = usable_columns(&t.g, p);
    t.sums_in_place = usable_result(&t);
    t.by_terms = is_by_terms(&t);
    t.row_step = only_step(&p->m, 1);
    t.term_step = only_step(&p->k, 0);
    cut_terms(&t);
    cut_blocks(&t);
    plan_workspace(&t);
    const int64_t partial = t.along > 1 ? (t.along * t.m * t.n * t.g.lane) << t.g.twofold : 0;
    char *workspace = mem_alloc((size_t)(t.workspace * t.workers + partial));
    if (!workspace)
        return false;
    t.workspaces = workspace;
    t.partial = workspace + t.workspace * t.workers;
    thread_pool_run(workers, ratio_up(t.batch * t.along * t.down * t.across, t.group), run_part,
                    &t);
    if (t.along > 1)
        add_parts(&t);
    mem_free(workspace);
    return true;
}

/* ---- forms of products ---- */

static bool is_small(const struct product *p, struct small *s)
{
    if (p->lhs_type != p->out_type || p->rhs_type != p->out_type || p->m.rank > 1 ||
        p->n.rank > 1 || p->k.rank > 1)
        return false;
    *s = (struct small){p->out_type,
                        nest_points(&p->m),
                        nest_points(&p->n),
                        nest_points(&p->k),
                        only_step(&p->m, 1),
                        only_step(&p->k, 0),
                        only_step(&p->k, 1),
                        only_step(&p->n, 1),
                        only_step(&p->m, 0),
                        only_step(&p->n, 0),
                        NULL};
    return small_applies(s);
}

void product_fill_zero(struct thread_pool *workers, const struct view *out)
{
    union kern_element zero = {{0}};
    if (dtype_is_float(out->dtype))
        float_store(out->dtype, &zero, 0);
    kern_fill(workers, out, &zero);
}

static void fill_zero(const struct product *p)
{
    struct view out = {.dtype = p->out_type};
    const struct nest *nests[] = {&p->m, &p->n};
    for (int i = 0; i < 2; i++)
        for (int d = 0; d < nests[i]->rank; d++) {
            out.dims[out.rank] = nests[i]->dims[d];
            out.strides[out.rank++] = nests[i]->strides[0][d];
        }
    struct nest_walk w;
    nest_start(&w, &p->batch, p->batch.rank, (char *[]){p->out, p->lhs, p->rhs});
    do {
        out.data = w.at[0];
        product_fill_zero(NULL, &out);
    } while (nest_step(&w));
}

/* Whether the rows of the transposed right operand are contiguous, and transposing the left one and
 * the result takes less than packing them. */
static bool is_turned(const struct product *p)
{
    const int64_t m = nest_points(&p->m), n = nest_points(&p->n), k = nest_points(&p->k);
    return p->n.rank <= 1 && p->k.rank <= 1 && p->rhs_type == p->work &&
           only_step(&p->k, 1) == (int64_t)dtype_bytes(p->rhs_type) && 2 * m < k * n / (k + n);
}

/* Copies a nest with two of its views exchanged; no more than is used, since nests are large. */
static void swap_views(struct nest *n, const struct nest *from, int a, int b)
{
    nest_init(n, from->count);
    for (int d = 0; d < from->rank; d++) {
        int64_t strides[3];
        for (int k = 0; k < from->count; k++)
            strides[k] = from->strides[k == a ? b : k == b ? a : k][d];
        nest_add(n, from->dims[d], strides);
    }
}

void product_transpose(struct product *to, const struct product *p)
{
    to->out_type = p->out_type;
    to->lhs_type = p->rhs_type;
    to->rhs_type = p->lhs_type;
    to->work = p->work;
    to->out = p->out;
    to->lhs = p->rhs;
    to->rhs = p->lhs;
    swap_views(&to->m, &p->n, 0, 0);
    swap_views(&to->n, &p->m, 0, 0);
    swap_views(&to->batch, &p->batch, 1, 2);
    swap_views(&to->k, &p->k, 0, 1);
}

static bool by_columns(struct thread_pool *workers, const struct product *p)
{
    struct product turned;
    product_transpose(&turned, p);
    return by_blocks(workers, &turned);
}

/* For a few vectors times a matrix that has several dimensions besides the terms: all but the
 * innermost become batch dimensions. False when that does not pay off. */
static bool peel_matrix(struct product *p)
{
    enum { WORTH = 64 /* minimum size of the innermost */ };
    const bool by_lhs = nest_points(&p->n) < nest_points(&p->m);
    struct nest *free_dims = by_lhs ? &p->m : &p->n;
    const int inner = free_dims->rank - 1;
    if (inner < 1 || free_dims->dims[inner] < WORTH || p->batch.rank + inner > VIEW_MAX_RANK)
        return false;
    for (int d = 0; d < inner; d++) {
        const int64_t out = free_dims->strides[0][d], matrix = free_dims->strides[1][d];
        nest_add(&p->batch, free_dims->dims[d],
                 (int64_t[]){out, by_lhs ? matrix : 0, by_lhs ? 0 : matrix});
    }
    const struct nest all = *free_dims;
    nest_init(free_dims, 2);
    nest_add(free_dims, all.dims[inner], (int64_t[]){all.strides[0][inner], all.strides[1][inner]});
    return true;
}

void product_merge(struct product *p)
{
    nest_merge(&p->batch);
    nest_merge(&p->m);
    nest_merge(&p->n);
    nest_merge(&p->k);
}

/* Whether gemm, which keeps the sums of more rows in registers, reads the matrix in place too. */
static bool are_rows(const struct product *p)
{
    enum { ENOUGH_ROWS = 5, PANELS = 4 }; /* the last one may not be whole, and is packed */
    struct gemm g;
    if (nest_points(&p->m) < ENOUGH_ROWS)
        return false;
    choose(&g, p);
    return nest_points(&p->n) >= PANELS * g.columns && usable_columns(&g, p);
}

/* Whether it is a product of a matrix and a few vectors; may change the nests to the form that
 * matvec.c takes. */
static bool prepare_vectors(struct product *p)
{
    if (min_i64(nest_points(&p->m), nest_points(&p->n)) > MATVEC_MAX || are_rows(p))
        return false;
    if (matvec_applies(p))
        return true;
    struct product peeled = *p;
    if (!peel_matrix(&peeled) || !matvec_applies(&peeled))
        return false;
    *p = peeled;
    return true;
}

bool product_make_ready(struct product *p, struct ready_product *out)
{
    product_merge(p);
    if (nest_points(&p->batch) != 1 || nest_points(&p->m) == 0 || nest_points(&p->n) == 0 ||
        nest_points(&p->k) == 0)
        return false;
    out->is_small = is_small(p, &out->small);
    return out->is_small || (!product_is_batch(p) && matvec_make_ready(p, &out->matvec));
}

bool product_run(struct thread_pool *workers, struct product *p)
{
    if (nest_points(&p->batch) == 0 || nest_points(&p->m) == 0 || nest_points(&p->n) == 0)
        return true;
    if (nest_points(&p->k) == 0) {
        fill_zero(p);
        return true;
    }
    struct small small;
    product_merge(p);
    if (nest_points(&p->batch) == 1 && is_small(p, &small)) {
        small_run(&small, p->lhs, p->rhs, p->out);
        return true;
    }
    if (product_is_batch(p))
        return product_run_batch(workers, p);
    if (prepare_vectors(p))
        return matvec_run(workers, p);
    return is_turned(p) ? by_columns(workers, p) : by_blocks(workers, p);
}

const char *product_choice(struct product *p)
{
    static const char *const lanes[GEMM_KINDS] = {
        [GEMM_F32] = "packed panels, lanes of f32",
        [GEMM_F64] = "packed panels, lanes of f64",
        [GEMM_PAIRS] = "packed panels, two bf16 per lane",
        [GEMM_SHORTS] = "packed panels, two 16-bit integers per lane",
        [GEMM_SIGNED_BYTES] = "packed panels, four bytes per lane",
        [GEMM_UNSIGNED_BYTES] = "packed panels, four bytes per lane",
        [GEMM_WORDS] = "packed panels, lanes of 32-bit integers",
        [GEMM_DWORDS] = "packed panels, lanes of 64-bit integers",
    };
    if (nest_points(&p->batch) == 0 || nest_points(&p->m) == 0 || nest_points(&p->n) == 0)
        return "nothing: empty result";
    if (nest_points(&p->k) == 0)
        return "zeros: empty sum";
    struct small small;
    product_merge(p);
    if (nest_points(&p->batch) == 1 && is_small(p, &small))
        return "small: operands and sums in registers";
    if (product_is_batch(p))
        return product_batch_choice(p);
    if (prepare_vectors(p))
        return matvec_choice(p);
    struct gemm g;
    choose(&g, p);
    return lanes[g.kind];
}
