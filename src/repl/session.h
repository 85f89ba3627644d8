/*
 * repl/session: declarations shared by the parts of a session.
 *
 * A session is represented by text: computations, and the instructions of the entry computation,
 * each as typed or loaded. A change creates a new state, which is parsed and verified, and adopted
 * only if it is well-formed; earlier states are kept for .undo. If a line only adds something,
 * only the addition is parsed (build.c); the whole module is built on demand. Values are cached by
 * marks, hashes of everything that a value depends on, so that known values are not recomputed and
 * stale ones are not found.
 */
#ifndef HLO_REPL_SESSION_H
#define HLO_REPL_SESSION_H

#include "base/base.h"
#include "hlo_scoped.h"
#include "repl/line.h"
#include "repl/repl.h"
#include "repl/syntax.h"

#include <stdio.h>

/* ---- state.c: texts and states ---- */

void repl_set(char **text, const char *to); /* frees the old text; NULL: none */

struct source_text { /* a text of the user, referenced by messages */
    size_t refs;
    char *name, *text;
    size_t size;
    uint32_t first_line;
    bool module; /* a whole module, not an entry */
};
struct source_text *source_text_new(const char *name, struct str text, uint32_t first_line);
void source_text_unref(struct source_text *t);

struct shared_value { /* a reference-counted value */
    size_t refs;
    const hlo_literal *l;
    hlo_literal *own; /* to be freed; NULL: part of another value */
    struct shared_value *within;
    uint64_t bytes;
    bool generated; /* an argument made by --random or --fake */
};
/* Takes ownership; returns NULL for NULL (out of memory for a copy). */
struct shared_value *shared_value_new(hlo_literal *l);
struct shared_value *shared_value_element(struct shared_value *tuple, size_t i);
struct shared_value *shared_value_ref(struct shared_value *h);
void shared_value_unref(struct shared_value *h);

struct text_part { /* of the text of an entry */
    struct str text;
    struct str typed; /* what the user typed: `text` itself, or what it replaces; empty: nothing */
};
struct entry { /* a computation, an instruction of the entry computation, or a value set by .set */
    size_t refs;
    char *name;               /* without % */
    struct source_text *from; /* the text that was typed; or NULL */
    struct text_part *parts;
    size_t part_count;
    char *generated;            /* text of the parts that are not slices of `from` */
    uint64_t hash;              /* of all text */
    struct shared_value *value; /* value that was set, without text */
    uint64_t id;                /* of the setting */
};
/* TEXT is a slice of FROM; BEFORE and AFTER are generated. */
struct entry *entry_new(struct str name, struct source_text *from, struct str text,
                        const char *before, const char *after);
/* Copies all text that is not a slice of FROM. */
struct entry *entry_of_parts(struct str name, struct source_text *from,
                             const struct text_part *parts, size_t count);
static inline bool part_is_typed(const struct text_part *p)
{
    return p->typed.ptr && p->typed.ptr == p->text.ptr;
}
/* The first part that was typed; empty: none. */
struct str entry_typed(const struct entry *e);
/* Whether WORD is in the text as typed. */
bool entry_mentions(const struct entry *e, const char *word);
struct entry *entry_ref(struct entry *e);
void entry_unref(struct entry *e);

struct entry_list { /* only appended to while states share it */
    size_t refs, count, capacity;
    struct entry **at;
    struct map places; /* name -> index + 1; may contain removed names */
    struct arena arena;
};
struct entries { /* the first `count` entries of a list; NULL: empty */
    struct entry_list *list;
    size_t count;
};

