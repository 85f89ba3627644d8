/*
 * x86_program.c: compiles functions on single elements, with control flow. Calls of C functions
 * preserve no vector register: variables that are live across a call are stored in their homes and
 * loaded again.
 */
#include "jit/x86.h"

static const uint8_t saved[] = {X86_DATA, X86_CONTEXT, X86_SLICE, X86_BUDGET};
enum { PADDING = 8 }; /* bytes that align the stack */

struct program_code {
    struct x86_selection s;
    int *label_at;    /* by label: position in the code */
    struct buf jumps; /* struct pending */
    struct buf slow;  /* struct slow_path */
    bool has_vectors;
};
struct pending { /* a jump to a label; EXIT: to the end, with failure */
    int end, label;
};
struct slow_path { /* of a CHARGE */
    int jump_end, inst, back;
};
enum { EXIT = -1 };

static int here(const struct program_code *p) { return (int)p->s.code->bytes.size; }

static void jump_to(struct program_code *p, enum x86_condition condition, int label)
{
    struct pending j = {x86_jump(p->s.code, condition, 0), label};
    buf_bytes(&p->jumps, (const char *)&j, sizeof j);
}

/* ---- calls ---- */

static bool is_touched(const struct lane_inst *i, int v)
{
    for (int k = 0; k < i->touched_count; k++)
        if (i->touched[k] == v)
            return true;
    return false;
}

/* Variables in registers, and those in spill slots that the callee touches, go through their homes.
 */
static void store_variables(struct program_code *p, const struct lane_inst *i, int at)
{
    for (int k = 0; k < p->s.b->variable_count; k++) {
        const int v = p->s.b->variables[k];
        if (p->s.a.first[v] < at && p->s.a.last[v] >= at &&
            (p->s.a.registers[v] >= 0 || is_touched(i, v)))
            x86_store_variable(&p->s, v);
    }
}

static void load_variables(struct program_code *p, const struct lane_inst *i, int at)
{
    for (int k = 0; k < p->s.b->variable_count; k++) {
        const int v = p->s.b->variables[k];
        if (p->s.a.first[v] <= at && p->s.a.last[v] > at &&
            (p->s.a.registers[v] >= 0 || is_touched(i, v)))
            x86_load_variable(&p->s, v);
    }
}

/* Upper halves of vectors that are not zero slow down the callee. */
static void clear_upper(struct program_code *p)
{
    if (p->has_vectors)
        x86_bytes(p->s.code, "\xc5\xf8\x77", 3); /* vzeroupper */
}

static void put_call(struct program_code *p, const void *function)
{
    clear_upper(p);
    x86_load_address(p->s.code, RAX, function);
    x86_bytes(p->s.code, "\xff\xd0", 2); /* call rax */
}

static void store_slice(struct program_code *p)
{
    x86_general(p->s.code, 0x89, X86_SLICE, x86_memory(X86_BUDGET, 0));
}

static void load_slice(struct program_code *p)
{
    x86_general(p->s.code, 0x8b, X86_SLICE, x86_memory(X86_BUDGET, 0));
}

/* function(context, argument); ends the program if that is false */
static void call_function(struct program_code *p, const struct lane_inst *i, int at)
{
    store_variables(p, i, at);
    store_slice(p);
    x86_general(p->s.code, 0x8b, RDI, x86_register(X86_CONTEXT));
    x86_locate(&p->s, RSI, i->argument);
    put_call(p, (const void *)(uintptr_t)i->function);
    load_slice(p);
    x86_bytes(p->s.code, "\x84\xc0", 2); /* test al, al */
    jump_to(p, X86_EQUAL, EXIT);
    load_variables(p, i, at);
}

/* kernel(out, args, n) */
static void call_kernel(struct program_code *p, const struct lane_inst *i, int at)
{
    store_variables(p, i, at);
    x86_locate(&p->s, RDI, i->address);
    x86_locate(&p->s, RSI, i->argument);
    x86_load_address(p->s.code, RDX, (const void *)(intptr_t)i->label);
    put_call(p, (const void *)(uintptr_t)i->kernel);
    load_variables(p, i, at);
}

static void charge(struct program_code *p, int at)
{
    x86_general(p->s.code, 0xff, 1, x86_register(X86_SLICE)); /* dec */
    struct slow_path slow = {x86_jump(p->s.code, X86_BELOW_ZERO, 0), at, 0};
    slow.back = here(p);
    buf_bytes(&p->slow, (const char *)&slow, sizeof slow);
}

/* ---- control flow ---- */

/* A mask has its sign bit set, or not. */
static void jump_unless(struct program_code *p, const struct lane_inst *i)
{
    int r = x86_in_register(&p->s, i->args[0], LANE_I32, X86_SPARE);
    x86_vector(p->s.code, X86_MOVD_STORE, false, r, 0, x86_register(RAX), 0);
    x86_bytes(p->s.code, "\x85\xc0", 2); /* test eax, eax */
    jump_to(p, X86_EQUAL, i->label);
}

static void switch_to(struct program_code *p, const struct lane_inst *i)
{
    int r = x86_in_register(&p->s, i->args[0], LANE_I32, X86_SPARE);
    x86_vector(p->s.code, X86_MOVD_STORE, false, r, 0, x86_register(RAX), 0);
    for (int k = 0; k + 1 < i->label_count; k++) {
        x86_bytes(p->s.code, "\x3d", 1); /* cmp eax, number */
        x86_int32(p->s.code, k);
        jump_to(p, X86_EQUAL, i->labels[k]);
    }
    jump_to(p, X86_ALWAYS, i->labels[i->label_count - 1]);
}

