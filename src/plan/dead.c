/*
 * dead.c: drops steps whose results are not read. Dead instructions never become steps; the steps
 * dropped here are left over from inlining and simplification.
 */
#include "plan/plan_priv.h"

/* A custom call may fail, so whether it is executed must not depend on passes. */
static bool must_run(struct planner *pl, const struct step *s)
{
    return (s->inst->opcode == OP_CUSTOM_CALL && !s->unused) || plan_has_effect(pl, s->inst);
}

static bool is_read(const struct step *s, const bool *read)
{
    for (int r = 0; r < s->result_count; r++)
        if (s->results[r] >= 0 && read[s->results[r]])
            return true;
    return false;
}

void plan_drop_dead(struct planner *pl, struct function *f, int value_count, struct leaves results)
{
    bool *read = ARENA_ARRAY(&pl->scratch, bool, value_count);
    int kept = f->step_count;
    for (int j = 0; j < results.count; j++)
        if (results.at[j] >= 0)
            read[results.at[j]] = true;
    for (int k = f->step_count - 1; k >= 0; k--) {
        const struct step *s = &f->steps[k];
        if (!is_read(s, read) && !must_run(pl, s)) {
            pl->p->stats.dropped++;
            continue;
        }
        for (int j = 0; j < s->operand_count; j++)
            if (s->operands[j] >= 0)
                read[s->operands[j]] = true;
        if (--kept != k)
            f->steps[kept] = *s;
    }
    if (kept > 0) /* a function without steps has no list */
        f->steps += kept;
    f->step_count -= kept;
}
