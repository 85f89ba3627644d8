/*
 * libhlo: parse, verify, print and run HLO modules. This header is the stable part of the library:
 * functions and structs are compatible within a major version. hlo_advanced.h declares the rest.
 *
 * Handles are opaque. The comment of a function that creates a handle names the function that frees
 * it; freeing NULL does nothing. Pointers in a returned struct belong to the handle that was passed
 * to the function. No function retains a pointer argument after it returns, unless its comment says
 * so. Texts are NUL-terminated unless a size is given. Indices must be in range unless a comment
 * specifies the result past the end.
 *
 * No input aborts the process. A function that fails returns NULL, false or an empty text and adds
 * a message to its `m`; a failure of a function without `m` is out of memory unless its comment
 * gives another reason. Functions may be called concurrently on different handles. `spec:` is
 * followed by a heading of XLA's page "Operation Semantics"
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

typedef struct hlo_messages hlo_messages; /* errors and warnings with locations */
typedef struct hlo_file hlo_file;         /* a source text, split into modules */
typedef struct hlo_module hlo_module;     /* a parsed module */
typedef struct hlo_program hlo_program;   /* a module compiled for execution */
typedef struct hlo_literal hlo_literal;   /* a value with its shape */
typedef struct hlo_world hlo_world;       /* processes that share a run (hlo_advanced.h) */
typedef struct hlo_targets hlo_targets;   /* custom-call targets (hlo_advanced.h) */

/* Text allocated by the library, NUL-terminated (not counted by `size`); free it with
 * hlo_text_free. Out of memory: `data` is NULL and `size` 0. */
typedef struct hlo_text {
    char *data;
    size_t size;
} hlo_text;
void hlo_text_free(hlo_text *text);
/* Lines with the version, the instruction set in use, and the versions of OpenBLAS and FFTW found.
 */
hlo_text hlo_about(void);

/* Statuses, also exit statuses of the command line. */
enum hlo_status {
    HLO_OK = 0,
    HLO_DIFFERS = 1,  /* a comparison or test failed */
    HLO_USAGE = 2,    /* invalid arguments, or an unreadable file */
    HLO_REJECTED = 3, /* rejected by the parser or the verifier */
    HLO_FAILED = 4,   /* run-time error, unsupported, out of memory */
    HLO_LIMIT = 5     /* limit exceeded */
};

/* The first member of an option struct is its size, by which the library determines the members
 * that the caller was compiled with. Members added by later versions default to 0. Initialize a
 * struct by its macro and set members, or in C use HLO_WITH:
 *
 *     struct hlo_run_options options = HLO_RUN_OPTIONS_INIT;
 *     options.threads = 1;
 *
 *     hlo_plan(module, &HLO_WITH(hlo_run_options, .threads = 1), m);
 *
 * A function fails if the size is not set, or if members are set that only a later version of the
 * library has. A pointer to an option struct may be NULL for the defaults. Structs that functions
 * return by value do not grow within a major version. */
/* clang-format off */
#ifdef __cplusplus
#define HLO_INIT(type) {sizeof(struct type)}
#else
#define HLO_INIT(type) {.size = sizeof(struct type)}
#define HLO_WITH(type, ...) ((struct type){.size = sizeof(struct type), __VA_ARGS__})
#endif
/* clang-format on */

/* ---- messages ---- */

/* Free with hlo_messages_free. */
hlo_messages *hlo_messages_new(void);
void hlo_messages_free(hlo_messages *m);
size_t hlo_messages_errors(const hlo_messages *m); /* number of errors */
/* Errors and warnings that hlo_messages_get returns. */
size_t hlo_messages_count(const hlo_messages *m);
/* Whether an error is an exceeded limit; the status is then HLO_LIMIT instead of HLO_FAILED. */
bool hlo_messages_limit(const hlo_messages *m);
struct hlo_message {
    const char *id; /* "unknown-opcode" */
    bool error;     /* else a warning */
    const char *file;
    uint32_t line, column; /* from 1; 0: unknown */
    const char *text;
};
/* Message number `i`; empty strings past the end. */
struct hlo_message hlo_messages_get(const hlo_messages *m, size_t i);
/* Renders all messages as the command line does: with source lines, carets and notes. */
hlo_text hlo_messages_draw(const hlo_messages *m, bool color);
/* The same with colors: "error=1;31:note=36" sets the SGR parameters of caret, error, help, note,
 * place and warning; others keep their defaults. Malformed entries are ignored. NULL: no color. */
