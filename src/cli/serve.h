/*
 * hlo serve without its input and output: requests and their answers.
 */
#ifndef HLO_CLI_SERVE_H
#define HLO_CLI_SERVE_H

#include "cli/cli.h"

struct server; /* the modules that requests have loaded */
struct server *
serve_begin(const struct options *o); /* NULL after saying what is wrong with the options */
void serve_end(struct server *s);
/* Appends the answer to a request, one line; there is none to a blank line. */
void serve_answer(struct server *s, struct str line, struct buf *out);

#endif
