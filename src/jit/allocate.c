/*
 * allocate.c: assigns registers to values by linear scan. A value is live from the first
 * instruction that assigns it to the last one that reads it; a variable that is live at the start
 * of a loop, until its end. If no register is free, the value whose uses are furthest apart is
 * spilled.
 */
#include "jit/jit_priv.h"

struct scan {
    const struct jit_builder *b;
    struct allocation a;
    int *depth, *uses;    /* by instruction: loops around it; uses of its value, by depth */
    int *next, *starting; /* lists of values by the instruction where they start */
    const struct register_file *file;
    int owner[2][JIT_MOST_REGISTERS]; /* for masks or not: value in the register; -1: none */
};

/* ---- live ranges ---- */

static void note_use(struct scan *s, int value, int at)
{
    if (value < 0)
        return;
    if (s->a.first[value] > at)
        s->a.first[value] = at;
    if (s->a.last[value] < at)
        s->a.last[value] = at;
    s->uses[value] += 1 << 3 * (s->depth[at] < 6 ? s->depth[at] : 6);
}

static void note_uses(struct scan *s, int at)
{
    const struct lane_inst *i = &s->b->insts[at];
    for (int k = 0; k < lane_operands(i); k++)
        note_use(s, i->args[k], at);
    for (int k = 0; i->place && k < i->place->count; k++)
        note_use(s, i->place->indices[k].lanes, at);
    for (int k = 0; k < i->touched_count; k++)
        note_use(s, i->touched[k], at);
    if (i->variable >= 0)
        note_use(s, i->variable, at);
    if (lane_has_result(i) && i->variable < 0)
        note_use(s, at, at);
}

/* The instruction of each label. */
static int *find_labels(const struct jit_builder *b)
{
    int *at = ARENA_ARRAY(b->arena, int, b->label_count + 1);
    for (int k = 0; k < b->inst_count; k++)
        if (b->insts[k].op == LANE_LABEL)
            at[b->insts[k].label] = k;
    return at;
}

static bool is_back_jump(const struct jit_builder *b, const int *labels, int at)
{
    const struct lane_inst *i = &b->insts[at];
    return (i->op == LANE_JUMP || i->op == LANE_NEXT || i->op == LANE_NEXT_ROW) &&
           labels[i->label] <= at;
}

static void find_depths(struct scan *s, const int *labels)
{
    int *change = ARENA_ARRAY(s->b->arena, int, s->b->inst_count + 1);
    for (int k = 0; k < s->b->inst_count; k++)
        if (is_back_jump(s->b, labels, k)) {
            change[labels[s->b->insts[k].label]]++;
            change[k + 1]--;
        }
    for (int k = 0, depth = 0; k < s->b->inst_count; k++)
        s->depth[k] = depth += change[k];
}

/* Inner loops end before the loops around them. */
static void extend_over_loops(struct scan *s, const int *labels)
{
    for (int k = 0; k < s->b->inst_count; k++) {
        if (!is_back_jump(s->b, labels, k))
            continue;
        int top = labels[s->b->insts[k].label];
        for (int v = 0; v < s->b->inst_count; v++)
            if (s->a.first[v] < top && s->a.last[v] >= top && s->a.last[v] < k)
                s->a.last[v] = k;
    }
}

static void find_live_ranges(struct scan *s)
{
    int *labels = find_labels(s->b);
    find_depths(s, labels);
    for (int k = 0; k < s->b->inst_count; k++) {
        s->a.first[k] = INT_MAX;
        s->a.last[k] = -1;
        s->starting[k] = -1;
    }
    for (int k = 0; k < s->b->inst_count; k++)
        note_uses(s, k);
    extend_over_loops(s, labels);
    for (int k = 0; k < s->b->invariant_count; k++)
        if (s->a.last[k] >= s->b->invariant_count)
            s->a.last[k] = s->b->inst_count;
    for (int k = 0; k < s->b->inst_count; k++)
        if (s->a.first[k] != INT_MAX) {
            s->next[k] = s->starting[s->a.first[k]];
            s->starting[s->a.first[k]] = k;
        }
}

/* ---- registers ---- */

/* How much it costs to keep a value in memory. */
static double weight(const struct scan *s, int value)
{
    return s->uses[value] / (double)(s->a.last[value] - s->a.first[value] + 1);
}

static void assign(struct scan *s, int value)
{
    const bool is_mask = s->file->masks && s->file->masks[value];
    int least = 0, *owner = s->owner[is_mask];
    for (int r = 0; r < s->file->counts[is_mask]; r++) {
        if (owner[r] < 0) {
            owner[r] = value;
            s->a.registers[value] = r;
            return;
        }
        if (weight(s, owner[r]) < weight(s, owner[least]))
            least = r;
    }
    int spilled = value;
    if (weight(s, owner[least]) < weight(s, value)) {
        spilled = owner[least];
        owner[least] = value;
        s->a.registers[value] = least;
    }
    s->a.registers[spilled] = ~s->a.slot_count++;
}

/* An operand's register may hold the result. */
static void free_registers(struct scan *s, int at)
{
    for (int is_mask = 0; is_mask < 2; is_mask++)
        for (int r = 0; r < s->file->counts[is_mask]; r++) {
            int *owner = &s->owner[is_mask][r];
            if (*owner >= 0 && s->a.last[*owner] <= at)
                *owner = -1;
        }
}

struct allocation allocate_registers(const struct jit_builder *b, const struct register_file *file)
{
    struct arena *a = b->arena;
    int n = b->inst_count;
    struct scan s = {.b = b, .file = file};
    s.a.registers = ARENA_ARRAY(a, int, n);
    s.a.first = ARENA_ARRAY(a, int, n);
    s.a.last = ARENA_ARRAY(a, int, n);
    s.depth = ARENA_ARRAY(a, int, n);
    s.uses = ARENA_ARRAY(a, int, n);
    s.next = ARENA_ARRAY(a, int, n);
    s.starting = ARENA_ARRAY(a, int, n);
    find_live_ranges(&s);
    memset(s.owner, 0xff, sizeof s.owner);
    for (int i = 0; i < n; i++) {
        free_registers(&s, i);
        for (int v = s.starting[i]; v >= 0; v = s.next[v])
            assign(&s, v);
    }
    return s.a;
}
