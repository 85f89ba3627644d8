/*
 * Feeds of a run from and to files and pipes: one literal per line; blank lines and `//` comments
 * are skipped.
 *
 * A file for all participants is read by each from its beginning. Output of several participants
 * to one file is sorted by participant; output of a single participant is written immediately, so
 * that the process at the other end of a pipe can respond. A named pipe is opened when its first
 * item is read: open blocks until the other end is opened, and that process may first wait for the
 * output of another pipe.
 */
#include "cli/arguments.h"
#include "cli/stream.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

struct feed_reader {
    struct feed_in *in; /* NULL: no infeed */
    size_t at;          /* lines read */
    struct feed_out *out;
};

/* ---- callbacks ---- */

static hlo_literal *infeed(void *context, size_t participant, const hlo_feed_call *call,
                           hlo_messages *m)
{
    struct feed_files *f = context;
    struct feed_reader *r = &f->readers[participant];
    struct line *l =
        r->in ? feed_in_line(r->in, r->at, (struct wait_policy){.call = call}, m) : NULL;
    if (!l)
        return NULL;
    hlo_literal *item = hlo_literal_parse(l->text.data, l->text.size, m);
    if (!item)
        file_error(m, r->in->path, "line %" PRIu32 " is not a literal", l->number);
    r->at++;
    feed_in_done(r->in, l);
    return item;
}

static bool outfeed(void *context, size_t participant, const hlo_literal *item,
                    const hlo_feed_call *call, hlo_messages *m)
{
    struct feed_files *f = context;
    struct feed_out *out = f->readers[participant].out;
    if (!out) {
        f->dropped++;
        return true;
    }
    SCOPED_BUF text = {0};
    put_item(&text, item);
    bool ok = true;
    if (out->held)
        buf_str(&out->held[participant], buf_view(&text));
    else
        ok = feed_out_put(out, buf_view(&text), (struct wait_policy){.call = call}, m);
    return ok;
}

/* ---- files ---- */

static bool open_in(struct feed_files *f, struct feed_in *in, const char *path)
{
    f->in_count++;
    return feed_in_open(in, path, f->ahead) ||
           (usage_error(f->o, "cannot read '%s': %s", path, strerror(errno)), false);
}

/* A closed pipe is reported as an error (EPIPE) instead of ending the process by SIGPIPE. Standard
 * output keeps the default action. */
static bool open_out(struct feed_files *f, struct feed_out *out, const char *path)
{
    f->out_count++;
    if (strcmp(path, "-") != 0)
        signal(SIGPIPE, SIG_IGN);
    return feed_out_open(out, path, f->m);
}

static bool open_for_one(struct feed_files *f, const struct each_option *e)
{
    if (e->id != OPT_INFEED && e->id != OPT_OUTFEED)
        return true;
    if (e->participant >= (int64_t)f->participants) {
        usage_error(f->o, "no participant %" PRId64 "; there are %zu", e->participant,
                    f->participants);
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
        common_out->held = heap_zalloc(f->participants, sizeof(struct buf));
    return true;
}

int feed_open(struct feed_files *f, const struct arguments *a)
{
    size_t max = a->o->each_count + 1;
    *f = (struct feed_files){.o = a->o,
                             .ahead = a->ahead,
                             .m = a->m,
                             .participants = a->participants,
                             .feeds = {sizeof f->feeds, f, infeed, outfeed}};
    f->in = heap_zalloc(max, sizeof *f->in);
    f->out = heap_zalloc(max, sizeof *f->out);
    f->readers = heap_zalloc(f->participants, sizeof *f->readers);
    return open_all(f) ? HLO_OK : HLO_USAGE;
}

bool feed_finish(struct feed_files *f, bool wait, hlo_messages *m)
{
    bool ok = true;
    const struct wait_policy p = {.none = !wait};
    for (size_t k = 0; k < f->out_count; k++)
        for (size_t n = 0; f->out[k].held && n < f->participants; n++) {
            char title[64];
            struct buf *held = &f->out[k].held[n];
            int size = snprintf(title, sizeof title, "// participant %zu\n", n);
            if (held->size > 0)
                ok = ok && feed_out_put(&f->out[k], (struct str){title, (size_t)size}, p, m) &&
                     feed_out_put(&f->out[k], buf_view(held), p, m);
        }
    for (size_t k = 0; k < f->out_count; k++)
        ok = feed_out_close(&f->out[k], true, m) && ok;
    if (f->dropped > 0) {
        fflush(stdout); /* results come first, with any buffering */
        fprintf(stderr,
                "hlo: warning: %zu outfeed item(s) discarded; use --outfeed=FILE to keep them\n",
                (size_t)f->dropped);
    }
    return ok;
}

void feed_free(struct feed_files *f)
{
    for (size_t k = 0; f->in && k < f->in_count; k++)
        feed_in_close(&f->in[k], f->ahead);
    for (size_t k = 0; f->out && k < f->out_count; k++) {
        for (size_t p = 0; f->out[k].held && p < f->participants; p++)
            buf_free(&f->out[k].held[p]);
        heap_free(f->out[k].held);
        feed_out_close(&f->out[k], false, f->m);
    }
    heap_free(f->in);
    heap_free(f->out);
    heap_free(f->readers);
}
