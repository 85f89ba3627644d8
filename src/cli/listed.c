/*
 * Opens files for commands that display modules without running them, and writes instructions as
 * JSON.
 */
#include "cli/listed.h"

static int look_at(struct listed_module *l, listed_fn *fn, void *context, bool verified)
{
    const char *only = l->o->value[OPT_COMPUTATION];
    if (!l->module || (verified && !hlo_verify(l->module, l->m)))
        return HLO_REJECTED;
    SCOPED_LISTING *listing = hlo_list(l->module);
    l->listing = listing;
    l->only = only ? hlo_list_find_computation(listing, only) : -1;
    int status = HLO_OK;
    if (only && l->only < 0)
        status = usage_error(l->o, "%s has no computation '%s'", l->path, only);
    else
        status = fn(context, l);
    return status;
}

static int each_part(const struct options *o, const char *path, bool verified, listed_fn *fn,
                     void *context)
{
    SCOPED_MESSAGES *m = hlo_messages_new();
    SCOPED_FILE *f = open_file(o, path, m);
    const size_t parts = f ? hlo_file_count(f) : 0;
    int worst = f ? HLO_OK : HLO_USAGE;
    for (size_t part = 0; part < parts && worst != HLO_USAGE; part++) {
        SCOPED_MODULE *module = hlo_parse(f, part, m);
        const size_t number = hlo_file_number(f, part);
        struct listed_module l = {.o = o,
                                  .path = path,
                                  .title = hlo_file_title(f, part),
                                  .part = number - 1,
                                  .parts = parts > number ? parts : number,
                                  .file = f,
                                  .module = module,
                                  .m = m};
        int status = look_at(&l, fn, context, verified);
        worst = status > worst ? status : worst;
    }
    report(o, m);
    return worst;
}

int each_listed(const struct options *o, const char *const *paths, size_t count, bool verified,
                listed_fn *fn, void *context)
{
    int worst = HLO_OK;
    struct files files = {0};
    if (!files_of(&files, o, paths, count))
        worst = HLO_USAGE;
    for (size_t k = 0; k < files.count; k++) {
        int status = each_part(o, files.at[k], verified, fn, context);
        worst = status > worst ? status : worst;
    }
    files_free(&files);
    return worst;
}

void put_shape_alone(struct buf *out, const char *shape)
{
    for (int braces = 0; *shape; shape++) {
        braces += *shape == '{';
        if (braces == 0)
            buf_putc(out, *shape);
        braces -= *shape == '}';
    }
}

/* ---- JSON ---- */

void put_names_json(struct buf *out, const char *key, const hlo_listing *l, const size_t *list,
                    size_t count, bool computations)
{
    buf_json_open(out, key, '[');
    for (size_t k = 0; k < count; k++)
        buf_json_text(out, NULL,
                      str_of(computations ? hlo_list_computation(l, list[k]).name
                                          : hlo_list_inst(l, list[k]).name));
    buf_putc(out, ']');
}

void put_module_json(struct buf *out, const struct listed_module *l)
{
    buf_puts(out, "{\"schema\":1");
    buf_json_text(out, "file", str_of(l->path));
    buf_json_count(out, "module", l->part + 1);
}

void put_listed_json(struct buf *out, const hlo_listing *l, size_t inst)
{
    const struct hlo_listed i = hlo_list_inst(l, inst);
    const struct hlo_listed_computation c = hlo_list_computation(l, i.computation);
    buf_putc(out, '{');
    buf_json_text(out, "name", str_of(i.name));
    buf_json_text(out, "op", str_of(i.op));
    buf_json_text(out, "shape", str_of(i.shape));
    buf_json_text(out, "computation", str_of(c.name));
    put_names_json(out, "operands", l, i.operands, i.operand_count, false);
    put_names_json(out, "users", l, i.users, i.user_count, false);
    put_names_json(out, "calls", l, i.callees, i.callee_count, true);
    if (i.parameter >= 0)
        buf_json_int(out, "parameter", i.parameter);
    buf_json_bool(out, "root", c.root == inst);
    buf_json_count(out, "line", i.line);
    buf_json_count(out, "column", i.column);
    buf_json_text(out, "op_name", str_of(i.op_name));
    buf_json_text(out, "where", str_of(i.where));
    buf_putc(out, '}');
}
