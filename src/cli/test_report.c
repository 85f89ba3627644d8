/*
 * Reports of a test run: text, TAP, JSON lines and JUnit.
 */
#include "cli/test.h"

#include <stdlib.h>

/* ---- JUnit ---- */

static void put_case(struct buf *b, const struct test_result *t)
{
    buf_puts(b, "  <testcase classname=\"");
    put_xml(b, str_of(t->path));
    buf_puts(b, "\" name=\"");
    put_xml(b, t->name);
    buf_printf(b, "\" time=\"%.3f\"", t->seconds);
    if (t->status == TEST_PASSED) {
        buf_puts(b, "/>\n");
        return;
    }
    if (t->status == TEST_SKIPPED) {
        buf_puts(b, "><skipped/></testcase>\n");
        return;
    }
    buf_puts(b, "><failure message=\"");
    put_xml(b, (struct str){t->why.ptr, t->why.len ? strcspn(t->why.ptr, "\n") : 0});
    buf_puts(b, "\">");
    put_xml(b, t->why);
    buf_puts(b, "</failure></testcase>\n");
}

static int write_junit(const struct suite *s)
{
    size_t failures = 0, skipped = 0;
    double seconds = 0;
    SCOPED_BUF b = {0};
    if (!s->o->given[OPT_JUNIT])
        return HLO_OK;
    for (size_t i = 0; i < s->count; i++) {
        seconds += s->tests[i].seconds;
        failures += s->tests[i].status == TEST_FAILED;
        skipped += s->tests[i].status == TEST_SKIPPED;
    }
    buf_puts(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    buf_printf(&b,
               "<testsuite name=\"hlo test\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" "
               "skipped=\"%zu\" time=\"%.3f\">\n",
               s->count, failures, skipped, seconds);
    for (size_t i = 0; i < s->count; i++)
        put_case(&b, &s->tests[i]);
    buf_puts(&b, "</testsuite>\n");
    SCOPED_MESSAGES *m = hlo_messages_new();
    const bool ok = hlo_write_text(s->o->value[OPT_JUNIT], b.data, b.size, m);
    report(s->o, m);
    return ok ? HLO_OK : HLO_USAGE;
}

/* ---- standard output ---- */

static void put_comment(const char *mark, struct str text)
{
    while (text.len > 0) {
        const struct str line = str_cut(&text, '\n');
        printf("%s" STR_FMT "\n", mark, STR_ARG(line));
    }
}

static void put_tap(const struct suite *s)
{
    printf("TAP version 13\n1..%zu\n", s->count);
    for (size_t i = 0; i < s->count; i++) {
        const struct test_result *t = &s->tests[i];
        const char *skip = t->status == TEST_SKIPPED ? " # SKIP no 'test:' line" : "";
        SCOPED_BUF name = {0};
        for (size_t k = 0; k < t->name.len; k++) /* `#` starts a TAP directive */
            buf_printf(&name, t->name.ptr[k] == '#' ? "\\%c" : "%c", t->name.ptr[k]);
        printf("%s %zu - " STR_FMT "%s\n", t->status == TEST_FAILED ? "not ok" : "ok", i + 1,
               STR_ARG(buf_view(&name)), skip);
        put_comment("# ", t->why);
    }
}

static const char *status_word(const struct test_result *t)
{
    static const char *const keywords[] = {"passed", "failed", "skipped"};
    return keywords[t->status];
}

static void put_json_test(const struct test_result *t)
{
    struct buf b = {0};
    buf_puts(&b, "{\"schema\":1");
    buf_json_text(&b, "test", t->name);
    buf_json_text(&b, "file", str_of(t->path));
    buf_json_count(&b, "module", t->part + 1);
    if (t->done) {
        buf_json_text(&b, "status", str_of(status_word(t)));
        buf_json_real(&b, "seconds", t->seconds, 6);
        buf_json_text(&b, "text", t->why);
    }
    buf_puts(&b, "}\n");
    print_buf(&b);
}

static int by_time(const void *a, const void *b)
{
    const struct test_result *x = *(const struct test_result *const *)a,
                             *y = *(const struct test_result *const *)b;
    return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

static void put_slowest(struct suite *s, const char *mark)
{
    const struct test_result **by =
        ARENA_ARRAY(&s->arena, const struct test_result *, s->count + 1);
    for (size_t i = 0; i < s->count; i++)
        by[i] = &s->tests[i];
    qsort(by, s->count, sizeof *by, by_time);
    for (size_t i = 0; i < s->count && (int64_t)i < s->slowest; i++)
        printf("%s%8.3f s  " STR_FMT "\n", mark, by[i]->seconds, STR_ARG(by[i]->name));
}

static void put_counts(const struct suite *s, const size_t *by_status)
{
    if (s->o->given[OPT_JSON])
        printf("{\"schema\":1,\"passed\":%zu,\"failed\":%zu,\"skipped\":%zu,\"not_run\":%zu}\n",
               by_status[TEST_PASSED], by_status[TEST_FAILED], by_status[TEST_SKIPPED], s->not_run);
    else
        printf("%s%zu passed, %zu failed, %zu skipped", s->o->given[OPT_TAP] ? "# " : "",
               by_status[TEST_PASSED], by_status[TEST_FAILED], by_status[TEST_SKIPPED]);
    if (!s->o->given[OPT_JSON] && s->not_run > 0)
        printf(", %zu not run", s->not_run);
    if (!s->o->given[OPT_JSON])
        putchar('\n');
}

/* A run without tests fails by default, since it usually means a wrong path. */
static int nothing_tested(const struct suite *s)
{
    if (s->o->given[OPT_ALLOW_NO_TESTS])
        return HLO_OK;
    if (s->count == 0 && s->o->given[OPT_FILTER])
        usage_error(s->o, "no test matches '--filter=%s'", s->o->value[OPT_FILTER]);
    else
        usage_error(s->o, "no tests found: a test has a line '// test: ...' or is a snapshot; "
                          "--new adds one to a module");
    return HLO_DIFFERS;
}

static bool lists_skipped(const struct options *o)
{
    return o->given[OPT_VERBOSE] || o->given[OPT_NO_SKIP];
}

static int put_report(struct suite *s)
{
    size_t by_status[3] = {0};
    bool tap = s->o->given[OPT_TAP], json = s->o->given[OPT_JSON] && !tap;
    if (tap)
        put_tap(s);
    for (size_t i = 0; i < s->count; i++) {
        const struct test_result *t = &s->tests[i];
        by_status[t->status]++;
        if (json)
            put_json_test(t);
        else if (t->status == TEST_FAILED && !tap) {
            printf("FAIL " STR_FMT "\n", STR_ARG(t->name));
            put_comment("  ", t->why);
        } else if (t->status == TEST_SKIPPED && !tap && lists_skipped(s->o)) {
            printf("SKIP " STR_FMT ": no line '// test: ...'\n", STR_ARG(t->name));
        }
    }
    if (!json && s->slowest > 0)
        put_slowest(s, tap ? "# " : "");
    put_counts(s, by_status);
    if (by_status[TEST_PASSED] + by_status[TEST_FAILED] + s->not_run == 0)
        return nothing_tested(s);
    if (s->o->given[OPT_NO_SKIP] && by_status[TEST_SKIPPED] > 0)
        return HLO_DIFFERS;
    return by_status[TEST_FAILED] > 0 || s->put_aside > 0 ? HLO_DIFFERS : HLO_OK;
}

int test_report(struct suite *s)
{
    int status = put_report(s), written = write_junit(s);
    return written > status ? written : status;
}

int test_list(const struct suite *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->o->given[OPT_JSON])
            put_json_test(&s->tests[i]);
        else
            printf(STR_FMT "\n", STR_ARG(s->tests[i].name));
    return s->count > 0 ? HLO_OK : nothing_tested(s);
}
