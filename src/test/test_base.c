/*
 * Tests of base.
 */
#include "base/mapped.h"
#include "base/oom.h"
#include "base/table.h"
#include "base/base.h"
#include "base/wide.h"

#include "check_quiet.h"
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static double from_bits(uint64_t u)
{
    double v;
    memcpy(&v, &u, sizeof v);
    return v;
}

static uint64_t to_bits(double v)
{
    uint64_t u;
    memcpy(&u, &v, sizeof u);
    return u;
}

START_TEST(strings)
{
    ck_assert_int_lt(str_cmp(STR("a"), STR("ab")), 0);
    ck_assert_int_gt(str_cmp(STR("b"), STR("ab")), 0);
    ck_assert_int_eq(str_cmp(STR("ab"), STR("ab")), 0);
    ck_assert(str_starts(STR("abc"), STR("ab")));
    ck_assert(!str_starts(STR("a"), STR("ab")));
    ck_assert(str_eq_nocase(STR("eNtRy"), STR("Entry")));
    ck_assert(!str_eq_nocase(STR("entr"), STR("entry")));
    ck_assert_uint_eq(str_distance(STR("add"), STR("add"), 5), 0);
    ck_assert_uint_eq(str_distance(STR("mutliply"), STR("multiply"), 5), 1);
    ck_assert_uint_eq(str_distance(STR("kitten"), STR("sitting"), 9), 3);
    ck_assert_uint_eq(str_distance(STR("kitten"), STR("sitting"), 2), 2);
    ck_assert_uint_eq(str_distance(STR(""), STR("abc"), 9), 3);
}
END_TEST

