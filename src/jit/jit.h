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

/* Memory for the functions of a program, of one MiB: writable until it is sealed, then executable.
 */
struct jit_memory;
/* NULL where no machine code can be run: on another processor, if the system refuses executable
 * memory, or if HLO_NATIVE is 0 in the environment. */
struct jit_memory *jit_memory_new(void);
/* Makes the functions callable; no function can be added afterwards. */
void jit_memory_seal(struct jit_memory *m);
void jit_memory_free(struct jit_memory *m); /* NULL is allowed */

/* ---- build.c, expand.c: functions under construction ---- */

/* Functions of this section return values, which have a type; JIT_NONE: the operation or its type
 * has no expansion, and nothing was added. */
enum { JIT_NONE = -1 };

struct jit_builder;
struct jit_builder *jit_builder_new(struct arena *a);
/* Instructions that a function may use besides those of AVX2. */
struct jit_target {
    bool avx512;    /* AVX-512 F, BW, CD, DQ, VL */
    bool vnni;      /* AVX512_VNNI */
    bool vpopcntdq; /* AVX512_VPOPCNTDQ */
    /* Lanes have 16 bits, twice as many. Only preds and integers of at most 16 bits
     * have values. */
    bool lanes16;
    bool complex; /* c64 has values */
    bool general; /* of a program: single elements outside of loops may use general registers */
};
/* Of a function on tiles without elements at offsets, or, if only `general` is set, of a program,
 * before anything is added to it; otherwise it uses AVX2 only. */
void jit_set_target(struct jit_builder *b, struct jit_target target);

/* The elements of tile `tile`, packed; with `single`, one element for all. */
int jit_load(struct jit_builder *b, int tile, enum dtype t, bool single);
void jit_store(struct jit_builder *b, int tile, int value);
/* The elements of tile `tile` at the byte offsets in tile `offsets`, of type s64. A function with
 * such elements computes one after the other: a store may change what is loaded next. */
int jit_load_indexed(struct jit_builder *b, int tile, int offsets, enum dtype t);
void jit_store_indexed(struct jit_builder *b, int tile, int offsets, int value);

/* The operation with this spelling on elements of type `t` (of select: except the predicate), as
 * the tile kernel of that name computes it. */
int jit_elementwise(struct jit_builder *b, const char *opcode, enum dtype t, const int *args,
                    int count);
enum jit_direction { JIT_EQ, JIT_NE, JIT_GE, JIT_GT, JIT_LE, JIT_LT }; /* as enum kern_direction */
int jit_compare(struct jit_builder *b, enum jit_direction d, bool total_order, int x, int y);
int jit_convert(struct jit_builder *b, enum dtype to, int x);
/* An f32 rounded to a value of bf16 or f16, as f32. `of_values`: it is the result of an operation
 * on values of that type. */
int jit_round(struct jit_builder *b, enum dtype t, int x, bool of_values);
/* An f32 that is a value of bf16 or f16. */
int jit_narrow(struct jit_builder *b, enum dtype t, int x);
/* The same bits as another type of the same width. */
int jit_bitcast(struct jit_builder *b, enum dtype to, int x);

/* ---- x86_tile.c: functions on tiles ---- */

/* Computes n elements; `tiles` are the addresses of all tiles. Results may overwrite operands
 * element by element. */
typedef void jit_tile_fn(void *const *tiles, int64_t n);
/* Compiles the function, callable once the memory is sealed; NULL: no memory for code is left. */
jit_tile_fn *jit_tile_function(struct jit_builder *b, struct jit_memory *m);

/* ---- build.c, x86_program.c: functions on single elements, with control flow ---- */

/* Before anything is added: addresses in this block are those of another one of the same size,
 * which is passed to the function. */
void jit_set_data(struct jit_builder *b, const char *data, size_t size);
/* A variable of this type, which has a home in memory. With `loaded`, it has the value in its home
 * at the start. May be used as a value: its current one. */
