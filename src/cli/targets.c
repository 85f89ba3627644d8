/*
 * Targets of custom calls, from the command line. A later option takes precedence over earlier
 * ones.
 */
#include "cli/cli.h"

static bool add(hlo_targets *t, const struct each_option *e, hlo_messages *m)
{
    switch (e->id) {
    case OPT_CUSTOM_CALL: return hlo_targets_add_rule(t, e->value, m);
    case OPT_CUSTOM_CALL_LIB: return hlo_targets_add_library(t, e->value, m);
    default: return true;
    }
}

hlo_targets *targets_of(const struct options *o, hlo_messages *m)
{
    hlo_targets *t = hlo_targets_new();
    for (size_t k = 0; k < o->each_count; k++)
        if (!add(t, &o->each[k], m)) {
            hlo_targets_free(t);
            return NULL;
        }
    return t;
}
