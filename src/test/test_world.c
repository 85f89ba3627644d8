/*
 * Tests of several participants: deadlocks are detected, a thousand times with the same message; a
 * failure ends the other participants; values are reproducible. On threads of one process, and on
 * ranks, up to the maximum number.
 */
#include "base/oom.h"
#include "test/thread_transport.h"
#include "text/text.h"
#include "world/world.h"

#include "check_quiet.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_PARTICIPANTS = 8, REPETITIONS = 200 };

struct run {
    struct source source;
    struct diags ds;
    struct arena arenas[MAX_PARTICIPANTS];
    struct module *module;
    struct program *program;
    struct run_state *states[MAX_PARTICIPANTS];
    struct world_participant tasks[MAX_PARTICIPANTS];
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
    ck_assert_int_le(r->count, MAX_PARTICIPANTS);
    r->program = plan_module(&r->ds, r->module, &(struct plan_options){0});
    ck_assert(r->program != NULL);
    for (int64_t k = 0; k < r->count; k++) {
        arena_init(&r->arenas[k]);
        r->states[k] = run_state_new(r->program, k);
        r->tasks[k] = (struct world_participant){.state = r->states[k], .arena = &r->arenas[k]};
    }
}

static void run_end(struct run *r)
{
    for (int64_t k = 0; k < r->count; k++) {
        if (r->tasks[k].result)
            literal_free_data(r->tasks[k].result);
        arena_free(&r->arenas[k]);
        run_state_free(r->states[k]);
    }
    program_free(r->program);
    module_free(r->module);
    diags_free(&r->ds);
    source_free(&r->source);
}

/* ---- a run on threads, or on ranks simulated by threads ---- */

struct rank {
    struct transport transport;
    const char *text;
    const struct world_feeds *feeds;
    struct run run;
    bool ok;
    struct buf messages; /* rendered messages */
    pthread_t thread;
};
struct test_run {
    int ranks; /* 0: no ranks, only threads */
    struct network network;
    struct rank all[NETWORK_MAX];
};

static void run_here(struct rank *k, struct ranks *r)
{
    struct oom_scope
        g; /* as in functions of hlo.h: threads free allocations of other threads of the run */
    oom_enter(&g, NULL);
    ck_assert_int_eq(setjmp(g.back), 0);
    run_begin(&k->run, k->text);
    k->ok = r ? ranks_run(r, &k->run.ds, k->run.tasks, k->run.count, k->feeds)
              : world_run(&k->run.ds, k->run.tasks, k->run.count, k->feeds);
    diags_draw(&k->messages, &k->run.ds, NULL);
    buf_putc(&k->messages, '\0');
    oom_leave(&g);
}

static void *rank_main(void *context)
{
    struct rank *k = context;
    struct ranks *r = ranks_open(&k->transport);
    int who, self = k->transport.rank, last = k->transport.size - 1;
    ck_assert_int_eq(ranks_agree(r, self == last, &who), 1);
    ck_assert_int_eq(who, last);
    struct buf text = {0};
    if (self == 0)
        buf_puts(&text, "from rank 0");
    ck_assert(ranks_share(r, &text, true));
    ck_assert_str_eq(text.data, "from rank 0");
    ck_assert(!ranks_share(r, &text, self > 0));
    buf_free(&text);
    run_here(k, r);
    ck_assert_int_eq(ranks_agree(r, 7, &who), 7);
    ck_assert_int_eq(who, 0);
    ranks_close(r);
    return NULL;
}

/* All ranks have the same messages; only the first one has results, and only of a successful
 * run. */
static void check_ranks(const struct test_run *t)
{
    for (int k = 0; k < t->ranks; k++) {
        ck_assert_int_eq(t->all[k].ok, t->all[0].ok);
        ck_assert_str_eq(t->all[k].messages.data, t->all[0].messages.data);
        for (int64_t p = 0; p < t->all[k].run.count; p++)
            ck_assert_int_eq(t->all[k].run.tasks[p].result != NULL, t->all[0].ok && k == 0);
    }
}

