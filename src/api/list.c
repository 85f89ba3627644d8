/*
 * Public interface: listings, the computations and instructions of a module by number.
 */
#include "api/api.h"

#include "plan/plan.h"
#include "text/text.h"

struct listed_inst {
    struct inst *inst;
    size_t *users;
    struct hlo_listed out; /* numbers; the rest when it is requested, until then the name is NULL */
};
struct listed_computation {
    struct computation *computation;
    size_t *callers;
    struct hlo_listed_computation out;
};
struct hlo_listing {
    const hlo_module *module;
    struct arena arena;
    size_t count, computation_count;
    struct listed_inst *insts;
    struct listed_computation *computations;
    size_t *by_index; /* numbers of computations, by index in the module */
    size_t **numbers; /* numbers of instructions, by index of the computation and index in it */
    struct map names, computation_names; /* -> struct listed_inst; -> struct listed_computation */
    struct map spelled; /* names of files and functions -> the same, NUL-terminated */
};

/* ---- construction ---- */

static void number_all(struct hlo_listing *l, struct computation *const *order)
{
    const struct module *m = l->module->m;
    l->by_index = ARENA_ARRAY(&l->arena, size_t, m->computation_count);
    l->numbers = ARENA_ARRAY(&l->arena, size_t *, m->computation_count);
    for (size_t c = 0; c < l->computation_count; c++) {
        l->computations[c] = (struct listed_computation){
            order[c], .out = {.first = l->count, .count = (size_t)order[c]->inst_count}};
        l->by_index[order[c]->index] = c;
        l->count += l->computations[c].out.count;
    }
    l->insts = ARENA_ARRAY(&l->arena, struct listed_inst, l->count);
    for (size_t c = 0; c < l->computation_count; c++) {
        struct inst **insts = computation_order(&l->arena, order[c]);
        size_t *numbers = l->numbers[order[c]->index] =
            ARENA_ARRAY(&l->arena, size_t, order[c]->inst_count);
        for (int k = 0; k < order[c]->inst_count; k++) {
            size_t n = l->computations[c].out.first + (size_t)k;
            l->insts[n] = (struct listed_inst){.inst = insts[k], .out.computation = c};
            numbers[insts[k]->index] = n;
        }
    }
}

size_t hlo_listing_number(const hlo_listing *l, const struct inst *i)
{
    return l->numbers[i->parent->index][i->index];
}

struct inst *hlo_listing_inst(const hlo_listing *l, size_t i) { return l->insts[i].inst; }

const hlo_module *hlo_listing_module(const hlo_listing *l) { return l->module; }

static bool last_is(const size_t *list, size_t count, size_t value)
{
    return count > 0 && list[count - 1] == value;
}

/* Users are recorded in the order of their numbers, so a repeated use by the same instruction
 * directly follows the first. */
static void note_users(struct hlo_listing *l)
{
    for (size_t n = 0; n < l->count; n++)
        l->insts[n].out.users = l->insts[n].users =
            ARENA_ARRAY(&l->arena, size_t, l->insts[n].inst->user_count);
    for (size_t n = 0; n < l->count; n++) {
        const struct inst *inst = l->insts[n].inst;
        size_t *operands = ARENA_ARRAY(&l->arena, size_t, inst->operand_count);
        l->insts[n].out.operands = operands;
        for (int k = 0; k < inst->operand_count; k++) {
            operands[k] = hlo_listing_number(l, inst->operands[k]);
            struct listed_inst *operand = &l->insts[operands[k]];
            if (!last_is(operand->users, operand->out.user_count, n))
                operand->users[operand->out.user_count++] = n;
        }
    }
}

static void note_callees(struct hlo_listing *l)
{
    size_t *calls = ARENA_ARRAY(&l->arena, size_t, l->computation_count);
    for (size_t n = 0; n < l->count; n++) {
        struct listed_inst *at = &l->insts[n];
        int count;
        struct computation **callees = inst_callee_list(&l->arena, at->inst, &count);
        size_t *numbers = ARENA_ARRAY(&l->arena, size_t, count);
        at->out.callees = numbers;
        at->out.callee_count = (size_t)count;
        for (int k = 0; k < count; k++) {
            numbers[k] = l->by_index[callees[k]->index];
            calls[numbers[k]]++;
        }
    }
    for (size_t c = 0; c < l->computation_count; c++)
        l->computations[c].out.callers = l->computations[c].callers =
            ARENA_ARRAY(&l->arena, size_t, calls[c]);
    for (size_t n = 0; n < l->count; n++)
        for (size_t k = 0; k < l->insts[n].out.callee_count; k++) {
            struct listed_computation *c = &l->computations[l->insts[n].out.callees[k]];
            if (!last_is(c->callers, c->out.caller_count, n))
                c->callers[c->out.caller_count++] = n;
        }
}

