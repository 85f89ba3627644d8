/*
 * Shared by the files of attribute values: the pairs of functions (parse, print) that attr.c
 * dispatches to by the kind of the value, and their helpers.
 *
 *   attr.c      dispatch, plain values and lists
 *   window.c    window, dim_labels, padding, slices
 *   block.c     `{key=value ...}` blocks
 *   metadata.c  metadata, strings, statistics, aliasing
 *   origin.c    original values
 *   sharding.c  shardings by tile, device lists
 *   mesh.c      shardings by mesh axes
 *   sharding_canon.c  canonical form of tilings
 */
#ifndef HLO_ATTR_PRIV_H
#define HLO_ATTR_PRIV_H

#include "text/text_priv.h"

/* The context of a value. `options` is NULL when parsing. */
struct attr_site {
    enum attr_id id;
    const struct inst *inst;
    const struct print_options *options;
};

#define ATTR_PAIR(name)                                                                            \
    bool parse_##name##_value(struct parser *p, const struct attr_site *site,                      \
                              union attr_value *out);                                              \
    void print_##name##_value(struct buf *out, const struct attr_site *site, union attr_value v)

/* Define a function of a pair by one that does not depend on the context: it parses a member of the
 * union, or prints `value`, an expression of `v`. */
#define PARSE_BY(name, function, member)                                                           \
    bool parse_##name##_value(struct parser *p, const struct attr_site *site,                      \
                              union attr_value *out)                                               \
    {                                                                                              \
        return function(p, &out->member);                                                          \
    }
#define PRINT_BY(name, function, value)                                                            \
    void print_##name##_value(struct buf *out, const struct attr_site *site, union attr_value v)   \
    {                                                                                              \
        function(out, value);                                                                      \
    }

/* attr.c, those that PARSE_BY or PRINT_BY defines */
ATTR_PAIR(bool);
ATTR_PAIR(computation);
ATTR_PAIR(int);
ATTR_PAIR(int_list);
ATTR_PAIR(literal);
ATTR_PAIR(shape);
/* metadata.c */
ATTR_PAIR(aliasing);
ATTR_PAIR(frontend_attributes);
ATTR_PAIR(metadata);
ATTR_PAIR(result_accuracy);
ATTR_PAIR(sparsity_config);
ATTR_PAIR(statistics);
ATTR_PAIR(string);
ATTR_PAIR(string_or_dict);
/* origin.c */
ATTR_PAIR(origin);
/* window.c */
ATTR_PAIR(dim_labels);
ATTR_PAIR(padding);
ATTR_PAIR(slices);
ATTR_PAIR(window);
ATTR_PAIR(window_padding);
/* sharding.c */
ATTR_PAIR(device_list);
ATTR_PAIR(domain);
ATTR_PAIR(sharding);

/* ---- lists ---- */

/* A growable list of integers; small ones need no allocation. */
struct int_vec {
    int64_t *at;
    size_t count, capacity;
    int64_t few[16];
};
void int_vec_init(struct int_vec *v);
void int_vec_push(struct parser *p, struct int_vec *v, int64_t i);
struct ints int_vec_ints(struct parser *p, const struct int_vec *v); /* a copy in the arena */
/* Parses `INT,+` without brackets. */
bool parse_bare_ints(struct parser *p, struct int_vec *v);
/* Parses `open [INT {delimiter INT}] close` with next_in_int_list. */
bool parse_masked_ints(struct parser *p, enum token_kind open, enum token_kind delimiter,
                       enum token_kind close, struct int_vec *v);
void print_ints(struct buf *out, struct ints v);        /* 1,2 */
void print_ints_braced(struct buf *out, struct ints v); /* {1,2} */

/* ---- words ---- */

