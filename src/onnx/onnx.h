/*
 * onnx: models of ONNX become HLO modules, and their values HLO values.
 *
 * A model is read from protobuf into the plain structs below (read.c, data.c: the only files that know
 * protobuf-c), then translated with the builder of hlo.h (import.c and one file for each family of
 * operators). What ONNX has and HLO lacks is laid out in arrays:
 *
 *   a dimension known only at run time   a bounded one, `<=8`
 *   a sequence   (T[<=n, d...], s64[<=n, r]): its elements, padded to the largest, one after the
 *                other, and for each its dimensions, -1 behind the last of an element of lower rank
 *   an optional  (pred[], value): whether it is there, and the value, or one of zeros and empty dimensions
 *
 * Everything of a model lives in its arena.
 */
#ifndef HLO_ONNX_H
#define HLO_ONNX_H

#include "base/base.h"
#include "hlo.h"

/* Numbers of TensorProto.DataType as in onnx.proto; names and HLO types in one table, onnx/dtype.def. */
enum onnx_kind { ONNX_UNKNOWN, ONNX_TENSOR, ONNX_SEQUENCE, ONNX_OPTIONAL, ONNX_OPTIONAL_SEQUENCE };

struct onnx_type {
    enum onnx_kind kind;
    int elem;     /* data type number of the tensor, or of the tensors of the sequence; 0: not said */
    int rank;     /* -1: not said */
    int64_t *dims; /* -1: not said or only named */
};

struct onnx_value_info {
    struct str name;
    struct onnx_type type;
};

/* A value as the host sees it: of an input, an output, an attribute. */
struct onnx_value {
    enum onnx_kind kind;
    bool present;               /* an optional that is empty is not; all else is */
    int elem;                   /* data type number; of an empty sequence maybe 0 */
    hlo_literal *tensor;        /* ONNX_TENSOR, ONNX_OPTIONAL; owned by the value */
    struct onnx_value *elements; /* tensors of a sequence; from calloc, owned by the value */
    size_t count;
};

struct onnx_attr {
    struct str name;
    enum { ONNX_ATTR_NONE, ONNX_ATTR_INT, ONNX_ATTR_FLOAT, ONNX_ATTR_STRING, ONNX_ATTR_TENSOR, ONNX_ATTR_GRAPH,
           ONNX_ATTR_TYPE, ONNX_ATTR_INTS, ONNX_ATTR_FLOATS, ONNX_ATTR_STRINGS, ONNX_ATTR_OTHER } kind;
    int64_t i;
    float f;
    struct str s;
    struct onnx_value tensor;
    struct onnx_graph *graph;
    struct onnx_type type;
    size_t count; /* of the lists */
    int64_t *ints;
    float *floats;
    struct str *strings;
};

struct onnx_node {
    struct str name, op, domain;
    size_t input_count, output_count, attr_count;
    struct str *inputs, *outputs; /* an empty name: absent */
    struct onnx_attr *attrs;
};

struct onnx_initializer {
    struct str name;
    struct onnx_value value;
};

struct onnx_graph {
    struct str name;
    size_t input_count, output_count, node_count, initializer_count;
    struct onnx_value_info *inputs, *outputs; /* initializers among the inputs are defaults */
    struct onnx_node *nodes;
    struct onnx_initializer *initializers;
};

struct onnx_model {
    struct arena arena;
    struct str path;
    int64_t ir_version, opset; /* opset of the domain ""; 0: the model imports others only */
    struct onnx_graph graph;
};

/* ---- type.c ---- */

const char *onnx_dtype_hlo(int elem);  /* HLO's spelling; NULL: it has no such type */
const char *onnx_dtype_name(int elem); /* ONNX's, "float"; "?" for a number that is none */
int onnx_dtype_find(const char *hlo);  /* 0: ONNX has no such type */
/* `float[5,?]`, `seq(float[?])`, `optional(seq(int64))`, `?`. */
void onnx_type_print(struct buf *b, const struct onnx_type *type);
/* Whether a value may stand where the type is declared; else a message about `who`. */
bool onnx_value_fits(const struct onnx_value *v, const struct onnx_type *type, const char *file, struct str who,
                     hlo_messages *m);
void onnx_value_free(struct onnx_value *v);
/* Adds an error about a file; false. */
bool onnx_error(hlo_messages *m, const char *file, const char *format, ...) PRINTF_LIKE(3, 4);

/* ---- read.c: the bytes of a model; NULL with messages that name `path` ---- */

bool onnx_built_in(void); /* or absent.c stands in for read.c and data.c */
struct onnx_model *onnx_read(const char *path, struct str bytes, hlo_messages *m);
void onnx_model_free(struct onnx_model *model); /* type.c */

/* ---- data.c: values in files ---- */

/* A TensorProto, SequenceProto or OptionalProto, whichever the type says. Fits the type. */
bool onnx_read_value(const char *path, const struct onnx_type *type, struct onnx_value *out, hlo_messages *m);

/* ---- import.c ---- */

struct onnx_import_options {
    /* Of the inputs of the graph that are no initializers, in their order; NULL: not known. Shapes that the
     * model leaves open are taken from them, and are `<=bound` where it has none; their values stay parameters. */
    const struct onnx_value *inputs;
    int64_t bound; /* of dimensions, trip counts and lengths that nothing else bounds */
};
/* The module of a model: one parameter for each input (a tuple for sequences and optionals), a tuple of
 * its outputs as result. NULL with messages. */
hlo_module *onnx_import(const struct onnx_model *model, const struct onnx_import_options *o, hlo_messages *m);
/* A value as the parameter of the module wants it, and a component of the result as a value; NULL,
 * false with messages. */
hlo_literal *onnx_to_literal(const struct onnx_value *v, const hlo_module *module, size_t param, hlo_messages *m);
bool onnx_from_literal(const hlo_literal *l, const struct onnx_type *type, struct onnx_value *out, hlo_messages *m);

#endif
