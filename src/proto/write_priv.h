/*
 * Shared by the files that translate modules to messages.
 *
 *   write.c            modules, computations, instructions
 *   write_shape.c      shapes, metadata, original values
 *   write_attribute.c  attributes, by their ids
 *   write_sharding.c   shardings, meshes, lists of devices
 *   write_literal.c    values, in the order of their layout
 *   encode.c           messages in wire or text format, by descriptor
 *
 * Messages refer to the module; element data of literals are not in them.
 */
#ifndef HLO_PROTO_WRITE_PRIV_H
#define HLO_PROTO_WRITE_PRIV_H

#include "proto/proto_priv.h"

struct writer {
    struct arena *a; /* of the messages */
    struct diags *ds;
    const struct module *m;
    const struct inst *inst; /* being translated; NULL: none */
    bool failed;
};

/* Reports that something has no form in the message. */
void proto_write_error(struct writer *w, const char *format, ...) PRINTF_LIKE(2, 3);
/* An empty message. */
void *proto_new(struct writer *w, const ProtobufCMessageDescriptor *d);
char *proto_new_string(struct writer *w, struct str s); /* an error if it is not text */
ProtobufCBinaryData proto_bytes(struct str s);
int64_t proto_inst_id(const struct inst *i);

#define NEW(w, name) proto_new(w, &xla__##name##__descriptor)
/* Makes `field` of a message a list of `count` elements, which are zero. */
#define NEW_LIST(w, message, field, count)                                                         \
    ((message)->n_##field = (size_t)(count),                                                       \
     (message)->field = arena_zalloc((w)->a, (message)->n_##field * sizeof *(message)->field))
/* Makes it a list of integers of the module. */
#define SET_INTS(message, field, ints)                                                             \
    ((message)->n_##field = (size_t)(ints).count,                                                  \
     (message)->field = (int64_t *)(uintptr_t)(ints).at)

/* ---- write_shape.c ---- */

Xla__ShapeProto *proto_of_shape(struct writer *w, const struct shape *s);
Xla__OpMetadata *proto_of_metadata(struct writer *w, const struct metadata *m);
Xla__FrontendAttributes *proto_of_frontend(struct writer *w, const struct frontend_attributes *f);
Xla__OriginalValueProto *proto_of_origin(struct writer *w, const struct origin *o);
Xla__OriginalArrayProto *proto_of_origin_leaf(struct writer *w, const struct origin *o);

/* ---- write_attribute.c ---- */

void proto_write_attributes(struct writer *w, const struct inst *i, inst_proto *out);

/* ---- write_sharding.c ---- */

Xla__OpSharding *proto_of_sharding(struct writer *w, const struct sharding *s);
void proto_write_device_list(struct writer *w, const struct device_list *d, inst_proto *out);

/* ---- write_literal.c ---- */

/* NULL if values are elided. `first_chunk` of an array is the address of its elements. */
Xla__LiteralProto *proto_of_literal(struct writer *w, const struct literal *l);

/* The elements of an array in the order of its layout. */
struct proto_elements {
    const struct proto_data_field *field;
    enum dtype dtype;
    const char *data;
    int64_t count;
    uint64_t size; /* in wire format, without tag and length */
    bool dense;    /* the order is that of storage */
    int rank;
    const int64_t *order; /* dimensions, minor to major */
    int64_t dims[VIEW_MAX_RANK], strides[VIEW_MAX_RANK];
};
/* A position among them. */
struct proto_position {
    int64_t done, offset, index[VIEW_MAX_RANK];
};
/* The elements of a message made by proto_of_literal; NULL: none. */
const struct proto_elements *proto_elements_of(const Xla__LiteralProto *l);
/* Returns the next elements, at most as many as fit in `buffer`, which may hold them; *count: their
 * number, 0 after the last one. */
const char *proto_next_elements(const struct proto_elements *e, struct proto_position *at,
                                char *buffer, size_t size, int64_t *count);
/* The value of an element that is written as a varint. */
uint64_t proto_element_varint(enum dtype t, const char *element);

/* ---- encode.c ---- */

/* Writes a message; false if it is too long, nests too deeply or `put` fails. */
bool proto_encode(struct diags *ds, const ProtobufCMessage *m, const struct proto_sink *to);

#endif
