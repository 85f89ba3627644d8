/*
 * Writes the value of each instruction to DIR/NNNN.NAME.npy, with suffixes .0, .1, ... for leaves
 * of tuples, and an index to DIR/index.csv.
 */
#include "cli/trace.h"

#include <errno.h>
#include <sys/stat.h>

struct dump {
    const char *directory;
    FILE *index;
};

static bool cannot_write(const char *path, hlo_messages *m)
{
    return file_error(m, path, "cannot write: %s", strerror(errno));
}

struct dump *dump_open(const char *directory, hlo_messages *m)
{
    SCOPED_BUF path = {0};
    struct dump *d = heap_zalloc(1, sizeof *d);
    buf_printf(&path, "%s/index.csv", directory);
    if (mkdir(directory, 0777) == 0 || errno == EEXIST) {
        d->directory = directory;
        d->index = fopen(path.data, "w");
    }
    if (!d->index) {
        cannot_write(path.data, m);
        heap_free(d);
        d = NULL;
    } else {
        fputs("file,number,participant,name,op,shape,computation,loop,line,where,seconds,elements,"
              "min,max,mean,nan,inf,zero\n",
              d->index);
    }
    return d;
}

/* Writes a file name for an instruction: characters other than letters, digits, dots, dashes and
 * underscores, which could lead out of the directory, are replaced. Names beyond the system's limit
 * are truncated; the number keeps them unique. */
static void put_file_name(struct buf *out, const struct tracing *t, const struct traced *i)
{
    enum { MAX_NAME_LENGTH = 200 };
    buf_printf(out, "%04" PRIu64 ".", i->event->number);
    const char *end = i->inst.name + strnlen(i->inst.name, MAX_NAME_LENGTH);
    for (const char *c = i->inst.name; c < end; c++)
        buf_putc(out, *c == '/' || (unsigned char)*c < ' ' ? '_' : *c);
    if (t->participants > 1)
        buf_printf(out, "@%zu", i->event->participant);
}

static void put_number(struct buf *out, double v)
{
    buf_g(out, v, 9);
    buf_putc(out, ',');
}

static void put_row(struct buf *out, const char *file, const struct tracing *t,
                    const struct traced *i, const hlo_literal *l)
{
    const struct hlo_stats s = hlo_literal_stats(l);
    SCOPED_TEXT shape = hlo_literal_shape(l);
    SCOPED_BUF loop = {0};
    put_iterations(&loop, t, i->event);
    put_csv_field(out, file);
    buf_printf(out, "%" PRIu64 ",%zu,", i->event->number, i->event->participant);
    put_csv_field(out, i->inst.name);
    put_csv_field(out, i->inst.op);
    put_csv_field(out, shape.data);
    put_csv_field(out, i->computation);
    put_csv_field(out, loop.size ? loop.data : "");
    buf_printf(out, "%" PRIu32 ",", i->inst.line);
    put_csv_field(out, i->inst.where);
    put_number(out, i->event->seconds);
    buf_printf(out, "%" PRIu64 ",", s.elements);
    put_number(out, s.min);
    put_number(out, s.max);
    put_number(out, s.mean);
    buf_printf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", s.nan, s.positive_inf + s.negative_inf,
               s.zero);
}

/* Writes the leaves of a value. `name` is the file name without its suffix; component numbers are
 * appended. */
static bool dump_leaves(struct dump *d, const struct tracing *t, const struct traced *i,
                        const hlo_literal *l, struct buf *name, hlo_messages *m)
{
    const size_t size = name->size, count = hlo_literal_count(l);
    bool ok = true;
    for (size_t k = 0; k < count && ok; k++) {
        buf_printf(name, ".%zu", k);
        ok = dump_leaves(d, t, i, hlo_literal_element(l, k), name, m);
        name->size = size;
    }
    if (count > 0 || hlo_literal_leaves(l) == 0) /* a token has no array */
        return ok;
    SCOPED_BUF path = {0}, row = {0};
    buf_printf(&path, "%s/" STR_FMT ".npy", d->directory, STR_ARG(buf_view(name)));
    put_row(&row, path.data + strlen(d->directory) + 1, t, i, l);
    ok = hlo_write_npy(path.data, l, m);
    fwrite(row.data, 1, row.size, d->index);
    return ok;
}

bool dump_value(struct dump *d, const struct tracing *t, const struct traced *i, hlo_messages *m)
{
    SCOPED_BUF name = {0};
    put_file_name(&name, t, i);
    return dump_leaves(d, t, i, i->value, &name, m);
}

bool dump_close(struct dump *d, hlo_messages *m)
{
    bool ok = fflush(d->index) == 0 && !ferror(d->index);
    if (fclose(d->index) != 0 || !ok)
        ok = cannot_write(d->directory, m);
    heap_free(d);
    return ok;
}
