/*
 * Collectives, where nobody but this participant is in the group: then they are identities.
 */
#include "eval/eval_priv.h"

struct me {
    int64_t replica, partition, replicas, partitions;
};

static struct me who_am_i(const struct eval *ev)
{
    const struct module *m = ev->p->module;
    const struct plan_options *o = &ev->p->options;
    return (struct me){o->replica, o->partition, m->replica_count, m->num_partitions};
}

enum mode { CROSS_REPLICA, CROSS_PARTITION, CROSS_BOTH, FLATTENED }; /* hlo-values 16.2 */

static enum mode mode_of(const struct inst *i)
{
    bool channel = inst_has(i, A_CHANNEL_ID);
    switch (i->opcode) {
    case OP_ALL_REDUCE:
    case OP_ALL_REDUCE_START:
    case OP_ALL_GATHER:
    case OP_ALL_GATHER_START:
    case OP_REDUCE_SCATTER:
        return !channel ? CROSS_REPLICA : inst_bool(i, A_USE_GLOBAL_DEVICE_IDS) ? FLATTENED : CROSS_BOTH;
    default: return channel ? CROSS_PARTITION : CROSS_REPLICA;
    }
}

static int64_t id_of(const struct me *me, enum mode mode)
{
    return mode == CROSS_PARTITION ? me->partition
           : mode == FLATTENED     ? me->replica * me->partitions + me->partition
                                   : me->replica;
}

static int64_t everybody(const struct me *me, enum mode mode)
{
    return mode == CROSS_PARTITION ? me->partitions
           : mode == FLATTENED     ? me->replicas * me->partitions
                                   : me->replicas;
}

/* How many share the group with me, me included; 0: I am in none. */
static int64_t group_size(const struct inst *i, const struct me *me)
{
    enum mode mode = mode_of(i);
    const struct attr *a = inst_attr(i, A_REPLICA_GROUPS);
    const struct device_list *list = a ? a->v.groups : NULL;
    int64_t ids = everybody(me, mode), id = id_of(me, mode);
    if (list && list->form != GROUPS_LIST)
        ids = list->group_size;
    else if (list && list->groups.count > 0) {
        ids = 0;
        for (int64_t g = 0; g < list->groups.count; g++)
            for (int64_t k = 0; k < list->groups.at[g].count; k++)
                if (list->groups.at[g].at[k] == id)
                    ids = list->groups.at[g].count;
    }
    return mode == CROSS_BOTH ? ids * me->partitions : ids;
}

static bool number(struct eval *ev, const struct step *s, int64_t n)
{
    struct view *out = eval_result(ev, s, 0);
    uint32_t v = (uint32_t)n;
    if (out)
        memcpy(out->data, &v, sizeof v);
    return out != NULL;
}

static bool not_alone(struct eval *ev, const struct step *s)
{
    return EVAL_FAIL(ev, s, UNSUPPORTED, op_spelling(s->inst->opcode), "several participants");
}

static bool same_dims(const struct view *v, const struct shape *s)
{
    bool same = v->rank == s->rank && v->dtype == s->dtype;
    for (int d = 0; d < v->rank && same; d++)
        same = v->dims[d] == s->dims[d];
    return same;
}

static bool identity(struct eval *ev, const struct step *s)
{
    if (s->operand_count != s->result_count)
        return eval_unsupported(ev, s);
    for (int r = 0; r < s->result_count; r++) {
        const struct view *x = eval_view(ev, s, r);
        if (!same_dims(x, s->shapes[r]))
            return not_alone(ev, s);
        if (!eval_alias(ev, s, r, r, x))
            return false;
    }
    return true;
}

static bool zeros(struct eval *ev, const struct step *s)
{
    for (int r = 0; r < s->result_count; r++) {
        struct view *out = eval_result(ev, s, r);
        if (!out)
            return false;
        memset(out->data, 0, (size_t)view_elements(out) * dtype_bytes(out->dtype));
    }
    return true;
}

static bool permute(struct eval *ev, const struct step *s, const struct me *me)
{
    const struct ints_list pairs = inst_attr(s->inst, A_SOURCE_TARGET_PAIRS)->v.ints_list;
    int64_t id = id_of(me, mode_of(s->inst));
    for (int64_t k = 0; k < pairs.count; k++)
        if (pairs.at[k].count == 2 && pairs.at[k].at[1] == id)
            return pairs.at[k].at[0] == id ? identity(ev, s) : not_alone(ev, s);
    return zeros(ev, s);
}

/* Slices of the input to slices of the output, from me to me. */
static bool ragged(struct eval *ev, const struct step *s)
{
    int64_t at[3]; /* where from, how many, where to */
    struct view from, to, rows;
    const struct view *x = eval_view(ev, s, 0);
    struct view *out = s->operand_count == 6 ? eval_update(ev, s, 0, 1) : NULL;
    if (!out)
        return s->operand_count != 6 && eval_unsupported(ev, s);
    view_copy(&rows, eval_view(ev, s, 2));
    for (int64_t k = 0; k < view_elements(&rows); k++) {
        for (int j = 0; j < 3; j++) {
            const struct view *v = eval_view(ev, s, 2 + j);
            at[j] = kern_load_index(v->dtype, v->data + k * v->strides[v->rank - 1]);
        }
        if (at[0] < 0 || at[1] < 0 || at[2] < 0 || at[0] > x->dims[0] - at[1] || at[2] > out->dims[0] - at[1])
            return EVAL_FAIL(ev, s, UNSUPPORTED, op_spelling(s->inst->opcode), "slices outside the array");
        view_copy(&from, x);
        view_copy(&to, out);
        from.data += at[0] * from.strides[0];
        to.data += at[2] * to.strides[0];
        from.dims[0] = to.dims[0] = at[1];
        kern_copy(&to, &from);
    }
    return true;
}

bool eval_collective(struct eval *ev, const struct step *s)
{
    struct me me = who_am_i(ev);
    switch (s->inst->opcode) {
    case OP_REPLICA_ID: return number(ev, s, me.replica);
    case OP_PARTITION_ID: return number(ev, s, me.partition);
    case OP_COLLECTIVE_PERMUTE:
    case OP_COLLECTIVE_PERMUTE_START: return permute(ev, s, &me);
    case OP_COLLECTIVE_BROADCAST:
        if (group_size(s->inst, &me) == 0)
            return zeros(ev, s);
        break;
    default: break;
    }
    if (group_size(s->inst, &me) != 1)
        return not_alone(ev, s);
    return s->inst->opcode == OP_RAGGED_ALL_TO_ALL ? ragged(ev, s) : identity(ev, s);
}
