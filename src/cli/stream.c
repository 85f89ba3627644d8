/*
 * Files and pipes of feeds. Each call that could block is preceded by poll, so that a process that
 * never opens, writes or reads its end of a pipe cannot block a run that is over.
 */
#include "cli/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ASK_MS = 20, RETRY_NS = 2000000, READ_BYTES = 1 << 16 };

static bool timed_out(struct wait_policy p) { return p.call ? hlo_feed_stopped(p.call) : p.none; }

/* Waits, for a limited time, until a file can be read or written without blocking or has ended. */
static bool is_ready(int fd, short what, int milliseconds)
{
    struct pollfd p = {.fd = fd, .events = what};
    return poll(&p, 1, milliseconds) > 0;
}

static bool is_pipe(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
}

static bool try_again(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

/* ---- input ---- */

static bool is_item(struct str s)
{
    s = str_trim(s);
    return s.len > 0 && !str_starts(s, STR("//"));
}

bool feed_in_open(struct feed_in *in, const char *path, struct buf *ahead)
{
    *in = (struct feed_in){.path = path, .fd = -1};
    pthread_mutex_init(&in->lock, NULL);
    if (strcmp(path, "-") == 0) {
        in->fd = STDIN_FILENO;
        in->ahead = *ahead;
        *ahead = (struct buf){0};
    } else if (!is_pipe(path)) {
        in->fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    return in->fd >= 0 || is_pipe(path);
}

static void drop_first(struct feed_in *in)
{
    struct line *l = in->first;
    in->first = l->next;
    in->first_at++;
    buf_free(&l->text);
    heap_free(l);
}

/* Removes bytes that have been split into lines. */
static void drop_used(struct feed_in *in)
{
    size_t left = in->ahead.size - in->used;
    if (left > 0 && in->used > 0)
        memmove(in->ahead.data, in->ahead.data + in->used, left);
    in->ahead.size = left;
    in->seen -= in->used;
    in->used = 0;
}

void feed_in_close(struct feed_in *in, struct buf *ahead)
{
    while (in->first)
        drop_first(in);
    if (in->fd == STDIN_FILENO) {
        drop_used(in);
        *ahead = in->ahead;
    } else {
        buf_free(&in->ahead);
        if (in->fd >= 0)
            close(in->fd);
    }
    pthread_mutex_destroy(&in->lock);
}

/* The next complete line of the bytes read; at the end of the file also an incomplete one. */
static bool take_line(struct feed_in *in, struct str *out)
{
    struct buf *b = &in->ahead;
    const char *end =
        in->seen < b->size ? memchr(b->data + in->seen, '\n', b->size - in->seen) : NULL;
    in->seen = b->size;
    if (!end && (!in->ended || in->used == b->size))
        return false;
    *out = (struct str){b->data + in->used, (end ? (size_t)(end - b->data) : b->size) - in->used};
    in->used = in->seen = end ? (size_t)(end - b->data) + 1 : b->size;
    in->number++;
    return true;
}

/* The next line with an item; NULL: not read yet. */
static struct line *next_line(struct feed_in *in)
{
    struct str text;
    while (take_line(in, &text)) {
        struct line *l = is_item(text) ? heap_zalloc(1, sizeof *l) : NULL;
        if (!l)
            continue;
        l->number = in->number;
        l->readers = in->readers;
        buf_str(&l->text, text);
        return l;
    }
    return NULL;
}

static struct line *line_at(struct feed_in *in, size_t at)
{
    struct line **l = &in->first;
    for (size_t k = in->first_at; k < at && *l; k++)
        l = &(*l)->next;
    if (!*l)
        *l = next_line(in);
    return *l;
}

static void end_with(struct feed_in *in, int error)
{
    in->ended = true;
    in->error = error;
}

/* Reads available bytes. False: none yet. A pipe that has not been opened for writing has not
 * ended. */
static bool read_some(struct feed_in *in)
{
    if (in->fd < 0 && (in->fd = open(in->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)) < 0) {
        end_with(in, errno);
        return true;
    }
    if (!is_ready(in->fd, POLLIN, 0))
        return false;
    drop_used(in);
    buf_reserve(&in->ahead, READ_BYTES);
    ssize_t n = read(in->fd, in->ahead.data + in->ahead.size, READ_BYTES);
    if (n < 0 && try_again(errno))
        return false;
    if (n <= 0)
        end_with(in, n < 0 ? errno : 0);
    else
        in->ahead.size += (size_t)n;
    if (file_too_long(in->fd, in->ahead.size)) {
        in->ahead.size = 0;
        end_with(in, EFBIG);
    }
    return true;
}

/* The lock is released while waiting, so that other readers can get lines that have been read. */
struct line *feed_in_line(struct feed_in *in, size_t at, struct wait_policy p, hlo_messages *m)
{
    struct line *l;
    bool stopped = false;
    pthread_mutex_lock(&in->lock);
    while (!(l = line_at(in, at)) && !in->ended && !stopped) {
        if (read_some(in))
            continue;
        int fd = in->fd;
        pthread_mutex_unlock(&in->lock);
        stopped = timed_out(p);
        if (!stopped)
            is_ready(fd, POLLIN, ASK_MS);
        pthread_mutex_lock(&in->lock);
    }
    int error = l ? 0 : in->error;
    pthread_mutex_unlock(&in->lock);
    if (error)
        file_error(m, in->path, "cannot read: %s", file_problem(error));
    return l;
}

void feed_in_done(struct feed_in *in, struct line *l)
{
    pthread_mutex_lock(&in->lock);
    l->readers--;
    while (in->first && in->first->readers == 0)
        drop_first(in);
    pthread_mutex_unlock(&in->lock);
}

/* ---- output ---- */

/* Sets the number of bytes to write at once: unlimited for a regular file, otherwise what a pipe
 * that is ready takes without blocking. */
static void set_most(struct feed_out *out)
{
    struct stat st;
    out->max = fstat(out->fd, &st) == 0 && S_ISREG(st.st_mode) ? SIZE_MAX : PIPE_BUF;
}

bool feed_out_open(struct feed_out *out, const char *path, hlo_messages *m)
{
    *out = (struct feed_out){.path = path, .fd = -1};
    if (strcmp(path, "-") == 0) {
        fflush(stdout); /* output buffered so far comes first */
        out->fd = STDOUT_FILENO;
    } else if (is_pipe(path)) {
        return true;
    } else {
        out->file = hlo_output_open(path, m);
        return out->file != NULL;
    }
    set_most(out);
    return true;
}

/* Also opens and closes a pipe that nothing was written to, so that its reader sees the end of the
 * file. */
bool feed_out_close(struct feed_out *out, bool keep, hlo_messages *m)
{
    hlo_output *file = out->file;
    out->file = NULL;
    if (file)
        return hlo_output_close(file, keep, m);
    if (out->fd < 0 && is_pipe(out->path))
        out->fd = open(out->path, O_WRONLY | O_NONBLOCK);
    if (out->fd >= 0 && out->fd != STDOUT_FILENO)
        close(out->fd);
    out->fd = STDOUT_FILENO; /* keep fclose from closing it again */
    return true;
}

/* Waits until the other end of a pipe is opened. */
static bool open_pipe(struct feed_out *out, struct wait_policy p, hlo_messages *m)
{
    const struct timespec moment = {.tv_nsec = RETRY_NS};
    while ((out->fd = open(out->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0) {
        if (errno != ENXIO && errno != EINTR)
            return file_error(m, out->path, "cannot write: %s", file_problem(errno));
        if (timed_out(p))
            return false;
        nanosleep(&moment, NULL);
    }
    set_most(out);
    return true;
}

bool feed_out_put(struct feed_out *out, struct str text, struct wait_policy p, hlo_messages *m)
{
    if (out->file)
        return hlo_output_put(out->file, text.ptr, text.len, m);
    if (out->fd < 0 && !open_pipe(out, p, m))
        return false;
    while (text.len > 0) {
        ssize_t n = -1;
        errno = EAGAIN;
        if (is_ready(out->fd, POLLOUT, p.none ? 0 : ASK_MS))
            n = write(out->fd, text.ptr, text.len < out->max ? text.len : out->max);
        if (n < 0 && !try_again(errno))
            return file_error(m, out->path, "cannot write: %s", file_problem(errno));
        if (n < 0 && timed_out(p))
            return false;
        if (n > 0)
            text = str_skip(text, (size_t)n);
    }
    return true;
}
