/*
 * Parses the directives of a golden test: `// KEY: text` lines. hlo test --update rewrites them.
 *
 * A line that starts with `//` and at least three blanks continues the directive above it; below
 * `print:`, every `//` line does.
 */
#include "cli/golden.h"

#include <errno.h>
#include <math.h>

struct reader {
    struct golden *g;
    struct directive *open; /* the directive that continuation lines belong to */
    bool printing;          /* `open` is `print:` */
};

static void complain(struct golden *g, uint32_t line, const char *problem)
{
    if (g->problem.len)
        return;
    g->problem = str_of(problem);
    g->problem_line = line;
}

/* Removes and returns the first word. */
static struct str cut_word(struct str *s)
{
    *s = str_trim(*s);
    size_t n = 0;
    while (n < s->len && !char_is_blank(s->ptr[n]))
        n++;
    return str_take(s, n);
}

/* ---- tolerances ---- */

static bool tolerance_word(struct str word, struct hlo_tolerance *t)
{
    struct str value = {word.ptr + 4, word.len > 4 ? word.len - 4 : 0};
    if (str_is(word, "exact"))
        return true;
    if (str_is(word, "bits")) {
        t->bits = true;
        return true;
    }
    if (str_is(word, "usual")) {
        t->usual = true;
        return true;
    }
    if (str_starts(word, STR("ulp=")))
        return num_parse_i64(value, &t->ulp) && t->ulp > 0;
    if (str_starts(word, STR("rel=")))
        return num_parse_double(value, &t->rel) && t->rel > 0 && isfinite(t->rel);
    if (str_starts(word, STR("abs=")))
        return num_parse_double(value, &t->abs) && t->abs > 0 && isfinite(t->abs);
    return false;
}

bool golden_tolerance(struct str text, struct hlo_tolerance *t)
{
    *t = (struct hlo_tolerance)HLO_TOLERANCE_INIT;
    if (str_trim(text).len == 0)
        return false;
    while (str_trim(text).len > 0)
        if (!tolerance_word(cut_word(&text), t))
            return false;
    return true;
}

/* ---- directives ---- */

static const struct {
    const char *key;
    size_t offset;
} keys[] = {
    {"case", offsetof(struct golden, cases)},      {"custom-call", offsetof(struct golden, calls)},
    {"error", offsetof(struct golden, errors)},    {"expect", offsetof(struct golden, expect)},
    {"from", offsetof(struct golden, from)},       {"in", offsetof(struct golden, in)},
    {"infeed", offsetof(struct golden, infeed)},   {"out", offsetof(struct golden, out)},
    {"out-pairs", offsetof(struct golden, pairs)}, {"outfeed", offsetof(struct golden, outfeed)},
    {"print", offsetof(struct golden, print)},     {"spec", offsetof(struct golden, spec)},
    {"test", offsetof(struct golden, test)},       {"warning", offsetof(struct golden, warnings)},
};

const char *golden_key(size_t i) { return i < COUNT_OF(keys) ? keys[i].key : NULL; }

static struct directives *list_of(struct golden *g, struct str key)
{
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        if (str_is(key, keys[i].key))
            return (struct directives *)(void *)((char *)g + keys[i].offset);
    return NULL;
}

/* Removes `@N` from the end of a word; EACH_PARTICIPANT if none. */
static int64_t cut_participant(struct str *word)
{
    const char *at = memchr(word->ptr, '@', word->len);
    size_t n = at ? (size_t)(at - word->ptr) : word->len;
    int64_t participant = EACH_PARTICIPANT;
    if (at && num_parse_i64((struct str){at + 1, word->len - n - 1}, &participant) &&
        participant >= 0)
        word->len = n;
    return participant;
}

/* Words that are no keys, but will be taken for some. */
static const struct {
    const char *word, *meant;
} mistaken[] = {
    {"abs", "test: eval abs=X"},
    {"expected", "out"},
    {"input", "in"},
    {"output", "out"},
    {"result", "out"},
    {"rel", "test: eval rel=X"},
    {"tolerance", "test: eval rel=X"},
    {"ulp", "test: eval ulp=N"},
};

/* A word before a colon that is nearly the key of a directive is an error. Words of prose are not:
 * only one letter may differ, of three or more, and two of six. */
static void check_spelling(struct golden *g, struct str key, uint32_t line)
{
    struct nearest n = nearest_to(key);
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        nearest_try(&n, str_of(keys[i].key));
    for (size_t i = 0; i < COUNT_OF(mistaken); i++)
        if (nearest_try(&n, str_of(mistaken[i].word)))
            n.found = str_of(mistaken[i].meant);
    if (n.found.len && key.len > 2 && n.distance <= (key.len < 6 ? 1U : 2U))
        complain(g, line,
                 arena_printf(g->arena,
                              "unknown directive '" STR_FMT "'; did you mean '" STR_FMT "'?",
                              STR_ARG(key), STR_ARG(n.found))
                     .ptr);
}

