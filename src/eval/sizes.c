/*
 * sizes.c: dynamic sizes: arrays that are smaller than the bounds in their shapes.
 *
 * The view of a value has the current sizes, so kernels only access elements within them. When
 * set-dimension-size makes an array larger again, the old elements reappear if its storage still
 * extends to the bounds (`padded`), otherwise zeros. size_rules.c has the semantics of each
 * operation for such operands. Programs without dynamic sizes do not use this file.
 */
#include "eval/eval_priv.h"

void value_fit(struct value *v, const struct shape *s, bool padded)
{
    v->bounds = NULL;
    for (int d = 0; d < s->rank; d++)
        if (v->view.dims[d] < s->dims[d])
            v->bounds = s->dims;
    v->padded = padded && v->bounds;
}

bool value_whole(struct eval *ev, struct value *v)
{
    if (!v->bounds)
        return true;
    if (v->padded) {
        for (int d = 0; d < v->view.rank; d++)
            v->view.dims[d] = v->bounds[d];
    } else {
        struct value all;
        struct view part;
        if (!value_new(ev, &all, v->view.dtype, v->view.rank, v->bounds))
            return false;
        memset(all.view.data, 0, (size_t)view_elements(&all.view) * dtype_bytes(all.view.dtype));
        view_copy(&part, &all.view);
        for (int d = 0; d < part.rank; d++)
            part.dims[d] = v->view.dims[d];
        kern_copy(ev->workers, &part, &v->view);
        value_drop(ev, v);
        value_move(v, &all);
    }
    v->bounds = NULL;
    return true;
}

/* ---- steps ---- */

static bool reads_smaller(struct eval *ev, const struct step *s)
{
    for (int k = 0; k < s->operand_count; k++)
        if (s->operands[k] != NO_VALUE && eval_operand(ev, s, k)->bounds)
            return true;
    return false;
}

static void begin(struct eval *ev, const struct step *s, struct sizes *z)
{
    z->operands = ARENA_ARRAY(&ev->scratch, struct value, s->operand_count);
    z->results = ARENA_ARRAY(&ev->scratch, struct result_sizes, s->result_count);
    for (int k = 0; k < s->operand_count; k++)
        eval_hand_over(ev, s, k, &z->operands[k]);
    for (int r = 0; r < s->result_count; r++)
        for (int d = 0; d < s->shapes[r]->rank; d++)
            z->results[r].made[d] = z->results[r].shown[d] = s->shapes[r]->dims[d];
}

/* Sets the final sizes of results. The storage of those that were made as large as their bounds
 * extends beyond them (`padded`). */
static void show_results(struct eval *ev, const struct step *s, const struct sizes *z)
{
    for (int r = 0; r < s->result_count; r++) {
        const struct shape *shape = s->shapes[r];
        struct value *v = s->results[r] == NO_VALUE ? NULL : &ev->frame[s->results[r]];
        if (!v || !v->buffer)
            continue;
        value_fit(v, shape, false);
        bool whole = !v->bounds;
        for (int d = 0; d < shape->rank; d++)
            if (z->results[r].shown[d] < v->view.dims[d])
                v->view.dims[d] = z->results[r].shown[d];
        value_fit(v, shape, whole);
    }
}

static bool run_by_rule(struct eval *ev, const struct step *s, eval_family_fn *run, size_rule *rule)
{
    struct arena_mark mark = arena_mark(&ev->scratch);
    struct sizes z;
    begin(ev, s, &z);
    bool ok = rule(ev, s, &z);
    ev->sizes = &z;
    ok = ok && run(ev, s);
    ev->sizes = NULL;
    if (ok)
        show_results(ev, s, &z);
    for (int k = 0; k < s->operand_count; k++)
        value_drop(ev, &z.operands[k]);
    arena_release(&ev->scratch, mark);
    return ok;
}

bool eval_sized(struct eval *ev, const struct step *s, eval_family_fn *run)
{
    const struct sizes *outer = ev->sizes; /* of the step whose body contains this one, if any */
    ev->sizes = NULL;
    size_rule *rule = reads_smaller(ev, s) ? find_size_rule(s) : NULL;
    bool ok = rule ? run_by_rule(ev, s, run, rule) : run(ev, s);
    ev->sizes = outer;
    return ok;
}
