/*
 * Tests of infinite loops: static detection; detection of repeated states, without false
 * positives; and agreement of all execution modes on random loops.
 */
#include "random_view.h"
#include "run_text.h"

/* ---- static detection ---- */

static const struct step *find_step(const struct program *p, const char *name)
{
    for (int k = 0; k < p->function_count; k++)
        for (int j = 0; j < p->functions[k]->step_count; j++)
            if (str_is(p->functions[k]->steps[j].inst->name, name))
                return &p->functions[k]->steps[j];
    return NULL;
}

/* Checks the result for a loop `w` over (s32[], s32[], f32[], s32[9]), with these lines in its
 * condition and its body, where its elements are i, n, x and v: "never", "unknown", or the leaves
 * that the condition depends on. */
static void check_known(const char *condition, const char *body, const char *expected)
{
    static const char elements[] = "  i = s32[] get-tuple-element(p), index=0\n"
                                   "  n = s32[] get-tuple-element(p), index=1\n"
                                   "  x = f32[] get-tuple-element(p), index=2\n"
                                   "  v = s32[9] get-tuple-element(p), index=3\n"
                                   "  one = s32[] constant(1)\n";
    struct buf text = {0}, known = {0};
    struct run r;
    buf_printf(&text,
               "HloModule m\n"
               "twice { a = s32[] parameter(0)  ROOT t = s32[] add(a, a) }\n"
               "next { a = s32[] parameter(0)  k = s32[] constant(3)\n"
               "  ROOT t = s32[] subtract(a, k) }\n"
               "both { a = s32[] parameter(0)  b = f32[] parameter(1)\n"
               "  ROOT t = (f32[], s32[]) tuple(b, a) }\n"
               "less { a = s32[] parameter(0)  k = s32[] constant(5)\n"
               "  ROOT t = pred[] compare(a, k), direction=LT }\n"
               "c { p = (s32[], s32[], f32[], s32[9]) parameter(0)\n"
               "%s%s}\n"
               "b { p = (s32[], s32[], f32[], s32[9]) parameter(0)\n"
               "%s%s}\n"
               "ENTRY e { p = (s32[], s32[], f32[], s32[9]) parameter(0)\n"
               "  ROOT w = (s32[], s32[], f32[], s32[9]) while(p), condition=c, body=b }\n",
               elements, condition, elements, body);
    buf_putc(&text, '\0');
    run_plan(&r, text.data, &(struct plan_options){.traced = true});
    const struct step *w = find_step(r.program, "w");
    ck_assert_ptr_nonnull(w);
    const struct termination *t = w->as.termination;
    buf_puts(&known, !t ? "unknown" : t->known == ENDS_NEVER ? "never" : "");
    for (int k = 0; t && k < t->count; k++)
        buf_printf(&known, "%s%d", k ? " " : "", t->leaves[k]);
    buf_putc(&known, '\0');
    ck_assert_msg(strcmp(known.data, expected) == 0, "%s: %s\n%s", expected, known.data, text.data);
    run_free(&r);
    buf_free(&text);
    buf_free(&known);
}

