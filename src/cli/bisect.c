/*
 * hlo bisect: runs the dumps of a module after each pass on the same arguments, and finds the first
 * pass after which a result differs from that of the first dump. A dump that cannot be run is
 * skipped.
 */
#include "base/table.h"
#include "cli/arguments.h"

enum outcome { REFERENCE, EQUAL, AGREES, DIFFERS, SKIPPED, OUTCOMES };
static const char *const outcome_names[OUTCOMES] = {"reference", "equal", "agrees", "differs",
                                                    "skipped"};

struct pass { /* a dump; the module after a pass */
    struct hlo_dump dump;
    struct str number, pipeline, name; /* of the pass; a part that its phase lacks is empty */
    enum outcome outcome;
    struct str reason; /* of SKIPPED */
    struct hlo_difference
        difference; /* from the first dump, of the participant that differs most */
};
struct bisection {
    const struct options *o;
    hlo_messages *m;
    struct arena arena;
    hlo_dumps *dumps;
    struct pass *passes;
    size_t count, restored; /* restored: dumps whose elided constants are read from elsewhere */
    struct hlo_run_options options;
    hlo_targets *targets;
    struct hlo_tolerance tolerance;
    hlo_module *module; /* the first that runs; NULL: none yet */
    struct arguments arguments;
    hlo_literal **expected;   /* its results, by participant */
    const struct pass *first; /* the first that differs, or NULL; with its result: */
    hlo_literal *actual;
    size_t participant;
};

/* ---- passes ---- */

/* Cuts NNNN.PIPELINE.after_PASS.before_PASS. */
static void name_pass(struct pass *p)
{
    const char *phase = p->dump.phase, *dot = strchr(phase, '.');
    const char *after =
        dot ? strstr(dot + 1, ".after_") : NULL; /* a pipeline may be named after_ */
    if (!after) {
        p->name = str_of(phase);
        return;
    }
    p->number = (struct str){phase, (size_t)(dot - phase)};
    p->pipeline = (struct str){dot + 1, (size_t)(after - dot - 1)};
    p->name = str_of(after + strlen(".after_"));
    const char *before = strstr(p->name.ptr, ".before_");
    if (before)
        p->name.len = (size_t)(before - p->name.ptr);
}

static void skip(struct bisection *b, struct pass *p, const char *reason)
{
    p->outcome = SKIPPED;
    p->reason = arena_str(&b->arena, str_of(reason));
}

/* Skips a pass for its first error. */
static void skip_for_error(struct bisection *b, struct pass *p, const hlo_messages *m)
{
    size_t k = 0;
    while (k + 1 < hlo_messages_count(m) && !hlo_messages_get(m, k).error)
        k++;
    skip(b, p, hlo_messages_get(m, k).text);
}

static bool same_parameters(const hlo_module *a, const hlo_module *b)
{
    bool same = hlo_param_count(a) == hlo_param_count(b);
    for (size_t k = 0; same && k < hlo_param_count(a); k++)
        same = same_parameter(a, b, k);
    return same;
}

/* ---- runs ---- */

/* Compares the results of all participants, and keeps that of the first that differs. */
static void compare(struct bisection *b, struct pass *p, hlo_literal **results)
{
    p->outcome = EQUAL;
    for (size_t k = 0; k < b->arguments.participants; k++) {
        const struct hlo_difference d =
            hlo_literal_difference(results[k], b->expected[k], &b->tolerance);
        const bool differs = !d.comparable || d.outside > 0;
        const enum outcome outcome = differs                      ? DIFFERS
                                     : d.decades[0] == d.elements ? EQUAL
                                                                  : AGREES;
        if (k > 0 && outcome <= p->outcome)
            continue;
        p->outcome = outcome;
        p->difference = d;
        if (!differs || b->first)
            continue;
        b->first = p;
        b->participant = k;
        b->actual = results[k];
        results[k] = NULL;
    }
}

/* The first module that runs determines arguments and expected results. */
static int run_pass(struct bisection *b, struct pass *p, hlo_module *module, hlo_messages *m)
{
    const struct arguments *a = &b->arguments;
    SCOPED_PROGRAM *program = hlo_plan(module, &b->options, m);
    hlo_literal **results = heap_zalloc(a->participants, sizeof(hlo_literal *));
    interrupt_begin(program);
    const bool ok = program && hlo_run_all(program, (const hlo_literal *const *)a->all, a->count,
                                           NULL, results, m);
    const bool interrupted = interrupt_end();
    for (size_t k = 0; k < hlo_messages_count(m); k++)
        b->restored += strcmp(hlo_messages_get(m, k).id, "elided-restored") == 0;
    if (!ok) {
        skip_for_error(b, p, m);
    } else if (!b->expected) {
        p->outcome = REFERENCE;
        b->expected = results;
    } else {
        compare(b, p, results);
    }
    if (results != b->expected)
        hlo_literals_free(results, a->participants);
    return interrupted ? STATUS_INTERRUPTED : HLO_OK;
}

