/*
 * Fields of messages in wire format, without protobuf-c.
 */
#include "wire/field.h"

bool wire_varint(struct wire_cursor *c, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; shift < 70 && c->at < c->end; shift += 7) {
        uint64_t b = (unsigned char)*c->at++;
        if (shift < 64)
            *out |= (b & 127) << shift;
        if (b < 128)
            return true;
    }
    return false;
}

bool wire_next(struct wire_cursor *c, struct wire_field *out)
{
    uint64_t tag, n;
    if (!wire_varint(c, &tag) || tag >> 3 == 0 || tag > UINT32_MAX)
        return false;
    *out = (struct wire_field){.number = (unsigned)(tag >> 3), .type = (enum wire_type)(tag & 7)};
    const char *begin = c->at;
    switch (tag & 7) {
    case WIRE_VARINT:
        if (!wire_varint(c, &out->varint))
            return false;
        out->value = (struct str){begin, (size_t)(c->at - begin)};
        return true;
    case WIRE_BITS64: n = 8; break;
    case WIRE_BITS32: n = 4; break;
    case WIRE_BYTES:
        if (!wire_varint(c, &n))
            return false;
        break;
    default: return false;
    }
    if (n > (uint64_t)(c->end - c->at))
        return false;
    out->value = (struct str){c->at, n};
    c->at += n;
    return true;
}
