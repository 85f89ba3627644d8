/*
 * The translation of a model into a module.
 */
#include "onnx/onnx.h"

hlo_module *onnx_import(const struct onnx_model *model, const struct onnx_import_options *o, hlo_messages *m)
{
    (void)o;
    onnx_error(m, model->path.ptr, "models are read, and not translated yet");
    return NULL;
}

hlo_literal *onnx_to_literal(const struct onnx_value *v, const hlo_module *module, size_t param, hlo_messages *m)
{
    (void)v, (void)module, (void)param;
    hlo_messages_add(m, "onnx", "values are not translated yet");
    return NULL;
}

bool onnx_from_literal(const hlo_literal *l, const struct onnx_type *type, struct onnx_value *out, hlo_messages *m)
{
    (void)l, (void)type, (void)out;
    hlo_messages_add(m, "onnx", "values are not translated yet");
    return false;
}
