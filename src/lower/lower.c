/*
 * lower.c: dispatches the lowering of builder forms, and creates the instructions that lowerings
 * need.
 */
#include "lower/lower_priv.h"

/* ---- creation of instructions ---- */

struct inst *build_inst(struct build *b, enum opcode op, const struct shape *shape, int count,
                        struct inst *const *operands)
{
    const struct inst *from = b->i;
    struct str base = from->name.len ? from->name : str_of(op_spelling((enum opcode)from->opcode));
    struct str name = arena_printf(b->v.arena, STR_FMT ".%s", STR_ARG(base), op_spelling(op));
    struct inst *i = inst_new(b->c, op, name, shape, count, operands);
    i->shape_inferred = true;
    i->span = from->span;
    i->name_span = from->name_span;
    i->shape_span = i->opcode_span = from->opcode_span;
    return i;
}

struct inst *build_element(struct build *b, struct inst *tuple, int index)
{
    struct inst *i = build_inst(b, OP_GET_TUPLE_ELEMENT, tuple->shape->elements[index], 1, &tuple);
    build_set(b, i, A_INDEX, (union attr_value){.i = index});
    return i;
}

struct inst *build_scalar(struct build *b, enum dtype t, double value)
{
    const struct shape *s = shape_scalar(b->v.arena, t);
    struct literal *l = literal_new(b->v.arena, s);
    if (!l)
        return DIAG(b->v.ds, b->i->span, NO_MEMORY, STR_ARG(shape_text(b->v.arena, s))), NULL;
    module_own_literal(b->v.m, l);
    float_store(t, l->data, value);
    struct inst *i = build_inst(b, OP_CONSTANT, s, 0, NULL);
    i->literal = l;
    return i;
}

void build_set(struct build *b, struct inst *i, enum attr_id id, union attr_value v)
{
    const struct attr *old = inst_attr(i, id);
    inst_set_attr(b->v.m, i, id, v, old ? old->span : b->i->opcode_span);
}

void build_set_ints(struct build *b, struct inst *i, enum attr_id id, int64_t count,
                    const int64_t *at)
{
    const int64_t *kept = count ? ARENA_DUP(b->v.arena, at, count) : NULL;
    build_set(b, i, id, (union attr_value){.ints = {count, kept}});
}

void build_operands(struct build *b, int count, struct inst *const *operands)
{
    b->i->operands = count ? ARENA_DUP(b->v.arena, operands, count) : NULL;
    b->i->operand_count = count;
}

bool build_shape(struct build *b, const struct shape *shape)
{
    if (b->i->shape)
        return shape_compatible(b->i->shape, shape) || verify_bad_result(&b->v, b->i, shape);
    b->i->shape = shape;
    b->i->shape_inferred = true;
    return true;
}

struct ints build_iota(struct build *b, int64_t count)
{
    int64_t *at = ARENA_ARRAY(b->v.arena, int64_t, count);
    for (int64_t k = 0; k < count; k++)
        at[k] = k;
    return (struct ints){count, at};
}

/* ---- dispatch ---- */

static build_fn *const by_opcode[OP_COUNT] = {
    [OP_ALL_REDUCE] = build_lower_all_reduce,
    [OP_BITCAST_CONVERT] = build_lower_type,
    [OP_BROADCAST] = build_lower_broadcast,
    [OP_CALL] = build_lower_call,
    [OP_CONVERT] = build_lower_type,
    [OP_CONVOLUTION] = build_lower_convolution,
    [OP_CUSTOM_CALL] = build_lower_shape,
    [OP_DOT] = build_lower_dot,
    [OP_DYNAMIC_RESHAPE] = build_lower_sizes,
    [OP_DYNAMIC_SLICE] = build_lower_dynamic_slice,
    [OP_DYNAMIC_UPDATE_SLICE] = build_lower_dynamic_update_slice,
    [OP_INFEED] = build_lower_infeed,
    [OP_IOTA] = build_lower_shape,
    [OP_MAP] = build_lower_map,
    [OP_OUTFEED] = build_lower_outfeed,
    [OP_PAD] = build_lower_pad,
    [OP_RECV] = build_lower_recv,
    [OP_REDUCE_WINDOW] = build_lower_windowed,
    [OP_RESHAPE] = build_lower_reshape,
    [OP_RNG] = build_lower_rng,
    [OP_RNG_BIT_GENERATOR] = build_lower_shape,
    [OP_SELECT] = build_lower_select,
    [OP_SELECT_AND_SCATTER] = build_lower_windowed,
    [OP_SLICE] = build_lower_slice,
    [OP_SORT] = build_lower_sort,
    [OP_STOCHASTIC_CONVERT] = build_lower_type,
};

static build_fn *lowering_of(enum opcode op)
{
    return op_table[op].class == CLASS_BINARY ? build_lower_binary : by_opcode[op];
}

enum attr_id build_may_shape(enum opcode op)
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

bool build_lower(struct diags *ds, struct computation *c, struct inst *i, enum form form)
{
    enum opcode opcode = (enum opcode)i->opcode;
    build_fn *lower = lowering_of(opcode);
    if (!lower)
        return true;
    struct module *m = c->module;
    struct build b = {
        .v = {.ds = ds, .m = m, .arena = &m->arena, .parsing = true}, .c = c, .i = i, .form = form};
    if (form != FORM_NONE)
        b.v.word = form_table[form].spelling;
    if (!lower(&b))
        return false;
    drop_builder_attrs(i, opcode);
    return true;
}
