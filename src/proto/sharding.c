/*
 * sharding.c: shardings, meshes and lists of devices as text.
 */
#include "proto/proto_priv.h"

/* ---- orders of devices ---- */

/* `[4,2]T(1,0)`; an order of one dimension is not transposed. */
static bool put_iota(struct reader *r, size_t rank, const int64_t *dims, size_t perm_count,
                     const int32_t *perm)
{
    if (rank != perm_count && perm_count != 0)
        return proto_error(r, "iota_transpose_perm", -1, "%zu entries, expected %zu", perm_count,
                           rank);
    proto_put_ints(r->out, rank, dims, "[]");
    if (rank < 2)
        return true;
    buf_putc(r->out, 'T');
    for (size_t k = 0; BUF_LIST(r->out, k, rank, "()", ","); k++)
        buf_int(r->out, perm_count ? perm[k] : (int64_t)k);
    return true;
}

static bool put_transform(struct reader *r, const Xla__MeshProto__IotaTransform *t)
{
    int32_t *perm = ARENA_ARRAY(&r->scratch, int32_t, t->n_transpose_perm);
    for (size_t k = 0; k < t->n_transpose_perm; k++)
        perm[k] = (int32_t)t->transpose_perm[k];
    return put_iota(r, t->n_reshape_dims, t->reshape_dims, t->n_transpose_perm, perm);
}

/* ---- meshes ---- */

static bool put_mesh(struct reader *r, const Xla__MeshProto *m)
{
    struct buf *out = r->out;
    if (!m)
        return proto_error(r, "mesh", -1, "mesh is missing");
    if (m->n_axes == 0 && m->n_device_ids == 1) {
        buf_printf(out, "maximal_mesh[device_id=%" PRId64 "]", m->device_ids[0]);
        return true;
    }
    buf_puts(out, "mesh");
    for (size_t k = 0; BUF_LIST(out, k, m->n_axes, "[]", ","); k++)
        buf_printf(out, "'%s'=%" PRId64, m->axes[k]->name, m->axes[k]->size);
    if (!m->iota_transform && m->n_device_ids == 0)
        return true;
    buf_puts(out, ", device_ids=(");
    if (!m->iota_transform)
        proto_put_ints(out, m->n_device_ids, m->device_ids, "");
    else if (!put_transform(r, m->iota_transform))
        return false;
    buf_putc(out, ')');
    return true;
}

static bool put_axis(struct reader *r, const Xla__MeshProto *m, const Xla__AxisRefProto *a)
{
    if (a->mesh_axis_index < 0 || (uint64_t)a->mesh_axis_index >= m->n_axes)
        return proto_error(r, "mesh_axis_index", -1, "no axis %" PRId64 " in a mesh of %zu axes",
                           a->mesh_axis_index, m->n_axes);
    buf_printf(r->out, "'%s'", m->axes[a->mesh_axis_index]->name);
    if (a->sub_axis_info)
        buf_printf(r->out, ":(%" PRId64 ")%" PRId64, a->sub_axis_info->pre_size,
                   a->sub_axis_info->size);
    return true;
}

/* `{'a', 'b'}`; `open`: more axes may follow. */
static bool put_axes(struct reader *r, const Xla__MeshProto *m, size_t count,
                     Xla__AxisRefProto *const *axes, bool open)
{
    for (size_t k = 0; BUF_LIST(r->out, k, count + open, "{}", ", "); k++)
        if (k == count)
            buf_putc(r->out, '?');
        else if (!put_axis(r, m, axes[k]))
            return false;
    return true;
}

static bool put_keyed_axes(struct reader *r, const char *key, const Xla__MeshProto *m, size_t count,
                           Xla__AxisRefProto *const *axes)
{
    if (count == 0)
        return true;
    buf_printf(r->out, ", %s", key);
    return put_axes(r, m, count, axes, false);
}

/* ---- shardings ---- */

static void put_metadata_list(struct reader *r, size_t count, Xla__OpMetadata *const *at)
{
    buf_puts(r->out, "metadata=");
    for (size_t k = 0; BUF_LIST(r->out, k, count, count > 1 ? "{}" : "", ", "); k++)
        proto_put_metadata(r, at[k]);
}

