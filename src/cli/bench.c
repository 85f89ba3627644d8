/*
 * hlo bench: time to read, plan and run modules, on inputs from files or generated ones.
 *
 * The time to the first result is measured from the start of the process or, for further files,
 * from the end of the previous one, without the time for inputs. The first run is excluded from
 * the figures of runs if there are others.
 */
#include "base/system.h"
#include "base/table.h"
#include "cli/timed.h"

#include <stdlib.h>
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
    const bool given = b->o->given[OPT_RUNS];
    double spent = 0;
    if (!timed_requested(t, 5, &requested))
        return HLO_USAGE;
    for (int64_t i = 0; i < requested && (given || spent < BUDGET_S); i++) {
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

struct figure {
    const char *key, *name; /* in JSON, and in text */
    double seconds;
};

static void put_json(struct buf *out, const struct bench *b, const struct figure *figures,
                     size_t count, uint64_t peak)
{
    enum { DIGITS = 6 };
    buf_puts(out, "{\"schema\":1");
    buf_json_text(out, "file", str_of(b->path));
    for (size_t k = 0; k < count; k++)
        buf_json_real(out, figures[k].key, figures[k].seconds, DIGITS);
    buf_json_count(out, "runs", b->t.run_count);
    buf_json_count(out, "peak_rss", peak);
    buf_puts(out, "}\n");
}

static void put_text(struct buf *out, const struct bench *b, const struct figure *figures,
                     size_t count, uint64_t peak)
{
    static const struct table_column columns[] = {{NULL, false, 0}, {NULL, false, 0}};
    struct table t = TABLE(columns);
    if (b->o->arg_count > 1)
        buf_printf(out, "%s\n", b->path);
    for (size_t k = 0; k < count; k++) {
        table_cell(&t, str_of(figures[k].name));
        buf_seconds(&t.text, figures[k].seconds);
        table_next(&t);
    }
    table_cell(&t, STR("runs"));
    buf_printf(&t.text, "%4zu", b->t.run_count);
    table_next(&t);
    table_cell(&t, STR("peak memory"));
    buf_puts(&t.text, "  ");
    buf_byte_size(&t.text, peak);
    table_next(&t);
    table_put(out, &t);
}

static void put_figures(struct bench *b)
{
    const struct timed *t = &b->t;
    const uint64_t peak = system_peak_memory();
    double *runs = t->runs + (t->run_count > 1); /* exclude the first run, which warms up */
    const double median = sort_median(runs, t->run_count - (t->run_count > 1));
    const struct figure figures[] = {
        {"parse_s", "parse", t->parse},
        {"plan_s", "plan", t->plan},
        {"inputs_s", "inputs", t->inputs},
        {"first_run_s", "first run", b->first_run},
        {"first_result_s", "first result", b->first},
        {"run_median_s", "run, median", median},
        {"run_min_s", "run, minimum", runs[0]},
    };
    struct buf out = {0};
    (b->o->given[OPT_JSON] ? put_json : put_text)(&out, b, figures, COUNT_OF(figures), peak);
    print_buf(&out);
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
    for (size_t i = 0; i < o->arg_count; i++) {
        if (i > 0) {
            system_reset_peak_memory();
            start = now_seconds();
        }
        int status = bench_file(o, o->args[i], start);
        worst = status > worst ? status : worst;
    }
    return worst;
}
