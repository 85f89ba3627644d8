/*
 * draw.c: renders diagnostics as text for terminals, and as JSON.
 *
 *   model.hlo:3:18: error: unknown opcode 'ad'
 *     ROOT r = f32[] ad(p)
 *                    ^~
 *   model.hlo:2:3: note: the text of the note
 *     p = f32[] parameter(0)
 *     ^
 *   help: did you mean 'add'?
 *
 * Of text that was made from a structured file, `model.pb:computations[0].instructions[1].opcode:`.
 */
#include "diag/diag.h"

/* ---- text ---- */

enum { WINDOW_COLUMNS = 100, WINDOW_BEFORE = 60 };

struct pen {
    struct buf *out;
    const struct palette *colors; /* NULL: none */
};

static void put_color(struct pen *p, enum ink ink)
{
    if (p->colors)
        buf_printf(p->out, "\033[" STR_FMT "m", STR_ARG(p->colors->sgr[ink]));
}

static void put_plain(struct pen *p)
{
    if (p->colors)
        buf_puts(p->out, "\033[0m");
}

static bool is_continuation(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

/* Writes text of the user with control characters escaped, so that it cannot move the cursor or
 * change colours. An invalid byte takes one column, as `is_continuation` assumes. */
static void put_clean(struct pen *p, struct str s, bool newlines)
{
    for (size_t i = 0, n; i < s.len; i += n ? n : 1) {
        const unsigned char *c = (const unsigned char *)s.ptr + i;
        n = str_utf8(s, i);
        bool control = n == 1 ? (*c < 0x20 && *c != '\t' && !(newlines && *c == '\n')) || *c == 0x7f
                              : n == 2 && *c == 0xc2 && c[1] < 0xa0;
        if (n && !control)
            buf_bytes(p->out, c, n);
        else if (!is_continuation((char)*c))
            buf_putc(p->out, '?');
    }
}

/* The visible part of a line: all of a short line, otherwise the surroundings of the caret. */
static struct str window_of(struct str line, size_t caret, bool *cut_left, bool *cut_right)
{
    size_t begin = 0, end = line.len;
    if (line.len > WINDOW_COLUMNS) {
        begin = caret > WINDOW_BEFORE ? str_char_start(line, caret - WINDOW_BEFORE) : 0;
        if (line.len - begin < WINDOW_COLUMNS)
            begin = str_char_start(line, line.len - WINDOW_COLUMNS);
        end = begin + WINDOW_COLUMNS < line.len ? str_char_start(line, begin + WINDOW_COLUMNS)
                                                : line.len;
    }
    *cut_left = begin > 0;
    *cut_right = end < line.len;
    return (struct str){line.ptr + begin, end - begin};
}

/* Blanks up to `caret`, then `^~~~` up to `stop`; both are offsets in the visible text. */
static void put_caret(struct pen *p, struct str shown, size_t caret, size_t stop)
{
    for (size_t i = 0; i < caret && i < shown.len; i++)
        if (!is_continuation(shown.ptr[i]))
            buf_putc(p->out, shown.ptr[i] == '\t' ? '\t' : ' ');
    put_color(p, INK_CARET);
    buf_putc(p->out, '^');
    for (size_t i = caret + 1; i < stop && i < shown.len; i++)
        if (!is_continuation(shown.ptr[i]))
            buf_putc(p->out, '~');
    put_plain(p);
    buf_putc(p->out, '\n');
}

static void put_line(struct pen *p, struct str shown)
{
    SCOPED_BUF clean = {0};
    if (!p->colors || !p->colors->highlight) {
        put_clean(p, shown, false);
        return;
    }
    put_clean(&(struct pen){&clean, NULL}, shown, false);
    p->colors->highlight(p->out, buf_view(&clean), p->colors->text);
}

static void put_source_line(struct pen *p, struct source *source, struct span span, struct place at)
{
    struct str line = source_line(source, at.line);
    size_t caret = at.column - 1 < line.len ? at.column - 1 : line.len;
    size_t length = span.end > span.begin ? span.end - span.begin : 1;
    bool cut_left, cut_right;
    struct str shown = window_of(line, caret, &cut_left, &cut_right);
    size_t skipped = (size_t)(shown.ptr - line.ptr);
    if (cut_left)
        buf_puts(p->out, "...");
    put_line(p, shown);
    buf_puts(p->out, cut_right ? "...\n" : "\n");
    if (cut_left)
        buf_puts(p->out, "   ");
    put_caret(p, shown, caret - skipped, caret - skipped + length);
}

/* A location in the text that the user wrote. */
struct spot {
    struct source *source; /* NULL: unknown */
    struct span span;
    bool known;
};

static struct spot spot_of(struct diags *ds, struct span span)
{
    struct spot s = {ds->source, span, false};
    if (s.source)
        s.source = source_origin(s.source, &s.span);
    s.known = s.source && (s.span.begin != 0 || s.span.end != 0);
    return s;
}

/* `FILE:LINE:COLUMN:`, or the part of a structured file instead of line and column. */
static void put_place(struct pen *p, const struct spot *at)
{
    SCOPED_BUF path = {0};
    put_clean(p, at->source->name, false);
    buf_putc(p->out, ':');
    if (source_path(at->source, at->span, &path)) {
        put_clean(p, buf_view(&path), false);
        buf_putc(p->out, ':');
    } else if (at->known) {
        const struct place place = source_place(at->source, at->span.begin);
        buf_printf(p->out, "%u:%u:", place.line, place.column);
    }
}

static void put_head(struct pen *p, struct diags *ds, struct span span, const char *kind,
                     enum ink ink, struct str text)
{
    const struct spot at = spot_of(ds, span);
    put_color(p, INK_PLACE);
    if (!at.source)
        buf_puts(p->out, "hlo:");
    else
        put_place(p, &at);
    put_plain(p);
    buf_putc(p->out, ' ');
    put_color(p, ink);
    buf_puts(p->out, kind);
    buf_putc(p->out, ':');
    put_plain(p);
    buf_putc(p->out, ' ');
    put_clean(p, text, true);
    buf_putc(p->out, '\n');
    if (at.known)
        put_source_line(p, at.source, at.span, source_place(at.source, at.span.begin));
}

static void put_help(struct pen *p, struct str suggestion)
{
    put_color(p, INK_HELP);
    buf_puts(p->out, "help:");
    put_plain(p);
    buf_puts(p->out, " did you mean '");
    put_clean(p, suggestion, false);
    buf_puts(p->out, "'?\n");
}

static const char *severity_word(enum severity s)
{
    return s == SEV_ERROR ? "error" : s == SEV_WARNING ? "warning" : "note";
}

static enum ink severity_ink(enum severity s)
{
    return s == SEV_ERROR ? INK_ERROR : s == SEV_WARNING ? INK_WARNING : INK_NOTE;
}

static void draw(struct buf *out, struct diags *ds, const struct diag *d,
                 const struct palette *colors)
{
    struct pen p = {out, colors};
    put_head(&p, ds, d->span, severity_word(d->severity), severity_ink(d->severity), d->text);
    for (const struct diag_note *n = d->notes; n; n = n->next)
        put_head(&p, ds, n->span, "note", INK_NOTE, n->text);
    if (d->where.len) {
        put_color(&p, INK_NOTE);
        buf_puts(out, "note:");
        put_plain(&p);
        buf_puts(out, " traced from ");
        put_clean(&p, d->where, false);
        buf_putc(out, '\n');
    }
    if (d->suggestion.len)
        put_help(&p, d->suggestion);
}

static void put_dropped(struct buf *out, unsigned count, const char *what)
{
    if (count)
        buf_printf(out, "hlo: %u more %s%s not shown\n", count, what, count == 1 ? " is" : "s are");
}

void diags_draw(struct buf *out, struct diags *ds, const struct palette *colors)
{
    for (const struct diag *d = ds->first; d; d = d->next)
        draw(out, ds, d, colors);
    if (ds->quiet)
        return;
    put_dropped(out, ds->dropped, "error");
    put_dropped(out, ds->warnings - ds->kept_warnings, "warning");
}

/* ---- JSON ---- */

static void put_json_place(struct buf *out, struct diags *ds, struct span span)
{
    struct place begin = {0, 0}, end = {0, 0};
    SCOPED_BUF path = {0};
    const struct spot at = spot_of(ds, span);
    const bool structured = at.source && source_path(at.source, at.span, &path);
    if (at.known && !structured) {
        begin = source_place(at.source, at.span.begin);
        end = source_place(at.source, at.span.end > at.span.begin ? at.span.end : at.span.begin);
    }
    buf_json_text(out, "file", at.source ? at.source->name : STR(""));
    buf_json_count(out, "line", begin.line);
    buf_json_count(out, "column", begin.column);
    buf_json_count(out, "end_line", end.line);
    buf_json_count(out, "end_column", end.column);
    if (structured)
        buf_json_text(out, "path", buf_view(&path));
}

static void put_json(struct buf *out, struct diags *ds, const struct diag *d)
{
    buf_json_open(out, NULL, '{');
    buf_json_text(out, "id", str_of(msg_name(d->msg)));
    buf_json_text(out, "severity", str_of(severity_word(d->severity)));
    put_json_place(out, ds, d->span);
    buf_json_text(out, "message", d->text);
    buf_json_key(out, "suggestion");
    if (d->suggestion.len)
        buf_json_str(out, d->suggestion);
    else
        buf_puts(out, "null");
    if (d->where.len)
        buf_json_text(out, "where", d->where);
    buf_json_open(out, "notes", '[');
    for (const struct diag_note *n = d->notes; n; n = n->next) {
        buf_json_open(out, NULL, '{');
        put_json_place(out, ds, n->span);
        buf_json_text(out, "message", n->text);
        buf_putc(out, '}');
    }
    buf_puts(out, "]}");
}

void diags_json(struct buf *out, struct diags *ds)
{
    for (const struct diag *d = ds->first; d; d = d->next)
        put_json(out, ds, d);
}
