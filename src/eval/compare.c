/*
 * compare.c: comparisons are elementwise operations; their kernel was chosen by direction and order
 * when the program was planned.
 */
#include "eval/eval_priv.h"

bool eval_compare(struct eval *ev, const struct step *s) { return eval_elementwise(ev, s); }
