/*
 * Runs a command and measures its time and memory.
 */
#include "scale.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec * 1e-6; }

struct cost scale_run(char **command, const char *input, unsigned limit)
{
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_RDWR), from = input ? open(input, O_RDONLY) : nowhere;
        dup2(from, 0);
        dup2(nowhere, 1);
        dup2(nowhere, 2);
        setrlimit(RLIMIT_CPU, &(struct rlimit){limit, limit});
        execvp(command[0], command);
        _exit(127);
    }
    int status = 0;
    struct rusage u;
    if (child < 0 || wait4(child, &status, 0, &u) != child)
        return (struct cost){.status = 127};
    return (struct cost){
        .user = seconds(u.ru_utime),
        .all = seconds(u.ru_utime) + seconds(u.ru_stime),
        .memory = u.ru_maxrss,
        .status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
    };
}
