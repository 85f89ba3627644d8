/*
 * Tests of copies, and of non-temporal stores, which only large arrays use. Elements of the source
 * are numbered, so that every element of the result is known.
 */
#include "check_quiet.h"

#include "kern/kern.h"

#include <stdlib.h>

enum { GAP = 0xa5 };
static const enum dtype of_width[] = {DT_U8, DT_U16, DT_U32, DT_U64, DT_C128};

/* Rows of `columns` elements, `pitch` bytes apart, from `offset` bytes after a cache line begins.
 */
struct table {
    struct view view;
    char *block;
    int64_t pitch;
};

static struct table new_table(enum dtype t, int64_t rows, int64_t columns, int64_t gap,
                              int64_t offset)
{
    struct table a = {.pitch = (columns + gap) * (int64_t)dtype_bytes(t)};
    size_t size = ((size_t)(rows * a.pitch + offset) + 127) & ~(size_t)63;
    a.block = aligned_alloc(64, size);
    memset(a.block, GAP, size);
    a.view =
        (struct view){.dtype = t, .rank = 2, .dims = {rows, columns}, .data = a.block + offset};
    a.view.strides[0] = a.pitch;
    a.view.strides[1] = (int64_t)dtype_bytes(t);
    return a;
}

/* The element with this number. */
static inline void number(size_t width, int64_t n, char *out)
{
    uint64_t both[2] = {(uint64_t)n * 0x9e3779b97f4a7c15u >> 16, ~(uint64_t)n};
    switch (width) { /* sizes are constants for speed: there are many elements */
    case 1: memcpy(out, both, 1); break;
    case 2: memcpy(out, both, 2); break;
    case 4: memcpy(out, both, 4); break;
    case 8: memcpy(out, both, 8); break;
    default: memcpy(out, both, 16);
    }
}

static void number_table(const struct table *a)
{
    size_t width = dtype_bytes(a->view.dtype);
    for (int64_t i = 0; i < a->view.dims[0]; i++)
        for (int64_t j = 0; j < a->view.dims[1]; j++)
            number(width, i * a->view.dims[1] + j,
                   a->view.data + i * a->pitch + j * (int64_t)width);
}

/* Element (i, j) has the number `first + i * row + j * column`, and nothing else was written. */
static bool holds(const struct table *a, int64_t first, int64_t row, int64_t column)
{
    size_t width = dtype_bytes(a->view.dtype);
    int64_t end = a->view.dims[1] * (int64_t)width;
    char *expected = malloc((size_t)end);
    bool ok = true;
    for (int64_t i = 0; i < a->view.dims[0]; i++) {
        const char *at = a->view.data + i * a->pitch;
        for (int64_t j = 0; j < a->view.dims[1]; j++)
            number(width, first + i * row + j * column, expected + j * (int64_t)width);
        ok &= memcmp(at, expected, (size_t)end) == 0;
        for (int64_t k = end; k < a->pitch; k++)
            ok &= (unsigned char)at[k] == GAP;
    }
    free(expected);
    return ok;
}

/* Copies from x with these strides. */
static bool copies(enum dtype t, int64_t rows, int64_t columns, int64_t gap, int64_t offset,
                   struct table *x, int64_t row, int64_t column)
{
    int64_t width = (int64_t)dtype_bytes(t);
    struct table out = new_table(t, rows, columns, gap, offset * width);
    struct view seen = x->view;
    seen.dims[0] = rows;
    seen.dims[1] = columns;
    seen.strides[0] = row * width;
    seen.strides[1] = column * width;
    kern_copy(NULL, &out.view, &seen);
    bool ok = holds(&out, 0, row, column);
    free(out.block);
    return ok;
}

START_TEST(large_copies)
{
    enum dtype t = of_width[_i];
    int64_t width = (int64_t)dtype_bytes(t), columns = 4096 / width * 2 + 5,
            rows = (33 << 20) / (columns * width) + 1;
    struct table x = new_table(t, rows, columns, 0, 0);
    number_table(&x);
    for (int64_t gap = 0; gap < 3; gap += 2)
        ck_assert_msg(copies(t, rows, columns, gap, gap, &x, columns, 1), "rows");
    ck_assert_msg(copies(t, rows, columns - 3, 3, 0, &x, columns, 1), "parts of rows");
    ck_assert_msg(copies(t, columns, rows, 0, 1, &x, 1, columns),
                  "transposed, not aligned to cache lines");
    int64_t round = (64 - rows * width % 64) % 64 / width;
    ck_assert_msg(copies(t, columns, rows, round, 0, &x, 1, columns), "transposed");
    ck_assert_msg(copies(t, columns - 5, rows, round, 0, &x, 1, columns),
                  "transposed in complete tiles");
    ck_assert_msg(copies(t, rows, columns, 1, 1, &x, 1, 0), "each element repeated");
    for (int64_t n = 2; n < 10; n++)
        ck_assert_msg(copies(t, 1003, n, 0, 0, &x, 1, 0), "each element repeated %d times", (int)n);
    ck_assert_msg(copies(t, rows, columns, 0, 0, &x, 0, 0), "one element repeated");
    ck_assert_msg(copies(t, rows, columns, 0, 0, &x, 0, 1), "one row repeated");
    free(x.block);
}
END_TEST

