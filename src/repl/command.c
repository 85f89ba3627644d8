/*
 * repl/command: lookup of commands by name or unique prefix, and simple commands.
 */
#include "repl/complete.h"
#include "repl/expression.h"

#include <stdlib.h>
#include <sys/wait.h>

/* ---- words ---- */

struct str next_word(struct str *args)
{
    *args = str_trim(*args);
    size_t end = 0;
    char quote = args->len && strchr("'\"", args->ptr[0]) ? args->ptr[0] : '\0';
    const char *close = quote && args->len > 1 ? memchr(args->ptr + 1, quote, args->len - 1) : NULL;
    if (close) {
        struct str word = {args->ptr + 1, (size_t)(close - args->ptr) - 1};
        *args = (struct str){close + 1, args->len - word.len - 2};
        return word;
    }
    while (end < args->len && !char_is_blank(args->ptr[end])) {
        size_t group = args->ptr[end] == '[' ? text_group_end(*args, end) : end + 1;
        end = group == NOWHERE ? args->len : group;
    }
    const struct str word = str_take(args, end);
    *args = str_trim(*args);
    return word;
}

int command_usage(struct session *s)
{
    return report_error(s, HLO_USAGE, "usage: .%s %s", s->command->name, s->command->arguments);
}

/* A file name, NUL-terminated, to be freed; NULL after reporting that it is missing. */
static char *file_word(struct session *s, struct str *args)
{
    struct str word = next_word(args);
    if (word.len > 0)
        return heap_str(word);
    command_usage(s);
    return NULL;
}

static int read_number(struct session *s, struct str args, int64_t low, int64_t high,
                       int64_t absent, int64_t *out)
{
    struct str word = next_word(&args);
    *out = absent;
    if (word.len == 0 && absent >= low)
        return HLO_OK;
    return num_parse_i64(word, out) && *out >= low && *out <= high ? HLO_OK : command_usage(s);
}

/* ---- settings ---- */

/* The position of the next argument in `a|b|c`; -1: it is none of them. */
static int word_number(const char *words, struct str args)
{
    const struct str word = next_word(&args);
    for (int k = 0; *words; k++, words += *words == '|') {
        const struct str one = {words, strcspn(words, "|")};
        if (str_eq(word, one))
            return k;
        words += one.len;
    }
    return -1;
}

static int cmd_switch(struct session *s, struct str args)
{
    static const struct {
        const char *name;
        size_t offset;
    } switches[] = {{"bail", offsetof(struct session, bail)},
                    {"bits", offsetof(struct session, view.bits)},
                    {"echo", offsetof(struct session, echo)},
                    {"time", offsetof(struct session, time)},
                    {"trace", offsetof(struct session, trace)}};
    const int off = word_number("on|off", args);
    for (size_t k = 0; off >= 0 && k < COUNT_OF(switches); k++)
        if (strcmp(s->command->name, switches[k].name) == 0)
            *(bool *)((char *)s + switches[k].offset) = !off;
    return off >= 0 ? HLO_OK : command_usage(s);
}

static int cmd_maxrows(struct session *s, struct str args)
{
    int64_t n;
    int status = read_number(s, args, 1, INT64_MAX, 0, &n);
    if (status == HLO_OK)
        s->view.max = (size_t)n;
    return status;
}

static int cmd_precision(struct session *s, struct str args)
{
    int64_t n;
    int status = read_number(s, args, 0, 17, -1, &n);
    if (status == HLO_OK)
        s->view.precision = (int)n;
    return status;
}

static int cmd_width(struct session *s, struct str args)
{
    int64_t n;
    int status = read_number(s, args, 20, 10000, 0, &n);
    if (status == HLO_OK)
        s->view.width = (size_t)n;
    return status;
}

static int cmd_mode(struct session *s, struct str args)
{
    const int mode = word_number(s->command->words, args); /* in the order of enum show_mode */
    if (mode >= 0)
        s->mode = (enum show_mode)mode;
    return mode >= 0 ? HLO_OK : command_usage(s);
}

static int cmd_prompt(struct session *s, struct str args)
{
    SCOPED_HEAP char *text = heap_str(next_word(&args));
    repl_set(&s->prompt, text);
    return HLO_OK;
}

