/*
 * scalar_array.c: compiles operations on small arrays to scalar code: rearrangements, slices at
 * computed indices, reductions and products.
 *
 * A contiguous part is an alias of addresses within its operand. Nothing is copied except the
 * states of loops, which have registers of their own.
 */
#include "plan/scalar.h"

static struct view view_of(const struct maker *m, int reg, const struct shape *s)
{
    struct view v;
    view_dense(&v, m->regs[reg].type, s->rank, s->dims, m->regs[reg].at);
    return v;
}

/* As view_of, of the register that it is a copy of, if it is one: the copy may then be unused. */
static struct view source_of(const struct maker *m, int reg, const struct shape *s)
{
    const struct view *source = m->regs[reg].source;
    return source && s->rank > 0 && source->rank == s->rank &&
                   memcmp(source->dims, s->dims, (size_t)s->rank * sizeof *s->dims) == 0
               ? *source
               : view_of(m, reg, s);
}

static int operand(const struct inst *i, const struct leaves *env, int k)
{
    return env[i->operands[k]->index].at[0];
}

static int64_t elements_of(const struct shape *s)
{
    int64_t n = 0;
    shape_elements(s, &n);
    return n;
}

static void push_copy(struct maker *m, int out, const struct view *to, const struct view *from,
                      bool constant)
{
    if (view_is_dense(to) && view_is_dense(from)) {
        struct scalar_op *op = scalar_push(m, SCALAR_MOVE, out);
        op->out = to->data;
        op->args[0] = from->data;
        op->count = (int32_t)(view_elements(from) * (int64_t)dtype_bytes(from->dtype));
    } else {
        struct scalar_copy *c = ARENA_NEW(&m->pl->scratch, struct scalar_copy);
        c->out = *to;
        c->x.view = *from;
        scalar_push(m, SCALAR_COPY, out)->copy = c;
    }
    scalar_done(m, out, constant);
}

/* The address that views of a large array are relative to until its own is known. */
static char *origin_of(const struct maker *m, int reg)
{
    return m->regs[reg].large_array ? (char *)m->pl : m->regs[reg].at;
}

/* A copy of the part of a large array that `v` describes, as a view of an array at address 0. */
static bool copy_of_large(struct maker *m, int reg, const struct view *v, const struct shape *s,
                          struct leaves *out)
{
    struct scalar_copy *c = ARENA_NEW(&m->pl->scratch, struct scalar_copy);
    const int made = scalar_fits(m, s) ? scalar_new_reg(m, v->dtype, elements_of(s)) : -1;
    if (made < 0)
        return false;
    *c = (struct scalar_copy){view_of(m, made, s), {.view = *v}};
    m->regs[made].rearranged = m->regs[made].n > SCALAR_MAX_ELEMENTS && !view_is_dense(v);
    scalar_push(m, SCALAR_COPY, made)->copy = c;
    return scalar_set_address(m, reg, &c->x.view, &c->x.origin, v->data - origin_of(m, reg)) &&
           scalar_one_leaf(m, made, out);
}

/* The view `v` of a register as a value: an alias where it is contiguous, else a copy. */
static bool view_result(struct maker *m, int reg, const struct view *v, const struct shape *s,
                        struct leaves *out)
{
    if (m->regs[reg].large_array && elements_of(s) == m->regs[reg].n && view_is_dense(v))
        return scalar_one_leaf(m, scalar_same_large(m, reg), out);
    if (m->regs[reg].large_array)
        return copy_of_large(m, reg, v, s, out);
    if (view_is_dense(v))
        return scalar_one_leaf(m, scalar_alias_reg(m, reg, v->data, v->dtype, elements_of(s)), out);
    int made = scalar_new_reg(m, v->dtype, elements_of(s));
    if (made < 0)
        return false;
    m->regs[made].rearranged = m->regs[made].n > SCALAR_MAX_ELEMENTS;
    m->regs[made].source = ARENA_DUP(&m->pl->scratch, v, 1);
    struct view to = view_of(m, made, s);
    push_copy(m, made, &to, v, m->regs[reg].constant);
    return scalar_one_leaf(m, made, out);
}

