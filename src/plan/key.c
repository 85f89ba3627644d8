/*
 * key.c: recognizes comparators that compare one function of both sides, f(a) < f(b). Clients wrap
 * comparisons of floats in this way, so that -0 and +0, and all NaNs, are equal. The sort then
 * computes f of every element, vectorized, and orders the results as plain keys.
 */
#include "plan/scalar.h"

enum { KEY_BUDGET = 4096 }; /* pairs of values compared */

/* The number of the argument at this address, or -1. */
static int argument_at(const struct scalar_code *c, const void *at)
{
    for (int k = 0; k < c->arg_count; k++)
        if (c->args[k].at == at)
            return k;
    return -1;
}

static const struct scalar_op *maker_of(const struct scalar_code *c, const void *at)
{
    for (int k = 0; k < c->op_count; k++)
        if (c->ops[k].out == at)
            return &c->ops[k];
    return NULL;
}

/* Whether u is computed from arguments of the first side exactly as v is from those of the
 * second. */
static bool mirrored(const struct scalar_code *c, const void *u, const void *v, int *budget)
{
    int first = argument_at(c, u), second = argument_at(c, v);
    if (--*budget < 0)
        return false;
    if (first >= 0 || second >= 0)
        return first % 2 == 0 && second == first + 1;
    const struct scalar_op *x = maker_of(c, u), *y = maker_of(c, v);
    if (!x && !y)
        return memcmp(u, v, 16) == 0; /* constants; no register is smaller */
    if (!x || !y || x->kind != SCALAR_APPLY || y->kind != SCALAR_APPLY || x->fn != y->fn)
        return false;
    for (int k = 0; k < KERN_MAX_ARGS; k++)
        if ((x->args[k] || y->args[k]) &&
            (!x->args[k] || !y->args[k] || !mirrored(c, x->args[k], y->args[k], budget)))
            return false;
    return true;
}

/* The comparison that this kernel implements, if it is < or > on a type with 64-bit keys. */
static bool find_comparison(const struct kern_tiles *tiles, kern_tile_fn *fn, struct body *b)
{
    for (int t = 0; t < DT_COUNT; t++)
        for (int total = 0; total < 2; total++) {
            if (dtype_is_complex((enum dtype)t))
                continue;
            bool less = fn == tiles->compare(KERN_LT, total, (enum dtype)t);
            if (!less && fn != tiles->compare(KERN_GT, total, (enum dtype)t))
                continue;
            b->order = less ? KERN_ORDER_LESS : KERN_ORDER_GREATER;
            b->key_type = (enum dtype)t;
            b->total_order = total;
            return true;
        }
    return false;
}

/* `c` without its last operation, the comparison; the result is the value at `key`. */
static const struct scalar_code *without_comparison(struct planner *pl, const struct scalar_code *c,
                                                    const void *key, enum dtype t)
{
    struct scalar_code *keys = ARENA_DUP(&pl->p->arena, c, 1);
    struct scalar_slot slot = {(void *)(uintptr_t)key, (uint32_t)(KERN_LANES * dtype_bytes(t))};
    keys->ops = ARENA_DUP(&pl->p->arena, c->ops, c->op_count);
    keys->ops[c->op_count - 2] = c->ops[c->op_count - 1];
    keys->op_count = c->op_count - 1;
    keys->results = ARENA_DUP(&pl->p->arena, &slot, 1);
    keys->native = NULL;
    return keys;
}

void plan_find_keys(struct planner *pl, const struct scalar_code *lanes, struct body *b)
{
    int budget = KEY_BUDGET;
    if (lanes->op_count < 2 || lanes->result_count != 1)
        return;
    const struct scalar_op *last = &lanes->ops[lanes->op_count - 2];
    if (last->kind != SCALAR_APPLY || last->out != lanes->results[0].at || !last->args[0] ||
        !last->args[1])
        return;
    bool swapped = !mirrored(lanes, last->args[0], last->args[1], &budget);
    if ((swapped && !mirrored(lanes, last->args[1], last->args[0], &budget)) ||
        !find_comparison(pl->tiles, last->fn, b))
        return;
    if (swapped)
        b->order = b->order == KERN_ORDER_LESS ? KERN_ORDER_GREATER : KERN_ORDER_LESS;
    b->keys = without_comparison(pl, lanes, last->args[swapped], b->key_type);
}
