/*
 * Generates products and other numeric instructions: dot, conv, linalg, fft, batchnorm, rng.
 */
#include "fuzz/generate_priv.h"

/* ---- dot ---- */

/* Dimensions of one side in a random order: batch, contracting and free ones. */
struct side {
    struct type type;
    int64_t batch[GEN_RANK], contracting[GEN_RANK];
};

static struct side some_side(struct gen *g, enum dtype t, int batch, int contracting,
                             const int64_t *sizes)
{
    struct side s = {.type = {.dtype = t, .rank = batch + contracting + (int)gen_below(g, 3)}};
    int64_t order[GEN_RANK];
    for (int d = 0; d < s.type.rank; d++)
        order[d] = d;
    gen_shuffle(g, order, s.type.rank);
    for (int k = 0; k < s.type.rank; k++)
        s.type.dims[order[k]] = k < batch + contracting ? sizes[k] : gen_size(g, 1, 5, 70);
    for (int k = 0; k < batch; k++)
        s.batch[k] = order[k];
    for (int k = 0; k < contracting; k++)
        s.contracting[k] = order[batch + k];
    return s;
}

static void put_free(struct type *out, const struct side *s, int batch, int contracting)
{
    for (int d = 0; d < s->type.rank; d++) {
        bool taken = false;
        for (int k = 0; k < batch; k++)
            taken |= s->batch[k] == d;
        for (int k = 0; k < contracting; k++)
            taken |= s->contracting[k] == d;
        if (!taken)
            out->dims[out->rank++] = s->type.dims[d];
    }
}

static void put_dot_dims(struct buf *out, const struct side *l, const struct side *r, int batch,
                         int contracting)
{
    const struct side *sides[] = {l, r};
    static const char *const names[] = {"lhs", "rhs"};
    for (int k = 0; k < 2; k++) {
        if (batch > 0) {
            buf_printf(out, ", %s_batch_dims=", names[k]);
            put_list(out, sides[k]->batch, batch);
        }
        buf_printf(out, ", %s_contracting_dims=", names[k]);
        put_list(out, sides[k]->contracting, contracting);
    }
}

/* Usually one type; otherwise a valid combination of types. */
static void dot_types(struct gen *g, enum dtype *l, enum dtype *r, enum dtype *out)
{
    static const enum dtype mixed[][3] = {
        {DT_S8, DT_S8, DT_S32},    {DT_U8, DT_S8, DT_S32},    {DT_BF16, DT_BF16, DT_F32},
        {DT_F16, DT_F16, DT_F32},  {DT_S32, DT_S32, DT_F32},  {DT_S32, DT_S32, DT_S8},
        {DT_S4, DT_S4, DT_S32},    {DT_F32, DT_BF16, DT_F32}, {DT_F32, DT_F32, DT_F64},
        {DT_F64, DT_F64, DT_F32},  {DT_S16, DT_S16, DT_S64},  {DT_F8E5M2, DT_F8E4M3FN, DT_F32},
        {DT_BF16, DT_BF16, DT_S32}};
    *l = *r = *out = gen_dtype(g, TY_ANY);
    if (gen_chance(g, 25)) {
        const enum dtype *m = mixed[gen_below(g, sizeof mixed / sizeof *mixed)];
        *l = m[0];
        *r = m[1];
        *out = m[2];
    }
}

static void dot(struct gen *g)
{
    int batch = (int)gen_below(g, 3), contracting = (int)gen_between(g, 0, 2);
    int64_t sizes[4];
    struct type out = {0};
    enum dtype lt, rt;
    dot_types(g, &lt, &rt, &out.dtype);
    for (int k = 0; k < 4; k++)
        sizes[k] = gen_size(g, gen_chance(g, 97), gen_chance(g, 15) ? 12 : 4, 70);
    struct side l = some_side(g, lt, batch, contracting, sizes),
                r = some_side(g, rt, batch, contracting, sizes);
    for (int k = 0; k < batch; k++)
        out.dims[out.rank++] = sizes[k];
    put_free(&out, &l, batch, contracting);
    put_free(&out, &r, batch, contracting);
    struct val both[2] = {gen_value(g, l.type), gen_value(g, r.type)};
    struct buf rest = {0};
    put_dot_dims(&rest, &l, &r, batch, contracting);
    gen_emit(g, OP_DOT, out, 2, both, "%s%s", rest.data,
             gen_chance(g, 10) ? ", operand_precision={highest,highest}" : "");
    buf_free(&rest);
}

/* Either rows of the left side form groups with a matrix each on the right side, or groups of the
 * contracted dimension give a matrix each. */
