/*
 * Opens the file that a command is given: --module picks one of its modules, and a bundle contains
 * its own.
 */
#include "cli/cli.h"

const char *file_argument(const struct options *o)
{
    return o->arg_count > 0 ? o->args[0] : o->value[OPT_BUNDLE];
}

bool file_is_bundle(const char *path) { return file_begins(path, STR("PK\3\4")); }

hlo_file *open_file(const struct options *o, const char *path, hlo_messages *m)
{
    bool strict = o->given[OPT_STRICT];
    if (world_of(o) && strcmp(path, "-") == 0)
        return world_stdin(o, strict, m);
    return hlo_file_open_module(path, o->value[OPT_MODULE], strict, m);
}
