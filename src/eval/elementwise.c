/*
 * Elementwise operations: one tile kernel over the operands, in the storage of one that dies.
 */
#include "eval/eval_priv.h"

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

static bool apply(struct eval *ev, const struct step *s)
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

bool eval_elementwise(struct eval *ev, const struct step *s)
{
    if (!s->tile || s->operand_count > KERN_MAX_ARGS)
        return eval_unsupported(ev, s);
    bool fits = s->tile_result == s->shapes[0]->dtype;
    for (int k = 0; k < s->operand_count && fits; k++)
        fits = is_chooser(s, k) || eval_view(ev, s, k)->dtype == s->tile_type;
    return fits ? apply(ev, s) : eval_unsupported(ev, s);
}
