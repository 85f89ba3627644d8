/*
 * Machine code of elementwise operations has the bits of the tile kernels, with each instruction
 * set; one file because all tests build, run and compare functions by the same trials.
 */
#include "jit/jit.h"
#include "kern/cpu.h"
#include "kern/kern.h"

#include "check_quiet.h"

#include <math.h>
#include <stdlib.h>

static const enum dtype types[] = {DT_PRED, DT_S8,  DT_S16, DT_U8,  DT_U16, DT_BF16, DT_F16,
                                   DT_S32,  DT_U32, DT_S64, DT_U64, DT_F32, DT_F64};
enum { N = 203 }; /* vectors of any size and a rest */

/* ---- inputs ---- */

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33 ^ *state << 31;
}

static double special(enum dtype t, uint64_t r)
{
    const double of[] = {0,     -0.0,     1,         -1,          0.5,    -0.5,    1.5,    2.5,
                         -2.5,  INFINITY, -INFINITY, (double)NAN, 0x1p31, -0x1p31, 0x1p23, 1e30,
                         -1e30, 4.9e-324, 1e-40,     0.49999997,  3,      7};
    (void)t;
    return of[r % COUNT_OF(of)];
}

static void put_float(enum dtype t, void *at, int i, double v)
{
    if (t == DT_F32)
        ((float *)at)[i] = (float)v;
    else if (t == DT_F64)
        ((double *)at)[i] = v;
    else
        kern_tiles()->convert(t, DT_F64)((uint16_t *)at + i, (const void *const[]){&v}, 1);
}

static void put_integer(enum dtype t, void *at, int i, uint64_t v)
{
    if (dtype_bytes(t) == 1)
        ((uint8_t *)at)[i] = (uint8_t)v;
    else if (dtype_bytes(t) == 2)
        ((uint16_t *)at)[i] = (uint16_t)v;
    else if (dtype_bytes(t) == 4)
        ((uint32_t *)at)[i] = (uint32_t)v;
    else
        ((uint64_t *)at)[i] = v;
}

/* A complex number is two floats. */
static int numbers_of(enum dtype t) { return t == DT_C64 ? 2 * N : N; }

static void fill(enum dtype t, void *at, uint64_t seed)
{
    uint64_t state = seed;
    const int n = numbers_of(t);
    t = t == DT_C64 ? DT_F32 : t;
    for (int i = 0; i < n; i++) {
        uint64_t r = next_random(&state), how = r >> 8 & 7;
        if (t == DT_PRED)
            ((uint8_t *)at)[i] = r & 1;
        else if (dtype_is_float(t))
            put_float(t, at, i,
                      how < 3 ? special(t, r >> 16) : (double)(int64_t)(r >> 20) / 0x1p30 - 3);
        else
            put_integer(t, at, i,
                        how < 2   ? r >> 16 & 3
                        : how < 4 ? 0 - (r >> 16 & 3)
                        : how < 6 ? next_random(&state) >> 12 & 127
                                  : r * 0x9e3779b97f4a7c15u);
    }
}

/* ---- comparison with tile kernels ---- */

static bool is_nan_at(enum dtype t, const void *at, int i)
{
    return t == DT_BF16  ? (((const uint16_t *)at)[i] & 0x7fff) > 0x7f80
           : t == DT_F16 ? (((const uint16_t *)at)[i] & 0x7fff) > 0x7c00
           : t == DT_F32 ? isnan(((const float *)at)[i])
           : t == DT_F64 ? isnan(((const double *)at)[i])
                         : false;
}

/* Bits of NaNs depend on the order of operands, which compilers choose. */
static void expect_same(const char *what, enum dtype t, const void *got, const void *expected)
{
    const int n = numbers_of(t);
    t = t == DT_C64 ? DT_F32 : t;
    size_t width = dtype_bytes(t);
    for (int i = 0; i < n; i++) {
        if (is_nan_at(t, got, i) && is_nan_at(t, expected, i))
            continue;
        ck_assert_msg(memcmp((const char *)got + width * (size_t)i,
                             (const char *)expected + width * (size_t)i, width) == 0,
                      "%s of %s, element %d", what, dtype_spelling(t), i);
    }
}

struct operand {
    enum dtype type;
    bool single;
    _Alignas(32) char bytes[N * 8];
};

struct trial {
    struct arena arena;
    struct jit_builder *b;
    struct jit_memory *m;
    struct operand operands[3];
    int values[3], count;
};

/* Functions on tiles use what HLO_ISA allows, as those of plans do. */
static void set_target(struct jit_builder *b, bool lanes16)
{
    const struct cpu_extras extras = cpu_extras();
    jit_set_target(b, (struct jit_target){.avx512 = cpu_isa() == CPU_AVX512,
                                          .vnni = extras.vnni,
                                          .vpopcntdq = extras.vpopcntdq,
                                          .lanes16 = lanes16,
                                          .complex = !lanes16});
}

/* The variants of functions on tiles: AVX2 and what the processor has, then both in lanes of 16
 * bits. Returns whether the variant is one of these. */
enum { WIDER = 2, VARIANTS = 4 };
static bool choose_variant(int number)
{
    ck_assert_int_eq(setenv("HLO_ISA", cpu_isa_name(number % 2 ? CPU_AVX512 : CPU_AVX2), 1), 0);
    return number >= WIDER;
}

static bool has_lanes(bool lanes16, enum dtype t)
{
    return !lanes16 || (dtype_bytes(t) <= 2 && !dtype_is_float(t));
}