enum { LAST = -1 };
struct state {
    struct entry *header;        /* HloModule and its attributes; NULL: none */
    struct entries computations; /* except the entry computation */
    struct entries insts;        /* of the entry computation, in order */
    size_t unnamed;              /* _1 to _N are in use */
    char *entry_name;
    char *entry_tail;        /* attributes after its closing brace */
    long root;               /* index in `insts`; LAST: the last */
    struct entries settings; /* of .set, unordered */
    char *change;            /* the entry that made it; NULL: none */
};
static inline struct entry *state_inst(const struct state *s, size_t i)
{
    return s->insts.list->at[i];
}
static inline struct entry *state_computation(const struct state *s, size_t i)
{
    return s->computations.list->at[i];
}
struct state *state_new(void);
struct state *state_copy(const struct state *s);
void state_free(struct state *s);
long state_find(const struct state *s, struct str name); /* index in insts; -1: none */
/* Index in computations; -1: none. */
long state_find_computation(const struct state *s, struct str name);
struct str state_new_name(struct state *s, struct arena *a); /* _1, _2, ... */
/* Takes ownership; replaces an entry of the same name. */
void state_put(struct state *s, struct entry *e, bool root);
void state_add(struct state *s, struct entry *e, bool root); /* the same for a new name */
void state_move(struct state *s, size_t from, size_t to);    /* moves an instruction */
void state_keep(struct state *s, size_t count);              /* the first COUNT instructions */
void state_put_computation(struct state *s, struct entry *e);
/* Takes ownership of the value; NULL: removes the setting. */
void state_set(struct state *s, struct str name, struct shared_value *value, uint64_t id);
const struct entry *state_setting(const struct state *s, const char *name); /* NULL: none */
struct entry *state_root(const struct state *s); /* NULL: no instructions */

/* ---- build.c: the module of a state ---- */

/* Instructions of the entry computation have numbers from `first` on, as in the listing; later
 * additions follow. {0}: nothing is built. */
struct built {
    hlo_module *module; /* NULL: empty session */
    hlo_listing *listing;
    bool behind;                 /* module and listing lack later additions */
    size_t placed, computations; /* numbers of entries of the state that are built */
    size_t parameters;
    size_t first, count;      /* instructions of the entry computation */
    struct hlo_listed *insts; /* by number - first; users and callees of additions are unknown */
    uint64_t *marks;          /* by number - first */
    bool *used;               /* by other instructions */
    struct entry **entries;   /* their entries; NULL: generated from the text of another entry */
    size_t *numbers;          /* by index in the state */
    size_t capacity, number_capacity;
    struct arena arena; /* memory of additions */
};
/* Extends the build to the state. False with messages if the text is rejected; false without
 * messages, unless B is empty, if the additions affect other instructions or there are warnings:
 * the state must then be built from {0}, and B is unchanged. */
bool build(struct built *b, const struct state *s, hlo_messages *m);
/* Applies a setting of S to an instruction; false: other instructions depend on it, so that S must
 * be built. */
bool built_set(struct built *b, const struct state *s, size_t number);
/* The shape of an instruction that would follow those of S, which extends the state of B; to be
 * freed. NULL: it is rejected. */
char *build_shape(const struct built *b, const struct state *s, const struct entry *next);
struct hlo_listed built_at(const struct built *b, size_t number);
/* The setting of instruction `i`, a number - first; NULL: none. */
const struct entry *built_setting(const struct built *b, const struct state *s, size_t i);
void built_free(struct built *b);

/* ---- module_text.c: generation of module texts, and names in entries ---- */

struct naming { /* indices of named entries in a state */
    const struct state *state;
    size_t *computations, computation_count, computation_capacity;
    size_t *insts, inst_count, inst_capacity;
    struct map seen;
    struct arena arena;
};
void naming_begin(struct naming *n, const struct state *s);
void naming_add(struct naming *n, const struct entry *e,
                bool insts);        /* including the computations that these name */
void naming_sort(struct naming *n); /* in order of the state */
void naming_end(struct naming *n);

