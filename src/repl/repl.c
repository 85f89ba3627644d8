/*
 * repl: starts a session, reads until its end, and ends it.
 */
#include "repl/session.h"

#include "repl/complete.h"
#include "repl/history.h"

#include <stdlib.h>
#include <unistd.h>

enum { SHOWN = 100 };                                        /* larger arrays are abridged */
static const uint64_t VALUE_CACHE_BYTES = UINT64_C(1) << 30; /* bytes */

/* ---- completion callbacks ---- */

static void add_names(void *context, struct completions *out)
{
    struct session *s = context;
    const hlo_listing *l = s->running && s->running->at ? s->running->listing : session_listing(s);
    for (size_t i = 0; l && i < hlo_list_count(l); i++) {
        struct hlo_listed at = hlo_list_inst(l, i);
        completions_add(out, str_of(at.name), str_of(at.shape), "");
    }
    for (size_t i = 0; l && i < hlo_list_computations(l); i++)
        completions_add(out, str_of(hlo_list_computation(l, i).name), STR("computation"), "");
}

static bool next_command(void *context, size_t i, struct complete_command *out)
{
    static const char *const dotted[] = {
#define COMMAND(name, letters, arguments, kind, words, function, help, example) "." name,
#include "repl/command.def"
#undef COMMAND
    };
    const struct command *c = command_get(i);
    if (c)
        *out = (struct complete_command){dotted[i], c->help, (enum complete_kind)c->kind, c->words};
    return c != NULL;
}

static void complete(void *context, struct str entry, size_t cursor, struct completions *out)
{
    struct complete_source source = {context, add_names, next_command};
    complete_entry(&source, entry, cursor, out);
}

static bool whole(void *context, struct str entry) { return syntax_complete(entry); }

/* ---- the session ---- */

static void session_begin(struct session *s, const struct repl_options *o)
{
    *s = (struct session){.o = o,
                          .out = stdout,
                          .prompt = heap_str(STR("hlo> ")),
                          .kept = {.max = VALUE_CACHE_BYTES}};
    s->states = heap_zalloc(MAX_STATES, sizeof *s->states);
    s->states[s->state_count++] = state_new();
    s->view = HLO_WITH(hlo_view, .max = SHOWN);
    s->debugger.stepping = GO;
}

/* The status of the session, or of a write error. */
static int session_end(struct session *s, int status)
{
    int left = output_to(s, NULL, false);
    debug_free(s);
    built_free(&s->built);
    cache_free(&s->kept);
    for (size_t i = 0; i < s->state_count; i++)
        state_free(s->states[i]);
    heap_free(s->states);
    heap_free(s->prompt);
    heap_free(s->last);
    heap_free(s->warned);
    return status == HLO_OK ? left : status;
}

static int read_rc(struct session *s)
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    SCOPED_BUF path = {0};
    if (base && *base)
        buf_printf(&path, "%s/hlo/rc", base);
    else if (home && *home)
        buf_printf(&path, "%s/.config/hlo/rc", home);
    return path.size && !s->o->norc ? source_file(s, path.data, false) : HLO_OK;
}

static int read_commands(struct session *s)
{
    SCOPED_BUF text = {0};
    for (size_t i = 0; i < s->o->command_count; i++) {
        buf_puts(&text, s->o->commands[i]);
        buf_putc(&text, '\n');
    }
    struct input in = {.name = "-c", .file = fmemopen(text.data, text.size, "r")};
    return in.file ? input_all(s, &in) : HLO_FAILED;
}

static int read_terminal(struct session *s)
{
    s->o->interrupt_stay();
    struct line_hooks hooks = {s, whole, complete};
    SCOPED_BUF history = {0};
    history_path(&history);
    struct input in = {
        .name = "<input>",
        .editor = line_open(&hooks, history.size ? history.data : NULL, s->o->colors != NULL)};
    report_note(s, "hlo " HLO_VERSION "; type .help for help");
    return input_all(s, &in);
}

int repl_main(const struct repl_options *o)
{
    struct session s;
    session_begin(&s, o);
    struct input start = {.name = "hlo"};
    bool on = o->command_count == 0 || o->stay;
    s.interactive = on && line_possible();
    s.bail = !s.interactive;
    s.input = &start;
    int status = read_rc(&s);
    if (status == HLO_OK && o->file)
        status = load_file(&s, o->file, o->part);
    if ((status == HLO_OK || s.interactive) && o->command_count > 0)
        status = read_commands(&s);
    if (on && !s.leaving && s.interactive)
        status = read_terminal(&s);
    else if (on && !s.leaving && status == HLO_OK)
        status = input_all(&s, &(struct input){.name = "<stdin>", .file = stdin});
    return session_end(&s, status);
}
