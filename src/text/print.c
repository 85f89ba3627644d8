/*
 * print.c: prints modules in XLA's canonical format (grammar/text.md 5), byte for byte: header,
 * tables, computations, instructions, attributes.
 */
#include "text/attr_priv.h"

struct printer {
    struct buf *out;
    struct print_options options; /* with the options that short_form implies */
    struct comments comments;
    struct arena scratch;
};

static void printer_init(struct printer *w, struct buf *out, const struct print_options *options)
{
    *w = (struct printer){.out = out};
    if (options)
        w->options = *options;
    if (w->options.short_form) {
        w->options.large_constants = w->options.no_metadata = w->options.no_percent = true;
        w->options.no_program_shape = w->options.no_control_dependencies = true;
    }
    arena_init(&w->scratch);
}

/* ---- instructions: operands ---- */

/* The operation of an asynchronous chain that is written as `OP-start`: the root of the called
 * computation, if that otherwise has parameters only. */
static const struct inst *sugar_root(const struct inst *i)
{
    while ((i->opcode == OP_ASYNC_DONE || i->opcode == OP_ASYNC_UPDATE) && i->operand_count)
        i = i->operands[0];
    if (i->opcode != OP_ASYNC_START)
        return NULL;
    const struct computation *c = inst_computation(i, A_CALLS);
    return c && computation_is_async_sugar(c) ? c->root : NULL;
}

static bool is_async(const struct inst *i)
{
    return i->opcode == OP_ASYNC_START || i->opcode == OP_ASYNC_UPDATE ||
           i->opcode == OP_ASYNC_DONE;
}

static void print_opcode(struct buf *out, const struct inst *i, const struct inst *root)
{
    const char *spelling = op_spelling((enum opcode)i->opcode);
    if (root) {
        buf_puts(out, op_spelling((enum opcode)root->opcode));
        spelling += sizeof "async" - 1;
    }
    buf_puts(out, spelling);
}

static bool is_shown_in_full(const struct literal *l, const struct print_options *options)
{
    int64_t count;
    if (options->large_constants)
        return true;
    return !shape_is_tuple(l->shape) && shape_elements(l->shape, &count) && count <= 10;
}

static void print_operands(struct printer *w, const struct inst *i)
{
    for (int k = 0; k < i->operand_count; k++) {
        const struct inst *operand = i->operands[k];
        print_separator(w->out, k, !w->options.short_form);
        if (w->options.operand_shapes) {
            shape_print(w->out, operand->shape, !w->options.no_layouts);
            buf_putc(w->out, ' ');
        }
        print_name(w->out, operand->name, &w->options);
    }
}

static void print_body(struct printer *w, const struct inst *i)
{
    if (i->opcode == OP_PARAMETER)
        buf_int(w->out, i->number);
    else if (i->opcode != OP_CONSTANT)
        print_operands(w, i);
    else if (i->literal && is_shown_in_full(i->literal, &w->options))
        (w->options.exact ? text_print_literal_exact : text_print_literal)(w->out, i->literal);
    else
        buf_puts(w->out, "{...}");
}

/* ---- instructions: attributes ---- */

static void print_attr(struct printer *w, const struct inst *i, enum attr_id id, union attr_value v)
{
    buf_puts(w->out, ", ");
    buf_puts(w->out, attr_spelling(id));
    buf_putc(w->out, '=');
    attr_print_value(w->out, id, i, v, &w->options);
}

static void print_attr_if_worth(struct printer *w, const struct inst *i, enum attr_id id)
{
    const struct attr *a = inst_attr(i, id);
    if (a && attr_is_printed(i, a, &w->options))
        print_attr(w, i, id, a->v);
}

/* Prints the default of an attribute that is always printed. */
static void print_usual(struct printer *w, const struct inst *i, enum attr_id id)
{
    static const struct device_list no_groups;
    union attr_value v = {0};
    switch ((enum attr_kind)attr_table[id].kind) {
    case KIND_DEVICE_LIST: v.groups = &no_groups; break;
    case KIND_BOOL: v.b = id == A_LARGEST; break;
    case KIND_SHAPE:
        if (!i->operand_count)
            return;
        v.shape = i->operands[0]->shape;
        break;
    default: break;
    }
    print_attr(w, i, id, v);
}