START_TEST(arenas)
{
    struct arena a;
    arena_init(&a);
    uint64_t seed = 1;
    char *pieces[500];
    size_t sizes[500];
    for (int i = 0; i < 500; i++) {
        sizes[i] = i % 100 == 0 ? 300000 : next_random(&seed) % 2000;
        pieces[i] = arena_alloc(&a, sizes[i]);
        ck_assert_uint_eq((uintptr_t)pieces[i] % 16, 0);
        memset(pieces[i], i & 255, sizes[i]);
        arena_str(&a, STR("odd"));
    }
    for (int i = 0; i < 500; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            ck_assert_int_eq((unsigned char)pieces[i][k], i & 255);
    for (int i = 0; i < 40; i++) { /* far into the large pages */
        char *piece = arena_zalloc(&a, 700001);
        ck_assert(piece[0] == 0 && piece[700000] == 0);
        memset(piece, 255, 700001);
    }
    size_t total = a.total;
    struct arena_mark mark = arena_mark(&a);
    arena_alloc(&a, 5000000);
    arena_release(&a, mark);
    ck_assert_uint_eq(a.total, total);
    memset(arena_alloc(&a, 20000000), 1, 20000000);
    arena_release(&a, mark);
    ck_assert_uint_eq(a.total, total);
    ck_assert_ptr_eq(arena_alloc(&a, 0), arena_alloc(&a, 0));
    struct str s = arena_printf(&a, "%0300d", 7);
    ck_assert_uint_eq(s.len, 300);
    ck_assert(s.ptr[299] == '7' && s.ptr[300] == '\0');
    arena_free(&a);
    ck_assert_uint_eq(a.total, 0);
}
END_TEST

START_TEST(vectors)
{
    struct arena a;
    arena_init(&a);
    int *items = NULL, *others = NULL;
    size_t capacity = 0, other_capacity = 0, count = 0, other_count = 0;
    for (int i = 0; i < 100000; i++) {
        VEC_PUSH(&a, items, count, capacity) = i;
        if (i % 3 == 0)
            VEC_PUSH(&a, others, other_count, other_capacity) = -i;
    }
    ck_assert_uint_eq(count, 100000);
    for (int i = 0; i < 100000; i++)
        ck_assert_int_eq(items[i], i);
    for (size_t i = 0; i < other_count; i++)
        ck_assert_int_eq(others[i], -3 * (int)i);
    arena_free(&a);
}
END_TEST

START_TEST(tensor_memory)
{
    for (size_t size = 0; size < 5000; size += 37) {
        char *p = mem_zalloc(size), *q = mem_alloc(size);
        ck_assert_ptr_nonnull(p);
        ck_assert_ptr_nonnull(q);
        ck_assert_uint_eq((uintptr_t)p % 64, 0);
        ck_assert_uint_eq((uintptr_t)q % 64, 0);
        for (size_t i = 0; i < size; i++)
            ck_assert_int_eq(p[i], 0);
        memset(q, 1, size);
        mem_free(p);
        mem_free(q);
    }
    static const size_t large[] = {20 << 20,         RESERVE_FROM - 1, RESERVE_FROM,
                                   RESERVE_FROM + 1, 5 << 20,          20 << 20};
    for (size_t k = 0; k < COUNT_OF(large); k++) { /* zeroed, whatever was written before */
        char *p = mem_zalloc(large[k]);
        ck_assert_ptr_nonnull(p);
        ck_assert_uint_eq((uintptr_t)p % 64, 0);
        for (size_t i = 0; i < large[k]; i += 500)
            ck_assert_int_eq(p[i], 0);
        memset(p, 1, large[k]);
        mem_free(p);
    }
    ck_assert_ptr_null(mem_zalloc(SIZE_MAX / 2 - 3));
    mem_free(NULL);
    ck_assert_ptr_null(mem_alloc(SIZE_MAX - 3));
}
END_TEST

START_TEST(storage_reserve)
{
    enum { MB = 1 << 20 };
    struct oom_scope scope;
    oom_enter(&scope, NULL);
    struct reserve *r = reserve_new();
    ck_assert_ptr_null(reserve_use(r));
    char *a = mem_alloc(5 * MB + 1), *b = mem_alloc(4 * MB);
    ck_assert_ptr_nonnull(a);
    ck_assert_ptr_nonnull(b);
    ck_assert_uint_eq((uintptr_t)a % 64, 0);
    memset(a, 1, 5 * MB + 1);
    memset(b, 2, 4 * MB);
    ck_assert_int_eq(a[5 * MB], 1);
    mem_free(a);
    size_t idle = reserve_idle(r); /* 0 under a sanitizer */
    ck_assert(idle == 0 || idle == 5 * MB + 4096);
    char *again = mem_alloc(3 * MB);
    if (idle) {
        ck_assert_ptr_eq(again, a);
        ck_assert_uint_eq(reserve_idle(r), 0);
    }
    char *small = mem_alloc(2 * MB); /* no block is idle */
    mem_free(again);
    mem_free(small);
    char *large = mem_alloc(40 * MB); /* too large for the idle blocks, which are released */
    ck_assert_ptr_nonnull(large);
    ck_assert_uint_le(reserve_idle(r), RESERVE_SLACK);
    mem_free(large);
    reserve_trim(r, 0);
    ck_assert_uint_eq(reserve_idle(r), 0);
    ck_assert_ptr_null(mem_alloc(SIZE_MAX - 3));
    ck_assert_ptr_null(mem_alloc(SIZE_MAX / 2));
    large = mem_alloc(3 * MB);
    mem_free(b);
    ck_assert_ptr_eq(reserve_use(NULL), r);
    reserve_release(r);
    memset(large, 3, 3 * MB);
    mem_free(large); /* the last one, after its owner was freed */
    reserve_release(reserve_new());
    reserve_release(NULL);
    oom_leave(&scope);
}
END_TEST

START_TEST(buffers)
{
    struct buf b = {0};
    buf_int(&b, INT64_MIN);
    buf_putc(&b, ' ');
    buf_int(&b, 0);
    buf_putc(&b, ' ');
    buf_uint(&b, UINT64_MAX);
    buf_puts(&b, " 100");
    buf_printf(&b, " %0200d", 1);
    ck_assert_str_eq(b.data + b.size - 3, "001");
    b.data[50] = '\0';
    ck_assert_str_eq(b.data, "-9223372036854775808 0 18446744073709551615 100 00");
    buf_free(&b);
    for (int64_t v = 1; v < INT64_MAX / 7; v *= 7) {
        char text[32];
        snprintf(text, sizeof text, "%" PRId64, v);
        b.size = 0;
        buf_int(&b, v);
        ck_assert_str_eq(b.data, text);
    }
    b.size = 0;
    buf_json_str(&b, STR("a\"\\\n\x01\xc3\xa9\xff\xc0\x80\xed\xa0\x80z"));
    ck_assert_str_eq(b.data, "\"a\\\"\\\\\\n\\u0001\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
                             "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\"");
    b.size = 0;
    buf_putc(&b, '{');
    buf_json_text(&b, "a", STR("\""));
    buf_json_open(&b, "b", '{');
    buf_json_count(&b, "c", UINT64_MAX);
    buf_json_bool(&b, "d", false);
    ck_assert_str_eq(b.data, "{\"a\":\"\\\"\",\"b\":{\"c\":18446744073709551615,\"d\":false");
    buf_free(&b);
}
END_TEST

START_TEST(maps)
{
    struct arena a;
    arena_init(&a);
    struct map m;
    map_init(&m, &a);
    ck_assert_ptr_null(map_get(&m, STR("nothing")));
    enum { N = 100000 };
    char *values = arena_alloc(&a, N);
    for (int i = 0; i < N; i++)
        ck_assert_ptr_null(map_put(&m, arena_printf(&a, "name.%d", i), &values[i]));
    ck_assert_uint_eq(m.count, N);
    for (int i = 0; i < N; i++)
        ck_assert_ptr_eq(map_get(&m, arena_printf(&a, "name.%d", i)), &values[i]);
    ck_assert_ptr_null(map_get(&m, STR("name.")));
    ck_assert_ptr_eq(map_put(&m, STR("name.7"), &values[0]), &values[7]);
    ck_assert_ptr_eq(map_get(&m, STR("name.7")), &values[0]);
    ck_assert_uint_eq(m.count, N);
    arena_free(&a);
}
END_TEST

START_TEST(hashes_depend_on_every_byte)
{
    char bytes[40] = {0};
    for (size_t size = 1; size <= sizeof bytes; size++) {
        uint64_t h = hash_bytes(bytes, size);
        ck_assert(h != hash_bytes(bytes, size - 1));
        for (size_t i = 0; i < size; i++) {
            bytes[i] = 1;
            ck_assert(h != hash_bytes(bytes, size));
            bytes[i] = 0;
        }
    }
}
END_TEST

/* Both implementations of the upper half of a product, on numbers with all kinds of carries. */
START_TEST(multiply_high)
{
    uint64_t seed = 3;
    for (int i = 0; i < 100000; i++) {
        uint64_t a = next_random(&seed) >> (i & 63), b = next_random(&seed) >> (i >> 6 & 63);
        a = i % 3 == 0 ? ~a : a;
        b = i % 5 == 0 ? ~b : b;
        ck_assert_uint_eq(mul_high_by_halves(a, b), mul_high(a, b));
        ck_assert_uint_eq(mul_fold(a, b), mul_high(a, b) ^ a * b);
    }
    ck_assert_uint_eq(mul_high_by_halves(UINT64_MAX, UINT64_MAX), UINT64_MAX - 1);
    ck_assert_uint_eq(mul_high(UINT64_C(1) << 63, 6), 3);
}
END_TEST

/* Numbers printed with 17 digits read back with the same bits in any locale. */
static void check_round_trips(void)
{
    uint64_t seed = 42;
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = next_random(&seed);
        if (i % 8 == 0)
            bits &= ~(UINT64_C(0x7ff) << 52); /* subnormal */
        double v = from_bits(bits), back;
        if (!isfinite(v))
            continue;
        char text[64];
        size_t n = num_format_g(text, sizeof text, v, 17);
        ck_assert_ptr_null(memchr(text, ',', n));
        ck_assert(num_parse_double((struct str){text, n}, &back));
        ck_assert_msg(to_bits(back) == to_bits(v), "%s", text);
    }
}

