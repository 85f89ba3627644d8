/*
 * conv_tiled.c: convolution by blocks of a matrix product (spec: ConvWithGeneralPadding).
 *
 * Positions are rows of the left matrix, and the kernel is the right one, packed once. A block of
 * patches is packed on demand, directly from the input (conv_patches.c), and stays in the
 * second-level cache. The blocking depends on the shapes alone, so the number of threads changes no
 * bit.
 */
#include "kern/conv_patches.h"
#include "kern/gemm.h"

enum {
    BLOCK_BYTES = 256 << 10, /* of packed patches */
    MAX_POSITIONS = 256,     /* maximum number of positions in a task */
    /* maximum number of features in a task whose sums are stored separately */
    MAX_FEATURES = 512,
    TARGET_PARTS = 16,
    MIN_ROWS = 48, /* minimum number of rows in a task when more tasks are needed */
    ROWS = 12,     /* row granularity that suits gemm_block */
    LINE = 64
};

struct tiled {
    const struct conv *c;
    struct gemm g;
    struct patches patches; /* of the first group */
    bool own_panels;        /* each task packs its own panels, which no other task needs */
    bool in_place;          /* patches are used in place, in rows `step` bytes apart */
    int64_t step;
    bool look;                              /* check panels for infinities and NaNs */
    enum dtype sum;                         /* of a whole element of C */
    int64_t groups, features, k, positions; /* features, k: per group */
    int64_t group_step;                     /* bytes of the input between groups */
    int64_t depth;                          /* elements of k in a block */
    int64_t block, slice;                   /* positions and features of a task */
    int64_t blocks, slices;                 /* per group */
    char *kernel;                           /* panels of all groups, or NULL */
    /* the source of panels, `kernel_element` bytes between elements of k */
    struct view matrix;
    int64_t kernel_group, kernel_element; /* bytes */
    void *storage[3];
    bool direct;       /* C is the result itself */
    int64_t workspace; /* size in bytes of each worker's buffer, which starts with a flag */
    /* offsets in it: patches, unconverted patches, a panel, gemm_excess and C */
    int64_t patch, raw, panel, starts, sums;
    int64_t row; /* bytes of a packed row of patches */
    char *workspaces;
};

/* ---- blocking ---- */

/* Whether consecutive positions of the result are a fixed step apart. */
static bool is_linear(const struct view *out, int64_t *step)
{
    int64_t next = 0;
    *step = 0;
    for (int d = out->rank - 1; d >= 0; d--) {
        if (d == 1 || out->dims[d] == 1)
            continue;
        if (*step != 0 && out->strides[d] != next)
            return false;
        *step = *step ? *step : out->strides[d];
        next = out->strides[d] * out->dims[d];
    }
    return true;
}

static int64_t parts_of(const struct tiled *t) { return t->groups * t->blocks * t->slices; }

static void count_parts(struct tiled *t)
{
    t->blocks = ratio_up(t->positions, t->block);
    t->slices = ratio_up(t->features, t->slice);
}

static void cut(struct tiled *t)
{
    const int64_t columns = t->g.columns;
    t->depth = even_share(t->k, PATCH_DEPTH, 16);
    t->row = round_up(t->depth * (int64_t)dtype_bytes(t->g.lhs), LINE) +
             LINE; /* the number of lines may be odd */
    const int64_t max = min_i64(BLOCK_BYTES / t->row, MAX_POSITIONS) / ROWS * ROWS;
    t->block = even_share(t->positions, max > ROWS ? max : ROWS, ROWS);
    t->slice = round_up(min_i64(t->features, t->direct ? t->features : MAX_FEATURES), columns);
    for (count_parts(t); parts_of(t) < TARGET_PARTS && t->slice > columns; count_parts(t))
        t->slice = round_up(t->slice / 2, columns);
    for (; parts_of(t) < TARGET_PARTS && t->block >= 2 * MIN_ROWS; count_parts(t))
        t->block = round_up(t->block / 2, ROWS);
}

/* ---- the kernel ---- */

/* Bytes between elements of the contracted index; false when there is no single step. */
static bool contracted_step(const struct view *k, int64_t *step)
{
    struct nest n;
    nest_init(&n, 1);
    for (int d = 2; d < k->rank; d++)
        nest_add(&n, k->dims[d], &k->strides[d]);
    nest_add(&n, k->dims[1], &k->strides[1]);
    nest_merge(&n);
    *step = n.rank == 0 ? (int64_t)dtype_bytes(k->dtype) : n.strides[0][0];
    return n.rank <= 1;
}

