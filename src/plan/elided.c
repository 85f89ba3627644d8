/*
 * Constants written `{...}`, whose values were omitted when the module was printed. They are filled
 * before a run, by one of these rules:
 *   zero    zeros
 *   iota    as XLA's parser fills them: a 32-bit counter that continues from constant to constant
 *           in textual order, its raw bits, masked to 0 and 1 for pred
 *   random  splitmix64 of the seed, the number of the constant and of the element, as in
 *           io/random.c
 */
#include "plan/plan_priv.h"

/* Elements beyond this number repeat the earlier ones, which bounds the time to fill a constant. */
enum { RANDOM_BLOCK = 1 << 22 };

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

static uint64_t mix64(uint64_t key, uint64_t i)
{
    uint64_t z = (i + 1) * 0x9E3779B97F4A7C15u + key * 0xD1342543DE82EF95u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static float unit_f32(uint64_t u) { return (float)(u >> 40) * 0x1p-23f - 1; }
static double unit_f64(uint64_t u) { return (double)(u >> 11) * 0x1p-52 - 1; }

static void random_element(enum dtype t, char *out, uint64_t key, uint64_t i)
{
    if (t == DT_C64) {
        *(struct c64 *)(void *)out =
            (struct c64){unit_f32(mix64(key, 2 * i)), unit_f32(mix64(key, 2 * i + 1))};
    } else if (t == DT_C128) {
        *(struct c128 *)(void *)out =
            (struct c128){unit_f64(mix64(key, 2 * i)), unit_f64(mix64(key, 2 * i + 1))};
    } else if (dtype_is_float(t)) {
        uint64_t u = mix64(key, i);
        float_store(t, out, t == DT_F64 ? unit_f64(u) : (double)unit_f32(u));
    } else {
        uint64_t u = mix64(key, i);
        u = t == DT_PRED ? u >> 63 : u % (dtype_bits(t) < 8 ? 2 : 5);
        if (dtype_bits(t) == 1 && dtype_is_signed(t))
            u = 0 - u; /* s1 holds 0 and -1 */
        memcpy(out, &u, dtype_bytes(t));
    }
}

static void fill_random(struct literal *l, size_t size, uint64_t key)
{
    enum dtype t = l->shape->dtype;
    size_t width = dtype_bytes(t), n = size / width, block = n < RANDOM_BLOCK ? n : RANDOM_BLOCK;
    char *data = l->data;
    for (size_t k = 0; k < block; k++)
        random_element(t, data + k * width, key, k);
    for (size_t k = block; k < n; k += block)
        memcpy(data + k * width, data, (n - k < block ? n - k : block) * width);
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
        fill_random(filled, (size_t)bytes, pl->p->options.seed * 1000003 + e->number);
    if (e)
        e->filled = filled;
    return filled;
}
