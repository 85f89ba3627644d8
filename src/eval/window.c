/*
 * window.c: reduce-window and select-and-scatter: windows that slide over an array.
 */
#include "eval/eval_priv.h"

void eval_window_dims(const struct inst *i, int rank, struct kern_window_dim *out)
{
    struct window w = inst_window(i);
    for (int d = 0; d < rank; d++) {
        out[d] = (struct kern_window_dim){1, 1, 0, 0, 1, 1, false};
        if (d < w.rank)
            out[d] = (struct kern_window_dim){
                w.dims[d].size,     w.dims[d].stride,        w.dims[d].pad_low,
                w.dims[d].pad_high, w.dims[d].base_dilation, w.dims[d].window_dilation,
                w.dims[d].reversal,
            };
    }
}

static bool reduce_window(struct eval *ev, const struct step *s)
{
    int n = s->operand_count / 2;
    struct kern_window_dim window[VIEW_MAX_RANK];
    struct bound_body context;
    struct kern_body body = eval_bind(ev, s->bodies, &context);
    eval_window_dims(s->inst, s->shapes[0]->rank, window);
    const void *const *init = eval_inits(ev, s, n, n, s->bodies->args);
    struct view *x = init ? eval_views(ev, s, 0, n) : NULL, *out = x ? eval_results(ev, s) : NULL;
    unsigned errors = ev->ds->errors;
    if (out && eval_is_dry_run(ev))
        return dry_run_body(&body);
    return out && (ev->p->kern->reduce_window(ev->workers, n, out, x, init, s->bodies->args, window,
                                              &body) ||
                   eval_kernel_failed(ev, s, errors));
}

static bool select_and_scatter(struct eval *ev, const struct step *s)
{
    struct kern_window_dim window[VIEW_MAX_RANK];
    struct bound_body select_context, scatter_context;
    struct kern_body select = eval_bind(ev, &s->bodies[0], &select_context);
    struct kern_body scatter = eval_bind(ev, &s->bodies[1], &scatter_context);
    struct value made;
    eval_window_dims(s->inst, s->shapes[0]->rank, window);
    const void *const *init = eval_inits(ev, s, 2, 1, s->bodies[1].args);
    const struct view *source = init ? eval_as_type(ev, s, 1, s->shapes[0]->dtype, &made) : NULL;
    struct view *out = source ? eval_result(ev, s, 0) : NULL;
    unsigned errors = ev->ds->errors;
    if (!out)
        return false;
    bool ok = eval_is_dry_run(ev)
                  ? dry_run_body(&select) && dry_run_body(&scatter)
                  : ev->p->kern->select_and_scatter(ev->workers, out, eval_view(ev, s, 0), source,
                                                    init[0], window, &select, &scatter);
    value_drop(ev, &made);
    return ok || eval_kernel_failed(ev, s, errors);
}

bool eval_window(struct eval *ev, const struct step *s)
{
    struct arena_mark mark = arena_mark(&ev->scratch);
    bool ok =
        s->inst->opcode == OP_REDUCE_WINDOW ? reduce_window(ev, s) : select_and_scatter(ev, s);
    arena_release(&ev->scratch, mark);
    return ok;
}
