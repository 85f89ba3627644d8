/*
 * libhlo, advanced: tracing, editing, building and listing modules, arrays in files, custom calls
 * and more. Experimental: functions and structs may change in any version. The conventions are
 * those of hlo.h; a section only needs those above it.
 *
 *   texts made of pieces
 *   listing instructions
 *   building modules
 *   editing modules
 *   showing values
 *   arrays in files
 *   arguments of a run
 *   custom calls
 *   several processes
 *   plans, memory and profiles
 *   tracing runs
 *   sources of elements
 *   comparing runs
 *   extracting and reducing modules
 *   ONNX models
 *   operations, attributes and types
 */
#ifndef HLO_ADVANCED_H
#define HLO_ADVANCED_H

#include "hlo.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- texts made of pieces ---- */

/* A file of one part, concatenated from pieces of other texts. Messages refer to the original
 * texts, not to what was generated around the pieces. Everything is copied. NULL: all pieces
 * together have 4 GiB or more. */
struct hlo_piece {
    const char *text;
    size_t size;
    const char *name;  /* of the original text; NULL: the piece is generated */
    const char *whole; /* the original text, into which `text` points */
    size_t whole_size;
    uint32_t first_line; /* number of the first line of `whole` */
};
hlo_file *hlo_file_of_pieces(const char *name, const struct hlo_piece *pieces, size_t count);

/* ---- listing instructions ---- */

/* The computations and instructions of a module by number, from 0. Computations are numbered in the
 * order of printing: callees before callers, the entry computation last. Instructions are numbered
 * through the whole module, in the order of printing. What a listing returns lives as long as the
 * listing. Free it, with hlo_listing_free, before the module. */
typedef struct hlo_listing hlo_listing;
hlo_listing *hlo_list(const hlo_module *module);
void hlo_listing_free(hlo_listing *l);
size_t hlo_list_count(const hlo_listing *l); /* instructions */
size_t hlo_list_computations(const hlo_listing *l);
struct hlo_listed_computation {
    const char *name;
    bool entry;
    size_t first, count; /* its instructions have the numbers first, ..., first + count - 1 */
    size_t root;         /* an instruction */
    size_t parameter_count, caller_count;
    const size_t *parameters; /* instructions, in the order of their parameter numbers */
    const size_t *callers;    /* instructions, each once */
    uint32_t line;            /* in its file; 0: no place */
};
struct hlo_listed_computation hlo_list_computation(const hlo_listing *l, size_t i);
struct hlo_listed {
    const char *name, *op;
    const char *shape; /* with layouts: "f32[2,3]{1,0}" */
    size_t computation;
    long parameter; /* its parameter number; -1: it is no parameter */
    size_t operand_count, user_count, callee_count;
    const size_t *operands, *users; /* instructions; each user once */
    const size_t *callees;          /* computations, in XLA's order */
    uint32_t line, column;          /* in its file; 0: no place */
    const char *op_name;            /* from the metadata; "" */
    const char *where; /* "file.py:12", from the innermost known stack frame or the metadata; "" */
    long lost_frame;   /* number of a stack frame that the tables of the file lack; 0: nothing is
                          missing */
};
struct hlo_listed hlo_list_inst(const hlo_listing *l, size_t i);
/* The instruction of a name, with or without %: either its name in the module or the one in the
 * text, where a second x became x.1. NAME is sought in the entry computation first, then in all
 * others; COMPUTATION/NAME only in that computation. -1: none. */
long hlo_list_find(const hlo_listing *l, const char *name);
long hlo_list_find_computation(const hlo_listing *l, const char *name); /* -1: none */
/* The instruction as it is printed: one line, without its newline and without ROOT. */
hlo_text hlo_list_print(const hlo_listing *l, size_t i, enum hlo_print_style style);
/* Call number `k` of those in the user's program that led to the instruction, innermost first;
 * false past the last. */
struct hlo_frame {
    const char *file, *function; /* "" when unknown */
    int line, column;            /* 0 when unknown */
};
bool hlo_list_frame(const hlo_listing *l, size_t i, size_t k, struct hlo_frame *out);
/* What running the instruction once costs, computed from shapes: arithmetic operations, and bytes
 * read and written. Both are 0 where that depends on values, and for instructions that call
 * computations. */
struct hlo_cost {
    double operations, bytes;
};
struct hlo_cost hlo_list_cost(const hlo_listing *l, size_t i);

/* ---- building modules ----
 *
 * A builder holds a module under construction: computations, and in them instructions, one call
 * each. A call builds what the text of the same instruction denotes, builder forms of the
 * specification included, which become core HLO at once. An error is a message that shows the
 * instruction as source text, and the call returns NULL. Where an operand is NULL, the call returns
 * NULL without another message, so it is enough to check for errors at the end.
 *
 *     hlo_builder *b = hlo_builder_new("m", messages);
 *     hlo_computation *c = hlo_computation_new(b, "main");
 *     hlo_inst *x = hlo_parameter(c, 0, "f32[2,3]", "x"), *s = hlo_parameter(c, 1, "f32[]", "s");
 *     hlo_build(c, "add", (hlo_inst *[]){x, s}, 2, NULL);
 *     hlo_computation_finish(c, NULL);
 *     hlo_module *module = hlo_builder_finish(b, c);
 *
 * Computations and instructions belong to the builder, later to its module, and are not freed
 * separately. Shapes are texts like "f32[2,3]". An empty list may be NULL. Attributes refer to
 * computations by name (hlo_computation_name), and to instructions too (hlo_inst_name). */
typedef struct hlo_builder hlo_builder;
typedef struct hlo_computation hlo_computation;
typedef struct hlo_inst hlo_inst;

/* Messages go to `m`, which must outlive the builder. End it with hlo_builder_finish or
 * hlo_builder_free. */
hlo_builder *hlo_builder_new(const char *name, hlo_messages *m);
void hlo_builder_free(hlo_builder *b); /* of a builder that is not going to be finished */
/* The module whose entry computation is `entry`; NULL when anything failed before. The builder is
 * freed either way. Verify the module like one that was read, and free it with hlo_module_free. */
hlo_module *hlo_builder_finish(hlo_builder *b, hlo_computation *entry);

/* Begins a computation; a second one of the same name becomes `name.1`. Several may be open at a
 * time. */
