/*
 * Tests of type: element types and their codes, layouts, shapes and views.
 */
#include "type/type.h"

#include "check_quiet.h"
#include <math.h>

static uint64_t bits_of(double v)
{
    uint64_t u;
    memcpy(&u, &v, sizeof u);
    return u;
}

START_TEST(element_type_names)
{
    for (int t = 0; t < DT_TUPLE; t++)
        ck_assert_int_eq(dtype_find(str_of(dtype_spelling((enum dtype)t))), t);
    ck_assert_int_eq(dtype_find(STR("tuple")), DT_INVALID);
    ck_assert_int_eq(dtype_find(STR("buffer")), DT_INVALID);
    ck_assert_int_eq(dtype_find(STR("F32")), DT_INVALID);
    ck_assert_int_eq(dtype_find(STR("f320")), DT_INVALID);
    ck_assert_int_eq(dtype_find(STR("")), DT_INVALID);
    ck_assert_int_eq(dtype_component(DT_C128), DT_F64);
    ck_assert_int_eq(dtype_component(DT_S4), DT_S4);
}
END_TEST

START_TEST(higher_element_type)
{
    static const enum dtype order[] = {
        DT_C128,   DT_C64,      DT_F64,      DT_F32,    DT_BF16,          DT_F8E8M0FNU,
        DT_F16,    DT_F8E5M2,   DT_F8E4M3FN, DT_F8E4M3, DT_F8E4M3B11FNUZ, DT_F6E3M2FN,
        DT_F8E3M4, DT_F6E2M3FN, DT_F4E2M1FN, DT_S64,    DT_U64,           DT_S32,
        DT_S8,     DT_U8,       DT_U4};
    for (size_t i = 0; i < COUNT_OF(order); i++) {
        for (size_t k = i; k < COUNT_OF(order); k++) {
            ck_assert_int_eq(dtype_higher(order[i], order[k]), order[i]);
            ck_assert_int_eq(dtype_higher(order[k], order[i]), order[i]);
        }
    }
    ck_assert_int_eq(dtype_higher(DT_F8E5M2, DT_F8E5M2FNUZ), DT_INVALID);
    ck_assert_int_eq(dtype_higher(DT_F8E4M3, DT_F8E4M3FNUZ), DT_INVALID);
}
END_TEST

/* Every code of every type of at most two bytes survives decoding and encoding. */
START_TEST(codes_round_trip)
{
    for (int i = DT_F4E2M1FN; i <= DT_BF16; i++) {
        enum dtype t = (enum dtype)i;
        const struct float_format *f = float_format(t);
        unsigned width = f->exponent_bits + f->mantissa_bits + (unsigned)(f->specials != FS_FNU);
        for (uint64_t code = 0; code < UINT64_C(1) << width; code++) {
            double v = float_decode(t, code);
            ck_assert_int_eq(isnan(v), float_code_is_nan(t, code));
            uint64_t back = float_encode(t, v);
            if (!isnan(v))
                ck_assert_msg(back == code, "%s code %x: %g", dtype_spelling(t), (unsigned)code, v);
            else
                ck_assert(float_code_is_nan(t, back) &&
                          (f->specials == FS_FNU || back >> (width - 1) == code >> (width - 1)));
            char bytes[8] = {0};
            float_store(t, bytes, v);
            ck_assert(isnan(v) ? isnan(float_load(t, bytes))
                               : bits_of(float_load(t, bytes)) == bits_of(v));
        }
    }
}
END_TEST

/* Between neighboring codes: values on either side of the midpoint round to that side, the midpoint
 * to the even code. */
