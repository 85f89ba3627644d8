/*
 * Feeds of a golden test: `infeed:` directives are the input items, `outfeed:` directives the
 * expected output items, in order. Directives without a participant apply to all participants that
 * have none of their own.
 */
#include "cli/golden.h"

#include <stdlib.h>

static hlo_literal *take_in(void *context, size_t participant, const hlo_feed_call *call,
                            hlo_messages *m)
{
    struct golden_feed *f = context;
    const struct directive *d =
        directive_of(&f->r->g.infeed, (int64_t)participant, f->read[participant]);
    if (!d)
        return NULL;
    f->read[participant]++;
    return hlo_literal_parse(d->text.ptr, d->text.len, m);
}

static bool take_out(void *context, size_t participant, const hlo_literal *item,
                     const hlo_feed_call *call, hlo_messages *m)
{
    struct golden_feed *f = context;
    put_item(&f->written[participant], item);
    return true;
}

void golden_feed_begin(struct golden_feed *f, struct golden_run *r, size_t participants)
{
    *f = (struct golden_feed){
        .r = r, .count = participants, .feeds = {sizeof f->feeds, f, take_in, take_out}};
    f->read = ARENA_ARRAY(r->arena, size_t, participants);
    f->written = ARENA_ARRAY(r->arena, struct buf, participants);
}

void golden_feed_end(struct golden_feed *f)
{
    for (size_t p = 0; p < f->count; p++)
        buf_free(&f->written[p]);
}

static bool same_item(struct golden_feed *f, struct str got, const struct directive *d,
                      hlo_messages *m)
{
    SCOPED_TEXT why = {0};
    SCOPED_LITERAL *a = hlo_literal_parse(got.ptr, got.len, m),
                   *b = hlo_literal_parse(d->text.ptr, d->text.len, m);
    bool same = a && b && hlo_literal_compare(a, b, &f->r->g.tolerance, &why);
    if (!same)
        golden_fail(f->r, d->line, "outfeed item: " STR_FMT "%s%s", STR_ARG(got),
                    why.data ? ": " : "", why.data ? why.data : "");
    return same;
}

/* Compares the outfeed items of a participant with its directives; false if they differ. */
static bool check_participant(struct golden_feed *f, size_t p, hlo_messages *m)
{
    const struct directives *expected = &f->r->g.outfeed;
    struct str rest = buf_view(&f->written[p]);
    size_t n = 0;
    bool ok = true;
    for (; rest.len > 0; n++) {
        const struct str got = str_cut(&rest, '\n');
        const struct directive *d = directive_of(expected, (int64_t)p, n);
        if (!d)
            golden_fail(f->r, f->r->g.test.at[0].line, "unexpected outfeed item: " STR_FMT,
                        STR_ARG(got));
        ok = d && same_item(f, got, d, m) && ok;
    }
    const struct directive *missing = directive_of(expected, (int64_t)p, n);
    if (missing)
        golden_fail(f->r, missing->line, "missing outfeed item of participant %zu", p);
    return ok && !missing;
}

static void propose(struct golden_feed *f)
{
    const struct directives *old = &f->r->g.outfeed;
    SCOPED_BUF b = {0};
    for (size_t p = 0; p < f->count; p++)
        for (struct str rest = buf_view(&f->written[p]); rest.len > 0;) {
            const struct str item = str_cut(&rest, '\n');
            buf_puts(&b, "// outfeed");
            if (f->count > 1)
                buf_printf(&b, "@%zu", p);
            buf_printf(&b, ": " STR_FMT "\n", STR_ARG(item));
        }
    for (size_t i = 0; i < old->count; i++)
        golden_propose(f->r, old->at[i].line, old->at[i].last_line,
                       i == 0 ? buf_view(&b) : STR(""));
}

void golden_feed_check(struct golden_feed *f, hlo_messages *m)
{
    bool ok = true;
    for (size_t p = 0; p < f->count; p++) {
        ok &= check_participant(f, p, m);
        if (directive_of(&f->r->g.infeed, (int64_t)p, f->read[p]))
            golden_fail(f->r, directive_of(&f->r->g.infeed, (int64_t)p, f->read[p])->line,
                        "participant %zu does not read this infeed item", p);
    }
    if (!ok)
        propose(f);
}
