/*
 * Tests of memory-mapped arrays: which are mapped, which are copied, and that the mapping lives as
 * long as they do; and of safetensors files, well-formed and malformed.
 */
#include "io/io.h"

#include "check_quiet.h"
#include <stdlib.h>
#include <unistd.h>

static struct arena arena;
static struct diags ds;
static unsigned released;

static void release(struct owner *o)
{
    (void)o;
    released++;
}

static void set_up(void)
{
    arena_init(&arena);
    diags_init(&ds, NULL);
    released = 0;
}

static void tear_down(void)
{
    diags_free(&ds);
    arena_free(&arena);
}

static void expect_error(enum msg id, const char *words)
{
    ck_assert_uint_eq(ds.errors, 1);
    ck_assert_int_eq(ds.first->msg, id);
    ck_assert_msg(strstr(ds.first->text.ptr, words), "'%s' lacks '%s'", ds.first->text.ptr, words);
}

static void put_le(struct buf *b, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        buf_putc(b, (char)(v >> 8 * i));
}

/* ---- in place ---- */

static const struct npy_case {
    const char *dict;
    size_t offset; /* of the elements, from a multiple of 64 */
    bool stays;
} npy_cases[] = {
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", 0, true},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", 4, true},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", 2, false},
    {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}", 0, false},
    {"{'descr': '<f4', 'fortran_order': True, 'shape': (6,)}", 0, true},
    {"{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3)}", 0, false},
    {"{'descr': '<c8', 'fortran_order': False, 'shape': (3,)}", 4, true},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}", 4, false},
    {"{'descr': '<i8', 'fortran_order': False, 'shape': (3,)}", 8, true},
    {"{'descr': '>i1', 'fortran_order': False, 'shape': (3,)}", 1, true},
    {"{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", 0, false},
    {"{'descr': 'bfloat16', 'fortran_order': False, 'shape': (3,)}", 2, true},
    {"{'descr': '|f1', 'fortran_order': False, 'shape': (0,)}", 0, false},
};

/* Writes the file with its elements at the given offset in `buffer`. */
static struct str place_npy(const struct npy_case *c, char *buffer)
{
    struct buf b = {0};
    size_t head = 10 + strlen(c->dict);
    buf_bytes(&b, "\x93NUMPY\1\0", 8);
    put_le(&b, strlen(c->dict), 2);
    buf_puts(&b, c->dict);
    for (char k = 1; k <= 24; k++)
        buf_putc(&b, k);
    char *at = buffer + (-((uintptr_t)buffer + head) & 63) + c->offset;
    memcpy(at, b.data, b.size);
    size_t size = b.size;
    buf_free(&b);
    return (struct str){at, size};
}

/* Mapped and copied values are equal; the mapping is released with its last value. */
START_TEST(mapped_npy)
{
    const struct npy_case *c = &npy_cases[_i];
    char buffer[512];
    struct str bytes = place_npy(c, buffer);
    struct owner owner;
    owner_init(&owner, release);
    struct literal *copied = io_npy_decode(&ds, &arena, bytes, NULL, NULL, STR("it"));
    struct literal *l = io_npy_decode(&ds, &arena, bytes, &owner, NULL, STR("it"));
    int64_t size;
    ck_assert(l && copied && shape_equal(l->shape, copied->shape, 0) &&
              shape_bytes(l->shape, &size));
    ck_assert_mem_eq(l->data, copied->data, (size_t)size);
    ck_assert_int_eq(l->owner != NULL, c->stays);
    ck_assert_int_eq((const char *)l->data > bytes.ptr &&
                         (const char *)l->data < bytes.ptr + bytes.len,
                     c->stays);
    owner_drop(&owner);
    ck_assert_uint_eq(released, !c->stays);
    literal_free_data(l);
    ck_assert_uint_eq(released, 1);
    literal_free_data(copied);
}
END_TEST

