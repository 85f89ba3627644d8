/*
 * Fuzz target: a directory of XLA dumps. The first line selects a module; the others are names of
 * files in the directory.
 */
#include "fuzz/sandbox.h"

#include "hlo.h"

#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void lay_out(struct str names)
{
    for (int n = 0; names.len > 0 && n < 64; n++) {
        struct buf path = {0};
        char *name = copy_text(cut_input(&names, '\n'));
        buf_printf(&path, "dumps/%s", name);
        if (*name && !strchr(name, '/') && strcmp(name, "..") != 0)
            sandbox_file(path.data,
                         STR("HloModule m\nENTRY e {\n  ROOT x = f32[] parameter(0)\n}\n"));
        buf_free(&path);
        free(name);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str names = {(const char *)data, size};
    char *pick = copy_text(cut_input(&names, '\n'));
    hlo_messages *m = hlo_messages_new();
    sandbox_enter();
    mkdir("dumps", 0700);
    lay_out(names);
    hlo_file *f = hlo_file_open_module("dumps", *pick ? pick : NULL, false, m);
    if ((f == NULL) != (hlo_messages_errors(m) > 0))
        __builtin_trap();
    hlo_file_free(f);
    sandbox_leave();
    hlo_messages_free(m);
    free(pick);
    return 0;
}