hlo_computation *hlo_computation_new(hlo_builder *b, const char *name);
const char *hlo_computation_name(const hlo_computation *c); /* for attributes: "to_apply=add" */
/* Ends a computation; only then may other instructions refer to it. `root` NULL: the last
 * instruction. False with messages when the computation is empty or its parameters are not numbered
 * 0 ... n-1. */
bool hlo_computation_finish(hlo_computation *c, hlo_inst *root);
hlo_text hlo_inst_shape(const hlo_inst *i); /* "f32[2,3]"; "" for NULL */
hlo_text hlo_inst_name(const hlo_inst *i);

/* Appends an instruction and returns its handle. `what` is the opcode as a text spells it, with the
 * shape before it where it is not inferred, and the name where the caller chooses it: "add",
 * "f32[2] convert", "sum = f32[2] add". `attributes` are in HLO's syntax, "dimensions={0},
 * to_apply=add", or NULL. `hlo ops OPCODE` lists the attributes of an opcode. NULL on errors, with
 * the messages that the parser has for the same text. */
hlo_inst *hlo_build(hlo_computation *c, const char *what, hlo_inst *const *operands, size_t count,
                    const char *attributes);
/* spec: Parameter. `name` NULL: the builder chooses one. */
hlo_inst *hlo_parameter(hlo_computation *c, size_t number, const char *shape, const char *name);
hlo_inst *hlo_constant(hlo_computation *c, const hlo_literal *l); /* the value is copied */
hlo_inst *hlo_tuple(hlo_computation *c, hlo_inst *const *elements, size_t count); /* spec: Tuple */
hlo_inst *hlo_get_tuple_element(hlo_computation *c, hlo_inst *tuple,
                                int64_t index); /* spec: GetTupleElement */

/* ---- editing modules ---- */

/* A module with some of its instructions replaced. What is needed no more is left out:
 * instructions, computations that nothing calls, operands of calls and fusions. An edit without
 * changes is a copy. Instructions are given by their numbers in a listing of the module, which must
 * stay until the edit is finished. When several things are asked of one instruction, the last
 * counts. Messages point at the instruction. End an edit with hlo_edit_finish or hlo_edit_free. */
typedef struct hlo_edit hlo_edit;
hlo_edit *hlo_edit_new(const hlo_listing *l);
void hlo_edit_free(hlo_edit *e); /* of an edit that is not going to be finished */
/* The instruction becomes: a constant, whose value is copied (a tuple of constants for a tuple;
 * dynamic sizes are those of the value); zeros; a new last parameter (in the entry computation
 * only); another instruction of its computation. False with a message when types or places don't
 * fit. A parameter that becomes something else is removed, and the others are renumbered; but where
 * its computation is called it stays, unread. */
bool hlo_edit_constant(hlo_edit *e, size_t inst, const hlo_literal *value, hlo_messages *m);
bool hlo_edit_zeros(hlo_edit *e, size_t inst, hlo_messages *m);
bool hlo_edit_parameter(hlo_edit *e, size_t inst, hlo_messages *m);
bool hlo_edit_replace(hlo_edit *e, size_t inst, size_t by, hlo_messages *m);
/* Puts the instructions of the computation that it calls in place of the instruction: a call or
 * fusion; a while, whose body then runs once; a conditional, of which only branch number `which`
 * stays. */
bool hlo_edit_inline(hlo_edit *e, size_t inst, size_t which, hlo_messages *m);
/* These instructions become the result of the entry computation, as a tuple unless it is just one.
 * They must be of one computation; if that is another one, it becomes the entry computation. Its
 * instructions with side effects are dropped where the result does not need them. */
bool hlo_edit_root(hlo_edit *e, const size_t *insts, size_t count, hlo_messages *m);
/* Removes unread parameters of the entry computation too, and renumbers the others. */
void hlo_edit_drop_parameters(hlo_edit *e);
/* Leaves out, by bits of `what`: metadata, which says where instructions came from; how values are
 * split over devices; hints to compilers that change no value. */
enum { HLO_STRIP_METADATA = 1, HLO_STRIP_SHARDING = 2, HLO_STRIP_HINTS = 4 };
void hlo_edit_strip(hlo_edit *e, unsigned what);
/* The new module; NULL with messages. The edit is freed either way. Verify the module; free it with
 * hlo_module_free. The one that it was made from may be freed before. */
hlo_module *hlo_edit_finish(hlo_edit *e, hlo_messages *m);

/* ---- showing values ---- */

/* A piece of an array, written like numpy's: `[0,:4]`, `[..., -1]`, `[::2, 3:]`; an index removes
 * its dimension. For a tuple the first bracket names the component: `[1][0,:4]`. NULL with a
 * message that says what is wrong. */
hlo_literal *hlo_literal_slice(const hlo_literal *l, const char *text, hlo_messages *m);
/* Of all elements of all leaves; of complex numbers their absolute values. */
struct hlo_stats {
    uint64_t elements, finite, nan, positive_inf, negative_inf, zero, denormal;
    double min, max, mean, deviation; /* of the finite elements; NaN when there are none */
    int64_t first_nan,
        first_inf; /* row-major position, counted through all leaves; -1: there is none */
};
struct hlo_stats hlo_literal_stats(const hlo_literal *l);
/* "f32[4096] min -1.2 max 3.4 mean 0.01 nan 0 inf 0", one line without its newline; the value
 * itself when it is one element. */
hlo_text hlo_literal_summary(const hlo_literal *l);
/* {"elements":2,"finite":1,"nan":1,...}: the fields by name; numbers that are not finite as
 * strings. */
hlo_text hlo_stats_json(const struct hlo_stats *s);
/* How values are written. 0 in a field is the default in parentheses. */
struct hlo_view {
    size_t size;   /* sizeof(struct hlo_view) */
    size_t most;   /* arrays of more elements are abridged, the middle of their dimensions left out
                      (1000); SIZE_MAX: never */
    size_t edge;   /* elements that are kept at both ends of an abridged dimension (3) */
    int precision; /* digits; 0: as many as are needed to read the same number back */
    bool hex;      /* floats as 0x1.8p+1 */
    bool bits;     /* followed by the bits of each */
    size_t width;  /* of a line, in columns (80) */
};
#define HLO_VIEW_INIT HLO_INIT(hlo_view)
/* The value with its shape. An array that is not abridged can be read back; an abridged one has
 * statistics. `v` NULL: all usual. */
hlo_text hlo_literal_show(const hlo_literal *l, const struct hlo_view *v);
/* JSON: {"shape":...,"values":nested lists}, with NaN and infinities as strings and complex numbers
 * as pairs; for a tuple, an object for each component in "elements". All values are written, unless
 * `most` is given: larger arrays then have "stats" instead of "values". */
