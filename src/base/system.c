/*
 * system.c: the calls that are specific to an operating system.
 *
 * Linux: huge pages, processors available to the process, /proc, signalfd, files without a name,
 * mallopt (GNU). ELF systems: the segments of shared objects. Others: POSIX.
 */
#include "base/system.h"

#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#if defined __linux__ && !defined SYSTEM_PORTABLE
#define SYSTEM_LINUX
#include <sched.h>
#include <sys/signalfd.h>
#endif
#if defined __GLIBC__
#include <malloc.h>
#endif
#if defined __linux__ || defined __FreeBSD__ || defined __NetBSD__
#define SYSTEM_ELF
#include <dlfcn.h>
#include <link.h>
#endif
#if !defined MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

/* ---- processors and memory ---- */

int processor_count(void)
{
#if defined SYSTEM_LINUX
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online < INT_MAX ? (int)online : 1;
}

uint64_t system_memory(void)
{
#if defined _SC_PHYS_PAGES
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (pages > 0 && size > 0)
        return (uint64_t)pages * (uint64_t)size;
#endif
    return 0;
}

void *system_reserve(size_t size)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

void system_advise_huge(void *begin, size_t size)
{
#if defined SYSTEM_LINUX
    madvise(begin, size, MADV_HUGEPAGE);
#endif
}

void system_release_pages(void *begin, size_t size) { madvise(begin, size, MADV_DONTNEED); }

void system_keep_freed_memory(void)
{
#if defined __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 128 << 20);
#endif
}

#if defined SYSTEM_LINUX
/* Peak resident memory in KiB since the program started, or since the last reset; -1: unknown. */
static long long peak_of_program(void)
{
    char line[128];
    long long kib = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && kib < 0 && fgets(line, sizeof line, f))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtoll(line + 6, NULL, 10);
    if (f)
        fclose(f);
    return kib;
}
#else
static long long peak_of_program(void) { return -1; }
#endif

uint64_t system_peak_memory(void)
{
#if defined __APPLE__
    enum { UNIT = 1 }; /* of ru_maxrss */
#else
    enum { UNIT = 1024 };
#endif
    struct rusage usage;
    long long kib = peak_of_program();
    if (kib >= 0)
        return (uint64_t)kib * 1024;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * UNIT : 0;
}

void system_reset_peak_memory(void)
{
#if defined SYSTEM_LINUX
    FILE *f = fopen("/proc/self/clear_refs", "w");
    if (f) {
        fputs("5", f);
        fclose(f);
    }
#endif
}

/* ---- threads ---- */

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000),
                             .tv_nsec = (long)(ns % 1000000000)};
}

#if defined __APPLE__ || defined SYSTEM_PORTABLE
/* Conditions wait by the clock that can be set. */
void system_cond_init(pthread_cond_t *c) { pthread_cond_init(c, NULL); }

int system_cond_wait(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t left = until - now_ns();
    struct timespec t =
        timespec_of(now.tv_sec * INT64_C(1000000000) + now.tv_nsec + (left > 0 ? left : 0));
    return pthread_cond_timedwait(c, lock, &t);
}
#else
void system_cond_init(pthread_cond_t *c)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(c, &attr);
    pthread_condattr_destroy(&attr);
}

int system_cond_wait(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until)
{
    struct timespec t = timespec_of(until);
    return pthread_cond_timedwait(c, lock, &t);
}
#endif

int system_start_thread(pthread_t *thread, size_t stack, void *(*run)(void *), void *context)
{
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, stack);
    int error = pthread_create(thread, &attr, run, context);
    pthread_attr_destroy(&attr);
    return error;
}

#if defined __APPLE__
int64_t system_thread_time(pthread_t thread) { return -1; }
#else
int64_t system_thread_time(pthread_t thread)
{
    clockid_t clock;
    struct timespec t;
    if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return -1;
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}
#endif

