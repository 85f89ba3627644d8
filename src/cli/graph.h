/*
 * hlo graph: what is drawn, and the formats of pictures.
 */
#ifndef HLO_CLI_GRAPH_H
#define HLO_CLI_GRAPH_H

#include "cli/layout.h"
#include "cli/listed.h"

enum graph_format { GRAPH_DOT, GRAPH_SVG, GRAPH_HTML };

struct graph {
    const struct listed_module *l;
    bool *shown; /* by instruction */
    long around; /* center of the neighborhood; -1: show all */
    /* By instruction: statistics of the last value in a run; NULL: no --values. */
    struct hlo_stats *stats;
    enum graph_format format;
    struct buf out;
};

/* Writes a single element as its value, otherwise the range; then the number of NaN and
 * infinities. Each begins with `line`. */
void graph_put_stats(struct buf *out, const struct hlo_stats *s, const char *line);

/* ---- graph_box.c: computations as boxes, in the nodes of their callers ---- */

struct label_line {
    const char *style; /* of the name, the shape ... */
    struct str text;
    const char *link; /* prefix of the anchor that the line refers to; NULL: none */
    size_t number;
};
struct label {
    struct label_line *lines;
    size_t count, capacity;
    double width, height;
};
struct box { /* a computation with an instruction that is shown */
    struct layout layout;
    size_t *insts;              /* by node */
    double width, height, x, y; /* x, y: on the page, unless nested */
    unsigned depth;             /* 1, or 1 more than the boxes in it */
    bool nested;                /* drawn in the node of its caller */
    struct box *next;           /* in the same node */
};
struct picture {
    struct graph *g;
    struct arena arena;
    struct box *boxes;    /* by computation */
    struct label *labels; /* by instruction */
    struct box **nested;  /* the boxes in a node, by instruction */
    size_t *nodes;        /* the node of each instruction in the layout of its box */
    size_t *outer;        /* the boxes that are not nested, the entry first */
    size_t outer_count;
    double width, height;
};
enum {
    BOX_TITLE = 20, /* height of the name of a box */
    BOX_PAD = 10,   /* space around its nodes, and between boxes */
    LABEL_LINE = 14,
    LABEL_PAD = 8
};

void picture_init(struct picture *p, struct graph *g);
void picture_free(struct picture *p);

/* ---- graph_svg.c ---- */

/* Writes an SVG document, or an HTML page with the picture in which boxes can be folded. */
void graph_put_svg(struct graph *g);

#endif
