/*
 * unused.c: dead steps (plan/used.c). XLA removes them, so a run must not depend on whether they
 * can be executed: one that fails leaves its results absent. User code is not called for them.
 */
#include "eval/eval_priv.h"

static bool is_left_out(struct eval *ev, const struct step *s)
{
    if (s->foreign.entry || s->left_over.entry)
        return true;
    for (int k = 0; k < s->operand_count; k++)
        if (s->operands[k] != NO_VALUE && eval_operand(ev, s, k)->absent)
            return true;
    return false;
}

static bool leave_absent(struct eval *ev, const struct step *s)
{
    for (int r = 0; r < s->result_count; r++) {
        if (s->results[r] == NO_VALUE)
            continue;
        struct value *v = &ev->frame[s->results[r]];
        value_drop(ev, v);
        if (!eval_clear(ev, s, r))
            return false;
        v->absent = true;
    }
    return true;
}

/* Whether the diagnostics of a failure mean that the step itself could not be executed. */
static bool is_own_failure(const struct eval *ev, const struct diags *said)
{
    for (const struct diag *d = said->first; d; d = d->next)
        if (d->msg == MSG_OUT_OF_MEMORY)
            return false;
    return said->errors > 0 && ev->p->budget.hit == LIMIT_NONE;
}

bool eval_unused(struct eval *ev, const struct step *s, eval_family_fn *run)
{
    struct diags said, *ds = ev->ds;
    if (is_left_out(ev, s))
        return leave_absent(ev, s);
    diags_init(&said, ds->source);
    ev->ds = &said;
    bool ok = run(ev, s), absent = !ok && is_own_failure(ev, &said);
    ev->ds = ds;
    for (const struct diag *d = said.first; d && !absent; d = d->next)
        diag_copy(ds, d);
    diags_free(&said);
    return ok || (absent && leave_absent(ev, s));
}
