/*
 * Slices at computed places: the start is clamped so that the window fits.
 */
#include "why/why_priv.h"

/* Start indices from operand `first` on, scalars or one row; clamped. False: they aren't known, or to what they are clamped
 * goes by bounds and sizes of the moment. */
static bool read_start(struct why *w, const struct inst *i, int first, int rank, const int64_t *dims, const int64_t *sizes,
                       int64_t *start)
{
    const bool one_row = first < i->operand_count && i->operands[first]->shape->rank == 1;
    bool known = !shape_has_dynamic(i->shape) && !shape_has_dynamic(i->operands[0]->shape) &&
                 !shape_has_dynamic(i->operands[first - 1]->shape);
    for (int d = 0; d < rank && known; d++) {
        const int64_t at[1] = {d};
        known = why_integer(w, i, one_row ? first : first + d, at, &start[d]);
        start[d] = known ? why_clamp(start[d], 0, dims[d] - sizes[d]) : 0;
    }
    return known;
}

static void indices(struct why *w, const struct inst *i, int first)
{
    for (int k = first; k < i->operand_count; k++)
        why_whole(w, i, k, 0, "index");
}

static void dynamic_slice(struct why *w, const struct inst *i, const int64_t *index)
{
    int64_t dims[VIEW_MAX_RANK], start[VIEW_MAX_RANK];
    const int rank = i->shape->rank;
    why_dims(w, i, 0, 0, dims);
    if (read_start(w, i, 1, rank, dims, i->shape->dims, start)) {
        for (int d = 0; d < rank; d++)
            start[d] += index[d];
        why_point(w, i, 0, 0, start, "operand");
    } else {
        why_whole(w, i, 0, 0, "operand");
    }
    indices(w, i, 1);
}

static void dynamic_update_slice(struct why *w, const struct inst *i, const int64_t *index)
{
    int64_t dims[VIEW_MAX_RANK], sizes[VIEW_MAX_RANK], start[VIEW_MAX_RANK], at[VIEW_MAX_RANK];
    const int rank = i->shape->rank;
    why_dims(w, i, 0, 0, dims);
    why_dims(w, i, 1, 0, sizes);
    if (read_start(w, i, 2, rank, dims, i->operands[1]->shape->dims, start)) {
        bool inside = true;
        for (int d = 0; d < rank; d++) {
            at[d] = index[d] - start[d];
            inside &= at[d] >= 0 && at[d] < sizes[d];
        }
        if (inside)
            why_point(w, i, 1, 0, at, "update");
        else
            why_point(w, i, 0, 0, index, "operand");
    } else {
        why_point(w, i, 0, 0, index, "operand");
        why_whole(w, i, 1, 0, "update");
    }
    indices(w, i, 2);
}

void why_dynslice(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    (void)leaf;
    if (i->opcode == OP_DYNAMIC_SLICE)
        dynamic_slice(w, i, index);
    else
        dynamic_update_slice(w, i, index);
}
