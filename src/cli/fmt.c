/*
 * hlo fmt: prints modules in canonical form, rewrites their files, or compares with them.
 */
#include "cli/arguments.h"

#include <stdio.h>

/* Whether the result is compared with the file, or replaces it. */
static bool is_rewriting(const struct options *o)
{
    return o->given[OPT_IN_PLACE] || o->given[OPT_DIFF] || o->given[OPT_CHECK_FORMAT];
}

/* Abridged text is printed abridged; --in-place never drops values. A protocol buffer has them. */
static enum hlo_print_style style_of(const struct options *o, const hlo_file *f, struct str text)
{
    if (o->given[OPT_SHORT])
        return HLO_PRINT_SHORT;
    if (o->given[OPT_STRIP_METADATA])
        return HLO_PRINT_BARE;
    if (is_rewriting(o) || o->given[OPT_COMMENTS])
        return HLO_PRINT_COMMENTED;
    bool abridged = !hlo_file_is_proto(f) && memmem(text.ptr, text.len, "{...}", 5) != NULL;
    return abridged ? HLO_PRINT_ABRIDGED : HLO_PRINT_FULL;
}

/* Tables of stack frames are numbered in the order of the text that was read, which printing
 * changes: only printed again is it canonical. */
static hlo_text print_again(hlo_text text, enum hlo_print_style style)
{
    SCOPED_MESSAGES *ignored = hlo_messages_new();
    SCOPED_FILE *f = hlo_file_of_text("", text.data, text.size, false);
    SCOPED_MODULE *module = f ? hlo_parse(f, 0, ignored) : NULL;
    if (!module)
        return text;
    hlo_text_free(&text);
    return hlo_print(module, style);
}

/* Appends a module; one that was in a text file ends in one newline if the file is rewritten. */
static void append_module(struct buf *out, const hlo_module *module, enum hlo_print_style style,
                          bool rewriting)
{
    SCOPED_TEXT canonical = hlo_print(module, style);
    if ((rewriting || style == HLO_PRINT_COMMENTED) &&
        memmem(canonical.data, canonical.size, "\nStackFrames\n", 13))
        canonical = print_again(canonical, style);
    size_t size = canonical.size;
    while (rewriting && size > 0 && canonical.data[size - 1] == '\n')
        size--;
    buf_bytes(out, canonical.data, size);
    if (size > 0 && canonical.data[size - 1] != '\n')
        buf_putc(out, '\n');
}

/* Formats all parts of a file; false when a part was rejected. */
static bool format_parts(const struct options *o, const hlo_file *f, hlo_messages *m,
                         struct buf *out)
{
    for (size_t part = 0; part < hlo_file_count(f); part++) {
        SCOPED_MODULE *module = hlo_parse(f, part, m);
        if (!module)
            return false;
        struct str text = STR("");
        uint32_t first_line;
        if (!hlo_file_is_proto(f))
            text.ptr = hlo_file_text(f, part, &text.len, &first_line);
        if (part > 0)
            buf_puts(out, "// -----\n");
        append_module(out, module, style_of(o, f, text), is_rewriting(o));
    }
    return true;
}

/* The whole text of the file; parts are slices of it without the separating lines. */
static struct str whole_text(const hlo_file *f)
{
    size_t size, last_size;
    uint32_t line;
    const char *first = hlo_file_text(f, 0, &size, &line);
    const char *last = hlo_file_text(f, hlo_file_count(f) - 1, &last_size, &line);
    return (struct str){first, (size_t)(last + last_size - first)};
}

static int put_back(const struct options *o, const char *path, const hlo_file *f,
                    const struct buf *new_text, hlo_messages *m)
{
    struct str old = whole_text(f);
    bool changed = !str_eq(old, buf_view(new_text));
    if (o->given[OPT_DIFF]) {
        struct buf diff = {0};
        put_diff(&diff, path, old, buf_view(new_text));
        print_buf(&diff);
    }
    if (o->given[OPT_CHECK_FORMAT] && changed)
        printf("%s\n", path);
    if (o->given[OPT_IN_PLACE])
        return changed && !hlo_write_text(path, new_text->data, new_text->size, m) ? HLO_USAGE
                                                                                   : HLO_OK;
    return changed ? HLO_DIFFERS : HLO_OK;
}

static int format_file(const struct options *o, const char *path, hlo_messages *m)
{
    bool back = is_rewriting(o);
    if (o->given[OPT_IN_PLACE] && strcmp(path, "-") == 0)
        return usage_error(o, "cannot rewrite standard input in place");
    if (o->given[OPT_IN_PLACE] && (ends_with(path, ".gz") || ends_with(path, ".npz")))
        return usage_error(o, "cannot rewrite '%s' in place: not a plain text file", path);
    SCOPED_FILE *f = open_file(o, path, m);
    if (!f)
        return HLO_USAGE;
    if (back && hlo_file_is_proto(f))
        return usage_error(o, "'%s' is not text", path);
    SCOPED_BUF out = {0};
    int status = HLO_OK;
    if (!format_parts(o, f, m, &out))
        status = HLO_REJECTED;
    else if (back)
        status = put_back(o, path, f, &out, m);
    else
        print_hlo(o, buf_view(&out));
    return status;
}

int fmt_command(const struct options *o)
{
    struct files files = {0};
    int worst = files_of(&files, o, o->args, o->arg_count) ? HLO_OK : HLO_USAGE;
    for (size_t i = 0; i < files.count; i++) {
        SCOPED_MESSAGES *m = hlo_messages_new();
        int status = format_file(o, files.at[i], m);
        report(o, m);
        worst = status > worst ? status : worst;
    }
    files_free(&files);
    return worst;
}
