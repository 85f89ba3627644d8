/*
 * Makes allocations of the project's own objects fail. It is linked in with `-Wl,--wrap` for each
 * function below (meson.build), so that it also works under sanitizers and valgrind.
 *
 *   HLO_FAIL_AT=N          the N-th allocation from now on fails
 *   HLO_FAIL_ON=1          and all after it
 *   HLO_FAIL_TRAP=1        raises a trap there, for debuggers
 *   HLO_FAIL_REPORT=FILE   when a process ends, appends `ALLOCATIONS FAILED` to this file
 *
 * shim_alloc.h does the same within one process.
 */
#include "shim_alloc.h"

#include "base/oom.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

const size_t arena_chunk_most = 0;

static atomic_ulong allocation_count, failed, fail_at;
static atomic_bool fail_on;

void shim_alloc_fail(unsigned long at, bool on)
{
    allocation_count = failed = 0;
    fail_on = on;
    fail_at = at;
}

unsigned long shim_alloc_count(void) { return allocation_count; }

unsigned long shim_alloc_failed(void) { return failed; }

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("HLO_FAIL_AT"), *on = getenv("HLO_FAIL_ON");
    shim_alloc_fail(at ? strtoul(at, NULL, 10) : 0, on && *on == '1');
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("HLO_FAIL_REPORT");
    fail_at = 0;
    FILE *f = path ? fopen(path, "a") : NULL;
    if (f) {
        fprintf(f, "%lu %lu\n", (unsigned long)allocation_count, (unsigned long)failed);
        fclose(f);
    }
}

static bool fails(void)
{
    unsigned long n = ++allocation_count, at = fail_at;
    if (at == 0 || n < at || (n > at && !fail_on))
        return false;
    failed++;
    if (getenv("HLO_FAIL_TRAP"))
        raise(SIGTRAP);
    errno = ENOMEM;
    return true;
}

/* Names given by the linker to wrapped functions and their wrappers. */
#define WRAP(result, name, parameters, arguments, none)                                            \
    result __real_##name parameters;                                                               \
    result __wrap_##name parameters;                                                               \
    result __wrap_##name parameters { return fails() ? (none) : __real_##name arguments; }

WRAP(void *, malloc, (size_t size), (size), NULL)
WRAP(void *, calloc, (size_t count, size_t size), (count, size), NULL)
WRAP(void *, realloc, (void *p, size_t size), (p, size), NULL)
WRAP(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size), NULL)
WRAP(int, posix_memalign, (void **out, size_t alignment, size_t size), (out, alignment, size),
     ENOMEM)
WRAP(void *, mmap, (void *at, size_t size, int may, int flags, int fd, off_t offset),
     (at, size, may, flags, fd, offset), MAP_FAILED)
WRAP(char *, strdup, (const char *s), (s), NULL)
WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL)
WRAP(FILE *, fdopen, (int fd, const char *mode), (fd, mode), NULL)
WRAP(FILE *, open_memstream, (char **text, size_t *size), (text, size), NULL)
WRAP(void *, opendir, (const char *path), (path), NULL)
WRAP(char *, realpath, (const char *path, char *out), (path, out), NULL)
