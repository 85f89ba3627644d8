/*
 * hlo fuzz: runs a module on many generated arguments with the fast kernels, and compares with the
 * reference kernels or with another program (the oracle).
 */
#include "cli/arguments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct fuzz {
    const struct options *o;
    const hlo_file *file;
    size_t part;
    hlo_module *module;
    hlo_targets *targets;
    hlo_program *program,
        *plain; /* the program under test; the reference, unless there is an oracle */
    struct hlo_tolerance tolerance;
    int64_t runs, seed;
    int64_t agreed, stopped; /* numbers of cases: equal results; errors on both sides */
    bool mute;               /* the oracle cannot be run */
};

/* One set of arguments and the results of both sides. */
struct trial {
    int64_t number;
    struct generated_inputs made;
    struct arguments a;
    hlo_literal **actual, **expected; /* NULL: an error, in `actual_messages` or `a.m` */
    hlo_messages *actual_messages;
    struct buf why; /* the difference; empty: none */
};

/* ---- the oracle ---- */

static bool begin_directory(const struct fuzz *f, hlo_messages *m)
{
    SCOPED_BUF path = {0};
    size_t size;
    uint32_t line;
    const char *text = hlo_file_text(f->file, f->part, &size, &line);
    return temporary_begin(m) &&
           hlo_write_text(temporary_path(TEMPORARY_MODULE, &path), text, size, m);
}

/* The exit status of the oracle; 127 if it cannot be run. */
static int call_oracle(const struct fuzz *f, const char *module, const char *in, const char *out)
{
    SCOPED_BUF script = {0};
    buf_printf(&script, "%s \"$@\"", f->o->value[OPT_ORACLE]);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO); /* keep its output out of the results */
        execl("/bin/sh", "sh", "-c", script.data, "oracle", module, in, out, (char *)NULL);
        _exit(127);
    }
    int status = 127 << 8;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool ask_oracle(struct fuzz *f, struct trial *t)
{
    SCOPED_BUF module = {0}, in = {0}, out = {0};
    temporary_path(TEMPORARY_MODULE, &module);
    temporary_path(TEMPORARY_INPUTS, &in);
    temporary_path(TEMPORARY_OUTPUTS, &out);
    const struct hlo_bundle b = {
        .size = sizeof b, .participants = t->a.participants, .count = t->a.count, .args = t->a.all};
    unlink(out.data);
    bool ok = hlo_write_bundle(in.data, &b, t->a.m);
    int status = ok ? call_oracle(f, module.data, in.data, out.data) : 0;
    f->mute = !ok || status == 127;
    if (status != 0)
        file_error(t->a.m, f->o->value[OPT_ORACLE], "exit status %d", status);
    for (size_t p = 0; ok && status == 0 && p < t->a.participants; p++)
        ok = (t->expected[p] = hlo_read_result(out.data, "out", f->module, p, t->a.m)) != NULL;
    return ok && status == 0;
}

/* ---- trials ---- */

static void put_first_message(struct buf *out, const hlo_messages *m)
{
    for (size_t k = 0; k < hlo_messages_count(m); k++)
        if (hlo_messages_get(m, k).error) {
            buf_puts(out, hlo_messages_get(m, k).text);
            return;
        }
    buf_puts(out, "an error");
}

/* A run that ended by a limit or out of memory is not a difference: other kernels may need less. */
static int gave_up(const hlo_messages *m)
{
    if (hlo_messages_limit(m))
        return HLO_LIMIT;
    for (size_t k = 0; k < hlo_messages_count(m); k++)
        if (strcmp(hlo_messages_get(m, k).id, "out-of-memory") == 0 ||
            strcmp(hlo_messages_get(m, k).id, "no-memory") == 0)
            return HLO_FAILED;
    return HLO_OK;
}

static void compare(const struct fuzz *f, struct trial *t, bool ran, bool expected)
{
    if (ran != expected) {
        buf_puts(&t->why, ran ? "only the reference failed: " : "failed: ");
        put_first_message(&t->why, ran ? t->a.m : t->actual_messages);
    }
    for (size_t p = 0; ran && expected && t->why.size == 0 && p < t->a.participants; p++) {
        SCOPED_TEXT why = {0};
        if (!hlo_literal_compare(t->actual[p], t->expected[p], &f->tolerance, &why) &&
            t->a.participants > 1)
            buf_printf(&t->why, "participant %zu: ", p);
        buf_bytes(&t->why, why.data, why.size);
    }
}

