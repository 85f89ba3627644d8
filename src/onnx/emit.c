/*
 * Emits instructions and constants for the translators. The instructions of a node are named after
 * its first output, and their metadata has the node's name and operator.
 */
#include "onnx/import_priv.h"

/* ---- types ---- */

struct array array_of(int elem, int rank, const int64_t *dims)
{
    struct array a = {.elem = elem, .rank = rank};
    for (int d = 0; d < rank; d++)
        a.dims[d] = dims[d];
    return a;
}

struct array scalar_of(int elem) { return array_of(elem, 0, NULL); }

bool array_is_static(const struct array *a)
{
    for (int d = 0; d < a->rank; d++)
        if (a->dynamic[d])
            return false;
    return true;
}

int64_t mul_most(int64_t a, int64_t b)
{
    int64_t product;
    return mul_i64(a, b, &product) ? product : INT64_MAX;
}

int64_t array_elements(const struct array *a)
{
    int64_t n = 1;
    for (int d = 0; d < a->rank; d++)
        n = mul_most(n, a->dims[d]);
    return n;
}

static bool spelling_starts(int elem, const char *prefix)
{
    const char *hlo = onnx_dtype_hlo(elem);
    return hlo && str_starts(str_of(hlo), str_of(prefix));
}

bool elem_is_float(int elem) { return spelling_starts(elem, "f") || spelling_starts(elem, "b"); }
bool elem_is_signed(int elem) { return !spelling_starts(elem, "u") && elem != ELEM_PRED; }
static bool elem_is_complex(int elem) { return spelling_starts(elem, "c"); }
bool elem_is_int(int elem) { return spelling_starts(elem, "s") || spelling_starts(elem, "u"); }

void put_dims(struct buf *b, const struct array *a)
{
    for (int d = 0; BUF_LIST(b, d, a->rank, "[]", ","); d++)
        buf_printf(b, "%s%" PRId64, a->dynamic[d] ? "<=" : "", a->dims[d]);
}

void put_shape(struct buf *b, const struct array *a)
{
    const char *hlo = onnx_dtype_hlo(a->elem);
    /* Unknown element type: there are no elements, so any type is correct. */
    buf_puts(b, hlo ? hlo : "pred");
    put_dims(b, a);
}

/* ---- names ---- */

/* Names that instructions cannot have, or that the builder generates with a number: constant.1 */
static bool is_taken(struct str name)
{
    for (size_t i = 0; hlo_dtype_name(i); i++)
        if (str_is(name, hlo_dtype_name(i)))
            return true;
    return str_starts(name, STR("__")) || str_is(name, "constant") || str_is(name, "tuple");
}

/* A name without dots, so that it cannot collide with numbered names: x.1 */
struct str legal_name(struct import *imp, struct str name)
{
    size_t len = name.len < 64 ? name.len : 64;
    struct str out =
        arena_printf(imp->arena, "%s" STR_FMT, len == 0 || !char_is_letter(*name.ptr) ? "_" : "",
                     (int)len, name.ptr);
    char *at = arena_copy(imp->arena, out.ptr, out.len + 1);
    for (size_t k = 0; k < out.len; k++)
        if (!char_is_letter(at[k]) && !char_is_digit(at[k]))
            at[k] = '_';
    out.ptr = at;
    return is_taken(out) ? arena_printf(imp->arena, "x_" STR_FMT, STR_ARG(out)) : out;
}

/* The name itself if it is unused, otherwise with .1, .2 ... */
static struct str fresh_name(struct scope *s, struct str name)
{
    name = legal_name(s->imp, name);
    int *count = map_get(s->names, name);
    if (!count) {
        map_put(s->names, name, ARENA_NEW(s->imp->arena, int));
        return name;
    }
    return arena_printf(s->imp->arena, STR_FMT ".%d", STR_ARG(name), ++*count);
}

static struct str node_name(const struct scope *s)
{
    const struct onnx_node *n = s->node;
    for (size_t k = 0; n && k < n->output_count; k++)
        if (n->outputs[k].len > 0)
            return n->outputs[k];
    return n ? n->op : STR("value");
}

