/*
 * text: HLO text to IR and IR to text. Both directions are in one room, so that what is printed can
 * be read back.
 */
#ifndef HLO_TEXT_H
#define HLO_TEXT_H

#include "ir/ir.h"

struct parse_options {
    bool strict; /* accept exactly what XLA's parser of jaxlib 0.10.2 accepts */
};

/* Parses one module. The text must be shorter than 4 GiB and outlive the module. NULL with
 * diagnostics when there was an error; warnings alone are no failure. `ds->source` must be
 * `source`. */
struct module *text_parse_module(struct diags *ds, struct source *source,
                                 const struct parse_options *options);

/* Removes the stack frames that no instruction refers to and renumbers the others. */
void text_rebuild_frames(struct module *m);

/* Splits a file at its `// -----` lines: the parts are in `a`, their count is *n (at least 1). Each
 * part knows the number of its first line. Strict parsing knows no such lines: don't call it then.
 */
struct source *text_split(struct arena *a, struct str name, struct str text, size_t *n);

/* Parses the whole source as a literal: `f32[2] {1, 2}` or a tuple, `(f32[] 1, s32[2] {1, 2})`.
 * Storage as of literal_new. */
struct literal *text_parse_literal(struct diags *ds, struct source *source, struct arena *a);

/* ---- build.c: modules made instruction by instruction, each from its text ---- */

struct text_builder;     /* a module under construction */
struct text_computation; /* one of its computations */
struct text_builder *text_builder_new(struct str name);
void text_builder_free(struct text_builder *b); /* the module, too, unless it was finished */
struct str text_builder_text(const struct text_builder *b); /* everything built so far, as text */
uint32_t text_builder_line(const struct text_builder *b);   /* the number of its next line */
/* Copies the name, which must be new (text_builder_has). */
struct text_computation *text_computation_new(struct text_builder *b, struct str name);
bool text_builder_has(const struct text_builder *b, struct str name);
struct str text_computation_name(const struct text_computation *c);
bool text_computation_open(const struct text_computation *c); /* not finished yet */
/* Reads one instruction by the rules that hold without --strict. It may name instructions of `c`
 * and finished computations. `line` is the text of ds->source. NULL with messages. */
struct inst *text_build(struct text_computation *c, struct diags *ds, struct str line);
/* Adds a constant; `l` is copied. */
struct inst *text_build_constant(struct text_computation *c, struct diags *ds, struct str name,
                                 const struct literal *l);
/* A name that no instruction of the computation has yet: `add.3`. */
struct str text_build_name(struct text_computation *c, struct str prefix);
/* Ends a computation; with `root` NULL its root is the last instruction. For this and the next
 * function, ds->source must have the text text_builder_text. */
bool text_computation_finish(struct text_computation *c, struct diags *ds, struct inst *root);
/* The module with this entry computation. It takes over `source`, and the builder lets go of it. */
struct module *text_builder_finish(struct text_builder *b, struct diags *ds,
                                   struct text_computation *entry, const struct source *source);

struct print_options {
    bool short_form; /* XLA's short_parsable: large constants, no metadata, no '%', no signatures */
    bool large_constants; /* all constants in full */
    bool exact;           /* constants as text_print_literal_exact prints them */
    /* the options of grammar/text.md 5.12, negated so that zero is the default */
    bool no_metadata, no_backend_config, operand_shapes, no_percent, no_program_shape,
        no_result_shape, no_layouts, no_control_dependencies;
};

void text_print_module(struct buf *out, const struct module *m,
                       const struct print_options *options);
void text_print_inst(struct buf *out, const struct inst *i, const struct print_options *options);
/* Values only, in XLA's form: `{1, 2}`, `5`, `( {1}, 2 )`. */
void text_print_literal(struct buf *out, const struct literal *l);
/* The same with -0 as `-0.0`, which is read back as -0 in a module, too. */
void text_print_literal_exact(struct buf *out, const struct literal *l);
/* With its shape, `f32[2]{0} {1, 2}`; text_parse_literal reads it back exactly. */
void text_print_literal_with_shape(struct buf *out, const struct literal *l);
/* One element at `p`, as literals print it. */
void text_print_element(struct buf *out, enum dtype t, const void *p);

#endif
