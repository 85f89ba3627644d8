/*
 * x86.h: encodings of machine instructions of x86-64 with AVX2 or AVX-512. Private to jit.
 */
#ifndef HLO_JIT_X86_H
#define HLO_JIT_X86_H

#include "jit/jit_priv.h"

enum x86_inst {
#define X86(id, ...) X86_##id,
#include "jit/x86.def"
#undef X86
    X86_INST_COUNT
};
enum x86_form {
    X86_XXM,
    X86_XM,
    X86_MX,
    X86_XXMI,
    X86_XMI,
    X86_MXI,
    X86_XXMX,
    X86_XXI,
    X86_KXM,
    X86_KXMI,
    X86_XK,
    X86_KX,
    X86_KKK,
    X86_KK,
    X86_KM,
    X86_MK,
    X86_KR,
    X86_RMR
};
struct x86_row {
    const char *mnemonic;
    uint8_t prefix, map;
    uint16_t opcode;
    uint8_t form; /* enum x86_form */
    bool has_vex;
    uint8_t w;
    uint8_t w_512, x_part, m_part; /* x_part: 0 if it has no encoding of AVX-512 */
    const char *mnemonic_512;      /* NULL: as above, and the form as well */
    uint8_t form_512;
};
extern const struct x86_row x86_table[X86_INST_COUNT];
static inline enum x86_form x86_form_512(enum x86_inst inst)
{
    const struct x86_row *row = &x86_table[inst];
    return (enum x86_form)(row->mnemonic_512 ? row->form_512 : row->form);
}

enum x86_register { /* general ones */
                    RAX,
                    RCX,
                    RDX,
                    RBX,
                    RSP,
                    RBP,
                    RSI,
                    RDI,
                    R8,
                    R9,
                    R10,
                    R11,
                    R12,
                    R13,
                    R14,
                    R15
};
enum { X86_INDEX = RAX, X86_TILES = RDI, X86_COUNT = RSI, X86_ADDRESS = R11 }; /* of tiles */
/* Of programs: the slice of the budget is in a register, and where BUDGET points during calls. DATA
 * points to the data. */
enum { X86_DATA = RBX, X86_CONTEXT = R12, X86_SLICE = R13, X86_BUDGET = RBP };
/* In loops over rows: those that follow; where elements at offset 0 of the data are in this one, by
 * their stride. */
enum { X86_ROWS = RCX };
int x86_row_register(int row);
enum {
    X86_SLOT_BYTES = 32,
    X86_SPARE = JIT_REGISTERS
}; /* SPARE: the first vector register without a value */

/* A register, a memory operand, or a constant of the code. */
struct x86_operand {
    enum { X86_REGISTER, X86_MEMORY, X86_INDEXED, X86_CONSTANT } kind;
    int number;      /* of the register or of the constant */
    int base, index; /* of memory: at base + index * scale + offset */
    int scale, offset;
};
static inline struct x86_operand x86_register(int number)
{
    return (struct x86_operand){.kind = X86_REGISTER, .number = number};
}
static inline struct x86_operand x86_memory(int base, int offset)
{
    return (struct x86_operand){.kind = X86_MEMORY, .base = base, .offset = offset};
}
static inline struct x86_operand x86_indexed(int base, int index, int scale)
{
    return (struct x86_operand){.kind = X86_INDEXED, .base = base, .index = index, .scale = scale};
}
static inline struct x86_operand x86_constant(int number)
{
    return (struct x86_operand){.kind = X86_CONSTANT, .number = number};
}

/* Code, followed by constants, to which it refers relative to the instruction. */
struct x86_code {
    struct buf bytes;
    struct buf fixups;  /* struct x86_fixup */
    int constant_bytes; /* 32 or 64: of a constant, which fills a vector */
};
struct x86_fixup {
    int at, constant; /* position of a 32-bit offset; the number of the constant */
};

/* An instruction on vectors of 32 bytes (`wide`) or 16; operands that its form lacks are ignored:
 * `x` is the destination or the stored register, `y` the second operand, `m` the last one,
 * `immediate` a number, or the register of the fourth operand. */
void x86_vector(struct x86_code *c, enum x86_inst inst, bool wide, int x, int y,
                struct x86_operand m, int immediate);
/* An instruction of AVX-512 on vectors of 16, 32 or 64 bytes. `mask`: the mask register of the
 * lanes that are written, or 0: all; `zeroing`: the others are set to 0, not kept. */
enum x512_size { X512_16, X512_32, X512_64 };
void x512_vector(struct x86_code *c, enum x86_inst inst, enum x512_size size, int x, int y,
                 struct x86_operand m, int immediate, int mask, bool zeroing);
