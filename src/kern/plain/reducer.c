/*
 * Reference reducer: the steps of a reduction, sequentially (spec: Reduce, ReduceWindow, Scatter).
 */
#include "kern/plain/reducer.h"

bool plain_reducer_init(struct plain_reducer *f, enum dtype work, int n, const struct view *out,
                        const struct view *x, const enum dtype *acc, const struct kern_body *body)
{
    const char *opcode = kern_combine_opcode(body->combine);
    const size_t count = (size_t)n;
    bool ok = true;
    *f = (struct plain_reducer){.n = n, .body = body};
    f->fn = n == 1 && opcode ? kern_plain_tiles()->elementwise(opcode, work) : NULL;
    f->called = !f->fn && (n > 1 || body->combine != KERN_TAKE_VALUE);
    f->slots = mem_alloc(count * (sizeof *f->slots + 2 * sizeof *f->args + sizeof *f->results));
    if (!f->slots)
        return false;
    f->args = (const void **)(f->slots + count);
    f->results = (void **)(f->args + 2 * count);
    for (int k = 0; k < n; k++) {
        struct plain_slot *s = &f->slots[k];
        const enum dtype t = acc ? acc[k] : out[k].dtype, in = f->called ? t : work;
        ok = ok && loader_init(&s->to_acc, t, x[k].dtype) && loader_init(&s->to_work, in, t) &&
             loader_init(&s->from_work, t, in) && loader_init(&s->from_acc, out[k].dtype, t);
        s->width = dtype_bytes(in);
        f->results[k] = &s->result;
    }
    if (!ok)
        plain_reducer_free(f);
    return ok;
}

void plain_reducer_free(struct plain_reducer *f) { mem_free(f->slots); }

static const void *as(const struct loader *l, void *scratch, const void *element)
{
    return l->convert ? loader_read(l, scratch, element, 0, 1) : element;
}

static void start_with(struct plain_slot *s, const void *init)
{
    memcpy(&s->acc, as(&s->to_work, &s->value, init), s->width);
}

void plain_reducer_start(struct plain_reducer *f, const void *const *init)
{
    for (int k = 0; k < f->n; k++)
        start_with(&f->slots[k], init[k]);
}

void plain_reducer_start_at(struct plain_reducer *f, const struct view *init, const int64_t *at)
{
    for (int k = 0; k < f->n; k++)
        start_with(&f->slots[k], view_at(&init[k], at));
}

/* Element k at this index, in the type that the body computes in. */
static const void *element(struct plain_reducer *f, int k, const struct view *x, const int64_t *at)
{
    struct plain_slot *s = &f->slots[k];
    return as(&s->to_work, &s->value, as(&s->to_acc, &s->narrow, view_at(&x[k], at)));
}

/* Applies the body to accumulators and values. */
static bool apply(struct plain_reducer *f)
{
    for (int k = 0; k < f->n; k++)
        f->args[f->values_first ? f->n + k : k] = &f->slots[k].acc;
    if (f->fn)
        f->fn(f->results[0], f->args, 1);
    else if (!f->called)
        memcpy(f->results[0], f->args[1], f->slots->width);
    else if (!f->body->call(f->body->context, f->args, f->results))
        return false;
    for (int k = 0; k < f->n; k++)
        f->slots[k].acc = f->slots[k].result;
    return true;
}

void plain_reducer_load(struct plain_reducer *f, const struct view *x, const int64_t *at)
{
    for (int k = 0; k < f->n; k++)
        memcpy(&f->slots[k].acc, element(f, k, x, at), f->slots[k].width);
}

bool plain_reducer_value(struct plain_reducer *f, const struct view *x, const int64_t *at)
{
    for (int k = 0; k < f->n; k++)
        f->args[f->values_first ? k : f->n + k] = element(f, k, x, at);
    return apply(f);
}

bool plain_reducer_join(struct plain_reducer *f, const union kern_element *values)
{
    for (int k = 0; k < f->n; k++)
        f->args[f->values_first ? k : f->n + k] = &values[k];
    return apply(f);
}

void plain_reducer_store(struct plain_reducer *f, const struct view *out, const int64_t *at)
{
    for (int k = 0; k < f->n; k++) {
        struct plain_slot *s = &f->slots[k];
        loader_write(&s->from_acc, view_at(&out[k], at), 0, as(&s->from_work, &s->value, &s->acc),
                     1);
    }
}