hlo_text hlo_messages_draw_in(const hlo_messages *m, const char *colors);
bool hlo_colors_known(const char *colors);         /* whether all entries are well-formed */
hlo_text hlo_messages_json(const hlo_messages *m); /* a JSON array */
/* Adds an error without a line. */
void hlo_messages_add(hlo_messages *m, const char *file, const char *text);
/* Adds "out of memory". Allocates nothing. */
void hlo_messages_no_memory(hlo_messages *m);

/* ---- files and modules ---- */

/* Reads PATH ("-": standard input) and, unless `strict`, splits it into modules: at lines `//
 * -----` and `HloModule NAME`, or the dumps to standard output of a program in its output. The file
 * may be text or a protocol buffer of XLA, either compressed by gzip, a bundle (hlo_write_bundle),
 * or a directory of XLA dumps with one module. NULL with a message if it cannot be read or has
 * another format (StableHLO); the message then explains how to get HLO text. Free with
 * hlo_file_free; modules and messages may outlive the file. */
hlo_file *hlo_file_open(const char *path, bool strict, hlo_messages *m);
/* The same for the module selected by PICK: its number in the file, from 1, or its name. In a
 * directory of dumps, whose files are named module_0023.NAME.PHASE.txt, or for a pattern of file
 * names, "23" or "NAME" is the module before optimizations, "23:after" that of another phase, by a
 * word of it. Any part of a name that selects one module will do. PICK NULL: as hlo_file_open. */
hlo_file *hlo_file_open_module(const char *path, const char *pick, bool strict, hlo_messages *m);
/* A copy of a text in memory; NAME is its name in messages. NULL: the text has 4 GiB or more, or
 * out of memory. */
hlo_file *hlo_file_of_text(const char *name, const char *text, size_t size, bool strict);
void hlo_file_free(hlo_file *f);
/* Sets whether hlo_parse accepts only what XLA's parser accepts. The file is not split again. */
void hlo_file_strict(hlo_file *f, bool strict);
size_t hlo_file_count(const hlo_file *f); /* number of parts, one module each */
/* The number of a part in its file, from 1, also if it was selected by PICK. */
size_t hlo_file_number(const hlo_file *f, size_t part);
/* The name of its module or, in the output of a program, of the dump; "" if it has no name. */
const char *hlo_file_title(const hlo_file *f, size_t part);
/* Whether the file is a protocol buffer of XLA, from which text is made. */
bool hlo_file_is_proto(const hlo_file *f);
/* The text of one part, not NUL-terminated, and the number of its first line. That of a protocol
 * buffer has the values of all constants, unless it would have 4 GiB or more, or the module is
 * rejected; locations of messages do not refer to it. */
const char *hlo_file_text(const hlo_file *f, size_t part, size_t *size, uint32_t *first_line);

/* Parses one part. NULL with messages if it is rejected. Free with hlo_module_free. */
hlo_module *hlo_parse(const hlo_file *f, size_t part, hlo_messages *m);
void hlo_module_free(hlo_module *module);
/* Verifies the module; false with messages. */
bool hlo_verify(const hlo_module *module, hlo_messages *m);
/* XLA's canonical text. FULL: all values. ABRIDGED: constants of more than ten elements are elided
 * as `{...}`, as in XLA's dumps. SHORT: XLA's short form, without metadata, percent signs and
 * signatures. BARE: FULL without metadata and stack frame tables. EXACT: FULL with -0 in constants
 * as `-0.0`, since XLA parses `-0` as 0. COMMENTED: EXACT with the comments of the text that was
 * parsed, each above its instruction or computation or at the end of its line. */
enum hlo_print_style {
    HLO_PRINT_FULL,
    HLO_PRINT_ABRIDGED,
    HLO_PRINT_SHORT,
    HLO_PRINT_BARE,
    HLO_PRINT_EXACT,
    HLO_PRINT_COMMENTED
};
hlo_text hlo_print(const hlo_module *module, enum hlo_print_style style);
int64_t hlo_replica_count(const hlo_module *module);
int64_t hlo_num_partitions(const hlo_module *module);
/* Overrides replica_count and num_partitions. Call it before hlo_verify. */
void hlo_set_participants(hlo_module *module, int64_t replicas, int64_t partitions);
/* Parameters of the entry computation. */
size_t hlo_param_count(const hlo_module *module);
const char *hlo_param_name(const hlo_module *module, size_t i);
hlo_text hlo_param_shape(const hlo_module *module, size_t i);
/* The number of the parameter of that name, with or without %; -1: none. If it is unambiguous, x is
 * also found as the name of x.1, and a parameter by the op_name in its metadata. */