struct module_text {
    struct hlo_piece *pieces;
    size_t count, capacity;
    struct arena arena;
};
/* NULL: all computations. */
void module_text_begin(struct module_text *t, const struct state *s, const struct naming *named);
/* Appends an instruction as it was typed; module_text_made appends a generated one. */
void module_text_entry(struct module_text *t, const struct entry *e, bool root);
/* Appends an instruction as root, with NUMBER, a slice of its typed text, replaced by a zero. */
void module_text_zeroed(struct module_text *t, const struct entry *e, struct str number);
void module_text_made(struct module_text *t, const char *format, ...) PRINTF_LIKE(2, 3);
/* Ends the text, parses it and, if `verified`, verifies the module; frees the text. NULL with
 * messages. */
hlo_module *module_text_parse(struct module_text *t, const struct state *s, bool verified,
                              hlo_messages *m);
/* Appends instruction NAME as a parameter. */
void module_text_parameter(struct module_text *t, const char *name, const char *shape,
                           size_t number, bool root);

/* ---- cache.c: cache of values ---- */

struct cache_entry {
    uint64_t mark; /* 0: empty */
    struct shared_value *value;
    uint64_t used;
};
struct cache {
    struct cache_entry *slots;
    size_t count, capacity;
    uint64_t bytes, max; /* size limit; the least recently used values are evicted */
    uint64_t clock;
};
void cache_free(struct cache *k);
/* No reference is added for the caller; NULL: none. */
struct shared_value *cache_get(struct cache *k, uint64_t mark);
void cache_put(struct cache *k, uint64_t mark, struct shared_value *value); /* adds a reference */
void cache_drop(struct cache *k, uint64_t mark);
static inline uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t both[2] = {a, b};
    return hash_bytes(both, sizeof both);
}

/* ---- reader.c: input ---- */

struct input {
    FILE *file; /* NULL: a terminal */
    struct line_editor *editor;
    const char *name; /* "<stdin>", "setup.hlr", "-c" */
    uint32_t line;    /* the last line read */
    uint32_t first;   /* first line of the entry */
    struct buf entry;
    struct input *outer; /* the input with the .source command */
};
struct session;

/* ---- the session ---- */

enum show_mode { SHOW_HLO, SHOW_TABLE, SHOW_JSON, SHOW_NPY, SHOW_SUMMARY };

struct breakpoint {
    char *text; /* NAME, COMPUTATION/NAME, OP, file.py:42 */
    int number;
    bool watch; /* a watchpoint: nan, inf, NAME */
};

enum stepping { GO, STEP, NEXT, FINISH, STOPPED };

struct debugger {
    struct breakpoint *points;
    size_t count, capacity;
    int numbered;
    enum stepping stepping;
    size_t depth;  /* for NEXT and FINISH */
    int64_t times; /* remaining steps of .step N */
};

struct running; /* debug.c: the current run */

struct session {
    const struct repl_options *o;
    bool interactive;
    struct state **states; /* never empty */
    size_t state_count, state_at;
    struct built built; /* of the current state */
    struct built *old;  /* builds that the current run still uses */
    size_t old_count;
    struct cache kept;
    uint64_t ids; /* last id of a setting */
    struct input *input;
    FILE *out;      /* output of results */
    bool paged;     /* `out` is shown on standard output afterwards, by the pager if it is long */
    char *out_path; /* .output; NULL: standard output */
    int out_error;  /* errno of a failed write; 0: none */
    bool once;      /* .once: restore the output after the next entry */
    enum show_mode mode;
    struct hlo_view view;
    bool time, trace, bail, echo;
    char *prompt;
    char *last;       /* name of the last value; NULL: none */
    uint64_t *warned; /* hashes of printed warnings */
    size_t warned_count;
    struct str entry;              /* being evaluated, as typed */
    const struct command *command; /* that is running; NULL: none */
    struct debugger debugger;
    struct running *running; /* NULL: none */
    bool abandoned;          /* the last run was ended while it was stopped */
    int stop_status;         /* status of the nested prompt of that run */
    bool leaving;
    int status; /* of the last entry */
};

