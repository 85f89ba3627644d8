/*
 * What is written about an instruction beside its meaning: sharding and original values. They change
 * no value, but must fit the shape.
 */
#include "verify/verify.h"

/* ---- sharding ---- */

static bool tile_product(struct ints tile, int64_t *product)
{
    *product = 1;
    for (int64_t d = 0; d < tile.count; d++)
        if (!mul_i64(*product, tile.at[d], product))
            return false;
    return true;
}

/* Device numbers of an explicit list: not negative, distinct, below the number of partitions. */
static bool check_devices(struct verify *v, struct span at, struct ints devices)
{
    struct map seen;
    map_init(&seen, v->arena);
    int64_t limit = v->m->num_partitions;
    for (int64_t k = 0; k < devices.count; k++) {
        int64_t id = devices.at[k];
        if (id < 0 || (limit > 1 && id >= limit))
            return DIAG_ERROR(v->ds, at, SHARDING_DEVICE, id, limit > 1 ? limit : INT64_MAX);
        if (map_put(&seen, (struct str){(const char *)&devices.at[k], sizeof id}, v))
            return DIAG_ERROR(v->ds, at, SHARDING_DEVICE_TWICE, id);
    }
    return true;
}

static int64_t mesh_devices(const struct mesh *m)
{
    int64_t n = 1;
    for (int k = 0; m && k < m->axis_count; k++)
        if (!mul_i64(n, m->axes[k].size, &n))
            return -1;
    return n;
}

static bool check_count(struct verify *v, struct span at, int64_t devices)
{
    int64_t wanted = v->m->num_partitions;
    if (wanted <= 1 || devices == wanted)
        return true;
    return DIAG_ERROR(v->ds, at, SHARDING_COUNT, wanted, devices);
}

static bool check_rank(struct verify *v, struct span at, int64_t tile_rank, const struct shape *s)
{
    if (tile_rank == s->rank)
        return true;
    struct str text = shape_text(v->arena, s);
    return DIAG_ERROR(v->ds, at, SHARDING_RANK, tile_rank, STR_ARG(text));
}

static bool check_tiled(struct verify *v, struct span at, const struct sharding *s, const struct shape *shape)
{
    int64_t subgroups = s->last_type_count ? s->last_type_count : s->last_tile_dim_replicate;
    int64_t product = 0;
    if (!check_rank(v, at, s->tile.count - subgroups, shape))
        return false;
    if (s->explicit_devices)
        return check_devices(v, at, s->devices) && check_count(v, at, s->devices.count);
    return tile_product(s->tile, &product) && check_count(v, at, product);
}

static bool check_named(struct verify *v, struct span at, const struct sharding *s, const struct shape *shape)
{
    if (s->mesh && s->mesh->maximal) {
        struct ints one = {1, &s->mesh->device};
        return check_devices(v, at, one);
    }
    if (s->dim_count == 0)
        return true;
    return check_rank(v, at, s->dim_count, shape) && check_count(v, at, mesh_devices(s->mesh));
}

static bool check_single(struct verify *v, struct span at, const struct sharding *s, const struct shape *shape)
{
    if (shape->dtype == DT_TOKEN)
        return true;
    switch (s->kind) {
    case SHARDING_TILED:
        return check_tiled(v, at, s, shape);
    case SHARDING_MAXIMAL:
        return check_devices(v, at, s->devices);
    case SHARDING_NAMED:
        return check_named(v, at, s, shape);
    default:
        return true;
    }
}

/* One sharding for each leaf, in order. */
static bool check_leaves(struct verify *v, struct span at, const struct sharding *s, const struct shape *shape, int *next)
{
    if (shape->dtype == DT_TUPLE) {
        for (int k = 0; k < shape->count; k++)
            if (!check_leaves(v, at, s, shape->elements[k], next))
                return false;
        return true;
    }
    return check_single(v, at, s->elements[(*next)++], shape);
}

static bool check_sharding(struct verify *v, const struct inst *i, const struct attr *a)
{
    const struct sharding *s = a->v.sharding;
    if (s->kind != SHARDING_TUPLE)
        return check_single(v, a->span, s, i->shape);
    if (i->shape->dtype == DT_TOKEN)
        return true;
    struct str text = shape_text(v->arena, i->shape);
    if (i->shape->dtype != DT_TUPLE)
        return DIAG_ERROR(v->ds, a->span, SHARDING_TUPLE, STR_ARG(text));
    int64_t leaves = shape_leaf_count(i->shape), wanted = leaves > 0 ? leaves : 1;
    int next = 0;
    if (s->element_count != wanted)
        return DIAG_ERROR(v->ds, a->span, SHARDING_LEAVES, s->element_count, STR_ARG(text), wanted);
    return check_leaves(v, a->span, s, i->shape, &next);
}

/* ---- shardings that must agree ---- */

static bool ints_equal(struct ints a, struct ints b)
{
    return a.count == b.count && (a.count == 0 || memcmp(a.at, b.at, (size_t)a.count * sizeof *a.at) == 0);
}

