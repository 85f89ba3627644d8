/*
 * conv_planes.c: convolutions as products of the kernel and the input in place (spec:
 * ConvWithGeneralPadding), for lanes of single elements.
 *
 * The kernel is the left matrix. Positions of the result are columns of the right one, and a row of
 * that is a feature of the input, shifted by a position of the window: adjacent columns are
 * adjacent in memory. A task copies the part of the input under its windows once, padded, a plane
 * for each feature and each phase of the strides, unless the input itself has this form. Columns
 * are read in place, and continue from one line of a plane to the next; the sums between the lines
 * of the result are not stored. If the kernel has many rows, positions are packed in panels
 * instead, line by line.
 *
 * Order and accumulation: the contracted index is (kernel position row-major, input feature); tasks
 * depend on the shapes alone, so the number of threads changes no bit.
 */
#include "kern/conv.h"
#include "kern/nest.h"

enum {
    DEPTH = 512, /* terms that are added in registers */
    LINE = 64,
    PAGE = 4096,
    REGION_BYTES = 256 << 10,
    MAX_REGION = 1 << 20, /* elements under one window, in between as well */
    SUMS_BYTES = 256 << 10,
    MIN_COLUMNS = 128, /* minimum number of columns when a region is divided for its size */
    ROWS = 12,         /* row granularity that suits gemm_block */
    MIN_ROWS = 48,     /* minimum number of rows in a task when more tasks are needed */
    MANY_ROWS = 256,   /* number of rows for which packing in each slice is negligible */
    FEW_CHANNELS = 8,
    FEW_FEATURES = 16, /* fewer than a panel of the kernel has columns */
    MIN_POINTS = 16,
    TARGET_PARTS = 16
};

/* The images, or a spatial dimension. */
struct axis {
    struct conv_axis of;
    int64_t out_step;   /* bytes between positions of the result */
    int64_t box, boxes; /* positions of the result in a task, and number of such boxes */
    int64_t phases;     /* of the stride, under any window */
    int64_t pitch;      /* bytes between positions of a phase */
};

struct planes {
    const struct conv *c;
    struct gemm g;
    int rank;
    struct axis axis[VIEW_MAX_RANK];
    int64_t groups, features, channels; /* per group */
    int64_t in_group;                   /* bytes of the input between groups */
    bool in_place, packs, direct;       /* direct: sums are stored as results */
    const char *limit;                  /* end of the input */
    int64_t plane, phase, region;       /* bytes of the copy: of a plane, a phase, all */
    int64_t columns, points;            /* of a box; points: positions among them */
    int64_t sum_steps[VIEW_MAX_RANK];
    int64_t slice, slices, boxes; /* features of a task */
    /* runs: kernel positions, or lines of them; their lanes: features, or positions of a line */
    struct gemm_run *runs;
    int64_t run_count, lanes, line_step; /* line_step: bytes between lanes; 0: planes */
    int64_t run_share, lane_share;       /* in a block of terms */
    char *kernel;                        /* rows [features][kernel positions][channels] */
    int64_t kernel_row, sums_row;        /* bytes */
    char *workspaces;
    int64_t workspace, panel_at, sums_at;
};

static int64_t reach(const struct axis *x) { return conv_extent(&x->of, x->of.size, 1) - 1; }

/* Positions of one phase under the windows of n positions. */
static int64_t extent(const struct axis *x, int64_t n) { return n + reach(x) / x->of.stride; }

/* In place, each task has one image. */
static void set_axes(struct planes *p, int64_t images)
{
    const struct conv *c = p->c;
    p->rank = c->spatial + 1;
    p->axis[0] = (struct axis){.of = {.size = 1,
                                      .dilation = 1,
                                      .in = images,
                                      .in_step = c->in.strides[0],
                                      .base = 1,
                                      .outs = images,
                                      .stride = 1},
                               .box = p->packs ? images : 1};
    for (int d = 0; d < c->spatial; d++) {
        p->axis[d + 1] = (struct axis){.of = conv_axis_of(c, d), .box = c->out.dims[d + 2]};
        if (c->out.dims[d + 2] == 1) /* a single window has no phases */
            p->axis[d + 1].of.stride = 1;
    }
    for (int d = 0; d < p->rank; d++) {
        p->axis[d].phases = min_i64(p->axis[d].of.stride, reach(&p->axis[d]) + 1);
        p->axis[d].out_step = c->out.strides[d > 0 ? d + 1 : 0];
    }
}

/* Sets the numbers of sums between adjacent positions, for boxes of `counts` positions, and returns
 * that of all columns. */
