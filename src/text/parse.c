/*
 * parse.c: parses modules, computations and instructions.
 *
 * There is one function per production of the grammar, with its name. An error ends the instruction
 * that contains it: its name is poisoned, and parsing continues with the next instruction.
 */
#include "text/parse.h"

/* Whether to stop parsing: beyond the error limit no message would be shown. */
static bool gave_up(struct parser *p)
{
    if (p->ds->errors <= DIAG_ERROR_LIMIT && !p->too_deep)
        return false;
    if (p->tok.kind != TOK_EOF)
        lex_jump(p, p->text.len);
    return true;
}

/* ---- instructions ---- */

/* The left-hand side of an instruction. */
struct lhs {
    struct lex_state start;
    bool root;
    struct str name;
    struct span name_span, root_span;
    const struct shape *shape; /* an extension: a shape before the name */
};

static bool define(struct parser *p, struct scope *s, const struct lhs *l, struct inst *i)
{
    s->broken |= inst_is_poisoned(i);
    struct inst *before = !inst_is_poisoned(i) ? scope_add(p, s, i) : NULL;
    if (before) {
        struct diag *d = DIAG(p->ds, l->name_span, DUPLICATE, "instruction", STR_ARG(l->name));
        diag_note(p->ds, d, before->name_span, "previously defined here");
        return false;
    }
    if (!l->root)
        return true;
    s->root_span = l->root_span;
    s->root = i;
    return true;
}

/* instruction = ["ROOT"] name "=" rhs ;
 * instruction = ["ROOT"] shape name "=" rhs ; (* extension *) */
static bool parse_lhs(struct parser *p, struct scope *s, struct lhs *l)
{
    l->root_span = p->tok.span;
    l->root = accept(p, TOK_ROOT);
    if (!p->strict && starts_shape(p) && !parse_shape(p, &l->shape))
        return false;
    l->name = p->tok.s;
    l->name_span = p->tok.span;
    scope_prefetch(s, l->name);
    bool glued = !p->strict && p->tok.kind == TOK_ATTR_NAME;
    if (!token_is_name(p->tok.kind) && !glued)
        return expected(p, "an instruction or '}'");
    if (glued)
        l->name_span.end--;
    next(p);
    if (!glued && !expect(p, TOK_EQUAL, "'=' after the name of the instruction"))
        return false;
    if (l->root && s->root_span.end) {
        struct diag *d = DIAG(p->ds, l->root_span, DUPLICATE, "mark", 4, "ROOT");
        diag_note(p->ds, d, s->root_span, "first given here");
        l->root = false;
    }
    return true;
}

static bool check_name(struct parser *p, const struct lhs *l)
{
    if (name_is_legal_inst(l->name))
        return true;
    struct str better = name_sanitize(p->arena, l->name);
    struct diag *d = DIAG(p->ds, l->name_span, ILLEGAL_NAME, STR_ARG(l->name));
    diag_suggest(p->ds, d, better);
    return false;
}

bool parse_instruction(struct parser *p, struct scope *s)
{
    struct lhs l = {.start = lex_save(p)};
    struct inst *i = NULL;
    bool ok = parse_lhs(p, s, &l);
    if (ok)
        i = parse_rhs(p, l.name, l.name_span, l.shape, l.start.tok.span.begin);
    if (i && check_name(p, &l))
        return define(p, s, &l, i);
    if (l.name.len && l.name_span.end > l.name_span.begin)
        scope_poison(p, s, l.name, l.name_span, NULL);
    if (l.root && ok)
        s->root_span = l.root_span;
    if (!gave_up(p) && !i)
        recover_instruction(p, l.start);
    return false;
}

static bool starts_toplevel(const struct parser *p)
{
    return p->tok.kind == TOK_ENTRY || p->tok.kind == TOK_HLO_MODULE;
}

/* instruction_list = "{" instruction {instruction} "}" ; false if `}` is missing. An error in it
 * sets s->broken. */
