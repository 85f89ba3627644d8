/*
 * hlo ops: what its files share.
 */
#ifndef HLO_CLI_OPS_H
#define HLO_CLI_OPS_H

#include "cli/cli.h"

/* What happens with an op for an element type, found out by verifying and running its worked examples, written for that type. */
enum cell { CELL_REJECTED, CELL_RUNS, CELL_MISSING, CELL_KINDS };
/* Tries one example with one pair of types; messages say why it is not CELL_RUNS. */
enum cell ops_try(size_t op, size_t example, const char *dtype, const char *other, bool plain, hlo_messages *m);
/* Whether parser and verifier accept an op for a type. */
bool ops_accepts(size_t op, const char *dtype);
bool ops_is_typed(size_t op);  /* an example can be written for different element types */
bool ops_has_pairs(size_t op); /* ... and for pairs of types */

/* ops_dict.c: the words of HLO text, or of what --dict names, as a dictionary of libFuzzer. */
int ops_dictionary(const struct options *o);

/* ops_json.c: everything that is known about an op, as a JSON object. */
void put_op_json(struct buf *out, size_t op);

/* ops_mdoc.c: all ops, forms and types, as sections of the manual. */
int ops_mdoc(void);

/* ops_matrix.c: all ops, or the one given. */
int ops_matrix(const struct options *o, size_t op);

#endif
