/*
 * repl/entry: reads entries and evaluates them: definitions, expressions and commands.
 */
#include "repl/session.h"

#include <errno.h>

/* ---- states ---- */

static void drop_states_from(struct session *s, size_t at)
{
    while (s->state_count > at)
        state_free(s->states[--s->state_count]);
}

/* A stopped run needs the build that it was started with until its end. */
static void take_built(struct session *s, struct built *b)
{
    if (s->running) {
        struct built *more = heap_grow(s->old, (s->old_count + 1) * sizeof *more);
        s->old = more;
        more[s->old_count++] = s->built;
    } else {
        built_free(&s->built);
    }
    s->built = *b;
}

void session_drop_old(struct session *s)
{
    for (size_t i = 0; i < s->old_count; i++)
        built_free(&s->old[i]);
    heap_free(s->old);
    s->old = NULL;
    s->old_count = 0;
}

static void push_state(struct session *s, struct state *next)
{
    drop_states_from(s, s->state_at + 1);
    if (s->state_count == MAX_STATES) {
        state_free(s->states[0]);
        memmove(s->states, s->states + 1, --s->state_count * sizeof *s->states);
    }
    s->states[s->state_count] = next;
    s->state_at = s->state_count++;
}

/* Whether the lists of a state were only appended to. */
static bool only_adds(const struct state *from, const struct state *to)
{
    return from->insts.list && to->insts.list == from->insts.list && to->header == from->header &&
           to->root == from->root &&
           (to->computations.list == from->computations.list || from->computations.count == 0) &&
           (to->settings.list == from->settings.list || from->settings.count == 0) &&
           to->insts.count + to->computations.count > from->insts.count + from->computations.count;
}

/* A run needs its build unchanged. */
static bool may_grow(const struct session *s) { return !s->running && s->built.module; }

static bool grow(struct session *s, const struct state *next)
{
    if (!may_grow(s) || !only_adds(session_state(s), next))
        return false;
    hlo_messages *m = hlo_messages_new();
    bool ok = build(&s->built, next, m);
    hlo_messages_free(m);
    return ok;
}

static bool build_again(struct session *s, const struct state *next, hlo_messages *m)
{
    struct built b = {0};
    if (build(&b, next, m)) {
        take_built(s, &b);
        return true;
    }
    built_free(&b);
    return false;
}

bool session_take(struct session *s, struct state *next, hlo_messages *m)
{
    bool ok = grow(s, next) || build_again(s, next, m);
    if (ok)
        push_state(s, next);
    else
        state_free(next);
    return ok;
}

bool session_take_set(struct session *s, struct state *next, size_t number, hlo_messages *m)
{
    if (!may_grow(s) || !built_set(&s->built, next, number))
        return session_take(s, next, m);
    push_state(s, next);
    return true;
}

static void catch_up(struct session *s)
{
    hlo_messages *m = hlo_messages_new();
    if (s->built.behind)
        build_again(s, session_state(s), m);
    report_messages(s, m);
}

const hlo_listing *session_listing(struct session *s)
{
    catch_up(s);
    return s->built.listing;
}

const hlo_module *session_module(struct session *s)
{
    catch_up(s);
    return s->built.module;
}

/* Names of entries take precedence over generated names in the module. */
long session_find(struct session *s, struct str name)
{
    const long at = state_find(session_state(s), name.len && name.ptr[0] == '%'
                                                     ? (struct str){name.ptr + 1, name.len - 1}
                                                     : name);
    long n = at >= 0 && s->built.module ? (long)s->built.numbers[at] : -1;
    if (n < 0 && session_listing(s)) {
        char *z = heap_str(name);
        n = hlo_list_find(s->built.listing, z);
        heap_free(z);
    }
    return n >= (long)s->built.first ? n : -1;
}

