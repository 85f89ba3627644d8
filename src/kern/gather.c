/*
 * gather.c: reads windows of an array at indices from another array (gather), or combines windows
 * into it (scatter). One planned copy serves all windows, which are distributed among threads.
 *
 * Order of scatter: index tuples row-major over the update array, window by window, each window
 * row-major; so of two plain updates of one element the later one is kept.
 */
#include "kern/nest.h"

int64_t kern_load_index(enum dtype t, const void *p)
{
    uint64_t u;
    switch (t) {
    case DT_PRED:
    case DT_U1:
    case DT_U2:
    case DT_U4:
    case DT_U8: return *(const uint8_t *)p;
    case DT_U16: return *(const uint16_t *)p;
    case DT_U32: return *(const uint32_t *)p;
    case DT_U64: u = *(const uint64_t *)p; return u > INT64_MAX ? INT64_MAX : (int64_t)u;
    case DT_S16: return *(const int16_t *)p;
    case DT_S32: return *(const int32_t *)p;
    case DT_S64: return *(const int64_t *)p;
    default: return *(const int8_t *)p;
    }
}

/* Common to gather and scatter: an index tuple for each position of the batch dimensions, and a
 * window of the array for each tuple. `whole` is the gather's result or the scatter's updates. */
struct windows {
    struct nest batch; /* views: whole, indices, array */
    enum dtype index_type;
    int map_count;
    int64_t component_stride;      /* bytes between components of a tuple */
    int64_t stride[VIEW_MAX_RANK]; /* of the array, for component k */
    /* greatest start of component k for which the window is inside */
    int64_t limit[VIEW_MAX_RANK];
    bool fits; /* windows are not empty and not larger than the array */
    struct view whole_window, array_window; /* views of one window, without their data address */
    bool fixed[VIEW_MAX_RANK]; /* by dimension of the array: all windows have the same start */
};

/* Makes the views of one window on both sides; window[d] is its size along dimension d of the
 * array. */
static void window_views(struct windows *w, const struct view *whole, const struct view *array,
                         const struct kern_gather_dims *dims, const int64_t *window)
{
    int64_t kept[VIEW_MAX_RANK];
    int count = 0;
    for (int d = 0; d < array->rank; d++)
        if (!i64_in(dims->collapsed, dims->collapsed_count, d) &&
            !i64_in(dims->operand_batching, dims->batching_count, d))
            kept[count++] = d;
    view_pick(&w->whole_window, whole, count, dims->offset_dims);
    view_pick(&w->array_window, array, count, kept);
    for (int k = 0; k < count; k++) {
        w->array_window.dims[k] = window[kept[k]];
        w->fixed[k] = !i64_in(dims->start_index_map, dims->map_count, kept[k]);
    }
}

/* Makes the nest of batch positions, which steps through the indices (all dimensions but
 * index_vector_dim), through the dimensions of `whole` that are not offsets, and through the
 * array's batching dimensions. */
static void batch_nest(struct windows *w, const struct view *whole, const struct view *array,
                       const struct view *indices, const struct kern_gather_dims *dims)
{
    nest_init(&w->batch, 3);
    int id = 0;
    for (int d = 0; d < whole->rank; d++) {
        if (i64_in(dims->offset_dims, dims->offset_count, d))
            continue;
        if (id == dims->index_vector_dim)
            id++;
        int64_t array_stride = 0;
        for (int k = 0; k < dims->batching_count; k++)
            if (dims->indices_batching[k] == id)
                array_stride = array->strides[dims->operand_batching[k]];
        nest_add(&w->batch, whole->dims[d],
                 (int64_t[]){whole->strides[d], indices->strides[id], array_stride});
        id++;
    }
}

static void windows_init(struct windows *w, const struct view *whole, const struct view *array,
                         const struct view *indices, const struct kern_gather_dims *dims,
                         const int64_t *window)
{
    window_views(w, whole, array, dims, window);
    batch_nest(w, whole, array, indices, dims);
    w->index_type = indices->dtype;
    w->map_count = dims->map_count;
    w->component_stride =
        dims->index_vector_dim < indices->rank ? indices->strides[dims->index_vector_dim] : 0;
    w->fits = true;
    for (int d = 0; d < array->rank; d++)
        w->fits &= window[d] > 0 && window[d] <= array->dims[d];
    for (int k = 0; k < dims->map_count; k++) {
        int64_t d = dims->start_index_map[k];
        w->stride[k] = array->strides[d];
        w->limit[k] = array->dims[d] - window[d];
    }
}

