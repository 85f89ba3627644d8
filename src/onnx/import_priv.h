/*
 * What the files of the importer share: values under translation, and functions that make
 * instructions.
 *
 * During translation, a value of ONNX is a `struct val`: its type as far as it is known, the
 * instructions that hold it, and its elements if they are already known. A node whose inputs are
 * all known is run at once (fold.c), so that axes, shapes and bounds that a model computes are
 * plain numbers wherever possible. A `struct num` is an integer that is either such a number or an
 * s64[] instruction.
 */
#ifndef HLO_ONNX_IMPORT_PRIV_H
#define HLO_ONNX_IMPORT_PRIV_H

#include "onnx/onnx.h"

enum {
    ONNX_MAX_RANK = 24,    /* of tensors; arrays of sequences and scans have one dimension more */
    ONNX_MAX_NESTING = 32, /* of graphs */
    ONNX_SMALL = 1024,     /* most elements of a value that is computed at once and written again in
                              each computation */
};

/* Numbers of onnx/dtype.def that the translation itself needs. */
enum { ELEM_F32 = 1, ELEM_S32 = 6, ELEM_S64 = 7, ELEM_PRED = 9, ELEM_F64 = 11, ELEM_BF16 = 16 };

/* The type of an array. The number of a dynamic dimension is its bound. */
struct array {
    int elem; /* 0: unknown, for a val that is `open` */
    int rank;
    int64_t dims[ONNX_MAX_RANK + 1];
    bool dynamic[ONNX_MAX_RANK + 1];
};

struct val {
    enum onnx_kind kind;
    struct array a; /* for a sequence, the type of its elements; dynamic dimensions may differ
                       between them */
    int64_t length; /* for a sequence: its bound, at least 1 */
    bool mixed;     /* a sequence whose elements may have a lower rank than `a` */
    bool open; /* an empty sequence or optional whose element type nothing determines: `a` has rank
                  0 */
    hlo_inst *data, *sizes,
        *there; /* the array, or a sequence's elements; their sizes; whether an optional is there */
    const hlo_literal
        *known; /* a tensor's elements; `data` is then NULL until data_of makes a constant */
};

struct import {
    const struct onnx_model *model;
    int64_t bound;
    bool specialize;   /* integers among the given inputs count as known */
    bool wants_values; /* an integer had to be known, or had better be, and was not */
    struct arena *arena;
    struct kept *kept; /* literals, freed at the end */
    int64_t nodes; /* how many may still be translated: nested loops are translated several times */
    int depth;     /* of nested graphs */
};

/* Where names are looked up and instructions are added. The scope of a branch that is chosen during
 * translation shares the computation of the scope around it. */
struct scope {
    struct import *imp; /* shared by all scopes */
    hlo_messages *m;
    hlo_builder *b;
    hlo_computation *c;
    struct scope *outer;
    struct map vals;              /* name -> struct val */
    struct map *names;            /* of instructions in `c` -> how many there are */
    struct map *constants;        /* text of a scalar -> its constant in `c` */
    const struct onnx_node *node; /* the one that is being translated */
    bool types_only;              /* the module is only made to find types, and never run */
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
    const char *arg; /* for the translator: often the opcode */
};
struct node {
    struct scope *s;
    const struct onnx_node *onnx;
    const struct op_row *row;
    int64_t opset;
    size_t input_count;  /* without trailing absent ones */
    struct val **inputs; /* NULL: absent */
    struct val *outputs; /* as many as onnx->output_count; for the translator to fill in */
};

/* ---- import.c: scopes and nodes ---- */

/* Adds an error about the current node. Is false. */
bool refuse_node(struct scope *s, const char *format, ...) PRINTF_LIKE(2, 3);
void begin_scope(struct scope *s, struct scope *outer);
void bind_val(struct scope *s, struct str name, const struct val *v);
struct val *find_val(struct scope *s, struct str name);
bool translate_by(struct scope *s, const struct onnx_node *node, const struct op_row *row,
                  struct val *outputs);
/* Translates the nodes of a graph whose inputs are bound. `outputs` has room for g->output_count
 * values. */
bool translate_graph(struct scope *s, const struct onnx_graph *g, struct val *outputs);

/* ---- fold.c: runs a node whose inputs are known; false when that is not possible ---- */

