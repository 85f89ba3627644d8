/*
 * Tests of listings: numbers, operands and users, callers, locations, stack frames, costs.
 */
#include "hlo_advanced.h"

#include "check_quiet.h"
#include <stdlib.h>
#include <string.h>

static const char text[] =
    "HloModule m\n"
    "FileNames\n1 \"a.py\"\n2 \"b.py\"\n"
    "FunctionNames\n1 \"inner\"\n2 \"outer\"\n"
    "FileLocations\n1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=3 end_column=9}\n"
    "2 {file_name_id=2 function_name_id=2 line=40 end_line=40 column=1 end_column=2}\n"
    "StackFrames\n1 {file_location_id=2 parent_frame_id=1}\n2 {file_location_id=1 "
    "parent_frame_id=2}\n"
    "\n"
    "double {\n"
    "  x = f32[4] parameter(0)\n"
    "  ROOT y = f32[4] add(x, x)\n"
    "}\n"
    "ENTRY main {\n"
    "  p = f32[4] parameter(0)\n"
    "  x = f32[4] call(p), to_apply=double\n"
    "  q = f32[4] call(p), to_apply=double, metadata={op_name=\"jit(f)/q\" stack_frame_id=2}\n"
    "  ROOT r = f32[4] multiply(x, q)\n"
    "}\n";

static hlo_messages *m;
static hlo_module *module;
static hlo_listing *l;

static void set_up(void)
{
    m = hlo_messages_new();
    hlo_file *f = hlo_file_of_text("list.hlo", text, strlen(text), false);
    module = hlo_parse(f, 0, m);
    ck_assert_ptr_nonnull(module);
    l = hlo_list(module);
    hlo_file_free(f);
}

static void tear_down(void)
{
    hlo_listing_free(l);
    hlo_module_free(module);
    hlo_messages_free(m);
}

START_TEST(callees_precede_callers)
{
    ck_assert_uint_eq(hlo_list_computations(l), 2);
    ck_assert_uint_eq(hlo_list_count(l), 6);
    struct hlo_listed_computation f = hlo_list_computation(l, 0), main = hlo_list_computation(l, 1);
    ck_assert_str_eq(f.name, "double");
    ck_assert_str_eq(main.name, "main");
    ck_assert(!f.entry && main.entry);
    ck_assert_uint_eq(f.count, 2);
    ck_assert_uint_eq(main.first, 2);
    ck_assert_uint_eq(main.root, 5);
    ck_assert_uint_eq(f.caller_count, 2);
    ck_assert_uint_eq(f.callers[0], 3);
    ck_assert_uint_eq(f.callers[1], 4);
    ck_assert_uint_eq(main.parameters[0], 2);
    ck_assert_uint_eq(main.line, 18 + 1);
}
END_TEST

START_TEST(instruction_properties)
{
    struct hlo_listed y = hlo_list_inst(l, 1), r = hlo_list_inst(l, 5), p = hlo_list_inst(l, 2);
    ck_assert_str_eq(y.op, "add");
    ck_assert_uint_eq(y.operand_count, 2);
    ck_assert_uint_eq(y.operands[1], 0);
    ck_assert_uint_eq(hlo_list_inst(l, 0).user_count, 1); /* used twice by the same instruction */
    ck_assert_uint_eq(p.user_count, 2);
    ck_assert_int_eq(p.parameter, 0);
    ck_assert_int_eq(r.parameter, -1);
    ck_assert_str_eq(r.shape, "f32[4]{0}");
    ck_assert_uint_eq(hlo_list_inst(l, 3).callees[0], 0);
    ck_assert_uint_eq(r.line, 23);
    ck_assert_uint_eq(r.column, 3);
}
END_TEST

START_TEST(lookup_by_name)
{
    ck_assert_int_eq(hlo_list_find(l, "q"), 4);
    ck_assert_int_eq(hlo_list_find(l, "%x"), 3); /* that of the entry computation */
    ck_assert_int_eq(hlo_list_find(l, "double/x"), 0);
    ck_assert_int_eq(hlo_list_find(l, "y"), 1);
    ck_assert_int_eq(hlo_list_find(l, "double/q"), -1);
    ck_assert_int_eq(hlo_list_find(l, "unknown"), -1);
    ck_assert_int_eq(hlo_list_find_computation(l, "main"), 1);
    ck_assert_int_eq(hlo_list_find_computation(l, "unknown"), -1);
}
END_TEST

START_TEST(source_locations_and_stack_frames)
{
    struct hlo_frame f;
    struct hlo_listed q = hlo_list_inst(l, 4);
    ck_assert_str_eq(q.where, "a.py:7");
    ck_assert_str_eq(q.op_name, "jit(f)/q");
    ck_assert(hlo_list_frame(l, 4, 0, &f));
    ck_assert_str_eq(f.function, "inner");
    ck_assert_int_eq(f.column, 3);
    ck_assert(hlo_list_frame(l, 4, 1, &f));
    ck_assert_str_eq(f.file, "b.py");
    ck_assert_int_eq(f.line, 40);
    ck_assert(!hlo_list_frame(l, 4, 2, &f));
    ck_assert(!hlo_list_frame(l, 5, 0, &f));
    ck_assert_str_eq(hlo_list_inst(l, 5).where, "");
}
END_TEST

START_TEST(lines_and_costs)
{
    hlo_text t = hlo_list_print(l, 5, HLO_PRINT_SHORT);
    ck_assert_str_eq(t.data, "r = f32[4]{0} multiply(x.1, q)");
    hlo_text_free(&t);
    ck_assert_double_eq(hlo_list_cost(l, 5).operations, 4);
    ck_assert_double_eq(hlo_list_cost(l, 5).bytes, 48);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("list");
    TCase *t = tcase_create("list");
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, callees_precede_callers);
    tcase_add_test(t, instruction_properties);
    tcase_add_test(t, lookup_by_name);
    tcase_add_test(t, source_locations_and_stack_frames);
    tcase_add_test(t, lines_and_costs);
    suite_add_tcase(s, t);
    return check_run(s);
}
