/*
 * call.c: operations whose computation or dimension numbers are implicit: dot by the ranks of
 * its operands, sort without a comparator, cross-replica-sum, map with static operands, composite
 * calls.
 */
#include "lower/lower_priv.h"

/* ---- dot ---- */

/* The contracting dimensions of the specification's Dot, which follow from the ranks; false when it
 * isn't defined for them. spec: Dot: vector with vector, matrix with vector, matrix with matrix */
static bool dot_numbers(const struct shape *lhs, const struct shape *rhs, int64_t *left,
                        int64_t *right)
{
    if (!shape_is_array(lhs) || !shape_is_array(rhs) || lhs->rank < rhs->rank || rhs->rank < 1 ||
        lhs->rank > 2)
        return false;
    *left = lhs->rank - 1;
    *right = 0;
    return dim_compatible(lhs->dims[*left], rhs->dims[0]);
}

/* Without dimension numbers, a dot in XLA is an outer product. If the written result has another
 * shape, the specification's Dot is assumed. */
bool lower_dot(struct lower *lo)
{
    struct inst *i = lo->i;
    static const enum attr_id numbers[] = {A_LHS_CONTRACTING_DIMS, A_RHS_CONTRACTING_DIMS,
                                           A_LHS_BATCH_DIMS, A_RHS_BATCH_DIMS};
    for (size_t k = 0; k < COUNT_OF(numbers); k++)
        if (inst_has(i, numbers[k]))
            return true;
    int64_t left, right;
    const struct shape *l = operand_shape(i, 0), *r = operand_shape(i, 1);
    if (!dot_numbers(l, r, &left, &right))
        return true;
    if (!i->shape) {
        DIAG(lo->infer.ds, i->opcode_span, DOT_OUTER, left, right);
        return true;
    }
    if (i->shape->rank != l->rank + r->rank - 2)
        return true;
    lower_set_ints(lo, i, A_LHS_CONTRACTING_DIMS, 1, &left);
    lower_set_ints(lo, i, A_RHS_CONTRACTING_DIMS, 1, &right);
    return true;
}

/* ---- computations ---- */

/* Creates a computation of `count` scalar parameters whose root is `op` of the first two. */
static struct computation *scalar_computation(struct lower *lo, const char *name, enum opcode op,
                                              const struct shape *result, int count,
                                              const enum dtype *types)
{
    struct computation *c = computation_new(lo->infer.m, str_of(name));
    c->span = c->name_span = lo->i->opcode_span;
    for (int k = 0; k < count; k++) {
        struct inst *p = inst_new(c, OP_PARAMETER, arena_printf(lo->arena, "p%d", k),
                                  shape_scalar(lo->arena, types[k]), 0, NULL);
        p->number = k;
        p->span = p->name_span = lo->i->opcode_span;
    }
    struct inst *root = inst_new(c, op, str_of(op_spelling(op)), result, 2,
                                 (struct inst *[]){c->insts[0], c->insts[1]});
    root->span = root->name_span = root->opcode_span = lo->i->opcode_span;
    c->root = root;
    computation_finish(c);
    return c;
}

/* spec: Sort */
bool lower_sort(struct lower *lo)
{
    struct inst *i = lo->i;
    if (i->operand_count == 0 || !shape_is_array(operand_shape(i, 0)))
        return true;
    if (!inst_has(i, A_DIMENSIONS)) {
        int64_t last = operand_shape(i, 0)->rank - 1;
        if (last < 0)
            return report_operand(&lo->infer, i, 0, "at least one dimension");
        lower_set_ints(lo, i, A_DIMENSIONS, 1, &last);
    }
    if (inst_has(i, A_TO_APPLY))
        return true;
    enum dtype key = operand_shape(i, 0)->dtype,
               *types = ARENA_ARRAY(lo->arena, enum dtype, 2 * i->operand_count);
    if (dtype_is_complex(key))
        return report_operand(&lo->infer, i, 0, "an ordered element type, or a comparator");
    for (int k = 0; k < i->operand_count; k++)
        types[2 * k] = types[2 * k + 1] = operand_shape(i, k)->dtype;
    struct computation *c = scalar_computation(
        lo, "less_than", OP_COMPARE, shape_scalar(lo->arena, DT_PRED), 2 * i->operand_count, types);
    lower_set_attr(lo, c->root, A_DIRECTION, (union attr_value){.e = E_DIRECTION_LT});
    if (dtype_is_float(key)) /* total order, since NaNs must be ordered as well */
        lower_set_attr(lo, c->root, A_TYPE, (union attr_value){.e = E_TYPE_TOTALORDER});
    lower_set_attr(lo, i, A_TO_APPLY, (union attr_value){.computation = c});
    return true;
}

