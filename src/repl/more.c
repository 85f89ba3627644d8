/*
 * repl/more: another instruction, or other computations, of a session whose module is there already. Only what is new and
 * what that names is read and verified, so that a line costs the same behind three others and behind thirty thousand. What
 * might break a rule that looks at the whole module is left to build().
 */
#include "repl/session.h"

#include <stdlib.h>

/* ---- what a text names ---- */

void naming_begin(struct naming *n, const struct state *s)
{
    *n = (struct naming){.state = s};
    arena_init(&n->arena);
    map_init(&n->seen, &n->arena);
}

void naming_end(struct naming *n) { arena_free(&n->arena); }

static bool is_new(struct naming *n, struct entry *e)
{
    const struct str key = arena_str(&n->arena, (struct str){(const char *)&e, sizeof e});
    return !map_put(&n->seen, key, e);
}

static void note_word(struct naming *n, struct str name, bool insts)
{
    const struct state *s = n->state;
    const long c = state_find_computation(s, name), i = insts ? state_find(s, name) : -1;
    if (c >= 0 && is_new(n, state_computation(s, (size_t)c)))
        VEC_PUSH(&n->arena, n->computations, n->computation_count, n->computation_capacity) = (size_t)c;
    if (i >= 0 && is_new(n, state_inst(s, (size_t)i)))
        VEC_PUSH(&n->arena, n->insts, n->inst_count, n->inst_capacity) = (size_t)i;
}

static void note_words(struct naming *n, struct str text, bool insts)
{
    for (struct text_token t = text_token_at(text, 0); t.kind != TOK_EOF; t = text_token_at(text, t.end))
        if (syntax_is_word(t))
            note_word(n, t.s, insts);
}

static void note_entry(struct naming *n, const struct entry *e, bool insts)
{
    const struct str parts[] = {str_of(e->before), e->text, str_of(e->between), e->more, str_of(e->after)};
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        note_words(n, parts[i], insts);
}

