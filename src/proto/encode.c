/*
 * encode.c: messages in wire or text format, by their descriptors. Elements of literals go straight
 * to the output.
 */
#include "proto/write_priv.h"

#include <math.h>

enum { DEEPEST = 100, FLUSH = 1 << 16 };

struct encoder {
    const struct proto_sink *to;
    struct buf out; /* not passed on yet */
    char *buffer;   /* FLUSH bytes, for elements */
    int depth;
    bool failed;
    /* sizes of all messages in wire format, each before those within it; `next` is to be written */
    struct arena arena;
    uint64_t *sizes;
    size_t size_count, size_capacity, next;
};

/* ---- output ---- */

static void pass(struct encoder *e, struct str bytes)
{
    if (!e->failed && bytes.len > 0)
        e->failed = !e->to->put(e->to->context, bytes);
}

static void flush(struct encoder *e)
{
    pass(e, buf_view(&e->out));
    e->out.size = 0;
}

static void flush_if_full(struct encoder *e)
{
    if (e->out.size >= FLUSH)
        flush(e);
}

/* ---- fields ---- */

typedef const ProtobufCFieldDescriptor field;

static size_t width_of(field *f)
{
    switch (f->type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_DOUBLE: return 8;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE: return sizeof(void *);
    case PROTOBUF_C_TYPE_BYTES: return sizeof(ProtobufCBinaryData);
    default: return 4;
    }
}

/* An integer, truth value or value of an enumeration as a varint. */
static uint64_t varint_of(field *f, const char *at)
{
    switch (f->type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64: return MEMBER(uint64_t, at, 0);
    case PROTOBUF_C_TYPE_UINT32: return MEMBER(uint32_t, at, 0);
    default: return (uint64_t)(int64_t)MEMBER(int32_t, at, 0);
    }
}

static struct str bytes_of(field *f, const char *at)
{
    return f->type == PROTOBUF_C_TYPE_STRING ? str_of(MEMBER(const char *, at, 0))
                                             : str_of_bytes(MEMBER(ProtobufCBinaryData, at, 0));
}

/* Whether a singular field is written: without presence, if it is not zero or empty. */
static bool is_present(field *f, const char *m, const char *at)
{
    if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
        return MEMBER(uint32_t, m, f->quantifier_offset) == f->id;
    switch (f->type) {
    case PROTOBUF_C_TYPE_MESSAGE: return MEMBER(void *, at, 0) != NULL;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES: return bytes_of(f, at).len > 0;
    case PROTOBUF_C_TYPE_DOUBLE: return MEMBER(uint64_t, at, 0) != 0;
    case PROTOBUF_C_TYPE_FLOAT: return MEMBER(uint32_t, at, 0) != 0;
    default: return varint_of(f, at) != 0;
    }
}

/* The values of a field. */
struct values {
    size_t count;
    const char *at;
};

static struct values values_of(field *f, const ProtobufCMessage *message)
{
    const char *m = (const char *)message, *at = m + f->offset;
    if (f->label == PROTOBUF_C_LABEL_REPEATED)
        return (struct values){MEMBER(size_t, m, f->quantifier_offset), MEMBER(char *, at, 0)};
    return (struct values){is_present(f, m, at), at};
}

/* The elements of a literal, which its other fields precede or follow. */
static const struct proto_elements *elements_of(const ProtobufCMessage *m)
{
    return m->descriptor == &xla__literal_proto__descriptor
               ? proto_elements_of((const Xla__LiteralProto *)m)
               : NULL;
}

/* A field that the program uses itself. */
static bool is_own(field *f) { return f->id > 1000; }

static bool is_packed(field *f)
{
    return f->label == PROTOBUF_C_LABEL_REPEATED && wire_type_of(f) != WIRE_BYTES;
}

/* ---- wire format ---- */

static uint64_t message_size(struct encoder *e, const ProtobufCMessage *m);

static uint64_t delimited(uint64_t size) { return wire_varint_size(size) + size; }

/* The size of a value without its tag. */
static uint64_t value_size(struct encoder *e, field *f, const char *at)
{
    switch (wire_type_of(f)) {
    case WIRE_BITS32: return 4;
    case WIRE_BITS64: return 8;
    case WIRE_VARINT: return wire_varint_size(varint_of(f, at));
    default: break;
    }
    return f->type == PROTOBUF_C_TYPE_MESSAGE
               ? delimited(message_size(e, MEMBER(const ProtobufCMessage *, at, 0)))
               : delimited(bytes_of(f, at).len);
}

