/*
 * key.c: recognizes comparators that order elements by keys, lexicographically: each key is one
 * function of the elements of a side, compared with the same function of the other side. Clients
 * write such comparators in many ways, and wrap floats in functions so that -0 and +0, and all
 * NaNs, are equal. The outcome of the comparisons of a key, less, equal or greater, determines all
 * of them, and those of all keys determine the result: it is computed for each combination, and
 * the keys are read from this table. The sort then computes the keys of every element.
 */
#include "plan/scalar.h"

enum {
    KEY_BUDGET = 4096, /* pairs of values compared */
    KEY_OPS = 256,
    KEY_ATOMS = 6 /* 3^6 combinations */
};
enum { UNKNOWN = 2 }; /* a truth value that is neither false nor true */

/* A key: how the values at `first`, of one side, and `second`, of the other, are compared. */
struct atom {
    const void *first, *second;
    struct kern_sort_key key;
};

struct comparator {
    const struct scalar_code *code;
    int budget, atom_count;
    struct atom atoms[KEY_ATOMS];
    struct {
        int8_t atom; /* that the operation compares; -1: none */
        bool swapped;
    } ops[KEY_OPS];
    uint8_t truth[KEY_OPS];    /* by operation, in the current combination */
    int8_t outcome[KEY_ATOMS]; /* by key: -1, 0, 1 */
};

/* The number of the argument at this address, or -1. */
static int argument_at(const struct scalar_code *c, const void *at)
{
    for (int k = 0; k < c->arg_count; k++)
        if (c->args[k].at == at)
            return k;
    return -1;
}

static int maker_of(const struct scalar_code *c, const void *at)
{
    for (int k = 0; k < c->op_count; k++)
        if (c->ops[k].out == at)
            return k;
    return -1;
}

/* Whether u is computed from arguments of the first side exactly as v is from those of the
 * second. */
static bool mirrored(struct comparator *m, const void *u, const void *v)
{
    const struct scalar_code *c = m->code;
    int first = argument_at(c, u), second = argument_at(c, v);
    if (--m->budget < 0)
        return false;
    if (first >= 0 || second >= 0)
        return first % 2 == 0 && second == first + 1;
    const int by_u = maker_of(c, u), by_v = maker_of(c, v);
    if (by_u < 0 && by_v < 0)
        return memcmp(u, v, 16) == 0; /* constants; no register is smaller */
    if (by_u < 0 || by_v < 0)
        return false;
    const struct scalar_op *x = &c->ops[by_u], *y = &c->ops[by_v];
    if (x->kind != SCALAR_APPLY || y->kind != SCALAR_APPLY || x->fn != y->fn)
        return false;
    for (int k = 0; k < KERN_MAX_ARGS; k++)
        if ((x->args[k] || y->args[k]) &&
            (!x->args[k] || !y->args[k] || !mirrored(m, x->args[k], y->args[k])))
            return false;
    return true;
}

/* ---- comparisons ---- */

static enum kern_direction direction_of(const struct scalar_op *op)
{
    return (enum kern_direction)inst_enum(op->meaning.inst, A_DIRECTION, E_DIRECTION_EQ);
}

/* The key that is compared by an operation; it is added if it is new. -1: none. */
static int find_atom(struct comparator *m, const struct scalar_op *op, const void *first,
                     const void *second)
{
    const enum dtype t = op->meaning.from;
    const struct atom atom = {
        first, second, {t, inst_compare_type(op->meaning.inst) == E_TYPE_TOTALORDER, false}};
    if (dtype_is_complex(t) || !mirrored(m, first, second))
        return -1;
    for (int k = 0; k < m->atom_count; k++)
        if (m->atoms[k].key.type == t && m->atoms[k].key.total_order == atom.key.total_order &&
            mirrored(m, m->atoms[k].first, second))
            return k;
    if (m->atom_count == KEY_ATOMS)
        return -1;
    m->atoms[m->atom_count] = atom;
    return m->atom_count++;
}

static void find_atoms(struct comparator *m)
{
    for (int k = 0; k + 1 < m->code->op_count; k++) {
        const struct scalar_op *op = &m->code->ops[k];
        m->ops[k].atom = -1;
        if (scalar_opcode(op) != OP_COMPARE)
            continue;
        m->ops[k].atom = (int8_t)find_atom(m, op, op->args[0], op->args[1]);
        if (m->ops[k].atom >= 0)
            continue;
        m->ops[k].atom = (int8_t)find_atom(m, op, op->args[1], op->args[0]);
        m->ops[k].swapped = true;
    }
}

/* ---- evaluation ---- */

static uint8_t truth_of(const struct comparator *m, const void *at)
{
    const int by = maker_of(m->code, at);
    if (by >= 0)
        return m->truth[by];
    return argument_at(m->code, at) < 0 ? *(const uint8_t *)at != 0 : UNKNOWN;
}

