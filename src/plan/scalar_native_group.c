/*
 * scalar_native_group.c: elementwise operations on arrays as machine code. Consecutive ones with
 * equal counts form a group, which is one loop: values stay in registers, and are stored only if
 * anything else reads them.
 */
#include "plan/scalar_native.h"

enum {
    MOST_OPS = 48,     /* in a group */
    MOST_UNROLLED = 4, /* vectors; more are computed in a loop */
    MOST_VALUES = MOST_OPS * (KERN_MAX_ARGS + 1)
};

/* One operation, as an elementwise one of `count` operands. A spread has one element as operand. */
struct member {
    enum { MEMBER_APPLY, MEMBER_MOVE, MEMBER_SPREAD } kind;
    const struct tile_meaning *meaning; /* MEMBER_APPLY */
    const void *out, *args[KERN_MAX_ARGS];
    enum dtype to, from[KERN_MAX_ARGS];
    int count;
    bool stored;
};
struct known_elements {
    const void *at;
    enum dtype type;
    int value;
};
struct group {
    struct translation *t;
    struct member members[MOST_OPS];
    int count, lanes;
    int64_t n;
    struct known_elements
        known[MOST_VALUES]; /* of the current elements; the spread ones come first */
    int known_count;
};

/* ---- members ---- */

static bool as_apply(const struct translation *t, const struct scalar_op *op, struct member *m,
                     int64_t *n)
{
    *m = (struct member){
        .kind = MEMBER_APPLY, .meaning = &op->meaning, .out = op->out, .to = op->meaning.to};
    *n = op->count;
    for (; m->count < KERN_MAX_ARGS && op->args[m->count]; m->count++) {
        m->args[m->count] = op->args[m->count];
        m->from[m->count] = plan_operand_type(&op->meaning, m->count);
    }
    return *n > SCALAR_FEW;
}

static bool as_move(const struct translation *t, const struct scalar_op *op, struct member *m,
                    int64_t *n)
{
    const struct cell *out = scalar_cell_at(t, op->out);
    if (!out || out->single || !scalar_cell_at(t, op->args[0]))
        return false;
    *m = (struct member){.kind = MEMBER_MOVE,
                         .out = op->out,
                         .to = out->type,
                         .args = {op->args[0]},
                         .from = {out->type},
                         .count = 1};
    *n = op->count / (int64_t)out->size;
    return *n > SCALAR_FEW && op->count % (int64_t)out->size == 0;
}

static bool as_spread(const struct translation *t, const struct scalar_op *op, struct member *m,
                      int64_t *n)
{
    const struct view *out = &op->copy->out, *x = &op->copy->x.view;
    bool single = x->data && view_is_dense(out);
    for (int d = 0; d < x->rank; d++)
        single &= x->strides[d] == 0 || x->dims[d] == 1;
    *m = (struct member){.kind = MEMBER_SPREAD,
                         .out = out->data,
                         .to = out->dtype,
                         .args = {x->data},
                         .from = {x->dtype},
                         .count = 1};
    *n = view_elements(out);
    return single && *n > SCALAR_FEW;
}

/* Loading an f16 changes signaling NaNs. */
static int type_lanes(struct arena *scratch, enum dtype t)
{
    if (t == DT_F16)
        return 0;
    const struct tile_meaning convert = {TILE_CONVERT, NULL, t, t, DT_INVALID};
    return plan_lanes(scratch, &convert, NULL);
}

/* The operation as a member, of *n elements; returns the number of lanes that it allows, or 0. */
static int as_member(const struct translation *t, const struct scalar_op *op, struct member *m,
                     int64_t *n)
{
    struct arena *scratch = &t->pl->scratch;
    switch ((enum scalar_kind)op->kind) {
    case SCALAR_APPLY: return as_apply(t, op, m, n) ? plan_lanes(scratch, m->meaning, NULL) : 0;
    case SCALAR_MOVE: return as_move(t, op, m, n) ? type_lanes(scratch, m->to) : 0;
    case SCALAR_COPY: return as_spread(t, op, m, n) ? type_lanes(scratch, m->to) : 0;
    default: return 0;
    }
}

/* ---- the extent of a group ---- */

static bool overlaps(const char *x, size_t x_width, const char *y, size_t y_width, int64_t n)
{
    const bool same = x == y && x_width == y_width;
    return !same && x < y + (size_t)n * y_width && y < x + (size_t)n * x_width;
}

/* Whether one of them writes elements that the other accesses at another position. */
static bool conflict(const struct member *x, const struct member *y, int64_t n)
{
    const size_t x_width = dtype_bytes(x->to), y_width = dtype_bytes(y->to);
    bool found = overlaps(x->out, x_width, y->out, y_width, n);
    for (int k = 0; k < x->count; k++)
        found |= overlaps(x->args[k], dtype_bytes(x->from[k]), y->out, y_width, n);
    for (int k = 0; k < y->count; k++)
        found |= overlaps(y->args[k], dtype_bytes(y->from[k]), x->out, x_width, n);
    return found;
}

static bool may_join(const struct group *g, const struct member *m)
{
    bool found = conflict(m, m, g->n);
    for (int k = 0; k < g->count && !found; k++)
        found = conflict(&g->members[k], m, g->n);
    return !found;
}