START_TEST(doubles_round_trip) { check_round_trips(); }
END_TEST

START_TEST(doubles_ignore_the_locale)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (setlocale(LC_ALL, names[i]))
            break;
    char text[64];
    ck_assert_uint_eq(num_format_g(text, sizeof text, 1.5, 6), 3);
    ck_assert_str_eq(text, "1.5");
    double v;
    ck_assert(num_parse_double(STR("1.00000000000000000000000000000000001"), &v) && v == 1);
    check_round_trips();
    setlocale(LC_ALL, "C"); /* other tests may run in this process */
}
END_TEST

/* Against the C library, on texts with few and many digits and far exponents. */
START_TEST(doubles_agree_with_strtod)
{
    uint64_t seed = 7;
    for (int i = 0; i < 200000; i++) {
        char text[64];
        uint64_t r = next_random(&seed), m = next_random(&seed);
        unsigned digits = 1 + (unsigned)(r % 19);
        for (unsigned k = 19; k > digits; k--)
            m /= 10;
        int point = (int)(r >> 8 & 15), exponent = (int)(r >> 16 & 63) - 32;
        if ((r >> 24 & 7) == 0)
            exponent *= 11;
        if (point)
            snprintf(text, sizeof text, "%s%" PRIu64 ".%" PRIu64 "e%d", r >> 32 & 1 ? "-" : "", m,
                     r >> (20 + 2 * point), exponent);
        else
            snprintf(text, sizeof text, "%" PRIu64 "e%+d", m, exponent);
        double v;
        ck_assert(num_parse_double(str_of(text), &v));
        ck_assert_msg(to_bits(v) == to_bits(strtod(text, NULL)), "%s: %a", text, v);
    }
}
END_TEST

