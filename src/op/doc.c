/*
 * doc.c: the reference of every op, made by doc.awk from the pages of grammar/operations.
 */
#include "op/op.h"

const struct op_doc op_docs[OP_COUNT] = {
#include "op/op_doc.inc"
};
