/*
 * Tests of the passes of a plan: the effect of each on small modules; and, for random modules of
 * calls, maps, nested loops and equal expressions, that results with passes are bitwise identical
 * to those without.
 */
#include "random_view.h"
#include "run_text.h"

#include <stdarg.h>

/* ---- results with passes and without ---- */

static void check_same(const struct literal *a, const struct literal *b, const char *text)
{
    ck_assert_msg(same_literal(a, b, true), "%.3500s", text);
}

static void overwrite(struct literal *l)
{
    int64_t bytes = 0;
    for (int k = 0; shape_is_tuple(l->shape) && k < l->shape->count; k++)
        overwrite(l->elements[k]);
    if (shape_is_array(l->shape) && shape_bytes(l->shape, &bytes))
        memset(l->data, 0xa5, (size_t)bytes);
}

static void add_stats(struct plan_stats *sum, const struct plan_stats *s)
{
    for (size_t k = 0; k < sizeof *s / sizeof(int); k++)
        ((int *)sum)[k] += ((const int *)s)[k];
}

/* Later runs use cached values of the first one; returned values are not shared. */
static void check_again(struct run *r, const char *text)
{
    const size_t peak = r->state->peak;
    const uint64_t left = budget_left(&r->state->budget);
    for (int k = 0; k < 2; k++) {
        struct literal *l = eval_program(&r->ds, r->state, NULL, 0, NULL, &r->arena);
        ck_assert_msg(l != NULL, "%.3000s", text);
        check_same(l, r->result, text);
        ck_assert_uint_eq(r->state->peak, peak);
        ck_assert_uint_eq(budget_left(&r->state->budget), left);
        overwrite(l);
        literal_free_data(l);
    }
}

/* Checks the result of a run, and that of a run without passes; `stats` may be NULL. */
static void check_text(const char *text, const char *expected, struct plan_stats *stats)
{
    struct run fast, plain;
    run_text(&fast, text, &(struct plan_options){0});
    run_text(&plain, text, &(struct plan_options){.plain = true});
    check_same(fast.result, plain.result, text);
    check_again(&fast, text);
    check_same(fast.result, plain.result, text);
    if (expected) {
        struct buf out = {0};
        text_print_literal(&out, fast.result);
        buf_putc(&out, '\0');
        ck_assert_str_eq(out.data, expected);
        buf_free(&out);
    }
    if (stats)
        add_stats(stats, &fast.program->stats);
    run_free(&fast);
    run_free(&plain);
}

/* ---- one pass at a time ---- */

START_TEST(calls_are_inlined)
{
    struct plan_stats s = {0};
    check_text(
        "HloModule m\n"
        "f {\n  x = s32[2000] parameter(0)\n  y = s32[2000] parameter(1)\n  a = s32[2000] add(x, "
        "y)\n"
        "  b = s32[2000] multiply(x, y)\n  ROOT t = (s32[2000], s32[2000]) tuple(a, b)\n}\n"
        "add {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT r = s32[] add(a, b)\n}\n"
        "ENTRY e {\n  i = s32[2000] iota(), iota_dimension=0\n"
        "  c = (s32[2000], s32[2000]) call(i, i), to_apply=f\n  x = s32[2000] "
        "get-tuple-element(c), index=0\n"
        "  d = (s32[2000], s32[2000]) fusion(x, i), kind=kLoop, calls=f\n"
        "  y = s32[2000] get-tuple-element(d), index=0\n  zero = s32[] constant(0)\n"
        "  ROOT r = s32[] reduce(y, zero), dimensions={0}, to_apply=add\n}\n",
        "5997000", &s);
    ck_assert_int_eq(s.inlined, 2);
    ck_assert_int_eq(s.dropped, 2); /* both products */
}
END_TEST

START_TEST(maps_are_elementwise)
{
    struct plan_stats s = {0};
    check_text(
        "HloModule m\n"
        "f {\n  x = s32[] parameter(0)\n  y = s32[] parameter(1)\n  two = s32[] constant(2)\n"
        "  three = s32[] add(two, two)\n  a = s32[] multiply(x, three)\n  p = pred[] compare(a, "
        "y), direction=LT\n"
        "  ROOT r = s32[] select(p, a, y)\n}\n"
        "g {\n  x = s32[] parameter(0)\n  ROOT c = s32[] constant(7)\n}\n"
        "ENTRY e {\n  x = s32[2,2] constant({{0, 1}, {2, 3}})\n  y = s32[2,2] constant({{5, 5}, "
        "{5, 20}})\n"
        "  a = s32[2,2] map(x, y), dimensions={0,1}, to_apply=f\n"
        "  b = s32[2,2] map(x), dimensions={0,1}, to_apply=g\n"
        "  ROOT t = (s32[2,2], s32[2,2]) tuple(a, b)\n}\n",
        "( { { 0, 4 }, { 5, 12 } }, { { 7, 7 }, { 7, 7 } } )", &s);
    ck_assert_int_eq(s.mapped, 1);
}
END_TEST

START_TEST(common_subexpressions_are_eliminated)
{
    struct plan_stats s = {0};
    check_text(
        "HloModule m\n"
        "ENTRY e {\n  x = f32[4] iota(), iota_dimension=0\n  one = f32[] constant(1)\n  eins = "
        "f32[] constant(1)\n"
        "  a = f32[4] broadcast(one), dimensions={}\n  b = f32[4] broadcast(eins), dimensions={}\n"
        "  u = f32[4] add(x, a), metadata={op_name=\"u\"}\n  v = f32[4] add(x, b)\n"
        "  s = f32[2] slice(x), slice={[0:2]}\n  t = f32[2] slice(x), slice={[1:3]}\n"
        "  r = f32[2] slice(x), slice={[0:2]}\n"
        "  ROOT z = (f32[4], f32[4], f32[2], f32[2], f32[2]) tuple(u, v, s, t, r)\n}\n",
        NULL, &s);
    ck_assert_int_eq(s.merged, 3); /* a broadcast, an addition, a slice */
}
END_TEST

