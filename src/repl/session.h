/*
 * repl/session: what the parts of a session share.
 *
 * The truth of a session is text: computations, and the instructions of the entry computation, each
 * as it was typed or loaded. A change makes a new state, which is built, parsed and verified, and
 * taken up only when it is sound; older states stay for .undo. Of a line that only adds, what it
 * adds is all that is read (build.c); the module follows when it is asked for. Values are kept by
 * marks, which say all that a value depends on, so what is there already need not be done again,
 * and what is stale isn't found.
 */
#ifndef HLO_REPL_SESSION_H
#define HLO_REPL_SESSION_H

#include "base/base.h"
#include "hlo_advanced.h"
#include "repl/line.h"
#include "repl/repl.h"
#include "repl/syntax.h"

#include <stdio.h>

/* ---- state.c: texts, and what a session consists of ---- */

void *repl_alloc(size_t size); /* cleared */
char *repl_copy(struct str s);
void repl_set(char **text, const char *to); /* frees what was there; NULL: nothing */

struct typed { /* a text that somebody has written, which messages speak of */
    size_t holders;
    char *name, *text;
    size_t size;
    uint32_t first_line;
};
struct typed *typed_new(const char *name, struct str text, uint32_t first_line);
void typed_drop(struct typed *t);

struct held { /* a value that several own */
    size_t holders;
    const hlo_literal *l;
    hlo_literal *own; /* to be freed; NULL: it lies in another */
    struct held *within;
    uint64_t bytes;
};
struct held *
held_new(hlo_literal *l); /* takes it over; NULL, as a copy that there was no memory for, is none */
struct held *held_element(struct held *tuple, size_t i);
struct held *held_hold(struct held *h);
void held_drop(struct held *h);

struct entry { /* a computation, an instruction of the entry computation, or what .set gives one as
                  its value */
    size_t holders;
    char *name;                     /* without % */
    struct typed *from;             /* where its text was written; or NULL */
    struct str text, more;          /* in `from`, one behind the other */
    char *before, *between, *after; /* what was added to it; may be empty */
    uint64_t hash;                  /* of all that */
    struct held *value;             /* that was set; it has no text then */
    uint64_t id;                    /* of this setting */
};
/* TEXT lies in FROM. */
struct entry *entry_new(struct str name, struct typed *from, struct str text, const char *before,
                        const char *after);
/* BEFORE TEXT BETWEEN MORE AFTER */
struct entry *entry_of_parts(struct str name, struct typed *from, const char *before,
                             struct str text, const char *between, struct str more,
                             const char *after);
struct entry *entry_hold(struct entry *e);
void entry_drop(struct entry *e);

struct entry_list { /* that grows at its end alone once states share it */
    size_t holders, count, capacity;
    struct entry **at;
    struct map places; /* by name: one more than the place; names that are gone may be among it */
    struct arena arena;
};
struct entries { /* the first so many of a list; NULL: there are none */
    struct entry_list *list;
    size_t count;
};

