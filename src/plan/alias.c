/*
 * alias.c: finds live instructions, and those whose results are aliases of existing values.
 *
 * Values are immutable (storage is only reused from values that are not read again), so a copy, a
 * tuple or a barrier is an alias of its operand.
 */
#include "plan/plan_priv.h"

int64_t leaf_count(const struct shape *s)
{
    return min_i64(shape_leaf_count(s), (int64_t)PLAN_MAX_LEAVES + 1);
}

struct leaves leaves_component(const struct shape *s, struct leaves l, int64_t index)
{
    return (struct leaves){(int)leaf_count(s->elements[index]), l.at + shape_first_leaf(s, index)};
}

/* ---- renaming ---- */

static struct leaves operand_leaves(const struct inst *i, const struct leaves *env, int k)
{
    return env[i->operands[k]->index];
}

static void join_operands(struct planner *pl, const struct inst *i, const struct leaves *env,
                          struct leaves *out)
{
    int n = 0;
    for (int k = 0; k < i->operand_count; k++)
        n += operand_leaves(i, env, k).count;
    *out = (struct leaves){0, ARENA_ARRAY(&pl->scratch, int, n)};
    for (int k = 0; k < i->operand_count; k++) {
        struct leaves l = operand_leaves(i, env, k);
        for (int j = 0; j < l.count; j++)
            out->at[out->count++] = l.at[j];
    }
}

static void no_values(struct planner *pl, int n, struct leaves *out)
{
    *out = (struct leaves){n, ARENA_ARRAY(&pl->scratch, int, n)};
    for (int j = 0; j < n; j++)
        out->at[j] = NO_VALUE;
}

/* The leaves of copy-start: the copy, the operand, and a context that is never read. */
static void rename_copy_start(struct planner *pl, const struct inst *i, const struct leaves *env,
                              struct leaves *out)
{
    struct leaves l = operand_leaves(i, env, 0);
    no_values(pl, (int)leaf_count(i->shape), out);
    for (int j = 0; j < l.count; j++)
        out->at[j] = out->at[l.count + j] = l.at[j];
    for (int e = 2, j = 2 * l.count; e < i->shape->count; e++)
        if (shape_is_array(i->shape->elements[e]))
            out->at[j++] = plan_zero(pl, i->shape->elements[e]);
}

/* Targets that mark a place, a device, a layout or a bound and pass their operand through. Those
 * that convert between the shape of all devices and that of one, in either direction, pass it
 * through where both shapes are the same. */
static bool is_marker(const struct inst *i)
{
    static const char *const targets[] = {
        "LayoutConstraint",
        "MoveToDevice",
        "MoveToHost",
        "Pin",
        "SPMDFullToShardShape",
        "SPMDShardToFullShape",
        "SetBound",
        "ShardBarrierFrom",
        "ShardBarrierTo",
        "Sharding",
        "Unpin",
        "annotate_device_placement",
        "xla.sdy.FuncResultSharding",
        "xla.sdy.GlobalToLocalShape",
        "xla.sdy.LocalToGlobalShape",
        "xla.sdy.PropagationBarrier",
    };
    struct str target = inst_str(i, A_CUSTOM_CALL_TARGET);
    if (str_starts(target, STR("__xla_internal_call_marker_")))
        return true;
    for (size_t k = 0; k < COUNT_OF(targets); k++)
        if (str_is(target, targets[k]))
            return true;
    return false;
}

struct foreign_target plan_foreign(const struct program *p, const struct inst *i, bool fallback)
{
    const struct foreign *f = &p->options.foreign;
    return f->find ? f->find(f->context, inst_str(i, A_CUSTOM_CALL_TARGET), fallback)
                   : (struct foreign_target){0};
}

bool plan_is_lapack(const struct program *p, const struct inst *i)
{
    return i->opcode == OP_CUSTOM_CALL && inst_callees(i, NULL) == 0 &&
           str_starts(inst_str(i, A_CUSTOM_CALL_TARGET), STR("lapack_")) &&
           !plan_foreign(p, i, false).entry;
}

bool plan_alias(struct planner *pl, const struct inst *i, const struct leaves *env,
                struct leaves *out)
{
    const struct shape *s = i->operand_count ? i->operands[0]->shape : NULL;
    switch (i->opcode) {
    case OP_TUPLE: return join_operands(pl, i, env, out), true;
    case OP_GET_TUPLE_ELEMENT:
        return *out = leaves_component(s, operand_leaves(i, env, 0), inst_int(i, A_INDEX, 0)), true;
    case OP_COPY_DONE: return *out = leaves_component(s, operand_leaves(i, env, 0), 0), true;
    case OP_ALL_GATHER_DONE:
    case OP_COLLECTIVE_PERMUTE_DONE:
        return *out = leaves_component(s, operand_leaves(i, env, 0), 1), true;
    case OP_COPY_START: return rename_copy_start(pl, i, env, out), true;
    case OP_AFTER_ALL: return no_values(pl, 1, out), true;
    case OP_CUSTOM_CALL:
        if (!s || !is_marker(i) || plan_foreign(pl->p, i, false).entry)
            return false;
        /* fallthrough */
    case OP_COPY:
    case OP_BITCAST: /* a bitcast of an array may reorder its elements */
        if (i->opcode == OP_BITCAST && shape_is_array(s))
            return false;
        /* fallthrough */
    case OP_OPT_BARRIER:
    case OP_DOMAIN:
    case OP_ADD_DEPENDENCY:
    case OP_ALL_REDUCE_DONE:
        if (!same_elements(s, i->shape))
            return false;
        return *out = operand_leaves(i, env, 0), true;
    default: return false;
    }
}