static void put_quoted(struct buf *b, struct str text)
{
    buf_putc(b, '"');
    for (size_t k = 0; k < text.len && k < 200; k++) {
        char c = text.ptr[k];
        buf_putc(b, c < ' ' || c > '~' || c == '"' || c == '\\' ? '_' : c);
    }
    buf_putc(b, '"');
}

static void put_metadata(const struct scope *s, struct buf *b)
{
    if (!s->node)
        return;
    buf_puts(b, b->size ? ", metadata={op_type=" : "metadata={op_type=");
    put_quoted(b, s->node->op);
    if (s->node->name.len > 0) {
        buf_puts(b, " op_name=");
        put_quoted(b, s->node->name);
    }
    buf_putc(b, '}');
}

/* ---- instructions ---- */

hlo_inst *emit_typed(struct scope *s, const char *shape, const char *opcode,
                     hlo_inst *const *operands, size_t count, const char *attributes)
{
    SCOPED_BUF what = {0}, tail = {0};
    struct str name = fresh_name(s, node_name(s));
    buf_printf(&what, "%%" STR_FMT " = %s %s", STR_ARG(name), shape, opcode);
    buf_puts(&tail, attributes);
    put_metadata(s, &tail);
    return hlo_build(s->c, what.data, operands, count, tail.size ? tail.data : NULL);
}

hlo_inst *emit_op(struct scope *s, const struct array *a, const char *opcode,
                  hlo_inst *const *operands, size_t count, const char *attributes, ...)
{
    va_list ap;
    va_start(ap, attributes);
    struct str text = arena_vprintf(s->imp->arena, attributes, ap);
    va_end(ap);
    SCOPED_BUF shape = {0};
    put_shape(&shape, a);
    return emit_typed(s, shape.data, opcode, operands, count, text.ptr);
}

hlo_inst *emit_unary(struct scope *s, const struct array *a, const char *opcode, hlo_inst *x)
{
    return emit_op(s, a, opcode, &x, 1, "%s", "");
}

hlo_inst *emit_binary(struct scope *s, const struct array *a, const char *opcode, hlo_inst *x,
                      hlo_inst *y)
{
    return emit_op(s, a, opcode, (hlo_inst *[]){x, y}, 2, "%s", "");
}

hlo_inst *emit_compare(struct scope *s, const struct array *like, const char *direction,
                       hlo_inst *x, hlo_inst *y)
{
    struct array a = *like;
    a.elem = ELEM_PRED;
    return emit_op(s, &a, "compare", (hlo_inst *[]){x, y}, 2, "direction=%s", direction);
}

hlo_inst *emit_select(struct scope *s, const struct array *a, hlo_inst *pred, hlo_inst *x,
                      hlo_inst *y)
{
    return emit_op(s, a, "select", (hlo_inst *[]){pred, x, y}, 3, "%s", "");
}

hlo_inst *emit_convert(struct scope *s, hlo_inst *x, struct array *a, int elem)
{
    if (a->elem == elem)
        return x;
    a->elem = elem;
    return emit_unary(s, a, "convert", x);
}

hlo_inst *emit_iota(struct scope *s, int elem, int64_t size)
{
    struct array a = array_of(elem, 1, &size);
    return emit_op(s, &a, "iota", NULL, 0, "iota_dimension=0");
}

hlo_inst *emit_broadcast(struct scope *s, hlo_inst *x, const struct array *a, const int64_t *to,
                         int count)
{
    return emit_op(s, a, "broadcast", &x, 1, "dimensions=%s", ints_text(s->imp, to, (size_t)count));
}

hlo_inst *emit_parameter(struct scope *s, size_t number, const char *shape, struct str name)
{
    return hlo_parameter(s->c, number, shape, fresh_name(s, name).ptr);
}

const char *ints_text(struct import *imp, const int64_t *at, size_t count)
{
    SCOPED_BUF b = {0};
    for (size_t k = 0; BUF_LIST(&b, k, count, "{}", ","); k++)
        buf_int(&b, at[k]);
    return arena_str(imp->arena, buf_view(&b)).ptr;
}

const char *count_text(struct import *imp, int64_t from, int64_t to)
{
    int64_t at[2 * ONNX_MAX_RANK + 2];
    size_t count = 0;
    for (int64_t k = from; k < to; k++)
        at[count++] = k;
    return ints_text(imp, at, count);
}

/* ---- constants ---- */

