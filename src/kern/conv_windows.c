/*
 * conv_windows.c: convolutions whose windows have more positions than their results, as gradients
 * of kernels are (spec: ConvWithGeneralPadding).
 *
 * They are products of few rows, one for each position of the result, that have many terms: rows
 * overlap in the input, so none is copied. Terms are divided into boxes of channels and window
 * positions. The part of the input under the windows of a box is padded and converted, and its rows
 * are read there, or in the input itself if it needs neither; the kernel is packed in panels.
 *
 * Order and accumulation: the contracted index is (input feature, kernel position row-major), box
 * by box; sums of some boxes are added to those of the previous ones at the end. Boxes depend on
 * the shapes alone, so the number of threads changes no bit. If the result has few features, input
 * and kernel exchange their roles.
 */
#include <stdlib.h>

#include "kern/conv.h"
#include "kern/nest.h"

enum {
    DEPTH = 512, /* terms of a box */
    LINE = 64,
    REGION_BYTES = 128 << 10, /* of the input, in a task */
    SUMS_BYTES = 256 << 10,   /* in a task */
    PARTIAL_BYTES = 16 << 20, /* sums of all parts of the terms */
    MAX_FEATURES = 512,       /* in a task */
    MAX_REGION = 1 << 16,     /* elements under the windows of a box in one image */
    FEW_FEATURES = 16,        /* less than a vector of a panel */
    MANY_FEATURES = 48,       /* several vectors */
    TARGET_PARTS = 16
};

/* A contracted dimension: the input features, or a dimension of the window. */
struct axis {
    struct conv_axis of;
    int64_t kernel_step, step; /* bytes between positions of the kernel, and where rows are read */
    int64_t box, boxes;        /* terms of a box along it, and their number */
};

struct windows {
    const struct conv *c;
    struct gemm g;
    int rank;
    struct axis axis[VIEW_MAX_RANK];
    int64_t groups, images, features; /* per group */
    int64_t in_group;                 /* bytes of the input between groups */
    int64_t points;                   /* positions of the result in an image */
    int64_t boxes;
    bool in_place;
    int64_t image_step, region; /* bytes between images, and of the region of a box */
    /* of a task: images, features; of the terms: boxes */
    int64_t block, slice, share;
    int64_t blocks, slices, parts;
    int64_t *row_offsets;
    char *sums;                /* [parts][images][points][groups * features] */
    int64_t sums_row, partial; /* bytes */
    char *workspaces;
    int64_t workspace, region_at, panel_at, runs_at;
};

/* ---- boxes ---- */

/* Positions of the input under a box of `terms` terms. */
static int64_t extent(const struct axis *x, int64_t terms)
{
    return conv_extent(&x->of, terms, x->of.outs);
}

static void set_axes(struct windows *w)
{
    const struct conv *c = w->c;
    w->rank = c->spatial + 1;
    w->axis[0].of = (struct conv_axis){.size = c->kernel.dims[1],
                                       .dilation = 1,
                                       .in = c->kernel.dims[1],
                                       .in_step = c->in.strides[1],
                                       .base = 1,
                                       .outs = 1,
                                       .stride = 1};
    for (int d = 0; d < c->spatial; d++)
        w->axis[d + 1].of = conv_axis_of(c, d);
    for (int d = 0; d < w->rank; d++)
        w->axis[d].kernel_step = c->kernel.strides[d + 1];
    int64_t left = DEPTH;
    w->boxes = w->points = 1;
    for (int d = w->rank - 1; d >= 0; d--) {
        struct axis *x = &w->axis[d];
        x->box = even_share(x->of.size, left > 1 ? left : 1, 1);
        x->boxes = ratio_up(x->of.size, x->box);
        left /= x->box;
        w->boxes *= x->boxes;
        w->points *= x->of.outs;
    }
}

