/*
 * product.c: products of a single term (spec: DotGeneral) as elementwise multiplications, which are
 * fused with what follows; so are their transposes, as in gradients of layers. Other products are
 * not transposed by exchanging their operands: the order of a sum depends on the kernel, and that
 * on the shape.
 */
#include "plan/derive.h"

/* Whether the permutation of a product's result exchanges the free dimensions of its operands. */
static bool exchanges(const struct inst *dot, const struct inst *transpose)
{
    const struct ints to = inst_ints(transpose, A_DIMENSIONS);
    const int64_t rank = dot->shape->rank, batch = inst_ints(dot, A_LHS_BATCH_DIMS).count,
                  contracting = inst_ints(dot, A_LHS_CONTRACTING_DIMS).count,
                  lhs = dot->operands[0]->shape->rank - batch - contracting;
    bool same = to.count == rank;
    for (int64_t d = 0; d < rank && same; d++)
        same = to.at[d] == (d < batch ? d : batch + (d - batch + lhs) % (rank - batch));
    return same;
}

static void exchange_attr(struct inst *i, enum attr_id a, const struct inst *from, enum attr_id b)
{
    const struct attr *x = inst_attr(from, b);
    if (!x)
        return;
    i->attrs[i->attr_count] = *x;
    i->attrs[i->attr_count++].id = a;
}

/* The product whose operands are those of `dot` in the other order. */
static struct inst *exchanged(struct build *b, const struct inst *dot, const struct shape *result)
{
    static const enum attr_id attrs[][2] = {{A_LHS_BATCH_DIMS, A_RHS_BATCH_DIMS},
                                            {A_RHS_BATCH_DIMS, A_LHS_BATCH_DIMS},
                                            {A_LHS_CONTRACTING_DIMS, A_RHS_CONTRACTING_DIMS},
                                            {A_RHS_CONTRACTING_DIMS, A_LHS_CONTRACTING_DIMS}};
    const struct shape *const shapes[] = {dot->operands[1]->shape, dot->operands[0]->shape};
    struct inst *i = derive_inst(b, dot, OP_DOT, result, 2, shapes);
    i->attrs = ARENA_ARRAY(build_arena(b), struct attr, COUNT_OF(attrs));
    for (size_t k = 0; k < COUNT_OF(attrs); k++)
        exchange_attr(i, attrs[k][0], dot, attrs[k][1]);
    return i;
}

/* ---- a single term ---- */

/* The places of an operand's dimensions in the result; returns their number. */
static int place_dims(const struct inst *dot, int operand, int64_t *dims, int64_t *places)
{
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
        places[count++] = place < batch.count ? place : next++;
    }
    return count;
}

/* Repeats an operand along the dimensions of the result that it does not have. */
static bool spread(struct build *b, const struct inst *dot, int operand, int *value)
{
    int64_t dims[VIEW_MAX_RANK], places[VIEW_MAX_RANK];
    const struct shape *x = dot->operands[operand]->shape;
    const int count = place_dims(dot, operand, dims, places);
    struct leaves made;
    if (count != x->rank) {
        const struct shape *flat = shape_array(build_arena(b), x->dtype, count, dims, NULL, NULL);
        struct inst *reshape = derive_inst(b, dot, OP_RESHAPE, flat, 1, &x);
        if (!derive_step(b, reshape, value, &made))
            return false;
        *value = *made.at;
        x = flat;
    }
    struct inst *repeat = derive_inst(b, dot, OP_BROADCAST, dot->shape, 1, &x);
    derive_dimensions(b, repeat, count, places);
    if (!derive_step(b, repeat, value, &made))
        return false;
    *value = *made.at;
    return true;
}

static bool has_single_term(const struct inst *dot)
{
    enum { ENOUGH = 256 }; /* elements that are worth several steps */
    const struct shape *x = dot->operands[0]->shape, *y = dot->operands[1]->shape;
    const struct ints contracting = inst_ints(dot, A_LHS_CONTRACTING_DIMS);
    const enum dtype t = dot->shape->dtype;
    int64_t n, terms = 1;
    for (int64_t k = 0; k < contracting.count; k++)
        terms *= x->dims[contracting.at[k]];
    return terms == 1 && (t == DT_F32 || t == DT_F64) && x->dtype == t && y->dtype == t &&
           !inst_attr(dot, A_ALGORITHM) && dot->shape->rank <= VIEW_MAX_RANK &&
           shape_elements(dot->shape, &n) && n >= ENOUGH;
}

/* The product plus 0, where a sum starts: a product of -0 becomes 0. */
static bool multiply(struct build *b, const struct inst *dot, const int *operands,
                     struct leaves *out)
{
    const struct shape *const pair[] = {dot->shape, dot->shape},
                              *single = shape_array(build_arena(b), dot->shape->dtype, 0, NULL,
                                                    NULL, NULL);
    const struct literal zero = {.shape = single, .data = arena_zalloc(build_arena(b), 16)};
    int x[2] = {operands[0], operands[1]};
    if (!spread(b, dot, 0, &x[0]) || !spread(b, dot, 1, &x[1]) ||
        !derive_step(b, derive_inst(b, dot, OP_MULTIPLY, dot->shape, 2, pair), x, out))
        return false;
    x[0] = *out->at;
    x[1] = same_constant(b->pl, &zero);
    struct inst *repeat = derive_inst(b, dot, OP_BROADCAST, dot->shape, 1, &single);
    derive_dimensions(b, repeat, 0, NULL);
    if (!derive_step(b, repeat, &x[1], out))
        return false;
    x[1] = *out->at;
    return derive_step(b, derive_inst(b, dot, OP_ADD, dot->shape, 2, pair), x, out) != NULL;
}

/* ---- any product ---- */

bool plan_product(struct build *b, const struct inst *i, struct leaves *out)
{
    const struct inst *dot = i->opcode == OP_TRANSPOSE ? i->operands[0] : i;
    int operands[2];
    if (!plan_optimises(b->pl) || dot->opcode != OP_DOT || !has_single_term(dot) ||
        (dot != i && !exchanges(dot, i)))
        return false;
    for (int k = 0; k < 2; k++) {
        const struct leaves l = b->env[dot->operands[k]->index];
        if (l.count != 1)
            return false;
        operands[dot == i ? k : !k] = *l.at;
    }
    if (dot != i)
        dot = exchanged(b, dot, i->shape);
    b->pl->p->stats.simplified++;
    return multiply(b, dot, operands, out);
}
