/*
 * x86_select.c: lane instructions as machine instructions of x86-64 with AVX2, and those that
 * AVX-512 has in the same form (x86_512.c).
 *
 * Lanes of 32 bits fill a vector of 32 bytes if there are eight of them, of 16 if there are four,
 * beside four lanes of 64 bits; those of 16 bits, if there are sixteen. With one lane the others
 * hold arbitrary bits; arithmetic on floats then uses the instructions for one element, which are
 * not slowed down by these. Values are in registers 0 to 12 or in spill slots; registers 13 to 15
 * are for operands on their way.
 */
#include "jit/x86.h"

enum { FIRST_SPARE = X86_SPARE, SECOND_SPARE, THIRD_SPARE };

static bool is_wide_vector(const struct x86_selection *s, enum lane_type t)
{
    return s->lanes * (int)lane_width(t) == 256;
}

/* ---- tables: the instruction of an operation that is one, for each type of lanes ---- */

enum { X86_NONE = -1 };
struct choice {
    int16_t inst[LANE_TYPE_COUNT]; /* X86_NONE: no single instruction */
    int8_t immediate;
};

#define FLOATS(ps, pd)                                                                             \
    {                                                                                              \
        X86_NONE, X86_NONE, X86_##ps, X86_##pd, X86_NONE                                           \
    }
#define INTEGERS(w, d, q)                                                                          \
    {                                                                                              \
        X86_##d, X86_##q, X86_NONE, X86_NONE, X86_##w                                              \
    }
#define ALL(w, d, q, ps, pd)                                                                       \
    {                                                                                              \
        X86_##d, X86_##q, X86_##ps, X86_##pd, X86_##w                                              \
    }
#define BITS(id) ALL(id, id, id, id, id)
static const struct choice choices[LANE_OP_COUNT] = {
    [LANE_ADD] = {ALL(PADDW, PADDD, PADDQ, ADDPS, ADDPD), 0},
    [LANE_AND] = {BITS(PAND), 0},
    [LANE_CEIL] = {FLOATS(ROUNDPS, ROUNDPD), 0xa},
    [LANE_DIV] = {FLOATS(DIVPS, DIVPD), 0},
    [LANE_EQ] = {ALL(PCMPEQW, PCMPEQD, PCMPEQQ, CMPPS, CMPPD), 0x0},
    [LANE_FLOOR] = {FLOATS(ROUNDPS, ROUNDPD), 0x9},
    [LANE_GT] = {INTEGERS(PCMPGTW, PCMPGTD, PCMPGTQ), 0},
    [LANE_GT_U] = {INTEGERS(PCMPUW, PCMPUD, PCMPUQ), 6},
    [LANE_LE] = {FLOATS(CMPPS, CMPPD), 0x12},
    [LANE_LT] = {FLOATS(CMPPS, CMPPD), 0x11},
    [LANE_MAX] = {ALL(PMAXSW, PMAXSD, PMAXSQ, MAXPS, MAXPD), 0},
    [LANE_MAX_U] = {INTEGERS(PMAXUW, PMAXUD, PMAXUQ), 0},
    [LANE_MIN] = {ALL(PMINSW, PMINSD, PMINSQ, MINPS, MINPD), 0},
    [LANE_MIN_U] = {INTEGERS(PMINUW, PMINUD, PMINUQ), 0},
    [LANE_MUL] = {ALL(PMULLW, PMULLD, PMULLQ, MULPS, MULPD), 0},
    [LANE_MUL_HIGH] = {INTEGERS(PMULHUW, NONE, NONE), 0},
    [LANE_MUL_U32] = {INTEGERS(NONE, NONE, PMULUDQ), 0},
    [LANE_NE] = {FLOATS(CMPPS, CMPPD), 0x4},
    [LANE_ONES] = {INTEGERS(NONE, POPCNTD, POPCNTQ), 0},
    [LANE_OR] = {BITS(POR), 0},
    [LANE_ROTATE] = {INTEGERS(NONE, PROLD, PROLQ), 0},
    [LANE_ROUND] = {FLOATS(ROUNDPS, ROUNDPD), 0x8},
    [LANE_SAR] = {INTEGERS(PSRAW, PSRAD, PSRAQ), 0},
    [LANE_SAR_BY] = {INTEGERS(PSRAVW, PSRAVD, PSRAVQ), 0},
    [LANE_SHL] = {INTEGERS(PSLLW, PSLLD, PSLLQ), 0},
    [LANE_SHL_BY] = {INTEGERS(PSLLVW, PSLLVD, PSLLVQ), 0},
    [LANE_SHR] = {INTEGERS(PSRLW, PSRLD, PSRLQ), 0},
    [LANE_SHR_BY] = {INTEGERS(PSRLVW, PSRLVD, PSRLVQ), 0},
    [LANE_SQRT] = {FLOATS(SQRTPS, SQRTPD), 0},
    [LANE_SUB] = {ALL(PSUBW, PSUBD, PSUBQ, SUBPS, SUBPD), 0},
    [LANE_TRUNC] = {FLOATS(ROUNDPS, ROUNDPD), 0xb},
    [LANE_UNORDERED] = {FLOATS(CMPPS, CMPPD), 0x3},
    [LANE_XOR] = {BITS(PXOR), 0},
    [LANE_ZEROS] = {INTEGERS(NONE, PLZCNTD, PLZCNTQ), 0},
};
#undef FLOATS
#undef INTEGERS
#undef ALL
#undef BITS

