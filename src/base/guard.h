/*
 * guard: out-of-memory scopes.
 *
 * Small allocations (arenas, vectors, maps, byte buffers, heap blocks) never return NULL. If memory
 * runs out, the innermost *scope* (`struct guard`) of the thread handles it: everything allocated
 * since the scope was entered is freed, and control is transferred by longjmp to the function that
 * entered it, which reports the failure. For this to leak nothing and leave no inconsistent state:
 *
 * - Memory is allocated by `arena_`, `buf_`, `heap_` and `mem_` functions, which track it.
 * - Objects that are older than the scope may grow and are not freed: an arena belongs to the scope
 *   that was innermost when `arena_init` was called, and a block that grows remains in the scope
 *   that it was first allocated in. A new block that an older object refers to is moved to the
 *   scope of that object (`mem_pass`), or a cleanup removes it again.
 * - Any other state that must be reverted (a lock, an open file, a reference count, a thread) has a
 *   registered cleanup (`struct undo`) while memory is allocated, or no memory is allocated between
 *   its change and its reversal.
 *
 * Public functions are scopes (GUARDED). So are threads that run a participant or parts of a task;
 * when one of those fails, its caller fails as well. A program that owns all frames on its stack,
 * as the command line does, is a single scope. Memory whose size a user chooses (tensors) is
 * allocated by `mem_alloc`, which returns NULL on failure; its callers report what the memory was
 * for.
 */
#ifndef HLO_BASE_GUARD_H
#define HLO_BASE_GUARD_H

#include "base/base.h"

#include <setjmp.h>

struct guard;

/* Precedes each tracked block. */
struct taken {
    struct taken *prev, *next;
    struct guard *guard;                /* NULL: the block belongs to no scope */
    void (*give_back)(struct taken *t); /* releases the block; NULL: free */
};

typedef void undo_fn(void *what);
/* A registered cleanup; lives in the stack frame that registers it. */
struct undo {
    undo_fn *fn;
    void *what;
    struct guard *guard;
    struct undo *older;
};

struct guard {
    struct guard *outer; /* the enclosing scope, perhaps of another thread */
    /* The scope that owns the allocations: itself, or that of the thread it works for. */
    struct guard *holder;
    struct guard *before; /* the thread's innermost scope when this one was entered */
    uint64_t since;       /* generation; unique to this scope */
    struct taken *taken;
    struct undo *undo; /* newest first */
    bool busy;         /* spin lock of the list */
    /* All frames since it was entered belong to the program: guard_begin enters no nested scope. */
    bool whole;
    bool ours; /* the same permanently, callbacks included */
    bool entered;
    jmp_buf back;
};

/* Enters a scope: `guard_enter(&g, outer); if (setjmp(g.back)) ...failed...; ...; guard_leave(&g);`
 * After a failure the scope is still entered, and empty. A worker thread passes the scope of the
 * thread that it works for as `outer`: its allocations are freed when the outer scope fails. If a
 * worker fails, its caller must fail as well. */
void guard_enter(struct guard *g, struct guard *outer);
/* Enters a scope at the top of a public function, which returns `failed` if memory runs out. No
 * effect if the caller is another public function. */
#define GUARDED(failed)                                                                            \
    struct guard guard_ __attribute__((cleanup(guard_leave)));                                     \
    if (guard_begin(&guard_) && setjmp(guard_.back) != 0)                                          \
    return failed
bool guard_begin(struct guard *g);
/* Brackets a call to a callback of the user, whose frames longjmp must not skip: public functions
 * that the callback calls enter scopes of their own, and the callback owns their results. */
bool guard_call_out(void);
void guard_call_in(bool before);
/* Leaves the innermost scope; the caller owns its blocks unless it failed. */
void guard_leave(struct guard *g);
struct guard *guard_innermost(void);

/* Runs if memory runs out, newest first. */
void guard_undo(struct undo *u, undo_fn *fn, void *what);
void guard_done(struct undo *u); /* removes the cleanup; newest first */

/* ---- for allocators ---- */

uint64_t guard_since(void); /* generation of the innermost scope; 0: none */
/* The entered scope that was innermost when an object of this generation was created; it owns what
 * the object allocates later. NULL: the object is older than the call and is not released. */
struct guard *guard_of(uint64_t born);
void guard_note(struct taken *t, struct guard *g); /* moves the block to scope g; NULL: to none */
struct guard *guard_forget(struct taken *t);       /* detaches the block; returns its scope */
/* Set to 0 by tests, so that each allocation is a chunk of its own and can fail. */
extern const size_t arena_chunk_most;
/* As heap_alloc, in scope g. */
void *heap_alloc_for(size_t size, struct guard *g);
/* Registers `lose`, which is called before p is freed because memory ran out, to release what p
 * refers to; it must not allocate. NULL: nothing to release. */
void heap_when_lost(void *p, void (*lose)(struct taken *t));
void *heap_block(struct taken *t); /* the block of a link, for `lose`; heap_free frees it */
/* Moves the storage of a tensor to scope g; returns p, which may be NULL. */
void *mem_pass(void *p, struct guard *g);
/* Takes ownership of memory that a callback allocated: the innermost scope owns it. */
void heap_adopt(void *p);
/* Moves an arena to the innermost scope. */
void arena_adopt(struct arena *a);

#endif