/* Starts the run; the run of the first rank is inspected, then test_run_end is called. */
static struct rank *test_run_begin(struct test_run *t, const char *text,
                                   const struct world_feeds *feeds, int ranks, uint64_t seed)
{
    memset(t, 0, sizeof *t);
    t->ranks = ranks;
    t->all[0] = (struct rank){.text = text, .feeds = feeds};
    if (ranks == 0) {
        run_here(&t->all[0], NULL);
        return &t->all[0];
    }
    network_open(&t->network, seed);
    for (int k = 0; k < ranks; k++) {
        struct transport transport = network_transport(&t->network, k, ranks);
        t->all[k] =
            (struct rank){.transport = transport, .text = text, .feeds = k == 0 ? feeds : NULL};
        ck_assert_int_eq(pthread_create(&t->all[k].thread, NULL, rank_main, &t->all[k]), 0);
    }
    for (int k = 0; k < ranks; k++)
        pthread_join(t->all[k].thread, NULL);
    network_close(&t->network);
    check_ranks(t);
    return &t->all[0];
}

static void test_run_end(struct test_run *t)
{
    for (int k = 0; k < t->ranks || k == 0; k++) {
        run_end(&t->all[k].run);
        buf_free(&t->all[k].messages);
    }
}

/* Returns all messages. */
static char *failure(const char *text, const struct world_feeds *feeds, int ranks, uint64_t seed)
{
    struct test_run t;
    struct rank *first = test_run_begin(&t, text, feeds, ranks, seed);
    ck_assert(!first->ok);
    for (int64_t k = 0; k < first->run.count; k++)
        ck_assert(first->run.tasks[k].result == NULL);
    char *messages = strdup(first->messages.data);
    test_run_end(&t);
    return messages;
}

static void check_failure(const char *text, const char *expected, int ranks, uint64_t seed)
{
    char *messages = failure(text, NULL, ranks, seed);
    ck_assert_str_eq(messages, expected);
    free(messages);
}

/* The message is the same each time, and appears before the timeout at least once (the machine may
 * be busy). */
