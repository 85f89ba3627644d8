/*
 * Shared by the files of the importer: values under translation, and functions that emit
 * instructions.
 *
 * During translation, an ONNX value is a `struct val`: its type as far as known, the instructions
 * that hold it, and its elements if known. A node whose inputs are all known is executed
 * immediately (fold.c), so that axes, shapes and bounds that a model computes are plain numbers
 * wherever possible. A `struct num` is an integer that is either known or an s64[] instruction.
 */
#ifndef HLO_ONNX_IMPORT_PRIV_H
#define HLO_ONNX_IMPORT_PRIV_H

#include "onnx/onnx.h"

enum {
    ONNX_MAX_RANK = 24,    /* of tensors; arrays of sequences and scans have one more dimension */
    ONNX_MAX_NESTING = 32, /* of subgraphs */
    /* Limit on the elements of a value that is folded and emitted again in each computation. */
    ONNX_SMALL = 1024,
};

/* Numbers of onnx/dtype.def that the translation itself uses. */
enum { ELEM_F32 = 1, ELEM_S32 = 6, ELEM_S64 = 7, ELEM_PRED = 9, ELEM_F64 = 11, ELEM_BF16 = 16 };

/* The type of an array. The size of a dynamic dimension is its bound. */
struct array {
    int elem; /* 0: unknown, for an `open` val */
    int rank;
    int64_t dims[ONNX_MAX_RANK + 1];
    bool dynamic[ONNX_MAX_RANK + 1];
};

struct val {
    enum onnx_kind kind;
    /* For a sequence, the type of its elements, whose dynamic dimensions may differ. */
    struct array a;
    int64_t length; /* of a sequence: its bound, at least 1 */
    bool mixed;     /* a sequence whose elements may have a lower rank than `a` */
    bool open;      /* an empty sequence or optional of undetermined element type: `a` has rank 0 */
    hlo_inst *data, *sizes,
        /* The array, or a sequence's elements; their sizes; whether an optional is present. */
        *there;
    /* A tensor's elements; `data` is then NULL until data_of emits a constant. */
    const hlo_literal *known;
};

struct import {
    const struct onnx_model *model;
    int64_t bound;
    bool specialize; /* integers among the given inputs count as known */
    /* Set if an unknown integer had to be known, or would improve the translation. */
    bool needs_values;
    struct arena *arena;
    struct kept *kept; /* literals, freed at the end */
    int64_t nodes;     /* remaining number of node translations */
    int depth;         /* nesting depth of graphs */
};

/* Where names are looked up and instructions are added. The scope of a branch that is selected
 * during translation shares the computation of the enclosing scope. */
struct scope {
    struct import *imp; /* shared by all scopes */
    hlo_messages *m;
    hlo_builder *b;
    hlo_computation *c;
    struct scope *outer;
    struct map vals;              /* name -> struct val */
    struct map *names;            /* names of instructions in `c`, with counts */
    struct map *constants;        /* constants in `c`, by the text of the scalar */
    const struct onnx_node *node; /* the node being translated */
    bool types_only;              /* the module is only built to find types, and never executed */
};

/* A row of op.def, and a node that is translated by it. */
struct node;
typedef bool translator(struct node *n);
struct op_row {
    const char *name;
    int64_t since;
    int min_inputs, max_inputs; /* -1: any number */
    bool foldable;
    translator *translate;
    const char *arg; /* argument of the translator: often the opcode */
};
struct node {
    struct scope *s;
    const struct onnx_node *onnx;
    const struct op_row *row;
    int64_t opset;
    size_t input_count;  /* excluding trailing absent ones */
    struct val **inputs; /* NULL: absent */
    struct val *outputs; /* onnx->output_count of them, set by the translator */
};

/* The translators referred to by op.def. */
#define OP(name, since, min, max, folds, translate, arg) translator translate;
#include "onnx/op.def"

/* ---- import.c: scopes and nodes ---- */

/* Adds an error about the current node; returns false. */
bool refuse_node(struct scope *s, const char *format, ...) PRINTF_LIKE(2, 3);
/* Opens a scope nested in `outer`. */
void begin_scope(struct scope *s, struct scope *outer);
/* Binds a name to a value in the scope. */
void bind_val(struct scope *s, struct str name, struct val v);
struct val *find_val(struct scope *s, struct str name);
bool translate_by(struct scope *s, const struct onnx_node *node, const struct op_row *row,
                  struct val *outputs);
/* Translates the nodes of a graph whose inputs are bound. `outputs` must have g->output_count
 * elements. */
bool translate_graph(struct scope *s, const struct onnx_graph *g, struct val *outputs);

/* ---- fold.c: executes a node whose inputs are known; false if that is not possible ---- */

bool fold_node(struct scope *s, const struct onnx_node *node, const struct op_row *row,
               struct val *outputs);

/* ---- emit.c: instructions ---- */

void put_dims(struct buf *b, const struct array *a); /* "[2,<=3]" */
void put_shape(struct buf *b, const struct array *a);
/* Emits an instruction of type `a`, named after the node's output. `attributes` is a format; "" for
 * none. */
