/*
 * Operators on sequences and optionals, which are represented by arrays (onnx.h): elements padded
 * to the largest, and the sizes of each.
 */
#include "onnx/import_priv.h"

/* ---- inputs ---- */

static bool is_filled(const struct val *v) { return is_sequence(v) && !v->open; }

/* Input k as a sequence; an optional that holds a sequence is accepted. */
struct val *sequence_input(struct node *n, size_t k)
{
    struct val *v = input_of(n, k);
    if (!v || !is_sequence(v))
        return refuse_node(n->s, "input %zu is %s, expected a sequence", k,
                           v ? type_text(n->s->imp, v) : "missing"),
               NULL;
    if (v->kind == ONNX_SEQUENCE)
        return v;
    struct val *element = arena_copy(n->s->imp->arena, v, sizeof *v);
    element->kind = ONNX_SEQUENCE;
    element->there = NULL;
    return element;
}

struct num length_of(struct scope *s, struct val *v)
{
    struct array a = sequence_data(v);
    return num_size(s, v->data, &a, 0);
}

/* A position; negative ones count from the end. */
static bool position_of(struct node *n, size_t input, struct num length, struct num *out)
{
    struct val *v = tensor_of(n, input);
    if (!v)
        return false;
    if (!elem_is_int(v->a.elem) || array_elements(&v->a) != 1 || v->a.rank > 1)
        return refuse_node(n->s, "position is %s, expected an integer scalar",
                           type_text(n->s->imp, v));
    struct num at = num_element(n->s, v, 0);
    *out = num_if(n->s, at, "LT", num_of(0), num_op(n->s, "add", at, length), at);
    return true;
}

/* The sizes of a tensor as a row of the table: s64[1, rank], -1 for missing dimensions. */
static hlo_inst *size_row(struct scope *s, hlo_inst *x, const struct array *a, int rank)
{
    struct array one = array_of(ELEM_S64, 2, (const int64_t[]){1, 1}),
                 row = array_of(ELEM_S64, 2, (const int64_t[]){1, rank});
    int64_t sizes[ONNX_MAX_RANK + 1];
    hlo_inst *each[ONNX_MAX_RANK + 1];
    bool known = true;
    for (int d = 0; d < rank; d++) {
        sizes[d] = d < a->rank ? a->dims[d] : -1;
        known &= d >= a->rank || !a->dynamic[d];
    }
    if (known)
        return hlo_constant(s->c, literal_of_ints(s, ELEM_S64, 2, row.dims, sizes));
    for (int d = 0; d < rank; d++)
        each[d] = emit_unary(s, &one, "reshape",
                             num_inst(s, d < a->rank ? num_size(s, x, a, d) : num_of(-1)));
    return rank == 1 ? each[0]
                     : emit_op(s, &row, "concatenate", each, (size_t)rank, "dimensions={1}");
}

/* A tensor as an element of the sequence's array: T[1, d...], padded to the size of its
 * elements. */
static hlo_inst *data_row(struct scope *s, hlo_inst *x, struct array a, const struct array *element)
{
    bool is_new[ONNX_MAX_RANK + 2] = {true};
    struct array full = {.elem = a.elem, .rank = element->rank + 1};
    full.dims[0] = 1;
    for (int d = 0; d < element->rank; d++) {
        is_new[d + 1] = d >= a.rank;
        full.dims[d + 1] = element->dims[d];
    }
    x = add_ones(s, x, &a, is_new, element->rank + 1);
    x = fit_array(s, x, &a, &full);
    full.elem = a.elem;
    for (int d = 1; d < a.rank; d++)
        full.dynamic[d] = a.dynamic[d];
    for (int d = 1; d < a.rank; d++) /* storage of dynamic dimensions has the size of the bound */
        x = whole(s, x, &full, d);
    return x;
}

static struct val element_type(const struct array *a)
{
    return (struct val){.kind = ONNX_SEQUENCE, .a = *a, .length = 1};
}

struct val empty_sequence(struct scope *s, int elem)
{
    struct val type = {.kind = ONNX_SEQUENCE, .a = scalar_of(elem), .length = 1, .open = true};
    struct val other = {.kind = ONNX_SEQUENCE,
                        .length = 1,
                        .open = true}; /* its element type differs, so that it is created */
    return val_coerce(s, &other, &type);
}

/* ---- construction ---- */

