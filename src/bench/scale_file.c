/*
 * Large input other than modules: golden tests, scripts, requests, literals, arrays.
 */
#include "scale.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

void make_golden(long n)
{
    for (long i = 0; i < n; i++)
        printf("%s// test: eval\n// from: hand\n// in x: f32[2] {1, %ld}\n// out: f32[2] {2, "
               "%ld}\nHloModule m%ld\nENTRY e {\n  "
               "x = f32[2] parameter(0)\n"
               "  ROOT y = f32[2] add(x, x)\n}\n",
               i ? "// -----\n" : "", i, 2 * i, i);
}

void make_script(long n)
{
    puts("x = f32[4] constant({1, 2, 3, 4})\nv0 = add(x, x)");
    for (long i = 1; i < n; i++)
        printf("v%ld = maximum(v%ld, x)\n", i, i - 1);
}

void make_script_computations(long n)
{
    puts("x = f32[4] constant({1, 2, 3, 4})");
    for (long i = 0; i < n; i++)
        printf("call%ld { p = f32[4] parameter(0) ROOT r = f32[4] abs(p) }\ncall%ld(x)\n", i, i);
}

void make_script_entry(long n) /* of many lines */
{
    puts("f {\n  x = f32[4] parameter(0)\n  v0 = f32[4] add(x, x)");
    for (long i = 1; i < n; i++)
        printf("  v%ld = f32[4] maximum(v%ld, x)\n", i, i - 1);
    puts("}");
}

void make_script_looks(long n) /* between entries */
{
    puts("x = f32[4] constant({1, 2, 3, 4})\nv0 = add(x, x)");
    for (long i = 1; i < n; i++)
        printf("v%ld = add(multiply(v%ld, x), x);\nv%ld[0]\n.print v%ld\n", i, i - 1, i / 2, i);
}

void make_script_parameters(long n) /* with values */
{
    for (long i = 0; i < n; i++)
        printf("p%ld = f32[2] parameter(%ld)\n.set p%ld = {1, %ld}\nadd(p%ld, p%ld)\n", i, i, i, i,
               i, i / 2);
}

void make_script_unnamed(long n)
{
    puts("x = f32[4] constant({1, 2, 3, 4})");
    times(n, "add(x, x)\n");
}

void make_literal(long n)
{
    printf("f32[%ld] {", n);
    listed(n, "#", ", ");
    puts("}");
}

void make_feed(long n)
{
    for (long i = 0; i < n; i++)
        printf("f32[2] {1, %ld}\n", i);
}

/* ---- modules for these inputs ---- */

void make_infeeds(long n)
{
    puts("HloModule m\n\nENTRY e {\n  t0 = token[] after-all()");
    for (long i = 1; i <= n; i++)
        printf("  i%ld = (f32[2], token[]) infeed(t%ld)\n  t%ld = token[] get-tuple-element(i%ld), "
               "index=1\n",
               i, i - 1, i, i);
    printf("  ROOT r = f32[2] get-tuple-element(i%ld), index=0\n", n);
    end();
}

void make_inputs(long n)
{
    puts("HloModule m\n\nENTRY e {");
    for (long i = 0; i < n; i++)
        printf("  p%ld = f32[1] parameter(%ld)\n", i, i);
    puts("  ROOT r = f32[1] negate(p0)");
    end();
}

void make_literal_input(long n)
{
    printf(
        "HloModule m\n\nENTRY e {\n  x = f32[%ld] parameter(0)\n  ROOT r = f32[%ld] negate(x)\n}\n",
        n, n);
}

/* ---- arrays of one number, named arg0, arg1 ... ---- */

static char *described(long n, size_t *size) /* the head of a .safetensors file; to be freed */
{
    char *text = NULL;
    FILE *to = open_memstream(&text, size);
    for (long i = 0; i < n; i++)
        fprintf(to, "%s\"arg%ld\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[%ld,%ld]}",
                i ? "," : "{", i, 4 * i, 4 * i + 4);
    fputc('}', to);
    fclose(to);
    return text;
}

void make_safetensors(long n)
{
    size_t size;
    char *head = described(n, &size);
    for (int i = 0; i < 8; i++)
        putchar((int)((uint64_t)size >> 8 * i & 255));
    fwrite(head, 1, size, stdout);
    free(head);
    for (long i = 0; i < n; i++)
        fwrite("\0\0\200\77", 1, 4, stdout);
}

static void number(uint32_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        putchar((int)(v >> 8 * i & 255));
}

/* The common part of the local header of an uncompressed member and its entry in the directory. */
static void entry_of_archive(const char *name, uint32_t crc, uint32_t size)
{
    number(20, 2); /* version */
    number(0, 8);  /* flags, method, time, date */
    number(crc, 4);
    number(size, 4);
    number(size, 4);
    number((uint32_t)strlen(name), 2);
    number(0, 2);
}

void make_npz(long n)
{
    unsigned char file[128 + 4] =
        "\223NUMPY\1\0\166\0{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
    size_t message = 10 + strlen((char *)file + 10);
    memset(file + message, ' ', 127 - message);
    file[127] = '\n';
    memcpy(file + 128, "\0\0\200\77", 4);
    uint32_t crc = (uint32_t)crc32(0, file, sizeof file), at = 0, from = 0;
    char name[32];
    for (long i = 0; i < n; i++) {
        snprintf(name, sizeof name, "arg%ld.npy", i);
        fputs("PK\3\4", stdout);
        entry_of_archive(name, crc, sizeof file);
        fputs(name, stdout);
        fwrite(file, 1, sizeof file, stdout);
        from += 30 + (uint32_t)strlen(name) + (uint32_t)sizeof file;
    }
    uint32_t directory = 0;
    for (long i = 0; i < n; i++) {
        snprintf(name, sizeof name, "arg%ld.npy", i);
        fputs("PK\1\2", stdout);
        number(20, 2);
        entry_of_archive(name, crc, sizeof file);
        number(0, 10); /* comment, disk, attributes */
        number(at, 4);
        fputs(name, stdout);
        directory += 46 + (uint32_t)strlen(name);
        at += 30 + (uint32_t)strlen(name) + (uint32_t)sizeof file;
    }
    fputs("PK\5\6", stdout);
    number(0, 4);
    number((uint32_t)n, 2);
    number((uint32_t)n, 2);
    number(directory, 4);
    number(from, 4);
    number(0, 2);
}

/* ---- requests to hlo serve ---- */

void make_requests(long n)
{
    puts("{\"op\": \"load\", \"module\": \"ENTRY e {\\n  x = f32[2] parameter(0)\\n  ROOT r = "
         "f32[2] add(x, x)\\n}\"}");
    for (long i = 0; i < n; i++)
        printf("{\"id\": %ld, \"op\": \"run\", \"handle\": 1, \"args\": [\"{1, %ld}\"]}\n", i, i);
}

void make_request_wide(long n) /* one, with many arguments */
{
    printf("{\"op\": \"run\", \"module\": \"ENTRY e {\\n");
    listed(n, "  p# = f32[2] parameter(#)\\n", "");
    printf("  ROOT r = f32[2] negate(p0)\\n}\", \"args\": {");
    listed(n, "\"p#\": \"{1, #}\"", ", ");
    puts("}}");
}