enum { LAST = -1 };
struct state {
    struct entry *header;        /* HloModule and what goes with it; NULL: there is none */
    struct entries computations; /* all but the entry computation */
    struct entries insts;        /* of the entry computation, in order */
    size_t unnamed;              /* _1 to _N are taken */
    char *entry_name;
    char *entry_tail;        /* attributes behind its braces */
    long root;               /* one of `insts`; LAST: the last */
    struct entries settings; /* by .set; in no order */
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
long state_find(const struct state *s, struct str name);             /* of insts; -1 */
long state_find_computation(const struct state *s, struct str name); /* likewise */
void state_put(struct state *s, struct entry *e,
               bool root); /* takes it over; one of its name is replaced */
void state_add(struct state *s, struct entry *e,
               bool root);                      /* the same where it is known that there is none */
void state_move_last(struct state *s, long at); /* behind all others */
void state_put_computation(struct state *s, struct entry *e);
void state_set(struct state *s, struct str name, struct held *value,
               uint64_t id); /* takes the value over; NULL: takes it away */
const struct entry *state_setting(const struct state *s, const char *name); /* NULL: none */
struct entry *state_root(const struct state *s); /* NULL: there are no instructions */

/* ---- build.c: the module of a state ---- */

/* Instructions of the entry computation have numbers from `first` on, as in the listing, to which
 * what was added later is appended. {0}: nothing is built. */
struct built {
    hlo_module *module; /* NULL: nothing has been typed yet */
    hlo_listing *listing;
    bool behind;                 /* module and listing lack what was added since */
    size_t placed, computations; /* so many of those of the state are built */
    size_t parameters;
    size_t first, count; /* instructions of the entry computation */
    struct hlo_listed
        *insts;      /* by number - first; users and callees of what was added are not known */
    uint64_t *marks; /* likewise */
    bool *used;      /* by others of them */
    struct entry **entries; /* theirs; NULL: it was made of the text of another */
    size_t *numbers;        /* of the instructions of the state */
    size_t capacity, number_capacity;
    struct arena arena; /* of what was added later */
};
/* Adds what the state has beyond what is built of it. False with messages where the text is
 * rejected; false, unless B is empty, where that concerns more than what is new, or there would be
 * warnings: the state is to be built from {0}, and B is unchanged. */
bool build(struct built *b, const struct state *s, hlo_messages *m);
/* What is set in S counts for an instruction; false: others depend on it, so that S has to be
 * built. */
bool built_set(struct built *b, const struct state *s, size_t number);
struct hlo_listed built_at(const struct built *b, size_t number);
void built_free(struct built *b);

/* ---- module_text.c: the text of a module made of some entries, and what entries name ---- */

struct naming { /* places in a state */
    const struct state *state;
    size_t *computations, computation_count, computation_capacity;
    size_t *insts, inst_count, inst_capacity;
    struct map seen;
    struct arena arena;
};
void naming_begin(struct naming *n, const struct state *s);
void naming_add(struct naming *n, const struct entry *e,
                bool insts);        /* and the computations that those name in turn */
void naming_sort(struct naming *n); /* as they stand in the state */
void naming_end(struct naming *n);

struct module_text {
    struct hlo_piece *pieces;
    size_t count, capacity;
    struct arena arena;
};
void module_text_begin(struct module_text *t, const struct state *s,
                       const struct naming *named); /* NULL: all computations */
/* An instruction as it was typed; and one that is made. */
void module_text_entry(struct module_text *t, const struct entry *e, bool root);
/* The same as a root, with a zero in place of so many bytes of its text. */
void module_text_zeroed(struct module_text *t, const struct entry *e, size_t at, size_t size);
void module_text_made(struct module_text *t, const char *format, ...) PRINTF_LIKE(2, 3);
void module_text_end(struct module_text *t, const struct state *s);
hlo_module *module_text_parse(const struct module_text *t, hlo_messages *m);
void module_text_free(struct module_text *t);

/* ---- kept.c: values by what they depend on ---- */

struct kept_slot {
    uint64_t mark; /* 0: empty */
    struct held *value;
    uint64_t used;
};
struct kept {
    struct kept_slot *slots;
    size_t count, capacity;
    uint64_t bytes, most; /* what was not used for longest goes when there is more */
    uint64_t clock;
};
void kept_free(struct kept *k);
struct held *kept_get(struct kept *k, uint64_t mark); /* not held for the caller; NULL */
void kept_put(struct kept *k, uint64_t mark, struct held *value); /* holds it */
void kept_drop(struct kept *k, uint64_t mark);
static inline uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t both[2] = {a, b};
    return hash_bytes(both, sizeof both);
}

/* ---- read.c: where entries come from ---- */

struct input {
    FILE *file; /* NULL: a terminal */
    struct line_editor *editor;
    const char *name; /* "<stdin>", "setup.hlr", "-c" */
    uint32_t line;    /* that was read last */
    uint32_t first;   /* line of the entry */
    struct buf entry;
    struct input *outer; /* that reads it */
};
struct session;
enum line_result reader_read(struct session *s); /* the next entry of its input */
void reader_close(struct input *in);