/* Parses `KEY:`, `KEY@N:` or `in NAME:`; false for other comments. */
static bool read_directive(struct reader *r, struct str text, uint32_t line)
{
    const char *colon = memchr(text.ptr, ':', text.len);
    if (!colon)
        return false;
    struct str head = {text.ptr, (size_t)(colon - text.ptr)},
               rest = {colon + 1, text.len - head.len - 1};
    struct str key = cut_word(&head), name = str_trim(head);
    int64_t participant = cut_participant(name.len > 0 ? &name : &key);
    struct directives *list = list_of(r->g, key);
    bool one_word = !memchr(name.ptr, ' ', name.len);
    if (!list && name.len == 0)
        check_spelling(r->g, key, line);
    if (!list || (name.len > 0 && !(str_is(key, "in") && one_word)))
        return false;
    r->open = &VEC_PUSH(r->g->arena, list->at, list->count, list->capacity);
    *r->open = (struct directive){.line = line,
                                  .last_line = line,
                                  .name = name,
                                  .participant = participant,
                                  .text = str_trim(rest)};
    r->printing = list == &r->g->print;
    return true;
}

static void read_line(struct reader *r, struct str line, uint32_t number)
{
    struct str s = str_trim(line);
    if (s.len < 2 || s.ptr[0] != '/' || s.ptr[1] != '/') {
        r->open = NULL;
        r->printing = false;
        return;
    }
    struct str after = {s.ptr + 2, s.len - 2};
    bool deep = after.len > 3 && memcmp(after.ptr, "   ", 3) == 0;
    if (r->open && r->printing) {
        if (after.len > 0 && after.ptr[0] == ' ')
            after.ptr++, after.len--;
        r->open->text =
            arena_printf(r->g->arena, STR_FMT STR_FMT "\n", STR_ARG(r->open->text), STR_ARG(after));
        r->open->last_line = number;
    } else if (r->open && deep) {
        r->open->text = arena_printf(r->g->arena, STR_FMT " " STR_FMT, STR_ARG(r->open->text),
                                     STR_ARG(str_trim(after)));
        r->open->last_line = number;
    } else if (!read_directive(r, str_trim(after), number)) {
        r->open = NULL;
    }
}

/* ---- validation ---- */

static void read_test_line(struct golden *g, const struct directive *d, bool sources)
{
    static const char *const kinds[] = {[TEST_EVAL] = "eval",
                                        [TEST_VERIFY] = "verify",
                                        [TEST_PARSE] = "parse",
                                        [TEST_PRINT] = "print"};
    struct str rest = d->text, kind = cut_word(&rest);
    for (int k = TEST_EVAL; k <= TEST_PRINT; k++)
        if (str_is(kind, kinds[k]))
            g->kind = (enum test_kind)k;
    if (g->kind == TEST_NONE)
        complain(g, d->line, "'test:' expects eval, verify, parse or print");
    bool reason = false;
    while (str_trim(rest).len > 0 && !reason) {
        struct str word = cut_word(&rest);
        if (str_is(word, "strict"))
            g->strict = true;
        else if (str_is(word, "short"))
            g->short_form = true;
        else if (str_is(word, "why:"))
            reason = true;
        else if (tolerance_word(word, &g->tolerance))
            g->has_tolerance = true;
        else
            complain(g, d->line, "unknown keyword in 'test:'");
    }
    if (sources && g->has_tolerance && (!reason || str_trim(rest).len == 0))
        complain(g, d->line, "a tolerance requires a reason: 'why: ...'");
}

static void read_verdict(struct golden *g, const struct directive *d)
{
    static const char *const keywords[] = {[VERDICT_ACCEPTED] = "accepted",
                                           [VERDICT_PARSER_ACCEPTS] = "accepted by the parser",
                                           [VERDICT_PARSER_REJECTS] = "rejected by the parser",
                                           [VERDICT_VERIFIER_REJECTS] = "rejected by the verifier"};
    for (size_t v = VERDICT_ACCEPTED; v < COUNT_OF(keywords); v++)
        if (str_is(d->text, keywords[v]))
            g->verdict = (enum verdict)v;
    if (g->verdict == VERDICT_NONE)
        complain(g, d->line,
                 "'expect:' expects accepted, accepted by the parser, rejected by the parser or "
                 "rejected by the verifier");
}

/* Checks `case: value`, `edge` or `rejection`, followed by the covered ops unless the file name is
 * the op. */
static void check_case(struct golden *g, const struct directive *d)
{
    struct str rest = d->text, kind = cut_word(&rest), op;
    if (!str_is(kind, "value") && !str_is(kind, "edge") && !str_is(kind, "rejection"))
        complain(g, d->line, "'case:' expects value, edge or rejection");
    if (str_is(kind, "rejection") ? g->errors.count == 0
                                  : g->out.count + g->pairs.count + g->outfeed.count == 0)
        complain(g, d->line,
                 "'case: rejection' requires 'error:'; value and edge require 'out:', 'out-pairs:' "
                 "or 'outfeed:'");
    while ((op = cut_word(&rest)).len > 0)
        if (op_number(op) == hlo_op_count())
            complain(g, d->line, "unknown operation in 'case:'");
}

