/*
 * Elementwise operators with NumPy's broadcasting: arithmetic, comparisons, logic, Where, Cast.
 */
#include "onnx/import_priv.h"

/* ---- broadcasting ---- */

/* Dimension d of the result. Of two dynamic sizes, one may be 1 at run time; the elementwise
 * instruction then broadcasts it (grammar/values.md: element-wise on dynamic sizes). */
static bool meet(const struct array *x, const struct array *y, int d, struct array *out)
{
    bool changes = x->dynamic[d] || y->dynamic[d];
    if (!x->dynamic[d] && x->dims[d] == 1) {
        out->dims[d] = y->dims[d];
        out->dynamic[d] = y->dynamic[d];
        return true;
    }
    if (!y->dynamic[d] && y->dims[d] == 1) {
        out->dims[d] = x->dims[d];
        out->dynamic[d] = x->dynamic[d];
        return true;
    }
    out->dims[d] = x->dims[d] > y->dims[d] ? x->dims[d] : y->dims[d];
    out->dynamic[d] = changes;
    return changes || x->dims[d] == y->dims[d];
}

/* The type with leading dimensions of size 1, up to this rank. */
static struct array aligned(const struct array *a, int rank)
{
    struct array out = {.elem = a->elem, .rank = rank};
    for (int d = 0; d < rank; d++) {
        int k = d - (rank - a->rank);
        out.dims[d] = k < 0 ? 1 : a->dims[k];
        out.dynamic[d] = k >= 0 && a->dynamic[k];
    }
    return out;
}

static bool meet_all(struct scope *s, const struct array *x, const struct array *y,
                     struct array *out)
{
    int rank = x->rank > y->rank ? x->rank : y->rank;
    struct array ax = aligned(x, rank), ay = aligned(y, rank);
    *out = (struct array){.elem = x->elem, .rank = rank};
    for (int d = 0; d < rank; d++)
        if (!meet(&ax, &ay, d, out)) {
            struct val vx = tensor_val(x, NULL), vy = tensor_val(y, NULL);
            return refuse_node(s, "cannot broadcast %s and %s", type_text(s->imp, &vx),
                               type_text(s->imp, &vy));
        }
    return true;
}

/* x without its dimensions of size 1 where `common` has more; `at` maps the other dimensions to
 * those of `common`. */
static hlo_inst *drop_repeated(struct scope *s, hlo_inst *x, struct array *a,
                               const struct array *common, int64_t *at)
{
    struct array kept = {.elem = a->elem};
    struct num size[ONNX_MAX_RANK + 1];
    int shift = common->rank - a->rank;
    for (int d = 0; d < a->rank; d++) {
        bool repeats = !a->dynamic[d] && a->dims[d] == 1 &&
                       (common->dynamic[d + shift] || common->dims[d + shift] != 1);
        if (repeats)
            continue;
        at[kept.rank] = d + shift;
        kept.dims[kept.rank] = a->dims[d];
        kept.dynamic[kept.rank] = a->dynamic[d];
        kept.rank++;
    }
    if (kept.rank == a->rank)
        return x;
    bool moves = !array_is_static(a);
    for (int k = 0; k < kept.rank && moves; k++)
        size[k] = num_size(s, x, a, (int)at[k] - shift);
    x = reshape_to(s, x, a, &kept, size);
    *a = kept;
    return x;
}

/* x broadcast to the sizes of `common`; dimensions that only the other operand has get their
 * bound. */
static hlo_inst *bring(struct scope *s, struct val *v, const struct array *common)
{
    hlo_inst *x = data_of(s, v);
    struct array a = v->a, to = v->a;
    int64_t at[ONNX_MAX_RANK + 1];
    int shift = common->rank - a.rank;
    for (int d = 0; d < a.rank; d++)
        if (a.dynamic[d] || a.dims[d] != 1) {
            to.dims[d] = common->dims[d + shift];
            to.dynamic[d] = common->dynamic[d + shift];
        }
    x = fit_array(s, x, &a, &to);
    x = drop_repeated(s, x, &to, common, at);
    if (to.rank == common->rank)
        return x;
    struct array full = array_of(a.elem, common->rank, common->dims);
    for (int k = 0; k < to.rank; k++)
        full.dynamic[at[k]] = to.dynamic[k];
    return emit_broadcast(s, x, &full, at, to.rank);
}

