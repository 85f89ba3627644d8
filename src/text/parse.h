/*
 * Private to the parser proper: the parser's companions in files of their own.
 *
 *   parse.c    module, computations, instructions   header.c   what stands before the computations
 *   scope.c    the names of a computation           rhs.c      what stands after `name =`
 *   operand.c  operands, nested instructions        async.c    asynchronous instructions, sugar
 * among them checks.c   what XLA checks and fills in as it parses recover.c  going on after an
 * error
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
    uint64_t seed;             /* of hashes */
    struct small_table *small; /* the slots are here as long as they are few, then in `table` */
    struct arena table;
    bool makes_params; /* single-instruction text: unknown operands become parameters */
    bool broken;       /* something in it is poisoned: the computation as a whole isn't checked */
    struct span root_span; /* of the ROOT mark */
    struct inst *root;     /* instruction marked ROOT */
};

/* The state of parsing one text, apart from the lexer's. */
struct parse_state {
    struct arena scratch;
    struct inst **operands; /* stack of the operands being read */
    size_t operand_count, operand_capacity;
    struct computation *entry, *last;
    struct span entry_span;    /* of the ENTRY mark */
    struct small_table *spare; /* tables of scopes that have ended, for later ones */
    struct opcode_cache {
        struct str word;
        enum opcode op;
        enum form form;
    } opcodes[64];
    bool poisoned;          /* a value that is being read refers to something erroneous */
    struct span alias_span; /* of input_output_alias */
    int nesting; /* how many modules this one is inside of: a module may stand in a string of
                    another */
};

/* What was defined with an error is poisoned: an instruction without a parent, a computation
 * without a root. It may be named without another message, and nothing that depends on it is
 * checked. */
/* Tokens that may name an instruction, a computation or a module. */
static inline bool token_is_name(enum token_kind kind)
{
    return kind == TOK_IDENT || kind == TOK_NAME;
}

static inline bool inst_is_poisoned(const struct inst *i) { return i->parent == NULL; }

struct inst *scope_find(const struct scope *s, struct str name);
void scope_free(struct parser *p, struct scope *s);
/* Called when the name will be looked up soon. */
void scope_prefetch(const struct scope *s, struct str name);
/* Adds an instruction; if another one has its name already, returns that instead, else NULL. */
struct inst *scope_add(struct parser *p, struct scope *s, struct inst *i);
/* Makes `name` known as erroneous, unless it is known. */
struct inst *scope_poison(struct parser *p, struct scope *s, struct str name, struct span span,
                          const struct shape *shape);
struct str scope_nearest(const struct scope *s, struct str name);

/* ---- an instruction being made ---- */

struct draft {
    struct inst i;       /* not yet in the computation */
    struct str word;     /* opcode as written */
    enum form form;      /* the builder form that the word is, or FORM_NONE */
    enum opcode wrapped; /* async sugar: the opcode inside, else OP_INVALID */
    struct draft *inner; /* OP-start: the instruction inside */
    struct span open;    /* `(` of the operands */
    bool nested, poisoned, dropped;
    bool wrapped_inside; /* it is another draft's `inner`: XLA drops operands past the last one
                            needed */
    struct lex_state dropped_at; /* the first operand that was dropped */
    uint32_t dropped_end;
    uint64_t seen[2]; /* attributes that were given, by id */
};

_Static_assert(A_COUNT <= 128, "'seen' has a bit for each attribute");

static inline bool draft_has(const struct draft *d, enum attr_id id)
{
    return d->seen[id / 64] >> id % 64 & 1;
}

/* Reads shape, opcode, operands and attributes. Returns the finished instruction, a poisoned one
 * after an error that needs no recovery, or NULL. An empty name: a nested instruction, named
 * `<opcode>.anon`. */
struct inst *parse_rhs(struct parser *p, struct str name, struct span name_span,
                       const struct shape *before, size_t begin);
bool parse_operands(struct parser *p, struct draft *d);
bool report_dropped_operand(struct parser *p, struct draft *d);

/* checks.c: what XLA checks and changes while it parses (grammar/text.md 3.3) */
bool check_operand_count(struct parser *p, struct draft *d);
bool check_operand_kinds(struct parser *p, struct draft *d);
bool check_attribute_applies(const struct draft *d, enum attr_id id);
bool check_required(struct parser *p, struct draft *d);
bool check_draft(struct parser *p, struct draft *d);     /* before inference */
void normalise_draft(struct parser *p, struct draft *d); /* once the shape is known */

/* async.c */
bool async_opcode(struct str word, enum opcode *op, enum opcode *wrapped);
bool async_operands(struct parser *p, struct draft *d); /* after the operands */
bool async_finish(struct parser *p, struct draft *d);   /* after the attributes */
bool async_starts_distinct(struct parser *p);

/* ---- modules and computations (parse.c) ---- */

/* Sets up what a parser needs besides its text; freed with state->scratch. */
void parse_begin(struct parser *p, struct parse_state *state, struct module *m);
/* Parses a whole text; `nesting` as in struct parse_state. */
struct module *parse_source(struct diags *ds, struct source *source, bool strict, int nesting);

bool parse_instruction(struct parser *p, struct scope *s);
bool finish_computation(struct parser *p, struct scope *s); /* sets root and parameters */
bool finish_module(struct parser *p); /* sets the entry, checks the header, makes names unique */

/* ---- recover.c ---- */

/* After an error in the instruction that begins at `start`: goes to the next instruction, to the
 * brace that ends the computation, or to the end of the text. */
void recover_instruction(struct parser *p, struct lex_state start);
/* Goes to the `{` of a computation's body; false when there is none before the next computation. */
bool recover_body(struct parser *p);
void recover_computation(struct parser *p);
/* Where, after the current token, `name` is defined; its `begin` is 0 when it is not. */
struct span find_definition(const struct parser *p, struct str name);

/* Messages since a mark can be taken back: an attempt that is given up leaves none. */
struct diag_mark {
    struct diag *last;
    unsigned errors, warnings, dropped, kept_warnings;
};
struct diag_mark diags_mark(const struct diags *ds);
void diags_rollback(struct diags *ds, struct diag_mark mark);

/* ---- header.c, frames.c ---- */

bool parse_header(struct parser *p);
bool parse_frame_tables(struct parser *p);
bool finish_header(struct parser *p); /* what needs the entry computation */

#endif
