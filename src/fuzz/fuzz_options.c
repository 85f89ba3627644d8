/*
 * Fuzz target: a command line, split as by a shell, and the same text as an option file.
 */
#include "cli/arguments.h"
#include "fuzz/sandbox.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Parses all options that commands check before they start. */
static void understand(const struct options *o)
{
    struct hlo_run_options run;
    struct hlo_tolerance tolerance;
    enum hlo_fake kind;
    struct hlo_view view;
    int64_t n;
    run_options(o, &run);
    tolerance_options(o, &tolerance);
    fake_kind(o, &kind);
    result_view(o, &view);
    for (int id = 0; id < OPT_COUNT; id++)
        option_int(o, (enum option_id)id, 0, 100, 7, &n);
}

static void parse(struct str text)
{
    struct options o = {.command = CMD_NONE};
    char **words;
    int count;
    arena_init(&o.arena);
    if (split_words(&o.arena, text, &words, &count) && count > 0) {
        o.args = calloc((size_t)count + 1, sizeof *o.args);
        o.command = command_find(words[0]);
        if (o.args && options_parse(&o, count - 1, words + 1))
            understand(&o);
        if (o.command == CMD_NONE)
            command_nearest(words[0]);
        free(o.args);
    }
    arena_free(&o.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sandbox_enter();
    sandbox_file("words", (struct str){(const char *)data, size});
    parse((struct str){(const char *)data, size});
    parse(STR("run --options=words"));
    sandbox_leave();
    return 0;
}
