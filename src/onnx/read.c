/*
 * Reads a model from protobuf into the structs of onnx.h.
 *
 * Only the structure of the file is checked here; the meaning of operators is checked by the
 * translation.
 */
#include "onnx/protobuf.h"

/* Numbers of AttributeProto.AttributeType. */
enum onnx_attribute {
    ATTRIBUTE_UNDEFINED,
    ATTRIBUTE_FLOAT,
    ATTRIBUTE_INT,
    ATTRIBUTE_STRING,
    ATTRIBUTE_TENSOR,
    ATTRIBUTE_GRAPH,
    ATTRIBUTE_FLOATS,
    ATTRIBUTE_INTS,
    ATTRIBUTE_STRINGS,
    ATTRIBUTE_TYPE = 13
};

struct reader {
    struct onnx_model *model;
    const char *path;
    hlo_messages *m;
};

static struct str text(struct reader *r, const char *z)
{
    return z ? arena_str(&r->model->arena, str_of(z)) : STR("");
}

static struct str bytes(struct reader *r, ProtobufCBinaryData b)
{
    return arena_str(&r->model->arena, (struct str){(const char *)b.data, b.len});
}

static struct str *texts(struct reader *r, char **z, size_t count)
{
    struct str *out = ARENA_ARRAY(&r->model->arena, struct str, count);
    for (size_t i = 0; i < count; i++)
        out[i] = text(r, z[i]);
    return out;
}

/* ---- types ---- */

static bool read_tensor_type(struct reader *r, const Onnx__TypeProto__Tensor *t, const char *who,
                             struct onnx_type *out)
{
    out->elem = t->elem_type;
    out->rank = -1;
    if (t->elem_type && !onnx_dtype_hlo(t->elem_type))
        return onnx_error(r->m, r->path, "'%s': unsupported tensor type %s (%d)", who,
                          onnx_dtype_name(t->elem_type), t->elem_type);
    if (!t->shape)
        return true;
    if (t->shape->n_dim > INT16_MAX)
        return onnx_error(r->m, r->path, "'%s' has too many dimensions", who);
    out->rank = (int)t->shape->n_dim;
    out->dims = ARENA_ARRAY(&r->model->arena, int64_t, out->rank);
    for (int d = 0; d < out->rank; d++) {
        const Onnx__TensorShapeProto__Dimension *dim = t->shape->dim[d];
        out->dims[d] = dim->has_dim_value && dim->dim_value >= 0 ? dim->dim_value : -1;
    }
    return true;
}

/* A tensor, a sequence of tensors, or an optional of one of them. */
static bool read_type(struct reader *r, const Onnx__TypeProto *t, const char *who,
                      struct onnx_type *out)
{
    *out = (struct onnx_type){.kind = ONNX_UNKNOWN, .rank = -1};
    bool optional = t && t->optional_type, sequence;
    if (optional)
        t = t->optional_type->elem_type;
    sequence = t && t->sequence_type;
    if (sequence)
        t = t->sequence_type->elem_type;
    if (!t)
        return true;
    if (t->tensor_type) {
        out->kind = optional   ? (sequence ? ONNX_OPTIONAL_SEQUENCE : ONNX_OPTIONAL)
                    : sequence ? ONNX_SEQUENCE
                               : ONNX_TENSOR;
        return read_tensor_type(r, t->tensor_type, who, out);
    }
    if (!optional && !sequence && !t->map_type && !t->opaque_type && !t->sparse_tensor_type)
        return true;
    return onnx_error(
        r->m, r->path,
        "'%s' is %s, expected a tensor, a sequence of tensors or an optional of those", who,
        t->map_type             ? "a map"
        : t->sparse_tensor_type ? "a sparse tensor"
                                : "of a nested or opaque type");
}

static bool read_values(struct reader *r, Onnx__ValueInfoProto **from, size_t count,
                        struct onnx_value_info **out)
{
    *out = ARENA_ARRAY(&r->model->arena, struct onnx_value_info, count);
    for (size_t i = 0; i < count; i++) {
        (*out)[i].name = text(r, from[i]->name);
        if (!read_type(r, from[i]->type, (*out)[i].name.ptr, &(*out)[i].type))
            return false;
    }
    return true;
}

/* ---- attributes ---- */

static bool read_graph(struct reader *r, const Onnx__GraphProto *from, struct onnx_graph *out);

