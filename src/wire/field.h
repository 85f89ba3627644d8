/*
 * wire/field: reading of fields in wire format, which needs no protobuf-c.
 */
#ifndef HLO_WIRE_FIELD_H
#define HLO_WIRE_FIELD_H

#include "base/base.h"

enum wire_type { WIRE_VARINT = 0, WIRE_BITS64 = 1, WIRE_BYTES = 2, WIRE_BITS32 = 5 };

struct wire_cursor {
    const char *at, *end;
};
struct wire_field {
    unsigned number;
    enum wire_type type;
    struct str value; /* of a varint, its bytes */
    uint64_t varint;
};
/* Reads a varint of at most ten bytes; false if it is malformed. */
bool wire_varint(struct wire_cursor *c, uint64_t *out);
/* Reads the next field; false if it is malformed or truncated. */
bool wire_next(struct wire_cursor *c, struct wire_field *out);

#endif
