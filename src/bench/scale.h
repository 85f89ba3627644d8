/*
 * scale.h: large input, made to see what hlo takes for it. Each kind has a function that prints it, large by its N: twice
 * the N is twice the text. scale_kind.def lists them; scale.c has the program.
 */
#ifndef HLO_BENCH_SCALE_H
#define HLO_BENCH_SCALE_H

/* What a kind is, which says the commands that it goes to. */
enum scale_of {
    SCALE_CODE = 1,      /* a module; or several */
    SCALE_WRONG = 2,     /* a module with many errors */
    SCALE_DEEP = 4,      /* nests N times; to be refused in good order is all right */
    SCALE_GOLDEN = 8,    /* for hlo test */
    SCALE_SCRIPT = 16,   /* for the prompt */
    SCALE_REQUESTS = 32, /* for hlo serve */
    SCALE_MODEL = 64,    /* of ONNX */
    SCALE_DOUBLED = 128, /* asks for 2^N steps: to be read, not to be run */
    SCALE_VALUES = 256,  /* goes with a module of another kind: a row of its own in the table of commands */
};

#define KIND(name, function, of) void make_##function(long n);
#include "scale_kind.def"
#undef KIND

/* ---- what the makers print with ---- */

void times(long n, const char *text);
/* N texts, with `between` between them; the number of each, from 0 on, stands where the text says #. */
void listed(long n, const char *text, const char *between);
/* "HloModule m", and the head of ENTRY with its parameter, x = f32[4]. */
void begin(void);
void entry(void);
void begin_scalar(void); /* x = f32[] */
void end(void);
/* "NAME = (TYPE, TYPE, ...) tuple(TEXT, TEXT, ...)", as listed() does */
void tuple_of(const char *name, long n, const char *type, const char *text);

/* ---- a run of a command ---- */

struct taken {
    double user, all; /* seconds of processors, in and below the process; what the system does for it depends on others, too */
    long memory;      /* its peak, in KiB */
    int status;       /* 128 + N for signal N, as when it took too long */
};

/* Runs it with what it prints thrown away. It may take so many seconds of processors. `input` may be NULL. */
struct taken scale_run(char **command, const char *input, unsigned limit);

#endif