bool fold_node(struct scope *s, const struct onnx_node *node, const struct op_row *row,
               struct val *outputs);

/* ---- emit.c: instructions ---- */

void put_dims(struct buf *b, const struct array *a); /* "[2,<=3]" */
void put_shape(struct buf *b, const struct array *a);
/* An instruction of type `a`, named after the node's output. `attributes` is a format, "" for none.
 */
hlo_inst *emit_op(struct scope *s, const struct array *a, const char *opcode,
                  hlo_inst *const *operands, size_t count, const char *attributes, ...)
    PRINTF_LIKE(6, 7);
hlo_inst *emit_typed(struct scope *s, const char *shape, const char *opcode,
                     hlo_inst *const *operands, size_t count, const char *attributes);
hlo_inst *emit_unary(struct scope *s, const struct array *a, const char *opcode, hlo_inst *x);
hlo_inst *emit_binary(struct scope *s, const struct array *a, const char *opcode, hlo_inst *x,
                      hlo_inst *y);
hlo_inst *emit_compare(struct scope *s, const struct array *like, const char *direction,
                       hlo_inst *x, hlo_inst *y);
hlo_inst *emit_select(struct scope *s, const struct array *a, hlo_inst *pred, hlo_inst *x,
                      hlo_inst *y);
hlo_inst *emit_convert(struct scope *s, hlo_inst *x, struct array *a, int elem); /* changes `a` */
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

/* These literals live as long as the import. */
void free_literals(struct import *imp);
hlo_literal *keep_literal(struct import *imp, hlo_literal *l);
hlo_literal *literal_of_ints(struct scope *s, int elem, int rank, const int64_t *dims,
                             const int64_t *values);
hlo_literal *literal_of_scalar(struct scope *s, int elem, const char *value);
hlo_literal *copy_array(const hlo_literal *l,
                        hlo_messages *m); /* in literals.c; freed by the caller */
size_t known_count(const struct val *v);  /* of elements; 0 when they are not known */
int64_t known_int(const struct val *v, size_t i);
double known_double(const struct val *v, size_t i);

struct array array_of(int elem, int rank, const int64_t *dims);
struct array scalar_of(int elem);
bool array_is_static(const struct array *a);
int64_t array_elements(const struct array *a); /* product of the bounds; at most INT64_MAX */
int64_t mul_most(int64_t a, int64_t b);        /* product; at most INT64_MAX */
bool elem_is_float(int elem);
bool elem_is_signed(int elem);
bool elem_is_int(int elem);

/* ---- size.c: integers known now or at run time, and dynamic dimensions ---- */

struct num {
    hlo_inst *i;   /* s64[] */
    hlo_inst *s32; /* the same as s32[], if there is such an instruction; or NULL */
    int64_t n;
    bool known;
};
static inline struct num num_of(int64_t n) { return (struct num){.n = n, .known = true}; }
hlo_inst *num_inst(struct scope *s, struct num x); /* as s64[] */
struct num num_op(struct scope *s, const char *opcode, struct num x, struct num y);
struct num num_if(struct scope *s, struct num a, const char *direction, struct num b,
                  struct num yes, struct num no);
struct num num_clamp(struct scope *s, struct num low, struct num x, struct num high);
struct num num_element(struct scope *s, struct val *v, int64_t i); /* of a vector or scalar */
struct num num_shape_element(struct scope *s, struct val *v,
                             int64_t i); /* of a shape, which had better be known: wants_values */
struct num num_size(struct scope *s, hlo_inst *x, const struct array *a, int d);
int64_t num_most(struct num x, int64_t bound); /* the number if it is known, else the bound */
/* Sets the size of dimension d of x; `a` becomes the type of the result. */
hlo_inst *set_size(struct scope *s, hlo_inst *x, struct array *a, int d, struct num size);
/* Makes x, of type `from`, an array of type `to` of the same rank: padded where its bounds are
 * smaller, cut where they are larger. If the actual size is too large then, that is an error at run
 * time. */
hlo_inst *fit_array(struct scope *s, hlo_inst *x, const struct array *from, const struct array *to);
/* The elements of x, in row-major order, in other dimensions. */
hlo_inst *reshape_to(struct scope *s, hlo_inst *x, const struct array *from, const struct array *to,
                     const struct num *sizes);
