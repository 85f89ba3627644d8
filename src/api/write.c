/*
 * Public interface: modules and values in the formats of XLA.
 */
#include "api/api.h"

#include "io/io.h"
#include "proto/proto.h"
#include "text/text.h"

struct target {
    struct diags *ds;
    struct io_stream *to;
};

static bool put(void *target, struct str bytes)
{
    struct target *t = target;
    return io_stream_put(t->ds, t->to, bytes);
}

static void print_text(struct buf *out, const hlo_module *module, const hlo_literal *l)
{
    if (module) {
        text_print_module(out, module->m,
                          &(struct print_options){.large_constants = true, .exact = true});
    } else {
        text_print_literal_with_shape(out, l->l);
        buf_putc(out, '\n');
    }
}

/* Writes the module or, if it is NULL, the literal. */
static bool write_file(const char *path, const hlo_module *module, const hlo_literal *l,
                       enum hlo_format format, bool gzip, hlo_messages *m)
{
    struct target t = {.ds = hlo_sink_of_name(m, path, STR(""))};
    const struct proto_sink to = {format == HLO_FORMAT_PROTO_TEXT, put, &t};
    struct buf text = {0};
    bool ok;
    if (!(t.to = io_stream_open(t.ds, path, gzip)))
        return false;
    if (format == HLO_FORMAT_TEXT) {
        print_text(&text, module, l);
        ok = put(&t, buf_view(&text));
        buf_free(&text);
    } else {
        ok = module ? proto_write(hlo_sink_of_module(m, module), module->m, &to)
                    : proto_write_literal(t.ds, l->l, &to);
    }
    return io_stream_close(t.ds, t.to, ok) && ok;
}

bool hlo_write_module(const char *path, const hlo_module *module, enum hlo_format format, bool gzip,
                      hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), false));
    if (hlo_stored_arguments(module) > 0 || hlo_file_has_results(module->file))
        DIAG(hlo_sink_of_module(m, module), NO_SPAN, STORED_DROPPED);
    return write_file(path, module, NULL, format, gzip, m);
}

bool hlo_write_literal(const char *path, const hlo_literal *l, enum hlo_format format, bool gzip,
                       hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), false));
    return write_file(path, NULL, l, format, gzip, m);
}
