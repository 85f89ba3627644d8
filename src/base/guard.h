/*
 * guard: what happens when memory runs out.
 *
 * Small allocations (arenas, vectors, maps, byte buffers, blocks of the heap) never return NULL.
 * When there is no memory left, the innermost *guard* of the thread takes over: everything taken
 * since that guard was entered is freed, and control jumps back to the function that entered it,
 * which reports that there was no memory. For this to leak nothing and leave nothing half done:
 *
 * - Memory is taken by `arena_`, `buf_`, `heap_` and `mem_` functions, which tell the guard.
 * - What outlives the guard may grow meanwhile and is not freed: an arena belongs to the guard that
 * was innermost when `arena_init` was called, and a block that grows stays with the guard it was
 * first taken under. A new block that belongs to something older is passed on to that thing's guard
 * (`mem_pass`), or an undo removes it again.
 * - Anything else that must be undone (a lock, an open file, a reference count, a thread) has a
 * `struct undo` for as long as memory is being taken, or no memory is taken between doing and
 * undoing it.
 *
 * Functions of hlo.h are guards (GUARDED). So are threads that run a participant or parts of a
 * task; when one of those fails, so does its caller. A program that owns all frames on its stack,
 * as the command line does, is one guard as a whole. Memory whose size a user chooses (tensors)
 * comes from `mem_alloc`, which returns NULL; its callers report what the memory was for.
 */
#ifndef HLO_BASE_GUARD_H
#define HLO_BASE_GUARD_H

#include "base/base.h"

#include <setjmp.h>

struct guard;

/* Before each block that guards know of. */
struct taken {
    struct taken *prev, *next;
    struct guard *guard;                /* NULL: no guard knows of it */
    void (*give_back)(struct taken *t); /* NULL: free */
};

typedef void undo_fn(void *what);
/* Lives in the stack frame that has something to undo. */
struct undo {
    undo_fn *fn;
    void *what;
    struct guard *guard;
    struct undo *older;
};

struct guard {
    struct guard *outer; /* the one around it, perhaps of another thread */
    struct guard
        *holder; /* owns what is taken: itself, or the guard of the thread that it works for */
    struct guard *before; /* the thread's innermost guard until this one was entered */
    uint64_t since;       /* number; no other call has the same */
    struct taken *taken;
    struct undo *undo; /* newest first */
    bool busy;         /* lock of the list */
    bool
        whole; /* all frames since it was entered are ours: guard_begin enters no guard within it */
    bool ours; /* and always will be, callbacks included */
    bool entered;
    jmp_buf back;
};

/* Use: `guard_enter(&g, outer); if (setjmp(g.back)) ...no memory...; ...; guard_leave(&g);`
 * After a failure the guard is still entered, and empty. A thread that works for another passes
 * that thread's guard as `outer`: what it takes is freed when the outer one fails, which must also
 * fail when one of its threads did. */
void guard_enter(struct guard *g, struct guard *outer);
/* At the top of a function of hlo.h: returns `failed` when memory runs out. Does nothing when
 * another function of hlo.h is the caller. */
#define GUARDED(failed)                                                                            \
    struct guard guard_ __attribute__((cleanup(guard_leave)));                                     \
    if (guard_begin(&guard_) && setjmp(guard_.back) != 0)                                          \
    return failed
bool guard_begin(struct guard *g);
/* Put around a call to a function that is not ours, whose frames longjmp must not skip: what it
 * calls in turn is guarded anew, and what those calls make is its own to keep. */
bool guard_call_out(void);
void guard_call_in(bool before);
void guard_leave(struct guard *g);
struct guard *guard_innermost(void);

void guard_undo(struct undo *u, undo_fn *fn,
                void *what);     /* called when memory runs out, newest first */
void guard_done(struct undo *u); /* no longer needs undoing; newest first */

/* ---- for allocators ---- */

uint64_t guard_since(void); /* number of the innermost guard; 0: there is none */
/* The guard, of those entered now, that was innermost when something was made: it takes what that
 * thing allocates later. NULL: the thing is older than the call and is left alone. */
struct guard *guard_of(uint64_t born);
void guard_note(struct taken *t,
                struct guard *g);            /* from now on the block is g's; NULL: nobody's */
struct guard *guard_forget(struct taken *t); /* returns the guard it belonged to */
extern const size_t
    arena_chunk_most; /* tests set it to 0: then each piece is a chunk of its own, and can fail */
void *heap_alloc_for(size_t size, struct guard *g);
/* `lose` is called before p is freed because memory ran out, to release what p holds; it must take
 * no memory. NULL: nothing to release. */
void heap_when_lost(void *p, void (*lose)(struct taken *t));
void *heap_block(struct taken *t); /* the block of a link, inside `lose`; heap_free ends it */
void *mem_pass(void *p, struct guard *g); /* hands storage of a tensor on to something of g's; NULL
                                             is fine; returns p */
/* Memory that somebody else made and gives to us: from now on it is the innermost guard's. */
void heap_adopt(void *p);
void arena_adopt(struct arena *a);

#endif
