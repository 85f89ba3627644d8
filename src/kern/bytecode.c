/*
 * bytecode.c: the bytecode interpreter: runs lists of small operations (no kernel of its own).
 *
 * The formulas are those of elementwise_integer.def and elementwise_float.def, in their order: each
 * operation of each type has an opcode and a case of the only switch.
 */
#include "kern/bytecode.h"
#include "kern/tile.h"

#include <math.h>
#include <stdlib.h>

/* ---- one element ---- */

#define ONE_ELEMENT
#include "kern/each_wide_integer.inc"
#include "kern/each_float.inc"

/* pred: bytes that are 0 or 1 */
static inline uint8_t PRED_and(uint8_t x, uint8_t y) { return x & y; }
static inline uint8_t PRED_or(uint8_t x, uint8_t y) { return x | y; }
static inline uint8_t PRED_xor(uint8_t x, uint8_t y) { return x ^ y; }
static inline uint8_t PRED_not(uint8_t x) { return x ^ 1; }
#define PRED_add PRED_or
#define PRED_maximum PRED_or
#define PRED_minimum PRED_and
#define PRED_multiply PRED_and

/* ---- other operations; each line takes a macro of (types, ...) ---- */

/* In the order of enum kern_direction. */
#define DIRECTIONS(X, SELF, T)                                                                     \
    X(SELF, T, eq, ==)                                                                             \
    X(SELF, T, ne, !=) X(SELF, T, ge, >=) X(SELF, T, gt, >) X(SELF, T, le, <=) X(SELF, T, lt, <)
#define COMPARISONS(X)                                                                             \
    DIRECTIONS(X, PRED, uint8_t)                                                                   \
    DIRECTIONS(X, S32, int32_t)                                                                    \
    DIRECTIONS(X, S64, int64_t)                                                                    \
    DIRECTIONS(X, U32, uint32_t)                                                                   \
    DIRECTIONS(X, U64, uint64_t) DIRECTIONS(X, F32, float) DIRECTIONS(X, F64, double)
/* Conversions from floats to integers, which clamp, are done by their kernels. */
#define FROM(X, SELF, T)                                                                           \
    X(S32, int32_t, SELF, T)                                                                       \
    X(S64, int64_t, SELF, T)                                                                       \
    X(U32, uint32_t, SELF, T)                                                                      \
    X(U64, uint64_t, SELF, T) X(F32, float, SELF, T) X(F64, double, SELF, T)
#define CONVERSIONS(X)                                                                             \
    FROM(X, PRED, uint8_t)                                                                         \
    FROM(X, S32, int32_t)                                                                          \
    FROM(X, S64, int64_t)                                                                          \
    FROM(X, U32, uint32_t)                                                                         \
    FROM(X, U64, uint64_t) X(F64, double, F32, float) X(F32, float, F64, double)
#define WIDTHS(X) X(8, uint8_t) X(16, uint16_t) X(32, uint32_t) X(64, uint64_t)

/* ---- numbers ---- */

#define JOIN_(prefix, self, id) prefix##_##self##_##id
#define JOIN(prefix, self, id) JOIN_(prefix, self, id)

enum {
    BEFORE_FIRST = BYTECODE_FIRST - 1,
#define UNARY(id, spelling, formula) JOIN(DO, SELF, id),
#define BINARY UNARY
#define TERNARY UNARY
#define TEST UNARY
#include "kern/bytecode.inc"
#define X(SELF, T, id, operator) COMPARE_##SELF##_##id,
    COMPARISONS(X)
#undef X
#define X(SELF, T, id, operator) BRANCH_##SELF##_##id,
        COMPARISONS(X)
#undef X
#define X(TO, T, FROM, S) CONVERT_##TO##_##FROM,
            CONVERSIONS(X)
#undef X
#define X(bits, T) SELECT_##bits, MOVE_##bits,
                WIDTHS(X)
#undef X
};

struct row {
    enum dtype type;
    const char *spelling;
    int code;
};
static const struct row rows[] = {
#define UNARY(id, spelling, formula) {TILE_PASTE(DT, SELF), spelling, JOIN(DO, SELF, id)},
#define BINARY UNARY
#define TERNARY UNARY
#define TEST UNARY
#include "kern/bytecode.inc"
};

static int by_type(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->type != y->type ? (x->type > y->type) - (x->type < y->type)
                              : strcmp(x->spelling, y->spelling);
}

static int find_select(enum dtype t)
{
    switch (dtype_bytes(t)) {
    case 1: return SELECT_8;
    case 2: return SELECT_16;
    case 4: return SELECT_32;
    case 8: return SELECT_64;
    default: return BYTECODE_NONE;
    }
}