/* A sequence of tensors; if these have no common type, `ok` is false, with a message. */
struct val sequence_of(struct scope *s, struct val *elements, size_t count, bool *ok)
{
    struct val out = element_type(&elements[0].a);
    hlo_inst **rows = ARENA_ARRAY(s->imp->arena, hlo_inst *, 2 * count), **sizes = rows + count;
    for (size_t k = 1; k < count; k++) {
        struct val next = element_type(&elements[k].a);
        if (!join_types(&out, &next, &out)) {
            *ok = refuse_node(s, "elements of types %s and %s", type_text(s->imp, &elements[0]),
                              type_text(s->imp, &elements[k]));
            return out;
        }
    }
    for (size_t k = 0; k < count; k++) {
        hlo_inst *x = data_of(s, &elements[k]);
        rows[k] = data_row(s, x, elements[k].a, &out.a);
        sizes[k] = size_row(s, x, &elements[k].a, out.a.rank);
    }
    out.length = (int64_t)count;
    struct array data = sequence_data(&out), table = sequence_sizes(&out);
    data.dynamic[0] = table.dynamic[0] = false;
    out.data =
        count == 1 ? rows[0] : emit_op(s, &data, "concatenate", rows, count, "dimensions={0}");
    out.sizes =
        count == 1 ? sizes[0] : emit_op(s, &table, "concatenate", sizes, count, "dimensions={0}");
    data.dynamic[0] = table.dynamic[0] = true;
    hlo_inst *n = emit_int(s, ELEM_S32, out.length);
    out.data = emit_sized(s, out.data, &data, 0, n);
    out.sizes = emit_sized(s, out.sizes, &table, 0, n);
    *ok = true;
    return out;
}

bool op_sequence_empty(struct node *n)
{
    int64_t elem = attr_int(n, "dtype", ELEM_F32);
    if (elem < 0 || elem > INT_MAX || (elem != 0 && !onnx_dtype_hlo((int)elem)))
        return refuse_node(n->s, "HLO has no element type %" PRId64, elem);
    return set_val(n, 0, empty_sequence(n->s, (int)elem));
}

bool op_sequence_construct(struct node *n)
{
    struct val *elements = ARENA_ARRAY(n->s->imp->arena, struct val, n->input_count);
    bool ok;
    for (size_t k = 0; k < n->input_count; k++) {
        struct val *v = tensor_of(n, k);
        if (!v)
            return false;
        elements[k] = *v;
    }
    struct val out = sequence_of(n->s, elements, n->input_count, &ok);
    return ok && set_val(n, 0, out);
}

/* ---- modification ---- */

/* Element i of the new sequence is element i of the old one, or i + by from position `at` on. */
static hlo_inst *shifted(struct scope *s, int64_t count, struct num at, int by)
{
    struct array row = array_of(ELEM_S64, 1, &count);
    hlo_inst *i = emit_iota(s, ELEM_S64, count),
             *from = emit_broadcast(s, num_inst(s, at), &row, NULL, 0);
    hlo_inst *moved =
        emit_binary(s, &row, "add", i, emit_broadcast(s, num_inst(s, num_of(by)), &row, NULL, 0));
    return emit_select(s, &row, emit_compare(s, &row, "LT", i, from), i, moved);
}

/* Gathers elements of both arrays of a sequence at the same indices. */
static void pick(struct scope *s, struct val *v, hlo_inst *indices, int64_t count, struct num size)
{
    struct array data = sequence_data(v), sizes = sequence_sizes(v);
    v->data = take_at(s, v->data, &data, 0, indices, count, size);
    v->sizes = take_at(s, v->sizes, &sizes, 0, indices, count, size);
    v->length = count;
}

/* Moves the appended last element to its position `at`; those after it move by one. */
static bool move_last(struct node *n, struct val *v, struct num length)
{
    struct scope *s = n->s;
    struct num at;
    if (!position_of(n, 2, length, &at))
        return false;
    at = num_clamp(s, num_of(0), at, length);
    struct array row = array_of(ELEM_S64, 1, &v->length);
    hlo_inst *i = emit_iota(s, ELEM_S64, v->length),
             *last = emit_broadcast(s, num_inst(s, length), &row, NULL, 0);
    hlo_inst *is_new =
        emit_compare(s, &row, "EQ", i, emit_broadcast(s, num_inst(s, at), &row, NULL, 0));
    hlo_inst *indices = emit_select(s, &row, is_new, last, shifted(s, v->length, at, -1));
    pick(s, v, indices, v->length, num_op(s, "add", length, num_of(1)));
    return true;
}

bool op_sequence_insert(struct node *n)
{
    struct scope *s = n->s;
    struct val *seq = sequence_input(n, 0), *x = seq ? tensor_of(n, 1) : NULL, type, one, all, out;
    bool ok;
    if (!x)
        return false;
    type = element_type(&x->a);
    if (!join_types(seq, &type, &all))
        return refuse_node(s, "%s into %s", type_text(s->imp, x), type_text(s->imp, seq));
    one = sequence_of(s, x, 1, &ok);
    struct num length = length_of(s, seq);
    all.length = seq->length;
    struct val before = val_coerce(s, seq, &all);
    all.length = 1;
    one = val_coerce(s, &one, &all);
    out = all;
    if (!add_i64(before.length, 1, &out.length))
        return refuse_node(s, "sequence too long");
    struct array data = sequence_data(&out), sizes = sequence_sizes(&out);
    out.data = emit_op(s, &data, "concatenate", (hlo_inst *[]){before.data, one.data}, 2,
                       "dimensions={0}");
    out.sizes = emit_op(s, &sizes, "concatenate", (hlo_inst *[]){before.sizes, one.sizes}, 2,
                        "dimensions={0}");
    if (input_of(n, 2) && !move_last(n, &out, length))
        return false;
    return set_val(n, 0, out);
}

