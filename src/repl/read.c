/*
 * repl/read: entries from a terminal, or from the lines of a file.
 */
#include "repl/session.h"

static enum file_line read_line(struct input *in)
{
    const enum file_line got = file_line(in->file, &in->entry);
    in->line += got != FILE_END;
    return got;
}

static enum line_result read_file(struct input *in)
{
    in->entry.size = 0;
    in->first = in->line + 1;
    enum file_line got = read_line(in);
    if (got == FILE_END)
        return LINE_END;
    struct syntax_progress progress = {0};
    while (got == FILE_LINE && !syntax_complete_so_far(&progress, buf_view(&in->entry)))
        got = read_line(in);
    return got == FILE_ENDLESS ? LINE_ENDLESS : LINE_ENTRY;
}

static void prompt_of(const struct session *s, struct buf *out)
{
    const struct running *r = s->running;
    if (!r || !r->at)
        buf_puts(out, s->prompt);
    else
        buf_printf(out, "%s> ", hlo_list_inst(r->listing, r->at->inst).name);
}

enum line_result reader_read(struct session *s)
{
    struct input *in = s->input;
    if (!in->editor)
        return read_file(in);
    struct buf prompt = {0};
    prompt_of(s, &prompt);
    say_flush(s);
    s->o->interrupt_end(); /* what comes from now on is meant for this entry */
    enum line_result result = line_read(in->editor, prompt.data, "...> ", &in->entry);
    buf_free(&prompt);
    in->first = 1;
    return result;
}

void reader_close(struct input *in)
{
    line_close(in->editor);
    if (in->file && in->file != stdin)
        fclose(in->file);
    buf_free(&in->entry);
}
