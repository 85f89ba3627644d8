/*
 * Tests of io: all kinds of .npy headers, stored and deflated archives, archives with wrong sizes
 * and offsets.
 */
#include "io/io.h"

#include "check_quiet.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

static struct arena arena;
static struct diags ds;

static void set_up(void)
{
    arena_init(&arena);
    diags_init(&ds, NULL);
}

static void tear_down(void)
{
    diags_free(&ds);
    arena_free(&arena);
}

static void put_le(struct buf *b, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        buf_putc(b, (char)(v >> 8 * i));
}

static struct buf npy(int version, const char *dict, const void *data, size_t size)
{
    struct buf b = {0};
    buf_bytes(&b, "\x93NUMPY", 6);
    put_le(&b, (uint64_t)version, 2);
    put_le(&b, strlen(dict), version == 1 ? 2 : 4);
    buf_puts(&b, dict);
    buf_bytes(&b, data, size);
    return b;
}

static struct literal *decode(struct buf b, const struct shape *expected)
{
    struct literal *l = io_npy_decode(&ds, &arena, buf_view(&b), NULL, expected, STR("it"));
    buf_free(&b);
    return l;
}

static void expect_error(enum msg id, const char *words)
{
    ck_assert_uint_eq(ds.errors, 1);
    ck_assert_int_eq(ds.first->msg, id);
    ck_assert_msg(strstr(ds.first->text.ptr, words), "'%s' lacks '%s'", ds.first->text.ptr, words);
}

