/*
 * Fuzz target: any text as the lines of an interactive session, which continues after errors and
 * can only write to its own directory.
 */
#include "fuzz/sandbox.h"

#include "repl/repl.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void begin(hlo_program *p) { (void)p; }

static bool end(void) { return false; }

static void stay(void) {}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = copy_text((struct str){(const char *)data, size});
    const char *const commands[] = {".bail off", text};
    const struct repl_options o = {.commands = commands,
                                   .command_count = 2,
                                   .norc = true,
                                   .confined = true,
                                   .run = HLO_WITH(hlo_run_options, .threads = 1, .max_steps = 2000,
                                                   .max_memory = 16 << 20, .timeout = 1),
                                   .interrupt_begin = begin,
                                   .interrupt_end = end,
                                   .interrupt_stay = stay};
    sandbox_enter();
    repl_main(&o);
    sandbox_leave();
    free(text);
    return 0;
}
