/*
 * repl/debug: traces a run: keeps values, and stops at breakpoints, where a nested prompt reads
 * commands.
 */
#include "repl/session.h"

/* ---- stop conditions ---- */

static bool is_where(const char *where, const char *text)
{
    size_t n = strlen(where), k = strlen(text);
    return n >= k && k > 0 && strcmp(where + n - k, text) == 0 &&
           (n == k || where[n - k - 1] == '/');
}

static bool fits(const hlo_listing *l, const char *text, size_t inst)
{
    struct hlo_listed at = hlo_list_inst(l, inst);
    long named = hlo_list_find(l, text);
    if (named >= 0)
        return (size_t)named == inst;
    return strcmp(at.op, text) == 0 || is_where(at.where, text);
}

/* The breakpoint at an instruction; NULL: none. */
static const struct breakpoint *point_at(const struct running *r, size_t inst)
{
    const struct debugger *d = &r->s->debugger;
    for (size_t i = 0; i < d->count; i++)
        if (!d->points[i].watch && fits(r->listing, d->points[i].text, inst))
            return &d->points[i];
    return NULL;
}

static bool stops_at(const struct debugger *d, const struct hlo_event *at)
{
    switch (d->stepping) {
    case STEP: return true;
    case NEXT: return at->depth <= d->depth;
    case FINISH: return at->depth < d->depth;
    case GO:
    case STOPPED: return false;
    }
    return false;
}

/* ---- values within a run ---- */

/* The mark of the iterations of the enclosing loops, for the first `depth` levels. */
static uint64_t path_mark(const struct hlo_event *at, size_t depth)
{
    uint64_t mark = depth;
    for (size_t i = 0; i < depth; i++)
        mark = mix(mix(mark, at->within[i].inst), (uint64_t)at->within[i].iteration + 1);
    return mark;
}

/* NULL for NULL, or out of memory. */
static struct shared_value *copy_of(const hlo_literal *l)
{
    return l ? shared_value_new(hlo_literal_copy(l)) : NULL;
}

static void keep_value(struct running *r, const struct hlo_event *at)
{
    struct shared_value *h = r->marks[at->inst] || r->watched ? copy_of(hlo_event_value(at)) : NULL;
    if (!h)
        return;
    cache_put(&r->s->kept, r->marks[at->inst], h);
    if (r->watched) {
        shared_value_unref(r->local[at->inst]);
        r->local[at->inst] = shared_value_ref(h);
        r->local_at[at->inst] = path_mark(at, at->depth);
    }
    shared_value_unref(h);
}

static bool is_local(const struct running *r, size_t inst)
{
    for (size_t depth = 0; r->local && r->local[inst] && depth <= r->at->depth; depth++)
        if (r->local_at[inst] == path_mark(r->at, depth))
            return true;
    return false;
}

static long find_inst(const struct running *r, struct str name)
{
    struct hlo_listed_computation c =
        hlo_list_computation(r->listing, hlo_list_inst(r->listing, r->at->inst).computation);
    for (size_t i = c.first; i < c.first + c.count; i++)
        if (str_is(name, hlo_list_inst(r->listing, i).name))
            return (long)i;
    SCOPED_HEAP char *z = heap_str(name);
    return hlo_list_find(r->listing, z);
}

/* The value of an instruction of the entry computation that was known before this run. */
static struct shared_value *session_value(struct session *s, struct str name)
{
    long n = session_find(s, name);
    return n >= 0 ? value_known(s, &s->built, (size_t)n - s->built.first) : NULL;
}

struct shared_value *debug_value(struct session *s, struct str name)
{
    struct running *r = s->running;
    if (!r->at)
        return NULL;
    long found = find_inst(r, name);
    size_t inst = (size_t)found;
    if (found < 0)
        return session_value(s, name);
    if (r->done && inst == r->at->inst)
        return copy_of(hlo_event_value(r->at));
    struct hlo_listed at = hlo_list_inst(r->listing, r->at->inst);
    for (size_t k = 0; k < at.operand_count; k++)
        if (at.operands[k] == inst)
            return copy_of(hlo_event_operand(r->at, k));
    if (is_local(r, inst))
        return shared_value_ref(r->local[inst]);
    bool entry =
        hlo_list_computation(r->listing, hlo_list_inst(r->listing, inst).computation).entry;
    return entry && hlo_list_inst(r->listing, inst).parameter >= 0 ? session_value(s, name) : NULL;
}

