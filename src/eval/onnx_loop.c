/*
 * onnx_loop.c: ONNX's operator Loop: custom calls to onnx.Loop (grammar/values.md 18).
 *
 * Arguments and results of the body share one row of values: [iteration, condition, carried...,
 * scanned...]. The arguments start at the first, the results at the second, so that carried values
 * stay in place, and values that the body passes on unchanged are not copied. Scan outputs are
 * allocated with their final length where it is known in advance, and otherwise grow by doubling:
 * the cost of a loop depends on its actual iterations, not on their maximum.
 */
#include "eval/eval_priv.h"

enum { FIRST_BYTES = 1 << 16 }; /* initial size of a scan output that grows */

struct scan {
    struct value rows; /* all allocated rows */
    int64_t capacity;  /* number of allocated rows */
    size_t row_bytes;
};

struct onnx_run {
    const struct function *body;
    struct value *row; /* iteration, condition, carried leaves, scanned leaves */
    struct scan *scans;
    int carried, scanned; /* numbers of leaves */
    bool has_count, has_condition;
    bool go;             /* the condition; true if the loop has none */
    int64_t count, done; /* maximum number of iterations, from M; iterations done */
    /* iteration number, passed to the body; the condition, if the loop has none */
    struct value number, always;
};

/* ---- sizes ---- */

static bool check_dim(struct eval *ev, const struct step *s, const char *what, int number, int d,
                      int64_t size, const struct shape *to)
{
    if (shape_dim_dynamic(to, d))
        return size <= to->dims[d] ||
               EVAL_FAIL(ev, s, LOOP_BOUND, what, number, size, d, to->dims[d]);
    return size == to->dims[d] || EVAL_FAIL(ev, s, LOOP_SIZE, what, number, size, d, to->dims[d]);
}

/* The index of the carried value that leaf k belongs to. */
static int carried_number(const struct step *s, const struct onnx_run *l, int k)
{
    int heads = l->has_count + l->has_condition, j = 0;
    while (s->starts[heads + j + 1] - heads <= k)
        j++;
    return j;
}

static bool same_bounds(const int64_t *bounds, const struct shape *to)
{
    return bounds == to->dims || memcmp(bounds, to->dims, (size_t)to->rank * sizeof *bounds) == 0;
}

/* Sets the shape of carried leaf k; its contents stay in place. */
static bool fit(struct eval *ev, const struct step *s, struct onnx_run *l, int k,
                const struct shape *to)
{
    struct value *v = &l->row[2 + k];
    for (int d = 0; d < to->rank; d++)
        if (v->view.dims[d] != to->dims[d] &&
            !check_dim(ev, s, "carried value", carried_number(s, l, k), d, v->view.dims[d], to))
            return false;
    value_fit(v, to, v->bounds && v->padded && same_bounds(v->bounds, to));
    return true;
}

static bool fit_carried(struct eval *ev, const struct step *s, struct onnx_run *l,
                        const struct shape *const *to)
{
    for (int k = 0; k < l->carried; k++)
        if (!fit(ev, s, l, k, to[k]))
            return false;
    return true;
}

/* ---- scan outputs ---- */

static const struct shape *scan_shape(const struct step *s, const struct onnx_run *l, int j)
{
    return s->shapes[l->carried + j];
}

/* The maximum number of rows of a scan output. */
static int64_t most_rows(const struct step *s, const struct onnx_run *l, int j)
{
    int64_t bound = scan_shape(s, l, j)->dims[0];
    return l->has_count && l->count < bound ? l->count : bound;
}

/* The exact number of rows, if no condition can end the loop early; else the next larger
 * capacity. */
static int64_t next_capacity(const struct step *s, const struct onnx_run *l, int j)
{
    const struct scan *scan = &l->scans[j];
    int64_t max = most_rows(s, l, j), first = FIRST_BYTES / (int64_t)(scan->row_bytes + 1) + 1;
    int64_t rows = scan->capacity > 0 ? 2 * scan->capacity : first;
    return rows > max || (l->has_count && !l->has_condition) ? max : rows;
}

static bool grow(struct eval *ev, const struct step *s, struct onnx_run *l, int j)
{
    struct scan *scan = &l->scans[j];
    struct view *v = &scan->rows.view;
    int64_t dims[VIEW_MAX_RANK], rows = next_capacity(s, l, j);
    memcpy(dims, v->dims, (size_t)v->rank * sizeof *dims);
    dims[0] = rows;
    struct value bigger;
    if (!value_new(ev, &bigger, v->dtype, v->rank, dims))
        return eval_no_memory(ev, s, scan_shape(s, l, j));
    if (l->done > 0)
        memcpy(bigger.view.data, v->data, (size_t)l->done * scan->row_bytes);
    value_drop(ev, &scan->rows);
    value_move(&scan->rows, &bigger);
    scan->capacity = rows;
    return true;
}

