/*
 * read.c: unpacks a file, and translates the module with its header.
 */
#include "proto/proto_priv.h"

/* ---- places ---- */

static void set_mark(struct proto_module *p, size_t node)
{
    const uint32_t at = (uint32_t)p->text.size;
    struct source_paths *s = &p->paths;
    if (s->mark_count == 0 || s->marks[s->mark_count - 1].begin != at)
        VEC_PUSH(&p->arena, s->marks, s->mark_count, p->mark_capacity) = (struct path_mark){at, 0};
    s->marks[s->mark_count - 1].node = node;
}

size_t proto_enter(struct reader *r, const char *field, int64_t index)
{
    struct proto_module *p = r->p;
    const size_t outer = r->node;
    VEC_PUSH(&p->arena, p->paths.nodes, p->paths.node_count, p->node_capacity) =
        (struct path_node){field, index, outer, (uint32_t)p->text.size};
    r->node = p->paths.node_count - 1;
    if (!r->inline_values)
        set_mark(p, r->node);
    return outer;
}

void proto_leave(struct reader *r, size_t node)
{
    struct source_paths *s = &r->p->paths;
    /* A part without text is removed; all parts after it are parts of it. */
    if (r->node != node && (r->inline_values || s->nodes[r->node].begin == r->p->text.size))
        s->node_count = r->node;
    r->node = node;
    if (!r->inline_values)
        set_mark(r->p, node);
}

bool proto_error(struct reader *r, const char *field, int64_t index, const char *format, ...)
{
    SCOPED_BUF path = {0};
    if (field)
        proto_enter(r, field, index);
    source_paths_write(&r->p->paths, r->node, &path);
    va_list ap;
    va_start(ap, format);
    const struct str text = arena_vprintf(&r->ds->arena, format, ap);
    va_end(ap);
    r->ds->source->path = arena_str(&r->ds->arena, buf_view(&path));
    return DIAG_ERROR(r->ds, NO_SPAN, PROTO_MALFORMED, STR_ARG(text));
}

/* ---- the header ---- */

static bool put_entry_layout(struct reader *r)
{
    const Xla__ProgramShapeProto *s = r->m->host_program_shape;
    if (!s)
        return proto_error(r, "host_program_shape", -1, "shape of the program is missing");
    const size_t node = proto_enter(r, "host_program_shape", -1);
    if (s->n_parameters != s->n_parameter_names)
        return proto_error(r, "parameter_names", -1, "%zu names for %zu parameters",
                           s->n_parameter_names, s->n_parameters);
    buf_puts(r->out, ", entry_computation_layout={(");
    for (size_t k = 0; k < s->n_parameters; k++) {
        buf_puts(r->out, k ? ", " : "");
        if (!proto_put_shape(r, s->parameters[k], "parameters", (int64_t)k))
            return false;
    }
    buf_puts(r->out, ")->");
    if (!proto_put_shape(r, s->result, "result", -1))
        return false;
    buf_putc(r->out, '}');
    proto_leave(r, node);
    return true;
}

static void put_alias(struct reader *r)
{
    const Xla__HloInputOutputAliasProto *list = r->m->input_output_alias;
    if (!list || list->n_entries == 0)
        return;
    const size_t node = proto_enter(r, "input_output_alias", -1);
    buf_puts(r->out, ", input_output_alias=");
    for (size_t k = 0; BUF_LIST(r->out, k, list->n_entries, "{}", ", "); k++) {
        const Xla__HloInputOutputAliasProto__AliasEntryProto *e = list->entries[k];
        proto_put_ints(r->out, e->n_output_shape_index, e->output_shape_index, "{}");
        buf_printf(r->out, ": (%" PRId64 ", ", e->parameter_number);
        proto_put_ints(r->out, e->n_parameter_shape_index, e->parameter_shape_index, "{}");
        buf_puts(r->out, e->kind == XLA__KIND__MUST_ALIAS ? ", must-alias)" : ", may-alias)");
    }
    proto_leave(r, node);
}

static void put_donors(struct reader *r)
{
    const Xla__HloBufferDonorProto *list = r->m->buffer_donor;
    if (!list || list->n_entries == 0)
        return;
    const size_t node = proto_enter(r, "buffer_donor", -1);
    buf_puts(r->out, ", buffer_donor=");
    for (size_t k = 0; BUF_LIST(r->out, k, list->n_entries, "{}", ", "); k++) {
        const Xla__HloBufferDonorProto__BufferDonorEntryProto *e = list->entries[k];
        buf_printf(r->out, "(%" PRId64 ", ", e->parameter_number);
        proto_put_ints(r->out, e->n_parameter_shape_index, e->parameter_shape_index, "{}");
        buf_putc(r->out, ')');
    }
    proto_leave(r, node);
}