static int cmd_output(struct session *s, struct str args)
{
    struct str word = next_word(&args);
    SCOPED_HEAP char *path = word.len ? heap_str(word) : NULL;
    return output_to(s, path, false);
}

static int cmd_once(struct session *s, struct str args)
{
    SCOPED_HEAP char *path = file_word(s, &args);
    return path ? output_to(s, path, true) : HLO_USAGE;
}

/* ---- the session ---- */

static int in_a_run(struct session *s)
{
    return report_error(s, HLO_USAGE, "a run is stopped; .continue or .stop it first");
}

static int cmd_load(struct session *s, struct str args)
{
    SCOPED_HEAP char *path = file_word(s, &args);
    struct str word = next_word(&args);
    int64_t part = 0;
    int status = path ? HLO_OK : HLO_USAGE;
    if (status == HLO_OK && str_is(word, "module"))
        status = read_number(s, args, 1, INT32_MAX, 0, &part);
    else if (status == HLO_OK && word.len)
        status = command_usage(s);
    if (status == HLO_OK && s->running)
        status = in_a_run(s);
    if (status == HLO_OK)
        status = load_file(s, path, (size_t)part);
    return status;
}

static int cmd_save(struct session *s, struct str args)
{
    SCOPED_HEAP char *path = file_word(s, &args);
    return path ? save_file(s, path) : HLO_USAGE;
}

static int cmd_source(struct session *s, struct str args)
{
    SCOPED_HEAP char *path = file_word(s, &args);
    return path ? source_file(s, path, true) : HLO_USAGE;
}

static int cmd_reset(struct session *s, struct str args)
{
    hlo_messages *m = hlo_messages_new();
    session_take(s, state_new(), m);
    report_messages(s, m);
    return HLO_OK;
}

static int cmd_undo(struct session *s, struct str args)
{
    int64_t n;
    int status = read_number(s, args, 1, INT32_MAX, 1, &n);
    if (strcmp(s->command->name, "redo") == 0)
        n = -n;
    return status == HLO_OK ? session_undo(s, (long)n) : status;
}

static int cmd_quit(struct session *s, struct str args)
{
    s->leaving = true;
    return HLO_OK;
}

static int cmd_shell(struct session *s, struct str args)
{
    if (s->o->confined)
        return report_error(s, HLO_USAGE, "running other programs is disabled in this session");
    SCOPED_HEAP char *command = heap_str(args);
    report_flush(s);
    int got = system(command);
    if (got == -1 || !WIFEXITED(got) || WEXITSTATUS(got) != 0)
        return report_error(s, HLO_FAILED, "shell exited with status %d",
                            got == -1 || !WIFEXITED(got) ? got : WEXITSTATUS(got));
    return HLO_OK;
}

/* ---- values ---- */

static int show_result(struct session *s, bool no_cache)
{
    struct entry *root = entry_ref(state_root(session_state(s)));
    if (!root)
        return report_error(s, HLO_USAGE, "session is empty");
    size_t inst = (size_t)session_find(s, str_of(root->name));
    struct shared_value *h = NULL;
    hlo_messages *m = hlo_messages_new();
    s->abandoned = false;
    enum made made = values_make(s, &inst, 1, no_cache, &h, m);
    int status = made == MADE ? HLO_OK : made == UNMADE ? HLO_USAGE : value_status(m);
    bool abandoned = made == FAILED && s->abandoned;
    s->debugger.stepping = GO;
    report_messages(s, m);
    if (made == MADE) {
        session_last(s, str_of(root->name));
        status = show_value(s, str_of(root->name), STR(""), h);
    }
    shared_value_unref(h);
    entry_unref(root);
    return abandoned ? s->stop_status : status;
}

static int cmd_run(struct session *s, struct str args)
{
    if (s->running)
        return in_a_run(s);
    if (!s->built.module)
        return report_error(s, HLO_USAGE, "session is empty");
    int status = run_arguments(s, args);
    return status == HLO_OK ? show_result(s, true) : status;
}