/* The instruction of a conversion; X86_NONE: it is not one, or several instructions. */
static int conversion_of(enum lane_op op)
{
    switch (op) {
    case LANE_F32_OF_F64: return X86_CVTPD2PS;
    case LANE_F32_OF_I32: return X86_CVTDQ2PS;
    case LANE_F64_OF_F32: return X86_CVTPS2PD;
    case LANE_F64_OF_I32: return X86_CVTDQ2PD;
    case LANE_I32_OF_F32: return X86_CVTTPS2DQ;
    case LANE_I32_OF_F64: return X86_CVTTPD2DQ;
    case LANE_I64_OF_I32: return X86_PMOVSXDQ;
    case LANE_I64_OF_U32: return X86_PMOVZXDQ;
    default: return X86_NONE;
    }
}

static enum x86_inst single_form(enum x86_inst inst)
{
    switch (inst) {
    case X86_ADDPS: return X86_ADDSS;
    case X86_ADDPD: return X86_ADDSD;
    case X86_SUBPS: return X86_SUBSS;
    case X86_SUBPD: return X86_SUBSD;
    case X86_MULPS: return X86_MULSS;
    case X86_MULPD: return X86_MULSD;
    case X86_DIVPS: return X86_DIVSS;
    case X86_DIVPD: return X86_DIVSD;
    case X86_FMADD213PS: return X86_FMADD213SS;
    case X86_FMADD231PS: return X86_FMADD231SS;
    case X86_PMULLD: return X86_PMULUDQ; /* has a third of its latency */
    default: return inst;
    }
}

/* ---- operands ---- */

void x86_put(const struct x86_selection *s, enum x86_inst inst, enum lane_type t, int x, int y,
             struct x86_operand m, int immediate)
{
    if (s->masks)
        x512_vector(s->code, inst, x512_size_of(s, t), x, y, m, immediate, 0, false);
    else
        x86_vector(s->code, s->lanes == 1 ? single_form(inst) : inst, is_wide_vector(s, t), x, y, m,
                   immediate);
}

struct x86_operand x86_operand_of(const struct x86_selection *s, int lanes, enum lane_type t,
                                  int spare)
{
    if (lanes < 0)
        return s->constants && s->constants[~lanes] >= 0 ? x86_register(s->constants[~lanes])
                                                         : x86_constant(~lanes);
    if (s->masks && s->masks[lanes]) {
        x512_spread_mask(s, lanes, t, spare);
        return x86_register(spare);
    }
    const int r = s->a.registers[lanes];
    return r < 0 ? x86_memory(RSP, ~r * s->code->constant_bytes) : x86_register(r);
}

void x86_move(const struct x86_selection *s, int out, struct x86_operand m)
{
    if (x86_is_in(m, out))
        return;
    if (s->masks)
        x512_vector(s->code, X86_MOVUPS_LOAD, X512_64, out, 0, m, 0, 0, false);
    else
        x86_vector(s->code, X86_MOVUPS_LOAD, s->lanes > 1, out, 0, m, 0);
}