static void ragged_dot(struct gen *g)
{
    enum dtype t = gen_dtype(g, TY_INTEGER | TY_FLOAT);
    int64_t m = gen_between(g, 1, 6), k = gen_between(g, 1, 4), n = gen_between(g, 1, 4),
            groups = gen_between(g, 1, 3);
    struct type sizes = type_of(DT_S32, 1, &groups);
    bool contracting = gen_chance(g, 40);
    struct val all[3] = {gen_value(g, type_of(t, 2, (int64_t[]){m, k})),
                         gen_value(g, contracting ? type_of(t, 2, (int64_t[]){k, n})
                                                  : type_of(t, 3, (int64_t[]){groups, k, n})),
                         gen_constant(g, sizes)};
    struct type out =
        contracting ? type_of(t, 3, (int64_t[]){groups, m, n}) : type_of(t, 2, (int64_t[]){m, n});
    gen_emit(g, OP_RAGGED_DOT, out, 3, all,
             contracting
                 ? ", lhs_contracting_dims={1}, rhs_contracting_dims={0}, lhs_ragged_dims={1}"
                 : ", lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, "
                   "rhs_group_dims={0}");
}

static void scaled_dot(struct gen *g)
{
    static const enum dtype narrow[] = {DT_F8E4M3FN, DT_F8E5M2, DT_BF16, DT_F32};
    int64_t m = gen_between(g, 1, 4), k = 2 * gen_between(g, 1, 4), n = gen_between(g, 1, 4),
            block = gen_chance(g, 50) ? 2 : 1;
    enum dtype t = narrow[gen_below(g, 4)], s = gen_chance(g, 50) ? DT_F32 : DT_BF16;
    if (gen_chance(g, 70))
        t = s = gen_chance(g, 50) ? DT_F32 : DT_BF16;
    struct val all[4] = {gen_value(g, type_of(t, 2, (int64_t[]){m, k})),
                         gen_value(g, type_of(t, 2, (int64_t[]){k, n})),
                         gen_value(g, type_of(s, 2, (int64_t[]){m, k / block})),
                         gen_value(g, type_of(s, 2, (int64_t[]){k / block, n}))};
    gen_emit(g, OP_SCALED_DOT, type_of(s, 2, (int64_t[]){m, n}), 4, all,
             ", lhs_contracting_dims={1}, rhs_contracting_dims={0}");
}

void gen_dot(struct gen *g, enum opcode op)
{
    switch (op) {
    case OP_RAGGED_DOT: ragged_dot(g); break;
    case OP_SCALED_DOT: scaled_dot(g); break;
    default: dot(g); break;
    }
}

/* ---- conv ---- */

/* An order of batch, feature and spatial dimensions, as it is written: `b01f`. */
static void put_labels(struct gen *g, struct buf *out, int spatial, char first, char second,
                       int64_t *order)
{
    for (int k = 0; k < spatial + 2; k++)
        order[k] = k;
    gen_shuffle(g, order, spatial + 2);
    for (int d = 0; d < spatial + 2; d++) /* order[d]: role of dimension d */
        buf_putc(out, order[d] == 0 ? first : order[d] == 1 ? second : (char)('0' + order[d] - 2));
}

static struct type by_labels(enum dtype t, int spatial, const int64_t *order, int64_t first,
                             int64_t second, const int64_t *sizes)
{
    struct type out = {.dtype = t, .rank = spatial + 2};
    for (int d = 0; d < out.rank; d++)
        out.dims[d] = order[d] == 0 ? first : order[d] == 1 ? second : sizes[order[d] - 2];
    return out;
}

void gen_conv(struct gen *g, enum opcode op)
{
    int spatial = (int)gen_between(g, gen_chance(g, 90), 3);
    int64_t features = gen_size(g, 1, 2, 20), batch = gen_between(g, 1, 3),
            outs = gen_size(g, 1, 3, 20);
    int64_t fg = gen_chance(g, 20) ? gen_between(g, 2, 3) : 1,
            bg = fg == 1 && gen_chance(g, 15) ? 2 : 1;
    int64_t kernel[GEN_RANK], l[GEN_RANK], r[GEN_RANK], o[GEN_RANK];
    enum dtype lt, rt, ot;
    struct type in = {.rank = spatial};
    struct buf window = {0}, labels = {0};
    dot_types(g, &lt, &rt, &ot);
    for (int d = 0; d < spatial; d++)
        in.dims[d] = gen_size(g, 1, 6, 20);
    struct type positions = gen_conv_window(g, in, &window, kernel);
    put_labels(g, &labels, spatial, 'b', 'f', l);
    buf_putc(&labels, '_');
    put_labels(g, &labels, spatial, 'i', 'o', r);
    buf_puts(&labels, "->");
    put_labels(g, &labels, spatial, 'b', 'f', o);
    struct val both[2] = {
        gen_value(g, by_labels(lt, spatial, l, batch * bg, features * fg, in.dims)),
        gen_value(g, by_labels(rt, spatial, r, features, outs * fg * bg, kernel))};
    gen_emit(g, op, by_labels(ot, spatial, o, batch, outs * fg * bg, positions.dims), 2, both,
             "%s%s, dim_labels=%s, feature_group_count=%d, batch_group_count=%d",
             spatial ? ", " : "", spatial ? window.data : "", labels.data, (int)fg, (int)bg);
    buf_free(&window);
    buf_free(&labels);
}

