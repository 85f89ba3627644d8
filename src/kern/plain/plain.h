/*
 * plain: one kernel per op, as its definition: a loop over result indices, each element by the
 * formula. They are the reference for readers, the kernels of `--plain`, and the reference of the
 * tests of the fast kernels, whose arguments are the same. They are not optimized, but give the
 * same bits on every machine: of libraries they use only operations that IEEE 754 defines exactly,
 * with one fixed order of operations, and NaNs are defined, too. The elementary functions are in
 * function.h, the tile kernels of elementwise ops in elementwise.c.
 *
 * Some kernels serve both fast and plain runs, because they give the same bits either way: the tile
 * kernels of integers, compare, convert, reduce-precision, stochastic-convert and random bits; and
 * kern_copy, for arrays that are only passed on (results, states of loops). plain_fft is kern_fft
 * without FFTW: the sum itself would take too long.
 */
#ifndef HLO_KERN_PLAIN_H
#define HLO_KERN_PLAIN_H

#include "kern/kern.h"

#define KERNEL(name) kern_##name##_fn plain_##name;
#define FAST(name)
#include "kern/kernel.def"

#endif
