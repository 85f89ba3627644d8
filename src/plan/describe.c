/*
 * describe.c: prints what a step does and how, for `hlo plan` and `hlo prof`, and why it is not
 * hoisted out of a loop.
 */
#include "plan/plan.h"

#include "kern/schedule.h"

static void put_body(struct buf *out, const struct body *b)
{
    static const char *const others[] = {
        [KERN_TAKE_VALUE] = "the last",
        [KERN_SELECT_GE] = "argmax, first of equals",
        [KERN_SELECT_GT] = "argmax, last of equals",
        [KERN_SELECT_LE] = "argmin, first of equals",
        [KERN_SELECT_LT] = "argmin, last of equals",
    };
    const char *opcode = kern_combine_opcode(b->combine);
    if (b->combine != KERN_CALL)
        buf_puts(out, opcode ? opcode : others[b->combine]);
    else if (b->pick)
        buf_printf(out, "the %s with its index", b->pick->greatest ? "greatest" : "least");
    else if (b->code)
        buf_printf(out, "scalar code of %d operations%s", b->code->op_count,
                   b->lanes     ? ", vectorized"
                   : b->indexed ? ", machine code"
                                : "");
    else
        buf_printf(out, "a call of %%%.*s per element", STR_ARG(b->function->computation->name));
}

static void put_keys(struct buf *out, const struct body *b)
{
    for (int k = 0; k < b->make_keys->result_count; k++)
        buf_printf(out, "%s%s by %s keys", k ? ", then " : "",
                   b->keys[k].descending ? "descending" : "ascending",
                   dtype_spelling(b->keys[k].type));
    buf_printf(out, " from scalar code of %d operations", b->code->op_count);
}

static void put_order(struct buf *out, const struct body *b)
{
    const char *way = b->order == KERN_ORDER_LESS ? "ascending" : "descending";
    if (b->order == KERN_ORDER_CALL) {
        buf_puts(out, "compared by ");
        put_body(out, b);
    } else if (b->make_keys) {
        put_keys(out, b);
    } else {
        buf_printf(out, "%s by operand %d, a %s%s", way, b->key,
                   dtype_spelling(b->args[2 * b->key]), b->total_order ? " in total order" : "");
    }
}

static void put_bodies(struct buf *out, const struct step *s)
{
    const enum opcode op = s->inst->opcode;
    if (op == OP_SORT || op == OP_CUSTOM_CALL) {
        put_order(out, &s->bodies[0]);
    } else if (op == OP_SELECT_AND_SCATTER) {
        put_body(out, &s->bodies[0]);
        buf_puts(out, "; then ");
        put_body(out, &s->bodies[1]);
    } else {
        put_body(out, &s->bodies[0]);
    }
}

static void put_callees(struct buf *out, const struct step *s)
{
    const struct function *condition = s->callees[s->callee_count - 1];
    if (s->inst->opcode == OP_WHILE) {
        buf_printf(out, "body %%%.*s, condition ", STR_ARG(s->callees[0]->computation->name));
        if (condition->code)
            buf_printf(out, "scalar code of %d operations", condition->code->op_count);
        else
            buf_printf(out, "%%%.*s", STR_ARG(condition->computation->name));
        return;
    }
    for (int k = 0; k < s->callee_count; k++)
        buf_printf(out, "%s%%%.*s", k ? " or " : "calls ",
                   STR_ARG(s->callees[k]->computation->name));
}

void plan_describe(struct buf *out, const struct step *s)
{
    const struct inst *i = s->inst;
    const struct fused_step *fused = step_fused(s);
    const struct scalar_code *scalar = step_scalar(s);
    if (fused && fused->count > 1) {
        buf_printf(out, "%d fused:", fused->count);
        for (int k = 0; k < fused->count; k++)
            buf_printf(out, "%s %s", k ? "," : "", op_spelling(fused->members[k]->opcode));
        return;
    }
    buf_puts(out, op_spelling(i->opcode));
    size_t before = out->size;
    buf_puts(out, ": ");
    size_t after = out->size;
    if (scalar)
        buf_printf(out, "scalar code of %d operations", scalar->op_count);
    else if (s->bodies)
        put_bodies(out, s);
    else if (s->callee_count > 0)
        put_callees(out, s);
    else if (i->opcode == OP_CUSTOM_CALL)
        buf_printf(out, "%.*s%s", STR_ARG(inst_str(i, A_CUSTOM_CALL_TARGET)),
                   s->as.call.foreign.entry ? ", user code" : "");
    if (out->size == after)
        out->size = before;
}