/* The byte offset of a window whose start is clamped, so that the window is inside the array. */
static int64_t clamped_offset(const struct windows *w, const char *tuple)
{
    int64_t offset = 0;
    for (int k = 0; k < w->map_count; k++) {
        int64_t start = kern_load_index(w->index_type, tuple + k * w->component_stride);
        start = start < 0 ? 0 : start > w->limit[k] ? w->limit[k] : start;
        offset += start * w->stride[k];
    }
    return offset;
}

/* The byte offset of a window; false when any of it is outside the array. */
static bool exact_offset(const struct windows *w, const char *tuple, int64_t *offset)
{
    *offset = 0;
    for (int k = 0; k < w->map_count; k++) {
        int64_t start = kern_load_index(w->index_type, tuple + k * w->component_stride);
        if (start < 0 || start > w->limit[k])
            return false;
        *offset += start * w->stride[k];
    }
    return true;
}

/* The processor cannot predict the next windows, but the indices are known: the start of each
 * window is prefetched some windows ahead, within a run of the batch. */
enum { WINDOWS_AHEAD = 4, BYTES_AHEAD = 512, LINE = 64 };

static void fetch(const char *at, int64_t bytes)
{
    for (int64_t k = 0; k < bytes; k += LINE)
        __builtin_prefetch(at + k);
}

/* Number of bytes of a window to prefetch: 0 if it is not contiguous. */
static int64_t bytes_ahead(const struct view *window)
{
    if (!view_is_dense(window))
        return 0;
    int64_t bytes = view_elements(window) * (int64_t)dtype_bytes(window->dtype);
    return bytes < BYTES_AHEAD ? bytes : BYTES_AHEAD;
}

/* Windows [from, limit) of a batch, in runs along its innermost dimension, within which later
 * windows can be prefetched. */
struct batch_run {
    struct nest_walk walk; /* over the outer dimensions */
    char *at[3];           /* the address of the run's first window in each view */
    int64_t n, left;       /* numbers of windows in this run, and after it */
    int64_t length, step[3];
};

static bool run_begin(struct batch_run *r, int64_t skipped)
{
    r->n = r->length - skipped < r->left ? r->length - skipped : r->left;
    r->left -= r->n;
    for (int k = 0; k < 3; k++)
        r->at[k] = r->walk.at[k] + skipped * r->step[k];
    return r->n > 0;
}

static bool run_start(struct batch_run *r, const struct nest *batch, char *const *at, int64_t from,
                      int64_t limit)
{
    int d = batch->rank - 1;
    r->length = d < 0 ? 1 : batch->dims[d];
    r->left = limit - from;
    for (int k = 0; k < 3; k++)
        r->step[k] = d < 0 ? 0 : batch->strides[k][d];
    nest_start_from(&r->walk, batch, d < 0 ? 0 : d, at, from / r->length);
    return run_begin(r, from % r->length);
}

static bool run_next(struct batch_run *r)
{
    nest_step(&r->walk);
    return run_begin(r, 0);
}

/* A gather, split into parts of its windows. */
struct gather {
    const struct windows *w;
    struct copy_plan plan; /* of one window */
    char *at[3];           /* result, indices, operand */
    int64_t windows, piece;
    int64_t ahead;
    size_t width; /* of an element when windows have one element, else 0 */
};

/* Windows of one element need no planned copy. */
#define TAKE_ELEMENTS(W)                                                                           \
    static void take_##W(const struct windows *w, const struct batch_run *r)                       \
    {                                                                                              \
        char *out = r->at[0], *tuple = r->at[1], *operand = r->at[2];                              \
        for (int64_t i = 0; i < r->n;                                                              \
             i++, out += r->step[0], tuple += r->step[1], operand += r->step[2])                   \
            *(W *)(void *)out = *(const W *)(const void *)(operand + clamped_offset(w, tuple));    \
    }
TAKE_ELEMENTS(kern_w1)
TAKE_ELEMENTS(kern_w2)
TAKE_ELEMENTS(kern_w4)
TAKE_ELEMENTS(kern_w8)

static void take_windows(const struct gather *g, const struct batch_run *r)
{
    const struct windows *w = g->w;
    char *out = r->at[0], *tuple = r->at[1], *operand = r->at[2];
    for (int64_t i = 0; i < r->n;
         i++, out += r->step[0], tuple += r->step[1], operand += r->step[2]) {
        if (g->ahead > 0 && r->n - i > WINDOWS_AHEAD)
            fetch(operand + WINDOWS_AHEAD * r->step[2] +
                      clamped_offset(w, tuple + WINDOWS_AHEAD * r->step[1]),
                  g->ahead);
        copy_plan_run(&g->plan, out, operand + clamped_offset(w, tuple));
    }
}

