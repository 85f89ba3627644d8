/*
 * plain: one kernel per op, as its definition: a loop over result indices, each element by the
 * formula. They are the reference for readers, the kernels of `--plain`, and the reference of the
 * tests of the fast kernels, whose arguments are the same. They are not optimized, but give the
 * same bits on every machine: no library except libm, and one fixed order of operations.
 *
 * Some kernels serve fast runs too, because they give the same bits either way: the tile kernels of
 * elementwise ops, compare, convert, reduce-precision, stochastic-convert and random bits (each
 * element is a function of its operands alone; nothing is fused except the products of complex
 * numbers, whose formula requires it), except those that have a form in elementwise_vector.def;
 * also where a small computation runs as scalar code; bodies of reductions that are one such op,
 * which call its tile kernel; and kern_copy, for arrays that are only passed on (results, states of
 * loops). Kernels here that have no fast one beside them serve both. plain_fft is kern_fft without
 * FFTW: the sum itself would take too long.
 */
#ifndef HLO_KERN_PLAIN_H
#define HLO_KERN_PLAIN_H

#include "kern/kern.h"

#define KERNEL(name) kern_##name##_fn plain_##name;
#define FAST(name)
#include "kern/kernel.def"

#endif
