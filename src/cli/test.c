/*
 * hlo test: finds golden tests and ONNX node tests, runs them in worker processes, and reports.
 *
 * If a worker dies, only its current test fails, and another worker continues with the remaining
 * tests.
 */
#include "base/oom.h"
#include "cli/golden.h"
#include "cli/model.h"

#include <errno.h>
#include <poll.h>
#include <regex.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct suite {
    const struct options *o;
    struct arena arena;
    const char **files;
    size_t file_count, file_capacity;
    struct test_result *tests; /* in order of the report */
    size_t count, capacity;
    regex_t filter;
    int64_t jobs, time_limit, slowest;
    size_t not_run;
    bool stop;  /* a test failed with --fail-fast */
    bool aside; /* --update with CI set: files are not modified */
    size_t put_aside;
    size_t done;
    int usage; /* HLO_OK, or the status that ended the search for tests */
};

/* ---- discovery of tests ---- */

static void collect_path(struct suite *s, const char *path, bool named, int depth)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        s->usage = usage_error(s->o, "cannot read '%s': %s", path, strerror(errno));
    } else if (!S_ISDIR(st.st_mode) || model_is_data_set(path)) {
        if (named || S_ISDIR(st.st_mode) || str_ends(str_of(path), STR(".hlo")))
            VEC_PUSH(&s->arena, s->files, s->file_count, s->file_capacity) =
                arena_str(&s->arena, str_of(path)).ptr;
    } else {
        const char **names, *between = str_ends(str_of(path), STR("/")) ? "" : "/";
        size_t count = 0;
        if (depth < 64)
            directory_names(&s->arena, path, &names, &count);
        for (size_t i = 0; i < count; i++)
            if (names[i][0] != '.') /* not hidden */
                collect_path(s, arena_printf(&s->arena, "%s%s%s", path, between, names[i]).ptr,
                             false, depth + 1);
    }
}

static void add_test(struct suite *s, const char *path, size_t part, size_t parts)
{
    struct str name = parts > 1 ? arena_printf(&s->arena, "%s#%zu", path, part + 1) : str_of(path);
    if (s->o->given[OPT_FILTER] && regexec(&s->filter, name.ptr, 0, NULL, 0) != 0)
        return;
    VEC_PUSH(&s->arena, s->tests, s->count, s->capacity) =
        (struct test_result){.path = path, .name = name, .part = part};
}

static void collect_tests(struct suite *s)
{
    for (size_t i = 0; i < s->file_count; i++) {
        if (model_is_data_set(s->files[i])) {
            add_test(s, s->files[i], 0, 1);
            continue;
        }
        hlo_messages *m = hlo_messages_new();
        hlo_file *f = hlo_file_open(s->files[i], false, m);
        for (size_t part = 0; f && part < hlo_file_count(f); part++)
            add_test(s, s->files[i], part, hlo_file_count(f));
        if (!f) {
            report(s->o, m);
            s->usage = HLO_USAGE;
        }
        hlo_file_free(f);
        hlo_messages_free(m);
    }
}

/* ---- execution of a test ---- */

static void test_done(struct suite *s, struct test_result *t)
{
    t->done = true;
    progress_step(++s->done, s->count);
    s->stop |= t->status == TEST_FAILED && s->o->given[OPT_FAIL_FAST];
}

/* Runs part `i` of a file; `f` is NULL for a data set of a node test, which is a directory. */
static void run_one(const struct suite *s, hlo_file *f, size_t i, struct arena *a,
                    struct edits *edits)
{
    struct test_result *t = &s->tests[i];
    struct golden_run r = {.arena = a,
                           .o = s->o,
                           .path = t->path,
                           .file = f,
                           .part = s->tests[i].part,
                           .edits = edits};
    double start = now_seconds();
    if (f)
        golden_run(&r);
    else
        model_test(s->o, t->path, &r.why);
    t->seconds = now_seconds() - start;
    t->status = r.skipped ? TEST_SKIPPED : r.why.size > 0 ? TEST_FAILED : TEST_PASSED;
    t->why = arena_str(a, buf_view(&r.why));
    t->done = true;
    buf_free(&r.why);
}

/* ---- workers ---- */