static void gather_part(void *context, int64_t part, int worker)
{
    const struct gather *g = context;
    struct batch_run r;
    int64_t from = part * g->piece,
            limit = g->windows - from < g->piece ? g->windows : from + g->piece;
    bool more = run_start(&r, &g->w->batch, g->at, from, limit);
    for (; more; more = run_next(&r))
        switch (g->width) {
        case 1: take_kern_w1(g->w, &r); break;
        case 2: take_kern_w2(g->w, &r); break;
        case 4: take_kern_w4(g->w, &r); break;
        case 8: take_kern_w8(g->w, &r); break;
        default: take_windows(g, &r); break;
        }
    copy_plan_end(&g->plan);
}

/* A gather of few windows, each large enough to be split among threads. */
static void gather_large(struct thread_pool *workers, struct gather *g)
{
    struct batch_run r;
    struct view window = g->w->whole_window;
    for (bool more = run_start(&r, &g->w->batch, g->at, 0, g->windows); more; more = run_next(&r))
        for (int64_t i = 0; i < r.n; i++) {
            window.data = r.at[0] + i * r.step[0];
            copy_plan_share(workers, &g->plan, &window,
                            r.at[2] + i * r.step[2] +
                                clamped_offset(g->w, r.at[1] + i * r.step[1]));
        }
}

/* spec: Gather */
void kern_gather(struct thread_pool *workers, const struct view *out, const struct view *operand,
                 const struct view *indices, const struct kern_gather_dims *dims)
{
    enum { PART = 128 << 10, FEW = 8 }; /* bytes in a task, index tuples included; windows */
    /* bytes that fit the second-level cache: prefetching gains nothing */
    enum { NEAR = 256 << 10 };
    struct windows w;
    struct gather g = {.w = &w, .at = {out->data, indices->data, operand->data}};
    size_t width = dtype_bytes(out->dtype);
    if (view_elements(out) == 0)
        return;
    windows_init(&w, out, operand, indices, dims, dims->slice_sizes);
    if (!w.fits) {
        kern_fill(workers, out, (const union kern_element[]){{{0}}});
        return;
    }
    nest_merge(&w.batch);
    int64_t elements = view_elements(&w.array_window), bytes = elements * (int64_t)width;
    g.width = elements == 1 && width <= 8 ? width : 0;
    g.windows = nest_points(&w.batch);
    g.ahead = view_elements(operand) * (int64_t)width > NEAR ? bytes_ahead(&w.array_window) : 0;
    g.piece = PART / (bytes + 8) + 1;
    if (g.width == 0) {
        copy_plan_init(&g.plan, &w.whole_window, &w.array_window);
        copy_plan_stream(&g.plan, out);
    }
    if (g.windows < FEW && g.width == 0)
        gather_large(workers, &g);
    else
        thread_pool_run(workers, ratio_up(g.windows, g.piece), gather_part, &g);
}

/* ---- scatter ---- */

/* window[d]: size along dimension d of the array, from the update's window dimensions. */
static void update_window(const struct view *array, const struct view *updates,
                          const struct kern_gather_dims *dims, int64_t *window)
{
    int k = 0;
    for (int d = 0; d < array->rank; d++) {
        bool single = i64_in(dims->collapsed, dims->collapsed_count, d) ||
                      i64_in(dims->operand_batching, dims->batching_count, d);
        window[d] = single ? 1 : updates->dims[dims->offset_dims[k++]];
    }
}

/* One window of a recognized combiner. */
struct combine_window {
    kern_tile_fn *fn; /* NULL: store the update */
    struct copy_plan plan;
    int64_t packed; /* elements when both sides are dense runs, else 0 */
    struct view out, update;
};

static void combine_window_init(struct combine_window *c, const struct view *out,
                                const struct view *update, kern_tile_fn *fn)
{
    struct nest n;
    int64_t width = (int64_t)dtype_bytes(out->dtype);
    c->fn = fn;
    c->out = *out;
    c->update = *update;
    copy_plan_init(&c->plan, &c->out, &c->update);
    nest_init(&n, 2);
    for (int d = 0; d < c->out.rank; d++)
        nest_add(&n, c->out.dims[d], (int64_t[]){c->out.strides[d], c->update.strides[d]});
    nest_merge(&n);
    c->packed = n.rank == 0 ? 1 : 0;
    if (n.rank == 1 && n.strides[0][0] == width && n.strides[1][0] == width)
        c->packed = n.dims[0];
}