int jit_variable(struct jit_builder *b, enum dtype t, char *home, bool loaded);
void jit_set(struct jit_builder *b, int variable, int value);
/* A constant: the element at `at`. */
int jit_constant(struct jit_builder *b, enum dtype t, const void *at);
/* The element at an address, which is loaded each time; and a store to it. */
int jit_element(struct jit_builder *b, char *at, enum dtype t);
void jit_put_element(struct jit_builder *b, char *at, int value);
int jit_single(struct jit_builder *b, char *at, enum dtype t); /* in all lanes */
/* Stores a variable in its home. */
void jit_flush(struct jit_builder *b, int variable);

/* Several elements at once, in adjacent lanes. From jit_set_lanes() on, instructions compute that
 * many elements: 8 or 4, of which jit_most_lanes() gives the greater one that is possible for the
 * types in use so far, or 1, as at the start. jit_element() and jit_put_element() then access
 * adjacent elements; variables have one element only. */
int jit_most_lanes(const struct jit_builder *b);
void jit_set_lanes(struct jit_builder *b, int lanes);
int jit_splat(struct jit_builder *b, int value); /* one element in all lanes */
/* A loop whose iterations access elements 0, lanes, 2 * lanes, ... < count from the addresses that
 * are given. It contains no other control flow, place or call. */
void jit_start_elements(struct jit_builder *b);
void jit_end_elements(struct jit_builder *b, int count);

/* A loop over rows, around loops of elements or between them, which contains nothing else. From row
 * to row, the last element that was accessed moves by `stride` bytes; of a function, its address is
 * in the data unless that is 0. There are at most JIT_MOST_STRIDES others in a loop. */
enum { JIT_MOST_STRIDES = 6 };
void jit_start_rows(struct jit_builder *b);
void jit_set_stride(struct jit_builder *b, int64_t stride);
void jit_end_rows(struct jit_builder *b, int rows);

/* An array that is accessed at computed indices, which are clamped: at `base`, or, unless `pointer`
 * is NULL, at the address that it holds. */
enum { JIT_INSIDE = -1 };
struct jit_index {
    int value;            /* an integer of at most 64 bits, except u64 */
    int64_t last, stride; /* greatest index, INSIDE: need not be clamped; bytes between indices */
};
struct jit_place {
    char *base;
    char *const *pointer;
    int count;
    const struct jit_index *indices;
};
int jit_load_at(struct jit_builder *b, enum dtype t, const struct jit_place *at);
void jit_store_at(struct jit_builder *b, const struct jit_place *at, int value);
/* Copies n bytes between `piece` and the array. */
void jit_copy_from(struct jit_builder *b, char *piece, const struct jit_place *at, int64_t n);
void jit_copy_to(struct jit_builder *b, const struct jit_place *at, char *piece, int64_t n);

int jit_label(struct jit_builder *b);
void jit_put_label(struct jit_builder *b, int label); /* here */
void jit_jump(struct jit_builder *b, int label);
void jit_jump_unless(struct jit_builder *b, int value, int label);
/* To the label of this number (s32), or to the last one if it is out of range. */
void jit_switch(struct jit_builder *b, int value, const int *labels, int count);
void jit_return(struct jit_builder *b);

/* Calls of C functions. `touched`: the variables that the function reads or writes in their
 * homes. */
typedef bool jit_call_fn(const void *context, const void *argument);
typedef void jit_kernel_fn(void *out, const void *const *args, int64_t n);
/* Ends the program if the function returns false. */
void jit_call(struct jit_builder *b, jit_call_fn *function, const void *argument,
              const int *touched, int count);
/* Decrements the slice of the budget and, if it is negative, calls the function. */
void jit_charge(struct jit_builder *b, jit_call_fn *function, const void *argument,
                const int *touched, int count);
void jit_kernel(struct jit_builder *b, jit_kernel_fn *kernel, char *out, const void *const *args,
                int n, const int *touched, int count);

/* Runs until the end, or until a call returns false. `data`: as in jit_set_data(). */
typedef bool jit_program_fn(const void *context, int64_t *slice, char *data);
jit_program_fn *jit_program(struct jit_builder *b, struct jit_memory *m);

#endif