int scalar_spread(struct maker *m, int reg, int64_t n)
{
    int made = scalar_new_reg(m, m->regs[reg].type, n);
    struct view to, from;
    if (made < 0)
        return -1;
    view_dense(&to, m->regs[reg].type, 1, &n, m->regs[made].at);
    from = to;
    from.data = m->regs[reg].at;
    if (n > 1)
        from.strides[0] = 0;
    push_copy(m, made, &to, &from, m->regs[reg].constant);
    return made;
}

/* ---- rearrangements ---- */

static bool make_view(struct maker *m, const struct inst *i, const struct leaves *env,
                      struct leaves *out)
{
    int reg = operand(i, env, 0);
    struct view x = i->opcode == OP_RESHAPE ? view_of(m, reg, operand_shape(i, 0))
                                            : source_of(m, reg, operand_shape(i, 0)),
                v;
    if (m->regs[reg].large_array)
        x.data = origin_of(m, reg);
    int64_t start[VIEW_MAX_RANK], limit[VIEW_MAX_RANK], stride[VIEW_MAX_RANK];
    struct ints dims = inst_ints(i, A_DIMENSIONS);
    switch (i->opcode) {
    case OP_BROADCAST: kern_view_broadcast(&v, &x, i->shape->rank, i->shape->dims, dims.at); break;
    case OP_TRANSPOSE: kern_view_pick(&v, &x, x.rank, dims.at); break;
    case OP_REVERSE: kern_view_reverse(&v, &x, dims.at, (int)dims.count); break;
    case OP_SLICE:
        for (int d = 0; d < x.rank; d++) {
            const struct slice_dim *s = &inst_attr(i, A_SLICE)->v.slices.dims[d];
            start[d] = s->start;
            limit[d] = s->limit;
            stride[d] = s->stride;
        }
        kern_view_slice(&v, &x, start, limit, stride);
        break;
    default: view_dense(&v, x.dtype, i->shape->rank, i->shape->dims, x.data); break;
    }
    return view_result(m, reg, &v, i->shape, out);
}

static bool make_concatenate(struct maker *m, const struct inst *i, const struct leaves *env,
                             struct leaves *out)
{
    int64_t d = inst_ints(i, A_DIMENSIONS).at[0];
    int made = scalar_new_reg(m, i->shape->dtype, elements_of(i->shape));
    bool constant = true;
    if (made < 0)
        return false;
    for (int k = 0; k < i->operand_count; k++)
        constant &= m->regs[operand(i, env, k)].constant;
    struct view part = view_of(m, made, i->shape);
    for (int k = 0; k < i->operand_count; k++) {
        int reg = scalar_convert(m, operand(i, env, k), m->regs[made].type);
        if (reg < 0)
            return false;
        struct view x = source_of(m, reg, operand_shape(i, k));
        part.dims[d] = x.dims[d];
        push_copy(m, made, &part, &x, constant);
        part.data += x.dims[d] * part.strides[d];
    }
    return scalar_one_leaf(m, made, out);
}

/* The elements of a dimension of n elements that stay within the `size` of the padded one, and
 * where they are placed. */
static void place_dim(struct view *x, struct view *to, int d, const struct padding_dim *p)
{
    const int64_t step = p->interior + 1, size = to->dims[d], n = x->dims[d],
                  first = p->low < 0 ? ratio_up(-p->low, step) : 0,
                  limit = size > p->low ? ratio_up(size - p->low, step) : 0;
    const int64_t count = (limit < n ? limit : n) - first;
    to->dims[d] = x->dims[d] = count > 0 ? count : 0;
    if (count <= 0)
        return;
    to->data += (p->low + first * step) * to->strides[d];
    to->strides[d] *= step;
    x->data += first * x->strides[d];
}