#if defined SYSTEM_LINUX
int system_cpu(void) { return sched_getcpu(); }

/* Member number `n` of a set, which has more. */
static size_t nth_cpu(const cpu_set_t *set, int n)
{
    size_t cpu = 0;
    while (!CPU_ISSET(cpu, set) || n-- > 0)
        cpu++;
    return cpu;
}

int system_move_thread(pthread_t thread, int k)
{
    cpu_set_t allowed, others, one;
    const int own = sched_getcpu();
    if (own < 0 || pthread_getaffinity_np(thread, sizeof allowed, &allowed) != 0)
        return -1;
    others = allowed;
    CPU_CLR((size_t)own, &others);
    const int count = CPU_COUNT(&others);
    if (count == 0)
        return -1;
    const size_t cpu = nth_cpu(&others, k % count);
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    const bool moved = pthread_setaffinity_np(thread, sizeof one, &one) == 0;
    pthread_setaffinity_np(thread, sizeof allowed, &allowed);
    return moved ? (int)cpu : -1;
}
#else
int system_cpu(void) { return -1; }
int system_move_thread(pthread_t thread, int k) { return -1; }
#endif

/* ---- signals ---- */

void system_discard_signal(int number)
{
    sigset_t set;
    sigpending(&set);
    if (!sigismember(&set, number))
        return;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigwait(&set, &number);
}

