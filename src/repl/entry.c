/*
 * repl/entry: evaluates entries: definitions, expressions and commands.
 */
#include "repl/expression.h"

/* ---- instructions ---- */

struct typing { /* an instruction being parsed */
    struct session *s;
    struct state *next; /* the state that it will be added to */
    struct source_text *from;
    struct str name, right; /* in `from`, except a generated name */
    struct str whole;
    bool named, has_op;
    struct arena *a;
    hlo_messages *m;
    struct shared_value *value; /* of a file */
    bool translated;            /* from an expression that is not HLO */
};

static struct entry *instruction_entry(const struct typing *t)
{
    if (t->named)
        return entry_new(t->name, t->from, t->whole, "", "");
    return entry_new(t->name, t->from, t->right,
                     arena_printf(t->a, STR_FMT " = ", STR_ARG(t->name)).ptr, "");
}

/* The text up to the right side: `NAME = `. */
static struct text_part left_part(const struct typing *t)
{
    const struct str typed = {t->whole.ptr, (size_t)(t->right.ptr - t->whole.ptr)};
    if (t->named)
        return (struct text_part){typed, typed};
    return (struct text_part){arena_printf(t->a, STR_FMT " = ", STR_ARG(t->name)), STR("")};
}

/* NAME = (f32[] 1, s32[] 2): shapes are interleaved with values, so both are rewritten. */
static struct entry *tuple_entry(const struct typing *t)
{
    SCOPED_LITERAL *l = hlo_literal_parse(t->right.ptr, t->right.len, t->m);
    if (!l)
        return NULL;
    SCOPED_TEXT shape = hlo_literal_shape(l), values = hlo_literal_print(l, false);
    SCOPED_BUF b = {0};
    buf_printf(&b, STR_FMT " = %s constant(", STR_ARG(t->name), shape.data);
    buf_bytes(&b, values.data, values.size);
    buf_putc(&b, ')');
    return entry_new(t->name, NULL, STR(""), b.data, "");
}

/* NAME = f32[2] {1, 2} */
static struct entry *literal_entry(const struct typing *t)
{
    size_t shape = syntax_literal_values(t->right);
    if (t->right.len && t->right.ptr[0] == '(')
        return tuple_entry(t);
    const struct str type = {t->right.ptr, shape},
                     values = {t->right.ptr + shape, t->right.len - shape};
    if (values.len == 0)
        return add_error_at(t->m, t->from, t->right, "expected a value after the shape"), NULL;
    const struct text_part parts[] = {left_part(t),
                                      {type, type},
                                      {STR(" constant("), STR("")},
                                      {values, values},
                                      {STR(")"), STR("")}};
    return entry_of_parts(t->name, t->from, parts, COUNT_OF(parts));
}

/* NAME = @x.npy: a parameter with the value of the file. */
static struct entry *file_entry(struct typing *t)
{
    const char *path = arena_str(t->a, (struct str){t->right.ptr + 1, t->right.len - 1}).ptr;
    SCOPED_ARRAYS *file = hlo_arrays_open(path, t->m);
    hlo_literal *l =
        file ? hlo_arrays_get(file, hlo_arrays_has(file, "") ? "" : "arg0", NULL, t->m) : NULL;
    if (!l)
        return NULL;
    SCOPED_TEXT shape = hlo_literal_shape(l);
    const char *text = arena_printf(t->a, STR_FMT " = %s parameter(%zu)", STR_ARG(t->name),
                                    shape.data, t->s->built.parameters)
                           .ptr;
    t->value = shared_value_new(l);
    return entry_new(t->name, NULL, STR(""), text, "");
}

static struct entry *expression_entry(const struct typing *t, const struct parts *right)
{
    struct text_part *parts = ARENA_ARRAY(t->a, struct text_part, right->count + 1);
    parts[0] = left_part(t);
    memcpy(parts + 1, right->at, right->count * sizeof *parts);
    return entry_of_parts(t->name, t->from, parts, right->count + 1);
}

/* Moves the instructions from index `first` on, which an instruction needs, in front of it. */
static void move_needed(struct state *s, size_t first, size_t at)
{
    for (size_t i = first; i < s->insts.count; i++)
        state_move(s, i, at++);
}

