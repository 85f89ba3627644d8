/*
 * repl/look: commands that inspect the module of the session without running it.
 */
#include "repl/session.h"

#include <regex.h>

/* ---- names ---- */

/* The instruction of the session where a run has stopped; the running module is often a part of the
 * session. -1: none. */
static long stop_place(struct session *s)
{
    const struct running *r = s->running;
    SCOPED_BUF path = {0};
    if (!r || !r->at || !session_listing(s))
        return -1;
    struct hlo_listed at = hlo_list_inst(r->listing, r->at->inst);
    struct hlo_listed_computation c = hlo_list_computation(r->listing, at.computation);
    if (c.entry)
        return session_find(s, str_of(at.name));
    buf_printf(&path, "%s/%s", c.name, at.name);
    return hlo_list_find(s->built.listing, path.data);
}

/* The instruction of a name; in a stopped run, the current computation is searched first. -1 after
 * reporting an unknown name. */
static long named(struct session *s, struct str word, int *status)
{
    const hlo_listing *l = session_listing(s);
    long stop = stop_place(s);
    if (word.len == 0) {
        *status = command_usage(s);
        return -1;
    }
    if (!l) {
        *status = report_error(s, HLO_USAGE, "session is empty");
        return -1;
    }
    SCOPED_HEAP char *name = heap_str(word);
    long n = hlo_list_find(l, name);
    if (stop >= 0) {
        struct hlo_listed_computation c =
            hlo_list_computation(l, hlo_list_inst(l, (size_t)stop).computation);
        for (size_t i = c.first; i < c.first + c.count; i++)
            if (strcmp(hlo_list_inst(l, i).name, name + (*name == '%')) == 0)
                n = (long)i;
    }
    if (n < 0)
        *status = report_unknown(s, word);
    return n;
}

static void put_line(struct session *s, const hlo_listing *l, size_t i)
{
    SCOPED_TEXT line = hlo_list_print(l, i, HLO_PRINT_SHORT);
    struct hlo_listed at = hlo_list_inst(l, i);
    bool here = stop_place(s) == (long)i;
    bool root = hlo_list_computation(l, at.computation).root == i;
    fprintf(s->out, "%s%5zu  ", here ? "=>" : "  ",
            i - hlo_list_computation(l, at.computation).first + 1);
    put_highlighted(s, root && strncmp(line.data, "ROOT ", 5) != 0 ? "ROOT " : "");
    put_highlighted(s, line.data);
    fputc('\n', s->out);
}

/* ---- .list ---- */

static void put_range(struct session *s, const hlo_listing *l, size_t computation, size_t from,
                      size_t to)
{
    struct hlo_listed_computation c = hlo_list_computation(l, computation);
    for (size_t i = from; i < to && i < c.count; i++)
        put_line(s, l, c.first + i);
}

static int list_around(struct session *s, const hlo_listing *l, size_t inst)
{
    enum { AROUND = 5 };
    struct hlo_listed at = hlo_list_inst(l, inst);
    size_t here = inst - hlo_list_computation(l, at.computation).first;
    fprintf(s->out, "%s:\n", hlo_list_computation(l, at.computation).name);
    put_range(s, l, at.computation, here > AROUND ? here - AROUND : 0, here + AROUND + 1);
    return HLO_OK;
}

static int list_all(struct session *s, const hlo_listing *l)
{
    size_t count = hlo_list_computations(l);
    for (size_t i = 0; i + 1 < count; i++) {
        struct hlo_listed_computation c = hlo_list_computation(l, i);
        fprintf(s->out, "%s: %zu instructions\n", c.name, c.count);
    }
    if (state_root(session_state(s)))
        put_range(s, l, count - 1, 0, SIZE_MAX);
    return HLO_OK;
}

int look_list(struct session *s, struct str args)
{
    const hlo_listing *l = session_listing(s);
    struct str word = next_word(&args);
    int64_t from, to;
    if (!l) {
        report_note(s, "no instructions");
        return HLO_OK;
    }
    if (word.len == 0)
        return stop_place(s) >= 0 ? list_around(s, l, (size_t)stop_place(s)) : list_all(s, l);
    const char *comma = memchr(word.ptr, ',', word.len);
    struct str first = {word.ptr, comma ? (size_t)(comma - word.ptr) : word.len};
    if (num_parse_i64(first, &from)) {
        to = from;
        if (from < 1 ||
            (comma && !num_parse_i64((struct str){comma + 1, word.len - first.len - 1}, &to)) ||
            to < from)
            return report_error(s, HLO_USAGE, "'" STR_FMT "': expected two numbers N,M",
                                STR_ARG(word));
        put_range(s, l, hlo_list_computations(l) - 1, (size_t)from - 1, (size_t)to);
        return HLO_OK;
    }
    SCOPED_HEAP char *name = heap_str(word);
    long c = hlo_list_find_computation(l, name);
    if (c < 0)
        return report_error(s, HLO_USAGE, "unknown computation '" STR_FMT "'", STR_ARG(word));
    put_range(s, l, (size_t)c, 0, SIZE_MAX);
    return HLO_OK;
}