static inline struct state *session_state(const struct session *s)
{
    return s->states[s->state_at];
}
enum { MAX_STATES = 200 };
/* The module of the session and its listing, with all additions built; this may change numbers of
 * additions. NULL: none. */
const hlo_listing *session_listing(struct session *s);
const hlo_module *session_module(struct session *s);
/* The instruction that `_`, the last value, or `root`, the result, stands for; else NAME. */
struct str session_alias(const struct session *s, struct str name);
void session_last(struct session *s, struct str name); /* sets the name of the last value */
/* The number of an instruction of the entry computation; -1: none. */
long session_find(struct session *s, struct str name);
/* Takes ownership of a state: builds it and makes it the current one, or frees it with messages. */
bool session_take(struct session *s, struct state *next, hlo_messages *m);
/* The states differ in one setting. */
bool session_take_set(struct session *s, struct state *next, size_t number, hlo_messages *m);
int session_undo(struct session *s, long steps);
/* Reverts the last change without making it available to .redo. */
void session_take_back(struct session *s);
void session_settle(struct session *s);   /* the current state is not undone */
void session_drop_old(struct session *s); /* call it when no run is active */

/* ---- report.c: diagnostics and output ---- */

/* Prints `FILE:LINE: error: ...` if not interactive. Returns STATUS. */
int report_error(struct session *s, int status, const char *format, ...) PRINTF_LIKE(3, 4);
/* Adds it to other messages. */
void add_error(struct session *s, hlo_messages *m, const char *format, ...) PRINTF_LIKE(3, 4);
/* The same about PLACE, a slice of FROM. */
void add_error_at(hlo_messages *m, const struct source_text *from, struct str place,
                  const char *text);
void report_warning(struct session *s, const char *format, ...) PRINTF_LIKE(2, 3);
void report_note(struct session *s, const char *format, ...)
    PRINTF_LIKE(2, 3); /* interactive only */
/* Renders and frees the messages. */
void report_flush(struct session *s); /* flushes `out` */
void report_messages(struct session *s, hlo_messages *m);
int report_unknown(struct session *s,
                   struct str name);             /* reports an unknown name, with a suggestion */
void put_text(struct session *s, hlo_text text); /* prints and frees it */
void put_highlighted(struct session *s,
                     const char *text);    /* prints HLO text, in color on a terminal */
bool on_terminal(const struct session *s); /* whether output is shown on the terminal */
int output_to(struct session *s, const char *path, bool once); /* NULL: standard output */
/* False after reporting that the session is confined. */
bool may_write(struct session *s, const char *path);

/* ---- entry.c: evaluation of entries ---- */

/* Evaluates one entry: HLO text or a command. Returns a status. */
int entry_do(struct session *s, struct str text);
/* Prints the shape of an entry without evaluating it. Returns a status. */
int entry_type(struct session *s, struct str text);

/* ---- reader.c: reading of inputs ---- */

/* Evaluates the lines of a file; returns a status. */
int source_file(struct session *s, const char *path, bool must_exist);
int session_read(struct session *s); /* evaluates the current input to its end; returns a status */
int input_all(struct session *s, struct input *in); /* evaluates another input and closes it */

/* ---- load.c: loading and saving modules ---- */

int load_file(struct session *s, const char *path, size_t part);
int load_text(struct session *s, const char *name, struct str text, uint32_t line);
int save_file(struct session *s, const char *path);

/* why.c: prints the sources of `NAME[I,J]` (see hlo_recorded_find), `levels` deep */
int why_print(struct session *s, struct str what, int64_t levels);

/* ---- values.c: values computed on demand ---- */

enum made { MADE, UNMADE /* a parameter has no value yet */, FAILED };
/* Computes values of instructions of the entry computation, each to be dropped by the caller;
 * messages on failure. ANEW: use no cached values except settings. */
enum made values_make(struct session *s, const size_t *insts, size_t count, bool no_cache,
                      struct shared_value **out, hlo_messages *m);
