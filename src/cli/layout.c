/*
 * Layered layout: rows by longest paths, order by barycenters, coordinates by least squares.
 */
#include "cli/layout.h"

#include <math.h>
#include <stdlib.h>

enum {
    SWEEPS = 12,     /* of which the later ones consider rows on both sides */
    NODE_SPACE = 16, /* between neighbors in a row */
    WIRE_SPACE = 9,
    SINK_DEPTH = 8,
    MAX_NODES = 20, /* of a row */
    LONG = 8,       /* edges of a shorter reach may become far */
    MIN_GAP = 26,   /* between rows */
    MAX_GAP = 90
};

/* ---- rows ---- */

struct sinking {        /* a node that may move down */
    size_t users;       /* number of edges */
    size_t edges;       /* the first edge to the node */
    size_t first, last; /* rows above the first and the last user */
};

/* The number of wires that get longer if a node moves down to a row. An operand without other users
 * moves too, then the wires of its operands get longer, which are followed to some depth. */
static size_t count_longer(const struct layout *l, const struct sinking *s, size_t n, size_t row,
                           int depth)
{
    size_t longer = 0;
    for (size_t e = s[n].edges; e < s[n + 1].edges && longer < 2; e++) {
        const size_t from = l->edges[e].from;
        if (from >= n || l->edges[e].reach < LONG)
            continue;
        if (s[from].users > 1 || depth == 0 || row == 0)
            longer += s[from].last + 1 < row;
        else
            longer += count_longer(l, s, from, row - 1, depth - 1) > 0;
    }
    return longer;
}

/* Moves nodes down to the first of their users, unless more than the wire that becomes shorter get
 * longer. */
static void sink_nodes(struct layout *l, struct sinking *s)
{
    for (size_t n = l->node_count; n-- > 0;) {
        if (s[n].users > 0 && count_longer(l, s, n, s[n].first, SINK_DEPTH) <= 1)
            l->nodes[n].row = s[n].first;
        for (size_t e = s[n].edges; e < s[n + 1].edges; e++) {
            struct sinking *operand = &s[l->edges[e].from];
            const size_t row = l->nodes[n].row - 1;
            if (l->edges[e].from >= n)
                continue;
            operand->first = operand->first < row ? operand->first : row;
            operand->last = operand->last > row ? operand->last : row;
        }
    }
}

/* Splits rows of many nodes; each of the new rows has the next nodes. */
static void split_rows(struct layout *l)
{
    size_t *counts = heap_zalloc(l->node_count + 1, sizeof *counts), first = 0;
    SCOPED_HEAP size_t *firsts = heap_zalloc(l->node_count + 1, sizeof *firsts);
    for (size_t n = 0; n < l->node_count; n++)
        counts[l->nodes[n].row]++;
    for (size_t r = 0; r < l->node_count && counts[r] > 0; r++) {
        firsts[r] = first * MAX_NODES;
        first += (counts[r] + MAX_NODES - 1) / MAX_NODES;
    }
    for (size_t n = 0; n < l->node_count; n++)
        l->nodes[n].row = firsts[l->nodes[n].row]++ / MAX_NODES;
    heap_free(counts);
}

void layout_rank(struct layout *l)
{
    SCOPED_HEAP struct sinking *s = heap_zalloc(l->node_count + 1, sizeof *s);
    for (size_t n = 0, e = 0; n <= l->node_count; n++) {
        s[n].first = SIZE_MAX;
        s[n].edges = e;
        if (n < l->node_count)
            l->nodes[n].row = 0;
        for (; e < l->edge_count && l->edges[e].to == n; e++) {
            const size_t from = l->edges[e].from;
            if (from >= n)
                continue;
            s[from].users++;
            if (l->nodes[n].row <= l->nodes[from].row)
                l->nodes[n].row = l->nodes[from].row + 1;
        }
    }
    sink_nodes(l, s);
    split_rows(l);
    for (size_t e = 0; e < l->edge_count; e++) {
        struct layout_edge *edge = &l->edges[e];
        edge->far = edge->from >= edge->to ||
                    l->nodes[edge->to].row - l->nodes[edge->from].row > edge->reach;
    }
}

/* ---- cells and links ---- */

