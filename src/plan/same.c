/*
 * same.c: common-subexpression elimination. A step that would repeat an earlier one becomes an
 * alias of its values; likewise in scalar code, where values are registers.
 *
 * Two steps are equal when everything that affects the value is: opcode, operands, result shape,
 * and attributes except the common ones (metadata and the like), which do not affect values.
 * Computations are equal when their instructions are, in order. So loops, branches and calls that
 * only compute are merged as well.
 */
#include "plan/plan_priv.h"

enum { KEY_SIZE = 4096 }; /* a step with a longer key is never merged */

struct key {
    struct planner *pl;
    size_t size;
    bool fits;
    char bytes[KEY_SIZE];
};

/* The bytes stay uninitialized. */
static void start(struct key *k, struct planner *pl, bool fits)
{
    k->pl = pl;
    k->size = 0;
    k->fits = fits;
}

static struct str key_str(const struct key *k) { return (struct str){k->bytes, k->size}; }

static void add(struct key *k, const void *bytes, size_t size)
{
    k->fits &= size <= KEY_SIZE - k->size;
    if (k->fits && size > 0)
        memcpy(k->bytes + k->size, bytes, size);
    k->size += k->fits ? size : 0;
}

static void add_int(struct key *k, int64_t v) { add(k, &v, sizeof v); }

static void add_list(struct key *k, const void *at, int64_t count, size_t width)
{
    add_int(k, count);
    add(k, at, (size_t)count * width);
}

static void add_window(struct key *k, struct window w)
{
    add_int(k, w.rank);
    for (int d = 0; d < w.rank; d++) {
        const struct window_dim *x = &w.dims[d];
        add(k,
            (const int64_t[]){x->size, x->stride, x->pad_low, x->pad_high, x->base_dilation,
                              x->window_dilation, x->reversal},
            7 * sizeof(int64_t));
    }
}

static void add_computation(struct key *k, const struct computation *c)
{
    c = plan_equal_computation(k->pl, c);
    add(k, &c, sizeof c);
}

static void add_attr(struct key *k, const struct attr *a)
{
    add_int(k, a->id);
    switch ((enum attr_kind)attr_table[a->id].kind) {
    case KIND_BOOL: add_int(k, a->v.b); break;
    case KIND_INT:
    case KIND_INT32: add_int(k, a->v.i); break;
    case KIND_ENUM:
    case KIND_DTYPE: add_int(k, a->v.e); break;
    case KIND_FLOAT: add(k, &a->v.f, sizeof a->v.f); break;
    case KIND_STRING: add_list(k, a->v.s.ptr, (int64_t)a->v.s.len, 1); break;
    case KIND_INT_LIST: add_list(k, a->v.ints.at, a->v.ints.count, sizeof *a->v.ints.at); break;
    case KIND_ENUM_LIST: add_list(k, a->v.enums.at, a->v.enums.count, sizeof *a->v.enums.at); break;
    case KIND_SLICES:
        add_list(k, a->v.slices.dims, a->v.slices.rank, sizeof *a->v.slices.dims);
        break;
    case KIND_PADDING:
        add_list(k, a->v.padding.dims, a->v.padding.rank, sizeof *a->v.padding.dims);
        break;
    case KIND_WINDOW: add_window(k, a->v.window); break;
    case KIND_COMPUTATION: add_computation(k, a->v.computation); break;
    case KIND_COMPUTATION_LIST:
        for (int c = 0; c < a->v.computations.count; c++)
            add_computation(k, a->v.computations.at[c]);
        break;
    default: k->fits = false; break;
    }
}

static bool is_common(const struct attr *a)
{
    for (int k = 0; attr_common[k] != A_NONE; k++)
        if (attr_common[k] == a->id)
            return true;
    return false;
}

static void add_shape(struct key *k, const struct shape *s)
{
    add_int(k, s->dtype);
    add_list(k, s->dims, s->rank, sizeof *s->dims);
    add_int(k, s->count);
    for (int e = 0; e < s->count && k->fits; e++)
        add_shape(k, s->elements[e]);
}

static void add_attrs(struct key *k, const struct inst *i)
{
    for (int a = 0; a < i->attr_count && k->fits; a++)
        if (!is_common(&i->attrs[a]))
            add_attr(k, &i->attrs[a]);
}

/* ---- computations ---- */

static void add_literal(struct key *k, const struct literal *l)
{
    k->fits &= shape_is_array(l->shape) && !l->elided;
    if (k->fits)
        add_int(k, same_constant(k->pl, l));
}

/* Numbers the instruction: equal ones, with operands at equal positions, have equal numbers. -1: it
 * is not equal to any other. A bitcast depends on layouts, which are not part of the key. */
