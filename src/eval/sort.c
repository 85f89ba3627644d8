/*
 * sort.c: sort and topk.
 */
#include "eval/eval_priv.h"

static bool sort_dimension(struct eval *ev, const struct step *s, int *out)
{
    return inst_sort_dimension(s->inst, out) ||
           EVAL_FAIL(ev, s, UNSUPPORTED, op_spelling(s->inst->opcode),
                     arena_printf(&ev->ds->arena, "dimension %" PRId64,
                                  inst_ints(s->inst, A_DIMENSIONS).at[0])
                         .ptr);
}

static bool call_sort(struct eval *ev, int n, const struct view *out, const struct view *x,
                      int dimension, const struct kern_comparator *less)
{
    return eval_is_dry_run(ev) ? dry_run_order(less)
                               : ev->p->kern->sort(ev->workers, n, out, x, dimension, less);
}

static bool run_sort(struct eval *ev, const struct step *s)
{
    int n = s->operand_count, dimension;
    if (!sort_dimension(ev, s, &dimension))
        return false;
    struct bound_body context;
    struct kern_comparator less = eval_bind_order(ev, s->bodies, &context);
    struct view *x = eval_views(ev, s, 0, n), *out = eval_results(ev, s);
    if (out && eval_reports_choices(ev)) {
        size_t workspace;
        const char *choice = kern_sort_choice(ev->workers, n, out, x, dimension, &less, &workspace);
        dry_run_report_choice(ev, choice, workspace);
    }
    unsigned errors = ev->ds->errors;
    return out && (call_sort(ev, n, out, x, dimension, &less) || eval_kernel_failed(ev, s, errors));
}

/* The verifier does not check the shapes of the custom call. */
static bool topk_fits(struct eval *ev, const struct step *s)
{
    if (s->operand_count < 1 || s->operands[0] == NO_VALUE || s->result_count != 2)
        return false;
    const struct view *x = eval_view(ev, s, 0);
    const struct shape *values = s->shapes[0], *where = s->shapes[1];
    int last = x->rank - 1;
    if (x->rank == 0 || values->rank != x->rank || where->rank != x->rank ||
        values->dtype != x->dtype || where->dtype != DT_S32)
        return false;
    const int64_t *dims = eval_dims(ev, s, 0), *places = eval_dims(ev, s, 1);
    for (int d = 0; d <= last; d++)
        if (places[d] != dims[d] || (d < last && dims[d] != x->dims[d]))
            return false;
    return dims[last] <= x->dims[last];
}

bool eval_topk(struct eval *ev, const struct step *s, bool largest)
{
    if (!topk_fits(ev, s))
        return eval_unsupported(ev, s);
    const struct view *x = eval_view(ev, s, 0);
    const struct shape *values = s->shapes[0];
    const int64_t *dims = eval_dims(ev, s, 0);
    struct view *out = eval_result(ev, s, 0), *where = out ? eval_result(ev, s, 1) : NULL;
    return where && (EVAL_TRY(ev, topk, ev->workers, out, where, x, dims[x->rank - 1], largest) ||
                     eval_no_memory(ev, s, values));
}

/* ---- PartialReduce: the first step of an approximate top-k ---- */

/* The dimension that becomes shorter; the last one if none does; -1 if the shapes do not fit. */
static int shorter_dimension(const struct view *x, const struct shape *out)
{
    int found = x->rank - 1;
    if (x->rank != out->rank || x->dtype != out->dtype)
        return -1;
    for (int d = x->rank - 1; d >= 0; d--)
        if (x->dims[d] > out->dims[d])
            found = d;
    for (int d = 0; d < x->rank; d++)
        if (d != found && x->dims[d] != out->dims[d])
            return -1;
    return x->rank > 0 && x->dims[found] >= out->dims[found] ? found : -1;
}

static bool run_partial_reduce(struct eval *ev, const struct step *s, int dimension,
                               struct value *sorted)
{
    int n = s->result_count;
    struct bound_body context;
    struct kern_comparator less = eval_bind_order(ev, s->bodies, &context);
    struct view *x = eval_views(ev, s, 0, n), *all = ARENA_ARRAY(&ev->scratch, struct view, n);
    unsigned errors = ev->ds->errors;
    for (int k = 0; k < n; k++) {
        if (!value_new(ev, &sorted[k], x[k].dtype, x[k].rank, x[k].dims))
            return eval_no_memory(ev, s, s->shapes[k]);
        view_copy(&all[k], &sorted[k].view);
    }
    if (!call_sort(ev, n, all, x, dimension, &less))
        return eval_kernel_failed(ev, s, errors);
    for (int k = 0; k < n; k++) {
        all[k].dims[dimension] = s->shapes[k]->dims[dimension];
        if (!eval_copy(ev, s, k, &all[k]))
            return false;
    }
    return true;
}

/* XLA:TPU keeps the best element of each of several bins, which contain most of the k best. Here
 * the result is exact: the best elements of all, in order. */
bool eval_partial_reduce(struct eval *ev, const struct step *s)
{
    int n = s->result_count, dimension = -1;
    bool fits = s->bodies && n > 0 && s->operand_count == 2 * n && s->inst->operand_count == 2 * n;
    for (int k = 0; k < n && fits; k++) {
        const struct view *x = eval_view(ev, s, k), *first = eval_view(ev, s, 0);
        int d = shorter_dimension(x, s->shapes[k]);
        fits = d >= 0 && (k == 0 || d == dimension) && x->rank == first->rank &&
               memcmp(x->dims, first->dims, (size_t)first->rank * sizeof *x->dims) == 0;
        dimension = d;
    }
    if (!fits)
        return eval_unsupported(ev, s);
    struct arena_mark mark = arena_mark(&ev->scratch);
    struct value *sorted = ARENA_ARRAY(&ev->scratch, struct value, n);
    bool ok = run_partial_reduce(ev, s, dimension, sorted);
    for (int k = 0; k < n; k++)
        value_drop(ev, &sorted[k]);
    arena_release(&ev->scratch, mark);
    return ok;
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