int value_status(const hlo_messages *m); /* status of a failed run */
/* The value of instruction `i`, a number - first, that was set or is cached, with a reference for
 * the caller; NULL: none. */
struct shared_value *value_known(struct session *s, const struct built *b, size_t i);
/* The value of a name in the session or in the stopped run. NULL after reporting an error. */
struct shared_value *value_named(struct session *s, struct str name, int *status);

/* ---- arguments.c: arguments of runs ---- */

/* Parses `NAME=VALUE`, values in order, --random[=SEED], --fake[=KIND]. */
int run_arguments(struct session *s, struct str args);
/* Those of a file of arrays or, if FILE is NULL, those stored in the file of a module. */
bool set_parameters(struct session *s, const hlo_arrays *file, const hlo_module *stored,
                    hlo_messages *m);
/* Parses a value of the given shape: a literal, whose shape is optional, or a file. NULL with
 * messages. */
hlo_literal *value_read(const char *name, const char *shape, const char *text, hlo_messages *m);

/* ---- show.c ---- */

int show_value(struct session *s, struct str name, struct str index, const struct shared_value *h);
/* PNG: output file; or NULL. */
int plot_value(struct session *s, struct str index, const struct shared_value *h,
               enum hlo_plot kind, const char *png);

/* ---- debug.c: stopped runs ---- */

struct running {
    struct session *s;
    hlo_program *program;
    hlo_module *module; /* running module, often a part of the session's */
    hlo_listing *listing;
    uint64_t *marks;             /* by instruction of that listing; 0: not cached */
    struct shared_value **local; /* with breakpoints: the last value of each instruction */
    uint64_t *local_at;          /* and the mark of its iteration */
    bool watched;
    const struct hlo_event *at; /* event where the run is stopped; NULL: not stopped */
    bool done;                  /* after that instruction, not before it */
    bool ended;                 /* by .stop or .quit */
};
void debug_attach(struct running *r, struct hlo_trace_callbacks *out);
int debug_where(struct session *s);
/* The name of the instruction after which the run is stopped; empty: none. */
struct str debug_stopped_after(const struct session *s);
struct shared_value *debug_value(struct session *s, struct str name); /* NULL: none yet */
int debug_missing(struct session *s, struct str name); /* reports why there is no value */
void running_free(struct running *r);
int debug_set(struct session *s, struct str name, const char *value);
int debug_add(struct session *s, struct str text, bool watch);
int debug_list(struct session *s);
int debug_delete(struct session *s, int64_t number); /* 0: all */
void debug_free(struct session *s);

/* ---- look.c: commands that inspect the module ---- */

int look_list(struct session *s, struct str args);
int look_info(struct session *s, struct str args);
int look_users(struct session *s, struct str args);
int look_type(struct session *s, struct str args);
int look_graph(struct session *s, struct str args);

int look_find(struct session *s, struct str args);
int look_history(struct session *s, struct str args);

/* ---- doc.c, set.c ---- */

int cmd_doc(struct session *s, struct str args);
int cmd_set(struct session *s, struct str args);

/* ---- report.c ---- */

/* Prints text, filled to the width of the window; continuation lines are indented by `indent`. The
 * cursor is in column `column`. */
void put_wrapped(struct session *s, size_t column, size_t indent, const char *text);

/* ---- command.c: the table of commands ---- */

struct command {
    const char *name, *letters, *arguments;
    int kind; /* enum complete_kind */
    const char *words;
    int (*function)(struct session *s, struct str args);
    const char *help, *example;
};
const struct command *command_get(size_t i); /* NULL past the end */
struct str next_word(struct str *args); /* extracts a word without quotes; empty past the last */
int command_do(struct session *s, struct str text);
/* Reports the usage of the command that is running; returns HLO_USAGE. */
int command_usage(struct session *s);
/* The command that an invalid entry was probably meant to be, ".load"; "" if none. */
const char *command_meant(struct str text);

#endif
