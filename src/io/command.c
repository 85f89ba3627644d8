/*
 * command.c: shell commands as implementations of custom calls.
 *
 * The command reads the leaves of the operands from standard input and writes those of the result
 * to standard output: literals, one per line; a tuple may also be written as one literal. Status 0
 * means success. Its environment has HLO_TARGET, HLO_CONFIG (backend_config), HLO_RESULT (the
 * shape) and HLO_PARTICIPANT. Its output is read while its input is written, to avoid deadlock. The
 * command is killed if it writes far too much; input that it does not read is discarded.
 */
#include "base/system.h"
#include "io/io.h"
#include "text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ; /* POSIX leaves the declaration to the program */

enum {
    KEPT_ERROR_OUTPUT = 1 << 16,
    MAX_ERROR_OUTPUT = 16 << 20,
    POLL_MS = 50,
    TEXT_OF_ELEMENT = 128,
    TEXT_OF_LEAF = 4096
};

enum { TO, FROM, ERROR_OUTPUT, PIPES };

struct child {
    const char *command;
    const char *const *environment;
    pid_t pid;
    int fd[PIPES];   /* this process's ends; -1: closed */
    struct str rest; /* input not yet written */
    struct buf out, error_output;
    size_t max;         /* limit on bytes of output, which the result determines */
    size_t error_bytes; /* bytes read from its standard error */
    bool over;          /* it has terminated */
    int status;
};

/* ---- process ---- */

static void close_pipe_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Creates a pipe whose ends are not 0 to 2, even if those are closed. */
static int make_pipe(int *ends)
{
    if (!system_pipe(ends))
        return errno;
    for (int k = 0; k < 2; k++) {
        int old = ends[k];
        if (old > STDERR_FILENO)
            continue;
        ends[k] = fcntl(old, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        close(old);
        if (ends[k] < 0) {
            int error = errno;
            close_pipe_end(&ends[1 - k]);
            return error;
        }
    }
    return 0;
}

/* Starts the command in its own process group, so that a whole pipeline can be killed; it inherits
 * no other open files. */
static int spawn(struct child *c, const int *theirs)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t set;
    const char *const words[] = {"sh", "-c", c->command, NULL};
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    for (int k = 0; k < PIPES; k++)
        posix_spawn_file_actions_adddup2(&files, theirs[k], k);
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&attr, &set);
    sigaddset(&set, SIGPIPE);
    posix_spawnattr_setsigdefault(&attr, &set);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                        POSIX_SPAWN_SETSIGDEF);
    int error = posix_spawn(&c->pid, "/bin/sh", &files, &attr, (char *const *)(uintptr_t)words,
                            (char *const *)(uintptr_t)c->environment);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

static bool start(struct child *c, struct buf *why)
{
    int theirs[PIPES] = {-1, -1, -1}, error = 0;
    for (int k = 0; k < PIPES; k++)
        c->fd[k] = -1;
    for (int k = 0; k < PIPES && error == 0; k++) {
        int ends[2];
        error = make_pipe(ends);
        if (error)
            break;
        c->fd[k] = ends[k == TO];
        theirs[k] = ends[k != TO];
        fcntl(c->fd[k], F_SETFL, O_NONBLOCK);
    }
    if (error == 0)
        error = spawn(c, theirs);
    for (int k = 0; k < PIPES; k++)
        close_pipe_end(&theirs[k]);
    if (error)
        buf_printf(why, "cannot run '%s': %s", c->command, strerror(error));
    return error == 0;
}

static void finish(struct child *c)
{
    for (int k = 0; k < PIPES; k++)
        close_pipe_end(&c->fd[k]);
    if (c->pid > 0 && !c->over) {
        kill(-c->pid, SIGKILL);
        while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
            ;
    }
    c->over = true;
}

/* ---- communication ---- */

static void write_input(struct child *c)
{
    ssize_t n = write(c->fd[TO], c->rest.ptr, c->rest.len);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    size_t done = n < 0 ? c->rest.len : (size_t)n; /* it has closed its input: discard the rest */
    c->rest.ptr += done;
    c->rest.len -= done;
    if (c->rest.len == 0)
        close_pipe_end(&c->fd[TO]);
}

/* Reads available output; false: none is available. */
static bool drain(struct child *c, int which)
{
    char chunk[65536];
    struct buf *to = which == FROM ? &c->out : &c->error_output;
    ssize_t n = c->fd[which] < 0 ? 0 : read(c->fd[which], chunk, sizeof chunk);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n <= 0)
        close_pipe_end(&c->fd[which]);
    else if (which == FROM || to->size < KEPT_ERROR_OUTPUT)
        buf_bytes(to, chunk, (size_t)n);
    if (which == ERROR_OUTPUT && n > 0)
        c->error_bytes += (size_t)n;
    return n > 0;
}

