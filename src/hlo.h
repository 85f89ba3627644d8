/*
 * libhlo: parse, verify, print and run HLO modules. This header is the stable part of the library:
 * functions stay, and structs keep their meaning, within a major version. hlo_advanced.h has the rest.
 *
 * Handles are opaque. A function that makes one names the function that frees it; freeing NULL does
 * nothing. Pointers inside a struct that a function returns belong to the handle it was asked for.
 * No function keeps a pointer argument after it returns, unless its comment says so. Texts end in NUL
 * unless a size is given. Indices must be in range unless a comment says what happens past the end.
 *
 * No input aborts the process. A function that fails returns NULL, false or an empty text and adds a
 * message to its `m`; without an `m` and another reason, memory ran out. Functions may be called from
 * several threads on different handles. `spec:` names a heading of XLA's page "Operation Semantics"
 * (openxla.org/xla/operation_semantics).
 *
 *   messages
 *   files and modules
 *   values
 *   running
 */
#ifndef HLO_H
#define HLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HLO_VERSION "0.1.0"

typedef struct hlo_messages hlo_messages; /* errors and warnings, with places */
typedef struct hlo_file hlo_file;         /* the text of one file, split into modules */
typedef struct hlo_module hlo_module;     /* a parsed module */
typedef struct hlo_program hlo_program;   /* a module made ready to run */
typedef struct hlo_literal hlo_literal;   /* a value with its shape */
typedef struct hlo_world hlo_world;       /* processes that share a run (hlo_advanced.h) */
typedef struct hlo_targets hlo_targets;   /* targets of custom calls (hlo_advanced.h) */

/* Bytes made by the library, with a NUL behind them that `size` does not count. Free it with hlo_text_free. When there was
 * no memory, `data` is NULL and `size` 0. */
typedef struct hlo_text {
    char *data;
    size_t size;
} hlo_text;
void hlo_text_free(hlo_text *text);
/* For people, one line each: the version, the processor's instruction set that is used, and OpenBLAS and FFTW as found here. */
hlo_text hlo_about(void);

/* Also the exit status of the command line. */
enum hlo_status {
    HLO_OK = 0,
    HLO_DIFFERS = 1,  /* a comparison or test failed */
    HLO_USAGE = 2,    /* wrong arguments, or a file that cannot be read */
    HLO_REJECTED = 3, /* by the parser or the verifier */
    HLO_FAILED = 4,   /* run-time error, unsupported, out of memory */
    HLO_LIMIT = 5     /* a limit was hit */
};

/* Option structs begin with their size, by which the library knows which fields the caller was compiled with: fields of later
 * versions have their defaults, 0. Initialize a struct with its macro, and set fields then; in C also in one expression:
 *
 *     struct hlo_run_options options = HLO_RUN_OPTIONS_INIT;
 *     options.threads = 1;
 *     hlo_plan(module, &HLO_WITH(hlo_run_options, .threads = 1), m);
 *
 * A function fails when the size is not set, or when fields are set that only a later version of the library has. Where a
 * pointer to an option struct is NULL, all options have their defaults. */
#ifdef __cplusplus
#define HLO_INIT(type)                                                                                                           \
    {                                                                                                                            \
        sizeof(struct type)                                                                                                      \
    }
#else
#define HLO_INIT(type)                                                                                                           \
    {                                                                                                                            \
        .size = sizeof(struct type)                                                                                              \
    }
#define HLO_WITH(type, ...) ((struct type){.size = sizeof(struct type), __VA_ARGS__})
#endif

/* ---- messages ---- */

/* Free with hlo_messages_free. */
hlo_messages *hlo_messages_new(void);
void hlo_messages_free(hlo_messages *m);
size_t hlo_messages_errors(const hlo_messages *m); /* how many errors there were */
size_t hlo_messages_count(const hlo_messages *m);  /* errors and warnings that were kept: what hlo_messages_get has */
bool hlo_messages_at_end(const hlo_messages *m);   /* whether the first error says that the text ended too early */
/* Whether some error says that a limit was hit: the status of the failure is then HLO_LIMIT, not HLO_FAILED. */
bool hlo_messages_limit(const hlo_messages *m);
struct hlo_message {
    const char *id; /* "unknown-opcode" */
    bool error;     /* else a warning */
    const char *file;
    uint32_t line, column; /* from 1; 0: no place */
    const char *text;
};
/* Message number `i`; empty strings past the end. */
struct hlo_message hlo_messages_get(const hlo_messages *m, size_t i);
/* All messages as the command line draws them: with source lines, carets and notes. */
hlo_text hlo_messages_draw(const hlo_messages *m, bool color);
/* The same in the caller's colors: "error=1;31:note=36" gives parameters of the terminal's SGR command for caret, error, help,
 * note, place and warning. What is not given has its usual color; entries of another form are ignored. NULL: no color. */
