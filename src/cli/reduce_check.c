/*
 * The checks of --check: whether a candidate still fails.
 */
#include "cli/reduce.h"

enum {
    CACHE_BYTES = 1 << 16
}; /* largest value to become a constant where the check does not need it */

/* ---- options ---- */

static bool choose_kind(struct check *c, const char *what)
{
    static const struct {
        const char *word;
        enum check_kind kind;
    } words[] = {
        {"nan", CHECK_NAN},
        {"plain", CHECK_PLAIN},
        {"mismatch:", CHECK_MISMATCH},
        {"error:", CHECK_ERROR},
    };
    c->kind = CHECK_COMMAND;
    c->text = what;
    for (size_t k = 0; k < COUNT_OF(words); k++) {
        size_t n = strlen(words[k].word);
        bool colon = words[k].word[n - 1] == ':';
        if (colon ? strncmp(what, words[k].word, n) == 0 : strcmp(what, words[k].word) == 0) {
            c->kind = words[k].kind;
            c->text = what + n;
        }
    }
    return true;
}

bool check_options(struct check *c, const struct options *o)
{
    static const char *const statuses[] = {"zero", "nonzero"};
    const char *what = o->value[OPT_CHECK];
    int bad_if;
    *c = (struct check){.o = o};
    arena_init(&c->arena);
    if (!what || !*what)
        return usage_error(o, "missing --check=CMD, nan, plain, mismatch:FILE or error:TEXT"),
               false;
    if (!option_word(o, OPT_BAD_IF, statuses, COUNT_OF(statuses), 0, &bad_if))
        return false;
    choose_kind(c, what);
    if (o->given[OPT_BAD_IF] && c->kind != CHECK_COMMAND)
        return usage_error(o, "'--bad-if' requires a command"), false;
    c->shell = (struct shell_check){
        .command = c->text, .nonzero = bad_if == 1, .verbose = o->given[OPT_VERBOSE]};
    if (!run_options(o, &c->options) || !tolerance_options(o, &c->tolerance))
        return false;
    c->shell.timeout = c->options.timeout;
    return option_int(o, OPT_REPEAT, 1, 1000000, 1, &c->repeat) &&
           option_int(o, OPT_TIME_LIMIT, 1, INT32_MAX, 600, &c->seconds);
}

/* ---- known values ---- */

enum { CACHE_ALL = 1 << 30 /* total bytes of recorded values */, CACHE_NONE = 1 };

/* Runs a module and records the first value of each instruction. False with messages if the run
 * fails; the values up to the failure are kept. */
static bool record(struct check *c, const hlo_module *module, uint64_t max, uint64_t most_each,
                   hlo_messages *m)
{
    const struct hlo_recording how = {
        .size = sizeof how, .max = max, .most_each = most_each, .first = true};
    const size_t errors = hlo_messages_errors(m);
    c->listing = hlo_list(module);
    c->recorded = hlo_record(c->listing, &c->options, c->args->all, c->args->count, &how, m);
    return c->recorded && hlo_messages_errors(m) == errors;
}

const hlo_literal *check_value(struct check *c, const char *name)
{
    const long inst = c->listing ? hlo_list_find(c->listing, name) : -1;
    if (inst < 0 || c->given)
        return inst < 0 ? NULL : c->given[inst];
    return c->recorded
               ? hlo_recorded_value(c->recorded, &(struct hlo_element){.inst = (size_t)inst})
               : NULL;
}

/* ---- the reference of a mismatch ---- */

static bool is_text(const char *path)
{
    return ends_with(path, ".hlo") || ends_with(path, ".txt") || strcmp(path, "-") == 0;
}

static int reference_of_module(struct check *c, hlo_messages *m)
{
    SCOPED_FILE *f = hlo_file_open(c->text, false, m);
    hlo_module *module = c->reference = f ? hlo_parse(f, 0, m) : NULL;
    int status = !f ? HLO_USAGE : !module || !hlo_verify(module, m) ? HLO_REJECTED : HLO_OK;
    if (status == HLO_OK && hlo_param_count(module) != c->args->count)
        status = usage_error(c->o, "%s has %zu parameters, the module has %zu", c->text,
                             hlo_param_count(module), c->args->count);
    if (status == HLO_OK && !record(c, module, CACHE_ALL, 0, m))
        status = HLO_FAILED;
    return status;
}

/* NULL: missing or unreadable. */
static hlo_literal *array_of(const hlo_arrays *arrays, const char *name)
{
    SCOPED_MESSAGES *ignored = hlo_messages_new();
    return hlo_arrays_has(arrays, name) ? hlo_arrays_get(arrays, name, NULL, ignored) : NULL;
}

