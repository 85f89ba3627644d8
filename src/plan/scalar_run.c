/*
 * Runs scalar code: a few nanoseconds per operation, no allocation.
 */
#include "plan/scalar.h"

static inline void move(void *to, const void *from, uint32_t size)
{
    switch (size) {
    case 1: memcpy(to, from, 1); break;
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    default: memcpy(to, from, size); break;
    }
}

static void slice(const struct scalar_slice *s)
{
    struct view window;
    char *at = s->large_array ? *s->large_array : s->whole.data;
    for (int d = 0; d < s->whole.rank; d++) {
        int64_t i = kern_load_index(s->index[d].type, s->index[d].at),
                last = s->whole.dims[d] - s->piece.dims[d];
        if (s->drops[d] && (i < 0 || i > last))
            return;
        at += (i < 0 ? 0 : i > last ? last : i) * s->whole.strides[d];
    }
    if (s->whole.rank <= 1) {
        size_t size = dtype_bytes(s->whole.dtype) * (size_t)(s->whole.rank ? s->piece.dims[0] : 1);
        memcpy(s->update ? at : s->piece.data, s->update ? s->piece.data : at, size);
        return;
    }
    window = s->whole;
    window.data = at;
    memcpy(window.dims, s->piece.dims, sizeof *window.dims * (size_t)window.rank);
    kern_copy(NULL, s->update ? &window : &s->piece, s->update ? &s->piece : &window);
}

static bool gather(const struct kernels *kern, const struct scalar_gather *g, bool scatter)
{
    struct view whole = g->whole;
    if (g->large_array)
        whole.data = *g->large_array;
    if (scatter)
        return kern->scatter(NULL, 1, &whole, &g->indices, &g->small, &g->dims, &g->body);
    kern->gather(NULL, &g->small, &whole, &g->indices, &g->dims);
    return true;
}

static bool dot(const struct kernels *kern, const struct scalar_dot *d)
{
    if (!d->ready)
        return kern->dot(NULL, &d->out, &d->lhs, &d->rhs, &d->dims);
    kern_run_ready_dot(d->ready, d->out.data, d->lhs.data, d->rhs.data);
    return true;
}

bool scalar_run_one(const struct kernels *kern, const struct scalar_op *op)
{
    switch (op->kind) {
    case SCALAR_APPLY: op->fn(op->out, op->args, op->count); return true;
    case SCALAR_MOVE: move(op->out, op->args[0], (uint32_t)op->count); return true;
    case SCALAR_COPY: kern_copy(NULL, &op->copy->out, &op->copy->x); return true;
    case SCALAR_PRECISION:
        kern->reduce_precision(NULL, &op->precision->out, &op->precision->x,
                               op->precision->exponent, op->precision->mantissa);
        return true;
    case SCALAR_SLICE: slice(op->slice); return true;
    case SCALAR_GATHER:
    case SCALAR_SCATTER: return gather(kern, op->gather, op->kind == SCALAR_SCATTER);
    case SCALAR_REDUCE:
        return kern->reduce(NULL, op->reduce->n, op->reduce->out, op->reduce->x, op->reduce->init,
                            op->reduce->acc, op->reduce->reduced, &op->reduce->body);
    default: return dot(kern, op->dot);
    }
}

static int32_t branch(const struct scalar_op *op)
{
    int32_t i;
    memcpy(&i, op->args[0], sizeof i);
    return op->targets[i < 0 || i >= op->count ? op->count - 1 : i];
}

static bool count_trip(const struct scalar_code *c, const struct scalar_op *op)
{
    *op->trips = op->count < 0 ? *op->trips + 1 : (uint64_t)op->count;
    if (*op->trips > c->program->options.limits.trip)
        c->run->budget->hit = LIMIT_TRIP;
    return c->run->budget->hit != LIMIT_TRIP;
}

static bool report_infinite(const struct scalar_code *c, const struct termination *t)
{
    c->run->report_infinite(c->run->run, t);
    return false;
}

bool scalar_look(const void *code, const void *jump)
{
    const struct scalar_code *c = code;
    struct cycle *loop = ((const struct scalar_op *)jump)->cycle;
    if (!budget_refill(c->run->budget))
        return false;
    if (!c->monitor || !cycle_poll(c->monitor, c->run->budget, loop))
        return true;
    return report_infinite(c, loop->termination);
}

bool scalar_run_other(const void *code, const void *operation)
{
    const struct scalar_code *c = code;
    const struct scalar_op *op = operation;
    switch (op->kind) {
    case SCALAR_TRIP: return count_trip(c, op);
    case SCALAR_INFINITE: return report_infinite(c, op->termination);
    case SCALAR_STEP: return c->run->run_step(c->run->run, op->step);
    default: return scalar_run_one(c->kern, op);
    }
}

static bool run(const struct scalar_code *c)
{
    const struct scalar_op *ops = c->ops;
    struct budget *budget = c->run->budget;
    for (int32_t at = 0;;) {
        const struct scalar_op *op = &ops[at++];
        switch (op->kind) {
        case SCALAR_APPLY: op->fn(op->out, op->args, op->count); break;
        case SCALAR_MOVE: move(op->out, op->args[0], (uint32_t)op->count); break;
        case SCALAR_JUMP:
            if (--budget->slice < 0 && !scalar_look(c, op))
                return false;
            at = op->count;
            break;
        case SCALAR_JUMP_UNLESS:
            if (!*(const uint8_t *)op->args[0])
                at = op->count;
            break;
        case SCALAR_SWITCH: at = branch(op); break;
        case SCALAR_STOP: return true;
        default:
            if (!scalar_run_other(c, op))
                return false;
        }
    }
}

bool scalar_call(void *code, const void *const *args, void *const *results)
{
    const struct scalar_code *c = code;
    for (int k = 0; k < c->arg_count; k++)
        if (c->args[k].large)
            *(const char **)c->args[k].at = args[k];
        else if (c->args[k].at)
            move(c->args[k].at, args[k], c->args[k].size);
    for (int k = 0; k < c->view_count; k++)
        *c->views[k].data = *c->views[k].large_array + c->views[k].offset;
    if (c->monitor)
        cycle_monitor_begin(c->monitor);
    const bool native = c->native && c->program->code_ready;
    if (!(native ? c->native(c, &c->run->budget->slice) : run(c)))
        return false;
    for (int k = 0; k < c->result_count; k++)
        if (c->results[k].at && !c->results[k].large)
            move(results[k], c->results[k].at, c->results[k].size);
    return true;
}
