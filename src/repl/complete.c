/*
 * repl/complete: completion at the cursor.
 *
 * The text before the cursor is rarely well-formed, so only its brackets and words are analyzed:
 * the op whose operands or attributes contain the cursor, and whether a type or an op may follow.
 * Superfluous candidates do no harm.
 */
#include "repl/complete.h"

#include "hlo_advanced.h"
#include "repl/complete_priv.h"

#include <stdlib.h>

/* ---- lists of candidates ---- */

void completions_add(struct completions *c, struct str text, struct str note, const char *tail)
{
    if (!str_starts(text, c->word))
        return;
    struct completion item = {arena_str(&c->arena, text), arena_str(&c->arena, note),
                              arena_str(&c->arena, str_of(tail))};
    VEC_PUSH(&c->arena, c->items, c->count, c->capacity) = item;
}

void completions_free(struct completions *c)
{
    arena_free(&c->arena);
    *c = (struct completions){0};
}

static int compare_texts(const void *a, const void *b)
{
    return str_cmp(((const struct completion *)a)->text, ((const struct completion *)b)->text);
}

void completions_sort(struct completions *c)
{
    size_t kept = 0;
    if (c->count > 0)
        qsort(c->items, c->count, sizeof *c->items, compare_texts);
    for (size_t i = 0; i < c->count; i++)
        if (i == 0 || !str_eq(c->items[i].text, c->items[kept - 1].text))
            c->items[kept++] = c->items[i];
    c->count = kept;
}

/* ---- candidates from tables ---- */

static void add_own_ops(struct completions *out, const char *tail)
{
    for (size_t i = 0; i < hlo_op_count(); i++) {
        struct hlo_op op = hlo_op_get(i);
        completions_add(out, str_of(op.name), str_of(op.help), tail);
    }
}

/* Adds ops and their aliases. */
static void add_ops(struct completions *out, const char *tail)
{
    add_own_ops(out, tail);
    for (size_t i = 0;; i++) {
        struct hlo_form form = hlo_form_get(i);
        if (!form.name)
            break;
        completions_add(out, str_of(form.name), str_of(form.help), tail);
    }
}

static void add_types(struct completions *out, const char *tail)
{
    const char *name;
    for (size_t i = 0; (name = hlo_dtype_name(i)); i++)
        if (hlo_dtype_is_array(i))
            completions_add(out, str_of(name), STR("element type"), tail);
}

static void add_words(struct completions *out, const char *const *words, const char *note,
                      const char *tail)
{
    for (; *words; words++)
        completions_add(out, str_of(*words), str_of(note), tail);
}

/* Adds "on|off|--option"; options only if the word starts with a dash. */
static void add_listed(struct completions *out, const char *words, const char *tail)
{
    while (words && *words) {
        struct str word = {words, strcspn(words, "|")};
        if (words[0] != '-' || str_starts(out->word, STR("-")))
            completions_add(out, word, STR(""), tail);
        words += word.len + (words[word.len] == '|');
    }
}

/* Adds the attributes that are not given yet. OP may be hlo_op_count(): attributes of all ops. */
static void add_attributes(struct completions *out, size_t op, struct str given)
{
    struct hlo_op_attribute a;
    for (size_t i = 0; hlo_op_attribute(op, i, &a); i++) {
        SCOPED_BUF note = {0};
        buf_printf(&note, "%s%s: %s", a.required ? "required, " : "", a.kind, a.help);
        if (!complete_has_attribute(given, a.name))
            completions_add(out, str_of(a.name), buf_view(&note), "=");
    }
}

static void add_computations(const struct complete_source *s, struct completions *out)
{
    if (s->computations)
        s->computations(s->context, out);
    else
        s->names(s->context, out);
}

/* Adds values of an attribute, by its keywords or its kind. */
static void add_values(const struct complete_source *s, struct completions *out, size_t op,
                       struct str name)
{
    static const char *const booleans[] = {"true", "false", NULL};
    struct hlo_op_attribute a;
    for (size_t i = 0; hlo_op_attribute(op, i, &a); i++) {
        if (!str_is(name, a.name))
            continue;
        const char *word;
        for (size_t k = 0; (word = hlo_op_attribute_word(op, i, k)); k++)
            completions_add(out, str_of(word), STR(""), "");
        if (strstr(a.kind, "true or false"))
            add_words(out, booleans, "", "");
        else if (strstr(a.kind, "computation"))
            add_computations(s, out);
        else if (strstr(a.kind, "instruction"))
            s->names(s->context, out);
        else if (strstr(a.kind, "element type"))
            add_types(out, "");
    }
}

/* ---- HLO text ---- */

static const char *const beginnings[] = {"ENTRY", "HloModule", NULL}, *const root[] = {"ROOT",
                                                                                       NULL};

static void add_root(struct completions *out)
{
    add_words(out, root, "root of its computation", " ");
}

static void add_beginnings(struct completions *out)
{
    add_words(out, beginnings, "begins a module", " ");
}

/* Adds what is valid in an entry and in the text of a module. */
static void complete_inst(const struct complete_source *s, const struct complete_place *p,
                          struct completions *out)
{
    switch (p->kind) {
    case PLACE_OP: add_ops(out, "("); return;
    case PLACE_ATTRIBUTE:
        add_attributes(out, p->op, p->given);
        add_attributes(out, hlo_op_count(), p->given);
        return;
    case PLACE_VALUE:
        add_values(s, out, p->op, p->attribute);
        add_values(s, out, hlo_op_count(), p->attribute);
        return;
    default: return;
    }
}

