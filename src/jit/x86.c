/*
 * x86.c: encodings of machine instructions of x86-64 with AVX2 or AVX-512. The unit test compares
 * them with those of an assembler.
 */
#include "jit/x86.h"

enum { P0, P66, PF3, PF2 };
#define VEX(w) true, w
#define NO_VEX false, 0
#define EVEX(w, x_part, m_part) w, x_part, m_part, NULL, 0
#define EVEX_AS(w, x_part, m_part, mnemonic, form) w, x_part, m_part, mnemonic, X86_##form
#define NO_EVEX 0, 0, 0, NULL, 0
const struct x86_row x86_table[X86_INST_COUNT] = {
#define X86(id, mnemonic, prefix, map, opcode, form, ...)                                          \
    {mnemonic, prefix, map, opcode, X86_##form, __VA_ARGS__},
#include "jit/x86.def"
#undef X86
};

static void put(struct x86_code *c, int byte) { buf_putc(&c->bytes, (char)byte); }

void x86_bytes(struct x86_code *c, const char *bytes, size_t size)
{
    buf_bytes(&c->bytes, bytes, size);
}

void x86_int32(struct x86_code *c, int32_t v) { buf_bytes(&c->bytes, (const char *)&v, sizeof v); }

/* The fourth bits of the registers of a memory operand, or of a register. */
static int base_high(struct x86_operand m)
{
    return m.kind == X86_CONSTANT ? 0 : (m.kind == X86_REGISTER ? m.number : m.base) >> 3 & 1;
}
static int index_high(struct x86_operand m) { return m.kind == X86_INDEXED ? m.index >> 3 & 1 : 0; }

static int log2_of(int scale) { return scale == 8 ? 3 : scale >> 1; }

/* ModRM byte, SIB byte and offset. Offsets of memory operands have 32 bits; `rest` is the number of
 * bytes of the instruction that follow. */
static void put_operand(struct x86_code *c, int reg, struct x86_operand m, int rest)
{
    int high = (reg & 7) << 3;
    switch (m.kind) {
    case X86_REGISTER: put(c, 0xc0 | high | (m.number & 7)); return;
    case X86_MEMORY:
        put(c, 0x80 | high | (m.base & 7));
        if ((m.base & 7) == RSP)
            put(c, 0x24);
        x86_int32(c, m.offset);
        return;
    case X86_INDEXED:
        put(c, 0x80 | high | 4);
        put(c, log2_of(m.scale) << 6 | (m.index & 7) << 3 | (m.base & 7));
        x86_int32(c, m.offset);
        return;
    case X86_CONSTANT: break;
    }
    put(c, high | 5);
    struct x86_fixup f = {(int)c->bytes.size, m.number};
    buf_bytes(&c->fixups, (const char *)&f, sizeof f);
    x86_int32(c, -rest);
}

/* Whether the form has a second operand, in a register of its own field. */
static bool has_second(enum x86_form form)
{
    switch (form) {
    case X86_XXM:
    case X86_XXMI:
    case X86_XXMX:
    case X86_XXI:
    case X86_KXM:
    case X86_KXMI:
    case X86_KKK:
    case X86_RMR: return true;
    default: return false;
    }
}

static bool has_immediate_byte(enum x86_form form)
{
    return form == X86_XXMI || form == X86_XMI || form == X86_MXI || form == X86_XXMX ||
           form == X86_XXI || form == X86_KXMI;
}

void x86_vector(struct x86_code *c, enum x86_inst inst, bool wide, int x, int y,
                struct x86_operand m, int immediate)
{
    const struct x86_row *row = &x86_table[inst];
    const enum x86_form form = (enum x86_form)row->form;
    int reg = x;
    const bool has_immediate = has_immediate_byte(form);
    if (form == X86_XXI) { /* the destination takes the place of the second operand */
        reg = row->opcode >> 8;
        y = x;
    }
    put(c, 0xc4);
    put(c, (~reg >> 3 & 1) << 7 | !index_high(m) << 6 | !base_high(m) << 5 | row->map);
    put(c, row->w << 7 | (~(has_second(form) ? y : 0) & 15) << 3 | wide << 2 | row->prefix);
    put(c, row->opcode & 0xff);
    put_operand(c, reg, m, has_immediate);
    if (has_immediate)
        put(c, form == X86_XXMX ? immediate << 4 : immediate);
}

void x512_vector(struct x86_code *c, enum x86_inst inst, enum x512_size size, int x, int y,
                 struct x86_operand m, int immediate, int mask, bool zeroing)
{
    const struct x86_row *row = &x86_table[inst];
    const enum x86_form form = x86_form_512(inst);
    const bool has_immediate = has_immediate_byte(form);
    int reg = x;
    if (form == X86_XXI) {
        reg = row->opcode >> 8;
        y = x;
    } else if (!has_second(form)) {
        y = 0;
    }
    /* the fifth bit of a register in the place of the memory operand is that of an index */
    const int high = m.kind == X86_REGISTER ? m.number >> 4 & 1 : index_high(m);
    put(c, 0x62);
    put(c,
        (~reg >> 3 & 1) << 7 | !high << 6 | !base_high(m) << 5 | (~reg >> 4 & 1) << 4 | row->map);
    put(c, row->w_512 << 7 | (~y & 15) << 3 | 1 << 2 | row->prefix);
    put(c, zeroing << 7 | (int)size << 5 | (~y >> 4 & 1) << 3 | mask);
    put(c, row->opcode & 0xff);
    put_operand(c, reg, m, has_immediate);
    if (has_immediate)
        put(c, immediate);
}

void x86_general(struct x86_code *c, int opcode, int reg, struct x86_operand m)
{
    put(c, 0x48 | (reg >> 3 & 1) << 2 | index_high(m) << 1 | base_high(m));
    if (opcode > 0xff)
        put(c, opcode >> 8);
    put(c, opcode & 0xff);
    put_operand(c, reg, m, 0);
}

void x86_load_address(struct x86_code *c, int r, const void *address)
{
    const uint64_t v = (uint64_t)(uintptr_t)address;
    const bool wide = v > UINT32_MAX;
    put(c, 0x40 | wide << 3 | r >> 3);
    put(c, 0xb8 | (r & 7));
    buf_bytes(&c->bytes, (const char *)&v, wide ? 8 : 4);
}

int x86_jump(struct x86_code *c, enum x86_condition condition, int target)
{
    if (condition == X86_ALWAYS)
        put(c, 0xe9);
    else
        x86_bytes(c, (const char[]){0x0f, (char)condition}, 2);
    x86_int32(c, target - ((int)c->bytes.size + 4));
    return (int)c->bytes.size;
}

void x86_set_target(struct x86_code *c, int jump_end, int target)
{
    int32_t offset = target - jump_end;
    memcpy(c->bytes.data + jump_end - 4, &offset, sizeof offset);
}

void x86_number(struct x86_code *c, int extension, int r, int32_t v)
{
    x86_general(c, 0x81, extension, x86_register(r));
    x86_int32(c, v);
}

/* An instruction of the low 32 bits, or of 64. */
static void put_general(struct x86_code *c, bool wide, const char *bytes, size_t size)
{
    if (wide)
        x86_bytes(c, "\x48", 1);
    x86_bytes(c, bytes, size);
}

/* The machine fails for x / 0 and for the quotient of the least integer and
 * -1: with these divisors, it is -x & y | ~y, and the remainder x & ~y. */
void x86_divide(struct x86_code *c, bool wide, bool is_signed, bool remainder)
{
    int special, end;
    if (is_signed) {
        put_general(c, wide, "\x8d\x51\x01", 3); /* lea edx, [rcx + 1] */
        put_general(c, wide, "\x83\xfa\x01", 3); /* cmp edx, 1 */
        special = x86_jump(c, X86_BELOW_EQUAL, 0);
        put_general(c, wide, "\x99", 1);     /* cdq */
        put_general(c, wide, "\xf7\xf9", 2); /* idiv ecx */
    } else {
        put_general(c, wide, "\x85\xc9", 2); /* test ecx, ecx */
        special = x86_jump(c, X86_EQUAL, 0);
        put_general(c, wide, "\x31\xd2", 2); /* xor edx, edx */
        put_general(c, wide, "\xf7\xf1", 2); /* div ecx */
    }
    if (remainder)
        put_general(c, wide, "\x89\xd0", 2); /* mov eax, edx */
    end = x86_jump(c, X86_ALWAYS, 0);
    x86_set_target(c, special, (int)c->bytes.size);
    if (!remainder) {
        put_general(c, wide, "\xf7\xd8", 2); /* neg eax */
        put_general(c, wide, "\x21\xc8", 2); /* and eax, ecx */
    }
    put_general(c, wide, "\xf7\xd1", 2);                          /* not ecx */
    put_general(c, wide, remainder ? "\x21\xc8" : "\x09\xc8", 2); /* and, or eax, ecx */
    x86_set_target(c, end, (int)c->bytes.size);
}

void x86_push(struct x86_code *c, int r)
{
    put(c, 0x40 | r >> 3);
    put(c, 0x50 | (r & 7));
}

void x86_pop(struct x86_code *c, int r)
{
    put(c, 0x40 | r >> 3);
    put(c, 0x58 | (r & 7));
}

void x86_finish(struct x86_code *c, const struct jit_builder *b)
{
    const int size = c->constant_bytes;
    while (c->bytes.size % (size_t)size)
        put(c, 0xcc);
    int first = (int)c->bytes.size;
    for (int k = 0; k < b->constant_count; k++)
        for (int j = 0; j < size / 8; j++)
            buf_bytes(&c->bytes, (const char *)&b->constants[k].bits, sizeof b->constants[k].bits);
    for (size_t at = 0; at < c->fixups.size; at += sizeof(struct x86_fixup)) {
        struct x86_fixup f;
        int32_t offset;
        memcpy(&f, c->fixups.data + at, sizeof f);
        memcpy(&offset, c->bytes.data + f.at, sizeof offset);
        offset += first + f.constant * size - (f.at + 4);
        memcpy(c->bytes.data + f.at, &offset, sizeof offset);
    }
    buf_free(&c->fixups);
}