int session_undo(struct session *s, long steps)
{
    long to = (long)s->state_at - steps;
    if (to < 0 || to >= (long)s->state_count)
        return report_error(s, HLO_USAGE, steps > 0 ? "nothing to undo" : "nothing to redo");
    hlo_messages *m = hlo_messages_new();
    bool ok = build_again(s, s->states[to], m);
    report_messages(s, m);
    if (!ok)
        return HLO_REJECTED;
    s->state_at = (size_t)to;
    return HLO_OK;
}

/* Reverts the last change without making it available to .redo. */
static void take_back(struct session *s)
{
    session_undo(s, 1);
    drop_states_from(s, s->state_at + 1);
}

/* ---- instructions ---- */

struct typing { /* an instruction being parsed */
    struct session *s;
    struct source_text *from;
    struct str name, right, op; /* in `from`, except a generated name */
    struct str whole;
    bool named;
};

/* Generates a name: _1, _2, ... */
static struct str make_name(const struct session *s, struct arena *a)
{
    struct state *state = session_state(s);
    for (;; state->unnamed++) {
        struct str name = arena_printf(a, "_%zu", state->unnamed + 1);
        if (state_find(state, name) < 0 && state_find_computation(state, name) < 0)
            return name;
    }
}

static bool is_op(struct str word)
{
    for (size_t i = 0; i < hlo_op_count(); i++)
        if (str_is(word, hlo_op_get(i).name))
            return true;
    for (size_t i = 0; hlo_form_get(i).name; i++)
        if (str_is(word, hlo_form_get(i).name))
            return true;
    return false;
}

/* `f(x)` of a computation becomes a call. */
static struct entry *call_entry(const struct typing *t, struct arena *a)
{
    size_t skip = (size_t)(t->op.ptr + t->op.len - t->right.ptr);
    struct str before = arena_printf(a, STR_FMT " = call", STR_ARG(t->name));
    struct str after = arena_printf(a, ", to_apply=" STR_FMT, STR_ARG(t->op));
    return entry_new(t->name, t->from, (struct str){t->right.ptr + skip, t->right.len - skip},
                     before.ptr, after.ptr);
}

static struct entry *instruction_entry(const struct typing *t, struct arena *a)
{
    struct str op =
        t->op.len && t->op.ptr[0] == '%' ? (struct str){t->op.ptr + 1, t->op.len - 1} : t->op;
    if (!is_op(op) && state_find_computation(session_state(t->s), op) >= 0)
        return call_entry(t, a);
    if (t->named)
        return entry_new(t->name, t->from, t->whole, "", "");
    return entry_new(t->name, t->from, t->right,
                     arena_printf(a, STR_FMT " = ", STR_ARG(t->name)).ptr, "");
}

/* NAME = (f32[] 1, s32[] 2): shapes are interleaved with values, so both are rewritten. */
static struct entry *tuple_entry(const struct typing *t, hlo_messages *m)
{
    hlo_literal *l = hlo_literal_parse(t->right.ptr, t->right.len, m);
    if (!l)
        return NULL;
    hlo_text shape = hlo_literal_shape(l), values = hlo_literal_print(l, false);
    struct buf b = {0};
    buf_printf(&b, STR_FMT " = %s constant(", STR_ARG(t->name), shape.data);
    buf_bytes(&b, values.data, values.size);
    buf_putc(&b, ')');
    struct entry *e = entry_new(t->name, NULL, STR(""), b.data, "");
    buf_free(&b);
    hlo_text_free(&shape);
    hlo_text_free(&values);
    hlo_literal_free(l);
    return e;
}

/* NAME = f32[2] {1, 2} */
static struct entry *literal_entry(const struct typing *t, struct arena *a, hlo_messages *m)
{
    size_t shape = syntax_literal_values(t->right);
    if (t->right.len && t->right.ptr[0] == '(')
        return tuple_entry(t, m);
    if (shape == 0) {
        add_error(t->s, m, "a literal requires a shape: f32[] 5, f32[3] {1, 2, 3}");
        return NULL;
    }
    const char *begin = t->named ? t->whole.ptr : t->right.ptr, *values = t->right.ptr + shape;
    const char *before = t->named ? "" : arena_printf(a, STR_FMT " = ", STR_ARG(t->name)).ptr;
    return entry_of_parts(t->name, t->from, before, (struct str){begin, (size_t)(values - begin)},
                          " constant(", (struct str){values, t->right.len - shape}, ")");
}

