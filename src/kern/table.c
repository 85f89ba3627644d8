/*
 * table.c: the tables of kernels: the fast and the plain ones, and the tile kernels of this
 * processor's instruction set (no kernel of its own).
 */
#include "base/system.h"
#include "kern/blas.h"
#include "kern/cpu.h"
#include "kern/fft_plan.h"
#include "kern/plain/plain.h"
#include "kern/tile.h"

const struct kernels kern_fast = {
#define KERNEL(name) .name = kern_##name,
#include "kern/kernel.def"
};

const struct kernels kern_plain = {
#define KERNEL(name) .name = plain_##name,
#define FAST(name) .name = kern_##name,
#include "kern/kernel.def"
};

/* ---- tile kernels ---- */

const struct tile_set *tile_set(void) { return CPU_FORM(tile_set); }

const struct kern_tiles *kern_tiles(void) { return &tile_set()->find; }

const struct kern_tiles *kern_plain_tiles(void) { return &tile_set()->find_plain; }

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
    const char *absent = fftw_is_built_in() ? "not installed; transforms use built-in kernels"
                                            : "not built in; transforms use built-in kernels";
    buf_printf(out, "FFTW: %s", *fftw ? fftw : absent);
    buf_printf(out, "%s\n", (single && *single) || !*fftw ? "" : "; none in single precision");
}
