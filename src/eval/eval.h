/*
 * eval: runs programs: frames, control flow, and operands handed to kern.
 */
#ifndef HLO_EVAL_H
#define HLO_EVAL_H

#include "eval/exchange.h"
#include "plan/plan.h"

/* Runs the entry computation on one literal for each parameter. The result lives in `a`; its
 * storage is freed by literal_free_data. NULL with diagnostics, or without one where the exchange
 * knows the reason. `exchange` may be NULL for a run that has no other participants and no host. */
struct literal *eval_program(struct diags *ds, struct program *p, const struct literal *const *args,
                             size_t count, const struct exchange *exchange, struct arena *a);

/* Whether a value of shape `given` may be passed for `wanted`: each dimension has the wanted size,
 * or at most that if it may change. */
bool eval_fits(const struct shape *wanted, const struct shape *given);

/* ---- observe.c: runs of observed programs, one instruction after the other ---- */

struct within { /* an instruction that calls others, which run within it now */
    const struct inst *inst;
    int64_t iteration; /* of a loop, from 0; -1 in its condition. 0 for anything but loops */
};
struct sighting {
    const struct step *step; /* of the instruction; the last one where it has two */
    int64_t participant;
    uint64_t number; /* instructions shown before this one, in this run */
    int64_t ns;      /* its own time, without that of the observer; 0 before it is done */
    bool done;
    int depth;
    const struct within *within; /* outermost first */
    struct eval *eval;
    struct value **copies; /* made when the observer looks: of the value, then of each operand, by
                            * leaf; NULL: not looked at. They live as long as the sighting */
    struct value
        *given; /* its results, if the observer sets them before the instruction is done; or NULL */
    bool failed; /* there was no memory */
};
/* Called before and after each instruction; NULL: not wanted. Returns false to end the run:
 * LIMIT_STOPPED. */
struct observer {
    void *context;
    bool (*before)(void *context, struct sighting *s);
    bool (*after)(void *context, struct sighting *s);
    bool (*skipped)(
        void *context,
        struct sighting *s); /* in place of `after`, where the instruction has no value */
};
enum { SIGHT_VALUE = -1 };
/* Operand k of the instruction, or its value: dense and complete; valid until the observer returns.
 * A token is an empty tuple, and so is an array that was not computed. NULL: no memory, which ends
 * the run. */
struct literal *eval_sight(struct sighting *s, int operand);
/* Replaces the value by another one of a fitting shape. False as above. */
bool eval_sight_set(struct sighting *s, const struct literal *l);

/* ---- rehearse.c: what memory a run takes, before it takes it ---- */

/* Where a step's result comes from. */
enum making {
    MADE_NOTHING,  /* a token */
    MADE_NEW,      /* storage of its own */
    MADE_IN_PLACE, /* the storage of an operand that nobody reads again */
    MADE_VIEW,     /* it shares the bytes of an operand */
    MADE_WITHIN    /* by a step of what it calls */
};
struct foreseen_result {
    uint8_t making; /* enum making */
    int operand;    /* leaf, of MADE_IN_PLACE and MADE_VIEW */
    int buffer;     /* number of its storage, the same for all results that share it */
    size_t storage; /* its size in bytes; 0: it belongs to an argument or a constant */
};
/* A step as of its last rehearsal; the peak is over all rehearsals of it. */
struct foreseen_step {
    int visits;
    size_t peak;        /* bytes of values alive at once while it runs */
    const char *choice; /* which way its kernel would go; NULL: not known, or there is only one */
    size_t room; /* bytes of scratch memory that its kernel takes, where the kernel says so */
    struct foreseen_result *results;
};
struct foresight {
    bool known;  /* false: too much depends on values; nothing below is valid */
    bool exact;  /* it is what a run needs; else there are branches, loops that might not run, sizes
                  * that change,  or steps that depend on others, and it is about the most */
    size_t peak; /* bytes of values alive at once, without arguments and constants */
    const struct step *at; /* where the peak is; NULL: at the end, with the results */
    const struct function *in;
    size_t room;                  /* the most scratch memory that a kernel takes */
    struct foreseen_step **steps; /* by function index, by step */
};

/* Rehearses the program: goes through it as a run does, with storage that does not exist and
 * kernels that do nothing, so that everything that is decided on the way is decided as in a run. A
 * loop is gone through until its state is laid out as before; all branches of a conditional are. So
 * what is foreseen is the most that a run may need. Sizes that change at run time count as their
 * bounds. Done once; the result belongs to the program. */
const struct foresight *eval_foresee(struct program *p);

#endif