static bool parse_instruction_list(struct parser *p, struct scope *s)
{
    struct span open = p->tok.span;
    unsigned errors = p->ds->errors;
    if (!expect(p, TOK_LBRACE, "'{' before the instructions"))
        return false;
    if (p->tok.kind == TOK_RBRACE)
        DIAG(p->ds, p->tok.span, EMPTY_COMPUTATION);
    while (p->tok.kind != TOK_RBRACE && p->tok.kind != TOK_EOF && !starts_toplevel(p)) {
        size_t before = p->at;
        parse_instruction(p, s);
        if (gave_up(p) || (p->at == before && p->tok.kind != TOK_RBRACE))
            return false;
    }
    if (p->tok.kind != TOK_RBRACE && (p->ds->errors == errors)) {
        expected(p, "an instruction or '}'");
        if (p->ds->last && p->ds->last->severity == SEV_ERROR)
            diag_note(p->ds, p->ds->last, open, "computation starts here");
    }
    s->broken |= p->ds->errors != errors;
    return accept(p, TOK_RBRACE);
}

/* ---- computations ---- */

static void enter_scope(struct parser *p, struct scope *s, struct computation *c)
{
    *s = (struct scope){.outer = p->scope, .c = c, .seed = hash_seed(c)};
    p->scope = s;
}

static void leave_scope(struct parser *p)
{
    scope_free(p, p->scope);
    p->scope = p->scope->outer;
}

/* Reports duplicate parameter numbers, or a missing one. */
static bool report_parameters(struct parser *p, struct computation *c)
{
    int count = 0;
    struct inst **seen = ARENA_ARRAY(&p->state->scratch, struct inst *, c->inst_count + 1);
    struct inst *far = NULL;
    for (int k = 0; k < c->inst_count; k++) {
        struct inst *i = c->insts[k];
        if (i->opcode != OP_PARAMETER)
            continue;
        count++;
        if (i->number >= c->inst_count) {
            far = i;
            continue;
        }
        if (seen[i->number]) {
            struct diag *d = DIAG(p->ds, i->span, DUPLICATE_PARAMETER, (long long)i->number);
            diag_note(p->ds, d, seen[i->number]->span, "first one is here");
            return false;
        }
        seen[i->number] = i;
    }
    int missing = 0;
    while (missing < c->inst_count && seen[missing])
        missing++;
    for (int k = missing; !far && k < c->inst_count; k++)
        far = seen[k];
    return DIAG_ERROR(p->ds, far ? far->span : c->name_span, PARAMETER_GAP, missing, count);
}

/* Sets root and parameters if there was no error. */
bool finish_computation(struct parser *p, struct scope *s)
{
    struct computation *c = s->c;
    c->root = s->root && !inst_is_poisoned(s->root) ? s->root : NULL;
    if (computation_finish(c))
        return true;
    c->root = NULL;
    return report_parameters(p, c);
}

/* parameter_list = "(" [name shape {"," name shape}] ")" ; the name may have its `:` */
static bool parse_parameter_list(struct parser *p)
{
    const struct shape *ignored;
    if (!expect(p, TOK_LPAREN, NULL))
        return false;
    if (p->tok.kind != TOK_RPAREN) {
        do {
            if (!token_is_name(p->tok.kind))
                return expected(p, "the name of a parameter");
            next(p);
            if (!p->strict)
                accept(p, TOK_COLON);
            if (!parse_shape(p, &ignored))
                return false;
        } while (accept(p, TOK_COMMA));
    }
    return expect(p, TOK_RPAREN, "',' or ')'");
}

/* signature = parameter_list "->" shape ; */
static bool parse_signature(struct parser *p, const struct shape **result, struct span *span)
{
    if (!parse_parameter_list(p) || !expect(p, TOK_ARROW, "'->' and the result shape"))
        return false;
    *span = p->tok.span;
    bool ok = parse_shape(p, result);
    span->end = p->prev_end;
    return ok;
}

