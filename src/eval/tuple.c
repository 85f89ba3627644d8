/*
 * Tuples, parameters, constants and barriers: plan/ has resolved all of them into names of values,
 * so that none is left as a step unless it is one that can't be run.
 */
#include "eval/eval_priv.h"

bool eval_tuple(struct eval *ev, const struct step *s)
{
    return eval_unsupported(ev, s);
}
