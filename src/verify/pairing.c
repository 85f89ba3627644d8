/*
 * pairing.c: checks instructions that belong together: asynchronous chains, -start and -done, send
 * and recv with send-done and recv-done, and instructions that share a host channel.
 */
#include "verify/verify_priv.h"

/* The allowed opcodes of an instruction's user and of its operand; an absent list (first entry
 * OP_INVALID) allows all. With a list of users there must be exactly one user. */
struct pair_rule {
    enum opcode op;
    enum opcode users[2], operands[2];
};

static const struct pair_rule rules[] = {
    {OP_ALL_GATHER_DONE, {OP_INVALID, OP_INVALID}, {OP_ALL_GATHER_START, OP_INVALID}},
    {OP_ALL_GATHER_START, {OP_ALL_GATHER_DONE, OP_INVALID}, {OP_INVALID, OP_INVALID}},
    {OP_ALL_REDUCE_DONE, {OP_INVALID, OP_INVALID}, {OP_ALL_REDUCE_START, OP_INVALID}},
    {OP_ALL_REDUCE_START, {OP_ALL_REDUCE_DONE, OP_INVALID}, {OP_INVALID, OP_INVALID}},
    {OP_ASYNC_DONE, {OP_INVALID, OP_INVALID}, {OP_ASYNC_START, OP_ASYNC_UPDATE}},
    {OP_ASYNC_START, {OP_ASYNC_UPDATE, OP_ASYNC_DONE}, {OP_INVALID, OP_INVALID}},
    {OP_ASYNC_UPDATE, {OP_ASYNC_UPDATE, OP_ASYNC_DONE}, {OP_ASYNC_START, OP_ASYNC_UPDATE}},
    {OP_COLLECTIVE_PERMUTE_DONE,
     {OP_INVALID, OP_INVALID},
     {OP_COLLECTIVE_PERMUTE_START, OP_INVALID}},
    {OP_COLLECTIVE_PERMUTE_START,
     {OP_COLLECTIVE_PERMUTE_DONE, OP_INVALID},
     {OP_INVALID, OP_INVALID}},
    {OP_COPY_DONE, {OP_INVALID, OP_INVALID}, {OP_COPY_START, OP_INVALID}},
    {OP_COPY_START, {OP_COPY_DONE, OP_INVALID}, {OP_INVALID, OP_INVALID}},
    {OP_RECV, {OP_RECV_DONE, OP_TUPLE}, {OP_INVALID, OP_INVALID}},
    {OP_RECV_DONE, {OP_INVALID, OP_INVALID}, {OP_RECV, OP_GET_TUPLE_ELEMENT}},
    {OP_SEND, {OP_SEND_DONE, OP_TUPLE}, {OP_INVALID, OP_INVALID}},
    {OP_SEND_DONE, {OP_INVALID, OP_INVALID}, {OP_SEND, OP_GET_TUPLE_ELEMENT}},
};

static const struct pair_rule *rule_of(const struct inst *i)
{
    for (size_t r = 0; r < COUNT_OF(rules); r++)
        if (rules[r].op == (enum opcode)i->opcode)
            return &rules[r];
    return NULL;
}

static bool listed(const enum opcode list[2], enum opcode op)
{
    return list[0] == op || list[1] == op;
}

static struct str list_text(struct arena *a, const enum opcode list[2])
{
    if (list[1] == OP_INVALID)
        return arena_printf(a, "'%s'", op_spelling(list[0]));
    return arena_printf(a, "'%s' or '%s'", op_spelling(list[0]), op_spelling(list[1]));
}

/* The users of each instruction of a computation, by its index: their number, and the first in
 * textual order. */
struct uses {
    int *count;
    struct inst **first;
};

/* A custom-call "control_dep" only imposes an order and does not count as a user. */
static bool is_control_dep(const struct inst *user)
{
    return user->opcode == OP_CUSTOM_CALL &&
           str_is(inst_str(user, A_CUSTOM_CALL_TARGET), "control_dep");
}

/* Counts users: each once, however often it uses the value. */
static struct uses find_uses(struct arena *a, const struct computation *c)
{
    struct uses u = {ARENA_ARRAY(a, int, c->inst_count),
                     ARENA_ARRAY(a, struct inst *, c->inst_count)};
    const struct inst **last = ARENA_ARRAY(a, const struct inst *, c->inst_count);
    for (int k = 0; k < c->inst_count; k++) {
        struct inst *user = c->insts[k];
        if (is_control_dep(user))
            continue;
        for (int o = 0; o < user->operand_count; o++) {
            int at = user->operands[o]->index;
            if (last[at] == user)
                continue;
            last[at] = user;
            if (u.count[at]++ == 0)
                u.first[at] = user;
        }
    }
    return u;
}

