/*
 * elementwise_integer.c: tile kernels of elementwise operations on integers.
 *
 * The formulas are in elementwise_integer.def, the loops around them in elementwise_integer.inc.
 * Types narrower than a byte have their own width: two's complement that wraps at W bits
 * (grammar/values.md 3, 4). spec: the heading is beside each formula.
 */
#include "kern/tile.h"

#define SELF S1
#define T int8_t
#define U uint8_t
#define W 1
#define SIGNED 1
#include "kern/elementwise_integer.inc"

#define SELF S2
#define T int8_t
#define U uint8_t
#define W 2
#define SIGNED 1
#include "kern/elementwise_integer.inc"

#define SELF S4
#define T int8_t
#define U uint8_t
#define W 4
#define SIGNED 1
#include "kern/elementwise_integer.inc"

#define SELF S8
#define T int8_t
#define U uint8_t
#define W 8
#define SIGNED 1
#include "kern/elementwise_integer.inc"

#define SELF S16
#define T int16_t
#define U uint16_t
#define W 16
#define SIGNED 1
#include "kern/elementwise_integer.inc"

#define SELF U1
#define T uint8_t
#define U uint8_t
#define W 1
#define SIGNED 0
#include "kern/elementwise_integer.inc"

#define SELF U2
#define T uint8_t
#define U uint8_t
#define W 2
#define SIGNED 0
#include "kern/elementwise_integer.inc"

#define SELF U4
#define T uint8_t
#define U uint8_t
#define W 4
#define SIGNED 0
#include "kern/elementwise_integer.inc"

#define SELF U8
#define T uint8_t
#define U uint8_t
#define W 8
#define SIGNED 0
#include "kern/elementwise_integer.inc"

#define SELF U16
#define T uint16_t
#define U uint16_t
#define W 16
#define SIGNED 0
#include "kern/elementwise_integer.inc"

#include "kern/each_wide_integer.inc"

const struct tile_table tile_integers[DT_COUNT] = {
#define ROWS(id) [DT_##id] = {id##_rows, COUNT_OF(id##_rows)},
    ROWS(S1) ROWS(S2) ROWS(S4) ROWS(S8) ROWS(S16) ROWS(S32) ROWS(S64) ROWS(U1) ROWS(U2) ROWS(U4)
        ROWS(U8) ROWS(U16) ROWS(U32) ROWS(U64)
#undef ROWS
};
