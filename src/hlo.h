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

/* A byte buffer made by the library; free with hlo_text_free. Always NUL-terminated. */
typedef struct hlo_text {
    char *data;
    size_t size;
} hlo_text;
void hlo_text_free(hlo_text *text);
/* The version, the instructions of the processor that are used, OpenBLAS and FFTW as they are found here: for people, a line each. */
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
bool hlo_messages_at_end(const hlo_messages *m);  /* the first error says that the text ended early */
/* Some error says that a limit was hit: what failed is HLO_LIMIT, not HLO_FAILED. */
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
/* In colours of the caller's: "error=1;31:note=36", parameters of the terminal's command SGR for caret, error, help, note, place and
 * warning; what it doesn't say is as usual, and what has no such form is passed over. NULL: none. */
hlo_text hlo_messages_draw_in(const hlo_messages *m, const char *colors);
bool hlo_colors_known(const char *colors); /* all of it has that form */
hlo_text hlo_messages_json(const hlo_messages *m); /* an array */
/* Adds an error without a place in a text, for callers with failures of their own. */
void hlo_messages_add(hlo_messages *m, const char *file, const char *text);
/* Adds "out of memory", as functions of this file do that find none. Takes none itself. */
void hlo_messages_no_memory(hlo_messages *m);

/* ---- files and modules ---- */

/* Reads PATH ("-": standard input) and splits it at `// -----` lines unless `strict`. It may be compressed by gzip, be a
 * bundle (hlo_write_bundle), or a folder of XLA's dumps that holds one module. NULL with a message when it cannot be read, or
 * is a program in another form (StableHLO, a protocol buffer), which says how to get HLO. Free with hlo_file_free; modules and
 * messages may outlive it. */
hlo_file *hlo_file_open(const char *path, bool strict, hlo_messages *m);
/* The same with one module. PICK: its number from 1 in a file. In a folder of dumps, module_0023.NAME.PHASE.txt, its number or NAME,
 * "23" or "NAME", taken before optimizations, or with a word of the phase behind a colon, "23:after". NULL: as above. */
hlo_file *hlo_file_open_module(const char *path, const char *pick, bool strict, hlo_messages *m);
hlo_file *hlo_file_of_text(const char *name, const char *text, size_t size, bool strict); /* copies */
/* A text put together from pieces of other texts, as one part. Messages speak of those others: of what somebody typed, not of
 * what had to be written around it. All is copied. NULL: together it has 4 GiB or more. */
struct hlo_piece {
    const char *text;
    size_t size;
    const char *name;   /* of the text it is a piece of; NULL: it is one of none */
    const char *whole;  /* that text: `text` points into it */
    size_t whole_size;
    uint32_t first_line; /* the number of its first line */
};
hlo_file *hlo_file_of_pieces(const char *name, const struct hlo_piece *pieces, size_t count);
void hlo_file_free(hlo_file *f);
/* Whether what is parsed from now on must be what XLA's parser takes; the parts stay as they are. */
void hlo_file_strict(hlo_file *f, bool strict);
size_t hlo_file_count(const hlo_file *f);
/* The text of one part, not NUL-terminated, and the number of its first line. */
const char *hlo_file_text(const hlo_file *f, size_t part, size_t *size, uint32_t *first_line);

/* Parses one part. NULL with messages when rejected. */
hlo_module *hlo_parse(const hlo_file *f, size_t part, hlo_messages *m);
void hlo_module_free(hlo_module *module);
/* Holds the module against the rules of the language; false with messages. */
bool hlo_verify(const hlo_module *module, hlo_messages *m);
/* XLA's canonical text. FULL keeps every value; ABRIDGED writes constants of more than ten elements as
 * `{...}`, as XLA's dumps do; SHORT is XLA's short form, without metadata, percent signs and signatures; BARE is FULL
 * without metadata and the tables of stack frames; EXACT is FULL with -0 in constants as `-0.0`: XLA writes `-0`, which it
 * reads as 0. */
enum hlo_print_style { HLO_PRINT_FULL, HLO_PRINT_ABRIDGED, HLO_PRINT_SHORT, HLO_PRINT_BARE, HLO_PRINT_EXACT };
hlo_text hlo_print(const hlo_module *module, enum hlo_print_style style);
int64_t hlo_replica_count(const hlo_module *module);
int64_t hlo_num_partitions(const hlo_module *module);
/* Other numbers of replicas and partitions than the text says; to be set before hlo_verify. */
void hlo_set_participants(hlo_module *module, int64_t replicas, int64_t partitions);
/* Parameters of the entry computation; -1 when there is no such name. A name that another computation
 * has too is x.1 in the module; it is found as x all the same, where no other parameter could be meant. */
size_t hlo_param_count(const hlo_module *module);
const char *hlo_param_name(const hlo_module *module, size_t i);
hlo_text hlo_param_shape(const hlo_module *module, size_t i);
long hlo_param_find(const hlo_module *module, const char *name);
/* Line of the instruction that makes component `element` of the result, or all of it. */
uint32_t hlo_result_line(const hlo_module *module, size_t element);

/* ---- what stands in a module ---- */

/* The computations and instructions of a module, numbered: computations in the order in which they are printed,
 * callees before callers and the entry computation last; instructions through the whole module, in the order of
 * printing. All that it tells lives as long as the listing, which is to be freed before the module. */
typedef struct hlo_listing hlo_listing;
hlo_listing *hlo_list(const hlo_module *module);
void hlo_listing_free(hlo_listing *l);
size_t hlo_list_count(const hlo_listing *l);        /* instructions */
size_t hlo_list_computations(const hlo_listing *l);
struct hlo_listed_computation {
    const char *name;
    bool entry;
    size_t first, count;  /* its instructions are those from `first` on */
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
    long lost_frame;                /* the number of its stack frame where the file lacks the table that it points into; 0 */
};
struct hlo_listed hlo_list_inst(const hlo_listing *l, size_t i);
/* By name, with or without %: its own, or the one that it has in the text, where a second x became x.1. NAME alone
 * is sought in the entry computation first, COMPUTATION/NAME in that one. -1: there is none. */
long hlo_list_find(const hlo_listing *l, const char *name);
long hlo_list_find_computation(const hlo_listing *l, const char *name);
/* The instruction as it is printed, one line without its end, without ROOT. */
hlo_text hlo_list_print(const hlo_listing *l, size_t i, enum hlo_print_style style);
/* The calls of the user's program that led to it, innermost first; false past the last. */
struct hlo_frame {
    const char *file, *function; /* "" where it isn't known */
    int line, column;            /* 0 likewise */
};
bool hlo_list_frame(const hlo_listing *l, size_t i, size_t k, struct hlo_frame *out);
/* What one time takes, told from shapes: 0 where it depends on what happens, and where others are called. */
struct hlo_cost {
    double operations, bytes;
};
struct hlo_cost hlo_list_cost(const hlo_listing *l, size_t i);

/* ---- building modules ----
 *
 * A builder holds a module under construction: computations, and in them instructions, one call each. What a
 * call makes is what the text of the same instruction makes, builder forms of the specification included: they
 * become core HLO at once. A mistake is a message with the instruction as its source text, and the call gives
 * NULL; operands that are NULL give NULL without another message, so errors need a look only at the end.
 *
 *     hlo_builder *b = hlo_builder_new("m", messages);
 *     hlo_computation *c = hlo_computation_new(b, "main");
 *     hlo_inst *x = hlo_parameter(c, 0, "f32[2,3]", "x"), *s = hlo_parameter(c, 1, "f32[]", "s");
 *     hlo_binary(c, "add", x, s, NULL, 0);
 *     hlo_computation_finish(c, NULL);
 *     hlo_module *module = hlo_builder_finish(b, c);
 *
 * Computations and instructions belong to the builder, later to its module; nobody frees them. Shapes are
 * texts like "f32[2,3]". Counts stand behind the lists they are of; a list of none may be NULL. */
