/*
 * Observed runs: a line for each instruction, its value as a file, and where NaN, infinities and
 * the like come from.
 */
#ifndef HLO_CLI_TRACE_H
#define HLO_CLI_TRACE_H

#include "base/guard.h"
#include "cli/arguments.h"

#include <regex.h>

/* An instruction that has been done. */
struct traced {
    const struct hlo_event *sight;
    struct hlo_listed inst;
    const char *computation;
    const hlo_literal *value; /* NULL: it was not executed */
    struct hlo_stats stats;   /* of its value */
    bool array; /* else the value is a tuple, of which people are shown no statistics */
};

struct tracing {
    const struct options *o;
    hlo_messages *m;
    const hlo_module *module;
    hlo_listing *listing;
    struct hlo_trace_callbacks observer;
    bool lines, json; /* write a line for each instruction; as JSON */
    bool filtered;
    regex_t filter;      /* for names and operations */
    struct undo freeing; /* frees the filter if memory runs out before trace_close */
    FILE *to;            /* where the trace goes; NULL: nowhere */
    unsigned stop, warn; /* kinds of enum hlo_oddity, ored */
    bool *warned;        /* by instruction: there was a warning about it */
    size_t participants;
    struct watched { /* output of each participant, held back when there are several */
        struct buf trace, warnings;
        hlo_messages *m; /* why it was stopped; NULL: it was not */
        bool failed;     /* something could not be written */
    } * each;
    struct dump *dump; /* NULL: none is wanted */
    struct columns *columns;
};

/* ---- trace.c ---- */

bool trace_wanted(const struct options *o); /* whether the options ask for an observed run */
/* Opens the files to be written. HLO_OK, or a status with messages. */
int trace_open(struct tracing *t, const struct arguments *a);
void trace_observe(struct tracing *t, hlo_program *p);
/* Called after the run with its status: writes what is left, and returns the final status. */
int trace_finish(struct tracing *t, int status);
void trace_close(struct tracing *t); /* also of one that is all zeros */

/* ---- trace_line.c ---- */

struct columns;
struct columns *columns_new(const hlo_listing *l);
void put_trace_head(struct buf *out, const struct tracing *t);
void put_trace_line(struct buf *out, const struct tracing *t, const struct traced *i);
/* Writes the iterations of the loops around the instruction, outermost first: "3.0"; "test" in a
 * condition. */
void put_iterations(struct buf *out, const struct tracing *t, const struct hlo_event *s);

/* ---- trace_dump.c ---- */

struct dump;
struct dump *dump_open(const char *folder, hlo_messages *m); /* NULL with a message */
bool dump_value(struct dump *d, const struct tracing *t, const struct traced *i, hlo_messages *m);
bool dump_close(struct dump *d, hlo_messages *m); /* closes and frees it; false with a message */

#endif