START_TEST(versions_1_to_3)
{
    float v[] = {1, 2, 3};
    for (int version = 1; version <= 3; version++) {
        struct literal *l =
            decode(npy(version, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n", v,
                       sizeof v),
                   NULL);
        ck_assert_ptr_nonnull(l);
        ck_assert_int_eq(l->shape->dtype, DT_F32);
        ck_assert_int_eq(l->shape->dims[0], 3);
        ck_assert_mem_eq(l->data, v, sizeof v);
        literal_free_data(l);
    }
    ck_assert_ptr_null(decode(
        npy(4, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n", v, sizeof v), NULL));
    expect_error(MSG_NPY_MALFORMED, "version");
}
END_TEST

START_TEST(fortran_order_is_transposed)
{
    int32_t columns[] = {1, 4, 2, 5, 3, 6}, rows[] = {1, 2, 3, 4, 5, 6};
    struct literal *l = decode(
        npy(1, "{'shape': (2, 3), 'fortran_order': True, 'descr': '<i4'}", columns, sizeof columns),
        NULL);
    ck_assert_ptr_nonnull(l);
    ck_assert_mem_eq(l->data, rows, sizeof rows);
    literal_free_data(l);
}
END_TEST

START_TEST(big_endian_is_swapped)
{
    unsigned char bytes[] = {0x3f, 0x80, 0, 0, 0x40, 0, 0, 0};
    struct c64 expected = {1, 2};
    struct literal *l = decode(
        npy(1, "{'descr': '>c8', 'fortran_order': False, 'shape': ()}", bytes, sizeof bytes), NULL);
    ck_assert_ptr_nonnull(l);
    ck_assert_int_eq(l->shape->rank, 0);
    ck_assert_mem_eq(l->data, &expected, sizeof expected);
    literal_free_data(l);
}
END_TEST

START_TEST(raw_bits_have_the_expected_type)
{
    unsigned char bits[] = {0x80, 0x3f, 0x00, 0xc0};
    const struct shape *bf16 = shape_array(&arena, DT_BF16, 1, (int64_t[]){2}, NULL, NULL);
    static const char *const descrs[] = {"<V2", "|V2", "<u2", "bfloat16"};
    for (size_t i = 0; i < COUNT_OF(descrs); i++) {
        struct str dict = arena_printf(
            &arena, "{'descr': '%s', 'fortran_order': False, 'shape': (2,)}", descrs[i]);
        struct literal *l = decode(npy(1, dict.ptr, bits, sizeof bits), bf16);
        ck_assert_ptr_nonnull(l);
        ck_assert_int_eq(l->shape->dtype, DT_BF16);
        ck_assert_mem_eq(l->data, bits, sizeof bits);
        literal_free_data(l);
    }
    ck_assert_ptr_null(
        decode(npy(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (2,)}", bits, sizeof bits),
               bf16));
    expect_error(MSG_ARRAY_MISMATCH, "array is f16[2], but it expects bf16[2]");
}
END_TEST

START_TEST(narrow_types_are_normalized)
{
    unsigned char nibbles[] = {0x0f, 0xff, 0x07, 0x08};
    signed char signed_values[] = {-1, -1, 7, -8};
    unsigned char unsigned_values[] = {15, 15, 7, 8};
    const int64_t dims[] = {4};
    struct literal *l =
        decode(npy(1, "{'descr': '|V1', 'fortran_order': False, 'shape': (4,)}", nibbles, 4),
               shape_array(&arena, DT_S4, 1, dims, NULL, NULL));
    ck_assert_mem_eq(l->data, signed_values, 4);
    literal_free_data(l);
    l = decode(npy(1, "{'descr': '|V1', 'fortran_order': False, 'shape': (4,)}", nibbles, 4),
               shape_array(&arena, DT_U4, 1, dims, NULL, NULL));
    ck_assert_mem_eq(l->data, unsigned_values, 4);
    literal_free_data(l);
    ck_assert_ptr_null(
        decode(npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (4,)}", nibbles, 4),
               shape_array(&arena, DT_U4, 1, dims, NULL, NULL)));
    expect_error(MSG_ARRAY_RANGE, "value 255 is out of range for u4");
}
END_TEST

START_TEST(types_of_64_bits_are_narrowed)
{
    const double values[] = {0.1, -1};
    const float floats[] = {0.1F, -1};
    const int64_t numbers[] = {-3, 7};
    const int32_t integers[] = {-3, 7};
    const int64_t dims[] = {2};
    struct literal *l =
        decode(npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", values, 16),
               shape_array(&arena, DT_F32, 1, dims, NULL, NULL));
    ck_assert_mem_eq(l->data, floats, sizeof floats);
    ck_assert_int_eq(ds.first->msg, MSG_ARRAY_NARROWED);
    literal_free_data(l);
    l = decode(npy(1, "{'descr': '<c16', 'fortran_order': False, 'shape': ()}", values, 16),
               shape_array(&arena, DT_C64, 0, NULL, NULL, NULL));
    ck_assert_mem_eq(l->data, floats, sizeof floats);
    ck_assert_uint_eq(ds.warnings, 1); /* none for a number of Python */
    literal_free_data(l);
    l = decode(npy(1, "{'descr': '<i8', 'fortran_order': False, 'shape': (2,)}", numbers, 16),
               shape_array(&arena, DT_S32, 1, dims, NULL, NULL));
    ck_assert_mem_eq(l->data, integers, sizeof integers);
    literal_free_data(l);
    l = decode(npy(1, "{'descr': '<u8', 'fortran_order': False, 'shape': ()}", numbers + 1, 8),
               shape_array(&arena, DT_U32, 0, NULL, NULL, NULL));
    ck_assert_mem_eq(l->data, integers + 1, sizeof integers[1]);
    literal_free_data(l);
    ck_assert_ptr_null(
        decode(npy(1, "{'descr': '<u8', 'fortran_order': False, 'shape': (2,)}", numbers, 16),
               shape_array(&arena, DT_U32, 1, dims, NULL, NULL)));
    ck_assert_int_eq(ds.last->msg, MSG_ARRAY_RANGE);
    ck_assert_str_eq(ds.last->text.ptr, "value -3 is out of range for u32");
}
END_TEST

static const char *const bad_headers[] = {
    "",
    "{",
    "{}",
    "{'descr': '<f4'",
    "{'descr': '<f4', 'shape': (1,)}",
    "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
    "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': 1}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4611686018427387904)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
    "{'descr: '<f4', 'fortran_order': False, 'shape': (1,)}",
    "{'colour': 'red', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
};

START_TEST(malformed_headers_are_rejected)
{
    float v = 1;
    ck_assert_ptr_null(decode(npy(1, bad_headers[_i], &v, sizeof v), NULL));
    expect_error(MSG_NPY_MALFORMED, "");
}
END_TEST

START_TEST(truncated_npy_is_rejected)
{
    float v[2] = {1, 2};
    struct buf b = npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", v, sizeof v);
    for (size_t n = 0; n < b.size; n++)
        ck_assert_ptr_null(
            io_npy_decode(&ds, &arena, (struct str){b.data, n}, NULL, NULL, STR("it")));
    buf_free(&b);
}
END_TEST

START_TEST(sizes_zero_and_scalars)
{
    double v = 2.5;
    struct literal *l =
        decode(npy(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (0, 4611686018427387904)}",
                   NULL, 0),
               NULL);
    ck_assert_ptr_nonnull(l);
    literal_free_data(l);
    l = decode(npy(1, "{'descr': '=f8', 'fortran_order': True, 'shape': ( ), }", &v, sizeof v),
               NULL);
    ck_assert_ptr_nonnull(l);
    ck_assert_double_eq(*(double *)l->data, 2.5);
    literal_free_data(l);
}
END_TEST

/* ---- archives ---- */

static struct str put_deflated(const char *data, size_t size)
{
    char *out = arena_alloc(&arena, size + 64);
    z_stream z = {.next_in = (Bytef *)(uintptr_t)data,
                  .avail_in = (uInt)size,
                  .next_out = (Bytef *)out,
                  .avail_out = (uInt)size + 64};
    deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    deflate(&z, Z_FINISH);
    struct str s = {out, z.total_out};
    deflateEnd(&z);
    return s;
}

/* An archive of one member. `excess` is added to the size in the directory. */
static struct buf archive(const char *name, struct str content, bool deflated, int64_t excess)
{
    struct str packed = deflated ? put_deflated(content.ptr, content.len) : content;
    uint32_t crc = (uint32_t)crc32(0, (const Bytef *)content.ptr, (uInt)content.len);
    struct buf b = {0};
    put_le(&b, 0x04034b50, 4), put_le(&b, 20, 2), put_le(&b, 0, 2), put_le(&b, deflated ? 8 : 0, 2),
        put_le(&b, 0, 4);
    put_le(&b, crc, 4), put_le(&b, packed.len, 4), put_le(&b, content.len, 4),
        put_le(&b, strlen(name), 2), put_le(&b, 3, 2);
    buf_puts(&b, name), buf_puts(&b, "xyz"), buf_str(&b, packed);
    size_t at = b.size;
    put_le(&b, 0x02014b50, 4), put_le(&b, 20, 2), put_le(&b, 20, 2), put_le(&b, 0, 2),
        put_le(&b, deflated ? 8 : 0, 2);
    put_le(&b, 0, 4), put_le(&b, crc, 4), put_le(&b, packed.len, 4),
        put_le(&b, content.len + (uint64_t)excess, 4);
    put_le(&b, strlen(name), 2), put_le(&b, 0, 2), put_le(&b, 0, 2), put_le(&b, 0, 2),
        put_le(&b, 0, 2), put_le(&b, 0, 4);
    put_le(&b, 0, 4), buf_puts(&b, name);
    size_t size = b.size - at;
    put_le(&b, 0x06054b50, 4), put_le(&b, 0, 4), put_le(&b, 1, 2), put_le(&b, 1, 2),
        put_le(&b, size, 4), put_le(&b, at, 4);
    put_le(&b, 0, 2);
    return b;
}

static struct buf some_npy(void)
{
    float v[64] = {1, 2};
    return npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (64,)}", v, sizeof v);
}