static bool put_module(struct reader *r);

/* The module of an entry is a string, whose constants are written in full. */
static bool put_recovery_module(struct reader *r, const Xla__HloModuleProto *m)
{
    SCOPED_BUF text = {0};
    SCOPED_READER inner = {.p = r->p,
                           .ds = r->ds,
                           .a = r->a,
                           .scratch = arena_make(),
                           .out = &text,
                           .m = m,
                           .node = r->node,
                           .inline_values = true};
    proto_enter(&inner, "recovery_module", -1);
    if (!put_module(&inner))
        return false;
    proto_leave(&inner, r->node);
    buf_puts(r->out, ", ");
    text_print_quoted(r->out, buf_view(&text));
    return true;
}

static bool put_recovery_table(struct reader *r)
{
    const Xla__OriginalValueRecoveryTableProto *t = r->m->original_value_recovery_table;
    if (!t || t->n_entries == 0)
        return true;
    const size_t node = proto_enter(r, "original_value_recovery_table", -1);
    buf_puts(r->out, ", origin_recovery_table={\n");
    for (size_t k = 0; k < t->n_entries; k++) {
        const Xla__OriginalValueRecoveryTableProto__Entry *e = t->entries[k];
        const size_t entry = proto_enter(r, "entries", (int64_t)k);
        proto_put_origin_leaf(r->out, e->old_original_array);
        buf_puts(r->out, " : ");
        proto_put_origin_leaf(r->out, e->new_original_array);
        if (e->recovery_module && !put_recovery_module(r, e->recovery_module))
            return false;
        buf_putc(r->out, '\n');
        proto_leave(r, entry);
    }
    buf_putc(r->out, '}');
    proto_leave(r, node);
    return true;
}

/* ---- stack frames ---- */

static void put_strings(struct buf *out, const char *title, size_t count, char *const *at)
{
    buf_puts(out, title);
    for (size_t k = 0; k < count; k++) {
        buf_printf(out, "%zu ", k + 1);
        text_print_quoted(out, str_of(at[k]));
        buf_putc(out, '\n');
    }
}

/* In the text, a frame's parent has its number plus one. */
static void put_frames(struct reader *r)
{
    const Xla__StackFrameIndexProto *t = r->m->stack_frame_index;
    if (!t || t->n_stack_frames == 0)
        return;
    const size_t node = proto_enter(r, "stack_frame_index", -1);
    put_strings(r->out, "\nFileNames\n", t->n_file_names, t->file_names);
    put_strings(r->out, "\nFunctionNames\n", t->n_function_names, t->function_names);
    buf_puts(r->out, "\nFileLocations\n");
    for (size_t k = 0; k < t->n_file_locations; k++) {
        const Xla__StackFrameIndexProto__FileLocation *l = t->file_locations[k];
        buf_printf(r->out,
                   "%zu {file_name_id=%" PRId32 " function_name_id=%" PRId32 " line=%" PRId32
                   " end_line=%" PRId32 " column=%" PRId32 " end_column=%" PRId32 "}\n",
                   k + 1, l->file_name_id, l->function_name_id, l->line, l->end_line, l->column,
                   l->end_column);
    }
    buf_puts(r->out, "\nStackFrames\n");
    for (size_t k = 0; k < t->n_stack_frames; k++)
        buf_printf(r->out, "%zu {file_location_id=%" PRId32 " parent_frame_id=%" PRId64 "}\n",
                   k + 1, t->stack_frames[k]->file_location_id,
                   (int64_t)t->stack_frames[k]->parent_frame_id + 1);
    proto_leave(r, node);
}

/* ---- modules ---- */

static bool put_header(struct reader *r)
{
    const struct str name = str_of(r->m->name);
    buf_puts(r->out, "HloModule ");
    buf_str(r->out, name.len ? name_sanitize(r->a, name) : STR("module"));
    buf_puts(r->out, r->m->schedule ? ", is_scheduled=true" : "");
    put_alias(r);
    put_donors(r);
    if (!put_entry_layout(r))
        return false;
    if (r->m->frontend_attributes && r->m->frontend_attributes->n_map) {
        const size_t node = proto_enter(r, "frontend_attributes", -1);
        buf_puts(r->out, ", frontend_attributes=");
        proto_put_frontend(r->out, r->m->frontend_attributes);
        proto_leave(r, node);
    }
    if (!put_recovery_table(r))
        return false;
    buf_putc(r->out, '\n');
    put_frames(r);
    buf_putc(r->out, '\n');
    return true;
}