/* The span from `begin` to the end of the token before the current one. */
static inline struct span span_since(const struct parser *p, uint32_t begin)
{
    return (struct span){begin, p->prev_end};
}
/* Reports that `word` is not one of `keywords`, the keys of `block`; returns false. */
bool unknown_key(struct parser *p, struct span span, struct str word, const char *block,
                 const char *const *keywords, size_t count);

/* Reports that `what` has `found` entries instead of `required`; returns false. */
bool wrong_count(struct parser *p, struct span span, const char *what, int64_t found,
                 int64_t required, const char *why);

/* ---- block.c: `{key=value key=value}` ---- */

enum field_kind {
    FIELD_STRING,
    FIELD_INT,
    FIELD_INT32,
    FIELD_INTS,
    FIELD_SHARDING,
    FIELD_INT_WORDS, /* INT or `2x3`, into a struct int_words */
    FIELD_PADS       /* `0_1x2_3`, into a struct window_pads */
};
struct field {
    const char *key;
    uint8_t kind; /* enum field_kind */
    bool required;
    size_t offset; /* offset of the member in the result */
};
struct int_words {
    struct span span;
    struct ints ints;
};
struct window_pads {
    struct span span;
    struct padding padding;
};
struct block {
    const char *name; /* name of the block in messages */
    const struct field *fields;
    size_t count; /* at most 32 */
    bool commas;  /* `,` is allowed before any item */
    bool repeats; /* a key may be repeated; the last value counts */
};
bool parse_window_pads(struct parser *p, struct window_pads *out); /* window.c */
/* Parses a block into the struct at `out`; *seen gets a bit for each field that was present. */
bool parse_block(struct parser *p, const struct block *b, void *out, uint32_t *seen);

/* ---- mesh.c ---- */

bool starts_mesh(const struct parser *p);
/* *comma: whether a `,` after the mesh was consumed. */
bool parse_mesh(struct parser *p, struct mesh **out, bool *comma);
bool parse_mesh_axes(struct parser *p, const struct mesh *mesh, struct mesh_axes *out);
bool parse_named_sharding(struct parser *p, struct sharding *s);
void print_mesh(struct buf *out, const struct mesh *m);
/* `open`: more axes may follow, written `?`. */
void print_mesh_axes(struct buf *out, const struct mesh *m, struct mesh_axes axes, bool open,
                     const char *separator);
void print_named_sharding(struct buf *out, const struct sharding *s,
                          const struct print_options *options);

/* ---- sharding.c ---- */

/* Parses `[2,4]` or `[2,4]T(1,0)` after `<=`, and makes it canonical. */
bool parse_iota_order(struct parser *p, struct iota_order *out);
void print_iota_order(struct buf *out, struct iota_order order);
bool parse_sharding_metadata(struct parser *p, struct sharding *s);
void print_sharding_metadata(struct buf *out, const struct sharding *s);

/* ---- sharding_canon.c ---- */

struct iota_order iota_canonical(struct arena *a, struct iota_order order);
/* Converts a tiling with subgroup types to canonical form. Returns NULL, or the problem. */
const char *sharding_canonicalize(struct arena *a, struct sharding *s);

/* ---- printing ---- */

/* In double quotes without escaping, for strings that XLA does not escape. */
void print_unescaped(struct buf *out, struct str s);
/* Prints the separator before item `index` of a list: `, `, and with `comments`, before every fifth
 * item, a comment with its index. */
void print_separator(struct buf *out, int64_t index, bool comments);
/* Prints a name, with `%` unless the options omit it. */
void print_name(struct buf *out, struct str name, const struct print_options *options);
void print_metadata_parts(struct buf *out, const struct metadata *m); /* {op_name="x"} */
void print_frontend_attributes(struct buf *out, const struct frontend_attributes *f);
/* `{0}: (1, {})`, or `(1, {})`; `kind` follows the index. */
void print_alias(struct buf *out, const struct alias *a, bool output, const char *kind);
void print_origin_leaf(struct buf *out, const struct origin *o); /* {"n" {0}} */

#endif