int bytecode_elementwise(const char *opcode, enum dtype t)
{
    const struct row key = {t, opcode, BYTECODE_NONE}, *found;
    if (strcmp(opcode, "select") == 0)
        return find_select(t);
    found = bsearch(&key, rows, COUNT_OF(rows), sizeof *rows, by_type);
    return found ? found->code : BYTECODE_NONE;
}

int bytecode_compare(enum kern_direction d, enum dtype t)
{
    switch (t) {
    case DT_PRED: return COMPARE_PRED_eq + (int)d;
    case DT_S32: return COMPARE_S32_eq + (int)d;
    case DT_S64: return COMPARE_S64_eq + (int)d;
    case DT_U32: return COMPARE_U32_eq + (int)d;
    case DT_U64: return COMPARE_U64_eq + (int)d;
    case DT_F32: return COMPARE_F32_eq + (int)d;
    case DT_F64: return COMPARE_F64_eq + (int)d;
    default: return BYTECODE_NONE;
    }
}

int bytecode_branch(int compare)
{
    bool is_one = compare >= COMPARE_PRED_eq && compare <= COMPARE_F64_lt;
    return is_one ? compare + (BRANCH_PRED_eq - COMPARE_PRED_eq) : BYTECODE_NONE;
}

bool bytecode_is_branch(int code) { return code >= BRANCH_PRED_eq && code <= BRANCH_F64_lt; }

int bytecode_convert(enum dtype to, enum dtype from)
{
    static const struct {
        enum dtype to, from;
        int code;
    } known[] = {
#define X(TO, T, FROM, S) {DT_##TO, DT_##FROM, CONVERT_##TO##_##FROM},
        CONVERSIONS(X)
#undef X
    };
    for (size_t k = 0; k < COUNT_OF(known); k++)
        if (known[k].to == to && known[k].from == from)
            return known[k].code;
    return BYTECODE_NONE;
}

int bytecode_move(size_t bytes)
{
    switch (bytes) {
    case 1: return MOVE_8;
    case 2: return MOVE_16;
    case 4: return MOVE_32;
    case 8: return MOVE_64;
    default: return BYTECODE_MOVE;
    }
}

