/*
 * A temporary directory for files exchanged with other programs. It is removed when the process
 * ends, even by a signal: there is at most one, and the possible names of its files are listed
 * here, so that a signal handler can remove it with async-signal-safe calls.
 */
#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const names[] = {TEMPORARY_CANDIDATE, TEMPORARY_INPUTS, TEMPORARY_MODULE,
                                    TEMPORARY_OUTPUTS};
static const int ends[] = {SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM};

/* Path of the directory, for the signal handler; "": none. */
static char directory[PATH_MAX];

static void copy(char *to, const char *from)
{
    size_t n = strlen(from) + 1;
    memcpy(to, from, n);
}

static void remove_directory(void)
{
    char path[PATH_MAX + 32];
    for (size_t k = 0; k < COUNT_OF(names); k++) {
        copy(path, directory);
        copy(path + strlen(path), names[k]);
        unlink(path);
    }
    rmdir(directory);
    *directory = '\0';
}

void temporary_leave(int number)
{
    if (*directory)
        remove_directory();
    signal(number, SIG_DFL);
    raise(number);
}

static void change_handlers(void (*from)(int), void (*to)(int))
{
    for (size_t k = 0; k < COUNT_OF(ends); k++) {
        struct sigaction now, then = {.sa_handler = to};
        sigfillset(&then.sa_mask); /* block other handlers meanwhile */
        if (sigaction(ends[k], NULL, &now) == 0 && now.sa_handler == from)
            sigaction(ends[k], &then, NULL);
    }
}

bool temporary_begin(hlo_messages *m)
{
    const char *tmp = getenv("TMPDIR");
    sigset_t all, before;
    int n = snprintf(directory, sizeof directory, "%s/hlo-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    errno = ENAMETOOLONG;
    bool ok = n > 0 && (size_t)n + 1 < sizeof directory && mkdtemp(directory);
    if (ok) {
        copy(directory + strlen(directory), "/");
        change_handlers(SIG_DFL, temporary_leave);
    } else {
        hlo_messages_add(m, tmp && *tmp ? tmp : "/tmp", strerror(errno));
        *directory = '\0';
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

const char *temporary_path(const char *name, struct buf *out)
{
    buf_printf(out, "%s%s", directory, name);
    return out->data;
}

void temporary_end(void)
{
    if (!*directory)
        return;
    remove_directory();
    change_handlers(temporary_leave, SIG_DFL);
}