/* The kernel as a matrix [k, features]. */
static bool copy_kernel(struct thread_pool *workers, struct tiled *t)
{
    const struct view *k = &t->c->kernel;
    struct view from, to;
    int64_t bytes;
    conv_contracted_order(&from, k, false);
    view_dense(&to, k->dtype, from.rank, from.dims, NULL);
    if (!mul_i64(t->k * (int64_t)dtype_bytes(k->dtype), k->dims[0], &bytes))
        return false;
    t->storage[0] = to.data = mem_alloc((size_t)bytes);
    if (!to.data)
        return false;
    kern_convert_view(workers, &to, &from);
    t->matrix = to;
    t->matrix.strides[0] = (int64_t)dtype_bytes(k->dtype);
    t->kernel_element = t->matrix.strides[0] * k->dims[0];
    return true;
}

/* Packs elements [k, k + count) of the panel that starts with a group's feature number `first`. */
static void pack_panel(const struct tiled *t, int64_t group, int64_t first, int64_t k,
                       int64_t count, int worker, void *panel)
{
    const struct gemm *g = &t->g;
    const int64_t feature = t->matrix.strides[0];
    gemm_pack(g, t->matrix.dtype,
              t->matrix.data + (group * t->features + first) * feature + k * t->kernel_element,
              t->kernel_element, feature, count, min_i64(g->columns, t->features - first), panel);
    if (t->look && !conv_run_is_finite(g->sum, panel, gemm_lanes(g, count) * g->panel / g->lane))
        t->workspaces[worker * t->workspace] = true;
}

static void pack_part(void *context, int64_t part, int worker)
{
    const struct tiled *t = context;
    const int64_t panels = ratio_up(t->features, t->g.columns);
    pack_panel(t, part / panels, part % panels * t->g.columns, 0, t->k, worker,
               t->kernel + part * gemm_lanes(&t->g, t->k) * t->g.panel);
}

static bool prepare_panels(struct thread_pool *workers, struct tiled *t)
{
    const int64_t panels = t->groups * ratio_up(t->features, t->g.columns);
    int64_t bytes;
    t->matrix = t->c->kernel;
    if (!contracted_step(&t->matrix, &t->kernel_element) && !copy_kernel(workers, t))
        return false;
    if (t->own_panels)
        return true;
    if (!mul_i64(gemm_lanes(&t->g, t->k) * t->g.panel, panels, &bytes))
        return false;
    t->storage[1] = t->kernel = mem_alloc((size_t)bytes);
    if (!t->kernel)
        return false;
    t->kernel_group = bytes / t->groups;
    thread_pool_run(workers, panels, pack_part, t);
    return true;
}

/* ---- parts ---- */

struct part {
    int64_t group, from, to; /* positions */
    int64_t first, features;
    char *workspace, *out; /* out: of the group's first feature */
    struct patches patches;
};

static void find_part(const struct tiled *t, int64_t number, int worker, struct part *p)
{
    const int64_t slice = number % t->slices, block = number / t->slices % t->blocks;
    p->group = number / t->slices / t->blocks;
    p->from = block * t->block;
    p->to = min_i64(p->from + t->block, t->positions);
    p->first = slice * t->slice;
    p->features = min_i64(t->slice, t->features - p->first);
    p->workspace = t->workspaces + worker * t->workspace;
    p->out = t->c->out.data + p->group * t->features * t->c->out.strides[1];
    p->patches = t->patches;
    p->patches.at += p->group * t->group_step;
}

static char *position_out(const struct tiled *t, const struct part *p, int64_t position)
{
    struct patch_line s;
    patches_line(&t->patches, position, position + 1, &s);
    char *at = p->out + p->first * t->c->out.strides[1] + s.image * t->c->out.strides[0];
    for (int d = 0; d < t->c->spatial; d++)
        at += s.o[d] * t->c->out.strides[d + 2];
    return at;
}

/* Stores sums as results, line by line; sums of adjacent positions and features are `position` and
 * `feature` bytes apart. */