/* XLA prints all dimensions of a map, independently of the attribute. */
static void print_map_dimensions(struct printer *w, const struct inst *i)
{
    buf_puts(w->out, ", dimensions={");
    for (int d = 0; i->shape && d < i->shape->rank; d++) {
        if (d)
            buf_putc(w->out, ',');
        buf_int(w->out, d);
    }
    buf_putc(w->out, '}');
}

/* Prints the attributes of the opcode, called computations last. */
static void print_own_attrs(struct printer *w, const struct inst *i)
{
    for (const struct op_attr *a = op_table[i->opcode].attrs; a->id != A_NONE; a++) {
        enum attr_id id = (enum attr_id)a->id;
        if (id == A_RESULT_ACCURACY)
            continue;
        if (i->opcode == OP_MAP && id == A_DIMENSIONS)
            print_map_dimensions(w, i);
        else if (a->use & USE_ALWAYS && !inst_has(i, id))
            print_usual(w, i, id);
        else
            print_attr_if_worth(w, i, id);
    }
    if (i->opcode == OP_PARAMETER)
        print_attr_if_worth(w, i, A_PARAMETER_REPLICATION);
}

/* The original value; a get-tuple-element of a tuple instruction has that of the component. */
static const struct attr *origin_of(const struct inst *i)
{
    for (;;) {
        const struct attr *own = inst_attr(i, A_ORIGIN);
        if (own || i->opcode != OP_GET_TUPLE_ELEMENT || !i->operand_count)
            return own;
        const struct inst *tuple = i->operands[0];
        int64_t index = inst_int(i, A_INDEX, -1);
        if (tuple->opcode != OP_TUPLE || index < 0 || index >= tuple->operand_count)
            return NULL;
        i = tuple->operands[index];
    }
}

/* Printed after the attributes of the opcode, in this order. */
static const uint8_t tail_order[] = {
    A_SHARDING,   A_FRONTEND_ATTRIBUTES, A_CONTROL_PREDECESSORS,
    A_STATISTICS, A_RESULT_ACCURACY,     A_ORIGIN,
    A_METADATA,   A_BACKEND_CONFIG,
};
/* The number of those printed for a wrapped root, and of all. */
enum { TAIL_WRAPPED = 5, TAIL_ALL = COUNT_OF(tail_order) };

static void print_tail_attrs(struct printer *w, const struct inst *i, int count, bool frontend)
{
    if (!i->attr_count && i->opcode != OP_GET_TUPLE_ELEMENT)
        return;
    for (int k = 0; k < count; k++) {
        enum attr_id id = (enum attr_id)tail_order[k];
        const struct attr *origin = id == A_ORIGIN ? origin_of(i) : NULL;
        if (origin)
            print_attr(w, i, id, origin->v);
        else if (id != A_ORIGIN && (frontend || id != A_FRONTEND_ATTRIBUTES))
            print_attr_if_worth(w, i, id);
    }
}

/* OP-start prints the attributes of the wrapped OP; OP-update and OP-done do not. Attributes that
 * both the start and the OP have, aliasing or statistics, are printed twice, as XLA does. */
static void print_wrapped_attrs(struct printer *w, const struct inst *start,
                                const struct inst *root)
{
    if (start->opcode != OP_ASYNC_START)
        return;
    const struct attr *frontend = inst_attr(start, A_FRONTEND_ATTRIBUTES);
    print_attr_if_worth(w, start, A_ASYNC_EXECUTION_THREAD);
    print_own_attrs(w, root);
    print_tail_attrs(w, root, TAIL_WRAPPED, !frontend || !frontend->v.frontend.count);
    print_attr_if_worth(w, start, A_OUTPUT_TO_OPERAND_ALIASING);
}

static void print_inst(struct printer *w, const struct inst *i)
{
    const struct inst *root = is_async(i) ? sugar_root(i) : NULL;
    print_name(w->out, i->name, &w->options);
    buf_puts(w->out, " = ");
    if (!w->options.no_result_shape) {
        shape_print(w->out, i->shape, !w->options.no_layouts);
        buf_putc(w->out, ' ');
    }
    print_opcode(w->out, i, root);
    buf_putc(w->out, '(');
    print_body(w, i);
    buf_putc(w->out, ')');
    if (root)
        print_wrapped_attrs(w, i, root);
    else
        print_own_attrs(w, i);
    print_tail_attrs(w, i, TAIL_ALL, true);
}

void text_print_inst(struct buf *out, const struct inst *i, const struct print_options *options)
{
    struct printer w;
    printer_init(&w, out, options);
    print_inst(&w, i);
    arena_free(&w.scratch);
}

