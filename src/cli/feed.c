/*
 * The feeds of a run as files and pipes: literals, one a line; blank lines and `//` comments are passed over.
 *
 * A file for everyone is read by each participant from its beginning, as far as it wants. What
 * several participants write into one file stands there participant by participant; a file of one
 * gets each item at once, so that a program at the other end of a pipe can answer. A named pipe is opened
 * by whoever first wants something of it: opening waits for the other end, which may be opened only when
 * something has come out of another pipe.
 */
#include "cli/arguments.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct line {
    struct line *next;
    uint32_t number;
    size_t readers; /* who still wants it */
    struct buf text;
};

struct feed_in {
    const char *path;
    FILE *f; /* NULL: not open yet */
    uint32_t number; /* of the line read last */
    size_t readers, first_at; /* place of the first line that is kept */
    struct line *first;
};

struct feed_out {
    const char *path;
    FILE *f; /* NULL: not open yet */
    size_t writers;
    struct buf *held; /* by participant, where there are several */
};

struct feed_reader {
    struct feed_in *in; /* NULL: nothing to read */
    size_t at;          /* lines read */
    struct feed_out *out;
};

/* ---- lines ---- */

static bool is_item(struct str s)
{
    s = str_trim(s);
    return s.len > 0 && !str_starts(s, STR("//"));
}

/* The next line of the file that holds an item; NULL at its end. */
static struct line *read_line(struct feed_in *in)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t n;
    struct line *l = NULL;
    while (!l && (n = getline(&text, &room, in->f)) >= 0) {
        in->number++;
        if (!is_item((struct str){text, (size_t)n}))
            continue;
        l = calloc(1, sizeof *l);
        if (!l)
            break;
        l->number = in->number;
        l->readers = in->readers;
        buf_bytes(&l->text, text, (size_t)n);
    }
    free(text);
    return l;
}

static struct line *line_at(struct feed_in *in, size_t at)
{
    struct line **l = &in->first;
    for (size_t k = in->first_at; k < at && *l; k++)
        l = &(*l)->next;
    if (!*l)
        *l = read_line(in);
    return *l;
}

static void drop_first(struct feed_in *in)
{
    struct line *l = in->first;
    in->first = l->next;
    in->first_at++;
    buf_free(&l->text);
    free(l);
}

static bool complain(hlo_messages *m, const char *path, const char *what)
{
    struct buf why = {0};
    buf_printf(&why, "%s: %s", what, strerror(errno));
    hlo_messages_add(m, path, why.data);
    buf_free(&why);
    return false;
}

static hlo_literal *infeed(void *context, size_t participant, hlo_messages *m)
{
    struct feed_files *f = context;
    struct feed_reader *r = &f->readers[participant];
    if (r->in && !r->in->f && !(r->in->f = fopen(r->in->path, "r"))) {
        complain(m, r->in->path, "cannot read");
        return NULL;
    }
    struct line *l = r->in ? line_at(r->in, r->at) : NULL;
    if (!l)
        return NULL;
    hlo_literal *item = hlo_literal_parse(l->text.data, l->text.size, m);
    if (!item) {
        struct buf why = {0};
        buf_printf(&why, "line %" PRIu32 " is no literal", l->number);
        hlo_messages_add(m, r->in->path, why.data);
        buf_free(&why);
    }
    r->at++;
    l->readers--;
    while (r->in->first && r->in->first->readers == 0)
        drop_first(r->in);
    return item;
}

static bool put(struct feed_out *out, struct str text, hlo_messages *m)
{
    if (!out->f)
        out->f = fopen(out->path, "w");
    return (out->f && fwrite(text.ptr, 1, text.len, out->f) == text.len && fflush(out->f) == 0) ||
           complain(m, out->path, "cannot write");
}

static bool outfeed(void *context, size_t participant, const hlo_literal *item, hlo_messages *m)
{
    struct feed_files *f = context;
    struct feed_out *out = f->readers[participant].out;
    if (!out) {
        f->dropped++;
        return true;
    }
    struct buf text = {0};
    put_item(&text, item);
    bool ok = true;
    if (out->held)
        buf_str(&out->held[participant], buf_view(&text));
    else
        ok = put(out, buf_view(&text), m);
    buf_free(&text);
    return ok;
}

/* ---- files ---- */

static bool is_pipe(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
}

static bool open_in(struct feed_files *f, struct feed_in *in, const char *path)
{
    *in = (struct feed_in){.path = path};
    f->in_count++;
    if (!is_pipe(path))
        in->f = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    return in->f || is_pipe(path) || (usage_error(f->o, "cannot read `%s`: %s", path, strerror(errno)), false);
}

