/*
 * Replaces the files that read protobuf if the program is built without libprotobuf-c.
 */
#include "onnx/onnx.h"

static bool report(const char *path, hlo_messages *m)
{
    return onnx_error(m, path, "built without ONNX support (libprotobuf-c, protoc-c)");
}

bool onnx_built_in(void) { return false; }

struct onnx_model *onnx_read(const char *path, struct str bytes, hlo_messages *m)
{
    report(path, m);
    return NULL;
}

bool onnx_read_value(const char *path, const struct onnx_type *type, struct onnx_value *out,
                     hlo_messages *m)
{
    return report(path, m);
}