hlo_text hlo_literal_json(const hlo_literal *l, const struct hlo_view *v);
/* A picture made of characters. Heat maps show the last two dimensions, at index 0 of the others;
 * curves the last dimension; histograms all elements. What is larger than the canvas is averaged by
 * blocks. NaN and infinities are marked in red and magenta, or by N and I. Complex numbers count by
 * absolute value; of a tuple the first array is shown. `c` NULL: all usual. */
enum hlo_plot { HLO_PLOT_AUTO, HLO_PLOT_HEAT, HLO_PLOT_HISTOGRAM, HLO_PLOT_CURVE };
struct hlo_canvas {
    size_t size;          /* sizeof(struct hlo_canvas) */
    size_t width, height; /* in characters; 0: 72 by 20 */
    bool color, utf8;
};
#define HLO_CANVAS_INIT HLO_INIT(hlo_canvas)
hlo_text hlo_literal_plot(const hlo_literal *l, enum hlo_plot kind, const struct hlo_canvas *c);
/* The heat map as a PNG file with at least one pixel per element (fewer above 8,192 a side); NaN is
 * red. False with a message. */
bool hlo_write_png(const char *path, const hlo_literal *l, hlo_messages *m);
/* How two values of one shape differ: what hlo_literal_compare says, in numbers. The worst errors
 * are taken over all elements that are finite on both sides, within the tolerance or not; for
 * integers the error is the distance. */
struct hlo_difference {
    bool comparable;            /* false: the shapes differ, and nothing below is filled in */
    uint64_t elements, outside; /* outside the tolerance */
    uint64_t
        not_finite; /* of those: one side is infinite or NaN, and the other is something else */
    double worst_abs, worst_rel;
    uint64_t worst_ulp;
    size_t worst_count; /* entries of `worst` */
    struct hlo_differing {
        size_t leaf;
        int64_t index;           /* row-major in its leaf */
        double actual, expected; /* of complex numbers the absolute value */
        double abs, rel;         /* NaN where one side is not finite */
        uint64_t ulp;            /* UINT64_MAX in that case */
    } worst[10]; /* elements outside: not finite ones first, then by absolute error, the worst first
                  */
    uint64_t decades[32]; /* elements by relative error: 0; up to 1e-29, 1e-28, ... 1; and above or
                             not finite */
};
struct hlo_difference hlo_literal_difference(const hlo_literal *actual, const hlo_literal *expected,
                                             const struct hlo_tolerance *t);
/* The same for people, in lines: how many, the worst elements, a histogram of the errors. The
 * literals are those that were compared; `names` are the titles of their columns, NULL: "is" and
 * "expected". */
hlo_text hlo_difference_print(const struct hlo_difference *d, const hlo_literal *actual,
                              const hlo_literal *expected, const char *const names[2]);
hlo_text hlo_difference_json(const struct hlo_difference *d); /* its fields by name */

/* ---- arrays in files ---- */

typedef struct hlo_arrays hlo_arrays; /* named arrays in a file or a folder */
/* PATH is told by its name: NAME.npy, one array, called ""; NAME.bin and NAME.raw, the bytes of one
 * array laid out as in struct hlo_array, called "" too; NAME.safetensors; a folder, in which array
 * x is the file x.npy or x.bin; NAME.npz and any other name, an .npz archive. NULL with a message.
 * Free with hlo_arrays_free; literals may outlive it. Arrays in files of 64 KiB and more are mapped
 * and used in place where they are stored as in memory. Others are copied, among them arrays of
 * pred and of types below a byte, and arrays not aligned for their type. So a file may be as large
 * as the address space, but must not get shorter while literals from it live: see
 * hlo_guard_mapped_files. */
hlo_arrays *hlo_arrays_open(const char *path, hlo_messages *m);
void hlo_arrays_free(hlo_arrays *s);
/* When another program has made a mapped file shorter, reading beyond its new end raises SIGBUS.
 * After this call, that ends the process with status 4 and a message on standard error that names
 * the file; any other SIGBUS acts as usual. */
void hlo_guard_mapped_files(void);
/* Whether PATH has one of the endings above, or is a folder. */
bool hlo_arrays_known(const char *path);
/* Whether arrays in PATH have names, so that it can hold the values of all parameters. */
bool hlo_arrays_many(const char *path);
bool hlo_arrays_has(const hlo_arrays *s, const char *name);
/* The array of that name. DTYPE is its element type, which says what raw bits mean; NULL: what the
 * file says. NULL with messages. Free with hlo_literal_free. */
hlo_literal *hlo_arrays_get(const hlo_arrays *s, const char *name, const char *dtype,
                            hlo_messages *m);
/* Functions that write replace the file at PATH once it is whole. They return false with a message.
 */
bool hlo_write_npy(const char *path, const hlo_literal *l, hlo_messages *m); /* one array */
/* The leaves of a value, as arrays `prefix`0, `prefix`1, ... */
bool hlo_write_npz(const char *path, const char *prefix, const hlo_literal *l, hlo_messages *m);
/* The values of `count` participants: those of several are called `prefix`0@0, `prefix`0@1, ... */
bool hlo_write_npz_all(const char *path, const char *prefix, const hlo_literal *const *l,
                       size_t count, hlo_messages *m);
/* The same for any kind of file, by the ending of its name: .npz; .safetensors; for a single array
 * .npy, or .bin and .raw, which get nothing but its elements. */
bool hlo_write_arrays(const char *path, const char *prefix, const hlo_literal *const *l,
                      size_t count, hlo_messages *m);
bool hlo_write_knows(const char *path); /* whether PATH has one of these endings */
/* Arrays by names of the caller's. */
bool hlo_write_npz_named(const char *path, const char *const *names,
                         const hlo_literal *const *arrays, size_t count, hlo_messages *m);
/* A run as one file, an .npz archive: the text of its module as bytes, `module`; the leaves of its
 * arguments, arg0, arg1, ...; those of its results, out0, out1, ... With several participants each
 * has its own, arg0@0. hlo_file_open reads the module of such a file, hlo_arrays_param with "arg"
 * an argument, hlo_read_result with "out" the result. */
