/*
 * lane_reducer.c: reductions of many results at once (spec: Reduce, ReduceWindow); see
 * lane_reducer.h.
 */
#include "kern/lane_reducer.h"

/* A recognized combiner as code of one operation. */
static void make_single(struct lane_reducer *f, enum kern_combine combine, enum dtype work)
{
    f->op = (struct kern_lane_op){
        .fn = kern_find_elementwise(kern_combine_opcode(combine), work), .out = 2, .args = {0, 1}};
    f->single = (struct kern_lane_code){.arg_count = 2,
                                        .result_count = 1,
                                        .tile_count = 3,
                                        .op_count = 1,
                                        .in_place = true,
                                        .ops = &f->op};
    f->code = &f->single;
}

static size_t tile_bytes(const struct lane_slot *s)
{
    return KERN_LANES * (s->in.to > s->in.from ? s->in.to : s->in.from);
}

bool lane_reducer_init(struct lane_reducer *f, int n, const struct view *out, const struct view *x,
                       const void *const *init, const enum dtype *acc, enum dtype work,
                       const struct kern_body *body)
{
    const bool recognized = n == 1 && kern_combine_opcode(body->combine);
    *f = (struct lane_reducer){.n = n, .code = body->lanes};
    if (recognized)
        make_single(f, body->combine, work);
    f->slots = mem_alloc((size_t)n * sizeof *f->slots);
    if (!f->slots)
        return false;
    f->bytes = f->code->workspace + (size_t)n * 6 * sizeof(void *);
    for (int k = 0; k < n; k++) {
        struct lane_slot *s = &f->slots[k];
        const enum dtype t = recognized ? work : acc[k];
        struct loader start;
        union kern_element scratch;
        s->width = dtype_bytes(t);
        loader_init(&start, t, acc[k]);
        loader_init(&s->in, t, x[k].dtype);
        loader_init(&s->out, out[k].dtype, t);
        memcpy(&s->init, loader_read(&start, &scratch, init[k], 0, 1), s->width);
        f->bytes += 3 * tile_bytes(s);
    }
    f->bytes = (f->bytes + 63) & ~(size_t)63;
    return true;
}

void lane_reducer_free(struct lane_reducer *f) { mem_free(f->slots); }

struct lane_state lane_state(const struct lane_reducer *f, char *storage)
{
    struct lane_state s = {.acc = (char **)(void *)storage};
    const int n = f->n;
    s.next = s.acc + n;
    s.scratch = s.next + n;
    s.args = (const void **)(void *)(s.scratch + n);
    s.results = (void **)(s.args + 2 * n);
    char *at = (char *)(s.results + n);
    for (int k = 0; k < n; k++) {
        const size_t bytes = tile_bytes(&f->slots[k]);
        s.acc[k] = at;
        s.next[k] = at + bytes;
        s.scratch[k] = at + 2 * bytes;
        at += 3 * bytes;
    }
    s.workspace = at;
    return s;
}

void lane_start(const struct lane_reducer *f, const struct lane_state *s, int64_t lanes)
{
    for (int k = 0; k < f->n; k++)
        kern_pack(s->acc[k], f->slots[k].init.bytes, 0, f->slots[k].width, lanes);
}

/* Applies the body to the accumulators of some lanes and `values`. */
static void apply(const struct lane_reducer *f, const struct lane_state *s, int64_t from,
                  int64_t count)
{
    const int accs = f->values_first ? f->n : 0;
    for (int k = 0; k < f->n; k++) {
        char *acc = s->acc[k] + (size_t)from * f->slots[k].width;
        s->args[accs + k] = acc;
        s->results[k] = f->code->in_place ? acc : s->next[k];
    }
    kern_run_lanes(f->code, s->workspace, s->args, s->results, count);
    for (int k = 0; k < f->n && !f->code->in_place; k++) {
        const size_t width = f->slots[k].width;
        memcpy(s->acc[k] + (size_t)from * width, s->next[k], (size_t)count * width);
    }
}

void lane_step(const struct lane_reducer *f, const struct lane_state *s, const char *const *at,
               const int64_t *strides, int64_t from, int64_t count)
{
    const void **values = s->args + (f->values_first ? 0 : f->n);
    for (int k = 0; k < f->n; k++)
        values[k] = loader_read(&f->slots[k].in, s->scratch[k], at[k], strides[k], count);
    apply(f, s, from, count);
}

void lane_join(const struct lane_reducer *f, const struct lane_state *s, char *const *values,
               int64_t count)
{
    for (int k = 0; k < f->n; k++)
        s->args[(f->values_first ? 0 : f->n) + k] = values[k];
    apply(f, s, 0, count);
}

void lane_store(const struct lane_reducer *f, const struct lane_state *s, int k, char *out,
                int64_t stride, int64_t lanes)
{
    loader_write(&f->slots[k].out, out, stride, s->acc[k], lanes);
}
