/*
 * Heat maps for terminals, and the choice of the kind of picture. Without colours, a ramp of
 * characters is used; N is NaN, I an infinity.
 */
#include "look/look.h"

#include <math.h>

enum { DEFAULT_WIDTH = 72, DEFAULT_HEIGHT = 20, MAX_SIDE = 1000, LABEL_DIGITS = 4 };

/* Of the 256-colour palette: dark blue, green, yellow. */
static const unsigned char palette[] = {17, 18, 19,  25,  31,  37,  36,  35,
                                        41, 77, 113, 149, 185, 221, 227, 229};
enum { COLOR_NAN = 196, COLOR_INF = 201 };
static const char *const shades[] = {" ", "\u2591", "\u2592", "\u2593", "\u2588"};
static const char *const letters[] = {".", ":", "-", "=", "+", "*", "#", "%", "@"};

struct heat {
    struct buf *out;
    const struct hlo_canvas *canvas;
    const struct look_grid *grid;
    bool halves;    /* a character has two pixels, one above the other */
    size_t x, y;    /* characters (or pixels) per column and row of the grid */
    int fore, back; /* the terminal's current colours; -1: none */
};

/* ---- pixels ---- */

/* The position of a value in the range of the grid: 0 ... steps - 1. */
static size_t step_of(const struct look_grid *g, double v, size_t steps)
{
    size_t step = (size_t)(look_part(v, g->low, g->high) * (double)steps);
    return step < steps ? step : steps - 1;
}

static int color_of(const struct look_grid *g, size_t cell)
{
    if (g->mark[cell] != LOOK_FINITE)
        return g->mark[cell] == LOOK_NAN ? COLOR_NAN : COLOR_INF;
    return palette[step_of(g, g->mean[cell], COUNT_OF(palette))];
}

static void set_color(struct heat *h, int fore, int back)
{
    if (fore >= 0 && fore != h->fore)
        buf_printf(h->out, "\033[38;5;%dm", fore);
    if (back != h->back && back >= 0)
        buf_printf(h->out, "\033[48;5;%dm", back);
    if (back != h->back && back < 0)
        buf_puts(h->out, "\033[49m");
    h->fore = fore >= 0 ? fore : h->fore;
    h->back = back;
}

static void end_colors(struct heat *h)
{
    if (h->fore >= 0 || h->back >= 0)
        buf_puts(h->out, "\033[0m");
    h->fore = h->back = -1;
}

static void put_step(struct heat *h, double v)
{
    if (h->canvas->utf8)
        buf_puts(h->out, shades[step_of(h->grid, v, COUNT_OF(shades))]);
    else
        buf_puts(h->out, letters[step_of(h->grid, v, COUNT_OF(letters))]);
}

/* Draws a cell, and the one below it if a character has two pixels; -1: none below. */
static void put_cell(struct heat *h, size_t cell, int64_t below)
{
    const struct look_grid *g = h->grid;
    if (h->halves) {
        set_color(h, color_of(g, cell), below >= 0 ? color_of(g, (size_t)below) : -1);
        buf_puts(h->out, "\u2580");
    } else if (h->canvas->color) {
        set_color(h, -1, color_of(g, cell));
        buf_putc(h->out, ' ');
    } else if (g->mark[cell] != LOOK_FINITE) {
        buf_putc(h->out, g->mark[cell] == LOOK_NAN ? 'N' : 'I');
    } else {
        put_step(h, g->mean[cell]);
    }
}

/* ---- the map ---- */

static void put_label(struct buf *out, int64_t number, int width)
{
    if (number >= 0)
        buf_printf(out, "%*" PRId64 " ", width, number);
    else
        buf_printf(out, "%*s ", width, "");
}

static void put_rows(struct heat *h, const struct look_plane *p, int label)
{
    const struct look_grid *g = h->grid;
    size_t pixels = g->rows * h->y, each = h->halves ? 2 : 1;
    for (size_t y = 0; y < pixels; y += each) {
        size_t row = y / h->y, next = y + 1 < pixels ? (y + 1) / h->y : SIZE_MAX;
        put_label(h->out, y == 0 ? 0 : y + each >= pixels ? p->rows - 1 : -1, label);
        for (size_t x = 0; x < g->columns * h->x; x++)
            put_cell(h, row * g->columns + x / h->x,
                     h->halves && next != SIZE_MAX ? (int64_t)(next * g->columns + x / h->x) : -1);
        end_colors(h);
        /* Mark the end of the line, since blanks stand for the least value. */
        if (!h->canvas->color)
            buf_putc(h->out, '|');
        buf_putc(h->out, '\n');
    }
}