static bool broadcast_binary(struct scope *s, struct val *x, struct val *y, struct array *a,
                             hlo_inst **out_x, hlo_inst **out_y)
{
    if (!meet_all(s, &x->a, &y->a, a))
        return false;
    *out_x = bring(s, x, a);
    *out_y = bring(s, y, a);
    return true;
}

/* Both inputs, broadcast to the sizes of the result and converted to one element type. */
static bool both(struct node *n, size_t i, size_t j, struct array *a, hlo_inst **x, hlo_inst **y)
{
    struct val *vx = tensor_of(n, i), *vy = vx ? tensor_of(n, j) : NULL;
    if (!vy)
        return false;
    if (vx->a.elem != vy->a.elem)
        return refuse_node(n->s, "incompatible inputs %s and %s", type_text(n->s->imp, vx),
                           type_text(n->s->imp, vy));
    return broadcast_binary(n->s, vx, vy, a, x, y);
}

/* ---- arithmetic ---- */

bool op_binary(struct node *n)
{
    struct array a;
    hlo_inst *x, *y;
    return both(n, 0, 1, &a, &x, &y) && set_tensor(n, &a, emit_binary(n->s, &a, n->row->arg, x, y));
}

/* Only pred: HLO's instructions accept integers as well, ONNX's operators do not. */
bool op_logical(struct node *n)
{
    struct val *v = tensor_of(n, 0);
    if (v && v->a.elem != ELEM_PRED)
        return refuse_node(n->s, "input 0 is %s, expected bool", type_text(n->s->imp, v));
    return v && (n->row->max_inputs == 1 ? op_unary(n) : op_binary(n));
}

bool op_compare(struct node *n)
{
    struct array a;
    hlo_inst *x, *y;
    if (!both(n, 0, 1, &a, &x, &y))
        return false;
    x = emit_compare(n->s, &a, n->row->arg, x, y);
    a.elem = ELEM_PRED;
    return set_tensor(n, &a, x);
}

static hlo_inst *fill(struct scope *s, const struct array *a, const char *value)
{
    struct array full = array_of(a->elem, a->rank, a->dims);
    hlo_inst *x = emit_scalar(s, a->elem, value);
    return a->rank == 0 ? x : emit_broadcast(s, x, &full, NULL, 0);
}

bool op_variadic(struct node *n)
{
    struct val *sum = tensor_of(n, 0), *v;
    struct val total;
    struct array a;
    hlo_inst *x, *y;
    if (!sum)
        return false;
    total = *sum;
    data_of(n->s, &total);
    for (size_t k = 1; k < n->input_count; k++) {
        if (!(v = tensor_of(n, k)))
            return false;
        if (v->a.elem != total.a.elem)
            return refuse_node(n->s, "incompatible inputs %s and %s", type_text(n->s->imp, &total),
                               type_text(n->s->imp, v));
        if (!broadcast_binary(n->s, &total, v, &a, &x, &y))
            return false;
        total = tensor_val(&a, emit_binary(n->s, &a, n->row->arg, x, y));
    }
    return set_tensor(n, &total.a, total.data);
}

bool op_mean(struct node *n)
{
    if (!op_variadic(n))
        return false;
    struct val *v = &n->outputs[0];
    struct str count = arena_printf(n->s->imp->arena, "%zu", n->input_count);
    hlo_inst *by = fill(n->s, &v->a, count.ptr);
    return set_tensor(n, &v->a, emit_binary(n->s, &v->a, "divide", data_of(n->s, v), by));
}

/* With fmod=1 the result has the sign of the dividend, like HLO's remainder; otherwise that of the
 * divisor. */
bool op_mod(struct node *n)
{
    struct scope *s = n->s;
    struct array a, p;
    hlo_inst *x, *y;
    if (!both(n, 0, 1, &a, &x, &y))
        return false;
    bool fmod = attr_int(n, "fmod", 0) != 0;
    hlo_inst *r = emit_binary(s, &a, "remainder", x, y);
    if (fmod || !elem_is_signed(a.elem))
        return set_tensor(n, &a, r);
    hlo_inst *zero = fill(s, &a, "0");
    p = a;
    p.elem = ELEM_PRED;
    hlo_inst *signs = emit_compare(s, &a, "NE", emit_compare(s, &a, "LT", r, zero),
                                   emit_compare(s, &a, "LT", y, zero));
    hlo_inst *wrong = emit_binary(s, &p, "and", emit_compare(s, &a, "NE", r, zero), signs);
    return set_tensor(n, &a, emit_select(s, &a, wrong, emit_binary(s, &a, "add", r, y), r));
}

