/*
 * broadcast.c: implicit broadcasts. In core HLO all operands have the same dimensions; the
 * builder repeats scalars, dimensions of size 1, and, with broadcast_dimensions, arrays of lower
 * rank.
 */
#include "lower/lower_priv.h"

/* ---- broadcast of one array to a larger shape ---- */

/* The operand of a broadcast to the sizes of `to`: `x` without the repeated dimensions; *dims maps
 * the others. */
static struct inst *drop_repeated(struct lower *lo, struct inst *x, const struct shape *to,
                                  const int64_t *map, struct ints *dims)
{
    const struct shape *s = x->shape;
    struct dims kept = dims_new(lo->arena, s->rank);
    int64_t *at = ARENA_ARRAY(lo->arena, int64_t, s->rank);
    for (int k = 0; k < s->rank; k++) {
        if (s->dims[k] != to->dims[map[k]])
            continue;
        at[kept.rank] = map[k];
        dims_take(&kept, s, k);
    }
    *dims = (struct ints){kept.rank, at};
    if (kept.rank == s->rank)
        return x;
    return lower_helper(lo, OP_RESHAPE, dims_shape(lo->arena, s->dtype, &kept), 1, &x);
}

/* A shape with the sizes of `to`; a dimension is dynamic if the corresponding one of `x` is. */
static const struct shape *repeated_shape(struct lower *lo, const struct inst *x,
                                          const struct shape *to, struct ints dims)
{
    struct dims d = dims_new(lo->arena, to->rank);
    for (int k = 0; k < to->rank; k++)
        dims_add(&d, to->dims[k], false);
    for (int64_t k = 0; k < dims.count; k++)
        d.dynamic[dims.at[k]] = shape_dim_dynamic(x->shape, (int)k);
    return dims_shape(lo->arena, x->shape->dtype, &d);
}

struct inst *lower_broadcast_to(struct lower *lo, struct inst *x, const struct shape *to,
                                const int64_t *map)
{
    struct ints dims;
    bool same = x->shape->rank == to->rank;
    for (int k = 0; same && k < to->rank; k++)
        same = map[k] == k && x->shape->dims[k] == to->dims[k];
    if (same)
        return x;
    x = drop_repeated(lo, x, to, map, &dims);
    struct inst *i = lower_helper(lo, OP_BROADCAST, repeated_shape(lo, x, to, dims), 1, &x);
    lower_set_attr(lo, i, A_DIMENSIONS, (union attr_value){.ints = dims});
    return i;
}

/* spec: Broadcast: new dimensions in front of the operand's */
static bool broadcast_front(struct lower *lo)
{
    const struct shape *s = operand_shape(lo->i, 0);
    struct dims d;
    if (!lower_read_sizes(lo, s->rank, &d))
        return false;
    int front = d.rank;
    for (int k = 0; k < s->rank; k++)
        dims_take(&d, s, k);
    lower_set_ints(lo, lo->i, A_DIMENSIONS, s->rank, lower_iota(lo, d.rank).at + front);
    return lower_set_shape(lo, dims_shape(lo->arena, s->dtype, &d));
}

/* Whether it is a well-formed broadcast of core HLO. The verifier reports malformed ones. */
static bool is_core_broadcast(const struct inst *i, struct ints map)
{
    if (!shape_is_array(i->shape) || map.count != operand_shape(i, 0)->rank)
        return false;
    for (int64_t k = 0; k < map.count; k++)
        if (map.at[k] < 0 || map.at[k] >= i->shape->rank)
            return false;
    return true;
}

/* spec: BroadcastInDim: dimension k becomes dimension map[k] of the result, and is repeated where
 * it has size 1 */
static bool broadcast_in_dim(struct lower *lo, enum attr_id id)
{
    struct inst *i = lo->i;
    struct inst *x = i->operands[0];
    const struct shape *s = x->shape, *to = i->shape;
    struct ints map = inst_ints(i, id);
    if (!check_result_array(&lo->infer, i) ||
        !check_attr_count(&lo->infer, i, id, map.count, s->rank))
        return false;
    bool repeats = false;
    for (int k = 0; k < s->rank; k++) {
        if (!check_attr_int(&lo->infer, i, id, map.at[k], 0, to->rank))
            return false;
        repeats |= s->dims[k] == 1 && to->dims[map.at[k]] != 1;
    }
    if (repeats)
        lower_set_operands(lo, 1, (struct inst *[]){drop_repeated(lo, x, to, map.at, &map)});
    lower_set_ints(lo, i, A_DIMENSIONS, map.count, map.at);
    return true;
}

