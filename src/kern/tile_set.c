/*
 * tile_set.c: chooses the set of tile kernels for this processor (no kernel of its own).
 */
#include "kern/cpu.h"
#include "kern/tile.h"

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
