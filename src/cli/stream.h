/*
 * Reads lines from files and pipes, and writes text into them. Waiting is done in short pieces;
 * after each it is asked whether to go on.
 */
#ifndef HLO_CLI_STREAM_H
#define HLO_CLI_STREAM_H

#include "cli/cli.h"

#include <pthread.h>

/* How long to wait. */
struct patience {
    const hlo_feed_call *call; /* until hlo_feed_stopped; NULL: as long as it takes */
    bool none;                 /* not at all */
};

struct line {
    struct line *next;
    uint32_t number;
    size_t readers; /* how many still need it */
    struct buf text;
};

/* A file to read. Lines with items are kept until all readers have had them. A named pipe is opened
 * when a line is first wanted. */
struct feed_in {
    const char *path;
    size_t readers;
    pthread_mutex_t lock; /* for the fields below */
    int fd;               /* -1: not open yet */
    bool ended;           /* nothing more will come */
    int error;            /* why it has ended, an errno; 0: it was the end of the file */
    struct buf ahead;     /* bytes read: `used` of them have become lines; up to `seen` there is no
                             further newline */
    size_t used, seen;
    uint32_t number; /* of the last line */
    size_t first_at; /* number of the first item that is kept */
    struct line *first;
};

struct feed_out {
    const char *path;
    hlo_output *file; /* NULL: it is a pipe or standard output */
    int fd;           /* -1: not open yet */
    size_t most; /* bytes that can be written at once without waiting, when the file is ready */
    size_t writers;
    struct buf
        *held; /* when several participants write: by participant, written when the run is over */
};

/* "-" is standard input; `ahead`, which is taken over, are bytes that have been read from it. False
 * with errno set. */
bool feed_in_open(struct feed_in *in, const char *path, struct buf *ahead);
/* Closes it; what was read of standard input but not used goes to `ahead`. */
void feed_in_close(struct feed_in *in, struct buf *ahead);
/* Item `at` of the file, which stays until feed_in_done. NULL: there is none, with a message if
 * that is an error; or patience came to its end. Several readers may call at the same time. */
struct line *feed_in_line(struct feed_in *in, size_t at, struct patience p, hlo_messages *m);
void feed_in_done(struct feed_in *in, struct line *l);

bool feed_out_open(struct feed_out *out, const char *path,
                   hlo_messages *m); /* "-" is standard output. False with a message */
/* A regular file appears in its place only now, and only with `keep`. */
bool feed_out_close(struct feed_out *out, bool keep, hlo_messages *m);
/* Writes all of the text. False with a message, or when patience came to its end. Not to be called
 * from several threads at once. */
bool feed_out_put(struct feed_out *out, struct str text, struct patience p, hlo_messages *m);

#endif
