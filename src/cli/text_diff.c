/*
 * Line difference of two texts in the format of `diff -u`, by Myers' greedy algorithm.
 */
#include "cli/cli.h"

enum { CONTEXT = 3, MAX_EDITS = 2000 };

struct lines {
    struct str *at;
    size_t count;
};

static struct lines split(struct arena *a, struct str text)
{
    struct lines l = {0};
    size_t capacity = 0;
    while (text.len > 0)
        VEC_PUSH(a, l.at, l.count, capacity) = str_cut_line(&text);
    return l;
}

/* Matched lines: keep[i] is the line of `to` that equals line i of `from`, or -1. */
struct match {
    struct lines from, to;
    int64_t *keep;
};

/* Matches the lines that a shortest edit script keeps between two ranges without common ends. Above
 * MAX_EDITS edits, the whole range counts as changed. `trace[d]` has the furthest-reaching points
 * after d edits. */
static void match_middle(struct arena *a, struct match *m, int64_t from, int64_t to, int64_t n,
                         int64_t k)
{
    int64_t max = n + k < MAX_EDITS ? n + k : MAX_EDITS, width = 2 * max + 1, d = 0;
    int64_t **trace = ARENA_ARRAY(a, int64_t *, max + 2),
            *reach = ARENA_ARRAY(a, int64_t, width + 2);
    int64_t *v = reach + max + 1;
    for (bool done = false; !done; d++) {
        if (d > max)
            return;
        trace[d] = ARENA_DUP(a, reach, width + 2);
        for (int64_t diagonal = -d; diagonal <= d && !done; diagonal += 2) {
            bool down = diagonal == -d || (diagonal != d && v[diagonal - 1] < v[diagonal + 1]);
            int64_t x = down ? v[diagonal + 1] : v[diagonal - 1] + 1, y = x - diagonal;
            while (x < n && y < k && str_eq(m->from.at[from + x], m->to.at[to + y]))
                x++, y++;
            v[diagonal] = x;
            done = x >= n && y >= k;
        }
    }
    int64_t x = n, y = k;
    for (d--; d >= 0; d--) {
        int64_t *before = trace[d] + max + 1, diagonal = x - y;
        bool down =
            diagonal == -d || (diagonal != d && before[diagonal - 1] < before[diagonal + 1]);
        int64_t px = d == 0 ? 0 : down ? before[diagonal + 1] : before[diagonal - 1];
        int64_t py = d == 0 ? 0 : px - (down ? diagonal + 1 : diagonal - 1);
        int64_t start = d == 0 ? 0 : down ? px : px + 1;
        while (x > start && y > 0)
            m->keep[from + --x] = to + --y;
        x = px;
        y = py;
    }
}

static void match_lines(struct arena *a, struct match *m)
{
    int64_t n = (int64_t)m->from.count, k = (int64_t)m->to.count, head = 0, tail = 0;
    m->keep = ARENA_ARRAY(a, int64_t, n);
    for (int64_t i = 0; i < n; i++)
        m->keep[i] = -1;
    while (head < n && head < k && str_eq(m->from.at[head], m->to.at[head])) {
        m->keep[head] = head;
        head++;
    }
    while (tail < n - head && tail < k - head &&
           str_eq(m->from.at[n - 1 - tail], m->to.at[k - 1 - tail])) {
        m->keep[n - 1 - tail] = k - 1 - tail;
        tail++;
    }
    match_middle(a, m, head, head, n - head - tail, k - head - tail);
}

static void put_line(struct buf *out, char mark, struct str line)
{
    buf_putc(out, mark);
    buf_str(out, line);
    if (line.len == 0 || line.ptr[line.len - 1] != '\n')
        buf_puts(out, "\n\\ No newline at end of file\n");
}

/* Writes a hunk that starts at line `x` of the old and `y` of the new text, and includes all
 * changes that are close together. */
static void put_hunk(struct buf *out, const struct match *m, int64_t *x, int64_t *y)
{
    int64_t n = (int64_t)m->from.count, k = (int64_t)m->to.count;
    int64_t lead = *x < CONTEXT ? *x : CONTEXT, old_at = *x - lead, new_at = *y - lead, same = 0;
    SCOPED_BUF body = {0};
    for (int64_t i = old_at; i < *x; i++)
        put_line(&body, ' ', m->from.at[i]);
    while ((*x < n || *y < k) && same <= 2 * CONTEXT) {
        if (*x < n && m->keep[*x] == *y) {
            same++;
            put_line(&body, ' ', m->from.at[*x]);
            ++*x, ++*y;
        } else if (*x < n && m->keep[*x] < 0) {
            same = 0;
            put_line(&body, '-', m->from.at[(*x)++]);
        } else {
            same = 0;
            put_line(&body, '+', m->to.at[(*y)++]);
        }
    }
    for (int64_t extra = same - CONTEXT; extra > 0;
         extra--) { /* removes trailing lines beyond the context */
        body.size -= m->from.at[--*x].len + 1;
        --*y;
    }
    buf_printf(out, "@@ -%" PRId64 ",%" PRId64 " +%" PRId64 ",%" PRId64 " @@\n",
               old_at + (*x > old_at), *x - old_at, new_at + (*y > new_at), *y - new_at);
    buf_str(out, buf_view(&body));
}

void put_diff(struct buf *out, const char *name, struct str from, struct str to)
{
    SCOPED_ARENA a = arena_make();
    struct match m = {.from = split(&a, from), .to = split(&a, to)};
    match_lines(&a, &m);
    int64_t x = 0, y = 0, n = (int64_t)m.from.count, k = (int64_t)m.to.count;
    bool titled = false;
    while (x < n || y < k) {
        if (x < n && m.keep[x] == y) {
            x++, y++;
            continue;
        }
        if (!titled)
            buf_printf(out, "--- %s\n+++ %s\n", name, name);
        titled = true;
        put_hunk(out, &m, &x, &y);
    }
}
