/*
 * gather.c: gathers and scatters read the components of their index tuples from separate arrays if
 * the indices are a concatenation of them, which then need not be computed: clients make the
 * indices of x[i, j] in this way.
 */
#include "plan/plan_priv.h"

static bool reads_components(const struct step *s)
{
    const struct inst *i = s->inst;
    if (i->opcode == OP_GATHER)
        return s->operand_count == 2;
    return i->opcode == OP_SCATTER && s->operand_count == 3;
}

/* The step that concatenates one array for each component, or NULL. */
static const struct step *find_components(const struct build *b, const struct step *s)
{
    struct kern_gather_dims dims;
    const int at = s->operands[1] >= 0 ? b->maker[s->operands[1]] : -1;
    const struct step *c = at >= 0 ? &b->f->steps[at] : NULL;
    if (!c || c->inst->opcode != OP_CONCATENATE || c->operand_count != c->inst->operand_count ||
        !same_elements(c->inst->shape, s->inst->operands[1]->shape))
        return NULL;
    plan_gather_dims(s->inst, &dims);
    bool ok = inst_ints(c->inst, A_DIMENSIONS).at[0] == dims.index_vector_dim &&
              c->operand_count == dims.map_count;
    for (int k = 0; k < c->operand_count && ok; k++) {
        const struct shape *x = c->inst->operands[k]->shape;
        ok = x->dims[dims.index_vector_dim] == 1 && x->dtype == c->inst->shape->dtype &&
             c->operands[k] != NO_VALUE;
    }
    return ok ? c : NULL;
}

void plan_split_indices(struct build *b, struct step *s)
{
    const struct step *c =
        plan_optimises(b->pl) && reads_components(s) ? find_components(b, s) : NULL;
    if (!c)
        return;
    const int n = c->operand_count, count = s->operand_count + n - 1;
    int *operands = ARENA_ARRAY(build_arena(b), int, count),
        *starts = ARENA_ARRAY(build_arena(b), int, s->inst->operand_count + 1);
    operands[0] = s->operands[0];
    memcpy(operands + 1, c->operands, (size_t)n * sizeof *operands);
    if (s->operand_count > 2)
        operands[n + 1] = s->operands[2];
    for (int k = 1; k <= s->inst->operand_count; k++)
        starts[k] = k == 1 ? 1 : k + n - 1;
    s->operands = operands;
    s->starts = starts;
    s->operand_count = count;
    b->pl->p->stats.simplified++;
}