/* Two loops that differ in names only, on equal slices of two constants; the third one differs in a
 * constant of its body. */
START_TEST(equal_loops_are_merged)
{
    struct plan_stats s = {0};
    check_text("HloModule m\n"
               "b1 { p = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(p), index=0\n"
               "  x = f32[2] get-tuple-element(p), index=1 one = s32[] constant(1)\n"
               "  n = s32[] add(i, one) y = f32[2] add(x, x)\n"
               "  ROOT t = (s32[], f32[2]) tuple(n, y) }\n"
               "c1 { p = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(p), index=0\n"
               "  ten = s32[] constant(3) ROOT l = pred[] compare(i, ten), direction=LT }\n"
               "b2 { q = (s32[], f32[2]) parameter(0) j = s32[] get-tuple-element(q), index=0\n"
               "  x = f32[2] get-tuple-element(q), index=1 one = s32[] constant(1)\n"
               "  m = s32[] add(j, one) z = f32[2] add(x, x)\n"
               "  ROOT u = (s32[], f32[2]) tuple(m, z) }\n"
               "c2 { q = (s32[], f32[2]) parameter(0) j = s32[] get-tuple-element(q), index=0\n"
               "  ten = s32[] constant(3) ROOT l = pred[] compare(j, ten), direction=LT }\n"
               "b3 { p = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(p), index=0\n"
               "  x = f32[2] get-tuple-element(p), index=1 one = s32[] constant(2)\n"
               "  n = s32[] add(i, one) y = f32[2] add(x, x)\n"
               "  ROOT t = (s32[], f32[2]) tuple(n, y) }\n"
               "ENTRY e { c = f32[3] constant({1, 2, 5}) d = f32[4] constant({0, 1, 2, 3})\n"
               "  v = f32[2] slice(c), slice={[0:2]} w = f32[2] slice(d), slice={[1:3]}\n"
               "  zero = s32[] constant(0)\n"
               "  st1 = (s32[], f32[2]) tuple(zero, v) st2 = (s32[], f32[2]) tuple(zero, w)\n"
               "  w1 = (s32[], f32[2]) while(st1), condition=c1, body=b1\n"
               "  w2 = (s32[], f32[2]) while(st2), condition=c2, body=b2\n"
               "  w3 = (s32[], f32[2]) while(st1), condition=c1, body=b3\n"
               "  x1 = f32[2] get-tuple-element(w1), index=1\n"
               "  x2 = f32[2] get-tuple-element(w2), index=1\n"
               "  x3 = f32[2] get-tuple-element(w3), index=1\n"
               "  ROOT r = (f32[2], f32[2], f32[2]) tuple(x1, x2, x3) }\n",
               "( {8, 16}, {8, 16}, {4, 8} )", &s);
    ck_assert_int_eq(s.merged, 1);
    ck_assert_int_eq(s.folded, 2);
}
END_TEST

/* Components of index tuples are read from the arrays that are concatenated. */
/* The second loop, equal to the first one, needs a part that the first one does not. */
START_TEST(dead_loop_state_is_dropped)
{
    static const char body[] =
        "  s = (s32[], s32[5000], s32[5000], s32[5000]) parameter(0)\n"
        "  i = s32[] get-tuple-element(s), index=0\n  one = s32[] constant(1)\n"
        "  j = s32[] add(i, one)\n  x = s32[5000] get-tuple-element(s), index=1\n"
        "  y = s32[5000] get-tuple-element(s), index=2\n  x1 = s32[5000] add(x, x)\n"
        "  y1 = s32[5000] negate(y)\n  z = s32[5000] get-tuple-element(s), index=3\n"
        "  z1 = s32[5000] multiply(z, z)\n"
        "  ROOT t = (s32[], s32[5000], s32[5000], s32[5000]) tuple(j, x1, y1, z1)\n}\n";
    struct plan_stats s = {0};
    struct buf text = {0};
    buf_printf(&text,
               "HloModule m\nb1 {\n%sb2 {\n%s"
               "c {\n  s = (s32[], s32[5000], s32[5000], s32[5000]) parameter(0)\n"
               "  i = s32[] get-tuple-element(s), index=0\n  n = s32[] constant(3)\n"
               "  ROOT r = pred[] compare(i, n), direction=LT\n}\n"
               "ENTRY e {\n  zero = s32[] constant(0)\n"
               "  x = s32[5000] iota(), iota_dimension=0\n"
               "  t = (s32[], s32[5000], s32[5000], s32[5000]) tuple(zero, x, x, x)\n"
               "  w1 = (s32[], s32[5000], s32[5000], s32[5000]) while(t), condition=c, body=b1\n"
               "  w2 = (s32[], s32[5000], s32[5000], s32[5000]) while(t), condition=c, body=b2\n"
               "  x3 = s32[5000] get-tuple-element(w1), index=1\n"
               "  y3 = s32[5000] get-tuple-element(w2), index=2\n"
               "  a = s32[5000] add(x3, y3)\n"
               "  ROOT r = s32[2] slice(a), slice={[1:3]}\n}\n",
               body, body);
    buf_putc(&text, '\0');
    check_text(text.data, "{7, 14}", &s);
    buf_free(&text);
    ck_assert_int_eq(s.merged, 1);
    ck_assert_int_eq(s.dropped, 1); /* z1 */
}
END_TEST

