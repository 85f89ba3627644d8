/*
 * Runs that are looked at: a line for each instruction, its value as a file, and where NaN and their like come from.
 */
#ifndef HLO_CLI_TRACE_H
#define HLO_CLI_TRACE_H

#include "base/guard.h"
#include "cli/arguments.h"

#include <regex.h>

/* What is known of an instruction that has been done. */
struct traced {
    const struct hlo_sight *sight;
    struct hlo_listed inst;
    const char *computation;
    const hlo_literal *value;
    struct hlo_stats stats; /* of its value */
    bool array;             /* else the value is a tuple, and so no statistics are shown for people */
};

struct tracing {
    const struct options *o;
    hlo_messages *m;
    const hlo_module *module;
    hlo_listing *listing;
    struct hlo_observer observer;
    bool lines, json;   /* a trace is wanted; as JSON lines */
    bool filtered;
    regex_t filter;     /* of names and operations */
    struct undo freeing; /* that, from opening to closing */
    FILE *to;           /* where the trace goes; NULL: nowhere */
    unsigned stop, warn; /* kinds of enum hlo_oddity */
    bool *warned;       /* by instruction: it has been told of */
    size_t participants;
    struct watched {    /* by participant: what it has to say, held back where there are several */
        struct buf trace, warnings;
        hlo_messages *m; /* why it was stopped; NULL: it was not */
        bool failed;     /* something could not be written */
    } *each;
    struct dump *dump;   /* NULL: none is wanted */
    struct columns *columns;
};

/* ---- trace.c ---- */

bool trace_wanted(const struct options *o); /* the run is to be observed */
/* Opens what is to be written. Says what is wrong; else HLO_OK. */
int trace_open(struct tracing *t, const struct arguments *a);
void trace_observe(struct tracing *t, hlo_program *p);
/* The run is over, with a status: writes what is left. The status that comes of it. */
int trace_finish(struct tracing *t, int status);
void trace_close(struct tracing *t); /* also of one that is all zeros */

/* ---- trace_line.c ---- */

struct columns;
struct columns *columns_new(const hlo_listing *l);
void put_trace_head(struct buf *out, const struct tracing *t);
void put_trace_line(struct buf *out, const struct tracing *t, const struct traced *i);
/* The iterations of the loops that it runs in, outermost first: "3.0"; "test" for a condition. */
void put_iterations(struct buf *out, const struct tracing *t, const struct hlo_sight *s);

/* ---- trace_dump.c ---- */

struct dump;
struct dump *dump_open(const char *folder, hlo_messages *m); /* NULL with a message */
bool dump_value(struct dump *d, const struct tracing *t, const struct traced *i, hlo_messages *m);
bool dump_close(struct dump *d, hlo_messages *m); /* and frees it; false with a message */

#endif
