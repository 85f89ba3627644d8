/*
 * libhlo, advanced: tracing, editing, building and listing modules, arrays in files, custom calls
 * and more. Experimental: functions and structs may change in any version. The conventions of
 * hlo.h apply; a section depends only on those above it. One file because callers include one
 * header.
 *
 *   texts made of pieces
 *   dumps
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
 * texts, not to generated pieces. All texts are copied. NULL: 4 GiB or more in total. */
struct hlo_piece {
    const char *text;
    size_t size;
    const char *name;  /* of the original text; NULL: a generated piece */
    const char *whole; /* the original text, which contains `text` */
    size_t whole_size;
    uint32_t first_line; /* number of the first line of `whole` */
    size_t replaced;     /* if not 0, `text` replaces this many bytes of `whole` ... */
    const char *at;      /* ... starting here, and messages refer to these */
};
hlo_file *hlo_file_of_pieces(const char *name, const struct hlo_piece *pieces, size_t count);
/* Adds an error about a piece of an original text. */
void hlo_messages_add_at(hlo_messages *m, const struct hlo_piece *place, const char *text);
/* Renders message number `i` as hlo_messages_draw_in renders all. */
hlo_text hlo_messages_draw_one(const hlo_messages *m, size_t i, const char *colors);

/* ---- dumps ---- */

typedef struct hlo_dumps hlo_dumps; /* the modules in a directory of dumps, or in a file */
struct hlo_dump {
    const char *path;   /* of its file */
    const char *name;   /* of its file without directories, or of the part of a file */
    const char *module; /* name of the module */
    const char *phase;  /* before_optimizations, 0004.PIPELINE.after_PASS ...; or "" */
    int64_t number;     /* of the module; a plain file counts its modules from 1 */
};
/* Whether it is a directory or a pattern of file names, and no file. */
bool hlo_dumps_many(const char *path);
/* Lists the modules in a directory of dumps, in the files that match a pattern or in a file, by
 * module and in the order of passes. Of the same dump as text and as a protocol buffer, the text is
 * listed. PICK: the dumps of one module, as for hlo_file_open_module; "": of the only one; NULL: of
 * all. NULL with a message. Free with hlo_dumps_free. */
hlo_dumps *hlo_dumps_open(const char *path, const char *pick, hlo_messages *m);
void hlo_dumps_free(hlo_dumps *d);
size_t hlo_dumps_count(const hlo_dumps *d);
/* Its texts live as long as the list. */
struct hlo_dump hlo_dumps_get(const hlo_dumps *d, size_t i);
/* hlo_parse of a dump, which may outlive the list. */
hlo_module *hlo_dumps_parse(const hlo_dumps *d, size_t i, hlo_messages *m);

/* ---- listing instructions ---- */

/* The computations and instructions of a module, numbered from 0. Computations are in the order of
 * printing: callees before callers, the entry computation last. Instructions are numbered through
 * the whole module, in the order of printing. Returned pointers are valid as long as the listing.
 * Free it, by hlo_listing_free, before the module. */
typedef struct hlo_listing hlo_listing;
hlo_listing *hlo_list(const hlo_module *module);
void hlo_listing_free(hlo_listing *l);
size_t hlo_list_count(const hlo_listing *l); /* instructions */
size_t hlo_list_computations(const hlo_listing *l);
struct hlo_listed_computation {
    const char *name;
    bool entry;
    size_t first, count; /* its instructions are first, ..., first + count - 1 */
    size_t root;         /* an instruction */
    size_t parameter_count, caller_count;
    const size_t *parameters; /* instructions, in the order of their parameter numbers */
    const size_t *callers;    /* instructions, each once */
    uint32_t line;            /* in its file; 0: unknown */
};
struct hlo_listed_computation hlo_list_computation(const hlo_listing *l, size_t i);
struct hlo_listed {
    const char *name, *op;
    const char *shape; /* with layouts: "f32[2,3]{1,0}" */
    size_t computation;
    long parameter; /* parameter number; -1: not a parameter */
    size_t operand_count, user_count, callee_count;
    const size_t *operands, *users; /* instructions; each user once */
    const size_t *callees;          /* computations, in XLA's order */
    uint32_t line, column;          /* in its file; 0: unknown */
    const char *op_name;            /* from the metadata; "" */
    const char *where; /* "file.py:12", from the innermost known stack frame or the metadata; "" */
    /* number of a stack frame that is missing in the tables of the file; 0: none */
    long missing_frame;
};
struct hlo_listed hlo_list_inst(const hlo_listing *l, size_t i);
/* Finds an instruction by its name, with or without %: its name in the module, or the name in the
 * text if the module renamed a second x to x.1. NAME is searched in the entry computation first,
 * then in all others; COMPUTATION/NAME only in that computation. -1: none. */
long hlo_list_find(const hlo_listing *l, const char *name);
long hlo_list_find_computation(const hlo_listing *l, const char *name); /* -1: none */
/* The printed instruction: one line, without its newline and without ROOT. */
hlo_text hlo_list_print(const hlo_listing *l, size_t i, enum hlo_print_style style);
/* HLO text, complete or not, in color; `colors` as for hlo_messages_draw_in, with the entries
 * attribute, comment, keyword, name, number, operation, shape and string. */
hlo_text hlo_highlight(const char *text, size_t size, const char *colors);
/* Call number `k` of the user's program that led to the instruction, innermost first; false past
 * the last. */
struct hlo_frame {
    const char *file, *function; /* "" when unknown */
    int line, column;            /* 0 when unknown */
};
bool hlo_list_frame(const hlo_listing *l, size_t i, size_t k, struct hlo_frame *out);
/* The cost of running the instruction once, computed from shapes: arithmetic operations, and bytes
 * read and written. Both are 0 if they depend on values, and for instructions that call
 * computations. */
struct hlo_cost {
    double operations, bytes;
};
struct hlo_cost hlo_list_cost(const hlo_listing *l, size_t i);

/* ---- building modules ----
 *
 * A builder contains a module under construction. Each call appends an instruction to a computation
 * and is equivalent to the text of that instruction; builder forms of the specification are lowered
 * to core HLO. On an error the call adds a message, with the instruction as source text, and
 * returns NULL. If an operand is NULL, it returns NULL without another message, so it is sufficient
 * to check for errors at the end.
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
 * computations and instructions by name (hlo_computation_name, hlo_inst_name). */
typedef struct hlo_builder hlo_builder;
typedef struct hlo_computation hlo_computation;
typedef struct hlo_inst hlo_inst;

/* Messages go to `m`, which must outlive the builder. End it with hlo_builder_finish or
 * hlo_builder_free. */
