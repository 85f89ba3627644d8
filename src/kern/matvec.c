/*
 * matvec.c: products of a matrix of floats with up to eight vectors (spec: DotGeneral). The matrix
 * is read only once, in place, and widened in registers instead of being packed first. Where the
 * sums of a few results run over dimensions that both operands order differently, or that are not
 * packed, the rows are copied some thousand terms at a time.
 *
 * Order and accumulation: in f32, or in f64 for f64. Along rows of the matrix in interleaved sums
 * that are reduced at the end; down its columns four rows at a time. Long sums of few results are
 * split into parts, which are added in order. Blocks depend on shapes and types alone, so any
 * number of threads gives the same bits.
 */
#include "kern/matvec.h"

#include "kern/cpu.h"

enum {
    BLOCK_BYTES = 256 << 10, /* minimum size of a block of the matrix */
    SUM_BYTES = 16 << 10, /* size of the sums down columns, which stay in the first-level cache */
    ENOUGH_BLOCKS = 8,
    MIN_TERMS = 256, /* minimum number of terms in a part of a sum */
    /* terms, times vectors: matrices with shorter rows are computed by product.c */
    SHORT_ROW = 16,
    FEW_ROWS = 8, /* for which an aligned copy of the vector does not pay off */
    MANY_TERMS =
        1 << 18,     /* maximum number of terms for which each worker has a copy of the vectors */
    PIECE = 1 << 15, /* terms of rows that are copied */
    LINE = 64
};

struct matvec {
    const struct product *p;
    bool by_lhs; /* the matrix is the left operand */
    /* the matrix is packed along rows, the direction of the sums; else along columns */
    bool across;
    bool copied;        /* rows of a few results are copied; `across` */
    int vectors, count; /* number of vectors; and rounded up to a number that has loops */
    enum dtype type, work;
    enum matvec_source source;
    bool convert; /* the matrix is converted to f32 first, a piece at a time */
    matvec_rows_fn *rows;
    matvec_down_fn *down;
    struct loader widen, narrow, vector;
    int64_t width, sum_width;                       /* bytes of an element and of a sum */
    int64_t results, terms, result_step, term_step; /* of the matrix */
    int64_t vector_step, out_step;
    int64_t batch, block, part; /* results and terms of a block */
    int64_t piece;              /* terms that are copied at a time, if rows are */
    int64_t blocks, parts, group;
    char *workspaces, *partial; /* a buffer for each worker; sums of parts of the terms */
    int64_t scratch, vector_bytes, sums_bytes, row_bytes; /* row: one that is copied */
};

/* ---- products computed here ---- */

static const struct matvec_set *find_set(void) { return CPU_FORM(matvec_set); }

static bool single(const struct nest *n, int view, int64_t *points, int64_t *step)
{
    *points = n->rank ? n->dims[0] : 1;
    *step = n->rank ? n->strides[view][0] : 0;
    return n->rank <= 1;
}

/* Finds the shapes; false when it is not a product of a few vectors and a matrix that is packed
 * along rows or columns. */
static bool find_matrix(struct matvec *v, const struct product *p)
{
    const int64_t m = nest_points(&p->m), n = nest_points(&p->n);
    int64_t ignored;
    v->p = p;
    v->by_lhs = n < m;
    v->vectors = (int)(v->by_lhs ? n : m);
    v->type = v->by_lhs ? p->lhs_type : p->rhs_type;
    v->work = p->work;
    if ((v->by_lhs ? n : m) > MATVEC_MAX || !dtype_is_float(v->type) ||
        !(v->work == DT_F32 || (v->work == DT_F64 && v->type == DT_F64)))
        return false;
    const struct nest *free_dims = v->by_lhs ? &p->m : &p->n;
    v->width = (int64_t)dtype_bytes(v->type);
    if (!single(free_dims, 1, &v->results, &v->result_step))
        return false;
    v->copied = !single(&p->k, v->by_lhs ? 0 : 1, &v->terms, &v->term_step);
    single(free_dims, 0, &ignored, &v->out_step);
    single(&p->k, v->by_lhs ? 1 : 0, &ignored, &v->vector_step);
    v->across = v->copied || v->term_step == v->width || v->terms == 1;
    v->copied |= !v->across && v->result_step != v->width;
    if (v->copied) {
        v->across = true;
        v->terms = nest_points(&p->k);
        return v->results <= MATVEC_MAX && v->terms >= MIN_TERMS;
    }
    /* For short rows, reducing the lanes takes longer than the whole product by panels. */
    if (v->across && v->by_lhs && v->type == v->work && v->terms < SHORT_ROW * v->vectors)
        return false;
    return v->results * v->terms >= 256;
}

bool matvec_applies(const struct product *p)
{
    struct matvec v;
    return find_matrix(&v, p);
}

