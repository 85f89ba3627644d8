/*
 * repl/report: diagnostics on standard error, results on the output of the session, and filling of
 * lines.
 */
#include "repl/expression.h"
#include "repl/session.h"

#include <errno.h>
#include <unistd.h>

/* Writes the location of an entry from a file; "hlo" for interactive input. */
static void put_place(const struct session *s, struct buf *out)
{
    if (s->input && !s->input->editor)
        buf_printf(out, "%s:%u", s->input->name, s->input->first);
    else
        buf_puts(out, "hlo");
}

/* Records errno at once: the stream only records that writing failed. */
void report_flush(struct session *s)
{
    if (fflush(s->out) != 0 && s->out != stdout && s->out_error == 0)
        s->out_error = errno;
}

/* Whether the message is a warning that was printed before: texts are parsed again for runs and
 * after changes. */
static bool is_repeated(struct session *s, const hlo_messages *m, size_t i)
{
    if (hlo_messages_get(m, i).error)
        return false;
    SCOPED_TEXT text = hlo_messages_draw_one(m, i, NULL);
    const uint64_t hash = hash_bytes(text.data, text.size);
    for (size_t k = 0; k < s->warned_count; k++)
        if (s->warned[k] == hash)
            return true;
    s->warned = heap_grow(s->warned, (s->warned_count + 1) * sizeof *s->warned);
    s->warned[s->warned_count++] = hash;
    return false;
}

static void put_error_text(hlo_text text)
{
    fwrite(text.data, 1, text.size, stderr);
    hlo_text_free(&text);
}

/* Where the attributes of an operation are listed, if one that is required is missing, and how
 * element types are converted, if they do not match. */
static void put_help(const hlo_messages *m)
{
    static const char *const types[] = {"operand-types", "bad-operand-type", "expected-integer"};
    const struct hlo_message first = hlo_messages_get(m, 0);
    const char *name = first.text + 1, *quote = strchr(name, '\'');
    if (strcmp(first.id, "missing-attribute") == 0 && quote)
        fprintf(stderr, "help: .doc %.*s lists the attributes\n", (int)(quote - name), name);
    if (str_among(str_of(first.id), types, COUNT_OF(types)) >= 0)
        fputs("help: convert(x, new_element_type=TYPE) converts the elements of x\n", stderr);
}

void report_messages(struct session *s, hlo_messages *m)
{
    const size_t count = hlo_messages_count(m);
    bool *repeated = heap_zalloc(count + 1, sizeof *repeated), any = false;
    for (size_t i = 0; i < count; i++)
        any |= repeated[i] = is_repeated(s, m, i);
    report_flush(s);
    if (!any)
        put_error_text(hlo_messages_draw_in(m, s->o->colors));
    for (size_t i = 0; i < count && any; i++)
        if (!repeated[i])
            put_error_text(hlo_messages_draw_one(m, i, s->o->colors));
    if (count > 0)
        put_help(m);
    heap_free(repeated);
    hlo_messages_free(m);
}

static void add(struct session *s, hlo_messages *m, const char *format, va_list ap)
    PRINTF_LIKE(3, 0) NOT_NULL(3);

static void add(struct session *s, hlo_messages *m, const char *format, va_list ap)
{
    SCOPED_ARENA a = arena_make();
    SCOPED_BUF place = {0};
    put_place(s, &place);
    hlo_messages_add(m, place.data, arena_vprintf(&a, format, ap).ptr);
}

void add_error(struct session *s, hlo_messages *m, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    add(s, m, format, ap);
    va_end(ap);
}

void add_error_at(hlo_messages *m, const struct source_text *from, struct str place,
                  const char *text)
{
    const struct hlo_piece at = {place.ptr,  place.len,        from->name, from->text,
                                 from->size, from->first_line, 0,          NULL};
    hlo_messages_add_at(m, &at, text);
}

int report_error(struct session *s, int status, const char *format, ...)
{
    hlo_messages *m = hlo_messages_new();
    va_list ap;
    va_start(ap, format);
    add(s, m, format, ap);
    va_end(ap);
    report_messages(s, m);
    return status;
}

void report_warning(struct session *s, const char *format, ...)
{
    va_list ap;
    SCOPED_BUF place = {0};
    put_place(s, &place);
    report_flush(s);
    va_start(ap, format);
    fprintf(stderr, "%s: warning: ", place.data);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
}

void report_note(struct session *s, const char *format, ...)
{
    va_list ap;
    if (!s->interactive)
        return;
    report_flush(s);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
}

int report_unknown(struct session *s, struct str name)
{
    const char *command = command_meant(name), *instead = expression_instead(name);
    if (*instead)
        return report_error(s, HLO_REJECTED, "unknown name '" STR_FMT "'; use %s", STR_ARG(name),
                            instead);
    if (expression_op_number(name) < hlo_op_count())
        return report_error(s, HLO_REJECTED,
                            "'" STR_FMT "' is an operation; .doc " STR_FMT " describes it",
                            STR_ARG(name), STR_ARG(name));
    const hlo_listing *l = session_listing(s);
    struct nearest n = nearest_to(name);
    for (size_t i = 0; l && i < hlo_list_count(l); i++) {
        struct hlo_listed at = hlo_list_inst(l, i);
        if (str_is(name, at.name))
            return report_error(s, HLO_REJECTED,
                                "'%s' has a value only while '%s' runs; use .break %s and .run",
                                at.name, hlo_list_computation(l, at.computation).name, at.name);
        nearest_try(&n, str_of(at.name));
    }
    if (n.found.len)
        return report_error(s, HLO_REJECTED, "unknown name '" STR_FMT "'; did you mean '%s'?",
                            STR_ARG(name), n.found.ptr);
    if (*command)
        return report_error(s, HLO_REJECTED,
                            "unknown name '" STR_FMT "'; did you mean the command '%s'?",
                            STR_ARG(name), command);
    return report_error(s, HLO_REJECTED, "unknown name '" STR_FMT "'", STR_ARG(name));
}

void put_text(struct session *s, hlo_text text)
{
    fwrite(text.data, 1, text.size, s->out);
    hlo_text_free(&text);
}

bool on_terminal(const struct session *s)
{
    return (s->out == stdout || s->paged) && isatty(STDOUT_FILENO);
}

void put_highlighted(struct session *s, const char *text)
{
    if (!on_terminal(s) || !s->o->inks) {
        fputs(text, s->out);
        return;
    }
    put_text(s, hlo_highlight(text, strlen(text), s->o->inks));
}

/* ---- filled text ---- */

/* No limit unless the output is a terminal. */
static size_t columns_of(const struct session *s)
{
    size_t columns, rows;
    if (!s->interactive || !on_terminal(s))
        return SIZE_MAX;
    line_window(&columns, &rows);
    return columns;
}

void put_wrapped(struct session *s, size_t column, size_t indent, const char *text)
{
    enum { NARROWEST = 20 };
    size_t columns = columns_of(s);
    if (indent + NARROWEST > columns)
        indent = 2;
    for (const char *p = text; *p;) {
        size_t blanks = strspn(p, " "), word = strcspn(p + blanks, " \n");
        if (column > indent && column + blanks + word >= columns) {
            fprintf(s->out, "\n%*s%.*s", (int)indent, "", (int)word, p + blanks);
            column = indent + word;
        } else {
            fprintf(s->out, "%.*s", (int)(blanks + word), p);
            column += blanks + word;
        }
        p += blanks + word;
        if (*p == '\n') {
            fprintf(s->out, "\n%*s", p[1] ? (int)indent : 0, "");
            column = indent;
            p++;
        }
    }
}
