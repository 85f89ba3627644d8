/*
 * plain: one kernel per op that says what it means: a loop over result indices, each element by the
 * formula. What people read to learn an op, what `--plain` runs, and what the fast kernels are tested
 * against; same arguments as those. Never clever, never fast.
 */
#ifndef HLO_KERN_PLAIN_H
#define HLO_KERN_PLAIN_H

#include "kern/kern.h"

bool plain_dot(const struct view *out, const struct view *lhs, const struct view *rhs,
               const struct kern_dot_dims *dims);
bool plain_conv(const struct view *out, const struct view *lhs, const struct view *rhs,
                const struct kern_conv_dims *dims);
void plain_pad(const struct view *out, const struct view *x, const void *value,
               const struct kern_pad_dim *dims);
bool plain_reduce(int n, const struct view *out, const struct view *x, const void *const *init,
                  const enum dtype *acc, const bool *reduced, const struct kern_body *body);
bool plain_reduce_window(int n, const struct view *out, const struct view *x, const void *const *init,
                         const enum dtype *acc, const struct kern_window_dim *window,
                         const struct kern_body *body);
bool plain_select_and_scatter(const struct view *out, const struct view *x, const struct view *source,
                              const void *init, const struct kern_window_dim *window,
                              const struct kern_body *select, const struct kern_body *scatter);
void plain_gather(const struct view *out, const struct view *operand, const struct view *indices,
                  const struct kern_gather_dims *dims);
bool plain_scatter(int n, const struct view *out, const struct view *indices, const struct view *updates,
                   const struct kern_gather_dims *dims, const struct kern_body *body);
bool plain_sort(int n, const struct view *out, const struct view *x, int dimension,
                const struct kern_comparator *less);

#endif
