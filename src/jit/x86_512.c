/*
 * x86_512.c: functions on tiles as machine instructions of x86-64 with AVX-512.
 *
 * There are 16 lanes of 32 bits, or 8 beside lanes of 64 bits, or 32 of 16 bits. Masks are in mask
 * registers. The last elements, fewer than lanes, are computed like the others, by loads and stores
 * with a mask. Values are in registers 0 to 28 and masks in 2 to 5, or in spill slots; the other
 * registers are for operands on their way, mask register 1 for the mask of the last elements.
 */
#include "jit/x86.h"

enum { VECTORS = 29, MASKS = 4, FIRST_MASK = 2 };
enum { FIRST_SPARE = VECTORS, SECOND_SPARE, THIRD_SPARE };
enum { REST = 1, SPARE_MASK = 6, OTHER_MASK = 7, UNBLENDED = 0 }; /* UNBLENDED: never a writemask */
enum { SLOT_BYTES = 64 };

static enum x86_inst of_width(enum lane_type t, enum x86_inst w, enum x86_inst d, enum x86_inst q)
{
    return t == LANE_I16 ? w : lane_is_wide(t) ? q : d;
}

/* Where the mask is not set, the register is not changed, or, with `zeroing`, set to 0. */
static void put_masked(const struct x86_selection *s, enum x86_inst inst, enum lane_type t, int x,
                       int y, struct x86_operand m, int mask, bool zeroing)
{
    x512_vector(s->code, inst, x512_size_of(s, t), x, y, m, 0, mask, zeroing);
}

/* ---- operands ---- */

static struct x86_operand slot(int number) { return x86_memory(RSP, number * SLOT_BYTES); }

static bool is_mask(const struct x86_selection *s, int lanes)
{
    return lanes >= 0 && s->masks[lanes];
}

/* The mask register of an operand, or `spare`, to which it is loaded. */
static int mask_register(const struct x86_selection *s, int lanes, int spare)
{
    if (lanes < 0) {
        const bool set = s->b->constants[~lanes].bits != 0;
        x86_vector(s->code, set ? X86_KXNOR : X86_KXOR, true, spare, UNBLENDED,
                   x86_register(UNBLENDED), 0);
        return spare;
    }
    const int r = s->a.registers[lanes];
    if (r >= 0)
        return FIRST_MASK + r;
    x86_vector(s->code, X86_KMOV_LOAD, false, spare, 0, slot(~r), 0);
    return spare;
}

void x512_spread_mask(const struct x86_selection *s, int lanes, enum lane_type t, int spare)
{
    const int k = mask_register(s, lanes, SPARE_MASK);
    x86_put(s, of_width(t, X86_MOVM2W, X86_MOVM2D, X86_MOVM2Q), t, spare, 0, x86_register(k), 0);
}

/* ---- memory ---- */

static struct x86_operand element_of(const struct x86_selection *s, const struct lane_inst *i,
                                     bool single)
{
    const int base = x86_tile_register(i->tile);
    if (base == X86_ADDRESS)
        x86_general(s->code, 0x8b, base, x86_memory(X86_TILES, 8 * i->tile));
    return single ? x86_memory(base, 0)
                  : x86_indexed(base, X86_INDEX, (int)dtype_bytes((enum dtype)i->format));
}

/* The lanes of elements in memory. */
static enum lane_type lane_of(const struct x86_selection *s, enum dtype t)
{
    return dtype_bytes(t) == 8 ? LANE_I64 : lane_of_pred(s->b);
}

/* Loads elements, or widens those in a register. */
static enum x86_inst load_of(enum dtype t, enum lane_type lane)
{
    const bool packed = lane == LANE_I16;
    switch (t) {
    case DT_PRED:
    case DT_U8: return packed ? X86_PMOVZXBW : X86_PMOVZXBD;
    case DT_S8: return packed ? X86_PMOVSXBW : X86_PMOVSXBD;
    case DT_S16: return packed ? X86_MOVDQU16_LOAD : X86_PMOVSXWD;
    case DT_F16: return X86_CVTPH2PS;
    case DT_BF16:
    case DT_U16: return packed ? X86_MOVDQU16_LOAD : X86_PMOVZXWD;
    default: return dtype_bytes(t) == 8 ? X86_MOVUPD_LOAD : X86_MOVUPS_LOAD;
    }
}

static enum x86_inst store_of(enum dtype t, enum lane_type lane)
{
    const bool packed = lane == LANE_I16;
    if (t == DT_F16)
        return X86_CVTPS2PH;
    switch (dtype_bytes(t)) {
    case 1: return packed ? X86_PMOVWB : X86_PMOVDB;
    case 2: return packed ? X86_MOVDQU16_STORE : X86_PMOVDW;
    case 4: return X86_MOVUPS_STORE;
    default: return X86_MOVUPD_STORE;
    }
}

