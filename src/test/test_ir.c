/*
 * Tests of ir on modules built by calls: literals, attributes, orders and names.
 */
#include "ir/ir.h"

#include "check_quiet.h"
#include <math.h>
#include <stdio.h>

static struct inst *add(struct computation *c, enum opcode op, const char *name, int n, ...)
{
    struct inst *operands[8];
    va_list ap;
    va_start(ap, n);
    for (int i = 0; i < n; i++)
        operands[i] = va_arg(ap, struct inst *);
    va_end(ap);
    return inst_new(c, op, str_of(name), shape_scalar(&c->module->arena, DT_F32), n, operands);
}

static void set_computation(struct inst *i, enum attr_id id, struct computation *c)
{
    inst_set_attr(i->parent->module, i, id, (union attr_value){.computation = c}, NO_SPAN);
}

/* A computation that negates its parameter. */
static struct computation *leaf(struct module *m, const char *name)
{
    struct computation *c = computation_new(m, str_of(name));
    add(c, OP_NEGATE, "n", 1, add(c, OP_PARAMETER, "p", 0));
    ck_assert(computation_finish(c));
    return c;
}

static void check_order(const struct computation *c, const char *expected)
{
    struct arena a;
    arena_init(&a);
    struct buf out = {0};
    struct inst **order = computation_order(&a, c);
    for (int i = 0; i < c->inst_count; i++)
        buf_printf(&out, i ? " " STR_FMT : STR_FMT, STR_ARG(order[i]->name));
    ck_assert_str_eq(out.data, expected);
    buf_free(&out);
    arena_free(&a);
}

START_TEST(literals)
{
    struct module *m = module_new();
    struct arena *a = &m->arena;
    int64_t dims[] = {3};
    const struct shape *array = shape_array(a, DT_F32, 1, dims, NULL, NULL);
    const struct shape *parts[] = {array, shape_token(), shape_scalar(a, DT_S8)};
    struct literal *x = literal_new(a, shape_tuple(a, 3, parts));
    module_own_literal(m, x);
    const float *cleared = x->elements[0]->data;
    ck_assert(cleared[0] == 0 && cleared[1] == 0 && cleared[2] == 0);
    ck_assert_int_eq(*(int8_t *)x->elements[2]->data, 0);
    int64_t huge[] = {INT64_C(1) << 40, INT64_C(1) << 40};
    ck_assert_ptr_null(literal_new(a, shape_array(a, DT_F32, 2, huge, NULL, NULL)));
    parts[2] = shape_array(a, DT_F32, 1, (int64_t[]){INT64_C(1) << 61}, NULL, NULL);
    ck_assert_ptr_null(literal_new(a, shape_tuple(a, 3, parts)));
    module_free(m);
}
END_TEST

START_TEST(tuple_literals)
{
    struct arena a;
    arena_init(&a);
    int64_t dims[] = {3};
    struct literal *parts[] = {literal_new(&a, shape_array(&a, DT_F32, 1, dims, NULL, NULL)),
                               literal_tuple(&a, NULL, 0)};
    struct literal *l = literal_tuple(&a, parts, 2);
    ck_assert_int_eq(l->shape->count, 2);
    ck_assert(shape_equal(l->shape->elements[0], parts[0]->shape, 0) &&
              shape_is_tuple(l->shape->elements[1]));
    ck_assert(l->elements[0] == parts[0] && l->elements[1] == parts[1]);
    parts[1] = NULL;
    ck_assert_ptr_null(literal_tuple(&a, parts, 2));
    ck_assert_ptr_null(parts[0]->data); /* released */
    arena_free(&a);
}
END_TEST

