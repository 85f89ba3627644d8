/*
 * Shared by the files that translate messages to HLO text.
 *
 *   kind.c         recognition of files
 *   text_format.c  text format to wire format
 *   read.c         unpacking, the module and its header
 *   computation.c  ids, names, the order of instructions and computations
 *   instruction.c  instructions and their operands
 *   attribute.c    attributes, by their ids
 *   emit.c         numbers, strings, shapes, metadata
 *   sharding.c     shardings, device lists, meshes
 *   literal.c      values of constants
 */
#ifndef HLO_PROTO_PRIV_H
#define HLO_PROTO_PRIV_H

#include "proto/hlo.pb-c.h"
#include "proto/proto.h"
#include "wire/wire.h"

typedef Xla__HloInstructionProto inst_proto;
typedef Xla__HloComputationProto computation_proto;

/* A value that is decoded after parsing. */
struct proto_value {
    uint32_t at; /* offset of the instruction's name in the text */
    const Xla__LiteralProto *literal;
    size_t node;
};

/* The order of ids of a computation whose text has another order: indices of its instructions in
 * the text. */
struct proto_order {
    uint32_t at; /* offset of the computation's name in the text */
    int count;
    int *visit;
};

struct proto_module {
    struct arena arena;
    struct buf text;
    ProtobufCMessage *message;
    struct buf wire;       /* of a message in text format */
    struct wire_scan scan; /* with the chunks of all literals */
    bool mapped;
    struct source_paths paths;
    size_t node_capacity, mark_capacity;
    struct proto_value *values; /* in order of `at` */
    size_t value_count, value_capacity;
    struct proto_order *orders; /* in order of `at` */
    size_t order_count, order_capacity;
};

/* ---- computation.c ---- */

struct inst_entry {
    uint32_t id; /* local */
    size_t index;
};

struct computation_info {
    const computation_proto *proto;
    struct str name;
    struct str *names;        /* of the instructions */
    struct inst_entry *by_id; /* sorted */
    size_t *order;            /* of the instructions in the text */
    size_t index;             /* in the file */
};

struct reader {
    struct proto_module *p;
    struct diags *ds;
    struct arena *a;      /* that of the module */
    struct arena scratch; /* released after each instruction */
    struct buf *out;
    const Xla__HloModuleProto *m;
    size_t node;        /* path of what is being translated */
    bool inline_values; /* the text is in a string of another module */
    struct computation_info *computations;
    struct map computations_by_id;
    struct map sequences;             /* of the schedule, by id of the computation */
    const struct computation_info *c; /* being translated */
};

/* Ids, names and orders of all computations. */
bool proto_read_computations(struct reader *r);
/* The position of an instruction of the computation, by its local id; SIZE_MAX: none. */
size_t proto_find_inst(const struct computation_info *c, int64_t id);
/* NULL: none. */
struct computation_info *proto_find_computation(const struct reader *r, int64_t id);
bool proto_put_computation(struct reader *r, const struct computation_info *c);

/* ---- read.c: places and errors ---- */

/* Enters a part of the message, which text from here on belongs to; `index` -1: no list. Returns
 * the part to leave to. */
size_t proto_enter(struct reader *r, const char *field, int64_t index);
void proto_leave(struct reader *r, size_t node);
/* Reports an error in a field of the current part (NULL: in itself); returns false. */
bool proto_error(struct reader *r, const char *field, int64_t index, const char *format, ...)
    PRINTF_LIKE(4, 5);
bool proto_put_module(struct reader *r);

/* ---- instruction.c, attribute.c ---- */

bool proto_put_inst(struct reader *r, const struct computation_info *c, size_t index);
/* Writes the attributes of the opcode, then those of all opcodes, each after `, `. The name of the
 * instruction begins at `at`. */
bool proto_put_attributes(struct reader *r, enum opcode op, const inst_proto *i, uint32_t at);

/* ---- emit.c ---- */

void proto_put_ints(struct buf *out, size_t count, const int64_t *at); /* {1,2} */
void proto_put_bare_ints(struct buf *out, size_t count, const int64_t *at);
void proto_put_quoted(struct buf *out, struct str s);
void proto_put_name(struct buf *out, struct str name); /* %name */
void proto_put_double(struct buf *out, double v);
/* The shape of a message, in the scratch arena; NULL with an error. */
const struct shape *proto_shape(struct reader *r, const Xla__ShapeProto *s, const char *field,
                                int64_t index);
bool proto_put_shape(struct reader *r, const Xla__ShapeProto *s, const char *field, int64_t index);
void proto_put_metadata(struct reader *r, const Xla__OpMetadata *m);
bool proto_metadata_is_empty(const Xla__OpMetadata *m);
void proto_put_frontend(struct buf *out, const Xla__FrontendAttributes *f);
/* The bytes of a payload, inline or of the module's table. */
struct str proto_payload(const struct reader *r, const Xla__Payload *p);
bool proto_put_origin(struct reader *r, const Xla__OriginalValueProto *o);
void proto_put_origin_leaf(struct buf *out, const Xla__OriginalArrayProto *o);
static inline struct str str_of_bytes(ProtobufCBinaryData b)
{
    return (struct str){b.data ? (const char *)b.data : "", b.len};
}
/* The name of a value of an enumeration, without its first `skip` bytes, in lower case if
 * `lower`; false for an unknown number. */
bool proto_put_enum(struct buf *out, const ProtobufCEnumDescriptor *d, int value, size_t skip,
                    bool lower);

/* ---- sharding.c ---- */

bool proto_put_sharding(struct reader *r, const Xla__OpSharding *s);
bool proto_put_device_list(struct reader *r, const inst_proto *i);
/* Whether the instruction has groups of devices. */
bool proto_has_device_list(const inst_proto *i);

/* ---- literal.c ---- */

/* Whether the message has the shape of an array, but no element data. */
bool proto_literal_is_absent(const Xla__LiteralProto *l);
/* Writes a value, or `{...}` and notes it for the instruction whose name begins at `at`; `shapes`:
 * each array with its shape. */
bool proto_put_literal(struct reader *r, const Xla__LiteralProto *l, uint32_t at, bool shapes);

/* ---- text_format.c ---- */

/* Converts text to wire format. False with an error at its place in the text. */
bool proto_from_text(struct diags *ds, struct str text, const ProtobufCMessageDescriptor *d,
                     struct buf *out);

#endif
