/*
 * fuse.c: selects the steps that become one fused loop (kern/fused.c): steps that feed each other,
 * whose values pass from op to op in tiles, so that only the values read outside become arrays.
 * Candidates are elementwise steps, reductions, broadcasts of the results of such reductions, and
 * reshapes that only add or drop dimensions of size 1.
 *
 * From the last step to the first, a step joins the group of the first reader of its value, if it
 * fits the group's rows and elements. A value that is also read elsewhere becomes one more result
 * of the group, unless it is cheaper to compute it again in each group that reads it. A step whose
 * value no group reads joins one that reads the same array, before anything reads its value. A
 * group runs at the position of its last step, so its other steps run later than in the original
 * order; this must not extend the live range of an array that a step in between updates in place.
 * Reshapes of computed values are moved down to their first readers, so that such a step may run
 * past the reshape of its value; the components of a concatenation are computed in one group.
 */
#include "plan/fuse.h"

enum { NONE = -1 };
enum {
    MAX_READERS = 4, /* groups that are known to read a value */
    MAX_COPIES = 8   /* of cheap steps in a group */
};

/* Groups that read the elements of a value, latest first. */
struct readers {
    int count; /* greater than MAX_READERS: some are not listed */
    int at[MAX_READERS];
};

struct fusing {
    struct planner *pl;
    struct function *f;
    struct fuse_group **groups; /* by its last step */
    /* by step: the last step of its group; itself when it is alone; NONE: cannot be in a group */
    int *root;
    /* by step: the first of the moves that run again after this last step of a group, whose value
     * is also read outside; the next one; or NONE */
    int *again, *next_again;
    int *reader;             /* by value: the first group that reads it, or NONE */
    struct readers *readers; /* by value */
    bool *stored;            /* by value: read as an array by something that is not in a group */
    /* by value: the first group, step or result that reads it as an array; INT_MAX: none */
    int *next_array;
    int *next_other; /* by value: the first known reader outside of any group */
    bool *
        from_reduction; /* by value: computed, element by element, from the result of a reduction */
    enum fuse_role *roles;         /* by step */
    const struct shape **shapes;   /* by value */
    const struct inst **broadcast; /* by value: the broadcast that makes it, or NULL */
    bool *transposed;              /* by value: the result of a transpose */
    /* by value: the concatenation that reads it, perhaps reshaped, or NONE; by step: the last group
     * that computes an operand of this concatenation, or NONE */
    int *concatenation, *component_group;
};

/* ---- dimensions, ignoring those of size 1 ---- */

static int squeeze(const struct shape *s, int64_t *dims)
{
    int rank = 0;
    for (int d = 0; d < s->rank; d++)
        if (s->dims[d] != 1)
            dims[rank++] = s->dims[d];
    return rank;
}

static bool equal_dims(int a_rank, const int64_t *a, int b_rank, const int64_t *b)
{
    return a_rank == b_rank && memcmp(a, b, (size_t)a_rank * sizeof *a) == 0;
}

bool fuse_same_dims(const struct shape *a, const struct shape *b)
{
    int64_t a_dims[VIEW_MAX_RANK], b_dims[VIEW_MAX_RANK];
    const int rank = squeeze(a, a_dims);
    return equal_dims(rank, a_dims, squeeze(b, b_dims), b_dims);
}

/* The dimensions of a reduction's operand, or of a broadcast's result. */
struct rows {
    int rank, row_rank;
    int64_t dims[VIEW_MAX_RANK];
    bool reduced[VIEW_MAX_RANK]; /* that the reduction removes, or the broadcast adds */
    int64_t kept[VIEW_MAX_RANK]; /* the others */
};

/* False: the broadcast exchanges dimensions. */
static bool find_rows(const struct inst *i, struct rows *r)
{
    const bool reduce = i->opcode == OP_REDUCE;
    const struct shape *s = reduce ? i->operands[0]->shape : i->shape;
    const struct ints dims = inst_ints(i, A_DIMENSIONS);
    bool listed[VIEW_MAX_RANK] = {false};
    int64_t before = -1;
    for (int64_t k = 0; k < dims.count; k++) {
        if (!reduce && s->dims[dims.at[k]] != 1 && dims.at[k] < before)
            return false;
        before = s->dims[dims.at[k]] != 1 ? dims.at[k] : before;
        listed[dims.at[k]] = true;
    }
    r->rank = r->row_rank = 0;
    for (int d = 0; d < s->rank; d++) {
        if (s->dims[d] == 1)
            continue;
        r->reduced[r->rank] = listed[d] == reduce;
        if (!r->reduced[r->rank])
            r->kept[r->row_rank++] = s->dims[d];
        r->dims[r->rank++] = s->dims[d];
    }
    return true;
}

