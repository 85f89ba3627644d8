/*
 * Conversion of values to arguments for the module's parameters, and of results to values:
 * sequences of tensors of different shapes become padded arrays (onnx.h), and vice versa.
 */
#include "onnx/import_priv.h"

#include <stdlib.h>

enum { MAX_DIMS = 64 };

/* ---- types in HLO syntax ---- */

/* Parses the text of a shape: an array or a tuple. */
struct reader {
    const char *at;
};

struct leaf_type {
    char dtype[16];
    size_t rank;
    int64_t dims[MAX_DIMS];
    bool dynamic[MAX_DIMS];
};

static bool read_char(struct reader *r, char c)
{
    while (*r->at == ' ')
        r->at++;
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

static bool read_leaf(struct reader *r, struct leaf_type *out)
{
    size_t n = 0;
    *out = (struct leaf_type){0};
    while (*r->at == ' ')
        r->at++;
    while (*r->at && *r->at != '[' && n < sizeof out->dtype - 1)
        out->dtype[n++] = *r->at++;
    if (!read_char(r, '['))
        return false;
    while (!read_char(r, ']')) {
        if (out->rank >= MAX_DIMS)
            return false;
        out->dynamic[out->rank] = read_char(r, '<') && read_char(r, '=');
        char *end;
        out->dims[out->rank++] = strtoll(r->at, &end, 10);
        if (end == r->at)
            return false;
        r->at = end;
        read_char(r, ',');
    }
    return true;
}

/* The type of a parameter, from its shape. */
struct param_type {
    bool optional, sequence;
    struct leaf_type data, sizes;
};

static bool read_param(const char *shape, struct param_type *out)
{
    struct reader r = {shape};
    *out = (struct param_type){0};
    if (read_char(&r, '(')) {
        out->optional = str_starts(str_of(r.at), STR("pred[],"));
        if (out->optional)
            r.at += strlen("pred[],");
        out->sequence = !out->optional || read_char(&r, '(');
    }
    return read_leaf(&r, &out->data) &&
           (!out->sequence || (read_char(&r, ',') && read_leaf(&r, &out->sizes)));
}

/* ---- copies ---- */

hlo_literal *copy_array(const hlo_literal *l, hlo_messages *m)
{
    struct hlo_array from = hlo_literal_leaf(l, 0);
    hlo_literal *to = hlo_literal_new(from.dtype, from.rank, from.dims, m);
    if (to && from.elements > 0)
        memcpy(hlo_literal_leaf(to, 0).data, from.data, from.elements * from.element_size);
    return to;
}

/* A box of `sizes` elements, copied row by row between an array of size `dims` and one without
 * padding. */
struct box {
    size_t rank, width; /* bytes of an element */
    const int64_t *dims, *sizes;
};

static void copy_box(const struct box *b, char *padded, char *dense, bool into_padded)
{
    int64_t at[MAX_DIMS] = {0};
    size_t row = b->width * (b->rank > 0 ? (size_t)b->sizes[b->rank - 1] : 1);
    for (size_t d = 0; d < b->rank; d++)
        if (b->sizes[d] == 0)
            return;
    for (;;) {
        size_t offset = 0;
        for (size_t d = 0; d < b->rank; d++)
            offset = offset * (size_t)b->dims[d] + (size_t)at[d];
        memcpy(into_padded ? padded + offset * b->width : dense,
               into_padded ? dense : padded + offset * b->width, row);
        dense += row;
        size_t d = b->rank > 0 ? b->rank - 1 : 0;
        while (d > 0 && ++at[d - 1] == b->sizes[d - 1])
            at[--d] = 0;
        if (d == 0)
            return;
    }
}

/* ---- values to arguments ---- */

static bool fits(const struct hlo_array *x, const struct param_type *p)
{
    size_t rank = p->sequence ? (size_t)p->sizes.dims[1] : p->data.rank;
    const int64_t *dims = p->data.dims + (p->sequence ? 1 : 0);
    if (strcmp(x->dtype, p->data.dtype) != 0 || x->rank > rank || (!p->sequence && x->rank != rank))
        return false;
    for (size_t d = 0; d < x->rank; d++)
        if (x->dims[d] > dims[d] || (!p->sequence && !p->data.dynamic[d] && x->dims[d] != dims[d]))
            return false;
    return true;
}

static hlo_literal *misfit(const hlo_module *module, size_t param, const char *what,
                           hlo_messages *m)
{
    hlo_text shape = hlo_param_shape(module, param);
    onnx_error(m, hlo_param_name(module, param), "%s does not match %s", what, shape.data);
    hlo_text_free(&shape);
    return NULL;
}

/* The elements of a sequence and their sizes as a tuple; they must fit. */
static hlo_literal *sequence_literal(const struct onnx_value *v, const struct param_type *p,
                                     hlo_messages *m)
{
    int64_t dims[MAX_DIMS], sizes[2] = {(int64_t)v->count, p->sizes.dims[1]};
    memcpy(dims, p->data.dims, sizeof dims);
    dims[0] = (int64_t)v->count;
    hlo_literal *parts[2] = {hlo_literal_new(p->data.dtype, p->data.rank, dims, m), NULL};
    parts[1] = parts[0] ? hlo_literal_new("s64", 2, sizes, m) : NULL;
    if (!parts[1]) {
        hlo_literal_free(parts[0]);
        return NULL;
    }
    struct hlo_array data = hlo_literal_leaf(parts[0], 0), table = hlo_literal_leaf(parts[1], 0);
    size_t rank = (size_t)sizes[1],
           step = (size_t)dims_elements((int)p->data.rank - 1, dims + 1) * data.element_size;
    for (size_t k = 0; k < v->count; k++) {
        struct hlo_array x = hlo_literal_leaf(v->elements[k].tensor, 0);
        int64_t box[MAX_DIMS];
        for (size_t d = 0; d < rank; d++) {
            int64_t size = d < x.rank ? x.dims[d] : -1;
            box[d] = size < 0 ? 1 : size;
            memcpy((char *)table.data + (k * rank + d) * sizeof size, &size, sizeof size);
        }
        copy_box(&(struct box){rank, x.element_size, dims + 1, box}, (char *)data.data + k * step,
                 x.data, true);
    }
    return hlo_literal_tuple(parts, 2);
}

static hlo_literal *tuple_of(hlo_literal *a, hlo_literal *b)
{
    if (a && b)
        return hlo_literal_tuple((hlo_literal *[]){a, b}, 2);
    hlo_literal_free(a);
    hlo_literal_free(b);
    return NULL;
}

/* The value of an empty optional. */
static hlo_literal *nothing(const struct param_type *p, hlo_messages *m)
{
    int64_t dims[MAX_DIMS];
    if (p->sequence)
        return sequence_literal(&(struct onnx_value){.kind = ONNX_SEQUENCE}, p, m);
    for (size_t d = 0; d < p->data.rank; d++)
        dims[d] = p->data.dynamic[d] ? 0 : p->data.dims[d];
    return hlo_literal_new(p->data.dtype, p->data.rank, dims, m);
}

static hlo_literal *truth(bool value, hlo_messages *m)
{
    hlo_literal *l = hlo_literal_new("pred", 0, NULL, m);
    if (l)
        *(unsigned char *)hlo_literal_leaf(l, 0).data = value;
    return l;
}

static bool is_there(const struct onnx_value *v)
{
    return v->present || v->kind == ONNX_TENSOR || v->kind == ONNX_SEQUENCE;
}

static hlo_literal *element_literal(const struct onnx_value *v, const struct param_type *p,
                                    const hlo_module *module, size_t param, hlo_messages *m)
{
    bool sequence = v->kind == ONNX_SEQUENCE || v->kind == ONNX_OPTIONAL_SEQUENCE;
    if (!is_there(v))
        return p->optional ? nothing(p, m) : misfit(module, param, "an empty optional", m);
    if (sequence != p->sequence)
        return misfit(module, param, sequence ? "a sequence" : "a tensor", m);
    if (!sequence) {
        struct hlo_array x = hlo_literal_leaf(v->tensor, 0);
        return fits(&x, p) ? copy_array(v->tensor, m) : misfit(module, param, "tensor", m);
    }
    if ((int64_t)v->count > p->data.dims[0])
        return misfit(module, param, "length of the sequence", m);
    for (size_t k = 0; k < v->count; k++) {
        struct hlo_array x = hlo_literal_leaf(v->elements[k].tensor, 0);
        if (!fits(&x, p))
            return misfit(module, param, "element of the sequence", m);
    }
    return sequence_literal(v, p, m);
}

hlo_literal *onnx_to_literal(const struct onnx_value *v, const hlo_module *module, size_t param,
                             hlo_messages *m)
{
    struct param_type p;
    hlo_text shape = hlo_param_shape(module, param);
    bool ok = read_param(shape.data, &p);
    hlo_text_free(&shape);
    if (!ok)
        return misfit(module, param, "value", m);
    hlo_literal *element = element_literal(v, &p, module, param, m);
    if (!element || !p.optional)
        return element;
    return tuple_of(truth(is_there(v), m), element);
}

/* ---- results to values ---- */

static bool tensor_value(const hlo_literal *l, struct onnx_value *out, hlo_messages *m)
{
    struct hlo_array x = hlo_literal_leaf(l, 0);
    out->elem = onnx_dtype_find(x.dtype);
    out->tensor = copy_array(l, m);
    return out->tensor != NULL;
}

/* Element k of a sequence, without its padding. */
static bool element_value(const struct hlo_array *data, const struct hlo_array *table, size_t k,
                          struct onnx_value *out, hlo_messages *m)
{
    int64_t sizes[MAX_DIMS], box[MAX_DIMS];
    size_t columns = (size_t)table->dims[1], rank = 0;
    size_t step = (size_t)dims_elements((int)data->rank - 1, data->dims + 1) * data->element_size;
    for (size_t d = 0; d < columns; d++) {
        int64_t size;
        memcpy(&size, (const char *)table->data + (k * columns + d) * sizeof size, sizeof size);
        if (size > data->dims[d + 1])
            return onnx_error(m, "result", "element %zu of a sequence exceeds its bound", k);
        box[d] = size < 0 ? 1 : size;
        if (size >= 0)
            sizes[rank++] = size;
    }
    *out = (struct onnx_value){
        .kind = ONNX_TENSOR, .present = true, .elem = onnx_dtype_find(data->dtype)};
    out->tensor = hlo_literal_new(data->dtype, rank, sizes, m);
    if (!out->tensor)
        return false;
    struct hlo_array x = hlo_literal_leaf(out->tensor, 0);
    copy_box(&(struct box){columns, x.element_size, data->dims + 1, box},
             (char *)data->data + k * step, x.data, false);
    return true;
}

static bool sequence_value(const hlo_literal *l, struct onnx_value *out, hlo_messages *m)
{
    struct hlo_array data = hlo_literal_leaf(hlo_literal_element(l, 0), 0),
                     table = hlo_literal_leaf(hlo_literal_element(l, 1), 0);
    if (data.rank < 1 || data.rank > MAX_DIMS || table.rank != 2 ||
        strcmp(table.dtype, "s64") != 0 || data.dims[0] != table.dims[0] ||
        (size_t)table.dims[1] != data.rank - 1)
        return onnx_error(m, "result", "not a sequence");
    out->elem = onnx_dtype_find(data.dtype);
    out->elements = heap_zalloc((size_t)data.dims[0] + 1, sizeof *out->elements);
    for (size_t k = 0; k < (size_t)data.dims[0]; k++, out->count++)
        if (!element_value(&data, &table, k, &out->elements[k], m))
            return false;
    return true;
}

bool onnx_from_literal(const hlo_literal *l, const struct onnx_type *type, struct onnx_value *out,
                       hlo_messages *m)
{
    bool optional = false;
    *out = (struct onnx_value){.present = true};
    if (hlo_literal_count(l) == 2 && hlo_literal_count(hlo_literal_element(l, 0)) == 0) {
        struct hlo_array first = hlo_literal_leaf(hlo_literal_element(l, 0), 0);
        optional = first.rank == 0 && strcmp(first.dtype, "pred") == 0;
        if (optional) {
            out->present = *(const unsigned char *)first.data != 0;
            l = hlo_literal_element(l, 1);
        }
    }
    bool sequence = hlo_literal_count(l) == 2;
    out->kind = sequence   ? (optional ? ONNX_OPTIONAL_SEQUENCE : ONNX_SEQUENCE)
                : optional ? ONNX_OPTIONAL
                           : ONNX_TENSOR;
    out->elem = type ? type->elem : 0;
    bool ok = !out->present || (sequence ? sequence_value(l, out, m) : tensor_value(l, out, m));
    if (!ok)
        onnx_value_free(out);
    return ok;
}
