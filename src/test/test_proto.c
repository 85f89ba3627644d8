/*
 * Tests of protocol buffers: fields and messages in wire format, well-formed and malformed; kinds
 * of files; literals in messages and after them.
 */
#include "proto/proto_priv.h"

#include "check_quiet.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static struct arena arena;
static struct diags ds;
static struct source source;
static struct buf bytes;

static void set_up(void)
{
    arena_init(&arena);
    source_init(&source, STR("m"), STR(""));
    diags_init(&ds, &source);
    bytes = (struct buf){0};
}

static void tear_down(void)
{
    buf_free(&bytes);
    diags_free(&ds);
    source_free(&source);
    arena_free(&arena);
}

/* Writes a message, a string or packed numbers. */
static void put_bytes(struct buf *out, unsigned field, struct str value)
{
    wire_put_tag(out, field, WIRE_BYTES);
    wire_put_varint(out, value.len);
    buf_str(out, value);
}

static void put_number(struct buf *out, unsigned field, uint64_t v)
{
    wire_put_tag(out, field, WIRE_VARINT);
    wire_put_varint(out, v);
}

/* Appends the wire form of a text. */
static void put_text(struct buf *out, const char *text, const ProtobufCMessageDescriptor *d)
{
    ck_assert(proto_from_text(&ds, str_of(text), d, out));
}

/* ---- fields ---- */

START_TEST(varints_have_at_most_ten_bytes)
{
    static const struct {
        const char *bytes;
        size_t size;
        bool ok;
        uint64_t value;
    } cases[] = {
        {"\0", 1, true, 0},
        {"\x7f", 1, true, 127},
        {"\x80\x01", 2, true, 128},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, true, UINT64_MAX},
        {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11, false, 0},
        {"\x80", 1, false, 0},
        {"", 0, false, 0},
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct wire_cursor c = {cases[k].bytes, cases[k].bytes + cases[k].size};
        uint64_t v;
        ck_assert(wire_varint(&c, &v) == cases[k].ok);
        ck_assert(!cases[k].ok || (v == cases[k].value && c.at == c.end));
    }
}
END_TEST

START_TEST(malformed_fields)
{
    static const struct str cases[] = {
        STR("\x00\x01"),                 /* field 0 */
        STR("\x0b"),                     /* groups */
        STR("\x0c"),                     /* */
        STR("\x0e\x01"),                 /* unknown wire types */
        STR("\x0f\x01"),                 /* */
        STR("\x0a\x05word"),             /* beyond the end */
        STR("\x0d\x01\x02\x03"),         /* */
        STR("\x09\x01\x02\x03\x04"),     /* */
        STR("\x08"),                     /* no value */
        STR("\x88\x80\x80\x80\x80\x01"), /* tag beyond 32 bits */
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct wire_cursor c = {cases[k].ptr, cases[k].ptr + cases[k].len};
        struct wire_field f;
        ck_assert_msg(!wire_next(&c, &f), "case %zu", k);
    }
}
END_TEST

/* ---- messages ---- */

static const ProtobufCMessageDescriptor *const shape_type = &xla__shape_proto__descriptor;
static struct wire_scan scan;

static ProtobufCMessage *unpack(const ProtobufCMessageDescriptor *d)
{
    scan = (struct wire_scan){.arena = &arena, .normalize = true};
    return wire_unpack(&scan, d, buf_view(&bytes));
}

static void expect_malformed(const char *path, const char *why)
{
    ck_assert_ptr_null(unpack(&xla__hlo_module_proto__descriptor));
    ck_assert_str_eq(scan.why, why);
    ck_assert_str_eq(arena_str(&arena, scan.path).ptr, path);
}

/* Wraps a field of an instruction: module, second computation, third instruction. */
static void wrap(unsigned field, struct str value)
{
    struct buf inst = {0}, computation = {0};
    put_bytes(&inst, field, value);
    put_bytes(&computation, 2, STR(""));
    put_bytes(&computation, 2, STR(""));
    put_bytes(&computation, 2, buf_view(&inst));
    put_bytes(&bytes, 3, STR(""));
    put_bytes(&bytes, 3, buf_view(&computation));
    buf_free(&inst);
    buf_free(&computation);
}

