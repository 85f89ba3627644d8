/*
 * spec: CustomCall
 *
 * LAPACK for the custom calls of JAX: a whole batch by one routine. Arrays are copied into
 * column-major order and back, whatever their layout in memory. LAPACK is part of OpenBLAS; the
 * last bits of its results depend on the machine. --plain runs our own implementation, and so do
 * machines without OpenBLAS.
 */
#include "kern/lapack.h"

#include "kern/blas.h"
#include "kern/nest.h"

static const struct kern_lapack_routine {
    const char *name;
    lapack_fn *run, *plain; /* plain: for --plain, and without OpenBLAS */
    lapack_tiny_fn *tiny;   /* for small matrices; may be NULL */
} routines[] = {
    {"gees", lapack_gees, plain_gees, NULL},
    {"geev", lapack_geev, plain_geev, NULL},
    {"gehrd", lapack_gehrd, plain_gehrd, NULL},
    {"geqp3", lapack_geqp3, plain_geqp3, NULL},
    {"geqrf", lapack_geqrf, lapack_householder_qr, lapack_tiny_geqrf},
    {"gesdd", lapack_gesdd, plain_gesdd, NULL},
    {"gesvd", lapack_gesvd, plain_gesdd, NULL},
    {"getrf", lapack_getrf, plain_getrf, lapack_tiny_getrf},
    {"gtsp", lapack_gtsp, lapack_gtsp, NULL},
    {"gtsv", lapack_gtsv, plain_gtsv, NULL},
    {"heevd", lapack_heevd, plain_heevd, NULL},
    {"hetrd", lapack_sytrd, plain_sytrd, NULL},
    {"householder_product", lapack_householder_product, lapack_householder_product, NULL},
    {"householder_qr", lapack_householder_qr, lapack_householder_qr, NULL},
    {"orgqr", lapack_orgqr, lapack_householder_product, lapack_tiny_orgqr},
    {"ormqr", lapack_ormqr, plain_ormqr, NULL},
    {"potrf", lapack_potrf, plain_potrf, lapack_tiny_potrf},
    {"syevd", lapack_heevd, plain_heevd, NULL},
    {"sytrd", lapack_sytrd, plain_sytrd, NULL},
    {"trsm", lapack_trsm, plain_trsm, lapack_tiny_trsm},
    {"ungqr", lapack_orgqr, lapack_householder_product, NULL},
    {"unmqr", lapack_ormqr, plain_ormqr, NULL},
};

const struct kern_lapack_routine *kern_find_lapack(const char *name)
{
    for (size_t k = 0; k < COUNT_OF(routines); k++)
        if (strcmp(routines[k].name, name) == 0)
            return &routines[k];
    return NULL;
}

/* ---- batches ---- */

struct packed { /* an array with all items of the batch, one after the other */
    char *data;
    size_t step; /* bytes of one item; 0: all items share one */
    struct view view;
};

/* The type in which a routine computes on elements of type t. */
static enum dtype work_type(enum dtype t) { return dtype_is_float(t) && t != DT_F64 ? DT_F32 : t; }

/* Sets the array up at `data`; returns its size in bytes, a multiple of LAPACK_SMALL. */
static int64_t place(const struct kern_lapack_array *a, struct packed *p, char *data, fint *rows,
                     fint *columns)
{
    const struct view *v = a->in ? a->in : a->out;
    const enum dtype type = work_type(v->dtype);
    int64_t stride = (int64_t)dtype_bytes(type), batch = v->rank - a->rank;
    view_dense(&p->view, type, v->rank, v->dims, data);
    *rows = a->rank >= 1 ? (fint)v->dims[batch] : 1;
    *columns = a->rank == 2 ? (fint)v->dims[batch + 1] : 1;
    if (a->rank == 2) {
        p->view.strides[batch] = stride;
        p->view.strides[batch + 1] = stride * *rows;
    }
    p->step = a->shared ? 0 : (size_t)(stride * *rows * *columns);
    p->data = data;
    return round_up(view_elements(v) * stride, LAPACK_SMALL) + LAPACK_SMALL;
}

/* Sets up all arrays in a new workspace, with the contents of the operands. NULL: out of memory. */
static char *pack(const struct kern_lapack *call, struct packed *packed, struct lapack_item *it)
{
    int64_t bytes = 0;
    for (int k = 0; k < call->count; k++) {
        const struct kern_lapack_array *a = &call->arrays[k];
        packed[k].data = NULL;
        it->given[k] = a->in;
        if (a->in || a->out)
            bytes += place(a, &packed[k], NULL, &it->rows[k], &it->columns[k]);
    }
    char *workspace = mem_zalloc((size_t)bytes), *at = workspace;
    for (int k = 0; k < call->count && workspace; k++) {
        const struct kern_lapack_array *a = &call->arrays[k];
        if (a->in || a->out)
            at += place(a, &packed[k], at, &it->rows[k], &it->columns[k]);
        if (a->in)
            kern_convert_view(call->workers, &packed[k].view, a->in);
    }
    return workspace;
}

static int64_t batch_size(const struct kern_lapack *call)
{
    int64_t n = 1;
    for (int d = 0; d < call->batch_rank; d++)
        n *= call->batch[d];
    return n;
}

/* Whether there is anything to compute: a batch of empty matrices may be extremely long. */
static bool any_result(const struct kern_lapack *call)
{
    for (int k = 0; k < call->count; k++)
        if (call->arrays[k].out && view_elements(call->arrays[k].out) > 0)
            return true;
    return false;
}

/* A batch, whose items are distributed among threads in groups. */
struct batch {
    const struct kern_lapack *call;
    lapack_fn *run;
    const struct packed *packed;
    struct lapack_item *items; /* one for each worker */
};

