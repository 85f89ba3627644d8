/*
 * repl/build: modules of a state, with operands, shapes and marks of their instructions. A mark is
 * a hash of everything that a value depends on.
 *
 * Additions of a state since the last build are parsed as a module of their own, in which
 * parameters replace the instructions that they name; with an empty struct built, that is the
 * whole session. So the cost of a line does not depend on the length of the session. Additions
 * that could violate a rule about the whole module are refused, and the caller builds from
 * scratch.
 */
#include "repl/expression.h"

/* ---- marks ---- */

static uint64_t mark_of_text(const hlo_listing *l, size_t i)
{
    SCOPED_TEXT t = hlo_list_print(l, i, HLO_PRINT_FULL);
    return hash_bytes(t.data, t.size);
}

/* The mark of an instruction generated from the text of another: without its name and those of its
 * operands, which depend on other names in the module. */
static uint64_t mark_of_made(const hlo_listing *l, size_t i)
{
    const struct hlo_listed at = hlo_list_inst(l, i);
    SCOPED_TEXT t = hlo_list_print(l, i, HLO_PRINT_FULL);
    SCOPED_BUF op = {0};
    buf_printf(&op, " %s(", at.op);
    const char *equal = strstr(t.data, " = "), *open = equal ? strstr(equal, op.data) : NULL;
    const size_t begin = open ? (size_t)(open - t.data) + op.size - 1 : 0;
    const size_t end =
        open && at.operand_count > 0 ? text_group_end((struct str){t.data, t.size}, begin) : begin;
    uint64_t mark = 0;
    if (open && end != NOWHERE)
        mark = mix(hash_bytes(equal, begin - (size_t)(equal - t.data)),
                   hash_bytes(t.data + end, t.size - end));
    else
        mark = hash_bytes(t.data, t.size);
    return mark;
}

static uint64_t mark_callees(const struct hlo_listed *at, const uint64_t *computations,
                             uint64_t mark)
{
    for (size_t k = 0; k < at->callee_count; k++)
        mark = mix(mark, computations[at->callees[k]]);
    return mark;
}

/* The marks of all computations except the entry computation: text and callees. */
static uint64_t *mark_computations(const struct state *s, const hlo_listing *l)
{
    size_t count = hlo_list_computations(l);
    uint64_t *marks = heap_zalloc(count, sizeof *marks);
    for (size_t c = 0; c + 1 < count; c++) {
        struct hlo_listed_computation comp = hlo_list_computation(l, c);
        long source_text = state_find_computation(s, str_of(comp.name));
        uint64_t mark = source_text >= 0 ? state_computation(s, (size_t)source_text)->hash : 1;
        for (size_t i = comp.first; i < comp.first + comp.count; i++) {
            struct hlo_listed at = hlo_list_inst(l, i);
            mark =
                mark_callees(&at, marks, source_text >= 0 ? mark : mix(mark, mark_of_text(l, i)));
        }
        marks[c] = mark;
    }
    return marks;
}

/* The mark of a value set by .set. */
static uint64_t mark_set(const struct entry *set)
{
    const uint64_t mark = mix(set->id, 1);
    return mark ? mark : 1;
}

/* The mark of instruction I of the listing, the text of ENTRY or generated from another's, from the
 * marks of its operands. */
static uint64_t mark_inst(const struct state *s, const hlo_listing *l, size_t i,
                          const struct entry *e, const uint64_t *computations,
                          const uint64_t *operands)
{
    const struct hlo_listed at = hlo_list_inst(l, i);
    const struct entry *set = e ? state_setting(s, e->name) : NULL;
    uint64_t mark = e ? e->hash : mark_of_made(l, i);
    for (size_t k = 0; k < at.operand_count; k++)
        mark = mix(mark, operands[k]);
    mark = mark_callees(&at, computations, mark);
    return set ? mark_set(set) : mark ? mark : 1;
}

/* ---- additions without parsing the module again ---- */

/* Whether the rules of the op concern a single instruction, and its value depends on its operands
 * only. Other ops may share channels, need partners, or depend on other callers of a
 * computation. */
