/*
 * batchnorm.c: plans batch normalizations as elementwise operations and reductions
 * (grammar/values.md 13.8), which become fused loops. They are in f32, or for f64 in f64, and
 * results are rounded once; the normalization in training uses mean and variance as they are
 * returned.
 *
 * Operands are converted again wherever they are read, so that no converted array has to be stored
 * between two loops.
 */
#include "plan/derive.h"

struct term {
    int value;
    const struct shape *shape;
};

struct norm {
    struct build *b;
    const struct inst *i;
    int64_t feature;
    enum dtype work;                                  /* type of the arithmetic */
    const struct shape *elements, *features, *single; /* of type `work` */
    struct term operands[5];
    struct term count, epsilon; /* elements of a feature */
    bool failed;                /* with a message */
};

static struct term derive(struct norm *z, const struct inst *i, int n, const struct term *x)
{
    int operands[KERN_MAX_ARGS];
    struct leaves made;
    for (int k = 0; k < n; k++)
        operands[k] = x[k].value;
    z->failed |= !derive_step(z->b, i, operands, &made);
    return (struct term){z->failed ? NO_VALUE : *made.at, i->shape};
}

static struct inst *new_inst(struct norm *z, enum opcode op, const struct shape *result, int n,
                             const struct term *x)
{
    const struct shape *shapes[KERN_MAX_ARGS];
    for (int k = 0; k < n; k++)
        shapes[k] = x[k].shape;
    return derive_inst(z->b, z->i, op, result, n, shapes);
}

static struct term constant(struct norm *z, double x)
{
    struct arena *keep = build_arena(z->b);
    double rounded;
    float_store(z->work, &rounded, x);
    const struct literal l = {.shape = z->single, .data = ARENA_DUP(keep, &rounded, 1)};
    return (struct term){same_constant(z->b->pl, &l), z->single};
}

static struct term convert(struct norm *z, struct term x, enum dtype t)
{
    if (z->failed || x.shape->dtype == t)
        return x;
    return derive(z, new_inst(z, OP_CONVERT, derive_shape(z->b, x.shape, t), 1, &x), 1, &x);
}

/* Repeats a value of each feature for its elements, or a single one. */
static struct term repeat(struct norm *z, struct term x, const struct shape *to)
{
    if (z->failed || x.shape->rank == to->rank)
        return x;
    struct inst *i = new_inst(z, OP_BROADCAST, to, 1, &x);
    derive_dimensions(z->b, i, x.shape->rank, &z->feature);
    return derive(z, i, 1, &x);
}

static struct term apply(struct norm *z, enum opcode op, struct term x, struct term y)
{
    const struct shape *to = x.shape->rank > y.shape->rank ? x.shape : y.shape;
    const struct term both[] = {repeat(z, x, to), repeat(z, y, to)};
    return z->failed ? x : derive(z, new_inst(z, op, to, 2, both), 2, both);
}

static struct term root(struct norm *z, struct term x)
{
    return z->failed ? x : derive(z, new_inst(z, OP_SQRT, x.shape, 1, &x), 1, &x);
}

/* The sum of each feature. */
static struct term sum(struct norm *z, struct term x)
{
    int64_t dims[VIEW_MAX_RANK];
    int count = 0;
    const struct term both[] = {x, constant(z, 0)};
    for (int d = 0; d < z->elements->rank; d++)
        if (d != z->feature)
            dims[count++] = d;
    struct inst *i = new_inst(z, OP_REDUCE, z->features, 2, both);
    derive_dimensions(z->b, i, count, dims);
    return z->failed ? x : derive(z, i, 2, both);
}

static struct term read(struct norm *z, int operand)
{
    return convert(z, z->operands[operand], z->work);
}

static const struct shape *shape_of_result(const struct norm *z, int k)
{
    return shape_is_tuple(z->i->shape) ? z->i->shape->elements[k] : z->i->shape;
}

static struct term result(struct norm *z, int k, struct term x)
{
    return convert(z, x, shape_of_result(z, k)->dtype);
}

/* ---- formulas ---- */

static struct term deviation(struct norm *z, struct term mean)
{
    return apply(z, OP_SUBTRACT, read(z, 0), mean);
}

static struct term normalise(struct norm *z, struct term mean, struct term variance)
{
    mean = convert(z, mean, z->work);
    variance = apply(z, OP_ADD, convert(z, variance, z->work), z->epsilon);
    const struct term scale = apply(z, OP_DIVIDE, read(z, 1), root(z, variance));
    const struct term y = apply(z, OP_MULTIPLY, deviation(z, mean), scale);
    return result(z, 0, apply(z, OP_ADD, y, read(z, 2)));
}