START_TEST(codes_round_to_nearest_even)
{
    for (int i = DT_F4E2M1FN; i <= DT_BF16; i++) {
        enum dtype t = (enum dtype)i;
        if (t == DT_F8E8M0FNU)
            continue;
        for (uint64_t code = 0;
             float_decode(t, code + 1) <= float_max(t) && float_decode(t, code + 1) > 0; code++) {
            double low = float_decode(t, code), high = float_decode(t, code + 1),
                   middle = (low + high) / 2;
            ck_assert_uint_eq(float_encode(t, nextafter(middle, 0)), code);
            ck_assert_uint_eq(float_encode(t, nextafter(middle, INFINITY)), code + 1);
            ck_assert_uint_eq(float_encode(t, middle), code + (code & 1));
        }
    }
}
END_TEST

struct rounding {
    enum dtype type;
    double value;
    uint64_t code;
};

/* grammar/values.md 2, and constants of six-bit types as printed by XLA. */
START_TEST(codes_at_range_limits)
{
    static const struct rounding cases[] = {
        {DT_F8E5M2, 61439, 0x7b},
        {DT_F8E5M2, 61440, 0x7c},
        {DT_F8E5M2, -1e300, 0xfc},
        {DT_F8E5M2, NAN, 0x7e},
        {DT_F8E5M2, 1.125 + 0x1p-40, 0x3d},
        {DT_F8E5M2, 0x1p-17, 0},
        {DT_F8E5M2, -0x1p-1050, 0x80},
        {DT_F8E4M3, 247.9, 0x77},
        {DT_F8E4M3, 248, 0x78},
        {DT_F8E4M3, -INFINITY, 0xf8},
        {DT_F8E4M3, NAN, 0x7c},
        {DT_F8E4M3FN, 464, 0x7e},
        {DT_F8E4M3FN, 465, 0x7f},
        {DT_F8E4M3FN, -INFINITY, 0xff},
        {DT_F8E4M3FN, NAN, 0x7f},
        {DT_F8E4M3B11FNUZ, 30, 0x7f},
        {DT_F8E4M3B11FNUZ, 31, 0x80},
        {DT_F8E4M3B11FNUZ, -1e-20, 0},
        {DT_F8E4M3B11FNUZ, NAN, 0x80},
        {DT_F8E4M3FNUZ, 247.9, 0x7f},
        {DT_F8E4M3FNUZ, 248, 0x80},
        {DT_F8E4M3FNUZ, -0.0, 0},
        {DT_F8E5M2FNUZ, 61439, 0x7f},
        {DT_F8E5M2FNUZ, 61440, 0x80},
        {DT_F8E5M2FNUZ, INFINITY, 0x80},
        {DT_F8E3M4, 15.5, 0x6f},
        {DT_F8E3M4, 15.75, 0x70},
        {DT_F8E3M4, NAN, 0x78},
        {DT_F4E2M1FN, 0.25, 0},
        {DT_F4E2M1FN, 0.75, 2},
        {DT_F4E2M1FN, 5, 6},
        {DT_F4E2M1FN, 1e9, 7},
        {DT_F4E2M1FN, -INFINITY, 0xf},
        {DT_F4E2M1FN, NAN, 8},
        {DT_F6E2M3FN, 0.0625, 0},
        {DT_F6E2M3FN, 1e9, 0x1f},
        {DT_F6E2M3FN, -INFINITY, 0x3f},
        {DT_F6E2M3FN, NAN, 0x20},
        {DT_F6E2M3FN, 0.1875, 2},
        {DT_F6E3M2FN, 0.03125, 0},
        {DT_F6E3M2FN, 30, 0x1f},
        {DT_F6E3M2FN, NAN, 0x20},
        {DT_F8E8M0FNU, 1.5, 128},
        {DT_F8E8M0FNU, 3, 129},
        {DT_F8E8M0FNU, 6, 130},
        {DT_F8E8M0FNU, 0.75, 127},
        {DT_F8E8M0FNU, 1.49, 127},
        {DT_F8E8M0FNU, 0x1.7ffp127, 254},
        {DT_F8E8M0FNU, 0x1.8p127, 255},
        {DT_F8E8M0FNU, 0, 255},
        {DT_F8E8M0FNU, -1, 255},
        {DT_F8E8M0FNU, INFINITY, 255},
        {DT_F8E8M0FNU, 1e-300, 0},
        {DT_F16, 65519.99, 0x7bff},
        {DT_F16, 65520, 0x7c00},
        {DT_F16, 0x1p-25, 0},
        {DT_F16, 0x1.001p-25, 1},
        {DT_F16, 0x1.003ffffffffffp-14, 0x0401},
        {DT_BF16, 1.00390625, 0x3f80},
        {DT_BF16, 1.01171875, 0x3f82},
        {DT_BF16, 1.00390625 + 0x1p-40, 0x3f81},
        {DT_BF16, 3.4e38, 0x7f80},
        {DT_F32, 1e39, 0x7f800000},
        {DT_F32, 0.1, 0x3dcccccd},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct rounding *c = &cases[i];
        ck_assert_msg(float_encode(c->type, c->value) == c->code,
                      "%s of %a: %" PRIx64 ", not %" PRIx64, dtype_spelling(c->type), c->value,
                      float_encode(c->type, c->value), c->code);
    }
    static const struct {
        enum dtype type;
        double max;
    } max[] = {{DT_F8E5M2, 57344},    {DT_F8E5M2FNUZ, 57344},   {DT_F8E4M3, 240},
               {DT_F8E4M3FNUZ, 240},  {DT_F8E4M3FN, 448},       {DT_F8E4M3B11FNUZ, 30},
               {DT_F8E3M4, 15.5},     {DT_F8E8M0FNU, 0x1p127},  {DT_F4E2M1FN, 6},
               {DT_F6E2M3FN, 7.5},    {DT_F6E3M2FN, 28},        {DT_F16, 65504},
               {DT_BF16, 0x1.fep127}, {DT_F32, 0x1.fffffep127}, {DT_F64, 0x1.fffffffffffffp1023}};
    for (size_t i = 0; i < COUNT_OF(max); i++)
        ck_assert_double_eq(float_max(max[i].type), max[i].max);
}
END_TEST

