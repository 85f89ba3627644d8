/*
 * dry_run_kernels.c: kernels that do nothing: a dry run executes only the code around them.
 */
#include "eval/dry_run.h"

static void reshape(const struct view *out, const struct view *x) {}

static void transpose(const struct view *out, const struct view *x, const int64_t *permutation) {}

static void broadcast(const struct view *out, const struct view *x, const int64_t *dimensions) {}

static void slice(const struct view *out, const struct view *x, const int64_t *start,
                  const int64_t *stride)
{
}

static void reverse(const struct view *out, const struct view *x, const int64_t *dimensions,
                    int count)
{
}

static void reduce_precision(struct thread_pool *workers, const struct view *out,
                             const struct view *x, int exponent_bits, int mantissa_bits)
{
}

static void stochastic_convert(struct thread_pool *workers, const struct view *out,
                               const struct view *x, const struct view *random)
{
}

static void bitcast_convert(struct thread_pool *workers, const struct view *out,
                            const struct view *x)
{
}

static void copy(struct thread_pool *workers, const struct view *out, const struct view *x) {}

static void iota(struct thread_pool *workers, const struct view *out, int dimension) {}

static void pad(struct thread_pool *workers, const struct view *out, const struct view *x,
                const void *value, const struct kern_pad_dim *dims)
{
}

static bool reduce(struct thread_pool *workers, int n, const struct view *out, const struct view *x,
                   const void *const *init, const enum dtype *acc, const bool *reduced,
                   const struct kern_body *body)
{
    return dry_run_body(body);
}

static bool reduce_window(struct thread_pool *workers, int n, const struct view *out,
                          const struct view *x, const void *const *init, const enum dtype *acc,
                          const struct kern_window_dim *window, const struct kern_body *body)
{
    return dry_run_body(body);
}

static bool select_and_scatter(struct thread_pool *workers, const struct view *out,
                               const struct view *x, const struct view *source, const void *init,
                               const struct kern_window_dim *window, const struct kern_body *select,
                               const struct kern_body *scatter)
{
    return dry_run_body(select) && dry_run_body(scatter);
}

static bool dot(struct thread_pool *workers, const struct view *out, const struct view *lhs,
                const struct view *rhs, const struct kern_dot_dims *dims)
{
    return true;
}

static bool ragged_dot(struct thread_pool *workers, const struct view *out, const struct view *lhs,
                       const struct view *rhs, const struct view *sizes,
                       const struct kern_ragged_dims *dims)
{
    return true;
}

static bool scaled_dot(struct thread_pool *workers, const struct view *out, const struct view *lhs,
                       const struct view *rhs, const struct view *const scale[2],
                       const struct kern_dot_dims *dims)
{
    return true;
}

static bool conv(struct thread_pool *workers, const struct view *out, const struct view *lhs,
                 const struct view *rhs, const struct kern_conv_dims *dims)
{
    return true;
}

static void gather(struct thread_pool *workers, const struct view *out, const struct view *operand,
                   const struct view *indices, const struct kern_gather_dims *dims)
{
}

static bool scatter(struct thread_pool *workers, int n, const struct view *out,
                    const struct view *indices, const struct view *updates,
                    const struct kern_gather_dims *dims, const struct kern_body *body)
{
    return dry_run_body(body);
}

static bool sort(struct thread_pool *workers, int n, const struct view *out, const struct view *x,
                 int dimension, const struct kern_comparator *less)
{
    return dry_run_order(less);
}

static bool topk(struct thread_pool *workers, const struct view *values, const struct view *indices,
                 const struct view *x, int64_t k, bool largest)
{
    return true;
}

static bool fft(struct thread_pool *workers, struct kern_fft_plans *plans, const struct view *out,
                const struct view *x, enum kern_fft type, int count)
{
    return true;
}

static void rng_bits(struct thread_pool *workers, const struct view *out, enum kern_rng algorithm,
                     const uint64_t *state, int words, uint64_t *next)
{
}

static void rng_numbers(const struct view *out, const void *a, const void *b, bool is_normal,
                        uint64_t *state)
{
}

static bool cholesky(struct thread_pool *workers, const struct view *out, const struct view *a,
                     bool lower)
{
    return true;
}

static bool triangular_solve(struct thread_pool *workers, const struct view *out,
                             const struct view *a, const struct view *b,
                             const struct kern_triangular *how)
{
    return true;
}

static const struct kernels nothing = {
    .reshape = reshape,
    .transpose = transpose,
    .broadcast = broadcast,
    .slice = slice,
    .reverse = reverse,
    .reduce_precision = reduce_precision,
    .stochastic_convert = stochastic_convert,
    .bitcast_convert = bitcast_convert,
    .copy = copy,
    .iota = iota,
    .pad = pad,
    .reduce = reduce,
    .reduce_window = reduce_window,
    .select_and_scatter = select_and_scatter,
    .dot = dot,
    .ragged_dot = ragged_dot,
    .scaled_dot = scaled_dot,
    .conv = conv,
    .gather = gather,
    .scatter = scatter,
    .sort = sort,
    .topk = topk,
    .fft = fft,
    .rng_bits = rng_bits,
    .rng_numbers = rng_numbers,
    .cholesky = cholesky,
    .triangular_solve = triangular_solve,
};

struct kernels dry_run_kernels(const struct kernels *k)
{
    struct kernels out = nothing;
    if (!k->reshape) { /* rearrangements are views */
        out.reshape = NULL;
        out.transpose = NULL;
        out.broadcast = NULL;
        out.slice = NULL;
        out.reverse = NULL;
    }
    return out;
}
