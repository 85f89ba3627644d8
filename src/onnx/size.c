/*
 * Integers that are known during the import or only at run time, and operations on dimensions of
 * such sizes.
 */
#include "onnx/import_priv.h"

/* ---- integers ---- */

hlo_inst *num_inst(struct scope *s, struct num x)
{
    return x.known ? emit_int(s, ELEM_S64, x.n) : x.i;
}

static hlo_inst *num_s32(struct scope *s, struct num x)
{
    struct array a = scalar_of(ELEM_S64);
    int64_t n = x.n > INT32_MAX ? INT32_MAX : x.n < INT32_MIN ? INT32_MIN : x.n;
    if (x.known)
        return emit_int(s, ELEM_S32, n);
    return x.s32 ? x.s32 : emit_convert(s, x.i, &a, ELEM_S32);
}

/* Computes with wrap-around, as HLO does. */
static int64_t compute(const char *opcode, int64_t x, int64_t y)
{
    switch (*opcode) {
    case 'a': return (int64_t)((uint64_t)x + (uint64_t)y);
    case 's': return (int64_t)((uint64_t)x - (uint64_t)y);
    case 'm':
        if (opcode[1] == 'u')
            return (int64_t)((uint64_t)x * (uint64_t)y);
        return (opcode[1] == 'a') == (x > y) ? x : y; /* maximum, minimum */
    default: return y == 0 ? -1 : y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
    }
}

/* Opcodes add, subtract, multiply, maximum, minimum, divide. */
struct num num_op(struct scope *s, const char *opcode, struct num x, struct num y)
{
    if (x.known && y.known)
        return num_of(compute(opcode, x.n, y.n));
    bool adds = strcmp(opcode, "add") == 0, subtracts = strcmp(opcode, "subtract") == 0;
    bool scales = strcmp(opcode, "multiply") == 0 || strcmp(opcode, "divide") == 0;
    if (y.known && ((y.n == 0 && (adds || subtracts)) || (y.n == 1 && scales)))
        return x;
    if (x.known && ((x.n == 0 && adds) || (x.n == 1 && *opcode == 'm' && scales)))
        return y;
    struct array a = scalar_of(ELEM_S64);
    return (struct num){.i = emit_binary(s, &a, opcode, num_inst(s, x), num_inst(s, y))};
}

struct num num_if(struct scope *s, struct num a, const char *direction, struct num b,
                  struct num yes, struct num no)
{
    struct array scalar = scalar_of(ELEM_S64);
    if (a.known && b.known) {
        bool holds = strcmp(direction, "LT") == 0   ? a.n < b.n
                     : strcmp(direction, "GT") == 0 ? a.n > b.n
                                                    : a.n == b.n;
        return holds ? yes : no;
    }
    hlo_inst *holds = emit_compare(s, &scalar, direction, num_inst(s, a), num_inst(s, b));
    return (struct num){.i = emit_select(s, &scalar, holds, num_inst(s, yes), num_inst(s, no))};
}

struct num num_clamp(struct scope *s, struct num low, struct num x, struct num high)
{
    return num_op(s, "maximum", num_op(s, "minimum", x, high), low);
}

struct num num_element(struct scope *s, struct val *v, int64_t i)
{
    if (v->known)
        return num_of(known_int(v, (size_t)i));
    struct array a = v->a;
    hlo_inst *x = data_of(s, v);
    if (a.rank > 0) {
        a = array_of(a.elem, 1, &(int64_t){1});
        x = emit_op(s, &a, "slice", &x, 1, "slice={[%" PRId64 ":%" PRId64 "]}", i, i + 1);
        a.rank = 0;
        x = emit_unary(s, &a, "reshape", x);
    }
    return (struct num){.i = emit_convert(s, x, &a, ELEM_S64)};
}

struct num num_shape_element(struct scope *s, struct val *v, int64_t i)
{
    s->imp->needs_values |= !v->known;
    return num_element(s, v, i);
}

struct num num_size(struct scope *s, hlo_inst *x, const struct array *a, int d)
{
    if (!a->dynamic[d])
        return num_of(a->dims[d]);
    struct array scalar = scalar_of(ELEM_S32);
    hlo_inst *n = emit_op(s, &scalar, "get-dimension-size", &x, 1, "dimensions={%d}", d);
    return (struct num){.i = emit_convert(s, n, &scalar, ELEM_S64), .s32 = n};
}

int64_t num_most(struct num x, int64_t bound) { return x.known ? (x.n > 0 ? x.n : 0) : bound; }

/* ---- sizes ---- */

