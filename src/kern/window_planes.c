/*
 * window_planes.c: reduce-window (spec: ReduceWindow) of planes, the dimensions along which windows
 * move and those inside them. A few planes at a time are padded and copied in phases: elements that
 * are a stride of the windows apart become adjacent. Then the elements at one position of all
 * windows form a line, and whole lines are reduced with one lane per result. Results beyond the end
 * of a row are computed and not stored.
 *
 * Order and accumulation: those of window_lanes.c.
 */
#include "kern/window.h"

/* A plane: dimensions 1 to rank - 1; dimension 0 numbers planes. */
struct window_planes {
    const struct view *out, *x;
    const struct kern_window_dim *window; /* of the plane */
    struct window_reducer reducer;
    union kern_element filler;
    int rank, outer;      /* dimensions of a plane, and before them */
    int64_t group, slice; /* planes in a task, and results along the first dimension of each */
    int64_t groups, slices;
    size_t room; /* bytes of a workspace */
    char *memory;
};

/* The planes of a task. */
struct plane_part {
    struct view out, x; /* dimension 0: planes */
    struct kern_window_dim window[VIEW_MAX_RANK];
    int64_t dims[VIEW_MAX_RANK], phases; /* of a phase, and their number */
    struct view phase;                   /* the first one */
};

enum { NEAR = 128 << 10 }; /* bytes of a workspace, unless planes need more */

/* Elements of a phase along a dimension of n results. */
static int64_t phase_dim(const struct kern_window_dim *w, int64_t n)
{
    return n + (w->size - 1) * w->window_dilation / w->stride;
}

static void find_phases(struct plane_part *p, enum dtype type, void *storage)
{
    p->phases = 1;
    p->dims[0] = p->out.dims[0];
    for (int d = 1; d < p->out.rank; d++) {
        p->dims[d] = phase_dim(&p->window[d], p->out.dims[d]);
        p->phases *= p->window[d].stride;
    }
    view_dense(&p->phase, type, p->out.rank, p->dims, storage);
}

/* The part of x that is in a phase, and its place in `to`. False: none is. */
static bool find_inside(const struct plane_part *p, const int64_t *number, struct view *from,
                        struct view *to)
{
    for (int d = 1; d < to->rank; d++) {
        const struct kern_window_dim *w = &p->window[d];
        const int64_t shift = w->pad_low - number[d]; /* element q is x[q * stride - shift] */
        const int64_t first = shift > 0 ? ratio_up(shift, w->stride) : 0,
                      end = from->dims[d] + shift > 0
                                ? min_i64(ratio_up(from->dims[d] + shift, w->stride), to->dims[d])
                                : 0;
        if (first >= end)
            return false;
        from->data += (first * w->stride - shift) * from->strides[d];
        from->strides[d] *= w->stride;
        to->data += first * to->strides[d];
        from->dims[d] = to->dims[d] = end - first;
    }
    return true;
}

/* Steps through the phases, row-major. */
static void next_phase(const struct plane_part *p, int64_t *number)
{
    for (int d = p->out.rank - 1; d > 0; d--) {
        if (++number[d] < p->window[d].stride)
            return;
        number[d] = 0;
    }
}

static void copy_phases(const struct plane_part *p, const void *filler)
{
    const int64_t elements = view_elements(&p->phase);
    int64_t number[VIEW_MAX_RANK] = {0};
    struct view whole = p->phase;
    for (int64_t k = 0; k < p->phases; k++, next_phase(p, number)) {
        struct view from = p->x, to = whole;
        const bool any = find_inside(p, number, &from, &to);
        if (!any || view_elements(&to) < elements)
            kern_fill(NULL, &whole, filler);
        if (any)
            kern_copy(NULL, &to, &from);
        whole.data += elements * (int64_t)dtype_bytes(whole.dtype);
    }
}

/* The first element of each position of the windows, row-major; returns their number. */
static int find_lines(const struct plane_part *p, const char **lines)
{
    const int64_t width = (int64_t)dtype_bytes(p->phase.dtype);
    int64_t step = view_elements(&p->phase) * width; /* between phases along a dimension */
    int count = 1;
    lines[0] = p->phase.data;
    for (int d = 1; d < p->out.rank; d++)
        step *= p->window[d].stride;
    for (int d = 1; d < p->out.rank; d++) {
        const struct kern_window_dim *w = &p->window[d];
        step /= w->stride;
        for (int k = count - 1; k >= 0; k--)
            for (int64_t j = w->size - 1; j >= 0; j--) {
                const int64_t at = j * w->window_dilation;
                lines[k * w->size + j] =
                    lines[k] + at % w->stride * step + at / w->stride * p->phase.strides[d];
            }
        count *= (int)w->size;
    }
    return count;
}

/* Reduces all results of the part, from the first to the last, into a view of the dimensions of a
 * phase; or into the result itself. */
static void reduce_part(const struct window_planes *w, const struct plane_part *p, char *storage)
{
    const char *lines[WINDOW_PLACES];
    const int count = find_lines(p, lines);
    const int64_t width = (int64_t)dtype_bytes(p->out.dtype);
    int64_t last = 0;
    struct view to = p->out;
    bool direct = view_is_dense(&p->out);
    for (int d = 0; d < to.rank; d++) {
        direct &= p->dims[d] == to.dims[d];
        last += (to.dims[d] - 1) * p->phase.strides[d];
        to.strides[d] = p->phase.strides[d];
    }
    to.data = direct ? p->out.data : storage;
    window_reducer_run(&w->reducer, to.data, lines, count, last / width + 1);
    if (!direct)
        kern_copy(NULL, &p->out, &to);
}