static const char *unreduced_key(const Xla__NamedShardingProto *s)
{
    switch (s->reduction_op) {
    case XLA__NAMED_SHARDING_PROTO__REDUCTION_OP_PROTO__MAX: return "unreduced=max";
    case XLA__NAMED_SHARDING_PROTO__REDUCTION_OP_PROTO__MIN: return "unreduced=min";
    default: return "unreduced=";
    }
}

static bool put_named(struct reader *r, const Xla__NamedShardingProto *s)
{
    const Xla__MeshProto *m = s->mesh;
    if (!put_mesh(r, m))
        return false;
    const bool maximal = m->n_axes == 0 && m->n_device_ids == 1;
    buf_puts(r->out, maximal ? "" : ", ");
    for (size_t k = 0; !maximal && BUF_LIST(r->out, k, s->n_dim_shardings, "[]", ", "); k++) {
        const Xla__NamedShardingProto__DimensionSharding *d = s->dim_shardings[k];
        if (!put_axes(r, m, d->n_axes, d->axes, !d->is_closed))
            return false;
    }
    if (!put_keyed_axes(r, "replicated=", m, s->n_replicated_axes, s->replicated_axes) ||
        !put_keyed_axes(r, unreduced_key(s), m, s->n_unreduced_axes, s->unreduced_axes) ||
        !put_keyed_axes(r, "manual=", m, s->n_manual_axes, s->manual_axes))
        return false;
    if (s->n_metadata) {
        buf_puts(r->out, ", ");
        put_metadata_list(r, s->n_metadata, s->metadata);
    }
    return true;
}

static const char *tile_type(Xla__OpSharding__Type t)
{
    switch (t) {
    case XLA__OP_SHARDING__TYPE__REPLICATED: return "replicated";
    case XLA__OP_SHARDING__TYPE__MAXIMAL: return "maximal";
    case XLA__OP_SHARDING__TYPE__MANUAL: return "manual";
    case XLA__OP_SHARDING__TYPE__UNREDUCED: return "unreduced";
    default: return NULL;
    }
}

/* A tiling of a single device is replicated. */
static bool is_single(const Xla__OpSharding *s)
{
    for (size_t k = 0; k < s->n_tile_assignment_dimensions; k++)
        if (s->tile_assignment_dimensions[k] != 1)
            return false;
    return true;
}

static bool put_tiles(struct reader *r, const Xla__OpSharding *s)
{
    struct buf *out = r->out;
    if (is_single(s)) {
        buf_puts(out, "replicated");
        return true;
    }
    buf_puts(out, "devices=");
    proto_put_ints(out, s->n_tile_assignment_dimensions, s->tile_assignment_dimensions, "[]");
    buf_puts(out, s->n_iota_reshape_dims ? "<=" : "");
    if (!s->n_iota_reshape_dims)
        proto_put_ints(out, s->n_tile_assignment_devices, s->tile_assignment_devices, "");
    else if (!put_iota(r, s->n_iota_reshape_dims, s->iota_reshape_dims, s->n_iota_transpose_perm,
                       s->iota_transpose_perm))
        return false;
    if (s->replicate_on_last_tile_dim)
        buf_puts(out, " last_tile_dim_replicate");
    if (!s->n_last_tile_dims)
        return true;
    buf_puts(out, " last_tile_dims=");
    for (size_t k = 0; BUF_LIST(out, k, s->n_last_tile_dims, "{}", ", "); k++) {
        const char *word = tile_type(s->last_tile_dims[k]);
        if (!word)
            return proto_error(r, "last_tile_dims", (int64_t)k, "invalid type %d",
                               (int)s->last_tile_dims[k]);
        buf_puts(out, word);
    }
    return true;
}

static bool put_kind(struct reader *r, const Xla__OpSharding *s)
{
    const char *word = s->type == XLA__OP_SHARDING__TYPE__UNKNOWN ? "unknown" : tile_type(s->type);
    if (s->type == XLA__OP_SHARDING__TYPE__OTHER)
        return put_tiles(r, s);
    if (!word)
        return proto_error(r, "type", -1, "unknown type of a sharding, %d", (int)s->type);
    buf_puts(r->out, word);
    if (s->type != XLA__OP_SHARDING__TYPE__MAXIMAL)
        return true;
    if (s->n_tile_assignment_devices != 1)
        return proto_error(r, "tile_assignment_devices", -1, "%zu devices, expected 1",
                           s->n_tile_assignment_devices);
    buf_printf(r->out, " device=%" PRId64, s->tile_assignment_devices[0]);
    return true;
}

