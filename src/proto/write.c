/*
 * write.c: modules, computations and instructions as messages, with the ids and the order that XLA
 * gives them: ids and computations in the order of the text, instructions in postorder.
 */
#include "proto/write_priv.h"

/* ---- messages and their parts ---- */

void proto_write_error(struct writer *w, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    const struct str what = arena_vprintf(&w->ds->arena, format, ap);
    va_end(ap);
    w->failed = true;
    DIAG(w->ds, w->inst ? w->inst->span : NO_SPAN, PROTO_NO_FORM, STR_ARG(what));
}

void *proto_new(struct writer *w, const ProtobufCMessageDescriptor *d)
{
    void *m = arena_zalloc(w->a, d->sizeof_message);
    protobuf_c_message_init(d, m);
    return m;
}

char *proto_new_string(struct writer *w, struct str s)
{
    if (!wire_is_text(s))
        proto_write_error(w, "a string that is not UTF-8 text");
    return (char *)(uintptr_t)arena_str(w->a, s).ptr;
}

ProtobufCBinaryData proto_bytes(struct str s)
{
    return (ProtobufCBinaryData){s.len, (uint8_t *)(uintptr_t)s.ptr};
}

static int64_t computation_id(const struct computation *c) { return c->index; }

int64_t proto_inst_id(const struct inst *i)
{
    return (int64_t)((uint64_t)computation_id(i->parent) << 32 | (uint64_t)i->index);
}

/* ---- instructions ---- */

static inst_proto *of_inst(struct writer *w, const struct inst *i)
{
    inst_proto *out = NEW(w, hlo_instruction_proto);
    w->inst = i;
    out->name = proto_new_string(w, i->name);
    out->opcode = (char *)(uintptr_t)op_spelling((enum opcode)i->opcode);
    out->shape = proto_of_shape(w, i->shape);
    out->id = proto_inst_id(i);
    NEW_LIST(w, out, operand_ids, i->operand_count);
    for (int k = 0; k < i->operand_count; k++)
        out->operand_ids[k] = proto_inst_id(i->operands[k]);
    int count;
    struct computation **callees = inst_callee_list(w->a, i, &count);
    NEW_LIST(w, out, called_computation_ids, count);
    for (int k = 0; k < count; k++)
        out->called_computation_ids[k] = computation_id(callees[k]);
    if (i->opcode == OP_PARAMETER)
        out->parameter_number = i->number;
    else if (i->opcode == OP_CONSTANT)
        out->literal = proto_of_literal(w, i->literal);
    proto_write_attributes(w, i, out);
    w->inst = NULL;
    return out;
}

/* ---- computations ---- */

static Xla__ProgramShapeProto *of_program_shape(struct writer *w, const struct computation *c)
{
    Xla__ProgramShapeProto *out = NEW(w, program_shape_proto);
    NEW_LIST(w, out, parameters, c->param_count);
    NEW_LIST(w, out, parameter_names, c->param_count);
    for (int k = 0; k < c->param_count; k++) {
        out->parameters[k] = proto_of_shape(w, c->params[k]->shape);
        out->parameter_names[k] = proto_new_string(w, c->params[k]->name);
    }
    out->result = proto_of_shape(w, c->root->shape);
    return out;
}

static Xla__HloComputationProto *of_computation(struct writer *w, const struct computation *c)
{
    Xla__HloComputationProto *out = NEW(w, hlo_computation_proto);
    out->name = proto_new_string(w, c->name);
    out->id = computation_id(c);
    out->root_id = proto_inst_id(c->root);
    out->is_fusion_computation = c->fused;
    if (!str_is(c->execution_thread, "main"))
        out->execution_thread = proto_new_string(w, c->execution_thread);
    out->program_shape = of_program_shape(w, c);
    struct inst **order = computation_postorder(w->a, c);
    NEW_LIST(w, out, instructions, c->inst_count);
    for (int k = 0; k < c->inst_count; k++)
        out->instructions[k] = of_inst(w, order[k]);
    return out;
}

/* ---- the header ---- */

