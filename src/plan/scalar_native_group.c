/*
 * scalar_native_group.c: elementwise operations on arrays as machine code. Those with equal counts
 * form a group, which is one loop: values stay in registers, and are stored only if anything else
 * reads them. Copies between arrays with gaps between their rows, such as slices and broadcasts,
 * make it a loop over rows. Operations between them are moved before or after the group.
 */
#include "plan/scalar_native.h"

enum {
    MOST_OPS = 48,     /* in a group */
    MOST_OTHERS = 32,  /* operations between those of a group */
    MOST_UNROLLED = 4, /* vectors; more are computed in a loop */
    DENSE = -1,        /* stride of the rows of an array without gaps */
    MOST_VALUES = MOST_OPS * (KERN_MAX_ARGS + 1)
};

/* Elements of an array. */
struct elements {
    const void *at;
    enum dtype type;
    int64_t stride; /* bytes between rows, or DENSE */
    bool single;    /* one element for each row */
    bool uniform;   /* constant, and all are equal */
};
/* One operation, as an elementwise one of `count` operands. A spread has one element as operand. */
struct member {
    enum { MEMBER_APPLY, MEMBER_MOVE, MEMBER_SPREAD } kind;
    const struct tile_meaning *meaning; /* MEMBER_APPLY */
    struct elements out, args[KERN_MAX_ARGS];
    int count;
    int64_t n, columns; /* elements; of a row, 0: there are no rows */
    bool stored;
};
struct known_elements {
    struct elements place; /* its address is NULL: forgotten */
    int value;
};
struct group {
    struct translation *t;
    struct member members[MOST_OPS];
    int count, lanes;
    int64_t n, columns; /* as of a member */
    int64_t row;        /* that is computed, outside of a loop */
    bool in_rows;       /* in a loop over rows */
    struct known_elements
        known[MOST_VALUES]; /* of the current elements; the spread ones come first */
    int known_count;
};
/* What some operations read and write: by register, and last for all large arrays, `stamp`. */
struct accesses {
    int *reads, *writes;
    int stamp;
};
struct grouping {
    struct group group;
    int *lanes; /* by operation: 1 + those that it allows; 0: unknown */
    int order[MOST_OPS + MOST_OTHERS];
    struct accesses members, after;
};

static int64_t width_of(const struct elements *p) { return (int64_t)dtype_bytes(p->type); }

static int64_t stride_of(const struct elements *p, int64_t columns)
{
    return p->stride == DENSE ? columns * width_of(p) : p->stride;
}

static bool is_same(const struct elements *x, const struct elements *y)
{
    return x->at == y->at && width_of(x) == width_of(y) && x->stride == y->stride &&
           x->single == y->single;
}

/* ---- members ---- */

static bool as_apply(const struct scalar_op *op, struct member *m)
{
    *m = (struct member){.kind = MEMBER_APPLY,
                         .meaning = &op->meaning,
                         .out = {op->out, op->meaning.to, DENSE, false},
                         .n = op->count};
    for (; m->count < KERN_MAX_ARGS && op->args[m->count]; m->count++)
        m->args[m->count] = (struct elements){
            op->args[m->count], plan_operand_type(&op->meaning, m->count), DENSE, false};
    return m->n > SCALAR_FEW;
}

static bool as_move(const struct translation *t, const struct scalar_op *op, struct member *m)
{
    const struct cell *out = scalar_cell_at(t, op->out);
    if (!out || out->single || !scalar_cell_at(t, op->args[0]))
        return false;
    *m = (struct member){.kind = MEMBER_MOVE,
                         .out = {op->out, out->type, DENSE, false},
                         .args = {{op->args[0], out->type, DENSE, false}},
                         .count = 1,
                         .n = op->count / (int64_t)out->size};
    return m->n > SCALAR_FEW && op->count % (int64_t)out->size == 0;
}