/* The exponent may have a different type than the base; the result has that of the base. */
bool op_pow(struct node *n)
{
    struct scope *s = n->s;
    struct val *x = tensor_of(n, 0), *y = x ? tensor_of(n, 1) : NULL;
    if (!y)
        return false;
    int elem = x->a.elem,
        common = !elem_is_float(elem) && elem_is_float(y->a.elem) ? ELEM_F64 : elem;
    struct val cx = *x, cy = *y;
    struct array a;
    hlo_inst *ix, *iy;
    cx.data = emit_convert(s, data_of(s, x), &cx.a, common);
    cy.data = emit_convert(s, data_of(s, y), &cy.a, common);
    if (!broadcast_binary(s, &cx, &cy, &a, &ix, &iy))
        return false;
    hlo_inst *r = emit_binary(s, &a, "power", ix, iy);
    r = emit_convert(s, r, &a, elem);
    return set_tensor(n, &a, r);
}

/* ---- unary operators ---- */

bool op_unary(struct node *n)
{
    struct val *v = tensor_of(n, 0);
    return v && set_tensor(n, &v->a, emit_unary(n->s, &v->a, n->row->arg, data_of(n->s, v)));
}

bool op_abs(struct node *n)
{
    struct val *v = tensor_of(n, 0);
    if (!v)
        return false;
    return elem_is_signed(v->a.elem) ? op_unary(n) : set_val(n, 0, *v);
}

bool op_relu(struct node *n)
{
    struct val *v = tensor_of(n, 0);
    return v && set_tensor(
                    n, &v->a,
                    emit_binary(n->s, &v->a, "maximum", data_of(n->s, v), fill(n->s, &v->a, "0")));
}

bool op_reciprocal(struct node *n)
{
    struct val *v = tensor_of(n, 0);
    return v &&
           set_tensor(n, &v->a,
                      emit_binary(n->s, &v->a, "divide", fill(n->s, &v->a, "1"), data_of(n->s, v)));
}

bool op_is_nan(struct node *n)
{
    struct val *v = tensor_of(n, 0);
    if (!v)
        return false;
    struct array a = v->a;
    hlo_inst *x = data_of(n->s, v), *is = emit_compare(n->s, &a, "NE", x, x);
    a.elem = ELEM_PRED;
    return set_tensor(n, &a, is);
}

/* Applies one bound of Clip, a scalar. */
static hlo_inst *clip_by(struct node *n, size_t input, const char *opcode, const struct array *a,
                         hlo_inst *x)
{
    struct val *v = input_of(n, input) ? tensor_of(n, input) : NULL;
    if (!v || !x)
        return x;
    if (v->a.rank != 0 || v->a.elem != a->elem)
        return refuse_node(n->s, "bounds must be scalars of type %s, got %s",
                           onnx_dtype_name(a->elem), type_text(n->s->imp, v)),
               NULL;
    struct array full = array_of(a->elem, a->rank, a->dims);
    hlo_inst *bound = data_of(n->s, v);
    return emit_binary(n->s, a, opcode, x,
                       a->rank == 0 ? bound : emit_broadcast(n->s, bound, &full, NULL, 0));
}

bool op_clip(struct node *n)
{
    struct val *v = tensor_of(n, 0);
    hlo_inst *x = v ? clip_by(n, 1, "maximum", &v->a, data_of(n->s, v)) : NULL;
    x = x ? clip_by(n, 2, "minimum", &v->a, x) : NULL;
    return x && set_tensor(n, &v->a, x);
}

/* ---- Where ---- */

/* The sizes to which all inputs are broadcast: a known one that is not 1, else the one that is not
 * 1 at run time. */
