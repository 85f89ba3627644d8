/*
 * io.c: shapes of infeed, outfeed, send, recv, send-done and recv-done.
 */
#include "verify/verify_priv.h"

static bool check_token(struct verify *v, const struct inst *i, int k)
{
    return shape_is_token(operand_shape(i, k)) || verify_bad_operand(v, i, k, "token[]");
}

/* The data component of a written (data, ...) tuple. */
static const struct shape *written_data(struct verify *v, const struct inst *i)
{
    if (i->shape && i->shape->dtype == DT_TUPLE && i->shape->count > 0)
        return i->shape->elements[0];
    verify_bad_inst(v, i, NULL, "has result %s, expected a tuple that begins with the data",
                    i->shape ? verify_text(v, i->shape) : "none");
    return NULL;
}

static const struct shape *tuple_of(struct verify *v, const struct shape *data, bool context)
{
    const struct shape *parts[3] = {data, context ? shape_scalar(v->arena, DT_U32) : shape_token(),
                                    shape_token()};
    return data ? shape_tuple(v->arena, context ? 3 : 2, parts) : NULL;
}

static const struct shape *verify_outfeed(struct verify *v, const struct inst *i)
{
    const struct attr *a = inst_attr(i, A_OUTFEED_SHAPE);
    if (!check_token(v, i, 1))
        return NULL;
    if (a && !verify_same(v, a->v.shape, operand_shape(i, 0))) {
        verify_bad_attr(v, i, A_OUTFEED_SHAPE, "operand 0 is %s",
                        verify_text(v, operand_shape(i, 0)));
        return NULL;
    }
    return shape_token();
}

static const struct shape *verify_recv_done(struct verify *v, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    if (s->dtype != DT_TUPLE || s->count == 0) {
        verify_bad_operand(v, i, 0, "the tuple of a recv");
        return NULL;
    }
    return tuple_of(v, s->elements[0], false);
}

/* spec: Infeed, Outfeed, Send, Recv */
const struct shape *verify_io(struct verify *v, const struct inst *i)
{
    switch ((enum opcode)i->opcode) {
    case OP_INFEED: return check_token(v, i, 0) ? tuple_of(v, written_data(v, i), false) : NULL;
    case OP_OUTFEED: return verify_outfeed(v, i);
    case OP_SEND: return tuple_of(v, operand_shape(i, 0), true);
    case OP_RECV: return tuple_of(v, written_data(v, i), true);
    case OP_RECV_DONE: return verify_recv_done(v, i);
    default: return shape_token(); /* send-done */
    }
}