static void note_computations(struct hlo_listing *l)
{
    for (size_t c = 0; c < l->computation_count; c++) {
        struct hlo_listed_computation *out = &l->computations[c].out;
        const struct computation *at = l->computations[c].computation;
        size_t *parameters = ARENA_ARRAY(&l->arena, size_t, at->param_count);
        for (int k = 0; k < at->param_count; k++)
            parameters[k] = hlo_listing_number(l, at->params[k]);
        out->name = arena_str(&l->arena, at->name).ptr;
        out->entry = at == l->module->m->entry;
        out->root = hlo_listing_number(l, at->root);
        out->parameter_count = (size_t)at->param_count;
        out->parameters = parameters;
    }
}

/* The name in the text: a second x was renamed x.1 in the module. */
static struct str written_name(const struct hlo_listing *l, const struct inst *i)
{
    const struct str text = l->module->file->parts[l->module->part].text;
    const struct span at = i->name_span;
    if (at.begin >= at.end || at.end > text.len)
        return i->name;
    struct str name = {text.ptr + at.begin, at.end - at.begin};
    return name.len > 1 && name.ptr[0] == '%' ? (struct str){name.ptr + 1, name.len - 1} : name;
}

static void note_name(struct hlo_listing *l, struct str name, size_t n)
{
    if (!map_get(&l->names, name))
        map_put(&l->names, name, &l->insts[n]);
}

/* Of several instructions with one name, the first one recorded keeps it; so the entry computation,
 * which is the last one, is visited first. */
static void note_names(struct hlo_listing *l)
{
    const size_t entry = l->computations[l->computation_count - 1].out.first;
    map_init(&l->computation_names, &l->arena);
    for (size_t c = l->computation_count; c-- > 0;)
        map_put(&l->computation_names, l->computations[c].computation->name, &l->computations[c]);
    map_init(&l->names, &l->arena);
    for (size_t n = entry; n < l->count; n++)
        note_name(l, l->insts[n].inst->name, n);
    for (size_t n = entry; n < l->count; n++)
        note_name(l, written_name(l, l->insts[n].inst), n);
    for (size_t n = 0; n < entry; n++)
        note_name(l, l->insts[n].inst->name, n);
    for (size_t n = 0; n < entry; n++)
        note_name(l, written_name(l, l->insts[n].inst), n);
}

hlo_listing *hlo_list(const hlo_module *module)
{
    OOM_SCOPE(NULL);
    hlo_listing *l = heap_zalloc(1, sizeof *l);
    int count;
    arena_init(&l->arena);
    map_init(&l->spelled, &l->arena);
    l->module = module;
    struct computation **order = module_order(&l->arena, module->m, &count);
    l->computation_count = (size_t)count;
    l->computations = ARENA_ARRAY(&l->arena, struct listed_computation, count);
    number_all(l, order);
    note_users(l);
    note_callees(l);
    note_computations(l);
    note_names(l);
    return l;
}

void hlo_listing_free(hlo_listing *l)
{
    if (!l)
        return;
    arena_free(&l->arena);
    heap_free(l);
}

/* ---- queries ---- */

size_t hlo_list_count(const hlo_listing *l) { return l->count; }

size_t hlo_list_computations(const hlo_listing *l) { return l->computation_count; }

static struct place place_of(const hlo_listing *l, struct span span)
{
    const hlo_module *m = l->module;
    if (span.begin == span.end)
        return (struct place){0, 0};
    return source_place(&m->file->parts[m->part], span.begin);
}

struct hlo_listed_computation hlo_list_computation(const hlo_listing *l, size_t i)
{
    OOM_SCOPE((struct hlo_listed_computation){0});
    struct hlo_listed_computation out = l->computations[i].out;
    out.line = place_of(l, l->computations[i].computation->name_span).line;
    return out;
}

/* Sets all that is not known since the listing was made. */
static void describe(struct hlo_listing *l, const struct inst *i, struct hlo_listed *out)
{
    SCOPED_BUF shape = {0};
    const struct metadata *meta = inst_metadata(i);
    const struct place place = place_of(l, i->span);
    shape_print(&shape, i->shape, true);
    out->op = op_spelling(i->opcode);
    out->shape = arena_str(&l->arena, buf_view(&shape)).ptr;
    out->parameter = i->opcode == OP_PARAMETER ? (long)i->number : -1;
    out->operand_count = (size_t)i->operand_count;
    out->line = place.line;
    out->column = place.column;
    out->op_name = meta ? arena_str(&l->arena, meta->op_name).ptr : "";
    out->where = arena_str(&l->arena, inst_where(&l->arena, i)).ptr;
    out->missing_frame = inst_missing_frame(i);
    out->name = arena_str(&l->arena, i->name).ptr;
}

