/*
 * look: presentation of values: statistics, slices, abbreviated text, JSON, pictures, and
 * differences of two values.
 *
 * It is the only component below the public interface that includes hlo_advanced.h, for the structs
 * of presentation options. Literals are those of ir; functions neither keep nor modify them.
 */
#ifndef HLO_LOOK_H
#define HLO_LOOK_H

#include "base/base.h"
#include "diag/diag.h"
#include "hlo_advanced.h"
#include "ir/ir.h"
#include "type/type.h"

/* ---- element.c: elements as numbers ---- */

/* An element as a double: the absolute value of a complex number, NaN if a part is NaN. */
double look_number(enum dtype t, const void *p);
/* The same for `count` consecutive elements. */
void look_numbers(enum dtype t, const void *from, size_t count, double *to);
/* Writes the index, {1,2}, of element `at` in row-major order. */
void look_put_index(struct buf *out, const struct shape *s, int64_t at);
/* Writes the bits of an element: " (0x3f800000)". */
void look_put_bits(struct buf *out, enum dtype t, const void *p);

/* ---- stats.c ---- */

/* Statistics over all elements of a value; see struct hlo_stats. */
struct hlo_stats look_stats(const struct literal *l);
/* "f32[4096] min -1.2 max 3.4 mean 0.01 nan 0 inf 0"; for a single element, its value. */
void look_put_summary(struct buf *out, const struct literal *l);
/* The same without the shape. */
void look_put_stats(struct buf *out, enum dtype t, const struct hlo_stats *s);
/* All statistics as a JSON object. */
void look_put_stats_json(struct buf *out, const struct hlo_stats *s);

/* ---- digest.c ---- */

/* Adds the types and elements of a value, but not its dimensions, to the digest `d`, which is
 * initially 0. */
void look_digest(const struct literal *l, uint64_t d[2]);

/* ---- sketch.c ---- */

/* Summary of a value, by which equal values are recognized whatever their dimensions. */
struct look_sketch {
    uint64_t digest[2];
    uint64_t numbers;        /* elements; a complex one counts twice */
    double sums[4], largest; /* largest: finite magnitude */
    double powers[3];        /* sums of powers of elements, in any order */
    double clipped[2];       /* sums of elements clipped to 2^scale and 2^(scale + 1) */
    int scale;
    bool combined; /* several sketches were added, and `clipped` is not meaningful */
    /* Bits by which it differs from a constant or an arithmetic progression; not counted further
     * than LOOK_INFORMATION. */
    unsigned information;
    enum dtype dtype; /* of the last leaf */
};
enum { LOOK_INFORMATION = 20 };
struct look_sketch look_sketch(const struct literal *l);
/* Whether the values are bitwise equal, or floats that agree approximately within the tolerance,
 * relative to the largest element. NULL: they are bitwise equal. */
bool look_sketches_agree(const struct look_sketch *a, const struct look_sketch *b,
                         const struct hlo_tolerance *t);
/* Whether the elements agree in some order, as those of a transposed array. */
bool look_sketches_permuted(const struct look_sketch *a, const struct look_sketch *b,
                            const struct hlo_tolerance *t);

/* ---- slice.c ---- */

/* Returns a new literal in the arena, as literal_new does; NULL with the problem in `why`. */
struct literal *look_slice(struct arena *a, const struct literal *l, struct str text,
                           struct buf *why);

/* ---- show.c, json.c ---- */

/* A receiver of text in pieces. */
struct look_sink {
    bool (*put)(void *context, const char *text, size_t size);
    void *context;
    bool stopped; /* `put` returned false; the rest of the text may be incomplete */
};
/* Moves the text to the sink if it is long, except for its last byte, which separators depend on.
 * Returns the number of bytes moved. */
size_t look_drain(struct buf *out, struct look_sink *to);
/* Writes a value as text for people; look_json writes it as JSON. `to`: receives all but the end of
 * the text; NULL: `out` has all of it. */
void look_show(struct buf *out, const struct literal *l, const struct hlo_view *v,
               struct look_sink *to);
/* Writes one element in the form that the view selects. */
void look_put_element(struct buf *out, enum dtype t, const void *p, const struct hlo_view *v);
void look_json(struct buf *out, const struct literal *l, const struct hlo_view *v,
               struct look_sink *to);

/* ---- grid.c: the part of an array that a picture shows, averaged in blocks ---- */

/* The last two dimensions of an array, at index 0 of the others. */
struct look_plane {
    /* The array; the first one of a tuple; NULL: none, or empty. */
    const struct literal *of;
    int64_t rows, columns;
};
/* The plane of a value that pictures show. */
struct look_plane look_plane_of(const struct literal *l);
enum look_mark { LOOK_FINITE, LOOK_INF, LOOK_NAN };
struct look_grid {
    size_t rows, columns;
    double *mean;        /* row-major: mean of the finite elements of each block; NaN: none */
    unsigned char *mark; /* the highest enum look_mark of its elements */
    double low, high;    /* range of the means; NaN: none */
};
/* Divides the plane into blocks, at most `rows` by `columns` of them. */
void look_grid_fill(struct look_grid *g, const struct look_plane *p, size_t rows, size_t columns);
void look_grid_free(struct look_grid *g);
/* The position of `v` between `low` and `high`, which must be finite: 0 to 1; 0.5 if they are
 * equal. */
double look_part(double v, double low, double high);

/* ---- plot.c, curve.c, png.c ---- */

/* Draws a value as a heat map, curve or histogram; HLO_PLOT_AUTO selects the kind by its shape. */
void look_plot(struct buf *out, const struct literal *l, enum hlo_plot kind,
               const struct hlo_canvas *c);
/* All members of the canvas must be set. */
void look_histogram(struct buf *out, const struct literal *l, const struct hlo_canvas *c);
void look_curve(struct buf *out, const struct look_plane *p, const struct hlo_canvas *c);
/* Writes the first and last index, below the ends of columns of this width. */
void look_put_ends(struct buf *out, int64_t last, size_t width);
/* False with a message. */
bool look_png(struct diags *ds, const char *path, const struct literal *l);

/* ---- compare.c ---- */

/* Whether two values agree within the tolerance; otherwise `why` describes the first difference,
 * both elements there and the largest errors. */
bool look_compare(const struct literal *actual, const struct literal *expected,
                  const struct hlo_tolerance *t, struct buf *why);
/* Computes statistics of the difference; `comparable` is false if the shapes differ. */
void look_difference(const struct literal *actual, const struct literal *expected,
                     const struct hlo_tolerance *t, struct hlo_difference *out);
/* The usual relative error of computations in a type. */
double look_usual_error(enum dtype t);
/* The difference as text, and as a JSON object. */
void look_put_difference(struct buf *out, const struct hlo_difference *d,
                         const struct literal *actual, const struct literal *expected,
                         const char *const names[2]);
/* The same without the counts: the worst elements and the histogram. */
void look_put_difference_table(struct buf *out, const struct hlo_difference *d,
                               const struct literal *a, const struct literal *b,
                               const char *const names[2]);
void look_put_difference_json(struct buf *out, const struct hlo_difference *d);

#endif
