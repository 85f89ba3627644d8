/*
 * Replaces the files that read protobuf if the program is built without libprotobuf-c.
 */
#include "proto/proto.h"

struct proto_module *proto_read(struct diags *ds, const struct proto_input *input)
{
    (void)input;
    DIAG(ds, NO_SPAN, FAILURE,
         "built without protocol buffers (libprotobuf-c, protoc-c; meson option proto)");
    return NULL;
}

void proto_free(struct proto_module *p) { (void)p; }

struct str proto_text(const struct proto_module *p)
{
    (void)p;
    return STR("");
}

const struct source_paths *proto_paths(const struct proto_module *p)
{
    (void)p;
    return NULL;
}

bool proto_complete(struct diags *ds, const struct proto_module *p, struct module *m)
{
    (void)ds;
    (void)p;
    (void)m;
    return true;
}
