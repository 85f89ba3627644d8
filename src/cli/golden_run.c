/*
 * Runs a golden test: parses, verifies, prints or evaluates the module according to the kind of
 * the test, and compares with the directives.
 */
#include "cli/arguments.h"
#include "cli/golden.h"

/* Resources of a test, freed at its end. */
struct work {
    struct golden_run *r;
    hlo_messages *m;
    hlo_module *module;
    hlo_targets *targets;
    hlo_program *program;
    size_t participants, count; /* count: number of parameters */
    hlo_literal **values;       /* arguments of all participants, in order of participants */
    hlo_literal **results;
};

void golden_fail(struct golden_run *r, uint32_t line, const char *format, ...)
{
    va_list ap;
    if (r->why.size > 0)
        buf_putc(&r->why, '\n');
    buf_printf(&r->why, line ? "%s:%" PRIu32 ": " : "%s: ", r->path, line);
    va_start(ap, format);
    buf_vprintf(&r->why, format, ap);
    va_end(ap);
}

static bool failed(const struct golden_run *r) { return r->why.size > 0; }

uint32_t golden_test_line(const struct golden_run *r)
{
    return r->g.test.count ? r->g.test.at[0].line : 0;
}

static void fail_with_messages(struct golden_run *r, uint32_t line, const char *what,
                               const hlo_messages *m)
{
    SCOPED_TEXT text = hlo_messages_draw(m, false);
    while (text.size > 0 && text.data[text.size - 1] == '\n')
        text.data[--text.size] = '\0';
    golden_fail(r, line, "%s\n%s", what, text.data);
}

void golden_propose(struct golden_run *r, uint32_t first, uint32_t last, struct str text)
{
    if (r->edits)
        VEC_PUSH(r->arena, r->edits->at, r->edits->count, r->edits->capacity) =
            (struct edit){first, last, arena_str(r->arena, text)};
}

/* ---- verdicts of --strict ---- */

static const char *verdict_text(const struct work *w)
{
    if (!w->module)
        return "rejected by the parser";
    return hlo_messages_errors(w->m) > 0 ? "rejected by the verifier" : "accepted";
}

static void check_verdict(struct work *w)
{
    struct golden_run *r = w->r;
    enum verdict expected = r->g.verdict;
    bool parsed = w->module != NULL;
    if (parsed && expected != VERDICT_PARSER_ACCEPTS)
        hlo_verify(w->module, w->m);
    bool clean = hlo_messages_errors(w->m) == 0;
    bool right = expected == VERDICT_ACCEPTED         ? parsed && clean
                 : expected == VERDICT_PARSER_ACCEPTS ? parsed
                 : expected == VERDICT_PARSER_REJECTS ? !parsed
                                                      : parsed && !clean;
    if (right)
        return;
    SCOPED_BUF b = {0};
    buf_printf(&b, "expected " STR_FMT ", but it is %s", STR_ARG(r->g.expect.at[0].text),
               verdict_text(w));
    if (clean)
        golden_fail(r, r->g.expect.at[0].line, "%s", b.data);
    else
        fail_with_messages(r, r->g.expect.at[0].line, b.data, w->m);
}

/* ---- canonical text ---- */

static void check_print(struct work *w)
{
    struct golden_run *r = w->r;
    const struct directive *d = &r->g.print.at[0];
    SCOPED_TEXT text = hlo_print(w->module, r->g.short_form ? HLO_PRINT_SHORT : HLO_PRINT_FULL);
    struct str got = {text.data, text.size}, expected = d->text;
    while (got.len > 0 && got.ptr[got.len - 1] == '\n')
        got.len--;
    while (expected.len > 0 && expected.ptr[expected.len - 1] == '\n')
        expected.len--;
    if (!str_eq(got, expected)) {
        SCOPED_BUF diff = {0}, lines = {0};
        put_diff(&diff, "print", arena_printf(r->arena, STR_FMT "\n", STR_ARG(expected)),
                 arena_printf(r->arena, STR_FMT "\n", STR_ARG(got)));
        golden_fail(r, d->line, "canonical text differs\n" STR_FMT, STR_ARG(buf_view(&diff)));
        buf_puts(&lines, "// print:\n");
        for (struct str rest = got; rest.len > 0;) {
            const struct str line = str_cut(&rest, '\n');
            buf_printf(&lines, line.len ? "// " STR_FMT "\n" : "//" STR_FMT "\n", STR_ARG(line));
        }
        golden_propose(r, d->line, d->last_line, buf_view(&lines));
    }
}

