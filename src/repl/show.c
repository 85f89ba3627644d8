/*
 * repl/show: prints values to the screen or a file in the format of .mode.
 */
#include "repl/session.h"

#include <errno.h>
#include <unistd.h>

/* ---- output files ---- */

bool may_write(struct session *s, const char *path)
{
    return !s->o->confined || !strchr(path, '/') ||
           report_error(s, HLO_USAGE,
                        "%s: this session can only write files in the current directory",
                        path) == HLO_OK;
}

/* Flushes the output and reports write errors. */
static int leave_output(struct session *s)
{
    FILE *f = s->out;
    if (f == stdout)
        return HLO_OK;
    report_flush(s);
    const int error = s->out_error ? s->out_error : ferror(f) ? EIO : 0;
    s->out = stdout;
    s->out_error = 0;
    fclose(f);
    return error ? report_error(s, HLO_USAGE, "%s: cannot write: %s", s->out_path, strerror(error))
                 : HLO_OK;
}

int output_to(struct session *s, const char *path, bool once)
{
    if (path && !may_write(s, path))
        return HLO_USAGE;
    FILE *f = path && s->mode != SHOW_NPY ? fopen(path, "w") : stdout;
    if (!f)
        return report_error(s, HLO_USAGE, "%s: %s", path, strerror(errno));
    int status = leave_output(s);
    repl_set(&s->out_path, path);
    s->out = f;
    s->once = once;
    return status;
}

/* ---- tables ---- */

enum { COLUMNS = 12 };

static void put_cell(struct session *s, const hlo_literal *l, int64_t row, int64_t column,
                     size_t rank)
{
    char index[64];
    SCOPED_MESSAGES *m = hlo_messages_new();
    snprintf(index, sizeof index, rank == 2 ? "[%" PRId64 ",%" PRId64 "]" : "[%" PRId64 "]", row,
             column);
    SCOPED_LITERAL *element = hlo_literal_slice(l, index, m);
    SCOPED_TEXT text = element ? hlo_literal_print(element, false) : (hlo_text){0};
    fprintf(s->out, " %12s", text.data ? text.data : "");
}

/* Prints one-dimensional arrays as a column, two-dimensional ones as rows; false for others. */
static bool put_table(struct session *s, struct str name, const hlo_literal *l)
{
    if (hlo_literal_leaves(l) != 1 || hlo_literal_count(l) > 0)
        return false;
    struct hlo_array a = hlo_literal_leaf(l, 0);
    if (a.rank != 1 && a.rank != 2)
        return false;
    int64_t max = (int64_t)s->view.max, rows = a.dims[0], columns = a.rank == 2 ? a.dims[1] : 1;
    int64_t shown = rows < max ? rows : max, wide = columns < COLUMNS ? columns : COLUMNS;
    fprintf(s->out, a.rank == 2 ? "%-6.*s " : "%.*s", STR_ARG(name));
    for (int64_t c = 0; c < wide && a.rank == 2; c++)
        fprintf(s->out, " %12" PRId64, c);
    fputc('\n', s->out);
    for (int64_t r = 0; r < shown; r++) {
        fprintf(s->out, "%6" PRId64 " ", r);
        for (int64_t c = 0; c < wide; c++)
            put_cell(s, l, r, c, a.rank);
        fputs(wide < columns ? " ...\n" : "\n", s->out);
    }
    if (shown < rows || wide < columns) {
        SCOPED_TEXT line = hlo_literal_summary(l);
        fprintf(s->out, "   ...  %s\n", line.data);
    }
    return true;
}

/* ---- other formats ---- */

enum { DEFAULT_WIDTH = 80 };

/* Prints the lines of an array aligned after its name. */
static void put_lines(struct session *s, hlo_text text, size_t indent)
{
    const char *line = text.data, *end;
    while ((end = strchr(line, '\n')) && end[1]) {
        fwrite(line, 1, (size_t)(end + 1 - line), s->out);
        fprintf(s->out, "%*s", (int)indent, "");
        line = end + 1;
    }
    fputs(line, s->out);
}