hlo_inst *emit_op(struct scope *s, const struct array *a, const char *opcode,
                  hlo_inst *const *operands, size_t count, const char *attributes, ...)
    PRINTF_LIKE(6, 7);
/* The same with the result shape as text. */
hlo_inst *emit_typed(struct scope *s, const char *shape, const char *opcode,
                     hlo_inst *const *operands, size_t count, const char *attributes);
hlo_inst *emit_unary(struct scope *s, const struct array *a, const char *opcode, hlo_inst *x);
hlo_inst *emit_binary(struct scope *s, const struct array *a, const char *opcode, hlo_inst *x,
                      hlo_inst *y);
hlo_inst *emit_compare(struct scope *s, const struct array *like, const char *direction,
                       hlo_inst *x, hlo_inst *y);
hlo_inst *emit_select(struct scope *s, const struct array *a, hlo_inst *pred, hlo_inst *x,
                      hlo_inst *y);
hlo_inst *emit_convert(struct scope *s, hlo_inst *x, struct array *a, int elem); /* modifies `a` */
hlo_inst *emit_iota(struct scope *s, int elem, int64_t size);
/* Dimension k of x becomes dimension to[k] of the result, which has type `a`. */
hlo_inst *emit_broadcast(struct scope *s, hlo_inst *x, const struct array *a, const int64_t *to,
                         int count);
hlo_inst *emit_parameter(struct scope *s, size_t number, const char *shape, struct str name);
hlo_inst *emit_scalar(struct scope *s, int elem, const char *value); /* a constant, "0" or "inf" */
hlo_inst *emit_int(struct scope *s, int elem, int64_t value);
hlo_inst *emit_zero(struct scope *s, int elem);
const char *ints_text(struct import *imp, const int64_t *at, size_t count); /* "{0,1}" */
const char *count_text(struct import *imp, int64_t from, int64_t to);       /* "{from,...,to-1}" */
struct str legal_name(struct import *imp, struct str name);

/* Literals that are freed at the end of the import. */
void free_literals(struct import *imp);
/* Transfers ownership of a literal to the import; returns it. */
hlo_literal *keep_literal(struct import *imp, hlo_literal *l);
hlo_literal *literal_of_ints(struct scope *s, int elem, int rank, const int64_t *dims,
                             const int64_t *values);
hlo_literal *literal_of_scalar(struct scope *s, int elem, const char *value);
/* literals.c; freed by the caller. */
hlo_literal *copy_array(const hlo_literal *l, hlo_messages *m);
size_t known_count(const struct val *v); /* number of elements; 0 if they are unknown */
int64_t known_int(const struct val *v, size_t i);
double known_double(const struct val *v, size_t i);

struct array array_of(int elem, int rank, const int64_t *dims);
struct array scalar_of(int elem);
bool array_is_static(const struct array *a);
int64_t array_elements(const struct array *a); /* product of the bounds, saturating at INT64_MAX */
int64_t mul_most(int64_t a, int64_t b);        /* product, saturating at INT64_MAX */
bool elem_is_float(int elem);
bool elem_is_signed(int elem);
bool elem_is_int(int elem);

/* ---- size.c: integers known during the import or at run time, and dynamic dimensions ---- */

struct num {
    hlo_inst *i;   /* s64[] */
    hlo_inst *s32; /* the same as s32[]; may be NULL */
    int64_t n;
    bool known;
};
static inline struct num num_of(int64_t n) { return (struct num){.n = n, .known = true}; }
hlo_inst *num_inst(struct scope *s, struct num x); /* as s64[] */
/* The result of a binary opcode on two integers, computed immediately if both are known. */
struct num num_op(struct scope *s, const char *opcode, struct num x, struct num y);
/* `yes` if the comparison of a and b holds, else `no`. */
struct num num_if(struct scope *s, struct num a, const char *direction, struct num b,
                  struct num yes, struct num no);
struct num num_clamp(struct scope *s, struct num low, struct num x, struct num high);
struct num num_element(struct scope *s, struct val *v, int64_t i); /* of a vector or scalar */
/* Of a shape, which should be known: sets needs_values. */
struct num num_shape_element(struct scope *s, struct val *v, int64_t i);
struct num num_size(struct scope *s, hlo_inst *x, const struct array *a, int d);
int64_t num_most(struct num x, int64_t bound); /* the number if known, else the bound */
/* Sets dimension d of x to the size `n`, s32[], in an array of type `a`. */
hlo_inst *emit_sized(struct scope *s, hlo_inst *x, const struct array *a, int d, hlo_inst *n);
/* Sets a dynamic dimension to its bound, so that it is static. */
hlo_inst *whole(struct scope *s, hlo_inst *x, struct array *a, int d);
/* Sets the size of dimension d of x; `a` becomes the type of the result. */
hlo_inst *set_size(struct scope *s, hlo_inst *x, struct array *a, int d, struct num size);
/* Converts x from type `from` to type `to` of the same rank: padded where its bounds are smaller,
 * cut where they are larger. An actual size beyond the new bound is an error at run time. */
