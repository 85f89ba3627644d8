/*
 * libhlo: read, check, print and run HLO modules.
 *
 * The command line uses nothing else. Handles are opaque; what a function returns is freed by the
 * function named in its comment. No function keeps a pointer it was given past its return, except
 * where said. Nothing here aborts: every failure is a message with a place. Functions may be
 * called from several threads at once on different handles. One file because who embeds the library
 * includes one.
 *
 * Read handles and statuses, then what you need of these, which need only what stands above them:
 *
 *   messages
 *   files and modules
 *   what stands in a module
 *   building modules
 *   modules made from modules
 *   values
 *   values, as people look at them
 *   reading and writing arrays
 *   arguments of a run
 *   code of your own behind custom calls
 *   several processes
 *   running
 *   what a run will do, and what it needs
 *   looking at runs
 *   where elements come from
 *   comparing runs
 *   cutting out and shrinking
 *   ONNX models
 *   what the language has
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

typedef struct hlo_messages hlo_messages;   /* what went wrong or looks odd, with places */
typedef struct hlo_file hlo_file;           /* the text of one file, split into modules */
typedef struct hlo_module hlo_module;       /* a parsed module */
typedef struct hlo_program hlo_program;     /* a module made ready to run */
typedef struct hlo_literal hlo_literal;     /* a value with its shape */
typedef struct hlo_arrays hlo_arrays;       /* arrays in a file or a folder, by name */
typedef struct hlo_world hlo_world;         /* the processes that share a run */

/* A byte buffer made by the library, always NUL-terminated. Free it with hlo_text_free. */
typedef struct hlo_text {
    char *data;
    size_t size;
} hlo_text;
void hlo_text_free(hlo_text *text);
/* For people, a line each: the version, the instruction set in use, and the OpenBLAS and FFTW found on this machine. */
hlo_text hlo_about(void);

enum hlo_status { /* also the exit status of the command line */
    HLO_OK = 0,
    HLO_DIFFERS = 1,   /* a comparison or test failed */
    HLO_USAGE = 2,     /* arguments, files */
    HLO_REJECTED = 3,  /* by parser or verifier */
    HLO_FAILED = 4,    /* run-time error, unsupported, out of memory */
    HLO_LIMIT = 5      /* a limit was hit */
};

/* ---- messages ---- */

hlo_messages *hlo_messages_new(void);
void hlo_messages_free(hlo_messages *m);
size_t hlo_messages_errors(const hlo_messages *m);
size_t hlo_messages_count(const hlo_messages *m); /* errors and warnings kept */
bool hlo_messages_at_end(const hlo_messages *m);  /* the first error is that the text ended too early */
/* Whether some error says that a limit was hit: what failed then counts as HLO_LIMIT, not HLO_FAILED. */
bool hlo_messages_limit(const hlo_messages *m);
struct hlo_message {
    const char *id;        /* "unknown-opcode" */
    bool error;            /* else a warning */
    const char *file;
    uint32_t line, column; /* from 1; 0: no place */
    const char *text;
};
struct hlo_message hlo_messages_get(const hlo_messages *m, size_t i);
hlo_text hlo_messages_draw(const hlo_messages *m, bool color);
/* In colours of the caller's choice: "error=1;31:note=36", with SGR parameters of the terminal for caret, error, help,
 * note, place and warning. Those not mentioned have their usual colour; anything of another form is ignored. NULL: no
 * colours. */
hlo_text hlo_messages_draw_in(const hlo_messages *m, const char *colors);
bool hlo_colors_known(const char *colors); /* whether all of it has that form */
hlo_text hlo_messages_json(const hlo_messages *m); /* an array */
/* Adds an error that has no place in a text, for failures of the caller's own. */
void hlo_messages_add(hlo_messages *m, const char *file, const char *text);
/* Adds "out of memory", as the functions of this file do when there is none. Needs no memory itself. */
void hlo_messages_no_memory(hlo_messages *m);

/* ---- files and modules ---- */

/* Reads PATH ("-": standard input) and splits it at `// -----` lines unless `strict`. The file may be compressed with gzip,
 * or be a bundle (hlo_write_bundle), or a folder of XLA's dumps that holds one module. NULL with a message when it cannot
 * be read, or holds a program in another form (StableHLO, a protocol buffer); the message then says how to get HLO. Free
 * with hlo_file_free; modules and messages may outlive it. */
hlo_file *hlo_file_open(const char *path, bool strict, hlo_messages *m);
/* The same for one module of several. PICK is its number in a file, from 1. In a folder of dumps,
 * module_0023.NAME.PHASE.txt, it is the number or NAME ("23", "NAME"), which picks the module before optimizations, or is
 * followed by a colon and a word of the phase ("23:after"). NULL: as above. */
hlo_file *hlo_file_open_module(const char *path, const char *pick, bool strict, hlo_messages *m);
hlo_file *hlo_file_of_text(const char *name, const char *text, size_t size, bool strict); /* copies */
/* A text put together from pieces of other texts, as one part. Messages refer to those other texts: to what somebody typed,
 * not to what had to be written around it. Everything is copied. NULL when the whole has 4 GiB or more. */
struct hlo_piece {
    const char *text;
    size_t size;
    const char *name;   /* of the text that the piece is from; NULL: from none */
    const char *whole;  /* that text: `text` points into it */
    size_t whole_size;
    uint32_t first_line; /* the number of its first line */
};
hlo_file *hlo_file_of_pieces(const char *name, const struct hlo_piece *pieces, size_t count);
void hlo_file_free(hlo_file *f);
/* Whether texts parsed from now on must be what XLA's parser takes; the division into parts stays as it is. */
void hlo_file_strict(hlo_file *f, bool strict);
size_t hlo_file_count(const hlo_file *f);
/* The text of one part, not NUL-terminated, and the number of its first line. */
const char *hlo_file_text(const hlo_file *f, size_t part, size_t *size, uint32_t *first_line);

/* Parses one part. NULL with messages when rejected. */
hlo_module *hlo_parse(const hlo_file *f, size_t part, hlo_messages *m);
void hlo_module_free(hlo_module *module);
/* Checks the module against the rules of the language; false with messages. */
bool hlo_verify(const hlo_module *module, hlo_messages *m);
/* XLA's canonical text. FULL keeps every value. ABRIDGED writes constants of more than ten elements as `{...}`, as XLA's
 * dumps do. SHORT is XLA's short form, without metadata, percent signs and signatures. BARE is FULL without metadata and
 * stack frame tables. EXACT is FULL with -0 in constants written as `-0.0`: XLA writes `-0`, which it reads back as 0. */
enum hlo_print_style { HLO_PRINT_FULL, HLO_PRINT_ABRIDGED, HLO_PRINT_SHORT, HLO_PRINT_BARE, HLO_PRINT_EXACT };
hlo_text hlo_print(const hlo_module *module, enum hlo_print_style style);
int64_t hlo_replica_count(const hlo_module *module);
int64_t hlo_num_partitions(const hlo_module *module);
/* Overrides the numbers of replicas and partitions that the text gives; call it before hlo_verify. */
void hlo_set_participants(hlo_module *module, int64_t replicas, int64_t partitions);
/* Parameters of the entry computation; find returns -1 when there is no such name. A parameter x whose name another
 * computation uses too is called x.1 in the module, but is also found as x if no other parameter could be meant. */
size_t hlo_param_count(const hlo_module *module);
const char *hlo_param_name(const hlo_module *module, size_t i);
hlo_text hlo_param_shape(const hlo_module *module, size_t i);
long hlo_param_find(const hlo_module *module, const char *name);
/* Line of the instruction that makes component `element` of the result, or the whole result. */
uint32_t hlo_result_line(const hlo_module *module, size_t element);

/* ---- what stands in a module ---- */

/* The computations and instructions of a module, numbered: computations in the order in which they are printed, callees
 * before callers and the entry computation last; instructions throughout the module, in the order of printing. Everything a
 * listing returns lives as long as the listing, which must be freed before the module. */
