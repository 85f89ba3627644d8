/*
 * hlo annotate: prints a module with the source lines that its instructions were traced from, as
 * comments.
 */
#include "cli/listed.h"

#include <stdio.h>

enum {
    MAX_FRAMES = 100
}; /* per instruction: recursion or cyclic tables can make the list long or endless */

struct annotation {
    struct buf out, last; /* last: the comment above the previous instructions */
    bool known;           /* any source location is known */
};

/* Writes `// model.py:12 (loss) < train.py:40 (step)`, unless it equals the previous comment. */
static void put_frames(struct annotation *a, const hlo_listing *l, size_t inst, struct str indent)
{
    struct hlo_frame f;
    struct buf line = {0};
    for (size_t k = 0; hlo_list_frame(l, inst, k, &f); k++) {
        if (k == MAX_FRAMES) {
            buf_puts(&line, " < ...");
            break;
        }
        buf_printf(&line, "%s %s:%d", k ? " <" : "//", f.file, f.line);
        if (*f.function)
            buf_printf(&line, " (%s)", f.function);
    }
    a->known |= line.size > 0;
    if (line.size > 0 && !str_eq(buf_view(&line), buf_view(&a->last))) {
        buf_str(&a->out, indent);
        buf_str(&a->out, buf_view(&line));
        buf_putc(&a->out, '\n');
    }
    buf_free(&a->last);
    a->last = line;
}

static bool is_instruction(const hlo_listing *l, size_t inst, struct str line)
{
    SCOPED_TEXT text = hlo_list_print(l, inst, HLO_PRINT_FULL);
    return str_eq(line, (struct str){text.data, text.size});
}

/* Finds the next instruction that is printed as this line. Instructions of nested computations are
 * skipped. */
static bool find_next(const hlo_listing *l, size_t *next, struct str line)
{
    const size_t count = hlo_list_count(l);
    for (size_t n = *next; n < count; n++)
        if (is_instruction(l, n, line)) {
            *next = n;
            return true;
        }
    return false;
}

static void annotate_line(struct annotation *a, const hlo_listing *l, size_t *next, struct str line)
{
    size_t blanks = 0;
    while (blanks < line.len && line.ptr[blanks] == ' ')
        blanks++;
    struct str text = line, indent = str_take(&text, blanks);
    if (str_starts(text, STR("ROOT ")))
        text = str_skip(text, 5);
    if (blanks > 0 && memmem(text.ptr, text.len, " = ", 3) && find_next(l, next, text))
        put_frames(a, l, (*next)++, indent);
    else
        a->last.size = 0;
    buf_str(&a->out, line);
    buf_putc(&a->out, '\n');
}

static void report_unknown(const struct listed_module *l)
{
    size_t missing = 0;
    for (size_t i = 0; i < hlo_list_count(l->listing); i++)
        missing += hlo_list_inst(l->listing, i).missing_frame > 0;
    if (missing > 0)
        fprintf(
            stderr,
            "hlo: %s: %zu instruction%s stack frame ids, but the file has no stack frame tables\n",
            l->path, missing, missing == 1 ? " has" : "s have");
    else
        fprintf(stderr, "hlo: %s has no source locations\n", l->path);
}

static int annotate_module(void *context, const struct listed_module *l)
{
    struct annotation a = {0};
    SCOPED_TEXT text = hlo_print(l->module, HLO_PRINT_FULL);
    struct str rest = {text.data, text.size};
    size_t next = 0;
    while (rest.len > 0)
        annotate_line(&a, l->listing, &next, str_cut(&rest, '\n'));
    if (!a.known)
        report_unknown(l);
    bool ok = put_hlo(l->o, buf_view(&a.out), l->m);
    buf_free(&a.out);
    buf_free(&a.last);
    return ok ? HLO_OK : HLO_USAGE;
}

int annotate_command(const struct options *o)
{
    if (o->arg_count > 1)
        return usage_error(o, "expected one file");
    return each_listed(o, o->args, 1, false, annotate_module, NULL);
}
