/*
 * Elementwise operations: one tile kernel over the operands, in the storage of one that dies.
 */
#include "eval/eval_priv.h"

/* A scalar predicate chooses one of two whole tuples. */
static bool select_leaves(struct eval *ev, const struct step *s)
{
    bool take_true = *eval_view(ev, s, 0)->data != 0;
    for (int r = 0; r < s->result_count; r++)
        if (s->results[r] != NO_VALUE)
            eval_hand_over(ev, s, 1 + r + (take_true ? 0 : s->result_count), &ev->frame[s->results[r]]);
    return true;
}

static bool is_chooser(const struct step *s, int k)
{
    return s->inst->opcode == OP_SELECT && k == 0;
}

static struct view *find_storage(struct eval *ev, const struct step *s)
{
    for (int k = 0; k < s->operand_count; k++) {
        struct view *out = is_chooser(s, k) ? NULL : eval_reuse(ev, s, 0, k, false);
        if (out)
            return out;
    }
    return eval_result(ev, s, 0);
}

/* The usual case: the operands are what the kernel takes, and the result is what it gives. */
static bool apply_directly(struct eval *ev, const struct step *s)
{
    struct view args[KERN_MAX_ARGS];
    for (int k = 0; k < s->operand_count; k++)
        view_copy(&args[k], eval_view(ev, s, k));
    struct view *out = find_storage(ev, s);
    if (!out)
        return false;
    if (out->rank == 0) {
        const void *at[KERN_MAX_ARGS];
        for (int k = 0; k < s->operand_count; k++)
            at[k] = args[k].data;
        s->tile(out->data, at, 1);
    } else {
        kern_map_tiles(s->tile, out, s->operand_count, args);
    }
    return true;
}

static bool apply_converted(struct eval *ev, const struct step *s)
{
    struct view args[KERN_MAX_ARGS];
    struct value made[KERN_MAX_ARGS], result;
    const struct shape *shape = s->shapes[0];
    for (int k = 0; k < s->operand_count; k++) {
        const struct view *x = eval_as_type(ev, s, k, is_chooser(s, k) ? DT_PRED : s->tile_type, &made[k]);
        if (!x)
            return false;
        view_copy(&args[k], x);
    }
    if (!value_new(ev, &result, s->tile_result, shape->rank, eval_dims(ev, s, 0)))
        return eval_no_memory(ev, s, shape);
    kern_map_tiles(s->tile, &result.view, s->operand_count, args);
    for (int k = 0; k < s->operand_count; k++)
        value_drop(ev, &made[k]);
    bool ok = eval_copy(ev, s, 0, &result.view);
    value_drop(ev, &result);
    return ok;
}

bool eval_elementwise(struct eval *ev, const struct step *s)
{
    if (s->inst->opcode == OP_SELECT && shape_is_tuple(s->inst->shape))
        return select_leaves(ev, s);
    if (!s->tile || s->operand_count > KERN_MAX_ARGS)
        return eval_unsupported(ev, s);
    bool direct = s->tile_result == s->shapes[0]->dtype;
    for (int k = 0; k < s->operand_count && direct; k++)
        direct = is_chooser(s, k) || eval_view(ev, s, k)->dtype == s->tile_type;
    return direct ? apply_directly(ev, s) : apply_converted(ev, s);
}
