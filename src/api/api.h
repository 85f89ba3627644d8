/*
 * Declarations shared by the files of the public interface: the structs behind its handles, and
 * sinks of messages.
 */
#ifndef HLO_API_H
#define HLO_API_H

#include "hlo_scoped.h"

#include "base/oom.h"
#include "diag/diag.h"
#include "ir/ir.h"
#include "plan/foreign.h"

struct hlo_file {
    int references;
    bool strict;
    struct arena arena;
    struct file_bytes bytes;
    struct source *parts;
    struct str *titles;         /* of the parts: name of the dump or of the module, or empty */
    size_t count, skipped;      /* skipped: parts of the file before the first */
    const char *path;           /* of a file of text; NULL: none */
    struct proto_module *proto; /* the protocol buffer that the text was made from, or NULL */
    hlo_text full;              /* its module with all values, once hlo_file_text was called */
    hlo_arrays *bundle;         /* the bundle that the text was read from, or NULL */
};

struct sink { /* messages about one source */
    struct diags ds;
    struct source own; /* the source, unless it is part of a file */
    hlo_file *file;    /* referenced file of a part; or NULL */
    struct sink *next;
};

struct hlo_messages {
    struct arena arena;
    struct sink *first, *last;
    struct map by_source;       /* sinks of parts of files, by address of the source */
    struct hlo_messages *taken; /* others whose sinks were moved here: hlo_messages_take */
    struct sink oom;            /* preallocated "out of memory", added by hlo_messages_no_memory */
};

struct hlo_module {
    struct module *m;
    hlo_file *file;
    size_t part;
};

struct hlo_literal {
    struct arena arena;
    struct literal *l;
    hlo_literal **elements; /* handles of tuple elements, which own no storage; NULL: not a tuple */
    const struct literal **leaves; /* in order; of an array, itself */
    size_t leaf_count;
};

struct hlo_world {
    struct ranks *ranks;
};

struct program;
struct run_state;
struct hlo_program {
    const hlo_module *module;
    hlo_world *world;            /* NULL: single process */
    _Atomic bool interrupted;    /* interrupt for the current run, or otherwise the next one */
    struct tracer *tracer;       /* NULL: planned without `traced` */
    struct thread_pool *workers; /* shared by all participants */
    size_t count;                /* number of participants */
    struct program *program;     /* the plan that all participants share */
    struct run_state *shared;    /* of all participants; NULL: there is only one in this process */
    struct run_state *states[];  /* by participant; NULL: it runs in another process */
};

hlo_text hlo_text_of(struct buf *b); /* takes ownership of the bytes */
/* Copies an option struct, whose first member is its size, to one of this version, of `size` bytes;
 * members that the caller's struct lacks are 0. FROM may be NULL. False if its size is not set or
 * if it sets options that this version lacks; with a message, unless M is NULL. */
bool hlo_options_copy(void *to, size_t size, const void *from, hlo_messages *m);
/* hlo_messages_free as a cleanup_fn: messages hold references to files, which the out-of-memory
 * scope does not release. */
void hlo_messages_cleanup(void *m);
hlo_file *hlo_file_new(bool strict);       /* one reference, no parts */
struct source *hlo_file_part(hlo_file *f); /* gives the file one part, which is not initialized */
/* Splits the text, which must outlive the file, into parts. */
void hlo_file_split(hlo_file *f, const char *name, struct str text);
hlo_file *hlo_file_hold(hlo_file *f);
/* The values of constants that the text of a module elides, from the protocol buffer of the same
 * dump beside its file, if there is one; with a note that says so. */
void hlo_restore_elided(const hlo_module *module, hlo_messages *m);

static inline const struct inst *hlo_param_of(const hlo_module *module, size_t i)
{
    return module->m->entry->params[i];
}

/* Begins an empty handle, in whose arena a value is then created; hlo_literal_end ends it with that
 * value. If the value is NULL, the handle is freed and NULL returned. */
hlo_literal *hlo_literal_begin(void);
hlo_literal *hlo_literal_end(hlo_literal *h, struct literal *l);
/* Ends a handle with a value whose shapes may belong to a module. They are copied, since literals
 * may outlive modules. */
hlo_literal *hlo_literal_end_own(hlo_literal *h, struct literal *l);
/* hlo_literal_parse; NAME is the name of the text in messages. */
hlo_literal *hlo_literal_parse_named(const char *name, struct str text, const struct shape *shape,
                                     hlo_messages *m);