/* Runs the oracle. HLO_OK: it was run, whatever its exit status. */
static int try_once(struct fuzz *f, struct trial *t)
{
    t->a.as = &t->made;
    int status = arguments_collect(&t->a);
    if (status != HLO_OK)
        return status;
    t->actual = heap_zalloc(t->a.participants, sizeof(hlo_literal *));
    t->expected = heap_zalloc(t->a.participants, sizeof(hlo_literal *));
    const hlo_literal *const *args = t->a.all;
    bool ran = hlo_run_all(f->program, args, t->a.count, NULL, t->actual, t->actual_messages);
    bool expected = f->plain ? hlo_run_all(f->plain, args, t->a.count, NULL, t->expected, t->a.m)
                             : ask_oracle(f, t);
    if (f->mute)
        return HLO_USAGE;
    if (ran != expected && (status = gave_up(ran ? t->a.m : t->actual_messages)) != HLO_OK) {
        if (!ran)
            report(f->o, t->actual_messages);
        return status;
    }
    compare(f, t, ran, expected);
    f->agreed += ran && expected && t->why.size == 0;
    f->stopped += !ran && !expected;
    if (!expected) {
        hlo_literals_free(t->expected, t->a.participants);
        t->expected = NULL;
    }
    return HLO_OK;
}

/* ---- the report ---- */

static const char *kind_name(enum hlo_fake kind)
{
    static const char *const names[] = {HLO_FAKE_WORDS};
    return names[kind];
}

static bool save(const struct fuzz *f, const struct trial *t, const char *path)
{
    SCOPED_TEXT printed = hlo_print(f->module, HLO_PRINT_EXACT);
    const struct hlo_bundle b = {.size = sizeof b,
                                 .text = printed.data,
                                 .text_size = printed.size,
                                 .participants = t->a.participants,
                                 .count = t->a.count,
                                 .args = t->a.all,
                                 .results = (const hlo_literal *const *)t->expected};
    return hlo_write_bundle(path, &b, t->a.m);
}

static void put_json(const struct fuzz *f, const struct trial *t, const char *bundle)
{
    struct buf b = {0};
    buf_puts(&b, "{\"schema\":1");
    buf_json_int(&b, "seed", f->seed);
    buf_json_int(&b, "runs", t ? t->number + 1 : f->runs);
    buf_json_int(&b, "agreed", f->agreed);
    buf_json_int(&b, "stopped", f->stopped);
    if (t) {
        buf_json_open(&b, "differs", '{');
        buf_json_int(&b, "run", t->number);
        buf_json_text(&b, "fake", str_of(kind_name(t->made.kind)));
        buf_json_count(&b, "seed", t->made.seed);
        buf_json_text(&b, "text", buf_view(&t->why));
        buf_json_text(&b, "bundle", str_of(bundle));
        buf_putc(&b, '}');
    } else {
        buf_json_key(&b, "differs");
        buf_puts(&b, "null");
    }
    buf_puts(&b, "}\n");
    print_buf(&b);
}

static int report_difference(const struct fuzz *f, const struct trial *t)
{
    const char *bundle = f->o->given[OPT_SAVE_BUNDLE] ? f->o->value[OPT_SAVE_BUNDLE] : "fuzz.npz";
    if (!save(f, t, bundle))
        return HLO_USAGE;
    if (f->o->given[OPT_JSON])
        put_json(f, t, bundle);
    else
        printf("run %" PRId64 " of %" PRId64 " differs (--fake=%s --seed=%" PRIu64 "): " STR_FMT
               "\nreproduce with 'hlo run --bundle=%s'\n",
               t->number + 1, f->runs, kind_name(t->made.kind), t->made.seed,
               STR_ARG(buf_view(&t->why)), bundle);
    return HLO_DIFFERS;
}

static int report_agreement(const struct fuzz *f)
{
    if (f->o->given[OPT_JSON]) {
        put_json(f, NULL, NULL);
        return HLO_OK;
    }
    printf("%" PRId64 " runs agree", f->agreed);
    if (f->stopped > 0)
        printf(", %" PRId64 " fail on both sides", f->stopped);
    putchar('\n');
    return HLO_OK;
}

/* ---- the search ---- */

static struct generated_inputs made_for(const struct fuzz *f, int64_t run)
{
    static const enum hlo_fake turns[] = {HLO_FAKE_UNIFORM, HLO_FAKE_EDGE, HLO_FAKE_NORMAL,
                                          HLO_FAKE_EDGE};
    struct generated_inputs made = {turns[run % (int64_t)COUNT_OF(turns)],
                                    (uint64_t)(f->seed + run)};
    if (f->o->given[OPT_FAKE])
        fake_kind(f->o, &made.kind);
    return made;
}