START_TEST(static_detection)
{
    static const char less[] = "  ROOT t = pred[] compare(i, n), direction=LT\n",
                      same[] = "  ROOT o = (s32[], s32[], f32[], s32[9]) tuple(i, n, x, v)\n",
                      next[] = "  ROOT o = (s32[], s32[], f32[], s32[9]) tuple(j, n, x, v)\n";
    struct buf body = {0};
    static const struct {
        const char *condition, *body, *expected; /* body: the definition of j, or the whole body */
    } cases[] = {
        {"  ROOT t = pred[] constant(true)\n", "  j = s32[] add(i, one)\n", "never"},
        {less, "  j = s32[] copy(i)\n", "never"},
        {less, "  j = s32[] add(i, one)\n", "unknown"}, /* a counter */
        {less, "  j = s32[] add(one, i)\n", "unknown"},
        {less, "  j = s32[] subtract(i, one)\n", "unknown"},
        {less, "  j = s32[] subtract(one, i)\n", "0"},
        {less,
         "  k = s32[] constant(0)\n"
         "  j = s32[] add(i, k)\n",
         "0"},
        {less,
         "  k = s32[] constant(-2147483648)\n"
         "  j = s32[] add(i, k)\n",
         "0"}, /* two values */
        {less, "  j = s32[] add(i, n)\n", "0"},
        {less, "  j = s32[] multiply(i, i)\n", "0"},
        {less, "  j = s32[] fusion(i), kind=kLoop, calls=twice\n", "0"},
        {less, "  j = s32[] call(i), to_apply=next\n", "unknown"},
        {less,
         "  q = (f32[], s32[]) call(i, x), to_apply=both\n"
         "  j = s32[] get-tuple-element(q), index=1\n",
         "never"},
        {less,
         "  q = (f32[], s32[]) call(n, x), to_apply=both\n"
         "  j = s32[] get-tuple-element(q), index=1\n",
         "0"},
        {less, "  j = s32[] convert(x)\n", "0"}, /* x is passed on */
        {"  y = s32[] call(n), to_apply=twice\n"
         "  ROOT t = pred[] compare(y, n), direction=LT\n",
         "  j = s32[] add(i, one)\n", "never"},
        {"  z = f32[] constant(0)\n"
         "  ROOT t = pred[] compare(x, z), direction=GT\n",
         "  j = s32[] add(i, one)\n", "never"},
        {less,
         "  r = pred[] compare(i, n), direction=LT\n"
         "  j = s32[] conditional(r, i, n), true_computation=twice, "
         "false_computation=next\n",
         "0"},
        {less, "  j = s32[] while(i), condition=less, body=next\n", "0"},
        {less,
         "  z = f32[] constant(0)\n"
         "  u = f32[] rng(z, x), distribution=rng_uniform\n"
         "  j = s32[] copy(i)\n",
         "unknown"},
        {less, "  j = s32[] custom-call(i), custom_call_target=\"t\"\n", "unknown"},
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        body.size = 0;
        buf_printf(&body, "%s%s", cases[k].body, next);
        buf_putc(&body, '\0');
        check_known(cases[k].condition, body.data, cases[k].expected);
    }
    check_known(less, same, "never");
    check_known("  s = s32[1] slice(v), slice={[2:3]}\n"
                "  z = s32[] reshape(s)\n"
                "  ROOT t = pred[] compare(z, one), direction=LT\n",
                "  y = s32[9] negate(v)\n"
                "  f = f32[] convert(i)\n"
                "  ROOT o = (s32[], s32[], f32[], s32[9]) tuple(n, i, f, y)\n",
                "3");
    check_known("  z = s32[] convert(x)\n"
                "  ROOT t = pred[] compare(z, one), direction=LT\n",
                "  f = f32[] convert(n)\n"
                "  ROOT o = (s32[], s32[], f32[], s32[9]) tuple(n, i, f, v)\n",
                "0 1 2");
    buf_free(&body);
}
END_TEST

/* ---- repeated states ---- */

enum { ROWS = 7, COLUMNS = 15 };

/* Visits until a cycle is found, at most `max`, where the state of visit v is zero except for v %
 * period in one place. */
static int visits_until_found(int place, int period, bool transposed, int max)
{
    int32_t numbers[ROWS * COLUMNS] = {0};
    struct scalar_view part = {0};
    struct cycle c = {.part_count = 1, .parts = &part};
    view_dense(&part.view, DT_S32, 2, (const int64_t[]){ROWS, COLUMNS}, numbers);
    if (transposed) {
        part.view.dims[0] = COLUMNS;
        part.view.dims[1] = ROWS;
        part.view.strides[1] = part.view.strides[0];
        part.view.strides[0] = sizeof *numbers;
    }
    for (int v = 0; v < max; v++) {
        numbers[place] = v % period;
        if (cycle_visit(&c))
            return v + 1;
    }
    return max;
}

START_TEST(repeated_states_are_detected)
{
    for (int place = 0; place < ROWS * COLUMNS; place++)
        for (int period = 1; period < 6; period++)
            for (int transposed = 0; transposed < 2; transposed++) {
                const int visits = visits_until_found(place, period, transposed, 100);
                ck_assert_msg(visits > period && visits < 100, "%d %d", place, period);
            }
    for (int place = 0; place < ROWS * COLUMNS; place++)
        ck_assert_int_eq(visits_until_found(place, 1000, place % 2, 900), 900);
}
END_TEST

/* The number of visited iterations of n; the first and the last visited one. */
START_TEST(visited_iterations)
{
    struct cycle c = {.mode = CYCLE_FORGOTTEN};
    struct cycle_clock clock = {0, 0, 0};
    int visits = 0;
    for (int k = 1; k <= 1 << 20; k++) {
        const bool due = cycle_is_due(&clock, &c);
        visits += due;
        ck_assert(k != 1 || !due);
        ck_assert(k != 1 << 20 || due);
        if (k == 1000)
            ck_assert_int_le(visits, 30);
    }
    ck_assert_int_le(visits, 1 << 11);
}
END_TEST

/* ---- random loops ---- */

enum { STATES = 16, STARTS = 3 };

struct random_loop {
    int next[STATES], target, starts[STARTS];
};

