/*
 * Replaces the files that read and write protobuf if the program is built without libprotobuf-c.
 */
#include "proto/proto.h"

static bool absent(struct diags *ds)
{
    return DIAG_ERROR(
        ds, NO_SPAN, FAILURE,
        "built without protocol buffers (libprotobuf-c, protoc-c; meson option proto)");
}

struct proto_module *proto_read(struct diags *ds, const struct proto_input *input)
{
    return absent(ds), NULL;
}

struct literal *proto_literal(struct diags *ds, struct arena *a, const struct proto_input *input)
{
    return absent(ds), NULL;
}

struct literal *proto_argument(struct diags *ds, const struct proto_module *p, struct arena *a,
                               size_t list, size_t index)
{
    return absent(ds), NULL;
}

struct literal *proto_result(struct diags *ds, const struct proto_module *p, struct arena *a)
{
    return absent(ds), NULL;
}

size_t proto_argument_lists(const struct proto_module *p) { return 0; }
size_t proto_argument_count(const struct proto_module *p, size_t list) { return 0; }
bool proto_has_result(const struct proto_module *p) { return false; }

bool proto_write(struct diags *ds, const struct module *m, const struct proto_sink *to)
{
    return absent(ds);
}

bool proto_write_literal(struct diags *ds, const struct literal *l, const struct proto_sink *to)
{
    return absent(ds);
}

void proto_free(struct proto_module *p) {}
struct str proto_text(const struct proto_module *p) { return STR(""); }
const struct source_paths *proto_paths(const struct proto_module *p) { return NULL; }

bool proto_complete(struct diags *ds, const struct proto_module *p, struct module *m)
{
    return true;
}
