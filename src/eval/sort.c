/*
 * Sorting, and the k best.
 */
#include "eval/eval_priv.h"

/* A negative dimension counts from behind, as in StableHLO; XLA's verifier lets every one pass. */
static bool sort_dimension(struct eval *ev, const struct step *s, int *out)
{
    int64_t d = inst_ints(s->inst, A_DIMENSIONS).at[0], rank = s->shapes[0]->rank;
    *out = (int)(d < 0 ? d + rank : d);
    return (d >= -rank && d < rank) ||
           EVAL_FAIL(ev, s, UNSUPPORTED, op_spelling(s->inst->opcode),
                     arena_printf(&ev->ds->arena, "dimension %" PRId64, d).ptr);
}

static bool run_sort(struct eval *ev, const struct step *s)
{
    int n = s->operand_count, dimension;
    if (!sort_dimension(ev, s, &dimension))
        return false;
    struct bound_body context;
    struct kern_comparator less = eval_bind_order(ev, s->bodies, &context);
    struct view *x = eval_views(ev, s, 0, n), *out = eval_results(ev, s);
    unsigned errors = ev->ds->errors;
    return out && (ev->kern->sort(n, out, x, dimension, &less) ||
                   eval_kernel_failed(ev, s, errors));
}

bool eval_topk(struct eval *ev, const struct step *s, bool largest)
{
    const struct view *x = eval_view(ev, s, 0);
    const struct shape *values = s->shapes[0];
    const int64_t *dims = eval_dims(ev, s, 0);
    if (s->result_count != 2 || x->rank == 0 || values->rank != x->rank || s->shapes[1]->dtype != DT_S32 ||
        values->dtype != x->dtype || dims[x->rank - 1] > x->dims[x->rank - 1])
        return eval_unsupported(ev, s);
    struct view *out = eval_result(ev, s, 0), *where = out ? eval_result(ev, s, 1) : NULL;
    return where && (ev->kern->topk(out, where, x, dims[x->rank - 1], largest) ||
                     eval_no_memory(ev, s, values));
}

bool eval_sort(struct eval *ev, const struct step *s)
{
    if (s->inst->opcode == OP_TOPK)
        return eval_topk(ev, s, inst_bool(s->inst, A_LARGEST));
    struct arena_mark mark = arena_mark(&ev->scratch);
    bool ok = run_sort(ev, s);
    arena_release(&ev->scratch, mark);
    return ok;
}