hlo_text hlo_messages_draw_in(const hlo_messages *m, const char *colors);
bool hlo_colors_known(const char *colors);         /* whether all of it has that form */
hlo_text hlo_messages_json(const hlo_messages *m); /* an array */
/* Adds an error without a line, for failures of the caller's own. */
void hlo_messages_add(hlo_messages *m, const char *file, const char *text);
/* Adds "out of memory", as the functions of this file do when they find none. Needs no memory itself. */
void hlo_messages_no_memory(hlo_messages *m);

/* ---- files and modules ---- */

/* Reads PATH ("-": standard input) and, unless `strict`, splits it at `// -----` lines. The file may be compressed by gzip or
 * be a bundle (hlo_write_bundle); PATH may also be a folder of XLA's dumps that holds one module. NULL with a message when it
 * can't be read, or when it is a program in another form (StableHLO, a protocol buffer): the message then says how to get HLO.
 * Free with hlo_file_free; its modules and messages may outlive it. */
hlo_file *hlo_file_open(const char *path, bool strict, hlo_messages *m);
/* The same, but only the module that PICK names. In a file: its number, from 1. In a folder of dumps, where files are called
 * module_0023.NAME.PHASE.txt: the number or NAME, "23" or "NAME", for the module before optimizations; for another phase, a
 * word of it behind a colon, "23:after". PICK NULL: as hlo_file_open. */
hlo_file *hlo_file_open_module(const char *path, const char *pick, bool strict, hlo_messages *m);
/* A text in memory, which is copied. NAME is what messages call it. NULL for a text of 4 GiB or more, or without memory. */
hlo_file *hlo_file_of_text(const char *name, const char *text, size_t size, bool strict);
void hlo_file_free(hlo_file *f);
/* Whether hlo_parse is to accept only what XLA's parser accepts, from now on. The file is not split anew. */
void hlo_file_strict(hlo_file *f, bool strict);
size_t hlo_file_count(const hlo_file *f); /* parts; each should be one module */
/* The text of one part, not NUL-terminated, and the number of its first line. */
const char *hlo_file_text(const hlo_file *f, size_t part, size_t *size, uint32_t *first_line);

/* Parses one part. NULL with messages when it is rejected. Free with hlo_module_free. */
hlo_module *hlo_parse(const hlo_file *f, size_t part, hlo_messages *m);
void hlo_module_free(hlo_module *module);
/* Checks the module against the rules of the language; false with messages. */
bool hlo_verify(const hlo_module *module, hlo_messages *m);
/* XLA's canonical text. FULL has every value. ABRIDGED writes constants of more than ten elements as `{...}`, as XLA's dumps do.
 * SHORT is XLA's short form, without metadata, percent signs and signatures. BARE is FULL without metadata and the tables of
 * stack frames. EXACT is FULL with -0 in constants as `-0.0`: XLA writes `-0`, which it reads back as 0. */
enum hlo_print_style { HLO_PRINT_FULL, HLO_PRINT_ABRIDGED, HLO_PRINT_SHORT, HLO_PRINT_BARE, HLO_PRINT_EXACT };
hlo_text hlo_print(const hlo_module *module, enum hlo_print_style style);
int64_t hlo_replica_count(const hlo_module *module);
int64_t hlo_num_partitions(const hlo_module *module);
/* Replaces the numbers of replicas and partitions that the text gives. Call it before hlo_verify. */
void hlo_set_participants(hlo_module *module, int64_t replicas, int64_t partitions);
/* Parameters of the entry computation. */
size_t hlo_param_count(const hlo_module *module);
const char *hlo_param_name(const hlo_module *module, size_t i);
hlo_text hlo_param_shape(const hlo_module *module, size_t i);
/* The number of the parameter of that name, with or without %; -1: there is none. Where names occur twice in a text, a second x
 * becomes x.1 in the module; it is still found as x when no other parameter can be meant. */
