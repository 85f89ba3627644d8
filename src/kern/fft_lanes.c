/*
 * spec: Fft
 *
 * Transforms of eight sequences at a time, one in each lane, factor by factor as in fft_row.c. A
 * sequence that is too long for the caches, or without seven others beside it, is taken as a matrix
 * of n1 rows and n2 columns: all columns are transformed, the results multiplied by roots of unity,
 * then all rows transformed; the result is that matrix column by column.
 *
 * A team shares groups of eight; the result of a lane doesn't depend on the others.
 */
#include "kern/fft_lanes.h"
#include "kern/nest.h"

enum {
    LANES = 8,
    LONG = 2048,
    SHARE = 1 << 14 /* least number of elements in a part of the task */
};

typedef double lanes_of_double __attribute__((vector_size(LANES * sizeof(double)), may_alias));

struct lanes {
    lanes_of_double re, im;
};

/* ---- passes ----
 *
 * A pass turns x, seen as [r][m][s], into y, seen as [m][r][s]: transforms of length r across x,
 * times roots. After all passes s is the whole length. */

struct pass {
    int64_t m, s;
    const struct lanes *x;
    struct lanes *y;
    const struct c128 *roots;
};

/* y = (re, im) * w */
#define STORE_TIMES(y, RE, IM, w)                                                                  \
    do {                                                                                           \
        const lanes_of_double re_ = (RE), im_ = (IM);                                              \
        (y)->re = re_ * (w).re - im_ * (w).im;                                                     \
        (y)->im = re_ * (w).im + im_ * (w).re;                                                     \
    } while (0)

KERN_CLONES static void pass_2(const struct pass *p)
{
    for (int64_t i = 0; i < p->m; i++) {
        const struct lanes *x = p->x + i * p->s, *z = x + p->m * p->s;
        const struct c128 w = p->roots[i * p->s];
        struct lanes *y = p->y + 2 * i * p->s;
        for (int64_t k = 0; k < p->s; k++) {
            y[k].re = x[k].re + z[k].re;
            y[k].im = x[k].im + z[k].im;
            STORE_TIMES(y + k + p->s, x[k].re - z[k].re, x[k].im - z[k].im, w);
        }
    }
}

KERN_CLONES static void pass_4(const struct pass *p)
{
    const int64_t step = p->m * p->s, s = p->s;
    for (int64_t i = 0; i < p->m; i++) {
        const struct lanes *x = p->x + i * s;
        struct lanes *y = p->y + 4 * i * s;
        const struct c128 w1 = p->roots[i * s], w2 = p->roots[2 * i * s], w3 = p->roots[3 * i * s];
        for (int64_t k = 0; k < s; k++) {
            const struct lanes *x0 = x + k, *x1 = x0 + step, *x2 = x1 + step, *x3 = x2 + step;
            const lanes_of_double even_re = x0->re + x2->re, even_im = x0->im + x2->im;
            const lanes_of_double odd_re = x1->re + x3->re, odd_im = x1->im + x3->im;
            const lanes_of_double a_re = x0->re - x2->re, a_im = x0->im - x2->im;
            const lanes_of_double b_re = x1->re - x3->re, b_im = x1->im - x3->im;
            y[k].re = even_re + odd_re;
            y[k].im = even_im + odd_im;
            STORE_TIMES(y + k + s, a_re + b_im, a_im - b_re, w1); /* a - i b */
            STORE_TIMES(y + k + 2 * s, even_re - odd_re, even_im - odd_im, w2);
            STORE_TIMES(y + k + 3 * s, a_re - b_im, a_im + b_re, w3);
        }
    }
}

KERN_CLONES static void pass_any(const struct pass *p, int r)
{
    const int64_t step = p->m * p->s;
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t k = 0; k < p->s; k++) {
            const struct lanes *x = p->x + i * p->s + k;
            for (int u = 0; u < r; u++) {
                lanes_of_double re = x->re, im = x->im;
                for (int t = 1; t < r; t++) {
                    const struct c128 w = p->roots[u * t % r * step];
                    re += x[t * step].re * w.re - x[t * step].im * w.im;
                    im += x[t * step].re * w.im + x[t * step].im * w.re;
                }
                struct lanes *y = p->y + (i * r + u) * p->s + k;
                STORE_TIMES(y, re, im, p->roots[i * u * p->s]);
            }
        }
}

/* Transforms; returns which of the two buffers, of n elements each, has the result. */
static struct lanes *transform(const struct fft_rows *f, struct lanes *x, struct lanes *other)
{
    struct pass p = {.m = f->n, .s = 1, .x = x, .y = other, .roots = f->roots};
    for (int k = 0; k < f->factor_count; k++) {
        const int r = f->factors[k];
        p.m /= r;
        if (r == 4)
            pass_4(&p);
        else if (r == 2)
            pass_2(&p);
        else
            pass_any(&p, r);
        p.s *= r;
        struct lanes *done = p.y;
        p.y = done == x ? other : x;
        p.x = done;
    }
    return p.x == x ? x : other;
}

