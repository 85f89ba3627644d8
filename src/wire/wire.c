/*
 * Safe unpacking of protocol buffers from untrusted files.
 *
 * protobuf-c recurses into messages and allocates as it goes. So the bytes are scanned first: they
 * must be well-formed and not nest too deeply, and the memory that unpacking needs is computed.
 * Unpacking then uses an allocator with the same limit, so that an error in that computation is
 * bounded too.
 *
 * The scan of a normalized message writes a copy without its large fields, which is unpacked in
 * its place. In it, a message that occurs more than once is merged: its occurrences are
 * concatenated, which is what merging is defined as. (protobuf-c merges them one by one, each at
 * the cost of all previous ones, so that they are an error otherwise.)
 */
#include "wire/wire.h"

/* A graph within a graph of ONNX is nested three messages deeper. */
enum { DEEPEST = 100 };
/* Memory for unpacking in addition to the file: an empty message has two bytes in the file and some
 * hundred in memory; real models take 5 to 13 times the size of their nodes and no more than that
 * of their weights. */
enum { ALLOWED_AT_LEAST = 64 << 20, ALLOWED_FOR_EACH_BYTE = 24 };
static const char TOO_MUCH[] = "message expands to many times its size";
/* The number of fields that protobuf-c tracks on its stack, the memory to track another one, and
 * the memory of an unknown field. */
enum { NOTED_FREE = 16, NOTE_BYTES = 80, UNKNOWN_BYTES = 32 };

/* ---- fields ---- */

enum wire_type wire_type_of(const ProtobufCFieldDescriptor *f)
{
    switch (f->type) {
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32: return WIRE_BITS32;
    case PROTOBUF_C_TYPE_DOUBLE:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64: return WIRE_BITS64;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE: return WIRE_BYTES;
    default: return WIRE_VARINT;
    }
}

void wire_put_varint(struct buf *out, uint64_t v)
{
    for (; v > 127; v >>= 7)
        buf_putc(out, (char)(v | 128));
    buf_putc(out, (char)v);
}

size_t wire_varint_size(uint64_t v) { return (63 - (unsigned)__builtin_clzll(v | 1)) / 7 + 1; }

void wire_put_tag(struct buf *out, unsigned field, enum wire_type type)
{
    wire_put_varint(out, (uint64_t)field << 3 | (unsigned)type);
}

enum { LENGTH_BYTES = 5 }; /* of the length of a value that is written before its length is known */

size_t wire_begin(struct buf *out, unsigned field)
{
    wire_put_tag(out, field, WIRE_BYTES);
    buf_bytes(out, "\0\0\0\0\0", LENGTH_BYTES);
    return out->size;
}

bool wire_end(struct buf *out, size_t begin)
{
    const size_t length = out->size - begin;
    for (unsigned k = 0; k < LENGTH_BYTES; k++)
        out->data[begin - LENGTH_BYTES + k] =
            (char)((length >> 7 * k & 127) | (k + 1 < LENGTH_BYTES ? 128 : 0));
    return length <= INT32_MAX;
}

/* ---- the scan ---- */

enum { FIELD_WORDS = 2 }; /* of bit sets of the fields of a message */

/* A message that is being scanned. */
struct level {
    const ProtobufCMessageDescriptor *d;
    struct str bytes;
    const char *at;                    /* the current field */
    const ProtobufCFieldDescriptor *f; /* NULL: unknown */
    size_t fields;
    /* Singular messages that occur more than once; those that were merged, where they occur first
     */
    uint64_t repeated[FIELD_WORDS], merged[FIELD_WORDS];
};

struct walk {
    struct wire_scan *scan;
    struct str file;
    struct level levels[DEEPEST + 1];
    int depth;
    uint64_t taken, max; /* bytes that unpacking takes, and the limit */
    struct buf out;      /* the normalized message */
};

/* The number of fields of the same number before the current one. */
static size_t occurrence_index(const struct level *l)
{
    struct wire_cursor c = {l->bytes.ptr, l->at};
    struct wire_field field;
    size_t n = 0;
    while (c.at < c.end && wire_next(&c, &field))
        n += field.number == l->f->id;
    return n;
}

static void write_path(struct walk *w)
{
    SCOPED_BUF b = {0};
    for (int k = 1; k <= w->depth; k++) {
        const struct level *l = &w->levels[k];
        if (!l->f)
            break;
        buf_puts(&b, k > 1 ? "." : "");
        buf_puts(&b, l->f->name);
        if (l->f->label == PROTOBUF_C_LABEL_REPEATED)
            buf_printf(&b, "[%zu]", occurrence_index(l));
    }
    w->scan->path = arena_str(w->scan->arena, buf_view(&b));
}

