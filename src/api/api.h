/*
 * What the files of the public interface share: the structs behind its handles, and where each
 * message belongs.
 */
#ifndef HLO_API_H
#define HLO_API_H

#include "hlo_advanced.h"

#include "base/guard.h"
#include "diag/diag.h"
#include "ir/ir.h"
#include "plan/foreign.h"

struct hlo_file {
    int references;
    bool strict;
    struct arena arena;
    struct file_bytes bytes;
    struct source *parts;
    size_t count;
};

struct sink { /* the messages about one source */
    struct diags ds;
    struct source own; /* the source, unless it is part of a file */
    hlo_file *file;    /* kept alive for its part; or NULL */
    struct sink *next;
};

struct hlo_messages {
    struct arena arena;
    struct sink *first, *last;
    struct map by_source;       /* sinks of parts of files, by the address of the source */
    struct hlo_messages *taken; /* others whose sinks have joined these: hlo_messages_take */
    struct sink
        starved; /* "out of memory"; joins the list when that happens: hlo_messages_no_memory */
};

struct hlo_module {
    struct module *m;
    hlo_file *file;
    size_t part;
};

struct hlo_literal {
    struct arena arena;
    struct literal *l;
    hlo_literal *
        *elements; /* handles of a tuple's components, which own no storage; NULL: it is no tuple */
    const struct literal **leaves; /* in order; of what is no tuple, itself */
    size_t leaf_count;
};

struct hlo_world {
    struct ranks *ranks;
};

struct program;
struct hlo_program {
    const hlo_module *module;
    hlo_world *world;           /* NULL: this process alone */
    _Atomic bool interrupted;   /* the current run, or else the next one, is to end */
    struct tracer *tracer;      /* NULL: it was planned without `traced` */
    struct team *team;          /* shared by all participants */
    size_t count;               /* participants */
    struct program *programs[]; /* one each, for its state while it runs; NULL: the participant runs
                                   elsewhere */
};

hlo_text hlo_text_of(struct buf *b); /* takes the bytes over */
/* Copies an option struct, whose first member is its size, into one of this version, of `size`
 * bytes: what the caller's lacks is 0. FROM may be NULL. False when its size is not set, or when it
 * sets options that this version lacks; with a message, unless M is NULL. */
bool hlo_options_copy(void *to, size_t size, const void *from, hlo_messages *m);
void hlo_messages_lost(void *m); /* hlo_messages_free as an undo_fn: messages hold files, which a
                                    guard would not release */
hlo_file *hlo_file_new(bool strict); /* one reference, no parts */
void hlo_file_split(hlo_file *f, const char *name,
                    struct str text); /* makes its parts; the text must last */
hlo_file *hlo_file_hold(hlo_file *f);

static inline const struct inst *hlo_param_of(const hlo_module *module, size_t i)
{
    return module->m->entry->params[i];
}

/* Begins an empty handle, in whose arena a value is then made; ends it with that value. When the
 * value is NULL, the handle is freed and NULL returned. */
hlo_literal *hlo_literal_begin(void);
hlo_literal *hlo_literal_end(hlo_literal *h, struct literal *l);
/* Ends it with a value whose shapes may belong to a module. They are copied, since literals may
 * outlive modules. */
hlo_literal *hlo_literal_end_own(hlo_literal *h, struct literal *l);
/* hlo_literal_parse; NAME is what messages call the text. */
hlo_literal *hlo_literal_parse_named(const char *name, struct str text, hlo_messages *m);
/* Moves a value into the arena: shapes are copied, storage is taken over. */
struct literal *hlo_literal_take(struct arena *a, struct literal *from);
void hlo_literal_adopt(
    hlo_literal *h); /* guards a literal that the user made and handed over; NULL is fine */

/* From instructions to their numbers in a listing, and back. */
size_t hlo_listing_number(const hlo_listing *l, const struct inst *i);
struct inst *hlo_listing_inst(const hlo_listing *l, size_t i);
const hlo_module *hlo_listing_module(const hlo_listing *l);

/* A leaf in the public form. */
struct hlo_array hlo_array_of(const struct shape *s, void *data);
/* The targets in the form that plan takes; NULL: none. */
struct foreign hlo_targets_foreign(const hlo_targets *t);

/* ---- trace.c ---- */

struct sighting;
struct event_value;
struct event_state { /* what `run` of a struct hlo_event points to */
    struct sighting *sighting;
    const hlo_module *module;
    struct event_value *given; /* literals that were handed out in this call */
};
struct tracer *hlo_tracer_new(const hlo_module *module);
void hlo_tracer_free(struct tracer *o); /* may be NULL */
/* hlo_trace and hlo_run_traced with callbacks of the library itself: memory that they take belongs
 * to the run. */
void hlo_trace_within(hlo_program *p, const struct hlo_trace_callbacks *ours);
bool hlo_run_traced_within(const hlo_module *module, const struct hlo_run_options *options,
                           const struct hlo_trace_callbacks *ours, const hlo_literal *const *args,
                           size_t count, hlo_messages *m);

/* What a step does and how, in words. The program must have been rehearsed (eval_foresee). */
struct function;
struct str hlo_step_text(struct arena *a, const struct program *p, const struct function *f,
                         int number);

/* Where messages about a part of a file go; */
struct diags *hlo_sink_of_part(hlo_messages *m, hlo_file *f, size_t part);
/* those about a module; */
struct diags *hlo_sink_of_module(hlo_messages *m, const hlo_module *module);
/* and those about anything else that has a name, and perhaps a text. */
struct diags *hlo_sink_of_name(hlo_messages *m, const char *name, struct str text);
/* Appends the messages of `from`, which belongs to `m` afterwards. */
void hlo_messages_take(hlo_messages *m, hlo_messages *from);
/* A sink for messages about a text that is no part of a file. They count only once hlo_sink_join
 * adds the sink. */
struct sink *hlo_sink_new(hlo_messages *m);
void hlo_sink_join(hlo_messages *m, struct sink *s);

#endif