typedef struct hlo_listing hlo_listing;
hlo_listing *hlo_list(const hlo_module *module);
void hlo_listing_free(hlo_listing *l);
size_t hlo_list_count(const hlo_listing *l);        /* instructions */
size_t hlo_list_computations(const hlo_listing *l);
struct hlo_listed_computation {
    const char *name;
    bool entry;
    size_t first, count;  /* its instructions are `count` ones from `first` on */
    size_t root;          /* an instruction */
    size_t parameter_count, caller_count;
    const size_t *parameters; /* instructions, by the number of the parameter */
    const size_t *callers;    /* instructions, each once */
    uint32_t line;            /* in its file; 0: no place */
};
struct hlo_listed_computation hlo_list_computation(const hlo_listing *l, size_t i);
struct hlo_listed {
    const char *name, *op;
    const char *shape;    /* with layouts: "f32[2,3]{1,0}" */
    size_t computation;
    long parameter;       /* its number; -1: it is none */
    size_t operand_count, user_count, callee_count;
    const size_t *operands, *users; /* instructions; users each once */
    const size_t *callees;          /* computations, in XLA's order */
    uint32_t line, column;          /* in its file; 0: no place */
    const char *op_name;            /* of the metadata; "" */
    const char *where;              /* "file.py:12" of the innermost known stack frame or of the metadata; "" */
    long lost_frame;                /* the number of its stack frame, if the file lacks the table it refers to; else 0 */
};
struct hlo_listed hlo_list_inst(const hlo_listing *l, size_t i);
/* Finds an instruction by name, with or without %: by its own, or by that which it has in the text, where a second x became
 * x.1. NAME alone is looked for in the entry computation first; COMPUTATION/NAME in that computation. -1: there is none. */
long hlo_list_find(const hlo_listing *l, const char *name);
long hlo_list_find_computation(const hlo_listing *l, const char *name);
/* The instruction as it is printed, one line without its end, without ROOT. */
hlo_text hlo_list_print(const hlo_listing *l, size_t i, enum hlo_print_style style);
/* The calls in the user's program that led to the instruction, innermost first; false past the last. */
struct hlo_frame {
    const char *file, *function; /* "" where it isn't known */
    int line, column;            /* 0 likewise */
};
bool hlo_list_frame(const hlo_listing *l, size_t i, size_t k, struct hlo_frame *out);
/* What one execution costs, estimated from shapes: arithmetic operations, and bytes read and written. 0 where it
 * depends on what happens, and for instructions that call computations. */
struct hlo_cost {
    double operations, bytes;
};
struct hlo_cost hlo_list_cost(const hlo_listing *l, size_t i);

/* ---- building modules ----
 *
 * A builder holds a module under construction: computations, and instructions in them, one call each. A call makes what
 * the text of the same instruction makes, the specification's builder forms included, which become core HLO at once. A
 * mistake gives a message, with the instruction as its source text, and the call returns NULL. Operands that are NULL give
 * NULL without another message, so errors need checking only at the end.
 *
 *     hlo_builder *b = hlo_builder_new("m", messages);
 *     hlo_computation *c = hlo_computation_new(b, "main");
 *     hlo_inst *x = hlo_parameter(c, 0, "f32[2,3]", "x"), *s = hlo_parameter(c, 1, "f32[]", "s");
 *     hlo_binary(c, "add", x, s, NULL, 0);
 *     hlo_computation_finish(c, NULL);
 *     hlo_module *module = hlo_builder_finish(b, c);
 *
 * Computations and instructions belong to the builder, later to its module; nobody frees them. Shapes are texts like
 * "f32[2,3]". Each list is followed by its length; an empty list may be NULL. */
typedef struct hlo_builder hlo_builder;
typedef struct hlo_computation hlo_computation;
typedef struct hlo_inst hlo_inst;

/* Messages go to `m`, which must outlive the builder. */
hlo_builder *hlo_builder_new(const char *name, hlo_messages *m);
void hlo_builder_free(hlo_builder *b); /* frees one that will not be finished */
/* Returns the module whose entry computation this is; NULL when anything failed. The builder is freed either way. Verify
 * the module like any other; free it with hlo_module_free. */
hlo_module *hlo_builder_finish(hlo_builder *b, hlo_computation *entry);

/* Begins a computation; if the name is taken, it becomes `name.1`. Several may be open at a time. */
hlo_computation *hlo_computation_new(hlo_builder *b, const char *name);
const char *hlo_computation_name(const hlo_computation *c); /* for attributes: "to_apply=add" */
/* Ends it; from now on others may call it. ROOT NULL: the last instruction. False with messages when it is empty or its
 * parameters are not numbered 0 ... n-1. */
bool hlo_computation_finish(hlo_computation *c, hlo_inst *root);
hlo_text hlo_inst_shape(const hlo_inst *i); /* "f32[2,3]"; of NULL "" */
hlo_text hlo_inst_name(const hlo_inst *i);

/* Any instruction. `what` is what precedes the operands in the text: "add", "f32[2] convert" or "sum = f32[2] add";
 * `attributes` is what follows them: "dimensions={0}, to_apply=add", or NULL. The shape may be left out wherever the text
 * may leave it out (`hlo ops`, grammar/hlo.ebnf). */
hlo_inst *hlo_build(hlo_computation *c, const char *what, hlo_inst *const *operands, size_t count, const char *attributes);
hlo_inst *hlo_parameter(hlo_computation *c, size_t number, const char *shape, const char *name); /* name NULL: any */
hlo_inst *hlo_constant(hlo_computation *c, const hlo_literal *l); /* a copy of its value */
hlo_inst *hlo_iota(hlo_computation *c, const char *shape, int64_t dimension); /* spec: Iota */

/* spec: Element-wise binary arithmetic operations, Element-wise comparison operations. OPCODE may be any of its names:
 * "add", "sub", "less-than". The operands have the same rank, where dimensions of size 1 are repeated; or one is a scalar;
 * or one has a lower rank, and its dimension k is dimension broadcast_dimensions[k] of the other. */
hlo_inst *hlo_binary(hlo_computation *c, const char *opcode, hlo_inst *lhs, hlo_inst *rhs,
                     const int64_t *broadcast_dimensions, size_t count);
hlo_inst *hlo_unary(hlo_computation *c, const char *opcode, hlo_inst *operand); /* spec: Element-wise unary functions */
hlo_inst *hlo_compare(hlo_computation *c, hlo_inst *lhs, hlo_inst *rhs, const char *direction,
                      const int64_t *broadcast_dimensions, size_t count); /* direction: "LT" */
/* spec: Select. The predicate is pred[], or has the dimensions of the values, which are arrays (scalars among them are
 * repeated) or tuples. */
hlo_inst *hlo_select(hlo_computation *c, hlo_inst *pred, hlo_inst *on_true, hlo_inst *on_false);
hlo_inst *hlo_clamp(hlo_computation *c, hlo_inst *min, hlo_inst *operand, hlo_inst *max); /* spec: Clamp */
hlo_inst *hlo_convert(hlo_computation *c, hlo_inst *operand, const char *dtype);          /* spec: ConvertElementType */
hlo_inst *hlo_bitcast_convert(hlo_computation *c, hlo_inst *operand, const char *dtype);  /* spec: BitcastConvertType */

/* spec: Broadcast. Adds new leading dimensions of these sizes. */
hlo_inst *hlo_broadcast(hlo_computation *c, hlo_inst *operand, const int64_t *sizes, size_t count);
/* spec: BroadcastInDim. Dimension k becomes dimension dimensions[k] of the result; size 1 is repeated. */
hlo_inst *hlo_broadcast_in_dim(hlo_computation *c, hlo_inst *operand, const int64_t *sizes, size_t rank,
                               const int64_t *dimensions, size_t count);
/* spec: Collapse. Neighbouring dimensions, in order, become one. */
hlo_inst *hlo_collapse(hlo_computation *c, hlo_inst *operand, const int64_t *dimensions, size_t count);
/* spec: Reshape. */
hlo_inst *hlo_reshape(hlo_computation *c, hlo_inst *operand, const int64_t *sizes, size_t rank);
/* spec: Reshape. The dimensions are read in this order, slowest first; `order` is a permutation. */
hlo_inst *hlo_reshape_order(hlo_computation *c, hlo_inst *operand, const int64_t *order, size_t count,
                            const int64_t *sizes, size_t rank);
hlo_inst *hlo_transpose(hlo_computation *c, hlo_inst *operand, const int64_t *permutation, size_t rank); /* spec: Transpose */
hlo_inst *hlo_rev(hlo_computation *c, hlo_inst *operand, const int64_t *dimensions, size_t count); /* spec: Rev (reverse) */
hlo_inst *hlo_concat_in_dim(hlo_computation *c, hlo_inst *const *operands, size_t count, int64_t dimension); /* spec: Concatenate */
/* spec: Slice. Each list has an entry for each dimension; strides NULL: all 1. */
hlo_inst *hlo_slice(hlo_computation *c, hlo_inst *operand, const int64_t *start, const int64_t *limit,
                    const int64_t *strides, size_t rank);
/* spec: DynamicSlice, DynamicUpdateSlice. Start indices are one scalar for each dimension, or one vector. */
hlo_inst *hlo_dynamic_slice(hlo_computation *c, hlo_inst *operand, hlo_inst *const *start, size_t count,
                            const int64_t *sizes, size_t rank);
hlo_inst *hlo_dynamic_update_slice(hlo_computation *c, hlo_inst *operand, hlo_inst *update, hlo_inst *const *start, size_t count);
struct hlo_padding { int64_t low, high, interior; };
hlo_inst *hlo_pad(hlo_computation *c, hlo_inst *operand, hlo_inst *value, const struct hlo_padding *padding, size_t rank); /* spec: Pad */

