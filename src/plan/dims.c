/*
 * dims.c: converts dimension-list attributes to the form that kernels take.
 */
#include "plan/plan.h"

/* Returns the number of dimensions: 0 when the attribute is absent. */
static int copy_dims(int64_t *out, const struct inst *i, enum attr_id a)
{
    struct ints from = inst_ints(i, a);
    for (int64_t k = 0; k < from.count; k++)
        out[k] = from.at[k];
    return (int)from.count;
}

void plan_dot_dims(const struct inst *i, struct kern_dot_dims *d)
{
    *d = (struct kern_dot_dims){0};
    d->batch_count = copy_dims(d->lhs_batch, i, A_LHS_BATCH_DIMS);
    copy_dims(d->rhs_batch, i, A_RHS_BATCH_DIMS);
    d->contracting_count = copy_dims(d->lhs_contracting, i, A_LHS_CONTRACTING_DIMS);
    copy_dims(d->rhs_contracting, i, A_RHS_CONTRACTING_DIMS);
}

void plan_gather_dims(const struct inst *i, struct kern_gather_dims *d)
{
    const bool reads = i->opcode == OP_GATHER;
    *d = (struct kern_gather_dims){0};
    d->offset_count = copy_dims(d->offset_dims, i, reads ? A_OFFSET_DIMS : A_UPDATE_WINDOW_DIMS);
    d->collapsed_count =
        copy_dims(d->collapsed, i, reads ? A_COLLAPSED_SLICE_DIMS : A_INSERTED_WINDOW_DIMS);
    d->map_count = copy_dims(d->start_index_map, i,
                             reads ? A_START_INDEX_MAP : A_SCATTER_DIMS_TO_OPERAND_DIMS);
    d->batching_count =
        copy_dims(d->operand_batching, i, reads ? A_OPERAND_BATCHING_DIMS : A_INPUT_BATCHING_DIMS);
    copy_dims(d->indices_batching, i,
              reads ? A_START_INDICES_BATCHING_DIMS : A_SCATTER_INDICES_BATCHING_DIMS);
    copy_dims(d->slice_sizes, i, A_SLICE_SIZES); /* gather only */
    d->index_vector_dim = inst_int(i, A_INDEX_VECTOR_DIM, 0);
}
