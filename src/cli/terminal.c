/*
 * Output to terminals: color, pager, --quiet.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

static bool is_dumb(void)
{
    const char *term = getenv("TERM");
    return term && strcmp(term, "dumb") == 0;
}

/* ---- colour ---- */

static bool is_forced(const char *name) { return is_set(name) && strcmp(getenv(name), "0") != 0; }

static bool supports_color(int stream)
{
    if (is_set("NO_COLOR"))
        return false;
    if (is_forced("CLICOLOR_FORCE") || is_forced("FORCE_COLOR"))
        return true;
    return !is_dumb() && isatty(stream);
}

/* The colors of HLO_COLORS, or the defaults. */
static const char *chosen_colors(void)
{
    const char *colors = getenv("HLO_COLORS");
    if (!colors)
        return "";
    if (!hlo_colors_known(colors))
        fputs("hlo: warning: invalid 'HLO_COLORS': expected caret, error, help, note, place or "
              "warning, as in "
              "'error=1;31:note=36'\n",
              stderr);
    return colors;
}

bool choose_color(struct options *o)
{
    enum { AUTO, ALWAYS, NEVER };
    static const char *const words[] = {"auto", "always", "never"};
    int when;
    const bool ok = option_word(o, OPT_COLOR, words, COUNT_OF(words), AUTO, &when);
    const bool color = when == ALWAYS || (when == AUTO && supports_color(STDERR_FILENO));
    o->colors = ok && color ? chosen_colors() : NULL;
    return ok;
}

/* False for ranks of mpirun, which connects them to pseudo-terminals. */
bool people_read(const struct options *o)
{
    const char *world = o->value[OPT_WORLD];
    return o->pager > 0 || (isatty(STDOUT_FILENO) && !(world && strcmp(world, "mpi") == 0));
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
    struct buf text = {0};
    va_list ap;
    va_start(ap, format);
    buf_vprintf(&text, format, ap);
    va_end(ap);
    hlo_messages_add(m, file, text.data);
    buf_free(&text);
    return false;
}

void report(const struct options *o, const hlo_messages *m)
{
    if (o->given[OPT_QUIET] && hlo_messages_errors(m) == 0)
        return;
    hlo_text text = hlo_messages_draw_in(m, o->colors);
    if (text.size > 0) {
        fflush(stdout); /* otherwise the final flush reports failures */
        fwrite(text.data, 1, text.size, world_stderr(o));
    }
    hlo_text_free(&text);
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

static const char *pager_command(void)
{
    const char *own = getenv("HLO_PAGER"), *usual = getenv("PAGER");
    return own ? own : usual ? usual : "less -FRX";
}

/* Starts the pager for all further output; with FRX, less exits at once if the output fits on the
 * screen. */
void pager_begin(struct options *o)
{
    const char *command = pager_command();
    int ends[2];
    if (o->given[OPT_NO_PAGER] || o->given[OPT_QUIET] || o->pager > 0 || !people_read(o) ||
        is_dumb() || !*command || strcmp(command, "cat") == 0 || pipe(ends) != 0)
        return;
    fflush(NULL);
    o->pager = (int)fork();
    if (o->pager == 0) {
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
        setenv("LESS", "FRX", 0); /* so that short output needs no key */
        struct buf script = {0};  /* if the pager does not exist, `cat` prints the output */
        buf_printf(&script, "%s\ncase $? in 126 | 127) exec cat ;; esac", command);
        execl("/bin/sh", "sh", "-c", script.data, (char *)NULL);
        _exit(127);
    }
    close(ends[0]);
    if (o->pager > 0)
        dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
}

/* Waits for the pager. The pager owns the terminal: Ctrl-C in it must not end this process. */
void pager_end(struct options *o)
{
    if (o->pager <= 0)
        return;
    fflush(stdout);
    signal(SIGINT, SIG_IGN);
    close_output(); /* the pager reads the end of the pipe */
    while (waitpid(o->pager, NULL, 0) < 0 && errno == EINTR)
        ;
}