static void find_members(struct group *g, int first)
{
    const struct scalar_code *code = g->t->code;
    for (int k = first; k < code->op_count && g->count < MOST_OPS; k++) {
        struct member m;
        int64_t n;
        const int lanes =
            k > first && g->t->labels[k] >= 0 ? 0 : as_member(g->t, &code->ops[k], &m, &n);
        if (lanes == 0 || (g->count > 0 && n != g->n))
            return;
        g->n = n;
        if (!may_join(g, &m))
            return;
        g->lanes = lanes < g->lanes ? lanes : g->lanes;
        g->members[g->count++] = m;
    }
}

/* The operands that are values of earlier members. */
static int reads_within(const struct group *g, const void *at)
{
    int n = 0;
    bool made = false;
    for (int k = 0; k < g->count; k++) {
        for (int j = 0; j < g->members[k].count && made; j++)
            n += g->members[k].args[j] == at;
        made |= g->members[k].out == at;
    }
    return n;
}

static bool is_last_write(const struct group *g, int member)
{
    for (int k = member + 1; k < g->count; k++)
        if (g->members[k].out == g->members[member].out)
            return false;
    return true;
}

static void find_stored(struct group *g)
{
    for (int k = 0; k < g->count; k++) {
        struct member *m = &g->members[k];
        const struct cell *c = scalar_cell_at(g->t, m->out);
        m->stored = is_last_write(g, k) && (!c || c->is_result || c->at != (const char *)m->out ||
                                            c->reads > reads_within(g, m->out));
    }
}

/* ---- elements ---- */

static void set_known(struct group *g, const void *at, enum dtype type, int value)
{
    for (int k = 0; k < g->known_count; k++)
        if (g->known[k].at == at)
            g->known[k].at = NULL;
    g->known[g->known_count++] = (struct known_elements){at, type, value};
}

static int read_elements(struct group *g, const void *at, enum dtype type, int64_t offset)
{
    for (int k = 0; k < g->known_count; k++)
        if (g->known[k].at == at)
            return g->known[k].type == type ? g->known[k].value
                                            : jit_bitcast(g->t->b, type, g->known[k].value);
    const char *from = (const char *)at + (size_t)offset * dtype_bytes(type);
    const int v = jit_element(g->t->b, (char *)(uintptr_t)from, type);
    if (v != JIT_NONE)
        set_known(g, at, type, v);
    return v;
}

static bool compute_member(struct group *g, const struct member *m, int64_t offset)
{
    struct jit_builder *b = g->t->b;
    int args[KERN_MAX_ARGS], v;
    for (int k = 0; k < m->count && m->kind != MEMBER_SPREAD; k++) {
        args[k] = read_elements(g, m->args[k], m->from[k], offset);
        if (args[k] == JIT_NONE)
            return false;
    }
    v = m->kind == MEMBER_SPREAD ? read_elements(g, m, m->to, offset)
        : m->kind == MEMBER_MOVE ? args[0]
                                 : plan_expand(b, m->meaning, args, m->count);
    if (v == JIT_NONE)
        return false;
    set_known(g, m->out, m->to, v);
    if (m->stored)
        jit_put_element(b, (char *)(uintptr_t)m->out + (size_t)offset * dtype_bytes(m->to), v);
    return true;
}

static bool compute_elements(struct group *g, int spread_count, int64_t offset, int lanes)
{
    jit_set_lanes(g->t->b, lanes);
    g->known_count = spread_count;
    bool ok = true;
    for (int k = 0; k < g->count && ok; k++)
        ok = compute_member(g, &g->members[k], offset);
    return ok;
}

/* The operands of spreads in all lanes, known by the address of the member. */
static bool spread_all(struct group *g)
{
    for (int k = 0; k < g->count; k++) {
        const struct member *m = &g->members[k];
        if (m->kind != MEMBER_SPREAD)
            continue;
        jit_set_lanes(g->t->b, 1);
        const int v = scalar_read_element(g->t, m->args[0], m->to);
        jit_set_lanes(g->t->b, g->lanes);
        if (v == JIT_NONE)
            return false;
        set_known(g, m, m->to, jit_splat(g->t->b, v));
    }
    return true;
}

static bool compute_group(struct group *g)
{
    int64_t at = g->n - g->n % g->lanes;
    bool ok = spread_all(g);
    const int spread_count = g->known_count;
    if (ok && at > MOST_UNROLLED * g->lanes) {
        jit_set_lanes(g->t->b, g->lanes);
        jit_start_elements(g->t->b);
        ok = compute_elements(g, spread_count, 0, g->lanes);
        jit_end_elements(g->t->b, (int)at);
    } else {
        at = 0;
    }
    for (int lanes = g->lanes; at < g->n && ok; at += lanes) {
        lanes = g->n - at >= g->lanes ? g->lanes : g->n - at >= 4 ? 4 : 1;
        ok = compute_elements(g, spread_count, at, lanes);
    }
    jit_set_lanes(g->t->b, 1);
    return ok;
}

int scalar_translate_group(struct translation *t, int first)
{
    struct group *g = ARENA_NEW(&t->pl->scratch, struct group);
    g->t = t;
    g->lanes = 8;
    find_members(g, first);
    if (g->count == 0)
        return 0;
    find_stored(g);
    return compute_group(g) ? g->count : -1;
}
