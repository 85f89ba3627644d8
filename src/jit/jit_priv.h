/*
 * Private to jit.
 *
 *   expand*       operations on elements as lane instructions: expand.def lists them
 *   build.c       the list of lane instructions
 *   fold.c        instructions with constant operands
 *   combine.c     pairs of instructions that AVX-512 has one instruction for
 *   merge.c       removes instructions that are equal to others or not used
 *   allocate.c    assigns registers to values
 *   x86.c         encodings of machine instructions
 *   x86_select.c  lane instructions as machine instructions
 *   x86_tile.c    functions on tiles
 *   x86_512.c     functions on tiles with AVX-512
 *   x86_program.c functions with control flow
 *   memory.c      executable memory
 */
#ifndef HLO_JIT_PRIV_H
#define HLO_JIT_PRIV_H

#include "jit/jit.h"

/* ---- build.c ---- */

enum lane_op {
#define LANE(id, operands, result, meaning) LANE_##id,
#include "jit/lane.def"
#undef LANE
    LANE_OP_COUNT
};
enum lane_type { LANE_I32, LANE_I64, LANE_F32, LANE_F64, LANE_I16, LANE_TYPE_COUNT };
static inline bool lane_is_wide(enum lane_type t) { return t == LANE_I64 || t == LANE_F64; }
static inline bool lane_is_float(enum lane_type t) { return t == LANE_F32 || t == LANE_F64; }

enum { LANE_OPERANDS = 3, LANE_NONE = INT_MIN }; /* NONE: no expansion */
struct lane_index {
    int lanes; /* its value: an instruction or ~n */
    bool is_unsigned;
    int64_t last, stride;
};
struct lane_place {
    char *base;
    char *const *pointer; /* NULL: at `base` */
    int64_t bytes;        /* of a copy */
    int count;
    struct lane_index indices[];
};

/* Operands are numbers of the instructions that compute them, or ~n for constant n. */
struct lane_inst {
    uint8_t op, type; /* enum lane_op, enum lane_type: of the result */
    uint8_t count;    /* bits of a shift */
    uint8_t format;   /* enum dtype of elements in memory */
    uint8_t lanes;    /* of programs: number of elements */
    bool indexed;     /* an element at `address` is the first one of a loop */
    bool invariant;   /* of functions on tiles: the same for all elements */
    uint8_t row;      /* of an element at `address` in the first row: 1 + the number of its stride;
                       * 0: the same in all rows */
    int tile;         /* or -1: at `address` */
    int offsets;      /* tile of byte offsets; 0: none */
    int args[LANE_OPERANDS];
    int variable;                   /* that the result is assigned to; -1: none */
    const struct lane_place *place; /* of an element at computed indices; else NULL */
    /* of programs only */
    int label;             /* of a jump */
    int limit;             /* elements of a loop; rows */
    char *address;         /* of an element, or the home of a variable */
    jit_call_fn *function; /* of a call */
    jit_kernel_fn *kernel;
    const void *argument; /* of a call; the addresses of a kernel's operands */
    int touched_count;    /* variables that the callee reads or writes in their homes */
    const int *touched;   /* their instructions */
    const int *labels;    /* of a switch, `label_count` of them; the strides of rows */
    int label_count;
};

struct lane_constant {
    uint64_t bits; /* of one lane, repeated if it has fewer */
    enum lane_type type;
};

/* A value of the caller. The lanes of a pred are a mask, of 32 or 64 bits. */
struct jit_value {
    enum dtype type;
    int lanes;     /* instruction, or ~n for a constant */
    int imaginary; /* of c64: the lanes of the other part */
    enum dtype
        exact; /* of f32: a narrow type whose values are the only ones, if it is BF16 or F16 */
};

struct jit_builder {
    struct arena *arena;
    struct lane_inst *insts;
    int inst_count;
    size_t inst_capacity;
    struct lane_constant *constants;
    int constant_count;
    size_t constant_capacity;
    struct jit_value *values;
    int value_count;
    size_t value_capacity;
    int *variables; /* instructions LANE_VARIABLE */
    int variable_count;
    size_t variable_capacity;
    int tile_count, label_count;
    int lanes;      /* of instructions that follow; 0: of a tile function, whatever fits */
    int loop_label; /* 1 + the label of the loop of elements that is open; else 0 */
    int row_start;  /* the instruction START_ROWS of the loop over rows that is open */
    int *strides;   /* of its elements, `stride_count` of them; NULL: none is open */
    int stride_count;
    struct jit_target target;
    const char *data; /* the block that a program gets at another address */
    size_t data_size;
    int invariant_count; /* of the first instructions, which run before the loop */
    bool wide;           /* an instruction has lanes of 64 bits */
    bool indexed;        /* elements of tiles are at offsets */
};

