/*
 * ir: modules, computations, instructions, attributes and literals, and their construction.
 *
 * Everything except tensor storage is allocated in the module's arena and freed with the module,
 * never separately. Names and strings refer to the module's text or to its arena.
 */
#ifndef HLO_IR_H
#define HLO_IR_H

#include "base/base.h"
#include "diag/diag.h"
#include "op/op.h"
#include "type/type.h"

struct module;
struct computation;
struct inst;

/* ---- literal.c: values ---- */

/* An array has dense row-major storage. A tuple has `elements`. An elided value (`{...}` in the
 * text) has no storage; executing it is an error unless a value is supplied. */
struct literal {
    const struct shape *shape;
    bool elided;
    void *data;
    /* Owner of data in foreign memory, which is read-only; NULL: the literal owns the data. */
    struct owner *owner;
    struct literal **elements;
};

/* Returns a literal with zeroed storage; NULL if the allocation fails or the size overflows. The
 * literal owns array storage: literals of a module are freed with it, others by
 * literal_free_data. */
struct literal *literal_new(struct arena *a, const struct shape *shape);
/* Returns a tuple, which takes ownership of the array `elements`. If an element is NULL, frees the
 * storage of the others and returns NULL. */
struct literal *literal_tuple(struct arena *a, struct literal **elements, int count);
void literal_free_data(struct literal *l); /* frees the storage, recursively */
/* Deep copy of shape and storage; NULL if the allocation fails. */
struct literal *literal_copy(struct arena *a, const struct literal *l);

/* ---- attributes ---- */

struct ints {
    int64_t count;
    const int64_t *at;
};
struct ints_list {
    int64_t count;
    const struct ints *at;
};

struct window_dim {
    int64_t size, stride, pad_low, pad_high, base_dilation, window_dilation;
    bool reversal;
};
struct window {
    int rank;
    const struct window_dim *dims;
};

/* Positions of dimensions in each operand; spatial[i] is that of spatial dimension i. */
struct dim_labels {
    int spatial_count;
    int64_t input_batch, input_feature;
    const int64_t *input_spatial;
    int64_t kernel_input_feature, kernel_output_feature;
    const int64_t *kernel_spatial;
    int64_t output_batch, output_feature;
    const int64_t *output_spatial;
};

struct padding_dim {
    int64_t low, high, interior;
};
struct padding {
    int rank;
    const struct padding_dim *dims;
};

/* Padding of a window in builder forms. */
struct window_padding {
    enum { PAD_LIST, PAD_SAME, PAD_VALID } word;
    struct padding pads; /* PAD_LIST */
};

struct slice_dim {
    int64_t start, limit, stride;
};
struct slices {
    int rank;
    const struct slice_dim *dims;
};

/* A device order in iota form: iota over the reshape dimensions, transposed. */
struct iota_order {
    struct ints reshape;   /* canonical: no dimensions of size 1, mergeable ones merged */
    struct ints transpose; /* same length */
};

/* replica_groups */
enum group_form { GROUPS_LIST, GROUPS_IOTA, GROUPS_MESH };
struct device_list {
    enum group_form form;
    struct ints_list groups;         /* LIST */
    int64_t group_count, group_size; /* IOTA: [group_count,group_size]<=order; MESH: computed */
    struct iota_order order;
    const struct mesh *mesh; /* MESH */
    struct mesh_axes *axes;
};

struct metadata {
    struct str op_type, op_name, source_file;
    const struct metadata_rest *rest; /* NULL: none of these fields */
    int32_t source_line, source_end_line, source_column, source_end_column, stack_frame_id;
    /* stack_frame_id of the text if no table has that frame and the line is unknown; else 0. */
    int32_t missing_frame;
};
struct metadata_rest { /* rarely used fields */
    struct str deduplicated_name, scheduling_name, payload;
    bool has_payload;
    struct ints profile_type;
};

enum sharding_kind {
    SHARDING_REPLICATED,
    SHARDING_MAXIMAL,
    SHARDING_MANUAL,
    SHARDING_UNKNOWN,
    SHARDING_UNREDUCED,
    SHARDING_TILED,
    SHARDING_TUPLE,
    SHARDING_NAMED
};
enum tile_dim_type { TILE_MAXIMAL, TILE_MANUAL, TILE_UNREDUCED, TILE_REPLICATED };

struct mesh_axis {
    struct str name;
    int64_t size;
};
struct mesh {
    int axis_count;
    const struct mesh_axis *axes;
    bool maximal; /* maximal_mesh[device_id=N] */
    int64_t device;
    bool has_iota, has_list; /* device_ids, unless in the default order */
    struct iota_order order;
    struct ints device_ids;
};
struct axis_ref {
    int axis;               /* index into mesh axes */
    int64_t pre_size, size; /* sub-axis :(pre_size)size; size 0: the whole axis */
};
struct mesh_axes {
    int count;
    const struct axis_ref *at;
};
struct dim_sharding {
    struct mesh_axes axes;
    bool open; /* a final '?': may be sharded further */
};