/* Records a run of the module. A failure of the run is accepted unless values are required: it may
 * be the failure to minimize. */
static int record_module(struct check *c, uint64_t max, uint64_t most_each, hlo_messages *m)
{
    const bool matters = c->kind != CHECK_COMMAND && c->kind != CHECK_ERROR;
    SCOPED_MESSAGES *ignored = matters ? NULL : hlo_messages_new();
    const bool ran =
        c->args->all && record(c, c->args->module, max, most_each, matters ? m : ignored);
    return ran || !matters ? HLO_OK : hlo_messages_limit(m) ? HLO_LIMIT : HLO_FAILED;
}

/* Assigns arrays of the reference to instructions by name, and results out0, out1, ... to the root
 * or the operands of a root tuple. Returns the number of assigned arrays. */
static size_t set_values(struct check *c, const hlo_arrays *arrays)
{
    const size_t count = hlo_list_count(c->listing);
    const struct hlo_listed root = hlo_list_inst(c->listing, listed_entry(c->listing).root);
    const bool tuple = strcmp(root.op, "tuple") == 0;
    size_t found = 0;
    c->given = heap_zalloc(count + 1, sizeof *c->given);
    for (size_t k = 0; k < count; k++)
        found += (c->given[k] = array_of(arrays, hlo_list_inst(c->listing, k).name)) != NULL;
    for (size_t k = 0; k < (tuple ? root.operand_count : 1); k++) {
        char name[32];
        snprintf(name, sizeof name, "out%zu", k);
        const long inst = tuple ? (long)root.operands[k] : hlo_list_find(c->listing, root.name);
        if (!c->given[inst])
            found += (c->given[inst] = array_of(arrays, name)) != NULL;
    }
    return found;
}

static int reference_of_file(struct check *c, hlo_messages *m)
{
    SCOPED_ARRAYS *arrays = hlo_arrays_open(c->text, m);
    int status =
        arrays ? record_module(c, CACHE_NONE, 0, m) : HLO_USAGE; /* only to count the steps */
    if (status == HLO_OK && set_values(c, arrays) == 0)
        status = usage_error(c->o, "%s has no arrays named like instructions or out0, out1, ...",
                             c->text);
    return status;
}

/* Records the names of constants and of broadcasts of constants. */
static void note_constants(struct check *c)
{
    SCOPED_LISTING *l = hlo_list(c->args->module);
    struct arena *a = &c->arena;
    map_init(&c->constants, a);
    for (size_t k = 0; k < hlo_list_count(l); k++) {
        struct hlo_listed i = hlo_list_inst(l, k);
        bool repeats = strcmp(i.op, "broadcast") == 0 &&
                       map_get(&c->constants, str_of(hlo_list_inst(l, i.operands[0]).name));
        if (repeats || strcmp(i.op, "constant") == 0)
            map_put(&c->constants, arena_str(a, str_of(i.name)), c);
    }
}

/* Limits the runs of candidates, which may loop forever where the module does not: by steps, since
 * these do not depend on the load of the machine. */
static void limit_runs(struct check *c)
{
    enum { TIMES = 10, LEAST = 10000 };
    if (c->options.max_steps == 0)
        c->options.max_steps = (c->recorded ? hlo_recorded_events(c->recorded) : 0) * TIMES + LEAST;
}

int check_open(struct check *c, struct arguments *args, hlo_messages *m)
{
    int status = HLO_OK;
    c->args = args;
    if (c->kind == CHECK_COMMAND && !shell_check_open(&c->shell, m))
        return HLO_USAGE;
    if (!args)
        return HLO_OK;
    if (c->kind == CHECK_NAN)
        note_constants(c);
    if (c->kind != CHECK_MISMATCH)
        status = record_module(c, CACHE_ALL, c->kind == CHECK_NAN ? 0 : CACHE_BYTES, m);
    else if (is_text(c->text))
        status = reference_of_module(c, m);
    else
        status = reference_of_file(c, m);
    limit_runs(c);
    return status;
}

void check_close(struct check *c)
{
    shell_check_close(&c->shell);
    for (size_t k = 0; c->given && k < hlo_list_count(c->listing); k++)
        hlo_literal_free(c->given[k]);
    heap_free(c->given);
    hlo_recorded_free(c->recorded);
    hlo_listing_free(c->listing);
    hlo_module_free(c->reference);
    arena_free(&c->arena);
}

/* ---- runs ---- */

/* Arguments of a candidate: those of the module by name; for an instruction that became a
 * parameter, its recorded value or a generated one. */
struct given {
    const hlo_literal **args;
    hlo_literal **own;
    size_t count, participants;
};

