/*
 * hlo test: finds golden tests, snapshots and ONNX node tests, runs them in worker processes, and
 * reports.
 *
 * If a worker dies, only its current test fails, and another worker continues with the remaining
 * tests.
 */
#include "base/oom.h"
#include "cli/arguments.h"
#include "cli/golden.h"
#include "cli/model.h"
#include "cli/test.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- discovery of tests ---- */

/* Whether a file in a directory is taken for tests: the snapshots of XLA have this word in their
 * names. */
static bool is_test_name(const char *path)
{
    static const char *const ends[] = {".pb", ".pbtxt", ".txt", ".pb.gz", ".pbtxt.gz"};
    const char *slash = strrchr(path, '/');
    bool snapshot = false;
    for (size_t k = 0; k < COUNT_OF(ends); k++)
        snapshot |= str_ends(str_of(path), str_of(ends[k]));
    return str_ends(str_of(path), STR(".hlo")) ||
           (snapshot && strstr(slash ? slash : path, "snapshot"));
}

static void collect_path(struct suite *s, const char *path, bool named, int depth)
{
    struct stat st;
    if (stat(path, &st) != 0 && is_value(path)) {
        s->usage = usage_error(s->o,
                               "expected a file or directory, got '%s'; a test has arguments in "
                               "'in:' lines, and --new takes them from --inputs=FILE",
                               path);
    } else if (stat(path, &st) != 0) {
        s->usage = usage_error(s->o, "cannot read '%s': %s", path, strerror(errno));
    } else if (!S_ISDIR(st.st_mode) || model_is_data_set(path)) {
        if (named || S_ISDIR(st.st_mode) || is_test_name(path))
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
        SCOPED_MESSAGES *m = hlo_messages_new();
        SCOPED_FILE *f = hlo_file_open(s->files[i], false, m);
        for (size_t part = 0; f && part < hlo_file_count(f); part++)
            add_test(s, s->files[i], part, hlo_file_count(f));
        if (!f) {
            report(s->o, m);
            s->usage = HLO_USAGE;
        }
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
    SCOPED_MESSAGES *m = hlo_messages_new();
    hlo_file *f = NULL;
    const char *open = NULL;
    for (size_t i = from; i < end; i++) {
        SCOPED_ARENA own = arena_make();
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
        if (s->tests[i].status == TEST_FAILED && s->o->given[OPT_FAIL_FAST])
            break;
    }
    alarm(0);
    hlo_file_free(f);
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
    struct edits edits = {.aside = s->aside};
    if (model_is_data_set(s->tests[first].path)) {
        run_one(s, NULL, first, &s->arena, NULL);
        return false;
    }
    SCOPED_MESSAGES *m = hlo_messages_new();
    SCOPED_FILE *f = hlo_file_open(s->tests[first].path, false, m);
    for (size_t i = first; f && i < end && s->tests[i].part < hlo_file_count(f); i++)
        run_one(s, f, i, &s->arena, &edits);
    bool changed = edits.count > 0 && golden_rewrite(s->tests[first].path, &edits, s->aside, m);
    s->put_aside += changed && s->aside;
    report(s->o, m);
    return changed || edits.files;
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
        !tolerance_options(o, &(struct hlo_tolerance){0}) || !option_threads(o, 1, &(int){0}))
        return HLO_USAGE;
    if (o->given[OPT_FILTER] &&
        regcomp(&s->filter, o->value[OPT_FILTER], REG_EXTENDED | REG_NOSUB) != 0)
        return usage_error(o, "invalid regular expression '%s' for '--filter'",
                           o->value[OPT_FILTER]);
    return HLO_OK;
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
        return test_list(s);
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
    return world_first(s->o) ? test_report(s) : HLO_OK;
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
    for (size_t i = 0; i < o->arg_count && s.usage == HLO_OK; i++)
        collect_path(&s, o->args[i], true, 0);
    for (size_t i = 0; i < s.file_count && o->given[OPT_NEW] && s.usage == HLO_OK; i++)
        s.usage = golden_new(o, s.files[i]);
    if (s.usage == HLO_OK)
        collect_tests(&s);
    status = s.usage == HLO_OK ? run_suite(&s) : s.usage;
    oom_pop_cleanup(&freeing);
    free_filter(&s);
    arena_free(&s.arena);
    return status;
}