static int number_inst(struct planner *pl, const struct inst *i)
{
    struct key k;
    start(&k, pl, i->opcode != OP_BITCAST);
    add_int(&k, i->opcode);
    add_shape(&k, i->shape);
    add_int(&k, i->operand_count);
    for (int j = 0; j < i->operand_count; j++)
        add_int(&k, i->operands[j]->index);
    add_attrs(&k, i);
    if (i->opcode == OP_PARAMETER)
        add_int(&k, i->number);
    else if (i->opcode == OP_CONSTANT)
        add_literal(&k, i->literal);
    if (!k.fits)
        return -1;
    const int *known = map_get(&pl->inst_numbers, key_str(&k));
    if (known)
        return *known;
    map_put(&pl->inst_numbers, (struct str){arena_copy(&pl->scratch, k.bytes, k.size), k.size},
            ARENA_DUP(&pl->scratch, &pl->inst_number, 1));
    return pl->inst_number++;
}

static const struct computation *find_equal(struct planner *pl, const struct computation *c)
{
    const size_t count = (size_t)c->inst_count;
    int *key = ARENA_ARRAY(&pl->scratch, int, count + 1);
    for (size_t k = 0; k < count; k++) {
        key[k] = number_inst(pl, c->insts[k]);
        if (key[k] < 0)
            return c;
    }
    key[count] = c->root->index;
    const struct str bytes = {(char *)key, (count + 1) * sizeof *key};
    const struct computation *known = map_get(&pl->contents, bytes);
    if (!known)
        map_put(&pl->contents, bytes, (void *)(uintptr_t)c);
    return known ? known : c;
}

const struct computation *plan_equal_computation(struct planner *pl, const struct computation *c)
{
    const struct computation **known = &pl->equal[c->index];
    if (!*known && pl->depth < PLAN_MAX_DEPTH) {
        pl->depth++;
        *known = find_equal(pl, c);
        pl->depth--;
    }
    return *known ? *known : c;
}

/* ---- steps, and instructions of scalar code ---- */

/* A bitcast depends on the layouts of its shapes, which values do not have. */
static bool find_key(struct planner *pl, const struct inst *i, struct leaves operands,
                     struct key *k)
{
    start(k, pl,
          i->opcode != OP_BITCAST &&
              (plan_is_pure(pl, i) || (op_is(i->opcode, OP_RUNS) && plan_runs_pure(pl, i))));
    if (!k->fits)
        return false;
    add_int(k, i->opcode);
    add_list(k, operands.at, operands.count, sizeof *operands.at);
    add_shape(k, i->shape);
    add_attrs(k, i);
    return k->fits;
}

bool same_find(struct planner *pl, const struct map *same, const struct inst *i,
               struct leaves operands, struct leaves *out)
{
    struct key k;
    if (!plan_optimises(pl) || !find_key(pl, i, operands, &k))
        return false;
    const struct leaves *known = map_get(same, key_str(&k));
    if (known)
        *out = *known;
    return known != NULL;
}

void same_note(struct planner *pl, struct map *same, const struct inst *i, struct leaves operands,
               struct leaves made)
{
    struct key k;
    struct arena *a = &pl->scratch;
    if (plan_optimises(pl) && find_key(pl, i, operands, &k))
        map_put(same, (struct str){arena_copy(a, k.bytes, k.size), k.size}, ARENA_DUP(a, &made, 1));
}

/* ---- constants ---- */

static bool holds(const struct view *v, const struct literal *l, size_t bytes)
{
    return v->dtype == l->shape->dtype &&
           view_elements(v) * (int64_t)dtype_bytes(v->dtype) == (int64_t)bytes &&
           memcmp(v->data, l->data, bytes) == 0;
}

int same_constant(struct planner *pl, const struct literal *l)
{
    enum { MAX_BYTES = 64 << 10 };
    int64_t bytes;
    struct key k;
    start(&k, pl, true);
    if (!plan_optimises(pl) || !shape_bytes(l->shape, &bytes) || bytes > MAX_BYTES)
        return plan_add_constant(pl, l);
    const uint64_t hash = hash_bytes(l->data, (size_t)bytes);
    add_shape(&k, l->shape);
    add(&k, &hash, sizeof hash);
    const int *known = k.fits ? map_get(&pl->constants, key_str(&k)) : NULL;
    if (known && holds(&pl->p->constants[~*known], l, (size_t)bytes))
        return *known;
    int made = plan_add_constant(pl, l);
    if (k.fits && !known)
        map_put(&pl->constants, (struct str){arena_copy(&pl->scratch, k.bytes, k.size), k.size},
                ARENA_DUP(&pl->scratch, &made, 1));
    return made;
}
