/*
 * eval: executes programs: frames, control flow, and kernel calls.
 */
#ifndef HLO_EVAL_H
#define HLO_EVAL_H

#include "eval/exchange.h"
#include "plan/plan.h"

/* Callbacks at the beginning and end of every step of a run, nested steps included. (struct
 * trace_callbacks receives instructions and their values.) */
struct step_callbacks {
    void *context;
    void (*begin)(void *context, const struct function *f, const struct step *s);
    void (*end)(void *context, const struct function *f, const struct step *s);
};

struct trace_callbacks;
struct memory_estimate;
struct pool;

/* What the hoisted steps of the entry computation leave behind besides their kept results. */
struct kept {
    bool there;     /* they have been run */
    uint64_t steps; /* budget that they consumed; charged to every run */
    size_t peak;    /* peak of live bytes while they ran */
};

/* Position of the current run, read by other threads and signal handlers. */
struct run_mark {
    _Atomic(const struct step *) at; /* step of the entry computation; NULL: before the first */
    _Atomic int64_t iteration;       /* iteration of that step, if it is a loop; -1: not counted */
};

/* What runs of a program write: of one participant, for one run at a time. */
struct run_state {
    struct arena arena; /* of this struct and what belongs to it */
    const struct program *program;
    struct budget budget; /* of the current run */
    /* for runs; empty between them. Kept, since allocating it takes longer than a short run */
    struct arena scratch;
    struct reserve *reserve;          /* large storage, kept between runs */
    struct kern_fft_plans transforms; /* plans of Fourier transforms, kept between runs */
    struct pool *pool;                /* small storage, likewise; NULL before the first run */
    struct rng_state *rng;            /* by number, of steps: persists between runs */
    struct scalar_run scalar_run;     /* of the current run */
    const struct step_callbacks *step_callbacks; /* of the runs; or NULL */
    const struct trace_callbacks
        *trace_callbacks; /* of the runs, for programs planned with `traced`; or NULL */
    const struct memory_estimate *memory_estimate; /* NULL: not computed */
    struct kept kept;                              /* set by the first run, for later ones */
    struct run_state *shared; /* has what is the same for all participants; NULL: is not shared */
    struct run_mark mark;
    size_t peak; /* peak of live bytes in the last run */
};

/* A state for runs of the program, which must outlive it, by the participant with this number. The
 * caller frees it with run_state_free(). */
struct run_state *run_state_new(const struct program *p, int64_t participant);
void run_state_free(struct run_state *s); /* NULL is allowed */

/* Runs the entry computation on `args`, one literal per parameter (count: their number).
 * `exchange`: other participants and the host; may be NULL if none. The result is
 * allocated in `a`; the caller frees its storage with literal_free_data(). NULL with diagnostics,
 * or without any when the exchange reports the reason. */
struct literal *eval_program(struct diags *ds, struct run_state *s,
                             const struct literal *const *args, size_t count,
                             const struct exchange *exchange, struct arena *a);

/* Before the runs of several participants whose states refer to this one: computes the values that
 * depend on constants only, and the memory estimate if there is a limit. They then only read these.
 * What fails here is left to the participants. */
void eval_prepare(struct run_state *shared);

/* Whether a value of shape `given` may be passed as `expected`: each dimension has the expected
 * size, or at most that if it is dynamic. */
bool eval_fits(const struct shape *expected, const struct shape *given);

/* ---- trace.c: traced runs ---- */

struct within { /* an instruction whose callee is running */
    const struct inst *inst;
    int64_t iteration; /* of a loop, from 0; -1 in its condition; 0 for other instructions */
};
struct trace_event {
    const struct step *step; /* step of the instruction; the last one where it has two */
    int64_t participant;
    uint64_t number; /* number of earlier instructions in this trace */
    int64_t ns;      /* execution time in ns, without nested callbacks; 0 before it is done */
    bool done;
    int depth;
    const struct within *within; /* calling instructions, outermost first */
    struct eval *eval;
    /* copies made on demand: of the value, then of each operand, by leaf; NULL: not requested.
     * Valid as long as this event */
    struct value **copies;
    /* results that the callback has set before the instruction is done; or NULL */
    struct value *given;
    bool failed; /* out of memory */
};
/* Callbacks before and after each instruction; NULL: none. They return false to end the run with
 * LIMIT_STOPPED. */
struct trace_callbacks {
    void *context;
    bool (*before)(void *context, struct trace_event *s);
    bool (*after)(void *context, struct trace_event *s);
    /* instead of `after`, when the instruction has no value */
    bool (*skipped)(void *context, struct trace_event *s);
};
enum { TRACE_VALUE = -1 };
/* A copy of operand k of the instruction, or of its value: dense and complete; valid until the
 * callback returns. A token is an empty tuple, and so is an absent array. NULL: out of memory,
 * which ends the run. */
struct literal *eval_event_value(struct trace_event *s, int operand);
/* Replaces the value by `l`, whose shape must fit. False: out of memory, which ends the run. */
bool eval_event_replace(struct trace_event *s, const struct literal *l);

/* ---- dry_run.c: memory estimate by a dry run ---- */

/* How the storage of a step's result is obtained. */
enum making {
    MADE_NOTHING,  /* a token */
    MADE_NEW,      /* new storage */
    MADE_IN_PLACE, /* storage of an operand that is not read again */
    MADE_VIEW,     /* a view of an operand's storage */
    MADE_WITHIN    /* made by a step of a callee */
};
struct result_estimate {
    uint8_t making; /* enum making */
    int operand;    /* operand leaf, for MADE_IN_PLACE and MADE_VIEW */
    int buffer;     /* number of its storage, shared by all results in it */
    size_t storage; /* bytes of the storage; 0: it belongs to an argument or a constant */
};
/* A step as of its last dry run; the peak is over all dry runs of it. */
struct step_estimate {
    int visits;
    size_t peak;        /* peak of live bytes while it runs */
    const char *choice; /* variant of the kernel that would run; NULL: unknown, or only one */
    size_t workspace;   /* bytes of kernel workspace, if the kernel reports it */
    struct result_estimate *results;
};
struct memory_estimate {
    bool known; /* false: too data-dependent; nothing below is valid */
    /* exact; else an upper estimate, because of branches, loops that might not run, dynamic sizes,
     * or steps that depend on other participants */
    bool exact;
    size_t peak;           /* peak of live bytes, without arguments and constants */
    const struct step *at; /* step at the peak; NULL: at the end, with the results */
    const struct function *in;
    size_t workspace;             /* largest kernel workspace, bytes */
    struct step_estimate **steps; /* by function index, by step */
};

/* Estimates the memory of a run by a dry run: executes the program with unbacked storage and
 * without kernels, so that every decision about storage is made by the code of a real run.
 * A loop is repeated until the layout of its state recurs; all branches of a conditional are
 * executed. The estimate thus is an upper bound. Dynamic sizes count as their bounds. Computed
 * once; the result belongs to the state, or to `shared`. */
const struct memory_estimate *eval_estimate_memory(struct run_state *s);

#endif
