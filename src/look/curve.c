/*
 * Curves and histograms for terminals.
 *
 * A curve has a point for each element. If several elements share a column of dots, it shows their
 * range. A character has two by four dots in UTF-8 (braille), otherwise one. Columns with NaN or
 * infinities are marked below.
 */
#include "look/look.h"

#include <math.h>

enum { LABEL = 10, LABEL_DIGITS = 4, CHUNK = 1024 };

/* ---- curve ---- */

struct column {
    double low, high; /* NaN: no finite element */
    enum look_mark mark;
};
struct curve {
    struct column *columns;
    size_t width, height; /* in dots */
    unsigned char *dots;  /* row-major, from the top */
    double low, high;
};

static void take_value(struct column *c, double v)
{
    enum look_mark m = isnan(v) ? LOOK_NAN : isinf(v) ? LOOK_INF : LOOK_FINITE;
    c->mark = m > c->mark ? m : c->mark;
    if (m != LOOK_FINITE)
        return;
    if (!(c->low <= v))
        c->low = v;
    if (!(c->high >= v))
        c->high = v;
}

static size_t place_of(int64_t i, int64_t n, size_t width)
{
    return n > 1 ? (size_t)((double)i / (double)(n - 1) * (double)(width - 1) + 0.5) : 0;
}

/* Fills the columns between two elements by linear interpolation. */
static void join_neighbours(struct curve *c, size_t from, double v, size_t to, double w)
{
    for (size_t x = from + 1; x < to; x++) {
        double part = (double)(x - from) / (double)(to - from);
        take_value(&c->columns[x], v * (1 - part) + w * part);
    }
}

static void fill_columns(struct curve *c, const struct look_plane *p)
{
    double v[CHUNK], last = NAN;
    enum dtype t = p->of->shape->dtype;
    size_t before = 0;
    for (int64_t i = 0; i < p->columns; i++) {
        if (i % CHUNK == 0)
            look_numbers(t, (const char *)p->of->data + (size_t)i * dtype_bytes(t),
                         (size_t)(p->columns - i < CHUNK ? p->columns - i : CHUNK), v);
        double now = v[i % CHUNK];
        size_t x = place_of(i, p->columns, c->width);
        if (isfinite(last) && isfinite(now) && i > 0)
            join_neighbours(c, before, last, x, now);
        take_value(&c->columns[x], now);
        last = now;
        before = x;
    }
    c->low = c->high = NAN;
    for (size_t x = 0; x < c->width; x++) {
        if (!isnan(c->columns[x].low) && !(c->low <= c->columns[x].low))
            c->low = c->columns[x].low;
        if (!isnan(c->columns[x].high) && !(c->high >= c->columns[x].high))
            c->high = c->columns[x].high;
    }
}

/* The row of dots for a value, from the bottom. */
static size_t height_of(const struct curve *c, double v)
{
    return (size_t)(look_part(v, c->low, c->high) * (double)(c->height - 1) + 0.5);
}

static void draw_dots(struct curve *c)
{
    bool joined = false;
    size_t low = 0, high = 0;
    for (size_t x = 0; x < c->width; x++) {
        if (isnan(c->columns[x].low)) {
            joined = false;
            continue;
        }
        size_t from = height_of(c, c->columns[x].low), to = height_of(c, c->columns[x].high),
               own_low = from, own_high = to;
        if (joined && from > high + 1) /* connect to the end of the neighbouring column */
            from = high + 1;
        if (joined && to + 1 < low)
            to = low - 1;
        for (size_t y = from; y <= to; y++)
            c->dots[(c->height - 1 - y) * c->width + x] = 1;
        low = own_low, high = own_high;
        joined = true;
    }
}

static void put_braille(struct buf *out, const struct curve *c, size_t column, size_t row)
{
    static const unsigned char bits[4][2] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    unsigned code = 0x2800;
    for (size_t y = 0; y < 4; y++)
        for (size_t x = 0; x < 2; x++)
            if (c->dots[(4 * row + y) * c->width + 2 * column + x])
                code |= bits[y][x];
    char character[4];
    buf_bytes(out, character, utf8_encode(code, character));
}

static void put_side(struct buf *out, double v, bool labelled)
{
    SCOPED_BUF text = {0};
    if (labelled)
        buf_g(&text, v, LABEL_DIGITS);
    for (size_t i = text.size; i < LABEL; i++)
        buf_putc(out, ' ');
    buf_str(out, buf_view(&text));
    buf_puts(out, " |");
}

static void put_curve(struct buf *out, const struct curve *c, bool utf8)
{
    size_t x_dots = utf8 ? 2 : 1, y_dots = utf8 ? 4 : 1, rows = c->height / y_dots;
    for (size_t row = 0; row < rows; row++) {
        put_side(out, row == 0 ? c->high : c->low, row == 0 || row + 1 == rows);
        for (size_t column = 0; column < c->width / x_dots; column++)
            if (utf8)
                put_braille(out, c, column, row);
            else
                buf_putc(out, c->dots[row * c->width + column] ? '*' : ' ');
        while (out->data[out->size - 1] == ' ')
            out->size--;
        buf_putc(out, '\n');
    }
}

void look_put_ends(struct buf *out, int64_t last, size_t width)
{
    SCOPED_BUF end = {0};
    buf_printf(&end, "%" PRId64, last);
    buf_putc(out, '0');
    if (last > 0)
        buf_printf(out, "%*s", (int)(width > end.size + 2 ? width - 1 : end.size + 1), end.data);
    buf_putc(out, '\n');
}