static void load_single(const struct x86_selection *s, enum dtype t, int out, struct x86_operand m)
{
    const enum lane_type lane = lane_of(s, t);
    const size_t bytes = dtype_bytes(t);
    const enum x86_inst inst = bytes == 1   ? X86_BROADCASTB
                               : bytes == 2 ? X86_BROADCASTW
                               : bytes == 4 ? X86_BROADCASTD
                                            : X86_BROADCASTQ;
    x86_put(s, inst, lane, out, 0, m, 0);
    if (bytes * 8 < lane_width(lane))
        x86_put(s, load_of(t, lane), lane, out, 0, x86_register(out), 0);
}

static void select_load(const struct x86_selection *s, const struct lane_inst *i, int out)
{
    const enum dtype t = (enum dtype)i->format;
    const enum lane_type lane = lane_of(s, t);
    const bool single = i->op == LANE_LOAD_SINGLE;
    const struct x86_operand m = element_of(s, i, single);
    const int to = t == DT_PRED ? FIRST_SPARE : out;
    if (single)
        load_single(s, t, to, m);
    else
        put_masked(s, load_of(t, lane), lane, to, 0, m, s->rest ? REST : 0, s->rest);
    if (t == DT_BF16)
        x86_put(s, X86_PSLLD, lane, out, 0, x86_register(out), 16);
    if (t == DT_PRED)
        x86_put(s, of_width(lane, X86_PTESTMW, X86_PTESTMD, X86_PTESTMD), lane, out, to,
                x86_register(to), 0);
}

static void select_store(const struct x86_selection *s, const struct lane_inst *i)
{
    const enum dtype t = (enum dtype)i->format;
    const enum lane_type lane = lane_of(s, t);
    int x = x86_in_register(s, i->args[0], lane, FIRST_SPARE);
    const struct x86_operand m = element_of(s, i, false);
    if (t == DT_PRED || t == DT_BF16) { /* 0 or 1; the high half */
        x86_put(s, of_width(lane, X86_PSRLW, X86_PSRLD, X86_PSRLD), lane, SECOND_SPARE, 0,
                x86_register(x), t == DT_PRED ? (int)lane_width(lane) - 1 : 16);
        x = SECOND_SPARE;
    }
    put_masked(s, store_of(t, lane), lane, x, 0, m, s->rest ? REST : 0, false);
}

/* ---- masks ---- */

static void put_kkk(const struct x86_selection *s, enum x86_inst inst, int out, int x, int y)
{
    x86_vector(s->code, inst, true, out, x, x86_register(y), 0);
}

/* (mask & on) | (off & ~mask) */
static void blend_masks(const struct x86_selection *s, const struct lane_inst *i, int out)
{
    const int mask = mask_register(s, i->args[0], SPARE_MASK),
              on = mask_register(s, i->args[1], OTHER_MASK);
    put_kkk(s, X86_KAND, OTHER_MASK, mask, on);
    const int off = mask_register(s, i->args[2], UNBLENDED);
    put_kkk(s, X86_KANDN, UNBLENDED, mask, off);
    put_kkk(s, X86_KOR, out, OTHER_MASK, UNBLENDED);
}

static bool is_all_set(const struct x86_selection *s, int lanes)
{
    return lanes < 0 && s->b->constants[~lanes].bits == UINT64_MAX;
}

/* Logical operations on masks, and conversions of them, which change nothing. */
static void select_mask(const struct x86_selection *s, const struct lane_inst *i, int out)
{
    if (i->op == LANE_BLEND) {
        blend_masks(s, i, out);
        return;
    }
    const int x = mask_register(s, i->args[0], SPARE_MASK);
    if (lane_operands(i) == 1) {
        x86_vector(s->code, X86_KMOV, false, out, 0, x86_register(x), 0);
        return;
    }
    if (i->op == LANE_XOR && is_all_set(s, i->args[1])) {
        x86_vector(s->code, X86_KNOT, false, out, 0, x86_register(x), 0);
        return;
    }
    const int y = mask_register(s, i->args[1], OTHER_MASK);
    switch (i->op) {
    case LANE_AND: put_kkk(s, X86_KAND, out, x, y); break;
    case LANE_AND_NOT: put_kkk(s, X86_KANDN, out, y, x); break; /* inverts the first operand */
    case LANE_OR: put_kkk(s, X86_KOR, out, x, y); break;
    default: put_kkk(s, X86_KXOR, out, x, y);
    }
}