/* ---- computations ---- */

static void print_signature(struct printer *w, const struct computation *c)
{
    buf_putc(w->out, ' ');
    for (int k = 0; BUF_LIST(w->out, k, c->param_count, "()", ", "); k++) {
        buf_str(w->out, c->params[k]->name);
        buf_puts(w->out, ": ");
        shape_print(w->out, c->params[k]->shape, false);
    }
    buf_puts(w->out, " -> ");
    shape_print(w->out, c->root->shape, false);
}

static void print_computation(struct printer *w, const struct computation *c)
{
    comments_print_before(w->out, &w->comments, c->span.begin, "");
    if (c->module && c->module->entry == c)
        buf_puts(w->out, "ENTRY ");
    print_name(w->out, c->name, &w->options);
    if (!w->options.no_program_shape)
        print_signature(w, c);
    buf_puts(w->out, " {\n");
    struct arena_mark mark = arena_mark(&w->scratch);
    struct inst **order = computation_order(&w->scratch, c);
    for (int k = 0; k < c->inst_count; k++) {
        comments_print_before(w->out, &w->comments, order[k]->span.begin, "  ");
        buf_puts(w->out, order[k] == c->root ? "  ROOT " : "  ");
        print_inst(w, order[k]);
        comments_print_after(w->out, &w->comments, order[k]->span.begin);
        buf_putc(w->out, '\n');
    }
    arena_release(&w->scratch, mark);
    comments_print_before(w->out, &w->comments, c->span.end - 1, "  ");
    buf_putc(w->out, '}');
    if (c->execution_thread.len && !str_is(c->execution_thread, "main")) {
        buf_puts(w->out, ", execution_thread=");
        print_unescaped(w->out, c->execution_thread);
    }
    comments_print_after(w->out, &w->comments, c->span.end - 1);
}

/* ---- the header line ---- */

/* `, NAME={ ... }`; donors have neither outputs nor kinds. */
static void print_module_aliasing(struct buf *out, const char *name, const struct aliasing *a,
                                  bool donors)
{
    if (!a->count)
        return;
    buf_printf(out, ", %s={ ", name);
    for (int i = 0; BUF_LIST(out, i, a->count, "", ", "); i++)
        print_alias(out, &a->at[i], !donors,
                    donors          ? ""
                    : a->at[i].must ? ", must-alias"
                                    : ", may-alias");
    buf_puts(out, " }");
}

/* A module that was not parsed may lack an entry layout: that of the entry computation is
 * printed. */
static void print_entry_layout(struct printer *w, const struct module *m)
{
    const struct computation *e = m->entry;
    int count = m->entry_result ? m->entry_param_count : e->param_count;
    buf_puts(w->out, ", entry_computation_layout={(");
    for (int i = 0; i < count; i++) {
        print_separator(w->out, i, true);
        shape_print(w->out, m->entry_result ? m->entry_params[i] : e->params[i]->shape, true);
    }
    buf_puts(w->out, ")->");
    shape_print(w->out, m->entry_result ? m->entry_result : e->root->shape, true);
    buf_putc(w->out, '}');
}

/* A single `false` is the default and is omitted. */
static void print_spmd(struct buf *out, const char *name, struct bool_list l)
{
    if (!l.count || (l.count == 1 && !l.at[0]))
        return;
    buf_puts(out, ", ");
    buf_puts(out, name);
    buf_puts(out, "={");
    for (int i = 0; i < l.count; i++)
        buf_puts(out, i ? l.at[i] ? ",true" : ",false" : l.at[i] ? "true" : "false");
    buf_putc(out, '}');
}

static void print_count(struct buf *out, const char *name, int64_t count)
{
    if (count == 1)
        return;
    buf_puts(out, name);
    buf_int(out, count);
}

/* ---- the recovery table ---- */

/* Prints text with every non-empty line indented by four. */
static void print_indented(struct buf *out, struct str text)
{
    for (size_t begin = 0, i = 0; i < text.len; i++) {
        if (text.ptr[i] != '\n')
            continue;
        if (i > begin)
            buf_puts(out, "    ");
        buf_bytes(out, text.ptr + begin, i + 1 - begin);
        begin = i + 1;
    }
}