static struct literal *first_of(struct str bytes)
{
    struct npz z;
    return io_npz_open(&ds, &arena, bytes, &z)
               ? io_npz_get(&ds, &arena, &z, STR("arg0"), NULL, STR("it"))
               : NULL;
}

START_TEST(stored_and_deflated)
{
    struct buf inner = some_npy(), b = archive("arg0.npy", buf_view(&inner), _i == 1, 0);
    struct literal *l = first_of(buf_view(&b));
    ck_assert_msg(l != NULL, "%s", ds.first ? ds.first->text.ptr : "");
    ck_assert_float_eq(((float *)l->data)[1], 2);
    literal_free_data(l);
    buf_free(&inner);
    buf_free(&b);
}
END_TEST

START_TEST(wrong_member_sizes_are_rejected)
{
    static const int64_t excesses[] = {1, -1, 100000, 0x70000000};
    struct buf inner = some_npy();
    for (size_t i = 0; i < COUNT_OF(excesses); i++) {
        struct buf b = archive("arg0.npy", buf_view(&inner), _i == 1, excesses[i]);
        ck_assert_ptr_null(first_of(buf_view(&b)));
        ck_assert_uint_eq(ds.errors, i + 1);
        buf_free(&b);
    }
    buf_free(&inner);
}
END_TEST

