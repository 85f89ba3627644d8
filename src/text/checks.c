/*
 * checks.c: per-opcode checks, corrections and defaults that XLA applies while parsing
 * (grammar/text.md 3.3), from a draft to the stored instruction.
 *
 * This is not the verifier: a declared shape is mostly accepted as written.
 */
#include "text/parse.h"

#include <stdio.h>

/* ---- operands ---- */

static bool count_error(struct parser *p, struct draft *d, const char *expected)
{
    if (d->dropped)
        return report_dropped_operand(p, d);
    return DIAG_ERROR(p->ds, d->open, OPERAND_COUNT, STR_ARG(d->word), expected,
                      d->i.operand_count);
}

bool check_operand_count(struct parser *p, struct draft *d)
{
    const struct op_info *op = &op_table[d->i.opcode];
    int n = d->i.operand_count, min = op->min_operands, max = op->max_operands;
    if (d->i.opcode == OP_CONVOLUTION && !p->strict)
        max = OPERANDS_MANY;
    if (d->form != FORM_NONE) {
        min = form_table[d->form].min_operands;
        max = form_table[d->form].max_operands;
    }
    bool counted = d->i.opcode == OP_RAGGED_DOT || d->i.opcode == OP_SCALED_DOT;
    if (d->wrapped_inside && !counted && max != OPERANDS_MANY && n > max)
        d->i.operand_count = n = max;
    if (d->poisoned || (n >= min && (n <= max || max == OPERANDS_MANY)))
        return true;
    char expected[48];
    if (max == OPERANDS_MANY)
        snprintf(expected, sizeof expected, "at least %d operand%s", min, min == 1 ? "" : "s");
    else if (max == 0)
        snprintf(expected, sizeof expected, "no operands");
    else if (min == max)
        snprintf(expected, sizeof expected, "%d operand%s", min, min == 1 ? "" : "s");
    else
        snprintf(expected, sizeof expected, "%d to %d operands", min, max);
    return count_error(p, d, expected);
}

/* A buffer is treated as the array that it holds. */
static const struct shape *array_of(const struct shape *s)
{
    return s->dtype == DT_BUFFER ? s->elements[0] : s;
}

/* Checks the operand kinds that decide which attributes apply. */
bool check_operand_kinds(struct parser *p, struct draft *d)
{
    if (d->i.opcode != OP_CONDITIONAL || d->poisoned)
        return true;
    const struct shape *s = operand_shape(&d->i, 0);
    if (shape_is_scalar_of(s, DT_PRED) || shape_is_scalar_of(s, DT_S32))
        return true;
    return DIAG_ERROR(p->ds, d->open, CONDITIONAL_INDEX, STR_ARG(shape_text(p->arena, s)));
}

/* ---- attributes ---- */

/* The form of a conditional follows from its first operand. */
bool check_attribute_applies(const struct draft *d, enum attr_id id)
{
    if (d->i.opcode != OP_CONDITIONAL || d->poisoned || d->i.operand_count == 0)
        return true;
    bool two = shape_is_scalar_of(operand_shape(&d->i, 0), DT_PRED);
    switch (id) {
    case A_TRUE_COMPUTATION:
    case A_FALSE_COMPUTATION: return two;
    case A_BRANCH_COMPUTATIONS: return !two;
    default: return true;
    }
}

static bool require(struct parser *p, const struct draft *d, enum attr_id id)
{
    if (draft_has(d, id))
        return true;
    return DIAG_ERROR(p->ds, d->i.opcode_span, MISSING_ATTRIBUTE, STR_ARG(d->word),
                      attr_spelling(id));
}

bool check_required(struct parser *p, struct draft *d)
{
    for (const struct op_attr *a = op_table[d->i.opcode].attrs; a->id != A_NONE; a++) {
        bool made = a->id == A_CALLS && d->inner; /* OP-start creates its computation itself */
        if (a->use & USE_REQUIRED && !made && !require(p, d, (enum attr_id)a->id))
            return false;
    }
    return true;
}