/* ---- to lanes and back ---- */

/* n elements of up to eight sequences: element i of lane l is at x[i * step + l * next]. */
struct group {
    struct c128 *x;
    int64_t n, step, next;
    int count;
};

enum {
    AHEAD = 24 /* elements to prefetch by: the next ones are often in other pages, where processors
                  don't prefetch */
};

/* Copies sequences to lanes, conjugated if `back`. Unused lanes are zero. */
KERN_CLONES static void gather(const struct group *g, bool back, struct lanes *to)
{
    const double turn = back ? -1 : 1;
    const struct c128 *x = g->x;
    if (g->count == LANES && g->next == 1) {
        for (int64_t i = 0; i < g->n; i++, x += g->step) {
            __builtin_prefetch(x + AHEAD * g->step);
            __builtin_prefetch(x + AHEAD * g->step + LANES / 2);
            for (int l = 0; l < LANES; l++) {
                to[i].re[l] = x[l].re;
                to[i].im[l] = 0 + turn * x[l].im;
            }
        }
        return;
    }
    if (g->count < LANES)
        memset(to, 0, (size_t)g->n * sizeof *to);
    for (int64_t i = 0; i < g->n; i++, x += g->step)
        for (int l = 0; l < g->count; l++) {
            to[i].re[l] = x[l * g->next].re;
            to[i].im[l] = 0 + turn * x[l * g->next].im;
        }
}

/* Conjugates and divides by `scale`. */
KERN_CLONES static void rescale(double scale, int64_t n, struct lanes *x)
{
    for (int64_t i = 0; i < n; i++) {
        x[i].re /= scale;
        x[i].im = (0 - x[i].im) / scale;
    }
}

KERN_CLONES static void scatter(const struct group *g, const struct lanes *from)
{
    struct c128 *x = g->x;
    if (g->count == LANES && g->next == 1) {
        for (int64_t i = 0; i < g->n; i++, x += g->step) {
            __builtin_prefetch(x + AHEAD * g->step, 1);
            __builtin_prefetch(x + AHEAD * g->step + LANES / 2, 1);
            for (int l = 0; l < LANES; l++)
                x[l] = (struct c128){from[i].re[l], from[i].im[l]};
        }
        return;
    }
    for (int64_t i = 0; i < g->n; i++, x += g->step)
        for (int l = 0; l < g->count; l++)
            x[l * g->next] = (struct c128){from[i].re[l], from[i].im[l]};
}

/* ---- tasks ---- */

struct task {
    struct fft_sequences s;
    bool back;
    struct fft_rows f[2]; /* for whole sequences; or for columns, and for rows */
    int64_t groups;       /* number of groups in a set, or in a sequence */
    int64_t share;        /* number of groups in a part of the task */
    int64_t n1, n2;       /* rows and columns of a sequence */
    struct c128 *fine;    /* exp(-2 pi i k / n), k < n2 */
    int64_t turns; /* rows of a block: roots are kept for the rows of one block, and for the first
                      rows of all blocks */
    struct c128 *spare;
    int64_t room; /* struct lanes for each member of the team */
    struct lanes *rooms;
};

static int lanes_of(int64_t all, int64_t group)
{
    const int64_t left = all - group * LANES;
    return (int)(left < LANES ? left : LANES);
}

static void whole_sequences(void *context, int64_t part, int member)
{
    const struct task *t = context;
    const struct fft_sequences *s = &t->s;
    struct lanes *room = t->rooms + member * t->room;
    for (int64_t at = part * t->share; at < (part + 1) * t->share && at < s->sets * t->groups;
         at++) {
        const int64_t set = at / t->groups, group = at % t->groups;
        const struct group g = {.x = s->x + set * s->set_step + group * LANES * s->next,
                                .n = s->n,
                                .step = s->step,
                                .next = s->next,
                                .count = lanes_of(s->places, group)};
        gather(&g, t->back, room);
        struct lanes *x = transform(&t->f[0], room, room + s->n);
        if (t->back)
            rescale((double)s->n, s->n, x);
        scatter(&g, x);
    }
}

