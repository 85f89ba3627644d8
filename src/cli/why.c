/*
 * hlo why: the operand elements that an element was computed from, their sources, and so on.
 */
#include "cli/arguments.h"

/* Reads the view of the tree; VALUES receives its view of values. */
static bool read_view(const struct options *o, struct hlo_why_view *v, struct hlo_view *values)
{
    int64_t levels;
    if (!option_int(o, OPT_LEVELS, 1, 1000, 1, &levels))
        return false;
    if (!result_view(o, values))
        return false;
    *v = HLO_WITH(hlo_why_view, .levels = (size_t)levels, .view = values,
                  .json = o->given[OPT_JSON]);
    v->max = o->given[OPT_FULL] ? SIZE_MAX : 0;
    return true;
}

static void begin(void *context, hlo_program *p) { interrupt_begin(p); }

static void end(void *interrupted) { *(bool *)interrupted |= interrupt_end(); }

/* NAME "": the first NaN or infinity. A run that fails still has the values up to the failure. */
static int ask(const struct arguments *a, hlo_recorded *r, const char *name,
               const struct hlo_why_view *v)
{
    struct hlo_element e;
    hlo_messages *m = hlo_messages_new();
    const bool found = hlo_recorded_find(r, name, &e, m);
    if (found) {
        hlo_text text = hlo_recorded_why(r, &e, v);
        print_text(&text);
    }
    report(a->o, m);
    hlo_messages_free(m);
    if (hlo_messages_errors(a->m) > 0)
        return hlo_messages_limit(a->m) ? HLO_LIMIT : HLO_FAILED;
    return found ? HLO_OK : HLO_USAGE;
}

static int why(struct arguments *a, const hlo_listing *l, const char *path, const char *element)
{
    struct hlo_run_options options;
    struct hlo_why_view view;
    struct hlo_view values;
    if (!read_view(a->o, &view, &values))
        return HLO_USAGE;
    int status = arguments_prepare(a, &options);
    if (status == HLO_OK) {
        bool interrupted = false;
        const struct hlo_recording how = {
            .size = sizeof how, .context = &interrupted, .begin = begin, .end = end};
        SCOPED_RECORDED *r = hlo_record(l, &options, a->all, a->count, &how, a->m);
        status = r && !interrupted ? ask(a, r, element, &view) : HLO_FAILED;
        if (interrupted)
            status = STATUS_INTERRUPTED;
    }
    return status;
}

int why_command(const struct options *o) { return with_name(o, NULL, why); }