int x86_in_register(const struct x86_selection *s, int lanes, enum lane_type t, int spare)
{
    const struct x86_operand m = x86_operand_of(s, lanes, t, spare);
    if (m.kind == X86_REGISTER)
        return m.number;
    x86_move(s, spare, m);
    return spare;
}

/* ---- memory ---- */

enum { LOAD_EFFECTIVE_ADDRESS = 0x8d };

/* Whether it is an address in the data, at this offset. */
static bool is_data(const struct x86_selection *s, const void *address, int *offset)
{
    const uint64_t n = (uint64_t)(uintptr_t)address - (uint64_t)(uintptr_t)s->b->data;
    *offset = (int)n;
    return n < s->b->data_size && n <= INT32_MAX;
}

void x86_locate(const struct x86_selection *s, int r, const void *address)
{
    int offset;
    if (is_data(s, address, &offset))
        x86_general(s->code, LOAD_EFFECTIVE_ADDRESS, r, x86_memory(X86_DATA, offset));
    else
        x86_load_address(s->code, r, address);
}

int x86_row_register(int row)
{
    static const uint8_t registers[1 + JIT_MOST_STRIDES] = {X86_DATA, RDX, RSI, RDI, R8, R9, R10};
    return registers[row];
}

/* The operand may use X86_ADDRESS, as that of place_operand. */
static struct x86_operand address_operand(const struct x86_selection *s, const char *address)
{
    int offset;
    if (is_data(s, address, &offset))
        return x86_memory(X86_DATA, offset);
    x86_load_address(s->code, X86_ADDRESS, address);
    return x86_memory(X86_ADDRESS, 0);
}

static void load_index(const struct x86_selection *s, const struct lane_index *x)
{
    const enum lane_type t = lane_type_of(s->b, x->lanes);
    const bool wide = lane_is_wide(t);
    const int v = x86_in_register(s, x->lanes, t, FIRST_SPARE);
    x86_vector(s->code, wide ? X86_MOVQ_GENERAL : X86_MOVD_STORE, false, v, 0, x86_register(RAX),
               0);
    if (!wide && !x->is_unsigned)
        x86_general(s->code, 0x63, RAX, x86_register(RAX)); /* movsxd */
}

/* RAX, clamped */
static void clamp_index(struct x86_code *c, int64_t last)
{
    enum { MOVE_IF_NEGATIVE = 0x0f48, MOVE_IF_GREATER = 0x0f4f };
    x86_general(c, 0x33, RCX, x86_register(RCX)); /* xor: 0 */
    x86_general(c, 0x85, RAX, x86_register(RAX)); /* test */
    x86_general(c, MOVE_IF_NEGATIVE, RAX, x86_register(RCX));
    x86_load_address(c, RCX, (const void *)(uintptr_t)last);
    x86_general(c, 0x3b, RAX, x86_register(RCX)); /* cmp */
    x86_general(c, MOVE_IF_GREATER, RAX, x86_register(RCX));
}

static bool is_scale(int64_t stride)
{
    return stride == 1 || stride == 2 || stride == 4 || stride == 8;
}

static struct x86_operand place_operand(const struct x86_selection *s, const struct lane_place *p)
{
    enum { MULTIPLY = 0x69 };
    struct x86_code *c = s->code;
    if (p->pointer)
        x86_general(c, 0x8b, X86_ADDRESS, address_operand(s, (const char *)p->pointer));
    else
        x86_locate(s, X86_ADDRESS, p->base);
    for (int k = p->count - 1; k >= 0; k--) {
        const struct lane_index *x = &p->indices[k];
        load_index(s, x);
        if (x->last != JIT_INSIDE)
            clamp_index(c, x->last);
        if (k == 0 && is_scale(x->stride))
            return x86_indexed(X86_ADDRESS, RAX, (int)x->stride);
        if (x->stride == (int32_t)x->stride) {
            x86_general(c, MULTIPLY, RAX, x86_register(RAX));
            x86_int32(c, (int32_t)x->stride);
        } else {
            x86_load_address(c, RCX, (const void *)(uintptr_t)x->stride);
            x86_general(c, 0x0faf, RAX, x86_register(RCX));
        }
        x86_general(c, 0x03, X86_ADDRESS, x86_register(RAX)); /* add */
    }
    return x86_memory(X86_ADDRESS, 0);
}

