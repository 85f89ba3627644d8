/*
 * io.c: shapes of infeed, outfeed, send, recv, send-done and recv-done.
 */
#include "infer/infer_priv.h"

static bool check_token(struct infer *ctx, const struct inst *i, int k)
{
    return shape_is_token(operand_shape(i, k)) || report_operand(ctx, i, k, "token[]");
}

/* The data component of a written (data, ...) tuple. */
static const struct shape *written_data(struct infer *ctx, const struct inst *i)
{
    if (i->shape && i->shape->dtype == DT_TUPLE && i->shape->count > 0)
        return i->shape->elements[0];
    report_inst(ctx, i, NULL, "has result %s, expected a tuple that begins with the data",
                i->shape ? report_text(ctx, i->shape) : "none");
    return NULL;
}

static const struct shape *tuple_of(struct infer *ctx, const struct shape *data, bool context)
{
    const struct shape *parts[3] = {
        data, context ? shape_scalar(ctx->arena, DT_U32) : shape_token(), shape_token()};
    return data ? shape_tuple(ctx->arena, context ? 3 : 2, parts) : NULL;
}

static const struct shape *outfeed(struct infer *ctx, const struct inst *i)
{
    const struct attr *a = inst_attr(i, A_OUTFEED_SHAPE);
    if (!check_token(ctx, i, 1))
        return NULL;
    if (a && !infer_same(ctx, a->v.shape, operand_shape(i, 0)))
        return report_attr(ctx, i, A_OUTFEED_SHAPE, "operand 0 is %s",
                           report_text(ctx, operand_shape(i, 0))),
               NULL;
    return shape_token();
}

static const struct shape *recv_done(struct infer *ctx, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    if (s->dtype != DT_TUPLE || s->count == 0)
        return report_operand(ctx, i, 0, "the tuple of a recv"), NULL;
    return tuple_of(ctx, s->elements[0], false);
}

/* spec: Infeed, Outfeed, Send, Recv */
const struct shape *infer_io(struct infer *ctx, const struct inst *i)
{
    switch ((enum opcode)i->opcode) {
    case OP_INFEED:
        return check_token(ctx, i, 0) ? tuple_of(ctx, written_data(ctx, i), false) : NULL;
    case OP_OUTFEED: return outfeed(ctx, i);
    case OP_SEND: return tuple_of(ctx, operand_shape(i, 0), true);
    case OP_RECV: return tuple_of(ctx, written_data(ctx, i), true);
    case OP_RECV_DONE: return recv_done(ctx, i);
    default: return shape_token(); /* send-done */
    }
}
