/*
 * The public interface to ONNX models: handles for the structs of onnx.h.
 */
#include "onnx/onnx.h"

#include "base/oom.h"

#include <errno.h>

struct hlo_onnx {
    struct onnx_model *model;
    /* Without initializers; in the model's arena, like the ports. */
    const struct onnx_value_info **inputs;
    struct hlo_onnx_port *input_ports, *output_ports;
    size_t input_count;
};

struct hlo_onnx_value {
    struct onnx_value v;
};

/* ---- models ---- */

static struct hlo_onnx_port describe(struct arena *a, const struct onnx_value_info *info)
{
    const struct onnx_type *t = &info->type;
    SCOPED_BUF b = {0};
    onnx_type_print(&b, t);
    struct hlo_onnx_port port = {
        .name = info->name.ptr,
        .type = arena_str(a, buf_view(&b)).ptr,
        .sequence = t->kind == ONNX_SEQUENCE || t->kind == ONNX_OPTIONAL_SEQUENCE,
        .optional = t->kind == ONNX_OPTIONAL || t->kind == ONNX_OPTIONAL_SEQUENCE,
        .dtype = onnx_dtype_hlo(t->elem),
        .ranked = t->rank >= 0,
        .rank = t->rank < 0 ? 0 : (size_t)t->rank,
        .dims = t->dims};
    return port;
}

static void list_ports(hlo_onnx *h)
{
    struct onnx_graph *g = &h->model->graph;
    struct arena *a = &h->model->arena;
    struct map initialized;
    map_init(&initialized, a);
    h->inputs = ARENA_ARRAY(a, const struct onnx_value_info *, g->input_count);
    h->input_ports = ARENA_ARRAY(a, struct hlo_onnx_port, g->input_count);
    h->output_ports = ARENA_ARRAY(a, struct hlo_onnx_port, g->output_count);
    for (size_t i = 0; i < g->initializer_count; i++)
        map_put(&initialized, g->initializers[i].name, &g->initializers[i]);
    for (size_t i = 0; i < g->input_count; i++)
        if (!map_get(&initialized, g->inputs[i].name)) {
            h->input_ports[h->input_count] = describe(a, &g->inputs[i]);
            h->inputs[h->input_count++] = &g->inputs[i];
        }
    for (size_t i = 0; i < g->output_count; i++)
        h->output_ports[i] = describe(a, &g->outputs[i]);
}

enum hlo_status hlo_onnx_open(const char *path, hlo_onnx **out, hlo_messages *m)
{
    OOM_SCOPE((*out = NULL, hlo_messages_no_memory(m), HLO_FAILED));
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    struct file_bytes file;
    *out = NULL;
    if (!file_read(path, &file)) {
        onnx_error(m, name, "cannot read file: %s", file_problem(errno));
        return HLO_USAGE;
    }
    struct onnx_model *model = onnx_read(name, (struct str){file.data, file.size}, m);
    file_release(&file);
    *out = model ? heap_zalloc(1, sizeof **out) : NULL;
    if (!*out) {
        onnx_model_free(model);
        return onnx_built_in() ? HLO_REJECTED : HLO_FAILED;
    }
    (*out)->model = model;
    list_ports(*out);
    return HLO_OK;
}

void hlo_onnx_free(hlo_onnx *h)
{
    if (h)
        onnx_model_free(h->model);
    heap_free(h);
}

bool hlo_onnx_input(const hlo_onnx *h, size_t i, struct hlo_onnx_port *out)
{
    if (i < h->input_count)
        *out = h->input_ports[i];
    return i < h->input_count;
}

bool hlo_onnx_output(const hlo_onnx *h, size_t i, struct hlo_onnx_port *out)
{
    if (i < h->model->graph.output_count)
        *out = h->output_ports[i];
    return i < h->model->graph.output_count;
}

/* ---- values ---- */

static hlo_onnx_value *wrap(struct onnx_value v)
{
    hlo_onnx_value *h = heap_zalloc(1, sizeof *h);
    if (h)
        h->v = v;
    else
        onnx_value_free(&v);
    return h;
}

void hlo_onnx_value_free(hlo_onnx_value *h)
{
    if (h)
        onnx_value_free(&h->v);
    heap_free(h);
}

