/*
 * Tests of thread pools: every part of a task is executed once, by any thread; a caller that
 * cannot get the pool executes all parts itself.
 */
#include "base/base.h"
#include "base/system.h"
#include "check_quiet.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum { PARTS = 1000, ROUNDS = 2000, CALLERS = 3 };

struct tally {
    struct thread_pool *workers;
    atomic_int done[PARTS], inner,
        outside_thread; /* a part was executed by a thread outside the pool */
};

static void count_part(void *context, int64_t part, int worker)
{
    struct tally *t = context;
    atomic_fetch_add(&t->done[part], 1);
    if (worker < 0 || worker >= thread_pool_size(t->workers))
        atomic_fetch_add(&t->outside_thread, 1);
}

static void check_tally(struct tally *t, int64_t parts, int times)
{
    for (int64_t k = 0; k < PARTS; k++)
        ck_assert_int_eq(atomic_load(&t->done[k]), k < parts ? times : 0);
    ck_assert_int_eq(atomic_load(&t->outside_thread), 0);
}

START_TEST(each_part_runs_once)
{
    static const int64_t parts[] = {0, 1, 2, 3, 7, PARTS};
    for (int size = 0; size <= 8; size++)
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            struct tally t = {.workers = thread_pool_new(size)};
            ck_assert_int_eq(thread_pool_size(t.workers), size > 1 ? size : 1);
            thread_pool_run(t.workers, parts[k], count_part, &t);
            check_tally(&t, parts[k], 1);
            thread_pool_free(t.workers);
        }
}
END_TEST

static void count_range(void *context, int64_t from, int64_t to, int worker)
{
    struct tally *t = context;
    ck_assert_int_lt(from, to);
    for (int64_t k = from; k < to; k++)
        count_part(t, k, worker);
}

START_TEST(ranges_cover_each_element_once)
{
    static const int64_t pieces[] = {1, 7, 64, PARTS, INT64_MAX};
    struct tally t = {.workers = thread_pool_new(3)};
    for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++)
        thread_pool_share(t.workers, PARTS, pieces[k], count_range, &t);
    check_tally(&t, PARTS, sizeof pieces / sizeof *pieces);
    thread_pool_share(t.workers, 0, 7, count_range, &t);
    check_tally(&t, PARTS, sizeof pieces / sizeof *pieces);
    thread_pool_free(t.workers);
}
END_TEST

START_TEST(consecutive_tasks)
{
    struct tally t = {.workers = thread_pool_new(3)};
    for (int k = 0; k < ROUNDS; k++)
        thread_pool_run(t.workers, 5, count_part, &t);
    check_tally(&t, 5, ROUNDS);
    thread_pool_free(t.workers);
}
END_TEST

static void count_inner(void *context, int64_t part, int worker)
{
    struct tally *t = context;
    atomic_fetch_add(&t->inner, 1);
}

static void run_inner(void *context, int64_t part, int worker)
{
    struct tally *t = context;
    count_part(t, part, worker);
    thread_pool_run(t->workers, 4, count_inner, t);
}

START_TEST(nested_tasks)
{
    struct tally t = {.workers = thread_pool_new(2)};
    thread_pool_run(t.workers, PARTS, run_inner, &t);
    check_tally(&t, PARTS, 1);
    ck_assert_int_eq(atomic_load(&t.inner), 4 * PARTS);
    thread_pool_free(t.workers);
}
END_TEST

/* A signal that the caller has blocked is delivered to the caller: no worker receives it, which
 * would end the process. */
START_TEST(signals_are_delivered_to_the_caller)
{
    sigset_t set;
    struct tally t = {.workers = thread_pool_new(4)};
    thread_pool_run(t.workers, PARTS, count_part, &t);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGUSR1);
    thread_pool_run(t.workers, PARTS, count_part, &t);
    struct timespec long_enough = {.tv_sec = 60};
    ck_assert_int_eq(sigtimedwait(&set, NULL, &long_enough), SIGUSR1);
    thread_pool_free(t.workers);
}
END_TEST

static void *call_often(void *context)
{
    struct tally *t = context;
    for (int k = 0; k < ROUNDS; k++)
        thread_pool_run(t->workers, 9, count_part, t);
    return NULL;
}

START_TEST(concurrent_callers)
{
    struct tally t = {.workers = thread_pool_new(2)};
    pthread_t callers[CALLERS];
    for (int k = 0; k < CALLERS; k++)
        ck_assert_int_eq(pthread_create(&callers[k], NULL, call_often, &t), 0);
    for (int k = 0; k < CALLERS; k++)
        pthread_join(callers[k], NULL);
    check_tally(&t, 9, CALLERS * ROUNDS);
    thread_pool_free(t.workers);
}
END_TEST

#if defined __linux__ && defined CPU_SET
static void *wait_for_lock(void *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return NULL;
}

/* A thread is moved to another processor than the caller's, if there is one, and may still run on
 * all. */
START_TEST(threads_are_moved)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread;
    cpu_set_t allowed, own, after;
    ck_assert_int_eq(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    pthread_mutex_lock(&lock);
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_lock, &lock), 0);
    const int cpu = system_cpu(), count = CPU_COUNT(&allowed);
    ck_assert_int_ge(cpu, 0);
    CPU_ZERO(&own);
    CPU_SET((size_t)cpu, &own);
    ck_assert_int_eq(sched_setaffinity(0, sizeof own, &own), 0);
    for (int k = 0; k < 2 * count; k++) {
        const int to = system_move_thread(thread, k);
        ck_assert_msg(count == 1 ? to == -1 : to >= 0 && to != cpu, "%d of %d", to, count);
        ck_assert(to < 0 || CPU_ISSET((size_t)to, &allowed));
        ck_assert_int_eq(pthread_getaffinity_np(thread, sizeof after, &after), 0);
        ck_assert(CPU_EQUAL(&after, &allowed));
    }
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("thread_pool");
    TCase *tcase = tcase_create("thread_pool");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, each_part_runs_once);
    tcase_add_test(tcase, ranges_cover_each_element_once);
    tcase_add_test(tcase, consecutive_tasks);
    tcase_add_test(tcase, nested_tasks);
    tcase_add_test(tcase, signals_are_delivered_to_the_caller);
    tcase_add_test(tcase, concurrent_callers);
#if defined __linux__ && defined CPU_SET
    tcase_add_test(tcase, threads_are_moved);
#endif
    suite_add_tcase(suite, tcase);
    return check_run(suite);
}