struct record { /* record that a worker writes for a test, followed by `size` bytes of text */
    size_t test, size;
    double seconds;
    uint32_t status, unused;
};

struct worker {
    pid_t pid;
    int fd;           /* -1: none */
    size_t next, end; /* range of remaining tests */
    struct buf in;
};

static void write_all(int fd, const void *bytes, size_t size)
{
    const char *p = bytes;
    while (size > 0) {
        ssize_t n = write(fd, p, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            exit(HLO_FAILED);
        p += n;
        size -= (size_t)n;
    }
}

static void write_record(const struct suite *s, size_t i, int fd)
{
    const struct test_result *t = &s->tests[i];
    struct record r = {i, t->why.len, t->seconds, t->status, 0};
    write_all(fd, &r, sizeof r);
    write_all(fd, t->why.ptr, t->why.len);
}

/* Runs tests one after the other. Results are written to `fd`, or stored in the suite if it is
 * -1. */
static void run_tests(struct suite *s, size_t from, size_t end, int fd)
{
    hlo_messages *m = hlo_messages_new();
    hlo_file *f = NULL;
    const char *open = NULL;
    for (size_t i = from; i < end; i++) {
        struct arena own;
        arena_init(&own);
        bool data_set = model_is_data_set(s->tests[i].path);
        if (open != s->tests[i].path) {
            hlo_file_free(f);
            f = data_set ? NULL : hlo_file_open(s->tests[i].path, false, m);
            open = s->tests[i].path;
        }
        alarm((unsigned)s->time_limit);
        if (f || data_set)
            run_one(s, f, i, fd < 0 ? &s->arena : &own, NULL);
        else
            s->tests[i].status = TEST_FAILED;
        if (fd >= 0)
            write_record(s, i, fd);
        else
            test_done(s, &s->tests[i]);
        arena_free(&own);
        if (s->tests[i].status == TEST_FAILED && s->o->given[OPT_FAIL_FAST])
            break;
    }
    alarm(0);
    hlo_file_free(f);
    hlo_messages_free(m);
}

static bool worker_start(struct suite *s, struct worker *w)
{
    int ends[2];
    w->fd = -1;
    if (w->next >= w->end || pipe(ends) != 0)
        return w->next >= w->end;
    fflush(NULL);
    w->pid = fork();
    if (w->pid == 0) {
        close(ends[0]);
        run_tests(s, w->next, w->end, ends[1]);
        exit(0);
    }
    close(ends[1]);
    w->fd = ends[0];
    w->in.size = 0;
    return w->pid > 0;
}

static void take_records(struct suite *s, struct worker *w)
{
    struct record r;
    size_t at = 0;
    while (w->in.size - at >= sizeof r) {
        memcpy(&r, w->in.data + at, sizeof r);
        if (w->in.size - at - sizeof r < r.size)
            break;
        struct test_result *t = &s->tests[r.test];
        t->status = r.status;
        t->seconds = r.seconds;
        t->why = arena_str(&s->arena, (struct str){w->in.data + at + sizeof r, r.size});
        test_done(s, t);
        w->next = r.test + 1;
        at += sizeof r + r.size;
    }
    if (at > 0) {
        memmove(w->in.data, w->in.data + at, w->in.size - at);
        w->in.size -= at;
    }
}

/* Handles the end of a worker. If it died early, its current test has failed, and another worker
 * continues. */
static bool worker_ended(struct suite *s, struct worker *w)
{
    int status = 0;
    close(w->fd);
    waitpid(w->pid, &status, 0);
    bool clean = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (w->next >= w->end && clean)
        return worker_start(s, w);
    size_t at = w->next < w->end ? w->next : w->end - 1; /* past the end: it died while exiting */
    struct test_result *t = &s->tests[at];
    t->status = TEST_FAILED;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        t->why = arena_printf(&s->arena, "%s: time limit exceeded: %" PRId64 " s", t->path,
                              s->time_limit);
    else if (WIFSIGNALED(status))
        t->why = arena_printf(&s->arena, "%s: test process killed by signal %d", t->path,
                              WTERMSIG(status));
    else
        t->why = arena_printf(&s->arena, "%s: test process exited with status %d", t->path,
                              WEXITSTATUS(status));
    w->next = at + 1;
    test_done(s, t);
    return worker_start(s, w);
}

/* Waits for any worker and reads its records; false if there are no more workers. */
static bool serve(struct suite *s, struct worker *workers, struct pollfd *polls, size_t count)
{
    size_t open = 0;
    for (size_t i = 0; i < count; i++) {
        polls[i] = (struct pollfd){.fd = workers[i].fd, .events = POLLIN};
        open += workers[i].fd >= 0;
    }
    if (open == 0)
        return false;
    if (poll(polls, count, -1) < 0)
        return errno == EINTR;
    for (size_t i = 0; i < count; i++) {
        if (!(polls[i].revents & (POLLIN | POLLHUP)))
            continue;
        char chunk[65536];
        ssize_t n = read(workers[i].fd, chunk, sizeof chunk);
        if (n > 0) {
            buf_bytes(&workers[i].in, chunk, (size_t)n);
            take_records(s, &workers[i]);
        } else if (!(n < 0 && errno == EINTR) && !worker_ended(s, &workers[i])) {
            return false;
        }
    }
    return true;
}

static void run_in_workers(struct suite *s)
{
    size_t count = (size_t)s->jobs < s->count ? (size_t)s->jobs : s->count;
    struct worker *workers = ARENA_ARRAY(&s->arena, struct worker, count);
    struct pollfd *polls = ARENA_ARRAY(&s->arena, struct pollfd, count);
    for (size_t i = 0; i < count; i++) {
        workers[i].next = s->count * i / count;
        workers[i].end = s->count * (i + 1) / count;
        worker_start(s, &workers[i]);
    }
    while (serve(s, workers, polls, count) && !s->stop)
        ;
    for (size_t i = 0; i < count; i++) {
        if (s->stop && workers[i].fd >= 0) {
            kill(workers[i].pid, SIGKILL);
            close(workers[i].fd);
            waitpid(workers[i].pid, NULL, 0);
        }
        buf_free(&workers[i].in);
    }
}

/* ---- --update: file by file in this process, until a fixed point ---- */

static bool update_file(struct suite *s, size_t first, size_t end)
{
    struct edits edits = {0};
    if (model_is_data_set(s->tests[first].path)) {
        run_one(s, NULL, first, &s->arena, NULL);
        return false;
    }
    hlo_messages *m = hlo_messages_new();
    hlo_file *f = hlo_file_open(s->tests[first].path, false, m);
    for (size_t i = first; f && i < end && s->tests[i].part < hlo_file_count(f); i++)
        run_one(s, f, i, &s->arena, &edits);
    hlo_file_free(f);
    bool changed = edits.count > 0 && golden_rewrite(s->tests[first].path, &edits, s->aside, m);
    s->put_aside += changed && s->aside;
    report(s->o, m);
    hlo_messages_free(m);
    return changed;
}

static void run_with_update(struct suite *s)
{
    enum { ROUNDS = 4 }; /* edits move lines, and thereby the line numbers of messages */
    for (size_t first = 0, end; first < s->count; first = end) {
        for (end = first; end < s->count && s->tests[end].path == s->tests[first].path; end++)
            ;
        for (int round = 0; round < ROUNDS && update_file(s, first, end) && !s->aside; round++)
            ;
    }
}

/* ---- the report ---- */

static void put_comment(const char *mark, struct str text)
{
    while (text.len > 0) {
        const struct str line = str_cut(&text, '\n');
        printf("%s" STR_FMT "\n", mark, STR_ARG(line));
    }
}

static void put_tap(const struct suite *s)
{
    printf("TAP version 13\n1..%zu\n", s->count);
    for (size_t i = 0; i < s->count; i++) {
        const struct test_result *t = &s->tests[i];
        const char *skip = t->status == TEST_SKIPPED ? " # SKIP no 'test:' line" : "";
        struct buf name = {0};
        for (size_t k = 0; k < t->name.len; k++) /* `#` starts a TAP directive */
            buf_printf(&name, t->name.ptr[k] == '#' ? "\\%c" : "%c", t->name.ptr[k]);
        printf("%s %zu - " STR_FMT "%s\n", t->status == TEST_FAILED ? "not ok" : "ok", i + 1,
               STR_ARG(buf_view(&name)), skip);
        put_comment("# ", t->why);
        buf_free(&name);
    }
}

static const char *status_word(const struct test_result *t)
{
    static const char *const keywords[] = {"passed", "failed", "skipped"};
    return keywords[t->status];
}

static void put_json_test(const struct test_result *t)
{
    struct buf b = {0};
    buf_puts(&b, "{\"schema\":1");
    buf_json_text(&b, "test", t->name);
    buf_json_text(&b, "file", str_of(t->path));
    buf_json_count(&b, "module", t->part + 1);
    if (t->done) {
        buf_json_text(&b, "status", str_of(status_word(t)));
        buf_json_real(&b, "seconds", t->seconds, 6);
        buf_json_text(&b, "text", t->why);
    }
    buf_puts(&b, "}\n");
    print_buf(&b);
}

static int by_time(const void *a, const void *b)
{
    const struct test_result *x = *(const struct test_result *const *)a,
                             *y = *(const struct test_result *const *)b;
    return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

static void put_slowest(struct suite *s, const char *mark)
{
    const struct test_result **by =
        ARENA_ARRAY(&s->arena, const struct test_result *, s->count + 1);
    for (size_t i = 0; i < s->count; i++)
        by[i] = &s->tests[i];
    qsort(by, s->count, sizeof *by, by_time);
    for (size_t i = 0; i < s->count && (int64_t)i < s->slowest; i++)
        printf("%s%8.3f s  " STR_FMT "\n", mark, by[i]->seconds, STR_ARG(by[i]->name));
}

static void put_counts(const struct suite *s, const size_t *by_status)
{
    if (s->o->given[OPT_JSON])
        printf("{\"schema\":1,\"passed\":%zu,\"failed\":%zu,\"skipped\":%zu,\"not_run\":%zu}\n",
               by_status[TEST_PASSED], by_status[TEST_FAILED], by_status[TEST_SKIPPED], s->not_run);
    else
        printf("%s%zu passed, %zu failed, %zu skipped", s->o->given[OPT_TAP] ? "# " : "",
               by_status[TEST_PASSED], by_status[TEST_FAILED], by_status[TEST_SKIPPED]);
    if (!s->o->given[OPT_JSON] && s->not_run > 0)
        printf(", %zu not run", s->not_run);
    if (!s->o->given[OPT_JSON])
        putchar('\n');
}

/* A run without tests fails, since it usually means a wrong path. */
static int nothing_tested(const struct suite *s)
{
    if (s->count == 0 && s->o->given[OPT_FILTER])
        usage_error(s->o, "no test matches '--filter=%s'", s->o->value[OPT_FILTER]);
    else
        usage_error(s->o, "no tests found: a test has a line '// test: ...'");
    return HLO_DIFFERS;
}

static int put_report(struct suite *s)
{
    size_t by_status[3] = {0};
    bool tap = s->o->given[OPT_TAP], json = s->o->given[OPT_JSON] && !tap;
    if (tap)
        put_tap(s);
    for (size_t i = 0; i < s->count; i++) {
        const struct test_result *t = &s->tests[i];
        by_status[t->status]++;
        if (json)
            put_json_test(t);
        else if (t->status == TEST_FAILED && !tap) {
            printf("FAIL " STR_FMT "\n", STR_ARG(t->name));
            put_comment("  ", t->why);
        }
    }
    if (!json && s->slowest > 0)
        put_slowest(s, tap ? "# " : "");
    put_counts(s, by_status);
    if (by_status[TEST_PASSED] + by_status[TEST_FAILED] + s->not_run == 0)
        return nothing_tested(s);
    return by_status[TEST_FAILED] > 0 || s->put_aside > 0 ? HLO_DIFFERS : HLO_OK;
}

static int write_junit(const struct suite *s)
{
    hlo_messages *m = hlo_messages_new();
    bool ok = !s->o->given[OPT_JUNIT] || junit_write(s->o->value[OPT_JUNIT], s->tests, s->count, m);
    report(s->o, m);
    hlo_messages_free(m);
    return ok ? HLO_OK : HLO_USAGE;
}

static int put_reports(struct suite *s)
{
    int status = put_report(s), written = write_junit(s);
    return written > status ? written : status;
}

/* ---- the command ---- */

static int set_up(struct suite *s)
{
    const struct options *o = s->o;
    const char *ci = getenv("CI");
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (o->arg_count == 0)
        return usage_error(o, "no file or directory given");
    if (o->given[OPT_UPDATE] && world_of(o))
        return usage_error(o, "'--update' is not supported with '--world=mpi'");
    if (o->given[OPT_JSON] && o->given[OPT_TAP])
        return usage_error(o, "'--json' and '--tap' are mutually exclusive");
    s->aside = ci && *ci;
    if (!option_int(o, OPT_JOBS, 1, 256, processors > 0 ? processors : 1, &s->jobs) ||
        !option_int(o, OPT_TIME_LIMIT, 1, 86400, 60, &s->time_limit) ||
        !option_int(o, OPT_SLOWEST, 1, INT32_MAX, 0, &s->slowest) ||
        !option_threads(o, 1, &(int){0}))
        return HLO_USAGE;
    if (o->given[OPT_FILTER] &&
        regcomp(&s->filter, o->value[OPT_FILTER], REG_EXTENDED | REG_NOSUB) != 0)
        return usage_error(o, "invalid regular expression '%s' for '--filter'",
                           o->value[OPT_FILTER]);
    return HLO_OK;
}

static int put_list(const struct suite *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->o->given[OPT_JSON])
            put_json_test(&s->tests[i]);
        else
            printf(STR_FMT "\n", STR_ARG(s->tests[i].name));
    return s->count > 0 ? HLO_OK : nothing_tested(s);
}

/* Shuffles the tests by the seed; a random seed is printed. */
static bool shuffle(struct suite *s)
{
    int64_t seed;
    if (!option_int(s->o, OPT_SHUFFLE, 0, INT64_MAX, now_ns() % 1000000, &seed))
        return false;
    if (!s->o->value[OPT_SHUFFLE])
        fprintf(world_stderr(s->o), "hlo: --shuffle=%" PRId64 "\n", seed);
    uint64_t state = (uint64_t)seed;
    for (size_t i = s->count; i > 1; i--) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        size_t j = (size_t)((state >> 33) % i);
        struct test_result t = s->tests[i - 1];
        s->tests[i - 1] = s->tests[j];
        s->tests[j] = t;
    }
    return true;
}

