/*
 * write.c: writes .npy and .npz files, and any other output file. A new file is renamed into place
 * when it is complete, so that no partial file is ever visible; until then it is unnamed, if the
 * system supports that. While a temporary file has a name, termination signals are blocked: they
 * end the writing and then, after cleanup, the process. Pipes and devices are written directly.
 */
#include "io/io.h"

#include "base/oom.h"
#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

struct output {
    FILE *f;
    const char *path;
    char *place;     /* its path with links resolved; NULL: written directly */
    char *temporary; /* path of the temporary file in the same directory */
    bool named;      /* the temporary file has a name */
    bool holds;      /* signals are blocked, besides those in ... */
    sigset_t before;
    bool stopped; /* a termination signal ended the writing */
    uint64_t size;
    struct cleanup dropping; /* removes it if memory runs out */
};

static bool cannot_write(struct diags *ds, const char *path, int error)
{
    return DIAG_ERROR(ds, NO_SPAN, FILE_NOT_WRITTEN, path, strerror(error));
}

/* Whether it is a file that the process inherited open, as /dev/stdout or /dev/fd/3: it must be
 * written to, not replaced. */
static bool is_open(const struct stat *st)
{
    enum { MOST = 64 };
    struct stat open;
    for (int fd = 0; fd < MOST; fd++)
        if (fstat(fd, &open) == 0 && open.st_dev == st->st_dev && open.st_ino == st->st_ino)
            return true;
    return false;
}

/* The path to rename a new file to: that of a new or regular file, with links resolved. NULL: write
 * directly. */
static char *rename_target(const char *path, struct stat *st, bool *exists)
{
    char real[PATH_MAX];
    *exists = lstat(path, st) == 0;
    if (!*exists || S_ISREG(st->st_mode))
        return heap_str(str_of(path));
    bool replaced = S_ISLNK(st->st_mode) && stat(path, st) == 0 && S_ISREG(st->st_mode) &&
                    !is_open(st) && realpath(path, real);
    return replaced ? heap_str(str_of(real)) : NULL;
}

/* ---- signals while a temporary file has a name ---- */

static const int ends[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

static void hold_signals(struct output *o)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t k = 0; k < COUNT_OF(ends); k++)
        sigaddset(&set, ends[k]);
    o->holds = pthread_sigmask(SIG_BLOCK, &set, &o->before) == 0;
}

/* Whether a signal has become pending since they were blocked. */
static bool signal_is_pending(const struct output *o)
{
    sigset_t set;
    sigpending(&set);
    for (size_t k = 0; k < COUNT_OF(ends); k++)
        if (sigismember(&set, ends[k]) && !sigismember(&o->before, ends[k]))
            return true;
    return false;
}

/* ---- the file ---- */

/* Opens an unnamed file in the directory that `path` begins with; -1: not possible. */
static int open_unnamed(const char *path, size_t directory_size)
{
    SCOPED_HEAP char *directory = heap_str((struct str){path, directory_size});
    return system_open_unnamed(*directory ? directory : ".");
}

/* Frees an output; blocked signals are delivered now. */
static void output_free(struct output *o)
{
    heap_free(o->temporary);
    heap_free(o->place);
    if (o->holds)
        pthread_sigmask(SIG_SETMASK, &o->before, NULL);
}

/* A cleanup_fn for the case that memory runs out before the file is complete. */
static void output_drop(void *output)
{
    struct output *o = output;
    fclose(o->f);
    if (o->named)
        unlink(o->temporary);
    output_free(o);
}

static bool is_stdout(const char *path) { return strcmp(path, "-") == 0; }

static bool open_directly(struct diags *ds, const char *path, struct output *o)
{
    const int out = is_stdout(path) ? dup(STDOUT_FILENO) : -1;
    o->f = out >= 0 ? fdopen(out, "wb") : fopen(path, "wb");
    if (o->f)
        oom_push_cleanup(&o->dropping, output_drop, o);
    return o->f || cannot_write(ds, path, errno);
}

/* `lasting`: it will be open for long. Then signals are not blocked, and if an unnamed file is not
 * possible, the file itself is written. */
