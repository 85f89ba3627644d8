/*
 * Traced runs: a line for each instruction, its value as a file, and the origin of NaN, infinities
 * and other exceptional values.
 */
#ifndef HLO_CLI_TRACE_H
#define HLO_CLI_TRACE_H

#include "base/oom.h"
#include "cli/arguments.h"

#include <regex.h>

/* An executed instruction. */
struct traced {
    const struct hlo_event *event;
    struct hlo_listed inst;
    const char *computation;
    const hlo_literal *value; /* NULL: not executed */
    struct hlo_stats stats;   /* of the value */
    bool array;               /* false: a tuple, which has no statistics in text */
};

struct tracing {
    const struct options *o;
    hlo_messages *m;
    const hlo_module *module;
    hlo_listing *listing;
    struct hlo_trace_callbacks trace_callbacks;
    bool lines, json; /* write a line for each instruction; as JSON */
    bool filtered;
    regex_t filter;         /* for names and opcodes */
    struct cleanup freeing; /* frees the filter if memory runs out before trace_close */
    FILE *to;               /* output of the trace; NULL: none */
    unsigned stop, warn;    /* bit sets of enum hlo_oddity */
    bool *warned;           /* by instruction: a warning has been reported */
    size_t participants;
    struct watch_state { /* output of each participant, buffered if there are several */
        struct buf trace, warnings;
        hlo_messages *m;   /* why the run was stopped; NULL: not stopped */
        bool failed;       /* a write error occurred */
        size_t infinities; /* number of the instruction that produced the first one, plus 1; or 0 */
    } * each;
    struct dump *dump; /* NULL: no --dump */
    struct columns *columns;
};

/* ---- trace.c ---- */

bool trace_requested(const struct options *o); /* whether the options require a traced run */
/* Opens the output files. HLO_OK, or a status with messages. */
int trace_open(struct tracing *t, const struct arguments *a);
void trace_attach(struct tracing *t, hlo_program *p);
/* Called after the run with its status: writes remaining output, and returns the final status. */
int trace_finish(struct tracing *t, int status);
void trace_close(struct tracing *t); /* accepts a zeroed struct */

/* ---- trace_line.c ---- */

struct columns;
/* Columns in lines of at most WIDTH, if possible. */
struct columns *columns_new(const hlo_listing *l, size_t participants, size_t width);
void put_trace_head(struct buf *out, const struct tracing *t);
void put_trace_line(struct buf *out, const struct tracing *t, const struct traced *i);
/* Writes the iterations of the enclosing loops, outermost first: "3.0"; "test" in a condition. */
void put_iterations(struct buf *out, const struct tracing *t, const struct hlo_event *s);

/* ---- trace_dump.c ---- */

struct dump;
struct dump *dump_open(const char *directory, hlo_messages *m); /* NULL with a message */
bool dump_value(struct dump *d, const struct tracing *t, const struct traced *i, hlo_messages *m);
bool dump_close(struct dump *d, hlo_messages *m); /* closes and frees it; false with a message */

#endif