/* ---- linalg ---- */

static enum dtype linalg_type(struct gen *g)
{
    static const enum dtype types[] = {DT_F32, DT_F64, DT_F32, DT_C64, DT_C128};
    return types[gen_below(g, 5)];
}

/* A constant array of one number. */
static struct val filled(struct gen *g, struct type t, int64_t n)
{
    struct val x = gen_number(g, t.dtype, n);
    return gen_emit(g, OP_BROADCAST, t, 1, &x, ", dimensions={}");
}

/* Adds to the diagonal of a matrix, so that it is well conditioned. */
static struct val raise_diagonal(struct gen *g, struct val a, int64_t by)
{
    struct type index = type_with(a.type, DT_S32);
    int r = a.type.rank;
    struct val ij[2] = {gen_emit(g, OP_IOTA, index, 0, NULL, ", iota_dimension=%d", r - 2),
                        gen_emit(g, OP_IOTA, index, 0, NULL, ", iota_dimension=%d", r - 1)};
    struct val on = gen_emit(g, OP_COMPARE, type_with(index, DT_PRED), 2, ij, ", direction=EQ");
    struct val add[2] = {a, filled(g, a.type, by)};
    struct val choice[3] = {on, gen_emit(g, OP_ADD, a.type, 2, add, NULL), a};
    return gen_emit(g, OP_SELECT, a.type, 3, choice, NULL);
}

static void cholesky(struct gen *g)
{
    int64_t n = gen_size(g, 0, 5, 40), batch = gen_size(g, 1, 3, 20);
    enum dtype t = gen_chance(g, 60) ? DT_F32 : DT_F64;
    struct val a = gen_fresh(g, type_of(t, 3, (int64_t[]){batch, n, n})), both[2] = {a, a};
    struct val square = gen_emit(g, OP_DOT, a.type, 2, both,
                                 ", lhs_batch_dims={0}, lhs_contracting_dims={2}, "
                                 "rhs_batch_dims={0}, rhs_contracting_dims={2}");
    struct val definite = raise_diagonal(g, square, 3);
    gen_emit(g, OP_CHOLESKY, a.type, 1, &definite, "%s", gen_chance(g, 50) ? ", lower=true" : "");
}

static void triangular_solve(struct gen *g)
{
    enum dtype t = linalg_type(g);
    bool left = gen_chance(g, 50), batched = gen_chance(g, 40);
    int64_t n = gen_size(g, 1, 5, 40), m = gen_size(g, 0, 4, 20);
    int64_t square[3] = {2, n, n}, other[3] = {2, left ? n : m, left ? m : n};
    struct val a = gen_fresh(g, type_of(t, 2 + batched, square + !batched));
    struct val both[2] = {raise_diagonal(g, a, 9),
                          gen_fresh(g, type_of(t, 2 + batched, other + !batched))};
    gen_emit(g, OP_TRIANGULAR_SOLVE, both[1].type, 2, both, "%s%s%s, transpose_a=%s",
             left ? ", left_side=true" : "", gen_chance(g, 50) ? ", lower=true" : "",
             gen_chance(g, 20) ? ", unit_diagonal=true" : "",
             enum_word(A_TRANSPOSE_A,
                       (int)gen_between(g, E_TRANSPOSE_A_NO_TRANSPOSE - E_TRANSPOSE_A_INVALID,
                                        E_TRANSPOSE_A_ADJOINT - E_TRANSPOSE_A_INVALID)));
}

void gen_linalg(struct gen *g, enum opcode op)
{
    if (op == OP_CHOLESKY)
        cholesky(g);
    else
        triangular_solve(g);
}

/* ---- fft ---- */

