/*
 * message.c: point-to-point messages between participants, of collective-permute, send and recv.
 *
 * In a program with dynamic sizes the dimensions of an array are sent before its data.
 */
#include "eval/eval_priv.h"

bool eval_send_data(struct eval *ev, const struct step *s, struct tag tag, const struct view *dense,
                    int64_t to)
{
    struct block data = {dense->data, size_of(dense)};
    if (!ev->exchange)
        return eval_needs_exchange(ev, s);
    return ev->exchange->send(ev->exchange->context, s->inst, tag, to, data) ||
           eval_no_memory(ev, s, s->inst->shape);
}

bool eval_receive_data(struct eval *ev, const struct step *s, struct tag tag,
                       const struct view *dense, int64_t from)
{
    size_t expected = size_of(dense), size = expected;
    if (!ev->exchange)
        return eval_needs_exchange(ev, s);
    return ev->exchange->receive(ev->exchange->context, s->inst, tag, from, dense->data, &size) &&
           (size == expected ||
            EVAL_FAIL(ev, s, BLOCK_SIZE, op_spelling(s->inst->opcode), from, size, expected));
}

/* The dimensions of an array as an array. */
static void view_of_dims(struct view *v, int rank, const int64_t *dims)
{
    int64_t count = rank;
    view_dense(v, DT_S64, 1, &count, (char *)(uintptr_t)dims);
}

bool eval_send_array(struct eval *ev, const struct step *s, struct tag tag,
                     const struct view *dense, int64_t to)
{
    struct view dims;
    view_of_dims(&dims, dense->rank, dense->dims);
    return (!ev->p->dynamic || eval_send_data(ev, s, tag, &dims, to)) &&
           eval_send_data(ev, s, tag, dense, to);
}

bool eval_receive_array(struct eval *ev, const struct step *s, struct tag tag, int r, int64_t from)
{
    int64_t received[VIEW_MAX_RANK];
    const int64_t *dims = s->shapes[r]->dims;
    if (ev->p->dynamic) {
        struct view v;
        view_of_dims(&v, s->shapes[r]->rank, dims = received);
        if (!eval_receive_data(ev, s, tag, &v, from))
            return false;
    }
    struct view *out = eval_sized_result(ev, s, r, dims);
    return out && eval_receive_data(ev, s, tag, out, from);
}
