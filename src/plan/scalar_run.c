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

bool scalar_window(const struct scalar_slice *s, struct view *window)
{
    *window = s->whole.view;
    memcpy(window->dims, s->piece.dims, sizeof *window->dims * (size_t)window->rank);
    if (s->whole.origin.large_array)
        window->data = *s->whole.origin.large_array;
    for (int d = 0; d < window->rank; d++) {
        const int64_t i = kern_load_index(s->index[d].type, s->index[d].at),
                      last = s->whole.view.dims[d] - s->piece.dims[d];
        if (s->drops[d] && (i < 0 || i > last))
            return false;
        window->data += (i < 0 ? 0 : i > last ? last : i) * window->strides[d];
    }
    return true;
}

static void slice(const struct scalar_slice *s)
{
    struct view window;
    if (!scalar_window(s, &window))
        return;
    const struct view *to = s->update ? &window : &s->piece,
                      *from = s->update ? &s->piece : &window;
    if (window.rank <= 1)
        memcpy(to->data, from->data,
               dtype_bytes(to->dtype) * (size_t)(window.rank ? s->piece.dims[0] : 1));
    else
        kern_copy(NULL, to, from);
}

static bool gather(const struct kernels *kern, const struct scalar_gather *g, bool scatter)
{
    struct view made;
    const struct view *whole = scalar_locate(&g->whole, &made);
    if (scatter)
        return kern->scatter(NULL, 1, whole, &g->indices, &g->small, &g->dims, &g->body);
    kern->gather(NULL, &g->small, whole, &g->indices, &g->dims);
    return true;
}

static bool reduce(const struct kernels *kern, const struct scalar_reduce *r)
{
    for (int k = 0; k < r->n; k++)
        if (r->origins[k].large_array)
            r->x[k].data = *r->origins[k].large_array + r->origins[k].offset;
    if (r->ready) {
        kern_run_ready_reduce(r->ready, r->out->data, r->x->data, *r->init);
        return true;
    }
    return kern->reduce(NULL, r->n, r->out, r->x, r->init, r->acc, r->reduced, &r->body);
}

static bool dot(const struct kernels *kern, const struct scalar_dot *d)
{
    struct view made[2];
    const struct view *lhs = scalar_locate(&d->lhs, &made[0]),
                      *rhs = scalar_locate(&d->rhs, &made[1]);
    if (!d->ready)
        return kern->dot(NULL, &d->out, lhs, rhs, &d->dims);
    kern_run_ready_dot(d->ready, d->out.data, lhs->data, rhs->data);
    return true;
}

bool scalar_run_one(const struct kernels *kern, const struct scalar_op *op)
{
    struct view made;
    switch (op->kind) {
    case SCALAR_APPLY: op->fn(op->out, op->args, op->count); return true;
    case SCALAR_MOVE: move(op->out, op->args[0], (uint32_t)op->count); return true;
    case SCALAR_COPY:
        kern_copy(NULL, &op->copy->out, scalar_locate(&op->copy->x, &made));
        return true;
    case SCALAR_PRECISION:
        kern->reduce_precision(NULL, &op->precision->out, &op->precision->x,
                               op->precision->exponent, op->precision->mantissa);
        return true;
    case SCALAR_SLICE: slice(op->slice); return true;
    case SCALAR_GATHER:
    case SCALAR_SCATTER: return gather(kern, op->gather, op->kind == SCALAR_SCATTER);
    case SCALAR_REDUCE: return reduce(kern, op->reduce);
    default: return dot(kern, op->dot);
    }
}

/* The address in the frame for one in the data of the code. */
static void *in_frame(const struct scalar_frame *f, const void *at)
{
    return f->data + ((const char *)at - f->code->data);
}

static int32_t branch(const struct scalar_op *op)
{
    int32_t i;
    memcpy(&i, op->args[0], sizeof i);
    return op->targets[i < 0 || i >= op->count ? op->count - 1 : i];
}

static bool count_trip(const struct scalar_frame *f, const struct scalar_op *op)
{
    uint64_t *trips = op->out;
    *trips = op->count < 0 ? *trips + 1 : (uint64_t)op->count;
    if (*trips > f->code->program->options.limits.trip)
        f->run->budget->hit = LIMIT_TRIP;
    return f->run->budget->hit != LIMIT_TRIP;
}

static bool report_infinite(const struct scalar_frame *f, const struct termination *t)
{
    f->run->report_infinite(f->run->run, t);
    return false;
}

bool scalar_look(const void *frame, const void *jump)
{
    const struct scalar_frame *f = frame;
    struct cycle *loop = ((const struct scalar_op *)jump)->cycle;
    if (!budget_refill(f->run->budget))
        return false;
    if (!f->monitor || !cycle_poll(f->monitor, f->run->budget, loop))
        return true;
    return report_infinite(f, loop->termination);
}

bool scalar_run_other(const void *frame, const void *operation)
{
    const struct scalar_frame *f = frame;
    const struct scalar_op *op = operation;
    switch (op->kind) {
    case SCALAR_TRIP: return count_trip(f, op);
    case SCALAR_INFINITE: return report_infinite(f, op->termination);
    case SCALAR_STEP: return f->run->run_step(f->run->run, op->step);
    default: return scalar_run_one(f->code->kern, op);
    }
}

static bool run(const struct scalar_frame *f)
{
    const struct scalar_op *ops = f->ops;
    struct budget *budget = f->run->budget;
    for (int32_t at = 0;;) {
        const struct scalar_op *op = &ops[at++];
        switch (op->kind) {
        case SCALAR_APPLY: op->fn(op->out, op->args, op->count); break;
        case SCALAR_MOVE: move(op->out, op->args[0], (uint32_t)op->count); break;
        case SCALAR_JUMP:
            if (--budget->slice < 0 && !scalar_look(f, op))
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
            if (!scalar_run_other(f, op))
                return false;
        }
    }
}

bool scalar_call(void *frame, const void *const *args, void *const *results)
{
    const struct scalar_frame *f = frame;
    const struct scalar_code *c = f->code;
    const struct scalar_slot *ids = c->args + c->arg_count;
    for (int k = 0; k < c->arg_count; k++)
        if (c->args[k].large)
            memcpy(in_frame(f, c->args[k].at), &args[k], sizeof args[k]);
        else if (c->args[k].at)
            move(in_frame(f, c->args[k].at), args[k], c->args[k].size);
    for (int k = 0; k < SCALAR_IDS; k++)
        if (ids[k].at)
            move(in_frame(f, ids[k].at), &f->run->ids[k], ids[k].size);
    if (f->monitor)
        cycle_monitor_begin(f->monitor);
    const bool native = c->native && c->program->code_ready;
    if (!(native ? c->native(f, &f->run->budget->slice, f->data) : run(f)))
        return false;
    for (int k = 0; k < c->result_count; k++)
        if (c->results[k].at && !c->results[k].large)
            move(results[k], in_frame(f, c->results[k].at), c->results[k].size);
    return true;
}