/* NAME = @x.npy: a parameter with the value of the file. */
static struct entry *file_entry(const struct typing *t, struct arena *a,
                                struct shared_value **value, hlo_messages *m)
{
    const struct session *s = t->s;
    const char *path = arena_str(a, (struct str){t->right.ptr + 1, t->right.len - 1}).ptr;
    hlo_arrays *file = hlo_arrays_open(path, m);
    hlo_literal *l =
        file ? hlo_arrays_get(file, hlo_arrays_has(file, "") ? "" : "arg0", NULL, m) : NULL;
    hlo_arrays_free(file);
    if (!l)
        return NULL;
    hlo_text shape = hlo_literal_shape(l);
    const char *text = arena_printf(a, STR_FMT " = %s parameter(%zu)", STR_ARG(t->name), shape.data,
                                    s->built.parameters)
                           .ptr;
    hlo_text_free(&shape);
    *value = shared_value_new(l);
    return entry_new(t->name, NULL, STR(""), text, "");
}

/* Replaces an entry of the same name in place, or moves it to the end if it uses later entries. */
static bool put_entry(struct session *s, struct entry *e, bool root, struct shared_value *value,
                      hlo_messages *m)
{
    struct state *next = state_copy(session_state(s));
    long at = state_find(next, str_of(e->name));
    state_put(next, entry_ref(e), root);
    state_set(next, str_of(e->name), value, value ? ++s->ids : 0);
    struct state *moved = at >= 0 ? state_copy(next) : NULL;
    bool ok = session_take(s, next, m);
    if (!ok && moved) {
        hlo_messages *again = hlo_messages_new();
        state_move_last(moved, at);
        ok = session_take(s, moved, again);
        moved = NULL;
        hlo_messages_free(again);
    }
    state_free(moved);
    return ok;
}

static int show_made(struct session *s, struct str name, bool quiet)
{
    long n = session_find(s, name);
    struct hlo_listed at = built_at(&s->built, (size_t)n);
    struct shared_value *h = NULL;
    if (at.parameter >= 0 && !state_setting(session_state(s), at.name)) {
        if (!quiet)
            fprintf(s->out, STR_FMT ": %s\n", STR_ARG(name), at.shape);
        return HLO_OK;
    }
    size_t inst = (size_t)n;
    hlo_messages *m = hlo_messages_new();
    enum made made = values_make(s, &inst, 1, false, &h, m);
    int status = made == FAILED ? value_status(m) : HLO_OK;
    if (made == UNMADE) {
        if (!quiet)
            fprintf(s->out, STR_FMT ": %s\n", STR_ARG(name), at.shape);
        hlo_messages_free(m);
        return HLO_OK;
    }
    report_messages(s, m);
    if (made == MADE && !quiet)
        status = show_value(s, name, STR(""), h);
    shared_value_unref(h);
    return status;
}

/* The entry of the typed text, with the value of its file; NULL with messages. */
static struct entry *read_entry(struct session *s, struct source_text *from,
                                const struct reading *r, struct arena *a,
                                struct shared_value **value, hlo_messages *m)
{
    struct typing t = {s, from, r->name, r->right, r->op, r->text, r->kind == READ_INSTRUCTION};
    if (!t.named)
        t.name = make_name(s, a);
    if (t.op.len)
        return instruction_entry(&t, a);
    return t.right.len && t.right.ptr[0] == '@' ? file_entry(&t, a, value, m)
                                                : literal_entry(&t, a, m);
}