static bool report_malformed(struct walk *w, const char *at, const char *why)
{
    w->scan->why = why;
    w->scan->at = at >= w->file.ptr && at <= w->file.ptr + w->file.len
                      ? (size_t)(at - w->file.ptr)
                      : SIZE_MAX; /* in a merged message */
    write_path(w);
    return false;
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

static bool is_well_packed(const ProtobufCFieldDescriptor *f, struct str value)
{
    struct wire_cursor c = {value.ptr, value.ptr + value.len};
    uint64_t v;
    const enum wire_type type = wire_type_of(f);
    if (type != WIRE_VARINT)
        return value.len % (type == WIRE_BITS64 ? 8 : 4) == 0;
    while (c.at < c.end)
        if (!wire_varint(&c, &v))
            return false;
    return true;
}

bool wire_is_text(struct str s)
{
    return str_is_utf8(s) && (s.len == 0 || !memchr(s.ptr, '\0', s.len));
}

static bool is_singular_message(const ProtobufCFieldDescriptor *f)
{
    return f && f->type == PROTOBUF_C_TYPE_MESSAGE && f->label != PROTOBUF_C_LABEL_REPEATED;
}

static bool is_packed(const ProtobufCFieldDescriptor *f, enum wire_type type)
{
    return type == WIRE_BYTES && wire_type_of(f) != WIRE_BYTES &&
           f->label == PROTOBUF_C_LABEL_REPEATED;
}

static bool walk_message(struct walk *w, const ProtobufCMessageDescriptor *d, struct str bytes);

/* Concatenates all occurrences of the current field. */
static struct str concatenate_occurrences(struct walk *w, const struct level *l)
{
    struct wire_cursor c = {l->bytes.ptr, l->bytes.ptr + l->bytes.len};
    struct wire_field field;
    SCOPED_BUF all = {0};
    while (c.at < c.end && wire_next(&c, &field))
        if (field.number == l->f->id && field.type == WIRE_BYTES)
            buf_str(&all, field.value);
    struct str s = arena_str(w->scan->arena, buf_view(&all));
    w->taken += all.size;
    return s;
}

/* Notes element data instead of copying them. */
static void record_chunk(struct wire_scan *s, const struct wire_field *field, struct str whole)
{
    struct wire_chunk *last = s->chunk_count ? &s->chunks[s->chunk_count - 1] : NULL;
    const bool tagged = field->type != WIRE_BYTES;
    if (tagged && last && last->tagged && last->field == field->number &&
        last->bytes.ptr + last->bytes.len == whole.ptr) {
        last->bytes.len += whole.len;
        return;
    }
    VEC_PUSH(s->arena, s->chunks, s->chunk_count, s->chunk_capacity) =
        (struct wire_chunk){field->number, tagged, tagged ? whole : field->value};
}

/* Copies a field that is no message to the normalized message. */
static bool copy_field(struct walk *w, const struct level *l, const struct wire_field *field)
{
    const ProtobufCFieldDescriptor *f = l->f;
    const struct wire_data *data = w->scan->data;
    const struct str whole = {l->at, (size_t)(field->value.ptr + field->value.len - l->at)};
    if (data && l->d == data->message && f->id != data->kept) {
        w->taken += sizeof(struct wire_chunk);
        record_chunk(w->scan, field, whole);
        return true;
    }
    if (is_packed(f, field->type) && !is_well_packed(f, field->value))
        return report_malformed(w, l->at, "malformed list of numbers");
    if (f->type == PROTOBUF_C_TYPE_STRING && !wire_is_text(field->value))
        return report_malformed(w, l->at, "string is not UTF-8 text");
    w->taken += bytes_of_field(f, field->value);
    buf_str(&w->out, whole);
    return true;
}

static bool walk_submessage(struct walk *w, struct level *l, struct str value)
{
    const ProtobufCFieldDescriptor *f = l->f;
    const size_t number = (size_t)(f - l->d->fields), word = number / 64;
    const uint64_t bit = UINT64_C(1) << number % 64;
    if (l->repeated[word] & bit) {
        if (l->merged[word] & bit)
            return true;
        l->merged[word] |= bit;
        value = concatenate_occurrences(w, l);
    }
    if (!w->scan->normalize)
        return walk_message(w, f->descriptor, value);
    w->taken += bytes_of_field(f, value);
    const size_t begin = wire_begin(&w->out, f->id);
    return walk_message(w, f->descriptor, value) &&
           (wire_end(&w->out, begin) || report_malformed(w, l->at, "message is too long"));
}

static bool walk_field(struct walk *w, struct level *l, const struct wire_field *field)
{
    const bool normalize = w->scan->normalize;
    const ProtobufCFieldDescriptor *f = l->f;
    struct str value = field->value;
    if (!normalize)
        w->taken += bytes_of_field(f, value);
    w->taken += ++l->fields > NOTED_FREE ? NOTE_BYTES : 0;
    if (w->taken > w->max)
        return report_malformed(w, l->at, TOO_MUCH);
    if (normalize && (!f || (field->type != wire_type_of(f) && !is_packed(f, field->type))))
        return true;
    if (!f || f->type != PROTOBUF_C_TYPE_MESSAGE || field->type != WIRE_BYTES)
        return !normalize || copy_field(w, l, field);
    return walk_submessage(w, l, value);
}

/* Checks that all fields are well-formed, and finds messages that occur more than once. */
static bool find_repeated(struct walk *w, struct level *l)
{
    struct wire_cursor c = {l->bytes.ptr, l->bytes.ptr + l->bytes.len};
    uint64_t seen[FIELD_WORDS] = {0};
    struct wire_field field;
    while (c.at < c.end) {
        l->at = c.at;
        l->f = NULL;
        if (!wire_next(&c, &field))
            return report_malformed(w, l->at, "malformed or truncated field");
        l->f = protobuf_c_message_descriptor_get_field(l->d, field.number);
        if (!is_singular_message(l->f) || field.type != WIRE_BYTES)
            continue;
        const size_t number = (size_t)(l->f - l->d->fields);
        const uint64_t bit = UINT64_C(1) << number % 64;
        if (seen[number / 64] & bit && !w->scan->normalize)
            return report_malformed(w, l->at, "duplicate message");
        l->repeated[number / 64] |= seen[number / 64] & bit;
        seen[number / 64] |= bit;
    }
    return true;
}

static bool walk_message(struct walk *w, const ProtobufCMessageDescriptor *d, struct str bytes)
{
    struct wire_cursor c = {bytes.ptr, bytes.ptr + bytes.len};
    const struct wire_data *data = w->scan->data;
    const size_t first_chunk = w->scan->chunk_count;
    struct wire_field field;
    if (w->depth == DEEPEST)
        return report_malformed(w, bytes.ptr, "messages nested too deep");
    if (d->n_fields > FIELD_WORDS * 64)
        return report_malformed(w, bytes.ptr, "message type has too many fields");
    struct level *l = &w->levels[++w->depth];
    *l = (struct level){.d = d, .bytes = bytes};
    w->taken += d->sizeof_message;
    if (!find_repeated(w, l))
        return false;
    const bool direct = data && d == data->message;
    while (c.at < c.end) {
        l->at = c.at;
        if (!wire_next(&c, &field))
            return report_malformed(w, l->at, "malformed or truncated field");
        l->f = protobuf_c_message_descriptor_get_field(d, field.number);
        if (!walk_field(w, l, &field))
            return false;
    }
    if (direct) {
        wire_put_tag(&w->out, data->first, WIRE_VARINT);
        wire_put_varint(&w->out, first_chunk);
        wire_put_tag(&w->out, data->count, WIRE_VARINT);
        wire_put_varint(&w->out, w->scan->chunk_count - first_chunk);
    }
    w->depth--;
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

static void bounded_release(void *data, void *p) { heap_free(p); }

ProtobufCMessage *wire_unpack(struct wire_scan *scan, const ProtobufCMessageDescriptor *d,
                              struct str bytes)
{
    const uint64_t max = ALLOWED_AT_LEAST + (uint64_t)bytes.len * ALLOWED_FOR_EACH_BYTE;
    struct walk *w = heap_zalloc(1, sizeof *w);
    struct bounded b = {.left = max < SIZE_MAX ? (size_t)max : SIZE_MAX};
    ProtobufCAllocator allocator = {bounded_alloc, bounded_release, &b};
    ProtobufCMessage *message = NULL;
    scan->why = NULL;
    scan->path = STR("");
    w->scan = scan;
    w->file = bytes;
    w->max = max;
    if (walk_message(w, d, bytes)) {
        const struct str whole = scan->normalize ? buf_view(&w->out) : bytes;
        message = protobuf_c_message_unpack(d, &allocator, whole.len, (const uint8_t *)whole.ptr);
        scan->at = SIZE_MAX;
        scan->why = message ? NULL : b.exceeded ? TOO_MUCH : "wrong wire type of a field";
    }
    buf_free(&w->out);
    heap_free(w);
    return message;
}

void wire_free(ProtobufCMessage *message)
{
    if (message)
        protobuf_c_message_free_unpacked(
            message, &(ProtobufCAllocator){bounded_alloc, bounded_release, NULL});
}
