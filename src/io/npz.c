/*
 * npz.c: .npz files: the directory of a zip archive, and its members as arrays.
 *
 * Members may be stored or deflated; zip64 is supported. The central directory is authoritative: of
 * a local header only the lengths of its variable parts are used, and its name must match.
 *
 * Archives are untrusted: members must not share bytes, and before one is inflated, the size in the
 * directory must be possible for the compressed size and agree with the array header, which must
 * match the requested array.
 */
#include "io/io_priv.h"

#include <stdlib.h>
#include <zlib.h>

enum {
    END_SIZE = 22,
    END64_SIZE = 56,
    LOCATOR_SIZE = 20,
    CENTRAL_SIZE = 46,
    LOCAL_SIZE = 30,
    MAX_COMMENT = 65535,
    STORED = 0,
    DEFLATED = 8,
    MAX_INFLATION = 1032, /* maximal compression ratio of deflate */
    /* Limit on the bytes of an array's header, beyond that of the maximal rank. */
    LONGEST_HEADER = 1 << 20
};

static uint16_t get16(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;
    return (uint16_t)(b[0] | b[1] << 8);
}

static uint32_t get32(const char *p) { return (uint32_t)get16(p) | (uint32_t)get16(p + 2) << 16; }

static uint64_t get64(const char *p) { return (uint64_t)get32(p) | (uint64_t)get32(p + 4) << 32; }

/* The `size` bytes at offset `at`, or NULL if they exceed `b`. */
static const char *bytes_at(struct str b, uint64_t at, uint64_t size)
{
    return at <= b.len && size <= b.len - at ? b.ptr + at : NULL;
}

struct directory {
    uint64_t at, size, count;
};

static bool bad(struct diags *ds, const char *why)
{
    return DIAG_ERROR(ds, NO_SPAN, NPZ_MALFORMED, why);
}

/* Finds the zip64 record via the locator before the end record at `end`. */
static bool find_directory64(struct diags *ds, struct str b, uint64_t end, struct directory *out)
{
    const char *locator = end >= LOCATOR_SIZE ? b.ptr + end - LOCATOR_SIZE : NULL;
    if (!locator || get32(locator) != 0x07064b50)
        return bad(ds, "central directory too large");
    const char *record = bytes_at(b, get64(locator + 8), END64_SIZE);
    if (!record || get32(record) != 0x06064b50)
        return bad(ds, "missing zip64 end of central directory record");
    *out = (struct directory){
        .count = get64(record + 32), .size = get64(record + 40), .at = get64(record + 48)};
    return true;
}

static bool find_directory(struct diags *ds, struct str b, struct directory *out)
{
    if (b.len < END_SIZE)
        return bad(ds, "file too short");
    uint64_t at = b.len - END_SIZE, last = at > MAX_COMMENT ? at - MAX_COMMENT : 0;
    while (get32(b.ptr + at) != 0x06054b50) {
        if (at-- == last)
            return bad(ds, "missing end of central directory record");
    }
    const char *end = b.ptr + at;
    *out = (struct directory){
        .count = get16(end + 10), .size = get32(end + 12), .at = get32(end + 16)};
    if (out->count == UINT16_MAX || out->size == UINT32_MAX || out->at == UINT32_MAX)
        return find_directory64(ds, b, at, out);
    return true;
}

/* Sizes that do not fit 32 bits are in the zip64 extra field, in a fixed order. */
static bool read_extra(struct str extra, struct npz_entry *e)
{
    while (extra.len >= 4) {
        size_t id = get16(extra.ptr), size = get16(extra.ptr + 2);
        if (size > extra.len - 4)
            return false;
        if (id == 1) {
            uint64_t *fields[] = {&e->size, &e->packed_size, &e->offset};
            const char *p = extra.ptr + 4, *end = p + size;
            for (size_t i = 0; i < COUNT_OF(fields); i++) {
                if (*fields[i] != UINT32_MAX)
                    continue;
                if (end - p < 8)
                    return false;
                *fields[i] = get64(p);
                p += 8;
            }
            return true;
        }
        extra.ptr += 4 + size;
        extra.len -= 4 + size;
    }
    return e->size != UINT32_MAX && e->packed_size != UINT32_MAX && e->offset != UINT32_MAX;
}