static uint64_t values_size(struct encoder *e, field *f, struct values v)
{
    uint64_t size = 0;
    for (size_t k = 0; k < v.count; k++)
        size += value_size(e, f, v.at + k * width_of(f));
    return size;
}

static uint64_t message_size(struct encoder *e, const ProtobufCMessage *m)
{
    const struct proto_elements *elements = elements_of(m);
    const size_t place = e->size_count;
    uint64_t size = 0;
    VEC_PUSH(&e->arena, e->sizes, e->size_count, e->size_capacity) = 0;
    if (elements && elements->count > 0)
        size +=
            wire_varint_size((uint64_t)elements->field->number << 3) + delimited(elements->size);
    if (++e->depth > DEEPEST)
        e->failed = true;
    for (unsigned k = 0; k < m->descriptor->n_fields && !e->failed; k++) {
        field *f = &m->descriptor->fields[k];
        const struct values v = values_of(f, m);
        if (v.count == 0 || is_own(f))
            continue;
        const uint64_t tag = wire_varint_size((uint64_t)f->id << 3), n = values_size(e, f, v);
        size += is_packed(f) ? tag + delimited(n) : tag * v.count + n;
    }
    e->depth--;
    e->sizes[place] = size;
    return size;
}

static void put_message(struct encoder *e, const ProtobufCMessage *m);

static void put_value(struct encoder *e, field *f, const char *at)
{
    switch (wire_type_of(f)) {
    case WIRE_BITS32: buf_bytes(&e->out, at, 4); return;
    case WIRE_BITS64: buf_bytes(&e->out, at, 8); return;
    case WIRE_VARINT: wire_put_varint(&e->out, varint_of(f, at)); return;
    default: break;
    }
    if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
        wire_put_varint(&e->out, e->sizes[e->next++]);
        put_message(e, MEMBER(const ProtobufCMessage *, at, 0));
        return;
    }
    const struct str s = bytes_of(f, at);
    wire_put_varint(&e->out, s.len);
    buf_str(&e->out, s);
}

static void put_field(struct encoder *e, field *f, struct values v)
{
    if (is_packed(f)) {
        wire_put_tag(&e->out, f->id, WIRE_BYTES);
        wire_put_varint(&e->out, values_size(e, f, v));
    }
    for (size_t k = 0; k < v.count; k++) {
        if (!is_packed(f))
            wire_put_tag(&e->out, f->id, wire_type_of(f));
        put_value(e, f, v.at + k * width_of(f));
        flush_if_full(e);
    }
}

static void put_elements(struct encoder *e, const struct proto_elements *x)
{
    struct proto_position at = {0};
    const size_t width = dtype_bytes(x->dtype);
    int64_t count;
    wire_put_tag(&e->out, x->field->number, WIRE_BYTES);
    wire_put_varint(&e->out, x->size);
    for (;;) {
        const char *p = proto_next_elements(x, &at, e->buffer, FLUSH, &count);
        if (count == 0 || e->failed)
            return;
        if (x->field->coding == VARINTS) {
            for (int64_t k = 0; k < count; k++)
                wire_put_varint(&e->out, proto_element_varint(x->dtype, p + (size_t)k * width));
            flush_if_full(e);
        } else {
            flush(e);
            pass(e, (struct str){p, (size_t)count * width});
        }
    }
}

static void put_message(struct encoder *e, const ProtobufCMessage *m)
{
    const struct proto_elements *elements = elements_of(m);
    for (unsigned k = 0; k < m->descriptor->n_fields && !e->failed; k++) {
        field *f = &m->descriptor->fields[k];
        const struct values v = values_of(f, m);
        if (elements && elements->count > 0 && f->id == elements->field->number)
            put_elements(e, elements);
        else if (v.count > 0 && !is_own(f))
            put_field(e, f, v);
    }
}

/* ---- text format ---- */

static void show_message(struct encoder *e, const ProtobufCMessage *m);

static void indent(struct encoder *e)
{
    for (int k = 0; k < e->depth; k++)
        buf_puts(&e->out, "  ");
}

/* The fewest digits that read back as the same number. */
static void show_real(struct encoder *e, double v, bool single)
{
    char text[40];
    double back = 0;
    if (isnan(v) || isinf(v)) {
        buf_puts(&e->out, signbit(v) ? "-" : "");
        buf_puts(&e->out, isnan(v) ? "nan" : "inf");
        return;
    }
    for (int digits = single ? 6 : 15; digits <= (single ? 9 : 17); digits++) {
        const size_t n = num_format_g(text, sizeof text, v, digits);
        if (num_parse_double((struct str){text, n}, &back) &&
            (single ? (float)back == (float)v : back == v)) {
            buf_bytes(&e->out, text, n);
            return;
        }
    }
}

