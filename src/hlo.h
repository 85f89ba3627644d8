/*
 * libhlo: read, check, print and run HLO modules.
 *
 * The command line uses nothing else. Handles are opaque; what a function returns is freed by the
 * function named in its comment. No function keeps a pointer it was given past its return, except
 * where said. Nothing here aborts: every failure is a message with a place. Functions may be
 * called from several threads at once on different handles.
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

/* A byte buffer made by the library; free with hlo_text_free. Always NUL-terminated. */
typedef struct hlo_text {
    char *data;
    size_t size;
} hlo_text;
void hlo_text_free(hlo_text *text);

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
hlo_text hlo_messages_json(const hlo_messages *m); /* an array */
/* Adds an error without a place in a text, for callers with failures of their own. */
void hlo_messages_add(hlo_messages *m, const char *file, const char *text);

/* ---- files and modules ---- */

/* Reads PATH ("-": standard input) and splits it at `// -----` lines unless `strict`. NULL with a
 * message when it cannot be read. Free with hlo_file_free; modules and messages may outlive it. */
hlo_file *hlo_file_open(const char *path, bool strict, hlo_messages *m);
hlo_file *hlo_file_of_text(const char *name, const char *text, size_t size, bool strict); /* copies */
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
 * `{...}`, as XLA's dumps do; SHORT is XLA's short form, without metadata, percent signs and signatures. */
enum hlo_print_style { HLO_PRINT_FULL, HLO_PRINT_ABRIDGED, HLO_PRINT_SHORT };
hlo_text hlo_print(const hlo_module *module, enum hlo_print_style style);
int64_t hlo_replica_count(const hlo_module *module);
int64_t hlo_num_partitions(const hlo_module *module);
/* Parameters of the entry computation; -1 when there is no such name. A name that another computation
 * has too is x.1 in the module; it is found as x all the same, where no other parameter could be meant. */
size_t hlo_param_count(const hlo_module *module);
const char *hlo_param_name(const hlo_module *module, size_t i);
hlo_text hlo_param_shape(const hlo_module *module, size_t i);
long hlo_param_find(const hlo_module *module, const char *name);
/* Line of the instruction that makes component `element` of the result, or all of it. */
uint32_t hlo_result_line(const hlo_module *module, size_t element);

/* ---- values ---- */

void hlo_literal_free(hlo_literal *l);
/* Shape and values, `f32[2] {1, 2}`; NULL with messages. Free with hlo_literal_free. A literal always has
 * the sizes of its values: `f32[<=10] {1, 2}` is an array of two elements. It fits a parameter of that
 * shape, as does any array up to the bound; results come out in the same way. */
hlo_literal *hlo_literal_parse(const char *text, size_t size, hlo_messages *m);
hlo_text hlo_literal_print(const hlo_literal *l, bool with_shape);
hlo_text hlo_literal_shape(const hlo_literal *l);
size_t hlo_literal_leaves(const hlo_literal *l);
/* A flat leaf in order: spelling of its element type, rank, sizes, and its dense row-major storage
 * (types below a byte take one byte an element). Pointers live as long as the literal. */
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
hlo_literal *hlo_literal_tuple(hlo_literal **elements, size_t count); /* takes the elements over */
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
/* True when shapes and values agree; else `why` says where first, both values, and the worst error. */
bool hlo_literal_compare(const hlo_literal *actual, const hlo_literal *expected, const struct hlo_tolerance *t, hlo_text *why);

/* ---- reading and writing arrays ---- */

/* The value of a parameter: a .npy file for an array; an .npz file with all leaves of all parameters,
 * `prefix`0, `prefix`1, ... flattened in order. Raw bits are read as the type of the parameter. */
hlo_literal *hlo_read_npy(const char *path, const hlo_module *module, size_t param, hlo_messages *m);
hlo_literal *hlo_read_npz(const char *path, const char *prefix, const hlo_module *module, size_t param, hlo_messages *m);
/* Every output leaf of the entry computation from `prefix`0, `prefix`1, ... */
hlo_literal *hlo_read_npz_result(const char *path, const char *prefix, const hlo_module *module, hlo_messages *m);
bool hlo_write_npy(const char *path, const hlo_literal *l, hlo_messages *m);
bool hlo_write_npz(const char *path, const char *prefix, const hlo_literal *l, hlo_messages *m);
/* Puts bytes into a file, all or nothing. */
bool hlo_write_text(const char *path, const char *text, size_t size, hlo_messages *m);
/* Reproducible numbers by the recipe of peers.py; `// peers:` hints of the text are obeyed. */
hlo_literal *hlo_random_param(const hlo_module *module, size_t param, uint64_t seed, hlo_messages *m);

/* ---- running ---- */

enum hlo_elided { HLO_ELIDED_REFUSE, HLO_ELIDED_ZERO, HLO_ELIDED_IOTA, HLO_ELIDED_RANDOM };
struct hlo_run_options {
    bool plain;              /* the plain kernels: the formula of each op, the same bits everywhere */
    enum hlo_elided elided;  /* what stands for constants written `{...}` */
    uint64_t seed;           /* of HLO_ELIDED_RANDOM */
    int64_t replica, partition; /* which participant this is; 0 */
    /* Limits of one run, 0 for none. What goes beyond ends in an error; see hlo_messages_limit. They are
     * looked at between instructions, so that a single long one still comes to its end. */
    uint64_t max_steps;  /* instructions run and iterations of loops */
    uint64_t max_memory; /* bytes of values alive at once */
    double timeout;      /* seconds */
};
/* Makes a verified module ready to run; the module must outlive the program. NULL with messages. */
hlo_program *hlo_plan(const hlo_module *module, const struct hlo_run_options *options, hlo_messages *m);
void hlo_program_free(hlo_program *p);
/* Runs the entry computation on one literal for each parameter. NULL with messages; else the
 * result, to be freed with hlo_literal_free. Its dynamic dimensions are as large as they came out; its
 * fixed ones are complete, with zeros where nothing was stored. */
hlo_literal *hlo_run(hlo_program *p, const hlo_literal *const *args, size_t count, hlo_messages *m);

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
};
bool hlo_op_example(size_t op, size_t i, struct hlo_op_example *out);
/* The module of an example, written for other types than its own where they are given. */
hlo_text hlo_op_example_text(size_t op, size_t i, const char *dtype, const char *other);
/* The element types; NULL past the end. */
const char *hlo_dtype_name(size_t i);
bool hlo_dtype_is_array(size_t i); /* else tuples, tokens and their like */

#ifdef __cplusplus
}
#endif

#endif
