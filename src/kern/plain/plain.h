/*
 * plain: one kernel per op that says what it means: a loop over result indices, each element by the
 * formula. What people read to learn an op, what `--plain` runs, and what the fast kernels are tested
 * against; same arguments as those. Never clever, never fast.
 */
#ifndef HLO_KERN_PLAIN_H
#define HLO_KERN_PLAIN_H

#include "kern/kern.h"

kern_pad_fn plain_pad;
kern_reduce_fn plain_reduce;
kern_reduce_window_fn plain_reduce_window;
kern_select_and_scatter_fn plain_select_and_scatter;
kern_dot_fn plain_dot;
kern_conv_fn plain_conv;
kern_gather_fn plain_gather;
kern_scatter_fn plain_scatter;
kern_sort_fn plain_sort;

#endif