static void print_recovery_entry(struct printer *w, const struct recovery_entry *e)
{
    buf_puts(w->out, "  ");
    print_origin_leaf(w->out, &e->old_value);
    buf_puts(w->out, " : ");
    print_origin_leaf(w->out, &e->new_value);
    if (e->module) {
        SCOPED_BUF text = {0};
        text_print_module(&text, e->module, NULL); /* XLA does not pass its options on */
        buf_puts(w->out, ",\n  \"\n");
        print_indented(w->out, buf_view(&text));
        buf_puts(w->out, "\n  \"");
    }
    buf_putc(w->out, '\n');
}

static void print_recovery_table(struct printer *w, const struct module *m)
{
    if (!m->recovery_count)
        return;
    buf_puts(w->out, ", origin_recovery_table={\n");
    for (int i = 0; i < m->recovery_count; i++)
        print_recovery_entry(w, &m->recovery[i]);
    buf_puts(w->out, "}\n");
}

/* ---- frame tables ---- */

static void print_strings(struct buf *out, const char *title, const struct str *at, int count)
{
    buf_puts(out, title);
    for (int i = 0; i < count; i++) {
        buf_int(out, i + 1);
        buf_putc(out, ' ');
        text_print_quoted(out, at[i]);
        buf_putc(out, '\n');
    }
}

static void print_frame_tables(struct buf *out, const struct stack_frame_tables *t)
{
    if (!t->given || !t->frame_count)
        return;
    print_strings(out, "\n\nFileNames\n", t->files, t->file_count);
    print_strings(out, "\nFunctionNames\n", t->functions, t->function_count);
    buf_puts(out, "\nFileLocations\n");
    for (int i = 0; i < t->location_count; i++) {
        const struct file_location *l = &t->locations[i];
        buf_printf(out,
                   "%d {file_name_id=%" PRId32 " function_name_id=%" PRId32 " line=%" PRId32
                   " end_line=%" PRId32 " column=%" PRId32 " end_column=%" PRId32 "}\n",
                   i + 1, l->file, l->function, l->line, l->end_line, l->column, l->end_column);
    }
    buf_puts(out, "\nStackFrames\n");
    for (int i = 0; i < t->frame_count; i++)
        buf_printf(out, "%d {file_location_id=%" PRId32 " parent_frame_id=%" PRId32 "}\n", i + 1,
                   t->frames[i].location, t->frames[i].parent + 1);
}

/* ---- modules ---- */

static void print_header(struct printer *w, const struct module *m)
{
    buf_puts(w->out, "HloModule ");
    buf_str(w->out, m->name);
    buf_puts(w->out, m->is_scheduled ? ", is_scheduled=true" : "");
    print_module_aliasing(w->out, "input_output_alias", &m->input_output_alias, false);
    print_module_aliasing(w->out, "buffer_donor", &m->buffer_donor, true);
    buf_puts(w->out, m->alias_passthrough_params ? ", alias_passthrough_params=true" : "");
    print_entry_layout(w, m);
    print_spmd(w->out, "allow_spmd_sharding_propagation_to_parameters", m->spmd_to_parameters);
    print_spmd(w->out, "allow_spmd_sharding_propagation_to_output", m->spmd_to_output);
    print_count(w->out, ", replica_count=", m->replica_count);
    print_count(w->out, ", num_partitions=", m->num_partitions);
    if (m->frontend.count) {
        buf_puts(w->out, ", frontend_attributes=");
        print_frontend_attributes(w->out, &m->frontend);
    }
    if (m->debug_attributes.len) {
        buf_puts(w->out, ", debug_attributes=");
        buf_str(w->out, m->debug_attributes);
    }
    print_recovery_table(w, m);
    if (!w->options.no_metadata)
        print_frame_tables(w->out, &m->frames);
    buf_puts(w->out, "\n\n");
}

void text_print_module(struct buf *out, const struct module *m, const struct print_options *options)
{
    struct printer w;
    printer_init(&w, out, options);
    if (w.options.comments)
        w.comments = comments_of(&w.scratch, m);
    comments_print_before(out, &w.comments, COMMENTS_AT_BEGIN, "");
    print_header(&w, m);
    int count;
    struct computation **order = module_order(&w.scratch, m, &count);
    for (int k = 0; k < count; k++) {
        if (computation_is_async_sugar(order[k]))
            continue;
        print_computation(&w, order[k]);
        buf_puts(out, "\n\n");
    }
    comments_print_before(out, &w.comments, COMMENTS_AT_END, "");
    arena_free(&w.scratch);
}
