/*
 * plain: one kernel per op, as its definition: a loop over result indices, each element by the
 * formula. They are the reference for readers, the kernels of `--plain`, and the reference of the
 * tests of the fast kernels, whose arguments are the same. They are not optimized, but give the
 * same bits on every machine: no library except libm, and one fixed order of operations.
 *
 * Some kernels serve fast runs too, because they give the same bits either way: the tile kernels of
 * elementwise ops, compare, convert, reduce-precision and stochastic-convert (each element is a
 * function of its operands alone; nothing is fused except the products of complex numbers, whose
 * formula requires it), except those that have a form in elementwise_vector.def; also where a small
 * computation runs as scalar code; bodies of reductions that are one such op, which call its
 * tile kernel; and kern_copy, for arrays that are only passed on (results, states of loops).
 * Kernels here that have no fast one beside them serve both. plain_fft is kern_fft without FFTW:
 * the sum itself would take too long.
 */
#ifndef HLO_KERN_PLAIN_H
#define HLO_KERN_PLAIN_H

#include "kern/kern.h"

kern_reshape_fn plain_reshape;
kern_transpose_fn plain_transpose;
kern_broadcast_fn plain_broadcast;
kern_slice_fn plain_slice;
kern_reverse_fn plain_reverse;
kern_bitcast_convert_fn plain_bitcast_convert;
kern_copy_fn plain_copy;
kern_iota_fn plain_iota;
kern_pad_fn plain_pad;
kern_reduce_fn plain_reduce;
kern_reduce_window_fn plain_reduce_window;
kern_select_and_scatter_fn plain_select_and_scatter;
kern_dot_fn plain_dot;
kern_ragged_dot_fn plain_ragged_dot;
kern_scaled_dot_fn plain_scaled_dot;
kern_conv_fn plain_conv;
kern_gather_fn plain_gather;
kern_scatter_fn plain_scatter;
kern_sort_fn plain_sort;
kern_topk_fn plain_topk;
kern_fft_fn plain_fft;
kern_rng_bits_fn plain_rng_bits;
kern_rng_numbers_fn plain_rng_numbers;
kern_cholesky_fn plain_cholesky;
kern_triangular_solve_fn plain_triangular_solve;

#endif
