/*
 * repl/build: the text of a module around what was typed, and the module that it is. Which value depends on what?
 */
#include "repl/session.h"

/* ---- text ---- */

static void put_piece(struct module_text *t, struct hlo_piece p)
{
    if (p.size)
        VEC_PUSH(&t->arena, t->pieces, t->count, t->capacity) = p;
}

static void put_made(struct module_text *t, struct str s) { put_piece(t, (struct hlo_piece){.text = s.ptr, .size = s.len}); }

void module_text_made(struct module_text *t, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    put_made(t, arena_vprintf(&t->arena, format, ap));
    va_end(ap);
}

static void put_typed(struct module_text *t, const struct typed *from, struct str s)
{
    if (from)
        put_piece(t, (struct hlo_piece){s.ptr, s.len, from->name, from->text, from->size, from->first_line});
}

static void put_entry(struct module_text *t, const struct entry *e)
{
    put_made(t, str_of(e->before));
    put_typed(t, e->from, e->text);
    put_made(t, str_of(e->between));
    put_typed(t, e->from, e->more);
    put_made(t, str_of(e->after));
}

void module_text_entry(struct module_text *t, const struct entry *e, bool root)
{
    put_made(t, root ? STR("  ROOT ") : STR("  "));
    put_entry(t, e);
    put_made(t, STR("\n"));
}

void module_text_zeroed(struct module_text *t, const struct entry *e, size_t at, size_t size)
{
    const size_t behind = at + size;
    put_made(t, STR("  ROOT "));
    put_made(t, str_of(e->before));
    put_typed(t, e->from, (struct str){e->text.ptr, at});
    put_made(t, STR("0"));
    put_typed(t, e->from, (struct str){e->text.ptr + behind, e->text.len - behind});
    put_made(t, STR("\n"));
}

/* What the header says of the interface of the entry computation: it does not hold for another one. */
static bool is_of_interface(struct str word)
{
    static const char *const words[] = {"alias_passthrough_params", "buffer_donor", "entry_computation_layout",
                                        "input_output_alias", "is_scheduled"};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (str_is(word, words[i]))
            return true;
    return false;
}

/* The header without those. */
static void put_open_header(struct module_text *t, const struct entry *e)
{
    struct str s = e->text, name;
    size_t at = text_token_at(s, text_token_at(s, 0).end).end, kept = 0; /* HloModule NAME */
    struct hlo_piece p = {
        .name = e->from->name, .whole = e->from->text, .whole_size = e->from->size, .first_line = e->from->first_line};
    for (size_t end; syntax_attribute(s, at, &name, &end); at = end)
        if (is_of_interface(name)) {
            p.text = s.ptr + kept;
            p.size = at - kept;
            put_piece(t, p);
            kept = end;
        }
    p.text = s.ptr + kept;
    p.size = s.len - kept;
    put_piece(t, p);
}

/* Parameters and result may be others than the header speaks of. */
void module_text_begin(struct module_text *t, const struct state *s, const struct naming *named)
{
    *t = (struct module_text){0};
    arena_init(&t->arena);
    if (!s->header)
        put_made(t, STR("HloModule session"));
    else
        put_open_header(t, s->header);
    put_made(t, STR("\n\n"));
    const size_t count = named ? named->computation_count : s->computations.count;
    for (size_t i = 0; i < count; i++) {
        put_entry(t, state_computation(s, named ? named->computations[i] : i));
        put_made(t, STR("\n\n"));
    }
    module_text_made(t, "ENTRY %%%s {\n", s->entry_name);
}

void module_text_end(struct module_text *t, const struct state *s) { module_text_made(t, "}%s\n", s->entry_tail); }

hlo_module *module_text_parse(const struct module_text *t, hlo_messages *m)
{
    hlo_file *f = hlo_file_of_pieces("session", t->pieces, t->count);
    if (!f)
        hlo_messages_add(m, "session", "its text would have more than 4 GiB");
    hlo_module *module = f ? hlo_parse(f, 0, m) : NULL;
    hlo_file_free(f);
    return module;
}

void module_text_free(struct module_text *t) { arena_free(&t->arena); }

/* ---- marks ---- */

static uint64_t mark_of_text(const hlo_listing *l, size_t i)
{
    hlo_text t = hlo_list_print(l, i, HLO_PRINT_FULL);
    uint64_t mark = hash_bytes(t.data, t.size);
    hlo_text_free(&t);
    return mark;
}

/* Of one that was made of the text of another: without its name and those of its operands, which depend on what else there
 * is. */