START_TEST(mapped_raw_bytes)
{
    _Alignas(8) char buffer[16] = {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0};
    struct owner owner;
    owner_init(&owner, release);
    const struct shape *expected = shape_array(&arena, DT_S32, 1, (int64_t[]){2}, NULL, NULL);
    struct literal *l =
        io_raw_decode(&ds, &arena, (struct str){buffer + 4, 8}, &owner, expected, STR("it"));
    ck_assert_ptr_eq(l->data, buffer + 4);
    owner_drop(&owner);
    literal_free_data(l);
    ck_assert_uint_eq(released, 1);
    ck_assert_ptr_null(
        io_raw_decode(&ds, &arena, (struct str){buffer, 12}, NULL, expected, STR("it")));
    expect_error(MSG_RAW_SIZE, "file has 12 bytes, but it is s32[2], which has 8 bytes");
}
END_TEST

/* Writes a file of `count` floats 0, 1, 2, ...; large files are mapped. */
static struct io_arrays written(char *path, const char *end, int64_t count)
{
    struct io_arrays s;
    struct literal *l = literal_new(&arena, shape_array(&arena, DT_F32, 1, &count, NULL, NULL));
    for (int64_t i = 0; i < count; i++)
        ((float *)l->data)[i] = (float)i;
    int fd = mkstemps(path, (int)strlen(end));
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert(*end == '.' && end[3] == 'z'
                  ? io_write_npz(&ds, path, "arg", (const struct literal *const[]){l}, 1)
                  : io_write_npy(&ds, path, l));
    literal_free_data(l);
    ck_assert(io_arrays_open(&ds, &arena, path, &s));
    unlink(path);
    return s;
}

/* Values outlive their file, mapped or copied. */
START_TEST(values_stay_valid_after_file_is_closed)
{
    const int64_t count = _i & 1 ? 100 : 100000;
    char npy[] = "/tmp/test_arrays.XXXXXX.npy", npz[] = "/tmp/test_arrays.XXXXXX.npz";
    struct io_arrays s = _i & 2 ? written(npz, ".npz", count) : written(npy, ".npy", count);
    ck_assert_int_eq(s.owner != NULL, count > 100);
    struct io_request w = {.prefix = "arg", .who = STR("it")};
    const struct shape *expected = shape_array(&arena, DT_F32, 1, &count, NULL, NULL);
    struct literal *l = io_arrays_value(&ds, &arena, &s, &w, expected);
    io_arrays_close(&s);
    ck_assert_ptr_nonnull(l);
    ck_assert_float_eq(((float *)l->data)[count - 1], (float)(count - 1));
    literal_free_data(l);
}
END_TEST

/* Raw files have no shape of their own; they contain one array. */
START_TEST(raw_bytes_have_no_shape)
{
    char path[] = "/tmp/test_arrays.XXXXXX.bin";
    struct io_arrays s;
    int fd = mkstemps(path, 4);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, "1234", 4), 4);
    close(fd);
    ck_assert(io_arrays_known(path) && !io_arrays_known("/tmp/x.txt") && io_arrays_known("/tmp"));
    ck_assert(io_arrays_open(&ds, &arena, path, &s));
    unlink(path);
    ck_assert(io_arrays_has(&arena, &s, STR("")) && !io_arrays_has(&arena, &s, STR("x")));
    ck_assert_ptr_null(io_arrays_get(&ds, &arena, &s, STR(""), NULL, STR("it")));
    expect_error(MSG_FAILURE, "raw bytes have no shape");
    ck_assert_ptr_null(io_arrays_get(&ds, &arena, &s, STR("x"), NULL, STR("it")));
    ck_assert_int_eq(ds.last->msg, MSG_ARRAY_MISSING);
    struct literal *l =
        io_arrays_get(&ds, &arena, &s, STR(""), shape_scalar(&arena, DT_U32), STR("it"));
    ck_assert_mem_eq(l->data, "1234", 4);
    literal_free_data(l);
    io_arrays_close(&s);
}
END_TEST

/* ---- safetensors ---- */

static struct buf tensors(const char *header, const char *data, size_t size)
{
    struct buf b = {0};
    put_le(&b, strlen(header), 8);
    buf_puts(&b, header);
    buf_bytes(&b, data, size);
    return b;
}

