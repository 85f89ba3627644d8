/*
 * tuple.c: tuples, parameters, constants and barriers: plan/ has made all of them names of values,
 * so none is left as a step unless it can't be run.
 */
#include "eval/eval_priv.h"

bool eval_tuple(struct eval *ev, const struct step *s) { return eval_unsupported(ev, s); }
