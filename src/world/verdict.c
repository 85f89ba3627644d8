/*
 * verdict.c: detection of deadlocks, and the diagnostics of a run that failed: those of the first
 * participant that failed by an error of its own; otherwise the deadlocked participants, with the
 * instructions at which they are blocked and the participants that they wait for; otherwise a
 * message that was never received.
 */
#include "world/world_priv.h"

enum { MAX_NOTES = 8, MAX_NAMES = 8 };

static bool can_proceed_after(const struct blocked *wait, const bool *can_proceed)
{
    for (int64_t k = 0; k < wait->count; k++)
        if (!can_proceed[wait->waits_for[k]])
            return false;
    return true;
}

int64_t world_find_deadlocked(struct blocked *waits, int64_t count, bool *can_proceed)
{
    int64_t stuck = 0;
    for (bool again = true; again;) {
        again = false;
        for (int64_t k = 0; k < count; k++)
            if (!can_proceed[waits[k].participant] && can_proceed_after(&waits[k], can_proceed))
                can_proceed[waits[k].participant] = again = true;
    }
    for (int64_t k = 0; k < count; k++)
        if (!can_proceed[waits[k].participant])
            waits[stuck++] = waits[k];
    return stuck;
}

/* `itself`, `participant 1`, `participants 0, 2 and 3, 1 of which has ended` */
static struct str name_all(const struct outcome *o, const struct blocked *wait)
{
    SCOPED_BUF b = {0};
    int64_t shown = wait->count <= MAX_NAMES ? wait->count : MAX_NAMES, ended = 0;
    if (wait->count == 1 && wait->waits_for[0] == wait->participant)
        return STR("itself");
    buf_puts(&b, wait->count == 1 ? "participant " : "participants ");
    for (int64_t k = 0; k < shown; k++)
        buf_printf(&b, "%s%" PRId64,
                   k == 0                 ? ""
                   : k == wait->count - 1 ? " and "
                                          : ", ",
                   wait->waits_for[k]);
    if (shown < wait->count)
        buf_printf(&b, " and %" PRId64 " more", wait->count - shown);
    for (int64_t k = 0; k < wait->count; k++)
        ended += o->endings[wait->waits_for[k]].ended;
    if (ended > 0 && ended == wait->count)
        buf_puts(&b, wait->count == 1 ? ", which has finished" : ", which have finished");
    else if (ended > 0)
        buf_printf(&b, ", %" PRId64 " of which %s finished", ended, ended == 1 ? "has" : "have");
    return arena_str(o->arena, buf_view(&b));
}

/* ---- cycles: a send that is only reached after the recv-done at which its participant blocks ----
 */

static int64_t channel_of(const struct inst *i)
{
    return inst_int(i->opcode == OP_RECV_DONE && !inst_has(i, A_CHANNEL_ID) ? i->operands[0] : i,
                    A_CHANNEL_ID, 0);
}

/* Whether `late` depends on `early`, or follows it in the schedule of the module. */
static bool comes_after(struct arena *a, const struct inst *late, const struct inst *early)
{
    const struct computation *c = early->parent;
    if (c->module->is_scheduled)
        return late->index > early->index;
    bool *seen = ARENA_ARRAY(a, bool, c->inst_count);
    const struct inst **stack = ARENA_ARRAY(a, const struct inst *, c->inst_count);
    int top = 0;
    for (stack[top++] = late; top > 0;) {
        const struct inst *i = stack[--top], *before;
        const struct attr *control = inst_attr(i, A_CONTROL_PREDECESSORS);
        int count = i->operand_count + (control ? (int)control->v.insts.count : 0);
        for (int k = 0; k < count; k++) {
            before =
                k < i->operand_count ? i->operands[k] : control->v.insts.at[k - i->operand_count];
            if (before == early)
                return true;
            if (!seen[before->index])
                stack[top++] = before;
            seen[before->index] = true;
        }
    }
    return false;
}

/* The send on this channel that the blocked participant `from` would reach if it proceeded, and the
 * instruction at which it is blocked; NULL: it is not blocked, or no send is known to follow. */