static void trial_begin(struct trial *t, bool lanes16, int count, const enum dtype *of,
                        unsigned single)
{
    arena_init(&t->arena);
    t->b = jit_builder_new(&t->arena);
    set_target(t->b, lanes16);
    t->m = jit_memory_new();
    ck_assert(t->m != NULL);
    t->count = count;
    for (int k = 0; k < count; k++) {
        struct operand *x = &t->operands[k];
        x->type = of[k];
        x->single = single >> k & 1;
        fill(x->type, x->bytes, 77 + (uint64_t)k * 31 + single);
        t->values[k] = jit_load(t->b, k, x->type, x->single);
        for (int i = 1; i < N && x->single; i++)
            memcpy(x->bytes + dtype_bytes(x->type) * (size_t)i, x->bytes, dtype_bytes(x->type));
    }
}

/* Runs the function and the kernel, and compares their results. */
static void trial_end(struct trial *t, const char *what, int value, kern_tile_fn *fn,
                      enum dtype result)
{
    _Alignas(32) static char got[N * 8 + 64], expected[N * 8];
    void *tiles[4] = {t->operands[0].bytes, t->operands[1].bytes, t->operands[2].bytes, NULL};
    tiles[t->count] = got;
    jit_store(t->b, t->count, value);
    jit_tile_fn *f = jit_tile_function(t->b, t->m);
    ck_assert(f != NULL);
    jit_memory_seal(t->m);
    memset(got, 0x55, sizeof got);
    f(tiles, N);
    fn(expected, (const void *const *)tiles, N);
    expect_same(what, result, got, expected);
    for (size_t k = N * dtype_bytes(result); k < sizeof got; k++)
        ck_assert_msg(got[k] == 0x55, "%s writes past the end", what);
    jit_memory_free(t->m);
    arena_free(&t->arena);
}

static int operand_count(const char *opcode)
{
    static const char *const binary[] = {"add",
                                         "and",
                                         "divide",
                                         "maximum",
                                         "minimum",
                                         "multiply",
                                         "or",
                                         "remainder",
                                         "shift-left",
                                         "shift-right-arithmetic",
                                         "shift-right-logical",
                                         "subtract",
                                         "xor"};
    if (strcmp(opcode, "clamp") == 0)
        return 3;
    for (size_t k = 0; k < COUNT_OF(binary); k++)
        if (strcmp(opcode, binary[k]) == 0)
            return 2;
    return 1;
}

/* The number of expansions that were compared. */
static int compare_operation(bool lanes16, const char *opcode, enum dtype t)
{
    const enum dtype of[] = {t, t, t};
    int count = operand_count(opcode), tried = 0;
    kern_tile_fn *fn = kern_tiles()->vector(opcode, t);
    for (unsigned single = 0; fn && single < 1u << count; single++) {
        struct trial trial;
        trial_begin(&trial, lanes16, count, of, single);
        int v = jit_elementwise(trial.b, opcode, t, trial.values, count);
        if (v == JIT_NONE) {
            jit_memory_free(trial.m);
            arena_free(&trial.arena);
            return tried;
        }
        trial_end(&trial, opcode, v, fn, strcmp(opcode, "is-finite") == 0 ? DT_PRED : t);
        tried++;
    }
    return tried;
}

static const char *const opcodes[] = {"abs",
                                      "add",
                                      "and",
                                      "ceil",
                                      "clamp",
                                      "count-leading-zeros",
                                      "divide",
                                      "erf",
                                      "exponential",
                                      "floor",
                                      "imag",
                                      "is-finite",
                                      "log",
                                      "logistic",
                                      "maximum",
                                      "minimum",
                                      "multiply",
                                      "negate",
                                      "not",
                                      "or",
                                      "popcnt",
                                      "real",
                                      "remainder",
                                      "round-nearest-afz",
                                      "round-nearest-even",
                                      "rsqrt",
                                      "shift-left",
                                      "shift-right-arithmetic",
                                      "shift-right-logical",
                                      "sign",
                                      "sqrt",
                                      "subtract",
                                      "tanh",
                                      "xor"};

START_TEST(elementwise_operations)
{
    const bool lanes16 = choose_variant(_i);
    int tried = 0;
    for (size_t k = 0; k < COUNT_OF(opcodes); k++)
        for (size_t j = 0; j < COUNT_OF(types); j++)
            if (has_lanes(lanes16, types[j]))
                tried += compare_operation(lanes16, opcodes[k], types[j]);
    ck_assert_int_gt(tried, lanes16 ? 150 : 300);
}
END_TEST

/* By one divisor, loaded or part of the code; dividends are near its multiples too. */
static void compare_division(bool lanes16, const char *opcode, enum dtype t, int64_t divisor,
                             bool immediate)
{
    struct trial trial;
    trial_begin(&trial, lanes16, 2, (const enum dtype[]){t, t}, 0);
    for (int i = 0; i < N; i++)
        put_integer(t, trial.operands[1].bytes, i, (uint64_t)divisor);
    for (int i = 0; i < N / 2; i++)
        put_integer(t, trial.operands[0].bytes, i,
                    (uint64_t)(i / 6) * (uint64_t)divisor + (uint64_t)(i % 3) - 1);
    const int by = immediate ? jit_constant(trial.b, t, trial.operands[1].bytes) : trial.values[1];
    const int v = jit_elementwise(trial.b, opcode, t, (const int[]){trial.values[0], by}, 2);
    ck_assert(!immediate || v != JIT_NONE);
    if (v == JIT_NONE) {
        jit_memory_free(trial.m);
        arena_free(&trial.arena);
        return;
    }
    trial_end(&trial, opcode, v, kern_tiles()->vector(opcode, t), t);
}

