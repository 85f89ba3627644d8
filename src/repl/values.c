/*
 * repl/values: values of instructions, computed on demand from cached values.
 *
 * A module of its own is run: the needed instructions as they were typed, with parameters for
 * those whose values are cached.
 */
#include "repl/session.h"

#include <stdlib.h>

/* ---- needed instructions ---- */

struct need {     /* an instruction that is needed */
    size_t i;     /* number - first */
    size_t place; /* in the state; generated instructions, which belong to another one, come last */
    struct shared_value *from; /* the value that replaces it; NULL: it is run */
};

struct making {
    struct session *s;
    const struct built *b; /* the build at the start: while a run is stopped, the session may
                              continue with another one */
    const size_t *targets;
    size_t count;
    bool no_cache;
    struct need **needs; /* in order; found by a map, since few of many instructions are needed */
    size_t need_count, need_capacity;
    struct map places;
    struct arena arena;
    const hlo_literal **args;
    size_t arg_count, expected; /* number of targets to compute */
    hlo_messages *m;
};

static bool has_several(const struct built *b)
{
    return hlo_replica_count(b->module) * hlo_num_partitions(b->module) != 1;
}

static bool is_requested(const struct making *k, size_t i)
{
    for (size_t t = 0; t < k->count; t++)
        if (k->targets[t] == k->b->first + i)
            return true;
    return false;
}

struct shared_value *value_known(struct session *s, const struct built *b, size_t i)
{
    const struct entry *set = built_setting(b, session_state(s), i);
    return shared_value_ref(set ? set->value : cache_get(&s->kept, b->marks[i]));
}

/* The known value of an instruction. With several participants, the cached value is that of the
 * first, and only good for printing. */
static struct shared_value *source_of(const struct making *k, size_t i)
{
    const bool cached =
        k->b->entries[i] && !k->no_cache && (!has_several(k->b) || is_requested(k, i));
    return cached || built_setting(k->b, session_state(k->s), i) ? value_known(k->s, k->b, i)
                                                                 : NULL;
}

static enum made no_value(const struct making *k, const struct hlo_listed *p)
{
    add_error(k->s, k->m,
              "parameter %ld, '%s', of shape %s, has no value; use .set %s = VALUE, .run %s=VALUE "
              "or .run --random",
              p->parameter, p->name, p->shape, p->name, p->name);
    return UNMADE;
}

static struct need *need_of(const struct making *k, size_t i)
{
    return map_get(&k->places, (struct str){(const char *)&i, sizeof i});
}

static void add_need(struct making *k, size_t i)
{
    if (need_of(k, i))
        return;
    struct need *n = ARENA_NEW(&k->arena, struct need);
    const struct entry *e = k->b->entries[i];
    *n = (struct need){
        .i = i, .place = e ? (size_t)state_find(session_state(k->s), str_of(e->name)) : SIZE_MAX};
    map_put(&k->places, (struct str){(const char *)&n->i, sizeof n->i}, n);
    VEC_PUSH(&k->arena, k->needs, k->need_count, k->need_capacity) = n;
}

static int by_place(const void *a, const void *b)
{
    const struct need *const *x = a, *const *y = b;
    return ((*x)->place > (*y)->place) - ((*x)->place < (*y)->place);
}

/* In the order of the state; the first parameter without a value is reported. */
static enum made find_needs(struct making *k)
{
    long missing = -1;
    for (size_t i = k->b->count; k->no_cache && i-- > 0;)
        add_need(k, i);
    for (size_t t = 0; t < k->count; t++)
        add_need(k, k->targets[t] - k->b->first);
    for (size_t n = 0; n < k->need_count; n++) {
        struct need *need = k->needs[n];
        struct hlo_listed at = built_at(k->b, k->b->first + need->i);
        need->from = source_of(k, need->i);
        if (need->from)
            continue;
        if (at.parameter >= 0 &&
            (missing < 0 || at.parameter < built_at(k->b, k->b->first + (size_t)missing).parameter))
            missing = (long)need->i;
        for (size_t o = 0; o < at.operand_count; o++)
            add_need(k, at.operands[o] - k->b->first);
    }
    if (missing >= 0) {
        struct hlo_listed at = built_at(k->b, k->b->first + (size_t)missing);
        return no_value(k, &at);
    }
    qsort(k->needs, k->need_count, sizeof *k->needs, by_place);
    for (size_t t = 0; t < k->count; t++)
        k->expected += need_of(k, k->targets[t] - k->b->first)->from == NULL;
    return MADE;
}

