/*
 * sharding_canon.c: the canonical form of tilings. Subgroup dimensions of the same type are merged
 * and put in a fixed order, those of size 1 are dropped, and replication groups list their devices
 * in ascending order; a device order in iota form stays one if possible.
 */
#include "text/attr_priv.h"

#include <stdlib.h>

enum { LIST_LIMIT = 1 << 22 }; /* limit on device lists that are generated here */

/* ---- iota orders ---- */

static bool is_permutation(struct arena *a, struct ints v)
{
    struct arena_mark mark = arena_mark(a);
    bool *seen = ARENA_ARRAY(a, bool, v.count), ok = true;
    for (int64_t i = 0; i < v.count && ok; i++) {
        ok = v.at[i] >= 0 && v.at[i] < v.count && !seen[v.at[i]];
        if (ok)
            seen[v.at[i]] = true;
    }
    arena_release(a, mark);
    return ok;
}

/* Removes reshape dimensions of size 1. */
static struct iota_order drop_ones(struct arena *a, struct iota_order o)
{
    int64_t n = o.reshape.count, kept = 0;
    int64_t *dims = ARENA_ARRAY(a, int64_t, n), *perm = ARENA_ARRAY(a, int64_t, n),
            *place = ARENA_ARRAY(a, int64_t, n);
    for (int64_t i = 0; i < n; i++) {
        place[i] = kept;
        if (o.reshape.at[i] != 1)
            dims[kept++] = o.reshape.at[i];
    }
    kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (o.reshape.at[o.transpose.at[i]] != 1)
            perm[kept++] = place[o.transpose.at[i]];
    return (struct iota_order){{kept, dims}, {kept, perm}};
}

/* Merges dimensions that remain adjacent after the transposition. */
static struct iota_order join_runs(struct arena *a, struct iota_order o)
{
    int64_t n = o.reshape.count, kept = 0;
    bool *joins = ARENA_ARRAY(a, bool, n);
    for (int64_t i = 1; i < n; i++)
        joins[o.transpose.at[i]] = o.transpose.at[i] == o.transpose.at[i - 1] + 1;
    int64_t *dims = ARENA_ARRAY(a, int64_t, n), *perm = ARENA_ARRAY(a, int64_t, n),
            *place = ARENA_ARRAY(a, int64_t, n);
    for (int64_t d = 0; d < n; d++) {
        if (joins[d] && mul_i64(dims[kept - 1], o.reshape.at[d], &dims[kept - 1]))
            continue;
        joins[d] = false;
        dims[kept] = o.reshape.at[d];
        place[d] = kept++;
    }
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        if (!joins[o.transpose.at[i]])
            perm[count++] = place[o.transpose.at[i]];
    return (struct iota_order){{kept, dims}, {count, perm}};
}

struct iota_order iota_canonical(struct arena *a, struct iota_order order)
{
    static const int64_t one = 1, zero = 0;
    /* XLA keeps such an order. */
    if (order.reshape.count != order.transpose.count || !is_permutation(a, order.transpose))
        return order;
    order = drop_ones(a, order);
    if (!order.reshape.count)
        return (struct iota_order){{1, &one}, {1, &zero}};
    return join_runs(a, order);
}

/* Expands an iota order to a list; false if it is too long or the transposition is not a
 * permutation. */
static bool list_of_iota(struct arena *a, struct iota_order o, struct ints *out)
{
    int64_t n = o.reshape.count, total;
    if (!is_permutation(a, o.transpose) || !ints_product(o.reshape, &total) || total < 0 ||
        total > LIST_LIMIT)
        return false;
    *out = (struct ints){0};
    if (!total)
        return true;
    int64_t *strides = ARENA_ARRAY(a, int64_t, n), *dims = ARENA_ARRAY(a, int64_t, n),
            *index = ARENA_ARRAY(a, int64_t, n);
    int64_t *list = ARENA_ARRAY(a, int64_t, total);
    for (int64_t d = n - 1, stride = 1; d >= 0; stride *= o.reshape.at[d--])
        strides[d] = stride;
    for (int64_t i = 0; i < n; i++)
        dims[i] = o.reshape.at[o.transpose.at[i]];
    for (int64_t k = 0; k < total; k++) {
        for (int64_t i = 0; i < n; i++)
            list[k] += index[i] * strides[o.transpose.at[i]];
        index_next((int)n, dims, index);
    }
    *out = (struct ints){total, list};
    return true;
}

