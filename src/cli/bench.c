/*
 * hlo bench: time to read, plan and run modules, on inputs from files or generated ones.
 *
 * The time to the first result is measured from the start of the process or, for further files,
 * from the end of the previous one, without the time for inputs. The first run is excluded from
 * the figures of runs if there are others.
 */
#include "cli/arguments.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { MAX_RUNS = 100000, BUDGET_S = 20 };

struct bench {
    const struct options *o;
    const char *path;
    hlo_messages *m;
    hlo_module *module;
    hlo_targets *targets;
    hlo_program *program;
    struct arguments arguments;
    hlo_literal **results; /* of the last run, one per participant */
    double start, parse, plan, inputs, first, first_run;
    double *runs;
    size_t run_count;
};

/* ---- one module ---- */

static int prepare(struct bench *b, const hlo_file *f)
{
    struct hlo_run_options options = {.size = sizeof options,
                                      .plain = b->o->given[OPT_PLAIN],
                                      .elided = HLO_ELIDED_RANDOM,
                                      .seed = 1};
    options.targets = b->targets = targets_of(b->o, b->m);
    if (!b->targets || !option_threads(b->o, 0, &options.threads))
        return HLO_USAGE;
    double t0 = now_seconds();
    b->module = hlo_parse(f, 0, b->m);
    double t1 = now_seconds();
    b->arguments = (struct arguments){.o = b->o, .m = b->m, .module = b->module, .make_up = true};
    int status = arguments_check(&b->arguments, b->module);
    if (status != HLO_OK)
        return status;
    b->program = hlo_plan(b->module, &options, b->m);
    b->parse = t1 - t0;
    b->plan = now_seconds() - t1;
    if (!b->program)
        return HLO_FAILED;
    double t2 = now_seconds();
    status = arguments_collect(&b->arguments);
    b->inputs = now_seconds() - t2;
    return status;
}

static bool run_once(struct bench *b)
{
    const struct arguments *a = &b->arguments;
    bool ok = hlo_run_all(b->program, (const hlo_literal *const *)a->all, a->count, NULL,
                          b->results, b->m);
    b->runs[b->run_count++] = now_seconds();
    for (size_t k = 0; k < a->participants; k++)
        hlo_literal_free(b->results[k]);
    return ok;
}

static int run_all(struct bench *b)
{
    int64_t requested;
    double spent = 0;
    if (!option_int(b->o, OPT_RUNS, 1, MAX_RUNS, 5, &requested))
        return HLO_USAGE;
    b->runs = heap_zalloc((size_t)requested, sizeof *b->runs);
    b->results = heap_zalloc(b->arguments.participants, sizeof *b->results);
    for (int64_t i = 0; i < requested && spent < BUDGET_S; i++) {
        double start = now_seconds();
        if (!run_once(b))
            return HLO_FAILED;
        if (i == 0)
            b->first = b->runs[0] - b->start - b->inputs;
        b->runs[i] -= start;
        spent += b->runs[i];
    }
    b->first_run = b->runs[0];
    return HLO_OK;
}

/* ---- figures ---- */

/* Peak resident memory as counted by Linux for this program (not for the one that called exec), and
 * how to reset it. */
static uint64_t peak_memory(void)
{
    struct rusage usage;
    char line[128];
    long long kib = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && kib < 0 && fgets(line, sizeof line, f))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtoll(line + 6, NULL, 10);
    if (f)
        fclose(f);
    if (kib < 0 && getrusage(RUSAGE_SELF, &usage) == 0)
        kib = usage.ru_maxrss;
    return (uint64_t)(kib > 0 ? kib : 0) * 1024;
}

static void forget_peak(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "w");
    if (f) {
        fputs("5", f);
        fclose(f);
    }
}

static void put_figure(const struct bench *b, const char *name, double v)
{
    struct buf out = {0};
    buf_g(&out, v, 6);
    if (b->o->given[OPT_JSON])
        printf("\"%s\":%s,", name, out.data);
    else
        printf("%-15s %s\n", name, out.data);
    buf_free(&out);
}

static void put_file(const struct bench *b)
{
    struct buf name = {0};
    if (b->o->given[OPT_JSON]) {
        buf_json_str(&name, str_of(b->path));
        printf("{\"schema\":1,\"file\":%s,", name.data);
        buf_free(&name);
    } else if (b->o->arg_count > 1) {
        printf("%s\n", b->path);
    }
}

static void put_figures(struct bench *b)
{
    uint64_t peak = peak_memory();
    double *runs = b->runs + (b->run_count > 1); /* exclude the first run, which warms up */
    size_t n = b->run_count - (b->run_count > 1);
    double median = sort_median(runs, n);
    put_file(b);
    put_figure(b, "parse_s", b->parse);
    put_figure(b, "plan_s", b->plan);
    put_figure(b, "inputs_s", b->inputs);
    put_figure(b, "first_run_s", b->first_run);
    put_figure(b, "first_result_s", b->first);
    put_figure(b, "run_median_s", median);
    put_figure(b, "run_min_s", runs[0]);
    printf(b->o->given[OPT_JSON] ? "\"runs\":%zu," : "runs            %zu\n", n);
    printf(b->o->given[OPT_JSON] ? "\"peak_rss\":%" PRIu64 "}\n" : "peak_rss        %" PRIu64 "\n",
           peak);
    fflush(stdout);
}

/* ---- the command ---- */

static int bench_file(const struct options *o, const char *path, double start)
{
    struct bench b = {.o = o, .path = path, .m = hlo_messages_new(), .start = start};
    hlo_file *f = open_file(o, path, b.m);
    int status = f ? prepare(&b, f) : HLO_USAGE;
    if (status == HLO_OK)
        status = run_all(&b);
    if (status == HLO_OK)
        put_figures(&b);
    report(o, b.m);
    arguments_free(&b.arguments);
    heap_free(b.results);
    heap_free(b.runs);
    hlo_program_free(b.program);
    hlo_targets_free(b.targets);
    hlo_module_free(b.module);
    hlo_file_free(f);
    hlo_messages_free(b.m);
    return status;
}

static double seconds_of_process(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int bench_command(const struct options *o)
{
    /* Includes the work of the dynamic loader before main, from the processor time of the
     * process. */
    double start = now_seconds() - seconds_of_process();
    int worst = HLO_OK;
    if (o->arg_count == 0)
        return usage_error(o, "no file given");
    for (size_t i = 0; i < o->arg_count; i++) {
        if (i > 0) {
            forget_peak();
            start = now_seconds();
        }
        int status = bench_file(o, o->args[i], start);
        worst = status > worst ? status : worst;
    }
    return worst;
}