static bool one_dimension(struct parser *p, struct draft *d)
{
    const struct attr *a = inst_attr(&d->i, A_DIMENSIONS);
    if (!a || a->v.ints.count == 1)
        return true;
    return DIAG_ERROR(p->ds, a->span, WRONG_COUNT, "dimensions", "one entry",
                      (long long)a->v.ints.count);
}

static bool some_dimension(struct parser *p, struct draft *d)
{
    const struct attr *a = inst_attr(&d->i, A_DIMENSIONS);
    if (a->v.ints.count > 0)
        return true;
    return DIAG_ERROR(p->ds, a->span, WRONG_COUNT, "dimensions", "one entry", (long long)0);
}

static bool global_ids(struct parser *p, struct draft *d)
{
    if (!inst_bool(&d->i, A_USE_GLOBAL_DEVICE_IDS) || inst_has(&d->i, A_CHANNEL_ID) ||
        inst_has(&d->i, A_MODE))
        return true;
    return DIAG_ERROR(p->ds, inst_attr_span(&d->i, A_USE_GLOBAL_DEVICE_IDS), GLOBAL_IDS);
}

static bool reduce_scatter(struct parser *p, struct draft *d)
{
    return some_dimension(p, d) && global_ids(p, d);
}

/* ---- one function per opcode with special rules; these also correct shapes ---- */

static bool shape_error(struct parser *p, const struct draft *d, const char *expected)
{
    return DIAG_ERROR(p->ds, d->i.shape_span, DECLARED_SHAPE, STR_ARG(d->word), expected,
                      STR_ARG(d->i.shape ? shape_text(p->arena, d->i.shape) : STR("none")));
}

static bool broadcast(struct parser *p, struct draft *d)
{
    const struct shape *s = operand_shape(&d->i, 0);
    if (shape_is_tuple(s) && s->count > 0) /* XLA aborts, here or in its verifier */
        return DIAG_ERROR(p->ds, d->open, DECLARED_SHAPE, STR_ARG(d->word), "an array as operand",
                          STR_ARG(shape_text(p->arena, s)));
    return shape_is_scalar(s) || require(p, d, A_DIMENSIONS);
}

/* XLA aborts here: it computes the rank of a tuple, or the default comparison order of another
 * type. */
static bool compare(struct parser *p, struct draft *d)
{
    const struct shape *s = operand_shape(&d->i, 0);
    return shape_is_array(array_of(s)) ||
           DIAG_ERROR(p->ds, d->open, DECLARED_SHAPE, STR_ARG(d->word), "arrays as operands",
                      STR_ARG(shape_text(p->arena, s)));
}

/* The declared shape must have as many elements as operand 0, if both are known. */
static bool same_elements(struct parser *p, struct draft *d)
{
    const struct shape *to = d->i.shape ? array_of(d->i.shape) : NULL,
                       *from = array_of(operand_shape(&d->i, 0));
    int64_t a, b;
    if (!to || (shape_is_array(from) && shape_has_unbounded(from)))
        return true;
    if (!shape_is_array(to) || !shape_is_array(from))
        return shape_error(p, d, "an array as operand and result");
    if (!shape_elements(from, &b))
        return true;
    if (!shape_elements(to, &a))
        return shape_error(p, d, "static dimension sizes");
    if (a == b)
        return true;
    return DIAG_ERROR(p->ds, d->i.shape_span, ELEMENT_COUNT, STR_ARG(d->word), (long long)a,
                      (long long)b);
}

static bool dynamic_reshape(struct parser *p, struct draft *d)
{
    if (!same_elements(p, d))
        return false;
    return !d->i.shape || d->i.operand_count - 1 == d->i.shape->rank ||
           count_error(p, d, "one operand and one size for each dimension");
}

