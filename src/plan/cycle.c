/*
 * cycle.c: detects, while a loop runs, that its state repeats, so that the loop cannot end.
 *
 * The state after one iteration is recorded, and the states after the following iterations are
 * compared with it. Once a state repeats, the loop repeats it forever, so sparse checks suffice: a
 * few iterations after every 2^n, at a negligible cost. The number of iterations compared grows
 * with n, so a cycle of any period is found eventually.
 *
 * States are compared by digests, at first of a few elements of each array. When these are equal,
 * digests of all elements are recorded and compared.
 */
#include "plan/plan.h"

enum { SAMPLE = 8 }; /* elements of an array in the first digest */

/* ---- digests ---- */

static void digest_word(struct cycle_digest *d, uint64_t word)
{
    const uint64_t sum = d->sum + word * 0xc2b2ae3d27d4eb4f;
    d->product = (d->product ^ word) * 0x9e3779b97f4a7c15;
    d->product ^= d->product >> 29;
    d->sum = (sum << 31 | sum >> 33) * 0x9e3779b185ebca87;
}

static void digest_element(struct cycle_digest *d, const char *at, size_t size)
{
    uint64_t words[2] = {0, 0};
    switch (size) {
    case 1: memcpy(words, at, 1); break;
    case 2: memcpy(words, at, 2); break;
    case 4: memcpy(words, at, 4); break;
    case 8: memcpy(words, at, 8); break;
    default: memcpy(words, at, 16); digest_word(d, words[1]);
    }
    digest_word(d, words[0]);
}

static const char *element(const struct view *v, bool dense, int64_t k)
{
    const char *at = v->data;
    if (dense)
        return at + k * (int64_t)dtype_bytes(v->dtype);
    for (int d = v->rank - 1; d >= 0; d--) {
        at += k % v->dims[d] * v->strides[d];
        k /= v->dims[d];
    }
    return at;
}

static void digest_view(struct cycle_digest *d, const struct view *v, int64_t max)
{
    const int64_t n = view_elements(v), count = n < max ? n : max;
    const bool dense = view_is_dense(v);
    for (int k = 0; k < v->rank; k++)
        digest_word(d, (uint64_t)v->dims[k]);
    const int64_t step = count > 0 ? n / count : 0;
    const size_t size = dtype_bytes(v->dtype);
    for (int64_t k = 0; k < count; k++)
        digest_element(d, element(v, dense, k * step), size);
}

/* Digest of at most `max` elements of each array. */
static struct cycle_digest digest(const struct cycle *c, int64_t max)
{
    struct cycle_digest d = {0, 0};
    for (int k = 0; k < c->part_count; k++) {
        struct view made;
        digest_view(&d, scalar_locate(&c->parts[k], &made), max);
    }
    return d;
}

/* Whether the digest of at most `max` elements per array equals the recorded one. */
static bool is_noted(const struct cycle *c, int64_t max)
{
    const struct cycle_digest d = digest(c, max);
    return d.sum == c->noted.sum && d.product == c->noted.product;
}

/* ---- visits of iterations ---- */

/* Resets the detection: before a new run of the loop, and after an iteration without a visit. */
static void forget(struct cycle *c) { c->mode = CYCLE_FORGOTTEN; }

static void note(struct cycle *c)
{
    c->noted = digest(c, SAMPLE);
    c->passed = 0;
    c->mode = CYCLE_NOTED;
}

static void compare(struct cycle *c)
{
    c->passed++;
    if (!is_noted(c, SAMPLE))
        return;
    c->noted = digest(c, INT64_MAX);
    c->left = c->passed;
    c->mode = CYCLE_SUSPECTED;
}

bool cycle_visit(struct cycle *c)
{
    switch (c->mode) {
    case CYCLE_FORGOTTEN: note(c); return false;
    case CYCLE_NOTED: compare(c); return false;
    default: c->left--; return is_noted(c, INT64_MAX);
    }
}

/* ---- schedule of visits: a loop whose iterations are counted ---- */

enum {
    FIRST_VISIT = 4, /* iterations before the first visit */
    MIN_VISITS = 3,  /* consecutive visits */
    LOG_SHARE = 10   /* log2 of the ratio of iterations to visits, for large counts */
};

bool cycle_is_due(struct cycle_clock *k, struct cycle *c)
{
    k->iterations++;
    if (k->iterations == (k->next ? k->next : FIRST_VISIT)) {
        k->next = 2 * k->iterations;
        k->visits = k->iterations >> LOG_SHARE;
        if (k->visits < MIN_VISITS)
            k->visits = MIN_VISITS;
        forget(c);
    }
    if (k->visits == 0)
        return c->mode == CYCLE_SUSPECTED && c->left > 0;
    k->visits--;
    return true;
}

/* ---- schedule of visits: loops of scalar code ---- */

enum {
    FIRST_POLL = 4, /* budget slices before the first visit: short programs are not slowed down */
    VISITS_PER_SLICE = 2 /* visits per budget slice that has passed */
};

static void forget_all(struct cycle_monitor *m)
{
    for (int k = 0; k < m->count; k++)
        forget(&m->cycles[k]);
}

/* Resets the loops nested in this one, which start a new run. */
static void forget_inner(struct cycle_monitor *m, const struct cycle *loop)
{
    for (int k = loop->first_inner; k < loop->number; k++)
        forget(&m->cycles[k]);
}

void cycle_monitor_begin(struct cycle_monitor *m)
{
    m->slices = m->visits = 0;
    m->next = FIRST_POLL;
}

bool cycle_poll(struct cycle_monitor *m, struct budget *b, struct cycle *loop)
{
    const uint64_t left = budget_left(b);
    if (m->visits == 0) {
        if (++m->slices < m->next)
            return false;
        m->next = 2 * m->slices;
        m->visits = VISITS_PER_SLICE * m->slices;
        forget_all(m);
        /* other loops have consumed steps, so jumps may have been missed */
    } else if (left + 1 != m->left) {
        forget_all(m);
    }
    m->left = left;
    if (--m->visits > 0)
        budget_end_slice(b);
    if (!loop)
        return false;
    forget_inner(m, loop);
    return loop->termination && cycle_visit(loop);
}