static int do_instruction(struct session *s, struct source_text *from, const struct reading *r)
{
    struct arena a;
    struct shared_value *value = NULL;
    hlo_messages *m = hlo_messages_new();
    arena_init(&a);
    struct entry *e = read_entry(s, from, r, &a, &value, m);
    bool ok = e && put_entry(s, e, r->root, value, m);
    int status = HLO_REJECTED;
    report_messages(s, m);
    if (ok && (status = show_made(s, str_of(e->name), r->quiet)) != HLO_OK)
        take_back(s);
    entry_unref(e);
    arena_free(&a);
    return status;
}

int entry_type(struct session *s, struct str text)
{
    struct source_text *from =
        source_text_new(s->input->editor ? "<input>" : s->input->name, text, s->input->first);
    struct reading r = syntax_read((struct str){from->text, from->size});
    struct arena a;
    struct shared_value *value = NULL;
    hlo_messages *m = hlo_messages_new();
    arena_init(&a);
    struct entry *e = read_entry(s, from, &r, &a, &value, m);
    bool ok = e && put_entry(s, e, false, value, m);
    report_messages(s, m);
    if (ok) {
        long n = session_find(s, str_of(e->name));
        fprintf(s->out, "%s\n", built_at(&s->built, (size_t)n).shape);
        take_back(s);
    }
    entry_unref(e);
    arena_free(&a);
    source_text_unref(from);
    return ok ? HLO_OK : HLO_REJECTED;
}

/* ---- computations ---- */

static int do_computations(struct session *s, struct source_text *from, const struct reading *r)
{
    struct arena a;
    struct syntax_module module;
    arena_init(&a);
    if (!syntax_module(&a, r->text, &module)) {
        arena_free(&a);
        return report_error(s, HLO_REJECTED, "expected an instruction or a computation");
    }
    struct state *next = state_copy(session_state(s));
    hlo_messages *m = hlo_messages_new();
    for (size_t i = 0; i < module.count; i++)
        state_put_computation(next, entry_new(module.computations[i].name, from,
                                              module.computations[i].whole, "", ""));
    bool ok = session_take(s, next, m);
    report_messages(s, m);
    arena_free(&a);
    return ok ? HLO_OK : HLO_REJECTED;
}

/* ---- entries ---- */

static int do_name(struct session *s, const struct reading *r)
{
    int status = HLO_OK;
    struct shared_value *h = value_named(s, r->name, &status);
    if (!h)
        return status;
    status = r->quiet ? HLO_OK : show_value(s, r->name, r->index, h);
    shared_value_unref(h);
    return status;
}

static int do_other(struct session *s, const struct reading *r)
{
    const char *command = command_meant(r->text);
    if (*command)
        return report_error(s, HLO_USAGE, "unknown name; did you mean the command '%s'?", command);
    return report_error(s, HLO_REJECTED, "expected HLO or a command; see .help");
}

static int do_reading(struct session *s, struct source_text *from, const struct reading *r)
{
    switch (r->kind) {
    case READ_BLANK: return HLO_OK;
    case READ_COMMAND: return command_do(s, r->text);
    case READ_MODULE: return load_text(s, from->name, r->text, from->first_line);
    case READ_COMPUTATION: return do_computations(s, from, r);
    case READ_INSTRUCTION:
    case READ_EXPRESSION:
    case READ_LITERAL: return do_instruction(s, from, r);
    case READ_NAME: return do_name(s, r);
    case READ_UNCLOSED:
        return report_error(s, HLO_REJECTED,
                            "unterminated bracket, string or comment at end of input");
    case READ_UNOPENED: return report_error(s, HLO_REJECTED, "unmatched closing bracket");
    case READ_OTHER: break;
    }
    return do_other(s, r);
}