/* One index vector, or one scalar per dimension. */
static bool start_indices(struct parser *p, struct draft *d, int first)
{
    int n = d->i.operand_count;
    const struct shape *index = n == first + 1 ? array_of(operand_shape(&d->i, first)) : NULL,
                       *s = array_of(operand_shape(&d->i, 0));
    if (index && !shape_is_tuple(index) && index->rank == 1)
        return true;
    if (!(index && shape_is_tuple(index)) && !shape_is_tuple(s) && n == first + s->rank)
        return true;
    return count_error(p, d, "one start index for each dimension");
}

static bool dynamic_slice(struct parser *p, struct draft *d) { return start_indices(p, d, 1); }

static bool dynamic_update_slice(struct parser *p, struct draft *d)
{
    return start_indices(p, d, 2);
}

static bool odd_operands(struct parser *p, struct draft *d)
{
    return d->i.operand_count % 2 == 1 || count_error(p, d, "an odd number of operands");
}

static bool even_operands(struct parser *p, struct draft *d)
{
    bool none = d->i.operand_count == 0 && !d->i.shape;
    return (d->i.operand_count % 2 == 0 && !none) ||
           count_error(p, d, "one initial value for each input");
}

static bool dot(struct parser *p, struct draft *d)
{
    d->i.operand_count = 2; /* XLA drops the others */
    return true;
}

static bool rng_bit_generator(struct parser *p, struct draft *d)
{
    d->i.operand_count = 1;
    return true;
}

static bool scan(struct parser *p, struct draft *d)
{
    const struct computation *c = inst_computation(&d->i, A_TO_APPLY);
    if (!one_dimension(p, d))
        return false;
    if (d->i.operand_count != c->param_count)
        return count_error(p, d, "one operand for each parameter of its computation");
    int64_t carries = inst_int(&d->i, A_NUM_CARRIES, 0);
    return (carries >= 0 && d->i.operand_count >= carries) ||
           count_error(p, d, "one operand for each carry");
}

static bool tuple(struct parser *p, struct draft *d)
{
    const struct shape *s = d->i.shape;
    if (!s || (shape_is_tuple(s) && (s->count == d->i.operand_count || d->wrapped_inside)))
        return true;
    return d->dropped ? report_dropped_operand(p, d)
                      : shape_error(p, d, "a tuple with one element for each operand");
}

static bool conditional(struct parser *p, struct draft *d)
{
    bool two = shape_is_scalar_of(operand_shape(&d->i, 0), DT_PRED);
    if (two ? !require(p, d, A_TRUE_COMPUTATION) || !require(p, d, A_FALSE_COMPUTATION)
            : !require(p, d, A_BRANCH_COMPUTATIONS))
        return false;
    int branches = two ? 2 : inst_attr(&d->i, A_BRANCH_COMPUTATIONS)->v.computations.count;
    if (branches == 0)
        return DIAG_ERROR(p->ds, inst_attr_span(&d->i, A_BRANCH_COMPUTATIONS), WRONG_COUNT,
                          "branch_computations", "at least one entry", (long long)0);
    return d->i.operand_count == branches + 1 ||
           count_error(p, d, "an index and one operand for each branch");
}

static bool custom_call(struct parser *p, struct draft *d)
{
    const struct attr *layouts = inst_attr(&d->i, A_OPERAND_LAYOUT_CONSTRAINTS);
    const struct attr *apply = inst_attr(&d->i, A_TO_APPLY);
    if (layouts) {
        struct shape_list list = layouts->v.shapes;
        if (list.count != d->i.operand_count)
            return DIAG_ERROR(p->ds, layouts->span, WRONG_COUNT, "operand_layout_constraints",
                              "one shape per operand", (long long)list.count);
        for (int k = 0; k < list.count; k++)
            if (!shape_compatible(list.at[k], operand_shape(&d->i, k)))
                return DIAG_ERROR(p->ds, layouts->span, LAYOUT_CONSTRAINT, k,
                                  STR_ARG(shape_text(p->arena, list.at[k])),
                                  STR_ARG(shape_text(p->arena, operand_shape(&d->i, k))));
        inst_remove_attr(&d->i, A_CALLED_COMPUTATIONS);
    } else if (apply) {
        struct computation_list list = {1, ARENA_DUP(p->arena, &apply->v.computation, 1)};
        inst_set_attr(p->m, &d->i, A_CALLED_COMPUTATIONS, (union attr_value){.computations = list},
                      apply->span);
    }
    inst_remove_attr(&d->i, A_TO_APPLY);
    return true;
}