struct bytecode_widths bytecode_widths(int code)
{
    static const struct bytecode_widths known[] = {
#define AT_CODE(code) [(code)-BYTECODE_FIRST]
#define UNARY(id, spelling, formula) AT_CODE(JOIN(DO, SELF, id)) = {sizeof(T), {sizeof(T)}},
#define BINARY(id, spelling, formula)                                                              \
    AT_CODE(JOIN(DO, SELF, id)) = {sizeof(T), {sizeof(T), sizeof(T)}},
#define TERNARY(id, spelling, formula)                                                             \
    AT_CODE(JOIN(DO, SELF, id)) = {sizeof(T), {sizeof(T), sizeof(T), sizeof(T)}},
#define TEST(id, spelling, formula) AT_CODE(JOIN(DO, SELF, id)) = {1, {sizeof(T)}},
#include "kern/bytecode.inc"
#define X(SELF, T, id, operator) AT_CODE(COMPARE_##SELF##_##id) = {1, {sizeof(T), sizeof(T)}},
        COMPARISONS(X)
#undef X
#define X(TO, T, FROM, S) AT_CODE(CONVERT_##TO##_##FROM) = {sizeof(T), {sizeof(S)}},
            CONVERSIONS(X)
#undef X
#define X(bits, T)                                                                                 \
    AT_CODE(SELECT_##bits) = {sizeof(T), {1, sizeof(T), sizeof(T)}},                               \
    AT_CODE(MOVE_##bits) = {sizeof(T), {sizeof(T)}},
                WIDTHS(X)
#undef X
    };
    return code >= BYTECODE_FIRST && code < BYTECODE_FIRST + (int)COUNT_OF(known)
               ? known[code - BYTECODE_FIRST]
               : (struct bytecode_widths){0};
}

/* ---- interpreter ---- */

/* The same address may hold a number of one type and its bits as another. */
#define X(T) typedef T alias_##T __attribute__((may_alias))
X(uint8_t);
X(uint16_t);
X(int32_t);
X(uint32_t);
X(int64_t);
X(uint64_t);
X(float);
X(double);
#undef X
#define ALIAS_(T) alias_##T
#define ALIAS(T) ALIAS_(T)
static char *window_at(const struct bytecode_window *w)
{
    char *at = w->large_array ? *w->large_array : w->at;
    for (int d = 0; d < w->rank; d++) {
        const int64_t i = *(const alias_int32_t *)w->index[d].at, last = w->index[d].last;
        at += (i < 0 ? 0 : i > last ? last : i) * w->index[d].stride;
    }
    return at;
}

/* Moves n bytes, mostly rows of a few numbers. */
static inline void move_bytes(char *out, const char *x, int32_t n)
{
    switch (n) {
    case 4: memcpy(out, x, 4); break;
    case 8: memcpy(out, x, 8); break;
    case 12: memcpy(out, x, 12); break;
    case 16: memcpy(out, x, 16); break;
    default: memcpy(out, x, (size_t)n);
    }
}

#define AT(T, k) (*(const ALIAS(T) *)op->args[k])
#define OUT(T) (*(ALIAS(T) *)op->out)

static int32_t switch_target(const struct bytecode_op *op)
{
    const int32_t i = AT(int32_t, 0);
    return op->targets[i < 0 || i >= op->n ? op->n - 1 : i];
}

static void fill(const struct bytecode_op *op)
{
    const uint32_t v = AT(uint32_t, 0);
    alias_uint32_t *out = op->out;
    for (int32_t k = 0; k < op->n; k++)
        out[k] = v;
}

/* All operations go through the indirect jump of the switch. When it crosses two cache lines, some
 * processors mispredict it and take four times as long, depending on the code before this function;
 * hence the alignment. */
__attribute__((aligned(64))) bool bytecode_run(const struct bytecode_op *ops, struct budget *budget,
                                               bytecode_other_fn *other, const void *context)
{
    for (const struct bytecode_op *next = ops;;) {
        const struct bytecode_op *op = next++;
        switch (op->code) {
        case BYTECODE_STOP: return true;
        case BYTECODE_CALL: op->fn(op->out, op->args, op->n); break;
        case BYTECODE_MOVE: move_bytes(op->out, op->args[0], op->n); break;
        case BYTECODE_READ: move_bytes(op->out, window_at(op->window), op->n); break;
        case BYTECODE_WRITE: move_bytes(window_at(op->window), op->args[0], op->n); break;
        case BYTECODE_FILL: fill(op); break;
        case BYTECODE_JUMP:
            if (--budget->slice < 0 && !other(context, op))
                return false;
            next = ops + op->n;
            break;
        case BYTECODE_JUMP_UNLESS: next = AT(uint8_t, 0) ? next : ops + op->n; break;
        case BYTECODE_SWITCH: next = ops + switch_target(op); break;
#define UNARY(id, spelling, formula)                                                               \
    case JOIN(DO, SELF, id):                                                                       \
        OUT(T) = TILE_PASTE(SELF, id)(AT(T, 0));                                                   \
        break;
#define BINARY(id, spelling, formula)                                                              \
    case JOIN(DO, SELF, id):                                                                       \
        OUT(T) = TILE_PASTE(SELF, id)(AT(T, 0), AT(T, 1));                                         \
        break;
#define TERNARY(id, spelling, formula)                                                             \
    case JOIN(DO, SELF, id):                                                                       \
        OUT(T) = TILE_PASTE(SELF, id)(AT(T, 0), AT(T, 1), AT(T, 2));                               \
        break;
#define TEST(id, spelling, formula)                                                                \
    case JOIN(DO, SELF, id):                                                                       \
        OUT(uint8_t) = TILE_PASTE(SELF, id)(AT(T, 0));                                             \
        break;
#include "kern/bytecode.inc"
#define X(SELF, T, id, operator)                                                                   \
    case COMPARE_##SELF##_##id: OUT(uint8_t) = AT(T, 0) operator AT(T, 1); break;                  \
    case BRANCH_##SELF##_##id: {                                                                   \
        const bool holds = AT(T, 0) operator AT(T, 1);                                             \
        OUT(uint8_t) = holds;                                                                      \
        if (!holds)                                                                                \
            next = ops + op->n;                                                                    \
        break;                                                                                     \
    }
            COMPARISONS(X)
#undef X
#define X(TO, T, FROM, S)                                                                          \
    case CONVERT_##TO##_##FROM: OUT(T) = (ALIAS(T))AT(S, 0); break;
            CONVERSIONS(X)
#undef X
#define X(bits, T)                                                                                 \
    case SELECT_##bits: {                                                                          \
        const T on = AT(T, 1), off = AT(T, 2);                                                     \
        OUT(T) = AT(uint8_t, 0) ? on : off;                                                        \
        break;                                                                                     \
    }                                                                                              \
    case MOVE_##bits: /* several elements of a narrower type: not aligned to this width */         \
        memcpy(op->out, op->args[0], sizeof(T));                                                   \
        break;
            WIDTHS(X)
#undef X
        case BYTECODE_OTHER:
            if (!other(context, op))
                return false;
            break;
        default: __builtin_unreachable(); /* every opcode is from the table above */
        }
    }
}
