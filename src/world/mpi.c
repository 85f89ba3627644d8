/*
 * mpi.c: the transport on MPI. It is built as a shared object of its own, and is the only file that
 * includes mpi.h.
 *
 * A small body is sent within its message; a large one follows in messages of its own, for which
 * the receiver posts receives once it has got the size of the body.
 */
#include "world/transport.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { SMALL = 8000, PIECE = 1 << 30, TAG_HEAD = 1, TAG_BODY = 2 };

struct wire {
    uint64_t size; /* of the body */
    char head[TRANSPORT_HEAD];
    char body[SMALL];
};
enum { WIRE_HEAD = offsetof(struct wire, body) };

/* A message that is being sent or received. */
struct transfer {
    struct transfer *next;
    struct wire *wire; /* of a send */
    void *copy;        /* of its body; NULL: not copied */
    int *pending;
    struct transport_message transport_message; /* of a receive */
    int left;                                   /* requests that are not completed */
    int count;
    MPI_Request requests[];
};

struct mpi {
    MPI_Comm comm;
    bool ours; /* initialized here, so finalized here */
    struct transfer *out, *in;
    MPI_Request next; /* receives the next message into `wire` */
    struct wire wire;
};

/* A message is truncated when there is no memory for it (ask_for_body). Any other error is fatal.
 */
static void check(const struct mpi *m, int error)
{
    int class = MPI_SUCCESS;
    if (error != MPI_SUCCESS)
        MPI_Error_class(error, &class);
    if (class != MPI_SUCCESS && class != MPI_ERR_TRUNCATE) {
        char text[MPI_MAX_ERROR_STRING];
        int n = 0;
        MPI_Error_string(error, text, &n);
        fprintf(stderr, "hlo: error: MPI: %.*s\n", n, text);
        MPI_Abort(m->comm, 4);
    }
}

/* With space for the requests of a body of this size; NULL: out of memory. */
static struct transfer *new_transfer(size_t size)
{
    size_t pieces = size <= SMALL ? 0 : (size + PIECE - 1) / PIECE;
    struct transfer *p = mem_zalloc(sizeof *p + (pieces + 1) * sizeof(MPI_Request));
    if (p && size > 0 && pieces > INT_MAX) {
        mem_free(p);
        p = NULL;
    }
    return p;
}

static void free_transfer(struct transfer *p)
{
    mem_free(p->wire);
    mem_free(p->copy);
    mem_free(p);
}

static void append(struct transfer **list, struct transfer *p)
{
    while (*list)
        list = &(*list)->next;
    *list = p;
}

static bool done(struct mpi *m, struct transfer *p)
{
    for (int k = 0; k < p->count && p->left > 0; k++) {
        int flag = 0;
        if (p->requests[k] == MPI_REQUEST_NULL)
            continue;
        check(m, MPI_Test(&p->requests[k], &flag, MPI_STATUS_IGNORE));
        p->left -= flag;
    }
    return p->left == 0;
}

/* ---- sending ---- */

static void send_body(struct mpi *m, struct transfer *p, int to, const void *body, size_t size)
{
    for (size_t at = 0; at < size; at += PIECE) {
        size_t n = size - at < PIECE ? size - at : PIECE;
        check(m, MPI_Isend((const char *)body + at, (int)n, MPI_BYTE, to, TAG_BODY, m->comm,
                           &p->requests[p->count++]));
    }
}

static bool mpi_send(void *context, int to, const void *head, const void *body, size_t size,
                     int *pending)
{
    struct mpi *m = context;
    bool large = size > SMALL;
    struct transfer *p = new_transfer(size);
    struct wire *w = p ? mem_alloc(WIRE_HEAD + (large ? 0 : size)) : NULL;
    void *copy = large && !pending ? mem_alloc(size) : NULL;
    if (!w || (large && !pending && !copy)) {
        mem_free(w);
        mem_free(p);
        return false;
    }
    w->size = size;
    memcpy(w->head, head, TRANSPORT_HEAD);
    if (!large && size > 0)
        memcpy(w->body, body, size);
    if (copy)
        body = memcpy(copy, body, size);
    p->wire = w;
    p->copy = copy;
    p->pending = large ? pending : NULL;
    int n = (int)(WIRE_HEAD + (large ? 0 : size));
    check(m, MPI_Isend(w, n, MPI_BYTE, to, TAG_HEAD, m->comm, &p->requests[p->count++]));
    if (large)
        send_body(m, p, to, body, size);
    p->left = p->count;
    if (p->pending)
        ++*p->pending;
    else if (done(m, p)) {
        free_transfer(p);
        return true;
    }
    append(&m->out, p);
    return true;
}

