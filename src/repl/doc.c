/*
 * repl/doc: .doc, the description of an operation, from the tables of the language.
 */
#include "repl/expression.h"

#include <stdlib.h>

/* indentation after names of attributes */
enum { INDENT = 6 };

static void put_attribute(struct session *s, size_t op, size_t i, const struct hlo_op_attribute *a)
{
    SCOPED_BUF line = {0};
    const char *word;
    buf_printf(&line, "  %s=%s  %s%s", a->name, a->kind, a->help, a->required ? " (required)" : "");
    for (size_t k = 0; (word = hlo_op_attribute_word(op, i, k)); k++)
        buf_printf(&line, "%s%s", k ? ", " : " One of: ", word);
    buf_putc(&line, '\n');
    put_wrapped(s, 0, INDENT, line.data);
}

/* Prints Markdown with paragraphs refilled; list items and table rows stay on their own lines. */
static void put_markdown(struct session *s, const char *text)
{
    SCOPED_BUF b = {0};
    for (const char *p = text; *p; p++) {
        const bool kept = *p != '\n' || !p[1] || strchr("\n|-", p[1]) || p[1] == ' ' ||
                          b.data[b.size - 1] == '\n';
        buf_putc(&b, kept ? *p : ' ');
    }
    buf_putc(&b, '\0');
    put_wrapped(s, 0, 0, b.data);
}

static void put_example(struct session *s, size_t op)
{
    struct hlo_op_example e;
    if (!hlo_op_example(op, 0, &e))
        return;
    fprintf(s->out, "\nexample:\n%s", e.text);
    if (*e.args)
        fprintf(s->out, "\narguments:\n%s", e.args);
    fprintf(s->out, "result:\n%s\n", e.result);
}

static void put_op(struct session *s, size_t op)
{
    struct hlo_op o = hlo_op_get(op);
    struct hlo_op_attribute a;
    fprintf(s->out, "%s(%s): ", o.name, o.form);
    put_wrapped(s, strlen(o.name) + strlen(o.form) + 4, 2, o.help);
    fputs("\n\n", s->out);
    put_markdown(s, o.rule);
    fputc('\n', s->out);
    for (size_t i = 0; hlo_op_attribute(op, i, &a); i++)
        put_attribute(s, op, i, &a);
    if (*o.differences) {
        fputs("\nImplementations differ:\n", s->out);
        put_markdown(s, o.differences);
    }
    put_example(s, op);
}

int cmd_doc(struct session *s, struct str args)
{
    struct str word = next_word(&args);
    const size_t op = expression_op_number(word);
    if (word.len == 0)
        return command_usage(s);
    if (op < hlo_op_count()) {
        put_op(s, op);
        return HLO_OK;
    }
    const char *instead = expression_instead(word);
    if (*instead)
        return report_error(s, HLO_USAGE, "unknown operation '" STR_FMT "'; use %s", STR_ARG(word),
                            instead);
    struct nearest n = nearest_to(word);
    for (size_t i = 0; i < hlo_op_count(); i++)
        nearest_try(&n, str_of(hlo_op_get(i).name));
    if (n.found.len)
        return report_error(s, HLO_USAGE, "unknown operation '" STR_FMT "'; did you mean '%s'?",
                            STR_ARG(word), n.found.ptr);
    return report_error(s, HLO_USAGE, "unknown operation '" STR_FMT "'", STR_ARG(word));
}