/* The first element determines the dimensions of all others. */
static bool begin_scan(struct eval *ev, const struct step *s, struct onnx_run *l, int j, int rank,
                       const int64_t *dims)
{
    struct scan *scan = &l->scans[j];
    const struct shape *to = scan_shape(s, l, j);
    struct view *v = &scan->rows.view;
    for (int d = 0; d < rank; d++) {
        if (!check_dim(ev, s, "scan output", j, d + 1, dims[d], to))
            return false;
        v->dims[d + 1] = dims[d];
    }
    scan->row_bytes = (size_t)dims_elements(rank, dims) * dtype_bytes(to->dtype);
    v->dtype = to->dtype;
    v->rank = rank + 1;
    return true;
}

static bool same_element(struct eval *ev, const struct step *s, struct onnx_run *l, int j,
                         const int64_t *dims)
{
    const struct view *rows = &l->scans[j].rows.view;
    for (int d = 0; d + 1 < rows->rank; d++)
        if (dims[d] != rows->dims[d + 1])
            return EVAL_FAIL(ev, s, LOOP_SCAN_CHANGES, j, dims[d], d, rows->dims[d + 1]);
    return true;
}

/* The address of the next element, which has these dimensions; NULL with a message. */
static char *next_row(struct eval *ev, const struct step *s, struct onnx_run *l, int j, int rank,
                      const int64_t *dims)
{
    struct scan *scan = &l->scans[j];
    bool ok = l->done == 0 ? begin_scan(ev, s, l, j, rank, dims) : same_element(ev, s, l, j, dims);
    if (!ok || (l->done == scan->capacity && !grow(ev, s, l, j)))
        return NULL;
    return scan->rows.view.data + (size_t)l->done * scan->row_bytes;
}

static bool append(struct eval *ev, const struct step *s, struct onnx_run *l, int j)
{
    struct scan *scan = &l->scans[j];
    struct value *x = &l->row[2 + l->carried + j];
    char *at = next_row(ev, s, l, j, x->view.rank, x->view.dims);
    if (!at)
        return false;
    if (x->view.rank == 0) {
        memcpy(at, x->view.data, scan->row_bytes);
    } else {
        struct view row;
        view_dense(&row, x->view.dtype, x->view.rank, x->view.dims, at);
        EVAL_RUN(ev, copy, ev->workers, &row, &x->view);
    }
    value_drop(ev, x);
    return true;
}

static bool append_all(struct eval *ev, const struct step *s, struct onnx_run *l)
{
    for (int j = 0; j < l->scanned; j++)
        if (!append(ev, s, l, j))
            return false;
    return true;
}

/* Whether all scan outputs have space for one more iteration. */
static bool check_capacity(struct eval *ev, const struct step *s, struct onnx_run *l)
{
    for (int j = 0; j < l->scanned; j++)
        if (l->done >= scan_shape(s, l, j)->dims[0])
            return check_dim(ev, s, "scan output", j, 0, l->done + 1, scan_shape(s, l, j));
    return true;
}

static bool check_lengths(struct eval *ev, const struct step *s, struct onnx_run *l, int64_t length)
{
    for (int j = 0; j < l->scanned; j++)
        if (!check_dim(ev, s, "scan output", j, 0, length, scan_shape(s, l, j)))
            return false;
    return true;
}

/* ---- the loop ---- */

static bool new_scalar(struct eval *ev, const struct step *s, struct value *v, enum dtype t)
{
    return value_new(ev, v, t, 0, NULL) || eval_no_memory(ev, s, s->inst->shape);
}

/* Sets the iteration number, in its previous storage unless the body has kept that. */
static bool set_number(struct eval *ev, const struct step *s, struct onnx_run *l)
{
    if (l->number.buffer && l->number.buffer->refs > 1)
        value_drop(ev, &l->number);
    if (!l->number.buffer && !new_scalar(ev, s, &l->number, DT_S64))
        return false;
    memcpy(l->number.view.data, &l->done, sizeof l->done);
    value_share(&l->row[0], &l->number);
    return true;
}

/* Sets the condition to the body's result. A loop without a condition ignores it. */
static void set_condition(struct eval *ev, struct onnx_run *l)
{
    if (l->has_condition) {
        l->go = *l->row[1].view.data != 0;
    } else {
        value_drop(ev, &l->row[1]);
        value_share(&l->row[1], &l->always);
    }
}

static bool begin(struct eval *ev, const struct step *s, struct onnx_run *l)
{
    int n = l->carried + l->scanned, heads = l->has_count + l->has_condition;
    l->row = ARENA_ARRAY(&ev->scratch, struct value, n + 2);
    l->scans = ARENA_ARRAY(&ev->scratch, struct scan, l->scanned);
    if (l->has_count)
        memcpy(&l->count, eval_view(ev, s, 0)->data, sizeof l->count);
    if (l->count < 0)
        l->count = 0;
    if (!new_scalar(ev, s, &l->always, DT_PRED))
        return false;
    *l->always.view.data = 1;
    if (l->has_condition)
        eval_hand_over(ev, s, heads - 1, &l->row[1]);
    l->go = true;
    set_condition(ev, l);
    for (int k = 0; k < l->carried; k++)
        eval_hand_over(ev, s, heads + k, &l->row[2 + k]);
    return !l->has_count || l->has_condition ||
           check_lengths(ev, s, l, l->count); /* known in advance */
}

