/*
 * pieces.c: concatenations read through the slices and concatenations that make their operands,
 * which then need not be computed: a roll along two dimensions copies four pieces of its operand.
 *
 * Only moves in a row are read through, so that no step in between updates in place what would be
 * read later; and concatenations only if nothing else reads them.
 */
#include "plan/plan_priv.h"

enum { MAX_PIECES = 16, MAX_DEPTH = 32 };

struct reading {
    struct build *b;
    const bool *moved; /* by value: read by concatenations only, perhaps through slices */
    int first;         /* the first of the moves in a row */
    int operand_count, operands[MAX_PIECES];
    int count;
    struct piece at[MAX_PIECES];
    bool any; /* something is read through */
};

/* Some elements of a value, and their place in the result. */
struct box {
    int64_t start[VIEW_MAX_RANK], size[VIEW_MAX_RANK], stride[VIEW_MAX_RANK], place[VIEW_MAX_RANK];
};

static bool is_move(const struct step *s)
{
    return (op_is(s->inst->opcode, OP_VIEW) || s->inst->opcode == OP_CONCATENATE) &&
           s->result_count == 1 && s->results[0] != NO_VALUE;
}

/* Whether the step is this move of arrays of one type. */
static bool moves(const struct step *s, enum opcode op)
{
    bool ok = s->inst->opcode == op && is_move(s) && s->shapes[0]->rank <= VIEW_MAX_RANK &&
              s->operand_count == s->inst->operand_count;
    for (int k = 0; k < s->operand_count && ok; k++)
        ok =
            s->operands[k] != NO_VALUE && s->inst->operands[k]->shape->dtype == s->shapes[0]->dtype;
    return ok;
}

static bool add_operand(struct reading *r, int value, int *number)
{
    for (*number = 0; *number < r->operand_count; ++*number)
        if (r->operands[*number] == value)
            return true;
    if (r->operand_count == MAX_PIECES)
        return false;
    r->operands[r->operand_count++] = value;
    return true;
}

static bool add_piece(struct reading *r, int value, int rank, const struct box *x)
{
    struct arena *keep = build_arena(r->b);
    struct piece *p = &r->at[r->count];
    int64_t limit[VIEW_MAX_RANK];
    if (r->count == MAX_PIECES || !add_operand(r, value, &p->operand))
        return false;
    for (int d = 0; d < rank; d++)
        limit[d] = x->start[d] + (x->size[d] - 1) * x->stride[d] + 1;
    p->start = ARENA_DUP(keep, x->start, rank);
    p->limit = ARENA_DUP(keep, limit, rank);
    p->stride = ARENA_DUP(keep, x->stride, rank);
    p->place = ARENA_DUP(keep, x->place, rank);
    r->count++;
    return true;
}

static bool read_value(struct reading *r, int value, int rank, const struct box *x, int depth);

static bool read_slice(struct reading *r, const struct step *s, const struct box *x, int depth)
{
    const struct slices slices = inst_attr(s->inst, A_SLICE)->v.slices;
    struct box of = *x;
    for (int d = 0; d < slices.rank; d++) {
        of.start[d] = slices.dims[d].start + x->start[d] * slices.dims[d].stride;
        of.stride[d] = x->stride[d] * slices.dims[d].stride;
    }
    r->any = true;
    return read_value(r, s->operands[0], slices.rank, &of, depth);
}

/* The first element of the box along a dimension that is not before `at`. */
static int64_t first_from(const struct box *x, int64_t d, int64_t at)
{
    const int64_t n = at <= x->start[d] ? 0 : ratio_up(at - x->start[d], x->stride[d]);
    return min_i64(n, x->size[d]);
}

