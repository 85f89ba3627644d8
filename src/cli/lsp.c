/*
 * hlo lsp: the language server, with the limits of its runs.
 */
#include "cli/arguments.h"

#include "lsp/lsp.h"

#include <unistd.h>

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
    if (isatty(STDIN_FILENO) && !o->given[OPT_QUIET])
        fputs("hlo: reading messages of an editor from the terminal; see hlo-lsp(1)\n", stderr);
    return lsp_main(&l);
}
