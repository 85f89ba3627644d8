/*
 * Private to the parser proper: interfaces of its files.
 *
 *   parse.c    module, computations, instructions
 *   header.c   the module header
 *   scope.c    the names of a computation
 *   rhs.c      the right-hand side of an instruction
 *   operand.c  operands, nested instructions
 *   async.c    asynchronous instructions and their sugar
 *   checks.c   checks and defaults that XLA applies while parsing
 *   recover.c  error recovery
 */
#ifndef HLO_PARSE_H
#define HLO_PARSE_H

#include "text/text_priv.h"

/* ---- scopes (scope.c): the instruction names of one computation ---- */

struct scope {
    struct scope *outer;
    struct computation *c;
    struct scope_slot *slots;
    size_t count, capacity;
    uint64_t seed; /* seed of the hash function */
    /* Holds the slots while they are few; otherwise they are in `table` */
    struct small_table *small;
    struct arena table;
    bool makes_params; /* single-instruction text: unknown operands become parameters */
    bool broken; /* contains poisoned instructions: the computation as a whole is not checked */
    struct span root_span; /* of the ROOT keyword */
    struct inst *root;     /* the instruction marked ROOT */
};

/* State of parsing one text, apart from the lexer's. */
struct parse_state {
    struct arena scratch;
    struct inst **operands; /* stack of operands */
    size_t operand_count, operand_capacity;
    struct computation *entry, *last;
    struct span entry_span;    /* of the ENTRY keyword */
    struct small_table *spare; /* free list of tables, from scopes that have ended */
    struct opcode_cache {
        struct str word;
        enum opcode op;
        enum form form;
    } opcodes[64];
    bool poisoned;          /* the value being parsed refers to a poisoned name */
    struct span alias_span; /* of input_output_alias */
    int nesting;            /* nesting depth: a module may be in a string of another */
};

/* Tokens that may name an instruction, a computation or a module. */
static inline bool token_is_name(enum token_kind kind)
{
    return kind == TOK_IDENT || kind == TOK_NAME;
}

/* A definition with an error is poisoned: an instruction without a parent, a computation without a
 * root. References to it cause no further message, and its dependents are not checked. */
static inline bool inst_is_poisoned(const struct inst *i) { return i->parent == NULL; }

struct inst *scope_find(const struct scope *s, struct str name);
void scope_free(struct parser *p, struct scope *s);
/* Prefetches the slot of a name that will be looked up soon. */
void scope_prefetch(const struct scope *s, struct str name);
/* Adds an instruction. Returns the existing one if the name is in use already, else NULL. */
struct inst *scope_add(struct parser *p, struct scope *s, struct inst *i);
/* Registers `name` as poisoned, unless it is known. */
struct inst *scope_poison(struct parser *p, struct scope *s, struct str name, struct span span,
                          const struct shape *shape);
struct str scope_nearest(const struct scope *s, struct str name);

/* ---- drafts: instructions under construction ---- */

struct draft {
    struct inst i;       /* not in the computation yet */
    struct str word;     /* the opcode as written */
    enum form form;      /* the builder form that the word selects, or FORM_NONE */
    enum opcode wrapped; /* async sugar: the wrapped opcode, else OP_INVALID */
    struct draft *inner; /* OP-start: the wrapped instruction */
    struct span open;    /* `(` of the operands */
    bool nested, poisoned, dropped;
    bool wrapped_inside; /* this is the `inner` of another draft: XLA drops excess operands */
    struct lex_state dropped_at; /* the first dropped operand */
    uint32_t dropped_end;
    uint64_t seen[2]; /* attributes that were given, by id */
};

_Static_assert(A_COUNT <= 128, "'seen' has a bit for each attribute");

static inline bool draft_has(const struct draft *d, enum attr_id id)
{
    return d->seen[id / 64] >> id % 64 & 1;
}

/* Parses shape, opcode, operands and attributes. Returns the finished instruction; a poisoned one
 * after an error that needs no recovery; or NULL. An empty name means a nested instruction, named
 * `<opcode>.anon`. */
struct inst *parse_rhs(struct parser *p, struct str name, struct span name_span,
                       const struct shape *before, size_t begin);
/* Parses an operand list. */
bool parse_operands(struct parser *p, struct draft *d);
bool report_dropped_operand(struct parser *p, struct draft *d);

/* checks.c: checks and corrections that XLA applies while parsing (grammar/text.md 3.3). */
bool check_operand_count(struct parser *p, struct draft *d);
bool check_operand_kinds(struct parser *p, struct draft *d);
bool check_attribute_applies(const struct draft *d, enum attr_id id);
/* Reports missing required attributes. */
bool check_required(struct parser *p, struct draft *d);
bool check_draft(struct parser *p, struct draft *d);     /* before shape inference */
void normalise_draft(struct parser *p, struct draft *d); /* after the shape is known */

/* async.c */
bool async_opcode(struct str word, enum opcode *op, enum opcode *wrapped);
bool async_operands(struct parser *p, struct draft *d); /* after the operands */
bool async_finish(struct parser *p, struct draft *d);   /* after the attributes */
bool async_starts_distinct(struct parser *p);

/* ---- modules and computations (parse.c) ---- */

/* Initializes the parser's state for a text; it is freed with state->scratch. */
void parse_begin(struct parser *p, struct parse_state *state, struct module *m);
/* Parses a whole text; `nesting` as in struct parse_state. */
struct module *parse_source(struct diags *ds, struct source *source,
                            const struct parse_options *options, int nesting);

/* Parses an instruction into the scope's computation; recovers from errors. */
bool parse_instruction(struct parser *p, struct scope *s);
bool finish_computation(struct parser *p, struct scope *s); /* sets root and parameters */
bool finish_module(struct parser *p); /* sets the entry, checks the header, makes names unique */

/* ---- recover.c ---- */

/* After an error in the instruction that begins at `start`: advances to the next instruction, to
 * the brace that ends the computation, or to the end of the text. */
void recover_instruction(struct parser *p, struct lex_state start);
/* Advances to the `{` of a computation's body; false if none before the next
 * computation. */
bool recover_body(struct parser *p);
void recover_computation(struct parser *p);
/* The location after the current token where `name` is defined; `begin` is 0 if none. */
struct span find_definition(const struct parser *p, struct str name);

/* A mark in the list of messages: those after it can be removed when a speculative parse is
 * abandoned. */
struct diag_mark {
    struct diag *last;
    unsigned errors, warnings, dropped, kept_warnings;
};
struct diag_mark diags_mark(const struct diags *ds);
void diags_rollback(struct diags *ds, struct diag_mark mark);

/* ---- header.c, frames.c ---- */

bool parse_header(struct parser *p);
bool parse_frame_tables(struct parser *p);
bool finish_header(struct parser *p); /* checks that need the entry computation */

#endif
