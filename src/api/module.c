/*
 * Public interface: parsing, verifying and printing modules; their parameters and results.
 */
#include "api/api.h"

#include "op/op.h"
#include "proto/proto.h"
#include "text/text.h"
#include "verify/verify.h"

hlo_module *hlo_parse(const hlo_file *file, size_t part, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    hlo_file *f = (hlo_file *)(uintptr_t)file; /* mutable: line map and reference count */
    struct parse_options options = {.strict = f->strict, .core = f->proto != NULL};
    struct diags *ds = hlo_sink_of_part(m, f, part);
    struct module *module = text_parse_module(ds, &f->parts[part], &options);
    if (module && f->proto && !proto_complete(ds, f->proto, module)) {
        module_free(module);
        module = NULL;
    }
    if (!module)
        return NULL;
    hlo_module *out = heap_zalloc(1, sizeof *out);
    *out = (hlo_module){module, hlo_file_hold(f), part};
    return out;
}

void hlo_module_free(hlo_module *module)
{
    if (!module)
        return;
    module_free(module->m);
    hlo_file_free(module->file);
    heap_free(module);
}

bool hlo_verify(const hlo_module *module, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), false));
    return verify_module(hlo_sink_of_module(m, module), module->m, &(struct verify_options){0});
}

hlo_text hlo_print(const hlo_module *module, enum hlo_print_style style)
{
    OOM_SCOPE((hlo_text){0});
    struct buf b = {0};
    struct print_options options = {
        .short_form = style == HLO_PRINT_SHORT,
        .large_constants = style != HLO_PRINT_ABRIDGED,
        .no_metadata = style == HLO_PRINT_BARE,
        .exact = style == HLO_PRINT_EXACT || style == HLO_PRINT_COMMENTED,
        .comments = style == HLO_PRINT_COMMENTED && module->file && !module->file->proto,
    };
    text_print_module(&b, module->m, &options);
    return hlo_text_of(&b);
}

int64_t hlo_replica_count(const hlo_module *module) { return module->m->replica_count; }
int64_t hlo_num_partitions(const hlo_module *module) { return module->m->num_partitions; }

void hlo_set_participants(hlo_module *module, int64_t replicas, int64_t partitions)
{
    module->m->replica_count = replicas;
    module->m->num_partitions = partitions;
}

size_t hlo_param_count(const hlo_module *module) { return (size_t)module->m->entry->param_count; }

const char *hlo_param_name(const hlo_module *module, size_t i)
{
    OOM_SCOPE(NULL);
    /* Names are slices of the text; the NUL-terminated copy is in the module's arena. */
    return arena_str(&module->m->arena, hlo_param_of(module, i)->name).ptr;
}

hlo_text hlo_param_shape(const hlo_module *module, size_t i)
{
    OOM_SCOPE((hlo_text){0});
    struct buf b = {0};
    shape_print(&b, hlo_param_of(module, i)->shape, false);
    return hlo_text_of(&b);
}

/* Whether a name is `written` plus a number that made it unique in the module: x.1 */
static bool is_numbered(struct str name, struct str written)
{
    size_t i = written.len;
    if (!str_starts(name, written) || name.len < i + 2 || name.ptr[i++] != '.')
        return false;
    while (i < name.len && char_is_digit(name.ptr[i]))
        i++;
    return i == name.len;
}

static bool has_op_name(const struct inst *param, struct str written)
{
    const struct metadata *m = inst_metadata(param);
    return m && m->op_name.len > 0 && str_eq(m->op_name, written);
}

/* The parameter of that name; -1: none, or several. */
static long find_param(const hlo_module *module, struct str written)
{
    size_t numbered = 0, named = 0;
    long found = -1;
    for (size_t i = 0; i < hlo_param_count(module); i++) {
        const struct inst *p = hlo_param_of(module, i);
        if (str_eq(p->name, written))
            return (long)i;
        if (is_numbered(p->name, written)) {
            found = (long)i;
            numbered++;
        } else if (has_op_name(p, written)) {
            found = numbered ? found : (long)i;
            named++;
        }
    }
    return numbered == 1 || (numbered == 0 && named == 1) ? found : -1;
}

long hlo_param_find(const hlo_module *module, const char *name)
{
    return find_param(module, str_of(name + (*name == '%')));
}

size_t hlo_param_names(const hlo_module *module, size_t param, struct str names[PARAM_NAMES])
{
    const struct metadata *m = inst_metadata(hlo_param_of(module, param));
    size_t n = 0;
    names[n++] = hlo_param_of(module, param)->name;
    struct str stem = names[0];
    while (stem.len > 1 && char_is_digit(stem.ptr[stem.len - 1]))
        stem.len--;
    stem.len -= stem.len > 1 && stem.ptr[stem.len - 1] == '.';
    if (is_numbered(names[0], stem) && find_param(module, stem) == (long)param)
        names[n++] = stem;
    if (m && m->op_name.len > 0 && find_param(module, m->op_name) == (long)param)
        names[n++] = m->op_name;
    return n;
}

uint32_t hlo_result_line(const hlo_module *module, size_t element)
{
    OOM_SCOPE(0);
    const struct inst *i = module->m->entry->root;
    if (i->opcode == OP_TUPLE && element < (size_t)i->operand_count)
        i = i->operands[element];
    return source_place(&module->file->parts[module->part], i->span.begin).line;
}
