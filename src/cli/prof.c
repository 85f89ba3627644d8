/*
 * hlo prof: profiles runs of a module by step and by operation.
 */
#include "base/table.h"
#include "cli/timed.h"

#include <stdlib.h>

enum { DEFAULT_RUNS = 10, DEFAULT_TOP = 20 };
static const double DEFAULT_SECONDS = 1;

/* A step, or all steps of one operation. */
struct line {
    struct hlo_profile_step s;
    double operations, bytes; /* of one line's calls */
};

struct prof {
    const struct options *o;
    struct timed t;
    hlo_profile *profile;
    struct hlo_profile_step *all; /* by index in the profile; read once, since each sorts samples */
    size_t all_count, all_capacity;
    struct arena arena;       /* of `all` */
    struct line *steps, *ops; /* sorted by time, longest first */
    size_t step_count, op_count;
    double total; /* of all steps */
};

/* ---- the runs ---- */

/* Runs the module; if there are several runs, the first one warms up and is not counted. */
static int run_all(struct prof *p)
{
    struct timed *t = &p->t;
    int64_t requested;
    const bool given = p->o->given[OPT_RUNS];
    if (!timed_requested(t, DEFAULT_RUNS, &requested))
        return HLO_USAGE;
    bool ok = requested == 1 || timed_run(t);
    t->run_count = 0;
    p->profile = hlo_profile_new(t->program);
    double spent = 0;
    for (int64_t k = 0; k < requested && ok && (given || spent < DEFAULT_SECONDS); k++) {
        ok = timed_run(t);
        spent += t->runs[t->run_count - 1];
    }
    return ok ? HLO_OK : HLO_FAILED;
}

/* ---- sums ---- */

static int longest_first(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->s.seconds != y->s.seconds)
        return x->s.seconds < y->s.seconds ? 1 : -1;
    return (x->s.step > y->s.step) - (x->s.step < y->s.step);
}

static int by_op(const void *a, const void *b)
{
    return strcmp(((const struct line *)a)->s.op, ((const struct line *)b)->s.op);
}

/* Sums the lines of each operation. */
static void join_ops(struct prof *p)
{
    memcpy(p->ops, p->steps, p->step_count * sizeof *p->ops);
    if (p->step_count > 0)
        qsort(p->ops, p->step_count, sizeof *p->ops, by_op);
    for (size_t k = 0; k < p->step_count; k++) {
        struct line *last = p->op_count > 0 ? &p->ops[p->op_count - 1] : NULL;
        if (!last || strcmp(last->s.op, p->ops[k].s.op) != 0) {
            p->ops[p->op_count++] = p->ops[k];
            continue;
        }
        last->s.calls += p->ops[k].s.calls;
        last->s.seconds += p->ops[k].s.seconds;
        last->operations += p->ops[k].operations;
        last->bytes += p->ops[k].bytes;
    }
}

static void sum_up(struct prof *p)
{
    struct hlo_profile_step s;
    while (hlo_profile_step(p->profile, p->all_count, &s))
        VEC_PUSH(&p->arena, p->all, p->all_count, p->all_capacity) = s;
    p->steps = heap_zalloc(p->all_count, sizeof *p->steps);
    p->ops = heap_zalloc(p->all_count, sizeof *p->ops);
    for (size_t k = 0; k < p->all_count; k++) {
        const struct hlo_profile_step *at = &p->all[k];
        const double calls = (double)at->calls;
        p->total += at->seconds;
        if (at->calls > 0)
            p->steps[p->step_count++] =
                (struct line){*at, calls * at->operations, calls * at->bytes};
    }
    join_ops(p);
    qsort(p->steps, p->step_count, sizeof *p->steps, longest_first);
    qsort(p->ops, p->op_count, sizeof *p->ops, longest_first);
}

/* ---- for people ---- */