static void check_often(const char *text, const char *expected)
{
    double min[] = {100, 100}; /* of threads, of ranks */
    for (int k = 0; k < REPETITIONS + REPETITIONS / 10; k++) {
        int ranks = k < REPETITIONS ? 0 : 1 + k % NETWORK_MAX;
        double start = now_seconds(), *best = &min[ranks > 0];
        check_failure(text, expected, ranks, (uint64_t)k);
        *best = fmin(*best, now_seconds() - start);
    }
    ck_assert_double_lt(min[0], 0.3);
    ck_assert_double_lt(min[1], 0.3);
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
#define ENDLESS_LOOP                                                                               \
    "turn { a = s32[] parameter(0)\n two = s32[] constant(2)\n ROOT c = s32[] add(a, two) }\n"     \
    "odd { a = s32[] parameter(0)\n zero = s32[] constant(0)\n"                                    \
    " ROOT t = pred[] compare(a, zero), direction=NE }\n"                                          \
    "loop { p = s32[] parameter(0)\n ROOT w = s32[] while(p), condition=odd, body=turn }\n"

START_TEST(uneven_all_reduce)
{
    check_often(
        "HloModule m, replica_count=3\n" ADD
        "first { x = s32[] parameter(0)\n ROOT y = s32[] negate(x) }\n"
        "other { x = s32[] parameter(0)\n ROOT y = s32[] all-reduce(x), to_apply=add }\n" CHOOSE,
        "test:8:2: error: deadlock: 'all-reduce' on participant 1 waits for participant 0, which "
        "has finished\n"
        " ROOT y = s32[] all-reduce(x), to_apply=add }\n"
        " ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "test:8:2: note: all-reduce on participant 2 waits for participant 0, which has finished\n"
        " ROOT y = s32[] all-reduce(x), to_apply=add }\n"
        " ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n");
}
END_TEST

/* Each waits for a message that the other would send afterwards. */
START_TEST(cyclic_send_and_recv)
{
    check_often(
        "HloModule m, replica_count=2\n"
        "ENTRY main {\n"
        " t = token[] after-all()\n"
        " r = (s32[], u32[], token[]) recv(t), channel_id=0, " PAIRS(
            "{{0,1},{1,0}}") "\n"
                             " d = (s32[], token[]) recv-done(r), channel_id=0\n"
                             " x = s32[] get-tuple-element(d), index=0\n"
                             " s = (s32[], u32[], token[]) send(x, t), channel_id=0, " PAIRS(
                                 "{{0,1},{1,0}}") "\n"
                                                  " sd = token[] send-done(s), channel_id=0\n"
                                                  " ROOT y = s32[] negate(x) }\n",
        "test:5:2: error: deadlock: 'recv-done' on participant 0 waits for participant 1\n"
        " d = (s32[], token[]) recv-done(r), channel_id=0\n"
        " ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "test:7:2: note: send 's' of participant 1 comes after its recv-done 'd'\n"
        " s = (s32[], u32[], token[]) send(x, t), channel_id=0, "
        "frontend_attributes={_xla_send_recv_source_ta...\n"
        " ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~"
        "~~~~~~~~~~\n"
        "test:5:2: note: recv-done on participant 1 waits for participant 0\n"
        " d = (s32[], token[]) recv-done(r), channel_id=0\n"
        " ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "test:7:2: note: send 's' of participant 0 comes after its recv-done 'd'\n"
        " s = (s32[], u32[], token[]) send(x, t), channel_id=0, "
        "frontend_attributes={_xla_send_recv_source_ta...\n"
        " ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~"
        "~~~~~~~~~~\n");
}
END_TEST

/* The receiver waits for a participant that executes a branch without a send; the actual sender has
 * another target. */
START_TEST(missing_partner)
{
    check_often("HloModule m, replica_count=2\n"
                "first { x = s32[] parameter(0)\n ROOT y = s32[] negate(x) }\n"
                "other { x = s32[] parameter(0)\n t = token[] after-all()\n"
                " r = (s32[], u32[], token[]) recv(t), channel_id=0, " PAIRS(
                    "{{0,1}}") "\n"
                               " d = (s32[], token[]) recv-done(r), channel_id=0\n"
                               " ROOT y = s32[] get-tuple-element(d), index=0 }\n" CHOOSE,
                "test:7:2: error: deadlock: 'recv-done' on participant 1 waits for participant 0, "
                "which has finished\n"
                " d = (s32[], token[]) recv-done(r), channel_id=0\n"
                " ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n");
    check_often(
        "HloModule m, replica_count=2\n"
        "first { x = s32[] parameter(0)\n t = token[] after-all()\n"
        " s = (s32[], u32[], token[]) send(x, t), channel_id=0, " PAIRS(
            "{{0,1}}") "\n"
                       " d = token[] send-done(s), channel_id=0\n"
                       " ROOT y = s32[] negate(x) }\n"
                       "other { x = s32[] parameter(0)\n ROOT y = s32[] negate(x) }\n" CHOOSE,
        "test:4:2: error: message from participant 0 was never received by participant 1\n"
        " s = (s32[], u32[], token[]) send(x, t), channel_id=0, "
        "frontend_attributes={_xla_send_recv_source_ta...\n"
        " ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~"
        "~~~~~~~~~~\n");
}
END_TEST

/* The same channel, but with different replica groups. */
START_TEST(different_groups)
{
    check_often("HloModule m, replica_count=3\n" ADD "first { x = s32[] parameter(0)\n"
                " ROOT y = s32[] all-reduce(x), channel_id=1, replica_groups={{0,1},{2}}, "
                "use_global_device_ids=true, to_apply=add }\n"
                "other { x = s32[] parameter(0)\n"
                " ROOT y = s32[] all-reduce(x), channel_id=1, replica_groups={{0},{1,2}}, "
                "use_global_device_ids=true, to_apply=add "
                "}\n" CHOOSE,
                "test:6:2: error: deadlock: 'all-reduce' on participant 0 waits for participant 1, "
                "which has finished\n"
                " ROOT y = s32[] all-reduce(x), channel_id=1, replica_groups={{0,1},{2}}, "
                "use_global_device_ids=true,...\n"
                " ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~"
                "~~~~~~~~~~~~~~~~~~\n");
}
END_TEST

/* Groups that meet in different orders: 0 and 1 wait for each other, but at different
 * instructions. */
START_TEST(crossed_collectives)
{
    check_often("HloModule m, replica_count=2\n" ADD
                "first { x = s32[] parameter(0)\n ROOT y = s32[] all-reduce(x), to_apply=add }\n"
                "other { x = s32[] parameter(0)\n ROOT y = s32[] collective-permute(x), "
                "source_target_pairs={{0,1}} }\n" CHOOSE,
                "test:6:2: error: deadlock: 'all-reduce' on participant 0 waits for participant 1\n"
                " ROOT y = s32[] all-reduce(x), to_apply=add }\n"
                " ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
                "test:8:2: note: collective-permute on participant 1 waits for participant 0\n"
                " ROOT y = s32[] collective-permute(x), source_target_pairs={{0,1}} }\n"
                " ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n");
}
END_TEST

/* One participant has no infeed item; the others wait for it and report nothing. */
START_TEST(failure_ends_waiting_participants)
{
    check_often("HloModule m, replica_count=4\n" ADD
                "first { x = s32[] parameter(0)\n t = token[] after-all()\n f = (s32[], token[]) "
                "infeed(t)\n"
                " y = s32[] get-tuple-element(f), index=0\n ROOT z = s32[] all-reduce(y), "
                "channel_id=1, to_apply=add }\n"
                "other { x = s32[] parameter(0)\n ROOT y = s32[] all-reduce(x), channel_id=1, "
                "to_apply=add }\n" CHOOSE,
                "test:7:2: error: 'infeed': no more items in the feed of the host\n"
                " f = (s32[], token[]) infeed(t)\n"
                " ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
                "test: note: on participant 0\n");
}
END_TEST

/* An endless computation is stopped if another participant failed or a deadlock occurs: the test
 * ends. */
START_TEST(stalled_runs_are_interrupted)
{
    for (int ranks = 0; ranks <= 2; ranks++) {
        char *messages = failure(
            "HloModule m, replica_count=2\n" ENDLESS_LOOP
            "first { x = s32[] parameter(0)\n t = token[] after-all()\n f = (s32[], token[]) "
            "infeed(t)\n"
            " ROOT y = s32[] get-tuple-element(f), index=0 }\n"
            "other { x = s32[] parameter(0)\n ROOT y = s32[] call(x), to_apply=loop }\n" CHOOSE,
            NULL, ranks, 1);
        ck_assert_ptr_nonnull(strstr(messages, "'infeed': no more items in the feed of the host"));
        free(messages);
        messages = failure(
            "HloModule m, replica_count=2\n" ENDLESS_LOOP
            "first { x = s32[] parameter(0)\n t = token[] after-all()\n"
            " r = (s32[], u32[], token[]) recv(t), channel_id=0\n d = (s32[], token[]) "
            "recv-done(r), channel_id=0\n"
            " ROOT y = s32[] get-tuple-element(d), index=0 }\n"
            "other { x = s32[] parameter(0)\n ROOT y = s32[] call(x), to_apply=loop }\n" CHOOSE,
            NULL, ranks, 1);
        ck_assert_ptr_nonnull(strstr(messages, "'recv-done' on participant 0 waits for itself"));
        free(messages);
    }
}
END_TEST

/* Checks that each participant returns twice its own number to the host. */
struct host {
    atomic_int given, taken;
};

static enum feed feed_item(void *context, int64_t participant, struct budget *b, struct arena *a,
                           struct literal **out)
{
    struct host *h = context;
    (void)b;
    if (participant == 3 && h->given < 0)
        return FEED_EMPTY;
    *out = literal_new(a, shape_scalar(a, DT_S32));
    *(int32_t *)(*out)->data = (int32_t)participant;
    h->given++;
    return FEED_ITEM;
}

static bool take(void *context, int64_t participant, struct budget *b, const struct literal *l)
{
    struct host *h = context;
    (void)b;
    ck_assert_int_eq(*(const int32_t *)l->data, 2 * participant);
    h->taken++;
    return true;
}

START_TEST(host_feeds_of_all_participants)
{
    static const char text[] = "HloModule m, replica_count=4\n"
                               "ENTRY main {\n"
                               " t = token[] after-all()\n"
                               " f = (s32[], token[]) infeed(t)\n"
                               " x = s32[] get-tuple-element(f), index=0\n"
                               " u = token[] get-tuple-element(f), index=1\n"
                               " y = s32[] add(x, x)\n"
                               " o = token[] outfeed(y, u), outfeed_shape=s32[]\n"
                               " ROOT r = s32[] negate(y) }\n";
    for (int ranks = 0; ranks <= 5; ranks++) {
        struct host host = {0, 0};
        const struct world_feeds feeds = {&host, feed_item, take};
        struct test_run t;
        struct rank *first = test_run_begin(&t, text, &feeds, ranks, 1);
        ck_assert(first->ok);
        ck_assert_int_eq(host.given, 4);
        ck_assert_int_eq(host.taken, 4);
        test_run_end(&t);
        host = (struct host){-10, 0};
        char *messages = failure(text, &feeds, ranks, 2);
        ck_assert_ptr_nonnull(strstr(messages, "'infeed': no more items in the feed of the host"));
        ck_assert_ptr_nonnull(strstr(messages, "on participant 3"));
        free(messages);
    }
}
END_TEST

START_TEST(values_are_reproducible)
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
        " s = f32[10000] all-reduce(x), channel_id=1, replica_groups={{7,1,5,3},{0,2,4,6}}, "
        "use_global_device_ids=true, to_apply=add\n"
        " y = f32[10000] collective-permute(s), channel_id=2, source_target_pairs={{0,1},{1,0}}\n"
        " zero = f32[] constant(0)\n"
        " ROOT out = f32[] reduce(y, zero), dimensions={0}, to_apply=add }\n";
    float first[MAX_PARTICIPANTS];
    for (int k = 0; k < REPETITIONS / 2; k++) {
        struct test_run t;
        const struct rank *r =
            test_run_begin(&t, text, NULL, k % 10 == 0 ? k / 10 % NETWORK_MAX : 0, (uint64_t)k);
        ck_assert(r->ok);
        for (int64_t p = 0; p < r->run.count; p++) {
            float v;
            memcpy(&v, r->run.tasks[p].result->data, sizeof v);
            if (k == 0)
                first[p] = v;
            ck_assert(v == first[p]);
        }
        test_run_end(&t);
    }
}
END_TEST

