/*
 * A check by a shell command, which gets a file with the candidate; its exit status is whether
 * the candidate still fails.
 */
#include "cli/reduce.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* Appends the file name to the command, unless the command contains $1 or HLO_FILE. */
static char *complete(const char *command)
{
    bool named = strstr(command, "$1") || strstr(command, "${1") || strstr(command, "$@") ||
                 strstr(command, "HLO_FILE");
    struct buf b = {0};
    buf_printf(&b, named ? "%s" : "%s \"$1\"", command);
    return b.data;
}

bool shell_check_open(struct shell_check *c, hlo_messages *m)
{
    struct buf path = {0};
    if (!temporary_begin(m))
        return false;
    temporary_path(TEMPORARY_CANDIDATE, &path);
    c->path = path.data;
    c->script = complete(c->command);
    setenv("HLO_FILE", c->path, 1);
    return true;
}

void shell_check_close(struct shell_check *c)
{
    if (!c->path)
        return;
    temporary_end();
    heap_free(c->script);
    heap_free(c->path);
}

/* ---- execution ---- */

static bool start(const struct shell_check *c, pid_t *pid)
{
    char *const argv[] = {(char[]){"sh"},         (char[]){"-c"}, c->script,
                          (char[]){"hlo-reduce"}, c->path,        NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t signals;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (c->verbose) {
        posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    } else {
        posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setpgroup(
        &attributes, 0); /* a process group of its own, so that all its descendants can be killed */
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    bool ok = posix_spawn(pid, "/bin/sh", &files, &attributes, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return ok;
}

/* The wait status of the command; -1 after a timeout or an interrupt. */
static int await(const struct shell_check *c, pid_t pid)
{
    enum { LEAST = 100000, MOST = 5000000 }; /* polling interval, ns */
    int64_t begin = now_ns();
    struct timespec pause = {0, LEAST};
    int status;
    for (;;) {
        pid_t ended = waitpid(pid, &status, WNOHANG);
        if (ended == pid)
            return was_interrupted() ? -1 : status; /* the signal may have ended it */
        bool late = c->timeout > 0 && (double)(now_ns() - begin) * 1e-9 > c->timeout;
        if (late || was_interrupted() || (ended < 0 && errno != EINTR)) {
            kill(-pid, SIGKILL);
            while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
                continue;
            return -1;
        }
        nanosleep(&pause, NULL);
        pause.tv_nsec = pause.tv_nsec < MOST ? pause.tv_nsec * 5 / 4 : MOST;
    }
}

static bool write_candidate(struct shell_check *c, struct str text)
{
    errno = 0;
    FILE *f = fopen(c->path, "w");
    bool ok = f && fwrite(text.ptr, 1, text.len, f) == text.len && fflush(f) == 0;
    if (!ok)
        c->error = errno ? errno : EIO;
    if (f)
        fclose(f);
    return ok;
}

bool shell_check_ask(struct shell_check *c, struct str text)
{
    pid_t pid;
    if (!write_candidate(c, text) || !start(c, &pid))
        return false;
    int status = await(c, pid);
    if (status == -1)
        return false;
    return (WIFEXITED(status) && WEXITSTATUS(status) == 0) != c->nonzero;
}
