/*
 * elementwise.c: finds the tile kernel of an elementwise operation.
 *
 * The operations themselves are lines of elementwise_integer.def, elementwise_float.def and
 * elementwise_complex.def; this file has the tables made of them, and the kernels of pred and
 * select.
 */
#include "kern/tile.h"

#include <stdlib.h>

/* ---- pred: bytes that are 0 or 1 ---- */

TILE_BINARY(pred_and, uint8_t, uint8_t, x &y)  /* spec: And; on pred also Mul, Min */
TILE_BINARY(pred_or, uint8_t, uint8_t, x | y)  /* spec: Or; on pred also Add, Max */
TILE_BINARY(pred_xor, uint8_t, uint8_t, x ^ y) /* spec: Xor */
TILE_UNARY(pred_not, uint8_t, uint8_t, x ^ 1)  /* spec: Not */
TILE_TERNARY(pred_clamp, uint8_t, uint8_t,
             (y | x) & z) /* spec: Clamp: x is the low end, y the number, z the high end */

static const struct tile_row pred_rows[] = {
    {"add", pred_or},     {"and", pred_and},     {"clamp", pred_clamp},
    {"maximum", pred_or}, {"minimum", pred_and}, {"multiply", pred_and},
    {"not", pred_not},    {"or", pred_or},       {"xor", pred_xor},
};

/* ---- select: bits are moved, so only their number matters ---- */

#define SELECT(id, T)                                                                              \
    static void select_##id(void *result, const void *const *args, int64_t n)                      \
    {                                                                                              \
        T *out = result;                                                                           \
        const uint8_t *p = args[0];                                                                \
        const T *on = args[1], *off = args[2];                                                     \
        TILE_LOOP                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T x = on[i], y = off[i];                                                         \
            out[i] = p[i] ? x : y;                                                                 \
        }                                                                                          \
    }
SELECT(8, uint8_t) /* spec: Select */
SELECT(16, uint16_t)
SELECT(32, uint32_t)
SELECT(64, uint64_t)
SELECT(128, struct c128)
#undef SELECT

static kern_tile_fn *find_select(enum dtype t)
{
    switch (dtype_bytes(t)) {
    case 1: return select_8;
    case 2: return select_16;
    case 4: return select_32;
    case 8: return select_64;
    case 16: return select_128;
    default: return NULL;
    }
}

/* ---- finding ---- */

static int compare_row(const void *opcode, const void *row)
{
    return strcmp(opcode, ((const struct tile_row *)row)->opcode);
}

kern_tile_fn *tile_find(struct tile_table table, const char *opcode)
{
    if (table.count == 0)
        return NULL;
    const struct tile_row *row =
        bsearch(opcode, table.rows, table.count, sizeof *table.rows, compare_row);
    return row ? row->fn : NULL;
}

static kern_tile_fn *find_elementwise(const char *opcode, enum dtype t)
{
    if (strcmp(opcode, "select") == 0)
        return find_select(t);
    switch (dtype_class(t)) {
    case DC_PRED: return tile_find((struct tile_table){pred_rows, COUNT_OF(pred_rows)}, opcode);
    case DC_SIGNED:
    case DC_UNSIGNED: return tile_find(tile_integers[t], opcode);
    case DC_FLOAT: return tile_find(tile_floats[t], opcode);
    case DC_COMPLEX: return tile_find(tile_complexes[t], opcode);
    case DC_OTHER: break;
    }
    return NULL;
}

static kern_tile_fn *find_vector(const char *opcode, enum dtype t)
{
    const struct tile_table table = t == DT_F64   ? tile_sleef
                                    : t == DT_C64 ? tile_complex_vectors
                                                  : tile_vectors[t];
    kern_tile_fn *fn = tile_find(table, opcode);
    return fn ? fn : find_elementwise(opcode, t);
}

static kern_tile_fn *find_plain(const char *opcode, enum dtype t)
{
    const enum dtype_class class = dtype_class(t);
    kern_tile_fn *fn = class == DC_FLOAT     ? tile_find(tile_plain_floats[t], opcode)
                       : class == DC_COMPLEX ? tile_find(tile_plain_complexes[t], opcode)
                                             : NULL;
    return fn ? fn : find_elementwise(opcode, t);
}

const struct tile_set TILE_OWN(tile_set) = {
    .find = {find_elementwise, find_vector, tile_find_compare, tile_find_convert, tile_find_rounded,
             tile_find_narrow_results},
    .find_plain = {find_plain, find_plain, tile_find_compare, tile_find_convert, tile_find_rounded,
                   tile_find_narrow_results},
    .widen = tile_widen,
    .narrow = tile_narrow,
    .round_randomly = tile_round_randomly,
    .sum_bf16 = tile_sum_bf16,
    .sum_rows_f32 = tile_sum_rows_f32,
    .sum_rows_f64 = tile_sum_rows_f64,
    .multiply_rows_f32 = tile_multiply_rows_f32,
    .multiply_rows_f64 = tile_multiply_rows_f64,
    .sum_columns_bf16 = tile_sum_columns_bf16,
    .sum_columns_f32 = tile_sum_columns_f32,
    .multiply_columns_f32 = tile_multiply_columns_f32,
    .extreme_rows = tile_extreme_rows,
    .extreme_codes = tile_extreme_codes,
    .short_runs_f16 = tile_short_runs_f16,
    .threefry_pairs = tile_threefry_pairs,
    .threefry_rows = tile_threefry_rows,
    .philox = tile_philox,
};