static bool put_tuple(struct reader *r, const Xla__OpSharding *s)
{
    for (size_t k = 0; BUF_LIST(r->out, k, s->n_tuple_shardings, "", ", "); k++) {
        const size_t node = proto_enter(r, "tuple_shardings", (int64_t)k);
        if (!proto_put_sharding(r, s->tuple_shardings[k]))
            return false;
        proto_leave(r, node);
    }
    return true;
}

bool proto_put_sharding(struct reader *r, const Xla__OpSharding *s)
{
    bool ok;
    buf_putc(r->out, '{');
    if (s->named_sharding) {
        ok = put_named(r, s->named_sharding);
    } else if (s->type == XLA__OP_SHARDING__TYPE__TUPLE) {
        ok = put_tuple(r, s);
    } else {
        ok = put_kind(r, s);
        if (s->is_shard_group)
            buf_printf(r->out, " %s %" PRId64,
                       s->shard_group_type == XLA__OP_SHARDING__SHARD_GROUP_TYPE__LIKE
                           ? "shard_like"
                           : "shard_as",
                       s->shard_group_id);
        if (s->n_metadata) {
            buf_putc(r->out, ' ');
            put_metadata_list(r, s->n_metadata, s->metadata);
        }
    }
    buf_putc(r->out, '}');
    return ok;
}

/* ---- groups of devices ---- */

static void put_groups(struct buf *out, size_t count, Xla__ReplicaGroup *const *at)
{
    for (size_t k = 0; BUF_LIST(out, k, count, "{}", ","); k++)
        proto_put_ints(out, at[k]->n_replica_ids, at[k]->replica_ids, "{}");
}

static bool put_iota_groups(struct reader *r, const Xla__IotaReplicaGroupListProto *l)
{
    buf_printf(r->out, "[%" PRId64 ",%" PRId64 "]<=", l->num_replica_groups,
               l->num_devices_per_group);
    return put_iota(r, l->n_iota_reshape_dims, l->iota_reshape_dims, l->n_iota_transpose_perm,
                    l->iota_transpose_perm);
}

bool proto_has_device_list(const inst_proto *i)
{
    return i->n_replica_groups ||
           i->replica_group_list_case != XLA__HLO_INSTRUCTION_PROTO__REPLICA_GROUP_LIST__NOT_SET;
}

/* The oldest form, a list in the instruction, takes precedence over the list in a message. */
bool proto_put_device_list(struct reader *r, const inst_proto *i)
{
    switch (i->replica_group_list_case) {
    case XLA__HLO_INSTRUCTION_PROTO__REPLICA_GROUP_LIST_IOTA_COLLECTIVE_DEVICE_LIST:
        return put_iota_groups(r, i->iota_collective_device_list);
    case XLA__HLO_INSTRUCTION_PROTO__REPLICA_GROUP_LIST_MESH_AXES_REPLICA_GROUP_LIST: {
        const Xla__MeshAxesReplicaGroupListProto *l = i->mesh_axes_replica_group_list;
        if (!put_mesh(r, l->mesh))
            return false;
        buf_putc(r->out, ' ');
        return put_axes(r, l->mesh, l->n_axes, l->axes, false);
    }
    case XLA__HLO_INSTRUCTION_PROTO__REPLICA_GROUP_LIST_COLLECTIVE_DEVICE_LIST: {
        const Xla__CollectiveDeviceListProto *l = i->collective_device_list;
        if (i->n_replica_groups)
            break;
        if (l->iota_replica_group_list)
            return put_iota_groups(r, l->iota_replica_group_list);
        put_groups(r->out, l->n_replica_groups, l->replica_groups);
        return true;
    }
    default: break;
    }
    put_groups(r->out, i->n_replica_groups, i->replica_groups);
    return true;
}