START_TEST(attributes_keep_their_order)
{
    struct module *m = module_new();
    struct computation *c = computation_new(m, STR("c"));
    struct inst *i = add(c, OP_GATHER, "g", 0);
    static const enum attr_id ids[] = {
        A_METADATA,        A_SLICE_SIZES,      A_BACKEND_CONFIG,       A_OFFSET_DIMS,
        A_START_INDEX_MAP, A_INDEX_VECTOR_DIM, A_COLLAPSED_SLICE_DIMS, A_CONTROL_PREDECESSORS};
    for (size_t k = 0; k < COUNT_OF(ids); k++)
        inst_set_attr(m, i, ids[k], (union attr_value){.i = (int64_t)k}, (struct span){1, 2});
    inst_set_attr(m, i, A_INDEX_VECTOR_DIM, (union attr_value){.i = 50}, (struct span){3, 4});
    ck_assert_int_eq(i->attr_count, (int)COUNT_OF(ids));
    static const enum attr_id expected[] = {
        A_OFFSET_DIMS, A_COLLAPSED_SLICE_DIMS, A_START_INDEX_MAP,      A_INDEX_VECTOR_DIM,
        A_SLICE_SIZES, A_BACKEND_CONFIG,       A_CONTROL_PREDECESSORS, A_METADATA};
    for (size_t k = 0; k < COUNT_OF(expected); k++)
        ck_assert_int_eq(i->attrs[k].id, expected[k]);
    ck_assert_int_eq(inst_int(i, A_INDEX_VECTOR_DIM, -1), 50);
    ck_assert_uint_eq(inst_attr_span(i, A_INDEX_VECTOR_DIM).begin, 3);
    inst_remove_attr(i, A_INDEX_VECTOR_DIM);
    ck_assert(!inst_has(i, A_INDEX_VECTOR_DIM) && inst_has(i, A_SLICE_SIZES));
    ck_assert_int_eq(inst_int(i, A_INDEX_VECTOR_DIM, -1), -1);
    ck_assert_int_eq(inst_ints(i, A_FFT_LENGTH).count, 0);
    ck_assert_int_eq(inst_window(i).rank, 0);
    ck_assert_uint_eq(inst_str(i, A_CUSTOM_CALL_TARGET).len, 0);
    module_free(m);
}
END_TEST

START_TEST(finishing_computations)
{
    struct module *m = module_new();
    struct computation *outer = computation_new(m, STR("outer"));
    struct computation *inner = leaf(m, "inner");
    ck_assert(!computation_finish(outer));
    struct inst *p1 = add(outer, OP_PARAMETER, "p1", 0);
    p1->number = 1;
    ck_assert(!computation_finish(outer));
    struct inst *p0 = add(outer, OP_PARAMETER, "p0", 0);
    p0->number = 1;
    ck_assert(!computation_finish(outer));
    p0->number = 0;
    ck_assert(computation_finish(outer));
    ck_assert(outer->param_count == 2 && outer->params[0] == p0 && outer->params[1] == p1);
    ck_assert_ptr_eq(outer->root, p0);
    ck_assert(m->computation_count == 2 && m->computations[0] == inner &&
              m->computations[1] == outer);
    for (int i = 0; i < 100; i++)
        leaf(m, "more");
    for (int i = 0; i < m->computation_count; i++)
        ck_assert_int_eq(m->computations[i]->index, i);
    module_free(m);
}
END_TEST

START_TEST(postorder)
{
    struct module *m = module_new();
    struct computation *c = computation_new(m, STR("c"));
    struct inst *a = add(c, OP_PARAMETER, "a", 0);
    struct inst *unused = add(c, OP_NEGATE, "unused", 1, a);
    struct inst *b = add(c, OP_NEGATE, "b", 1, a);
    struct inst *x = add(c, OP_NEGATE, "x", 1, a);
    struct inst *y = add(c, OP_NEGATE, "y", 1, a);
    struct inst *z = add(c, OP_ADD, "z", 2, x, b);
    struct inst *list[] = {y, unused};
    inst_set_attr(m, z, A_CONTROL_PREDECESSORS, (union attr_value){.insts = {2, list}}, NO_SPAN);
    add(c, OP_ADD, "w", 2, z, z);
    ck_assert(computation_finish(c));
    module_link(m);
    ck_assert_int_eq(z->user_count, 2);
    ck_assert_int_eq(unused->user_count, 0);
    check_order(c, "a unused y x b z w");
    m->is_scheduled = true;
    check_order(c, "a unused b x y z w");
    c->fused = true;
    check_order(c, "a unused y x b z w");
    module_free(m);
}
END_TEST