static const hlo_literal *argument(struct check *c, const hlo_module *candidate, size_t param,
                                   size_t participant, hlo_literal **own, hlo_messages *m)
{
    const char *name = hlo_param_name(candidate, param);
    const struct arguments *a = c->args;
    for (size_t k = 0; k < a->count; k++)
        if (strcmp(hlo_param_name(a->module, k), name) == 0)
            return a->all[participant * a->count + k];
    const hlo_literal *was = check_value(c, name);
    return was ? was : (*own = hlo_random_param(candidate, param, 1, m));
}

static bool set_arguments(struct check *c, const hlo_module *candidate, struct given *g,
                          hlo_messages *m)
{
    *g = (struct given){.count = hlo_param_count(candidate), .participants = c->args->participants};
    g->args = heap_zalloc(g->count * g->participants + 1, sizeof *g->args);
    g->own = heap_zalloc(g->count * g->participants + 1, sizeof *g->own);
    bool ok = true;
    for (size_t k = 0; ok && k < g->count * g->participants; k++)
        ok = (g->args[k] = argument(c, candidate, k % g->count, k / g->count, &g->own[k], m)) !=
             NULL;
    return ok;
}

static void release_arguments(struct given *g)
{
    for (size_t k = 0; k < g->count * g->participants; k++)
        hlo_literal_free(g->own[k]);
    heap_free(g->own);
    heap_free(g->args);
}

/* The results of all participants as an array; NULL with messages. */
static hlo_literal **run(struct check *c, const hlo_module *candidate,
                         const struct hlo_run_options *options,
                         const struct hlo_trace_callbacks *trace_callbacks, hlo_messages *m)
{
    struct given g;
    hlo_literal **results = heap_zalloc(c->args->participants + 1, sizeof *results);
    SCOPED_PROGRAM *p = hlo_plan(candidate, options, m);
    bool ok = p && set_arguments(c, candidate, &g, m);
    if (ok && trace_callbacks)
        hlo_trace(p, trace_callbacks);
    ok = ok && hlo_run_all(p, g.args, g.count, NULL, results, m);
    if (p)
        release_arguments(&g);
    if (ok)
        return results;
    heap_free(results);
    return NULL;
}

/* ---- checks ---- */

static bool has_nan(const hlo_literal *l) { return l && hlo_literal_stats(l).nan > 0; }

struct nan_search {
    const struct check *c;
    const hlo_listing *l;
    bool found;
};

/* Stops at an instruction that produces a NaN from operands without any; constants of the original
 * module are excepted. */
static bool look_for_nan(void *context, const struct hlo_event *s)
{
    struct nan_search *h = context;
    struct hlo_listed i = hlo_list_inst(h->l, s->inst);
    if (i.operand_count == 0 || map_get(&h->c->constants, str_of(i.name)) ||
        !has_nan(hlo_event_value(s)))
        return true;
    for (size_t k = 0; k < i.operand_count; k++) {
        const char *operand = hlo_list_inst(h->l, i.operands[k]).name;
        if (!map_get(&h->c->constants, str_of(operand)) && has_nan(hlo_event_operand(s, k)))
            return true;
    }
    h->found = true;
    return false;
}

/* Runs the candidate for its events. */
static void run_traced(struct check *c, const hlo_module *candidate, void *context,
                       bool (*value)(void *context, const struct hlo_event *s), hlo_messages *m)
{
    const struct hlo_trace_callbacks callbacks = {sizeof callbacks, context, NULL, value};
    struct hlo_run_options options = c->options;
    options.traced = true;
    hlo_literals_free(run(c, candidate, &options, &callbacks, m), c->args->participants);
}

static bool makes_nan(struct check *c, const hlo_module *candidate, hlo_messages *m)
{
    SCOPED_LISTING *l = hlo_list(candidate);
    struct nan_search h = {.c = c, .l = l};
    run_traced(c, candidate, &h, look_for_nan, m);
    return h.found;
}

static bool plain_differs(struct check *c, const hlo_module *candidate, hlo_messages *m)
{
    struct hlo_run_options fast = c->options, plain = c->options;
    fast.plain = false;
    plain.plain = true;
    hlo_literal **a = run(c, candidate, &fast, NULL, m),
                **b = a ? run(c, candidate, &plain, NULL, m) : NULL;
    bool differs = false;
    for (size_t k = 0; b && k < c->args->participants; k++)
        differs |= !hlo_literal_compare(a[k], b[k], &c->tolerance, NULL);
    hlo_literals_free(a, c->args->participants);
    hlo_literals_free(b, c->args->participants);
    return differs;
}

static bool differs_from(struct check *c, const char *name, const hlo_literal *is)
{
    const hlo_literal *expected = check_value(c, name);
    return is && expected && !hlo_literal_compare(is, expected, &c->tolerance, NULL);
}

