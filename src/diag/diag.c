/*
 * diag.c: collecting diagnostics: the message catalogue, limits, notes and suggestions.
 */
#include "diag/diag.h"

/* ---- the catalogue ---- */

/* Ids as users see them, `unknown-opcode` for UNKNOWN_OPCODE, converted at compile time: a table
 * filled at run time would be a mutable global. */
enum { NAME_SIZE = 40 };
#define NAME_PAD "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define C1(s, i)                                                                                   \
    (char)((s)[i] >= 'A' && (s)[i] <= 'Z' ? (s)[i] + 'a' - 'A' : (s)[i] == '_' ? '-' : (s)[i])
#define C4(s, i) C1(s, i), C1(s, (i) + 1), C1(s, (i) + 2), C1(s, (i) + 3)
#define C20(s, i) C4(s, i), C4(s, (i) + 4), C4(s, (i) + 8), C4(s, (i) + 12), C4(s, (i) + 16)

static const struct msg_row {
    char name[NAME_SIZE];
    enum severity severity;
} msg_table[] = {
#define MSG(id, severity, format) {{C20(#id NAME_PAD, 0), C20(#id NAME_PAD, 20)}, SEV_##severity},
#include "diag/msg.def"
    {"unknown", SEV_ERROR},
};

#define MSG(id, severity, format) _Static_assert(sizeof(#id) <= NAME_SIZE, "message id too long");
#include "diag/msg.def"

const char *msg_name(enum msg m) { return msg_table[m].name; }

static enum severity msg_severity(enum msg m) { return msg_table[m].severity; }

/* ---- collecting ---- */

void diags_init(struct diags *ds, struct source *source)
{
    *ds = (struct diags){.source = source};
    arena_init(&ds->arena);
}

void diags_free(struct diags *ds)
{
    arena_free(&ds->arena);
    ds->first = ds->last = NULL;
}

/* Counts a message; returns whether to keep it. */
static bool count_diagnostic(struct diags *ds, enum severity severity)
{
    if (severity == SEV_ERROR) {
        ds->errors++;
        if (ds->errors <= DIAG_ERROR_LIMIT)
            return !ds->quiet;
        ds->dropped++;
        return false;
    }
    ds->warnings++;
    if (ds->quiet || ds->kept_warnings == DIAG_ERROR_LIMIT)
        return false;
    ds->kept_warnings++;
    return true;
}

struct diag *diag_report(struct diags *ds, struct span span, enum msg m, const char *format, ...)
{
    if (!count_diagnostic(ds, msg_severity(m))) {
        ds->dummy = (struct diag){.msg = m, .severity = msg_severity(m), .span = span};
        return &ds->dummy;
    }
    struct diag *d = ARENA_NEW(&ds->arena, struct diag);
    d->msg = m;
    d->severity = msg_severity(m);
    d->span = span;
    va_list ap;
    va_start(ap, format);
    d->text = arena_vprintf(&ds->arena, format, ap);
    va_end(ap);
    *(ds->last ? &ds->last->next : &ds->first) = d;
    ds->last = d;
    return d;
}

void diags_no_memory(struct diags *ds)
{
    struct diag *d = &ds->oom_diag;
    if (ds->oom)
        return;
    ds->oom = true;
    *d = (struct diag){.msg = MSG_OUT_OF_MEMORY,
                       .severity = SEV_ERROR,
                       .span = NO_SPAN,
                       .text = STR("out of memory")};
    ds->errors++;
    *(ds->last ? &ds->last->next : &ds->first) = d;
    ds->last = d;
}

void diag_note(struct diags *ds, struct diag *d, struct span span, const char *format, ...)
{
    if (d == &ds->dummy)
        return;
    struct diag_note *note = ARENA_NEW(&ds->arena, struct diag_note);
    note->span = span;
    va_list ap;
    va_start(ap, format);
    note->text = arena_vprintf(&ds->arena, format, ap);
    va_end(ap);
    struct diag_note **end = &d->notes;
    while (*end)
        end = &(*end)->next;
    *end = note;
}

bool diag_was_reported(const struct diags *ds, struct span span, enum msg m)
{
    const struct diag *d = ds->first;
    while (d && (d->msg != m || d->span.begin != span.begin || d->span.end != span.end))
        d = d->next;
    return d != NULL;
}

struct diag *diag_copy(struct diags *ds, const struct diag *from)
{
    struct diag *d = diag_report(ds, from->span, from->msg, STR_FMT, STR_ARG(from->text));
    if (d == &ds->dummy)
        return d;
    d->suggestion = arena_str(&ds->arena, from->suggestion);
    d->where = arena_str(&ds->arena, from->where);
    for (const struct diag_note *n = from->notes; n; n = n->next)
        diag_note(ds, d, n->span, STR_FMT, STR_ARG(n->text));
    return d;
}

void diags_copy(struct diags *ds, const struct diags *from)
{
    for (const struct diag *d = from->first; d; d = d->next)
        diag_copy(ds, d);
}

void diag_suggest(struct diags *ds, struct diag *d, struct str replacement)
{
    if (d != &ds->dummy && replacement.len)
        d->suggestion = arena_str(&ds->arena, replacement);
}

struct str diag_nearest(struct str word, const char *const *keywords, size_t count)
{
    struct nearest n = nearest_to(word);
    for (size_t i = 0; i < count; i++)
        nearest_try(&n, str_of(keywords[i]));
    return n.found;
}
