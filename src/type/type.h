/*
 * type: element types, shapes, layouts, index spaces and strided views.
 *
 * Shapes and layouts are immutable, live in an arena and may be shared freely.
 */
#ifndef HLO_TYPE_H
#define HLO_TYPE_H

#include "base/base.h"

/* ---- dtype.c: element types ---- */

struct c64 {
    float re, im;
};
struct c128 {
    double re, im;
};

enum dtype {
#define DTYPE(id, spelling, bits, bytes, class, storage, compute, number) DT_##id,
#include "type/dtype.def"
    DT_COUNT,
    DT_INVALID = DT_COUNT
};

enum dtype_class { DC_PRED, DC_SIGNED, DC_UNSIGNED, DC_FLOAT, DC_COMPLEX, DC_OTHER };

struct dtype_info {
    const char *spelling;
    uint8_t length; /* length of the spelling */
    uint8_t bits;   /* width in the language */
    uint8_t bytes;  /* width of one element in memory */
    uint8_t number; /* in XLA's typed FFI; 0: none */
    enum dtype_class class;
};
extern const struct dtype_info dtype_table[DT_COUNT + 1]; /* the last row is that of DT_INVALID */

static inline const char *dtype_spelling(enum dtype t) { return dtype_table[t].spelling; }
static inline size_t dtype_bytes(enum dtype t) { return dtype_table[t].bytes; }
static inline unsigned dtype_bits(enum dtype t) { return dtype_table[t].bits; }
static inline enum dtype_class dtype_class(enum dtype t) { return dtype_table[t].class; }
static inline bool dtype_is_array(enum dtype t) { return dtype_table[t].class != DC_OTHER; }
static inline bool dtype_is_float(enum dtype t) { return dtype_table[t].class == DC_FLOAT; }
static inline bool dtype_is_complex(enum dtype t) { return dtype_table[t].class == DC_COMPLEX; }
static inline bool dtype_is_signed(enum dtype t) { return dtype_table[t].class == DC_SIGNED; }
static inline bool dtype_is_unsigned(enum dtype t) { return dtype_table[t].class == DC_UNSIGNED; }
static inline bool dtype_is_integer(enum dtype t)
{
    return dtype_is_signed(t) || dtype_is_unsigned(t);
}
static inline bool dtype_is_subbyte(enum dtype t) /* integers and f4 of fewer than eight bits */
{
    return dtype_table[t].bits > 0 && dtype_table[t].bits < 8;
}
/* DT_INVALID if `word` is not an element type that text may contain (tuple and buffer are not). */
enum dtype dtype_find(struct str word);
enum dtype dtype_component(enum dtype t); /* c64 -> f32, c128 -> f64, otherwise t itself */
enum dtype dtype_unsigned(enum dtype t);  /* the unsigned integer type of the same width */
/* The more precise of two types (grammar/shapes.md 1.1); DT_INVALID for two different types of
 * equal precision. */
enum dtype dtype_higher(enum dtype a, enum dtype b);

/* ---- float.c: formats of the float types ---- */

enum float_specials { FS_IEEE, FS_FN, FS_FNUZ, FS_FNU, FS_SAT };
struct float_format {
    uint8_t exponent_bits, mantissa_bits;
    int16_t bias;
    uint8_t specials; /* enum float_specials */
    uint8_t digits;   /* significant digits that XLA prints */
};
const struct float_format *float_format(enum dtype t); /* t must be a float type */

/* Codes are the storage bits in the low bits of a word. Encoding rounds to nearest, ties to even,
 * directly from the double; overflow follows the rules of the format. NaN keeps its sign if the
 * format has one, but not its payload. */
uint64_t float_encode(enum dtype t, double v);
double float_decode(enum dtype t, uint64_t code);
double float_max(enum dtype t); /* largest finite value */
bool float_code_is_nan(enum dtype t, uint64_t code);
/* Loads or stores one element of any float type at `p`. */
double float_load(enum dtype t, const void *p);
void float_store(enum dtype t, void *p, double v);

static inline float f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = h & 0x7fff;
    union {
        uint32_t u;
        float f;
    } v;
    if (rest >= 0x7c00) {
        v.u = sign | 0x7f800000 | (rest & 0x3ff) << 13;
    } else {
        /* The exponent is 112 too small: multiplying by 2^112 also corrects subnormals. */
        v.u = rest << 13;
        v.f *= 0x1p112f;
        v.u |= sign;
    }
    return v.f;
}
static inline float bf16_to_f32(uint16_t h)
{
    union {
        uint32_t u;
        float f;
    } v = {(uint32_t)h << 16};
    return v.f;
}
static inline uint16_t f32_to_bf16(float f)
{
    union {
        float f;
        uint32_t u;
    } v = {f};
    if ((v.u & 0x7fffffff) > 0x7f800000)
        return (uint16_t)((v.u >> 16 & 0x8000) | 0x7fc0);
    return (uint16_t)((v.u + 0x7fff + (v.u >> 16 & 1)) >> 16);
}

