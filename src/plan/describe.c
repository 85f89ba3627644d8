/*
 * describe.c: prints what a step does and how, for `hlo plan` and `hlo prof`.
 */
#include "plan/plan.h"

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
        buf_printf(out, "bytecode of %d operations%s", b->code->op_count,
                   b->lanes ? ", vectorized" : "");
    else
        buf_printf(out, "a call of %%%.*s per element", STR_ARG(b->function->computation->name));
}

static void put_order(struct buf *out, const struct body *b)
{
    const char *way = b->order == KERN_ORDER_LESS ? "ascending" : "descending";
    if (b->order == KERN_ORDER_CALL) {
        buf_puts(out, "compared by ");
        put_body(out, b);
    } else if (b->keys) {
        buf_printf(out, "%s by %s keys from bytecode of %d operations", way,
                   dtype_spelling(b->key_type), b->keys->op_count);
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
    const struct scalar_peeled_loop *peeled = s->callees[0]->peeled;
    if (s->inst->opcode == OP_WHILE) {
        buf_printf(out, "body %%%.*s, condition ", STR_ARG(s->callees[0]->computation->name));
        if (condition->code)
            buf_printf(out, "bytecode of %d operations", condition->code->op_count);
        else
            buf_printf(out, "%%%.*s", STR_ARG(condition->computation->name));
        if (peeled && peeled->condition == condition->computation)
            buf_printf(out, "; after the first iteration bytecode of %d operations",
                       peeled->code->op_count);
        return;
    }
    for (int k = 0; k < s->callee_count; k++)
        buf_printf(out, "%s%%%.*s", k ? " or " : "calls ",
                   STR_ARG(s->callees[k]->computation->name));
}

void plan_describe(struct buf *out, const struct step *s)
{
    const struct inst *i = s->inst;
    if (s->fused_steps > 1) {
        buf_printf(out, "%d fused:", s->fused_steps);
        for (int k = 0; k < s->fused_steps; k++)
            buf_printf(out, "%s %s", k ? "," : "", op_spelling(s->members[k]->opcode));
        return;
    }
    buf_puts(out, op_spelling(i->opcode));
    size_t before = out->size;
    buf_puts(out, ": ");
    size_t after = out->size;
    if (s->scalar)
        buf_printf(out, "bytecode of %d operations", s->scalar->op_count);
    else if (s->bodies)
        put_bodies(out, s);
    else if (s->callee_count > 0)
        put_callees(out, s);
    else if (i->opcode == OP_CUSTOM_CALL)
        buf_printf(out, "%.*s%s", STR_ARG(inst_str(i, A_CUSTOM_CALL_TARGET)),
                   s->foreign.entry ? ", user code" : "");
    if (out->size == after)
        out->size = before;
}
