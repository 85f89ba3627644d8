/*
 * fold.c: reduces the blocks of several participants to one, in the order of the group.
 */
#include "eval/eval_priv.h"

bool eval_prepare_fold(struct eval *ev, const struct step *s, enum dtype type,
                       struct bound_body *context, struct fold *f)
{
    const struct body *b = s->bodies;
    const char *opcode = kern_combine_opcode(b->combine);
    *f = (struct fold){
        .body = b, .call = eval_bind(ev, b, context), .type = type, .acc = b->args[0]};
    if (opcode) { /* sums of narrow floats are rounded once */
        f->acc = dtype_is_float(f->acc) && dtype_bytes(f->acc) < 4 ? DT_F32 : f->acc;
        f->fn = kern_find_elementwise(opcode, f->acc);
    }
    if (f->acc != type) {
        f->widen = kern_find_convert(f->acc, type);
        f->narrow = kern_find_convert(type, f->acc);
        return (f->widen && f->narrow) || eval_unsupported(ev, s);
    }
    return true;
}

/* acc = f(acc, x), for up to KERN_LANES elements. */
static bool fold_tile(const struct fold *f, char *acc, const char *x, int64_t n)
{
    size_t width = dtype_bytes(f->acc);
    if (f->fn) {
        f->fn(acc, (const void *const[]){acc, x}, n);
        return true;
    }
    if (f->call.call_lanes && n == KERN_LANES) {
        void *to = acc;
        return f->call.call_lanes(f->call.lanes_context, (const void *const[]){acc, x}, &to);
    }
    for (int64_t k = 0; k < n; k++) {
        void *to = acc + (size_t)k * width;
        if (!f->call.call(f->call.context, (const void *const[]){to, x + (size_t)k * width}, &to))
            return false;
    }
    return true;
}

bool eval_fold(const struct fold *f, const char *const *blocks, int64_t count, char *out, int64_t n)
{
    size_t width = dtype_bytes(f->type);
    struct c128 acc[KERN_LANES], other[KERN_LANES]; /* large enough for every type */
    for (int64_t done = 0; done < n; done += KERN_LANES) {
        int64_t lanes = n - done < KERN_LANES ? n - done : KERN_LANES;
        size_t at = (size_t)done * width;
        char *to = f->widen ? (char *)acc : out + at;
        for (int64_t j = 0; j < count; j++) {
            const void *x = blocks[j] + at;
            if (f->widen) {
                f->widen(j == 0 ? acc : other, &x, lanes);
                x = other;
            } else if (j == 0) {
                memcpy(to, x, (size_t)lanes * width);
            }
            if (j > 0 && !fold_tile(f, to, x, lanes))
                return false;
        }
        if (f->narrow)
            f->narrow(out + at, (const void *const[]){acc}, lanes);
    }
    return true;
}