START_TEST(long_chains_without_recursion)
{
    struct module *m = module_new();
    struct computation *c = computation_new(m, STR("c"));
    struct inst *i = add(c, OP_PARAMETER, "p", 0);
    enum { N = 300000 };
    for (int k = 0; k < N; k++)
        i = add(c, OP_ADD, "i", 2, i, i);
    ck_assert(computation_finish(c));
    struct arena a;
    arena_init(&a);
    struct inst **order = computation_order(&a, c);
    for (int k = 0; k <= N; k++)
        ck_assert_ptr_eq(order[k], c->insts[k]);
    arena_free(&a);
    module_free(m);
}
END_TEST

START_TEST(computations_in_printing_order)
{
    struct module *m = module_new();
    struct computation *cond = leaf(m, "cond"), *body = leaf(m, "body"),
                       *select = leaf(m, "select");
    struct computation *fused = leaf(m, "fused"), *shared = leaf(m, "shared"),
                       *alone = leaf(m, "alone");
    struct computation *mid = computation_new(m, STR("mid"));
    set_computation(add(mid, OP_CALL, "k", 0), A_TO_APPLY, shared);
    ck_assert(computation_finish(mid));
    struct computation *entry = computation_new(m, STR("entry"));
    struct inst *loop = add(entry, OP_WHILE, "loop", 0);
    set_computation(loop, A_CONDITION, cond);
    set_computation(loop, A_BODY, body);
    struct inst *cases = add(entry, OP_CONDITIONAL, "cases", 0);
    struct computation *branches[] = {mid, shared, select};
    inst_set_attr(m, cases, A_BRANCH_COMPUTATIONS,
                  (union attr_value){.computations = {3, branches}}, NO_SPAN);
    set_computation(add(entry, OP_FUSION, "f", 0), A_CALLS, fused);
    struct inst *start = add(entry, OP_ASYNC_START, "s", 0);
    set_computation(start, A_CALLS, mid);
    set_computation(add(entry, OP_ASYNC_DONE, "d", 1, start), A_CALLS, mid);
    ck_assert(computation_finish(entry));
    module_link(m);
    ck_assert(fused->fused && !mid->fused);
    ck_assert_ptr_eq(mid->async_start, start);
    ck_assert(computation_is_async_sugar(mid) && !computation_is_async_sugar(fused));
    entry->async_start = start;
    ck_assert(!computation_is_async_sugar(entry));
    struct arena a;
    arena_init(&a);
    int n;
    struct computation **order = module_order(&a, m, &n);
    /* shared is a callee of cases and of mid, which is visited first and must follow it */
    struct computation *expected[] = {alone, body, cond, shared, mid, select, fused, entry};
    ck_assert_int_eq(n, (int)COUNT_OF(expected));
    for (int i = 0; i < n; i++)
        ck_assert_msg(order[i] == expected[i], "%d: " STR_FMT, i, STR_ARG(order[i]->name));
    arena_free(&a);
    module_free(m);
}
END_TEST