/* Whether two directives of the list are for the same participant. */
static bool repeats(const struct directives *list)
{
    for (size_t i = 0; i < list->count; i++)
        for (size_t k = 0; k < i; k++)
            if (list->at[i].participant == list->at[k].participant)
                return true;
    return false;
}

static void check(struct golden *g, bool sources)
{
    bool evaluates = g->out.count + g->pairs.count + g->outfeed.count > 0;
    uint32_t line = g->test.at[0].line;
    if (g->test.count > 1)
        complain(g, g->test.at[1].line, "duplicate 'test:'; modules are separated by '// -----'");
    if (!evaluates && g->errors.count + g->warnings.count + g->expect.count + g->print.count == 0)
        complain(g, line, "test has no expected result");
    if (evaluates && (g->kind != TEST_EVAL || g->errors.count > 0))
        complain(g, line,
                 "'out:', 'out-pairs:' and 'outfeed:' require 'test: eval' without errors");
    if (repeats(&g->out) || g->pairs.count > 1 || g->expect.count > 1 || g->print.count > 1)
        complain(g, line, "duplicate 'out:', 'out-pairs:', 'expect:' or 'print:'");
    if ((g->kind == TEST_PRINT) != (g->print.count > 0))
        complain(g, line, "'print:' and 'test: print' require each other");
    for (size_t i = 0; i < g->cases.count; i++)
        check_case(g, &g->cases.at[i]);
    if (sources && g->kind == TEST_EVAL && g->errors.count + g->from.count + g->expect.count == 0)
        complain(g, line, "an expected value requires its source, such as '// from: hand'");
}

const struct directive *directive_of(const struct directives *list, int64_t participant, size_t n)
{
    bool own = false;
    for (size_t i = 0; i < list->count; i++)
        own |= list->at[i].participant == participant;
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i].participant == (own ? participant : EACH_PARTICIPANT) && n-- == 0)
            return &list->at[i];
    return NULL;
}

/* Whether there are directives, although `test:` is missing. */
static bool has_expectations(const struct golden *g)
{
    return g->out.count + g->in.count + g->errors.count + g->print.count > 0;
}

void golden_read(struct golden *g, struct arena *a, struct str text, uint32_t first_line,
                 bool sources)
{
    *g = (struct golden){.arena = a, .tolerance = {.size = sizeof g->tolerance, .zeros = true}};
    struct reader r = {.g = g};
    for (uint32_t line = first_line; text.len > 0; line++)
        read_line(&r, str_cut(&text, '\n'), line);
    if (g->test.count == 0) {
        if (!has_expectations(g))
            g->problem = STR("");
        return;
    }
    read_test_line(g, &g->test.at[0], sources);
    if (g->expect.count > 0)
        read_verdict(g, &g->expect.at[0]);
    check(g, sources);
}

/* ---- --update ---- */

static const struct edit *edit_at(const struct edits *edits, uint32_t line)
{
    for (size_t i = 0; i < edits->count; i++)
        if (edits->at[i].first <= line && line <= edits->at[i].last)
            return &edits->at[i];
    return NULL;
}

static void insert_before(struct buf *out, const struct edits *edits, uint32_t line)
{
    for (size_t i = 0; i < edits->count; i++)
        if (edits->at[i].first == line && edits->at[i].last < line)
            buf_str(out, edits->at[i].text);
}

static bool put_aside(const char *path, struct str old, struct str new, hlo_messages *m)
{
    SCOPED_BUF name = {0}, diff = {0};
    buf_printf(&name, "%s.new", path);
    put_diff(&diff, path, old, new);
    fwrite(diff.data, 1, diff.size, stdout);
    return hlo_write_text(name.data, new.ptr, new.len, m);
}

void golden_put_value(struct buf *out, const char *key, const hlo_literal *l)
{
    SCOPED_BUF value = {0};
    put_value(&value, l, NULL);
    buf_printf(out, "// %s: ", key);
    for (size_t i = 0; i < value.size; i++) {
        buf_putc(out, value.data[i]);
        if (value.data[i] == '\n')
            buf_puts(out, "//   ");
    }
    buf_putc(out, '\n');
}

bool golden_rewrite(const char *path, const struct edits *edits, bool aside, hlo_messages *m)
{
    SCOPED_BYTES bytes = {0};
    SCOPED_BUF out = {0};
    if (!file_read(path, &bytes))
        return file_error(m, path, "cannot read file again: %s", file_problem(errno));
    struct str rest = {bytes.data, bytes.size};
    for (uint32_t line = 1; rest.len > 0; line++) {
        const struct str old = str_cut_line(&rest);
        const struct edit *e = edit_at(edits, line);
        insert_before(&out, edits, line);
        if (!e)
            buf_str(&out, old);
        else if (e->first == line)
            buf_str(&out, e->text);
    }
    return aside ? put_aside(path, (struct str){bytes.data, bytes.size}, buf_view(&out), m)
                 : hlo_write_text(path, out.data, out.size, m);
}
