/*
 * build.c: the list of lane instructions of a function under construction.
 */
#include "jit/expand.h"

struct jit_builder *jit_builder_new(struct arena *a)
{
    struct jit_builder *b = ARENA_NEW(a, struct jit_builder);
    b->arena = a;
    return b;
}

void jit_set_target(struct jit_builder *b, struct jit_target target) { b->target = target; }

void jit_set_data(struct jit_builder *b, const char *data, size_t size)
{
    b->data = data;
    b->data_size = size;
}

int lane_operands(const struct lane_inst *i)
{
    static const uint8_t operands[LANE_OP_COUNT] = {
#define LANE(id, operands, result, meaning) operands,
#include "jit/lane.def"
#undef LANE
    };
    return operands[i->op];
}

bool lane_has_result(const struct lane_inst *i)
{
    static const bool results[LANE_OP_COUNT] = {
#define LANE(id, operands, result, meaning) result,
#include "jit/lane.def"
#undef LANE
    };
    return results[i->op];
}

static bool is_invariant(const struct jit_builder *b, const struct lane_inst *i)
{
    bool all = b->lanes == 0 && !b->indexed && lane_has_result(i) &&
               (lane_operands(i) > 0 || i->op == LANE_LOAD_SINGLE);
    for (int k = 0; k < lane_operands(i); k++)
        all = all && lane_is_invariant(b, i->args[k]);
    return all;
}

int lane_emit(struct jit_builder *b, enum lane_op op, enum lane_type t, int x, int y, int z)
{
    VEC_PUSH(b->arena, b->insts, b->inst_count, b->inst_capacity) =
        (struct lane_inst){.op = (uint8_t)op,
                           .type = (uint8_t)t,
                           .lanes = (uint8_t)b->lanes,
                           .args = {x, y, z},
                           .variable = -1};
    struct lane_inst *i = &b->insts[b->inst_count - 1];
    i->invariant = is_invariant(b, i);
    b->wide |= lane_is_wide(t);
    return b->inst_count - 1;
}

int lane_shift(struct jit_builder *b, enum lane_op op, enum lane_type t, int x, unsigned count)
{
    int i = lane_emit(b, op, t, x, 0, 0);
    b->insts[i].count = (uint8_t)count;
    return i;
}

int lane_constant(struct jit_builder *b, enum lane_type t, uint64_t bits)
{
    if (t == LANE_I16)
        bits = (bits & UINT16_MAX) * 0x0001000100010001;
    else if (!lane_is_wide(t))
        bits = (bits & UINT32_MAX) | bits << 32;
    for (int k = 0; k < b->constant_count; k++)
        if (b->constants[k].bits == bits && b->constants[k].type == t)
            return ~k;
    VEC_PUSH(b->arena, b->constants, b->constant_count, b->constant_capacity) =
        (struct lane_constant){bits, t};
    return ~(b->constant_count - 1);
}

enum lane_type lane_type_of(const struct jit_builder *b, int lanes)
{
    return lanes < 0 ? b->constants[~lanes].type : (enum lane_type)b->insts[lanes].type;
}

int jit_value_new(struct jit_builder *b, enum dtype t, int lanes)
{
    VEC_PUSH(b->arena, b->values, b->value_count, b->value_capacity) =
        (struct jit_value){.type = t, .lanes = lanes, .exact = DT_INVALID};
    return b->value_count - 1;
}

/* ---- memory operands ---- */

bool lane_of_dtype(const struct jit_builder *b, enum dtype t, enum lane_type *out)
{
    if (b->target.lanes16) {
        *out = LANE_I16;
        return t == DT_PRED || (dtype_bytes(t) <= 2 && dtype_is_integer(t));
    }
    switch (t) {
    case DT_PRED:
    case DT_S8:
    case DT_U8:
    case DT_S16:
    case DT_U16:
    case DT_S32:
    case DT_U32: *out = LANE_I32; return true;
    case DT_S64:
    case DT_U64: *out = LANE_I64; return true;
    case DT_BF16:
    case DT_F16:
    case DT_F32: *out = LANE_F32; return true;
    case DT_F64: *out = LANE_F64; return true;
    default: return false;
    }
}