/* ---- arguments ---- */

/* Resolves a path relative to the directory of the test. */
static const char *beside(struct golden_run *r, struct str name)
{
    const char *slash = strrchr(r->path, '/');
    int directory = slash && name.len > 0 && name.ptr[0] != '/' ? (int)(slash + 1 - r->path) : 0;
    return arena_printf(r->arena, "%.*s" STR_FMT, directory, r->path, STR_ARG(name)).ptr;
}

/* Reads a literal, whose shape is optional, or a file, as on the command line. The run checks a
 * given shape, since a test may expect a mismatch. */
static hlo_literal *read_argument(struct work *w, const struct directive *d, size_t param,
                                  size_t participant)
{
    struct str text = arena_str(w->r->arena, d->text);
    if (hlo_literal_has_shape(text.ptr, text.len))
        return hlo_literal_parse(text.ptr, text.len, w->m);
    if (text.len > 0 && text.ptr[0] == '@')
        text = arena_printf(w->r->arena, "@%s",
                            beside(w->r, (struct str){text.ptr + 1, text.len - 1}));
    return hlo_read_argument(w->module, param, participant, text.ptr, w->m);
}

static bool is_of(const struct work *w, const struct directive *d, size_t param)
{
    return d->name.len > 0 &&
           hlo_param_find(w->module, arena_str(w->r->arena, d->name).ptr) == (long)param;
}

/* Whether a parameter has a value before `d`, a directive without a name, is assigned. */
static bool is_taken(const struct work *w, const struct directive *d, size_t param)
{
    const struct directives *in = &w->r->g.in;
    for (size_t i = 0; i < in->count; i++) {
        const struct directive *e = &in->at[i];
        bool counts = e->participant == d->participant ||
                      (e->participant == EACH_PARTICIPANT && !e->in_order);
        if (counts && is_of(w, e, param))
            return true;
    }
    return false;
}

/* Assigns values without a name to the remaining parameters in order; a file of several arrays
 * applies to all. */
static void name_in_order(struct work *w)
{
    const struct directives *in = &w->r->g.in;
    for (size_t i = 0; i < in->count; i++) {
        struct directive *d = &in->at[i];
        bool file = d->text.len > 0 && d->text.ptr[0] == '@';
        if (d->name.len > 0 ||
            (file && hlo_arrays_many(beside(w->r, (struct str){d->text.ptr + 1, d->text.len - 1}))))
            continue;
        size_t param = 0, count = hlo_param_count(w->module);
        while (param < count && is_taken(w, d, param))
            param++;
        if (param == count) {
            golden_fail(w->r, d->line, "too many values: the module has %zu parameters", count);
            return;
        }
        d->name = str_of(hlo_param_name(w->module, param));
        d->in_order = true;
    }
}

/* The directive for a parameter and participant: a named parameter precedes a file for all, a named
 * participant precedes all participants. */
static const struct directive *directive_for(const struct work *w, size_t param, size_t participant)
{
    const struct directives *in = &w->r->g.in;
    const struct directive *best = NULL;
    int best_rank = 0;
    for (size_t i = 0; i < in->count; i++) {
        const struct directive *d = &in->at[i];
        bool mine = d->participant == (int64_t)participant;
        int rank = (d->name.len == 0 ? 1 : is_of(w, d, param) ? 3 : 0) + mine;
        if ((mine || d->participant == EACH_PARTICIPANT) && rank > mine && rank >= best_rank) {
            best = d;
            best_rank = rank;
        }
    }
    return best;
}

