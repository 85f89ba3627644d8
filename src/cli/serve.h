/*
 * hlo serve without its input and output: handling of requests.
 */
#ifndef HLO_CLI_SERVE_H
#define HLO_CLI_SERVE_H

#include "cli/cli.h"

struct server;                                       /* state with the loaded modules */
struct server *serve_begin(const struct options *o); /* NULL after reporting invalid options */
void serve_end(struct server *s);
/* Appends the response to a request, one line; nothing for a blank line. */
void serve_answer(struct server *s, struct str line, struct buf *out);

#endif
