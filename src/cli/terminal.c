/*
 * Output to terminals: color, pager, --quiet.
 */
#include "cli/cli.h"
#include "repl/line.h"
#include "repl/repl.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* The process of the pager, read by the signal handler. 0: none. */
static _Atomic int pager;

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

/* ---- colour ---- */

static bool is_forced(const char *name) { return is_set(name) && strcmp(getenv(name), "0") != 0; }

static bool supports_color(int stream)
{
    if (is_set("NO_COLOR"))
        return false;
    if (is_forced("CLICOLOR_FORCE") || is_forced("FORCE_COLOR"))
        return true;
    return !terminal_is_dumb() && isatty(stream);
}

/* The colors of HLO_COLORS, or the defaults. */
static const char *chosen_colors(void)
{
    const char *colors = getenv("HLO_COLORS");
    if (!colors)
        return "";
    if (!hlo_colors_known(colors))
        fputs("hlo: warning: invalid 'HLO_COLORS': expected attribute, caret, comment, error, "
              "help, keyword, name, note, number, operation, place, shape, string or warning, as "
              "in 'error=1;31:note=36'\n",
              stderr);
    return colors;
}

bool choose_color(struct options *o)
{
    enum { AUTO, ALWAYS, NEVER };
    static const char *const words[] = {"auto", "always", "never"};
    int when;
    const bool ok = option_word(o, OPT_COLOR, words, COUNT_OF(words), AUTO, &when);
    const bool messages = when == ALWAYS || (when == AUTO && supports_color(STDERR_FILENO)),
               text = when == ALWAYS || (when == AUTO && supports_color(STDOUT_FILENO));
    const char *colors = ok && (messages || text) ? chosen_colors() : NULL;
    o->colors = messages ? colors : NULL;
    o->inks = text ? colors : NULL;
    return ok;
}

/* False for ranks of mpirun, which connects them to pseudo-terminals. */
bool people_read(const struct options *o)
{
    const char *world = o->value[OPT_WORLD];
    return pager > 0 || (isatty(STDOUT_FILENO) && !(world && strcmp(world, "mpi") == 0));
}

size_t output_width(const struct options *o)
{
    const char *given = getenv("COLUMNS");
    int64_t number;
    size_t columns = SIZE_MAX, rows;
    if (given && num_parse_i64(str_of(given), &number) && number > 0)
        columns = (size_t)number;
    else if (people_read(o))
        line_window(&columns, &rows);
    return columns;
}

void print_hlo(const struct options *o, struct str text)
{
    SCOPED_TEXT colored = {0};
    if (o->inks)
        colored = hlo_highlight(text.ptr, text.len, o->inks);
    fwrite(o->inks ? colored.data : text.ptr, 1, o->inks ? colored.size : text.len, stdout);
}

void print_buf(struct buf *text)
{
    fwrite(text->data, 1, text->size, stdout);
    buf_free(text);
}

void print_text(hlo_text *text)
{
    fwrite(text->data, 1, text->size, stdout);
    hlo_text_free(text);
}

bool file_error(hlo_messages *m, const char *file, const char *format, ...)
{
    SCOPED_BUF text = {0};
    va_list ap;
    va_start(ap, format);
    buf_vprintf(&text, format, ap);
    va_end(ap);
    hlo_messages_add(m, file, text.data);
    return false;
}

void report(const struct options *o, const hlo_messages *m)
{
    if (o->given[OPT_QUIET] && hlo_messages_errors(m) == 0)
        return;
    SCOPED_TEXT text = hlo_messages_draw_in(m, o->colors);
    if (text.size > 0) {
        fflush(stdout); /* otherwise the final flush reports failures */
        fwrite(text.data, 1, text.size, world_stderr(o));
    }
}

/* ---- --quiet ---- */

/* Discards all further output. */
static void close_output(void)
{
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null < 0)
        return;
    fflush(stdout);
    dup2(null, STDOUT_FILENO);
    close(null);
}

void be_quiet(const struct options *o)
{
    if (o->given[OPT_QUIET])
        close_output();
}

/* ---- the pager ---- */

/* Whether the user types what the command reads, which the pager would take. */
static bool is_typed(const struct options *o)
{
    const char *infeed = o->value[OPT_INFEED];
    bool reads = infeed && strcmp(infeed, "-") == 0;
    for (size_t k = 0; k < o->arg_count; k++)
        reads |= strcmp(o->args[k], "-") == 0;
    return reads && isatty(STDIN_FILENO);
}

/* The messages of the command go the same way, in their place between the results. */
void pager_begin(const struct options *o)
{
    SCOPED_BUF width = {0};
    int process, fd = -1;
    if (o->given[OPT_NO_PAGER] || o->given[OPT_QUIET] || pager > 0 || !people_read(o) ||
        is_typed(o))
        return;
    buf_printf(&width, "%zu", output_width(o));
    fd = pager_open(&process);
    if (fd >= 0) {
        setenv("COLUMNS", width.data, 0);
        dup2(fd, STDOUT_FILENO);
        if (isatty(STDERR_FILENO))
            dup2(fd, STDERR_FILENO);
        close(fd);
        pager = process;
        interrupt_leave();
    }
}

/* The pager owns the terminal: Ctrl-C in it must not end this process. */
void pager_end(void)
{
    if (pager <= 0)
        return;
    fflush(stdout);
    signal(SIGINT, SIG_IGN);
    close(STDOUT_FILENO); /* the pager reads the end of the pipe */
    close(STDERR_FILENO);
    pager_wait(pager);
}

void leave(int signal)
{
    if (pager > 0) {
        close(STDOUT_FILENO);
        close(STDERR_FILENO);
        pager_wait(pager);
    }
    temporary_leave(signal);
}
