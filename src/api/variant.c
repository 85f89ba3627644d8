/*
 * Variants of an instruction that are tried: another opcode, attribute, order of operands, or
 * operand.
 */
#include "api/change.h"

struct variants {
    const struct matching *m;
    const struct match_candidate *of;
    const struct inst *i;
    struct match_variant *at;
    size_t count, capacity;
};

static bool is_elementwise(enum opcode op)
{
    return op_is(op, OP_ELEMENTWISE) && op_table[op].class <= CLASS_TERNARY;
}

struct match_variant variant_unchanged(const struct inst *i)
{
    return (struct match_variant){.op = i->opcode, .operand = -1};
}

static struct match_variant *add_variant(struct variants *v)
{
    VEC_PUSH(v->m->arena, v->at, v->count, v->capacity) = variant_unchanged(v->i);
    return &v->at[v->count - 1];
}

static void add_attribute(struct variants *v, struct str attribute, struct str value)
{
    struct match_variant *one = add_variant(v);
    one->attribute = attribute;
    one->value = value;
}

static void add_opcodes(struct variants *v)
{
    for (int op = 0; op < OP_COUNT; op++)
        if (op != v->i->opcode && op != OP_COMPARE && is_elementwise((enum opcode)op) &&
            op_table[op].class == op_table[v->i->opcode].class)
            add_variant(v)->op = (enum opcode)op;
}

static void add_directions(struct variants *v)
{
    for (int k = 0; k < enum_count(A_DIRECTION); k++)
        if (k != inst_enum(v->i, A_DIRECTION, -1))
            add_attribute(v, STR("direction="), str_of(enum_word(A_DIRECTION, k)));
}

/* Writes a list of dimensions. */
static struct str list_text(struct arena *a, const int64_t *at, int64_t count)
{
    SCOPED_BUF out = {0};
    for (int64_t k = 0; k < count; k++)
        buf_printf(&out, "%s%" PRId64, k ? "," : "{", at[k]);
    buf_putc(&out, '}');
    return arena_str(a, buf_view(&out));
}

/* One dimension is another, or changes places with another. */
static void add_dimensions(struct variants *v, enum attr_id id)
{
    const struct attr *attr = inst_attr(v->i, id);
    const struct shape *s = v->i->operand_count > 0 ? v->i->operands[0]->shape : v->i->shape;
    const int rank = s->rank > v->i->shape->rank ? s->rank : v->i->shape->rank;
    struct arena *a = v->m->arena;
    const struct str name = arena_printf(a, "%s=", attr_spelling(id));
    if (!attr || !shape_is_array(s))
        return;
    int64_t *at = ARENA_DUP(a, attr->v.ints.at, (size_t)attr->v.ints.count);
    for (int64_t k = 0; k < attr->v.ints.count; k++) {
        const int64_t old = at[k];
        for (int64_t d = 0; d < rank; d++) {
            int64_t other = 0;
            while (other < attr->v.ints.count && at[other] != d)
                other++;
            if (other < k || d == old)
                continue;
            at[k] = d;
            if (other < attr->v.ints.count)
                at[other] = old;
            add_attribute(v, name, list_text(a, at, attr->v.ints.count));
            at[k] = old;
            if (other < attr->v.ints.count)
                at[other] = d;
        }
    }
}

static void add_iota_dimensions(struct variants *v)
{
    for (int k = 0; k < v->i->shape->rank; k++)
        if (k != inst_int(v->i, A_IOTA_DIMENSION, -1))
            add_attribute(v, STR("iota_dimension="), arena_printf(v->m->arena, "%d", k));
}

/* Writes a slice that starts at `start` along dimension k. */
static struct str slices_text(struct arena *a, const struct slices *at, int k, int64_t start)
{
    bool strides = false;
    SCOPED_BUF out = {0};
    for (int d = 0; d < at->rank; d++)
        strides |= at->dims[d].stride != 1;
    for (int d = 0; d < at->rank; d++) {
        const int64_t from = d == k ? start : at->dims[d].start;
        buf_printf(&out, "%s[%" PRId64 ":%" PRId64, d ? ", " : "{", from,
                   from + at->dims[d].limit - at->dims[d].start);
        if (strides)
            buf_printf(&out, ":%" PRId64, at->dims[d].stride);
        buf_putc(&out, ']');
    }
    buf_putc(&out, '}');
    return arena_str(a, buf_view(&out));
}

/* A slice that starts elsewhere, along one dimension. */
static void add_starts(struct variants *v)
{
    enum { MOST = 64 };
    const struct slices at = inst_attr(v->i, A_SLICE)->v.slices;
    for (int k = 0; k < at.rank; k++) {
        const int64_t size = at.dims[k].limit - at.dims[k].start,
                      most = v->i->operands[0]->shape->dims[k] - size;
        for (int64_t start = 0; start <= most && start < MOST; start++)
            if (start != at.dims[k].start)
                add_attribute(v, STR("slice="), slices_text(v->m->arena, &at, k, start));
    }
}