static Xla__ProgramShapeProto *of_entry_layout(struct writer *w, const struct module *m)
{
    Xla__ProgramShapeProto *out = NEW(w, program_shape_proto);
    const int count = m->entry_result ? m->entry_param_count : m->entry->param_count;
    NEW_LIST(w, out, parameters, count);
    NEW_LIST(w, out, parameter_names, count);
    for (int k = 0; k < count; k++) {
        out->parameters[k] =
            proto_of_shape(w, m->entry_result ? m->entry_params[k] : m->entry->params[k]->shape);
        out->parameter_names[k] = (char *)(uintptr_t)arena_printf(w->a, "p%d", k).ptr;
    }
    out->result = proto_of_shape(w, m->entry_result ? m->entry_result : m->entry->root->shape);
    return out;
}

static Xla__HloScheduleProto *of_schedule(struct writer *w, const struct module *m)
{
    Xla__HloScheduleProto *out = NEW(w, hlo_schedule_proto);
    NEW_LIST(w, out, sequences, m->computation_count);
    out->n_sequences = 0;
    for (int c = 0; c < m->computation_count; c++) {
        const struct computation *comp = m->computations[c];
        if (comp->fused)
            continue;
        Xla__HloScheduleProto__SequencesEntry *e = out->sequences[out->n_sequences++] =
            NEW(w, hlo_schedule_proto__sequences_entry);
        e->key = computation_id(comp);
        e->value = NEW(w, hlo_schedule_proto__instruction_sequence);
        NEW_LIST(w, e->value, instruction_ids, comp->inst_count);
        for (int k = 0; k < comp->inst_count; k++)
            e->value->instruction_ids[k] = proto_inst_id(comp->insts[k]);
    }
    return out;
}

static Xla__HloInputOutputAliasProto *of_aliases(struct writer *w, struct aliasing a)
{
    Xla__HloInputOutputAliasProto *out = NEW(w, hlo_input_output_alias_proto);
    NEW_LIST(w, out, entries, a.count);
    for (int k = 0; k < a.count; k++) {
        Xla__HloInputOutputAliasProto__AliasEntryProto *e = out->entries[k] =
            NEW(w, hlo_input_output_alias_proto__alias_entry_proto);
        SET_INTS(e, output_shape_index, a.at[k].output);
        e->parameter_number = a.at[k].operand;
        SET_INTS(e, parameter_shape_index, a.at[k].index);
        e->kind = a.at[k].must ? XLA__KIND__MUST_ALIAS : XLA__KIND__MAY_ALIAS;
    }
    return out;
}

static Xla__HloBufferDonorProto *of_donors(struct writer *w, struct aliasing a)
{
    Xla__HloBufferDonorProto *out = NEW(w, hlo_buffer_donor_proto);
    NEW_LIST(w, out, entries, a.count);
    for (int k = 0; k < a.count; k++) {
        out->entries[k] = NEW(w, hlo_buffer_donor_proto__buffer_donor_entry_proto);
        out->entries[k]->parameter_number = a.at[k].operand;
        SET_INTS(out->entries[k], parameter_shape_index, a.at[k].index);
    }
    return out;
}

static void set_strings(struct writer *w, char **to, const struct str *from, size_t count)
{
    for (size_t k = 0; k < count; k++)
        to[k] = proto_new_string(w, from[k]);
}

static Xla__StackFrameIndexProto *of_frames(struct writer *w, const struct stack_frame_tables *t)
{
    Xla__StackFrameIndexProto *out = NEW(w, stack_frame_index_proto);
    NEW_LIST(w, out, file_names, t->file_count);
    set_strings(w, out->file_names, t->files, out->n_file_names);
    NEW_LIST(w, out, function_names, t->function_count);
    set_strings(w, out->function_names, t->functions, out->n_function_names);
    NEW_LIST(w, out, file_locations, t->location_count);
    for (int k = 0; k < t->location_count; k++) {
        Xla__StackFrameIndexProto__FileLocation *l = out->file_locations[k] =
            NEW(w, stack_frame_index_proto__file_location);
        l->file_name_id = t->locations[k].file;
        l->function_name_id = t->locations[k].function;
        l->line = t->locations[k].line;
        l->column = t->locations[k].column;
        l->end_line = t->locations[k].end_line;
        l->end_column = t->locations[k].end_column;
    }
    NEW_LIST(w, out, stack_frames, t->frame_count);
    for (int k = 0; k < t->frame_count; k++) {
        out->stack_frames[k] = NEW(w, stack_frame_index_proto__stack_frame);
        out->stack_frames[k]->file_location_id = t->frames[k].location;
        out->stack_frames[k]->parent_frame_id = t->frames[k].parent;
    }
    return out;
}

