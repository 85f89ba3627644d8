/*
 * repl/why: .why, the elements that an element of a value of the session was computed from.
 *
 * The instructions that it depends on are run again, since values inside calls and loops are not
 * cached.
 */
#include "repl/session.h"

struct asking {
    struct session *s;
    const struct built *b;
    bool *need;               /* by number - first */
    const hlo_literal **args; /* in order of participants */
    size_t count, participants;
    bool interrupted;
    hlo_messages *m;
};

/* Marks the instructions of the entry computation that lead to one: itself, or all callers of its
 * computation. Callers follow callees. */
static void need_callers(struct asking *q, size_t target)
{
    const hlo_listing *l = q->b->listing;
    const size_t computations = hlo_list_computations(l);
    SCOPED_HEAP bool *reached = heap_zalloc(computations, sizeof *reached);
    if (target >= q->b->first)
        q->need[target - q->b->first] = true;
    else
        reached[hlo_list_inst(l, target).computation] = true;
    for (size_t c = 0; c < computations; c++) {
        const struct hlo_listed_computation of = hlo_list_computation(l, c);
        for (size_t k = 0; reached[c] && k < of.caller_count; k++)
            if (of.callers[k] >= q->b->first)
                q->need[of.callers[k] - q->b->first] = true;
            else
                reached[hlo_list_inst(l, of.callers[k]).computation] = true;
    }
}

static bool find_needs(struct asking *q, size_t target)
{
    const struct built *b = q->b;
    need_callers(q, target);
    for (size_t i = b->count; i-- > 0;) {
        const struct hlo_listed at = hlo_list_inst(b->listing, b->first + i);
        const struct entry *e = b->entries[i];
        if (!q->need[i] || (e && state_setting(session_state(q->s), e->name)))
            continue;
        if (at.parameter >= 0) {
            add_error(q->s, q->m,
                      "parameter %ld, '%s', of shape %s, has no value; use .set %s = VALUE",
                      at.parameter, at.name, at.shape, at.name);
            return false;
        }
        for (size_t o = 0; o < at.operand_count; o++)
            q->need[at.operands[o] - b->first] = true;
    }
    return true;
}

/* Values that were set become parameters. */
static hlo_module *module_of(struct asking *q)
{
    const struct state *state = session_state(q->s);
    struct module_text t;
    module_text_begin(&t, state, NULL);
    for (size_t n = 0; n < state->insts.count; n++) {
        const struct entry *e = state_inst(state, n);
        const struct entry *set = state_setting(state, e->name);
        if (!q->need[q->b->numbers[n] - q->b->first])
            continue;
        if (!set) {
            module_text_entry(&t, e, e == state_root(state));
            continue;
        }
        module_text_parameter(&t, e->name, hlo_list_inst(q->b->listing, q->b->numbers[n]).shape,
                              q->count, e == state_root(state));
        q->args[q->count++] = set->value->l;
    }
    return module_text_parse(&t, state, true, q->m);
}

/* All participants get the same arguments. */
static void share_args(struct asking *q)
{
    for (size_t p = 1; p < q->participants; p++)
        memcpy(q->args + p * q->count, q->args, q->count * sizeof *q->args);
}

static void begin(void *context, hlo_program *p)
{
    const struct asking *q = context;
    q->s->o->interrupt_begin(p);
}

static void end(void *context)
{
    struct asking *q = context;
    q->interrupted |= q->s->o->interrupt_end();
}

static int print(struct asking *q, const hlo_module *module, const char *element, size_t levels)
{
    const struct hlo_why_view view = {.size = sizeof view,
                                      .levels = levels,
                                      .view = &q->s->view,
                                      .json = q->s->mode == SHOW_JSON};
    const struct hlo_recording how = {.size = sizeof how, .context = q, .begin = begin, .end = end};
    struct hlo_element e;
    int status = HLO_FAILED;
    SCOPED_LISTING *l = hlo_list(module);
    share_args(q);
    SCOPED_RECORDED *r = hlo_record(l, &q->s->o->run, q->args, q->count, &how, q->m);
    if (q->interrupted)
        status = REPL_INTERRUPTED;
    else if (r && !hlo_recorded_find(r, element, &e, q->m))
        status = hlo_messages_limit(q->m) ? HLO_LIMIT : HLO_USAGE;
    else if (r) {
        put_text(q->s, hlo_recorded_why(r, &e, &view));
        status = hlo_messages_errors(q->m) ? value_status(q->m) : HLO_OK;
    }
    return status;
}

