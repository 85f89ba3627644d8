/*
 * repl/history: the history of entries, in memory and in its file.
 */
#include "repl/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LONGEST_ENTRY = 1 << 16,
    FILE_SLACK = 2, /* the file is rewritten when it has this many times HISTORY_LIMIT lines */
};

/* ---- in memory ---- */

static void forget(struct history *h, size_t i)
{
    buf_free(&h->entries[i]);
    h->count--;
    memmove(h->entries + i, h->entries + i + 1, (h->count - i) * sizeof *h->entries);
}

static void remember(struct history *h, struct str entry)
{
    for (size_t i = h->count; i-- > 0;)
        if (str_eq(buf_view(&h->entries[i]), entry)) {
            forget(h, i);
            break;
        }
    if (h->count == HISTORY_LIMIT)
        forget(h, 0);
    if (h->count == h->capacity) {
        size_t capacity = h->capacity ? h->capacity * 2 : 64;
        struct buf *grown = heap_grow(h->entries, capacity * sizeof *grown);
        h->entries = grown;
        h->capacity = capacity;
    }
    struct buf *b = &h->entries[h->count++];
    *b = (struct buf){0};
    buf_str(b, entry);
}

static bool worth_keeping(struct str entry)
{
    return str_trim(entry).len > 0 && !char_is_blank(entry.ptr[0]) && entry.len <= LONGEST_ENTRY &&
           !memchr(entry.ptr, 0, entry.len);
}

/* ---- in the file ---- */

static void put_escaped(struct buf *out, struct str entry)
{
    for (size_t i = 0; i < entry.len; i++) {
        char c = entry.ptr[i];
        if (c == '\n' || c == '\\') {
            buf_putc(out, '\\');
            c = c == '\n' ? 'n' : '\\';
        }
        buf_putc(out, c);
    }
    buf_putc(out, '\n');
}

static void read_line_of_file(struct history *h, struct str line)
{
    SCOPED_BUF entry = {0};
    for (size_t i = 0; i < line.len; i++) {
        char c = line.ptr[i];
        if (c == '\\' && i + 1 < line.len)
            c = line.ptr[++i] == 'n' ? '\n' : line.ptr[i];
        buf_putc(&entry, c);
    }
    if (worth_keeping(buf_view(&entry)))
        remember(h, buf_view(&entry));
}

/* Returns the number of lines. */
static size_t read_all(struct history *h, struct str text)
{
    size_t lines = 0;
    while (text.len > 0) {
        read_line_of_file(h, str_cut(&text, '\n'));
        lines++;
    }
    return lines;
}

static bool write_all(int fd, struct str s)
{
    while (s.len > 0) {
        ssize_t n = write(fd, s.ptr, s.len);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0)
            s = str_skip(s, (size_t)n);
    }
    return true;
}

/* Creates the directories of the path, accessible to the user only. Failures are detected when the
 * file is opened. */
static void make_directories(const char *path)
{
    char *copy = heap_str(str_of(path));
    for (char *slash = copy; (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        mkdir(copy, 0700);
        *slash = '/';
    }
    heap_free(copy);
}

/* Opens or creates the file, locked until it is closed; -1 with errno. */
static int open_locked(const char *path)
{
    int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
    if (fd < 0 && errno == ENOENT) {
        make_directories(path);
        fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
    }
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return fd;
    if (S_ISREG(st.st_mode)) {
        if (st.st_mode & 077)
            fchmod(fd, 0600); /* fails for a file of another user, which keeps its mode */
        while (flock(fd, LOCK_EX) != 0 && errno == EINTR)
            continue;
    }
    return fd;
}

static bool is_regular(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* Removes duplicates and old entries. Rewrites the file in place, since others may have it open or
 * wait for its lock. */
static void shorten(const struct history *h, int fd)
{
    SCOPED_BUF text = {0};
    for (size_t i = 0; i < h->count; i++)
        put_escaped(&text, buf_view(&h->entries[i]));
    if (ftruncate(fd, 0) == 0)
        write_all(fd, buf_view(&text));
}

static void load(struct history *h)
{
    struct file_bytes bytes;
    int fd = open_locked(h->path);
    if (fd >= 0 && is_regular(fd) && file_read(h->path, &bytes)) {
        size_t lines = read_all(h, (struct str){bytes.data, bytes.size});
        file_release(&bytes);
        if (lines > FILE_SLACK * HISTORY_LIMIT)
            shorten(h, fd);
    }
    if (fd >= 0)
        close(fd);
}

/* False if an earlier session was killed in the middle of a line. */
static bool ends_a_line(int fd)
{
    struct stat st;
    char last = '\n';
    return fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0 ||
           pread(fd, &last, 1, st.st_size - 1) != 1 || last == '\n';
}

static bool append(const struct history *h, struct str entry)
{
    int fd = open_locked(h->path);
    if (fd < 0)
        return false;
    SCOPED_BUF line = {0};
    if (!ends_a_line(fd))
        buf_putc(&line, '\n');
    put_escaped(&line, entry);
    bool ok = write_all(fd, buf_view(&line));
    int error = errno;
    close(fd);
    errno = error;
    return ok;
}

/* ---- memory and file ---- */

void history_path(struct buf *out)
{
    const char *own = getenv("HLO_HISTORY"), *state = getenv("XDG_STATE_HOME"),
               *home = getenv("HOME");
    out->size = 0;
    if (own)
        buf_puts(out, own);
    else if (state && *state == '/')
        buf_printf(out, "%s/hlo/history", state);
    else if (home && *home)
        buf_printf(out, "%s/.local/state/hlo/history", home);
}

void history_open(struct history *h, const char *path)
{
    *h = (struct history){0};
    if (path && *path)
        h->path = heap_str(str_of(path));
    if (h->path)
        load(h);
}

void history_close(struct history *h)
{
    for (size_t i = 0; i < h->count; i++)
        buf_free(&h->entries[i]);
    heap_free(h->entries);
    heap_free(h->path);
    *h = (struct history){0};
}

bool history_add(struct history *h, struct str entry)
{
    if (!worth_keeping(entry))
        return true;
    bool again = h->count > 0 && str_eq(buf_view(&h->entries[h->count - 1]), entry);
    if (again)
        return true;
    remember(h, entry);
    return !h->path || append(h, entry);
}
