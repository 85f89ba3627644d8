/*
 * wire: safe unpacking of protocol buffers from untrusted files, by the descriptors of protobuf-c.
 */
#ifndef HLO_WIRE_H
#define HLO_WIRE_H

#include "wire/field.h"

#include <protobuf-c/protobuf-c.h>

/* Element data that were left in the file: the contents of one length-delimited value, or a run of
 * values with their tags. */
struct wire_chunk {
    unsigned field;
    bool tagged;
    struct str bytes;
};

/* Large fields that are not unpacked but noted as chunks: all fields of `message` that are neither
 * messages nor `kept`. Their contents are not examined. The unpacked message has the range of its
 * chunks in the fields `first` and `count`, whose numbers no file uses. */
struct wire_data {
    const ProtobufCMessageDescriptor *message;
    unsigned kept, first, count;
};

struct wire_scan {
    struct arena *arena;          /* of the results */
    const struct wire_data *data; /* NULL: all fields are unpacked */
    /* Whether the message is normalized: fields with a wrong wire type are dropped, strings must be
     * UTF-8 without NUL, repeated occurrences of a message are merged. Otherwise the first is an
     * error of unpacking, the second is not checked, and the third is an error. */
    bool normalize;
    struct wire_chunk *chunks;
    size_t chunk_count, chunk_capacity;
    /* If unpacking fails: the reason, the offset in the file (SIZE_MAX: unknown) and the path of
     * the field, as in `computations[3].instructions[17].shape`. */
    const char *why;
    size_t at;
    struct str path;
};

/* Unpacks a message; NULL with an error in `scan`. Files that nest too deeply, or whose message
 * would take many times their size in memory, are rejected first. `bytes` must live as long as
 * the chunks. Free with wire_free. */
ProtobufCMessage *wire_unpack(struct wire_scan *scan, const ProtobufCMessageDescriptor *d,
                              struct str bytes);
void wire_free(ProtobufCMessage *message); /* NULL is allowed */

/* ---- writing of fields ---- */

/* Whether it may be a string: UTF-8 without NUL. */
bool wire_is_text(struct str s);
/* The wire type of a field that is not packed. */
enum wire_type wire_type_of(const ProtobufCFieldDescriptor *f);

void wire_put_varint(struct buf *out, uint64_t v);
size_t wire_varint_size(uint64_t v); /* in bytes */
void wire_put_tag(struct buf *out, unsigned field, enum wire_type type);
/* Begins and ends a length-delimited value: `begin` is the result of wire_begin. False if the value
 * is too long. */
size_t wire_begin(struct buf *out, unsigned field);
bool wire_end(struct buf *out, size_t begin);

#endif