static bool axes_equal(struct mesh_axes a, struct mesh_axes b)
{
    if (a.count != b.count)
        return false;
    for (int k = 0; k < a.count; k++)
        if (a.at[k].axis != b.at[k].axis || a.at[k].pre_size != b.at[k].pre_size || a.at[k].size != b.at[k].size)
            return false;
    return true;
}

static bool mesh_equal(const struct mesh *a, const struct mesh *b)
{
    if (!a || !b || a->maximal || b->maximal)
        return a == b || (a && b && a->maximal && b->maximal && a->device == b->device);
    if (a->axis_count != b->axis_count || a->has_iota != b->has_iota || a->has_list != b->has_list)
        return false;
    for (int k = 0; k < a->axis_count; k++)
        if (!str_eq(a->axes[k].name, b->axes[k].name) || a->axes[k].size != b->axes[k].size)
            return false;
    return ints_equal(a->order.reshape, b->order.reshape) && ints_equal(a->order.transpose, b->order.transpose) &&
           ints_equal(a->device_ids, b->device_ids);
}

static bool named_equal(const struct sharding *a, const struct sharding *b)
{
    if (!mesh_equal(a->mesh, b->mesh) || a->dim_count != b->dim_count)
        return false;
    for (int k = 0; k < a->dim_count; k++)
        if (!axes_equal(a->dims[k].axes, b->dims[k].axes) || a->dims[k].open != b->dims[k].open)
            return false;
    return axes_equal(a->replicated, b->replicated) && axes_equal(a->unreduced, b->unreduced) &&
           axes_equal(a->manual, b->manual);
}

static bool sharding_equal(const struct sharding *a, const struct sharding *b)
{
    if (a->kind != b->kind || a->group != b->group || (a->group != SHARD_NO_GROUP && a->group_id != b->group_id))
        return false;
    if (a->kind == SHARDING_TUPLE) {
        for (int k = 0; k < a->element_count && k < b->element_count; k++)
            if (!sharding_equal(a->elements[k], b->elements[k]))
                return false;
        return a->element_count == b->element_count;
    }
    if (a->kind == SHARDING_NAMED)
        return named_equal(a, b);
    return ints_equal(a->tile, b->tile) && a->explicit_devices == b->explicit_devices &&
           ints_equal(a->devices, b->devices) && ints_equal(a->order.reshape, b->order.reshape) &&
           ints_equal(a->order.transpose, b->order.transpose) &&
           a->last_tile_dim_replicate == b->last_tile_dim_replicate && a->last_type_count == b->last_type_count &&
           (a->last_type_count == 0 || memcmp(a->last_types, b->last_types, (size_t)a->last_type_count) == 0);
}

static bool check_agree(struct verify *v, const struct inst *i, const struct inst *other, const char *what)
{
    const struct attr *a = inst_attr(i, A_SHARDING), *b = inst_attr(other, A_SHARDING);
    if (!a || !b || sharding_equal(a->v.sharding, b->v.sharding))
        return true;
    struct diag *d = DIAG(v->ds, a->span, SHARDING_DISAGREES, op_spelling(i->opcode), what);
    diag_note(v->ds, d, b->span, "the %s has this one", what);
    return false;
}

/* A loop keeps one sharding from turn to turn; branches leave theirs in the result. */
static bool check_consistent(struct verify *v, const struct inst *i)
{
    if (i->opcode == OP_WHILE) {
        const struct computation *body = inst_computation(i, A_BODY), *condition = inst_computation(i, A_CONDITION);
        return check_agree(v, i, body->root, "root of the body") &&
               (body->param_count < 1 || check_agree(v, i, body->params[0], "parameter of the body")) &&
               (condition->param_count < 1 || check_agree(v, i, condition->params[0], "parameter of the condition"));
    }
    if (i->opcode != OP_CONDITIONAL)
        return true;
    int n = inst_callees(i, NULL);
    struct computation **branches = ARENA_ARRAY(v->arena, struct computation *, n);
    inst_callees(i, branches);
    for (int k = 0; k < n; k++)
        if (!check_agree(v, i, branches[k]->root, "root of a branch"))
            return false;
    return true;
}

/* ---- original values ---- */

/* The tree has a leaf exactly where the shape has one. */
static bool origin_fits(const struct origin *o, const struct shape *s)
{
    if (s->dtype != DT_TUPLE)
        return o->leaf;
    if (o->leaf || o->count != s->count)
        return false;
    for (int k = 0; k < s->count; k++)
        if (!origin_fits(&o->elements[k], s->elements[k]))
            return false;
    return true;
}

bool verify_annotations(struct verify *v, const struct inst *i)
{
    const struct attr *sharding = inst_attr(i, A_SHARDING), *origin = inst_attr(i, A_ORIGIN);
    if (sharding && !check_sharding(v, i, sharding))
        return false;
    if (origin && !origin->v.origin->synthetic_call && !origin_fits(origin->v.origin, i->shape)) {
        struct str text = shape_text(v->arena, i->shape);
        return DIAG_ERROR(v->ds, origin->span, ORIGIN_SHAPE, STR_ARG(text));
    }
    return check_consistent(v, i);
}
