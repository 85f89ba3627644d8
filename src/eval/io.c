/*
 * Feeds and channels: they need somebody at the other end, and a run has nobody there.
 */
#include "eval/eval_priv.h"

bool eval_io(struct eval *ev, const struct step *s)
{
    return eval_unsupported(ev, s);
}
