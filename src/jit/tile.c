/*
 * tile.c: compiles functions on tiles: a loop over as many elements as a vector holds, then one
 * over the remaining elements.
 */
#include "jit/x86.h"

/* Registers of tile addresses; a function with more tiles loads the others when they are used. */
static const uint8_t tile_registers[] = {RCX, RDX, R8, R9, R10, RBX, RBP, R12, R13, R14, R15};
static const uint8_t saved[] = {RBX, RBP, R12, R13, R14, R15};

int x86_tile_register(int tile)
{
    return tile < (int)COUNT_OF(tile_registers) ? tile_registers[tile] : X86_ADDRESS;
}

static void push(struct x86_code *c, int r) /* or pop, with 0x58 */
{
    x86_bytes(c, (const char[]){(char)(0x40 | r >> 3), (char)(0x50 | (r & 7))}, 2);
}

static void pop(struct x86_code *c, int r)
{
    x86_bytes(c, (const char[]){(char)(0x40 | r >> 3), (char)(0x58 | (r & 7))}, 2);
}

enum { JUMP_LESS_EQUAL = 0x8e, JUMP_LESS = 0x8c, JUMP_GREATER_EQUAL = 0x8d };
/* A conditional jump; returns its end. */
static int jump(struct x86_code *c, int condition, int target)
{
    x86_bytes(c, (const char[]){0x0f, (char)condition}, 2);
    x86_int32(c, target - ((int)c->bytes.size + 4));
    return (int)c->bytes.size;
}

static void set_target(struct x86_code *c, int jump_end)
{
    int32_t offset = (int32_t)c->bytes.size - jump_end;
    memcpy(c->bytes.data + jump_end - 4, &offset, sizeof offset);
}

enum { EXTENSION_ADD = 0, EXTENSION_SUB = 5, EXTENSION_CMP = 7 };
static void add(struct x86_code *c, int extension, int r, int v)
{
    x86_general(c, 0x81, extension, x86_register(r));
    x86_int32(c, v);
}

/* while (index < end) { lanes elements; index += lanes }, where rsi holds the end. */
static void put_loop(struct x86_selection *s, int lanes)
{
    struct x86_code *c = s->code;
    x86_general(c, 0x3b, X86_INDEX, x86_register(X86_COUNT));
    int skip = jump(c, JUMP_GREATER_EQUAL, 0), top = (int)c->bytes.size;
    s->lanes = lanes;
    x86_select(s);
    add(c, EXTENSION_ADD, X86_INDEX, lanes);
    x86_general(c, 0x3b, X86_INDEX, x86_register(X86_COUNT));
    jump(c, JUMP_LESS, top);
    set_target(c, skip);
}

/* The first loop ends before the last incomplete vector. */
static void put_function(struct x86_selection *s, int slot_bytes)
{
    struct x86_code *c = s->code;
    int lanes = s->b->wide ? 4 : 8;
    for (size_t k = 0; k < COUNT_OF(saved); k++)
        push(c, saved[k]);
    add(c, EXTENSION_SUB, RSP, slot_bytes);
    for (int k = 0; k < s->b->tile_count && x86_tile_register(k) != X86_ADDRESS; k++)
        x86_general(c, 0x8b, x86_tile_register(k), x86_memory(X86_TILES, 8 * k));
    x86_general(c, 0x33, X86_INDEX, x86_register(X86_INDEX)); /* xor: 0 */
    add(c, EXTENSION_SUB, X86_COUNT, lanes - 1);
    put_loop(s, lanes);
    add(c, EXTENSION_ADD, X86_COUNT, lanes - 1);
    put_loop(s, 1);
    add(c, EXTENSION_ADD, RSP, slot_bytes);
    for (size_t k = COUNT_OF(saved); k-- > 0;)
        pop(c, saved[k]);
    x86_bytes(c, "\xc5\xf8\x77\xc3", 4); /* vzeroupper, ret */
}

jit_tile_fn *jit_tile_function(struct jit_builder *b, struct jit_memory *m)
{
    struct x86_code c = {{0}, {0}};
    int *registers = ARENA_ARRAY(b->arena, int, b->inst_count);
    int slots = allocate_registers(b, registers);
    put_function(&(struct x86_selection){&c, b, registers, 0}, slots * 32);
    x86_finish(&c, b);
    void *at = jit_memory_add(m, c.bytes.data, c.bytes.size);
    buf_free(&c.bytes);
    return (jit_tile_fn *)(uintptr_t)at;
}
