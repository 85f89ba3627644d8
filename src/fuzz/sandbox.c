/*
 * Working directory and silenced streams of a fuzz target. The directory is in $TMPDIR or /tmp and
 * is removed when the process ends. Only the streams stdout and stderr are redirected, not their
 * descriptors, so that sanitizer reports are still printed; in musl, where streams are constants
 * and there are no sanitizers, the descriptors are.
 */
#include "fuzz/sandbox.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    char path[4096];
    int inside, outside; /* directory descriptors */
    FILE *out, *error, *nowhere;
    int descriptors[2]; /* copies of those of stdout and stderr */
} sandbox;

static void check(bool ok, const char *what)
{
    if (ok)
        return;
    perror(what);
    abort();
}

#if defined __linux__ && !defined __GLIBC__
static void silence(void)
{
    for (int k = 0; k < 2; k++) {
        fflush(k ? stderr : stdout);
        sandbox.descriptors[k] = dup(k + 1);
        check(dup2(fileno(sandbox.nowhere), k + 1) > 0, "/dev/null");
    }
}

static void restore(void)
{
    for (int k = 0; k < 2; k++) {
        fflush(k ? stderr : stdout);
        check(dup2(sandbox.descriptors[k], k + 1) > 0, "back");
        close(sandbox.descriptors[k]);
    }
}
#else
static void silence(void)
{
    sandbox.out = stdout;
    sandbox.error = stderr;
    stdout = stderr = sandbox.nowhere;
}

static void restore(void)
{
    stdout = sandbox.out;
    stderr = sandbox.error;
}
#endif

/* Empties the current directory, including subdirectories one level deep. */
static void empty(const char *directory)
{
    DIR *d = opendir(directory);
    struct dirent *e;
    while (d && (e = readdir(d))) {
        char path[512];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
        if (unlink(path) != 0 && strcmp(directory, ".") == 0) {
            empty(path);
            rmdir(path);
        }
    }
    if (d)
        closedir(d);
}

static void sandbox_end(void) { rmdir(sandbox.path); }

static void sandbox_make(void)
{
    const char *directory = getenv("TMPDIR");
    snprintf(sandbox.path, sizeof sandbox.path, "%s/hlo-fuzz-XXXXXX",
             directory ? directory : "/tmp");
    check(mkdtemp(sandbox.path) != NULL, sandbox.path);
    sandbox.inside = open(sandbox.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    sandbox.outside = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    sandbox.nowhere = fopen("/dev/null", "w");
    check(sandbox.inside >= 0 && sandbox.outside >= 0 && sandbox.nowhere, sandbox.path);
    atexit(sandbox_end);
}

void sandbox_enter(void)
{
    if (!sandbox.nowhere)
        sandbox_make();
    check(fchdir(sandbox.inside) == 0, sandbox.path);
    silence();
}

void sandbox_leave(void)
{
    restore();
    empty(".");
    check(fchdir(sandbox.outside) == 0, "back");
}

void sandbox_file(const char *name, struct str bytes)
{
    FILE *f = fopen(name, "w");
    if (f) {
        fwrite(bytes.ptr, 1, bytes.len, f);
        fclose(f);
    }
}

struct str cut_input(struct str *rest, char mark)
{
    const char *end = rest->len ? memchr(rest->ptr, mark, rest->len) : NULL;
    struct str first = {rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len};
    size_t used = first.len + (end != NULL);
    rest->ptr += used;
    rest->len -= used;
    return first;
}

char *copy_text(struct str s)
{
    char *text = malloc(s.len + 1);
    check(text != NULL, "memory");
    if (s.len > 0)
        memcpy(text, s.ptr, s.len);
    text[s.len] = '\0';
    return text;
}
