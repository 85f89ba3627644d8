/*
 * A library that is preloaded (LD_PRELOAD) and simulates permitted but rare behavior of the system.
 * The environment variable FAULTS lists keywords:
 *
 *   short       read and write transfer at most three bytes
 *   interrupt   about every other interruptible call is interrupted
 *   nameless    O_TMPFILE is not supported
 *   library     dlopen fails
 *
 * It affects hlo only, not the programs that it starts, which may be of another architecture.
 * System calls are made directly, since a sanitizer may have replaced the functions of the C
 * library.
 */
#undef _FILE_OFFSET_BITS /* otherwise open and open64 would be one function */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((constructor)) static void hide(void) { unsetenv("LD_PRELOAD"); }

static bool asked_for(const char *fault)
{
    const char *faults = getenv("FAULTS");
    return faults && strstr(faults, fault);
}

/* Pseudo-random, but reproducible: a caller that retries succeeds eventually. */
static bool interrupted(void)
{
    static _Atomic unsigned state;
    if (!asked_for("interrupt"))
        return false;
    const unsigned next = state * 1664525u + 1013904223u;
    state = next;
    if (next >> 31 == 0)
        return false;
    errno = EINTR;
    return true;
}

static size_t piece(size_t size) { return asked_for("short") && size > 3 ? 3 : size; }

ssize_t read(int fd, void *to, size_t size)
{
    return interrupted() ? -1 : syscall(SYS_read, fd, to, piece(size));
}

ssize_t write(int fd, const void *from, size_t size)
{
    return interrupted() ? -1 : syscall(SYS_write, fd, from, piece(size));
}

int poll(struct pollfd *fds, nfds_t count, int ms)
{
    const struct timespec limit = {ms / 1000, ms % 1000 * 1000000L};
    return interrupted() ? -1 : ppoll(fds, count, ms < 0 ? NULL : &limit, NULL);
}

pid_t waitpid(pid_t pid, int *status, int flags)
{
    return interrupted() ? -1 : (pid_t)syscall(SYS_wait4, pid, status, flags, NULL);
}

static int open_file(const char *path, int flags, mode_t mode)
{
    if ((flags & O_TMPFILE) == O_TMPFILE && asked_for("nameless")) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = va_arg(ap, mode_t);
    va_end(ap);
    return open_file(path, flags, mode);
}

#ifndef open64 /* in musl, another name of open */
int open64(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = va_arg(ap, mode_t);
    va_end(ap);
    return open_file(path, flags, mode);
}
#endif

void *dlopen(const char *path, int flags)
{
    void *(*real)(const char *, int) = NULL;
    void *found = dlsym(RTLD_NEXT, "dlopen");
    memcpy(&real, &found, sizeof found);
    return path && asked_for("library") ? NULL : real(path, flags);
}