/* The elements under the windows of a box in one image, or more than MAX_REGION. */
static int64_t region_elements(const struct windows *w)
{
    int64_t all = 1;
    for (int d = 0; d < w->rank; d++)
        if (!conv_extent_fits(&w->axis[d].of, w->axis[d].box, w->axis[d].of.outs, MAX_REGION, &all))
            return MAX_REGION + 1;
    return all;
}

/* Windows of images in which features lie within positions are packed faster as patches; so are
 * those of types with several elements in a lane, which rows in place cannot have, if that makes
 * up for packing. */
bool conv_windows_applies(const struct conv *c)
{
    struct windows w = {.c = c};
    int64_t taps = 1;
    if (dtype_is_complex(c->work) || c->spatial == 0)
        return false;
    gemm_choose(&w.g, c->out.dtype, c->in.dtype, c->kernel.dtype, c->work, false);
    if (w.g.per_lane > 1 &&
        c->kernel.dims[0] / (c->feature_groups * c->batch_groups) >= MANY_FEATURES)
        return false;
    set_axes(&w);
    for (int d = 1; d < w.rank; d++) {
        taps *= w.axis[d].of.size;
        if (w.axis[0].of.size > 1 && llabs(w.axis[d].of.in_step) > llabs(w.axis[0].of.in_step))
            return false;
    }
    return taps > w.points && region_elements(&w) <= MAX_REGION;
}

/* ---- schedule ---- */

/* A dimension of the region: its positions, the bytes between them in the input, and where to store
 * those in the copy. */
struct copied {
    int64_t count, in_step, *step;
};

/* Chooses where rows are read: in a copy, the dimensions keep their order in memory. */
static void place_rows(struct windows *w)
{
    const struct conv *c = w->c;
    struct copied order[VIEW_MAX_RANK]; /* from the innermost dimension outwards */
    w->in_place = !conv_pads(c) && c->in.dtype == w->g.lhs;
    w->image_step = c->in.strides[0];
    for (int d = 0; d < w->rank; d++)
        w->axis[d].step = w->axis[d].of.in_step;
    if (w->in_place)
        return;
    for (int d = w->rank; d >= 0; d--) {
        struct axis *x = &w->axis[d > 0 ? d - 1 : 0];
        const struct copied here =
            d > 0 ? (struct copied){extent(x, x->box), llabs(x->of.in_step), &x->step}
                  : (struct copied){w->block, llabs(c->in.strides[0]), &w->image_step};
        int at = w->rank - d;
        for (; at > 0 && order[at - 1].in_step > here.in_step; at--)
            order[at] = order[at - 1];
        order[at] = here;
    }
    w->region = (int64_t)dtype_bytes(w->g.lhs);
    for (int k = 0; k <= w->rank; k++) {
        *order[k].step = w->region;
        w->region *= order[k].count;
    }
}

static void cut(struct windows *w)
{
    const int64_t size = (int64_t)dtype_bytes(w->g.sum), region = region_elements(w) * w->g.lane;
    w->slice = round_up(min_i64(w->features, MAX_FEATURES), w->g.columns);
    w->slices = ratio_up(w->features, w->slice);
    const int64_t most = min_i64(REGION_BYTES / region, SUMS_BYTES / (w->points * w->slice * size));
    w->block = even_share(w->images, most > 1 ? most : 1, 1);
    w->blocks = ratio_up(w->images, w->block);
    w->sums_row = w->groups * w->features * size;
    w->partial = w->images * w->points * w->sums_row;
    const int64_t tasks = w->groups * w->blocks * w->slices;
    int64_t parts = min_i64(ratio_up(TARGET_PARTS, tasks), PARTIAL_BYTES / w->partial);
    w->share = ratio_up(w->boxes, parts > 1 ? parts : 1);
    w->parts = ratio_up(w->boxes, w->share);
}

static void set_row_offsets(struct windows *w)
{
    int64_t o[VIEW_MAX_RANK] = {0}, outs[VIEW_MAX_RANK];
    int64_t *at = w->row_offsets;
    for (int d = 0; d < w->rank; d++)
        outs[d] = w->axis[d].of.outs;
    for (int64_t n = 0; n < w->block; n++)
        do {
            *at = n * w->image_step;
            for (int d = 0; d < w->rank; d++)
                *at += o[d] * w->axis[d].of.stride * w->axis[d].step;
            at++;
        } while (index_next(w->rank, outs, o));
}