static bool is_valid(const struct state *s)
{
    SCOPED_MESSAGES *m = hlo_messages_new();
    struct built b = {0};
    const bool ok = build(&b, s, m);
    built_free(&b);
    return ok;
}

/* A copy of S without the entries typed after index `at` that do not fit those before them. Adds
 * the names of these to LEFT_OUT. */
static struct state *fitting(const struct state *s, size_t at, struct buf *left_out)
{
    struct state *kept = state_copy(s);
    state_keep(kept, at + 1);
    for (size_t i = at + 1; i < s->insts.count; i++) {
        struct entry *e = state_inst(s, i);
        struct state *more = state_copy(kept);
        state_add(more, entry_ref(e), s->root == (long)i);
        const bool keep = !e->from || e->from->module || is_valid(more);
        if (!keep) {
            buf_printf(left_out, left_out->size ? ", %s" : "%s", e->name);
            state_set(kept, str_of(e->name), NULL, 0);
        }
        state_free(keep ? kept : more);
        kept = keep ? more : kept;
    }
    return kept;
}

/* Adopts S, in which the entry at index `at` was replaced, without the entries typed after it that
 * no longer fit. */
static bool put_fitting(struct session *s, const struct state *with, size_t at)
{
    SCOPED_MESSAGES *m = hlo_messages_new();
    SCOPED_BUF left_out = {0};
    const bool ok = session_take(s, fitting(with, at, &left_out), m);
    if (ok)
        report_warning(s, "removed %s: invalid with the new '%s'; .undo reverts the change",
                       left_out.data, state_inst(with, at)->name);
    return ok;
}

/* Adopts S with the instruction at index `at` moved to the end. */
static bool put_last(struct session *s, const struct state *with, size_t at)
{
    SCOPED_MESSAGES *m = hlo_messages_new();
    struct state *moved = state_copy(with);
    state_move(moved, at, moved->insts.count - 1);
    return session_take(s, moved, m);
}

/* Adopts S, in which the instruction NAME was replaced, and what it needs follows index `known`: as
 * it is, with that instruction after all others, whose results it may use, or without those that no
 * longer fit it. */
static bool put_replaced(struct typing *t, const struct state *with, struct str name, size_t known)
{
    struct session *s = t->s;
    hlo_messages *m = hlo_messages_new();
    struct state *in_place = state_copy(with);
    const size_t at = (size_t)state_find(with, name);
    move_needed(in_place, known, at);
    const bool fits = session_take(s, state_copy(in_place), m),
               otherwise = !fits && (put_last(s, with, at) ||
                                     put_fitting(s, in_place, (size_t)state_find(in_place, name)));
    report_messages(s, t->m);
    t->m = otherwise ? hlo_messages_new() : m;
    if (otherwise)
        hlo_messages_free(m);
    state_free(in_place);
    return fits || otherwise;
}