static struct literal *tensor_of(struct str bytes, const char *name, const struct shape *expected)
{
    struct io_safetensors t;
    if (!io_safetensors_open(&ds, &arena, bytes, &t) || !io_safetensors_has(&t, str_of(name)))
        return NULL;
    return io_safetensors_get(&ds, &arena, &t, str_of(name), expected, STR("it"));
}

static const struct {
    const char *name;
    enum dtype dtype;
} tensor_types[] = {
    {"F64", DT_F64},   {"F32", DT_F32},          {"F16", DT_F16},        {"BF16", DT_BF16},
    {"I64", DT_S64},   {"I32", DT_S32},          {"I16", DT_S16},        {"I8", DT_S8},
    {"U64", DT_U64},   {"U32", DT_U32},          {"U16", DT_U16},        {"U8", DT_U8},
    {"BOOL", DT_PRED}, {"F8_E4M3", DT_F8E4M3FN}, {"F8_E5M2", DT_F8E5M2}, {"F8_E8M0", DT_F8E8M0FNU},
    {"C64", DT_C64},
};

START_TEST(safetensors_types)
{
    static const char data[32] = {9, 1, 0, 1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 0, 1};
    const char *header =
        arena_printf(&arena,
                     "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},\"__metadata__"
                     "\":{\"x\":\"y\"},"
                     "\"b\\\"c\":{\"dtype\":\"%s\",\"shape\":[2],\"data_offsets\":[1,%zu]}}  ",
                     tensor_types[_i].name, 1 + 2 * dtype_bytes(tensor_types[_i].dtype))
            .ptr;
    struct buf b = tensors(header, data, 1 + 2 * dtype_bytes(tensor_types[_i].dtype));
    struct literal *l = tensor_of(buf_view(&b), "b\"c", NULL);
    ck_assert_msg(l != NULL, "%s", ds.first ? ds.first->text.ptr : "");
    ck_assert_int_eq(l->shape->dtype, tensor_types[_i].dtype);
    ck_assert_int_eq(l->shape->dims[0], 2);
    ck_assert_mem_eq(l->data, data + 1, 2 * dtype_bytes(l->shape->dtype));
    literal_free_data(l);
    ck_assert_ptr_null(tensor_of(buf_view(&b), "__metadata__", NULL));
    ck_assert_ptr_null(tensor_of(buf_view(&b), "a", shape_scalar(&arena, DT_U8)));
    expect_error(MSG_ARRAY_MISMATCH, "array is u8[1], but it expects u8[]");
    buf_free(&b);
}
END_TEST

static const struct {
    const char *header, *words;
} broken[] = {
    {"", "header is not a JSON object"},
    {"[1]", "header is not a JSON object"},
    {"{\"a\":", "header: expected a value, got end of input"},
    {"{\"a\":5}", "tensor 'a': value is not a tensor description"},
    {"{\"a\":{\"shape\":[8],\"data_offsets\":[0,8]}}", "tensor without dtype"},
    {"{\"a\":{\"dtype\":7,\"shape\":[8],\"data_offsets\":[0,8]}}", "tensor without dtype"},
    {"{\"a\":{\"dtype\":\"F4\",\"shape\":[16],\"data_offsets\":[0,8]}}",
     "element type 'F4' has no HLO equivalent"},
    {"{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,8]}}",
     "shape of a tensor is not a list of sizes"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,8]}}",
     "shape of a tensor is not a list of sizes"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1.5],\"data_offsets\":[0,8]}}",
     "shape of a tensor is not a list of sizes"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0]}}",
     "tensor 'a': data_offsets are not two integers"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,0]}}",
     "tensor 'a': data_offsets are not in order"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[9],\"data_offsets\":[0,9]}}",
     "tensor 'a': extends past the end of the file"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,9223372036854775807]}}",
     "tensor 'a': extends past the end of the file"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,-8]}}",
     "data_offsets are not two integers"},
    {"{\"a\":{\"dtype\":\"U16\",\"shape\":[3],\"data_offsets\":[0,8]}}",
     "data_offsets of a tensor do not match its shape"},
    {"{\"a\":{\"dtype\":\"U16\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,8]}}",
     "data_offsets of a tensor do not match its shape"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[7],\"data_offsets\":[0,7]}}", "trailing data"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[7],\"data_offsets\":[1,8]}}",
     "tensor 'a': gap in the data before it"},
    {"{}", "trailing data"},
    {"{\"b\":{\"data_offsets\":[3,8]},\"a\":{\"data_offsets\":[0,4]}}",
     "tensor 'b': overlaps with 'a'"},
    {"{\"b\":{\"data_offsets\":[0,8]},\"a\":{\"data_offsets\":[0,8]}}", "overlaps with"},
    {"{\"b\":{\"data_offsets\":[4,8]},\"a\":{\"data_offsets\":[0,3]}}",
     "tensor 'b': gap in the data before it"},
    {"{\"a\":{\"data_offsets\":[0,4]},\"a\":{\"data_offsets\":[4,8]}}",
     "tensor 'a': duplicate name"},
};