/* ---- steps that are not hoisted ---- */

/* Whether the step is a loop and runs the steps of this callee in every iteration. */
static bool is_iterated(const struct step *s, int callee)
{
    if (s->callees[callee]->code)
        return false;
    if (s->inst->opcode == OP_WHILE)
        return s->callees[callee]->is_body || callee == s->callee_count - 1;
    return s->inst->opcode == OP_SCAN || (step_call(s) && s->as.call.loop);
}

static void add_in_loop(bool *in_loop, const struct function *f)
{
    if (in_loop[f->index])
        return;
    in_loop[f->index] = true;
    for (int k = 0; k < f->step_count; k++)
        for (int j = 0; j < f->steps[k].callee_count; j++)
            add_in_loop(in_loop, f->steps[k].callees[j]);
}

const bool *plan_find_in_loops(struct arena *a, const struct program *p)
{
    bool *in_loop = ARENA_ARRAY(a, bool, p->function_count);
    for (int n = 0; n < p->function_count; n++) {
        const struct function *f = p->functions[n];
        for (int k = 0; k < f->step_count; k++)
            for (int j = 0; j < f->steps[k].callee_count; j++)
                if (is_iterated(&f->steps[k], j))
                    add_in_loop(in_loop, f->steps[k].callees[j]);
    }
    return in_loop;
}

static const struct {
    const char *before, *after; /* the number or name of what is missing */
} missed_texts[] = {
    [MISSED_EFFECT] = {"has side effects", ""},
    [MISSED_STATE] = {"depends on state ", ", which the body changes"},
    [MISSED_PARAMETER] = {"in a condition, branch or called computation", ""},
    [MISSED_OPERAND] = {"depends on %", ", which is not hoisted"},
    [MISSED_CALLEE] = {"loops, conditionals and calls are not hoisted", ""},
    [MISSED_ELEMENTS] = {"calls a computation for each element", ""},
    [MISSED_CHEAP] = {"cheaper than reading its result", ""},
    [MISSED_FULL] = {"kept values would exceed 256 MiB", ""},
};

static void put_missed(struct buf *out, const struct missed_hoist *m)
{
    buf_puts(out, missed_texts[m->kind].before);
    if (m->kind == MISSED_STATE)
        buf_printf(out, "%d", m->state);
    else if (m->kind == MISSED_OPERAND)
        buf_str(out, m->inst->name);
    buf_puts(out, missed_texts[m->kind].after);
}

static bool same_missed(const struct missed_hoist *a, const struct missed_hoist *b)
{
    return a->kind == b->kind && (a->kind != MISSED_STATE || a->state == b->state) &&
           a->inst == b->inst;
}

/* The first member with the same reason as member k. */
static int first_missed(const struct step *s, int k)
{
    int first = 0;
    while (!same_missed(&s->missed[first], &s->missed[k]))
        first++;
    return first;
}

void plan_describe_missed(struct buf *out, const struct step *s)
{
    const struct fused_step *fused = step_fused(s);
    int count = fused ? fused->count : 1, reasons = 0;
    if (s->hoist != HOIST_NOT || !s->missed)
        return;
    for (int k = 0; k < count; k++)
        reasons += first_missed(s, k) == k;
    for (int k = 0, n = 0; k < count; k++) {
        if (first_missed(s, k) != k || s->missed[k].kind == MISSED_NONE)
            continue;
        buf_puts(out, n++ ? "; " : "");
        for (int j = k; j < count && reasons > 1; j++)
            if (first_missed(s, j) == k)
                buf_printf(out, "%s%%%.*s", j > k ? ", " : "", STR_ARG(fused->members[j]->name));
        buf_puts(out, reasons > 1 ? ": " : "");
        put_missed(out, &s->missed[k]);
    }
}

void plan_describe_loop(struct buf *out, const struct step *s)
{
    if (!step_fused(s))
        return;
    const struct kern_fused_schedule k = kern_fused_schedule(s->as.fused.loop);
    buf_printf(out,
               "%" PRId64 " x %" PRId64 " x %" PRId64 " in blocks of %" PRId64 " x %" PRId64
               " x %" PRId64 ", %.3f ms%s",
               k.loop[0], k.loop[1], k.loop[2], k.block[0], k.block[1], k.block[2],
               (double)k.picoseconds / 1e9, k.shared ? ", shared by threads" : "");
}
