/*
 * oom.c: out-of-memory scopes, and small heap blocks.
 *
 * Every tracked block is preceded by a list link. The scope of a public call (`struct oom_scope`)
 * lists the blocks allocated since it was entered, by its own thread and by worker threads; blocks
 * outlive the scopes of the workers. When a scope is left without a failure, the caller owns its
 * blocks. The innermost scope and the last generation number are thread-local, like errno.
 */
#include "base/oom.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local struct oom_scope *innermost __attribute__((tls_model("initial-exec")));
/* The generation last assigned to a scope. */
static _Thread_local uint64_t latest __attribute__((tls_model("initial-exec")));

/* ---- lists of tracked blocks; any thread may free a block ---- */

static void lock(struct oom_scope *g)
{
    enum { SPINS = 100 };
    for (int k = 0; __atomic_test_and_set(&g->busy, __ATOMIC_ACQUIRE); k++)
        if (k > SPINS)
            sched_yield();
}

static void unlock(struct oom_scope *g) { __atomic_clear(&g->busy, __ATOMIC_RELEASE); }

void oom_track(struct tracked *t, struct oom_scope *g)
{
    t->oom_scope = g ? g->holder : NULL;
    if (!g)
        return;
    g = g->holder;
    lock(g);
    t->prev = NULL;
    t->next = g->tracked;
    if (t->next)
        t->next->prev = t;
    g->tracked = t;
    unlock(g);
}

static void unlink_tracked(struct oom_scope *g, struct tracked *t)
{
    *(t->prev ? &t->prev->next : &g->tracked) = t->next;
    if (t->next)
        t->next->prev = t->prev;
}

struct oom_scope *oom_untrack(struct tracked *t)
{
    struct oom_scope *g = t->oom_scope;
    if (!g)
        return NULL;
    lock(g);
    unlink_tracked(g, t);
    unlock(g);
    t->oom_scope = NULL;
    return g;
}

struct oom_scope *oom_innermost(void) { return innermost; }

uint64_t oom_generation(void) { return innermost ? innermost->since : 0; }

struct oom_scope *oom_scope_of(uint64_t generation)
{
    struct oom_scope *g = innermost;
    while (g && g->since != generation)
        g = g->outer;
    return g;
}

/* ---- scopes ---- */

/* A unique generation number. Numbers derive from the clock, so that scopes of different threads
 * never share one. */
static uint64_t new_number(void)
{
    const uint64_t now = (uint64_t)now_ns();
    return latest = now > latest ? now : latest + 1;
}

void oom_enter(struct oom_scope *g, struct oom_scope *outer)
{
    g->outer = outer;
    g->holder = outer ? outer->holder : g;
    g->before = innermost;
    g->since = outer ? outer->since : new_number();
    g->tracked = NULL;
    g->cleanup = NULL;
    g->reserve = outer ? outer->reserve : NULL;
    g->busy = false;
    g->whole = true;
    g->ours = outer && outer->ours;
    g->entered = true;
    innermost = g;
}

bool oom_begin(struct oom_scope *g)
{
    g->entered = false;
    if (innermost && innermost->whole)
        return false;
    oom_enter(g, NULL);
    g->outer = g->before;
    return true;
}

bool oom_begin_callback(void)
{
    bool before = innermost && innermost->whole;
    if (innermost && !innermost->ours)
        innermost->whole = false;
    return before;
}

void oom_end_callback(bool before)
{
    if (innermost)
        innermost->whole = before;
}

void oom_leave(struct oom_scope *g)
{
    if (!g->entered)
        return;
    innermost = g->before;
    while (g->tracked) {
        struct tracked *t = g->tracked;
        g->tracked = t->next;
        t->oom_scope = NULL;
    }
}

void oom_push_cleanup(struct cleanup *u, cleanup_fn *fn, void *what)
{
    *u = (struct cleanup){fn, what, innermost, innermost ? innermost->cleanup : NULL};
    if (innermost)
        innermost->cleanup = u;
}

void oom_pop_cleanup(struct cleanup *u)
{
    if (u->oom_scope)
        u->oom_scope->cleanup = u->older;
}

static void release_all(struct oom_scope *g)
{
    while (g->cleanup) { /* their stack frames still exist */
        struct cleanup *u = g->cleanup;
        g->cleanup = u->older;
        u->fn(u->what);
    }
    while (g->tracked) {
        struct tracked *t = g->tracked;
        g->tracked = t->next;
        if (t->next)
            t->next->prev = NULL;
        t->oom_scope = NULL;
        if (t->on_oom)
            t->on_oom(t);
        else
            free(t);
    }
}

_Noreturn void out_of_memory(void)
{
    struct oom_scope *g = innermost;
    if (!g) { /* internal error: every public function that allocates enters a scope */
        fputs("hlo: fatal error: out of memory\n", stderr);
        abort();
    }
    release_all(g);
    g->reserve = NULL;
    longjmp(g->back, 1);
}

/* Not in arena.c, where the compiler would treat it as a constant. */
__attribute__((weak)) const size_t arena_chunk_most = 1024 * 1024;

/* ---- heap blocks ---- */

union head { /* precedes each block; keeps the alignment of malloc */
    struct tracked tracked;
    _Alignas(16) char unit[16];
};

static struct tracked *head_of(const void *p) { return &((union head *)(uintptr_t)p - 1)->tracked; }

void *heap_alloc_for(size_t size, struct oom_scope *g)
{
    union head *h = size < SIZE_MAX / 2 ? malloc(sizeof *h + size) : NULL;
    if (!h)
        out_of_memory();
    h->tracked.on_oom = NULL;
    oom_track(&h->tracked, g);
    return h + 1;
}

void *heap_alloc(size_t size) { return heap_alloc_for(size, innermost); }

void *heap_zalloc(size_t count, size_t size)
{
    size_t all;
    if (__builtin_mul_overflow(count, size, &all))
        out_of_memory();
    return memset(heap_alloc(all), 0, all);
}

void *heap_grow(void *p, size_t size)
{
    if (!p)
        return heap_alloc(size);
    struct oom_scope *g = oom_untrack(head_of(p));
    union head *h = size < SIZE_MAX / 2 ? realloc(head_of(p), sizeof *h + size) : NULL;
    oom_track(h ? &h->tracked : head_of(p), g);
    if (!h)
        out_of_memory();
    return h + 1;
}

void heap_on_oom(void *p, void (*release)(struct tracked *t)) { head_of(p)->on_oom = release; }

void *heap_block(struct tracked *t) { return (union head *)(void *)t + 1; }

void heap_adopt(void *p)
{
    oom_untrack(head_of(p));
    oom_track(head_of(p), innermost);
}

char *heap_str(struct str s)
{
    char *z = heap_alloc(s.len + 1);
    if (s.len)
        memcpy(z, s.ptr, s.len);
    z[s.len] = '\0';
    return z;
}

void heap_free(void *p)
{
    if (!p)
        return;
    oom_untrack(head_of(p));
    free(head_of(p));
}