/* Whether the command has terminated; its remaining output has then been read. */
static bool has_exited(struct child *c)
{
    pid_t waited = c->over ? 0 : waitpid(c->pid, &c->status, WNOHANG);
    if (waited == 0 || (waited < 0 && errno == EINTR))
        return c->over;
    while (c->out.size <= c->max && drain(c, FROM))
        ;
    while (c->error_bytes <= MAX_ERROR_OUTPUT && drain(c, ERROR_OUTPUT))
        ;
    return c->over = true;
}

/* Serves all pipes until the command terminates. False: a limit was reached, or it wrote too
 * much. */
static bool serve_pipes(struct child *c, struct budget *budget, struct buf *why)
{
    static const short events[PIPES] = {POLLOUT, POLLIN, POLLIN};
    while (!has_exited(c)) {
        struct pollfd polls[PIPES];
        /* No pipe will signal its termination. */
        bool idle = c->fd[FROM] < 0 && c->fd[ERROR_OUTPUT] < 0;
        for (int k = 0; k < PIPES; k++)
            polls[k] = (struct pollfd){.fd = c->fd[k], .events = events[k]};
        poll(polls, PIPES, idle ? 1 : POLL_MS);
        if (polls[TO].revents)
            write_input(c);
        if (polls[FROM].revents)
            drain(c, FROM);
        if (polls[ERROR_OUTPUT].revents)
            drain(c, ERROR_OUTPUT);
        if (c->out.size > c->max || c->error_bytes > MAX_ERROR_OUTPUT)
            break;
        if (!budget_look(budget))
            return false;
    }
    if (c->out.size > c->max)
        return buf_printf(why, "command output exceeds %zu bytes, more than its result", c->max),
               false;
    if (c->error_bytes > MAX_ERROR_OUTPUT)
        return buf_printf(why, "command wrote more than %d bytes to standard error",
                          MAX_ERROR_OUTPUT),
               false;
    return true;
}

/* Runs the command. SIGPIPE, raised for this thread if the command closes its input, is blocked
 * meanwhile and consumed before it is unblocked. */
