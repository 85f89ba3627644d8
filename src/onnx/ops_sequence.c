/*
 * Operators between tensors and whole sequences: ConcatFromSequence, SplitToSequence.
 */
#include "onnx/import_priv.h"

/* ---- ConcatFromSequence ---- */

/* Moves dimension `from` of x to position `to`; the others keep their order. */
hlo_inst *move_dimension(struct scope *s, hlo_inst *x, struct array *a, int from, int to)
{
    struct array out = *a;
    int64_t at[ONNX_MAX_RANK + 2];
    int k = 0;
    for (int d = 0; d < a->rank; d++) {
        if (d == to) {
            at[d] = from;
            continue;
        }
        k += k == from;
        at[d] = k++;
    }
    for (int d = 0; d < a->rank; d++) {
        out.dims[d] = a->dims[at[d]];
        out.dynamic[d] = a->dynamic[at[d]];
    }
    *a = out;
    return from == to ? x
                      : emit_op(s, a, "transpose", &x, 1, "dimensions=%s",
                                ints_text(s->imp, at, (size_t)a->rank));
}

/* The array of all elements, cut to the sizes of the first one, which all share except along
 * `axis`. */
static hlo_inst *with_sizes(struct scope *s, struct val *seq, struct array *a, int axis)
{
    hlo_inst *x = seq->data;
    *a = sequence_data(seq);
    for (int d = 0; d < seq->a.rank; d++)
        if (d != axis && seq->a.dynamic[d])
            x = set_size(s, x, a, d + 1, size_at(s, seq, num_of(0), d));
    return x;
}

/* The sizes of the elements along an axis, 0 past the last one: s64[n]. */
static hlo_inst *sizes_along(struct scope *s, struct val *seq, int axis)
{
    struct array a = sequence_sizes(seq), row = array_of(ELEM_S64, 1, &seq->length);
    hlo_inst *x = whole(s, seq->sizes, &a, 0);
    a.dims[1] = 1;
    x = emit_op(s, &a, "slice", &x, 1, "slice={[0:%" PRId64 "], [%d:%d]}", seq->length, axis,
                axis + 1);
    x = emit_unary(s, &row, "reshape", x);
    hlo_inst *n = emit_broadcast(s, num_inst(s, length_of(s, seq)), &row, NULL, 0);
    hlo_inst *there = emit_compare(s, &row, "LT", emit_iota(s, ELEM_S64, seq->length), n);
    return emit_select(s, &row, there, x, emit_broadcast(s, emit_zero(s, ELEM_S64), &row, NULL, 0));
}

/* For each of 0 ... count-1, the number of `limits`, s64[n], that are at most as large; or the sum
 * of `values` at those, if given. */
static hlo_inst *sum_below(struct scope *s, hlo_inst *limits, hlo_inst *values, int64_t n,
                           int64_t count)
{
    struct array a = array_of(ELEM_S64, 2, (const int64_t[]){count, n});
    const int64_t rows = 0, columns = 1;
    hlo_inst *limit = emit_broadcast(s, limits, &a, &columns, 1);
    hlo_inst *at = emit_broadcast(s, emit_iota(s, ELEM_S64, count), &a, &rows, 1);
    hlo_inst *value = values ? emit_broadcast(s, values, &a, &columns, 1)
                             : emit_broadcast(s, num_inst(s, num_of(1)), &a, NULL, 0);
    hlo_inst *zero = emit_broadcast(s, emit_zero(s, ELEM_S64), &a, NULL, 0);
    hlo_inst *x = emit_select(s, &a, emit_compare(s, &a, "LE", limit, at), value, zero);
    return sum_over(s, x, &a, 1);
}

/* Concatenates elements of different sizes: position p belongs to the element whose offset is the
 * largest one that does not exceed p. */
