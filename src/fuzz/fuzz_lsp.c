/*
 * Fuzz target: messages to hlo lsp, one per line; after a first byte of 0, any bytes of the stream;
 * after a first byte of 1, the second half arrives during runs of the first one, if it has any. The
 * server initializes itself first. Its output must be a sequence of well-formed messages, and the
 * index of a document must be the same as if its text were new.
 */
#include "base/system.h"
#include "fuzz/sandbox.h"
#include "lsp/lsp_priv.h"

#include <fcntl.h>
#include <unistd.h>

enum { MESSAGES = 50 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_output(struct str out)
{
    static const char head[] = "Content-Length: ";
    struct arena a;
    struct dict_value d;
    struct dict_error error;
    arena_init(&a);
    while (out.len > 0) {
        int64_t length;
        if (!str_starts(out, STR(head)))
            __builtin_trap();
        struct str line = str_trim(str_cut_line(&out));
        const struct str digits = {line.ptr + sizeof head - 1, line.len - (sizeof head - 1)};
        if (!num_parse_i64(digits, &length) || str_cut_line(&out).len != 2 ||
            (size_t)length > out.len)
            __builtin_trap();
        if (!dict_read(&a, (struct str){out.ptr, (size_t)length}, DICT_JSON, &d, &error) ||
            !dict_find(&d, STR("jsonrpc")))
            __builtin_trap();
        out = (struct str){out.ptr + length, out.len - (size_t)length};
    }
    arena_free(&a);
}

static bool is_same_line(const struct line *a, const struct line *b)
{
    return a->begin == b->begin && a->count == b->count && a->ascii == b->ascii &&
           memcmp(&a->end, &b->end, sizeof a->end) == 0 &&
           (a->count == 0 || memcmp(a->symbols, b->symbols, a->count * sizeof *a->symbols) == 0);
}

static void check_document(const struct lsp *s, const struct document *d)
{
    struct document *fresh = document_new(&s->words, str_of(d->uri), document_text(d));
    if (fresh->line_count != d->line_count)
        __builtin_trap();
    for (size_t i = 0; i < d->line_count; i++)
        if (!is_same_line(&d->lines[i], &fresh->lines[i]))
            __builtin_trap();
    document_free(fresh);
}

static void feed(struct lsp *s, struct str bytes, struct buf *out)
{
    out->size = 0;
    lsp_feed(s, bytes, out);
    check_output(buf_view(out));
    for (const struct document *d = s->documents; d; d = d->next)
        check_document(s, d);
}

static void feed_message(struct lsp *s, struct str message, struct buf *out)
{
    struct buf framed = {0};
    put_message(&framed, message);
    feed(s, buf_view(&framed), out);
    buf_free(&framed);
}

/* A pipe with these messages that is closed at its end. They fit, since inputs are short. */
static int pipe_of(struct str messages)
{
    int ends[2];
    SCOPED_BUF framed = {0};
    for (int n = 0; messages.len > 0 && n < MESSAGES; n++)
        put_message(&framed, cut_input(&messages, '\n'));
    if (!system_pipe(ends))
        return -1;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    if (write(ends[1], framed.data, framed.size) != (ssize_t)framed.size) {
        close(ends[0]);
        ends[0] = -1;
    }
    close(ends[1]);
    return ends[0];
}

/* Feeds what the server has not read during runs. */
static void feed_rest(struct lsp *s, int input, struct buf *out)
{
    char bytes[4096];
    ssize_t n;
    while (!lsp_exited(s) && (n = read(input, bytes, sizeof bytes)) > 0)
        feed(s, (struct str){bytes, (size_t)n}, out);
    close(input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = {(const char *)data, size};
    struct buf out = {0};
    const bool raw = size > 0 && data[0] == 0, during = size > 0 && data[0] == 1;
    int input = -1;
    if (raw || during)
        rest = (struct str){rest.ptr + 1, rest.len - 1};
    if (during) {
        input = pipe_of((struct str){rest.ptr + rest.len / 2, rest.len - rest.len / 2});
        rest.len /= 2;
    }
    const struct lsp_options o = {.run =
                                      HLO_WITH(hlo_run_options, .max_steps = 2000,
                                               .max_memory = 16 << 20, .timeout = 1, .threads = 1),
                                  .confined = true,
                                  .input = input};
    sandbox_enter();
    struct lsp *s = lsp_begin(&o);
    feed_message(s,
                 STR("{\"id\":0,\"method\":\"initialize\",\"params\":{\"initializationOptions\":{"
                     "\"fake\":\"ones\"}}}"),
                 &out);
    if (raw)
        feed(s, rest, &out);
    for (int n = 0; !raw && rest.len > 0 && n < MESSAGES && !lsp_exited(s); n++)
        feed_message(s, cut_input(&rest, '\n'), &out);
    if (input >= 0)
        feed_rest(s, input, &out);
    out.size = 0;
    lsp_idle(s, &out);
    check_output(buf_view(&out));
    lsp_end(s);
    sandbox_leave();
    buf_free(&out);
    return 0;
}
