/*
 * repl/set: .set, the values of instructions.
 */
#include "repl/session.h"

static int list_settings(struct session *s)
{
    const struct state *state = session_state(s);
    for (size_t i = 0; i < state->settings.count; i++) {
        const struct entry *set = state->settings.list->at[i];
        SCOPED_TEXT line = hlo_literal_summary(set->value->l);
        fprintf(s->out, "%s: %s\n", set->name, line.data);
    }
    return HLO_OK;
}

static int set_value(struct session *s, struct str name, const char *text)
{
    long n = session_find(s, name);
    if (n < 0)
        return report_unknown(s, name);
    const struct entry *e = s->built.entries[(size_t)n - s->built.first];
    if (!e)
        return report_error(s, HLO_USAGE, "'" STR_FMT "' was generated for another instruction",
                            STR_ARG(name));
    hlo_messages *m = hlo_messages_new();
    hlo_literal *l =
        text ? value_read(e->name, built_at(&s->built, (size_t)n).shape, text, m) : NULL;
    bool ok = l || !text;
    if (ok) {
        struct state *next = state_copy(session_state(s));
        state_set(next, str_of(e->name), l ? shared_value_new(l) : NULL, ++s->ids);
        ok = session_take_set(s, next, (size_t)n, m);
    }
    if (ok && l) {
        SCOPED_TEXT line = hlo_literal_summary(l);
        report_note(s, "%s is set to %s", e->name, line.data);
    } else if (ok) {
        report_note(s, "%s is computed again", e->name);
    }
    report_messages(s, m);
    return ok ? HLO_OK : HLO_USAGE;
}

int cmd_set(struct session *s, struct str args)
{
    args = str_trim(args);
    struct text_token word = text_token_at(args, 0);
    struct str name = syntax_is_word(word) ? word.s : STR("");
    size_t equal = word.kind == TOK_ATTR_NAME ? word.end - 1 : syntax_skip(args, word.end);
    if (args.len == 0)
        return list_settings(s);
    if (equal < args.len && args.ptr[equal] != '=')
        return command_usage(s);
    SCOPED_HEAP char *value =
        equal < args.len
            ? heap_str(str_trim((struct str){args.ptr + equal + 1, args.len - equal - 1}))
            : NULL;
    int status;
    if (name.len == 0 || (value && !*value))
        status = command_usage(s);
    else if (s->running && value)
        status = debug_set(s, name, value);
    else
        status = set_value(s, name, value);
    return status;
}