/* The variance is not mean(x^2) - mean^2, which would lose one that is small compared to the
 * mean. */
static void train(struct norm *z, struct term *out)
{
    const struct term mean = apply(z, OP_DIVIDE, sum(z, read(z, 0)), z->count);
    const struct term c = deviation(z, mean), squares = apply(z, OP_MULTIPLY, c, c);
    out[1] = result(z, 1, mean);
    out[2] = result(z, 2, apply(z, OP_DIVIDE, sum(z, squares), z->count));
    out[0] = normalise(z, out[1], out[2]);
}

static void differentiate(struct norm *z, struct term *out)
{
    const struct term mean = read(z, 2), variance = apply(z, OP_ADD, read(z, 3), z->epsilon);
    const struct term deviates = root(z, variance);
    const struct term p = sum(z, read(z, 4));
    const struct term q = sum(z, apply(z, OP_MULTIPLY, read(z, 4), deviation(z, mean)));
    out[1] = result(z, 1, apply(z, OP_DIVIDE, q, deviates));
    out[2] = result(z, 2, p);
    const struct term slope = apply(z, OP_DIVIDE, q, variance);
    const struct term scale =
        apply(z, OP_DIVIDE, apply(z, OP_DIVIDE, read(z, 1), deviates), z->count);
    struct term dx = apply(z, OP_MULTIPLY, z->count, read(z, 4));
    dx = apply(z, OP_SUBTRACT, dx, p);
    dx = apply(z, OP_SUBTRACT, dx, apply(z, OP_MULTIPLY, deviation(z, mean), slope));
    out[0] = result(z, 0, apply(z, OP_MULTIPLY, scale, dx));
}

/* ---- the instruction ---- */

/* A size that is known when the program runs. */
static struct term dynamic_size(struct norm *z, int64_t dimension)
{
    struct inst *i =
        new_inst(z, OP_GET_DIMENSION_SIZE, shape_scalar(build_arena(z->b), DT_S32), 1, z->operands);
    derive_dimensions(z->b, i, 1, &dimension);
    return convert(z, derive(z, i, 1, z->operands), z->work);
}

static struct term count_elements(struct norm *z)
{
    const struct shape *x = z->elements;
    double fixed = 1;
    for (int d = 0; d < x->rank; d++)
        fixed *= d == z->feature || z->b->pl->p->dynamic ? 1 : (double)x->dims[d];
    struct term count = constant(z, x->dims[z->feature] > 0 ? fixed : 0);
    for (int d = 0; d < x->rank && z->b->pl->p->dynamic && !z->failed; d++)
        if (d != z->feature)
            count = apply(z, OP_MULTIPLY, count, dynamic_size(z, d));
    return count;
}

/* Epsilon is rounded to the element type, as in XLA. */
static double epsilon(const struct inst *i)
{
    const struct attr *a = inst_attr(i, A_EPSILON);
    const enum dtype t = i->operands[0]->shape->dtype;
    return a ? float_decode(t, float_encode(t, a->v.f)) : 0;
}

static void norm_init(struct norm *z, struct build *b, const struct inst *i)
{
    *z = (struct norm){.b = b, .i = i, .feature = inst_int(i, A_FEATURE_INDEX, 0)};
    const struct shape *x = i->operands[0]->shape, *scale = i->operands[1]->shape;
    z->work = x->dtype == DT_F64 ? DT_F64 : DT_F32;
    z->elements = derive_shape(b, x, z->work);
    z->features = derive_shape(b, scale, z->work);
    z->single = shape_scalar(build_arena(b), z->work);
    for (int k = 0; k < i->operand_count; k++)
        z->operands[k] = (struct term){b->env[i->operands[k]->index].at[0], i->operands[k]->shape};
    z->epsilon = constant(z, epsilon(i));
    z->count = i->opcode == OP_BATCH_NORM_INFERENCE ? z->epsilon : count_elements(z);
}

bool plan_batch_norm(struct build *b, const struct inst *i, struct leaves *out)
{
    struct norm z;
    struct term made[3];
    const bool inference = i->opcode == OP_BATCH_NORM_INFERENCE;
    norm_init(&z, b, i);
    if (inference)
        made[0] = normalise(&z, z.operands[3], z.operands[4]);
    else if (i->opcode == OP_BATCH_NORM_TRAINING)
        train(&z, made);
    else
        differentiate(&z, made);
    *out = (struct leaves){inference ? 1 : 3, ARENA_ARRAY(&b->pl->scratch, int, 3)};
    for (int k = 0; k < out->count; k++)
        out->at[k] = made[k].value;
    return !z.failed;
}