static void put_hlo(struct session *s, struct str name, struct str index, const hlo_literal *l)
{
    struct hlo_view v = s->view;
    size_t indent = name.len + index.len + 3, width = v.width ? v.width : DEFAULT_WIDTH;
    bool row =
        hlo_literal_count(l) == 0 && hlo_literal_leaves(l) == 1 && hlo_literal_leaf(l, 0).rank == 1;
    bool narrow = row && indent < width / 2;
    if (narrow)
        v.width = width - indent;
    if (row && hlo_literal_leaf(l, 0).elements > v.max) /* most of it is elided */
        v.width = SIZE_MAX;
    SCOPED_TEXT text = hlo_literal_show(l, &v);
    fprintf(s->out, STR_FMT STR_FMT " = ", STR_ARG(name), STR_ARG(index));
    put_lines(s, text, narrow ? indent : 0);
    if (text.size == 0 || text.data[text.size - 1] != '\n')
        fputc('\n', s->out);
}

static void put_json(struct session *s, struct str name, struct str index, const hlo_literal *l)
{
    SCOPED_BUF b = {0}, whole = {0};
    SCOPED_TEXT value = hlo_literal_json(l, &s->view);
    buf_str(&whole, name);
    buf_str(&whole, index);
    buf_puts(&b, "{\"schema\":1,\"name\":");
    buf_json_str(&b, buf_view(&whole));
    fwrite(b.data, 1, b.size, s->out);
    fprintf(s->out, ",\"value\":%s}\n", value.data);
}

static void put_summary(struct session *s, struct str name, struct str index, const hlo_literal *l)
{
    SCOPED_TEXT line = hlo_literal_summary(l);
    fprintf(s->out, STR_FMT STR_FMT ": %s\n", STR_ARG(name), STR_ARG(index), line.data);
}

static int put_npy(struct session *s, const hlo_literal *l, hlo_messages *m)
{
    if (s->out_path)
        return hlo_write_npy(s->out_path, l, m) ? HLO_OK : HLO_USAGE;
    add_error(s, m, ".mode npy requires a file: use .once FILE.npy or .output FILE.npy");
    return HLO_USAGE;
}

static int show_literal(struct session *s, struct str name, struct str index, const hlo_literal *l,
                        hlo_messages *m)
{
    switch (s->mode) {
    case SHOW_NPY: return put_npy(s, l, m);
    case SHOW_JSON: put_json(s, name, index, l); break;
    case SHOW_SUMMARY: put_summary(s, name, index, l); break;
    case SHOW_TABLE:
        if (put_table(s, name, l))
            break;
        put_hlo(s, name, index, l);
        break;
    case SHOW_HLO: put_hlo(s, name, index, l); break;
    }
    return HLO_OK;
}

/* The slice selected by INDEX, or the whole value, which is borrowed; false with a message. */
static bool cut_piece(struct str index, const struct shared_value *h, hlo_literal **piece,
                      hlo_messages *m)
{
    *piece = NULL;
    if (!index.len)
        return true;
    char *text = heap_str(index);
    *piece = hlo_literal_slice(h->l, text, m);
    repl_set(&text, NULL);
    return *piece != NULL;
}

int show_value(struct session *s, struct str name, struct str index, const struct shared_value *h)
{
    hlo_messages *m = hlo_messages_new();
    hlo_literal *piece;
    int status = cut_piece(index, h, &piece, m)
                     ? show_literal(s, name, index, piece ? piece : h->l, m)
                     : HLO_USAGE;
    hlo_literal_free(piece);
    report_messages(s, m);
    return status;
}

int plot_value(struct session *s, struct str index, const struct shared_value *h,
               enum hlo_plot kind, const char *png)
{
    hlo_messages *m = hlo_messages_new();
    hlo_literal *piece;
    bool ok = cut_piece(index, h, &piece, m);
    const hlo_literal *l = piece ? piece : h->l;
    if (ok && png) {
        ok = hlo_write_png(png, l, m);
    } else if (ok) {
        enum {
            BESIDE = 8,
            AROUND = 5,
            LEAST = 20
        }; /* space for scales and notes, and for the prompt below */
        size_t columns, rows;
        bool terminal = on_terminal(s);
        line_window(&columns, &rows);
        columns = s->view.width ? s->view.width : columns;
        struct hlo_canvas c = {
            .size = sizeof c, .color = terminal && s->o->colors, .utf8 = terminal && line_utf8()};
        if (terminal && columns > LEAST && rows > 2 * AROUND) {
            c.width = columns - BESIDE;
            c.height = rows - AROUND;
        }
        put_text(s, hlo_literal_plot(l, kind, &c));
    }
    hlo_literal_free(piece);
    report_messages(s, m);
    return ok ? HLO_OK : HLO_USAGE;
}
