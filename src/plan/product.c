/*
 * product.c: products of a single term (spec: DotGeneral) as elementwise multiplications, which are
 * fused with what follows; so are their transposes, as in gradients of layers. Other products are
 * not transposed by exchanging their operands: the order of a sum depends on the kernel, and that
 * on the shape.
 */
#include "plan/derive.h"

struct product {
    const struct inst *dot;
    const struct shape *result;    /* of the product, or of its transpose */
    int64_t places[VIEW_MAX_RANK]; /* of the product's dimensions in the result */
};

/* The places of an operand's dimensions in the result; returns their number. */
static int place_dims(const struct product *p, int operand, int64_t *dims, int64_t *places)
{
    const struct inst *dot = p->dot;
    const struct shape *x = dot->operands[operand]->shape;
    const struct ints contracting =
                          inst_ints(dot, operand ? A_RHS_CONTRACTING_DIMS : A_LHS_CONTRACTING_DIMS),
                      batch = inst_ints(dot, operand ? A_RHS_BATCH_DIMS : A_LHS_BATCH_DIMS);
    int count = 0;
    int64_t next =
        operand ? dot->shape->rank - (x->rank - contracting.count - batch.count) : batch.count;
    for (int d = 0; d < x->rank; d++) {
        int64_t place = 0;
        if (i64_in(contracting.at, contracting.count, d))
            continue;
        while (place < batch.count && batch.at[place] != d)
            place++;
        dims[count] = x->dims[d];
        places[count++] = p->places[place < batch.count ? place : next++];
    }
    return count;
}

/* Repeats an operand along the dimensions of the result that it does not have. */
static bool spread(struct build *b, const struct product *p, int operand, int *value)
{
    int64_t dims[VIEW_MAX_RANK], places[VIEW_MAX_RANK];
    const struct inst *dot = p->dot;
    const struct shape *x = dot->operands[operand]->shape;
    const int count = place_dims(p, operand, dims, places);
    struct leaves made;
    if (count != x->rank) {
        const struct shape *flat = shape_array(build_arena(b), x->dtype, count, dims, NULL, NULL);
        struct inst *reshape = derive_inst(b, dot, OP_RESHAPE, flat, 1, &x);
        if (!derive_step(b, reshape, value, &made))
            return false;
        *value = *made.at;
        x = flat;
    }
    struct inst *repeat = derive_inst(b, dot, OP_BROADCAST, p->result, 1, &x);
    derive_dimensions(b, repeat, count, places);
    if (!derive_step(b, repeat, value, &made))
        return false;
    *value = *made.at;
    return true;
}

static bool has_single_term(const struct inst *dot)
{
    const struct shape *x = dot->operands[0]->shape, *y = dot->operands[1]->shape;
    const struct ints contracting = inst_ints(dot, A_LHS_CONTRACTING_DIMS);
    const enum dtype t = dot->shape->dtype;
    int64_t n, terms = 1;
    for (int64_t k = 0; k < contracting.count; k++)
        terms *= x->dims[contracting.at[k]];
    return terms == 1 && (t == DT_F32 || t == DT_F64) && x->dtype == t && y->dtype == t &&
           !inst_attr(dot, A_ALGORITHM) && dot->shape->rank <= VIEW_MAX_RANK &&
           shape_elements(dot->shape, &n) && n >= KERN_SINGLE_TERM;
}

/* The product of the values `x`, plus 0, where a sum starts: a product of -0 becomes 0. */
static bool multiply(struct build *b, const struct product *p, int *x, struct leaves *out)
{
    const struct inst *dot = p->dot;
    const struct shape *const pair[] = {p->result, p->result},
                              *single = shape_array(build_arena(b), p->result->dtype, 0, NULL, NULL,
                                                    NULL);
    const struct literal zero = {.shape = single, .data = arena_zalloc(build_arena(b), 16)};
    if (!spread(b, p, 0, &x[0]) || !spread(b, p, 1, &x[1]) ||
        !derive_step(b, derive_inst(b, dot, OP_MULTIPLY, p->result, 2, pair), x, out))
        return false;
    x[0] = *out->at;
    x[1] = same_constant(b->pl, &zero);
    struct inst *repeat = derive_inst(b, dot, OP_BROADCAST, p->result, 1, &single);
    derive_dimensions(b, repeat, 0, NULL);
    if (!derive_step(b, repeat, &x[1], out))
        return false;
    x[1] = *out->at;
    return derive_step(b, derive_inst(b, dot, OP_ADD, p->result, 2, pair), x, out) != NULL;
}

bool plan_product(struct build *b, const struct inst *i, struct leaves *out)
{
    struct product p = {.dot = i->opcode == OP_TRANSPOSE ? i->operands[0] : i, .result = i->shape};
    int operands[2];
    if (!plan_optimises(b->pl) || p.dot->opcode != OP_DOT || !has_single_term(p.dot))
        return false;
    for (int k = 0; k < 2; k++) {
        const struct leaves l = b->env[p.dot->operands[k]->index];
        if (l.count != 1)
            return false;
        operands[k] = *l.at;
    }
    for (int d = 0; d < i->shape->rank; d++)
        p.places[p.dot == i ? d : inst_ints(i, A_DIMENSIONS).at[d]] = d;
    b->pl->p->stats.simplified++;
    return multiply(b, &p, operands, out);
}
