/*
 * write_sharding.c: shardings, meshes and lists of devices as messages.
 */
#include "proto/write_priv.h"

/* ---- meshes ---- */

static int32_t *narrow(struct writer *w, struct ints v)
{
    int32_t *out = ARENA_ARRAY(w->a, int32_t, v.count);
    for (int64_t k = 0; k < v.count; k++)
        out[k] = (int32_t)v.at[k];
    return out;
}

/* Sets iota_reshape_dims and iota_transpose_perm of a message. */
#define SET_IOTA(w, message, order)                                                                \
    do {                                                                                           \
        SET_INTS(message, iota_reshape_dims, (order).reshape);                                     \
        (message)->n_iota_transpose_perm = (size_t)(order).transpose.count;                        \
        (message)->iota_transpose_perm = narrow(w, (order).transpose);                             \
    } while (0)

static Xla__MeshProto *of_mesh(struct writer *w, const struct mesh *m)
{
    Xla__MeshProto *out = NEW(w, mesh_proto);
    NEW_LIST(w, out, axes, m->axis_count);
    for (int k = 0; k < m->axis_count; k++) {
        out->axes[k] = NEW(w, mesh_proto__mesh_axis);
        out->axes[k]->name = proto_new_string(w, m->axes[k].name);
        out->axes[k]->size = m->axes[k].size;
    }
    if (m->maximal) {
        NEW_LIST(w, out, device_ids, 1);
        out->device_ids[0] = m->device;
    } else if (m->has_list) {
        SET_INTS(out, device_ids, m->device_ids);
    } else if (m->has_iota) {
        out->iota_transform = NEW(w, mesh_proto__iota_transform);
        SET_INTS(out->iota_transform, reshape_dims, m->order.reshape);
        SET_INTS(out->iota_transform, transpose_perm, m->order.transpose);
    }
    return out;
}

static Xla__AxisRefProto *of_axis(struct writer *w, struct axis_ref a)
{
    Xla__AxisRefProto *out = NEW(w, axis_ref_proto);
    out->mesh_axis_index = a.axis;
    if (a.size) {
        out->sub_axis_info = NEW(w, axis_ref_proto__sub_axis);
        out->sub_axis_info->pre_size = a.pre_size;
        out->sub_axis_info->size = a.size;
    }
    return out;
}

#define SET_AXES(w, message, field, list)                                                          \
    do {                                                                                           \
        NEW_LIST(w, message, field, (list).count);                                                 \
        for (int at = 0; at < (list).count; at++)                                                  \
            (message)->field[at] = of_axis(w, (list).at[at]);                                      \
    } while (0)

/* ---- shardings ---- */

static Xla__NamedShardingProto__ReductionOpProto reduction_of(struct str word)
{
    return str_is(word, "max")   ? XLA__NAMED_SHARDING_PROTO__REDUCTION_OP_PROTO__MAX
           : str_is(word, "min") ? XLA__NAMED_SHARDING_PROTO__REDUCTION_OP_PROTO__MIN
                                 : XLA__NAMED_SHARDING_PROTO__REDUCTION_OP_PROTO__SUM;
}

#define SET_METADATA(w, message, s)                                                                \
    do {                                                                                           \
        NEW_LIST(w, message, metadata, (s)->metadata_count);                                       \
        for (int at = 0; at < (s)->metadata_count; at++)                                           \
            (message)->metadata[at] = proto_of_metadata(w, &(s)->metadata[at]);                    \
    } while (0)

static Xla__NamedShardingProto *of_named(struct writer *w, const struct sharding *s)
{
    Xla__NamedShardingProto *out = NEW(w, named_sharding_proto);
    out->mesh = of_mesh(w, s->mesh);
    NEW_LIST(w, out, dim_shardings, s->dim_count);
    for (int d = 0; d < s->dim_count; d++) {
        Xla__NamedShardingProto__DimensionSharding *dim =
            NEW(w, named_sharding_proto__dimension_sharding);
        SET_AXES(w, dim, axes, s->dims[d].axes);
        dim->is_closed = !s->dims[d].open;
        out->dim_shardings[d] = dim;
    }
    SET_AXES(w, out, replicated_axes, s->replicated);
    SET_AXES(w, out, unreduced_axes, s->unreduced);
    SET_AXES(w, out, manual_axes, s->manual);
    out->reduction_op = reduction_of(s->reduction);
    SET_METADATA(w, out, s);
    return out;
}

static Xla__OpSharding__Type type_of(enum tile_dim_type t)
{
    switch (t) {
    case TILE_MAXIMAL: return XLA__OP_SHARDING__TYPE__MAXIMAL;
    case TILE_MANUAL: return XLA__OP_SHARDING__TYPE__MANUAL;
    case TILE_UNREDUCED: return XLA__OP_SHARDING__TYPE__UNREDUCED;
    default: return XLA__OP_SHARDING__TYPE__REPLICATED;
    }
}