typedef struct hlo_builder hlo_builder;
typedef struct hlo_computation hlo_computation;
typedef struct hlo_inst hlo_inst;

/* Messages go to `m`, which must outlive the builder. */
hlo_builder *hlo_builder_new(const char *name, hlo_messages *m);
void hlo_builder_free(hlo_builder *b); /* one that is not to be finished */
/* The module whose entry computation this is; NULL when anything failed. The builder is freed either way.
 * Verify the module as one that was read; free it with hlo_module_free. */
hlo_module *hlo_builder_finish(hlo_builder *b, hlo_computation *entry);

/* A computation; another one of its name makes it `name.1`. Several may be open at a time. */
hlo_computation *hlo_computation_new(hlo_builder *b, const char *name);
const char *hlo_computation_name(const hlo_computation *c); /* for attributes: "to_apply=add" */
/* Ends it; from now on others may name it. The root is the last instruction when it is NULL. False with messages
 * when it is empty or its parameters are not numbered 0 ... n-1. */
bool hlo_computation_finish(hlo_computation *c, hlo_inst *root);
hlo_text hlo_inst_shape(const hlo_inst *i); /* "f32[2,3]"; of NULL "" */
hlo_text hlo_inst_name(const hlo_inst *i);

/* Any instruction. `what` is what stands before the operands in the text, "add", "f32[2] convert" or
 * "sum = f32[2] add"; `attributes` what stands behind them, "dimensions={0}, to_apply=add"; NULL: nothing.
 * The shape may be left out wherever the text may leave it out (`hlo ops`, grammar/hlo.ebnf). */
hlo_inst *hlo_build(hlo_computation *c, const char *what, hlo_inst *const *operands, size_t count, const char *attributes);
hlo_inst *hlo_parameter(hlo_computation *c, size_t number, const char *shape, const char *name); /* name NULL: any */
hlo_inst *hlo_constant(hlo_computation *c, const hlo_literal *l); /* a copy of its value */
hlo_inst *hlo_iota(hlo_computation *c, const char *shape, int64_t dimension); /* spec: Iota */

/* spec: Element-wise binary arithmetic operations, Element-wise comparison operations. OPCODE by any of its
 * names: "add", "sub", "less-than". Operands of one rank, where size 1 repeats, or a scalar, or an array of
 * lower rank whose dimension k is dimension broadcast_dimensions[k] of the other. */
hlo_inst *hlo_binary(hlo_computation *c, const char *opcode, hlo_inst *lhs, hlo_inst *rhs,
                     const int64_t *broadcast_dimensions, size_t count);
hlo_inst *hlo_unary(hlo_computation *c, const char *opcode, hlo_inst *operand); /* spec: Element-wise unary functions */
hlo_inst *hlo_compare(hlo_computation *c, hlo_inst *lhs, hlo_inst *rhs, const char *direction,
                      const int64_t *broadcast_dimensions, size_t count); /* direction: "LT" */
/* spec: Select. pred[] or pred of the values' dimensions; values arrays, scalars among them repeated, or tuples. */
hlo_inst *hlo_select(hlo_computation *c, hlo_inst *pred, hlo_inst *on_true, hlo_inst *on_false);
hlo_inst *hlo_clamp(hlo_computation *c, hlo_inst *min, hlo_inst *operand, hlo_inst *max); /* spec: Clamp */
hlo_inst *hlo_convert(hlo_computation *c, hlo_inst *operand, const char *dtype);          /* spec: ConvertElementType */
hlo_inst *hlo_bitcast_convert(hlo_computation *c, hlo_inst *operand, const char *dtype);  /* spec: BitcastConvertType */

/* spec: Broadcast. New dimensions of these sizes in front. */
hlo_inst *hlo_broadcast(hlo_computation *c, hlo_inst *operand, const int64_t *sizes, size_t count);
/* spec: BroadcastInDim. Dimension k is dimension dimensions[k] of the result; size 1 repeats. */
hlo_inst *hlo_broadcast_in_dim(hlo_computation *c, hlo_inst *operand, const int64_t *sizes, size_t rank,
                               const int64_t *dimensions, size_t count);
/* spec: Collapse. Neighbours in order become one dimension. */
hlo_inst *hlo_collapse(hlo_computation *c, hlo_inst *operand, const int64_t *dimensions, size_t count);
/* spec: Reshape. */
hlo_inst *hlo_reshape(hlo_computation *c, hlo_inst *operand, const int64_t *sizes, size_t rank);
/* spec: Reshape. The dimensions are read in this order, the slowest first; `order` is a permutation. */
hlo_inst *hlo_reshape_order(hlo_computation *c, hlo_inst *operand, const int64_t *order, size_t count,
                            const int64_t *sizes, size_t rank);
hlo_inst *hlo_transpose(hlo_computation *c, hlo_inst *operand, const int64_t *permutation, size_t rank); /* spec: Transpose */
hlo_inst *hlo_rev(hlo_computation *c, hlo_inst *operand, const int64_t *dimensions, size_t count); /* spec: Rev (reverse) */
hlo_inst *hlo_concat_in_dim(hlo_computation *c, hlo_inst *const *operands, size_t count, int64_t dimension); /* spec: Concatenate */
/* spec: Slice. A list for each; strides NULL: 1. */
hlo_inst *hlo_slice(hlo_computation *c, hlo_inst *operand, const int64_t *start, const int64_t *limit,
                    const int64_t *strides, size_t rank);
/* spec: DynamicSlice, DynamicUpdateSlice. Start indices are a scalar for each dimension or one vector. */
hlo_inst *hlo_dynamic_slice(hlo_computation *c, hlo_inst *operand, hlo_inst *const *start, size_t count,
                            const int64_t *sizes, size_t rank);
hlo_inst *hlo_dynamic_update_slice(hlo_computation *c, hlo_inst *operand, hlo_inst *update, hlo_inst *const *start, size_t count);
struct hlo_padding { int64_t low, high, interior; };
hlo_inst *hlo_pad(hlo_computation *c, hlo_inst *operand, hlo_inst *value, const struct hlo_padding *padding, size_t rank); /* spec: Pad */

/* spec: Dot. Vector with vector, matrix with vector, matrix with matrix. */
hlo_inst *hlo_dot(hlo_computation *c, hlo_inst *lhs, hlo_inst *rhs);
/* spec: DotGeneral. Contracting and batch dimensions come in pairs. */
struct hlo_dot_dimensions {
    const int64_t *lhs_contracting, *rhs_contracting;
    size_t contracting;
    const int64_t *lhs_batch, *rhs_batch;
    size_t batch;
};
hlo_inst *hlo_dot_general(hlo_computation *c, hlo_inst *lhs, hlo_inst *rhs, const struct hlo_dot_dimensions *d);

/* How windows slide; what is NULL or 0 is as said. `padding` may be given by name or by a list. */
enum hlo_padding_word { HLO_PADDING_LIST, HLO_PADDING_SAME, HLO_PADDING_VALID };
struct hlo_window {
    size_t rank;                           /* spatial dimensions of a convolution, else all */
    const int64_t *size;                   /* of a convolution: its kernel's */
    const int64_t *stride, *base_dilation, *window_dilation; /* 1 */
    enum hlo_padding_word word;
    const int64_t *low, *high;             /* HLO_PADDING_LIST: 0 */
};
/* spec: Conv (convolution), ConvWithGeneralPadding (convolution). Dimensions stand in the order batch, feature,
 * spatial; output feature, input feature, spatial, unless `attributes` has dim_labels= (b01f_01io->b01f). It may
 * have feature_group_count= and batch_group_count=, too; or be NULL. */
hlo_inst *hlo_conv(hlo_computation *c, hlo_inst *lhs, hlo_inst *rhs, const struct hlo_window *w, const char *attributes);
/* spec: ReduceWindow. n operands, n initial values; several give a tuple. */
hlo_inst *hlo_reduce_window(hlo_computation *c, hlo_inst *const *operands, hlo_inst *const *init, size_t n,
                            const hlo_computation *computation, const struct hlo_window *w);