/* An instruction on general registers of 64 bits: `opcode` of one byte, or two, with `reg` a
 * register or the extension of the opcode. */
void x86_general(struct x86_code *c, int opcode, int reg, struct x86_operand m);
void x86_bytes(struct x86_code *c, const char *bytes, size_t size);
void x86_int32(struct x86_code *c, int32_t v);
/* Appends the constants and resolves the references to them. */
void x86_finish(struct x86_code *c, const struct jit_builder *b);

void x86_load_address(struct x86_code *c, int r, const void *address);

/* Jumps return the position of their end, for x86_set_target(). */
enum x86_condition {
    X86_BELOW_ZERO = 0x88,
    X86_BELOW_EQUAL = 0x86, /* unsigned */
    X86_EQUAL = 0x84,
    X86_LESS = 0x8c,
    X86_GREATER_EQUAL = 0x8d,
    X86_ALWAYS = 0
};
int x86_jump(struct x86_code *c, enum x86_condition condition, int target);
void x86_set_target(struct x86_code *c, int jump_end, int target);
/* Operations with a number of 32 bits: extensions of an opcode. */
enum { X86_ADD = 0, X86_SUB = 5, X86_CMP = 7 };
void x86_number(struct x86_code *c, int extension, int r, int32_t v);
/* RAX / RCX, or the remainder, in RAX, as HLO defines them; changes RCX and RDX. */
void x86_divide(struct x86_code *c, bool wide, bool is_signed, bool remainder);
void x86_push(struct x86_code *c, int r);
void x86_pop(struct x86_code *c, int r);

/* ---- x86_tile.c ---- */

int x86_tile_register(int tile); /* of its address, or X86_ADDRESS */
/* Saves registers, reserves the stack and loads the addresses of tiles; and the reverse. */
void x86_enter_tiles(struct x86_code *c, const struct jit_builder *b, int slot_bytes);
void x86_leave_tiles(struct x86_code *c, int slot_bytes);
/* Chooses registers below `limit`, after those that hold values, for the constants that
 * instructions use most often, and loads these. `masks`: by instruction, its value is in a mask
 * register; NULL: none is. The result, by constant: its register, or -1. */
int8_t *x86_load_constants(struct x86_code *c, const struct jit_builder *b,
                           const struct allocation *a, const bool *masks, int limit);
/* while (index < count) { `lanes` elements; index += lanes }; `select` appends an instruction. */
typedef void x86_select_fn(const void *selection, int number);
void x86_put_loop(struct x86_code *c, const struct jit_builder *b, int lanes, x86_select_fn *select,
                  const void *selection);

/* ---- x86_512.c ---- */

/* The size of instructions with AVX-512 on lanes of type `t`. */
static inline enum x512_size x512_size_of(const struct x86_selection *s, enum lane_type t)
{
    return s->lanes * (int)lane_width(t) == 512 ? X512_64 : X512_32;
}
/* By instruction: whether its value is in a mask register. */
bool *x512_find_masks(const struct jit_builder *b);
/* Moves a mask to the register `spare`, as lanes of type `t`. */
void x512_spread_mask(const struct x86_selection *s, int lanes, enum lane_type t, int spare);
/* The code of a function on tiles with AVX-512. */
void x512_tile_function(struct x86_code *c, struct jit_builder *b);

/* ---- x86_select.c ---- */

/* Loads an address, as that of what is at `address`. */
void x86_locate(const struct x86_selection *s, int r, const void *address);

/* An instruction on vectors with lanes of type `t`. */
void x86_put(const struct x86_selection *s, enum x86_inst inst, enum lane_type t, int x, int y,
             struct x86_operand m, int immediate);
/* An operand in lanes of type `t`. A mask is first moved to the register `spare`. */
struct x86_operand x86_operand_of(const struct x86_selection *s, int lanes, enum lane_type t,
                                  int spare);
/* The register of an operand, or `spare`, to which it is loaded. */
int x86_in_register(const struct x86_selection *s, int lanes, enum lane_type t, int spare);
void x86_move(const struct x86_selection *s, int out, struct x86_operand m);
static inline bool x86_is_in(struct x86_operand m, int r)
{
    return m.kind == X86_REGISTER && m.number == r;
}
/* The instructions of an operation on values in vector registers, whatever the target. */
void x86_select_operation(const struct x86_selection *s, const struct lane_inst *i, int out);

/* Loads a variable from its home, and stores it there. */
void x86_load_variable(const struct x86_selection *s, int variable);
void x86_store_variable(const struct x86_selection *s, int variable);

#endif