/* ---- .users, .info ---- */

int look_users(struct session *s, struct str args)
{
    int status;
    long n = named(s, next_word(&args), &status);
    if (n < 0)
        return status;
    const hlo_listing *l = session_listing(s);
    struct hlo_listed at = hlo_list_inst(l, (size_t)n);
    for (size_t k = 0; k < at.user_count; k++)
        put_line(s, l, at.users[k]);
    return HLO_OK;
}

static void put_names(struct session *s, const hlo_listing *l, const char *title,
                      const size_t *list, size_t count)
{
    if (count == 0)
        return;
    fprintf(s->out, "%s", title);
    for (size_t k = 0; k < count; k++)
        fprintf(s->out, k ? ", %s" : "%s", hlo_list_inst(l, list[k]).name);
    fputc('\n', s->out);
}

/* Prints the state of its value, without computing it. */
static void put_state(struct session *s, const struct hlo_listed *at, size_t n)
{
    const struct built *b = &s->built;
    const struct entry *set =
        n >= b->first ? built_setting(b, session_state(s), n - b->first) : NULL;
    struct shared_value *h = NULL;
    if (s->running && s->running->at)
        h = debug_value(s, str_of(at->name));
    else if (n >= b->first)
        h = value_known(s, b, n - b->first);
    SCOPED_TEXT line = h ? hlo_literal_summary(h->l) : (hlo_text){0};
    if (h)
        fprintf(s->out, "value     %s%s\n", line.data, set ? " (set)" : "");
    else
        fputs("value     not computed\n", s->out);
    shared_value_unref(h);
}

int look_info(struct session *s, struct str args)
{
    int status;
    const struct str word = next_word(&args);
    long n = word.len == 0 ? stop_place(s) : -1;
    if (n < 0)
        n = named(s, word.len ? word : session_alias(s, STR("root")), &status);
    if (n < 0)
        return status;
    const hlo_listing *l = session_listing(s);
    struct hlo_listed at = hlo_list_inst(l, (size_t)n);
    struct hlo_cost cost = hlo_list_cost(l, (size_t)n);
    SCOPED_TEXT line = hlo_list_print(l, (size_t)n, HLO_PRINT_SHORT);
    fprintf(s->out, "%s\nshape     %s\nin        %s\n", line.data, at.shape,
            hlo_list_computation(l, at.computation).name);
    put_names(s, l, "operands  ", at.operands, at.operand_count);
    put_names(s, l, "users     ", at.users, at.user_count);
    for (size_t k = 0; k < at.callee_count; k++)
        fprintf(s->out, k ? ", %s" : "calls     %s", hlo_list_computation(l, at.callees[k]).name);
    if (at.callee_count)
        fputc('\n', s->out);
    if (*at.op_name)
        fprintf(s->out, "op_name   %s\n", at.op_name);
    struct hlo_frame f;
    for (size_t k = 0; hlo_list_frame(l, (size_t)n, k, &f); k++)
        fprintf(s->out, "%s%s:%d%s%s\n", k ? "          " : "from      ", f.file, f.line,
                *f.function ? " " : "", f.function);
    if (cost.operations > 0 || cost.bytes > 0)
        fprintf(s->out, "cost      %.0f operations, %.0f bytes\n", cost.operations, cost.bytes);
    put_state(s, &at, (size_t)n);
    return HLO_OK;
}

int look_type(struct session *s, struct str args)
{
    struct reading r = syntax_read(args);
    int status;
    const bool name = r.kind == READ_NAME && session_find(s, r.name) >= 0;
    if (!name && (r.kind == READ_EXPRESSION || r.kind == READ_INSTRUCTION ||
                  r.kind == READ_LITERAL || r.kind == READ_OTHER || r.kind == READ_NAME))
        return entry_type(s, args);
    long n = named(s, r.kind == READ_NAME ? r.name : args, &status);
    if (n < 0)
        return status;
    fprintf(s->out, "%s: %s\n", hlo_list_inst(s->built.listing, (size_t)n).name,
            hlo_list_inst(s->built.listing, (size_t)n).shape);
    return HLO_OK;
}