hlo_builder *hlo_builder_new(const char *name, hlo_messages *m);
void hlo_builder_free(hlo_builder *b); /* discards an unfinished builder */
/* The module whose entry computation is `entry`; NULL if there was any error. The builder is freed
 * in both cases. Verify the module like a parsed one, and free it by hlo_module_free. */
hlo_module *hlo_builder_finish(hlo_builder *b, hlo_computation *entry);

/* Starts a computation; a second one of the same name is renamed to `name.1`. Several may be open
 * at a time. */
hlo_computation *hlo_computation_new(hlo_builder *b, const char *name);
const char *hlo_computation_name(const hlo_computation *c); /* for attributes: "to_apply=add" */
/* Ends a computation; only then may other instructions refer to it. `root` NULL: the last
 * instruction. False with messages if the computation is empty or its parameters are not numbered 0
 * ... n-1. */
bool hlo_computation_finish(hlo_computation *c, hlo_inst *root);
hlo_text hlo_inst_shape(const hlo_inst *i); /* "f32[2,3]"; "" for NULL */
hlo_text hlo_inst_name(const hlo_inst *i);

/* Appends an instruction and returns its handle. `what` is the opcode as in a text, preceded by the
 * shape if it cannot be inferred, and by the name if the caller chooses it: "add", "f32[2]
 * convert", "sum = f32[2] add". `attributes` are in HLO syntax, "dimensions={0}, to_apply=add", or
 * NULL. `hlo ops OPCODE` lists the attributes of an opcode. NULL on errors, with the messages that
 * the parser has for the same text. */
hlo_inst *hlo_build(hlo_computation *c, const char *what, hlo_inst *const *operands, size_t count,
                    const char *attributes);
/* spec: Parameter. `name` NULL: generated. */
hlo_inst *hlo_parameter(hlo_computation *c, size_t number, const char *shape, const char *name);
hlo_inst *hlo_constant(hlo_computation *c, const hlo_literal *l); /* the value is copied */
hlo_inst *hlo_tuple(hlo_computation *c, hlo_inst *const *elements, size_t count); /* spec: Tuple */
/* spec: GetTupleElement */
hlo_inst *hlo_get_tuple_element(hlo_computation *c, hlo_inst *tuple, int64_t index);

/* ---- editing modules ---- */

/* Replacement of instructions of a module. Dead instructions, uncalled computations and unused
 * operands of calls and fusions are removed. An edit without changes is a copy. Instructions are
 * given by their numbers in a listing of the module, which must outlive the edit. The last change
 * of an instruction takes precedence. Messages refer to the instruction. End an edit by
 * hlo_edit_finish or hlo_edit_free. */
typedef struct hlo_edit hlo_edit;
hlo_edit *hlo_edit_new(const hlo_listing *l);
void hlo_edit_free(hlo_edit *e); /* discards an unfinished edit */
/* Replaces an instruction by a constant, which is copied (for a tuple by a tuple of constants;
 * dynamic sizes are those of the value); by zeros; by a new last parameter (in the entry
 * computation only); or by another instruction of its computation. False with a message if types or
 * places do not fit. A replaced parameter is removed and the others are renumbered, unless its
 * computation is called: then it stays, unused. */
bool hlo_edit_constant(hlo_edit *e, size_t inst, const hlo_literal *value, hlo_messages *m);
bool hlo_edit_zeros(hlo_edit *e, size_t inst, hlo_messages *m);
bool hlo_edit_parameter(hlo_edit *e, size_t inst, hlo_messages *m);
bool hlo_edit_replace(hlo_edit *e, size_t inst, size_t by, hlo_messages *m);
/* Inlines the computation called by an instruction: a call or fusion; a while, whose body then runs
 * once; a conditional, of which only branch number `which` is kept. */
bool hlo_edit_inline(hlo_edit *e, size_t inst, size_t which, hlo_messages *m);
/* Makes instructions the result of the entry computation, as a tuple unless there is only one. They
 * must be in the same computation, which becomes the entry computation. Its instructions with side
 * effects are removed unless the result depends on them. */
bool hlo_edit_root(hlo_edit *e, const size_t *insts, size_t count, hlo_messages *m);
/* Also removes unused parameters of the entry computation, and renumbers the others. */
void hlo_edit_drop_parameters(hlo_edit *e);
/* Removes, by bits of `what`: metadata; shardings; hints to compilers that do not affect values. */
enum { HLO_STRIP_METADATA = 1, HLO_STRIP_SHARDING = 2, HLO_STRIP_HINTS = 4 };
void hlo_edit_strip(hlo_edit *e, unsigned what);
/* The new module; NULL with messages. The edit is freed in both cases. Verify the module; free it
 * by hlo_module_free. It does not depend on the original module. */
hlo_module *hlo_edit_finish(hlo_edit *e, hlo_messages *m);
/* A verified copy of a module in which calls of computations that `other` does not call, by name,
 * are inlined; NULL if there are none, or if it would have too many instructions. */
hlo_module *hlo_inline_calls(const hlo_listing *l, const hlo_listing *other);

/* ---- showing values ---- */

/* A slice of an array in the syntax of NumPy: `[0,:4]`, `[..., -1]`, `[::2, 3:]`; an index removes
 * its dimension. For a tuple the first bracket selects the element: `[1][0,:4]`. NULL with a
 * message. */
hlo_literal *hlo_literal_slice(const hlo_literal *l, const char *text, hlo_messages *m);
/* Statistics of all elements of all leaves; of complex numbers, of their absolute values. */
struct hlo_stats {
    uint64_t elements, finite, nan, positive_inf, negative_inf, zero, denormal;
    double min, max, mean, deviation; /* of the finite elements; NaN if none */
    int64_t first_nan, first_inf;     /* row-major position, counted through all leaves; -1: none */
};
struct hlo_stats hlo_literal_stats(const hlo_literal *l);
/* "f32[4096] min -1.2 max 3.4 mean 0.01 nan 0 inf 0", one line without its newline; a single
 * element is printed as its value. */
hlo_text hlo_literal_summary(const hlo_literal *l);
/* {"elements":2,"finite":1,"nan":1,...}: the members by name; numbers that are not finite as
 * strings. */
hlo_text hlo_stats_json(const struct hlo_stats *s);
/* Format of printed values. 0 selects the default in parentheses. */
struct hlo_view {
    size_t size;   /* sizeof(struct hlo_view) */
    size_t max;    /* larger arrays are abridged: the middle of their dimensions is elided (1000);
                       SIZE_MAX: never */
    size_t edge;   /* elements kept at both ends of an abridged dimension (3) */
    int precision; /* digits; 0: shortest representation that reads back exactly */
    bool hex;      /* floats as 0x1.8p+1 */
    bool bits;     /* also print the bits of each element */
    size_t width;  /* line width, in columns (80) */
    /* Larger arrays are abridged further to about this many lines, and to statistics if one element
     * at each end is too much; 0: unlimited. */
    size_t lines;
    bool summary; /* of arrays, only shape and statistics, on one line */
};
#define HLO_VIEW_INIT HLO_INIT(hlo_view)
/* Prints the value with its shape. An unabridged array can be parsed again; an abridged one
 * includes statistics. `v` NULL: defaults. */
