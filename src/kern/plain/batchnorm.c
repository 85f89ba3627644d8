/*
 * spec: BatchNormGrad, BatchNormInference, BatchNormTraining
 *
 * Batch normalization over a feature dimension (grammar/values.md 13.8): sums and formulas in
 * double, rounded once.
 */
#include "kern/plain/plain.h"

#include <math.h>

static double load(const struct view *v, const int64_t *index)
{
    return float_load(v->dtype, view_at(v, index));
}

static double load_at(const struct view *v, int64_t f)
{
    return float_load(v->dtype, v->data + f * v->strides[0]);
}

static void store_at(const struct view *v, int64_t f, double x)
{
    float_store(v->dtype, v->data + f * v->strides[0], x);
}

/* For each feature, two sums over all its elements. */
struct sums {
    double p, q;
};
typedef void sum_fn(struct sums *s, const struct view *const *x, const int64_t *index, double mean);

static void sum_values(struct sums *s, const struct view *const *x, const int64_t *index,
                       double mean)
{
    (void)mean;
    s->p += load(x[0], index);
}

static void sum_gradients(struct sums *s, const struct view *const *x, const int64_t *index,
                          double mean)
{
    double dy = load(x[1], index);
    s->p += dy;
    s->q += dy * (load(x[0], index) - mean);
}

static struct sums *sum_features(const struct view *const *x, const struct view *mean, int feature,
                                 sum_fn *add)
{
    int64_t index[VIEW_MAX_RANK] = {0}, features = x[0]->dims[feature];
    struct sums *s = mem_zalloc((size_t)features * sizeof *s + 1);
    if (s && view_elements(x[0]) > 0) {
        do {
            int64_t f = index[feature];
            add(&s[f], x, index, mean ? load_at(mean, f) : 0);
        } while (index_next(x[0]->rank, x[0]->dims, index));
    }
    return s;
}

/* The sum of (x - mean)^2, where p is the mean. (mean(x^2) - mean^2 would lose a variance that is
 * small compared to the mean.) */
static void sum_deviations(struct sums *s, const struct view *x, int feature)
{
    int64_t index[VIEW_MAX_RANK] = {0};
    if (view_elements(x) == 0)
        return;
    do {
        struct sums *of = &s[index[feature]];
        double c = load(x, index) - of->p;
        of->q += c * c;
    } while (index_next(x->rank, x->dims, index));
}

static double per_feature(const struct view *x, int feature)
{
    int64_t features = x->dims[feature];
    return features ? (double)(view_elements(x) / features) : 0;
}

/* y = a[f] * x + b[f], in the order of the formula: (x - mean) * scale + offset */
static void normalise(const struct view *y, const struct view *x, const struct view *scale,
                      const struct view *offset, const struct view *mean, const struct view *var,
                      double eps, int feature)
{
    int64_t index[VIEW_MAX_RANK] = {0};
    if (view_elements(x) == 0)
        return;
    do {
        int64_t f = index[feature];
        double r = 1 / sqrt(load_at(var, f) + eps);
        float_store(y->dtype, view_at(y, index),
                    (load(x, index) - load_at(mean, f)) * r * load_at(scale, f) +
                        load_at(offset, f));
    } while (index_next(x->rank, x->dims, index));
}

void plain_batch_norm_inference(const struct view *y, const struct view *x,
                                const struct view *scale, const struct view *offset,
                                const struct view *mean, const struct view *var, double eps,
                                int feature)
{
    normalise(y, x, scale, offset, mean, var, eps, feature);
}

bool plain_batch_norm_training(const struct view *y, const struct view *mean,
                               const struct view *var, const struct view *x,
                               const struct view *scale, const struct view *offset, double eps,
                               int feature)
{
    struct sums *s = sum_features(&x, NULL, feature, sum_values);
    double n = per_feature(x, feature);
    if (!s)
        return false;
    for (int64_t f = 0; f < x->dims[feature]; f++)
        store_at(mean, f, s[f].p /= n);
    sum_deviations(s, x, feature);
    for (int64_t f = 0; f < x->dims[feature]; f++)
        store_at(var, f, s[f].q / n);
    mem_free(s);
    normalise(y, x, scale, offset, mean, var, eps, feature);
    return true;
}

bool plain_batch_norm_grad(const struct view *dx, const struct view *dscale,
                           const struct view *doffset, const struct view *x,
                           const struct view *scale, const struct view *mean,
                           const struct view *var, const struct view *dy, double eps, int feature)
{
    const struct view *both[2] = {x, dy};
    struct sums *s = sum_features(both, mean, feature, sum_gradients);
    double n = per_feature(x, feature);
    int64_t index[VIEW_MAX_RANK] = {0};
    if (!s)
        return false;
    for (int64_t f = 0; f < x->dims[feature]; f++) {
        store_at(doffset, f, s[f].p);
        store_at(dscale, f, s[f].q / sqrt(load_at(var, f) + eps));
    }
    if (view_elements(x) > 0) {
        do {
            int64_t f = index[feature];
            double v = load_at(var, f) + eps, c = load(x, index) - load_at(mean, f);
            float_store(dx->dtype, view_at(dx, index),
                        load_at(scale, f) / sqrt(v) / n *
                            (n * load(dy, index) - s[f].p - c * s[f].q / v));
        } while (index_next(x->rank, x->dims, index));
    }
    mem_free(s);
    return true;
}