bool lower_broadcast(struct lower *lo)
{
    struct inst *i = lo->i;
    const struct shape *s = operand_shape(i, 0);
    bool sized = inst_has(i, A_SIZES), mapped = inst_has(i, A_BROADCAST_DIMENSIONS);
    bool core = !sized && !mapped && lo->form == FORM_NONE;
    struct dims d;
    if (!shape_is_array(s) ||
        (core && (!i->shape || !is_core_broadcast(i, inst_ints(i, A_DIMENSIONS)))))
        return true;
    if (sized && !mapped && !inst_has(i, A_DIMENSIONS) && lo->form != FORM_BROADCAST_IN_DIM)
        return broadcast_front(lo);
    if (sized &&
        (!lower_read_sizes(lo, 0, &d) || !lower_set_shape(lo, dims_shape(lo->arena, s->dtype, &d))))
        return false;
    if (!i->shape)
        return report_inst(&lo->infer, i, NULL, "requires an explicit result shape or sizes={...}");
    return broadcast_in_dim(lo, mapped ? A_BROADCAST_DIMENSIONS : A_DIMENSIONS);
}

/* ---- binary operations ---- */

static bool has_unbounded(const struct inst *i)
{
    return shape_has_unbounded(operand_shape(i, 0)) || shape_has_unbounded(operand_shape(i, 1));
}

/* The dimensions that those of the operand of lower rank correspond to; false (reported) if they
 * are not given. */
static bool map_smaller(struct lower *lo, int small, struct ints *map)
{
    const struct inst *i = lo->i;
    const struct shape *s = operand_shape(i, small), *large = operand_shape(i, !small);
    *map = inst_ints(i, A_BROADCAST_DIMENSIONS);
    if (s->rank > 0 && !inst_has(i, A_BROADCAST_DIMENSIONS))
        return report_inst(
            &lo->infer, i, NULL,
            "has operands of rank %d and %d, %s and %s: broadcast_dimensions={...} must map "
            "the dimensions of %s to those of %s",
            operand_shape(i, 0)->rank, operand_shape(i, 1)->rank,
            report_text(&lo->infer, operand_shape(i, 0)),
            report_text(&lo->infer, operand_shape(i, 1)), report_text(&lo->infer, s),
            report_text(&lo->infer, large));
    if (!check_attr_count(&lo->infer, i, A_BROADCAST_DIMENSIONS, map->count, s->rank))
        return false;
    for (int64_t k = 0; k < map->count; k++) {
        if (!check_attr_int(&lo->infer, i, A_BROADCAST_DIMENSIONS, map->at[k], 0, large->rank))
            return false;
        if (k > 0 && map->at[k] <= map->at[k - 1])
            return report_attr(&lo->infer, i, A_BROADCAST_DIMENSIONS,
                               "not in ascending order: %" PRId64 " after %" PRId64, map->at[k],
                               map->at[k - 1]);
    }
    return true;
}

/* Between arrays of the same rank, broadcast_dimensions must be the identity. */
static bool map_equal(struct lower *lo, int rank, struct ints *map)
{
    struct ints given = inst_ints(lo->i, A_BROADCAST_DIMENSIONS);
    *map = lower_iota(lo, rank);
    if (given.count == 0)
        return true;
    if (!check_attr_count(&lo->infer, lo->i, A_BROADCAST_DIMENSIONS, given.count, rank))
        return false;
    for (int k = 0; k < rank; k++)
        if (given.at[k] != k)
            return report_attr(&lo->infer, lo->i, A_BROADCAST_DIMENSIONS,
                               "operands of equal rank keep their dimensions: %" PRId64
                               " instead of %d",
                               given.at[k], k);
    return true;
}

