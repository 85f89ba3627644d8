/*
 * lsp/run: runs of modules on generated, given or stored arguments: values in hovers, and the
 * commands of code lenses. The limits of runs are those of the server.
 */
#include "lsp/lsp_priv.h"

enum { VALUE_BYTES = 1 << 20, SHOWN_LINES = 40 };

/* ---- arguments ---- */

static void free_args(struct part *p)
{
    for (size_t i = 0; p->args && i < hlo_param_count(p->module); i++)
        hlo_literal_free(p->args[i]);
    heap_free(p->args);
    p->args = NULL;
}

/* Opens the snapshot of the server. NULL if it has none, or, with a message, if it cannot be
 * read. */
static hlo_module *open_snapshot(const struct lsp *s, hlo_messages *m)
{
    SCOPED_FILE *f = s->snapshot ? hlo_file_open(s->snapshot, false, m) : NULL;
    hlo_module *snapshot = f ? hlo_parse(f, 0, m) : NULL;
    if (snapshot && hlo_stored_arguments(snapshot) == 0) {
        hlo_messages_add(m, s->snapshot, "no arguments in this file");
        hlo_module_free(snapshot);
        return NULL;
    }
    return snapshot;
}

/* Opens the file of arrays of the server. NULL if it has none, or, with a message, if it cannot be
 * read. */
static hlo_arrays *open_inputs(const struct lsp *s, const struct part *p, hlo_messages *m)
{
    hlo_arrays *inputs = s->inputs ? hlo_arrays_open(s->inputs, m) : NULL;
    if (!inputs || hlo_arrays_fit(inputs, p->module, m))
        return inputs;
    hlo_arrays_free(inputs);
    return NULL;
}

/* Sets the arguments of a part, unless it has them: recorded runs refer to them. False with
 * messages. */
static bool set_args(const struct lsp *s, struct part *p, hlo_messages *m)
{
    const size_t count = hlo_param_count(p->module);
    const enum hlo_fake kind = s->fake >= 0 ? (enum hlo_fake)s->fake : HLO_FAKE_UNIFORM;
    if (p->args)
        return true;
    SCOPED_MODULE *snapshot = open_snapshot(s, m);
    SCOPED_ARRAYS *inputs = open_inputs(s, p, m);
    bool good = (snapshot || !s->snapshot) && (inputs || !s->inputs);
    p->args = heap_zalloc(count + 1, sizeof *p->args);
    for (size_t i = 0; good && i < count; i++) {
        p->args[i] = snapshot ? hlo_stored_argument(snapshot, p->module, i, 0, m)
                     : inputs ? hlo_arrays_param(inputs, "arg", p->module, i, 0, m)
                              : hlo_fake_param(p->module, i, kind, 1, m);
        good = p->args[i] != NULL;
    }
    if (!good)
        free_args(p);
    return good;
}

/* ---- runs ---- */

static void begin_run(void *watch, hlo_program *p) { watch_begin(watch, p); }
static void end_run(void *watch) { watch_end(watch); }

/* A run of the part whose values are kept; NULL with messages. `w` must live as long as queries may
 * run the module again, which those for whole values do not. */
static hlo_recorded *record(struct watch *w, struct part *p, hlo_messages *m)
{
    const struct lsp *s = w->c->s;
    const struct hlo_recording how =
        HLO_WITH(hlo_recording, .first = true, .most_each = VALUE_BYTES, .context = w,
                 .begin = begin_run, .end = end_run);
    if (!part_list(p) || !set_args(s, p, m))
        return NULL;
    return hlo_record(p->list, &s->options.run, (const hlo_literal *const *)p->args,
                      hlo_param_count(p->module), &how, m);
}

/* Stores the error of a run for hovers. */
static void set_problem(struct part *p, const struct watch *w, const hlo_messages *m)
{
    heap_free(p->problem);
    p->problem = NULL;
    for (size_t i = 0; !p->problem && w->found == WATCH_NOTHING && i < hlo_messages_count(m); i++) {
        const struct hlo_message message = hlo_messages_get(m, i);
        SCOPED_BUF text = {0};
        if (!message.error)
            continue;
        if (message.line == 0) /* of another file */
            buf_printf(&text, "%s: ", message.file);
        buf_puts(&text, message.text);
        p->problem = heap_str(buf_view(&text));
    }
}

