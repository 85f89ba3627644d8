/*
 * Progress of a command: a status line on standard error, if that is a terminal, from half a
 * second on, removed at the end. During a run it is written by a timer signal, so that the run
 * need not read a clock; work in parts writes it after each part. On SIGUSR1, a run writes the
 * same text as a permanent line.
 */
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

enum { WIDTH = 79, MOST = 256 }; /* columns of the status line, bytes of the line for SIGUSR1 */

static const double first_line = 0.5, between_lines = 0.1; /* seconds */

/* Shared with the signal handlers. NULL: no run. */
static _Atomic(const hlo_program *) running; /* NULL: no run */
static _Atomic bool shown;                   /* the status line is displayed */
static _Atomic int writing;  /* number of handlers that are executing, in any thread */
static _Atomic double start; /* start time of the work */
static _Atomic(const char *) between,
    what;                          /* words of the line for work in parts; NULL: no parts */
static _Atomic uint64_t done, all; /* numbers of parts */
static _Atomic double next;        /* time of the next line */

struct line {
    char text[MOST];
    size_t size, max;
};

static void put(struct line *l, const char *text, size_t size)
{
    for (size_t k = 0; k < size && l->size < l->max; k++)
        l->text[l->size++] = text[k];
}

#define PUT(l, word) put(l, word, sizeof word - 1)

static void put_number(struct line *l, uint64_t n)
{
    char digits[20];
    size_t k = sizeof digits;
    do
        digits[--k] = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    put(l, digits + k, sizeof digits - k);
}

static void put_words(struct line *l, const char *z) { put(l, z, strlen(z)); }

/* `step 215 of 860, while.3, iteration 17 of 100` */
static void put_run(struct line *l)
{
    const hlo_program *p = running;
    const struct hlo_progress at = p ? hlo_run_progress(p) : (struct hlo_progress){.iteration = -1};
    if (at.name_size == 0) {
        PUT(l, "reading, planning or writing");
        return;
    }
    PUT(l, "step ");
    put_number(l, at.done + 1);
    PUT(l, " of ");
    put_number(l, at.count);
    PUT(l, ", ");
    put(l, at.name, at.name_size);
    if (at.iteration >= 0) {
        PUT(l, ", iteration ");
        const long long count = hlo_run_trip_count(p);
        put_number(l, (uint64_t)at.iteration + (count >= 0));
        if (count >= 0) {
            PUT(l, " of ");
            put_number(l, (uint64_t)count);
        }
    }
}

/* `12 of 100 tests` */
static void put_parts(struct line *l)
{
    put_number(l, done);
    PUT(l, " ");
    put_words(l, between);
    PUT(l, " ");
    put_number(l, all);
    PUT(l, " ");
    put_words(l, what);
}

static void put_state(struct line *l)
{
    const uint64_t tenths = (uint64_t)((now_seconds() - start) * 10);
    put_number(l, tenths / 10);
    PUT(l, ".");
    put_number(l, tenths % 10);
    PUT(l, " s: ");
    if (what)
        put_parts(l);
    else
        put_run(l);
}

static void write_line(const struct line *l)
{
    ssize_t written = write(STDERR_FILENO, l->text, l->size); /* a failure is ignored */
    (void)written;
}

static void asked(int signal)
{
    const int kept = errno;
    struct line l = {.max = MOST - 1};
    writing++;
    if (shown)
        PUT(&l, "\r\033[K");
    PUT(&l, "hlo: ");
    put_state(&l);
    l.text[l.size++] = '\n';
    write_line(&l);
    writing--;
    errno = kept;
}

static void draw(void)
{
    struct line l = {.max = WIDTH};
    PUT(&l, "\r");
    put_state(&l);
    l.max = MOST;
    PUT(&l, "\033[K");
    shown = true;
    write_line(&l);
}

static void ticked(int signal)
{
    const int kept = errno;
    writing++;
    if (running)
        draw();
    writing--;
    errno = kept;
}

/* Installs a handler; a signal ignored at process start stays ignored. */
static void handle(int signal, void (*handler)(int))
{
    struct sigaction now, then = {.sa_handler = handler, .sa_flags = (int)SA_RESTART};
    sigemptyset(&then.sa_mask);
    sigaddset(&then.sa_mask, SIGUSR1);
    sigaddset(&then.sa_mask, SIGALRM);
    if (sigaction(signal, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
        sigaction(signal, &then, NULL);
}

/* Whether to display the status line: not if a trace or an outfeed goes to the same terminal. */
static bool shows_line(const struct options *o)
{
    const char *out = o->value[OPT_OUTFEED];
    return isatty(STDERR_FILENO) && !o->given[OPT_QUIET] && !o->given[OPT_TRACE] &&
           o->command != CMD_TRACE && !(out && strcmp(out, "-") == 0);
}

static void set_timer(double first, double interval)
{
    const struct itimerval t = {.it_value.tv_usec = (suseconds_t)(first * 1e6),
                                .it_interval.tv_usec = (suseconds_t)(interval * 1e6)};
    setitimer(ITIMER_REAL, &t, NULL);
}

void progress_begin(const struct options *o)
{
    if (!world_first(o))
        return;
    start = now_seconds();
    handle(SIGUSR1, asked);
    if (shows_line(o))
        handle(SIGALRM, ticked);
}

void progress_run(const struct options *o, const hlo_program *p)
{
    if (!world_first(o))
        return;
    running = p;
    if (shows_line(o))
        set_timer(first_line, between_lines);
}

void progress_parts(const struct options *o, const char *between_numbers, const char *unit)
{
    if (!world_first(o) || !shows_line(o))
        return;
    start = now_seconds();
    next = start + first_line;
    between = between_numbers;
    what = unit;
}

void progress_step(size_t now_done, size_t now_all)
{
    if (!what || now_seconds() < next)
        return;
    done = now_done;
    all = now_all;
    draw();
    next = now_seconds() + between_lines;
}

void progress_end(const struct options *o)
{
    if (running && shows_line(o))
        set_timer(0, 0);
    running = NULL;
    what = NULL;
    while (writing > 0) /* wait for handlers in other threads */
        ;
    if (shown)
        fputs("\r\033[K", stderr);
    shown = false;
}
