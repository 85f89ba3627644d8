/*
 * Dot products: dot, ragged-dot, scaled-dot.
 */
#include "eval/eval_priv.h"

struct view *eval_sum_begin(struct eval *ev, const struct step *s, struct value *made)
{
    struct view *out = eval_result(ev, s, 0);
    made->buffer = NULL;
    if (!out)
        return NULL;
    enum dtype t = plan_sum_type(s->inst);
    if (t == out->dtype)
        return out;
    if (value_new(ev, made, t, out->rank, out->dims))
        return &made->view;
    eval_no_memory(ev, s, s->shapes[0]);
    return NULL;
}

bool eval_sum_end(struct eval *ev, const struct step *s, struct value *made, bool ok)
{
    if (!ok)
        eval_no_memory(ev, s, s->shapes[0]);
    else if (made->buffer)
        ok = eval_convert_to(ev, s, &ev->frame[s->results[0]].view, &made->view);
    value_drop(ev, made);
    return ok;
}

/* The first two operands, converted to the type of the sum (grammar/values.md 13.2 and 13.3). */
static bool sum_operands(struct eval *ev, const struct step *s, const struct view *out,
                         const struct view *x[2], struct value made[2])
{
    for (int k = 0; k < 2; k++) {
        x[k] = eval_as_type(ev, s, k, out->dtype, &made[k]);
        if (!x[k])
            return false;
    }
    return true;
}

/* The dimensions of lhs that have a row of group sizes each: the batch dimensions, then its
 * non-contracting dimensions before the ragged one. */
static void ragged_prefix(struct kern_ragged_dims *r, int lhs_rank)
{
    const struct kern_dot_dims *d = &r->dot;
    int n = 0;
    for (int i = 0; i < d->batch_count; i++) {
        if (d->lhs_batch[i] == r->lhs_ragged)
            return;
        r->prefix[n++] = d->lhs_batch[i];
    }
    for (int i = 0; r->mode == KERN_RAGGED_CONTRACTING && d->lhs_contracting[i] != r->lhs_ragged;
         i++)
        r->prefix[n++] = d->lhs_contracting[i];
    for (int64_t k = 0; r->mode == KERN_RAGGED_FREE && k < lhs_rank && k < r->lhs_ragged; k++)
        if (!i64_in(d->lhs_batch, d->batch_count, k) &&
            !i64_in(d->lhs_contracting, d->contracting_count, k))
            r->prefix[n++] = k;
}

static void ragged_dims(const struct inst *i, struct kern_ragged_dims *r)
{
    const struct ints groups = inst_ints(i, A_RHS_GROUP_DIMS);
    plan_dot_dims(i, &r->dot);
    r->lhs_ragged = inst_ints(i, A_LHS_RAGGED_DIMS).at[0];
    r->rhs_group = groups.count ? groups.at[0] : -1;
    r->mode = i64_in(r->dot.lhs_batch, r->dot.batch_count, r->lhs_ragged) ? KERN_RAGGED_BATCH
              : i64_in(r->dot.lhs_contracting, r->dot.contracting_count, r->lhs_ragged)
                  ? KERN_RAGGED_CONTRACTING
                  : KERN_RAGGED_FREE;
    ragged_prefix(r, i->operands[0]->shape->rank);
}

static bool ragged_dot(struct eval *ev, const struct step *s)
{
    struct kern_ragged_dims dims;
    struct value made, operands[2], counted;
    const struct view *x[2], *sizes = eval_as_type(ev, s, 2, DT_S64, &counted);
    struct view *out = sizes ? eval_sum_begin(ev, s, &made) : NULL;
    if (!out || !sum_operands(ev, s, out, x, operands))
        return false;
    ragged_dims(s->inst, &dims);
    bool ok = EVAL_TRY(ev, ragged_dot, ev->workers, out, x[0], x[1], sizes, &dims);
    value_drop(ev, &operands[0]);
    value_drop(ev, &operands[1]);
    value_drop(ev, &counted);
    return eval_sum_end(ev, s, &made, ok);
}

/* A scale whose rank differs from its operand's, most often a scalar, is a placeholder: the operand
 * is not scaled. */
static bool scaled_dot(struct eval *ev, const struct step *s)
{
    struct kern_dot_dims dims;
    struct value made, operands[2], scales[2];
    const struct view *x[2], *scale[2];
    struct view *out = eval_sum_begin(ev, s, &made);
    if (!out || !sum_operands(ev, s, out, x, operands))
        return false;
    for (int k = 0; k < 2; k++) {
        scale[k] = eval_as_type(ev, s, 2 + k, out->dtype, &scales[k]);
        if (!scale[k])
            return false;
        if (scale[k]->rank != x[k]->rank)
            scale[k] = NULL;
    }
    plan_dot_dims(s->inst, &dims);
    bool ok = EVAL_TRY(ev, scaled_dot, ev->workers, out, x[0], x[1], scale, &dims);
    for (int k = 0; k < 2; k++) {
        value_drop(ev, &operands[k]);
        value_drop(ev, &scales[k]);
    }
    return eval_sum_end(ev, s, &made, ok);
}

static bool dot(struct eval *ev, const struct step *s)
{
    struct kern_dot_dims dims;
    struct value made;
    struct view *out = eval_sum_begin(ev, s, &made);
    if (!out)
        return false;
    plan_dot_dims(s->inst, &dims);
    if (eval_reports_choices(ev))
        dry_run_report_choice(
            ev, kern_dot_choice(out, eval_view(ev, s, 0), eval_view(ev, s, 1), &dims), 0);
    return eval_sum_end(
        ev, s, &made,
        EVAL_TRY(ev, dot, ev->workers, out, eval_view(ev, s, 0), eval_view(ev, s, 1), &dims));
}

bool eval_dot(struct eval *ev, const struct step *s)
{
    switch (s->inst->opcode) {
    case OP_RAGGED_DOT: return ragged_dot(ev, s);
    case OP_SCALED_DOT: return scaled_dot(ev, s);
    default: return dot(ev, s);
    }
}