static bool read_operands(struct reading *r, const struct step *s, const struct box *x, int depth)
{
    const int64_t d = inst_ints(s->inst, A_DIMENSIONS).at[0];
    int64_t at = 0;
    bool ok = true;
    for (int k = 0; k < s->operand_count && ok; k++) {
        const int64_t end = at + s->inst->operands[k]->shape->dims[d], from = first_from(x, d, at),
                      to = first_from(x, d, end);
        struct box of = *x;
        of.start[d] = x->start[d] + from * x->stride[d] - at;
        of.size[d] = to - from;
        of.place[d] = x->place[d] + from;
        ok = from == to || read_value(r, s->operands[k], s->shapes[0]->rank, &of, depth);
        at = end;
    }
    return ok;
}

static bool read_value(struct reading *r, int value, int rank, const struct box *x, int depth)
{
    const int k = value >= 0 ? r->b->maker[value] : -1;
    const struct step *s = k >= r->first && depth < MAX_DEPTH ? &r->b->f->steps[k] : NULL;
    if (s && moves(s, OP_SLICE))
        return read_slice(r, s, x, depth + 1);
    if (!s || !moves(s, OP_CONCATENATE) || !r->moved[value])
        return add_piece(r, value, rank, x);
    r->any = true;
    return read_operands(r, s, x, depth + 1);
}

/* Makes a concatenation read the pieces of its result. */
static void read_through(struct reading *r, struct step *s)
{
    const int rank = s->shapes[0]->rank;
    struct arena *keep = build_arena(r->b);
    struct box whole = {.start = {0}};
    for (int d = 0; d < rank; d++) {
        whole.size[d] = s->shapes[0]->dims[d];
        whole.stride[d] = 1;
    }
    if (dims_elements(rank, whole.size) == 0 || !read_operands(r, s, &whole, 0) || !r->any)
        return;
    int *starts = ARENA_ARRAY(keep, int, s->inst->operand_count + 1);
    for (int k = 1; k <= s->inst->operand_count; k++)
        starts[k] = r->operand_count;
    s->operands = ARENA_DUP(keep, r->operands, r->operand_count);
    s->operand_count = r->operand_count;
    s->starts = starts;
    s->kind = STEP_PIECES;
    s->as.pieces = (struct pieces_step){r->count, ARENA_DUP(keep, r->at, r->count)};
}

/* By step: the first of the moves in a row up to it. */
static int *find_rows_of_moves(struct build *b)
{
    int *first = ARENA_ARRAY(&b->pl->scratch, int, b->f->step_count);
    for (int k = 0; k < b->f->step_count; k++)
        first[k] = k > 0 && is_move(&b->f->steps[k - 1]) ? first[k - 1] : k;
    return first;
}

/* Whether all that step k, one of the moves in a row, makes is read by concatenations. */
static bool passes_on(const struct step *s, const bool *moved)
{
    return moves(s, OP_CONCATENATE) || (moves(s, OP_SLICE) && moved[s->results[0]]);
}

static bool *find_moved(struct build *b, const int *first, struct leaves results)
{
    bool *moved = ARENA_ARRAY(&b->pl->scratch, bool, b->value_count);
    memset(moved, true, (size_t)b->value_count * sizeof *moved);
    for (int k = 0; k < results.count; k++)
        if (results.at[k] >= 0)
            moved[results.at[k]] = false;
    for (int k = b->f->step_count - 1; k >= 0; k--) {
        const struct step *s = &b->f->steps[k];
        const bool passes = passes_on(s, moved);
        for (int j = 0; j < s->operand_count; j++)
            if (s->operands[j] >= 0)
                moved[s->operands[j]] &= passes && b->maker[s->operands[j]] >= first[k];
    }
    return moved;
}

void plan_read_through(struct build *b, struct leaves results)
{
    const int *first = find_rows_of_moves(b);
    const bool *moved = find_moved(b, first, results);
    for (int k = b->f->step_count - 1; k >= 0; k--) {
        struct reading r = {.b = b, .moved = moved, .first = first[k]};
        if (moves(&b->f->steps[k], OP_CONCATENATE))
            read_through(&r, &b->f->steps[k]);
    }
}
