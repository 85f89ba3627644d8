/*
 * Tests of decoding ONNX: models and values, packed by protobuf-c for each test, and malformed
 * files.
 */
#include "onnx/onnx.h"
#include "onnx/onnx.pb-c.h"

#include "check_quiet.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static hlo_messages *messages;
static char directory[] = "/tmp/test_onnx.XXXXXX";

static void set_up(void) { messages = hlo_messages_new(); }

static void tear_down(void) { hlo_messages_free(messages); }

static void expect_error(const char *words)
{
    ck_assert_uint_eq(hlo_messages_errors(messages), 1);
    struct hlo_message m = hlo_messages_get(messages, 0);
    ck_assert_msg(strstr(m.text, words), "'%s' lacks '%s'", m.text, words);
    hlo_messages_free(messages);
    messages = hlo_messages_new();
}

/* ---- construction of files ---- */

static struct buf packed(const void *message)
{
    struct buf b = {0};
    size_t size = protobuf_c_message_get_packed_size(message);
    buf_reserve(&b, size + 1);
    b.size = protobuf_c_message_pack(message, (uint8_t *)b.data);
    return b;
}

static void write_file(const char *name, struct buf b)
{
    struct buf path = {0};
    buf_printf(&path, "%s/%s", directory, name);
    FILE *f = fopen(path.data, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(b.data, 1, b.size, f), b.size);
    ck_assert_int_eq(fclose(f), 0);
    buf_free(&path);
    buf_free(&b);
}

/* Decodes a model with this graph; the graph's lists belong to the caller. */
static struct onnx_model *read_graph(Onnx__GraphProto *g)
{
    Onnx__OperatorSetIdProto opset = ONNX__OPERATOR_SET_ID_PROTO__INIT, *opsets[] = {&opset};
    Onnx__ModelProto model = ONNX__MODEL_PROTO__INIT;
    opset.has_version = true;
    opset.version = 13;
    model.has_ir_version = true;
    model.ir_version = 8;
    model.n_opset_import = 1;
    model.opset_import = opsets;
    model.graph = g;
    struct buf b = packed(&model);
    struct buf path = {0};
    buf_printf(&path, "%s/model.onnx", directory);
    struct onnx_model *read = onnx_read(path.data, buf_view(&b), messages);
    buf_free(&path);
    buf_free(&b);
    return read;
}

/* Decodes a model with this tensor as its initializer. */
static struct onnx_model *read_tensor(Onnx__TensorProto *t)
{
    Onnx__GraphProto g = ONNX__GRAPH_PROTO__INIT;
    t->name = (char *)(uintptr_t) "t";
    g.n_initializer = 1;
    g.initializer = &t;
    return read_graph(&g);
}

static void expect_tensor(Onnx__TensorProto *t, const char *text)
{
    struct onnx_model *model = read_tensor(t);
    ck_assert_msg(model, "type %d: %s", t->data_type, hlo_messages_get(messages, 0).text);
    ck_assert_uint_eq(model->graph.initializer_count, 1);
    const struct onnx_value *v = &model->graph.initializers[0].value;
    ck_assert_int_eq(v->kind, ONNX_TENSOR);
    ck_assert_int_eq(v->elem, t->data_type);
    hlo_text shape = hlo_literal_shape(v->tensor), values = hlo_literal_print(v->tensor, false);
    struct buf got = {0};
    buf_printf(&got, "%s %s", shape.data, values.data);
    ck_assert_str_eq(got.data, text);
    buf_free(&got);
    hlo_text_free(&shape);
    hlo_text_free(&values);
    onnx_model_free(model);
}

static void expect_tensor_error(Onnx__TensorProto *t, const char *words)
{
    ck_assert_ptr_null(read_tensor(t));
    expect_error(words);
}

static Onnx__TensorProto tensor(int type, int64_t *dims, size_t rank)
{
    Onnx__TensorProto t = ONNX__TENSOR_PROTO__INIT;
    t.has_data_type = true;
    t.data_type = type;
    t.dims = dims;
    t.n_dims = rank;
    return t;
}

static Onnx__TensorProto raw_tensor(int type, int64_t *dims, size_t rank, const void *bytes,
                                    size_t size)
{
    Onnx__TensorProto t = tensor(type, dims, rank);
    t.has_raw_data = true;
    t.raw_data = (ProtobufCBinaryData){size, (uint8_t *)(uintptr_t)bytes};
    return t;
}