START_TEST(index_components_are_separated)
{
    struct plan_stats s = {0};
    check_text("HloModule m\n"
               "ENTRY e { x = s32[3,4] iota(), iota_dimension=1 k = s32[2,1] iota(), "
               "iota_dimension=0\n"
               "  j = s32[2,1] multiply(k, k) kj = s32[2,2] concatenate(k, j), dimensions={1}\n"
               "  ROOT r = s32[2] gather(x, kj), offset_dims={}, collapsed_slice_dims={0,1},\n"
               "    start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1} }\n",
               "{0, 1}", &s);
    ck_assert_int_eq(s.simplified, 1);
    ck_assert_int_eq(s.dropped, 1); /* the concatenation */
}
END_TEST

/* Indices i + j + first of 20 elements, 4 x 3. */
static void check_windows(int first, const char *expected, int dropped)
{
    struct plan_stats s = {0};
    struct buf text = {0};
    buf_printf(&text,
               "HloModule m\n"
               "ENTRY e { x = s32[20] iota(), iota_dimension=0 i = s32[4,3] iota(), "
               "iota_dimension=0\n"
               "  j = s32[4,3] iota(), iota_dimension=1 ij = s32[4,3] add(i, j)\n"
               "  c = s32[] constant(%d) cs = s32[4,3] broadcast(c), dimensions={}\n"
               "  at = s32[4,3] add(ij, cs) ROOT r = s32[4,3] gather(x, at), offset_dims={}, "
               "collapsed_slice_dims={0},\n"
               "    start_index_map={0}, index_vector_dim=2, slice_sizes={1} }\n",
               first);
    buf_putc(&text, '\0');
    check_text(text.data, expected, &s);
    buf_free(&text);
    ck_assert_int_eq(s.dropped, dropped);
}

START_TEST(gathers_of_windows_are_views)
{
    enum { INDICES = 5 };
    check_windows(1, "{ { 1, 2, 3 }, { 2, 3, 4 }, { 3, 4, 5 }, { 4, 5, 6 } }", INDICES);
    check_windows(14, "{ { 14, 15, 16 }, { 15, 16, 17 }, { 16, 17, 18 }, { 17, 18, 19 } }",
                  INDICES);
    /* some are clamped */
    check_windows(15, "{ { 15, 16, 17 }, { 16, 17, 18 }, { 17, 18, 19 }, { 18, 19, 19 } }", 0);
    check_windows(-1, "{ { 0, 0, 1 }, { 0, 1, 2 }, { 1, 2, 3 }, { 2, 3, 4 } }", 0);
}
END_TEST

