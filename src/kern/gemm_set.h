/*
 * gemm_set: the functions that gemm.c selects from, per instruction set. Private to gemm*.c.
 */
#ifndef HLO_KERN_GEMM_SET_H
#define HLO_KERN_GEMM_SET_H

#include "kern/gemm.h"
#include "kern/tile.h"

enum {
    GEMM_ROWS = 6,
    GEMM_HEIGHTS = 4 /* blocks of 1, 2, 4 and 6 rows */,
    GEMM_WIDTHS = 3 /* of 1, 2 and 4 vectors */
};

/* The function has a fixed number of rows and of vectors; the last vector may have fewer
 * columns. */
typedef void gemm_block_fn(const struct gemm_block *p, int64_t panel);
typedef void gemm_pack_fn(const struct gemm *g, enum dtype type, const char *from, int64_t k_step,
                          int64_t column_step, int64_t k, int64_t n, char *panel,
                          int64_t panel_bytes);
struct gemm_set {
    int64_t vector;  /* bytes of a vector */
    int64_t vectors; /* number of vectors in a panel's row */
    gemm_pack_fn *pack;
    uint32_t (*add_bytes)(const uint8_t *x, int64_t n,
                          uint8_t flip); /* the sum of all x[i] ^ flip */
    gemm_block_fn *block[GEMM_KINDS][GEMM_WIDTHS][GEMM_HEIGHTS];
};
#ifdef TILE_ISA
#define gemm_pack_panels TILE_OWN(gemm_pack_panels)
#define gemm_add_bytes TILE_OWN(gemm_add_bytes)
gemm_pack_fn gemm_pack_panels;
uint32_t gemm_add_bytes(const uint8_t *x, int64_t n, uint8_t flip);
#endif
extern const struct gemm_set gemm_set_baseline, gemm_set_avx2, gemm_set_avx512;

#endif
