/*
 * gather_windows.c: windows of gather and scatter (no kernel of its own). Bounds and clamping are
 * computed in lanes, for a block of index tuples at a time.
 */
#include "kern/gather_windows.h"

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

/* ---- geometry ---- */

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
    kern_view_pick(&w->whole_window, whole, count, dims->offset_dims);
    kern_view_pick(&w->array_window, array, count, kept);
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

static void pick_view(struct nest *one, const struct nest *n, int view)
{
    nest_init(one, 1);
    for (int d = 0; d < n->rank; d++)
        nest_add(one, n->dims[d], &n->strides[view][d]);
    nest_merge(one);
}

/* The axes of an array of indices, without index_vector_dim, merged. */
static void component_axes(struct index_axes *a, const struct view *x,
                           const struct kern_gather_dims *dims)
{
    struct nest n;
    nest_init(&n, 1);
    for (int d = 0; d < x->rank; d++)
        if (d != dims->index_vector_dim)
            nest_add(&n, x->dims[d], &x->strides[d]);
    nest_merge(&n);
    a->rank = n.rank;
    memcpy(a->dims, n.dims, sizeof *a->dims * (size_t)n.rank);
    memcpy(a->strides, n.strides[0], sizeof *a->strides * (size_t)n.rank);
}

void windows_init(struct windows *w, const struct view *whole, const struct view *array,
                  const struct view *indices, const struct kern_gather_dims *dims,
                  const int64_t *window)
{
    window_views(w, whole, array, dims, window);
    batch_nest(w, whole, array, indices, dims);
    pick_view(&w->whole, &w->batch, 0);
    pick_view(&w->array, &w->batch, 2);
    w->count = nest_points(&w->batch);
    w->index_type = indices->dtype;
    w->map_count = dims->map_count;
    w->component_stride =
        dims->index_vector_dim < indices->rank ? indices->strides[dims->index_vector_dim] : 0;
    w->separate = dims->component_count > 0;
    for (int k = 0; k < dims->map_count; k++) {
        w->component[k] = w->separate ? indices[k].data : indices->data + k * w->component_stride;
        if (w->separate || k == 0)
            component_axes(&w->axes[k], &indices[k], dims);
    }
    w->fits = true;
    for (int d = 0; d < array->rank; d++)
        w->fits &= window[d] > 0 && window[d] <= array->dims[d];
    for (int k = 0; k < dims->map_count; k++) {
        int64_t d = dims->start_index_map[k];
        w->stride[k] = array->strides[d];
        w->limit[k] = array->dims[d] - window[d];
    }
}

/* ---- offsets ---- */

/* A run of positions of a nest of one view: n positions from `at` bytes on, `step` bytes apart. */
struct position_runs {
    struct nest_walk walk; /* over the outer dimensions */
    int64_t at, n, left, length, step;
};

static bool run_begin(struct position_runs *r, int64_t skipped)
{
    r->n = r->length - skipped < r->left ? r->length - skipped : r->left;
    r->left -= r->n;
    r->at = r->walk.at[0] - (char *)r + skipped * r->step;
    return r->n > 0;
}

static bool run_start(struct position_runs *r, const struct nest *n, int64_t from, int64_t count)
{
    int d = n->rank - 1;
    r->length = d < 0 ? INT64_MAX : n->dims[d];
    r->left = count;
    r->step = d < 0 ? 0 : n->strides[0][d];
    nest_start_from(&r->walk, n, d < 0 ? 0 : d, (char *[]){(char *)r}, from / r->length);
    return run_begin(r, from % r->length);
}

static bool run_next(struct position_runs *r)
{
    if (r->left == 0)
        return false;
    nest_step(&r->walk);
    return run_begin(r, 0);
}

KERN_CLONES static void set_line(int64_t *out, int64_t at, int64_t step, int64_t n)
{
    for (int64_t i = 0; i < n; i++, at += step)
        out[i] = at;
}