/* Transposes a list, interpreted as an array of size `dims`. */
static struct ints transpose_list(struct arena *a, struct ints list, struct ints dims,
                                  const int64_t *perm)
{
    int64_t n = dims.count;
    int64_t *strides = ARENA_ARRAY(a, int64_t, n), *sizes = ARENA_ARRAY(a, int64_t, n),
            *index = ARENA_ARRAY(a, int64_t, n);
    int64_t *moved = ARENA_ARRAY(a, int64_t, list.count);
    for (int64_t d = n - 1, stride = 1; d >= 0; stride *= dims.at[d--])
        strides[d] = stride;
    for (int64_t i = 0; i < n; i++)
        sizes[i] = dims.at[perm[i]];
    for (int64_t k = 0; k < list.count; k++) {
        int64_t at = 0;
        for (int64_t i = 0; i < n; i++)
            at += index[i] * strides[perm[i]];
        moved[k] = list.at[at];
        index_next((int)n, sizes, index);
    }
    return (struct ints){list.count, moved};
}

/* ---- transposing an iota without expanding it ---- */

/* Part of a reshape dimension; `tile` is the tile dimension that it belongs to. */
struct piece {
    int64_t dim, size, tile;
};
struct pieces {
    struct piece *at;
    size_t count, capacity;
};

/* Splits the dimensions of the order, major to minor as transposed, into pieces that make up the
 * tile dimensions. False if they do not divide. */
static bool cut_pieces(struct arena *a, struct iota_order o, struct ints tile, struct pieces *out)
{
    int64_t at = 0, rest = o.reshape.count ? o.reshape.at[o.transpose.at[0]] : 0;
    for (int64_t t = 0; t < tile.count; t++) {
        int64_t needed = tile.at[t];
        while (needed > 1) {
            if (at == o.reshape.count || rest < 1)
                return false;
            int64_t dim = o.transpose.at[at], taken = rest <= needed ? rest : needed;
            if (needed % taken || rest % taken)
                return false;
            VEC_PUSH(a, out->at, out->count, out->capacity) = (struct piece){dim, taken, t};
            needed /= taken;
            rest /= taken;
            if (rest == 1 && ++at < o.reshape.count)
                rest = o.reshape.at[o.transpose.at[at]];
        }
    }
    return true;
}

/* The iota order that results from transposing the tile. False if the result is not an iota. */
static bool transpose_iota(struct arena *a, struct iota_order o, struct ints tile,
                           const int64_t *perm, struct iota_order *out)
{
    struct pieces pieces = {0};
    if (!is_permutation(a, o.transpose) || !cut_pieces(a, o, tile, &pieces))
        return false;
    int64_t n = (int64_t)pieces.count, made = 0, placed = 0;
    int64_t *dims = ARENA_ARRAY(a, int64_t, n), *number = ARENA_ARRAY(a, int64_t, n),
            *order = ARENA_ARRAY(a, int64_t, n);
    for (int64_t d = 0; d < o.reshape.count; d++)
        for (int64_t k = 0; k < n; k++)
            if (pieces.at[k].dim == d) {
                number[k] = made;
                dims[made++] = pieces.at[k].size;
            }
    for (int64_t t = 0; t < tile.count; t++)
        for (int64_t k = 0; k < n; k++)
            if (pieces.at[k].tile == perm[t])
                order[placed++] = number[k];
    *out = iota_canonical(a, (struct iota_order){{n, dims}, {n, order}});
    return true;
}

