/*
 * hlo trace, and the options of hlo run that trace a run: --trace, --dump, --stop-on, --warn-on.
 */
#include "cli/trace.h"

#include <errno.h>

/* ---- options ---- */

bool trace_requested(const struct options *o)
{
    return o->command == CMD_TRACE || o->given[OPT_TRACE] || o->given[OPT_TRACE_FILE] ||
           o->given[OPT_DUMP] || o->given[OPT_STOP_ON] || o->given[OPT_WARN_ON];
}

static bool anomaly_of(struct str word, unsigned *out)
{
    static const struct {
        const char *word;
        enum hlo_oddity what;
    } known[] = {{"nan", HLO_ODD_NAN},
                 {"inf", HLO_ODD_INF},
                 {"overflow", HLO_ODD_OVERFLOW},
                 {"denormal", HLO_ODD_DENORMAL}};
    for (size_t k = 0; k < COUNT_OF(known); k++)
        if (str_is(word, known[k].word)) {
            *out |= known[k].what;
            return true;
        }
    return false;
}

/* Parses "nan,inf". */
static bool anomalies(const struct options *o, enum option_id id, unsigned *out)
{
    for (const char *at = o->value[id]; at;) {
        const char *end = strchr(at, ',');
        struct str word = {at, end ? (size_t)(end - at) : strlen(at)};
        if (!anomaly_of(word, out))
            return usage_error(o,
                               "invalid value '%s' for '--%s': expected nan, inf, overflow or "
                               "denormal, separated by commas",
                               o->value[id], option_row(id)->name),
                   false;
        at = end ? end + 1 : NULL;
    }
    return true;
}

/* Frees memory of regcomp, which the out-of-memory scope does not track. */
static void free_filter(void *tracing)
{
    struct tracing *t = tracing;
    regfree(&t->filter);
}

static bool read_options(struct tracing *t)
{
    const struct options *o = t->o;
    const enum option_id id = o->command == CMD_TRACE ? OPT_FILTER : OPT_TRACE;
    const char *re = o->value[id];
    if (!anomalies(o, OPT_STOP_ON, &t->stop) || !anomalies(o, OPT_WARN_ON, &t->warn))
        return false;
    if (re && regcomp(&t->filter, re, REG_EXTENDED | REG_NOSUB) != 0)
        return usage_error(o, "invalid regular expression for '--%s': '%s'", option_row(id)->name,
                           re),
               false;
    t->filtered = re != NULL;
    if (t->filtered)
        oom_push_cleanup(&t->freeing, free_filter, t);
    t->lines = o->command == CMD_TRACE || o->given[OPT_TRACE] || o->given[OPT_TRACE_FILE];
    return true;
}

static bool open_trace(struct tracing *t)
{
    const bool alone = t->o->command == CMD_TRACE; /* otherwise standard output has the results */
    const char *path = t->o->value[alone ? OPT_OUTPUT : OPT_TRACE_FILE];
    t->json = (alone && t->o->given[OPT_JSON]) ||
              (path && (ends_with(path, ".jsonl") || ends_with(path, ".json")));
    if (t->o->given[OPT_QUIET] && !path)
        t->lines = false;
    if (!t->lines)
        return true;
    t->to = alone ? stdout : stderr;
    if (!path)
        return true;
    t->to = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    return t->to || (usage_error(t->o, "cannot write '%s': %s", path, strerror(errno)), false);
}

/* ---- callbacks ---- */

static bool is_requested(const struct tracing *t, const struct hlo_listed *i)
{
    return !t->filtered || regexec(&t->filter, i->name, 0, NULL, 0) == 0 ||
           regexec(&t->filter, i->op, 0, NULL, 0) == 0;
}

/* Writes the lines of a single participant immediately; lines of several are buffered, since they
 * would be interleaved at random. */