static bool output_open(struct diags *ds, const char *path, struct output *o, bool lasting)
{
    struct stat st;
    bool exists;
    *o = (struct output){.path = path,
                         .place = is_stdout(path) ? NULL : rename_target(path, &st, &exists)};
    if (!o->place)
        return open_directly(ds, path, o);
    const char *slash = strrchr(o->place, '/');
    size_t directory = slash ? (size_t)(slash + 1 - o->place) : 0;
    struct buf temporary = {0};
    buf_str(&temporary, (struct str){o->place, directory});
    buf_puts(&temporary, ".hlo-XXXXXX");
    o->temporary = temporary.data;
    int fd = open_unnamed(o->place, directory);
    if (fd < 0 && lasting) {
        output_free(o);
        o->place = o->temporary = NULL;
        return open_directly(ds, path, o);
    }
    if (fd < 0) {
        hold_signals(o);
        fd = mkstemp(o->temporary);
        o->named = fd >= 0;
    }
    if (fd >= 0) {
        mode_t mask = umask(0);
        umask(mask);
        fchmod(fd, exists ? st.st_mode & 0777 : 0666 & ~mask);
        o->f = fdopen(fd, "wb");
    }
    if (o->f) {
        oom_push_cleanup(&o->dropping, output_drop, o);
        return true;
    }
    int error = errno;
    if (fd >= 0)
        close(fd);
    if (o->named)
        unlink(o->temporary);
    output_free(o);
    return cannot_write(ds, path, error);
}

/* Links a complete unnamed file to a temporary name, which is then renamed. */
static bool link_name(struct output *o)
{
    int tries = 100;
    hold_signals(o);
    for (; tries > 0; tries--) {
        char *end = o->temporary + strlen(o->temporary) - 6;
        uint64_t word = (uint64_t)now_ns() * 0x9E3779B97F4A7C15u;
        for (int k = 0; k < 6; k++, word >>= 8)
            end[k] = "abcdefghijklmnopqrstuvwxyzABCDEF"[word >> 8 & 31];
        if (system_link_unnamed(fileno(o->f), o->temporary))
            return o->named = true;
        if (errno != EEXIST)
            break;
    }
    return false;
}

static bool output_end(struct diags *ds, struct output *o)
{
    bool failed = fflush(o->f) != 0 || ferror(o->f) != 0 || o->stopped;
    if (!failed && o->place && !o->named)
        failed = !link_name(o);
    int error = o->stopped ? EINTR : failed ? errno : 0;
    if (fclose(o->f) != 0 && !failed) {
        failed = true;
        error = errno;
    }
    if (!failed && o->place && rename(o->temporary, o->place) != 0) {
        failed = true;
        error = errno;
    }
    if (failed && o->named)
        unlink(o->temporary);
    output_free(o);
    return !failed || cannot_write(ds, o->path, error ? error : EIO);
}

static bool output_close(struct diags *ds, struct output *o)
{
    oom_pop_cleanup(&o->dropping);
    return output_end(ds, o);
}

static void put(struct output *o, const void *bytes, size_t size)
{
    enum { PIECE = 1 << 24 };
    for (size_t at = 0; at < size && !o->stopped; at += PIECE) {
        size_t left = size - at;
        o->size += fwrite((const char *)bytes + at, 1, left < PIECE ? left : PIECE, o->f);
        o->stopped = o->holds && signal_is_pending(o);
    }
}

/* ---- incremental writing ---- */

struct io_output {
    struct output to;
    bool failed; /* a failure has been reported */
};

static void release_output(struct tracked *t)
{
    struct io_output *o = heap_block(t);
    fclose(o->to.f);
    heap_free(o);
}

struct io_output *io_output_open(struct diags *ds, const char *path)
{
    struct io_output *o = heap_zalloc(1, sizeof *o);
    char *kept = heap_str(str_of(path));
    if (!output_open(ds, kept, &o->to, true)) {
        heap_free(kept);
        heap_free(o);
        return NULL;
    }
    oom_pop_cleanup(&o->to.dropping);
    heap_on_oom(o, release_output);
    return o;
}

bool io_output_put(struct diags *ds, struct io_output *o, struct str bytes)
{
    if (o->failed)
        return false;
    put(&o->to, bytes.ptr, bytes.len);
    o->failed = fflush(o->to.f) != 0;
    return !o->failed || cannot_write(ds, o->to.path, errno);
}

