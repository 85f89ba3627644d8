/*
 * repl/report: diagnostics on standard error, results on the output of the session, and filling of
 * lines.
 */
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

void report_messages(struct session *s, hlo_messages *m)
{
    hlo_text text = hlo_messages_draw_in(m, s->o->colors);
    report_flush(s);
    fwrite(text.data, 1, text.size, stderr);
    hlo_text_free(&text);
    hlo_messages_free(m);
}

static void add(struct session *s, hlo_messages *m, const char *format, va_list ap)
    PRINTF_LIKE(3, 0) NOT_NULL(3);

static void add(struct session *s, hlo_messages *m, const char *format, va_list ap)
{
    struct arena a;
    struct buf place = {0};
    arena_init(&a);
    put_place(s, &place);
    hlo_messages_add(m, place.data, arena_vprintf(&a, format, ap).ptr);
    buf_free(&place);
    arena_free(&a);
}

void add_error(struct session *s, hlo_messages *m, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    add(s, m, format, ap);
    va_end(ap);
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
    const char *command = command_meant(name);
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

/* ---- filled text ---- */

/* No limit unless the output is a terminal. */
static size_t columns_of(const struct session *s)
{
    size_t columns, rows;
    if (!s->interactive || s->out != stdout || !isatty(STDOUT_FILENO))
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
