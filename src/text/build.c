/*
 * build.c: construction of modules instruction by instruction, each from its text, for embedders.
 *
 * Each instruction is a line that is parsed into its computation, so builder forms, checks and
 * messages are the same as in a file. The concatenated lines are the source of the module: after a
 * line has been parsed, its spans are relocated to that source, so that later messages have
 * locations.
 */
#include "text/parse.h"

struct text_builder {
    struct parser p;
    struct parse_state state;
    struct module *m;
    struct text_computation *last; /* created last; linked by `next` */
    struct buf text;
    uint32_t lines;
    int moved;    /* number of computations whose spans have been relocated */
    int64_t made; /* number of generated names */
};

struct text_computation {
    struct text_builder *b;
    struct text_computation *next; /* created before this one */
    struct scope scope;
    bool finished;
};

struct text_builder *text_builder_new(struct str name)
{
    struct module *m = module_new();
    struct text_builder *b = ARENA_NEW(&m->arena, struct text_builder);
    b->m = m;
    m->name = name_sanitize(&m->arena, arena_str(&m->arena, name));
    lex_start(&b->p, NULL, STR(""), &m->arena, false);
    parse_begin(&b->p, &b->state, m);
    buf_printf(&b->text, "HloModule " STR_FMT "\n", STR_ARG(m->name));
    b->lines = 1;
    return b;
}

static void end_scope(struct text_computation *c)
{
    if (!c->finished)
        scope_free(&c->b->p, &c->scope);
    c->finished = true;
}

/* Frees what the module does not need. */
static void free_parser(struct text_builder *b)
{
    for (struct text_computation *c = b->last; c; c = c->next)
        end_scope(c);
    buf_free(&b->text);
    arena_free(&b->state.scratch);
}

void text_builder_free(struct text_builder *b)
{
    struct module *m = b->m;
    free_parser(b);
    module_free(m); /* frees the builder as well, which is in its arena */
}

struct str text_builder_text(const struct text_builder *b) { return buf_view(&b->text); }

uint32_t text_builder_line(const struct text_builder *b) { return b->lines + 1; }

/* ---- computations ---- */

bool text_builder_has(const struct text_builder *b, struct str name)
{
    return map_get(&b->p.computations, name) != NULL;
}

struct text_computation *text_computation_new(struct text_builder *b, struct str name)
{
    struct text_computation *c = ARENA_NEW(&b->m->arena, struct text_computation);
    c->b = b;
    c->next = b->last;
    b->last = c;
    c->scope.c = computation_new(b->m, arena_str(&b->m->arena, name_sanitize(&b->m->arena, name)));
    c->scope.seed = hash_seed(c->scope.c);
    /* The root is not set until it is finished. */
    map_put(&b->p.computations, c->scope.c->name, c->scope.c);
    return c;
}

bool text_computation_open(const struct text_computation *c) { return !c->finished; }

struct str text_computation_name(const struct text_computation *c) { return c->scope.c->name; }

/* ---- relocation of spans ---- */

static void move_span(struct span *s, uint32_t by)
{
    if (s->end == 0)
        return;
    s->begin += by;
    s->end += by;
}

static void move_inst(struct inst *i, uint32_t by)
{
    move_span(&i->span, by);
    move_span(&i->name_span, by);
    move_span(&i->shape_span, by);
    move_span(&i->opcode_span, by);
    for (int k = 0; k < i->attr_count; k++)
        move_span(&i->attrs[k].span, by);
}

/* Appends a parsed line to the source, and relocates the spans that it created: those of the
 * instructions of `c` from `first` on, and of computations from number `moved` on. */
static void keep_line(struct text_computation *c, struct str line, int first)
{
    struct text_builder *b = c->b;
    uint32_t by = (uint32_t)b->text.size;
    for (int k = first; k < c->scope.c->inst_count; k++)
        move_inst(c->scope.c->insts[k], by);
    for (; b->moved < b->m->computation_count; b->moved++) {
        struct computation *made = b->m->computations[b->moved];
        move_span(&made->span, by);
        move_span(&made->name_span, by);
        for (int k = 0; k < made->inst_count; k++)
            move_inst(made->insts[k], by);
    }
    buf_str(&b->text, line);
    buf_putc(&b->text, '\n');
    for (size_t k = 0; k < line.len; k++)
        b->lines += line.ptr[k] == '\n';
    b->lines++;
}

static bool fits(const struct text_builder *b, struct str line)
{
    return line.len < UINT32_MAX / 2 && b->text.size < UINT32_MAX / 2;
}

/* ---- instructions ---- */

struct str text_build_name(struct text_computation *c, struct str prefix)
{
    struct arena *a = &c->b->m->arena;
    return arena_printf(a, STR_FMT ".%" PRId64, STR_ARG(prefix), ++c->b->made);
}

struct inst *text_build(struct text_computation *c, struct diags *ds, struct str line)
{
    struct parser *p = &c->b->p;
    struct computation *to = c->scope.c;
    unsigned errors = ds->errors;
    int first = to->inst_count;
    if (!fits(c->b, line)) {
        DIAG(ds, NO_SPAN, TEXT_TOO_LARGE, line.len);
        return NULL;
    }
    p->ds = ds;
    p->text = line = arena_str(&c->b->m->arena, line); /* names refer to it */
    p->at = p->prev_end = 0;
    p->tok = (struct token){0};
    p->scope = &c->scope;
    next(p);
    bool ok = parse_instruction(p, &c->scope) &&
              (p->tok.kind == TOK_EOF || expected(p, "the end of the instruction"));
    keep_line(c, line, first);
    return ok && ds->errors == errors && to->inst_count > first ? to->insts[to->inst_count - 1]
                                                                : NULL;
}

struct inst *text_build_constant(struct text_computation *c, struct diags *ds, struct str name,
                                 const struct literal *l)
{
    struct arena *a = &c->b->m->arena;
    struct literal *copy = literal_copy(a, l);
    if (!copy) {
        DIAG(ds, NO_SPAN, NO_MEMORY, STR_ARG(shape_text(a, l->shape)));
        return NULL;
    }
    const struct shape *s = copy->shape;
    module_own_literal(c->b->m, copy);
    struct str line = arena_printf(a, STR_FMT " = " STR_FMT " constant({...})", STR_ARG(name),
                                   STR_ARG(shape_text(a, s)));
    struct inst *i = inst_new(c->scope.c, OP_CONSTANT, name, s, 0, NULL);
    i->literal = copy;
    i->span = (struct span){0, (uint32_t)line.len};
    i->name_span = (struct span){0, (uint32_t)name.len};
    scope_add(&c->b->p, &c->scope, i);
    keep_line(c, line, i->index);
    return i;
}

/* ---- completion ---- */

bool text_computation_finish(struct text_computation *c, struct diags *ds, struct inst *root)
{
    struct parser *p = &c->b->p;
    p->ds = ds;
    p->scope = &c->scope;
    if (c->scope.c->inst_count == 0)
        return DIAG_ERROR(ds, NO_SPAN, EMPTY_COMPUTATION);
    c->scope.root = root;
    bool ok = finish_computation(p, &c->scope);
    end_scope(c);
    c->b->moved = c->b->m->computation_count;
    return ok;
}

struct module *text_builder_finish(struct text_builder *b, struct diags *ds,
                                   struct text_computation *entry, const struct source *source)
{
    struct module *m = b->m;
    b->p.ds = ds;
    b->state.entry = entry->scope.c;
    if (!finish_module(&b->p))
        return NULL;
    m->source = *source;
    free_parser(b);
    return m;
}
