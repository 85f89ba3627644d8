/*
 * repl/reader: reads entries from a terminal or a file, and evaluates them one after the other.
 */
#include "repl/session.h"

#include <errno.h>

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

/* The next entry of the current input. */
static enum line_result reader_read(struct session *s)
{
    struct input *in = s->input;
    if (!in->editor)
        return read_file(in);
    SCOPED_BUF prompt = {0};
    prompt_of(s, &prompt);
    report_flush(s);
    s->o->interrupt_end(); /* Ctrl-C from now on is for this entry */
    enum line_result result = line_read(in->editor, prompt.data, "...> ", &in->entry);
    in->first = 1;
    return result;
}

static void reader_close(struct input *in)
{
    line_close(in->editor);
    if (in->file && in->file != stdin)
        fclose(in->file);
    buf_free(&in->entry);
}

/* Reads until the end of input, .quit, or, with .bail, the first error. */
int session_read(struct session *s)
{
    int status = HLO_OK;
    while (!s->leaving && !(s->running && s->running->at && s->debugger.stepping != STOPPED)) {
        enum line_result got = reader_read(s);
        if (got == LINE_CANCELLED)
            continue;
        if (got == LINE_END)
            break;
        if (got == LINE_ENDLESS) {
            status = report_error(s, HLO_LIMIT, "entry too long: %s", file_problem(EFBIG));
            break;
        }
        struct buf entry =
            s->input->entry; /* its own buffer: nested prompts read other entries meanwhile */
        s->input->entry = (struct buf){0};
        status = entry_do(s, buf_view(&entry));
        buf_free(&entry);
        if (status != HLO_OK && s->bail)
            break;
    }
    return s->bail ? status : HLO_OK;
}

int input_all(struct session *s, struct input *in)
{
    in->outer = s->input;
    s->input = in;
    int status = session_read(s);
    s->input = in->outer;
    reader_close(in);
    return status;
}

enum { SOURCE_DEPTH = 20 };

int source_file(struct session *s, const char *path, bool must_exist)
{
    struct input in = {.name = path, .file = fopen(path, "r")};
    int depth = 0;
    for (const struct input *outer = s->input; outer; outer = outer->outer)
        depth++;
    if (in.file && depth < SOURCE_DEPTH)
        return input_all(s, &in);
    if (in.file) {
        fclose(in.file);
        return report_error(s, HLO_LIMIT, "%s: .source nested more than %d deep", path,
                            SOURCE_DEPTH);
    }
    return must_exist ? report_error(s, HLO_USAGE, "%s: %s", path, strerror(errno)) : HLO_OK;
}
