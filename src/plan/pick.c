/*
 * pick.c: recognizes reducers of a value and an index that keep the greater, or the lesser, value
 * with its index: argmax, argmin.
 *
 * Clients write them in many ways, with different treatment of ties and NaNs. A body that only
 * compares its arguments and selects among them is determined by the outcomes of the comparisons.
 * So it is evaluated once for each possible combination of outcomes, and the results are the table
 * that the kernel uses.
 */
#include <math.h>

#include "plan/scalar.h"

/* ---- bodies that only compare and select ---- */

enum role { NO_ROLE, VALUE, INDEX, TRUTH };
enum { MAX_OPS = 64 };

struct roles {
    bool is_float; /* values */
    int count;
    struct {
        const void *at;
        enum role role;
    } known[MAX_OPS + 4];
};

static enum role role_of(const struct roles *r, const void *at)
{
    for (int k = r->count - 1; k >= 0; k--)
        if (r->known[k].at == at)
            return r->known[k].role;
    return NO_ROLE;
}

/* The role of an operation's result, if it is one of those roles. Minimum and maximum of floats
 * also distinguish the signs of zeros, as their total order does. */
static enum role role_of_result(const struct roles *r, const struct scalar_op *op)
{
    const enum role first = role_of(r, op->args[0]),
                    second = op->args[1] ? role_of(r, op->args[1]) : first;
    const enum opcode opcode = scalar_opcode(op);
    const bool distinguishes = first == VALUE && r->is_float;
    if (op->kind == SCALAR_MOVE)
        return first;
    if (opcode == OP_SELECT)
        return first == TRUTH && role_of(r, op->args[2]) == second ? second : NO_ROLE;
    if (first != second)
        return NO_ROLE;
    switch (opcode) {
    case OP_AND:
    case OP_NOT:
    case OP_OR:
    case OP_XOR: return first == TRUTH ? TRUTH : NO_ROLE;
    case OP_MAXIMUM:
    case OP_MINIMUM: return distinguishes ? NO_ROLE : first;
    case OP_COMPARE:
        return first == NO_ROLE ||
                       (distinguishes && inst_compare_type(op->meaning.inst) == E_TYPE_TOTALORDER)
                   ? NO_ROLE
                   : TRUTH;
    default: return NO_ROLE;
    }
}

static bool only_chooses(const struct scalar_code *c, enum dtype value)
{
    struct roles r = {.is_float = dtype_is_float(value)};
    if (c->op_count > MAX_OPS)
        return false;
    for (int k = 0; k < 4; k++) {
        r.known[r.count].at = c->args[k].at;
        r.known[r.count++].role = k % 2 ? INDEX : VALUE;
    }
    for (int k = 0; k + 1 < c->op_count; k++) { /* the last operation is the stop */
        enum role role = role_of_result(&r, &c->ops[k]);
        if (role == NO_ROLE)
            return false;
        r.known[r.count].at = c->ops[k].out;
        r.known[r.count++].role = role;
    }
    return c->results[0].at && c->results[1].at && role_of(&r, c->results[0].at) == VALUE &&
           role_of(&r, c->results[1].at) == INDEX;
}

/* ---- evaluation of the body ---- */

union element {
    uint8_t bytes[16];
    double align;
};

static void set_number(enum dtype t, union element *e, double v)
{
    memset(e, 0, sizeof *e);
    if (dtype_is_float(t))
        float_store(t, e, v);
    else
        e->bytes[0] = (uint8_t)v; /* little-endian */
}

/* Sets two values that compare as `r`, with bits that differ as much as the type allows. */
static void set_values(enum dtype t, enum kern_relation r, union element *so_far,
                       union element *element)
{
    static const double pairs[KERN_RELATIONS][2] = {
        {0, 1}, {0, 0}, {1, 0}, {(double)NAN, 1}, {1, (double)NAN}, {(double)NAN, (double)NAN},
    };
    set_number(t, so_far, pairs[r][0]);
    set_number(t, element, pairs[r][1]);
    if (dtype_is_float(t))
        element->bytes[dtype_bytes(t) - 1] |= r == KERN_EQUAL || r == KERN_BOTH_NAN ? 0x80 : 0;
    if (r == KERN_BOTH_NAN)
        so_far->bytes[dtype_bytes(t) - 1] &= 0x7f;
}

/* The index of the value that the answer equals: 0 or 1; -1 for neither. */
static int which(const union element *answer, const union element *so_far,
                 const union element *element, enum dtype t)
{
    size_t width = dtype_bytes(t);
    return memcmp(answer, so_far, width) == 0 ? 0 : memcmp(answer, element, width) == 0 ? 1 : -1;
}

/* The body's answer for each order of the indices: the first is less, equal, greater. */
static bool ask(struct scalar_frame *f, const enum dtype *types, enum kern_relation r, int order,
                uint8_t *takes)
{
    union element args[4], answers[2];
    set_values(types[0], r, &args[0], &args[2]);
    set_number(types[1], &args[1], order > 0 ? 2 : 1);
    set_number(types[1], &args[3], order < 0 ? 2 : 1);
    if (!scalar_call(f, (const void *const[]){&args[0], &args[1], &args[2], &args[3]},
                     (void *[]){&answers[0], &answers[1]}))
        return false;
    int value = which(&answers[0], &args[0], &args[2], types[0]);
    int index = which(&answers[1], &args[1], &args[3], types[1]);
    *takes = (uint8_t)((value > 0 ? KERN_TAKES_VALUE : 0) | (index > 0 ? KERN_TAKES_INDEX : 0));
    return value >= 0 && index >= 0;
}

/* Whether the selected value always keeps its own index. (For equal indices it makes no
 * difference.) */
static bool is_regular(const struct kern_pick *p)
{
    enum kern_relation better = p->greatest ? KERN_BELOW : KERN_ABOVE,
                       worse = p->greatest ? KERN_ABOVE : KERN_BELOW;
    for (int order = 0; order < 3; order++)
        if (p->takes[better][order] != (KERN_TAKES_VALUE | (order != 1 ? KERN_TAKES_INDEX : 0)) ||
            p->takes[worse][order] != 0)
            return false;
    return true;
}

static bool has_pick_types(const enum dtype *types)
{
    enum dtype value = types[0], index = types[1];
    bool whole = dtype_is_float(value) ? dtype_bits(value) >= 16
                                       : !dtype_is_complex(value) && !dtype_is_subbyte(value);
    return whole && !dtype_is_float(index) && !dtype_is_complex(index) &&
           !dtype_is_subbyte(index) && index != DT_PRED &&
           index != DT_U64; /* the kernel compares indices as signed numbers */
}

const struct kern_pick *plan_find_pick(struct planner *pl, const struct body *b)
{
    const struct scalar_code *c = b->code;
    if (b->result_count != 2 || b->arg_count != 4 || !has_pick_types(b->args) ||
        !only_chooses(c, b->args[0]))
        return NULL;
    struct budget budget = {0};
    const struct scalar_run run = {.budget = &budget};
    struct scalar_frame *f = scalar_frame_new(&pl->scratch, c, &run);
    struct kern_pick p = {0};
    for (int r = 0; r < KERN_RELATIONS; r++)
        for (int order = -1; order <= 1; order++)
            if ((r < KERN_SO_FAR_NAN || dtype_is_float(b->args[0])) &&
                !ask(f, b->args, (enum kern_relation)r, order, &p.takes[r][1 + order]))
                return NULL;
    p.greatest = p.takes[KERN_BELOW][0] != 0;
    return is_regular(&p) ? ARENA_DUP(&pl->p->arena, &p, 1) : NULL;
}