const hlo_literal *part_value(struct call *c, struct part *p, size_t inst)
{
    const struct lsp *s = c->s;
    if (!p->verified || (s->fake < 0 && !s->inputs && !s->snapshot))
        return NULL;
    if (!p->run) {
        SCOPED_MESSAGES *m = hlo_messages_new();
        struct watch w;
        watch_init(&w, c);
        hlo_recorded_free(p->recorded); /* of a run that was interrupted */
        p->recorded = record(&w, p, m);
        watch_finish(&w);
        p->run = w.found == WATCH_NOTHING;
        set_problem(p, &w, m);
    }
    const struct hlo_element e = {.inst = inst};
    return p->recorded ? hlo_recorded_value(p->recorded, &e) : NULL;
}

void part_free(struct part *p)
{
    hlo_recorded_free(p->recorded);
    free_args(p);
    heap_free(p->problem);
    hlo_listing_free(p->list);
    arena_free(&p->arena);
    hlo_module_free(p->module);
}

/* ---- commands ---- */

static bool run_failed(struct call *c, const struct watch *w, hlo_messages *m)
{
    if (w->found == WATCH_EDIT)
        return call_fail(c, LSP_MODIFIED, "the run was interrupted by an edit");
    if (w->found == WATCH_CANCEL)
        return call_fail(c, LSP_CANCELLED, "the run was interrupted");
    SCOPED_TEXT text = hlo_messages_draw(m, false);
    call_fail(c, LSP_FAILED, "%s", text.data && *text.data ? text.data : "the run failed");
    return false;
}

/* Shows a text to the user, and makes it the result. */
static void answer_text(struct call *c, const char *title, struct str text)
{
    put_window(c->out, "window/showMessage", 3,
               arena_printf(&c->arena, "%s:\n" STR_FMT, title, STR_ARG(str_trim(text))));
    buf_json_str(&c->result, text);
}

/* A run of the part; NULL with messages. */
static hlo_literal *run_once(struct call *c, struct watch *w, struct part *p, hlo_messages *m)
{
    watch_init(w, c);
    SCOPED_PROGRAM *program =
        set_args(c->s, p, m) ? hlo_plan(p->module, &c->s->options.run, m) : NULL;
    hlo_literal *result = NULL;
    if (program) {
        watch_begin(w, program);
        result =
            hlo_run(program, (const hlo_literal *const *)p->args, hlo_param_count(p->module), m);
        watch_end(w);
    }
    watch_finish(w);
    return result;
}

static bool command_run(struct call *c, struct part *p, hlo_messages *m)
{
    const struct hlo_view view = HLO_WITH(hlo_view, .lines = SHOWN_LINES);
    struct watch w;
    SCOPED_LITERAL *result = run_once(c, &w, p, m);
    if (!result)
        return run_failed(c, &w, m);
    SCOPED_TEXT text = hlo_literal_show(result, &view);
    answer_text(c, "result", (struct str){text.data ? text.data : "", text.size});
    return true;
}

/* The first NaN or infinity of the root of the entry computation, or else its first element. */
static bool find_element(hlo_recorded *r, struct part *p, struct hlo_element *e, hlo_messages *m)
{
    const size_t entry = hlo_list_computations(p->list) - 1;
    const struct hlo_listed root =
        hlo_list_inst(p->list, hlo_list_computation(p->list, entry).root);
    SCOPED_MESSAGES *quiet = hlo_messages_new();
    const bool found = hlo_recorded_find(r, root.name, e, quiet);
    if (found)
        return true;
    *e = (struct hlo_element){.inst = hlo_list_computation(p->list, entry).root};
    const hlo_literal *value = hlo_recorded_value(r, e);
    if (value && hlo_literal_leaves(value) > 0 && hlo_literal_leaf(value, 0).elements > 0)
        return true;
    hlo_messages_add(m, root.name, "the result has no elements");
    return false;
}