static void run_item(const struct batch *b, struct lapack_item *it, int64_t number)
{
    const struct kern_lapack *call = b->call;
    for (int k = 0; k < call->count; k++) {
        const struct packed *p = &b->packed[k];
        it->x[k] = p->data ? p->data + (size_t)number * p->step : NULL;
    }
    it->info = 0;
    b->run(it);
    if (call->info >= 0 && it->x[call->info])
        *(fint *)it->x[call->info] = it->info;
}

static void run_group(void *context, int64_t from, int64_t to, int worker)
{
    const struct batch *b = context;
    for (int64_t i = from; i < to && !b->items[worker].no_memory; i++)
        run_item(b, &b->items[worker], i);
}

/* Number of items in a group: some tens of microseconds of work. */
static int64_t group_of(const struct packed *packed, int count)
{
    enum { GROUP_BYTES = 1 << 13 };
    size_t bytes = 1;
    for (int k = 0; k < count; k++)
        bytes += packed[k].step;
    return 1 + GROUP_BYTES / (int64_t)bytes;
}

/* Runs the batch with a copy of `first` for each worker; false: out of memory. */
static bool run_items(const struct kern_lapack *call, lapack_fn *run,
                      const struct lapack_item *first, const struct packed *packed)
{
    const int workers = thread_pool_size(call->workers);
    struct batch b = {.call = call, .run = run, .packed = packed};
    b.items = mem_alloc((size_t)workers * (sizeof *b.items + LAPACK_SMALL));
    if (!b.items)
        return false;
    char *answers = (char *)(b.items + workers);
    for (int w = 0; w < workers; w++) {
        b.items[w] = *first;
        b.items[w].work = answers + w * LAPACK_SMALL;
    }
    thread_pool_share(call->workers, batch_size(call), group_of(packed, call->count), run_group,
                      &b);
    bool ok = true;
    for (int w = 0; w < workers; w++) {
        ok = ok && !b.items[w].no_memory;
        if (b.items[w].work_size != -1)
            mem_free(b.items[w].work);
        mem_free(b.items[w].extra);
    }
    mem_free(b.items);
    return ok;
}

/* ---- batches of small matrices ---- */

struct tiny_batch {
    const struct kern_lapack *call;
    struct lapack_tiny first;
};

static void place_tiny(struct lapack_place *to, const struct view *v, int rank)
{
    if (v)
        *to = (struct lapack_place){v->data, rank > 0 ? v->strides[v->rank - rank] : 0,
                                    rank > 1 ? v->strides[v->rank - 1] : 0};
}

static void set_up_tiny(const struct kern_lapack *call, struct lapack_tiny *t)
{
    *t = (struct lapack_tiny){.type = call->type, .options = call->options};
    for (int k = 0; k < call->count; k++) {
        const struct kern_lapack_array *a = &call->arrays[k];
        const struct view *v = a->in ? a->in : a->out;
        place_tiny(&t->in[k], a->in, a->rank);
        place_tiny(&t->out[k], a->out, a->rank);
        t->rows[k] = v && a->rank > 0 ? (fint)v->dims[v->rank - a->rank] : 1;
        t->columns[k] = v && a->rank > 1 ? (fint)v->dims[v->rank - 1] : 1;
    }
}

static void run_tiny(const struct tiny_batch *b, int64_t number)
{
    const struct kern_lapack *call = b->call;
    struct lapack_tiny t = b->first;
    for (int k = 0; k < call->count; k++) {
        const struct kern_lapack_array *a = &call->arrays[k];
        if (a->in && !a->shared)
            t.in[k].at += lapack_offset(a->in, call->batch_rank, number);
        if (a->out && !a->shared)
            t.out[k].at += lapack_offset(a->out, call->batch_rank, number);
    }
    const fint info = call->routine->tiny(&t);
    if (call->info >= 0 && t.out[call->info].at)
        memcpy(t.out[call->info].at, &info, sizeof info);
}

static void run_tiny_group(void *context, int64_t from, int64_t to, int worker)
{
    for (int64_t i = from; i < to; i++)
        run_tiny(context, i);
}

/* Groups take some ten microseconds. */
static void run_tiny_batch(struct tiny_batch *b)
{
    enum { GROUP_WORK = 1 << 17 /* elements, times rows */ };
    const struct lapack_tiny *t = &b->first;
    int64_t elements = 64;
    for (int k = 0; k < b->call->count; k++)
        elements += t->rows[k] * t->columns[k];
    thread_pool_share(b->call->workers, batch_size(b->call),
                      GROUP_WORK / (elements * (t->rows[0] + 1)) + 1, run_tiny_group, b);
}

bool kern_lapack(const struct kern_lapack *call)
{
    struct packed packed[KERN_LAPACK_ARRAYS];
    struct tiny_batch tiny = {.call = call};
    struct lapack_item it = {.type = work_type(call->type),
                             .options = call->options,
                             .plain = call->plain,
                             .work_size = -1};
    const struct kern_lapack_routine *r = call->routine;
    if (!any_result(call))
        return true;
    set_up_tiny(call, &tiny.first);
    if (!call->plain && r->tiny && lapack_is_tiny(&tiny.first, call->count)) {
        run_tiny_batch(&tiny);
        return true;
    }
    char *workspace = pack(call, packed, &it);
    lapack_fn *run = !call->plain && blas_is_there() ? r->run : r->plain;
    const bool ok = workspace && run_items(call, run, &it, packed);
    for (int k = 0; k < call->count && ok; k++)
        if (call->arrays[k].out)
            kern_convert_view(call->workers, call->arrays[k].out, &packed[k].view);
    mem_free(workspace);
    return ok;
}
