/*
 * Shared by the lowerings of builder forms: lower.c (dispatch), broadcast.c, shape.c,
 * window.c, call.c (computations), feed.c (early editions of the specification).
 *
 * A lowering reads builder attributes and operands of `b->i`, creates helper instructions, and
 * turns `b->i` into the last instruction. build_lower removes the builder attributes.
 */
#ifndef HLO_BUILD_PRIV_H
#define HLO_BUILD_PRIV_H

#include "lower/lower.h"
#include "verify/verify_priv.h"

struct build {
    struct verify v;
    struct computation *c;
    struct inst *i;
    enum form form;
};
typedef bool build_fn(struct build *b);

/* ---- lower.c: creation of instructions ---- */

/* Creates a helper before the instruction that is being lowered, with a name derived from its name
 * and with its spans. */
struct inst *build_inst(struct build *b, enum opcode op, const struct shape *shape, int count,
                        struct inst *const *operands);
struct inst *build_element(struct build *b, struct inst *tuple, int index);
/* Creates a scalar constant of a float type; NULL (reported) if the allocation fails. */
struct inst *build_scalar(struct build *b, enum dtype t, double value);
void build_set(struct build *b, struct inst *i, enum attr_id id, union attr_value v);
void build_set_ints(struct build *b, struct inst *i, enum attr_id id, int64_t count,
                    const int64_t *at);
/* Sets the operands of the last instruction. */
void build_operands(struct build *b, int count, struct inst *const *operands);
/* Sets its shape, unless one is written. False (reported) if the written shape differs. */
bool build_shape(struct build *b, const struct shape *shape);
/* The list 0, 1, ... count-1. */
struct ints build_iota(struct build *b, int64_t count);

/* ---- shape.c ---- */

/* The dimensions given by `sizes`, with capacity for `more`. False (reported) if one is
 * negative. */
bool build_sizes(struct build *b, int more, struct dims *out);

/* ---- broadcast.c ---- */

/* Broadcasts `x` to the sizes of `to`: dimension k of `x` becomes dimension map[k], and is repeated
 * if it has size 1. */
struct inst *build_broadcast(struct build *b, struct inst *x, const struct shape *to,
                             const int64_t *map);

/* ---- the lowerings ---- */

build_fn build_lower_binary, build_lower_broadcast, build_lower_select; /* broadcast.c */
build_fn build_lower_reshape, build_lower_slice, build_lower_pad, build_lower_dynamic_slice,
    build_lower_dynamic_update_slice, build_lower_type, build_lower_shape,
    build_lower_sizes;                                  /* shape.c */
build_fn build_lower_convolution, build_lower_windowed; /* window.c */
build_fn build_lower_dot, build_lower_map, build_lower_sort, build_lower_all_reduce,
    build_lower_call;                                                                /* call.c */
build_fn build_lower_rng, build_lower_infeed, build_lower_outfeed, build_lower_recv; /* feed.c */

#endif
