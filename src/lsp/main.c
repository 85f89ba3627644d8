/*
 * lsp/main: the server on standard input and output.
 */
#include "lsp/lsp_priv.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 16 };

/* Waits for input; false if there was none until diagnostics are due. */
static bool wait_for_input(const struct lsp *s)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    for (;;) {
        const int n = poll(&in, 1, lsp_pause(s));
        if (n != -1 || errno != EINTR)
            return n != 0;
    }
}

/* Reads what is there; false at the end of the input. */
static bool read_input(struct buf *in)
{
    ssize_t n;
    buf_reserve(in, READ_BYTES);
    do
        n = read(STDIN_FILENO, in->data, READ_BYTES);
    while (n == -1 && errno == EINTR);
    in->size = n > 0 ? (size_t)n : 0;
    return n > 0;
}

int lsp_main(const struct lsp_options *o)
{
    struct lsp_options options = *o;
    options.input = STDIN_FILENO;
    struct lsp *s = lsp_begin(&options);
    SCOPED_BUF in = {0}, out = {0};
    bool more = true;
    while (more && !lsp_exited(s) && !ferror(stdout)) {
        out.size = 0;
        in.size = 0;
        if (!wait_for_input(s))
            lsp_idle(s, &out);
        else if ((more = read_input(&in)))
            lsp_feed(s, buf_view(&in), &out);
        else
            lsp_idle(s, &out);
        fwrite(out.data, 1, out.size, stdout);
        fflush(stdout);
    }
    const int status = s->exited && !s->shut_down ? HLO_DIFFERS : HLO_OK;
    lsp_end(s);
    return status;
}
