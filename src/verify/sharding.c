/*
 * sharding.c: semantic equality of shardings. Meshes and tile lists can describe the same sharding
 * in several ways, so both are expanded to the part that each device holds.
 */
#include "verify/verify_priv.h"

enum { RANK_LIMIT = 64, DEVICE_LIMIT = 1 << 20 };

/* What each device holds: a tile, given by its coordinates, and its position in manual and
 * unreduced groups. */
struct placement {
    int rank;
    int64_t dims[RANK_LIMIT]; /* number of tiles in each dimension of the value */
    int64_t manual, unreduced, replicated;
    int64_t devices;
    int64_t *part; /* by device: number of the part; equal for replicas */
};

static bool ints_equal(struct ints a, struct ints b)
{
    return a.count == b.count &&
           (a.count == 0 || memcmp(a.at, b.at, (size_t)a.count * sizeof *a.at) == 0);
}

/* ---- tile lists ---- */

static int64_t *group_size(struct placement *p, uint8_t type)
{
    switch (type) {
    case TILE_MANUAL: return &p->manual;
    case TILE_UNREDUCED: return &p->unreduced;
    default: return &p->replicated;
    }
}

static bool place_device(struct placement *p, int64_t device, int64_t part)
{
    if (device < 0 || device >= p->devices || p->part[device] >= 0)
        return false;
    p->part[device] = part;
    return true;
}

/* The number of the part at position `at` of the tile assignment, computed from its coordinates
 * without those of replicas. */
static int64_t tile_part(const struct sharding *s, int64_t at)
{
    int64_t part = 0, scale = 1, types = s->last_type_count, first = s->tile.count - types;
    for (int64_t k = s->tile.count - 1; k >= 0; k--) {
        bool replica = k >= first ? s->last_types[k - first] == TILE_REPLICATED
                                  : k == s->tile.count - 1 && s->last_tile_dim_replicate;
        int64_t c = at % s->tile.at[k];
        at /= s->tile.at[k];
        if (replica)
            continue;
        part += c * scale;
        scale *= s->tile.at[k];
    }
    return part;
}

static bool place_tiles(const struct sharding *s, struct placement *p)
{
    int64_t groups = s->last_type_count ? s->last_type_count : s->last_tile_dim_replicate;
    p->rank = (int)(s->tile.count - groups);
    for (int k = 0; k < p->rank; k++)
        p->dims[k] = s->tile.at[k];
    for (int64_t k = p->rank; k < s->tile.count; k++)
        *group_size(p, s->last_type_count ? s->last_types[k - p->rank] : TILE_REPLICATED) *=
            s->tile.at[k];
    for (int64_t k = 0; k < p->devices; k++)
        if (!place_device(p, s->explicit_devices ? s->devices.at[k] : iota_order_at(&s->order, k),
                          tile_part(s, k)))
            return false;
    return true;
}

/* ---- meshes ---- */

/* `part` with the coordinates of mesh position `at` along these axes appended. */
static int64_t append_axis_coordinates(const struct mesh *m, const struct mesh_axes *axes,
                                       int64_t at, int64_t part)
{
    for (int k = 0; k < axes->count; k++)
        part = part * mesh_axis_size(m, axes->at[k]) +
               at / mesh_axis_stride(m, axes->at[k]) % mesh_axis_size(m, axes->at[k]);
    return part;
}

static bool place_mesh(const struct sharding *s, struct placement *p)
{
    const struct mesh *m = s->mesh;
    p->rank = s->dim_count;
    mesh_axes_product(m, s->manual, &p->manual); /* at most the number of devices */
    mesh_axes_product(m, s->unreduced, &p->unreduced);
    p->replicated = p->devices / p->manual / p->unreduced;
    for (int k = 0; k < p->rank; k++) {
        mesh_axes_product(m, s->dims[k].axes, &p->dims[k]);
        p->replicated /= p->dims[k];
    }
    for (int64_t at = 0; at < p->devices; at++) {
        int64_t part = 0, device = mesh_device_at(m, at);
        for (int k = 0; k < p->rank; k++)
            part = append_axis_coordinates(m, &s->dims[k].axes, at, part);
        part = append_axis_coordinates(m, &s->manual, at, part);
        if (!place_device(p, device, append_axis_coordinates(m, &s->unreduced, at, part)))
            return false;
    }
    return true;
}

static int64_t device_count(const struct sharding *s)
{
    int64_t n = 1;
    for (int64_t k = 0; s->kind == SHARDING_TILED && k < s->tile.count; k++)
        if (s->tile.at[k] < 1 || !mul_i64(n, s->tile.at[k], &n))
            return -1;
    for (int k = 0; s->kind == SHARDING_NAMED && k < s->mesh->axis_count; k++)
        if (s->mesh->axes[k].size < 1 || !mul_i64(n, s->mesh->axes[k].size, &n))
            return -1;
    return n;
}

/* Expands a sharding. False if it is not supported or too large. */
static bool place(struct arena *a, const struct sharding *s, struct placement *p)
{
    bool listed =
        s->kind == SHARDING_TILED || (s->kind == SHARDING_NAMED && s->mesh && !s->mesh->maximal);
    *p = (struct placement){.manual = 1, .unreduced = 1, .replicated = 1};
    if (!listed || s->tile.count > RANK_LIMIT || s->dim_count > RANK_LIMIT)
        return false;
    p->devices = device_count(s);
    if (p->devices < 1 || p->devices > DEVICE_LIMIT ||
        (s->kind == SHARDING_TILED && s->explicit_devices && s->devices.count != p->devices))
        return false;
    p->part = ARENA_ARRAY(a, int64_t, p->devices);
    memset(p->part, -1, (size_t)p->devices * sizeof *p->part);
    return s->kind == SHARDING_TILED ? place_tiles(s, p) : place_mesh(s, p);
}

static bool placements_equal(const struct placement *a, const struct placement *b)
{
    return a->rank == b->rank && a->devices == b->devices && a->manual == b->manual &&
           a->unreduced == b->unreduced && memcmp(a->dims, b->dims, sizeof a->dims) == 0 &&
           memcmp(a->part, b->part, (size_t)a->devices * sizeof *a->part) == 0;
}

static bool same_spelling(const struct sharding *a, const struct sharding *b)
{
    return a->kind == b->kind && ints_equal(a->tile, b->tile) &&
           ints_equal(a->devices, b->devices) && ints_equal(a->order.reshape, b->order.reshape) &&
           ints_equal(a->order.transpose, b->order.transpose) &&
           a->last_tile_dim_replicate == b->last_tile_dim_replicate &&
           a->last_type_count == b->last_type_count &&
           (!a->mesh || !b->mesh ||
            (a->mesh->maximal == b->mesh->maximal && a->mesh->device == b->mesh->device));
}

bool verify_sharding_equal(struct arena *scratch, const struct sharding *a,
                           const struct sharding *b)
{
    struct placement x, y;
    if (a->group != b->group || (a->group != SHARD_NO_GROUP && a->group_id != b->group_id))
        return false;
    if (a->kind == SHARDING_TUPLE || b->kind == SHARDING_TUPLE) {
        bool equal = a->kind == b->kind && a->element_count == b->element_count;
        for (int k = 0; equal && k < a->element_count; k++)
            equal = verify_sharding_equal(scratch, a->elements[k], b->elements[k]);
        return equal;
    }
    if (place(scratch, a, &x) && place(scratch, b, &y))
        return placements_equal(&x, &y);
    return same_spelling(a, b);
}
