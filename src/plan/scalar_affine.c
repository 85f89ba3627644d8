/*
 * scalar_affine.c: integers that are base * scale + offset, both constants: shorter chains of
 * operations. The state of a generator of random numbers, multiplied and incremented twice per
 * iteration, depends on that of the previous iteration by one product and one sum.
 */
#include "plan/scalar.h"

/* The value of a register, modulo its width. */
struct scalar_affine {
    int base, product; /* product: the register of base * scale */
    uint64_t scale, offset;
    const struct inst *add; /* an addition of this type; NULL: offset is 0 */
};

static bool is_affine_type(enum dtype t)
{
    return t == DT_S32 || t == DT_U32 || t == DT_S64 || t == DT_U64;
}

static int constant_reg(struct maker *m, enum dtype t, uint64_t value)
{
    const int reg = scalar_new_reg(m, t, 1);
    if (reg < 0)
        return -1;
    memcpy(m->regs[reg].at, &value, dtype_bytes(t));
    m->regs[reg].constant = true;
    return reg;
}

static struct scalar_affine affine_of(const struct maker *m, int reg)
{
    return m->regs[reg].affine ? *m->regs[reg].affine
                               : (struct scalar_affine){reg, reg, 1, 0, NULL};
}

/* Finds the value that `i` computes from these registers, of which one is a constant. */
static bool find_affine(const struct maker *m, const struct inst *i, const int *args,
                        struct scalar_affine *out)
{
    if ((i->opcode != OP_ADD && i->opcode != OP_MULTIPLY) || m->lanes > 1 ||
        m->pl->p->options.plain || !is_affine_type(i->shape->dtype))
        return false;
    const struct reg *x = &m->regs[args[0]], *y = &m->regs[args[1]];
    uint64_t c = 0;
    if (x->n != 1 || y->n != 1 || x->constant == y->constant)
        return false;
    memcpy(&c, x->constant ? x->at : y->at, dtype_bytes(i->shape->dtype));
    *out = affine_of(m, args[x->constant ? 1 : 0]);
    if (i->opcode == OP_ADD) {
        out->offset += c;
        out->add = i;
        return true;
    }
    out->scale *= c;
    out->offset *= c;
    out->product = -1;
    return true;
}

static void set_affine(struct maker *m, int reg, struct scalar_affine a)
{
    m->regs[reg].affine = ARENA_DUP(&m->pl->scratch, &a, 1);
}

/* A product of a sum is not replaced if that takes longer: base + offset, times a constant. */
static bool is_shorter(const struct maker *m, const struct inst *i, const int *args)
{
    const struct scalar_affine x = affine_of(m, args[m->regs[args[0]].constant ? 1 : 0]);
    return i->opcode == OP_ADD ? x.add != NULL : x.scale != 1;
}

static int apply(struct maker *m, const struct inst *i, int x, int y)
{
    enum dtype type, result;
    kern_tile_fn *fn = plan_tile(m->pl, i, &type, &result);
    const struct tile_meaning meaning = {TILE_INST, i, type, result, DT_INVALID};
    return fn ? scalar_apply(m, fn, meaning, (const int[]){x, y}, 1) : -1;
}

int scalar_apply_affine(struct maker *m, const struct inst *i, const int *args)
{
    const enum dtype t = i->shape->dtype;
    struct scalar_affine a;
    if (!find_affine(m, i, args, &a) || !is_shorter(m, i, args))
        return -1;
    if (a.product < 0) {
        const int scale = constant_reg(m, t, a.scale);
        a.product = scale < 0 ? -1 : apply(m, i, a.base, scale);
        if (a.product < 0)
            return -1;
        set_affine(m, a.product, (struct scalar_affine){a.base, a.product, a.scale, 0, NULL});
    }
    if (!a.add)
        return a.product;
    const int offset = constant_reg(m, t, a.offset),
              reg = offset < 0 ? -1 : apply(m, a.add, a.product, offset);
    if (reg >= 0)
        set_affine(m, reg, a);
    return reg;
}

void scalar_set_affine(struct maker *m, const struct inst *i, const int *args, int reg)
{
    struct scalar_affine a;
    if (!find_affine(m, i, args, &a))
        return;
    if (a.product < 0)
        a.product = a.add ? -1 : reg;
    if (a.product >= 0)
        set_affine(m, reg, a);
}
