/*
 * The JUnit report of a test run.
 */
#include "cli/golden.h"

static void put_xml(struct buf *b, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c == '<')
            buf_puts(b, "&lt;");
        else if (c == '>')
            buf_puts(b, "&gt;");
        else if (c == '&')
            buf_puts(b, "&amp;");
        else if (c == '"')
            buf_puts(b, "&quot;");
        else if (c < ' ' && c != '\n' && c != '\t') /* not allowed in XML */
            buf_putc(b, '?');
        else
            buf_putc(b, (char)c);
    }
}

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

bool junit_write(const char *path, const struct test_result *results, size_t count, hlo_messages *m)
{
    size_t failures = 0, skipped = 0;
    double seconds = 0;
    struct buf b = {0};
    for (size_t i = 0; i < count; i++) {
        seconds += results[i].seconds;
        failures += results[i].status == TEST_FAILED;
        skipped += results[i].status == TEST_SKIPPED;
    }
    buf_puts(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    buf_printf(&b,
               "<testsuite name=\"hlo test\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" "
               "skipped=\"%zu\" time=\"%.3f\">\n",
               count, failures, skipped, seconds);
    for (size_t i = 0; i < count; i++)
        put_case(&b, &results[i]);
    buf_puts(&b, "</testsuite>\n");
    bool ok = hlo_write_text(path, b.data, b.size, m);
    buf_free(&b);
    return ok;
}
