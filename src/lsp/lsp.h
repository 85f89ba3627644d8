/*
 * lsp: a language server for HLO: the Language Server Protocol 3.17 over any byte stream.
 *
 * It is a program that embeds the library: it uses hlo_advanced.h, the lexer for incomplete text
 * (text/token.h) and the completion of the prompt. Documents are indexed line by line by the
 * lexer, so that requests are answered for text that does not parse; parsing and verification,
 * which diagnostics require, wait for a pause in the input.
 */
#ifndef HLO_LSP_H
#define HLO_LSP_H

#include "base/base.h"
#include "hlo_scoped.h"

struct lsp;

struct lsp_options {
    /* of runs requested by the client; copied, except what it points to */
    struct hlo_run_options run;
    bool confined; /* open no files that the client names */
    /* A file descriptor that is read during runs, whose messages may interrupt them; -1: none. */
    int input;
};

/* Never NULL. Free it by lsp_end. */
struct lsp *lsp_begin(const struct lsp_options *o);
void lsp_end(struct lsp *s);
/* Takes the next bytes of the input, and appends the answers to all complete messages to `out`. */
void lsp_feed(struct lsp *s, struct str bytes, struct buf *out);
/* Milliseconds until lsp_idle should be called if there is no input; -1: not needed. */
int lsp_pause(const struct lsp *s);
/* Publishes the diagnostics of the documents that have changed. */
void lsp_idle(struct lsp *s, struct buf *out);
/* Whether the client has sent `exit`. */
bool lsp_exited(const struct lsp *s);
/* Serves standard input and output until `exit` or the end of input. Returns HLO_OK, or HLO_DIFFERS
 * if the client sent `exit` without `shutdown`, as the protocol requires. */
int lsp_main(const struct lsp_options *o);

#endif