long hlo_param_find(const hlo_module *module, const char *name);
/* The line of the instruction that makes component `element` of the result; of the root itself where that is no tuple
 * instruction with so many elements. */
uint32_t hlo_result_line(const hlo_module *module, size_t element);

/* ---- values ---- */

void hlo_literal_free(hlo_literal *l);
/* Frees `count` literals, some of which may be NULL, and the array of them, which malloc made. */
void hlo_literals_free(hlo_literal **literals, size_t count);
/* A value with its shape, `f32[2] {1, 2}`; NULL with messages. Free with hlo_literal_free. A literal always has the sizes of its
 * values: `f32[<=10] {1, 2}` is an array of two elements. It fits a parameter f32[<=10], as does any array up to that
 * bound; results come out in the same way. */
hlo_literal *hlo_literal_parse(const char *text, size_t size, hlo_messages *m);
/* Whether the text of a value begins with its shape. */
bool hlo_literal_has_shape(const char *text, size_t size);
hlo_text hlo_literal_print(const hlo_literal *l, bool with_shape); /* in full, as hlo_literal_parse reads it */
hlo_text hlo_literal_shape(const hlo_literal *l);                  /* "f32[2]" */
/* The leaves of a value are its arrays: an array is its only leaf, a tuple has those of its components, in order. */
size_t hlo_literal_leaves(const hlo_literal *l);
struct hlo_array {
    const char *dtype; /* as HLO spells it: "f32" */
    size_t rank;
    const int64_t *dims;
    size_t element_size, elements; /* element_size in bytes; 1 for types below a byte */
    void *data;                    /* dense, row-major. Not to be written when the literal is from a file or hlo_literal_map */
};
struct hlo_array hlo_literal_leaf(const hlo_literal *l, size_t i);
/* An array of zeros. NULL with messages. */
hlo_literal *hlo_literal_new(const char *dtype, size_t rank, const int64_t *dims, hlo_messages *m);
/* An array in the caller's memory, which is read there and never written: laid out like the data of a struct hlo_array and
 * aligned for its element type; a pred is 0 or 1. The memory must stay unchanged until the literal is freed and nothing that
 * shares it is left: then `release` is called, unless it is NULL. NULL with messages; `release` is not called then. */
hlo_literal *hlo_literal_map(const char *dtype, size_t rank, const int64_t *dims, const void *data,
                             void (*release)(void *context), void *context, hlo_messages *m);
/* A tuple, which takes over the elements. NULL when there is no memory; the elements then stay the caller's. */
hlo_literal *hlo_literal_tuple(hlo_literal **elements, size_t count);
hlo_literal *hlo_literal_copy(const hlo_literal *l);
/* The components of a tuple, which live as long as the tuple; 0 for anything else. */
size_t hlo_literal_count(const hlo_literal *l);
const hlo_literal *hlo_literal_element(const hlo_literal *l, size_t i);

/* When elements agree: equal numbers do, NaN and NaN too, and floats within any of the bounds given. Integers must be equal. */
struct hlo_tolerance {
    size_t size;     /* sizeof(struct hlo_tolerance) */
    double abs, rel; /* |actual - expected| <= abs + rel * |expected| */
    int64_t ulp;     /* distance in representable values of the type; 0: not used */
    bool zeros;      /* 0 and -0 differ, where no bound is given */
    bool bits;       /* every bit must be equal, NaN payloads included */
};
#define HLO_TOLERANCE_INIT HLO_INIT(hlo_tolerance)
/* Whether shapes and values agree. Else `why`, unless it is NULL, says where they first differ, both values there, and the worst
 * error. */
bool hlo_literal_compare(const hlo_literal *actual, const hlo_literal *expected, const struct hlo_tolerance *t, hlo_text *why);

/* ---- running ---- */