static int fuzz_runs(struct fuzz *f)
{
    int status = HLO_OK;
    progress_parts(f->o, "of", "runs");
    for (int64_t run = 0; run < f->runs && status == HLO_OK; run++) {
        struct trial t = {
            .number = run, .made = made_for(f, run), .actual_messages = hlo_messages_new()};
        t.a = (struct arguments){.o = f->o,
                                 .m = hlo_messages_new(),
                                 .module = f->module,
                                 .given = f->o->args + 1,
                                 .given_count = f->o->arg_count - 1,
                                 .participants = hlo_participants(f->program)};
        status = try_once(f, &t);
        progress_step((size_t)run + 1, (size_t)f->runs);
        if (status != HLO_OK || t.why.size > 0)
            progress_end(f->o);
        if (status == HLO_OK && t.why.size > 0)
            status = report_difference(f, &t);
        if (status > HLO_DIFFERS)
            report(f->o, t.a.m);
        hlo_literals_free(t.actual, t.a.participants);
        hlo_literals_free(t.expected, t.a.participants);
        arguments_free(&t.a);
        hlo_messages_free(t.a.m);
        hlo_messages_free(t.actual_messages);
        buf_free(&t.why);
    }
    progress_end(f->o);
    return status == HLO_OK ? report_agreement(f) : status;
}

/* The default tolerance, by the narrowest float type of the result. */
static double usual_bound(const hlo_module *module)
{
    static const struct width {
        const char *dtype;
        double bound;
    } widths[] = {{"f8", 0.3}, {"f4", 0.3}, {"bf16", 3e-2}, {"f16", 1e-2}};
    SCOPED_LISTING *l = hlo_list(module);
    const char *shape = hlo_list_inst(l, listed_entry(l).root).shape;
    double bound = 1e-3;
    for (size_t k = COUNT_OF(widths); k-- > 0;)
        if (strstr(shape, widths[k].dtype))
            bound = widths[k].bound;
    return bound;
}

static bool fuzz_options(struct fuzz *f)
{
    const struct options *o = f->o;
    enum hlo_fake kind;
    if (o->given[OPT_PLAIN] && !o->given[OPT_ORACLE])
        return usage_error(o, "'--plain' requires '--oracle': the reference kernels are the "
                              "default reference"),
               false;
    return option_int(o, OPT_RUNS, 1, INT64_MAX, 100, &f->runs) &&
           option_int(o, OPT_SEED, 0, INT32_MAX, 1, &f->seed) && fake_kind(o, &kind) &&
           tolerance_options(o, &f->tolerance);
}

/* Plans the module for both sides. */
static int fuzz_plan(struct fuzz *f, hlo_messages *m)
{
    struct hlo_run_options options;
    if (!run_options(f->o, &options) || !(f->targets = targets_of(f->o, m)))
        return HLO_USAGE;
    options.targets = f->targets;
    f->program = hlo_plan(f->module, &options, m);
    options.plain = true;
    bool oracle = f->o->given[OPT_ORACLE];
    f->plain = f->program && !oracle ? hlo_plan(f->module, &options, m) : NULL;
    if (!f->program || (!oracle && !f->plain))
        return HLO_FAILED;
    return oracle && !begin_directory(f, m) ? HLO_USAGE : HLO_OK;
}

static int fuzz_part(struct fuzz *f)
{
    SCOPED_MESSAGES *m = hlo_messages_new();
    struct arguments a = {.o = f->o, .m = m};
    f->module = hlo_parse(f->file, f->part, m);
    int status = arguments_check(&a, f->module);
    if (status == HLO_OK)
        status = fuzz_plan(f, m);
    report(f->o, m);
    if (status == HLO_OK) {
        if (!tolerance_given(f->o))
            f->tolerance.abs = f->tolerance.rel = usual_bound(f->module);
        status = fuzz_runs(f);
    }
    temporary_end();
    hlo_program_free(f->program);
    hlo_program_free(f->plain);
    hlo_targets_free(f->targets);
    hlo_module_free(f->module);
    return status;
}

int fuzz_command(const struct options *o)
{
    struct fuzz f = {.o = o};
    if (!fuzz_options(&f))
        return HLO_USAGE;
    SCOPED_MESSAGES *m = hlo_messages_new();
    SCOPED_FILE *file = open_file(o, o->args[0], m);
    int status = HLO_USAGE;
    report(o, m);
    if (file && hlo_file_count(file) > 1)
        usage_error(o, "file has %zu modules; select one with --module=N", hlo_file_count(file));
    f.file = file;
    if (file && hlo_file_count(file) == 1)
        status = fuzz_part(&f);
    return status;
}
