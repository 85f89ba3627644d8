/*
 * hlo repl: starts an interactive session with the options of runs.
 */
#include "cli/arguments.h"

#include "repl/repl.h"

int repl_command(const struct options *o)
{
    int64_t seed, part;
    struct repl_options r = {.file = o->arg_count > 0 ? o->args[0] : NULL,
                             .stay = o->given[OPT_INTERACTIVE],
                             .norc = o->given[OPT_NORC],
                             .colors = o->colors,
                             .inks = o->inks,
                             .paged = !o->given[OPT_NO_PAGER],
                             .random = o->given[OPT_RANDOM],
                             .inputs = o->value[OPT_INPUTS],
                             .interrupt_begin = interrupt_begin,
                             .interrupt_end = interrupt_end,
                             .interrupt_stay = interrupt_stay,
                             .write_graph = graph_write};
    if (o->arg_count > 1)
        return usage_error(o, "expected at most one file, got '%s'", o->args[1]);
    if (!run_options(o, &r.run) || !option_int(o, OPT_RANDOM, 0, INT64_MAX, 1, &seed) ||
        !option_int(o, OPT_MODULE, 1, INT32_MAX, 0, &part))
        return HLO_USAGE;
    SCOPED_MESSAGES *m = hlo_messages_new();
    SCOPED_TARGETS *targets = targets_of(o, m);
    SCOPED_HEAP const char **commands = heap_zalloc(o->each_count + 1, sizeof *commands);
    report(o, m);
    r.run.targets = targets;
    r.seed = (uint64_t)seed;
    r.part = (size_t)part;
    r.commands = commands;
    for (size_t k = 0; k < o->each_count; k++)
        if (o->each[k].id == OPT_COMMAND)
            commands[r.command_count++] = o->each[k].value;
    return targets ? repl_main(&r) : HLO_USAGE;
}