static const struct inst *held_send(const struct outcome *o, int64_t from, int64_t channel,
                                    const struct inst **held_by)
{
    const struct blocked *w = o->waits, *end = o->waits + o->wait_count;
    while (w < end && w->participant != from)
        w++;
    if (w == end)
        return NULL;
    *held_by = w->at;
    const struct computation *c = w->at->parent;
    for (int k = 0; k < c->inst_count; k++)
        if (c->insts[k]->opcode == OP_SEND && channel_of(c->insts[k]) == channel &&
            comes_after(o->arena, c->insts[k], w->at))
            return c->insts[k];
    return NULL;
}

static void report_held_send(const struct outcome *o, struct diags *ds, struct diag *d,
                             const struct blocked *wait)
{
    const struct inst *held_by, *send;
    if (wait->at->opcode != OP_RECV_DONE)
        return;
    send = held_send(o, wait->waits_for[0], channel_of(wait->at), &held_by);
    if (send)
        diag_note(ds, d, send->span,
                  "send '" STR_FMT "' of participant %" PRId64 " comes after its %s '" STR_FMT "'",
                  STR_ARG(send->name), wait->waits_for[0], op_spelling(held_by->opcode),
                  STR_ARG(held_by->name));
}

static void report_deadlock(const struct outcome *o, struct diags *ds)
{
    const struct blocked *first = &o->waits[0];
    struct diag *d = DIAG(ds, first->at->span, WAIT_DEADLOCK, op_spelling(first->at->opcode),
                          first->participant, STR_ARG(name_all(o, first)));
    d->where = inst_where(&ds->arena, first->at);
    report_held_send(o, ds, d, first);
    for (int64_t k = 1; k < o->wait_count && k <= MAX_NOTES; k++) {
        const struct blocked *wait = &o->waits[k];
        diag_note(ds, d, wait->at->span, "%s on participant %" PRId64 " waits for " STR_FMT,
                  op_spelling(wait->at->opcode), wait->participant, STR_ARG(name_all(o, wait)));
        report_held_send(o, ds, d, wait);
    }
    if (o->wait_count > MAX_NOTES + 1)
        diag_note(ds, d, NO_SPAN, "%" PRId64 " more participants are waiting",
                  o->wait_count - MAX_NOTES - 1);
}

/* Copies the diagnostics of the first participant that failed by an error of its own, with a note
 * that names it if there are several. A feed that failed has reported its reason already. */
static bool report_failure(const struct outcome *o, struct diags *ds)
{
    int64_t k = 0;
    while (k < o->count && !o->endings[k].by_itself)
        k++;
    if (k == o->count)
        return false;
    for (const struct diag *d = o->endings[k].ds->first; d; d = d->next) {
        struct diag *copy = diag_copy(ds, d);
        if (o->count > 1 && d->severity == SEV_ERROR)
            diag_note(ds, copy, NO_SPAN, "on participant %" PRId64, k);
    }
    return true;
}

static bool report_unreceived(const struct outcome *o, struct diags *ds)
{
    for (int64_t k = 0; k < o->count; k++)
        if (o->endings[k].sent_at) {
            const struct inst *i = o->endings[k].sent_at;
            struct diag *d = DIAG(ds, i->span, NEVER_RECEIVED, o->endings[k].sender, k);
            d->where = inst_where(&ds->arena, i);
            return true;
        }
    return false;
}

/* Copies the warnings of a successful run; the same one of several participants once. */
static void copy_warnings(const struct outcome *o, struct diags *ds)
{
    for (int64_t k = 0; k < o->count; k++)
        for (const struct diag *d = o->endings[k].ds->first; d; d = d->next)
            if (!diag_was_reported(ds, d->span, d->msg))
                diag_copy(ds, d);
}

bool world_verdict(const struct outcome *o, struct diags *ds)
{
    bool failed = false;
    for (int64_t k = 0; k < o->count; k++)
        failed |= !o->endings[k].ended;
    if (!failed) {
        copy_warnings(o, ds);
        return !report_unreceived(o, ds);
    }
    if (!report_failure(o, ds) && o->wait_count > 0)
        report_deadlock(o, ds);
    return false;
}