/* Parses the directory record at *at, and advances *at past it. */
static bool read_entry(struct diags *ds, struct str b, uint64_t *at, struct npz_entry *e)
{
    const char *p = bytes_at(b, *at, CENTRAL_SIZE);
    if (!p || get32(p) != 0x02014b50)
        return bad(ds, "truncated central directory");
    uint64_t name = get16(p + 28), extra = get16(p + 30), comment = get16(p + 32);
    if (!bytes_at(b, *at + CENTRAL_SIZE, name + extra + comment))
        return bad(ds, "truncated central directory");
    if (get16(p + 8) & 1)
        return bad(ds, "encrypted members are not supported");
    *e = (struct npz_entry){.name = {p + CENTRAL_SIZE, (size_t)name},
                            .method = get16(p + 10),
                            .crc = get32(p + 16),
                            .packed_size = get32(p + 20),
                            .size = get32(p + 24),
                            .offset = get32(p + 42)};
    if (!read_extra((struct str){p + CENTRAL_SIZE + name, (size_t)extra}, e))
        return bad(ds, "truncated zip64 field");
    if (e->name.len > 4 && memcmp(e->name.ptr + e->name.len - 4, ".npy", 4) == 0)
        e->name.len -= 4;
    *at += CENTRAL_SIZE + name + extra + comment;
    return true;
}