static const struct malformed {
    unsigned field;
    struct str value;
    const char *path, *why;
} malformed[] = {
    {3, STR("\x0a"), "computations[1].instructions[2].shape", "malformed or truncated field"},
    {3, STR("\x2a\x01\x0a"), "computations[1].instructions[2].shape.layout",
     "malformed or truncated field"},
    {3, STR("\x1a\x02\x01\x80"), "computations[1].instructions[2].shape.dimensions[0]",
     "malformed list of numbers"},
    {1, STR("\xff"), "computations[1].instructions[2].name", "string is not UTF-8 text"},
    {2, STR("a\0b"), "computations[1].instructions[2].opcode", "string is not UTF-8 text"},
    {17, STR("\x08\x80"), "computations[1].instructions[2].slice_dimensions[0]",
     "malformed or truncated field"},
};

START_TEST(malformed_messages_have_a_path)
{
    wrap(malformed[_i].field, malformed[_i].value);
    expect_malformed(malformed[_i].path, malformed[_i].why);
}
END_TEST

/* Shapes nested in tuple_shapes; the outermost is level 1. */
START_TEST(depth_is_limited)
{
    const bool deep = _i;
    for (int k = 1; k < (deep ? 101 : 100); k++) {
        struct buf outer = {0};
        put_bytes(&outer, 4, buf_view(&bytes));
        buf_free(&bytes);
        bytes = outer;
    }
    ProtobufCMessage *m = unpack(shape_type);
    ck_assert(deep ? !m && !strcmp(scan.why, "messages nested too deep") : m != NULL);
    wire_free(m);
}
END_TEST

START_TEST(memory_is_limited)
{
    for (int k = 0; k < 200000; k++)
        put_bytes(&bytes, 2, STR(""));
    ck_assert_ptr_null(unpack(&xla__hlo_computation_proto__descriptor));
    ck_assert_str_eq(scan.why, "message expands to many times its size");
}
END_TEST

START_TEST(repeated_fields_are_merged)
{
    put_bytes(&bytes, 5, STR("\x0a\x01\x01"));
    put_number(&bytes, 2, 11);
    put_bytes(&bytes, 77, STR("unknown"));
    put_number(&bytes, 5, 3);              /* wrong wire type */
    put_bytes(&bytes, 5, STR("\x08\x00")); /* not packed */
    put_number(&bytes, 2, 12);
    put_number(&bytes, 3, 4);
    put_bytes(&bytes, 3, STR("\x05\x06"));
    const Xla__ShapeProto *s = (const Xla__ShapeProto *)unpack(shape_type);
    ck_assert_ptr_nonnull(s);
    ck_assert_int_eq(s->element_type, 12);
    ck_assert_uint_eq(s->layout->n_minor_to_major, 2);
    ck_assert_int_eq(s->layout->minor_to_major[0], 1);
    ck_assert_uint_eq(s->n_dimensions, 3);
    ck_assert_int_eq(s->dimensions[2], 6);
    wire_free((ProtobufCMessage *)(uintptr_t)s);
}
END_TEST

/* Every truncation is an error or a message, and nothing is read beyond it (sanitizers). */
START_TEST(truncated_messages)
{
    struct buf whole = {0};
    put_text(&whole,
             "name: 'm' computations { name: 'c' id: 300 instructions { name: 'x' shape { "
             "dimensions: [1, 2] layout { minor_to_major: [1, 0] } } } } payloads: 'p'",
             &xla__hlo_module_proto__descriptor);
    for (size_t n = 0; n < whole.size; n++) {
        char *part = heap_alloc(n + 1);
        memcpy(part, whole.data, n);
        scan = (struct wire_scan){.arena = &arena, .normalize = true};
        wire_free(wire_unpack(&scan, &xla__hlo_module_proto__descriptor, (struct str){part, n}));
        heap_free(part);
    }
    buf_free(&whole);
}
END_TEST

/* ---- kinds ---- */

#define SHAPE "element_type: F32 dimensions: 2 layout { minor_to_major: 0 }"
#define MODULE                                                                                     \
    "name: 'm' computations { name: 'e' instructions { name: 'x' opcode: 'parameter' "             \
    "shape { " SHAPE " } } } host_program_shape { parameters { " SHAPE " } result { " SHAPE        \
    " } parameter_names: 'x' }"
#define LITERAL "shape { " SHAPE " } f32s: [1, 2]"

static const struct kind_case {
    const char *text;
    const ProtobufCMessageDescriptor *d;
    enum proto_kind kind;
} kind_cases[] = {
    {MODULE, &xla__hlo_module_proto__descriptor, PROTO_MODULE},
    {"hlo_module {\n" MODULE " }", &xla__hlo_proto__descriptor, PROTO_HLO},
    {"hlo {\n hlo_module { " MODULE " } }\narguments { " LITERAL " }\nresult { " LITERAL " }",
     &xla__hlo_snapshot__descriptor, PROTO_SNAPSHOT},
    {"hlo_module {\n" MODULE " }\npartitions {\n arguments { " LITERAL " } }",
     &xla__hlo_unoptimized_snapshot__descriptor, PROTO_UNOPTIMIZED},
    {LITERAL, &xla__literal_proto__descriptor, PROTO_LITERAL},
    {"partitions {}", &xla__hlo_unoptimized_snapshot__descriptor, PROTO_NONE},
};

