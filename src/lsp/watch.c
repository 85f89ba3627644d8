/*
 * lsp/watch: input that arrives during a run. Messages are handled in order; but an edit, or the
 * cancellation of the request, interrupts the run, so that no keystroke waits for its end.
 */
#include "base/oom.h"
#include "base/system.h"
#include "lsp/lsp_priv.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 16 };

static struct str view_from(const struct watch *w, size_t offset)
{
    const struct str all = buf_view(&w->bytes);
    return (struct str){all.ptr + offset, all.len - offset};
}

/* ---- messages ---- */

static bool is_id(const struct dict_value *a, const struct dict_value *b)
{
    return a && b && a->kind == b->kind &&
           ((a->kind == DICT_INT && a->i == b->i) ||
            (a->kind == DICT_STRING && str_eq(a->s, b->s)));
}

static enum watched what_message_does(const struct watch *w, struct str body)
{
    SCOPED_ARENA arena = arena_make();
    struct dict_value message;
    struct dict_error error;
    if (!dict_read(&arena, body, DICT_JSON, &message, &error))
        return WATCH_NOTHING;
    const struct dict_value *method = dict_member(&message, "method", DICT_STRING);
    if (method && str_is(method->s, "textDocument/didChange"))
        return WATCH_EDIT;
    const struct dict_value *params = dict_member(&message, "params", DICT_DICT);
    return method && str_is(method->s, "$/cancelRequest") && params &&
                   is_id(dict_find(params, STR("id")), w->c->id)
               ? WATCH_CANCEL
               : WATCH_NOTHING;
}

/* Examines the messages that are complete and new; false: the run is interrupted, or the input is
 * malformed, which is reported when it is handled. */
static bool examine(struct watch *w)
{
    int64_t length;
    size_t size;
    for (;;) {
        const struct str rest = view_from(w, w->examined);
        const enum header header = rest.len ? read_header(rest, &size, &length) : HEADER_PARTIAL;
        if (header != HEADER_WHOLE)
            return header == HEADER_PARTIAL;
        w->found = what_message_does(w, (struct str){rest.ptr + size, (size_t)length});
        w->examined += size + (size_t)length;
        if (w->found == WATCH_NOTHING)
            continue;
        hlo_interrupt(w->program);
        return false;
    }
}

/* ---- the thread ---- */

/* Reads what there is, when there is some; false at the end of the input or of the run. */
static bool read_more(struct watch *w)
{
    struct pollfd waits[2] = {{.fd = w->c->s->options.input, .events = POLLIN},
                              {.fd = w->wake[0], .events = POLLIN}};
    ssize_t n;
    while (poll(waits, 2, -1) == -1)
        if (errno != EINTR)
            return false;
    if (waits[1].revents)
        return false;
    buf_reserve(&w->bytes, READ_BYTES);
    do
        n = read(waits[0].fd, w->bytes.data + w->bytes.size, READ_BYTES);
    while (n == -1 && errno == EINTR);
    w->bytes.size += n > 0 ? (size_t)n : 0;
    return n > 0;
}

static void *watch(void *context)
{
    struct watch *w = context;
    struct oom_scope g;
    oom_enter(&g, w->oom_scope);
    if (setjmp(g.back) == 0) /* otherwise the input waits for the end of the run */
        while (examine(w) && read_more(w))
            ;
    oom_leave(&g);
    return NULL;
}

static void stop(void *context)
{
    const struct watch *w = context;
    close(w->wake[1]);
    pthread_join(w->thread, NULL);
    close(w->wake[0]);
}

/* ---- for runs ---- */

void watch_init(struct watch *w, struct call *c)
{
    *w = (struct watch){.c = c, .known = c->s->following.len};
    if (c->s->options.input < 0)
        return;
    buf_reserve(&w->bytes,
                READ_BYTES); /* now, so that it does not belong to the scope of the run */
    buf_str(&w->bytes, c->s->following);
}

void watch_begin(struct watch *w, hlo_program *p)
{
    w->program = p;
    w->oom_scope = oom_innermost();
    if (!w->bytes.data || !system_pipe(w->wake))
        return;
    w->started = pthread_create(&w->thread, NULL, watch, w) == 0;
    if (w->started) {
        oom_push_cleanup(&w->cleanup, stop, w);
    } else {
        close(w->wake[0]);
        close(w->wake[1]);
    }
}

void watch_end(struct watch *w)
{
    if (!w->started)
        return;
    oom_pop_cleanup(&w->cleanup);
    stop(w);
    w->started = false;
}

void watch_finish(struct watch *w)
{
    if (w->bytes.data)
        buf_str(&w->c->s->ahead, view_from(w, w->known));
    buf_free(&w->bytes);
}
