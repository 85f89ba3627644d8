/*
 * Shared by the lowerings of builder forms: lower.c (dispatch), broadcast.c, shape.c, window.c,
 * call.c (computations), feed.c (early editions of the specification).
 *
 * A lowering reads builder attributes and operands of `lo->i`, creates helper instructions, and
 * turns `lo->i` into the last instruction. lower_inst removes the builder attributes.
 */
#ifndef HLO_LOWER_PRIV_H
#define HLO_LOWER_PRIV_H

#include "infer/check.h"
#include "lower/lower.h"

struct lower {
    struct infer infer;  /* for reports, checks and inferred shapes */
    struct arena *arena; /* of the module */
    struct computation *c;
    struct inst *i;
    enum form form;
};
typedef bool lower_fn(struct lower *lo);

/* ---- lower.c: creation of instructions ---- */

/* Creates a helper before the instruction that is being lowered, with a name derived from its name
 * and with its spans. */
struct inst *lower_helper(struct lower *lo, enum opcode op, const struct shape *shape, int count,
                          struct inst *const *operands);
struct inst *lower_element(struct lower *lo, struct inst *tuple, int index);
/* Creates a scalar constant of a float type; NULL (reported) if the allocation fails. */
struct inst *lower_scalar(struct lower *lo, enum dtype t, double value);
void lower_set_attr(struct lower *lo, struct inst *i, enum attr_id id, union attr_value v);
void lower_set_ints(struct lower *lo, struct inst *i, enum attr_id id, int64_t count,
                    const int64_t *at);
/* Sets the operands of the last instruction. */
void lower_set_operands(struct lower *lo, int count, struct inst *const *operands);
/* Sets its shape, unless one is written. False (reported) if the written shape differs. */
bool lower_set_shape(struct lower *lo, const struct shape *shape);
/* The list 0, 1, ... count-1. */
struct ints lower_iota(struct lower *lo, int64_t count);

/* ---- shape.c ---- */

/* The dimensions given by `sizes`, with capacity for `more`. False (reported) if one is
 * negative. */
bool lower_read_sizes(struct lower *lo, int more, struct dims *out);

/* ---- broadcast.c ---- */

/* Broadcasts `x` to the sizes of `to`: dimension k of `x` becomes dimension map[k], and is repeated
 * if it has size 1. */
struct inst *lower_broadcast_to(struct lower *lo, struct inst *x, const struct shape *to,
                                const int64_t *map);

/* ---- the lowerings ---- */

lower_fn lower_binary, lower_broadcast, lower_select; /* broadcast.c */
lower_fn lower_reshape, lower_slice, lower_pad, lower_dynamic_slice, lower_dynamic_update_slice,
    lower_element_type_attr, lower_shape_attr, lower_sizes_attr;         /* shape.c */
lower_fn lower_convolution, lower_windowed;                              /* window.c */
lower_fn lower_dot, lower_map, lower_sort, lower_all_reduce, lower_call; /* call.c */
lower_fn lower_rng, lower_infeed, lower_outfeed, lower_recv;             /* feed.c */

#endif