static int64_t set_sum_steps(const struct planes *p, const int64_t *counts, int64_t *steps)
{
    int64_t columns = 1, next = 1;
    for (int d = p->rank - 1; d >= 0; next *= counts[d--]) {
        steps[d] = p->packs ? next : p->axis[d].pitch / p->g.lane;
        columns += (counts[d] - 1) * steps[d];
    }
    return columns;
}

/* Computes what follows from the boxes and pitches. */
static void measure_box(struct planes *p)
{
    int64_t counts[VIEW_MAX_RANK];
    p->points = p->boxes = 1;
    for (int d = 0; d < p->rank; d++) {
        struct axis *x = &p->axis[d];
        counts[d] = x->box;
        x->boxes = ratio_up(x->of.outs, x->box);
        p->boxes *= x->boxes;
        p->points *= x->box;
    }
    p->columns = set_sum_steps(p, counts, p->sum_steps);
}

/* Padding after a line that is also the padding before the next one. */
static int64_t shared_padding(const struct axis *x)
{
    const int64_t high = reach(x) + x->of.outs - x->of.pad - x->of.in;
    const int64_t shared = min_i64(x->of.pad, high);
    return x->box == x->of.outs && x->of.stride == 1 && x->of.base == 1 && shared > 0 ? shared : 0;
}

/* The layout of the copy; in place, its lines are as far apart as those of the input. */
static void place_planes(struct planes *p)
{
    int64_t next = p->g.lane, phases = 1, end = p->g.lane;
    for (int d = p->rank - 1; d >= 0; d--) {
        struct axis *x = &p->axis[d];
        x->pitch = p->in_place ? x->of.in_step : next;
        next *= extent(x, x->box) - shared_padding(x);
        end += (extent(x, x->box) - 1) * x->pitch;
        phases *= x->phases;
    }
    p->plane = (ratio_up(end, LINE) | 1) * LINE; /* an odd number of lines */
    p->phase = p->plane * p->channels;
    p->region = p->phase * phases;
    measure_box(p);
}

/* Whether too many of the columns are between lines. */
static bool is_sparse(const struct planes *p) { return p->columns > p->points / 4 * 5; }

/* Whether the input has the form of the copy. Planes a multiple of a page apart would evict each
 * other from the cache. */
static bool lies_in_place(const struct planes *p)
{
    const struct view *in = &p->c->in;
    int64_t next = p->g.lane;
    if (conv_pads(p->c) || in->dtype != p->g.rhs || in->strides[1] < p->g.lane ||
        (in->strides[1] % PAGE == 0 && p->channels > FEW_CHANNELS))
        return false;
    for (int d = p->rank - 1; d > 0; d--) {
        const struct axis *x = &p->axis[d];
        if (x->of.in_step != next || x->of.stride > 1)
            return false;
        next *= x->of.in;
    }
    return true;
}

/* The outermost dimension whose boxes can be divided, or NULL. */
static struct axis *divisible_axis(struct planes *p)
{
    for (int d = 0; d < p->rank; d++)
        if (p->axis[d].box > 1)
            return &p->axis[d];
    return NULL;
}

static int64_t parts_of(const struct planes *p) { return p->groups * p->boxes * p->slices; }

static bool halve_box(struct planes *p)
{
    struct axis *x = divisible_axis(p);
    if (!x)
        return false;
    x->box = ratio_up(x->box, 2);
    place_planes(p);
    return true;
}

static bool halve_slice(struct planes *p)
{
    if (p->slice < 2 * MIN_ROWS)
        return false;
    p->slice = round_up(p->slice / 2, ROWS);
    p->slices = ratio_up(p->features, p->slice);
    return true;
}

/* Divides positions, or features first if the kernel is larger than the input. */
static void cut(struct planes *p)
{
    const int64_t size = (int64_t)dtype_bytes(p->g.sum);
    const bool features_first = view_elements(&p->c->kernel) > view_elements(&p->c->in);
    p->slice = p->features;
    p->slices = 1;
    place_planes(p);
    while (p->columns >= 2 * MIN_COLUMNS &&
           (p->region > REGION_BYTES || p->columns * p->features * size > SUMS_BYTES) &&
           halve_box(p))
        ;
    while (parts_of(p) < TARGET_PARTS)
        if (!(features_first && p->slice >= MANY_ROWS && halve_slice(p)) &&
            !(p->columns >= 2 * p->g.columns && halve_box(p)) && !halve_slice(p))
            break;
}