static void flush(struct tracing *t, struct watch_state *w)
{
    if (w->trace.size > 0)
        fwrite(w->trace.data, 1, w->trace.size, t->to);
    if (w->warnings.size > 0 && t->to == stdout)
        fflush(stdout);
    if (w->warnings.size > 0)
        fwrite(w->warnings.data, 1, w->warnings.size, stderr);
    w->trace.size = w->warnings.size = 0;
}

static void warn(struct tracing *t, struct watch_state *w, const struct hlo_event *s)
{
    struct hlo_origin origin;
    if (t->warn == 0 || t->o->given[OPT_QUIET] || t->warned[s->inst] ||
        !hlo_event_origin(s, t->warn, &origin))
        return;
    SCOPED_MESSAGES *m = hlo_messages_new();
    t->warned[s->inst] = true;
    hlo_event_report(s, &origin, false, m);
    SCOPED_TEXT text = hlo_messages_draw_in(m, t->o->colors);
    buf_bytes(&w->warnings, text.data, text.size);
}

/* Whether to continue the run. */
static bool may_continue(struct tracing *t, struct watch_state *w, const struct hlo_event *s)
{
    struct hlo_origin origin;
    if ((t->stop & HLO_ODD_NAN) && w->infinities == 0 && hlo_event_origin(s, HLO_ODD_INF, &origin))
        w->infinities = s->inst + 1;
    if (t->stop == 0 || !hlo_event_origin(s, t->stop, &origin))
        return true;
    origin.infinities = w->infinities;
    w->m = hlo_messages_new();
    hlo_event_report(s, &origin, true, w->m);
    return false;
}

static bool look(void *context, const struct hlo_event *s)
{
    struct tracing *t = context;
    struct watch_state *w = &t->each[s->participant];
    struct traced i = {
        .event = s, .inst = hlo_list_inst(t->listing, s->inst), .value = hlo_event_value(s)};
    if (!i.value)
        return false;
    i.computation = hlo_list_computation(t->listing, i.inst.computation).name;
    if ((t->lines || t->dump) && is_requested(t, &i.inst)) {
        i.array = hlo_literal_leaves(i.value) == 1 && hlo_literal_count(i.value) == 0;
        i.stats = hlo_literal_stats(i.value);
        if (t->lines)
            put_trace_line(&w->trace, t, &i);
        w->failed = w->failed || (t->dump && !dump_value(t->dump, t, &i, t->m));
    }
    warn(t, w, s);
    bool go = may_continue(t, w, s) && !w->failed;
    if (t->participants == 1)
        flush(t, w);
    return go;
}

/* Writes the line of an instruction that was not executed because nothing depends on it. */
static bool look_at_skipped(void *context, const struct hlo_event *s)
{
    struct tracing *t = context;
    struct watch_state *w = &t->each[s->participant];
    struct traced i = {.event = s, .inst = hlo_list_inst(t->listing, s->inst)};
    if (!t->lines || !is_requested(t, &i.inst))
        return true;
    i.computation = hlo_list_computation(t->listing, i.inst.computation).name;
    put_trace_line(&w->trace, t, &i);
    if (t->participants == 1)
        flush(t, w);
    return true;
}

/* ---- entry points ---- */

static uint64_t count_odd(const struct hlo_stats *s, unsigned what)
{
    return what == HLO_ODD_NAN        ? s->nan
           : what == HLO_ODD_DENORMAL ? s->denormal
                                      : s->positive_inf + s->negative_inf;
}

/* Warns about exceptional values in arguments, one line for each kind. */
static void warn_of_arguments(const struct arguments *a, unsigned what, const char *words)
{
    enum { MAX_NAMED = 3 };
    SCOPED_BUF names = {0};
    size_t found = 0;
    for (size_t k = 0; k < a->count; k++) {
        uint64_t odd = 0;
        for (size_t p = 0; p < a->participants && odd == 0; p++) {
            const hlo_literal *l = a->all[p * a->count + k];
            const struct hlo_stats s = l ? hlo_literal_stats(l) : (struct hlo_stats){0};
            odd = count_odd(&s, what);
        }
        if (odd == 0)
            continue;
        if (++found <= MAX_NAMED)
            buf_printf(&names, "%s'%s'", found > 1 ? ", " : "", hlo_param_name(a->module, k));
    }
    if (found > MAX_NAMED)
        buf_printf(&names, " and %zu more", found - MAX_NAMED);
    if (found > 0)
        fprintf(stderr, "hlo: warning: %s in the arguments of %s\n", words, names.data);
}