struct hlo_bundle {
    size_t size; /* sizeof(struct hlo_bundle) */
    const char *text;
    size_t text_size;
    size_t participants, count; /* `count` arguments for each */
    const hlo_literal *const
        *args; /* all of one participant, then of the next; NULL entries: no value */
    const hlo_literal *const *results; /* one for each participant, or NULL: there are none */
};
#define HLO_BUNDLE_INIT HLO_INIT(hlo_bundle)
bool hlo_write_bundle(const char *path, const struct hlo_bundle *b, hlo_messages *m);
/* Writes bytes into a file, all or nothing. */
bool hlo_write_text(const char *path, const char *text, size_t size, hlo_messages *m);
/* The same in parts: the file appears when it is closed, and only with `keep`. What is not a
 * regular file (/dev/stdout) is written directly, as is any file on systems where files can't be
 * without a name. hlo_output_open gives NULL with a message. hlo_output_close frees the output even
 * when it fails. */
typedef struct hlo_output hlo_output;
hlo_output *hlo_output_open(const char *path, hlo_messages *m);
bool hlo_output_put(hlo_output *o, const char *text, size_t size, hlo_messages *m);
bool hlo_output_close(hlo_output *o, bool keep, hlo_messages *m);

/* ---- arguments of a run ---- */

/* The value of parameter `param` for a participant. Its leaves are found under `prefix`N, N
 * counting the leaves of all parameters in order, or else under the parameter's name, with .K for
 * component K of a tuple. A name followed by @PARTICIPANT comes before the one without. An array
 * without a name (of a .npy file) is taken for any. Raw bits have the parameter's type. NULL with
 * messages. Free with hlo_literal_free. */
hlo_literal *hlo_arrays_param(const hlo_arrays *s, const char *prefix, const hlo_module *module,
                              size_t param, size_t participant, hlo_messages *m);
/* The same from the file PATH. */
hlo_literal *hlo_read_param(const char *path, const char *prefix, const hlo_module *module,
                            size_t param, size_t participant, hlo_messages *m);
/* The value of a parameter as people write it on a command line: a literal, whose shape may be left
 * out, or `@FILE`. A file of arrays (hlo_arrays_known) is read by hlo_read_param with prefix "arg";
 * any other holds the text of a literal. NULL with messages, also when the shape is not the
 * parameter's. */
hlo_literal *hlo_read_argument(const hlo_module *module, size_t param, size_t participant,
                               const char *text, hlo_messages *m);
/* Where VALUE begins in a text NAME=VALUE; 0: the text has no name. */
size_t hlo_argument_value(const char *text);
/* The result of the entry computation, from the leaves `prefix`0, `prefix`1, ... in the file PATH.
 * NULL with messages. */
hlo_literal *hlo_read_result(const char *path, const char *prefix, const hlo_module *module,
                             size_t participant, hlo_messages *m);
/* Random values, the same on every machine: words of splitmix64 by seed, leaf and element; `//
 * peers:` hints in the text are followed. NULL with messages. */
hlo_literal *hlo_random_param(const hlo_module *module, size_t param, uint64_t seed,
                              hlo_messages *m);
/* A made-up value for a parameter of a verified module that the program can work with. Its uses are
 * followed through tuples, calls and loops. Indices are within bounds, and sorted or distinct where
 * that is promised; logarithms and roots get positive numbers; divisors are not 0; matrices to be
 * factored are well conditioned; loops take a few turns; initial values of reductions are neutral.
 * Floats are at most 1, less where many products are summed. IOTA counts 0, 1, 2, ... and starts
 * again where the type or the use ends. EDGE has NaN, infinities, -0, the smallest and largest
 * numbers (the largest not where they are summed, since the result would depend on the order), and
 * indices out of bounds. The same seed gives the same numbers on every machine. NULL with messages.
 */
enum hlo_fake {
    HLO_FAKE_ZEROS,
    HLO_FAKE_ONES,
    HLO_FAKE_IOTA,
    HLO_FAKE_UNIFORM,
    HLO_FAKE_NORMAL,
    HLO_FAKE_EDGE
};
/* Their words, in this order. */
#define HLO_FAKE_WORDS "zeros", "ones", "iota", "uniform", "normal", "edge"
hlo_literal *hlo_fake_param(const hlo_module *module, size_t param, enum hlo_fake kind,
                            uint64_t seed, hlo_messages *m);

/* ---- custom calls ---- */

/* Add all targets before planning a program with them. A target in this list takes precedence over
 * the meaning that its name has in HLO, and one added later over one added before. With several
 * participants, calls come at the same time, each from its participant's thread. */
hlo_targets *hlo_targets_new(void);
void hlo_targets_free(hlo_targets *t);
/* Every function that the shared library at PATH defines becomes the target of its name. It is
 * called in this process, as XLA:CPU calls it for the api_version= of the instruction. If it calls
 * XlaCustomCallStatusSetSuccess or XlaCustomCallStatusSetFailure, your program must export
 * functions of these names (-Wl,--export-dynamic-symbol=XlaCustomCall*). The static library has
 * them; with the shared one, write each as one line that calls hlo_custom_call_status. False with a
 * message. */
bool hlo_targets_add_library(hlo_targets *t, const char *path, hlo_messages *m);
/* Sets the status of a custom call. MESSAGE: NULL when all is well; else what went wrong, up to a
 * NUL or `size` bytes. */
void hlo_custom_call_status(void *status, const char *message, size_t size);
/* A target given by a text. "NAME=identity": leaf k of the result is leaf k of the operands.
 * "NAME=zeros". "NAME=COMMAND": /bin/sh runs COMMAND for each call; it reads the leaves of the
 * operands as literals, one per line, writes those of the result, and exits with status 0. Its
 * environment has HLO_TARGET, HLO_CONFIG, HLO_RESULT (the shape) and HLO_PARTICIPANT. A NAME that
 * ends in `*` matches all names with that prefix; `*` alone those that have no other meaning, not
 * even in HLO. False with a message. */
bool hlo_targets_add_rule(hlo_targets *t, const char *rule, hlo_messages *m);
/* A call as a function sees it. Operands and results are leaves, tuples flattened in order; the
 * data of tokens is NULL. */
struct hlo_call {
    const char *target;
    const char *config; /* the text of backend_config= */
    size_t config_size;
    size_t participant, operand_count, result_count;
    const struct hlo_array *operands; /* read only */
    const struct hlo_array
        *results; /* to be filled in; they hold zeros, or the operand that they alias */
};
/* False when it fails; it may then write what went wrong into `why`, a buffer of `room` bytes that
 * is empty before. */
