/*
 * hlo run: runs modules and writes or compares their results.
 */
#include "cli/arguments.h"
#include "cli/model.h"
#include "cli/trace.h"

#include <stdio.h>

/* ---- bundles ---- */

/* A module with its location in the file and its arguments. */
struct run {
    struct arguments a;
    const hlo_file *file;
    size_t part;
};

/* Writes the bundle of --save-bundle. `results` NULL: the run failed, and the bundle has the
 * arguments only. */
static bool save_bundle(const struct run *r, hlo_literal *const *results)
{
    const struct options *o = r->a.o;
    SCOPED_TEXT printed = {0};
    uint32_t first_line;
    struct hlo_bundle b = {.size = sizeof b,
                           .participants = r->a.participants,
                           .count = r->a.count,
                           .args = r->a.all,
                           .results = (const hlo_literal *const *)results};
    b.text = hlo_file_text(r->file, r->part, &b.text_size, &first_line);
    /* options override the text, and the values of elided constants may be known */
    if (o->given[OPT_REPLICAS] || o->given[OPT_PARTITIONS] ||
        memmem(b.text, b.text_size, "{...}", 5)) {
        printed = hlo_print(r->a.module, HLO_PRINT_EXACT);
        b.text = printed.data;
        b.text_size = printed.size;
    }
    return hlo_write_bundle(o->value[OPT_SAVE_BUNDLE], &b, r->a.m);
}

static bool bundle_options(const struct options *o, const hlo_file *f)
{
    struct hlo_tolerance t;
    if (o->given[OPT_SAVE_BUNDLE] && world_of(o))
        return usage_error(o, "'--save-bundle' is not supported with '--world=mpi'"), false;
    if (hlo_file_count(f) > 1 && (o->given[OPT_OUTPUT] || o->given[OPT_SAVE_BUNDLE]))
        return usage_error(o, "file has %zu modules: --%s requires --module=N", hlo_file_count(f),
                           o->given[OPT_OUTPUT] ? "output" : "save-bundle"),
               false;
    return tolerance_options(o, &t);
}

/* Whether results are compared: with those of --expect, of --bundle or, if the arguments are stored
 * there, of FILE. PATH: of the expected results; NULL: those stored with a module. */
static bool has_expected(const struct run *r, const char **path)
{
    const struct arguments *a = &r->a;
    *path = a->o->given[OPT_EXPECT] ? a->o->value[OPT_EXPECT] : bundle_of_arrays(a->o);
    if (a->o->given[OPT_EXPECT])
        return true;
    if (*path)
        return bundle_has_results(*path, a->m);
    return hlo_file_has_results(a->bundle ? a->bundle : r->file) && (a->bundle || a->stored);
}

/* Whether results are printed although they are compared. */
static bool prints_anyway(const struct options *o)
{
    static const enum option_id ids[] = {OPT_OUTPUT,  OPT_JSON,     OPT_FULL,
                                         OPT_SUMMARY, OPT_HEXFLOAT, OPT_PRECISION};
    bool any = false;
    for (size_t i = 0; i < COUNT_OF(ids); i++)
        any |= o->given[ids[i]];
    return any;
}

/* ---- the run ---- */

static int finish_run(const struct run *r, hlo_literal *const *results)
{
    const struct options *o = r->a.o;
    const char *expected;
    const bool compared = has_expected(r, &expected), print = !compared || prints_anyway(o);
    if ((print && !put_results(o, results, r->a.participants, r->a.m)) ||
        (o->given[OPT_SAVE_BUNDLE] && !save_bundle(r, results)))
        return HLO_USAGE;
    return compared ? expect_results(&r->a, expected, results, !print) : HLO_OK;
}

/* Prints time and memory for --verbose. */
static void print_more(const struct options *o, const hlo_program *p, double seconds)
{
    struct hlo_memory memory = hlo_program_memory(p);
    if (!o->given[OPT_VERBOSE])
        return;
    fflush(stdout);
    fprintf(world_stderr(o),
            "hlo: run time %.6f s; peak memory of values %" PRIu64 " bytes, arguments %" PRIu64
            "\n",
            seconds, memory.measured, memory.arguments);
}

