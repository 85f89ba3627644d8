/*
 * The two tables of kernels: the fast ones, and each op by its formula (no kernel of its own).
 */
#include "kern/plain/plain.h"

const struct kernels kern_fast = {
    .reduce_precision = kern_reduce_precision,
    .stochastic_convert = kern_stochastic_convert,
    .bitcast_convert = kern_bitcast_convert,
    .iota = kern_iota,
    .pad = kern_pad,
    .reduce = kern_reduce,
    .reduce_window = kern_reduce_window,
    .select_and_scatter = kern_select_and_scatter,
    .dot = kern_dot,
    .conv = kern_conv,
    .gather = kern_gather,
    .scatter = kern_scatter,
    .sort = kern_sort,
    .topk = kern_topk,
    .rng_bits = kern_rng_bits,
    .rng_numbers = kern_rng_numbers,
    .cholesky = kern_cholesky,
    .triangular_solve = kern_triangular_solve,
    .fft = kern_fft,
    .batch_norm_inference = kern_batch_norm_inference,
    .batch_norm_training = kern_batch_norm_training,
    .batch_norm_grad = kern_batch_norm_grad,
};

const struct kernels kern_plain = {
    .reduce_precision = kern_reduce_precision,
    .stochastic_convert = kern_stochastic_convert,
    .bitcast_convert = kern_bitcast_convert,
    .iota = kern_iota,
    .pad = plain_pad,
    .reduce = plain_reduce,
    .reduce_window = plain_reduce_window,
    .select_and_scatter = plain_select_and_scatter,
    .dot = plain_dot,
    .conv = plain_conv,
    .gather = plain_gather,
    .scatter = plain_scatter,
    .sort = plain_sort,
    .topk = kern_topk,
    .rng_bits = kern_rng_bits,
    .rng_numbers = kern_rng_numbers,
    .cholesky = kern_cholesky,
    .triangular_solve = kern_triangular_solve,
    .fft = kern_fft,
    .batch_norm_inference = kern_batch_norm_inference,
    .batch_norm_training = kern_batch_norm_training,
    .batch_norm_grad = kern_batch_norm_grad,
};
