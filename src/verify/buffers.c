/*
 * Where buffers `b(...)` may stand, and that each buffer value is written at most once.
 */
#include "verify/verify.h"

static bool has_buffer(const struct shape *s)
{
    if (s->dtype == DT_BUFFER)
        return true;
    for (int k = 0; s->dtype == DT_TUPLE && k < s->count; k++)
        if (has_buffer(s->elements[k]))
            return true;
    return false;
}

/* Leaves of a shape, a buffer being one leaf. */
static int leaves(const struct shape *s)
{
    if (s->dtype != DT_TUPLE)
        return 1;
    int n = 0;
    for (int k = 0; k < s->count; k++)
        n += leaves(s->elements[k]);
    return n;
}

static bool leaf_is_buffer(const struct shape *s, int *leaf)
{
    if (s->dtype != DT_TUPLE)
        return (*leaf)-- == 0 && s->dtype == DT_BUFFER;
    for (int k = 0; k < s->count && *leaf >= 0; k++)
        if (leaf_is_buffer(s->elements[k], leaf))
            return true;
    return false;
}

/* The leaf number of an index path; -1 when there is none. */
static int leaf_of_index(const struct shape *s, struct ints index)
{
    int at = 0;
    for (int64_t d = 0; d < index.count; d++) {
        if (s->dtype != DT_TUPLE || index.at[d] < 0 || index.at[d] >= s->count)
            return -1;
        for (int k = 0; k < index.at[d]; k++)
            at += leaves(s->elements[k]);
        s = s->elements[index.at[d]];
    }
    return s->dtype == DT_TUPLE ? -1 : at;
}

/* ---- where they may stand ---- */

static bool any_buffer_operand(const struct inst *i, int from)
{
    for (int k = from; k < i->operand_count; k++)
        if (has_buffer(i->operands[k]->shape))
            return true;
    return false;
}

static bool has_stream_annotation(const struct inst *i)
{
    const struct attr *f = inst_attr(i, A_FRONTEND_ATTRIBUTES);
    for (int k = 0; f && k < f->v.frontend.count; k++)
        if (str_is(f->v.frontend.at[k].key, "_xla_stream_annotation"))
            return true;
    return false;
}

static bool may_hold_buffers(const struct verify *v, const struct inst *i)
{
    switch ((enum opcode)i->opcode) {
    case OP_CUSTOM_CALL: case OP_WHILE: case OP_TUPLE: case OP_GET_TUPLE_ELEMENT:
    case OP_ASYNC_START: case OP_ASYNC_UPDATE: case OP_ASYNC_DONE:
        return true;
    case OP_PARAMETER:
        return i->parent != v->m->entry;
    case OP_DYNAMIC_UPDATE_SLICE:
        return i->shape->dtype == DT_BUFFER && !any_buffer_operand(i, 1);
    case OP_CALL:
        return has_stream_annotation(i);
    default:
        return false;
    }
}

/* ---- custom calls ---- */

/* How often each leaf of `s` is named by the operand side (operand >= 0) or output side of the aliases. */
static int alias_count(const struct inst *i, const struct shape *s, int operand, int leaf)
{
    const struct attr *a = inst_attr(i, A_OUTPUT_TO_OPERAND_ALIASING);
    int n = 0;
    for (int k = 0; a && k < a->v.aliasing.count; k++) {
        const struct alias *e = &a->v.aliasing.at[k];
        if (operand >= 0 && e->operand != operand)
            continue;
        n += leaf_of_index(s, operand >= 0 ? e->index : e->output) == leaf;
    }
    return n;
}

static bool aliased_once(struct verify *v, const struct inst *i, const struct shape *s, int operand)
{
    int n = leaves(s);
    for (int leaf = 0; leaf < n; leaf++) {
        int at = leaf;
        if (leaf_is_buffer(s, &at) && alias_count(i, s, operand, leaf) != 1) {
            struct str what = operand < 0 ? str_of("the result") : arena_printf(v->arena, "operand %d", operand);
            return DIAG_ERROR(v->ds, i->opcode_span, BUFFER_ALIAS, STR_ARG(what));
        }
    }
    return true;
}

/* Pin makes a buffer of an array, Unpin an array of a buffer; both name the alias. */
static bool check_pin(struct verify *v, const struct inst *i, bool pin)
{
    const char *target = pin ? "Pin" : "Unpin";
    const struct attr *a = inst_attr(i, A_OUTPUT_TO_OPERAND_ALIASING);
    const struct shape *from = i->operand_count == 1 ? i->operands[0]->shape : NULL;
    const struct shape *array = pin ? from : i->shape, *buffer = pin ? i->shape : from;
    if (!from || !array || !shape_is_array(array) || buffer->dtype != DT_BUFFER ||
        !shape_compatible(array, buffer->elements[0]) || !a || a->v.aliasing.count != 1)
        return DIAG_ERROR(v->ds, i->opcode_span, BUFFER_PIN, target, pin ? "an array" : "a buffer",
                          pin ? "a buffer" : "an array");
    return true;
}