int debug_missing(struct session *s, struct str name)
{
    if (find_inst(s->running, name) < 0)
        return report_unknown(s, name);
    return report_error(s, HLO_USAGE, "'" STR_FMT "' has no value yet: stopped at '%s'",
                        STR_ARG(name),
                        hlo_list_inst(s->running->listing, s->running->at->inst).name);
}

int debug_set(struct session *s, struct str name, const char *value)
{
    struct running *r = s->running;
    struct hlo_listed at = hlo_list_inst(r->listing, r->at->inst);
    if (!str_is(name, at.name))
        return report_error(s, HLO_USAGE, "only '%s' can be set where the run is stopped", at.name);
    hlo_messages *m = hlo_messages_new();
    SCOPED_LITERAL *l = value_read(at.name, at.shape, value, m);
    bool ok = l && hlo_event_set(r->at, l, m);
    report_messages(s, m);
    return ok ? HLO_OK : HLO_USAGE;
}

/* ---- stops ---- */

int debug_where(struct session *s)
{
    const struct running *r = s->running;
    struct hlo_listed at = hlo_list_inst(r->listing, r->at->inst);
    SCOPED_TEXT line = hlo_list_print(r->listing, r->at->inst, HLO_PRINT_SHORT);
    fprintf(s->out, "%s %s", r->done ? "after " : "before", line.data);
    fprintf(s->out, *at.where ? "  # %s\n" : "%s\n", at.where);
    for (size_t i = r->at->depth; i-- > 0;) {
        const struct hlo_within *w = &r->at->within[i];
        struct hlo_listed outer = hlo_list_inst(r->listing, w->inst);
        if (strcmp(outer.op, "while") != 0)
            fprintf(s->out, "  in %s\n", outer.name);
        else if (w->iteration < 0)
            fprintf(s->out, "  in the condition of %s\n", outer.name);
        else
            fprintf(s->out, "  in %s, iteration %" PRId64 "\n", outer.name, w->iteration);
    }
    return HLO_OK;
}

struct str debug_stopped_after(const struct session *s)
{
    const struct running *r = s->running;
    return r && r->at && r->done ? str_of(hlo_list_inst(r->listing, r->at->inst).name) : STR("");
}

static void watch_on(struct running *r)
{
    const struct debugger *d = &r->s->debugger;
    r->watched = d->count > 0 || d->stepping != GO;
    if (r->watched && !r->local) {
        size_t count = hlo_list_count(r->listing);
        r->local = heap_zalloc(count, sizeof *r->local);
        r->local_at = heap_zalloc(count, sizeof *r->local_at);
    }
}

/* False: end the run. */
static bool stop(struct running *r, const struct hlo_event *at, bool done)
{
    struct session *s = r->s;
    r->at = at;
    r->done = done;
    s->debugger.stepping = STOPPED;
    s->o->interrupt_end();
    debug_where(s);
    s->stop_status = session_read(s);
    r->ended = r->ended || s->debugger.stepping == STOPPED;
    if (s->debugger.stepping == NEXT || s->debugger.stepping == FINISH)
        s->debugger.depth = at->depth;
    if (r->ended)
        s->debugger.stepping = GO;
    r->at = NULL;
    watch_on(r);
    s->o->interrupt_begin(r->program);
    s->abandoned = r->ended;
    return !r->ended;
}

static bool before(void *context, const struct hlo_event *at)
{
    struct running *r = context;
    struct debugger *d = &r->s->debugger;
    if (!r->watched || at->participant > 0)
        return true;
    const struct breakpoint *point = point_at(r, at->inst);
    bool step = stops_at(d, at);
    if (step && !point && d->times > 1) {
        d->times--;
        return true;
    }
    if (!point && !step)
        return true;
    if (point)
        fprintf(r->s->out, "breakpoint %d: %s\n", point->number, point->text);
    return stop(r, at, false);
}

/* Whether it is an argument of the run with a NaN. */
static bool has_nan_argument(const struct running *r, const struct hlo_event *at)
{
    const struct hlo_listed inst = hlo_list_inst(r->listing, at->inst);
    const long n =
        inst.parameter >= 0 && at->depth == 0 ? session_find(r->s, str_of(inst.name)) : -1;
    const hlo_literal *l =
        n >= 0 && built_at(&r->s->built, (size_t)n).parameter >= 0 ? hlo_event_value(at) : NULL;
    return l && hlo_literal_stats(l).nan > 0;
}