static void check_names(struct work *w)
{
    const struct directives *in = &w->r->g.in;
    for (size_t i = 0; i < in->count; i++) {
        struct str name = arena_str(w->r->arena, in->at[i].name);
        if (name.len > 0 && hlo_param_find(w->module, name.ptr) < 0)
            golden_fail(w->r, in->at[i].line, "module has no parameter '%s'", name.ptr);
    }
}

static void read_stored(struct work *w)
{
    for (size_t i = 0; i < w->participants * w->count && !failed(w->r); i++)
        if (!(w->values[i] =
                  hlo_stored_argument(w->module, w->module, i % w->count, i / w->count, w->m)))
            fail_with_messages(w->r, 0, "cannot read the arguments", w->m);
}

static void read_arguments(struct work *w)
{
    struct golden_run *r = w->r;
    w->count = hlo_param_count(w->module);
    w->values = heap_zalloc(w->participants * w->count + 1, sizeof(hlo_literal *));
    if (r->stored && hlo_stored_arguments(w->module)) {
        read_stored(w);
        return;
    }
    check_names(w);
    if (!failed(r))
        name_in_order(w);
    for (size_t i = 0; i < w->participants * w->count && !failed(r); i++) {
        const char *name = hlo_param_name(w->module, i % w->count);
        const struct directive *d = directive_for(w, i % w->count, i / w->count);
        if (!d)
            golden_fail(r, golden_test_line(r), "missing value for parameter '%s': '// in %s: ...'",
                        name, name);
        else if (!(w->values[i] = read_argument(w, d, i % w->count, i / w->count)))
            fail_with_messages(r, d->line, "cannot read the value", w->m);
    }
}

/* ---- results ---- */

/* Two values that differ; `result` is tuple element `element` of a participant's result. */
struct mismatch {
    size_t participant, element;
    const hlo_literal *result, *expected;
    const struct hlo_tolerance *tolerance;
};

/* Reports where values differ and by how much. */
static void fail_mismatch(struct work *w, const struct mismatch *x, const hlo_text *why)
{
    const uint32_t line = w->r->stored ? 0 : hlo_result_line(w->module, x->element);
    const struct hlo_difference d = hlo_literal_difference(x->result, x->expected, x->tolerance);
    SCOPED_BUF report = {0};
    if (w->participants > 1)
        buf_printf(&report, "participant %zu: ", x->participant);
    buf_printf(&report, "%s\n", why->data);
    put_differing(&report, &d, x->result, x->expected);
    golden_fail(w->r, line, STR_FMT, STR_ARG(str_trim(buf_view(&report))));
}

static bool is_bundle(const char *path)
{
    SCOPED_MESSAGES *ignored = hlo_messages_new();
    SCOPED_ARRAYS *file = hlo_arrays_open(path, ignored);
    return file && hlo_arrays_has(file, "module");
}

/* Writes the results of all participants to the file of `out: @FILE`; to a bundle, also the module
 * and its arguments. */
static bool rewrite_values(struct work *w, const char *path)
{
    const hlo_literal *const *results = (const hlo_literal *const *)w->results;
    if (!is_bundle(path))
        return hlo_write_arrays(path, "out", results, w->participants, w->m);
    SCOPED_TEXT text = hlo_print(w->module, HLO_PRINT_EXACT);
    const struct hlo_bundle b = {.size = sizeof b,
                                 .text = text.data,
                                 .text_size = text.size,
                                 .participants = w->participants,
                                 .count = w->count,
                                 .args = (const hlo_literal *const *)w->values,
                                 .results = results};
    return hlo_write_bundle(path, &b, w->m);
}