static bool check_signature(struct parser *p, const struct computation *c,
                            const struct shape *result, struct span span)
{
    if (!result || shape_compatible(c->root->shape, result))
        return true;
    struct diag *d = DIAG(p->ds, span, SIGNATURE_ROOT, STR_ARG(shape_text(p->arena, result)),
                          STR_ARG(shape_text(p->arena, c->root->shape)));
    diag_note(p->ds, d, c->root->span, "root is here");
    return false;
}

/* execution_thread = "," "execution_thread=" STRING ; */
static bool parse_execution_thread(struct parser *p, struct computation *c)
{
    bool given = false;
    while (accept(p, TOK_COMMA)) {
        if (p->tok.kind != TOK_ATTR_NAME || !str_is(p->tok.s, "execution_thread"))
            return expected(p, "execution_thread=");
        if (given)
            return DIAG_ERROR(p->ds, p->tok.span, DUPLICATE, "attribute", STR_ARG(p->tok.s));
        given = true;
        next(p);
        if (!parse_string(p, &c->execution_thread))
            return false;
    }
    return true;
}

static struct computation *computation_poison(struct parser *p, struct str name)
{
    struct computation *c = ARENA_NEW(p->arena, struct computation);
    c->module = p->m;
    c->name = name;
    c->index = -1;
    map_put(&p->computations, name, c);
    return c;
}

/* Registers a computation by its name, even a malformed one, so that one mistake causes one
 * message. */
static bool add_computation(struct parser *p, struct computation *c, struct str name, bool is_entry,
                            struct span entry)
{
    struct parse_state *s = p->state;
    struct computation *before = map_get(&p->computations, name);
    if (is_entry && s->entry_span.end) {
        struct diag *d = DIAG(p->ds, entry, DUPLICATE, "mark", 5, "ENTRY");
        diag_note(p->ds, d, s->entry_span, "first given here");
        return false;
    }
    if (is_entry) {
        s->entry = c;
        s->entry_span = entry;
    }
    s->last = c;
    if (before && before->span.end) {
        struct diag *d = DIAG(p->ds, c->name_span, DUPLICATE, "computation", STR_ARG(name));
        diag_note(p->ds, d, before->name_span, "previously defined here");
        return false;
    }
    map_put(&p->computations, name, c);
    return true;
}

/* computation = ["ENTRY"] name [signature] instruction_list [execution_thread] ; */
static bool parse_computation(struct parser *p)
{
    struct span entry = p->tok.span, result_span = NO_SPAN;
    const struct shape *result = NULL;
    unsigned errors = p->ds->errors;
    bool is_entry = accept(p, TOK_ENTRY);
    if (!token_is_name(p->tok.kind)) {
        expected(p, is_entry ? "the name of the computation" : "a computation");
        if (!gave_up(p))
            recover_computation(p);
        return false;
    }
    struct str name = p->tok.s;
    struct computation *c = computation_new(p->m, name_sanitize(p->arena, name));
    c->name_span = c->span = p->tok.span;
    next(p);
    if (p->tok.kind == TOK_LPAREN && !parse_signature(p, &result, &result_span) &&
        !recover_body(p)) {
        add_computation(p, c, name, is_entry, entry);
        return false;
    }
    struct scope scope;
    enter_scope(p, &scope, c);
    bool ok = parse_instruction_list(p, &scope) && p->ds->errors == errors && !scope.broken;
    leave_scope(p);
    c->span.end = p->prev_end;
    ok = ok && finish_computation(p, &scope) && check_signature(p, c, result, result_span);
    if (!ok)
        c->root = NULL;
    ok = parse_execution_thread(p, c) && ok;
    return add_computation(p, c, name, is_entry, entry) && ok;
}

/* Stack usage of one nested computation, relative to one level of a shape. */
enum { COMPUTATION_WEIGHT = 11 };

/* A computation in braces in place of a name. After an error within the braces, the instruction
 * that contains them is parsed on, poisoned. */