/* spec: Dot. Vector by vector, matrix by vector, matrix by matrix. */
hlo_inst *hlo_dot(hlo_computation *c, hlo_inst *lhs, hlo_inst *rhs);
/* spec: DotGeneral. Contracting and batch dimensions come in pairs. */
struct hlo_dot_dimensions {
    const int64_t *lhs_contracting, *rhs_contracting;
    size_t contracting;
    const int64_t *lhs_batch, *rhs_batch;
    size_t batch;
};
hlo_inst *hlo_dot_general(hlo_computation *c, hlo_inst *lhs, hlo_inst *rhs, const struct hlo_dot_dimensions *d);

/* How windows slide. A list that is NULL, or a field that is 0, has the default given beside it. `padding` may be given by
 * name or as a list. */
enum hlo_padding_word { HLO_PADDING_LIST, HLO_PADDING_SAME, HLO_PADDING_VALID };
struct hlo_window {
    size_t rank;                           /* spatial dimensions of a convolution; otherwise all dimensions */
    const int64_t *size;                   /* NULL for a convolution: its kernel's */
    const int64_t *stride, *base_dilation, *window_dilation; /* 1 */
    enum hlo_padding_word word;
    const int64_t *low, *high;             /* HLO_PADDING_LIST: 0 */
};
/* spec: Conv (convolution), ConvWithGeneralPadding (convolution). Dimensions are in the order batch, feature, spatial for
 * lhs, and output feature, input feature, spatial for rhs, unless `attributes` has dim_labels= (b01f_01io->b01f). It may
 * also have feature_group_count= and batch_group_count=; or be NULL. */
hlo_inst *hlo_conv(hlo_computation *c, hlo_inst *lhs, hlo_inst *rhs, const struct hlo_window *w, const char *attributes);
/* spec: ReduceWindow. n operands, n initial values; for n > 1 the result is a tuple. */
hlo_inst *hlo_reduce_window(hlo_computation *c, hlo_inst *const *operands, hlo_inst *const *init, size_t n,
                            const hlo_computation *computation, const struct hlo_window *w);
/* spec: SelectAndScatter */
hlo_inst *hlo_select_and_scatter(hlo_computation *c, hlo_inst *operand, hlo_inst *source, hlo_inst *init,
                                 const hlo_computation *select, const hlo_computation *scatter, const struct hlo_window *w);
/* spec: Reduce. n operands, n initial values; for n > 1 the result is a tuple. */
hlo_inst *hlo_reduce(hlo_computation *c, hlo_inst *const *operands, hlo_inst *const *init, size_t n,
                     const hlo_computation *computation, const int64_t *dimensions, size_t count);
/* spec: Map. Scalars among static_operands are passed to every call after the elements. */
hlo_inst *hlo_map(hlo_computation *c, hlo_inst *const *operands, size_t n, const hlo_computation *computation,
                  hlo_inst *const *static_operands, size_t statics);
/* spec: Sort. Comparator NULL: ascending by the first operand; dimension -1: the last. */
hlo_inst *hlo_sort(hlo_computation *c, hlo_inst *const *operands, size_t n, const hlo_computation *comparator,
                   int64_t dimension, bool stable);

/* spec: BatchNormTraining, BatchNormInference, BatchNormGrad */
hlo_inst *hlo_batch_norm_training(hlo_computation *c, hlo_inst *operand, hlo_inst *scale, hlo_inst *offset,
                                  double epsilon, int64_t feature_index);
hlo_inst *hlo_batch_norm_inference(hlo_computation *c, hlo_inst *operand, hlo_inst *scale, hlo_inst *offset, hlo_inst *mean,
                                   hlo_inst *variance, double epsilon, int64_t feature_index);
hlo_inst *hlo_batch_norm_grad(hlo_computation *c, hlo_inst *operand, hlo_inst *scale, hlo_inst *mean, hlo_inst *variance,
                              hlo_inst *grad_output, double epsilon, int64_t feature_index);

hlo_inst *hlo_tuple(hlo_computation *c, hlo_inst *const *elements, size_t count);          /* spec: Tuple */
hlo_inst *hlo_get_tuple_element(hlo_computation *c, hlo_inst *tuple, int64_t index);       /* spec: GetTupleElement */
hlo_inst *hlo_call(hlo_computation *c, const hlo_computation *computation, hlo_inst *const *args, size_t count); /* spec: Call */
hlo_inst *hlo_while(hlo_computation *c, const hlo_computation *condition, const hlo_computation *body, hlo_inst *init); /* spec: While */
/* spec: Conditional. A pred[] chooses between two branches, an s32[] among any number; one operand for each branch. */
hlo_inst *hlo_conditional(hlo_computation *c, hlo_inst *index, const hlo_computation *const *branches,
                          hlo_inst *const *operands, size_t count);

/* spec: RngUniform, RngNormal, RngBernoulli (2017). Arrays of the given shape. */
hlo_inst *hlo_rng_uniform(hlo_computation *c, hlo_inst *a, hlo_inst *b, const char *shape);
hlo_inst *hlo_rng_normal(hlo_computation *c, hlo_inst *mu, hlo_inst *sigma, const char *shape);
hlo_inst *hlo_rng_bernoulli(hlo_computation *c, hlo_inst *mean, const char *shape);
/* spec: CrossReplicaSum. An array, or a tuple of arrays. */
hlo_inst *hlo_cross_replica_sum(hlo_computation *c, hlo_inst *operand);
/* spec: Infeed. Feeds of a computation take place in the order in which they are built. */
hlo_inst *hlo_infeed(hlo_computation *c, const char *shape);
hlo_inst *hlo_outfeed(hlo_computation *c, hlo_inst *operand); /* spec: Outfeed */

/* ---- modules made from modules ---- */

/* An edit makes a module from another one in which some instructions are replaced. What nobody needs afterwards is left
 * out: instructions, computations that nothing calls, operands of calls and fusions. An edit without any changes makes a
 * copy. Instructions are named by their numbers in a listing of the module, which must stay until the edit is finished. If
 * several changes concern one instruction, the last one counts. Messages refer to the instruction. */
typedef struct hlo_edit hlo_edit;
hlo_edit *hlo_edit_new(const hlo_listing *l);
void hlo_edit_free(hlo_edit *e); /* frees one that will not be finished */
/* The instruction becomes: a constant, which is copied (a tuple of constants, if it is a tuple; sizes that change are those
 * of the value); zeros; a new last parameter (in the entry computation only); another instruction of its computation. False
 * with a message when types or places don't fit. A parameter that becomes something else stops being one, and the others
 * are renumbered; but where its computation is called it stays, unread. */
bool hlo_edit_constant(hlo_edit *e, size_t inst, const hlo_literal *value, hlo_messages *m);
bool hlo_edit_zeros(hlo_edit *e, size_t inst, hlo_messages *m);
bool hlo_edit_parameter(hlo_edit *e, size_t inst, hlo_messages *m);
bool hlo_edit_replace(hlo_edit *e, size_t inst, size_t by, hlo_messages *m);
/* The instruction is replaced by what the computation it calls does: for a call or a fusion that computation, for a while
 * its body once, for a conditional branch number `which`. */
bool hlo_edit_inline(hlo_edit *e, size_t inst, size_t which, hlo_messages *m);
/* Makes these instructions the result of the entry computation, as a tuple if there are several. They may all be of any one
 * computation, which then becomes the entry computation; instructions there that have side effects are dropped if the
 * result does not need them. */
bool hlo_edit_root(hlo_edit *e, const size_t *insts, size_t count, hlo_messages *m);
/* Also drops parameters of the entry computation that nobody reads, and renumbers the others. */
void hlo_edit_drop_parameters(hlo_edit *e);
/* Leaves out everywhere: where instructions came from; how values are sharded over devices; what only concerns compilers
 * and changes no value. */
enum { HLO_STRIP_METADATA = 1, HLO_STRIP_SHARDING = 2, HLO_STRIP_HINTS = 4 };
void hlo_edit_strip(hlo_edit *e, unsigned what);
/* Returns the module, not verified; the edit is freed either way. NULL with messages. Free it with hlo_module_free; the
 * module that it was made from may be freed before. */
hlo_module *hlo_edit_finish(hlo_edit *e, hlo_messages *m);

/* ---- values ---- */

void hlo_literal_free(hlo_literal *l);
/* Frees each of COUNT literals, some of which may be NULL, and the array itself, which must come from malloc. */
void hlo_literals_free(hlo_literal **literals, size_t count);
/* Reads a value with its shape, `f32[2] {1, 2}`; NULL with messages. Free with hlo_literal_free. A literal always has the
 * size of its values: `f32[<=10] {1, 2}` is an array of two elements. It fits a parameter of that shape, as does any array
 * up to the bound; results have their actual sizes too. */
