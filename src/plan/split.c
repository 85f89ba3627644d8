/*
 * split.c: splits reductions in two. Where the elements are computed less often than the initial
 * value, as when a constant array is reduced with a parameter as initial value, f(init, reduction
 * of the elements) is computed instead. The inner reduction starts from the combiner's identity,
 * and hoist.c hoists it with its elements.
 *
 * This needs combiners whose result does not depend on the order. Float sums qualify where they are
 * accumulated in f64: the inner part stays in f64, so that the sum is rounded once, as without the
 * split. For sums of f64 themselves no order is specified. Products of floats could overflow in the
 * inner part, so they are not split.
 */
#include "plan/derive.h"

enum {
    LEAST = 4096, /* fewer elements than this are not worth the extra steps */
    /* elements per result, at least: the results are read in every run */
    UNDER = 16
};

struct split {
    struct build *b;
    const struct step *whole;
    int count;                   /* number of results */
    enum kern_combine *combines; /* of each result */
    enum dtype *types;           /* of each result: the type of its inner part */
    int *identities;             /* of each result: constant number of the identity */
};

/* ---- candidates ---- */

static bool is_large(const struct step *s)
{
    int64_t in, out;
    return shape_elements(s->inst->operands[0]->shape, &in) && shape_elements(s->shapes[0], &out) &&
           out > 0 && in >= LEAST && in / out >= UNDER;
}

/* Whether the elements are computed less often than the initial value. */
static bool comes_later(const struct step *s, const uint8_t *when)
{
    uint8_t elements = HOIST_RUN, first = HOIST_RUN;
    for (int k = 0; k < s->operand_count; k++) {
        const int v = s->operands[k];
        const uint8_t at = v == NO_VALUE ? HOIST_NOT : v < 0 ? HOIST_RUN : when[v];
        uint8_t *min = k < s->operand_count / 2 ? &elements : &first;
        *min = at < *min ? at : *min;
    }
    return elements > first;
}

static bool is_of_one_type(const struct step *s, int k)
{
    const int n = s->operand_count / 2;
    const struct inst *i = s->inst;
    const enum dtype t = s->bodies->args[k];
    return i->operands[k]->shape->dtype == t && i->operands[n + k]->shape->dtype == t &&
           s->shapes[k]->dtype == t;
}

static bool add_identity(struct split *p, int k)
{
    struct arena *keep = &p->b->pl->p->arena;
    struct literal l = {.data = arena_zalloc(keep, sizeof(struct c128))};
    const bool alone = p->count == 1,
               found = kern_reducer_splits(p->combines[k], p->whole->bodies->args[k], &p->types[k],
                                           l.data);
    /* Reducers of several values compute in their own types, where float sums depend on their
     * order. */
    if (!found || (!alone && p->combines[k] == KERN_ADD && dtype_is_float(p->types[k])))
        return false;
    l.shape = shape_array(keep, p->types[k], 0, NULL, NULL, NULL);
    p->identities[k] = same_constant(p->b->pl, &l);
    return true;
}

static bool may_be_split(struct split *p, const uint8_t *when)
{
    const struct step *s = p->whole;
    struct arena *a = &p->b->pl->scratch;
    const int n = s->operand_count / 2;
    if (s->inst->opcode != OP_REDUCE || s->operand_count != s->inst->operand_count ||
        s->result_count != n || !comes_later(s, when) || !is_large(s) || !s->bodies->code ||
        s->bodies->pick)
        return false;
    p->count = n;
    p->combines = ARENA_ARRAY(a, enum kern_combine, n);
    p->types = ARENA_ARRAY(a, enum dtype, n);
    p->identities = ARENA_ARRAY(a, int, n);
    if (!plan_find_combines(p->b->pl, s->bodies, p->combines))
        return false;
    for (int k = 0; k < n; k++)
        if (!is_of_one_type(s, k) || !add_identity(p, k))
            return false;
    return true;
}

/* ---- lowering ---- */

static struct inst *new_inst(struct split *p, enum opcode op, const struct shape *result, int n,
                             const struct shape *const *operands)
{
    struct inst *i = derive_inst(p->b, p->whole->inst, op, result, n, operands);
    if (op == OP_REDUCE)
        i->attr_count = p->whole->inst->attr_count;
    return i;
}