/* Windows inside of an array, by all kinds of bodies; not those outside, nor several. */
START_TEST(scatters_of_one_window_are_updates)
{
    static const struct {
        const char *body, *scatter, *expected;
        int simplified;
    } cases[] = {
        {"b", "s32[2] y), update_window_dims={0}, inserted_window_dims={}", "{0, 1, 7, 9, 4}", 1},
        {"subtract(a, b)", "s32[2] y), update_window_dims={0}, inserted_window_dims={}",
         "{0, 1, -5, -6, 4}", 1},
        {"subtract(b, a)", "s32[2] y), update_window_dims={0}, inserted_window_dims={}",
         "{0, 1, 5, 6, 4}", 1},
        {"add(a, b)", "s32[] seven), update_window_dims={}, inserted_window_dims={0}",
         "{0, 1, 9, 3, 4}", 1},
        {"add(b, b)", "s32[2] y), update_window_dims={0}, inserted_window_dims={}",
         "{0, 1, 14, 18, 4}", 0},
        {"a", "s32[2] y), update_window_dims={0}, inserted_window_dims={}", "{0, 1, 2, 3, 4}", 0},
        {"add(a, b)", "s32[4] z), update_window_dims={0}, inserted_window_dims={}",
         "{0, 1, 2, 3, 4}", 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct plan_stats s = {0};
        char text[2000], body[100];
        const bool names = cases[k].body[1] == '\0';
        (void)snprintf(body, sizeof body, "ROOT r = s32[] %s", cases[k].body);
        (void)snprintf(text, sizeof text,
                       "HloModule m\n"
                       "f {\n  %sa = s32[] parameter(0)\n  %sb = s32[] parameter(1)\n  %s\n}\n"
                       "ENTRY e {\n  x = s32[5] iota(), iota_dimension=0\n"
                       "  two = s32[] constant(2)\n  at = s32[1] broadcast(two), dimensions={}\n"
                       "  y = s32[2] constant({7, 9})\n  z = s32[4] constant({1, 2, 3, 4})\n"
                       "  seven = s32[] constant(7)\n"
                       "  ROOT r = s32[5] scatter(x, at, %s,\n"
                       "    scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=f\n}\n",
                       names && *cases[k].body == 'a' ? "ROOT " : "",
                       names && *cases[k].body == 'b' ? "ROOT " : "", names ? "" : body,
                       cases[k].scatter);
        check_text(text, cases[k].expected, &s);
        ck_assert_int_eq(s.simplified, cases[k].simplified);
    }
}
END_TEST

START_TEST(simple_instructions_are_aliases)
{
    struct plan_stats s = {0};
    check_text("HloModule m\n"
               "ENTRY e {\n  x = s32[2,3] iota(), iota_dimension=1\n  t = s32[3,2] transpose(x), "
               "dimensions={1,0}\n"
               "  u = s32[2,3] transpose(t), dimensions={1,0}\n  r = s32[2,3] reverse(u), "
               "dimensions={0,1}\n"
               "  v = s32[2,3] reverse(r), dimensions={1,0}\n  one = s32[] constant(1)\n"
               "  ones = s32[2,3] broadcast(one), dimensions={}\n  w = s32[2,3] multiply(v, ones)\n"
               "  a = s32[2,3] slice(w), slice={[0:2], [0:3]}\n  b = s32[2,3] maximum(a, a)\n"
               "  ROOT c = s32[2,3] convert(b)\n}\n",
               "{ { 0, 1, 2 }, { 0, 1, 2 } }", &s);
    ck_assert_int_eq(s.simplified, 6);
    ck_assert_int_eq(s.dropped, 3);
    s = (struct plan_stats){0};
    check_text("HloModule m\n" /* transposes and similar steps do not undo each other when three of
                                  them form a cycle */
               "ENTRY e {\n  x = s32[2,3,4] iota(), iota_dimension=1\n  t = s32[3,4,2] "
               "transpose(x), dimensions={1,2,0}\n"
               "  ROOT u = s32[4,2,3] transpose(t), dimensions={1,2,0}\n}\n",
               NULL, &s);
    ck_assert_int_eq(s.simplified, 0);
}
END_TEST

START_TEST(rearrangements_are_combined)
{
    struct plan_stats s = {0};
    check_text("HloModule m\n"
               "ENTRY e {\n  x = s32[24] iota(), iota_dimension=0\n  m = s32[4,6] reshape(x)\n  n "
               "= s32[2,3,4] reshape(m)\n"
               "  i = s32[] constant(7)\n  j = s32[] negate(i)\n  b = s32[5,6] broadcast(j), "
               "dimensions={}\n"
               "  t = s32[6,5] transpose(b), dimensions={1,0}\n  u = s32[30] reshape(t)\n  v = "
               "s32[2] slice(u), slice={[0:4:2]}\n"
               "  ROOT r = (s32[2,3,4], s32[2]) tuple(n, v)\n}\n",
               NULL, &s);
    ck_assert_int_eq(s.simplified, 4);
    ck_assert_int_eq(s.folded, 1);
    ck_assert_int_eq(s.dropped, 4);
}
END_TEST

/* For floats, -0 + 0 is not -0, and only a constant select is simplified. */
START_TEST(simplification_preserves_signed_zeros)
{
    struct plan_stats s = {0};
    check_text("HloModule m\n"
               "ENTRY e {\n  x = f32[] constant(-0.0)\n  y = f32[100] broadcast(x), "
               "dimensions={}\n  z = f32[] constant(0)\n"
               "  o = f32[100] broadcast(z), dimensions={}\n  a = f32[100] add(y, o)\n  one = "
               "f32[] constant(1)\n"
               "  d = f32[100] divide(o, a)\n  p = pred[] constant(false)\n  q = pred[100] "
               "broadcast(p), dimensions={}\n"
               "  c = f32[100] select(q, d, y)\n  i = f32[100] divide(y, c)\n"
               "  e = f32[1] slice(a), slice={[0:1]}\n  f = f32[1] slice(c), slice={[0:1]}\n"
               "  ROOT r = (f32[1], f32[1]) tuple(e, f)\n}\n",
               "( {0}, {-0} )", &s);
    ck_assert_int_eq(s.simplified, 3); /* the select, and two slices of broadcasts */
    ck_assert_int_eq(s.folded, 2);     /* the addition, and the division that is used */
}
END_TEST

/* `m` has three kinds of users: outside the loop, a loop invariant, and in each iteration. */
START_TEST(cheap_steps_are_duplicated)
{
    struct plan_stats s = {0};
    check_text(
        "HloModule m\n"
        "c {\n  p = (s32[], f32[70000], f32[70000]) parameter(0)\n  i = s32[] "
        "get-tuple-element(p), index=0\n"
        "  n = s32[] constant(3)\n  ROOT r = pred[] compare(i, n), direction=LT\n}\n"
        "b {\n  p = (s32[], f32[70000], f32[70000]) parameter(0)\n  i = s32[] "
        "get-tuple-element(p), index=0\n"
        "  x = f32[70000] get-tuple-element(p), index=1\n  y = f32[70000] get-tuple-element(p), "
        "index=2\n"
        "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  k = f32[] constant(3)\n"
        "  kk = f32[70000] broadcast(k), dimensions={}\n  l = f32[70000] iota(), iota_dimension=0\n"
        "  m = f32[70000] add(l, kk)\n  d = f32[70000] divide(y, m)\n  z = f32[70000] multiply(x, "
        "m)\n"
        "  v = f32[70000] add(z, d)\n  ROOT t = (s32[], f32[70000], f32[70000]) tuple(j, v, y)\n}\n"
        "ENTRY e {\n  z = s32[] constant(0)\n  x = f32[70000] iota(), iota_dimension=0\n  y = "
        "f32[70000] negate(x)\n"
        "  t = (s32[], f32[70000], f32[70000]) tuple(z, x, y)\n"
        "  ROOT w = (s32[], f32[70000], f32[70000]) while(t), condition=c, body=b\n}\n",
        NULL, &s);
    ck_assert_int_eq(s.invariant, 1);
}
END_TEST

/* A matrix of 400 x 100 from constants, its sums, a view of it, and values computed from both and
 * an argument. */
START_TEST(constants_are_folded_in_the_first_run)
{
    const char *text =
        "HloModule m\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] "
        "add(a, b)\n}\n"
        "ENTRY e {\n  p = f32[400] parameter(0)\n  x = f32[400,100] iota(), iota_dimension=1\n"
        "  y = f32[400,100] exponential(x)\n  z = f32[] constant(0)\n"
        "  s = f32[400] reduce(y, z), dimensions={1}, to_apply=add\n  u = f32[400] add(s, p)\n"
        "  v = f32[100,400] transpose(y), dimensions={1,0}\n"
        "  ROOT r = (f32[400], f32[400], f32[100,400]) tuple(s, u, v)\n}\n";
    struct run r;
    int64_t n = 400;
    run_plan(&r, text, &(struct plan_options){0});
    struct literal *arg = literal_new(&r.arena, shape_array(&r.arena, DT_F32, 1, &n, NULL, NULL)),
                   *results[3];
    const struct literal *args[] = {arg};
    ck_assert_int_ge(r.program->stats.kept, 2);
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < n; j++)
            ((float *)arg->data)[j] = (float)k;
        results[k] = eval_program(&r.ds, r.state, args, 1, NULL, &r.arena);
        ck_assert_ptr_nonnull(results[k]);
        ck_assert(r.state->kept.there);
        const float *s = results[k]->elements[0]->data, *u = results[k]->elements[1]->data;
        for (int j = 0; j < n; j++)
            ck_assert_float_eq(u[j], s[j] + (float)k);
    }
    check_same(results[0]->elements[0], results[1]->elements[0], text);
    overwrite(results[0]);
    literal_free_data(results[0]);
    check_same(results[1]->elements[0], results[2]->elements[0], text);
    check_same(results[1]->elements[2], results[2]->elements[2], text);
    run_state_free(r.state); /* returned values stay valid */
    program_free(r.program);
    r.state = NULL;
    r.program = NULL;
    check_same(results[1]->elements[0], results[2]->elements[0], text);
    literal_free_data(results[1]);
    literal_free_data(results[2]);
    literal_free_data(arg);
    run_free(&r);
}
END_TEST