static void propose_file(struct work *w, const struct directive *d)
{
    struct golden_run *r = w->r;
    const char *path = beside(r, (struct str){d->text.ptr + 1, d->text.len - 1});
    if (!r->edits || r->edits->aside || !hlo_write_knows(path) ||
        (d->participant != EACH_PARTICIPANT && w->participants > 1))
        return;
    if (rewrite_values(w, path))
        r->edits->files = true;
    else
        fail_with_messages(r, d->line, "cannot write the value", w->m);
}

/* Replaces a directive for all participants by one for each. */
static void propose_value(struct work *w, const struct directive *d, size_t participant)
{
    SCOPED_BUF lines = {0};
    bool each = d->participant == EACH_PARTICIPANT && w->participants > 1;
    if (d->text.len > 0 && d->text.ptr[0] == '@') {
        propose_file(w, d);
        return;
    }
    for (size_t p = each ? 0 : participant; p < (each ? w->participants : participant + 1); p++)
        golden_put_value(&lines,
                         w->participants > 1 ? arena_printf(w->r->arena, "out@%zu", p).ptr : "out",
                         w->results[p]);
    golden_propose(w->r, d->line, d->last_line, buf_view(&lines));
}

/* Parses the expected value; without a shape, it has the shape of the result. */
static hlo_literal *read_expected(struct work *w, size_t participant, const struct directive *d)
{
    struct str text = d->text;
    if (text.len > 0 && text.ptr[0] == '@')
        return hlo_read_result(beside(w->r, (struct str){text.ptr + 1, text.len - 1}), "out",
                               w->module, participant, w->m);
    if (!hlo_literal_has_shape(text.ptr, text.len)) {
        SCOPED_TEXT shape = hlo_literal_shape(w->results[participant]);
        text = arena_printf(w->r->arena, "%s " STR_FMT, shape.data, STR_ARG(text));
    }
    return hlo_literal_parse(text.ptr, text.len, w->m);
}

/* The first tuple element that differs; 0 if the values are not tuples of the same number of
 * elements. */
static size_t first_difference(const struct work *w, size_t participant,
                               const hlo_literal *expected)
{
    const hlo_literal *result = w->results[participant];
    const size_t count = hlo_literal_count(result);
    size_t k = 0;
    while (k < count && count == hlo_literal_count(expected) &&
           hlo_literal_compare(hlo_literal_element(result, k), hlo_literal_element(expected, k),
                               &w->r->g.tolerance, NULL))
        k++;
    return k < count ? k : 0;
}

/* Compares a result with its expected value, and frees the latter; NULL: it cannot be read. */
static void compare_value(struct work *w, size_t participant, uint32_t line, hlo_literal *expected)
{
    struct golden_run *r = w->r;
    SCOPED_TEXT why = {0};
    if (!expected) {
        fail_with_messages(r, line, "cannot read the expected value", w->m);
    } else if (!hlo_literal_compare(w->results[participant], expected, &r->g.tolerance, &why)) {
        const struct mismatch x = {participant, first_difference(w, participant, expected),
                                   w->results[participant], expected, &r->g.tolerance};
        fail_mismatch(w, &x, &why);
    }
    hlo_literal_free(expected);
}

static void check_value(struct work *w, size_t participant, const struct directive *d)
{
    if (d->text.len == 0)
        golden_fail(w->r, d->line,
                    "expected value is empty; 'hlo test --update' writes the actual one");
    else
        compare_value(w, participant, d->line, read_expected(w, participant, d));
    if (failed(w->r))
        propose_value(w, d, participant);
}

static void check_values(struct work *w)
{
    const struct directives *out = &w->r->g.out;
    for (size_t i = 0; i < out->count; i++)
        if (out->at[i].participant >= (int64_t)w->participants)
            golden_fail(w->r, out->at[i].line, "there are %zu participants", w->participants);
    for (size_t p = 0; p < w->participants && !failed(w->r); p++) {
        const struct directive *d = directive_of(out, (int64_t)p, 0);
        if (d)
            check_value(w, p, d);
        else if (w->r->stored)
            compare_value(w, p, 0, hlo_stored_result(w->module, p, w->m));
    }
}