/* For each node, the last row that its wire passes; its own row if it has none. */
static size_t *wire_ends(const struct layout *l)
{
    size_t *ends = heap_alloc((l->node_count + 1) * sizeof *ends);
    for (size_t n = 0; n < l->node_count; n++)
        ends[n] = l->nodes[n].row;
    for (size_t e = 0; e < l->edge_count; e++) {
        const struct layout_edge *edge = &l->edges[e];
        if (!edge->far && ends[edge->from] < l->nodes[edge->to].row - 1)
            ends[edge->from] = l->nodes[edge->to].row - 1;
    }
    return ends;
}

/* Counts and allocates cells and links of each row. */
static void make_rows(struct layout *l, const size_t *ends)
{
    for (size_t n = 0; n < l->node_count; n++)
        l->row_count = l->row_count > l->nodes[n].row ? l->row_count : l->nodes[n].row + 1;
    l->rows = ARENA_ARRAY(l->arena, struct layout_row, l->row_count);
    for (size_t n = 0; n < l->node_count; n++)
        for (size_t r = l->nodes[n].row; r <= ends[n]; r++) {
            l->rows[r].count++;
            l->rows[r].link_count += r > l->nodes[n].row;
        }
    for (size_t e = 0; e < l->edge_count; e++)
        l->rows[l->nodes[l->edges[e].to].row].link_count += !l->edges[e].far;
    for (size_t r = 0; r < l->row_count; r++) {
        struct layout_row *row = &l->rows[r];
        row->cells = ARENA_ARRAY(l->arena, struct layout_cell *, row->count);
        row->links = ARENA_ARRAY(l->arena, struct layout_link, row->link_count);
        row->count = row->link_count = 0;
    }
}

static void add_link(struct layout_row *row, struct layout_cell *from, struct layout_cell *to,
                     double port)
{
    row->links[row->link_count++] = (struct layout_link){from, to, port};
    from->linked = true;
}

/* Adds a node and its wire; returns their cells, in the order of rows. */
static struct layout_cell *add_cells(struct layout *l, size_t n, size_t end)
{
    const size_t first = l->nodes[n].row;
    struct layout_cell *cells = ARENA_ARRAY(l->arena, struct layout_cell, end - first + 1);
    for (size_t r = first; r <= end; r++) {
        struct layout_cell *c = &cells[r - first];
        struct layout_row *row = &l->rows[r];
        *c = (struct layout_cell){.node = n, .wire = r > first, .row = r};
        c->width = c->wire ? 0 : l->nodes[n].width;
        row->cells[row->count++] = c;
        if (c->wire)
            add_link(row, c - 1, c, 0);
        else if (row->height < l->nodes[n].height)
            row->height = l->nodes[n].height;
    }
    return cells;
}

static void make_cells(struct layout *l)
{
    SCOPED_HEAP size_t *ends = wire_ends(l);
    SCOPED_HEAP struct layout_cell **cells = heap_zalloc(l->node_count + 1, sizeof *cells);
    make_rows(l, ends);
    for (size_t n = 0; n < l->node_count; n++)
        cells[n] = add_cells(l, n, ends[n]);
    for (size_t e = 0; e < l->edge_count; e++) {
        const struct layout_edge *edge = &l->edges[e];
        const size_t row = l->nodes[edge->to].row;
        if (!edge->far)
            add_link(&l->rows[row], cells[edge->from] + (row - 1 - l->nodes[edge->from].row),
                     cells[edge->to], edge->port);
    }
}

/* ---- coordinates ---- */

static void pull(struct layout_cell *c, double to, double weight)
{
    c->target += to * weight;
    c->weight += weight;
}

/* Adds the positions that make the links above a row straight, for its cells, or for those of the
 * row above. */
static void pull_row(const struct layout_row *row, bool upper)
{
    for (size_t k = 0; k < row->link_count; k++) {
        const struct layout_link *link = &row->links[k];
        const double offset = link->port * link->to->width;
        const double weight = link->from->wire ? (link->to->wire ? 4 : 2) : 1;
        if (upper)
            pull(link->from, link->to->x + offset, weight);
        else
            pull(link->to, link->from->x - offset, weight);
    }
}

/* Sets the targets of the cells of a row: the mean of the positions that make the links above or
 * below straight, and of the middle of the picture. Without the middle tall graphs would be drawn
 * along a diagonal, since an edge is straight if its node is beside that of the port. */
static void pull_cells(struct layout *l, size_t row, bool above, bool below)
{
    const struct layout_row *r = &l->rows[row];
    const double middle = fmin(0.1, 3e-4 * (double)l->row_count);
    for (size_t k = 0; k < r->count; k++) {
        r->cells[k]->target = 0;
        r->cells[k]->weight = middle;
    }
    if (above)
        pull_row(r, false);
    if (below && row + 1 < l->row_count)
        pull_row(r + 1, true);
    for (size_t k = 0; k < r->count; k++)
        r->cells[k]->target /= r->cells[k]->weight;
}