/* Adds the entry to NEXT, which is taken, or replaces that of the same name. */
static bool put_entry(struct typing *t, struct entry *e, bool root)
{
    struct session *s = t->s;
    struct state *next = t->next;
    const struct str name = str_of(e->name);
    const bool replaces = state_find(next, name) >= 0;
    const size_t known = session_state(s)->insts.count;
    state_put(next, entry_ref(e), root);
    state_set(next, name, t->value, t->value ? ++s->ids : 0);
    t->next = NULL;
    t->value = NULL;
    if (!replaces)
        return session_take(s, next, t->m);
    const bool ok = put_replaced(t, next, name, known);
    state_free(next);
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

/* The entry of the typed text; NULL with messages, or without if it is neither HLO nor an
 * expression. */
static struct entry *read_entry(struct typing *t, const struct reading *r)
{
    struct parts right = {0};
    const char first = t->right.len ? t->right.ptr[0] : '\0';
    const bool file = first == '@';
    const bool tuple = first == '(' && hlo_literal_has_shape(t->right.ptr, t->right.len);
    const bool must =
        (t->named || first == '(') && !t->has_op && !tuple && !syntax_literal_values(t->right);
    const enum translated how = file ? TRANSLATED_NOTHING
                                     : expression_translate(t->s, t->next, t->from, t->right,
                                                            t->name, must, t->a, &right, t->m);
    if (how == TRANSLATED_BADLY)
        return NULL;
    if (!t->named)
        t->name = state_new_name(t->next, t->a);
    t->translated = how == TRANSLATED;
    if (t->translated)
        return expression_entry(t, &right);
    if (r->kind == READ_NAME || r->kind == READ_OTHER)
        return NULL;
    return t->has_op ? instruction_entry(t) : file ? file_entry(t) : literal_entry(t);
}

static void typing_begin(struct typing *t, struct session *s, struct source_text *from,
                         const struct reading *r, struct arena *a)
{
    arena_init(a);
    *t = (struct typing){.s = s,
                         .next = state_copy(session_state(s)),
                         .from = from,
                         .name = r->kind == READ_INSTRUCTION ? r->name : STR(""),
                         .right = r->right,
                         .whole = r->text,
                         .named = r->kind == READ_INSTRUCTION,
                         .has_op = r->op.len > 0,
                         .a = a,
                         .m = hlo_messages_new()};
}

static void typing_end(struct typing *t, struct entry *e)
{
    report_messages(t->s, t->m);
    shared_value_unref(t->value);
    state_free(t->next);
    entry_unref(e);
    arena_free(t->a);
}

/* Shows an instruction after those that were generated from its text, which are in front of it. */
static void show_with_generated(struct session *s, const hlo_listing *l, size_t number)
{
    const struct built *b = &s->built;
    SCOPED_HEAP bool *shown = heap_zalloc(b->count, sizeof *shown);
    shown[number - b->first] = true;
    for (size_t i = number - b->first + 1; i-- > 0;) {
        const struct hlo_listed at = hlo_list_inst(l, b->first + i);
        for (size_t k = 0; k < at.operand_count && shown[i]; k++)
            shown[at.operands[k] - b->first] |= !b->entries[at.operands[k] - b->first];
    }
    for (size_t i = 0; b->first + i <= number; i++) {
        if (!shown[i])
            continue;
        SCOPED_TEXT line = hlo_list_print(l, b->first + i, HLO_PRINT_SHORT);
        fprintf(s->out, "  %s\n", line.data + (strncmp(line.data, "ROOT ", 5) == 0 ? 5 : 0));
    }
}

/* Shows the HLO of the instructions that an expression became, the last of which has a name. */
static void show_hlo(struct session *s, const struct state *before, struct str name)
{
    const hlo_listing *l = session_listing(s);
    const struct state *now = session_state(s);
    for (size_t i = 0; i < now->insts.count; i++) {
        const struct str of = str_of(state_inst(now, i)->name);
        if (str_eq(name, of) || state_find(before, of) < 0)
            show_with_generated(s, l, s->built.numbers[i]);
    }
}

/* *FOREIGN: set, without a message, if the text is neither HLO nor an expression. */
static int do_instruction(struct session *s, struct source_text *from, const struct reading *r,
                          bool *foreign)
{
    struct arena a;
    struct typing t;
    typing_begin(&t, s, from, r, &a);
    struct state *before = state_copy(t.next);
    struct entry *e = read_entry(&t, r);
    const bool ok = e && put_entry(&t, e, r->root);
    int status = HLO_REJECTED;
    *foreign = !e && hlo_messages_count(t.m) == 0;
    report_messages(s, t.m);
    t.m = hlo_messages_new();
    if (ok && t.translated && (s->interactive || s->echo))
        show_hlo(s, before, str_of(e->name));
    if (ok && (status = show_made(s, str_of(e->name), r->quiet)) != HLO_OK)
        session_take_back(s);
    else if (ok)
        repl_set(&s->last, e->name);
    state_free(before);
    typing_end(&t, e);
    return status;
}

int entry_type(struct session *s, struct str text)
{
    struct source_text *from =
        source_text_new(s->input->editor ? "<input>" : s->input->name, text, s->input->first);
    struct reading r = syntax_read((struct str){from->text, from->size});
    struct arena a;
    struct typing t;
    typing_begin(&t, s, from, &r, &a);
    struct entry *e = read_entry(&t, &r);
    const bool ok = e && put_entry(&t, e, false);
    if (ok) {
        long n = session_find(s, str_of(e->name));
        fprintf(s->out, "%s\n", built_at(&s->built, (size_t)n).shape);
        session_take_back(s);
    } else if (!e && hlo_messages_count(t.m) == 0) {
        report_unknown(s, r.text);
    }
    typing_end(&t, e);
    source_text_unref(from);
    return ok ? HLO_OK : HLO_REJECTED;
}

/* ---- computations ---- */

static int do_computations(struct session *s, struct source_text *from, const struct reading *r)
{
    SCOPED_ARENA a = arena_make();
    struct syntax_module module;
    if (!syntax_module(&a, r->text, &module))
        return report_error(s, HLO_REJECTED, "expected an instruction or a computation");
    struct state *next = state_copy(session_state(s));
    hlo_messages *m = hlo_messages_new();
    for (size_t i = 0; i < module.count; i++)
        state_put_computation(next, entry_new(module.computations[i].name, from,
                                              module.computations[i].whole, "", ""));
    bool ok = session_take(s, next, m);
    report_messages(s, m);
    return ok ? HLO_OK : HLO_REJECTED;
}

/* ---- entries ---- */

static int do_name(struct session *s, const struct reading *r)
{
    int status = HLO_OK;
    const struct str name = session_alias(s, r->name);
    struct shared_value *h = value_named(s, name, &status);
    if (!h)
        return status;
    status = r->quiet ? HLO_OK : show_value(s, name, r->index, h);
    if (r->index.len == 0 && state_find(session_state(s), name) >= 0)
        session_last(s, name);
    shared_value_unref(h);
    return status;
}

/* `help`, `exit` and `quit` are commands unless they are names. */
static const char *bare_command(struct str text)
{
    const struct str word = syntax_first_word(text);
    const bool alone = word.len == text.len;
    if (text.ptr[0] == '?' || (str_is(word, "help") && text.len > 4 && char_is_blank(text.ptr[4])))
        return ".help";
    if (alone && (str_is(word, "help") || str_is(word, "exit") || str_is(word, "quit")))
        return str_is(word, "help") ? ".help" : ".quit";
    return NULL;
}

static int do_other(struct session *s, const struct reading *r)
{
    const char *bare = bare_command(r->text), *command = command_meant(r->text);
    const size_t word = r->text.ptr[0] == '?' ? 1 : syntax_first_word(r->text).len;
    if (bare) {
        SCOPED_BUF b = {0};
        buf_printf(&b, "%s " STR_FMT, bare, (int)(r->text.len - word), r->text.ptr + word);
        return command_do(s, buf_view(&b));
    }
    if (r->kind == READ_NAME)
        return do_name(s, r);
    if (*command)
        return report_error(s, HLO_USAGE, "unknown name; did you mean the command '%s'?", command);
    return report_error(s, HLO_REJECTED, "expected HLO or a command; see .help");
}

static bool is_name(struct session *s, const struct reading *r)
{
    return r->kind == READ_NAME && (session_find(s, r->name) >= 0 ||
                                    (s->running && s->running->at && !bare_command(r->text)));
}

static int do_instruction_or_other(struct session *s, struct source_text *from,
                                   const struct reading *r)
{
    bool foreign;
    const int status = do_instruction(s, from, r, &foreign);
    return foreign ? do_other(s, r) : status;
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
    case READ_LITERAL:
    case READ_NAME:
    case READ_OTHER: break;
    case READ_UNCLOSED:
        return report_error(s, HLO_REJECTED,
                            "unterminated bracket, string or comment at end of input");
    case READ_UNOPENED: return report_error(s, HLO_REJECTED, "unmatched closing bracket");
    }
    return is_name(s, r) ? do_name(s, r) : do_instruction_or_other(s, from, r);
}

int entry_do(struct session *s, struct str text)
{
    struct source_text *from =
        source_text_new(s->input->editor ? "<input>" : s->input->name, text, s->input->first);
    struct reading r = syntax_read((struct str){from->text, from->size});
    if (s->echo && r.kind != READ_BLANK) {
        fprintf(s->out, "%s" STR_FMT "\n", s->prompt, STR_ARG(str_trim(text)));
    }
    bool once = s->once && r.kind != READ_BLANK;
    const struct str outer = s->entry;
    s->entry = r.text;
    s->status = do_reading(s, from, &r);
    s->entry = outer;
    int left = once ? output_to(s, NULL, false) : HLO_OK;
    if (s->status == HLO_OK)
        s->status = left;
    source_text_unref(from);
    return s->status;
}