/* ---- generation of the module ---- */

static void put_insts(struct making *k, struct module_text *t)
{
    for (size_t n = 0; n < k->need_count; n++) {
        const struct need *need = k->needs[n];
        const struct entry *e = k->b->entries[need->i];
        if (!e)
            continue;
        if (need->from) {
            k->args[k->arg_count] = need->from->l;
            module_text_parameter(t, e->name, built_at(k->b, k->b->first + need->i).shape,
                                  k->arg_count++, false);
        } else {
            module_text_entry(t, e, k->expected == 1 && is_requested(k, need->i));
        }
    }
}

/* The result is a tuple if there are several values. */
static void put_result(const struct making *k, struct module_text *t)
{
    bool first = true;
    if (k->expected == 1)
        return;
    module_text_made(t, "  ROOT session.result = tuple(");
    for (size_t i = 0; i < k->count; i++) {
        size_t at = k->targets[i] - k->b->first;
        if (need_of(k, at)->from)
            continue;
        module_text_made(t, first ? "%s" : ", %s", k->b->entries[at]->name);
        first = false;
    }
    module_text_made(t, ")\n");
}

static hlo_module *module_of(struct making *k)
{
    struct module_text t;
    struct naming named;
    naming_begin(&named, session_state(k->s));
    for (size_t n = 0; n < k->need_count; n++)
        if (k->b->entries[k->needs[n]->i] && !k->needs[n]->from)
            naming_add(&named, k->b->entries[k->needs[n]->i], false);
    naming_sort(&named);
    module_text_begin(&t, session_state(k->s), k->no_cache ? NULL : &named);
    put_insts(k, &t);
    put_result(k, &t);
    naming_end(&named);
    return module_text_parse(&t, session_state(k->s), true, k->m);
}

/* ---- the run ---- */

/* Whether a value may be cached: tokens and results of asynchronous operations belong to one
 * run. */
static bool is_cacheable(const struct hlo_listed *at)
{
    return !strstr(at->shape, "token[") && at->parameter < 0 &&
           !str_ends(str_of(at->op), STR("-start")) && !str_starts(str_of(at->op), STR("async"));
}

static void note_marks(const struct making *k, struct running *r)
{
    const struct hlo_listed_computation main = listed_entry(r->listing);
    r->marks = heap_zalloc(1, hlo_list_count(r->listing) * sizeof *r->marks);
    for (size_t n = main.first; n < main.first + main.count; n++) {
        struct hlo_listed at = hlo_list_inst(r->listing, n);
        const long place = state_find(session_state(k->s), str_of(at.name));
        const size_t i = place >= 0 ? k->b->numbers[place] - k->b->first : SIZE_MAX;
        if (i < k->b->count && is_cacheable(&at))
            r->marks[n] = k->b->marks[i];
    }
}

static hlo_literal *run(struct making *k, hlo_module *module)
{
    struct session *s = k->s;
    struct hlo_run_options options = s->o->run;
    struct hlo_trace_callbacks trace_callbacks;
    struct running r = {.s = s, .module = module, .listing = hlo_list(module)}, *outer = s->running;
    options.traced = true;
    note_marks(k, &r);
    hlo_literal *result = NULL;
    if ((r.program = hlo_plan(module, &options, k->m))) {
        debug_attach(&r, &trace_callbacks);
        hlo_trace(r.program, &trace_callbacks);
        double began = now_seconds();
        s->running = &r;
        s->o->interrupt_begin(r.program);
        result = hlo_run(r.program, k->args, k->arg_count, k->m);
        s->o->interrupt_end();
        s->running = outer;
        if (s->time && result)
            fprintf(stderr, "time: %.6f s\n", now_seconds() - began);
    }
    running_free(&r);
    return result;
}