static bool put_module(struct reader *r)
{
    if (!put_header(r) || !proto_read_computations(r))
        return false;
    if (!proto_find_computation(r, r->m->entry_computation_id))
        return proto_error(r, "entry_computation_id", -1, "no computation with id %" PRId64,
                           r->m->entry_computation_id);
    for (size_t k = 0; k < r->m->n_computations; k++)
        if (!proto_put_computation(r, &r->computations[k]))
            return false;
    return true;
}

/* ---- files ---- */

static const ProtobufCMessageDescriptor *descriptor_of(enum proto_kind kind)
{
    switch (kind) {
    case PROTO_MODULE: return &xla__hlo_module_proto__descriptor;
    case PROTO_HLO: return &xla__hlo_proto__descriptor;
    case PROTO_SNAPSHOT: return &xla__hlo_snapshot__descriptor;
    case PROTO_UNOPTIMIZED:
    case PROTO_CONTAINER: return &xla__hlo_unoptimized_snapshot__descriptor;
    default: return NULL;
    }
}

/* The module of a message, and its path as the current part; NULL with an error. */
static const Xla__HloModuleProto *module_of(struct reader *r, enum proto_kind kind)
{
    const ProtobufCMessage *message = r->p->message;
    const Xla__HloModuleProto *m = NULL;
    if (kind == PROTO_MODULE)
        return (const Xla__HloModuleProto *)message;
    if (kind == PROTO_SNAPSHOT) {
        const Xla__HloProto *hlo = ((const Xla__HloSnapshot *)message)->hlo;
        proto_enter(r, "hlo", -1);
        m = hlo ? hlo->hlo_module : NULL;
    } else if (kind == PROTO_HLO) {
        m = ((const Xla__HloProto *)message)->hlo_module;
    } else {
        m = ((const Xla__HloUnoptimizedSnapshot *)message)->hlo_module;
    }
    proto_enter(r, "hlo_module", -1);
    return m ? m : (proto_error(r, NULL, -1, "module is missing"), NULL);
}

bool proto_unpack(struct diags *ds, struct proto_module *p, const struct proto_input *input,
                  const ProtobufCMessageDescriptor *d)
{
    static const struct wire_data data = {
        .message = &xla__literal_proto__descriptor, .kept = 34, .first = 1001, .count = 1002};
    struct str bytes =
        input->kind == PROTO_CONTAINER ? proto_container_message(input->bytes) : input->bytes;
    arena_init(&p->arena);
    if (input->mapped && !input->text)
        p->mapped = input->bytes;
    if (input->text) {
        if (!proto_from_text(ds, input->bytes, d, &p->wire))
            return false;
        bytes = buf_view(&p->wire);
    }
    p->scan = (struct wire_scan){.arena = &p->arena, .data = &data, .normalize = true};
    p->message = wire_unpack(&p->scan, d, bytes);
    if (p->message)
        return true;
    ds->source->path = arena_str(&ds->arena, p->scan.path);
    return DIAG_ERROR(ds, NO_SPAN, PROTO_MALFORMED, STR_ARG(str_of(p->scan.why)));
}

struct proto_module *proto_read(struct diags *ds, const struct proto_input *input)
{
    struct proto_module *p = heap_zalloc(1, sizeof *p);
    bool ok = proto_unpack(ds, p, input, descriptor_of(input->kind));
    if (ok) {
        SCOPED_READER r = {.p = p,
                           .ds = ds,
                           .a = &p->arena,
                           .scratch = arena_make(),
                           .out = &p->text,
                           .node = SIZE_MAX};
        ok = proto_read_stored(&r, input);
        r.m = ok ? module_of(&r, input->kind) : NULL;
        ok = r.m && put_module(&r);
    }
    if (ok && p->text.size >= UINT32_MAX)
        ok = DIAG_ERROR(ds, NO_SPAN, TEXT_TOO_LARGE, p->text.size);
    if (ok)
        return p;
    proto_free(p);
    return NULL;
}

void proto_free(struct proto_module *p)
{
    if (!p)
        return;
    wire_free(p->message);
    buf_free(&p->text);
    buf_free(&p->wire);
    arena_free(&p->arena);
    heap_free(p);
}

struct str proto_text(const struct proto_module *p) { return buf_view(&p->text); }

const struct source_paths *proto_paths(const struct proto_module *p) { return &p->paths; }