/* Runs the first module. If it cannot be run, the next one is the first. */
static int run_first(struct bisection *b, struct pass *p, hlo_module *module, hlo_messages *m)
{
    struct arguments *a = &b->arguments;
    a->module = b->module = module;
    int status = arguments_collect(a);
    if (status == HLO_OK)
        status = run_pass(b, p, module, m);
    if (status == HLO_OK && !b->expected) {
        arguments_free(a);
        hlo_module_free(module);
        b->module = NULL;
    }
    return status;
}

static int try_dump(struct bisection *b, size_t i, hlo_messages *m)
{
    struct pass *p = &b->passes[i];
    struct arguments sizes = {.o = b->o, .m = m};
    hlo_module *module = hlo_dumps_parse(b->dumps, i, m);
    int status = arguments_check(&sizes, module);
    if (status == HLO_OK && !b->module) {
        b->arguments = (struct arguments){.o = b->o,
                                          .m = b->m,
                                          .given = b->o->args + 1,
                                          .given_count = b->o->arg_count - 1,
                                          .participants = sizes.participants};
        return run_first(b, p, module, m);
    }
    if (status == HLO_USAGE) {
        hlo_module_free(module);
        return status;
    }
    if (status != HLO_OK)
        skip_for_error(b, p, m);
    else if (sizes.participants != b->arguments.participants)
        skip(b, p, "another number of participants");
    else if (!same_parameters(b->module, module))
        skip(b, p, "other parameters");
    else
        status = run_pass(b, p, module, m);
    hlo_module_free(module);
    return status == STATUS_INTERRUPTED ? status : HLO_OK;
}

static int run_all(struct bisection *b)
{
    int status = HLO_OK;
    progress_parts(b->o, "of", "dumps");
    for (size_t i = 0; i < b->count && status == HLO_OK; i++) {
        SCOPED_MESSAGES *m = hlo_messages_new();
        b->passes[i].dump = hlo_dumps_get(b->dumps, i);
        name_pass(&b->passes[i]);
        status = try_dump(b, i, m);
        progress_step(i + 1, b->count);
    }
    progress_end(b->o);
    pager_begin(b->o);
    return status;
}

static size_t count_of(const struct bisection *b, enum outcome outcome)
{
    size_t n = 0;
    for (size_t i = 0; i < b->count; i++)
        n += b->passes[i].outcome == outcome;
    return n;
}

/* ---- for people ---- */

static void put_pass(struct buf *out, const struct pass *p)
{
    if (str_is(p->name, "pipeline-start"))
        buf_printf(out, "before the first pass of " STR_FMT, STR_ARG(p->pipeline));
    else if (p->pipeline.len > 0)
        buf_printf(out, "after pass " STR_FMT " of " STR_FMT, STR_ARG(p->name),
                   STR_ARG(p->pipeline));
    else
        buf_printf(out, "in " STR_FMT, STR_ARG(p->name.len ? p->name : str_of(p->dump.name)));
}

static void put_verdict(const struct bisection *b, struct buf *out)
{
    const struct pass *p = b->first;
    size_t skipped = 0;
    if (!p) {
        buf_puts(out, "all results agree\n");
        return;
    }
    buf_puts(out, "first difference: ");
    put_pass(out, p);
    while (p - skipped > b->passes && p[-1 - (ptrdiff_t)skipped].outcome == SKIPPED)
        skipped++;
    if (skipped == 1)
        buf_puts(out, ", or after the skipped pass before it");
    else if (skipped > 1)
        buf_printf(out, ", or after one of the %zu skipped passes before it", skipped);
    buf_printf(out, "\n  %s", p->dump.path);
    if (!strstr(p->dump.path, p->dump.name))
        buf_printf(out, ": %s", p->dump.name);
    if (b->arguments.participants > 1)
        buf_printf(out, ", participant %zu", b->participant);
    buf_putc(out, '\n');
    SCOPED_TEXT text =
        hlo_difference_print(&p->difference, b->actual, b->expected[b->participant], NULL);
    buf_bytes(out, text.data, text.size);
}

static void put_error(struct buf *out, const struct pass *p)
{
    const struct hlo_difference *d = &p->difference;
    if (p->outcome == SKIPPED) {
        buf_str(out, p->reason);
    } else if (p->outcome == DIFFERS && !d->comparable) {
        buf_puts(out, "other shape");
    } else if (p->outcome == DIFFERS || p->outcome == AGREES) {
        buf_puts(out, "abs ");
        buf_g(out, d->worst_abs, 3);
        buf_puts(out, ", rel ");
        buf_g(out, d->worst_rel, 3);
    }
}

