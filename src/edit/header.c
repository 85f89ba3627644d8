/*
 * header.c: adapts the module attributes that depend on the parameters and the result of the entry
 * computation.
 */
#include "edit/edit_priv.h"

#include "text/text.h"

/* ---- layout ---- */

static void copy_layout(struct edit *e)
{
    const struct module *from = e->from;
    struct module *to = e->to;
    const struct computation *entry = to->entry;
    to->has_entry_layout = from->has_entry_layout;
    to->entry_param_count = entry->param_count;
    to->entry_params = ARENA_ARRAY(&to->arena, const struct shape *, entry->param_count);
    for (int k = 0; k < entry->param_count; k++)
        to->entry_params[k] = entry->params[k]->shape;
    to->entry_result = entry->root->shape;
    if (e->entry != from->entry || !from->entry_result)
        return;
    const int *numbers = part_of(e, e->entry)->numbers;
    for (int k = 0; k < e->entry->param_count && k < from->entry_param_count; k++)
        if (numbers[k] >= 0)
            to->entry_params[numbers[k]] = from->entry_params[k];
    if (!e->new_root)
        to->entry_result = from->entry_result;
}

/* ---- aliases and donors ---- */

static struct aliasing copy_aliases(struct edit *e, const struct aliasing *from)
{
    const struct part *p = part_of(e, e->entry);
    struct alias *kept = ARENA_ARRAY(&e->to->arena, struct alias, from->count);
    struct aliasing to = {0, kept};
    if (e->entry != e->from->entry || e->strip & EDIT_STRIP_HINTS)
        return to;
    for (int k = 0; k < from->count; k++) {
        const struct alias *a = &from->at[k];
        bool known = a->operand >= 0 && a->operand < e->entry->param_count;
        if (known && p->numbers[a->operand] < 0)
            continue;
        kept[to.count] = *a;
        if (known)
            kept[to.count].operand = p->numbers[a->operand];
        to.count++;
    }
    return to;
}

/* ---- sharding propagation ---- */

/* The list has one flag for all parameters, or one for each. */
static struct bool_list copy_spmd_parameters(struct edit *e)
{
    const struct bool_list from = e->from->spmd_to_parameters;
    const int *numbers = part_of(e, e->entry)->numbers;
    if (from.count <= 1)
        return from;
    if (e->entry != e->from->entry || from.count != e->entry->param_count)
        return (struct bool_list){0, NULL};
    int count = e->to->entry->param_count;
    bool *at = ARENA_ARRAY(&e->to->arena, bool, count);
    for (int k = 0; k < from.count; k++)
        if (numbers[k] >= 0)
            at[numbers[k]] = from.at[k];
    return (struct bool_list){count, at};
}

/* ---- other attributes ---- */

static void copy_recovery(struct edit *e)
{
    const struct module *from = e->from;
    struct module *to = e->to;
    const char *problem;
    if (e->strip & EDIT_STRIP_METADATA)
        return;
    to->recovery = ARENA_DUP(&to->arena, from->recovery, from->recovery_count);
    to->recovery_count = from->recovery_count;
    for (int k = 0; k < from->recovery_count; k++)
        if (from->recovery[k].module)
            to->recovery[k].module = edit_finish(edit_new(from->recovery[k].module), &problem);
}

void edit_header(struct edit *e)
{
    const struct module *from = e->from;
    struct module *to = e->to;
    to->name = from->name;
    to->is_scheduled = from->is_scheduled;
    to->alias_passthrough_params = from->alias_passthrough_params;
    to->replica_count = from->replica_count;
    to->num_partitions = from->num_partitions;
    copy_layout(e);
    to->buffer_donor = copy_aliases(e, &from->buffer_donor);
    if (!e->new_root)
        to->input_output_alias = copy_aliases(e, &from->input_output_alias);
    if (!(e->strip & EDIT_STRIP_SHARDING)) {
        to->spmd_to_parameters = copy_spmd_parameters(e);
        if (!e->new_root || from->spmd_to_output.count <= 1)
            to->spmd_to_output = from->spmd_to_output;
    }
    if (!(e->strip & EDIT_STRIP_HINTS)) {
        to->frontend = from->frontend;
        to->debug_attributes = from->debug_attributes;
    }
    copy_recovery(e);
    if (e->strip & EDIT_STRIP_METADATA)
        return;
    to->frames = from->frames;
    if (e->touched && from->frames.given)
        text_rebuild_frames(to);
}
