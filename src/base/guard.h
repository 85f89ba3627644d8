/*
 * What happens when memory runs out.
 *
 * Small allocations (arenas, vectors, maps, byte buffers, blocks of the heap) never return NULL. Where there is no
 * memory, the innermost *guard* of the thread gets to know: all that was taken since it was entered is given back,
 * and the function that entered it goes on where it did, to say that there was no memory. So that this leaks
 * nothing and leaves nothing broken:
 *
 * - Memory is taken by `arena_`, `buf_`, `heap_` and `mem_` functions, which tell the guard.
 * - What lives longer than the guard may grow meanwhile, and is left as it is: an arena belongs to the guard that
 *   was the innermost when `arena_init` was called, a block that grows stays with the guard that it was taken under.
 *   A block that is taken for something older is passed on to that (`mem_pass`), or an undo takes it out again.
 * - What else must be undone (a lock, a file, a hold on something counted, a thread) has a `struct undo` while
 *   memory is taken, or no memory is taken between doing and undoing it.
 *
 * Functions of hlo.h are guards (GUARDED), as are threads that run a participant or parts of a task, whose caller then
 * fails likewise. A program that has no frames of anybody else's above them, as the command line, is one guard as a
 * whole. Memory whose size a user chooses (tensors) comes from `mem_alloc`, which returns NULL and whose callers say
 * what it was for.
 */
#ifndef HLO_BASE_GUARD_H
#define HLO_BASE_GUARD_H

#include "base/base.h"

#include <setjmp.h>

struct guard;

/* Before each block that guards know of. */
struct taken {
    struct taken *prev, *next;
    struct guard *guard; /* NULL: none knows of it */
    void (*give_back)(struct taken *t); /* NULL: free */
};

typedef void undo_fn(void *what);
/* Lies in the frame that has something to undo. */
struct undo {
    undo_fn *fn;
    void *what;
    struct guard *guard;
    struct undo *older;
};

struct guard {
    struct guard *outer;  /* around it, perhaps of another thread */
    struct guard *holder; /* the one that has what is taken: itself, or that of the thread that it works for */
    struct guard *before; /* the innermost of the thread until then */
    uint64_t since;       /* no other call has the same */
    struct taken *taken;
    struct undo *undo; /* newest first */
    bool busy;         /* the list is being changed */
    bool whole;        /* no frames of somebody else's are above it: guard_begin enters none within it */
    bool ours;         /* nor will there be */
    bool entered;
    jmp_buf back;
};

/* `guard_enter(&g, outer); if (setjmp(g.back)) ...there was no memory...; ...; guard_leave(&g);` After a failure the
 * guard is still entered, and empty. A thread that works for another has the guard of that one as the outer: what it has taken is
 * given back when that one fails, as it must where one of its threads did. */
void guard_enter(struct guard *g, struct guard *outer);
/* A function of hlo.h, which returns `failed` where memory runs out. Called by another of them it is no guard itself. */
#define GUARDED(failed)                                                                                                \
    struct guard guard_ __attribute__((cleanup(guard_leave)));                                                         \
    if (guard_begin(&guard_) && setjmp(guard_.back) != 0)                                                              \
    return failed
bool guard_begin(struct guard *g);
/* Around a call of somebody else's function, whose frames must not be left behind: what it calls is guarded anew, and what that
 * makes is that function's to keep. */
bool guard_call_out(void);
void guard_call_in(bool before);
void guard_leave(struct guard *g);
struct guard *guard_innermost(void);

void guard_undo(struct undo *u, undo_fn *fn, void *what); /* when memory runs out, the newest first */
void guard_done(struct undo *u);                          /* need not be undone any more: the newest first */

/* ---- for those that hand memory out ---- */

uint64_t guard_since(void);                         /* which is the innermost; 0: there is none */
/* Of those that are entered the one that was the innermost when something was made, which has what that comes to hold; NULL: that
 * is older than the call, and stays what it is. */
struct guard *guard_of(uint64_t born);
void guard_note(struct taken *t, struct guard *g);  /* g has taken it from now on; NULL: nobody */
struct guard *guard_forget(struct taken *t);        /* who had taken it */
extern const size_t arena_chunk_most; /* tests have another one, 0: then each piece is a chunk, and can fail */
void *heap_alloc_for(size_t size, struct guard *g);
/* Where p is given back without its owner's knowledge, that is told first: it lets go of what it holds, and takes no memory. NULL: nobody. */
void heap_when_lost(void *p, void (*lose)(struct taken *t));
void *heap_block(struct taken *t); /* for that; heap_free ends it */
void *mem_pass(void *p, struct guard *g); /* storage of a tensor, that belongs to something of g's from now on; NULL is fine; p */
/* What somebody else has made, and gives to us: the innermost guard has it from now on. */
void heap_adopt(void *p);
void arena_adopt(struct arena *a);

#endif