/* The sizes that both operands are broadcast to; NULL (reported) if two differ and neither is 1. */
static const struct shape *common_sizes(struct lower *lo, int small, struct ints map)
{
    const struct shape *s = operand_shape(lo->i, small), *large = operand_shape(lo->i, !small);
    struct dims d = dims_new(lo->arena, large->rank);
    for (int k = 0; k < large->rank; k++)
        dims_add(&d, large->dims[k], false);
    for (int64_t k = 0; k < map.count; k++) {
        int64_t *size = &d.size[map.at[k]], other = s->dims[k];
        if (*size == 1)
            *size = other;
        if (other == 1 || other == *size)
            continue;
        report_inst(&lo->infer, lo->i, NULL,
                    "has operands of incompatible shapes %s and %s: dimension %" PRId64
                    " is %" PRId64 " and %" PRId64 ", expected equal sizes or 1",
                    report_text(&lo->infer, operand_shape(lo->i, 0)),
                    report_text(&lo->infer, operand_shape(lo->i, 1)), map.at[k],
                    small ? *size : other, small ? other : *size);
        return NULL;
    }
    return dims_shape(lo->arena, large->dtype, &d);
}

/* The shape that both operands are broadcast to, and the dimensions that those of `small`
 * correspond to; NULL, reported, if the shapes do not broadcast. */
static const struct shape *binary_shape(struct lower *lo, int small, struct ints *map)
{
    const struct shape *l = operand_shape(lo->i, 0), *r = operand_shape(lo->i, 1);
    bool ok = l->rank == r->rank ? map_equal(lo, l->rank, map) : map_smaller(lo, small, map);
    return ok ? common_sizes(lo, small, *map) : NULL;
}

/* The same for an instruction with a written shape and without broadcast_dimensions. If the
 * operands do not give that shape, it is malformed core HLO, which the verifier reports: NULL
 * without a message. */
static const struct shape *binary_shape_if_written(struct lower *lo, int small, struct ints *map)
{
    struct diags *ds = lo->infer.ds;
    bool quiet = ds->quiet;
    unsigned errors = ds->errors;
    ds->quiet = true;
    const struct shape *to = binary_shape(lo, small, map);
    ds->quiet = quiet;
    ds->errors = errors;
    return to && shape_compatible_any(to, lo->i->shape) ? to : NULL;
}

/* Lowers the comparisons that are spelled `eq`, `less-than`, `ge-total-order`, ... */
static bool compare_form(struct lower *lo)
{
    static const struct {
        uint8_t form, direction;
        bool total;
    } words[] = {
        {FORM_EQ, E_DIRECTION_EQ, false},
        {FORM_EQUAL_TO, E_DIRECTION_EQ, false},
        {FORM_EQ_TOTAL_ORDER, E_DIRECTION_EQ, true},
        {FORM_NE, E_DIRECTION_NE, false},
        {FORM_NOT_EQUAL_TO, E_DIRECTION_NE, false},
        {FORM_NE_TOTAL_ORDER, E_DIRECTION_NE, true},
        {FORM_GE, E_DIRECTION_GE, false},
        {FORM_GREATER_THAN_OR_EQUAL_TO, E_DIRECTION_GE, false},
        {FORM_GE_TOTAL_ORDER, E_DIRECTION_GE, true},
        {FORM_GT, E_DIRECTION_GT, false},
        {FORM_GREATER_THAN, E_DIRECTION_GT, false},
        {FORM_GT_TOTAL_ORDER, E_DIRECTION_GT, true},
        {FORM_LE, E_DIRECTION_LE, false},
        {FORM_LESS_THAN_OR_EQUAL_TO, E_DIRECTION_LE, false},
        {FORM_LE_TOTAL_ORDER, E_DIRECTION_LE, true},
        {FORM_LT, E_DIRECTION_LT, false},
        {FORM_LESS_THAN, E_DIRECTION_LT, false},
        {FORM_LT_TOTAL_ORDER, E_DIRECTION_LT, true},
    };
    size_t k = 0;
    while (words[k].form != lo->form)
        k++;
    if (inst_has(lo->i, A_DIRECTION))
        return report_attr(&lo->infer, lo->i, A_DIRECTION, "implied by the opcode");
    lower_set_attr(lo, lo->i, A_DIRECTION, (union attr_value){.e = words[k].direction});
    /* integers are totally ordered anyway */
    if (words[k].total && dtype_is_float(operand_shape(lo->i, 0)->dtype))
        lower_set_attr(lo, lo->i, A_TYPE, (union attr_value){.e = E_TYPE_TOTALORDER});
    return true;
}