/* spec: CrossReplicaSum */
static void sum_replicas(struct lower *lo)
{
    enum dtype t[2];
    t[0] = t[1] = operand_shape(lo->i, 0)->dtype;
    struct computation *c =
        scalar_computation(lo, "sum", OP_ADD, shape_scalar(lo->arena, t[0]), 2, t);
    lower_set_attr(lo, lo->i, A_TO_APPLY, (union attr_value){.computation = c});
}

/* spec: AllReduce: a tuple operand stands for its components */
bool lower_all_reduce(struct lower *lo)
{
    struct inst *i = lo->i;
    struct inst *tuple = i->operand_count == 1 ? i->operands[0] : NULL;
    if (tuple && shape_is_tuple(tuple->shape) && tuple->shape->count > 1) {
        int count = tuple->shape->count;
        struct inst **parts = ARENA_ARRAY(lo->arena, struct inst *, count);
        for (int k = 0; k < count; k++)
            parts[k] = lower_element(lo, tuple, k);
        lower_set_operands(lo, count, parts);
    }
    if (lo->form != FORM_CROSS_REPLICA_SUM)
        return true;
    if (inst_has(i, A_TO_APPLY))
        return report_attr(&lo->infer, i, A_TO_APPLY, "not allowed for a sum");
    if (!check_operand_arrays(&lo->infer, i, 0, i->operand_count))
        return false;
    sum_replicas(lo);
    return true;
}

/* ---- map ---- */

/* spec: Map: static operands are passed to every call; once broadcast, they are operands like the
 * others. */
bool lower_map(struct lower *lo)
{
    struct inst *i = lo->i;
    const struct attr *fixed = inst_attr(i, A_STATIC_OPERANDS);
    if (i->operand_count == 0 || !shape_is_array(operand_shape(i, 0)))
        return true;
    const struct shape *s = operand_shape(i, 0);
    if (!inst_has(i, A_DIMENSIONS) && !i->shape)
        lower_set_attr(lo, i, A_DIMENSIONS, (union attr_value){.ints = lower_iota(lo, s->rank)});
    if (!fixed)
        return true;
    int count = i->operand_count, more = fixed->v.insts.count;
    struct inst **operands = ARENA_ARRAY(lo->arena, struct inst *, count + more);
    memcpy(operands, i->operands, (size_t)count * sizeof *operands);
    for (int k = 0; k < more; k++) {
        struct inst *x = fixed->v.insts.at[k];
        if (!shape_is_scalar(x->shape))
            return report_attr(&lo->infer, i, A_STATIC_OPERANDS,
                               "'" STR_FMT "' is %s; only scalars can be captured, slice it first",
                               STR_ARG(x->name), report_text(&lo->infer, x->shape));
        operands[count + k] = lower_broadcast_to(lo, x, s, NULL);
    }
    lower_set_operands(lo, count + more, operands);
    return true;
}

/* ---- composite calls ---- */

/* Inserts a pair, sorted by key. */
static void add_pair(struct string_pair *at, int *count, const char *key, struct str value)
{
    int k = 0;
    while (k < *count && str_cmp(at[k].key, str_of(key)) < 0)
        k++;
    if (k == *count || !str_is(at[k].key, key)) {
        memmove(&at[k + 1], &at[k], (size_t)(*count - k) * sizeof *at);
        ++*count;
    }
    at[k] = (struct string_pair){str_of(key), value};
}

/* spec: CompositeCall */
bool lower_call(struct lower *lo)
{
    struct inst *i = lo->i;
    const struct attr *name = inst_attr(i, A_NAME), *given = inst_attr(i, A_FRONTEND_ATTRIBUTES);
    const struct attr *attributes = inst_attr(i, A_COMPOSITE_ATTRIBUTES);
    if (lo->form == FORM_NONE && !name && !attributes && !inst_has(i, A_VERSION))
        return true;
    if (!name)
        return report_inst(&lo->infer, i, NULL, "requires name=\"...\", the name of the composite");
    int64_t version = inst_int(i, A_VERSION, 0);
    if (!check_attr_int(&lo->infer, i, A_VERSION, version, 0, INT64_MAX))
        return false;
    int count = given ? given->v.frontend.count : 0;
    struct string_pair *at = ARENA_ARRAY(lo->arena, struct string_pair, count + 3);
    if (count)
        memcpy(at, given->v.frontend.at, (size_t)count * sizeof *at);
    add_pair(at, &count, "composite.attributes", attributes ? attributes->v.s : STR("{}"));
    add_pair(at, &count, "composite.name", name->v.s);
    add_pair(at, &count, "composite.version", arena_printf(lo->arena, "%" PRId64, version));
    lower_set_attr(lo, i, A_FRONTEND_ATTRIBUTES, (union attr_value){.frontend = {count, at}});
    lower_set_attr(lo, i, A_IS_COMPOSITE, (union attr_value){.b = true});
    return true;
}