/* Values cached during the run are used too. */
static enum made take_results(struct making *k, hlo_literal *result, struct shared_value **out)
{
    struct shared_value *all = shared_value_new(result);
    size_t component = 0;
    for (size_t t = 0; t < k->count; t++) {
        size_t i = k->targets[t] - k->b->first;
        struct hlo_listed at = built_at(k->b, k->targets[t]);
        struct shared_value *from = need_of(k, i)->from;
        if (from) {
            out[t] = shared_value_ref(from);
            continue;
        }
        out[t] = k->expected == 1 ? shared_value_ref(all) : shared_value_element(all, component++);
        if (is_cacheable(&at))
            cache_put(&k->s->kept, k->b->marks[i], out[t]);
    }
    shared_value_unref(all);
    return MADE;
}

static void making_free(struct making *k)
{
    for (size_t n = 0; n < k->need_count; n++)
        shared_value_unref(k->needs[n]->from);
    arena_free(&k->arena);
    heap_free(k->args);
}

/* Whether an instruction names others that are not its operands, which therefore cannot be
 * omitted. */
static bool names_others(const struct making *k)
{
    for (size_t n = 0; n < k->need_count; n++) {
        const struct entry *e = k->b->entries[k->needs[n]->i];
        if (e && !k->needs[n]->from && entry_mentions(e, "control-predecessors="))
            return true;
    }
    return false;
}

static enum made make(struct making *k, struct shared_value **out)
{
    arena_init(&k->arena);
    map_init(&k->places, &k->arena);
    enum made made = find_needs(k);
    k->args = heap_zalloc(k->need_count + 1, sizeof *k->args);
    if (made == MADE && k->expected == 0) {
        for (size_t t = 0; t < k->count; t++)
            out[t] = shared_value_ref(need_of(k, k->targets[t] - k->b->first)->from);
    } else if (made == MADE && !k->no_cache && names_others(k)) {
        struct making all = {.s = k->s,
                             .b = k->b,
                             .targets = k->targets,
                             .count = k->count,
                             .no_cache = true,
                             .m = k->m};
        made = make(&all, out);
    } else if (made == MADE) {
        SCOPED_MODULE *module = module_of(k);
        hlo_literal *result = module ? run(k, module) : NULL;
        made = result ? take_results(k, result, out) : FAILED;
    }
    making_free(k);
    return made;
}

enum made values_make(struct session *s, const size_t *insts, size_t count, bool no_cache,
                      struct shared_value **out, hlo_messages *m)
{
    const struct built b = s->built;
    struct making k = {
        .s = s, .b = &b, .targets = insts, .count = count, .no_cache = no_cache, .m = m};
    for (size_t t = 0; t < count; t++)
        if (!k.b->entries[insts[t] - k.b->first]) {
            add_error(s, m, "generated for another instruction; it has no value of its own");
            return FAILED;
        }
    enum made made = make(&k, out);
    if (!s->running)
        session_drop_old(s);
    return made;
}

int value_status(const hlo_messages *m)
{
    for (size_t i = 0; i < hlo_messages_count(m); i++)
        if (strcmp(hlo_messages_get(m, i).id, "run-interrupted") == 0)
            return REPL_INTERRUPTED;
    return hlo_messages_limit(m) ? HLO_LIMIT : HLO_FAILED;
}

struct shared_value *value_named(struct session *s, struct str name, int *status)
{
    long n = session_find(s, name);
    struct shared_value *h = s->running ? debug_value(s, name) : NULL;
    if (h)
        return h;
    if (s->running && s->running->at) {
        *status = debug_missing(s, name);
        return NULL;
    }
    if (n < 0) {
        *status = report_unknown(s, name);
        return NULL;
    }
    hlo_messages *m = hlo_messages_new();
    size_t inst = (size_t)n;
    enum made made = values_make(s, &inst, 1, false, &h, m);
    if (made != MADE)
        *status = made == UNMADE ? HLO_USAGE : value_status(m);
    report_messages(s, m);
    return made == MADE ? h : NULL;
}
