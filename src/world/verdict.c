/*
 * What is said of a run that failed: the messages of the first participant that failed by itself; else
 * who waits where and for whom; else what was sent and never received.
 */
#include "world/world_priv.h"

enum { MOST_NOTES = 8, MOST_NAMES = 8 };

/* `itself`, `participant 1`, `participants 0, 2 and 3, 1 of which has ended` */
static struct str name_all(struct world *w, const struct wait *wait)
{
    struct buf b = {0};
    int64_t shown = wait->count <= MOST_NAMES ? wait->count : MOST_NAMES, ended = 0;
    if (wait->count == 1 && wait->whom[0] == wait->participant)
        return STR("itself");
    buf_puts(&b, wait->count == 1 ? "participant " : "participants ");
    for (int64_t k = 0; k < shown; k++)
        buf_printf(&b, "%s%" PRId64, k == 0 ? "" : k == wait->count - 1 ? " and " : ", ", wait->whom[k]);
    if (shown < wait->count)
        buf_printf(&b, " and %" PRId64 " more", wait->count - shown);
    for (int64_t k = 0; k < wait->count; k++)
        ended += w->participants[wait->whom[k]].state == ENDED;
    if (ended > 0 && ended == wait->count)
        buf_puts(&b, wait->count == 1 ? ", which has ended" : ", which have ended");
    else if (ended > 0)
        buf_printf(&b, ", %" PRId64 " of which %s ended", ended, ended == 1 ? "has" : "have");
    struct str s = arena_str(&w->arena, buf_view(&b));
    buf_free(&b);
    return s;
}

static void tell_waits(struct world *w, struct diags *ds)
{
    const struct wait *first = &w->waits[0];
    struct diag *d = DIAG(ds, first->at->span, WAITS_FOR_EVER, op_spelling(first->at->opcode), first->participant,
                          STR_ARG(name_all(w, first)));
    d->where = inst_where(&ds->arena, first->at);
    for (int64_t k = 1; k < w->wait_count && k <= MOST_NOTES; k++) {
        const struct wait *wait = &w->waits[k];
        diag_note(ds, d, wait->at->span, "%s on participant %" PRId64 " waits for " STR_FMT,
                  op_spelling(wait->at->opcode), wait->participant, STR_ARG(name_all(w, wait)));
    }
    if (w->wait_count > MOST_NOTES + 1)
        diag_note(ds, d, NO_SPAN, "%" PRId64 " more participants wait", w->wait_count - MOST_NOTES - 1);
}

/* Of the first participant that failed by itself; with several, which one that was. A feed that failed
 * has said why already. */
static bool tell_failure(struct world *w, struct diags *ds)
{
    const struct participant *p = w->participants;
    while (p < w->participants + w->count && !p->by_itself)
        p++;
    if (p == w->participants + w->count)
        return false;
    for (const struct diag *d = p->ds.first; d; d = d->next) {
        struct diag *copy = diag_copy(ds, d);
        if (w->count > 1 && d->severity == SEV_ERROR)
            diag_note(ds, copy, NO_SPAN, "on participant %" PRId64, p->number);
    }
    return true;
}

static bool tell_unreceived(struct world *w, struct diags *ds)
{
    for (int64_t k = 0; k < w->count; k++)
        if (w->participants[k].inbox) {
            const struct message *m = w->participants[k].inbox;
            struct diag *d = DIAG(ds, m->sent_at->span, NEVER_RECEIVED, m->from, k);
            d->where = inst_where(&ds->arena, m->sent_at);
            return true;
        }
    return false;
}

bool world_verdict(struct world *w, struct diags *ds)
{
    bool failed = false;
    for (int64_t k = 0; k < w->count; k++)
        failed |= w->participants[k].state != ENDED;
    if (!failed)
        return !tell_unreceived(w, ds);
    if (!tell_failure(w, ds) && w->wait_count > 0)
        tell_waits(w, ds);
    return false;
}