const char *matvec_choice(const struct product *p)
{
    struct matvec v;
    return find_matrix(&v, p) && v.copied ? "few results: rows of copies"
                                          : "few vectors by a matrix read once in place";
}

/* ---- blocking ---- */

static void find_loops(struct matvec *v)
{
    const struct matvec_set *set = find_set();
    int size = 0;
    while (1 << size < v->vectors)
        size++;
    v->count = 1 << size;
    v->source = v->type == DT_BF16  ? MATVEC_BF16
                : v->type == DT_F16 ? MATVEC_F16
                : v->type == DT_F64 ? MATVEC_F64
                                    : MATVEC_F32;
    if (!set->rows[v->source][0])
        v->source = MATVEC_F32;
    v->convert = v->source == MATVEC_F32 && v->type != DT_F32;
    v->rows = set->rows[v->source][size];
    v->down = set->down[v->source][size];
    v->sum_width = (int64_t)dtype_bytes(v->work);
    loader_init(&v->widen, v->convert ? DT_F32 : v->type, v->type);
    loader_init(&v->narrow, v->p->out_type, v->work);
    loader_init(&v->vector, v->work, v->by_lhs ? v->p->rhs_type : v->p->lhs_type);
}

/* Terms that are taken together: parts of copied rows consist of whole inner dimensions. */
static int64_t unit_of(const struct matvec *v)
{
    const struct nest *k = &v->p->k;
    const int64_t inner = k->rank > 1 ? k->dims[k->rank - 1] : 1;
    return !v->copied ? LINE / v->sum_width : inner <= PIECE ? inner : 1;
}

static void cut(struct matvec *v)
{
    const int64_t column = v->terms * v->width, unit = unit_of(v);
    if (v->across)
        v->block = min_i64(v->results, ratio_up(BLOCK_BYTES, column));
    else
        v->block = min_i64(v->results, SUM_BYTES / v->sum_width / v->count);
    v->blocks = ratio_up(v->results, v->block);
    v->parts = 1;
    v->part = v->terms;
    if (v->batch == 1 && v->blocks < ENOUGH_BLOCKS && v->results * column >= 2 * BLOCK_BYTES &&
        v->terms >= 2 * MIN_TERMS) {
        const int64_t few = min_i64(ENOUGH_BLOCKS, v->terms / MIN_TERMS),
                      many = ratio_up(v->terms, MANY_TERMS);
        v->part = round_up(ratio_up(v->terms, max_i64(few, many)), unit);
        v->parts = ratio_up(v->terms, v->part);
    }
    v->group = ratio_up(BLOCK_BYTES, v->block * v->part * v->width);
    v->piece = v->copied ? min_i64(PIECE / unit * unit, v->part) : v->part;
    v->vector_bytes = round_up(v->piece * v->sum_width, LINE) + LINE;
    v->sums_bytes = round_up(v->block * v->sum_width, LINE);
    v->row_bytes = v->across && (v->convert || v->copied) ? round_up(v->piece * 8, LINE) : 0;
    v->scratch = v->count * (v->vector_bytes + v->sums_bytes) + v->row_bytes;
}

/* ---- a block: some results of one batch position, some terms of their sums ---- */

struct block {
    int64_t from, results, term, terms;
    char *out;
    char *matrix, *vectors;
    const char *x; /* the vectors, packed */
    char *sums, *row;
};

/* Whether a single vector is used in place. */
static bool vector_in_place(const struct matvec *v)
{
    return v->across && !v->copied && v->vectors == 1 && !v->vector.convert &&
           v->vector_step == v->sum_width;
}

static const char *vector_at(const struct matvec *v, const struct block *b, int r)
{
    int64_t ignored;
    return b->vectors + nest_offset(v->by_lhs ? &v->p->n : &v->p->m, 1, r, &ignored) +
           b->term * v->vector_step;
}

/* Copies the vectors as the loops need them: packed, followed by zeros. */
static void fetch_vectors(const struct matvec *v, const struct block *b, char *x)
{
    memset(x, 0, (size_t)(v->count * v->vector_bytes));
    for (int r = 0; r < v->vectors; r++) {
        const char *from = vector_at(v, b, r);
        char *to = x + r * v->vector_bytes;
        for (int64_t k = 0; k < b->terms; k += KERN_TILE) {
            const int64_t count = min_i64(KERN_TILE, b->terms - k);
            const void *at = loader_read(&v->vector, to + k * v->sum_width,
                                         from + k * v->vector_step, v->vector_step, count);
            if (at != to + k * v->sum_width)
                memcpy(to + k * v->sum_width, at, (size_t)(count * v->sum_width));
        }
    }
}