hlo_literal *hlo_literal_parse(const char *text, size_t size, hlo_messages *m);
/* Whether the text of a value begins with its shape. */
bool hlo_literal_has_shape(const char *text, size_t size);
hlo_text hlo_literal_print(const hlo_literal *l, bool with_shape);
hlo_text hlo_literal_shape(const hlo_literal *l);
size_t hlo_literal_leaves(const hlo_literal *l);
/* A leaf, tuples flattened in order: the spelling of its element type, its rank and sizes, and its dense row-major storage
 * (types below a byte take one byte per element). Pointers live as long as the literal. Data that came from a file or
 * hlo_literal_map must not be written to. */
struct hlo_array {
    const char *dtype;
    size_t rank;
    const int64_t *dims;
    size_t element_size, elements;
    void *data;
};
struct hlo_array hlo_literal_leaf(const hlo_literal *l, size_t i);
/* An array of this element type, filled with zeros. NULL with messages. */
hlo_literal *hlo_literal_new(const char *dtype, size_t rank, const int64_t *dims, hlo_messages *m);
/* An array in memory of the caller's, which is read and never written: dense and row-major, as in struct hlo_array, aligned
 * like its elements; a pred is 0 or 1. The memory must stay unchanged until RELEASE (or NULL) is called, when the literal
 * is freed. NULL with messages; RELEASE is not called then. */
hlo_literal *hlo_literal_map(const char *dtype, size_t rank, const int64_t *dims, const void *data,
                             void (*release)(void *context), void *context, hlo_messages *m);
/* Takes ownership of the elements. NULL when there is no memory; the elements then stay the caller's. */
hlo_literal *hlo_literal_tuple(hlo_literal **elements, size_t count);
/* Components of a tuple; 0 for anything else. They live as long as the tuple. */
size_t hlo_literal_count(const hlo_literal *l);
const hlo_literal *hlo_literal_element(const hlo_literal *l, size_t i);

/* When do elements agree? Numbers must be equal (NaN with NaN), or floats within a bound. Integers are always compared
 * exactly. */
struct hlo_tolerance {
    double abs, rel;      /* |actual - expected| <= abs + rel * |expected| */
    int64_t ulp;          /* distance in representable values of the type; 0: not used */
    bool zeros;           /* -0 is not 0, where no bound is given */
    bool bits;            /* bit for bit, NaN payloads included */
};
/* True when shapes and values agree. Otherwise `why`, unless NULL, says where they first differ, both values, and the worst
 * error. */
bool hlo_literal_compare(const hlo_literal *actual, const hlo_literal *expected, const struct hlo_tolerance *t, hlo_text *why);

/* ---- values, as people look at them ---- */

hlo_literal *hlo_literal_copy(const hlo_literal *l);
/* A piece of an array, cut as numpy does: `[0,:4]`, `[..., -1]`, `[::2, 3:]`; an index removes its dimension. For a tuple
 * the first number chooses the component: `[1][0,:4]`. NULL with a message. */
hlo_literal *hlo_literal_slice(const hlo_literal *l, const char *text, hlo_messages *m);
/* Statistics of all elements of all leaves; for complex numbers of the absolute values. min, max, mean and deviation are
 * over finite elements. */
struct hlo_stats {
    uint64_t elements, finite, nan, positive_inf, negative_inf, zero, denormal;
    double min, max, mean, deviation; /* NaN where nothing is finite */
    int64_t first_nan, first_inf;     /* row-major, through all leaves; -1: there is none */
};
struct hlo_stats hlo_literal_stats(const hlo_literal *l);
/* "f32[4096] min -1.2 max 3.4 mean 0.01 nan 0 inf 0": one line, without its end; for a single element its value. */
hlo_text hlo_literal_summary(const hlo_literal *l);
/* {"elements":2,"finite":1,"nan":1,...}: the fields by name; numbers that are not finite are strings. */
hlo_text hlo_stats_json(const struct hlo_stats *s);
/* How values are written. Zero means the default, given in parentheses. */
struct hlo_view {
    size_t most;      /* a dimension with more elements has its middle left out (1000); SIZE_MAX: never */
    size_t edge;      /* elements then kept at both ends of the dimension (3) */
    int precision;    /* digits; 0: as many as are needed to read the same number back */
    bool hex;         /* floats as 0x1.8p+1 */
    bool bits;        /* and the bits of each */
    size_t width;     /* of a line, in columns (80) */
};
/* With the shape, in a form that can be read back if nothing is left out; if something is, with statistics. V NULL:
 * defaults. */
hlo_text hlo_literal_show(const hlo_literal *l, const struct hlo_view *v);
/* As JSON: {"shape":...,"values":nested lists}. NaN and infinities are strings, complex numbers are pairs; a tuple has
 * "elements", one object each. All elements are written, unless there are more than `most` and that is given: then "stats"
 * replaces "values". */
hlo_text hlo_literal_json(const hlo_literal *l, const struct hlo_view *v);
/* A picture made of characters, in lines. Heat maps show two dimensions (the last ones, at index 0 of the others), curves
 * the last dimension, histograms all elements. What is larger than the canvas is averaged by blocks; NaN and infinities are
 * red and magenta, or N and I. Complex numbers are shown by their absolute value, of a tuple the first array. C NULL:
 * defaults. */
enum hlo_plot { HLO_PLOT_AUTO, HLO_PLOT_HEAT, HLO_PLOT_HISTOGRAM, HLO_PLOT_CURVE };
struct hlo_canvas {
    size_t width, height; /* in characters; 0: 72 by 20 */
    bool color, utf8;
};
hlo_text hlo_literal_plot(const hlo_literal *l, enum hlo_plot kind, const struct hlo_canvas *c);
/* The heat map as a PNG file, with one or more pixels per element (fewer above 8,192 a side); NaN is red. False with a
 * message. */
bool hlo_write_png(const char *path, const hlo_literal *l, hlo_messages *m);
/* How two values of one shape differ: what hlo_literal_compare says, in numbers. The worst errors are over all elements
 * that are finite on both sides, within the tolerance or not; for integers the error is their distance. */
struct hlo_difference {
    bool comparable;            /* false: the shapes differ, and nothing below is valid */
    uint64_t elements, outside; /* outside the tolerance */
    uint64_t not_finite;        /* of those: one side is infinite or NaN, and the other is something else */
    double worst_abs, worst_rel;
    uint64_t worst_ulp;
    size_t worst_count;         /* of those outside, ten at most: not finite ones first, then by absolute error */
    struct hlo_differing {
        size_t leaf;
        int64_t index;           /* row-major in its leaf */
        double actual, expected; /* for complex numbers the absolute value */
        double abs, rel;         /* NaN where something is not finite */
        uint64_t ulp;            /* UINT64_MAX likewise */
    } worst[10];
    uint64_t decades[32];       /* elements with relative error 0, up to 1e-29, 1e-28, ... 1; the last: beyond that, or not finite */
};
struct hlo_difference hlo_literal_difference(const hlo_literal *actual, const hlo_literal *expected, const struct hlo_tolerance *t);
/* The same for people, in lines: how many differ, the worst elements, a histogram of the errors. The literals must be those
 * that were compared; `names` head their columns (NULL: "is" and "expected"). */
hlo_text hlo_difference_print(const struct hlo_difference *d, const hlo_literal *actual, const hlo_literal *expected,
                              const char *const names[2]);
hlo_text hlo_difference_json(const struct hlo_difference *d); /* the fields by name */

/* ---- reading and writing arrays ---- */

/* Opens what PATH names. How the name ends tells what it is: .npy, one array, called ""; .npz, an archive; safetensors;
 * .bin and .raw, the bytes of one array as in struct hlo_array and nothing else, called "" too; or a folder, where array x
 * is the file x.npy or x.bin. Any other name counts as an .npz archive. NULL with a message.
 * In files of 64 KiB and more, arrays that are stored as they are in memory are used in place, mapped. Others are copied,
 * as are those of type pred, of types below a byte, and those not aligned like their elements. So a file may be as large as
 * the address space, but must not get shorter while literals made from it live: see hlo_guard_mapped_files. */
hlo_arrays *hlo_arrays_open(const char *path, hlo_messages *m);
void hlo_arrays_free(hlo_arrays *s); /* literals made from it may outlive it */
/* If another program makes a mapped file shorter, reading beyond its new end raises SIGBUS. After this call, that ends the
 * process with a message on standard error that names the file, and status 4; any other SIGBUS does what it did before. */
