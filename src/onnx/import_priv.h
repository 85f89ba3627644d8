/*
 * What the files of the importer share: values under translation, and the calls that make instructions.
 *
 * A value of ONNX is a `struct val`: its type as far as it is known now, the instructions that hold it, and its
 * elements where they are known already. A node whose inputs are all known is run at once (fold.c), so axes,
 * shapes and bounds that a model computes are plain numbers wherever they can be; `struct num` is an integer
 * that is either such a number or an s64[] instruction.
 */
#ifndef HLO_ONNX_IMPORT_PRIV_H
#define HLO_ONNX_IMPORT_PRIV_H

#include "onnx/onnx.h"

enum {
    ONNX_MAX_RANK = 24,    /* of tensors; sequences of them and scans have one dimension more */
    ONNX_MAX_NESTING = 32, /* of graphs */
    ONNX_SMALL = 1024,     /* elements of what is run at once, and written again in every computation */
};

/* Numbers of onnx/dtype.def that the translation itself needs. */
enum { ELEM_F32 = 1, ELEM_S32 = 6, ELEM_S64 = 7, ELEM_PRED = 9, ELEM_F64 = 11, ELEM_BF16 = 16 };

/* The type of an array. A dynamic dimension is bounded by its number. */
struct array {
    int elem; /* 0: not known, of what is `open` */
    int rank;
    int64_t dims[ONNX_MAX_RANK + 1];
    bool dynamic[ONNX_MAX_RANK + 1];
};

struct val {
    enum onnx_kind kind;
    struct array a; /* of a sequence: of its elements; a dynamic dimension differs between them */
    int64_t length; /* of a sequence: its bound, at least 1 */
    bool mixed;     /* a sequence whose elements may have a lower rank than `a` */
    bool open;      /* an empty sequence or optional of which nothing says what it could hold: `a` has rank 0 */
    hlo_inst *data, *sizes, *there; /* the array or the elements of a sequence, their sizes, whether an optional is there */
    const hlo_literal *known;       /* of a tensor: its elements; then `data` may wait until it is wanted */
};

struct import {
    const struct onnx_model *model;
    int64_t bound;
    bool specialize;   /* integers among the given inputs count as known */
    bool wants_values; /* something had to be known, or would be better known, and was not */
    struct arena *arena;
    struct kept *kept; /* literals, freed at the end */
    int64_t nodes;     /* that may still be translated: nested loops are translated several times */
    int depth;         /* of graphs */
};

/* Where names are looked up and instructions go. Scopes of branches that were chosen at once share the
 * computation of the scope around them. */
struct scope {
    struct import *imp; /* of all scopes */
    hlo_messages *m;
    hlo_builder *b;
    hlo_computation *c;
    struct scope *outer;
    struct map vals;       /* name -> struct val */
    struct map *names;     /* of instructions in `c` -> how many there are */
    struct map *constants; /* scalars in `c`, by their text */
    const struct onnx_node *node; /* that is being translated */
    bool types_only; /* nobody will run this */
};

/* A row of op.def, and a node under translation by it. */
struct node;
typedef bool translator(struct node *n);
struct op_row {
    const char *name;
    int64_t since;
    int min_inputs, max_inputs; /* -1: any number */
    bool foldable;
    translator *translate;
    const char *arg; /* what the translator does for this one */
};
struct node {
    struct scope *s;
    const struct onnx_node *onnx;
    const struct op_row *row;
    int64_t opset;
    size_t input_count; /* without absent ones at the end */
    struct val **inputs; /* NULL: absent */
    struct val *outputs; /* onnx->output_count */
};

/* ---- import.c: scopes and nodes ---- */

/* Says of the node what is wrong; false. */
bool refuse_node(struct scope *s, const char *format, ...) PRINTF_LIKE(2, 3);
void begin_scope(struct scope *s, struct scope *outer);
void bind_val(struct scope *s, struct str name, const struct val *v);
struct val *find_val(struct scope *s, struct str name);
bool translate_by(struct scope *s, const struct onnx_node *node, const struct op_row *row, struct val *outputs);
/* The nodes of a graph whose inputs are bound, and its outputs; room for output_count of them. */
bool translate_graph(struct scope *s, const struct onnx_graph *g, struct val *outputs);

/* ---- fold.c: the outputs of a node that can be run now; false when it can't ---- */

bool fold_node(struct scope *s, const struct onnx_node *node, const struct op_row *row, struct val *outputs);

