/*
 * Fuzz target: any bytes as a protocol buffer, in wire and in text format, as they are recognized.
 */
#include "fuzz/read_proto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct str bytes = {(const char *)data, size};
    const enum proto_kind kind = proto_kind_of(bytes), text = proto_kind_of_text(bytes);
    fuzz_read_proto(bytes, kind == PROTO_NONE ? PROTO_MODULE : kind, false);
    if (text != PROTO_NONE)
        fuzz_read_proto(bytes, text, true);
    return 0;
}