typedef bool hlo_call_fn(void *context, const struct hlo_call *call, char *why, size_t room);
void hlo_targets_add_function(hlo_targets *t, const char *name, hlo_call_fn *fn, void *context);

/* ---- several processes ----
 *
 * Participants run as threads of one process, unless there is a world: processes of the same
 * program, called ranks, that share the participants. With n ranks, participant p runs on rank p
 * modulo n; results have the same bits. All ranks do the same things in the same order: open the
 * world, read the module, plan it and run it; during a run, nothing else.
 *
 *     hlo_world *w = hlo_world_open("mpi", messages);
 *     struct hlo_run_options options = HLO_RUN_OPTIONS_INIT;
 *     options.world = w;
 *     ... hlo_plan, hlo_world_agree, hlo_run_all: results are on rank 0 ...
 *     hlo_world_close(w);
 */
/* KIND "mpi": the processes that mpirun started, or just this one. Only once in the life of a
 * process, unless the process initializes and finalizes MPI itself. NULL with messages. */
hlo_world *hlo_world_open(const char *kind, hlo_messages *m);
void hlo_world_close(hlo_world *w); /* when all ranks are done */
/* In these functions a NULL world is a single process. */
int hlo_world_rank(const hlo_world *w);
int hlo_world_size(const hlo_world *w);
bool hlo_world_runs(const hlo_world *w, size_t participant); /* whether it runs on this rank */
/* To be called by all ranks. Gives the text of rank 0 to the others, to be freed with
 * hlo_text_free. False on all ranks when rank 0 has no text: its data is NULL. */
bool hlo_world_share(hlo_world *w, hlo_text *text);
/* To be called by all ranks before a run, since none may begin before each of them can. The
 * greatest `status` of any rank; `who`, unless it is NULL, becomes the first rank that has it. */
int hlo_world_agree(hlo_world *w, int status, int *who);

/* ---- plans, memory and profiles ---- */

/* The memory of a run by one participant, in bytes. Predictions are made by going through the
 * program without doing its work, once. They are upper bounds: all branches of a conditional count,
 * and dynamic sizes with their bounds. Kernels need some working memory besides. */
struct hlo_memory {
    uint64_t arguments, results; /* of the entry computation */
    uint64_t constants;
    bool foreseen; /* false: too much depends on values; `peak` is 0 */
    bool exact;    /* the prediction is exact; else there are branches, loops that might not run,
                      dynamic sizes or the like */
    uint64_t
        peak; /* of values that are alive at once: results count, arguments and constants don't */
    uint64_t kernels;  /* the most that one kernel takes for itself, of those that tell: sorts */
    uint64_t measured; /* actual peak of the last run, with values that the first run keeps for all;
                          0: there was no run */
};
struct hlo_memory hlo_program_memory(const hlo_program *p);
/* The plan, for people or as JSON: the steps of each computation in order, which kernel does them,
 * where their results live and until which step; what the passes did; and the memory. */
hlo_text hlo_plan_print(const hlo_program *p, bool json);

/* What runs spend their time on. A profile times every step of the first participant of this
 * process, from hlo_profile_new to hlo_profile_free, which must come before the program is freed. A
 * program has one profile at a time. Ask only while no run goes on. */
typedef struct hlo_profile hlo_profile;
hlo_profile *hlo_profile_new(hlo_program *p);
void hlo_profile_free(hlo_profile *f);
/* A step and the time that all runs together spent on it; false past the end. Steps come in the
 * order of the plan. */
struct hlo_profile_step {
    const char *name, *op, *computation;
    const char *what; /* the op and how it is done: "sort: ascending by operand 0, a f32" */
    size_t step;      /* its number in its computation */
    uint64_t calls;
    double seconds;           /* of all calls, without the steps within this one */
    double median;            /* of one call, without them too */
    double operations, bytes; /* of one call, computed from shapes; 0 where they depend on values */
};
bool hlo_profile_step(const hlo_profile *f, size_t i, struct hlo_profile_step *out);
/* Each time that a step ran, in the order in which they ended, up to a million; false past the end.
 */
struct hlo_profile_event {
    size_t step;            /* an index for hlo_profile_step */
    double start, duration; /* seconds, since the profile was made; the duration includes steps
                               within this one */
};
bool hlo_profile_event(const hlo_profile *f, size_t i, struct hlo_profile_event *out);

/* ---- tracing runs ---- */

/* A program planned with `traced` runs all instructions of all computations one by one on whole
 * values and calls back for each: a trace event. Nothing is fused, merged, eliminated or done in
 * place, so it takes more time and memory. Values are those of any other run, except that sums may
 * differ by rounding. Computations applied to elements (reducers, comparators, ...) are not traced.
 * An instruction that neither the result nor a side effect depends on runs as well, but has no
 * value if it fails, if an operand has none, or if it would call the user's code. */
struct hlo_event {
    size_t inst; /* its number in a listing of the module */
    size_t participant;
    uint64_t number; /* of the event, counted by participant in this run, from 0 */
    double seconds;  /* duration; 0 before the instruction, and for names of values (tuples,
                        parameters) */
    size_t depth;    /* number of instructions (while, call, ...) that it runs within */
    const struct hlo_within {
        size_t inst;
        int64_t iteration; /* of a while, from 0; -1 in its condition. 0 for other instructions */
    } * within;            /* `depth` of them, outermost first */
    void *run;             /* for the functions below */
};
/* Operand `k`; and the value, once the instruction is done. They are dense, whole and of their
 * actual sizes; a token is an empty tuple, and so is an array without a value. They are not copied
 * and live until the callback returns, the value only until it is set; hlo_literal_copy keeps one.
 * NULL: there is none, or no memory, which ends the run. */
const hlo_literal *hlo_event_operand(const struct hlo_event *s, size_t k);
const hlo_literal *hlo_event_value(const struct hlo_event *s);
/* Replaces the value by a copy of `l`; before the instruction has run, instead of running it. False
 * with a message when the shape is not compatible. From then on infinite loops are not detected in
 * this run. */
bool hlo_event_set(const struct hlo_event *s, const hlo_literal *l, hlo_messages *m);
/* Exceptional numbers. An infinity computed from finite operands is an overflow, unless the
 * operation has a pole, as log has at 0. */