/* ---- emit.c: instructions ---- */

void put_dims(struct buf *b, const struct array *a); /* [2,<=3] */
void put_shape(struct buf *b, const struct array *a);
/* Named after the node's output. Attributes: a format, "" for none. */
hlo_inst *emit_op(struct scope *s, const struct array *a, const char *opcode, hlo_inst *const *operands, size_t count,
                  const char *attributes, ...) PRINTF_LIKE(6, 7);
hlo_inst *emit_typed(struct scope *s, const char *shape, const char *opcode, hlo_inst *const *operands, size_t count,
                     const char *attributes);
hlo_inst *emit_unary(struct scope *s, const struct array *a, const char *opcode, hlo_inst *x);
hlo_inst *emit_binary(struct scope *s, const struct array *a, const char *opcode, hlo_inst *x, hlo_inst *y);
hlo_inst *emit_compare(struct scope *s, const struct array *like, const char *direction, hlo_inst *x, hlo_inst *y);
hlo_inst *emit_select(struct scope *s, const struct array *a, hlo_inst *pred, hlo_inst *x, hlo_inst *y);
hlo_inst *emit_convert(struct scope *s, hlo_inst *x, struct array *a, int elem); /* changes `a` */
hlo_inst *emit_iota(struct scope *s, int elem, int64_t size);
/* Operand dimension k is dimension to[k] of the result; `a` is the result. */
hlo_inst *emit_broadcast(struct scope *s, hlo_inst *x, const struct array *a, const int64_t *to, int count);
hlo_inst *emit_parameter(struct scope *s, size_t number, const char *shape, struct str name);
hlo_inst *emit_scalar(struct scope *s, int elem, const char *value); /* a constant, "0" or "inf" */
hlo_inst *emit_int(struct scope *s, int elem, int64_t value);
hlo_inst *emit_zero(struct scope *s, int elem);
const char *ints_text(struct import *imp, const int64_t *at, size_t count); /* "{0,1}" */
const char *count_text(struct import *imp, int64_t from, int64_t to);       /* "{from,...,to-1}" */
struct str legal_name(struct import *imp, struct str name);

/* Literals live as long as the import. */
void free_literals(struct import *imp);
hlo_literal *keep_literal(struct import *imp, hlo_literal *l);
hlo_literal *literal_of_ints(struct scope *s, int elem, int rank, const int64_t *dims, const int64_t *values);
hlo_literal *literal_of_scalar(struct scope *s, int elem, const char *value);
hlo_literal *copy_array(const hlo_literal *l, hlo_messages *m); /* literals.c; the caller's own */
size_t known_count(const struct val *v); /* elements; 0 when they are not known */
int64_t known_int(const struct val *v, size_t i);
double known_double(const struct val *v, size_t i);

struct array array_of(int elem, int rank, const int64_t *dims);
struct array scalar_of(int elem);
bool array_is_static(const struct array *a);
int64_t array_elements(const struct array *a); /* of the bounds; INT64_MAX when there are more */
int64_t mul_most(int64_t a, int64_t b);        /* INT64_MAX when it is more */
bool elem_is_float(int elem);
bool elem_is_signed(int elem);
bool elem_is_int(int elem);

/* ---- size.c: integers known now or at run time, and dynamic dimensions ---- */

struct num {
    hlo_inst *i;   /* s64[] */
    hlo_inst *s32; /* the same as s32[], where there is such an instruction */
    int64_t n;
    bool known;
};
static inline struct num num_of(int64_t n) { return (struct num){.n = n, .known = true}; }
hlo_inst *num_inst(struct scope *s, struct num x);                    /* s64[] */
struct num num_op(struct scope *s, const char *opcode, struct num x, struct num y);
struct num num_if(struct scope *s, struct num a, const char *direction, struct num b, struct num yes, struct num no);
struct num num_clamp(struct scope *s, struct num low, struct num x, struct num high);
struct num num_element(struct scope *s, struct val *v, int64_t i); /* of a vector or scalar */
struct num num_shape_element(struct scope *s, struct val *v, int64_t i); /* of a shape: better known before the run */
struct num num_size(struct scope *s, hlo_inst *x, const struct array *a, int d);
int64_t num_most(struct num x, int64_t bound); /* itself or the bound */
/* Dimension d of x gets this size; `a` becomes the type of the result. */
hlo_inst *set_size(struct scope *s, hlo_inst *x, struct array *a, int d, struct num size);
/* x of type `from` as `to`: larger where it has to be padded, cut where it doesn't fit (an error at run time when
 * it is too large then). Ranks are the same. */