static bool make_pad(struct maker *m, const struct inst *i, const struct leaves *env,
                     struct leaves *out)
{
    const struct padding p = inst_attr(i, A_PADDING)->v.padding;
    const int value = scalar_convert(m, operand(i, env, 1), i->shape->dtype),
              reg = scalar_convert(m, operand(i, env, 0), i->shape->dtype);
    const int made = scalar_new_reg(m, i->shape->dtype, elements_of(i->shape));
    if (made < 0 || value < 0 || reg < 0)
        return false;
    struct view to = view_of(m, made, i->shape), all = to,
                x = source_of(m, reg, operand_shape(i, 0));
    struct view fill = {.dtype = to.dtype, .rank = to.rank, .data = m->regs[value].at};
    memcpy(fill.dims, to.dims, sizeof fill.dims);
    for (int d = 0; d < to.rank; d++)
        place_dim(&x, &to, d, &p.dims[d]);
    push_copy(m, made, &all, &fill, false);
    if (view_elements(&x) > 0)
        push_copy(m, made, &to, &x, false);
    return scalar_one_leaf(m, made, out);
}

static bool make_iota(struct maker *m, const struct inst *i, struct leaves *out)
{
    int made = scalar_new_reg(m, i->shape->dtype, elements_of(i->shape));
    if (made < 0)
        return false;
    struct view v = view_of(m, made, i->shape);
    m->pl->p->kern->iota(NULL, &v, (int)inst_int(i, A_IOTA_DIMENSION, 0));
    m->regs[made].constant = true;
    return scalar_one_leaf(m, made, out);
}

/* ---- at computed places ---- */

static struct scalar_view whole_of(const struct maker *m, int reg, const struct shape *s)
{
    struct large_array *c = m->regs[reg].large_array;
    return (struct scalar_view){view_of(m, reg, s), {c ? &c->at : NULL, 0}};
}

/* The register of the result of an operation on `whole`: in place, when it updates a large
 * array. */
static int result_of(struct maker *m, const struct inst *i, int whole, bool update)
{
    return update && m->regs[whole].large_array
               ? scalar_write_large(m, whole)
               : scalar_new_reg(m, m->regs[whole].type, elements_of(i->shape));
}

/* Makes `whole` the array that an operation updates, in the register `made`: a copy, unless it is a
 * large array. */
static void copy_whole(struct maker *m, int made, const struct shape *s, struct scalar_view *whole)
{
    struct view to = view_of(m, made, s);
    if (!whole->origin.large_array)
        push_copy(m, made, &to, &whole->view, false);
    whole->view = to;
}

/* Adds the operation on a window; where its indices are constant, and the array in a register, it
 * is a copy. */
static void push_window(struct maker *m, int made, const struct scalar_slice *c, bool constant)
{
    struct view window;
    if (!constant || c->whole.origin.large_array) {
        scalar_push(m, SCALAR_SLICE, made)->slice = c;
    } else if (scalar_window(c, &window)) {
        if (!c->update)
            m->regs[made].source = ARENA_DUP(&m->pl->scratch, &window, 1);
        push_copy(m, made, c->update ? &window : &c->piece, c->update ? &c->piece : &window, false);
    }
}

static bool make_slice(struct maker *m, const struct inst *i, const struct leaves *env,
                       struct leaves *out)
{
    bool update = i->opcode == OP_DYNAMIC_UPDATE_SLICE;
    int first = update ? 2 : 1, whole = operand(i, env, 0);
    const struct shape *s = operand_shape(i, 0);
    if (i->operand_count != first + s->rank || !scalar_is_fresh(&m->regs[whole]))
        return false;
    int made = result_of(m, i, whole, update);
    if (made < 0)
        return false;
    struct scalar_slice *c = ARENA_NEW(&m->pl->scratch, struct scalar_slice);
    c->update = update;
    c->whole = whole_of(m, whole, s);
    bool constant = true;
    for (int d = 0; d < s->rank; d++) {
        const struct reg *r = &m->regs[operand(i, env, first + d)];
        constant &= r->constant;
        c->index[d].at = r->at;
        c->index[d].type = r->type;
    }
    if (update) {
        int piece = scalar_convert(m, operand(i, env, 1), m->regs[whole].type);
        if (piece < 0 || m->regs[piece].large_array)
            return false;
        copy_whole(m, made, s, &c->whole);
        c->piece = view_of(m, piece, operand_shape(i, 1));
    } else {
        c->piece = view_of(m, made, i->shape);
    }
    for (int d = 0; d < s->rank; d++)
        c->index[d].inside = scalar_is_inside(m, operand(i, env, first + d),
                                              c->whole.view.dims[d] - c->piece.dims[d]);
    push_window(m, made, c, constant);
    return scalar_one_leaf(m, made, out);
}

