/*
 * annotations.c: checks shardings and original values against the shapes of their instructions.
 * They do not affect computed values.
 */
#include "verify/verify_priv.h"

/* ---- sharding ---- */

/* Device numbers of an explicit list must be non-negative, distinct, and below the number of
 * partitions. */
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

static bool check_count(struct verify *v, struct span at, int64_t devices)
{
    int64_t expected = v->m->num_partitions;
    if (expected <= 1 || devices == expected)
        return true;
    return DIAG_ERROR(v->ds, at, SHARDING_COUNT, expected, devices);
}

static bool check_rank(struct verify *v, struct span at, int64_t tile_rank, const struct shape *s)
{
    if (tile_rank == s->rank)
        return true;
    struct str text = shape_text(v->arena, s);
    return DIAG_ERROR(v->ds, at, SHARDING_RANK, tile_rank, STR_ARG(text));
}

static bool check_tiled(struct verify *v, struct span at, const struct sharding *s,
                        const struct shape *shape)
{
    int64_t subgroups = s->last_type_count ? s->last_type_count : s->last_tile_dim_replicate;
    int64_t product = 0;
    if (!check_rank(v, at, s->tile.count - subgroups, shape))
        return false;
    if (s->explicit_devices)
        return check_devices(v, at, s->devices) && check_count(v, at, s->devices.count);
    return ints_product(s->tile, &product) && check_count(v, at, product);
}

static bool check_named(struct verify *v, struct span at, const struct sharding *s,
                        const struct shape *shape)
{
    if (s->mesh && s->mesh->maximal) {
        struct ints one = {1, &s->mesh->device};
        return check_devices(v, at, one);
    }
    bool split = s->dim_count && (s->manual.count || s->unreduced.count);
    for (int k = 0; k < s->dim_count; k++)
        split |= s->dims[k].axes.count > 0;
    int64_t devices = 1;
    if (s->mesh && !mesh_device_count(s->mesh, &devices))
        devices = -1;
    return !split || (check_rank(v, at, s->dim_count, shape) && check_count(v, at, devices));
}

static bool check_single(struct verify *v, struct span at, const struct sharding *s,
                         const struct shape *shape)
{
    if (shape->dtype == DT_TOKEN)
        return true;
    switch (s->kind) {
    case SHARDING_TILED: return check_tiled(v, at, s, shape);
    case SHARDING_MAXIMAL: return check_devices(v, at, s->devices);
    case SHARDING_NAMED: return check_named(v, at, s, shape);
    default: return true;
    }
}

/* Checks the shardings of a tuple, one per leaf, in order. */
static bool check_leaves(struct verify *v, struct span at, const struct sharding *s,
                         const struct shape *shape, int *next)
{
    if (shape->dtype == DT_TOKEN && s->elements[*next]->kind == SHARDING_TILED)
        return check_rank(v, at, s->elements[*next]->tile.count, shape);
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
    int64_t leaves = shape_leaf_count(i->shape), expected = leaves > 0 ? leaves : 1;
    int next = 0;
    if (s->element_count != expected && s->element_count != leaves)
        return DIAG_ERROR(v->ds, a->span, SHARDING_LEAVES, s->element_count, STR_ARG(text),
                          expected);
    return check_leaves(v, a->span, s, i->shape, &next);
}

/* ---- consistency of shardings ---- */

/* These instructions hold the same value: those that have a sharding must have the same one. */
static bool check_agree(struct verify *v, const struct inst *const *places, int count)
{
    const struct attr *first = NULL;
    for (int k = 0; k < count; k++) {
        const struct attr *a = inst_attr(places[k], A_SHARDING);
        if (a && first && !verify_sharding_equal(v->arena, first->v.sharding, a->v.sharding)) {
            struct diag *d = DIAG(v->ds, a->span, SHARDING_DISAGREES, STR_ARG(places[k]->name));
            diag_note(v->ds, d, first->span, "sharding of the same value here");
            return false;
        }
        if (!first)
            first = a;
    }
    return true;
}

/* The value carried by a loop must keep its sharding, and branches must have that of the
 * conditional's result. */
static bool check_consistent(struct verify *v, const struct inst *i)
{
    if (i->opcode != OP_WHILE && i->opcode != OP_CONDITIONAL)
        return true;
    int n = inst_callees(i, NULL), count = 0;
    struct computation **callees = ARENA_ARRAY(v->arena, struct computation *, n);
    const struct inst **places = ARENA_ARRAY(v->arena, const struct inst *, n + 3);
    inst_callees(i, callees);
    places[count++] = i;
    for (int k = 0; k < n; k++)
        if (i->opcode == OP_CONDITIONAL || callees[k] == inst_computation(i, A_BODY))
            places[count++] = callees[k]->root;
    for (int k = 0; k < n && i->opcode == OP_WHILE; k++)
        if (callees[k]->param_count > 0)
            places[count++] = callees[k]->params[0];
    return check_agree(v, places, count);
}

/* ---- original values ---- */

static bool any_leaf(const struct origin *o, const struct shape *s)
{
    bool any = o ? o->leaf : s->dtype != DT_TUPLE;
    for (int k = 0; !any && k < (o ? o->count : s->count); k++)
        any = any_leaf(o ? &o->elements[k] : NULL, s ? s->elements[k] : NULL);
    return any;
}

/* Whether the tree has leaves exactly where the shape has them. Either is NULL where only the other
 * has components. */
static bool origin_fits(const struct origin *o, const struct shape *s)
{
    if (!o || !s)
        return !any_leaf(o, s);
    if (o->leaf || s->dtype != DT_TUPLE)
        return o->leaf && s->dtype != DT_TUPLE;
    for (int k = 0; k < o->count || k < s->count; k++)
        if (!origin_fits(k < o->count ? &o->elements[k] : NULL,
                         k < s->count ? s->elements[k] : NULL))
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
