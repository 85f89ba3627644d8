/*
 * Values in separate files, as in ONNX's test data: one message per file, of the type that the
 * model declares.
 */
#include "onnx/protobuf.h"

#include <errno.h>

static bool read_elements(const Onnx__SequenceProto *s, const char *path, struct str who,
                          struct onnx_value *out, hlo_messages *m)
{
    out->elements = heap_zalloc(s->n_tensor_values + 1, sizeof *out->elements);
    if (s->elem_type > 1)
        return onnx_error(m, path, "sequence '" STR_FMT "' has elements that are not tensors",
                          STR_ARG(who));
    while (out->count < s->n_tensor_values) {
        size_t i = out->count++;
        if (!tensor_read(s->tensor_values[i], path, who, &out->elements[i], m))
            return false;
        if (i > 0 && out->elements[i].elem != out->elem)
            return onnx_error(m, path, "sequence '" STR_FMT "' has elements of different types",
                              STR_ARG(who));
        out->elem = out->elements[i].elem;
    }
    return true;
}

static bool read_optional(const Onnx__OptionalProto *o, const char *path,
                          const struct onnx_type *type, struct str who, struct onnx_value *out,
                          hlo_messages *m)
{
    bool sequence = type->kind == ONNX_OPTIONAL_SEQUENCE;
    bool ok = true;
    if (o->tensor_value && !sequence)
        ok = tensor_read(o->tensor_value, path, who, out, m);
    else if (o->sequence_value && sequence)
        ok = read_elements(o->sequence_value, path, who, out, m);
    else if (o->elem_type != 0)
        return onnx_error(m, path,
                          "optional '" STR_FMT "' does not match the type that the model declares",
                          STR_ARG(who));
    out->present = o->tensor_value || o->sequence_value;
    out->kind = type->kind;
    return ok;
}

static const ProtobufCMessageDescriptor *descriptor_of(enum onnx_kind kind)
{
    return kind == ONNX_TENSOR     ? &onnx__tensor_proto__descriptor
           : kind == ONNX_SEQUENCE ? &onnx__sequence_proto__descriptor
                                   : &onnx__optional_proto__descriptor;
}

static bool read_message(const ProtobufCMessage *message, const char *path,
                         const struct onnx_type *type, struct onnx_value *out, hlo_messages *m)
{
    struct str who = STR("value");
    *out = (struct onnx_value){.kind = type->kind, .present = true};
    if (type->kind == ONNX_TENSOR)
        return tensor_read((const Onnx__TensorProto *)message, path, who, out, m);
    if (type->kind == ONNX_SEQUENCE)
        return read_elements((const Onnx__SequenceProto *)message, path, who, out, m);
    return read_optional((const Onnx__OptionalProto *)message, path, type, who, out, m);
}

bool onnx_read_value(const char *path, const struct onnx_type *type, struct onnx_value *out,
                     hlo_messages *m)
{
    SCOPED_BYTES file = {0};
    if (type->kind == ONNX_UNKNOWN)
        return onnx_error(m, path, "model does not declare the type of the value");
    if (!file_read(path, &file))
        return onnx_error(m, path, "cannot read file: %s", file_problem(errno));
    ProtobufCMessage *message =
        onnx_unpack(descriptor_of(type->kind), (struct str){file.data, file.size}, path, m);
    bool ok = false;
    if (message) {
        ok = read_message(message, path, type, out, m) &&
             onnx_value_fits(out, type, path, STR("value"), m);
        if (!ok)
            onnx_value_free(out);
    }
    wire_free(message);
    return ok;
}
