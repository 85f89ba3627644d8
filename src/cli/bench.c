/*
 * hlo bench: how long a module takes to read, plan and run, on made-up inputs.
 *
 * First results count from the start of the process, inputs included; runs after the first are
 * what `run_median_s` and `run_min_s` are taken from, where there are any.
 */
#include "cli/cli.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { MOST_RUNS = 100000, BUDGET_S = 20 };

struct bench {
    const struct options *o;
    hlo_messages *m;
    hlo_module *module;
    hlo_targets *targets;
    hlo_program *program;
    hlo_literal **values;
    size_t count;
    double start, parse, plan, inputs, first;
    double *runs;
    size_t run_count;
};

static double seconds_of_process(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int make_inputs(struct bench *b)
{
    int64_t seed;
    double start = now_seconds();
    if (!option_int(b->o, OPT_RANDOM, 0, INT64_MAX, 1, &seed))
        return HLO_USAGE;
    b->count = hlo_param_count(b->module);
    b->values = calloc(b->count + 1, sizeof(hlo_literal *));
    for (size_t i = 0; b->values && i < b->count; i++)
        if (!(b->values[i] = hlo_random_param(b->module, i, (uint64_t)seed, b->m)))
            return HLO_FAILED;
    b->inputs = now_seconds() - start;
    return b->values ? HLO_OK : HLO_FAILED;
}

static int prepare(struct bench *b, const hlo_file *f)
{
    struct hlo_run_options options = {
        .plain = b->o->given[OPT_PLAIN], .elided = HLO_ELIDED_RANDOM, .seed = 1};
    int64_t part;
    options.targets = b->targets = targets_of(b->o, b->m);
    if (!b->targets || !option_threads(b->o, 0, &options.threads) || !option_int(b->o, OPT_MODULE, 1, (int64_t)hlo_file_count(f), 1, &part))
        return HLO_USAGE;
    double t0 = now_seconds();
    b->module = hlo_parse(f, (size_t)part - 1, b->m);
    double t1 = now_seconds();
    if (!b->module || !hlo_verify(b->module, b->m))
        return HLO_REJECTED;
    b->program = hlo_plan(b->module, &options, b->m);
    b->parse = t1 - t0;
    b->plan = now_seconds() - t1;
    return b->program ? make_inputs(b) : HLO_FAILED;
}

static int run_all(struct bench *b)
{
    int64_t wanted;
    double spent = 0;
    if (!option_int(b->o, OPT_RUNS, 1, MOST_RUNS, 5, &wanted))
        return HLO_USAGE;
    b->runs = calloc((size_t)wanted, sizeof *b->runs);
    for (int64_t i = 0; b->runs && i < wanted && spent < BUDGET_S; i++) {
        double start = now_seconds();
        hlo_literal *result = hlo_run(b->program, (const hlo_literal *const *)b->values, b->count, b->m);
        b->runs[b->run_count++] = now_seconds() - start;
        spent += now_seconds() - start;
        if (i == 0)
            b->first = now_seconds() - b->start;
        if (!result)
            return HLO_FAILED;
        hlo_literal_free(result);
    }
    return b->runs ? HLO_OK : HLO_FAILED;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
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

static void put_figures(struct bench *b)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double *runs = b->runs + (b->run_count > 1); /* the first one warms up */
    size_t n = b->run_count - (b->run_count > 1);
    qsort(runs, n, sizeof *runs, by_size);
    double median = n % 2 ? runs[n / 2] : (runs[n / 2 - 1] + runs[n / 2]) / 2;
    if (b->o->given[OPT_JSON])
        fputs("{\"schema\":1,", stdout);
    put_figure(b, "parse_s", b->parse);
    put_figure(b, "plan_s", b->plan);
    put_figure(b, "inputs_s", b->inputs);
    put_figure(b, "first_result_s", b->first);
    put_figure(b, "run_median_s", median);
    put_figure(b, "run_min_s", runs[0]);
    printf(b->o->given[OPT_JSON] ? "\"runs\":%zu," : "runs            %zu\n", n);
    printf(b->o->given[OPT_JSON] ? "\"peak_rss\":%ld}\n" : "peak_rss        %ld\n", usage.ru_maxrss * 1024);
}

int bench_command(const struct options *o)
{
    if (o->arg_count != 1)
        return usage_error(o, o->arg_count ? "one file at a time" : "no file given");
    /* What the loader took before main was processor time. */
    struct bench b = {.o = o, .m = hlo_messages_new(), .start = now_seconds() - seconds_of_process()};
    hlo_file *f = hlo_file_open(o->args[0], false, b.m);
    int status = f ? prepare(&b, f) : HLO_USAGE;
    if (status == HLO_OK)
        status = run_all(&b);
    if (status == HLO_OK)
        put_figures(&b);
    report(o, b.m);
    for (size_t i = 0; b.values && i < b.count; i++)
        hlo_literal_free(b.values[i]);
    free(b.values);
    free(b.runs);
    hlo_program_free(b.program);
    hlo_targets_free(b.targets);
    hlo_module_free(b.module);
    hlo_file_free(f);
    hlo_messages_free(b.m);
    return status;
}