/* The names by which files and arguments may refer to a parameter: its own, that without the number
 * that makes it unique, and its op_name; the latter two if they are unambiguous. Returns their
 * number. */
enum { PARAM_NAMES = 3 };
size_t hlo_param_names(const hlo_module *module, size_t param, struct str names[PARAM_NAMES]);
/* Moves a value into the arena: shapes are copied, storage is moved. */
struct literal *hlo_literal_take(struct arena *a, struct literal *from);
/* Registers a literal of the caller whose ownership is passed to the library; NULL is allowed. */
void hlo_literal_adopt(hlo_literal *h);

/* Checks the shape of an argument; dynamic sizes are checked by the run. False with a message. */
bool hlo_argument_fits(const hlo_module *module, size_t param, const hlo_literal *l,
                       hlo_messages *m);
/* The result of the entry computation in arrays named `prefix`0, `prefix`1, ... */
hlo_literal *hlo_arrays_result(const hlo_arrays *s, const char *prefix, const hlo_module *module,
                               size_t participant, hlo_messages *m);

/* Replaces all pairs by those of a pairing of the same modules. */
void hlo_pair_copy(hlo_pairing *p, const hlo_pairing *from);
/* Makes two instructions partners; one that has a partner keeps it. */
void hlo_pair_add(hlo_pairing *p, size_t a, size_t b, enum hlo_paired how);
void hlo_pair_remove(hlo_pairing *p, size_t b); /* the pair of an instruction of b */
/* The instruction whose value it has: a parameter of a computation with a single caller that of an
 * operand of the call or fusion, an element of a known tuple that of an operand of the tuple, a
 * call or fusion that of the root. */
size_t hlo_pair_source(const hlo_listing *l, size_t i);
/* Whether the instructions have the same opcode and attributes, or are constants of equal value. */
bool pair_same_op(const hlo_listing *a, size_t i, const hlo_listing *b, size_t j);

/* Conversion between instructions and their numbers in a listing. */
size_t hlo_listing_number(const hlo_listing *l, const struct inst *i);
struct inst *hlo_listing_inst(const hlo_listing *l, size_t i);
const hlo_module *hlo_listing_module(const hlo_listing *l);

/* Describes a leaf in the public form. */
struct hlo_array hlo_array_of(const struct shape *s, void *data);
/* The targets in the form of plan; NULL: none. */
struct foreign hlo_targets_foreign(const hlo_targets *t);

/* ---- trace.c ---- */

struct trace_event;
struct event_value;
struct event_state { /* `run` of a struct hlo_event */
    struct trace_event *trace_event;
    const hlo_module *module;
    const hlo_listing *listing;
    struct event_value *given; /* literals returned in this call */
};
struct tracer *hlo_tracer_new(const hlo_module *module);
void hlo_tracer_free(struct tracer *o); /* accepts NULL */
/* hlo_trace and hlo_run_traced with callbacks of the library itself: their memory belongs to the
 * run. */
void hlo_trace_within(hlo_program *p, const struct hlo_trace_callbacks *ours);
bool hlo_run_traced_within(const hlo_module *module, const struct hlo_run_options *options,
                           const struct hlo_trace_callbacks *ours, const hlo_literal *const *args,
                           size_t count, hlo_messages *m);

/* Describes what a step does and how. The program must have had a dry run (eval_estimate_memory).
 */
struct function;
struct str hlo_step_text(struct arena *a, const struct run_state *state, const struct function *f,
                         int number);

/* Sink for messages about a part of a file. */
struct diags *hlo_sink_of_part(hlo_messages *m, hlo_file *f, size_t part);
/* Sink for messages about a module. */
struct diags *hlo_sink_of_module(hlo_messages *m, const hlo_module *module);
/* Sink for messages about anything else that has a name, and optionally a text. */
struct diags *hlo_sink_of_name(hlo_messages *m, const char *name, struct str text);
/* Appends the messages of `from`, which then belongs to `m`. */
void hlo_messages_take(hlo_messages *m, hlo_messages *from);
/* A sink for messages about a text that is not part of a file. They are added by hlo_sink_join. */
struct sink *hlo_sink_new(hlo_messages *m);
void hlo_sink_join(hlo_messages *m, struct sink *s);

#endif