/* The fast conversion to bf16 against the general one, on floats of every exponent. */
START_TEST(fast_bf16_conversion)
{
    for (uint64_t u = 0; u < UINT64_C(1) << 32; u += 9973) {
        uint32_t bits = (uint32_t)u;
        float f;
        memcpy(&f, &bits, sizeof f);
        ck_assert_uint_eq(f32_to_bf16(f), float_encode(DT_BF16, (double)f));
    }
}
END_TEST

static const struct layout *plain_layout(struct arena *a, int rank, const int64_t *order,
                                         struct layout *l)
{
    *l = *layout_default(a, 0);
    l->rank = rank;
    l->minor_to_major = order;
    return l;
}

static void check_text(struct arena *a, const struct shape *s, const char *bare, const char *full)
{
    struct buf out = {0};
    shape_print(&out, s, true);
    ck_assert_str_eq(out.data, full);
    ck_assert_str_eq(shape_text(a, s).ptr, bare);
    const struct shape *copy = shape_copy(a, s);
    ck_assert(shape_equal(s, copy, 0));
    out.size = 0;
    shape_print(&out, copy, true);
    ck_assert_str_eq(out.data, full);
    buf_free(&out);
}

START_TEST(shape_printing)
{
    struct arena a;
    arena_init(&a);
    const int64_t dims[] = {2, 3, DIM_UNBOUNDED}, order[] = {0, 1};
    const bool flags[] = {false, true, true};
    const struct shape *matrix = shape_array(&a, DT_F32, 2, dims, NULL, NULL);
    check_text(&a, matrix, "f32[2,3]", "f32[2,3]{1,0}");
    check_text(&a, shape_array(&a, DT_S4, 3, dims, flags, NULL), "s4[2,<=3,?]",
               "s4[2,<=3,?]{2,1,0}");
    check_text(&a, shape_scalar(&a, DT_PRED), "pred[]", "pred[]");
    check_text(&a, shape_token(), "token[]", "token[]");
    check_text(&a, shape_buffer(&a, matrix), "b(f32[2,3])", "b(f32[2,3]{1,0})");
    const struct shape *parts[7] = {shape_scalar(&a, DT_F32),
                                    matrix,
                                    shape_token(),
                                    shape_opaque(),
                                    shape_scalar(&a, DT_C64),
                                    shape_scalar(&a, DT_U1),
                                    shape_tuple(&a, 0, NULL)};
    check_text(&a, shape_tuple(&a, 7, parts),
               "(f32[], f32[2,3], token[], opaque[], c64[], /*index=5*/u1[], ())",
               "(f32[], f32[2,3]{1,0}, token[], opaque[], c64[], /*index=5*/u1[], ())");
    struct layout l;
    plain_layout(&a, 2, order, &l);
    const int64_t sizes[] = {8, TILE_COMBINE}, cuts[] = {1, 2};
    const struct tile tiles[] = {{2, sizes}, {0, NULL}};
    const struct split_config splits[] = {{0, 2, cuts}, {1, 1, cuts}};
    l.tile_count = 2, l.tiles = tiles, l.tail_padding = 3, l.index_type = DT_U32,
    l.pointer_type = DT_TUPLE;
    l.element_bits = 4, l.memory_space = 1, l.split_count = 2, l.splits = splits,
    l.metadata_prefix = 16;
    check_text(&a, shape_array(&a, DT_F32, 2, dims, NULL, &l), "f32[2,3]",
               "f32[2,3]{0,1:T(8,*)()L(3)#(u32)*(invalid)E(4)S(1)SC(0:1,2)(1:1)M(16)}");
    struct layout scalar = *layout_default(&a, 0);
    scalar.memory_space = 5;
    check_text(&a, shape_array(&a, DT_F32, 0, NULL, NULL, &scalar), "f32[]", "f32[]{:S(5)}");
    arena_free(&a);
}
END_TEST

