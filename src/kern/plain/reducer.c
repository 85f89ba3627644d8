/*
 * Reference reducer: the steps of a reduction, sequentially (spec: Reduce, ReduceWindow, Scatter).
 */
#include "kern/plain/reducer.h"

bool plain_reducer_init(struct plain_reducer *f, enum dtype work, int n, const struct view *out,
                        const struct view *x, const enum dtype *acc, const struct kern_body *body)
{
    const char *opcode = kern_combine_opcode(body->combine);
    enum dtype t = acc ? *acc : out->dtype;
    f->work = work;
    f->fn = opcode ? kern_find_elementwise(opcode, work) : NULL;
    f->called = n > 1 || (!f->fn && body->combine != KERN_TAKE_VALUE);
    if (f->called)
        return call_reducer_init(&f->call, n, out, x, acc, body);
    return loader_init(&f->to_acc, t, x->dtype) && loader_init(&f->to_work, work, t) &&
           loader_init(&f->from_work, t, work) && loader_init(&f->from_acc, out->dtype, t);
}

void plain_reducer_free(struct plain_reducer *f)
{
    if (f->called)
        call_reducer_free(&f->call);
}

static void start_with(struct plain_reducer *f, const void *init)
{
    union kern_element scratch;
    memcpy(&f->acc, loader_read(&f->to_work, &scratch, init, 0, 1), dtype_bytes(f->work));
}

void plain_reducer_start(struct plain_reducer *f, const void *const *init)
{
    if (f->called)
        call_reducer_start(&f->call, init);
    else
        start_with(f, init[0]);
}

void plain_reducer_start_at(struct plain_reducer *f, const struct view *init, const int64_t *at)
{
    if (!f->called)
        start_with(f, view_at(init, at));
    for (int k = 0; f->called && k < f->call.n; k++)
        memcpy(&f->call.slots[k].acc, view_at(&init[k], at), f->call.slots[k].width);
}

bool plain_reducer_value(struct plain_reducer *f, const struct view *x, const int64_t *at)
{
    union kern_element scratch[2], result;
    if (f->called) {
        for (int k = 0; k < f->call.n; k++)
            f->call.slots[k].at = view_at(&x[k], at);
        return call_reducer_value(&f->call);
    }
    const void *value = loader_read(&f->to_acc, &scratch[0], view_at(x, at), 0, 1);
    value = loader_read(&f->to_work, &scratch[1], value, 0, 1);
    if (f->fn)
        f->fn(&result, (const void *const[]){&f->acc, value}, 1);
    else
        memcpy(&result, value, dtype_bytes(f->work));
    f->acc = result;
    return true;
}

void plain_reducer_store(struct plain_reducer *f, const struct view *out, const int64_t *at)
{
    union kern_element scratch;
    if (!f->called)
        loader_write(&f->from_acc, view_at(out, at), 0,
                     loader_read(&f->from_work, &scratch, f->acc.bytes, 0, 1), 1);
    for (int k = 0; f->called && k < f->call.n; k++)
        call_reducer_store(&f->call, k, view_at(&out[k], at));
}
