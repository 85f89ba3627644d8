/*
 * Reads bytes as a protocol buffer, and uses what was read: a module is parsed, verified and
 * printed, arguments and results are decoded.
 */
#ifndef HLO_FUZZ_READ_PROTO_H
#define HLO_FUZZ_READ_PROTO_H

#include "proto/proto.h"

/* `text`: in text format. Aborts if reading fails without an error. */
void fuzz_read_proto(struct str bytes, enum proto_kind kind, bool text);

#endif