/* ---- gather and scatter with one index tuple ---- */

static int zero_reg(struct maker *m)
{
    int reg = scalar_new_reg(m, DT_S32, 1);
    if (reg >= 0)
        m->regs[reg].constant = true;
    return reg;
}

/* The window of a gather or scatter whose indices are a single tuple; NULL: they are not, or the
 * window is empty or larger than the array. */
static struct scalar_slice *one_window(struct maker *m, const struct inst *i,
                                       const struct leaves *env)
{
    const bool update = i->opcode == OP_SCATTER;
    const int whole = operand(i, env, 0), indices = operand(i, env, 1), zero = zero_reg(m);
    const struct shape *s = operand_shape(i, 0);
    const struct reg *tuple = &m->regs[indices];
    struct kern_gather_dims dims;
    plan_gather_dims(i, &dims);
    if (zero < 0 || tuple->large_array || !scalar_is_fresh(&m->regs[whole]) ||
        dims.batching_count > 0 || dims.map_count == 0 || tuple->n != dims.map_count)
        return NULL;
    struct scalar_slice *c = ARENA_NEW(&m->pl->scratch, struct scalar_slice);
    c->update = update;
    c->whole = whole_of(m, whole, s);
    if (update)
        kern_update_window(s->rank, operand_shape(i, 2)->dims, &dims, dims.slice_sizes);
    view_dense(&c->piece, c->whole.view.dtype, s->rank, dims.slice_sizes, NULL);
    for (int d = 0; d < s->rank; d++) {
        if (dims.slice_sizes[d] == 0 || dims.slice_sizes[d] > s->dims[d])
            return NULL;
        c->index[d].at = m->regs[zero].at;
        c->index[d].type = DT_S32;
    }
    for (int k = 0; k < dims.map_count; k++) {
        const int64_t d = dims.start_index_map[k];
        c->index[d].at = tuple->at + (size_t)k * dtype_bytes(tuple->type);
        c->index[d].type = tuple->type;
        c->drops[d] = update;
    }
    return c;
}

/* The window's current elements, clamped like those of a gather. */
static int read_window(struct maker *m, const struct scalar_slice *window, bool constant)
{
    struct scalar_slice *c = ARENA_DUP(&m->pl->scratch, window, 1);
    const int made = scalar_new_reg(m, c->piece.dtype, view_elements(&c->piece));
    if (made < 0)
        return -1;
    c->update = false;
    memset(c->drops, 0, sizeof c->drops);
    c->piece.data = m->regs[made].at;
    push_window(m, made, c, constant);
    return made;
}

/* Combines n elements; -1: the body is not supported. */
static int combine_elements(struct maker *m, const struct computation *body, int now, int update)
{
    const enum dtype t = m->regs[now].type;
    const int64_t n = m->regs[now].n;
    const struct inst *i = plan_binary_body(body);
    struct leaves made;
    enum dtype type, result;
    for (int k = 0; k < body->param_count; k++)
        if (body->params[k]->shape->dtype != t)
            return -1;
    if (n == 1 && body->root->shape->dtype == t)
        return scalar_computation(m, body, (struct leaves){2, (int[]){now, update}}, &made)
                   ? made.at[0]
                   : -1;
    kern_tile_fn *fn = i ? plan_tile(m->pl, i, &type, &result) : NULL;
    if (!fn || type != t || result != t)
        return -1;
    const bool swapped = i->operands[0]->number != 0;
    const int args[] = {swapped ? update : now, swapped ? now : update};
    return scalar_apply(m, fn, (struct tile_meaning){TILE_INST, i, t, t, DT_INVALID}, args, n);
}