struct hlo_listed hlo_list_inst(const hlo_listing *listing, size_t i)
{
    OOM_SCOPE((struct hlo_listed){0});
    hlo_listing *l = (hlo_listing *)(uintptr_t)listing; /* the cache of texts is mutable */
    struct listed_inst *at = &l->insts[i];
    if (!at->out.name)
        describe(l, at->inst, &at->out);
    return at->out;
}

static struct str without_percent(const char *name)
{
    return str_of(name[0] == '%' ? name + 1 : name);
}

long hlo_list_find_computation(const hlo_listing *l, const char *name)
{
    const struct listed_computation *c = map_get(&l->computation_names, without_percent(name));
    return c ? (long)(c - l->computations) : -1;
}

static long find_within(const hlo_listing *l, size_t computation, struct str name)
{
    const struct listed_computation *c = &l->computations[computation];
    const size_t end = c->out.first + c->out.count;
    for (size_t n = c->out.first; n < end; n++)
        if (str_eq(l->insts[n].inst->name, name))
            return (long)n;
    for (size_t n = c->out.first; n < end; n++)
        if (str_eq(written_name(l, l->insts[n].inst), name))
            return (long)n;
    return -1;
}

long hlo_list_find(const hlo_listing *l, const char *name)
{
    const struct str requested = without_percent(name);
    const struct listed_inst *at = map_get(&l->names, requested);
    if (at)
        return (long)(at - l->insts);
    const char *slash = memchr(requested.ptr, '/', requested.len);
    for (size_t c = 0; slash && c < l->computation_count; c++)
        if (str_eq(l->computations[c].computation->name,
                   (struct str){requested.ptr, (size_t)(slash - requested.ptr)}))
            return find_within(l, c, without_percent(slash + 1));
    return -1;
}

hlo_text hlo_list_print(const hlo_listing *l, size_t i, enum hlo_print_style style)
{
    OOM_SCOPE((hlo_text){0});
    const struct print_options options = {.short_form = style == HLO_PRINT_SHORT,
                                          .large_constants = style != HLO_PRINT_ABRIDGED,
                                          .no_metadata = style == HLO_PRINT_BARE};
    struct buf b = {0};
    text_print_inst(&b, l->insts[i].inst, &options);
    return hlo_text_of(&b);
}

/* A NUL-terminated copy, cached, since the same few files and functions are requested
 * repeatedly. */
static const char *kept(const hlo_listing *listing, struct str s)
{
    hlo_listing *l = (hlo_listing *)(uintptr_t)listing;
    char *known = map_get(&l->spelled, s);
    if (!known) {
        struct str copy = arena_str(&l->arena, s);
        known = (char *)(uintptr_t)copy.ptr;
        map_put(&l->spelled, copy, known);
    }
    return known;
}

static struct str nth(const struct str *list, int count, int32_t number)
{
    return number >= 1 && number <= count ? list[number - 1] : STR("");
}

bool hlo_list_frame(const hlo_listing *l, size_t i, size_t k, struct hlo_frame *out)
{
    OOM_SCOPE(false);
    const struct metadata *meta = inst_metadata(l->insts[i].inst);
    const struct stack_frame_tables *t = &l->module->m->frames;
    int32_t frame = meta ? meta->stack_frame_id : 0;
    if (!meta)
        return false;
    if (frame < 1 || frame > t->frame_count) {
        *out = (struct hlo_frame){kept(l, meta->source_file), "", meta->source_line,
                                  meta->source_column};
        return k == 0 && meta->source_file.len > 0;
    }
    for (size_t n = 0; n < k; n++) { /* ends even if parents form a cycle */
        frame = t->frames[frame - 1].parent;
        if (frame < 1 || frame > t->frame_count || n >= (size_t)t->frame_count)
            return false;
    }
    int32_t location = t->frames[frame - 1].location;
    if (location < 1 || location > t->location_count)
        return false;
    const struct file_location *at = &t->locations[location - 1];
    *out = (struct hlo_frame){kept(l, nth(t->files, t->file_count, at->file)),
                              kept(l, nth(t->functions, t->function_count, at->function)), at->line,
                              at->column};
    return true;
}

struct hlo_cost hlo_list_cost(const hlo_listing *l, size_t i)
{
    const struct cost c = plan_cost_of_inst(l->insts[i].inst);
    return (struct hlo_cost){c.operations, c.bytes};
}