START_TEST(sizes)
{
    struct arena a;
    arena_init(&a);
    int64_t dims[] = {2, 3, 4}, n;
    const struct shape *s = shape_array(&a, DT_BF16, 3, dims, NULL, NULL);
    ck_assert(shape_elements(s, &n) && n == 24);
    ck_assert(shape_bytes(s, &n) && n == 48);
    const struct shape *pair[] = {s, shape_scalar(&a, DT_C128)};
    const struct shape *inner[] = {shape_tuple(&a, 2, pair), shape_token()};
    const struct shape *tuple = shape_tuple(&a, 2, inner);
    ck_assert(shape_bytes(tuple, &n) && n == 64);
    ck_assert(!shape_elements(tuple, &n));
    ck_assert_int_eq(shape_leaf_count(tuple), 3);
    int64_t path[] = {0, 1};
    ck_assert_int_eq(shape_at(tuple, path, 2)->dtype, DT_C128);
    ck_assert_ptr_eq(shape_at(tuple, path, 0), tuple);
    path[1] = 2;
    ck_assert_ptr_null(shape_at(tuple, path, 2));
    int64_t huge[] = {INT64_C(1) << 40, INT64_C(1) << 40, 0};
    ck_assert(!shape_elements(shape_array(&a, DT_S8, 2, huge, NULL, NULL), &n));
    ck_assert(shape_elements(shape_array(&a, DT_S8, 3, huge, NULL, NULL), &n) && n == 0);
    int64_t wide[] = {INT64_C(1) << 61};
    ck_assert(!shape_bytes(shape_array(&a, DT_F64, 1, wide, NULL, NULL), &n));
    int64_t open[] = {DIM_UNBOUNDED};
    bool flag[] = {true};
    const struct shape *unbounded = shape_array(&a, DT_F64, 1, open, flag, NULL);
    ck_assert(!shape_elements(unbounded, &n));
    ck_assert(shape_has_unbounded(unbounded) && shape_has_dynamic(unbounded) &&
              !shape_has_dynamic(s));
    arena_free(&a);
}
END_TEST