/* exp(-2 pi i k / n) for k < n */
static struct c128 root(const struct task *t, int64_t k)
{
    const struct c128 a = t->f[0].roots[k / t->n2], b = t->fine[k % t->n2];
    return (struct c128){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* Multiplies row i of column j by exp(-2 pi i * i * j / n): by a root for its block and one for its
 * place in the block. */
KERN_CLONES static void turn(const struct lanes *blocks, const struct lanes *places, int64_t turns,
                             int64_t n, struct lanes *x)
{
    for (int64_t i = 0, block = 0; i < n; i += turns, block++)
        for (int64_t k = 0; k < turns && i + k < n; k++) {
            const struct lanes *a = blocks + block, *b = places + k;
            const lanes_of_double re = a->re * b->re - a->im * b->im,
                                  im = a->re * b->im + a->im * b->re;
            const struct lanes v = x[i + k];
            x[i + k].re = v.re * re - v.im * im;
            x[i + k].im = v.re * im + v.im * re;
        }
}

static void columns(void *context, int64_t part, int member)
{
    const struct task *t = context;
    struct lanes *room = t->rooms + member * t->room, *places = room + 2 * t->n1,
                 *blocks = places + t->turns;
    const int64_t sequence = part / t->groups, group = part % t->groups, first = group * LANES;
    const struct group g = {.x = t->s.x + sequence * t->s.n + first,
                            .n = t->n1,
                            .step = t->n2,
                            .next = 1,
                            .count = lanes_of(t->n2, group)};
    gather(&g, t->back, room);
    struct lanes *x = transform(&t->f[0], room, room + t->n1);
    for (int l = 0; l < g.count; l++) {
        for (int64_t k = 0; k < t->turns; k++) {
            const struct c128 w = root(t, (first + l) * k % t->s.n);
            places[k].re[l] = w.re;
            places[k].im[l] = w.im;
        }
        for (int64_t k = 0; k * t->turns < t->n1; k++) {
            const struct c128 w = root(t, (first + l) * k * t->turns);
            blocks[k].re[l] = w.re;
            blocks[k].im[l] = w.im;
        }
    }
    turn(blocks, places, t->turns, t->n1, x);
    scatter(&g, x);
}

static void rows(void *context, int64_t part, int member)
{
    const struct task *t = context;
    struct lanes *room = t->rooms + member * t->room;
    const int64_t sequence = part / ratio_up(t->n1, LANES), group = part % ratio_up(t->n1, LANES);
    struct group g = {.x = t->s.x + sequence * t->s.n + group * LANES * t->n2,
                      .n = t->n2,
                      .step = 1,
                      .next = t->n2,
                      .count = lanes_of(t->n1, group)};
    gather(&g, false, room);
    struct lanes *x = transform(&t->f[1], room, room + t->n2);
    if (t->back)
        rescale((double)t->s.n, t->n2, x);
    g.x = t->spare + sequence * t->s.n + group * LANES;
    g.step = t->n1;
    g.next = 1;
    scatter(&g, x);
}

/* ---- the whole ---- */

/* The largest divisor of n up to its square root; n has small factors only. */
static int64_t middle_divisor(int64_t n)
{
    int64_t best = 1;
    for (int64_t k = 2; k * k <= n; k++)
        best = n % k == 0 ? k : best;
    return best;
}

static bool is_split(const struct fft_sequences *s)
{
    const bool rows = s->step == 1 && s->next == s->n && s->sets == 1;
    return rows && (s->n > LONG || (s->places < LANES && s->n >= LANES * LANES)) &&
           middle_divisor(s->n) >= LANES;
}

bool fft_lanes_need_spare(const struct fft_sequences *s) { return is_split(s); }

static bool make_rooms(struct team *team, struct task *t, int64_t lanes)
{
    t->room = lanes;
    t->rooms = mem_alloc((size_t)(lanes * team_size(team)) * sizeof *t->rooms);
    return t->rooms != NULL;
}

static bool run_whole(struct team *team, struct task *t)
{
    if (!fft_factors_make(&t->f[0], t->s.n) || !make_rooms(team, t, 2 * t->s.n))
        return false;
    t->groups = ratio_up(t->s.places, LANES);
    t->share = SHARE / (LANES * t->s.n) > 1 ? SHARE / (LANES * t->s.n) : 1;
    team_run(team, ratio_up(t->s.sets * t->groups, t->share), whole_sequences, t);
    return true;
}

static bool run_split(struct team *team, struct task *t)
{
    t->n1 = middle_divisor(t->s.n);
    t->n2 = t->s.n / t->n1;
    t->turns = 32;
    t->fine = mem_alloc((size_t)t->n2 * sizeof *t->fine);
    if (!t->fine || !fft_factors_make(&t->f[0], t->n1) || !fft_factors_make(&t->f[1], t->n2) ||
        !make_rooms(team, t, 2 * t->n2 + t->turns + t->n1 / t->turns + 1))
        return false;
    for (int64_t k = 0; k < t->n2; k++)
        t->fine[k] = kern_root_of_unity(k, t->s.n);
    t->groups = ratio_up(t->n2, LANES);
    team_run(team, t->s.places * t->groups, columns, t);
    team_run(team, t->s.places * ratio_up(t->n1, LANES), rows, t);
    return true;
}

bool fft_lanes(struct team *team, const struct fft_sequences *s, bool back, struct c128 *spare,
               bool *moved)
{
    struct task t = {.s = *s, .back = back, .spare = spare};
    *moved = is_split(s);
    const bool ok = *moved ? run_split(team, &t) : run_whole(team, &t);
    fft_rows_free(&t.f[0]);
    fft_rows_free(&t.f[1]);
    mem_free(t.fine);
    mem_free(t.rooms);
    return ok;
}