/* A copy of rows, or of one element. */
static bool as_copy(const struct translation *t, const struct scalar_op *op, struct member *m)
{
    const struct view *out = &op->copy->out, *x = &op->copy->x.view;
    const struct copy_shape s = scalar_copy_shape(out, x);
    const int last = s.rank - 1;
    const int64_t width = (int64_t)dtype_bytes(out->dtype), columns = s.rank > 0 ? s.dims[last] : 1;
    const bool spread = s.rank > 0 && s.x[last] == 0 && (s.rank == 1 || s.x[0] == 0);
    *m = (struct member){.kind = spread ? MEMBER_SPREAD : MEMBER_MOVE,
                         .out = {out->data, out->dtype, DENSE, false},
                         .args = {{x->data, x->dtype, DENSE, s.rank > 0 && s.x[last] == 0}},
                         .count = 1,
                         .n = view_elements(out)};
    if (s.rank == 0 || s.rank > 2 || !x->data || m->n <= SCALAR_FEW || s.out[last] != width ||
        (s.x[last] != width && s.x[last] != 0) || (!spread && !scalar_is_in_memory(t, x->data)))
        return false;
    if (s.rank == 1)
        return spread;
    m->columns = columns;
    if (s.out[0] != columns * width)
        m->out.stride = s.out[0];
    if (s.x[0] != columns * width || m->args[0].single)
        m->args[0].stride = s.x[0];
    return s.out[0] > 0 && s.x[0] >= 0 && scalar_is_in_memory(t, out->data);
}

/* Loading an f16 changes signaling NaNs. */
static int type_lanes(struct arena *scratch, enum dtype t)
{
    if (t == DT_F16)
        return 0;
    const struct tile_meaning convert = {TILE_CONVERT, NULL, t, t, DT_INVALID};
    return plan_lanes(scratch, &convert, NULL, (struct jit_target){0});
}

static bool is_member(const struct translation *t, const struct scalar_op *op, struct member *m)
{
    switch ((enum scalar_kind)op->kind) {
    case SCALAR_APPLY: return as_apply(op, m);
    case SCALAR_MOVE: return as_move(t, op, m);
    case SCALAR_COPY: return as_copy(t, op, m);
    default: return false;
    }
}

/* Operation `k` in order as a member; returns the number of lanes that it allows, or 0. */
static int as_member(const struct translation *t, int k, struct member *m)
{
    struct arena *scratch = &t->pl->scratch;
    int *lanes = &t->grouping->lanes[t->order[k]];
    if (!is_member(t, scalar_op_at(t, k), m))
        return 0;
    if (*lanes == 0)
        *lanes = 1 + (m->kind == MEMBER_APPLY
                          ? plan_lanes(scratch, m->meaning, NULL, (struct jit_target){0})
                          : type_lanes(scratch, m->out.type));
    return *lanes - 1;
}

/* ---- the extent of a group ---- */

static const char *end_of(const struct elements *p, const struct member *m)
{
    const int64_t columns = m->columns > 0 ? m->columns : m->n,
                  row = p->single ? width_of(p) : columns * width_of(p);
    return (const char *)p->at + (m->n / columns - 1) * stride_of(p, columns) + row;
}

static bool overlaps(const struct elements *x, const struct member *of_x, const struct elements *y,
                     const struct member *of_y)
{
    return !is_same(x, y) && (const char *)x->at < end_of(y, of_y) &&
           (const char *)y->at < end_of(x, of_x);
}

/* Whether one of them writes elements that the other accesses at another position. */
static bool conflict(const struct member *x, const struct member *y)
{
    bool found = overlaps(&x->out, x, &y->out, y);
    for (int k = 0; k < x->count; k++)
        found |= overlaps(&x->args[k], x, &y->out, y);
    for (int k = 0; k < y->count; k++)
        found |= overlaps(&y->args[k], y, &x->out, x);
    return found;
}

/* Rows that end with many elements outside of vectors are not worth it. */
static bool are_long(int64_t columns, int lanes)
{
    const int64_t rest = columns % lanes, vectors = columns / lanes + rest / 4 + rest % 4;
    return vectors * lanes <= 2 * columns;
}

/* Whether there are as many strides of rows as a loop allows. */
static bool strides_fit(const struct group *g, const struct member *next, int64_t columns)
{
    int64_t strides[JIT_MOST_STRIDES];
    int count = 0;
    for (int k = 0; k <= g->count; k++) {
        const struct member *m = k < g->count ? &g->members[k] : next;
        for (int j = -1, at; j < m->count; j++) {
            const int64_t stride = stride_of(j < 0 ? &m->out : &m->args[j], columns);
            for (at = 0; at < count && strides[at] != stride;)
                at++;
            if (at == JIT_MOST_STRIDES)
                return false;
            strides[at] = stride;
            count = at == count ? at + 1 : count;
        }
    }
    return true;
}

