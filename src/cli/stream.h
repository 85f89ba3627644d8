/*
 * Lines from a file or pipe and text into one, without waiting longer than a moment at a time: in between it is asked
 * whether to wait on.
 */
#ifndef HLO_CLI_STREAM_H
#define HLO_CLI_STREAM_H

#include "cli/cli.h"

#include <pthread.h>

/* How long somebody waits. */
struct patience {
    const hlo_feed_call *call; /* until the run says so; NULL: as long as it takes, or ... */
    bool none;                 /* ... not at all */
};

struct line {
    struct line *next;
    uint32_t number;
    size_t readers; /* who still wants it */
    struct buf text;
};

/* Lines that hold an item, kept until all readers have had them. A named pipe is opened when somebody first wants
 * something of it, and nothing but the pipe is waited for. */
struct feed_in {
    const char *path;
    size_t readers;
    pthread_mutex_t lock;  /* of what follows */
    int fd;                /* -1: not open yet */
    bool ended;            /* nothing more comes, for this error if it isn't 0 */
    int error;
    struct buf ahead;      /* bytes that were read; `used` of them became lines, up to `seen` there is no other end */
    size_t used, seen;
    uint32_t number;       /* of the last line */
    size_t first_at;       /* place of the first line that is kept */
    struct line *first;
};

struct feed_out {
    const char *path;
    hlo_output *file;   /* NULL: it is a pipe or standard output */
    int fd;             /* -1: not open yet */
    size_t most;        /* bytes that can be written at a time without waiting, once some can */
    size_t writers;
    struct buf *held;   /* by participant, where there are several: each writes into its own */
};

/* "-" is standard input, of which `ahead` (taken over) has been read already. False with errno set. */
bool feed_in_open(struct feed_in *in, const char *path, struct buf *ahead);
/* What was read too much of standard input goes to `ahead`. */
void feed_in_close(struct feed_in *in, struct buf *ahead);
/* Item `at` of the file; it stays until feed_in_done. NULL: there is none, with a message when that is an error; or
 * patience was at its end. Readers call at the same time. */
struct line *feed_in_line(struct feed_in *in, size_t at, struct patience p, hlo_messages *m);
void feed_in_done(struct feed_in *in, struct line *l);

bool feed_out_open(struct feed_out *out, const char *path, hlo_messages *m); /* "-" is standard output. False with a message */
/* A file takes its place only now, and with `keep`. */
bool feed_out_close(struct feed_out *out, bool keep, hlo_messages *m);
/* All of it at once, as far as the file is concerned. False with a message, or when patience was at its end. One call at
 * a time. */
bool feed_out_put(struct feed_out *out, struct str text, struct patience p, hlo_messages *m);

#endif