START_TEST(malformed_safetensors_are_rejected)
{
    struct buf b = tensors(broken[_i].header, "12345678", 8);
    ck_assert_ptr_null(tensor_of(buf_view(&b), "a", NULL));
    ck_assert_uint_eq(ds.errors, 1);
    ck_assert_msg(strstr(ds.first->text.ptr, broken[_i].words), "'%s' lacks '%s'",
                  ds.first->text.ptr, broken[_i].words);
    buf_free(&b);
}
END_TEST

/* At any offset, and in a file with no other data. */
START_TEST(empty_safetensors)
{
#define EMPTY(name, dtype, dims, at)                                                               \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" dims ",\"data_offsets\":[" at "," at "]}"
#define FOUR "\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}"
    static const char alone[] = "{" EMPTY("e", "F32", "[3,0]", "0") "}",
                      first[] = "{" EMPTY("e", "F32", "[3,0]", "0") "," FOUR "}",
                      last[] = "{" FOUR "," EMPTY("e", "F32", "[3,0]", "4") "}",
                      two[] = "{" EMPTY("e", "F32", "[3,0]", "4") "," EMPTY("f", "U8", "[0]",
                                                                            "4") "," FOUR "}";
    static const char *const headers[] = {alone, first, last, two};
    struct buf b = tensors(headers[_i], "1234", _i ? 4 : 0);
    struct literal *l = tensor_of(buf_view(&b), "e", NULL);
    ck_assert_msg(l != NULL, "%s", ds.first ? ds.first->text.ptr : "");
    ck_assert(l->shape->dtype == DT_F32 && l->shape->rank == 2 && l->shape->dims[0] == 3 &&
              l->shape->dims[1] == 0);
    literal_free_data(l);
    if (_i) {
        l = tensor_of(buf_view(&b), "a", NULL);
        ck_assert(l && !memcmp(l->data, "1234", 4));
        literal_free_data(l);
    }
    buf_free(&b);
}
END_TEST

/* Truncated files are malformed, and nothing is read beyond their end (checked by sanitizers). */
START_TEST(truncated_safetensors_are_rejected)
{
    struct buf b =
        tensors("{\"a\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8]}}", "12345678", 8);
    for (size_t n = 0; n < b.size; n++) {
        struct buf part = {0};
        buf_bytes(&part, b.data, n);
        ck_assert_ptr_null(tensor_of(buf_view(&part), "a", NULL));
        buf_free(&part);
    }
    buf_free(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("arrays");
    TCase *t = tcase_create("arrays");
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_loop_test(t, mapped_npy, 0, COUNT_OF(npy_cases));
    tcase_add_test(t, mapped_raw_bytes);
    tcase_add_loop_test(t, values_stay_valid_after_file_is_closed, 0, 4);
    tcase_add_test(t, raw_bytes_have_no_shape);
    tcase_add_loop_test(t, safetensors_types, 0, COUNT_OF(tensor_types));
    tcase_add_loop_test(t, malformed_safetensors_are_rejected, 0, COUNT_OF(broken));
    tcase_add_loop_test(t, empty_safetensors, 0, 4);
    tcase_add_test(t, truncated_safetensors_are_rejected);
    suite_add_tcase(s, t);
    return check_run(s);
}