static bool parse_nested_computation(struct parser *p, struct computation **out)
{
    struct scope scope;
    struct computation *c = computation_new(p->m, STR("_"));
    c->name_span = c->span = p->tok.span;
    p->depth += COMPUTATION_WEIGHT;
    enter_scope(p, &scope, c);
    bool closed = enter(p) && parse_instruction_list(p, &scope);
    if (closed && !scope.broken)
        scope.broken = !finish_computation(p, &scope);
    if (scope.broken)
        p->state->poisoned = true;
    leave_scope(p);
    leave(p);
    p->depth -= COMPUTATION_WEIGHT;
    c->span.end = p->prev_end;
    *out = c;
    return closed;
}

static bool report_computation(struct parser *p, struct str name, struct span span)
{
    const char **keywords =
        ARENA_ARRAY(&p->state->scratch, const char *, p->m->computation_count + 1);
    size_t count = 0;
    struct diag *d = DIAG(p->ds, span, UNKNOWN_COMPUTATION, STR_ARG(name));
    struct span below = find_definition(p, name);
    for (int k = 0; k < p->m->computation_count; k++)
        if (map_get(&p->computations, p->m->computations[k]->name))
            keywords[count++] = arena_str(&p->state->scratch, p->m->computations[k]->name).ptr;
    if (below.begin)
        diag_note(p->ds, d, below, "defined here, after its use");
    else
        diag_suggest(p->ds, d, diag_nearest(name, keywords, count));
    return false;
}

/* computation_ref = name | instruction_list ; */
bool parse_computation_ref(struct parser *p, struct computation **out)
{
    if (p->tok.kind == TOK_LBRACE)
        return parse_nested_computation(p, out);
    if (!token_is_name(p->tok.kind))
        return expected(p, "the name of a computation or '{'");
    struct str name = p->tok.s;
    struct span span = p->tok.span;
    *out = map_get(&p->computations, name);
    next(p);
    if (!*out) {
        report_computation(p, name, span);
        *out = computation_poison(p, name);
    }
    if (!(*out)->root)
        p->state->poisoned = true;
    return true;
}

/* ---- modules ---- */

/* computations = computation {computation} ; and then the end of the text */
static bool parse_computations(struct parser *p)
{
    bool ok = true;
    do {
        if (p->tok.kind == TOK_HLO_MODULE) {
            struct diag *d = DIAG(p->ds, p->tok.span, SECOND_MODULE);
            diag_note(p->ds, d, p->tok.span, "separate modules with a line '// -----'");
            return false;
        }
        ok = parse_computation(p) && ok;
    } while (!gave_up(p) && p->tok.kind != TOK_EOF);
    return ok;
}

bool finish_module(struct parser *p)
{
    struct parse_state *s = p->state;
    struct module *m = p->m;
    m->entry = s->entry ? s->entry : s->last;
    if (m->name.len == 0)
        m->name = arena_printf(p->arena, "module_" STR_FMT, STR_ARG(m->entry->name));
    if (p->strict && !async_starts_distinct(p))
        return false;
    if (!finish_header(p))
        return false;
    module_uniquify(m);
    module_link(m);
    if (p->has_frame_ids || m->frames.given)
        text_rebuild_frames(m);
    return true;
}

/* module = ["HloModule" name header] [frame_tables] computations ; */
static bool parse_module(struct parser *p)
{
    if (p->tok.kind == TOK_HLO_MODULE) {
        next(p);
        if (!token_is_name(p->tok.kind))
            return expected(p, "the name of the module");
        p->m->name = p->tok.s;
        next(p);
        if (!parse_header(p))
            return false;
    }
    if (p->tok.kind == TOK_FILE_NAMES && !parse_frame_tables(p))
        return false;
    return parse_computations(p) && finish_module(p);
}

