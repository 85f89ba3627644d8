/*
 * hlo test --update: writes the actual outcomes of tests into their file; when CI is set, into
 * FILE.new beside it.
 */
#include "cli/golden.h"

static const struct edit *edit_at(const struct edits *edits, uint32_t line)
{
    for (size_t i = 0; i < edits->count; i++)
        if (edits->at[i].first <= line && line <= edits->at[i].last)
            return &edits->at[i];
    return NULL;
}

static bool put_aside(const char *path, struct str old, struct str new, hlo_messages *m)
{
    struct buf name = {0}, diff = {0};
    buf_printf(&name, "%s.new", path);
    put_diff(&diff, path, old, new);
    fwrite(diff.data, 1, diff.size, stdout);
    bool ok = hlo_write_text(name.data, new.ptr, new.len, m);
    buf_free(&name);
    buf_free(&diff);
    return ok;
}

bool golden_rewrite(const char *path, const struct edits *edits, bool aside, hlo_messages *m)
{
    struct file_bytes bytes;
    struct buf out = {0};
    if (!file_read(path, &bytes)) {
        hlo_messages_add(m, path, "cannot be reread");
        return false;
    }
    struct str rest = {bytes.data, bytes.size};
    for (uint32_t line = 1; rest.len > 0; line++) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        size_t n = end ? (size_t)(end - rest.ptr) + 1 : rest.len;
        const struct edit *e = edit_at(edits, line);
        if (!e)
            buf_bytes(&out, rest.ptr, n);
        else if (e->first == line)
            buf_str(&out, e->text);
        rest.ptr += n;
        rest.len -= n;
    }
    bool ok = aside ? put_aside(path, (struct str){bytes.data, bytes.size}, buf_view(&out), m)
                    : hlo_write_text(path, out.data, out.size, m);
    buf_free(&out);
    file_release(&bytes);
    return ok;
}
