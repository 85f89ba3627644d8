/*
 * `hlo test --traced`: runs each test traced, and reads all operands and values of all
 * instructions. The traced value of the root must equal the result.
 */
#include "cli/golden.h"

static uint64_t touch(const hlo_literal *l)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < hlo_literal_leaves(l); i++) {
        struct hlo_array a = hlo_literal_leaf(l, i);
        const unsigned char *bytes = a.data;
        if (a.elements > 0)
            sum += bytes[0] + bytes[a.elements * a.element_size - 1];
    }
    return sum;
}

static bool look(void *context, const struct hlo_event *s)
{
    struct golden_trace *g = context;
    struct hlo_listed i = hlo_list_inst(g->listing, s->inst);
    const hlo_literal *value = hlo_event_value(s);
    if (!value)
        return false;
    g->sum += touch(value);
    for (size_t k = 0; k < i.operand_count; k++) {
        const hlo_literal *operand = hlo_event_operand(s, k);
        if (!operand)
            return false;
        g->sum += touch(operand);
    }
    if (s->depth == 0 && s->inst == g->root) {
        hlo_literal_free(g->roots[s->participant]);
        g->roots[s->participant] = hlo_literal_copy(value);
    }
    return true;
}

void golden_trace_begin(struct golden_trace *g, const hlo_module *module, hlo_program *p)
{
    g->count = hlo_participants(p);
    g->listing = hlo_list(module);
    g->root = listed_entry(g->listing).root;
    g->roots = heap_zalloc(g->count, sizeof *g->roots);
    g->trace_callbacks = HLO_WITH(hlo_trace_callbacks, .context = g, .after = look);
    hlo_trace(p, &g->trace_callbacks);
}

/* Tokens are traced as empty tuples. */
static bool has_token(const hlo_literal *l)
{
    SCOPED_TEXT shape = hlo_literal_shape(l);
    return strstr(shape.data, "token") != NULL;
}

void golden_trace_check(struct golden_trace *g, struct golden_run *r, hlo_literal *const *results)
{
    const struct hlo_tolerance bits = {.size = sizeof bits, .bits = true};
    for (size_t p = 0; p < g->count && g->listing; p++) {
        SCOPED_TEXT why = {0};
        if (!g->roots[p])
            golden_fail(r, r->g.test.at[0].line, "root of participant %zu was not traced", p);
        else if (!has_token(results[p]) &&
                 !hlo_literal_compare(g->roots[p], results[p], &bits, &why))
            golden_fail(r, r->g.test.at[0].line, "traced root differs from the result: %s",
                        why.data);
    }
}

void golden_trace_end(struct golden_trace *g)
{
    for (size_t p = 0; p < g->count; p++)
        hlo_literal_free(g->roots[p]);
    heap_free(g->roots);
    hlo_listing_free(g->listing);
}
