/*
 * ONNX types and values: element types by number, types as text, type checks, freeing.
 */
#include "onnx/onnx.h"

/* ---- element types ---- */

struct dtype_row {
    int number;
    const char *name, *hlo;
};

static const struct dtype_row dtypes[] = {
#define ONNX_DTYPE(number, name, hlo, bits, field) {number, name, hlo},
#include "onnx/dtype.def"
};

static const struct dtype_row *dtype_row(int elem)
{
    for (size_t i = 0; i < COUNT_OF(dtypes); i++)
        if (dtypes[i].number == elem)
            return &dtypes[i];
    return NULL;
}

const char *onnx_dtype_hlo(int elem)
{
    const struct dtype_row *row = dtype_row(elem);
    return row ? row->hlo : NULL;
}

const char *onnx_dtype_name(int elem)
{
    const struct dtype_row *row = dtype_row(elem);
    return row ? row->name : "?";
}

int onnx_dtype_find(const char *hlo)
{
    for (size_t i = 0; i < COUNT_OF(dtypes); i++)
        if (dtypes[i].hlo && strcmp(dtypes[i].hlo, hlo) == 0)
            return dtypes[i].number;
    return 0;
}

/* ---- types as text ---- */

static void put_tensor_type(struct buf *b, const struct onnx_type *t)
{
    buf_puts(b, onnx_dtype_name(t->elem));
    if (t->rank < 0)
        return;
    buf_putc(b, '[');
    for (int d = 0; d < t->rank; d++) {
        if (d > 0)
            buf_putc(b, ',');
        if (t->dims[d] < 0)
            buf_putc(b, '?');
        else
            buf_int(b, t->dims[d]);
    }
    buf_putc(b, ']');
}

void onnx_type_print(struct buf *b, const struct onnx_type *t)
{
    static const char *const before[] = {[ONNX_SEQUENCE] = "seq(",
                                         [ONNX_OPTIONAL] = "optional(",
                                         [ONNX_OPTIONAL_SEQUENCE] = "optional(seq("};
    static const char *const after[] = {
        [ONNX_SEQUENCE] = ")", [ONNX_OPTIONAL] = ")", [ONNX_OPTIONAL_SEQUENCE] = "))"};
    if (t->kind == ONNX_UNKNOWN) {
        buf_putc(b, '?');
        return;
    }
    if (t->kind != ONNX_TENSOR)
        buf_puts(b, before[t->kind]);
    put_tensor_type(b, t);
    if (t->kind != ONNX_TENSOR)
        buf_puts(b, after[t->kind]);
}

/* ---- type checks ---- */

static bool tensor_fits(const hlo_literal *tensor, const struct onnx_type *t)
{
    struct hlo_array a = hlo_literal_leaf(tensor, 0);
    if (t->elem && onnx_dtype_find(a.dtype) != t->elem)
        return false;
    if (t->rank < 0)
        return true;
    bool fits = a.rank == (size_t)t->rank;
    for (size_t d = 0; fits && d < a.rank; d++)
        fits = t->dims[d] < 0 || t->dims[d] == a.dims[d];
    return fits;
}

/* Of the tensors of a sequence only the element type is checked: models do not adhere to the
 * declared shape. */
static bool elements_fit(const struct onnx_value *v, const struct onnx_type *t,
                         const hlo_literal **wrong)
{
    struct onnx_type element = {
        .kind = ONNX_TENSOR, .elem = t->elem ? t->elem : v->elem, .rank = -1};
    for (size_t i = 0; i < v->count; i++)
        if (!tensor_fits(v->elements[i].tensor, &element)) {
            *wrong = v->elements[i].tensor;
            return false;
        }
    return true;
}

bool onnx_value_fits(const struct onnx_value *v, const struct onnx_type *type, const char *file,
                     struct str who, hlo_messages *m)
{
    const hlo_literal *wrong = v->tensor;
    bool sequence = v->kind == ONNX_SEQUENCE || v->kind == ONNX_OPTIONAL_SEQUENCE;
    bool fits = v->kind == type->kind;
    if (fits && sequence)
        fits = elements_fit(v, type, &wrong);
    else if (fits && v->present)
        fits = tensor_fits(v->tensor, type);
    if (fits)
        return true;
    SCOPED_BUF b = {0};
    onnx_type_print(&b, type);
    hlo_text shape = wrong ? hlo_literal_shape(wrong) : (hlo_text){0};
    onnx_error(m, file, "'" STR_FMT "' is %s; the value%s is %s", STR_ARG(who), b.data,
               sequence && wrong ? " has an element that" : "",
               wrong ? shape.data : "of another kind");
    hlo_text_free(&shape);
    return false;
}

bool onnx_error(hlo_messages *m, const char *file, const char *format, ...)
{
    SCOPED_ARENA a = arena_make();
    va_list ap;
    va_start(ap, format);
    hlo_messages_add(m, file, arena_vprintf(&a, format, ap).ptr);
    va_end(ap);
    return false;
}

/* ---- freeing ---- */

void onnx_value_free(struct onnx_value *v)
{
    hlo_literal_free(v->tensor);
    for (size_t i = 0; i < v->count; i++)
        hlo_literal_free(v->elements[i].tensor);
    heap_free(v->elements);
    *v = (struct onnx_value){0};
}

static void free_graph(struct onnx_graph *g)
{
    for (size_t i = 0; i < g->initializer_count; i++)
        onnx_value_free(&g->initializers[i].value);
    for (size_t n = 0; n < g->node_count; n++)
        for (size_t k = 0; k < g->nodes[n].attr_count; k++) {
            struct onnx_attr *attr = &g->nodes[n].attrs[k];
            onnx_value_free(&attr->tensor);
            if (attr->graph)
                free_graph(attr->graph);
        }
}

void onnx_model_free(struct onnx_model *model)
{
    if (!model)
        return;
    free_graph(&model->graph);
    arena_free(&model->arena);
    heap_free(model);
}
