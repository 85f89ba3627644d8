/*
 * Options of all commands that run modules: kernels, limits, threads, elided constants, custom-call
 * targets.
 */
#include "cli/arguments.h"

/* Parses a number of bytes with an optional suffix: 500, 64k, 500M, 2G. */
static bool byte_count(const char *text, uint64_t *out)
{
    static const char units[] = "kKmMgGtT";
    struct str s = str_of(text);
    const char *unit = s.len > 1 ? strchr(units, s.ptr[s.len - 1]) : NULL;
    int64_t n, scale = unit ? (int64_t)1 << (10 * ((unit - units) / 2 + 1)) : 1;
    if (scale > 1)
        s.len--;
    if (!num_parse_i64(s, &n) || n < 1 || !mul_i64(n, scale, &n))
        return false;
    *out = (uint64_t)n;
    return true;
}

static bool limit_options(const struct options *o, struct hlo_run_options *out)
{
    const char *memory = o->value[OPT_MAX_MEMORY], *seconds = o->value[OPT_TIMEOUT];
    int64_t steps, trip;
    if (!option_int(o, OPT_MAX_STEPS, 1, INT64_MAX, 0, &steps) ||
        !option_int(o, OPT_MAX_TRIP, 1, INT64_MAX, 0, &trip))
        return false;
    out->max_steps = (uint64_t)steps;
    out->max_trip = (uint64_t)trip;
    if (memory && !byte_count(memory, &out->max_memory))
        return usage_error(o, "invalid value '%s' for '--max-memory': expected a number of bytes",
                           memory),
               false;
    if (seconds && !(num_parse_double(str_of(seconds), &out->timeout) && out->timeout > 0))
        return usage_error(o, "invalid value '%s' for '--timeout': expected a number of seconds",
                           seconds),
               false;
    return true;
}

bool run_options(const struct options *o, struct hlo_run_options *out)
{
    static const char *const fillings[] = {"zero", "iota", "random"};
    int filling;
    *out = HLO_WITH(hlo_run_options, .plain = o->given[OPT_PLAIN], .world = world_of(o));
    int64_t seed;
    if (!limit_options(o, out) || !option_threads(o, 0, &out->threads) ||
        !option_int(o, OPT_SEED, 0, INT64_MAX, 1, &seed) ||
        !option_word(o, OPT_ELIDED, fillings, COUNT_OF(fillings), -1, &filling))
        return false;
    out->seed = (uint64_t)seed;
    out->elided = filling < 0 ? HLO_ELIDED_REFUSE : (enum hlo_elided)(HLO_ELIDED_ZERO + filling);
    return true;
}

/* ---- custom-call targets ---- */

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