/* Models before IR version 2 do not specify the type of an attribute. */
static int attribute_type(const Onnx__AttributeProto *a)
{
    if (a->type)
        return a->type;
    return a->has_f      ? ATTRIBUTE_FLOAT
           : a->has_i    ? ATTRIBUTE_INT
           : a->has_s    ? ATTRIBUTE_STRING
           : a->t        ? ATTRIBUTE_TENSOR
           : a->g        ? ATTRIBUTE_GRAPH
           : a->n_floats ? ATTRIBUTE_FLOATS
           : a->n_ints   ? ATTRIBUTE_INTS
                         : ATTRIBUTE_STRINGS;
}

static bool read_list(struct reader *r, const Onnx__AttributeProto *from, int type,
                      struct onnx_attr *out)
{
    struct arena *a = &r->model->arena;
    if (type == ATTRIBUTE_FLOATS) {
        out->kind = ONNX_ATTR_FLOATS;
        out->count = from->n_floats;
        out->floats = ARENA_DUP(a, from->floats, from->n_floats);
    } else if (type == ATTRIBUTE_INTS) {
        out->kind = ONNX_ATTR_INTS;
        out->count = from->n_ints;
        out->ints = ARENA_DUP(a, from->ints, from->n_ints);
    } else {
        out->kind = ONNX_ATTR_STRINGS;
        out->count = from->n_strings;
        out->strings = ARENA_ARRAY(a, struct str, from->n_strings);
        for (size_t i = 0; i < from->n_strings; i++)
            out->strings[i] = bytes(r, from->strings[i]);
    }
    return true;
}

static bool missing(struct reader *r, struct str node, struct str attribute)
{
    return onnx_error(r->m, r->path, "node '" STR_FMT "': attribute '" STR_FMT "' has no value",
                      STR_ARG(node), STR_ARG(attribute));
}

static bool read_attribute(struct reader *r, const Onnx__AttributeProto *from, struct str node,
                           struct onnx_attr *out)
{
    int type = attribute_type(from);
    out->name = text(r, from->name);
    if (from->ref_attr_name && *from->ref_attr_name)
        return onnx_error(r->m, r->path,
                          "node '" STR_FMT "': attribute '" STR_FMT
                          "' refers to a function attribute outside a function",
                          STR_ARG(node), STR_ARG(out->name));
    switch (type) {
    case ATTRIBUTE_FLOAT:
        out->kind = ONNX_ATTR_FLOAT;
        out->f = from->f;
        return true;
    case ATTRIBUTE_INT:
        out->kind = ONNX_ATTR_INT;
        out->i = from->i;
        return true;
    case ATTRIBUTE_STRING:
        out->kind = ONNX_ATTR_STRING;
        out->s = bytes(r, from->s);
        return true;
    case ATTRIBUTE_TENSOR: {
        struct str who = arena_printf(&r->model->arena, "%s.%s", node.ptr, out->name.ptr);
        out->kind = ONNX_ATTR_TENSOR;
        return from->t ? tensor_read(from->t, r->path, who, &out->tensor, r->m)
                       : missing(r, node, out->name);
    }
    case ATTRIBUTE_GRAPH:
        out->kind = ONNX_ATTR_GRAPH;
        if (!from->g)
            return missing(r, node, out->name);
        out->graph = ARENA_NEW(&r->model->arena, struct onnx_graph);
        return read_graph(r, from->g, out->graph);
    case ATTRIBUTE_TYPE:
        out->kind = ONNX_ATTR_TYPE;
        return read_type(r, from->tp, out->name.ptr, &out->type);
    case ATTRIBUTE_FLOATS:
    case ATTRIBUTE_INTS:
    case ATTRIBUTE_STRINGS: return read_list(r, from, type, out);
    default: out->kind = ONNX_ATTR_OTHER; return true;
    }
}

/* ---- nodes and graphs ---- */