hlo_text hlo_literal_show(const hlo_literal *l, const struct hlo_view *v);
/* JSON: {"shape":...,"values":nested lists}, with NaN and infinities as strings and complex numbers
 * as pairs; for a tuple, an object for each element in "elements". All values are written, unless
 * `max` is set: larger arrays then have "stats" instead of "values". */
hlo_text hlo_literal_json(const hlo_literal *l, const struct hlo_view *v);
/* Passes the text of hlo_literal_show, or with `json` of hlo_literal_json, to `put` in pieces, as
 * it is formatted. If `put` returns false, the rest is not formatted. False in that case, and with
 * a message if memory runs out. */
bool hlo_literal_write(const hlo_literal *l, const struct hlo_view *v, bool json,
                       bool (*put)(void *context, const char *text, size_t size), void *context,
                       hlo_messages *m);
/* A plot of characters. Heat maps show the last two dimensions, at index 0 of the others; curves
 * the last dimension; histograms all elements. Larger arrays are averaged by blocks. NaN and
 * infinities are red and magenta, or N and I without color. Complex numbers are plotted by absolute
 * value; of a tuple, the first array is plotted. `c` NULL: defaults. */
enum hlo_plot { HLO_PLOT_AUTO, HLO_PLOT_HEAT, HLO_PLOT_HISTOGRAM, HLO_PLOT_CURVE };
struct hlo_canvas {
    size_t size;          /* sizeof(struct hlo_canvas) */
    size_t width, height; /* in characters; 0: 72 by 20 */
    bool color, utf8;
};
#define HLO_CANVAS_INIT HLO_INIT(hlo_canvas)
hlo_text hlo_literal_plot(const hlo_literal *l, enum hlo_plot kind, const struct hlo_canvas *c);
/* Writes the heat map as a PNG file with at least one pixel per element (fewer above 8,192 per
 * side); NaN is red. False with a message. */
bool hlo_write_png(const char *path, const hlo_literal *l, hlo_messages *m);
/* The difference of two values of the same shape, in numbers. The worst errors are taken over all
 * elements that are finite on both sides, within the tolerance or not; for integers the error is
 * the distance. */
struct hlo_difference {
    bool comparable;            /* false: the shapes differ, and the other members are not set */
    uint64_t elements, outside; /* outside the tolerance */
    uint64_t not_finite; /* of those: NaN or infinite on one side, and different on the other */
    double worst_abs, worst_rel;
    uint64_t worst_ulp;
    size_t worst_count; /* number of entries of `worst` */
    struct hlo_differing {
        size_t leaf;
        int64_t index;           /* row-major in its leaf */
        double actual, expected; /* of complex numbers, the absolute values */
        double abs, rel;         /* NaN if one side is not finite */
        uint64_t ulp;            /* UINT64_MAX if one side is not finite */
    } worst[10]; /* elements outside the tolerance: not finite ones first, then by descending
                    absolute error */
    uint64_t decades[32]; /* number of elements by relative error: 0; up to 1e-29, 1e-28, ... 1;
                             above or not finite */
};
struct hlo_difference hlo_literal_difference(const hlo_literal *actual, const hlo_literal *expected,
                                             const struct hlo_tolerance *t);
/* The difference as text: counts, the worst elements, a histogram of the errors. The literals are
 * those that were compared; `names` are the column titles of both, NULL: "actual" and "expected";
 * the expected elements come first. */
hlo_text hlo_difference_print(const struct hlo_difference *d, const hlo_literal *actual,
                              const hlo_literal *expected, const char *const names[2]);
/* The same without the counts; empty if the shapes differ. */
hlo_text hlo_difference_table(const struct hlo_difference *d, const hlo_literal *actual,
                              const hlo_literal *expected, const char *const names[2]);
hlo_text hlo_difference_json(const struct hlo_difference *d); /* the members by name */

/* ---- arrays in files ---- */

typedef struct hlo_arrays hlo_arrays; /* named arrays in a file or a directory */
/* Opens the arrays of PATH. The format depends on the name: NAME.npy, one array, called "";
 * NAME.bin and NAME.raw, the raw elements of one array as in struct hlo_array, also called "";
 * NAME.safetensors; a directory, in which array x is the file x.npy, x.bin, x.pb or x.pbtxt;
 * NAME.npz and any other name, an .npz archive. A LiteralProto of XLA in binary or text format,
 * also compressed by gzip, is recognized by its contents; its value is called "". NULL with a
 * message. Free with hlo_arrays_free; literals may outlive it. Arrays in files of 64 KiB and more
 * are memory-mapped if they are stored as in memory; others are copied, among them arrays of pred
 * and of types below a byte, and arrays not aligned for their type. So a file may be as large as
 * the address space, but must not be truncated while its literals are in use: see
 * hlo_guard_mapped_files. */
hlo_arrays *hlo_arrays_open(const char *path, hlo_messages *m);
void hlo_arrays_free(hlo_arrays *s);
/* If another program truncates a mapped file, reading beyond its new end raises SIGBUS. After this
 * call, that ends the process with status 4 and a message on standard error that names the file;
 * other SIGBUS signals keep their action. */
void hlo_guard_mapped_files(void);
/* Whether PATH has one of the suffixes above, is a directory, or is an existing LiteralProto. */
bool hlo_arrays_known(const char *path);
/* Whether arrays in PATH have names, so that it can contain the values of all parameters. */
bool hlo_arrays_many(const char *path);
bool hlo_arrays_has(const hlo_arrays *s, const char *name);
/* Reads an array by name. DTYPE is the element type of raw elements; NULL: that of the file. NULL
 * with messages. Free with hlo_literal_free. */
hlo_literal *hlo_arrays_get(const hlo_arrays *s, const char *name, const char *dtype,
                            hlo_messages *m);
/* Functions that write a file replace PATH when it is complete. They return false with a
 * message. */
bool hlo_write_npy(const char *path, const hlo_literal *l, hlo_messages *m); /* one array */
/* Writes the values of `count` participants, each leaf as an array: `prefix`0, `prefix`1, ...; of
 * several participants `prefix`0@0, `prefix`0@1, ... The format is that of the suffix: .npz;
 * .safetensors; for a single array .npy, or .bin and .raw for its raw elements. */
bool hlo_write_arrays(const char *path, const char *prefix, const hlo_literal *const *l,
                      size_t count, hlo_messages *m);