static bool is_alone(const char *op)
{
    static const char *const families[] = {"batchnorm", "compare",     "conv", "convert", "dot",
                                           "dynslice",  "elementwise", "fft",  "gather",  "linalg",
                                           "reduce",    "shape",       "sort", "tuple",   "window"};
    static const char *const control[] = {"call", "conditional", "while"};
    const struct hlo_op found = expression_op_named(str_of(op));
    const bool alone =
        (found.name && str_among(str_of(found.family), families, COUNT_OF(families)) >= 0) ||
        str_among(str_of(op), control, COUNT_OF(control)) >= 0;
    const bool in_parts = str_ends(str_of(op), STR("-start")) || str_ends(str_of(op), STR("-done"));
    return alone && !in_parts;
}

static bool are_alone(const hlo_listing *l, size_t first, size_t count, size_t parameters)
{
    for (size_t i = first; i < first + count; i++) {
        const struct hlo_listed at = hlo_list_inst(l, i);
        if (at.parameter >= (long)parameters || !is_alone(at.op) || strncmp(at.shape, "b(", 2) == 0)
            return false;
    }
    return true;
}

static bool all_alone(const hlo_listing *l, size_t parameters)
{
    const size_t last = hlo_list_computations(l) - 1;
    for (size_t c = 0; c <= last; c++) {
        const struct hlo_listed_computation of = hlo_list_computation(l, c);
        if (!are_alone(l, of.first, of.count, c == last ? parameters : SIZE_MAX >> 1))
            return false;
    }
    return true;
}

/* The number in `x = f32[2] parameter(7)`; empty if it is not a parameter. */
static struct str parameter_number(const struct entry *e)
{
    static const char word[] = " parameter(";
    const struct str text = entry_typed(e);
    const char *at = memmem(text.ptr, text.len, word, sizeof word - 1);
    if (!at)
        return STR("");
    at += sizeof word - 1;
    const char *end = at;
    while (end < text.ptr + text.len && char_is_digit(*end))
        end++;
    return (struct str){at, (size_t)(end - at)};
}

/* Whether the additions of S to B affect nothing else, judging by their text. */
static bool may_add(const struct built *b, const struct state *s, const struct naming *named)
{
    for (size_t i = b->placed; i < s->insts.count; i++) {
        const struct entry *e = state_inst(s, i);
        const struct str number = parameter_number(e);
        int64_t n;
        if (entry_mentions(e, "control-predecessors")) /* affect other instructions */
            return false;
        if (number.len > 0 &&
            (named->inst_count > 0 || !num_parse_i64(number, &n) || n != (int64_t)b->parameters))
            return false;
    }
    for (size_t i = 0; i < named->inst_count; i++)
        if (b->numbers[named->insts[i]] - b->first >= b->count)
            return false;
    return true;
}

/* ---- parsing of additions ---- */

static void name_all(struct naming *named, const struct built *b, const struct state *s,
                     const struct entry *next)
{
    naming_begin(named, s);
    if (!b->module)
        return;
    for (size_t i = b->computations; i < s->computations.count; i++)
        naming_add(named, state_computation(s, i), false);
    for (size_t i = b->placed; i < s->insts.count; i++)
        naming_add(named, state_inst(s, i), true);
    if (next)
        naming_add(named, next, true);
    naming_sort(named);
    while (named->inst_count > 0 && named->insts[named->inst_count - 1] >= b->placed)
        named->inst_count--; /* the added instruction itself: the name before `=` */
}

/* The root is `next`, that of the state, or the last added instruction. */
static void put_new(struct module_text *t, const struct built *b, const struct state *s,
                    const struct entry *next)
{
    const struct entry *root = next                                              ? next
                               : s->root == LAST || (size_t)s->root >= b->placed ? state_root(s)
                                                                                 : NULL;
    for (size_t i = b->placed; i < s->insts.count; i++) {
        const struct entry *e = state_inst(s, i);
        const struct str number = b->module ? parameter_number(e) : STR("");
        if (number.len > 0)
            module_text_zeroed(t, e, number);
        else
            module_text_entry(t, e, root ? e == root : i + 1 == s->insts.count);
    }
    if (next)
        module_text_entry(t, next, true);
    else if (b->placed == s->insts.count)
        module_text_made(t, "  ROOT nothing = () tuple()\n");
}