/* NAME of NAME@1[2,3]. */
static long target_of(struct session *s, const char *element)
{
    SCOPED_HEAP char *name = heap_str((struct str){element, strcspn(element, "@[")});
    const long n = hlo_list_find(s->built.listing, name);
    if (n < 0)
        report_unknown(s, str_of(name));
    return n;
}

static int answer(struct session *s, const char *element, size_t levels)
{
    const long target = target_of(s, element);
    if (target < 0)
        return HLO_USAGE;
    const struct built b = s->built;
    struct asking q = {.s = s, .b = &b, .m = hlo_messages_new()};
    q.participants = (size_t)(hlo_replica_count(b.module) * hlo_num_partitions(b.module));
    q.need = heap_zalloc(b.count, sizeof *q.need);
    q.args = heap_zalloc(b.count * q.participants + 1, sizeof *q.args);
    int status = HLO_USAGE;
    if (find_needs(&q, (size_t)target)) {
        SCOPED_MODULE *module = module_of(&q);
        status = module ? print(&q, module, element, levels) : HLO_FAILED;
    }
    report_messages(s, q.m);
    heap_free(q.need);
    heap_free(q.args);
    return status;
}

static size_t span_to(struct str s, const char *of)
{
    size_t n = 0;
    while (n < s.len && !strchr(of, s.ptr[n]))
        n++;
    return n;
}

/* Writes `@OUTER.INNER`, the iterations of the loops around the instruction where a run has
 * stopped; nothing in the condition of a loop. */
static void put_iterations(const struct running *r, struct buf *out)
{
    const size_t begin = out->size;
    for (size_t i = 0; i < r->at->depth; i++) {
        const struct hlo_within *w = &r->at->within[i];
        if (strcmp(hlo_list_inst(r->listing, w->inst).op, "while") != 0)
            continue;
        if (w->iteration < 0) {
            out->size = begin;
            return;
        }
        buf_printf(out, "%c%" PRId64, out->size == begin ? '@' : '.', w->iteration);
    }
}

/* Where a run has stopped, NAME is first searched in the current computation, and stands for its
 * execution in the current iteration. */
static void put_element(const struct session *s, struct str what, struct buf *out)
{
    const struct running *r = s->running;
    const size_t name = span_to(what, "@["), slash = span_to(what, "/");
    const bool stopped = r && r->at && slash == what.len;
    const struct hlo_listed_computation c =
        stopped
            ? hlo_list_computation(r->listing, hlo_list_inst(r->listing, r->at->inst).computation)
            : (struct hlo_listed_computation){.entry = true};
    for (size_t i = c.first; i < c.first + c.count && !c.entry; i++) {
        if (!str_is((struct str){what.ptr, name}, hlo_list_inst(r->listing, i).name))
            continue;
        buf_printf(out, "%s/" STR_FMT, c.name, (int)name, what.ptr);
        if (name == what.len || what.ptr[name] != '@')
            put_iterations(r, out);
        what = str_skip(what, name);
        break;
    }
    const struct str word = {what.ptr, out->size ? 0 : name};
    buf_str(out, session_alias(s, word));
    buf_str(out, (struct str){what.ptr + word.len, what.len - word.len});
}

int why_print(struct session *s, struct str what, int64_t levels)
{
    SCOPED_BUF element = {0};
    if (!session_listing(s))
        return report_error(s, HLO_USAGE, "session is empty");
    put_element(s, what, &element);
    return answer(s, element.data, (size_t)levels);
}
