/*
 * hlo ops --matrix: a table of operations by element types; each cell shows whether the operation
 * is accepted and runs.
 */
#include "cli/ops.h"

#include <stdio.h>

enum { MAX_TYPES = 64, NAME_WIDTH = 25 };

static const char marks[CELL_KINDS] = {
    [CELL_REJECTED] = '.', [CELL_RUNS] = '+', [CELL_MISSING] = '!'};
static const char *const words[CELL_KINDS] = {
    [CELL_REJECTED] = "rejected", [CELL_RUNS] = "runs", [CELL_MISSING] = "missing"};

struct matrix {
    const char *types[MAX_TYPES]; /* array element types */
    size_t type_count;
    size_t totals[CELL_KINDS];
    bool json;
    enum ops_try how;
    const char *comma; /* separator before the next object */
};

static void read_types(struct matrix *x)
{
    const char *name;
    for (size_t i = 0; (name = hlo_dtype_name(i)) && x->type_count < MAX_TYPES; i++)
        if (hlo_dtype_is_array(i))
            x->types[x->type_count++] = name;
}

static enum cell cell_of(const struct matrix *x, size_t op, const char *dtype, const char *other)
{
    SCOPED_MESSAGES *m = hlo_messages_new();
    return ops_cell(op, dtype, other, x->how, m);
}

/* ---- the grid ---- */

/* Writes the names of the types vertically, as column heads. */
static void put_heads(const struct matrix *x, const char *corner)
{
    size_t height = 0;
    for (size_t t = 0; t < x->type_count; t++)
        height = strlen(x->types[t]) > height ? strlen(x->types[t]) : height;
    for (size_t row = 0; row < height; row++) {
        printf("%-*s", NAME_WIDTH, row + 1 == height ? corner : "");
        size_t last = 0;
        for (size_t t = 0; t < x->type_count; t++)
            last = strlen(x->types[t]) > row ? t : last;
        for (size_t t = 0; t <= last; t++)
            printf(" %c", strlen(x->types[t]) > row ? x->types[t][row] : ' ');
        putchar('\n');
    }
}

static void put_row_json(struct matrix *x, const char *key, const char *name,
                         const enum cell *cells)
{
    printf("%s\n{\"%s\":\"%s\"", x->comma, key, name);
    for (int kind = 0; kind < CELL_KINDS; kind++) {
        const char *comma = "";
        printf(",\"%s\":[", words[kind]);
        for (size_t t = 0; t < x->type_count; t++) {
            if (cells[t] != (enum cell)kind)
                continue;
            printf("%s\"%s\"", comma, x->types[t]);
            comma = ",";
        }
        putchar(']');
    }
    putchar('}');
    x->comma = ",";
}

static void put_row(struct matrix *x, const char *key, const char *name, const enum cell *cells)
{
    for (size_t t = 0; t < x->type_count; t++)
        x->totals[cells[t]]++;
    if (x->json) {
        put_row_json(x, key, name, cells);
        return;
    }
    printf("%-*s", NAME_WIDTH, name);
    for (size_t t = 0; t < x->type_count; t++)
        printf(" %c", marks[cells[t]]);
    putchar('\n');
}

/* Writes the state of an op or of one of its element types, with the reason. */
static void put_state(struct matrix *x, const char *key, const char *name, enum cell cell,
                      const char *why)
{
    SCOPED_BUF b = {0};
    x->totals[cell]++;
    buf_json_str(&b, str_of(why));
    if (x->json)
        printf("%s\n{\"%s\":\"%s\",\"state\":\"%s\"%s%s}", x->comma, key, name, words[cell],
               *why ? ",\"why\":" : "", *why ? b.data : "");
    else if (*key == 'o')
        printf("%-*s %c  (has no element type)\n", NAME_WIDTH, name, marks[cell]);
    else
        printf("%-14s %s%s%s\n", name, words[cell], *why ? ": " : "", why);
    x->comma = ",";
}

static void put_all(struct matrix *x)
{
    enum cell cells[MAX_TYPES];
    for (size_t op = 0; op < hlo_op_count(); op++) {
        const char *name = hlo_op_get(op).name;
        if (ops_types(op) == 0) {
            put_state(x, "op", name, cell_of(x, op, NULL, NULL), "");
            continue;
        }
        for (size_t t = 0; t < x->type_count; t++)
            cells[t] = cell_of(x, op, x->types[t], NULL);
        put_row(x, "op", name, cells);
    }
}

/* Writes a grid: first types in rows, second types in columns. */
static void put_pairs(struct matrix *x, size_t op)
{
    enum cell cells[MAX_TYPES];
    for (size_t t = 0; t < x->type_count; t++) {
        for (size_t u = 0; u < x->type_count; u++)
            cells[u] = cell_of(x, op, x->types[t], x->types[u]);
        put_row(x, "type", x->types[t], cells);
    }
}

/* ---- list of types of one op, with reasons ---- */

static void put_reasons(struct matrix *x, size_t op)
{
    for (size_t t = 0; t < x->type_count; t++) {
        SCOPED_MESSAGES *m = hlo_messages_new();
        const enum cell cell = ops_cell(op, x->types[t], NULL, x->how, m);
        put_state(x, "type", x->types[t], cell,
                  cell != CELL_RUNS && hlo_messages_count(m) ? hlo_messages_get(m, 0).text : "");
    }
}

/* ---- the command ---- */

static void put_matrix(struct matrix *x, size_t op)
{
    bool one = op < hlo_op_count(), pairs = one && ops_types(op) == 2;
    if (!x->json && (!one || pairs))
        put_heads(x, pairs ? hlo_op_get(op).name : "");
    if (!one)
        put_all(x);
    else if (pairs)
        put_pairs(x, op);
    else if (ops_types(op) == 1)
        put_reasons(x, op);
    else
        put_state(x, "op", hlo_op_get(op).name, cell_of(x, op, NULL, NULL), "");
}

int ops_matrix(const struct options *o, size_t op)
{
    struct matrix x = {.json = o->given[OPT_JSON],
                       .how = o->given[OPT_PLAIN] ? TRY_RUN_PLAIN : TRY_RUN,
                       .comma = ""};
    read_types(&x);
    if (x.json)
        fputs("{\"schema\":1,\"rows\":[", stdout);
    put_matrix(&x, op);
    if (x.json)
        printf("\n],\"runs\":%zu,\"rejected\":%zu,\"missing\":%zu}\n", x.totals[CELL_RUNS],
               x.totals[CELL_REJECTED], x.totals[CELL_MISSING]);
    else
        printf("\n%c runs: %zu   %c rejected by the specification: %zu   %c missing: %zu\n",
               marks[CELL_RUNS], x.totals[CELL_RUNS], marks[CELL_REJECTED], x.totals[CELL_REJECTED],
               marks[CELL_MISSING], x.totals[CELL_MISSING]);
    return x.totals[CELL_MISSING] > 0 ? HLO_DIFFERS : HLO_OK;
}