START_TEST(shape_equality)
{
    struct arena a;
    arena_init(&a);
    int64_t dims[] = {2, 3}, open[] = {2, DIM_UNBOUNDED}, order[] = {0, 1};
    bool flags[] = {false, true};
    struct layout l;
    const struct shape *s = shape_array(&a, DT_F32, 2, dims, NULL, NULL);
    const struct shape *dynamic = shape_array(&a, DT_F32, 2, dims, flags, NULL);
    const struct shape *unbounded = shape_array(&a, DT_F32, 2, open, flags, NULL);
    const struct shape *turned =
        shape_array(&a, DT_F32, 2, dims, NULL, plain_layout(&a, 2, order, &l));
    const struct shape *half = shape_with_dtype(&a, s, DT_F16),
                       *whole = shape_with_dtype(&a, s, DT_S32);
    ck_assert(!shape_equal(s, dynamic, 0) && shape_equal(s, dynamic, IGNORE_DYNAMIC));
    ck_assert(!shape_equal(s, turned, 0) && !shape_equal(s, turned, SHAPE_MTM_ONLY) &&
              shape_compatible(s, turned));
    ck_assert(shape_compatible(s, unbounded) && !shape_equal(s, unbounded, IGNORE_DYNAMIC));
    ck_assert(!shape_compatible(s, half) && shape_compatible_fp(s, half) &&
              !shape_compatible_fp(s, whole));
    ck_assert(shape_compatible_any(s, whole) && shape_same_dims(s, whole));
    const struct shape *one[] = {s};
    ck_assert(!shape_compatible_any(shape_tuple(&a, 1, one), s));
    ck_assert(shape_compatible_any(shape_tuple(&a, 1, one), shape_tuple(&a, 1, &half)));
    ck_assert(!shape_compatible_any(shape_token(), shape_opaque()));
    struct layout tiled = *s->layout;
    tiled.memory_space = 1;
    const struct shape *elsewhere = shape_with_layout(&a, s, &tiled);
    ck_assert(!shape_equal(s, elsewhere, 0) && shape_equal(s, elsewhere, IGNORE_MEMORY_SPACE));
    ck_assert(shape_equal(s, elsewhere, SHAPE_MTM_ONLY));
    tiled.element_bits = 4;
    const struct shape *narrow = shape_with_layout(&a, shape_with_dtype(&a, s, DT_S4), &tiled);
    ck_assert_int_eq(shape_with_dtype(&a, narrow, DT_U4)->layout->element_bits, 4);
    ck_assert_int_eq(shape_with_dtype(&a, narrow, DT_S8)->layout->element_bits, 0);
    ck_assert_int_eq(shape_with_dtype(&a, narrow, DT_S8)->layout->memory_space, 1);
    arena_free(&a);
}
END_TEST

START_TEST(layouts)
{
    struct arena a;
    arena_init(&a);
    for (int rank = 0; rank < 12; rank++) {
        const struct layout *l = layout_default(&a, rank);
        ck_assert(l->rank == rank && layout_is_default(l));
        for (int d = 0; d < rank; d++)
            ck_assert_int_eq(l->minor_to_major[d], rank - 1 - d);
    }
    int64_t dims[] = {4, 6}, order[] = {0, 1};
    const struct shape *s = shape_array(&a, DT_F32, 2, dims, NULL, NULL);
    struct layout l;
    plain_layout(&a, 2, order, &l);
    ck_assert(!layout_is_descending(&l));
    ck_assert_ptr_null(layout_problem(&l, s));
    int64_t cuts[] = {2, 4};
    struct split_config split = {0, 2,
                                 cuts}; /* the most major dimension: order[1] is 1, of size 6 */
    l.split_count = 1, l.splits = &split;
    ck_assert_ptr_null(layout_problem(&l, s));
    split.dimension = 1; /* of size 4 */
    ck_assert_ptr_nonnull(layout_problem(&l, s));
    split.dimension = 2;
    ck_assert_ptr_nonnull(layout_problem(&l, s));
    l.split_count = 0;
    order[0] = 1;
    ck_assert_ptr_nonnull(layout_problem(&l, s));
    order[0] = 0;
    int64_t size = 0;
    struct tile tile = {1, &size};
    l.tile_count = 1, l.tiles = &tile;
    ck_assert_ptr_nonnull(layout_problem(&l, s));
    size = TILE_COMBINE;
    ck_assert_ptr_null(layout_problem(&l, s));
    l.element_bits = -1;
    ck_assert_ptr_nonnull(layout_problem(&l, s));
    l.element_bits = 0, l.index_type = DT_U32;
    ck_assert_ptr_nonnull(layout_problem(&l, s));
    arena_free(&a);
}
END_TEST