static bool is_comparison(enum lane_op op)
{
    switch (op) {
    case LANE_EQ:
    case LANE_GT:
    case LANE_GT_U:
    case LANE_LE:
    case LANE_LT:
    case LANE_NE:
    case LANE_UNORDERED: return true;
    default: return false;
    }
}

static bool is_mask_like(const struct jit_builder *b, const bool *masks, int lanes)
{
    return lanes >= 0 ? masks[lanes]
                      : b->constants[~lanes].bits == 0 || b->constants[~lanes].bits == UINT64_MAX;
}

static bool makes_mask(const struct jit_builder *b, const bool *masks, const struct lane_inst *i)
{
    switch (i->op) {
    case LANE_LOAD:
    case LANE_LOAD_SINGLE: return i->format == DT_PRED;
    case LANE_I32_OF_I64:
    case LANE_I64_OF_I32: return i->args[0] >= 0 && masks[i->args[0]];
    case LANE_AND:
    case LANE_AND_NOT:
    case LANE_OR:
    case LANE_XOR:
        return (i->args[0] >= 0 || i->args[1] >= 0) && is_mask_like(b, masks, i->args[0]) &&
               is_mask_like(b, masks, i->args[1]);
    case LANE_BLEND:
        return (i->args[1] >= 0 || i->args[2] >= 0) && is_mask_like(b, masks, i->args[1]) &&
               is_mask_like(b, masks, i->args[2]);
    default: return is_comparison((enum lane_op)i->op);
    }
}

bool *x512_find_masks(const struct jit_builder *b)
{
    bool *masks = ARENA_ARRAY(b->arena, bool, b->inst_count);
    for (int k = 0; k < b->inst_count; k++)
        masks[k] = makes_mask(b, masks, &b->insts[k]);
    return masks;
}

/* ---- other instructions ---- */

static void select_blend(const struct x86_selection *s, const struct lane_inst *i, int out)
{
    const enum lane_type t = (enum lane_type)i->type;
    const int off = x86_in_register(s, i->args[2], t, SECOND_SPARE);
    const struct x86_operand on = x86_operand_of(s, i->args[1], t, FIRST_SPARE);
    int mask;
    if (i->args[0] < 0 || is_mask(s, i->args[0])) {
        mask = mask_register(s, i->args[0], SPARE_MASK);
    } else { /* a vector: its sign bits */
        mask = SPARE_MASK;
        x86_put(s, of_width(t, X86_MOVW2M, X86_MOVD2M, X86_MOVQ2M), t, mask, 0,
                x86_register(x86_in_register(s, i->args[0], t, THIRD_SPARE)), 0);
    }
    put_masked(s, of_width(t, X86_BLENDMW, X86_BLENDMD, X86_BLENDMQ), t, out, off, on, mask, false);
}

/* The table of a logical operation whose operands `x` and `y` are exchanged. */
static int exchange(int table, int x, int y)
{
    int out = 0;
    for (int row = 0; row < 8; row++) {
        const int bit_x = row >> (2 - x) & 1, bit_y = row >> (2 - y) & 1,
                  from = (row & ~(4 >> x) & ~(4 >> y)) | bit_y << (2 - x) | bit_x << (2 - y);
        out |= (table >> from & 1) << row;
    }
    return out;
}

/* An instruction of three operands, the first of which it replaces by the result. */
static void put_replacing(const struct x86_selection *s, enum x86_inst inst, enum lane_type t,
                          int out, const int args[LANE_OPERANDS], int immediate)
{
    const int y = x86_in_register(s, args[1], t, FIRST_SPARE);
    const struct x86_operand z = x86_operand_of(s, args[2], t, SECOND_SPARE);
    const int to = y == out || x86_is_in(z, out) ? THIRD_SPARE : out;
    x86_move(s, to, x86_operand_of(s, args[0], t, THIRD_SPARE));
    x86_put(s, inst, t, to, y, z, immediate);
    x86_move(s, out, x86_register(to));
}

static void select_logic(const struct x86_selection *s, const struct lane_inst *i, int out)
{
    const enum lane_type t = (enum lane_type)i->type;
    int table = i->count, args[LANE_OPERANDS];
    memcpy(args, i->args, sizeof args);
    for (int k = 1; k < LANE_OPERANDS; k++)
        if (x86_is_in(x86_operand_of(s, args[k], t, FIRST_SPARE), out)) {
            args[k] = i->args[0];
            args[0] = i->args[k];
            table = exchange(table, 0, k);
            break;
        }
    put_replacing(s, X86_PTERNLOGD, t, out, args, table);
}

