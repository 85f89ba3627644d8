/*
 * plain reduce, reduce-window and select-and-scatter: acc = f(acc, x) from init over the positions that
 * belong to a result element, row-major.
 */
#include "kern/nest.h"
#include "kern/plain/plain.h"

/* The body of one operand: recognised ones by the op's scalar kernel. */
static bool combine_one(const struct kern_body *body, enum dtype t, void *acc, const void *value)
{
    const void *args[2] = {acc, value};
    union kern_cell result;
    void *results[1] = {&result};
    const char *opcode = combine_opcode(body->combine);
    if (opcode)
        kern_find_elementwise(opcode, t)(&result, args, 1);
    else if (body->combine == KERN_TAKE_VALUE)
        memcpy(&result, value, dtype_bytes(t));
    else if (!body->call(body->context, args, results))
        return false;
    memcpy(acc, &result, dtype_bytes(t));
    return true;
}

/* One fold. Recognised combiners of narrow floats run in a wider type and round once (hlo-values 12.1). */
struct plain_fold {
    const struct kern_body *body;
    struct call_fold call; /* several operands, or a body that is called */
    bool called;
    enum dtype work;
    struct loader first, second, narrow, out;
    union kern_cell acc;
};

static bool fold_init(struct plain_fold *f, bool window, int n, const struct view *out, const struct view *x,
                      const enum dtype *acc, const struct kern_body *body)
{
    struct loader to_work;
    f->body = body;
    f->called = n > 1 || !combine_opcode(body->combine);
    if (f->called)
        return call_fold_init(&f->call, n, out, x, acc, body);
    f->work = (window ? combine_window_type : combine_work_type)(body->combine, *acc);
    return loader_init(&f->first, *acc, x->dtype) && loader_init(&f->second, f->work, *acc) &&
           loader_init(&to_work, f->work, *acc) && loader_init(&f->narrow, *acc, f->work) &&
           loader_init(&f->out, out->dtype, *acc);
}

static void fold_start(struct plain_fold *f, const void *const *init)
{
    union kern_cell room;
    if (f->called)
        call_fold_start(&f->call, init);
    else
        memcpy(&f->acc, loader_read(&f->second, &room, *init, 0, 1), dtype_bytes(f->work));
}

static bool fold_value(struct plain_fold *f, const struct view *x, const int64_t *at)
{
    union kern_cell room[2];
    if (!f->called) {
        const void *v = loader_read(&f->first, &room[0], view_at(x, at), 0, 1);
        return combine_one(f->body, f->work, &f->acc, loader_read(&f->second, &room[1], v, 0, 1));
    }
    for (int k = 0; k < f->call.n; k++)
        f->call.slots[k].at = view_at(&x[k], at);
    return call_fold_value(&f->call);
}

static void fold_store(struct plain_fold *f, const struct view *out, const int64_t *o)
{
    union kern_cell room;
    if (!f->called)
        loader_write(&f->out, view_at(out, o), 0, loader_read(&f->narrow, &room, f->acc.bytes, 0, 1), 1);
    for (int k = 0; f->called && k < f->call.n; k++)
        call_fold_store(&f->call, k, view_at(&out[k], o));
}

static void fold_free(struct plain_fold *f)
{
    if (f->called)
        call_fold_free(&f->call);
}

/* spec: Reduce */
bool plain_reduce(int n, const struct view *out, const struct view *x, const void *const *init,
                  const enum dtype *acc, const bool *reduced, const struct kern_body *body)
{
    int64_t o[VIEW_MAX_RANK] = {0}, sizes[VIEW_MAX_RANK], r[VIEW_MAX_RANK] = {0}, at[VIEW_MAX_RANK];
    struct plain_fold f;
    bool nothing = false;
    if (view_elements(out) == 0)
        return true;
    if (!fold_init(&f, false, n, out, x, acc, body))
        return false;
    for (int d = 0; d < x->rank; d++) {
        sizes[d] = reduced[d] ? x->dims[d] : 1;
        nothing |= sizes[d] == 0;
    }
    bool ok = true;
    do {
        fold_start(&f, init);
        bool more = !nothing;
        while (more && ok) {
            for (int d = 0, kept = 0; d < x->rank; d++)
                at[d] = reduced[d] ? r[d] : o[kept++];
            ok = fold_value(&f, x, at);
            more = index_next(x->rank, sizes, r);
        }
        fold_store(&f, out, o);
    } while (ok && index_next(out->rank, out->dims, o));
    fold_free(&f);
    return ok;
}