/* The axis: N and I below columns with NaN or infinities, and the first and last index. */
static void put_axis(struct buf *out, const struct curve *c, int64_t last, size_t x_dots)
{
    size_t width = c->width / x_dots;
    buf_printf(out, "%*s +", LABEL, "");
    for (size_t column = 0; column < width; column++) {
        enum look_mark worst = LOOK_FINITE;
        for (size_t x = 0; x < x_dots; x++)
            if (c->columns[column * x_dots + x].mark > worst)
                worst = c->columns[column * x_dots + x].mark;
        buf_putc(out, worst == LOOK_NAN ? 'N' : worst == LOOK_INF ? 'I' : '-');
    }
    buf_printf(out, "\n%*s  ", LABEL, "");
    look_put_ends(out, last, width);
}

void look_curve(struct buf *out, const struct look_plane *p, const struct hlo_canvas *canvas)
{
    size_t x_dots = canvas->utf8 ? 2 : 1, y_dots = canvas->utf8 ? 4 : 1;
    struct curve c = {.width = canvas->width > LABEL + 4 ? (canvas->width - LABEL - 2) * x_dots
                                                         : 2 * x_dots,
                      .height = canvas->height > 4 ? (canvas->height - 3) * y_dots : y_dots};
    c.columns = heap_zalloc(c.width, sizeof *c.columns);
    c.dots = heap_zalloc(c.width, c.height);
    for (size_t x = 0; c.columns && x < c.width; x++)
        c.columns[x].low = c.columns[x].high = NAN;
    if (c.columns && c.dots) {
        fill_columns(&c, p);
        if (!isnan(c.low))
            draw_dots(&c);
        put_curve(out, &c, canvas->utf8);
        put_axis(out, &c, p->columns - 1, x_dots);
    } else {
        buf_puts(out, "out of memory for the image\n");
    }
    heap_free(c.columns);
    heap_free(c.dots);
}

/* ---- histogram ---- */

enum { MAX_BINS = 64 };

struct bins {
    size_t count;
    double low, high;
    bool one_each; /* one bin per integer, from `low` on */
    uint64_t at[MAX_BINS];
};

static void count_values(struct bins *b, const struct literal *l)
{
    double v[CHUNK];
    enum dtype t = l->shape->dtype;
    int64_t elements = 0;
    shape_elements(l->shape, &elements);
    for (int64_t i = 0; i < elements; i += CHUNK) {
        size_t n = (size_t)(elements - i < CHUNK ? elements - i : CHUNK);
        look_numbers(t, (const char *)l->data + (size_t)i * dtype_bytes(t), n, v);
        for (size_t k = 0; k < n; k++) {
            if (!isfinite(v[k]))
                continue;
            size_t bin =
                (size_t)(b->one_each ? v[k] - b->low
                                     : look_part(v[k], b->low, b->high) * (double)b->count);
            b->at[bin < b->count ? bin : b->count - 1]++;
        }
    }
}

static void put_bar(struct buf *out, struct buf *label, size_t label_width, uint64_t n,
                    uint64_t max, size_t width, bool utf8)
{
    size_t length = max > 0 ? (size_t)((double)n / (double)max * (double)width + 0.5) : 0;
    for (size_t i = label->size; i < label_width; i++)
        buf_putc(out, ' ');
    buf_str(out, buf_view(label));
    label->size = 0;
    buf_printf(out, "%12" PRIu64, n);
    if (n > 0)
        buf_putc(out, ' ');
    for (size_t i = 0; i < length || (i == 0 && n > 0); i++)
        buf_puts(out, utf8 ? "\u2588" : "#");
    buf_putc(out, '\n');
}

/* The lower bound of bin i. */
static double edge_of(const struct bins *b, size_t i)
{
    double part = (double)i / (double)b->count;
    return b->low * (1 - part) + b->high * part;
}

static void put_bins(struct buf *out, const struct bins *b, const struct hlo_canvas *c,
                     uint64_t max)
{
    enum { RANGE = 24 };
    size_t width = c->width > RANGE + 14 ? c->width - RANGE - 14 : 1;
    SCOPED_BUF label = {0};
    for (size_t i = 0; i < b->count; i++) {
        buf_g(&label, b->one_each ? b->low + (double)i : edge_of(b, i),
              b->one_each ? 17 : LABEL_DIGITS);
        if (!b->one_each) {
            buf_puts(&label, " .. ");
            buf_g(&label, edge_of(b, i + 1), LABEL_DIGITS);
        }
        put_bar(out, &label, RANGE, b->at[i], max, width, c->utf8);
    }
}

/* One line per bin; few distinct integers get one bin each. NaN and infinities come last. */
void look_histogram(struct buf *out, const struct literal *l, const struct hlo_canvas *c)
{
    struct hlo_stats s = look_stats(l);
    const bool floats = dtype_is_float(l->shape->dtype) || dtype_is_complex(l->shape->dtype);
    size_t lines = c->height < 4 ? 1 : c->height - 3;
    struct bins b = {.count = lines < MAX_BINS ? lines : MAX_BINS, .low = s.min, .high = s.max};
    double span = s.max - s.min;
    b.one_each = span == 0 || (!floats && span < (double)b.count);
    if (b.one_each)
        b.count = (size_t)span + 1;
    if (s.finite > 0) {
        uint64_t max = 0;
        count_values(&b, l);
        for (size_t i = 0; i < b.count; i++)
            max = b.at[i] > max ? b.at[i] : max;
        put_bins(out, &b, c, max);
    }
    if (s.nan > 0)
        buf_printf(out, "%24s%12" PRIu64 "\n", "nan", s.nan);
    if (s.positive_inf > 0)
        buf_printf(out, "%24s%12" PRIu64 "\n", "inf", s.positive_inf);
    if (s.negative_inf > 0)
        buf_printf(out, "%24s%12" PRIu64 "\n", "-inf", s.negative_inf);
}