/* ---- the session ---- */

enum show_mode { SHOW_HLO, SHOW_TABLE, SHOW_JSON, SHOW_NPY, SHOW_SUMMARY };

struct breakpoint {
    char *text; /* NAME, COMPUTATION/NAME, OP, file.py:42 */
    int number;
    bool watch; /* of values: nan, inf, NAME */
};

enum stepping { GO, STEP, NEXT, FINISH, STOPPED };

struct debugger {
    struct breakpoint *points;
    size_t count, capacity;
    int numbered;
    enum stepping stepping;
    size_t depth;  /* of NEXT and FINISH */
    int64_t times; /* stops still to be passed by .step N */
};

struct running; /* debug.c: a run that goes on */

struct session {
    const struct repl_options *o;
    bool interactive;
    struct state **states; /* never empty */
    size_t state_count, state_at;
    struct built built; /* of the state that counts */
    struct built *old;  /* of states that counted when a run began that goes on */
    size_t old_count;
    struct kept kept;
    uint64_t ids; /* of settings */
    struct input *input;
    FILE *out;      /* of data */
    char *out_path; /* .output; NULL: standard output */
    int out_error;  /* errno, when some of it could not be written; 0: all was */
    bool once;      /* until the next entry is done */
    enum show_mode mode;
    struct hlo_view view;
    bool time, trace, bail, echo;
    char *prompt;
    struct debugger debugger;
    struct running *running; /* NULL: none */
    bool abandoned;          /* the run before was ended where it had stopped */
    int stop_status;         /* and this is how reading ended there */
    bool leaving;
    int status; /* of the entry that was done last */
};

static inline struct state *session_state(const struct session *s)
{
    return s->states[s->state_at];
}
enum { STATES_KEPT = 200 };
/* What the module of the session is, and lists, with all that was added; numbers in `later` may be
 * others then. NULL: none. */
const hlo_listing *session_listing(struct session *s);
const hlo_module *session_module(struct session *s);
/* The number of a value of the entry computation; -1. */
long session_find(struct session *s, struct str name);
/* Takes the state over: it is built and becomes the one that counts, or is freed with messages. */
bool session_take(struct session *s, struct state *next, hlo_messages *m);
bool session_take_set(struct session *s, struct state *next, size_t number,
                      hlo_messages *m); /* differs in one setting */
int session_undo(struct session *s, long steps);
void session_drop_old(struct session *s); /* once no run goes on */

/* ---- say.c: what goes to people ---- */

/* `FILE:LINE: error: ...` off a terminal. Returns STATUS. */
int say_error(struct session *s, int status, const char *format, ...) PRINTF_LIKE(3, 4);
void add_error(struct session *s, hlo_messages *m, const char *format, ...)
    PRINTF_LIKE(3, 4); /* the same among others */
void say_note(struct session *s, const char *format, ...) PRINTF_LIKE(2, 3); /* only to a person */
/* Draws the messages and frees them. */
void say_flush(struct session *s); /* what is to go to `out` goes there */
void say_messages(struct session *s, hlo_messages *m);
int say_unknown(struct session *s, struct str name);           /* no value, with the nearest name */
void put_text(struct session *s, hlo_text text);               /* frees it; data */
int output_to(struct session *s, const char *path, bool once); /* NULL: standard output */
bool may_write(struct session *s,
               const char *path); /* false after saying that the session is confined */

/* ---- entry.c: entries, done ---- */

/* The shape of what an entry is, without doing it: printed. A status. */
int entry_type(struct session *s, struct str text);

/* The lines of a file; a status. */
int source_file(struct session *s, const char *path, bool must_exist);
int session_read(struct session *s);                /* all that the input has; a status */
int input_all(struct session *s, struct input *in); /* all of another one, which is then closed */

/* ---- load.c: modules into the session, and out of it ---- */