static void combine_window(struct combine_window *c, char *out, char *update)
{
    if (!c->fn) {
        copy_plan_run(&c->plan, out, update);
    } else if (c->packed) {
        c->fn(out, (const void *const[]){out, update}, c->packed);
    } else {
        c->out.data = out;
        c->update.data = update;
        kern_map_tiles(NULL, c->fn, &c->out, 2, (const struct view[]){c->out, c->update});
    }
}

/* A scatter by a recognized body, split into parts. Each part reads all index tuples. It processes
 * either a slice of each window along dimension `cut`, or those windows, in their order, whose
 * index along a dimension where windows have one element is in the part. */
struct scatter {
    const struct windows *w;
    kern_tile_fn *fn;
    char *at[3];    /* updates, indices, result */
    int cut;        /* dimension of the windows; -1: parts are by index */
    int component;  /* the index tuples' component for that dimension */
    int64_t places; /* number of indices, or of elements along `cut` */
    int64_t parts;
};

enum { FOUND = 256 };

/* The addresses of a part's windows that are inside the array, in lists, so that later ones can be
 * prefetched. */
struct found_windows {
    int64_t n;
    char *array[FOUND], *update[FOUND];
};

/* Finds windows among the next `count` ones of a run, from number i on. */
static void find_windows(const struct scatter *s, const struct batch_run *r, int64_t i,
                         int64_t count, int64_t from, int64_t limit, struct found_windows *f)
{
    const struct windows *w = s->w;
    int64_t number = s->component * w->component_stride, offset;
    const char *tuple = r->at[1] + i * r->step[1];
    f->n = 0;
    for (int64_t end = i + count; i < end; i++, tuple += r->step[1]) {
        if (s->parts > 1 && s->cut < 0) {
            int64_t place = kern_load_index(w->index_type, tuple + number);
            if (place < from || place >= limit)
                continue;
        }
        if (!exact_offset(w, tuple, &offset))
            continue;
        f->array[f->n] = r->at[2] + i * r->step[2] + offset;
        f->update[f->n++] = r->at[0] + i * r->step[0];
    }
}

static void scatter_part(void *context, int64_t part, int worker)
{
    const struct scatter *s = context;
    struct view array = s->w->array_window, whole = s->w->whole_window;
    struct combine_window window;
    struct found_windows f;
    struct batch_run r;
    int64_t from = s->places * part / s->parts, limit = s->places * (part + 1) / s->parts;
    char *at[3] = {s->at[0], s->at[1], s->at[2]};
    if (s->cut >= 0) {
        array.dims[s->cut] = whole.dims[s->cut] = limit - from;
        at[0] += from * whole.strides[s->cut];
        at[2] += from * array.strides[s->cut];
    }
    combine_window_init(&window, &array, &whole, s->fn);
    int64_t bytes = bytes_ahead(&array), updates = bytes_ahead(&whole);
    bool more = run_start(&r, &s->w->batch, at, 0, nest_points(&s->w->batch));
    for (; more; more = run_next(&r))
        for (int64_t i = 0; i < r.n; i += FOUND) {
            find_windows(s, &r, i, r.n - i < FOUND ? r.n - i : FOUND, from, limit, &f);
            for (int64_t k = 0; k < f.n; k++) {
                if (k + WINDOWS_AHEAD < f.n) {
                    fetch(f.array[k + WINDOWS_AHEAD], bytes);
                    fetch(f.update[k + WINDOWS_AHEAD], updates);
                }
                combine_window(&window, f.array[k], f.update[k]);
            }
        }
}

/* Chooses how to split a scatter into this many parts: wide windows with equal starts are split
 * into slices. */
static void cut_scatter(struct scatter *s, int64_t parts, const struct kern_gather_dims *dims,
                        const int64_t *window)
{
    enum { WIDE = 256 }; /* bytes */
    const struct view *v = &s->w->array_window;
    int64_t max = 0, width = (int64_t)dtype_bytes(v->dtype);
    for (int d = 0; d < v->rank; d++)
        if (s->w->fixed[d] && v->dims[d] * width >= WIDE * parts && v->dims[d] > max) {
            s->cut = d;
            s->places = max = v->dims[d];
        }
    for (int k = 0; k < s->w->map_count && s->cut < 0; k++)
        if (window[dims->start_index_map[k]] == 1 && s->w->limit[k] >= s->places) {
            s->component = k;
            s->places = s->w->limit[k] + 1;
        }
    s->parts = s->places < parts ? s->places : parts;
}