void hlo_guard_mapped_files(void);
/* Whether the name ends like one of these, or is a folder's. */
bool hlo_arrays_known(const char *path);
/* Whether arrays in it have names, so that it can hold the values of all parameters. */
bool hlo_arrays_many(const char *path);
bool hlo_arrays_has(const hlo_arrays *s, const char *name);
/* DTYPE: the element type of raw bits; NULL: whatever the file says it is. */
hlo_literal *hlo_arrays_get(const hlo_arrays *s, const char *name, const char *dtype, hlo_messages *m);
bool hlo_write_npy(const char *path, const hlo_literal *l, hlo_messages *m);
bool hlo_write_npz(const char *path, const char *prefix, const hlo_literal *l, hlo_messages *m);
/* The values of several participants: `prefix`0@0, `prefix`0@1, ... */
bool hlo_write_npz_all(const char *path, const char *prefix, const hlo_literal *const *l, size_t count,
                       hlo_messages *m);
/* The same for any kind of file of arrays, by the end of its name: .npz; .safetensors; for a single array also .npy, or
 * .bin and .raw, its elements alone. */
bool hlo_write_arrays(const char *path, const char *prefix, const hlo_literal *const *l, size_t count, hlo_messages *m);
bool hlo_write_knows(const char *path); /* whether the name ends like one of those */
bool hlo_write_npz_named(const char *path, const char *const *names, const hlo_literal *const *arrays, size_t count,
                         hlo_messages *m);
/* A run in one file, an .npz archive: `module`, the text of its module as bytes; arg0, arg1, ..., the leaves of its
 * arguments; out0, out1, ..., those of its results. With several participants each has its own, arg0@0. Open such a file
 * with hlo_file_open; read values with hlo_arrays_param and "arg", and hlo_read_result and "out". */
struct hlo_bundle {
    const char *text;
    size_t size;
    size_t participants, count;        /* `count` arguments for each */
    const hlo_literal *const *args;    /* of one participant after the other; NULL where one is missing */
    const hlo_literal *const *results; /* one for each participant, or NULL: there are none */
};
bool hlo_write_bundle(const char *path, const struct hlo_bundle *b, hlo_messages *m);
/* Writes bytes to a file, all or nothing. */
bool hlo_write_text(const char *path, const char *text, size_t size, hlo_messages *m);
/* The same piece by piece: the file appears when it is closed, and only with `keep`. Things that aren't files
 * (/dev/stdout), and files on systems where a file can't be without a name, are written directly. NULL and false with a
 * message. */
typedef struct hlo_output hlo_output;
hlo_output *hlo_output_open(const char *path, hlo_messages *m);
bool hlo_output_put(hlo_output *o, const char *text, size_t size, hlo_messages *m);
bool hlo_output_close(hlo_output *o, bool keep, hlo_messages *m); /* frees it in any case */

/* ---- arguments of a run ---- */

/* The value of a parameter. The leaves of all parameters, flattened in order, are called `prefix`0, `prefix`1, ..., or by
 * the parameter's own name, with .K for component K of a tuple. The first name that exists counts; a name followed by
 * @PARTICIPANT comes before the name alone. An array without a name fits any parameter. Raw bits take the parameter's type. */
hlo_literal *hlo_arrays_param(const hlo_arrays *s, const char *prefix, const hlo_module *module, size_t param,
                              size_t participant, hlo_messages *m);
/* The same for a file that is opened just for this. */
hlo_literal *hlo_read_param(const char *path, const char *prefix, const hlo_module *module, size_t param,
                            size_t participant, hlo_messages *m);
/* The value of a parameter as people write it: a literal, with or without its shape, or `@FILE`: a file of arrays, known by
 * its name, which is read by hlo_read_param with the prefix "arg", or else the text of a literal. NULL with messages, also
 * when the shape isn't the parameter's. */
hlo_literal *hlo_read_argument(const hlo_module *module, size_t param, size_t participant, const char *text, hlo_messages *m);
/* Where VALUE begins in NAME=VALUE; 0: the text has no name. */
size_t hlo_argument_value(const char *text);
/* The result of the entry computation, from leaves called `prefix`0, `prefix`1, ... */
hlo_literal *hlo_read_result(const char *path, const char *prefix, const hlo_module *module, size_t participant,
                             hlo_messages *m);
/* Reproducible random numbers by the recipe of peers.py; `// peers:` hints in the text are obeyed. */
hlo_literal *hlo_random_param(const hlo_module *module, size_t param, uint64_t seed, hlo_messages *m);
/* A made-up value for a parameter of a verified module that suits the program. The parameter is followed through everything
 * that passes it on, such as tuples, calls and loops. Indices are within bounds, and sorted or all different where that is
 * promised; operands of logarithms and roots are positive, divisors are not 0, matrices that get factored are well
 * conditioned; loops make a few iterations, and reductions start from their identity. Floats are at most 1, and smaller
 * before sums of many products. IOTA counts 0, 1, 2, ... and starts again at the end of what the type or the use allows.
 * EDGE also uses NaN, infinities, -0, the least and the largest numbers (these only where nothing is summed, since such a
 * sum depends on the order), and indices out of bounds. The same seed gives the same numbers on every machine. */
enum hlo_fake { HLO_FAKE_ZEROS, HLO_FAKE_ONES, HLO_FAKE_IOTA, HLO_FAKE_UNIFORM, HLO_FAKE_NORMAL, HLO_FAKE_EDGE };
hlo_literal *hlo_fake_param(const hlo_module *module, size_t param, enum hlo_fake kind, uint64_t seed, hlo_messages *m);

/* ---- code of your own behind custom calls ---- */

/* Add everything before a program is planned with it. A target found here takes precedence over its meaning in HLO, and
 * what was added later over what was added before. Several participants of a run may call at the same time, each from its
 * thread. */
typedef struct hlo_targets hlo_targets;
hlo_targets *hlo_targets_new(void);
void hlo_targets_free(hlo_targets *t);
/* Every function that the shared library at PATH defines becomes the target of that name, called as XLA:CPU does for the
 * api_version= of the instruction. It runs in this process. If it calls XlaCustomCallStatusSetSuccess and
 * XlaCustomCallStatusSetFailure, the program must export functions of these names
 * (-Wl,--export-dynamic-symbol=XlaCustomCall*): the static library has them; with the shared one write them yourself, a
 * line each that calls hlo_custom_call_status. False with a message. */
bool hlo_targets_add_library(hlo_targets *t, const char *path, hlo_messages *m);
/* What a call reports: NULL: all is well; otherwise what went wrong, `size` bytes or up to a NUL. */
void hlo_custom_call_status(void *status, const char *message, size_t size);
/* "NAME=identity": leaf k of the result is leaf k of the operands. "NAME=zeros". "NAME=COMMAND": /bin/sh runs it for each
 * call; it reads the leaves of the operands as literals, one per line, writes those of the result, and exits with status 0
 * if all went well. Its environment has HLO_TARGET, HLO_CONFIG, HLO_RESULT (the shape) and HLO_PARTICIPANT. A NAME that
 * ends in `*` stands for all names with that beginning; `*` alone for whatever nothing else, HLO included, has a meaning
 * for. False with a message. */
bool hlo_targets_add_rule(hlo_targets *t, const char *rule, hlo_messages *m);
/* Leaves, tuples flattened in order, as in hlo_literal_leaf; tokens have no data. */
struct hlo_call {
    const char *target;
    const char *config; /* the text of backend_config=, and its size */
    size_t config_size;
    size_t participant, operand_count, result_count;
    const struct hlo_array *operands; /* read-only */
    const struct hlo_array *results;  /* to be filled in; they hold zeros, or the operand they alias */
};
/* Returns false after writing what went wrong to `why`, which is empty at first and has room for `room` bytes. */
typedef bool hlo_call_fn(void *context, const struct hlo_call *call, char *why, size_t room);
void hlo_targets_add_function(hlo_targets *t, const char *name, hlo_call_fn *fn, void *context);

/* ---- several processes ----
 *
 * Participants run as threads of one process, unless there is a world: several processes of the same program, called ranks,
 * that share them. Participant p runs on rank p modulo the number of ranks, with the same bits as otherwise. All ranks do
 * the same: open the world, read the module, plan it and run it, and nothing else while a run goes on.
 *
 *     hlo_world *w = hlo_world_open("mpi", messages);
 *     struct hlo_run_options options = {.world = w};
 *     ... hlo_plan, hlo_world_agree, hlo_run_all: results are on rank 0 ...
 *     hlo_world_close(w); */
/* "mpi": the processes that mpirun started, or just this one; only once in the life of a process, unless it begins and ends
 * MPI itself. NULL with messages. */
hlo_world *hlo_world_open(const char *kind, hlo_messages *m);
void hlo_world_close(hlo_world *w); /* when all ranks are done */
int hlo_world_rank(const hlo_world *w); /* NULL: 0 */
int hlo_world_size(const hlo_world *w); /* NULL: 1 */
bool hlo_world_runs(const hlo_world *w, size_t participant); /* whether it runs on this rank. NULL: true */
/* Called by all ranks. The others get the text of rank 0, to be freed with hlo_text_free. False: rank 0 has none (its data
 * is NULL). World NULL: returns whether there is a text. */