void gen_fft(struct gen *g, enum opcode op)
{
    int kind = (int)gen_below(g, enum_count(A_FFT_TYPE)), axes = (int)gen_between(g, 1, 3);
    bool wide = gen_chance(g, 30), from_real = kind == 2, to_real = kind == 3;
    enum dtype real = wide ? DT_F64 : DT_F32, complex = wide ? DT_C128 : DT_C64;
    struct type in = {.dtype = from_real ? real : complex, .rank = axes + (int)gen_below(g, 2)};
    int64_t lengths[3];
    for (int d = 0; d < in.rank; d++)
        in.dims[d] = gen_size(g, 1, 6, 40);
    for (int k = 0; k < axes; k++) {
        const int64_t size = in.dims[in.rank - axes + k];
        lengths[k] = from_real || to_real || gen_chance(g, 80) ? size : gen_between(g, 0, 7);
    }
    struct type out = type_with(in, to_real ? real : complex);
    int64_t n = lengths[axes - 1], half = n / 2 + 1;
    if (from_real)
        out.dims[in.rank - 1] = half;
    if (to_real)
        in.dims[in.rank - 1] = half;
    struct val x = gen_value(g, in);
    struct buf list = {0};
    put_list(&list, lengths, axes);
    gen_emit(g, op, out, 1, &x, ", fft_type=%s, fft_length=%s", enum_word(A_FFT_TYPE, kind),
             list.data);
    buf_free(&list);
}

/* ---- batchnorm ---- */

void gen_batchnorm(struct gen *g, enum opcode op)
{
    static const enum dtype types[] = {DT_F32, DT_F32, DT_F64, DT_BF16, DT_F16};
    struct type t = type_with(gen_type(g, TY_FLOAT, 1), types[gen_below(g, 5)]);
    int feature = (int)gen_below(g, t.rank);
    struct type row = type_of(t.dtype, 1, &t.dims[feature]), results[3] = {t, row, row};
    struct val all[5] = {gen_value(g, t)};
    for (int k = 1; k < 5; k++)
        all[k] = gen_value(g, row);
    all[4] = op == OP_BATCH_NORM_GRAD ? gen_value(g, t) : all[4];
    int variance = op == OP_BATCH_NORM_GRAD ? 3 : 4; /* must not be negative */
    if (op != OP_BATCH_NORM_TRAINING)
        all[variance] = gen_emit(g, OP_ABS, row, 1, &all[variance], NULL);
    if (op == OP_BATCH_NORM_INFERENCE)
        gen_emit(g, op, t, 5, all, ", epsilon=0.25, feature_index=%d", feature);
    else
        gen_emit_tuple(g, op, 3, results, op == OP_BATCH_NORM_GRAD ? 5 : 3, all, NULL,
                       ", epsilon=0.25, feature_index=%d", feature);
}

/* ---- rng ---- */

static void bit_generator(struct gen *g)
{
    static const enum dtype types[] = {DT_U32, DT_U64, DT_U16, DT_U8, DT_U32, DT_U32};
    int algorithm = (int)gen_below(g, enum_count(A_ALGORITHM_RNG));
    int64_t words = algorithm == 1 || gen_chance(g, 50) ? 2 : 3;
    struct type state = type_of(DT_U64, 1, &words);
    struct type results[2] = {state, type_with(gen_type(g, TY_ANY, 0), types[gen_below(g, 6)])};
    struct val x = gen_value(g, state);
    gen_emit_tuple(g, OP_RNG_BIT_GENERATOR, 2, results, 1, &x, NULL, ", algorithm=%s",
                   enum_word(A_ALGORITHM_RNG, algorithm));
}

/* The predicates check the range of the numbers. */
static void random_numbers(struct gen *g)
{
    enum dtype t = gen_chance(g, 50) ? DT_F32 : gen_dtype(g, TY_SIGNED | TY_FLOAT);
    bool normal = dtype_is_float(t) && gen_chance(g, 30);
    struct type type = type_with(gen_type(g, TY_ANY, 0), t);
    struct val both[2] = {gen_number(g, t, 0), gen_number(g, t, 1)};
    struct val x = gen_emit(g, OP_RNG, type, 2, both, ", distribution=%s",
                            normal ? "rng_normal" : "rng_uniform");
    struct val sides[2] = {x, filled(g, type, normal ? -6 : 0)};
    gen_emit(g, OP_COMPARE, type_with(type, DT_PRED), 2, sides, ", direction=GE");
}

void gen_rng(struct gen *g, enum opcode op)
{
    int64_t two = 2;
    g->region->random |= op != OP_RNG_BIT_GENERATOR;
    switch (op) {
    case OP_RNG_BIT_GENERATOR: bit_generator(g); break;
    case OP_RNG: random_numbers(g); break;
    default:
        gen_emit(g, op, type_of(DT_U64, 1, &two), 0, NULL, ", delta=%d", (int)gen_between(g, 1, 9));
        break;
    }
}
