/*
 * Subcommands and options: parsing, --help and suggestions, generated from command.def and
 * option.def.
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define IN(command) (UINT64_C(1) << CMD_##command)
#define EACH OPTION_EACH
#define MANY OPTION_MANY
#define RUNS OPTION_RUNS
#define PAGED COMMAND_PAGED
#define READS COMMAND_READS
#define NEEDS COMMAND_NEEDS
#define EVERYWHERE ((IN(COUNT) << 1) - 1)
/* RUNNERS: commands that run a module on arguments; INSPECTORS: those of them that inspect the run.
 */
#define INSPECTORS                                                                                 \
    (IN(TRACE) | IN(WHY) | IN(DIFF) | IN(BISECT) | IN(EXTRACT) | IN(REDUCE) | IN(GRAPH) |          \
     IN(FUZZ) | IN(REPL))
#define RUNNERS (INSPECTORS | IN(RUN) | IN(BENCH) | IN(PROF))
#define GENERAL IN(COUNT) /* valid without a command */

static const struct option_row option_table[OPT_COUNT] = {
#define OPTION(group, id, name, value, help, commands, letter, flags)                              \
    {GROUP_##group, name, value, help, commands, letter, flags},
#define HELP(id, commands, help)
#include "cli/option.def"
#undef OPTION
#undef HELP
};

static const struct {
    enum option_id id;
    uint64_t commands;
    const char *help;
} help_table[] = {
#define OPTION(group, id, name, value, help, commands, letter, flags)
#define HELP(id, commands, help) {OPT_##id, commands, help},
#include "cli/option.def"
#undef OPTION
#undef HELP
};

static const struct command_row command_table[CMD_COUNT] = {
#define COMMAND(id, name, function, flags, usage, summary, examples)                               \
    {name, usage, summary, examples, flags},
#include "cli/command.def"
#undef COMMAND
};

const struct option_row *option_row(enum option_id id) { return &option_table[id]; }
const struct command_row *command_row(enum command c) { return &command_table[c]; }
bool option_belongs(enum option_id id, enum command c)
{
    return option_table[id].commands >> c & 1;
}

const char *option_help(enum option_id id, enum command c)
{
    for (size_t k = 0; k < COUNT_OF(help_table); k++)
        if (help_table[k].id == id && help_table[k].commands >> c & 1)
            return help_table[k].help;
    return option_table[id].help;
}

/* ---- help ---- */

/* Output position for words separated by blanks and broken into lines. */
struct column {
    FILE *f;
    int at, indent;
};

static void put_word(struct column *c, const char *before, struct str word, const char *value)
{
    enum { WIDTH = 79 };
    const int n = (int)(strlen(before) + word.len + strlen(value));
    if (c->at > c->indent && c->at + 1 + n > WIDTH) {
        fprintf(c->f, "\n%*s", c->indent, "");
        c->at = c->indent;
    }
    c->at += fprintf(c->f, " %s" STR_FMT "%s", before, STR_ARG(word), value);
}

static void put_option(FILE *f, enum option_id id, enum command c)
{
    enum { HELP_AT = 27 };
    const struct option_row *row = &option_table[id];
    char left[64];
    const char *each = row->flags & EACH ? "[@N]" : "";
    int n = row->letter ? snprintf(left, sizeof left, "-%c, --%s%s%s", row->letter, row->name, each,
                                   row->value)
                        : snprintf(left, sizeof left, "    --%s%s%s", row->name, each, row->value);
    if (n > HELP_AT - 3)
        fprintf(f, "  %s\n%*s", left, HELP_AT, "");
    else
        fprintf(f, "  %-*s", HELP_AT - 2, left);
    struct column at = {f, HELP_AT, HELP_AT};
    for (struct str text = str_of(option_help(id, c)); text.len > 0;)
        put_word(&at, "", str_cut(&text, ' '), "");
    fputc('\n', f);
}

static void put_options(FILE *f, enum command c)
{
    static const char *const titles[] = {
        [GROUP_INPUT] = "input",           [GROUP_SELECTION] = "selection",
        [GROUP_TESTS] = "tests",           [GROUP_EXECUTION] = "execution",
        [GROUP_COMPARISON] = "comparison", [GROUP_LIMITS] = "limits",
        [GROUP_DEBUGGING] = "debugging",   [GROUP_OUTPUT] = "output",
        [GROUP_GENERAL] = "general",
    };
    int group = -1;
    for (int i = 0; i < OPT_COUNT; i++) {
        if (!option_belongs((enum option_id)i, c))
            continue;
        if (group != (int)option_table[i].group) {
            group = (int)option_table[i].group;
            fprintf(f, "\n%s:\n", titles[group]);
        }
        put_option(f, (enum option_id)i, c);
    }
}

static void put_general_help(FILE *f)
{
    fputs("Read, verify, format and run HLO, the text language of XLA.\n\n"
          "  hlo run add.hlo 'f32[3] {1, 2, 3}' '{4, 5, 6}'\n"
          "  hlo verify module.hlo\n"
          "  hlo fmt dump.txt\n"
          "  hlo ops dynamic-slice\n\n"
          "usage: hlo COMMAND [OPTION...] ...     or: hlo FILE [ARG...], the same as hlo run\n\n",
          f);
    for (int c = 0; c < CMD_COUNT; c++)
        fprintf(f, "  %-8s %s\n", command_table[c].name, command_table[c].summary);
    put_options(f, CMD_NONE);
    fputs(
        "\n'hlo COMMAND --help' documents a command; FILE may be - for standard input, which\n"
        "'... | hlo ARG...' runs on arguments.\n"
        "Exit status: 0 success; 1 comparison or test failed; 2 usage or file error; 3 rejected "
        "by\n"
        "parser or verifier; 4 run-time error or unsupported; 5 limit exceeded; 130 interrupted.\n",
        f);
}

void print_help(FILE *f, enum command c)
{
    if (c == CMD_NONE) {
        put_general_help(f);
        return;
    }
    const struct command_row *row = &command_table[c];
    fprintf(f, "%s\n\n%s\nusage: %s\n", row->summary, row->examples, row->usage);
    put_options(f, c);
}

static void put_short_general_help(FILE *f)
{
    fputs("Read, verify, format and run HLO, the text language of XLA.\n\n"
          "  hlo run add.hlo 'f32[3] {1, 2, 3}' '{4, 5, 6}'\n"
          "  hlo run step.hlo x=@x.npy --fake --output out.npz\n"
          "  hlo verify module.hlo\n"
          "  hlo ops dynamic-slice\n\n"
          "usage: hlo COMMAND [OPTION...] ...     or: hlo FILE [ARG...], the same as hlo run\n\n"
          "commands:\n",
          f);
    struct column c = {f, fprintf(f, " "), 1};
    for (int k = 0; k < CMD_COUNT; k++)
        put_word(&c, "", str_of(command_table[k].name), "");
    fputs("\n\nSee 'hlo COMMAND -h' for usage, 'hlo COMMAND --help' for details; FILE may be - for "
          "standard input.\n",
          f);
}

void print_short_help(FILE *f, enum command c)
{
    enum { EXAMPLES = 4 };
    if (c == CMD_NONE) {
        put_short_general_help(f);
        return;
    }
    const struct command_row *row = &command_table[c];
    const char *line = row->examples;
    fprintf(f, "%s\n\n", row->summary);
    for (int k = 0; k < EXAMPLES && strncmp(line, "  ", 2) == 0;
         k++, line += strcspn(line, "\n") + 1)
        fprintf(f, "%.*s\n", (int)strcspn(line, "\n"), line);
    fprintf(f, "\nusage: %s\n\n", row->usage);
    struct column at = {f, fprintf(f, " "), 1};
    for (int i = 0; i < OPT_COUNT; i++)
        if (option_belongs((enum option_id)i, c))
            put_word(&at, "--", str_of(option_table[i].name), option_table[i].value);
    fprintf(f, "\n\nSee 'hlo %s --help'.\n", row->name);
}

/* ---- names and suggestions ---- */

enum command command_find(const char *word)
{
    for (int c = 0; c < CMD_COUNT; c++)
        if (strcmp(word, command_table[c].name) == 0)
            return (enum command)c;
    return CMD_NONE;
}

const char *command_nearest(const char *word)
{
    /* names of commands of other programs */
    static const char *const elsewhere[][2] = {
        {"check", "verify"}, {"compare", "diff"}, {"convert", "import"}, {"dot", "graph"},
        {"eval", "run"},     {"exec", "run"},     {"format", "fmt"},     {"lint", "verify"},
        {"print", "fmt"},    {"profile", "prof"}, {"shell", "repl"}};
    for (size_t i = 0; i < COUNT_OF(elsewhere); i++)
        if (strcmp(word, elsewhere[i][0]) == 0)
            return elsewhere[i][1];
    struct nearest n = nearest_to(str_of(word));
    for (int c = 0; c < CMD_COUNT; c++)
        nearest_try(&n, str_of(command_table[c].name));
    return n.found.ptr;
}

int usage_error(const struct options *o, const char *format, ...)
{
    va_list ap;
    FILE *f = world_stderr(o);
    SCOPED_ARENA words = arena_make();
    SCOPED_MESSAGES *m = hlo_messages_new();
    va_start(ap, format);
    hlo_messages_add(m, "hlo", arena_vprintf(&words, format, ap).ptr);
    va_end(ap);
    SCOPED_TEXT text = hlo_messages_draw_in(m, o->colors);
    fputs(text.data, f);
    if (o->command == CMD_NONE)
        fputs("Try 'hlo --help'.\n", f);
    else
        fprintf(f, "Try 'hlo %s --help'.\n", command_table[o->command].name);
    return HLO_USAGE;
}

static bool unknown_option(const struct options *o, struct str name)
{
    struct nearest n = nearest_to(name);
    for (int i = 0; i < OPT_COUNT; i++) {
        const struct str candidate = str_of(option_table[i].name);
        if (!(o->command == CMD_NONE || option_table[i].commands >> o->command & 1))
            continue;
        if (name.len > 1 && str_starts(candidate, name) && n.distance > 0)
            n = (struct nearest){.found = candidate};
        else
            nearest_try(&n, candidate);
    }
    if (n.found.len)
        usage_error(o, "unknown option '--" STR_FMT "'; did you mean '--%s'?", STR_ARG(name),
                    n.found.ptr);
    else
        usage_error(o, "unknown option '--" STR_FMT "'", STR_ARG(name));
    return false;
}

/* ---- words of HLO_OPTIONS and of --options=FILE ---- */

/* Reads the next word: words are separated by blanks; quotes group, a backslash escapes, # starts a
 * comment. False: no more words, or (*open) an unterminated quote. */
static bool next_word(struct str *s, struct buf *out, bool *open)
{
    char quote = 0;
    bool any = false, comment = false;
    size_t i = 0;
    out->size = 0;
    for (; i < s->len; i++) {
        char c = s->ptr[i];
        if (comment) {
            comment = c != '\n';
        } else if (quote && c == quote) {
            quote = 0;
        } else if (!quote && (c == '\'' || c == '"')) {
            quote = c;
            any = true;
        } else if (c == '\\' && quote != '\'' && i + 1 < s->len) {
            buf_putc(out, s->ptr[++i]);
            any = true;
        } else if (!quote && char_is_blank(c)) {
            if (any)
                break;
        } else if (!quote && c == '#' && !any) {
            comment = true;
        } else {
            buf_putc(out, c);
            any = true;
        }
    }
    *s = str_skip(*s, i);
    *open = quote != 0;
    return any && !*open;
}

bool split_words(struct arena *a, struct str text, char ***words, int *count)
{
    SCOPED_BUF word = {0};
    size_t n = 0, capacity = 0;
    bool open;
    *words = NULL;
    while (next_word(&text, &word, &open))
        VEC_PUSH(a, *words, n, capacity) = (char *)(uintptr_t)arena_str(a, buf_view(&word)).ptr;
    *count = (int)n;
    return !open;
}

/* ---- parsing ---- */

struct words {
    int count, at;
    char **words;
    const char *from; /* name of the option file or HLO_OPTIONS, which hold options only; NULL:
                         command line */
    bool usual; /* from HLO_OPTIONS: options of other commands are skipped, options with RUNS are
                   rejected */
};

static bool take_file(struct options *o, const char *path, bool usual);

/* Skips an option of other commands and its value. */
static bool is_others(struct str name, const char *equal, struct words *w)
{
    for (int i = 0; w->usual && i < OPT_COUNT; i++)
        if (str_is(name, option_table[i].name)) {
            w->at += option_table[i].value[0] == '=' && !equal && w->at < w->count;
            return true;
        }
    return false;
}

static enum option_id find_option(const struct options *o, struct str name, char letter)
{
    for (int i = 0; i < OPT_COUNT; i++) {
        const struct option_row *row = &option_table[i];
        bool here = row->commands >> o->command & 1; /* CMD_NONE selects GENERAL */
        if (here && (letter ? row->letter == letter : str_is(name, row->name)))
            return (enum option_id)i;
    }
    return OPT_COUNT;
}

static struct each_option *add_each(struct options *o)
{
    return &VEC_PUSH(&o->arena, o->each, o->each_count, o->each_capacity);
}

/* Sets an option to the value after `=` or, if a value is required, to the next word. */
static bool set_option(struct options *o, enum option_id id, const char *value, struct words *w)
{
    const struct option_row *row = &option_table[id];
    if (value && !*row->value)
        return usage_error(o, "option '--%s' takes no value", row->name), false;
    if (w->usual && (row->flags & RUNS))
        return usage_error(o,
                           "%s: '--%s' is only allowed on the command line or in a file named "
                           "there, since it runs a program",
                           w->from, row->name),
               false;
    if (!value && row->value[0] == '=') {
        if (w->at == w->count)
            return usage_error(o, "option '--%s' requires a value: --%s%s", row->name, row->name,
                               row->value),
                   false;
        value = w->words[w->at++];
    }
    o->given[id] = true;
    o->value[id] = value;
    if (row->flags & MANY)
        *add_each(o) = (struct each_option){id, -1, value};
    return id != OPT_OPTIONS || take_file(o, value, w->usual);
}

/* --NAME@N=VALUE */
static bool option_for_one(struct options *o, enum option_id id, struct str number,
                           const char *value, struct words *w)
{
    const struct option_row *row = &option_table[id];
    int64_t participant;
    if (!(row->flags & EACH))
        return usage_error(o, "option '--%s' cannot be set per participant", row->name), false;
    if (!num_parse_i64(number, &participant) || participant < 0)
        return usage_error(o, "'--%s@" STR_FMT "': expected a participant number", row->name,
                           STR_ARG(number)),
               false;
    if (!value && w->at == w->count)
        return usage_error(o, "option '--%s' requires a value: --%s%s", row->name, row->name,
                           row->value),
               false;
    *add_each(o) = (struct each_option){id, participant, value ? value : w->words[w->at++]};
    return true;
}

static bool long_option(struct options *o, const char *word, struct words *w)
{
    const char *equal = strchr(word, '=');
    struct str name = {word, equal ? (size_t)(equal - word) : strlen(word)};
    const char *at = memchr(name.ptr, '@', name.len);
    if (at) {
        struct str number = {at + 1, (size_t)(name.ptr + name.len - at - 1)};
        name.len = (size_t)(at - name.ptr);
        enum option_id one = find_option(o, name, 0);
        return one == OPT_COUNT ? unknown_option(o, name)
                                : option_for_one(o, one, number, equal ? equal + 1 : NULL, w);
    }
    enum option_id id = find_option(o, name, 0);
    if (id == OPT_COUNT && is_others(name, equal, w))
        return true;
    return id == OPT_COUNT ? unknown_option(o, name)
                           : set_option(o, id, equal ? equal + 1 : NULL, w);
}

static bool short_options(struct options *o, const char *word, struct words *w)
{
    for (; *word; word++) {
        enum option_id id = find_option(o, STR(""), *word);
        if (id == OPT_COUNT)
            return usage_error(o, "unknown option '-%c'", *word), false;
        if (option_table[id].value[0] == '=')
            return set_option(o, id, word[1] ? word + 1 : NULL, w);
        set_option(o, id, NULL, w);
        o->short_help |= id == OPT_HELP;
    }
    return true;
}

/* Whether a word with a leading dash is an argument: `-`, -5, -0.5 or -inf. */
static bool is_argument(const char *word)
{
    return word[0] != '-' || !word[1] || char_is_digit(word[1]) || word[1] == '.' ||
           strcmp(word, "-inf") == 0 || strcmp(word, "-nan") == 0;
}

static bool take_words(struct options *o, struct words *w)
{
    bool options_end = false, ok = true;
    while (ok && w->at < w->count) {
        const char *word = w->words[w->at++];
        if (w->from && (is_argument(word) || strcmp(word, "--") == 0))
            return usage_error(o, "%s: unknown option '%s'", w->from, word), false;
        if (options_end || is_argument(word))
            o->args[o->arg_count++] = word;
        else if (strcmp(word, "--") == 0)
            options_end = true;
        else
            ok = word[1] == '-' ? long_option(o, word + 2, w) : short_options(o, word + 1, w);
    }
    return ok;
}

static bool take_text(struct options *o, const char *from, struct str text, bool usual)
{
    struct words w = {.from = from, .usual = usual};
    if (!split_words(&o->arena, text, &w.words, &w.count))
        return usage_error(o, "%s: unterminated quote", from), false;
    return take_words(o, &w);
}

/* --options=FILE: parses the options in the file at this position. */
static bool take_file(struct options *o, const char *path, bool usual)
{
    enum { DEEPEST = 8 };
    SCOPED_BYTES bytes = {0};
    if (o->depth == DEEPEST)
        return usage_error(o, "%s: option files nested more than %d deep", path, DEEPEST), false;
    if (!file_read(path, &bytes))
        return usage_error(o, "cannot read option file '%s': %s", path, file_problem(errno)), false;
    o->depth++;
    bool ok = take_text(o, path, (struct str){bytes.data, bytes.size}, usual);
    o->depth--;
    return ok;
}

/* HLO_OPTIONS is parsed first, so that the command line overrides it. */
bool options_parse(struct options *o, int argc, char **argv)
{
    const char *usual = getenv("HLO_OPTIONS");
    struct words w = {argc, 0, argv, NULL, false};
    return (!usual || take_text(o, "HLO_OPTIONS", str_of(usual), true)) && take_words(o, &w) &&
           choose_color(o);
}

bool option_int(const struct options *o, enum option_id id, int64_t low, int64_t high,
                int64_t absent, int64_t *out)
{
    *out = absent;
    if (!o->value[id] || (num_parse_i64(str_of(o->value[id]), out) && *out >= low && *out <= high))
        return true;
    usage_error(o,
                "invalid value '%s' for '--%s': expected an integer from %" PRId64 " to %" PRId64,
                o->value[id], option_table[id].name, low, high);
    return false;
}

bool option_word(const struct options *o, enum option_id id, const char *const *words, int count,
                 int absent, int *out)
{
    const char *value = o->value[id];
    SCOPED_BUF list = {0};
    *out = absent;
    for (int k = 0; value && k < count; k++) {
        buf_printf(&list, "%s%s", k == 0 ? "" : k + 1 < count ? ", " : " or ", words[k]);
        if (strcmp(value, words[k]) == 0) {
            *out = k;
            value = NULL;
        }
    }
    if (value)
        usage_error(o, "invalid value '%s' for '--%s': expected %s", value, option_table[id].name,
                    list.data);
    return !value;
}

bool option_threads(const struct options *o, int absent, int *out)
{
    enum { MAX_THREADS = 256 };
    int64_t n;
    bool ok = option_int(o, OPT_THREADS, 1, MAX_THREADS, absent, &n);
    *out = (int)n;
    return ok;
}
