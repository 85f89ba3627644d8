/*
 * window_planes.c: reduce-window (spec: ReduceWindow) of planes, the dimensions along which windows
 * move and those inside them. A few planes at a time are padded and copied in phases: elements that
 * are a stride of the windows apart become adjacent. Then the elements at one position of all
 * windows form a line, and whole lines are reduced with one lane per result. Results beyond the end
 * of a row are computed and not stored. If windows are long, or have many positions, each dimension
 * is reduced by itself, in logarithmic time: reductions of RADIX positions, of RADIX of these, and
 * so on.
 *
 * Order and accumulation: those of window_lanes.c; of long windows as follows from this, and sums
 * of floats run in double.
 */
#include "kern/window.h"

/* A plane: dimensions 1 to rank - 1; dimension 0 numbers planes. */
struct window_planes {
    const struct view *out, *x;
    const struct kern_window_dim *window; /* of the plane */
    enum dtype type;                      /* of phases and reductions */
    struct window_reducer reducer, inner; /* inner: starts with the filler */
    union kern_element filler, init;      /* of this type; filler: the identity */
    bool any_long;
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

enum {
    NEAR = 128 << 10, /* bytes of a workspace, unless planes need more */
    RADIX = 8         /* number of equal intervals that are combined into a longer one */
};

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
        if (w->base_dilation > 1) { /* element q * base_dilation + shift is x[q] */
            const int64_t step = w->base_dilation, low = shift < 0 ? ratio_up(-shift, step) : 0,
                          limit = to->dims[d] > shift ? ratio_up(to->dims[d] - shift, step) : 0;
            from->dims[d] = min_i64(limit, from->dims[d]) - low;
            if (from->dims[d] <= 0)
                return false;
            from->data += low * from->strides[d];
            to->data += (low * step + shift) * to->strides[d];
            to->strides[d] *= step;
            to->dims[d] = from->dims[d];
            continue;
        }
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
            kern_convert_view(NULL, &to, &from);
        whole.data += elements * (int64_t)dtype_bytes(whole.dtype);
    }
}

/* Whether a dimension is reduced by itself if windows are long. */
static bool is_long(const struct kern_window_dim *w) { return w->size > 1 && w->stride == 1; }

bool window_any_long(int rank, const struct kern_window_dim *window, enum kern_combine combine,
                     enum dtype t)
{
    enum { LONG = 32, MANY = 128 };
    double places = 1;
    bool any = false, any_long = false;
    for (int d = 0; d < rank; d++) {
        any |= is_long(&window[d]);
        any_long |= is_long(&window[d]) && window[d].size >= LONG;
        places *= (double)window[d].size;
    }
    return (any_long || (any && places > MANY)) &&
           !(combine == KERN_MULTIPLY && (dtype_is_float(t) || dtype_is_complex(t)));
}

/* The first element of each position of the windows, row-major, of the first one along long
 * dimensions; returns their number. */
static int find_lines(const struct window_planes *all, const struct plane_part *p,
                      const char **lines)
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
        if (all->any_long && is_long(w))
            continue;
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

/* to[i] = start[i], reduced with from[i] and the elements `step` bytes apart, `count` in all, for
 * i < n. `to` may be `start`, and its elements are written when those after them are not yet. */
static void reduce_apart(const struct reducer *f, char *to, const char *start, const char *from,
                         int64_t step, int64_t count, int64_t n)
{
    char scratch[LOADER_BYTES] __attribute__((aligned(64)));
    const void *rows[RADIX];
    const int64_t width = (int64_t)f->width;
    for (int64_t at = 0, some; at < n * width; at += some * width) {
        some = min_i64(n - at / width, KERN_TILE);
        for (int64_t k = 0; k < count; k++)
            rows[k] = from + at + k * step;
        memcpy(scratch, start + at, (size_t)(some * width));
        reducer_rows(f, scratch, rows, (int)count, some);
        memcpy(to + at, scratch, (size_t)(some * width));
    }
}

/* to[i] = from[i], reduced with the elements `step` bytes apart, `size` in all, for i < n. Changes
 * `from`, to reductions of RADIX elements, then of its square, and so on. */
static void reduce_long(const struct reducer *f, char *to, char *from, int64_t size, int64_t step,
                        int64_t n)
{
    const int64_t distance = step / (int64_t)f->width;
    for (int64_t power = 1, done = 0, digit; done < size; power *= RADIX) {
        digit = size / power % RADIX;
        if (digit > 0 && done == 0)
            reduce_apart(f, to, from, from + power * step, power * step, digit - 1, n);
        else if (digit > 0)
            reduce_apart(f, to, to, from + done * step, power * step, digit, n);
        done += digit * power;
        if (done < size)
            reduce_apart(f, from, from, from + power * step, power * step, RADIX - 1,
                         n + (size - RADIX * power) * distance);
    }
}

/* Reduces n results along long dimensions: from `count` lines to the one that is returned. Lines
 * are in the phases, which are changed, or in `storage`. */
