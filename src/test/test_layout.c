/*
 * Tests of cli/layout.h: properties of layouts of random graphs, and layouts of known ones.
 */
#include "cli/layout.h"

#include "check_quiet.h"

static struct arena arena;
static struct layout layout;
static size_t capacity;
static uint32_t state;

static void set_up(void)
{
    arena_init(&arena);
    layout = (struct layout){.arena = &arena};
    capacity = 0;
}
static void tear_down(void) { arena_free(&arena); }

static uint32_t random_below(uint32_t n)
{
    state = state * 1664525 + 1013904223;
    return (state >> 8) % n;
}

static void make_nodes(size_t count)
{
    layout.nodes = ARENA_ARRAY(&arena, struct layout_node, count);
    layout.node_count = count;
    for (size_t n = 0; n < count; n++)
        layout.nodes[n] = (struct layout_node){.width = 40, .height = 20};
}

static void add_edge(size_t from, size_t to, size_t reach, double port)
{
    VEC_PUSH(&arena, layout.edges, layout.edge_count, capacity) =
        (struct layout_edge){.from = from, .to = to, .reach = reach, .port = port};
}

static void make_random(size_t nodes, uint32_t operands, uint32_t near)
{
    make_nodes(nodes);
    for (size_t n = 0; n < nodes; n++) {
        const uint32_t count = n > 0 ? random_below(operands + 1) : 0;
        layout.nodes[n].width = 20 + random_below(200);
        layout.nodes[n].height = 20 + random_below(60);
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t back = random_below(n < near ? (uint32_t)n : near);
            add_edge(n - 1 - back, n, random_below(4) ? 30 : 2,
                     ((double)k + 0.5) / (double)count - 0.5);
        }
    }
}

static void check_rows(void)
{
    for (size_t e = 0; e < layout.edge_count; e++) {
        const struct layout_edge *k = &layout.edges[e];
        const size_t from = layout.nodes[k->from].row, to = layout.nodes[k->to].row;
        ck_assert_msg(from < to, "edge %zu: from row %zu to %zu", e, from, to);
        ck_assert_msg(k->far == (to - from > k->reach), "edge %zu: far %d", e, k->far);
    }
}

static void check_cells(void)
{
    size_t nodes = 0;
    for (size_t r = 0; r < layout.row_count; r++) {
        const struct layout_row *row = &layout.rows[r];
        ck_assert_uint_gt(row->count, 0);
        for (size_t k = 0; k < row->count; k++) {
            const struct layout_cell *c = row->cells[k];
            const double left = c->x - c->width / 2, right = c->x + c->width / 2;
            ck_assert_msg(left > -1e-6 && right < layout.width + 1e-6, "row %zu: outside", r);
            if (k > 0)
                ck_assert_msg(row->cells[k - 1]->x + row->cells[k - 1]->width / 2 < left,
                              "row %zu: cells %zu and %zu overlap", r, k - 1, k);
            if (c->wire)
                continue;
            nodes++;
            ck_assert_uint_eq(layout.nodes[c->node].row, r);
            ck_assert_double_le(layout.nodes[c->node].height, row->height);
            ck_assert_double_eq(layout.nodes[c->node].width, c->width);
        }
    }
    ck_assert_uint_eq(nodes, layout.node_count);
}

/* The link at a port of a node, or to a wire. */
static const struct layout_link *link_to(const struct layout_cell *to, size_t from, double port)
{
    const struct layout_row *row = &layout.rows[to->row];
    for (size_t k = 0; k < row->link_count; k++)
        if (row->links[k].to == to && row->links[k].from->node == from &&
            row->links[k].port == port)
            return &row->links[k];
    return NULL;
}

static const struct layout_cell *cell_of(size_t node)
{
    const struct layout_row *row = &layout.rows[layout.nodes[node].row];
    for (size_t k = 0; k < row->count; k++)
        if (!row->cells[k]->wire && row->cells[k]->node == node)
            return row->cells[k];
    return NULL;
}

