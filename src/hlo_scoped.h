/*
 * hlo_scoped.h: handles of the public interface that are freed at the end of their scope, and
 * lookups that several of its users need. Not installed.
 *
 *     SCOPED_MODULE *module = hlo_parse(file, 0, m);
 *
 * They are freed in the reverse order of their declarations. In a function with an OOM_SCOPE, they
 * are declared after it.
 */
#ifndef HLO_SCOPED_H
#define HLO_SCOPED_H

#include "base/base.h"
#include "hlo_advanced.h"

#define SCOPED_ARRAYS __attribute__((cleanup(scoped_arrays))) hlo_arrays
#define SCOPED_RECORDED __attribute__((cleanup(scoped_recorded))) hlo_recorded
#define SCOPED_TARGETS __attribute__((cleanup(scoped_targets))) hlo_targets
#define SCOPED_TEXT __attribute__((cleanup(hlo_text_free))) hlo_text
#define SCOPED_FILE __attribute__((cleanup(scoped_file))) hlo_file
#define SCOPED_LISTING __attribute__((cleanup(scoped_listing))) hlo_listing
#define SCOPED_LITERAL __attribute__((cleanup(scoped_literal))) hlo_literal
#define SCOPED_MESSAGES __attribute__((cleanup(scoped_messages))) hlo_messages
#define SCOPED_MODULE __attribute__((cleanup(scoped_module))) hlo_module
#define SCOPED_ONNX __attribute__((cleanup(scoped_onnx))) hlo_onnx
#define SCOPED_PROGRAM __attribute__((cleanup(scoped_program))) hlo_program

static inline void scoped_arrays(hlo_arrays **s) { hlo_arrays_free(*s); }
static inline void scoped_recorded(hlo_recorded **r) { hlo_recorded_free(*r); }
static inline void scoped_targets(hlo_targets **t) { hlo_targets_free(*t); }
static inline void scoped_file(hlo_file **f) { hlo_file_free(*f); }
static inline void scoped_listing(hlo_listing **l) { hlo_listing_free(*l); }
static inline void scoped_literal(hlo_literal **l) { hlo_literal_free(*l); }
static inline void scoped_messages(hlo_messages **m) { hlo_messages_free(*m); }
static inline void scoped_module(hlo_module **m) { hlo_module_free(*m); }
static inline void scoped_onnx(hlo_onnx **model) { hlo_onnx_free(*model); }
static inline void scoped_program(hlo_program **p) { hlo_program_free(*p); }

/* The number of an operation by its name; hlo_op_count() if unknown. */
static inline size_t op_number(struct str name)
{
    size_t op = 0;
    while (op < hlo_op_count() && !str_is(name, hlo_op_get(op).name))
        op++;
    return op;
}

/* The entry computation, the last of a listing. */
static inline struct hlo_listed_computation listed_entry(const hlo_listing *l)
{
    return hlo_list_computation(l, hlo_list_computations(l) - 1);
}

#endif