static void put_scale(struct heat *h, int label)
{
    const struct look_grid *g = h->grid;
    struct heat scale = *h;
    size_t steps = h->canvas->color  ? COUNT_OF(palette)
                   : h->canvas->utf8 ? COUNT_OF(shades)
                                     : COUNT_OF(letters);
    put_label(h->out, -1, label);
    if (isnan(g->low)) {
        buf_puts(h->out, "no finite values\n");
        return;
    }
    buf_g(h->out, g->low, LABEL_DIGITS);
    buf_putc(h->out, ' ');
    for (size_t i = 0; i < steps; i++) {
        if (h->canvas->color) {
            set_color(&scale, -1, palette[i]);
            buf_putc(h->out, ' ');
        } else {
            buf_puts(h->out, h->canvas->utf8 ? shades[i] : letters[i]);
        }
    }
    end_colors(&scale);
    buf_putc(h->out, ' ');
    buf_g(h->out, g->high, LABEL_DIGITS);
    buf_putc(h->out, '\n');
}

static int digits_of(int64_t n)
{
    int digits = 1;
    for (; n > 9; n /= 10)
        digits++;
    return digits;
}

static void put_heat(struct buf *out, const struct look_plane *p, const struct hlo_canvas *c)
{
    struct heat h = {
        .out = out, .canvas = c, .halves = c->color && c->utf8, .fore = -1, .back = -1};
    int label = digits_of(p->rows - 1);
    size_t width = c->width > (size_t)label + 2 ? c->width - (size_t)label - 2 : 1;
    size_t height = c->height > 4 ? c->height - 3 : 1, rows = h.halves ? 2 * height : height;
    struct look_grid g;
    look_grid_fill(&g, p, rows, width);
    /* A small grid is enlarged: a cell is twice as many characters wide as high, which is roughly
     * square. */
    size_t across = h.halves ? 1 : 2, times = rows / g.rows, fit = width / (g.columns * across);
    times = times < fit ? times : fit;
    h.x = times > 0 ? times * across : 1;
    h.y = times > 0 ? times : 1;
    h.grid = &g;
    put_rows(&h, p, label);
    put_label(out, -1, label);
    look_put_ends(out, p->columns - 1, g.columns * h.x);
    put_scale(&h, label);
    look_grid_free(&g);
}

/* ---- all kinds ---- */

/* The shape, the statistics, and the part that the picture shows. */
static void put_title(struct buf *out, const struct look_plane *p, bool heat)
{
    int rank = p->of->shape->rank, shown = heat ? 2 : 1;
    look_put_summary(out, p->of);
    if (rank > shown) {
        buf_puts(out, "; [");
        for (int d = 0; d < rank; d++)
            buf_puts(out, d ? d < rank - shown ? ",0" : ",:" : "0");
        buf_putc(out, ']');
    }
    buf_putc(out, '\n');
}

static size_t side_of(size_t requested, size_t usual)
{
    return requested == 0 ? usual : requested < MAX_SIDE ? requested : MAX_SIDE;
}

void look_plot(struct buf *out, const struct literal *l, enum hlo_plot kind,
               const struct hlo_canvas *c)
{
    struct hlo_canvas canvas = c ? *c : (struct hlo_canvas){0};
    struct look_plane p = look_plane_of(l);
    canvas.width = side_of(canvas.width, DEFAULT_WIDTH);
    canvas.height = side_of(canvas.height, DEFAULT_HEIGHT);
    if (!p.of || (p.of->shape->rank == 0 && kind == HLO_PLOT_AUTO)) { /* nothing to draw */
        look_put_summary(out, l);
        buf_putc(out, '\n');
        return;
    }
    if (kind == HLO_PLOT_AUTO)
        kind = p.rows > 1 ? HLO_PLOT_HEAT : HLO_PLOT_CURVE;
    if (kind == HLO_PLOT_HISTOGRAM) {
        look_put_summary(out, p.of);
        buf_putc(out, '\n');
        look_histogram(out, p.of, &canvas);
        return;
    }
    put_title(out, &p, kind == HLO_PLOT_HEAT);
    if (kind == HLO_PLOT_HEAT)
        put_heat(out, &p, &canvas);
    else
        look_curve(out, &p, &canvas);
}
