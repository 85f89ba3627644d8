/*
 * Results against what was expected of them: --expect, --bundle, and how far off values may be.
 */
#include "cli/arguments.h"

static bool bound_option(const struct options *o, enum option_id id, double *out)
{
    const char *text = o->value[id];
    if (!text || (num_parse_double(str_of(text), out) && *out >= 0))
        return true;
    return usage_error(o, "`--%s=%s`: a number from 0 on is wanted", option_row(id)->name, text), false;
}

bool tolerance_options(const struct options *o, struct hlo_tolerance *out)
{
    *out = (struct hlo_tolerance){0};
    return bound_option(o, OPT_ABS, &out->abs) && bound_option(o, OPT_REL, &out->rel) &&
           option_int(o, OPT_ULP, 0, INT64_MAX, 0, &out->ulp);
}

static void say_difference(const struct options *o, const char *path, size_t participant, size_t count, const hlo_text *why)
{
    FILE *f = world_stderr(o);
    fflush(stdout);
    if (count > 1)
        fprintf(f, "hlo: %s: the result of participant %zu differs: %s\n", path, participant, why->data);
    else
        fprintf(f, "hlo: %s: the result differs: %s\n", path, why->data);
}

/* Of participant p. */
static int expect_result(const struct arguments *a, const char *path, size_t p, const hlo_literal *result,
                         const struct hlo_tolerance *t)
{
    hlo_literal *expected = hlo_read_result(path, "out", a->module, p, a->m);
    hlo_text why = {0};
    int status = !expected ? HLO_USAGE : hlo_literal_compare(result, expected, t, &why) ? HLO_OK : HLO_DIFFERS;
    if (status == HLO_DIFFERS)
        say_difference(a->o, path, p, a->participants, &why);
    hlo_text_free(&why);
    hlo_literal_free(expected);
    return status;
}

int expect_results(const struct arguments *a, const char *path, hlo_literal *const *results)
{
    struct hlo_tolerance t;
    int status = tolerance_options(a->o, &t) ? HLO_OK : HLO_USAGE;
    for (size_t p = 0; p < a->participants && status != HLO_USAGE; p++) {
        int one = expect_result(a, path, p, results[p], &t);
        status = one > status ? one : status;
    }
    return status;
}

bool bundle_has_results(const char *path, hlo_messages *m)
{
    hlo_arrays *s = hlo_arrays_open(path, m);
    bool has = s && (hlo_arrays_has(s, "out0") || hlo_arrays_has(s, "out0@0"));
    hlo_arrays_free(s);
    return has;
}