/* spec: SelectAndScatter */
hlo_inst *hlo_select_and_scatter(hlo_computation *c, hlo_inst *operand, hlo_inst *source, hlo_inst *init,
                                 const hlo_computation *select, const hlo_computation *scatter, const struct hlo_window *w);
/* spec: Reduce. n operands, n initial values; several give a tuple. */
hlo_inst *hlo_reduce(hlo_computation *c, hlo_inst *const *operands, hlo_inst *const *init, size_t n,
                     const hlo_computation *computation, const int64_t *dimensions, size_t count);
/* spec: Map. Scalars among static_operands go to every call behind the elements. */
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
/* spec: Conditional. pred[] chooses between two, s32[] among any number; one operand for each branch. */
hlo_inst *hlo_conditional(hlo_computation *c, hlo_inst *index, const hlo_computation *const *branches,
                          hlo_inst *const *operands, size_t count);

/* spec: RngUniform, RngNormal, RngBernoulli (2017). Arrays of the given shape. */
hlo_inst *hlo_rng_uniform(hlo_computation *c, hlo_inst *a, hlo_inst *b, const char *shape);
hlo_inst *hlo_rng_normal(hlo_computation *c, hlo_inst *mu, hlo_inst *sigma, const char *shape);
hlo_inst *hlo_rng_bernoulli(hlo_computation *c, hlo_inst *mean, const char *shape);
/* spec: CrossReplicaSum. An array, or a tuple of arrays. */
hlo_inst *hlo_cross_replica_sum(hlo_computation *c, hlo_inst *operand);
/* spec: Infeed. Feeds of a computation happen in the order in which they are built. */
hlo_inst *hlo_infeed(hlo_computation *c, const char *shape);
hlo_inst *hlo_outfeed(hlo_computation *c, hlo_inst *operand); /* spec: Outfeed */

/* ---- modules made from modules ---- */

/* A module with some of its instructions replaced, and what then nobody needs left out: instructions, computations that nothing
 * calls, operands of calls and fusions. An edit that says nothing is a copy. Instructions are named by their numbers in a
 * listing of the module, which is to stay until the edit is finished; of several things said about one the last holds.
 * Messages stand at the instruction. */
typedef struct hlo_edit hlo_edit;
hlo_edit *hlo_edit_new(const hlo_listing *l);
void hlo_edit_free(hlo_edit *e); /* one that is not to be finished */
/* The instruction becomes a constant, which is copied (a tuple of constants, where it is a tuple; sizes that change are those of
 * the value); zeros; a parameter, behind the others (of the entry computation only); another instruction of its computation.
 * False with a message when types or places don't fit. A parameter that becomes something else is none any more, and the others are
 * numbered anew; but where its computation is called it stays, unread. */
bool hlo_edit_constant(hlo_edit *e, size_t inst, const hlo_literal *value, hlo_messages *m);
bool hlo_edit_zeros(hlo_edit *e, size_t inst, hlo_messages *m);
bool hlo_edit_parameter(hlo_edit *e, size_t inst, hlo_messages *m);
bool hlo_edit_replace(hlo_edit *e, size_t inst, size_t by, hlo_messages *m);
/* The instruction becomes what the computation that it calls does, in its place: a call, a fusion; a while, its body once; a
 * conditional, branch number `which`. */
bool hlo_edit_inline(hlo_edit *e, size_t inst, size_t which, hlo_messages *m);
/* The result of the entry computation becomes these, as a tuple where they are not one. They may be of any one computation, which
 * then becomes the entry computation. What has side effects there goes where the result does not need it. */
bool hlo_edit_root(hlo_edit *e, const size_t *insts, size_t count, hlo_messages *m);
/* Parameters of the entry computation that nobody reads go too, and the others are numbered anew. */
void hlo_edit_drop_parameters(hlo_edit *e);
/* Leaves out all of: where instructions came from; how values are split over devices; what is for compilers and changes no value. */
enum { HLO_STRIP_METADATA = 1, HLO_STRIP_SHARDING = 2, HLO_STRIP_HINTS = 4 };
void hlo_edit_strip(hlo_edit *e, unsigned what);
/* The module; the edit is freed either way. NULL with messages. Verify it; free it with hlo_module_free; the one that it was made
 * from may be freed before. */
hlo_module *hlo_edit_finish(hlo_edit *e, hlo_messages *m);

/* ---- values ---- */

void hlo_literal_free(hlo_literal *l);
/* Frees each of COUNT literals, some of which may be NULL, and the array, which malloc made. */
void hlo_literals_free(hlo_literal **literals, size_t count);
/* Shape and values, `f32[2] {1, 2}`; NULL with messages. Free with hlo_literal_free. A literal always has
 * the sizes of its values: `f32[<=10] {1, 2}` is an array of two elements. It fits a parameter of that
 * shape, as does any array up to the bound; results come out in the same way. */
hlo_literal *hlo_literal_parse(const char *text, size_t size, hlo_messages *m);
/* Whether the text of a value opens with its shape. */
bool hlo_literal_has_shape(const char *text, size_t size);
hlo_text hlo_literal_print(const hlo_literal *l, bool with_shape);
hlo_text hlo_literal_shape(const hlo_literal *l);
size_t hlo_literal_leaves(const hlo_literal *l);
/* A flat leaf in order: spelling of its element type, rank, sizes, and its dense row-major storage
 * (types below a byte take one byte an element). Pointers live as long as the literal. Data of what came from a file
 * or by hlo_literal_map may not be written. */
struct hlo_array {
    const char *dtype;
    size_t rank;
    const int64_t *dims;
    size_t element_size, elements;
    void *data;
};
struct hlo_array hlo_literal_leaf(const hlo_literal *l, size_t i);
/* An array of a type by its spelling, cleared. NULL with messages. */
hlo_literal *hlo_literal_new(const char *dtype, size_t rank, const int64_t *dims, hlo_messages *m);
/* An array that lies in memory of the caller's, where it is read and never written: dense, row-major, as hlo_array
 * has it, aligned as its elements are; a pred is 0 or 1. It must stay as it is until RELEASE (or NULL) is called,
 * which is when the literal is freed. NULL with messages, and RELEASE is not called. */
hlo_literal *hlo_literal_map(const char *dtype, size_t rank, const int64_t *dims, const void *data,
                             void (*release)(void *context), void *context, hlo_messages *m);
/* Takes the elements over; NULL, and they stay the caller's, where there is no memory. */
hlo_literal *hlo_literal_tuple(hlo_literal **elements, size_t count);
/* Components of a tuple; 0 for anything else. They live as long as the tuple. */
size_t hlo_literal_count(const hlo_literal *l);
const hlo_literal *hlo_literal_element(const hlo_literal *l, size_t i);

/* Elementwise agreement: numbers are equal (NaN with NaN), or floats lie within a bound. Integers
 * are always exact. */
struct hlo_tolerance {
    double abs, rel;      /* |actual - expected| <= abs + rel * |expected| */
    int64_t ulp;          /* distance in representable values of the type; 0: not used */
    bool zeros;           /* -0 is not 0, where no bound is given */
    bool bits;            /* bit for bit, NaN payloads included */
};
/* True when shapes and values agree; else `why`, unless it is NULL, says where first, both values, and the worst error. */
bool hlo_literal_compare(const hlo_literal *actual, const hlo_literal *expected, const struct hlo_tolerance *t, hlo_text *why);

/* ---- values, as people look at them ---- */

hlo_literal *hlo_literal_copy(const hlo_literal *l);
/* A piece of an array as numpy cuts it, `[0,:4]`, `[..., -1]`, `[::2, 3:]`; an index takes its dimension away. Of a tuple
 * the first number is the component: `[1][0,:4]`. NULL with a message that says what is wrong with it. */
