/*
 * look: values as people look at them. Statistics, slices, print that leaves things out, JSON, pictures, and how two values
 * differ.
 *
 * It is the one room below the public interface that includes hlo.h: of it the structs that say how a value is seen.
 * Literals are those of ir; nothing here keeps or changes one.
 */
#ifndef HLO_LOOK_H
#define HLO_LOOK_H

#include "base/base.h"
#include "diag/diag.h"
#include "hlo.h"
#include "ir/ir.h"
#include "type/type.h"

/* ---- element.c: one element as a number ---- */

/* Of complex numbers the absolute value, NaN when a part is. */
double look_number(enum dtype t, const void *p);
/* `count` elements in a row. */
void look_numbers(enum dtype t, const void *from, size_t count, double *to);
/* {1,2} of element `at` in row-major order. */
void look_put_index(struct buf *out, const struct shape *s, int64_t at);
/* " (0x3f800000)" */
void look_put_bits(struct buf *out, enum dtype t, const void *p);
/* A number to so many digits, nan and inf among them. */
void look_put_number(struct buf *out, double v, int digits);

/* ---- stats.c ---- */

struct hlo_stats look_stats(const struct literal *l);
/* "f32[4096] min -1.2 max 3.4 mean 0.01 nan 0 inf 0"; of one element its value. */
void look_put_summary(struct buf *out, const struct literal *l);
/* The same without the shape. */
void look_put_stats(struct buf *out, enum dtype t, const struct hlo_stats *s);
/* All of it, as an object. */
void look_put_stats_json(struct buf *out, const struct hlo_stats *s);

/* ---- slice.c ---- */

/* NULL, and what is wrong in `why`. A literal of its own in the arena, as literal_new makes it. */
struct literal *look_slice(struct arena *a, const struct literal *l, struct str text, struct buf *why);

/* ---- show.c, json.c ---- */

void look_show(struct buf *out, const struct literal *l, const struct hlo_view *v);
/* One element, as a view has it. */
void look_put_element(struct buf *out, enum dtype t, const void *p, const struct hlo_view *v);
void look_json(struct buf *out, const struct literal *l, const struct hlo_view *v);

/* ---- compare.c ---- */

/* Whether two values agree; else `why` says where first, both elements and the worst errors. */
bool look_compare(const struct literal *actual, const struct literal *expected, const struct hlo_tolerance *t,
                  struct buf *why);
void look_difference(const struct literal *actual, const struct literal *expected, const struct hlo_tolerance *t,
                     struct hlo_difference *out);
/* Lines for people; and an object. */
void look_put_difference(struct buf *out, const struct hlo_difference *d, const struct literal *actual,
                         const struct literal *expected);
void look_put_difference_json(struct buf *out, const struct hlo_difference *d);

#endif