static uint8_t holds(enum kern_direction d, int outcome)
{
    switch (d) {
    case KERN_EQ: return outcome == 0;
    case KERN_NE: return outcome != 0;
    case KERN_GE: return outcome >= 0;
    case KERN_GT: return outcome > 0;
    case KERN_LE: return outcome <= 0;
    default: return outcome < 0;
    }
}

/* An operation on truth values; UNKNOWN if it is another. */
static uint8_t evaluate_logic(const struct comparator *m, const struct scalar_op *op)
{
    uint8_t v[KERN_MAX_ARGS] = {0};
    if (op->kind != SCALAR_APPLY || op->meaning.from != DT_PRED || op->meaning.to != DT_PRED)
        return UNKNOWN;
    for (int k = 0; k < KERN_MAX_ARGS && op->args[k]; k++)
        v[k] = truth_of(m, op->args[k]);
    const enum opcode opcode = scalar_opcode(op);
    if (opcode == OP_SELECT)
        return v[0] == UNKNOWN ? UNKNOWN : v[v[0] ? 1 : 2];
    if (v[0] == UNKNOWN || v[1] == UNKNOWN)
        return UNKNOWN;
    switch (opcode) {
    case OP_AND: return v[0] & v[1];
    case OP_OR: return v[0] | v[1];
    case OP_XOR: return v[0] ^ v[1];
    case OP_NOT: return !v[0];
    case OP_COMPARE: return holds(direction_of(op), v[0] - v[1]);
    default: return UNKNOWN;
    }
}

/* The result of the comparator in the current combination of outcomes. */
static uint8_t evaluate(struct comparator *m)
{
    for (int k = 0; k + 1 < m->code->op_count; k++) {
        const struct scalar_op *op = &m->code->ops[k];
        const int atom = m->ops[k].atom;
        m->truth[k] = atom < 0 ? evaluate_logic(m, op)
                               : holds(direction_of(op),
                                       m->ops[k].swapped ? -m->outcome[atom] : m->outcome[atom]);
    }
    return truth_of(m, m->code->results[0].at);
}

/* The result if it is the same for all outcomes of the keys that are not `fixed`; else UNKNOWN. */
static uint8_t evaluate_all(struct comparator *m, const bool *fixed)
{
    uint8_t all = UNKNOWN;
    for (int k = 0; k < m->atom_count; k++)
        m->outcome[k] = fixed[k] ? m->outcome[k] : -1;
    for (bool first = true;; first = false) {
        const uint8_t one = evaluate(m);
        if (one == UNKNOWN || (!first && one != all))
            return UNKNOWN;
        all = one;
        int k = 0;
        for (; k < m->atom_count; k++) {
            if (fixed[k])
                continue;
            if (++m->outcome[k] < 2)
                break;
            m->outcome[k] = -1;
        }
        if (k == m->atom_count)
            return all;
    }
}

/* Whether a key decides if it is not equal, whatever follows; sets its direction. */
static bool decides(struct comparator *m, int atom, bool *fixed)
{
    fixed[atom] = true;
    m->outcome[atom] = -1;
    const uint8_t less = evaluate_all(m, fixed);
    m->outcome[atom] = 1;
    const uint8_t greater = evaluate_all(m, fixed);
    m->outcome[atom] = 0;
    m->atoms[atom].key.descending = greater == true;
    fixed[atom] = (less == true && greater == false) || (less == false && greater == true);
    return fixed[atom];
}

/* The keys from the most significant one on; 0 if the comparator is not lexicographic. */
static int order_keys(struct comparator *m, int *order)
{
    bool fixed[KEY_ATOMS] = {false};
    for (int count = 0;; count++) {
        int k = 0;
        if (evaluate_all(m, fixed) == false)
            return count;
        while (k < m->atom_count && (fixed[k] || !decides(m, k, fixed)))
            k++;
        if (k == m->atom_count)
            return 0;
        order[count] = k;
    }
}

void plan_find_keys(struct planner *pl, const struct scalar_code *lanes, struct body *b)
{
    struct comparator *m = ARENA_NEW(&pl->scratch, struct comparator);
    struct scalar_code keys = *lanes;
    int order[KEY_ATOMS];
    enum dtype types[KEY_ATOMS];
    *m = (struct comparator){.code = lanes, .budget = KEY_BUDGET};
    if (lanes->op_count > KEY_OPS || lanes->result_count != 1 || !lanes->results[0].at)
        return;
    find_atoms(m);
    keys.result_count = m->budget < 0 ? 0 : order_keys(m, order);
    keys.results = ARENA_ARRAY(&pl->scratch, struct scalar_slot, keys.result_count);
    for (int k = 0; k < keys.result_count; k++) {
        const struct atom *a = &m->atoms[order[k]];
        b->keys[k] = a->key;
        types[k] = a->key.type;
        keys.results[k].at = (void *)(uintptr_t)a->first;
    }
    b->make_keys = keys.result_count > 0 ? plan_lane_code(pl, &keys, b->args, types) : NULL;
    if (b->make_keys)
        b->order = KERN_ORDER_LESS;
}