bool hlo_world_share(hlo_world *w, hlo_text *text);
/* Called by all ranks before a run, since none may begin before each of them can. Returns the greatest `status` that any
 * rank passed, and in `who` (unless NULL) the first rank that passed it. World NULL: `status` itself. */
int hlo_world_agree(hlo_world *w, int status, int *who);

/* ---- running ---- */

enum hlo_elided { HLO_ELIDED_REFUSE, HLO_ELIDED_ZERO, HLO_ELIDED_IOTA, HLO_ELIDED_RANDOM };
struct hlo_run_options {
    bool plain;              /* use the plain kernels: each op by its formula, with the same bits on every machine */
    enum hlo_elided elided;  /* how constants written `{...}` are filled */
    uint64_t seed;           /* of HLO_ELIDED_RANDOM */
    const hlo_targets *targets; /* of custom calls; must outlive the program. NULL: none but HLO's */
    /* Limits on one run, 0 for none. Exceeding one is an error; see hlo_messages_limit. They are checked between
     * instructions, so a single long one is not cut short. */
    uint64_t max_steps;  /* instructions run and iterations of loops */
    uint64_t max_trip;   /* iterations of any one loop */
    uint64_t max_memory; /* bytes of values alive at once */
    double timeout;      /* seconds */
    int threads;         /* threads that share large kernels; 0: as many as there are processors. Results are the same for any number */
    hlo_world *world;    /* the processes that run the participants; must outlive the program. NULL: threads of this process */
    bool only_first;     /* plan for the first participant alone: a program to look at, not to run */
    bool observed;       /* so that every instruction can be observed: hlo_observe */
};
/* Makes a verified module ready to run by all its participants; the module must outlive the program.
 * NULL with messages. */
hlo_program *hlo_plan(const hlo_module *module, const struct hlo_run_options *options, hlo_messages *m);
void hlo_program_free(hlo_program *p);
/* Replicas times partitions; participant = replica * partitions + partition. */
enum { HLO_MAX_PARTICIPANTS = 4096 };
size_t hlo_participants(const hlo_program *p);
/* What infeed and outfeed, and sends and receives to and from the host, are connected to. Called from the threads of the
 * run. A participant makes one call at a time; calls of different participants run at the same time, so what they share
 * needs a lock, which nobody should hold for long. Report what goes wrong in `m`, which belongs to this call alone; if
 * feeds of several participants go wrong, the messages of the first are kept. Items have their actual sizes: infeed into
 * `f32[<=10]` takes up to ten elements, outfeed of it gives as many as there are. */
typedef struct hlo_feed_call hlo_feed_call;
/* Whether this call should stop waiting: the run has failed elsewhere, or its time is over. That is reported elsewhere; the
 * call just returns NULL or false. Calls that wait should ask a few times a second. */
bool hlo_feed_stopped(const hlo_feed_call *call);
struct hlo_feeds {
    void *context;
    /* The next item for a participant; the run takes ownership. NULL: there is none, or not a valid one. */
    hlo_literal *(*infeed)(void *context, size_t participant, const hlo_feed_call *call, hlo_messages *m);
    /* Takes an item from a participant; false ends the run. NULL instead of a function: items are dropped. */
    bool (*outfeed)(void *context, size_t participant, const hlo_literal *item, const hlo_feed_call *call, hlo_messages *m);
};

/* Runs the entry computation, on a thread for each participant if there are several. `args` has `count` literals, one for
 * each parameter, for each participant in turn; `results` has one place for each participant, to be freed with
 * hlo_literal_free. False with messages, and no results, when any participant fails or waits for ever. `feeds` may be NULL.
 * Dynamic dimensions of a result have the size that they turned out to have; fixed ones are complete, with zeros where
 * nothing was stored.
 * In a world all ranks call it. Arguments of participants on other ranks are ignored, rank 0 gets all results and the
 * others NULL, and the feeds of rank 0 serve everyone; return value and messages are the same on all ranks. */
bool hlo_run_all(hlo_program *p, const hlo_literal *const *args, size_t count, const struct hlo_feeds *feeds,
                 hlo_literal **results, hlo_messages *m);
/* Like hlo_run_all, with one literal for each parameter, which all participants get. NULL with messages, or where another
 * rank has the results; otherwise the result of participant 0. */
hlo_literal *hlo_run(hlo_program *p, const hlo_literal *const *args, size_t count, hlo_messages *m);

/* Ends the current run, or else the next one, at its next instruction or iteration, with the message `run-interrupted`. It
 * may be called from a signal handler and from any thread. */
void hlo_interrupt(hlo_program *p);

/* How far the current run has come, for the first participant here. It may be called wherever hlo_interrupt may. */
struct hlo_progress {
    size_t done, count;   /* steps of the entry computation */
    const char *name;     /* of the current instruction; lives as long as the module */
    size_t name_size;     /* 0: the first step has not begun */
    long long iteration;  /* of that instruction, if it is a loop, from 0; -1: it is none, or iterations are not counted */
};
struct hlo_progress hlo_run_progress(const hlo_program *p);

/* ---- what a run will do, and what it needs ---- */

/* The memory of a run by one participant, in bytes. It is foreseen by going through the program once without doing its
 * work, and is the most that may be needed: all branches of a conditional count, and sizes that change at run time count as
 * their bounds. Kernels need some scratch memory besides. */
struct hlo_memory {
    uint64_t arguments, results; /* of the entry computation */
    uint64_t constants;
    bool foreseen;     /* false: too much depends on values; `peak` is 0 */
    bool exact;        /* a run needs exactly that; false if there are branches, loops that might not run, sizes that change or the like */
    uint64_t peak;     /* bytes of values alive at once, results included, arguments and constants not */
    uint64_t kernels;  /* the most scratch memory that a kernel takes, as far as kernels (sorts) say so */
    uint64_t measured; /* the same as `peak`, as it was in the last run; 0: there was none. What the first run does for
                        * all counts in each */
};
struct hlo_memory hlo_program_memory(const hlo_program *p);
/* The plan, for people or as JSON: the steps of each computation in order, which kernel does each, where results live and
 * until which step, what the passes did, and the memory. */
hlo_text hlo_plan_print(const hlo_program *p, bool json);

/* What the runs of a program spend their time on: a profile is told of every step of the first participant here, from when
 * it is made until it is freed, which must happen before the program is freed. It may only be asked while no run goes on. A
 * program can have one profile at a time. */
typedef struct hlo_profile hlo_profile;
hlo_profile *hlo_profile_new(hlo_program *p);
void hlo_profile_free(hlo_profile *f);
/* A step, and what all runs together spent on it; false past the end. Steps are in the order of the plan. */
struct hlo_profile_step {
    const char *name, *op, *computation; /* live as long as the profile */
    const char *what;                    /* op and kernel: "sort: ascending by operand 0, a f32" */
    size_t step;                         /* in its computation */
    uint64_t calls;
    double seconds;           /* of all calls, without the steps within this one */
    double median;            /* of one call, likewise */
    double operations, bytes; /* of one call, estimated from shapes; 0 where it depends on what happens */
};
bool hlo_profile_step(const hlo_profile *f, size_t i, struct hlo_profile_step *out);
/* Each execution of a step, in the order in which they ended, up to a million; false past the end. */
struct hlo_profile_event {
    size_t step;            /* for hlo_profile_step */
    double start, duration; /* in seconds; start: since the profile was made; duration: with the steps within */
};
bool hlo_profile_event(const hlo_profile *f, size_t i, struct hlo_profile_event *out);

/* ---- looking at runs ---- */

/* A program that was planned with `observed` does all instructions of all computations that run on whole values one by one,
 * and tells an observer of each. Nothing is fused, merged, left out or done in place, so it takes more time and memory;
 * values are those of any other run, up to the rounding of sums. Computations that are applied to elements (reducers,
 * comparators, ...) are not observed. */
struct hlo_sight {
    size_t inst;         /* its number in a listing of the module */
    size_t participant;
    uint64_t number;     /* instructions that this participant was shown before this one, in this run */
    double seconds;      /* time it took; 0 before it is done, and for what is only another name (tuples, parameters) */
    size_t depth;        /* number of instructions (while, call, ...) that it runs within */
    const struct hlo_within {
        size_t inst;
        int64_t iteration; /* of a while, from 0; -1 in its condition. 0 for others */
    } *within;           /* outermost first */
    void *run;           /* for the functions below */
};
/* Operand k of the instruction, and its value once it is done: dense and complete, with its actual sizes. They are not
 * copies, and live until the call returns (the value until it is set); keep one with hlo_literal_copy. A token is an empty
 * tuple. NULL: there is no memory, which ends the run. */