static void complete_text(const struct complete_source *s, struct str text, struct completions *out)
{
    struct complete_place p = complete_place(text, &out->arena);
    bool name = text.len > 0 && text.ptr[text.len - 1] == '%'; /* only names are valid */
    if (name && p.kind == PLACE_START && !p.inside)
        p.kind = PLACE_OPERAND;
    switch (p.kind) {
    case PLACE_START:
        add_root(out);
        if (p.inside)
            return;
        add_beginnings(out);
        s->names(s->context, out);
        add_ops(out, "(");
        add_types(out, "[");
        return;
    case PLACE_RIGHT:
        if (!p.inside)
            s->names(s->context, out);
        add_ops(out, "(");
        add_types(out, "[");
        return;
    case PLACE_OPERAND:
        for (size_t i = 0; i < p.local_count; i++)
            completions_add(out, p.locals[i], STR(""), "");
        if (p.inside)
            return;
        s->names(s->context, out);
        if (out->word.len > 0 && !name) { /* nested expressions */
            add_ops(out, "(");
            add_types(out, "[");
        }
        return;
    default: complete_inst(s, &p, out); return;
    }
}

/* ---- commands ---- */

static void add_commands(const struct complete_source *s, struct completions *out, bool dot,
                         const char *tail)
{
    struct complete_command c;
    for (size_t i = 0; s->command(s->context, i, &c); i++)
        completions_add(out, str_of(c.name + (dot || c.name[0] != '.' ? 0 : 1)), str_of(c.help),
                        tail                                     ? tail
                        : c.kind == COMPLETE_NOTHING && !c.words ? ""
                                                                 : " ");
}

/* Finds a command by name or unique prefix. */
static bool find_command(const struct complete_source *s, struct str name,
                         struct complete_command *out)
{
    struct complete_command c;
    size_t found = 0;
    for (size_t i = 0; s->command(s->context, i, &c); i++) {
        if (str_is(name, c.name)) {
            *out = c;
            return true;
        }
        if (str_starts(str_of(c.name), name)) {
            *out = c;
            found++;
        }
    }
    return found == 1;
}

/* `arguments`: the text between the command and the cursor. */
static void complete_argument(const struct complete_source *s, const struct complete_command *c,
                              struct str arguments, struct completions *out)
{
    if (c->kind == COMPLETE_FILES)
        complete_file(out, arguments);
    add_listed(out, c->words, " ");
    switch (c->kind) {
    case COMPLETE_NOTHING:
    case COMPLETE_WORDS:
    case COMPLETE_FILES: return;
    case COMPLETE_PLACES:
        add_own_ops(out, "");
        s->names(s->context, out);
        return;
    case COMPLETE_NAMES: s->names(s->context, out); return;
    case COMPLETE_OPS: add_ops(out, ""); return;
    case COMPLETE_COMMANDS: add_commands(s, out, str_starts(out->word, STR(".")), ""); return;
    case COMPLETE_ENTRY:
        complete_text(s, (struct str){arguments.ptr, arguments.len - out->word.len}, out);
        return;
    }
}

/* ---- entry point ---- */

static size_t word_start(struct str entry, size_t cursor)
{
    while (cursor > 0 && complete_name_char(entry.ptr[cursor - 1]))
        cursor--;
    return cursor;
}

void complete_entry(const struct complete_source *s, struct str entry, size_t cursor,
                    struct completions *out)
{
    struct str before = {entry.ptr, cursor};
    size_t first = 0;
    while (first < cursor && char_is_blank(entry.ptr[first]))
        first++;
    size_t start = word_start(entry, cursor);
    out->word = cursor > 0 ? (struct str){entry.ptr + start, cursor - start} : STR("");
    if (complete_file_after_at(out, before))
        return;
    if (first == cursor) { /* empty entry: hint at commands */
        add_commands(s, out, true, NULL);
        s->names(s->context, out);
        return;
    }
    if (entry.ptr[first] != '.') {
        complete_text(s, (struct str){entry.ptr, start}, out);
        return;
    }
    size_t end = first + 1;
    while (end < cursor && !char_is_blank(entry.ptr[end]))
        end++;
    struct complete_command c;
    if (end == cursor)
        add_commands(s, out, true, NULL);
    else if (find_command(s, (struct str){entry.ptr + first, end - first}, &c))
        complete_argument(s, &c, (struct str){entry.ptr + end, cursor - end}, out);
}

void complete_module(const struct complete_source *s, struct str text, bool inside,
                     struct completions *out)
{
    const size_t start = word_start(text, text.len);
    out->word = str_skip(text, start);
    const struct complete_place p = complete_place((struct str){text.ptr, start}, &out->arena);
    switch (p.kind) {
    case PLACE_START:
        if (inside)
            add_root(out);
        else
            add_beginnings(out);
        return;
    case PLACE_RIGHT:
        add_ops(out, "(");
        add_types(out, "[");
        return;
    case PLACE_OPERAND: s->names(s->context, out); return;
    default: complete_inst(s, &p, out); return;
    }
}
