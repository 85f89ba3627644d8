/*
 * gather.c: reads windows of an array at indices from another array (gather), or combines windows
 * into it (scatter). Offsets of windows are computed a block at a time (gather_windows.h); then
 * their runs of elements are moved by one loop (indexed.h).
 *
 * Order of scatter: index tuples row-major over the update array, window by window, each window
 * row-major; so of two plain updates of one element the later one is kept.
 */
#include "kern/gather_windows.h"
#include "kern/indexed.h"
#include "kern/points.h"

/* Work per part, in bytes moved, index tuples counted as TUPLE bytes each. */
enum { PART = 96 << 10, TUPLE = 12 };

/* A gather, split into parts: of its windows, or of the positions in them. */
struct gather {
    const struct windows *w;
    const struct window_runs *runs;
    struct copy_plan plan; /* of one window; RUNS_MANY */
    char *result, *operand;
    int64_t piece;     /* windows in a part */
    int64_t positions; /* in a part, if parts are of positions; else 0 */
    int64_t bytes;     /* of a run */
    bool streams;      /* non-temporal stores */
};

static void copy_out(const void *context, char *whole, const int64_t *whole_at, char *array,
                     const int64_t *array_at, int64_t n)
{
    const struct gather *g = context;
    if (!g->streams)
        indexed_copy(whole, whole_at, array, array_at, n, g->bytes);
    else
        for (int64_t i = 0; i < n; i++)
            copy_stream(whole + whole_at[i], array + array_at[i], g->bytes);
}

static void gather_windows(const struct gather *g, int64_t from, int64_t limit, int64_t position,
                           int64_t positions)
{
    struct window_block b;
    b.line = 0;
    for (int64_t n; from < limit; from += n) {
        n = limit - from < WINDOW_BLOCK ? limit - from : WINDOW_BLOCK;
        windows_clamped(g->w, from, n, &b);
        if (g->runs->mode == RUNS_MANY)
            for (int64_t i = 0; i < n; i++)
                copy_plan_run(&g->plan, g->result + b.whole_from + b.whole[i],
                              g->operand + b.array[i]);
        else
            window_runs_visit(g->runs, &b, g->result, g->operand, position, positions, copy_out, g);
    }
    if (g->runs->mode == RUNS_MANY)
        copy_plan_end(&g->plan);
    if (g->streams)
        copy_stream_end();
}

static void gather_part(void *context, int64_t part, int worker)
{
    const struct gather *g = context;
    const int64_t all = nest_points(&g->runs->outer);
    int64_t from = part * (g->positions > 0 ? g->positions : g->piece);
    if (g->positions > 0)
        gather_windows(g, 0, g->w->count, from,
                       all - from < g->positions ? all - from : g->positions);
    else
        gather_windows(g, from, g->w->count - from < g->piece ? g->w->count : from + g->piece, 0,
                       all);
}

/* A gather of few windows, each large enough to be split among threads. */
static void gather_large(struct thread_pool *workers, struct gather *g)
{
    struct window_block b;
    struct view window = g->w->whole_window;
    b.line = 0;
    windows_clamped(g->w, 0, g->w->count, &b);
    for (int64_t i = 0; i < b.n; i++) {
        window.data = g->result + b.whole_from + b.whole[i];
        copy_plan_share(workers, &g->plan, &window, g->operand + b.array[i]);
    }
}

/* Splits the gather into parts; returns their number. */
static int64_t split_gather(struct gather *g, int64_t window_bytes)
{
    enum { SHARED_FROM = 2 * PART, WINDOWS = 2048 };
    const int64_t positions = nest_points(&g->runs->outer);
    g->piece = g->w->count;
    g->positions = 0;
    if (g->w->count * (window_bytes + TUPLE) < SHARED_FROM)
        return 1;
    if (g->runs->mode == RUNS_OUTERMOST && positions > g->w->count / WINDOWS) {
        g->positions = ratio_up(PART, g->w->count * g->bytes);
        return ratio_up(positions, g->positions);
    }
    g->piece = PART / (window_bytes + TUPLE) + 1;
    return ratio_up(g->w->count, g->piece);
}