static void add_operations(struct variants *v)
{
    const enum opcode op = v->i->opcode;
    if (v->i->operand_count >= 2 && op != OP_COMPARE && is_elementwise(op) &&
        !op_is(op, OP_COMMUTATIVE))
        add_variant(v)->swapped = true;
    switch (op) {
    case OP_COMPARE: add_directions(v); break;
    case OP_IOTA: add_iota_dimensions(v); break;
    case OP_SLICE: add_starts(v); break;
    case OP_DOT:
        add_dimensions(v, A_LHS_CONTRACTING_DIMS);
        add_dimensions(v, A_RHS_CONTRACTING_DIMS);
        break;
    default:
        if (is_elementwise(op))
            add_opcodes(v);
        else
            add_dimensions(v, A_DIMENSIONS);
    }
}

/* Whether one of the variants from `first` on has the same value as instruction `n`, or the operand
 * in its place has. */
static bool has_value(const struct variants *v, size_t first, int operand, size_t n)
{
    const size_t old = hlo_listing_number(v->m->b.l, v->i->operands[operand]);
    bool found = n == old || match_same_values(&v->m->b, old, n);
    for (size_t k = first; k < v->count && !found; k++)
        found = match_same_values(&v->m->b, v->at[k].by, n);
    return found;
}

static bool is_among_numbers(const size_t *at, size_t count, size_t n)
{
    for (size_t k = 0; k < count; k++)
        if (at[k] == n)
            return true;
    return false;
}

bool variant_add_to_cone(struct change_cone *c, size_t n)
{
    const struct hlo_listed x = hlo_list_inst(c->l, n);
    if (is_among_numbers(c->extras, c->extra_count, n) ||
        is_among_numbers(c->insts, c->inst_count, n))
        return true;
    if (n < c->at) {
        if (c->extra_count == MATCH_EXTRA_COUNT)
            return false;
        c->extras[c->extra_count++] = n;
        return true;
    }
    if (n == c->at || x.parameter >= 0 || x.callee_count > 0 ||
        !op_is(hlo_listing_inst(c->l, n)->opcode, OP_PURE | OP_NAMES | OP_COMPUTES))
        return false;
    for (size_t k = 0; k < x.operand_count; k++)
        if (!variant_add_to_cone(c, x.operands[k]))
            return false;
    if (c->inst_count == MATCH_EXTRA_COUNT)
        return false;
    c->insts[c->inst_count++] = n;
    return true;
}

/* Adds the variant with instruction `n` as an operand, if it has the shape and another value than
 * those of the variants from `first` on. */
static void add_operand(struct variants *v, size_t first, int operand, size_t n)
{
    const hlo_listing *l = v->m->b.l;
    const struct inst *old = v->i->operands[operand], *other = hlo_listing_inst(l, n);
    struct change_cone c = {.l = l, .at = v->of->inst};
    const bool applied = v->of->inst != v->of->by;
    if (other == old || !shape_is_array(other->shape) ||
        !shape_equal(other->shape, old->shape, IGNORE_LAYOUT) ||
        (applied ? n >= v->of->inst
                 : has_value(v, first, operand, n) || !variant_add_to_cone(&c, n)))
        return;
    struct match_variant *one = add_variant(v);
    one->operand = operand;
    one->by = n;
}

/* An operand is another instruction of the same shape, the nearest ones first. */
static void add_operands(struct variants *v)
{
    enum { MOST = 32 };
    const hlo_listing *l = v->m->b.l;
    const size_t at = v->of->inst;
    const struct hlo_listed_computation in =
        hlo_list_computation(l, hlo_list_inst(l, at).computation);
    for (int k = 0; k < v->i->operand_count; k++) {
        const size_t first = v->count;
        for (size_t d = 1; d < in.count && v->count < first + MOST; d++) {
            if (at >= in.first + d)
                add_operand(v, first, k, at - d);
            if (at + d < in.first + in.count)
                add_operand(v, first, k, at + d);
        }
    }
}

bool match_has_changes(const struct inst *i)
{
    return shape_is_array(i->shape) && op_is(i->opcode, OP_PURE) && !op_is(i->opcode, OP_NAMES) &&
           i->operand_count <= MATCH_OPERAND_COUNT &&
           (i->operand_count > 0 || (i->opcode == OP_IOTA && i->shape->rank > 1));
}

size_t variant_operand(const hlo_listing *l, const struct inst *i, const struct match_variant *v,
                       int k, int *from)
{
    const int last = i->operand_count - 1;
    *from = v->swapped && k >= last - 1 ? 2 * last - 1 - k : k;
    return *from == v->operand ? v->by : hlo_listing_number(l, i->operands[*from]);
}

struct match_variants match_variants_of(const struct matching *m, const struct match_candidate *c,
                                        enum match_kind kind)
{
    struct variants v = {.m = m, .of = c, .i = hlo_listing_inst(m->b.l, c->inst)};
    if (kind == MATCH_OPERATION)
        add_operations(&v);
    else
        add_operands(&v);
    return (struct match_variants){v.at, v.count};
}