static int cmd_print(struct session *s, struct str args)
{
    int status = HLO_OK;
    if (str_trim(args).len == 0 && !s->running)
        return show_result(s, false);
    do {
        struct reading r = syntax_read(next_word(&args));
        if (r.kind != READ_NAME)
            return command_usage(s);
        const struct str name = session_alias(s, r.name);
        struct shared_value *h = value_named(s, name, &status);
        if (h)
            status = show_value(s, name, r.index, h);
        shared_value_unref(h);
    } while (status == HLO_OK && str_trim(args).len);
    return status;
}

static int cmd_plot(struct session *s, struct str args)
{
    static const char *const kinds[] = {"heat", "hist", "curve"};
    struct reading r = syntax_read(next_word(&args));
    enum hlo_plot kind = HLO_PLOT_AUTO;
    char *png = NULL;
    int status = r.kind == READ_NAME ? HLO_OK : command_usage(s);
    while (status == HLO_OK && str_trim(args).len) {
        struct str word = next_word(&args);
        const int k = str_among(word, kinds, COUNT_OF(kinds));
        if (k >= 0)
            kind = (enum hlo_plot)((int)HLO_PLOT_HEAT + k);
        else if (str_is(word, "--png") && str_trim(args).len && !png)
            png = heap_str(next_word(&args));
        else
            status = command_usage(s);
    }
    if (status == HLO_OK && png && !may_write(s, png))
        status = HLO_USAGE;
    struct shared_value *h = status == HLO_OK ? value_named(s, r.name, &status) : NULL;
    if (h)
        status = plot_value(s, r.index, h, kind, png);
    shared_value_unref(h);
    heap_free(png);
    return status;
}

/* Dependents of an instruction have greater numbers. */
static void forget_from(struct session *s, size_t inst)
{
    struct built *b = &s->built;
    SCOPED_HEAP bool *stale = heap_zalloc(b->count, sizeof *stale);
    for (size_t i = inst - b->first; i < b->count; i++) {
        struct hlo_listed at = built_at(b, b->first + i);
        stale[i] = b->first + i == inst;
        for (size_t k = 0; k < at.operand_count; k++)
            stale[i] |= stale[at.operands[k] - b->first];
        if (stale[i])
            cache_drop(&s->kept, b->marks[i]);
    }
}

static int cmd_rerun(struct session *s, struct str args)
{
    struct str word = next_word(&args), name = str_is(word, "from") ? next_word(&args) : STR("");
    if (s->running)
        return in_a_run(s);
    if (word.len == 0)
        return show_result(s, true);
    if (name.len == 0)
        return command_usage(s);
    long n = session_find(s, name);
    if (n < 0)
        return report_unknown(s, name);
    forget_from(s, (size_t)n);
    return show_result(s, false);
}

static int cmd_why(struct session *s, struct str args)
{
    const struct str all = args;
    struct str what = next_word(&args);
    int64_t levels;
    if (what.len == 0 || (args.len == 0 && num_parse_i64(what, &levels))) {
        what = debug_stopped_after(s);
        args = all;
    }
    int status = what.len ? read_number(s, args, 1, 1000, 1, &levels) : command_usage(s);
    return status == HLO_OK ? why_print(s, what, levels) : status;
}

/* ---- breakpoints and steps ---- */

static int cmd_break(struct session *s, struct str args)
{
    struct str word = next_word(&args);
    if (word.len == 0)
        return debug_list(s);
    if (*word.ptr == '%')
        word = str_skip(word, 1);
    return debug_add(s, word, strcmp(s->command->name, "watch") == 0);
}

static int cmd_delete(struct session *s, struct str args)
{
    int64_t n;
    int status = read_number(s, args, 0, INT32_MAX, 0, &n);
    return status == HLO_OK ? debug_delete(s, n) : status;
}

static int no_run(struct session *s)
{
    return report_error(s, HLO_USAGE, "no stopped run; use .break NAME and .run, or .step");
}

static int go(struct session *s, enum stepping how)
{
    if (!s->running)
        return no_run(s);
    s->debugger.stepping = how;
    return HLO_OK;
}

static int cmd_continue(struct session *s, struct str args) { return go(s, GO); }
static int cmd_finish(struct session *s, struct str args) { return go(s, FINISH); }
static int cmd_where(struct session *s, struct str args)
{
    return s->running ? debug_where(s) : no_run(s);
}

