/*
 * Compares results with expected values (--expect, --bundle, snapshots) within a tolerance.
 */
#include "cli/arguments.h"

#include <math.h>
#include <unistd.h>

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

bool tolerance_given(const struct options *o)
{
    return o->given[OPT_ABS] || o->given[OPT_REL] || o->given[OPT_ULP];
}

/* The smallest power of ten that is at least twice the error. */
static double round_bound(double error) { return pow(10, ceil(log10(2 * error))); }

/* Adds the tolerance that the results would be within, if errors of that size are plausible: small
 * for the element type, or compared with the largest element. */
static void put_hint(struct buf *out, const struct hlo_difference *d, const hlo_literal *expected)
{
    const double rel = round_bound(d->worst_rel), abs = round_bound(d->worst_abs);
    if (!d->comparable || d->not_finite > 0 || !(d->worst_abs > 0))
        return;
    for (size_t i = 0; i < d->worst_count; i++)
        if (!strchr("fbc", *hlo_literal_leaf(expected, d->worst[i].leaf).dtype)) /* not floats */
            return;
    const struct hlo_array leaf = hlo_literal_leaf(expected, d->worst[0].leaf);
    const struct hlo_stats s = hlo_literal_stats(expected);
    const double plausible = leaf.element_size > 2 ? 1e-3 : 0.1,
                 largest = fabs(s.min) > fabs(s.max) ? fabs(s.min) : fabs(s.max);
    if (rel <= plausible) {
        buf_puts(out, "; try --rel=");
        buf_g(out, rel, 1);
    } else if (abs <= plausible / 100 * largest) {
        buf_puts(out, "; try --abs=");
        buf_g(out, abs, 1);
    }
}

void put_differing(struct buf *out, const struct hlo_difference *d, const hlo_literal *actual,
                   const hlo_literal *expected)
{
    if (!d->comparable || d->elements < 2)
        return;
    SCOPED_TEXT text = hlo_difference_table(d, actual, expected, NULL);
    buf_bytes(out, text.data, text.size);
}

/* Reports where values differ and by how much. */
static void report_difference(const struct arguments *a, const char *path, size_t p,
                              const hlo_literal *result, const hlo_literal *expected,
                              const struct hlo_tolerance *t, const hlo_text *why)
{
    FILE *f = world_stderr(a->o);
    struct hlo_difference d = hlo_literal_difference(result, expected, t);
    SCOPED_BUF hint = {0}, table = {0};
    put_hint(&hint, &d, expected);
    fflush(stdout);
    if (a->participants > 1)
        fprintf(f, "hlo: %s: result of participant %zu differs: ", path, p);
    else
        fprintf(f, "hlo: %s: result differs: ", path);
    fprintf(f, "%s%s\n", why->data, hint.size ? hint.data : "");
    if (!a->o->given[OPT_QUIET])
        put_differing(&table, &d, result, expected);
    fputs(table.size ? table.data : "", f);
}

/* The expected value from a file without named arrays: a literal as printed by hlo run. */
static hlo_literal *read_text(const struct arguments *a, const char *path, struct str text)
{
    if (a->participants > 1)
        return usage_error(a->o, "'%s': results of %zu participants must be in an .npz file", path,
                           a->participants),
               NULL;
    return hlo_result_parse(a->module, text.ptr, text.len, a->m);
}

bool is_literal(const char *text)
{
    double number;
    return access(text, F_OK) != 0 &&
           (strpbrk(text, "{[") || num_parse_double(str_of(text), &number));
}

bool is_value(const char *word)
{
    return is_literal(word) ||
           (access(word, F_OK) != 0 && (*word == '@' || hlo_argument_value(word)));
}

/* From a file, which may be written @FILE as in arguments, or a literal. */
static hlo_literal *read_expected(const struct arguments *a, const char *path, size_t p)
{
    SCOPED_BYTES bytes = {0};
    if (!path)
        return hlo_stored_result(a->bundled ? a->bundled : a->module, p, a->m);
    if (is_literal(path))
        return read_text(a, path, str_of(path));
    if (*path == '@' && access(path, F_OK) != 0)
        path++;
    if (hlo_arrays_known(path) || file_starts_with(path, STR("PK")) || !file_read(path, &bytes))
        return hlo_read_result(path, "out", a->module, p, a->m);
    return read_text(a, path, (struct str){bytes.data, bytes.size});
}

static const char *expected_name(const struct arguments *a, const char *path)
{
    return path ? path : a->bundle ? a->o->value[OPT_BUNDLE] : file_argument(a->o);
}

/* Compares the result of participant p, and adds what differs within the tolerance to `all`, unless
 * that is NULL. */
static int expect_result(const struct arguments *a, const char *path, size_t p,
                         const hlo_literal *result, const struct hlo_tolerance *t,
                         struct hlo_difference *all)
{
    SCOPED_LITERAL *expected = read_expected(a, path, p);
    SCOPED_TEXT why = {0};
    int status = !expected                                        ? HLO_USAGE
                 : hlo_literal_compare(result, expected, t, &why) ? HLO_OK
                                                                  : HLO_DIFFERS;
    if (status == HLO_OK && all) {
        const struct hlo_difference d = hlo_literal_difference(result, expected, t);
        all->elements += d.elements;
        all->worst_abs = fmax(all->worst_abs, d.worst_abs);
        all->worst_rel = fmax(all->worst_rel, d.worst_rel);
    }
    if (status == HLO_DIFFERS)
        report_difference(a, expected_name(a, path), p, result, expected, t, &why);
    return status;
}

static void print_agreement(const char *path, const struct hlo_difference *d)
{
    struct buf b = {0};
    buf_printf(&b, "%s: results agree: %" PRIu64 " element%s", path, d->elements,
               d->elements == 1 ? "" : "s");
    if (d->worst_abs > 0) {
        buf_puts(&b, "; largest errors: abs ");
        buf_json_number(&b, d->worst_abs, 3);
        buf_puts(&b, ", rel ");
        buf_json_number(&b, d->worst_rel, 3);
    }
    buf_putc(&b, '\n');
    print_buf(&b);
}

int expect_results(const struct arguments *a, const char *path, hlo_literal *const *results,
                   bool verdict)
{
    struct hlo_tolerance t;
    struct hlo_difference all = {0};
    const bool print = verdict && !a->o->given[OPT_QUIET];
    int status = tolerance_options(a->o, &t) ? HLO_OK : HLO_USAGE;
    for (size_t p = 0; p < a->participants && status != HLO_USAGE; p++) {
        int one = expect_result(a, path, p, results[p], &t, print ? &all : NULL);
        status = one > status ? one : status;
    }
    if (status == HLO_OK && print)
        print_agreement(expected_name(a, path), &all);
    return status;
}

bool bundle_has_results(const char *path, hlo_messages *m)
{
    SCOPED_ARRAYS *s = hlo_arrays_open(path, m);
    return s && (hlo_arrays_has(s, "out0") || hlo_arrays_has(s, "out0@0"));
}