START_TEST(divisions)
{
    const bool lanes16 = choose_variant(_i);
    static const int64_t divisors[] = {0,         1,
                                       -1,        2,
                                       3,         -7,
                                       10,        127,
                                       128,       255,
                                       -256,      32767,
                                       65535,     65536,
                                       1000003,   INT32_MAX,
                                       INT32_MIN, UINT32_MAX,
                                       1LL << 32, (1LL << 53) + 1,
                                       1LL << 62, INT64_MAX - (1 << 14),
                                       INT64_MAX, INT64_MAX - (1 << 14) + 1,
                                       INT64_MIN, INT64_MIN + 1};
    static const enum dtype integers[] = {DT_S8,  DT_U8,  DT_S16, DT_U16,
                                          DT_S32, DT_U32, DT_S64, DT_U64};
    for (size_t j = 0; j < COUNT_OF(integers); j++)
        for (size_t k = 0; k < COUNT_OF(divisors) && has_lanes(lanes16, integers[j]); k++)
            for (int immediate = 0; immediate < 2; immediate++) {
                compare_division(lanes16, "divide", integers[j], divisors[k], immediate);
                compare_division(lanes16, "remainder", integers[j], divisors[k], immediate);
            }
}
END_TEST

/* Of numbers at the powers of two, which conversions to floats could round up, and of both signs.
 */
static void compare_counts(bool lanes16, const char *opcode, enum dtype t, int64_t difference)
{
    struct trial trial;
    trial_begin(&trial, lanes16, 1, &t, 0);
    for (int i = 0; i < 64; i++)
        put_integer(t, trial.operands[0].bytes, i, ((uint64_t)1 << i) + (uint64_t)difference);
    const int v = jit_elementwise(trial.b, opcode, t, trial.values, 1);
    ck_assert(v != JIT_NONE);
    trial_end(&trial, opcode, v, kern_tiles()->vector(opcode, t), t);
}

START_TEST(bit_counts)
{
    const bool lanes16 = choose_variant(_i);
    static const enum dtype integers[] = {DT_S8,  DT_U8,  DT_S16, DT_U16,
                                          DT_S32, DT_U32, DT_S64, DT_U64};
    static const int64_t differences[] = {0, 1, -1, -2, -255, -256, -257, INT64_MIN};
    for (size_t j = 0; j < COUNT_OF(integers); j++)
        for (size_t k = 0; k < COUNT_OF(differences) && has_lanes(lanes16, integers[j]); k++) {
            compare_counts(lanes16, "count-leading-zeros", integers[j], differences[k]);
            compare_counts(lanes16, "popcnt", integers[j], differences[k]);
        }
}
END_TEST

/* Makes an operand a constant of the code. */
static void set_constant(struct trial *t, int k, int64_t v)
{
    struct operand *x = &t->operands[k];
    for (int i = 0; i < N; i++)
        if (dtype_is_float(x->type))
            put_float(x->type, x->bytes, i, (double)v);
        else
            put_integer(x->type, x->bytes, i, x->type == DT_PRED ? v & 1 : (uint64_t)v);
    t->values[k] = jit_constant(t->b, x->type, x->bytes);
}

/* The operands in `which` are constants. */
static void compare_constants(bool lanes16, const char *opcode, enum dtype t, unsigned which,
                              int64_t v)
{
    const int count = operand_count(opcode);
    struct trial trial;
    trial_begin(&trial, lanes16, count, (const enum dtype[]){t, t, t}, 0);
    for (int k = 0; k < count; k++)
        if (which >> k & 1)
            set_constant(&trial, k, v);
    const int value = jit_elementwise(trial.b, opcode, t, trial.values, count);
    if (value == JIT_NONE) {
        jit_memory_free(trial.m);
        arena_free(&trial.arena);
        return;
    }
    trial_end(&trial, opcode, value, kern_tiles()->vector(opcode, t),
              strcmp(opcode, "is-finite") == 0 ? DT_PRED : t);
}

static void compare_with_constant(bool lanes16, enum dtype t, enum jit_direction d, int constant,
                                  int64_t v)
{
    struct trial trial;
    trial_begin(&trial, lanes16, 2, (const enum dtype[]){t, t}, 0);
    set_constant(&trial, constant, v);
    trial_end(&trial, "compare", jit_compare(trial.b, d, false, trial.values[0], trial.values[1]),
              kern_tiles()->compare((enum kern_direction)d, false, t), DT_PRED);
}