/* No changed byte of an archive causes a crash (checked by ASan). */
START_TEST(changed_bytes_do_not_crash)
{
    struct buf inner = some_npy(), b = archive("arg0.npy", buf_view(&inner), _i == 1, 0);
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
    for (size_t at = 0; at < b.size; at++) {
        char kept = b.data[at];
        for (size_t v = 0; v < sizeof values; v++) {
            b.data[at] = (char)values[v];
            struct literal *l = first_of(buf_view(&b));
            if (l)
                literal_free_data(l);
        }
        b.data[at] = kept;
    }
    for (size_t n = 0; n < b.size; n++)
        ck_assert_ptr_null(first_of((struct str){b.data, n}));
    buf_free(&inner);
    buf_free(&b);
}
END_TEST

START_TEST(crc_mismatch_is_rejected)
{
    struct buf inner = some_npy(), b = archive("arg0.npy", buf_view(&inner), false, 0);
    b.data[b.size / 2] ^= 1;
    ck_assert_ptr_null(first_of(buf_view(&b)));
    expect_error(MSG_NPZ_MALFORMED, "CRC mismatch in a member");
    buf_free(&inner);
    buf_free(&b);
}
END_TEST

/* ---- archives with wrong metadata ---- */

/* Adds a second directory entry for the same member, with another name. */
static struct buf named_twice(const struct buf *b)
{
    enum { END = 22, CENTRAL = 46 + 8 };
    size_t at = b->size - END - CENTRAL;
    struct buf out = {0};
    buf_bytes(&out, b->data, at);
    buf_bytes(&out, b->data + at, CENTRAL);
    out.data[out.size - 5] = '1'; /* arg0.npy */
    buf_bytes(&out, b->data + at, CENTRAL);
    buf_bytes(&out, b->data + b->size - END, 10);
    put_le(&out, 2, 2), put_le(&out, 2 * CENTRAL, 4), put_le(&out, at, 4), put_le(&out, 0, 2);
    return out;
}

START_TEST(overlapping_members_are_rejected)
{
    struct buf inner = some_npy(), b = archive("arg0.npy", buf_view(&inner), _i == 1, 0),
               twice = named_twice(&b);
    ck_assert_ptr_null(first_of(buf_view(&twice)));
    ck_assert_msg(strstr(ds.first->text.ptr, "overlap") && strstr(ds.first->text.ptr, "'arg0'") &&
                      strstr(ds.first->text.ptr, "'arg1'"),
                  "%s", ds.first->text.ptr);
    buf_free(&inner);
    buf_free(&b);
    buf_free(&twice);
}
END_TEST

START_TEST(members_end_before_the_directory)
{
    struct buf inner = some_npy(), b = archive("arg0.npy", buf_view(&inner), false, 0);
    size_t central = b.size - 22 - 54;
    b.data[central + 20]++; /* compressed size */
    b.data[central + 24]++; /* uncompressed size */
    ck_assert_ptr_null(first_of(buf_view(&b)));
    expect_error(MSG_NPZ_MALFORMED, "local header of a member not found"); /* its sizes differ */
    b.data[central + 20] += 11;
    ck_assert_ptr_null(first_of(buf_view(&b)));
    ck_assert_ptr_nonnull(
        strstr(ds.last->text.ptr, "'arg0' is not located before the central directory"));
    buf_free(&inner);
    buf_free(&b);
}
END_TEST

START_TEST(member_names_match_local_headers)
{
    struct buf inner = some_npy(), b = archive("arg0.npy", buf_view(&inner), false, 0);
    b.data[30] = 'x';
    ck_assert_ptr_null(first_of(buf_view(&b)));
    expect_error(MSG_NPZ_MALFORMED, "local header of a member not found");
    buf_free(&inner);
    buf_free(&b);
}
END_TEST

/* The size of a member must match the header of its array and the expected type: checked before
 * decompression. */
START_TEST(member_sizes_match_shapes)
{
    struct buf inner = some_npy();
    buf_reserve(&inner, 1 << 22);
    memset(inner.data + inner.size, 0, 1 << 22);
    inner.size += 1 << 22;
    struct buf b = archive("arg0.npy", buf_view(&inner), _i == 1, 0);
    ck_assert_ptr_null(first_of(buf_view(&b)));
    expect_error(MSG_NPY_MALFORMED, "trailing data");
    buf_free(&inner);
    buf_free(&b);
}
END_TEST

