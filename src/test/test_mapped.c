/*
 * Property of arguments in the caller's memory: results are bitwise identical at any address
 * aligned for the type; the memory is not written, even by in-place updates; and it is released.
 */
#include "hlo_advanced.h"

#include "base/base.h"
#include "check_quiet.h"

#include <stdlib.h>

static const char *const bodies[] = {
    "ENTRY e { a = f32[37,65] parameter(0) b = f32[65,41] parameter(1)\n"
    "  ROOT r = f32[37,41] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
    "ENTRY e { a = bf16[3,70] parameter(0) b = bf16[70] parameter(1)\n"
    "  ROOT r = bf16[3] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
    "ENTRY e { a = f32[1,2051] parameter(0) b = f32[2051,67] parameter(1)\n"
    "  ROOT r = f32[1,67] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
    "ENTRY e { a = s8[33,64] parameter(0) b = s8[64,35] parameter(1)\n"
    "  ROOT r = s32[33,35] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
    "ENTRY e { a = f64[37,65] parameter(0) b = f64[65,41] parameter(1)\n"
    "  ROOT r = f64[37,41] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
    "ENTRY e { a = f32[2,15,15,9] parameter(0) b = f32[3,3,9,17] parameter(1)\n"
    "  ROOT r = f32[2,13,13,17] convolution(a, b), window={size=3x3}, dim_labels=b01f_01io->b01f }",
    "ENTRY e { a = f32[2,15,15,24] parameter(0) b = f32[3,3,1,24] parameter(1)\n"
    "  ROOT r = f32[2,13,13,24] convolution(a, b), window={size=3x3}, dim_labels=b01f_01io->b01f, "
    "feature_group_count=24 }",
    "add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }\n"
    "ENTRY e { a = f32[67,129] parameter(0) b = f32[] parameter(1)\n"
    "  ROOT r = f32[67] reduce(a, b), dimensions={1}, to_apply=add }",
    "add { x = bf16[] parameter(0) y = bf16[] parameter(1) ROOT s = bf16[] add(x, y) }\n"
    "ENTRY e { a = bf16[67,129] parameter(0) b = bf16[] parameter(1)\n"
    "  ROOT r = bf16[129] reduce(a, b), dimensions={0}, to_apply=add }",
    "ENTRY e { a = f32[67,129] parameter(0) b = f32[67,129] parameter(1) c = f32[67,129] add(a, b) "
    "d = f32[67,129] tanh(c)\n"
    "  ROOT r = f32[129,67] transpose(d), dimensions={1,0} }",
    "ENTRY e { a = f64[1027] parameter(0) b = f64[1027] parameter(1) c = f64[1027] exponential(a)\n"
    "  ROOT r = f64[1027] power(c, b) }",
    "ENTRY e { a = c64[513] parameter(0) b = c64[513] parameter(1) ROOT r = c64[513] multiply(a, "
    "b) }",
    "ENTRY e { a = c64[1024] parameter(0) b = f32[] parameter(1) ROOT r = c64[1024] fft(a), "
    "fft_type=FFT, fft_length={1024} }",
    "lt { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = pred[] compare(x, y), "
    "direction=LT }\n"
    "ENTRY e { a = f32[5000] parameter(0) b = f32[] parameter(1) ROOT r = f32[5000] sort(a), "
    "dimensions={0}, to_apply=lt }",
    "ENTRY e { a = f32[300,33] parameter(0) b = s32[70] parameter(1)\n"
    "  ROOT r = f32[70,33] gather(a, b), offset_dims={1}, collapsed_slice_dims={0}, "
    "start_index_map={0}, index_vector_dim=1,"
    " slice_sizes={1,33} }",
    "ENTRY e { a = f16[99,31] parameter(0) b = f16[] parameter(1) c = f16[103,35] pad(a, b), "
    "padding=2_2x1_3\n"
    "  ROOT r = f32[103,35] convert(c) }",
    "ENTRY e { a = f32[5000] parameter(0) b = f32[7] parameter(1) i = s32[] constant(9)\n"
    "  ROOT r = f32[5000] dynamic-update-slice(a, b, i) }",
    "more { t = (s32[], f32[500,9]) parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] "
    "constant(20)\n"
    "  ROOT r = pred[] compare(i, n), direction=LT }\n"
    "row { t = (s32[], f32[500,9]) parameter(0) i = s32[] get-tuple-element(t), index=0 o = s32[] "
    "constant(1)\n"
    "  a = f32[500,9] get-tuple-element(t), index=1 z = s32[] constant(0) j = s32[] add(i, o)\n"
    "  b = f32[1,9] dynamic-slice(a, i, z), dynamic_slice_sizes={1,9} c = f32[1,9] add(b, b)\n"
    "  d = f32[500,9] dynamic-update-slice(a, c, i, z) ROOT r = (s32[], f32[500,9]) tuple(j, d) }\n"
    "ENTRY e { a = f32[500,9] parameter(0) b = s32[] parameter(1) t = (s32[], f32[500,9]) tuple(b, "
    "a)\n"
    "  w = (s32[], f32[500,9]) while(t), condition=more, body=row ROOT r = f32[500,9] "
    "get-tuple-element(w), index=1 }",
    "add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }\n"
    "ENTRY e { a = f32[600,8] parameter(0) b = f32[3,8] parameter(1) i = s32[3,1] constant({{5}, "
    "{1}, {5}})\n"
    "  ROOT r = f32[600,8] scatter(a, i, b), update_window_dims={1}, inserted_window_dims={0},"
    " scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add }",
    "// peers: param=0 range=0,1 eye=50\nENTRY e { a = f32[40,40] parameter(0) b = f32[40,3] "
    "parameter(1)\n"
    "  ROOT r = f32[40,3] triangular-solve(a, b), left_side=true, lower=true, "
    "transpose_a=NO_TRANSPOSE }",
};

