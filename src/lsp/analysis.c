/*
 * lsp/analysis: parsing and verification of a document, its diagnostics, and what its last valid
 * text says about instructions.
 */
#include "lsp/lsp_priv.h"

#include <stdlib.h>

/* ---- diagnostics ---- */

static size_t count_of(const struct dict_value *d, const char *name)
{
    const struct dict_value *v = dict_member(d, name, DICT_INT);
    return v && v->i > 0 ? (size_t)v->i : 0;
}

static struct str text_of(const struct dict_value *d, const char *name)
{
    const struct dict_value *v = dict_member(d, name, DICT_STRING);
    return v ? v->s : STR("");
}

/* The offset of a line and column in bytes, both from 1; 0 if unknown. */
static size_t offset_of(const struct document *d, size_t line, size_t column)
{
    if (line == 0 || line > d->line_count)
        return 0;
    const struct extent e = document_line(d, line - 1);
    const size_t at = e.begin + (column ? column - 1 : 0);
    return at < e.end ? at : e.end;
}

/* The bytes of a message or note: at least one, unless its line is empty. */
static struct extent extent_of(const struct document *d, const struct dict_value *m)
{
    struct extent e = {offset_of(d, count_of(m, "line"), count_of(m, "column")),
                       offset_of(d, count_of(m, "end_line"), count_of(m, "end_column"))};
    if (e.end <= e.begin)
        e.end =
            e.begin < document_line(d, document_line_of(d, e.begin)).end ? e.begin + 1 : e.begin;
    return e;
}

static bool is_here(const struct document *d, const struct dict_value *m)
{
    return count_of(m, "line") > 0 && str_eq(text_of(m, "file"), str_of(d->name));
}