/* spec: Gather */
void kern_gather(struct thread_pool *workers, const struct view *out, const struct view *operand,
                 const struct view *indices, const struct kern_gather_dims *dims)
{
    enum { FEW = 8, LARGE = 32 << 10, STREAMED_RUN = 256 }; /* windows; bytes */
    struct points points;
    struct windows w;
    struct window_runs runs;
    struct gather g = {.w = &w, .runs = &runs, .result = out->data, .operand = operand->data};
    const int64_t width = (int64_t)dtype_bytes(out->dtype), elements = view_elements(out);
    if (elements == 0)
        return;
    if (points_init(&points, out, operand, indices, dims)) {
        points_gather(workers, &points, (size_t)width);
        return;
    }
    windows_init(&w, out, operand, indices, dims, dims->slice_sizes);
    if (!w.fits) {
        kern_fill(workers, out, (const union kern_element[]){{{0}}});
        return;
    }
    window_runs_init(&runs, &w.whole_window, &w.array_window, &w);
    const int64_t window_bytes = elements / w.count * width;
    g.bytes = runs.length * width;
    g.streams = g.bytes >= STREAMED_RUN && elements * width >= COPY_STREAM_FROM;
    const bool few = w.count < FEW && window_bytes >= LARGE;
    if (runs.mode == RUNS_MANY || few) {
        copy_plan_init(&g.plan, &w.whole_window, &w.array_window);
        copy_plan_stream(&g.plan, out);
    }
    if (few)
        gather_large(workers, &g);
    else
        thread_pool_run(workers, split_gather(&g, window_bytes), gather_part, &g);
}

/* ---- scatter ---- */

void kern_update_window(int rank, const int64_t *updates, const struct kern_gather_dims *dims,
                        int64_t *window)
{
    int k = 0;
    for (int d = 0; d < rank; d++) {
        bool single = i64_in(dims->collapsed, dims->collapsed_count, d) ||
                      i64_in(dims->operand_batching, dims->batching_count, d);
        window[d] = single ? 1 : updates[dims->offset_dims[k++]];
    }
}

/* A scatter by a recognized body, split into parts. Each part reads all index tuples. It processes
 * either a slice of each window along dimension `cut`, or those windows, in their order, whose
 * index along a dimension where windows have one element is in the part. */
struct scatter {
    const struct windows *w;
    struct indexed_combiner combiner; /* fn is NULL: store the update */
    char *updates, *result;
    int cut;        /* dimension of the windows; -1: parts are by index */
    int component;  /* the index tuples' component for that dimension */
    int64_t places; /* number of indices, or of elements along `cut` */
    int64_t parts;
};

/* The runs of the windows of one part. */
struct scatter_runs {
    const struct indexed_combiner *combiner;
    struct window_runs runs;
    struct copy_plan plan;    /* RUNS_MANY */
    struct view array, whole; /* a window, for RUNS_MANY */
};

static void combine_in(const void *context, char *whole, const int64_t *whole_at, char *array,
                       const int64_t *array_at, int64_t n)
{
    const struct scatter_runs *s = context;
    if (s->combiner->fn)
        indexed_combine(s->combiner, array, array_at, whole, whole_at, n, s->runs.length);
    else
        indexed_copy(array, array_at, whole, whole_at, n,
                     s->runs.length * (int64_t)dtype_bytes(s->whole.dtype));
}

/* Windows overlap in full or not at all if they all have the same start along each dimension in
 * which they have more than one element. Then the order of positions may be any. */
static bool positions_free(const struct windows *w)
{
    for (int d = 0; d < w->array_window.rank; d++)
        if (!w->fixed[d] && w->array_window.dims[d] > 1)
            return false;
    return true;
}

static void scatter_runs_init(struct scatter_runs *r, const struct scatter *s, int64_t places)
{
    r->combiner = &s->combiner;
    r->array = s->w->array_window;
    r->whole = s->w->whole_window;
    if (s->cut >= 0)
        r->array.dims[s->cut] = r->whole.dims[s->cut] = places;
    window_runs_init(&r->runs, &r->whole, &r->array, positions_free(s->w) ? s->w : NULL);
    if (r->runs.mode == RUNS_MANY)
        copy_plan_init(&r->plan, &r->array, &r->whole);
}

