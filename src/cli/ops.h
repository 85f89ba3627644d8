/*
 * hlo ops: declarations shared by its files.
 */
#ifndef HLO_CLI_OPS_H
#define HLO_CLI_OPS_H

#include "cli/cli.h"

/* State of an op for an element type, determined by running its examples with that type. */
enum cell { CELL_REJECTED, CELL_RUNS, CELL_MISSING, CELL_KINDS };
enum ops_try { TRY_VERIFY, TRY_RUN, TRY_RUN_PLAIN };

/* The number of element types that the examples of an op can be rewritten for: 0, 1 or 2. */
unsigned ops_types(size_t op);
/* The state of an op for `dtype` and a second type; `other` NULL: for any second type. `dtype`
 * NULL: for examples without element type. TRY_VERIFY stops at the first accepted example; the
 * others run all of them, and an accepted one that does not run is CELL_MISSING. Messages tell why
 * a cell is not CELL_RUNS. */
enum cell ops_cell(size_t op, const char *dtype, const char *other, enum ops_try how,
                   hlo_messages *m);
bool ops_accepts(size_t op, const char *dtype);

/* ops_dict.c: keywords of HLO text, or of the language selected by --dict, as a libFuzzer
 * dictionary. */
int ops_dictionary(const struct options *o);

/* ops_json.c: writes an op with all its properties as a JSON object. */
void put_op_json(struct buf *out, size_t op);

/* ops_mdoc.c: prints all ops, forms and types as sections of the manual. */
int ops_mdoc(void);

/* ops_matrix.c: prints the table of all ops, or of the given one. */
int ops_matrix(const struct options *o, size_t op);

#endif