static void note_tile(struct jit_builder *b, int tile)
{
    if (tile >= b->tile_count)
        b->tile_count = tile + 1;
}

/* A mask of 32 bits, if the value is a pred. */
static int narrow_mask(struct jit_builder *b, struct jit_value v)
{
    if (v.type != DT_PRED || !lane_is_wide(lane_type_of(b, v.lanes)))
        return v.lanes;
    return lane_emit(b, LANE_I32_OF_I64, LANE_I32, v.lanes, 0, 0);
}

/* Of elements of a tile, or, if it is -1, of the element at `address`. */
static int emit_load(struct jit_builder *b, enum lane_op op, enum dtype t, int tile, char *address)
{
    enum lane_type lane;
    if (!lane_of_dtype(b, t, &lane))
        return LANE_NONE;
    const int i = lane_emit(b, op, lane, 0, 0, 0);
    b->insts[i].tile = tile;
    b->insts[i].address = address;
    b->insts[i].format = (uint8_t)t;
    b->insts[i].indexed = b->loop_label > 0;
    return i;
}

static void emit_store(struct jit_builder *b, struct jit_value v, int tile, char *address)
{
    const int lanes = narrow_mask(b, v),
              i = lane_emit(b, LANE_STORE, lane_type_of(b, lanes), lanes, 0, 0);
    b->insts[i].tile = tile;
    b->insts[i].address = address;
    b->insts[i].format = (uint8_t)v.type;
    b->insts[i].indexed = b->loop_label > 0;
}

static int value_of(struct jit_builder *b, enum dtype t, int lanes)
{
    return lanes == LANE_NONE ? JIT_NONE : jit_value_new(b, t, lanes);
}

int jit_load(struct jit_builder *b, int tile, enum dtype t, bool single)
{
    const enum lane_op op = single ? LANE_LOAD_SINGLE : LANE_LOAD;
    note_tile(b, tile);
    if (t == DT_C64 && b->target.complex)
        return complex_of_halves(b, emit_load(b, op, DT_U64, tile, NULL));
    return value_of(b, t, emit_load(b, op, t, tile, NULL));
}

void jit_store(struct jit_builder *b, int tile, int value)
{
    struct jit_value v = b->values[value];
    note_tile(b, tile);
    if (v.type == DT_C64)
        v = (struct jit_value){.type = DT_U64, .lanes = complex_halves(b, value)};
    emit_store(b, v, tile, NULL);
}

static void set_offsets(struct jit_builder *b, int offsets)
{
    note_tile(b, offsets);
    b->insts[b->inst_count - 1].offsets = offsets;
    b->indexed = true;
}

int jit_load_indexed(struct jit_builder *b, int tile, int offsets, enum dtype t)
{
    const int v = jit_load(b, tile, t, false);
    if (v != JIT_NONE)
        set_offsets(b, offsets);
    return v;
}

void jit_store_indexed(struct jit_builder *b, int tile, int offsets, int value)
{
    jit_store(b, tile, value);
    set_offsets(b, offsets);
}

/* ---- variables ---- */

int jit_variable(struct jit_builder *b, enum dtype t, char *home, bool loaded)
{
    const int i = emit_load(b, LANE_VARIABLE, t, -1, home);
    if (i == LANE_NONE)
        return JIT_NONE;
    VEC_PUSH(b->arena, b->variables, b->variable_count, b->variable_capacity) = i;
    if (loaded) {
        const int x = emit_load(b, LANE_LOAD, t, -1, home);
        b->insts[x].variable = i;
    }
    return jit_value_new(b, t, i);
}