static size_t read_tolerances(struct golden_run *r, struct str text, struct hlo_tolerance *out,
                              size_t max)
{
    size_t n = 0;
    for (bool more = true; more; n++) {
        struct hlo_tolerance t;
        more = text.len && memchr(text.ptr, ';', text.len);
        if (!golden_tolerance(str_cut(&text, ';'), &t)) {
            golden_fail(
                r, r->g.pairs.at[0].line,
                "'out-pairs:' expects exact, bits, ulp=, rel= or abs=, once or for each pair");
            return 0;
        }
        if (n < max)
            out[n] = t;
    }
    return n;
}

static void check_pairs(struct work *w, size_t participant)
{
    struct golden_run *r = w->r;
    const struct directive *d = &r->g.pairs.at[0];
    const hlo_literal *result = w->results[participant];
    size_t pairs = hlo_literal_count(result) / 2;
    if (pairs == 0 || hlo_literal_count(result) % 2 > 0) {
        golden_fail(r, hlo_result_line(w->module, SIZE_MAX),
                    "'out-pairs:' requires a ROOT tuple of actual and expected values");
        return;
    }
    struct hlo_tolerance *t = ARENA_ARRAY(r->arena, struct hlo_tolerance, pairs);
    size_t given = read_tolerances(r, d->text, t, pairs);
    if (!failed(r) && given != 1 && given != pairs)
        golden_fail(r, d->line, "%zu tolerances for %zu pairs", given, pairs);
    for (size_t i = 0; i < pairs && !failed(r); i++) {
        const struct mismatch x = {participant, i, hlo_literal_element(result, i),
                                   hlo_literal_element(result, pairs + i), &t[given == 1 ? 0 : i]};
        SCOPED_TEXT why = {0};
        if (!hlo_literal_compare(x.result, x.expected, x.tolerance, &why))
            fail_mismatch(w, &x, &why);
    }
}

static void check_results(struct work *w, struct golden_feed *feed)
{
    struct golden_run *r = w->r;
    if (r->g.errors.count > 0) {
        golden_fail(r, golden_test_line(r), "expected an error, but the module ran");
        return;
    }
    check_values(w);
    for (size_t p = 0; p < w->participants && r->g.pairs.count > 0 && !failed(r); p++)
        check_pairs(w, p);
    if (!failed(r) && !r->stored)
        golden_feed_check(feed, w->m);
}

/* Tests must not run shell commands: `hlo test` on an untrusted file must be safe. */
static bool is_harmless(struct str rule)
{
    const char *equal = memchr(rule.ptr, '=', rule.len);
    struct str what = {equal ? equal + 1 : rule.ptr,
                       equal ? (size_t)(rule.ptr + rule.len - equal - 1) : 0};
    return str_is(what, "identity") || str_is(what, "zeros");
}

/* Targets of the command line, followed by those of `custom-call:` directives. */
static bool read_targets(struct work *w)
{
    struct golden_run *r = w->r;
    const struct directives *calls = &r->g.calls;
    w->targets = targets_of(r->o, w->m);
    if (!w->targets)
        fail_with_messages(r, golden_test_line(r), "invalid custom-call target on the command line",
                           w->m);
    for (size_t i = 0; i < calls->count && !failed(r); i++) {
        struct str rule = arena_str(r->arena, calls->at[i].text);
        if (!is_harmless(rule))
            golden_fail(r, calls->at[i].line, "expected NAME=identity or NAME=zeros");
        else
            hlo_targets_add_rule(w->targets, rule.ptr, w->m);
    }
    return !failed(r);
}

