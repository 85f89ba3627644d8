/*
 * base/system.h: what POSIX does not provide. system.c contains all calls that are specific to an
 * operating system, with a version for Linux and one in terms of POSIX, which -DSYSTEM_PORTABLE
 * selects on Linux as well.
 */
#ifndef HLO_SYSTEM_H
#define HLO_SYSTEM_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- processors and memory ---- */

int processor_count(void);    /* number of processors available to this process */
uint64_t system_memory(void); /* physical memory in bytes; 0: unknown */

/* Private anonymous pages, readable and writable, not counted against the memory of the system
 * before they are touched, where it supports that. NULL: failed. */
void *system_reserve(size_t size);

/* A hint to use huge pages. */
void system_advise_huge(void *begin, size_t size);

/* Releases the memory of whole pages of a mapped file, which are read again on access. */
void system_release_pages(void *begin, size_t size);

/* Makes malloc keep freed memory in the process, where it supports that. */
void system_keep_freed_memory(void);

/* Peak resident memory in bytes: of the program, not of the one that called exec, if the system
 * counts it. */
uint64_t system_peak_memory(void);
void system_reset_peak_memory(void); /* where supported */

/* ---- threads and signals ---- */

/* A condition variable with timed waits until a time of now_ns(). */
void system_cond_init(pthread_cond_t *c);
int system_cond_wait(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until); /* 0 or ETIMEDOUT */

/* Starts a thread with a stack of that size, since the system's default may be too small: 128 KiB
 * with musl. 0, or the error number. */
int system_start_thread(pthread_t *thread, size_t stack, void *(*run)(void *), void *context);

/* Processor time that a running thread has used, in ns; -1: unknown, or the thread has ended. */
int64_t system_thread_time(pthread_t thread);
/* The processor that runs the caller; -1: unknown. */
int system_cpu(void);
/* Moves a thread that is ready to run to a processor other than the caller's: number `k` of those
 * that it may run on, counted cyclically. The system may move it again. The processor; -1: it was
 * not moved. */
int system_move_thread(pthread_t thread, int k);

/* A stream of blocked signals. `fd` is readable while one of them is pending; -1: failed. */
struct system_signals {
    int fd, to; /* to: written by the thread */
    pthread_t thread;
    sigset_t set;
};
void system_signals_open(struct system_signals *s, const sigset_t *set);
int system_signals_take(struct system_signals *s); /* signal number; 0: none is pending */
void system_signals_close(struct system_signals *s);

/* Consumes a pending signal that is blocked. */
void system_discard_signal(int number);

/* ---- files ---- */

bool system_pipe(int ends[2]); /* closed on exec; sets errno */

/* The path of the running program, terminated by NUL; false: unknown, or too long. */
bool system_program_path(char *out, size_t size);

/* Opens a file without a name in a directory, which vanishes with the process unless it is linked
 * to a name. -1: failed, or not supported. */
int system_open_unnamed(const char *directory);
bool system_link_unnamed(int fd, const char *path); /* sets errno */

/* The path of the file that is mapped at an address. Async-signal-safe. False: none, or unknown. */
bool system_mapped_path(uintptr_t address, char *out, size_t size);

/* ---- shared objects ---- */

/* The file that `library`, a handle of dlopen, was loaded from; NULL: unknown. */
const char *system_library_path(void *library);

/* Whether an address is that of code in `library` itself, not in one of its dependencies. True if
 * unknown. */
bool system_library_has_code(void *library, const void *address);

#endif
