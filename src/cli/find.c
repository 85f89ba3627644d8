/*
 * hlo find: lists the instructions that match all terms. A term is KEY=WORD, KEY~RE, KEY!=WORD,
 * KEY!~RE, KEY>NUMBER, KEY<NUMBER, or a regular expression for the printed instruction.
 */
#include "cli/listed.h"

#include "base/oom.h"

#include <regex.h>
#include <stdio.h>

enum key {
    KEY_TEXT,
    KEY_NAME,
    KEY_OP,
    KEY_SHAPE,
    KEY_COMPUTATION,
    KEY_OPERAND,
    KEY_USER,
    KEY_CALLS,
    KEY_WHERE,
    KEY_OP_NAME,
    KEY_OPERANDS,
    KEY_USERS,
    KEY_OPERATIONS,
    KEY_BYTES
};

static const struct key_row {
    const char *name;
    bool number;
} key_table[] = {
    [KEY_TEXT] = {"text", false},
    [KEY_NAME] = {"name", false},
    [KEY_OP] = {"op", false},
    [KEY_SHAPE] = {"shape", false},
    [KEY_COMPUTATION] = {"computation", false},
    [KEY_OPERAND] = {"operand", false},
    [KEY_USER] = {"user", false},
    [KEY_CALLS] = {"calls", false},
    [KEY_WHERE] = {"where", false},
    [KEY_OP_NAME] = {"op_name", false},
    [KEY_OPERANDS] = {"operands", true},
    [KEY_USERS] = {"users", true},
    [KEY_OPERATIONS] = {"operations", true},
    [KEY_BYTES] = {"bytes", true},
};

struct term {
    enum key key;
    char how; /* operator: = ~ < > */
    bool not ;
    struct str word;
    double number;
    regex_t re;
};

struct search {
    struct term *terms;
    size_t count, found;
    bool json;
};

/* ---- parsing of terms ---- */

/* The length of a KEY at the start of `text`, or 0; `op` is set to the operator that follows it. */
static size_t key_of(const char *text, enum key *key)
{
    const size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz_");
    for (size_t k = 0; k < COUNT_OF(key_table); k++)
        if (strchr("=~!<>", text[n]) && text[n] && str_is((struct str){text, n}, key_table[k].name))
            return *key = (enum key)k, n;
    return 0;
}

static bool compile(const struct options *o, struct term *t, const char *re)
{
    int error = regcomp(&t->re, re, REG_EXTENDED | REG_NOSUB);
    char why[128];
    if (error == 0)
        return true;
    regerror(error, &t->re, why, sizeof why);
    return usage_error(o, "'%s': %s", re, why), false;
}

static bool read_term(const struct options *o, const char *text, struct term *t)
{
    size_t n = key_of(text, &t->key);
    if (n == 0) {
        t->how = '~';
        return compile(o, t, text);
    }
    t->not = text[n] == '!';
    t->how = text[n + t->not ];
    const char *value = text + n + t->not +1;
    const char *allowed = key_table[t->key].number ? "=<>" : "=~";
    if (!t->how || !strchr(allowed, t->how))
        return usage_error(o, "invalid term '%s': expected one of %s after '%s'", text, allowed,
                           key_table[t->key].name),
               false;
    if (key_table[t->key].number && !num_parse_double(str_of(value), &t->number))
        return usage_error(o, "invalid term '%s': expected a number after '%s'", text,
                           key_table[t->key].name),
               false;
    t->word = str_of(*value == '%' ? value + 1 : value);
    return t->how != '~' || compile(o, t, value);
}

/* ---- matching ---- */

static bool fits_text(const struct term *t, const char *text)
{
    return t->how == '~' ? regexec(&t->re, text, 0, NULL, 0) == 0 : str_is(t->word, text);
}

static bool fits_any(const struct term *t, const hlo_listing *l, const size_t *list, size_t count,
                     bool computations)
{
    for (size_t k = 0; k < count; k++)
        if (fits_text(t, computations ? hlo_list_computation(l, list[k]).name
                                      : hlo_list_inst(l, list[k]).name))
            return true;
    return false;
}