static const char *slice_text(struct import *imp, const int64_t *limits, int rank)
{
    SCOPED_BUF b = {0};
    buf_puts(&b, "slice=");
    for (int d = 0; BUF_LIST(&b, d, rank, "{}", ", "); d++)
        buf_printf(&b, "[0:%" PRId64 "]", limits[d]);
    return arena_str(imp->arena, buf_view(&b)).ptr;
}

hlo_inst *emit_sized(struct scope *s, hlo_inst *x, const struct array *a, int d, hlo_inst *n)
{
    return emit_op(s, a, "set-dimension-size", (hlo_inst *[]){x, n}, 2, "dimensions={%d}", d);
}

static hlo_inst *show_size(struct scope *s, hlo_inst *x, struct array *a, int d, struct num size)
{
    a->dynamic[d] = true;
    return emit_sized(s, x, a, d, num_s32(s, size));
}

hlo_inst *whole(struct scope *s, hlo_inst *x, struct array *a, int d)
{
    if (!a->dynamic[d])
        return x;
    a->dynamic[d] = false;
    return emit_sized(s, x, a, d, emit_int(s, ELEM_S32, a->dims[d]));
}

hlo_inst *set_size(struct scope *s, hlo_inst *x, struct array *a, int d, struct num size)
{
    if (!size.known || a->dynamic[d] || size.n < 0 || size.n > a->dims[d])
        return show_size(s, x, a, d, size);
    if (size.n == a->dims[d])
        return x;
    a->dims[d] = size.n;
    return emit_op(s, a, "slice", &x, 1, "%s", slice_text(s->imp, a->dims, a->rank));
}

/* Cuts what exceeds the bounds; the original sizes are then set again, which checks them. */
static hlo_inst *cut(struct scope *s, hlo_inst *x, struct array *a, const struct array *to)
{
    struct num size[ONNX_MAX_RANK + 1];
    bool any = false;
    for (int d = 0; d < a->rank; d++) {
        size[d] = num_of(-1);
        if (a->dims[d] <= to->dims[d])
            continue;
        size[d] = num_size(s, x, a, d);
        a->dims[d] = to->dims[d];
        any = true;
    }
    if (!any)
        return x;
    x = emit_op(s, a, "slice", &x, 1, "%s", slice_text(s->imp, a->dims, a->rank));
    for (int d = 0; d < a->rank; d++)
        if (!size[d].known || size[d].n >= 0)
            x = show_size(s, x, a, d, size[d]);
    return x;
}

static hlo_inst *pad(struct scope *s, hlo_inst *x, struct array *a, const struct array *to)
{
    SCOPED_BUF text = {0};
    bool any = false;
    buf_puts(&text, "padding=");
    for (int d = 0; BUF_LIST(&text, d, a->rank, "", "x"); d++) {
        int64_t more = to->dims[d] > a->dims[d] ? to->dims[d] - a->dims[d] : 0;
        any |= more > 0;
        buf_printf(&text, "0_%" PRId64, more);
        a->dims[d] += more;
    }
    if (any)
        x = emit_op(s, a, "pad", (hlo_inst *[]){x, emit_zero(s, a->elem)}, 2, "%s", text.data);
    return x;
}

hlo_inst *fit_array(struct scope *s, hlo_inst *x, const struct array *from, const struct array *to)
{
    struct array a = *from;
    struct num size[ONNX_MAX_RANK + 1];
    x = cut(s, x, &a, to);
    struct array before = a;
    for (int d = 0; d < a.rank; d++)
        size[d] = to->dynamic[d] && (!a.dynamic[d] || a.dims[d] < to->dims[d])
                      ? num_size(s, x, &a, d)
                      : num_of(0);
    x = pad(s, x, &a, to);
    for (int d = 0; d < a.rank; d++)
        if (to->dynamic[d] && (!before.dynamic[d] || before.dims[d] < to->dims[d]))
            x = show_size(s, x, &a, d, size[d]);
    return x;
}

/* ---- dimensions ---- */

static hlo_inst *dynamic_reshape(struct scope *s, hlo_inst *x, const struct array *to,
                                 const struct num *sizes)
{
    hlo_inst *operands[ONNX_MAX_RANK + 2] = {x};
    for (int d = 0; d < to->rank; d++)
        operands[1 + d] = num_s32(s, sizes[d]);
    return emit_op(s, to, "dynamic-reshape", operands, (size_t)to->rank + 1, "%s", "");
}

/* For bounds with a different product than those of x: gathers each element of the result from x,
 * as a row. */
