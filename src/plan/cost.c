/*
 * cost.c: estimates the cost of an instruction from its shapes: arithmetic operations, and bytes
 * that must be read and written.
 *
 * This is a model for comparing instructions and finding the slow ones, not a count of what a
 * kernel does. An elementwise function counts as one operation per element, whichever function it
 * is; an instruction that may be a view counts as reading and writing its result once.
 */
#include "plan/plan.h"

#include <math.h>

static double elements(const struct shape *s)
{
    int64_t n;
    return shape_is_array(s) && shape_elements(s, &n) ? (double)n : 0;
}

static double bytes(const struct shape *s)
{
    return shape_is_tuple(s) ? s->bytes : shape_is_array(s) ? (double)shape_bytes_or(s, 0) : 0;
}

/* The first array leaf of the result. */
static const struct shape *first_result(const struct inst *i)
{
    const struct shape *s = i->shape;
    while (shape_is_tuple(s) && s->count > 0)
        s = s->elements[0];
    return s;
}

/* ---- operations ---- */

static double of_dot(const struct inst *i)
{
    struct ints contracting = inst_ints(i, A_LHS_CONTRACTING_DIMS);
    double n = 2 * elements(i->shape);
    for (int64_t k = 0; k < contracting.count; k++)
        n *= (double)operand_shape(i, 0)->dims[contracting.at[k]];
    return n;
}

/* Each result element is a sum over all kernel elements of one output feature. */
static double of_conv(const struct inst *i)
{
    const struct dim_labels *l = inst_attr(i, A_DIM_LABELS)->v.dim_labels;
    double features = (double)operand_shape(i, 1)->dims[l->kernel_output_feature];
    return features > 0 ? 2 * elements(i->shape) * elements(operand_shape(i, 1)) / features : 0;
}

static double of_window(const struct inst *i)
{
    const struct window w = inst_window(i);
    double n = i->opcode == OP_SELECT_AND_SCATTER ? elements(operand_shape(i, 1))
                                                  : elements(first_result(i));
    for (int d = 0; d < w.rank; d++)
        n *= (double)w.dims[d].size;
    return n;
}

static double of_sort(const struct inst *i)
{
    double n = elements(operand_shape(i, 0));
    return n > 1 ? n * log2(n) : 0;
}

static double of_fft(const struct inst *i)
{
    struct ints lengths = inst_ints(i, A_FFT_LENGTH);
    double n = 1;
    for (int64_t k = 0; k < lengths.count; k++)
        n *= (double)lengths.at[k];
    double whole = fmax(n, fmax(elements(operand_shape(i, 0)), elements(i->shape)));
    return n > 1 ? 5 * whole * log2(n) : 0;
}

static double of_linalg(const struct inst *i)
{
    const struct shape *a = operand_shape(i, 0);
    double n = a->rank > 0 ? (double)a->dims[a->rank - 1] : 0;
    return i->opcode == OP_CHOLESKY ? elements(a) * n / 3 : elements(i->shape) * n;
}

/* ---- bytes ---- */

static double read_and_written(const struct inst *i)
{
    double sum = bytes(i->shape);
    for (int k = 0; k < i->operand_count; k++)
        sum += bytes(operand_shape(i, k));
    return sum;
}

/* Of an update in place or a scatter: the updated bytes are read once and written once. */
static double of_update(const struct inst *i, int update)
{
    return 2 * bytes(operand_shape(i, update)) +
           (i->opcode == OP_SCATTER ? bytes(operand_shape(i, update - 1)) : 0);
}

struct cost plan_cost_of_inst(const struct inst *i)
{
    struct cost c = {0, read_and_written(i)};
    switch (op_table[i->opcode].family) {
    case FAMILY_elementwise:
    case FAMILY_compare:
    case FAMILY_rng: c.operations = elements(first_result(i)); break;
    case FAMILY_convert: c.operations = i->opcode == OP_BITCAST ? 0 : elements(i->shape); break;
    case FAMILY_batchnorm: c.operations = 4 * elements(operand_shape(i, 0)); break;
    case FAMILY_reduce:
        c.operations = elements(operand_shape(i, 0)) * (i->operand_count / 2);
        break;
    case FAMILY_dot: c.operations = of_dot(i); break;
    case FAMILY_conv: c.operations = of_conv(i); break;
    case FAMILY_window: c.operations = of_window(i); break;
    case FAMILY_sort: c.operations = of_sort(i); break;
    case FAMILY_fft: c.operations = of_fft(i); break;
    case FAMILY_linalg: c.operations = of_linalg(i); break;
    default: break;
    }
    if (op_is(i->opcode, OP_NAMES))
        c.bytes = 0;
    switch (i->opcode) {
    case OP_CONSTANT: /* an existing value */
    case OP_BITCAST: c.bytes = 0; break;
    case OP_SLICE:
    case OP_BROADCAST:
    case OP_DYNAMIC_SLICE: c.bytes = 2 * bytes(i->shape); break;
    case OP_GATHER: c.bytes = 2 * bytes(i->shape) + bytes(operand_shape(i, 1)); break;
    case OP_DYNAMIC_UPDATE_SLICE: c.bytes = of_update(i, 1); break;
    case OP_SCATTER:
        c.operations = elements(operand_shape(i, i->operand_count - 1));
        c.bytes = of_update(i, i->operand_count - 1);
        break;
    default: break;
    }
    return c;
}

/* Whether operand j of member k is made within the step, or was counted for an earlier member. */
static bool costs_nothing(const struct fused_step *s, int k, int j)
{
    const struct inst *x = s->members[k]->operands[j];
    for (int m = 0; m < k; m++) {
        if (s->members[m] == x)
            return true;
        for (int e = 0; e < s->members[m]->operand_count; e++)
            if (s->members[m]->operands[e] == x)
                return true;
    }
    for (int e = 0; e < j; e++)
        if (s->members[k]->operands[e] == x)
            return true;
    return false;
}

/* What a member reads of its operand j. */
static double read_of(const struct inst *i, int j)
{
    const bool window = i->opcode == OP_SLICE || i->opcode == OP_DYNAMIC_SLICE;
    if (j == 0 && i->opcode == OP_DYNAMIC_UPDATE_SLICE)
        return 0;
    return bytes(j == 0 && window ? i->shape : operand_shape(i, j));
}

/* What a fused loop stores of result r. */
static double stored_of(const struct step *s, int r)
{
    const struct fused_step *fused = &s->as.fused;
    for (int k = 0; fused->parts && k < fused->loop->result_count; k++) {
        const struct fused_part *p = &fused->parts[k];
        if (p->window && p->result == r)
            return (double)dims_elements(s->shapes[r]->rank, p->window) *
                   (double)dtype_bytes(s->shapes[r]->dtype);
    }
    return bytes(s->shapes[r]);
}

struct cost plan_cost(const struct step *s)
{
    const struct fused_step *fused = step_fused(s);
    if (s->callee_count > 0 || step_scalar(s))
        return (struct cost){
            0, 0}; /* the callees have costs of their own, or the cost depends on the data */
    if (!fused)
        return plan_cost_of_inst(s->inst);
    struct cost all = {0, 0};
    for (int r = 0; r < s->result_count; r++)
        all.bytes += stored_of(s, r);
    for (int k = 0; k < fused->count; k++) {
        const struct inst *i = fused->members[k];
        all.operations += plan_cost_of_inst(i).operations;
        for (int j = 0; j < i->operand_count; j++)
            all.bytes += costs_nothing(fused, k, j) ? 0 : read_of(i, j);
    }
    return all;
}
