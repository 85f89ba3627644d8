/*
 * rng.c: random numbers. rng-bit-generator computes bits from its operand, the state. Each rng
 * instruction has a stream and a key of its own, which persist between runs.
 */
#include "eval/eval_priv.h"

/* Operands: the state. Results: the new state and the bits, as a tuple, or (old text) bits alone.
 */
static bool bits(struct eval *ev, const struct step *s)
{
    const struct view *state = eval_view(ev, s, 0);
    int64_t words = view_elements(state);
    bool three_fry =
        inst_enum(s->inst, A_ALGORITHM_RNG, E_ALGORITHM_RNG_DEFAULT) == E_ALGORITHM_RNG_THREE_FRY;
    uint64_t in[3] = {0}, next[3] = {0};
    if (state->dtype != DT_U64 || state->rank != 1 || words < 2 || words > (three_fry ? 2 : 3) ||
        s->result_count > 2)
        return EVAL_FAIL(ev, s, NOT_DEFINED, op_spelling(s->inst->opcode),
                         "a state other than u64[2] or u64[3]");
    for (int64_t k = 0; k < words; k++)
        memcpy(&in[k], state->data + k * state->strides[0], sizeof in[k]);
    struct view *out = eval_result(ev, s, s->result_count - 1);
    if (!out)
        return false;
    if (dtype_is_complex(out->dtype))
        return EVAL_FAIL(ev, s, NOT_DEFINED, op_spelling(OP_RNG_BIT_GENERATOR),
                         dtype_spelling(out->dtype));
    EVAL_RUN(ev, rng_bits, ev->workers, out, three_fry ? KERN_THREE_FRY : KERN_PHILOX, in,
             (int)words, next);
    if (s->result_count == 1)
        return true;
    out = eval_result(ev, s, 0);
    if (!out || view_elements(out) != words)
        return out && eval_unsupported(ev, s);
    memcpy(out->data, next, (size_t)words * sizeof *next);
    return true;
}

static bool numbers(struct eval *ev, const struct step *s)
{
    enum dtype t = s->shapes[0]->dtype;
    bool normal = inst_enum(s->inst, A_DISTRIBUTION, 0) == E_DISTRIBUTION_NORMAL;
    if (s->operand_count != 2 || dtype_is_complex(t) || (normal && !dtype_is_float(t)) ||
        eval_view(ev, s, 0)->dtype != t || eval_view(ev, s, 1)->dtype != t)
        return eval_unsupported(ev, s);
    struct view *out = eval_result(ev, s, 0);
    if (out)
        EVAL_RUN(ev, rng_numbers, ev->workers, out, eval_view(ev, s, 0)->data,
                 eval_view(ev, s, 1)->data, normal, ev->state->rng[s->as.rng].words);
    return out != NULL;
}

static bool state(struct eval *ev, const struct step *s)
{
    struct view *out = eval_result(ev, s, 0);
    if (!out || out->dtype != DT_U64 || view_elements(out) != 2)
        return out && eval_unsupported(ev, s);
    struct rng_state *rng = &ev->state->rng[s->as.rng];
    memcpy(out->data, rng->words, sizeof rng->words);
    uint64_t delta = (uint64_t)inst_int(s->inst, A_DELTA, 0);
    rng->words[0] += delta;
    rng->words[1] += rng->words[0] < delta;
    return true;
}

bool eval_rng(struct eval *ev, const struct step *s)
{
    switch (s->inst->opcode) {
    case OP_RNG_BIT_GENERATOR: return bits(ev, s);
    case OP_RNG: return numbers(ev, s);
    default: return state(ev, s);
    }
}