/* Who reads what is written here may go away: that is an error as any other, not the end of the process. */
static bool open_out(struct feed_files *f, struct feed_out *out, const char *path)
{
    *out = (struct feed_out){.path = path};
    f->out_count++;
    signal(SIGPIPE, SIG_IGN);
    if (!is_pipe(path))
        out->f = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    return out->f || is_pipe(path) || (usage_error(f->o, "cannot write `%s`: %s", path, strerror(errno)), false);
}

/* A pipe into which nothing was written: whoever waits at its other end shall see that nothing comes. */
static void end_unused(const struct feed_out *out)
{
    int fd = out->f ? -1 : open(out->path, O_WRONLY | O_NONBLOCK);
    if (fd >= 0)
        close(fd);
}

static bool open_for_one(struct feed_files *f, const struct each_option *e)
{
    if (e->id != OPT_INFEED && e->id != OPT_OUTFEED)
        return true;
    if (e->participant >= (int64_t)f->participants) {
        usage_error(f->o, "no participant %" PRId64 "; there are %zu", e->participant, f->participants);
        return false;
    }
    if (e->id == OPT_INFEED) {
        f->readers[e->participant].in = &f->in[f->in_count];
        return open_in(f, &f->in[f->in_count], e->value);
    }
    f->readers[e->participant].out = &f->out[f->out_count];
    return open_out(f, &f->out[f->out_count], e->value);
}

static bool open_all(struct feed_files *f)
{
    const char *in = f->o->value[OPT_INFEED], *out = f->o->value[OPT_OUTFEED];
    for (size_t k = 0; k < f->o->each_count; k++)
        if (!open_for_one(f, &f->o->each[k]))
            return false;
    struct feed_in *common_in = in ? &f->in[f->in_count] : NULL;
    struct feed_out *common_out = out ? &f->out[f->out_count] : NULL;
    if ((in && !open_in(f, common_in, in)) || (out && !open_out(f, common_out, out)))
        return false;
    for (size_t p = 0; p < f->participants; p++) {
        struct feed_reader *r = &f->readers[p];
        if (!r->in)
            r->in = common_in;
        if (!r->out)
            r->out = common_out;
        if (r->in)
            r->in->readers++;
        if (r->out)
            r->out->writers++;
    }
    if (common_out && common_out->writers > 1)
        common_out->held = calloc(f->participants, sizeof(struct buf));
    return true;
}

int feed_open(struct feed_files *f, const struct options *o, size_t participants)
{
    size_t most = o->each_count + 1;
    *f = (struct feed_files){.o = o, .participants = participants, .feeds = {f, infeed, outfeed}};
    f->in = calloc(most, sizeof *f->in);
    f->out = calloc(most, sizeof *f->out);
    f->readers = calloc(participants, sizeof *f->readers);
    if (!f->in || !f->out || !f->readers)
        return HLO_FAILED;
    return open_all(f) ? HLO_OK : HLO_USAGE;
}

bool feed_finish(struct feed_files *f, hlo_messages *m)
{
    bool ok = true;
    for (size_t k = 0; k < f->out_count; k++)
        for (size_t p = 0; f->out[k].held && p < f->participants; p++) {
            char title[64];
            struct buf *held = &f->out[k].held[p];
            int n = snprintf(title, sizeof title, "// participant %zu\n", p);
            if (held->size > 0)
                ok = ok && put(&f->out[k], (struct str){title, (size_t)n}, m) && put(&f->out[k], buf_view(held), m);
        }
    if (f->dropped > 0)
        fprintf(stderr, "hlo: warning: what was given to the host went nowhere (%zu); --outfeed=FILE keeps it\n", f->dropped);
    return ok;
}

void feed_free(struct feed_files *f)
{
    for (size_t k = 0; f->in && k < f->in_count; k++) {
        while (f->in[k].first)
            drop_first(&f->in[k]);
        if (f->in[k].f && f->in[k].f != stdin)
            fclose(f->in[k].f);
    }
    for (size_t k = 0; f->out && k < f->out_count; k++) {
        for (size_t p = 0; f->out[k].held && p < f->participants; p++)
            buf_free(&f->out[k].held[p]);
        free(f->out[k].held);
        end_unused(&f->out[k]);
        if (f->out[k].f && f->out[k].f != stdout)
            fclose(f->out[k].f);
    }
    free(f->in);
    free(f->out);
    free(f->readers);
}