const hlo_literal *hlo_sight_operand(const struct hlo_sight *s, size_t k);
const hlo_literal *hlo_sight_value(const struct hlo_sight *s);
/* Replaces the value by another one, which is copied; before the instruction is done, this is used instead of doing it.
 * False with a message when the shape does not fit. */
bool hlo_sight_set(const struct hlo_sight *s, const hlo_literal *l, hlo_messages *m);
/* What can be wrong with numbers. An infinity made of finite operands is an overflow, unless the operation has a pole
 * there, as log has at 0. */
enum hlo_oddity { HLO_ODD_NAN = 1, HLO_ODD_INF = 2, HLO_ODD_OVERFLOW = 4, HLO_ODD_DENORMAL = 8 };
struct hlo_origin {
    enum hlo_oddity what;
    size_t leaf;    /* of its value */
    int64_t index;  /* the first such element, row-major in its leaf */
    uint64_t count; /* number of such elements in its value */
};
/* Whether an instruction that is done has made one of the oddities in `what` (several, ored) from operands that have none:
 * from the elements that an element is made of, for elementwise instructions; otherwise from all operands. A NaN in a
 * constant counts as made by the instruction that reads it. Instructions that only rename values, or call computations that
 * are observed themselves, make none. Gives the first kind that is found, in the order above. */
bool hlo_sight_origin(const struct hlo_sight *s, unsigned what, struct hlo_origin *out);
/* Reports that in a message at the instruction, an error (`stopped-on`) or a warning (`warned-on`), with notes on the
 * operands: their elements at the same index, or their statistics. If `m` is also the messages of the run, an error makes
 * the run fail. */
void hlo_sight_say(const struct hlo_sight *s, const struct hlo_origin *o, bool error, hlo_messages *m);
struct hlo_observer {
    void *context;
    /* Called before an instruction is done, and when it is; NULL: not wanted. False ends the run, without a message. With
     * several participants, calls come one at a time. */
    bool (*before)(void *context, const struct hlo_sight *s);
    bool (*after)(void *context, const struct hlo_sight *s);
};
/* Sets the observer of all later runs, which must stay until then; NULL: none. Only for programs planned with `observed`. */
void hlo_observe(hlo_program *p, const struct hlo_observer *o);
/* Runs MODULE only for OBSERVER to look at: plans it with OPTIONS and `observed`, runs it, and frees the results. False
 * with messages. */
bool hlo_run_observed(const hlo_module *module, const struct hlo_run_options *options, const struct hlo_observer *observer,
                      const hlo_literal *const *args, size_t count, hlo_messages *m);

/* ---- where elements come from ----
 *
 * An element of an instruction's value is made of elements of its operands. Those are given as boxes: whatever lies outside
 * all of them can be changed without changing the element. Where values decide which elements these are (indices,
 * predicates, the order of a sort), the values are asked for; where they are not known, the boxes are larger. */
enum { HLO_MAX_RANK = 32 }; /* of arrays that are run */
struct hlo_element {
    size_t inst;                     /* in a listing of the module */
    size_t leaf;                     /* of its value: tuples flattened in order, tokens among them */
    int64_t index[HLO_MAX_RANK];     /* has as many entries as the leaf has dimensions */
    const struct hlo_within *within; /* where it was done, outermost first, as observers see it; may be NULL in the entry */
    size_t depth;                    /* computation */
};
enum hlo_source_place {
    HLO_SOURCE_HERE,    /* an operand */
    HLO_SOURCE_INSIDE,  /* the root of a computation that the instruction calls; of a while in `iteration` */
    HLO_SOURCE_OUTSIDE, /* what the caller passed to this parameter: one level less of `within` */
    HLO_SOURCE_BESIDE   /* the value from another `iteration` of the loop around it, which replaces that of the last level */
};
struct hlo_source { /* the elements start, start + step, ... in each dimension of a leaf */
    size_t inst, leaf, rank;
    long operand;            /* number of the operand, of the instruction or of its caller; -1: none */
    enum hlo_source_place place;
    int64_t iteration;
    int64_t start[HLO_MAX_RANK], count[HLO_MAX_RANK], step[HLO_MAX_RANK]; /* a step may be negative */
    size_t walk[HLO_MAX_RANK]; /* the dimensions in the order in which elements are counted, slowest first */
    bool product;            /* element n is multiplied by element n of the next source */
    const char *role;        /* "lhs", "window", "index"; lives for ever */
};
/* What is known of a run. Either function may be NULL, and may return that something isn't known: NULL, -1. */
struct hlo_known {
    void *context;
    const hlo_literal *(*value)(void *context, size_t inst, const struct hlo_within *within, size_t depth);
    int64_t (*iterations)(void *context, size_t inst, const struct hlo_within *within, size_t depth); /* of a while */
};
/* Returns how many sources an element has, and writes the first `most` of them to `out`. -1 with a message when there is no
 * such element. What came from outside the module, and what is made of nothing (constants, iota), has no sources. */
long hlo_why(const hlo_listing *l, const struct hlo_element *e, const struct hlo_known *known, struct hlo_source *out, size_t most,
             hlo_messages *m);
/* An element, its sources, their sources, and so on, as a tree: in lines for people, or as a JSON object. Values that are
 * only passed on (tuples, parameters, calls) make no level of it. View NULL: defaults, given in parentheses. */
struct hlo_why_view {
    size_t levels;        /* steps back (1) */
    size_t most;          /* elements of a box that are shown: the largest, NaN and infinities first (4) */
    struct hlo_view view; /* how values are written */
    bool json;
};
hlo_text hlo_why_print(const hlo_listing *l, const struct hlo_element *e, const struct hlo_known *known, const struct hlo_why_view *v);
/* The same for an instruction that an observer looks at, done or not, from the values it has: one level. L: a listing of
 * the module. */
hlo_text hlo_sight_why(const struct hlo_sight *s, const hlo_listing *l, size_t leaf, const int64_t *index, const struct hlo_why_view *v);

/* A run whose values can be asked for afterwards, for the first participant. Some values are kept; for others it is run
 * again. L, OPTIONS, HOW and ARGS, which are as for hlo_run_all, must stay. NULL with messages when it can't be run; if it
 * fails on the way, there are messages, and the values up to there. Free with hlo_recorded_free. */
typedef struct hlo_recorded hlo_recorded;
struct hlo_recording {
    uint64_t most; /* bytes of values that are kept; 0: 1 GiB */
    /* Called around each run, for hlo_interrupt; may be NULL. */
    void *context;
    void (*begin)(void *context, hlo_program *p);
    void (*end)(void *context);
};
hlo_recorded *hlo_record(const hlo_listing *l, const struct hlo_run_options *options, const hlo_literal *const *args, size_t count,
                         const struct hlo_recording *how, hlo_messages *m); /* HOW NULL: defaults */
void hlo_recorded_free(hlo_recorded *r);
/* Reads NAME or COMPUTATION/NAME; then @ITERATION of the loop that it is in, or @OUTER.INNER for several (without it, the
 * last time); then [COMPONENT] of a tuple, and [I,J] of the element, where negative numbers count from the end. Without an
 * index: the first NaN or infinity, if there is one, or a scalar's element. False with messages. What E points to lives as
 * long as the recorded run. */
bool hlo_recorded_find(hlo_recorded *r, const char *text, struct hlo_element *e, hlo_messages *m);
/* Printed as by hlo_why_print. */
hlo_text hlo_recorded_why(hlo_recorded *r, const struct hlo_element *e, const struct hlo_why_view *v);

/* ---- comparing runs ---- */

/* Which instruction of one module corresponds to which of another, each to at most one. */
typedef struct hlo_pairing hlo_pairing;
enum hlo_paired {
    HLO_UNPAIRED,
    HLO_PAIRED_NAME,      /* same name, op and shape */
    HLO_PAIRED_METADATA,  /* same op_name, op and shape */
    HLO_PAIRED_PLACE,     /* the k-th of their op and shape; parameters by number */
    HLO_PAIRED_OTHERWISE, /* same name, but another op or shape; and results */
};
struct hlo_pair {
    long other; /* -1: there is none */
    enum hlo_paired how;
};
hlo_pairing *hlo_pair(const hlo_listing *a, const hlo_listing *b); /* both must outlive the pairing */
void hlo_pairing_free(hlo_pairing *p);
struct hlo_pair hlo_pair_of_a(const hlo_pairing *p, size_t i);
struct hlo_pair hlo_pair_of_b(const hlo_pairing *p, size_t i);
/* Whether instruction i of A differs from its partner in op, shape, attributes, or operands that aren't partners. The
 * values of constants of more than ten elements are not compared. */
bool hlo_pair_changed(const hlo_pairing *p, size_t i);

