/*
 * Inputs with many or long names, or many errors.
 */
#include "scale.h"

#include <stdio.h>
#include <string.h>

void make_name_long(long n)
{
    begin();
    for (int i = 0; i < 4; i++) {
        printf("  ");
        times(n, "name");
        printf("%d = f32[4] add(x, x)\n", i);
    }
    end();
}

void make_names_alike(long n) /* with a long common prefix */
{
    char prefix[201];
    memset(prefix, 'p', 200);
    prefix[200] = '\0';
    begin();
    for (long i = 0; i < n; i++)
        printf("  %s%ld = f32[4] add(x, x)\n", prefix, i);
    end();
}

void make_names_same(long n) /* in different computations */
{
    puts("HloModule m");
    for (long i = 0; i < n; i++)
        printf("fun%ld {\n  a = f32[4] parameter(0)\n  ROOT r = f32[4] add(a, a)\n}\n", i);
    entry();
    end();
}

void make_names_twice(long n) /* each an error */
{
    begin();
    for (long i = 0; i < n; i++)
        puts("  v = f32[4] add(x, x)");
    end();
}

void make_names_missing(long n) /* each an error, with a suggestion */
{
    begin();
    for (long i = 0; i < n; i++)
        printf("  v%ld = f32[4] add(x, w%ld)\n", i, i);
    end();
}

void make_names_numbered(long n) /* as made unique by printers */
{
    begin();
    for (long i = 0; i < n; i++)
        printf("  add.%ld = f32[4] add(x, x)\n", i);
    end();
}

void make_errors(long n)
{
    begin();
    for (long i = 0; i < n; i++)
        printf("  v%ld = f32[5] add(x, x)\n", i);
    end();
}

void make_syntax_errors(long n)
{
    begin();
    for (long i = 0; i < n; i++)
        printf("  v%ld = f32[5 add(x, x)\n", i);
    end();
}

void make_one_line(long n)
{
    printf("HloModule m ENTRY e { x = f32[4] parameter(0)");
    for (long i = 0; i < n; i++)
        printf(" v%ld = f32[%d] add(x, x)", i, i % 100 == 99 ? 5 : 4);
    end();
}