static const struct shape *tuple_of(struct parser *p, int count, const struct shape *a,
                                    const struct shape *b, const struct shape *c)
{
    const struct shape *elements[] = {a, b, c};
    return shape_tuple(p->arena, count, elements);
}

static bool gives_token(struct parser *p, struct draft *d)
{
    d->i.shape = shape_token();
    return true;
}

static bool gives_operand(struct parser *p, struct draft *d)
{
    d->i.shape = operand_shape(&d->i, 0);
    return true;
}

static bool infeed(struct parser *p, struct draft *d)
{
    const struct shape *s = d->i.shape;
    if (!s || !shape_is_tuple(s) || s->count == 0)
        return shape_error(p, d, "a tuple of the data and token[]");
    d->i.shape = tuple_of(p, 2, s->elements[0], shape_token(), NULL);
    return true;
}

static bool send(struct parser *p, struct draft *d)
{
    d->i.shape =
        tuple_of(p, 3, operand_shape(&d->i, 0), shape_scalar(p->arena, DT_U32), shape_token());
    return true;
}

static bool recv(struct parser *p, struct draft *d)
{
    const struct shape *s = d->i.shape;
    if (!s || !shape_is_tuple(s) || s->count == 0)
        return shape_error(p, d, "a tuple of the data, u32[] and token[]");
    d->i.shape = tuple_of(p, 3, s->elements[0], shape_scalar(p->arena, DT_U32), shape_token());
    return true;
}

/* A -done must have the channel of its operand, if that can have one. */
static bool same_channel(struct parser *p, struct draft *d)
{
    const struct inst *i = d->i.operands[0];
    if (op_attr_find((enum opcode)i->opcode, STR("channel_id")) == NULL)
        return true;
    const struct attr *here = inst_attr(&d->i, A_CHANNEL_ID), *there = inst_attr(i, A_CHANNEL_ID);
    if (here ? there && here->v.i == there->v.i : !there)
        return true;
    return DIAG_ERROR(p->ds, here ? here->span : d->i.opcode_span, CHANNEL_DIFFERS,
                      STR_ARG(i->name));
}

static bool send_done(struct parser *p, struct draft *d)
{
    d->i.shape = shape_token();
    return same_channel(p, d);
}

static bool recv_done(struct parser *p, struct draft *d)
{
    const struct shape *s = operand_shape(&d->i, 0);
    if (!same_channel(p, d))
        return false;
    if (!shape_is_tuple(s) || s->count == 0)
        return DIAG_ERROR(p->ds, d->open, DECLARED_SHAPE, STR_ARG(d->word), "a recv as operand",
                          STR_ARG(shape_text(p->arena, s)));
    d->i.shape = tuple_of(p, 2, s->elements[0], shape_token(), NULL);
    return true;
}

static bool collective_permute(struct parser *p, struct draft *d)
{
    const struct attr *pairs = inst_attr(&d->i, A_SOURCE_TARGET_PAIRS);
    for (int64_t k = 0; k < pairs->v.ints_list.count; k++)
        if (pairs->v.ints_list.at[k].count != 2)
            return DIAG_ERROR(p->ds, pairs->span, WRONG_COUNT, "each of source_target_pairs",
                              "two entries", (long long)pairs->v.ints_list.at[k].count);
    if (draft_has(d, A_SLICE_SIZES_LIST) && d->i.operand_count != 4)
        return count_error(p, d, "4 operands with slice_sizes");
    return true;
}

