/*
 * What the files of the public interface share: what handles hold, and how messages find their sources.
 */
#ifndef HLO_API_H
#define HLO_API_H

#include "hlo.h"

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

struct sink {
    struct diags ds;
    struct source own; /* where the source is no part of a file */
    hlo_file *file;    /* kept alive; or NULL */
    struct sink *next;
};

struct hlo_messages {
    struct arena arena;
    struct sink *first, *last;
    struct map by_source;       /* the sinks of parts of files, by the address of the source */
    struct hlo_messages *taken; /* whose sinks are among these: hlo_messages_take */
    struct sink starved; /* hlo_messages_no_memory: among those, once it has said something */
};

struct hlo_module {
    struct module *m;
    hlo_file *file;
    size_t part;
};

struct hlo_literal {
    struct arena arena;
    struct literal *l;
    hlo_literal **elements; /* handles of a tuple's components, which hold no storage themselves */
};

struct hlo_world {
    struct ranks *ranks;
};

struct program;
struct hlo_program {
    const hlo_module *module;
    hlo_world *world;           /* NULL: threads */
    _Atomic bool interrupted;   /* the run that is going on, or the next one, is to end */
    struct observing *observing; /* NULL: it is not planned for that */
    struct team *team;          /* shared by all of them */
    size_t count;               /* participants */
    struct program *programs[]; /* one each: what a program keeps while it runs is its participant's; NULL: not here */
};

hlo_text hlo_text_of(struct buf *b);
void hlo_messages_lost(void *m); /* an undo_fn for messages of our own: they hold files */
hlo_file *hlo_file_new(bool strict); /* held once, no parts */
void hlo_file_split(hlo_file *f, const char *name, struct str text); /* its parts; the text must last */
hlo_file *hlo_file_hold(hlo_file *f);

static inline const struct inst *hlo_param_of(const hlo_module *module, size_t i) { return module->m->entry->params[i]; }

/* An empty handle, to be completed around a value that lies in its arena; NULL when there is no value. */
hlo_literal *hlo_literal_begin(void);
hlo_literal *hlo_literal_end(hlo_literal *h, struct literal *l);
/* The same of a value whose shapes may be a module's: the handle gets its own, for literals outlive modules. */
/* hlo_literal_parse; NAME is what messages call the text. */
hlo_literal *hlo_literal_parse_named(const char *name, struct str text, hlo_messages *m);
hlo_literal *hlo_literal_end_own(hlo_literal *h, struct literal *l);
/* The value moves into the arena: shapes are copied, storage is taken over. */
struct literal *hlo_literal_take(struct arena *a, struct literal *from);
void hlo_literal_adopt(hlo_literal *h); /* one of the user's that is ours from now on; NULL is fine */

/* Numbers of a listing and instructions. */
size_t hlo_listing_number(const hlo_listing *l, const struct inst *i);
struct inst *hlo_listing_inst(const hlo_listing *l, size_t i);
const hlo_module *hlo_listing_module(const hlo_listing *l);

/* A leaf as the public interface shows it. */
struct hlo_array hlo_array_of(const struct shape *s, void *data);
/* The same targets as plan wants them; NULL: none. */
struct foreign hlo_targets_foreign(const hlo_targets *t);

/* ---- observe.c ---- */

struct sighting;
struct looked;
struct looking { /* what `run` of a struct hlo_sight is */
    struct sighting *sighting;
    const hlo_module *module;
    struct looked *given; /* literals that have been given out */
};
struct observing *hlo_observing_new(const hlo_module *module);
void hlo_observing_free(struct observing *o); /* may be NULL */
/* As hlo_observe and hlo_run_observed, for observers of ours: what they take is taken by who runs the program. */
void hlo_observe_within(hlo_program *p, const struct hlo_observer *ours);
bool hlo_run_observed_within(const hlo_module *module, const struct hlo_run_options *options, const struct hlo_observer *ours,
                             const hlo_literal *const *args, size_t count, hlo_messages *m);

/* What a step is done by, in words; it has been foreseen. */
struct function;
struct str hlo_step_text(struct arena *a, const struct program *p, const struct function *f, int number);

/* For what is said about a part of a file. */
struct diags *hlo_sink_of_part(hlo_messages *m, hlo_file *f, size_t part);
/* For what is said about a module. */
struct diags *hlo_sink_of_module(hlo_messages *m, const hlo_module *module);
/* For what is said about something else that has a name, and perhaps a text of its own. */
struct diags *hlo_sink_of_name(hlo_messages *m, const char *name, struct str text);
/* Takes over what others say, and them with it. */
void hlo_messages_take(hlo_messages *m, hlo_messages *from);
/* A sink for what is said about text that is no part of a file. It joins the messages by hlo_sink_join. */
struct sink *hlo_sink_new(hlo_messages *m);
void hlo_sink_join(hlo_messages *m, struct sink *s);

#endif
