/*
 * onnx: translates ONNX models to HLO modules, and their values to HLO values and back.
 *
 * A model is read from protobuf into the structs below (by read.c, data.c, tensor.c and wire.c, the
 * only files that depend on protobuf-c), then translated with the builder of hlo_advanced.h (by
 * import.c and a file per family of operators). Concepts that HLO lacks are represented by arrays:
 *
 *   a dimension known only at run time   a bounded one, `<=8`
 *   a sequence    (T[<=n, d...], s64[<=n, r]): its elements, each padded to the
 *                 largest; and the sizes of each, followed by -1 where an element
 *                 has lower rank
 *   an optional   (pred[], value): whether it is present, and its value; an empty
 *                 one has zeros, and dynamic dimensions of size 0
 *
 * All data of a model are in its arena.
 */
#ifndef HLO_ONNX_H
#define HLO_ONNX_H

#include "base/base.h"
#include "hlo_advanced.h"

enum onnx_kind { ONNX_UNKNOWN, ONNX_TENSOR, ONNX_SEQUENCE, ONNX_OPTIONAL, ONNX_OPTIONAL_SEQUENCE };
/* Element types are numbers of TensorProto.DataType; onnx/dtype.def has their names in ONNX and
 * HLO. */

struct onnx_type {
    enum onnx_kind kind;
    int elem;      /* element type of the tensor, or of the tensors of the sequence; 0: unknown */
    int rank;      /* -1: unknown */
    int64_t *dims; /* -1: unknown, or only named */
};

struct onnx_value_info {
    struct str name;
    struct onnx_type type;
};

/* A value outside of modules: of an input, an output or an attribute. */
struct onnx_value {
    enum onnx_kind kind;
    bool present;        /* false: an empty optional */
    int elem;            /* element type; may be 0 for an empty sequence */
    hlo_literal *tensor; /* ONNX_TENSOR, ONNX_OPTIONAL; owned by the value */
    /* Tensors of a sequence; allocated by calloc, owned by the value. */
    struct onnx_value *elements;
    size_t count;
};

struct onnx_attr {
    struct str name;
    enum {
        ONNX_ATTR_NONE,
        ONNX_ATTR_INT,
        ONNX_ATTR_FLOAT,
        ONNX_ATTR_STRING,
        ONNX_ATTR_TENSOR,
        ONNX_ATTR_GRAPH,
        ONNX_ATTR_TYPE,
        ONNX_ATTR_INTS,
        ONNX_ATTR_FLOATS,
        ONNX_ATTR_STRINGS,
        ONNX_ATTR_OTHER
    } kind;
    int64_t i;
    float f;
    struct str s;
    struct onnx_value tensor;
    struct onnx_graph *graph;
    struct onnx_type type;
    size_t count; /* length of the list */
    int64_t *ints;
    float *floats;
    struct str *strings;
};

struct onnx_node {
    struct str name, op, domain;
    size_t input_count, output_count, attr_count;
    struct str *inputs, *outputs; /* names; empty: absent */
    struct onnx_attr *attrs;
};

struct onnx_initializer {
    struct str name;
    struct onnx_value value;
};

struct onnx_graph {
    struct str name;
    size_t input_count, output_count, node_count, initializer_count;
    /* Inputs that are initializers as well need no value. */
    struct onnx_value_info *inputs, *outputs;
    struct onnx_node *nodes;
    struct onnx_initializer *initializers;
};

struct onnx_model {
    struct arena arena;
    struct str path;
    int64_t ir_version,
        opset; /* version of the domain ""; 0: the model imports other domains only */
    struct onnx_graph graph;
};

/* ---- type.c ---- */

const char *onnx_dtype_hlo(int elem);  /* HLO's name; NULL: there is no such type */
const char *onnx_dtype_name(int elem); /* ONNX's name, "float"; "?" for an unknown number */
int onnx_dtype_find(const char *hlo);  /* 0: there is no such type */
/* Writes `float[5,?]`, `seq(float[?])`, `optional(seq(int64))` or `?`. */
void onnx_type_print(struct buf *b, const struct onnx_type *type);
/* Whether a value matches the declared type; otherwise a message about `who`. */
bool onnx_value_fits(const struct onnx_value *v, const struct onnx_type *type, const char *file,
                     struct str who, hlo_messages *m);
void onnx_value_free(struct onnx_value *v);
/* Adds an error about a file; returns false. */
bool onnx_error(hlo_messages *m, const char *file, const char *format, ...) PRINTF_LIKE(3, 4);

/* ---- read.c: reads a model; NULL with messages that name `path` ---- */

/* False: built without protobuf-c, with absent.c in place of read.c and data.c. */
bool onnx_built_in(void);
struct onnx_model *onnx_read(const char *path, struct str bytes, hlo_messages *m);
void onnx_model_free(struct onnx_model *model); /* type.c */

/* ---- data.c: values in files ---- */

/* Reads a TensorProto, SequenceProto or OptionalProto, depending on the type. False with messages,
 * also if the value does not match the type. */
bool onnx_read_value(const char *path, const struct onnx_type *type, struct onnx_value *out,
                     hlo_messages *m);

/* ---- import.c ---- */

struct onnx_import_options {
    /* Values for the inputs of the graph that are not initializers, in order. They determine the
     * sizes that the model leaves open; the inputs themselves remain parameters. NULL: open sizes
     * become `<=bound`. */
    const struct onnx_value *inputs;
    int64_t bound; /* for otherwise unbounded sizes, trip counts and lengths */
};
/* Returns the module of a model: a parameter for each input (a tuple for a sequence or optional),
 * and the outputs as a tuple. NULL with messages. */
hlo_module *onnx_import(const struct onnx_model *model, const struct onnx_import_options *o,
                        hlo_messages *m);
/* Converts a value to an argument of the module, and a component of the module's result to a value.
 * NULL or false with messages. */
hlo_literal *onnx_to_literal(const struct onnx_value *v, const hlo_module *module, size_t param,
                             hlo_messages *m);
bool onnx_from_literal(const hlo_literal *l, const struct onnx_type *type, struct onnx_value *out,
                       hlo_messages *m);

#endif