bool hlo_write_knows(const char *path); /* whether PATH has one of these suffixes */
/* Writes arrays with names given by the caller. */
bool hlo_write_npz_named(const char *path, const char *const *names,
                         const hlo_literal *const *arrays, size_t count, hlo_messages *m);
/* A run as one .npz archive: the text of its module as bytes, `module`; the leaves of its
 * arguments, arg0, arg1, ...; those of its results, out0, out1, ... With several participants,
 * arg0@0 and so on. hlo_file_open reads the module of such a file, hlo_arrays_param with "arg" an
 * argument, hlo_read_result with "out" the result. */
struct hlo_bundle {
    size_t size; /* sizeof(struct hlo_bundle) */
    const char *text;
    size_t text_size;
    size_t participants, count; /* `count` arguments for each */
    /* all of one participant, then of the next; NULL entries: no value */
    const hlo_literal *const *args;
    const hlo_literal *const *results; /* one per participant; NULL: no results */
};
#define HLO_BUNDLE_INIT HLO_INIT(hlo_bundle)
bool hlo_write_bundle(const char *path, const struct hlo_bundle *b, hlo_messages *m);
enum hlo_format {
    HLO_FORMAT_TEXT,       /* HLO text, with all values */
    HLO_FORMAT_PROTO,      /* HloModuleProto or LiteralProto of XLA, in wire format */
    HLO_FORMAT_PROTO_TEXT, /* and in text format */
};
/* Writes a module or a value in a format, compressed if `gzip`. What an HloModuleProto does not
 * have is dropped with a warning. */
bool hlo_write_module(const char *path, const hlo_module *module, enum hlo_format format, bool gzip,
                      hlo_messages *m);
bool hlo_write_literal(const char *path, const hlo_literal *l, enum hlo_format format, bool gzip,
                       hlo_messages *m);
/* Writes a file atomically. */
bool hlo_write_text(const char *path, const char *text, size_t size, hlo_messages *m);
/* The same incrementally: the file is created when it is closed, and only with `keep`. Files that
 * are not regular, such as /dev/stdout, are written directly, as are all files on systems without
 * anonymous files. hlo_output_open returns NULL with a message. hlo_output_close frees the output
 * even if it fails. */
typedef struct hlo_output hlo_output;
hlo_output *hlo_output_open(const char *path, hlo_messages *m);
bool hlo_output_put(hlo_output *o, const char *text, size_t size, hlo_messages *m);
bool hlo_output_close(hlo_output *o, bool keep, hlo_messages *m);

/* ---- arguments of a run ---- */

/* The value of parameter `param` for a participant. Its leaves have the names `prefix`N, with N
 * counting the leaves of all parameters in order, or otherwise a name of the parameter, as for
 * hlo_param_find, with .K for tuple element K, or otherwise arr_N (numpy.savez). A name followed by
 * @PARTICIPANT takes precedence. An array without a name (of a .npy file) matches any. Raw elements
 * have the parameter's type. NULL with messages. Free with hlo_literal_free. */
hlo_literal *hlo_arrays_param(const hlo_arrays *s, const char *prefix, const hlo_module *module,
                              size_t param, size_t participant, hlo_messages *m);
/* Checks that the file has no more arrays without names (arr_N) than the parameters have leaves;
 * false with a message. */
bool hlo_arrays_fit(const hlo_arrays *s, const hlo_module *module, hlo_messages *m);
/* Parses the value of a parameter in the form of the command line: a literal, whose shape is
 * optional and which may be nested lists of JSON, or `@FILE`. A file of arrays (hlo_arrays_known)
 * is read as by hlo_arrays_param with prefix "arg"; any other file contains a literal. NULL with
 * messages, also if the shape is not the parameter's. */
hlo_literal *hlo_read_argument(const hlo_module *module, size_t param, size_t participant,
                               const char *text, hlo_messages *m);
/* Parses an expected result: a literal, whose shape may be omitted, or nested lists of JSON. NULL
 * with messages. */
hlo_literal *hlo_result_parse(const hlo_module *module, const char *text, size_t size,
                              hlo_messages *m);
/* The start of VALUE in a text NAME=VALUE; 0: no name. Brackets in NAME are closed. */
size_t hlo_argument_value(const char *text);
/* The result of the entry computation, from the leaves `prefix`0, `prefix`1, ... in the file PATH.
 * NULL with messages. */
hlo_literal *hlo_read_result(const char *path, const char *prefix, const hlo_module *module,
                             size_t participant, hlo_messages *m);
/* Arguments and results in the file of a module that is a bundle or a snapshot of XLA
 * (HloSnapshot, HloUnoptimizedSnapshot). hlo_stored_arguments returns the number of lists of
 * arguments: 0, 1 for all participants or one of each. hlo_stored_argument reads from the file
 * of FROM an argument of MODULE, which has the shape of its parameter; a result may have any. They
 * require that there are arguments or results; NULL with messages. Free with hlo_literal_free. */
size_t hlo_stored_arguments(const hlo_module *module);
hlo_literal *hlo_stored_argument(const hlo_module *from, const hlo_module *module, size_t param,
                                 size_t participant, hlo_messages *m);
bool hlo_file_has_results(const hlo_file *f);
hlo_literal *hlo_stored_result(const hlo_module *from, size_t participant, hlo_messages *m);
/* Random values, the same on all machines: words of splitmix64 by seed, leaf and element; `//
 * peers:` hints in the text are followed. NULL with messages. */
hlo_literal *hlo_random_param(const hlo_module *module, size_t param, uint64_t seed,
                              hlo_messages *m);
/* A generated value for a parameter of a verified module that is valid for its uses, which are
 * followed through tuples, calls and loops. Indices are in bounds, and sorted or distinct where the
 * module promises it; arguments of logarithms and roots are positive; divisors are not 0; matrices
 * to be factored are well conditioned; trip counts are small; initial values of reductions are
 * neutral. Floats are at most 1, less where many products are summed. IOTA counts 0, 1, 2, ... and
 * starts again where the type or the use ends. EDGE has NaN, infinities, -0, the smallest and
 * largest numbers (the largest not where they are summed, since the result would depend on the
 * order), and indices out of bounds. The same seed gives the same numbers on all machines. NULL
 * with messages. */
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

/* Custom-call targets. Add all of them before planning a program. A target in this list takes
 * precedence over built-in ones, and a later one over earlier ones. With several participants,
 * calls are concurrent, from the thread of each participant. */
hlo_targets *hlo_targets_new(void);
void hlo_targets_free(hlo_targets *t);
/* Adds all functions defined by the shared library at PATH as targets of their names. They are
 * called in this process, as by XLA:CPU for the api_version= of the instruction. If they call
 * XlaCustomCallStatusSetSuccess or XlaCustomCallStatusSetFailure, the program must export these
 * functions (-Wl,--export-dynamic-symbol=XlaCustomCall*). The static library defines them; with the
 * shared one, define each as a call of hlo_custom_call_status. False with a message. */
