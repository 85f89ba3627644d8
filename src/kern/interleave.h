/*
 * interleave: concatenations of arrays with one element each along the innermost dimension.
 */
#ifndef HLO_KERN_INTERLEAVE_H
#define HLO_KERN_INTERLEAVE_H

#include "kern/kern.h"

enum { KERN_INTERLEAVED = 64 }; /* maximum number of operands */
/* Whether kern_interleave() takes these n operands of a concatenation along d: all arrays are of
 * one type, the result is dense, the elements of each operand are at one distance, and dimensions
 * inside d have size 1. */
bool kern_interleaves(const struct view *out, int n, const struct view *const *x, int64_t d);
void kern_interleave(struct thread_pool *workers, const struct view *out, int n,
                     const struct view *const *x);

#endif