hlo_literal *hlo_literal_slice(const hlo_literal *l, const char *text, hlo_messages *m);
/* Of all elements of all leaves; of complex numbers the absolute value. min, max, mean and deviation are of what is finite. */
struct hlo_stats {
    uint64_t elements, finite, nan, positive_inf, negative_inf, zero, denormal;
    double min, max, mean, deviation; /* NaN where nothing is finite */
    int64_t first_nan, first_inf;     /* row-major, through all leaves; -1: there is none */
};
struct hlo_stats hlo_literal_stats(const hlo_literal *l);
/* "f32[4096] min -1.2 max 3.4 mean 0.01 nan 0 inf 0", a line without its end; of one element its value. */
hlo_text hlo_literal_summary(const hlo_literal *l);
/* {"elements":2,"finite":1,"nan":1,...}, the fields by name; what is not finite as a string. */
hlo_text hlo_stats_json(const struct hlo_stats *s);
/* How values are written. Zeros stand for what is usual. */
struct hlo_view {
    size_t most;      /* elements before the middle of each dimension is left out (1000); SIZE_MAX: all */
    size_t edge;      /* what stays at both ends of a dimension then (3) */
    int precision;    /* digits; 0: as many as it takes to read the same number back */
    bool hex;         /* floats as 0x1.8p+1 */
    bool bits;        /* and the bits of each */
    size_t width;     /* of a line, in columns (80) */
};
/* With shape, in the form that is read back where nothing is left out; where something is, with statistics. V NULL: as usual. */
hlo_text hlo_literal_show(const hlo_literal *l, const struct hlo_view *v);
/* As JSON: {"shape":...,"values":nested lists}; NaN and infinities are strings; complex numbers are pairs; a tuple has
 * "elements", an object each. All elements, unless `most` is given: of more, "stats" stands there in place of "values". */
hlo_text hlo_literal_json(const hlo_literal *l, const struct hlo_view *v);
/* A picture of characters, in lines. Heat maps are of two dimensions, what has more is cut at index 0 of the first ones; curves are
 * of the last dimension; histograms of all elements. What is larger than the canvas is averaged by blocks; NaN and infinities are
 * marked in red and magenta, or by N and I. Of complex numbers the absolute value; of a tuple the first array. C NULL: as usual. */
enum hlo_plot { HLO_PLOT_AUTO, HLO_PLOT_HEAT, HLO_PLOT_HISTOGRAM, HLO_PLOT_CURVE };
struct hlo_canvas {
    size_t width, height; /* in characters; 0: 72 by 20 */
    bool color, utf8;
};
hlo_text hlo_literal_plot(const hlo_literal *l, enum hlo_plot kind, const struct hlo_canvas *c);
/* The heat map as a PNG file, a pixel or more an element (above 8,192 a side less); NaN is red. False with a message. */
bool hlo_write_png(const char *path, const hlo_literal *l, hlo_messages *m);
/* How two values of one shape differ: what hlo_literal_compare says, in numbers. The worst errors are of all elements that are
 * finite on both sides, within the tolerance or not; of integers their distance. */
struct hlo_difference {
    bool comparable;            /* false: the shapes differ; nothing below holds */
    uint64_t elements, outside; /* outside the tolerance */
    uint64_t not_finite;        /* of those: infinite or NaN, and the other is something else */
    double worst_abs, worst_rel;
    uint64_t worst_ulp;
    size_t worst_count;         /* of those outside: the worst absolute error first, what is not finite before it; ten at most */
    struct hlo_differing {
        size_t leaf;
        int64_t index;           /* row-major in its leaf */
        double actual, expected; /* of complex numbers the absolute value */
        double abs, rel;         /* NaN where something is not finite */
        uint64_t ulp;            /* UINT64_MAX likewise */
    } worst[10];
    uint64_t decades[32];       /* elements with relative error 0, up to 1e-29, 1e-28, ... 1, and what is beyond or not finite */
};
struct hlo_difference hlo_literal_difference(const hlo_literal *actual, const hlo_literal *expected, const struct hlo_tolerance *t);
/* The same for people: how many, the worst elements, a histogram of the errors; lines. The literals are those that were compared;
 * `names` stand above their columns, NULL: "is" and "expected". */
hlo_text hlo_difference_print(const struct hlo_difference *d, const hlo_literal *actual, const hlo_literal *expected,
                              const char *const names[2]);
hlo_text hlo_difference_json(const struct hlo_difference *d); /* its fields by name */

/* ---- reading and writing arrays ---- */

/* What PATH names, by how its name ends: a .npy file, which holds one array called ""; an .npz archive; safetensors;
 * .bin and .raw files, the bytes of one array as hlo_array has them and nothing else, called "" too; or a folder,
 * where array x is the file x.npy or x.bin. What ends otherwise is an .npz archive. NULL with a message.
 * Arrays of a file of 64 KiB and more that are stored there as they are in memory are used where they lie, mapped;
 * others, those of type pred and of types below a byte, and what is not aligned as its elements must be, are copied.
 * So a file may be as large as address space, but must not get shorter while literals of it live: see
 * hlo_guard_mapped_files. */
hlo_arrays *hlo_arrays_open(const char *path, hlo_messages *m);
void hlo_arrays_free(hlo_arrays *s); /* literals of it may outlive it */
/* Once another program has made a mapped file shorter, whoever reads beyond its end gets SIGBUS. From here on that ends the
 * process with a message on standard error that names the file, and status 4; any other SIGBUS does what it always did. */
void hlo_guard_mapped_files(void);
/* Whether the name ends so, or is a folder's. */
bool hlo_arrays_known(const char *path);
/* Whether arrays in it have names, so that it can be for all parameters. */
bool hlo_arrays_many(const char *path);
bool hlo_arrays_has(const hlo_arrays *s, const char *name);
/* DTYPE: its element type, which says what raw bits mean; NULL: whatever the file says it is. */
hlo_literal *hlo_arrays_get(const hlo_arrays *s, const char *name, const char *dtype, hlo_messages *m);
bool hlo_write_npy(const char *path, const hlo_literal *l, hlo_messages *m);
bool hlo_write_npz(const char *path, const char *prefix, const hlo_literal *l, hlo_messages *m);
/* The values of several participants: `prefix`0@0, `prefix`0@1, ... */
bool hlo_write_npz_all(const char *path, const char *prefix, const hlo_literal *const *l, size_t count,
                       hlo_messages *m);
/* The same into any kind of file of arrays, which its name tells: .npz; .safetensors; of one array .npy, or .bin and .raw, its
 * elements alone. */
bool hlo_write_arrays(const char *path, const char *prefix, const hlo_literal *const *l, size_t count, hlo_messages *m);
bool hlo_write_knows(const char *path); /* whether it ends like one of those */
bool hlo_write_npz_named(const char *path, const char *const *names, const hlo_literal *const *arrays, size_t count,
                         hlo_messages *m);
/* A run in one file, an .npz archive: the text of its module as bytes, `module`; the leaves of its arguments, arg0, arg1, ...; those of
 * its results, out0, out1, ... Of several participants each has its own, arg0@0. Such a file is opened by hlo_file_open, and read
 * by hlo_arrays_param with "arg" and hlo_read_result with "out". */
struct hlo_bundle {
    const char *text;
    size_t size;
    size_t participants, count;        /* `count` arguments for each */
    const hlo_literal *const *args;    /* of one participant after the other; NULL where there is none */
    const hlo_literal *const *results; /* one for each, or NULL: there are none */
};
bool hlo_write_bundle(const char *path, const struct hlo_bundle *b, hlo_messages *m);
/* Puts bytes into a file, all or nothing. */
bool hlo_write_text(const char *path, const char *text, size_t size, hlo_messages *m);
/* The same bit by bit: nobody sees the file until it is closed, nor then without `keep`. What is no file (/dev/stdout), and files on
 * systems where each must have a name, are written as they are. NULL and false with a message. */
typedef struct hlo_output hlo_output;
hlo_output *hlo_output_open(const char *path, hlo_messages *m);
bool hlo_output_put(hlo_output *o, const char *text, size_t size, hlo_messages *m);
bool hlo_output_close(hlo_output *o, bool keep, hlo_messages *m); /* frees it, whatever comes of it */