/* ---- .find, .history ---- */

/* Prints the instructions that match a regular expression, by computation. */
static bool put_matches(struct session *s, const hlo_listing *l, const regex_t *re)
{
    size_t shown = SIZE_MAX;
    for (size_t i = 0; i < hlo_list_count(l); i++) {
        const struct hlo_listed at = hlo_list_inst(l, i);
        SCOPED_TEXT line = hlo_list_print(l, i, HLO_PRINT_FULL);
        const bool matches = regexec(re, line.data, 0, NULL, 0) == 0;
        if (!matches)
            continue;
        if (shown != at.computation)
            fprintf(s->out, "%s:\n", hlo_list_computation(l, at.computation).name);
        shown = at.computation;
        put_line(s, l, i);
    }
    return shown != SIZE_MAX;
}

int look_find(struct session *s, struct str args)
{
    const hlo_listing *l = session_listing(s);
    const struct str word = next_word(&args);
    regex_t re;
    char why[128];
    if (word.len == 0 || args.len)
        return command_usage(s);
    SCOPED_HEAP char *text = heap_str(word);
    const int error = regcomp(&re, text, REG_EXTENDED | REG_NOSUB);
    if (error) {
        regerror(error, &re, why, sizeof why);
        return report_error(s, HLO_USAGE, "'" STR_FMT "': %s", STR_ARG(word), why);
    }
    if (!l || !put_matches(s, l, &re))
        report_note(s, "no instruction matches '%s'", text);
    regfree(&re);
    return HLO_OK;
}

int look_history(struct session *s, struct str args)
{
    const struct input *in = s->input;
    int64_t last = INT64_MAX;
    size_t count = 0;
    while (in && !in->editor)
        in = in->outer;
    if (args.len && (!num_parse_i64(args, &last) || last < 1))
        return command_usage(s);
    while (in && line_history(in->editor, count).len)
        count++;
    for (size_t i = (uint64_t)last < count ? count - (size_t)last : 0; i < count; i++)
        fprintf(s->out, STR_FMT "\n", STR_ARG(line_history(in->editor, i)));
    return HLO_OK;
}

/* ---- .graph ---- */

enum { GRAPH_DEPTH = 3 };

static void put_node(struct session *s, const hlo_listing *l, size_t n, int depth, const char *mark)
{
    struct hlo_listed at = hlo_list_inst(l, n);
    fprintf(s->out, "%*s%s%s: %s %s\n", 2 * depth, "", mark, at.name, at.shape, at.op);
}

static void put_operands(struct session *s, const hlo_listing *l, size_t n, int depth)
{
    struct hlo_listed at = hlo_list_inst(l, n);
    for (size_t k = 0; k < at.operand_count; k++) {
        put_node(s, l, at.operands[k], depth, "<- ");
        if (depth < GRAPH_DEPTH)
            put_operands(s, l, at.operands[k], depth + 1);
    }
}

static int write_graph(struct session *s, long around, struct str word)
{
    SCOPED_HEAP char *path = heap_str(word);
    hlo_messages *m = hlo_messages_new();
    const bool ok = may_write(s, path) && s->o->write_graph(session_listing(s), around, path, m);
    report_messages(s, m);
    return ok ? HLO_OK : HLO_USAGE;
}

int look_graph(struct session *s, struct str args)
{
    int status;
    struct str word = next_word(&args);
    const bool all = str_is(word, "-o");
    const bool file = all || str_is(next_word(&args), "-o");
    const struct entry *root = state_root(session_state(s));
    long n = named(s, (word.len && !all) || !root ? word : str_of(root->name), &status);
    if (n < 0)
        return status;
    if (file && str_trim(args).len && s->o->write_graph)
        return write_graph(s, all ? -1 : n, next_word(&args));
    if (file)
        return command_usage(s);
    const hlo_listing *l = session_listing(s);
    struct hlo_listed at = hlo_list_inst(l, (size_t)n);
    put_node(s, l, (size_t)n, 0, "");
    put_operands(s, l, (size_t)n, 1);
    for (size_t k = 0; k < at.user_count; k++)
        put_node(s, l, at.users[k], 1, "-> ");
    return HLO_OK;
}
