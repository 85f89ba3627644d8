/*
 * Shared by the files of verify/: the state of a verification, and the rules that concern several
 * instructions or a written shape that is not compared with an inferred one. Each reports
 * violations and returns false if there are any.
 */
#ifndef HLO_VERIFY_PRIV_H
#define HLO_VERIFY_PRIV_H

#include "infer/check.h"
#include "verify/verify.h"

struct verify {
    struct diags *ds;
    struct module *m;
    struct arena *arena; /* released after each instruction */
    struct verify_options options;
    struct infer infer; /* the same, for inference, reports and checks */
};
typedef bool verify_fn(struct verify *v);
typedef bool verify_inst_fn(struct verify *v, const struct inst *i);

/* Rules of single instructions. */
verify_inst_fn verify_written; /* written.c: shapes that are not compared with an inferred one */
verify_inst_fn verify_async;   /* async.c: asynchronous chains */
verify_inst_fn verify_custom_call; /* custom_call.c */
verify_inst_fn verify_aliasing;    /* custom_call.c: output_to_operand_aliasing */
verify_inst_fn verify_onnx_loop;   /* onnx_loop.c */
verify_inst_fn verify_annotations; /* annotations.c: sharding, origin, replication */

/* Rules that concern several instructions, in the order of the stages of grammar/shapes.md 2. */
verify_fn verify_pairing; /* pairing.c: async chains, start and done, send and recv, channels */
verify_fn verify_async_bodies; /* async.c: computations of asynchronous chains */
verify_fn verify_fusions;      /* fusion.c: a single caller, no dead instructions */
verify_fn verify_buffers;      /* buffers.c: allowed places, single writers */
verify_fn verify_module_rules; /* module.c: entry layout, aliases, donors, all-reduce uniformity */

/* sharding.c */
bool verify_sharding_equal(struct arena *scratch, const struct sharding *a,
                           const struct sharding *b);

enum { HOST_MEMORY = 5 };
static inline bool verify_on_host(const struct shape *s)
{
    return shape_is_array(s) && s->layout->memory_space == HOST_MEMORY;
}

#endif