static bool gives_u32(struct parser *p, struct draft *d)
{
    return !d->i.shape || shape_is_scalar_of(d->i.shape, DT_U32) || shape_error(p, d, "u32[]");
}

static bool map(struct parser *p, struct draft *d)
{
    const struct shape *s = d->i.shape;
    if (!s)
        return require(p, d, A_DIMENSIONS);
    if (!shape_is_array(array_of(s)))
        return shape_error(p, d, "an array");
    if (d->i.operand_count == 0 || !shape_is_tuple(operand_shape(&d->i, 0)))
        return true;
    return DIAG_ERROR(p->ds, d->open, DECLARED_SHAPE, STR_ARG(d->word), "arrays as operands",
                      STR_ARG(shape_text(p->arena, operand_shape(&d->i, 0))));
}

typedef bool check_fn(struct parser *p, struct draft *d);
static check_fn *const checks[OP_COUNT] = {
    [OP_ADD_DEPENDENCY] = gives_operand,
    [OP_AFTER_ALL] = gives_token,
    [OP_ALL_GATHER] = some_dimension,
    [OP_ALL_GATHER_START] = some_dimension,
    [OP_ALL_REDUCE] = global_ids,
    [OP_ALL_REDUCE_START] = global_ids,
    [OP_ALL_TO_ALL] = one_dimension,
    [OP_BROADCAST] = broadcast,
    [OP_COLLECTIVE_PERMUTE] = collective_permute,
    [OP_COLLECTIVE_PERMUTE_START] = collective_permute,
    [OP_COMPARE] = compare,
    [OP_CONCATENATE] = one_dimension,
    [OP_CONDITIONAL] = conditional,
    [OP_CUSTOM_CALL] = custom_call,
    [OP_DOT] = dot,
    [OP_DYNAMIC_RESHAPE] = dynamic_reshape,
    [OP_DYNAMIC_SLICE] = dynamic_slice,
    [OP_DYNAMIC_UPDATE_SLICE] = dynamic_update_slice,
    [OP_GET_DIMENSION_SIZE] = some_dimension,
    [OP_INFEED] = infeed,
    [OP_MAP] = map,
    [OP_OUTFEED] = gives_token,
    [OP_PARTITION_ID] = gives_u32,
    [OP_RAGGED_ALL_TO_ALL] = one_dimension,
    [OP_RECV] = recv,
    [OP_RECV_DONE] = recv_done,
    [OP_REDUCE] = even_operands,
    [OP_REDUCE_SCATTER] = reduce_scatter,
    [OP_REDUCE_WINDOW] = even_operands,
    [OP_REPLICA_ID] = gives_u32,
    [OP_RESHAPE] = same_elements,
    [OP_RNG_BIT_GENERATOR] = rng_bit_generator,
    [OP_SCAN] = scan,
    [OP_SCATTER] = odd_operands,
    [OP_SEND] = send,
    [OP_SEND_DONE] = send_done,
    [OP_SET_DIMENSION_SIZE] = some_dimension,
    [OP_SORT] = one_dimension,
    [OP_TUPLE] = tuple,
};

static bool parameter_replication(struct parser *p, const struct draft *d)
{
    const struct attr *a = inst_attr(&d->i, A_PARAMETER_REPLICATION);
    if (d->i.opcode != OP_PARAMETER)
        return DIAG_ERROR(p->ds, a->span, ONLY_PARAMETERS);
    int64_t leaves = shape_is_tuple(d->i.shape) ? shape_leaf_count(d->i.shape) : 1;
    if (a->v.bools.count == leaves)
        return true;
    return DIAG_ERROR(p->ds, a->span, WRONG_COUNT, "parameter_replication",
                      "one entry per leaf of the shape", (long long)a->v.bools.count);
}

bool check_draft(struct parser *p, struct draft *d)
{
    check_fn *check = checks[d->i.opcode];
    if (draft_has(d, A_PARAMETER_REPLICATION) && !parameter_replication(p, d))
        return false;
    return !check || check(p, d);
}