static void check_format(double v, int digits)
{
    char text[64], expected[64];
    snprintf(expected, sizeof expected, "%.*g", digits, v);
    ck_assert_uint_eq(num_format_g(text, sizeof text, v, digits), strlen(expected));
    ck_assert_msg(strcmp(text, expected) == 0, "%a with %d digits: %s, not %s", v, digits, text,
                  expected);
}

/* Against the C library: random doubles and singles, short decimals, and ties of the rounding. */
START_TEST(formatted_doubles_agree_with_printf)
{
    uint64_t seed = 99;
    for (int i = 0; i < 60000; i++) {
        uint64_t r = next_random(&seed);
        int digits = (int)(r % 20);
        check_format(from_bits(next_random(&seed)), digits);
        check_format(ldexp((double)(next_random(&seed) >> 40), (int)(r >> 8 & 127) - 80), digits);
        check_format((double)(r >> 32 & 0xffff) / 100, digits);
        check_format((double)(r >> 50) * 0.5, digits);
        check_format(-(double)(r >> 16 & 0xff) * 1e21, digits);
    }
    static const double edges[] = {0,
                                   -0.0,
                                   9.5,
                                   0.5,
                                   1.5,
                                   2.5,
                                   99999.95,
                                   999999.5,
                                   9999995,
                                   1e-4,
                                   1e-5,
                                   9.9999e-5,
                                   1e22,
                                   1e23,
                                   0x1p-1074,
                                   0x1.fffffffffffffp1023,
                                   123456789,
                                   1e17,
                                   99999999999999999.0,
                                   0x1p63,
                                   0x1p64,
                                   4503599627370496.5};
    for (size_t i = 0; i < COUNT_OF(edges); i++)
        for (int digits = 0; digits <= 20; digits++)
            check_format(edges[i], digits);
    char small[3] = "zz";
    ck_assert_uint_eq(num_format_g(small, 2, 1.5, 6), 3);
    ck_assert_str_eq(small, "1");
    struct buf b = {0};
    for (int i = 0; i < 100; i++)
        buf_g(&b, 1.0 / 3, 50);
    ck_assert_uint_eq(b.size, 5200);
    b.size = 0;
    buf_g(&b, -NAN, 6);
    buf_g(&b, -INFINITY, 6);
    ck_assert_str_eq(b.data, "nan-inf");
    buf_free(&b);
}
END_TEST

static void check_exact(double v, bool single)
{
    char text[NUM_EXACT_SIZE + 1], expected[40];
    if (!isfinite(v))
        return;
    text[num_format_exact(text, v, single)] = '\0';
    snprintf(expected, sizeof expected, "%.*g", single ? 6 : 15, v);
    if (single ? strtof(expected, NULL) != (float)v : strtod(expected, NULL) != v)
        snprintf(expected, sizeof expected, "%.*g", single ? 9 : 17, v);
    ck_assert_msg(strcmp(text, expected) == 0, "%a%s: %s, not %s", v, single ? " (f32)" : "", text,
                  expected);
}

