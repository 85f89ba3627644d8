/*
 * Values of constants that the text of a module elides, from the protocol buffer of the same dump
 * beside the text: NAME.txt and NAME.hlo.pb.
 *
 * A protocol buffer is of the same module if it has the same computations and these the same
 * instructions, by name, opcode and shape.
 */
#include "api/api.h"

#include <unistd.h>

/* ---- files ---- */

static bool cut(struct str *s, const char *end)
{
    const bool has = str_ends(*s, str_of(end));
    s->len -= has ? strlen(end) : 0;
    return has;
}

/* The path of the protocol buffer; false if no such file is readable. */
static bool find_beside(const char *path, struct buf *out)
{
    static const char *const ends[] = {".hlo.pb", ".hlo.pb.gz", ".pb", ".pb.gz"};
    struct str stem = str_of(path);
    cut(&stem, ".gz");
    if (!cut(&stem, ".txt") && !cut(&stem, ".hlo"))
        return false;
    for (size_t k = 0; k < COUNT_OF(ends); k++) {
        out->size = 0;
        buf_str(out, stem);
        buf_puts(out, ends[k]);
        if (access(out->data, R_OK) == 0)
            return true;
    }
    return false;
}

/* ---- values ---- */

static size_t elided_in(const struct literal *l)
{
    size_t n = 0;
    if (!l || !shape_is_tuple(l->shape))
        return l && l->elided;
    for (int k = 0; k < l->shape->count; k++)
        n += elided_in(l->elements[k]);
    return n;
}

static size_t count_elided(const struct module *m)
{
    size_t n = 0;
    for (struct inst *i = NULL; (i = module_next(m, i)) != NULL;)
        n += i->opcode == OP_CONSTANT ? elided_in(i->literal) : 0;
    return n;
}

/* Moves the elements of `from`, a literal of the same shape, to elided arrays of a module. */
static void take(struct module *m, struct literal *to, struct literal *from)
{
    if (shape_is_tuple(to->shape)) {
        for (int k = 0; k < to->shape->count; k++)
            take(m, to->elements[k], from->elements[k]);
    } else if (to->elided && !from->elided) {
        to->data = from->data;
        to->owner = from->owner;
        to->elided = false;
        from->data = NULL;
        from->owner = NULL;
        module_own_literal(m, to);
    }
}

static bool same_inst(const struct inst *a, const struct inst *b)
{
    return str_eq(a->name, b->name) && a->opcode == b->opcode &&
           a->operand_count == b->operand_count && shape_compatible(a->shape, b->shape);
}

/* Compares a computation; if it is the same, takes the values of constants to module `m`, unless
 * that is NULL. */
static bool match(struct arena *a, struct module *m, const struct computation *to,
                  const struct computation *from)
{
    struct map names;
    map_init(&names, a);
    if (to->inst_count != from->inst_count)
        return false;
    for (int k = 0; k < from->inst_count; k++)
        map_put(&names, from->insts[k]->name, from->insts[k]);
    for (int k = 0; k < to->inst_count; k++) {
        const struct inst *x = to->insts[k], *y = map_get(&names, x->name);
        if (!y || !same_inst(x, y))
            return false;
        if (m && x->opcode == OP_CONSTANT)
            take(m, x->literal, y->literal);
    }
    return true;
}

static bool match_modules(struct module *to, const struct module *from, bool values)
{
    SCOPED_ARENA a = arena_make();
    struct map names;
    bool same = to->computation_count == from->computation_count;
    map_init(&names, &a);
    for (int c = 0; c < from->computation_count; c++)
        map_put(&names, from->computations[c]->name, from->computations[c]);
    for (int c = 0; c < to->computation_count && same; c++) {
        const struct computation *other = map_get(&names, to->computations[c]->name);
        same = other && match(&a, values ? to : NULL, to->computations[c], other);
    }
    return same;
}

void hlo_restore_elided(const hlo_module *module, hlo_messages *m)
{
    const struct hlo_file *file = module->file;
    const size_t elided = file->path && file->count == 1 ? count_elided(module->m) : 0;
    SCOPED_BUF path = {0};
    if (elided > 0 && find_beside(file->path, &path)) {
        struct diags *ds = hlo_sink_of_module(m, module);
        SCOPED_MESSAGES *own = hlo_messages_new();
        SCOPED_FILE *f = hlo_file_open(path.data, false, own);
        SCOPED_MODULE *other = f ? hlo_parse(f, 0, own) : NULL;
        if (!other)
            DIAG(ds, NO_SPAN, ELIDED_BESIDE, path.data, "cannot be read");
        else if (!match_modules(module->m, other->m, false))
            DIAG(ds, NO_SPAN, ELIDED_BESIDE, path.data, "is of another module");
        else if (match_modules(module->m, other->m, true))
            DIAG(ds, NO_SPAN, ELIDED_RESTORED, elided, elided == 1 ? "" : "s", path.data);
    }
}