/* A loop over whole lines of n bytes; leaves RSI and RDI after them. */
static void copy_lines(struct x86_code *c, int64_t n)
{
    enum { LINE = 64, HALF = 32 };
    const int64_t end = n - n % LINE;
    x86_number(c, X86_ADD, RSI, (int32_t)end);
    x86_number(c, X86_ADD, RDI, (int32_t)end);
    x86_load_address(c, RCX, (const void *)(intptr_t)-end);
    const int top = (int)c->bytes.size;
    for (int half = 0; half < LINE; half += HALF) {
        struct x86_operand from = x86_indexed(RSI, RCX, 1), to = x86_indexed(RDI, RCX, 1);
        from.offset = to.offset = half;
        x86_vector(c, X86_MOVUPS_LOAD, true, FIRST_SPARE, 0, from, 0);
        x86_vector(c, X86_MOVUPS_STORE, true, FIRST_SPARE, 0, to, 0);
    }
    x86_number(c, X86_ADD, RCX, LINE);
    x86_jump(c, X86_LESS, top);
}

/* n bytes from [RSI] to [RDI] */
static void copy_bytes(const struct x86_selection *s, int64_t n)
{
    enum { VECTOR = 16, MOST = 8 * VECTOR };
    struct x86_code *c = s->code;
    if (n > MOST) {
        copy_lines(c, n);
        n %= 64;
    }
    for (int at = 0, width; at < n; at += width) {
        const int64_t rest = n - at;
        width = rest >= VECTOR ? VECTOR : rest >= 8 ? 8 : rest >= 4 ? 4 : 1;
        x86_vector(c,
                   width == VECTOR ? X86_MOVUPS_LOAD
                   : width == 8    ? X86_MOVQ_LOAD
                   : width == 4    ? X86_MOVD_LOAD
                                   : X86_PINSRB,
                   false, FIRST_SPARE, FIRST_SPARE, x86_memory(RSI, at), 0);
        x86_vector(c,
                   width == VECTOR ? X86_MOVUPS_STORE
                   : width == 8    ? X86_MOVQ_STORE
                   : width == 4    ? X86_MOVD_STORE
                                   : X86_PEXTRB,
                   false, FIRST_SPARE, 0, x86_memory(RDI, at), 0);
    }
}

static void select_copy(const struct x86_selection *s, const struct lane_inst *i)
{
    const bool from = i->op == LANE_COPY_FROM;
    x86_general(s->code, LOAD_EFFECTIVE_ADDRESS, from ? RSI : RDI, place_operand(s, i->place));
    x86_locate(s, from ? RDI : RSI, i->address);
    copy_bytes(s, i->place->bytes);
}

static struct x86_operand element_of(const struct x86_selection *s, const struct lane_inst *i,
                                     bool single)
{
    if (i->place)
        return place_operand(s, i->place);
    if (i->tile < 0) {
        struct x86_operand m = address_operand(s, i->address);
        if (i->row)
            m.base = x86_row_register(i->row);
        if (!i->indexed || single)
            return m;
        m.kind = X86_INDEXED;
        m.index = X86_INDEX;
        m.scale = (int)dtype_bytes((enum dtype)i->format);
        return m;
    }
    if (i->offsets) { /* the address of the tile plus an offset */
        x86_general(s->code, 0x8b, X86_ADDRESS, x86_memory(X86_TILES, 8 * i->offsets));
        x86_general(s->code, 0x8b, X86_ADDRESS, x86_indexed(X86_ADDRESS, X86_INDEX, 8));
        x86_general(s->code, 0x03, X86_ADDRESS, x86_memory(X86_TILES, 8 * i->tile));
        return x86_memory(X86_ADDRESS, 0);
    }
    int base = x86_tile_register(i->tile);
    if (base == X86_ADDRESS)
        x86_general(s->code, 0x8b, base, x86_memory(X86_TILES, 8 * i->tile));
    return single ? x86_memory(base, 0)
                  : x86_indexed(base, X86_INDEX, (int)dtype_bytes((enum dtype)i->format));
}

