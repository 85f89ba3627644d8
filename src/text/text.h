/*
 * text: HLO text to IR and IR to text. Both directions are in one component, so that printed text
 * can be read back.
 */
#ifndef HLO_TEXT_H
#define HLO_TEXT_H

#include "ir/ir.h"

struct parse_options {
    bool strict; /* accept exactly the language of XLA's parser in jaxlib 0.10.2 */
    bool core;   /* do not lower builder forms; implied by `strict` */
};

/* Parses one module. The text must be shorter than 4 GiB and outlive the module. Returns NULL with
 * diagnostics if there is an error; warnings alone are no failure. `ds->source` must be
 * `source`. */
struct module *text_parse_module(struct diags *ds, struct source *source,
                                 const struct parse_options *options);

/* Removes unreferenced stack frames and renumbers the others. */
void text_rebuild_frames(struct module *m);

/* Splits a file into parts, allocated in `a`; their number is *n (at least 1): at lines `// -----`,
 * before lines `HloModule NAME` outside brackets and strings, or, in the output of a program, the
 * modules between `*** Begin NAME ***` and `*** End NAME ***`. Each part records the number of its
 * first line; *titles are their NAMEs, or empty. Not for strict parsing. */
struct source *text_split(struct arena *a, struct str name, struct str text, size_t *n,
                          struct str **titles);

/* Parses the whole source as a literal: `f32[2] {1, 2}` or a tuple, `(f32[] 1, s32[2] {1, 2})`; or,
 * if `shape` is not NULL, as a literal of that shape, without a shape in the text. Values may be
 * nested lists of JSON: `[1, 2]`. Ownership of storage as in literal_new. */
struct literal *text_parse_literal(struct diags *ds, struct source *source, struct arena *a,
                                   const struct shape *shape);

/* ---- build.c: construction of modules instruction by instruction, each from its text ---- */

struct text_builder;     /* a module under construction */
struct text_computation; /* one of its computations */
/* Starts a module of this name. */
struct text_builder *text_builder_new(struct str name);
/* Frees the module as well, unless it was finished. */
void text_builder_free(struct text_builder *b);
/* The text of everything built so far. */
struct str text_builder_text(const struct text_builder *b);
uint32_t text_builder_line(const struct text_builder *b); /* number of its next line */
/* Copies the name, which must not be in use (text_builder_has). */
struct text_computation *text_computation_new(struct text_builder *b, struct str name);
bool text_builder_has(const struct text_builder *b, struct str name);
struct str text_computation_name(const struct text_computation *c);
bool text_computation_open(const struct text_computation *c); /* not finished yet */
/* Parses one instruction by the rules without --strict. It may refer to instructions of `c` and to
 * finished computations. `line` is the text of ds->source. Returns NULL with messages on error. */
struct inst *text_build(struct text_computation *c, struct diags *ds, struct str line);
/* Adds a constant; `l` is copied. */
struct inst *text_build_constant(struct text_computation *c, struct diags *ds, struct str name,
                                 const struct literal *l);
/* A name that no instruction of the computation has, such as `add.3`. */
struct str text_build_name(struct text_computation *c, struct str prefix);
/* Finishes a computation; `root` NULL: the last instruction is the root. For this and the next
 * function, the text of ds->source must be text_builder_text. */
bool text_computation_finish(struct text_computation *c, struct diags *ds, struct inst *root);
/* Returns the module with this entry computation. The module takes ownership of `source` and is
 * detached from the builder. */
struct module *text_builder_finish(struct text_builder *b, struct diags *ds,
                                   struct text_computation *entry, const struct source *source);

struct print_options {
    bool short_form; /* XLA's short_parsable: large constants, no metadata, no '%', no signatures */
    bool large_constants; /* print all constants in full */
    bool exact;           /* print constants as text_print_literal_exact does */
    bool comments;        /* print the comments of the source */
    /* the options of grammar/text.md 5.12, negated so that zero is the default */
    bool no_metadata, no_backend_config, operand_shapes, no_percent, no_program_shape,
        no_result_shape, no_layouts, no_control_dependencies;
};

/* Prints in canonical form (grammar/text.md 5); options NULL: the default ones. */
void text_print_module(struct buf *out, const struct module *m,
                       const struct print_options *options);
void text_print_inst(struct buf *out, const struct inst *i, const struct print_options *options);
/* Whether an array has no elements but too many empty rows to print braces for each. It is printed
 * as `{}`, and in modules, which XLA must be able to read, as `{...}`. */
bool text_is_brief(const struct shape *s);
/* Prints values without shape, in XLA's format: `{1, 2}`, `5`, `( {1}, 2 )`. */
void text_print_literal(struct buf *out, const struct literal *l);
/* The same with -0 as `-0.0`, which also reads back as -0 in a module. */
void text_print_literal_exact(struct buf *out, const struct literal *l);
/* With its shape, `f32[2]{0} {1, 2}`; text_parse_literal reads it back exactly. */
void text_print_literal_with_shape(struct buf *out, const struct literal *l);
/* Prints a string with escapes, without and in double quotes. */
void text_print_escaped(struct buf *out, struct str s);
void text_print_quoted(struct buf *out, struct str s);
/* Prints the element at `p` as in a literal. */
void text_print_element(struct buf *out, enum dtype t, const void *p);

/* ---- highlight.c ---- */

/* Appends HLO text, complete or not, in colors such as "shape=32:string=31". */
void text_highlight(struct buf *out, struct str text, struct str colors);

#endif
