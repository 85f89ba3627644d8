/*
 * Types of values: the join of two types, conversion of a value to a larger type, and the
 * representation of sequences and optionals by tuples (onnx.h).
 */
#include "onnx/import_priv.h"

bool is_sequence(const struct val *v)
{
    return v->kind == ONNX_SEQUENCE || v->kind == ONNX_OPTIONAL_SEQUENCE;
}

bool is_optional(const struct val *v)
{
    return v->kind == ONNX_OPTIONAL || v->kind == ONNX_OPTIONAL_SEQUENCE;
}

struct val tensor_val(const struct array *a, hlo_inst *data)
{
    return (struct val){.kind = ONNX_TENSOR, .a = *a, .data = data};
}

hlo_inst *data_of(struct scope *s, struct val *v)
{
    if (!v->data && v->known)
        v->data = hlo_constant(s->c, v->known);
    return v->data;
}

/* ---- layout ---- */

struct array sequence_data(const struct val *v)
{
    struct array a = {.elem = v->a.elem, .rank = v->a.rank + 1};
    a.dims[0] = v->length;
    a.dynamic[0] = true;
    for (int d = 0; d < v->a.rank; d++)
        a.dims[d + 1] = v->a.dims[d];
    return a;
}

struct array sequence_sizes(const struct val *v)
{
    struct array a = array_of(ELEM_S64, 2, (const int64_t[]){v->length, v->a.rank});
    a.dynamic[0] = true;
    return a;
}

void put_type(struct buf *b, const struct val *v)
{
    struct array data = v->a, sizes;
    if (is_optional(v))
        buf_puts(b, "(pred[], ");
    if (is_sequence(v)) {
        data = sequence_data(v);
        sizes = sequence_sizes(v);
        buf_putc(b, '(');
        put_shape(b, &data);
        buf_puts(b, ", ");
        put_shape(b, &sizes);
        buf_putc(b, ')');
    } else {
        put_shape(b, &data);
    }
    if (is_optional(v))
        buf_putc(b, ')');
}

const char *type_text(struct import *imp, const struct val *v)
{
    SCOPED_BUF b = {0};
    buf_printf(&b, "%s%s", is_optional(v) ? "optional(" : "", is_sequence(v) ? "seq(" : "");
    buf_puts(&b, onnx_dtype_name(v->a.elem));
    if (!v->open)
        put_dims(&b, &v->a);
    buf_printf(&b, "%s%s", is_optional(v) ? ")" : "", is_sequence(v) ? ")" : "");
    return arena_str(imp->arena, buf_view(&b)).ptr;
}

/* ---- comparison and join ---- */

static bool same_array(const struct array *a, const struct array *b)
{
    if (a->elem != b->elem || a->rank != b->rank)
        return false;
    for (int d = 0; d < a->rank; d++)
        if (a->dims[d] != b->dims[d] || a->dynamic[d] != b->dynamic[d])
            return false;
    return true;
}

bool same_type(const struct val *a, const struct val *b)
{
    return a->kind == b->kind && a->open == b->open && a->mixed == b->mixed &&
           same_array(&a->a, &b->a) && (!is_sequence(a) || a->length == b->length);
}

static bool join_elem(int a, int b, int *out)
{
    *out = a ? a : b;
    return a == b || a == 0 || b == 0;
}

bool join_arrays(const struct array *a, const struct array *b, struct array *out)
{
    struct array both = *a;
    if (!join_elem(a->elem, b->elem, &both.elem) || a->rank != b->rank)
        return false;
    for (int d = 0; d < a->rank; d++) {
        both.dynamic[d] = a->dynamic[d] || b->dynamic[d] || a->dims[d] != b->dims[d];
        both.dims[d] = a->dims[d] > b->dims[d] ? a->dims[d] : b->dims[d];
    }
    *out = both;
    return true;
}

/* Joins element types of sequences, whose ranks may differ; a missing dimension counts as 1. */
static bool join_elements(const struct val *a, const struct val *b, struct val *out)
{
    out->mixed = a->mixed || b->mixed || a->a.rank != b->a.rank;
    if (a->a.rank == b->a.rank)
        return join_arrays(&a->a, &b->a, &out->a);
    const struct array *low = a->a.rank < b->a.rank ? &a->a : &b->a,
                       *high = low == &a->a ? &b->a : &a->a;
    struct array both = *high;
    if (!join_elem(low->elem, high->elem, &both.elem))
        return false;
    for (int d = 0; d < high->rank; d++) {
        int64_t size = d < low->rank ? low->dims[d] : 1;
        both.dims[d] = size > high->dims[d] ? size : high->dims[d];
        both.dynamic[d] = true;
    }
    out->a = both;
    return true;
}

static enum onnx_kind join_kinds(const struct val *a, const struct val *b)
{
    bool sequence = is_sequence(a) || is_sequence(b);
    if (!is_optional(a) && !is_optional(b))
        return sequence ? ONNX_SEQUENCE : ONNX_TENSOR;
    return sequence ? ONNX_OPTIONAL_SEQUENCE : ONNX_OPTIONAL;
}