/* ---- live instructions ---- */

static bool has_effect(struct planner *pl, const struct computation *c);

bool plan_has_effect(struct planner *pl, const struct inst *i)
{
    if (!pl->any_effect)
        return false;
    if (inst_has_effect(i))
        return true;
    int n;
    struct computation **callees = inst_callee_list(&pl->scratch, i, &n);
    for (int k = 0; k < n; k++)
        if (has_effect(pl, callees[k]))
            return true;
    return false;
}

static bool has_effect(struct planner *pl, const struct computation *c)
{
    uint8_t *known = &pl->effects[c->index];
    if (*known != KNOWN_NOTHING)
        return *known == KNOWN_YES;
    if (pl->depth >= PLAN_MAX_DEPTH)
        return true; /* too deeply nested; planning reports that */
    pl->depth++;
    *known = KNOWN_NO;
    for (int k = 0; k < c->inst_count && *known == KNOWN_NO; k++)
        if (plan_has_effect(pl, c->insts[k]))
            *known = KNOWN_YES;
    pl->depth--;
    return *known == KNOWN_YES;
}

/* ---- updates of a large array are delayed until its other readers are done ---- */

enum {
    MIN_FOR_WAITING = 4096,
    MAX_WAITED_FOR = 4096
}; /* bytes of the array; instructions visited */

static bool updates_large(const struct inst *i)
{
    int64_t bytes;
    return op_is(i->opcode, OP_UPDATES) && shape_is_array(i->shape) &&
           shape_bytes(i->shape, &bytes) && bytes >= MIN_FOR_WAITING;
}

static bool same_value(const struct inst *a, const struct inst *b)
{
    return a == b ||
           (a->opcode == OP_GET_TUPLE_ELEMENT && b->opcode == OP_GET_TUPLE_ELEMENT &&
            a->operands[0] == b->operands[0] && inst_int(a, A_INDEX, 0) == inst_int(b, A_INDEX, 0));
}

static bool reads(const struct inst *i, const struct inst *x)
{
    for (int k = 0; k < i->operand_count; k++)
        if (same_value(i->operands[k], x))
            return true;
    return false;
}

static bool must_follow(const struct inst *i, const struct inst *x)
{
    const struct attr *control = inst_attr(i, A_CONTROL_PREDECESSORS);
    for (int k = 0; control && k < control->v.insts.count; k++)
        if (control->v.insts.at[k] == x)
            return true;
    return reads(i, x);
}

/* Delays an update whose array is read between the update and the first use of its result:
 * otherwise the array would have to be copied. */
static void delay_updates(struct inst **order, int count)
{
    for (int k = count - 1; k >= 0; k--) {
        struct inst *update = order[k];
        int to = k, next = k + 1;
        if (!updates_large(update))
            continue;
        for (; next < count && next - k < MAX_WAITED_FOR && !must_follow(order[next], update);
             next++)
            if (reads(order[next], update->operands[0]) && !updates_large(order[next]))
                to = next;
        for (int j = k; j < to; j++)
            order[j] = order[j + 1];
        order[to] = update;
    }
}

struct inst **plan_live(struct planner *pl, const struct computation *c, int *count)
{
    struct inst **order = plan_order(pl, c);
    bool *live = ARENA_ARRAY(&pl->scratch, bool, c->inst_count);
    const struct inst **stack = ARENA_ARRAY(&pl->scratch, const struct inst *, c->inst_count + 1);
    int top = 0;
    for (int k = 0; k < c->inst_count; k++)
        if (c->insts[k] == c->root || plan_has_effect(pl, c->insts[k])) {
            live[c->insts[k]->index] = true;
            stack[top++] = c->insts[k];
        }
    while (top > 0) {
        const struct inst *i = stack[--top];
        for (int k = 0; k < i->operand_count; k++)
            if (!live[i->operands[k]->index]) {
                live[i->operands[k]->index] = true;
                stack[top++] = i->operands[k];
            }
    }
    int n = 0;
    for (int k = 0; k < c->inst_count; k++)
        if (live[order[k]->index])
            order[n++] = order[k];
    *count = n;
    if (!c->module->is_scheduled)
        delay_updates(order, n);
    return order;
}
