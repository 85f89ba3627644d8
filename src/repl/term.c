/*
 * repl/term: what is asked of the terminal and the environment.
 */
#include "repl/line.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool line_possible(void)
{
    return isatty(STDIN_FILENO) && (isatty(STDOUT_FILENO) || isatty(STDERR_FILENO));
}

void line_window(size_t *columns, size_t *rows)
{
    struct winsize w;
    *columns = 80;
    *rows = 24;
    for (int fd = 2; fd >= 0; fd--)
        if (ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 && w.ws_row > 0) {
            *columns = w.ws_col;
            *rows = w.ws_row;
            return;
        }
}

void line_history_path(struct buf *out)
{
    const char *own = getenv("HLO_HISTORY"), *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    out->size = 0;
    if (own)
        buf_puts(out, own); /* which may be empty */
    else if (state && *state == '/')
        buf_printf(out, "%s/hlo/history", state);
    else if (home && *home)
        buf_printf(out, "%s/.local/state/hlo/history", home);
}
