/*
 * io.c: infeed, outfeed, send and recv: data exchanged with the host and with other participants.
 *
 * A send does not block; a recv-done does. The participants that a channel connects are given by an
 * attribute of XLA's own backends, a list of pairs as text; without it a channel leads back to the
 * sender.
 */
#include "eval/eval_priv.h"

/* A recv whose recv-done has not run yet. */
struct posted {
    int64_t channel, from; /* from: NO_PARTICIPANT, HOST or a participant */
    struct posted *next;
};
enum { NO_PARTICIPANT = -1, HOST = -2 };

/* ---- items: arrays and flat tuples of them ---- */

/* A copy of leaf k of the operands, with its actual size; false with a message. */
static bool copy_leaf(struct eval *ev, const struct step *s, int k, struct literal *l)
{
    struct value v;
    struct view out;
    if (s->operands[k] == NO_VALUE)
        return true;
    value_share(&v, eval_operand(ev, s, k));
    const struct shape *shape = eval_fit_outside(ev, &v, l->shape, &ev->scratch);
    struct literal *copy = shape ? literal_new(&ev->scratch, shape) : NULL;
    if (copy) {
        *l = *copy;
        view_dense(&out, shape->dtype, shape->rank, shape->dims, l->data);
        kern_copy(ev->workers, &out, &v.view);
    }
    value_drop(ev, &v);
    return copy || eval_no_memory(ev, s, l->shape);
}

/* The leaves of an operand, from `*next` on, as a literal in the arena; the caller frees its
 * storage. */
static struct literal *item_of(struct eval *ev, const struct step *s, const struct shape *shape,
                               int *next, bool *ok)
{
    struct arena *a = &ev->scratch;
    if (!shape_is_tuple(shape)) {
        struct literal *l = ARENA_NEW(a, struct literal);
        l->shape = shape;
        *ok = *ok && copy_leaf(ev, s, *next, l);
        ++*next;
        return l;
    }
    struct literal **elements = ARENA_ARRAY(a, struct literal *, shape->count);
    for (int k = 0; k < shape->count; k++)
        elements[k] = item_of(ev, s, shape->elements[k], next, ok);
    return literal_tuple(a, elements, shape->count);
}

static bool take_item(struct eval *ev, const struct step *s, const struct literal *l, int *next)
{
    for (int k = 0; shape_is_tuple(l->shape) && k < l->shape->count; k++)
        if (!take_item(ev, s, l->elements[k], next))
            return false;
    if (shape_is_tuple(l->shape))
        return true;
    int r = (*next)++;
    struct view *out = eval_sized_result(ev, s, r, l->shape->dims), x;
    if (out) {
        view_dense(&x, l->shape->dtype, l->shape->rank, l->shape->dims, l->data);
        kern_copy(ev->workers, out, &x);
    }
    return out != NULL;
}

static bool is_flat(const struct shape *s)
{
    bool flat = shape_is_array(s) || shape_is_tuple(s);
    for (int k = 0; shape_is_tuple(s) && k < s->count && flat; k++)
        flat = shape_is_array(s->elements[k]);
    return flat;
}

/* XLA's verifier accepts superfluous results; they are filled with zeros. */
static bool clear_from(struct eval *ev, const struct step *s, int r)
{
    for (; r < s->result_count; r++)
        if (s->results[r] != NO_VALUE && !eval_clear(ev, s, r))
            return false;
    return true;
}

/* The shape of the data that infeed and recv-done return. */
static const struct shape *data_of(const struct inst *i)
{
    return shape_is_tuple(i->shape) && i->shape->count > 0 ? i->shape->elements[0] : i->shape;
}

/* Called when the host's function has failed. If it ended because of a limit, the limit has not
 * been reported yet. */
static bool host_failed(struct eval *ev, const struct step *s)
{
    return ev->state->budget.hit == LIMIT_NONE ? false : eval_limit(ev, s);
}

/* Makes the next item of the host the first results. */
static bool from_host(struct eval *ev, const struct step *s)
{
    const char *op = op_spelling(s->inst->opcode);
    const struct shape *expected = data_of(s->inst);
    struct literal *l = NULL;
    if (!is_flat(expected))
        return EVAL_FAIL(ev, s, FEED_NESTED, op, STR_ARG(shape_text(&ev->ds->arena, expected)));
    if (shape_is_tuple(expected) && expected->count == 0)
        return clear_from(ev, s, 0); /* nothing is read for an empty tuple */
    enum feed came =
        ev->exchange ? ev->exchange->infeed(ev->exchange->context, &ev->scratch, &l) : FEED_EMPTY;
    if (came == FEED_EMPTY && ev->state->budget.hit == LIMIT_NONE)
        return EVAL_FAIL(ev, s, FEED_EMPTY, op);
    if (came != FEED_ITEM)
        return host_failed(ev, s);
    int next = 0;
    bool ok = eval_fits(expected, l->shape)
                  ? take_item(ev, s, l, &next)
                  : EVAL_FAIL(ev, s, FEED_SHAPE, op, STR_ARG(shape_text(&ev->ds->arena, expected)),
                              STR_ARG(shape_text(&ev->ds->arena, l->shape)));
    literal_free_data(l);
    return ok && clear_from(ev, s, next);
}

static bool to_host(struct eval *ev, const struct step *s)
{
    if (!ev->exchange)
        return eval_unsupported(ev, s);
    int next = 0;
    bool ok = true;
    struct literal *l = item_of(ev, s, s->inst->operands[0]->shape, &next, &ok);
    ok = ok && (ev->exchange->outfeed(ev->exchange->context, l) || host_failed(ev, s));
    literal_free_data(l);
    return ok;
}