static bool may_join(const struct group *g, const struct member *m, int lanes)
{
    const int64_t columns = m->columns > 0 ? m->columns : g->columns;
    if (g->count > 0 &&
        (m->n != g->n || (m->columns > 0 && g->columns > 0 && columns != g->columns)))
        return false;
    if (columns > 0 && ((g->count > 0 && !are_long(columns, lanes)) || !strides_fit(g, m, columns)))
        return false;
    bool found = conflict(m, m);
    for (int k = 0; k < g->count && !found; k++)
        found = conflict(&g->members[k], m);
    return !found;
}

/* ---- what is in between ---- */

static int register_of(const struct translation *t, const void *at)
{
    const int k = scalar_register_at(&t->registers, at);
    return k < 0 ? t->registers.count : t->cells[k].first;
}

struct visit {
    const struct translation *t;
    const struct accesses *all;
    bool found;
};

static void add_access(void *context, const void *at, void *pointer, bool write)
{
    const struct visit *v = context;
    (write ? v->all->writes : v->all->reads)[register_of(v->t, at)] = v->all->stamp;
}

static void find_access(void *context, const void *at, void *pointer, bool write)
{
    struct visit *v = context;
    const int k = register_of(v->t, at);
    v->found |= v->all->writes[k] == v->all->stamp || (write && v->all->reads[k] == v->all->stamp);
}

static void add_accesses(const struct translation *t, struct scalar_op *op,
                         const struct accesses *all)
{
    scalar_visit(op, add_access, &(struct visit){t, all, false});
}

/* Whether the operation must stay after one of those. */
static bool depends(const struct translation *t, struct scalar_op *op, const struct accesses *all)
{
    struct visit v = {t, all, false};
    scalar_visit(op, find_access, &v);
    return v.found;
}

static bool may_move(const struct translation *t, int k)
{
    return t->labels[k] < 0 && scalar_op_at(t, k)->kind < SCALAR_STEP;
}

/* ---- members of a group ---- */

static bool is_uniform(const struct translation *t, const struct elements *p, int64_t n)
{
    const struct cell *c = scalar_cell_at(t, p->at);
    const char *at = p->at;
    const size_t width = (size_t)width_of(p);
    return c && !c->written && !c->is_arg && p->stride == DENSE && !p->single &&
           memcmp(at, at + width, (size_t)(n - 1) * width) == 0;
}

static void add_member(struct group *g, struct member *m, int lanes)
{
    for (int k = 0; k < m->count && m->kind != MEMBER_SPREAD; k++)
        m->args[k].uniform = is_uniform(g->t, &m->args[k], m->n);
    g->n = m->n;
    g->lanes = lanes;
    if (m->columns > 0)
        g->columns = m->columns;
    g->members[g->count++] = *m;
}

/* Whether operation `k` in order was made a member. */
static bool join(struct group *g, int k)
{
    struct member m;
    int lanes = as_member(g->t, k, &m);
    lanes = lanes < g->lanes ? lanes : g->lanes;
    if (lanes == 0 || !may_join(g, &m, lanes))
        return false;
    add_member(g, &m, lanes);
    return true;
}

static struct group *new_group(struct translation *t)
{
    struct group *g = &t->grouping->group; /* large: what `count` and `known_count` exclude stays */
    g->t = t;
    g->lanes = 8;
    g->n = g->columns = g->row = 0;
    g->count = g->known_count = 0;
    g->in_rows = false;
    return g;
}

enum position { BEFORE, MEMBER, AFTER };

/* Where operation `k` goes; those between the first and it have their positions. */
static enum position position_of(struct group *g, int k)
{
    struct scalar_op *op = scalar_op_at(g->t, k);
    struct grouping *a = g->t->grouping;
    if (depends(g->t, op, &a->after))
        return AFTER;
    if (join(g, k))
        return MEMBER;
    return depends(g->t, op, &a->members) ? AFTER : BEFORE;
}