hlo_inst *fit_array(struct scope *s, hlo_inst *x, const struct array *from, const struct array *to);
/* x in these dimensions, the same elements in row-major order. */
hlo_inst *reshape_to(struct scope *s, hlo_inst *x, const struct array *from, const struct array *to, const struct num *sizes);
hlo_inst *add_ones(struct scope *s, hlo_inst *x, struct array *a, const bool *is_new, int rank); /* dimensions of size 1 */
/* The elements of dimension d at these indices, s64[count]; its size becomes `size`. */
hlo_inst *take_at(struct scope *s, hlo_inst *x, struct array *a, int d, hlo_inst *indices, int64_t count, struct num size);
/* From `start` in steps, `size` elements of at most `bound`. */
hlo_inst *take_range(struct scope *s, hlo_inst *x, struct array *a, int d, struct num start, struct num step, struct num size,
                     int64_t bound);

/* ---- types.c: types of values ---- */

bool is_sequence(const struct val *v);
bool is_optional(const struct val *v);
struct val tensor_val(const struct array *a, hlo_inst *data);
struct array sequence_data(const struct val *v);  /* T[<=n, d...] */
struct array sequence_sizes(const struct val *v); /* s64[<=n, r] */
bool same_type(const struct val *a, const struct val *b);
/* The type that holds both; false when there is none. */
bool join_arrays(const struct array *a, const struct array *b, struct array *out);
bool join_types(const struct val *a, const struct val *b, struct val *out);
struct val val_coerce(struct scope *s, struct val *v, const struct val *to);
void put_type(struct buf *b, const struct val *v); /* as HLO */
const char *type_text(struct import *imp, const struct val *v); /* for messages */
/* One instruction for a value, and a value of such an instruction. */
hlo_inst *val_pack(struct scope *s, struct val *v);
struct val val_unpack(struct scope *s, const struct val *type, hlo_inst *x);
hlo_inst *data_of(struct scope *s, struct val *v); /* of a tensor, made a constant where it is only known */

/* ---- for translators ---- */

const struct onnx_attr *attr_find(const struct node *n, const char *name);
int64_t attr_int(const struct node *n, const char *name, int64_t otherwise);
struct val *input_of(struct node *n, size_t k);   /* NULL: absent */
struct val *tensor_of(struct node *n, size_t k);  /* a tensor; NULL with a message */
struct val *shape_input(struct node *n, size_t k); /* one that asks for sizes, int64[n]; NULL with a message */
bool give_tensor(struct node *n, const struct array *a, hlo_inst *x); /* the first output, a tensor */
bool give_val(struct node *n, size_t k, const struct val *v);
bool give_known(struct node *n, hlo_literal *l, int elem);
bool axis_of(struct node *n, int64_t axis, int rank, int *out); /* -1 is the last */
/* A list of integers that has to be known: of an input, or of an attribute (SIZE_MAX, NULL: of none). False with a
 * message; when it is absent it is not `given`. */
struct int_list {
    const int64_t *at;
    size_t count;
    bool given;
};
bool known_list(struct node *n, size_t input, const char *attr, struct int_list *out);

/* ops_shape.c: x repeated to these sizes, which are bounded so */
hlo_inst *expand_to(struct scope *s, hlo_inst *x, const struct array *from, struct array *to, const struct num *sizes);
/* ops_index.c: dimension d from start to end */
hlo_inst *slice_axis(struct scope *s, hlo_inst *x, struct array *a, int d, struct num start, struct num end, struct num step);
/* ops_reduce.c: the sum over dimension d */
hlo_inst *sum_over(struct scope *s, hlo_inst *x, struct array *a, int d);

/* ops_sequence.c: dimension `from` goes to place `to`, the others keep their order */
hlo_inst *move_dimension(struct scope *s, hlo_inst *x, struct array *a, int from, int to);

/* sequence.c */
struct val *sequence_input(struct node *n, size_t k); /* NULL with a message */
struct num length_of(struct scope *s, struct val *seq);
struct num size_at(struct scope *s, struct val *seq, struct num at, int d); /* of element `at` */
bool check_elements(struct node *n, struct val *seq); /* some, and of one rank */
struct val empty_sequence(struct scope *s, int elem);
struct val sequence_of(struct scope *s, struct val *elements, size_t count, bool *ok); /* not `ok`: with a message */

#endif