static void store_sums(const struct tiled *t, const struct part *p, char *sums, int64_t position,
                       int64_t feature)
{
    const struct view *out = &t->c->out;
    struct patch_line s;
    for (int64_t at = p->from; at < p->to; at += s.count) {
        patches_line(&t->patches, at, p->to, &s);
        const int64_t step = t->c->spatial ? out->strides[out->rank - 1] : out->strides[0];
        struct view to = {.dtype = out->dtype,
                          .rank = 2,
                          .dims = {s.count, p->features},
                          .strides = {step, out->strides[1]}};
        struct view from = to;
        to.data = position_out(t, p, at);
        from.dtype = t->sum;
        from.strides[0] = position;
        from.strides[1] = feature;
        from.data = sums + (at - p->from) * position;
        kern_convert_view(NULL, &to, &from);
    }
}

static void set_depth(const struct gemm *g, struct gemm_block *b, int64_t k)
{
    b->lanes = g->twofold ? 2 * k : k / g->per_lane;
    b->rest = g->twofold ? 0 : k % g->per_lane;
}

/* Packs patches of positions [p->from, p->to) as rows of lanes. */
static void pack_rows(const struct tiled *t, const struct part *p, int64_t k, int64_t count)
{
    const int64_t width = t->patches.width, raw_row = t->depth * width;
    const enum dtype from = t->c->in.dtype;
    char *rows = p->workspace + t->patch;
    if (from == t->g.lhs) {
        patches_rows(&p->patches, p->from, p->to, k, k + count, rows, t->row);
        return;
    }
    kern_tile_fn *convert = kern_find_convert(t->g.lhs, from);
    patches_rows(&p->patches, p->from, p->to, k, k + count, p->workspace + t->raw, raw_row);
    for (int64_t i = 0; i < p->to - p->from; i++)
        convert(rows + i * t->row, (const void *const[]){p->workspace + t->raw + i * raw_row},
                count);
}

/* Sets the rows of A for gemm_block. */
static void set_starts(const struct tiled *t, const struct part *p, struct gemm_block *b,
                       int64_t count)
{
    int32_t *starts = (void *)(p->workspace + t->starts);
    if (t->g.moved) {
        gemm_excess(&t->g, b->a, b->a_row, b->rows, count, starts);
        b->start = starts;
    }
}

/* The panel of the features from `first` on, packed now or earlier. */
static const void *find_panel(const struct tiled *t, const struct part *p, int64_t first, int64_t k,
                              int64_t count, int worker)
{
    const struct gemm *g = &t->g;
    if (!t->own_panels)
        return t->kernel + p->group * t->kernel_group +
               (first / g->columns * gemm_lanes(g, t->k) + gemm_lanes(g, k)) * g->panel;
    pack_panel(t, p->group, first, k, count, worker, p->workspace + t->panel);
    return p->workspace + t->panel;
}

static void run_rows(void *context, int64_t number, int worker)
{
    const struct tiled *t = context;
    const int64_t size = (int64_t)dtype_bytes(t->sum);
    struct part p;
    find_part(t, number, worker, &p);
    struct gemm_block b = {
        .rows = p.to - p.from, .a_row = t->in_place ? t->step : t->row, .a_lane = t->g.lane};
    char *c = t->direct ? position_out(t, &p, p.from) : p.workspace + t->sums;
    int64_t step;
    is_linear(&t->c->out, &step);
    b.c_row = t->direct ? step : t->slice * size;
    for (int64_t k = 0; k < t->k; k += t->depth) {
        const int64_t count = min_i64(t->depth, t->k - k);
        if (!t->in_place)
            pack_rows(t, &p, k, count);
        b.a = t->in_place ? p.patches.at + p.from * t->step + k * t->patches.width
                          : p.workspace + t->patch;
        b.add = k > 0;
        set_depth(&t->g, &b, count);
        set_starts(t, &p, &b, count);
        for (int64_t f = 0; f < p.features; f += t->g.columns) {
            b.panel = find_panel(t, &p, p.first + f, k, count, worker);
            b.n = min_i64(t->g.columns, p.features - f);
            b.c = c + f * size;
            gemm_block(&t->g, &b);
        }
    }
    if (!t->direct)
        store_sums(t, &p, p.workspace + t->sums, b.c_row, size);
}

/* ---- the convolution ---- */

