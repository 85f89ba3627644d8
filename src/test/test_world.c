/*
 * test_world.c: runs that can't come to an end are found out, a thousand times in a row and always with
 * the same words; a failure ends the others; the same values every time.
 */
#include "text/text.h"
#include "world/world.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 8, OFTEN = 1000 };

struct run {
    struct source source;
    struct diags ds;
    struct arena arenas[MOST];
    struct module *module;
    struct program *programs[MOST];
    struct world_participant tasks[MOST];
    int64_t count;
};

static void run_begin(struct run *r, const char *text)
{
    memset(r, 0, sizeof *r);
    source_init(&r->source, str_of("test"), str_of(text));
    diags_init(&r->ds, &r->source);
    r->module = text_parse_module(&r->ds, &r->source, &(struct parse_options){0});
    ck_assert(r->module != NULL);
    r->count = r->module->replica_count * r->module->num_partitions;
    ck_assert_int_le(r->count, MOST);
    for (int64_t k = 0; k < r->count; k++) {
        struct plan_options options = {.replica = k / r->module->num_partitions,
                                       .partition = k % r->module->num_partitions};
        arena_init(&r->arenas[k]);
        r->programs[k] = plan_module(&r->ds, r->module, &options);
        ck_assert(r->programs[k] != NULL);
        r->tasks[k] = (struct world_participant){.program = r->programs[k], .arena = &r->arenas[k]};
    }
}

static void run_end(struct run *r)
{
    for (int64_t k = 0; k < r->count; k++) {
        if (r->tasks[k].result)
            literal_free_data(r->tasks[k].result);
        arena_free(&r->arenas[k]);
        program_free(r->programs[k]);
    }
    module_free(r->module);
    diags_free(&r->ds);
    source_free(&r->source);
}

/* All that is said, drawn. */
static char *failure(const char *text, const struct world_feeds *feeds)
{
    struct run r;
    struct buf out = {0};
    run_begin(&r, text);
    ck_assert(!world_run(&r.ds, r.tasks, r.count, feeds));
    for (int64_t k = 0; k < r.count; k++)
        ck_assert(r.tasks[k].result == NULL);
    diags_draw(&out, &r.ds, false);
    run_end(&r);
    return out.data;
}