long hlo_param_find(const hlo_module *module, const char *name);
/* The line of the instruction that computes tuple element `element` of the result; of the root if
 * that is not a tuple instruction or has no such element. */
uint32_t hlo_result_line(const hlo_module *module, size_t element);

/* ---- values ---- */

void hlo_literal_free(hlo_literal *l);
/* Frees `count` literals, which may be NULL, and the array, allocated by malloc. */
void hlo_literals_free(hlo_literal **literals, size_t count);
/* Parses a value with its shape, `f32[2] {1, 2}`; NULL with messages. Free with hlo_literal_free. A
 * literal has actual sizes: `f32[<=10] {1, 2}` is an array of two elements, and is valid for a
 * parameter f32[<=10], as is any array up to that bound. Results have actual sizes, too. */
hlo_literal *hlo_literal_parse(const char *text, size_t size, hlo_messages *m);
/* Whether the text of a value starts with a shape. */
bool hlo_literal_has_shape(const char *text, size_t size);
/* All elements, as accepted by hlo_literal_parse. */
hlo_text hlo_literal_print(const hlo_literal *l, bool with_shape);
hlo_text hlo_literal_shape(const hlo_literal *l); /* "f32[2]" */
/* The leaves of a value are its arrays: an array is its only leaf; a tuple has the leaves of its
 * elements, in order. */
size_t hlo_literal_leaves(const hlo_literal *l);
struct hlo_array {
    const char *dtype; /* in HLO syntax: "f32" */
    size_t rank;
    const int64_t *dims;
    size_t element_size, elements; /* element_size in bytes; 1 for types below a byte */
    void *data; /* dense, row-major; read-only if the literal is from a file or hlo_literal_map */
};
struct hlo_array hlo_literal_leaf(const hlo_literal *l, size_t i);
/* An array of zeros. NULL with messages. */
hlo_literal *hlo_literal_new(const char *dtype, size_t rank, const int64_t *dims, hlo_messages *m);
/* An array in the caller's memory, which is neither copied nor written. It has the layout of the
 * data of struct hlo_array and the alignment of its element type; a pred is 0 or 1. It must not
 * change until `release` is called, after the literal and all others that share its memory are
 * freed; `release` may be NULL. NULL with messages, without calling `release`. */
hlo_literal *hlo_literal_map(const char *dtype, size_t rank, const int64_t *dims, const void *data,
                             void (*release)(void *context), void *context, hlo_messages *m);
/* A tuple, which takes ownership of the elements. NULL: out of memory; the caller keeps the
 * elements. */
hlo_literal *hlo_literal_tuple(hlo_literal **elements, size_t count);
hlo_literal *hlo_literal_copy(const hlo_literal *l);
/* Tuple elements, owned by the tuple; count 0 for other values. */
size_t hlo_literal_count(const hlo_literal *l);
const hlo_literal *hlo_literal_element(const hlo_literal *l, size_t i);

/* Tolerance of comparisons. Elements agree if they are equal, both NaN, or floats within any of the
 * bounds. Integers must be equal. */
struct hlo_tolerance {
    size_t size;     /* sizeof(struct hlo_tolerance) */
    double abs, rel; /* |actual - expected| <= abs + rel * |expected| */
    int64_t ulp;     /* distance in representable values of the type; 0: not used */
    bool zeros;      /* without a bound: 0 and -0 differ */
    bool bits;       /* every bit must be equal, NaN payloads included */
    /* Adds the usual error of computations in the type of an array to `rel`, and its product with
     * the largest finite magnitude in the expected array to `abs`: f64 1e-6, f32 1e-4, f16 1e-2,
     * bf16 3e-2, narrower floats 0.3. */
    bool usual;
};
#define HLO_TOLERANCE_INIT HLO_INIT(hlo_tolerance)
/* Whether shapes and values agree. Otherwise `why`, unless NULL, is set to the first difference and
 * the worst errors. */
bool hlo_literal_compare(const hlo_literal *actual, const hlo_literal *expected,
                         const struct hlo_tolerance *t, hlo_text *why);

/* ---- running ---- */

