/*
 * text: HLO text -> IR and IR -> text; both directions in one room so that one hand owns the round trip.
 */
#ifndef HLO_TEXT_H
#define HLO_TEXT_H

#include "ir/ir.h"

struct parse_options {
    bool strict; /* exactly what XLA's parser of jaxlib 0.10.2 takes (hlo-text.md) */
};

/* Parses one module. The text is shorter than 4 GiB and must outlive the module. NULL with diagnostics when there was an error;
 * warnings alone do not fail. `ds->source` must be the text's source. */
struct module *text_parse_module(struct diags *ds, struct source *source, const struct parse_options *options);

/* Splits a file at `// -----` lines: the parts in `a`, count in *n (at least 1). Each part knows its
 * first line number. Strict files are one part. */
struct source *text_split(struct arena *a, struct str name, struct str text, size_t *n);

/* `f32[2,3]{1,0}`, the whole of the source. NULL with a diagnostic. */
const struct shape *text_parse_shape(struct diags *ds, struct source *source, struct arena *a);
/* `f32[2] {1, 2}`, tuples `(f32[] 1, s32[2] {1, 2})`; the whole of the source. Storage as literal_new. */
struct literal *text_parse_literal(struct diags *ds, struct source *source, struct arena *a);

struct print_options {
    bool short_form;      /* XLA's short_parsable: large constants, no metadata, no '%', no signatures */
    bool large_constants; /* all constants in full */
    /* further fields as hlo-text 5.12 names them, negated so that zero is the default */
    bool no_metadata, no_backend_config, operand_shapes, no_percent, no_program_shape,
        no_result_shape, no_layouts, no_control_dependencies;
};

void text_print_module(struct buf *out, const struct module *m, const struct print_options *options);
void text_print_computation(struct buf *out, const struct computation *c, const struct print_options *options);
void text_print_inst(struct buf *out, const struct inst *i, const struct print_options *options);
/* Values only, in XLA's form: `{1, 2}`, `5`, `( {1}, 2 )`. */
void text_print_literal(struct buf *out, const struct literal *l);
/* With its shape, `f32[2]{0} {1, 2}`; text_parse_literal reads it back exactly. */
void text_print_literal_with_shape(struct buf *out, const struct literal *l);
/* One element at `p`, as literals print it. */
void text_print_element(struct buf *out, enum dtype t, const void *p);
/* A string escaped as the printer does, without quotes. */
void text_escape(struct buf *out, struct str s);
void text_print_sharding(struct buf *out, const struct sharding *s, const struct print_options *options);

#endif