enum hlo_oddity { HLO_ODD_NAN = 1, HLO_ODD_INF = 2, HLO_ODD_OVERFLOW = 4, HLO_ODD_DENORMAL = 8 };
struct hlo_origin {
    enum hlo_oddity what;
    size_t leaf;    /* of its value */
    int64_t index;  /* of the first such element, row-major in its leaf */
    uint64_t count; /* how many such elements its value has */
};
/* Whether the value of an instruction has one of the kinds `what` (ORed) that its operands lack:
 * those of an elementwise instruction at the same index, all elements of others. A NaN in a
 * constant originates in the instruction that reads it. Instructions that only name values, or call
 * computations that are traced themselves, are no origins. `out` has the first kind found, in the
 * order above. */
bool hlo_event_origin(const struct hlo_event *s, unsigned what, struct hlo_origin *out);
/* Adds a message about it at the instruction, an error (`stopped-on`) or a warning (`warned-on`),
 * with notes about the operands: their elements at the same index, or their statistics. An error
 * among the messages of the run makes the run fail. */
void hlo_event_report(const struct hlo_event *s, const struct hlo_origin *o, bool error,
                      hlo_messages *m);
struct hlo_trace_callbacks {
    size_t size; /* sizeof(struct hlo_trace_callbacks) */
    void *context;
    /* Called before an instruction runs, and after; either may be NULL. False ends the run without
     * a message. Calls for several participants are serialized. */
    bool (*before)(void *context, const struct hlo_event *s);
    bool (*after)(void *context, const struct hlo_event *s);
    /* Called instead of `after` for an instruction without a value; may be NULL. */
    bool (*skipped)(void *context, const struct hlo_event *s);
};
#define HLO_TRACE_CALLBACKS_INIT HLO_INIT(hlo_trace_callbacks)
/* Sets the callbacks of all later runs; their context must live as long. NULL: none. False when the
 * program was not planned with `traced`, or the size of the struct is not set. */
bool hlo_trace(hlo_program *p, const struct hlo_trace_callbacks *o);
/* Plans a module with `options` and `traced`, runs it with callbacks, and drops the results. False
 * with messages. */
bool hlo_run_traced(const hlo_module *module, const struct hlo_run_options *options,
                    const struct hlo_trace_callbacks *callbacks, const hlo_literal *const *args,
                    size_t count, hlo_messages *m);

/* ---- sources of elements ----
 *
 * The sources of an element are the elements of operands that it was computed from. They are given
 * as boxes: elements outside of all boxes can change without changing the element. Where values
 * decide (indices, predicates, the order of a sort), known ones are used; for unknown ones the
 * boxes are larger. */
enum { HLO_MAX_RANK = 32 }; /* of arrays that can be run */
struct hlo_element {
    size_t inst;                 /* in a listing of the module */
    size_t leaf;                 /* of its value: tuples flattened in order, tokens counted */
    int64_t index[HLO_MAX_RANK]; /* a number for each dimension of the leaf */
    /* The execution of the instruction, as in struct hlo_event. NULL in the entry computation. */
    const struct hlo_within *within;
    size_t depth;
};
enum hlo_source_place {
    HLO_SOURCE_HERE,    /* an operand */
    HLO_SOURCE_INSIDE,  /* the root of a computation that the instruction calls; for a while, in
                           `iteration` */
    HLO_SOURCE_OUTSIDE, /* the caller's operand for this parameter: `within` has one level less */
    HLO_SOURCE_BESIDE /* from another `iteration` of the loop around it: the one for the last level
                         of `within` */
};
struct hlo_source { /* elements start, start + step, ... in each dimension of a leaf */
    size_t inst, leaf, rank;
    long operand; /* number of this operand, of the instruction or of its caller; -1: it is none */
    enum hlo_source_place place;
    int64_t iteration;
    int64_t start[HLO_MAX_RANK], count[HLO_MAX_RANK],
        step[HLO_MAX_RANK];    /* a step may be negative */
    size_t walk[HLO_MAX_RANK]; /* the order in which dimensions are walked to count elements, the
                                  slowest first */
    bool product;              /* element n is multiplied by element n of the next source */
    const char *role;          /* "lhs", "window", "index"; a static string */
};
/* What the caller knows of a run. Either function may be NULL, or answer that it does not know:
 * NULL, -1. */
struct hlo_known {
    size_t size; /* sizeof(struct hlo_known) */
    void *context;
    const hlo_literal *(*value)(void *context, size_t inst, const struct hlo_within *within,
                                size_t depth);
    int64_t (*iterations)(void *context, size_t inst, const struct hlo_within *within,
                          size_t depth); /* of a while */
};
#define HLO_KNOWN_INIT HLO_INIT(hlo_known)
/* How many sources an element has; the first `most` of them are written to `out`. Arguments of the
 * run, and what is made from nothing (constants, iota), have none. -1 with a message when there is
 * no such element. `known` may be NULL. */
long hlo_why(const hlo_listing *l, const struct hlo_element *e, const struct hlo_known *known,
             struct hlo_source *out, size_t most, hlo_messages *m);
/* How the tree of an element, its sources, their sources, and so on, is written: as lines for
 * people, or as a JSON object. Instructions that only pass values on (tuples, parameters, calls)
 * are no level of it. 0 is the default in parentheses. */
struct hlo_why_view {
    size_t size;   /* sizeof(struct hlo_why_view) */
    size_t levels; /* steps back (1) */
    size_t most; /* elements shown of a box, those that count most first: NaN and infinities before
                    others (4) */
    const struct hlo_view *view; /* how values are written; NULL: defaults */
    bool json;
};
#define HLO_WHY_VIEW_INIT HLO_INIT(hlo_why_view)
/* The tree; `v` NULL: all usual. */
hlo_text hlo_why_print(const hlo_listing *l, const struct hlo_element *e,
                       const struct hlo_known *known, const struct hlo_why_view *v);
/* One level of the tree for the instruction of a trace event, before or after it is done, from its
 * operands. L: a listing of the module. */
hlo_text hlo_event_why(const struct hlo_event *s, const hlo_listing *l, size_t leaf,
                       const int64_t *index, const struct hlo_why_view *v);

/* A run whose values, those of the first participant, can be queried afterwards. Values are kept
 * within a budget; for others the module runs again. L, ARGS (as of hlo_run_all) and what options
 * point to must outlive it. NULL with messages when the module cannot be planned. When the run
 * fails there are messages, and the values up to there. Free with hlo_recorded_free. */