static bool check_users(struct verify *v, const struct inst *i, const struct pair_rule *r,
                        const struct uses *u)
{
    const struct computation *c = i->parent;
    bool channel = i->opcode == OP_SEND || i->opcode == OP_RECV;
    if (channel && c->async_start && c->root == i)
        return true;
    struct str expected = list_text(v->arena, r->users);
    int count = u->count[i->index];
    if (count != 1)
        return DIAG_ERROR(v->ds, i->opcode_span, PAIR_USERS, op_spelling(i->opcode),
                          STR_ARG(expected), count);
    const struct inst *user = u->first[i->index];
    if (!listed(r->users, user->opcode)) {
        struct diag *d = DIAG(v->ds, user->opcode_span, PAIR_USER, op_spelling(i->opcode),
                              STR_ARG(expected), op_spelling(user->opcode));
        diag_note(v->ds, d, i->name_span, "the %s is here", op_spelling(i->opcode));
        return false;
    }
    if (channel && user->opcode != OP_TUPLE &&
        inst_bool(i, A_IS_HOST_TRANSFER) != inst_bool(user, A_IS_HOST_TRANSFER)) {
        struct diag *d = DIAG(v->ds, inst_attr_span(user, A_IS_HOST_TRANSFER), PAIR_HOST_TRANSFER,
                              op_spelling(user->opcode), op_spelling(i->opcode));
        diag_note(v->ds, d, inst_attr_span(i, A_IS_HOST_TRANSFER), "the %s is here",
                  op_spelling(i->opcode));
        return false;
    }
    return true;
}

static bool check_operand(struct verify *v, const struct inst *i, const struct pair_rule *r)
{
    const struct inst *operand = i->operand_count ? i->operands[0] : NULL;
    if (operand && listed(r->operands, operand->opcode))
        return true;
    struct str expected = list_text(v->arena, r->operands);
    return DIAG_ERROR(v->ds, i->opcode_span, PAIR_OPERAND, op_spelling(i->opcode),
                      STR_ARG(expected), operand ? op_spelling(operand->opcode) : "none");
}

static bool check_computation(struct verify *v, const struct computation *c)
{
    bool paired = false, ok = true;
    for (int k = 0; k < c->inst_count && !paired; k++)
        paired = rule_of(c->insts[k]) != NULL;
    if (!paired)
        return true;
    struct uses uses = find_uses(v->arena, c);
    for (int k = 0; k < c->inst_count; k++) {
        const struct inst *i = c->insts[k];
        const struct pair_rule *r = rule_of(i);
        if (!r)
            continue;
        bool fine = r->users[0] == OP_INVALID || check_users(v, i, r, &uses);
        if (fine && r->operands[0] != OP_INVALID)
            fine = check_operand(v, i, r);
        ok &= fine;
    }
    return ok;
}

/* ---- host channels ---- */

static bool frontend_equal(const struct inst *a, const struct inst *b)
{
    const struct attr *x = inst_attr(a, A_FRONTEND_ATTRIBUTES),
                      *y = inst_attr(b, A_FRONTEND_ATTRIBUTES);
    int n = x ? x->v.frontend.count : 0;
    if (n != (y ? y->v.frontend.count : 0))
        return false;
    for (int k = 0; k < n; k++)
        if (!str_eq(x->v.frontend.at[k].key, y->v.frontend.at[k].key) ||
            !str_eq(x->v.frontend.at[k].value, y->v.frontend.at[k].value))
            return false;
    return true;
}

/* Whether two instructions are identical except for their operands, whose shapes are equal. */
static bool are_host_pair(const struct inst *a, const struct inst *b)
{
    if (a->opcode != b->opcode || !shape_equal(a->shape, b->shape, 0) ||
        a->operand_count != b->operand_count)
        return false;
    for (int k = 0; k < a->operand_count; k++)
        if (!shape_equal(a->operands[k]->shape, b->operands[k]->shape, 0))
            return false;
    return frontend_equal(a, b) &&
           str_eq(inst_str(a, A_BACKEND_CONFIG), inst_str(b, A_BACKEND_CONFIG));
}

static bool check_host_channels(struct verify *v)
{
    struct map seen;
    bool ok = true;
    map_init(&seen, v->arena);
    for (struct inst *i = NULL; (i = module_next(v->m, i)) != NULL;) {
        if ((i->opcode != OP_SEND && i->opcode != OP_RECV) || !inst_bool(i, A_IS_HOST_TRANSFER) ||
            !inst_has(i, A_CHANNEL_ID))
            continue;
        int64_t id = inst_int(i, A_CHANNEL_ID, 0);
        struct str key = {ARENA_DUP(v->arena, &id, 1), sizeof id};
        struct inst *first = map_get(&seen, key);
        if (!first) {
            map_put(&seen, key, i);
        } else if (!are_host_pair(first, i)) {
            struct diag *d = DIAG(v->ds, i->opcode_span, CHANNEL_SHARED, id);
            diag_note(v->ds, d, first->name_span, "first one is here");
            ok = false;
        }
    }
    return ok;
}

/* spec: Send, Recv, AllReduce and the other asynchronous operations */
bool verify_pairing(struct verify *v)
{
    bool ok = true;
    for (int c = 0; c < v->m->computation_count; c++)
        ok &= check_computation(v, v->m->computations[c]);
    return check_host_channels(v) && ok;
}