/* Whether NaN or infinity originates in an instruction. */
static bool is_origin(const struct running *r, const struct hlo_event *at, bool nan)
{
    struct hlo_origin origin;
    return hlo_event_origin(at, nan ? HLO_ODD_NAN : HLO_ODD_INF, &origin) ||
           (nan && has_nan_argument(r, at));
}

/* The watchpoint triggered by a value; NULL: none. */
static const struct breakpoint *watch_of(const struct running *r, const struct hlo_event *at)
{
    const struct debugger *d = &r->s->debugger;
    for (size_t i = 0; i < d->count; i++) {
        const struct breakpoint *p = &d->points[i];
        const bool nan = strcmp(p->text, "nan") == 0, inf = strcmp(p->text, "inf") == 0;
        if (p->watch && (nan || inf ? is_origin(r, at, nan) : fits(r->listing, p->text, at->inst)))
            return p;
    }
    return NULL;
}

static void put_trace(struct running *r, const struct hlo_event *at)
{
    const hlo_literal *l = hlo_event_value(at);
    SCOPED_TEXT line = l ? hlo_literal_summary(l) : (hlo_text){0};
    fprintf(r->s->out, "%*s%s: %s\n", (int)(2 * at->depth), "",
            hlo_list_inst(r->listing, at->inst).name, line.data ? line.data : "");
}

static bool after(void *context, const struct hlo_event *at)
{
    struct running *r = context;
    if (at->participant > 0)
        return true;
    keep_value(r, at);
    if (r->s->trace)
        put_trace(r, at);
    const struct breakpoint *watch = r->watched ? watch_of(r, at) : NULL;
    if (!watch)
        return true;
    fprintf(r->s->out, "watchpoint %d: %s\n", watch->number, watch->text);
    return stop(r, at, true);
}

/* A run started while another one is stopped ignores breakpoints. */
void debug_attach(struct running *r, struct hlo_trace_callbacks *out)
{
    if (!r->s->running)
        watch_on(r);
    *out = (struct hlo_trace_callbacks){sizeof(struct hlo_trace_callbacks), r, before, after};
}

void running_free(struct running *r)
{
    for (size_t i = 0; r->local && i < hlo_list_count(r->listing); i++)
        shared_value_unref(r->local[i]);
    heap_free(r->local);
    heap_free(r->local_at);
    heap_free(r->marks);
    hlo_program_free(r->program);
    hlo_listing_free(r->listing);
}

/* ---- breakpoints ---- */

/* Whether a breakpoint can be reached. */
static bool reaches(struct session *s, const struct breakpoint *p)
{
    const hlo_listing *l = s->running && s->running->at ? s->running->listing : session_listing(s);
    bool any = p->watch && (strcmp(p->text, "nan") == 0 || strcmp(p->text, "inf") == 0);
    for (size_t i = 0; l && !any && i < hlo_list_count(l); i++)
        any = fits(l, p->text, i);
    return any;
}

int debug_add(struct session *s, struct str text, bool watch)
{
    struct debugger *d = &s->debugger;
    struct breakpoint *more = heap_grow(d->points, (d->count + 1) * sizeof *more);
    d->points = more;
    more[d->count] = (struct breakpoint){heap_str(text), ++d->numbered, watch};
    const struct breakpoint *p = &more[d->count++];
    report_note(s, "%s %d%s", watch ? "watch" : "breakpoint", p->number,
                reaches(s, p) ? "" : ": no such instruction yet");
    return HLO_OK;
}

int debug_list(struct session *s)
{
    const struct debugger *d = &s->debugger;
    for (size_t i = 0; i < d->count; i++)
        fprintf(s->out, "%d %s %s\n", d->points[i].number, d->points[i].watch ? "watch" : "break",
                d->points[i].text);
    return HLO_OK;
}

/* NUMBER 0: all. */
int debug_delete(struct session *s, int64_t number)
{
    struct debugger *d = &s->debugger;
    size_t kept = 0, before_it = d->count;
    for (size_t i = 0; i < d->count; i++) {
        if (number == 0 || d->points[i].number == number)
            heap_free(d->points[i].text);
        else
            d->points[kept++] = d->points[i];
    }
    d->count = kept;
    if (number > 0 && kept == before_it)
        return report_error(s, HLO_USAGE, "no breakpoint %" PRId64, number);
    return HLO_OK;
}

void debug_free(struct session *s)
{
    debug_delete(s, 0);
    heap_free(s->debugger.points);
}