/* NEXT: a further instruction after those of the state; or NULL. */
static hlo_module *read_new(const struct built *b, const struct state *s,
                            const struct naming *named, const struct entry *next, hlo_messages *m)
{
    struct module_text t;
    module_text_begin(&t, s, b->module ? named : NULL);
    for (size_t i = 0; i < named->inst_count; i++)
        module_text_parameter(&t, state_inst(s, named->insts[i])->name,
                              built_at(b, b->numbers[named->insts[i]]).shape, i, false);
    put_new(&t, b, s, next);
    return module_text_parse(&t, s, true, m);
}

/* ---- extending the build ---- */

static size_t grown(size_t capacity, size_t count)
{
    return capacity > count ? capacity : count < 8 ? 16 : 2 * count;
}

static void reserve_insts(struct built *b, size_t insts, size_t numbers)
{
    if (b->count + insts > b->capacity) {
        b->capacity = grown(b->capacity, b->count + insts);
        b->marks = heap_grow(b->marks, b->capacity * sizeof *b->marks);
        b->used = heap_grow(b->used, b->capacity * sizeof *b->used);
        b->entries = heap_grow(b->entries, b->capacity * sizeof *b->entries);
        b->insts = heap_grow(b->insts, b->capacity * sizeof *b->insts);
    }
    if (numbers > b->number_capacity) {
        b->number_capacity = grown(b->number_capacity, numbers);
        b->numbers = heap_grow(b->numbers, b->number_capacity * sizeof *b->numbers);
    }
}

/* Instruction I of L for B, with numbers of B. It does not refer to L any more. */
static struct hlo_listed moved(struct built *b, const hlo_listing *l, size_t i, size_t first,
                               const size_t *numbers)
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

struct adding { /* a listing to add */
    struct built *b;
    const struct state *s;
    const hlo_listing *l;
    struct hlo_listed_computation main; /* entry computation of the listing */
    size_t *places;         /* place of each of its instructions in the state, from 1; 0: none */
    size_t *numbers;        /* their numbers in `b` */
    uint64_t *computations; /* marks of computations */
    uint64_t *operands;     /* marks of operands; scratch memory */
};

static void add_inst(struct adding *d, size_t i)
{
    struct built *b = d->b;
    const struct hlo_listed at = hlo_list_inst(d->l, d->main.first + i);
    struct entry *e = d->places[i] > 0 ? state_inst(d->s, d->places[i] - 1) : NULL;
    d->operands = heap_grow(d->operands, (at.operand_count + 1) * sizeof *d->operands);
    for (size_t k = 0; k < at.operand_count; k++) {
        const size_t operand = d->numbers[at.operands[k] - d->main.first] - b->first;
        d->operands[k] = b->marks[operand];
        b->used[operand] = true;
    }
    d->numbers[i] = b->first + b->count;
    if (e)
        b->numbers[d->places[i] - 1] = d->numbers[i];
    b->used[b->count] = false;
    b->entries[b->count] = e;
    b->marks[b->count] = mark_inst(d->s, d->l, d->main.first + i, e, d->computations, d->operands);
    b->insts[b->count++] =
        d->l == b->listing ? at : moved(b, d->l, d->main.first + i, d->main.first, d->numbers);
}

/* False: a name of the state is not in the listing. */
static bool find_places(struct adding *d)
{
    bool all = true;
    for (size_t i = d->b->placed; i < d->s->insts.count; i++) {
        const long n = hlo_list_find(d->l, state_inst(d->s, i)->name);
        if (n >= (long)d->main.first)
            d->places[(size_t)n - d->main.first] = i + 1;
        else
            all = false;
    }
    return all;
}

