/*
 * gather: windows of an array at places that an index array names; taken from there (gather) or
 * combined into it (scatter). Rows move by one planned copy for all windows.
 *
 * Order of scatter: index tuples row-major over the update array, one whole window after the other,
 * each window row-major; so of two plain updates to one place the later stays.
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

/* What gather and scatter have in common: one index tuple for each position of the batch dimensions,
 * one window of the array for each tuple. `whole` is the gather's result or the scatter's updates. */
struct windows {
    struct nest batch; /* views: whole, indices, array */
    enum dtype index_type;
    int map_count;
    int64_t component_stride;               /* from one component of a tuple to the next */
    int64_t stride[VIEW_MAX_RANK];          /* of the array, for component k */
    int64_t limit[VIEW_MAX_RANK];           /* greatest start of component k that keeps the window inside */
    bool fits;                              /* windows hold something and are no larger than the array */
    struct view whole_window, array_window; /* rank: offset dims; data: to be set */
};

/* Views of one window on both sides; window[d] is its size along dimension d of the array. */
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
    for (int k = 0; k < count; k++)
        w->array_window.dims[k] = window[kept[k]];
}

/* Batch positions step through the indices (all dimensions but index_vector_dim), through the
 * dimensions of `whole` that are no offsets, and through the array's batching dimensions. */
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

/* The byte offset of a window whose start is moved into the array. */
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

/* The byte offset of a window; false when it sticks out anywhere. */
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

/* Windows of one element, one index component: no copy needs to be planned. */
#define TAKE_ELEMENTS(W)                                                                                     \
    static void take_##W(const struct windows *w, struct nest_walk *walk, int64_t n, int64_t out_step,       \
                         int64_t index_step, int64_t operand_step)                                           \
    {                                                                                                        \
        char *out = walk->at[0], *tuple = walk->at[1], *operand = walk->at[2];                               \
        for (int64_t i = 0; i < n; i++, out += out_step, tuple += index_step, operand += operand_step)       \
            *(W *)(void *)out = *(const W *)(const void *)(operand + clamped_offset(w, tuple));              \
    }
TAKE_ELEMENTS(kern_w1)
TAKE_ELEMENTS(kern_w2)
TAKE_ELEMENTS(kern_w4)
TAKE_ELEMENTS(kern_w8)

static void gather_elements(const struct windows *w, struct nest_walk *walk, size_t width)
{
    const struct nest *b = &w->batch;
    int d = b->rank - 1;
    do {
        int64_t n = b->dims[d], out = b->strides[0][d], tuple = b->strides[1][d], operand = b->strides[2][d];
        switch (width) {
        case 1: take_kern_w1(w, walk, n, out, tuple, operand); break;
        case 2: take_kern_w2(w, walk, n, out, tuple, operand); break;
        case 4: take_kern_w4(w, walk, n, out, tuple, operand); break;
        default: take_kern_w8(w, walk, n, out, tuple, operand); break;
        }
    } while (nest_step(walk));
}

/* Which windows come next is known long before they are needed, but not to the processor: the begin of
 * each is fetched some windows ahead, as far as these lie in one run of the batch. */
enum { WINDOWS_AHEAD = 4, BYTES_AHEAD = 512, LINE = 64 };

static void fetch(const char *at, int64_t bytes)
{
    for (int64_t k = 0; k < bytes; k += LINE)
        __builtin_prefetch(at + k);
}

/* How many bytes of a window to fetch: none of one that does not lie in one piece. */
static int64_t bytes_ahead(const struct view *window)
{
    if (!view_is_dense(window))
        return 0;
    int64_t bytes = view_elements(window) * (int64_t)dtype_bytes(window->dtype);
    return bytes < BYTES_AHEAD ? bytes : BYTES_AHEAD;
}

/* The innermost dimension of a batch, which is walked by itself so that windows ahead can be seen. */
struct batch_run {
    int outer; /* rank of what is around it */
    int64_t n, step[3];
};

static struct batch_run innermost(const struct nest *batch)
{
    int d = batch->rank - 1;
    if (d < 0)
        return (struct batch_run){.n = 1};
    return (struct batch_run){
        d, batch->dims[d], {batch->strides[0][d], batch->strides[1][d], batch->strides[2][d]}};
}

static void gather_windows(const struct windows *w, struct nest_walk *walk, const struct view *whole)
{
    struct copy_plan plan;
    struct batch_run run = innermost(&w->batch);
    int64_t ahead = bytes_ahead(&w->array_window);
    copy_plan_init(&plan, &w->whole_window, &w->array_window);
    copy_plan_stream(&plan, whole);
    do {
        char *out = walk->at[0], *tuple = walk->at[1], *operand = walk->at[2];
        for (int64_t i = 0; i < run.n;
             i++, out += run.step[0], tuple += run.step[1], operand += run.step[2]) {
            if (run.n - i > WINDOWS_AHEAD)
                fetch(operand + WINDOWS_AHEAD * run.step[2] +
                          clamped_offset(w, tuple + WINDOWS_AHEAD * run.step[1]),
                      ahead);
            copy_plan_run(&plan, out, operand + clamped_offset(w, tuple));
        }
    } while (nest_step(walk));
    copy_plan_end(&plan);
}

