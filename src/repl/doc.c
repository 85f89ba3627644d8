/*
 * repl/doc: what an operation does, from the tables of the language.
 */
#include "repl/session.h"

#include <stdlib.h>

/* Behind the names of attributes. */
enum { INDENT = 6 };

static void put_attribute(struct session *s, size_t op, size_t i, const struct hlo_op_attribute *a)
{
    struct buf line = {0};
    const char *word;
    buf_printf(&line, "  %s=%s  %s%s", a->name, a->kind, a->help, a->required ? " (required)" : "");
    for (size_t k = 0; (word = hlo_op_attribute_word(op, i, k)); k++)
        buf_printf(&line, "%s%s", k ? ", " : " One of: ", word);
    buf_putc(&line, '\n');
    put_folded(s, 0, INDENT, line.data);
    buf_free(&line);
}

/* As one would type it here: each parameter a value of its own. */
static void put_example(struct session *s, size_t op)
{
    struct hlo_op_example e;
    if (!hlo_op_example(op, 0, &e))
        return;
    hlo_text text = hlo_op_example_text(op, 0, e.dtype, e.other);
    fprintf(s->out, "\nexample:\n%s", text.data);
    if (e.args && *e.args)
        fprintf(s->out, "\nwith\n%s\n", e.args);
    fprintf(s->out, "makes\n%s\n", e.result);
    hlo_text_free(&text);
}

static void put_op(struct session *s, size_t op)
{
    struct hlo_op o = hlo_op_get(op);
    struct hlo_op_attribute a;
    fprintf(s->out, "%s(%s): ", o.name, o.form);
    put_folded(s, strlen(o.name) + strlen(o.form) + 4, 2, o.help);
    fputs("\n\n", s->out);
    put_folded(s, 0, 0, o.rule);
    fputc('\n', s->out);
    for (size_t i = 0; hlo_op_attribute(op, i, &a); i++)
        put_attribute(s, op, i, &a);
    put_example(s, op);
}

/* A word is an op, or a form: another name of one. `near`: what was meant, perhaps. */
static bool find_op(struct str word, size_t *out, const char **near)
{
    unsigned best = word.len > 4 ? 3 : 2;
    struct hlo_form form;
    *near = "";
    for (size_t i = 0; (form = hlo_form_get(i)).name; i++)
        if (str_is(word, form.name))
            word = str_of(form.op);
    for (size_t i = 0; i < hlo_op_count(); i++) {
        unsigned d = str_distance(word, str_of(hlo_op_get(i).name), best);
        if (d < best) {
            best = d;
            *near = hlo_op_get(i).name;
            *out = i;
        }
    }
    return best == 0;
}

int cmd_doc(struct session *s, struct str args)
{
    struct str word = next_word(&args);
    const char *near;
    size_t op = 0;
    if (word.len == 0)
        return command_usage(s, "doc");
    if (find_op(word, &op, &near)) {
        put_op(s, op);
        return HLO_OK;
    }
    if (*near)
        return say_error(s, HLO_USAGE, "no operation is called `" STR_FMT "`; did you mean `%s`?", STR_ARG(word), near);
    return say_error(s, HLO_USAGE, "no operation is called `" STR_FMT "`", STR_ARG(word));
}