static void put_notes(struct buf *out, const struct document *d, const struct dict_value *m)
{
    const struct dict_value *notes = dict_member(m, "notes", DICT_LIST);
    if (!notes || notes->count == 0)
        return;
    buf_json_open(out, "relatedInformation", '[');
    for (size_t i = 0; i < notes->count; i++) {
        const struct dict_value *n = &notes->items[i].value;
        buf_json_open(out, NULL, '{');
        buf_json_key(out, "location");
        put_location(out, d, extent_of(d, is_here(d, n) ? n : m));
        buf_json_text(out, "message", text_of(n, "message"));
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

static void add_fix(struct analysis *a, struct extent at, const struct dict_value *m)
{
    const struct str suggestion = text_of(m, "suggestion");
    if (suggestion.len == 0)
        return;
    VEC_PUSH(&a->arena, a->fixes, a->fix_count, a->fix_capacity) = (struct diagnostic){
        at, arena_str(&a->arena, text_of(m, "message")), arena_str(&a->arena, suggestion)};
}

static void put_diagnostic(struct document *d, const struct dict_value *m)
{
    struct analysis *a = &d->analysis;
    const bool here = is_here(d, m), error = str_is(text_of(m, "severity"), "error");
    const struct extent at = here ? extent_of(d, m) : (struct extent){0, 0};
    const struct str text = text_of(m, "message"), where = text_of(m, "where");
    SCOPED_BUF message = {0};
    buf_str(&message, text);
    if (where.len)
        buf_printf(&message, "\ntraced from " STR_FMT, STR_ARG(where));
    buf_json_open(&a->json, NULL, '{');
    put_range(&a->json, "range", d, at);
    buf_json_count(&a->json, "severity", error ? 1 : 2);
    buf_json_text(&a->json, "code", text_of(m, "id"));
    buf_json_text(&a->json, "source", STR("hlo"));
    buf_json_text(&a->json, "message", buf_view(&message));
    put_notes(&a->json, d, m);
    buf_putc(&a->json, '}');
    if (here)
        add_fix(a, at, m);
}

static void put_diagnostics(struct document *d, const hlo_messages *m)
{
    struct analysis *a = &d->analysis;
    SCOPED_ARENA arena = arena_make();
    struct dict_value all;
    struct dict_error error;
    hlo_text json = hlo_messages_json(m);
    SCOPED_BUF object = {0};
    buf_printf(&object, "{\"all\":%s}", json.data ? json.data : "[]");
    hlo_text_free(&json);
    a->json.size = 0;
    buf_putc(&a->json, '[');
    if (dict_read(&arena, buf_view(&object), DICT_JSON, &all, &error)) {
        const struct dict_value *list = dict_member(&all, "all", DICT_LIST);
        for (size_t i = 0; list && i < list->count; i++)
            put_diagnostic(d, &list->items[i].value);
    }
    buf_putc(&a->json, ']');
}

/* ---- parts ---- */

static void free_parts(struct analysis *a)
{
    for (size_t i = 0; i < a->part_count; i++)
        part_free(&a->parts[i]);
    heap_free(a->parts);
    a->parts = NULL;
    a->part_count = 0;
}

void analysis_free(struct analysis *a)
{
    free_parts(a);
    arena_free(&a->arena);
    buf_free(&a->json);
}

static bool parse_part(const hlo_file *f, size_t i, struct part *p, hlo_messages *m)
{
    size_t size;
    hlo_file_text(f, i, &size, &p->first_line);
    p->module = hlo_parse(f, i, m);
    p->verified = p->module && hlo_verify(p->module, m);
    return p->module != NULL;
}

void analyse(struct document *d)
{
    struct analysis *a = &d->analysis, next = {0};
    if (a->current)
        return;
    SCOPED_MESSAGES *m = hlo_messages_new();
    SCOPED_FILE *f = hlo_file_of_text(d->name, document_text(d).ptr, d->text.size, false);
    next.part_count = f ? hlo_file_count(f) : 0;
    next.parts = heap_zalloc(next.part_count + 1, sizeof *next.parts);
    a->valid = f != NULL;
    for (size_t i = 0; i < next.part_count; i++)
        a->valid &= parse_part(f, i, &next.parts[i], m);
    a->fix_count = a->fix_capacity = 0;
    a->fixes = NULL;
    arena_free(&a->arena);
    put_diagnostics(d, m);
    a->current = true;
    if (a->valid) {
        free_parts(a);
        a->parts = next.parts;
        a->part_count = next.part_count;
    } else {
        free_parts(&next);
    }
}

struct part *analysis_part(struct document *d, size_t line)
{
    analyse(d);
    struct analysis *a = &d->analysis;
    size_t i = a->valid ? a->part_count : 0;
    while (i > 1 && a->parts[i - 1].first_line > line + 1)
        i--;
    return i ? &a->parts[i - 1] : NULL;
}

/* ---- instructions ---- */

static struct str key_of(struct arena *a, struct str computation, struct str name)
{
    return arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(computation), STR_ARG(name));
}

bool part_list(struct part *p)
{
    if (p->list)
        return true;
    p->list = hlo_list(p->module);
    if (!p->list)
        return false;
    arena_init(&p->arena);
    map_init(&p->insts, &p->arena);
    for (size_t i = hlo_list_count(p->list); i-- > 0;) {
        const struct hlo_listed l = hlo_list_inst(p->list, i);
        const struct hlo_listed_computation c = hlo_list_computation(p->list, l.computation);
        map_put(&p->insts, key_of(&p->arena, str_of(c.name), str_of(l.name)),
                (void *)(uintptr_t)(i + 1));
    }
    return true;
}

long analysis_find(struct document *d, struct place inst, struct part **part)
{
    struct analysis *a = &d->analysis;
    SCOPED_ARENA arena = arena_make();
    const struct str key = key_of(&arena, symbol_computation(d, inst), symbol_name(d, inst));
    long found = -1;
    for (size_t i = a->part_count; found < 0 && i-- > 0;) {
        struct part *p = &a->parts[i];
        if (i > 0 && p->first_line > inst.line + 1)
            continue;
        found = part_list(p) ? (long)(uintptr_t)map_get(&p->insts, key) - 1 : -1;
        *part = p;
    }
    return found;
}

struct str analysis_shape(struct document *d, struct place inst)
{
    struct part *p;
    const long i = analysis_find(d, inst, &p);
    return i < 0 ? STR("") : str_of(hlo_list_inst(p->list, (size_t)i).shape);
}