/* Against the C library: random bits, integers, short decimals, powers of two and subnormals. */
START_TEST(exact_digits_agree_with_printf)
{
    uint64_t seed = 5;
    for (int i = 0; i < 100000; i++) {
        const uint64_t r = next_random(&seed);
        const double integer = (double)(int64_t)(next_random(&seed) >> (r & 63)),
                     decimal = (double)(r >> 44) / 1000;
        const uint32_t low = (uint32_t)r;
        float f;
        memcpy(&f, &low, sizeof f);
        check_exact(from_bits(r), false);
        check_exact((double)f, true);
        check_exact(integer, false);
        check_exact((double)(float)integer, true);
        check_exact(decimal, false);
        check_exact((double)(float)decimal, true);
        check_exact(from_bits(r & 0x800fffffffffffff), false);
    }
    for (int e = -1074; e < 1024; e++) {
        for (int below = 0; below < 2; below++)
            check_exact(below ? nextafter(ldexp(1, e), 0) : ldexp(-1, e), false);
        if (e >= -149 && e < 128)
            for (int below = 0; below < 2; below++)
                check_exact((double)(below ? nextafterf(ldexpf(1, e), 0) : ldexpf(1, e)), true);
    }
    for (int e = -320; e < 309; e++) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", e);
        check_exact(strtod(text, NULL), false);
        check_exact((double)strtof(text, NULL), true);
    }
}
END_TEST

START_TEST(doubles_at_range_limits)
{
    static const char *const good[] = {
        "0",
        "-0",
        "-0.0e5",
        "5.",
        ".5",
        "-.5",
        "1e5",
        "1.E5",
        "0e999999999999999999999",
        "1e400",
        "-1e400",
        "1e-400",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062329e-324",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
        "9007199254740993",
        "9007199254740992.5",
        "0.000000000000000000000000000000001234567890123456789012345",
        "100000000000000000000000",
        "179769313486231580793728971405301e277",
        "1e22",
        "1e23",
        "-1e-22",
        "3e-23"};
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        double v;
        ck_assert_msg(num_parse_double(str_of(good[i]), &v), "%s", good[i]);
        ck_assert_msg(to_bits(v) == to_bits(strtod(good[i], NULL)), "%s: %a", good[i], v);
    }
    static const char *const bad[] = {"",     "-",  ".",     "e5",  "1e",  "1e+",  "1 ", " 1",
                                      "0x10", "+1", "1.5.2", "inf", "nan", "1e5x", "--1"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        double v;
        ck_assert_msg(!num_parse_double(str_of(bad[i]), &v), "%s", bad[i]);
    }
}
END_TEST

START_TEST(integers)
{
    int64_t v;
    ck_assert(num_parse_int(STR("-9223372036854775808"), &v) && v == INT64_MIN);
    ck_assert(num_parse_int(STR("18446744073709551615"), &v) && v == -1);
    ck_assert(num_parse_int(STR("00012"), &v) && v == 12);
    ck_assert(!num_parse_int(STR("-9223372036854775809"), &v));
    ck_assert(!num_parse_int(STR("18446744073709551616"), &v));
    ck_assert(!num_parse_int(STR("-"), &v) && !num_parse_int(STR(""), &v) &&
              !num_parse_int(STR("1a"), &v));
    ck_assert(num_parse_i64(STR("9223372036854775807"), &v) && v == INT64_MAX);
    ck_assert(!num_parse_i64(STR("9223372036854775808"), &v));
    ck_assert(num_parse_i64(STR("-9223372036854775808"), &v) && v == INT64_MIN);
}
END_TEST

START_TEST(dimension_product_overflow)
{
    const int64_t huge[] = {INT64_MAX, INT64_MAX, 0}, bad[] = {0, -1},
                  two[] = {INT64_C(1) << 31, INT64_C(1) << 31};
    int64_t n = -1;
    ck_assert(dims_product(16, 0, NULL, &n) && n == 16);
    ck_assert(dims_product(16, 3, huge, &n) && n == 0);
    ck_assert(!dims_product(1, 2, huge, &n) && !dims_product(1, 2, bad, &n));
    ck_assert(dims_product(1, 2, two, &n) && n == INT64_C(1) << 62);
    ck_assert(!dims_product(2, 2, two, &n));
    ck_assert_int_eq(dims_elements(3, huge), 0);
    ck_assert_int_eq(dims_elements(2, huge), INT64_MAX);
    ck_assert_int_eq(ratio_up(INT64_MAX, 2), INT64_C(1) << 62);
}
END_TEST