static void evaluate(struct work *w)
{
    struct golden_run *r = w->r;
    if (!read_targets(w))
        return;
    struct hlo_run_options options;
    struct golden_feed feed;
    struct golden_trace event = {0};
    run_options(r->o, &options);
    option_threads(r->o, 1, &options.threads); /* cannot fail: checked by test.c */
    options.targets = w->targets;
    options.traced = r->o->given[OPT_TRACED];
    w->program = hlo_plan(w->module, &options, w->m);
    w->participants = w->program ? hlo_participants(w->program) : 0;
    w->results = heap_zalloc(w->participants + 1, sizeof(hlo_literal *));
    if (w->program)
        read_arguments(w);
    bool ready = w->program && !failed(r),
         all_ready = hlo_world_agree(options.world, !ready, NULL) == 0;
    if (failed(r))
        return;
    if (ready && !all_ready)
        golden_fail(r, golden_test_line(r), "cannot run on another rank");
    golden_feed_begin(&feed, r, w->participants);
    if (all_ready && options.traced)
        golden_trace_begin(&event, w->module, w->program);
    const hlo_literal *const *values = (const hlo_literal *const *)w->values;
    if (all_ready && hlo_run_all(w->program, values, w->count, &feed.feeds, w->results, w->m)) {
        if (world_first(r->o)) /* rank 0 has the results */
            check_results(w, &feed);
        golden_trace_check(&event, r, w->results);
    } else if (r->g.errors.count == 0) {
        fail_with_messages(r, golden_test_line(r), "module failed to run", w->m);
    }
    golden_trace_end(&event);
    golden_feed_end(&feed);
}

/* ---- entry point ---- */

static void run_kind(struct work *w)
{
    struct golden_run *r = w->r;
    const struct golden *g = &r->g;
    hlo_file_strict(r->file, g->strict || g->verdict != VERDICT_NONE);
    w->module = hlo_parse(r->file, r->part, w->m);
    if (g->verdict != VERDICT_NONE) {
        check_verdict(w);
        if (g->kind != TEST_EVAL || g->out.count + g->pairs.count + g->outfeed.count == 0)
            return;
    }
    if (w->module && (g->kind == TEST_VERIFY || g->kind == TEST_EVAL))
        hlo_verify(w->module, w->m);
    bool valid = w->module && hlo_messages_errors(w->m) == 0;
    if (!valid && g->errors.count == 0) {
        fail_with_messages(r, golden_test_line(r), "module was rejected", w->m);
        return;
    }
    if (valid && g->kind == TEST_EVAL)
        evaluate(w);
    if (valid && g->kind == TEST_PRINT)
        check_print(w);
    if (!failed(r))
        golden_check_messages(r, w->m);
}

/* The directives of a part. A file without directives that has results is run and compared with
 * them. */
static void read_test(struct golden_run *r)
{
    struct str text = STR("");
    uint32_t first_line = 0;
    if (!hlo_file_is_proto(r->file))
        text.ptr = hlo_file_text(r->file, r->part, &text.len, &first_line);
    golden_read(&r->g, r->arena, text, first_line, r->o->given[OPT_REQUIRE_SOURCES]);
    r->stored = r->g.test.count == 0 && hlo_file_has_results(r->file);
    r->skipped = r->g.test.count == 0 && !r->g.problem.len && !r->stored;
    if (!r->stored)
        return;
    r->g.kind = TEST_EVAL;
    tolerance_options(r->o, &r->g.tolerance); /* cannot fail: checked by test.c */
}

void golden_run(struct golden_run *r)
{
    read_test(r);
    if (r->g.problem.len) {
        golden_fail(r, r->g.problem_line, STR_FMT, STR_ARG(r->g.problem));
        return;
    }
    if (r->skipped)
        return;
    struct work w = {.r = r, .m = hlo_messages_new()};
    run_kind(&w);
    hlo_literals_free(w.values, w.participants * w.count);
    hlo_literals_free(w.results, w.participants);
    hlo_program_free(w.program);
    hlo_targets_free(w.targets);
    hlo_module_free(w.module);
    hlo_messages_free(w.m);
}
