/*
 * group.c: the replica group of this participant in a collective, in order, and its sources and
 * targets in a collective-permute (grammar/values.md 16.2).
 */
#include "eval/eval_priv.h"

/* ---- ids of the attributes ---- */

/* The position of member k of the group of position p: members differ along the axes, of which the
 * last varies fastest. */
static int64_t mesh_member(const struct device_list *d, int64_t p, int64_t k)
{
    for (int j = d->axes->count - 1; j >= 0; j--) {
        int64_t size = mesh_axis_size(d->mesh, d->axes->at[j]),
                stride = mesh_axis_stride(d->mesh, d->axes->at[j]);
        p += (k % size - p / stride % size) * stride;
        k /= size;
    }
    return p;
}

/* Member k of group g; in a mesh, g is a position in the group. */
static int64_t listed_id(const struct device_list *d, int64_t g, int64_t k)
{
    switch (d->form) {
    case GROUPS_LIST: return d->groups.at[g].at[k];
    case GROUPS_IOTA: return iota_order_at(&d->order, g * d->group_size + k);
    default: return mesh_device_at(d->mesh, mesh_member(d, g, k));
    }
}

/* The number of members in this id's group, and the index of the group; 0: it is in none. */
static int64_t find_group(const struct device_list *d, int64_t id, int64_t *g)
{
    int64_t count = d->form == GROUPS_LIST ? d->groups.count : d->group_count;
    if (d->form == GROUPS_MESH)
        count *= d->group_size; /* every position */
    for (*g = 0; *g < count; ++*g) {
        int64_t size = d->form == GROUPS_LIST ? d->groups.at[*g].count : d->group_size;
        if (d->form == GROUPS_MESH && mesh_device_at(d->mesh, *g) == id)
            return size;
        for (int64_t k = 0; k < size && d->form != GROUPS_MESH; k++)
            if (listed_id(d, *g, k) == id)
                return size;
    }
    return 0;
}

/* ---- ids as participants ---- */

struct replica_ids {
    int64_t replica, partition, replicas, partitions;
};

static struct replica_ids replica_ids_of(const struct eval *ev)
{
    const struct module *m = ev->p->module;
    const uint32_t *ids = ev->state->scalar_run.ids;
    return (struct replica_ids){ids[SCALAR_REPLICA], ids[SCALAR_PARTITION], m->replica_count,
                                m->num_partitions};
}

/* The number of ids in this mode. */
static int64_t ids_of(const struct replica_ids *c, int mode)
{
    return mode == E_MODE_CROSS_PARTITION ? c->partitions
           : mode == E_MODE_FLATTENED_ID  ? c->replicas * c->partitions
                                          : c->replicas;
}

/* The participant with this id; -1: none. In mode CROSS_REPLICA_AND_PARTITION, the first
 * partition of the replica. */
static int64_t named(const struct replica_ids *c, int mode, int64_t id)
{
    if (id < 0 || id >= ids_of(c, mode))
        return -1;
    switch (mode) {
    case E_MODE_CROSS_PARTITION: return c->replica * c->partitions + id;
    case E_MODE_FLATTENED_ID: return id;
    case E_MODE_CROSS_REPLICA: return id * c->partitions + c->partition;
    default: return id * c->partitions;
    }
}

static int64_t own_id(const struct replica_ids *c, int mode)
{
    return mode == E_MODE_CROSS_PARTITION ? c->partition
           : mode == E_MODE_FLATTENED_ID  ? c->replica * c->partitions + c->partition
                                          : c->replica;
}

static bool unknown_participant(struct eval *ev, const struct step *s, int64_t id)
{
    struct replica_ids c = replica_ids_of(ev);
    return EVAL_FAIL(ev, s, NO_PARTICIPANT, op_spelling(s->inst->opcode), id, c.replicas,
                     c.partitions);
}

static bool fill(struct eval *ev, const struct step *s, const struct device_list *d, int64_t g,
                 int mode, struct peers *out)
{
    struct replica_ids c = replica_ids_of(ev);
    int64_t each = mode == E_MODE_CROSS_REPLICA_AND_PARTITION ? c.partitions : 1,
            self = eval_self(ev);
    int64_t n = out->count;
    out->members = ARENA_ARRAY(&ev->scratch, int64_t, n * each);
    out->count = 0;
    out->me = -1;
    for (int64_t k = 0; k < n; k++) {
        int64_t id = d ? listed_id(d, g, k) : k, first = named(&c, mode, id);
        if (first < 0)
            return unknown_participant(ev, s, id);
        for (int64_t j = 0; j < each; j++) {
            if (first + j == self)
                out->me = out->count;
            out->members[out->count++] = first + j;
        }
    }
    return true;
}

bool eval_peers(struct eval *ev, const struct step *s, struct peers *out)
{
    const struct attr *a = inst_attr(s->inst, A_REPLICA_GROUPS);
    const struct device_list *d = a ? a->v.groups : NULL;
    struct replica_ids c = replica_ids_of(ev);
    int mode = inst_group_mode(s->inst);
    int64_t g = 0;
    *out = (struct peers){.me = -1};
    if (d && d->form == GROUPS_LIST && d->groups.count == 0)
        d = NULL;
    if (d && d->form != GROUPS_LIST && d->group_count > ids_of(&c, mode) / d->group_size)
        return unknown_participant(
            ev, s, ids_of(&c, mode)); /* the groups have more ids than there are participants */
    out->count = d ? find_group(d, own_id(&c, mode), &g) : ids_of(&c, mode);
    return fill(ev, s, d, g, mode, out);
}

int64_t eval_self(const struct eval *ev)
{
    struct replica_ids c = replica_ids_of(ev);
    return own_id(&c, E_MODE_FLATTENED_ID);
}

/* ---- pairs of sources and targets ---- */

bool eval_partners(struct eval *ev, const struct step *s, struct ints_list pairs, int mode,
                   struct partners *out)
{
    struct replica_ids c = replica_ids_of(ev);
    int64_t me = own_id(&c, mode);
    *out = (struct partners){.targets = ARENA_ARRAY(&ev->scratch, int64_t, pairs.count),
                             .sources = ARENA_ARRAY(&ev->scratch, int64_t, pairs.count)};
    for (int64_t k = 0; k < pairs.count; k++) {
        if (pairs.at[k].count != 2)
            continue;
        int64_t from = pairs.at[k].at[0], to = pairs.at[k].at[1];
        if (from == me && (out->targets[out->target_count++] = named(&c, mode, to)) < 0)
            return unknown_participant(ev, s, to);
        if (to == me && (out->sources[out->source_count++] = named(&c, mode, from)) < 0)
            return unknown_participant(ev, s, from);
    }
    return true;
}

struct tag eval_tag(const struct inst *i, bool channel)
{
    struct tag t = {.op = i->opcode, .is_channel = channel && inst_has(i, A_CHANNEL_ID)};
    t.number = t.is_channel ? inst_int(i, A_CHANNEL_ID, 0)
                            : (int64_t)((uint64_t)i->parent->index << 32 | (uint32_t)i->index);
    return t;
}
