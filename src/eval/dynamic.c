/*
 * dynamic.c: operations that read and set sizes at run time.
 */
#include "eval/eval_priv.h"

static bool is_size(struct eval *ev, const struct step *s, int k)
{
    return s->operands[k] != NO_VALUE && eval_view(ev, s, k)->rank == 0 &&
           dtype_is_integer(eval_view(ev, s, k)->dtype);
}

static int64_t load_size(struct eval *ev, const struct step *s, int k)
{
    const struct view *x = eval_view(ev, s, k);
    return kern_load_index(x->dtype, x->data);
}

static bool check_size(struct eval *ev, const struct step *s, int64_t size, int d, int64_t bound)
{
    return (size >= 0 && size <= bound) ||
           EVAL_FAIL(ev, s, SIZE_OUT_OF_BOUNDS, (long long)size, d, (long long)bound);
}

/* The sizes of all dimensions of the first result, from the operands after the first. */
static bool load_sizes(struct eval *ev, const struct step *s, int64_t *sizes)
{
    const struct shape *to = s->shapes[0];
    if (s->operand_count != 1 + to->rank)
        return eval_unsupported(ev, s);
    for (int d = 0; d < to->rank; d++) {
        if (!is_size(ev, s, 1 + d))
            return eval_unsupported(ev, s);
        sizes[d] = load_size(ev, s, 1 + d);
        if (!check_size(ev, s, sizes[d], d, to->dims[d]))
            return false;
    }
    return true;
}

/* Result 0 is operand 0, with storage up to its bounds; its sizes become `sizes` (NULL: the
 * bounds). */
static bool show(struct eval *ev, const struct step *s, const int64_t *sizes)
{
    struct value *out = &ev->frame[s->results[0]], x;
    eval_hand_over(ev, s, 0, &x);
    if (!value_whole(ev, &x))
        return eval_no_memory(ev, s, s->shapes[0]);
    value_move(out, &x);
    for (int d = 0; sizes && d < out->view.rank; d++)
        out->view.dims[d] = sizes[d];
    value_fit(out, s->shapes[0], true);
    return true;
}

static bool number(struct eval *ev, const struct step *s, int r, int64_t size)
{
    struct view *out = eval_result(ev, s, r);
    int32_t n = (int32_t)size;
    if (out)
        memcpy(out->data, &n, sizeof n);
    return out != NULL;
}

static bool get_dimension_size(struct eval *ev, const struct step *s)
{
    return number(ev, s, 0, eval_view(ev, s, 0)->dims[inst_ints(s->inst, A_DIMENSIONS).at[0]]);
}

static bool set_dimension_size(struct eval *ev, const struct step *s)
{
    const struct view *x = eval_view(ev, s, 0);
    int d = (int)inst_ints(s->inst, A_DIMENSIONS).at[0];
    int64_t sizes[VIEW_MAX_RANK];
    for (int k = 0; k < x->rank; k++)
        sizes[k] = x->dims[k];
    sizes[d] = load_size(ev, s, 1);
    return check_size(ev, s, sizes[d], d, s->shapes[0]->dims[d]) && show(ev, s, sizes);
}

/* The elements of x, in row-major order, as an array of these sizes. */
static bool dynamic_reshape(struct eval *ev, const struct step *s)
{
    const struct view *x = eval_view(ev, s, 0);
    int64_t sizes[VIEW_MAX_RANK];
    struct view v;
    if (!load_sizes(ev, s, sizes))
        return false;
    const int64_t count = dims_elements(s->shapes[0]->rank, sizes);
    if (count != view_elements(x))
        return EVAL_FAIL(ev, s, SIZES_MISMATCH, (long long)view_elements(x), (long long)count);
    if (kern_view_reshape(&v, x, s->shapes[0]->rank, sizes)) {
        eval_alias(ev, s, 0, 0, &v);
        value_fit(&ev->frame[s->results[0]], s->shapes[0], false);
    } else {
        const struct view *made = eval_sized_result(ev, s, 0, sizes);
        if (!made)
            return false;
        view_dense(&v, x->dtype, x->rank, x->dims, made->data);
        kern_copy(ev->workers, &v, x);
    }
    return true;
}

static bool same_bounds(const struct shape *a, const struct shape *b)
{
    return shape_is_array(a) && shape_equal(a, b, IGNORE_LAYOUT | IGNORE_DYNAMIC);
}

/* Operand: an array; results: all of it, up to its bounds, and the size of each dimension. */
bool eval_pad_to_static(struct eval *ev, const struct step *s)
{
    const struct shape *x = s->operand_count == 1 ? s->inst->operands[0]->shape : NULL;
    int rank = x ? x->rank : 0;
    bool valid = x && s->result_count == 1 + rank && same_bounds(s->shapes[0], x);
    for (int d = 0; d < rank && valid; d++)
        valid = s->shapes[1 + d]->dtype == DT_S32 && s->shapes[1 + d]->rank == 0;
    if (!valid)
        return eval_unsupported(ev, s);
    for (int d = 0; d < rank; d++)
        if (!number(ev, s, 1 + d, eval_view(ev, s, 0)->dims[d]))
            return false;
    return show(ev, s, NULL);
}

/* Operands: an array as large as its bounds, and the size of each dimension. */
bool eval_slice_to_dynamic(struct eval *ev, const struct step *s)
{
    int64_t sizes[VIEW_MAX_RANK];
    if (s->result_count != 1 || s->operand_count < 1 ||
        !same_bounds(s->shapes[0], s->inst->operands[0]->shape))
        return eval_unsupported(ev, s);
    return load_sizes(ev, s, sizes) && show(ev, s, sizes);
}

bool eval_dynamic(struct eval *ev, const struct step *s)
{
    switch (s->inst->opcode) {
    case OP_GET_DIMENSION_SIZE: return get_dimension_size(ev, s);
    case OP_SET_DIMENSION_SIZE: return set_dimension_size(ev, s);
    default: return dynamic_reshape(ev, s);
    }
}
