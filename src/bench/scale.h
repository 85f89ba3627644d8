/*
 * Large inputs to measure the cost of commands. Each kind has a function that prints an input of a
 * size proportional to N. scale_kind.def lists the kinds; scale.c is the program.
 */
#ifndef HLO_BENCH_SCALE_H
#define HLO_BENCH_SCALE_H

/* Class of a kind, which determines the commands to run on it. */
enum scale_of {
    SCALE_CODE = 1,      /* one or several modules */
    SCALE_WRONG = 2,     /* a module with many errors */
    SCALE_DEEP = 4,      /* nested N levels; may be rejected with a message */
    SCALE_GOLDEN = 8,    /* for hlo test */
    SCALE_SCRIPT = 16,   /* for hlo repl */
    SCALE_REQUESTS = 32, /* for hlo serve */
    SCALE_MODEL = 64,    /* of ONNX */
    SCALE_DOUBLED = 128, /* needs 2^N steps: parsed only */
    SCALE_VALUES =
        256, /* values for a module of another kind: has its own row in the table of commands */
};

#define KIND(name, function, of) void make_##function(long n);
#include "scale_kind.def"
#undef KIND

/* ---- for the functions that print kinds ---- */

void times(long n, const char *text);
/* Prints N texts separated by `between`; each # in a text is replaced by its number, from 0. */
void listed(long n, const char *text, const char *between);
/* Print "HloModule m"; and the head of ENTRY with its parameter, x = f32[4]. */
void begin(void);
void entry(void);
void begin_scalar(void); /* x = f32[] */
void end(void);
/* Prints "NAME = (TYPE, TYPE, ...) tuple(TEXT, TEXT, ...)", as listed() does. */
void tuple_of(const char *name, long n, const char *type, const char *text);

/* ---- a run of a command ---- */

struct cost {
    double user, all; /* processor seconds of the process and its children; user: without system
                         time, which depends on the load */
    long memory;      /* peak, in KiB */
    int status;       /* 128 + N for signal N, also after a timeout */
};

/* Runs a command and discards its output. It may take `limit` processor seconds. `input` may be
 * NULL. */
struct cost scale_run(char **command, const char *input, unsigned limit);

#endif