/* ---- arguments of a run ---- */

/* The value of a parameter. Leaves of all parameters, flattened in order, are called `prefix`0, `prefix`1, ..., or
 * by the name of the parameter, with .K for component K of a tuple; the first that is there counts, and of each the
 * one with @PARTICIPANT behind it. An array without a name is anybody's. Raw bits are of the parameter's type. */
hlo_literal *hlo_arrays_param(const hlo_arrays *s, const char *prefix, const hlo_module *module, size_t param,
                              size_t participant, hlo_messages *m);
/* The same of a file that is opened for it. */
hlo_literal *hlo_read_param(const char *path, const char *prefix, const hlo_module *module, size_t param,
                            size_t participant, hlo_messages *m);
/* The value of a parameter as people write it: a literal, whose shape may be left out, or `@FILE`, which is hlo_read_param of what is
 * known by its name, with prefix "arg", and else holds the text of a literal. NULL with messages, also where its shape isn't the
 * parameter's. */
hlo_literal *hlo_read_argument(const hlo_module *module, size_t param, size_t participant, const char *text, hlo_messages *m);
/* Of NAME=VALUE where VALUE begins; 0: the text has no name. */
size_t hlo_argument_value(const char *text);
/* Every output leaf of the entry computation from `prefix`0, `prefix`1, ... */
hlo_literal *hlo_read_result(const char *path, const char *prefix, const hlo_module *module, size_t participant,
                             hlo_messages *m);
/* Reproducible numbers by the recipe of peers.py; `// peers:` hints of the text are obeyed. */
hlo_literal *hlo_random_param(const hlo_module *module, size_t param, uint64_t seed, hlo_messages *m);
/* A value for a parameter of a verified module, such as the program can use: it is followed through whatever hands it
 * on, tuples, calls and loops among that. Indices lie in bounds and are sorted or all different where that is promised;
 * what goes to logarithms and roots is positive, divisors are not 0, matrices that are factored are well conditioned; loops go
 * round a few times, reductions begin with what changes nothing. Floats are 1 at most and less before sums of many products.
 * IOTA counts 0, 1, 2, ... and begins again where the type or the use ends; EDGE takes NaN, infinities, -0, the least and
 * largest numbers (these only where nothing is summed, for what comes of them depends on the order), and indices out of bounds too. The same seed gives the same numbers everywhere. */
enum hlo_fake { HLO_FAKE_ZEROS, HLO_FAKE_ONES, HLO_FAKE_IOTA, HLO_FAKE_UNIFORM, HLO_FAKE_NORMAL, HLO_FAKE_EDGE };
hlo_literal *hlo_fake_param(const hlo_module *module, size_t param, enum hlo_fake kind, uint64_t seed, hlo_messages *m);

/* ---- code of your own behind custom calls ---- */

/* All is added before a program is planned with it; a target that
 * stands here comes before the meaning it has in HLO, and what was added later before the rest. Several
 * participants of a run call at the same time, each from its thread. */
typedef struct hlo_targets hlo_targets;
hlo_targets *hlo_targets_new(void);
void hlo_targets_free(hlo_targets *t);
/* Every function that the shared library at PATH defines becomes the target of its name, called as
 * XLA:CPU does by the api_version= of the instruction. It runs in this process. Where it calls
 * XlaCustomCallStatusSetSuccess and XlaCustomCallStatusSetFailure, the program must export functions of these names
 * (-Wl,--export-dynamic-symbol=XlaCustomCall*): the static library has them, with the shared one they are a line
 * each that calls hlo_custom_call_status. False with a message. */
bool hlo_targets_add_library(hlo_targets *t, const char *path, hlo_messages *m);
/* What a call says of itself: NULL: all is well; or what went wrong, `size` bytes or up to a NUL. */
void hlo_custom_call_status(void *status, const char *message, size_t size);
/* "NAME=identity": leaf k of the result is leaf k of the operands. "NAME=zeros". "NAME=COMMAND": /bin/sh runs
 * it for each call; it reads the leaves of the operands as literals, one a line, and writes those of the
 * result, status 0 if all went well; its environment has HLO_TARGET, HLO_CONFIG, HLO_RESULT (the shape) and
 * HLO_PARTICIPANT. A NAME that ends in `*` is all that begin with the rest; `*` alone is what
 * nothing else has a meaning for, HLO itself included. False with a message. */
bool hlo_targets_add_rule(hlo_targets *t, const char *rule, hlo_messages *m);
/* Leaves, tuples flattened in order, as hlo_literal_leaf has them; tokens have no data. */
struct hlo_call {
    const char *target;
    const char *config; /* the text of backend_config=, with its size */
    size_t config_size;
    size_t participant, operand_count, result_count;
    const struct hlo_array *operands; /* to be read only */
    const struct hlo_array *results;  /* to be filled in; they hold zeros, or the operand they alias */
};
/* False: what went wrong has been written to `why`, which has room for so many bytes and is empty. */
typedef bool hlo_call_fn(void *context, const struct hlo_call *call, char *why, size_t room);
void hlo_targets_add_function(hlo_targets *t, const char *name, hlo_call_fn *fn, void *context);

/* ---- several processes ----
 *
 * Participants run as threads of one process, unless there is a world: processes of the same program, ranks, that
 * share them, participant p on rank p modulo their number, which gives the same bits. All ranks do the
 * same: open the world, read the module, plan it and run it, and nothing else while a run goes on.
 *
 *     hlo_world *w = hlo_world_open("mpi", messages);
 *     struct hlo_run_options options = {.world = w};
 *     ... hlo_plan, hlo_world_agree, hlo_run_all: results are on rank 0 ...
 *     hlo_world_close(w);
 */
/* "mpi": the processes that mpirun started, or this one alone; once in the life of a process, unless it begins
 * and ends MPI itself. NULL with messages. */
hlo_world *hlo_world_open(const char *kind, hlo_messages *m);
void hlo_world_close(hlo_world *w); /* once all ranks are done */
int hlo_world_rank(const hlo_world *w); /* NULL: 0 */
int hlo_world_size(const hlo_world *w); /* NULL: 1 */
bool hlo_world_runs(const hlo_world *w, size_t participant); /* it is this rank's. NULL: it is */
/* Called by all ranks. The others get the text of rank 0, to be freed with hlo_text_free; false: it has none, its
 * data is NULL. NULL: whether it has. */
bool hlo_world_share(hlo_world *w, hlo_text *text);
/* Called by all ranks, for they must not begin to run before each of them can. The greatest `status` that any rank
 * gave, and in `who` (unless NULL) the first rank that gave it. NULL: `status` itself. */
int hlo_world_agree(hlo_world *w, int status, int *who);

/* ---- running ---- */

enum hlo_elided { HLO_ELIDED_REFUSE, HLO_ELIDED_ZERO, HLO_ELIDED_IOTA, HLO_ELIDED_RANDOM };
struct hlo_run_options {
    bool plain;              /* the plain kernels: the formula of each op, the same bits everywhere */
    enum hlo_elided elided;  /* what stands for constants written `{...}` */
    uint64_t seed;           /* of HLO_ELIDED_RANDOM */
    const hlo_targets *targets; /* of custom calls; must outlive the program. NULL: none but HLO's */
    /* Limits of one run, 0 for none. What goes beyond ends in an error; see hlo_messages_limit. They are
     * looked at between instructions, so that a single long one still comes to its end. */
    uint64_t max_steps;  /* instructions run and iterations of loops */
    uint64_t max_trip;   /* iterations of any one loop */
    uint64_t max_memory; /* bytes of values alive at once */
    double timeout;      /* seconds */
    int threads;         /* that share large kernels; 0: as many as there are processors. Results are the same for any number */
    hlo_world *world;    /* who runs the participants; it must outlive the program. NULL: threads of this process */
    bool only_first;     /* plan for the first participant alone: a program to look at, not to run */
    bool observed;       /* so that every instruction can be looked at: hlo_observe */
};
/* Makes a verified module ready to run by all its participants; the module must outlive the program.
 * NULL with messages. */