static bool check_custom_call(struct verify *v, const struct inst *i)
{
    struct str target = inst_str(i, A_CUSTOM_CALL_TARGET);
    if (str_is(target, "Pin") || str_is(target, "Unpin"))
        return check_pin(v, i, str_is(target, "Pin"));
    if (str_is(target, "CreateBuffer")) {
        if (i->operand_count || i->shape->dtype != DT_BUFFER)
            return DIAG_ERROR(v->ds, i->opcode_span, BUFFER_CREATE);
        return true;
    }
    for (int k = 0; k < i->operand_count; k++)
        if (!aliased_once(v, i, i->operands[k]->shape, k))
            return false;
    return aliased_once(v, i, i->shape, -1);
}

/* ---- one writer ---- */

static bool is_writer(const struct inst *i)
{
    switch ((enum opcode)i->opcode) {
    case OP_CUSTOM_CALL: case OP_WHILE: case OP_CONDITIONAL: case OP_CALL: case OP_FUSION:
    case OP_DYNAMIC_UPDATE_SLICE: case OP_ASYNC_START: case OP_ASYNC_UPDATE:
        return true;
    default:
        return false;
    }
}

/* Adds the writers that one use gives to each leaf of operand `k` of `user`. */
static void add_use(const struct inst *user, int k, int **writers, int *mine, int n)
{
    int from = 0;
    if (user->opcode == OP_TUPLE) {
        for (int e = 0; e < k; e++)
            from += leaves(user->operands[e]->shape);
        for (int leaf = 0; leaf < n; leaf++)
            mine[leaf] += writers[user->index][from + leaf];
    } else if (user->opcode == OP_GET_TUPLE_ELEMENT) {
        int64_t index = inst_int(user, A_INDEX, 0);
        for (int64_t e = 0; e < index; e++)
            from += leaves(user->operands[0]->shape->elements[e]);
        for (int leaf = 0; leaf < leaves(user->shape); leaf++)
            mine[from + leaf] += writers[user->index][leaf];
    } else if (is_writer(user)) {
        for (int leaf = 0; leaf < n; leaf++)
            mine[leaf]++;
    }
}

static bool is_while_body(const struct verify *v, const struct computation *c)
{
    for (int k = 0; k < v->m->computation_count; k++) {
        const struct computation *comp = v->m->computations[k];
        for (int j = 0; j < comp->inst_count; j++)
            if (comp->insts[j]->opcode == OP_WHILE && inst_computation(comp->insts[j], A_BODY) == c)
                return true;
    }
    return false;
}

/* Users stand after what they use, so one pass from the end knows every user's own count. */
static bool check_writers(struct verify *v, const struct computation *c)
{
    int **writers = ARENA_ARRAY(v->arena, int *, c->inst_count);
    for (int k = 0; k < c->inst_count; k++)
        writers[k] = ARENA_ARRAY(v->arena, int, leaves(c->insts[k]->shape));
    if (has_buffer(c->root->shape) && is_while_body(v, c))
        for (int leaf = 0; leaf < leaves(c->root->shape); leaf++)
            writers[c->root->index][leaf]++;
    bool ok = true;
    for (int k = c->inst_count - 1; k >= 0; k--) {
        const struct inst *i = c->insts[k];
        for (int leaf = 0; leaf < leaves(i->shape); leaf++) {
            int at = leaf;
            if (writers[k][leaf] > 1 && leaf_is_buffer(i->shape, &at) && i->opcode != OP_TUPLE &&
                i->opcode != OP_GET_TUPLE_ELEMENT)
                ok = DIAG_ERROR(v->ds, i->name_span, BUFFER_WRITERS, STR_ARG(i->name), writers[k][leaf]);
        }
        for (int o = 0; o < i->operand_count; o++) {
            const struct inst *operand = i->operands[o];
            if (has_buffer(operand->shape))
                add_use(i, o, writers, writers[operand->index], leaves(operand->shape));
        }
    }
    return ok;
}

bool verify_buffers(struct verify *v)
{
    bool ok = true;
    for (int k = 0; k < v->m->computation_count; k++) {
        const struct computation *c = v->m->computations[k];
        bool seen = false;
        for (int j = 0; j < c->inst_count; j++) {
            const struct inst *i = c->insts[j];
            if (!has_buffer(i->shape) && !any_buffer_operand(i, 0))
                continue;
            seen = true;
            if (!may_hold_buffers(v, i) && (has_buffer(i->shape) || any_buffer_operand(i, 0)))
                ok = DIAG_ERROR(v->ds, i->opcode_span, BUFFER_PLACE, op_spelling(i->opcode));
            else if (i->opcode == OP_CUSTOM_CALL)
                ok &= check_custom_call(v, i);
        }
        if (seen && ok)
            ok = check_writers(v, c);
    }
    return ok;
}
