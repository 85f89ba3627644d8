/*
 * lane_code.c: runs computations over scalars, such as the bodies of reductions (spec: Reduce) and
 * comparators (spec: Sort), for many elements at a time.
 */
#include "kern/nest.h"

static void run_op(const struct kern_lane_op *op, void *const *tiles, int64_t n)
{
    const void *args[KERN_MAX_ARGS];
    for (int k = 0; k < KERN_MAX_ARGS; k++)
        args[k] = tiles[op->args[k]];
    if (op->fn) {
        op->fn(tiles[op->out], args, n);
    } else if (op->native) {
        op->native(tiles, n);
    } else if (op->exponent || op->mantissa) {
        struct view out, x;
        view_dense(&out, op->type, 1, &n, tiles[op->out]);
        view_dense(&x, op->type, 1, &n, tiles[op->args[0]]);
        kern_reduce_precision(NULL, &out, &x, op->exponent, op->mantissa);
    } else {
        memcpy(tiles[op->out], args[0], (size_t)n * dtype_bytes(op->type));
    }
}

void kern_run_lanes(const struct kern_lane_code *c, void *workspace, const void *const *args,
                    void *const *results, int64_t n)
{
    void *tiles[KERN_LANE_TILES];
    int count = 0;
    for (int k = 0; k < c->arg_count; k++)
        tiles[count++] = (void *)(uintptr_t)args[k];
    for (int k = 0; k < c->result_count; k++)
        tiles[count++] = results[k];
    for (int k = 0; k < c->constant_count; k++)
        tiles[count++] = (void *)(uintptr_t)c->constants[k];
    for (char *temporary = workspace; count < c->tile_count; temporary += c->tile_bytes)
        tiles[count++] = temporary;
    for (int k = 0; k < c->op_count; k++)
        run_op(&c->ops[k], tiles, n);
}