START_TEST(kinds)
{
    const struct kind_case *c = &kind_cases[_i];
    put_text(&bytes, c->text, c->d);
    ck_assert_int_eq(proto_kind_of(buf_view(&bytes)), c->kind);
    ck_assert_int_eq(proto_kind_of_text(str_of(c->text)), c->kind);
    if (c->kind != PROTO_UNOPTIMIZED)
        return;
    struct buf container = {0};
    wire_put_varint(&container, bytes.size);
    buf_str(&container, buf_view(&bytes));
    ck_assert_int_eq(proto_kind_of(buf_view(&container)), PROTO_CONTAINER);
    ck_assert(str_eq(proto_container_message(buf_view(&container)), buf_view(&bytes)));
    buf_free(&container);
}
END_TEST

/* ---- literals ---- */

/* The value of a file, as text; or the error with its path. */
static const char *print(struct literal *l)
{
    struct buf out = {0};
    if (!l) {
        buf_printf(&out, STR_FMT ": %s", STR_ARG(source.path), ds.last->text.ptr);
    } else {
        shape_print(&out, l->shape, false);
        buf_putc(&out, ' ');
        text_print_literal(&out, l);
        literal_free_data(l);
    }
    const char *text = arena_str(&arena, buf_view(&out)).ptr;
    buf_free(&out);
    return text;
}

static const char *literal_of(struct str from)
{
    return print(
        proto_literal(&ds, &arena, &(struct proto_input){from, PROTO_LITERAL, false, false}));
}

static const struct {
    const char *text, *value;
} literals[] = {
    {LITERAL, "f32[2] {1, 2}"},
    {"shape { element_type: S32 dimensions: [2, 2] layout { minor_to_major: [0, 1] } } s32s: [1, "
     "-2] s32s: 300 s32s: [4]",
     "s32[2,2] { { 1, 300 }, { -2, 4 } }"},
    {"shape { element_type: S64 layout {} } s64s: -9223372036854775808",
     "s64[] -9223372036854775808"},
    {"shape { element_type: F32 dimensions: 0 layout { minor_to_major: 0 } }", "f32[0] {}"},
    {"shape { element_type: F32 dimensions: 3 layout { minor_to_major: 0 } } f32s: 1",
     "f32s: malformed protocol buffer: expected 3 elements, got fewer"},
    {"shape { element_type: U8 dimensions: 1 layout { minor_to_major: 0 } } u8s: 'ab'",
     "u8s: malformed protocol buffer: expected 1 elements, got more"},
    {"shape { element_type: U8 dimensions: 2 layout { minor_to_major: 0 } } u8s: 'x' u8s: 'ab'",
     "u8[2] {97, 98}"},
    {"shape { element_type: C64 layout {} } c64s: 1",
     "c64s: malformed protocol buffer: expected 1 elements, got fewer"},
    {"f32s: 1", "shape: malformed protocol buffer: shape is missing"},
    {"shape { element_type: F32 dimensions: [4611686018427387904, 4] layout { minor_to_major: [1, "
     "0] } }",
     "shape: malformed protocol buffer: literal is too large"},
    {"shape { element_type: F32 dimensions: 1000000000000 layout { minor_to_major: 0 } } f32s: 1",
     "f32s: malformed protocol buffer: expected 1000000000000 elements, got fewer"},
    {"shape { element_type: TUPLE tuple_shapes { element_type: PRED layout {} } } tuple_literals { "
     "shape { element_type: PRED layout {} } preds: true }",
     "(pred[]) ( true )"},
    {"shape { element_type: TUPLE tuple_shapes { element_type: PRED layout {} } }",
     "tuple_literals: malformed protocol buffer: 0 components, expected 1"},
    {"shape { element_type: F32 dimensions: [2, 2] is_dynamic_dimension: [true, true] layout { "
     "minor_to_major: [0, 1] } } dynamic_sizes: [1, 2] f32s: [1, 2, 3, 4]",
     "f32[1,2] { { 1, 3 } }"},
    {"shape { element_type: F32 dimensions: [2, 2] is_dynamic_dimension: [true, true] layout { "
     "minor_to_major: [0, 1] } } dynamic_sizes: [0, 2] f32s: [1, 2, 3, 4]",
     "f32[0,2] {  }"},
    {"shape { element_type: F32 dimensions: 2 is_dynamic_dimension: true layout { minor_to_major: "
     "0 } } dynamic_sizes: -1 f32s: [1, 2]",
     "dynamic_sizes[0]: malformed protocol buffer: size -1 of a dimension of at most 2"},
};