static bool make_workspaces(struct thread_pool *workers, struct tiled *t)
{
    const int64_t raw = t->depth * t->patches.width * t->block;
    const int64_t sums = t->block * t->slice * (int64_t)dtype_bytes(t->sum);
    const int64_t starts = t->block * (int64_t)sizeof(int32_t);
    t->patch = LINE;
    t->raw = t->patch + (t->in_place ? 0 : t->block * t->row + PATCH_SLACK);
    t->panel = t->raw + round_up(raw, LINE) + PATCH_SLACK;
    t->starts = t->panel + (t->own_panels ? gemm_lanes(&t->g, t->depth) * t->g.panel : 0);
    t->sums = t->starts + round_up(starts, LINE);
    t->workspace = t->sums + (t->direct ? 0 : round_up(sums, LINE));
    t->workspaces = mem_alloc((size_t)(t->workspace * thread_pool_size(workers)));
    for (int k = 0; t->workspaces && k < thread_pool_size(workers); k++)
        t->workspaces[k * t->workspace] = false;
    return t->workspaces != NULL;
}

/* Makes the patches of the group's part of the input. */
static void find_patches(struct tiled *t)
{
    const struct conv *c = t->c;
    struct view in = c->in;
    in.dims[1] = c->kernel.dims[1];
    in.dims[0] /= c->batch_groups;
    t->group_step = c->batch_groups > 1 ? in.dims[0] * in.strides[0] : in.dims[1] * in.strides[1];
    patches_init(&t->patches, c, &in);
}

static void shape_up(struct tiled *t)
{
    const struct conv *c = t->c;
    int64_t step;
    t->groups = c->feature_groups * c->batch_groups;
    t->features = c->kernel.dims[0] / t->groups;
    find_patches(t);
    t->positions = t->patches.image_points * (c->in.dims[0] / c->batch_groups);
    t->k = t->patches.taps * c->kernel.dims[1];
    gemm_choose(&t->g, c->out.dtype, c->in.dtype, c->kernel.dtype, c->work, false);
    t->sum = t->g.twofold ? c->work : t->g.sum;
    t->direct = conv_same_storage(c->out.dtype, t->sum) && is_linear(&c->out, &step) &&
                (c->out.strides[1] == (int64_t)dtype_bytes(c->out.dtype) || t->features == 1);
}

/* An input whose features are not contiguous is transposed first, if it is read several times. */
static bool turn_input(struct thread_pool *workers, struct tiled *t, struct conv *turned)
{
    const struct view *in = &t->c->in;
    if (t->patches.taps == 1 || in->rank == 2 || in->strides[1] == t->patches.width)
        return true;
    *turned = *t->c;
    t->c = turned;
    if (!patches_turn(workers, &turned->in, in->dtype, &t->storage[2]))
        return false;
    find_patches(t);
    return true;
}

static void decide(struct tiled *t)
{
    t->in_place = t->c->in.dtype == t->g.lhs &&
                  patches_lie(&t->patches, t->c->in.dims[0] / t->c->batch_groups, &t->step);
    cut(t);
    t->own_panels = t->blocks == 1;
    t->look = conv_pads(t->c) && (t->g.kind == GEMM_F32 || t->g.kind == GEMM_F64);
}

enum conv_outcome conv_tiled(struct thread_pool *workers, const struct conv *c)
{
    struct tiled t = {.c = c};
    struct conv turned;
    enum conv_outcome outcome = CONV_NO_MEMORY;
    shape_up(&t);
    if (conv_is_small(c))
        workers = NULL;
    bool ok = turn_input(workers, &t, &turned);
    decide(&t);
    if (!t.look && conv_pads(c) && !conv_kernel_is_finite(&c->kernel)) {
        outcome = CONV_BY_FORMULA;
        ok = false;
    }
    if (ok && make_workspaces(workers, &t) && prepare_panels(workers, &t)) {
        if (!conv_found_odd(workers, t.workspaces, t.workspace))
            thread_pool_run(workers, parts_of(&t), run_rows, &t);
        outcome = conv_found_odd(workers, t.workspaces, t.workspace) ? CONV_BY_FORMULA : CONV_DONE;
    }
    mem_free(t.workspaces);
    for (size_t k = 0; k < COUNT_OF(t.storage); k++)
        mem_free(t.storage[k]);
    return outcome;
}
