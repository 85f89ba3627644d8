/*
 * Compares results with expected values (--expect, --bundle) within a tolerance.
 */
#include "cli/arguments.h"

static bool bound_option(const struct options *o, enum option_id id, double *out)
{
    const char *text = o->value[id];
    if (!text || (num_parse_double(str_of(text), out) && *out >= 0))
        return true;
    return usage_error(o, "invalid value '%s' for '--%s': expected a non-negative number", text,
                       option_row(id)->name),
           false;
}

bool tolerance_options(const struct options *o, struct hlo_tolerance *out)
{
    *out = (struct hlo_tolerance)HLO_TOLERANCE_INIT;
    return bound_option(o, OPT_ABS, &out->abs) && bound_option(o, OPT_REL, &out->rel) &&
           option_int(o, OPT_ULP, 0, INT64_MAX, 0, &out->ulp);
}

/* Reports where values differ and by how much; for several elements, the worst ones and a histogram
 * of the errors. */
static void report_difference(const struct arguments *a, const char *path, size_t p,
                              const hlo_literal *result, const hlo_literal *expected,
                              const struct hlo_tolerance *t, const hlo_text *why)
{
    FILE *f = world_stderr(a->o);
    struct hlo_difference d = hlo_literal_difference(result, expected, t);
    if (a->o->given[OPT_QUIET])
        return;
    fflush(stdout);
    if (a->participants > 1)
        fprintf(f, "hlo: %s: result of participant %zu differs: %s\n", path, p, why->data);
    else
        fprintf(f, "hlo: %s: result differs: %s\n", path, why->data);
    if (d.comparable && d.elements > 1) {
        hlo_text report = hlo_difference_print(&d, result, expected, NULL);
        fputs(report.data, f);
        hlo_text_free(&report);
    }
}

/* The expected value from a file without named arrays: a literal as printed by hlo run. */
static hlo_literal *read_text(const struct arguments *a, const char *path, struct str text)
{
    if (a->participants > 1)
        return usage_error(a->o, "'%s': results of %zu participants must be in an .npz file", path,
                           a->participants),
               NULL;
    text = str_trim(text);
    return hlo_literal_parse(text.ptr, text.len, a->m);
}

static hlo_literal *read_expected(const struct arguments *a, const char *path, size_t p)
{
    struct file_bytes bytes;
    if (hlo_arrays_known(path) || file_begins(path, STR("PK")) || !file_read(path, &bytes))
        return hlo_read_result(path, "out", a->module, p, a->m);
    hlo_literal *l = read_text(a, path, (struct str){bytes.data, bytes.size});
    file_release(&bytes);
    return l;
}

/* Compares the result of participant p. */
static int expect_result(const struct arguments *a, const char *path, size_t p,
                         const hlo_literal *result, const struct hlo_tolerance *t)
{
    hlo_literal *expected = read_expected(a, path, p);
    hlo_text why = {0};
    int status = !expected                                        ? HLO_USAGE
                 : hlo_literal_compare(result, expected, t, &why) ? HLO_OK
                                                                  : HLO_DIFFERS;
    if (status == HLO_DIFFERS)
        report_difference(a, path, p, result, expected, t, &why);
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
