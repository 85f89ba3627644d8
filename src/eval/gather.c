/*
 * Reading and writing at places that an array of indices names.
 */
#include "eval/eval_priv.h"

static int copy_dims(int64_t *out, const struct inst *i, enum attr_id a)
{
    struct ints from = inst_ints(i, a);
    for (int64_t k = 0; k < from.count; k++)
        out[k] = from.at[k];
    return (int)from.count;
}

static bool gather(struct eval *ev, const struct step *s)
{
    const struct inst *i = s->inst;
    struct kern_gather_dims d = {0};
    d.offset_count = copy_dims(d.offset_dims, i, A_OFFSET_DIMS);
    d.collapsed_count = copy_dims(d.collapsed, i, A_COLLAPSED_SLICE_DIMS);
    d.map_count = copy_dims(d.start_index_map, i, A_START_INDEX_MAP);
    d.batching_count = copy_dims(d.operand_batching, i, A_OPERAND_BATCHING_DIMS);
    copy_dims(d.indices_batching, i, A_START_INDICES_BATCHING_DIMS);
    copy_dims(d.slice_sizes, i, A_SLICE_SIZES);
    d.index_vector_dim = inst_int(i, A_INDEX_VECTOR_DIM, 0);
    struct view *out = eval_result(ev, s, 0);
    if (out)
        ev->kern->gather(out, eval_view(ev, s, 0), eval_view(ev, s, 1), &d);
    return out != NULL;
}

static void scatter_dims(const struct inst *i, struct kern_gather_dims *d)
{
    *d = (struct kern_gather_dims){0};
    d->offset_count = copy_dims(d->offset_dims, i, A_UPDATE_WINDOW_DIMS);
    d->collapsed_count = copy_dims(d->collapsed, i, A_INSERTED_WINDOW_DIMS);
    d->map_count = copy_dims(d->start_index_map, i, A_SCATTER_DIMS_TO_OPERAND_DIMS);
    d->batching_count = copy_dims(d->operand_batching, i, A_INPUT_BATCHING_DIMS);
    copy_dims(d->indices_batching, i, A_SCATTER_INDICES_BATCHING_DIMS);
    d->index_vector_dim = inst_int(i, A_INDEX_VECTOR_DIM, 0);
}

static bool run_scatter(struct eval *ev, const struct step *s)
{
    int n = s->operand_count / 2;
    struct kern_gather_dims dims;
    struct bound_body context;
    struct kern_body body = eval_bind(ev, s->bodies, &context);
    struct view *out = ARENA_ARRAY(&ev->scratch, struct view, n);
    struct view *updates = ARENA_ARRAY(&ev->scratch, struct view, n);
    struct value *made = ARENA_ARRAY(&ev->scratch, struct value, n);
    scatter_dims(s->inst, &dims);
    for (int k = 0; k < n; k++) {
        const struct view *v = eval_as_type(ev, s, n + 1 + k, s->shapes[k]->dtype, &made[k]);
        if (!v)
            return false;
        view_copy(&updates[k], v);
        v = eval_update(ev, s, k, k);
        if (!v)
            return false;
        view_copy(&out[k], v);
    }
    unsigned errors = ev->ds->errors;
    bool ok = ev->kern->scatter(n, out, eval_view(ev, s, n), updates, &dims, &body);
    for (int k = 0; k < n; k++)
        value_drop(ev, &made[k]);
    return ok || eval_kernel_failed(ev, s, errors);
}

static bool scatter(struct eval *ev, const struct step *s)
{
    struct arena_mark mark = arena_mark(&ev->scratch);
    bool ok = run_scatter(ev, s);
    arena_release(&ev->scratch, mark);
    return ok;
}

bool eval_gather(struct eval *ev, const struct step *s)
{
    return s->inst->opcode == OP_GATHER ? gather(ev, s) : scatter(ev, s);
}