/* A rendezvous is reused while some participants may still be leaving the previous one; some
 * payloads are copied, some borrowed. With as many participants as most machines have cores, and
 * with more. */
START_TEST(rendezvous_is_reused)
{
    static const char text[] =
        "HloModule m, replica_count=%d\n" ADD "body { p = (s32[], s32[], s32[500]) parameter(0)\n "
        "i = s32[] get-tuple-element(p), index=0\n"
        " one = s32[] constant(1)\n n = s32[] add(i, one)\n x = s32[] get-tuple-element(p), "
        "index=1\n"
        " s = s32[] all-reduce(i), to_apply=add\n y = s32[] add(x, s)\n"
        " v = s32[500] get-tuple-element(p), index=2\n b = s32[500] broadcast(s), dimensions={}\n"
        " w = s32[500] add(v, b)\n c = s32[500] collective-broadcast(w), replica_groups={{1,0}}\n"
        " ROOT t = (s32[], s32[], s32[500]) tuple(n, y, c) }\n"
        "more { p = (s32[], s32[], s32[500]) parameter(0)\n i = s32[] get-tuple-element(p), "
        "index=0\n"
        " k = s32[] constant(2000)\n ROOT l = pred[] compare(i, k), direction=LT }\n"
        "ENTRY main { z = s32[] constant(0)\n v = s32[500] broadcast(z), dimensions={}\n"
        " t = (s32[], s32[], s32[500]) tuple(z, z, v)\n"
        " w = (s32[], s32[], s32[500]) while(t), condition=more, body=body\n"
        " a = s32[] get-tuple-element(w), index=1\n b = s32[500] get-tuple-element(w), index=2\n"
        " c = s32[1] slice(b), slice={[499:500]}\n d = s32[] reshape(c)\n ROOT r = s32[] add(a, d) "
        "}\n";
    for (int n = 2; n <= MAX_PARTICIPANTS; n++) {
        char of_n[sizeof text + 8];
        snprintf(of_n, sizeof of_n, text, n);
        for (int ranks = 0; ranks <= n; ranks += n / 2) {
            struct test_run t;
            const struct rank *r = test_run_begin(&t, of_n, NULL, ranks, (uint64_t)n);
            ck_assert(r->ok);
            for (int64_t p = 0; p < n;
                 p++) { /* n times the sum of 0 .. 1999; the second one only for some groups */
                int32_t v, sum = n * 1999000;
                memcpy(&v, r->run.tasks[p].result->data, sizeof v);
                ck_assert_int_eq(v, p < 2 ? 2 * sum : sum);
            }
            test_run_end(&t);
        }
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
    tcase_add_test(t, missing_partner);
    tcase_add_test(t, different_groups);
    tcase_add_test(t, crossed_collectives);
    tcase_add_test(t, failure_ends_waiting_participants);
    tcase_add_test(t, stalled_runs_are_interrupted);
    tcase_add_test(t, host_feeds_of_all_participants);
    tcase_add_test(t, values_are_reproducible);
    tcase_add_test(t, rendezvous_is_reused);
    suite_add_tcase(s, t);
    return check_run(s);
}