hlo_program *hlo_plan(const hlo_module *module, const struct hlo_run_options *options, hlo_messages *m);
void hlo_program_free(hlo_program *p);
/* Replicas times partitions; participant = replica * partitions + partition. */
enum { HLO_MAX_PARTICIPANTS = 4096 };
size_t hlo_participants(const hlo_program *p);
/* What infeed and outfeed, and sends and receives that go to the host, are connected to. Called from the threads
 * of the run. A participant makes one call at a time; calls of different participants run at the same time, so
 * what they share needs a lock, under which nobody should wait for long. What goes wrong is said in `m`, which is
 * of this call alone; of several participants whose feeds go wrong, those of the first are said. Items have the
 * sizes of the moment: infeed into `f32[<=10]` takes up to ten elements, outfeed of it gives as many as there are. */
typedef struct hlo_feed_call hlo_feed_call;
/* Whether to wait no more in this call: the run has failed elsewhere, or its time is over. It then says so itself;
 * the call returns NULL or false and need not say anything. Who waits should ask a few times a second. */
bool hlo_feed_stopped(const hlo_feed_call *call);
struct hlo_feeds {
    void *context;
    /* The next item for a participant, taken over by the run; NULL: there is none, or not a sound one. */
    hlo_literal *(*infeed)(void *context, size_t participant, const hlo_feed_call *call, hlo_messages *m);
    /* An item from a participant; false ends the run. NULL: items are dropped. */
    bool (*outfeed)(void *context, size_t participant, const hlo_literal *item, const hlo_feed_call *call, hlo_messages *m);
};

/* Runs the entry computation, on a thread for each participant where there are several. `args` has one
 * literal for each of the `count` parameters, for one participant after the other; `results` one place
 * for each participant, to be freed with hlo_literal_free. False with messages, and no results, when
 * any of them fails or waits for ever. `feeds` may be NULL. Dynamic dimensions of a result are as large
 * as they came out; its fixed ones are complete, with zeros where nothing was stored.
 * In a world all ranks call it: arguments of participants that another rank runs are not looked at, rank 0
 * gets all results and the others NULL, its feeds are everyone's; the answer and what is said are the same
 * on all ranks. */
bool hlo_run_all(hlo_program *p, const hlo_literal *const *args, size_t count, const struct hlo_feeds *feeds,
                 hlo_literal **results, hlo_messages *m);
/* As hlo_run_all, on one literal for each parameter, which all participants get. NULL with messages, or where
 * another rank has the results; else the result of participant 0. */
hlo_literal *hlo_run(hlo_program *p, const hlo_literal *const *args, size_t count, hlo_messages *m);

/* Ends the run that is going on, or the next one, with the message `run-interrupted` at the next instruction or iteration. It may be
 * called from a signal handler and from any thread. */
void hlo_interrupt(hlo_program *p);

/* How far the run that is going on has come, that of the first participant here. It may be called as hlo_interrupt may. */
struct hlo_progress {
    size_t done, count;   /* steps of the entry computation */
    const char *name;     /* of the instruction at hand, as long as the module lives */
    size_t name_size;     /* 0: the first step has not begun */
    long long iteration;  /* of the loop that it is, from 0 on; -1: it is none, or nobody counts */
};
struct hlo_progress hlo_run_progress(const hlo_program *p);

/* ---- what a run will do, and what it needs ---- */

/* The memory of a run by one participant, in bytes. What is foreseen is found out by going through the program
 * without doing its work, at most once. It is the most that may be needed: of a conditional all branches count, of
 * sizes that change at run time their bounds. Kernels need some room of their own besides. */
struct hlo_memory {
    uint64_t arguments, results; /* of the entry computation */
    uint64_t constants;
    bool foreseen;     /* false: too much depends on what happens; `peak` is 0 */
    bool exact;        /* a run needs just that; else there are branches, loops that might not run, sizes that change or the like */
    uint64_t peak;     /* of values that are alive at once, results among them, arguments and constants not */
    uint64_t kernels;  /* the most that a kernel takes for itself meanwhile, of those that say so: sorts */
    uint64_t measured; /* the same as `peak`, as it was in the last run; 0: there was none. What the first run does for
                        * all counts in each */
};
struct hlo_memory hlo_program_memory(const hlo_program *p);
/* The plan, for people or as JSON: the steps of each computation in order with what they are done by, where their
 * results live and until which step, what the passes did, and the memory. */
hlo_text hlo_plan_print(const hlo_program *p, bool json);

/* What the runs of a program spend their time on. It is told of every step of the first participant that is run
 * here, from when it is made until it is freed, which is to happen before the program is freed; only while no run
 * goes on it may be asked. One at a time for a program. */
typedef struct hlo_profile hlo_profile;
hlo_profile *hlo_profile_new(hlo_program *p);
void hlo_profile_free(hlo_profile *f);
/* A step and what all runs together spent on it; false past the end. Steps come in the order of the plan. */
struct hlo_profile_step {
    const char *name, *op, *computation; /* live as long as the profile */
    const char *what;                    /* op and means: "sort: ascending by operand 0, a f32" */
    size_t step;                         /* in its computation */
    uint64_t calls;
    double seconds;           /* of all calls, without the steps within this one */
    double median;            /* of a call, likewise */
    double operations, bytes; /* of one call, told from shapes; 0 where it depends on what happens */
};
bool hlo_profile_step(const hlo_profile *f, size_t i, struct hlo_profile_step *out);
/* Each time a step was done, in order of their ends, up to a million of them; false past the end. */
struct hlo_profile_event {
    size_t step;            /* for hlo_profile_step */
    double start, duration; /* seconds; since the profile was made. Steps within it are part of it. */
};
bool hlo_profile_event(const hlo_profile *f, size_t i, struct hlo_profile_event *out);

/* ---- looking at runs ---- */

/* A program that was planned with `observed` does all instructions of all computations that run on whole values, one by
 * one, and tells an observer of each. Nothing is fused, joined, left out or done in place, so it takes more time and
 * memory; values are those of any run, to the tolerance of sums. Computations that are applied to elements (reducers,
 * comparators, ...) are not observed. */
struct hlo_sight {
    size_t inst;         /* its number in a listing of the module */
    size_t participant;
    uint64_t number;     /* instructions that this participant was shown before, this run */
    double seconds;      /* that it took; 0 before it is done, and for what is only another name (tuples, parameters) */
    size_t depth;        /* how many instructions (while, call, ...) it runs within */
    const struct hlo_within {
        size_t inst;
        int64_t iteration; /* of a while, from 0; -1 in its condition. Else 0 */
    } *within;           /* outermost first */
    void *run;           /* for the functions below */
};
/* What it has as operand k; as its value, once it is done: dense, whole, with the sizes of the moment. They lie where they are and live
 * until the call returns, the value until it is set; hlo_literal_copy keeps one. A value of a token is an empty tuple. NULL: there is no memory, which ends the run. */
const hlo_literal *hlo_sight_operand(const struct hlo_sight *s, size_t k);
const hlo_literal *hlo_sight_value(const struct hlo_sight *s);
/* Another value in its place; before it is done: instead of doing it. It is copied. False with a message when the shape
 * does not fit. */
bool hlo_sight_set(const struct hlo_sight *s, const hlo_literal *l, hlo_messages *m);
/* What may be wrong with numbers: infinities of finite operands are overflows where the operation has no pole there, as log has at 0. */
enum hlo_oddity { HLO_ODD_NAN = 1, HLO_ODD_INF = 2, HLO_ODD_OVERFLOW = 4, HLO_ODD_DENORMAL = 8 };
struct hlo_origin {
    enum hlo_oddity what;
    size_t leaf;    /* of its value */
    int64_t index;  /* the first such element, row-major in its leaf */
    uint64_t count; /* how many such elements its value has */
};
/* Whether an instruction that is done has made one of `what` (several, ored) of operands that are without: where elements are made of elements,
 * of those; else of all there are. A NaN in a constant is made by who takes it in. Who names values, or calls computations that are looked at themselves, makes none. The first kind that is
 * found, in the order above. */
