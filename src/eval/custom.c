/*
 * Custom calls: the targets that are known here, and the way to code that is none of ours.
 * Markers are only names and never become steps (plan/names.c).
 */
#include "eval/eval_priv.h"

static bool allocate_buffer(struct eval *ev, const struct step *s)
{
    for (int r = 0; r < s->result_count; r++)
        if (!eval_clear(ev, s, r))
            return false;
    return true;
}

static bool top_k(struct eval *ev, const struct step *s)
{
    return eval_topk(ev, s, true);
}

/* Sorted by name; a name that ends in `*` stands for all that begin with the rest. */
static const struct target {
    const char *name;
    eval_family_fn *run;
} targets[] = {
    {"AllocateBuffer", allocate_buffer},
    {"PadToStatic", eval_pad_to_static},
    {"SliceToDynamic", eval_slice_to_dynamic},
    {"TopK", top_k},
};

static bool is_target(struct str name, const char *pattern)
{
    size_t n = strlen(pattern);
    if (pattern[n - 1] != '*')
        return str_is(name, pattern);
    return str_starts(name, (struct str){pattern, n - 1});
}

/* spec: CustomCall */
bool eval_custom(struct eval *ev, const struct step *s)
{
    struct str name = inst_str(s->inst, A_CUSTOM_CALL_TARGET);
    for (size_t k = 0; k < COUNT_OF(targets); k++)
        if (is_target(name, targets[k].name))
            return targets[k].run(ev, s);
    return EVAL_FAIL(ev, s, UNKNOWN_TARGET, STR_ARG(name));
}