/* ---- tasks ---- */

struct task {
    int64_t group, from, images, first, features;
    int64_t starts[VIEW_MAX_RANK], terms[VIEW_MAX_RANK]; /* of the box */
    char *workspace;
    const char *rows;
    bool padded;
};

/* Copies the part of the input under the windows of the box, with zeros around and between. */
static void fetch_rows(const struct windows *w, struct task *t)
{
    struct view in = w->c->in;
    const struct conv_axis images = {.in = t->images, .in_step = in.strides[0], .base = 1};
    struct region_dim dims[VIEW_MAX_RANK];
    in.data += t->group * w->in_group + t->from * in.strides[0];
    dims[0] = (struct region_dim){&images, 0, t->images, 1, w->image_step};
    for (int d = 0; d < w->rank; d++) {
        const struct axis *x = &w->axis[d];
        dims[d + 1] = (struct region_dim){&x->of, t->starts[d] * x->of.dilation - x->of.pad,
                                          extent(x, t->terms[d]), 1, x->step};
    }
    char *region = t->workspace + w->region_at;
    t->padded = conv_fetch(&in, w->rank + 1, dims, w->g.lhs, region, w->region);
    t->rows = region;
}

static void find_rows(const struct windows *w, struct task *t)
{
    if (!w->in_place) {
        fetch_rows(w, t);
        return;
    }
    int64_t offset = t->group * w->in_group + t->from * w->image_step;
    for (int d = 0; d < w->rank; d++)
        offset += (t->starts[d] * w->axis[d].of.dilation - w->axis[d].of.pad) * w->axis[d].step;
    t->rows = w->c->in.data + offset;
    t->padded = false;
}

/* Sets the runs of lanes of A that are the terms of the box. */
static void set_runs(const struct windows *w, const struct task *t, struct gemm_block *b)
{
    struct gemm_run *runs = (void *)(t->workspace + w->runs_at);
    int64_t left;
    struct nest n;
    nest_init(&n, 1);
    for (int d = 0; d < w->rank; d++)
        nest_add(&n, t->terms[d], (int64_t[]){w->axis[d].of.dilation * w->axis[d].step});
    const int64_t terms = nest_points(&n);
    nest_merge(&n);
    b->lanes = n.rank ? n.dims[n.rank - 1] : 1;
    b->a_lane = n.rank ? n.strides[0][n.rank - 1] : 0;
    b->runs = runs;
    b->run_count = terms / b->lanes;
    for (int64_t k = 0; k < b->run_count; k++)
        runs[k] = (struct gemm_run){n.rank ? nest_offset(&n, 0, k * b->lanes, &left) : 0,
                                    k * b->lanes * w->g.panel};
}

/* Packs the terms of the box for n features from `first` on; false: of a padded region, if any of
 * them is an infinity or NaN. */
static bool pack_panel(const struct windows *w, const struct task *t, int64_t first, int64_t n)
{
    const struct view *kernel = &w->c->kernel;
    const struct gemm *g = &w->g;
    char *panel = t->workspace + w->panel_at, *to = panel;
    struct nest terms;
    struct nest_walk at;
    int64_t offset = (t->group * w->features + first) * kernel->strides[0];
    nest_init(&terms, 1);
    for (int d = 0; d < w->rank; d++) {
        offset += t->starts[d] * w->axis[d].kernel_step;
        nest_add(&terms, t->terms[d], &w->axis[d].kernel_step);
    }
    nest_merge(&terms);
    if (terms.rank == 0)
        nest_add(&terms, 1, (int64_t[]){(int64_t)dtype_bytes(kernel->dtype)});
    const int64_t run = terms.dims[terms.rank - 1], step = terms.strides[0][terms.rank - 1];
    nest_start(&at, &terms, terms.rank - 1, (char *[]){kernel->data + offset});
    do {
        gemm_pack(g, kernel->dtype, at.at[0], step, kernel->strides[0], run, n, to);
        to += run * g->panel;
    } while (nest_step(&at));
    return !t->padded || (g->kind != GEMM_F32 && g->kind != GEMM_F64) ||
           conv_run_is_finite(g->sum, panel, (to - panel) / g->lane);
}