bool hlo_targets_add_library(hlo_targets *t, const char *path, hlo_messages *m);
/* Sets the status of a custom call. MESSAGE: NULL for success; otherwise the error, up to a NUL or
 * `size` bytes. */
void hlo_custom_call_status(void *status, const char *message, size_t size);
/* Adds a target by a rule. "NAME=identity": leaf k of the result is leaf k of the operands.
 * "NAME=zeros". "NAME=COMMAND": /bin/sh runs COMMAND for each call; it reads the leaves of the
 * operands as literals, one per line, writes those of the result, and exits with status 0. Its
 * environment has HLO_TARGET, HLO_CONFIG, HLO_RESULT (the shape) and HLO_PARTICIPANT. A NAME that
 * ends in `*` matches all names with that prefix; `*` alone matches targets that have no other
 * implementation. False with a message. */
bool hlo_targets_add_rule(hlo_targets *t, const char *rule, hlo_messages *m);
/* A call of a function. Operands and results are leaves, tuples flattened in order; the data of
 * tokens is NULL. */
struct hlo_call {
    const char *target;
    const char *config; /* the text of backend_config= */
    size_t config_size;
    size_t participant, operand_count, result_count;
    const struct hlo_array *operands; /* read-only */
    const struct hlo_array *results;  /* output; initially zeros, or the aliased operand */
};
/* False on failure; the function may write the error to `why`, a buffer of `capacity` bytes that is
 * initially empty. */
typedef bool hlo_call_fn(void *context, const struct hlo_call *call, char *why, size_t capacity);
void hlo_targets_add_function(hlo_targets *t, const char *name, hlo_call_fn *fn, void *context);

/* ---- several processes ----
 *
 * Participants run as threads of one process, or are distributed over a world: processes of the
 * same program, called ranks. With n ranks, participant p runs on rank p modulo n; results are
 * bitwise identical. All ranks must make the same calls in the same order: open the world, read the
 * module, plan it and run it; no other calls during a run.
 *
 *     hlo_world *w = hlo_world_open("mpi", messages);
 *     struct hlo_run_options options = HLO_RUN_OPTIONS_INIT;
 *     options.world = w;
 *     ... hlo_plan, hlo_world_agree, hlo_run_all: results are on rank 0 ...
 *     hlo_world_close(w);
 */
/* KIND "mpi": the processes started by mpirun, or just this one. Only once per process, unless the
 * process initializes and finalizes MPI itself. NULL with messages. */
hlo_world *hlo_world_open(const char *kind, hlo_messages *m);
void hlo_world_close(hlo_world *w); /* call it when all ranks are done */
/* In these functions a NULL world is a single process. */
int hlo_world_rank(const hlo_world *w);
bool hlo_world_runs(const hlo_world *w, size_t participant); /* whether it runs on this rank */
/* Collective: all ranks must call it. Passes the text of rank 0 to the others, to be freed by
 * hlo_text_free. False on all ranks if rank 0 has no text: its data is NULL. */
bool hlo_world_share(hlo_world *w, hlo_text *text);
/* Collective: all ranks must call it before a run, to find out whether each of them can start.
 * Returns the greatest `status` of any rank; `who`, unless NULL, is set to the first rank that has
 * it. */
int hlo_world_agree(hlo_world *w, int status, int *who);

/* ---- plans, memory and profiles ---- */

/* The memory of a run by one participant, in bytes, estimated by a dry run. Estimates are upper
 * bounds: all branches of a conditional count, and dynamic sizes with their bounds. Kernels need
 * workspaces in addition. */
struct hlo_memory {
    uint64_t arguments, results; /* of the entry computation */
    uint64_t constants;
    bool estimated; /* false: unknown, since it depends on values; `peak` is 0 */
    bool exact;     /* the estimate is exact; otherwise there are branches, loops that may not run,
                       dynamic sizes or the like */
    uint64_t peak;  /* of live values: results count, arguments and constants do not */
    uint64_t kernels; /* largest known kernel workspace: of sorts */
    /* actual peak of the last run, including constant-folded values; 0: no run */
    uint64_t measured;
};
struct hlo_memory hlo_program_memory(const hlo_program *p);
/* HLO_PLAN_VERBOSE and HLO_PLAN_JSON also say why steps are not hoisted out of loops. */
enum hlo_plan_form { HLO_PLAN_TEXT, HLO_PLAN_JSON, HLO_PLAN_VERBOSE };
/* The plan as text or JSON: the steps of each computation in order, with kernel, storage of results
 * and last use; what the passes did; and the memory. */
hlo_text hlo_plan_print(const hlo_program *p, enum hlo_plan_form form);

/* Execution times. A profile measures every step of the first participant of this process, from
 * hlo_profile_new to hlo_profile_free, which must precede freeing the program. A program has one
 * profile at a time. Query it only between runs. */
typedef struct hlo_profile hlo_profile;
hlo_profile *hlo_profile_new(hlo_program *p);
void hlo_profile_free(hlo_profile *f);
/* A step and its total time in all runs; false past the end. Steps are in the order of the plan. */
struct hlo_profile_step {
    const char *name, *op, *computation;
    const char *what; /* the op and its kernel: "sort: ascending by operand 0, a f32" */
    size_t step;      /* its number in its computation */
    uint64_t calls;
    double seconds;           /* of all calls, without nested steps */
    double median;            /* of one call, without nested steps */
    double operations, bytes; /* of one call, computed from shapes; 0 if they depend on values */
};
bool hlo_profile_step(const hlo_profile *f, size_t i, struct hlo_profile_step *out);
/* Each execution of a step, in the order of their ends, up to a million; false past the end. */
struct hlo_profile_event {
    size_t step;            /* an index for hlo_profile_step */
    double start, duration; /* seconds since hlo_profile_new; the duration includes nested steps */
};
bool hlo_profile_event(const hlo_profile *f, size_t i, struct hlo_profile_event *out);

/* The iterations of the loop of hlo_run_progress, if it counts from a constant to a constant; -1:
 * unknown. May be called from any thread and from signal handlers. */
long long hlo_run_trip_count(const hlo_program *p);

/* ---- tracing runs ---- */

/* A program planned with `traced` runs all instructions of all computations one by one on whole
 * values and calls back for each: a trace event. Nothing is fused, merged, eliminated or updated in
 * place, so it takes more time and memory. Values are those of any other run, except that sums may
 * differ by rounding. Computations applied to elements (reducers, comparators, ...) are not traced.
 * An instruction that neither the result nor a side effect depends on runs as well, but has no
 * value if it fails, if an operand has none, or if it would call user code. */