static bool read_one(struct maker *m, const struct inst *i, const struct leaves *env,
                     struct leaves *out)
{
    const struct scalar_slice *c = one_window(m, i, env);
    return c && scalar_one_leaf(m, read_window(m, c, m->regs[operand(i, env, 1)].constant), out);
}

/* Operations made before a failure are not read by others. */
static bool update_one(struct maker *m, const struct inst *i, const struct leaves *env,
                       struct leaves *out)
{
    const struct computation *body = inst_computation(i, A_TO_APPLY);
    struct scalar_slice *c = i->operand_count == 3 ? one_window(m, i, env) : NULL;
    const int whole = operand(i, env, 0);
    const bool constant = m->regs[operand(i, env, 1)].constant;
    int piece = c ? scalar_convert(m, operand(i, env, 2), m->regs[whole].type) : -1;
    if (piece < 0 || m->regs[piece].large_array)
        return false;
    if (body->root->opcode != OP_PARAMETER || body->root->number != 1 || body->param_count != 2) {
        const int now = read_window(m, c, constant);
        piece = now < 0 ? -1 : combine_elements(m, body, now, piece);
    }
    const int made = piece < 0 ? -1 : result_of(m, i, whole, true);
    if (made < 0)
        return false;
    copy_whole(m, made, i->shape, &c->whole);
    c->piece.data = m->regs[piece].at;
    push_window(m, made, c, constant);
    return scalar_one_leaf(m, made, out);
}

/* ---- sums and products ---- */

static bool make_reduce(struct maker *m, const struct inst *i, const struct leaves *env,
                        struct leaves *out)
{
    struct arena *scratch = &m->pl->scratch;
    int n = i->operand_count / 2;
    struct step s = {.inst = i};
    const struct body *b = NULL;
    if (!plan_bodies(m->pl, &s) || !s.bodies->code)
        return false;
    b = s.bodies;
    struct scalar_reduce *r = ARENA_NEW(scratch, struct scalar_reduce);
    *r = (struct scalar_reduce){.n = n, .acc = b->args};
    r->body = (struct kern_body){.combine = b->combine,
                                 .call = scalar_call,
                                 .context = (void *)(uintptr_t)b->code,
                                 .pick = b->pick};
    r->out = ARENA_ARRAY(scratch, struct view, n);
    r->x = ARENA_ARRAY(scratch, struct view, n);
    r->origins = ARENA_ARRAY(scratch, struct scalar_origin, n);
    r->init = ARENA_ARRAY(scratch, const void *, n);
    *out = (struct leaves){n, ARENA_ARRAY(scratch, int, n)};
    struct ints dims = inst_ints(i, A_DIMENSIONS);
    for (int64_t d = 0; d < dims.count; d++)
        r->reduced[dims.at[d]] = true;
    for (int k = 0; k < n; k++) {
        const struct shape *shape = shape_is_tuple(i->shape) ? i->shape->elements[k] : i->shape;
        int init = scalar_convert(m, operand(i, env, n + k), b->args[k]);
        int made = scalar_new_reg(m, shape->dtype, elements_of(shape));
        if (init < 0 || made < 0)
            return false;
        r->out[k] = view_of(m, made, shape);
        r->x[k] = view_of(m, operand(i, env, k), operand_shape(i, k));
        r->init[k] = m->regs[init].at;
        if (m->regs[operand(i, env, n + k)].large_array ||
            !scalar_set_address(m, operand(i, env, k), &r->x[k], &r->origins[k], 0))
            return false;
        out->at[k] = made;
    }
    if (!m->pl->p->options.plain)
        r->ready =
            kern_make_ready_reduce(&m->pl->p->arena, n, r->out, r->x, r->acc, r->reduced, &r->body);
    scalar_push(m, SCALAR_REDUCE, out->at[0])->reduce = r;
    return true;
}