static void put_table(const struct bisection *b, struct buf *out)
{
    static const struct table_column columns[] = {
        {NULL, false, 0}, {NULL, false, 1}, {NULL, false, 2}, {NULL, false, 0}, {NULL, false, 0}};
    struct table t = TABLE(columns);
    for (size_t i = 0; i < b->count; i++) {
        const struct pass *p = &b->passes[i];
        table_cell(&t, str_of(outcome_names[p->outcome]));
        table_cell(&t, p->number);
        table_cell(&t, p->pipeline);
        table_cell(&t, p->name.len ? p->name : str_of(p->dump.name));
        put_error(&t.text, p);
        table_next(&t);
    }
    table_put_within(out, &t, output_width(b->o));
}

static void put_text(const struct bisection *b, struct buf *out)
{
    put_verdict(b, out);
    buf_printf(out, "%zu dumps: %zu equal, %zu within the tolerance, %zu different, %zu skipped\n",
               b->count, count_of(b, EQUAL) + count_of(b, REFERENCE), count_of(b, AGREES),
               count_of(b, DIFFERS), count_of(b, SKIPPED));
    put_table(b, out);
    if (b->restored > 0)
        buf_printf(out, "elided constants of %zu dump%s read from protocol buffers beside them\n",
                   b->restored, b->restored == 1 ? "" : "s");
}

/* ---- for programs ---- */

static void put_json(const struct bisection *b, struct buf *out)
{
    buf_puts(out, "{\"schema\":1");
    buf_json_bool(out, "same", !b->first);
    if (b->first)
        buf_json_count(out, "first", (uint64_t)(b->first - b->passes));
    buf_json_open(out, "dumps", '[');
    for (size_t i = 0; i < b->count; i++) {
        const struct pass *p = &b->passes[i];
        buf_json_open(out, NULL, '{');
        buf_json_text(out, "file", str_of(p->dump.path));
        buf_json_text(out, "name", str_of(p->dump.name));
        buf_json_text(out, "pipeline", p->pipeline);
        buf_json_text(out, "pass", p->name);
        buf_json_text(out, "outcome", str_of(outcome_names[p->outcome]));
        if (p->outcome == SKIPPED)
            buf_json_text(out, "reason", p->reason);
        if (p->outcome == AGREES || p->outcome == DIFFERS) {
            SCOPED_TEXT text = hlo_difference_json(&p->difference);
            buf_json_key(out, "difference");
            buf_puts(out, text.data);
        }
        buf_putc(out, '}');
    }
    buf_puts(out, "]}\n");
}

/* ---- the command ---- */

static int get_ready(struct bisection *b)
{
    const struct options *o = b->o;
    const char *pick = o->value[OPT_MODULE] ? o->value[OPT_MODULE] : "";
    if (!run_options(o, &b->options) || !tolerance_options(o, &b->tolerance))
        return HLO_USAGE;
    b->tolerance.usual = !tolerance_given(o);
    if (!(b->targets = targets_of(o, b->m)) || !(b->dumps = hlo_dumps_open(o->args[0], pick, b->m)))
        return HLO_USAGE;
    b->options.targets = b->targets;
    b->count = hlo_dumps_count(b->dumps);
    b->passes = ARENA_ARRAY(&b->arena, struct pass, b->count);
    return b->count > 1 ? HLO_OK
                        : usage_error(o, "'%s' has only one dump of the module", o->args[0]);
}

/* The status is that of diff: 0 if all results agree, 1 if one differs, 2 for trouble. */
static int bisect(struct bisection *b)
{
    SCOPED_BUF out = {0};
    int status = get_ready(b);
    if (status == HLO_OK)
        status = run_all(b);
    if (status != HLO_OK)
        return status == STATUS_INTERRUPTED ? status : HLO_USAGE;
    if (b->o->given[OPT_JSON])
        put_json(b, &out);
    else
        put_text(b, &out);
    const size_t skipped = count_of(b, SKIPPED);
    if (skipped + 1 < b->count) {
        print_buf(&out);
        return b->first ? HLO_DIFFERS : HLO_OK;
    }
    size_t i = 0;
    while (b->passes[i].outcome != SKIPPED)
        i++;
    file_error(b->m, b->o->args[0], "%zu of %zu dumps cannot be run; %s: " STR_FMT, skipped,
               b->count, b->passes[i].dump.name, STR_ARG(b->passes[i].reason));
    return HLO_USAGE;
}

int bisect_command(const struct options *o)
{
    struct bisection b = {.o = o, .m = hlo_messages_new()};
    if (o->arg_count == 0)
        return hlo_messages_free(b.m), usage_error(o, "no directory given");
    arena_init(&b.arena);
    const int status = bisect(&b);
    report(o, b.m);
    if (b.expected)
        hlo_literals_free(b.expected, b.arguments.participants);
    if (b.module)
        arguments_free(&b.arguments);
    hlo_literal_free(b.actual);
    hlo_module_free(b.module);
    hlo_dumps_free(b.dumps);
    hlo_targets_free(b.targets);
    hlo_messages_free(b.m);
    arena_free(&b.arena);
    return status;
}