struct hlo_event {
    size_t inst; /* number in a listing of the module */
    size_t participant;
    uint64_t number; /* of the event, counted by participant in this run, from 0 */
    double seconds;  /* duration; 0 before the instruction, and for aliases of values (tuples,
                        parameters) */
    size_t depth;    /* number of enclosing instructions (while, call, ...) */
    const struct hlo_within {
        size_t inst;
        int64_t iteration; /* of a while, from 0; -1 in its condition. 0 for other instructions */
    } * within;            /* `depth` of them, outermost first */
    void *run;             /* for the functions below */
};
/* Operand `k`; and the value, once the instruction is done. They are dense, complete and of actual
 * sizes; a token is an empty tuple, and so is an array without a value. They are not copied: they
 * are valid until the callback returns, the value only until it is set; use hlo_literal_copy to
 * keep one. NULL: none, or out of memory, which ends the run. */
const hlo_literal *hlo_event_operand(const struct hlo_event *s, size_t k);
const hlo_literal *hlo_event_value(const struct hlo_event *s);
/* Replaces the value by a copy of `l`; before the instruction has run, instead of running it. False
 * with a message if the shape is not compatible. Disables the detection of infinite loops for the
 * rest of the run. */
bool hlo_event_set(const struct hlo_event *s, const hlo_literal *l, hlo_messages *m);
/* Exceptional numbers. An infinity computed from finite operands is an overflow, unless the
 * operation has a pole, as log has at 0. */
enum hlo_oddity { HLO_ODD_NAN = 1, HLO_ODD_INF = 2, HLO_ODD_OVERFLOW = 4, HLO_ODD_DENORMAL = 8 };
struct hlo_origin {
    enum hlo_oddity what;
    size_t leaf;    /* of its value */
    int64_t index;  /* of the first such element, row-major in its leaf */
    uint64_t count; /* number of such elements of the value */
    /* number of the instruction that produced infinities which operands of a NaN may have, plus 1;
     * set by the caller of hlo_event_report, or 0 */
    size_t infinities;
};
/* Whether the value of an instruction has one of the kinds `what` (a bit set) that its operands
 * lack: for an elementwise instruction at the same index, otherwise in all elements. A NaN in a
 * constant originates in the instruction that reads it. Instructions that alias values, or call
 * computations that are traced themselves, are no origins. `out` is set to the first kind found, in
 * the order above. */
bool hlo_event_origin(const struct hlo_event *s, unsigned what, struct hlo_origin *out);
/* Adds a message about an origin at the instruction, an error (`stopped-on`) or a warning
 * (`warned-on`), with notes about the operands: their elements at the same index, or their
 * statistics, and where their infinities were produced. An error in the messages of the run makes
 * the run fail. */
void hlo_event_report(const struct hlo_event *s, const struct hlo_origin *o, bool error,
                      hlo_messages *m);
struct hlo_trace_callbacks {
    size_t size; /* sizeof(struct hlo_trace_callbacks) */
    void *context;
    /* Called before and after each instruction; either may be NULL. False ends the run without a
     * message. Calls for several participants are serialized. */
    bool (*before)(void *context, const struct hlo_event *s);
    bool (*after)(void *context, const struct hlo_event *s);
    /* Called instead of `after` for an instruction without a value; may be NULL. */
    bool (*skipped)(void *context, const struct hlo_event *s);
};
#define HLO_TRACE_CALLBACKS_INIT HLO_INIT(hlo_trace_callbacks)
/* Sets the callbacks of all later runs; their context must live as long. NULL: none. False if the
 * program was not planned with `traced`, or the size of the struct is not set. */
bool hlo_trace(hlo_program *p, const struct hlo_trace_callbacks *o);
/* Plans a module with `options` and `traced`, runs it with callbacks, and discards the results.
 * False with messages. */
bool hlo_run_traced(const hlo_module *module, const struct hlo_run_options *options,
                    const struct hlo_trace_callbacks *callbacks, const hlo_literal *const *args,
                    size_t count, hlo_messages *m);

/* ---- sources of elements ----
 *
 * The sources of an element are the operand elements that it was computed from. They are given as
 * boxes: elements outside all boxes can change without changing the element. If sources depend on
 * values (indices, predicates, the order of a sort), known values are used; for unknown ones the
 * boxes are larger. */
enum { HLO_MAX_RANK = 32 }; /* maximum rank of arrays that can be run */
struct hlo_element {
    size_t inst;                 /* in a listing of the module */
    size_t leaf;                 /* of its value: tuples flattened in order, tokens counted */
    int64_t index[HLO_MAX_RANK]; /* one per dimension of the leaf */
    /* The execution of the instruction, as in struct hlo_event. NULL in the entry computation. */
    const struct hlo_within *within;
    size_t depth;
};
enum hlo_source_place {
    HLO_SOURCE_HERE,    /* an operand */
    HLO_SOURCE_INSIDE,  /* the root of a computation called by the instruction; for a while, in
                           `iteration` */
    HLO_SOURCE_OUTSIDE, /* the caller's operand for this parameter: `within` has one level less */
    HLO_SOURCE_BESIDE   /* from another `iteration` of the enclosing loop, for the last level of
                           `within` */
};
struct hlo_source { /* elements start, start + step, ... in each dimension of a leaf */
    size_t inst, leaf, rank;
    long operand; /* operand number, of the instruction or of its caller; -1: not an operand */
    enum hlo_source_place place;
    int64_t iteration;
    int64_t start[HLO_MAX_RANK], count[HLO_MAX_RANK],
        step[HLO_MAX_RANK]; /* a step may be negative */
    /* order of dimensions in which elements are counted, slowest first */
    size_t walk[HLO_MAX_RANK];
    bool product;     /* element n is multiplied by element n of the next source */
    const char *role; /* "lhs", "window", "index"; a static string */
};
/* Known values of a run. Both functions may be NULL, or return NULL and -1 for unknown. */
struct hlo_known {
    size_t size; /* sizeof(struct hlo_known) */
    void *context;
    const hlo_literal *(*value)(void *context, size_t inst, const struct hlo_within *within,
                                size_t depth);
    int64_t (*iterations)(void *context, size_t inst, const struct hlo_within *within,
                          size_t depth); /* of a while */
};
#define HLO_KNOWN_INIT HLO_INIT(hlo_known)
/* Determines the sources of an element and returns their number; the first `max` of them are
 * written to `out`. Arguments of the run and generators (constants, iota) have none. -1 with a
 * message if there is no such element. `known` may be NULL. */
long hlo_why(const hlo_listing *l, const struct hlo_element *e, const struct hlo_known *known,
             struct hlo_source *out, size_t max, hlo_messages *m);