int lane_operands(const struct lane_inst *i); /* number of them */
bool lane_has_result(const struct lane_inst *i);
/* Appends an instruction; unused operands are 0. */
int lane_emit(struct jit_builder *b, enum lane_op op, enum lane_type t, int x, int y, int z);
int lane_shift(struct jit_builder *b, enum lane_op op, enum lane_type t, int x, unsigned count);
int lane_constant(struct jit_builder *b, enum lane_type t, uint64_t bits);
static inline unsigned lane_width(enum lane_type t)
{
    return lane_is_wide(t) ? 64 : t == LANE_I16 ? 16 : 32;
}
/* Whether a function on tiles computes the value once for all elements. */
static inline bool lane_is_invariant(const struct jit_builder *b, int lanes)
{
    return lanes < 0 || b->insts[lanes].invariant;
}
/* The bits of a lane of 32 that an element of bf16 has. */
static const uint32_t lane_high_half = 0xffff0000;
/* The lanes of preds, and masks for them. */
static inline enum lane_type lane_of_pred(const struct jit_builder *b)
{
    return b->target.lanes16 ? LANE_I16 : LANE_I32;
}
/* The lanes that hold elements of this type; false: none do. */
bool lane_of_dtype(const struct jit_builder *b, enum dtype t, enum lane_type *out);
enum lane_type lane_type_of(const struct jit_builder *b, int lanes);
int jit_value_new(struct jit_builder *b, enum dtype t, int lanes);

/* ---- fold.c ---- */

/* The value that an instruction always has: an earlier instruction or a constant; LANE_NONE:
 * neither. */
int lane_fold(struct jit_builder *b, const struct lane_inst *i);
/* Whether operands can be exchanged: not of sums and products of floats, as NaNs have payloads. */
bool lane_is_commutative(const struct lane_inst *i);

/* ---- merge.c ---- */

/* For functions on tiles. */
void lane_merge(struct jit_builder *b);
void lane_remove_unused(struct jit_builder *b);
/* Moves invariant instructions before the others. */
void lane_hoist(struct jit_builder *b);

/* ---- combine.c ---- */

/* For functions on tiles with AVX-512, after lane_merge(). */
void lane_combine(struct jit_builder *b);

/* ---- allocate.c ---- */

enum { JIT_REGISTERS = 13 }; /* that hold values; the target needs some for itself */
enum { JIT_MOST_REGISTERS = 32 };
/* The registers of a target for vectors and for masks. */
struct register_file {
    int counts[2];
    const bool *masks; /* by instruction: its value is in a register for masks; NULL: none is */
};
/* By instruction: where its value is, and for how long. */
struct allocation {
    int *registers;    /* or ~s for spill slot s */
    int *first, *last; /* instructions between which it is live; first: INT_MAX if never */
    int slot_count;
};
struct allocation allocate_registers(const struct jit_builder *b, const struct register_file *file);

/* ---- x86_select.c ---- */

struct x86_code;
struct x86_selection {
    struct x86_code *code;
    const struct jit_builder *b;
    struct allocation a;
    int lanes; /* AVX2: 8, 4 or 1; AVX-512: 32, 16 or 8 */
    int spare; /* the first of three vector registers for operands on their way */
    /* of a function on tiles, by constant: its register, or -1; NULL: none has one */
    const int8_t *constants;
    /* of AVX-512, by instruction: its value is in a mask register; NULL: AVX2 */
    const bool *masks;
    int high_halves; /* constant: the high half of each 64 bits */
    bool rest;       /* the last elements */
};
/* Appends the machine code of an instruction, for `lanes` elements from number X86_INDEX on. */
void x86_select(const struct x86_selection *s, int number);

/* ---- memory.c ---- */

/* Copies code to executable memory, aligned to a cache line; NULL: none is left. */
void *jit_memory_add(struct jit_memory *m, const void *code, size_t size);

#endif