/* Evaluates one entry: HLO text or a command. Returns a status. */
static int entry_do(struct session *s, struct str text)
{
    struct source_text *from =
        source_text_new(s->input->editor ? "<input>" : s->input->name, text, s->input->first);
    struct reading r = syntax_read((struct str){from->text, from->size});
    if (s->echo && r.kind != READ_BLANK) {
        fprintf(s->out, "%s" STR_FMT "\n", s->prompt, STR_ARG(str_trim(text)));
    }
    bool once = s->once && r.kind != READ_BLANK;
    s->status = do_reading(s, from, &r);
    int left = once ? output_to(s, NULL, false) : HLO_OK;
    if (s->status == HLO_OK)
        s->status = left;
    source_text_unref(from);
    return s->status;
}

/* ---- input ---- */

static enum file_line read_line(struct input *in)
{
    const enum file_line got = file_line(in->file, &in->entry);
    in->line += got != FILE_END;
    return got;
}

static enum line_result read_file(struct input *in)
{
    in->entry.size = 0;
    in->first = in->line + 1;
    enum file_line got = read_line(in);
    if (got == FILE_END)
        return LINE_END;
    struct syntax_progress progress = {0};
    while (got == FILE_LINE && !syntax_complete_so_far(&progress, buf_view(&in->entry)))
        got = read_line(in);
    return got == FILE_ENDLESS ? LINE_ENDLESS : LINE_ENTRY;
}

static void prompt_of(const struct session *s, struct buf *out)
{
    const struct running *r = s->running;
    if (!r || !r->at)
        buf_puts(out, s->prompt);
    else
        buf_printf(out, "%s> ", hlo_list_inst(r->listing, r->at->inst).name);
}

enum line_result reader_read(struct session *s)
{
    struct input *in = s->input;
    if (!in->editor)
        return read_file(in);
    struct buf prompt = {0};
    prompt_of(s, &prompt);
    report_flush(s);
    s->o->interrupt_end(); /* Ctrl-C from now on is for this entry */
    enum line_result result = line_read(in->editor, prompt.data, "...> ", &in->entry);
    buf_free(&prompt);
    in->first = 1;
    return result;
}

void reader_close(struct input *in)
{
    line_close(in->editor);
    if (in->file && in->file != stdin)
        fclose(in->file);
    buf_free(&in->entry);
}

/* Reads until the end of input, .quit, or, with .bail, the first error. */
int session_read(struct session *s)
{
    int status = HLO_OK;
    while (!s->leaving && !(s->running && s->running->at && s->debugger.stepping != STOPPED)) {
        enum line_result got = reader_read(s);
        if (got == LINE_CANCELLED)
            continue;
        if (got == LINE_END)
            break;
        if (got == LINE_ENDLESS) {
            status = report_error(s, HLO_LIMIT, "entry too long: %s", file_problem(EFBIG));
            break;
        }
        struct buf entry =
            s->input->entry; /* its own buffer: nested prompts read other entries meanwhile */
        s->input->entry = (struct buf){0};
        status = entry_do(s, buf_view(&entry));
        buf_free(&entry);
        if (status != HLO_OK && s->bail)
            break;
    }
    return s->bail ? status : HLO_OK;
}

int input_all(struct session *s, struct input *in)
{
    in->outer = s->input;
    s->input = in;
    int status = session_read(s);
    s->input = in->outer;
    reader_close(in);
    return status;
}

enum { SOURCE_DEPTH = 20 };

int source_file(struct session *s, const char *path, bool must_exist)
{
    struct input in = {.name = path, .file = fopen(path, "r")};
    int depth = 0;
    for (const struct input *outer = s->input; outer; outer = outer->outer)
        depth++;
    if (in.file && depth < SOURCE_DEPTH)
        return input_all(s, &in);
    if (in.file) {
        fclose(in.file);
        return report_error(s, HLO_LIMIT, "%s: .source nested more than %d deep", path,
                            SOURCE_DEPTH);
    }
    return must_exist ? report_error(s, HLO_USAGE, "%s: %s", path, strerror(errno)) : HLO_OK;
}