static bool make_dot(struct maker *m, const struct inst *i, const struct leaves *env,
                     struct leaves *out)
{
    if (i->operand_count != 2 || plan_sum_type(i) != i->shape->dtype)
        return false;
    int made = scalar_new_reg(m, i->shape->dtype, elements_of(i->shape));
    if (made < 0)
        return false;
    struct scalar_dot *d = ARENA_NEW(&m->pl->scratch, struct scalar_dot);
    plan_dot_dims(i, &d->dims);
    d->out = view_of(m, made, i->shape);
    d->lhs.view = view_of(m, operand(i, env, 0), operand_shape(i, 0));
    d->rhs.view = view_of(m, operand(i, env, 1), operand_shape(i, 1));
    if (!m->pl->p->options.plain)
        d->ready =
            kern_make_ready_dot(&m->pl->p->arena, &d->out, &d->lhs.view, &d->rhs.view, &d->dims);
    scalar_push(m, SCALAR_DOT, made)->dot = d;
    return scalar_set_address(m, operand(i, env, 0), &d->lhs.view, &d->lhs.origin, 0) &&
           scalar_set_address(m, operand(i, env, 1), &d->rhs.view, &d->rhs.origin, 0) &&
           scalar_one_leaf(m, made, out);
}

static struct scalar_gather *new_gather(struct maker *m, const struct inst *i,
                                        const struct leaves *env)
{
    int indices = operand(i, env, 1);
    struct scalar_gather *g = ARENA_NEW(&m->pl->scratch, struct scalar_gather);
    plan_gather_dims(i, &g->dims);
    if (m->regs[indices].large_array || !scalar_is_fresh(&m->regs[operand(i, env, 0)]))
        return NULL;
    for (int k = 0; k < g->dims.batching_count; k++)
        if (plan_batching_problem(&g->dims, k, operand_shape(i, 0), operand_shape(i, 1)))
            return NULL; /* a step reports it */
    g->whole = whole_of(m, operand(i, env, 0), operand_shape(i, 0));
    g->indices = view_of(m, indices, operand_shape(i, 1));
    return g;
}

static bool make_gather(struct maker *m, const struct inst *i, const struct leaves *env,
                        struct leaves *out)
{
    if (read_one(m, i, env, out))
        return true;
    struct scalar_gather *g = new_gather(m, i, env);
    int made = g ? scalar_new_reg(m, m->regs[operand(i, env, 0)].type, elements_of(i->shape)) : -1;
    if (made < 0)
        return false;
    g->small = view_of(m, made, i->shape);
    scalar_push(m, SCALAR_GATHER, made)->gather = g;
    return scalar_one_leaf(m, made, out);
}

static bool make_scatter(struct maker *m, const struct inst *i, const struct leaves *env,
                         struct leaves *out)
{
    if (update_one(m, i, env, out))
        return true;
    struct step s = {.inst = i, .shapes = &i->shape};
    struct scalar_gather *g = i->operand_count == 3 ? new_gather(m, i, env) : NULL;
    if (!g || !plan_bodies(m->pl, &s) || !s.bodies->code)
        return false;
    int whole = operand(i, env, 0),
        updates = scalar_convert(m, operand(i, env, 2), m->regs[whole].type);
    int made = updates < 0 || m->regs[updates].large_array ? -1 : result_of(m, i, whole, true);
    if (made < 0)
        return false;
    g->small = view_of(m, updates, operand_shape(i, 2));
    g->body = (struct kern_body){.combine = s.bodies->combine,
                                 .call = scalar_call,
                                 .context = (void *)(uintptr_t)s.bodies->code};
    copy_whole(m, made, i->shape, &g->whole);
    scalar_push(m, SCALAR_SCATTER, made)->gather = g;
    return scalar_one_leaf(m, made, out);
}