START_TEST(constants)
{
    const bool lanes16 = choose_variant(_i);
    static const int64_t numbers[] = {0, 1, -1, 127, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    for (size_t j = 0; j < COUNT_OF(types); j++)
        for (size_t n = 0; n < COUNT_OF(numbers) && has_lanes(lanes16, types[j]); n++) {
            for (size_t k = 0; k < COUNT_OF(opcodes); k++)
                for (unsigned which = 1; which < 1u << operand_count(opcodes[k]); which++)
                    if (kern_tiles()->vector(opcodes[k], types[j]))
                        compare_constants(lanes16, opcodes[k], types[j], which, numbers[n]);
            for (int d = JIT_EQ; d <= JIT_LT; d++)
                for (int k = 0; k < 2; k++)
                    compare_with_constant(lanes16, types[j], (enum jit_direction)d, k, numbers[n]);
        }
}
END_TEST

/* Elements that are changed several times, one after the other: 3 x + y. */
START_TEST(elements_at_offsets)
{
    enum { ELEMENTS = 5 };
    int64_t offsets[N], in_order[N], expected[ELEMENTS] = {1, 2, 3, 4, 5}, got[ELEMENTS];
    int16_t updates[N];
    const int64_t three = 3;
    struct arena arena;
    arena_init(&arena);
    struct jit_builder *b = jit_builder_new(&arena);
    struct jit_memory *m = jit_memory_new();
    memcpy(got, expected, sizeof got);
    for (int i = 0; i < N; i++) {
        const int at = i * i % ELEMENTS;
        offsets[i] = at * 8;
        in_order[i] = (N - 1 - i) * 2;
        updates[N - 1 - i] = (int16_t)(i - 100);
        expected[at] = (int64_t)(3 * (uint64_t)expected[at] + (uint64_t)(i - 100));
    }
    const int x = jit_load_indexed(b, 0, 2, DT_S64), y = jit_load_indexed(b, 1, 3, DT_S16);
    const int product = jit_elementwise(b, "multiply", DT_S64,
                                        (const int[]){x, jit_constant(b, DT_S64, &three)}, 2);
    jit_store_indexed(
        b, 0, 2,
        jit_elementwise(b, "add", DT_S64, (const int[]){product, jit_convert(b, DT_S64, y)}, 2));
    jit_tile_fn *f = jit_tile_function(b, m);
    ck_assert(f != NULL);
    jit_memory_seal(m);
    f((void *[]){got, updates, offsets, in_order}, N);
    ck_assert_mem_eq(got, expected, sizeof got);
    jit_memory_free(m);
    arena_free(&arena);
}
END_TEST

START_TEST(comparisons)
{
    const bool lanes16 = choose_variant(_i);
    for (size_t j = 0; j < COUNT_OF(types); j++)
        for (int d = JIT_EQ; d <= JIT_LT && has_lanes(lanes16, types[j]); d++)
            for (int total = 0; total < 2; total++) {
                struct trial t;
                trial_begin(&t, lanes16, 2, (const enum dtype[]){types[j], types[j]}, 0);
                int v = jit_compare(t.b, (enum jit_direction)d, total, t.values[0], t.values[1]);
                ck_assert_int_ne(v, JIT_NONE);
                trial_end(&t, "compare", v,
                          kern_tiles()->compare((enum kern_direction)d, total, types[j]), DT_PRED);
            }
}
END_TEST

START_TEST(conversions)
{
    const bool lanes16 = choose_variant(_i);
    int tried = 0, count = 0;
    for (size_t j = 0; j < COUNT_OF(types); j++)
        count += has_lanes(lanes16, types[j]);
    for (size_t j = 0; j < COUNT_OF(types); j++)
        for (size_t k = 0; k < COUNT_OF(types) && has_lanes(lanes16, types[j]); k++) {
            struct trial t;
            trial_begin(&t, lanes16, 1, &types[j], 0);
            int v = j == k ? JIT_NONE : jit_convert(t.b, types[k], t.values[0]);
            if (v == JIT_NONE) {
                jit_memory_free(t.m);
                arena_free(&t.arena);
                continue;
            }
            trial_end(&t, dtype_spelling(types[j]), v, kern_tiles()->convert(types[k], types[j]),
                      types[k]);
            tried++;
        }
    ck_assert_int_eq(tried, count * (count - 1));
}
END_TEST

static void compare_complex(const char *opcode, enum dtype t, int count, enum dtype result)
{
    for (unsigned which = 0; which < 1u << 2 * count; which++) { /* singles, constants */
        struct trial trial;
        trial_begin(&trial, false, count, (const enum dtype[]){t, t}, which & 3);
        for (int k = 0; k < count; k++)
            if ((which & which >> count) >> k & 1)
                trial.values[k] = jit_constant(trial.b, t, trial.operands[k].bytes);
        const int v = jit_elementwise(trial.b, opcode, t, trial.values, count);
        ck_assert_int_ne(v, JIT_NONE);
        trial_end(&trial, opcode, v, kern_tiles()->vector(opcode, t), result);
    }
}

static void convert_complex(enum dtype to, enum dtype from)
{
    struct trial t;
    trial_begin(&t, false, 1, &from, 0);
    trial_end(&t, dtype_spelling(from), jit_convert(t.b, to, t.values[0]),
              kern_tiles()->convert(to, from), to);
}

START_TEST(complex_numbers)
{
    choose_variant(_i);
    static const char *const binary[] = {"add", "subtract", "multiply"};
    for (size_t k = 0; k < COUNT_OF(binary); k++)
        compare_complex(binary[k], DT_C64, 2, DT_C64);
    compare_complex("complex", DT_F32, 2, DT_C64);
    compare_complex("negate", DT_C64, 1, DT_C64);
    compare_complex("real", DT_C64, 1, DT_F32);
    compare_complex("imag", DT_C64, 1, DT_F32);
    for (int d = JIT_EQ; d <= JIT_NE; d++) {
        struct trial t;
        trial_begin(&t, false, 2, (const enum dtype[]){DT_C64, DT_C64}, 0);
        memcpy(t.operands[0].bytes, t.operands[1].bytes, N * 4);
        trial_end(&t, "compare",
                  jit_compare(t.b, (enum jit_direction)d, false, t.values[0], t.values[1]),
                  kern_tiles()->compare((enum kern_direction)d, false, DT_C64), DT_PRED);
    }
    for (size_t j = 0; j < COUNT_OF(types); j++) {
        convert_complex(DT_C64, types[j]);
        convert_complex(types[j], DT_C64);
    }
}
END_TEST

static void compare_conversion(bool lanes16, enum dtype to, enum dtype from, const void *numbers,
                               size_t bytes)
{
    struct trial t;
    trial_begin(&t, lanes16, 1, &from, 0);
    memcpy(t.operands[0].bytes, numbers, bytes);
    const int v = jit_convert(t.b, to, t.values[0]);
    trial_end(&t, dtype_spelling(from), v, kern_tiles()->convert(to, from), to);
}

/* Numbers at the ends of ranges, and those that would be rounded twice. */
START_TEST(conversions_of_borders)
{
    const bool lanes16 = false;
    choose_variant(_i);
    static const uint64_t wide[] = {0x8000008000000001, 0x8000008000000000, 0x8000017fffffffff,
                                    0x7fffffbfffffffff, 0x7fffffc000000000, 0x0020000010000001,
                                    0x0020000010000000, 0xffffff7fffffffff, 0xfffffffffffffbff,
                                    0xfffffffffffffc00, 1ull << 63,         (1ull << 53) + 1};
    static const double doubles[] = {
        0x1p31,       0x1p31 - 0.5, -0x1p31, -0x1p31 - 1,          0x1p32,
        0x1p32 - 0.5, 0x1p63,       -0x1p63, 0x1.fffffffffffffp62, 0x1.fffffffffffffp63,
        0x1p64,       0x1.8p52,     -0.5,    0x1.23456789p40};
    float floats[COUNT_OF(doubles)];
    for (size_t k = 0; k < COUNT_OF(doubles); k++)
        floats[k] = (float)doubles[k];
    for (size_t j = 0; j < COUNT_OF(types); j++)
        if (types[j] != DT_S64 && types[j] != DT_U64) {
            compare_conversion(lanes16, types[j], DT_S64, wide, sizeof wide);
            compare_conversion(lanes16, types[j], DT_U64, wide, sizeof wide);
        }
    for (size_t j = 0; j < COUNT_OF(types); j++)
        if (!dtype_is_float(types[j])) {
            compare_conversion(lanes16, types[j], DT_F64, doubles, sizeof doubles);
            compare_conversion(lanes16, types[j], DT_F32, floats, sizeof floats);
        }
}
END_TEST

START_TEST(selections)
{
    const bool lanes16 = choose_variant(_i);
    for (size_t j = 0; j <= COUNT_OF(types); j++) {
        struct trial t;
        const enum dtype of = j < COUNT_OF(types) ? types[j] : DT_C64;
        if (!has_lanes(lanes16, of) || (lanes16 && of == DT_C64))
            continue;
        trial_begin(&t, lanes16, 3, (const enum dtype[]){DT_PRED, of, of}, j % 8);
        int v = jit_elementwise(t.b, "select", of, t.values, 3);
        trial_end(&t, "select", v, kern_tiles()->elementwise("select", of), of);
    }
}
END_TEST

/* More values than registers: a sum of pairwise products, all made before the first is read. */
START_TEST(spilled_values)
{
    const bool lanes16 = false;
    choose_variant(_i);
    enum { VALUES = 40 };
    struct trial t;
    int v[VALUES];
    trial_begin(&t, lanes16, 2, (const enum dtype[]){DT_F32, DT_F32}, 0);
    for (int k = 0; k < VALUES; k++)
        v[k] = jit_elementwise(t.b, k % 2 ? "add" : "multiply", DT_F32,
                               (const int[]){k ? v[k - 1] : t.values[0], t.values[1]}, 2);
    int sum = v[0];
    for (int k = 1; k < VALUES; k++)
        sum = jit_elementwise(t.b, "subtract", DT_F32, (const int[]){sum, v[k]}, 2);
    jit_store(t.b, 2, sum);
    static float got[N];
    void *tiles[] = {t.operands[0].bytes, t.operands[1].bytes, got};
    jit_tile_fn *f = jit_tile_function(t.b, t.m);
    jit_memory_seal(t.m);
    f(tiles, N);
    for (int i = 0; i < N; i++) {
        float x = ((const float *)tiles[0])[i], y = ((const float *)tiles[1])[i], w[VALUES], s;
        for (int k = 0; k < VALUES; k++)
            w[k] = k % 2 ? (k ? w[k - 1] : x) + y : (k ? w[k - 1] : x) * y;
        s = w[0];
        for (int k = 1; k < VALUES; k++)
            s -= w[k];
        ck_assert_msg((isnan(s) && isnan(got[i])) || memcmp(&s, &got[i], sizeof s) == 0,
                      "element %d", i);
    }
    jit_memory_free(t.m);
    arena_free(&t.arena);
}
END_TEST

enum { STEPS = 60, RESULTS = 8 };

/* Values of one type and preds, with their elements by the tile kernels. */
struct sequence {
    struct trial trial;
    enum dtype type;
    uint64_t state;
    int values[2 * STEPS + 2], count;
    enum dtype types[2 * STEPS + 2];
    _Alignas(64) char bytes[2 * STEPS + 2][N * 8];
};

static unsigned draw(struct sequence *q, unsigned limit)
{
    return (unsigned)(next_random(&q->state) >> 10) % limit;
}

/* A value of this type, mostly a late one. */
static int draw_value(struct sequence *q, enum dtype t)
{
    int v;
    do
        v = draw(q, 2) ? q->count - 1 - (int)draw(q, 6) : (int)draw(q, (unsigned)q->count);
    while (v < 0 || q->types[v] != t);
    return v;
}

static int add_result(struct sequence *q, enum dtype t, int value, kern_tile_fn *fn, int x, int y,
                      int z)
{
    ck_assert_int_ne(value, JIT_NONE);
    ck_assert(fn != NULL);
    fn(q->bytes[q->count], (const void *const[]){q->bytes[x], q->bytes[y], q->bytes[z]}, N);
    q->types[q->count] = t;
    q->values[q->count] = value;
    return q->count++;
}

static int add_step(struct sequence *q, const char *opcode, enum dtype t, int x, int y, int z)
{
    const bool selects = strcmp(opcode, "select") == 0;
    const int args[] = {q->values[x], q->values[y], q->values[z]},
              count = selects ? 3 : operand_count(opcode);
    return add_result(q, t, jit_elementwise(q->trial.b, opcode, t, args, count),
                      kern_tiles()->vector(opcode, t), x, y, z);
}

/* A constant: the number of bits of a shift. */
static int add_count(struct sequence *q, unsigned bits)
{
    for (int i = 0; i < N; i++)
        put_integer(q->type, q->bytes[q->count], i, bits);
    q->types[q->count] = DT_INVALID; /* not drawn as an operand */
    q->values[q->count] = jit_constant(q->trial.b, q->type, q->bytes[q->count]);
    return q->count++;
}

static void add_rotation(struct sequence *q)
{
    const unsigned width = (unsigned)dtype_bits(q->type), n = 1 + draw(q, width - 1);
    const int x = draw_value(q, q->type), left = add_count(q, n), right = add_count(q, width - n),
              high = add_step(q, "shift-left", q->type, x, left, x),
              low = add_step(q, "shift-right-logical", q->type, x, right, x);
    add_step(q, "or", q->type, high, draw(q, 8) ? low : high, x);
}

static void draw_step(struct sequence *q)
{
    static const char *const of_integers[] = {"and", "or",      "xor",      "not",
                                              "add", "maximum", "multiply", "minimum"},
                             *const of_floats[] = {"add", "maximum", "multiply", "subtract"},
                             *const of_preds[] = {"and", "or", "xor", "not"};
    const bool floats = dtype_is_float(q->type);
    const int x = draw_value(q, q->type), y = draw_value(q, q->type);
    const enum jit_direction d = (enum jit_direction)draw(q, 6);
    switch (draw(q, 8)) {
    case 0:
        add_result(q, DT_PRED, jit_compare(q->trial.b, d, false, q->values[x], q->values[y]),
                   kern_tiles()->compare((enum kern_direction)d, false, q->type), x, y, x);
        break;
    case 1: add_step(q, "select", q->type, draw_value(q, DT_PRED), x, y); break;
    case 2:
        add_step(q, of_preds[draw(q, COUNT_OF(of_preds))], DT_PRED, draw_value(q, DT_PRED),
                 draw_value(q, DT_PRED), x);
        break;
    case 3:
        if (!floats) {
            add_rotation(q);
            break;
        } /* fallthrough */
    default:
        add_step(q,
                 floats ? of_floats[draw(q, COUNT_OF(of_floats))]
                        : of_integers[draw(q, COUNT_OF(of_integers))],
                 q->type, x, y, x);
    }
}

static void check_sequence(bool lanes16, enum dtype t, uint64_t seed)
{
    static struct sequence q;
    _Alignas(64) static char got[RESULTS][N * 8];
    void *tiles[2 + RESULTS];
    q.state = seed;
    q.type = t;
    q.count = 0;
    trial_begin(&q.trial, lanes16, 2, (const enum dtype[]){t, DT_PRED}, 0);
    for (; q.count < 2; q.count++) {
        q.types[q.count] = q.trial.operands[q.count].type;
        q.values[q.count] = q.trial.values[q.count];
        memcpy(q.bytes[q.count], q.trial.operands[q.count].bytes, sizeof q.bytes[0]);
        tiles[q.count] = q.trial.operands[q.count].bytes;
    }
    while (q.count < STEPS)
        draw_step(&q);
    int results[RESULTS];
    for (int k = 0; k < RESULTS; k++) {
        results[k] = draw_value(&q, k % 2 ? DT_PRED : t);
        jit_store(q.trial.b, 2 + k, q.values[results[k]]);
        tiles[2 + k] = got[k];
    }
    jit_tile_fn *f = jit_tile_function(q.trial.b, q.trial.m);
    ck_assert(f != NULL);
    jit_memory_seal(q.trial.m);
    f(tiles, N);
    for (int k = 0; k < RESULTS; k++)
        expect_same("a sequence", q.types[results[k]], got[k], q.bytes[results[k]]);
    jit_memory_free(q.trial.m);
    arena_free(&q.trial.arena);
}

START_TEST(sequences)
{
    static const enum dtype of[] = {DT_U8, DT_S16, DT_S32, DT_U32, DT_U64, DT_F32, DT_F64};
    const bool lanes16 = choose_variant(_i);
    for (size_t j = 0; j < COUNT_OF(of); j++)
        for (uint64_t seed = 1; seed <= 40 && has_lanes(lanes16, of[j]); seed++)
            check_sequence(lanes16, of[j], seed * 7919);
}
END_TEST

/* ---- programs ---- */

static bool count_call(const void *context, const void *argument)
{
    ++*(int *)(uintptr_t)context;
    return *(const int *)argument < 100;
}

static void double_it(void *out, const void *const *args, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        ((double *)out)[i] = 2 * ((const double *)args[0])[i];
}

static int s32_constant(struct jit_builder *b, int32_t v) { return jit_constant(b, DT_S32, &v); }

struct home {
    _Alignas(16) union {
        int32_t s32;
        double f64;
        uint8_t pred;
    };
};

/* sum = 0; for (i = 0; i < n; i++) sum += i % 2 ? x : 2 * x, by a call of a kernel */
static jit_program_fn *loop_program(struct jit_builder *b, struct jit_memory *m, struct home *homes,
                                    const void *const *kernel_args, const int *argument)
{
    int i = jit_variable(b, DT_S32, (char *)&homes[0], false),
        n = jit_variable(b, DT_S32, (char *)&homes[1], true),
        sum = jit_variable(b, DT_F64, (char *)&homes[2], false),
        x = jit_variable(b, DT_F64, (char *)&homes[3], true),
        term = jit_variable(b, DT_F64, (char *)&homes[4], false), zero = s32_constant(b, 0),
        one = s32_constant(b, 1), top = jit_label(b), end = jit_label(b), even = jit_label(b),
        join = jit_label(b);
    const double none = 0;
    jit_set(b, i, zero);
    jit_set(b, sum, jit_constant(b, DT_F64, &none));
    jit_put_label(b, top);
    jit_jump_unless(b, jit_compare(b, JIT_LT, false, i, n), end);
    jit_switch(b, jit_elementwise(b, "and", DT_S32, (const int[]){i, one}, 2),
               (const int[]){even, join}, 2);
    jit_put_label(b, join);
    jit_set(b, term, x);
    int after = jit_label(b);
    jit_jump(b, after);
    jit_put_label(b, even);
    jit_kernel(b, double_it, (char *)&homes[4], kernel_args, 1, (const int[]){x, term}, 2);
    jit_put_label(b, after);
    jit_set(b, sum, jit_elementwise(b, "add", DT_F64, (const int[]){sum, term}, 2));
    jit_set(b, i, jit_elementwise(b, "add", DT_S32, (const int[]){i, one}, 2));
    jit_charge(b, count_call, argument, &i, 1);
    jit_jump(b, top);
    jit_put_label(b, end);
    jit_flush(b, sum);
    jit_return(b);
    return jit_program(b, m);
}

/* The slow path of the charge is taken in the first iteration, and not if it refills the slice. */
START_TEST(loops_branches_and_calls)
{
    struct arena a;
    struct home homes[5] = {{.s32 = 7}, {.s32 = 1001}, {.f64 = -1}, {.f64 = 0.25}, {.f64 = -1}};
    int calls = 0, argument = 5;
    int64_t slice = 1000;
    arena_init(&a);
    struct jit_memory *m = jit_memory_new();
    jit_program_fn *f =
        loop_program(jit_builder_new(&a), m, homes, (const void *const[]){&homes[3]}, &argument);
    jit_memory_seal(m);
    ck_assert(f(&calls, &slice, NULL));
    ck_assert(homes[2].f64 == 501 * 0.5 + 500 * 0.25);
    ck_assert_int_eq(calls, 1);
    argument = 100; /* the call in the last iteration fails */
    slice = 1000;
    ck_assert(!f(&calls, &slice, NULL));
    ck_assert_int_eq(homes[0].s32, 1001);
    jit_memory_free(m);
    arena_free(&a);
}
END_TEST

/* More variables than registers: x[k + 1] = x[k] + x[k - 1], in turn, ten times, on moved data. */
START_TEST(spilled_variables)
{
    enum { VARIABLES = 30 };
    struct arena a;
    struct home homes[VARIABLES], moved[VARIABLES], expected[VARIABLES];
    int v[VARIABLES], calls = 0, argument = 0;
    int64_t slice = 0;
    arena_init(&a);
    struct jit_memory *m = jit_memory_new();
    struct jit_builder *b = jit_builder_new(&a);
    jit_set_data(b, (const char *)homes, sizeof homes);
    for (int k = 0; k < VARIABLES; k++) {
        homes[k].f64 = expected[k].f64 = k * 0.5;
        v[k] = jit_variable(b, DT_F64, (char *)&homes[k], true);
    }
    for (int t = 0; t < 10; t++)
        for (int k = 0; k < VARIABLES; k++) {
            const int from[] = {v[(k + VARIABLES - 1) % VARIABLES], v[(k + 7) % VARIABLES]};
            jit_set(b, v[k], jit_elementwise(b, "add", DT_F64, from, 2));
            if (k == 11)
                jit_call(b, count_call, &argument, &v[3], 1);
            expected[k].f64 =
                expected[(k + VARIABLES - 1) % VARIABLES].f64 + expected[(k + 7) % VARIABLES].f64;
        }
    for (int k = 0; k < VARIABLES; k++)
        jit_flush(b, v[k]);
    jit_return(b);
    jit_program_fn *f = jit_program(b, m);
    memcpy(moved, homes, sizeof moved);
    jit_memory_seal(m);
    ck_assert(f(&calls, &slice, (char *)moved));
    ck_assert_int_eq(calls, 10);
    for (int k = 0; k < VARIABLES; k++)
        ck_assert_msg(moved[k].f64 == expected[k].f64, "variable %d", k);
    jit_memory_free(m);
    arena_free(&a);
}
END_TEST

/* out[i] = x[i] * factor + y[i] in lanes: as many as fit in a loop, then four, then the rest. */
static void put_sum(struct jit_builder *b, enum dtype t, char *const *arrays, int factor, int64_t i)
{
    const size_t at = (size_t)i * dtype_bytes(t);
    const int x = jit_element(b, arrays[0] + at, t), y = jit_element(b, arrays[1] + at, t),
              product = jit_elementwise(b, "multiply", t, (const int[]){x, factor}, 2);
    jit_put_element(b, arrays[2] + at, jit_elementwise(b, "add", t, (const int[]){product, y}, 2));
}

static void check_lanes(enum dtype t, int count)
{
    struct operand x = {.type = t}, y = {.type = t}, out = {.type = t}, factor = {.type = t};
    char *const arrays[] = {x.bytes, y.bytes, out.bytes};
    char expected[sizeof x.bytes];
    struct arena a;
    int64_t slice = 0;
    fill(t, x.bytes, 5);
    fill(t, y.bytes, 6);
    fill(t, factor.bytes, 7);
    memset(out.bytes, 0x55, sizeof out.bytes);
    memset(expected, 0x55, sizeof expected);
    arena_init(&a);
    struct jit_memory *m = jit_memory_new();
    struct jit_builder *b = jit_builder_new(&a);
    const int v = jit_variable(b, t, factor.bytes, true), most = t == DT_F64 ? 4 : 8;
    int i = count / most * most;
    jit_set_lanes(b, most);
    const int spread = jit_splat(b, v);
    jit_start_elements(b);
    put_sum(b, t, arrays, spread, 0);
    jit_end_elements(b, i);
    ck_assert_int_eq(jit_most_lanes(b), most);
    for (int lanes; i < count; i += lanes) {
        jit_set_lanes(b, lanes = count - i >= 4 ? 4 : 1);
        put_sum(b, t, arrays, spread, i);
    }
    jit_set_lanes(b, 1);
    jit_return(b);
    jit_program_fn *f = jit_program(b, m);
    jit_memory_seal(m);
    ck_assert(f(NULL, &slice, NULL));
    for (int k = 0; k < count; k++)
        memcpy(factor.bytes + (size_t)k * dtype_bytes(t), factor.bytes, dtype_bytes(t));
    kern_find_elementwise("multiply", t)(expected, (const void *[]){x.bytes, factor.bytes}, count);
    kern_find_elementwise("add", t)(expected, (const void *[]){expected, y.bytes}, count);
    ck_assert_mem_eq(out.bytes, expected, sizeof expected);
    jit_memory_free(m);
    arena_free(&a);
}

START_TEST(lanes_of_programs)
{
    for (int count = 8; count < 32; count++) {
        check_lanes(DT_F32, count);
        check_lanes(DT_F64, count);
        check_lanes(DT_S32, count);
        check_lanes(DT_S16, count);
    }
}
END_TEST

/* In general registers: single elements, with all pairs of the least integers, 0 and -1. */
static void check_division(const char *opcode, enum dtype t)
{
    struct operand x = {.type = t}, y = {.type = t}, out = {.type = t}, expected = {.type = t};
    const size_t width = dtype_bytes(t);
    struct arena a;
    int64_t slice = 0;
    fill(t, x.bytes, 5);
    fill(t, y.bytes, 6);
    for (int k = 0; k < 16; k++) {
        const uint64_t least = (uint64_t)1 << (8 * width - 1);
        const uint64_t special[] = {0, UINT64_MAX, least, least - 1};
        put_integer(t, x.bytes, k, special[k / 4]);
        put_integer(t, y.bytes, k, special[k % 4]);
    }
    arena_init(&a);
    struct jit_memory *m = jit_memory_new();
    struct jit_builder *b = jit_builder_new(&a);
    jit_set_target(b, (struct jit_target){.general = true});
    for (size_t at = 0; at < N * width; at += width) {
        const int args[] = {jit_element(b, x.bytes + at, t), jit_element(b, y.bytes + at, t)};
        jit_put_element(b, out.bytes + at, jit_elementwise(b, opcode, t, args, 2));
    }
    jit_return(b);
    jit_program_fn *f = jit_program(b, m);
    jit_memory_seal(m);
    ck_assert(f(NULL, &slice, NULL));
    kern_find_elementwise(opcode, t)(expected.bytes, (const void *[]){x.bytes, y.bytes}, N);
    expect_same(opcode, t, out.bytes, expected.bytes);
    jit_memory_free(m);
    arena_free(&a);
}

START_TEST(divisions_of_programs)
{
    static const enum dtype integers[] = {DT_S8,  DT_U8,  DT_S16, DT_U16,
                                          DT_S32, DT_U32, DT_S64, DT_U64};
    for (size_t k = 0; k < COUNT_OF(integers); k++) {
        check_division("divide", integers[k]);
        check_division("remainder", integers[k]);
    }
}
END_TEST

/* Where there is no machine code, nothing is tested but that. */
static bool is_available(void)
{
    struct jit_memory *m = jit_memory_new();
    jit_memory_free(m);
    return m != NULL;
}

/* By the same divisor, which machine code multiplies by its reciprocal: all numbers, by divisors
 * whose reciprocals are subnormal, overflow, or make quotients that are subnormal. */
START_TEST(quotients_of_bf16)
{
    enum { ALL = 1 << 16, MANTISSAS = 1 << 7 };
    static const uint16_t exponents[] = {0, 1, 2, 127, 252, 253, 254, 255};
    static uint16_t x[ALL], y[KERN_TILE], got[ALL], expected[ALL];
    struct trial t;
    choose_variant(_i);
    trial_begin(&t, false, 2, (const enum dtype[]){DT_BF16, DT_BF16}, 2);
    jit_store(t.b, 2, jit_elementwise(t.b, "divide", DT_BF16, t.values, 2));
    jit_tile_fn *f = jit_tile_function(t.b, t.m);
    ck_assert(f != NULL);
    jit_memory_seal(t.m);
    for (int k = 0; k < ALL; k++)
        x[k] = (uint16_t)k;
    for (int k = 0; k < (int)COUNT_OF(exponents) * MANTISSAS; k++) {
        const uint16_t divisor = (uint16_t)(exponents[k / MANTISSAS] << 7 | k % MANTISSAS);
        for (int i = 0; i < KERN_TILE; i++)
            y[i] = k % 2 ? divisor | 0x8000 : divisor;
        f((void *const[]){x, y, got}, ALL);
        for (int i = 0; i < ALL; i += KERN_TILE)
            kern_tiles()->vector("divide", DT_BF16)(expected + i, (const void *const[]){x + i, y},
                                                    KERN_TILE);
        for (int i = 0; i < ALL; i++)
            ck_assert_msg(got[i] == expected[i], "%04x / %04x: %04x, expected %04x", x[i], y[0],
                          got[i], expected[i]);
    }
    jit_memory_free(t.m);
    arena_free(&t.arena);
}
END_TEST

START_TEST(no_target) { ck_assert(jit_memory_new() == NULL); }
END_TEST

int main(void)
{
    Suite *s = suite_create("jit");
    TCase *t = tcase_create("jit");
    tcase_set_timeout(t, 120);
    suite_add_tcase(s, t);
    if (!is_available()) {
        tcase_add_test(t, no_target);
        return check_run(s);
    }
    tcase_add_loop_test(t, elementwise_operations, 0, VARIANTS);
    tcase_add_loop_test(t, divisions, 0, VARIANTS);
    tcase_add_loop_test(t, quotients_of_bf16, 0, VARIANTS - 1);
    tcase_add_loop_test(t, bit_counts, 0, VARIANTS);
    tcase_add_loop_test(t, constants, 0, VARIANTS);
    tcase_add_test(t, elements_at_offsets);
    tcase_add_loop_test(t, comparisons, 0, VARIANTS);
    tcase_add_loop_test(t, conversions, 0, VARIANTS);
    tcase_add_loop_test(t, complex_numbers, 0, WIDER);
    tcase_add_loop_test(t, conversions_of_borders, 0, WIDER);
    tcase_add_loop_test(t, selections, 0, VARIANTS);
    tcase_add_loop_test(t, sequences, 0, VARIANTS);
    tcase_add_loop_test(t, spilled_values, 0, WIDER);
    tcase_add_test(t, loops_branches_and_calls);
    tcase_add_test(t, spilled_variables);
    tcase_add_test(t, lanes_of_programs);
    tcase_add_test(t, divisions_of_programs);
    return check_run(s);
}