/* Every edge that is not far has a path of links from row to row. */
static void check_paths(void)
{
    for (size_t e = 0; e < layout.edge_count; e++) {
        const struct layout_edge *edge = &layout.edges[e];
        const struct layout_cell *c = cell_of(edge->to);
        const struct layout_link *link = link_to(c, edge->from, edge->port);
        ck_assert_msg(!link == edge->far, "edge %zu: far %d", e, edge->far);
        for (; link; link = link->from->wire ? link_to(link->from, edge->from, 0) : NULL) {
            ck_assert_uint_eq(link->from->row + 1, link->to->row);
            ck_assert(link->from->linked);
            c = link->from;
        }
        ck_assert_msg(edge->far || c == cell_of(edge->from), "edge %zu has no path", e);
    }
}

static void place(void)
{
    layout_rank(&layout);
    check_rows();
    layout_place(&layout);
    check_cells();
    check_paths();
}

START_TEST(random_graphs)
{
    static const uint32_t near[] = {1, 3, 20, 1000};
    state = (uint32_t)_i;
    make_random(1 + random_below(400), 1 + (uint32_t)_i % 5, near[_i % 4]);
    place();
}
END_TEST

/* The chain 0 - 1 - 2 - 3 with an operand 4 of its end, which is above its user; and the wire of 0
 * past 1 and 2. */
START_TEST(known_graph)
{
    make_nodes(6);
    add_edge(0, 1, 30, 0);
    add_edge(1, 2, 30, 0);
    add_edge(2, 3, 30, 0);
    add_edge(0, 5, 30, -0.25);
    add_edge(3, 5, 30, 0);
    add_edge(4, 5, 30, 0.25);
    place();
    ck_assert_uint_eq(layout.row_count, 5);
    ck_assert_uint_eq(layout.nodes[4].row, 3);
    ck_assert_uint_eq(layout.rows[1].count, 2);
    ck_assert_double_eq_tol(cell_of(1)->x, cell_of(2)->x, 1);
    ck_assert_double_lt(layout.rows[3].cells[0]->x, cell_of(3)->x);
    ck_assert_double_lt(cell_of(3)->x, cell_of(4)->x);
}
END_TEST

/* A wide row is split; an edge of a short reach or against the order is far. */
START_TEST(wide_and_far)
{
    make_nodes(101);
    for (size_t n = 0; n < 100; n++)
        add_edge(n, 100, n < 90 ? 30 : 0, 0);
    place();
    ck_assert_double_lt(layout.width, 4000);
    ck_assert(!layout.edges[0].far);
    ck_assert(layout.edges[95].far);
    set_up();
    make_nodes(2);
    add_edge(1, 0, 30, 0);
    add_edge(1, 1, 30, 0);
    layout_rank(&layout);
    ck_assert(layout.edges[0].far && layout.edges[1].far);
    layout_place(&layout);
    check_cells();
}
END_TEST

START_TEST(empty)
{
    place();
    ck_assert_uint_eq(layout.row_count, 0);
}
END_TEST

/* The time does not grow with the square of the size: these have 100,000 nodes and as many long
 * edges. */
START_TEST(large_graphs)
{
    const size_t n = 100000;
    make_nodes(n);
    for (size_t k = 1; k < n; k++) {
        add_edge(k - 1, k, 30, 0);
        if (_i == 0)
            add_edge(n - 1 - k < k ? n - 1 - k : 0, k, 30, 0.25);
        else if (_i == 1)
            add_edge(0, k, 30, 0.25);
    }
    if (_i == 2)
        for (size_t k = 0; k < layout.edge_count; k++)
            layout.edges[k].from = 0;
    layout_rank(&layout);
    check_rows();
    layout_place(&layout);
    check_cells();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("layout");
    TCase *tc = tcase_create("layout");
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_loop_test(tc, random_graphs, 0, 200);
    tcase_add_test(tc, known_graph);
    tcase_add_test(tc, wide_and_far);
    tcase_add_test(tc, empty);
    tcase_add_loop_test(tc, large_graphs, 0, 3);
    suite_add_tcase(s, tc);
    return check_run(s);
}