/* ---- candidate steps ---- */

static bool is_elementwise(const struct step *s)
{
    const struct inst *i = s->inst;
    if (!step_tile(s) || s->operand_count > KERN_MAX_ARGS || s->operand_count != i->operand_count)
        return false;
    const struct shape *out = s->shapes[0];
    bool ok = s->as.tile.result == out->dtype;
    for (int k = 0; k < s->operand_count && ok; k++) {
        const struct shape *x = i->operands[k]->shape;
        ok = s->operands[k] != NO_VALUE && x->dtype == fuse_operand_type(s, k) &&
             (x->rank == 0 || fuse_same_dims(x, out));
    }
    return ok;
}

static bool is_reduction(const struct step *s)
{
    const struct inst *i = s->inst;
    int64_t elements;
    return i->opcode == OP_REDUCE && i->operand_count == 2 && s->operand_count == 2 &&
           s->operands[0] != NO_VALUE && s->operands[1] != NO_VALUE &&
           shape_elements(i->operands[0]->shape, &elements) && elements > 0 &&
           i->operands[1]->shape->dtype == s->bodies->args[0] &&
           !fuse_same_dims(i->operands[0]->shape, s->shapes[0]) &&
           kern_can_reduce(s->bodies->combine, i->operands[0]->shape->dtype, s->bodies->args[0]);
}

static enum fuse_role role_of(const struct step *s)
{
    const struct inst *i = s->inst;
    if (s->result_count != 1 || s->results[0] == NO_VALUE || s->shapes[0]->rank > VIEW_MAX_RANK ||
        dims_elements(s->shapes[0]->rank, s->shapes[0]->dims) == 0)
        return FUSE_NOT;
    const bool moves = (i->opcode == OP_RESHAPE || i->opcode == OP_BROADCAST) &&
                       s->operand_count == 1 && s->operands[0] >= 0 &&
                       s->shapes[0]->dtype == i->operands[0]->shape->dtype;
    struct rows rows;
    if (moves && fuse_same_dims(s->shapes[0], i->operands[0]->shape))
        return i->opcode == OP_RESHAPE || find_rows(i, &rows) ? FUSE_ALIAS : FUSE_NOT;
    if (moves)
        return i->opcode == OP_BROADCAST && find_rows(i, &rows) ? FUSE_REPEAT : FUSE_NOT;
    return is_elementwise(s) ? FUSE_APPLY : is_reduction(s) ? FUSE_REDUCE : FUSE_NOT;
}

/* ---- groups ---- */

static bool is_array(const struct fusing *z, int value)
{
    if (value >= 0)
        return z->shapes[value]->rank > 0;
    const struct view *v = &z->pl->p->constants[~value];
    return dims_elements(v->rank, v->dims) > 1;
}

static bool add_leaf(const struct fusing *z, struct fuse_group *g, int value)
{
    const int at = fuse_find_leaf(g, value);
    if (at < g->leaf_count)
        return true;
    const bool array = is_array(z, value);
    if (at == KERN_FUSED_VIEWS || (array && g->array_count == KERN_FUSED_ARRAYS))
        return false;
    g->leaves[g->leaf_count++] = value;
    g->array_count += array;
    return true;
}

static bool add_leaves(const struct fusing *z, struct fuse_group *g, const struct step *s)
{
    bool ok = true;
    for (int k = 0; k < s->operand_count && ok; k++)
        ok = add_leaf(z, g, s->operands[k]);
    return ok;
}

/* Whether step k may run at the position of the group of `root`: not if an operand that the group
 * does not read anyway would have to live longer, as it may be updated in place. */
static bool may_move(const struct fusing *z, const struct fuse_group *g, int k, int root)
{
    const struct step *s = &z->f->steps[k];
    for (int j = 0; j < s->operand_count; j++)
        if (s->operands[j] >= 0 && z->shapes[s->operands[j]]->rank > 0 &&
            z->next_other[s->operands[j]] < root &&
            fuse_find_leaf(g, s->operands[j]) == g->leaf_count)
            return false;
    return true;
}