static bool command_why(struct call *c, struct part *p, hlo_messages *m)
{
    const struct hlo_why_view view = HLO_WITH(hlo_why_view, .levels = 3);
    struct hlo_element e;
    struct watch w;
    watch_init(&w, c);
    SCOPED_RECORDED *r = record(&w, p, m);
    const bool good = r && hlo_messages_errors(m) == 0 && find_element(r, p, &e, m);
    if (good) {
        SCOPED_TEXT text = hlo_recorded_why(r, &e, &view);
        answer_text(c, "sources", (struct str){text.data ? text.data : "", text.size});
    }
    watch_finish(&w);
    return good || run_failed(c, &w, m);
}

static const struct command {
    const char *name, *title;
    bool (*run)(struct call *c, struct part *p, hlo_messages *m);
} commands[] = {{"hlo.run", "run", command_run}, {"hlo.why", "why", command_why}};

const char *lsp_command_name(size_t i) { return i < COUNT_OF(commands) ? commands[i].name : NULL; }

/* The part given by the arguments of a command, a URI and a line; NULL after reporting an error. */
static struct part *part_of(struct call *c)
{
    const struct dict_value *list = dict_member(c->params, "arguments", DICT_LIST);
    const struct dict_value *uri = list && list->count > 0 ? &list->items[0].value : NULL,
                            *line = list && list->count > 1 ? &list->items[1].value : NULL;
    struct document *d = uri && uri->kind == DICT_STRING ? find_document(c->s, uri->s) : NULL;
    if (!d) {
        call_fail(c, LSP_PARAMS, "expected the URI of an open document as the first argument");
        return NULL;
    }
    struct part *p = analysis_part(d, line && line->i > 0 ? (size_t)line->i : 0);
    if (p && p->verified)
        return p;
    call_fail(c, LSP_FAILED, "the module has errors");
    return NULL;
}

bool lsp_execute_command(struct call *c)
{
    const struct dict_value *name = dict_member(c->params, "command", DICT_STRING);
    for (size_t i = 0; name && i < COUNT_OF(commands); i++) {
        if (!str_is(name->s, commands[i].name))
            continue;
        struct part *p = part_of(c);
        if (!p)
            return false;
        SCOPED_MESSAGES *m = hlo_messages_new();
        return commands[i].run(c, p, m);
    }
    return call_fail(c, LSP_PARAMS, "unknown command");
}

/* ---- code lenses ---- */

static void put_lenses(struct call *c, const struct document *d, struct place p)
{
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        buf_json_open(&c->result, NULL, '{');
        put_range(&c->result, "range", d, symbol_extent(d, p));
        buf_json_open(&c->result, "command", '{');
        buf_json_text(&c->result, "title", str_of(commands[i].title));
        buf_json_text(&c->result, "command", str_of(commands[i].name));
        buf_json_open(&c->result, "arguments", '[');
        buf_json_text(&c->result, NULL, str_of(d->uri));
        buf_json_count(&c->result, NULL, p.line);
        buf_puts(&c->result, "]}}");
    }
}

/* Whether ENTRY precedes the name of a computation. */
static bool is_entry(const struct document *d, struct place p)
{
    const struct extent line = document_line(d, p.line), name = symbol_extent(d, p);
    struct str before = str_trim(document_slice(d, (struct extent){line.begin, name.begin}));
    if (str_ends(before, STR("%")))
        before = str_trim((struct str){before.ptr, before.len - 1});
    return str_ends(before, STR("ENTRY"));
}

bool lsp_code_lens(struct call *c)
{
    const struct document *d = c->d;
    struct place p;
    for (bool more = symbol_from(d, 0, &p); more; more = symbol_next(d, &p))
        if (symbol_get(d, p)->kind == PIECE_COMPUTATION && is_entry(d, p))
            put_lenses(c, d, p);
    return true;
}