/* ---- channels ---- */

/* The pairs of numbers in a text such as {{0,1},{1,2}}. */
static struct ints_list read_pairs(struct arena *a, struct str text)
{
    struct ints *pairs = ARENA_ARRAY(a, struct ints, text.len / 4 + 1);
    int64_t *numbers = ARENA_ARRAY(a, int64_t, text.len / 2 + 2), count = 0;
    for (size_t i = 0; i < text.len;) {
        size_t n = 0;
        while (i + n < text.len && text.ptr[i + n] >= '0' && text.ptr[i + n] <= '9')
            n++;
        if (n > 0 && num_parse_i64((struct str){text.ptr + i, n}, &numbers[count]))
            count++;
        i += n + (n == 0);
    }
    for (int64_t k = 0; k < count / 2; k++)
        pairs[k] = (struct ints){2, numbers + 2 * k};
    return (struct ints_list){count / 2, pairs};
}

/* The participants that the channel of a send or recv connects with this one. */
static bool find_partners(struct eval *ev, const struct step *s, struct partners *out)
{
    const struct str *pairs = inst_frontend(s->inst, "_xla_send_recv_source_target_pairs");
    bool partitions = inst_int(s->inst, A_CHANNEL_ID, 0) > 0 && ev->p->module->num_partitions > 1;
    if (pairs)
        return eval_partners(ev, s, read_pairs(&ev->scratch, *pairs),
                             partitions ? E_MODE_CROSS_PARTITION : E_MODE_CROSS_REPLICA, out);
    int64_t *self = ARENA_NEW(&ev->scratch, int64_t);
    *self = eval_self(ev);
    *out = (struct partners){1, 1, self, self};
    return true;
}

static struct tag channel_tag(int64_t channel)
{
    return (struct tag){.op = OP_SEND, .is_channel = true, .number = channel};
}

/* Sends leaf k in messages of its own. */
static bool send_leaf(struct eval *ev, const struct step *s, int k, int64_t to)
{
    struct value made;
    const struct view *x = eval_dense(ev, s, k, eval_view(ev, s, k)->dtype, &made);
    struct tag tag = channel_tag(inst_int(s->inst, A_CHANNEL_ID, 0));
    bool ok = x && eval_send_array(ev, s, tag, x, to);
    value_drop(ev, &made);
    return ok;
}

static bool send(struct eval *ev, const struct step *s)
{
    int leaves = s->starts[1];
    struct partners w;
    if (!clear_from(ev, s, 0)) /* the context has no value */
        return false;
    if (inst_bool(s->inst, A_IS_HOST_TRANSFER))
        return to_host(ev, s);
    if (!ev->exchange)
        return eval_unsupported(ev, s);
    if (!find_partners(ev, s, &w))
        return false;
    for (int64_t t = 0; t < w.target_count; t++)
        for (int k = 0; k < leaves; k++)
            if (s->operands[k] != NO_VALUE && !send_leaf(ev, s, k, w.targets[t]))
                return false;
    return true;
}

static bool recv(struct eval *ev, const struct step *s)
{
    struct partners w = {0};
    bool host = inst_bool(s->inst, A_IS_HOST_TRANSFER);
    if (!clear_from(ev, s, 0) || (!host && !find_partners(ev, s, &w)))
        return false;
    struct posted *p = ARENA_NEW(&ev->posts, struct posted), **end = &ev->posted;
    p->channel = inst_int(s->inst, A_CHANNEL_ID, 0);
    p->from = host ? HOST : w.source_count > 0 ? w.sources[0] : NO_PARTICIPANT;
    while (*end)
        end = &(*end)->next;
    *end = p;
    return true;
}

/* The oldest recv of a channel; or NULL. */
static struct posted *take_posted(struct eval *ev, int64_t channel)
{
    for (struct posted **p = &ev->posted; *p; p = &(*p)->next)
        if ((*p)->channel == channel) {
            struct posted *found = *p;
            *p = found->next;
            return found;
        }
    return NULL;
}

static bool recv_done(struct eval *ev, const struct step *s)
{
    const struct inst *i = s->inst, *start = i->operands[0];
    struct posted *p =
        take_posted(ev, inst_int(inst_has(i, A_CHANNEL_ID) ? i : start, A_CHANNEL_ID, 0));
    if (!p)
        return EVAL_FAIL(ev, s, NO_RECV);
    if (p->from == HOST)
        return from_host(ev, s);
    if (p->from == NO_PARTICIPANT)
        return clear_from(ev, s, 0);
    if (!ev->exchange)
        return eval_unsupported(ev, s);
    int leaves = (int)shape_leaf_count(data_of(i));
    for (int r = 0; r < leaves; r++)
        if (s->results[r] != NO_VALUE &&
            !eval_receive_array(ev, s, channel_tag(p->channel), r, p->from))
            return false;
    return clear_from(ev, s, leaves);
}

static bool io(struct eval *ev, const struct step *s)
{
    switch (s->inst->opcode) {
    case OP_INFEED: return from_host(ev, s);
    case OP_OUTFEED: return to_host(ev, s) && clear_from(ev, s, 0);
    case OP_SEND: return send(ev, s);
    case OP_RECV: return recv(ev, s);
    case OP_RECV_DONE: return recv_done(ev, s);
    default: return clear_from(ev, s, 0); /* send-done */
    }
}

bool eval_io(struct eval *ev, const struct step *s)
{
    struct arena_mark mark = arena_mark(&ev->scratch);
    bool ok = io(ev, s);
    arena_release(&ev->scratch, mark);
    return ok;
}
