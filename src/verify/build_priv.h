/*
 * What the lowerings of builder forms share: build.c (dispatch), build_broadcast.c, build_shape.c,
 * build_window.c, build_call.c (what needs computations), build_feed.c (early editions).
 *
 * A lowering reads builder attributes and operands of `b->i`, makes helpers, and turns `b->i` into
 * the last instruction. It needn't remove builder attributes: build_lower does so.
 */
#ifndef HLO_BUILD_PRIV_H
#define HLO_BUILD_PRIV_H

#include "verify/build.h"
#include "verify/verify_priv.h"

struct build {
    struct verify v;
    struct computation *c;
    struct inst *i;
    enum form form;
};
typedef bool build_fn(struct build *b);

/* ---- build.c: making instructions ---- */

/* Makes a helper in front of the instruction that is being lowered; it gets a name like its and its
 * spans. */
struct inst *build_inst(struct build *b, enum opcode op, const struct shape *shape, int count,
                        struct inst *const *operands);
struct inst *build_element(struct build *b, struct inst *tuple, int index);
/* A scalar constant of a float type; NULL (reported) without memory. */
struct inst *build_scalar(struct build *b, enum dtype t, double value);
void build_set(struct build *b, struct inst *i, enum attr_id id, union attr_value v);
void build_set_ints(struct build *b, struct inst *i, enum attr_id id, int64_t count,
                    const int64_t *at);
/* Sets the operands of the last instruction. */
void build_operands(struct build *b, int count, struct inst *const *operands);
/* Sets its shape, unless one is written. False (reported) when that is another one. */
bool build_shape(struct build *b, const struct shape *shape);
/* 0, 1, ... count-1 */
struct ints build_iota(struct build *b, int64_t count);

/* ---- build_shape.c ---- */

/* The dimensions that `sizes` lists, with room for `more`. False (reported) when one is negative.
 */
bool build_sizes(struct build *b, int more, struct dims *out);

/* ---- build_broadcast.c ---- */

/* Broadcasts `x` to the sizes of `to`: its dimension k becomes dimension map[k], and is repeated if
 * it has size 1. */
struct inst *build_broadcast(struct build *b, struct inst *x, const struct shape *to,
                             const int64_t *map);

/* ---- the lowerings ---- */

build_fn build_lower_binary, build_lower_broadcast, build_lower_select; /* build_broadcast.c */
build_fn build_lower_reshape, build_lower_slice, build_lower_pad, build_lower_dynamic_slice,
    build_lower_dynamic_update_slice, build_lower_type, build_lower_shape,
    build_lower_sizes;                                  /* build_shape.c */
build_fn build_lower_convolution, build_lower_windowed; /* build_window.c */
build_fn build_lower_dot, build_lower_map, build_lower_sort, build_lower_all_reduce,
    build_lower_call; /* build_call.c */
build_fn build_lower_rng, build_lower_infeed, build_lower_outfeed,
    build_lower_recv; /* build_feed.c */

#endif