/* ---- ascending replication groups ---- */

static int i64_cmp(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static struct ints sort_list(struct arena *a, struct ints list, int64_t group)
{
    int64_t *at = ARENA_DUP(a, list.at, list.count);
    for (int64_t i = 0; group > 0 && i + group <= list.count; i += group)
        qsort(at + i, (size_t)group, sizeof *at, i64_cmp);
    return (struct ints){list.count, at};
}

/* Splits reshape dimension d into (size / minor, minor). */
static struct iota_order split_dim(struct arena *a, struct iota_order o, int64_t d, int64_t minor)
{
    int64_t n = o.reshape.count + 1, k = 0;
    int64_t *dims = ARENA_ARRAY(a, int64_t, n), *perm = ARENA_ARRAY(a, int64_t, n);
    for (int64_t i = 0; i < o.reshape.count; i++)
        dims[i + (i > d)] = o.reshape.at[i];
    dims[d] /= minor;
    dims[d + 1] = minor;
    for (int64_t i = 0; i < o.transpose.count; i++) {
        int64_t x = o.transpose.at[i];
        perm[k++] = x + (x > d);
        if (x == d)
            perm[k++] = d + 1;
    }
    return (struct iota_order){{n, dims}, {n, perm}};
}

/* Sorts the innermost `group` devices of an order. False if the result is not an iota. */
static bool sort_iota(struct arena *a, struct iota_order *order, int64_t group)
{
    struct iota_order o = *order;
    int64_t n = o.reshape.count, grouped = 0;
    if (o.reshape.at[o.transpose.at[n - 1]] == group)
        return true;
    for (int64_t i = n - 1; i >= 0; i--) {
        int64_t dim = o.reshape.at[o.transpose.at[i]];
        grouped++;
        if (dim < 1 || group < 1 || (dim <= group ? group % dim : dim % group))
            return false;
        if (dim > group) {
            o = split_dim(a, o, o.transpose.at[i], group);
            break;
        }
        group /= dim;
    }
    n = o.transpose.count;
    int64_t *perm = ARENA_DUP(a, o.transpose.at, n);
    qsort(perm + n - grouped, (size_t)grouped, sizeof *perm, i64_cmp);
    o.transpose.at = perm;
    *order = iota_canonical(a, o);
    return true;
}

static const char *sort_groups(struct arena *a, struct sharding *s)
{
    int64_t group = s->tile.at[s->tile.count - 1];
    if (!s->explicit_devices) {
        if (sort_iota(a, &s->order, group))
            return NULL;
        if (!list_of_iota(a, s->order, &s->devices))
            return "replication groups cannot be put in ascending order";
        s->explicit_devices = true;
    }
    s->devices = sort_list(a, s->devices, group);
    return NULL;
}

/* ---- subgroup dimensions ---- */

/* The permutation of tile dimensions: data first, then by type, then those of size 1, which are
 * dropped. */
struct regroup {
    int64_t *perm, *tile;
    int64_t tile_count;
    uint8_t types[4];
    int type_count;
};

static void find_groups(const struct sharding *s, struct regroup *r)
{
    int64_t data = s->tile.count - s->last_type_count, k = 0;
    for (; k < data; k++) {
        r->perm[k] = k;
        r->tile[r->tile_count++] = s->tile.at[k];
    }
    for (int type = TILE_MAXIMAL; type <= TILE_REPLICATED; type++) {
        int64_t product = 1, before = k;
        for (int i = 0; i < s->last_type_count; i++)
            if (s->last_types[i] == type && s->tile.at[data + i] != 1) {
                product = (int64_t)((uint64_t)product * (uint64_t)s->tile.at[data + i]);
                r->perm[k++] = data + i;
            }
        if (k == before)
            continue;
        r->tile[r->tile_count++] = product;
        r->types[r->type_count++] = (uint8_t)type;
    }
    for (int i = 0; i < s->last_type_count; i++)
        if (s->tile.at[data + i] == 1)
            r->perm[k++] = data + i;
}

/* Whether only dimensions of size 1 move. */
static bool moves_nothing(struct ints tile, const int64_t *perm)
{
    int64_t last = -1;
    for (int64_t t = 0; t < tile.count; t++) {
        if (tile.at[perm[t]] == 1)
            continue;
        if (perm[t] < last)
            return false;
        last = perm[t];
    }
    return true;
}

static const char *transpose_devices(struct arena *a, struct sharding *s, const int64_t *perm)
{
    int64_t total;
    if (moves_nothing(s->tile, perm))
        return NULL;
    if (!s->explicit_devices && transpose_iota(a, s->order, s->tile, perm, &s->order))
        return NULL;
    if (!s->explicit_devices) {
        if (!list_of_iota(a, s->order, &s->devices) || !ints_product(s->tile, &total) ||
            total != s->devices.count)
            return "tile shape does not match the device order";
        s->explicit_devices = true;
    }
    s->devices = transpose_list(a, s->devices, s->tile, perm);
    return NULL;
}

static const char *join_types(struct arena *a, struct sharding *s)
{
    struct regroup r = {.perm = ARENA_ARRAY(a, int64_t, s->tile.count),
                        .tile = ARENA_ARRAY(a, int64_t, s->tile.count)};
    find_groups(s, &r);
    const char *problem = transpose_devices(a, s, r.perm);
    s->tile = (struct ints){r.tile_count, r.tile};
    s->last_type_count = r.type_count;
    s->last_types = ARENA_DUP(a, r.types, (size_t)r.type_count);
    return problem;
}

/* ---- canonicalization ---- */

static bool all_ones(struct ints v, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (v.at[i] != 1)
            return false;
    return true;
}

static bool same_types(const struct sharding *s)
{
    for (int i = 1; i < s->last_type_count; i++)
        if (s->last_types[i] != s->last_types[0])
            return false;
    return true;
}

/* Replaces the tiling by the equivalent keyword. */
static const char *become(struct sharding *s, enum tile_dim_type type)
{
    s->kind = type == TILE_MANUAL      ? SHARDING_MANUAL
              : type == TILE_UNREDUCED ? SHARDING_UNREDUCED
                                       : SHARDING_REPLICATED;
    s->tile = s->devices = (struct ints){0};
    s->order = (struct iota_order){0};
    s->explicit_devices = false;
    s->last_type_count = 0;
    return NULL;
}

/* Simplifies a tiling whose subgroups are all replicated. */
static const char *settle_replicated(struct arena *a, struct sharding *s)
{
    int64_t last = s->tile.at[s->tile.count - 1], total;
    if (s->tile.count == 1 || (ints_product(s->tile, &total) && last == total))
        return become(s, TILE_REPLICATED);
    s->last_type_count = 0;
    if (last == 1) {
        s->tile.count--;
        return NULL;
    }
    s->last_tile_dim_replicate = true;
    return sort_groups(a, s);
}

const char *sharding_canonicalize(struct arena *a, struct sharding *s)
{
    if (!s->last_type_count)
        return NULL;
    enum tile_dim_type first = s->last_types[0];
    if (same_types(s) && first != TILE_MAXIMAL &&
        all_ones(s->tile, s->tile.count - s->last_type_count))
        return become(s, first);
    if (s->last_type_count > 1 || s->tile.at[s->tile.count - 1] == 1) {
        const char *problem = join_types(a, s);
        if (problem || !s->last_type_count)
            return problem;
    }
    int64_t others = s->tile.count - s->last_type_count;
    if (s->last_type_count == 1 && s->last_types[0] == TILE_MANUAL && all_ones(s->tile, others))
        return become(s, TILE_MANUAL);
    if (s->last_type_count == 1 && s->last_types[0] == TILE_REPLICATED)
        return settle_replicated(a, s);
    if (s->last_types[s->last_type_count - 1] == TILE_REPLICATED)
        return sort_groups(a, s);
    return NULL;
}
