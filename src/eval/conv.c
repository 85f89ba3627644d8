/*
 * Convolution.
 */
#include "eval/eval_priv.h"

void eval_conv_dims(const struct inst *i, struct kern_conv_dims *d)
{
    const struct dim_labels *l = inst_attr(i, A_DIM_LABELS)->v.dim_labels;
    d->spatial_count = l->spatial_count;
    d->input_batch = l->input_batch;
    d->input_feature = l->input_feature;
    d->kernel_input_feature = l->kernel_input_feature;
    d->kernel_output_feature = l->kernel_output_feature;
    d->output_batch = l->output_batch;
    d->output_feature = l->output_feature;
    for (int k = 0; k < l->spatial_count; k++) {
        d->input_spatial[k] = l->input_spatial[k];
        d->kernel_spatial[k] = l->kernel_spatial[k];
        d->output_spatial[k] = l->output_spatial[k];
    }
    eval_window_dims(i, l->spatial_count, d->window);
    d->feature_groups = inst_int(i, A_FEATURE_GROUP_COUNT, 1);
    d->batch_groups = inst_int(i, A_BATCH_GROUP_COUNT, 1);
}

bool eval_conv(struct eval *ev, const struct step *s)
{
    struct kern_conv_dims dims;
    if (inst_has(s->inst, A_SPARSITY_CONFIG))
        return eval_unsupported(ev, s);
    eval_conv_dims(s->inst, &dims);
    struct value made;
    struct view *out = eval_sum_begin(ev, s, &made);
    if (!out)
        return false;
    const struct view *in = eval_view(ev, s, 0), *kernel = eval_view(ev, s, 1);
    if (eval_reports_choices(ev))
        dry_run_report_choice(ev, kern_conv_choice(out, in, kernel, &dims), 0);
    return eval_sum_end(ev, s, &made, EVAL_TRY(ev, conv, ev->workers, out, in, kernel, &dims));
}
