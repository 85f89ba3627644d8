/*
 * Working directory and silenced streams of a fuzz target. The directory is in $TMPDIR or /tmp and
 * is removed when the process ends. Only the streams stdout and stderr are redirected, not their
 * descriptors, so that sanitizer reports are still printed.
 */
#include "fuzz/room.h"

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
} room;

static void check(bool ok, const char *what)
{
    if (ok)
        return;
    perror(what);
    abort();
}

/* Empties the current directory, including subdirectories one level deep. */
static void empty(const char *folder)
{
    DIR *d = opendir(folder);
    struct dirent *e;
    while (d && (e = readdir(d))) {
        char path[512];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (unlink(path) != 0 && strcmp(folder, ".") == 0) {
            empty(path);
            rmdir(path);
        }
    }
    if (d)
        closedir(d);
}

static void room_end(void) { rmdir(room.path); }

static void room_make(void)
{
    const char *folder = getenv("TMPDIR");
    snprintf(room.path, sizeof room.path, "%s/hlo-fuzz-XXXXXX", folder ? folder : "/tmp");
    check(mkdtemp(room.path) != NULL, room.path);
    room.inside = open(room.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    room.outside = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    room.nowhere = fopen("/dev/null", "w");
    check(room.inside >= 0 && room.outside >= 0 && room.nowhere, room.path);
    atexit(room_end);
}

void room_enter(void)
{
    if (!room.nowhere)
        room_make();
    check(fchdir(room.inside) == 0, room.path);
    room.out = stdout;
    room.error = stderr;
    stdout = stderr = room.nowhere;
}

void room_leave(void)
{
    stdout = room.out;
    stderr = room.error;
    empty(".");
    check(fchdir(room.outside) == 0, "back");
}

void room_file(const char *name, struct str bytes)
{
    FILE *f = fopen(name, "w");
    if (f) {
        fwrite(bytes.ptr, 1, bytes.len, f);
        fclose(f);
    }
}

struct str room_cut(struct str *rest, char mark)
{
    const char *end = rest->len ? memchr(rest->ptr, mark, rest->len) : NULL;
    struct str first = {rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len};
    size_t used = first.len + (end != NULL);
    rest->ptr += used;
    rest->len -= used;
    return first;
}

char *room_text(struct str s)
{
    char *text = malloc(s.len + 1);
    check(text != NULL, "memory");
    if (s.len > 0)
        memcpy(text, s.ptr, s.len);
    text[s.len] = '\0';
    return text;
}