bool op_sequence_erase(struct node *n)
{
    struct scope *s = n->s;
    struct val *seq = sequence_input(n, 0);
    if (!seq)
        return false;
    if (!is_filled(seq))
        return refuse_node(s, "empty sequence");
    struct val out = *seq;
    struct num length = length_of(s, seq), at = num_op(s, "subtract", length, num_of(1)), less = at;
    if (input_of(n, 1) && !position_of(n, 1, length, &at))
        return false;
    pick(s, &out, shifted(s, seq->length, at, 1), seq->length, less);
    return set_val(n, 0, out);
}

/* ---- element access ---- */

bool op_sequence_length(struct node *n)
{
    struct val *seq = sequence_input(n, 0);
    if (!seq)
        return false;
    struct array a = scalar_of(ELEM_S64);
    return set_tensor(n, &a, num_inst(n->s, length_of(n->s, seq)));
}

/* Size d of element `at`. */
struct num size_at(struct scope *s, struct val *seq, struct num at, int d)
{
    struct array a = array_of(ELEM_S64, 2, (const int64_t[]){1, 1}), one = scalar_of(ELEM_S64);
    if (!seq->a.dynamic[d])
        return num_of(seq->a.dims[d]);
    hlo_inst *operands[] = {seq->sizes, num_inst(s, at), num_inst(s, num_of(d))};
    hlo_inst *x = emit_op(s, &a, "dynamic-slice", operands, 3, "dynamic_slice_sizes={1,1}");
    return (struct num){.i = emit_unary(s, &one, "reshape", x)};
}

/* Element `at`, a tensor. */
static hlo_inst *element_at(struct scope *s, struct val *seq, struct num at, struct array *a)
{
    struct array row = sequence_data(seq);
    hlo_inst *operands[ONNX_MAX_RANK + 2] = {seq->data, num_inst(s, at)};
    row.dims[0] = 1;
    row.dynamic[0] = false;
    for (int d = 1; d < row.rank; d++)
        operands[1 + d] = num_inst(s, num_of(0));
    hlo_inst *x = emit_op(s, &row, "dynamic-slice", operands, (size_t)row.rank + 1,
                          "dynamic_slice_sizes=%s", ints_text(s->imp, row.dims, (size_t)row.rank));
    *a = array_of(seq->a.elem, seq->a.rank, seq->a.dims);
    x = emit_unary(s, a, "reshape", x);
    for (int d = 0; d < a->rank; d++)
        x = set_size(s, x, a, d, size_at(s, seq, at, d));
    return x;
}

/* Whether there are elements, all of one rank; otherwise a message. */
bool check_elements(struct node *n, struct val *seq)
{
    if (seq->open)
        return refuse_node(n->s, "empty sequence");
    return !seq->mixed || refuse_node(n->s, "elements differ in rank");
}

bool op_sequence_at(struct node *n)
{
    struct val *seq = sequence_input(n, 0);
    struct num at;
    struct array a;
    if (!seq || !check_elements(n, seq) || !position_of(n, 1, length_of(n->s, seq), &at))
        return false;
    hlo_inst *x = element_at(n->s, seq, at, &a);
    return set_tensor(n, &a, x);
}

/* ---- optionals ---- */

bool op_optional(struct node *n)
{
    struct scope *s = n->s;
    struct val *v = input_of(n, 0), type = {.kind = ONNX_OPTIONAL, .length = 1, .open = true};
    const struct onnx_attr *attr = attr_find(n, "type");
    if (v && is_optional(v))
        return refuse_node(s, "nested optionals are not supported");
    if (v) {
        type = *v;
        type.kind = is_sequence(v) ? ONNX_OPTIONAL_SEQUENCE : ONNX_OPTIONAL;
        return set_val(n, 0, val_coerce(s, v, &type));
    }
    if (!attr || attr->kind != ONNX_ATTR_TYPE)
        return refuse_node(s, "a type is required without an input");
    if (attr->type.kind == ONNX_SEQUENCE || attr->type.kind == ONNX_OPTIONAL_SEQUENCE)
        type.kind = ONNX_OPTIONAL_SEQUENCE;
    type.a.elem = attr->type.elem;
    if (!onnx_dtype_hlo(type.a.elem))
        return refuse_node(s, "element type %s has no HLO equivalent",
                           onnx_dtype_name(type.a.elem));
    struct val none = type;
    none.there = emit_scalar(s, ELEM_PRED, "false");
    none.a.elem = 0; /* so that it is created */
    return set_val(n, 0, val_coerce(s, &none, &type));
}

bool op_optional_has_element(struct node *n)
{
    struct val *v = input_of(n, 0);
    struct array a = scalar_of(ELEM_PRED);
    if (v && is_optional(v))
        return set_tensor(n, &a, v->there);
    return set_known(n, literal_of_scalar(n->s, ELEM_PRED, v ? "true" : "false"), ELEM_PRED);
}

bool op_optional_get_element(struct node *n)
{
    struct val *v = input_of(n, 0);
    if (!v)
        return refuse_node(n->s, "missing input 0");
    struct val out = *v;
    out.kind = is_sequence(v) ? ONNX_SEQUENCE : ONNX_TENSOR;
    return set_val(n, 0, out);
}
