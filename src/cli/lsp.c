/*
 * hlo lsp: the language server, with the limits of its runs.
 */
#include "cli/arguments.h"

#include "lsp/lsp.h"

enum { DEFAULT_TIMEOUT = 10 }; /* seconds of a run */

int lsp_command(const struct options *o)
{
    struct lsp_options l = {0};
    if (o->arg_count > 0)
        return usage_error(o, "unexpected argument '%s'", o->args[0]);
    if (!run_options(o, &l.run))
        return HLO_USAGE;
    if (!o->given[OPT_TIMEOUT])
        l.run.timeout = DEFAULT_TIMEOUT;
    return lsp_main(&l);
}