static void take_rows(struct fusing *z, struct fuse_group *g, const struct rows *r)
{
    g->rank = r->rank;
    g->row_rank = r->row_rank;
    g->dims = ARENA_DUP(&z->pl->scratch, r->dims, r->rank);
    g->reduced = ARENA_DUP(&z->pl->scratch, r->reduced, r->rank);
}

/* Matches the dimensions of a reduction or a broadcast with those of the group. A group without
 * rows gets them here: the values it has so far are its elements or, when they are fewer, its row
 * values. */
static bool set_rows(struct fusing *z, struct fuse_group *g, const struct rows *r)
{
    if (r->rank == r->row_rank)
        return false;
    const bool of_elements = equal_dims(g->rank, g->dims, r->rank, r->dims);
    if (g->row_rank != g->rank)
        return of_elements && memcmp(g->reduced, r->reduced, (size_t)r->rank) == 0;
    if (!of_elements && !equal_dims(g->rank, g->dims, r->row_rank, r->kept))
        return false;
    take_rows(z, g, r);
    return true;
}

/* The rank of a shape if it is that of the group's elements, or of its row values; else -1. */
static int rank_in(const struct fuse_group *g, const struct shape *s)
{
    int64_t dims[VIEW_MAX_RANK], kept[VIEW_MAX_RANK];
    const int rank = squeeze(s, dims);
    int count = 0;
    for (int d = 0; d < g->rank && g->row_rank < g->rank; d++)
        if (!g->reduced[d])
            kept[count++] = g->dims[d];
    return equal_dims(rank, dims, g->rank, g->dims) ||
                   (g->row_rank < g->rank && equal_dims(rank, dims, count, kept))
               ? rank
               : -1;
}

/* Whether a step fits the rows and elements of a group; may set the group's rows. */
static bool fits(struct fusing *z, struct fuse_group *g, const struct step *s, enum fuse_role role)
{
    struct rows r;
    const int rank = rank_in(g, s->shapes[0]);
    switch (role) {
    case FUSE_APPLY:
    case FUSE_ALIAS: return rank >= 0;
    case FUSE_REPEAT:
        return z->from_reduction[s->operands[0]] && rank == g->rank && find_rows(s->inst, &r) &&
               set_rows(z, g, &r) &&
               kern_fused_fits(g->rank, g->dims, g->reduced, dtype_bytes(s->shapes[0]->dtype));
    case FUSE_REDUCE:
        return rank >= 0 && find_rows(s->inst, &r) && rank == r.row_rank && set_rows(z, g, &r);
    default: return false;
    }
}

/* Adds a value that is read outside its group to the group's results. */
static bool add_result(const struct fusing *z, struct fuse_group *g, int k)
{
    const struct step *s = &z->f->steps[k];
    if (z->next_array[s->results[0]] == INT_MAX)
        return true;
    if (g->out_count == KERN_FUSED_RESULTS || s->hoist != HOIST_NOT ||
        (z->roles[k] != FUSE_APPLY && z->roles[k] != FUSE_REDUCE))
        return false;
    g->outs[g->out_count++] = k;
    return true;
}

/* Adds a step to a group; the group is changed even if it does not fit. */
static bool add_step(struct fusing *z, struct fuse_group *g, int k, int root)
{
    const struct step *s = &z->f->steps[k];
    const enum fuse_role role = z->roles[k];
    const int at = fuse_find_leaf(g, s->results[0]);
    if (g->steps + g->narrow >= FUSE_MAX_STEPS || s->hoist != z->f->steps[root].hoist ||
        !may_move(z, g, k, root) || !fits(z, g, s, role))
        return false;
    if (at < g->leaf_count) {
        g->leaves[at] = g->leaves[--g->leaf_count];
        g->array_count -= is_array(z, s->results[0]);
    }
    g->at[g->steps++] = k;
    g->narrow += dtype_bytes(s->shapes[0]->dtype) < 4;
    g->work += role == FUSE_APPLY || role == FUSE_REDUCE;
    g->reducers += role == FUSE_REDUCE;
    return g->reducers <= KERN_FUSED_REDUCERS && add_leaves(z, g, s);
}

static bool join(struct fusing *z, int k, int root)
{
    const int value = z->f->steps[k].results[0];
    struct fuse_group g = *z->groups[root];
    if (z->next_array[value] <= root || !add_result(z, &g, k) || !add_step(z, &g, k, root))
        return false;
    *z->groups[root] = g;
    z->root[k] = root;
    return true;
}