int load_file(struct session *s, const char *path, size_t part);
int load_text(struct session *s, const char *name, struct str text, uint32_t line);
int save_file(struct session *s, const char *path);

/* why.c: the sources of `NAME[I,J]`, as hlo_recorded_find has it, so many steps back */
int why_print(struct session *s, struct str what, int64_t levels);

/* ---- values.c: values, made when they are asked for ---- */

enum made { MADE, UNMADE /* a parameter has no value yet */, FAILED };
/* Values of instructions of the entry computation, each to be dropped; with messages where they
 * cannot be had. ANEW: nothing that is kept is used but settings. */
enum made values_make(struct session *s, const size_t *insts, size_t count, bool anew,
                      struct held **out, hlo_messages *m);
int value_status(const hlo_messages *m); /* of a run that failed */
/* What is called so: a value of the session, or where a run has stopped. NULL after saying why. */
struct held *value_named(struct session *s, struct str name, int *status);

/* ---- arguments.c: what the parameters are given ---- */

/* `NAME=VALUE`, values in order, --random[=SEED], --fake[=KIND]. */
int run_arguments(struct session *s, struct str args);
bool set_parameters(struct session *s, const hlo_arrays *file,
                    hlo_messages *m); /* those that the file has */
/* A value for something of this shape: a literal, with its shape or without, or a file. NULL with
 * messages. */
hlo_literal *value_read(const char *name, const char *shape, const char *text, hlo_messages *m);

/* ---- show.c ---- */

int show_value(struct session *s, struct str name, struct str index, const struct held *h);
int plot_value(struct session *s, struct str index, const struct held *h, enum hlo_plot kind,
               const char *png); /* PNG: the file; NULL */

/* ---- debug.c: stops ---- */

struct running {
    struct session *s;
    hlo_program *program;
    hlo_module *module; /* that is run: often a part of the session's */
    hlo_listing *listing;
    uint64_t *marks;     /* by instruction of that listing; 0: it is not kept */
    struct held **local; /* where there are stops: the last value of each */
    uint64_t *local_at;  /* and in which iteration it was made */
    bool watched;
    const struct hlo_event *at; /* where it has stopped; NULL */
    bool done;                  /* behind that instruction, not before it */
    bool ended;                 /* by .stop or .quit */
};
void debug_observe(struct running *r, struct hlo_trace_callbacks *out);
int debug_where(struct session *s);
struct held *debug_value(struct session *s, struct str name); /* NULL: there is none yet */
int debug_missing(struct session *s, struct str name);        /* says why */
void running_free(struct running *r);
int debug_set(struct session *s, struct str name, const char *value);
int debug_add(struct session *s, struct str text, bool watch);
int debug_list(struct session *s);
int debug_delete(struct session *s, int64_t number); /* 0: all */
void debug_free(struct session *s);

/* ---- look.c: commands that look at the module ---- */

int look_list(struct session *s, struct str args);
int look_info(struct session *s, struct str args);
int look_users(struct session *s, struct str args);
int look_type(struct session *s, struct str args);
int look_graph(struct session *s, struct str args);

/* ---- doc.c ---- */

int cmd_doc(struct session *s, struct str args);

/* ---- fold.c ---- */

/* Data for people: lines are folded where the window ends, and go on behind so many blanks. The
 * cursor is in `column`. */
void put_folded(struct session *s, size_t column, size_t indent, const char *text);

/* ---- command.c: the table of commands ---- */

struct command {
    const char *name, *letters, *arguments;
    int kind; /* enum complete_kind */
    const char *words;
    int (*function)(struct session *s, struct str args);
    const char *help, *example;
};
const struct command *command_get(size_t i); /* NULL past the end */
struct str next_word(struct str *args); /* takes it away; quotes are gone; empty past the last */
int command_do(struct session *s, struct str text);
int command_usage(struct session *s, const char *name); /* says it; HLO_USAGE */
/* Of a text that is none: ".load" where it was meant; "" */
const char *command_meant(struct str text);

#endif
