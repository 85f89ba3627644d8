/*
 * Public interface: mapped files that are truncated while in use. Reading beyond their new end
 * raises SIGBUS; after hlo_guard_mapped_files, this ends the process with a message that names the
 * file.
 *
 * The handler finds the file in /proc/self/maps. So no list of mapped files must be maintained,
 * and the handler only makes async-signal-safe calls.
 */
#include "api/api.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <unistd.h>

/* A line of /proc/self/maps: FROM-TO PERMISSIONS OFFSET DEVICE INODE PATH. */
enum { MAX_LINE = PATH_MAX + 128, WORDS_BEFORE_PATH = 5 };

struct lines {
    int fd;
    size_t at, size;
    char ahead[1024];
};

/* Reads a line, truncated to the buffer. False at the end. */
static bool next_line(struct lines *l, char *line, size_t capacity)
{
    size_t n = 0;
    for (;;) {
        if (l->at == l->size) {
            ssize_t got = read(l->fd, l->ahead, sizeof l->ahead);
            if (got <= 0)
                return false;
            l->at = 0;
            l->size = (size_t)got;
        }
        char c = l->ahead[l->at++];
        if (c == '\n')
            break;
        if (n + 1 < capacity)
            line[n++] = c;
    }
    line[n] = '\0';
    return true;
}

static uintptr_t take_address(const char **at)
{
    uintptr_t v = 0;
    for (;; ++*at) {
        char c = **at;
        if (c >= '0' && c <= '9')
            v = v << 4 | (uintptr_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            v = v << 4 | (uintptr_t)(c - 'a' + 10);
        else
            return v;
    }
}

/* The path in a line whose range contains the address; NULL: other range, or no file. */
static const char *path_if_it_holds(const char *line, uintptr_t address)
{
    uintptr_t from = take_address(&line);
    if (*line++ != '-' || address < from || address >= take_address(&line))
        return NULL;
    for (int word = 1; word < WORDS_BEFORE_PATH; word++) {
        while (*line == ' ')
            line++;
        while (*line && *line != ' ')
            line++;
    }
    while (*line == ' ')
        line++;
    return *line == '/' ? line : NULL;
}

static void report(const char *words) { (void)!write(STDERR_FILENO, words, strlen(words)); }

static void handle(int number, siginfo_t *info, void *context)
{
    char line[MAX_LINE];
    const char *path = NULL;
    struct lines l = {.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
    while (!path && next_line(&l, line, sizeof line))
        path = path_if_it_holds(line, (uintptr_t)info->si_addr);
    if (path) {
        report(path);
        report(": error: file truncated or unreadable while mapped\n");
        _exit(HLO_FAILED);
    }
    close(l.fd);
    signal(number, SIG_DFL); /* not a mapped file: the default action ends the process */
}

void hlo_guard_mapped_files(void)
{
    struct sigaction a = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    sigemptyset(&a.sa_mask);
    sigaction(SIGBUS, &a, NULL);
}
