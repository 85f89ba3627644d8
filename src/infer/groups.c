/*
 * groups.c: members of collectives: checks replica groups against the number of participants, and
 * the pairs of a permutation.
 */
#include "infer/infer_priv.h"

static bool group_mode(struct infer *ctx, const struct inst *i, int *out)
{
    *out = inst_group_mode(i);
    return inst_has(i, A_MODE) || inst_has(i, A_CHANNEL_ID) ||
           !inst_bool(i, A_USE_GLOBAL_DEVICE_IDS) ||
           report_attr(ctx, i, A_USE_GLOBAL_DEVICE_IDS, "requires a channel_id");
}

/* Saturates: a product out of range matches no list of groups. */
static int64_t product(int64_t a, int64_t b)
{
    int64_t p;
    return mul_i64(a, b, &p) ? p : INT64_MAX;
}

/* The required number of ids in all groups together. */
static int64_t expected_ids(const struct module *m, int mode)
{
    switch (mode) {
    case E_MODE_CROSS_PARTITION: return m->num_partitions;
    case E_MODE_FLATTENED_ID: return product(m->replica_count, m->num_partitions);
    default: return m->replica_count;
    }
}

/* The ids of all groups must be a permutation of 0 .. total-1. */
static bool check_ids(struct infer *ctx, const struct inst *i, struct ints_list groups,
                      int64_t total)
{
    bool *seen = ARENA_ARRAY(ctx->arena, bool, total);
    for (int64_t g = 0; g < groups.count; g++) {
        for (int64_t k = 0; k < groups.at[g].count; k++) {
            int64_t id = groups.at[g].at[k];
            if (!check_attr_int(ctx, i, A_REPLICA_GROUPS, id, 0, total))
                return false;
            if (seen[id])
                return report_attr(ctx, i, A_REPLICA_GROUPS, "%" PRId64 " is duplicated", id);
            seen[id] = true;
        }
    }
    return true;
}

static bool check_list(struct infer *ctx, const struct inst *i, struct ints_list groups,
                       bool uniform, int64_t *total)
{
    *total = 0;
    for (int64_t g = 0; g < groups.count; g++) {
        if (groups.at[g].count == 0)
            return report_attr(ctx, i, A_REPLICA_GROUPS, "group %" PRId64 " is empty", g);
        if (uniform && groups.at[g].count != groups.at[0].count)
            return report_attr(ctx, i, A_REPLICA_GROUPS, "groups of %" PRId64 " and of %" PRId64,
                               groups.at[0].count, groups.at[g].count);
        *total += groups.at[g].count;
    }
    return check_ids(ctx, i, groups, *total);
}

bool groups_check(struct infer *ctx, const struct inst *i, bool uniform, struct group_facts *out)
{
    const struct module *m = ctx->m;
    const struct attr *a = inst_attr(i, A_REPLICA_GROUPS);
    const struct device_list *d = a ? a->v.groups : NULL;
    int mode;
    if (!group_mode(ctx, i, &mode))
        return false;
    bool listed = d && (d->form != GROUPS_LIST || d->groups.count > 0);
    if (!listed) {
        if (mode == E_MODE_FLATTENED_ID)
            return report_inst(ctx, i, NULL, "with use_global_device_ids requires replica_groups");
        out->size = mode == E_MODE_CROSS_PARTITION ? m->num_partitions : m->replica_count;
    } else {
        int64_t total, expected = expected_ids(m, mode);
        if (d->form == GROUPS_LIST) {
            if (!check_list(ctx, i, d->groups, uniform, &total))
                return false;
            out->size = d->groups.at[0].count;
        } else {
            total = product(d->group_count, d->group_size);
            if (d->form == GROUPS_IOTA &&
                total != dims_elements((int)d->order.reshape.count, d->order.reshape.at))
                return report_attr(ctx, i, A_REPLICA_GROUPS,
                                   "%" PRId64 " slots for %" PRId64 " ids", total,
                                   dims_elements((int)d->order.reshape.count, d->order.reshape.at));
            out->size = d->group_size;
        }
        if (expected != 1 && total != expected)
            return report_attr(ctx, i, A_REPLICA_GROUPS, "%" PRId64 " ids, expected %" PRId64,
                               total, expected);
    }
    if (mode == E_MODE_CROSS_REPLICA_AND_PARTITION)
        out->size = product(out->size, m->num_partitions);
    return true;
}

/* How often an id may be a source, or a target: once, or for an in-place permute as often as its
 * offsets have elements. */
static int64_t permute_repeats(const struct inst *i)
{
    const struct shape *offsets = operand_shape(i, 2);
    if (shape_is_tuple(operand_shape(i, 0)) && shape_is_tuple(offsets) && offsets->count > 0)
        offsets = offsets->elements[0];
    return shape_is_tuple(offsets) ? offsets->count : 1;
}

static bool count_id(struct map *seen, const int64_t *id, struct arena *a, int64_t max)
{
    struct str key = {(const char *)id, sizeof *id};
    int64_t *n = map_get(seen, key);
    if (!n) {
        n = ARENA_NEW(a, int64_t);
        map_put(seen, key, n);
    }
    return ++*n <= max;
}

bool groups_check_pairs(struct infer *ctx, const struct inst *i, bool in_place)
{
    const struct attr *a = inst_attr(i, A_SOURCE_TARGET_PAIRS);
    struct ints_list pairs = a ? a->v.ints_list : (struct ints_list){0, NULL};
    int64_t limit = inst_has(i, A_CHANNEL_ID) ? ctx->m->num_partitions : ctx->m->replica_count;
    int64_t max = in_place ? permute_repeats(i) : 1;
    static const char *const side[] = {"source", "target"};
    struct map seen[2];
    map_init(&seen[0], ctx->arena);
    map_init(&seen[1], ctx->arena);
    for (int64_t p = 0; p < pairs.count; p++) {
        for (int s = 0; s < 2; s++) {
            const int64_t *id = &pairs.at[p].at[s];
            if (!check_attr_int(ctx, i, A_SOURCE_TARGET_PAIRS, *id, 0,
                                limit != 1 ? limit : INT64_MAX))
                return false;
            if (!count_id(&seen[s], id, ctx->arena, max))
                return report_attr(ctx, i, A_SOURCE_TARGET_PAIRS,
                                   "%" PRId64 " is a %s more than %" PRId64 " time(s)", *id,
                                   side[s], max);
        }
    }
    return true;
}