/* ---- stored attributes ---- */

static void keep_first(struct parser *p, struct inst *i)
{
    const struct attr *a = inst_attr(i, A_DIMENSIONS);
    if (a->v.ints.count > 1)
        inst_set_attr(p->m, i, A_DIMENSIONS, (union attr_value){.ints = {1, a->v.ints.at}},
                      a->span);
}

static void all_dimensions(struct parser *p, struct inst *i)
{
    int rank = array_of(i->shape)->rank;
    int64_t *dims = ARENA_ARRAY(p->arena, int64_t, rank);
    for (int d = 0; d < rank; d++)
        dims[d] = d;
    inst_set_attr(p->m, i, A_DIMENSIONS, (union attr_value){.ints = {rank, dims}},
                  inst_attr_span(i, A_DIMENSIONS));
}

static void drop_default_type(struct parser *p, struct inst *i)
{
    if (inst_compare_type(i) == inst_usual_compare_type(i))
        inst_remove_attr(i, A_TYPE);
}

typedef void normalise_fn(struct parser *p, struct inst *i);
static normalise_fn *const normalisers[OP_COUNT] = {
    [OP_ALL_GATHER] = keep_first,
    [OP_ALL_GATHER_START] = keep_first,
    [OP_COMPARE] = drop_default_type,
    [OP_GET_DIMENSION_SIZE] = keep_first,
    [OP_MAP] = all_dimensions,
    [OP_REDUCE_SCATTER] = keep_first,
    [OP_SET_DIMENSION_SIZE] = keep_first,
};

/* The value of an attribute that is always stored, if the text omits it. */
static union attr_value absent_value(struct parser *p, const struct inst *i, enum attr_id id)
{
    switch ((enum attr_kind)attr_table[id].kind) {
    case KIND_BOOL: return (union attr_value){.b = id == A_LARGEST};
    case KIND_DEVICE_LIST:
        return (union attr_value){.groups = ARENA_NEW(p->arena, struct device_list)};
    case KIND_SHAPE: return (union attr_value){.shape = i->operands[0]->shape};
    default: return (union attr_value){.ints = {0, NULL}};
    }
}

/* Assigns every leaf of a tuple the sharding that is written for the whole, as XLA does. */
static void spread_sharding(struct parser *p, struct inst *i)
{
    const struct attr *a = inst_attr(i, A_SHARDING);
    if (!a || !shape_is_tuple(i->shape) || a->v.sharding->kind == SHARDING_TUPLE)
        return;
    int64_t leaves = shape_leaf_count(i->shape);
    struct sharding *tuple = ARENA_NEW(p->arena, struct sharding);
    tuple->kind = SHARDING_TUPLE;
    tuple->element_count = leaves > 1 ? (int)leaves : 1;
    tuple->elements = ARENA_ARRAY(p->arena, struct sharding *, tuple->element_count);
    for (int k = 0; k < tuple->element_count; k++)
        tuple->elements[k] = a->v.sharding;
    inst_set_attr(p->m, i, A_SHARDING, (union attr_value){.sharding = tuple}, a->span);
}

void normalise_draft(struct parser *p, struct draft *d)
{
    struct inst *i = &d->i;
    for (const struct op_attr *a = op_table[i->opcode].attrs; a->id != A_NONE; a++) {
        enum attr_id id = (enum attr_id)a->id;
        /* XLA ignores the mode, but values depend on it. */
        if (a->use & USE_DROPPED && (p->strict || id != A_MODE))
            inst_remove_attr(i, id);
        else if (a->use & USE_ALWAYS && !inst_has(i, id))
            inst_set_attr(p->m, i, id, absent_value(p, i, id), i->opcode_span);
    }
    if (normalisers[i->opcode])
        normalisers[i->opcode](p, i);
    spread_sharding(p, i);
}