static void run_across(const struct matvec *v, const struct block *b)
{
    if (!v->convert) {
        v->rows(b->matrix, v->result_step, b->results, b->x, v->vector_bytes, b->terms, b->sums,
                v->sums_bytes);
        return;
    }
    for (int64_t i = 0; i < b->results; i++) {
        const char *row = b->matrix + i * v->result_step;
        for (int64_t k = 0; k < b->terms; k += KERN_TILE)
            loader_read(&v->widen, b->row + k * v->sum_width, row + k * v->term_step, v->term_step,
                        min_i64(KERN_TILE, b->terms - k));
        v->rows(b->row, 0, 1, b->x, v->vector_bytes, b->terms, b->sums + i * v->sum_width,
                v->sums_bytes);
    }
}

/* Adds n columns of MATVEC_ROWS rows of the matrix, from term k on, to the sums. Missing rows are
 * replaced by zeros; a zero factor is not enough. */
static void add_rows(const struct matvec *v, const struct block *b, int64_t k, int64_t j, int64_t n)
{
    float scratch[MATVEC_ROWS][KERN_TILE];
    const char *rows[MATVEC_ROWS];
    for (int64_t i = 0; i < MATVEC_ROWS; i++) {
        const char *at = b->matrix + (k + i) * v->term_step + j * v->result_step;
        rows[i] = (char *)scratch[i];
        if (k + i >= b->terms)
            memset(scratch[i], 0, (size_t)(n * (v->convert ? 4 : v->width)));
        else if (v->convert)
            rows[i] = loader_read(&v->widen, scratch[i], at, v->result_step, n);
        else
            rows[i] = at;
    }
    v->down(rows, b->x + k * v->sum_width, v->vector_bytes, n, b->sums + j * v->sum_width,
            v->sums_bytes);
}

static void run_down(const struct matvec *v, const struct block *b)
{
    const int64_t max = v->convert ? KERN_TILE : b->results;
    memset(b->sums, 0, (size_t)(v->count * v->sums_bytes));
    int64_t k = 0;
    for (; k + MATVEC_ROWS <= b->terms; k += MATVEC_ROWS)
        for (int64_t j = 0; j < b->results; j += max)
            add_rows(v, b, k, j, min_i64(max, b->results - j));
    for (int64_t j = 0; k < b->terms && j < b->results; j += KERN_TILE / 2)
        add_rows(v, b, k, j, min_i64(KERN_TILE / 2, b->results - j));
}

/* Copies n terms of a row of the left or the right operand. */
static void copy_row(const struct product *p, bool left, char *from, int64_t row, int64_t term,
                     int64_t n, const struct dense *to)
{
    const struct position_range rows = {left ? &p->m : &p->n, 1, row, 1},
                                terms = {&p->k, left ? 0 : 1, term, n};
    position_range_fetch(to, left ? p->lhs_type : p->rhs_type, from, &rows, &terms);
}

/* Copies n terms of the vectors: as they are, since rearranging and converting at the same time
 * takes longer. */
static void copy_vectors(const struct matvec *v, const struct block *b, int64_t term, int64_t n,
                         char *x)
{
    const enum dtype type = v->by_lhs ? v->p->rhs_type : v->p->lhs_type;
    const int64_t width = (int64_t)dtype_bytes(type);
    for (int r = 0; r < v->vectors; r++, x += v->vector_bytes) {
        const struct dense to = {type, v->vector.convert ? b->row : x, 0, width};
        copy_row(v->p, !v->by_lhs, b->vectors, r, term, n, &to);
        for (int64_t k = 0; k < n && v->vector.convert; k += KERN_TILE)
            loader_read(&v->vector, x + k * v->sum_width, b->row + k * width, width,
                        min_i64(KERN_TILE, n - k));
    }
}

static void run_copied(const struct matvec *v, const struct block *b, char *x)
{
    const enum dtype type = v->convert ? DT_F32 : v->type;
    const struct dense row = {type, b->row, 0, (int64_t)dtype_bytes(type)};
    kern_tile_fn *add = kern_find_elementwise("add", v->work);
    char sums[MATVEC_MAX * 8];
    memset(x, 0, (size_t)(v->count * v->vector_bytes));
    memset(b->sums, 0, (size_t)(v->count * v->sums_bytes));
    for (int64_t k = 0; k < b->terms; k += v->piece) {
        const int64_t n = min_i64(v->piece, b->terms - k);
        copy_vectors(v, b, b->term + k, n, x);
        for (int64_t i = 0; i < b->results; i++) {
            copy_row(v->p, v->by_lhs, b->matrix, b->from + i, b->term + k, n, &row);
            v->rows(b->row, 0, 1, x, v->vector_bytes, n, sums, v->sum_width);
            for (int r = 0; r < v->vectors; r++) {
                char *sum = b->sums + r * v->sums_bytes + i * v->sum_width;
                add(sum, (const void *[]){sum, sums + r * v->sum_width}, 1);
            }
        }
    }
}