/* Format of the tree of an element, its sources, their sources, and so on, as text or a JSON
 * object. Instructions that only pass values on (tuples, parameters, calls) are not a level of the
 * tree. 0 selects the default in parentheses. */
struct hlo_why_view {
    size_t size;   /* sizeof(struct hlo_why_view) */
    size_t levels; /* levels of sources (1) */
    size_t max;    /* number of elements shown of a box, the most significant first: NaN and
                       infinities, then others (4) */
    const struct hlo_view *view; /* format of values; NULL: defaults */
    bool json;
};
#define HLO_WHY_VIEW_INIT HLO_INIT(hlo_why_view)
/* The tree; `v` NULL: defaults. */
hlo_text hlo_why_print(const hlo_listing *l, const struct hlo_element *e,
                       const struct hlo_known *known, const struct hlo_why_view *v);

/* A run whose values, those of the first participant, can be queried afterwards. Values are kept
 * within a memory budget; for others the module runs again. L, ARGS (as for hlo_run_all) and
 * everything that options point to must outlive it. NULL with messages if the module cannot be
 * planned. If the run fails, there are messages, and the values up to the failure. Free with
 * hlo_recorded_free. */
typedef struct hlo_recorded hlo_recorded;
struct hlo_recording {
    size_t size;  /* sizeof(struct hlo_recording) */
    uint64_t max; /* bytes of values to keep; 0: 1 GiB */
    bool first;   /* keep the first value of each instruction only, and do not run again for values
                     over the budget */
    uint64_t most_each; /* with `first`: maximum bytes of a value; 0: unlimited */
    /* Called around each run, for hlo_interrupt; either may be NULL. */
    void *context;
    void (*begin)(void *context, hlo_program *p);
    void (*end)(void *context);
};
#define HLO_RECORDING_INIT HLO_INIT(hlo_recording)
/* HOW NULL: defaults. */
hlo_recorded *hlo_record(const hlo_listing *l, const struct hlo_run_options *options,
                         const hlo_literal *const *args, size_t count,
                         const struct hlo_recording *how, hlo_messages *m);
void hlo_recorded_free(hlo_recorded *r);
/* The number of instructions executed by the participant that executed most. */
uint64_t hlo_recorded_events(const hlo_recorded *r);
/* The whole value of the instruction of an element, in the execution given by `within`; with
 * `first`, its first value. NULL: unknown. It is valid until the next query. */
const hlo_literal *hlo_recorded_value(hlo_recorded *r, const struct hlo_element *e);
/* Parses an element: NAME or COMPUTATION/NAME; then @ITERATION of the enclosing loop, @OUTER.INNER
 * of nested ones, by default the last execution; then [K] for tuple element K; then [I,J], where
 * negative numbers count from the end. Without an index it is the first NaN, else the first
 * infinity, or the only element of a scalar. False with messages, also if there is no such element.
 * The pointers in `e` are valid as long as the recorded run. */
bool hlo_recorded_find(hlo_recorded *r, const char *text, struct hlo_element *e, hlo_messages *m);
/* The tree of an element, with values of the run; `v` NULL: defaults. */
hlo_text hlo_recorded_why(hlo_recorded *r, const struct hlo_element *e,
                          const struct hlo_why_view *v);

/* ---- comparing runs ---- */

/* Correspondence of the instructions of two modules. Several instructions with equal values may
 * have the same partner, whose own partner is one of them. */