struct sharding {
    enum sharding_kind kind;
    /* TILED, MAXIMAL */
    struct ints tile;
    bool explicit_devices; /* a list, else iota */
    struct ints devices;
    struct iota_order order;
    bool last_tile_dim_replicate;
    int last_type_count;
    const uint8_t *last_types; /* enum tile_dim_type */
    /* NAMED */
    const struct mesh *mesh;
    int dim_count;
    const struct dim_sharding *dims;
    struct mesh_axes replicated, unreduced, manual;
    struct str reduction; /* XLA's main branch: unreduced=sum{...} */
    /* TUPLE */
    int element_count;
    struct sharding **elements;
    /* all kinds */
    enum { SHARD_NO_GROUP, SHARD_AS, SHARD_LIKE } group;
    int64_t group_id;
    int metadata_count;
    const struct metadata *metadata;
};

struct string_pair {
    struct str key, value;
};
struct frontend_attributes {
    int count;
    const struct string_pair *at; /* sorted by key */
};

struct statistics {
    int64_t visualizing_index;
    int count;
    const struct statistic {
        struct str name;
        double value;
    } * at;
};

struct alias {
    struct ints output;
    int64_t operand;
    struct ints index;
    bool must; /* must-alias; module level only */
};
struct aliasing {
    int count;
    const struct alias *at;
};

struct origin { /* original value: a tree with the structure of the instruction's shape */
    bool synthetic_call;
    bool leaf, named;
    struct str name;
    struct ints index;
    int count;
    const struct origin *elements;
};

struct result_accuracy {
    bool tolerance, highest;
    double atol, rtol;
    int64_t ulps;
};

struct sparsity_side {
    bool given;
    int64_t n, m, dimension, stride;
};
struct sparsity_config {
    struct sparsity_side lhs, rhs;
};

struct domain {
    struct sharding *entry, *exit;
};

struct bool_list {
    int count;
    const bool *at;
};
struct enum_list {
    int count;
    const uint8_t *at;
};
struct computation_list {
    int count;
    struct computation **at;
};
struct inst_list {
    int count;
    struct inst **at;
};
struct shape_list {
    int count;
    const struct shape *const *at;
};

/* One attribute; attr_table[id].kind selects the member that holds the value. */
struct attr {
    uint8_t id;       /* enum attr_id */
    struct span span; /* name and value */
    union attr_value {
        bool b;                               /* BOOL */
        int64_t i;                            /* INT INT32 */
        int e;                                /* ENUM; DTYPE: enum dtype */
        double f;                             /* FLOAT */
        struct str s;                         /* STRING STRING_OR_DICT */
        struct ints ints;                     /* INT_LIST */
        struct ints_list ints_list;           /* INT_LIST_LIST */
        struct bool_list bools;               /* BOOL_LIST */
        struct enum_list enums;               /* ENUM_LIST */
        struct computation *computation;      /* COMPUTATION */
        struct computation_list computations; /* COMPUTATION_LIST */
        struct inst_list insts;               /* INST_LIST */
        const struct shape *shape;            /* SHAPE */
        struct shape_list shapes;             /* SHAPE_LIST */
        struct slices slices;
        struct padding padding;
        struct window window;
        const struct window_padding *window_padding;
        const struct dim_labels *dim_labels;
        const struct device_list *groups; /* DEVICE_LIST */
        struct aliasing aliasing;
        struct frontend_attributes frontend;
        const struct metadata *metadata;
        struct sharding *sharding;
        const struct domain *domain;
        const struct statistics *statistics;
        const struct origin *origin;
        const struct result_accuracy *accuracy;
        const struct sparsity_config *sparsity;
        struct literal *literal;
    } v;
};

/* ---- instructions ---- */

struct inst {
    uint8_t opcode;      /* enum opcode */
    bool sugar;          /* async-*: written as OP-start, OP-update or OP-done */
    bool shape_inferred; /* the text omits the result shape */
    int index;           /* in its computation, in order of creation */
    int operand_count, attr_count;
    int user_count;  /* uses as an operand, counted by inst_new */
    struct str name; /* without '%' */
    const struct shape *shape;
    struct inst **operands;
    struct attr *attrs; /* attributes of the opcode in the order of op.def, then common ones */
    union {
        int64_t number;          /* parameter */
        struct literal *literal; /* constant */
    };
    struct computation *parent;
    struct span span; /* whole instruction */
    struct span name_span, shape_span, opcode_span;
};