enum hlo_elided { HLO_ELIDED_REFUSE, HLO_ELIDED_ZERO, HLO_ELIDED_IOTA, HLO_ELIDED_RANDOM };
struct hlo_run_options {
    size_t size;                /* sizeof(struct hlo_run_options) */
    bool plain;                 /* plain kernels only: the formula of each op, the same bits on every machine */
    enum hlo_elided elided;     /* how constants written `{...}` are filled */
    uint64_t seed;              /* of HLO_ELIDED_RANDOM */
    const hlo_targets *targets; /* for custom calls; must outlive the program. NULL: only those of HLO */
    /* Limits of one run; 0: none. A run that goes beyond one fails: see hlo_messages_limit. They are checked between
     * instructions, so a single long instruction is always completed. */
    uint64_t max_steps;  /* instructions run plus iterations of loops */
    uint64_t max_trip;   /* iterations of any one loop */
    uint64_t max_memory; /* bytes of values alive at once */
    double timeout;      /* seconds */
    int threads;         /* that share large kernels; 0: one per processor. Results are the same for any number */
    hlo_world *world;    /* the processes that share the participants; must outlive the program. NULL: this one alone */
    bool only_first;     /* plan for the first participant alone: a program to look at, not to run */
    bool traced;         /* every instruction can be traced: hlo_trace */
};
#define HLO_RUN_OPTIONS_INIT HLO_INIT(hlo_run_options)
/* Makes a verified module ready to run by all its participants. NULL with messages. Free it with hlo_program_free, before the
 * module. */
hlo_program *hlo_plan(const hlo_module *module, const struct hlo_run_options *options, hlo_messages *m);
void hlo_program_free(hlo_program *p);
/* Replicas times partitions. Participant = replica * partitions + partition. */
enum { HLO_MAX_PARTICIPANTS = 4096 };
size_t hlo_participants(const hlo_program *p);
/* What infeed and outfeed, and sends and receives to and from the host, are connected to. The functions are called from the
 * threads of the run: one call of a participant at a time, but those of different participants at the same time. So what these
 * share needs a lock, which nobody should hold for long. Each call has messages `m` of its own; when the feeds of several
 * participants fail, the run reports those of the first. Items have their actual sizes: infeed into `f32[<=10]` takes up to ten
 * elements, outfeed from it gives as many as there are. */
typedef struct hlo_feed_call hlo_feed_call;
/* Whether a call should stop waiting, because the run has failed elsewhere or its time is over. It then returns NULL or false and
 * need not add a message: the run says why. A call that waits should ask a few times a second. */
bool hlo_feed_stopped(const hlo_feed_call *call);
struct hlo_feeds {
    size_t size; /* sizeof(struct hlo_feeds) */
    void *context;
    /* The next item for a participant, which the run takes over. NULL: there is none, or it is not sound, with messages. */
    hlo_literal *(*infeed)(void *context, size_t participant, const hlo_feed_call *call, hlo_messages *m);
    /* Takes an item from a participant; false ends the run. NULL: items are dropped. */
    bool (*outfeed)(void *context, size_t participant, const hlo_literal *item, const hlo_feed_call *call, hlo_messages *m);
};
#define HLO_FEEDS_INIT HLO_INIT(hlo_feeds)

/* Runs the entry computation, with a thread for each participant when there are several. `args` has a literal for each of the
 * `count` parameters, all of one participant before those of the next. `results` has room for one literal per participant, to be
 * freed with hlo_literal_free. `feeds` may be NULL. False with messages and all results NULL when any participant fails or
 * waits for ever. Dynamic dimensions of a result have their actual size; fixed ones are complete, with zeros where nothing was
 * stored.
 * With a world, all ranks call it. Arguments of participants on other ranks are ignored. Rank 0 gets all results, the others
 * NULL; the feeds of rank 0 serve all. All ranks get the same return value and messages. */
bool hlo_run_all(hlo_program *p, const hlo_literal *const *args, size_t count, const struct hlo_feeds *feeds,
                 hlo_literal **results, hlo_messages *m);
/* The same with one literal for each parameter, which all participants get, and without feeds. The result of participant 0; NULL
 * with messages, or when another rank has the results. */
hlo_literal *hlo_run(hlo_program *p, const hlo_literal *const *args, size_t count, hlo_messages *m);

/* Ends the current run, or else the next one, at its next instruction or iteration, with the message `run-interrupted`. May be
 * called from a signal handler and from any thread. */
void hlo_interrupt(hlo_program *p);

/* How far the current run has come, by the first participant of this process. May be called like hlo_interrupt. */
struct hlo_progress {
    size_t done, count;  /* steps of the entry computation */
    const char *name;    /* of the current instruction, not NUL-terminated; lives as long as the module */
    size_t name_size;    /* 0: the first step has not begun */
    long long iteration; /* of the current instruction if it is a loop, from 0; else, or where they aren't counted, -1 */
};
struct hlo_progress hlo_run_progress(const hlo_program *p);

#ifdef __cplusplus
}
#endif

#endif
