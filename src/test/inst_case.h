/*
 * Instructions for tests of infer and verify: operands, attributes and shapes from text, in a
 * module built by calls.
 */
#ifndef HLO_INST_CASE_H
#define HLO_INST_CASE_H

#include "ir/ir.h"

#include "check_quiet.h"
#include <stdlib.h>

/* ---- shapes and attributes from text: "f32[2,<=3]{0,1}", "(f32[], s32[])", "1,0" ---- */

static const struct shape *read_shape(struct arena *a, const char **at);

static const struct shape *read_tuple(struct arena *a, const char **at)
{
    const struct shape *parts[8];
    int n = 0;
    for (++*at; **at != ')'; *at += strspn(*at, ", "))
        parts[n++] = read_shape(a, at);
    ++*at;
    return shape_tuple(a, n, parts);
}

static int read_ints(const char **at, int64_t *out, bool *dynamic)
{
    int n = 0;
    while (strchr("-<?0123456789", **at) && **at) {
        if (dynamic)
            dynamic[n] = **at == '<' || **at == '?';
        if (**at == '?') {
            out[n++] = DIM_UNBOUNDED;
            ++*at;
        } else {
            char *end;
            out[n++] = strtoll(*at + (**at == '<' ? 2 : 0), &end, 10);
            *at = end;
        }
        *at += strspn(*at, ", ");
    }
    return n;
}

static const struct shape *read_shape(struct arena *a, const char **at)
{
    if (**at == '(')
        return read_tuple(a, at);
    const char *open = strchr(*at, '[');
    struct str word = {*at, (size_t)(open - *at)};
    int64_t dims[8], order[8];
    bool dynamic[8];
    *at = open + 1;
    int rank = read_ints(at, dims, dynamic);
    ++*at;
    if (str_is(word, "token"))
        return shape_token();
    struct layout l = *layout_default(a, rank);
    if (**at == '{') {
        ++*at;
        ck_assert_int_eq(read_ints(at, order, NULL), rank);
        ++*at;
        l.minor_to_major = ARENA_DUP(a, order, rank);
    }
    return shape_array(a, dtype_find(word), rank, dims, dynamic, ARENA_DUP(a, &l, 1));
}

static const struct shape *shape_of(struct module *m, const char *text)
{
    return read_shape(&m->arena, &text);
}

static union attr_value read_value(struct arena *a, enum attr_id id, const char *text)
{
    int64_t n[24];
    int count = read_ints(&text, n, NULL);
    switch (attr_table[id].kind) {
    case KIND_INT: return (union attr_value){.i = n[0]};
    case KIND_BOOL: return (union attr_value){.b = n[0] != 0};
    case KIND_ENUM: return (union attr_value){.e = (int)n[0]};
    case KIND_INT_LIST: return (union attr_value){.ints = {count, ARENA_DUP(a, n, count)}};
    case KIND_SLICES:
        return (union attr_value){
            .slices = {count / 3, arena_copy(a, n, (size_t)count * sizeof *n)}};
    case KIND_PADDING:
        return (union attr_value){
            .padding = {count / 3, arena_copy(a, n, (size_t)count * sizeof *n)}};
    default: ck_abort_msg("no reader for %s", attr_spelling(id));
    }
}

/* ---- a module under test ---- */

struct bench {
    struct diags ds;
    struct module *m;
    struct computation *main;
};

static void bench_open(struct bench *b)
{
    diags_init(&b->ds, NULL);
    b->m = module_new();
    b->main = computation_new(b->m, STR("main"));
    b->m->entry = b->main;
}

static void bench_close(struct bench *b)
{
    module_free(b->m);
    diags_free(&b->ds);
}

static struct inst *param(struct computation *c, const char *shape)
{
    struct inst *i = inst_new(c, OP_PARAMETER, STR("p"), shape_of(c->module, shape), 0, NULL);
    i->number = c->inst_count - 1;
    return i;
}

struct op_case {
    enum opcode op;
    const char *operands[4];
    struct {
        enum attr_id id;
        const char *value;
    } attrs[5];
    const char *result; /* NULL: none */
};

static struct inst *make(struct bench *b, const struct op_case *c, const struct shape *shape)
{
    struct inst *operands[4];
    int n = 0;
    for (; n < 4 && c->operands[n]; n++)
        operands[n] = param(b->main, c->operands[n]);
    struct inst *i = inst_new(b->main, c->op, STR("r"), shape, n, operands);
    for (int k = 0; k < 5 && c->attrs[k].value; k++)
        inst_set_attr(b->m, i, c->attrs[k].id,
                      read_value(&b->m->arena, c->attrs[k].id, c->attrs[k].value), NO_SPAN);
    return i;
}

#endif
