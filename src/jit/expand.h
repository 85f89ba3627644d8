/*
 * expand.h: shorthands for expansions. Private to jit: expand*.c.
 */
#ifndef HLO_JIT_EXPAND_H
#define HLO_JIT_EXPAND_H

#include "jit/jit_priv.h"

#include <math.h>

struct expansion {
    struct jit_builder *b;
    enum dtype type;
    enum lane_type lane;
};

static inline int emit1(struct expansion *e, enum lane_op op, int x)
{
    return lane_emit(e->b, op, e->lane, x, 0, 0);
}

static inline int emit2(struct expansion *e, enum lane_op op, int x, int y)
{
    return lane_emit(e->b, op, e->lane, x, y, 0);
}

static inline int blend(struct expansion *e, int mask, int x, int y)
{
    return lane_emit(e->b, LANE_BLEND, e->lane, mask, x, y);
}

static inline int bits(struct expansion *e, uint64_t v) { return lane_constant(e->b, e->lane, v); }

static inline bool is_wide(const struct expansion *e) { return lane_is_wide(e->lane); }
static inline unsigned width(const struct expansion *e) { return lane_width(e->lane); }
static inline uint64_t sign_bit(const struct expansion *e) { return (uint64_t)1 << (width(e) - 1); }

static inline uint64_t bits_of_float(enum lane_type t, double v)
{
    float narrow = (float)v;
    uint32_t low;
    uint64_t all;
    memcpy(&low, &narrow, sizeof low);
    memcpy(&all, &v, sizeof all);
    return t == LANE_F64 ? all : low;
}

static inline int number(struct expansion *e, double v)
{
    return bits(e, bits_of_float(e->lane, v));
}

static inline enum lane_type integer_lane(enum lane_type t)
{
    return lane_is_wide(t) ? LANE_I64 : t == LANE_I16 ? LANE_I16 : LANE_I32;
}

/* Lanes of integers of fewer bits hold them sign- or zero-extended; those of bf16 and f16, as f32.
 */
static inline bool is_narrow(enum dtype t) { return dtype_bytes(t) < 4; }

static inline bool has_avx512(const struct expansion *e) { return e->b->target.avx512; }

/* Loops of elements and rows have other values in general registers. */
static inline bool has_general(const struct expansion *e)
{
    const struct jit_builder *b = e->b;
    return b->target.general && b->lanes <= 1 && b->loop_label == 0 && !b->strides;
}

/* The bits of a constant's lane. */
static inline uint64_t constant_bits(const struct expansion *e, int lanes)
{
    return e->b->constants[~lanes].bits & (UINT64_MAX >> (64 - width(e)));
}

static inline int all_set(struct jit_builder *b, enum lane_type t)
{
    return lane_constant(b, integer_lane(t), UINT64_MAX);
}

static inline int sign_fill(struct expansion *e, int x)
{
    return is_wide(e) && !has_avx512(e) ? emit2(e, LANE_GT, bits(e, 0), x)
                                        : lane_shift(e->b, LANE_SAR, e->lane, x, width(e) - 1);
}

static inline int product(struct expansion *e, int x, int y)
{
    if (!is_wide(e) || has_avx512(e))
        return emit2(e, LANE_MUL, x, y);
    int crossed =
        emit2(e, LANE_ADD, emit2(e, LANE_MUL_U32, lane_shift(e->b, LANE_SHR, e->lane, x, 32), y),
              emit2(e, LANE_MUL_U32, x, lane_shift(e->b, LANE_SHR, e->lane, y, 32)));
    return emit2(e, LANE_ADD, emit2(e, LANE_MUL_U32, x, y),
                 lane_shift(e->b, LANE_SHL, e->lane, crossed, 32));
}

/* The f64 of a 32-bit integer, exact. */
static inline int f64_of(struct expansion *e, int x)
{
    struct jit_builder *b = e->b;
    if (e->type != DT_U32)
        return lane_emit(b, LANE_F64_OF_I32, LANE_F64, x, 0, 0);
    x = emit2(e, LANE_XOR, x, bits(e, sign_bit(e)));
    return lane_emit(b, LANE_ADD, LANE_F64, lane_emit(b, LANE_F64_OF_I32, LANE_F64, x, 0, 0),
                     lane_constant(b, LANE_F64, bits_of_float(LANE_F64, 0x1p31)), 0);
}

/* ---- expand_complex.c: values of c64 ---- */

/* Of elements of 64 bits, and these. */
int complex_of_halves(struct jit_builder *b, int lanes);
int complex_halves(struct jit_builder *b, int value);
int complex_constant(struct jit_builder *b, const void *at);
/* Of operands of c64, and "complex" of f32. These functions return JIT_NONE as those of jit.h. */
int expand_complex(struct jit_builder *b, const char *opcode, const int *args, int count);
int complex_select(struct jit_builder *b, int mask, int on, int off);
int complex_compare(struct jit_builder *b, enum jit_direction d, int v, int w);
/* To c64 or from it. */
int complex_convert(struct jit_builder *b, enum dtype to, int v);

/* ---- expand_divide.c ---- */

/* Of integers; those of 64 bits by constants only, or with has_general(). x / 0 is all ones, its
 * remainder x; the least integer is its own negative. */
int expand_quotient(struct expansion *e, int x, int y);
int expand_remainder(struct expansion *e, int x, int y);

/* ---- expand_single.c ---- */

/* In lanes of f32; LANE_NONE in those of f64. */
int expand_erf(struct expansion *e, int x);
int expand_exp(struct expansion *e, int x);
int expand_log(struct expansion *e, int x);
int expand_logistic(struct expansion *e, int x);
int expand_tanh(struct expansion *e, int x);
/* In lanes of f32. */
int expand_hypot(struct expansion *e, int x, int y);

#endif