bool hlo_sight_origin(const struct hlo_sight *s, unsigned what, struct hlo_origin *out);
/* Says so in a message at the instruction, an error (`stopped-on`) or a warning (`warned-on`), with the operands in notes: their elements
 * at the same index, or their statistics. Where they are the messages of the run, an error makes it fail. */
void hlo_sight_say(const struct hlo_sight *s, const struct hlo_origin *o, bool error, hlo_messages *m);
struct hlo_observer {
    void *context;
    /* Before an instruction is done, and when it is; NULL: not asked for. False ends the run, without a message. Of several
     * participants one is told at a time. */
    bool (*before)(void *context, const struct hlo_sight *s);
    bool (*after)(void *context, const struct hlo_sight *s);
};
/* Of all later runs; NULL: nobody. It must stay until then. Only for programs that are planned with `observed`. */
void hlo_observe(hlo_program *p, const struct hlo_observer *o);
/* A run for its values alone: plans MODULE as OPTIONS say and so that OBSERVER can be asked, runs it, and lets the results go.
 * False with messages. */
bool hlo_run_observed(const hlo_module *module, const struct hlo_run_options *options, const struct hlo_observer *observer,
                      const hlo_literal *const *args, size_t count, hlo_messages *m);

/* ---- where elements come from ----
 *
 * An element that an instruction gave was made of elements of its operands. Those are told as boxes: what lies outside of
 * all of them can be changed without changing the element. Where values decide which they are (indices, predicates, the order
 * of a sort), they are asked for; where nobody knows them the boxes are larger. */
enum { HLO_MAX_RANK = 32 }; /* of arrays that are run */
struct hlo_element {
    size_t inst;                     /* in a listing of the module */
    size_t leaf;                     /* of its value: tuples flattened in order, tokens among them */
    int64_t index[HLO_MAX_RANK];     /* as many as the leaf has dimensions */
    const struct hlo_within *within; /* where it was done, outermost first, as observers are told; may be NULL in the entry */
    size_t depth;                    /* computation */
};
enum hlo_source_place {
    HLO_SOURCE_HERE,    /* an operand */
    HLO_SOURCE_INSIDE,  /* the root of a computation that the instruction calls; of a while in `iteration` */
    HLO_SOURCE_OUTSIDE, /* what the caller gave to this parameter: one level less of `within` */
    HLO_SOURCE_BESIDE   /* what another `iteration` of the loop around it gave: its last level has that one */
};
struct hlo_source { /* elements start, start + step, ... in each dimension of a leaf */
    size_t inst, leaf, rank;
    long operand;            /* its number, of the instruction or of its caller; -1: it is none */
    enum hlo_source_place place;
    int64_t iteration;
    int64_t start[HLO_MAX_RANK], count[HLO_MAX_RANK], step[HLO_MAX_RANK]; /* a step may be negative */
    size_t walk[HLO_MAX_RANK]; /* the dimensions in the order in which elements are counted, slowest first */
    bool product;            /* element n is multiplied by element n of the source behind this one */
    const char *role;        /* "lhs", "window", "index"; lives for ever */
};
/* What is known of a run; either function may be NULL, and either may not know: NULL, -1. */
struct hlo_known {
    void *context;
    const hlo_literal *(*value)(void *context, size_t inst, const struct hlo_within *within, size_t depth);
    int64_t (*iterations)(void *context, size_t inst, const struct hlo_within *within, size_t depth); /* of a while */
};
/* How many sources an element has, of which the first `most` are written to `out`. -1 with a message when there is no such
 * element. What came from outside of the module, and what is made of nothing (constants, iota), has none. */
long hlo_why(const hlo_listing *l, const struct hlo_element *e, const struct hlo_known *known, struct hlo_source *out, size_t most,
             hlo_messages *m);
/* An element and its sources, theirs, and so on, as a tree: for people, lines; or a JSON object. Values that are only handed on
 * (tuples, parameters, calls) are no level of it. NULL: as usual. */
struct hlo_why_view {
    size_t levels;        /* steps back (1) */
    size_t most;          /* elements of a box that are shown, those that count most, NaN and infinities first (4) */
    struct hlo_view view; /* how values are written */
    bool json;
};
hlo_text hlo_why_print(const hlo_listing *l, const struct hlo_element *e, const struct hlo_known *known, const struct hlo_why_view *v);
/* The same of an instruction that an observer looks at, done or not, by what it has before it: one level. L: a listing of the module. */
hlo_text hlo_sight_why(const struct hlo_sight *s, const hlo_listing *l, size_t leaf, const int64_t *index, const struct hlo_why_view *v);

/* A run whose values can be asked for afterwards, those of the first participant. Some are kept; for others it is run again. L, OPTIONS,
 * HOW and ARGS, which are those of hlo_run_all, must stay. NULL with messages when it cannot be run; where it fails in the middle there are
 * messages, and values up to there. Free with hlo_recorded_free. */
typedef struct hlo_recorded hlo_recorded;
struct hlo_recording {
    uint64_t most; /* bytes of values that are kept; 0: 1 GiB */
    /* Around each run, for hlo_interrupt; may be NULL. */
    void *context;
    void (*begin)(void *context, hlo_program *p);
    void (*end)(void *context);
};
hlo_recorded *hlo_record(const hlo_listing *l, const struct hlo_run_options *options, const hlo_literal *const *args, size_t count,
                         const struct hlo_recording *how, hlo_messages *m); /* HOW NULL: as usual */
void hlo_recorded_free(hlo_recorded *r);
/* NAME, COMPUTATION/NAME; behind it @ITERATION of the loop that it is in, @OUTER.INNER of several, without it the last time;
 * behind that [COMPONENT] of a tuple, and [I,J] of the element; negative ones count from the end. No index: the first NaN or infinity,
 * where there is one; or of a scalar. False with messages. What E points to lives as long as the recorded run. */
bool hlo_recorded_find(hlo_recorded *r, const char *text, struct hlo_element *e, hlo_messages *m);
/* What is printed as above. */
hlo_text hlo_recorded_why(hlo_recorded *r, const struct hlo_element *e, const struct hlo_why_view *v);

/* ---- comparing runs ---- */

/* Which instruction of one module stands for which of another, each for one at most. */
typedef struct hlo_pairing hlo_pairing;
enum hlo_paired {
    HLO_UNPAIRED,
    HLO_PAIRED_NAME,      /* of one name, op and shape */
    HLO_PAIRED_METADATA,  /* of one op_name, op and shape */
    HLO_PAIRED_PLACE,     /* the k-th ones of an op and shape; parameters by number */
    HLO_PAIRED_OTHERWISE, /* of one name but another op or shape; and results */
};
struct hlo_pair {
    long other; /* -1: there is none */
    enum hlo_paired how;
};
hlo_pairing *hlo_pair(const hlo_listing *a, const hlo_listing *b); /* which must outlive it */
void hlo_pairing_free(hlo_pairing *p);
struct hlo_pair hlo_pair_of_a(const hlo_pairing *p, size_t i);
struct hlo_pair hlo_pair_of_b(const hlo_pairing *p, size_t i);
/* Whether instruction i of A does something else than its partner: op, shape, attributes, or operands that are no partners. Of
 * constants of more than ten elements the values are not looked at. */
bool hlo_pair_changed(const hlo_pairing *p, size_t i);

/* Two programs, planned with `observed`, that run on the same arguments. Only as many values as `room` has bytes for (0: 512 MiB) are
 * kept at a time; where that is too little for all that are not the same bit for bit, they run several times. */
