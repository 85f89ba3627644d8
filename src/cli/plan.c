/*
 * hlo plan: prints the execution plan of a module: steps, storage of values, and memory.
 */
#include "cli/arguments.h"

static int plan_part(const struct options *o, const hlo_file *f, size_t part,
                     const struct hlo_run_options *options, hlo_messages *m)
{
    SCOPED_MODULE *module = hlo_parse(f, part, m);
    struct arguments a = {.o = o, .m = m, .module = module};
    int status = arguments_check(&a, module);
    SCOPED_PROGRAM *p = status == HLO_OK ? hlo_plan(module, options, m) : NULL;
    if (status == HLO_OK && !p)
        status = HLO_FAILED;
    if (p) {
        hlo_text text = hlo_plan_print(p, o->given[OPT_JSON]      ? HLO_PLAN_JSON
                                          : o->given[OPT_VERBOSE] ? HLO_PLAN_VERBOSE
                                                                  : HLO_PLAN_TEXT);
        print_text(&text);
    }
    return status;
}

static int plan_file(const struct options *o, const hlo_file *f, hlo_messages *m)
{
    struct hlo_run_options options = {.size = sizeof options,
                                      .plain = o->given[OPT_PLAIN],
                                      .elided = HLO_ELIDED_ZERO,
                                      .seed = 1,
                                      .only_first = true};
    if (!option_threads(o, 0, &options.threads))
        return HLO_USAGE;
    SCOPED_TARGETS *targets = targets_of(o, m);
    int status = targets ? HLO_OK : HLO_USAGE;
    options.targets = targets;
    for (size_t part = 0; part < hlo_file_count(f) && status == HLO_OK; part++)
        status = plan_part(o, f, part, &options, m);
    return status;
}

int plan_command(const struct options *o)
{
    if (o->arg_count > 1)
        return usage_error(o, "expected one file");
    SCOPED_MESSAGES *m = hlo_messages_new();
    SCOPED_FILE *f = open_file(o, o->args[0], m);
    int status = f ? plan_file(o, f, m) : HLO_USAGE;
    report(o, m);
    return status;
}