hlo_inst *fit_array(struct scope *s, hlo_inst *x, const struct array *from, const struct array *to);
/* The elements of x, in row-major order, with other dimensions. */
hlo_inst *reshape_to(struct scope *s, hlo_inst *x, const struct array *from, const struct array *to,
                     const struct num *sizes);
/* Adds dimensions of size 1: those of the `rank` result dimensions for which `is_new` is true. */
hlo_inst *add_ones(struct scope *s, hlo_inst *x, struct array *a, const bool *is_new, int rank);
/* Gathers the elements of dimension d at these indices, s64[count]; the size of d becomes
 * `size`. */
hlo_inst *take_at(struct scope *s, hlo_inst *x, struct array *a, int d, hlo_inst *indices,
                  int64_t count, struct num size);
/* Slices dimension d: `size` elements, at most `bound`, from `start` on with a step. */
hlo_inst *take_range(struct scope *s, hlo_inst *x, struct array *a, int d, struct num start,
                     struct num step, struct num size, int64_t bound);

/* ---- types.c: types of values ---- */

bool is_sequence(const struct val *v);
bool is_optional(const struct val *v);
struct val tensor_val(const struct array *a, hlo_inst *data);
struct array sequence_data(const struct val *v);  /* T[<=n, d...] */
struct array sequence_sizes(const struct val *v); /* s64[<=n, r] */
bool same_type(const struct val *a, const struct val *b);
/* The smallest type that holds values of both; false if none. */
bool join_arrays(const struct array *a, const struct array *b, struct array *out);
bool join_types(const struct val *a, const struct val *b, struct val *out);
/* Converts a value to a larger type. */
struct val val_coerce(struct scope *s, struct val *v, const struct val *to);
void put_type(struct buf *b, const struct val *v);              /* in HLO syntax */
const char *type_text(struct import *imp, const struct val *v); /* in ONNX syntax, for messages */
/* Conversion of a value to one instruction, and back. */
hlo_inst *val_pack(struct scope *s, struct val *v);
struct val val_unpack(struct scope *s, const struct val *type, hlo_inst *x);
/* v->data of a tensor; emits a constant if only its elements are known. */
hlo_inst *data_of(struct scope *s, struct val *v);

/* ---- for translators ---- */

const struct onnx_attr *attr_find(const struct node *n, const char *name);
/* The value of an integer attribute, or `otherwise` if absent. */
int64_t attr_int(const struct node *n, const char *name, int64_t otherwise);
const struct onnx_graph *graph_attr(struct node *n, const char *name); /* NULL with a message */
struct val *input_of(struct node *n, size_t k);                        /* NULL: absent */
struct val *tensor_of(struct node *n, size_t k); /* a tensor; NULL with a message */
/* A vector of sizes, int64[n]; NULL with a message. */
struct val *shape_input(struct node *n, size_t k);
bool set_tensor(struct node *n, const struct array *a, hlo_inst *x); /* sets the first output */
bool set_val(struct node *n, size_t k, struct val v);
bool set_known(struct node *n, hlo_literal *l, int elem);
/* -1 is the last; false with a message. */
bool axis_of(struct node *n, int64_t axis, int rank, int *out);
/* A list of integers that must be known, from an input (SIZE_MAX: none) or an attribute (NULL:
 * none). False with a message. `given` is false for an absent list. */
struct int_list {
    const int64_t *at;
    size_t count;
    bool given;
};
bool known_list(struct node *n, size_t input, const char *attr, struct int_list *out);

/* ops_shape.c: broadcasts x to these sizes; `to` has their bounds. */
hlo_inst *expand_to(struct scope *s, hlo_inst *x, const struct array *from, struct array *to,
                    const struct num *sizes);
/* ops_index.c: slices dimension d from start to end with a step. */
hlo_inst *slice_axis(struct scope *s, hlo_inst *x, struct array *a, int d, struct num start,
                     struct num end, struct num step);
/* ops_reduce.c: the sum over dimension d. */
hlo_inst *sum_over(struct scope *s, hlo_inst *x, struct array *a, int d);

/* ops_sequence.c: moves dimension `from` to position `to`; the others keep their order. */
hlo_inst *move_dimension(struct scope *s, hlo_inst *x, struct array *a, int from, int to);

struct val *sequence_input(struct node *n, size_t k); /* NULL with a message */
/* The number of elements of a sequence. */
struct num length_of(struct scope *s, struct val *seq);
/* The size of dimension d of element `at`. */
struct num size_at(struct scope *s, struct val *seq, struct num at, int d);
/* Checks that there are elements, all of one rank; false with a message. */
bool check_elements(struct node *n, struct val *seq);
struct val empty_sequence(struct scope *s, int elem);
/* `ok` false: with a message. */
struct val sequence_of(struct scope *s, struct val *elements, size_t count, bool *ok);

#endif
