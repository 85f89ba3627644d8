/*
 * split.c: splits a file into modules at lines `// -----`.
 */
#include "text/text_priv.h"

/* Whether a line is `//`, blanks, exactly five dashes, and blanks. Longer rules are decoration. */
static bool is_divider(const char *s, const char *end)
{
    while (s < end && (*s == ' ' || *s == '\t'))
        s++;
    if (end - s < 2 || s[0] != '/' || s[1] != '/')
        return false;
    for (s += 2; s < end && (*s == ' ' || *s == '\t');)
        s++;
    const char *dashes = s;
    while (s < end && *s == '-')
        s++;
    if (s - dashes != 5)
        return false;
    while (s < end && (*s == ' ' || *s == '\t' || *s == '\r'))
        s++;
    return s == end;
}

/* Whether a part consists of comments without a test expectation: it is then joined to the next
 * part. */
static bool is_remark(struct str text)
{
    const char *s = text.ptr, *end = s + text.len;
    while (s < end) {
        const char *newline = memchr(s, '\n', (size_t)(end - s)),
                   *line_end = newline ? newline : end;
        while (s < line_end && (*s == ' ' || *s == '\t' || *s == '\r'))
            s++;
        if (s < line_end && (line_end - s < 2 || s[0] != '/' || s[1] != '/'))
            return false;
        size_t len = (size_t)(line_end - s);
        if (s && (memmem(s, len, "expect:", 7) || memmem(s, len, "error:", 6)))
            return false;
        s = newline ? newline + 1 : end;
    }
    return true;
}

static void add_part(struct arena *a, struct source **parts, size_t *n, size_t *capacity,
                     struct str name, struct str text, uint32_t line)
{
    struct source s;
    source_init(&s, name, text);
    s.first_line = line;
    VEC_PUSH(a, *parts, *n, *capacity) = s;
}

struct source *text_split(struct arena *a, struct str name, struct str text, size_t *n)
{
    struct source *parts = NULL;
    size_t capacity = 0;
    const char *begin = text.ptr, *end = text.ptr + text.len, *line = begin;
    uint32_t number = 1, first = 1;
    *n = 0;
    while (line < end) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *line_end = newline ? newline : end;
        if (is_divider(line, line_end) && !is_remark((struct str){begin, (size_t)(line - begin)})) {
            add_part(a, &parts, n, &capacity, name, (struct str){begin, (size_t)(line - begin)},
                     first);
            begin = newline ? newline + 1 : end;
            first = number + 1;
        }
        line = newline ? newline + 1 : end;
        number++;
    }
    struct str last = {begin, (size_t)(end - begin)};
    if (*n == 0 || !is_remark(last))
        add_part(a, &parts, n, &capacity, name, last, first);
    return parts;
}