START_TEST(views)
{
    const int64_t dims[] = {2, 1, 3};
    float data[6];
    struct view v;
    view_dense(&v, DT_F32, 3, dims, data);
    ck_assert_int_eq(v.strides[0], 12);
    ck_assert_int_eq(view_elements(&v), 6);
    ck_assert(view_is_dense(&v));
    v.strides[1] = -100;
    ck_assert(view_is_dense(&v));
    int64_t index[3] = {0}, n = 0;
    do {
        ck_assert_ptr_eq(view_at(&v, index), (char *)(data + n));
        n++;
    } while (index_next(3, v.dims, index));
    ck_assert_int_eq(n, 6);
    v.strides[2] = 8;
    ck_assert(!view_is_dense(&v));
    v.dims[0] = 0;
    ck_assert(view_is_dense(&v));
}
END_TEST

START_TEST(empty_views)
{
    const int64_t dims[] = {INT64_MAX, 0, INT64_MAX};
    struct view v;
    view_dense(&v, DT_C128, 3, dims, NULL);
    ck_assert_int_eq(view_elements(&v), 0);
    ck_assert(view_is_dense(&v));
    for (int d = 0; d < 3; d++)
        ck_assert_int_eq(v.strides[d], 0);
}
END_TEST

/* Components without leaves are skipped. */
START_TEST(components_by_leaf)
{
    struct arena a;
    arena_init(&a);
    const struct shape *f = shape_scalar(&a, DT_F32), *none = shape_tuple(&a, 0, NULL);
    const struct shape *two = shape_tuple(&a, 2, (const struct shape *[]){f, f});
    const struct shape *flat = shape_tuple(&a, 3, (const struct shape *[]){f, f, f});
    const struct shape *all =
        shape_tuple(&a, 5, (const struct shape *[]){none, two, none, f, none});
    static const int components[] = {1, 1, 3}, leaves[] = {0, 1, 0};
    for (int64_t k = 0; k < 3; k++) {
        int64_t leaf = k;
        ck_assert_int_eq(shape_component_of(all, &leaf), components[k]);
        ck_assert_int_eq(leaf, leaves[k]);
        leaf = k;
        ck_assert_int_eq(shape_component_of(flat, &leaf), k);
        ck_assert_int_eq(leaf, 0);
    }
    arena_free(&a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("type");
    TCase *tcase = tcase_create("type");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, element_type_names);
    tcase_add_test(tcase, higher_element_type);
    tcase_add_test(tcase, codes_round_trip);
    tcase_add_test(tcase, codes_round_to_nearest_even);
    tcase_add_test(tcase, codes_at_range_limits);
    tcase_add_test(tcase, fast_bf16_conversion);
    tcase_add_test(tcase, shape_printing);
    tcase_add_test(tcase, sizes);
    tcase_add_test(tcase, components_by_leaf);
    tcase_add_test(tcase, shape_equality);
    tcase_add_test(tcase, layouts);
    tcase_add_test(tcase, views);
    tcase_add_test(tcase, empty_views);
    suite_add_tcase(suite, tcase);
    return check_run(suite);
}
