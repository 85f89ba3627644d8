/*
 * eval: runs programs: frames, control flow, and operands handed to kern.
 */
#ifndef HLO_EVAL_H
#define HLO_EVAL_H

#include "eval/exchange.h"
#include "plan/plan.h"

/* Runs the entry computation on one literal for each parameter. The result lies in `a`, its storage
 * is freed by literal_free_data. NULL with diagnostics, or without one where the exchange knows why;
 * `exchange` may be NULL where nobody else is asked for anything. */
struct literal *eval_program(struct diags *ds, struct program *p, const struct literal *const *args,
                             size_t count, const struct exchange *exchange, struct arena *a);

/* Whether what comes from outside may stand for `wanted`: every dimension as wanted, or at most that where it
 * may change. */
bool eval_fits(const struct shape *wanted, const struct shape *given);

/* ---- observe.c: runs of observed programs, one instruction after the other ---- */

struct within { /* an instruction that calls, and what runs in it now */
    const struct inst *inst;
    int64_t iteration; /* of a loop, from 0; -1 in its condition. Else 0 */
};
struct sighting {
    const struct step *step; /* of the instruction, the last one where it has two */
    int64_t participant;
    uint64_t number;         /* instructions that were shown before, this run */
    int64_t ns;              /* that it took, without the time of the observer; 0 before it is done */
    bool done;
    int depth;
    const struct within *within; /* outermost first */
    struct eval *eval;
    struct value **copies;       /* made to be shown: of the value, then of each operand, by leaf; NULL: nobody has looked. They go
                                  * with the sighting */
    struct value *given;         /* its results, where the observer has set them before it is done; or NULL */
    bool failed;                 /* there was no memory */
};
/* Told of each instruction before and after it is done; NULL: not wanted. False ends the run: LIMIT_STOPPED. */
struct observer {
    void *context;
    bool (*before)(void *context, struct sighting *s);
    bool (*after)(void *context, struct sighting *s);
};
enum { SIGHT_VALUE = -1 };
/* Operand k of the instruction or its value, dense and whole, until the observer returns. What is not there, tokens, is an empty
 * tuple. NULL: there is no memory, which ends the run. */
struct literal *eval_sight(struct sighting *s, int operand);
/* Another value in its place, of a shape that fits it. False as above. */
bool eval_sight_set(struct sighting *s, const struct literal *l);

/* ---- rehearse.c: what memory a run takes, before it takes it ---- */

/* How a step came to a result. */
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
    int buffer;     /* number of its storage: the same for all that share it */
    size_t storage; /* bytes of that; 0: it belongs to an argument or a constant */
};
/* A step, as it was when it was rehearsed last; the peak is of all times. */
struct foreseen_step {
    int visits;
    size_t peak; /* bytes of values alive at once while it runs */
    const char *choice; /* which way its kernel goes; NULL: that isn't known, or there is but one */
    size_t room;        /* bytes that its kernel takes for itself meanwhile, where it says so */
    struct foreseen_result *results;
};
struct foresight {
    bool known;            /* false: too much depends on what happens, nothing below holds */
    bool exact;            /* it is what a run needs; else there are branches, loops that might not run, sizes that change,
                            * or steps that depend on others, and it is about the most */
    size_t peak;           /* bytes of values alive at once, arguments and constants apart */
    const struct step *at; /* which needs them; NULL: the results do, when all is done */
    const struct function *in;
    size_t room;           /* the most that a kernel takes for itself */
    struct foreseen_step **steps; /* of each function, by its index */
};

/* Goes through the program as a run does, with storage that is not there and kernels that do nothing, so that all
 * that is decided on the way is decided as a run decides it. Loops are gone through until their state is laid out as
 * it was before; of a conditional all branches are, so that what is foreseen is the most that may be needed. Sizes
 * that change at run time count as large as they may become. Done once; belongs to the program. */
const struct foresight *eval_foresee(struct program *p);

#endif