static void free_output(struct io_output *o)
{
    heap_free((char *)(uintptr_t)o->to.path);
    heap_free(o);
}

void io_output_drop(struct io_output *o)
{
    heap_on_oom(o, NULL);
    fclose(o->to.f);
    output_free(&o->to);
    free_output(o);
}

bool io_output_close(struct diags *ds, struct io_output *o, bool keep)
{
    bool failed = o->failed;
    if (failed || (!keep && o->to.place)) {
        io_output_drop(o);
        return !failed;
    }
    heap_on_oom(o, NULL);
    bool ok = output_end(ds, &o->to);
    free_output(o);
    return ok;
}

/* ---- writing at once ---- */

bool io_write_parts(struct diags *ds, const char *path, const struct str *parts, size_t count)
{
    struct output o;
    if (!output_open(ds, path, &o, false))
        return false;
    for (size_t k = 0; k < count; k++)
        put(&o, parts[k].ptr, parts[k].len);
    return output_close(ds, &o);
}

bool io_write_bytes(struct diags *ds, const char *path, struct str bytes)
{
    return io_write_parts(ds, path, &bytes, 1);
}

static struct str storage_of(const struct literal *l)
{
    int64_t size = 0;
    shape_bytes(l->shape, &size);
    return (struct str){l->data, (size_t)size};
}

bool io_write_raw(struct diags *ds, const char *path, const struct literal *l)
{
    return io_write_bytes(ds, path, storage_of(l));
}

bool io_write_npy(struct diags *ds, const char *path, const struct literal *l)
{
    SCOPED_BUF header = {0};
    io_npy_header(&header, l->shape);
    return io_write_parts(ds, path, (struct str[]){buf_view(&header), storage_of(l)}, 2);
}

/* ---- zip ---- */

static void le(struct buf *b, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        buf_putc(b, (char)(v >> 8 * i));
}

static uint32_t low32(uint64_t v) { return v >= UINT32_MAX ? UINT32_MAX : (uint32_t)v; }

struct zip {
    struct output o;
    struct buf directory;
    uint64_t count;
};

/* Writes the fields common to the local header and the directory record: from version to checksum
 * and sizes. */
static void put_common(struct buf *b, uint32_t crc, uint64_t size, size_t name, size_t extra)
{
    le(b, extra ? 45 : 20, 2); /* version needed: zip64 */
    le(b, 0, 2);               /* flags */
    le(b, 0, 2);               /* stored */
    le(b, 0x00210000, 4);      /* 1980-01-01, for reproducible output */
    le(b, crc, 4);
    le(b, low32(size), 4);
    le(b, low32(size), 4);
    le(b, name, 2);
    le(b, extra, 2);
}

static void put_member(struct zip *z, struct str name, struct str header, struct str data)
{
    uint64_t size = header.len + data.len, offset = z->o.size;
    bool wide = size >= UINT32_MAX, far = offset >= UINT32_MAX;
    uint32_t crc = (uint32_t)crc32_z(crc32_z(0, (const Bytef *)header.ptr, header.len),
                                     (const Bytef *)data.ptr, data.len);
    SCOPED_BUF local = {0};
    le(&local, 0x04034b50, 4);
    put_common(&local, crc, size, name.len, wide ? 20 : 0);
    buf_str(&local, name);
    if (wide) {
        le(&local, 1, 2), le(&local, 16, 2);
        le(&local, size, 8), le(&local, size, 8);
    }
    put(&z->o, local.data, local.size);
    put(&z->o, header.ptr, header.len);
    put(&z->o, data.ptr, data.len);

    struct buf *d = &z->directory;
    unsigned extra = (wide ? 16u : 0u) + (far ? 8u : 0u);
    le(d, 0x02014b50, 4);
    le(d, 3 << 8 | 45, 2); /* made by: Unix */
    put_common(d, crc, size, name.len, extra ? extra + 4 : 0);
    le(d, 0, 2), le(d, 0, 2), le(d, 0, 2); /* comment, disk, internal attributes */
    le(d, (uint64_t)0600 << 16, 4);
    le(d, low32(offset), 4);
    buf_str(d, name);
    if (extra) {
        le(d, 1, 2), le(d, extra, 2);
        if (wide)
            le(d, size, 8), le(d, size, 8);
        if (far)
            le(d, offset, 8);
    }
    z->count++;
}