/* The byte offsets of positions `from` to from + n of a nest of one view. */
static void set_positions(const struct nest *nest, int64_t from, int64_t n, int64_t *out)
{
    struct position_runs r;
    for (bool more = run_start(&r, nest, from, n); more; more = run_next(&r)) {
        if (r.step == 0 && r.at == 0)
            memset(out, 0, (size_t)r.n * sizeof *out);
        else
            set_line(out, r.at, r.step, r.n);
        out += r.n;
    }
}

#define SATURATED(x) (int32_t)((x) < -1 ? -1 : (x) > INT32_MAX ? INT32_MAX : (x))
#define LOAD_LINE(T, formula)                                                                      \
    KERN_CLONES static void load_##T(int32_t *out, const char *at, int64_t step, int64_t n)        \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T x = *(const T *)(const void *)(at + i * step);                                 \
            out[i] = formula;                                                                      \
        }                                                                                          \
    }
LOAD_LINE(uint8_t, x)
LOAD_LINE(int8_t, x)
LOAD_LINE(uint16_t, x)
LOAD_LINE(int16_t, x)
LOAD_LINE(uint32_t, (int32_t)(x > INT32_MAX ? INT32_MAX : x))
LOAD_LINE(int32_t, x)
LOAD_LINE(int64_t, SATURATED(x))

static void load_any(enum dtype t, int32_t *out, const char *at, int64_t step, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t x = kern_load_index(t, at + i * step);
        out[i] = SATURATED(x);
    }
}

void windows_load_starts(enum dtype t, int32_t *out, const char *at, int64_t step, int64_t n)
{
    switch (t) {
    case DT_U8: load_uint8_t(out, at, step, n); break;
    case DT_S8: load_int8_t(out, at, step, n); break;
    case DT_U16: load_uint16_t(out, at, step, n); break;
    case DT_S16: load_int16_t(out, at, step, n); break;
    case DT_U32: load_uint32_t(out, at, step, n); break;
    case DT_S32: load_int32_t(out, at, step, n); break;
    case DT_S64: load_int64_t(out, at, step, n); break;
    default: load_any(t, out, at, step, n); break;
    }
}

static void index_nest(struct nest *n, const struct windows *w, int component)
{
    const struct index_axes *a = &w->axes[w->separate ? component : 0];
    nest_init(n, 1);
    for (int d = 0; d < a->rank; d++)
        nest_add(n, a->dims[d], &a->strides[d]);
}

/* One component of n index tuples: in place, or in `buffer`. */
static const int32_t *load_component(const struct windows *w, int component, int64_t from,
                                     int64_t n, int32_t *buffer)
{
    struct position_runs r;
    struct nest index;
    const char *at = w->component[component];
    int64_t done = 0;
    index_nest(&index, w, component);
    for (bool more = run_start(&r, &index, from, n); more; more = run_next(&r)) {
        if (r.n == n && r.step == (int64_t)sizeof *buffer && w->index_type == DT_S32)
            return (const int32_t *)(const void *)(at + r.at);
        windows_load_starts(w->index_type, buffer + done, at + r.at, r.step, r.n);
        done += r.n;
    }
    return buffer;
}

KERN_CLONES static void add_clamped(int64_t *out, const int32_t *start, int32_t limit,
                                    uint32_t stride, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int32_t s = start[i] < limit ? start[i] : limit;
        s = s > 0 ? s : 0;
        out[i] += (int32_t)((uint32_t)s * stride);
    }
}

/* Sets outside[i] where a start is not in [low, high]; returns whether any is. */
KERN_CLONES static bool add_checked(int64_t *out, int32_t *outside, const int32_t *start,
                                    int32_t low, int32_t high, uint32_t stride, int64_t n)
{
    int32_t any = 0;
    for (int64_t i = 0; i < n; i++) {
        const int32_t is_outside = start[i] < low || start[i] > high;
        outside[i] |= is_outside;
        any |= is_outside;
        out[i] += (int32_t)((uint32_t)start[i] * stride);
    }
    return any != 0;
}

