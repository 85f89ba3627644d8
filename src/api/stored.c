/*
 * Public interface: arguments and results that a file has besides its module: those of snapshots
 * and bundles.
 */
#include "api/api.h"

#include "proto/proto.h"

size_t hlo_stored_arguments(const hlo_module *module)
{
    const hlo_file *f = module->file;
    return f->proto ? proto_argument_lists(f->proto) : f->bundle ? 1 : 0;
}

bool hlo_file_has_results(const hlo_file *f)
{
    return f->proto    ? proto_has_result(f->proto)
           : f->bundle ? hlo_arrays_has(f->bundle, "out0") || hlo_arrays_has(f->bundle, "out0@0")
                       : false;
}

static struct diags *sink_of_file(const hlo_file *f, hlo_messages *m)
{
    return hlo_sink_of_name(m, f->parts[0].name.ptr, STR(""));
}

static bool counts_match(const hlo_file *f, const hlo_module *module, size_t list, hlo_messages *m)
{
    const size_t stored = proto_argument_count(f->proto, list), params = hlo_param_count(module);
    if (stored == params)
        return true;
    SCOPED_BUF why = {0};
    buf_printf(&why, "module has %zu parameter%s, but %zu argument%s stored", params,
               params == 1 ? "" : "s", stored, stored == 1 ? " is" : "s are");
    DIAG(sink_of_file(f, m), NO_SPAN, FAILURE, why.data);
    return false;
}

hlo_literal *hlo_stored_argument(const hlo_module *from, const hlo_module *module, size_t param,
                                 size_t participant, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    const hlo_file *f = from->file;
    if (!f->proto)
        return hlo_arrays_param(f->bundle, "arg", module, param, participant, m);
    const size_t list = participant < proto_argument_lists(f->proto) ? participant : 0;
    if (!counts_match(f, module, list, m))
        return NULL;
    hlo_literal *h = hlo_literal_begin();
    h = hlo_literal_end(h, proto_argument(sink_of_file(f, m), f->proto, &h->arena, list, param));
    if (!h || hlo_argument_fits(module, param, h, m))
        return h;
    hlo_literal_free(h);
    return NULL;
}

hlo_literal *hlo_stored_result(const hlo_module *from, size_t participant, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    const hlo_file *f = from->file;
    if (!f->proto)
        return hlo_arrays_result(f->bundle, "out", from, participant, m);
    hlo_literal *h = hlo_literal_begin();
    return hlo_literal_end(h, proto_result(sink_of_file(f, m), f->proto, &h->arena));
}