static int cmd_step(struct session *s, struct str args)
{
    int status = read_number(s, args, 1, INT64_MAX, 1, &s->debugger.times);
    if (status != HLO_OK)
        return status;
    s->debugger.stepping = STEP;
    return s->running ? HLO_OK : show_result(s, true);
}

static int cmd_next(struct session *s, struct str args)
{
    s->debugger.stepping = s->running ? NEXT : STEP;
    return s->running ? HLO_OK : show_result(s, true);
}

static int cmd_stop(struct session *s, struct str args)
{
    if (!s->running)
        return no_run(s);
    s->running->ended = true;
    s->debugger.stepping = GO;
    return HLO_OK;
}

/* ---- table of commands ---- */

static int cmd_help(struct session *s, struct str args);

#define COMMAND(name, letters, arguments, kind, words, function, help, example)                    \
    {name, letters, arguments, COMPLETE_##kind, words, function, help, example},
static const struct command commands[] = {
#include "repl/command.def"
};
#undef COMMAND

const struct command *command_get(size_t i) { return i < COUNT_OF(commands) ? &commands[i] : NULL; }

const char *repl_command_name(size_t i) { return i < COUNT_OF(commands) ? commands[i].name : NULL; }

static bool is_letter(const struct command *c, struct str word)
{
    for (const char *p = c->letters; *p;) {
        size_t n = strcspn(p, "|");
        if (str_eq(word, (struct str){p, n}))
            return true;
        p += n + (p[n] == '|');
    }
    return false;
}

/* Finds a command by name, alias or unique prefix; otherwise `alike` is the number of matches. */
static const struct command *find(struct str word, size_t *alike)
{
    const struct command *found = NULL;
    *alike = 0;
    for (size_t i = 0; i < COUNT_OF(commands); i++)
        if (str_is(word, commands[i].name) || is_letter(&commands[i], word))
            return &commands[i];
    for (size_t i = 0; i < COUNT_OF(commands) && word.len; i++)
        if (str_starts(str_of(commands[i].name), word)) {
            found = &commands[i];
            ++*alike;
        }
    return *alike == 1 ? found : NULL;
}

enum { HELP_INDENT = 32 };

static void put_help(struct session *s, const struct command *c)
{
    char left[64];
    SCOPED_BUF help = {0};
    snprintf(left, sizeof left, ".%s %s", c->name, c->arguments);
    fprintf(s->out, strlen(left) > 28 ? "  %s\n%32s" : "  %-29s %.0s", left, "");
    buf_puts(&help, c->help);
    if (*c->letters)
        buf_printf(&help, " (.%.*s)", (int)strcspn(c->letters, "|"), c->letters);
    buf_putc(&help, '\n');
    put_wrapped(s, HELP_INDENT, HELP_INDENT, help.data);
}

/* Prints the entries of an example, one per line. */
static void put_example(struct session *s, const char *example)
{
    for (size_t n; *example; example += n + (example[n] == '\n')) {
        n = strcspn(example, "\n");
        fprintf(s->out, "      %.*s\n", (int)n, example);
    }
}

static bool has_word(const struct command *c, const char *word)
{
    return strstr(c->name, word) || strstr(c->help, word);
}

static void put_introduction(struct session *s)
{
    static const char *const lines[] = {
        "Entries that begin with a dot are commands, all others are HLO:\n",
        "  x = f32[3] {1, 2, 3}          a value\n",
        "  y = add(x, x)                 an instruction; shape and name are optional\n",
        "  2 * x[0] + 1                  an expression, which becomes HLO\n",
        "  f { p = f32[] parameter(0) ROOT r = f32[] negate(p) }    a computation; call it with "
        "f(a) or use to_apply=f\n",
        "  y    y[0]    y[-1, :4]        the value of an instruction, or a slice of it; _ is the "
        "last one, root the result\n",
        "A trailing ';' suppresses output. A module, HloModule ..., starts a new session.\n"};
    for (size_t k = 0; k < COUNT_OF(lines); k++)
        put_wrapped(s, 0, *lines[k] == ' ' ? HELP_INDENT : 0, lines[k]);
    fputc('\n', s->out);
}

static int cmd_help(struct session *s, struct str args)
{
    struct str given = next_word(&args);
    if (expression_op(given))
        return cmd_doc(s, given);
    SCOPED_HEAP char *word = heap_str(
        given.len && given.ptr[0] == '.' ? (struct str){given.ptr + 1, given.len - 1} : given);
    size_t shown = 0, alike;
    const struct command *only = *word ? find(str_of(word), &alike) : NULL;
    if (!*word)
        put_introduction(s);
    for (size_t i = 0; i < COUNT_OF(commands); i++)
        if (only ? only == &commands[i] : has_word(&commands[i], word)) {
            put_help(s, &commands[i]);
            if (only)
                put_example(s, only->example);
            shown++;
        }
    if (shown == 0 && *expression_instead(given))
        return cmd_doc(s, given);
    return shown ? HLO_OK
                 : report_error(s, HLO_USAGE, "no command or operation matches '%s'", word);
}

static const char *nearest_command(struct str word)
{
    struct nearest n = nearest_to(word);
    for (size_t i = 0; i < COUNT_OF(commands); i++)
        nearest_try(&n, str_of(commands[i].name));
    return n.found.ptr;
}

static int unknown(struct session *s, struct str word, size_t alike)
{
    SCOPED_BUF names = {0};
    if (alike == 0 && *nearest_command(word))
        return report_error(s, HLO_USAGE, "unknown command '." STR_FMT "'; did you mean '.%s'?",
                            STR_ARG(word), nearest_command(word));
    if (alike == 0)
        return report_error(s, HLO_USAGE, "unknown command '." STR_FMT "'; see .help",
                            STR_ARG(word));
    for (size_t i = 0; i < COUNT_OF(commands); i++)
        if (str_starts(str_of(commands[i].name), word))
            buf_printf(&names, names.size ? ", .%s" : ".%s", commands[i].name);
    return report_error(s, HLO_USAGE, "ambiguous command '." STR_FMT "': %s", STR_ARG(word),
                        names.data);
}

/* Commands that only show what there is, which may be long. */
static bool is_paged(const struct command *c)
{
    static int (*const paged[])(struct session * s, struct str args) = {
        cmd_doc,    cmd_help,     cmd_print, cmd_why,   look_find,
        look_graph, look_history, look_info, look_list, look_users};
    bool found = false;
    for (size_t k = 0; k < COUNT_OF(paged); k++)
        found |= c->function == paged[k];
    return found;
}

static int call_command(struct session *s, const struct command *c, struct str args)
{
    const struct command *outer = s->command;
    s->command = c;
    const int status = c->function(s, args);
    s->command = outer;
    return status;
}

static int do_command(struct session *s, const struct command *c, struct str args)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = NULL;
    if (s->interactive && s->o->paged && !s->o->confined && s->out == stdout && on_terminal(s) &&
        is_paged(c))
        memory = open_memstream(&text, &size);
    if (!memory)
        return call_command(s, c, args);
    s->paged = true;
    s->out = memory;
    const int status = call_command(s, c, args);
    s->out = stdout;
    s->paged = false;
    fclose(memory);
    pager_show(text, size);
    free(text);
    return status;
}

int command_do(struct session *s, struct str text)
{
    struct str rest = {text.ptr + 1, text.len - 1};
    if (text.ptr[0] == '!')
        return cmd_shell(s, rest);
    size_t end = 0, alike;
    while (end < rest.len && !char_is_blank(rest.ptr[end]) && !(end == 1 && rest.ptr[0] == '?'))
        end++;
    struct str word = {rest.ptr, end};
    const struct command *c = find(word, &alike);
    return c ? do_command(s, c, str_trim((struct str){rest.ptr + end, rest.len - end}))
             : unknown(s, word, alike);
}

const char *command_meant(struct str text)
{
    static const char *const dotted[] = {
#define COMMAND(name, letters, arguments, kind, words, function, help, example) "." name,
#include "repl/command.def"
#undef COMMAND
    };
    struct str word = syntax_first_word(text);
    for (size_t i = 0; i < COUNT_OF(commands); i++)
        if (str_is(word, commands[i].name) || (word.len > 1 && is_letter(&commands[i], word)))
            return dotted[i];
    return "";
}