/* A move is no result, but its array is a view: it runs again after the group. */
static bool join_and_run_again(struct fusing *z, int k, int root)
{
    const int value = z->f->steps[k].results[0];
    struct fuse_group g = *z->groups[root];
    if ((z->roles[k] != FUSE_REPEAT && z->roles[k] != FUSE_ALIAS) ||
        z->f->steps[k].hoist != HOIST_NOT || z->next_array[value] <= root ||
        !add_step(z, &g, k, root))
        return false;
    *z->groups[root] = g;
    z->root[k] = root;
    z->next_again[k] = z->again[root];
    z->again[root] = k;
    return true;
}

/* Bytes per element of the arrays that a group would have to read if it computed the step. */
static size_t bytes_to_read(const struct fusing *z, const struct fuse_group *g,
                            const struct step *s)
{
    size_t bytes = 0;
    for (int j = 0; j < s->operand_count; j++) {
        const int v = s->operands[j];
        const bool repeated =
            v >= 0 ? z->shapes[v]->rank == 0 || z->broadcast[v] : z->pl->p->constants[~v].rank == 0;
        if (!repeated && fuse_find_leaf(g, v) == g->leaf_count)
            bytes += dtype_bytes(fuse_operand_type(s, j));
    }
    return bytes;
}

/* Adds a cheap step to every group that reads its value if then they read and write less than with
 * an array of it. */
static bool join_all(struct fusing *z, int k)
{
    const struct step *s = &z->f->steps[k];
    const struct readers *r = &z->readers[s->results[0]];
    struct fuse_group made[MAX_READERS];
    int64_t dims[VIEW_MAX_RANK];
    size_t bytes = 0;
    if (r->count < 2 || r->count > MAX_READERS || z->stored[s->results[0]] ||
        z->roles[k] != FUSE_APPLY || !op_is(s->inst->opcode, OP_CHEAP))
        return false;
    const int rank = squeeze(s->shapes[0], dims);
    for (int j = 0; j < r->count; j++) {
        const int root = r->at[j];
        made[j] = *z->groups[root];
        bytes += root == z->reader[s->results[0]] ? 0 : bytes_to_read(z, &made[j], s);
        if (made[j].copies++ == MAX_COPIES || !add_step(z, &made[j], k, root) ||
            !equal_dims(rank, dims, made[j].rank, made[j].dims))
            return false;
    }
    if (bytes >= (size_t)r->count * dtype_bytes(s->shapes[0]->dtype))
        return false;
    for (int j = 0; j < r->count; j++)
        *z->groups[r->at[j]] = made[j];
    z->root[k] = r->at[0];
    return true;
}

/* Adds a step to a group that runs before its value is read. */
static bool join_as_result(struct fusing *z, int k, int root)
{
    const int value = z->f->steps[k].results[0], reader = z->reader[value];
    struct fuse_group g = *z->groups[root];
    if (root >= z->next_array[value] || (reader != NONE && root >= reader) ||
        g.out_count == KERN_FUSED_RESULTS || !add_step(z, &g, k, root))
        return false;
    g.outs[g.out_count++] = k;
    *z->groups[root] = g;
    z->root[k] = root;
    return true;
}

/* Adds a step to a group that reads one of its operands, or computes another operand of the
 * concatenation that reads its value. */
static bool join_sibling(struct fusing *z, int k)
{
    const struct step *s = &z->f->steps[k];
    if (s->hoist != HOIST_NOT)
        return false;
    for (int j = 0; j < s->operand_count; j++) {
        const int v = s->operands[j];
        if (v < 0 || z->shapes[v]->rank == 0 || z->broadcast[v])
            continue;
        const struct readers *r = &z->readers[v];
        for (int i = 0; i < r->count && i < MAX_READERS; i++)
            if (fuse_find_leaf(z->groups[r->at[i]], v) < z->groups[r->at[i]]->leaf_count &&
                join_as_result(z, k, r->at[i]))
                return true;
    }
    const int c = z->concatenation[s->results[0]];
    return c != NONE && z->component_group[c] != NONE &&
           join_as_result(z, k, z->component_group[c]);
}

