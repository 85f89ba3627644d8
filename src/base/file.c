/*
 * file.c: whole files in memory: read, or mapped if they are large regular files.
 *
 * Text, and anything else that is examined more than once, must be read, not mapped: another
 * program may modify the file between a check and its use.
 */
#include "base/oom.h"
#include "base/mapped.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAP_FROM = 64 * 1024 }; /* for smaller files, reading is cheaper than page faults */

/* Limits on what is read into memory: offsets in texts have 32 bits, and a pipe or device may be
 * endless. */
static const size_t FILE_MAX = UINT32_MAX - (size_t)1, STREAM_MAX = (size_t)1 << 30,
                    DEVICE_MAX = (size_t)16 << 20;

static size_t size_limit(int fd)
{
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return STREAM_MAX;
    return S_ISREG(st.st_mode)                  ? FILE_MAX
           : S_ISCHR(st.st_mode) && !isatty(fd) ? DEVICE_MAX
                                                : STREAM_MAX;
}

const char *file_problem(int error)
{
    return error == EFBIG ? "input too long (limits: file 4 GiB, pipe 1 GiB, device 16 MiB)"
                          : strerror(error);
}

static bool read_all(int fd, size_t guess, size_t max, struct file_bytes *out)
{
    size_t size = 0, capacity = guess + 1;
    if (guess > max) {
        errno = EFBIG;
        return false;
    }
    char *data = heap_alloc(capacity);
    for (;;) {
        ssize_t n = read(fd, data + size, capacity - size);
        if (n == 0) {
            *out = (struct file_bytes){.data = data, .size = size};
            return true;
        }
        if (n < 0 && errno != EINTR)
            break;
        size += n > 0 ? (size_t)n : 0;
        if (size > max) {
            errno = EFBIG;
            break;
        }
        if (size < capacity)
            continue;
        capacity *= 2;
        data = heap_grow(data, capacity);
    }
    int saved = errno;
    heap_free(data);
    errno = saved;
    return false;
}

/* A mapping without an owner; unmapped if memory runs out before it gets one. */
struct mapping {
    struct tracked tracked;
    void *at;
    size_t size;
};

static void unmap(struct tracked *t)
{
    struct mapping *m = (struct mapping *)(void *)t;
    munmap(m->at, m->size);
    free(m);
}

static bool map_all(int fd, size_t size, struct file_bytes *out)
{
    struct mapping *m = malloc(sizeof *m);
    void *data = m ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (data == MAP_FAILED)
        return free(m), false;
    *m = (struct mapping){.tracked = {.on_oom = unmap}, .at = data, .size = size};
    oom_track(&m->tracked, oom_innermost());
    *out = (struct file_bytes){data, size, m};
    return true;
}

static bool file_load(int fd, bool may_map, struct file_bytes *out)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return false;
    size_t size = S_ISREG(st.st_mode) && st.st_size > 0 ? (size_t)st.st_size : 0;
    if (may_map && size >= MAP_FROM && map_all(fd, size, out))
        return true;
    return read_all(fd, size ? size : 4096, size_limit(fd), out);
}

static void close_fd(void *fd) { close(*(int *)fd); }

static bool file_open(const char *path, bool may_map, struct file_bytes *out)
{
    if (strcmp(path, "-") == 0)
        return file_load(STDIN_FILENO, may_map, out);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct cleanup closing;
    if (fd < 0)
        return false;
    oom_push_cleanup(&closing, close_fd, &fd);
    bool ok = file_load(fd, may_map, out);
    oom_pop_cleanup(&closing);
    int saved = errno;
    close(fd);
    errno = saved;
    return ok;
}

bool file_read(const char *path, struct file_bytes *out) { return file_open(path, false, out); }

bool file_map(const char *path, struct file_bytes *out) { return file_open(path, true, out); }

void file_release(struct file_bytes *f)
{
    if (f->mapping) {
        oom_untrack(&f->mapping->tracked);
        unmap(&f->mapping->tracked);
    } else {
        heap_free((void *)(uintptr_t)f->data);
    }
    *f = (struct file_bytes){0};
}

struct shared_file {
    struct owner owner;
    struct file_bytes file;
};

static void release_shared(struct owner *o)
{
    struct shared_file *s = (struct shared_file *)(void *)o;
    file_release(&s->file);
    heap_free(s);
}

struct owner *file_share(struct file_bytes *f)
{
    struct shared_file *s = f->mapping ? heap_alloc(sizeof *s) : NULL;
    if (!s)
        return NULL;
    owner_init(&s->owner, release_shared);
    s->file = *f;
    *f = (struct file_bytes){0};
    return &s->owner;
}

enum file_line file_line(FILE *f, struct buf *out)
{
    const size_t before = out->size, max = size_limit(fileno(f));
    int c;
    while (out->size < max && (c = getc(f)) != EOF) {
        buf_putc(out, (char)c);
        if (c == '\n')
            return FILE_LINE;
    }
    return out->size == max ? FILE_ENDLESS : out->size > before ? FILE_LINE : FILE_END;
}

bool file_is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool file_starts_with(const char *path, struct str with)
{
    char bytes[16];
    struct stat st;
    const int fd =
        stat(path, &st) == 0 && S_ISREG(st.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    const ssize_t n =
        fd >= 0 ? read(fd, bytes, with.len < sizeof bytes ? with.len : sizeof bytes) : -1;
    if (fd >= 0)
        close(fd);
    return n == (ssize_t)with.len && memcmp(bytes, with.ptr, with.len) == 0;
}

bool file_too_long(int fd, size_t size) { return size > DEVICE_MAX && size > size_limit(fd); }

static void close_directory(void *directory) { closedir(directory); }

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool directory_names(struct arena *a, const char *path, const char ***names, size_t *count)
{
    size_t capacity = 0;
    struct cleanup closing;
    struct dirent *e;
    DIR *directory = opendir(path);
    *names = NULL;
    *count = 0;
    if (!directory)
        return false;
    oom_push_cleanup(&closing, close_directory, directory);
    while ((e = readdir(directory)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            VEC_PUSH(a, *names, *count, capacity) = arena_str(a, str_of(e->d_name)).ptr;
    oom_pop_cleanup(&closing);
    closedir(directory);
    if (*count > 1)
        qsort(*names, *count, sizeof **names, by_name);
    return true;
}