struct computation {
    struct str name;
    struct module *module;
    int index; /* in module->computations */
    int inst_count;
    struct inst **insts; /* in order of creation */
    /* The order in which module_order visits the instructions, as indices of `insts`, for the first
     * `visit_count` ones; NULL, or if there are more: the order of creation. */
    const int *visit_order;
    int visit_count;
    struct inst *root;
    int param_count;        /* parameters so far, until the computation is finished */
    struct inst **params;   /* by number */
    int64_t *leaves_before; /* by parameter number: number of leaves of all preceding parameters */
    bool marks_callees;     /* contains instructions that module_link processes */
    struct str execution_thread; /* default "main" */
    bool fused;                  /* called by a fusion */
    struct inst *async_start;    /* the async-start that calls it, or NULL */
    struct span span, name_span;
};

struct stack_frame_tables {
    bool given;
    int file_count, function_count, location_count, frame_count;
    struct str *files, *functions;
    struct file_location {
        int32_t file, function, line, end_line, column, end_column;
    } * locations;
    struct stack_frame {
        int32_t location, parent; /* number of the parent, 0: none */
    } * frames;
};

struct recovery_entry {
    struct origin old_value, new_value;
    struct module *module; /* may be NULL */
};

struct module {
    struct arena arena;
    struct source source; /* the text is not copied: it outlives the module or is in the arena */
    struct str name;
    int computation_count;
    struct computation **computations; /* in order of completion */
    struct computation *entry;
    bool is_scheduled;
    bool alias_passthrough_params;
    int64_t replica_count, num_partitions; /* default 1 */
    struct aliasing input_output_alias;    /* sorted by output index */
    struct aliasing buffer_donor;          /* operand and index; sorted */
    bool has_entry_layout;                 /* present in the text */
    int entry_param_count;
    const struct shape **entry_params; /* entry_computation_layout */
    const struct shape *entry_result;
    struct bool_list spmd_to_parameters, spmd_to_output; /* count 0: absent */
    struct frontend_attributes frontend;
    struct stack_frame_tables frames;
    int recovery_count;
    struct recovery_entry *recovery;
    struct str debug_attributes; /* XLA's main branch: kept verbatim */
    struct literal **owned;      /* literals whose storage is freed with the module */
    size_t owned_count, owned_capacity;
    /* The module that this one was derived from, referenced because this one may share names,
     * shapes and literals; or NULL. */
    struct module *base;
    _Atomic size_t holders; /* references besides that of the creator */
};

/* ---- ir.c: construction and accessors ---- */

struct module *module_new(void);
void module_free(struct module *m); /* releases one reference; frees the module with the last one */
/* Adds a reference; returns m. */
struct module *module_hold(struct module *m);
/* Transfers ownership of the literal's storage to the module (the literal itself may be in any
 * memory that lives as long). */
void module_own_literal(struct module *m, struct literal *l);

/* Creates a computation. computation_finish appends it to the module's list, which is in order of
 * completion. */
struct computation *computation_new(struct module *m, struct str name);
/* Finishes a computation: the root defaults to the last instruction, and the parameters are indexed
 * by number. False, with nothing changed, if the computation is empty or its n parameters are not
 * numbered 0 ... n-1, each once. */
bool computation_finish(struct computation *c);
/* Appends an instruction to the computation; operands are copied. Attributes are added with
 * inst_set_attr. */
struct inst *inst_new(struct computation *c, enum opcode op, struct str name,
                      const struct shape *shape, int operand_count, struct inst *const *operands);
/* Adds or replaces an attribute, in the order of op.def, common ones last. */
struct attr *inst_set_attr(struct module *m, struct inst *i, enum attr_id id, union attr_value v,
                           struct span span);
void inst_remove_attr(struct inst *i, enum attr_id id);
/* Replaces the attributes by those of another instruction; the values they refer to are shared. */
void inst_copy_attrs(struct module *m, struct inst *i, const struct inst *from);

const struct attr *inst_attr(const struct inst *i, enum attr_id id); /* NULL when absent */
static inline bool inst_has(const struct inst *i, enum attr_id id)
{
    return inst_attr(i, id) != NULL;
}
bool inst_bool(const struct inst *i, enum attr_id id); /* false when absent */
static inline const struct shape *operand_shape(const struct inst *i, int k)
{
    return i->operands[k]->shape;
}
/* A side effect of its own; those of its callees aside. */
bool inst_has_effect(const struct inst *i);
/* The value of a key of its frontend attributes; NULL: absent. */
const struct str *inst_frontend(const struct inst *i, const char *key);
bool ints_product(struct ints v, int64_t *out); /* false on overflow */
int64_t inst_int(const struct inst *i, enum attr_id id, int64_t absent);
int inst_enum(const struct inst *i, enum attr_id id, int absent);
struct ints inst_ints(const struct inst *i, enum attr_id id); /* empty when absent */
/* The dimension that a sort is along. A negative one counts from the end, as in StableHLO. False if
 * the operands have no such dimension: XLA's verifier accepts any number. */