static void combine_window(struct scatter_runs *r, char *array, char *whole)
{
    if (!r->combiner->fn) {
        copy_plan_run(&r->plan, array, whole);
        return;
    }
    r->array.data = array;
    r->whole.data = whole;
    kern_map_tiles(NULL, r->combiner->fn, &r->array, 2, (const struct view[]){r->array, r->whole});
}

static void scatter_part(void *context, int64_t part, int worker)
{
    const struct scatter *s = context;
    struct scatter_runs r;
    struct window_block b;
    const int64_t from = s->places * part / s->parts, limit = s->places * (part + 1) / s->parts;
    const bool by_index = s->parts > 1 && s->cut < 0;
    char *result = s->result, *updates = s->updates;
    scatter_runs_init(&r, s, limit - from);
    if (s->cut >= 0) {
        updates += from * r.whole.strides[s->cut];
        result += from * r.array.strides[s->cut];
    }
    const int64_t positions = nest_points(&r.runs.outer);
    b.line = 0;
    for (int64_t k = 0, n; k < s->w->count; k += n) {
        n = s->w->count - k < WINDOW_BLOCK ? s->w->count - k : WINDOW_BLOCK;
        windows_inside(s->w, k, n, by_index ? s->component : -1, from, limit - 1, &b);
        if (r.runs.mode == RUNS_MANY)
            for (int64_t i = 0; i < b.n; i++)
                combine_window(&r, result + b.array[i], updates + b.whole_from + b.whole[i]);
        else
            window_runs_visit(&r.runs, &b, updates, result, 0, positions, combine_in, &r);
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

/* Whether several threads are faster, although each of them reads all index tuples: windows take
 * longer than tuples. */
static bool is_shared(int64_t count, const struct view *out, const struct view *updates)
{
    enum { SHARED_FROM = 2 * PART, NEAR = 512 << 10, WINDOW = 32 }; /* bytes */
    const int64_t width = (int64_t)dtype_bytes(out->dtype), bytes = view_elements(updates) * width;
    return bytes + count * TUPLE >= SHARED_FROM &&
           (bytes >= count * WINDOW || view_elements(out) * width > NEAR);
}

static void scatter_recognised(struct thread_pool *workers, const struct view *out,
                               const struct view *updates, const struct kern_gather_dims *dims,
                               const int64_t *window, const struct windows *w,
                               const struct indexed_combiner *combiner)
{
    struct scatter s = {
        .w = w, .combiner = *combiner, .updates = updates->data, .result = out->data};
    s.cut = -1;
    s.places = s.parts = 1;
    if (is_shared(w->count, out, updates))
        cut_scatter(&s, thread_pool_size(workers), dims, window);
    thread_pool_run(workers, s.parts, scatter_part, &s);
}

/* ---- scatter by a body: n operands, element by element ---- */

struct combining {
    int n;
    const struct kern_body *body;
    const struct view *out, *updates;
    struct windows *w;                       /* one for each operand, as the following */
    struct window_block *windows, *elements; /* offsets of windows, and of elements in each */
    union kern_element *combined;
    const void **args;
    void **results, **tiles;
};

static bool call_body(const struct combining *c, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        for (int k = 0; k < 2 * c->n; k++)
            c->args[k] = (char *)c->tiles[k] + ((const int64_t *)c->tiles[2 * c->n + k])[i];
        if (!c->body->call(c->body->context, c->args, c->results))
            return false;
        for (int k = 0; k < c->n; k++)
            memcpy((void *)(uintptr_t)c->args[k], &c->combined[k], dtype_bytes(c->out[k].dtype));
    }
    return true;
}

/* Combines all `inner` at offset i of `outer`: elements of a window, or one of all windows. */
static bool combine_line(const struct combining *c, const struct window_block *outer, int64_t i,
                         const struct window_block *inner)
{
    for (int k = 0; k < c->n; k++) {
        const int64_t whole = outer[k].whole_from + inner[k].whole_from + outer[k].whole[i];
        c->tiles[k] = (char *)c->out[k].data + outer[k].array[i];
        c->tiles[c->n + k] = (char *)c->updates[k].data + whole;
        c->tiles[2 * c->n + k] = (void *)(uintptr_t)inner[k].array;
        c->tiles[3 * c->n + k] = (void *)(uintptr_t)inner[k].whole;
    }
    if (!c->body->indexed)
        return call_body(c, inner->n);
    c->body->indexed(c->tiles, inner->n);
    return true;
}

static bool combine_block(const struct combining *c, bool across)
{
    const struct window_block *outer = across ? c->elements : c->windows,
                              *inner = across ? c->windows : c->elements;
    for (int64_t i = 0; i < outer->n; i++)
        if (!combine_line(c, outer, i, inner))
            return false;
    return true;
}

static bool combine_windows(const struct combining *c)
{
    const bool any_order = positions_free(c->w);
    const int64_t elements = view_elements(&c->w->array_window),
                  block = elements > WINDOW_BLOCK && !any_order ? 1 : WINDOW_BLOCK;
    bool ok = true;
    for (int k = 0; k < c->n; k++)
        c->windows[k].line = 0;
    for (int64_t from = 0; from < c->w->count && ok; from += block) {
        for (int k = 0; k < c->n; k++)
            windows_inside(&c->w[k], from, min_i64(block, c->w->count - from), -1, 0, 0,
                           &c->windows[k]);
        for (int64_t at = 0; at < elements && ok; at += WINDOW_BLOCK) {
            for (int k = 0; k < c->n; k++)
                window_elements(&c->w[k], at, min_i64(WINDOW_BLOCK, elements - at),
                                &c->elements[k]);
            ok = combine_block(c, any_order && c->elements->n < c->windows->n);
        }
    }
    return ok;
}

static bool scatter_by_body(int n, const struct view *out, const struct view *indices,
                            const struct view *updates, const struct kern_gather_dims *dims,
                            const int64_t *window, const struct kern_body *body)
{
    const size_t count = (size_t)n;
    union kern_element *storage =
        mem_alloc(count * (sizeof *storage + sizeof(struct windows) +
                           2 * sizeof(struct window_block) + 7 * sizeof(void *)));
    if (!storage)
        return false;
    struct combining c = {
        .n = n, .body = body, .out = out, .updates = updates, .combined = storage};
    c.w = (struct windows *)(storage + count);
    c.windows = (struct window_block *)(c.w + count);
    c.elements = c.windows + count;
    c.tiles = (void **)(c.elements + count);
    c.results = c.tiles + 4 * count;
    c.args = (const void **)(c.results + count);
    for (int k = 0; k < n; k++) {
        windows_init(&c.w[k], &updates[k], &out[k], indices, dims, window);
        c.results[k] = &c.combined[k];
    }
    const bool ok = combine_windows(&c);
    mem_free(storage);
    return ok;
}

/* A scatter of single elements by one thread; false: it is not of that kind. */
static bool scatter_points(struct thread_pool *workers, const struct view *out,
                           const struct view *indices, const struct view *updates,
                           const struct kern_gather_dims *dims, enum kern_combine combine)
{
    struct points p;
    points_fn *fn = points_combiner(combine, out->dtype);
    if (!fn || !points_init(&p, updates, out, indices, dims) ||
        (thread_pool_size(workers) > 1 && is_shared(p.count, out, updates)))
        return false;
    fn(&p);
    return true;
}

/* spec: Scatter */
bool kern_scatter(struct thread_pool *workers, int n, const struct view *out,
                  const struct view *indices, const struct view *updates,
                  const struct kern_gather_dims *dims, const struct kern_body *body)
{
    int64_t window[VIEW_MAX_RANK];
    struct windows w;
    struct indexed_combiner combiner;
    if (view_elements(updates) == 0)
        return true;
    if (n == 1 && scatter_points(workers, out, indices, updates, dims, body->combine))
        return true;
    const bool combines = indexed_combiner_init(&combiner, body->combine, out);
    kern_update_window(out->rank, updates->dims, dims, window);
    windows_init(&w, updates, out, indices, dims, window);
    if (!w.fits)
        return true;
    if (n > 1 || out->dtype != updates->dtype || (!combines && body->combine != KERN_TAKE_VALUE))
        return scatter_by_body(n, out, indices, updates, dims, window, body);
    scatter_recognised(workers, out, updates, dims, window, &w, &combiner);
    return true;
}