static bool fits_number(const struct term *t, double v)
{
    return t->how == '=' ? v == t->number : t->how == '<' ? v < t->number : v > t->number;
}

static bool fits_whole(const struct term *t, const hlo_listing *l, size_t inst)
{
    SCOPED_TEXT text = hlo_list_print(l, inst, HLO_PRINT_ABRIDGED);
    return fits_text(t, text.data);
}

static bool fits(const struct term *t, const hlo_listing *l, size_t inst)
{
    const struct hlo_listed i = hlo_list_inst(l, inst);
    switch (t->key) {
    case KEY_NAME: return fits_text(t, i.name);
    case KEY_OP: return fits_text(t, i.op);
    case KEY_SHAPE: return fits_text(t, i.shape);
    case KEY_COMPUTATION: return fits_text(t, hlo_list_computation(l, i.computation).name);
    case KEY_OPERAND: return fits_any(t, l, i.operands, i.operand_count, false);
    case KEY_USER: return fits_any(t, l, i.users, i.user_count, false);
    case KEY_CALLS: return fits_any(t, l, i.callees, i.callee_count, true);
    case KEY_WHERE: return fits_text(t, i.where);
    case KEY_OP_NAME: return fits_text(t, i.op_name);
    case KEY_OPERANDS: return fits_number(t, (double)i.operand_count);
    case KEY_USERS: return fits_number(t, (double)i.user_count);
    case KEY_OPERATIONS: return fits_number(t, hlo_list_cost(l, inst).operations);
    case KEY_BYTES: return fits_number(t, hlo_list_cost(l, inst).bytes);
    case KEY_TEXT: break;
    }
    return fits_whole(t, l, inst);
}

static void put_found(struct buf *out, const struct listed_module *l, size_t inst, bool json)
{
    const struct hlo_listed i = hlo_list_inst(l->listing, inst);
    if (json) {
        put_module_json(out, l);
        buf_json_key(out, "instruction");
        put_listed_json(out, l->listing, inst);
        buf_puts(out, "}\n");
        return;
    }
    SCOPED_TEXT text = hlo_list_print(l->listing, inst, HLO_PRINT_ABRIDGED);
    buf_printf(out, "%s:%" PRIu32 ":%" PRIu32 ": ", l->path, i.line, i.column);
    buf_str(out, (struct str){text.data, text.size});
    buf_putc(out, '\n');
}

static int search_module(void *context, const struct listed_module *l)
{
    struct search *s = context;
    struct buf out = {0};
    for (size_t n = 0; n < hlo_list_count(l->listing); n++) {
        bool all = listed_filter(l, hlo_list_inst(l->listing, n).computation);
        for (size_t k = 0; k < s->count && all; k++)
            all = fits(&s->terms[k], l->listing, n) != s->terms[k].not ;
        if (all)
            put_found(&out, l, n, s->json);
        s->found += all;
    }
    print_buf(&out);
    return HLO_OK;
}

/* Frees memory of regcomp, which the out-of-memory scope does not track. */
static void free_terms(void *search)
{
    struct search *s = search;
    for (size_t k = 0; k < s->count; k++)
        if (s->terms[k].how == '~')
            regfree(&s->terms[k].re);
}

int find_command(const struct options *o)
{
    if (o->arg_count < 2)
        return usage_error(o, "no term given");
    struct search s = {.terms = heap_zalloc(o->arg_count, sizeof *s.terms),
                       .json = o->given[OPT_JSON]};
    struct cleanup freeing;
    bool ok = true;
    oom_push_cleanup(&freeing, free_terms, &s);
    for (size_t k = 1; k < o->arg_count && ok; k++) {
        ok = read_term(o, o->args[k], &s.terms[s.count]);
        s.count += ok;
    }
    int status = ok ? each_listed(o, o->args, 1, true, search_module, &s) : HLO_USAGE;
    oom_pop_cleanup(&freeing);
    free_terms(&s);
    heap_free(s.terms);
    return status == HLO_OK && s.found == 0 ? HLO_DIFFERS : status;
}