static void show_number(struct encoder *e, field *f, const char *at)
{
    const uint64_t v = wire_type_of(f) == WIRE_VARINT ? varint_of(f, at) : 0;
    const ProtobufCEnumValue *word = NULL;
    switch (f->type) {
    case PROTOBUF_C_TYPE_FLOAT: show_real(e, (double)MEMBER(float, at, 0), true); return;
    case PROTOBUF_C_TYPE_DOUBLE: show_real(e, MEMBER(double, at, 0), false); return;
    case PROTOBUF_C_TYPE_BOOL: buf_puts(&e->out, v ? "true" : "false"); return;
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_UINT64: buf_printf(&e->out, "%" PRIu64, v); return;
    case PROTOBUF_C_TYPE_ENUM:
        word = protobuf_c_enum_descriptor_get_value(f->descriptor, (int)v);
        break;
    default: break;
    }
    if (word)
        buf_puts(&e->out, word->name);
    else
        buf_int(&e->out, (int64_t)v);
}

static void show_value(struct encoder *e, field *f, const char *at)
{
    indent(e);
    buf_puts(&e->out, f->name);
    if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
        buf_puts(&e->out, " {\n");
        e->depth++;
        show_message(e, MEMBER(const ProtobufCMessage *, at, 0));
        e->depth--;
        indent(e);
        buf_puts(&e->out, "}\n");
        return;
    }
    buf_puts(&e->out, ": ");
    if (wire_type_of(f) == WIRE_BYTES)
        text_print_quoted(&e->out, bytes_of(f, at));
    else
        show_number(e, f, at);
    buf_putc(&e->out, '\n');
    flush_if_full(e);
}

/* Elements that are numbers of their own: those of complex types are two. */
static void show_numbers(struct encoder *e, field *f, const struct proto_elements *x, const char *p,
                         int64_t count)
{
    const size_t part = dtype_bytes(dtype_component(x->dtype)), width = dtype_bytes(x->dtype);
    for (size_t at = 0; at < (size_t)count * width; at += part) {
        const uint64_t v = x->field->coding == VARINTS ? proto_element_varint(x->dtype, p + at) : 0;
        char value[8] = {0};
        memcpy(value, x->field->coding == VARINTS ? (const char *)&v : p + at,
               x->field->coding == VARINTS ? sizeof v : part);
        show_value(e, f, value);
    }
}

static void show_elements(struct encoder *e, field *f, const struct proto_elements *x)
{
    struct proto_position at = {0};
    int64_t count;
    if (x->field->coding == RAW) {
        indent(e);
        buf_printf(&e->out, "%s: \"", f->name);
    }
    for (;;) {
        const char *p = proto_next_elements(x, &at, e->buffer, FLUSH, &count);
        if (count == 0 || e->failed)
            break;
        if (x->field->coding == RAW)
            text_print_escaped(&e->out, (struct str){p, (size_t)count * dtype_bytes(x->dtype)});
        else
            show_numbers(e, f, x, p, count);
        flush_if_full(e);
    }
    if (x->field->coding == RAW)
        buf_puts(&e->out, "\"\n");
}

static void show_message(struct encoder *e, const ProtobufCMessage *m)
{
    const struct proto_elements *elements = elements_of(m);
    for (unsigned k = 0; k < m->descriptor->n_fields && !e->failed; k++) {
        field *f = &m->descriptor->fields[k];
        const struct values v = values_of(f, m);
        if (elements && elements->count > 0 && f->id == elements->field->number)
            show_elements(e, f, elements);
        for (size_t n = 0; !is_own(f) && n < v.count; n++)
            show_value(e, f, v.at + n * width_of(f));
    }
}

/* ---- messages ---- */

bool proto_encode(struct diags *ds, const ProtobufCMessage *m, const struct proto_sink *to)
{
    struct encoder e = {.to = to, .next = 1};
    arena_init(&e.arena);
    const uint64_t size = message_size(&e, m);
    if (e.failed || (size > INT32_MAX && !to->text)) {
        arena_free(&e.arena);
        return DIAG_ERROR(ds, NO_SPAN, PROTO_NO_FORM,
                          STR_ARG(e.failed ? STR("messages nested too deep")
                                           : STR("a module of 2 GiB and more")));
    }
    e.buffer = heap_zalloc(FLUSH, 1);
    if (to->text)
        show_message(&e, m);
    else
        put_message(&e, m);
    flush(&e);
    heap_free(e.buffer);
    arena_free(&e.arena);
    buf_free(&e.out);
    return !e.failed;
}