static bool stores_directly(const struct planes *p)
{
    const struct view *out = &p->c->out;
    const int64_t size = (int64_t)dtype_bytes(p->g.sum);
    if (p->columns != p->points || !conv_same_storage(out->dtype, p->g.sum))
        return false;
    for (int d = 0; d < p->rank; d++)
        if (p->axis[d].box > 1 && p->axis[d].out_step != p->sum_steps[d] * size)
            return false;
    return true;
}

static void set_shape(struct planes *p)
{
    const struct conv *c = p->c;
    p->groups = c->feature_groups * c->batch_groups;
    const int64_t images = c->in.dims[0] / c->batch_groups;
    p->features = c->kernel.dims[0] / p->groups;
    p->channels = c->kernel.dims[1];
    p->in_group = c->batch_groups > 1 ? images * c->in.strides[0] : p->channels * c->in.strides[1];
    gemm_choose(&p->g, c->out.dtype, c->kernel.dtype, c->in.dtype, c->work, false);
    p->packs = p->features >= MIN_ROWS;
    set_axes(p, images);
    p->in_place = lies_in_place(p);
    place_planes(p);
    if (p->in_place && is_sparse(p)) {
        p->in_place = false;
        place_planes(p);
    }
}

/* Whether the elements under one window may be copied. */
static bool is_moderate(const struct conv *c)
{
    int64_t elements = c->kernel.dims[1];
    for (int d = 0; d < c->spatial; d++) {
        const struct conv_axis x = conv_axis_of(c, d);
        if (!conv_extent_fits(&x, x.size, 1, MAX_REGION, &elements))
            return false;
    }
    return elements <= MAX_REGION;
}

/* Results whose features are contiguous are computed as patches by panels of the kernel, unless
 * they have too few features for a panel; so are those of types with several elements in a lane,
 * of few positions, and of windows
 * that reach too far. */
bool conv_planes_applies(const struct conv *c)
{
    struct planes p = {.c = c};
    if (dtype_is_complex(c->work) || c->spatial == 0 || !is_moderate(c))
        return false;
    set_shape(&p);
    if (p.g.per_lane > 1)
        return false;
    if (c->out.strides[1] == (int64_t)dtype_bytes(c->out.dtype) &&
        (p.features >= FEW_FEATURES ||
         (p.channels >= FEW_FEATURES && c->in.strides[1] == (int64_t)dtype_bytes(c->in.dtype))))
        return false;
    return p.packs || (p.points >= MIN_POINTS && !is_sparse(&p));
}

/* ---- terms ---- */

/* The offset of a kernel position from the planes of the first one. */
static int64_t tap_offset(const struct planes *p, const int64_t *k)
{
    int64_t offset = 0, phase = 0;
    for (int d = 0; d < p->rank; d++) {
        const struct axis *x = &p->axis[d];
        const int64_t at = k[d] * x->of.dilation;
        offset += at / x->of.stride * x->pitch;
        phase = phase * x->phases + at % x->of.stride;
    }
    return offset + phase * p->phase;
}

static void set_runs(struct planes *p)
{
    int64_t k[VIEW_MAX_RANK] = {0}, sizes[VIEW_MAX_RANK];
    for (int d = 0; d < p->rank; d++)
        sizes[d] = p->axis[d].of.size;
    if (p->line_step)
        sizes[p->rank - 1] = 1;
    for (int64_t r = 0; r < p->run_count; r++) {
        p->runs[r] = (struct gemm_run){r * p->lanes * p->g.lane, tap_offset(p, k)};
        index_next(p->rank, sizes, k);
    }
}

/* With a single feature, the lanes are the positions of a line of the window. */
static void divide_terms(struct planes *p)
{
    const struct axis *last = &p->axis[p->rank - 1];
    p->lanes = p->channels;
    p->run_count = 1;
    for (int d = 0; d < p->rank; d++)
        p->run_count *= p->axis[d].of.size;
    if (p->channels == 1 && last->of.stride == 1) {
        p->lanes = last->of.size;
        p->line_step = last->of.dilation * last->pitch;
        p->run_count /= last->of.size;
    }
    p->lane_share = even_share(p->lanes, DEPTH, 1);
    p->run_share = p->lane_share < p->lanes ? 1 : even_share(p->run_count, DEPTH / p->lanes, 1);
}

/* ---- tasks ---- */

struct task {
    int64_t group, first, features;
    int64_t starts[VIEW_MAX_RANK], counts[VIEW_MAX_RANK]; /* of the box */
    int64_t sum_steps[VIEW_MAX_RANK];
    int64_t columns;
    const char *planes;
    int64_t plane; /* bytes between planes */
    char *workspace;
};