/* Places the computation of a single instruction before those parsed from its attributes. */
static bool finish_single(struct parser *p, struct scope *s)
{
    struct module *m = p->m;
    if (!finish_computation(p, s))
        return false;
    struct computation *c = s->c;
    for (int k = m->computation_count - 1; k > 0; k--) {
        m->computations[k] = m->computations[k - 1];
        m->computations[k]->index = k;
    }
    m->computations[0] = c;
    c->index = 0;
    p->state->last = c;
    return finish_module(p);
}

/* An extension: a shape followed by `name =`. */
static bool shape_before_name(struct parser *p)
{
    struct lex_state start = lex_save(p);
    struct diag_mark mark = diags_mark(p->ds);
    const struct shape *shape;
    bool quiet = p->ds->quiet;
    p->ds->quiet = true;
    bool found = parse_shape(p, &shape) && token_is_name(p->tok.kind) && peek(p) == TOK_EQUAL;
    p->ds->quiet = quiet;
    diags_rollback(p->ds, mark);
    lex_restore(p, start);
    return found;
}

/* single_instruction = shape OPCODE body attributes | instruction ; */
static bool parse_single_instruction(struct parser *p)
{
    struct scope scope;
    size_t begin = p->tok.span.begin;
    unsigned errors = p->ds->errors;
    p->m->name = STR("_");
    p->m->is_scheduled = true;
    struct computation *c = computation_new(p->m, STR("_"));
    c->span = c->name_span = p->tok.span;
    enter_scope(p, &scope, c);
    scope.makes_params = true;
    struct inst *i = NULL;
    bool unnamed = starts_shape(p) && (p->strict || !shape_before_name(p));
    if (unnamed)
        i = parse_rhs(p, p->m->name, NO_SPAN, NULL, begin);
    bool ok = unnamed ? i && !scope_add(p, &scope, i) : parse_instruction(p, &scope);
    ok = ok && p->ds->errors == errors &&
         (p->tok.kind == TOK_EOF || expected(p, "the end of the text"));
    scope.root = NULL;
    c->span.end = p->prev_end;
    ok = ok && finish_single(p, &scope);
    leave_scope(p);
    return ok;
}

static bool is_module(const struct parser *p)
{
    return p->tok.kind == TOK_HLO_MODULE || p->tok.kind == TOK_ENTRY || peek(p) == TOK_LBRACE;
}

/* Default mode: whether the text is a module without a header, beginning with frame tables or with
 * a computation that has a signature. */
static bool is_loose_module(const struct parser *p)
{
    if (p->strict)
        return false;
    return p->tok.kind == TOK_FILE_NAMES || (token_is_name(p->tok.kind) && peek(p) == TOK_LPAREN);
}

static bool parse_text(struct parser *p)
{
    if (p->tok.kind == TOK_EOF)
        return expected(p, "a module");
    return is_module(p) || is_loose_module(p) ? parse_module(p) : parse_single_instruction(p);
}

void parse_begin(struct parser *p, struct parse_state *state, struct module *m)
{
    arena_init(&state->scratch);
    p->m = m;
    p->state = state;
    p->shapes = shape_cache_new(&state->scratch);
    p->names = uniquifier_new(&m->arena);
    map_init(&p->computations, &state->scratch);
}

struct module *parse_source(struct diags *ds, struct source *source,
                            const struct parse_options *options, int nesting)
{
    struct parser p;
    struct parse_state state = {.nesting = nesting};
    struct module *m = module_new();
    unsigned errors = ds->errors;
    m->source = *source;
    m->source.line_starts = NULL;
    m->source.line_count = 0;
    lex_start(&p, ds, source->text, &m->arena, options->strict);
    p.core = options->core;
    parse_begin(&p, &state, m);
    bool ok = parse_text(&p) && ds->errors == errors;
    arena_free(&state.scratch);
    if (ok)
        return m;
    module_free(m);
    return NULL;
}

struct module *text_parse_module(struct diags *ds, struct source *source,
                                 const struct parse_options *options)
{
    return parse_source(ds, source, options, 0);
}