START_TEST(literal_messages)
{
    put_text(&bytes, literals[_i].text, &xla__literal_proto__descriptor);
    ck_assert_str_eq(literal_of(buf_view(&bytes)), literals[_i].value);
}
END_TEST

START_TEST(malformed_numbers)
{
    put_bytes(&bytes, 1, STR("\x10\x04\x1a\x01\x02*\x03\x0a\x01\x00"));
    put_bytes(&bytes, 4, STR("\x01\x80"));
    ck_assert_str_eq(literal_of(buf_view(&bytes)),
                     "s32s: malformed protocol buffer: malformed list of numbers");
}
END_TEST

/* Numbers of one to ten bytes, which are decoded in pieces of 4 MiB. */
START_TEST(large_literals)
{
    enum { COUNT = 3000000 };
    struct buf list = {0}, shape = {0};
    for (int64_t k = 0; k < COUNT; k++)
        wire_put_varint(&list, (uint64_t)(k % 2 ? -k : k * k));
    put_text(&shape, "element_type: S64 dimensions: 3000000 layout { minor_to_major: 0 }",
             shape_type);
    put_bytes(&bytes, 1, buf_view(&shape));
    put_bytes(&bytes, 5, buf_view(&list));
    const struct proto_input input = {buf_view(&bytes), PROTO_LITERAL, false, false};
    struct literal *l = proto_literal(&ds, &arena, &input);
    ck_assert_ptr_nonnull(l);
    for (int64_t k = 0; k < COUNT; k++)
        ck_assert(((const int64_t *)l->data)[k] == (k % 2 ? -k : k * k));
    literal_free_data(l);
    buf_free(&list);
    buf_free(&shape);
}
END_TEST

/* ---- snapshots ---- */

static void put_size(struct buf *out, uint64_t v)
{
    for (int k = 0; k < 8; k++)
        buf_putc(out, (char)(v >> 8 * k));
}

static const struct {
    const char *shape;
    struct str data;
    const char *value;
} serialized[] = {
    {"element_type: PRED dimensions: 9 layout { minor_to_major: 0 }", STR("\x0d\x01"),
     "pred[9] {1, 0, 1, 1, 0, 0, 0, 0, 1}"},
    {"element_type: S4 dimensions: 3 layout { minor_to_major: 0 }", STR("\xe1\x03"),
     "s4[3] {1, -2, 3}"},
    {"element_type: U2 dimensions: [1, 5] layout { minor_to_major: [1, 0] }", STR("\xe4\x01"),
     "u2[1,5] { { 0, 1, 2, 3, 1 } }"},
    {"element_type: S1 dimensions: 2 layout { minor_to_major: 0 }", STR("\x01"), "s1[2] {-1, 0}"},
    {"element_type: C64 layout {}", STR("\x00\x00\x80\x3f\x00\x00\x00\x40"), "c64[] (1, 2)"},
    {"element_type: S16 dimensions: [2, 2] layout { minor_to_major: [0, 1] }",
     STR("\x01\x00\x02\x00\x03\x00\xff\xff"), "s16[2,2] { { 1, 3 }, { 2, -1 } }"},
    {"element_type: U8 dimensions: 3 is_dynamic_dimension: true layout { minor_to_major: 0 }",
     STR("\x02\x00\x00\x00\x07\x08\x09"), "u8[2] {7, 8}"},
    {"element_type: U8 dimensions: 3 is_dynamic_dimension: true layout { minor_to_major: 0 }",
     STR("\x04\x00\x00\x00\x07\x08\x09"),
     "partitions[0].arguments[0].dynamic_sizes[0]: malformed protocol buffer: size 4 of a "
     "dimension of at most 3"},
    {"element_type: TUPLE tuple_shapes { element_type: PRED layout {} } tuple_shapes { "
     "element_type: U4 dimensions: 2 layout { minor_to_major: 0 } }",
     STR("\x01\x21"), "(pred[], u4[2]) ( true, {1, 2} )"},
    {"element_type: TUPLE", STR(""), "() (  )"},
    {"element_type: U8 dimensions: 2 layout { minor_to_major: 0 }", STR("\x01"),
     "partitions[0].arguments[0]: malformed protocol buffer: malformed or truncated literal"},
    {"element_type: U8 dimensions: 2 layout { minor_to_major: 0 }", STR("\x01\x02\x03"),
     "partitions[0].arguments[0]: malformed protocol buffer: 1 bytes after the literal"},
    {"element_type: TOKEN", STR(""),
     "partitions[0].arguments[0]: malformed protocol buffer: literal of type token"},
    {"element_type: F32 dimensions: 1000000000000 layout { minor_to_major: 0 }", STR(""),
     "partitions[0].arguments[0]: malformed protocol buffer: malformed or truncated literal"},
};

