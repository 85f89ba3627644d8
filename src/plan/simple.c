/*
 * simple.c: algebraic simplification and constant folding: instructions that are aliases of
 * existing values, rearrangements that can be merged with their operand's, operations that are
 * moved before broadcasts, and operations on small constants that are evaluated while planning.
 *
 * Only identities that hold for every bit pattern are used: for floats, x * 1 and x + 0 are not
 * always x (-0, signalling NaNs).
 */
#include "plan/derive.h"

enum { FOLD_ELEMENTS = 64 };

/* ---- properties of operands ---- */

const struct step *simple_maker(const struct build *b, int value)
{
    int at = value >= 0 ? b->maker[value] : -1;
    return at >= 0 ? &b->f->steps[at] : NULL;
}

/* The constant, an operand or broadcast to it, whose single element the operand repeats; or
 * NULL. */
static const struct view *splat_of(const struct build *b, int operand)
{
    const struct step *s = simple_maker(b, operand);
    if (s && s->inst->opcode == OP_BROADCAST && s->operand_count == 1)
        operand = s->operands[0];
    if (operand >= 0 || operand == NO_VALUE)
        return NULL;
    const struct view *v = &b->pl->p->constants[~operand];
    int64_t n = view_elements(v);
    size_t width = dtype_bytes(v->dtype);
    for (int64_t k = 1; k < n && k < FOLD_ELEMENTS; k++)
        if (memcmp(v->data, v->data + (size_t)k * width, width) != 0)
            return NULL;
    return n > 0 && n <= FOLD_ELEMENTS ? v : NULL;
}

/* Whether an integer operand is this number in every element. */
static bool is_number(const struct build *b, int operand, int64_t number)
{
    const struct view *v = splat_of(b, operand);
    return v && !dtype_is_float(v->dtype) && !dtype_is_complex(v->dtype) &&
           kern_load_index(v->dtype, v->data) == number;
}

/* ---- names ---- */

static bool slices_all(const struct inst *i)
{
    const struct slices s = inst_attr(i, A_SLICE)->v.slices;
    for (int d = 0; d < s.rank; d++)
        if (s.dims[d].start != 0 || s.dims[d].stride != 1)
            return false;
    return true;
}

static bool keeps_order(const struct inst *i)
{
    struct ints dims = inst_ints(i, A_DIMENSIONS);
    for (int64_t k = 0; k < dims.count; k++)
        if (dims.at[k] != k)
            return false;
    return true;
}

static bool reverses_nothing(const struct inst *i)
{
    struct ints dims = inst_ints(i, A_DIMENSIONS);
    for (int64_t k = 0; k < dims.count; k++)
        if (i->shape->dims[dims.at[k]] > 1)
            return false;
    return true;
}

static bool pads_nothing(const struct inst *i)
{
    const struct padding p = inst_attr(i, A_PADDING)->v.padding;
    for (int d = 0; d < p.rank; d++)
        if (p.dims[d].low != 0 || p.dims[d].high != 0 || p.dims[d].interior != 0)
            return false;
    return true;
}

/* Whether the second rearrangement is the inverse of the first. */
static bool undoes(const struct inst *first, const struct inst *second)
{
    struct ints a = inst_ints(first, A_DIMENSIONS), b = inst_ints(second, A_DIMENSIONS);
    if (first->opcode != second->opcode || a.count != b.count)
        return false;
    for (int64_t k = 0; k < a.count; k++)
        if (second->opcode == OP_TRANSPOSE ? a.at[b.at[k]] != k : !i64_in(a.at, a.count, b.at[k]))
            return false;
    return second->opcode == OP_TRANSPOSE || second->opcode == OP_REVERSE;
}