static void set_tiles(struct writer *w, const struct sharding *s, Xla__OpSharding *out)
{
    out->type = XLA__OP_SHARDING__TYPE__OTHER;
    SET_INTS(out, tile_assignment_dimensions, s->tile);
    if (s->explicit_devices)
        SET_INTS(out, tile_assignment_devices, s->devices);
    else
        SET_IOTA(w, out, s->order);
    out->replicate_on_last_tile_dim = s->last_tile_dim_replicate;
    NEW_LIST(w, out, last_tile_dims, s->last_type_count);
    for (int k = 0; k < s->last_type_count; k++)
        out->last_tile_dims[k] = type_of((enum tile_dim_type)s->last_types[k]);
}

static void set_kind(struct writer *w, const struct sharding *s, Xla__OpSharding *out)
{
    switch (s->kind) {
    case SHARDING_REPLICATED: break;
    case SHARDING_MAXIMAL:
        out->type = XLA__OP_SHARDING__TYPE__MAXIMAL;
        SET_INTS(out, tile_assignment_devices, s->devices);
        break;
    case SHARDING_MANUAL: out->type = XLA__OP_SHARDING__TYPE__MANUAL; break;
    case SHARDING_UNKNOWN: out->type = XLA__OP_SHARDING__TYPE__UNKNOWN; break;
    case SHARDING_UNREDUCED: out->type = XLA__OP_SHARDING__TYPE__UNREDUCED; break;
    case SHARDING_TILED: set_tiles(w, s, out); break;
    case SHARDING_NAMED: out->named_sharding = of_named(w, s); break;
    case SHARDING_TUPLE:
        out->type = XLA__OP_SHARDING__TYPE__TUPLE;
        NEW_LIST(w, out, tuple_shardings, s->element_count);
        for (int k = 0; k < s->element_count; k++)
            out->tuple_shardings[k] = proto_of_sharding(w, s->elements[k]);
        break;
    }
}

Xla__OpSharding *proto_of_sharding(struct writer *w, const struct sharding *s)
{
    Xla__OpSharding *out = NEW(w, op_sharding);
    set_kind(w, s, out);
    if (s->kind == SHARDING_NAMED || s->kind == SHARDING_TUPLE)
        return out;
    out->is_shard_group = s->group != SHARD_NO_GROUP;
    out->shard_group_id = out->is_shard_group ? s->group_id : 0;
    out->shard_group_type = s->group == SHARD_LIKE ? XLA__OP_SHARDING__SHARD_GROUP_TYPE__LIKE
                                                   : XLA__OP_SHARDING__SHARD_GROUP_TYPE__AS;
    SET_METADATA(w, out, s);
    return out;
}

/* ---- lists of devices ---- */

static void set_list(struct writer *w, struct ints_list groups, inst_proto *out)
{
    Xla__CollectiveDeviceListProto *l = NEW(w, collective_device_list_proto);
    NEW_LIST(w, l, replica_groups, groups.count);
    for (int64_t k = 0; k < groups.count; k++) {
        l->replica_groups[k] = NEW(w, replica_group);
        SET_INTS(l->replica_groups[k], replica_ids, groups.at[k]);
    }
    out->replica_group_list_case =
        XLA__HLO_INSTRUCTION_PROTO__REPLICA_GROUP_LIST_COLLECTIVE_DEVICE_LIST;
    out->collective_device_list = l;
}

static void set_iota(struct writer *w, const struct device_list *d, inst_proto *out)
{
    Xla__IotaReplicaGroupListProto *l = NEW(w, iota_replica_group_list_proto);
    l->num_replica_groups = d->group_count;
    l->num_devices_per_group = d->group_size;
    SET_IOTA(w, l, d->order);
    out->replica_group_list_case =
        XLA__HLO_INSTRUCTION_PROTO__REPLICA_GROUP_LIST_IOTA_COLLECTIVE_DEVICE_LIST;
    out->iota_collective_device_list = l;
}

static void set_mesh(struct writer *w, const struct device_list *d, inst_proto *out)
{
    Xla__MeshAxesReplicaGroupListProto *l = NEW(w, mesh_axes_replica_group_list_proto);
    l->mesh = of_mesh(w, d->mesh);
    SET_AXES(w, l, axes, *d->axes);
    out->replica_group_list_case =
        XLA__HLO_INSTRUCTION_PROTO__REPLICA_GROUP_LIST_MESH_AXES_REPLICA_GROUP_LIST;
    out->mesh_axes_replica_group_list = l;
}

void proto_write_device_list(struct writer *w, const struct device_list *d, inst_proto *out)
{
    switch (d->form) {
    case GROUPS_LIST: set_list(w, d->groups, out); break;
    case GROUPS_IOTA: set_iota(w, d, out); break;
    case GROUPS_MESH: set_mesh(w, d, out); break;
    }
}
