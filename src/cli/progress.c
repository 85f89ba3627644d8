/*
 * The progress of work that consists of many parts: a line on standard error, if that is a terminal, from half a second on
 * until the end.
 */
#include "cli/cli.h"

#include <unistd.h>

static const double patience = 0.5, between = 0.1; /* seconds before the first line, and between two */

struct progress progress_begin(const struct options *o, const char *what)
{
    bool seen = isatty(STDERR_FILENO) && !o->given[OPT_QUIET] && world_first(o);
    return (struct progress){.what = what, .next = seen ? now_seconds() + patience : -1};
}

void progress_step(struct progress *p, size_t done, size_t all)
{
    if (p->next < 0 || now_seconds() < p->next)
        return;
    fprintf(stderr, "\r%zu of %zu %s\033[K", done, all, p->what);
    p->next = now_seconds() + between;
    p->shown = true;
}

void progress_end(struct progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    *p = (struct progress){.next = -1};
}