static void progress_sends(struct mpi *m)
{
    for (struct transfer **at = &m->out, *p; (p = *at) != NULL;) {
        if (!done(m, p)) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        if (p->pending)
            --*p->pending;
        free_transfer(p);
    }
}

static bool mpi_busy(void *context) { return ((struct mpi *)context)->out != NULL; }

/* ---- receiving ---- */

static void await_next(struct mpi *m)
{
    check(m, MPI_Irecv(&m->wire, sizeof m->wire, MPI_BYTE, MPI_ANY_SOURCE, TAG_HEAD, m->comm,
                       &m->next));
}

/* Posts the receives for a body; without memory for it, receives of size 0, which truncate it. */
static void ask_for_body(struct mpi *m, struct transfer *p)
{
    struct transport_message *c = &p->transport_message;
    for (size_t at = 0; at < c->size; at += PIECE) {
        size_t n = c->size - at < PIECE ? c->size - at : PIECE;
        void *to = c->body_missing ? NULL : (char *)c->body + at;
        check(m, MPI_Irecv(to, c->body_missing ? 0 : (int)n, MPI_BYTE, c->rank, TAG_BODY, m->comm,
                           &p->requests[p->count++]));
    }
    p->left = p->count;
}

/* Receives one more message; false: none. */
static bool receive_next(struct mpi *m)
{
    int flag = 0;
    MPI_Status status;
    check(m, MPI_Test(&m->next, &flag, &status));
    if (!flag)
        return false;
    struct transfer *p = new_transfer(m->wire.size);
    if (!p) {
        fprintf(stderr, "hlo: error: out of memory\n");
        MPI_Abort(m->comm, 4);
        return false;
    }
    p->transport_message =
        (struct transport_message){.rank = status.MPI_SOURCE, .size = m->wire.size};
    memcpy(p->transport_message.head, m->wire.head, TRANSPORT_HEAD);
    if (p->transport_message.size > 0)
        p->transport_message.body = mem_alloc(p->transport_message.size);
    p->transport_message.body_missing = p->transport_message.size > 0 && !p->transport_message.body;
    if (p->transport_message.size > SMALL)
        ask_for_body(m, p);
    else if (p->transport_message.body)
        memcpy(p->transport_message.body, m->wire.body, p->transport_message.size);
    append(&m->in, p);
    await_next(m);
    return true;
}

/* Whether an earlier message of the same rank is still being received. */
static bool is_queued(const struct mpi *m, const struct transfer *p)
{
    for (const struct transfer *q = m->in; q != p; q = q->next)
        if (q->transport_message.rank == p->transport_message.rank)
            return true;
    return false;
}

static bool mpi_receive(void *context, struct transport_message *out)
{
    struct mpi *m = context;
    progress_sends(m);
    while (receive_next(m))
        ;
    for (struct transfer **at = &m->in, *p; (p = *at) != NULL; at = &p->next) {
        if (!done(m, p) || is_queued(m, p))
            continue;
        *at = p->next;
        *out = p->transport_message;
        free_transfer(p);
        return true;
    }
    return false;
}

/* ---- opening and closing ---- */

static void mpi_close(void *context)
{
    struct mpi *m = context;
    while (m->out)
        progress_sends(m);
    MPI_Cancel(&m->next);
    MPI_Wait(&m->next, MPI_STATUS_IGNORE);
    MPI_Comm_free(&m->comm);
    if (m->ours)
        MPI_Finalize();
    free(m);
}

transport_open_fn TRANSPORT_OPEN;
const char *TRANSPORT_OPEN(struct transport *out)
{
    int begun = 0, ended = 0, level = MPI_THREAD_SINGLE;
    struct mpi *m = calloc(1, sizeof *m);
    if (!m)
        return "out of memory";
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    m->ours = !begun;
    if (ended)
        return free(m), "MPI was finalized in this process and cannot be initialized again";
    if (begun)
        MPI_Query_thread(&level);
    else if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS)
        return free(m), "cannot initialize MPI";
    if (level < MPI_THREAD_SERIALIZED)
        return free(m), "MPI was initialized without MPI_THREAD_SERIALIZED";
    MPI_Comm_dup(MPI_COMM_WORLD, &m->comm);
    MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN);
    *out = (struct transport){.context = m,
                              .send = mpi_send,
                              .receive = mpi_receive,
                              .busy = mpi_busy,
                              .close = mpi_close};
    MPI_Comm_rank(m->comm, &out->rank);
    MPI_Comm_size(m->comm, &out->size);
    await_next(m);
    return NULL;
}
