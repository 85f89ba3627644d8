/*
 * Safe unpacking of protobuf messages from untrusted files.
 *
 * protobuf-c recurses into messages and allocates as it goes. So the bytes are scanned first: they
 * must be well-formed, not nest too deeply, and contain each non-repeated submessage only once
 * (protobuf-c merges duplicates, each at the cost of all previous ones); and the memory that
 * unpacking needs is computed. Unpacking then uses an allocator with the same limit, so that an
 * error in that computation is bounded too.
 */
#include "onnx/protobuf.h"

/* A graph within a graph is nested three messages deeper. */
enum { DEEPEST = 100 };
/* Memory for unpacking in addition to the file: an empty message has two bytes in the file and some
 * hundred in memory; real models take 5 to 13 times the size of their nodes and no more than that
 * of their weights. */
enum { ALLOWED_AT_LEAST = 64 << 20, ALLOWED_FOR_EACH_BYTE = 24 };
static const char TOO_MUCH[] = "message expands to many times its size";
/* The number of fields that protobuf-c tracks on its stack, the memory to track another one, and
 * the memory of an unknown field. */
enum { NOTED_FREE = 16, NOTE_BYTES = 80, UNKNOWN_BYTES = 32 };
enum { VARINT = 0, BITS64 = 1, BYTES = 2, BITS32 = 5 };

struct cursor {
    const char *at, *end;
};

struct walk {
    const char *begin, *wrong_at;
    const char *why;
    uint64_t taken, max; /* bytes that unpacking takes, and the limit */
};

static bool wrong(struct walk *w, const char *at, const char *why)
{
    w->why = why;
    w->wrong_at = at;
    return false;
}

static bool take_varint(struct cursor *c, uint64_t *out)
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

/* Reads the value of a field after its tag; for a length-delimited field, its bytes. */
static bool take_value(struct cursor *c, unsigned type, struct str *bytes)
{
    uint64_t n = type == BITS64 ? 8 : 4;
    if (type == VARINT)
        return take_varint(c, &n);
    if (type != BITS64 && type != BITS32 && !(type == BYTES && take_varint(c, &n)))
        return false;
    if (n > (uint64_t)(c->end - c->at))
        return false;
    *bytes = (struct str){c->at, n};
    c->at += n;
    return true;
}

/* The memory of a field in addition to the enclosing message and to its own message. */
static uint64_t bytes_of_field(const ProtobufCFieldDescriptor *f, struct str value)
{
    if (!f)
        return UNKNOWN_BYTES + value.len;
    const bool text = f->type == PROTOBUF_C_TYPE_STRING || f->type == PROTOBUF_C_TYPE_BYTES;
    const bool fixed = f->type == PROTOBUF_C_TYPE_FLOAT || f->type == PROTOBUF_C_TYPE_DOUBLE;
    const uint64_t item = f->label == PROTOBUF_C_LABEL_REPEATED ? sizeof(void *) : 0;
    if (text)
        return item + sizeof(ProtobufCBinaryData) + value.len + 1;
    /* Packed numbers. */
    return f->type == PROTOBUF_C_TYPE_MESSAGE ? item : item + (fixed ? value.len : 8 * value.len);
}

static bool walk_message(struct walk *w, const ProtobufCMessageDescriptor *d, struct str bytes,
                         int depth)
{
    struct cursor c = {bytes.ptr, bytes.ptr + bytes.len};
    uint64_t seen = 0, tag, fields = 0;
    w->taken += d->sizeof_message;
    if (depth > DEEPEST)
        return wrong(w, bytes.ptr, "messages nested too deep");
    while (c.at < c.end) {
        const char *start = c.at;
        struct str value = {0};
        if (!take_varint(&c, &tag) || tag >> 3 == 0 || tag > UINT32_MAX ||
            !take_value(&c, tag & 7, &value))
            return wrong(w, start, "malformed or truncated field");
        const ProtobufCFieldDescriptor *f =
            protobuf_c_message_descriptor_get_field(d, (unsigned)(tag >> 3));
        w->taken += bytes_of_field(f, value) + (++fields > NOTED_FREE ? NOTE_BYTES : 0);
        if (w->taken > w->max)
            return wrong(w, start, TOO_MUCH);
        if (!f || f->type != PROTOBUF_C_TYPE_MESSAGE || (tag & 7) != BYTES)
            continue;
        uint64_t bit = (uint64_t)1 << ((f - d->fields) & 63);
        if (f->label != PROTOBUF_C_LABEL_REPEATED && (seen & bit))
            return wrong(w, start, "duplicate message");
        seen |= bit;
        if (!walk_message(w, f->descriptor, value, depth + 1))
            return false;
    }
    return true;
}

/* ---- memory with a limit ---- */

struct bounded {
    size_t left;
    bool exceeded;
};

static void *bounded_alloc(void *data, size_t size)
{
    struct bounded *b = data;
    if (size > b->left) {
        b->exceeded = true;
        return NULL;
    }
    b->left -= size;
    return heap_alloc(size ? size : 1);
}

static void bounded_release(void *data, void *p)
{
    (void)data;
    heap_free(p);
}

ProtobufCMessage *wire_unpack(const ProtobufCMessageDescriptor *d, struct str bytes,
                              const char *path, hlo_messages *m)
{
    const uint64_t max = ALLOWED_AT_LEAST + (uint64_t)bytes.len * ALLOWED_FOR_EACH_BYTE;
    struct walk w = {.begin = bytes.ptr, .max = max};
    struct bounded b = {.left = max < SIZE_MAX ? (size_t)max : SIZE_MAX};
    ProtobufCAllocator allocator = {bounded_alloc, bounded_release, &b};
    if (!walk_message(&w, d, bytes, 1)) {
        onnx_error(m, path, "malformed ONNX file: %s at byte %zu", w.why,
                   (size_t)(w.wrong_at - w.begin));
        return NULL;
    }
    ProtobufCMessage *message =
        protobuf_c_message_unpack(d, &allocator, bytes.len, (const uint8_t *)bytes.ptr);
    if (!message && b.exceeded)
        onnx_error(m, path, "malformed ONNX file: %s", TOO_MUCH);
    else if (!message)
        onnx_error(m, path, "malformed ONNX file: wrong wire type of a field");
    return message;
}

void wire_free(ProtobufCMessage *message)
{
    if (message)
        protobuf_c_message_free_unpacked(
            message, &(ProtobufCAllocator){bounded_alloc, bounded_release, NULL});
}