enum hlo_elided { HLO_ELIDED_REFUSE, HLO_ELIDED_ZERO, HLO_ELIDED_IOTA, HLO_ELIDED_RANDOM };
struct hlo_run_options {
    size_t size; /* sizeof(struct hlo_run_options) */
    bool plain; /* reference kernels only: the formula of each op, bitwise identical on all machines
                 */
    enum hlo_elided elided; /* value of constants written `{...}` */
    uint64_t seed;          /* for HLO_ELIDED_RANDOM and rng instructions */
    /* custom-call targets; must outlive the program. NULL: those of HLO only */
    const hlo_targets *targets;
    /* Limits of a run; 0: none. A run that exceeds a limit fails: see hlo_messages_limit. Limits
     * are checked between instructions, so a long instruction is completed. */
    uint64_t max_steps;  /* executed instructions plus loop iterations */
    uint64_t max_trip;   /* iterations of any loop */
    uint64_t max_memory; /* bytes of live values */
    double timeout;      /* seconds */
    int threads; /* number of worker threads; 0: one per processor. Results do not depend on it */
    hlo_world *world; /* processes that share the participants; must outlive the program. NULL:
                         single process */
    bool only_first;  /* plan the first participant only; the program cannot be run */
    bool traced;      /* every instruction can be traced: hlo_trace */
};
#define HLO_RUN_OPTIONS_INIT HLO_INIT(hlo_run_options)
/* Plans a verified module for all its participants. NULL with messages. Free the program, by
 * hlo_program_free, before the module. */
hlo_program *hlo_plan(const hlo_module *module, const struct hlo_run_options *options,
                      hlo_messages *m);
void hlo_program_free(hlo_program *p);
/* Replicas times partitions. Participant = replica * partitions + partition. */
enum { HLO_MAX_PARTICIPANTS = 4096 };
size_t hlo_participants(const hlo_program *p);
/* Callbacks for infeed, outfeed and host transfers. They are called from the threads of the run:
 * one call at a time for a participant, concurrently for different ones, so shared state needs a
 * lock. Each call has messages of its own; if the feeds of several participants fail, the run
 * reports those of the first. Items have actual sizes: infeed into `f32[<=10]` takes up to ten
 * elements. */
typedef struct hlo_feed_call hlo_feed_call;
/* Whether a callback should stop waiting, because the run has failed or timed out; it then returns
 * NULL or false without a message. A callback that waits should poll this a few times per
 * second. */
bool hlo_feed_stopped(const hlo_feed_call *call);
struct hlo_feeds {
    size_t size; /* sizeof(struct hlo_feeds) */
    void *context;
    /* Returns the next item of a participant, and passes ownership to the run. NULL with messages:
     * no more items, or a malformed one. */
    hlo_literal *(*infeed)(void *context, size_t participant, const hlo_feed_call *call,
                           hlo_messages *m);
    /* Receives an item of a participant; false ends the run. NULL: items are discarded. */
    bool (*outfeed)(void *context, size_t participant, const hlo_literal *item,
                    const hlo_feed_call *call, hlo_messages *m);
};
#define HLO_FEEDS_INIT HLO_INIT(hlo_feeds)

/* Runs the entry computation, with a thread per participant if there are several. `args` has a
 * literal for each of the `count` parameters, all of one participant before those of the next.
 * `results` receives one literal per participant, to be freed by hlo_literal_free; dynamic
 * dimensions have actual sizes. If a participant fails or the participants deadlock, returns false
 * with messages, and all results are NULL. With a world, all ranks must call it; arguments of
 * participants on other ranks are ignored. Rank 0 receives all results, other ranks NULL; the feeds
 * of rank 0 serve all participants. All ranks get the same return value and messages. */
bool hlo_run_all(hlo_program *p, const hlo_literal *const *args, size_t count,
                 const struct hlo_feeds *feeds, hlo_literal **results, hlo_messages *m);
/* The same without feeds and with the same arguments for all participants. Returns the result of
 * participant 0; NULL with messages, or if another rank has the results. */
hlo_literal *hlo_run(hlo_program *p, const hlo_literal *const *args, size_t count, hlo_messages *m);

/* Ends the current run, or otherwise the next one, at its next instruction or iteration, with the
 * message `run-interrupted`. Async-signal-safe and thread-safe. */
void hlo_interrupt(hlo_program *p);

/* Progress of the current run, for the first participant of this process. As safe as
 * hlo_interrupt. */
struct hlo_progress {
    size_t done, count; /* steps of the entry computation */
    /* of the current instruction, not NUL-terminated; valid as long as the module */
    const char *name;
    size_t name_size;    /* 0: not started */
    long long iteration; /* of the current instruction, from 0; -1 if it is not a loop or iterations
                            are not counted */
};
struct hlo_progress hlo_run_progress(const hlo_program *p);

#ifdef __cplusplus
}
#endif

#endif