static uint64_t mark_of_made(const hlo_listing *l, size_t i)
{
    const struct hlo_listed at = hlo_list_inst(l, i);
    hlo_text t = hlo_list_print(l, i, HLO_PRINT_FULL);
    struct buf op = {0};
    buf_printf(&op, " %s(", at.op);
    const char *equal = strstr(t.data, " = "), *open = equal ? strstr(equal, op.data) : NULL;
    const size_t begin = open ? (size_t)(open - t.data) + op.size - 1 : 0;
    const size_t end = open && at.operand_count > 0 ? text_group_end((struct str){t.data, t.size}, begin) : begin;
    uint64_t mark = 0;
    if (open && end != NOWHERE)
        mark = mix(hash_bytes(equal, begin - (size_t)(equal - t.data)), hash_bytes(t.data + end, t.size - end));
    else
        mark = hash_bytes(t.data, t.size);
    buf_free(&op);
    hlo_text_free(&t);
    return mark;
}

static uint64_t mark_callees(const struct hlo_listed *at, const uint64_t *computations, uint64_t mark)
{
    for (size_t k = 0; k < at->callee_count; k++)
        mark = mix(mark, computations[at->callees[k]]);
    return mark;
}

/* Of each computation but the entry computation: its text and that of all it calls. */
static uint64_t *mark_computations(const struct state *s, const hlo_listing *l)
{
    size_t count = hlo_list_computations(l);
    uint64_t *marks = repl_alloc(count * sizeof *marks);
    for (size_t c = 0; c + 1 < count; c++) {
        struct hlo_listed_computation comp = hlo_list_computation(l, c);
        long typed = state_find_computation(s, str_of(comp.name));
        uint64_t mark = typed >= 0 ? state_computation(s, (size_t)typed)->hash : 1;
        for (size_t i = comp.first; i < comp.first + comp.count; i++) {
            struct hlo_listed at = hlo_list_inst(l, i);
            mark = mark_callees(&at, marks, typed >= 0 ? mark : mix(mark, mark_of_text(l, i)));
        }
        marks[c] = mark;
    }
    return marks;
}

/* The mark that a value has which is set. */
static uint64_t mark_set(const struct entry *set)
{
    const uint64_t mark = mix(set->id, 1);
    return mark ? mark : 1;
}

/* Of number I of LISTING, the text of ENTRY or made of another's, from the marks of its operands. */
static uint64_t mark_inst(const struct state *s, const hlo_listing *l, size_t i, const struct entry *e,
                          const uint64_t *computations, const uint64_t *operands)
{
    const struct hlo_listed at = hlo_list_inst(l, i);
    const struct entry *set = e ? state_setting(s, e->name) : NULL;
    uint64_t mark = e ? e->hash : mark_of_made(l, i);
    for (size_t k = 0; k < at.operand_count; k++)
        mark = mix(mark, operands[k]);
    mark = mark_callees(&at, computations, mark);
    return set ? mark_set(set) : mark ? mark : 1;
}

static void mark_all(const struct state *s, struct built *b)
{
    uint64_t *computations = mark_computations(s, b->listing), *operands = NULL;
    for (size_t i = 0; i < b->count; i++) {
        struct hlo_listed at = hlo_list_inst(b->listing, b->first + i);
        operands = heap_grow(operands, (at.operand_count + 1) * sizeof *operands);
        for (size_t k = 0; k < at.operand_count; k++)
            operands[k] = b->marks[at.operands[k] - b->first];
        b->used[i] = at.user_count > 0;
        b->marks[i] = mark_inst(s, b->listing, b->first + i, b->entries[i], computations, operands);
    }
    heap_free(operands);
    heap_free(computations);
}

/* ---- the module ---- */

static void find_entries(const struct state *s, struct built *b)
{
    struct hlo_listed_computation main = hlo_list_computation(b->listing, hlo_list_computations(b->listing) - 1);
    b->first = main.first;
    b->count = b->listed = b->capacity = main.count;
    b->number_capacity = s->insts.count;
    b->marks = repl_alloc(b->count * sizeof *b->marks);
    b->entries = repl_alloc(b->count * sizeof *b->entries);
    b->used = repl_alloc(b->count * sizeof *b->used);
    b->parameters = main.parameter_count;
    b->numbers = repl_alloc(s->insts.count * sizeof *b->numbers);
    for (size_t i = 0; i < s->insts.count; i++) {
        long n = hlo_list_find(b->listing, state_inst(s, i)->name);
        b->numbers[i] = (size_t)n;
        if (n >= (long)b->first)
            b->entries[(size_t)n - b->first] = state_inst(s, i);
    }
}

bool build(const struct state *s, struct built *out, hlo_messages *m)
{
    struct module_text t;
    const struct entry *root = state_root(s);
    *out = (struct built){0};
    arena_init(&out->arena);
    if (s->computations.count == 0 && s->insts.count == 0)
        return true;
    module_text_begin(&t, s, NULL);
    for (size_t i = 0; i < s->insts.count; i++)
        module_text_entry(&t, state_inst(s, i), state_inst(s, i) == root);
    if (!root)
        module_text_made(&t, "  ROOT nothing = () tuple()\n");
    module_text_end(&t, s);
    out->module = module_text_parse(&t, m);
    module_text_free(&t);
    if (!out->module || !hlo_verify(out->module, m)) {
        built_free(out);
        return false;
    }
    out->listing = hlo_list(out->module);
    find_entries(s, out);
    mark_all(s, out);
    return true;
}