/* Removes tests that were not run from the report, and counts them. */
static void drop_undone(struct suite *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->tests[i].done)
            s->tests[n++] = s->tests[i];
    s->not_run = s->count - n;
    s->count = n;
}

static int run_suite(struct suite *s)
{
    if (s->o->given[OPT_LIST])
        return put_list(s);
    if (s->o->given[OPT_SHUFFLE] && !s->o->given[OPT_UPDATE] && !shuffle(s))
        return HLO_USAGE;
    progress_parts(s->o, "of", "tests");
    if (s->o->given[OPT_UPDATE])
        run_with_update(s);
    else if (world_of(s->o))
        run_tests(s, 0, s->count, -1); /* in this process, so that all ranks run the same test */
    else
        run_in_workers(s);
    progress_end(s->o);
    drop_undone(s);
    return world_first(s->o) ? put_reports(s) : HLO_OK;
}

/* Frees memory of regcomp, which the out-of-memory scope does not track. */
static void free_filter(void *suite)
{
    struct suite *s = suite;
    if (s->o->given[OPT_FILTER])
        regfree(&s->filter);
}

int test_command(const struct options *o)
{
    struct suite s = {.o = o};
    struct cleanup freeing;
    int status = set_up(&s);
    if (status != HLO_OK)
        return status;
    oom_push_cleanup(&freeing, free_filter, &s);
    arena_init(&s.arena);
    for (size_t i = 0; i < o->arg_count; i++)
        collect_path(&s, o->args[i], true, 0);
    collect_tests(&s);
    status = s.usage == HLO_OK ? run_suite(&s) : s.usage;
    oom_pop_cleanup(&freeing);
    free_filter(&s);
    arena_free(&s.arena);
    return status;
}