/* spec: Element-wise binary arithmetic operations, Element-wise comparison operations */
bool lower_binary(struct lower *lo)
{
    struct inst *i = lo->i;
    if (lo->form != FORM_NONE && i->opcode == OP_COMPARE && !compare_form(lo))
        return false;
    const struct shape *l = operand_shape(i, 0), *r = operand_shape(i, 1);
    bool given = inst_has(i, A_BROADCAST_DIMENSIONS), written = i->shape && !given;
    if (!shape_is_array(l) || !shape_is_array(r) || has_unbounded(i) ||
        (!given && shape_same_dims(l, r)))
        return true;
    int small = r->rank < l->rank;
    struct ints map;
    const struct shape *to =
        written ? binary_shape_if_written(lo, small, &map) : binary_shape(lo, small, &map);
    if (!to)
        return written;
    struct inst *both[2] = {i->operands[0], i->operands[1]};
    both[small] = lower_broadcast_to(lo, both[small], to, map.at);
    both[!small] = lower_broadcast_to(lo, both[!small], to, lower_iota(lo, to->rank).at);
    lower_set_operands(lo, 2, both);
    return true;
}

/* ---- select ---- */

enum { SELECT_MAX = 1 << 16 }; /* limit on the number of components in a select of tuples */

static bool select_parts(struct lower *lo, struct inst *pred, struct inst *x, struct inst *y,
                         struct inst **parts);

/* Lowers a select whose operands may be tuples: arrays of a tuple are selected separately. NULL
 * with a message. */
static struct inst *select_value(struct lower *lo, struct inst *pred, struct inst *x,
                                 struct inst *y)
{
    if (!shape_is_tuple(x->shape)) {
        if (!shape_is_array(x->shape))
            return report_operand(&lo->infer, lo->i, 1, "arrays or tuples of arrays"), NULL;
        return lower_helper(lo, OP_SELECT, x->shape, 3, (struct inst *[]){pred, x, y});
    }
    int count = x->shape->count;
    struct inst **parts = ARENA_ARRAY(lo->arena, struct inst *, count);
    return select_parts(lo, pred, x, y, parts) ? lower_helper(lo, OP_TUPLE, x->shape, count, parts)
                                               : NULL;
}

static bool select_parts(struct lower *lo, struct inst *pred, struct inst *x, struct inst *y,
                         struct inst **parts)
{
    for (int k = 0; k < x->shape->count; k++) {
        struct inst *left = lower_element(lo, x, k), *right = lower_element(lo, y, k);
        parts[k] = select_value(lo, pred, left, right);
        if (!parts[k])
            return false;
    }
    return true;
}

static bool select_tuples(struct lower *lo)
{
    struct inst *i = lo->i, *pred = i->operands[0], *x = i->operands[1], *y = i->operands[2];
    if (!shape_is_scalar_of(pred->shape, DT_PRED))
        return report_operand(&lo->infer, i, 0, "pred[] for selecting between tuples");
    if (!shape_compatible(x->shape, y->shape))
        return report_operands(&lo->infer, i, 1, 2, "shape");
    if (shape_part_count(x->shape) > SELECT_MAX)
        return report_operand(&lo->infer, i, 1, "at most %d elements", SELECT_MAX);
    int count = x->shape->count;
    struct inst **parts = ARENA_ARRAY(lo->arena, struct inst *, count);
    if (!select_parts(lo, pred, x, y, parts))
        return false;
    if (!lower_set_shape(lo, x->shape))
        return false;
    i->opcode = OP_TUPLE;
    lower_set_operands(lo, count, parts);
    return true;
}

/* spec: Select */
bool lower_select(struct lower *lo)
{
    struct inst *i = lo->i;
    if (shape_is_tuple(operand_shape(i, 1)) || shape_is_tuple(operand_shape(i, 2)))
        return select_tuples(lo);
    const struct shape *to = NULL; /* shape of the first non-scalar operand */
    static const int order[] = {1, 2, 0};
    for (int k = 0; k < 3; k++) {
        const struct shape *s = operand_shape(i, order[k]);
        if (!shape_is_array(s) || shape_has_unbounded(s))
            return true;
        if (!to && s->rank > 0)
            to = s;
    }
    bool scalars = operand_shape(i, 1)->rank == 0 || operand_shape(i, 2)->rank == 0;
    if (!to || !scalars || (i->shape && !shape_compatible_any(i->shape, to)))
        return true;
    struct inst *operands[3] = {i->operands[0], i->operands[1], i->operands[2]};
    for (int k = 1; k < 3; k++)
        if (operands[k]->shape->rank == 0)
            operands[k] = lower_broadcast_to(lo, operands[k], to, NULL);
    lower_set_operands(lo, 3, operands);
    return true;
}
