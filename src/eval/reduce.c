/*
 * reduce.c: reduce and scan.
 */
#include "eval/eval_priv.h"

/* The initial values, one element per operand, in the body's accumulator type; in the scratch
 * arena. */
const void *const *eval_inits(struct eval *ev, const struct step *s, int first, int n,
                              const enum dtype *types)
{
    const void **init = ARENA_ARRAY(&ev->scratch, const void *, n);
    for (int k = 0; k < n; k++) {
        const struct view *x = eval_view(ev, s, first + k);
        void *at = arena_zalloc(&ev->scratch, sizeof(struct c128));
        kern_tile_fn *fn = x->dtype == types[k] ? NULL : kern_find_convert(types[k], x->dtype);
        init[k] = at;
        if (eval_is_dry_run(ev))
            continue;
        if (fn)
            fn(at, (const void *const[]){x->data}, 1);
        else if (x->dtype == types[k])
            memcpy(at, x->data, dtype_bytes(types[k]));
        else
            return eval_unsupported(ev, s), NULL;
    }
    return init;
}

struct view *eval_views(struct eval *ev, const struct step *s, int first, int n)
{
    struct view *v = ARENA_ARRAY(&ev->scratch, struct view, n);
    for (int k = 0; k < n; k++)
        view_copy(&v[k], eval_view(ev, s, first + k));
    return v;
}

struct view *eval_results(struct eval *ev, const struct step *s)
{
    struct view *v = ARENA_ARRAY(&ev->scratch, struct view, s->result_count);
    for (int r = 0; r < s->result_count; r++) {
        struct view *out = eval_result(ev, s, r);
        if (!out)
            return NULL;
        view_copy(&v[r], out);
    }
    return v;
}

static bool run_reduce(struct eval *ev, const struct step *s)
{
    int n = s->operand_count / 2;
    struct ints dims = inst_ints(s->inst, A_DIMENSIONS);
    bool reduced[VIEW_MAX_RANK] = {false};
    struct bound_body context;
    struct kern_body body = eval_bind(ev, s->bodies, &context);
    for (int64_t d = 0; d < dims.count; d++)
        reduced[dims.at[d]] = true;
    const void *const *init = eval_inits(ev, s, n, n, s->bodies->args);
    struct view *x = init ? eval_views(ev, s, 0, n) : NULL, *out = x ? eval_results(ev, s) : NULL;
    if (out && eval_reports_choices(ev))
        dry_run_report_choice(ev, kern_reduce_choice(n, out, x, s->bodies->args, reduced, &body),
                              0);
    unsigned errors = ev->ds->errors;
    if (out && eval_is_dry_run(ev))
        return dry_run_body(&body);
    return out &&
           (ev->p->kern->reduce(ev->workers, n, out, x, init, s->bodies->args, reduced, &body) ||
            eval_kernel_failed(ev, s, errors));
}

/* ---- scan: grammar/values.md 12.4 ---- */

struct scan {
    const struct function *f;
    int inputs, carries, outputs;
    int64_t dimension, length;
    struct value *values; /* arguments of the function, then its results */
};

static void slice_at(struct view *v, const struct view *x, int64_t dimension, int64_t t)
{
    view_copy(v, x);
    v->data += t * x->strides[dimension];
    for (int d = (int)dimension; d + 1 < x->rank; d++) {
        v->dims[d] = x->dims[d + 1];
        v->strides[d] = x->strides[d + 1];
    }
    v->rank--;
}

/* Copies piece t of a result into place. Pieces may be smaller than their space: then the result is
 * cut to the smallest. */
static void view_piece(struct eval *ev, struct view *whole, const struct view *piece,
                       int64_t dimension, int64_t t)
{
    struct view out, x;
    for (int d = 0; d < piece->rank; d++)
        if (whole->dims[d + (d >= dimension)] > piece->dims[d])
            whole->dims[d + (d >= dimension)] = piece->dims[d];
    slice_at(&out, whole, dimension, t);
    view_copy(&x, piece);
    for (int d = 0; d < piece->rank; d++)
        x.dims[d] = out.dims[d];
    EVAL_RUN(ev, copy, ev->workers, &out, &x);
}