/* Takes ownership of the tensors. False if the type requires a different number of them. */
static bool take_tensors(struct onnx_value *v, hlo_literal **tensors, size_t count)
{
    bool sequence = v->kind == ONNX_SEQUENCE || v->kind == ONNX_OPTIONAL_SEQUENCE;
    bool fits = sequence ? v->present || count == 0 : count == v->present;
    v->elements = sequence ? heap_zalloc(count + 1, sizeof *v->elements) : NULL;
    if (!fits) {
        for (size_t i = 0; i < count; i++)
            hlo_literal_free(tensors[i]);
        return false;
    }
    if (count > 0)
        v->elem = onnx_dtype_find(hlo_literal_leaf(tensors[0], 0).dtype);
    if (!sequence)
        v->tensor = count > 0 ? tensors[0] : NULL;
    for (size_t i = 0; sequence && i < count; i++)
        v->elements[v->count++] =
            (struct onnx_value){ONNX_TENSOR, true, v->elem, tensors[i], NULL, 0};
    return true;
}

hlo_onnx_value *hlo_onnx_value_new(const hlo_onnx *h, size_t input, bool present,
                                   hlo_literal **tensors, size_t count, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    const struct onnx_value_info *info = h->inputs[input];
    struct onnx_value v = {.kind = info->type.kind, .present = present};
    bool optional = v.kind == ONNX_OPTIONAL || v.kind == ONNX_OPTIONAL_SEQUENCE;
    if (!take_tensors(&v, tensors, count) || (!present && !optional))
        onnx_error(m, h->model->path.ptr, "input '%s' %s", info->name.ptr,
                   present ? "expects one tensor" : "is not optional");
    else if (onnx_value_fits(&v, &info->type, h->model->path.ptr, info->name, m))
        return wrap(v);
    onnx_value_free(&v);
    return NULL;
}

static hlo_onnx_value *read_value(const struct onnx_value_info *info, const char *path,
                                  hlo_messages *m)
{
    struct onnx_value v;
    return onnx_read_value(path, &info->type, &v, m) ? wrap(v) : NULL;
}

hlo_onnx_value *hlo_onnx_read_input(const hlo_onnx *h, size_t input, const char *path,
                                    hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    return read_value(h->inputs[input], path, m);
}

hlo_onnx_value *hlo_onnx_read_output(const hlo_onnx *h, size_t output, const char *path,
                                     hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    return read_value(&h->model->graph.outputs[output], path, m);
}

bool hlo_onnx_value_present(const hlo_onnx_value *h) { return h->v.present; }

bool hlo_onnx_value_sequence(const hlo_onnx_value *h)
{
    return h->v.kind == ONNX_SEQUENCE || h->v.kind == ONNX_OPTIONAL_SEQUENCE;
}

size_t hlo_onnx_value_count(const hlo_onnx_value *h) { return h->v.tensor ? 1 : h->v.count; }

const hlo_literal *hlo_onnx_value_tensor(const hlo_onnx_value *h, size_t i)
{
    return h->v.tensor ? h->v.tensor : h->v.elements[i].tensor;
}

/* ---- modules, their arguments and results ---- */

hlo_module *hlo_onnx_import(const hlo_onnx *h, hlo_onnx_value *const *inputs, int64_t bound,
                            hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    struct onnx_import_options o = {.bound = bound};
    SCOPED_ARENA a = arena_make();
    if (inputs) {
        struct onnx_value *values = ARENA_ARRAY(&a, struct onnx_value, h->input_count);
        for (size_t i = 0; i < h->input_count; i++)
            values[i] = inputs[i]->v;
        o.inputs = values;
    }
    return onnx_import(h->model, &o, m);
}

hlo_literal *hlo_onnx_argument(const hlo_onnx_value *h, const hlo_module *module, size_t param,
                               hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    return onnx_to_literal(&h->v, module, param, m);
}

hlo_onnx_value *hlo_onnx_result(const hlo_onnx *h, size_t output, const hlo_literal *component,
                                hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    struct onnx_value v = {0};
    return onnx_from_literal(component, &h->model->graph.outputs[output].type, &v, m) ? wrap(v)
                                                                                      : NULL;
}