static void check_arguments(const struct tracing *t, const struct arguments *a)
{
    const unsigned what = t->stop | t->warn;
    if (what & HLO_ODD_NAN)
        warn_of_arguments(a, HLO_ODD_NAN, "nan");
    if (what & (HLO_ODD_INF | HLO_ODD_OVERFLOW))
        warn_of_arguments(a, HLO_ODD_INF, "inf");
    if (what & HLO_ODD_DENORMAL)
        warn_of_arguments(a, HLO_ODD_DENORMAL, "denormal numbers");
}

int trace_open(struct tracing *t, const struct arguments *a)
{
    *t = (struct tracing){
        .o = a->o, .m = a->m, .module = a->module, .participants = a->participants};
    if (!trace_requested(a->o))
        return HLO_OK;
    if (world_of(a->o))
        return usage_error(a->o, "tracing is not supported with '--world=mpi'");
    if (!read_options(t) || !open_trace(t))
        return HLO_USAGE;
    t->listing = hlo_list(a->module);
    t->each = heap_zalloc(t->participants, sizeof *t->each);
    t->warned = heap_zalloc(hlo_list_count(t->listing) + 1, sizeof *t->warned);
    t->columns = columns_new(t->listing, t->participants,
                             t->to == stdout && !t->json ? output_width(a->o) : SIZE_MAX);
    if (a->o->given[OPT_DUMP] && !(t->dump = dump_open(a->o->value[OPT_DUMP], a->m)))
        return HLO_USAGE;
    check_arguments(t, a);
    if (t->lines)
        put_trace_head(&t->each[0].trace, t);
    return HLO_OK;
}

void trace_attach(struct tracing *t, hlo_program *p)
{
    t->trace_callbacks =
        HLO_WITH(hlo_trace_callbacks, .context = t, .after = look, .skipped = look_at_skipped);
    if (t->listing)
        hlo_trace(p, &t->trace_callbacks);
}

int trace_finish(struct tracing *t, int status)
{
    bool stopped = false, written = true;
    for (size_t p = 0; p < t->participants && t->listing; p++) {
        struct watch_state *w = &t->each[p];
        flush(t, w);
        written = written && !w->failed;
        if (w->m && !stopped)
            report(t->o, w->m);
        stopped |= w->m != NULL;
    }
    if (t->dump)
        written = dump_close(t->dump, t->m) && written;
    t->dump = NULL;
    if (t->to && (fflush(t->to) != 0 || ferror(t->to)) && t->to != stdout) {
        usage_error(t->o, "cannot write trace: %s", strerror(errno));
        written = false;
    }
    return stopped ? HLO_FAILED : written ? status : HLO_USAGE;
}

void trace_close(struct tracing *t)
{
    for (size_t p = 0; p < t->participants && t->each; p++) {
        buf_free(&t->each[p].trace);
        buf_free(&t->each[p].warnings);
        hlo_messages_free(t->each[p].m);
    }
    if (t->dump)
        dump_close(t->dump, t->m);
    if (t->to && t->to != stdout && t->to != stderr)
        fclose(t->to);
    if (t->filtered) {
        oom_pop_cleanup(&t->freeing);
        free_filter(t);
    }
    heap_free(t->columns);
    heap_free(t->each);
    heap_free(t->warned);
    hlo_listing_free(t->listing);
}

int trace_command(const struct options *o) { return run_command(o); }