static void start_group(struct fusing *z, int k)
{
    const struct step *s = &z->f->steps[k];
    const bool reduces = z->roles[k] == FUSE_REDUCE;
    struct rows r;
    struct fuse_group *g = ARENA_NEW(&z->pl->scratch, struct fuse_group);
    *g = (struct fuse_group){
        .steps = 1, .work = 1, .reducers = reduces, .at = {k}, .out_count = 1, .outs = {k}};
    if (reduces) {
        find_rows(s->inst, &r);
    } else {
        r.rank = r.row_rank = squeeze(s->shapes[0], r.dims);
        memset(r.reduced, 0, sizeof r.reduced);
    }
    take_rows(z, g, &r);
    z->root[k] = k;
    z->groups[k] = g;
    add_leaves(z, g, s);
}

static bool may_start(const struct fusing *z, int k)
{
    return z->roles[k] == FUSE_REDUCE ||
           (z->roles[k] == FUSE_APPLY && z->f->steps[k].shapes[0]->rank > 0);
}

/* Single elements that are repeated must come from outside the group. */
static bool is_repeated(const struct fusing *z, int k, int operand)
{
    const struct step *s = &z->f->steps[k];
    if (z->roles[k] == FUSE_REDUCE)
        return operand > 0;
    const int v = s->operands[operand];
    return z->roles[k] == FUSE_APPLY && s->shapes[0]->rank > 0 && v >= 0 && z->shapes[v]->rank == 0;
}

static void note_array(struct fusing *z, int value, int at)
{
    if (at < z->next_array[value])
        z->next_array[value] = at;
}

static void note_reader(struct fusing *z, int value, int root)
{
    int *first = &z->reader[value];
    struct readers *r = &z->readers[value];
    if (*first != NONE && *first != root) /* the later group reads a result of the earlier one */
        note_array(z, value, *first > root ? *first : root);
    *first = *first == NONE || root < *first ? root : *first;
    for (int k = 0; k < r->count && k < MAX_READERS; k++)
        if (r->at[k] == root)
            return;
    if (r->count < MAX_READERS)
        r->at[r->count] = root;
    r->count++;
}

/* Notes that step k reads its operands outside of groups, at position `at`. */
static void note_other_reads(struct fusing *z, int k, int at)
{
    const struct step *s = &z->f->steps[k];
    for (int j = 0; j < s->operand_count; j++) {
        const int v = s->operands[j];
        if (v < 0)
            continue;
        z->next_other[v] = at;
        z->stored[v] = true;
        note_array(z, v, at);
    }
}

/* Notes that step k reads its operands in the group of `root`. */
static void note_group_reads(struct fusing *z, int k, int root)
{
    const struct step *s = &z->f->steps[k];
    for (int j = 0; j < s->operand_count; j++) {
        const int v = s->operands[j];
        if (v >= 0 && is_repeated(z, k, j)) {
            z->stored[v] = true;
            note_array(z, v, root);
        } else if (v >= 0) {
            note_reader(z, v, root);
        }
    }
}

static void place(struct fusing *z, int k)
{
    z->root[k] = NONE;
    if (z->roles[k] == FUSE_NOT) {
        note_other_reads(z, k, k);
        return;
    }
    const int value = z->f->steps[k].results[0], root = z->reader[value];
    if (join_all(z, k)) {
        const struct readers *r = &z->readers[value];
        for (int j = 0; j < r->count; j++)
            note_group_reads(z, k, r->at[j]);
    } else if ((root >= 0 && join(z, k, root)) || (may_start(z, k) && join_sibling(z, k))) {
        note_group_reads(z, k, z->root[k]);
    } else if (root >= 0 && join_and_run_again(z, k, root)) {
        note_group_reads(z, k, root);
        note_other_reads(z, k, root + 1);
    } else if (may_start(z, k)) {
        start_group(z, k);
        note_group_reads(z, k, k);
    } else {
        note_other_reads(z, k, k);
    }
    if (z->root[k] >= 0 && z->concatenation[value] != NONE)
        z->component_group[z->concatenation[value]] = z->root[k];
}

/* ---- broadcasts of single elements: elementwise steps repeat these without help ---- */

static void keep_steps(struct function *f, const bool *stays)
{
    int count = 0;
    for (int k = 0; k < f->step_count; k++)
        if (stays[k])
            f->steps[count++] = f->steps[k];
    f->step_count = count;
}

/* The single-element value that step k repeats, or NO_VALUE. */
static int repeated_element(const struct function *f, int k)
{
    const struct step *s = &f->steps[k];
    if (s->inst->opcode != OP_BROADCAST || s->operand_count != 1 || s->operands[0] == NO_VALUE ||
        s->inst->operands[0]->shape->rank > 0 ||
        s->inst->operands[0]->shape->dtype != s->shapes[0]->dtype)
        return NO_VALUE;
    return s->operands[0];
}

