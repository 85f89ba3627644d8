/*
 * proto: modules of XLA in protocol buffers: HloModuleProto, HloProto, HloSnapshot and
 * HloUnoptimizedSnapshot, in wire or text format.
 *
 * A message is translated to HLO text, which is parsed and verified like any other, so that there
 * is one set of rules for each attribute. Constants are `{...}` in the text; their values are
 * decoded from the file when the text has been parsed. Messages about the text refer to the part of
 * the protocol buffer that it was made from (struct source_paths).
 */
#ifndef HLO_PROTO_H
#define HLO_PROTO_H

#include "base/base.h"
#include "diag/diag.h"
#include "ir/ir.h"

/* ---- kind.c: recognition ---- */

enum proto_kind {
    PROTO_NONE,
    PROTO_MODULE,      /* HloModuleProto */
    PROTO_HLO,         /* HloProto */
    PROTO_SNAPSHOT,    /* HloSnapshot */
    PROTO_UNOPTIMIZED, /* HloUnoptimizedSnapshot */
    PROTO_CONTAINER,   /* the same, followed by the arguments */
    PROTO_LITERAL      /* LiteralProto */
};

/* The kind of a message in wire format, by its structure. */
enum proto_kind proto_kind_of(struct str bytes);
/* The kind of a message in text format, by its first fields. */
enum proto_kind proto_kind_of_text(struct str text);
const char *proto_kind_name(enum proto_kind kind); /* "HloProto" */

/* ---- read.c ---- */

struct proto_module;

struct proto_input {
    struct str bytes; /* must outlive the module */
    enum proto_kind kind;
    bool text;   /* text format */
    bool mapped; /* the bytes are a mapped file: pages are released when they have been decoded */
};

/* Translates the module of a message. Returns NULL with an error, whose place in the message is the
 * path of ds->source. */
struct proto_module *proto_read(struct diags *ds, const struct proto_input *input);
void proto_free(struct proto_module *p); /* NULL is allowed */

/* The text of the module, and the paths of its parts. */
struct str proto_text(const struct proto_module *p);
const struct source_paths *proto_paths(const struct proto_module *p);

/* Sets what the text of a module lacks, once it was parsed: the values of constants, and the order
 * of ids. False with errors if
 * a value does not match its shape or memory runs out. */
bool proto_complete(struct diags *ds, const struct proto_module *p, struct module *m);

#endif