static void run_box(const struct windows *w, struct task *t, bool add, char *sums)
{
    const struct gemm *g = &w->g;
    struct gemm_block b = {.rows = t->images * w->points,
                           .row_offsets = w->row_offsets,
                           .panel = t->workspace + w->panel_at,
                           .add = add,
                           .c_row = w->sums_row};
    find_rows(w, t);
    set_runs(w, t, &b);
    b.a = t->rows;
    for (int64_t f = 0; f < t->features; f += g->columns) {
        b.n = min_i64(g->columns, t->features - f);
        if (!pack_panel(w, t, t->first + f, b.n))
            *t->workspace = true;
        b.c = sums + f * (int64_t)dtype_bytes(g->sum);
        gemm_block(g, &b);
    }
}

static void find_box(const struct windows *w, int64_t number, struct task *t)
{
    for (int d = w->rank - 1; d >= 0; d--) {
        const struct axis *x = &w->axis[d];
        t->starts[d] = number % x->boxes * x->box;
        t->terms[d] = min_i64(x->box, x->of.size - t->starts[d]);
        number /= x->boxes;
    }
}

static void run_task(void *context, int64_t number, int worker)
{
    const struct windows *w = context;
    const int64_t part = number % w->parts, slice = number / w->parts % w->slices,
                  block = number / w->parts / w->slices % w->blocks;
    struct task t = {.group = number / w->parts / w->slices / w->blocks,
                     .from = block * w->block,
                     .first = slice * w->slice,
                     .workspace = w->workspaces + worker * w->workspace};
    t.images = min_i64(w->block, w->images - t.from);
    t.features = min_i64(w->slice, w->features - t.first);
    char *sums = w->sums + part * w->partial + t.from * w->points * w->sums_row +
                 (t.group * w->features + t.first) * (int64_t)dtype_bytes(w->g.sum);
    const int64_t first = part * w->share, end = min_i64(first + w->share, w->boxes);
    for (int64_t box = first; box < end && !*t.workspace; box++) {
        find_box(w, box, &t);
        run_box(w, &t, box > first, sums);
    }
}

/* ---- the convolution ---- */

enum { ADDED = 1 << 12 /* elements */ };

static void add_parts(void *context, int64_t number, int worker)
{
    const struct windows *w = context;
    const int64_t size = (int64_t)dtype_bytes(w->g.sum), from = number * ADDED,
                  count = min_i64(ADDED, w->partial / size - from);
    kern_tile_fn *add = kern_find_elementwise("add", w->g.sum);
    char *sums = w->sums + from * size;
    (void)worker;
    for (int64_t part = 1; part < w->parts; part++)
        add(sums, (const void *const[]){sums, sums + part * w->partial}, count);
}

static void store_sums(struct thread_pool *workers, const struct windows *w)
{
    const struct view *out = &w->c->out;
    struct view from = *out;
    int64_t step = w->sums_row;
    from.dtype = w->g.sum;
    from.data = w->sums;
    for (int d = out->rank - 1; d >= 2; step *= out->dims[d--])
        from.strides[d] = step;
    from.strides[0] = step;
    from.strides[1] = (int64_t)dtype_bytes(w->g.sum);
    kern_convert_view(workers, out, &from);
}