/* ---- element types ---- */

struct raw_case {
    int type;
    int64_t count;
    const char *bytes;
    size_t size;
    const char *text;
};
#define RAW(type, count, bytes, text)                                                              \
    {                                                                                              \
        type, count, bytes, sizeof bytes - 1, text                                                 \
    }

static const struct raw_case raw_cases[] = {
    RAW(1, 2, "\0\0\x80\x3f\0\0\0\xc0", "f32[2] {1, -2}"),
    RAW(2, 2, "\1\xff", "u8[2] {1, 255}"),
    RAW(3, 2, "\1\xff", "s8[2] {1, -1}"),
    RAW(4, 1, "\1\x80", "u16[1] {32769}"),
    RAW(5, 1, "\0\x80", "s16[1] {-32768}"),
    RAW(6, 1, "\xfe\xff\xff\xff", "s32[1] {-2}"),
    RAW(7, 1, "\xfe\xff\xff\xff\xff\xff\xff\xff", "s64[1] {-2}"),
    RAW(9, 3, "\0\1\2", "pred[3] {0, 1, 1}"),
    RAW(10, 1, "\0\x3c", "f16[1] {1}"),
    RAW(11, 1, "\0\0\0\0\0\0\xf0\x3f", "f64[1] {1}"),
    RAW(12, 1, "\xfe\xff\xff\xff", "u32[1] {4294967294}"),
    RAW(13, 1, "\xff\xff\xff\xff\xff\xff\xff\xff", "u64[1] {18446744073709551615}"),
    RAW(14, 1, "\0\0\x80\x3f\0\0\0\xc0", "c64[1] {(1, -2)}"),
    RAW(15, 1, "\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\xc0", "c128[1] {(1, -2)}"),
    RAW(16, 1, "\x80\x3f", "bf16[1] {1}"),
    RAW(17, 1, "\x38", "f8e4m3fn[1] {1}"),
    RAW(18, 1, "\x40", "f8e4m3fnuz[1] {1}"),
    RAW(19, 1, "\x3c", "f8e5m2[1] {1}"),
    RAW(20, 1, "\x40", "f8e5m2fnuz[1] {1}"),
    RAW(21, 3, "\xf1\x0e", "u4[3] {1, 15, 14}"),
    RAW(22, 3, "\xf1\x08", "s4[3] {1, -1, -8}"),
    RAW(23, 3, "\xa2\x07", "f4e2m1fn[3] {1, -1, 6}"),
    RAW(24, 1, "\x7f", "f8e8m0fnu[1] {1}"),
    RAW(25, 5, "\xe4\x02", "u2[5] {0, 1, 2, 3, 2}"),
    RAW(26, 5, "\xe4\x01", "s2[5] {0, 1, -2, -1, 1}"),
    RAW(27, 3, "\x08\x8a\x00", "f6e2m3fn[3] {1, -1, 1}"),
    RAW(28, 2, "\x0c\x0b", "f6e3m2fn[2] {1, -1}"),
};

START_TEST(raw_data)
{
    const struct raw_case *c = &raw_cases[_i];
    int64_t dims[] = {c->count};
    Onnx__TensorProto t = raw_tensor(c->type, dims, 1, c->bytes, c->size);
    expect_tensor(&t, c->text);
    t.raw_data.len--;
    expect_tensor_error(&t, " bytes, expected ");
}
END_TEST

START_TEST(every_element_type_is_tested)
{
    static const int numbers[] = {
#define ONNX_DTYPE(number, name, hlo, bits, field) number,
#include "onnx/dtype.def"
    };
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        bool found = numbers[i] == 8; /* strings */
        for (size_t k = 0; k < COUNT_OF(raw_cases); k++)
            found = found || raw_cases[k].type == numbers[i];
        ck_assert_msg(found, "type %d has no case", numbers[i]);
        ck_assert_int_eq(numbers[i] == 8 ? 0 : numbers[i],
                         onnx_dtype_hlo(numbers[i]) ? onnx_dtype_find(onnx_dtype_hlo(numbers[i]))
                                                    : 0);
    }
}
END_TEST