/* The instruction that computes a value assigns it to the variable, if it is the last one. */
void jit_set(struct jit_builder *b, int variable, int value)
{
    struct jit_value v = b->values[value], to = b->values[variable];
    v.lanes = narrow_mask(b, v);
    if (v.lanes == to.lanes)
        return;
    struct lane_inst *last = &b->insts[b->inst_count - 1];
    if (v.lanes == b->inst_count - 1 && last->op != LANE_VARIABLE && last->variable < 0) {
        last->variable = to.lanes;
        b->values[value].lanes = to.lanes;
        return;
    }
    int i = lane_emit(b, LANE_SET, lane_type_of(b, v.lanes), v.lanes, 0, 0);
    b->insts[i].variable = to.lanes;
}

int jit_element(struct jit_builder *b, char *at, enum dtype t)
{
    return value_of(b, t, emit_load(b, LANE_LOAD, t, -1, at));
}

int jit_single(struct jit_builder *b, char *at, enum dtype t)
{
    return value_of(b, t, emit_load(b, LANE_LOAD_SINGLE, t, -1, at));
}

void jit_put_element(struct jit_builder *b, char *at, int value)
{
    emit_store(b, b->values[value], -1, at);
}

void jit_flush(struct jit_builder *b, int variable)
{
    jit_put_element(b, b->insts[b->values[variable].lanes].address, variable);
}

/* ---- several elements at once ---- */

int jit_most_lanes(const struct jit_builder *b) { return b->wide ? 4 : 8; }

void jit_set_lanes(struct jit_builder *b, int lanes) { b->lanes = lanes; }

int jit_splat(struct jit_builder *b, int value)
{
    const struct jit_value v = b->values[value];
    if (v.lanes < 0) /* a constant */
        return value;
    return jit_value_new(b, v.type,
                         lane_emit(b, LANE_SPLAT, lane_type_of(b, v.lanes), v.lanes, 0, 0));
}

void jit_start_elements(struct jit_builder *b)
{
    const int label = jit_label(b);
    lane_emit(b, LANE_START, LANE_I32, 0, 0, 0);
    jit_put_label(b, label);
    b->loop_label = label + 1;
}

void jit_end_elements(struct jit_builder *b, int count)
{
    const int i = lane_emit(b, LANE_NEXT, LANE_I32, 0, 0, 0);
    b->insts[i].label = b->loop_label - 1;
    b->insts[i].limit = count;
    b->loop_label = 0;
}

/* ---- rows ---- */

void jit_start_rows(struct jit_builder *b)
{
    b->row_start = lane_emit(b, LANE_START_ROWS, LANE_I32, 0, 0, 0);
    b->strides = ARENA_ARRAY(b->arena, int, JIT_MOST_STRIDES);
    b->stride_count = 0;
    jit_put_label(b, b->insts[b->row_start].label = jit_label(b));
}

void jit_set_stride(struct jit_builder *b, int64_t stride)
{
    int k = 0;
    while (k < b->stride_count && b->strides[k] != stride)
        k++;
    if (k == b->stride_count && stride != 0)
        b->strides[b->stride_count++] = (int)stride;
    b->insts[b->inst_count - 1].row = (uint8_t)(stride == 0 ? 0 : k + 1);
}

void jit_end_rows(struct jit_builder *b, int rows)
{
    const int end = lane_emit(b, LANE_NEXT_ROW, LANE_I32, 0, 0, 0);
    for (int k = 0; k < 2; k++) {
        struct lane_inst *i = &b->insts[k ? end : b->row_start];
        i->label = b->insts[b->row_start].label;
        i->limit = rows;
        i->labels = b->strides;
        i->label_count = b->stride_count;
    }
    b->strides = NULL;
}

/* ---- elements at computed indices ---- */

static struct lane_place *place_of(struct jit_builder *b, const struct jit_place *at)
{
    struct lane_place *p =
        arena_zalloc(b->arena, sizeof *p + (size_t)at->count * sizeof(struct lane_index));
    p->base = at->base;
    p->pointer = at->pointer;
    p->count = at->count;
    for (int k = 0; k < at->count; k++) {
        const struct jit_value *v = &b->values[at->indices[k].value];
        p->indices[k] = (struct lane_index){v->lanes, dtype_is_unsigned(v->type),
                                            at->indices[k].last, at->indices[k].stride};
    }
    return p;
}