/* The storage of all tasks; the caller frees w->sums. */
static bool make_storage(struct thread_pool *workers, struct windows *w)
{
    const int64_t rows = round_up(w->block * w->points * (int64_t)sizeof *w->row_offsets, LINE);
    int64_t runs = (int64_t)sizeof(struct gemm_run), terms = 1, sums;
    for (int d = 0; d < w->rank; d++)
        terms *= w->axis[d].box;
    runs *= terms;
    w->region_at = LINE;
    w->panel_at = w->region_at + round_up(w->region, LINE);
    w->runs_at = w->panel_at + terms * w->g.panel;
    w->workspace = w->runs_at + round_up(runs, LINE);
    if (!mul_i64(w->partial, w->parts, &sums))
        return false;
    sums = round_up(sums, LINE);
    w->sums = mem_alloc((size_t)(sums + rows + w->workspace * thread_pool_size(workers)));
    if (!w->sums)
        return false;
    w->row_offsets = (void *)(w->sums + sums);
    w->workspaces = w->sums + sums + rows;
    for (int k = 0; k < thread_pool_size(workers); k++)
        w->workspaces[k * w->workspace] = false;
    return true;
}

static void swap_views(struct view *x, struct view *y)
{
    const struct view z = *x;
    *x = *y;
    *y = z;
}

/* The same sums with the roles of input and kernel exchanged: the window is then the whole input,
 * and positions of the result are in reverse order. */
static void exchange(struct conv *to, const struct conv *c)
{
    struct view *out = &to->out;
    *to = *c;
    swap_views(&to->in, &to->kernel);
    out->dims[0] = c->out.dims[1], out->strides[0] = c->out.strides[1];
    out->dims[1] = c->out.dims[0], out->strides[1] = c->out.strides[0];
    for (int d = 0; d < c->spatial; d++) {
        const int64_t last = out->dims[d + 2] - 1;
        out->data += last * out->strides[d + 2];
        out->strides[d + 2] = -out->strides[d + 2];
        to->window[d].size = to->kernel.dims[d + 2];
        to->window[d].pad_low = last * c->window[d].stride - c->window[d].pad_low;
    }
}

/* Exchanges the roles if the features of the result would leave most of a panel empty, unless that
 * adds holes. */
static bool exchange_pays_off(const struct conv *c, struct conv *exchanged)
{
    if (c->kernel.dims[0] >= FEW_FEATURES || c->in.dims[0] <= c->kernel.dims[0] ||
        c->feature_groups * c->batch_groups > 1)
        return false;
    for (int d = 0; d < c->spatial; d++)
        if (c->window[d].window_dilation > 1 || c->window[d].base_dilation > 1)
            return false;
    exchange(exchanged, c);
    return conv_windows_applies(exchanged);
}

enum conv_outcome conv_windows(struct thread_pool *workers, const struct conv *c)
{
    struct conv exchanged;
    if (exchange_pays_off(c, &exchanged))
        c = &exchanged;
    struct windows w = {.c = c, .groups = c->feature_groups * c->batch_groups};
    w.images = c->in.dims[0] / c->batch_groups;
    w.features = c->kernel.dims[0] / w.groups;
    w.in_group =
        c->batch_groups > 1 ? w.images * c->in.strides[0] : c->kernel.dims[1] * c->in.strides[1];
    set_axes(&w);
    gemm_choose(&w.g, c->out.dtype, c->in.dtype, c->kernel.dtype, c->work, true);
    gemm_narrow(&w.g, w.features);
    cut(&w);
    place_rows(&w);
    if (conv_is_small(c))
        workers = NULL;
    if (!make_storage(workers, &w))
        return CONV_NO_MEMORY;
    set_row_offsets(&w);
    thread_pool_run(workers, w.groups * w.blocks * w.slices * w.parts, run_task, &w);
    const bool odd = conv_found_odd(workers, w.workspaces, w.workspace);
    if (!odd) {
        thread_pool_run(workers, w.parts > 1 ? ratio_up(w.partial / w.g.lane, ADDED) : 0, add_parts,
                        &w);
        store_sums(workers, &w);
    }
    mem_free(w.sums);
    return odd ? CONV_BY_FORMULA : CONV_DONE;
}
