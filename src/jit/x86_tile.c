/*
 * x86_tile.c: compiles functions on tiles: a loop over as many elements as a vector holds, then one
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

/* How often instructions use each constant. */
static int *count_uses(const struct jit_builder *b)
{
    int *uses = ARENA_ARRAY(b->arena, int, b->constant_count);
    for (int k = 0; k < b->inst_count; k++)
        for (int j = 0; j < lane_operands(&b->insts[k]); j++)
            if (b->insts[k].args[j] < 0)
                uses[~b->insts[k].args[j]]++;
    return uses;
}

/* The constant that is used most often and has no register; -1: none. */
static int find_constant(const struct jit_builder *b, const int8_t *registers, const int *uses)
{
    int best = -1;
    for (int k = 0; k < b->constant_count; k++)
        if (uses[k] > 0 && registers[k] < 0 && (best < 0 || uses[k] > uses[best]))
            best = k;
    return best;
}

int8_t *x86_load_constants(struct x86_code *c, const struct jit_builder *b,
                           const struct allocation *a, const bool *masks, int limit)
{
    const int *uses = count_uses(b);
    int8_t *registers = ARENA_ARRAY(b->arena, int8_t, b->constant_count);
    int first = 0;
    memset(registers, -1, (size_t)b->constant_count);
    for (int k = 0; k < b->inst_count; k++)
        if (a->first[k] != INT_MAX && !(masks && masks[k]) && a->registers[k] >= first)
            first = a->registers[k] + 1;
    for (int r = first, k; r < limit && (k = find_constant(b, registers, uses)) >= 0; r++) {
        registers[k] = (int8_t)r;
        if (b->target.avx512)
            x512_vector(c, X86_MOVUPS_LOAD, X512_64, r, 0, x86_constant(k), 0, 0, false);
        else
            x86_vector(c, X86_MOVUPS_LOAD, true, r, 0, x86_constant(k), 0);
    }
    return registers;
}

void x86_put_loop(struct x86_code *c, const struct jit_builder *b, int lanes, x86_select_fn *select,
                  const void *selection)
{
    x86_general(c, 0x3b, X86_INDEX, x86_register(X86_COUNT));
    const int skip = x86_jump(c, X86_GREATER_EQUAL, 0), top = (int)c->bytes.size;
    for (int k = b->invariant_count; k < b->inst_count; k++)
        select(selection, k);
    x86_number(c, X86_ADD, X86_INDEX, lanes);
    x86_general(c, 0x3b, X86_INDEX, x86_register(X86_COUNT));
    x86_jump(c, X86_LESS, top);
    x86_set_target(c, skip, (int)c->bytes.size);
}

void x86_enter_tiles(struct x86_code *c, const struct jit_builder *b, int slot_bytes)
{
    for (size_t k = 0; k < COUNT_OF(saved); k++)
        x86_push(c, saved[k]);
    x86_number(c, X86_SUB, RSP, slot_bytes);
    for (int k = 0; k < b->tile_count && x86_tile_register(k) != X86_ADDRESS; k++)
        x86_general(c, 0x8b, x86_tile_register(k), x86_memory(X86_TILES, 8 * k));
    x86_general(c, 0x33, X86_INDEX, x86_register(X86_INDEX)); /* xor: 0 */
}

void x86_leave_tiles(struct x86_code *c, int slot_bytes)
{
    x86_number(c, X86_ADD, RSP, slot_bytes);
    for (size_t k = COUNT_OF(saved); k-- > 0;)
        x86_pop(c, saved[k]);
    x86_bytes(c, "\xc5\xf8\x77\xc3", 4); /* vzeroupper, ret */
}

static void put_select(const void *selection, int number) { x86_select(selection, number); }

/* The first loop ends before the last incomplete vector. Elements at offsets have only the second.
 */
static void put_function(struct x86_code *c, const struct jit_builder *b)
{
    const struct register_file file = {{JIT_REGISTERS}, NULL};
    struct x86_selection s = {
        .code = c, .b = b, .a = allocate_registers(b, &file), .spare = X86_SPARE};
    const int lanes = b->wide             ? 4
                      : b->target.lanes16 ? 16
                                          : 8,
              slot_bytes = s.a.slot_count * X86_SLOT_BYTES;
    x86_enter_tiles(c, b, slot_bytes);
    s.constants = x86_load_constants(c, b, &s.a, NULL, JIT_REGISTERS);
    s.lanes = lanes;
    for (int k = 0; k < b->invariant_count; k++)
        x86_select(&s, k);
    if (!b->indexed) {
        x86_number(c, X86_SUB, X86_COUNT, lanes - 1);
        x86_put_loop(c, b, lanes, put_select, &s);
        x86_number(c, X86_ADD, X86_COUNT, lanes - 1);
    }
    s.lanes = 1;
    x86_put_loop(c, b, 1, put_select, &s);
    x86_leave_tiles(c, slot_bytes);
}

jit_tile_fn *jit_tile_function(struct jit_builder *b, struct jit_memory *m)
{
    struct x86_code c = {.constant_bytes = b->target.avx512 ? 64 : 32};
    lane_merge(b);
    if (b->target.avx512) {
        lane_combine(b);
        lane_hoist(b);
        x512_tile_function(&c, b);
    } else {
        lane_hoist(b);
        put_function(&c, b);
    }
    x86_finish(&c, b);
    void *at = jit_memory_add(m, c.bytes.data, c.bytes.size);
    buf_free(&c.bytes);
    return (jit_tile_fn *)(uintptr_t)at;
}