static Xla__HloModuleProto *write_module(struct writer *w, const struct module *m);

static Xla__OriginalValueRecoveryTableProto *of_recovery(struct writer *w, const struct module *m)
{
    Xla__OriginalValueRecoveryTableProto *out = NEW(w, original_value_recovery_table_proto);
    NEW_LIST(w, out, entries, m->recovery_count);
    for (int k = 0; k < m->recovery_count; k++) {
        Xla__OriginalValueRecoveryTableProto__Entry *e = out->entries[k] =
            NEW(w, original_value_recovery_table_proto__entry);
        e->old_original_array = proto_of_origin_leaf(w, &m->recovery[k].old_value);
        e->new_original_array = proto_of_origin_leaf(w, &m->recovery[k].new_value);
        if (m->recovery[k].module)
            e->recovery_module = write_module(w, m->recovery[k].module);
    }
    return out;
}

static void warn(struct writer *w, const char *name) { DIAG(w->ds, NO_SPAN, PROTO_DROPPED, name); }

/* Attributes of the text that the message does not have. */
static void warn_of_loss(struct writer *w, const struct module *m)
{
    if (m->replica_count != 1)
        warn(w, "replica_count");
    if (m->num_partitions != 1)
        warn(w, "num_partitions");
    if (m->alias_passthrough_params)
        warn(w, "alias_passthrough_params");
    if (m->spmd_to_parameters.count)
        warn(w, "allow_spmd_sharding_propagation_to_parameters");
    if (m->spmd_to_output.count)
        warn(w, "allow_spmd_sharding_propagation_to_output");
    if (m->debug_attributes.len)
        warn(w, "debug_attributes");
}

static void set_header(struct writer *w, const struct module *m, Xla__HloModuleProto *out)
{
    out->name = proto_new_string(w, m->name);
    out->entry_computation_name = proto_new_string(w, m->entry->name);
    out->entry_computation_id = computation_id(m->entry);
    out->host_program_shape = of_entry_layout(w, m);
    out->input_output_alias = of_aliases(w, m->input_output_alias);
    out->buffer_donor = of_donors(w, m->buffer_donor);
    out->frontend_attributes = proto_of_frontend(w, &m->frontend);
    if (m->is_scheduled)
        out->schedule = of_schedule(w, m);
    if (m->frames.given)
        out->stack_frame_index = of_frames(w, &m->frames);
    if (m->recovery_count)
        out->original_value_recovery_table = of_recovery(w, m);
    warn_of_loss(w, m);
}

/* Whether all callees precede their callers in the module's list, as in a parsed module. */
static bool callees_precede(struct writer *w, const struct module *m)
{
    int count;
    for (int c = 0; c < m->computation_count; c++)
        for (int k = 0; k < m->computations[c]->inst_count; k++) {
            struct computation **callees =
                inst_callee_list(w->a, m->computations[c]->insts[k], &count);
            for (int n = 0; n < count; n++)
                if (callees[n]->index >= c)
                    return false;
        }
    return true;
}

static Xla__HloModuleProto *write_module(struct writer *w, const struct module *m)
{
    Xla__HloModuleProto *out = NEW(w, hlo_module_proto);
    set_header(w, m, out);
    int count = m->computation_count;
    struct computation **order =
        callees_precede(w, m) ? m->computations : module_order(w->a, m, &count);
    NEW_LIST(w, out, computations, count);
    for (int k = 0; k < count; k++)
        out->computations[k] = of_computation(w, order[k]);
    return out;
}

/* ---- files ---- */

bool proto_write(struct diags *ds, const struct module *m, const struct proto_sink *to)
{
    SCOPED_ARENA a = arena_make();
    struct writer w = {.a = &a, .ds = ds, .m = m};
    const Xla__HloModuleProto *p = write_module(&w, m);
    return !w.failed && proto_encode(ds, &p->base, to);
}

bool proto_write_literal(struct diags *ds, const struct literal *l, const struct proto_sink *to)
{
    SCOPED_ARENA a = arena_make();
    struct writer w = {.a = &a, .ds = ds};
    const Xla__LiteralProto *p = proto_of_literal(&w, l);
    return p && !w.failed && proto_encode(ds, &p->base, to);
}