bool inst_sort_dimension(const struct inst *i, int *out);
struct window inst_window(const struct inst *i); /* rank 0 when absent */
struct computation *inst_computation(const struct inst *i, enum attr_id id); /* NULL when absent */
struct str inst_str(const struct inst *i, enum attr_id id);                  /* empty when absent */
const struct metadata *inst_metadata(const struct inst *i);                  /* NULL when absent */
/* The instruction's span if absent. */
struct span inst_attr_span(const struct inst *i, enum attr_id id);

/* The computations that an instruction calls, in XLA's order (while: body before condition).
 * Returns their number; `out` may be NULL. */
int inst_callees(const struct inst *i, struct computation **out);
/* The same as a list in the arena; NULL if it is empty. */
struct computation **inst_callee_list(struct arena *a, const struct inst *i, int *count);

/* The effective comparison type of a compare, and that of its element type: enum E_TYPE_*. */
int inst_compare_type(const struct inst *i);
int inst_usual_compare_type(const struct inst *i);

/* The meaning of the ids in a collective's groups or pairs: E_MODE_... (grammar/values.md 16.2). */
int inst_group_mode(const struct inst *i);

/* "file.py:12" of the innermost known stack frame or of the metadata; empty if unknown. */
struct str inst_where(struct arena *a, const struct inst *i);

int32_t inst_missing_frame(const struct inst *i); /* missing_frame of its metadata; 0: none */

/* ---- mesh.c: devices of meshes and of orders in iota form ---- */

/* Element `at` of the order. */
int64_t iota_order_at(const struct iota_order *o, int64_t at);
/* The device at a position of the mesh: an index into the product of its axes, of which the last
 * varies fastest. */
int64_t mesh_device_at(const struct mesh *m, int64_t at);
bool mesh_device_count(const struct mesh *m, int64_t *out); /* false on overflow */
/* The size of an axis, or of a part of one, and the distance of positions that are adjacent along
 * it. */
int64_t mesh_axis_size(const struct mesh *m, struct axis_ref a);
int64_t mesh_axis_stride(const struct mesh *m, struct axis_ref a);
/* The number of devices that axes span; false on overflow. */
bool mesh_axes_product(const struct mesh *m, struct mesh_axes axes, int64_t *out);

/* ---- onnx_loop.c: ONNX's operator Loop as a custom call ---- */

enum { ONNX_LOOP_NEWEST = 25 };
struct onnx_loop {
    int64_t version;
    bool has_count, has_condition; /* whether M and cond are operands, before the carried values */
};
bool inst_is_onnx_loop(const struct inst *i);
/* Parses the backend_config of such a call. Returns NULL, or the problem. */
const char *onnx_loop_config(struct str text, struct arena *a, struct onnx_loop *out);

/* ---- order.c ---- */

/* The canonical order of a computation's instructions (grammar/text.md 5.3): postorder, or the
 * order of creation if the module is scheduled. Returns inst_count pointers in `a`. */
struct inst **computation_order(struct arena *a, const struct computation *c);
/* The instruction after i, computation by computation; the first one if i is NULL; NULL: none. */
struct inst *module_next(const struct module *m, const struct inst *i);
/* Postorder, scheduled or not. */
struct inst **computation_postorder(struct arena *a, const struct computation *c);
/* All computations, callees before callers, in the order of printing (grammar/text.md 5.2); their
 * number in *n. Includes those written as async sugar, which the printer skips. */
struct computation **module_order(struct arena *a, const struct module *m, int *n);
/* Whether an async computation consists of parameters and a root only, so that it is written as
 * sugar. */
bool computation_is_async_sugar(const struct computation *c);

/* ---- names.c ---- */

struct uniquifier;
struct uniquifier *uniquifier_new(struct arena *a);
/* Returns a name that is not in use yet (grammar/text.md 4.4). It may share the bytes of `prefix`,
 * which must live as long as the uniquifier. */
struct str uniquifier_name(struct uniquifier *u, struct str prefix);
/* Whether an instruction may have this name (grammar/text.md 4.3). */
bool name_is_legal_inst(struct str name);
/* The nearest legal name, with invalid characters replaced by `_`; may be `name` itself. */
struct str name_sanitize(struct arena *a, struct str name);
/* Makes all names of the module unique, as XLA does after parsing. */
void module_uniquify(struct module *m);

/* Fills in fused and async marks once a module is complete. */
void module_link(struct module *m);

#endif