static hlo_inst *join_uneven(struct scope *s, struct val *seq, int axis, struct array *a)
{
    int64_t n = seq->length, max = seq->a.dims[axis], places = mul_most(n, max);
    struct array row = array_of(ELEM_S64, 1, &n), each = array_of(ELEM_S64, 1, &places),
                 total = row;
    hlo_inst *sizes = sizes_along(s, seq, axis);
    hlo_inst *ends = sum_below(s, emit_iota(s, ELEM_S64, n), sizes, n, n);
    hlo_inst *k = sum_below(s, ends, NULL, n, places),
             *before = sum_below(s, ends, sizes, n, places);
    hlo_inst *width = emit_broadcast(s, num_inst(s, num_of(max)), &each, NULL, 0);
    hlo_inst *inside = emit_binary(s, &each, "subtract", emit_iota(s, ELEM_S64, places), before);
    hlo_inst *at =
        emit_binary(s, &each, "add", emit_binary(s, &each, "multiply", k, width), inside);
    hlo_inst *x = whole(s, with_sizes(s, seq, a, axis), a, 0);
    x = move_dimension(s, x, a, axis + 1, 1);
    struct array flat = {.elem = a->elem, .rank = a->rank - 1};
    struct num size[ONNX_MAX_RANK + 1];
    flat.dims[0] = places;
    size[0] = num_of(places);
    for (int d = 1; d < flat.rank; d++) {
        flat.dims[d] = a->dims[d + 1];
        flat.dynamic[d] = a->dynamic[d + 1];
        size[d] = num_size(s, x, a, d + 1);
    }
    x = reshape_to(s, x, a, &flat, size);
    *a = flat;
    x = take_at(s, x, a, 0, at, places, (struct num){.i = sum_over(s, sizes, &total, 0)});
    return move_dimension(s, x, a, 0, axis);
}

static hlo_inst *join_even(struct scope *s, struct val *seq, int axis, struct array *a)
{
    hlo_inst *x = with_sizes(s, seq, a, axis);
    x = move_dimension(s, x, a, 0, axis);
    struct array to = {.elem = a->elem, .rank = a->rank - 1};
    struct num size[ONNX_MAX_RANK + 1];
    for (int d = 0; d < to.rank; d++) {
        int from = d > axis ? d + 1 : d;
        to.dims[d] = d == axis ? mul_most(a->dims[d], a->dims[d + 1]) : a->dims[from];
        to.dynamic[d] = a->dynamic[from];
        size[d] = num_size(s, x, a, from);
    }
    size[axis] = num_op(s, "multiply", size[axis], num_of(seq->a.dims[axis]));
    x = reshape_to(s, x, a, &to, size);
    *a = to;
    return x;
}

bool op_concat_from_sequence(struct node *n)
{
    struct scope *s = n->s;
    struct val *seq = sequence_input(n, 0);
    struct array a;
    int axis;
    bool stacks = attr_int(n, "new_axis", 0) != 0;
    if (!seq || !check_elements(n, seq) ||
        !axis_of(n, attr_int(n, "axis", 0), seq->a.rank + (stacks ? 1 : 0), &axis))
        return false;
    if (stacks && seq->a.rank >= ONNX_MAX_RANK)
        return refuse_node(s, "more than %d dimensions", ONNX_MAX_RANK);
    if (stacks) {
        hlo_inst *x = with_sizes(s, seq, &a, -1);
        x = move_dimension(s, x, &a, 0, axis);
        return set_tensor(n, &a, x);
    }
    hlo_inst *x =
        seq->a.dynamic[axis] ? join_uneven(s, seq, axis, &a) : join_even(s, seq, axis, &a);
    return set_tensor(n, &a, x);
}

/* ---- SplitToSequence ---- */

/* A sequence with an element per position along the axis: its array is the tensor, with the axis
 * moved to the front. */
