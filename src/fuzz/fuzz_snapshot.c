/*
 * Fuzz target: bytes as a snapshot or a literal, in wire format; the first byte selects the
 * message.
 */
#include "fuzz/read_proto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum proto_kind kinds[] = {PROTO_SNAPSHOT, PROTO_UNOPTIMIZED, PROTO_CONTAINER,
                                            PROTO_LITERAL};
    if (size > 0)
        fuzz_read_proto((struct str){(const char *)data + 1, size - 1}, kinds[data[0] % 4], false);
    return 0;
}