static int by_place(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static void sort_places(size_t *places, size_t count)
{
    if (count > 1)
        qsort(places, count, sizeof *places, by_place);
}

/* An attribute of the same name is taken for it: too much does no harm. */
void naming_add(struct naming *n, const struct entry *e, bool insts)
{
    size_t at = n->computation_count;
    note_entry(n, e, insts);
    for (; at < n->computation_count; at++)
        note_entry(n, state_computation(n->state, n->computations[at]), false);
}

void naming_sort(struct naming *n)
{
    sort_places(n->insts, n->inst_count);
    sort_places(n->computations, n->computation_count);
}

/* ---- whether they can stand alone ---- */

/* Operations whose rules look at one instruction, and whose values come of its operands alone. Others may share channels,
 * need partners, or ask who else calls a computation. */
static bool is_alone(const char *op)
{
    static const char *const families[] = {"batchnorm", "compare", "conv",   "convert", "dot",  "dynslice", "elementwise", "fft",
                                           "gather",    "linalg",  "reduce", "shape",   "sort", "tuple",    "window"};
    static const char *const control[] = {"call", "conditional", "while"};
    struct hlo_op found = {0};
    for (size_t i = 0; i < hlo_op_count() && !found.name; i++)
        if (strcmp(hlo_op_get(i).name, op) == 0)
            found = hlo_op_get(i);
    bool alone = false;
    for (size_t i = 0; i < COUNT_OF(families); i++)
        alone |= found.name && strcmp(families[i], found.family) == 0;
    for (size_t i = 0; i < COUNT_OF(control); i++)
        alone |= strcmp(control[i], op) == 0;
    const size_t n = strlen(op);
    const bool in_parts = (n > 6 && strcmp(op + n - 6, "-start") == 0) || (n > 5 && strcmp(op + n - 5, "-done") == 0);
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

/* Orders that are no operands bind others, too. */
static bool binds_others(const struct entry *e)
{
    static const char words[] = "control-predecessors";
    return memmem(e->text.ptr, e->text.len, words, sizeof words - 1) != NULL;
}

/* ---- the module of what is new ---- */

/* It and its listing; NULL where there is anything to be said: build() says it. */
static hlo_module *read_text(struct module_text *t, hlo_listing **listing)
{
    hlo_messages *m = hlo_messages_new();
    hlo_module *module = module_text_parse(t, m);
    bool ok = module && hlo_verify(module, m) && hlo_messages_count(m) == 0;
    hlo_messages_free(m);
    if (ok)
        *listing = hlo_list(module);
    else
        hlo_module_free(module);
    return ok ? module : NULL;
}

static bool are_there(const struct built *b, const struct naming *n)
{
    for (size_t i = 0; i < n->inst_count; i++)
        if (b->numbers[n->insts[i]] - b->first >= b->count)
            return false;
    return true;
}

static hlo_module *read_inst(const struct state *s, const struct built *b, const struct naming *n, const struct entry *e,
                             struct str number, hlo_listing **listing)
{
    struct module_text t;
    module_text_begin(&t, s, n);
    for (size_t i = 0; i < n->inst_count; i++)
        module_text_made(&t, "  %s = %s parameter(%zu)\n", state_inst(s, n->insts[i])->name,
                         built_at(b, b->numbers[n->insts[i]]).shape, i);
    if (number.len > 0)
        module_text_zeroed(&t, e, (size_t)(number.ptr - e->text.ptr), number.len);
    else
        module_text_entry(&t, e, true);
    module_text_end(&t, s);
    hlo_module *module = read_text(&t, listing);
    module_text_free(&t);
    return module;
}

/* The number in `x = f32[2] parameter(7)`; empty where that is none. */
static struct str parameter_number(const struct entry *e)
{
    static const char word[] = " parameter(";
    const char *at = memmem(e->text.ptr, e->text.len, word, sizeof word - 1);
    if (!at)
        return STR("");
    at += sizeof word - 1;
    const char *end = at;
    while (end < e->text.ptr + e->text.len && *end >= '0' && *end <= '9')
        end++;
    return (struct str){at, (size_t)(end - at)};
}

bool build_more(const struct state *s, struct built *b)
{
    const struct entry *e = state_inst(s, s->insts.count - 1);
    struct naming named;
    hlo_listing *l = NULL;
    bool ok = !binds_others(e);
    naming_begin(&named, s);
    naming_add(&named, e, true);
    naming_sort(&named);
    if (named.inst_count > 0 && named.insts[named.inst_count - 1] == s->insts.count - 1)
        named.inst_count--; /* itself: the name before `=` */
    const struct str number = parameter_number(e);
    int64_t n;
    if (number.len > 0) /* one that comes after the others, and is all that this says */
        ok = ok && named.inst_count == 0 && num_parse_i64(number, &n) && n == (int64_t)b->parameters;
    hlo_module *module = ok && are_there(b, &named) ? read_inst(s, b, &named, e, number, &l) : NULL;
    ok = module && all_alone(l, named.inst_count + (number.len > 0)) && built_add(b, s, l, named.insts, named.inst_count);
    hlo_listing_free(l);
    hlo_module_free(module);
    naming_end(&named);
    return ok;
}

bool build_more_computations(const struct state *s, size_t count, struct built *b)
{
    struct naming named;
    struct module_text t;
    hlo_listing *l = NULL;
    naming_begin(&named, s);
    for (size_t i = s->computations.count - count; i < s->computations.count; i++)
        naming_add(&named, state_computation(s, i), false);
    naming_sort(&named);
    module_text_begin(&t, s, &named);
    module_text_made(&t, "  ROOT nothing = () tuple()\n");
    module_text_end(&t, s);
    hlo_module *module = read_text(&t, &l);
    bool ok = module && all_alone(l, 0);
    b->behind |= ok;
    module_text_free(&t);
    hlo_listing_free(l);
    hlo_module_free(module);
    naming_end(&named);
    return ok;
}