START_TEST(files)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/hlo-test-base-%ld", (long)getpid());
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    ck_assert_int_ge(fd, 0);
    struct file_bytes f;
    ck_assert(file_read(path, &f));
    ck_assert_ptr_nonnull(f.data);
    ck_assert_uint_eq(f.size, 0);
    file_release(&f);
    static const size_t sizes[] = {100, 4096, 200000};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        char *bytes = malloc(sizes[i]);
        ck_assert_ptr_nonnull(bytes);
        for (size_t k = 0; k < sizes[i]; k++)
            bytes[k] = (char)(k * 7);
        ck_assert_int_eq(ftruncate(fd, 0), 0);
        ck_assert_int_eq(pwrite(fd, bytes, sizes[i], 0), (ssize_t)sizes[i]);
        ck_assert(file_read(path, &f));
        ck_assert_int_eq(pwrite(fd, "changed", 7, 0), 7); /* after that it is unchanged */
        ck_assert_uint_eq(f.size, sizes[i]);
        ck_assert_mem_eq(f.data, bytes, sizes[i]);
        file_release(&f);
        ck_assert_int_eq(pwrite(fd, bytes, sizes[i], 0), (ssize_t)sizes[i]);
        ck_assert(file_map(path, &f));
        ck_assert_uint_eq(f.size, sizes[i]);
        ck_assert_mem_eq(f.data, bytes, sizes[i]);
        file_release(&f);
        free(bytes);
    }
    close(fd);
    unlink(path);
    ck_assert(!file_read(path, &f));
    ck_assert_int_eq(errno, ENOENT);
    ck_assert(!file_read("/tmp", &f));
    ck_assert_int_eq(errno, EISDIR);
}
END_TEST

START_TEST(pieces_of_texts)
{
    struct str s = STR("a,,bc"), lines = STR("one\ntwo");
    ck_assert(str_is(str_cut(&s, ','), "a"));
    ck_assert(str_is(str_cut(&s, ','), ""));
    ck_assert(str_is(str_cut(&s, ','), "bc") && s.len == 0);
    ck_assert(str_is(str_cut(&s, ','), ""));
    ck_assert(str_is(str_cut_line(&lines), "one\n"));
    ck_assert(str_is(str_cut_line(&lines), "two") && lines.len == 0);
    struct nearest n = nearest_to(STR("reshap"));
    ck_assert(!nearest_try(&n, STR("dot")) && n.found.len == 0);
    ck_assert(nearest_try(&n, STR("reshapes")) && nearest_try(&n, STR("reshape")));
    ck_assert(!nearest_try(&n, STR("rescape")) && str_is(n.found, "reshape") && n.distance == 1);
    n = nearest_to(STR("log"));
    ck_assert(!nearest_try(&n, STR("log_17")) && nearest_try(&n, STR("log.17")));
}
END_TEST

START_TEST(units)
{
    struct buf out = {0};
    const uint64_t bytes[] = {0, 10239, 10240, UINT64_C(3) << 29, UINT64_MAX};
    for (size_t k = 0; k < COUNT_OF(bytes); k++) {
        buf_byte_size(&out, bytes[k]);
        buf_putc(&out, '|');
    }
    ck_assert_str_eq(out.data, "0 B|10239 B|10.0 KiB|1.5 GiB|16.0 EiB|");
    out.size = 0;
    const double seconds[] = {3e-9, 1.5e-6, 0.25, 12};
    for (size_t k = 0; k < COUNT_OF(seconds); k++) {
        buf_seconds(&out, seconds[k]);
        buf_putc(&out, '|');
    }
    ck_assert_str_eq(out.data, "       3 ns|   1.500 us| 250.000 ms|  12.000 s |");
    out.size = 0;
    const double amounts[] = {1e6, 4.2e8, 1.05e10, 2e12};
    for (size_t k = 0; k < COUNT_OF(amounts); k++) {
        buf_giga(&out, amounts[k]);
        buf_putc(&out, '|');
    }
    ck_assert_str_eq(out.data, "0.001|0.42|10.5|2000|");
    buf_free(&out);
}
END_TEST

