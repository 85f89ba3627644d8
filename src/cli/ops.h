/*
 * hlo ops: what its files share.
 */
#ifndef HLO_CLI_OPS_H
#define HLO_CLI_OPS_H

#include "cli/cli.h"

/* What happens with an op for an element type, found out by its examples, written for that type. */
enum cell { CELL_REJECTED, CELL_RUNS, CELL_MISSING, CELL_KINDS };
enum ops_try { TRY_VERIFY, TRY_RUN, TRY_RUN_PLAIN };

/* How many element types the examples of an op can be written for: 0, 1, or 2 where one has a
 * second type. */
unsigned ops_types(size_t op);
/* The cell of an op for `dtype` and a second type; `other` NULL: for any second type. `dtype` NULL:
 * for the examples that have no element type. TRY_VERIFY stops at the first accepted example; the
 * others run all of them, and an accepted one that does not run is CELL_MISSING. Messages tell why
 * a cell is not CELL_RUNS. */
enum cell ops_cell(size_t op, const char *dtype, const char *other, enum ops_try how,
                   hlo_messages *m);
bool ops_accepts(size_t op, const char *dtype);

/* ops_dict.c: the words of HLO text, or of what --dict names, as a dictionary of libFuzzer. */
int ops_dictionary(const struct options *o);

/* ops_json.c: everything that is known about an op, as a JSON object. */
void put_op_json(struct buf *out, size_t op);

/* ops_mdoc.c: all ops, forms and types, as sections of the manual. */
int ops_mdoc(void);

/* ops_matrix.c: all ops, or the one given. */
int ops_matrix(const struct options *o, size_t op);

#endif