static void find_task(const struct planes *p, int64_t number, int worker, struct task *t)
{
    t->workspace = p->workspaces + worker * p->workspace;
    t->first = number % p->slices * p->slice;
    t->features = min_i64(p->slice, p->features - t->first);
    number /= p->slices;
    for (int d = p->rank - 1; d >= 0; d--) {
        const struct axis *x = &p->axis[d];
        t->starts[d] = number % x->boxes * x->box;
        t->counts[d] = min_i64(x->box, x->of.outs - t->starts[d]);
        number /= x->boxes;
    }
    t->columns = set_sum_steps(p, t->counts, t->sum_steps);
    t->group = number;
}

/* Copies the planes of one combination of phases. */
static void fetch_phase(const struct planes *p, const struct task *t, const struct view *in,
                        const int64_t *phase, char *to)
{
    const struct conv_axis channels = {.in = p->channels, .in_step = in->strides[1], .base = 1};
    struct region_dim dims[VIEW_MAX_RANK];
    dims[0] = (struct region_dim){&channels, 0, p->channels, 1, p->plane};
    for (int d = 0; d < p->rank; d++) {
        const struct axis *x = &p->axis[d];
        dims[d + 1] =
            (struct region_dim){&x->of, t->starts[d] * x->of.stride + phase[d] - x->of.pad,
                                extent(x, t->counts[d]), x->of.stride, x->pitch};
    }
    conv_fetch(in, p->rank + 1, dims, p->g.rhs, to, p->phase);
}

/* Finds the planes in place, unless vectors of the last columns would be read beyond the input. */
static void find_planes(const struct planes *p, struct task *t)
{
    struct view in = p->c->in;
    int64_t phase[VIEW_MAX_RANK] = {0}, phases[VIEW_MAX_RANK];
    in.data += t->group * p->in_group;
    if (p->in_place) {
        int64_t offset = 0, last = (p->channels - 1) * in.strides[1] + p->g.lane + p->g.panel;
        for (int d = 0; d < p->rank; d++) {
            offset += (t->starts[d] - p->axis[d].of.pad) * p->axis[d].pitch;
            last += (extent(&p->axis[d], t->counts[d]) - 1) * p->axis[d].pitch;
        }
        t->planes = in.data + offset;
        t->plane = in.strides[1];
        if (p->limit - t->planes >= last)
            return;
    }
    char *to = t->workspace;
    t->planes = to;
    t->plane = p->plane;
    for (int d = 0; d < p->rank; d++)
        phases[d] = p->axis[d].phases;
    do {
        fetch_phase(p, t, &in, phase, to);
        to += p->phase;
    } while (index_next(p->rank, phases, phase));
}

static char *box_out(const struct planes *p, const struct task *t)
{
    const struct view *out = &p->c->out;
    char *at = out->data + (t->group * p->features + t->first) * out->strides[1];
    for (int d = 0; d < p->rank; d++)
        at += t->starts[d] * p->axis[d].out_step;
    return at;
}

static void store_sums(const struct planes *p, const struct task *t, char *sums)
{
    const struct view *out = &p->c->out;
    struct view from = {.dtype = p->g.sum, .rank = p->rank + 1, .data = sums}, to = from;
    const int64_t size = (int64_t)dtype_bytes(p->g.sum);
    to.dtype = out->dtype;
    to.data = box_out(p, t);
    from.dims[0] = to.dims[0] = t->features;
    from.strides[0] = p->sums_row;
    to.strides[0] = out->strides[1];
    for (int d = 0; d < p->rank; d++) {
        from.dims[d + 1] = to.dims[d + 1] = t->counts[d];
        from.strides[d + 1] = t->sum_steps[d] * size;
        to.strides[d + 1] = p->axis[d].out_step;
    }
    kern_convert_view(NULL, &to, &from);
}

/* Packs positions from number `from` on in a panel, line by line. */
static void pack_panel(const struct planes *p, const struct task *t, int64_t from,
                       struct gemm_block *b, char *panel)
{
    const int last = p->rank - 1;
    int64_t o[VIEW_MAX_RANK], count;
    for (int64_t at = 0; at < b->n; at += count) {
        const char *line = b->panel;
        char *to = panel + at * p->g.lane;
        index_at(p->rank, t->counts, from + at, o);
        count = min_i64(t->counts[last] - o[last], b->n - at);
        for (int d = 0; d < p->rank; d++)
            line += o[d] * p->axis[d].pitch;
        for (int64_t run = 0; run < b->run_count; run++, to += b->lanes * p->g.panel)
            copy_runs(to, p->g.panel, line + b->runs[run].b, b->panel_row, b->lanes,
                      count * p->g.lane);
    }
    b->a += b->runs[0].a;
    b->lanes *= b->run_count;
    b->runs = NULL;
    b->panel = panel;
    b->panel_row = p->g.panel;
}