/* Compares a copy with the elements one by one. */
static bool copies_elements(const struct view *out, const struct view *x)
{
    const size_t width = dtype_bytes(x->dtype);
    bool ok = true;
    kern_copy(NULL, out, x);
    for (int64_t n = 0; n < view_elements(out); n++) {
        const char *to = out->data, *from = x->data;
        int64_t rest = n;
        for (int d = out->rank - 1; d >= 0; d--) {
            to += rest % out->dims[d] * out->strides[d];
            from += rest % out->dims[d] * x->strides[d];
            rest /= out->dims[d];
        }
        ok &= memcmp(to, from, width) == 0;
    }
    return ok;
}

/* Every order of four dimensions, forwards and backwards, without and with gaps in the result. */
START_TEST(permuted_copies)
{
    enum { RANK = 4, ORDERS = 256, BYTES = 1 << 20 };
    static const int64_t sizes[][RANK] = {{2, 3, 37, 5}, {16, 1, 9, 8}, {3, 70, 4, 21}};
    const enum dtype t = of_width[_i];
    char *from = malloc(BYTES), *to = malloc(BYTES);
    for (int k = 0; k < BYTES; k++)
        from[k] = (char)((unsigned)k * 2654435761u >> 13);
    for (int n = 0; n < 2 * 2 * ORDERS * (int)COUNT_OF(sizes); n++) {
        const int order = n % ORDERS, gap = n / ORDERS % 2, back = n / ORDERS / 2 % 2;
        const int64_t *dims = sizes[n / ORDERS / 4];
        int64_t stride = (int64_t)dtype_bytes(t);
        struct view out, x = {.dtype = t, .rank = RANK, .data = from};
        unsigned seen = 0;
        for (int d = 0; d < RANK; d++)
            seen |= 1u << ((unsigned)order >> 2 * d & 3);
        if (seen != 15)
            continue;
        for (int d = 0; d < RANK; d++) {
            const int at = order >> 2 * d & 3;
            x.dims[at] = dims[at] - gap > 0 ? dims[at] - gap : 1;
            x.strides[at] = back && d == 1 ? -stride : stride;
            x.data += x.strides[at] < 0 ? stride * (x.dims[at] - 1) : 0;
            stride *= dims[at];
        }
        view_dense(&out, t, RANK, dims, to);
        memcpy(out.dims, x.dims, sizeof out.dims);
        ck_assert_msg(copies_elements(&out, &x), "order %x gap %d back %d", (unsigned)order, gap,
                      back);
    }
    free(from);
    free(to);
}
END_TEST

START_TEST(large_gather)
{
    enum dtype t = of_width[_i];
    int64_t width = (int64_t)dtype_bytes(t), columns = 3000 / width,
            rows = (33 << 20) / (columns * width) + 1;
    struct table x = new_table(t, 1000, columns, 1, 0), out = new_table(t, rows, columns, 1, width);
    int32_t *at = calloc((size_t)rows, sizeof *at);
    int64_t dims[] = {rows, 1};
    struct view indices;
    struct kern_gather_dims g = {.offset_count = 1,
                                 .offset_dims = {1},
                                 .collapsed_count = 1,
                                 .map_count = 1,
                                 .index_vector_dim = 1,
                                 .slice_sizes = {1, columns}};
    view_dense(&indices, DT_S32, 2, dims, at);
    for (int64_t i = 0; i < rows; i++) /* some of them out of bounds: clamped to the nearest row */
        at[i] = (int32_t)(i * 7919 % 1100) - 50;
    number_table(&x);
    kern_gather(NULL, &out.view, &x.view, &indices, &g);
    for (int64_t i = 0; i < rows; i++) {
        int64_t from = at[i] < 0 ? 0 : at[i] > 999 ? 999 : at[i];
        ck_assert(memcmp(out.view.data + i * out.pitch, x.view.data + from * x.pitch,
                         (size_t)(columns * width)) == 0);
        ck_assert_int_eq((unsigned char)out.view.data[i * out.pitch + columns * width], GAP);
    }
    free(at);
    free(x.block);
    free(out.block);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("large");
    tcase_add_loop_test(c, large_copies, 0, COUNT_OF(of_width));
    tcase_add_loop_test(c, permuted_copies, 0, COUNT_OF(of_width));
    tcase_add_loop_test(c, large_gather, 0, COUNT_OF(of_width));
    Suite *s = suite_create("kern_large");
    suite_add_tcase(s, c);
    return check_run(s);
}