static void read_elements(struct planner *pl, struct function *f, const int *maker, struct step *s)
{
    int *operands = NULL;
    for (int j = 0; j < s->operand_count; j++) {
        const int by = s->operands[j] >= 0 ? maker[s->operands[j]] : NONE;
        const int element = by >= 0 ? repeated_element(f, by) : NO_VALUE;
        if (element == NO_VALUE)
            continue;
        if (!operands)
            operands = ARENA_DUP(&pl->p->arena, s->operands, s->operand_count);
        operands[j] = element;
        s->operands = operands;
    }
}

/* Makes elementwise steps read single elements directly instead of their broadcasts, and drops the
 * broadcasts that are no longer read. */
static void drop_broadcasts(struct planner *pl, struct function *f, int value_count,
                            struct leaves results)
{
    int *maker = ARENA_ARRAY(&pl->scratch, int, value_count);
    bool *read = ARENA_ARRAY(&pl->scratch, bool, value_count);
    for (int v = 0; v < value_count; v++)
        maker[v] = NONE;
    for (int k = 0; k < f->step_count; k++) {
        struct step *s = &f->steps[k];
        if (step_tile(s) && s->hoist == HOIST_NOT && s->shapes[0]->rank > 0)
            read_elements(pl, f, maker, s);
        for (int j = 0; j < s->operand_count; j++)
            if (s->operands[j] >= 0)
                read[s->operands[j]] = true;
        for (int r = 0; r < s->result_count; r++)
            if (s->results[r] >= 0)
                maker[s->results[r]] = k;
    }
    for (int j = 0; j < results.count; j++)
        if (results.at[j] >= 0)
            read[results.at[j]] = true;
    bool *stays = ARENA_ARRAY(&pl->scratch, bool, f->step_count);
    for (int k = 0; k < f->step_count; k++)
        stays[k] = repeated_element(f, k) == NO_VALUE || read[f->steps[k].results[0]];
    keep_steps(f, stays);
}

/* ---- reshapes of computed values ---- */

/* Whether step k is a reshape of a value that it aliases in any case. */
static bool reshapes(const struct function *f, const int *maker, int k)
{
    const struct step *s = &f->steps[k];
    if (s->inst->opcode != OP_RESHAPE || s->operand_count != 1 || s->operands[0] < 0 ||
        s->result_count != 1 || s->results[0] == NO_VALUE || s->hoist != HOIST_NOT)
        return false;
    const int by = maker[s->operands[0]];
    return by >= 0 && f->steps[by].hoist == HOIST_NOT && step_tile(&f->steps[by]);
}

/* Moves reshapes of computed values down to their first readers. */
static void move_reshapes_down(struct planner *pl, struct function *f, int value_count)
{
    struct arena *a = &pl->scratch;
    const int n = f->step_count;
    int *maker = ARENA_ARRAY(a, int, value_count), *reader = ARENA_ARRAY(a, int, value_count);
    bool *moves = ARENA_ARRAY(a, bool, n);
    for (int v = 0; v < value_count; v++) {
        maker[v] = NONE;
        reader[v] = n;
    }
    for (int k = 0; k < n; k++) {
        moves[k] = reshapes(f, maker, k);
        for (int r = 0; r < f->steps[k].result_count; r++)
            if (f->steps[k].results[r] >= 0)
                maker[f->steps[k].results[r]] = k;
    }
    /* lists by position: the steps that are moved there, then the one that is there */
    struct step *steps = ARENA_ARRAY(a, struct step, n);
    int *next = ARENA_ARRAY(a, int, n), *first = ARENA_ARRAY(a, int, n + 1), count = 0;
    for (int k = 0; k <= n; k++)
        first[k] = NONE;
    for (int k = n - 1; k >= 0; k--) {
        const struct step *s = &f->steps[k];
        const int at = moves[k] ? reader[s->results[0]] : k;
        for (int j = 0; j < s->operand_count; j++)
            if (s->operands[j] >= 0 && at < reader[s->operands[j]])
                reader[s->operands[j]] = at;
        next[k] = first[at];
        first[at] = k;
    }
    for (int at = 0; at <= n; at++)
        for (int k = first[at]; k != NONE; k = next[k])
            steps[count++] = f->steps[k];
    if (n > 0)
        memcpy(f->steps, steps, (size_t)n * sizeof *steps);
}

