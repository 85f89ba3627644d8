/*
 * repl/fold: sentences for people, in lines that the window is wide enough for.
 */
#include "repl/session.h"

#include <unistd.h>

/* Off a terminal lines are as long as they are. */
static size_t columns_of(const struct session *s)
{
    size_t columns, rows;
    if (!s->interactive || s->out != stdout || !isatty(STDOUT_FILENO))
        return SIZE_MAX;
    line_window(&columns, &rows);
    return columns;
}

void put_folded(struct session *s, size_t column, size_t indent, const char *text)
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
