/*
 * scalar_large.c: large arrays in scalar code. A loop that updates one row of a large array per
 * iteration updates it in place, so that the loop can still be scalar code.
 */
#include "plan/scalar.h"

#include <stdlib.h>

bool scalar_is_large(const struct maker *m, const struct shape *s)
{
    int64_t bytes;
    return m->takes_large && shape_is_array(s) && s->rank <= VIEW_MAX_RANK &&
           shape_bytes(s, &bytes);
}

bool scalar_may_be_large(const struct inst *i)
{
    return op_is(i->opcode, OP_NAMES | OP_RUNS | OP_UPDATES) || op_passes(i->opcode) ||
           i->opcode == OP_CONSTANT;
}

/* Adds a register for the current version of the array. */
static int add_reg(struct maker *m, struct large_array *c)
{
    int64_t n = 0;
    shape_elements(c->shape, &n);
    int reg = scalar_alias_reg(m, -1, NULL, c->shape->dtype, n);
    m->regs[reg].large_array = c;
    m->regs[reg].version = c->version;
    return reg;
}

int scalar_new_large(struct maker *m, const struct shape *s, int arg, char *at)
{
    struct large_array *c = ARENA_NEW(&m->pl->scratch, struct large_array);
    *c = (struct large_array){.at = at, .arg = arg, .shape = s};
    VEC_PUSH(&m->pl->scratch, m->large_arrays, m->large_array_count, m->large_array_capacity) = c;
    return add_reg(m, c);
}

int scalar_same_large(struct maker *m, int reg)
{
    return scalar_is_fresh(&m->regs[reg]) ? add_reg(m, m->regs[reg].large_array) : -1;
}

bool scalar_is_little(struct cost c)
{
    enum { MOST_OPERATIONS = 1 << 19, MOST_BYTES = 1 << 19 };
    return c.operations <= MOST_OPERATIONS && c.bytes <= MOST_BYTES;
}

bool scalar_may_read_large(const struct inst *i)
{
    switch (i->opcode) {
    case OP_BROADCAST:
    case OP_DOT:
    case OP_REDUCE:
    case OP_RESHAPE:
    case OP_REVERSE:
    case OP_SLICE:
    case OP_TRANSPOSE: return scalar_is_little(plan_cost_of_inst(i));
    default: return false;
    }
}

bool scalar_set_address(struct maker *m, int reg, struct view *v, struct scalar_origin *origin,
                        int64_t offset)
{
    const struct reg *r = &m->regs[reg];
    v->data = r->large_array ? NULL : r->at + offset;
    *origin = (struct scalar_origin){r->large_array ? &r->large_array->at : NULL, offset};
    return scalar_is_fresh(r);
}

int scalar_write_large(struct maker *m, int reg)
{
    struct large_array *c = m->regs[reg].large_array;
    if (!scalar_is_fresh(&m->regs[reg]) || !scalar_may_write(m, c))
        return -1;
    c->version = ++m->version;
    c->written = true;
    return add_reg(m, c);
}

bool scalar_same_arrays(const struct maker *m, struct leaves l, struct leaves model)
{
    for (int k = 0; k < l.count && k < model.count; k++) {
        const struct reg *x = l.at[k] == NO_VALUE ? NULL : &m->regs[l.at[k]],
                         *y = model.at[k] == NO_VALUE ? NULL : &m->regs[model.at[k]];
        if ((x ? x->large_array : NULL) != (y ? y->large_array : NULL) ||
            (x && !scalar_is_fresh(x)))
            return false;
    }
    return l.count == model.count;
}

static int by_address(const void *a, const void *b)
{
    const struct large_array *x = *(struct large_array *const *)a,
                             *y = *(struct large_array *const *)b;
    return (x > y) - (x < y);
}

bool scalar_arrays_differ(const struct maker *m, struct leaves l)
{
    struct large_array **large_arrays = ARENA_ARRAY(&m->pl->scratch, struct large_array *, l.count);
    int n = 0;
    for (int k = 0; k < l.count; k++)
        if (l.at[k] != NO_VALUE && m->regs[l.at[k]].large_array)
            large_arrays[n++] = m->regs[l.at[k]].large_array;
    if (n > 1)
        qsort(large_arrays, (size_t)n, sizeof *large_arrays, by_address);
    for (int k = 1; k < n; k++)
        if (large_arrays[k] == large_arrays[k - 1])
            return false;
    return true;
}

struct versions scalar_versions(struct maker *m)
{
    struct versions v = {m->large_array_count,
                         ARENA_ARRAY(&m->pl->scratch, int, m->large_array_count),
                         ARENA_ARRAY(&m->pl->scratch, bool, m->large_array_count)};
    for (int k = 0; k < v.count; k++)
        v.at[k] = m->large_arrays[k]->version;
    return v;
}

void scalar_back_to(struct maker *m, struct versions v)
{
    for (int k = 0; k < v.count; k++) {
        v.changed[k] |= m->large_arrays[k]->version != v.at[k];
        m->large_arrays[k]->version = v.at[k];
    }
}

void scalar_meet(struct maker *m, struct versions v)
{
    for (int k = 0; k < v.count; k++)
        if (v.changed[k])
            m->large_arrays[k]->version = ++m->version;
}

void scalar_refresh(struct maker *m, struct leaves l)
{
    for (int k = 0; k < l.count; k++)
        if (l.at[k] != NO_VALUE && m->regs[l.at[k]].large_array)
            m->regs[l.at[k]].version = m->regs[l.at[k]].large_array->version;
}
