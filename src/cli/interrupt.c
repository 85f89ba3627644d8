/*
 * Ctrl-C: the first one ends a run at its next instruction, so that what has been found out until then can be told; the
 * second one ends the process. At a prompt none ever ends the process, and one that comes between runs ends the next.
 */
#include "cli/cli.h"

#include <signal.h>

/* A handler knows nothing but these. */
static _Atomic(hlo_program *) running;
static volatile sig_atomic_t came, stays;

static void handle(int signal)
{
    hlo_program *p = running;
    if (came && !stays)
        temporary_leave(signal);
    came = 1;
    if (p)
        hlo_interrupt(p);
}

/* Who starts us with the signal ignored, nohup for one, means it. */
static void set_handler(void (*handler)(int), int flags)
{
    struct sigaction now, then = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&then.sa_mask);
    if (sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
        sigaction(SIGINT, &then, NULL);
}

void interrupt_stay(void)
{
    stays = 1;
    set_handler(handle, SA_RESTART);
}

void interrupt_begin(hlo_program *p)
{
    if (!stays)
        came = 0;
    running = p;
    if (!stays)
        set_handler(handle, SA_RESTART);
    else if (came)
        hlo_interrupt(p);
}

bool interrupt_end(void)
{
    if (!stays)
        set_handler(temporary_leave, 0);
    running = NULL;
    bool was = came != 0;
    if (stays)
        came = 0;
    return was;
}

bool interrupt_came(void)
{
    return came != 0;
}