START_TEST(int32_data)
{
    static const struct {
        int type;
        int32_t values[3];
        size_t count;
        int64_t elements;
        const char *text; /* or the error */
    } cases[] = {
        {6, {1, -2, 3}, 3, 3, "s32[3] {1, -2, 3}"},
        {2, {1, 255}, 2, 2, "u8[2] {1, 255}"},
        {3, {1, -128}, 2, 2, "s8[2] {1, -128}"},
        {4, {65535}, 1, 1, "u16[1] {65535}"},
        {5, {-32768}, 1, 1, "s16[1] {-32768}"},
        {9, {0, 1, 2}, 3, 3, "pred[3] {0, 1, 1}"},
        {10, {0x3c00, 0xc000}, 2, 2, "f16[2] {1, -2}"},
        {16, {0x3f80}, 1, 1, "bf16[1] {1}"},
        {17, {0x38}, 1, 1, "f8e4m3fn[1] {1}"},
        {21, {0xf1, 0x0e}, 2, 3, "u4[3] {1, 15, 14}"},
        {26, {0xe4, 1}, 2, 5, "s2[5] {0, 1, -2, -1, 1}"},
        {27, {8, 0x28}, 2, 2, "f6e2m3fn[2] {1, -1}"},
        {2, {256}, 1, 1, "tensor 't': element 0, 256, is not a valid uint8"},
        {3, {0, 128}, 2, 2, "tensor 't': element 1, 128, is not a valid int8"},
        {10, {-1}, 1, 1, "tensor 't': element 0, -1, is not a valid float16"},
        {27, {64}, 1, 1, "element 0, 64, is not a valid float6e2m3"},
        {6, {1, 2}, 2, 3, "has 2 values, expected 3"},
        {22, {1, 2}, 2, 2, "has 2 values, expected 1"},
        {1, {1, 2}, 2, 2, "has 0 values, expected 2"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t dims[] = {cases[i].elements};
        Onnx__TensorProto t = tensor(cases[i].type, dims, 1);
        t.int32_data = (int32_t *)(uintptr_t)cases[i].values;
        t.n_int32_data = cases[i].count;
        if (strchr(cases[i].text, '{'))
            expect_tensor(&t, cases[i].text);
        else
            expect_tensor_error(&t, cases[i].text);
    }
}
END_TEST

START_TEST(other_typed_data_fields)
{
    int64_t dims[] = {2, 1}, ints[] = {1, INT64_MIN};
    float floats[] = {1, -2, 3, 4};
    double doubles[] = {1, -2, 3, 4};
    uint64_t large[] = {1, 1ull << 32};
    Onnx__TensorProto t = tensor(1, dims, 2);
    t.float_data = floats;
    t.n_float_data = 2;
    expect_tensor(&t, "f32[2,1] { {1}, {-2} }");
    t.data_type = 14;
    t.n_float_data = 4;
    expect_tensor(&t, "c64[2,1] { {(1, -2)}, {(3, 4)} }");
    t = tensor(15, dims, 2);
    t.double_data = doubles;
    t.n_double_data = 4;
    expect_tensor(&t, "c128[2,1] { {(1, -2)}, {(3, 4)} }");
    t = tensor(7, dims, 2);
    t.int64_data = ints;
    t.n_int64_data = 2;
    expect_tensor(&t, "s64[2,1] { {1}, {-9223372036854775808} }");
    t = tensor(13, dims, 2);
    t.uint64_data = large;
    t.n_uint64_data = 2;
    expect_tensor(&t, "u64[2,1] { {1}, {4294967296} }");
    t.data_type = 12;
    expect_tensor_error(&t, "element is not a valid uint32");
}
END_TEST

START_TEST(tensor_sizes)
{
    int64_t none[] = {0, 3}, negative[] = {2, -1}, absurd[] = {1ll << 40, 1ll << 40},
            large[] = {1ll << 61};
    Onnx__TensorProto t = tensor(1, none, 2), empty = raw_tensor(1, none, 2, "", 0);
    expect_tensor(&t, "f32[0,3] {  }");
    expect_tensor(&empty, "f32[0,3] {  }");
    t = raw_tensor(1, NULL, 0, "\0\0\x80\x3f", 4);
    expect_tensor(&t, "f32[] 1");
    t = raw_tensor(1, negative, 2, "", 0);
    expect_tensor_error(&t, "tensor 't': dimension 1 of size -1 is out of range");
    t = raw_tensor(1, absurd, 2, "", 0);
    expect_tensor_error(&t, "tensor 't': dimension 1 of size 1099511627776 is out of range");
    t = raw_tensor(1, large, 1, "", 0);
    expect_tensor_error(&t, "tensor 't': too many elements");
    large[0] = 1ll << 50; /* without any data */
    expect_tensor_error(&t, "has 0 bytes, expected 4503599627370496");
    t.data_type = 8;
    expect_tensor_error(&t, "strings have no HLO equivalent");
    t.data_type = 99;
    expect_tensor_error(&t, "unknown element type");
}
END_TEST

START_TEST(external_data)
{
    Onnx__StringStringEntryProto place = ONNX__STRING_STRING_ENTRY_PROTO__INIT, offset = place,
                                 *entries[] = {&place, &offset};
    int64_t dims[] = {2};
    Onnx__TensorProto t = tensor(2, dims, 1);
    struct buf data = {0};
    buf_puts(&data, "abc");
    write_file("weights", data);
    t.has_data_location = true;
    t.data_location = 1;
    expect_tensor_error(&t, "tensor 't': missing location of external data");
    t.external_data = entries;
    t.n_external_data = 2;
    char location[] = "location", path[] = "weights", up[] = "x/../../etc/passwd",
         other[] = "nothing", key[] = "offset", one[] = "1", two[] = "2", words[] = "words";
    place.key = location;
    place.value = path;
    offset.key = key;
    offset.value = one;
    expect_tensor(&t, "u8[2] {98, 99}");
    offset.value = two;
    expect_tensor_error(&t, "tensor 't': size of external data does not match");
    offset.value = words;
    expect_tensor_error(&t, "malformed");
    offset.value = one;
    place.value = up;
    expect_tensor_error(
        &t, "tensor 't': external data 'x/../../etc/passwd' is outside the directory of the model");
    place.value = other;
    expect_tensor_error(&t, "cannot read external data");
}
END_TEST

/* ---- graphs ---- */

static Onnx__AttributeProto attribute(const char *name, int type)
{
    Onnx__AttributeProto a = ONNX__ATTRIBUTE_PROTO__INIT;
    a.name = (char *)(uintptr_t)name;
    a.has_type = type != 0;
    a.type = type;
    return a;
}

/* A graph of one node with these attributes. */
static struct onnx_model *read_node(Onnx__AttributeProto **attributes, size_t count)
{
    char op[] = "Loop", in[] = "x", none[] = "", out[] = "y", domain[] = "ai.onnx";
    char *inputs[] = {none, in}, *outputs[] = {out};
    Onnx__NodeProto node = ONNX__NODE_PROTO__INIT, *nodes[] = {&node};
    Onnx__GraphProto g = ONNX__GRAPH_PROTO__INIT;
    node.op_type = op;
    node.domain = domain;
    node.n_input = 2;
    node.input = inputs;
    node.n_output = 1;
    node.output = outputs;
    node.n_attribute = count;
    node.attribute = attributes;
    g.n_node = 1;
    g.node = nodes;
    return read_graph(&g);
}

START_TEST(attributes)
{
    int64_t ints[] = {1, -2};
    float floats[] = {0.5f};
    ProtobufCBinaryData strings[] = {{3, (uint8_t *)(uintptr_t) "a\0b"}};
    Onnx__GraphProto inner = ONNX__GRAPH_PROTO__INIT;
    Onnx__TypeProto__Tensor tensor_type = ONNX__TYPE_PROTO__TENSOR__INIT;
    Onnx__TypeProto element = ONNX__TYPE_PROTO__INIT, type = ONNX__TYPE_PROTO__INIT;
    Onnx__TypeProto__Sequence sequence = ONNX__TYPE_PROTO__SEQUENCE__INIT;
    char name[] = "inner";
    inner.name = name;
    tensor_type.has_elem_type = true;
    tensor_type.elem_type = 7;
    element.tensor_type = &tensor_type;
    sequence.elem_type = &element;
    type.sequence_type = &sequence;
    Onnx__AttributeProto a[] = {
        attribute("f", 1),   attribute("i", 2),       attribute("s", 3),    attribute("t", 4),
        attribute("g", 5),   attribute("floats", 6),  attribute("ints", 7), attribute("strings", 8),
        attribute("tp", 13), attribute("graphs", 10), attribute("old", 0)};
    Onnx__AttributeProto *list[COUNT_OF(a)];
    int64_t dims[] = {1};
    Onnx__TensorProto t = raw_tensor(2, dims, 1, "\7", 1);
    for (size_t i = 0; i < COUNT_OF(a); i++)
        list[i] = &a[i];
    a[0].f = 2.5f, a[0].has_f = true;
    a[1].i = -3, a[1].has_i = true;
    a[2].s = strings[0], a[2].has_s = true;
    a[3].t = &t;
    a[4].g = &inner;
    a[5].floats = floats, a[5].n_floats = 1;
    a[6].ints = ints, a[6].n_ints = 2;
    a[7].strings = strings, a[7].n_strings = 1;
    a[8].tp = &type;
    a[10].i = 5, a[10].has_i = true; /* whose type is implied by its value */
    struct onnx_model *model = read_node(list, COUNT_OF(a));
    ck_assert_msg(model, "%s", hlo_messages_get(messages, 0).text);
    const struct onnx_node *n = &model->graph.nodes[0];
    ck_assert_uint_eq(n->input_count, 2);
    ck_assert_uint_eq(n->inputs[0].len, 0);
    ck_assert_uint_eq(n->domain.len, 0); /* ai.onnx is an alias of it */
    ck_assert_uint_eq(n->attr_count, COUNT_OF(a));
    const struct onnx_attr *r = n->attrs;
    ck_assert(r[0].kind == ONNX_ATTR_FLOAT && r[0].f == 2.5f);
    ck_assert(r[1].kind == ONNX_ATTR_INT && r[1].i == -3);
    ck_assert(r[2].kind == ONNX_ATTR_STRING && r[2].s.len == 3);
    ck_assert(r[3].kind == ONNX_ATTR_TENSOR && r[3].tensor.elem == 2);
    ck_assert(r[4].kind == ONNX_ATTR_GRAPH && str_is(r[4].graph->name, "inner"));
    ck_assert(r[5].kind == ONNX_ATTR_FLOATS && r[5].count == 1 && r[5].floats[0] == 0.5f);
    ck_assert(r[6].kind == ONNX_ATTR_INTS && r[6].count == 2 && r[6].ints[1] == -2);
    ck_assert(r[7].kind == ONNX_ATTR_STRINGS && r[7].count == 1 && r[7].strings[0].len == 3);
    ck_assert(r[8].kind == ONNX_ATTR_TYPE && r[8].type.kind == ONNX_SEQUENCE &&
              r[8].type.elem == 7);
    ck_assert(r[9].kind == ONNX_ATTR_OTHER);
    ck_assert(r[10].kind == ONNX_ATTR_INT && r[10].i == 5);
    onnx_model_free(model);
}
END_TEST

START_TEST(unsupported_features)
{
    Onnx__AttributeProto a = attribute("body", 5), *list[] = {&a};
    char name[] = "outer", map_name[] = "m";
    ck_assert_ptr_null(read_node(list, 1));
    expect_error("node 'Loop#0': attribute 'body' has no value");
    a.ref_attr_name = name;
    ck_assert_ptr_null(read_node(list, 1));
    expect_error(
        "node 'Loop#0': attribute 'body' refers to a function attribute outside a function");

    Onnx__GraphProto g = ONNX__GRAPH_PROTO__INIT;
    Onnx__SparseTensorProto sparse = ONNX__SPARSE_TENSOR_PROTO__INIT, *sparses[] = {&sparse};
    g.sparse_initializer = sparses;
    g.n_sparse_initializer = 1;
    ck_assert_ptr_null(read_graph(&g));
    expect_error("sparse initializers");

    Onnx__TypeProto type = ONNX__TYPE_PROTO__INIT;
    Onnx__TypeProto__Other map = ONNX__TYPE_PROTO__OTHER__INIT;
    Onnx__ValueInfoProto input = ONNX__VALUE_INFO_PROTO__INIT, *inputs[] = {&input};
    g = (Onnx__GraphProto)ONNX__GRAPH_PROTO__INIT;
    type.map_type = &map;
    input.name = map_name;
    input.type = &type;
    g.input = inputs;
    g.n_input = 1;
    ck_assert_ptr_null(read_graph(&g));
    expect_error("'m' is a map");

    Onnx__ModelProto model = ONNX__MODEL_PROTO__INIT;
    struct buf b = packed(&model);
    ck_assert_ptr_null(onnx_read("m", buf_view(&b), messages));
    expect_error("no graph");
    buf_free(&b);
    model.has_ir_version = true;
    model.ir_version = 8;
    g = (Onnx__GraphProto)ONNX__GRAPH_PROTO__INIT;
    model.graph = &g;
    b = packed(&model);
    ck_assert_ptr_null(onnx_read("m", buf_view(&b), messages));
    expect_error("no opset version");
    buf_free(&b);
}
END_TEST

/* ---- malformed files ---- */

/* Truncated or changed bytes give a model or one message. */
START_TEST(damaged_files)
{
    int64_t dims[] = {2};
    Onnx__TensorProto t = raw_tensor(7, dims, 1, "0123456789abcdef", 16);
    Onnx__AttributeProto value = attribute("value", 4), *inner_list[] = {&value},
                         body = attribute("body", 5);
    char constant[] = "Constant", loop[] = "Loop", out[] = "out";
    char *outputs[] = {out};
    Onnx__NodeProto inner_node = ONNX__NODE_PROTO__INIT, *inner_nodes[] = {&inner_node};
    Onnx__NodeProto node = ONNX__NODE_PROTO__INIT, *nodes[] = {&node};
    Onnx__AttributeProto *list[] = {&body};
    Onnx__GraphProto inner = ONNX__GRAPH_PROTO__INIT;
    Onnx__ModelProto model = ONNX__MODEL_PROTO__INIT;
    Onnx__GraphProto g = ONNX__GRAPH_PROTO__INIT;
    value.t = &t;
    inner_node.op_type = constant;
    inner_node.n_output = 1;
    inner_node.output = outputs;
    inner_node.n_attribute = 1;
    inner_node.attribute = inner_list;
    inner.n_node = 1;
    inner.node = inner_nodes;
    body.g = &inner;
    node.op_type = loop;
    node.n_attribute = 1;
    node.attribute = list;
    g.n_node = 1;
    g.node = nodes;
    model.graph = &g;
    struct buf b = packed(&model);
    for (size_t i = 0; i < b.size; i++) {
        struct onnx_model *read = onnx_read("cut", (struct str){b.data, i}, messages);
        ck_assert(read || hlo_messages_errors(messages) == 1);
        onnx_model_free(read);
        tear_down();
        set_up();
        for (int change = 1; change < 256; change++) {
            b.data[i] = (char)(b.data[i] ^ change);
            read = onnx_read("changed", buf_view(&b), messages);
            ck_assert(read || hlo_messages_errors(messages) == 1);
            b.data[i] = (char)(b.data[i] ^ change);
            onnx_model_free(read);
            tear_down();
            set_up();
        }
    }
    buf_free(&b);
}
END_TEST

/* Wraps the contents in a length-delimited field. */
static void wrap(struct buf *b, int field)
{
    struct buf outer = {0};
    buf_putc(&outer, (char)(field << 3 | 2));
    for (size_t n = b->size;; n >>= 7) {
        buf_putc(&outer, (char)(n < 128 ? n : (n & 127) | 128));
        if (n < 128)
            break;
    }
    buf_bytes(&outer, b->data, b->size);
    buf_free(b);
    *b = outer;
}

START_TEST(nesting_limit)
{
    struct buf b = {0};
    for (int i = 0; i < 20000; i++) { /* g of an attribute of a node of a graph */
        wrap(&b, 6);
        wrap(&b, 5);
        wrap(&b, 1);
    }
    wrap(&b, 7);
    ck_assert_ptr_null(onnx_read("deep", buf_view(&b), messages));
    expect_error("messages nested too deep");
    buf_free(&b);
}
END_TEST

START_TEST(memory_limit)
{
    struct buf nodes = {0};
    for (int i = 0; i < 3000000; i++)
        buf_bytes(&nodes, "\x0a\x00", 2);
    wrap(&nodes, 7);
    ck_assert_ptr_null(onnx_read("bomb", buf_view(&nodes), messages));
    expect_error(
        "message expands to many times its size at byte 2294679"); /* detected before anything is
                                                                      allocated */
    buf_free(&nodes);

    struct buf graphs = {0};
    for (int i = 0; i < 2; i++)
        buf_bytes(&graphs, "\x3a\x02\x0a\x00", 4);
    ck_assert_ptr_null(onnx_read("merged", buf_view(&graphs), messages));
    expect_error("duplicate message at byte 4");
    buf_free(&graphs);
}
END_TEST

START_TEST(malformed_protobuf)
{
    ck_assert_ptr_null(
        onnx_read("text", STR("HloModule m\nENTRY e { ROOT c = s32[] constant(1) }\n"), messages));
    expect_error("malformed ONNX file: malformed or truncated field at byte 2");
    ck_assert_ptr_null(
        onnx_read("text", STR("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), messages));
    expect_error("malformed or truncated field at byte 0");
    ck_assert_ptr_null(
        onnx_read("wrong", STR("\x38\x01"), messages)); /* a graph that is a number */
    expect_error("wrong wire type of a field");
}
END_TEST

/* ---- values in files ---- */

static struct onnx_value read_value(const void *message, enum onnx_kind kind, int elem, bool ok)
{
    struct onnx_type type = {.kind = kind, .elem = elem, .rank = -1};
    struct onnx_value v = {0};
    struct buf path = {0};
    write_file("v.pb", packed(message));
    buf_printf(&path, "%s/v.pb", directory);
    ck_assert_msg(onnx_read_value(path.data, &type, &v, messages) == ok, "%s",
                  ok ? hlo_messages_get(messages, 0).text : "read");
    buf_free(&path);
    return v;
}

START_TEST(value_files)
{
    int64_t one[] = {1}, two[] = {2};
    Onnx__TensorProto a = raw_tensor(2, one, 1, "\1", 1), b = raw_tensor(2, two, 1, "\2\3", 2),
                      *both[] = {&a, &b};
    Onnx__SequenceProto s = ONNX__SEQUENCE_PROTO__INIT;
    Onnx__OptionalProto o = ONNX__OPTIONAL_PROTO__INIT;
    struct onnx_value v = read_value(&a, ONNX_TENSOR, 2, true);
    ck_assert(v.tensor && v.present);
    onnx_value_free(&v);
    read_value(&a, ONNX_TENSOR, 1, false);
    expect_error("'value' is float; the value is u8[1]");

    v = read_value(&s, ONNX_SEQUENCE, 2, true);
    ck_assert(v.present && v.count == 0);
    onnx_value_free(&v);
    s.tensor_values = both;
    s.n_tensor_values = 2;
    v = read_value(&s, ONNX_SEQUENCE, 2, true);
    ck_assert_uint_eq(v.count, 2);
    ck_assert_int_eq(v.elem, 2);
    onnx_value_free(&v);
    b.data_type = 3;
    read_value(&s, ONNX_SEQUENCE, 0, false);
    expect_error("elements of different types");
    b.data_type = 2;

    v = read_value(&o, ONNX_OPTIONAL, 2, true);
    ck_assert(!v.present && !v.tensor);
    onnx_value_free(&v);
    o.has_elem_type = true;
    o.elem_type = 3;
    o.sequence_value = &s;
    v = read_value(&o, ONNX_OPTIONAL_SEQUENCE, 2, true);
    ck_assert(v.present && v.count == 2 && v.kind == ONNX_OPTIONAL_SEQUENCE);
    onnx_value_free(&v);
    read_value(&o, ONNX_OPTIONAL, 2, false);
    expect_error("does not match the type that the model declares");
}
END_TEST

START_TEST(arrays_by_name)
{
    static const char *const names[] = {"x", "s[0]"};
    hlo_literal *l[] = {hlo_literal_parse("f32[2] {1, 2}", 13, messages),
                        hlo_literal_parse("bf16[] 3", 8, messages)};
    struct buf path = {0};
    buf_printf(&path, "%s/a.npz", directory);
    ck_assert(hlo_write_npz_named(path.data, names, (const hlo_literal *const *)l, 2, messages));
    hlo_arrays *z = hlo_arrays_open(path.data, messages);
    ck_assert_ptr_nonnull(z);
    ck_assert(hlo_arrays_has(z, "x") && hlo_arrays_has(z, "s[0]") && !hlo_arrays_has(z, "s[1]") &&
              !hlo_arrays_has(z, ""));
    hlo_literal *x = hlo_arrays_get(z, "x", NULL, messages),
                *s = hlo_arrays_get(z, "s[0]", "bf16", messages);
    ck_assert(x && s);
    ck_assert_str_eq(hlo_literal_leaf(x, 0).dtype, "f32");
    ck_assert_str_eq(hlo_literal_leaf(s, 0).dtype, "bf16");
    ck_assert_ptr_null(hlo_arrays_get(z, "x", "s32", messages));
    expect_error("array is f32[2], but 'x' expects s32");
    hlo_arrays_free(z);
    unlink(path.data);

    path.size -= 1;
    buf_putc(&path, 'y'); /* a.npy */
    ck_assert(hlo_write_npy(path.data, x, messages));
    z = hlo_arrays_open(path.data, messages);
    ck_assert(z && hlo_arrays_has(z, "") && !hlo_arrays_has(z, "x"));
    hlo_literal *alone = hlo_arrays_get(z, "", "f32", messages);
    ck_assert_ptr_nonnull(alone);
    hlo_arrays_free(z);
    unlink(path.data);
    ck_assert_ptr_null(hlo_arrays_open(path.data, messages));
    expect_error("cannot read file: No such file or directory");
    hlo_literal *made[] = {l[0], l[1], x, s, alone};
    for (size_t i = 0; i < COUNT_OF(made); i++)
        hlo_literal_free(made[i]);
    buf_free(&path);
}
END_TEST

START_TEST(printed_types)
{
    int64_t dims[] = {5, -1};
    static const struct {
        struct onnx_type type;
        const char *text;
    } cases[] = {
        {{ONNX_UNKNOWN, 0, -1, NULL}, "?"},
        {{ONNX_TENSOR, 1, -1, NULL}, "float"},
        {{ONNX_TENSOR, 7, 0, NULL}, "int64[]"},
        {{ONNX_SEQUENCE, 1, 0, NULL}, "seq(float[])"},
        {{ONNX_OPTIONAL, 9, -1, NULL}, "optional(bool)"},
        {{ONNX_OPTIONAL_SEQUENCE, 16, -1, NULL}, "optional(seq(bfloat16))"},
    };
    struct buf b = {0};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        onnx_type_print(&b, &cases[i].type);
        ck_assert_str_eq(b.data, cases[i].text);
        b.size = 0;
    }
    onnx_type_print(&b, &(struct onnx_type){ONNX_TENSOR, 1, 2, dims});
    ck_assert_str_eq(b.data, "float[5,?]");
    buf_free(&b);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("onnx");
    TCase *tc = tcase_create("onnx");
    if (!mkdtemp(directory))
        return EXIT_FAILURE;
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_loop_test(tc, raw_data, 0, (int)COUNT_OF(raw_cases));
    tcase_add_test(tc, every_element_type_is_tested);
    tcase_add_test(tc, int32_data);
    tcase_add_test(tc, other_typed_data_fields);
    tcase_add_test(tc, tensor_sizes);
    tcase_add_test(tc, external_data);
    tcase_add_test(tc, attributes);
    tcase_add_test(tc, unsupported_features);
    tcase_add_test(tc, damaged_files);
    tcase_add_test(tc, nesting_limit);
    tcase_add_test(tc, memory_limit);
    tcase_add_test(tc, malformed_protobuf);
    tcase_add_test(tc, value_files);
    tcase_add_test(tc, arrays_by_name);
    tcase_add_test(tc, printed_types);
    suite_add_tcase(suite, tc);
    int status = check_run(suite);
    struct buf command = {0};
    static const char *const made[] = {"weights", "v.pb"};
    for (size_t i = 0; i < COUNT_OF(made); i++) {
        command.size = 0;
        buf_printf(&command, "%s/%s", directory, made[i]);
        unlink(command.data);
    }
    buf_free(&command);
    rmdir(directory);
    return status;
}
