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
/* The message of a container, without its length and the arguments that follow. */
struct str proto_container_message(struct str bytes);

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

/* ---- stored.c: arguments and results of snapshots, and files that are a literal ---- */

/* The number of argument lists; HloSnapshot has at most one, HloUnoptimizedSnapshot one for each
 * device. */
size_t proto_argument_lists(const struct proto_module *p);
size_t proto_argument_count(const struct proto_module *p, size_t list);
bool proto_has_result(const struct proto_module *p);
/* Decodes an existing argument or the result to the arena: arrays have default layouts, and their
 * actual sizes where they are dynamic. NULL with an error. The caller frees the storage. */
struct literal *proto_argument(struct diags *ds, const struct proto_module *p, struct arena *a,
                               size_t list, size_t index);
struct literal *proto_result(struct diags *ds, const struct proto_module *p, struct arena *a);
/* Decodes a file that is a LiteralProto in the same way. */
struct literal *proto_literal(struct diags *ds, struct arena *a, const struct proto_input *input);

/* ---- write.c ---- */

/* Where a message is written to, in pieces. */
struct proto_sink {
    bool text;                                    /* in text format */
    bool (*put)(void *context, struct str bytes); /* false: writing failed, and was reported */
    void *context;
};

/* Writes a module as an HloModuleProto. Attributes that the message does not have are dropped with
 * a warning. False with an error if something else has no form in it. */
bool proto_write(struct diags *ds, const struct module *m, const struct proto_sink *to);
/* Writes a value as a LiteralProto. */
bool proto_write_literal(struct diags *ds, const struct literal *l, const struct proto_sink *to);

#endif
