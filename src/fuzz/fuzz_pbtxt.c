/*
 * Fuzz target: bytes as a message in text format, which the first byte selects.
 */
#include "fuzz/read_proto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum proto_kind kinds[] = {PROTO_MODULE, PROTO_HLO, PROTO_SNAPSHOT,
                                            PROTO_UNOPTIMIZED, PROTO_LITERAL};
    if (size > 0)
        fuzz_read_proto((struct str){(const char *)data + 1, size - 1}, kinds[data[0] % 5], true);
    return 0;
}