/* Arrays of 2 GiB and more, and reversed ones: index tuples one by one. Sets outside[i] where a
 * start is not in [low, high]; NULL: clamps it. */
static bool add_wide(const struct windows *w, int component, int64_t from, int64_t low,
                     int64_t high, struct window_block *b, int32_t *outside)
{
    struct position_runs r;
    struct nest index;
    const char *at = w->component[component];
    int64_t i = 0;
    bool any = false;
    index_nest(&index, w, component);
    for (bool more = run_start(&r, &index, from, b->n); more; more = run_next(&r))
        for (int64_t k = 0; k < r.n; k++, i++) {
            int64_t x = kern_load_index(w->index_type, at + r.at + k * r.step),
                    inside = x < low    ? low
                             : x > high ? high
                                        : x;
            if (outside)
                outside[i] |= x != inside;
            any |= x != inside;
            b->array[i] += inside * w->stride[component];
        }
    return any;
}

static bool is_wide(const struct windows *w, int component)
{
    const int64_t limit = w->limit[component], stride = w->stride[component];
    return limit >= INT32_MAX || stride < 0 || (limit > 0 && stride > INT32_MAX / limit);
}

/* The offsets of n windows by batch position. Those in `whole` are relative to `from`, if windows
 * have equal distances there, so that they are the same for every block. */
static void start_block(const struct windows *w, int64_t from, int64_t n, struct window_block *b)
{
    const bool line = w->whole.rank <= 1;
    b->n = n;
    b->whole_from = line && w->whole.rank > 0 ? from * w->whole.strides[0][0] : 0;
    if (!line || n > b->line)
        set_positions(&w->whole, line ? 0 : from, n, b->whole);
    b->line = line ? n : 0;
    set_positions(&w->array, from, n, b->array);
}

void windows_clamped(const struct windows *w, int64_t from, int64_t n, struct window_block *b)
{
    int32_t buffer[WINDOW_BLOCK];
    start_block(w, from, n, b);
    for (int k = 0; k < w->map_count; k++)
        if (is_wide(w, k))
            add_wide(w, k, from, 0, w->limit[k], b, NULL);
        else
            add_clamped(b->array, load_component(w, k, from, n, buffer), (int32_t)w->limit[k],
                        (uint32_t)w->stride[k], n);
}

/* Keeps the windows that are inside. */
static void keep_inside(struct window_block *b, const int32_t *outside)
{
    int32_t kept[WINDOW_BLOCK];
    int64_t n = 0;
    for (int32_t i = 0; i < b->n; i++) {
        kept[n] = i;
        n += !outside[i];
    }
    for (int64_t k = 0; k < n; k++) {
        b->whole[k] = b->whole[kept[k]];
        b->array[k] = b->array[kept[k]];
    }
    b->n = n;
    b->line = 0;
}

void windows_inside(const struct windows *w, int64_t from, int64_t n, int component, int64_t low,
                    int64_t high, struct window_block *b)
{
    int32_t buffer[WINDOW_BLOCK], outside[WINDOW_BLOCK];
    bool any = false;
    memset(outside, 0, (size_t)n * sizeof *outside);
    start_block(w, from, n, b);
    for (int k = 0; k < w->map_count; k++) {
        const int64_t least = k == component ? low : 0, most = k == component ? high : w->limit[k];
        if (is_wide(w, k))
            any |= add_wide(w, k, from, least, most, b, outside);
        else
            any |= add_checked(b->array, outside, load_component(w, k, from, n, buffer),
                               (int32_t)least, (int32_t)most, (uint32_t)w->stride[k], n);
    }
    if (any)
        keep_inside(b, outside);
}

static void view_positions(const struct view *v, int64_t from, int64_t n, int64_t *out)
{
    struct nest nest;
    nest_init(&nest, 1);
    for (int d = 0; d < v->rank; d++)
        nest_add(&nest, v->dims[d], &v->strides[d]);
    set_positions(&nest, from, n, out);
}