/* Orders `count` operations by position. */
static void reorder(struct translation *t, int first, const enum position *positions, int count)
{
    int *order = t->grouping->order, n = 0;
    for (int position = BEFORE; position <= AFTER; position++)
        for (int k = 0; k < count; k++)
            if (positions[k] == (enum position)position)
                order[n++] = t->order[first + k];
    memcpy(t->order + first, order, (size_t)n * sizeof *order);
}

int scalar_gather_group(struct translation *t, int first, int end)
{
    struct grouping *a = t->grouping;
    struct group *g = new_group(t);
    enum position positions[MOST_OPS + MOST_OTHERS] = {MEMBER};
    int count = 1, before = 0, others = 0; /* `count` and `before`: up to the last member */
    if (!join(g, first))
        return 0;
    a->members.stamp++;
    a->after.stamp++;
    add_accesses(t, scalar_op_at(t, first), &a->members);
    for (int k = first + 1, skipped = 0;
         k < end && may_move(t, k) && others < MOST_OTHERS && g->count < MOST_OPS; k++) {
        const enum position position = position_of(g, k);
        positions[k - first] = position;
        others += position != MEMBER;
        skipped += position == BEFORE;
        if (position != BEFORE)
            add_accesses(t, scalar_op_at(t, k), position == MEMBER ? &a->members : &a->after);
        if (position == MEMBER) {
            count = k - first + 1;
            before = skipped;
        }
    }
    reorder(t, first, positions, count);
    return before;
}

/* The operands that are values of earlier members. */
static int reads_within(const struct group *g, const void *at)
{
    int n = 0;
    bool made = false;
    for (int k = 0; k < g->count; k++) {
        for (int j = 0; j < g->members[k].count && made; j++)
            n += g->members[k].args[j].at == at;
        made |= g->members[k].out.at == at;
    }
    return n;
}

static bool is_last_write(const struct group *g, int member)
{
    for (int k = member + 1; k < g->count; k++)
        if (is_same(&g->members[k].out, &g->members[member].out))
            return false;
    return true;
}

static void find_stored(struct group *g)
{
    for (int k = 0; k < g->count; k++) {
        struct member *m = &g->members[k];
        const struct cell *c = scalar_cell_at(g->t, m->out.at);
        m->stored = is_last_write(g, k) &&
                    (!c || c->is_result || c->at != (const char *)m->out.at ||
                     m->out.stride != DENSE || c->reads > reads_within(g, m->out.at));
    }
}

/* ---- elements ---- */

static void set_known(struct group *g, const struct elements *place, int value)
{
    for (int k = 0; k < g->known_count; k++)
        if (g->known[k].place.at == place->at)
            g->known[k].place.at = NULL;
    g->known[g->known_count++] = (struct known_elements){*place, value};
}

/* The address of elements from a column on. */
static char *address_of(const struct group *g, const struct elements *p, int64_t column)
{
    return (char *)(uintptr_t)p->at + (p->single ? 0 : column * width_of(p)) +
           (g->row > 0 ? g->row * stride_of(p, g->columns) : 0);
}

static void set_stride(const struct group *g, const struct elements *p)
{
    if (g->in_rows)
        jit_set_stride(g->t->b, stride_of(p, g->columns));
}

static const struct known_elements *find_known(const struct group *g, const struct elements *p)
{
    for (int k = 0; k < g->known_count; k++)
        if (g->known[k].place.at && is_same(&g->known[k].place, p))
            return &g->known[k];
    return NULL;
}

static int read_elements(struct group *g, const struct elements *p, int64_t column)
{
    struct jit_builder *b = g->t->b;
    const struct known_elements *known = find_known(g, p);
    if (known)
        return known->place.type == p->type ? known->value : jit_bitcast(b, p->type, known->value);
    char *at = address_of(g, p, column);
    const int v = p->single ? jit_single(b, at, p->type) : jit_element(b, at, p->type);
    if (v == JIT_NONE)
        return v;
    set_stride(g, p);
    g->known[g->known_count++] = (struct known_elements){*p, v};
    return v;
}

/* The key of a spread's element. */
static struct elements key_of(const struct member *m)
{
    return (struct elements){m, m->out.type, 0, true};
}

