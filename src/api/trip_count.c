/*
 * trip_count.c: the number of iterations of a loop that counts from a constant to a constant.
 */
#include "api/api.h"
#include "kern/kern.h"
#include "eval/eval.h"

/* An instruction, in a computation that `call` calls; NULL: in the body or the condition itself. */
struct producer {
    const struct inst *inst, *call;
};

/* Follows copies, calls and fusions to the instruction that computes the value; one level deep. */
static struct producer computed_by(struct producer p)
{
    for (;;) {
        const struct inst *i = p.inst;
        if (i->opcode == OP_COPY) {
            p.inst = i->operands[0];
        } else if (i->opcode == OP_PARAMETER && p.call) {
            p = (struct producer){p.call->operands[i->number], NULL};
        } else if ((i->opcode == OP_CALL || i->opcode == OP_FUSION) && !p.call) {
            const enum attr_id id = i->opcode == OP_CALL ? A_TO_APPLY : A_CALLS;
            p = (struct producer){inst_computation(i, id)->root, i};
        } else {
            return p;
        }
    }
}

static struct producer operand_of(struct producer p, int k)
{
    return computed_by((struct producer){p.inst->operands[k], p.call});
}

/* The element of the loop's state that the value is; -1: none. */
static int64_t element_of(struct producer p)
{
    const bool is_element = p.inst->opcode == OP_GET_TUPLE_ELEMENT &&
                            p.inst->operands[0]->opcode == OP_PARAMETER && !p.call;
    return is_element ? inst_int(p.inst, A_INDEX, -1) : -1;
}

static bool constant_of(struct producer p, int64_t *out)
{
    const struct inst *i = p.inst;
    if (i->opcode != OP_CONSTANT || i->shape->rank != 0 || i->literal->elided ||
        !dtype_is_integer(i->shape->dtype))
        return false;
    *out = kern_load_index(i->shape->dtype, i->literal->data);
    return true;
}

/* The constant that an iteration adds to element k. */
static bool step_of(const struct inst *next, int64_t k, int64_t *step)
{
    if (next->opcode != OP_TUPLE)
        return false;
    const struct producer sum = computed_by((struct producer){next->operands[k], NULL});
    if (sum.inst->opcode != OP_ADD)
        return false;
    const struct producer x = operand_of(sum, 0), y = operand_of(sum, 1);
    return (element_of(x) == k && constant_of(y, step)) ||
           (element_of(y) == k && constant_of(x, step));
}

/* The iterations of a counter from `first` while it is below `end`, in steps above 0. */
static int64_t iterations(int64_t first, int64_t end, int64_t step)
{
    int64_t distance;
    if (step <= 0 || __builtin_sub_overflow(end, first, &distance))
        return -1;
    return distance <= 0 ? 0 : (distance - 1) / step + 1;
}

static int64_t trip_count(const struct inst *loop)
{
    const struct producer test =
        computed_by((struct producer){inst_computation(loop, A_CONDITION)->root, NULL});
    const struct inst *start = loop->operands[0];
    int64_t first, bound, step;
    if (test.inst->opcode != OP_COMPARE || start->opcode != OP_TUPLE)
        return -1;
    const int64_t k = element_of(operand_of(test, 0));
    if (k < 0 || !constant_of(operand_of(test, 1), &bound) ||
        !constant_of(computed_by((struct producer){start->operands[k], NULL}), &first) ||
        !step_of(inst_computation(loop, A_BODY)->root, k, &step))
        return -1;
    switch (inst_enum(test.inst, A_DIRECTION, E_DIRECTION_EQ)) {
    case E_DIRECTION_LT: return iterations(first, bound, step);
    case E_DIRECTION_LE: return bound < INT64_MAX ? iterations(first, bound + 1, step) : -1;
    case E_DIRECTION_GT: return iterations(bound, first, step < -INT64_MAX ? 0 : -step);
    case E_DIRECTION_NE: return step == 1 ? iterations(first, bound, step) : -1;
    default: return -1;
    }
}

long long hlo_run_trip_count(const hlo_program *p)
{
    for (size_t k = 0; k < p->count; k++) {
        const struct run_state *first = p->states[k];
        const struct step *at =
            first ? atomic_load_explicit(&first->mark.at, memory_order_relaxed) : NULL;
        if (first)
            return at && at->inst->opcode == OP_WHILE ? trip_count(at->inst) : -1;
    }
    return -1;
}