/* With a mask as one operand: the other one where it is set, or where it is not. */
static bool select_and_mask(const struct x86_selection *s, const struct lane_inst *i, int out)
{
    const enum lane_type t = (enum lane_type)i->type;
    const int by = is_mask(s, i->args[1]);
    if ((i->op != LANE_AND && (i->op != LANE_AND_NOT || !by)) || !is_mask(s, i->args[by]))
        return false;
    int mask = mask_register(s, i->args[by], SPARE_MASK);
    if (i->op == LANE_AND_NOT) {
        x86_vector(s->code, X86_KNOT, false, SPARE_MASK, 0, x86_register(mask), 0);
        mask = SPARE_MASK;
    }
    put_masked(s, of_width(t, X86_MOVDQU16_LOAD, X86_MOVUPS_LOAD, X86_MOVUPD_LOAD), t, out, 0,
               x86_operand_of(s, i->args[!by], t, FIRST_SPARE), mask, true);
    return true;
}

static void select_vector(const struct x86_selection *s, const struct lane_inst *i, int out)
{
    switch (i->op) {
    case LANE_LOAD:
    case LANE_LOAD_SINGLE: select_load(s, i, out); break;
    case LANE_BLEND: select_blend(s, i, out); break;
    case LANE_LOGIC: select_logic(s, i, out); break;
    case LANE_ADD_PRODUCTS:
        put_replacing(s, X86_PDPWSSD, (enum lane_type)i->type, out, i->args, 0);
        break;
    default:
        if (!select_and_mask(s, i, out))
            x86_select_operation(s, i, out);
    }
}

static void select(const void *selection, int number)
{
    const struct x86_selection *s = selection;
    const struct lane_inst *i = &s->b->insts[number];
    const int r = s->a.registers[number];
    if (i->op == LANE_STORE) {
        select_store(s, i);
    } else if (s->masks[number]) {
        const int out = r < 0 ? OTHER_MASK : FIRST_MASK + r;
        if (is_comparison((enum lane_op)i->op) || lane_operands(i) == 0)
            select_vector(s, i, out);
        else
            select_mask(s, i, out);
        if (r < 0)
            x86_vector(s->code, X86_KMOV_STORE, false, out, 0, slot(~r), 0);
    } else {
        const int out = r < 0 ? THIRD_SPARE : r;
        select_vector(s, i, out);
        if (r < 0)
            x512_vector(s->code, X86_MOVUPS_STORE, X512_64, out, 0, slot(~r), 0, 0, false);
    }
}

/* ---- the function ---- */

/* As many bits as there are elements left. */
static void put_rest_mask(struct x86_code *c)
{
    x86_general(c, 0x8b, X86_ADDRESS, x86_register(X86_COUNT)); /* count - index */
    x86_general(c, 0x2b, X86_ADDRESS, x86_register(X86_INDEX));
    x86_load_address(c, RSI, (const void *)(uintptr_t)UINT32_MAX);
    x86_vector(c, X86_BZHI, false, X86_ADDRESS, X86_ADDRESS, x86_register(RSI), 0);
    x86_vector(c, X86_KMOV_GENERAL, false, REST, 0, x86_register(X86_ADDRESS), 0);
}

void x512_tile_function(struct x86_code *c, struct jit_builder *b)
{
    bool *masks = x512_find_masks(b);
    struct x86_selection s = {.code = c,
                              .b = b,
                              .spare = FIRST_SPARE,
                              .masks = masks,
                              .lanes = b->wide             ? 8
                                       : b->target.lanes16 ? 32
                                                           : 16};
    s.a = allocate_registers(b, &(struct register_file){{VECTORS, MASKS}, masks});
    for (int k = 0; k < b->inst_count; k++)
        if (b->insts[k].op == LANE_MUL_HIGH)
            s.high_halves = lane_constant(b, LANE_I64, (uint64_t)UINT32_MAX << 32);
    const int slot_bytes = s.a.slot_count * SLOT_BYTES;
    x86_enter_tiles(c, b, slot_bytes);
    s.constants = x86_load_constants(c, b, &s.a, masks, VECTORS);
    for (int k = 0; k < b->invariant_count; k++)
        select(&s, k);
    x86_number(c, X86_SUB, X86_COUNT, s.lanes - 1);
    x86_put_loop(c, b, s.lanes, select, &s);
    x86_number(c, X86_ADD, X86_COUNT, s.lanes - 1);
    /* the rest: the loop ends after one iteration */
    x86_general(c, 0x3b, X86_INDEX, x86_register(X86_COUNT));
    const int skip = x86_jump(c, X86_GREATER_EQUAL, 0);
    put_rest_mask(c);
    s.rest = true;
    for (int k = b->invariant_count; k < b->inst_count; k++)
        select(&s, k);
    x86_set_target(c, skip, (int)c->bytes.size);
    x86_leave_tiles(c, slot_bytes);
}