static const struct table_column op_columns[] = {
    {"time", true, 0},    {"share", true, 0}, {"calls", true, 1},
    {"GFLOP/s", true, 3}, {"GB/s", true, 2},  {"operation", false, 0},
};
static const struct table_column step_columns[] = {
    {"time", true, 0},    {"share", true, 0}, {"calls", true, 1}, {"median", true, 2},
    {"GFLOP/s", true, 4}, {"GB/s", true, 3},  {"step", false, 0},
};

static void add_seconds(struct table *t, double s)
{
    buf_seconds(&t->text, s);
    table_next(t);
}

static void add_time(struct table *t, const struct prof *p, double seconds)
{
    add_seconds(t, seconds);
    buf_printf(&t->text, "%.1f%%", p->total > 0 ? 100 * seconds / p->total : 0);
    table_next(t);
}

static void add_rate(struct table *t, double amount, double seconds)
{
    if (amount > 0 && seconds > 0)
        buf_giga(&t->text, amount / seconds);
    else
        buf_putc(&t->text, '-');
    table_next(t);
}

static void add_line(struct table *t, const struct prof *p, const struct line *l, bool op)
{
    add_time(t, p, l->s.seconds);
    buf_uint(&t->text, l->s.calls);
    table_next(t);
    if (!op)
        add_seconds(t, l->s.median);
    add_rate(t, l->operations, l->s.seconds);
    add_rate(t, l->bytes, l->s.seconds);
    if (op)
        buf_puts(&t->text, l->s.op);
    else
        buf_printf(&t->text, "%%%s  %s", l->s.name, l->s.what);
    table_next(t);
}

static void put_lines(struct buf *out, const struct prof *p, const struct line *lines, size_t count,
                      size_t top, bool op)
{
    struct table t = op ? TABLE(op_columns) : TABLE(step_columns);
    double rest = 0;
    for (size_t k = 0; k < count; k++)
        if (k < top)
            add_line(&t, p, &lines[k], op);
        else
            rest += lines[k].s.seconds;
    if (count > top) {
        add_time(&t, p, rest);
        for (size_t k = 2; k + 1 < t.column_count; k++)
            table_next(&t);
        buf_printf(&t.text, "%zu more", count - top);
        table_next(&t);
    }
    table_put_within(out, &t, output_width(p->o));
    buf_putc(out, '\n');
}

static void put_text(struct buf *out, struct prof *p, size_t top)
{
    enum { NARROW = 60 };
    struct hlo_memory m = hlo_program_memory(p->t.program);
    const char *separator = output_width(p->o) < NARROW ? "\n         " : ", ";
    put_lines(out, p, p->steps, p->step_count, top, false);
    put_lines(out, p, p->ops, p->op_count, top, true);
    buf_printf(out, "runs     %zu, median", p->t.run_count);
    buf_seconds(out, sort_median(p->t.runs, p->t.run_count));
    buf_printf(out, "%ssteps", separator);
    buf_seconds(out, p->total / (double)p->t.run_count);
    buf_puts(out, "\nvalues   ");
    buf_byte_size(out, m.measured);
    buf_puts(out, " at peak");
    if (m.estimated) {
        buf_printf(out, "%spredicted %s", separator, m.exact ? "" : "about ");
        buf_byte_size(out, m.peak);
    }
    buf_putc(out, '\n');
}

/* ---- for programs ---- */

enum { DIGITS = 9 };

static void json_line(struct buf *out, const struct line *l, bool op)
{
    buf_json_open(out, NULL, '{');
    buf_json_text(out, "op", str_of(l->s.op));
    if (!op) {
        buf_json_text(out, "name", str_of(l->s.name));
        buf_json_text(out, "computation", str_of(l->s.computation));
        buf_json_text(out, "what", str_of(l->s.what));
        buf_json_count(out, "step", l->s.step);
        buf_json_real(out, "median_s", l->s.median, DIGITS);
    }
    buf_json_count(out, "calls", l->s.calls);
    buf_json_real(out, "seconds", l->s.seconds, DIGITS);
    buf_json_real(out, "operations", l->operations, DIGITS);
    buf_json_real(out, "bytes", l->bytes, DIGITS);
    buf_putc(out, '}');
}

