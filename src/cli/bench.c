/*
 * hlo bench: time to read, plan and run modules, on inputs from files or generated ones.
 *
 * The time to the first result is measured from the start of the process or, for further files,
 * from the end of the previous one, without the time for inputs. The first run is excluded from
 * the figures of runs if there are others.
 */
#include "cli/timed.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { BUDGET_S = 20 };

struct bench {
    const struct options *o;
    const char *path;
    struct timed t;
    double start, first, first_run;
};

/* ---- one module ---- */

static int run_all(struct bench *b)
{
    struct timed *t = &b->t;
    int64_t requested;
    double spent = 0;
    if (!timed_requested(t, 5, &requested))
        return HLO_USAGE;
    for (int64_t i = 0; i < requested && spent < BUDGET_S; i++) {
        if (!timed_run(t))
            return HLO_FAILED;
        if (i == 0)
            b->first = now_seconds() - b->start - t->inputs;
        spent += t->runs[i];
    }
    b->first_run = t->runs[0];
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
    const struct timed *t = &b->t;
    double *runs = t->runs + (t->run_count > 1); /* exclude the first run, which warms up */
    size_t n = t->run_count - (t->run_count > 1);
    double median = sort_median(runs, n);
    put_file(b);
    put_figure(b, "parse_s", t->parse);
    put_figure(b, "plan_s", t->plan);
    put_figure(b, "inputs_s", t->inputs);
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
    struct bench b = {.o = o, .path = path, .start = start};
    int status = timed_prepare(&b.t, o, path, NULL, 0);
    if (status == HLO_OK)
        status = run_all(&b);
    if (status == HLO_OK)
        put_figures(&b);
    timed_free(&b.t);
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
