/*
 * pager.c: runs the pager of the user.
 */
#include "repl/repl.h"

#include "base/base.h"
#include "base/system.h"
#include "repl/line.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

bool terminal_is_dumb(void)
{
    const char *term = getenv("TERM");
    return term && strcmp(term, "dumb") == 0;
}

static const char *pager_command(void)
{
    const char *own = getenv("HLO_PAGER"), *usual = getenv("PAGER");
    return own ? own : usual ? usual : "less";
}

/* With FRX, less exits at once if the output fits on the screen, and passes colors on. */
static void exec_pager(const char *command, const int ends[2])
{
    struct buf script = {0}; /* if the pager does not exist, `cat` prints the output */
    dup2(ends[0], STDIN_FILENO);
    setenv("LESS", "FRX", 0);
    setenv("LV", "-c", 0);
    buf_printf(&script, "%s\ncase $? in 126 | 127) exec cat ;; esac", command);
    execl("/bin/sh", "sh", "-c", script.data, (char *)NULL);
    _exit(127);
}

int pager_open(int *process)
{
    const char *command = pager_command();
    int ends[2];
    if (terminal_is_dumb() || !*command || strcmp(command, "cat") == 0 || !system_pipe(ends))
        return -1;
    fflush(NULL);
    *process = (int)fork();
    if (*process == 0)
        exec_pager(command, ends);
    close(ends[0]);
    if (*process > 0)
        return ends[1];
    close(ends[1]);
    return -1;
}

void pager_wait(int process)
{
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* Ends early if the user leaves the pager. */
static void feed(int fd, const char *text, size_t size)
{
    struct sigaction before, ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, &before);
    while (size > 0) {
        const ssize_t n = write(fd, text, size);
        if (n < 0 && errno != EINTR)
            break;
        text += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    close(fd);
    sigaction(SIGPIPE, &before, NULL);
}

void pager_show(const char *text, size_t size)
{
    size_t columns, rows, lines = 0;
    int fd = -1, process;
    line_window(&columns, &rows);
    for (struct str rest = {text, size}; rest.len > 0; lines++)
        str_cut_line(&rest);
    if (lines >= rows)
        fd = pager_open(&process);
    if (fd < 0) {
        fwrite(text, 1, size, stdout);
        return;
    }
    feed(fd, text, size);
    pager_wait(process);
}