/* Loops that depend on constants only, with functions that cache values, are folded in the first
 * run if they have no side effects; the larger of two results may be unused. */
START_TEST(constant_loops_are_folded_in_the_first_run)
{
    static const struct {
        const char *operation, *result;
        int kept;
    } cases[] = {
        /* the loop, its sum and two iotas */
        {"add(x, s)", "s32[] get-tuple-element(w), index=1", 4},
        {"add(x, s)", "s32[90000] get-tuple-element(w), index=2", 2}, /* the sum and its iota */
        {"custom-call(x, s), custom_call_target=\"Sharding\", custom_call_has_side_effect=true",
         "s32[] get-tuple-element(w), index=1", 0},
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct plan_stats s = {0};
        struct buf text = {0};
        buf_printf(
            &text,
            "HloModule m\nadd {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT r = "
            "s32[] add(a, b)\n}\n"
            "c {\n  p = (s32[], s32[], s32[90000]) parameter(0)\n  i = s32[] get-tuple-element(p), "
            "index=0\n"
            "  n = s32[] constant(5)\n  ROOT r = pred[] compare(i, n), direction=LT\n}\n"
            "b {\n  p = (s32[], s32[], s32[90000]) parameter(0)\n  i = s32[] get-tuple-element(p), "
            "index=0\n"
            "  x = s32[] get-tuple-element(p), index=1\n  y = s32[90000] get-tuple-element(p), "
            "index=2\n"
            "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  k = s32[9000] iota(), "
            "iota_dimension=0\n"
            "  zero = s32[] constant(0)\n  s = s32[] reduce(k, zero), dimensions={0}, "
            "to_apply=add\n"
            "  z = s32[] %s\n  ROOT t = (s32[], s32[], s32[90000]) tuple(j, z, y)\n}\n"
            "ENTRY e {\n  zero = s32[] constant(0)\n  y = s32[90000] iota(), iota_dimension=0\n"
            "  t = (s32[], s32[], s32[90000]) tuple(zero, zero, y)\n"
            "  w = (s32[], s32[], s32[90000]) while(t), condition=c, body=b\n  ROOT r = %s\n}\n",
            cases[k].operation, cases[k].result);
        buf_putc(&text, '\0');
        if (k == 2) {
            struct run r;
            run_plan(&r, text.data, &(struct plan_options){0});
            add_stats(&s, &r.program->stats);
            run_free(&r);
        } else {
            check_text(text.data, k == 0 ? "202477500" : NULL, &s);
        }
        ck_assert_msg(s.kept == cases[k].kept, "%d kept: %s", s.kept, text.data);
        buf_free(&text);
    }
}
END_TEST

START_TEST(random_numbers_are_not_merged)
{
    struct run r;
    run_text(&r,
             "HloModule m\n"
             "f {\n  a = s32[] constant(0)\n  b = s32[] constant(1000000)\n"
             "  ROOT r = s32[8] rng(a, b), distribution=rng_uniform\n}\n"
             "ENTRY e {\n  x = s32[8] call(), to_apply=f\n  y = s32[8] call(), to_apply=f\n"
             "  ROOT t = (s32[8], s32[8]) tuple(x, y)\n}\n",
             &(struct plan_options){0});
    ck_assert_int_ne(
        memcmp(r.result->elements[0]->data, r.result->elements[1]->data, 8 * sizeof(int32_t)), 0);
    run_free(&r);
}
END_TEST