static void json_lines(struct buf *out, const char *key, const struct line *lines, size_t count,
                       bool op)
{
    buf_json_open(out, key, '[');
    for (size_t k = 0; k < count; k++)
        json_line(out, &lines[k], op);
    buf_putc(out, ']');
}

static void put_json(struct buf *out, struct prof *p)
{
    struct hlo_memory m = hlo_program_memory(p->t.program);
    buf_puts(out, "{\"schema\":1");
    buf_json_count(out, "runs", p->t.run_count);
    buf_json_real(out, "run_median_s", sort_median(p->t.runs, p->t.run_count), DIGITS);
    buf_json_real(out, "steps_s", p->total, DIGITS);
    buf_json_count(out, "memory", m.measured);
    json_lines(out, "steps", p->steps, p->step_count, false);
    json_lines(out, "ops", p->ops, p->op_count, true);
    buf_puts(out, "}\n");
}

static void put_csv(struct buf *out, const struct prof *p)
{
    buf_puts(out, "computation,step,name,op,what,calls,seconds,median_s,operations,bytes\n");
    for (size_t k = 0; k < p->step_count; k++) {
        const struct line *l = &p->steps[k];
        put_csv_field(out, l->s.computation);
        buf_printf(out, "%zu,", l->s.step);
        put_csv_field(out, l->s.name);
        put_csv_field(out, l->s.op);
        put_csv_field(out, l->s.what);
        buf_printf(out, "%" PRIu64, l->s.calls);
        const double figures[] = {l->s.seconds, l->s.median, l->operations, l->bytes};
        for (size_t n = 0; n < COUNT_OF(figures); n++) {
            buf_putc(out, ',');
            buf_g(out, figures[n], 9);
        }
        buf_putc(out, '\n');
    }
}

/* Writes Chrome's Trace Event Format: complete events, in microseconds; nested steps are displayed
 * below their step. */
static bool write_trace(const struct prof *p, const char *path)
{
    SCOPED_BUF out = {0};
    struct hlo_profile_event e;
    buf_puts(&out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    for (size_t k = 0; hlo_profile_event(p->profile, k, &e); k++) {
        const struct hlo_profile_step *s = &p->all[e.step];
        buf_printf(&out, "%s\n{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":", k ? "," : "");
        buf_g(&out, e.start * 1e6, 12);
        buf_puts(&out, ",\"dur\":");
        buf_g(&out, e.duration * 1e6, 9);
        buf_json_text(&out, "cat", str_of(s->op));
        buf_json_text(&out, "name", str_of(s->name));
        buf_json_open(&out, "args", '{');
        buf_json_text(&out, "what", str_of(s->what));
        buf_puts(&out, "}}");
    }
    buf_puts(&out, "\n]}\n");
    return hlo_write_text(path, out.data, out.size, p->t.m);
}

static int put_all(struct prof *p)
{
    const struct options *o = p->o;
    int64_t top;
    struct buf out = {0};
    if (!option_int(o, OPT_TOP, 1, INT32_MAX, DEFAULT_TOP, &top))
        return HLO_USAGE;
    sum_up(p);
    if (o->given[OPT_JSON])
        put_json(&out, p);
    else if (o->given[OPT_CSV])
        put_csv(&out, p);
    else
        put_text(&out, p, (size_t)top);
    print_buf(&out);
    return !o->value[OPT_CHROME] || write_trace(p, o->value[OPT_CHROME]) ? HLO_OK : HLO_USAGE;
}

int prof_command(const struct options *o)
{
    struct prof p = {.o = o};
    arena_init(&p.arena);
    int status =
        timed_prepare(&p.t, o, o->args[0], (const char *const *)o->args + 1, o->arg_count - 1);
    if (status == HLO_OK)
        status = run_all(&p);
    if (status == HLO_OK)
        status = put_all(&p);
    arena_free(&p.arena);
    heap_free(p.steps);
    heap_free(p.ops);
    hlo_profile_free(p.profile);
    timed_free(&p.t);
    return status;
}
