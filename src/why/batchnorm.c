/*
 * Batch normalisation: an element by its feature's numbers, and these by all elements of the feature.
 */
#include "why/why_priv.h"

static void of_feature(struct why *w, const struct inst *i, int k, int64_t feature, const char *role)
{
    why_fix(why_whole(w, i, k, 0, role), 0, feature);
}

static void all_of_feature(struct why *w, const struct inst *i, int k, int64_t feature, const char *role)
{
    why_fix(why_whole(w, i, k, 0, role), inst_int(i, A_FEATURE_INDEX, 0), feature);
}

void why_batchnorm(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    const int64_t feature = index[leaf == 0 ? inst_int(i, A_FEATURE_INDEX, 0) : 0];
    const bool training = i->opcode == OP_BATCH_NORM_TRAINING, inference = i->opcode == OP_BATCH_NORM_INFERENCE;
    static const char *const of_inference[] = {"operand", "scale", "offset", "mean", "variance"};
    static const char *const of_grad[] = {"operand", "scale", "mean", "variance"};
    if (inference)
        why_same(w, i, 0, 0, index, "operand");
    else if (training || leaf < 2)
        all_of_feature(w, i, 0, feature, "feature");
    if (!training && !inference)
        all_of_feature(w, i, 4, feature, "gradient");
    const int end = inference ? 5 : training ? 3 : 4;
    for (int k = 1; k < end; k++)
        if (leaf == 0 || (leaf == 1 && !training && k > 1)) /* of the gradient of the scale */
            of_feature(w, i, k, feature, inference || training ? of_inference[k] : of_grad[k]);
}