typedef struct hlo_recorded hlo_recorded;
struct hlo_recording {
    size_t size;   /* sizeof(struct hlo_recording) */
    uint64_t most; /* bytes of values to keep; 0: 1 GiB */
    bool first; /* keep the first value of each instruction only, and do not run again for what does
                   not fit */
    uint64_t most_each; /* with `first`: bytes of one value; 0: any number */
    /* Called around each run, for hlo_interrupt; either may be NULL. */
    void *context;
    void (*begin)(void *context, hlo_program *p);
    void (*end)(void *context);
};
#define HLO_RECORDING_INIT HLO_INIT(hlo_recording)
/* HOW NULL: all usual. */
hlo_recorded *hlo_record(const hlo_listing *l, const struct hlo_run_options *options,
                         const hlo_literal *const *args, size_t count,
                         const struct hlo_recording *how, hlo_messages *m);
void hlo_recorded_free(hlo_recorded *r);
/* How many instructions the participant that ran most of them has run. */
uint64_t hlo_recorded_events(const hlo_recorded *r);
/* The whole value of the instruction of an element, at the time that `within` gives; with `first`,
 * its first value. NULL: it is unknown. It belongs to the recorded run, until the next question. */
const hlo_literal *hlo_recorded_value(hlo_recorded *r, const struct hlo_element *e);
/* The element that a text names: NAME or COMPUTATION/NAME; then @ITERATION of the loop around it,
 * @OUTER.INNER of nested ones, without it the last time; then [COMPONENT] of a tuple; then [I,J],
 * where negative numbers count from the end. Without an index it is the first NaN or infinity, or
 * the only element of a scalar. False with messages, also when there is no such element. What `e`
 * points to lives as long as the recorded run. */
bool hlo_recorded_find(hlo_recorded *r, const char *text, struct hlo_element *e, hlo_messages *m);
/* The tree of an element, with values of the run; `v` NULL: all usual. */
hlo_text hlo_recorded_why(hlo_recorded *r, const struct hlo_element *e,
                          const struct hlo_why_view *v);

/* ---- comparing runs ---- */

/* Which instruction of one module corresponds to which of another; each has one partner at most. */
typedef struct hlo_pairing hlo_pairing;
enum hlo_paired {
    HLO_UNPAIRED,
    HLO_PAIRED_NAME,      /* same name, op and shape */
    HLO_PAIRED_METADATA,  /* same op_name in the metadata, op and shape */
    HLO_PAIRED_PLACE,     /* both the k-th of their op and shape; parameters: of the same number */
    HLO_PAIRED_OTHERWISE, /* same name, but another op or shape; or both roots of their computations
                           */
};
struct hlo_pair {
    long other; /* -1: none */
    enum hlo_paired how;
};
/* Pairs two modules by their listings, which must outlive the pairing. Free with hlo_pairing_free.
 */
hlo_pairing *hlo_pair(const hlo_listing *a, const hlo_listing *b);
void hlo_pairing_free(hlo_pairing *p);
struct hlo_pair hlo_pair_of_a(const hlo_pairing *p, size_t i); /* partner of an instruction of A */
struct hlo_pair hlo_pair_of_b(const hlo_pairing *p, size_t i);
/* Whether instruction `i` of A does something else than its partner: another op, shape or
 * attributes, or operands that are not partners. Values of constants of more than ten elements are
 * not compared. */
bool hlo_pair_changed(const hlo_pairing *p, size_t i);

/* Two programs, planned with `traced`, that run on the same arguments. Only as many values are kept
 * at a time as `room` allows; where that is too little for all those that differ in some bit, the
 * programs run several times. */
struct hlo_comparison {
    size_t size; /* sizeof(struct hlo_comparison) */
    hlo_program *a, *b;
    const hlo_pairing *pairing;     /* of listings of their modules */
    const hlo_literal *const *args; /* as hlo_run_all has them */
    size_t count;
    const struct hlo_tolerance
        *tolerance; /* the values of A are the expected ones; NULL: equal ones agree */
    uint64_t room;  /* bytes; 0: 512 MiB */
};
#define HLO_COMPARISON_INIT HLO_INIT(hlo_comparison)
struct hlo_divergence {
    uint64_t compared,
        unequal; /* values of paired instructions; and those that differ in some bit */
    bool found;  /* a value is outside the tolerance. Down to `difference`: the first such, in the
                    order of A */
    size_t participant, a, b; /* a, b: instructions */
    uint64_t occurrence;      /* how often it had run before, in loops */
    uint64_t number; /* how many values of A came before; what runs within an instruction comes
                        before its own value */
    hlo_literal *value_a, *value_b;
    struct hlo_difference difference;
    bool results_agree; /* else `results` compares those of the first participant whose results
                           don't */
    struct hlo_difference results;
    hlo_literal *result_a, *result_b;
};
/* False with messages when a run fails. Else free what `out` holds with hlo_divergence_free. */
bool hlo_diverge(const struct hlo_comparison *c, struct hlo_divergence *out, hlo_messages *m);
void hlo_divergence_free(struct hlo_divergence *d);

/* ---- extracting and reducing modules ---- */

/* What is cut out: an instruction, with what it needs of its computation, as a module that runs
 * alone. */
struct hlo_extract {
    size_t size;        /* sizeof(struct hlo_extract) */
    size_t inst;        /* in a listing of the module */
    size_t height;      /* how many levels of operands above it stay: 0: none; SIZE_MAX: all */
    uint64_t execution; /* for an instruction that runs several times: which time, from 0 */
    bool parameters;    /* what is cut off becomes parameters, and nothing is run */
};
#define HLO_EXTRACT_INIT HLO_INIT(hlo_extract)
/* What is cut off, parameters included, becomes constants: the values that participant 0 had for it
 * when the instruction was about to run, in a run of the module on ARGS (as hlo_run_all has them),
 * which ends there. NULL with messages. Free with hlo_module_free. */
hlo_module *hlo_extract(const hlo_listing *l, const struct hlo_extract *what,
                        const struct hlo_run_options *options, const hlo_literal *const *args,
                        size_t count, hlo_messages *m);

