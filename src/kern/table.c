/*
 * table.c: the tables of kernels: the fast and the plain ones, and the tile kernels of this
 * processor's instruction set (no kernel of its own).
 */
#include "kern/blas.h"
#include "kern/cpu.h"
#include "kern/fft_plan.h"
#include "kern/plain/plain.h"
#include "kern/tile.h"

const struct kernels kern_fast = {
    .reduce_precision = kern_reduce_precision,
    .stochastic_convert = kern_stochastic_convert,
    .bitcast_convert = kern_bitcast_convert,
    .copy = kern_copy,
    .iota = kern_iota,
    .pad = kern_pad,
    .reduce = kern_reduce,
    .reduce_window = kern_reduce_window,
    .select_and_scatter = kern_select_and_scatter,
    .dot = kern_dot,
    .ragged_dot = kern_ragged_dot,
    .scaled_dot = kern_scaled_dot,
    .conv = kern_conv,
    .gather = kern_gather,
    .scatter = kern_scatter,
    .sort = kern_sort,
    .topk = kern_topk,
    .fft = kern_fft,
    .rng_bits = kern_rng_bits,
    .rng_numbers = plain_rng_numbers,
    .cholesky = kern_cholesky,
    .triangular_solve = kern_triangular_solve,
};

const struct kernels kern_plain = {
    .reshape = plain_reshape,
    .transpose = plain_transpose,
    .broadcast = plain_broadcast,
    .slice = plain_slice,
    .reverse = plain_reverse,
    .reduce_precision = kern_reduce_precision,
    .stochastic_convert = kern_stochastic_convert,
    .bitcast_convert = plain_bitcast_convert,
    .copy = plain_copy,
    .iota = plain_iota,
    .pad = plain_pad,
    .reduce = plain_reduce,
    .reduce_window = plain_reduce_window,
    .select_and_scatter = plain_select_and_scatter,
    .dot = plain_dot,
    .ragged_dot = plain_ragged_dot,
    .scaled_dot = plain_scaled_dot,
    .conv = plain_conv,
    .gather = plain_gather,
    .scatter = plain_scatter,
    .sort = plain_sort,
    .topk = plain_topk,
    .fft = plain_fft,
    .rng_bits = plain_rng_bits,
    .rng_numbers = plain_rng_numbers,
    .cholesky = plain_cholesky,
    .triangular_solve = plain_triangular_solve,
};

/* ---- tile kernels ---- */

const struct tile_set *tile_set(void) { return CPU_FORM(tile_set); }

const struct kern_tiles *kern_tiles(void) { return &tile_set()->find; }

kern_tile_fn *kern_find_elementwise(const char *opcode, enum dtype t)
{
    return tile_set()->find.elementwise(opcode, t);
}

kern_tile_fn *kern_find_compare(enum kern_direction d, bool total_order, enum dtype t)
{
    return tile_set()->find.compare(d, total_order, t);
}

kern_tile_fn *kern_find_convert(enum dtype to, enum dtype from)
{
    return tile_set()->find.convert(to, from);
}

/* ---- description ---- */

void kern_about(struct buf *out)
{
    const struct cpu_extras extras = cpu_extras();
    const char *blas = blas_version(), *fftw = fftw_name(true), *single = fftw_name(false);
    fftw = fftw ? fftw : "";
    buf_printf(out, "instructions: %s%s%s\n", cpu_isa_name(cpu_isa()), extras.bf16 ? " bf16" : "",
               extras.vnni ? " vnni" : "");
    buf_printf(out, "processors: %d\n", processor_count());
    buf_printf(out, "BLAS: %s\n", *blas ? blas : "none; products use built-in kernels");
    buf_printf(out, "FFTW: %s", *fftw ? fftw : "none; transforms use built-in kernels");
    buf_printf(out, "%s\n", (single && *single) || !*fftw ? "" : "; none in single precision");
}
