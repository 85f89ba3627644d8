/*
 * Slices at computed indices: the start is clamped so that the window is within the array.
 */
#include "eval/eval_priv.h"

/* Start indices: scalars from operand `first` on, or the elements of one row (old text). */
static void read_start(struct eval *ev, const struct step *s, int first, const struct view *x,
                       const int64_t *sizes, int64_t *start)
{
    const struct view *row = first < s->operand_count ? eval_view(ev, s, first) : NULL;
    bool one_row = row && row->rank == 1;
    for (int d = 0; d < x->rank && eval_is_dry_run(ev); d++)
        start[d] = x->dims[d] - sizes[d];
    for (int d = 0; d < x->rank && !eval_is_dry_run(ev); d++) {
        const struct view *index = one_row ? row : eval_view(ev, s, first + d);
        int64_t i =
            kern_load_index(index->dtype, one_row ? row->data + d * row->strides[0] : index->data);
        int64_t last = x->dims[d] - sizes[d];
        start[d] = i < 0 ? 0 : i > last ? last : i;
    }
}

static void window_at(struct view *v, const struct view *x, const int64_t *start,
                      const int64_t *sizes)
{
    view_copy(v, x);
    for (int d = 0; d < x->rank; d++) {
        v->data += start[d] * x->strides[d];
        v->dims[d] = sizes[d];
    }
}

static bool dynamic_slice(struct eval *ev, const struct step *s)
{
    const struct view *x = eval_view(ev, s, 0);
    const int64_t *sizes = eval_dims(ev, s, 0);
    int64_t start[VIEW_MAX_RANK];
    struct view v;
    read_start(ev, s, 1, x, sizes, start);
    window_at(&v, x, start, sizes);
    return eval_piece(ev, s, 0, 0, &v);
}

bool eval_update_window(struct eval *ev, const struct step *s, int r, int k, int first,
                        const int64_t *sizes, struct view *window)
{
    int64_t start[VIEW_MAX_RANK];
    read_start(ev, s, first, eval_view(ev, s, k), sizes, start);
    struct view *out = eval_update(ev, s, r, k);
    if (out)
        window_at(window, out, start, sizes);
    return out != NULL;
}

static bool dynamic_update_slice(struct eval *ev, const struct step *s)
{
    const struct view *update = eval_view(ev, s, 1);
    struct view window;
    if (!eval_update_window(ev, s, 0, 0, 2, s->inst->operands[1]->shape->dims, &window))
        return false;
    memcpy(window.dims, update->dims, (size_t)update->rank * sizeof *update->dims);
    return eval_convert_to(ev, s, &window, update);
}

bool eval_dynslice(struct eval *ev, const struct step *s)
{
    return s->inst->opcode == OP_DYNAMIC_SLICE ? dynamic_slice(ev, s) : dynamic_update_slice(ev, s);
}