/* ---- layout.c ---- */

#define TILE_COMBINE INT64_MIN /* a `*` entry: combined with the next dimension */

struct tile {
    int rank;
    const int64_t *dims;
};
struct split_config {
    int64_t dimension;
    int count;
    const int64_t *indices;
};
struct layout {
    int rank;
    const int64_t *minor_to_major;
    int tile_count;
    const struct tile *tiles;
    int64_t tail_padding;                /* L(n) in elements; default 1 */
    enum dtype index_type, pointer_type; /* #(t) *(t): DT_COUNT: absent, DT_TUPLE: "invalid" */
    int64_t element_bits;                /* E(n); 0: absent */
    int64_t memory_space;                /* S(n) */
    int split_count;
    const struct split_config *splits;
    int64_t metadata_prefix; /* M(n) */
};

/* The descending layout; shared up to rank 8. */
const struct layout *layout_default(struct arena *a, int rank);
bool layout_is_default(const struct layout *l);         /* descending, without other properties */
bool layout_is_descending(const struct layout *l);      /* other properties are ignored */
bool ints_are_permutation(int n, const int64_t *order); /* of 0 ... n - 1 */
/* NULL if the layout is valid for an array of these dimensions; otherwise the problem. */
struct shape;
const char *layout_problem(const struct layout *l, const struct shape *s);

/* ---- shape.c ---- */

#define DIM_UNBOUNDED INT64_MIN /* a `?` dimension; its dynamic flag is set as well */

struct shape {
    enum dtype dtype;            /* DT_TUPLE, DT_TOKEN, DT_OPAQUE, DT_BUFFER or an element type */
    int rank;                    /* arrays */
    const int64_t *dims;         /* bounds of dynamic dimensions */
    const bool *dynamic;         /* NULL: all dimensions are static */
    const struct layout *layout; /* arrays: never NULL; others: NULL */
    int count;                   /* tuples: number of components; buffers: 1 */
    const struct shape *const *elements;
    /* Summaries over all components, so that nested shapes need not be walked: */
    bool inner_dynamic, inner_unbounded, inner_buffer;
    int depth;    /* nesting depth of a tuple, itself included; 0: not a tuple */
    double bytes; /* size of the arrays in a tuple */
    /* Number of leaves; of leaves and tuples, itself included; saturate at INT64_MAX. */
    int64_t leaves, parts;
    /* Index of the first leaf of each component; NULL: each component is a leaf, or there are
     * none. */
    const int64_t *starts;
};
/* Limits on inferred shapes: more parts take too long to walk, a greater depth takes too much
 * stack. */
enum { SHAPE_MAX_PARTS = 1 << 20, SHAPE_MAX_DEPTH = 4096 };

static inline bool shape_is_array(const struct shape *s) { return dtype_is_array(s->dtype); }
static inline bool shape_is_tuple(const struct shape *s) { return s->dtype == DT_TUPLE; }
static inline bool shape_is_token(const struct shape *s) { return s->dtype == DT_TOKEN; }
static inline bool shape_is_scalar(const struct shape *s)
{
    return shape_is_array(s) && s->rank == 0;
}
static inline bool shape_is_scalar_of(const struct shape *s, enum dtype t)
{
    return s->dtype == t && s->rank == 0;
}
static inline bool shape_dim_dynamic(const struct shape *s, int d)
{
    return s->dynamic && s->dynamic[d];
}
bool shape_has_dynamic(const struct shape *s);   /* in any component */
bool shape_has_unbounded(const struct shape *s); /* in any component */
static inline bool shape_has_buffer(const struct shape *s)
{
    return s->dtype == DT_BUFFER || s->inner_buffer;
}

/* Copies `dims` and `dynamic` (may be NULL); layout NULL means descending. */
const struct shape *shape_array(struct arena *a, enum dtype t, int rank, const int64_t *dims,
                                const bool *dynamic, const struct layout *layout);
const struct shape *shape_scalar(struct arena *a, enum dtype t);
const struct shape *shape_tuple(struct arena *a, int count, const struct shape *const *elements);
const struct shape *shape_token(void);
const struct shape *shape_opaque(void);
const struct shape *shape_buffer(struct arena *a, const struct shape *array);
/* The same dimensions, flags and layout with another element type; E(n) is dropped unless `t` is
 * narrower than a byte. */
const struct shape *shape_with_dtype(struct arena *a, const struct shape *s, enum dtype t);
/* The same shape with another layout. */
const struct shape *shape_with_layout(struct arena *a, const struct shape *s,
                                      const struct layout *l);
/* Deep copy into another arena. */
const struct shape *shape_copy(struct arena *a, const struct shape *s);

