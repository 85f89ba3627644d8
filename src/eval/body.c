/*
 * body.c: computations as callbacks of kernels: scalar code is called directly, other computations
 * run as functions on scalars.
 */
#include "eval/eval_priv.h"

static void convert_element(void *out, enum dtype to, const void *x, enum dtype from)
{
    if (to == from)
        memcpy(out, x, dtype_bytes(to));
    else
        kern_find_convert(to, from)(out, (const void *const[]){x}, 1);
}

bool eval_call_body(void *context, const void *const *args, void *const *results)
{
    struct bound_body *c = context;
    const struct function *f = c->body->function;
    for (int k = 0; k < f->param_count; k++) {
        enum dtype t = f->param_shapes[k]->dtype;
        if (!value_new(c->ev, &c->values[k], t, 0, NULL))
            return false;
        convert_element(c->values[k].view.data, t, args[k], c->body->args[k]);
    }
    struct trace *trace = c->ev->trace;
    c->ev->trace = NULL; /* single elements are not traced */
    bool ok = eval_function(c->ev, f, c->values, c->values);
    c->ev->trace = trace;
    if (!ok)
        return false;
    for (int k = 0; k < f->result_count; k++) {
        convert_element(results[k], c->body->results[k], c->values[k].view.data,
                        f->result_shapes[k]->dtype);
        value_drop(c->ev, &c->values[k]);
    }
    return true;
}

/* Sets the function that kernels call, and its context. */
static void bind(struct eval *ev, const struct body *b, struct bound_body *context,
                 kern_call_fn **call, void **with)
{
    if (b->code) {
        *call = scalar_call;
        *with = eval_scalar_frame(ev, b->code);
        return;
    }
    int n = b->arg_count > b->result_count ? b->arg_count : b->result_count;
    *context = (struct bound_body){ev, b, ARENA_ARRAY(&ev->scratch, struct value, n)};
    *call = eval_call_body;
    *with = context;
}

struct kern_body eval_bind(struct eval *ev, const struct body *b, struct bound_body *context)
{
    struct kern_body out = {
        .combine = b->combine, .lanes = b->lanes, .indexed = b->indexed, .pick = b->pick};
    bind(ev, b, context, &out.call, &out.context);
    return out;
}

struct kern_comparator eval_bind_order(struct eval *ev, const struct body *b,
                                       struct bound_body *context)
{
    struct kern_comparator out = {.order = b->order,
                                  .key = b->key,
                                  .total_order = b->total_order,
                                  .lanes = b->lanes,
                                  .make_keys = b->make_keys};
    memcpy(out.keys, b->keys, sizeof out.keys);
    bind(ev, b, context, &out.call, &out.context);
    return out;
}
