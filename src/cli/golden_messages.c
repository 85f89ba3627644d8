/*
 * Golden tests: expected errors and warnings.
 */
#include "cli/golden.h"

/* Splits `LINE:COLUMN: TEXT`; without a location, all is text. */
static bool split_place(struct str *s, int64_t *line, int64_t *column)
{
    const char *a = memchr(s->ptr, ':', s->len);
    const char *b = a ? memchr(a + 1, ':', s->len - (size_t)(a + 1 - s->ptr)) : NULL;
    *line = *column = 0;
    if (!b || !num_parse_i64((struct str){s->ptr, (size_t)(a - s->ptr)}, line) ||
        !num_parse_i64((struct str){a + 1, (size_t)(b - a - 1)}, column)) {
        *line = *column = 0;
        return false;
    }
    s->len -= (size_t)(b + 1 - s->ptr);
    s->ptr = b + 1;
    while (s->len > 0 && *s->ptr == ' ')
        s->ptr++, s->len--;
    return true;
}

/* How a directive matches a message: by a part of it, or by all of it; the text before a final
 * `...` counts as all. */
enum match { MATCH_NONE, MATCH_PART, MATCH_WHOLE };

static enum match message_match(const struct hlo_message *m, struct str expected)
{
    int64_t line, column;
    const struct str text = str_of(m->text);
    split_place(&expected, &line, &column);
    if (m->line != line || m->column != column)
        return MATCH_NONE;
    if (str_eq(text, expected))
        return MATCH_WHOLE;
    if (memmem(text.ptr, text.len, expected.ptr, expected.len))
        return MATCH_PART;
    bool open = expected.len > 3 && memcmp(expected.ptr + expected.len - 3, "...", 3) == 0;
    return open && str_starts(text, (struct str){expected.ptr, expected.len - 3}) ? MATCH_WHOLE
                                                                                  : MATCH_NONE;
}

/* Matches messages of one severity with directives: each directive requires a message, and each
 * message a directive. */
static void check_messages(struct golden_run *r, const hlo_messages *messages,
                           const struct directives *expected, bool errors)
{
    const char *kind = errors ? "error" : "warning";
    size_t count = hlo_messages_count(messages), found = 0, reported = 0;
    for (size_t i = 0; i < expected->count; i++) {
        bool here = false;
        for (size_t k = 0; k < count && !here; k++) {
            struct hlo_message m = hlo_messages_get(messages, k);
            here = m.error == errors && message_match(&m, expected->at[i].text) != MATCH_NONE;
        }
        found += here;
        if (!here)
            golden_fail(r, expected->at[i].line, "no such %s: " STR_FMT, kind,
                        STR_ARG(expected->at[i].text));
    }
    for (size_t k = 0; k < count; k++) {
        struct hlo_message m = hlo_messages_get(messages, k);
        bool fits = m.error != errors;
        reported += !fits;
        for (size_t i = 0; i < expected->count && !fits; i++)
            fits = message_match(&m, expected->at[i].text) != MATCH_NONE;
        if (!fits)
            golden_fail(r, m.line ? m.line : golden_test_line(r),
                        "unexpected %s: %" PRIu32 ":%" PRIu32 ": %s", kind, m.line, m.column,
                        m.text);
    }
    if (r->why.size == 0 && errors && found < expected->count)
        golden_fail(r, golden_test_line(r), "expected %zu errors, got %zu", expected->count,
                    reported);
}

static void put_message(struct buf *out, const struct hlo_message *m)
{
    buf_puts(out, m->error ? "// error: " : "// warning: ");
    if (m->line > 0)
        buf_printf(out, "%" PRIu32 ":%" PRIu32 ": ", m->line, m->column);
    buf_printf(out, "%s\n", m->text);
}

/* --exact-messages: reports directives that match a part of a message only. */
static void check_whole_messages(struct golden_run *r, const hlo_messages *messages,
                                 const struct directives *expected, bool errors)
{
    for (size_t i = 0; i < expected->count; i++) {
        const struct directive *d = &expected->at[i];
        struct hlo_message part = {0};
        enum match best = MATCH_NONE;
        for (size_t k = 0; k < hlo_messages_count(messages) && best != MATCH_WHOLE; k++) {
            struct hlo_message m = hlo_messages_get(messages, k);
            enum match match = m.error == errors ? message_match(&m, d->text) : MATCH_NONE;
            if (match > best) {
                best = match;
                part = m;
            }
        }
        if (best != MATCH_PART)
            continue;
        SCOPED_BUF line = {0};
        put_message(&line, &part);
        golden_fail(r, d->line, "expected the whole message: %s", part.text);
        golden_propose(r, d->line, d->last_line, buf_view(&line));
    }
}

static void propose_errors(struct golden_run *r, const hlo_messages *messages)
{
    const struct directives *old = &r->g.errors;
    SCOPED_BUF b = {0};
    for (size_t k = 0; k < hlo_messages_count(messages); k++) {
        struct hlo_message m = hlo_messages_get(messages, k);
        if (m.error)
            put_message(&b, &m);
    }
    for (size_t i = 0; i < old->count; i++)
        golden_propose(r, old->at[i].line, old->at[i].last_line, i == 0 ? buf_view(&b) : STR(""));
}

void golden_check_messages(struct golden_run *r, const hlo_messages *messages)
{
    const struct golden *g = &r->g;
    if (g->errors.count > 0)
        check_messages(r, messages, &g->errors, true);
    if (g->warnings.count > 0)
        check_messages(r, messages, &g->warnings, false);
    if (r->why.size > 0 && g->errors.count > 0 && hlo_messages_errors(messages) > 0)
        propose_errors(r, messages);
    if (r->why.size > 0 || !r->o->given[OPT_EXACT_MESSAGES])
        return;
    check_whole_messages(r, messages, &g->errors, true);
    check_whole_messages(r, messages, &g->warnings, false);
}