START_TEST(write_read_round_trip)
{
    char path[] = "/tmp/test_io.XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    const struct shape *parts[] = {
        shape_array(&arena, DT_F8E4M3FN, 2, (int64_t[]){2, 2}, NULL, NULL),
        shape_scalar(&arena, DT_PRED)};
    const struct shape *tuple = shape_tuple(&arena, 2, parts);
    struct literal *l = literal_new(&arena, tuple);
    memcpy(l->elements[0]->data, "\x01\x7f\x80\xff", 4);
    *(char *)l->elements[1]->data = 1;
    ck_assert(io_write_npz(&ds, path, "out", (const struct literal *const[]){l}, 1));
    struct io_arrays s;
    ck_assert(io_arrays_open(&ds, &arena, path, &s));
    struct io_request w = {.prefix = "out", .who = STR("it")};
    struct literal *back = io_arrays_value(&ds, &arena, &s, &w, tuple);
    ck_assert_ptr_nonnull(back);
    ck_assert_mem_eq(back->elements[0]->data, l->elements[0]->data, 4);
    ck_assert_mem_eq(back->elements[1]->data, l->elements[1]->data, 1);
    literal_free_data(back);
    literal_free_data(l);
    io_arrays_close(&s);
    unlink(path);
}
END_TEST

/* ---- random inputs: expected values were computed by splitmix64 in Python ---- */

START_TEST(random_numbers_known_answers)
{
    struct literal *l = io_random(&ds, &arena, STR(""),
                                  shape_array(&arena, DT_F32, 1, (int64_t[]){3}, NULL, NULL), 0, 1);
    float expected[] = {0x1.23fa98p-1f, 0x1.e4061p-1f, 0x1.62403cp-1f};
    ck_assert_mem_eq(l->data, expected, sizeof expected);
    literal_free_data(l);
    l = io_random(&ds, &arena, STR("// peers: param=2 range=-3,9\n"),
                  shape_array(&arena, DT_S32, 1, (int64_t[]){5}, NULL, NULL), 2, 7);
    int32_t integers[] = {5, 6, -1, 4, 2};
    ck_assert_mem_eq(l->data, integers, sizeof integers);
    literal_free_data(l);
    struct str hints = STR("// peers: param=1 range=0,3 eye=100\n//  peers: param=2 range=0,3\n");
    l = io_random(&ds, &arena, hints, shape_array(&arena, DT_S32, 2, (int64_t[]){2, 2}, NULL, NULL),
                  1, 1);
    int32_t eyed[] = {102, 0, 2, 102};
    ck_assert_mem_eq(l->data, eyed, sizeof eyed);
    literal_free_data(l);
    l = io_random(&ds, &arena, hints, shape_array(&arena, DT_BF16, 1, (int64_t[]){2}, NULL, NULL),
                  2, 1);
    uint16_t narrow[] = {16428, 16198};
    ck_assert_mem_eq(l->data, narrow, sizeof narrow);
    literal_free_data(l);
}
END_TEST

START_TEST(random_wide_and_complex_numbers)
{
    struct literal *l = io_random(&ds, &arena, STR(""),
                                  shape_array(&arena, DT_C64, 1, (int64_t[]){1}, NULL, NULL), 2, 1);
    uint32_t complex[] = {1061805374, 3203908484};
    ck_assert_mem_eq(l->data, complex, sizeof complex);
    literal_free_data(l);
    l = io_random(&ds, &arena, STR(""), shape_array(&arena, DT_F64, 1, (int64_t[]){1}, NULL, NULL),
                  2, 1);
    uint64_t wide = 4605277686103640638;
    ck_assert_mem_eq(l->data, &wide, sizeof wide);
    literal_free_data(l);
    const int64_t large[] = {(1 << 22) + 2};
    l = io_random(&ds, &arena, STR(""), shape_array(&arena, DT_U8, 1, large, NULL, NULL), 0, 1);
    ck_assert_mem_eq((char *)l->data + (1 << 22), l->data, 2); /* the first 2^22 repeat */
    literal_free_data(l);
}
END_TEST