/* ---- the pass ---- */

/* Whether a value, of the group's elements, repeats one element along each row: the columns or,
 * where nothing is reduced, many elements of the last dimensions. */
static bool repeats(const struct fusing *z, const struct fuse_group *g, int value)
{
    enum { LONG = 128 };
    struct rows r;
    int64_t run = 1;
    if (!z->broadcast[value] || !find_rows(z->broadcast[value], &r) || r.rank != g->rank)
        return false;
    for (int d = 0; d < g->rank && g->row_rank < g->rank; d++)
        if (g->reduced[d] && !r.reduced[d])
            return false;
    for (int d = g->rank - 1; d >= 0 && r.reduced[d]; d--)
        run *= r.dims[d];
    return g->row_rank < g->rank || run >= LONG;
}

static struct fuse_leaf leaf_of(const struct fusing *z, const struct fuse_group *g, int value)
{
    int64_t dims[VIEW_MAX_RANK];
    if (value >= 0)
        return (struct fuse_leaf){z->shapes[value]->dtype, squeeze(z->shapes[value], dims),
                                  repeats(z, g, value), NULL};
    const struct view *v = &z->pl->p->constants[~value];
    struct fuse_leaf leaf = {v->dtype, 0, false, v->data};
    for (int d = 0; d < v->rank; d++)
        leaf.rank += v->dims[d] != 1;
    return leaf;
}

static bool make_group(struct fusing *z, int root)
{
    const struct fuse_group *g = z->groups[root];
    const struct step **steps = ARENA_ARRAY(&z->pl->scratch, const struct step *, g->steps);
    enum fuse_role *roles = ARENA_ARRAY(&z->pl->scratch, enum fuse_role, g->steps);
    struct fuse_leaf leaves[KERN_FUSED_VIEWS];
    for (int at = 0; at < g->steps; at++) {
        const int k = g->at[g->steps - 1 - at];
        steps[at] = &z->f->steps[k];
        roles[at] = z->roles[k];
    }
    for (int k = 0; k < g->leaf_count; k++)
        leaves[k] = leaf_of(z, g, g->leaves[k]);
    const struct step *outs[KERN_FUSED_RESULTS];
    for (int k = 0; k < g->out_count; k++)
        outs[k] = &z->f->steps[g->outs[k]];
    return fuse_make(z->pl, g, leaves, steps, roles, outs, &z->f->steps[root]);
}

static bool reads_transposed(const struct fusing *z, const struct fuse_group *g)
{
    for (int k = 0; k < g->leaf_count; k++)
        if (g->leaves[k] >= 0 && z->transposed[g->leaves[k]])
            return true;
    return false;
}

/* A single elementwise step becomes a loop when it is large: fused loops move large amounts of data
 * faster, and transposed operands by blocks. */
static bool is_worth_while(const struct fusing *z, int root)
{
    enum { LARGE = 1 << 16, LARGE_TRANSPOSED = 1 << 9 };
    const struct fuse_group *g = z->groups[root];
    return g->work > 1 ||
           (z->roles[root] == FUSE_APPLY &&
            dims_elements(g->rank, g->dims) >= (reads_transposed(z, g) ? LARGE_TRANSPOSED : LARGE));
}

/* The steps of a function with fused loops. */
struct order {
    struct step *steps;
    int count;
    bool *there; /* by step */
};

static void put(struct fusing *z, struct order *o, int k)
{
    if (!o->there[k])
        o->steps[o->count++] = z->f->steps[k];
    o->there[k] = true;
}

/* Appends the fused loop of a group, or its steps. */
static void put_group(struct fusing *z, struct order *o, int root)
{
    const struct fuse_group *g = z->groups[root];
    const struct arena_mark mark = arena_mark(&z->pl->scratch);
    const bool made = is_worth_while(z, root) && make_group(z, root);
    arena_release(&z->pl->scratch, mark);
    for (int at = g->steps - 1; at >= 0 && !made; at--)
        put(z, o, g->at[at]);
    put(z, o, root);
    for (int k = z->again[root]; k != NONE; k = z->next_again[k])
        put(z, o, k);
}

