/*
 * Ctrl-C. The first one ends a run at its next instruction, so that results up to that point can
 * be printed; the second one ends the process. At the prompt it never ends the process; one that
 * arrives between runs ends the next run.
 */
#include "cli/cli.h"

#include <signal.h>

/* Read by the signal handler, which has no argument. */
static _Atomic(hlo_program *) running;
static volatile sig_atomic_t signalled, stays;

static void handle(int signal)
{
    hlo_program *p = running;
    if (signalled && !stays)
        leave(signal);
    signalled = 1;
    if (p)
        hlo_interrupt(p);
}

/* If the signal was ignored when the process began, by nohup for example, it remains ignored. */
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

void interrupt_leave(void) { set_handler(leave, 0); }

void interrupt_begin(hlo_program *p)
{
    if (!stays)
        signalled = 0;
    running = p;
    if (!stays)
        set_handler(handle, SA_RESTART);
    else if (signalled)
        hlo_interrupt(p);
}

bool interrupt_end(void)
{
    if (!stays)
        interrupt_leave();
    running = NULL;
    bool was = signalled != 0;
    if (stays)
        signalled = 0;
    return was;
}

bool was_interrupted(void) { return signalled != 0; }