static bool split_all(struct node *n, struct val *v, int axis)
{
    struct scope *s = n->s;
    bool keeps = attr_int(n, "keepdims", 1) != 0, is_new[ONNX_MAX_RANK + 2] = {false};
    struct array a = v->a, element = {.elem = a.elem};
    if (v->a.dims[axis] == 0) {
        return set_val(n, 0, empty_sequence(s, a.elem));
    }
    hlo_inst *x = data_of(s, v);
    struct num length = num_size(s, x, &a, axis);
    x = move_dimension(s, x, &a, axis, 0);
    is_new[axis + 1] = keeps;
    x = add_ones(s, x, &a, is_new, a.rank + (keeps ? 1 : 0));
    struct array full = a;
    for (int d = 1; d < a.rank; d++) {
        element.dims[element.rank] = a.dims[d];
        element.dynamic[element.rank++] = a.dynamic[d];
    }
    struct num size[ONNX_MAX_RANK + 1];
    for (int d = 0; d < element.rank; d++)
        size[d] = num_size(s, x, &a, d + 1);
    for (int d = 1; d < a.rank; d++)
        x = whole(s, x, &full, d);
    struct val out = {.kind = ONNX_SEQUENCE, .a = element, .length = a.dims[0]};
    struct array data = sequence_data(&out), table = sequence_sizes(&out),
                 one = scalar_of(ELEM_S64), row;
    hlo_inst **columns = ARENA_ARRAY(s->imp->arena, hlo_inst *, element.rank + 1);
    row = array_of(ELEM_S64, 2, (const int64_t[]){a.dims[0], 1});
    for (int d = 0; d < element.rank; d++)
        columns[d] = emit_broadcast(s, num_inst(s, size[d]), &row, NULL, 0);
    struct array all = array_of(ELEM_S64, 2, table.dims);
    hlo_inst *t = element.rank == 0 ? emit_broadcast(s, emit_zero(s, one.elem), &all, NULL, 0)
                                    : emit_op(s, &all, "concatenate", columns, (size_t)element.rank,
                                              "dimensions={1}");
    hlo_inst *count = emit_convert(s, num_inst(s, length), &one, ELEM_S32);
    out.sizes = emit_sized(s, t, &table, 0, count);
    out.data = emit_sized(s, x, &data, 0, count);
    return set_val(n, 0, out);
}

/* Sizes of the parts; NULL with a message. */
static struct num *part_sizes(struct node *n, struct val *v, int axis, size_t *count)
{
    struct scope *s = n->s;
    struct val *split = tensor_of(n, 1);
    if (!split)
        return NULL;
    if (split->a.rank == 1 && !split->a.dynamic[0] && elem_is_int(split->a.elem)) {
        *count = (size_t)split->a.dims[0];
        struct num *size = ARENA_ARRAY(s->imp->arena, struct num, *count + 1);
        for (size_t k = 0; k < *count; k++)
            size[k] = num_element(s, split, (int64_t)k);
        return size;
    }
    int64_t all = v->a.dims[axis],
            each = split->known && split->a.rank == 0 && elem_is_int(split->a.elem)
                       ? known_int(split, 0)
                       : 0;
    s->imp->needs_values |= !split->known;
    if (each <= 0 || v->a.dynamic[axis] || all / each > 100000)
        return refuse_node(s, "size and number of the parts of %s must be static",
                           type_text(s->imp, split)),
               NULL;
    *count = (size_t)(all / each + (all % each != 0));
    struct num *size = ARENA_ARRAY(s->imp->arena, struct num, *count + 1);
    for (size_t k = 0; k < *count; k++, all -= each)
        size[k] = num_of(all < each ? all : each);
    return size;
}

bool op_split_to_sequence(struct node *n)
{
    struct scope *s = n->s;
    struct val *v = tensor_of(n, 0);
    int axis;
    if (!v || !axis_of(n, attr_int(n, "axis", 0), v->a.rank, &axis))
        return false;
    if (!input_of(n, 1))
        return split_all(n, v, axis);
    size_t count = 0;
    struct num *size = part_sizes(n, v, axis, &count), start = num_of(0);
    struct val *parts = ARENA_ARRAY(s->imp->arena, struct val, count + 1);
    if (!size)
        return false;
    for (size_t k = 0; k < count; k++) {
        struct array a = v->a;
        struct num end = num_op(s, "add", start, size[k]);
        hlo_inst *x = slice_axis(s, data_of(s, v), &a, axis, start, end, num_of(1));
        parts[k] = tensor_val(&a, x);
        start = end;
    }
    if (count == 0) {
        return set_val(n, 0, empty_sequence(s, v->a.elem));
    }
    bool ok;
    struct val out = sequence_of(s, parts, count, &ok);
    return ok && set_val(n, 0, out);
}