static void fuse_groups(struct fusing *z)
{
    struct function *f = z->f;
    struct order o = {.steps = ARENA_ARRAY(&z->pl->scratch, struct step, f->step_count),
                      .there = ARENA_ARRAY(&z->pl->scratch, bool, f->step_count)};
    for (int k = 0; k < f->step_count; k++) {
        if (z->root[k] == k)
            put_group(z, &o, k);
        else if (z->root[k] == NONE)
            put(z, &o, k);
    }
    f->step_count = o.count;
    if (o.count > 0)
        memcpy(f->steps, o.steps, (size_t)o.count * sizeof *o.steps);
}

static void find_roles(struct fusing *z, int value_count)
{
    for (int v = 0; v < value_count; v++) {
        z->reader[v] = NONE;
        z->next_other[v] = z->next_array[v] = INT_MAX;
    }
    for (int k = 0; k < z->f->param_count; k++)
        if (z->f->params[k] >= 0)
            z->shapes[z->f->params[k]] = z->f->param_shapes[k];
    for (int k = 0; k < z->f->step_count; k++) {
        const struct step *s = &z->f->steps[k];
        const enum fuse_role role = z->roles[k] = role_of(s);
        bool from_reduction = role == FUSE_REDUCE;
        if (s->inst->opcode == OP_BROADCAST && s->result_count == 1 && s->results[0] >= 0)
            z->broadcast[s->results[0]] = s->inst;
        if (s->inst->opcode == OP_TRANSPOSE && s->result_count == 1 && s->results[0] >= 0)
            z->transposed[s->results[0]] = true;
        for (int j = 0; j < s->operand_count && (role == FUSE_APPLY || role == FUSE_ALIAS); j++)
            from_reduction |= s->operands[j] >= 0 && z->from_reduction[s->operands[j]];
        for (int r = 0; r < s->result_count; r++)
            if (s->results[r] >= 0) {
                z->shapes[s->results[r]] = s->shapes[r];
                z->from_reduction[s->results[r]] = from_reduction;
            }
    }
}

static void find_concatenations(struct fusing *z, int value_count)
{
    for (int v = 0; v < value_count; v++)
        z->concatenation[v] = NONE;
    for (int k = z->f->step_count - 1; k >= 0; k--) {
        const struct step *s = &z->f->steps[k];
        const bool concatenates = s->inst->opcode == OP_CONCATENATE;
        z->component_group[k] = NONE;
        for (int j = 0; j < s->operand_count && s->result_count == 1; j++)
            if (s->operands[j] >= 0 && s->results[0] >= 0 &&
                (concatenates || s->inst->opcode == OP_RESHAPE))
                z->concatenation[s->operands[j]] =
                    concatenates ? k : z->concatenation[s->results[0]];
    }
}

void plan_fuse(struct planner *pl, struct function *f, int value_count, struct leaves results)
{
    struct arena *a = &pl->scratch;
    drop_broadcasts(pl, f, value_count, results);
    move_reshapes_down(pl, f, value_count);
    struct fusing z = {.pl = pl,
                       .f = f,
                       .groups = ARENA_ARRAY(a, struct fuse_group *, f->step_count),
                       .root = ARENA_ARRAY(a, int, f->step_count),
                       .again = ARENA_ARRAY(a, int, f->step_count),
                       .next_again = ARENA_ARRAY(a, int, f->step_count),
                       .reader = ARENA_ARRAY(a, int, value_count),
                       .readers = ARENA_ARRAY(a, struct readers, value_count),
                       .stored = ARENA_ARRAY(a, bool, value_count),
                       .next_other = ARENA_ARRAY(a, int, value_count),
                       .next_array = ARENA_ARRAY(a, int, value_count),
                       .from_reduction = ARENA_ARRAY(a, bool, value_count),
                       .shapes = ARENA_ARRAY(a, const struct shape *, value_count),
                       .broadcast = ARENA_ARRAY(a, const struct inst *, value_count),
                       .transposed = ARENA_ARRAY(a, bool, value_count),
                       .concatenation = ARENA_ARRAY(a, int, value_count),
                       .component_group = ARENA_ARRAY(a, int, f->step_count),
                       .roles = ARENA_ARRAY(a, enum fuse_role, f->step_count)};
    find_roles(&z, value_count);
    find_concatenations(&z, value_count);
    for (int j = 0; j < results.count; j++)
        if (results.at[j] >= 0) {
            z.next_array[results.at[j]] = f->step_count;
            z.stored[results.at[j]] = true;
        }
    for (int k = f->step_count - 1; k >= 0; k--) {
        z.again[k] = NONE;
        place(&z, k);
    }
    fuse_groups(&z);
    fuse_parts(pl, f, value_count, results);
}
