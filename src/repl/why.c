/*
 * repl/why: which elements made an element? It is asked of the module that .save would write, where what was set is constant.
 */
#include "repl/session.h"

#include <stdlib.h>

/* Parameters that were given something are constants there. */
static bool has_all(struct session *s, const hlo_module *module, hlo_messages *m)
{
    if (hlo_param_count(module) == 0)
        return true;
    add_error(s, m, "parameter `%s` has no value: .set %s = VALUE or .run --random give it one", hlo_param_name(module, 0),
              hlo_param_name(module, 0));
    return false;
}

static bool print_why(struct session *s, const hlo_listing *l, const char *what, int64_t levels, hlo_messages *m)
{
    struct hlo_run_options options = s->o->run;
    options.observed = true;
    hlo_recorded *r = hlo_record(l, &options, NULL, 0, 0, m);
    struct hlo_element e;
    bool ok = r && hlo_recorded_find(r, what, &e, m);
    if (ok) {
        struct hlo_why_view v = {.levels = (size_t)levels, .view = s->view, .json = s->mode == SHOW_JSON};
        put_text(s, hlo_recorded_why(r, &e, &v));
    }
    hlo_recorded_free(r);
    return ok;
}

int why_print(struct session *s, struct str what, int64_t levels)
{
    hlo_messages *m = hlo_messages_new();
    hlo_module *module = s->built.module ? module_to_save(s, m) : NULL;
    bool ok = module && hlo_verify(module, m);
    if (ok) {
        hlo_listing *l = hlo_list(module);
        char *text = repl_copy(what);
        ok = has_all(s, module, m) && print_why(s, l, text, levels, m);
        free(text);
        hlo_listing_free(l);
    } else if (!s->built.module) {
        add_error(s, m, "there are no instructions yet");
    }
    hlo_module_free(module);
    say_messages(s, m);
    return ok ? HLO_OK : HLO_USAGE;
}