static bool compute_member(struct group *g, const struct member *m, int64_t column)
{
    struct jit_builder *b = g->t->b;
    const struct elements key = key_of(m);
    int args[KERN_MAX_ARGS], v;
    for (int k = 0; k < m->count && m->kind != MEMBER_SPREAD; k++) {
        args[k] = read_elements(g, &m->args[k], column);
        if (args[k] == JIT_NONE)
            return false;
    }
    v = m->kind == MEMBER_SPREAD ? read_elements(g, &key, column)
        : m->kind == MEMBER_MOVE ? args[0]
                                 : plan_expand(b, m->meaning, args, m->count);
    if (v == JIT_NONE)
        return false;
    set_known(g, &m->out, v);
    if (m->stored) {
        jit_put_element(b, address_of(g, &m->out, column), v);
        set_stride(g, &m->out);
    }
    return true;
}

static bool compute_elements(struct group *g, int spread_count, int64_t column, int lanes)
{
    jit_set_lanes(g->t->b, lanes);
    g->known_count = spread_count;
    bool ok = true;
    for (int k = 0; k < g->count && ok; k++)
        ok = compute_member(g, &g->members[k], column);
    return ok;
}

static bool spread_one(struct group *g, const struct elements *key, const void *at)
{
    jit_set_lanes(g->t->b, 1);
    const int v = scalar_read_element(g->t, at, key->type);
    jit_set_lanes(g->t->b, g->lanes);
    if (v == JIT_NONE)
        return false;
    set_known(g, key, jit_splat(g->t->b, v));
    return true;
}

/* The operands of spreads in all lanes, known by the address of the member, and constants. */
static bool spread_all(struct group *g)
{
    bool ok = true;
    for (int k = 0; k < g->count && ok; k++) {
        const struct member *m = &g->members[k];
        const struct elements key = key_of(m);
        if (m->kind == MEMBER_SPREAD)
            ok = spread_one(g, &key, m->args[0].at);
        for (int j = 0; j < m->count && ok; j++)
            if (m->args[j].uniform && !find_known(g, &m->args[j]))
                ok = spread_one(g, &m->args[j], m->args[j].at);
    }
    return ok;
}

/* n adjacent elements: all, or those of a row. */
static bool compute_run(struct group *g, int spread_count, int64_t n)
{
    int64_t at = n - n % g->lanes;
    bool ok = true;
    if (at > MOST_UNROLLED * g->lanes) {
        jit_set_lanes(g->t->b, g->lanes);
        jit_start_elements(g->t->b);
        ok = compute_elements(g, spread_count, 0, g->lanes);
        jit_end_elements(g->t->b, (int)at);
    } else {
        at = 0;
    }
    for (int lanes = g->lanes; at < n && ok; at += lanes) {
        lanes = n - at >= g->lanes ? g->lanes : n - at >= 4 ? 4 : 1;
        ok = compute_elements(g, spread_count, at, lanes);
    }
    return ok;
}

static bool compute_group(struct group *g)
{
    bool ok = spread_all(g);
    const int spread_count = g->known_count;
    const int64_t columns = g->columns > 0 ? g->columns : g->n, rows = g->n / columns;
    g->in_rows = rows * ratio_up(columns, g->lanes) > 2 * MOST_UNROLLED && rows > 1;
    if (g->in_rows)
        jit_start_rows(g->t->b);
    for (; ok && g->row < (g->in_rows ? 1 : rows); g->row++)
        ok = compute_run(g, spread_count, columns);
    jit_set_lanes(g->t->b, 1);
    if (g->in_rows)
        jit_end_rows(g->t->b, (int)rows);
    return ok;
}

struct grouping *scalar_new_grouping(struct arena *a, int registers, int op_count)
{
    struct grouping *g = ARENA_NEW(a, struct grouping);
    g->lanes = ARENA_ARRAY(a, int, op_count);
    for (int k = 0; k < 2; k++) {
        struct accesses *all = k ? &g->after : &g->members;
        all->reads = ARENA_ARRAY(a, int, registers + 1);
        all->writes = ARENA_ARRAY(a, int, registers + 1);
    }
    return g;
}

int scalar_translate_group(struct translation *t)
{
    struct group *g = &t->grouping->group;
    if (g->count == 0)
        return 0;
    find_stored(g);
    return compute_group(g) ? g->count : -1;
}