static bool read_node(struct reader *r, const Onnx__NodeProto *from, size_t number,
                      struct onnx_node *out)
{
    struct arena *a = &r->model->arena;
    *out = (struct onnx_node){.op = text(r, from->op_type),
                              .name = text(r, from->name),
                              .domain = text(r, from->domain),
                              .input_count = from->n_input,
                              .output_count = from->n_output,
                              .inputs = texts(r, from->input, from->n_input),
                              .outputs = texts(r, from->output, from->n_output),
                              .attrs = ARENA_ARRAY(a, struct onnx_attr, from->n_attribute)};
    if (out->op.len == 0)
        return onnx_error(r->m, r->path, "node %zu, '" STR_FMT "', has no operator type", number,
                          STR_ARG(out->name));
    if (str_is(out->domain, "ai.onnx")) /* an alias of the domain "" */
        out->domain = STR("");
    struct str who = out->name.len > 0 ? out->name : arena_printf(a, "%s#%zu", out->op.ptr, number);
    /* Incremented first, so that the attribute is freed even if reading fails. */
    while (out->attr_count < from->n_attribute) {
        size_t k = out->attr_count++;
        if (!read_attribute(r, from->attribute[k], who, &out->attrs[k]))
            return false;
    }
    return true;
}

static bool read_graph(struct reader *r, const Onnx__GraphProto *from, struct onnx_graph *out)
{
    struct arena *a = &r->model->arena;
    *out = (struct onnx_graph){.name = text(r, from->name),
                               .input_count = from->n_input,
                               .output_count = from->n_output,
                               .nodes = ARENA_ARRAY(a, struct onnx_node, from->n_node),
                               .initializers =
                                   ARENA_ARRAY(a, struct onnx_initializer, from->n_initializer)};
    if (from->n_sparse_initializer > 0)
        return onnx_error(r->m, r->path, "graph '%s': sparse initializers are not supported",
                          out->name.ptr);
    if (!read_values(r, from->input, from->n_input, &out->inputs) ||
        !read_values(r, from->output, from->n_output, &out->outputs))
        return false;
    while (out->initializer_count < from->n_initializer) {
        struct onnx_initializer *init = &out->initializers[out->initializer_count];
        const Onnx__TensorProto *t = from->initializer[out->initializer_count++];
        init->name = text(r, t->name);
        if (!tensor_read(t, r->path, init->name, &init->value, r->m))
            return false;
    }
    while (out->node_count < from->n_node) {
        size_t n = out->node_count++;
        if (!read_node(r, from->node[n], n, &out->nodes[n]))
            return false;
    }
    return true;
}

static bool read_model(struct reader *r, const Onnx__ModelProto *from)
{
    struct onnx_model *model = r->model;
    model->path = text(r, r->path);
    model->ir_version = from->ir_version;
    model->opset = from->ir_version < 3; /* older models all have version 1 */
    for (size_t i = 0; i < from->n_opset_import; i++) {
        const char *domain = from->opset_import[i]->domain;
        if (!domain || !*domain || strcmp(domain, "ai.onnx") == 0)
            model->opset = from->opset_import[i]->version;
    }
    if (!from->graph)
        return onnx_error(r->m, r->path, "malformed ONNX file: no graph");
    if (model->opset < 0 || (model->opset == 0 && from->n_opset_import == 0))
        return onnx_error(r->m, r->path, "malformed ONNX file: no opset version");
    if (from->n_functions > 0)
        return onnx_error(r->m, r->path,
                          "function '%s' of domain '%s': model-local functions are not supported; "
                          "inline them with onnx.inliner",
                          from->functions[0]->name ? from->functions[0]->name : "",
                          from->functions[0]->domain ? from->functions[0]->domain : "");
    return read_graph(r, from->graph, &model->graph);
}

ProtobufCMessage *onnx_unpack(const ProtobufCMessageDescriptor *d, struct str bytes,
                              const char *path, hlo_messages *m)
{
    SCOPED_ARENA scratch = arena_make();
    struct wire_scan scan = {.arena = &scratch};
    ProtobufCMessage *message = wire_unpack(&scan, d, bytes);
    if (!message && scan.at != SIZE_MAX)
        onnx_error(m, path, "malformed ONNX file: %s at byte %zu", scan.why, scan.at);
    else if (!message)
        onnx_error(m, path, "malformed ONNX file: %s", scan.why);
    return message;
}

bool onnx_built_in(void) { return true; }

struct onnx_model *onnx_read(const char *path, struct str file, hlo_messages *m)
{
    ProtobufCMessage *message = onnx_unpack(&onnx__model_proto__descriptor, file, path, m);
    struct onnx_model *model = message ? heap_zalloc(1, sizeof *model) : NULL;
    struct reader r = {model, path, m};
    if (model) {
        arena_init(&model->arena);
        if (!read_model(&r, (const Onnx__ModelProto *)message)) {
            onnx_model_free(model);
            model = NULL;
        }
    }
    wire_free(message);
    return model;
}
