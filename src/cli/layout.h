/*
 * Layered layout of a directed acyclic graph, from top to bottom: nodes are in rows, an edge leads
 * from a row to a later one, and passes the rows in between as a wire. The edges of one node share
 * its wire.
 */
#ifndef HLO_CLI_LAYOUT_H
#define HLO_CLI_LAYOUT_H

#include "base/base.h"

struct layout_node {
    double width, height; /* set before layout_place */
    size_t row;           /* set by layout_rank */
};
struct layout_edge {
    size_t from, to;
    size_t reach; /* longest distance in rows that is routed */
    /* Where it ends at the top of `to`, as a part of the width: -0.5 is the left corner. */
    double port;
    bool far; /* set by layout_rank: not routed */
};
struct layout_cell { /* a node, or the wire of a node in one row */
    size_t node;
    bool wire, linked; /* linked: to the next row */
    double x, width;   /* center */
    size_t row;
    double target, weight;
};
struct layout_link { /* a part of an edge, between consecutive rows */
    struct layout_cell *from, *to;
    double port;
};
struct layout_row {
    struct layout_cell **cells; /* from left to right */
    size_t count;
    struct layout_link *links; /* from the row above */
    size_t link_count;
    double height, gap; /* of the highest node; space above the row */
};
struct layout {
    struct arena *arena; /* of the results */
    struct layout_node *nodes;
    size_t node_count;
    /* Sorted by `to`. Edges with from >= to are not routed. */
    struct layout_edge *edges;
    size_t edge_count;
    struct layout_row *rows;
    size_t row_count;
    double width; /* x is from 0 to width */
};

/* Assigns nodes to rows, as close to their neighbors as possible, and marks far edges. */
void layout_rank(struct layout *l);
/* Orders the nodes and wires of each row, with few crossings, and determines coordinates. The time
 * is proportional to the number of nodes and edges times their reach, up to a logarithm. */
void layout_place(struct layout *l);

#endif
