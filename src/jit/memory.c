/*
 * memory.c: executable memory. Pages are writable while functions are added, then executable, never
 * both.
 */
#include "jit/jit_priv.h"

#include "base/oom.h"
#include "base/system.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { MEMORY_BYTES = 1 << 20, LINE = 64 };

struct jit_memory {
    char *at;
    size_t used;
    bool sealed;
};

static void unmap(struct tracked *t)
{
    struct jit_memory *m = heap_block(t);
    munmap(m->at, MEMORY_BYTES);
    heap_free(m);
}

static bool is_supported(void)
{
#ifdef __x86_64__
    const char *wanted = getenv("HLO_NATIVE");
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           (!wanted || strcmp(wanted, "0") != 0);
#else
    return false;
#endif
}

/* Some systems refuse to make memory executable that was writable: found out at once. */
static bool may_be_executable(char *at)
{
    return mprotect(at, LINE, PROT_READ | PROT_EXEC) == 0 &&
           mprotect(at, LINE, PROT_READ | PROT_WRITE) == 0;
}

struct jit_memory *jit_memory_new(void)
{
    if (!is_supported())
        return NULL;
    struct jit_memory *m = heap_zalloc(1, sizeof *m);
    m->at = system_reserve(MEMORY_BYTES);
    if (!m->at) {
        heap_free(m);
        return NULL;
    }
    heap_on_oom(m, unmap);
    if (may_be_executable(m->at))
        return m;
    jit_memory_free(m);
    return NULL;
}

void *jit_memory_add(struct jit_memory *m, const void *code, size_t size)
{
    size_t from = (m->used + LINE - 1) / LINE * LINE;
    if (m->sealed || size > MEMORY_BYTES - from)
        return NULL;
    memcpy(m->at + from, code, size);
    m->used = from + size;
    return m->at + from;
}

void jit_memory_seal(struct jit_memory *m)
{
    m->sealed = true;
    if (mprotect(m->at, MEMORY_BYTES, PROT_READ | PROT_EXEC) != 0)
        out_of_memory();
}

void jit_memory_free(struct jit_memory *m)
{
    if (!m)
        return;
    munmap(m->at, MEMORY_BYTES);
    heap_free(m);
}