static size_t released;

static void release(void *context)
{
    released++;
    free(context);
}

/* A copy `elements` elements after a 64-byte boundary. */
static hlo_literal *moved(const hlo_literal *l, size_t elements, hlo_messages *m)
{
    struct hlo_array a = hlo_literal_leaf(l, 0);
    size_t part = *a.dtype == 'c' ? a.element_size / 2 : a.element_size,
           size = a.elements * a.element_size;
    char *storage = aligned_alloc(64, (size + elements * part + 127) / 64 * 64);
    memcpy(storage + elements * part, a.data, size);
    return hlo_literal_map(a.dtype, a.rank, a.dims, storage + elements * part, release, storage, m);
}

START_TEST(results_do_not_depend_on_alignment)
{
    hlo_messages *m = hlo_messages_new();
    struct buf text = {0};
    buf_printf(&text, "HloModule m\n%s\n", bodies[_i]);
    hlo_file *f = hlo_file_of_text("m", text.data, text.size, false);
    hlo_module *module = hlo_parse(f, 0, m);
    struct hlo_run_options options = {.size = sizeof options, .seed = 1, .threads = 1};
    hlo_program *p = module && hlo_verify(module, m) ? hlo_plan(module, &options, m) : NULL;
    hlo_text messages = hlo_messages_draw(m, false);
    ck_assert_msg(p != NULL, "%s", messages.data);
    hlo_text_free(&messages);
    hlo_literal *args[2] = {hlo_random_param(module, 0, 3, m), hlo_random_param(module, 1, 3, m)};
    hlo_literal *expected = hlo_run(p, (const hlo_literal *const *)args, 2, m);
    ck_assert_ptr_nonnull(expected);
    for (size_t k = 0; k < 9; k++) {
        hlo_literal *lent[2] = {moved(args[0], k / 3, m), moved(args[1], k % 3, m)};
        hlo_literal *result = hlo_run(p, (const hlo_literal *const *)lent, 2, m);
        ck_assert(result && hlo_literal_compare(result, expected,
                                                &HLO_WITH(hlo_tolerance, .bits = true), NULL));
        for (size_t i = 0; i < 2; i++) {
            ck_assert(hlo_literal_compare(lent[i], args[i], &HLO_WITH(hlo_tolerance, .bits = true),
                                          NULL));
            released = 0;
            hlo_literal_free(lent[i]);
            ck_assert_uint_eq(released, 1);
        }
        hlo_literal_free(result);
    }
    hlo_literal_free(expected);
    hlo_literal_free(args[0]);
    hlo_literal_free(args[1]);
    hlo_program_free(p);
    hlo_module_free(module);
    hlo_file_free(f);
    hlo_messages_free(m);
    buf_free(&text);
}
END_TEST

START_TEST(rejected_memory)
{
    hlo_messages *m = hlo_messages_new();
    _Alignas(8) char storage[16] = {0};
    int64_t dims[2] = {INT64_MAX / 4, INT64_MAX / 4};
    released = 0;
    ck_assert_ptr_null(hlo_literal_map("f32", 1, (int64_t[]){2}, storage + 2, release, NULL, m));
    ck_assert_ptr_null(hlo_literal_map("f33", 1, (int64_t[]){2}, storage, release, NULL, m));
    ck_assert_ptr_null(hlo_literal_map("f32", 2, dims, storage, release, NULL, m));
    ck_assert_uint_eq(hlo_messages_errors(m), 3);
    ck_assert_uint_eq(released, 0);
    hlo_literal *parts[2] = {
        hlo_literal_map("c64", 1, (int64_t[]){1}, storage + 4, release, NULL, m),
        hlo_literal_map("u8", 1, (int64_t[]){1}, storage + 1, NULL, NULL, m)};
    hlo_literal *tuple = hlo_literal_tuple(parts, 2); /* takes them over */
    ck_assert_ptr_eq(hlo_literal_leaf(tuple, 0).data, storage + 4);
    ck_assert_uint_eq(released, 0);
    hlo_literal_free(tuple);
    ck_assert_uint_eq(released, 1);
    hlo_messages_free(m);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("mapped");
    TCase *t = tcase_create("mapped");
    tcase_add_loop_test(t, results_do_not_depend_on_alignment, 0, COUNT_OF(bodies));
    tcase_add_test(t, rejected_memory);
    suite_add_tcase(s, t);
    return check_run(s);
}