static hlo_inst *spread(struct scope *s, hlo_inst *x, const struct array *from,
                        const struct array *to, const struct num *sizes)
{
    int64_t max = array_elements(from), one[] = {1};
    struct array row = array_of(from->elem, 1, &max), at = array_of(ELEM_S64, to->rank, to->dims);
    struct array out = array_of(to->elem, to->rank, to->dims);
    struct num count = num_of(1);
    for (int d = 0; d < to->rank; d++)
        count = num_op(s, "multiply", count, sizes[d]);
    row.dynamic[0] = true;
    x = dynamic_reshape(s, x, &row, &count); /* checks that the numbers of elements are equal */
    hlo_inst *i = emit_broadcast(s, emit_zero(s, ELEM_S64), &at, NULL, 0);
    for (int d = 0; d < to->rank; d++) {
        i = emit_binary(s, &at, "multiply", i,
                        emit_broadcast(s, num_inst(s, sizes[d]), &at, NULL, 0));
        i = emit_binary(s, &at, "add", i, emit_op(s, &at, "iota", NULL, 0, "iota_dimension=%d", d));
    }
    x = emit_op(s, &out, "gather", (hlo_inst *[]){x, i}, 2,
                "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
                "index_vector_dim=%d, slice_sizes=%s",
                to->rank, ints_text(s->imp, one, 1));
    for (int d = 0; d < to->rank; d++)
        if (to->dynamic[d])
            x = show_size(s, x, &out, d, sizes[d]);
    return x;
}

hlo_inst *reshape_to(struct scope *s, hlo_inst *x, const struct array *from, const struct array *to,
                     const struct num *sizes)
{
    if (array_is_static(from) && array_is_static(to))
        return emit_unary(s, to, "reshape", x);
    bool even = array_elements(from) == array_elements(to);
    return even ? dynamic_reshape(s, x, to, sizes) : spread(s, x, from, to, sizes);
}

hlo_inst *add_ones(struct scope *s, hlo_inst *x, struct array *a, const bool *is_new, int rank)
{
    struct array to = {.elem = a->elem, .rank = rank};
    int64_t at[ONNX_MAX_RANK + 1];
    int n = 0;
    for (int d = 0; d < rank; d++) {
        if (!is_new[d]) {
            to.dims[d] = a->dims[n];
            to.dynamic[d] = a->dynamic[n];
            at[n++] = d;
        } else {
            to.dims[d] = 1;
        }
    }
    bool is_static = array_is_static(a), same = rank == a->rank;
    *a = to;
    if (same)
        return x;
    /* a reshape cannot tell which dimensions of the result are dynamic */
    return is_static ? emit_unary(s, a, "reshape", x) : emit_broadcast(s, x, a, at, n);
}

/* ---- elements of a dimension ---- */

hlo_inst *take_at(struct scope *s, hlo_inst *x, struct array *a, int d, hlo_inst *indices,
                  int64_t count, struct num size)
{
    struct array to = *a;
    int64_t slice[ONNX_MAX_RANK + 1];
    int64_t offset[ONNX_MAX_RANK + 1];
    int n = 0;
    for (int k = 0; k < a->rank; k++) {
        slice[k] = k == d ? 1 : a->dims[k];
        if (k != d)
            offset[n++] = k;
    }
    to.dims[d] = count;
    to.dynamic[d] = false;
    if (a->dims[d] == 0) { /* empty result: the bounds serve as sizes of the other dimensions */
        to.dims[d] = 0;
        *a = array_of(a->elem, a->rank, to.dims);
        return emit_broadcast(s, emit_zero(s, a->elem), a, NULL, 0);
    }
    x = emit_op(s, &to, "gather", (hlo_inst *[]){x, indices}, 2,
                "offset_dims=%s, collapsed_slice_dims={%d}, start_index_map={%d}, "
                "index_vector_dim=1, slice_sizes=%s",
                ints_text(s->imp, offset, (size_t)n), d, d,
                ints_text(s->imp, slice, (size_t)a->rank));
    *a = to;
    return set_size(s, x, a, d, size);
}

hlo_inst *take_range(struct scope *s, hlo_inst *x, struct array *a, int d, struct num start,
                     struct num step, struct num size, int64_t bound)
{
    struct array row = array_of(ELEM_S64, 1, &bound);
    hlo_inst *i = emit_iota(s, ELEM_S64, bound);
    if (!step.known || step.n != 1)
        i = emit_binary(s, &row, "multiply", i,
                        emit_broadcast(s, num_inst(s, step), &row, NULL, 0));
    if (!start.known || start.n != 0)
        i = emit_binary(s, &row, "add", i, emit_broadcast(s, num_inst(s, start), &row, NULL, 0));
    return take_at(s, x, a, d, i, bound, size);
}