/* spec: Gather */
void kern_gather(struct team *team, const struct view *out, const struct view *operand, const struct view *indices,
                 const struct kern_gather_dims *dims)
{
    struct windows w;
    struct nest_walk walk;
    size_t width = dtype_bytes(out->dtype);
    if (view_elements(out) == 0)
        return;
    windows_init(&w, out, operand, indices, dims, dims->slice_sizes);
    if (!w.fits) {
        kern_fill(out, (const union kern_cell[]){{{0}}});
        return;
    }
    nest_merge(&w.batch);
    nest_start(&walk, &w.batch, innermost(&w.batch).outer,
               (char *[]){out->data, indices->data, operand->data});
    if (view_elements(&w.array_window) == 1 && width <= 8 && w.batch.rank > 0)
        gather_elements(&w, &walk, width);
    else
        gather_windows(&w, &walk, out);
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

/* One window of a recognised combiner. */
struct combine_window {
    kern_tile_fn *fn; /* NULL: take the update */
    struct copy_plan plan;
    int64_t packed; /* elements when both sides are gapless runs, else 0 */
    struct view out, update;
};

static void combine_window_init(struct combine_window *c, const struct windows *w, kern_tile_fn *fn)
{
    struct nest n;
    int64_t width = (int64_t)dtype_bytes(w->array_window.dtype);
    c->fn = fn;
    c->out = w->array_window;
    c->update = w->whole_window;
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

static void scatter_recognised(const struct view *out, const struct view *indices, const struct view *updates,
                               const struct windows *w, kern_tile_fn *fn)
{
    struct combine_window c;
    struct nest_walk walk;
    struct batch_run run = innermost(&w->batch);
    int64_t offset, ahead = bytes_ahead(&w->array_window);
    combine_window_init(&c, w, fn);
    nest_start(&walk, &w->batch, run.outer, (char *[]){updates->data, indices->data, out->data});
    do {
        char *update = walk.at[0], *tuple = walk.at[1], *array = walk.at[2];
        for (int64_t i = 0; i < run.n;
             i++, update += run.step[0], tuple += run.step[1], array += run.step[2]) {
            if (run.n - i > WINDOWS_AHEAD && exact_offset(w, tuple + WINDOWS_AHEAD * run.step[1], &offset))
                fetch(array + WINDOWS_AHEAD * run.step[2] + offset, ahead);
            if (exact_offset(w, tuple, &offset))
                combine_window(&c, array + offset, update);
        }
    } while (nest_step(&walk));
}

/* A window of any body: n operands, one call for each element. */
struct call_window {
    int n;
    const struct kern_body *body;
    const struct windows *w; /* one for each operand */
    char **out, **update;    /* where its windows begin */
    union kern_cell *cells;
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
            memcpy((void *)(uintptr_t)c->args[k], &c->cells[k], dtype_bytes(c->w[k].array_window.dtype));
    } while (index_next(space->rank, space->dims, index));
    return true;
}

/* The address of view k's data at a batch position. */
static char *batch_address(const struct nest_walk *walk, const struct nest *batch, int view, char *data)
{
    for (int d = 0; d < walk->rank; d++)
        data += walk->index[d] * batch->strides[view][d];
    return data;
}

static bool scatter_windows_by_call(struct call_window *c, const struct view *out, const struct view *indices,
                                    const struct view *updates)
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
    struct windows *w = mem_alloc(count * (sizeof *w + sizeof(union kern_cell) + 5 * sizeof(void *)));
    if (!w)
        return false;
    struct call_window c = {.n = n, .body = body, .w = w, .cells = (union kern_cell *)(w + count)};
    c.results = (void **)(c.cells + count);
    c.args = (const void **)(c.results + count);
    c.out = (char **)(c.args + 2 * count);
    c.update = c.out + count;
    for (int k = 0; k < n; k++) {
        windows_init(&w[k], &updates[k], &out[k], indices, dims, window);
        c.results[k] = &c.cells[k];
    }
    bool ok = scatter_windows_by_call(&c, out, indices, updates);
    mem_free(w);
    return ok;
}

/* spec: Scatter */
bool kern_scatter(struct team *team, int n, const struct view *out, const struct view *indices, const struct view *updates,
                  const struct kern_gather_dims *dims, const struct kern_body *body)
{
    int64_t window[VIEW_MAX_RANK];
    struct windows w;
    const char *opcode = combine_opcode(body->combine);
    kern_tile_fn *fn = opcode ? kern_find_elementwise(opcode, out->dtype) : NULL;
    if (view_elements(updates) == 0)
        return true;
    update_window(out, updates, dims, window);
    windows_init(&w, updates, out, indices, dims, window);
    if (!w.fits)
        return true;
    if (n > 1 || out->dtype != updates->dtype || (!fn && body->combine != KERN_TAKE_VALUE))
        return scatter_by_call(n, out, indices, updates, dims, window, body);
    scatter_recognised(out, indices, updates, &w, fn);
    return true;
}
