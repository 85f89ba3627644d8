/*
 * names.c: legal names, and making names unique.
 *
 * A name consists of a root and a number, `root.number`. Names are processed in order: a number
 * that is in use is replaced by the smallest free one of that root.
 */
#include "ir/ir.h"

enum { C_LETTER = 1, C_NAME = 2 };
static const uint8_t char_class[256] = {
    ['a' ... 'z'] = C_LETTER | C_NAME,
    ['A' ... 'Z'] = C_LETTER | C_NAME,
    ['_'] = C_LETTER | C_NAME,
    ['0' ... '9'] = C_NAME,
    ['.'] = C_NAME,
    ['-'] = C_NAME,
};

static bool is_letter(char c) { return char_class[(unsigned char)c] & C_LETTER; }

static bool is_name_char(char c) { return char_class[(unsigned char)c] & C_NAME; }

static bool is_reserved(struct str name)
{
    return *name.ptr == '_' && str_starts(name, STR("__")) && !str_starts(name, STR("__xla_"));
}

bool name_is_legal_inst(struct str name)
{
    if (name.len == 0 || !is_letter(name.ptr[0]))
        return false;
    for (size_t i = 1; i < name.len; i++)
        if (!is_name_char(name.ptr[i]))
            return false;
    return !is_reserved(name) && dtype_find(name) == DT_INVALID;
}

struct str name_sanitize(struct arena *a, struct str name)
{
    if (name.len == 0 || name_is_legal_inst(name))
        return name;
    char *text = arena_alloc(a, name.len + 1);
    for (size_t i = 0; i < name.len; i++)
        text[i] = (i ? is_name_char(name.ptr[i]) : is_letter(name.ptr[i])) ? name.ptr[i] : '_';
    struct str clean = {text, name.len};
    if (dtype_find(clean) != DT_INVALID)
        text[clean.len++] = '_';
    if (is_reserved(clean))
        text[0] = 'a';
    return clean;
}

/* ---- unique names ---- */

/* Numbers in use, 64 per block: the numbers of a root are mostly consecutive. */
struct block {
    int64_t number; /* of the block */
    uint64_t taken; /* a bit per number; 0: empty slot */
    uint32_t root;
};

/* A root with its first block; further blocks of all roots share a table, since few roots have
 * any. */
struct root {
    uint32_t id;
    int64_t next; /* smallest number that may be free */
    struct block first;
};

struct uniquifier {
    struct arena *names;  /* storage of new names */
    struct arena *tables; /* storage of the tables */
    struct map roots;
    struct block *blocks;
    size_t block_count, block_capacity;
    uint32_t root_count;
};

static struct uniquifier *new_in(struct arena *names, struct arena *tables)
{
    struct uniquifier *u = ARENA_NEW(tables, struct uniquifier);
    u->names = names;
    u->tables = tables;
    map_init(&u->roots, tables);
    return u;
}

struct uniquifier *uniquifier_new(struct arena *a) { return new_in(a, a); }

static struct root *find_root(struct uniquifier *u, struct str name)
{
    struct root *root = map_get(&u->roots, name);
    if (root)
        return root;
    root = ARENA_NEW(u->tables, struct root);
    root->id = ++u->root_count;
    map_put(&u->roots, name, root);
    return root;
}

/* The slot of the pair, or the empty slot to insert it. */
static struct block *find_block(const struct uniquifier *u, uint32_t root, int64_t number)
{
    size_t mask = u->block_capacity - 1;
    uint64_t h = ((uint64_t)number ^ (uint64_t)root << 40) * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(h ^ h >> 32) & mask;
    while (u->blocks[at].taken != 0 &&
           (u->blocks[at].root != root || u->blocks[at].number != number))
        at = (at + 1) & mask;
    return &u->blocks[at];
}

static void grow_blocks(struct uniquifier *u)
{
    struct uniquifier old = *u;
    u->block_capacity = old.block_capacity ? 2 * old.block_capacity : 64;
    u->blocks = ARENA_ARRAY(u->tables, struct block, u->block_capacity);
    for (size_t i = 0; i < old.block_capacity; i++)
        if (old.blocks[i].taken != 0)
            *find_block(u, old.blocks[i].root, old.blocks[i].number) = old.blocks[i];
}

/* Finds or creates the block of a number. */
static struct block *block_of(struct uniquifier *u, struct root *root, int64_t number)
{
    if (root->first.taken == 0)
        root->first.number = number;
    if (root->first.number == number)
        return &root->first;
    if (2 * (u->block_count + 1) > u->block_capacity)
        grow_blocks(u);
    return find_block(u, root->id, number);
}

/* Marks a number as used; false if it is used already. */
static bool take(struct uniquifier *u, struct root *root, int64_t number)
{
    int64_t block_number = (number - (number & 63)) / 64;
    uint64_t bit = UINT64_C(1) << (number & 63);
    struct block *block = block_of(u, root, block_number);
    if (block->taken & bit)
        return false;
    u->block_count += block->taken == 0 && block != &root->first;
    *block = (struct block){block_number, block->taken | bit, root->id};
    return true;
}

/* Splits `root.7` at the last point; false if there is no number. */
static bool split(struct str name, struct str *root, int64_t *number)
{
    size_t point = name.len;
    while (point > 0 && name.ptr[point - 1] != '.')
        point--;
    if (point < 2 || point == name.len)
        return false;
    if (!num_parse_i64((struct str){name.ptr + point, name.len - point}, number))
        return false;
    *root = (struct str){name.ptr, point - 1};
    return true;
}

/* Whether the number is spelled as it would be printed, so that the name can be used unchanged. */
static bool is_canonical(struct str name, struct str root, int64_t number)
{
    const char *p = name.ptr + root.len + 1;
    size_t len = name.len - root.len - 1;
    if (*p == '-')
        return len > 1 && p[1] != '0';
    return *p != '0' || (number == 0 && len == 1);
}

/* `root.7` */
static struct str numbered_name(struct arena *a, struct str root, int64_t number)
{
    char digits[24], *end = digits + sizeof digits, *p = end;
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do
        *--p = (char)('0' + left % 10);
    while (left /= 10);
    if (number < 0)
        *--p = '-';
    *--p = '.';
    size_t len = (size_t)(end - p);
    char *text = arena_alloc(a, root.len + len);
    memcpy(text, root.ptr, root.len);
    memcpy(text + root.len, p, len);
    return (struct str){text, root.len + len};
}

struct str uniquifier_name(struct uniquifier *u, struct str prefix)
{
    struct str name = prefix.len ? name_sanitize(u->names, prefix) : STR("name"), text = name;
    int64_t number = 0;
    bool suffixed = split(name, &text, &number);
    struct root *root = find_root(u, text);
    if (take(u, root, number)) {
        if (!suffixed || is_canonical(name, text, number))
            return name;
        return numbered_name(u->names, text, number);
    }
    while (!take(u, root, root->next))
        root->next++;
    number = root->next++;
    if (number == 0 && !suffixed)
        return text;
    return numbered_name(u->names, text, number);
}

void module_uniquify(struct module *m)
{
    SCOPED_ARENA scratch = arena_make();
    struct uniquifier *computations = new_in(&m->arena, &scratch),
                      *insts = new_in(&m->arena, &scratch);
    for (int k = 0; k < m->computation_count; k++) {
        struct computation *c = m->computations[k];
        c->name = uniquifier_name(computations, c->name);
        for (int i = 0; i < c->inst_count; i++)
            c->insts[i]->name = uniquifier_name(insts, c->insts[i]->name);
    }
}