int jit_load_at(struct jit_builder *b, enum dtype t, const struct jit_place *at)
{
    int v = jit_element(b, at->base, t);
    if (v != JIT_NONE)
        b->insts[b->inst_count - 1].place = place_of(b, at);
    return v;
}

void jit_store_at(struct jit_builder *b, const struct jit_place *at, int value)
{
    jit_put_element(b, at->base, value);
    b->insts[b->inst_count - 1].place = place_of(b, at);
}

static void copy_at(struct jit_builder *b, enum lane_op op, char *piece, const struct jit_place *at,
                    int64_t n)
{
    struct lane_place *p = place_of(b, at);
    const int i = lane_emit(b, op, LANE_I32, 0, 0, 0);
    p->bytes = n;
    b->insts[i].place = p;
    b->insts[i].address = piece;
}

void jit_copy_from(struct jit_builder *b, char *piece, const struct jit_place *at, int64_t n)
{
    copy_at(b, LANE_COPY_FROM, piece, at, n);
}

void jit_copy_to(struct jit_builder *b, const struct jit_place *at, char *piece, int64_t n)
{
    copy_at(b, LANE_COPY_TO, piece, at, n);
}

/* ---- control flow ---- */

int jit_label(struct jit_builder *b) { return b->label_count++; }

static struct lane_inst *emit_control(struct jit_builder *b, enum lane_op op, int x, int label)
{
    const int at = lane_emit(b, op, LANE_I32, x, 0, 0);
    b->insts[at].label = label;
    return &b->insts[at];
}

void jit_put_label(struct jit_builder *b, int label) { emit_control(b, LANE_LABEL, 0, label); }
void jit_jump(struct jit_builder *b, int label) { emit_control(b, LANE_JUMP, 0, label); }
void jit_return(struct jit_builder *b) { emit_control(b, LANE_RETURN, 0, 0); }

void jit_jump_unless(struct jit_builder *b, int value, int label)
{
    emit_control(b, LANE_JUMP_UNLESS, b->values[value].lanes, label);
}

void jit_switch(struct jit_builder *b, int value, const int *labels, int count)
{
    struct lane_inst *i = emit_control(b, LANE_SWITCH, b->values[value].lanes, 0);
    i->labels = ARENA_DUP(b->arena, labels, count);
    i->label_count = count;
}

static void set_touched(struct jit_builder *b, struct lane_inst *i, const int *touched, int count)
{
    int *insts = ARENA_ARRAY(b->arena, int, count + 1);
    for (int k = 0; k < count; k++)
        insts[k] = b->values[touched[k]].lanes;
    i->touched = insts;
    i->touched_count = count;
}

static void emit_call(struct jit_builder *b, enum lane_op op, jit_call_fn *function,
                      const void *argument, const int *touched, int count)
{
    struct lane_inst *i = emit_control(b, op, 0, 0);
    i->function = function;
    i->argument = argument;
    set_touched(b, i, touched, count);
}

void jit_call(struct jit_builder *b, jit_call_fn *function, const void *argument,
              const int *touched, int count)
{
    emit_call(b, LANE_CALL, function, argument, touched, count);
}

void jit_charge(struct jit_builder *b, jit_call_fn *function, const void *argument,
                const int *touched, int count)
{
    emit_call(b, LANE_CHARGE, function, argument, touched, count);
}

void jit_kernel(struct jit_builder *b, jit_kernel_fn *kernel, char *out, const void *const *args,
                int n, const int *touched, int count)
{
    struct lane_inst *i = emit_control(b, LANE_KERNEL, 0, n);
    i->kernel = kernel;
    i->address = out;
    i->argument = args;
    set_touched(b, i, touched, count);
}