/* A random function in which the target is often, but not always, reachable. */
static struct random_loop make_random_loop(struct random *rng)
{
    struct random_loop g;
    for (int k = 0; k < STATES; k++)
        g.next[k] = (int)random_in(rng, 0, STATES - 1);
    g.target = g.next[random_in(rng, 0, STATES - 1)];
    for (int k = 0; k < STARTS; k++)
        g.starts[k] = (int)random_in(rng, 0, STATES - 1);
    return g;
}

/* Iterations until the target has been reached from all starts, one after the other; -1: never. */
static int iterations_of(const struct random_loop *g)
{
    int sum = 0;
    for (int k = 0; k < STARTS; k++) {
        int n = 0;
        for (int x = g->starts[k]; x != g->target; x = g->next[x])
            if (++n > STATES)
                return -1;
        sum += n;
    }
    return sum;
}

static void put_numbers(struct buf *text, const int *numbers, int count)
{
    buf_puts(text, "constant({");
    for (int k = 0; k < count; k++)
        buf_printf(text, "%s%d", k ? ", " : "", numbers[k]);
    buf_puts(text, "})\n");
}

/* A loop `w` for each start, in a loop over the starts that sums iterations. The state has `size`
 * equal elements; with `branch` the body has a conditional. */
static void put_random_loop(struct buf *text, const struct random_loop *g, int size, bool branch)
{
    buf_printf(text, "HloModule m\n"
                     "look { x = s32[] parameter(0)\n"
                     "  table = s32[16] ");
    put_numbers(text, g->next, STATES);
    buf_printf(text,
               "  y = s32[1] dynamic-slice(table, x), dynamic_slice_sizes={1}\n"
               "  ROOT r = s32[] reshape(y) }\n"
               "c { p = (s32[%d], s32[]) parameter(0)\n"
               "  a = s32[%d] get-tuple-element(p), index=0\n"
               "  h = s32[1] slice(a), slice={[0:1]}\n"
               "  x = s32[] reshape(h)\n"
               "  t = s32[] constant(%d)\n"
               "  ROOT go = pred[] compare(x, t), direction=NE }\n"
               "b { p = (s32[%d], s32[]) parameter(0)\n"
               "  a = s32[%d] get-tuple-element(p), index=0\n"
               "  n = s32[] get-tuple-element(p), index=1\n"
               "  h = s32[1] slice(a), slice={[0:1]}\n"
               "  x = s32[] reshape(h)\n"
               "  one = s32[] constant(1)\n"
               "  odd = s32[] and(x, one)\n"
               "  z = pred[] convert(odd)\n",
               size, size, g->target, size, size);
    if (branch)
        buf_puts(text, "  y = s32[] conditional(z, x, x), true_computation=look, "
                       "false_computation=look\n");
    else
        buf_puts(text, "  y = s32[] call(x), to_apply=look\n");
    buf_printf(text,
               "  m = s32[] add(n, one)\n"
               "  d = s32[%d] broadcast(y), dimensions={}\n"
               "  ROOT t = (s32[%d], s32[]) tuple(d, m) }\n"
               "oc { p = (s32[], s32[]) parameter(0)\n"
               "  i = s32[] get-tuple-element(p), index=0\n"
               "  k = s32[] constant(%d)\n"
               "  ROOT go = pred[] compare(i, k), direction=LT }\n"
               "ob { p = (s32[], s32[]) parameter(0)\n"
               "  i = s32[] get-tuple-element(p), index=0\n"
               "  n = s32[] get-tuple-element(p), index=1\n"
               "  starts = s32[%d] ",
               size, size, STARTS, STARTS);
    put_numbers(text, g->starts, STARTS);
    buf_printf(text,
               "  h = s32[1] dynamic-slice(starts, i), dynamic_slice_sizes={1}\n"
               "  x = s32[] reshape(h)\n"
               "  a = s32[%d] broadcast(x), dimensions={}\n"
               "  s = (s32[%d], s32[]) tuple(a, n)\n"
               "  w = (s32[%d], s32[]) while(s), condition=c, body=b\n"
               "  m = s32[] get-tuple-element(w), index=1\n"
               "  one = s32[] constant(1)\n"
               "  j = s32[] add(i, one)\n"
               "  ROOT t = (s32[], s32[]) tuple(j, m) }\n"
               "ENTRY e { z = s32[] constant(0)\n"
               "  t = (s32[], s32[]) tuple(z, z)\n"
               "  o = (s32[], s32[]) while(t), condition=oc, body=ob\n"
               "  ROOT n = s32[] get-tuple-element(o), index=1 }\n",
               size, size, size);
    buf_putc(text, '\0');
}

