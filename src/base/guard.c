/*
 * guard.c: out-of-memory scopes, and small heap blocks.
 *
 * Every tracked block is preceded by a list link. The scope of a public call (`struct guard`) lists
 * the blocks allocated since it was entered, by its own thread and by worker threads; blocks
 * outlive the scopes of the workers. When a scope is left without a failure, the caller owns its
 * blocks. The innermost scope and the last generation number are thread-local, like errno.
 */
#include "base/guard.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local struct guard *innermost __attribute__((tls_model("initial-exec")));
/* The generation last assigned to a scope. */
static _Thread_local uint64_t latest __attribute__((tls_model("initial-exec")));

/* ---- lists of tracked blocks; any thread may free a block ---- */

static void lock(struct guard *g)
{
    enum { SPINS = 100 };
    for (int k = 0; __atomic_test_and_set(&g->busy, __ATOMIC_ACQUIRE); k++)
        if (k > SPINS)
            sched_yield();
}

static void unlock(struct guard *g) { __atomic_clear(&g->busy, __ATOMIC_RELEASE); }

void guard_note(struct taken *t, struct guard *g)
{
    t->guard = g ? g->holder : NULL;
    if (!g)
        return;
    g = g->holder;
    lock(g);
    t->prev = NULL;
    t->next = g->taken;
    if (t->next)
        t->next->prev = t;
    g->taken = t;
    unlock(g);
}

static void unlink_taken(struct guard *g, struct taken *t)
{
    *(t->prev ? &t->prev->next : &g->taken) = t->next;
    if (t->next)
        t->next->prev = t->prev;
}

struct guard *guard_forget(struct taken *t)
{
    struct guard *g = t->guard;
    if (!g)
        return NULL;
    lock(g);
    unlink_taken(g, t);
    unlock(g);
    t->guard = NULL;
    return g;
}

struct guard *guard_innermost(void) { return innermost; }

uint64_t guard_since(void) { return innermost ? innermost->since : 0; }

struct guard *guard_of(uint64_t born)
{
    struct guard *g = innermost;
    while (g && g->since != born)
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

void guard_enter(struct guard *g, struct guard *outer)
{
    g->outer = outer;
    g->holder = outer ? outer->holder : g;
    g->before = innermost;
    g->since = outer ? outer->since : new_number();
    g->taken = NULL;
    g->undo = NULL;
    g->busy = false;
    g->whole = true;
    g->ours = outer && outer->ours;
    g->entered = true;
    innermost = g;
}

bool guard_begin(struct guard *g)
{
    g->entered = false;
    if (innermost && innermost->whole)
        return false;
    guard_enter(g, NULL);
    g->outer = g->before;
    return true;
}

bool guard_call_out(void)
{
    bool before = innermost && innermost->whole;
    if (innermost && !innermost->ours)
        innermost->whole = false;
    return before;
}

void guard_call_in(bool before)
{
    if (innermost)
        innermost->whole = before;
}

void guard_leave(struct guard *g)
{
    if (!g->entered)
        return;
    innermost = g->before;
    while (g->taken) {
        struct taken *t = g->taken;
        g->taken = t->next;
        t->guard = NULL;
    }
}

void guard_undo(struct undo *u, undo_fn *fn, void *what)
{
    *u = (struct undo){fn, what, innermost, innermost ? innermost->undo : NULL};
    if (innermost)
        innermost->undo = u;
}

void guard_done(struct undo *u)
{
    if (u->guard)
        u->guard->undo = u->older;
}

static void give_back(struct guard *g)
{
    while (g->undo) { /* their stack frames still exist */
        struct undo *u = g->undo;
        g->undo = u->older;
        u->fn(u->what);
    }
    while (g->taken) {
        struct taken *t = g->taken;
        g->taken = t->next;
        if (t->next)
            t->next->prev = NULL;
        t->guard = NULL;
        if (t->give_back)
            t->give_back(t);
        else
            free(t);
    }
}

_Noreturn void out_of_memory(void)
{
    struct guard *g = innermost;
    if (!g) { /* internal error: every public function that allocates enters a scope */
        fputs("hlo: fatal error: out of memory\n", stderr);
        abort();
    }
    give_back(g);
    longjmp(g->back, 1);
}

/* Not in arena.c, where the compiler would treat it as a constant. */
__attribute__((weak)) const size_t arena_chunk_most = 1024 * 1024;

/* ---- heap blocks ---- */

union head { /* precedes each block; keeps the alignment of malloc */
    struct taken taken;
    _Alignas(16) char unit[16];
};

static struct taken *head_of(const void *p) { return &((union head *)(uintptr_t)p - 1)->taken; }

void *heap_alloc_for(size_t size, struct guard *g)
{
    union head *h = size < SIZE_MAX / 2 ? malloc(sizeof *h + size) : NULL;
    if (!h)
        out_of_memory();
    h->taken.give_back = NULL;
    guard_note(&h->taken, g);
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
    struct guard *g = guard_forget(head_of(p));
    union head *h = size < SIZE_MAX / 2 ? realloc(head_of(p), sizeof *h + size) : NULL;
    guard_note(h ? &h->taken : head_of(p), g);
    if (!h)
        out_of_memory();
    return h + 1;
}

void heap_when_lost(void *p, void (*lose)(struct taken *t)) { head_of(p)->give_back = lose; }

void *heap_block(struct taken *t) { return (union head *)(void *)t + 1; }

void heap_adopt(void *p)
{
    guard_forget(head_of(p));
    guard_note(head_of(p), innermost);
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
    guard_forget(head_of(p));
    free(head_of(p));
}