/* Takes planes from `plane` on, and results from `from` on along their first dimension. */
static void find_part(const struct window_planes *w, int64_t number, struct plane_part *p)
{
    const int64_t plane = number / w->slices % w->groups * w->group,
                  from = number % w->slices * w->slice;
    const int first = w->outer;
    int64_t rest = number / w->slices / w->groups;
    struct view out = *w->out, x = *w->x;
    for (int d = first - 2; d >= 0; rest /= out.dims[d--]) {
        out.data += rest % out.dims[d] * out.strides[d];
        x.data += rest % out.dims[d] * x.strides[d];
    }
    p->out = (struct view){.dtype = out.dtype, .rank = w->rank + 1, .data = out.data};
    p->x = (struct view){.dtype = x.dtype, .rank = w->rank + 1, .data = x.data};
    p->out.dims[0] = p->x.dims[0] = first > 0 ? min_i64(w->group, out.dims[first - 1] - plane) : 1;
    for (int d = first > 0 ? 0 : 1; d <= w->rank; d++) {
        const int of = first - 1 + d;
        p->out.strides[d] = out.strides[of];
        p->x.strides[d] = x.strides[of];
        if (d == 0)
            continue;
        p->out.dims[d] = out.dims[of];
        p->x.dims[d] = x.dims[of];
        p->window[d] = w->window[of];
    }
    p->out.data += plane * p->out.strides[0] + from * p->out.strides[1];
    p->x.data += plane * p->x.strides[0];
    p->out.dims[1] = min_i64(w->slice, p->out.dims[1] - from);
    p->window[1].pad_low -= from * p->window[1].stride;
}

static void run_part(void *context, int64_t number, int worker)
{
    const struct window_planes *w = context;
    struct plane_part p;
    char *storage = w->memory + (size_t)worker * w->room;
    find_part(w, number, &p);
    find_phases(&p, w->x->dtype, storage);
    copy_phases(&p, &w->filler);
    const int64_t bytes = view_elements(&p.phase) * p.phases * (int64_t)dtype_bytes(w->x->dtype);
    reduce_part(w, &p, storage + bytes);
}

/* Divides the work so that a workspace is NEAR the processor. */
static bool divide(struct window_planes *w, int64_t *tasks)
{
    struct plane_part p;
    int64_t line, elements;
    w->group = w->slice = 1;
    w->groups = w->slices = 1;
    find_part(w, 0, &p);
    find_phases(&p, w->x->dtype, NULL);
    const struct kern_window_dim *first = &p.window[1];
    const int64_t width = (int64_t)dtype_bytes(w->x->dtype), n = w->out->dims[w->outer];
    const int64_t extra = phase_dim(first, 1) - 1; /* elements that adjacent slices share */
    if (!mul_i64(view_elements(&p.phase) / p.dims[1], (p.phases + 1) * width, &line))
        return false;
    w->slice = min_i64(n, max_i64(NEAR / line - extra, 2 * extra + 1));
    w->slices = ratio_up(n, w->slice);
    if (!mul_i64(line, w->slice + extra, &elements))
        return false;
    const int64_t planes = w->outer > 0 ? w->out->dims[w->outer - 1] : 1;
    w->group = w->slices > 1 ? 1 : min_i64(planes, max_i64(NEAR / elements, 1));
    w->groups = ratio_up(planes, w->group);
    w->room = (size_t)(elements * w->group);
    *tasks = w->slices * w->groups;
    for (int d = 0; d < w->outer - 1; d++)
        *tasks *= w->out->dims[d];
    return true;
}

/* Long rows of features need no copy (window_lanes.c). */
static bool has_long_rows(const struct view *out, const struct view *x,
                          const struct kern_window_dim *window)
{
    enum { LONG = 512 }; /* bytes */
    const int last = x->rank - 1;
    const int64_t width = (int64_t)dtype_bytes(x->dtype);
    return window_is_trivial(&window[last], out->dims[last], x->dims[last]) &&
           x->strides[last] == width && out->strides[last] == width &&
           x->dims[last] * width >= LONG;
}

/* Most elements of a phase are the place of a result, and windows have several positions. */
static bool applies(const struct window_planes *w)
{
    double phase = 1, results = 1;
    int64_t phases = 1, places = 1;
    if (w->outer == w->out->rank || !window_places_few(w->out->rank, w->window) ||
        has_long_rows(w->out, w->x, w->window))
        return false;
    for (int d = w->outer; d < w->out->rank; d++) {
        phase *= (double)phase_dim(&w->window[d], w->out->dims[d]);
        results *= (double)w->out->dims[d];
        places *= w->window[d].size;
        if (!mul_i64(phases, w->window[d].stride, &phases) || phases > 2 * WINDOW_PLACES)
            return false;
    }
    return places > 1 && phases <= 2 * places && phase <= 2 * results;
}

bool reduce_window_planes(struct thread_pool *workers, const struct view *out, const struct view *x,
                          const void *init, const struct kern_window_dim *window,
                          enum kern_combine combine)
{
    struct window_planes w = {.out = out, .x = x, .window = window};
    int64_t tasks;
    while (w.outer < x->rank &&
           window_is_trivial(&window[w.outer], out->dims[w.outer], x->dims[w.outer]))
        w.outer++;
    w.rank = x->rank - w.outer;
    if (w.rank + 1 > VIEW_MAX_RANK || !applies(&w) ||
        !combine_identity(combine, x->dtype, &w.filler) ||
        !window_reducer_init(&w.reducer, combine, x->dtype, init) || !divide(&w, &tasks))
        return false;
    w.memory = mem_alloc(w.room * (size_t)thread_pool_size(workers));
    if (!w.memory)
        return false;
    thread_pool_run(workers, tasks, run_part, &w);
    mem_free(w.memory);
    return true;
}
