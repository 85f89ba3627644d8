/*
 * Public interface: mapped files that are truncated while in use. Reading beyond their new end
 * raises SIGBUS; after hlo_guard_mapped_files, this ends the process with a message that names the
 * file.
 *
 * The handler asks the system for the file. So no list of mapped files must be maintained.
 */
#include "api/api.h"

#include "base/system.h"

#include <limits.h>
#include <signal.h>
#include <unistd.h>

static void report(const char *words) { (void)!write(STDERR_FILENO, words, strlen(words)); }

static void handle(int number, siginfo_t *info, void *context)
{
    char path[PATH_MAX];
    if (system_mapped_path((uintptr_t)info->si_addr, path, sizeof path)) {
        report(path);
        report(": error: file truncated or unreadable while mapped\n");
        _exit(HLO_FAILED);
    }
    signal(number, SIG_DFL); /* not a mapped file: the default action ends the process */
}

void hlo_guard_mapped_files(void)
{
    struct sigaction a = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    sigemptyset(&a.sa_mask);
    sigaction(SIGBUS, &a, NULL);
}
