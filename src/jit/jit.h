/*
 * jit: machine code for sequences of elementwise operations.
 *
 * A function is built one operation at a time. Operations are expanded to lane instructions
 * (lane.def), which every target can encode; the formulas of the expansion are those of the tile
 * kernels, so that the results have the same bits. What has no expansion is left to a tile kernel.
 */
#ifndef HLO_JIT_H
#define HLO_JIT_H

#include "base/base.h"
#include "type/type.h"

/* ---- memory.c: executable memory ---- */

/* Memory for the functions of a program: writable until it is sealed, then executable. */
struct jit_memory;
/* NULL where no machine code can be run: on another processor, if the system refuses executable
 * memory, or if HLO_NATIVE is 0 in the environment. */
struct jit_memory *jit_memory_new(void);
/* Makes the functions callable; no function can be added afterwards. */
void jit_memory_seal(struct jit_memory *m);
void jit_memory_free(struct jit_memory *m);         /* NULL is allowed */
size_t jit_memory_size(const struct jit_memory *m); /* bytes of code */

/* ---- build.c, expand.c: functions under construction ---- */

enum { JIT_NONE = -1 }; /* no value: the operation has no expansion */

/* A value: its type, and the lane instruction that computes it. */
struct jit_builder;
struct jit_builder *jit_builder_new(struct arena *a);

/* The elements of tile `tile`, packed; with `single`, one element for all. */
int jit_load(struct jit_builder *b, int tile, enum dtype t, bool single);
void jit_store(struct jit_builder *b, int tile, int value);

/* The operation with this spelling on elements of type `t` (of select: except the predicate), as
 * the tile kernel of that name computes it. */
int jit_elementwise(struct jit_builder *b, const char *opcode, enum dtype t, const int *args,
                    int count);
enum jit_direction { JIT_EQ, JIT_NE, JIT_GE, JIT_GT, JIT_LE, JIT_LT }; /* as enum kern_direction */
int jit_compare(struct jit_builder *b, enum jit_direction d, bool total_order, int x, int y);
int jit_convert(struct jit_builder *b, enum dtype to, int x);
/* An f32 rounded to a value of bf16 or f16, as f32. */
int jit_round(struct jit_builder *b, enum dtype t, int x);
/* The same bits as another type of the same width. */
int jit_bitcast(struct jit_builder *b, enum dtype to, int x);

/* ---- tile.c: functions on tiles ---- */

/* Computes n elements; `tiles` are the addresses of all tiles. Results may overwrite operands
 * element by element. */
typedef void jit_tile_fn(void *const *tiles, int64_t n);
/* Compiles the function, callable once the memory is sealed; NULL: out of memory, or too large. */
jit_tile_fn *jit_tile_function(struct jit_builder *b, struct jit_memory *m);

#endif