/* Emits a single operation. */
static struct step *apply(struct split *p, enum opcode op, const struct shape *result, int n,
                          const struct shape *const *shapes, const int *operands, int *value)
{
    struct leaves made;
    struct step *s = derive_step(p->b, new_inst(p, op, result, n, shapes), operands, &made);
    if (s)
        *value = *made.at;
    return s;
}

/* Emits the inner reduction, which starts from the identity. */
static bool make_part(struct split *p, struct leaves *out)
{
    const struct step *s = p->whole;
    const int n = p->count;
    struct arena *keep = &p->b->pl->p->arena;
    const struct shape **shapes = ARENA_ARRAY(keep, const struct shape *, 2 * n);
    int *operands = ARENA_ARRAY(keep, int, 2 * n);
    for (int k = 0; k < n; k++) {
        shapes[k] = s->inst->operands[k]->shape;
        shapes[n + k] = derive_shape(p->b, s->inst->operands[n + k]->shape, p->types[k]);
        operands[k] = s->operands[k];
        operands[n + k] = p->identities[k];
    }
    const struct shape *result =
        n == 1 ? derive_shape(p->b, s->shapes[0], p->types[0]) : s->inst->shape;
    struct step *part =
        derive_step(p->b, new_inst(p, OP_REDUCE, result, 2 * n, shapes), operands, out);
    if (!part)
        return false;
    /* a recognized reducer is identified by its combiner alone */
    if (p->types[0] != s->bodies->args[0]) {
        struct body *body = ARENA_DUP(keep, part->bodies, 2);
        enum dtype *types = ARENA_ARRAY(keep, enum dtype, 2);
        types[0] = types[1] = p->types[0];
        body->args = body->results = types;
        part->bodies = body;
    }
    return true;
}

/* Computes result k from the initial value and the inner reduction. */
static bool finish(struct split *p, int k, int part)
{
    const struct step *s = p->whole;
    const struct shape *out = s->shapes[k], *wide = derive_shape(p->b, out, p->types[k]);
    const struct shape *first = s->inst->operands[p->count + k]->shape,
                       *wide_first = derive_shape(p->b, first, p->types[k]);
    const bool widens = p->types[k] != out->dtype;
    int init = s->operands[p->count + k], value;
    struct step *last;
    if (widens && !apply(p, OP_CONVERT, wide_first, 1, &first, &init, &init))
        return false;
    if (out->rank > 0 && !apply(p, OP_BROADCAST, wide, 1, &wide_first, &init, &init))
        return false;
    last = apply(p, op_find(str_of(kern_combine_opcode(p->combines[k]))), wide, 2,
                 (const struct shape *const[]){wide, wide}, (const int[]){init, part}, &value);
    if (last && widens)
        last = apply(p, OP_CONVERT, out, 1, &wide, &value, &value);
    if (last) /* readers of the reduction read this value */
        last->results = ARENA_DUP(&p->b->pl->p->arena, &s->results[k], 1);
    return last != NULL;
}

static bool split(struct split *p)
{
    struct leaves part;
    if (!make_part(p, &part))
        return false;
    for (int k = 0; k < p->count; k++)
        if (p->whole->results[k] >= 0 && !finish(p, k, part.at[k]))
            return false;
    p->b->pl->p->stats.split++;
    return true;
}

bool plan_split(struct build *b, struct leaves results)
{
    struct function *f = b->f;
    const int count = f->step_count;
    const struct step *old = f->steps;
    bool any = false;
    for (int k = 0; k < count && !any; k++)
        any = old[k].inst->opcode == OP_REDUCE && is_large(&old[k]);
    if (!any)
        return true;
    any = false;
    const uint8_t *when = plan_hoist_levels(b->pl, f, b->value_count, results);
    struct split *parts = ARENA_ARRAY(&b->pl->scratch, struct split, count);
    for (int k = 0; k < count; k++) {
        parts[k] = (struct split){.b = b, .whole = &old[k]};
        if (!may_be_split(&parts[k], when))
            parts[k].whole = NULL;
        any |= parts[k].whole != NULL;
    }
    if (!any)
        return true;
    f->steps = NULL;
    f->step_count = 0;
    b->step_capacity = 0;
    for (int k = 0; k < count; k++)
        if (!parts[k].whole)
            VEC_PUSH(&b->pl->p->arena, f->steps, f->step_count, b->step_capacity) = old[k];
        else if (!split(&parts[k]))
            return false;
    return true;
}
