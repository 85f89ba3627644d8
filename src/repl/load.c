/*
 * repl/load: loads a module into the session, split into computations and instructions; and saves
 * the session as a module.
 */
#include "repl/session.h"

#include <stdlib.h>

/* ---- splitting ---- */

/* The offset of a line and column in a text whose first line has number `first_line`. */
static size_t offset_of(struct str text, uint32_t first_line, uint32_t line, uint32_t column,
                        size_t *at, uint32_t *at_line)
{
    if (*at_line > line) {
        *at = 0;
        *at_line = first_line;
    }
    while (*at_line < line) {
        const char *end = memchr(text.ptr + *at, '\n', text.len - *at);
        if (!end)
            return text.len;
        *at = (size_t)(end + 1 - text.ptr);
        ++*at_line;
    }
    return *at + column - 1;
}

static int by_size(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* The start positions of the instructions of the entry computation, in order, without duplicates
 * (one text may define several instructions). */
static size_t *starts_of(const hlo_listing *l, struct str text, uint32_t first_line, size_t *count)
{
    struct hlo_listed_computation main = listed_entry(l);
    size_t *starts = heap_zalloc(main.count + 1, sizeof *starts), n = 0, at = 0;
    uint32_t at_line = first_line;
    for (size_t i = 0; i < main.count; i++) {
        struct hlo_listed inst = hlo_list_inst(l, main.first + i);
        starts[i] = offset_of(text, first_line, inst.line, inst.column, &at, &at_line);
    }
    qsort(starts, main.count, sizeof *starts, by_size);
    for (size_t i = 0; i < main.count; i++)
        if (n == 0 || starts[n - 1] != starts[i])
            starts[n++] = starts[i];
    *count = n;
    return starts;
}

static bool cut_insts(struct state *state, struct source_text *from, struct str body,
                      const hlo_listing *l)
{
    SCOPED_ARENA a = arena_make();
    struct map names;
    size_t count, begin = (size_t)(body.ptr - from->text), end = begin + body.len;
    SCOPED_HEAP size_t *starts =
        starts_of(l, (struct str){from->text, from->size}, from->first_line, &count);
    bool ok = true;
    map_init(&names, &a);
    for (size_t i = 0; i < count && ok; i++) {
        size_t stop = i + 1 < count ? starts[i + 1] : end;
        ok = starts[i] >= begin && stop <= end && starts[i] < stop;
        if (!ok)
            break;
        struct reading r = syntax_read((struct str){from->text + starts[i], stop - starts[i]});
        ok = r.kind == READ_INSTRUCTION && !map_put(&names, r.name, state);
        if (ok)
            state_add(state, entry_new(r.name, from, r.text, "", ""), r.root);
    }
    return ok;
}

/* Whether this is the entry computation of the listing; without ENTRY there is only one. */
static bool is_main(const struct syntax_module *m, const struct syntax_computation *c)
{
    return c->entry || m->count == 1;
}

/* NULL if the text cannot be split. */
static struct state *cut_module(struct source_text *from, const hlo_listing *l)
{
    SCOPED_ARENA a = arena_make();
    struct syntax_module m;
    struct state *state = state_new();
    bool ok = syntax_module(&a, (struct str){from->text, from->size}, &m);
    if (ok && str_is(syntax_first_word(m.header), "HloModule")) {
        size_t skip = syntax_skip(m.header, 0);
        struct str header = str_trim((struct str){m.header.ptr + skip, m.header.len - skip});
        state->header = entry_new(STR(""), from, header, "", "");
    }
    bool found = false;
    for (size_t i = 0; i < m.count && ok; i++) {
        const struct syntax_computation *c = &m.computations[i];
        if (!is_main(&m, c)) {
            state_put_computation(state, entry_new(c->name, from, c->whole, "", ""));
            continue;
        }
        heap_free(state->entry_name);
        heap_free(state->entry_tail);
        state->entry_name = heap_str(c->name);
        state->entry_tail = heap_str(c->tail);
        ok = !found && cut_insts(state, from, c->body, l);
        found = true;
    }
    if (ok && found)
        return state;
    state_free(state);
    return NULL;
}

/* ---- loading ---- */

/* Loads the module of a text that was parsed and verified. */
static bool take_cut(struct session *s, const char *name, struct str text, uint32_t line,
                     const hlo_module *module, hlo_messages *m)
{
    SCOPED_LISTING *l = hlo_list(module);
    struct source_text *from = source_text_new(name, text, line);
    from->module = true;
    struct state *state = cut_module(from, l);
    bool ok = state && session_take(s, state, m);
    source_text_unref(from);
    return ok;
}

/* A text that cannot be split as written is split as printed. */
static bool take_printed(struct session *s, const char *name, const hlo_module *module,
                         hlo_messages *m)
{
    SCOPED_TEXT text = hlo_print(module, HLO_PRINT_EXACT);
    SCOPED_FILE *f = hlo_file_of_text(name, text.data, text.size, false);
    SCOPED_MODULE *again = hlo_parse(f, 0, m);
    return again && take_cut(s, name, (struct str){text.data, text.size}, 1, again, m);
}

/* Sets the arguments of --inputs, or those stored with the loaded module. */
static bool load_inputs(struct session *s, const hlo_module *loaded, hlo_messages *m)
{
    if (!s->built.module)
        return true;
    if (!s->o->inputs)
        return s->o->random || !hlo_stored_arguments(loaded) || set_parameters(s, NULL, loaded, m);
    SCOPED_ARRAYS *file = hlo_arrays_open(s->o->inputs, m);
    return file && set_parameters(s, file, NULL, m);
}

static bool take_text(struct session *s, const hlo_file *f, size_t part, const char *name,
                      const hlo_module *module)
{
    size_t size;
    uint32_t line;
    const char *text = hlo_file_text(f, part, &size, &line);
    SCOPED_MESSAGES *ignored = hlo_messages_new();
    return take_cut(s, name, (struct str){text, size}, line, module, ignored);
}

static const char *plural(size_t n) { return n == 1 ? "" : "s"; }

static void note_loaded(struct session *s, const hlo_module *module)
{
    const size_t insts = hlo_list_count(s->built.listing),
                 computations = hlo_list_computations(s->built.listing),
                 parameters = hlo_param_count(module);
    report_note(s, "%zu instruction%s in %zu computation%s, %zu parameter%s", insts, plural(insts),
                computations, plural(computations), parameters, plural(parameters));
}

static int load_part(struct session *s, const hlo_file *f, size_t part, const char *name)
{
    hlo_messages *m = hlo_messages_new();
    SCOPED_MODULE *module = hlo_parse(f, part, m);
    bool ok = module && hlo_verify(module, m);
    if (ok) {
        ok = (!hlo_file_is_proto(f) && take_text(s, f, part, name, module)) ||
             take_printed(s, name, module, m);
        ok = ok && load_inputs(s, module, m);
    }
    if (ok)
        note_loaded(s, module);
    report_messages(s, m);
    return ok ? HLO_OK : HLO_REJECTED;
}

int load_text(struct session *s, const char *name, struct str text, uint32_t line)
{
    struct hlo_piece piece = {text.ptr, text.len, name, text.ptr, text.len, line};
    SCOPED_FILE *f = hlo_file_of_pieces(name, &piece, 1);
    return load_part(s, f, 0, name);
}

static int load_onnx(struct session *s, const char *path)
{
    hlo_messages *m = hlo_messages_new();
    SCOPED_ONNX *model = NULL;
    int status = (int)hlo_onnx_open(path, &model, m);
    SCOPED_MODULE *module = model ? hlo_onnx_import(model, NULL, 0, m) : NULL;
    if (model && !module)
        status = HLO_REJECTED;
    report_messages(s, m);
    if (module) {
        SCOPED_TEXT text = hlo_print(module, HLO_PRINT_EXACT);
        status = load_text(s, path, (struct str){text.data, text.size}, 1);
    }
    return status;
}

static int load_parts(struct session *s, const char *path, size_t part)
{
    hlo_messages *m = hlo_messages_new();
    SCOPED_FILE *f = hlo_file_open(path, false, m);
    report_messages(s, m);
    if (!f)
        return HLO_USAGE;
    int status;
    if (part > hlo_file_count(f))
        status = report_error(s, HLO_USAGE, "%s has %zu modules", path, hlo_file_count(f));
    else
        status = load_part(s, f, part > 0 ? part - 1 : 0, path);
    if (part == 0 && hlo_file_count(f) > 1)
        report_note(s, "loaded the first of %zu modules; use .load %s module N for another",
                    hlo_file_count(f), path);
    return status;
}

int load_file(struct session *s, const char *path, size_t part)
{
    const int status =
        str_ends(str_of(path), STR(".onnx")) ? load_onnx(s, path) : load_parts(s, path, part);
    if (status == HLO_OK)
        session_settle(s);
    return status;
}

/* ---- saving ---- */

static void put_constant(struct module_text *t, const struct entry *set, bool root)
{
    SCOPED_TEXT shape = hlo_literal_shape(set->value->l),
                values = hlo_literal_print(set->value->l, false);
    module_text_made(t, "  %s%s = %s constant(%s)\n", root ? "ROOT " : "", set->name, shape.data,
                     values.data);
}

/* Values that were set become constants; the remaining parameters are renumbered. */
static hlo_module *module_to_save(struct session *s, hlo_messages *m)
{
    const struct state *state = session_state(s);
    struct module_text t;
    size_t gone = 0;
    SCOPED_HEAP size_t *order =
        heap_zalloc(1, (hlo_param_count(session_module(s)) + 1) * sizeof *order);
    for (size_t p = 0; p < hlo_param_count(s->built.module); p++) {
        order[p] = p - gone;
        gone += state_setting(state, hlo_param_name(s->built.module, p)) != NULL;
    }
    module_text_begin(&t, state, NULL);
    for (size_t n = 0; n < state->insts.count; n++) {
        const struct entry *e = state_inst(state, n);
        const struct entry *set = state_setting(state, e->name);
        struct hlo_listed at = hlo_list_inst(s->built.listing, s->built.numbers[n]);
        bool root = e == state_root(state);
        if (set)
            put_constant(&t, set, root);
        else if (at.parameter >= 0 && gone)
            module_text_parameter(&t, e->name, at.shape, order[at.parameter], root);
        else
            module_text_entry(&t, e, root);
    }
    return module_text_parse(&t, state, false, m);
}

static void note_saved(struct session *s, const char *path, const hlo_module *module)
{
    const size_t parameters = hlo_param_count(module), insts = session_state(s)->insts.count;
    report_note(s, "saved to %s: %zu parameter%s, %zu instruction%s", path, parameters,
                plural(parameters), insts, plural(insts));
}

int save_file(struct session *s, const char *path)
{
    if (!s->built.module || !state_root(session_state(s)))
        return report_error(s, HLO_USAGE, "session is empty");
    if (!may_write(s, path))
        return HLO_USAGE;
    hlo_messages *m = hlo_messages_new();
    SCOPED_MODULE *module = module_to_save(s, m);
    bool ok = module != NULL;
    if (ok) {
        SCOPED_TEXT text = hlo_print(module, HLO_PRINT_EXACT);
        if (strcmp(path, "-") == 0)
            fwrite(text.data, 1, text.size, s->out);
        else
            ok = hlo_write_text(path, text.data, text.size, m);
    }
    report_messages(s, m);
    if (ok && strcmp(path, "-") != 0)
        note_saved(s, path, module);
    return ok ? HLO_OK : HLO_USAGE;
}