static void scatter_recognised(struct thread_pool *workers, const struct view *out,
                               const struct view *indices, const struct view *updates,
                               const struct kern_gather_dims *dims, const int64_t *window,
                               const struct windows *w, kern_tile_fn *fn)
{
    enum { SHARED_FROM = 256 << 10 }; /* bytes */
    struct scatter s = {.w = w, .fn = fn, .at = {updates->data, indices->data, out->data}};
    s.cut = -1;
    s.places = s.parts = 1;
    if (view_elements(updates) * (int64_t)dtype_bytes(out->dtype) >= SHARED_FROM)
        cut_scatter(&s, thread_pool_size(workers), dims, window);
    thread_pool_run(workers, s.parts, scatter_part, &s);
}

/* A window combined by calls of a body: n operands, one call per element. */
struct call_window {
    int n;
    const struct kern_body *body;
    const struct windows *w; /* one for each operand */
    char **out, **update;    /* starts of the windows */
    union kern_element *elements;
    const void **args;
    void **results;
};

static bool call_window(const struct call_window *c)
{
    const struct view *space = &c->w->whole_window;
    int64_t index[VIEW_MAX_RANK] = {0};
    do {
        for (int k = 0; k < c->n; k++) {
            int64_t to = 0, from = 0;
            for (int d = 0; d < space->rank; d++) {
                to += index[d] * c->w[k].array_window.strides[d];
                from += index[d] * c->w[k].whole_window.strides[d];
            }
            c->args[k] = c->out[k] + to;
            c->args[c->n + k] = c->update[k] + from;
        }
        if (!c->body->call(c->body->context, c->args, c->results))
            return false;
        for (int k = 0; k < c->n; k++)
            memcpy((void *)(uintptr_t)c->args[k], &c->elements[k],
                   dtype_bytes(c->w[k].array_window.dtype));
    } while (index_next(space->rank, space->dims, index));
    return true;
}

/* The address of view k's data at a batch position. */
static char *batch_address(const struct nest_walk *walk, const struct nest *batch, int view,
                           char *data)
{
    for (int d = 0; d < walk->rank; d++)
        data += walk->index[d] * batch->strides[view][d];
    return data;
}

static bool scatter_windows_by_call(struct call_window *c, const struct view *out,
                                    const struct view *indices, const struct view *updates)
{
    struct nest_walk walk;
    int64_t offset;
    const struct nest *batch = &c->w->batch;
    nest_start(&walk, batch, batch->rank, (char *[]){updates->data, indices->data, out->data});
    do {
        bool inside = true;
        for (int k = 0; k < c->n && inside; k++) {
            inside = exact_offset(&c->w[k], walk.at[1], &offset);
            c->update[k] = batch_address(&walk, &c->w[k].batch, 0, updates[k].data);
            c->out[k] = batch_address(&walk, &c->w[k].batch, 2, out[k].data) + offset;
        }
        if (inside && !call_window(c))
            return false;
    } while (nest_step(&walk));
    return true;
}

static bool scatter_by_call(int n, const struct view *out, const struct view *indices,
                            const struct view *updates, const struct kern_gather_dims *dims,
                            const int64_t *window, const struct kern_body *body)
{
    size_t count = (size_t)n;
    struct windows *w =
        mem_alloc(count * (sizeof *w + sizeof(union kern_element) + 5 * sizeof(void *)));
    if (!w)
        return false;
    struct call_window c = {
        .n = n, .body = body, .w = w, .elements = (union kern_element *)(w + count)};
    c.results = (void **)(c.elements + count);
    c.args = (const void **)(c.results + count);
    c.out = (char **)(c.args + 2 * count);
    c.update = c.out + count;
    for (int k = 0; k < n; k++) {
        windows_init(&w[k], &updates[k], &out[k], indices, dims, window);
        c.results[k] = &c.elements[k];
    }
    bool ok = scatter_windows_by_call(&c, out, indices, updates);
    mem_free(w);
    return ok;
}

/* spec: Scatter */
bool kern_scatter(struct thread_pool *workers, int n, const struct view *out,
                  const struct view *indices, const struct view *updates,
                  const struct kern_gather_dims *dims, const struct kern_body *body)
{
    int64_t window[VIEW_MAX_RANK];
    struct windows w;
    const char *opcode = kern_combine_opcode(body->combine);
    kern_tile_fn *fn = opcode ? kern_find_elementwise(opcode, out->dtype) : NULL;
    if (view_elements(updates) == 0)
        return true;
    update_window(out, updates, dims, window);
    windows_init(&w, updates, out, indices, dims, window);
    if (!w.fits)
        return true;
    if (n > 1 || out->dtype != updates->dtype || (!fn && body->combine != KERN_TAKE_VALUE))
        return scatter_by_call(n, out, indices, updates, dims, window, body);
    nest_merge(&w.batch);
    scatter_recognised(workers, out, indices, updates, dims, window, &w, fn);
    return true;
}
