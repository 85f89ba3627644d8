/*
 * hlo verify: reports all errors of each file, from the parser and the verifier.
 */
#include "cli/cli.h"

#include <stdio.h>

/* Verifies all modules of a file. */
static int verify_file(const struct options *o, const char *path, hlo_messages *m)
{
    SCOPED_FILE *f = open_file(o, path, m);
    if (!f)
        return HLO_USAGE;
    for (size_t part = 0; part < hlo_file_count(f); part++) {
        SCOPED_MODULE *module = hlo_parse(f, part, m);
        if (module && !o->given[OPT_PARSE_ONLY])
            hlo_verify(module, m);
    }
    return hlo_messages_errors(m) > 0 ? HLO_REJECTED : HLO_OK;
}

static void put_json(const char *path, int status, const hlo_messages *m)
{
    struct buf b = {0};
    SCOPED_TEXT list = hlo_messages_json(m);
    buf_putc(&b, '{');
    buf_json_text(&b, "file", str_of(path));
    buf_json_bool(&b, "accepted", status == HLO_OK);
    buf_json_key(&b, "diagnostics");
    buf_str(&b, (struct str){list.data, list.size});
    buf_putc(&b, '}');
    print_buf(&b);
}

int verify_command(const struct options *o)
{
    struct files files = {0};
    int worst = files_of(&files, o, o->args, o->arg_count) ? HLO_OK : HLO_USAGE;
    if (o->given[OPT_JSON])
        fputs("{\"schema\":1,\"files\":[", stdout);
    for (size_t i = 0; i < files.count; i++) {
        SCOPED_MESSAGES *m = hlo_messages_new();
        int status = verify_file(o, files.at[i], m);
        if (o->given[OPT_JSON]) {
            fputs(i ? ",\n" : "\n", stdout);
            put_json(files.at[i], status, m);
        } else {
            report(o, m);
        }
        worst = status > worst ? status : worst;
    }
    if (o->given[OPT_JSON])
        fputs("\n]}\n", stdout);
    files_free(&files);
    return worst;
}