static void common_sizes(struct scope *s, struct val *v, struct array *common, struct num *size,
                         bool first)
{
    int shift = common->rank - v->a.rank;
    for (int d = 0; d < common->rank; d++) {
        struct num mine = d < shift ? num_of(1) : num_size(s, data_of(s, v), &v->a, d - shift);
        if (first || (size[d].known && size[d].n == 1) || (mine.known && mine.n != 1))
            size[d] = mine;
        else if (!mine.known && !size[d].known)
            size[d] = num_if(s, size[d], "EQ", num_of(1), mine, size[d]);
        common->dynamic[d] = !size[d].known;
        if (size[d].known)
            common->dims[d] = size[d].n;
    }
}

bool op_where(struct node *n)
{
    struct scope *s = n->s;
    struct val *v[3];
    struct array values, a;
    struct num size[ONNX_MAX_RANK + 1];
    hlo_inst *x[3];
    for (size_t k = 0; k < 3; k++)
        if (!(v[k] = tensor_of(n, k)))
            return false;
    if (v[0]->a.elem != ELEM_PRED || v[1]->a.elem != v[2]->a.elem)
        return refuse_node(s, "incompatible inputs %s, %s and %s", type_text(s->imp, v[0]),
                           type_text(s->imp, v[1]), type_text(s->imp, v[2]));
    if (!meet_all(s, &v[1]->a, &v[2]->a, &values) || !meet_all(s, &values, &v[0]->a, &a))
        return false;
    for (size_t k = 0; k < 3; k++)
        common_sizes(s, v[k], &a, size, k == 0);
    struct array to;
    for (size_t k = 0; k < 3; k++) {
        to = a;
        to.elem = v[k]->a.elem;
        x[k] = expand_to(s, data_of(s, v[k]), &v[k]->a, &to, size);
    }
    return set_tensor(n, &to, emit_select(s, &to, x[0], x[1], x[2]));
}

/* ---- Cast ---- */

/* The largest finite number of a narrow float type that also has infinities or NaN. */
static const char *largest(int elem)
{
    const char *hlo = onnx_dtype_hlo(elem);
    static const char *const table[][2] = {
        {"f8e4m3fn", "448"},
        {"f8e4m3fnuz", "240"},
        {"f8e5m2", "57344"},
        {"f8e5m2fnuz", "57344"},
    };
    for (size_t k = 0; k < COUNT_OF(table); k++)
        if (strcmp(hlo, table[k][0]) == 0)
            return table[k][1];
    return NULL;
}

static bool is_below_byte(int elem)
{
    return elem_is_int(elem) && strlen(onnx_dtype_hlo(elem)) == 2 && onnx_dtype_hlo(elem)[1] < '8';
}

static bool cast(struct node *n, struct val *v, int elem)
{
    struct scope *s = n->s;
    if (!onnx_dtype_hlo(elem))
        return refuse_node(s, "element type %s has no HLO equivalent", onnx_dtype_name(elem));
    struct array a = v->a;
    if (a.elem == elem)
        return set_val(n, 0, *v);
    hlo_inst *x = data_of(s, v);
    const char *max = largest(elem);
    if (max && attr_int(n, "saturate", 1) != 0) {
        if (a.elem != ELEM_F64) /* the bounds must be representable in the type */
            x = emit_convert(s, x, &a, ELEM_F32);
        struct str min = arena_printf(s->imp->arena, "-%s", max);
        hlo_inst *bounds[] = {emit_scalar(s, a.elem, min.ptr), x, emit_scalar(s, a.elem, max)};
        x = emit_op(s, &a, "clamp", bounds, 3, "%s", "");
    }
    /* Via s32: HLO would saturate, ONNX truncates. */
    if (elem_is_float(a.elem) && is_below_byte(elem))
        x = emit_convert(s, x, &a, ELEM_S32);
    x = emit_convert(s, x, &a, elem);
    return set_tensor(n, &a, x);
}

bool op_cast(struct node *n)
{
    struct val *v = tensor_of(n, 0);
    const struct onnx_attr *to = attr_find(n, "to");
    if (!v)
        return false;
    if (!to || to->kind != ONNX_ATTR_INT || to->i < 0 || to->i > INT_MAX)
        return refuse_node(n->s, "attribute 'to' is not an element type");
    return cast(n, v, (int)to->i);
}

bool op_cast_like(struct node *n)
{
    struct val *v = tensor_of(n, 0), *like = v ? tensor_of(n, 1) : NULL;
    return like && cast(n, v, like->a.elem);
}