static bool scan_step(struct eval *ev, const struct step *s, const struct scan *c, int64_t t)
{
    for (int k = 0; k < c->inputs; k++) {
        struct value *x = eval_operand(ev, s, k);
        c->values[k].buffer = x->buffer;
        x->buffer->refs++;
        slice_at(&c->values[k].view, &x->view, c->dimension, t);
        value_fit(&c->values[k], c->f->param_shapes[k], false);
    }
    if (!eval_function(ev, c->f, c->values, c->values))
        return false;
    for (int k = 0; k < c->outputs; k++) {
        view_piece(ev, &ev->frame[s->results[k]].view, &c->values[k].view, c->dimension, t);
        value_drop(ev, &c->values[k]);
    }
    /* Carries follow the outputs; the body reads them after the inputs, so they must be moved. */
    if (c->outputs > c->inputs)
        for (int k = 0; k < c->carries; k++)
            value_move(&c->values[c->inputs + k], &c->values[c->outputs + k]);
    else if (c->outputs < c->inputs)
        for (int k = c->carries - 1; k >= 0; k--)
            value_move(&c->values[c->inputs + k], &c->values[c->outputs + k]);
    return true;
}

static bool has_empty_results(const struct step *s)
{
    for (int r = 0; r < s->result_count; r++)
        if (dims_elements(s->shapes[r]->rank, s->shapes[r]->dims) != 0)
            return false;
    return true;
}

/* The number of iterations to run: at most two in a dry run, and one if nothing comes of them. */
static int64_t scan_iterations(const struct eval *ev, const struct step *s, const struct scan *c)
{
    const int64_t most = eval_is_dry_run(ev) ? 2 : c->length;
    return c->length > 1 && !c->f->has_effect && has_empty_results(s) ? 1
                                                                      : min_i64(most, c->length);
}

static bool run_scan(struct eval *ev, const struct step *s)
{
    struct scan c = {.f = s->callees[0], .dimension = inst_ints(s->inst, A_DIMENSIONS).at[0]};
    c.carries = (int)inst_int(s->inst, A_NUM_CARRIES, 0);
    c.inputs = s->operand_count - c.carries;
    c.outputs = s->result_count - c.carries;
    if (c.inputs < 0 || c.outputs < 0 || (c.inputs == 0 && c.outputs == 0))
        return eval_unsupported(ev, s);
    c.length =
        c.inputs > 0 ? eval_view(ev, s, 0)->dims[c.dimension] : eval_dims(ev, s, 0)[c.dimension];
    c.values = ARENA_ARRAY(&ev->scratch, struct value, s->operand_count + s->result_count);
    for (int k = 0; k < c.carries; k++)
        eval_hand_over(ev, s, c.inputs + k, &c.values[c.inputs + k]);
    for (int k = 0; k < c.outputs; k++)
        if (!eval_result(ev, s, k))
            return false;
    c.length = scan_iterations(ev, s, &c);
    bool reverse = inst_bool(s->inst, A_IS_REVERSE);
    for (int64_t t = 0; t < c.length; t++) {
        eval_in_iteration(ev, s, t);
        if (!scan_step(ev, s, &c, reverse ? c.length - 1 - t : t))
            return false;
    }
    for (int k = 0; k < c.carries; k++)
        value_move(&ev->frame[s->results[c.outputs + k]], &c.values[c.inputs + k]);
    for (int k = 0; k < c.outputs; k++)
        value_fit(&ev->frame[s->results[k]], s->shapes[k], false);
    return true;
}

bool eval_reduce(struct eval *ev, const struct step *s)
{
    struct arena_mark mark = arena_mark(&ev->scratch);
    bool ok = s->inst->opcode == OP_SCAN ? run_scan(ev, s) : run_reduce(ev, s);
    arena_release(&ev->scratch, mark);
    return ok;
}