#if defined SYSTEM_LINUX
void system_signals_open(struct system_signals *s, const sigset_t *set)
{
    s->fd = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int system_signals_take(struct system_signals *s)
{
    struct signalfd_siginfo info;
    return read(s->fd, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

void system_signals_close(struct system_signals *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}
#else
/* A thread waits for the signals and writes their numbers to a pipe. */
static void *forward_signals(void *signals)
{
    const struct system_signals *s = signals;
    int number;
    for (;;)
        if (sigwait(&s->set, &number) == 0) {
            int before;
            pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
            (void)!write(s->to, &number, sizeof number);
            pthread_setcancelstate(before, &before);
        }
    return NULL;
}

void system_signals_open(struct system_signals *s, const sigset_t *set)
{
    int ends[2];
    s->fd = -1;
    s->set = *set;
    if (!system_pipe(ends))
        return;
    s->to = ends[1];
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    if (pthread_create(&s->thread, NULL, forward_signals, s) == 0) {
        s->fd = ends[0];
    } else {
        close(ends[0]);
        close(ends[1]);
    }
}

int system_signals_take(struct system_signals *s)
{
    int number;
    return read(s->fd, &number, sizeof number) == (ssize_t)sizeof number ? number : 0;
}

void system_signals_close(struct system_signals *s)
{
    if (s->fd < 0)
        return;
    pthread_cancel(s->thread);
    pthread_join(s->thread, NULL);
    for (int number; (number = system_signals_take(s)) > 0;)
        kill(getpid(), number); /* pending again */
    close(s->fd);
    close(s->to);
    s->fd = -1;
}
#endif

/* ---- files ---- */

bool system_pipe(int ends[2])
{
#if defined SYSTEM_LINUX
    return pipe2(ends, O_CLOEXEC) == 0;
#else
    return pipe(ends) == 0 && fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 &&
           fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0;
#endif
}

bool system_program_path(char *out, size_t size)
{
#if defined SYSTEM_LINUX
    ssize_t n = readlink("/proc/self/exe", out, size - 1);
    if (n > 0 && (size_t)n < size - 1) {
        out[n] = '\0';
        return true;
    }
#endif
    return false;
}

#if defined SYSTEM_LINUX
int system_open_unnamed(const char *directory)
{
    /* Without /proc it could not be linked to a name later. */
    return access("/proc/self/fd", F_OK) == 0
               ? open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)
               : -1;
}

bool system_link_unnamed(int fd, const char *path)
{
    char from[32];
    snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
}

/* A line of /proc/self/maps: FROM-TO PERMISSIONS OFFSET DEVICE INODE PATH. */
enum { MAX_LINE = PATH_MAX + 128, WORDS_BEFORE_PATH = 5 };

struct lines {
    int fd;
    size_t at, size;
    char ahead[1024];
};

/* Reads a line, truncated to the buffer. False at the end. */
static bool next_line(struct lines *l, char *line, size_t capacity)
{
    size_t n = 0;
    for (;;) {
        if (l->at == l->size) {
            ssize_t got = read(l->fd, l->ahead, sizeof l->ahead);
            if (got <= 0)
                return false;
            l->at = 0;
            l->size = (size_t)got;
        }
        char c = l->ahead[l->at++];
        if (c == '\n')
            break;
        if (n + 1 < capacity)
            line[n++] = c;
    }
    line[n] = '\0';
    return true;
}

static uintptr_t take_address(const char **at)
{
    uintptr_t v = 0;
    for (; char_hex(**at) >= 0; ++*at)
        v = v << 4 | (uintptr_t)char_hex(**at);
    return v;
}

/* The path in a line whose range contains the address; NULL: other range, or no file. */
static const char *path_at_address(const char *line, uintptr_t address)
{
    uintptr_t from = take_address(&line);
    if (*line++ != '-' || address < from || address >= take_address(&line))
        return NULL;
    for (int word = 1; word < WORDS_BEFORE_PATH; word++) {
        while (*line == ' ')
            line++;
        while (*line && *line != ' ')
            line++;
    }
    while (*line == ' ')
        line++;
    return *line == '/' ? line : NULL;
}

bool system_mapped_path(uintptr_t address, char *out, size_t size)
{
    char line[MAX_LINE];
    const char *path = NULL;
    struct lines l = {.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
    while (!path && next_line(&l, line, sizeof line))
        path = path_at_address(line, address);
    close(l.fd);
    bool found = path && strlen(path) < size;
    if (found)
        memcpy(out, path, strlen(path) + 1);
    return found;
}
#else
int system_open_unnamed(const char *directory) { return -1; }

bool system_link_unnamed(int fd, const char *path)
{
    errno = ENOTSUP;
    return false;
}

bool system_mapped_path(uintptr_t address, char *out, size_t size) { return false; }
#endif

/* ---- shared objects ---- */

#if defined SYSTEM_ELF
const char *system_library_path(void *library)
{
    struct link_map *map = NULL;
    return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : NULL;
}

struct place_of_code {
    uintptr_t base, address; /* of the object, and that which is sought in it */
};

static int has_code_at(struct dl_phdr_info *object, size_t size, void *place)
{
    const struct place_of_code *p = place;
    if (object->dlpi_addr != p->base)
        return 0;
    for (int k = 0; k < object->dlpi_phnum; k++) {
        uintptr_t begin = object->dlpi_addr + object->dlpi_phdr[k].p_vaddr;
        if (object->dlpi_phdr[k].p_type == PT_LOAD && object->dlpi_phdr[k].p_flags & PF_X &&
            p->address >= begin && p->address - begin < object->dlpi_phdr[k].p_memsz)
            return 1;
    }
    return 0;
}

/* Whether the address is that of a symbol for data: linkers for some processors put constants into
 * the segment of the code. */
static bool is_data(const void *address)
{
#if defined __GLIBC__
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    return dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT) != 0 && symbol &&
           info.dli_saddr == address && ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT;
#else
    return false;
#endif
}

bool system_library_has_code(void *library, const void *address)
{
    struct link_map *map = NULL;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
        return true;
    return !is_data(address) &&
           dl_iterate_phdr(has_code_at,
                           &(struct place_of_code){(uintptr_t)map->l_addr, (uintptr_t)address});
}
#else
const char *system_library_path(void *library) { return NULL; }

bool system_library_has_code(void *library, const void *address) { return true; }
#endif
