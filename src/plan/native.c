/*
 * native.c: operations of tile kernels as lane instructions of machine code.
 */
#include "kern/cpu.h"
#include "plan/plan_priv.h"

enum dtype plan_operand_type(const struct tile_meaning *m, int operand)
{
    bool chooses = m->kind == TILE_INST && m->inst->opcode == OP_SELECT && operand == 0;
    return chooses ? DT_PRED : m->from;
}

static int expand_inst(struct jit_builder *b, const struct tile_meaning *m, const int *args,
                       int count)
{
    const struct inst *i = m->inst;
    switch (i->opcode) {
    case OP_CONVERT:
    case OP_COPY: return jit_convert(b, m->to, args[0]);
    case OP_BITCAST_CONVERT: return jit_bitcast(b, m->to, args[0]);
    case OP_COMPARE:
        return jit_compare(b, (enum jit_direction)inst_enum(i, A_DIRECTION, E_DIRECTION_EQ),
                           inst_compare_type(i) == E_TYPE_TOTALORDER, args[0], args[1]);
    default: return jit_elementwise(b, op_spelling(i->opcode), m->from, args, count);
    }
}

int plan_expand(struct jit_builder *b, const struct tile_meaning *m, const int *args, int count)
{
    int v = m->kind == TILE_INST      ? expand_inst(b, m, args, count)
            : m->kind == TILE_CONVERT ? jit_convert(b, m->to, args[0])
            : m->kind == TILE_NARROW  ? jit_narrow(b, m->to, args[0])
            : m->kind == TILE_ROUND   ? jit_convert(b, DT_F32, args[0])
                                      : JIT_NONE;
    if (v == JIT_NONE || m->round == DT_INVALID)
        return v;
    const bool converts = m->inst && m->inst->opcode == OP_CONVERT;
    return jit_round(b, m->round, v, !converts);
}

struct jit_builder *plan_tile_builder(struct arena *a, bool lanes16)
{
    const bool avx512 = cpu_isa() == CPU_AVX512;
    const struct cpu_extras extras = cpu_extras();
    struct jit_builder *b = jit_builder_new(a);
    jit_set_target(b, (struct jit_target){.avx512 = avx512,
                                          .vnni = extras.vnni,
                                          .vpopcntdq = extras.vpopcntdq,
                                          .lanes16 = lanes16,
                                          .complex = !lanes16});
    return b;
}

int plan_lanes(struct arena *scratch, const struct tile_meaning *m, const char *const *constants,
               struct jit_target target)
{
    struct arena_mark mark = arena_mark(scratch);
    struct jit_builder *b = jit_builder_new(scratch);
    jit_set_target(b, target);
    int args[KERN_MAX_ARGS], count = m->kind == TILE_INST ? m->inst->operand_count : 1;
    bool ok = m->kind != TILE_KERNEL_ONLY;
    for (int k = 0; k < count && ok; k++) {
        const enum dtype t = plan_operand_type(m, k);
        args[k] =
            constants && constants[k] ? jit_constant(b, t, constants[k]) : jit_load(b, k, t, false);
        ok = args[k] != JIT_NONE;
    }
    ok = ok && plan_expand(b, m, args, count) != JIT_NONE;
    const int lanes = ok ? jit_most_lanes(b) : 0;
    arena_release(scratch, mark);
    return lanes;
}
