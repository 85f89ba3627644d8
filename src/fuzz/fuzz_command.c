/*
 * Fuzz target: the first line is a command line without its file, the rest the file. Covers
 * commands that inspect or run modules, with all options except those that start programs or load
 * libraries. Files are written to the target's own directory.
 */
#include "cli/cli.h"
#include "fuzz/sandbox.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static command_fn *const functions[CMD_COUNT] = {
#define COMMAND(id, name, function, flags, usage, summary, examples) function,
#include "cli/command.def"
#undef COMMAND
};

static bool is_safe(enum command c)
{
    switch (c) {
    case CMD_BENCH: /* takes too long */
    case CMD_FUZZ:
    case CMD_NONE:
    case CMD_OPS: /* takes no file */
    case CMD_REPL:
    case CMD_SERVE:
    case CMD_TEST: return false;
    default: return true;
    }
}

/* Whether no word names a file elsewhere or is --options. */
static bool are_near(char **words, int count)
{
    for (int i = 0; i < count; i++)
        if (strchr(words[i], '/') || strstr(words[i], "--option"))
            return false;
    return true;
}

static bool is_harmless(const struct options *o)
{
    static const enum option_id others[] = {OPT_CUSTOM_CALL, OPT_CUSTOM_CALL_LIB, OPT_WORLD,
                                            OPT_REPLICAS, OPT_PARTITIONS};
    static const char *const checks[] = {"nan", "plain", "mismatch"};
    bool ok = !o->given[OPT_CHECK];
    for (size_t k = 0; k < COUNT_OF(checks); k++)
        ok |= o->value[OPT_CHECK] && strcmp(o->value[OPT_CHECK], checks[k]) == 0;
    for (size_t k = 0; k < COUNT_OF(others); k++)
        ok &= !o->given[others[k]];
    return ok;
}

static void run(struct options *o)
{
    static const char file[] = "m.hlo";
    for (size_t i = o->arg_count; i > 0; i--)
        o->args[i] = o->args[i - 1];
    o->args[0] = file;
    o->arg_count++;
    o->value[OPT_MAX_STEPS] = "2000";
    o->value[OPT_MAX_MEMORY] = "16M";
    o->value[OPT_TIMEOUT] = o->value[OPT_TIME_LIMIT] = "1";
    o->value[OPT_THREADS] = "1";
    functions[o->command](o);
}

static void parse_and_run(struct str line)
{
    struct options o = {.command = CMD_NONE};
    char **words;
    int count;
    arena_init(&o.arena);
    if (split_words(&o.arena, line, &words, &count) && count > 0 && are_near(words, count)) {
        o.args = calloc((size_t)count + 2, sizeof *o.args);
        o.command = command_find(words[0]);
        if (o.args && is_safe(o.command) && options_parse(&o, count - 1, words + 1) &&
            is_harmless(&o))
            run(&o);
        free(o.args);
    }
    arena_free(&o.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size}, line = cut_input(&text, '\n');
    sandbox_enter();
    sandbox_file("m.hlo", text);
    if (line.len > 0)
        parse_and_run(line);
    sandbox_leave();
    return 0;
}