/* The product is invariant in the inner loop, but not in the outer one. */
START_TEST(loop_invariants_are_hoisted)
{
    struct plan_stats s = {0};
    check_text(
        "HloModule m\n"
        "ci {\n  p = (s32[], s32[5000], s32[5000]) parameter(0)\n  i = s32[] get-tuple-element(p), "
        "index=0\n"
        "  n = s32[] constant(3)\n  ROOT r = pred[] compare(i, n), direction=LT\n}\n"
        "bi {\n  p = (s32[], s32[5000], s32[5000]) parameter(0)\n  i = s32[] get-tuple-element(p), "
        "index=0\n"
        "  x = s32[5000] get-tuple-element(p), index=1\n  y = s32[5000] get-tuple-element(p), "
        "index=2\n"
        "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  xx = s32[5000] multiply(x, x)\n"
        "  d = s32[5000] divide(xx, x)\n  z = s32[5000] add(d, y)\n"
        "  ROOT t = (s32[], s32[5000], s32[5000]) tuple(j, x, z)\n}\n"
        "co {\n  p = (s32[], s32[5000]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
        "  n = s32[] constant(4)\n  ROOT r = pred[] compare(i, n), direction=LE\n}\n"
        "bo {\n  p = (s32[], s32[5000]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
        "  y = s32[5000] get-tuple-element(p), index=1\n  one = s32[] constant(1)\n  j = s32[] "
        "add(i, one)\n"
        "  b = s32[5000] broadcast(i), dimensions={}\n  zero = s32[] constant(0)\n"
        "  t = (s32[], s32[5000], s32[5000]) tuple(zero, b, y)\n"
        "  w = (s32[], s32[5000], s32[5000]) while(t), condition=ci, body=bi\n"
        "  v = s32[5000] get-tuple-element(w), index=2\n  ROOT r = (s32[], s32[5000]) tuple(j, "
        "v)\n}\n"
        "ENTRY e {\n  one = s32[] constant(1)\n  y = s32[5000] iota(), iota_dimension=0\n"
        "  t = (s32[], s32[5000]) tuple(one, y)\n  w = (s32[], s32[5000]) while(t), condition=co, "
        "body=bo\n"
        "  v = s32[5000] get-tuple-element(w), index=1\n  ROOT r = s32[2] slice(v), "
        "slice={[4998:5000]}\n}\n",
        "{5028, 5029}", &s); /* 3 * (1 + 2 + 3 + 4) more */
    /* multiply and divide are fused */
    ck_assert_int_eq(s.invariant, 1);
}
END_TEST

/* ---- random modules ---- */

enum { MODULES = 1000, MAX_VALUES = 40 };

struct text {
    struct random random;
    struct buf out;
    const char *type; /* of all arrays: a row of `size` elements */
    char array[24];
    int size, value_count, number;
    int values[MAX_VALUES]; /* v%d: arrays */
};

static void put(struct text *t, const char *format, ...) PRINTF_LIKE(2, 3);
static void put(struct text *t, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    buf_puts(&t->out, line);
}

static int chance(struct text *t, int n) { return (int)random_in(&t->random, 0, n - 1); }

static int any(struct text *t) { return t->values[chance(t, t->value_count)]; }

static int define(struct text *t)
{
    if (t->value_count == MAX_VALUES)
        t->value_count--;
    t->values[t->value_count++] = ++t->number;
    return t->number;
}

/* An instruction on existing arrays; of few kinds, so that many are equal. */
static void put_operation(struct text *t, int functions)
{
    static const char *const two[] = {"add", "multiply", "maximum", "subtract"};
    int x = any(t), y = any(t), n;
    switch (chance(t, 10)) {
    case 0:
        n = chance(t, 3);
        put(t, "  k%d = %s[] constant(%d)\n", t->number + 1, t->type, n);
        put(t, "  v%d = %s broadcast(k%d), dimensions={}\n", t->number + 1, t->array,
            t->number + 1);
        define(t);
        break;
    case 1: put(t, "  v%d = %s reverse(v%d), dimensions={0}\n", define(t), t->array, x); break;
    case 2:
        put(t, "  v%d = %s map(v%d, v%d), dimensions={0}, to_apply=g%d\n", define(t), t->array, x,
            y, chance(t, 2));
        break;
    case 3:
        if (functions > 0) {
            put(t, "  v%d = %s call(v%d, v%d), to_apply=f%d\n", define(t), t->array, x, y,
                chance(t, functions));
            break;
        }
        /* fallthrough */
    case 4: put(t, "  v%d = %s iota(), iota_dimension=0\n", define(t), t->array); break;
    case 5:
        n = t->number + 1;
        put(t, "  part%d = %s[1] slice(v%d), slice={[%d:%d]}\n", n, t->type, x, t->size / 2,
            t->size / 2 + 1);
        put(t, "  z%d = s32[] constant(%d)\n", n, chance(t, t->size));
        put(t, "  v%d = %s dynamic-update-slice(v%d, part%d, z%d)\n", n, t->array, y, n, n);
        define(t);
        break;
    case 6:
        n = t->number + 1;
        put(t, "  less%d = pred[%d] compare(v%d, v%d), direction=LT\n", n, t->size, x, y);
        put(t, "  v%d = %s select(less%d, v%d, v%d)\n", n, t->array, n, chance(t, 2) ? x : any(t),
            y);
        define(t);
        break;
    default:
        put(t, "  v%d = %s %s(v%d, v%d)\n", define(t), t->array, two[chance(t, 4)], x, y);
        break;
    }
}

static void put_function(struct text *t, int number)
{
    t->value_count = 0;
    put(t, "f%d {\n", number);
    put(t, "  v%d = %s parameter(0)\n", define(t), t->array);
    put(t, "  v%d = %s parameter(1)\n", define(t), t->array);
    for (int k = chance(t, 4); k >= 0; k--)
        put_operation(t, number);
    put(t, "  ROOT r = %s add(v%d, v%d)\n}\n", t->array, any(t), any(t));
}

/* Loops of three arrays: some are passed on, some are swapped, some are new. */
enum { STATE = 3 };

static void put_state_type(struct text *t)
{
    put(t, "(s32[], %s, %s, %s)", t->array, t->array, t->array);
}

static void put_while(struct text *t, int loop, int trips)
{
    int n = ++t->number;
    put(t, "  n%d = s32[] constant(%d)\n  t%d = ", n, -trips, n);
    put_state_type(t);
    put(t, " tuple(n%d, v%d, v%d, v%d)\n  w%d = ", n, any(t), any(t), any(t), n);
    put_state_type(t);
    put(t, " while(t%d), condition=c%d, body=b%d\n", n, loop, loop);
    for (int k = 1; k <= STATE; k++)
        put(t, "  v%d = %s get-tuple-element(w%d), index=%d\n", define(t), t->array, n, k);
}