/* The end of a loop of elements. */
static void next_elements(struct program_code *p, const struct lane_inst *i)
{
    x86_number(p->s.code, X86_ADD, X86_INDEX, i->lanes);
    x86_number(p->s.code, X86_CMP, X86_INDEX, i->limit);
    jump_to(p, X86_LESS, i->label);
}

/* Elements of each stride are at a register plus their offset in the data. */
static void start_rows(struct program_code *p, const struct lane_inst *i)
{
    for (int k = 0; k < i->label_count; k++)
        x86_general(p->s.code, 0x8b, x86_row_register(1 + k), x86_register(X86_DATA));
    x86_load_address(p->s.code, X86_ROWS, (const void *)(intptr_t)(i->limit - 1));
}

static void next_row(struct program_code *p, const struct lane_inst *i)
{
    for (int k = 0; k < i->label_count; k++)
        x86_number(p->s.code, X86_ADD, x86_row_register(1 + k), i->labels[k]);
    x86_number(p->s.code, X86_SUB, X86_ROWS, 1);
    jump_to(p, X86_GREATER_EQUAL, i->label);
}

static void leave(struct program_code *p, bool ok)
{
    struct x86_code *c = p->s.code;
    clear_upper(p);
    store_slice(p);
    x86_number(c, X86_ADD, RSP, p->s.a.slot_count * X86_SLOT_BYTES + PADDING);
    for (size_t k = COUNT_OF(saved); k-- > 0;)
        x86_pop(c, saved[k]);
    x86_load_address(c, RAX, (const void *)(uintptr_t)ok);
    x86_bytes(c, "\xc3", 1); /* ret */
}

static void put_inst(struct program_code *p, int at)
{
    const struct lane_inst *i = &p->s.b->insts[at];
    p->s.lanes = i->lanes > 1 ? i->lanes : 1;
    switch (i->op) {
    case LANE_CALL: call_function(p, i, at); break;
    case LANE_CHARGE: charge(p, at); break;
    case LANE_JUMP: jump_to(p, X86_ALWAYS, i->label); break;
    case LANE_JUMP_UNLESS: jump_unless(p, i); break;
    case LANE_KERNEL: call_kernel(p, i, at); break;
    case LANE_LABEL: p->label_at[i->label] = here(p); break;
    case LANE_NEXT: next_elements(p, i); break;
    case LANE_NEXT_ROW: next_row(p, i); break;
    case LANE_RETURN: leave(p, true); break;
    case LANE_START: x86_general(p->s.code, 0x33, X86_INDEX, x86_register(X86_INDEX)); break;
    case LANE_START_ROWS: start_rows(p, i); break;
    case LANE_SWITCH: switch_to(p, i); break;
    case LANE_VARIABLE: break;
    default: x86_select(&p->s, at);
    }
}

/* ---- the function ---- */

static void enter(struct program_code *p)
{
    struct x86_code *c = p->s.code;
    for (size_t k = 0; k < COUNT_OF(saved); k++)
        x86_push(c, saved[k]);
    x86_number(c, X86_SUB, RSP, p->s.a.slot_count * X86_SLOT_BYTES + PADDING);
    x86_general(c, 0x8b, X86_CONTEXT, x86_register(RDI));
    x86_general(c, 0x8b, X86_BUDGET, x86_register(RSI));
    x86_general(c, 0x8b, X86_DATA, x86_register(RDX));
    load_slice(p);
}

static void put_slow_paths(struct program_code *p)
{
    for (size_t at = 0; at < p->slow.size; at += sizeof(struct slow_path)) {
        struct slow_path slow;
        memcpy(&slow, p->slow.data + at, sizeof slow);
        x86_set_target(p->s.code, slow.jump_end, here(p));
        call_function(p, &p->s.b->insts[slow.inst], slow.inst);
        x86_jump(p->s.code, X86_ALWAYS, slow.back);
    }
}

static void set_targets(struct program_code *p, int exit)
{
    for (size_t at = 0; at < p->jumps.size; at += sizeof(struct pending)) {
        struct pending j;
        memcpy(&j, p->jumps.data + at, sizeof j);
        x86_set_target(p->s.code, j.end, j.label == EXIT ? exit : p->label_at[j.label]);
    }
}

jit_program_fn *jit_program(struct jit_builder *b, struct jit_memory *m)
{
    const struct register_file file = {{JIT_REGISTERS}, NULL};
    struct x86_code c = {.constant_bytes = 32};
    struct program_code p = {
        .s = {
            .code = &c, .b = b, .a = allocate_registers(b, &file), .lanes = 1, .spare = X86_SPARE}};
    p.label_at = ARENA_ARRAY(b->arena, int, b->label_count + 1);
    for (int k = 0; k < b->inst_count; k++)
        p.has_vectors |= b->insts[k].lanes > 1 || b->insts[k].place;
    enter(&p);
    for (int k = 0; k < b->inst_count; k++)
        put_inst(&p, k);
    p.s.lanes = 1;
    put_slow_paths(&p);
    int exit = here(&p);
    leave(&p, false);
    set_targets(&p, exit);
    x86_finish(&c, b);
    void *at = jit_memory_add(m, c.bytes.data, c.bytes.size);
    buf_free(&c.bytes);
    buf_free(&p.jumps);
    buf_free(&p.slow);
    return (jit_program_fn *)(uintptr_t)at;
}