/* How elements of fewer than 32 bits are widened to lanes. */
static enum x86_inst widening(enum dtype t, enum lane_type lane)
{
    const bool packed = lane == LANE_I16;
    switch (t) {
    case DT_S8: return packed ? X86_PMOVSXBW : X86_PMOVSXBD;
    case DT_S16: return packed ? X86_MOVUPS_LOAD : X86_PMOVSXWD;
    case DT_F16: return X86_CVTPH2PS;
    case DT_BF16:
    case DT_U16: return packed ? X86_MOVUPS_LOAD : X86_PMOVZXWD;
    default: return packed ? X86_PMOVZXBW : X86_PMOVZXBD;
    }
}

static void load_narrow(const struct x86_selection *s, enum dtype t, enum lane_type lane, int out,
                        struct x86_operand m, bool single)
{
    const bool wide = is_wide_vector(s, lane), byte = dtype_bytes(t) == 1;
    if (s->lanes == 1) { /* one element, in the first lane */
        x86_vector(s->code, X86_PXOR, false, out, out, x86_register(out), 0);
        x86_vector(s->code, byte ? X86_PINSRB : X86_PINSRW, false, out, out, m, 0);
        m = x86_register(out);
    } else if (single) {
        x86_vector(s->code, byte ? X86_BROADCASTB : X86_BROADCASTW, wide, out, 0, m, 0);
        m = x86_register(out);
    }
    const enum x86_inst inst = widening(t, lane);
    if (inst != X86_MOVUPS_LOAD || !x86_is_in(m, out))
        x86_vector(s->code, inst, wide, out, 0, m, 0);
    if (t == DT_BF16)
        x86_vector(s->code, X86_PSLLD, wide, out, 0, x86_register(out), 16);
    if (t == DT_PRED) { /* bytes that are 0 or 1 as masks: 0 - x */
        x86_vector(s->code, X86_PXOR, wide, FIRST_SPARE, FIRST_SPARE, x86_register(FIRST_SPARE), 0);
        x86_vector(s->code, lane == LANE_I16 ? X86_PSUBW : X86_PSUBD, wide, out, FIRST_SPARE,
                   x86_register(out), 0);
    }
}

static void select_load(const struct x86_selection *s, const struct lane_inst *i, int out)
{
    enum lane_type t = (enum lane_type)i->type;
    enum dtype format = (enum dtype)i->format;
    bool single = i->op == LANE_LOAD_SINGLE, wide = is_wide_vector(s, t);
    struct x86_operand m = element_of(s, i, single);
    if (dtype_bytes(format) < 4)
        load_narrow(s, format, t, out, m, single);
    else if (s->lanes == 1)
        x86_vector(s->code, lane_is_wide(t) ? X86_MOVQ_LOAD : X86_MOVD_LOAD, false, out, 0, m, 0);
    else if (single)
        x86_vector(s->code, lane_is_wide(t) ? X86_BROADCASTQ : X86_BROADCASTD, wide, out, 0, m, 0);
    else
        x86_vector(s->code, X86_MOVUPS_LOAD, wide, out, 0, m, 0);
}

/* Sixteen, eight, four or one words of 16 bits, or bytes, in the low part of a vector. */
static void store_packed(const struct x86_selection *s, int x, struct x86_operand m, size_t bytes)
{
    size_t size = (size_t)s->lanes * bytes;
    if (s->lanes == 1)
        x86_vector(s->code, bytes == 1 ? X86_PEXTRB : X86_PEXTRW, false, x, 0, m, 0);
    else
        x86_vector(s->code,
                   size == 16  ? X86_MOVUPS_STORE
                   : size == 8 ? X86_MOVQ_STORE
                               : X86_MOVD_STORE,
                   false, x, 0, m, 0);
}