static void put_loop(struct text *t, int loop)
{
    put(t, "c%d {\n  p = ", loop);
    put_state_type(t);
    put(t, " parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  z = s32[] constant(0)\n");
    put(t, "  ROOT r = pred[] compare(i, z), direction=LT\n}\nb%d {\n  p = ", loop);
    put_state_type(t);
    put(t, " parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  one = s32[] constant(1)\n  "
           "j = s32[] add(i, one)\n");
    t->value_count = 0;
    int given[STATE];
    for (int k = 0; k < STATE; k++)
        put(t, "  v%d = %s get-tuple-element(p), index=%d\n", given[k] = define(t), t->array,
            k + 1);
    for (int k = chance(t, 8); k >= 0; k--) {
        put_operation(t, 2);
        if (loop > 0 && chance(t, 6) == 0)
            put_while(t, loop - 1, chance(t, 3));
    }
    put(t, "  ROOT r = ");
    put_state_type(t);
    put(t, " tuple(j");
    for (int k = 0; k < STATE; k++)
        put(t, ", v%d", chance(t, 2) ? given[k] : any(t));
    put(t, ")\n}\n");
}

static void put_module(struct text *t)
{
    t->type = chance(t, 2) ? "s32" : "f32";
    t->size = chance(t, 2)   ? 5
              : chance(t, 8) ? chance(t, 8) ? 5000 : 2000
                             : 70000; /* small arrays run as scalar code, large ones as kernels */
    snprintf(t->array, sizeof t->array, "%s[%d]", t->type, t->size);
    put(t, "HloModule m\n");
    for (int k = 0; k < 2; k++)
        put(t,
            "g%d {\n  x = %s[] parameter(0)\n  y = %s[] parameter(1)\n  c = %s[] constant(%d)\n  a "
            "= %s[] add(x, c)\n"
            "  ROOT r = %s[] %s(a, y)\n}\n",
            k, t->type, t->type, t->type, chance(t, 3), t->type, t->type,
            k ? "maximum" : "multiply");
    for (int k = 0; k < 3; k++)
        put_function(t, k);
    for (int k = 0; k < 2; k++)
        put_loop(t, k);
    t->value_count = 0;
    put(t, "ENTRY e {\n  v%d = %s iota(), iota_dimension=0\n", define(t), t->array);
    for (int k = chance(t, 6) + 1; k >= 0; k--)
        put_operation(t, 3);
    for (int k = chance(t, 3); k >= 0; k--)
        put_while(t, chance(t, 2), chance(t, 4));
    for (int k = chance(t, 4); k >= 0; k--)
        put_operation(t, 3);
    put(t, "  ROOT r = (%s, %s, %s) tuple(v%d, v%d, v%d)\n}\n", t->array, t->array, t->array,
        any(t), any(t), any(t));
}

/* ---- loops that read and update slices of large arrays ---- */

enum { LARGE = 5000, PIECE = 3, MAX_VARIABLES = 12 };

struct slice_program {
    struct text text;
    int large[MAX_VARIABLES], piece[MAX_VARIABLES],
        index[MAX_VARIABLES]; /* l%d, v%d: arrays, i%d: where */
    int large_count, piece_count, index_count;
};

static int one_of(struct slice_program *n, const int *of, int count)
{
    return of[chance(&n->text, count)];
}

static int name_one(struct slice_program *n, int *of, int *count)
{
    if (*count == MAX_VARIABLES)
        --*count;
    return of[(*count)++] = ++n->text.number;
}

static void put_slice_operation(struct slice_program *n)
{
    struct text *t = &n->text;
    const char *type = t->type;
    int l = one_of(n, n->large, n->large_count), i = one_of(n, n->index, n->index_count),
        j = one_of(n, n->index, n->index_count);
    int x = one_of(n, n->piece, n->piece_count), y = one_of(n, n->piece, n->piece_count), k;
    switch (chance(t, 8)) {
    case 0:
        put(t, "  i%d = s32[] add(i%d, i%d)\n", name_one(n, n->index, &n->index_count), i, j);
        break;
    case 1:
        put(t, "  i%d = s32[] multiply(i%d, i%d)\n", name_one(n, n->index, &n->index_count), i, j);
        break;
    case 2:
    case 3:
        put(t, "  v%d = %s[%d] dynamic-slice(l%d, i%d), dynamic_slice_sizes={%d}\n",
            name_one(n, n->piece, &n->piece_count), type, PIECE, l, i, PIECE);
        break;
    case 4:
    case 5:
        k = chance(t, n->large_count); /* usually in place; old versions may be read later */
        l = n->large[k];
        put(t, "  l%d = %s[%d] dynamic-update-slice(l%d, v%d, i%d)\n", t->number + 1, type, LARGE,
            l, x, i);
        if (chance(t, 8) == 0)
            name_one(n, n->large, &n->large_count);
        else
            n->large[k] = ++t->number;
        break;
    case 6:
        k = ++t->number;
        put(t,
            "  p%d = pred[] compare(i%d, i%d), direction=LT\n  b%d = pred[%d] broadcast(p%d), "
            "dimensions={}\n",
            k, i, j, k, PIECE, k);
        put(t, "  v%d = %s[%d] select(b%d, v%d, v%d)\n", name_one(n, n->piece, &n->piece_count),
            type, PIECE, k, x, y);
        break;
    default:
        put(t, "  v%d = %s[%d] add(v%d, v%d)\n", name_one(n, n->piece, &n->piece_count), type,
            PIECE, x, y);
        break;
    }
}

