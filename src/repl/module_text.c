/*
 * repl/module_text: generates the text of a module from entries of a state, and collects the names
 * in entries.
 */
#include "repl/session.h"

#include <stdlib.h>

/* ---- names in a text ---- */

void naming_begin(struct naming *n, const struct state *s)
{
    *n = (struct naming){.state = s};
    arena_init(&n->arena);
    map_init(&n->seen, &n->arena);
}

void naming_end(struct naming *n) { arena_free(&n->arena); }

static bool is_new(struct naming *n, struct entry *e)
{
    const struct str key = arena_str(&n->arena, (struct str){(const char *)&e, sizeof e});
    return !map_put(&n->seen, key, e);
}

static void note_word(struct naming *n, struct str name, bool insts)
{
    const struct state *s = n->state;
    const long c = state_find_computation(s, name), i = insts ? state_find(s, name) : -1;
    if (c >= 0 && is_new(n, state_computation(s, (size_t)c)))
        VEC_PUSH(&n->arena, n->computations, n->computation_count, n->computation_capacity) =
            (size_t)c;
    if (i >= 0 && is_new(n, state_inst(s, (size_t)i)))
        VEC_PUSH(&n->arena, n->insts, n->inst_count, n->inst_capacity) = (size_t)i;
}

static void note_words(struct naming *n, struct str text, bool insts)
{
    for (struct text_token t = text_token_at(text, 0); t.kind != TOK_EOF;
         t = text_token_at(text, t.end))
        if (syntax_is_word(t))
            note_word(n, t.s, insts);
}

static void note_entry(struct naming *n, const struct entry *e, bool insts)
{
    for (size_t i = 0; i < e->part_count; i++)
        note_words(n, e->parts[i].text, insts);
}

static int by_place(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static void sort_places(size_t *places, size_t count)
{
    if (count > 1)
        qsort(places, count, sizeof *places, by_place);
}

/* An attribute with the name of an instruction counts as a use; too many uses do no harm. */
void naming_add(struct naming *n, const struct entry *e, bool insts)
{
    size_t at = n->computation_count;
    note_entry(n, e, insts);
    for (; at < n->computation_count; at++)
        note_entry(n, state_computation(n->state, n->computations[at]), false);
}

void naming_sort(struct naming *n)
{
    sort_places(n->insts, n->inst_count);
    sort_places(n->computations, n->computation_count);
}

/* ---- text ---- */

static void put_piece(struct module_text *t, struct hlo_piece p)
{
    if (p.size)
        VEC_PUSH(&t->arena, t->pieces, t->count, t->capacity) = p;
}

static void put_made(struct module_text *t, struct str s)
{
    put_piece(t, (struct hlo_piece){.text = s.ptr, .size = s.len});
}

void module_text_made(struct module_text *t, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    put_made(t, arena_vprintf(&t->arena, format, ap));
    va_end(ap);
}

static struct hlo_piece typed_piece(const struct source_text *from, struct str s)
{
    return (struct hlo_piece){s.ptr, s.len, from->name, from->text, from->size, from->first_line,
                              0,     NULL};
}

static void put_part(struct module_text *t, const struct entry *e, const struct text_part *part)
{
    struct hlo_piece p = {.text = part->text.ptr, .size = part->text.len};
    if (part->typed.len)
        p = typed_piece(e->from, part->text);
    if (part->typed.len && !part_is_typed(part)) {
        p.replaced = part->typed.len;
        p.at = part->typed.ptr;
    }
    put_piece(t, p);
}

static void put_entry(struct module_text *t, const struct entry *e)
{
    for (size_t i = 0; i < e->part_count; i++)
        put_part(t, e, &e->parts[i]);
}

void module_text_entry(struct module_text *t, const struct entry *e, bool root)
{
    put_made(t, root ? STR("  ROOT ") : STR("  "));
    put_entry(t, e);
    put_made(t, STR("\n"));
}

void module_text_zeroed(struct module_text *t, const struct entry *e, struct str number)
{
    put_made(t, STR("  ROOT "));
    for (size_t i = 0; i < e->part_count; i++) {
        struct text_part p = e->parts[i];
        const char *end = p.text.ptr + p.text.len;
        if (number.ptr >= p.text.ptr && number.ptr < end) {
            put_piece(t, typed_piece(e->from,
                                     (struct str){p.text.ptr, (size_t)(number.ptr - p.text.ptr)}));
            put_made(t, STR("0"));
            p.text.len = (size_t)(end - number.ptr) - number.len;
            p.text.ptr = p.typed.ptr = number.ptr + number.len;
        }
        put_part(t, e, &p);
    }
    put_made(t, STR("\n"));
}

/* Whether an attribute of the header describes the interface of the entry computation, which
 * differs in the new module. */
static bool is_of_interface(struct str word)
{
    static const char *const words[] = {"alias_passthrough_params", "buffer_donor",
                                        "entry_computation_layout", "input_output_alias",
                                        "is_scheduled"};
    return str_among(word, words, COUNT_OF(words)) >= 0;
}

/* Writes the header without those attributes. */
static void put_open_header(struct module_text *t, const struct entry *e)
{
    struct str s = entry_typed(e), name;
    size_t at = text_token_at(s, text_token_at(s, 0).end).end, kept = 0; /* after HloModule NAME */
    struct hlo_piece p = typed_piece(e->from, s);
    for (size_t end; syntax_attribute(s, at, &name, &end); at = end)
        if (is_of_interface(name)) {
            p.text = s.ptr + kept;
            p.size = at - kept;
            put_piece(t, p);
            kept = end;
        }
    p.text = s.ptr + kept;
    p.size = s.len - kept;
    put_piece(t, p);
}

/* Attributes that describe parameters and result are omitted, since these may differ. */
void module_text_begin(struct module_text *t, const struct state *s, const struct naming *named)
{
    *t = (struct module_text){0};
    arena_init(&t->arena);
    if (!s->header)
        put_made(t, STR("HloModule session"));
    else
        put_open_header(t, s->header);
    put_made(t, STR("\n\n"));
    const size_t count = named ? named->computation_count : s->computations.count;
    for (size_t i = 0; i < count; i++) {
        put_entry(t, state_computation(s, named ? named->computations[i] : i));
        put_made(t, STR("\n\n"));
    }
    module_text_made(t, "ENTRY %%%s {\n", s->entry_name);
}

void module_text_parameter(struct module_text *t, const char *name, const char *shape,
                           size_t number, bool root)
{
    module_text_made(t, "  %s%s = %s parameter(%zu)\n", root ? "ROOT " : "", name, shape, number);
}

hlo_module *module_text_parse(struct module_text *t, const struct state *s, bool verified,
                              hlo_messages *m)
{
    module_text_made(t, "}%s\n", s->entry_tail);
    SCOPED_FILE *f = hlo_file_of_pieces("session", t->pieces, t->count);
    if (!f)
        hlo_messages_add(m, "session", "text exceeds 4 GiB");
    hlo_module *module = f ? hlo_parse(f, 0, m) : NULL;
    arena_free(&t->arena);
    if (!module || !verified || hlo_verify(module, m))
        return module;
    hlo_module_free(module);
    return NULL;
}