static int by_offset(const void *a, const void *b)
{
    const struct npz_entry *x = *(struct npz_entry *const *)a, *y = *(struct npz_entry *const *)b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* A member must end before the next one begins, the last one before the directory. With overlapping
 * members, a small archive could decompress to an enormous one. */
static bool set_limits(struct diags *ds, struct arena *a, const struct npz *z, uint64_t directory)
{
    struct npz_entry **sorted = ARENA_ARRAY(a, struct npz_entry *, z->count);
    for (size_t i = 0; i < z->count; i++)
        sorted[i] = &z->entries[i];
    if (z->count > 1)
        qsort(sorted, z->count, sizeof *sorted, by_offset);
    for (size_t i = 0; i < z->count; i++) {
        struct npz_entry *e = sorted[i], *next = i + 1 < z->count ? sorted[i + 1] : NULL;
        e->limit = next && next->offset < directory ? next->offset : directory;
        bool fits = e->offset <= e->limit && LOCAL_SIZE <= e->limit - e->offset &&
                    e->packed_size <= e->limit - e->offset - LOCAL_SIZE;
        if (!fits && next && e->limit == next->offset)
            return bad(ds, arena_printf(a, "members '" STR_FMT "' and '" STR_FMT "' overlap",
                                        STR_ARG(e->name), STR_ARG(next->name))
                               .ptr);
        if (!fits)
            return bad(ds, arena_printf(a,
                                        "member '" STR_FMT
                                        "' is not located before the central directory",
                                        STR_ARG(e->name))
                               .ptr);
    }
    return true;
}

bool io_npz_open(struct diags *ds, struct arena *a, struct str bytes, struct npz *out)
{
    struct directory d = {0};
    *out = (struct npz){.bytes = bytes};
    map_init(&out->names, a);
    if (!find_directory(ds, bytes, &d))
        return false;
    if (!bytes_at(bytes, d.at, d.size) || d.count > d.size / CENTRAL_SIZE)
        return bad(ds, "central directory outside the file");
    out->entries = ARENA_ARRAY(a, struct npz_entry, d.count);
    struct str directory = {bytes.ptr + d.at, (size_t)d.size};
    uint64_t at = 0;
    while (out->count < d.count) {
        struct npz_entry *e = &out->entries[out->count++];
        if (!read_entry(ds, directory, &at, e))
            return false;
        /* A later member replaces an earlier one of the same name. */
        map_put(&out->names, e->name, e);
    }
    return set_limits(ds, a, out, d.at);
}

/* ---- members ---- */

/* The compressed bytes of a member: they follow its local header, whose extra field may differ from
 * the directory's. */
static const char *packed_bytes(struct str b, const struct npz_entry *e)
{
    const char *p = bytes_at(b, e->offset, LOCAL_SIZE);
    if (!p || get32(p) != 0x04034b50 || get16(p + 8) != e->method)
        return NULL;
    uint64_t name = get16(p + 26), head = LOCAL_SIZE + name + get16(p + 28);
    if (head + e->packed_size > e->limit - e->offset)
        return NULL;
    struct str here = {p + LOCAL_SIZE, (size_t)name};
    return str_starts(here, e->name) ? p + head : NULL;
}

/* Inflates `size` bytes; with `whole` there must be no more. In pieces, since zlib counts in 32
 * bits. */
static bool inflate_bytes(const char *packed, uint64_t packed_size, char *to, uint64_t size,
                          bool whole)
{
    z_stream z = {0};
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
        return false;
    const uint64_t piece = 1u << 30;
    uint64_t out_left = size, in_left = packed_size;
    z.next_in = (Bytef *)(uintptr_t)packed;
    z.next_out = (Bytef *)to;
    int status = Z_OK;
    while (status == Z_OK) {
        if (z.avail_in == 0) {
            z.avail_in = (uInt)(in_left < piece ? in_left : piece);
            in_left -= z.avail_in;
        }
        if (z.avail_out == 0) {
            z.avail_out = (uInt)(out_left < piece ? out_left : piece);
            out_left -= z.avail_out;
        }
        status = inflate(&z, Z_NO_FLUSH);
    }
    bool filled = z.avail_out == 0 && out_left == 0;
    inflateEnd(&z);
    return filled && (status == Z_STREAM_END || (!whole && status == Z_BUF_ERROR));
}

/* Whether a deflated member begins with the header of a matching array, so that it may be
 * inflated. */
static bool header_matches(struct diags *ds, struct arena *a, const char *packed,
                           const struct npz_entry *e, const struct shape *expected, struct str who)
{
    size_t size = e->size < LONGEST_HEADER ? (size_t)e->size : LONGEST_HEADER;
    if (e->size / MAX_INFLATION > e->packed_size)
        return bad(ds,
                   arena_printf(a, "a member of %" PRIu64 " bytes cannot be packed into %" PRIu64,
                                e->size, e->packed_size)
                       .ptr);
    char *head = mem_alloc(size ? size : 1);
    if (!head)
        return bad(ds, "out of memory for a member");
    bool ok = inflate_bytes(packed, e->packed_size, head, size, false) ||
              bad(ds, "corrupt deflated member");
    ok = ok && io_npy_check(ds, a, (struct str){head, size}, e->size, expected, who);
    mem_free(head);
    return ok;
}

/* The inflated bytes of a member, owned by the caller. */
static char *inflated_bytes(struct diags *ds, const char *packed, const struct npz_entry *e)
{
    char *bytes = e->size <= PTRDIFF_MAX ? mem_alloc((size_t)e->size) : NULL;
    if (!bytes) {
        bad(ds, "out of memory for a member");
        return NULL;
    }
    if (inflate_bytes(packed, e->packed_size, bytes, e->size, true))
        return bytes;
    mem_free(bytes);
    bad(ds, "corrupt deflated member");
    return NULL;
}

static bool crc_matches(struct str bytes, uint32_t crc)
{
    return crc32_z(0, (const Bytef *)bytes.ptr, bytes.len) == crc;
}

static struct literal *report_bad_crc(struct diags *ds)
{
    bad(ds, "CRC mismatch in a member");
    return NULL;
}

bool io_npz_has(const struct npz *z, struct str name) { return map_get(&z->names, name) != NULL; }

static struct str entry_name(const void *z, size_t i)
{
    return ((const struct npz *)z)->entries[i].name;
}

struct str io_npz_names(struct arena *a, const struct npz *z)
{
    return io_list_names(a, z, entry_name, z->count);
}

static struct literal *get_deflated(struct diags *ds, struct arena *a, const char *packed,
                                    const struct npz_entry *e, const struct shape *expected,
                                    struct str who)
{
    char *bytes =
        header_matches(ds, a, packed, e, expected, who) ? inflated_bytes(ds, packed, e) : NULL;
    struct str all = {bytes, (size_t)e->size};
    struct literal *l = NULL;
    if (bytes)
        l = crc_matches(all, e->crc) ? io_npy_decode(ds, a, all, NULL, expected, who)
                                     : report_bad_crc(ds);
    mem_free(bytes);
    return l;
}

/* A stored member. The checksum of an array that is used in place is not verified, since that would
 * read all of it. */
static struct literal *get_stored(struct diags *ds, struct arena *a, struct str bytes,
                                  struct owner *owner, const struct npz_entry *e,
                                  const struct shape *expected, struct str who)
{
    if (!owner && !crc_matches(bytes, e->crc))
        return report_bad_crc(ds);
    if (!io_npy_check(ds, a, bytes, bytes.len, expected, who))
        return NULL;
    struct literal *l = io_npy_decode(ds, a, bytes, owner, expected, who);
    if (!l || !owner || l->owner || crc_matches(bytes, e->crc))
        return l;
    literal_free_data(l);
    return report_bad_crc(ds);
}

struct literal *io_npz_get(struct diags *ds, struct arena *a, const struct npz *z, struct str name,
                           const struct shape *expected, struct str who)
{
    const struct npz_entry *e = map_get(&z->names, name);
    const char *packed = e ? packed_bytes(z->bytes, e) : NULL;
    if (packed && e->method == STORED && e->packed_size == e->size)
        return get_stored(ds, a, (struct str){packed, (size_t)e->size}, z->owner, e, expected, who);
    if (packed && e->method == DEFLATED)
        return get_deflated(ds, a, packed, e, expected, who);
    bad(ds, packed ? "unsupported compression method" : "local header of a member not found");
    return NULL;
}
