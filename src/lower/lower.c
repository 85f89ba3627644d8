/*
 * lower.c: dispatches the lowering of builder forms, and creates the instructions that lowerings
 * need.
 */
#include "lower/lower_priv.h"

/* ---- creation of instructions ---- */

struct inst *lower_helper(struct lower *lo, enum opcode op, const struct shape *shape, int count,
                          struct inst *const *operands)
{
    const struct inst *from = lo->i;
    struct str base = from->name.len ? from->name : str_of(op_spelling((enum opcode)from->opcode));
    struct str name = arena_printf(lo->arena, STR_FMT ".%s", STR_ARG(base), op_spelling(op));
    struct inst *i = inst_new(lo->c, op, name, shape, count, operands);
    i->shape_inferred = true;
    i->span = from->span;
    i->name_span = from->name_span;
    i->shape_span = i->opcode_span = from->opcode_span;
    return i;
}

struct inst *lower_element(struct lower *lo, struct inst *tuple, int index)
{
    struct inst *i =
        lower_helper(lo, OP_GET_TUPLE_ELEMENT, tuple->shape->elements[index], 1, &tuple);
    lower_set_attr(lo, i, A_INDEX, (union attr_value){.i = index});
    return i;
}

struct inst *lower_scalar(struct lower *lo, enum dtype t, double value)
{
    const struct shape *s = shape_scalar(lo->arena, t);
    struct literal *l = literal_new(lo->arena, s);
    if (!l)
        return DIAG(lo->infer.ds, lo->i->span, NO_MEMORY, STR_ARG(shape_text(lo->arena, s))), NULL;
    module_own_literal(lo->infer.m, l);
    float_store(t, l->data, value);
    struct inst *i = lower_helper(lo, OP_CONSTANT, s, 0, NULL);
    i->literal = l;
    return i;
}

void lower_set_attr(struct lower *lo, struct inst *i, enum attr_id id, union attr_value v)
{
    const struct attr *old = inst_attr(i, id);
    inst_set_attr(lo->infer.m, i, id, v, old ? old->span : lo->i->opcode_span);
}

void lower_set_ints(struct lower *lo, struct inst *i, enum attr_id id, int64_t count,
                    const int64_t *at)
{
    const int64_t *kept = count ? ARENA_DUP(lo->arena, at, count) : NULL;
    lower_set_attr(lo, i, id, (union attr_value){.ints = {count, kept}});
}

void lower_set_operands(struct lower *lo, int count, struct inst *const *operands)
{
    lo->i->operands = count ? ARENA_DUP(lo->arena, operands, count) : NULL;
    lo->i->operand_count = count;
}

bool lower_set_shape(struct lower *lo, const struct shape *shape)
{
    if (lo->i->shape)
        return shape_compatible(lo->i->shape, shape) || report_result(&lo->infer, lo->i, shape);
    lo->i->shape = shape;
    lo->i->shape_inferred = true;
    return true;
}

struct ints lower_iota(struct lower *lo, int64_t count)
{
    int64_t *at = ARENA_ARRAY(lo->arena, int64_t, count);
    for (int64_t k = 0; k < count; k++)
        at[k] = k;
    return (struct ints){count, at};
}

/* ---- dispatch ---- */

static lower_fn *const by_opcode[OP_COUNT] = {
    [OP_ALL_REDUCE] = lower_all_reduce,
    [OP_BITCAST_CONVERT] = lower_element_type_attr,
    [OP_BROADCAST] = lower_broadcast,
    [OP_CALL] = lower_call,
    [OP_CONVERT] = lower_element_type_attr,
    [OP_CONVOLUTION] = lower_convolution,
    [OP_CUSTOM_CALL] = lower_shape_attr,
    [OP_DOT] = lower_dot,
    [OP_DYNAMIC_RESHAPE] = lower_sizes_attr,
    [OP_DYNAMIC_SLICE] = lower_dynamic_slice,
    [OP_DYNAMIC_UPDATE_SLICE] = lower_dynamic_update_slice,
    [OP_INFEED] = lower_infeed,
    [OP_IOTA] = lower_shape_attr,
    [OP_MAP] = lower_map,
    [OP_OUTFEED] = lower_outfeed,
    [OP_PAD] = lower_pad,
    [OP_RECV] = lower_recv,
    [OP_REDUCE_WINDOW] = lower_windowed,
    [OP_RESHAPE] = lower_reshape,
    [OP_RNG] = lower_rng,
    [OP_RNG_BIT_GENERATOR] = lower_shape_attr,
    [OP_SELECT] = lower_select,
    [OP_SELECT_AND_SCATTER] = lower_windowed,
    [OP_SLICE] = lower_slice,
    [OP_SORT] = lower_sort,
    [OP_STOCHASTIC_CONVERT] = lower_element_type_attr,
};

static lower_fn *lowering_of(enum opcode op)
{
    return op_table[op].class == CLASS_BINARY ? lower_binary : by_opcode[op];
}

enum attr_id lower_result_attr(enum opcode op)
{
    for (const struct op_attr *a = op_table[op].attrs; a->id != A_NONE; a++)
        if (a->use & USE_BUILDER &&
            (a->id == A_SHAPE || a->id == A_SIZES || a->id == A_NEW_ELEMENT_TYPE))
            return (enum attr_id)a->id;
    return A_NONE;
}

/* Removes builder attributes, which the core instruction makes redundant. `opcode` is the opcode
 * before lowering. */
static void drop_builder_attrs(struct inst *i, enum opcode opcode)
{
    for (const struct op_attr *a = op_table[opcode].attrs; a->id != A_NONE; a++)
        if (a->use & USE_BUILDER)
            inst_remove_attr(i, (enum attr_id)a->id);
}

bool lower_inst(struct diags *ds, struct computation *c, struct inst *i, enum form form)
{
    enum opcode opcode = (enum opcode)i->opcode;
    lower_fn *lower = lowering_of(opcode);
    if (!lower)
        return true;
    struct module *m = c->module;
    struct lower lo = {.infer = {.ds = ds, .m = m, .arena = &m->arena, .parsing = true},
                       .arena = &m->arena,
                       .c = c,
                       .i = i,
                       .form = form};
    if (form != FORM_NONE)
        lo.infer.word = form_table[form].spelling;
    if (!lower(&lo))
        return false;
    drop_builder_attrs(i, opcode);
    return true;
}