struct hlo_comparison {
    hlo_program *a, *b;
    const hlo_pairing *pairing;       /* of listings of their modules */
    const hlo_literal *const *args;   /* as hlo_run_all has them */
    size_t count;
    struct hlo_tolerance tolerance;   /* the values of A are what is expected */
    uint64_t room;
};
struct hlo_divergence {
    uint64_t compared, unequal; /* values of paired instructions, and how many of them are not the same bit for bit */
    bool found;                 /* one is outside the tolerance: the first, in the order of A */
    size_t participant, a, b;   /* instructions */
    uint64_t occurrence;        /* how often it was done before, in loops */
    uint64_t number;            /* values of A that came before it, those of what runs within an instruction before its own */
    hlo_literal *value_a, *value_b;
    struct hlo_difference difference;
    bool results_agree;         /* those of the programs; else of the first participant whose results don't: */
    struct hlo_difference results;
    hlo_literal *result_a, *result_b;
};
/* False with messages when a run fails; else to be freed with hlo_divergence_free. */
bool hlo_diverge(const struct hlo_comparison *c, struct hlo_divergence *out, hlo_messages *m);
void hlo_divergence_free(struct hlo_divergence *d);

/* ---- cutting out and shrinking ---- */

/* An instruction as a module that runs alone, with what it needs of its computation. */
struct hlo_extract {
    size_t inst;        /* in a listing of the module */
    size_t height;      /* so many instructions above it stay: 0: it alone; SIZE_MAX: all */
    uint64_t execution; /* of one that is done several times: which, from 0 */
    bool parameters;    /* what is cut off becomes parameters, and nothing is run */
};
/* What is cut off, parameters among that, becomes constants: what it was in a run of the module on ARGS, which are those of
 * hlo_run_all, by participant 0, when the instruction was done. The run ends there. NULL with messages; free it with
 * hlo_module_free. */
hlo_module *hlo_extract(const hlo_listing *l, const struct hlo_extract *what, const struct hlo_run_options *options,
                        const hlo_literal *const *args, size_t count, hlo_messages *m);

/* What looks for the smallest module that still fails has to know. */
struct hlo_shrink {
    void *context;
    bool (*bad)(void *context, const hlo_module *candidate); /* whether it still fails */
    /* What an instruction of the module gave in a run, the first time that it was done; NULL: nobody knows. It must stay. */
    const hlo_literal *(*value)(void *context, const char *name);
    /* Before a candidate is looked at: so many instructions has the smallest so far, so many have been looked at. False ends the
     * search with what was found. NULL: nobody wants to know. */
    bool (*progress)(void *context, size_t instructions, size_t asked);
    bool faithful; /* each instruction keeps the value that it had: what becomes constant is what `value` knows */
    bool rejected; /* candidates that break rules of the language are looked at, too */
    double seconds; /* that it may take; 0: any time */
};
/* Candidates have other results, fewer of them, values in place of instructions (known, parameters, zeros), operands in their
 * place, no metadata; of calls and loops what they call; halves are tried first. Instructions keep their names. NULL when
 * the module itself is not bad. Free it with hlo_module_free. */
hlo_module *hlo_shrink(const hlo_module *module, const struct hlo_shrink *how);

/* ---- ONNX models ----
 *
 * A model of ONNX is translated into a module, which is verified, printed and run as any other. What ONNX has
 * and HLO has not, sequences and optionals, is laid out in arrays there; hlo_onnx_value is such a value as
 * ONNX means it. */
typedef struct hlo_onnx hlo_onnx;
typedef struct hlo_onnx_value hlo_onnx_value;

/* Reads PATH ("-": standard input). Not HLO_OK with a message: HLO_USAGE when it cannot be read, HLO_REJECTED
 * when it is no sound model or has what is not read, HLO_FAILED when the library was built without ONNX. Free
 * with hlo_onnx_free. */
enum hlo_status hlo_onnx_open(const char *path, hlo_onnx **out, hlo_messages *m);
void hlo_onnx_free(hlo_onnx *model);
/* An input of the graph that has no value in the model, or an output; false past the last one. Pointers live
 * as long as the model. */
struct hlo_onnx_port {
    const char *name;
    const char *type;       /* `float[5,?]`, `seq(float[?])`, `optional(seq(int64))` */
    bool sequence, optional;
    const char *dtype;      /* of its tensors, as HLO spells it; NULL: not said */
    bool ranked;            /* its tensors have `rank` dimensions, -1 where a size is open; else nothing is said */
    size_t rank;
    const int64_t *dims;
};
bool hlo_onnx_input(const hlo_onnx *model, size_t i, struct hlo_onnx_port *out);
bool hlo_onnx_output(const hlo_onnx *model, size_t i, struct hlo_onnx_port *out);

/* A value for an input: its tensors, which are taken over; not `present`: an optional that is empty. NULL with
 * messages when the input is of another type. Free with hlo_onnx_value_free. */
hlo_onnx_value *hlo_onnx_value_new(const hlo_onnx *model, size_t input, bool present, hlo_literal **tensors, size_t count,
                                   hlo_messages *m);
/* A value for an input, or one that an output may have, from a file of ONNX's test data. */
hlo_onnx_value *hlo_onnx_read_input(const hlo_onnx *model, size_t input, const char *path, hlo_messages *m);
hlo_onnx_value *hlo_onnx_read_output(const hlo_onnx *model, size_t output, const char *path, hlo_messages *m);
void hlo_onnx_value_free(hlo_onnx_value *v);
bool hlo_onnx_value_present(const hlo_onnx_value *v);
bool hlo_onnx_value_sequence(const hlo_onnx_value *v);
size_t hlo_onnx_value_count(const hlo_onnx_value *v); /* tensors in it: one, or those of a sequence */
const hlo_literal *hlo_onnx_value_tensor(const hlo_onnx_value *v, size_t i);

/* The module of a model: a parameter for each input, a tuple of the outputs as result. `inputs`, one for each
 * input, give the sizes that the model leaves open, but not their values; NULL: `bound` does. What nothing else
 * bounds, sizes, trip counts, lengths, goes up to `bound`. NULL with messages. Free with hlo_module_free. */
hlo_module *hlo_onnx_import(const hlo_onnx *model, hlo_onnx_value *const *inputs, int64_t bound, hlo_messages *m);
/* A value as the parameter of the module wants it; and a component of the result as the output that it is. */
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
/* The attributes of an op in print order; false past the end. Op hlo_op_count() stands for what every
 * op may carry. */
struct hlo_op_attribute {
    const char *name, *kind, *help;
    bool required;
};
bool hlo_op_attribute(size_t op, size_t i, struct hlo_op_attribute *out);
/* The words that an attribute may have as its value; NULL past the end. */
const char *hlo_op_attribute_word(size_t op, size_t attribute, size_t i);
/* The worked examples of an op; false past the end. */
struct hlo_op_example {
    const char *args;   /* a literal a line, one for each parameter */
    const char *result; /* as hlo_literal_print has it, one line */
    const char *dtype;  /* the element type it is shown for; NULL: it is not written for several */
    const char *other;  /* the second type of a conversion, an index ...; NULL: there is none */
    bool feeds;         /* it reads an item from the host: hlo_op_example_feed */
};
bool hlo_op_example(size_t op, size_t i, struct hlo_op_example *out);
/* The module of an example, written for other types than its own where they are given. */
hlo_text hlo_op_example_text(size_t op, size_t i, const char *dtype, const char *other);
/* The item that the host gives to such an example. */
hlo_text hlo_op_example_feed(size_t op, size_t i, const char *dtype);
/* Builder forms: words that the text takes for an opcode outside --strict; a zeroed one past the end. */
struct hlo_form {
    const char *name, *op, *spec, *help;
};
struct hlo_form hlo_form_get(size_t i);
/* The element types; NULL past the end. */
const char *hlo_dtype_name(size_t i);
bool hlo_dtype_is_array(size_t i); /* else tuples, tokens and their like */

#ifdef __cplusplus
}
#endif

#endif