/* The run ends after this number of iterations; -1: it fails with an infinite loop. */
static void check_random_loop(const char *text, int iterations, const struct plan_options *options)
{
    struct run r;
    run_plan(&r, text, options);
    run_try(&r, NULL, 0);
    if (iterations >= 0)
        ck_assert_msg(r.result && *(const int32_t *)r.result->data == iterations, "%s", text);
    else
        ck_assert_msg(!r.result && r.ds.errors == 1 && r.ds.first->msg == MSG_INFINITE_CYCLE &&
                          strstr(run_messages(&r), "  w = "),
                      "%s", text);
    run_free(&r);
}

START_TEST(random_loops)
{
    struct random rng = {17};
    int infinite = 0;
    enum { GAMES = 120 };
    for (int k = 0; k < GAMES; k++) {
        const struct random_loop g = make_random_loop(&rng);
        const int iterations = iterations_of(&g), size = k % 3 == 0 ? 1 : k % 3 == 1 ? 40 : 2000;
        struct buf text = {0};
        put_random_loop(&text, &g, size, k % 2 == 0);
        check_random_loop(text.data, iterations, &(struct plan_options){0});
        check_random_loop(text.data, iterations, &(struct plan_options){.plain = true});
        if (k % 10 == 0)
            check_random_loop(text.data, iterations, &(struct plan_options){.traced = true});
        buf_free(&text);
        infinite += iterations < 0;
    }
    ck_assert_int_gt(infinite, GAMES / 5);
    ck_assert_int_lt(infinite, GAMES * 4 / 5);
}
END_TEST

/* A loop of two iterations, entered repeatedly, and then a reducer of `count` elements with the
 * same loop: scalar code of its own, with steps from the same budget. */
START_TEST(step_budget_is_shared)
{
    for (int count = 1; count <= 12; count++) {
        struct buf text = {0};
        buf_printf(&text,
                   "HloModule m\n"
                   "ic { p = (u32[], u32[]) parameter(0)\n"
                   "  x = u32[] get-tuple-element(p), index=0\n"
                   "  z = u32[] constant(0)\n"
                   "  ROOT go = pred[] compare(x, z), direction=NE }\n"
                   "ib { p = (u32[], u32[]) parameter(0)\n"
                   "  x = u32[] get-tuple-element(p), index=0\n"
                   "  n = u32[] get-tuple-element(p), index=1\n"
                   "  one = u32[] constant(1)\n"
                   "  y = u32[] shift-right-logical(x, one)\n"
                   "  m = u32[] add(n, one)\n"
                   "  ROOT t = (u32[], u32[]) tuple(y, m) }\n"
                   "bits { n = u32[] parameter(0)\n"
                   "  x = u32[] parameter(1)\n"
                   "  s = (u32[], u32[]) tuple(x, n)\n"
                   "  w = (u32[], u32[]) while(s), condition=ic, body=ib\n"
                   "  ROOT m = u32[] get-tuple-element(w), index=1 }\n"
                   "oc { p = (s32[], u32[]) parameter(0)\n"
                   "  i = s32[] get-tuple-element(p), index=0\n"
                   "  k = s32[] constant(15000)\n"
                   "  ROOT go = pred[] compare(i, k), direction=LT }\n"
                   "ob { p = (s32[], u32[]) parameter(0)\n"
                   "  i = s32[] get-tuple-element(p), index=0\n"
                   "  n = u32[] get-tuple-element(p), index=1\n"
                   "  x = u32[] constant(2)\n"
                   "  k = u32[] call(n, x), to_apply=bits\n"
                   "  v = u32[%d] broadcast(x), dimensions={}\n"
                   "  m = u32[] reduce(v, k), dimensions={0}, to_apply=bits\n"
                   "  one = s32[] constant(1)\n"
                   "  j = s32[] add(i, one)\n"
                   "  ROOT t = (s32[], u32[]) tuple(j, m) }\n"
                   "ENTRY e { z = s32[] constant(0)\n"
                   "  n = u32[] constant(0)\n"
                   "  t = (s32[], u32[]) tuple(z, n)\n"
                   "  o = (s32[], u32[]) while(t), condition=oc, body=ob\n"
                   "  ROOT m = u32[] get-tuple-element(o), index=1 }\n",
                   count);
        buf_putc(&text, '\0');
        check_random_loop(text.data, 15000 * 2 * (count + 1), &(struct plan_options){0});
        check_random_loop(text.data, 15000 * 2 * (count + 1),
                          &(struct plan_options){.plain = true});
        buf_free(&text);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("termination");
    TCase *tc = tcase_create("all");
    suite_add_tcase(s, tc);
    tcase_add_test(tc, static_detection);
    tcase_add_test(tc, repeated_states_are_detected);
    tcase_add_test(tc, visited_iterations);
    tcase_add_test(tc, random_loops);
    tcase_add_test(tc, step_budget_is_shared);
    return check_run(s);
}
