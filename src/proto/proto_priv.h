/*
 * Shared by the files that translate messages to HLO text.
 *
 *   kind.c         recognition of files
 *   text_format.c  text format to wire format
 *   read.c         unpacking, the module and its header
 *   computation.c  ids, names, the order of instructions and computations
 *   instruction.c  instructions and their operands
 *   attribute.c    attributes, by their ids
 *   fields.c       attributes that are a field of a message
 *   emit.c         numbers, strings, shapes, metadata
 *   sharding.c     shardings, device lists, meshes
 *   literal.c      values of constants and literals
 *   stored.c       arguments and results of snapshots, files that are a literal
 */
#ifndef HLO_PROTO_PRIV_H
#define HLO_PROTO_PRIV_H

#include "proto/hlo.pb-c.h"
#include "proto/proto.h"
#include "text/text.h"
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

/* An argument of a snapshot: a message, or bytes after that of the snapshot. */
struct stored {
    const Xla__LiteralProto *literal;
    struct str bytes;
};

struct proto_module {
    struct arena arena;
    struct buf text;
    ProtobufCMessage *message;
    struct buf wire;       /* of a message in text format */
    struct wire_scan scan; /* with the chunks of all literals */
    struct str mapped;     /* the mapped file, whose pages are released; empty: none */
    struct stored *stored; /* arguments, list by list */
    size_t stored_count, list_count, *list_starts; /* `list_count` + 1 starts */
    const Xla__LiteralProto *result;               /* NULL: none */
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
    bool actual_sizes;  /* literals have their dynamic sizes, not the bounds of their shapes */
    struct computation_info *computations;
    struct map computations_by_id;
    struct map sequences;             /* of the schedule, by id of the computation */
    const struct computation_info *c; /* being translated */
};

/* Declares readers whose scratch memory is freed at the end of their scope: see SCOPED_BUF. */
#define SCOPED_READER __attribute__((cleanup(proto_reader_end))) struct reader
static inline void proto_reader_end(struct reader *r) { arena_free(&r->scratch); }

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
/* Unpacks the message of a file, leaving the elements of literals in it. False with an error. */
bool proto_unpack(struct diags *ds, struct proto_module *p, const struct proto_input *input,
                  const ProtobufCMessageDescriptor *d);
/* Reports an error in a field of the current part (NULL: in itself); returns false. */
bool proto_error(struct reader *r, const char *field, int64_t index, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* ---- instruction.c, attribute.c ---- */

bool proto_put_inst(struct reader *r, const struct computation_info *c, size_t index);
/* Writes the attributes of the opcode, then those of all opcodes, each after `, `. The name of the
 * instruction begins at `at`. */
bool proto_put_attributes(struct reader *r, enum opcode op, const inst_proto *i, uint32_t at);

/* ---- fields.c ---- */

enum field_kind {
    FIELD_INT,
    FIELD_COUNT, /* at least 1, the default */
    FIELD_INT32,
    FIELD_BOOL,
    FIELD_INTS,
    FIELD_TEXT,
    FIELD_BYTES,
    FIELD_ENUM,
    FIELD_WORD /* a value of an enumeration, as a string */
};

/* Messages of an instruction. */
enum part {
    PART_INSTRUCTION, /* itself */
    PART_DOT,
    PART_RAGGED,
    PART_GATHER,
    PART_SCATTER,
    PART_SOLVE,
    PART_CHOLESKY,
    PART_PRECISION
};
struct proto_part {
    const char *name;
    size_t offset; /* of the pointer in the instruction */
    const ProtobufCMessageDescriptor *descriptor;
    bool required;
};
extern const struct proto_part proto_parts[];

/* An attribute that is a field of a message. */
struct proto_field {
    uint8_t id, kind, part;
    bool always; /* read even if it is zero or empty, which may be its value */
    uint8_t op;  /* the opcode; OP_COUNT: any */
    const char *name;
    size_t offset, count_offset;
    const ProtobufCEnumDescriptor *values;
    const char *prefix; /* of the names of values that attributes do not have */
};

#define MEMBER(T, i, offset) (*(T *)(uintptr_t)((const char *)(i) + (offset)))

/* The field of an attribute of an opcode; NULL: none. */
const struct proto_field *proto_find_field(enum opcode op, enum attr_id id);
/* Whether the words of an attribute, the names of values in HLO text, are in lower case. */
bool proto_words_are_lower(const struct proto_field *f);
/* The message that has the field; NULL: missing. */
void *proto_field_owner(const inst_proto *i, const struct proto_field *f);

/* ---- emit.c ---- */

/* `{1,2}`, with brackets as in BUF_LIST. */
void proto_put_ints(struct buf *out, size_t count, const int64_t *at, const char *brackets);
void proto_put_name(struct buf *out, struct str name); /* %name */
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

/* The field of a LiteralProto for the elements of a type. */
enum coding { VARINTS, FIXED, RAW };
struct proto_data_field {
    uint8_t dtype, number, coding;
    const char *name;
};
const struct proto_data_field *proto_data_field_of(enum dtype t); /* NULL: none */

/* Whether the message has the shape of an array, but no element data. */
bool proto_literal_is_absent(const Xla__LiteralProto *l);
/* Writes a value, or `{...}` and notes it for the instruction whose name begins at `at`; `shapes`:
 * each array with its shape. */
bool proto_put_literal(struct reader *r, const Xla__LiteralProto *l, uint32_t at, bool shapes);

/* Decodes a literal to the arena of the reader; NULL with an error. */
struct literal *proto_read_literal(struct reader *r, const Xla__LiteralProto *l);

/* Elements in the order of the layout of a shape, which are stored at increasing positions of it;
 * those outside of a dynamic size are dropped. */
struct filler {
    char *data;
    size_t width;
    int64_t done, count;
    bool dense;           /* the order is that of storage, and all elements are stored */
    int rank, outside;    /* outside: number of dimensions whose index is beyond the size */
    const int64_t *order; /* dimensions, minor to major */
    int64_t dims[VIEW_MAX_RANK], sizes[VIEW_MAX_RANK], strides[VIEW_MAX_RANK], index[VIEW_MAX_RANK];
    int64_t offset; /* of the next element, in bytes */
};
/* Stores `count` elements with the layout and bounds of S in L. */
void proto_filler_init(struct filler *f, const struct literal *l, const struct shape *s,
                       int64_t count);
/* Appends elements; false if there are too many. */
bool proto_fill(struct filler *f, const void *elements, size_t count);
/* Sign- or zero-extends elements narrower than a byte. */
void proto_extend(const struct literal *l);
/* Checks a dynamic size; false with an error. */
bool proto_check_size(struct reader *r, const struct shape *s, int d, int64_t size);
/* A new array of the shape, or of the actual sizes; NULL with an error. */
struct literal *proto_new_array(struct reader *r, const struct shape *s, const int64_t *sizes,
                                int64_t elements);
/* Releases the whole pages of bytes of the mapped file, which are not read soon again. */
void proto_release_pages(struct str mapped, struct str bytes);

/* ---- stored.c ---- */

/* Notes the arguments and the result of a snapshot. False with an error. */
bool proto_read_stored(struct reader *r, const struct proto_input *input);

/* ---- text_format.c ---- */

/* Converts text to wire format. False with an error at its place in the text. */
bool proto_from_text(struct diags *ds, struct str text, const ProtobufCMessageDescriptor *d,
                     struct buf *out);

#endif
