#include "eval/eval_priv.h"

bool eval_linalg(struct eval *ev, const struct step *s) { return eval_unsupported(ev, s); }