/* Columns are as wide as their widest cell of at most 48 bytes; no line ends in blanks. */
START_TEST(tables)
{
    static const struct table_column columns[] = {{"name", false}, {"n", true}, {"note", false}};
    static const struct table_column plain[] = {{NULL, true}, {NULL, false}};
    const char *widest = "a cell that is longer than the greatest width of a column";
    struct table t = TABLE(columns), u = TABLE(plain);
    struct buf out = {0}, expected = {0};
    table_cell(&t, STR("x"));
    buf_int(&t.text, 123);
    table_next(&t);
    table_cell(&t, STR("first"));
    table_cell(&t, STR("longer"));
    table_end_row(&t);
    table_cell(&t, str_of(widest));
    table_cell(&t, STR("7"));
    table_end_row(&t);
    table_put(&out, &t);
    buf_printf(&expected, "  name      n  note\n  x       123  first\n  longer\n  %s    7\n",
               widest);
    ck_assert_str_eq(out.data, expected.data);
    out.size = 0;
    table_put(&out, &u);
    ck_assert_uint_eq(out.size, 0);
    u = TABLE(plain);
    table_cell(&u, STR("1"));
    table_cell(&u, STR(""));
    table_cell(&u, STR("12"));
    table_cell(&u, STR("b"));
    table_put(&out, &u);
    ck_assert_str_eq(out.data, "   1\n  12  b\n");
    static const struct table_column dropping[] = {
        {"first", true, 2}, {"second", true, 1}, {"", false}};
    const char *const expect[] = {
        "  first  second\n      1       2  a last cell of 26 columns.\n",
        "  first\n      1  a last cell of 26 columns.\n",
        "  first\n      1  a last cell of 26 co...\n",
        "\n  a last cell of 26 columns.\n",
        "\n  a last cell of 26...\n",
    };
    const size_t widths[] = {43, 36, 32, 28, 22};
    for (size_t k = 0; k < COUNT_OF(widths); k++) {
        u = TABLE(dropping);
        table_cell(&u, STR("1"));
        table_cell(&u, STR("2"));
        table_cell(&u, STR("a last cell of 26 columns."));
        out.size = 0;
        table_put_within(&out, &u, widths[k]);
        ck_assert_str_eq(out.data, expect[k]);
    }
    u = TABLE(plain);
    table_cell(&u, str_of(widest));
    table_cell(&u, STR("last"));
    out.size = 0;
    table_put_within(&out, &u, 56);
    ck_assert_str_eq(out.data, "  a cell that is longer than the greatest width...  last\n");
    buf_free(&out);
    buf_free(&expected);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base");
    TCase *tcase = tcase_create("base");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, strings);
    tcase_add_test(tcase, arenas);
    tcase_add_test(tcase, vectors);
    tcase_add_test(tcase, tensor_memory);
    tcase_add_test(tcase, storage_reserve);
    tcase_add_test(tcase, buffers);
    tcase_add_test(tcase, pieces_of_texts);
    tcase_add_test(tcase, tables);
    tcase_add_test(tcase, units);
    tcase_add_test(tcase, maps);
    tcase_add_test(tcase, hashes_depend_on_every_byte);
    tcase_add_test(tcase, dimension_product_overflow);
    tcase_add_test(tcase, multiply_high);
    tcase_add_test(tcase, doubles_round_trip);
    tcase_add_test(tcase, doubles_ignore_the_locale);
    tcase_add_test(tcase, doubles_agree_with_strtod);
    tcase_add_test(tcase, doubles_at_range_limits);
    tcase_add_test(tcase, formatted_doubles_agree_with_printf);
    tcase_add_test(tcase, exact_digits_agree_with_printf);
    tcase_add_test(tcase, integers);
    tcase_add_test(tcase, files);
    suite_add_tcase(suite, tcase);
    return check_run(suite);
}