/* Stores results `from`, ... of vector r. */
static void store(const struct matvec *v, char *out, int r, int64_t from, const char *sums,
                  int64_t results)
{
    const struct nest *n = v->by_lhs ? &v->p->n : &v->p->m;
    int64_t ignored;
    char *to = out + nest_offset(n, 0, r, &ignored) + from * v->out_step;
    for (int64_t j = 0; j < results; j += KERN_TILE)
        loader_write(&v->narrow, to + j * v->out_step, v->out_step, sums + j * v->sum_width,
                     min_i64(KERN_TILE, results - j));
}

static void run_in_place(const struct matvec *v, struct block *b, char *x)
{
    b->matrix += b->from * v->result_step + b->term * v->term_step;
    if (vector_in_place(v) && v->block <= FEW_ROWS)
        b->x = vector_at(v, b, 0);
    else
        fetch_vectors(v, b, x);
    if (v->across)
        run_across(v, b);
    else
        run_down(v, b);
}

static void run_block(const struct matvec *v, int64_t number, char *scratch)
{
    const struct product *p = v->p;
    const int64_t part = number / v->blocks % v->parts, batch = number / v->blocks / v->parts;
    int64_t ignored;
    struct block b = {.from = number % v->blocks * v->block, .term = part * v->part, .x = scratch};
    b.results = min_i64(v->block, v->results - b.from);
    b.terms = min_i64(v->part, v->terms - b.term);
    b.out = p->out + nest_offset(&p->batch, 0, batch, &ignored);
    char *lhs = p->lhs + nest_offset(&p->batch, 1, batch, &ignored),
         *rhs = p->rhs + nest_offset(&p->batch, 2, batch, &ignored);
    b.matrix = v->by_lhs ? lhs : rhs;
    b.vectors = v->by_lhs ? rhs : lhs;
    b.sums = scratch + v->count * v->vector_bytes;
    b.row = b.sums + v->count * v->sums_bytes;
    if (v->copied)
        run_copied(v, &b, scratch);
    else
        run_in_place(v, &b, scratch);
    for (int r = 0; r < v->vectors; r++) {
        const char *sums = b.sums + r * v->sums_bytes;
        if (v->parts > 1)
            memcpy(v->partial + ((part * v->vectors + r) * v->results + b.from) * v->sum_width,
                   sums, (size_t)(b.results * v->sum_width));
        else
            store(v, b.out, r, b.from, sums, b.results);
    }
}

/* ---- the product ---- */

static void run_group(void *context, int64_t number, int worker)
{
    const struct matvec *v = context;
    const int64_t blocks = v->batch * v->parts * v->blocks,
                  end = min_i64(blocks, (number + 1) * v->group);
    for (int64_t i = number * v->group; i < end; i++)
        run_block(v, i, v->workspaces + worker * v->scratch);
}

static void add_parts(const struct matvec *v)
{
    const int64_t count = v->vectors * v->results;
    kern_tile_fn *add = kern_find_elementwise("add", v->work);
    for (int64_t part = 1; part < v->parts; part++) {
        const void *args[2] = {v->partial, v->partial + part * count * v->sum_width};
        add(v->partial, args, count);
    }
    for (int r = 0; r < v->vectors; r++)
        store(v, v->p->out, r, 0, v->partial + r * v->results * v->sum_width, v->results);
}

bool matvec_run(struct thread_pool *workers, const struct product *p)
{
    struct matvec v = {.batch = nest_points(&p->batch)};
    find_matrix(&v, p);
    find_loops(&v);
    cut(&v);
    const int64_t partial = v.parts > 1 ? v.parts * v.vectors * v.results * v.sum_width : 0;
    v.workspaces = mem_alloc((size_t)(v.scratch * thread_pool_size(workers) + partial));
    if (!v.workspaces)
        return false;
    v.partial = v.workspaces + v.scratch * thread_pool_size(workers);
    thread_pool_run(workers, ratio_up(v.batch * v.parts * v.blocks, v.group), run_group, &v);
    if (v.parts > 1)
        add_parts(&v);
    mem_free(v.workspaces);
    return true;
}

bool matvec_make_ready(const struct product *p, struct ready_matvec *out)
{
    struct matvec v = {.batch = nest_points(&p->batch)};
    if (v.batch != 1 || !find_matrix(&v, p))
        return false;
    find_loops(&v);
    cut(&v);
    *out = (struct ready_matvec){v.rows, v.by_lhs, v.result_step, v.results, v.terms};
    return vector_in_place(&v) && !v.convert && !v.narrow.convert && v.blocks == 1 &&
           v.parts == 1 && v.out_step == v.sum_width;
}
