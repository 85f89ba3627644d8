/*
 * look: values as people look at them: statistics, slices, abridged text, JSON, pictures, and how
 * two values differ.
 *
 * It is the one room below the public interface that includes hlo_advanced.h, for the structs that
 * say how values are shown. Literals are those of ir; nothing here keeps or changes one.
 */
#ifndef HLO_LOOK_H
#define HLO_LOOK_H

#include "base/base.h"
#include "diag/diag.h"
#include "hlo_advanced.h"
#include "ir/ir.h"
#include "type/type.h"

/* ---- element.c: one element as a number ---- */

/* An element as a double: of a complex number the absolute value, NaN when a part is NaN. */
double look_number(enum dtype t, const void *p);
/* The same of `count` elements in a row. */
void look_numbers(enum dtype t, const void *from, size_t count, double *to);
/* Writes the index of element `at`, counted in row-major order: {1,2}. */
void look_put_index(struct buf *out, const struct shape *s, int64_t at);
/* Writes the bits of an element: " (0x3f800000)". */
void look_put_bits(struct buf *out, enum dtype t, const void *p);
/* Writes a number with so many digits, or nan or inf. */
void look_put_number(struct buf *out, double v, int digits);

/* ---- stats.c ---- */

struct hlo_stats look_stats(const struct literal *l);
/* "f32[4096] min -1.2 max 3.4 mean 0.01 nan 0 inf 0"; the value itself when it is one element. */
void look_put_summary(struct buf *out, const struct literal *l);
/* The same without the shape. */
void look_put_stats(struct buf *out, enum dtype t, const struct hlo_stats *s);
/* All statistics as a JSON object. */
void look_put_stats_json(struct buf *out, const struct hlo_stats *s);

/* ---- digest.c ---- */

/* Adds a value to the digest in `d`, which is 0 at first. */
void look_digest(const struct literal *l, uint64_t d[2]);

/* ---- slice.c ---- */

/* A new literal in the arena, as literal_new makes it; NULL, and what is wrong in `why`. */
struct literal *look_slice(struct arena *a, const struct literal *l, struct str text,
                           struct buf *why);

/* ---- show.c, json.c ---- */

void look_show(struct buf *out, const struct literal *l, const struct hlo_view *v);
/* One element, in the form that a view asks for. */
void look_put_element(struct buf *out, enum dtype t, const void *p, const struct hlo_view *v);
void look_json(struct buf *out, const struct literal *l, const struct hlo_view *v);

/* ---- grid.c: the part of an array that a picture shows, averaged by blocks ---- */

/* The last two dimensions of an array, at index 0 of the others. */
struct look_plane {
    const struct literal
        *of; /* the array; the first one of a tuple. NULL: there is none, or it is empty */
    int64_t rows, columns;
};
struct look_plane look_plane_of(const struct literal *l);
enum look_mark { LOOK_FINITE, LOOK_INF, LOOK_NAN };
struct look_grid {
    size_t rows, columns;
    double *mean; /* row-major: the mean of the finite elements of each block; NaN if it has none */
    unsigned char *mark; /* the greatest enum look_mark of its elements */
    double low, high;    /* the least and the greatest mean; NaN: there are none */
};
/* Divides the plane into blocks, at most so many rows and columns of them. */
void look_grid_fill(struct look_grid *g, const struct look_plane *p, size_t rows, size_t columns);
void look_grid_free(struct look_grid *g);
/* Where `v` lies between `low` and `high`, any finite numbers: 0 to 1; 0.5 when they are equal. */
double look_part(double v, double low, double high);

/* ---- plot.c, curve.c, png.c ---- */

void look_plot(struct buf *out, const struct literal *l, enum hlo_plot kind,
               const struct hlo_canvas *c);
void look_histogram(struct buf *out, const struct literal *l,
                    const struct hlo_canvas *c); /* complete canvas */
void look_curve(struct buf *out, const struct look_plane *p, const struct hlo_canvas *c);
/* False with a message. */
bool look_png(struct diags *ds, const char *path, const struct literal *l);

/* ---- compare.c ---- */

/* Whether two values agree; else `why` says where they first differ, both elements there and the
 * worst errors. */
bool look_compare(const struct literal *actual, const struct literal *expected,
                  const struct hlo_tolerance *t, struct buf *why);
void look_difference(const struct literal *actual, const struct literal *expected,
                     const struct hlo_tolerance *t, struct hlo_difference *out);
/* The difference in lines for people, and as a JSON object. */
void look_put_difference(struct buf *out, const struct hlo_difference *d,
                         const struct literal *actual, const struct literal *expected,
                         const char *const names[2]);
void look_put_difference_json(struct buf *out, const struct hlo_difference *d);

#endif