/* Whether there is another iteration; charges it to the budget. */
static bool next(struct eval *ev, const struct step *s, struct onnx_run *l, bool *ok)
{
    if (!l->go || (l->has_count && l->done >= l->count))
        return false;
    eval_in_iteration(ev, s, l->done);
    *ok = (eval_trip(ev, l->done) || eval_limit(ev, s)) && check_capacity(ev, s, l);
    return *ok;
}

static bool run(struct eval *ev, const struct step *s, struct onnx_run *l)
{
    bool ok = true;
    while (next(ev, s, l, &ok)) {
        if (!set_number(ev, s, l) || !fit_carried(ev, s, l, l->body->param_shapes + 2) ||
            !eval_function(ev, l->body, l->row, l->row + 1) || !append_all(ev, s, l))
            return false;
        set_condition(ev, l);
        l->done++;
    }
    return ok;
}

/* ---- the loop with a body in scalar code ---- */

/* Carried values are read and written in place, scan outputs at their final addresses. */
static bool run_scalar(struct eval *ev, const struct step *s, struct onnx_run *l)
{
    const void **args = ARENA_ARRAY(&ev->scratch, const void *, l->carried + 2);
    void **results = ARENA_ARRAY(&ev->scratch, void *, 1 + l->carried + l->scanned);
    const struct shape *const *shapes = l->body->result_shapes;
    uint8_t keep = 1, condition;
    args[0] = &l->done;
    args[1] = &keep;
    results[0] = &condition;
    for (int k = 0; k < l->carried; k++) {
        if (!value_make_dense(ev, &l->row[2 + k], true))
            return eval_no_memory(ev, s, s->inst->shape);
        args[2 + k] = results[1 + k] = l->row[2 + k].view.data;
    }
    bool ok = true;
    while (next(ev, s, l, &ok)) {
        for (int j = 0, at = 1 + l->carried; j < l->scanned; j++, at++) {
            results[at] = next_row(ev, s, l, j, shapes[at]->rank, shapes[at]->dims);
            if (!results[at])
                return false;
        }
        unsigned errors = ev->ds->errors;
        if (!scalar_call(eval_scalar_frame(ev, l->body->code), args, results))
            return eval_kernel_failed(ev, s, errors);
        if (l->has_condition) {
            keep = condition;
            l->go = condition != 0;
        }
        l->done++;
    }
    return ok;
}

/* ---- results and entry point ---- */

/* Without any iteration, a scan output has the declared dimensions and zero rows. */
static bool finish_scan(struct eval *ev, const struct step *s, struct onnx_run *l, int j)
{
    struct value *out = &ev->frame[s->results[l->carried + j]];
    const struct shape *to = scan_shape(s, l, j);
    if (l->done == 0) {
        int64_t dims[VIEW_MAX_RANK] = {0};
        for (int d = 1; d < to->rank; d++)
            dims[d] = to->dims[d];
        if (!value_new(ev, out, to->dtype, to->rank, dims))
            return eval_no_memory(ev, s, to);
    } else {
        value_move(out, &l->scans[j].rows);
        out->view.dims[0] = l->done;
    }
    value_fit(out, to, false);
    return true;
}

static bool finish(struct eval *ev, const struct step *s, struct onnx_run *l)
{
    value_drop(ev, &l->number);
    value_drop(ev, &l->always);
    value_drop(ev, &l->row[1]);
    if (!fit_carried(ev, s, l, s->shapes) || !check_lengths(ev, s, l, l->done))
        return false;
    for (int k = 0; k < l->carried; k++)
        value_move(&ev->frame[s->results[k]], &l->row[2 + k]);
    for (int j = 0; j < l->scanned; j++)
        if (!finish_scan(ev, s, l, j))
            return false;
    return true;
}

bool eval_onnx_loop(struct eval *ev, const struct step *s)
{
    struct arena_mark mark = arena_mark(&ev->scratch);
    struct onnx_run l = {.body = s->callees[0]};
    l.has_count = s->as.call.loop->has_count;
    l.has_condition = s->as.call.loop->has_condition;
    l.carried = l.body->param_count - 2;
    l.scanned = l.body->result_count - 1 - l.carried;
    bool ok = begin(ev, s, &l) && (l.body->code ? run_scalar(ev, s, &l) : run(ev, s, &l)) &&
              finish(ev, s, &l);
    arena_release(&ev->scratch, mark);
    return ok;
}
