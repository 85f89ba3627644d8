/*
 * split.c: the modules of a file. They are separated by lines `// -----`, or each begins with a
 * line `HloModule NAME`, as when several modules are printed one after the other. In the output of
 * a program that dumps to standard output, a module is what is between `*** Begin NAME ***` and
 * `*** End NAME ***`; other dumps and other lines are left out.
 */
#include "text/text_priv.h"

#define HEADER STR("HloModule")

struct splitter {
    struct arena *arena;
    struct str name, text;
    struct source *parts;
    struct str *titles;
    size_t count, capacity, title_count, title_capacity;
};

static struct str slice(const char *begin, const char *end)
{
    return (struct str){begin, (size_t)(end - begin)};
}

/* ---- kinds of lines ---- */

/* Whether a line is blank or a comment. */
static bool is_comment(struct str line)
{
    line = str_trim(line);
    return line.len == 0 || str_starts(line, STR("//"));
}

/* Whether a line is `//`, blanks and exactly five dashes. Longer rules are decoration. */
static bool is_divider(struct str line)
{
    line = str_trim(line);
    if (!str_starts(line, STR("//")))
        return false;
    return str_is(str_trim(slice(line.ptr + 2, line.ptr + line.len)), "-----");
}

/* The line without the prefix of a logger. */
static struct str without_prefix(struct str line)
{
    const char *end = line.ptr + line.len, *after = lex_log_prefix_end(line.ptr, end);
    return after ? slice(after, end) : line;
}

/* Whether a line begins a module; `name`: that of the module. */
static bool is_header(struct str line, struct str *name)
{
    line = without_prefix(line);
    if (!str_starts(line, HEADER) || line.len == HEADER.len || !char_is_blank(line.ptr[HEADER.len]))
        return false;
    line = str_trim(slice(line.ptr + HEADER.len, line.ptr + line.len));
    if (str_starts(line, STR("%")))
        line = slice(line.ptr + 1, line.ptr + line.len);
    size_t n = 0;
    while (n < line.len && line.ptr[n] != ',' && line.ptr[n] != '{' && !char_is_blank(line.ptr[n]))
        n++;
    *name = (struct str){line.ptr, n};
    return n > 0;
}

/* Whether a line is `*** WORD NAME ***`. */
static bool is_mark(struct str line, struct str word, struct str *name)
{
    const struct str close = STR(" ***");
    line = str_trim(line);
    if (!str_starts(line, word) || !str_ends(line, close) || line.len <= word.len + close.len)
        return false;
    *name = (struct str){line.ptr + word.len, line.len - word.len - close.len};
    return true;
}

/* ---- modules one after the other ---- */

/* Whether a part consists of comments without a test expectation: it is then joined to the next
 * part. */
static bool is_remark(struct str text)
{
    while (text.len > 0) {
        struct str line = str_cut_line(&text);
        if (!is_comment(line))
            return false;
        if (memmem(line.ptr, line.len, "expect:", 7) || memmem(line.ptr, line.len, "error:", 6))
            return false;
    }
    return true;
}

static void add_part(struct splitter *s, struct str text, uint32_t line, struct str title)
{
    struct source part;
    source_init(&part, s->name, text);
    part.first_line = line;
    VEC_PUSH(s->arena, s->parts, s->count, s->capacity) = part;
    VEC_PUSH(s->arena, s->titles, s->title_count, s->title_capacity) = arena_str(s->arena, title);
}

struct part { /* under construction */
    const char *begin;
    uint32_t line;    /* number of its first line */
    struct str title; /* name of its module */
    bool code;        /* it has a line that is not a comment */
    struct text_nesting nesting;
};

static void next_part(struct splitter *s, struct part *p, const char *end, const char *next,
                      uint32_t line)
{
    add_part(s, slice(p->begin, end), p->line, p->title);
    *p = (struct part){.begin = next, .line = line};
}

/* Skips a line of brackets, strings and comments. */
static void nest_line(const struct splitter *s, struct part *p, struct str line)
{
    if (!p->nesting.within)
        p->nesting.at = (size_t)(without_prefix(line).ptr - s->text.ptr);
    text_nest(slice(s->text.ptr, line.ptr + line.len), &p->nesting);
}

/* Comments above a header belong to its module. A line inside brackets or strings is
 * not a header. */
static void split_modules(struct splitter *s)
{
    struct str text = s->text, name;
    const char *above = text.ptr, /* end of the last line that is not a comment */
        *first = memmem(text.ptr, text.len, HEADER.ptr, HEADER.len), *end = text.ptr + text.len;
    const bool several =
        first && memmem(first + 1, (size_t)(end - first - 1), HEADER.ptr, HEADER.len);
    struct part p = {.begin = text.ptr, .line = 1};
    uint32_t above_number = 1;
    for (uint32_t number = 1; text.len > 0; number++) {
        const struct str line = str_cut_line(&text);
        const bool top = p.nesting.depth == 0 && !p.nesting.within;
        if (is_divider(line) && !is_remark(slice(p.begin, line.ptr)))
            next_part(s, &p, line.ptr, line.ptr + line.len, number + 1);
        else if (top && p.code && is_header(line, &name))
            next_part(s, &p, above, above, above_number);
        if (top && p.title.len == 0 && is_header(line, &name))
            p.title = name;
        if (!several || is_comment(line))
            continue;
        p.code |= !p.nesting.within && !str_starts(str_trim(line), STR("/*"));
        nest_line(s, &p, line);
        above = line.ptr + line.len;
        above_number = number + 1;
    }
    if (s->count == 0 || !is_remark(slice(p.begin, end)))
        add_part(s, slice(p.begin, end), p.line, p.title);
}

/* ---- dumps to standard output ---- */

static bool is_module(struct str text)
{
    struct str name;
    while (text.len > 0) {
        struct str line = str_cut_line(&text);
        if (!is_comment(line))
            return is_header(line, &name);
    }
    return false;
}

static void split_dumps(struct splitter *s)
{
    struct str text = s->text, name, title = {0};
    const char *begin = NULL; /* of the current dump */
    uint32_t first = 0;
    for (uint32_t number = 1; text.len > 0; number++) {
        const struct str line = str_cut_line(&text);
        const bool opens = is_mark(line, STR("*** Begin "), &name);
        const bool marked = opens || is_mark(line, STR("*** End "), &name);
        if (!marked && text.len > 0)
            continue;
        const char *end = marked ? line.ptr : text.ptr; /* the last dump may be truncated */
        if (begin && is_module(slice(begin, end)))
            add_part(s, slice(begin, end), first, title);
        begin = opens ? line.ptr + line.len : NULL;
        title = name;
        first = number + 1;
    }
}

struct source *text_split(struct arena *a, struct str name, struct str text, size_t *n,
                          struct str **titles)
{
    struct splitter s = {.arena = a, .name = name, .text = text};
    if (text.len > 0 && memmem(text.ptr, text.len, "*** Begin ", 10))
        split_dumps(&s);
    if (s.count == 0)
        split_modules(&s);
    *n = s.count;
    if (titles)
        *titles = s.titles;
    return s.parts;
}
