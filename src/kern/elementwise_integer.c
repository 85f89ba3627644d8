/*
 * elementwise_integer.c: tile kernels of elementwise operations on integers.
 *
 * The formulas are in elementwise_integer.def, the loops around them in elementwise_integer.inc.
 * Types narrower than a byte have their own width: two's complement that wraps at W bits
 * (grammar/values.md 3, 4). spec: the heading is beside each formula.
 */
#include "kern/tile.h"

#define SIGNED 1
#include "kern/each_integer.inc"
#define SIGNED 0
#include "kern/each_integer.inc"

const struct tile_table tile_integers[DT_COUNT] = {
#define ROWS(id) [DT_##id] = {id##_rows, COUNT_OF(id##_rows)},
    ROWS(S1) ROWS(S2) ROWS(S4) ROWS(S8) ROWS(S16) ROWS(S32) ROWS(S64) ROWS(U1) ROWS(U2) ROWS(U4)
        ROWS(U8) ROWS(U16) ROWS(U32) ROWS(U64)
#undef ROWS
};