/* Compares each element of the result with the reference value of its instruction, if there is
 * one. */
static bool result_mismatches(struct check *c, const hlo_listing *l, const hlo_literal *result)
{
    struct hlo_listed root = hlo_list_inst(l, listed_entry(l).root);
    if (strcmp(root.op, "tuple") != 0)
        return differs_from(c, root.name, result);
    for (size_t k = 0; k < root.operand_count; k++)
        if (differs_from(c, hlo_list_inst(l, root.operands[k]).name,
                         hlo_literal_element(result, k)))
            return true;
    return false;
}

struct mismatch_search {
    struct check *c;
    const hlo_listing *l;
    bool *seen, found;
};

/* Stops when the first value of an instruction differs from the reference. */
static bool look_for_mismatch(void *context, const struct hlo_event *s)
{
    struct mismatch_search *h = context;
    if (s->participant != 0 || h->seen[s->inst])
        return true;
    h->seen[s->inst] = true;
    const char *name = hlo_list_inst(h->l, s->inst).name;
    h->found = check_value(h->c, name) && differs_from(h->c, name, hlo_event_value(s));
    return !h->found;
}

/* Compares traced values too, since a difference inside the module may not affect the result. */
static bool inner_mismatches(struct check *c, const hlo_module *candidate, const hlo_listing *l,
                             hlo_messages *m)
{
    struct mismatch_search h = {
        .c = c, .l = l, .seen = heap_zalloc(hlo_list_count(l) + 1, sizeof(bool))};
    run_traced(c, candidate, &h, look_for_mismatch, m);
    heap_free(h.seen);
    return h.found;
}

static bool mismatches(struct check *c, const hlo_module *candidate, hlo_messages *m)
{
    SCOPED_LISTING *l = hlo_list(candidate);
    hlo_literal **results = run(c, candidate, &c->options, NULL, m);
    bool differs = results && result_mismatches(c, l, results[0]);
    hlo_literals_free(results, c->args->participants);
    if (!differs)
        differs = inner_mismatches(c, candidate, l, m);
    return differs;
}

static bool has_message(const hlo_messages *m, const char *text)
{
    for (size_t k = 0; k < hlo_messages_count(m); k++) {
        struct hlo_message one = hlo_messages_get(m, k);
        if (one.error && (strstr(one.text, text) || strcmp(one.id, text) == 0))
            return true;
    }
    return false;
}

static bool errs(struct check *c, const hlo_module *candidate, hlo_messages *m)
{
    if (hlo_verify(candidate, m))
        hlo_literals_free(run(c, candidate, &c->options, NULL, m), c->args->participants);
    return has_message(m, c->text);
}

static bool command_reports(struct check *c, const hlo_module *candidate)
{
    SCOPED_TEXT text = hlo_print(candidate, HLO_PRINT_EXACT);
    return shell_check_ask(&c->shell, (struct str){text.data, text.size});
}

static bool once(struct check *c, const hlo_module *candidate)
{
    SCOPED_MESSAGES *m = hlo_messages_new();
    bool bad = false;
    switch (c->kind) {
    case CHECK_COMMAND: bad = command_reports(c, candidate); break;
    case CHECK_NAN: bad = makes_nan(c, candidate, m); break;
    case CHECK_PLAIN: bad = plain_differs(c, candidate, m); break;
    case CHECK_MISMATCH: bad = mismatches(c, candidate, m); break;
    case CHECK_ERROR: bad = errs(c, candidate, m); break;
    }
    return bad;
}

/* Commands have no steps to count: their time limit is ten times the time of the first
 * execution. */
static void limit_command(struct check *c, double took)
{
    enum { TIMES = 10, LEAST = 2 };
    if (c->shell.timeout <= 0)
        c->shell.timeout = took * TIMES > LEAST ? took * TIMES : LEAST;
}

bool check_bad(struct check *c, const hlo_module *candidate)
{
    double begin = now_seconds();
    bool bad = false;
    for (int64_t k = 0; k < c->repeat && !bad && !was_interrupted(); k++)
        bad = once(c, candidate);
    limit_command(c, now_seconds() - begin); /* the first candidate is the module itself */
    return bad;
}

bool check_bad_text(struct check *c, struct str text)
{
    if (c->kind == CHECK_COMMAND)
        return shell_check_ask(&c->shell, text);
    SCOPED_MESSAGES *m = hlo_messages_new();
    SCOPED_FILE *f = hlo_file_of_text("candidate", text.ptr, text.len, false);
    hlo_module_free(hlo_parse(f, 0, m));
    return has_message(m, c->text);
}