START_TEST(legal_names)
{
    static const char *const legal[] = {"a",       "_",     "a.1",    "a-b", "F32",
                                        "__xla_x", "tuple", "buffer", "b"};
    static const char *const illegal[] = {"", "1a", ".a", "-a", "f32", "token", "__c", "a b", "a%"};
    for (size_t i = 0; i < COUNT_OF(legal); i++)
        ck_assert_msg(name_is_legal_inst(str_of(legal[i])), "%s", legal[i]);
    for (size_t i = 0; i < COUNT_OF(illegal); i++)
        ck_assert_msg(!name_is_legal_inst(str_of(illegal[i])), "%s", illegal[i]);
    struct arena a;
    arena_init(&a);
    ck_assert(str_is(name_sanitize(&a, STR("f32")), "f32_"));
    ck_assert(str_is(name_sanitize(&a, STR("__c")), "a_c"));
    ck_assert(str_is(name_sanitize(&a, STR("1 a")), "a_a"));
    ck_assert(str_is(name_sanitize(&a, STR("x y")), "x_y"));
    arena_free(&a);
}
END_TEST

/* grammar/text.md 4.4, and names as printed by XLA. */
START_TEST(unique_names)
{
    static const char *const names[][2] = {{"a.1", "a.1"},
                                           {"a.1", "a.0"},
                                           {"a.00", "a.2"},
                                           {"a", "a.3"},
                                           {"b", "b"},
                                           {"b", "b.1"},
                                           {"b.-3", "b.-3"},
                                           {"b.-03", "b.2"},
                                           {"b.", "b."},
                                           {"b..1", "b..1"},
                                           {"b..2", "b..2"},
                                           {"b.1.2", "b.1.2"},
                                           {"_.1", "_.1"},
                                           {"b.9223372036854775807", "b.9223372036854775807"},
                                           {"b.9223372036854775808", "b.9223372036854775808"},
                                           {"b.1x", "b.1x"},
                                           {"b.-", "b.-"},
                                           {"c.-0", "c.0"},
                                           {"d.7", "d.7"},
                                           {"d", "d"},
                                           {"d", "d.1"},
                                           {"e.05", "e.5"},
                                           {"f32", "f32_"},
                                           {"", "name"},
                                           {"", "name.1"}};
    struct arena a;
    arena_init(&a);
    struct uniquifier *u = uniquifier_new(&a);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct str name = uniquifier_name(u, str_of(names[i][0]));
        ck_assert_msg(str_is(name, names[i][1]), "%s: " STR_FMT ", not %s", names[i][0],
                      STR_ARG(name), names[i][1]);
    }
    arena_free(&a);
}
END_TEST

START_TEST(many_names_are_unique)
{
    struct arena a;
    arena_init(&a);
    struct uniquifier *u = uniquifier_new(&a);
    enum { N = 400000 };
    for (int i = 0; i < N; i++) {
        char text[16];
        int n = snprintf(text, sizeof text, "x%d.%d", i % 3, i);
        struct str name = arena_str(&a, (struct str){text, (size_t)n});
        ck_assert(str_eq(uniquifier_name(u, name), name));
    }
    ck_assert(str_is(uniquifier_name(u, STR("x0.0")), "x0.1"));
    for (int i = 0; i < N; i++)
        uniquifier_name(u, STR("y"));
    ck_assert(str_is(uniquifier_name(u, STR("y")), "y.400000"));
    arena_free(&a);
}
END_TEST

/* Numbers on both sides of the limit of dense storage, and the ends of the range. */
START_TEST(sparse_instruction_ids)
{
    static const char *const names[] = {
        "r.63",
        "r.64",
        "r.-1",
        "r.-64",
        "r.-65",
        "r.1000",
        "r.9223372036854775807",
        "r.-9223372036854775808",
    };
    struct arena a;
    arena_init(&a);
    struct uniquifier *u = uniquifier_new(&a);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        ck_assert(str_is(uniquifier_name(u, str_of(names[i])), names[i]));
    for (int i = 0; i < 63; i++) {
        char expected[16];
        snprintf(expected, sizeof expected, "r.%d", i);
        ck_assert(str_is(uniquifier_name(u, str_of(names[(size_t)i % COUNT_OF(names)])), expected));
    }
    ck_assert(str_is(uniquifier_name(u, STR("r.64")), "r.65"));
    arena_free(&a);
}
END_TEST

