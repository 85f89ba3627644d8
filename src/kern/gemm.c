/*
 * gemm.c: chooses lane type and instructions for products of given types (no kernel of its own).
 * Blocks of any height are composed of those of gemm_block.c.
 */
#include "kern/cpu.h"
#include "kern/gemm_set.h"

static const struct gemm_set *find_set(void) { return CPU_FORM(gemm_set); }

static bool is_byte(enum dtype t)
{
    return dtype_is_integer(t) && dtype_bytes(t) == 1 && t != DT_PRED;
}

/* Whether all numbers of the integer type are 16-bit integers. */
static bool fits_shorts(enum dtype t)
{
    return dtype_is_integer(t) && (dtype_bytes(t) == 1 || t == DT_S16);
}

/* Chooses the kind, and the elements of its lanes. Integers wrap at the end, so bits above the
 * result's width are irrelevant; a pred is true if any product is. */
static void choose_integers(struct gemm *g, enum dtype out, enum dtype lhs, enum dtype rhs,
                            bool wide)
{
    const bool bytes =
        !wide && is_byte(lhs) && is_byte(rhs) && dtype_bytes(out) <= 4 && cpu_extras().vnni;
    const bool shorts = !wide && fits_shorts(lhs) && fits_shorts(rhs) && dtype_bytes(out) <= 4;
    g->kind = bytes    ? dtype_is_signed(lhs) ? GEMM_SIGNED_BYTES : GEMM_UNSIGNED_BYTES
              : shorts ? GEMM_SHORTS
              : dtype_bytes(out) == 8 ? GEMM_DWORDS
                                      : GEMM_WORDS;
    g->sum = g->kind == GEMM_DWORDS ? DT_S64 : DT_S32;
    g->lhs = g->rhs = shorts ? DT_S16 : g->sum;
    if (bytes) {
        g->lhs = lhs;
        g->rhs = rhs;
        g->moved = dtype_is_signed(lhs) == dtype_is_signed(rhs);
    }
}

/* Whether bf16 can represent all numbers of the type, none of them as a subnormal. */
static bool fits_pairs(enum dtype t)
{
    return t == DT_BF16 || (dtype_is_float(t) && dtype_bytes(t) == 1 && t != DT_F8E8M0FNU);
}

void gemm_choose(struct gemm *g, enum dtype out, enum dtype lhs, enum dtype rhs, enum dtype work,
                 bool wide)
{
    const enum dtype part = dtype_component(work);
    *g = (struct gemm){.set = find_set(), .twofold = dtype_is_complex(work)};
    if (!dtype_is_float(part)) {
        choose_integers(g, out, lhs, rhs, wide);
    } else {
        g->kind = part == DT_F64 ? GEMM_F64 : GEMM_F32;
        g->lhs = g->rhs = work;
        g->sum = part;
        if (g->kind == GEMM_F32 && !wide && fits_pairs(lhs) && fits_pairs(rhs) &&
            cpu_extras().bf16) {
            g->kind = GEMM_PAIRS;
            g->lhs = g->rhs = DT_BF16;
        }
    }
    g->lane = g->kind == GEMM_F64 || g->kind == GEMM_DWORDS ? 8 : 4;
    g->per_lane = g->kind == GEMM_PAIRS || g->kind == GEMM_SHORTS                  ? 2
                  : g->kind == GEMM_SIGNED_BYTES || g->kind == GEMM_UNSIGNED_BYTES ? 4
                                                                                   : 1;
    g->panel = g->set->vector * g->set->vectors;
    g->columns = g->panel / g->lane >> g->twofold;
}

void gemm_narrow(struct gemm *g, int64_t columns)
{
    while (g->columns / 2 >= columns && g->panel > g->set->vector) {
        g->columns /= 2;
        g->panel /= 2;
    }
}

void gemm_pack_part(const struct gemm *g, enum dtype type, const char *from, int64_t k_step,
                    int64_t column_step, int64_t k, int64_t n, void *panel)
{
    g->set->pack(g, type, from, k_step, column_step, k, n, panel, 0);
}

void gemm_pack(const struct gemm *g, enum dtype type, const char *from, int64_t k_step,
               int64_t column_step, int64_t k, int64_t n, void *panels)
{
    const int64_t lanes = gemm_lanes(g, k), bytes = lanes * g->panel, whole = n / g->columns;
    if (k % g->per_lane != 0)
        for (int64_t j = 0; j < whole; j++)
            memset((char *)panels + j * bytes + (lanes - 1) * g->panel, 0, (size_t)g->panel);
    if (n > whole * g->columns)
        memset((char *)panels + whole * bytes, 0, (size_t)bytes);
    g->set->pack(g, type, from, k_step, column_step, k, n, panels, bytes);
}

void gemm_excess(const struct gemm *g, const char *a, int64_t a_row, int64_t rows, int64_t k,
                 int32_t *start)
{
    const bool is_signed = g->kind == GEMM_SIGNED_BYTES;
    for (int64_t i = 0; i < rows; i++) {
        /* signed bytes of a are offset by 128 as well, and added as unsigned ones */
        const uint32_t sum =
            g->set->add_bytes((const uint8_t *)a + i * a_row, k, is_signed ? 0x80 : 0);
        start[i] = (int32_t)(is_signed ? ((uint32_t)k * 128 - sum) * 128 : sum * 128);
    }
}

/* Computes as many of the first rows as one function supports; returns their number. */
static int64_t run_rows(const struct gemm *g, const struct gemm_block *b, int64_t panel)
{
    /* eight rows are two blocks of four: the sums of two rows are too few to hide the latency of
     * multiply-adds */
    const int height = b->rows >= 6 && b->rows != 8 ? 3 : b->rows >= 4 ? 2 : b->rows >= 2 ? 1 : 0;
    const int64_t vectors = ratio_up(b->n * g->lane, g->set->vector);
    g->set->block[g->kind][vectors > 2 ? 2 : vectors - 1][height](b, panel);
    return height == 3 ? GEMM_ROWS : 1 << height;
}

/* Adds the last elements of each row, which do not fill a lane. */
static void add_rest(const struct gemm *g, const struct gemm_block *b, int64_t rows)
{
    char ends[GEMM_ROWS][4] = {{0}};
    struct gemm_block last = *b;
    for (int64_t r = 0; r < rows; r++)
        memcpy(ends[r], b->a + r * b->a_row + b->lanes * b->a_lane,
               (size_t)(b->rest * 4 / g->per_lane));
    last.a = ends[0];
    last.a_row = last.a_lane = 4;
    last.panel = (const char *)b->panel + b->lanes * g->panel;
    last.rows = rows;
    last.lanes = 1;
    last.start = NULL;
    last.add = true;
    run_rows(g, &last, g->panel);
}

void gemm_block(const struct gemm *g, const struct gemm_block *b)
{
    struct gemm_block at = *b;
    const int64_t panel = b->panel_row ? b->panel_row : g->panel;
    at.n <<= g->twofold;
    while (at.rows > 0) {
        const int64_t rows = run_rows(g, &at, panel);
        if (b->rest)
            add_rest(g, &at, rows);
        if (at.row_offsets)
            at.row_offsets += rows;
        else
            at.a += rows * b->a_row;
        at.c += rows * b->c_row;
        if (at.start)
            at.start += rows;
        at.rows -= rows;
    }
}