/* Two programs, planned with `observed`, to be run on the same arguments. Values are kept up to `room` bytes at a time (0:
 * 512 MiB); if that is not enough for all values that differ in any bit, the programs run several times. */
struct hlo_comparison {
    hlo_program *a, *b;
    const hlo_pairing *pairing;       /* of listings of their modules */
    const hlo_literal *const *args;   /* as in hlo_run_all */
    size_t count;
    struct hlo_tolerance tolerance;   /* the values of A are the expected ones */
    uint64_t room;
};
struct hlo_divergence {
    uint64_t compared, unequal; /* values of paired instructions, and how many of those differ in any bit */
    bool found;                 /* one is outside the tolerance: the first in the order of A */
    size_t participant, a, b;   /* instructions */
    uint64_t occurrence;        /* how often it had been done before, in loops */
    uint64_t number;            /* number of A's values before it; values made within an instruction come before its own */
    hlo_literal *value_a, *value_b;
    struct hlo_difference difference;
    bool results_agree;         /* the programs' results agree; otherwise below is the first participant whose results don't: */
    struct hlo_difference results;
    hlo_literal *result_a, *result_b;
};
/* False with messages when a run fails; otherwise free it with hlo_divergence_free. */
bool hlo_diverge(const struct hlo_comparison *c, struct hlo_divergence *out, hlo_messages *m);
void hlo_divergence_free(struct hlo_divergence *d);

/* ---- cutting out and shrinking ---- */

/* An instruction as a module that runs alone, with what it needs from its computation. */
struct hlo_extract {
    size_t inst;        /* in a listing of the module */
    size_t height;      /* levels of instructions above it that stay: 0: it alone; SIZE_MAX: all */
    uint64_t execution; /* for an instruction that is done several times: which time, from 0 */
    bool parameters;    /* what is cut off becomes parameters, and nothing is run */
};
/* What is cut off, parameters included, becomes constants with the values from a run of the module on ARGS, which are as
 * for hlo_run_all, by participant 0, at the time when the instruction was done. The run ends there. NULL with messages;
 * free it with hlo_module_free. */
hlo_module *hlo_extract(const hlo_listing *l, const struct hlo_extract *what, const struct hlo_run_options *options,
                        const hlo_literal *const *args, size_t count, hlo_messages *m);

/* What the search for the smallest module that still fails has to know. */
struct hlo_shrink {
    void *context;
    bool (*bad)(void *context, const hlo_module *candidate); /* whether it still fails */
    /* The value that an instruction of the module had in a run, the first time that it was done; NULL: not known. It must
     * stay. */
    const hlo_literal *(*value)(void *context, const char *name);
    /* Called before a candidate is checked, with the number of instructions of the smallest module so far and the number of
     * candidates checked. False ends the search with what was found. NULL: not wanted. */
    bool (*progress)(void *context, size_t instructions, size_t asked);
    bool faithful; /* each instruction keeps the value that it had: only values that `value` knows become constants */
    bool rejected; /* candidates that break rules of the language are checked too */
    double seconds; /* time limit; 0: none */
};
/* Candidates have other results or fewer, values (known ones, parameters, zeros) or operands in place of instructions, no
 * metadata, the contents of calls and loops in place of these. Halves are tried first. Instructions keep their names. NULL
 * when the module itself does not fail. Free it with hlo_module_free. */
hlo_module *hlo_shrink(const hlo_module *module, const struct hlo_shrink *how);

/* ---- ONNX models ----
 *
 * An ONNX model is translated into a module, which is verified, printed and run like any other. What ONNX has and HLO has
 * not, sequences and optionals, is laid out in arrays; an hlo_onnx_value is such a value as ONNX sees it. */
typedef struct hlo_onnx hlo_onnx;
typedef struct hlo_onnx_value hlo_onnx_value;

/* Reads PATH ("-": standard input). If the result is not HLO_OK, there is a message: HLO_USAGE when the file can't be read,
 * HLO_REJECTED when it is not a valid model or has something unsupported, HLO_FAILED when the library was built without
 * ONNX. Free with hlo_onnx_free. */
enum hlo_status hlo_onnx_open(const char *path, hlo_onnx **out, hlo_messages *m);
void hlo_onnx_free(hlo_onnx *model);
/* An input of the graph that the model gives no value, or an output; false past the last one. Pointers live as long as the
 * model. */
struct hlo_onnx_port {
    const char *name;
    const char *type;       /* `float[5,?]`, `seq(float[?])`, `optional(seq(int64))` */
    bool sequence, optional;
    const char *dtype;      /* element type of its tensors, as HLO spells it; NULL: not said */
    bool ranked;            /* its tensors have `rank` dimensions, -1 for an open size; otherwise the model says nothing of them */
    size_t rank;
    const int64_t *dims;
};
bool hlo_onnx_input(const hlo_onnx *model, size_t i, struct hlo_onnx_port *out);
bool hlo_onnx_output(const hlo_onnx *model, size_t i, struct hlo_onnx_port *out);

/* A value for an input. It takes ownership of the tensors; not `present`: an empty optional. NULL with messages when the
 * input has another type. Free with hlo_onnx_value_free. */
hlo_onnx_value *hlo_onnx_value_new(const hlo_onnx *model, size_t input, bool present, hlo_literal **tensors, size_t count,
                                   hlo_messages *m);
/* A value for an input, or an expected output, from a file of ONNX's test data. */
hlo_onnx_value *hlo_onnx_read_input(const hlo_onnx *model, size_t input, const char *path, hlo_messages *m);
hlo_onnx_value *hlo_onnx_read_output(const hlo_onnx *model, size_t output, const char *path, hlo_messages *m);
void hlo_onnx_value_free(hlo_onnx_value *v);
bool hlo_onnx_value_present(const hlo_onnx_value *v);
bool hlo_onnx_value_sequence(const hlo_onnx_value *v);
size_t hlo_onnx_value_count(const hlo_onnx_value *v); /* its tensors: one, or those of a sequence */
const hlo_literal *hlo_onnx_value_tensor(const hlo_onnx_value *v, size_t i);

/* The module of a model: a parameter for each input, a tuple of the outputs as result. `inputs`, one for each input, only
 * give the sizes that the model leaves open; NULL: `bound` does. Sizes, trip counts and lengths that nothing else bounds
 * are limited by `bound`. NULL with messages. Free with hlo_module_free. */
hlo_module *hlo_onnx_import(const hlo_onnx *model, hlo_onnx_value *const *inputs, int64_t bound, hlo_messages *m);
/* Converts a value to what the module takes as this parameter; and a component of the module's result to the output that it
 * is. NULL with messages. */
hlo_literal *hlo_onnx_argument(const hlo_onnx_value *v, const hlo_module *module, size_t param, hlo_messages *m);
hlo_onnx_value *hlo_onnx_result(const hlo_onnx *model, size_t output, const hlo_literal *component, hlo_messages *m);

/* ---- what the language has ---- */

size_t hlo_op_count(void);
struct hlo_op {
    const char *name, *family, *spec, *help;
    const char *form; /* the names of its operands: "lhs, rhs" */
    const char *rule; /* what it computes, in lines */
    int min_operands, max_operands; /* -1: any number */
};
struct hlo_op hlo_op_get(size_t i);
/* The attributes of an op, in the order of printing; false past the end. Op hlo_op_count() stands for those that every op
 * may carry. */
struct hlo_op_attribute {
    const char *name, *kind, *help;
    bool required;
};
bool hlo_op_attribute(size_t op, size_t i, struct hlo_op_attribute *out);
/* The words that an attribute may have as its value; NULL past the end. */
const char *hlo_op_attribute_word(size_t op, size_t attribute, size_t i);
/* The worked examples of an op; false past the end. */
struct hlo_op_example {
    const char *args;   /* one literal per line, one for each parameter */
    const char *result; /* one line, as from hlo_literal_print */
    const char *dtype;  /* the element type it is shown for; NULL: it can't be written for other types */
    const char *other;  /* the second type of a conversion, an index ...; NULL: there is none */
    bool feeds;         /* it reads an item from the host: hlo_op_example_feed */
};
bool hlo_op_example(size_t op, size_t i, struct hlo_op_example *out);
/* The module of an example, for other types than its own if they are given. */
hlo_text hlo_op_example_text(size_t op, size_t i, const char *dtype, const char *other);
/* The item that the host gives to such an example. */
hlo_text hlo_op_example_feed(size_t op, size_t i, const char *dtype);
/* Builder forms: words that the text accepts for an opcode, outside --strict; all zero past the end. */
struct hlo_form {
    const char *name, *op, *spec, *help;
};
struct hlo_form hlo_form_get(size_t i);
/* The element types; NULL past the end. */
const char *hlo_dtype_name(size_t i);
bool hlo_dtype_is_array(size_t i); /* otherwise tuples, tokens and the like */

#ifdef __cplusplus
}
#endif

#endif
