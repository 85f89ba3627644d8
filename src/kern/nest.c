/*
 * nest.c: loops over several views at once (no kernel of its own).
 */
#include "kern/nest.h"

#include <stdlib.h>

void nest_init(struct nest *n, int count)
{
    n->rank = 0;
    n->count = count;
}

void nest_add(struct nest *n, int64_t dim, const int64_t *strides)
{
    n->dims[n->rank] = dim;
    for (int k = 0; k < n->count; k++)
        n->strides[k][n->rank] = strides[k];
    n->rank++;
}

static bool joins(const struct nest *n, int outer, int inner)
{
    for (int k = 0; k < n->count; k++)
        if (n->strides[k][outer] != n->strides[k][inner] * n->dims[inner])
            return false;
    return true;
}

static void set_dim(struct nest *n, int to, int from)
{
    n->dims[to] = n->dims[from];
    for (int k = 0; k < n->count; k++)
        n->strides[k][to] = n->strides[k][from];
}

void nest_move(struct nest *n, int from, int to)
{
    const int step = from < to ? 1 : -1;
    int64_t dim = n->dims[from], strides[NEST_MAX_VIEWS];
    for (int k = 0; k < n->count; k++)
        strides[k] = n->strides[k][from];
    for (int d = from; d != to; d += step)
        set_dim(n, d, d + step);
    n->dims[to] = dim;
    for (int k = 0; k < n->count; k++)
        n->strides[k][to] = strides[k];
}

void nest_add_sorted(struct nest *n, int64_t dim, const int64_t *strides, int by)
{
    int at = n->rank;
    while (at > 0 && llabs(n->strides[by][at - 1]) < llabs(strides[by]))
        at--;
    nest_add(n, dim, strides);
    nest_move(n, n->rank - 1, at);
}

void nest_merge(struct nest *n)
{
    int rank = 0;
    if (nest_points(n) == 0) {
        n->rank = 1;
        n->dims[0] = 0;
        return;
    }
    for (int d = 0; d < n->rank; d++) {
        if (n->dims[d] == 1)
            continue;
        if (rank > 0 && joins(n, rank - 1, d)) {
            int64_t outer = n->dims[rank - 1];
            set_dim(n, rank - 1, d);
            n->dims[rank - 1] *= outer;
        } else {
            set_dim(n, rank++, d);
        }
    }
    n->rank = rank;
}

int64_t nest_points(const struct nest *n) { return dims_elements(n->rank, n->dims); }

void nest_start(struct nest_walk *w, const struct nest *n, int rank, char *const *at)
{
    w->nest = n;
    w->rank = rank;
    memset(w->index, 0, sizeof *w->index * (size_t)rank);
    for (int k = 0; k < n->count; k++)
        w->at[k] = at[k];
}

void nest_start_from(struct nest_walk *w, const struct nest *n, int rank, char *const *at,
                     int64_t position)
{
    nest_start(w, n, rank, at);
    for (int d = rank - 1; d >= 0 && position > 0; d--) {
        w->index[d] = position % n->dims[d];
        position /= n->dims[d];
        for (int k = 0; k < n->count; k++)
            w->at[k] += w->index[d] * n->strides[k][d];
    }
}

bool nest_step(struct nest_walk *w)
{
    const struct nest *n = w->nest;
    for (int d = w->rank - 1; d >= 0; d--) {
        if (++w->index[d] < n->dims[d]) {
            for (int k = 0; k < n->count; k++)
                w->at[k] += n->strides[k][d];
            return true;
        }
        w->index[d] = 0;
        for (int k = 0; k < n->count; k++)
            w->at[k] -= n->strides[k][d] * (n->dims[d] - 1);
    }
    return false;
}