/* The operand index under element k of the window at o; false in padding and in the holes of dilation. */
static bool window_place(const struct view *x, const struct kern_window_dim *window, const int64_t *o,
                         const int64_t *k, int64_t *p)
{
    for (int d = 0; d < x->rank; d++) {
        const struct kern_window_dim *w = &window[d];
        p[d] = o[d] * w->stride + k[d] * w->window_dilation - w->pad_low;
        if (p[d] < 0 || p[d] % w->base_dilation != 0 || p[d] / w->base_dilation >= x->dims[d])
            return false;
        p[d] /= w->base_dilation;
    }
    return true;
}

static bool window_sizes(const struct view *x, const struct kern_window_dim *window, int64_t *sizes)
{
    bool any = true;
    for (int d = 0; d < x->rank; d++) {
        sizes[d] = window[d].size;
        any &= sizes[d] > 0;
    }
    return any;
}

/* spec: ReduceWindow */
bool plain_reduce_window(int n, const struct view *out, const struct view *x, const void *const *init,
                         const enum dtype *acc, const struct kern_window_dim *window,
                         const struct kern_body *body)
{
    int64_t o[VIEW_MAX_RANK] = {0}, sizes[VIEW_MAX_RANK], k[VIEW_MAX_RANK] = {0}, p[VIEW_MAX_RANK];
    struct plain_fold f;
    if (view_elements(out) == 0)
        return true;
    if (!fold_init(&f, true, n, out, x, acc, body))
        return false;
    bool ok = true, any = window_sizes(x, window, sizes);
    do {
        fold_start(&f, init);
        do {
            if (any && window_place(x, window, o, k, p))
                ok = fold_value(&f, x, p);
        } while (any && ok && index_next(x->rank, sizes, k));
        fold_store(&f, out, o);
    } while (ok && index_next(out->rank, out->dims, o));
    fold_free(&f);
    return ok;
}

static bool select_first(const struct kern_body *select, enum dtype t, const void *a, const void *b,
                         bool *keep)
{
    static const enum kern_direction direction[] = {KERN_GE, KERN_GT, KERN_LE, KERN_LT};
    uint8_t answer = 0;
    const void *args[2] = {a, b};
    void *results[1] = {&answer};
    bool ok = true;
    if (select->combine >= KERN_SELECT_GE)
        kern_find_compare(direction[select->combine - KERN_SELECT_GE], false, t)(&answer, args, 1);
    else
        ok = select->call(select->context, args, results);
    *keep = answer != 0;
    return ok;
}

/* spec: SelectAndScatter */
bool plain_select_and_scatter(const struct view *out, const struct view *x, const struct view *source,
                              const void *init, const struct kern_window_dim *window,
                              const struct kern_body *select, const struct kern_body *scatter)
{
    int64_t o[VIEW_MAX_RANK] = {0}, sizes[VIEW_MAX_RANK], k[VIEW_MAX_RANK] = {0}, p[VIEW_MAX_RANK],
            best[VIEW_MAX_RANK];
    kern_fill(out, init);
    if (view_elements(source) == 0 || !window_sizes(x, window, sizes))
        return true;
    do {
        bool found = false, keep = false;
        do {
            if (!window_place(x, window, o, k, p))
                continue;
            if (found && !select_first(select, x->dtype, view_at(x, best), view_at(x, p), &keep))
                return false;
            if (!found || !keep)
                memcpy(best, p, sizeof p);
            found = true;
        } while (index_next(x->rank, sizes, k));
        if (found && !combine_one(scatter, out->dtype, view_at(out, best), view_at(source, o)))
            return false;
    } while (index_next(source->rank, source->dims, o));
    return true;
}