START_TEST(serialized_literals)
{
    struct buf shape = {0}, literal = {0}, message = {0}, inputs = {0};
    put_text(&shape, serialized[_i].shape, shape_type);
    put_size(&literal, shape.size);
    buf_str(&literal, buf_view(&shape));
    buf_str(&literal, serialized[_i].data);
    put_text(&message, "hlo_module { " MODULE " }", &xla__hlo_unoptimized_snapshot__descriptor);
    buf_printf(&inputs, "partitions { arguments_descriptors { argument_size_bytes: %zu } }",
               literal.size);
    put_text(&message, inputs.data, &xla__hlo_unoptimized_snapshot__descriptor);
    wire_put_varint(&bytes, message.size);
    buf_str(&bytes, buf_view(&message));
    buf_str(&bytes, buf_view(&literal));
    const struct proto_input input = {buf_view(&bytes), PROTO_CONTAINER, false, false};
    struct proto_module *p = proto_read(&ds, &input);
    ck_assert_ptr_nonnull(p);
    ck_assert_uint_eq(proto_argument_lists(p), 1);
    ck_assert_uint_eq(proto_argument_count(p, 0), 1);
    ck_assert(!proto_has_result(p));
    ck_assert_str_eq(print(proto_argument(&ds, p, &arena, 0, 0)), serialized[_i].value);
    proto_free(p);
    buf_free(&shape);
    buf_free(&literal);
    buf_free(&message);
    buf_free(&inputs);
}
END_TEST

/* A result in two parts is merged to memory of its own, whose pages must not be released. */
START_TEST(merged_literals_of_mapped_files)
{
    enum { COUNT = 100000 };
    struct buf shape = {0}, data = {0}, first = {0}, second = {0};
    put_text(&bytes, "hlo { hlo_module { " MODULE " } }", &xla__hlo_snapshot__descriptor);
    put_text(&shape, "element_type: U8 dimensions: 100000 layout { minor_to_major: 0 }",
             shape_type);
    for (size_t k = 0; k < COUNT; k++)
        buf_putc(&data, 'x');
    put_bytes(&first, 1, buf_view(&shape));
    put_bytes(&second, 3, buf_view(&data));
    put_bytes(&bytes, 3, buf_view(&first));
    put_bytes(&bytes, 3, buf_view(&second));
    FILE *f = tmpfile();
    ck_assert(f && fwrite(bytes.data, 1, bytes.size, f) == bytes.size && fflush(f) == 0);
    char *at = mmap(NULL, bytes.size, PROT_READ, MAP_PRIVATE, fileno(f), 0);
    ck_assert(at != MAP_FAILED);
    const struct proto_input input = {{at, bytes.size}, PROTO_SNAPSHOT, false, true};
    struct proto_module *p = proto_read(&ds, &input);
    ck_assert(p && proto_has_result(p));
    for (int k = 0; k < 2; k++) {
        struct literal *l = proto_result(&ds, p, &arena);
        ck_assert(l && !memcmp(l->data, data.data, COUNT));
        literal_free_data(l);
    }
    proto_free(p);
    munmap(at, bytes.size);
    fclose(f);
    buf_free(&shape);
    buf_free(&data);
    buf_free(&first);
    buf_free(&second);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("proto");
    TCase *t = tcase_create("proto");
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, varints_have_at_most_ten_bytes);
    tcase_add_test(t, malformed_fields);
    tcase_add_loop_test(t, malformed_messages_have_a_path, 0, COUNT_OF(malformed));
    tcase_add_loop_test(t, depth_is_limited, 0, 2);
    tcase_add_test(t, memory_is_limited);
    tcase_add_test(t, repeated_fields_are_merged);
    tcase_add_test(t, truncated_messages);
    tcase_add_loop_test(t, kinds, 0, COUNT_OF(kind_cases));
    tcase_add_loop_test(t, literal_messages, 0, COUNT_OF(literals));
    tcase_add_test(t, malformed_numbers);
    tcase_add_test(t, large_literals);
    tcase_add_loop_test(t, serialized_literals, 0, COUNT_OF(serialized));
    tcase_add_test(t, merged_literals_of_mapped_files);
    suite_add_tcase(s, t);
    return check_run(s);
}