/* The operand of a binary operation that equals its result, or -1. */
static int neutral(const struct build *b, const struct inst *i, const int *x)
{
    enum dtype t = i->shape->dtype;
    bool equal = x[0] == x[1];
    switch (i->opcode) {
    case OP_ADD:
    case OP_XOR: return is_number(b, x[0], 0) ? 1 : is_number(b, x[1], 0) ? 0 : -1;
    case OP_AND: return equal ? 0 : -1;
    case OP_DIVIDE: return is_number(b, x[1], 1) ? 0 : -1;
    case OP_MAXIMUM:
    case OP_MINIMUM: return equal && !dtype_is_float(t) && !dtype_is_complex(t) ? 0 : -1;
    case OP_MULTIPLY: return is_number(b, x[0], 1) ? 1 : is_number(b, x[1], 1) ? 0 : -1;
    case OP_OR: return equal || is_number(b, x[1], 0) ? 0 : is_number(b, x[0], 0) ? 1 : -1;
    case OP_SHIFT_LEFT:
    case OP_SHIFT_RIGHT_ARITHMETIC:
    case OP_SHIFT_RIGHT_LOGICAL:
    case OP_SUBTRACT: return is_number(b, x[1], 0) ? 0 : -1;
    default: return -1;
    }
}

static int chosen(const struct build *b, const int *x)
{
    const struct view *p = splat_of(b, x[0]);
    return p ? (*p->data ? 1 : 2) : x[1] == x[2] ? 1 : -1;
}

/* The operand that equals the result, or -1. */
static int same_as(const struct build *b, const struct inst *i, const int *x)
{
    switch (i->opcode) {
    case OP_BITCAST_CONVERT:
    case OP_BROADCAST: return keeps_order(i) ? 0 : -1;
    case OP_CONCATENATE:
    case OP_CONVERT:
    case OP_DYNAMIC_SLICE:
    case OP_RESHAPE: return i->opcode == OP_CONCATENATE && i->operand_count > 1 ? -1 : 0;
    case OP_DYNAMIC_UPDATE_SLICE: return 1;
    case OP_PAD: return pads_nothing(i) ? 0 : -1;
    case OP_REVERSE: return reverses_nothing(i) ? 0 : -1;
    case OP_SELECT: return chosen(b, x);
    case OP_SLICE: return slices_all(i) ? 0 : -1;
    case OP_TRANSPOSE: return keeps_order(i) ? 0 : -1;
    default: return i->operand_count == 2 ? neutral(b, i, x) : -1;
    }
}

/* The result must have the operand's shape: so a slice must be of everything, and an update too. */
static bool find_name(struct build *b, const struct inst *i, struct leaves x, struct leaves *out)
{
    int k = x.count == i->operand_count && x.count > 0 ? same_as(b, i, x.at) : -1,
        value = k >= 0 ? x.at[k] : NO_VALUE;
    if (value == NO_VALUE || !same_elements(i->operands[k]->shape, i->shape)) {
        const struct step *before = x.count == 1 ? simple_maker(b, x.at[0]) : NULL;
        if (!before || before->operand_count != 1 || !undoes(before->inst, i))
            return false;
        value = before->operands[0];
    }
    *out = (struct leaves){1, ARENA_NEW(&b->pl->scratch, int)};
    *out->at = value;
    return true;
}

/* ---- merging of rearrangements ---- */

const struct inst *simple_inst(struct build *b, const struct inst *i, struct leaves *x)
{
    const bool moves = plan_optimises(b->pl) && x->count == 1 && op_is(i->opcode, OP_VIEW);
    const struct step *before = moves ? simple_maker(b, x->at[0]) : NULL;
    if (!before || before->operand_count != 1 || before->inst->operand_count != 1)
        return i;
    bool element =
        before->inst->opcode == OP_BROADCAST && before->inst->operands[0]->shape->rank == 0;
    if (!element && (i->opcode != OP_RESHAPE || before->inst->opcode != OP_RESHAPE))
        return i;
    if (before->inst->operands[0]->shape->dtype != i->shape->dtype)
        return i;
    struct inst *copy = ARENA_DUP(&b->pl->p->arena, i, 1);
    copy->operands = before->inst->operands;
    if (element) {
        copy->opcode = OP_BROADCAST;
        copy->attr_count = 0;
    }
    *x = (struct leaves){1, ARENA_DUP(&b->pl->p->arena, before->operands, 1)};
    b->pl->p->stats.simplified++;
    return copy;
}

/* ---- constants ---- */