/* Of lanes of 16 bits. */
static void store_short(const struct x86_selection *s, enum dtype t, int x, struct x86_operand m)
{
    const int a = FIRST_SPARE, b = SECOND_SPARE;
    if (t == DT_PRED) {
        x86_vector(s->code, X86_PSRLW, s->lanes > 1, a, 0, x86_register(x), 15);
        x = a;
    }
    if (s->lanes > 1 && dtype_bytes(t) == 2) {
        x86_vector(s->code, X86_MOVUPS_STORE, true, x, 0, m, 0);
        return;
    }
    if (s->lanes > 1) {
        x86_vector(s->code, X86_EXTRACTI128, true, x, 0, x86_register(b), 1);
        x86_vector(s->code, dtype_is_signed(t) ? X86_PACKSSWB : X86_PACKUSWB, false, a, x,
                   x86_register(b), 0);
        x = a;
    }
    store_packed(s, x, m, dtype_bytes(t));
}

static void store_narrow(const struct x86_selection *s, enum dtype t, int x, struct x86_operand m)
{
    int a = FIRST_SPARE, b = SECOND_SPARE;
    bool wide = is_wide_vector(s, LANE_I32);
    if (t == DT_F16) {
        x86_vector(s->code, X86_CVTPS2PH, wide, x, 0, x86_register(a), 0);
        store_packed(s, a, m, 2);
        return;
    }
    if (t == DT_PRED || t == DT_BF16) { /* 0 or 1; the high half */
        x86_vector(s->code, X86_PSRLD, wide, a, 0, x86_register(x), t == DT_PRED ? 31 : 16);
        x = a;
    }
    if (wide)
        x86_vector(s->code, X86_EXTRACTI128, true, x, 0, x86_register(b), 1);
    bool is_signed = dtype_is_signed(t);
    x86_vector(s->code, is_signed ? X86_PACKSSDW : X86_PACKUSDW, false, a, x,
               x86_register(wide ? b : x), 0);
    if (dtype_bytes(t) == 1)
        x86_vector(s->code, is_signed ? X86_PACKSSWB : X86_PACKUSWB, false, a, a, x86_register(a),
                   0);
    store_packed(s, a, m, dtype_bytes(t));
}

static void select_store(const struct x86_selection *s, const struct lane_inst *i)
{
    enum lane_type t = (enum lane_type)i->type;
    enum dtype format = (enum dtype)i->format;
    int x = x86_in_register(s, i->args[0], t, THIRD_SPARE);
    struct x86_operand m = element_of(s, i, false);
    if (t == LANE_I16)
        store_short(s, format, x, m);
    else if (dtype_bytes(format) < 4)
        store_narrow(s, format, x, m);
    else if (s->lanes == 1)
        x86_vector(s->code, lane_is_wide(t) ? X86_MOVQ_STORE : X86_MOVD_STORE, false, x, 0, m, 0);
    else
        x86_vector(s->code, X86_MOVUPS_STORE, is_wide_vector(s, t), x, 0, m, 0);
}

/* ---- conversions ---- */

static void select_low_halves(const struct x86_selection *s, int out, int x)
{
    if (s->masks) {
        x86_put(s, X86_PMOVQD, LANE_I64, x, 0, x86_register(out), 0);
    } else if (s->lanes == 1) {
        x86_move(s, out, x86_register(x));
    } else {
        x86_vector(s->code, X86_EXTRACTI128, true, x, 0, x86_register(s->spare), 1);
        x86_vector(s->code, X86_SHUFPS, false, out, x, x86_register(s->spare), 0x88);
    }
}

/* Instructions that widen or narrow have the size of the wider vector. */
static bool select_conversion(const struct x86_selection *s, const struct lane_inst *i, int out)
{
    const int inst = conversion_of((enum lane_op)i->op), half = s->spare + 1;
    if (i->op == LANE_ROUND_F16) {
        x86_put(s, X86_CVTPS2PH, LANE_F32, x86_in_register(s, i->args[0], LANE_F32, s->spare), 0,
                x86_register(half), 0);
        x86_put(s, X86_CVTPH2PS, LANE_F32, out, 0, x86_register(half), 0);
    } else if (i->op == LANE_I32_OF_I64) {
        select_low_halves(s, out, x86_in_register(s, i->args[0], LANE_I64, half));
    } else if (inst != X86_NONE) {
        const bool same = i->op == LANE_F32_OF_I32 || i->op == LANE_I32_OF_F32,
                   narrows = i->op == LANE_F32_OF_F64 || i->op == LANE_I32_OF_F64;
        const int x = x86_in_register(s, i->args[0], narrows ? LANE_I64 : LANE_I32, s->spare);
        x86_put(s, (enum x86_inst)inst, same ? LANE_I32 : LANE_I64, out, 0, x86_register(x), 0);
    } else {
        return false;
    }
    return true;
}