typedef struct hlo_pairing hlo_pairing;
enum hlo_paired {
    HLO_UNPAIRED,
    HLO_PAIRED_NAME, /* same name, op and shape */
    /* same op_name in the metadata, op and shape; paired operands, or no others have them */
    HLO_PAIRED_METADATA,
    /* same op and shape, and paired operands or equal values of constants; parameters: of the same
     * number */
    HLO_PAIRED_PLACE,
    /* same name or op_name, but another op or shape; or both roots of their computations */
    HLO_PAIRED_OTHERWISE,
    HLO_PAIRED_VALUE, /* equal values: hlo_diverge */
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
/* Whether instruction `i` of A differs from its partner: in op, shape or attributes, or by operands
 * that are not partners. Values of constants of more than ten elements are not compared. */
bool hlo_pair_changed(const hlo_pairing *p, size_t i);

/* A comparison of two programs, planned with `traced`, on the same arguments. */
struct hlo_comparison {
    size_t size; /* sizeof(struct hlo_comparison) */
    hlo_program *a, *b;
    /* Of listings of their modules. Pairs with different values are removed unless their operands
     * are equal, and instructions with equal values are added. */
    hlo_pairing *pairing;
    const hlo_literal *const *args; /* as for hlo_run_all */
    size_t count;
    /* values of A are the expected ones; NULL: values must be equal */
    const struct hlo_tolerance *tolerance;
};
#define HLO_COMPARISON_INIT HLO_INIT(hlo_comparison)
struct hlo_change {
    size_t inst;
    size_t by;     /* inst, or the instruction that applies its computation to elements */
    hlo_text text; /* another opcode, direction, dimension or order of operands, or a value */
};
struct hlo_divergence {
    /* Executed instructions of the module that has fewer, except aliases such as tuples. */
    uint64_t instructions;
    uint64_t compared; /* of them, those with a partner */
    uint64_t unequal;  /* of those, with values that are not bitwise equal */
    /* The results differ, and an instruction is known to be the first that computes another value.
     * The members down to `difference` describe it. */
    bool found;
    size_t participant, a, b; /* a, b: instructions */
    size_t origin;            /* b; or an instruction from whose value b is computed, which may have
                                 changed instead: that of the first change, or one without a
                                 partner */
    /* The computations that a and b apply to elements, such as reducers, are equal except for this
     * pair of instructions. */
    bool applied;
    size_t applied_a, applied_b;
    uint64_t occurrence; /* number of the earlier executions of b */
    hlo_literal *value_a, *value_b;
    struct hlo_difference difference;
    /* Changes of single instructions of B with which the results agree, the likeliest first, and
     * those that are about as likely. */
    struct hlo_change changes[3];
    size_t change_count;
    bool results_agree; /* otherwise `results` is the difference for the first participant whose
                           results differ */
    struct hlo_difference results;
    hlo_literal *result_a, *result_b;
};
/* False with messages if a run fails. Otherwise free the contents of `out` by
 * hlo_divergence_free. */
bool hlo_diverge(const struct hlo_comparison *c, struct hlo_divergence *out, hlo_messages *m);
void hlo_divergence_free(struct hlo_divergence *d);

/* ---- extracting and reducing modules ---- */

/* Extraction of an instruction with its operands as a standalone module. */
struct hlo_extract {
    size_t size;        /* sizeof(struct hlo_extract) */
    size_t inst;        /* in a listing of the module */
    size_t height;      /* number of levels of operands to keep: 0: none; SIZE_MAX: all */
    uint64_t execution; /* which execution, from 0, of an instruction that runs several times */
    bool parameters;    /* cut-off operands become parameters, and nothing is run */
};
#define HLO_EXTRACT_INIT HLO_INIT(hlo_extract)
/* Cut-off operands, including parameters, become constants: their values on participant 0 when the
 * instruction was about to run, in a run of the module on ARGS (as for hlo_run_all), which ends
 * there. NULL with messages. Free with hlo_module_free. */
hlo_module *hlo_extract(const hlo_listing *l, const struct hlo_extract *what,
                        const struct hlo_run_options *options, const hlo_literal *const *args,
                        size_t count, hlo_messages *m);

/* Options of the search for the smallest module that still fails. */
struct hlo_shrink {
    size_t size; /* sizeof(struct hlo_shrink) */
    void *context;
    bool (*bad)(void *context, const hlo_module *candidate); /* whether it still fails */
    /* The value of an instruction of the original module in its first execution, which must stay
     * valid; NULL: unknown. The function may be NULL. */
    const hlo_literal *(*value)(void *context, const char *name);
    /* Called before each candidate, with the number of instructions of the smallest module so far
     * and the number of candidates tried. False ends the search with the current result. May be
     * NULL. */
    bool (*progress)(void *context, size_t instructions, size_t asked);
    bool faithful;  /* instructions keep their values: only values known to `value` become constants
                     */
    bool rejected;  /* also try candidates that hlo_verify rejects */
    double seconds; /* time limit of the search; 0: none */
};
#define HLO_SHRINK_INIT HLO_INIT(hlo_shrink)
/* Candidates have other or fewer results; instructions replaced by values (known ones, parameters,
 * zeros) or by their operands; no metadata; inlined calls and loops. Halves are tried first.
 * Instructions keep their names. NULL if the module itself does not fail. Free with
 * hlo_module_free. */
hlo_module *hlo_shrink(const hlo_module *module, const struct hlo_shrink *how);

/* ---- ONNX models ----
 *
 * An ONNX model is converted to a module, which is verified, printed and run like any other.
 * Sequences and optionals, which HLO lacks, are represented by arrays; hlo_onnx_value is a value of
 * ONNX. */
typedef struct hlo_onnx hlo_onnx;
typedef struct hlo_onnx_value hlo_onnx_value;

/* Reads PATH ("-": standard input). Any status but HLO_OK has a message: HLO_USAGE if the file
 * cannot be read, HLO_REJECTED if the model is malformed or unsupported, HLO_FAILED if the library
 * was built without ONNX. Free with hlo_onnx_free. */
enum hlo_status hlo_onnx_open(const char *path, hlo_onnx **out, hlo_messages *m);
void hlo_onnx_free(hlo_onnx *model);
/* An input of the graph that has no value in the model, or an output; false past the last one. */
struct hlo_onnx_port {
    const char *name;
    const char *type; /* `float[5,?]`, `seq(float[?])`, `optional(seq(int64))` */
    bool sequence, optional;
    const char *dtype; /* of its tensors, in HLO syntax; NULL: not given */
    bool ranked;       /* `rank` and `dims` are given for its tensors */
    size_t rank;
    const int64_t *dims; /* -1: dynamic */
};
bool hlo_onnx_input(const hlo_onnx *model, size_t i, struct hlo_onnx_port *out);
bool hlo_onnx_output(const hlo_onnx *model, size_t i, struct hlo_onnx_port *out);

/* A value for an input, which takes ownership of the tensors. `present` false: an empty optional.
 * NULL with messages if the input has another type. Free with hlo_onnx_value_free. */
hlo_onnx_value *hlo_onnx_value_new(const hlo_onnx *model, size_t input, bool present,
                                   hlo_literal **tensors, size_t count, hlo_messages *m);
/* A value for an input, or of an output, from a file of ONNX test data. NULL with messages. */
hlo_onnx_value *hlo_onnx_read_input(const hlo_onnx *model, size_t input, const char *path,
                                    hlo_messages *m);
hlo_onnx_value *hlo_onnx_read_output(const hlo_onnx *model, size_t output, const char *path,
                                     hlo_messages *m);
void hlo_onnx_value_free(hlo_onnx_value *v);
bool hlo_onnx_value_present(const hlo_onnx_value *v);
bool hlo_onnx_value_sequence(const hlo_onnx_value *v);
/* Number of tensors: one, or the length of a sequence. */
size_t hlo_onnx_value_count(const hlo_onnx_value *v);
const hlo_literal *hlo_onnx_value_tensor(const hlo_onnx_value *v, size_t i);

/* The module of a model: a parameter for each input, and the outputs as a tuple. `inputs`, one for
 * each input, determine dynamic sizes of the model (their elements are not used); NULL: these sizes
 * are at most `bound`. `bound` also limits sizes, trip counts and lengths that nothing else bounds.
 * NULL with messages. Free with hlo_module_free. */
hlo_module *hlo_onnx_import(const hlo_onnx *model, hlo_onnx_value *const *inputs, int64_t bound,
                            hlo_messages *m);
/* Conversion of a value to the argument of the module, and of an element of the module's result to
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
    const char *form;        /* operand names: "lhs, rhs" */
    const char *rule;        /* what it computes, in lines of Markdown */
    const char *differences; /* where implementations differ, in lines of Markdown; may be empty */
    const char *script;      /* examples: shell commands, each followed by its output in comments */
    int min_operands, max_operands; /* -1: any number */
};
struct hlo_op hlo_op_get(size_t i);
/* The attributes of an op in the order of printing; false past the end. Op hlo_op_count() stands
 * for the attributes of all ops. */
struct hlo_op_attribute {
    const char *name, *kind, *help;
    bool required;
};
bool hlo_op_attribute(size_t op, size_t i, struct hlo_op_attribute *out);
/* The keywords of an attribute; NULL past the end. */
const char *hlo_op_attribute_word(size_t op, size_t attribute, size_t i);
/* The examples of an op; false past the end. */
struct hlo_op_example {
    const char *args;   /* literals, one per line and parameter */
    const char *text;   /* the module */
    const char *result; /* in the format of `hlo run` */
    const char *dtype;  /* an element type that others may replace; NULL: none */
    const char *other;  /* a second such type; NULL: none */
};
bool hlo_op_example(size_t op, size_t i, struct hlo_op_example *out);
/* The text of an example. `dtype` and `other`, unless NULL, replace its element types. */
hlo_text hlo_op_example_text(size_t op, size_t i, const char *dtype, const char *other);
/* Builder forms: names accepted as opcodes, except with --strict. All members are NULL past the
 * end. */
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
