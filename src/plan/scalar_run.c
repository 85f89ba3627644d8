/*
 * Running scalar programs: a few nanoseconds a step, no allocation.
 */
#include "plan/plan_priv.h"

static inline void move(void *to, const void *from, unsigned size)
{
    switch (size) {
    case 1: memcpy(to, from, 1); break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    default: memcpy(to, from, 16); break;
    }
}

static void reduce_precision(const struct scalar_op *op)
{
    struct view x, out;
    view_dense(&x, (enum dtype)op->size, 0, NULL, (void *)(uintptr_t)op->args[0]);
    view_dense(&out, (enum dtype)op->size, 0, NULL, op->out);
    kern_reduce_precision(&out, &x, op->target >> 8, op->target & 0xff);
}

static int32_t branch(const struct scalar_op *op)
{
    int32_t i;
    memcpy(&i, op->args[0], sizeof i);
    return op->targets[i < 0 || i >= op->target ? op->target - 1 : i];
}

static void run(const struct scalar_op *ops)
{
    for (int32_t at = 0;;) {
        const struct scalar_op *op = &ops[at++];
        switch (op->kind) {
        case SCALAR_APPLY:
            op->fn(op->out, op->args, 1);
            break;
        case SCALAR_MOVE:
            move(op->out, op->args[0], op->size);
            break;
        case SCALAR_PRECISION:
            reduce_precision(op);
            break;
        case SCALAR_JUMP:
            at = op->target;
            break;
        case SCALAR_JUMP_UNLESS:
            if (!*(const uint8_t *)op->args[0])
                at = op->target;
            break;
        case SCALAR_SWITCH:
            at = branch(op);
            break;
        default:
            return;
        }
    }
}

bool scalar_call(void *code, const void *const *args, void *const *results)
{
    const struct scalar_code *c = code;
    for (int k = 0; k < c->arg_count; k++)
        if (c->args[k].at)
            move(c->args[k].at, args[k], c->args[k].size);
    run(c->ops);
    for (int k = 0; k < c->result_count; k++)
        if (c->results[k].at)
            move(results[k], c->results[k].at, c->results[k].size);
    return true;
}
