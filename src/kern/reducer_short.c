/*
 * reducer_short.c: reduces short rows of integers to one (spec: Reduce): those of less than 64
 * bytes, most of which a loop along the row would process one by one.
 */
#include "kern/reducer.h"

/* A vector at the start of the rows and one at their end, which may overlap. */
#define REDUCE_ENDS(T, BYTES, STEP)                                                                \
    do {                                                                                           \
        typedef T vector __attribute__((vector_size(BYTES)));                                      \
        const size_t end = bytes - (BYTES);                                                        \
        vector first, last, x, y;                                                                  \
        memcpy(&first, acc, BYTES);                                                                \
        memcpy(&last, (char *)acc + end, BYTES);                                                   \
        for (int r = 0; r < count; r++) {                                                          \
            memcpy(&x, rows[r], BYTES);                                                            \
            memcpy(&y, (const char *)rows[r] + end, BYTES);                                        \
            first = STEP(first, x);                                                                \
            last = STEP(last, y);                                                                  \
        }                                                                                          \
        memcpy(acc, &first, BYTES);                                                                \
        memcpy((char *)acc + end, &last, BYTES);                                                   \
    } while (0)
#define SHORT_ROWS(NAME, T, STEP)                                                                  \
    KERN_CLONES static void NAME(void *acc, const void *const *rows, int count, size_t bytes)      \
    {                                                                                              \
        if (bytes < 16)                                                                            \
            REDUCE_ENDS(T, 8, STEP);                                                               \
        else if (bytes < 32)                                                                       \
            REDUCE_ENDS(T, 16, STEP);                                                              \
        else                                                                                       \
            REDUCE_ENDS(T, 32, STEP);                                                              \
    }
#define ADD(a, b) ((a) + (b))
#define MULTIPLY(a, b) ((a) * (b))
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))
#define CHOOSE(first, a, b) (((vector)(first) & (a)) | (~(vector)(first) & (b)))
#define GREATER(a, b) CHOOSE((a) > (b), a, b)
#define LESSER(a, b) CHOOSE((a) < (b), a, b)

#define OF_WIDTH(bits)                                                                             \
    SHORT_ROWS(add_##bits, uint##bits##_t, ADD)                                                    \
    SHORT_ROWS(multiply_##bits, uint##bits##_t, MULTIPLY)                                          \
    SHORT_ROWS(max_s##bits, int##bits##_t, GREATER)                                                \
    SHORT_ROWS(min_s##bits, int##bits##_t, LESSER)                                                 \
    SHORT_ROWS(max_u##bits, uint##bits##_t, GREATER)                                               \
    SHORT_ROWS(min_u##bits, uint##bits##_t, LESSER)
OF_WIDTH(8)
OF_WIDTH(16)
OF_WIDTH(32)
OF_WIDTH(64)
SHORT_ROWS(and_bits, uint64_t, AND)
SHORT_ROWS(or_bits, uint64_t, OR)
SHORT_ROWS(xor_bits, uint64_t, XOR)

reducer_short_fn *reducer_find_short(enum kern_combine combine, enum dtype t)
{
    enum { WIDTHS = 4 };
#define ROW(name)                                                                                  \
    {                                                                                              \
        name##8, name##16, name##32, name##64                                                      \
    }
    static reducer_short_fn *const by_width[KERN_AND][2][WIDTHS] = {
        [KERN_ADD] = {ROW(add_), ROW(add_)},
        [KERN_MULTIPLY] = {ROW(multiply_), ROW(multiply_)},
        [KERN_MAXIMUM] = {ROW(max_u), ROW(max_s)},
        [KERN_MINIMUM] = {ROW(min_u), ROW(min_s)}};
#undef ROW
    const size_t bytes = dtype_bytes(t);
    if (t != DT_PRED && (!dtype_is_integer(t) || dtype_bits(t) != 8 * bytes))
        return NULL;
    switch (combine) {
    case KERN_AND: return and_bits;
    case KERN_OR: return or_bits;
    case KERN_XOR: return xor_bits;
    case KERN_ADD:
    case KERN_MULTIPLY:
    case KERN_MAXIMUM:
    case KERN_MINIMUM: break;
    default: return NULL;
    }
    if (t == DT_PRED)
        return combine == KERN_ADD || combine == KERN_MAXIMUM ? or_bits : and_bits;
    int width = 0;
    while ((size_t)1 << width < bytes)
        width++;
    return by_width[combine][dtype_is_signed(t)][width];
}
