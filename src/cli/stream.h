/*
 * Reads lines from files and pipes, and writes text to them. Waits are split into short intervals;
 * after each, a callback decides whether to continue.
 */
#ifndef HLO_CLI_STREAM_H
#define HLO_CLI_STREAM_H

#include "cli/cli.h"

#include <pthread.h>

/* How long to wait. */
struct wait_policy {
    const hlo_feed_call *call; /* until hlo_feed_stopped; NULL: without limit */
    bool none;                 /* do not wait */
};

struct line {
    struct line *next;
    uint32_t number;
    size_t readers; /* number of readers that still need it */
    struct buf text;
};

/* An input file. Lines with items are kept until all readers have read them. A named pipe is opened
 * when its first line is read. */
struct feed_in {
    const char *path;
    size_t readers;
    pthread_mutex_t lock; /* protects the members below */
    int fd;               /* -1: not open yet */
    bool ended;           /* end of input */
    int error;            /* errno that ended it; 0: end of file */
    struct buf ahead;     /* bytes read: the first `used` have been split into lines; there is no
                             further newline before `seen` */
    size_t used, seen;
    uint32_t number; /* of the last line */
    size_t first_at; /* number of the first item that is kept */
    struct line *first;
};

struct feed_out {
    const char *path;
    hlo_output *file; /* NULL: a pipe or standard output */
    int fd;           /* -1: not open yet */
    size_t max;       /* bytes that can be written without blocking when the file is ready */
    size_t writers;
    /* with several participants: output by participant, written at the end of the run */
    struct buf *held;
};

/* "-" is standard input; `ahead`, bytes already read from it, is taken over. False with errno
 * set. */
bool feed_in_open(struct feed_in *in, const char *path, struct buf *ahead);
/* Closes the file; unused bytes of standard input go to `ahead`. */
void feed_in_close(struct feed_in *in, struct buf *ahead);
/* Item `at` of the file, which is kept until feed_in_done. NULL: no more items, with a message if
 * that is an error; or the wait was ended. Thread-safe. */
struct line *feed_in_line(struct feed_in *in, size_t at, struct wait_policy p, hlo_messages *m);
void feed_in_done(struct feed_in *in, struct line *l);

/* "-" is standard output. False with a message */
bool feed_out_open(struct feed_out *out, const char *path, hlo_messages *m);
/* A regular file is created only now, and only with `keep`. */
bool feed_out_close(struct feed_out *out, bool keep, hlo_messages *m);
/* Writes all of the text. False with a message, or if the wait was ended. Not thread-safe. */
bool feed_out_put(struct feed_out *out, struct str text, struct wait_policy p, hlo_messages *m);

#endif