/* Number of elements; false on overflow, for an unbounded dimension, or if `s` is not an array. */
bool shape_elements(const struct shape *s, int64_t *out);
bool shape_bytes(const struct shape *s, int64_t *out); /* size in storage; tuples: the sum */
static inline int64_t shape_bytes_or(const struct shape *s, int64_t otherwise)
{
    int64_t bytes;
    return shape_bytes(s, &bytes) ? bytes : otherwise;
}
int64_t shape_leaf_count(const struct shape *s); /* non-tuple leaves */
static inline int64_t shape_first_leaf(const struct shape *s, int64_t element)
{
    return s->starts ? s->starts[element] : element;
}
/* The component of a tuple that contains leaf number *leaf, which becomes its number there. */
int shape_component_of(const struct shape *s, int64_t *leaf);
static inline int64_t shape_part_count(const struct shape *s) { return s->parts ? s->parts : 1; }
/* The component at an index path; NULL if none. */
const struct shape *shape_at(const struct shape *s, const int64_t *index, size_t depth);

/* What a comparison ignores; 0: full equality. */
enum shape_ignore {
    IGNORE_LAYOUT = 1,       /* the whole layout */
    IGNORE_DYNAMIC = 2,      /* the `<=` flags */
    IGNORE_ELEMENT = 4,      /* element types */
    IGNORE_FP_PRECISION = 8, /* all float types are equal */
    IGNORE_TILES = 16,
    IGNORE_ELEMENT_BITS = 32,
    IGNORE_MEMORY_SPACE = 64,
    IGNORE_TAIL_PADDING = 128,
    IGNORE_SPLITS = 256,
    UNBOUNDED_MATCHES = 512, /* a `?` dimension equals any size */
    SHAPE_MTM_ONLY = IGNORE_TILES | IGNORE_ELEMENT_BITS | IGNORE_MEMORY_SPACE |
                     IGNORE_TAIL_PADDING | IGNORE_SPLITS
};
bool shape_equal(const struct shape *a, const struct shape *b, unsigned ignore);
bool layout_equal(const struct layout *a, const struct layout *b, unsigned ignore);
/* Compatible shapes (grammar/shapes.md 1.3). */
static inline bool shape_compatible(const struct shape *a, const struct shape *b)
{
    return shape_equal(a, b, IGNORE_LAYOUT | IGNORE_DYNAMIC | UNBOUNDED_MATCHES);
}
static inline bool shape_compatible_fp(const struct shape *a, const struct shape *b)
{
    return shape_equal(a, b,
                       IGNORE_LAYOUT | IGNORE_DYNAMIC | UNBOUNDED_MATCHES | IGNORE_FP_PRECISION);
}
static inline bool shape_compatible_any(const struct shape *a, const struct shape *b)
{
    return shape_equal(a, b, IGNORE_LAYOUT | IGNORE_DYNAMIC | UNBOUNDED_MATCHES | IGNORE_ELEMENT);
}
bool shape_same_dims(const struct shape *a, const struct shape *b); /* arrays, CD on each size */
static inline bool dim_compatible(int64_t a, int64_t b)
{
    return a == b || a == DIM_UNBOUNDED || b == DIM_UNBOUNDED;
}

/* Canonical text, `f32[2,3]{1,0}`; the layout is optional. */
void shape_print(struct buf *out, const struct shape *s, bool with_layout);
void layout_print(struct buf *out, const struct layout *l);
struct str shape_text(struct arena *a, const struct shape *s); /* without layout, for messages */

/* ---- shape.c: index spaces and strided views ---- */

enum { VIEW_MAX_RANK = 32 }; /* limit of the evaluator; text has none */

/* Elements in memory: the element at index i is at data + sum(i[d] * strides[d]) BYTES. */
struct view {
    enum dtype dtype;
    int rank;
    int64_t dims[VIEW_MAX_RANK];
    int64_t strides[VIEW_MAX_RANK];
    char *data;
};

static inline int64_t view_elements(const struct view *v)
{
    return dims_elements(v->rank, v->dims);
}
/* Row-major without gaps (dimensions of size 1 may have any stride). */
bool view_is_dense(const struct view *v);
/* Sets a view to a dense row-major array at `data`. The strides of an empty array are 0, since
 * those of a row-major array may overflow, as for f32[0,2^62]. */
void view_dense(struct view *v, enum dtype t, int rank, const int64_t *dims, void *data);
static inline char *view_at(const struct view *v, const int64_t *index)
{
    char *p = v->data;
    for (int d = 0; d < v->rank; d++)
        p += index[d] * v->strides[d];
    return p;
}
/* The row-major index of element number `number`. */
static inline void index_at(int rank, const int64_t *dims, int64_t number, int64_t *index)
{
    for (int d = rank - 1; d >= 0; d--) {
        index[d] = number % dims[d];
        number /= dims[d];
    }
}
/* Advances a row-major index; false after the last one (the index is then zero again). */
static inline bool index_next(int rank, const int64_t *dims, int64_t *index)
{
    for (int d = rank - 1; d >= 0; d--) {
        if (++index[d] < dims[d])
            return true;
        index[d] = 0;
    }
    return false;
}

#endif