/* Adds dimensions of size 1: those of the `rank` dimensions of the result that are `is_new`. */
hlo_inst *add_ones(struct scope *s, hlo_inst *x, struct array *a, const bool *is_new, int rank);
/* Takes the elements of dimension d at these indices, s64[count]; the size of d becomes `size`. */
hlo_inst *take_at(struct scope *s, hlo_inst *x, struct array *a, int d, hlo_inst *indices,
                  int64_t count, struct num size);
/* Takes `size` elements of dimension d, at most `bound`, from `start` on in steps. */
hlo_inst *take_range(struct scope *s, hlo_inst *x, struct array *a, int d, struct num start,
                     struct num step, struct num size, int64_t bound);

/* ---- types.c: types of values ---- */

bool is_sequence(const struct val *v);
bool is_optional(const struct val *v);
struct val tensor_val(const struct array *a, hlo_inst *data);
struct array sequence_data(const struct val *v);  /* T[<=n, d...] */
struct array sequence_sizes(const struct val *v); /* s64[<=n, r] */
bool same_type(const struct val *a, const struct val *b);
/* The smallest type that holds values of both; false when there is none. */
bool join_arrays(const struct array *a, const struct array *b, struct array *out);
bool join_types(const struct val *a, const struct val *b, struct val *out);
struct val val_coerce(struct scope *s, struct val *v, const struct val *to);
void put_type(struct buf *b, const struct val *v);              /* as HLO's shape */
const char *type_text(struct import *imp, const struct val *v); /* as ONNX's type, for messages */
/* A value as one instruction, and back. */
hlo_inst *val_pack(struct scope *s, struct val *v);
struct val val_unpack(struct scope *s, const struct val *type, hlo_inst *x);
hlo_inst *
data_of(struct scope *s,
        struct val *v); /* v->data of a tensor; makes a constant when only its elements are known */

/* ---- for translators ---- */

const struct onnx_attr *attr_find(const struct node *n, const char *name);
int64_t attr_int(const struct node *n, const char *name, int64_t otherwise);
struct val *input_of(struct node *n, size_t k);  /* NULL: absent */
struct val *tensor_of(struct node *n, size_t k); /* a tensor; NULL with a message */
struct val *shape_input(struct node *n,
                        size_t k); /* a vector of sizes, int64[n]; NULL with a message */
bool give_tensor(struct node *n, const struct array *a, hlo_inst *x); /* sets the first output */
bool give_val(struct node *n, size_t k, const struct val *v);
bool give_known(struct node *n, hlo_literal *l, int elem);
bool axis_of(struct node *n, int64_t axis, int rank,
             int *out); /* -1 is the last; false with a message */
/* A list of integers that must be known, from an input (SIZE_MAX: none) or an attribute (NULL:
 * none). False with a message. An absent list is not `given`. */
struct int_list {
    const int64_t *at;
    size_t count;
    bool given;
};
bool known_list(struct node *n, size_t input, const char *attr, struct int_list *out);

/* ops_shape.c: repeats x to these sizes; `to` has their bounds */
hlo_inst *expand_to(struct scope *s, hlo_inst *x, const struct array *from, struct array *to,
                    const struct num *sizes);
/* ops_index.c: takes the elements of dimension d from start to end, in steps */
hlo_inst *slice_axis(struct scope *s, hlo_inst *x, struct array *a, int d, struct num start,
                     struct num end, struct num step);
/* ops_reduce.c: the sum over dimension d */
hlo_inst *sum_over(struct scope *s, hlo_inst *x, struct array *a, int d);

/* ops_sequence.c: moves dimension `from` to place `to`; the others keep their order */
hlo_inst *move_dimension(struct scope *s, hlo_inst *x, struct array *a, int from, int to);

/* sequence.c */
struct val *sequence_input(struct node *n, size_t k); /* NULL with a message */
struct num length_of(struct scope *s, struct val *seq);
struct num size_at(struct scope *s, struct val *seq, struct num at,
                   int d); /* size of dimension d of element `at` */
bool check_elements(struct node *n,
                    struct val *seq); /* there are some, and all of one rank; else a message */
struct val empty_sequence(struct scope *s, int elem);
struct val sequence_of(struct scope *s, struct val *elements, size_t count,
                       bool *ok); /* `ok` false: with a message */

#endif