void window_elements(const struct windows *w, int64_t from, int64_t n, struct window_block *b)
{
    b->n = n;
    b->whole_from = 0;
    view_positions(&w->array_window, from, n, b->array);
    view_positions(&w->whole_window, from, n, b->whole);
}

/* ---- runs of a window ---- */

static void list_runs(struct window_runs *r)
{
    struct nest_walk walk;
    char *start = (char *)r;
    int n = 0;
    nest_start(&walk, &r->outer, r->outer.rank, (char *[]){start, start});
    do {
        r->whole[n] = walk.at[0] - start;
        r->array[n++] = walk.at[1] - start;
    } while (nest_step(&walk));
    r->count = n;
}

/* Whether the runs of many windows at one position follow each other in `whole`, without gaps.
 * Single elements are worth that even for few windows, long runs are not. */
static bool are_adjacent(const struct windows *w, int64_t elements, int64_t bytes)
{
    enum { MANY = 32, LONG = 256 }; /* windows; bytes */
    const struct nest *n = &w->whole;
    return n->rank > 0 && n->dims[n->rank - 1] >= (elements == 1 ? 2 : MANY) && bytes < LONG &&
           n->strides[0][n->rank - 1] == bytes;
}

void window_runs_init(struct window_runs *r, const struct view *whole, const struct view *array,
                      const struct windows *across)
{
    const int64_t width = (int64_t)dtype_bytes(whole->dtype);
    struct nest *n = &r->outer;
    nest_init(n, 2);
    for (int d = 0; d < whole->rank; d++)
        nest_add(n, array->dims[d], (int64_t[]){whole->strides[d], array->strides[d]});
    nest_merge(n);
    const int last = n->rank - 1;
    const bool dense = last >= 0 && n->strides[0][last] == width && n->strides[1][last] == width;
    r->length = dense ? n->dims[last] : 1;
    n->rank -= dense;
    if (across && n->rank > 0 && are_adjacent(across, r->length, r->length * width))
        r->mode = RUNS_OUTERMOST;
    else
        r->mode = nest_points(n) <= WINDOW_RUNS ? RUNS_LISTED : RUNS_MANY;
    if (r->mode == RUNS_LISTED)
        list_runs(r);
}

/* The runs of all windows of a block, window by window. */
static void visit_listed(const struct window_runs *r, const struct window_block *b, char *whole,
                         char *array, window_runs_fn *fn, const void *context)
{
    int64_t whole_at[WINDOW_BLOCK], array_at[WINDOW_BLOCK], n = 0;
    for (int64_t i = 0; i < b->n; i++) {
        for (int k = 0; k < r->count; k++) {
            whole_at[n + k] = b->whole[i] + r->whole[k];
            array_at[n + k] = b->array[i] + r->array[k];
        }
        n += r->count;
        if (n + r->count > WINDOW_BLOCK || i + 1 == b->n) {
            fn(context, whole, whole_at, array, array_at, n);
            n = 0;
        }
    }
}

void window_runs_visit(const struct window_runs *r, const struct window_block *b, char *whole,
                       char *array, int64_t position, int64_t positions, window_runs_fn *fn,
                       const void *context)
{
    struct nest_walk walk;
    whole += b->whole_from;
    char *at[2] = {whole, array};
    if (r->mode == RUNS_LISTED && r->count > 1) {
        visit_listed(r, b, whole, array, fn, context);
    } else if (r->mode == RUNS_LISTED) {
        fn(context, whole, b->whole, array, b->array, b->n);
    } else {
        nest_start_from(&walk, &r->outer, r->outer.rank, at, position);
        for (int64_t k = 0; k < positions; k++, nest_step(&walk))
            fn(context, walk.at[0], b->whole, walk.at[1], b->array, b->n);
    }
}