/* Writes the directory and closes the file; false: the file could not be written. */
static bool close_zip(struct diags *ds, struct zip *z)
{
    uint64_t at = z->o.size, size = z->directory.size;
    SCOPED_BUF b = {0};
    buf_str(&b, buf_view(&z->directory));
    if (z->count >= UINT16_MAX || at >= UINT32_MAX || size >= UINT32_MAX) {
        le(&b, 0x06064b50, 4), le(&b, 44, 8);
        le(&b, 3 << 8 | 45, 2), le(&b, 45, 2), le(&b, 0, 4), le(&b, 0, 4);
        le(&b, z->count, 8), le(&b, z->count, 8), le(&b, size, 8), le(&b, at, 8);
        le(&b, 0x07064b50, 4), le(&b, 0, 4), le(&b, at + size, 8), le(&b, 1, 4);
    }
    uint64_t count = z->count >= UINT16_MAX ? UINT16_MAX : z->count;
    le(&b, 0x06054b50, 4), le(&b, 0, 4);
    le(&b, count, 2), le(&b, count, 2), le(&b, low32(size), 4), le(&b, low32(at), 4), le(&b, 0, 2);
    put(&z->o, b.data, b.size);
    buf_free(&z->directory);
    return output_close(ds, &z->o);
}

static void put_array(struct zip *z, struct str name, const struct shape *s, struct str data)
{
    SCOPED_BUF header = {0};
    io_npy_header(&header, s);
    put_member(z, name, buf_view(&header), data);
}

/* Writes the leaves of a value; their names end in `@participant` unless that is negative. */
static void put_leaves(struct zip *z, const char *prefix, int64_t participant,
                       const struct literal *l, int64_t *leaf)
{
    if (shape_is_tuple(l->shape)) {
        for (int i = 0; i < l->shape->count; i++)
            put_leaves(z, prefix, participant, l->elements[i], leaf);
        return;
    }
    SCOPED_BUF name = {0};
    buf_printf(&name, "%s%" PRId64, prefix, (*leaf)++);
    if (participant >= 0)
        buf_printf(&name, "@%" PRId64, participant);
    buf_puts(&name, ".npy");
    if (shape_is_array(l->shape))
        put_array(z, buf_view(&name), l->shape, storage_of(l));
}

bool io_write_npz(struct diags *ds, const char *path, const char *prefix,
                  const struct literal *const *l, int64_t count)
{
    struct zip z = {0};
    if (!output_open(ds, path, &z.o, false))
        return false;
    for (int64_t k = 0; k < count; k++) {
        int64_t leaf = 0;
        put_leaves(&z, prefix, count > 1 ? k : -1, l[k], &leaf);
    }
    return close_zip(ds, &z);
}

bool io_write_npz_named(struct diags *ds, const char *path, const char *const *names,
                        const struct literal *const *l, size_t count)
{
    struct zip z = {0};
    if (!output_open(ds, path, &z.o, false))
        return false;
    for (size_t k = 0; k < count; k++) {
        SCOPED_BUF name = {0};
        buf_printf(&name, "%s.npy", names[k]);
        put_array(&z, buf_view(&name), l[k]->shape, storage_of(l[k]));
    }
    return close_zip(ds, &z);
}

/* ---- bundles ---- */

static void put_text(struct zip *z, const char *name, struct str text)
{
    const struct shape bytes = {
        .dtype = DT_U8, .rank = 1, .dims = (const int64_t[]){(int64_t)text.len}};
    put_array(z, str_of(name), &bytes, text);
}

bool io_write_bundle(struct diags *ds, const char *path, const struct io_bundle *b)
{
    struct zip z = {0};
    if (!output_open(ds, path, &z.o, false))
        return false;
    put_text(&z, "module.npy", b->text);
    for (int64_t p = 0; p < b->participants; p++) {
        const int64_t number = b->participants > 1 ? p : -1;
        int64_t leaf = 0;
        for (int64_t k = 0; k < b->count; k++)
            if (b->args[p * b->count + k])
                put_leaves(&z, "arg", number, b->args[p * b->count + k], &leaf);
        leaf = 0;
        if (b->results[p])
            put_leaves(&z, "out", number, b->results[p], &leaf);
    }
    return close_zip(ds, &z);
}
