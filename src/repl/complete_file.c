/*
 * repl/complete_file: completion of file names.
 */
#include "repl/complete_priv.h"

#include <stdlib.h>

/* Writes the directory to search; `~/` is the home directory. */
static void put_directory(struct buf *out, struct str directory)
{
    const char *home = getenv("HOME");
    if (directory.len == 0)
        buf_puts(out, ".");
    else if (str_starts(directory, STR("~/")) && home) {
        buf_puts(out, home);
        buf_bytes(out, directory.ptr + 1, directory.len - 1);
    } else
        buf_str(out, directory);
}

static bool is_directory(struct str directory, const char *name)
{
    SCOPED_BUF path = {0};
    buf_printf(&path, STR_FMT "/%s", STR_ARG(directory), name);
    return file_is_directory(path.data);
}

static void add_files(struct completions *out)
{
    size_t slash = out->word.len;
    while (slash > 0 && out->word.ptr[slash - 1] != '/')
        slash--;
    struct str directory = {out->word.ptr, slash},
               stem = {out->word.ptr + slash, out->word.len - slash};
    SCOPED_BUF path = {0};
    SCOPED_ARENA a = arena_make();
    const char **names;
    size_t count;
    put_directory(&path, directory);
    directory_names(&a, path.data, &names, &count);
    for (size_t k = 0; k < count; k++) {
        struct str name = str_of(names[k]);
        bool hidden = name.ptr[0] == '.' && !str_starts(stem, STR("."));
        if (hidden || !str_starts(name, stem))
            continue;
        bool inner = is_directory(buf_view(&path), names[k]);
        SCOPED_BUF text = {0};
        buf_printf(&text, STR_FMT "%s%s", STR_ARG(directory), names[k], inner ? "/" : "");
        completions_add(out, buf_view(&text), STR(""), inner ? "" : " ");
    }
}

void complete_file(struct completions *out, struct str before)
{
    size_t start = before.len;
    while (start > 0 && !char_is_blank(before.ptr[start - 1]))
        start--;
    out->word = str_skip(before, start);
    add_files(out);
}

bool complete_file_after_at(struct completions *out, struct str before)
{
    size_t start = before.len;
    while (start > 0 && !strchr("@ \t\n,=(){}\"'", before.ptr[start - 1]))
        start--;
    if (start == 0 || before.ptr[start - 1] != '@')
        return false;
    out->word = str_skip(before, start);
    add_files(out);
    return true;
}