static char *reduce_long_dims(const struct window_planes *w, const struct plane_part *p,
                              const char *const *lines, int count, int64_t n, char *storage)
{
    char *from = p->phase.data, *to = storage, *swap;
    int64_t used = n;
    for (int d = 1; d < p->out.rank; d++)
        if (is_long(&p->window[d]))
            used += (p->window[d].size - 1) * p->window[d].window_dilation * p->phase.strides[d] /
                    (int64_t)dtype_bytes(w->type);
    if (count > 1) {
        window_reducer_run(&w->inner, to, lines, count, used);
        swap = from, from = to, to = swap;
    }
    for (int d = 1; d < p->out.rank; d++) {
        const int64_t step = p->window[d].window_dilation * p->phase.strides[d];
        if (!is_long(&p->window[d]))
            continue;
        used -= (p->window[d].size - 1) * step / (int64_t)dtype_bytes(w->type);
        reduce_long(&w->inner.reducer, to, from, p->window[d].size, step, used);
        swap = from, from = to, to = swap;
    }
    return from;
}

/* Reduces all results of the part, from the first to the last, into a view of the dimensions of a
 * phase; or into the result itself. */
static void reduce_part(const struct window_planes *w, const struct plane_part *p, char *storage)
{
    const char *lines[WINDOW_PLACES];
    const int count = find_lines(w, p, lines);
    int64_t n = 0;
    struct view to = p->out;
    bool direct = view_is_dense(&p->out) && to.dtype == w->type;
    for (int d = 0; d < to.rank; d++) {
        direct &= p->dims[d] == to.dims[d];
        n += (to.dims[d] - 1) * p->phase.strides[d];
        to.strides[d] = p->phase.strides[d];
    }
    n = n / (int64_t)dtype_bytes(w->type) + 1;
    to.dtype = w->type;
    to.data = direct ? p->out.data : storage;
    if (w->any_long) {
        const char *line = reduce_long_dims(w, p, lines, count, n, storage);
        if (line == to.data) /* results must not overwrite what is read */
            to.data = p->phase.data;
        window_reducer_run(&w->reducer, to.data, &line, 1, n);
    } else {
        window_reducer_run(&w->reducer, to.data, lines, count, n);
    }
    if (!direct)
        kern_convert_view(NULL, &p->out, &to);
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
    find_phases(&p, w->type, storage);
    copy_phases(&p, &w->filler);
    const int64_t bytes = view_elements(&p.phase) * p.phases * (int64_t)dtype_bytes(w->type);
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
    find_phases(&p, w->type, NULL);
    const struct kern_window_dim *first = &p.window[1];
    const int64_t width = (int64_t)dtype_bytes(w->type), n = w->out->dims[w->outer];
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
static bool has_long_rows(const struct window_planes *w)
{
    enum { LONG = 128, LONG_CONVERTED = 512 }; /* bytes */
    const int last = w->x->rank - 1;
    const int64_t width = (int64_t)dtype_bytes(w->x->dtype);
    return window_is_trivial(&w->window[last], w->out->dims[last], w->x->dims[last]) &&
           w->x->strides[last] == width && w->out->strides[last] == width &&
           w->x->dims[last] * width >=
               (window_reducer_is_direct(&w->reducer) ? LONG : LONG_CONVERTED);
}

/* Windows have several positions, and what is combined is little more than once all elements for
 * each: most elements of a phase are the place of a result, or windows are long. */
static bool applies(const struct window_planes *w)
{
    double phase = 1, results = 1, passes = 0, inside = 1;
    int64_t phases = 1, places = 1;
    if (w->outer == w->out->rank ||
        (!w->any_long && window_places_few(w->out->rank, w->window) && has_long_rows(w)))
        return false;
    for (int d = w->outer; d < w->out->rank; d++) {
        const struct kern_window_dim *v = &w->window[d];
        const bool by_itself = w->any_long && is_long(v);
        phase *= (double)phase_dim(v, w->out->dims[d]);
        results *= (double)w->out->dims[d];
        inside *= (double)min_i64(v->size, w->x->dims[d]);
        for (int64_t k = 1; by_itself && k < v->size; k *= RADIX)
            passes += RADIX;
        if ((v->base_dilation > 1 && v->stride > 1) || !mul_i64(phases, v->stride, &phases) ||
            phases > 2 * WINDOW_PLACES || (!by_itself && !mul_i64(places, v->size, &places)) ||
            places > WINDOW_PLACES)
            return false;
    }
    if (w->any_long)
        return phase * (passes + (double)(phases + places)) < results * inside;
    return places > 1 && phases <= 2 * places && phase <= 2 * results;
}

static bool find_types(struct window_planes *w, const void *init, enum kern_combine combine)
{
    struct loader start;
    w->any_long = window_any_long(w->x->rank, w->window, combine, w->x->dtype);
    w->type = w->any_long ? combine_work_type(combine, w->x->dtype) : w->x->dtype;
    loader_init(&start, w->type, w->x->dtype);
    memcpy(&w->init, loader_read(&start, &w->filler, init, 0, 1), dtype_bytes(w->type));
    return combine_identity(combine, w->type, &w->filler) &&
           window_reducer_init(&w->reducer, combine, w->type, &w->init) &&
           window_reducer_init(&w->inner, combine, w->type, &w->filler);
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
    if (w.rank + 1 > VIEW_MAX_RANK || !find_types(&w, init, combine) || !applies(&w) ||
        !divide(&w, &tasks))
        return false;
    w.memory = mem_alloc(w.room * (size_t)thread_pool_size(workers));
    if (!w.memory)
        return false;
    thread_pool_run(workers, tasks, run_part, &w);
    mem_free(w.memory);
    return true;
}
