/*
 * Constants written `{...}`, whose values were omitted when the module was printed. They are filled
 * before a run, by one of these rules:
 *   zero    zeros
 *   iota    as XLA's parser fills them: a 32-bit counter that continues from constant to constant
 *           in textual order, its raw bits, masked to 0 and 1 for pred
 *   random  the random stream of the seed and the number of the constant (kern/random.h)
 */
#include "kern/random.h"
#include "plan/plan_priv.h"

/* ---- numbering ---- */

void elided_collect(struct planner *pl, const struct literal *l, struct elided *next)
{
    if (shape_is_tuple(l->shape)) {
        for (int k = 0; k < l->shape->count; k++)
            elided_collect(pl, l->elements[k], next);
        return;
    }
    if (!l->elided)
        return;
    struct elided *e = arena_copy(&pl->scratch, next, sizeof *next);
    int64_t bytes = 0;
    shape_bytes(l->shape, &bytes);
    e->literal = l;
    map_put(&pl->elided, (struct str){(const char *)&e->literal, sizeof e->literal}, e);
    next->number++;
    next->words += (uint64_t)bytes / 4;
    next->bytes += (uint64_t)bytes % 4;
}

/* ---- filling ---- */

/* Makes every element a valid value of its type, whatever its bits are. */
static void normalise(enum dtype t, uint8_t *bytes, size_t n)
{
    unsigned bits = dtype_bits(t);
    if (t == DT_PRED)
        bits = 1;
    if (bits >= 8)
        return;
    for (size_t k = 0; k < n; k++) {
        bytes[k] = (uint8_t)(bytes[k] & ((1U << bits) - 1));
        if (dtype_is_signed(t) && bytes[k] >> (bits - 1))
            bytes[k] = (uint8_t)(bytes[k] | 0xffU << bits);
    }
}

static void fill_iota(struct literal *l, size_t size, const struct elided *e)
{
    uint32_t *words = l->data;
    uint8_t *bytes = l->data;
    for (size_t k = 0; k < size / 4; k++)
        words[k] = (uint32_t)(e->words + k);
    for (size_t k = 0; k < size % 4; k++)
        bytes[size / 4 + k] = (uint8_t)(e->bytes + k); /* sic: XLA writes the odd bytes there */
    normalise(l->shape->dtype, bytes, size);
}

static void fill_random(struct literal *l, size_t size, struct random_stream r)
{
    random_fill(&r, l->shape->dtype, l->data, size / dtype_bytes(l->shape->dtype));
}

const struct literal *elided_fill(struct planner *pl, const struct inst *i, const struct literal *l)
{
    enum elided_mode mode = pl->p->options.elided;
    int64_t bytes = 0;
    const bool empty = shape_bytes(l->shape, &bytes) && bytes == 0;
    if (mode == ELIDED_REFUSE && !empty) {
        PLAN_FAIL(pl, i, ELIDED_CONSTANT, STR_ARG(i->name));
        return NULL;
    }
    struct elided *e = map_get(&pl->elided, (struct str){(const char *)&l, sizeof l});
    if (e && e->filled)
        return e->filled;
    struct literal *filled = literal_new(&pl->p->arena, l->shape);
    if (!filled || !shape_bytes(l->shape, &bytes)) {
        struct str size = arena_printf(&pl->ds->arena, "%" PRId64, bytes);
        PLAN_FAIL(pl, i, OUT_OF_MEMORY, STR_ARG(shape_text(&pl->ds->arena, l->shape)), size.ptr);
        return NULL;
    }
    plan_keep_filled(pl, filled);
    if (mode == ELIDED_IOTA && e)
        fill_iota(filled, (size_t)bytes, e);
    else if (mode == ELIDED_RANDOM && e)
        fill_random(filled, (size_t)bytes, random_stream(pl->p->options.seed, e->number));
    if (e)
        e->filled = filled;
    return filled;
}