static bool run(struct child *c, struct budget *budget, struct buf *why)
{
    sigset_t pipe_set, before, pending;
    sigemptyset(&pipe_set);
    sigaddset(&pipe_set, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe_set, &before);
    bool ok = start(c, why) && serve_pipes(c, budget, why);
    finish(c);
    if (!sigismember(&pending, SIGPIPE))
        system_discard_signal(SIGPIPE);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

/* ---- input and output ---- */

static struct str first_line(struct str text)
{
    text = str_trim(text);
    return str_trim(str_cut(&text, '\n'));
}

static bool exited_with_success(const struct child *c, struct buf *why)
{
    struct str waited = c->error_output.size > 0 ? first_line(buf_view(&c->error_output)) : STR("");
    if (WIFEXITED(c->status) && WEXITSTATUS(c->status) == 0)
        return true;
    if (WIFSIGNALED(c->status))
        buf_printf(why, "command killed by signal %d", WTERMSIG(c->status));
    else
        buf_printf(why, "command exited with status %d", WEXITSTATUS(c->status));
    if (waited.len > 0)
        buf_printf(why, ": " STR_FMT, STR_ARG(waited));
    return false;
}

/* Parses one line of output as a literal, owned by the caller; NULL with the reason. */
static struct literal *read_line(struct arena *a, struct str line, size_t number, struct buf *why)
{
    struct source source;
    struct diags ds;
    source_init(&source, STR("output"), line);
    diags_init(&ds, &source);
    struct literal *l = text_parse_literal(&ds, &source, a, NULL);
    if (!l)
        buf_printf(why, "line %zu of the output is not a literal: " STR_FMT, number,
                   STR_ARG(ds.first ? ds.first->text : STR("")));
    diags_free(&ds);
    source_free(&source);
    return l;
}

struct answer {
    const struct foreign_call *c;
    struct arena arena;
    struct buf *why;
    int leaf; /* the next leaf to be filled */
};

/* Takes the leaves of a literal as the next ones of the result. */
static bool take(struct answer *t, const struct literal *l)
{
    for (int k = 0; shape_is_tuple(l->shape) && k < l->shape->count; k++)
        if (!take(t, l->elements[k]))
            return false;
    if (shape_is_tuple(l->shape))
        return true;
    while (t->leaf < t->c->result_count && !t->c->results[t->leaf].data)
        t->leaf++;
    if (t->leaf == t->c->result_count)
        return buf_puts(t->why, "command wrote more arrays than its result has"), false;
    const struct foreign_array *to = &t->c->results[t->leaf];
    int64_t bytes;
    if (!shape_compatible(to->shape, l->shape) || !shape_bytes(l->shape, &bytes)) {
        buf_printf(t->why, "leaf %d of the result is " STR_FMT ", but the command wrote " STR_FMT,
                   t->leaf, STR_ARG(shape_text(&t->arena, to->shape)),
                   STR_ARG(shape_text(&t->arena, l->shape)));
        return false;
    }
    if (bytes > 0)
        memcpy(to->data, l->data, (size_t)bytes);
    t->leaf++;
    return true;
}

/* Whether every leaf has a value. */
static bool is_complete(struct answer *t)
{
    for (; t->leaf < t->c->result_count; t->leaf++)
        if (t->c->results[t->leaf].data) {
            buf_printf(t->why,
                       "leaf %d of the result is " STR_FMT ", but the command wrote nothing for it",
                       t->leaf, STR_ARG(shape_text(&t->arena, t->c->results[t->leaf].shape)));
            return false;
        }
    return true;
}

static bool take_lines(struct answer *t, struct str text)
{
    for (size_t number = 1; text.len > 0; number++) {
        struct str line = str_trim(str_cut(&text, '\n'));
        if (line.len == 0 || str_starts(line, STR("//")))
            continue;
        struct literal *l = read_line(&t->arena, line, number, t->why);
        bool ok = l && take(t, l);
        if (l)
            literal_free_data(l);
        if (!ok)
            return false;
    }
    return is_complete(t);
}

/* Writes an array as `f32[2,2] { { 1, 2 }, { 3, 4 } }`, on one line. */
static void put_line(struct buf *out, const struct foreign_array *x)
{
    struct literal l = {.shape = x->shape, .data = x->data};
    SCOPED_BUF values = {0};
    shape_print(out, x->shape, false);
    text_print_literal(&values, &l);
    for (size_t i = 0, blank = 1; i < values.size; i++) {
        char c = values.data[i];
        bool is_blank = c == ' ' || c == '\n';
        if (blank && !is_blank)
            buf_putc(out, ' ');
        if (!is_blank)
            buf_putc(out, c);
        blank = is_blank;
    }
    buf_putc(out, '\n');
}

/* This process's environment with the variables that describe the call; values end at a NUL byte,
 * which an environment cannot represent. */
static const char *const *environment_of(struct arena *a, const struct foreign_call *c)
{
    size_t count = 0, own = 4;
    while (environ && environ[count])
        count++;
    const char **list = ARENA_ARRAY(a, const char *, count + own + 1), **next = list;
    struct str target = inst_str(c->inst, A_CUSTOM_CALL_TARGET),
               config = inst_str(c->inst, A_BACKEND_CONFIG);
    *next++ = arena_printf(a, "HLO_TARGET=" STR_FMT, STR_ARG(target)).ptr;
    *next++ = arena_printf(a, "HLO_CONFIG=" STR_FMT, STR_ARG(config)).ptr;
    *next++ = arena_printf(a, "HLO_RESULT=" STR_FMT, STR_ARG(shape_text(a, c->inst->shape))).ptr;
    *next++ = arena_printf(a, "HLO_PARTICIPANT=%" PRId64, c->participant).ptr;
    for (size_t k = 0; k < count; k++) {
        struct str name = str_of(environ[k]);
        if (!str_starts(name, STR("HLO_TARGET=")) && !str_starts(name, STR("HLO_CONFIG=")) &&
            !str_starts(name, STR("HLO_RESULT=")) && !str_starts(name, STR("HLO_PARTICIPANT=")))
            *next++ = environ[k];
    }
    return list;
}

bool io_command(void *command, const struct foreign_call *c, struct buf *why)
{
    SCOPED_BUF in = {0};
    struct answer answer = {.c = c, .why = why};
    arena_init(&answer.arena);
    struct child child = {
        .command = command, .environment = environment_of(&answer.arena, c), .max = TEXT_OF_LEAF};
    for (int k = 0; k < c->operand_count; k++)
        if (c->operands[k].data)
            put_line(&in, &c->operands[k]);
    for (int r = 0; r < c->result_count; r++) {
        int64_t elements = 0;
        shape_elements(c->results[r].shape, &elements);
        child.max += TEXT_OF_LEAF + (size_t)elements * TEXT_OF_ELEMENT;
    }
    child.rest = in.size > 0 ? buf_view(&in) : STR("");
    bool ok = run(&child, c->budget, why) && exited_with_success(&child, why) &&
              take_lines(&answer, child.out.size > 0 ? buf_view(&child.out) : STR(""));
    buf_free(&child.out);
    buf_free(&child.error_output);
    arena_free(&answer.arena);
    return ok;
}