START_TEST(names_are_made_unique)
{
    struct module *m = module_new();
    struct computation *first = leaf(m, "c"), *second = leaf(m, "c");
    module_uniquify(m);
    ck_assert(str_is(first->name, "c") && str_is(second->name, "c.1"));
    ck_assert(str_is(first->insts[0]->name, "p") && str_is(second->insts[0]->name, "p.1"));
    ck_assert(str_is(first->root->name, "n") && str_is(second->root->name, "n.1"));
    module_free(m);
}
END_TEST

START_TEST(source_locations)
{
    struct module *m = module_new();
    struct computation *c = leaf(m, "c");
    struct inst *i = c->root;
    ck_assert_uint_eq(inst_where(&m->arena, i).len, 0);
    struct metadata meta = {.source_file = STR("a.py"), .source_line = 7, .stack_frame_id = 2};
    inst_set_attr(m, i, A_METADATA, (union attr_value){.metadata = &meta}, NO_SPAN);
    ck_assert(str_is(inst_where(&m->arena, i), "a.py:7"));
    struct str files[] = {STR("x.py"), STR("y.py")};
    struct file_location locations[] = {{1, 1, 3, 3, 0, 0}, {2, 1, 12, 12, 0, 0}};
    struct stack_frame frames[] = {{1, 0}, {2, 1}};
    m->frames = (struct stack_frame_tables){.given = true,
                                            .file_count = 2,
                                            .location_count = 2,
                                            .frame_count = 2,
                                            .files = files,
                                            .locations = locations,
                                            .frames = frames};
    ck_assert(str_is(inst_where(&m->arena, i), "y.py:12"));
    meta.stack_frame_id = 3;
    ck_assert(str_is(inst_where(&m->arena, i), "a.py:7"));
    meta.source_file = STR("");
    ck_assert_uint_eq(inst_where(&m->arena, i).len, 0);
    module_free(m);
}
END_TEST

START_TEST(comparison_types)
{
    struct module *m = module_new();
    struct computation *c = computation_new(m, STR("c"));
    static const struct {
        enum dtype t;
        int type;
    } cases[] = {{DT_F32, E_TYPE_FLOAT},
                 {DT_C64, E_TYPE_FLOAT},
                 {DT_S8, E_TYPE_SIGNED},
                 {DT_U8, E_TYPE_UNSIGNED},
                 {DT_PRED, E_TYPE_UNSIGNED}};
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct inst *p = add(c, OP_PARAMETER, "p", 0);
        p->shape = shape_scalar(&m->arena, cases[k].t);
        struct inst *i = add(c, OP_COMPARE, "i", 2, p, p);
        ck_assert_int_eq(inst_compare_type(i), cases[k].type);
        inst_set_attr(m, i, A_TYPE, (union attr_value){.e = E_TYPE_TOTALORDER}, NO_SPAN);
        ck_assert_int_eq(inst_compare_type(i), E_TYPE_TOTALORDER);
    }
    module_free(m);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ir");
    TCase *tcase = tcase_create("ir");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, literals);
    tcase_add_test(tcase, tuple_literals);
    tcase_add_test(tcase, attributes_keep_their_order);
    tcase_add_test(tcase, finishing_computations);
    tcase_add_test(tcase, postorder);
    tcase_add_test(tcase, long_chains_without_recursion);
    tcase_add_test(tcase, computations_in_printing_order);
    tcase_add_test(tcase, legal_names);
    tcase_add_test(tcase, unique_names);
    tcase_add_test(tcase, many_names_are_unique);
    tcase_add_test(tcase, sparse_instruction_ids);
    tcase_add_test(tcase, names_are_made_unique);
    tcase_add_test(tcase, source_locations);
    tcase_add_test(tcase, comparison_types);
    suite_add_tcase(suite, tcase);
    return check_run(suite);
}