static bool fold_reshape(struct build *b, const struct inst *i, int operand, struct literal *l)
{
    const struct view *v = &b->pl->p->constants[~operand];
    *l = (struct literal){.shape = i->shape, .data = v->data};
    return v->dtype == i->shape->dtype;
}

static bool fold_tile(struct build *b, const struct inst *i, struct leaves x, struct literal *l)
{
    enum dtype type, result;
    int64_t n;
    kern_tile_fn *fn = plan_tile(b->pl, i, &type, &result);
    const void *args[KERN_MAX_ARGS];
    if (!fn || x.count > KERN_MAX_ARGS || result != i->shape->dtype ||
        !shape_elements(i->shape, &n) || n > FOLD_ELEMENTS)
        return false;
    for (int k = 0; k < x.count; k++) {
        const struct view *v = &b->pl->p->constants[~x.at[k]];
        if (v->dtype != (i->opcode == OP_SELECT && k == 0 ? DT_PRED : type) ||
            view_elements(v) != n)
            return false;
        args[k] = v->data;
    }
    *l = (struct literal){.shape = i->shape,
                          .data = arena_zalloc(&b->pl->p->arena, FOLD_ELEMENTS * 16)};
    fn(l->data, args, n);
    return true;
}

/* A slice becomes a constant of its own, so that equal slices of several constants are equal. */
static bool fold_slice(struct build *b, const struct inst *i, int operand, struct literal *l)
{
    enum { MAX_BYTES = 4 << 10 };
    struct view out, x = b->pl->p->constants[~operand];
    const struct slices s = inst_attr(i, A_SLICE)->v.slices;
    int64_t bytes;
    if (!shape_bytes(i->shape, &bytes) || bytes > MAX_BYTES || x.rank != s.rank)
        return false;
    for (int d = 0; d < s.rank; d++) {
        if (x.dims[d] != i->operands[0]->shape->dims[d])
            return false;
        x.data += s.dims[d].start * x.strides[d];
        x.strides[d] *= s.dims[d].stride;
        x.dims[d] = i->shape->dims[d];
    }
    *l = (struct literal){.shape = i->shape,
                          .data = arena_zalloc(&b->pl->p->arena, (size_t)bytes + 1)};
    view_dense(&out, i->shape->dtype, i->shape->rank, i->shape->dims, l->data);
    kern_copy(NULL, &out, &x);
    return true;
}

static bool fold(struct build *b, const struct inst *i, struct leaves x, struct leaves *out)
{
    struct literal l;
    for (int k = 0; k < x.count; k++)
        if (x.at[k] >= 0 || x.at[k] == NO_VALUE)
            return false;
    if (x.count == 0 || x.count != i->operand_count || !shape_is_array(i->shape))
        return false;
    bool done = i->opcode == OP_RESHAPE ? fold_reshape(b, i, x.at[0], &l)
                : i->opcode == OP_SLICE ? fold_slice(b, i, x.at[0], &l)
                : op_is(i->opcode, OP_ELEMENTWISE) || i->opcode == OP_CONVERT
                    ? fold_tile(b, i, x, &l)
                    : false;
    if (!done)
        return false;
    *out = (struct leaves){1, ARENA_NEW(&b->pl->scratch, int)};
    *out->at = same_constant(b->pl, &l);
    return true;
}

/* An operation on values that each repeat one constant element: the broadcast of one result. */
static bool fold_element(struct build *b, const struct inst *i, struct leaves x, struct leaves *out)
{
    enum dtype type, result;
    const void *args[KERN_MAX_ARGS];
    if (i->shape->rank == 0 || x.count != i->operand_count || x.count > KERN_MAX_ARGS ||
        (!op_is(i->opcode, OP_ELEMENTWISE) && i->opcode != OP_CONVERT))
        return false;
    kern_tile_fn *fn = plan_tile(b->pl, i, &type, &result);
    for (int k = 0; k < x.count && fn; k++) {
        const struct view *v = splat_of(b, x.at[k]);
        if (!v || v->dtype != (i->opcode == OP_SELECT && k == 0 ? DT_PRED : type))
            return false;
        args[k] = v->data;
    }
    if (!fn || x.count == 0 || result != i->shape->dtype)
        return false;
    const struct shape *single = shape_array(build_arena(b), result, 0, NULL, NULL, NULL);
    const struct literal l = {.shape = single, .data = arena_zalloc(build_arena(b), 16)};
    fn(l.data, args, 1);
    const int value = same_constant(b->pl, &l);
    struct inst *repeat = derive_inst(b, i, OP_BROADCAST, i->shape, 1, &single);
    derive_dimensions(b, repeat, 0, NULL);
    if (!derive_step(b, repeat, &value, out))
        return false;
    simple_note(b, *out);
    return true;
}

