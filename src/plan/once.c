/*
 * Steps that depend on constants alone: in a function that runs many times they are done the first
 * time, and what others read of them is kept for the rest of the run.
 */
#include "plan/plan_priv.h"

static const int64_t KEEP_BYTES = (int64_t)256
                                  << 20; /* in all functions together; beyond it, computed again */

bool plan_is_pure(struct planner *pl, const struct inst *i)
{
    switch (op_table[i->opcode].family) {
    case FAMILY_batchnorm:
    case FAMILY_compare:
    case FAMILY_conv:
    case FAMILY_convert:
    case FAMILY_dot:
    case FAMILY_dynslice:
    case FAMILY_elementwise:
    case FAMILY_fft:
    case FAMILY_gather:
    case FAMILY_linalg:
    case FAMILY_reduce:
    case FAMILY_shape:
    case FAMILY_sort:
    case FAMILY_window: break;
    default:
        if (i->opcode != OP_MAP)
            return false;
    }
    return inst_callees(i, NULL) == 0 || (!inst_has_effect(pl, i) && !inline_has_state(pl, i));
}

static bool is_pure(struct planner *pl, const struct step *s)
{
    for (int k = 0; s->bodies && k < 2; k++)
        if (s->bodies[k].function)
            return false;
    return s->callee_count == 0 && s->result_count > 0 && (s->scalar || plan_is_pure(pl, s->inst));
}

/* Views cost nothing, whatever their size. */
static int64_t kept_bytes(const struct step *s)
{
    int64_t sum = 0, bytes;
    switch (s->inst->opcode) {
    case OP_BROADCAST:
    case OP_RESHAPE:
    case OP_REVERSE:
    case OP_SLICE:
    case OP_TRANSPOSE: return 0;
    default: break;
    }
    for (int r = 0; r < s->result_count; r++)
        if (!shape_bytes(s->shapes[r], &bytes) || !add_i64(sum, bytes, &sum))
            return INT64_MAX;
    return sum;
}

/* Which values come of constants alone, by the numbers that steps have for values until slots are given out.
 */
static void find_constant_steps(struct planner *pl, const struct function *f, bool *constant, bool *once)
{
    for (int k = 0; k < f->step_count; k++) {
        const struct step *s = &f->steps[k];
        once[k] = is_pure(pl, s);
        for (int j = 0; j < s->operand_count && once[k]; j++)
            once[k] = s->operands[j] != NO_VALUE && (s->operands[j] < 0 || constant[s->operands[j]]);
        for (int r = 0; r < s->result_count && once[k]; r++)
            if (s->results[r] >= 0)
                constant[s->results[r]] = true;
    }
}

static void find_readers(const struct function *f, const bool *once, struct leaves results, bool *read)
{
    for (int k = 0; k < f->step_count; k++)
        for (int j = 0; j < f->steps[k].operand_count && !once[k]; j++)
            if (f->steps[k].operands[j] >= 0)
                read[f->steps[k].operands[j]] = true;
    for (int j = 0; j < results.count; j++)
        if (results.at[j] >= 0)
            read[results.at[j]] = true;
}

static bool is_read(const struct step *s, const bool *read)
{
    for (int r = 0; r < s->result_count; r++)
        if (s->results[r] >= 0 && read[s->results[r]])
            return true;
    return false;
}

void plan_once(struct planner *pl, struct function *f, int value_count, struct leaves results)
{
    struct program *p = pl->p;
    bool *constant = ARENA_ARRAY(&pl->scratch, bool, value_count + 1),
         *once = ARENA_ARRAY(&pl->scratch, bool, f->step_count + 1);
    bool *read = ARENA_ARRAY(&pl->scratch, bool, value_count + 1);
    int64_t bytes = pl->kept_bytes;
    find_constant_steps(pl, f, constant, once);
    find_readers(f, once, results, read);
    for (int k = 0; k < f->step_count; k++)
        if (once[k] && is_read(&f->steps[k], read) && !add_i64(bytes, kept_bytes(&f->steps[k]), &bytes))
            return;
    if (bytes > KEEP_BYTES)
        return;
    pl->kept_bytes = bytes;
    for (int k = 0; k < f->step_count; k++) {
        struct step *s = &f->steps[k];
        if (!once[k])
            continue;
        s->once = is_read(s, read) ? ONCE_KEPT : ONCE_INNER;
        s->kept = p->kept_count;
        if (s->once == ONCE_KEPT)
            p->kept_count += s->result_count;
    }
}