static void check_often(const char *text, const char *expected)
{
    for (int k = 0; k < OFTEN; k++) {
        char *said = failure(text, NULL);
        ck_assert_str_eq(said, expected);
        free(said);
    }
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#define ADD "add { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT c = s32[] add(a, b) }\n"
/* Participant 0 runs `first`, the others `other`, on a scalar and a token. */
#define CHOOSE                                                                                     \
    "ENTRY main {\n"                                                                               \
    " r = u32[] replica-id()\n"                                                                    \
    " zero = u32[] constant(0)\n"                                                                  \
    " is_first = pred[] compare(r, zero), direction=EQ\n"                                          \
    " x = s32[] constant(1)\n"                                                                     \
    " ROOT out = s32[] conditional(is_first, x, x), true_computation=first, "                      \
    "false_computation=other }\n"
#define PAIRS(list) "frontend_attributes={_xla_send_recv_source_target_pairs=" list "}"
#define FOR_EVER                                                                                   \
    "turn { p = (s32[], s32[]) parameter(0)\n a = s32[] get-tuple-element(p), index=0\n"           \
    " b = s32[] get-tuple-element(p), index=1\n c = s32[] add(a, b)\n"                             \
    " ROOT t = (s32[], s32[]) tuple(c, a) }\n"                                                     \
    "always { p = (s32[], s32[]) parameter(0)\n ROOT t = pred[] constant(true) }\n"                \
    "loop { p = s32[] parameter(0)\n i = (s32[], s32[]) tuple(p, p)\n"                             \
    " w = (s32[], s32[]) while(i), condition=always, body=turn\n"                                  \
    " ROOT y = s32[] get-tuple-element(w), index=0 }\n"

START_TEST(uneven_all_reduce)
{
    check_often("HloModule m, replica_count=3\n" ADD
                "first { x = s32[] parameter(0)\n ROOT y = s32[] negate(x) }\n"
                "other { x = s32[] parameter(0)\n ROOT y = s32[] all-reduce(x), to_apply=add }\n" CHOOSE,
                "test:8:2: error: all-reduce on participant 1 waits for ever for participant 0, which has ended\n"
                " ROOT y = s32[] all-reduce(x), to_apply=add }\n"
                " ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
                "test:8:2: note: all-reduce on participant 2 waits for participant 0, which has ended\n"
                " ROOT y = s32[] all-reduce(x), to_apply=add }\n"
                " ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n");
}
END_TEST

/* Each waits for what the other would send afterwards. */
START_TEST(cyclic_send_and_recv)
{
    char *said = failure(
        "HloModule m, replica_count=2\n"
        "ENTRY main {\n"
        " t = token[] after-all()\n"
        " r = (s32[], u32[], token[]) recv(t), channel_id=0, " PAIRS("{{0,1},{1,0}}") "\n"
        " d = (s32[], token[]) recv-done(r), channel_id=0\n"
        " x = s32[] get-tuple-element(d), index=0\n"
        " u = token[] get-tuple-element(d), index=1\n"
        " s = (s32[], u32[], token[]) send(x, u), channel_id=0, " PAIRS("{{0,1},{1,0}}") "\n"
        " sd = token[] send-done(s), channel_id=0\n"
        " ROOT y = s32[] negate(x) }\n", NULL);
    ck_assert_ptr_nonnull(strstr(said, "test:5:2: error: recv-done on participant 0 waits for ever for participant 1\n"));
    ck_assert_ptr_nonnull(strstr(said, "test:5:2: note: recv-done on participant 1 waits for participant 0\n"));
    free(said);
}
END_TEST

/* Groups that meet in another order: 0 and 1 want each other, but at different instructions. */
START_TEST(crossed_collectives)
{
    check_often("HloModule m, replica_count=2\n" ADD
                "first { x = s32[] parameter(0)\n ROOT y = s32[] all-reduce(x), to_apply=add }\n"
                "other { x = s32[] parameter(0)\n ROOT y = s32[] collective-permute(x), source_target_pairs={{0,1}} }\n" CHOOSE,
                "test:6:2: error: all-reduce on participant 0 waits for ever for participant 1\n"
                " ROOT y = s32[] all-reduce(x), to_apply=add }\n"
                " ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
                "test:8:2: note: collective-permute on participant 1 waits for participant 0\n"
                " ROOT y = s32[] collective-permute(x), source_target_pairs={{0,1}} }\n"
                " ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n");
}
END_TEST

/* One has nothing to read; the others wait for it and say nothing of that. */
START_TEST(failure_ends_those_who_wait)
{
    check_often("HloModule m, replica_count=4\n" ADD
                "first { x = s32[] parameter(0)\n t = token[] after-all()\n f = (s32[], token[]) infeed(t)\n"
                " y = s32[] get-tuple-element(f), index=0\n ROOT z = s32[] all-reduce(y), channel_id=1, to_apply=add }\n"
                "other { x = s32[] parameter(0)\n ROOT y = s32[] all-reduce(x), channel_id=1, to_apply=add }\n" CHOOSE,
                "test:7:2: error: infeed: the host has nothing more to give\n"
                " f = (s32[], token[]) infeed(t)\n"
                " ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
                "test: note: on participant 0\n");
}
END_TEST

/* Who computes for ever is stopped, whether another failed or two wait for what can't come. */
START_TEST(nobody_is_waited_for_long)
{
    double start = seconds();
    char *said = failure("HloModule m, replica_count=2\n" FOR_EVER
                         "first { x = s32[] parameter(0)\n t = token[] after-all()\n f = (s32[], token[]) infeed(t)\n"
                         " ROOT y = s32[] get-tuple-element(f), index=0 }\n"
                         "other { x = s32[] parameter(0)\n ROOT y = s32[] call(x), to_apply=loop }\n" CHOOSE, NULL);
    ck_assert_ptr_nonnull(strstr(said, "infeed: the host has nothing more to give"));
    free(said);
    said = failure("HloModule m, replica_count=2\n" FOR_EVER
                   "first { x = s32[] parameter(0)\n t = token[] after-all()\n"
                   " r = (s32[], u32[], token[]) recv(t), channel_id=0\n d = (s32[], token[]) recv-done(r), channel_id=0\n"
                   " ROOT y = s32[] get-tuple-element(d), index=0 }\n"
                   "other { x = s32[] parameter(0)\n ROOT y = s32[] call(x), to_apply=loop }\n" CHOOSE, NULL);
    ck_assert_ptr_nonnull(strstr(said, "recv-done on participant 0 waits for ever for itself"));
    free(said);
    ck_assert_double_lt(seconds() - start, 10); /* two seconds, on a machine with nothing else to do */
}
END_TEST

START_TEST(same_values_every_time)
{
    static const char text[] =
        "HloModule m, replica_count=4, num_partitions=2\n"
        "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"
        "ENTRY main {\n"
        " r = u32[] replica-id()\n p = u32[] partition-id()\n two = u32[] constant(2)\n"
        " q = u32[] multiply(r, two)\n n = u32[] add(q, p)\n f = f32[] convert(n)\n"
        " third = f32[] constant(0.333)\n g = f32[] multiply(f, third)\n"
        " i = f32[10000] iota(), iota_dimension=0\n b = f32[10000] broadcast(g), dimensions={}\n"
        " x = f32[10000] multiply(i, b)\n"
        " s = f32[10000] all-reduce(x), channel_id=1, replica_groups={{7,1,5,3},{0,2,4,6}}, use_global_device_ids=true, to_apply=add\n"
        " y = f32[10000] collective-permute(s), channel_id=2, source_target_pairs={{0,1},{1,0}}\n"
        " zero = f32[] constant(0)\n"
        " ROOT out = f32[] reduce(y, zero), dimensions={0}, to_apply=add }\n";
    float first[MOST];
    for (int k = 0; k < OFTEN / 10; k++) {
        struct run r;
        run_begin(&r, text);
        ck_assert(world_run(&r.ds, r.tasks, r.count, NULL));
        for (int64_t p = 0; p < r.count; p++) {
            float v;
            memcpy(&v, r.tasks[p].result->data, sizeof v);
            if (k == 0)
                first[p] = v;
            ck_assert(v == first[p]);
        }
        run_end(&r);
    }
}
END_TEST

/* Gatherings are used again while somebody may still be leaving the one before; some of what is brought is
 * copied, some is lent. With as many participants as most machines have cores, and with more. */
START_TEST(meetings_again_and_again)
{
    static const char text[] =
        "HloModule m, replica_count=%d\n" ADD
        "body { p = (s32[], s32[], s32[500]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n"
        " one = s32[] constant(1)\n n = s32[] add(i, one)\n x = s32[] get-tuple-element(p), index=1\n"
        " s = s32[] all-reduce(i), to_apply=add\n y = s32[] add(x, s)\n"
        " v = s32[500] get-tuple-element(p), index=2\n b = s32[500] broadcast(s), dimensions={}\n"
        " w = s32[500] add(v, b)\n c = s32[500] collective-broadcast(w), replica_groups={{1,0}}\n"
        " ROOT t = (s32[], s32[], s32[500]) tuple(n, y, c) }\n"
        "more { p = (s32[], s32[], s32[500]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n"
        " k = s32[] constant(2000)\n ROOT l = pred[] compare(i, k), direction=LT }\n"
        "ENTRY main { z = s32[] constant(0)\n v = s32[500] broadcast(z), dimensions={}\n"
        " t = (s32[], s32[], s32[500]) tuple(z, z, v)\n"
        " w = (s32[], s32[], s32[500]) while(t), condition=more, body=body\n"
        " a = s32[] get-tuple-element(w), index=1\n b = s32[500] get-tuple-element(w), index=2\n"
        " c = s32[1] slice(b), slice={[499:500]}\n d = s32[] reshape(c)\n ROOT r = s32[] add(a, d) }\n";
    for (int n = 2; n <= MOST; n++) {
        char of_n[sizeof text + 8];
        struct run r;
        snprintf(of_n, sizeof of_n, text, n);
        run_begin(&r, of_n);
        ck_assert(world_run(&r.ds, r.tasks, r.count, NULL));
        for (int64_t p = 0; p < r.count; p++) { /* n times the sum of 0 .. 1999; of the second only groups have some */
            int32_t v, sum = n * 1999000;
            memcpy(&v, r.tasks[p].result->data, sizeof v);
            ck_assert_int_eq(v, p < 2 ? 2 * sum : sum);
        }
        run_end(&r);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("world");
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, uneven_all_reduce);
    tcase_add_test(t, cyclic_send_and_recv);
    tcase_add_test(t, crossed_collectives);
    tcase_add_test(t, failure_ends_those_who_wait);
    tcase_add_test(t, nobody_is_waited_for_long);
    tcase_add_test(t, same_values_every_time);
    tcase_add_test(t, meetings_again_and_again);
    suite_add_tcase(s, t);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
