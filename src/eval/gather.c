/*
 * gather.c: gather and scatter: windows of an array at indices from another array.
 */
#include "eval/eval_priv.h"

int eval_gather_kept(const struct kern_gather_dims *d, int rank, int64_t *kept)
{
    int n = 0;
    for (int k = 0; k < rank; k++)
        if (!i64_in(d->collapsed, d->collapsed_count, k) &&
            !i64_in(d->operand_batching, d->batching_count, k))
            kept[n++] = k;
    return n;
}

static bool batching_is_valid(struct eval *ev, const struct step *s,
                              const struct kern_gather_dims *d, const struct shape *array,
                              const struct shape *indices)
{
    for (int k = 0; k < d->batching_count; k++) {
        const char *problem = plan_batching_problem(d, k, array, indices);
        if (problem)
            return EVAL_FAIL(ev, s, BATCHING_DIMENSION, d->operand_batching[k],
                             op_spelling(s->inst->opcode), problem);
    }
    return true;
}

/* The array of indices, or those of their components, which the planner has separated. */
static const struct view *index_views(struct eval *ev, const struct step *s, int first,
                                      struct kern_gather_dims *d)
{
    const int count = s->operand_count - s->inst->operand_count + 1;
    if (count == 1)
        return eval_view(ev, s, first);
    struct view *v = ARENA_ARRAY(&ev->scratch, struct view, count);
    for (int k = 0; k < count; k++)
        view_copy(&v[k], eval_view(ev, s, first + k));
    d->component_count = count;
    return v;
}

/* Windows at equal distances are a view of the operand. */
static bool view_windows(struct eval *ev, const struct step *s, const struct window_step *w)
{
    const struct view *x = eval_view(ev, s, 0);
    struct view v;
    view_dense(&v, x->dtype, s->shapes[0]->rank, eval_dims(ev, s, 0), x->data);
    for (int d = 0; d < x->rank; d++)
        v.data += w->start[d] * x->strides[d];
    for (int r = 0; r < v.rank; r++) {
        v.strides[r] = 0;
        for (int d = 0; d < x->rank && v.dims[r] > 1; d++)
            v.strides[r] += w->steps[r * x->rank + d] * x->strides[d];
    }
    return eval_piece(ev, s, 0, 0, &v);
}

static bool run_gather(struct eval *ev, const struct step *s)
{
    if (step_window(s))
        return view_windows(ev, s, step_window(s));
    struct kern_gather_dims d;
    int64_t kept[VIEW_MAX_RANK];
    plan_gather_dims(s->inst, &d);
    if (!batching_is_valid(ev, s, &d, s->inst->operands[0]->shape, s->inst->operands[1]->shape))
        return false;
    if (ev->sizes) { /* a window is at most as large as the actual array */
        const struct view *x = eval_view(ev, s, 0);
        for (int n = eval_gather_kept(&d, x->rank, kept), k = 0; k < n; k++)
            if (d.slice_sizes[kept[k]] > x->dims[kept[k]])
                d.slice_sizes[kept[k]] = x->dims[kept[k]];
    }
    struct view *out = eval_result(ev, s, 0);
    if (out)
        EVAL_RUN(ev, gather, ev->workers, out, eval_view(ev, s, 0), index_views(ev, s, 1, &d), &d);
    return out != NULL;
}

static bool run_scatter(struct eval *ev, const struct step *s)
{
    int n = s->inst->operand_count / 2;
    struct kern_gather_dims dims;
    struct bound_body context;
    struct kern_body body = eval_bind(ev, s->bodies, &context);
    struct view *out = ARENA_ARRAY(&ev->scratch, struct view, n);
    struct view *updates = ARENA_ARRAY(&ev->scratch, struct view, n);
    struct value *made = ARENA_ARRAY(&ev->scratch, struct value, n);
    plan_gather_dims(s->inst, &dims);
    if (!batching_is_valid(ev, s, &dims, s->inst->operands[0]->shape, s->inst->operands[n]->shape))
        return false;
    for (int k = 0; k < n; k++) {
        const struct view *v =
            eval_as_type(ev, s, s->operand_count - n + k, s->shapes[k]->dtype, &made[k]);
        if (!v)
            return false;
        view_copy(&updates[k], v);
        v = eval_update(ev, s, k, k);
        if (!v)
            return false;
        view_copy(&out[k], v);
    }
    unsigned errors = ev->ds->errors;
    const struct view *indices = index_views(ev, s, n, &dims);
    bool ok = eval_is_dry_run(ev)
                  ? dry_run_body(&body)
                  : ev->p->kern->scatter(ev->workers, n, out, indices, updates, &dims, &body);
    for (int k = 0; k < n; k++)
        value_drop(ev, &made[k]);
    return ok || eval_kernel_failed(ev, s, errors);
}

bool eval_gather(struct eval *ev, const struct step *s)
{
    struct arena_mark mark = arena_mark(&ev->scratch);
    bool ok = s->inst->opcode == OP_GATHER ? run_gather(ev, s) : run_scatter(ev, s);
    arena_release(&ev->scratch, mark);
    return ok;
}