/* ---- other instructions ---- */

/* Products of the even and of the odd lanes, whose high halves are combined. */
static void select_high_product(const struct x86_selection *s, const struct lane_inst *i, int out)
{
    enum { A_OR_B_AND_C = 0xf8 };
    const enum lane_type t = LANE_I32;
    const int odd = s->spare, even = s->spare + 1,
              x = x86_in_register(s, i->args[0], t, s->spare + 2);
    const struct x86_operand by = x86_operand_of(s, i->args[1], t, odd);
    x86_put(s, X86_PSRLQ, t, odd, 0, x86_register(x), 32);
    x86_put(s, X86_PMULUDQ, t, odd, odd, by, 0);
    x86_put(s, X86_PMULUDQ, t, even, x, by, 0);
    if (!s->masks) {
        x86_put(s, X86_PSRLQ, t, even, 0, x86_register(even), 32);
        x86_put(s, X86_PBLENDD, t, out, even, x86_register(odd), 0xaa);
        return;
    }
    x86_put(s, X86_PSRLQ, t, out, 0, x86_register(even), 32);
    x86_put(s, X86_PTERNLOGD, t, out, odd, x86_operand_of(s, s->high_halves, t, odd), A_OR_B_AND_C);
}

static void select_by_table(const struct x86_selection *s, const struct lane_inst *i, int out)
{
    const struct choice *choice = &choices[i->op];
    const enum lane_type t = (enum lane_type)i->type;
    const enum x86_inst inst = (enum x86_inst)choice->inst[t];
    const bool exchanged = lane_is_commutative(i) && i->args[0] < 0;
    const int x = i->args[exchanged], y = i->args[!exchanged];
    switch (s->masks ? x86_form_512(inst) : (enum x86_form)x86_table[inst].form) {
    case X86_XXI:
        x86_put(s, inst, t, out, 0, x86_register(x86_in_register(s, x, t, s->spare)), i->count);
        return;
    case X86_XM:
    case X86_XMI:
        x86_put(s, inst, t, out, 0, x86_operand_of(s, x, t, s->spare), choice->immediate);
        return;
    default: break;
    }
    const int first = x86_in_register(s, x, t, s->spare);
    x86_put(s, inst, t, out, first, x86_operand_of(s, y, t, s->spare + 1), choice->immediate);
}

/* The machine replaces one of the operands. */
static void select_multiply_add(const struct x86_selection *s, const struct lane_inst *i, int out)
{
    const enum lane_type t = LANE_F32;
    const bool swapped = x86_is_in(x86_operand_of(s, i->args[1], t, s->spare), out);
    const int x = i->args[swapped], y = i->args[!swapped];
    const struct x86_operand z = x86_operand_of(s, i->args[2], t, s->spare);
    if (x86_is_in(z, out)) {
        const int by = x86_in_register(s, x, t, s->spare);
        x86_put(s, X86_FMADD231PS, t, out, by, x86_operand_of(s, y, t, s->spare), 0);
        return;
    }
    const int by = x86_in_register(s, y, t, s->spare);
    x86_move(s, out, x86_operand_of(s, x, t, s->spare + 1));
    x86_put(s, X86_FMADD213PS, t, out, by, z, 0);
}

void x86_select_operation(const struct x86_selection *s, const struct lane_inst *i, int out)
{
    const enum lane_type t = (enum lane_type)i->type;
    if (i->op == LANE_FMA) {
        select_multiply_add(s, i, out);
    } else if (i->op == LANE_MUL_HIGH && t == LANE_I32) {
        select_high_product(s, i, out);
    } else if (i->op == LANE_AND_NOT) { /* the machine inverts the first operand */
        const int y = x86_in_register(s, i->args[1], t, s->spare);
        x86_put(s, X86_PANDN, t, out, y, x86_operand_of(s, i->args[0], t, s->spare + 1), 0);
    } else if (!select_conversion(s, i, out)) {
        select_by_table(s, i, out);
    }
}