struct kept {
    hlo_literal *l;
    struct kept *next;
};

hlo_literal *keep_literal(struct import *imp, hlo_literal *l)
{
    if (!l)
        return NULL;
    struct kept *k = ARENA_NEW(imp->arena, struct kept);
    *k = (struct kept){l, imp->kept};
    imp->kept = k;
    return l;
}

void free_literals(struct import *imp)
{
    for (; imp->kept; imp->kept = imp->kept->next)
        hlo_literal_free(imp->kept->l);
}

static void store_int(struct hlo_array *to, size_t i, int64_t value)
{
    char *at = (char *)to->data + i * to->element_size;
    switch (to->element_size) { /* integers, in native byte order */
    case 1: *(uint8_t *)at = (uint8_t)value; break;
    case 2: memcpy(at, &(uint16_t){(uint16_t)value}, 2); break;
    case 4: memcpy(at, &(uint32_t){(uint32_t)value}, 4); break;
    default: memcpy(at, &value, 8); break;
    }
}

hlo_literal *literal_of_ints(struct scope *s, int elem, int rank, const int64_t *dims,
                             const int64_t *values)
{
    hlo_literal *l =
        keep_literal(s->imp, hlo_literal_new(onnx_dtype_hlo(elem), (size_t)rank, dims, s->m));
    if (!l)
        return NULL;
    struct hlo_array to = hlo_literal_leaf(l, 0);
    for (size_t i = 0; i < to.elements; i++)
        store_int(&to, i, values[i]);
    return l;
}

hlo_literal *literal_of_scalar(struct scope *s, int elem, const char *value)
{
    struct str text = arena_printf(s->imp->arena, "%s[] %s", onnx_dtype_hlo(elem), value);
    return keep_literal(s->imp, hlo_literal_parse(text.ptr, text.len, s->m));
}

/* Each constant is emitted once per computation. */
hlo_inst *emit_scalar(struct scope *s, int elem, const char *value)
{
    struct str key = arena_printf(s->imp->arena, "%s %s", onnx_dtype_hlo(elem), value);
    hlo_inst *i = map_get(s->constants, key);
    if (!i && (i = hlo_constant(s->c, literal_of_scalar(s, elem, value))))
        map_put(s->constants, key, i);
    return i;
}

hlo_inst *emit_int(struct scope *s, int elem, int64_t value)
{
    return emit_scalar(s, elem, arena_printf(s->imp->arena, "%" PRId64, value).ptr);
}

hlo_inst *emit_zero(struct scope *s, int elem)
{
    elem = onnx_dtype_hlo(elem) ? elem : ELEM_PRED; /* an unknown type has no elements */
    return emit_scalar(s, elem,
                       elem == ELEM_PRED       ? "false"
                       : elem_is_complex(elem) ? "(0, 0)"
                                               : "0");
}

/* ---- known elements ---- */

size_t known_count(const struct val *v)
{
    return v->known ? hlo_literal_leaf(v->known, 0).elements : 0;
}

int64_t known_int(const struct val *v, size_t i)
{
    struct hlo_array x = hlo_literal_leaf(v->known, 0);
    const char *at = (const char *)x.data + i * x.element_size;
    uint16_t u16;
    uint32_t u32;
    int64_t s64;
    bool is_signed = *x.dtype == 's';
    switch (x.element_size) {
    case 1: return is_signed ? (int8_t)*at : (uint8_t)*at;
    case 2: memcpy(&u16, at, 2); return is_signed ? (int16_t)u16 : u16;
    case 4: memcpy(&u32, at, 4); return is_signed ? (int64_t)(int32_t)u32 : (int64_t)u32;
    default: memcpy(&s64, at, 8); return s64;
    }
}

double known_double(const struct val *v, size_t i)
{
    struct hlo_array x = hlo_literal_leaf(v->known, 0);
    float f32;
    double f64;
    if (strcmp(x.dtype, "f32") == 0) {
        memcpy(&f32, (const char *)x.data + i * sizeof f32, sizeof f32);
        return f32;
    }
    if (strcmp(x.dtype, "f64") == 0) {
        memcpy(&f64, (const char *)x.data + i * sizeof f64, sizeof f64);
        return f64;
    }
    return (double)known_int(v, i);
}