static int run_program(const struct run *r, struct feed_files *feeds, struct tracing *t,
                       hlo_program *p)
{
    const struct arguments *a = &r->a;
    hlo_literal **results = heap_zalloc(a->participants, sizeof(hlo_literal *));
    int status = HLO_OK;
    trace_attach(t, p);
    interrupt_begin(p);
    progress_run(a->o, p);
    double start = now_seconds();
    bool ok =
        hlo_run_all(p, (const hlo_literal *const *)a->all, a->count, &feeds->feeds, results, a->m);
    progress_end(a->o);
    bool interrupted = interrupt_end();
    double seconds = now_seconds() - start;
    bool written = feed_finish(feeds, ok, a->m);
    if (!ok && a->o->given[OPT_SAVE_BUNDLE])
        save_bundle(r, NULL);
    if (!ok && interrupted)
        status = STATUS_INTERRUPTED;
    else if (!ok)
        status = hlo_messages_limit(a->m) ? HLO_LIMIT : HLO_FAILED;
    else if (!written)
        status = HLO_USAGE;
    else if (world_first(a->o) && a->o->command != CMD_TRACE)
        status = finish_run(r, results);
    if (ok && world_first(a->o))
        print_more(a->o, p, seconds);
    hlo_literals_free(results, a->participants);
    return trace_finish(t, status);
}

static int run_module(struct run *r)
{
    struct arguments *a = &r->a;
    struct hlo_run_options options;
    struct feed_files feeds = {.feeds = HLO_FEEDS_INIT};
    struct tracing tracing = {0};
    SCOPED_PROGRAM *p = NULL;
    int status = arguments_prepare(a, &options);
    options.traced = trace_requested(a->o);
    if (status == HLO_OK && world_first(a->o))
        status = feed_open(&feeds, a);
    if (status == HLO_OK)
        status = trace_open(&tracing, a);
    if (status == HLO_OK && !(p = hlo_plan(a->module, &options, a->m)))
        status = HLO_FAILED;
    status = world_agree(a->o, status);
    if (status == HLO_OK)
        status = run_program(r, &feeds, &tracing, p);
    trace_close(&tracing);
    feed_free(&feeds);
    return status;
}

static int run_part(const struct options *o, const hlo_file *f, size_t part, struct buf *ahead)
{
    SCOPED_MESSAGES *m = hlo_messages_new();
    SCOPED_MODULE *module = hlo_parse(f, part, m);
    size_t files = o->arg_count > 0;
    struct run r = {{.o = o,
                     .m = m,
                     .module = module,
                     .given = o->args + files,
                     .given_count = o->arg_count - files,
                     .ahead = ahead},
                    f,
                    part};
    int status = arguments_check(&r.a, module);
    if (status == HLO_OK) {
        status = run_module(&r);
        arguments_free(&r.a);
    }
    report(o, m);
    return status;
}

static int run_file(const struct options *o, const hlo_file *f)
{
    int status = bundle_options(o, f) ? HLO_OK : HLO_USAGE;
    SCOPED_BUF ahead = {0};
    for (size_t part = 0; part < hlo_file_count(f) && status == HLO_OK; part++)
        status = run_part(o, f, part, &ahead);
    return status;
}

int run_command(const struct options *o)
{
    struct hlo_run_options options;
    const char *path = file_argument(o);
    if (ends_with(path, ".onnx") && trace_requested(o))
        return usage_error(
            o, "ONNX models cannot be traced directly: use 'hlo import %s | hlo trace -'", path);
    if (ends_with(path, ".onnx") && world_of(o))
        return usage_error(o, "'--world=mpi' is not supported for ONNX models");
    if (ends_with(path, ".onnx"))
        return run_options(o, &options) ? model_command(o, &options) : HLO_USAGE;
    if (o->given[OPT_BOUND])
        return usage_error(o, "'--bound' requires an ONNX model");
    progress_begin(o);
    SCOPED_MESSAGES *m = hlo_messages_new();
    SCOPED_FILE *f = open_file(o, path, m);
    report(o, m);
    return f ? run_file(o, f) : HLO_USAGE;
}