bool scalar_array_inst(struct maker *m, const struct inst *i, const struct leaves *env,
                       struct leaves *out)
{
    switch (i->opcode) {
    case OP_BROADCAST:
    case OP_RESHAPE:
    case OP_TRANSPOSE:
    case OP_SLICE:
    case OP_REVERSE: return make_view(m, i, env, out);
    case OP_CONCATENATE: return make_concatenate(m, i, env, out);
    case OP_IOTA: return make_iota(m, i, out);
    case OP_PAD: return make_pad(m, i, env, out);
    case OP_DYNAMIC_SLICE:
    case OP_DYNAMIC_UPDATE_SLICE: return make_slice(m, i, env, out);
    case OP_GATHER: return make_gather(m, i, env, out);
    case OP_SCATTER: return make_scatter(m, i, env, out);
    case OP_REDUCE: return make_reduce(m, i, env, out);
    case OP_DOT: return make_dot(m, i, env, out);
    default: return false;
    }
}

/* ---- anything else ---- */

/* Whether each operand and result is one leaf in a register. */
static bool has_registers(const struct maker *m, const struct inst *i, const struct leaves *env)
{
    for (int k = 0; k < i->operand_count; k++) {
        struct leaves l = env[i->operands[k]->index];
        if (l.count != 1 || l.at[0] == NO_VALUE || m->regs[l.at[0]].large_array)
            return false;
    }
    return !m->pl->p->options.plain && !m->pl->p->dynamic &&
           (plan_is_pure(m->pl, i) || plan_is_lapack(m->pl->p, i));
}

static struct step *new_step(struct maker *m, const struct inst *i)
{
    struct arena *keep = &m->pl->p->arena;
    struct step *s = ARENA_NEW(keep, struct step);
    s->inst = i;
    s->operand_count = i->operand_count;
    if (i->opcode == OP_CUSTOM_CALL) {
        s->kind = STEP_CUSTOM_CALL;
        s->as.call = (struct call_step){.number = ++m->pl->p->call_count,
                                        .fallback = plan_foreign(m->pl->p, i, true)};
    }
    if (i->opcode == OP_SCAN || op_table[i->opcode].family == FAMILY_batchnorm)
        return NULL; /* it calls a function, or is several steps */
    if (!plan_leaf_shapes(m->pl, i, i->shape, &s->result_count, &s->shapes) ||
        !plan_bodies(m->pl, s))
        return NULL;
    for (int k = 0; s->bodies && k < 2; k++)
        if (s->bodies[k].function)
            return NULL;
    int n = s->operand_count, *slots = ARENA_ARRAY(keep, int, n + s->result_count),
        *starts = ARENA_ARRAY(keep, int, n + 1);
    for (int k = 0; k < n + s->result_count; k++)
        slots[k] = k;
    for (int k = 0; k <= n; k++)
        starts[k] = k;
    s->operands = slots;
    s->results = slots + n;
    s->starts = starts;
    s->uses = ARENA_ARRAY(keep, uint8_t, n); /* all USE_KEEP */
    return s;
}

bool scalar_step_inst(struct maker *m, const struct inst *i, const struct leaves *env,
                      struct leaves *out)
{
    struct arena *scratch = &m->pl->scratch;
    struct step *s = has_registers(m, i, env) ? new_step(m, i) : NULL;
    if (!s)
        return false;
    struct scalar_step *t = ARENA_NEW(scratch, struct scalar_step);
    t->step = s;
    t->args = ARENA_ARRAY(scratch, struct view, s->operand_count);
    t->results = ARENA_ARRAY(scratch, struct view, s->result_count);
    *out = (struct leaves){s->result_count, ARENA_ARRAY(scratch, int, s->result_count)};
    for (int k = 0; k < s->operand_count; k++)
        t->args[k] = view_of(m, operand(i, env, k), operand_shape(i, k));
    for (int k = 0; k < s->result_count; k++) {
        int made = scalar_new_reg(m, s->shapes[k]->dtype, elements_of(s->shapes[k]));
        if (made < 0)
            return false;
        t->results[k] = view_of(m, made, s->shapes[k]);
        out->at[k] = made;
    }
    scalar_push(m, SCALAR_STEP, out->at[0])->step = t;
    return s->result_count > 0;
}