void built_free(struct built *b)
{
    heap_free(b->marks);
    heap_free(b->used);
    heap_free(b->entries);
    heap_free(b->numbers);
    heap_free(b->later);
    arena_free(&b->arena);
    hlo_listing_free(b->listing);
    hlo_module_free(b->module);
    *b = (struct built){0};
}

/* ---- what came after it ---- */

bool built_set(struct built *b, const struct state *s, size_t number)
{
    const size_t i = number - b->first;
    const struct entry *set = b->entries[i] ? state_setting(s, b->entries[i]->name) : NULL;
    if (!set || b->used[i])
        return false;
    b->marks[i] = mark_set(set);
    return true;
}

struct hlo_listed built_at(const struct built *b, size_t number)
{
    const size_t i = number - b->first;
    return number < b->first || i < b->listed ? hlo_list_inst(b->listing, number) : b->later[i - b->listed];
}

static size_t grown(size_t capacity, size_t count) { return capacity > count ? capacity : count < 8 ? 16 : 2 * count; }

static void make_room(struct built *b, size_t insts, size_t numbers)
{
    if (b->count + insts > b->capacity || !b->later) {
        b->capacity = grown(b->capacity, b->count + insts);
        b->marks = heap_grow(b->marks, b->capacity * sizeof *b->marks);
        b->used = heap_grow(b->used, b->capacity * sizeof *b->used);
        b->entries = heap_grow(b->entries, b->capacity * sizeof *b->entries);
        b->later = heap_grow(b->later, (b->capacity - b->listed) * sizeof *b->later);
    }
    if (numbers > b->number_capacity) {
        b->number_capacity = grown(b->number_capacity, numbers);
        b->numbers = heap_grow(b->numbers, b->number_capacity * sizeof *b->numbers);
    }
}

/* Number I of L as it is in B, where NUMBERS has those of L. What it has of L would go with that. */
static struct hlo_listed moved(struct built *b, const hlo_listing *l, size_t i, size_t first, const size_t *numbers)
{
    struct hlo_listed at = hlo_list_inst(l, i);
    size_t *operands = ARENA_ARRAY(&b->arena, size_t, at.operand_count + 1);
    for (size_t k = 0; k < at.operand_count; k++)
        operands[k] = numbers[at.operands[k] - first];
    return (struct hlo_listed){.name = arena_str(&b->arena, str_of(at.name)).ptr,
                               .op = arena_str(&b->arena, str_of(at.op)).ptr,
                               .shape = arena_str(&b->arena, str_of(at.shape)).ptr,
                               .computation = hlo_list_computations(b->listing) - 1,
                               .parameter = at.parameter >= 0 ? (long)b->parameters++ : -1,
                               .operand_count = at.operand_count,
                               .operands = operands,
                               .op_name = "",
                               .where = ""};
}

bool built_add(struct built *b, const struct state *s, const hlo_listing *l, const size_t *places, size_t count)
{
    const struct hlo_listed_computation main = hlo_list_computation(l, hlo_list_computations(l) - 1);
    const size_t place = s->insts.count - 1;
    const long n = hlo_list_find(l, state_inst(s, place)->name);
    if (n < (long)main.first)
        return false;
    uint64_t *computations = mark_computations(s, l), *operands = NULL;
    size_t *numbers = repl_alloc(main.count * sizeof *numbers);
    make_room(b, main.count, place + 1);
    for (size_t i = main.first; i < main.first + main.count; i++) {
        const struct hlo_listed at = hlo_list_inst(l, i);
        size_t *number = &numbers[i - main.first];
        if (at.parameter >= 0 && (size_t)at.parameter < count) {
            *number = b->numbers[places[at.parameter]];
            continue;
        }
        struct entry *e = (long)i == n ? state_inst(s, place) : NULL;
        *number = b->first + b->count;
        operands = heap_grow(operands, (at.operand_count + 1) * sizeof *operands);
        for (size_t k = 0; k < at.operand_count; k++) {
            const size_t operand = numbers[at.operands[k] - main.first] - b->first;
            operands[k] = b->marks[operand];
            b->used[operand] = true;
        }
        b->used[b->count] = false;
        b->marks[b->count] = mark_inst(s, l, i, e, computations, operands);
        b->entries[b->count] = e;
        b->later[b->count++ - b->listed] = moved(b, l, i, main.first, numbers);
    }
    b->numbers[place] = numbers[(size_t)n - main.first];
    b->behind = true;
    heap_free(operands);
    heap_free(computations);
    heap_free(numbers);
    return true;
}