/* How the search for the smallest module that still fails goes. */
struct hlo_shrink {
    size_t size; /* sizeof(struct hlo_shrink) */
    void *context;
    bool (*bad)(void *context, const hlo_module *candidate); /* whether it still fails */
    /* The value of an instruction of the original module the first time that it ran, which must
     * stay; NULL: unknown. The function may be NULL. */
    const hlo_literal *(*value)(void *context, const char *name);
    /* Called before each candidate, with the number of instructions of the smallest module so far
     * and the number of candidates tried. False ends the search with what was found. May be NULL.
     */
    bool (*progress)(void *context, size_t instructions, size_t asked);
    bool
        faithful; /* each instruction keeps its value: only what `value` knows becomes a constant */
    bool rejected;  /* try candidates that hlo_verify rejects, too */
    double seconds; /* for the search; 0: no limit */
};
#define HLO_SHRINK_INIT HLO_INIT(hlo_shrink)
/* Candidates have other or fewer results; instructions replaced by values (known ones, parameters,
 * zeros) or by their operands; no metadata; calls and loops replaced by what they call. Halves are
 * tried first. Instructions keep their names. NULL when the module itself does not fail. Free with
 * hlo_module_free. */
hlo_module *hlo_shrink(const hlo_module *module, const struct hlo_shrink *how);

/* ---- ONNX models ----
 *
 * A model of ONNX is translated into a module, which is verified, printed and run like any other.
 * Sequences and optionals, which HLO lacks, are represented by arrays there; hlo_onnx_value is a
 * value in the terms of ONNX. */
typedef struct hlo_onnx hlo_onnx;
typedef struct hlo_onnx_value hlo_onnx_value;

/* Reads PATH ("-": standard input). Anything but HLO_OK comes with a message: HLO_USAGE when it
 * can't be read, HLO_REJECTED when it is no sound model or has something unsupported, HLO_FAILED
 * when the library was built without ONNX. Free with hlo_onnx_free. */
enum hlo_status hlo_onnx_open(const char *path, hlo_onnx **out, hlo_messages *m);
void hlo_onnx_free(hlo_onnx *model);
/* An input of the graph that has no value in the model, or an output; false past the last one. */
struct hlo_onnx_port {
    const char *name;
    const char *type; /* `float[5,?]`, `seq(float[?])`, `optional(seq(int64))` */
    bool sequence, optional;
    const char *dtype; /* of its tensors, as HLO spells it; NULL: not given */
    bool ranked;       /* `rank` and `dims` are given for its tensors */
    size_t rank;
    const int64_t *dims; /* -1 where a size is open */
};
bool hlo_onnx_input(const hlo_onnx *model, size_t i, struct hlo_onnx_port *out);
bool hlo_onnx_output(const hlo_onnx *model, size_t i, struct hlo_onnx_port *out);

/* A value for an input, which takes over the tensors. `present` false: an empty optional. NULL with
 * messages when the input has another type. Free with hlo_onnx_value_free. */
hlo_onnx_value *hlo_onnx_value_new(const hlo_onnx *model, size_t input, bool present,
                                   hlo_literal **tensors, size_t count, hlo_messages *m);
/* A value for an input, or of an output, from a file of ONNX's test data. NULL with messages. */
hlo_onnx_value *hlo_onnx_read_input(const hlo_onnx *model, size_t input, const char *path,
                                    hlo_messages *m);
hlo_onnx_value *hlo_onnx_read_output(const hlo_onnx *model, size_t output, const char *path,
                                     hlo_messages *m);
void hlo_onnx_value_free(hlo_onnx_value *v);
bool hlo_onnx_value_present(const hlo_onnx_value *v);
bool hlo_onnx_value_sequence(const hlo_onnx_value *v);
size_t hlo_onnx_value_count(const hlo_onnx_value *v); /* of tensors: one, or those of a sequence */
const hlo_literal *hlo_onnx_value_tensor(const hlo_onnx_value *v, size_t i);

/* The module of a model: a parameter for each input, and the outputs as a tuple. `inputs`, one for
 * each input, give the sizes that the model leaves open (their elements are not used); NULL: these
 * sizes are at most `bound`. So is everything that nothing else bounds: sizes, trip counts,
 * lengths. NULL with messages. Free with hlo_module_free. */
hlo_module *hlo_onnx_import(const hlo_onnx *model, hlo_onnx_value *const *inputs, int64_t bound,
                            hlo_messages *m);
/* A value as the argument that the module takes for it; and a component of the module's result as
 * the output that it represents. NULL with messages. */
hlo_literal *hlo_onnx_argument(const hlo_onnx_value *v, const hlo_module *module, size_t param,
                               hlo_messages *m);
hlo_onnx_value *hlo_onnx_result(const hlo_onnx *model, size_t output, const hlo_literal *component,
                                hlo_messages *m);

/* ---- operations, attributes and types ---- */

/* All strings here, except texts, are static. */
size_t hlo_op_count(void);
struct hlo_op {
    const char *name, *family;
    const char *spec;        /* the heading of the specification */
    const char *help;        /* one line */
    const char *form;        /* the names of its operands: "lhs, rhs" */
    const char *rule;        /* what it computes, in lines of Markdown */
    const char *differences; /* where implementations differ, likewise; may be empty */
    const char *script; /* its examples: shell commands, each followed by its output in comments */
    int min_operands, max_operands; /* -1: any number */
};
struct hlo_op hlo_op_get(size_t i);
/* The attributes of an op in the order of printing; false past the end. Op hlo_op_count() has those
 * that every op may carry. */
struct hlo_op_attribute {
    const char *name, *kind, *help;
    bool required;
};
bool hlo_op_attribute(size_t op, size_t i, struct hlo_op_attribute *out);
/* The words that an attribute takes as its value; NULL past the end. */
const char *hlo_op_attribute_word(size_t op, size_t attribute, size_t i);
/* The examples of an op; false past the end. */
struct hlo_op_example {
    const char *args;   /* literals, one per line and parameter */
    const char *text;   /* the module */
    const char *result; /* as `hlo run` prints it */
    const char *dtype;  /* an element type that others may replace; NULL: there is none */
    const char *other;  /* a second such type; NULL: there is none */
};
bool hlo_op_example(size_t op, size_t i, struct hlo_op_example *out);
/* The module of an example. `dtype` and `other`, unless they are NULL, replace its own types. */
hlo_text hlo_op_example_text(size_t op, size_t i, const char *dtype, const char *other);
/* Builder forms: words that the default language, unlike --strict, takes for an opcode. All NULL
 * past the end. */
struct hlo_form {
    const char *name, *op, *spec, *help;
};
struct hlo_form hlo_form_get(size_t i);
/* The element types; NULL past the end. */
const char *hlo_dtype_name(size_t i);
bool hlo_dtype_is_array(size_t i); /* false: tuples, tokens and the like */

#ifdef __cplusplus
}
#endif

#endif