bool join_types(const struct val *a, const struct val *b, struct val *out)
{
    struct val both = {.kind = join_kinds(a, b), .open = a->open && b->open};
    /* an optional of unknown type may hold a sequence as well */
    if (is_sequence(a) != is_sequence(b) && !(is_sequence(a) ? b : a)->open)
        return false;
    both.length = a->length > b->length ? a->length : b->length;
    if (a->open || b->open) {
        const struct val *full = a->open ? b : a;
        both.a = full->a;
        both.mixed = full->mixed;
        if (!join_elem(a->a.elem, b->a.elem, &both.a.elem))
            return false;
    } else if (is_sequence(&both) ? !join_elements(a, b, &both)
                                  : !join_arrays(&a->a, &b->a, &both.a)) {
        return false;
    }
    *out = both;
    return true;
}

/* ---- conversion to a larger type ---- */

/* An array of zeros with empty dynamic dimensions. */
static hlo_inst *nothing(struct scope *s, const struct array *a)
{
    struct array full = array_of(a->elem, a->rank, a->dims);
    hlo_inst *x = emit_broadcast(s, emit_zero(s, a->elem), &full, NULL, 0);
    for (int d = 0; d < a->rank; d++)
        if (a->dynamic[d]) {
            full.dynamic[d] = true;
            x = emit_sized(s, x, &full, d, emit_zero(s, ELEM_S32));
        }
    return x;
}

static hlo_inst *grow_data(struct scope *s, const struct val *v, const struct val *to)
{
    struct array from = sequence_data(v), target = sequence_data(to);
    bool is_new[ONNX_MAX_RANK + 1] = {false};
    for (int d = from.rank; d < target.rank; d++)
        is_new[d] = true;
    hlo_inst *x = v->data;
    if (target.rank > from.rank)
        x = add_ones(s, x, &from, is_new, target.rank);
    return fit_array(s, x, &from, &target);
}

/* Adds columns of -1 for dimensions that the elements lack. */
static hlo_inst *grow_sizes(struct scope *s, const struct val *v, const struct val *to)
{
    struct array from = sequence_sizes(v), target = sequence_sizes(to);
    hlo_inst *x = v->sizes;
    int64_t more = target.dims[1] - from.dims[1];
    if (more > 0) {
        from.dims[1] = target.dims[1];
        x = emit_op(s, &from, "pad", (hlo_inst *[]){x, emit_scalar(s, ELEM_S64, "-1")}, 2,
                    "padding=0_0x0_%" PRId64, more);
    }
    return fit_array(s, x, &from, &target);
}

/* Whether the array of `v` can be converted to that of `to`; if not, `v` is empty or absent and has
 * no type of its own. */
static bool holds_elements(const struct val *v, const struct val *to)
{
    return v->open == to->open && v->a.elem == to->a.elem && is_sequence(v) == is_sequence(to);
}

static void coerce_sequence(struct scope *s, struct val *v, struct val *out)
{
    struct array data = sequence_data(out), sizes = sequence_sizes(out);
    if (!holds_elements(v, out)) {
        out->data = nothing(s, &data);
        out->sizes = nothing(s, &sizes);
        return;
    }
    out->data = grow_data(s, v, out);
    out->sizes = grow_sizes(s, v, out);
}

static hlo_inst *truth(struct scope *s, bool value)
{
    return emit_scalar(s, ELEM_PRED, value ? "true" : "false");
}

struct val val_coerce(struct scope *s, struct val *v, const struct val *to)
{
    struct val out = *to;
    out.known = NULL;
    out.data = out.sizes = out.there = NULL;
    if (v->kind == ONNX_TENSOR)
        data_of(s, v);
    if (same_type(v, to))
        return *v;
    if (is_optional(to))
        out.there = is_optional(v) ? v->there : truth(s, true);
    if (is_sequence(to))
        coerce_sequence(s, v, &out);
    else
        out.data =
            holds_elements(v, to) ? fit_array(s, v->data, &v->a, &to->a) : nothing(s, &to->a);
    return out;
}

/* ---- conversion to a single instruction ---- */

hlo_inst *val_pack(struct scope *s, struct val *v)
{
    hlo_inst *x = v->kind == ONNX_TENSOR ? data_of(s, v) : v->data;
    if (is_sequence(v))
        x = hlo_tuple(s->c, (hlo_inst *[]){x, v->sizes}, 2);
    if (is_optional(v))
        x = hlo_tuple(s->c, (hlo_inst *[]){v->there, x}, 2);
    return x;
}

struct val val_unpack(struct scope *s, const struct val *type, hlo_inst *x)
{
    struct val v = *type;
    v.known = NULL;
    v.there = v.sizes = NULL;
    if (is_optional(type)) {
        v.there = hlo_get_tuple_element(s->c, x, 0);
        x = hlo_get_tuple_element(s->c, x, 1);
    }
    if (is_sequence(type)) {
        v.sizes = hlo_get_tuple_element(s->c, x, 1);
        x = hlo_get_tuple_element(s->c, x, 0);
    }
    v.data = x;
    return v;
}