static int by_target(const void *a, const void *b)
{
    const struct layout_cell *x = *(struct layout_cell *const *)a;
    const struct layout_cell *y = *(struct layout_cell *const *)b;
    if (x->target != y->target)
        return x->target < y->target ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* Orders a row by the positions of the users in the next row; cells without users there keep their
 * place. */
static void sort_row(struct layout *l, size_t row)
{
    const struct layout_row *r = &l->rows[row], *next = row + 1 < l->row_count ? r + 1 : r;
    for (size_t k = 0; k < r->count; k++) {
        r->cells[k]->target = r->cells[k]->weight = 0;
        pull(r->cells[k], next->cells[k * next->count / r->count]->x, 1e-9);
    }
    if (next > r)
        pull_row(next, true);
    for (size_t k = 0; k < r->count; k++)
        r->cells[k]->target /= r->cells[k]->weight;
    qsort(r->cells, r->count, sizeof *r->cells, by_target);
}

static double distance(const struct layout_cell *a, const struct layout_cell *b)
{
    return (a->width + b->width) / 2 + (a->wire && b->wire ? WIRE_SPACE : NODE_SPACE);
}

/* Cells that touch each other. */
struct block {
    size_t first;
    double at, weight; /* of the left end of the row, had it only these cells */
};

/* Places the cells of a row at their targets, as far as there is space: the sum of weighted squares
 * of the differences is minimal. */
static void place_row(struct layout_row *r, struct block *blocks)
{
    size_t count = 0;
    double offset = 0;
    for (size_t k = 0; k < r->count; k++) {
        struct layout_cell *c = r->cells[k];
        offset += k > 0 ? distance(r->cells[k - 1], c) : 0;
        c->x = offset;
        struct block b = {k, c->target - offset, c->weight};
        for (; count > 0 && blocks[count - 1].at >= b.at; count--) {
            const struct block *left = &blocks[count - 1];
            const double weight = left->weight + b.weight;
            b = (struct block){left->first, (left->at * left->weight + b.at * b.weight) / weight,
                               weight};
        }
        blocks[count++] = b;
    }
    for (size_t b = 0, k = 0; b < count; b++)
        for (; k < (b + 1 < count ? blocks[b + 1].first : r->count); k++)
            r->cells[k]->x += blocks[b].at;
}

/* Moves everything to the right of 0, and determines the width and the space between rows. */
static void measure(struct layout *l)
{
    double left = HUGE_VAL;
    l->width = 0;
    for (size_t r = 0; r < l->row_count; r++) {
        const struct layout_cell *first = l->rows[r].cells[0];
        left = fmin(left, first->x - first->width / 2);
    }
    for (size_t r = 0; r < l->row_count; r++) {
        struct layout_row *row = &l->rows[r];
        double span = 0;
        for (size_t k = 0; k < row->count; k++) {
            row->cells[k]->x -= left;
            l->width = fmax(l->width, row->cells[k]->x + row->cells[k]->width / 2);
        }
        for (size_t k = 0; k < row->link_count; k++)
            span = fmax(span, fabs(row->links[k].to->x - row->links[k].from->x));
        row->gap = r > 0 ? fmin(MAX_GAP, floor(MIN_GAP + span / 12)) : 0;
    }
}

/* The first sweep, from the last row up, determines the order of each row: operands are ordered by
 * the positions of their users. HLO is much like trees of operands; sweeps that change the order
 * again do not reduce the number of crossings. */
void layout_place(struct layout *l)
{
    size_t widest = 0;
    make_cells(l);
    for (size_t r = 0; r < l->row_count; r++)
        widest = l->rows[r].count > widest ? l->rows[r].count : widest;
    SCOPED_HEAP struct block *blocks = heap_zalloc(widest + 1, sizeof *blocks);
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        const bool down = sweep % 2, both = sweep > SWEEPS / 2;
        for (size_t k = 0; k < l->row_count; k++) {
            const size_t r = down ? k : l->row_count - 1 - k;
            if (sweep == 0)
                sort_row(l, r);
            pull_cells(l, r, down || both, !down || both);
            place_row(&l->rows[r], blocks);
        }
    }
    measure(l);
}
