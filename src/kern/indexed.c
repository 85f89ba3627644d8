/*
 * indexed.c: combines runs of elements at lists of offsets, the inner loop of scatter (no kernel of
 * its own).
 */
#include "kern/indexed.h"

#include "kern/extremes.h"
#include "kern/tile.h"

#define COMBINE(op, type, T, formula) INDEXED_COMBINE(op##_##type, T, formula)
#include "kern/combine.def"

static indexed_fn *const short_runs[DT_COUNT][KERN_XOR + 1] = {
#define COMBINE(op, type, T, formula) [DT_##type][KERN_##op] = op##_##type,
#include "kern/combine.def"
};

bool indexed_combiner_init(struct indexed_combiner *c, enum kern_combine combine,
                           const struct view *array)
{
    enum { NEAR = 512 << 10 }; /* bytes */
    const enum dtype t = array->dtype;
    const char *opcode = kern_combine_opcode(combine);
    c->type = t;
    c->is_far = view_elements(array) * (int64_t)dtype_bytes(t) > NEAR;
    c->fn = opcode ? kern_find_elementwise(opcode, t) : NULL;
    c->points = !c->fn        ? NULL
                : t == DT_F16 ? tile_set()->short_runs_f16(combine)
                              : short_runs[t][combine];
    return c->fn != NULL;
}

void indexed_combine(const struct indexed_combiner *c, char *out, const int64_t *out_at,
                     const char *x, const int64_t *x_at, int64_t n, int64_t elements)
{
    enum { SHORT = 32 };
    const int64_t bytes = elements * (int64_t)dtype_bytes(c->type);
    if (c->points && elements <= SHORT) {
        c->points(out, out_at, x, x_at, n, elements, c->is_far ? n : 0);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        char *to = out + out_at[i];
        if (i + RUNS_AHEAD < n) {
            indexed_fetch(out + out_at[i + RUNS_AHEAD], bytes);
            indexed_fetch(x + x_at[i + RUNS_AHEAD], bytes);
        }
        c->fn(to, (const void *const[]){to, x + x_at[i]}, elements);
    }
}