static void put_slice_module(struct slice_program *n)
{
    struct text *t = &n->text;
    char state[96];
    t->type = chance(t, 2) ? "s32" : "f32";
    snprintf(state, sizeof state, "(s32[], %s[%d], %s[%d], %s[%d])", t->type, LARGE, t->type, LARGE,
             t->type, PIECE);
    put(t, "HloModule m\nc {\n  p = %s parameter(0)\n  i1 = s32[] get-tuple-element(p), index=0\n",
        state);
    put(t, "  n = s32[] constant(%d)\n  ROOT r = pred[] compare(i1, n), direction=LT\n}\n",
        chance(t, 6));
    put(t, "b {\n  p = %s parameter(0)\n  i1 = s32[] get-tuple-element(p), index=0\n", state);
    put(t,
        "  l2 = %s[%d] get-tuple-element(p), index=1\n  l3 = %s[%d] get-tuple-element(p), "
        "index=2\n",
        t->type, LARGE, t->type, LARGE);
    put(t,
        "  v4 = %s[%d] get-tuple-element(p), index=3\n  i5 = s32[] constant(1)\n  i6 = s32[] "
        "constant(700)\n",
        t->type, PIECE);
    put(t,
        "  next = s32[] add(i1, i5)\n  l7 = %s[%d] iota(), iota_dimension=0\n  one = %s[] "
        "constant(1)\n",
        t->type, LARGE, t->type);
    put(t, /* no division by 0: the sign of a NaN depends on the processor */
        "  ones = %s[%d] broadcast(one), dimensions={}\n  divisor = %s[%d] add(l7, ones)\n  l8 = "
        "%s[%d] divide(l2, divisor)\n",
        t->type, LARGE, t->type, LARGE, t->type, LARGE);
    n->large_count = 2 + chance(t, 3);
    memcpy(n->large, (const int[]){2, 3, 7, 8}, 4 * sizeof(int));
    n->piece[n->piece_count++] = 4;
    n->index_count = 3;
    memcpy(n->index, (const int[]){1, 5, 6}, 3 * sizeof(int));
    t->number = 8;
    for (int k = chance(t, 10); k >= 0; k--)
        put_slice_operation(n);
    bool swap = chance(t, 8) == 0;
    put(t, "  ROOT r = %s tuple(next, l%d, l%d, v%d)\n}\n", state, n->large[swap], n->large[!swap],
        n->piece[n->piece_count - 1]);
    put(t,
        "ENTRY e {\n  z = s32[] constant(0)\n  l = %s[%d] iota(), iota_dimension=0\n  m = %s[%d] "
        "%s\n",
        t->type, LARGE, t->type, LARGE, chance(t, 2) ? "negate(l)" : "reverse(l), dimensions={0}");
    put(t,
        "  k = %s[%d] constant({1, 2, 3})\n  t = %s tuple(z, l, %s, k)\n  ROOT w = %s while(t), "
        "condition=c, body=b\n}\n",
        t->type, PIECE, state, chance(t, 3) ? "m" : "l", state);
}

START_TEST(loops_of_large_arrays_agree_with_unoptimized)
{
    for (int seed = 0; seed < MODULES; seed++) {
        struct slice_program n = {.text = {.random = {(uint64_t)seed, 0, 0}}};
        put_slice_module(&n);
        check_text(n.text.out.data, NULL, NULL);
        buf_free(&n.text.out);
    }
}
END_TEST

START_TEST(passes_agree_with_unoptimized)
{
    struct plan_stats s = {0};
    for (int seed = 0; seed < MODULES; seed++) {
        struct text t = {.random = {(uint64_t)seed, 0, 0}};
        put_module(&t);
        check_text(t.out.data, NULL, &s);
        buf_free(&t.out);
    }
    ck_assert_int_gt(s.inlined, MODULES / 10);
    ck_assert_int_gt(s.mapped, MODULES / 10);
    ck_assert_int_gt(s.merged, MODULES / 10);
    ck_assert_int_gt(s.simplified, MODULES / 10);
    ck_assert_int_gt(s.dropped, MODULES / 100);
    ck_assert_int_gt(s.hoist, MODULES / 10);
    ck_assert_int_gt(s.kept, MODULES / 10);
    ck_assert_int_gt(s.invariant, MODULES / 10);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("passes");
    TCase *tc = tcase_create("passes");
    suite_add_tcase(s, tc);
    tcase_add_test(tc, calls_are_inlined);
    tcase_add_test(tc, maps_are_elementwise);
    tcase_add_test(tc, common_subexpressions_are_eliminated);
    tcase_add_test(tc, equal_loops_are_merged);
    tcase_add_test(tc, dead_loop_state_is_dropped);
    tcase_add_test(tc, index_components_are_separated);
    tcase_add_test(tc, gathers_of_windows_are_views);
    tcase_add_test(tc, scatters_of_one_window_are_updates);
    tcase_add_test(tc, simple_instructions_are_aliases);
    tcase_add_test(tc, rearrangements_are_combined);
    tcase_add_test(tc, simplification_preserves_signed_zeros);
    tcase_add_test(tc, cheap_steps_are_duplicated);
    tcase_add_test(tc, constants_are_folded_in_the_first_run);
    tcase_add_test(tc, constant_loops_are_folded_in_the_first_run);
    tcase_add_test(tc, random_numbers_are_not_merged);
    tcase_add_test(tc, loop_invariants_are_hoisted);
    tcase_add_test(tc, passes_agree_with_unoptimized);
    tcase_add_test(tc, loops_of_large_arrays_agree_with_unoptimized);
    return check_run(s);
}