static void add_insts(struct adding *d, const struct naming *named)
{
    struct built *b = d->b;
    reserve_insts(b, d->main.count, d->s->insts.count);
    for (; b->placed < d->s->insts.count; b->placed++)
        b->numbers[b->placed] = SIZE_MAX;
    d->computations = mark_computations(d->s, d->l);
    for (size_t i = 0; i < d->main.count; i++) {
        const long parameter = hlo_list_inst(d->l, d->main.first + i).parameter;
        if (parameter >= 0 && (size_t)parameter < named->inst_count)
            d->numbers[i] = b->numbers[named->insts[parameter]];
        else
            add_inst(d, i);
    }
}

/* Adds the contents of L, except the first parameters, which replace named instructions. */
static bool add_all(struct built *b, const struct state *s, const hlo_listing *l,
                    const struct naming *named)
{
    struct adding d = {.b = b, .s = s, .l = l, .main = listed_entry(l)};
    const bool whole = l == b->listing, insts = whole || b->placed < s->insts.count;
    d.places = heap_zalloc(d.main.count + 1, sizeof *d.places);
    d.numbers = heap_zalloc(d.main.count + 1, sizeof *d.numbers);
    const bool ok = find_places(&d) || whole;
    if (ok) {
        b->first = whole ? d.main.first : b->first;
        b->behind = !whole;
        b->computations = s->computations.count;
        if (insts)
            add_insts(&d, named);
        b->parameters = whole ? d.main.parameter_count : b->parameters;
    }
    heap_free(d.operands);
    heap_free(d.computations);
    heap_free(d.numbers);
    heap_free(d.places);
    return ok;
}

bool build(struct built *b, const struct state *s, hlo_messages *m)
{
    struct naming named;
    const bool whole = !b->module;
    if (s->computations.count == 0 && s->insts.count == 0)
        return true;
    name_all(&named, b, s, NULL);
    hlo_module *module = whole || may_add(b, s, &named) ? read_new(b, s, &named, NULL, m) : NULL;
    hlo_listing *l = module ? hlo_list(module) : NULL;
    if (whole) {
        arena_init(&b->arena);
        b->module = module;
        b->listing = l;
    }
    const bool parameter =
        b->placed < s->insts.count && parameter_number(state_inst(s, b->placed)).len > 0;
    bool ok =
        l && (whole || (hlo_messages_count(m) == 0 && all_alone(l, named.inst_count + parameter)));
    ok = ok && add_all(b, s, l, &named);
    if (!whole) {
        hlo_listing_free(l);
        hlo_module_free(module);
    }
    naming_end(&named);
    return ok;
}

void built_free(struct built *b)
{
    heap_free(b->marks);
    heap_free(b->used);
    heap_free(b->entries);
    heap_free(b->numbers);
    heap_free(b->insts);
    arena_free(&b->arena);
    hlo_listing_free(b->listing);
    hlo_module_free(b->module);
    *b = (struct built){0};
}

/* ---- builds ---- */

char *build_shape(const struct built *b, const struct state *s, const struct entry *next)
{
    struct naming named;
    SCOPED_MESSAGES *m = hlo_messages_new();
    name_all(&named, b, s, next);
    SCOPED_MODULE *module = read_new(b, s, &named, next, m);
    SCOPED_LISTING *l = module ? hlo_list(module) : NULL;
    char *shape = NULL;
    if (l)
        shape = heap_str(str_of(hlo_list_inst(l, listed_entry(l).root).shape));
    naming_end(&named);
    return shape;
}

bool built_set(struct built *b, const struct state *s, size_t number)
{
    const size_t i = number - b->first;
    const struct entry *set = built_setting(b, s, i);
    if (!set || b->used[i])
        return false;
    b->marks[i] = mark_set(set);
    return true;
}

const struct entry *built_setting(const struct built *b, const struct state *s, size_t i)
{
    return b->entries[i] ? state_setting(s, b->entries[i]->name) : NULL;
}

struct hlo_listed built_at(const struct built *b, size_t number)
{
    return number < b->first ? hlo_list_inst(b->listing, number) : b->insts[number - b->first];
}
