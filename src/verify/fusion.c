/*
 * fusion.c: checks that each fused computation is called by a single fusion and matches it, and
 * that all its instructions except the root have users.
 */
#include "verify/verify_priv.h"

/* Whether an instruction of a fusion may lack users, since it has a side effect. */
static bool has_side_effect(const struct inst *i)
{
    const struct op_info *op = &op_table[i->opcode];
    const bool in_pair = op->class == CLASS_ASYNC_PAIR && op->family == FAMILY_collective;
    return inst_has_effect(i) || in_pair || i->opcode == OP_COLLECTIVE_BROADCAST ||
           inst_bool(i, A_CONSTRAIN_LAYOUT);
}

static bool check_body(struct verify *v, const struct inst *fusion, const struct computation *c)
{
    if (c->root->user_count)
        return report_computation(&v->infer, fusion, c, "root '" STR_FMT "' must not have users",
                                  STR_ARG(c->root->name));
    for (int k = 0; k < c->inst_count; k++) {
        const struct inst *i = c->insts[k];
        if (i != c->root && !i->user_count && !has_side_effect(i))
            return report_computation(&v->infer, fusion, c, "'" STR_FMT "' is unused",
                                      STR_ARG(i->name));
    }
    return true;
}

static bool check_fit(struct verify *v, const struct inst *i, const struct computation *c)
{
    if (c->param_count > i->operand_count)
        return report_computation(&v->infer, i, c,
                                  "has %d parameters, but the fusion has %d operands",
                                  c->param_count, i->operand_count);
    for (int k = 0; k < c->param_count; k++)
        if (!infer_same(&v->infer, c->params[k]->shape, operand_shape(i, k)))
            return report_operand(&v->infer, i, k, "%s as the parameter",
                                  report_text(&v->infer, c->params[k]->shape));
    return infer_same(&v->infer, c->root->shape, i->shape) ||
           report_result(&v->infer, i, c->root->shape);
}

/* Checks all fusions, and that no two call the same computation. */
bool verify_fusions(struct verify *v)
{
    const struct inst **owner = ARENA_ARRAY(v->arena, const struct inst *, v->m->computation_count);
    bool ok = true;
    for (struct inst *i = NULL; (i = module_next(v->m, i)) != NULL;) {
        if (i->opcode != OP_FUSION)
            continue;
        const struct computation *c = inst_computation(i, A_CALLS);
        if (owner[c->index])
            ok = report_computation(&v->infer, i, c, "is called by another fusion");
        else
            ok &= check_body(v, i, c) && check_fit(v, i, c) && verify_aliasing(v, i);
        owner[c->index] = i;
    }
    return ok;
}
