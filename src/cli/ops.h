/*
 * hlo ops: what its files share.
 */
#ifndef HLO_CLI_OPS_H
#define HLO_CLI_OPS_H

#include "cli/cli.h"

/* What becomes of an op for an element type: its worked examples are written for the type, verified
 * and run. */
enum cell { CELL_REJECTED, CELL_RUNS, CELL_MISSING, CELL_KINDS };
/* One example for one pair of types; the messages say why it is not CELL_RUNS. */
enum cell ops_try(size_t op, size_t example, const char *dtype, const char *other, bool plain,
                  hlo_messages *m);
/* The same without the run: whether parser and verifier take it. */
bool ops_accepts(size_t op, const char *dtype);
bool ops_is_typed(size_t op);  /* an example is written for an element type */
bool ops_has_pairs(size_t op); /* ... and for a second one */

/* ops_dict.c: the words of HLO text, or of what --dict names, as a dictionary of libFuzzer. */
int ops_dictionary(const struct options *o);

/* ops_json.c: everything known of an op, as one object. */
void put_op_json(struct buf *out, size_t op);

/* ops_mdoc.c: all there is, as sections of the manual. */
int ops_mdoc(void);

/* ops_matrix.c: all ops, or the one given. */
int ops_matrix(const struct options *o, size_t op);

#endif