bool simple_find(struct build *b, const struct inst *i, struct leaves operands, struct leaves *out)
{
    if (!plan_optimises(b->pl) || !shape_is_array(i->shape))
        return false;
    bool named = find_name(b, i, operands, out),
         folded = !named && (fold(b, i, operands, out) || fold_element(b, i, operands, out));
    b->pl->p->stats.simplified += named;
    b->pl->p->stats.folded += folded;
    return named || folded;
}

void simple_note(struct build *b, struct leaves made)
{
    for (int k = 0; k < made.count; k++)
        if (made.at[k] >= 0)
            b->maker[made.at[k]] = b->f->step_count - 1;
}

/* ---- before broadcasts ---- */

/* The broadcast that makes the value and, in `from`, what it repeats; or NULL. */
static const struct inst *broadcast_of(const struct build *b, int value, int *from)
{
    const struct step *s = simple_maker(b, value);
    if (!s || s->inst->opcode != OP_BROADCAST || s->operand_count != 1)
        return NULL;
    *from = s->operands[0];
    return s->inst;
}

static bool repeat_alike(const struct inst *x, const struct inst *y)
{
    const struct ints p = inst_ints(x, A_DIMENSIONS), q = inst_ints(y, A_DIMENSIONS);
    const struct shape *from = x->operands[0]->shape;
    bool alike = p.count == q.count;
    for (int64_t d = 0; d < p.count && alike; d++)
        alike = p.at[d] == q.at[d] && from->dims[d] == y->operands[0]->shape->dims[d];
    return alike;
}

/* Whether the result of the instruction is so much larger that a step of its own is worth it. */
static bool is_much_smaller(const struct shape *x, const struct inst *i)
{
    enum { TIMES = 4, FROM = 1 << 12 };
    int64_t few, all;
    return x->rank > 0 && shape_elements(x, &few) && shape_elements(i->shape, &all) &&
           all >= FROM && few <= all / TIMES;
}

bool simple_smaller(struct build *b, const struct inst *i, struct leaves x, struct leaves *out)
{
    const struct shape *shapes[KERN_MAX_ARGS];
    const struct inst *first = NULL;
    int from[KERN_MAX_ARGS];
    if (!plan_optimises(b->pl) || x.count != i->operand_count || x.count > KERN_MAX_ARGS ||
        (!op_is(i->opcode, OP_ELEMENTWISE) && i->opcode != OP_CONVERT))
        return false;
    for (int k = 0; k < x.count; k++) {
        const struct inst *repeat = broadcast_of(b, x.at[k], &from[k]);
        first = k == 0 ? repeat : first;
        if (!repeat || !repeat_alike(first, repeat))
            return false;
        shapes[k] = repeat->operands[0]->shape;
    }
    if (!first || !is_much_smaller(shapes[0], i))
        return false;
    const struct shape *shape = derive_shape(b, shapes[0], i->shape->dtype);
    struct inst *op = derive_inst(b, i, (enum opcode)i->opcode, shape, x.count, shapes);
    op->attrs = i->attrs;
    op->attr_count = i->attr_count;
    if (!derive_step(b, op, from, out))
        return false;
    simple_note(b, *out);
    const int value = *out->at;
    struct inst *repeat = derive_inst(b, i, OP_BROADCAST, i->shape, 1, &shape);
    const struct ints dims = inst_ints(first, A_DIMENSIONS);
    derive_dimensions(b, repeat, (int)dims.count, dims.at);
    return derive_step(b, repeat, &value, out) != NULL;
}
