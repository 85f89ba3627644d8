/*
 * Fuzz target: any bytes as an ONNX model, which is imported and verified if it is accepted.
 */
#include "onnx/onnx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hlo_messages *m = hlo_messages_new();
    struct onnx_import_options options = {.bound = 4};
    struct onnx_model *model =
        onnx_read("nowhere/model.onnx", (struct str){(const char *)data, size}, m);
    hlo_module *module = model ? onnx_import(model, &options, m) : NULL;
    if (module)
        hlo_verify(module, m);
    hlo_module_free(module);
    onnx_model_free(model);
    hlo_messages_free(m);
    return 0;
}