/* The definition, element by element. */
static uint64_t reference_word(uint64_t key, uint64_t i)
{
    uint64_t z = (i + 1) * 0x9E3779B97F4A7C15u + key * 0xD1342543DE82EF95u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static double reference_real(enum dtype part, uint64_t u, double lo, double hi, bool ranged)
{
    float f = (float)(u >> 40) * 0x1p-23f - 1.0f;
    double d = (double)(u >> 11) * 0x1p-52 - 1.0;
    if (part == DT_F64)
        return ranged ? (d + 1.0) * ((hi - lo) / 2) + lo : d;
    return (double)(ranged ? (f + 1.0f) * (float)((hi - lo) / 2) + (float)lo : f);
}

static void reference_element(enum dtype t, char *out, uint64_t i, double lo, double hi,
                              bool ranged)
{
    enum dtype part = dtype_component(t);
    int64_t low = ranged ? (int64_t)lo : 0, high = ranged ? (int64_t)hi : 5;
    uint64_t u = reference_word(9 * 1000003 + 1, i);
    if (dtype_is_complex(t)) {
        for (uint64_t k = 0; k < 2; k++)
            float_store(
                part, out + k * dtype_bytes(part),
                reference_real(part, reference_word(9 * 1000003 + 1, 2 * i + k), lo, hi, ranged));
        return;
    }
    if (dtype_is_float(t)) {
        float_store(t, out, reference_real(t, u, lo, hi, ranged));
        return;
    }
    if (dtype_is_subbyte(t)) {
        low = low > 0 ? low : 0;
        high = high < 2 ? high : 2;
    }
    int64_t v = t == DT_PRED ? (int64_t)(u >> 63) : low + (int64_t)(u % (uint64_t)(high - low));
    v = t == DT_S1 ? -v : v;
    memcpy(out, &v, dtype_bytes(t));
}

/* Results do not depend on chunks or kernels. */
START_TEST(random_numbers_of_every_type)
{
    static const struct {
        const char *hint;
        double lo, hi;
    } ranges[] = {{"", 0, 0},
                  {"// peers: param=1 range=-1,1\n", -1, 1},
                  {"// peers: param=1 range=0,65536\n", 0, 65536},
                  {"// peers: param=1 range=-3,1000003\n", -3, 1000003}};
    enum { COUNT = 2 * 1024 + 5 };
    for (enum dtype t = 0; t < DT_COUNT; t++)
        for (size_t k = 0; dtype_is_array(t) && k < COUNT_OF(ranges); k++) {
            struct literal *l =
                io_random(&ds, &arena, str_of(ranges[k].hint),
                          shape_array(&arena, t, 1, (int64_t[]){COUNT}, NULL, NULL), 1, 9);
            for (uint64_t i = 0; i < COUNT; i++) {
                char expected[16] = {0};
                reference_element(t, expected, i, ranges[k].lo, ranges[k].hi, k > 0);
                ck_assert_mem_eq((char *)l->data + i * dtype_bytes(t), expected, dtype_bytes(t));
            }
            literal_free_data(l);
        }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("io");
    TCase *t = tcase_create("io");
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, versions_1_to_3);
    tcase_add_test(t, fortran_order_is_transposed);
    tcase_add_test(t, big_endian_is_swapped);
    tcase_add_test(t, raw_bits_have_the_expected_type);
    tcase_add_test(t, narrow_types_are_normalized);
    tcase_add_test(t, types_of_64_bits_are_narrowed);
    tcase_add_loop_test(t, malformed_headers_are_rejected, 0, COUNT_OF(bad_headers));
    tcase_add_test(t, truncated_npy_is_rejected);
    tcase_add_test(t, sizes_zero_and_scalars);
    tcase_add_loop_test(t, stored_and_deflated, 0, 2);
    tcase_add_loop_test(t, wrong_member_sizes_are_rejected, 0, 2);
    tcase_add_loop_test(t, changed_bytes_do_not_crash, 0, 2);
    tcase_add_test(t, crc_mismatch_is_rejected);
    tcase_add_loop_test(t, overlapping_members_are_rejected, 0, 2);
    tcase_add_test(t, members_end_before_the_directory);
    tcase_add_test(t, member_names_match_local_headers);
    tcase_add_loop_test(t, member_sizes_match_shapes, 0, 2);
    tcase_add_test(t, write_read_round_trip);
    tcase_add_test(t, random_numbers_known_answers);
    tcase_add_test(t, random_wide_and_complex_numbers);
    tcase_add_test(t, random_numbers_of_every_type);
    suite_add_tcase(s, t);
    return check_run(s);
}
