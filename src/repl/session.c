/*
 * repl/session: the states of a session, their builds, undo, and names.
 */
#include "repl/session.h"

/* ---- states ---- */

static void drop_states_from(struct session *s, size_t at)
{
    while (s->state_count > at)
        state_free(s->states[--s->state_count]);
}

/* A stopped run needs the build that it was started with until its end. */
static void take_built(struct session *s, struct built *b)
{
    if (s->running) {
        struct built *more = heap_grow(s->old, (s->old_count + 1) * sizeof *more);
        s->old = more;
        more[s->old_count++] = s->built;
    } else {
        built_free(&s->built);
    }
    s->built = *b;
}

void session_drop_old(struct session *s)
{
    for (size_t i = 0; i < s->old_count; i++)
        built_free(&s->old[i]);
    heap_free(s->old);
    s->old = NULL;
    s->old_count = 0;
}

/* The first line of the entry that is being evaluated. */
static char *entry_line(const struct session *s)
{
    struct str text = s->entry;
    return heap_str(str_trim(str_cut(&text, '\n')));
}

static void push_state(struct session *s, struct state *next)
{
    next->change = entry_line(s);
    drop_states_from(s, s->state_at + 1);
    if (s->state_count == MAX_STATES) {
        state_free(s->states[0]);
        memmove(s->states, s->states + 1, --s->state_count * sizeof *s->states);
    }
    s->states[s->state_count] = next;
    s->state_at = s->state_count++;
}

/* Whether the lists of a state were only appended to. */
static bool only_adds(const struct state *from, const struct state *to)
{
    return from->insts.list && to->insts.list == from->insts.list && to->header == from->header &&
           to->root == from->root &&
           (to->computations.list == from->computations.list || from->computations.count == 0) &&
           (to->settings.list == from->settings.list || from->settings.count == 0) &&
           to->insts.count + to->computations.count > from->insts.count + from->computations.count;
}

/* A run needs its build unchanged. */
static bool may_grow(const struct session *s) { return !s->running && s->built.module; }

static bool grow(struct session *s, const struct state *next)
{
    if (!may_grow(s) || !only_adds(session_state(s), next))
        return false;
    SCOPED_MESSAGES *m = hlo_messages_new();
    return build(&s->built, next, m);
}

static bool build_again(struct session *s, const struct state *next, hlo_messages *m)
{
    struct built b = {0};
    if (build(&b, next, m)) {
        take_built(s, &b);
        return true;
    }
    built_free(&b);
    return false;
}

bool session_take(struct session *s, struct state *next, hlo_messages *m)
{
    bool ok = grow(s, next) || build_again(s, next, m);
    if (ok)
        push_state(s, next);
    else
        state_free(next);
    return ok;
}

bool session_take_set(struct session *s, struct state *next, size_t number, hlo_messages *m)
{
    if (!may_grow(s) || !built_set(&s->built, next, number))
        return session_take(s, next, m);
    push_state(s, next);
    return true;
}

static void catch_up(struct session *s)
{
    hlo_messages *m = hlo_messages_new();
    if (s->built.behind)
        build_again(s, session_state(s), m);
    report_messages(s, m);
}

const hlo_listing *session_listing(struct session *s)
{
    catch_up(s);
    return s->built.listing;
}

const hlo_module *session_module(struct session *s)
{
    catch_up(s);
    return s->built.module;
}

/* Names of entries take precedence over generated names in the module. */
long session_find(struct session *s, struct str name)
{
    name = session_alias(s, name);
    const long at = state_find(session_state(s), name.len && name.ptr[0] == '%'
                                                     ? (struct str){name.ptr + 1, name.len - 1}
                                                     : name);
    long n = at >= 0 && s->built.module ? (long)s->built.numbers[at] : -1;
    if (n < 0 && session_listing(s)) {
        SCOPED_HEAP char *z = heap_str(name);
        n = hlo_list_find(s->built.listing, z);
    }
    return n >= (long)s->built.first ? n : -1;
}

struct str session_alias(const struct session *s, struct str name)
{
    const struct state *state = session_state(s);
    const bool last = str_is(name, "_") && s->last && state_find(state, str_of(s->last)) >= 0;
    const struct entry *root = str_is(name, "root") ? state_root(state) : NULL;
    if ((!last && !root) || state_find(state, name) >= 0)
        return name;
    return str_of(last ? s->last : root->name);
}

void session_last(struct session *s, struct str name)
{
    SCOPED_HEAP char *copy = heap_str(name);
    repl_set(&s->last, copy);
}

void session_settle(struct session *s)
{
    for (size_t i = 0; i < s->state_at; i++)
        state_free(s->states[i]);
    memmove(s->states, s->states + s->state_at, (s->state_count - s->state_at) * sizeof *s->states);
    s->state_count -= s->state_at;
    s->state_at = 0;
}

static bool go_to(struct session *s, size_t state)
{
    hlo_messages *m = hlo_messages_new();
    const bool ok = build_again(s, s->states[state], m);
    report_messages(s, m);
    s->state_at = ok ? state : s->state_at;
    return ok;
}

int session_undo(struct session *s, long steps)
{
    const long from = (long)s->state_at, to = from - steps;
    if (to < 0 || to >= (long)s->state_count)
        return report_error(s, HLO_USAGE, steps > 0 ? "nothing to undo" : "nothing to redo");
    if (!go_to(s, (size_t)to))
        return HLO_REJECTED;
    for (long i = from; i > to; i--)
        report_note(s, "undone: %s", s->states[i]->change);
    for (long i = from + 1; i <= to; i++)
        report_note(s, "redone: %s", s->states[i]->change);
    return HLO_OK;
}

void session_take_back(struct session *s)
{
    go_to(s, s->state_at - 1);
    drop_states_from(s, s->state_at + 1);
}