/* Adds the products of a block of terms. */
static void add_terms(const struct planes *p, const struct task *t, const struct gemm_block *terms,
                      char *c)
{
    const int64_t size = (int64_t)dtype_bytes(p->g.sum);
    for (int64_t at = 0; at < t->columns; at += p->g.columns) {
        struct gemm_block b = *terms;
        b.n = min_i64(p->g.columns, t->columns - at);
        b.c = c + at * size;
        if (p->packs)
            pack_panel(p, t, at, &b, t->workspace + p->panel_at);
        else
            b.panel = (const char *)b.panel + at * p->g.lane;
        gemm_block(&p->g, &b);
    }
}

static void run_task(void *context, int64_t number, int worker)
{
    const struct planes *p = context;
    struct task t;
    find_task(p, number, worker, &t);
    find_planes(p, &t);
    char *sums = p->direct ? box_out(p, &t) : t.workspace + p->sums_at;
    const char *kernel = p->kernel + (t.group * p->features + t.first) * p->kernel_row;
    struct gemm_block b = {.a_row = p->kernel_row,
                           .a_lane = p->g.lane,
                           .panel_row = p->line_step ? p->line_step : t.plane,
                           .rows = t.features,
                           .c_row = p->direct ? p->c->out.strides[1] : p->sums_row};
    for (int64_t run = 0; run < p->run_count; run += p->run_share)
        for (int64_t lane = 0; lane < p->lanes; lane += p->lane_share, b.add = true) {
            b.runs = p->runs + run;
            b.run_count = min_i64(p->run_share, p->run_count - run);
            b.lanes = min_i64(p->lane_share, p->lanes - lane);
            b.a = kernel + lane * p->g.lane;
            b.panel = t.planes + lane * b.panel_row;
            add_terms(p, &t, &b, sums);
        }
    if (!p->direct)
        store_sums(p, &t, sums);
}

/* ---- the convolution ---- */

/* Copies the kernel in the order of the contracted index, each row with an odd number of cache
 * lines. */
static void copy_kernel(struct thread_pool *workers, const struct planes *p)
{
    struct view from, to;
    conv_contracted_order(&from, &p->c->kernel, true);
    view_dense(&to, p->g.lhs, from.rank, from.dims, p->kernel);
    to.strides[0] = p->kernel_row;
    kern_convert_view(workers, &to, &from);
}

/* The storage for all tasks; the caller frees p->kernel. */
static bool make_storage(struct thread_pool *workers, struct planes *p)
{
    const int64_t runs = round_up(p->run_count * (int64_t)sizeof *p->runs, LINE);
    int64_t kernel;
    p->kernel_row = (ratio_up(p->run_count * p->lanes * p->g.lane, LINE) | 1) * LINE;
    p->sums_row = round_up(p->columns * (int64_t)dtype_bytes(p->g.sum), LINE);
    p->panel_at = round_up(p->region + p->g.panel, LINE);
    p->sums_at = p->panel_at + (p->packs ? p->lane_share * p->run_share * p->g.panel : 0);
    p->workspace = p->sums_at + (p->direct ? 0 : p->slice * p->sums_row);
    if (!mul_i64(p->kernel_row, p->c->kernel.dims[0], &kernel))
        return false;
    p->kernel = mem_alloc((size_t)(kernel + runs + p->workspace * thread_pool_size(workers)));
    if (!p->kernel)
        return false;
    p->runs = (void *)(p->kernel + kernel);
    p->workspaces = p->kernel + kernel + runs;
    return true;
}

enum conv_outcome conv_planes(struct thread_pool *workers, const struct conv *c)
{
    struct planes p = {.c = c, .limit = c->in.data + kern_view_extent(&c->in)};
    if (conv_pads(c) && !conv_kernel_is_finite(&c->kernel))
        return CONV_BY_FORMULA;
    if (conv_is_small(c))
        workers = NULL;
    set_shape(&p);
    cut(&p);
    gemm_narrow(&p.g, p.columns);
    p.direct = stores_directly(&p);
    divide_terms(&p);
    if (!make_storage(workers, &p))
        return CONV_NO_MEMORY;
    set_runs(&p);
    copy_kernel(workers, &p);
    thread_pool_run(workers, parts_of(&p), run_task, &p);
    mem_free(p.kernel);
    return CONV_DONE;
}