static void select_blend(const struct x86_selection *s, const struct lane_inst *i, int out)
{
    const enum lane_type t = (enum lane_type)i->type;
    const int mask = x86_in_register(s, i->args[0], t, FIRST_SPARE),
              off = x86_in_register(s, i->args[2], t, SECOND_SPARE);
    x86_put(s,
            lane_is_wide(t) ? X86_BLENDVPD
            : t == LANE_I16 ? X86_BLENDVB
                            : X86_BLENDVPS,
            t, out, off, x86_operand_of(s, i->args[1], t, FIRST_SPARE), mask);
}

static void select_splat(const struct x86_selection *s, const struct lane_inst *i, int out)
{
    const enum lane_type t = (enum lane_type)i->type;
    x86_put(s, lane_is_wide(t) ? X86_BROADCASTQ : X86_BROADCASTD, t, out, 0,
            x86_operand_of(s, i->args[0], t, FIRST_SPARE), 0);
}

/* ---- in general registers ---- */

static void select_division(const struct x86_selection *s, const struct lane_inst *i, int out)
{
    const enum lane_type t = (enum lane_type)i->type;
    const bool wide = lane_is_wide(t);
    const enum x86_inst get = wide ? X86_MOVQ_GENERAL : X86_MOVD_STORE;
    const int x = x86_in_register(s, i->args[0], t, FIRST_SPARE),
              y = x86_in_register(s, i->args[1], t, SECOND_SPARE);
    x86_vector(s->code, get, false, x, 0, x86_register(RAX), 0);
    x86_vector(s->code, get, false, y, 0, x86_register(RCX), 0);
    x86_divide(s->code, wide, dtype_is_signed((enum dtype)i->format), i->op == LANE_REMAINDER);
    x86_vector(s->code, wide ? X86_MOVQ_FROM_GENERAL : X86_MOVD_LOAD, false, out, 0,
               x86_register(RAX), 0);
}

/* ---- values between their places: variables around calls ---- */

void x86_load_variable(const struct x86_selection *s, int variable)
{
    struct lane_inst i = s->b->insts[variable];
    int r = s->a.registers[variable], out = r < 0 ? THIRD_SPARE : r;
    i.op = LANE_LOAD;
    i.tile = -1;
    select_load(s, &i, out);
    if (r < 0)
        x86_vector(s->code, X86_MOVUPS_STORE, false, out, 0, x86_memory(RSP, ~r * X86_SLOT_BYTES),
                   0);
}

void x86_store_variable(const struct x86_selection *s, int variable)
{
    struct lane_inst i = s->b->insts[variable];
    i.op = LANE_STORE;
    i.tile = -1;
    i.args[0] = variable;
    select_store(s, &i);
}

void x86_select(const struct x86_selection *s, int number)
{
    const struct lane_inst *i = &s->b->insts[number];
    int r = s->a.registers[i->variable < 0 ? number : i->variable], out = r < 0 ? THIRD_SPARE : r;
    switch (i->op) {
    case LANE_LOAD:
    case LANE_LOAD_SINGLE: select_load(s, i, out); break;
    case LANE_STORE: select_store(s, i); return;
    case LANE_COPY_FROM:
    case LANE_COPY_TO: select_copy(s, i); return;
    case LANE_BLEND: select_blend(s, i, out); break;
    case LANE_QUOTIENT:
    case LANE_REMAINDER: select_division(s, i, out); break;
    case LANE_SPLAT: select_splat(s, i, out); break;
    case LANE_SET:
        if (r < 0)
            out = x86_in_register(s, i->args[0], (enum lane_type)i->type, THIRD_SPARE);
        else
            x86_move(s, r, x86_operand_of(s, i->args[0], (enum lane_type)i->type, THIRD_SPARE));
        break;
    default: x86_select_operation(s, i, out);
    }
    if (r < 0)
        x86_vector(s->code, X86_MOVUPS_STORE, s->lanes > 1, out, 0,
                   x86_memory(RSP, ~r * X86_SLOT_BYTES), 0);
}
